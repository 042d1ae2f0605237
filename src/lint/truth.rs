//! What is always or never true, whatever the run.

use super::context::Context;
use super::logic::build::Builder;
use super::logic::course::Assertions;
use super::logic::formula::{Bounds, Formula, Subject};
use super::logic::solve::{Answer, impossible, solve};
use super::logic::{key, witness};
use crate::diagnostic::{Diagnostic, Slug};
use crate::ir::{self, Check, Constant, Course, Expr, ExprKind, Pattern, RuleRole, Scope, Severity, ValueTest};
use crate::source::Span;
use crate::syntax::ast::{BinaryOperator, Quantifier, TestKind};
use std::collections::{BTreeMap, BTreeSet};

/// Operands of one chain of `and` or `or` that are compared with each other.
const OPERANDS: usize = 16;
/// Assertions that one assertion is compared with.
const NEIGHBOURS: usize = 64;

/// Conditions and assertions, each by itself.
pub fn single(context: &mut Context<'_>) {
    let (module, root) = (&context.checked.module, context.root);
    for assertion in module.assertions.iter().filter(|one| one.span.file == root) {
        let mut conditions = Conditions { module, found: Vec::new() };
        assertion.settings.when.iter().for_each(|when| conditions.condition(when));
        conditions.check(&assertion.check);
        let (inner, whole) = (conditions.found, whole(module, assertion));
        // A part that can never be true says more than the assertion that it spoils.
        let spoilt = |one: &Diagnostic| one.slug != Slug::RedundantOperand;
        if !inner.iter().any(spoilt) {
            whole.into_iter().for_each(|one| context.report(one));
        }
        inner.into_iter().for_each(|one| context.report(one));
    }
    for def in &module.defs {
        let mut conditions = Conditions { module, found: Vec::new() };
        conditions.parts(&def.body);
        conditions.found.into_iter().for_each(|one| context.report(one));
    }
}

/// An assertion that can never hold, or never fail.
fn whole(module: &ir::Module, assertion: &ir::Assertion) -> Option<Diagnostic> {
    let mut assertions = Assertions::new(module);
    let bounds = assertions.bounds(&assertion.check, &assertion.text);
    let facts = assertions.facts();
    let with = |formula: &Formula| {
        let all: Vec<&Formula> = facts.iter().chain([formula]).collect();
        impossible(&assertions.builder.subjects, &all)
    };
    if with(&bounds.possible) {
        let message = "this can never hold, whatever the run".to_owned();
        return Some(
            Diagnostic::new(Slug::Impossible, assertion.span, message)
                .help("no value passes all of its tests: change one of them"),
        );
    }
    if with(&bounds.certain.not()) {
        let (slug, help) = match &assertion.check {
            Check::Course(Course::Count { .. } | Course::Require { .. }) => {
                (Slug::CountAlwaysTrue, "any number passes: write the number that you mean")
            }
            _ => (Slug::AlwaysTrue, "no run can fail it: remove it, or test what was meant"),
        };
        let shown = (slug == Slug::CountAlwaysTrue).then(|| serde_json::json!({"calls": []}));
        return Some(
            Diagnostic::new(slug, assertion.span, "this can never fail, whatever the run")
                .help(help)
                .witness(shown.as_ref(), "passes"),
        );
    }
    None
}

/// Looks into every condition of an assertion.
struct Conditions<'m> {
    module: &'m ir::Module,
    found: Vec<Diagnostic>,
}

