//! Compiled rules, and how they judge runs.

use crate::assertion::Assertion;
use crate::error::{Diagnostics, Problem, ReadError, RulesError, RunError};
use crate::explain::Explanation;
use crate::outcome::{Outcome, Verdict};
use crate::stages::params;
use crate::trace::Trace;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, derive_run, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::select::RuleSelection;
use averment_engine::vm::testing::run_tests;
use averment_engine::vm::world::Permissions;
use averment_report::derivation::{self, StepChoice};
use averment_report::gate::GatePolicy;
use averment_report::model::{ReportDetail, UnreadableTrace};
use averment_report::report_builder;
use averment_report::table::{Location, ReportItem, ReportTable};
use averment_traces::expected::ExpectedRows;
use averment_traces::names::PartNames;
use averment_traces::prices::PriceTable;
use averment_traces::read::{RawRun, TraceRuns, read_str};
use averment_traces::reading::RunReadOptions;
use averment_traces::redact_path::RedactPath;
use bumpalo::Bump;
use std::sync::Arc;

/// Compiled rules, ready to judge runs. Clones share all data, and several threads may use one at the same time.
///
/// ```
/// let rules = averment::Rules::from_text("refunds.assert", "never refund(amount > 100)")?;
/// let outcome = rules.check_one(r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}]}"#)?;
/// assert!(!outcome.passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rules {
    pub(crate) inner: Arc<SharedRules>,
}

#[derive(Debug)]
pub(crate) struct SharedRules {
    pub(crate) programs: Arc<Vec<Program>>,
    pub(crate) prepared: Vec<PreparedProgram>,
    pub(crate) table: Arc<ReportTable>,
    pub(crate) options: EvaluateOptions,
    pub(crate) policy: GatePolicy,
    /// The details in outcomes of single runs. Batches do not draw failures.
    detail: ReportDetail,
    pub(crate) reading: RunReadOptions,
    diagnostics: Diagnostics,
}

/// Settings for judging runs.
#[derive(Debug, Clone, Default)]
pub struct JudgeSettings {
    /// The selected assertions.
    pub selection: RuleSelection,
    /// Permissions of rules to access anything besides the run.
    pub permissions: Permissions,
    /// Limits of sizes, depths and work.
    pub limits: Limits,
    /// The policy that decides which verdicts fail a run.
    pub policy: GatePolicy,
    /// True if trace warnings are errors.
    pub strict: bool,
    /// The names of a custom format.
    pub names: Option<Arc<PartNames>>,
    /// Token prices.
    pub prices: Option<Arc<PriceTable>>,
    /// Expected values for single runs.
    pub expected: Option<Arc<ExpectedRows>>,
    /// Paths whose values are hidden in reports.
    pub redact: Arc<[RedactPath]>,
    /// Texts that are hidden in reports.
    pub withheld: Arc<[String]>,
    /// True if agent transcripts are read as SkillGym reads them, without the parts that its adapters ignore.
    pub as_skillgym: bool,
    /// The details in outcomes of single runs.
    pub detail: ReportDetail,
}

impl Rules {
    /// Compiles one text. `name` appears in messages and locations. The text can import only the standard set, and its rules can look only at the
    /// run.
    ///
    /// # Errors
    /// Returns an error if the rules are invalid, a parameter has no value, or there is no assertion.
    pub fn from_text(name: &str, text: &str) -> Result<Self, RulesError> {
        Self::builder().text(name, text).build()
    }

