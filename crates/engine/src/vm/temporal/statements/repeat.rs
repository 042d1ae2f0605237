//! `never repeat A more than n times`: the same call in a row.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::{ExerciseRule, StatementDefinition, StatementSemantics, hurting_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailureList};
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::step_lists::Certainty;
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, VerdictReason, WindowHits, call_position};
use crate::vm::value_equality::equality_truth;
use averment_base::truth::Truth;
use averment_base::value::{Number, Value, compare};
use averment_runs::normal::of_step;
use averment_runs::run::{Step, StepStatus};

pub(super) fn repeat_statement(step: PatternId, limit: u32) -> StatementDefinition {
    StatementDefinition::new(hurting_operands(&[step]), ExerciseRule::AnyOf(0..1), RepeatSemantics { limit }).of_calls()
}

#[derive(Debug)]
struct RepeatSemantics {
    limit: u32,
}

impl StatementSemantics for RepeatSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let (sure, possible) = view.ask_both(&hits, |view, certainty| {
            Ok(CallStreaks::new(self.limit, view.listed).follow_hits(&hits, certainty, view))
        })?;
        let makes_others = KnownPresence {
            sure: !(sure.counts_up || possible.counts_up),
            possible: !(sure.counts_up && possible.counts_up),
        };
        let exercised = possible.occurs.and(makes_others);
        let fails = !sure.caught.is_empty();
        let stands = PossibleOutcomes::unwanted(fails, !possible.caught.is_empty());
        let stands = PossibleOutcomes { exercised: Some(exercised), ..stands };
        let latest = sure.latest.as_ref().map(|row| row.length);
        let caught = if fails { sure.caught } else { possible.caught };
        let decision = Decision::new(stands).failing(move |view| {
            caught.explain_places(view, |view, row| Some(repeat_reason(view, row.first, row.last, row.length)))
        });
        let in_a_row = move || latest.map_or_else(String::new, |length| format!("{length} in a row"));
        Ok(Some(decision.with_state(move |_| in_a_row())))
    }

    fn vacuous_reason(&self, view: &mut WindowView<'_, '_>) -> String {
        let steps: Vec<u32> = view.hits_of(0).map(|hit| hit.step).collect();
        let run = view.machine.run;
        let step = |number: u32| run.steps.get(number as usize);
        let pairs = steps.windows(2).filter_map(|pair| match *pair {
            [a, b] => Some((step(a)?, step(b)?)),
            _ => None,
        });
        let (limit, things) = (self.limit, view.pattern_words(0));
        let differing = pairs.filter(|(a, b)| !is_same_call(a, b)).find_map(|(a, b)| nearly_same_argument(a, b));
        let (argument, how) = differing.unwrap_or(("a number", COUNTS_UP));
        format!(
            "more than {limit} calls of {things} in a row are the same but for `{argument}`, which {how}; say what may not come again, for \
             example `count {things} <= {limit}` with the arguments that matter",
        )
    }
}

#[derive(Clone)]
struct CallStreaks {
    limit: u32,
    /// The last matching call, and the number of equal ones before it.
    latest: Option<CallStreak>,
    caught: FailureList<CallStreak>,
    /// Neighboring calls up to the last one that are the same but for arguments that count up or are nearly equal.
    nearly: u32,
    /// True if there were more of those than the limit.
    counts_up: bool,
    /// Whether a call of the list surely matches, and whether one may.
    occurs: KnownPresence,
}

#[derive(Debug, Clone)]
struct CallStreak {
    first: u32,
    last: u32,
    place: u32,
    length: u32,
}

impl CallStreaks {
    fn new(limit: u32, listed: usize) -> Self {
        let caught = FailureList::new(listed);
        Self { limit, latest: None, caught, nearly: 0, counts_up: false, occurs: KnownPresence::of(false) }
    }
}

/// No arguments, `null` and `{}` are equal.
fn call_arguments<'run>(step: &Step<'run>) -> Option<Value<'run>> {
    let value = step.object.get("args")?.value;
    match value {
        Value::Missing | Value::Absent | Value::Null => None,
        Value::Object(object) if object.entries().is_empty() => None,
        value => Some(value),
    }
}

fn is_same_call(a: &Step<'_>, b: &Step<'_>) -> bool {
    let arguments = match (call_arguments(a), call_arguments(b)) {
        (None, None) => true,
        (Some(a), Some(b)) => compare::values_equal(&a, &b),
        _ => false,
    };
    a.name == b.name && arguments
}

