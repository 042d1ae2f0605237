//! The outcome of a run: verdicts, reasons and evidence, as Rust values and as JSON.

use crate::assertion::Assertion;
use averment_report::gate::GatePolicy;
use averment_report::model::{EvidenceReport, ResultReport, RuleReport, RunReport};
use averment_report::table::{ReportItem, ReportTable, RuleItem};
use averment_report::unjudged::UnjudgedReport;
use averment_report::wire::RunObject;
use serde::{Serialize, Serializer};
use std::sync::Arc;

#[doc(inline)]
pub use averment_base::truth::Verdict;
#[doc(inline)]
pub use averment_checker::ir::Severity;
#[doc(inline)]
pub use averment_engine::vm::outcome::{Role, Status, UndecidedCause};
#[doc(inline)]
pub use averment_report::model::TraceBytes as TracePlace;

/// The verdicts of all rules on one run. It owns all of its data, and credentials of the run are hidden as in reports.
///
/// `Serialize` writes one element of `runs` in `aver check --format json`, see `docs/schema/check.schema.json`.
///
/// ```
/// let rules = averment::Rules::from_text("refunds.assert", "before approve(id: $id) -> refund(id: $id)")?;
/// let outcome = rules.check_one(r#"{"calls": [{"tool": "refund", "args": {"id": "o-1"}}]}"#)?;
/// for finding in outcome.findings() {
///     println!("{} {}: {}", finding.verdict().as_str(), finding.id(), finding.reason());
/// }
/// let json = serde_json::to_value(&outcome)?;
/// assert_eq!(json["results"][0]["verdict"], "fail");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outcome {
    pub(crate) table: Arc<ReportTable>,
    pub(crate) report: RunReport,
    #[cfg_attr(
        not(feature = "pictures"),
        expect(dead_code, reason = "drawings alone show what a result means for the run")
    )]
    pub(crate) policy: GatePolicy,
}

impl Outcome {
    pub(crate) fn new(table: Arc<ReportTable>, report: RunReport, policy: GatePolicy) -> Self {
        Self { table, report, policy }
    }

    /// Returns the name of the run: `trace.jsonl:3` (the line), `trace.json#2` (its number in a list) or the name of the trace.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.report.run
    }

    /// Returns the name of the trace.
    #[must_use]
    pub fn trace(&self) -> &str {
        &self.report.file
    }

    /// Returns true if the run passes. It fails if an assertion of severity `error` failed, was undecided (unless that is allowed), could not be
    /// evaluated, passed although a failure is expected, or was vacuous although that is denied. A rule with a threshold is judged by its score. A
    /// run that exercises nothing passes, too: see [`Outcome::findings`].
    #[must_use]
    pub fn passed(&self) -> bool {
        self.report.passed()
    }

    /// Returns the score between 0 and 1; `None` if no assertion counted.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.report.score
    }

    /// Returns the scores that rules record with `as NAME`, in the order of the rules.
    #[must_use]
    pub fn named_scores(&self) -> &[(String, f64)] {
        &self.report.named_scores
    }

    /// Returns one result for each selected assertion, in the order of the rules.
    pub fn results(&self) -> impl Iterator<Item = AssertionResult<'_>> {
        self.report.results.iter().filter_map(|result| {
            let item = self.table.items.get(result.item)?;
            Some(AssertionResult { table: &self.table, item, result })
        })
    }

    /// Returns the results that need attention: all except passed and skipped ones.
    pub fn findings(&self) -> impl Iterator<Item = AssertionResult<'_>> {
        self.results().filter(|one| one.result.is_finding())
    }

    /// Returns the result of the assertion with this id.
    #[must_use]
    pub fn result(&self, id: &str) -> Option<AssertionResult<'_>> {
        self.results().find(|one| one.id() == id)
    }

    /// Returns the outcome of each rule that has a selected assertion.
    pub fn rules(&self) -> impl Iterator<Item = RuleResult<'_>> {
        let rules = self.report.rules.iter();
        rules.filter_map(|result| Some(RuleResult { item: self.table.rules.get(result.rule)?, result }))
    }

    /// Returns problems in the trace that did not stop the reading: the line, from 1, and a message.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &str)> {
        self.report.warnings.iter().map(|(line, message)| (*line, message.as_str()))
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RunObject::new(&self.table, &self.report).serialize(serializer)
    }
}

