//! Runs tests and collects their results.

use super::coverage::Coverage;
use super::subject::TestSubject;
use super::trial::{FilePlace, TestTrial, TrialInput, TrialProblem};
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{RunOutcome, Status};
use averment_engine::vm::testing::{self, TestExpectation, TestJudgment};
use averment_report::gate::GatePolicy;
use averment_report::model::{EvidenceReport, ReportDetail};
use averment_report::table::ReportTable;
use averment_report::{redact, report_builder};
use averment_runs::run::Run;
use averment_traces::read::{self, read_str};
use bumpalo::Bump;
use std::fmt::Write as _;

/// A test with its result.
#[derive(Debug)]
pub struct TrialReport {
    /// Its name.
    pub name: String,
    /// Location of the test.
    pub place: FilePlace,
    /// The expected verdict.
    pub expect: Option<Verdict>,
    /// A single verdict for everything judged; `None` if nothing was.
    pub observed: Option<Verdict>,
    /// True if the result was as expected.
    pub passed: bool,
    /// The reason if it was not; otherwise empty.
    pub reason: String,
    /// A suggestion; usually empty.
    pub help: String,
    /// True if its run could not be read.
    pub unreadable: bool,
    /// Rules and bare assertions that were judged, with their verdicts, by id.
    pub found: Vec<(String, Verdict)>,
    /// Assertions that did not pass.
    pub why: Vec<UnpassedAssertion>,
    /// All findings with reasons and evidence, one per line, as stored in a snapshot.
    pub snapshot: String,
    /// The difference from its snapshot: lines that start with `-`, `+` or a space.
    pub changes: Vec<String>,
}

/// An assertion that did not pass.
#[derive(Debug, Clone)]
pub struct UnpassedAssertion {
    /// Its id.
    pub id: String,
    /// The result.
    pub status: Status,
    /// The reason, in words.
    pub reason: String,
}

/// Runs all tests of a subject, in order, and adds to `coverage`.
#[must_use]
pub fn run_tests(subject: &TestSubject, limits: &Limits, mut coverage: Option<&mut Coverage>) -> Vec<TrialReport> {
    let table = ReportTable::new(std::slice::from_ref(&subject.program), |_, _| true);
    subject.trials.iter().map(|trial| run_one(subject, &table, trial, limits, coverage.as_deref_mut())).collect()
}

/// Runs one test of a subject, by its index; returns `None` if there is no such test.
#[must_use]
pub fn run_trial(subject: &TestSubject, number: usize, limits: &Limits) -> Option<TrialReport> {
    let table = ReportTable::new(std::slice::from_ref(&subject.program), |_, _| true);
    subject.trials.get(number).map(|trial| run_one(subject, &table, trial, limits, None))
}

fn run_one(
    subject: &TestSubject,
    table: &ReportTable,
    trial: &TestTrial,
    limits: &Limits,
    coverage: Option<&mut Coverage>,
) -> TrialReport {
    let arena = Bump::new();
    let run = match &trial.input {
        TrialInput::Normal(text) => {
            read_str(text, &arena, limits).map_err(|error| TrialProblem::unreadable_run(&error, false))
        }
        TrialInput::Recorded(raw) => {
            read::parse_run(raw, &arena, limits).map_err(|error| TrialProblem::unreadable_run(&error, true))
        }
        TrialInput::None(trouble) => Err(trouble.clone()),
    };
    match (run, trial.expect) {
        (Ok(run), Some(expect)) => {
            let stated = TestExpectation { expect, rules: &trial.rules };
            let (program, prepared) = (&subject.program, &subject.prepared);
            let judged = testing::judge_test(program, prepared, &run, &arena, stated, limits, coverage.is_some());
            if let (Some(coverage), Some(seen)) = (coverage, &judged.seen) {
                coverage.add_run(&judged.outcome, seen);
            }
            let (snapshot, why) = collect_findings(subject, table, &run, &judged.outcome);
            judged_as(trial, expect, judged, snapshot, why)
        }
        (Err(trouble), _) => failed_result(trial, trouble),
        (Ok(_), None) => failed_result(trial, TrialProblem::new("it states no verdict", "")),
    }
}

