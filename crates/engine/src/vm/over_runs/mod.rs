//! Statements over all runs that are checked: what each run gives to them, what is kept of many runs, and what comes of it in the end
//! (language reference, section 12).
//!
//! Each run is looked at by itself, on any thread; what it gives is added up in the order of the runs. What is kept does not grow with the
//! number of runs.

mod conclude;
mod rate;
mod values;
mod words;

use super::context::ExpressionScope;
use super::gate;
use super::machine::Machine;
use crate::bytecode::program::{Assertion, Check, CodeId, Program};
use crate::ir::{AsksOfRuns, OverRuns, RatedBy, Share};
use averment_base::truth::Verdict;
use averment_base::value::Value;
pub use conclude::conclude;
use std::collections::BTreeMap;
use values::{RunValue, Values};

/// Groups of runs that one assertion may tell apart: each is kept until the end.
pub const GROUPS: usize = 10_000;
/// Bytes of the longest name of a group.
const LONGEST: usize = 1 << 10;
/// Runs that are named of those that decide against it.
const NAMED: usize = 5;

/// What one run gives to an assertion over runs, beside the verdict that is counted.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Its `when` is false: it is of other runs.
    Skipped,
    /// Whether it is of this run is not recorded.
    Undecided,
    /// A limit, or a fault of its expressions.
    Error,
    /// Its group, a value for each of its folds, and whether the run keeps one of these to itself.
    Of(Option<Box<str>>, Vec<RunValue>, bool),
}

/// The assertions over runs of a program that are selected, by number.
pub fn of_program(program: &Program) -> impl Iterator<Item = (u32, &Assertion, &OverRuns<CodeId>)> {
    (0_u32..).zip(&program.assertions).filter_map(|(number, assertion)| match &assertion.check {
        Check::OverRuns(over) => Some((number, assertion, &**over)),
        _ => None,
    })
}

/// The expressions that an assertion over runs looks at each run with: its conditions first.
pub fn looked_at<'a>(assertion: &'a Assertion, over: &'a OverRuns<CodeId>) -> impl Iterator<Item = CodeId> {
    assertion.settings.when.iter().chain(over.of_each_run()).copied()
}

/// What a run gives to an assertion over runs.
pub fn look(machine: &mut Machine<'_>, assertion: &Assertion, over: &OverRuns<CodeId>) -> Given {
    let scope = ExpressionScope::default();
    machine.refuel();
    match gate(&assertion.settings.when, |code| machine.truth(*code, &scope)) {
        Err(_) => return Given::Error,
        Ok(Some((Verdict::Skipped, _))) => return Given::Skipped,
        Ok(Some(_)) => return Given::Undecided,
        Ok(None) => {}
    }
    let group = match over.by.map(|code| machine.evaluate(code, &scope)) {
        None => None,
        Some(Err(_)) => return Given::Error,
        Some(Ok(node)) => match group_name(&node.value) {
            Some(name) => Some(name),
            None => return Given::Error,
        },
    };
    let values = match &over.asks {
        AsksOfRuns::Rate { .. } => Vec::new(),
        AsksOfRuns::Folds { folds, .. } => {
            folds.iter().map(|fold| RunValue::of(machine.evaluate(fold.value, &scope).map(|node| node.value))).collect()
        }
    };
    let withheld = withholds(&machine.run().withheld, group.as_deref(), &values);
    Given::Of(group, values, withheld)
}

/// What a group of runs is called by its value, another name for every other value; none is called by an empty name.
fn group_name(value: &Value<'_>) -> Option<Box<str>> {
    match value {
        Value::Absent | Value::Missing => Some("".into()),
        Value::Text(text) if text.as_str().len() > LONGEST => None,
        Value::Text(text) if !reads_as_value(text.as_str()) => Some(text.as_str().into()),
        Value::Number(number) => Some(match number.as_i64() {
            Some(whole) => whole.to_string().into(),
            None if values::is_exact(*number) => number.to_f64().to_string().into(),
            None => number.to_string().into(),
        }),
        value => averment_base::value::json::to_json_within(value, LONGEST).map(Into::into),
    }
}

/// Whether a text looks like the name of a group whose value is no text.
fn reads_as_value(text: &str) -> bool {
    match text.as_bytes().first() {
        None | Some(b'"' | b'[' | b'{') => true,
        Some(b'-' | b'0'..=b'9') => text.parse::<f64>().is_ok(),
        _ => matches!(text, "true" | "false" | "null"),
    }
}

/// Whether what is not to be shown of a run is among what it gives.
fn withholds(texts: &[String], group: Option<&str>, values: &[RunValue]) -> bool {
    let is = |text: &str| texts.iter().any(|one| one == "\0" || one == text.trim());
    let number = |value: &RunValue| matches!(value, RunValue::Number(number) if is(&number.to_string()));
    !texts.is_empty() && (group.is_some_and(is) || values.iter().any(number))
}

/// What is kept of the runs for the assertions over runs of a program.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// By the number of the assertion.
    assertions: BTreeMap<u32, Kept>,
}

/// What is kept for one assertion.
#[derive(Debug, Clone, Default)]
struct Kept {
    runs: u64,
    skipped: u64,
    undecided: u64,
    errors: u64,
    groups: BTreeMap<Option<Box<str>>, Group>,
    /// There were more groups than are kept apart.
    too_many: bool,
    /// Some run keeps to itself what it gives: nothing of it is shown.
    withheld: bool,
}

