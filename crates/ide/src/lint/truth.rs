//! What is always or never true, whatever the run.

use super::context::Context;
use super::logic::build::Builder;
use super::logic::formula::{Bounds, Formula};
use super::logic::solve::{impossible, impossible_with};
use super::logic::temporal::Assertions;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_engine::ir::{
    self, AsksOfRuns, Check, Constant, Expr, ExprKind, Operand, OverRuns, Pattern, Purpose, Share, Temporal, ValueTest,
};
use averment_syntax::ast::{BinaryOperator, TestKind};

/// Operands of one chain of `and` or `or` that are compared with each other.
const OPERANDS: usize = 16;

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
    for def in module.defs.iter().filter(|def| def.is_written) {
        let mut conditions = Conditions { module, found: Vec::new() };
        conditions.parts(&def.body);
        conditions.found.into_iter().for_each(|one| context.report(one));
    }
}

/// An assertion that can never hold, or never fail.
fn whole(module: &ir::Module, assertion: &ir::Assertion) -> Option<Diagnostic> {
    if let Check::OverRuns(over) = &assertion.check {
        return any_share(over).then(|| {
            Diagnostic::new(Slug::AlwaysTrue, assertion.span, "every share of the runs is enough: this can never fail")
                .help("write the share that you mean: `in at least 95% of runs: …`")
        });
    }
    let mut assertions = Assertions::new(module);
    let bounds = assertions.bounds(&assertion.check, &assertion.text);
    let facts = assertions.facts();
    let with = |formula: &Formula| impossible_with(&assertions.builder.subjects, &facts, &[formula]);
    if with(&bounds.possible) {
        let message = "this can never hold, whatever the run".to_owned();
        return Some(
            Diagnostic::new(Slug::Impossible, assertion.span, message)
                .help("no value passes all of its tests: change one of them"),
        );
    }
    if with(&bounds.certain.negated()) {
        let (slug, help) = match &assertion.check {
            Check::Temporal(Temporal::Count { .. } | Temporal::Require { .. }) => {
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

/// Whether any number of runs that pass is enough.
fn any_share(over: &OverRuns<Expr>) -> bool {
    let AsksOfRuns::Rate { share, .. } = over.asks else { return false };
    match share {
        Share::Least(share) | Share::Power { share, .. } => share <= 0.0,
        Share::Most(share) => share >= 1.0,
        Share::LeastOf { passes, .. } => passes == 0,
    }
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
            Check::Temporal(temporal) => self.temporal(temporal),
            Check::Not(inner) => self.check(inner),
            Check::Group { members, .. } => {
                for member in members {
                    member.when.iter().for_each(|when| self.condition(when));
                    self.check(&member.check);
                }
            }
            Check::Scoped { scope, body } => {
                scope.patterns().for_each(|pattern| self.pattern(pattern));
                self.check(body);
            }
            Check::World(_) | Check::OverRuns(_) => {}
        });
    }

    fn temporal(&mut self, temporal: &Temporal<Pattern, Expr>) {
        temporal.patterns().for_each(|pattern| self.pattern(pattern));
        for operand in temporal.operands() {
            match operand {
                Operand::Code(condition, Purpose::Condition) => self.condition(condition),
                Operand::Code(test, Purpose::Comparison) => self.parts(test),
                Operand::Code(_, Purpose::Predicate | Purpose::Value) | Operand::Pattern(_) | Operand::Within(_) => {}
            }
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
        } else if impossible(&builder.subjects, &[&certain.negated()]) {
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
            ExprKind::Binary(BinaryOperator::Implies, left, right) | ExprKind::Exercised(left, right) => {
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
            _ => averment_engine::check::children(expr, &mut |child| self.parts(child)),
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
        let opposites: Vec<Formula> = operands.iter().map(|one| builder.condition(one).certain.negated()).collect();
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

/// `lower(x) == "Yes"`: text in lower case is never equal to text with capitals.
pub fn letter_case(context: &mut Context<'_>) {
    let module = &context.checked.module;
    let mut found = Vec::new();
    for expr in super::temporal::expressions(module) {
        super::temporal::each_expr(expr, &mut |one| found.extend(wrong_case(one)));
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn wrong_case(expr: &Expr) -> Option<Diagnostic> {
    let ExprKind::Test(tested) = &expr.kind else { return None };
    let ValueTest::Plain(kind) = tested.kind else { return None };
    let (ExprKind::Builtin(function, _), Some(operand)) = (&tested.subject.kind, tested.operand.as_deref()) else {
        return None;
    };
    let ExprKind::Constant(constant) = &operand.kind else { return None };
    let texts = match (constant, kind) {
        (Constant::List(items), TestKind::In) => items.as_slice(),
        _ if TEXT_TESTS.contains(&kind) => std::slice::from_ref(constant),
        _ => return None,
    };
    let (text, turned) = texts.iter().find_map(|one| match one {
        Constant::Text(text) => Some((text, in_its_case(function, text)?)),
        _ => None,
    })?;
    let place = operand.span;
    let always = if tested.negated { "always" } else { "never" };
    let message = match *function {
        "weekday" => format!(
            "a weekday is `monday` to `sunday`, and `{text}` is {}",
            if tested.negated { "none" } else { "never one" }
        ),
        "upper" => format!("text in upper case {always} passes this: `{text}` is in another case"),
        _ => format!("text in lower case {always} passes this: `{text}` is in another case"),
    };
    // An escape in the text stays with the author, and so does a list.
    let diagnostic = Diagnostic::new(Slug::LetterCase, place, message).help(format!("write `{turned}`"));
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || letter == ' ');
    Some(match plain && kind != TestKind::In {
        true => diagnostic.fix(format!("write `{turned}`"), place, format!("\"{turned}\"")),
        false => diagnostic,
    })
}

/// Tests in which the case of letters counts.
const TEXT_TESTS: [TestKind; 5] =
    [TestKind::Equal, TestKind::Contains, TestKind::StartsWith, TestKind::EndsWith, TestKind::Identical];

/// A text as the function would write it, where it is written otherwise.
fn in_its_case(function: &str, text: &str) -> Option<String> {
    let turned = match function {
        "lower" | "weekday" => text.to_lowercase(),
        "upper" => text.to_uppercase(),
        _ => return None,
    };
    (turned != text).then_some(turned)
}