fn failed_result(trial: &TestTrial, trouble: TrialProblem) -> TrialReport {
    TrialReport {
        name: trial.name.clone(),
        place: trouble.place.unwrap_or_else(|| trial.place.clone()),
        expect: trial.expect,
        observed: None,
        passed: false,
        reason: trouble.reason,
        help: trouble.help,
        unreadable: trouble.unreadable,
        found: Vec::new(),
        why: Vec::new(),
        snapshot: String::new(),
        changes: Vec::new(),
    }
}

/// Returns all findings as shown in reports: the text for a snapshot, and the assertions that did not pass.
fn collect_findings(
    subject: &TestSubject,
    table: &ReportTable,
    run: &Run<'_>,
    outcome: &RunOutcome,
) -> (String, Vec<UnpassedAssertion>) {
    let detail = ReportDetail::FINDINGS;
    let report = report_builder::build_report(table, run, std::slice::from_ref(outcome), GatePolicy::default(), detail);
    let (mut text, mut why) = (String::new(), Vec::new());
    for result in &report.results {
        let Some(item) = table.items.get(result.item) else { continue };
        // Writing to a `String` cannot fail. The id of a bare assertion is derived from its text, so the text is shown instead.
        let name = if item.id.contains(':') { &item.text } else { &item.id };
        let _ = writeln!(text, "{} {}", result.status.as_str(), one_line(name));
        if !result.reason.is_empty() {
            let _ = writeln!(text, "  {}", one_line(&result.reason));
        }
        for evidence in &result.evidence {
            let _ = writeln!(text, "  {}", evidence_line(subject, evidence));
        }
        if result.status != Status::Passed {
            why.push(UnpassedAssertion { id: item.id.clone(), status: result.status, reason: result.reason.clone() });
        }
    }
    (text, why)
}

/// Returns a line such as `step 3 /calls/2/args/id "o-1"`.
fn evidence_line(subject: &TestSubject, evidence: &EvidenceReport) -> String {
    let step = evidence.step.map(|step| format!("step {step}"));
    let part = evidence.rule_span.map(|span| subject.sources.span_text(span)).filter(|_| evidence.path.is_empty());
    let value = evidence.shown.clone();
    let label = Some(evidence.label.clone()).filter(|label| !label.is_empty());
    let parts = [step, part.map(str::to_owned), Some(evidence.path.clone()), value, label];
    let written: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    one_line(&written.join(" ")).into_owned()
}

fn judged_as(
    trial: &TestTrial,
    expect: Verdict,
    judged: TestJudgment,
    snapshot: String,
    why: Vec<UnpassedAssertion>,
) -> TrialReport {
    TrialReport {
        name: trial.name.clone(),
        place: trial.place.clone(),
        expect: Some(expect),
        observed: observed_verdict(expect, &judged),
        passed: judged.reason.is_none(),
        reason: judged.reason.as_deref().map(|reason| redact(reason).into_owned()).unwrap_or_default(),
        help: String::new(),
        unreadable: false,
        why,
        found: judged.found,
        snapshot,
        changes: Vec::new(),
    }
}

/// Returns the expected verdict if the test passed, otherwise the first verdict that differs.
fn observed_verdict(expect: Verdict, judged: &TestJudgment) -> Option<Verdict> {
    if judged.reason.is_none() {
        return Some(expect);
    }
    let verdicts = || judged.found.iter().map(|(_, verdict)| *verdict);
    verdicts()
        .find(|&verdict| verdict == Verdict::Fail && expect == Verdict::Pass)
        .or_else(|| verdicts().find(|&verdict| verdict != expect))
}
