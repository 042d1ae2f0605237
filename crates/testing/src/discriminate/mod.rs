//! Finds the rules that distinguish two folders of runs: good runs, which should pass, and bad runs, which should fail.

pub mod maths;
mod show;

use super::subject::TestSubject;
use super::trace_runs::{TraceReading, each_run};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_checker::ir::Severity;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::outcome::{AssertionOutcome, RuleOutcome, RunOutcome, Status};
use averment_engine::vm::select::RuleSelection;
use averment_engine::vm::summary::counted_verdict;
use averment_report::gate::{self, Gate, GateInputs, GatePolicy};
use averment_traces::read;
use bumpalo::Bump;
use maths::ContingencyTable;
pub use show::{discrimination_data, print_human, print_short};

/// The two folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderSide {
    /// Runs that should pass.
    Good,
    /// Runs that should fail.
    Bad,
}

/// Number of runs per verdict, in the order of [`Verdict::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTotals([u64; 6]);

impl VerdictTotals {
    fn add_verdict(&mut self, verdict: Verdict) {
        let at = Verdict::ALL.iter().position(|one| *one == verdict);
        if let Some(count) = at.and_then(|at| self.0.get_mut(at)) {
            *count += 1;
        }
    }

    /// Returns the number of runs with this verdict.
    #[must_use]
    pub fn verdict_count(&self, verdict: Verdict) -> u64 {
        let at = Verdict::ALL.iter().position(|one| *one == verdict);
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(0)
    }

