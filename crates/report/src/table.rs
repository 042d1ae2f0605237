//! Properties of assertions that do not depend on a run: id, text, location, settings. Made once from the programs.

use crate::classify::{FailureClass, FailureClassifier};
use crate::gate::{self, Gate, GateInputs, GatePolicy};
use crate::model::{ResultReport, RuleReport};
use crate::redact::{mask_secrets, redact};
use averment_base::diagnostic::render::one_line;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_base::truth::Verdict;
use averment_checker::ir::{DenySettings, OperandPurpose, RuleRole, Severity, StatementOperand};
use averment_engine::bytecode::program::{CompiledAssertion, CompiledCheck, ForeignOrigin, ForeignVerdicts, Program};
use averment_engine::vm::online_use::OnlineUse;
use averment_engine::vm::outcome::Status;
use averment_engine::vm::over_runs::ExpectedFailures;
use averment_engine::vm::select::{RuleSelection, WorldPhase};
use serde::Serialize;
use std::sync::Arc;

/// The checked assertions of all programs, in order.
#[derive(Debug, Default)]
pub struct ReportTable {
    /// The assertions.
    pub items: Vec<ReportItem>,
    /// The rules.
    pub rules: Vec<RuleItem>,
    /// The sources of all programs, which the spans in this table refer to.
    pub sources: SourceMap,
    bases: Vec<ProgramBase>,
}

#[derive(Debug)]
struct ProgramBase {
    files: u32,
    rules: usize,
    /// The item index of each assertion; `None` if it is not selected.
    items: Vec<Option<usize>>,
    /// Maps its text to the file it was translated from, if any.
    origin: Option<ForeignOrigin>,
}

/// An assertion as reports show it.
#[derive(Debug)]
pub struct ReportItem {
    /// Its id.
    pub id: String,
    /// Its rule, as an index into [`ReportTable::rules`].
    pub rule: Option<usize>,
    /// The metric that its score is recorded as.
    pub metric: Option<String>,
    /// Its text on one line.
    pub text: String,
    /// Its severity.
    pub severity: Severity,
    /// Its weight.
    pub weight: f64,
    /// The outcomes it denies and allows.
    pub denied: DenySettings,
    /// True if a statement over all runs decides instead, so that it fails no run.
    pub over_runs: bool,
    /// True if the statements over runs only require that few runs pass.
    pub is_to_fail: bool,
    /// True if it is about all runs together, so that no single run has a result for it.
    pub of_all_runs: bool,
    /// True if it belongs to a case or an invariant, which judge only some runs.
    pub of_case: bool,
    /// The class of its failures: id and label.
    pub class: Option<FailureClass>,
    /// The classes that messages can assign, with their conditions, in the order in which they are tried.
    pub classifiers: Vec<Arc<FailureClassifier>>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its location.
    pub location: Location,
    /// Its span in [`ReportTable::sources`].
    pub span: Span,
    /// The reason for an expected failure, if it is expected.
    pub expected: Option<String>,
    /// The author's comment above it or its rule, for readers of a failure.
    pub help: Option<String>,
    /// True if a failure finds a value that must not occur (`no secrets in …`), so that its values are hidden.
    pub masked: bool,
    /// Its use by a guard while a run goes on.
    pub online: OnlineUse,
    /// Verdict names of the system whose file contains it.
    pub own: Option<Arc<ForeignVerdicts>>,
}

/// A rule, case, invariant, `pre` or `post`.
#[derive(Debug)]
pub struct RuleItem {
    /// Its id.
    pub id: String,
    /// Its sentence.
    pub sentence: Option<String>,
    /// The metric that its score is recorded as.
    pub metric: Option<String>,
    /// Its threshold.
    pub threshold: Option<f64>,
    /// Its severity.
    pub severity: Severity,
    /// The outcomes it denies and allows.
    pub denied: DenySettings,
    /// True if a statement over all runs decides instead.
    pub over_runs: bool,
    /// Its location.
    pub location: Location,
    /// The phase, `pre` or `post`.
    pub phase: Option<WorldPhase>,
}