/// The result of one assertion on a run.
#[derive(Debug, Clone, Copy)]
pub struct AssertionResult<'o> {
    table: &'o ReportTable,
    item: &'o ReportItem,
    result: &'o ResultReport,
}

impl<'o> AssertionResult<'o> {
    /// Returns the assertion: its text, location and settings.
    #[must_use]
    pub fn assertion(&self) -> Assertion<'o> {
        Assertion::new(self.table, self.item)
    }

    /// Returns its index among the assertions of the rules.
    pub(crate) fn place_in_rules(&self) -> usize {
        self.result.item
    }

    /// Returns the id of the assertion. The id is given explicitly, or is that of its rule with a number (`approval.1`), or is made of file and text.
    #[must_use]
    pub fn id(&self) -> &'o str {
        &self.item.id
    }

    /// Returns the id of its rule; `None` for an assertion outside of rules.
    #[must_use]
    pub fn rule(&self) -> Option<&'o str> {
        self.assertion().rule()
    }

    /// Returns the text of the assertion on one line.
    #[must_use]
    pub fn text(&self) -> &'o str {
        &self.item.text
    }

    /// Returns the verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.result.verdict
    }

    /// Returns the status, which also considers expected failures.
    #[must_use]
    pub fn status(&self) -> Status {
        self.result.status
    }

    /// Returns the score between 0 and 1; `None` if the result does not count (vacuous, skipped).
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.result.score
    }

    /// Returns the reason; empty for a pass.
    #[must_use]
    pub fn reason(&self) -> &'o str {
        &self.result.reason
    }

    /// Returns what an undecided result needs: a longer run, a step that must follow, or data that the run does not record. `None` for any other
    /// verdict.
    ///
    /// ```
    /// use averment::{Rules, UndecidedCause};
    ///
    /// let rules = Rules::from_text("tickets.assert", "after open -> close")?;
    /// let outcome = rules.check_one(r#"{"calls": [{"tool": "open"}], "complete": false}"#)?;
    /// assert_eq!(outcome.results().next().and_then(|result| result.because()), Some(UndecidedCause::Owed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn because(&self) -> Option<UndecidedCause> {
        self.result.because
    }

    /// Returns the author's message, if the rule has a `message` and does not pass.
    #[must_use]
    pub fn message(&self) -> Option<&'o str> {
        self.result.message.as_deref()
    }

    /// Returns the class of the failure with its id and label: that of its own message, otherwise that of its assertion.
    #[must_use]
    pub fn class(&self) -> Option<(&'o str, Option<&'o str>)> {
        self.item.class_of(self.result).map(|class| (class.id.as_str(), class.label.as_deref()))
    }

    /// Returns the steps that a pass could not judge, because a value that the assertion needs is missing there; `None` if all were judged.
    #[must_use]
    pub fn unjudged(&self) -> Option<Unjudged<'o>> {
        let unjudged = self.result.unjudged.as_ref()?;
        let UnjudgedReport { count, of, things, reason } = unjudged;
        Some(Unjudged { count: *count, of: *of, things, reason })
    }

    /// Returns evidence for the verdict, the decisive piece first; empty for a pass.
    pub fn evidence(&self) -> impl Iterator<Item = Evidence<'o>> + use<'o> {
        self.result.evidence.iter().map(|one| Evidence { one })
    }

    /// Returns the number of violations of a failure: steps, pairs of steps or elements. Zero for any other verdict.
    #[must_use]
    pub fn violation_count(&self) -> u64 {
        self.result.violation_count()
    }

    /// Returns the violations of a failure in the order of the run, at most 100. [`AssertionResult::violation_count`] returns their total number.
    ///
    /// ```
    /// let rules = averment::Rules::from_text("refunds.assert", "each refund: args.amount <= 30")?;
    /// let calls = r#"{"calls": [{"tool": "refund", "args": {"amount": 31}}, {"tool": "refund", "args": {"amount": 32}}]}"#;
    /// let outcome = rules.check_one(calls)?;
    /// let result = outcome.results().next().unwrap();
    /// let steps: Vec<_> = result.violations().map(|one| one.step()).collect();
    /// assert_eq!((result.violation_count(), steps), (2, vec![Some(1), Some(2)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn violations(&self) -> impl Iterator<Item = Violation<'o>> + use<'o> {
        let listed = &self.result.violations.listed;
        // A failure without listed violations is itself one violation.
        let own = Violation { reason: &self.result.reason, evidence: &self.result.evidence };
        let own = Some(own).filter(|_| listed.is_empty() && self.result.has_failed());
        own.into_iter().chain(listed.iter().map(|one| Violation { reason: &one.reason, evidence: &one.evidence }))
    }
}

