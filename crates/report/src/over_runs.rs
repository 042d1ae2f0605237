//! Results over all runs: their report, and a section for people with one assertion per line.

use super::TextStyle;
use super::draw_limits::DrawnFindings;
use super::gate::GatePolicy;
use super::model::{EvidenceReport, ReportDetail, ResultReport, RunReport, StatusSet};
use super::proof::RunText;
use super::report_builder;
use super::table::{ReportItem, ReportTable};
use super::value::shorten_text;
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_engine::vm::outcome::{Role, RunOutcome, Status};
use averment_runs::run::RunSource;

/// Maximum number of groups reported for one assertion.
const GROUPS: usize = 10;
/// Maximum length of a line, in characters.
const LINE: usize = 400;

/// Returns the results over all runs, as the report of a run after the last one.
#[must_use]
pub fn over_runs_report(
    table: &ReportTable,
    outcomes: &[RunOutcome],
    runs: u64,
    policy: GatePolicy,
    detail: ReportDetail,
) -> RunReport {
    let (source, mut drawn) = (RunSource::default(), DrawnFindings::new(None));
    let detail = ReportDetail { steps: false, findings: true, excerpt: None, told: StatusSet::ALL, ..detail };
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

/// Returns a section with every assertion over all runs. `quiet` leaves out passing ones.
#[must_use]
pub fn over_runs_section(table: &ReportTable, run: &RunReport, style: TextStyle, quiet: bool) -> String {
    let shown = |result: &&ResultReport| !quiet || result.is_finding();
    let each = run.results.iter().filter(shown).filter_map(|result| Some((table.items.get(result.item)?, result)));
    let all: String = each.map(|(item, result)| assertion_text(item, result, style)).collect();
    if all.is_empty() {
        return all;
    }
    format!("{}\n{all}\n", paint_text(style, TextColor::Bold, &format!("over {}", one_line(&run.run))))
}

fn assertion_text(item: &ReportItem, result: &ResultReport, style: TextStyle) -> String {
    let ink = match result.status {
        Status::Passed | Status::ExpectedFailed => TextColor::Green,
        Status::Failed | Status::UnexpectedPassed | Status::Error => TextColor::Red,
        Status::Vacuous | Status::Undecided | Status::Skipped => TextColor::Yellow,
    };
    let word = result.status.as_str();
    let mut text = format!("  {}  {}  ({})\n", paint_text(style, ink, word), one_line(&item.text), item.location);
    for said in result_lines(result) {
        let indent = said.len() - said.trim_start().len();
        text += &format!("      {:indent$}{}\n", "", shorten_text(&one_line(said.trim_start()), LINE));
    }
    text
}

/// Returns one line each for the author's message, each failing group, and the finding.
fn result_lines(result: &ResultReport) -> Vec<String> {
    let mut lines: Vec<String> = result.message.iter().cloned().collect();
    let listed = &result.violations.listed;
    if listed.is_empty() {
        match result.reason.as_str() {
            "" => lines.extend(of_role(&result.evidence, Role::Decisive).take(GROUPS).map(str::to_owned)),
            reason => lines.push(reason.to_owned()),
        }
        lines.extend(evidence_line(&result.evidence).into_iter().filter(|_| result.is_finding()));
    }
    for one in listed.iter().take(GROUPS) {
        lines.push(one.reason.clone());
        lines.extend(evidence_line(&one.evidence).map(|values| format!("  {values}")));
    }
    lines.extend(result.violations.not_drawn(listed.len().min(GROUPS)));
    lines
}

fn of_role(evidence: &[EvidenceReport], role: Role) -> impl Iterator<Item = &str> {
    evidence.iter().filter(move |one| one.role == role).map(|one| one.label.as_str())
}

/// Returns the evidence on one line. A common prefix is written once.
fn evidence_line(evidence: &[EvidenceReport]) -> Option<String> {
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