    /// Creates rules from compiled programs. Every name in the selection must exist in them.
    #[doc(hidden)]
    #[must_use]
    pub fn of_programs(programs: Vec<Program>, diagnostics: Diagnostics, settings: JudgeSettings) -> Self {
        let JudgeSettings { selection, permissions, limits, policy, strict, names, prices, expected, .. } = settings;
        let JudgeSettings { redact, withheld, as_skillgym, detail, .. } = settings;
        let inner = SharedRules {
            prepared: programs.iter().map(PreparedProgram::new).collect(),
            table: Arc::new(ReportTable::of_selection(&programs, &selection)),
            programs: Arc::new(programs),
            options: EvaluateOptions { selection, permissions, limits, ..EvaluateOptions::default() },
            policy,
            detail,
            reading: RunReadOptions { limits, strict, names, prices, expected, redact, withheld, as_skillgym },
            diagnostics,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Judges each run of a trace, in order. An unreadable run gives an error in its place; the other runs are judged.
    ///
    /// ```
    /// use averment::{Rules, Trace};
    ///
    /// let rules = Rules::from_text("refunds.assert", "count refund <= 1")?;
    /// let trace = Trace::from("{\"calls\": []}\n{\"calls\": [{\"tool\": \"refund\"}]}\n").named("runs.jsonl");
    /// let names: Vec<String> = rules.check(trace).map(|run| Ok(run?.run().to_owned())).collect::<Result<_, averment::RunError>>()?;
    /// assert_eq!(names, ["runs.jsonl:1", "runs.jsonl:2"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, trace: impl Into<Trace>) -> Outcomes {
        Outcomes {
            rules: self.clone(),
            runs: RawRuns::open_trace(trace.into(), &self.inner.reading.limits),
            arena: Bump::new(),
        }
    }

    /// Judges a trace with exactly one run.
    ///
    /// # Errors
    /// Returns an error if the run cannot be read, or if the trace has no run or several. [`Rules::check`] judges several runs.
    pub fn check_one(&self, trace: impl Into<Trace>) -> Result<Outcome, RunError> {
        let raw = self.single_run(trace.into())?;
        self.judge_run(&raw, &Bump::new())
    }

    /// Explains the verdicts on each run of a trace. Meant for single runs that a person inspects: it gives the same verdicts as [`Rules::check`],
    /// and costs much more.
    pub fn explain(&self, trace: impl Into<Trace>) -> Explanations {
        Explanations { rules: self.clone(), runs: RawRuns::open_trace(trace.into(), &self.inner.reading.limits) }
    }

    /// Explains the verdicts on a trace with exactly one run.
    ///
    /// # Errors
    /// Returns the errors of [`Rules::check_one`].
    pub fn explain_one(&self, trace: impl Into<Trace>) -> Result<Explanation, RunError> {
        self.explain_run(&self.single_run(trace.into())?, StepChoice::Around)
    }

    /// Explains the verdicts on a run.
    ///
    /// # Errors
    /// Returns an error if the run cannot be read.
    #[doc(hidden)]
    pub fn explain_run(&self, raw: &RawRun, choice: StepChoice) -> Result<Explanation, RunError> {
        let SharedRules { programs, prepared, table, options, reading, .. } = &*self.inner;
        let arena = Bump::new();
        let run = reading.parse_run(raw, &arena).map_err(UnreadableTrace::from)?;
        let all = programs.iter().zip(prepared).enumerate();
        let derived: Vec<_> =
            all.map(|(at, (program, prepared))| (at, derive_run(program, prepared, &run, &arena, options).1)).collect();
        Ok(Explanation::new(derivation::derivation_view(table, &run, &derived, choice)))
    }

    /// Runs the `test` blocks of the rules, in the order of the files. A test looks only at its own run.
    ///
    /// ```
    /// let text = r#"
    /// rule no-refunds { never refund }
    /// test "a refund is seen" expect fail no-refunds { calls: [{ tool: "refund" }] }
    /// "#;
    /// let rules = averment::Rules::from_text("refunds.assert", text)?;
    /// assert!(rules.run_tests().iter().all(|test| test.passed));
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn run_tests(&self) -> Vec<TestOutcome> {
        let SharedRules { programs, prepared, table, options, .. } = &*self.inner;
        let mut all = Vec::new();
        for (number, (program, prepared)) in programs.iter().zip(prepared).enumerate() {
            for result in run_tests(program, prepared, &options.limits, read_str) {
                let Some(test) = program.tests.get(result.test as usize) else { continue };
                all.push(TestOutcome {
                    name: test.name.clone(),
                    place: table.span_location(table.source_span(number, test.span)),
                    passed: result.passed,
                    reason: result.reason,
                    verdicts: result.found,
                });
            }
        }
        all
    }

    /// Returns the checked assertions, in the order of the rules.
    pub fn assertions(&self) -> impl Iterator<Item = Assertion<'_>> {
        let table = &*self.inner.table;
        table.items.iter().map(move |item| Assertion::new(table, item))
    }