/// What is kept of a group of runs.
#[derive(Debug, Clone, Default)]
struct Group {
    /// How many runs have each verdict, in the order of [`Verdict::ALL`].
    verdicts: [u64; Verdict::ALL.len()],
    /// The values of each fold.
    folds: Vec<Values>,
    /// Runs that decide against it, the first of them.
    against: Vec<Box<str>>,
}

impl Tally {
    /// Adds what a run gives to an assertion; `verdict` is that of what is counted, `name` what the run is called.
    pub fn add(
        &mut self,
        number: u32,
        over: &OverRuns<CodeId>,
        given: Given,
        verdict: Option<Verdict>,
        name: &dyn Fn() -> String,
    ) {
        let kept = self.assertions.entry(number).or_default();
        kept.runs = kept.runs.saturating_add(1);
        let (by, values) = match given {
            Given::Skipped => return add_one(&mut kept.skipped),
            Given::Undecided => return add_one(&mut kept.undecided),
            Given::Error => return add_one(&mut kept.errors),
            Given::Of(by, values, withheld) => {
                kept.withheld |= withheld;
                (by, values)
            }
        };
        let exact = values::exact(by.is_some());
        let group = kept.groups.entry(by).or_default();
        if group.folds.is_empty() {
            group.folds.resize_with(values.len(), Values::default);
        }
        for (all, value) in group.folds.iter_mut().zip(values) {
            all.add(value, exact, name);
        }
        if let Some(verdict) = verdict {
            if let Some(count) = group.verdicts.get_mut(verdict as usize) {
                add_one(count);
            }
            if decides_against(over, verdict) && group.against.len() < NAMED {
                group.against.push(name().into());
            }
        }
    }

    /// Adds what is kept of the runs behind these.
    pub fn append(&mut self, others: Self) {
        for (number, other) in others.assertions {
            self.assertions.entry(number).or_default().append(other);
        }
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty()
    }
}

impl Kept {
    fn append(&mut self, other: Self) {
        for (own, other) in [
            (&mut self.runs, other.runs),
            (&mut self.skipped, other.skipped),
            (&mut self.undecided, other.undecided),
            (&mut self.errors, other.errors),
        ] {
            *own = own.saturating_add(other);
        }
        self.too_many |= other.too_many;
        self.withheld |= other.withheld;
        for (by, group) in other.groups {
            if self.groups.len() >= GROUPS && !self.groups.contains_key(&by) {
                self.too_many = true;
                continue;
            }
            let exact = values::exact(by.is_some());
            self.groups.entry(by).or_default().append(group, exact);
        }
    }
}

impl Group {
    fn append(&mut self, other: Self, exact: usize) {
        for (own, other) in self.verdicts.iter_mut().zip(other.verdicts) {
            *own = own.saturating_add(other);
        }
        if self.folds.is_empty() {
            self.folds = other.folds;
        } else {
            self.folds.iter_mut().zip(other.folds).for_each(|(own, other)| own.append(other, exact));
        }
        let room = NAMED.saturating_sub(self.against.len());
        self.against.extend(other.against.into_iter().take(room));
    }

    fn of(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(verdict as usize).copied().unwrap_or(0)
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// Whether a run with this verdict is one of those that break a rate.
fn decides_against(over: &OverRuns<CodeId>, verdict: Verdict) -> bool {
    match &over.asks {
        AsksOfRuns::Rate { share: Share::Most(_), .. } => verdict == Verdict::Pass,
        AsksOfRuns::Rate { .. } => matches!(verdict, Verdict::Fail | Verdict::Undecided | Verdict::Error),
        AsksOfRuns::Folds { .. } => false,
    }
}

/// Whether an assertion, or its rule, is counted by one of the assertions over runs that are asked for.
#[must_use]
pub(super) fn is_counted(program: &Program, number: u32, asked: &dyn Fn(&Assertion) -> bool) -> bool {
    let rule = program.assertions.get(number as usize).and_then(|assertion| assertion.rule);
    of_program(program).any(|(_, assertion, over)| counts(over, number, rule) && asked(assertion))
}

/// Whether all that is said over runs of an assertion, or of its rule, is that few runs pass it.
#[must_use]
pub fn is_to_fail(program: &Program, number: u32) -> bool {
    let rule = program.assertions.get(number as usize).and_then(|assertion| assertion.rule);
    let mut few = of_program(program)
        .filter(|(_, _, over)| counts(over, number, rule))
        .map(|(_, _, over)| matches!(over.asks, AsksOfRuns::Rate { share: Share::Most(_), .. }));
    few.next().is_some_and(|first| first && few.all(|one| one))
}

/// Whether an assertion over runs counts this one, or its rule.
fn counts(over: &OverRuns<CodeId>, number: u32, rule: Option<u32>) -> bool {
    match over.asks {
        AsksOfRuns::Rate { rated: RatedBy::Rule(counted), .. } => rule == Some(counted),
        AsksOfRuns::Rate { rated: RatedBy::Assertion(counted), .. } => counted == number,
        AsksOfRuns::Folds { .. } => false,
    }
}
