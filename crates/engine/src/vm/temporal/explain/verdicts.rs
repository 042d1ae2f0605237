//! Why something is undecided or vacuous.

use super::super::monitor::Why;
use super::super::statements::Needed;
use super::super::timeline::{DecidedBy, ValueId};
use super::super::view::{Hit, View};
use super::why;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::{Scope, Within};
use crate::vm::context;
use crate::vm::facts::how_to_say_failure;
use crate::vm::outcome::{Evidence, Role};
use averment_base::value::Value;
use averment_runs::command;
use averment_runs::run::{Kind, Records, Run, Status, Step};

/// A run that goes on, or in which something is missing.
pub(in super::super) fn not_complete(run: &Run<'_>) -> &'static str {
    match run.records {
        Records { missing_calls: 1.., .. } => {
            "the run is not complete (a result names a call that is missing), and a longer one could still change this"
        }
        Records { lost: 1.., .. } => {
            "the run is not complete (a line of it could not be read), and a longer one could still change this"
        }
        _ => "the run is not complete, and a longer one could still change this",
    }
}

/// How a reason starts that names what the run does not record.
pub(in super::super) const NOT_RECORDED: &str = "the run does not record";

/// What the run does not record, and which pattern looks for it; where it has calls of a tool that is named like the kind,
/// how a rule names those.
pub(in super::super) fn absent_kind(view: &View<'_, '_>, kind: Kind) -> String {
    let asks = |operand: &usize| {
        view.unique_pattern(*operand).is_some_and(|unique| unique.kinds.iter().any(|one| one == kind))
    };
    // That patterns look for calls needs no saying.
    let operand = (0..view.operands.len()).find(asks).filter(|_| kind != Kind::Call);
    let reason = format!("{NOT_RECORDED} `{}`", kind.list_key());
    let words: &[&str] = match kind {
        Kind::Call => &[],
        Kind::Message => &["message", "user", "assistant", "thinking"],
        Kind::Command => &["command"],
        Kind::Read => &["read"],
        Kind::Write => &["write"],
        Kind::Skill => &["skill"],
        Kind::Http => &["http"],
        Kind::Span => &["span"],
        Kind::Handover => &["handover"],
    };
    let written = |word: &&&str| (0..view.operands.len()).any(|operand| is_written(view.text(operand), word));
    let called =
        |word: &&&str| view.machine.run.steps.iter().any(|step| step.kind == Kind::Call && step.name == **word);
    match words.iter().filter(written).find(called) {
        Some(word) => format!("{reason}; for the tool write `\"{word}\"`"),
        None => operand
            .map_or(reason.clone(), |operand| format!("{reason}, in which {} is looked for", view.pattern(operand))),
    }
}

/// Whether a pattern says a word.
fn is_written(pattern: &str, word: &str) -> bool {
    pattern.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').any(|one| one == word)
}

/// Steps that the run does not order among each other.
pub(in super::super) fn unordered(a: Kind, b: Kind) -> String {
    format!("the run does not say in which order `{}` and `{}` came", a.list_key(), b.list_key())
}

/// The first thing that the run does not tell, and what it leaves open.
pub(in super::super) fn unknown(view: &mut View<'_, '_>, hit: Option<&Hit>, fails: Why) -> Why {
    let Some(hit) = hit else {
        if fails.reason.is_empty() {
            return why("the run does not record what decides this".to_owned(), fails.evidence);
        }
        if fails.reason.starts_with(NOT_RECORDED) {
            return fails;
        }
        let lacking = view.lacking(&fails.evidence);
        let reason = format!("the run does not tell whether {}{lacking}", in_question(&fails.reason));
        return why(reason, fails.evidence);
    };
    let (step, pattern) = (view.say(hit.step), super::short(view.text(hit.operand)));
    let because = view.doubt(hit).map(|because| format!(": {because}")).unwrap_or_default();
    let mut evidence = vec![view.step_proof(hit.step, hit.operand, Role::Decisive, String::new())];
    evidence.extend(fails.evidence.into_iter().filter(|other| other.step != Some(hit.step)));
    why(format!("it is not known whether {step} matches `{pattern}`{because}"), evidence)
}

/// What would be said of a failure, as a question.
fn in_question(reason: &str) -> String {
    let turned =
        reason.replacen(" has no earlier ", " has an earlier ", 1).replacen(" has no later ", " has a later ", 1);
    match turned.strip_prefix("no ") {
        Some(rest) => format!("some {}", rest.split("; nearest are").next().unwrap_or_default()),
        None => turned,
    }
}

/// What is not known of a run that goes on, and what it lacks so far.
pub(in super::super) fn open(view: &View<'_, '_>, so_far: Why) -> Why {
    let open = not_complete(view.machine.run);
    match so_far.reason.as_str() {
        "" => why(open.to_owned(), Vec::new()),
        reason => why(format!("{open}: so far {reason}"), so_far.evidence),
    }
}

/// Steps that are named as lacking something.
const LACKING: usize = 2;

impl<'run> View<'_, 'run> {
    /// `: it does not record the turn of approve at call 1`: what of the steps the bound of a statement needs.
    fn lacking(&self, evidence: &[Evidence]) -> String {
        let mut steps: Vec<u32> = evidence.iter().filter_map(|one| one.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let Some(statement) = self.statement else { return String::new() };
        let needed = match statement.within {
            Some(Within::Turns(_)) => Some(Needed { words: "the turn", lacks: |step| step.turn.is_none() }),
            Some(Within::Time(_)) => Some(Needed { words: "the start", lacks: |step| step.start.is_none() }),
            _ => statement.meaning.needs(),
        };
        let Some(Needed { words: what, lacks }) = needed else { return String::new() };
        let lacking = steps.into_iter().filter(|step| self.step(*step).is_some_and(lacks));
        let names: Vec<String> = lacking.take(LACKING).map(|step| format!("of {}", self.say(step))).collect();
        if names.is_empty() { String::new() } else { format!(": it does not record {what} {}", names.join(" and ")) }
    }

    /// The bound of the statement.
    pub(in super::super) fn within(&self) -> Option<Within> {
        self.statement?.within
    }

    /// What the run does not record of a step, so that a match is unknown.
    fn doubt(&mut self, hit: &Hit) -> Option<String> {
        let step = self.step(hit.step)?;
        let alternative = self.written_of(hit)?;
        if alternative.succeeded.is_some() && step.status == Status::Unknown {
            return Some(format!("the run does not record its status{}", how_to_say_failure(step)));
        }
        let scope = context::ExpressionScope::of_step(step);
        if let Some(condition) = alternative.condition
            && self.machine.truth(condition, &scope).is_ok_and(|truth| truth.plain().is_none())
        {
            let hides = self.hidden(condition, step);
            return hides
                .or_else(|| Some(self.machine.explain(condition, &scope).reason))
                .filter(|reason| !reason.is_empty());
        }
        let absent =
            alternative.binds.iter().find(|(name, _)| hit.env.get(*name as usize) == Some(&ValueId::ABSENT))?;
        let text = self.machine.rule_text(self.machine.code_span(absent.1));
        Some(format!("the run does not record `{text}`"))
    }
}

impl View<'_, '_> {
    /// What a command line hides, where a condition asks which programs it runs.
    fn hidden(&self, condition: CodeId, step: &Step<'_>) -> Option<String> {
        let program = self.machine.program;
        let chunk = program.chunks.get(condition.0 as usize).filter(|_| step.kind == Kind::Command)?;
        let name = |op: &Op| match op {
            Op::StepField(name) => program.names.get(name.0 as usize).map(String::as_str),
            _ => None,
        };
        let ops = program.code.get(chunk.start as usize..chunk.end as usize)?;
        let asks = ops.iter().filter_map(name).any(|name| command::LINE_FIELDS.contains(&name));
        let why = asks.then(|| command::line(step.name).hides)??;
        Some(format!("this line hides what it runs: {why}"))
    }
}

/// Every candidate of a pattern was decided by something missing.
pub(in super::super) fn by_missing(view: &mut View<'_, '_>, operand: usize) -> Why {
    let timeline = view.timeline;
    let text = super::short(view.text(operand));
    let window = view.context.window;
    let matches = view.operands.get(operand).and_then(|operand| timeline.of(operand.unique));
    let inside = |step: &u32| (window.start..window.end).contains(&(*step as usize));
    let joined = matches.and_then(|matches| matches.candidates.iter().map(|candidate| candidate.step).find(inside));
    let looked_at = matches.map_or(&[][..], |matches| matches.looked_at(window.start, window.end));
    let missing = looked_at.iter().find(|looked| looked.decided == DecidedBy::ByMissing).map(|looked| looked.step);
    let Some(first) = missing.or(joined) else {
        return why(format!("`{text}` was decided by something missing every time"), Vec::new());
    };
    let because = missing_words(view, operand, first).map(|words| format!(": for {} {words}", view.say(first)));
    let reason = format!("`{text}` was decided by something missing every time{}", because.unwrap_or_default());
    why(reason, vec![view.step_proof(first, operand, Role::Decisive, String::new())])
}

/// What was missing of a step.
fn missing_words(view: &mut View<'_, '_>, operand: usize, step: u32) -> Option<String> {
    let step = view.step(step)?;
    let scope = context::ExpressionScope::of_step(step);
    for alternative in view.written(operand) {
        if let Some(condition) = alternative.condition
            && view.machine.truth(condition, &scope).is_ok_and(|truth| truth.by_missing())
        {
            return Some(view.machine.explain(condition, &scope).reason).filter(|reason| !reason.is_empty());
        }
        for (_, path) in &alternative.binds {
            let node = view.machine.evaluate(*path, &scope).ok()?;
            if matches!(node.value, averment_base::value::Value::Missing) {
                return Some(format!("`{}` is missing", view.machine.rule_text(view.machine.code_span(*path))));
            }
        }
    }
    None
}

/// ``no `amount` ``: what a step lacks, so that something missing decided whether it matches a pattern; `None` where none of it has to be
/// there.
pub(in super::super) fn lacks(view: &mut View<'_, '_>, operand: usize, step: u32) -> Option<String> {
    let step = view.step(step)?;
    let scope = context::ExpressionScope::of_step(step);
    let mut needed = None;
    let mut is_known = false;
    for alternative in view.written(operand) {
        if let Some(condition) = alternative.condition
            && view.machine.truth(condition, &scope).is_ok_and(|truth| truth.by_missing())
        {
            is_known = true;
            needed = needed.or_else(|| view.machine.lacks(condition, &scope));
        }
        for (_, path) in &alternative.binds {
            let missing = view
                .machine
                .evaluate(*path, &scope)
                .is_ok_and(|node| matches!(node.value, Value::Missing | Value::Null));
            is_known |= missing;
            if missing {
                needed = needed.or_else(|| view.machine.lacks_binding(*path, &scope));
            }
        }
    }
    if is_known { needed } else { Some("something is missing".to_owned()) }
}

/// There are no calls.
pub(in super::super) fn no_calls(_: &mut View<'_, '_>) -> Why {
    why("there are no calls".to_owned(), Vec::new())
}

/// These patterns do not occur, and nothing exercised the statement.
pub(in super::super) fn not_exercised(view: &mut View<'_, '_>, operands: &[usize]) -> Why {
    let things: Vec<String> = operands.iter().map(|operand| view.pattern(*operand)).collect();
    let end = super::end(view);
    let mut evidence: Vec<Evidence> = Vec::new();
    for operand in operands {
        let header = view.header.clone();
        evidence.extend(view.near_miss(*operand, &header, end, true));
    }
    why(format!("there is no {}", things.join(" and no ")), evidence)
}

/// No window of a block opens.
pub(in super::super) fn no_window(view: &mut View<'_, '_>, scope: &Scope<PatternId>) -> String {
    let thing = view.pattern(0);
    match scope {
        Scope::Between { .. } => format!("no {thing} is followed by {}", view.pattern(1)),
        _ => format!("there is no {thing}"),
    }
}
