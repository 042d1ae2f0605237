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
use super::machine::Machine;
use super::when_gate;
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, Program};
use averment_base::truth::Verdict;
use averment_base::value::Value;
use averment_checker::ir::{OverRunsCheck, OverRunsQuestion, RateBound, RateSubject};
pub use conclude::conclude_runs;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use values::{FoldValues, RunValue};

/// Groups of runs that one assertion may tell apart: each is kept until the end.
pub const GROUPS: usize = 10_000;
/// Bytes of a group name.
const LONGEST: usize = 1 << 10;
/// Deciding runs that are named.
const NAMED: usize = 5;

/// What one run contributes to an assertion over runs, beside the counted verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum RunContribution {
    /// Its `when` is false: it concerns other runs.
    Skipped,
    /// The run does not record whether it applies.
    Undecided,
    /// A limit or a fault in its expressions.
    Error,
    /// Its group, one value per fold, and whether the run withholds one of these.
    Of(Option<Box<str>>, Vec<RunValue>, bool),
}

/// The assertions over runs of a program that are selected, by number.
pub fn of_program(program: &Program) -> impl Iterator<Item = (u32, &CompiledAssertion, &OverRunsCheck<CodeId>)> {
    (0_u32..).zip(&program.assertions).filter_map(|(number, assertion)| match &assertion.check {
        CompiledCheck::OverRuns(over) => Some((number, assertion, &**over)),
        _ => None,
    })
}

/// The expressions that an assertion over runs looks at each run with: its conditions first.
pub fn run_conditions<'a>(
    assertion: &'a CompiledAssertion,
    over: &'a OverRunsCheck<CodeId>,
) -> impl Iterator<Item = CodeId> {
    assertion.settings.when.iter().chain(over.run_expressions()).copied()
}

/// Evaluates an assertion over runs on one run.
pub fn contribution_of(
    machine: &mut Machine<'_>,
    assertion: &CompiledAssertion,
    over: &OverRunsCheck<CodeId>,
) -> RunContribution {
    let scope = ExpressionScope::default();
    machine.refuel();
    match when_gate(&assertion.settings.when, |code| machine.evaluate_truth(*code, &scope)) {
        Err(_) => return RunContribution::Error,
        Ok(Some((Verdict::Skipped, _))) => return RunContribution::Skipped,
        Ok(Some(_)) => return RunContribution::Undecided,
        Ok(None) => {}
    }
    let group = match over.by.map(|code| machine.evaluate_code(code, &scope)) {
        None => None,
        Some(Err(_)) => return RunContribution::Error,
        Some(Ok(node)) => match group_name(&node.value) {
            Some(name) => Some(name),
            None => return RunContribution::Error,
        },
    };
    let values = match &over.asks {
        OverRunsQuestion::Rate { .. } => Vec::new(),
        OverRunsQuestion::Folds { folds, .. } => folds
            .iter()
            .map(|fold| RunValue::of_evaluation(machine.evaluate_code(fold.value, &scope).map(|node| node.value)))
            .collect(),
    };
    let withheld = has_withheld(&machine.judged_run().withheld, group.as_deref(), &values);
    RunContribution::Of(group, values, withheld)
}

/// Distinct values have distinct names; `None` for an empty name.
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

fn reads_as_value(text: &str) -> bool {
    match text.as_bytes().first() {
        None | Some(b'"' | b'[' | b'{') => true,
        Some(b'-' | b'0'..=b'9') => text.parse::<f64>().is_ok(),
        _ => matches!(text, "true" | "false" | "null"),
    }
}

fn has_withheld(texts: &[String], group: Option<&str>, values: &[RunValue]) -> bool {
    let is = |text: &str| texts.iter().any(|one| one == "\0" || one == text.trim());
    let number = |value: &RunValue| matches!(value, RunValue::Number(number) if is(&number.to_string()));
    !texts.is_empty() && (group.is_some_and(is) || values.iter().any(number))
}