impl Conditions<'_> {
    fn check(&mut self, check: &Check<Pattern, Expr>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match check {
            Check::Expression(expr) => self.parts(expr),
            Check::Course(course) => self.course(course),
            Check::Not(inner) => self.check(inner),
            Check::Group { members, .. } => {
                for member in members {
                    member.when.iter().for_each(|when| self.condition(when));
                    self.check(&member.check);
                }
            }
            Check::Scoped { scope, body } => {
                match scope {
                    Scope::After { open, until } => {
                        self.pattern(open);
                        until.iter().for_each(|until| self.pattern(until));
                    }
                    Scope::Before { close: one } | Scope::Each { step: one } => self.pattern(one),
                    Scope::Between { open, close } => {
                        self.pattern(open);
                        self.pattern(close);
                    }
                }
                self.check(body);
            }
            Check::World(_) => {}
        });
    }

    fn course(&mut self, course: &Course<Pattern, Expr>) {
        for pattern in super::course::patterns(course) {
            self.pattern(pattern);
        }
        match course {
            Course::Each { condition, .. } => self.condition(condition),
            Course::Count { test, .. } => self.parts(test),
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        for alternative in &pattern.alternatives {
            alternative.condition.iter().for_each(|condition| self.condition(condition));
        }
    }

    /// A condition that decides something: it should be able to come out both ways.
    fn condition(&mut self, expr: &Expr) {
        if !self.constant(expr) {
            self.parts(expr);
        }
    }

    /// Reports a condition that comes out one way only.
    fn constant(&mut self, expr: &Expr) -> bool {
        let mut builder = Builder::new(self.module);
        let Bounds { possible, certain } = builder.condition(expr);
        let message = if impossible(&builder.subjects, &[&possible]) {
            "this condition is never true"
        } else if impossible(&builder.subjects, &[&certain.not()]) {
            "this condition is always true"
        } else {
            return false;
        };
        self.found.push(
            Diagnostic::new(Slug::ConstantCondition, expr.span, message)
                .help("no value makes a difference to it: change it, or leave it out"),
        );
        true
    }

    /// The parts of an expression that are conditions.
    fn parts(&mut self, expr: &Expr) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
            ExprKind::Not(inner) => self.parts(inner),
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => self.chain(expr, *operator),
            ExprKind::Binary(BinaryOperator::Implies, left, right) => {
                self.condition(left);
                self.parts(right);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.condition(condition);
                self.parts(then);
                self.parts(otherwise);
            }
            ExprKind::Quantifier(_, _, source, body) => {
                self.parts(source);
                self.condition(body);
            }
            _ => crate::check::children(expr, &mut |child| self.parts(child)),
        });
    }

    /// `a and b and c`: no part is never or always true, and none follows from the others.
    fn chain(&mut self, expr: &Expr, operator: BinaryOperator) {
        let operands = operands(expr, operator);
        let before = self.found.len();
        for operand in &operands {
            // Nested chains of the other operator are looked at on their own.
            if !self.constant(operand) {
                self.parts(operand);
            }
        }
        if self.found.len() > before || operands.len() > OPERANDS {
            return;
        }
        let mut builder = Builder::new(self.module);
        let formulas: Vec<Formula> = operands.iter().map(|one| builder.condition(one).possible).collect();
        let opposites: Vec<Formula> = operands.iter().map(|one| builder.condition(one).certain.not()).collect();
        let all: Vec<&Formula> = formulas.iter().collect();
        if operator == BinaryOperator::And && impossible(&builder.subjects, &all) {
            // The whole says that.
            return;
        }
        let others = if operator == BinaryOperator::And { &formulas } else { &opposites };
        let own = if operator == BinaryOperator::And { &opposites } else { &formulas };
        // The later one is superfluous where both say the same.
        for (index, (operand, own)) in operands.iter().zip(own).enumerate().rev() {
            let cause = others
                .iter()
                .enumerate()
                .find(|(other, formula)| *other != index && impossible(&builder.subjects, &[formula, own]));
            let Some((cause, _)) = cause else { continue };
            let Some(cause) = operands.get(cause) else { continue };
            let message = match operator {
                BinaryOperator::And => "this adds nothing: it holds wherever the other part does",
                _ => "this adds nothing: wherever it holds, the other part does",
            };
            self.found.push(
                Diagnostic::new(Slug::RedundantOperand, operand.span, message)
                    .other(cause.span, "the other part")
                    .help("leave it out"),
            );
            return;
        }
    }
}

/// The operands of a chain of one operator.
fn operands(expr: &Expr, operator: BinaryOperator) -> Vec<&Expr> {
    let (mut found, mut open) = (Vec::new(), vec![expr]);
    while let Some(one) = open.pop() {
        match &one.kind {
            ExprKind::Binary(own, left, right) if *own == operator => open.extend([&**right, &**left]),
            _ => found.push(one),
        }
    }
    found
}

/// An assertion that is compared with others.
struct Entry<'m> {
    assertion: &'m ir::Assertion,
    bounds: Bounds,
    subjects: BTreeSet<Subject>,
    /// Its text where it says the same for sure.
    text: &'m str,
}

/// Assertions that contradict each other, follow from each other, or stand twice.
pub fn pairs(context: &mut Context<'_>) {
    let module = &context.checked.module;
    for scope in scopes(module, context.root) {
        let mut assertions = Assertions::new(module);
        let entries: Vec<Entry<'_>> = scope
            .into_iter()
            .map(|assertion| {
                let bounds = assertions.bounds(&assertion.check, &assertion.text);
                let mut subjects = BTreeSet::new();
                bounds.possible.subjects(&mut subjects);
                Entry { assertion, bounds, subjects, text: &assertion.text }
            })
            .collect();
        let facts = assertions.facts();
        compare(context, &assertions, &facts, &entries);
    }
    conditions_of_steps(context);
}

