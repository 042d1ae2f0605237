//! Builds the report of a run from the outcomes of its programs.

use super::block;
use super::conditions;
use super::draw_limits::DrawnFindings;
use super::failure_shape::failure_shapes;
use super::gate::GatePolicy;
use super::model::{ReportDetail, ResultReport, RuleReport, RunReport, mean_score};
pub use super::proof::RunText;
use super::proof::{ProofMaker, TraceText, visible_words};
use super::redact::{self, WithheldTexts};
use super::run_measures::RecordedMeasures;
use super::table::ReportTable;
use super::timeline;
use super::unjudged::UnjudgedReport;
use averment_engine::vm::outcome::{AssertionOutcome, RunOutcome, Status, VerdictEvidence};
use averment_runs::run::Run;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Builds single findings of a run, if no complete report is needed.
pub struct RunFindings<'a, 'run> {
    table: &'a ReportTable,
    text: TraceText<'a, 'run>,
    detail: ReportDetail,
}

impl<'a, 'run> RunFindings<'a, 'run> {
    /// Prepares the findings of a run. `outcomes` are those that may have evidence, with the indexes of their programs.
    pub fn new<'o>(
        table: &'a ReportTable,
        run: &'a Run<'run>,
        outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
        detail: ReportDetail,
    ) -> Self {
        let withheld = find_withheld(Some(run), outcomes, detail);
        let (text, source) = (run.text, &run.source);
        let text = TraceText { text, source, run: Some(run), withheld, lines: OnceCell::new() };
        Self { table, text, detail }
    }

    /// True if the run has values that must be hidden. Then equal findings of different runs may have different texts.
    #[must_use]
    pub fn withholds_anything(&self) -> bool {
        !self.text.withheld.is_empty()
    }

    /// Returns the report table.
    #[must_use]
    pub fn table(&self) -> &'a ReportTable {
        self.table
    }

    /// Returns the result of an outcome.
    #[must_use]
    pub fn finding_result(&self, program: usize, outcome: &AssertionOutcome) -> Option<ResultReport> {
        result(self.table, program, outcome, &self.text, self.detail)
    }
}

/// Builds the report of a run from the outcome of each program, in the order of the table's programs.
#[must_use]
pub fn build_report(
    table: &ReportTable,
    run: &Run<'_>,
    outcomes: &[RunOutcome],
    policy: GatePolicy,
    detail: ReportDetail,
) -> RunReport {
    build_some(table, run, outcomes, policy, detail, &mut DrawnFindings::default())
}

/// Like [`build_report`], but with texts only for the requested findings.
#[must_use]
pub fn build_some(
    table: &ReportTable,
    run: &Run<'_>,
    outcomes: &[RunOutcome],
    policy: GatePolicy,
    detail: ReportDetail,
    drawn: &mut DrawnFindings,
) -> RunReport {
    let mut report = build_of(
        table,
        RunText { text: run.text, source: &run.source, run: Some(run) },
        outcomes,
        policy,
        detail,
        drawn,
    );
    let line = |offset: usize| run.source.line_column(run.text, offset).0;
    report.warnings =
        run.warnings.iter().map(|one| (line(one.offset), redact::redact_run_text(run, &one.message))).collect();
    report.warnings.sort_by_key(|(line, _)| *line);
    report
}

/// Like [`build_some`], also for a run that was not read in full. Nothing is withheld then: its environment is unknown, and no reason quotes it.
#[must_use]
pub fn build_of(
    table: &ReportTable,
    of: RunText<'_, '_>,
    outcomes: &[RunOutcome],
    policy: GatePolicy,
    detail: ReportDetail,
    drawn: &mut DrawnFindings,
) -> RunReport {
    let RunText { text, source, run } = of;
    let numbered = outcomes.iter().enumerate();
    let all = numbered.flat_map(|(program, outcome)| outcome.results.iter().map(move |one| (program, one)));
    let mut wants = |program: usize, one: &AssertionOutcome| {
        let item = table.item_index(program, one.assertion).filter(|_| detail.told.contains(one.status));
        item.is_some_and(|item| drawn.wants_words(item, one.status))
    };
    let wanted: Vec<bool> = all.clone().map(|(program, one)| wants(program, one)).collect();
    let mut wanted = wanted.into_iter();
    let shows = ReportDetail { findings: detail.findings && wanted.clone().any(|wanted| wanted), ..detail };
    let withheld = if detail.takes_whole_runs() { withheld_of_all(run, all) } else { find_withheld(run, all, shows) };
    let text = TraceText { text, source, run, withheld, lines: OnceCell::new() };
    let mut results = Vec::with_capacity(table.items.len());
    let mut rules = Vec::new();
    for (program, outcome) in outcomes.iter().enumerate() {
        let of_program = outcome.results.iter();
        results.extend(of_program.zip(wanted.by_ref()).filter_map(|(one, wanted)| {
            result(table, program, one, &text, ReportDetail { findings: detail.findings && wanted, ..detail })
        }));
        rules.extend(outcome.rules.iter().filter_map(|one| {
            let rule = table.rule_index(program, one.rule)?;
            let (verdict, passed, score) = (one.verdict, one.passed, one.score);
            Some(RuleReport { rule, verdict, passed, score, known: false, block: None })
        }));
    }
    block::add_blocks(table, run, &results, &mut rules);
    let measured = run.filter(|_| detail.measured).map(|run| Box::new(RecordedMeasures::of_run(run, &text.withheld)));
    let gate = table.run_gate(&results, &rules, policy);
    results.retain(|result| detail.told.contains(result.status));
    let timeline =
        run.filter(|_| detail.steps).map(|run| Box::new(timeline::timeline_report(table, run, outcomes, &text)));
    RunReport {
        run: redact::redact_source(source),
        id: run
            .filter(|_| detail.shapes)
            .and_then(|run| run.id)
            .map(|id| text.withheld.remove_from(redact::redact(id).into_owned())),
        file: redact::redact_file(&source.file).into_owned(),
        gate,
        score: mean_score(outcomes.iter().filter_map(|outcome| outcome.score)),
        named_scores: outcomes.iter().flat_map(|outcome| outcome.named_scores.iter().cloned()).collect(),
        results,
        rules,
        warnings: Vec::new(),
        timeline,
        nanoseconds: None,
        over_runs: false,
        measured,
    }
}