/// The state kept across runs for a program's assertions over runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunsTally {
    assertions: BTreeMap<u32, AssertionTally>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AssertionTally {
    runs: u64,
    skipped: u64,
    undecided: u64,
    errors: u64,
    groups: BTreeMap<Option<Box<str>>, GroupTally>,
    too_many: bool,
    /// Some run withholds its contribution; no value is shown.
    withheld: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct GroupTally {
    /// Number of runs per verdict, in the order of [`Verdict::ALL`].
    verdicts: [u64; Verdict::ALL.len()],
    folds: Vec<FoldValues>,
    against: Vec<Box<str>>,
}

impl RunsTally {
    /// Adds what a run gives to an assertion; `verdict` is that of what is counted, `name` what the run is called.
    pub fn add_run(
        &mut self,
        number: u32,
        over: &OverRunsCheck<CodeId>,
        given: RunContribution,
        verdict: Option<Verdict>,
        name: &dyn Fn() -> String,
    ) {
        let kept = self.assertions.entry(number).or_default();
        kept.runs = kept.runs.saturating_add(1);
        let (by, values) = match given {
            RunContribution::Skipped => return add_one(&mut kept.skipped),
            RunContribution::Undecided => return add_one(&mut kept.undecided),
            RunContribution::Error => return add_one(&mut kept.errors),
            RunContribution::Of(by, values, withheld) => {
                kept.withheld |= withheld;
                (by, values)
            }
        };
        let exact = values::exact_limit(by.is_some());
        let group = kept.groups.entry(by).or_default();
        if group.folds.is_empty() {
            group.folds.resize_with(values.len(), FoldValues::default);
        }
        for (all, value) in group.folds.iter_mut().zip(values) {
            all.add_value(value, exact, name);
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

impl AssertionTally {
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
            let exact = values::exact_limit(by.is_some());
            self.groups.entry(by).or_default().append(group, exact);
        }
    }
}

impl GroupTally {
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

    fn verdict_count(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(verdict as usize).copied().unwrap_or(0)
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

fn decides_against(over: &OverRunsCheck<CodeId>, verdict: Verdict) -> bool {
    match &over.asks {
        OverRunsQuestion::Rate { share: RateBound::Most(_), .. } => verdict == Verdict::Pass,
        OverRunsQuestion::Rate { .. } => matches!(verdict, Verdict::Fail | Verdict::Undecided | Verdict::Error),
        OverRunsQuestion::Folds { .. } => false,
    }
}

#[must_use]
pub(super) fn is_counted(program: &Program, number: u32, asked: &dyn Fn(&CompiledAssertion) -> bool) -> bool {
    let rule = program.assertions.get(number as usize).and_then(|assertion| assertion.rule);
    of_program(program).any(|(_, assertion, over)| counts_assertion(over, number, rule) && asked(assertion))
}

/// What the assertions over runs of a program ask to fail.
#[derive(Debug)]
pub struct ExpectedFailures {
    /// For each subject that is counted, whether all that count it only ask that few runs pass.
    few_pass: FxHashMap<RateSubject, bool>,
}

impl ExpectedFailures {
    /// Those of a program.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let mut few_pass = FxHashMap::default();
        for (_, _, over) in of_program(program) {
            if let OverRunsQuestion::Rate { rated, share, .. } = &over.asks {
                *few_pass.entry(*rated).or_insert(true) &= matches!(share, RateBound::Most(_));
            }
        }
        Self { few_pass }
    }

    /// True if every assertion over runs about an assertion, or its rule, only asks that few runs pass.
    #[must_use]
    pub fn is_to_fail(&self, number: u32, assertion: &CompiledAssertion) -> bool {
        let subjects = [Some(RateSubject::Assertion(number)), assertion.rule.map(RateSubject::Rule)];
        let mut few = subjects.into_iter().flatten().filter_map(|subject| self.few_pass.get(&subject));
        few.next().is_some_and(|first| *first && few.all(|one| *one))
    }
}

fn counts_assertion(over: &OverRunsCheck<CodeId>, number: u32, rule: Option<u32>) -> bool {
    match over.asks {
        OverRunsQuestion::Rate { rated: RateSubject::Rule(counted), .. } => rule == Some(counted),
        OverRunsQuestion::Rate { rated: RateSubject::Assertion(counted), .. } => counted == number,
        OverRunsQuestion::Folds { .. } => false,
    }
}