/// Assertions that are judged on the same runs: those of all rules together, those of each case.
fn scopes(module: &ir::Module, root: crate::source::FileId) -> Vec<Vec<&ir::Assertion>> {
    let mut scopes: BTreeMap<Option<u32>, Vec<&ir::Assertion>> = BTreeMap::new();
    for assertion in module.assertions.iter().filter(|one| one.span.file == root) {
        let plain = assertion.settings.when.is_empty()
            && assertion.settings.expect_fail.is_none()
            && assertion.settings.threshold.is_none();
        let rule = assertion.rule.and_then(|number| module.rules.get(number as usize));
        let own = match rule.map(|rule| (&rule.role, rule.threshold)) {
            Some((RuleRole::Invariant, _)) | Some((_, Some(_))) => continue,
            Some((RuleRole::Rule, None)) | None => None,
            Some(_) => assertion.rule,
        };
        if plain {
            scopes.entry(own).or_default().push(assertion);
        }
    }
    scopes.into_values().collect()
}

fn compare(context: &mut Context<'_>, assertions: &Assertions<'_>, facts: &[Formula], entries: &[Entry<'_>]) {
    let subjects = &assertions.builder.subjects;
    let linked = linked_subjects(facts);
    let of = |entry: &Entry<'_>| -> BTreeSet<Subject> {
        entry
            .subjects
            .iter()
            .flat_map(|subject| linked.get(subject).into_iter().flatten().chain([subject]))
            .copied()
            .collect()
    };
    let alone: Vec<bool> = entries
        .iter()
        .map(|entry| !impossible(subjects, &facts.iter().chain([&entry.bounds.possible]).collect::<Vec<_>>()))
        .collect();
    for (index, later) in entries.iter().enumerate() {
        if alone.get(index) != Some(&true) {
            continue;
        }
        let own = of(later);
        let near = entries.iter().enumerate().take(index).rev().take(NEIGHBOURS);
        for (_, earlier) in near.filter(|(other, entry)| {
            alone.get(*other) == Some(&true) && (entry.text == later.text || !own.is_disjoint(&entry.subjects))
        }) {
            if let Some(found) = related(context, assertions, facts, earlier, later) {
                // Statements of one rule are meant together; of those that stand alone nobody knows.
                match earlier.assertion.rule.is_some() && earlier.assertion.rule == later.assertion.rule {
                    true => context.report(found),
                    false => context.remark(found),
                }
                break;
            }
        }
    }
}

/// For each subject those that facts link it to.
fn linked_subjects(facts: &[Formula]) -> BTreeMap<Subject, BTreeSet<Subject>> {
    let mut linked: BTreeMap<Subject, BTreeSet<Subject>> = BTreeMap::new();
    for fact in facts {
        let mut inside = BTreeSet::new();
        fact.subjects(&mut inside);
        for subject in &inside {
            linked.entry(*subject).or_default().extend(&inside);
        }
    }
    linked
}

fn related(
    context: &Context<'_>,
    assertions: &Assertions<'_>,
    facts: &[Formula],
    earlier: &Entry<'_>,
    later: &Entry<'_>,
) -> Option<Diagnostic> {
    let subjects = &assertions.builder.subjects;
    let never = |formulas: [&Formula; 2]| impossible(subjects, &facts.iter().chain(formulas).collect::<Vec<_>>());
    let line = |entry: &Entry<'_>| context.sources.position(entry.assertion.span).line;
    let place = later.assertion.span;
    if context.wants(Slug::Contradictory)
        && gates(earlier)
        && gates(later)
        && never([&earlier.bounds.possible, &later.bounds.possible])
    {
        let opposite = later.bounds.certain.clone().not();
        let shown = match solve(subjects, &[&earlier.bounds.possible, &opposite]) {
            Answer::Perhaps(model) => witness::of_model(subjects, &model),
            _ => None,
        };
        let message = format!("this and line {} can never both hold", line(earlier));
        return Some(
            Diagnostic::new(Slug::Contradictory, place, message)
                .other(earlier.assertion.span, "this says the opposite")
                .help("every run fails one of them: change one, or give each a `when`")
                .witness(shown.as_ref(), "fails"),
        );
    }
    let (not_earlier, not_later) = (earlier.bounds.certain.clone().not(), later.bounds.certain.clone().not());
    let follows = never([&earlier.bounds.possible, &not_later]);
    let leads = never([&later.bounds.possible, &not_earlier]);
    let same_text = earlier.text == later.text;
    if (follows && leads || same_text) && same_settings(earlier.assertion, later.assertion) {
        return Some(
            Diagnostic::new(Slug::DuplicateAssertion, place, format!("line {} says the same", line(earlier)))
                .other(earlier.assertion.span, "said here first")
                .help("remove one of them: both would count in the score"),
        );
    }
    let (weak, strong) = if follows { (later, earlier) } else { (earlier, later) };
    if (follows != leads) && shadows(strong.assertion, weak.assertion) {
        return Some(
            Diagnostic::new(
                Slug::Shadowed,
                weak.assertion.span,
                format!("line {} says more: this can never fail alone", line(strong)),
            )
            .other(strong.assertion.span, "where this holds, the other does")
            .help("remove it, or make it stricter than the other"),
        );
    }
    None
}