/// A step, a pair of steps, an element or a value that fails an assertion.
#[derive(Debug, Clone, Copy)]
pub struct Violation<'o> {
    reason: &'o str,
    evidence: &'o [EvidenceReport],
}

impl<'o> Violation<'o> {
    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &'o str {
        self.reason
    }

    /// Returns the step of the run, from 1; `None` if the violation is no step.
    #[must_use]
    pub fn step(&self) -> Option<u32> {
        self.evidence.iter().find_map(|one| one.step)
    }

    /// Returns the byte range in the trace.
    #[must_use]
    pub fn place(&self) -> Option<TracePlace> {
        self.evidence.iter().find_map(|one| one.source)
    }

    /// Returns evidence for it, the decisive piece first.
    pub fn evidence(&self) -> impl Iterator<Item = Evidence<'o>> + use<'o> {
        self.evidence.iter().map(|one| Evidence { one })
    }
}

/// The steps that a pass could not judge, such as ``1 of 2 refunds could not be judged: no `amount` ``.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unjudged<'o> {
    /// Number of steps that could not be judged.
    pub count: u64,
    /// Number of all matching steps.
    pub of: u64,
    /// Their plural noun: `refunds`.
    pub things: &'o str,
    /// The reason for the first of them: ``no `amount` ``.
    pub reason: &'o str,
}

/// The outcome of a rule on a run.
#[derive(Debug, Clone, Copy)]
pub struct RuleResult<'o> {
    item: &'o RuleItem,
    result: &'o RuleReport,
}

impl<'o> RuleResult<'o> {
    /// Returns the id of the rule.
    #[must_use]
    pub fn id(&self) -> &'o str {
        &self.item.id
    }

    /// Returns its sentence, if it has one.
    #[must_use]
    pub fn sentence(&self) -> Option<&'o str> {
        self.item.sentence.as_deref()
    }

    /// Returns its verdict: by its threshold, otherwise from its assertions.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.result.verdict
    }

    /// Returns true if the rule passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.result.passed
    }

    /// Returns the score between 0 and 1; `None` if no assertion counted.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.result.score
    }
}

/// A piece of evidence for a verdict.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'o> {
    one: &'o EvidenceReport,
}

impl<'o> Evidence<'o> {
    /// Returns its role for the verdict.
    #[must_use]
    pub fn role(&self) -> Role {
        self.one.role
    }

    /// Returns a remark for people: `this refund has no earlier approve with id "o-1"`.
    #[must_use]
    pub fn label(&self) -> &'o str {
        &self.one.label
    }

    /// Returns the step of the run, from 1.
    #[must_use]
    pub fn step(&self) -> Option<u32> {
        self.one.step
    }

    /// Returns the JSON pointer into the normal form of the run, such as `/calls/2/args/id`; empty if it is no single value.
    #[must_use]
    pub fn path(&self) -> &'o str {
        &self.one.path
    }

    /// Returns the value as JSON text, with secrets hidden.
    #[must_use]
    pub fn value(&self) -> Option<&'o str> {
        self.one.value.as_deref().map(|value| value.get())
    }

    /// Returns the byte range in the trace.
    #[must_use]
    pub fn place(&self) -> Option<TracePlace> {
        self.one.source
    }
}