    /// Returns the assertion with this id, as used in outcomes.
    ///
    /// ```
    /// let rules = averment::Rules::from_text("r.assert", "rule approval { before approve -> refund }")?;
    /// let assertion = rules.assertion("approval.1").unwrap();
    /// assert_eq!(assertion.text(), "before approve -> refund");
    /// assert_eq!(assertion.place().to_string(), "r.assert:1:17");
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn assertion(&self, id: &str) -> Option<Assertion<'_>> {
        self.assertions().find(|assertion| assertion.id() == id)
    }

    /// Returns the diagnostics of rules that compile: warnings and infos.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.inner.diagnostics
    }

    /// Returns the compiled programs, one for each file.
    #[doc(hidden)]
    #[must_use]
    pub fn compiled_programs(&self) -> &[Program] {
        &self.inner.programs
    }

    /// Returns the assertions in the form that reports use.
    #[doc(hidden)]
    #[must_use]
    pub fn report_table(&self) -> &Arc<ReportTable> {
        &self.inner.table
    }

    /// Returns true if all runs must be judged together: for rules over all runs, and if unexercised assertions or similar names are denied.
    #[must_use]
    pub fn speaks_of_all_runs(&self) -> bool {
        let SharedRules { table, policy, .. } = &*self.inner;
        let asks = |item: &ReportItem| item.of_all_runs || policy.with_denied(item.denied).deny_unexercised;
        policy.deny_near_names || table.items.iter().any(asks)
    }

    /// Returns the only run of a trace; an error if it has several.
    pub(crate) fn single_run(&self, trace: Trace) -> Result<RawRun, RunError> {
        let mut runs = RawRuns::open_trace(trace, &self.inner.reading.limits);
        let first = runs.next().unwrap_or_else(|| Err(RunError::Read(runs.trace_error("no run", ""))))?;
        match runs.next() {
            None => Ok(first),
            Some(_) => {
                let help = "`check` judges all runs of a trace";
                Err(RunError::Read(ReadError {
                    file: first.source.file,
                    ..runs.trace_error("more than one run", help)
                }))
            }
        }
    }

    /// Judges a run as [`Rules::check_one`] does, with other permissions.
    ///
    /// # Errors
    /// Returns the errors of [`Rules::check_one`].
    #[doc(hidden)]
    pub fn check_permitted(&self, trace: impl Into<Trace>, permissions: Permissions) -> Result<Outcome, RunError> {
        let raw = self.single_run(trace.into())?;
        let options = EvaluateOptions { permissions, ..self.inner.options.clone() };
        self.judge_with(&raw, &Bump::new(), &options)
    }

    /// Returns the permissions of rules to access anything besides the run.
    #[doc(hidden)]
    #[must_use]
    pub fn world_permissions(&self) -> &Permissions {
        &self.inner.options.permissions
    }

    fn judge_run(&self, raw: &RawRun, arena: &Bump) -> Result<Outcome, RunError> {
        self.judge_with(raw, arena, &self.inner.options)
    }

    fn judge_with(&self, raw: &RawRun, arena: &Bump, options: &EvaluateOptions) -> Result<Outcome, RunError> {
        let SharedRules { programs, prepared, table, policy, detail, reading, .. } = &*self.inner;
        let run = reading.parse_run(raw, arena).map_err(UnreadableTrace::from)?;
        let each = programs.iter().zip(prepared);
        let outcomes: Vec<_> =
            each.map(|(program, prepared)| evaluate(program, prepared, &run, arena, options)).collect();
        let report = report_builder::build_report(table, &run, &outcomes, *policy, *detail);
        Ok(Outcome::new(Arc::clone(table), report, *policy))
    }
}

pub(crate) fn check_params(programs: &[Program]) -> Result<(), Problem> {
    match params::missing_param(programs) {
        Some((param, expected)) => Err(Problem::new(
            format!("the parameter `{}` has no value", param.name),
            format!("give it one with `param` when the rules are built: {expected}"),
        )),
        None => Ok(()),
    }
}

/// The outcomes of the runs of a trace, in order. Created by [`Rules::check`].
#[derive(Debug)]
pub struct Outcomes {
    rules: Rules,
    runs: RawRuns,
    /// Memory for the values of a run, reused for the next run.
    arena: Bump,
}

impl Iterator for Outcomes {
    type Item = Result<Outcome, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.runs.next()?;
        self.arena.reset();
        Some(raw.and_then(|raw| self.rules.judge_run(&raw, &self.arena)))
    }
}

/// The explanations of the verdicts on each run of a trace, in order. Created by [`Rules::explain`].
#[derive(Debug)]
pub struct Explanations {
    rules: Rules,
    runs: RawRuns,
}

impl Iterator for Explanations {
    type Item = Result<Explanation, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.runs.next()?.and_then(|raw| self.rules.explain_run(&raw, StepChoice::Around)))
    }
}

struct RawRuns {
    runs: Option<TraceRuns>,
    failed: Option<RunError>,
}

impl RawRuns {
    fn open_trace(trace: Trace, limits: &Limits) -> Self {
        match trace.open_runs(limits) {
            Ok(runs) => Self { runs: Some(runs), failed: None },
            Err(error) => Self { runs: None, failed: Some(UnreadableTrace::of_error(&error).into()) },
        }
    }

    fn trace_error(&self, message: &str, help: &str) -> ReadError {
        ReadError { file: String::new(), line: 1, column: 1, message: message.to_owned(), help: help.to_owned() }
    }
}

impl Iterator for RawRuns {
    type Item = Result<RawRun, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.failed.take() {
            Some(error) => Some(Err(error)),
            None => Some(self.runs.as_mut()?.next()?.map_err(|error| UnreadableTrace::of_error(&error).into())),
        }
    }
}

impl std::fmt::Debug for RawRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawRuns").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// The result of a `test` block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TestOutcome {
    /// The name of the test.
    pub name: String,
    /// Its location in the rules.
    pub place: Location,
    /// True if the verdicts match the expectation.
    pub passed: bool,
    /// The reason if it did not pass; otherwise empty.
    pub reason: String,
    /// The verdicts on its run, by the ids of rules and of assertions outside of rules.
    pub verdicts: Vec<(String, Verdict)>,
}
