//! From the results of a run to its rules and scores, in one pass over the results.

use super::outcome::{AssertionOutcome, RuleOutcome, RunOutcome, Status};
use super::score::{self, JudgedAssertion};
use crate::bytecode::program::{CompiledAssertion, Program};
use averment_base::truth::Verdict;
use averment_checker::ir::Severity;
use smallvec::SmallVec;

/// Components of a file's score in file order; a rule is placed at its first result.
enum FileScorePart {
    Bare { weight: f64, score: Option<f64> },
    Rule { number: u32, judged: SmallVec<[JudgedAssertion; 1]> },
}

struct RecordedScore<'a> {
    name: &'a str,
    weight: f64,
    score: f64,
}

/// `results` must be in file order.
pub(super) fn summarize_run(program: &Program, results: Vec<AssertionOutcome>) -> RunOutcome {
    let mut summary = RunSummary { places: vec![None; program.rules.len()], ..RunSummary::default() };
    for result in &results {
        if let Some(assertion) = program.assertions.get(result.assertion as usize) {
            summary.add_result(assertion, result);
        }
    }
    let RunSummary { parts, named, fails, .. } = summary;
    let mut outcome = RunOutcome { passed: !fails, ..RunOutcome::default() };
    let mut named = named;
    let mut counted = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            FileScorePart::Bare { weight, score } => counted.extend(score.map(|score| (weight, score))),
            FileScorePart::Rule { number, judged } => {
                summarize_rule(program, number, &judged, &mut outcome, &mut counted, &mut named)
            }
        }
    }
    outcome.score = score::weighted_mean(counted);
    outcome.named_scores = by_name(&named);
    outcome.results = results;
    outcome
}

#[derive(Default)]
struct RunSummary<'a> {
    parts: Vec<FileScorePart>,
    places: Vec<Option<usize>>,
    named: Vec<RecordedScore<'a>>,
    fails: bool,
}

impl<'a> RunSummary<'a> {
    fn add_result(&mut self, assertion: &'a CompiledAssertion, result: &AssertionOutcome) {
        let settings = &assertion.settings;
        if let (Some(name), Some(score)) = (&settings.metric, result.score) {
            self.named.push(RecordedScore { name, weight: settings.weight, score });
        }
        let Some(number) = assertion.rule else {
            self.parts.push(FileScorePart::Bare { weight: settings.weight, score: result.score });
            self.fails |= settings.severity == Severity::Error && !settings.over_runs && !status_holds(result.status);
            return;
        };
        let Some(known) = self.places.get_mut(number as usize) else { return };
        let place = *known.get_or_insert(self.parts.len());
        if place == self.parts.len() {
            self.parts.push(FileScorePart::Rule { number, judged: SmallVec::new() });
        }
        if let Some(FileScorePart::Rule { judged, .. }) = self.parts.get_mut(place) {
            judged.push(judged_assertion(assertion, result));
        }
    }
}

fn summarize_rule<'a>(
    program: &'a Program,
    number: u32,
    judged: &[JudgedAssertion],
    outcome: &mut RunOutcome,
    counted: &mut Vec<(f64, f64)>,
    named: &mut Vec<RecordedScore<'a>>,
) {
    let Some(rule) = program.rules.get(number as usize) else { return };
    let score = score::rule_score(judged);
    let verdict = score::rule_verdict(rule.threshold, judged);
    let passed = match rule.threshold {
        Some(_) => is_fine(verdict),
        None => judged.iter().all(|one| !one.is_error || is_fine(one.verdict)),
    };
    outcome.passed &= passed || rule.over_runs || rule.threshold.is_some() && rule.severity != Severity::Error;
    counted.extend(score.map(|score| (rule.weight, score)));
    if let (Some(name), Some(score)) = (&rule.metric, score) {
        named.push(RecordedScore { name, weight: rule.weight, score });
    }
    outcome.rules.push(RuleOutcome { rule: number, verdict, passed, score });
}

/// The effect of a result on its rule: an expected failure passes, an unexpected pass fails.
#[must_use]
pub fn counted_verdict(status: Status, verdict: Verdict) -> Verdict {
    match status {
        Status::ExpectedFailed => Verdict::Pass,
        Status::UnexpectedPassed => Verdict::Fail,
        _ => verdict,
    }
}

fn judged_assertion(assertion: &CompiledAssertion, result: &AssertionOutcome) -> JudgedAssertion {
    JudgedAssertion {
        verdict: counted_verdict(result.status, result.verdict),
        score: result.score,
        weight: assertion.settings.weight,
        is_error: assertion.settings.severity == Severity::Error,
        must: assertion.settings.must,
    }
}

fn is_fine(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped)
}

fn status_holds(status: Status) -> bool {
    matches!(status, Status::Passed | Status::ExpectedFailed | Status::Vacuous | Status::Skipped)
}

/// Merges scores of one name by weighted mean; a score of weight 0 is recorded but does not count for its parent.
fn by_name(named: &[RecordedScore<'_>]) -> Vec<(String, f64)> {
    let mut out: Vec<(String, f64)> = Vec::new();
    for RecordedScore { name, .. } in named {
        if out.iter().any(|(known, _)| known == name) {
            continue;
        }
        let same: Vec<(f64, f64)> =
            named.iter().filter(|other| other.name == *name).map(|other| (other.weight, other.score)).collect();
        let score = match same.as_slice() {
            [(_, score)] => Some(*score),
            several => score::weighted_mean(several.iter().copied()),
        };
        out.extend(score.map(|score| ((*name).to_owned(), score)));
    }
    out
}
