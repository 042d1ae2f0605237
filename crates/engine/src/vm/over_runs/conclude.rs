//! What comes of assertions over runs when there are no more runs.

use super::rate::{self, RateCounts, RunShare};
use super::values::{self, FoldValues};
use super::words::{full_number, measured_words, rounded_as_shown, share_words, undecided_count, undecided_words};
use super::{AssertionTally, GROUPS, GroupTally, RunsTally, of_program};
use crate::bytecode::program::{CodeId, CompiledAssertion, Program};
use crate::vm::context::ExpressionScope;
use crate::vm::evaluate::finish_assertion;
use crate::vm::machine::Machine;
use crate::vm::outcome::{AssertionOutcome, AssertionViolation, CheckFinding, Role, VerdictEvidence, ViolationList};
use crate::vm::prepare::PreparedProgram;
use averment_base::limits::Limits;
use averment_base::rates::{percent_beside, percent_text, wilson_interval};
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_base::value::{Node, Value};
use averment_base::words::count_noun;
use averment_builtins::detect::names_credential;
use averment_checker::ir::{OverRunsCheck, OverRunsQuestion, RateBound, RateSubject, RunFold, RunFoldFunction};
use averment_runs::run::Run;
use bumpalo::Bump;

/// The outcomes of the assertions over runs of a program that are selected, in file order; of no run they are vacuous.
#[must_use]
pub fn conclude_runs(
    program: &Program,
    prepared: &PreparedProgram,
    limits: &Limits,
    tally: &RunsTally,
    selected: &dyn Fn(&CompiledAssertion) -> bool,
) -> Vec<AssertionOutcome> {
    let none = AssertionTally::default();
    let all = of_program(program).filter(|(_, assertion, _)| selected(assertion));
    all.map(|(number, assertion, over)| {
        let kept = tally.assertions.get(&number).unwrap_or(&none);
        let end = RunsConclusion { program, prepared, limits, assertion, over, kept };
        finish_assertion(number, assertion, end.conclude_assertion(), end.author_message())
    })
    .collect()
}

struct RunsConclusion<'a> {
    program: &'a Program,
    prepared: &'a PreparedProgram,
    limits: &'a Limits,
    assertion: &'a CompiledAssertion,
    over: &'a OverRunsCheck<CodeId>,
    kept: &'a AssertionTally,
}

