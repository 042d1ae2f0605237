//! Lints for assertions that contradict each other, follow from each other, or are duplicates.

use super::context::LintContext;
use super::logic::build::FormulaBuilder;
use super::logic::formula::{Formula, FormulaBounds, SubjectId};
use super::logic::solve::{ClauseSet, Satisfiability, is_impossible, is_impossible_with, solve};
use super::logic::temporal::AssertionFormulas;
use super::logic::{key, witness};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_checker::ir::{self, AssertionCheck, RuleRole, Severity, Temporal, TypedExpr};
use averment_syntax::ast::Quantifier;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of assertions that one is compared with.
const NEIGHBOURS: usize = 64;

struct ComparedAssertion<'m> {
    assertion: &'m ir::CheckedAssertion,
    bounds: FormulaBounds,
    subjects: BTreeSet<SubjectId>,
    /// Its text, if equal text certainly has an equal meaning.
    text: &'m str,
}

/// Reports assertions that contradict each other, follow from each other, or are duplicates.
pub fn assertion_pairs(context: &mut LintContext<'_>) {
    let module = &context.checked.module;
    for scope in assertion_scopes(module, context.root) {
        let mut assertions = AssertionFormulas::new(module);
        let entries: Vec<ComparedAssertion<'_>> = scope
            .into_iter()
            .map(|assertion| {
                let bounds = assertions.assertion_bounds(&assertion.check, &assertion.text);
                let mut subjects = BTreeSet::new();
                bounds.possible.collect_subjects(&mut subjects);
                ComparedAssertion { assertion, bounds, subjects, text: &assertion.text }
            })
            .collect();
        let facts = assertions.known_clauses();
        compare_scope(context, &assertions, &facts, &entries);
    }
    conditions_of_steps(context);
}

/// Returns groups of assertions that apply to one run: those of all rules, of each case, of each rule with a run threshold.
fn assertion_scopes(
    module: &ir::CheckedModule,
    root: averment_base::source::FileId,
) -> Vec<Vec<&ir::CheckedAssertion>> {
    let mut scopes: BTreeMap<Option<u32>, Vec<&ir::CheckedAssertion>> = BTreeMap::new();
    for assertion in module.assertions.iter().filter(|one| one.span.file == root) {
        let plain = assertion.settings.when.is_empty()
            && !assertion.settings.over_runs
            && assertion.settings.expect_fail.is_none()
            && assertion.settings.threshold.is_none();
        let rule = assertion.rule.and_then(|number| module.rules.get(number as usize));
        let own = match rule.map(|rule| (&rule.role, rule.threshold)) {
            Some((RuleRole::Invariant, _)) | Some((_, Some(_))) => continue,
            Some((RuleRole::Rule, None)) if !rule.is_some_and(|rule| rule.over_runs) => None,
            None => None,
            Some(_) => assertion.rule,
        };
        if plain {
            scopes.entry(own).or_default().push(assertion);
        }
    }
    scopes.into_values().collect()
}

fn compare_scope(
    context: &mut LintContext<'_>,
    assertions: &AssertionFormulas<'_>,
    facts: &ClauseSet,
    entries: &[ComparedAssertion<'_>],
) {
    let subjects = &assertions.builder.subjects;
    let linked = facts.linked_subjects();
    let of = |entry: &ComparedAssertion<'_>| -> BTreeSet<SubjectId> {
        entry
            .subjects
            .iter()
            .flat_map(|subject| linked.get(subject).into_iter().flatten().chain([subject]))
            .copied()
            .collect()
    };
    let alone: Vec<bool> =
        entries.iter().map(|entry| !is_impossible_with(subjects, facts, &[&entry.bounds.possible])).collect();
    for (index, later) in entries.iter().enumerate() {
        if alone.get(index) != Some(&true) {
            continue;
        }
        let own = of(later);
        let near = entries.iter().enumerate().take(index).rev().take(NEIGHBOURS);
        for (_, earlier) in near.filter(|(other, entry)| {
            alone.get(*other) == Some(&true) && (entry.text == later.text || !own.is_disjoint(&entry.subjects))
        }) {
            if let Some(found) = relate_pair(context, assertions, facts, earlier, later) {
                // Statements of one rule belong together; for independent ones, the intention is unknown.
                match earlier.assertion.rule.is_some() && earlier.assertion.rule == later.assertion.rule {
                    true => context.report(found),
                    false => context.report_info(found),
                }
                break;
            }
        }
    }
}

