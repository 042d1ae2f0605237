//! Why something is undecided or vacuous.

use super::super::statements::StepRequirement;
use super::super::timeline::{DecidedBy, ValueId};
use super::super::view::{Hit, WindowView};
use super::super::window_events::VerdictReason;
use super::reason_with;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::tool_facts::how_to_say_failure;
use averment_base::value::Value;
use averment_checker::ir::{StepDistance, WindowScope};
use averment_runs::command;
use averment_runs::run::{RecordCounts, Run, Step, StepKind, StepStatus};
use std::borrow::Cow;

pub(in crate::vm) fn not_complete(run: &Run<'_>) -> Cow<'static, str> {
    if let Some(first) = run.warnings.iter().find(|warning| warning.lost && run.records.missing_calls == 0) {
        let (line, _) = run.source.line_column(run.text, first.offset);
        return Cow::Owned(format!(
            "the run is not complete (line {line} was not understood), and what stands there could still change this"
        ));
    }
    Cow::Borrowed(match run.records {
        RecordCounts { missing_calls: 1.., .. } => {
            "the run is not complete (a result names a call that is missing), and a longer one could still change this"
        }
        RecordCounts { lost: 1.., .. } => {
            "the run is not complete (a part of it was not understood), and what stands there could still change this"
        }
        _ => "the run is not complete, and a longer one could still change this",
    })
}

/// Why nothing is proved by a run without steps.
pub(in crate::vm) const DIED_AT_START: &str = "the run ended in an error before its first step";

pub(in super::super) const NOT_RECORDED: &str = "the run does not record";

/// What the run does not record and which pattern needs it; suggests a tool pattern if a tool has the kind's name.
pub(in super::super) fn absent_kind(view: &WindowView<'_, '_>, kind: StepKind) -> String {
    let asks = |operand: &usize| {
        view.unique_pattern(*operand).is_some_and(|unique| unique.kinds.iter().any(|one| one == kind))
    };
    // That patterns look for calls needs no saying.
    let operand = (0..view.operands.len()).find(asks).filter(|_| kind != StepKind::Call);
    let reason = format!("{NOT_RECORDED} `{}`", kind.list_key());
    let words: &[&str] = match kind {
        StepKind::Call => &[],
        StepKind::Message => &["message", "user", "assistant", "thinking"],
        StepKind::Command => &["command"],
        StepKind::Read => &["read"],
        StepKind::Write => &["write"],
        StepKind::Skill => &["skill"],
        StepKind::Http => &["http"],
        StepKind::Span => &["span"],
        StepKind::Handover => &["handover"],
    };
    let written = |word: &&&str| (0..view.operands.len()).any(|operand| is_written(view.pattern_text(operand), word));
    let called =
        |word: &&&str| view.machine.run.steps.iter().any(|step| step.kind == StepKind::Call && step.name == **word);
    match words.iter().filter(written).find(called) {
        Some(word) => format!("{reason}; for the tool write `\"{word}\"`"),
        None => operand.map_or(reason.clone(), |operand| {
            format!("{reason}, in which {} is looked for", view.pattern_words(operand))
        }),
    }
}

/// Whose words the run leaves out, and which pattern needs them.
pub(in super::super) fn absent_role(view: &WindowView<'_, '_>, operand: usize, role: &str) -> String {
    let words = view.pattern_words(operand);
    format!("{NOT_RECORDED} messages of the role `{role}`, among which {words} is looked for")
}

fn is_written(pattern: &str, word: &str) -> bool {
    pattern.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').any(|one| one == word)
}

pub(in super::super) fn unordered_kinds(a: StepKind, b: StepKind) -> String {
    format!("the run does not say in which order `{}` and `{}` came", a.list_key(), b.list_key())
}

pub(in super::super) fn unknown_reason(
    view: &mut WindowView<'_, '_>,
    hit: Option<&Hit>,
    fails: VerdictReason,
) -> VerdictReason {
    let Some(hit) = hit else {
        if fails.reason.is_empty() {
            return reason_with("the run does not record what decides this".to_owned(), fails.evidence);
        }
        if fails.reason.starts_with(NOT_RECORDED) {
            return fails;
        }
        let lacking = view.lacking_measures(&fails.evidence);
        let reason = format!("the run does not tell whether {}{lacking}", in_question(&fails.reason));
        return reason_with(reason, fails.evidence);
    };
    let (step, pattern) = (view.describe_step(hit.step), super::short_text(view.pattern_text(hit.operand)));
    let because = view.doubt_reason(hit).map(|because| format!(": {because}")).unwrap_or_default();
    let mut evidence = vec![view.step_proof(hit.step, hit.operand, Role::Decisive, String::new())];
    evidence.extend(fails.evidence.into_iter().filter(|other| other.step != Some(hit.step)));
    reason_with(format!("it is not known whether {step} matches `{pattern}`{because}"), evidence)
}

fn in_question(reason: &str) -> String {
    let turned =
        reason.replacen(" has no earlier ", " has an earlier ", 1).replacen(" has no later ", " has a later ", 1);
    match turned.strip_prefix("no ") {
        Some(rest) => format!("some {}", rest.split("; nearest are").next().unwrap_or_default()),
        None => turned,
    }
}

pub(in super::super) fn open_reason(view: &WindowView<'_, '_>, so_far: VerdictReason) -> VerdictReason {
    let open = not_complete(view.machine.run);
    match so_far.reason.as_str() {
        "" => reason_with(open.into_owned(), Vec::new()),
        reason => reason_with(format!("{open}: so far {reason}"), so_far.evidence),
    }
}

/// Steps named as lacking something.
const LACKING: usize = 2;

impl<'run> WindowView<'_, 'run> {
    /// `: it does not record the turn of approve at call 1`: what of the steps the bound of a statement needs.
    fn lacking_measures(&self, evidence: &[VerdictEvidence]) -> String {
        let mut steps: Vec<u32> = evidence.iter().filter_map(|one| one.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let Some(statement) = self.statement else { return String::new() };
        let needed = match statement.within {
            Some(StepDistance::Turns(_)) => {
                Some(StepRequirement { words: "the turn", lacks: |step| step.turn.is_none() })
            }
            Some(StepDistance::Time(_)) => {
                Some(StepRequirement { words: "the start", lacks: |step| step.start.is_none() })
            }
            _ => statement.step_requirement,
        };
        let Some(StepRequirement { words: what, lacks }) = needed else { return String::new() };
        let lacking = steps.into_iter().filter(|step| self.step(*step).is_some_and(lacks));
        let names: Vec<String> = lacking.take(LACKING).map(|step| format!("of {}", self.describe_step(step))).collect();
        if names.is_empty() { String::new() } else { format!(": it does not record {what} {}", names.join(" and ")) }
    }

    pub(in super::super) fn statement_bound(&self) -> Option<StepDistance> {
        self.statement?.within
    }

    fn doubt_reason(&mut self, hit: &Hit) -> Option<String> {
        let step = self.step(hit.step)?;
        let alternative = self.written_of(hit)?;
        if alternative.succeeded.is_some() && step.status == StepStatus::Unknown {
            return Some(format!("the run does not record its status{}", how_to_say_failure(step)));
        }
        let scope = context::ExpressionScope::of_step(step);
        if let Some(condition) = alternative.condition
            && self.machine.evaluate_truth(condition, &scope).is_ok_and(|truth| truth.plain_answer().is_none())
        {
            let hides = self.hidden(condition, step);
            return hides
                .or_else(|| Some(self.machine.explain_condition(condition, &scope).reason))
                .filter(|reason| !reason.is_empty());
        }
        let absent =
            alternative.binds.iter().find(|(name, _)| hit.env.get(*name as usize) == Some(&ValueId::ABSENT))?;
        let text = self.machine.rule_text(self.machine.code_span(absent.1));
        Some(format!("the run does not record `{text}`"))
    }
}

impl WindowView<'_, '_> {
    /// What a command line hides, where a condition asks which programs it runs.
    fn hidden(&self, condition: CodeId, step: &Step<'_>) -> Option<String> {
        let program = self.machine.program;
        let ops = program.code_ops(condition).filter(|_| step.kind == StepKind::Command)?;
        let name = |op: &Op| match op {
            Op::StepField(name) => program.names.get(name.0 as usize).map(String::as_str),
            _ => None,
        };
        let asks = ops.iter().filter_map(name).any(|name| command::LINE_FIELDS.contains(&name));
        let why = asks.then(|| command::line(step.name).hides)??;
        Some(format!("this line hides what it runs: {why}"))
    }
}

pub(in super::super) fn by_missing(view: &mut WindowView<'_, '_>, operand: usize) -> VerdictReason {
    let text = super::short_text(view.pattern_text(operand));
    let (window, matches) = (view.context.window, view.matches_of(operand));
    let inside = |step: &u32| (window.start..window.end).contains(&(*step as usize));
    let joined = matches.and_then(|matches| matches.candidates.iter().map(|candidate| candidate.step).find(inside));
    let looked_at = matches.map_or(&[][..], |matches| matches.looked_at(window.start, window.end));
    let missing = looked_at.iter().find(|looked| looked.decided == DecidedBy::MissingValue).map(|looked| looked.step);
    let Some(first) = missing.or(joined) else {
        return reason_with(format!("`{text}` was decided by something missing every time"), Vec::new());
    };
    let because =
        missing_words(view, operand, first).map(|words| format!(": for {} {words}", view.describe_step(first)));
    let reason = format!("`{text}` was decided by something missing every time{}", because.unwrap_or_default());
    view.step_reason(reason, first, operand)
}

fn missing_words(view: &mut WindowView<'_, '_>, operand: usize, step: u32) -> Option<String> {
    let step = view.step(step)?;
    let scope = context::ExpressionScope::of_step(step);
    for alternative in view.written_alternatives(operand) {
        if let Some(condition) = alternative.condition
            && view.machine.evaluate_truth(condition, &scope).is_ok_and(|truth| truth.by_missing())
        {
            return Some(view.machine.explain_condition(condition, &scope).reason).filter(|reason| !reason.is_empty());
        }
        for (_, path) in &alternative.binds {
            if let Some(words) = view.machine.missing_path_words(*path, &scope) {
                return Some(words);
            }
        }
    }
    None
}

/// ``no `amount` ``: what a step lacks, so that its match is doubtful; `None` if all of it is optional.
pub(in super::super) fn lacking_fields(view: &mut WindowView<'_, '_>, operand: usize, step: u32) -> Option<String> {
    let step = view.step(step)?;
    let scope = context::ExpressionScope::of_step(step);
    let mut needed = None;
    let mut is_known = false;
    for alternative in view.written_alternatives(operand) {
        if let Some(condition) = alternative.condition
            && view.machine.evaluate_truth(condition, &scope).is_ok_and(|truth| truth.by_missing())
        {
            is_known = true;
            needed = needed.or_else(|| view.machine.lacking_fields(condition, &scope));
        }
        for (_, path) in &alternative.binds {
            let missing = view
                .machine
                .evaluate_code(*path, &scope)
                .is_ok_and(|node| matches!(node.value, Value::Missing | Value::Null));
            is_known |= missing;
            if missing {
                needed = needed.or_else(|| view.machine.lacks_binding(*path, &scope));
            }
        }
    }
    if is_known { needed } else { Some("something is missing".to_owned()) }
}

pub(in super::super) fn no_calls(_: &mut WindowView<'_, '_>) -> VerdictReason {
    reason_with("there are no calls".to_owned(), Vec::new())
}

pub(in super::super) fn not_exercised(view: &mut WindowView<'_, '_>, operands: &[usize]) -> VerdictReason {
    let things: Vec<String> = operands.iter().map(|operand| view.pattern_words(*operand)).collect();
    let evidence = operands.iter().filter_map(|operand| view.near_in_window(*operand)).collect();
    reason_with(format!("there is no {}", things.join(" and no ")), evidence)
}

pub(in super::super) fn no_window(view: &mut WindowView<'_, '_>, scope: &WindowScope<PatternId>) -> String {
    let thing = view.pattern_words(0);
    match scope {
        WindowScope::Between { .. } => format!("no {thing} is followed by {}", view.pattern_words(1)),
        _ => format!("there is no {thing}"),
    }
}