impl RunsConclusion<'_> {
    fn conclude_assertion(&self) -> CheckFinding {
        let kept = self.kept;
        if kept.too_many {
            let reason = format!("`by` tells more than {GROUPS} groups of runs apart, and no more are kept");
            return CheckFinding::new(Verdict::Error, reason);
        }
        if kept.errors > 0 {
            let reason = format!("{}: its `when` or its group cannot be evaluated", count_noun(kept.errors, "run"));
            return CheckFinding::new(Verdict::Error, reason);
        }
        if kept.groups.is_empty() {
            return match kept.undecided {
                0 => CheckFinding::new(Verdict::Vacuous, self.without_runs()),
                undecided => CheckFinding::new(Verdict::Undecided, undecided_count(undecided)),
            };
        }
        if let Some(code) = self.over.by.filter(|_| kept.groups.keys().all(|by| by.as_deref() == Some(""))) {
            let reason = format!("no run has `{}`, which is to tell groups apart", text_of(self.program, code));
            return CheckFinding::new(Verdict::Undecided, reason);
        }
        let groups = kept.groups.iter().map(|(by, group)| (by.as_deref(), group));
        let findings: Vec<CheckFinding> = match &self.over.asks {
            OverRunsQuestion::Rate { share: RateBound::Power { power, share }, .. } => {
                vec![self.power_finding(*power, *share)]
            }
            OverRunsQuestion::Rate { share, confidence, .. } => {
                groups.map(|(by, group)| self.name_group(by, self.rate_finding(group, *share, *confidence))).collect()
            }
            OverRunsQuestion::Folds { folds, condition } => {
                groups.map(|(by, group)| self.name_group(by, self.folds_finding(group, folds, *condition))).collect()
            }
        };
        let mut finding = join_findings(findings);
        if kept.undecided > 0 {
            let said = undecided_count(kept.undecided);
            if !finding.reason.is_empty() {
                finding.reason += &format!("; {said}");
            }
            finding.evidence.push(self.run_evidence(said, None));
        }
        finding
    }

    fn without_runs(&self) -> String {
        match self.kept.runs {
            0 => "there is no run".to_owned(),
            runs => format!("its `when` is false in all of {}", count_noun(runs, "run")),
        }
    }

    fn name_group(&self, by: Option<&str>, mut finding: CheckFinding) -> CheckFinding {
        let (Some(by), Some(code)) = (by, self.over.by) else { return finding };
        let text = text_of(self.program, code);
        let by = if self.hides_values() { HIDDEN } else { by };
        let group = if by.is_empty() { format!("without `{text}`") } else { format!("`{text}` is {by}") };
        if !finding.reason.is_empty() {
            finding.reason = format!("{group}: {}", finding.reason);
        }
        for evidence in finding.evidence.iter_mut().filter(|one| one.role == Role::Decisive) {
            evidence.label = format!("{group}: {}", evidence.label);
        }
        finding
    }

    fn rate_finding(&self, group: &GroupTally, share: RateBound, confidence: Option<f64>) -> CheckFinding {
        let runs = RateCounts::of_group(group);
        let verdict = runs.rate_verdict(share, confidence);
        let said = self.rate_text(runs, confidence);
        let reason = match verdict {
            Verdict::Pass => String::new(),
            Verdict::Vacuous => format!("none of {} exercises it", count_noun(runs.idle, "run")),
            _ => format!("{said}; {} asked for{}", share_words(share), undecided_words(verdict, runs, confidence)),
        };
        let rate = (runs.all > 0).then(|| rate::ratio(runs.passes, runs.all));
        let mut finding = CheckFinding::new(verdict, reason).with_evidence(self.run_evidence(said, rate));
        let word = if matches!(share, RateBound::Most(_)) { "passes in" } else { "does not pass in" };
        finding.evidence.extend(group.against.iter().map(|run| side_evidence(format!("{word} {run}"))));
        finding
    }

    /// `19 of 20 runs (95%, with 95% confidence between 76.39% and 99.11%) pass `approval`; 4 runs do not exercise it`.
    fn rate_text(&self, runs: RateCounts, confidence: Option<f64>) -> String {
        let mut said = format!("{} of {}", runs.passes, count_noun(runs.all, "run"));
        if runs.all > 0 {
            let part = |part| percent_beside(part, self.asked_share());
            said += &format!(" ({}", part(rate::ratio(runs.passes, runs.all)));
            if let Some(confidence) = confidence
                && let Some((low, high)) = wilson_interval(runs.passes, runs.all, confidence)
            {
                let confidence = percent_text(confidence);
                said += &format!(", with {confidence} confidence between {} and {}", part(low), part(high));
            }
            said.push(')');
        }
        said += &format!(" {} `{}`", if runs.passes == 1 { "passes" } else { "pass" }, self.rated_name());
        let undecided = runs.open.saturating_sub(runs.errors);
        for (count, one, more) in [
            (undecided, "1 run does not record enough", "runs do not record enough"),
            (runs.errors, "1 run cannot be evaluated", "runs cannot be evaluated"),
            (runs.idle, "1 more run does not exercise it", "more runs do not exercise it"),
        ] {
            match count {
                0 => {}
                1 => said += &format!("; {one}"),
                _ => said += &format!("; {count} {more}"),
            }
        }
        said
    }

    fn asked_share(&self) -> f64 {
        match self.over.asks {
            OverRunsQuestion::Rate { share: RateBound::LeastOf { passes, of }, .. } => {
                f64::from(passes) / f64::from(of)
            }
            OverRunsQuestion::Rate {
                share: RateBound::Least(share) | RateBound::Most(share) | RateBound::Power { share, .. },
                ..
            } => share,
            OverRunsQuestion::Folds { .. } => 0.0,
        }
    }

    fn rated_name(&self) -> &str {
        let OverRunsQuestion::Rate { rated, .. } = &self.over.asks else { return &self.assertion.text };
        match *rated {
            RateSubject::Rule(rule) => self.program.rules.get(rule as usize).map_or("", |rule| &rule.id),
            RateSubject::Assertion(number) => self.program.assertions.get(number as usize).map_or("", |one| &one.text),
        }
    }

    /// pass^k: the mean over the groups; a group with too few runs leaves the result open.
    fn power_finding(&self, power: u32, share: f64) -> CheckFinding {
        let groups: Vec<RateCounts> =
            self.kept.groups.values().map(RateCounts::of_group).filter(|runs| runs.all > 0).collect();
        if groups.is_empty() {
            return CheckFinding::new(Verdict::Vacuous, "no run exercises it");
        }
        let mean = |passes: &dyn Fn(&RateCounts) -> u64, few: RunShare| {
            let chances = groups.iter().map(|runs| RunShare::of_draws(passes(runs), runs.all, power).unwrap_or(few));
            RunShare::mean_of(&chances.collect::<Vec<_>>())
        };
        let least = mean(&|runs| runs.passes, RunShare::NONE);
        let most = mean(&|runs| runs.passes.saturating_add(runs.open), RunShare::ALL);
        let errors = groups.iter().any(|runs| runs.errors > 0);
        let verdict = match (least.reaches(share), most.reaches(share)) {
            (true, _) => Verdict::Pass,
            (false, false) => Verdict::Fail,
            (false, true) if errors => Verdict::Error,
            (false, true) => Verdict::Undecided,
        };
        let (least, most) = (least.as_number(), most.as_number());
        let few = groups.iter().filter(|runs| runs.all < u64::from(power)).count();
        let (low, high) = (percent_beside(least, share), percent_beside(most, share));
        let mean = if few > 0 { format!("between {low} and {high}") } else { low };
        let mut said = format!("pass^{power} of `{}` is {mean} over {} groups", self.rated_name(), groups.len());
        if few > 0 {
            said += &format!("; {few} of them have fewer than {power} runs");
        }
        let reason = match verdict {
            Verdict::Pass => String::new(),
            _ => format!("{said}; at least {} is asked for", percent_text(share)),
        };
        let mut finding = CheckFinding::new(verdict, reason).with_evidence(self.run_evidence(said, Some(least)));
        let against = self.kept.groups.values().flat_map(|group| &group.against).take(super::NAMED);
        finding.evidence.extend(against.map(|run| side_evidence(format!("does not pass in {run}"))));
        finding
    }

    fn folds_finding(&self, group: &GroupTally, folds: &[RunFold<CodeId>], condition: CodeId) -> CheckFinding {
        let mut found = Vec::with_capacity(folds.len());
        for (fold, values) in folds.iter().zip(&group.folds) {
            if let Some(finding) = unfit_finding(fold, values) {
                return finding;
            }
            let Some((value, estimated)) = self.fold_values(fold, values) else {
                return CheckFinding::new(Verdict::Error, format!("`{}` cannot be computed", fold.text));
            };
            let Some(value) = value.filter(|value| value.is_finite()) else {
                let reason =
                    format!("`{}` over {} is beyond the range of numbers", fold.text, count_noun(values.count, "run"));
                return CheckFinding::new(Verdict::Error, reason);
            };
            found.push(FoldedValue { fold, values, value, estimated });
        }
        let mut verdict = self.condition_verdict(condition, found.iter().map(|one| one.value));
        // Where an estimate lies so near that it could be the other way round, it decides nothing.
        let (lows, highs) = (found.iter().map(|one| one.value_range().0), found.iter().map(|one| one.value_range().1));
        let near = matches!(verdict, Ok(Verdict::Pass | Verdict::Fail))
            && found.iter().any(|one| one.estimated)
            && (self.condition_verdict(condition, lows) != verdict
                || self.condition_verdict(condition, highs) != verdict);
        if near {
            verdict = Ok(Verdict::Undecided);
        }
        // What decides is told with as many digits as it takes to see it.
        let round =
            self.condition_verdict(condition, found.iter().map(|one| rounded_as_shown(one.value, one.fold.unit)));
        let whole = matches!(verdict, Ok(Verdict::Fail)) && round != verdict;
        let shown = found.iter().filter(|_| !self.hides_values());
        let evidence: Vec<VerdictEvidence> = shown.flat_map(|one| one.fold_evidence(folds.len() > 1, whole)).collect();
        let reason = match &verdict {
            Err(fault) => fault.clone(),
            Ok(Verdict::Pass) => String::new(),
            Ok(_) => {
                let decisive = evidence.iter().filter(|one| one.role == Role::Decisive);
                let said: Vec<&str> = decisive.map(|one| one.label.as_str()).collect();
                let said = if said.is_empty() { format!("its values are {HIDDEN}") } else { said.join("; ") };
                if near { format!("{said}: too near to what is asked for to tell") } else { said }
            }
        };
        CheckFinding { evidence, ..CheckFinding::new(verdict.unwrap_or(Verdict::Error), reason) }
    }

    fn condition_verdict(&self, condition: CodeId, values: impl Iterator<Item = f64>) -> Result<Verdict, String> {
        let (arena, run) = (Bump::new(), Run::empty_run());
        let mut machine = Machine::new(self.program, self.prepared, &run, &arena, *self.limits);
        let number = |value: f64| values::number_value(value).map_or(Value::Missing, Value::Number);
        let locals: Vec<Node<'_>> = values.map(number).map(Node::computed).collect();
        let truth = machine.evaluate_truth(condition, &ExpressionScope::default().with_locals(&locals));
        truth.map(|truth| truth.verdict()).map_err(|fault| fault.to_string())
    }

    /// The value and whether it is estimated; `None` if it failed, inner `None` if the function has no value.
    fn fold_values(&self, fold: &RunFold<CodeId>, values: &FoldValues) -> Option<(Option<f64>, bool)> {
        let streamed = !matches!(fold.function, RunFoldFunction::Percentile(_)) && values.count > 0;
        let Some(all) = values.exact_values().filter(|_| !streamed) else {
            return Some(values.fold_with(fold.function).map_or((None, false), |(value, off)| (Some(value), off)));
        };
        let arena = Bump::new();
        let run = Run::empty_run();
        let numbers = all.iter().map(|number| values::number_value(*number).map_or(Value::Missing, Value::Number));
        let nodes = arena.alloc_slice_fill_iter(numbers.map(Node::computed).collect::<Vec<_>>());
        let locals = [Node::computed(Value::List(nodes))];
        let mut machine = Machine::new(self.program, self.prepared, &run, &arena, *self.limits);
        match machine.evaluate_code(fold.fold, &ExpressionScope::default().with_locals(&locals)).ok()?.value {
            Value::Number(number) => Some((Some(number.to_f64()), false)),
            _ => Some((None, false)),
        }
    }

    /// True if its values must not be shown: withheld by a run, environment variables, or credential names.
    fn hides_values(&self) -> bool {
        let secret = |code: &CodeId| {
            let text = text_of(self.program, *code);
            let mut names =
                text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
            names.any(|name| name == "env" || names_credential(name.as_bytes(), false))
        };
        self.kept.withheld || self.over.run_expressions().any(secret)
    }

    fn run_evidence(&self, label: String, value: Option<f64>) -> VerdictEvidence {
        VerdictEvidence {
            label,
            value: value.map(|value| value.to_string()),
            rule_span: Some(self.assertion.span),
            ..VerdictEvidence::default()
        }
    }

    fn author_message(&self) -> Option<String> {
        let arena = Bump::new();
        let run = Run::empty_run();
        let mut machine = Machine::new(self.program, self.prepared, &run, &arena, *self.limits);
        match machine.evaluate_code(self.assertion.settings.message?, &ExpressionScope::default()).ok()?.value {
            Value::Text(text) => Some(text.as_str().to_owned()),
            _ => None,
        }
    }
}