fn relate_pair(
    context: &LintContext<'_>,
    assertions: &AssertionFormulas<'_>,
    facts: &ClauseSet,
    earlier: &ComparedAssertion<'_>,
    later: &ComparedAssertion<'_>,
) -> Option<Diagnostic> {
    let subjects = &assertions.builder.subjects;
    let never = |formulas: [&Formula; 2]| is_impossible_with(subjects, facts, &formulas);
    let line = |entry: &ComparedAssertion<'_>| context.sources.line_column(entry.assertion.span).line;
    let place = later.assertion.span;
    if context.is_enabled(Slug::Contradictory)
        && fails_run(earlier)
        && fails_run(later)
        && never([&earlier.bounds.possible, &later.bounds.possible])
    {
        let opposite = later.bounds.certain.clone().negated();
        let shown = match solve(subjects, &[&earlier.bounds.possible, &opposite]) {
            Satisfiability::Maybe(model) => witness::model_witness(subjects, &model),
            _ => None,
        };
        let message = format!("this and line {} can never both hold", line(earlier));
        return Some(
            Diagnostic::new(Slug::Contradictory, place, message)
                .with_other(earlier.assertion.span, "this says the opposite")
                .with_help("every run fails one of them: change one, or give each a `when`")
                .with_witness(shown.as_ref(), "fails"),
        );
    }
    let (not_earlier, not_later) = (earlier.bounds.certain.clone().negated(), later.bounds.certain.clone().negated());
    let follows = never([&earlier.bounds.possible, &not_later]);
    let leads = never([&later.bounds.possible, &not_earlier]);
    let same_text = earlier.text == later.text;
    if (follows && leads || same_text) && same_settings(earlier.assertion, later.assertion) {
        return Some(
            Diagnostic::new(Slug::DuplicateAssertion, place, format!("line {} says the same", line(earlier)))
                .with_other(earlier.assertion.span, "said here first")
                .with_help("remove one of them: both would count in the score"),
        );
    }
    let (weak, strong) = if follows { (later, earlier) } else { (earlier, later) };
    if (follows != leads) && shadows_weaker(strong.assertion, weak.assertion) {
        return Some(
            Diagnostic::new(
                Slug::Shadowed,
                weak.assertion.span,
                format!("line {} says more: this can never fail alone", line(strong)),
            )
            .with_other(strong.assertion.span, "where this holds, the other does")
            .with_help("remove it, or make it stricter than the other"),
        );
    }
    None
}

fn fails_run(entry: &ComparedAssertion<'_>) -> bool {
    entry.assertion.settings.severity == Severity::Error
}

fn same_settings(one: &ir::CheckedAssertion, other: &ir::CheckedAssertion) -> bool {
    let (a, b) = (&one.settings, &other.settings);
    a.severity == b.severity && a.metric == b.metric && a.class == b.class && a.must == b.must && one.rule == other.rule
}

/// True if the stronger assertion makes the weaker redundant: the weaker one is not more severe or reported differently.
fn shadows_weaker(strong: &ir::CheckedAssertion, weak: &ir::CheckedAssertion) -> bool {
    let (a, b) = (&strong.settings, &weak.settings);
    // A statement about order that implies a step is not the same as one that requires the step, so both may be intended.
    let counts = match &strong.check {
        AssertionCheck::Expression(_) => true,
        AssertionCheck::Temporal(temporal) => {
            matches!(temporal, Temporal::Require { .. } | Temporal::Never { .. } | Temporal::Count { .. })
        }
        _ => false,
    };
    let exists = matches!(&weak.check, AssertionCheck::Temporal(Temporal::Require { times: None, .. }));
    counts
        && !exists
        && a.severity >= b.severity
        && (a.must || !b.must)
        && b.metric.is_none()
        && b.class == a.class
        && b.message.is_none() == a.message.is_none()
        && strong.rule == weak.rule
}

/// Reports `each A: c` and `each A: d` that no step can satisfy together.
fn conditions_of_steps(context: &mut LintContext<'_>) {
    let module = &context.checked.module;
    let mut known: BTreeMap<String, Vec<(&TypedExpr, Quantifier, Span)>> = BTreeMap::new();
    for scope in assertion_scopes(module, context.root) {
        known.clear();
        for assertion in scope {
            let AssertionCheck::Temporal(Temporal::Each { quantifier, step, condition }) = &assertion.check else {
                continue;
            };
            if *quantifier == Quantifier::Some || assertion.settings.severity != Severity::Error {
                continue;
            }
            let key = key::pattern_key(step);
            let same = known.entry(key).or_default();
            let mut builder = FormulaBuilder::new(module);
            let mut condition_of =
                |expr: &TypedExpr, quantifier: Quantifier| builder.build_formula(expr, quantifier == Quantifier::Each);
            let own = condition_of(condition, *quantifier);
            let others: Vec<(Formula, Span)> =
                same.iter().map(|(expr, quantifier, span)| (condition_of(expr, *quantifier), *span)).collect();
            let clash = others.iter().find(|(other, _)| {
                is_impossible(&builder.subjects, &[&own, other])
                    && !is_impossible(&builder.subjects, &[&own])
                    && !is_impossible(&builder.subjects, &[other])
            });
            if let Some((_, other)) = clash {
                let line = context.sources.line_column(*other).line;
                let message = format!("no {} can meet this and line {line}", step.text);
                context.report(
                    Diagnostic::new(Slug::Contradictory, assertion.span, message)
                        .with_other(*other, "this says the opposite")
                        .with_help("both hold only on runs without one: change one of them"),
                );
            }
            same.push((condition, *quantifier, assertion.span));
        }
    }
}