/// Returns the texts to hide in findings: the hidden values of the run, and the values that predicates found anywhere in it.
fn find_withheld<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
    detail: ReportDetail,
) -> WithheldTexts {
    let speaks = |one: &AssertionOutcome| detail.findings && one.status != Status::Passed || one.unjudged.is_some();
    let mut findings = outcomes.filter(|(_, one)| speaks(one)).peekable();
    if findings.peek().is_none() {
        return WithheldTexts::default();
    }
    withheld_of_all(run, findings)
}

/// Returns the texts to hide, independent of what was found.
fn withheld_of_all<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
) -> WithheldTexts {
    let Some(run) = run else { return WithheldTexts::default() };
    let mut texts = redact::withheld_values(run);
    for (_, one) in outcomes {
        let of_violations = one.violations.listed.iter().flat_map(|violation| &violation.evidence);
        texts.extend(one.evidence.iter().chain(of_violations).filter_map(redact::found_text));
    }
    WithheldTexts::of_texts(texts)
}

fn result(
    table: &ReportTable,
    program: usize,
    outcome: &AssertionOutcome,
    text: &TraceText<'_, '_>,
    detail: ReportDetail,
) -> Option<ResultReport> {
    let item = table.item_index(program, outcome.assertion)?;
    let mut report = ResultReport::bare_result(item, outcome.verdict, outcome.status, outcome.score);
    report.because = outcome.because;
    report.unjudged = outcome
        .unjudged
        .as_deref()
        .map(|unjudged| UnjudgedReport::new(unjudged, |words| Cow::Owned(text.withheld.remove_from(words))));
    if detail.steps {
        report.checked = conditions::checked_value(table, item, text.run, &text.withheld);
    }
    // Results over all runs show their values even if they pass.
    let told = outcome.status != Status::Passed || table.items.get(item).is_some_and(|item| item.of_all_runs);
    if detail.findings && told {
        let of_violations = outcome.violations.listed.iter().flat_map(|one| &one.evidence);
        let found = outcome.evidence.iter().chain(of_violations).filter(|one| one.found.is_some());
        let found: Vec<&VerdictEvidence> = found.collect();
        let masked = table.items.get(item).is_some_and(|item| item.masked);
        let maker = ProofMaker { table, program, text, masked, shows: detail.steps, found: &found };
        let draws = matches!(outcome.status, Status::Failed | Status::UnexpectedPassed);
        let own = maker.make_violation(&outcome.reason, &outcome.evidence, detail.excerpt, draws);
        report.message = outcome.message.as_deref().map(|message| visible_words(message, &own.1));
        (report.reason, report.evidence, report.excerpts) = (own.0.reason, own.0.evidence, own.0.excerpts);
        report.violations.count = outcome.violations.count;
        let listed = outcome.violations.listed.iter().enumerate();
        let listed = listed.map(|(number, one)| {
            // The first violation is drawn as the failure itself.
            let width = detail.excerpt.filter(|_| draws && (1..detail.violations).contains(&number));
            maker.make_violation(&one.reason, &one.evidence, width, draws).0
        });
        report.violations.listed = listed.collect();
        if detail.shapes {
            report.shapes = failure_shapes(outcome, text.run, &text.withheld);
        }
        report.classified = table.items.get(item).and_then(|item| item.failure_class(&report));
    }
    Some(report)
}