fn side_evidence(label: String) -> VerdictEvidence {
    VerdictEvidence { role: Role::Value, label, ..VerdictEvidence::default() }
}

const HIDDEN: &str = "[redacted]";

fn unfit_finding(fold: &RunFold<CodeId>, values: &FoldValues) -> Option<CheckFinding> {
    let first = values.without.as_deref().map_or_else(String::new, |run| format!(" (first in {run})"));
    let of = |count: u64, verdict, why: &str| {
        let reason = format!("`{}`: in {} {why}{first}", fold.text, count_noun(count, "run"));
        (count > 0).then(|| CheckFinding::new(verdict, reason))
    };
    of(values.faults, Verdict::Error, "its value cannot be computed")
        .or_else(|| of(values.other, Verdict::Error, "its value is no number"))
        .or_else(|| {
            of(values.inexact, Verdict::Error, "its value is a whole number beyond 2^53, which is not kept exactly")
        })
        .or_else(|| {
            let why = "its value is not recorded, or null; `when … is number` leaves them out";
            of(values.none, Verdict::Undecided, why)
        })
}

struct FoldedValue<'a> {
    fold: &'a RunFold<CodeId>,
    values: &'a FoldValues,
    value: f64,
    estimated: bool,
}

impl FoldedValue<'_> {
    fn value_range(&self) -> (f64, f64) {
        if self.estimated { self.values.estimate_range(self.value) } else { (self.value, self.value) }
    }

    /// Evidence for the value, exact or rounded, and the runs at both ends; `named` adds the expression.
    fn fold_evidence(&self, named: bool, whole: bool) -> Vec<VerdictEvidence> {
        let Self { fold, values, value, estimated } = self;
        let about = if *estimated { "about " } else { "" };
        let within = if *estimated { format!(", within {}", percent_text(values::ERROR)) } else { String::new() };
        let is = if whole { full_number(*value, fold.unit) } else { measured_words(*value, fold.unit) };
        let of = if named { format!("`{}` ", fold.text) } else { String::new() };
        let mut all = vec![VerdictEvidence {
            label: format!("`{}` is {about}{is}{within} over {}", fold.text, count_noun(values.count, "run")),
            value: Some(value.to_string()),
            ..VerdictEvidence::default()
        }];
        for (word, end) in [("least", &values.least), ("greatest", &values.greatest)] {
            all.extend(end.iter().map(|(value, run)| VerdictEvidence {
                role: Role::Value,
                label: format!("{of}{word}: {} in {run}", measured_words(*value, fold.unit)),
                value: Some(value.to_string()),
                ..VerdictEvidence::default()
            }));
        }
        all
    }
}

