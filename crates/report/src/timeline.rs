//! The steps of a run for reports that show whole runs. Each is one line in the style of `aver trace show`, with marks for the evidence, and
//! collapsed inputs and outputs.

use super::model::{StepReport, TimelineReport};
use super::proof::{TraceText, hidden_texts, is_secret};
use super::redact::WithheldTexts;
use super::short_values::{self, HiddenParts};
use super::step_line::{self, WantedValue};
use super::table::ReportTable;
use averment_base::diagnostic::render::{one_line, printable};
use averment_builtins::detect::redacted_start;
use averment_engine::vm::outcome::{RunOutcome, VerdictEvidence};
use averment_runs::normal::of_step;
use averment_runs::run::{Run, Step, StepKind};
use averment_runs::timeline::{TimelineRow, timeline_rows};
use std::collections::BTreeSet;

/// Maximum number of shown steps of one run; steps with evidence have priority.
pub const STEPS: usize = 1_000;
/// Maximum length of a step's line, in characters.
pub const WIDTH: usize = 200;
/// Maximum length of an agent's name, in characters.
const VALUE: usize = 80;
/// Size limit of collapsed details in one run, in bytes; later steps have none.
const FOLDED: usize = 256 << 10;
/// Maximum number of listed tool names of one run.
const TOOLS: usize = 200;

fn parts_of(kind: StepKind) -> &'static [&'static str] {
    match kind {
        StepKind::Call => &[of_step::ARGS, of_step::RESULT, of_step::ERROR],
        StepKind::Message => &[of_step::TEXT],
        StepKind::Command => &[of_step::COMMAND, of_step::OUTPUT, of_step::EXIT_CODE],
        StepKind::Span => &[of_step::ATTRIBUTES],
        StepKind::Read | StepKind::Write | StepKind::Skill | StepKind::Http | StepKind::Handover => &[],
    }
}

/// Evidence with the index of its result. `hidden` is true if its value is hidden.
struct ResultProof<'o> {
    result: usize,
    evidence: &'o VerdictEvidence,
    hidden: bool,
}

pub(super) fn timeline_report(
    table: &ReportTable,
    run: &Run<'_>,
    outcomes: &[RunOutcome],
    text: &TraceText<'_, '_>,
) -> TimelineReport {
    let proofs = collect_proofs(table, outcomes);
    let hides: Vec<bool> = proofs.iter().map(|one| one.hidden).collect();
    let hide = WithheldTexts::of_texts(hidden_texts(proofs.iter().map(|one| one.evidence), &hides))
        .joined_with(&text.withheld);
    let wanted: Vec<WantedValue<'_>> = proofs
        .iter()
        .map(|one| WantedValue { number: Some(one.result), path: &one.evidence.path, hidden: one.hidden })
        .collect();
    let shown = chosen_steps(run, &proofs);
    let teller = StepFormatter { run, line: &|offset| text.place_at(offset).0, hide: &hide, wanted: &wanted };
    let cells = timeline_rows(run, shown.iter().copied(), 0, redacted_start);
    let mut room = FOLDED;
    let steps = shown.iter().zip(cells).filter_map(|(at, row)| teller.step_report(*at, row, &mut room)).collect();
    TimelineReport { steps, count: run.steps.len(), tools: tool_names(run, &hide) }
}

fn collect_proofs<'o>(table: &ReportTable, outcomes: &'o [RunOutcome]) -> Vec<ResultProof<'o>> {
    let mut proofs = Vec::new();
    let mut result = 0;
    for (program, outcome) in outcomes.iter().enumerate() {
        for one in &outcome.results {
            let Some(item) = table.item_index(program, one.assertion) else { continue };
            let masked = table.items.get(item).is_some_and(|item| item.masked);
            let of_violations = one.violations.listed.iter().flat_map(|violation| &violation.evidence);
            for evidence in one.evidence.iter().chain(of_violations) {
                proofs.push(ResultProof {
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

/// Returns the steps to show: all, or if there are too many, those with evidence and the first others.
fn chosen_steps(run: &Run<'_>, proofs: &[ResultProof<'_>]) -> Vec<usize> {
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

fn tool_names(run: &Run<'_>, hide: &WithheldTexts) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
    let mut names: Vec<String> = Vec::new();
    for name in calls.map(|step| step.name) {
        if names.len() < TOOLS && seen.insert(name) {
            names.push(one_line(&short_values::visible_words(name, WIDTH, hide)).into_owned());
        }
    }
    names
}

struct StepFormatter<'a, 'run> {
    run: &'a Run<'run>,
    line: &'a dyn Fn(usize) -> usize,
    hide: &'a WithheldTexts,
    wanted: &'a [WantedValue<'a>],
}

impl StepFormatter<'_, '_> {
    fn step_report(&self, at: usize, row: TimelineRow, room: &mut usize) -> Option<StepReport> {
        let step = self.run.steps.get(at)?;
        let path = ["/", step.kind.list_key(), "/", &step.index.to_string()].concat();
        let own: Vec<WantedValue<'_>> =
            self.wanted.iter().filter(|wanted| step_line::is_inside(wanted.path, &path)).copied().collect();
        let line = step_line::render_step_with(self.run, at, &own, self.hide, WIDTH, VALUE);
        let agent = self.agent_name(step);
        let marks =
            line.marks.into_iter().map(|(result, mark)| (result, mark.start + agent.len()..mark.end + agent.len()));
        Some(StepReport {
            number: u32::try_from(at + 1).ok()?,
            kind: row.kind,
            line: step.node.origin.byte_range().map_or(0, |range| (self.line)(range.start)),
            marks: marks.collect(),
            text: agent + &line.text,
            turn: row.turn,
            time: row.time,
            status: row.status,
            duration: row.duration,
            parts: self.step_parts(step, &path, &own, room),
        })
    }

    /// Returns the agent of a step; empty if the run has only one.
    fn agent_name(&self, step: &Step<'_>) -> String {
        match step.object.get(of_step::AGENT).map(|node| node.value) {
            Some(averment_base::value::Value::Text(agent)) => {
                format!("[{}] ", one_line(&short_values::visible_words(agent.as_str(), VALUE, self.hide)))
            }
            _ => String::new(),
        }
    }

    fn step_parts(
        &self,
        step: &Step<'_>,
        path: &str,
        wanted: &[WantedValue<'_>],
        room: &mut usize,
    ) -> Vec<(&'static str, String)> {
        let hidden = HiddenParts { hide: self.hide, paths: wanted };
        let mut parts = Vec::new();
        for name in parts_of(step.kind) {
            let node = step.object.get(name).filter(|_| *room > 0);
            let json = node.and_then(|node| hidden.value_json(name, node, &[path, "/", name].concat()));
            if let Some(json) = json {
                *room = room.saturating_sub(json.len());
                parts.push((*name, printable(&json).into_owned()));
            }
        }
        parts
    }
}
