//! How the report of a run is built from the outcomes of its programs.

use super::block;
use super::conditions;
use super::drawn::Drawn;
use super::gate::Policy;
use super::measured::Measured;
use super::model::{Detail, ResultReport, RuleReport, RunReport, mean};
pub use super::proof::RunText;
use super::proof::{Maker, Text, said};
use super::redact::{self, Withheld};
use super::table::Table;
use super::timeline;
use super::unjudged::UnjudgedReport;
use averment_engine::vm::outcome::{AssertionOutcome, Evidence, Outcome, Status};
use averment_runs::run::Run;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Makes single findings of a run where no report of the whole run is needed.
pub struct Findings<'a, 'run> {
    table: &'a Table,
    text: Text<'a, 'run>,
    detail: Detail,
}

impl<'a, 'run> Findings<'a, 'run> {
    /// For the findings of a run. `outcomes` are those that may have evidence, with the numbers of their programs.
    pub fn new<'o>(
        table: &'a Table,
        run: &'a Run<'run>,
        outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
        detail: Detail,
    ) -> Self {
        let withheld = withheld(Some(run), outcomes, detail);
        let (text, source) = (run.text, &run.source);
        let text = Text { text, source, run: Some(run), withheld, lines: OnceCell::new() };
        Self { table, text, detail }
    }

    /// Whether the run has anything that no finding of it shows: then even findings that are alike may differ.
    #[must_use]
    pub fn withhold(&self) -> bool {
        !self.text.withheld.is_empty()
    }

    /// What reports say of the assertions.
    #[must_use]
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The result of an outcome.
    #[must_use]
    pub fn result(&self, program: usize, outcome: &AssertionOutcome) -> Option<ResultReport> {
        result(self.table, program, outcome, &self.text, self.detail)
    }
}

/// Builds the report of a run from the outcome of each program, in the order of the table's programs.
#[must_use]
pub fn build(table: &Table, run: &Run<'_>, outcomes: &[Outcome], policy: Policy, detail: Detail) -> RunReport {
    build_some(table, run, outcomes, policy, detail, &mut Drawn::default())
}

/// The same with the words of those findings alone that are asked for.
#[must_use]
pub fn build_some(
    table: &Table,
    run: &Run<'_>,
    outcomes: &[Outcome],
    policy: Policy,
    detail: Detail,
    drawn: &mut Drawn,
) -> RunReport {
    let mut report = build_of(
        table,
        RunText { text: run.text, source: &run.source, run: Some(run) },
        outcomes,
        policy,
        detail,
        drawn,
    );
    let line = |offset: usize| run.source.place(run.text, offset).0;
    report.warnings = run.warnings.iter().map(|one| (line(one.offset), redact::of_run(run, &one.message))).collect();
    report.warnings.sort_by_key(|(line, _)| *line);
    report
}