impl RuleItem {
    /// True if its own verdict can fail a run: it has a threshold, and no statement over all runs decides.
    #[must_use]
    pub fn gates_run(&self) -> bool {
        self.threshold.is_some() && self.severity == Severity::Error && !self.over_runs
    }
}

/// A location in a rule file, from 1. The column counts characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl ReportItem {
    /// Returns the class of a result: for a failure the first one that matches its message, otherwise that of its assertion.
    #[must_use]
    pub fn class_of(&self, result: &ResultReport) -> Option<&FailureClass> {
        let by_message = result.classified.and_then(|number| self.classifiers.get(number));
        by_message.map(|one| &one.class).or(self.class.as_ref())
    }

    /// Returns the class index of a failure by its message; `None` for a pass, even an unexpected one.
    pub(super) fn failure_class(&self, result: &ResultReport) -> Option<usize> {
        let failed = matches!(result.verdict, Verdict::Fail | Verdict::Undecided | Verdict::Error);
        let message = result.message.as_deref();
        self.classifiers.iter().position(|one| failed && one.fits_failure(message, &result.reason))
    }

    /// Returns its id if the author named it, otherwise its text.
    #[must_use]
    pub fn display_name(&self) -> &str {
        // Labels have no colon, so an id with a colon was made of file and text.
        if self.rule.is_none() && self.id.contains(':') { &self.text } else { &self.id }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", one_line(&self.file), self.line, self.column)
    }
}