/// Whether a failing assertion fails the run.
fn gates(entry: &Entry<'_>) -> bool {
    entry.assertion.settings.severity == Severity::Error
}

fn same_settings(one: &ir::Assertion, other: &ir::Assertion) -> bool {
    let (a, b) = (&one.settings, &other.settings);
    a.severity == b.severity && a.metric == b.metric && a.class == b.class && a.must == b.must && one.rule == other.rule
}

/// Whether a stronger assertion leaves nothing to a weaker one: the weaker is reported no more severely and in no way of its own.
fn shadows(strong: &ir::Assertion, weak: &ir::Assertion) -> bool {
    let (a, b) = (&strong.settings, &weak.settings);
    // A statement about order that needs a step says less of it than one that asks for it: both may well stand.
    let counts = match &strong.check {
        Check::Expression(_) => true,
        Check::Course(course) => matches!(course, Course::Require { .. } | Course::Never { .. } | Course::Count { .. }),
        _ => false,
    };
    let exists = matches!(&weak.check, Check::Course(Course::Require { times: None, .. }));
    counts
        && !exists
        && a.severity >= b.severity
        && (a.must || !b.must)
        && b.metric.is_none()
        && b.class == a.class
        && b.message.is_none() == a.message.is_none()
        && strong.rule == weak.rule
}

/// `each A: c` beside `each A: d` where no step can meet both.
fn conditions_of_steps(context: &mut Context<'_>) {
    let module = &context.checked.module;
    let mut known: BTreeMap<String, Vec<(&Expr, Quantifier, Span)>> = BTreeMap::new();
    for scope in scopes(module, context.root) {
        known.clear();
        for assertion in scope {
            let Check::Course(Course::Each { quantifier, step, condition }) = &assertion.check else { continue };
            if *quantifier == Quantifier::Some || assertion.settings.severity != Severity::Error {
                continue;
            }
            let key = key::of_pattern(step);
            let same = known.entry(key).or_default();
            let mut builder = Builder::new(module);
            let mut condition_of =
                |expr: &Expr, quantifier: Quantifier| builder.formula(expr, quantifier == Quantifier::Each);
            let own = condition_of(condition, *quantifier);
            let others: Vec<(Formula, Span)> =
                same.iter().map(|(expr, quantifier, span)| (condition_of(expr, *quantifier), *span)).collect();
            let clash = others.iter().find(|(other, _)| {
                impossible(&builder.subjects, &[&own, other])
                    && !impossible(&builder.subjects, &[&own])
                    && !impossible(&builder.subjects, &[other])
            });
            if let Some((_, other)) = clash {
                let line = context.sources.position(*other).line;
                let message = format!("no {} can meet this and line {line}", step.text);
                context.report(
                    Diagnostic::new(Slug::Contradictory, assertion.span, message)
                        .other(*other, "this says the opposite")
                        .help("both hold only on runs without one: change one of them"),
                );
            }
            same.push((condition, *quantifier, assertion.span));
        }
    }
}

/// `lower(x) == "Yes"`: text in lower case is never equal to text with capitals.
pub fn letter_case(context: &mut Context<'_>) {
    let module = &context.checked.module;
    let mut found = Vec::new();
    for expr in super::course::expressions(module) {
        super::course::each_expr(expr, &mut |one| found.extend(wrong_case(one)));
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn wrong_case(expr: &Expr) -> Option<Diagnostic> {
    let ExprKind::Test(tested) = &expr.kind else { return None };
    let kinds = [TestKind::Equal, TestKind::Contains, TestKind::StartsWith, TestKind::EndsWith, TestKind::Identical];
    let ValueTest::Plain(kind) = tested.kind else { return None };
    let (ExprKind::Builtin(function, _), Some(operand)) = (&tested.subject.kind, tested.operand.as_deref()) else {
        return None;
    };
    let ExprKind::Constant(Constant::Text(text)) = &operand.kind else { return None };
    let (turned, case) = match *function {
        "lower" => (text.to_lowercase(), "lower"),
        "upper" => (text.to_uppercase(), "upper"),
        _ => return None,
    };
    if turned == *text || !kinds.contains(&kind) {
        return None;
    }
    let always = if tested.negated { "always" } else { "never" };
    let message = format!("text in {case} case {always} passes this: `{text}` is in another case");
    // An escape in the text stays with the author.
    let diagnostic = Diagnostic::new(Slug::LetterCase, operand.span, message).help(format!("write `{turned}`"));
    Some(match text.chars().all(|letter| letter.is_alphanumeric() || letter == ' ') {
        true => diagnostic.fix(format!("write it in {case} case"), operand.span, format!("\"{turned}\"")),
        false => diagnostic,
    })
}