/// The same for a run that was judged without being read in full: nothing is known then of its environment, and no reason is of the run.
#[must_use]
pub fn build_of(
    table: &Table,
    of: RunText<'_, '_>,
    outcomes: &[Outcome],
    policy: Policy,
    detail: Detail,
    drawn: &mut Drawn,
) -> RunReport {
    let RunText { text, source, run } = of;
    let numbered = outcomes.iter().enumerate();
    let all = numbered.flat_map(|(program, outcome)| outcome.results.iter().map(move |one| (program, one)));
    let mut wants = |program: usize, one: &AssertionOutcome| {
        table.item(program, one.assertion).is_some_and(|item| drawn.wants(item, one.status))
    };
    let wanted: Vec<bool> = all.clone().map(|(program, one)| wants(program, one)).collect();
    let mut wanted = wanted.into_iter();
    let shows = Detail { findings: detail.findings && wanted.clone().any(|wanted| wanted), ..detail };
    let withheld = if detail.takes_whole_runs() { withheld_of_all(run, all) } else { withheld(run, all, shows) };
    let text = Text { text, source, run, withheld, lines: OnceCell::new() };
    let mut results = Vec::with_capacity(table.items.len());
    let mut rules = Vec::new();
    for (program, outcome) in outcomes.iter().enumerate() {
        let of_program = outcome.results.iter();
        results.extend(of_program.zip(wanted.by_ref()).filter_map(|(one, wanted)| {
            result(table, program, one, &text, Detail { findings: detail.findings && wanted, ..detail })
        }));
        rules.extend(outcome.rules.iter().filter_map(|one| {
            let rule = table.rule(program, one.rule)?;
            let (verdict, passed, score) = (one.verdict, one.passed, one.score);
            Some(RuleReport { rule, verdict, passed, score, known: false, block: None })
        }));
    }
    block::add(table, run, &results, &mut rules);
    let measured = run.filter(|_| detail.measured).map(|run| Box::new(Measured::of(run, &text.withheld)));
    let timeline = run.filter(|_| detail.steps).map(|run| Box::new(timeline::of(table, run, outcomes, &text)));
    RunReport {
        run: redact::of_name(source),
        file: redact::of_file(&source.file).into_owned(),
        gate: table.run_gate(&results, &rules, policy),
        score: mean(outcomes.iter().filter_map(|outcome| outcome.score)),
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

/// What no finding of a run shows: what the run keeps to itself, and what a predicate has found anywhere in it.
fn withheld<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
    detail: Detail,
) -> Withheld {
    let speaks = |one: &AssertionOutcome| detail.findings && one.status != Status::Passed || one.unjudged.is_some();
    let mut findings = outcomes.filter(|(_, one)| speaks(one)).peekable();
    if findings.peek().is_none() {
        return Withheld::default();
    }
    withheld_of_all(run, findings)
}

/// The same where something is said of the run whatever was found.
fn withheld_of_all<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
) -> Withheld {
    let Some(run) = run else { return Withheld::default() };
    let mut texts = redact::environment(run);
    for (_, one) in outcomes {
        let of_violations = one.violations.listed.iter().flat_map(|violation| &violation.evidence);
        texts.extend(one.evidence.iter().chain(of_violations).filter_map(redact::found));
    }
    Withheld::of(texts)
}

fn result(
    table: &Table,
    program: usize,
    outcome: &AssertionOutcome,
    text: &Text<'_, '_>,
    detail: Detail,
) -> Option<ResultReport> {
    let item = table.item(program, outcome.assertion)?;
    let mut report = ResultReport::bare(item, outcome.verdict, outcome.status, outcome.score);
    report.unjudged = outcome
        .unjudged
        .as_deref()
        .map(|unjudged| UnjudgedReport::new(unjudged, |words| Cow::Owned(text.withheld.without(words))));
    if detail.steps {
        report.checked = conditions::checked(table, item, text.run, &text.withheld);
    }
    // What is said of all runs together rests on values that are worth knowing of a pass, too.
    let told = outcome.status != Status::Passed || table.items.get(item).is_some_and(|item| item.of_all_runs);
    if detail.findings && told {
        let of_violations = outcome.violations.listed.iter().flat_map(|one| &one.evidence);
        let found = outcome.evidence.iter().chain(of_violations).filter(|one| one.found.is_some());
        let found: Vec<&Evidence> = found.collect();
        let masked = table.items.get(item).is_some_and(|item| item.masked);
        let maker = Maker { table, program, text, masked, shows: detail.steps, found: &found };
        let draws = matches!(outcome.status, Status::Failed | Status::UnexpectedPassed);
        let own = maker.violation(&outcome.reason, &outcome.evidence, detail.excerpt, draws);
        report.message = outcome.message.as_deref().map(|message| said(message, &own.1));
        (report.reason, report.evidence, report.excerpts) = (own.0.reason, own.0.evidence, own.0.excerpts);
        report.violations.count = outcome.violations.count;
        let listed = outcome.violations.listed.iter().enumerate();
        let listed = listed.map(|(number, one)| {
            // The first is drawn as the failure itself.
            let width = detail.excerpt.filter(|_| draws && (1..detail.violations).contains(&number));
            maker.violation(&one.reason, &one.evidence, width, draws).0
        });
        report.violations.listed = listed.collect();
        report.classified = table.items.get(item).and_then(|item| item.classified(&report));
    }
    Some(report)
}