fn join_findings(mut findings: Vec<CheckFinding>) -> CheckFinding {
    let gravity = [Verdict::Fail, Verdict::Error, Verdict::Undecided, Verdict::Pass, Verdict::Vacuous];
    let Some(verdict) = gravity.into_iter().find(|one| findings.iter().any(|finding| finding.verdict == *one)) else {
        return CheckFinding::new(Verdict::Vacuous, "there is no run");
    };
    let groups = findings.len();
    findings.retain(|finding| finding.verdict == verdict);
    if verdict != Verdict::Fail || findings.len() == 1 {
        let mut all = findings.into_iter();
        let mut first = all.next().unwrap_or_else(|| CheckFinding::new(verdict, ""));
        // Of which group the values beside it are is said of the first alone.
        first.evidence.extend(all.flat_map(|finding| finding.evidence).filter(|one| one.role == Role::Decisive));
        return first;
    }
    let reason = format!("{} of {groups} groups: {}", findings.len(), findings.first().map_or("", |one| &one.reason));
    let count = findings.len() as u64;
    let listed: Vec<AssertionViolation> =
        findings.into_iter().map(|one| AssertionViolation { reason: one.reason, evidence: one.evidence }).collect();
    let evidence = listed.first().map(|one| one.evidence.clone()).unwrap_or_default();
    CheckFinding { evidence, violations: ViolationList { count, listed }, ..CheckFinding::new(Verdict::Fail, reason) }
}

fn text_of(program: &Program, code: CodeId) -> &str {
    let span = program.chunks.get(code.0 as usize).map(|chunk| chunk.span);
    let text = |span: Span| program.source_text(span);
    span.and_then(text).unwrap_or_default()
}