impl ReportTable {
    /// Creates the table of programs. `selected` receives the program's index and the assertion's number.
    pub fn new<'a>(programs: impl IntoIterator<Item = &'a Program>, selected: impl Fn(usize, u32) -> bool) -> Self {
        let mut table = Self::default();
        for (index, program) in programs.into_iter().enumerate() {
            table.add_program(program, |assertion| selected(index, assertion));
        }
        table
    }

    /// Creates the table of the selected assertions.
    #[must_use]
    pub fn of_selection(programs: &[Program], selection: &RuleSelection) -> Self {
        Self::new(programs, |program, number| {
            let program = programs.get(program);
            let assertion = program.and_then(|program| Some((program, program.assertions.get(number as usize)?)));
            assertion.is_some_and(|(program, assertion)| {
                selection.is_selected(program, assertion) || selection.is_judged(program, number, assertion)
            })
        })
    }

    fn add_program(&mut self, program: &Program, selected: impl Fn(u32) -> bool) {
        let files = u32::try_from(self.sources.iter().count()).unwrap_or(u32::MAX);
        for source in &program.sources {
            self.sources.add_file(SourceFile::new(source.name.as_str(), None, mask_secrets(&source.text)));
        }
        let rules = self.rules.len();
        for rule in &program.rules {
            let location = self.span_location(shift_span(program.reported_place(rule.span), files));
            self.rules.push(RuleItem {
                id: hide_secrets(&rule.id),
                sentence: rule.sentence.as_deref().map(hide_secrets),
                metric: rule.metric.as_deref().map(hide_secrets),
                threshold: rule.threshold,
                severity: rule.severity,
                denied: rule.denied,
                over_runs: rule.over_runs,
                location,
                phase: WorldPhase::of_rule(rule),
            });
        }
        let own = program.own_verdicts.clone().map(Arc::new);
        let (classifiers, expected) = (FailureClassifier::of_program(program), ExpectedFailures::of_program(program));
        let mut items = Vec::with_capacity(program.assertions.len());
        let of_rule = |rule: Option<u32>| program.rules.get(rule? as usize);
        for (number, assertion) in (0u32..).zip(&program.assertions) {
            items.push(selected(number).then_some(self.items.len()));
            if !selected(number) {
                continue;
            }
            let span = shift_span(program.reported_place(assertion.span), files);
            let settings = &assertion.settings;
            self.items.push(ReportItem {
                id: hide_secrets(&assertion.id),
                rule: assertion.rule.map(|rule| rules + rule as usize),
                metric: settings.metric.as_deref().map(hide_secrets),
                text: hide_secrets(&assertion.text),
                severity: settings.severity,
                weight: settings.weight,
                denied: settings.denied,
                over_runs: settings.over_runs || of_rule(assertion.rule).is_some_and(|rule| rule.over_runs),
                is_to_fail: expected.is_to_fail(number, assertion),
                of_all_runs: matches!(assertion.check, CompiledCheck::OverRuns(_)),
                of_case: of_rule(assertion.rule)
                    .is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. } | RuleRole::Invariant)),
                class: settings.class.as_ref().map(|(id, label)| FailureClass {
                    id: hide_secrets(id),
                    label: label.as_deref().map(hide_secrets),
                }),
                classifiers: settings
                    .classifiers
                    .iter()
                    .filter_map(|number| classifiers.get(*number as usize)?.clone())
                    .collect(),
                tags: settings.tags.iter().map(|tag| hide_secrets(tag)).collect(),
                location: self.span_location(span),
                span,
                expected: settings.expect_fail.as_ref().map(|why| why.as_deref().map(hide_secrets).unwrap_or_default()),
                help: help_text(program, assertion).as_deref().map(hide_secrets),
                masked: finds_predicate(program, &assertion.check),
                online: OnlineUse::of_assertion(program, assertion),
                own: own.clone(),
            });
        }
        self.bases.push(ProgramBase { files, rules, items, origin: program.origin.clone() });
    }

    /// Returns the item index of an assertion; `None` if it is not selected.
    #[must_use]
    pub fn item_index(&self, program: usize, assertion: u32) -> Option<usize> {
        self.bases.get(program).and_then(|base| base.items.get(assertion as usize).copied().flatten())
    }

    /// Returns the program of an item.
    #[must_use]
    pub fn program_of(&self, item: usize) -> Option<usize> {
        self.bases.iter().position(|base| base.items.contains(&Some(item)))
    }

    /// True if some assertion applies to every run. If its `when` is never true it is skipped, but still counts as checked.
    #[must_use]
    pub fn asks_every_run(&self) -> bool {
        self.items.iter().any(|item| !item.of_case && !item.of_all_runs)
    }

    /// Returns the index of a rule in [`ReportTable::rules`].
    #[must_use]
    pub fn rule_index(&self, program: usize, rule: u32) -> Option<usize> {
        self.bases.get(program).map(|base| base.rules + rule as usize).filter(|&rule| rule < self.rules.len())
    }

    /// Converts a span of a program to a span in [`ReportTable::sources`].
    #[must_use]
    pub fn source_span(&self, program: usize, span: Span) -> Span {
        let Some(base) = self.bases.get(program) else { return span };
        let place = base.origin.as_ref().map_or(span, |origin| origin.foreign_place(span));
        shift_span(place, base.files)
    }

    /// True if a rule has a threshold.
    #[must_use]
    pub fn has_thresholds(&self) -> bool {
        self.rules.iter().any(|rule| rule.threshold.is_some())
    }

    /// Returns the rule of an item.
    #[must_use]
    pub fn rule_of(&self, item: &ReportItem) -> Option<&RuleItem> {
        self.rules.get(item.rule?)
    }

    /// True if a statement over all runs expects this failure of most runs; then it is no finding.
    #[must_use]
    pub fn fails_as_asked(&self, result: &ResultReport) -> bool {
        result.status == Status::Failed && self.items.get(result.item).is_some_and(|item| item.is_to_fail)
    }

    /// Returns the effect of a result on its run.
    #[must_use]
    pub fn result_gate(&self, result: &ResultReport, policy: GatePolicy) -> Gate {
        match self.items.get(result.item).filter(|_| !result.known) {
            Some(item) => {
                gate::assertion_gate(self.gate_inputs(item), result.status, result.unjudged.is_some(), policy)
            }
            None => Gate::Open,
        }
    }

    /// Returns the effect of a status on its run, for a result that judged every step.
    #[must_use]
    pub fn status_gate(&self, item: &ReportItem, status: Status, policy: GatePolicy) -> Gate {
        gate::assertion_gate(self.gate_inputs(item), status, false, policy)
    }

    fn gate_inputs(&self, item: &ReportItem) -> GateInputs {
        GateInputs {
            is_error: item.severity == Severity::Error,
            by_rule: self.rule_of(item).is_some_and(|rule| rule.threshold.is_some()),
            over_runs: item.over_runs,
            denied: item.denied,
        }
    }

    /// Returns the effect of a threshold rule on its run.
    #[must_use]
    pub fn rule_gate(&self, rule: &RuleReport, policy: GatePolicy) -> Gate {
        match self.rules.get(rule.rule) {
            Some(item) if item.gates_run() && !rule.known => {
                gate::status_gate(Status::of_verdict(rule.verdict, false), policy.with_denied(item.denied))
            }
            _ => Gate::Open,
        }
    }

    /// Returns the most severe gate of a run.
    #[must_use]
    pub fn run_gate(&self, results: &[ResultReport], rules: &[RuleReport], policy: GatePolicy) -> Gate {
        let of_results = results.iter().map(|result| self.result_gate(result, policy));
        let of_rules = rules.iter().map(|rule| self.rule_gate(rule, policy));
        of_results.chain(of_rules).max().unwrap_or(Gate::Open)
    }

    /// Returns the text of a span in [`ReportTable::sources`], without credentials.
    #[must_use]
    pub fn text_at(&self, span: Span) -> Option<&str> {
        self.sources.get(span.file)?.text.get(span.as_range())
    }

    /// Returns the location of a span in [`ReportTable::sources`].
    #[must_use]
    pub fn span_location(&self, span: Span) -> Location {
        let at = self.sources.line_column(span);
        Location { file: self.sources.file_name(span).to_owned(), line: at.line, column: at.column }
    }
}

