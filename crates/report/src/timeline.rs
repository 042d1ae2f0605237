//! The steps of a run for reports that show whole runs: each as one line, as `aver trace show` names it, with what evidence speaks of marked in
//! it, and what it was given and gave back to be unfolded.

use super::folded::{self, Hidden};
use super::model::{StepReport, TimelineReport};
use super::proof::{Text, hidden_texts, is_secret};
use super::redact::Withheld;
use super::step_line::{self, Wanted};
use super::table::Table;
use averment_base::diagnostic::render::{one_line, printable};
use averment_builtins::detect::beginning;
use averment_engine::vm::outcome::{Evidence, Outcome};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Run, Step};
use averment_runs::timeline::{Row, rows};
use std::collections::BTreeSet;

/// Steps of one run that are shown at most; those that evidence speaks of come before the others.
pub const STEPS: usize = 1_000;
/// Characters of the line of a step.
pub const WIDTH: usize = 200;
/// Characters of a value in that line.
const VALUE: usize = 80;
/// Bytes of what is folded away in one run; steps behind that have nothing to unfold.
const FOLDED: usize = 256 << 10;
/// Names of tools of one run that are listed.
const TOOLS: usize = 200;

/// What is shown of the steps of a kind when they are unfolded.
fn parts_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Call => &[of_step::ARGS, of_step::RESULT, of_step::ERROR],
        Kind::Message => &[of_step::TEXT],
        Kind::Command => &[of_step::COMMAND, of_step::OUTPUT, of_step::EXIT_CODE],
        Kind::Span => &[of_step::ATTRIBUTES],
        Kind::Read | Kind::Write | Kind::Skill | Kind::Http | Kind::Handover => &[],
    }
}

/// Evidence of a result, with the place of the result among those of the run and whether its value is shown.
struct Proof<'o> {
    result: usize,
    evidence: &'o Evidence,
    hidden: bool,
}

/// The steps of the run that these outcomes are of.
pub(super) fn of(table: &Table, run: &Run<'_>, outcomes: &[Outcome], text: &Text<'_, '_>) -> TimelineReport {
    let proofs = proofs(table, outcomes);
    let hides: Vec<bool> = proofs.iter().map(|one| one.hidden).collect();
    let hide = Withheld::of(hidden_texts(proofs.iter().map(|one| one.evidence), &hides)).and(&text.withheld);
    let wanted: Vec<Wanted<'_>> = proofs
        .iter()
        .map(|one| Wanted { number: Some(one.result), path: &one.evidence.path, hidden: one.hidden })
        .collect();
    let shown = chosen(run, &proofs);
    let teller = Teller { run, line: &|offset| text.place(offset).0, hide: &hide, wanted: &wanted };
    let cells = rows(run, shown.iter().copied(), 0, beginning);
    let mut room = FOLDED;
    let steps = shown.iter().zip(cells).filter_map(|(at, row)| teller.step(*at, row, &mut room)).collect();
    TimelineReport { steps, count: run.steps.len(), tools: tools(run, &hide) }
}

fn proofs<'o>(table: &Table, outcomes: &'o [Outcome]) -> Vec<Proof<'o>> {
    let mut proofs = Vec::new();
    let mut result = 0;
    for (program, outcome) in outcomes.iter().enumerate() {
        for one in &outcome.results {
            let Some(item) = table.item(program, one.assertion) else { continue };
            let masked = table.items.get(item).is_some_and(|item| item.masked);
            let of_violations = one.violations.listed.iter().flat_map(|violation| &violation.evidence);
            for evidence in one.evidence.iter().chain(of_violations) {
                proofs.push(Proof {
                    result,
                    evidence,
                    hidden: masked || is_secret(evidence) || evidence.found.is_some(),
                });
            }
            result += 1;
        }
    }
    proofs
}

/// The steps that are shown: all, or of too many those that evidence speaks of and the first others.
fn chosen(run: &Run<'_>, proofs: &[Proof<'_>]) -> Vec<usize> {
    let count = run.steps.len();
    if count <= STEPS {
        return (0..count).collect();
    }
    let spoken = proofs.iter().filter_map(|one| one.evidence.step).map(|step| step as usize);
    let mut chosen: BTreeSet<usize> = spoken.filter(|step| *step < count).take(STEPS / 2).collect();
    for step in 0..count {
        if chosen.len() >= STEPS {
            break;
        }
        chosen.insert(step);
    }
    chosen.into_iter().collect()
}

fn tools(run: &Run<'_>, hide: &Withheld) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let calls = run.steps.iter().filter(|step| step.kind == Kind::Call);
    let mut names: Vec<String> = Vec::new();
    for name in calls.map(|step| step.name) {
        if names.len() < TOOLS && seen.insert(name) {
            names.push(one_line(&folded::words(name, WIDTH, hide)).into_owned());
        }
    }
    names
}

/// Puts steps into words.
struct Teller<'a, 'run> {
    run: &'a Run<'run>,
    /// The line that a byte of the run stands on.
    line: &'a dyn Fn(usize) -> usize,
    hide: &'a Withheld,
    wanted: &'a [Wanted<'a>],
}

impl Teller<'_, '_> {
    fn step(&self, at: usize, row: Row, room: &mut usize) -> Option<StepReport> {
        let step = self.run.steps.get(at)?;
        let path = ["/", step.kind.list_key(), "/", &step.index.to_string()].concat();
        let own: Vec<Wanted<'_>> =
            self.wanted.iter().filter(|wanted| step_line::is_inside(wanted.path, &path)).copied().collect();
        let line = step_line::of_step_with(self.run, at, &own, self.hide, WIDTH, VALUE);
        let agent = self.agent(step);
        let marks =
            line.marks.into_iter().map(|(result, mark)| (result, mark.start + agent.len()..mark.end + agent.len()));
        Some(StepReport {
            number: u32::try_from(at + 1).ok()?,
            kind: row.kind,
            line: step.node.origin.range().map_or(0, |range| (self.line)(range.start)),
            marks: marks.collect(),
            text: agent + &line.text,
            turn: row.turn,
            time: row.time,
            status: row.status,
            duration: row.duration,
            parts: self.parts(step, &path, &own, room),
        })
    }

    /// Which agent did it, where there are several.
    fn agent(&self, step: &Step<'_>) -> String {
        match step.object.get(of_step::AGENT).map(|node| node.value) {
            Some(averment_base::value::Value::Text(agent)) => {
                format!("[{}] ", one_line(&folded::words(agent.as_str(), VALUE, self.hide)))
            }
            _ => String::new(),
        }
    }

    fn parts(
        &self,
        step: &Step<'_>,
        path: &str,
        wanted: &[Wanted<'_>],
        room: &mut usize,
    ) -> Vec<(&'static str, String)> {
        let hidden = Hidden { hide: self.hide, paths: wanted };
        let mut parts = Vec::new();
        for name in parts_of(step.kind) {
            let node = step.object.get(name).filter(|_| *room > 0);
            let json = node.and_then(|node| hidden.json(name, node, &[path, "/", name].concat()));
            if let Some(json) = json {
                *room = room.saturating_sub(json.len());
                parts.push((*name, printable(&json).into_owned()));
            }
        }
        parts
    }
}