const COUNTS_UP: &str = "counts up";
const NEARLY_EQUAL: &str = "is nearly equal each time";

/// The first argument by which two calls differ, and how, where all that differ are whole numbers that went up by one, or nearly equal, and
/// both calls came to the same: neither makes another call of one that is tried again.
fn nearly_same_argument<'run>(a: &Step<'run>, b: &Step<'run>) -> Option<(&'run str, &'static str)> {
    let (Some(Value::Object(before)), Some(Value::Object(behind))) = (call_arguments(a), call_arguments(b)) else {
        return None;
    };
    if a.name != b.name || before.entries().len() != behind.entries().len() || !is_same_outcome(a, b) {
        return None;
    }
    let mut differing = None;
    for entry in before.entries() {
        let (one, other) = (entry.node.value, behind.get(entry.key)?.value);
        match (one, other) {
            _ if compare::values_equal(&one, &other) => {}
            (Value::Number(one), Value::Number(other)) if is_next(one, other) => {
                differing = differing.or(Some((entry.key, COUNTS_UP)));
            }
            _ if equality_truth(&one, &other, compare::values_equal) == Truth::FalseByMissing => {
                differing = differing.or(Some((entry.key, NEARLY_EQUAL)));
            }
            _ => return None,
        }
    }
    differing
}

fn is_next(one: Number<'_>, other: Number<'_>) -> bool {
    one.as_i64().zip(other.as_i64()).is_some_and(|(one, other)| one.checked_add(1) == Some(other))
}

/// True if both failed, or answered the same or nothing.
fn is_same_outcome<'run>(a: &Step<'run>, b: &Step<'run>) -> bool {
    let result = |step: &Step<'run>| match step.object.get(of_step::RESULT).map(|node| node.value) {
        None | Some(Value::Missing | Value::Absent | Value::Null) => None,
        result => result,
    };
    let same = match (result(a), result(b)) {
        (None, None) => true,
        (Some(a), Some(b)) => compare::values_equal(&a, &b),
        _ => false,
    };
    same || a.status == StepStatus::Failed && b.status == StepStatus::Failed
}

impl CallStreaks {
    fn follow_hits(mut self, hits: &WindowHits, certainty: Certainty, view: &WindowView<'_, '_>) -> Self {
        hits.steps().for_each(|step| self.add_step(step, certainty, view));
        self
    }

    fn add_step(&mut self, hits: &[Hit], certainty: Certainty, view: &WindowView<'_, '_>) {
        let Some(place) = hits.first().and_then(|hit| call_position(hit.step, view)) else { return };
        self.occurs = self.occurs.or(KnownPresence { sure: hits.iter().any(|hit| hit.sure), possible: true });
        let Some(hit) = hits.iter().find(|hit| certainty.counts_hit(hit)) else { return };
        let Some(step) = view.step(hit.step) else { return };
        let before = self.latest.take().filter(|row| row.place.checked_add(1) == Some(place));
        let last = before.as_ref().and_then(|row| view.step(row.last));
        let is_same = last.is_some_and(|last| is_same_call(last, step));
        let is_near = is_same || last.is_some_and(|last| nearly_same_argument(last, step).is_some());
        self.nearly = if is_near { self.nearly.saturating_add(1) } else { 1 };
        self.counts_up |= self.nearly > self.limit;
        let continues = before.filter(|_| is_same);
        let (first, length) = continues.map_or((hit.step, 1), |row| (row.first, row.length.saturating_add(1)));
        let row = CallStreak { first, last: hit.step, place, length };
        if row.length.checked_sub(1) == Some(self.limit) {
            self.caught.push(row.clone());
        } else if row.length > self.limit
            && let Some(caught) = self.caught.last_mut().filter(|caught| caught.first == row.first)
        {
            // A row that is too long grows on.
            *caught = row.clone();
        }
        self.latest = Some(row);
    }
}

fn repeat_reason(view: &mut WindowView<'_, '_>, first: u32, last: u32, length: u32) -> VerdictReason {
    let reason = format!(
        "{} is the first of {length} same calls in a row, up to {}",
        view.describe_step(first),
        view.describe_step(last)
    );
    let first = view.step_proof(first, 0, Role::Value, "the first of them".to_owned());
    let last = view.step_proof(last, 0, Role::Decisive, "the last of them".to_owned());
    reason_with(reason, vec![first, last])
}