fn hide_secrets(text: &str) -> String {
    redact(text).into_owned()
}

/// Returns the doc comment of an assertion, otherwise of its rule.
fn help_text(program: &Program, assertion: &CompiledAssertion) -> Option<String> {
    let above = |span: Span| doc_above(&program.sources.get(span.file.0 as usize)?.text, span.start as usize);
    let of_rule = || above(program.rules.get(assertion.rule? as usize)?.span);
    above(assertion.span).or_else(of_rule)
}

/// Returns the `##` lines that end directly before the line of an offset.
fn doc_above(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let above = before.get(..before.rfind('\n')?)?;
    let mut lines: Vec<&str> =
        above.rsplit('\n').map_while(|line| line.trim().strip_prefix("##")).map(str::trim).collect();
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn shift_span(span: Span, files: u32) -> Span {
    Span { file: FileId(span.file.0.saturating_add(files)), ..span }
}

/// True for `no PREDICATE in …`, also inside groups and blocks.
fn finds_predicate(program: &Program, check: &CompiledCheck) -> bool {
    // The recursion is bounded, because the parser limits the depth of rules.
    match check {
        CompiledCheck::Temporal(id) => program.temporals.get(id.0 as usize).is_some_and(|entry| {
            let mut operands = entry.temporal.operands().into_iter();
            operands.any(|operand| matches!(operand, StatementOperand::Code(_, OperandPurpose::Predicate)))
        }),
        CompiledCheck::Not(inner) => finds_predicate(program, inner),
        CompiledCheck::Scoped { body, .. } => finds_predicate(program, body),
        CompiledCheck::Group { members, .. } => members.iter().any(|member| finds_predicate(program, &member.check)),
        CompiledCheck::Expression(_) | CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => false,
    }
}
