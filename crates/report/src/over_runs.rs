//! What is said of all runs together: its report, and for people an assertion a line, with what it found.

use super::Style;
use super::drawn::Drawn;
use super::gate::Policy;
use super::model::{Detail, EvidenceReport, ResultReport, RunReport};
use super::proof::RunText;
use super::report_builder;
use super::table::{Item, Table};
use super::value::shortened;
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_engine::vm::outcome::{Outcome, Role, Status};
use averment_runs::run::RunSource;

/// Groups of runs that are told of one assertion.
const GROUPS: usize = 10;
/// Characters of a line.
const LINE: usize = 400;

/// What is said of all runs together, as the report of a run that comes after the last.
#[must_use]
pub fn report(table: &Table, outcomes: &[Outcome], runs: u64, policy: Policy, detail: Detail) -> RunReport {
    let (source, mut drawn) = (RunSource::default(), Drawn::new(None));
    let detail = Detail { steps: false, findings: true, excerpt: None, ..detail };
    let made = report_builder::build_of(
        table,
        RunText { text: "", source: &source, run: None },
        outcomes,
        policy,
        detail,
        &mut drawn,
    );
    let run = if runs == 1 { "the only run".to_owned() } else { format!("all {runs} runs") };
    RunReport {
        run,
        file: String::new(),
        score: None,
        named_scores: Vec::new(),
        rules: Vec::new(),
        over_runs: true,
        ..made
    }
}

/// A section with every assertion over runs; `quiet` leaves out those that hold.
#[must_use]
pub fn section(table: &Table, run: &RunReport, style: Style, quiet: bool) -> String {
    let shown = |result: &&ResultReport| !quiet || result.is_finding();
    let each = run.results.iter().filter(shown).filter_map(|result| Some((table.items.get(result.item)?, result)));
    let all: String = each.map(|(item, result)| assertion(item, result, style)).collect();
    if all.is_empty() {
        return all;
    }
    format!("{}\n{all}\n", paint(style, Ink::Bold, &format!("over {}", one_line(&run.run))))
}

fn assertion(item: &Item, result: &ResultReport, style: Style) -> String {
    let ink = match result.status {
        Status::Passed | Status::ExpectedFailed => Ink::Green,
        Status::Failed | Status::UnexpectedPassed | Status::Error => Ink::Red,
        Status::Vacuous | Status::Undecided | Status::Skipped => Ink::Yellow,
    };
    let word = result.status.as_str();
    let mut text = format!("  {}  {}  ({})\n", paint(style, ink, word), one_line(&item.text), item.location);
    for said in said(result) {
        let indent = said.len() - said.trim_start().len();
        text += &format!("      {:indent$}{}\n", "", shortened(&one_line(said.trim_start()), LINE));
    }
    text
}

/// What is said of a result, a line each: the author's words, each group that does not hold, what it found.
fn said(result: &ResultReport) -> Vec<String> {
    let mut lines: Vec<String> = result.message.iter().cloned().collect();
    let listed = &result.violations.listed;
    if listed.is_empty() {
        match result.reason.as_str() {
            "" => lines.extend(of_role(&result.evidence, Role::Decisive).take(GROUPS).map(str::to_owned)),
            reason => lines.push(reason.to_owned()),
        }
        lines.extend(together(&result.evidence).into_iter().filter(|_| result.is_finding()));
    }
    for one in listed.iter().take(GROUPS) {
        lines.push(one.reason.clone());
        lines.extend(together(&one.evidence).map(|values| format!("  {values}")));
    }
    lines.extend(result.violations.not_drawn(listed.len().min(GROUPS)));
    lines
}

fn of_role(evidence: &[EvidenceReport], role: Role) -> impl Iterator<Item = &str> {
    evidence.iter().filter(move |one| one.role == role).map(|one| one.label.as_str())
}

/// What stands beside it on one line; words that all begin with are said once.
fn together(evidence: &[EvidenceReport]) -> Option<String> {
    let mut all = evidence.iter().filter(|one| one.role == Role::Value);
    let first = all.next()?;
    let mut line = first.label.clone();
    let begin = line.rsplit_once(' ').map(|(begin, _)| format!("{begin} ")).filter(|_| first.value.is_none());
    for other in all {
        let other = begin.as_deref().and_then(|begin| other.label.strip_prefix(begin)).unwrap_or(&other.label);
        line.push_str(", ");
        line.push_str(other);
    }
    Some(line)
}