    /// Returns the total number of runs.
    #[must_use]
    pub fn total_count(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A rule, a bare assertion, or an assertion of a rule.
#[derive(Debug, Clone)]
pub struct DiscriminationRow {
    /// The index of its rule file among the subjects.
    pub subject: usize,
    /// Its id.
    pub id: String,
    /// Display name: the id, or the text of a bare assertion.
    pub name: String,
    /// Its location.
    pub span: Span,
    /// Verdicts on good runs.
    pub good: VerdictTotals,
    /// Verdicts on bad runs.
    pub bad: VerdictTotals,
    /// Its assertions, if it is a rule.
    pub assertions: Vec<DiscriminationRow>,
    part: RowSubject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowSubject {
    Rule(u32),
    Assertion(u32),
}

/// The value of a rule for distinguishing good runs from bad ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleWorth {
    /// It fails more often on bad runs than on good ones.
    Tells,
    /// It fails as often, or more often, on good runs than on bad ones.
    Misleads,
    /// It holds on every run that exercises it.
    AlwaysTrue,
    /// It fails on every run that exercises it, good and bad.
    AlwaysFalse,
    /// No run exercises it: it is vacuous or skipped everywhere.
    NeverExercised,
    /// No run records the data it needs.
    NeverDecided,
}

impl DiscriminationRow {
    /// Returns the contingency table.
    #[must_use]
    pub fn contingency_table(&self) -> ContingencyTable {
        ContingencyTable::from_totals(&self.good, &self.bad)
    }

    /// Returns the classification.
    #[must_use]
    pub fn rule_worth(&self) -> RuleWorth {
        let both = |verdict| self.good.verdict_count(verdict) + self.bad.verdict_count(verdict);
        let (passed, failed) = (both(Verdict::Pass), both(Verdict::Fail));
        match (passed, failed) {
            (0, 0) if both(Verdict::Undecided) + both(Verdict::Error) > 0 => RuleWorth::NeverDecided,
            (0, 0) => RuleWorth::NeverExercised,
            (_, 0) => RuleWorth::AlwaysTrue,
            (0, _)
                if self.good.verdict_count(Verdict::Fail) > 0
                    && self.bad.verdict_count(Verdict::Fail) > 0
                    && both(Verdict::Vacuous) == 0 =>
            {
                RuleWorth::AlwaysFalse
            }
            _ if self.contingency_table().informedness_sign().is_gt() => RuleWorth::Tells,
            _ => RuleWorth::Misleads,
        }
    }
}

/// The comparison of both folders.
#[derive(Debug)]
pub struct Discrimination {
    /// Rules and bare assertions, sorted by informedness, best first.
    pub rows: Vec<DiscriminationRow>,
    /// Verdicts of whole runs, by the gate of `aver check`.
    pub whole: (VerdictTotals, VerdictTotals),
    /// Statistics on reading the good folder.
    pub good: TraceReading,
    /// Statistics on reading the bad folder.
    pub bad: TraceReading,
}

/// Judges both folders with the selected rules of all subjects.
#[must_use]
pub fn discriminate_runs(
    subjects: &[TestSubject],
    selection: &RuleSelection,
    good: &[String],
    bad: &[String],
    limits: &Limits,
) -> Discrimination {
    let options = EvaluateOptions { selection: selection.clone(), limits: *limits, ..EvaluateOptions::default() };
    let mut rows: Vec<DiscriminationRow> =
        subjects.iter().enumerate().flat_map(|(number, subject)| rows_of(number, subject, selection)).collect();
    let mut whole = (VerdictTotals::default(), VerdictTotals::default());
    let mut judge = |traces: &[String], side: FolderSide| {
        each_run(traces, limits, |raw| {
            let arena = Bump::new();
            let run = read::parse_run(raw, &arena, limits)?;
            let mut passed = true;
            for (number, subject) in subjects.iter().enumerate() {
                let outcome = evaluate(&subject.program, &subject.prepared, &run, &arena, &options);
                passed &= passes_check(&subject.program, &outcome);
                rows.iter_mut().filter(|row| row.subject == number).for_each(|row| row.add_outcome(&outcome, side));
            }
            let whole = if side == FolderSide::Good { &mut whole.0 } else { &mut whole.1 };
            whole.add_verdict(if passed { Verdict::Pass } else { Verdict::Fail });
            Ok(())
        })
    };
    let (good, bad) = (judge(good, FolderSide::Good), judge(bad, FolderSide::Bad));
    // The sort is stable, so rules with equal informedness stay in file order.
    rows.sort_by(|a, b| b.contingency_table().compare_informedness(&a.contingency_table()));
    Discrimination { rows, whole, good, bad }
}

impl DiscriminationRow {
    fn new(subject: usize, id: &str, name: &str, span: Span, part: RowSubject) -> Self {
        let (good, bad) = (VerdictTotals::default(), VerdictTotals::default());
        Self { subject, id: id.to_owned(), name: name.to_owned(), span, good, bad, assertions: Vec::new(), part }
    }

    fn add_outcome(&mut self, outcome: &RunOutcome, side: FolderSide) {
        if let Some(verdict) = self.part.subject_verdict(outcome) {
            let totals = if side == FolderSide::Good { &mut self.good } else { &mut self.bad };
            totals.add_verdict(verdict);
        }
        self.assertions.iter_mut().for_each(|assertion| assertion.add_outcome(outcome, side));
    }
}

impl RowSubject {
    fn subject_verdict(self, outcome: &RunOutcome) -> Option<Verdict> {
        match self {
            Self::Rule(rule) => outcome.rules.iter().find(|one| one.rule == rule).map(|one| one.verdict),
            Self::Assertion(number) => {
                let at = outcome.results.binary_search_by_key(&number, |result| result.assertion).ok()?;
                outcome.results.get(at).map(|result| counted_verdict(result.status, result.verdict))
            }
        }
    }
}

/// True if a run passes `aver check` without flags; an assertion's own `deny` and `allow` count.
fn passes_check(program: &Program, outcome: &RunOutcome) -> bool {
    let policy = GatePolicy::default();
    let opens = |result: &AssertionOutcome| {
        let Some(assertion) = program.assertions.get(result.assertion as usize) else { return true };
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        let gating = GateInputs {
            is_error: assertion.settings.severity == Severity::Error,
            by_rule: rule.is_some_and(|rule| rule.threshold.is_some()),
            over_runs: assertion.settings.over_runs,
            denied: assertion.settings.denied,
        };
        gate::assertion_gate(gating, result.status, result.unjudged.is_some(), policy) == Gate::Open
    };
    let rule_opens = |found: &RuleOutcome| {
        let rule = program.rules.get(found.rule as usize);
        rule.filter(|rule| rule.threshold.is_some() && rule.severity == Severity::Error && !rule.over_runs).is_none_or(
            |rule| {
                gate::status_gate(Status::of_verdict(found.verdict, false), policy.with_denied(rule.denied))
                    == Gate::Open
            },
        )
    };
    outcome.results.iter().all(opens) && outcome.rules.iter().all(rule_opens)
}

fn rows_of(subject: usize, of: &TestSubject, selection: &RuleSelection) -> Vec<DiscriminationRow> {
    let program = &of.program;
    let mut rows: Vec<DiscriminationRow> = Vec::new();
    for (number, assertion) in (0..).zip(&program.assertions) {
        if !selection.is_judged(program, number, assertion) {
            continue;
        }
        let own = DiscriminationRow::new(
            subject,
            &assertion.id,
            &assertion.text,
            assertion.span,
            RowSubject::Assertion(number),
        );
        let Some(rule) = assertion.rule else {
            rows.push(own);
            continue;
        };
        match rows.iter_mut().find(|row| row.part == RowSubject::Rule(rule)) {
            Some(row) => row.assertions.push(own),
            None => {
                let Some(known) = program.rules.get(rule as usize) else { continue };
                let row = DiscriminationRow::new(subject, &known.id, &known.id, known.span, RowSubject::Rule(rule));
                rows.push(DiscriminationRow { assertions: vec![own], ..row });
            }
        }
    }
    rows
}
