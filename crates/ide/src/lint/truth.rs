//! Lints for conditions that are always or never true, whatever the run.

use super::context::LintContext;
use super::logic::build::FormulaBuilder;
use super::logic::formula::{Formula, FormulaBounds};
use super::logic::solve::{is_impossible, is_impossible_with};
use super::logic::temporal::AssertionFormulas;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_checker::ir::{
    self, AssertionCheck, CheckedPattern, Constant, ExprKind, OperandPurpose, OverRunsCheck, OverRunsQuestion,
    RateBound, StatementOperand, Temporal, TypedExpr, ValueTest,
};
use averment_syntax::ast::{BinaryOperator, TestKind};

/// Maximum number of operands of one `and` or `or` chain that are compared.
const OPERANDS: usize = 16;

/// Checks each condition and each assertion on its own.
pub fn single_conditions(context: &mut LintContext<'_>) {
    let (module, root) = (&context.checked.module, context.root);
    for assertion in module.assertions.iter().filter(|one| one.span.file == root) {
        let mut conditions = ConditionChecker { module, found: Vec::new() };
        assertion.settings.when.iter().for_each(|when| conditions.inspect_condition(when));
        conditions.inspect_check(&assertion.check);
        let (inner, whole) = (conditions.found, assertion_truth(module, assertion));
        // A part that can never be true is a better explanation than the assertion that fails because of it.
        let spoilt = |one: &Diagnostic| one.slug != Slug::RedundantOperand;
        if !inner.iter().any(spoilt) {
            whole.into_iter().for_each(|one| context.report(one));
        }
        inner.into_iter().for_each(|one| context.report(one));
    }
    for def in module.defs.iter().filter(|def| def.is_written) {
        let mut conditions = ConditionChecker { module, found: Vec::new() };
        conditions.inspect_parts(&def.body);
        conditions.found.into_iter().for_each(|one| context.report(one));
    }
}

fn assertion_truth(module: &ir::CheckedModule, assertion: &ir::CheckedAssertion) -> Option<Diagnostic> {
    if let AssertionCheck::OverRuns(over) = &assertion.check {
        return any_share(over).then(|| {
            Diagnostic::new(Slug::AlwaysTrue, assertion.span, "every share of the runs is enough: this can never fail")
                .with_help("write the share that you mean: `in at least 95% of runs: …`")
        });
    }
    let mut assertions = AssertionFormulas::new(module);
    let bounds = assertions.assertion_bounds(&assertion.check, &assertion.text);
    let facts = assertions.known_clauses();
    let with = |formula: &Formula| is_impossible_with(&assertions.builder.subjects, &facts, &[formula]);
    if with(&bounds.possible) {
        let message = "this can never hold, whatever the run".to_owned();
        return Some(
            Diagnostic::new(Slug::Impossible, assertion.span, message)
                .with_help("no value passes all of its tests: change one of them"),
        );
    }
    if with(&bounds.certain.negated()) {
        let (slug, help) = match &assertion.check {
            AssertionCheck::Temporal(Temporal::Count { .. } | Temporal::Require { .. }) => {
                (Slug::CountAlwaysTrue, "any number passes: write the number that you mean")
            }
            _ => (Slug::AlwaysTrue, "no run can fail it: remove it, or test what was meant"),
        };
        let shown = (slug == Slug::CountAlwaysTrue).then(|| serde_json::json!({"calls": []}));
        return Some(
            Diagnostic::new(slug, assertion.span, "this can never fail, whatever the run")
                .with_help(help)
                .with_witness(shown.as_ref(), "passes"),
        );
    }
    None
}

fn any_share(over: &OverRunsCheck<TypedExpr>) -> bool {
    let OverRunsQuestion::Rate { share, .. } = over.asks else { return false };
    match share {
        RateBound::Least(share) | RateBound::Power { share, .. } => share <= 0.0,
        RateBound::Most(share) => share >= 1.0,
        RateBound::LeastOf { passes, .. } => passes == 0,
    }
}

struct ConditionChecker<'m> {
    module: &'m ir::CheckedModule,
    found: Vec<Diagnostic>,
}

impl ConditionChecker<'_> {
    fn inspect_check(&mut self, check: &AssertionCheck<CheckedPattern, TypedExpr>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match check {
            AssertionCheck::Expression(expr) => self.inspect_parts(expr),
            AssertionCheck::Temporal(temporal) => self.inspect_temporal(temporal),
            AssertionCheck::Not(inner) => self.inspect_check(inner),
            AssertionCheck::Group { members, .. } => {
                for member in members {
                    member.when.iter().for_each(|when| self.inspect_condition(when));
                    self.inspect_check(&member.check);
                }
            }
            AssertionCheck::Scoped { scope, body } => {
                scope.header_patterns().for_each(|pattern| self.inspect_pattern(pattern));
                self.inspect_check(body);
            }
            AssertionCheck::World(_) | AssertionCheck::OverRuns(_) => {}
        });
    }

    fn inspect_temporal(&mut self, temporal: &Temporal<CheckedPattern, TypedExpr>) {
        temporal.patterns().for_each(|pattern| self.inspect_pattern(pattern));
        for operand in temporal.operands() {
            match operand {
                StatementOperand::Code(condition, OperandPurpose::Condition) => self.inspect_condition(condition),
                StatementOperand::Code(test, OperandPurpose::Comparison) => self.inspect_parts(test),
                StatementOperand::Code(_, OperandPurpose::Predicate | OperandPurpose::Value)
                | StatementOperand::Pattern(_)
                | StatementOperand::Within(_) => {}
            }
        }
    }

    fn inspect_pattern(&mut self, pattern: &CheckedPattern) {
        for alternative in &pattern.alternatives {
            alternative.condition.iter().for_each(|condition| self.inspect_condition(condition));
        }
    }

    /// Checks a deciding condition, which must be able to be both true and false.
    fn inspect_condition(&mut self, expr: &TypedExpr) {
        if !self.report_constant(expr) {
            self.inspect_parts(expr);
        }
    }

    fn report_constant(&mut self, expr: &TypedExpr) -> bool {
        let mut builder = FormulaBuilder::new(self.module);
        let FormulaBounds { possible, certain } = builder.condition_bounds(expr);
        let message = if is_impossible(&builder.subjects, &[&possible]) {
            "this condition is never true"
        } else if is_impossible(&builder.subjects, &[&certain.negated()]) {
            "this condition is always true"
        } else {
            return false;
        };
        self.found.push(
            Diagnostic::new(Slug::ConstantCondition, expr.span, message)
                .with_help("no value makes a difference to it: change it, or leave it out"),
        );
        true
    }

    fn inspect_parts(&mut self, expr: &TypedExpr) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
            ExprKind::Not(inner) => self.inspect_parts(inner),
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                self.inspect_chain(expr, *operator)
            }
            ExprKind::Binary(BinaryOperator::Implies, left, right) | ExprKind::Exercised(left, right) => {
                self.inspect_condition(left);
                self.inspect_parts(right);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.inspect_condition(condition);
                self.inspect_parts(then);
                self.inspect_parts(otherwise);
            }
            ExprKind::Quantifier(_, _, source, body) => {
                self.inspect_parts(source);
                self.inspect_condition(body);
            }
            _ => averment_checker::visit_children(expr, &mut |child| self.inspect_parts(child)),
        });
    }

    /// Checks `a and b and c`: no part may be constant or follow from the others.
    fn inspect_chain(&mut self, expr: &TypedExpr, operator: BinaryOperator) {
        let operands = chain_operands(expr, operator);
        let before = self.found.len();
        for operand in &operands {
            // Nested chains of the other operator are checked separately.
            if !self.report_constant(operand) {
                self.inspect_parts(operand);
            }
        }
        if self.found.len() > before || operands.len() > OPERANDS {
            return;
        }
        let mut builder = FormulaBuilder::new(self.module);
        let formulas: Vec<Formula> = operands.iter().map(|one| builder.condition_bounds(one).possible).collect();
        let opposites: Vec<Formula> =
            operands.iter().map(|one| builder.condition_bounds(one).certain.negated()).collect();
        let all: Vec<&Formula> = formulas.iter().collect();
        if operator == BinaryOperator::And && is_impossible(&builder.subjects, &all) {
            // This is reported for the chain as a whole.
            return;
        }
        let others = if operator == BinaryOperator::And { &formulas } else { &opposites };
        let own = if operator == BinaryOperator::And { &opposites } else { &formulas };
        // If two operands are equivalent, the later one is redundant.
        for (index, (operand, own)) in operands.iter().zip(own).enumerate().rev() {
            let cause = others
                .iter()
                .enumerate()
                .find(|(other, formula)| *other != index && is_impossible(&builder.subjects, &[formula, own]));
            let Some((cause, _)) = cause else { continue };
            let Some(cause) = operands.get(cause) else { continue };
            let message = match operator {
                BinaryOperator::And => "this adds nothing: it holds wherever the other part does",
                _ => "this adds nothing: wherever it holds, the other part does",
            };
            self.found.push(
                Diagnostic::new(Slug::RedundantOperand, operand.span, message)
                    .with_other(cause.span, "the other part")
                    .with_help("leave it out"),
            );
            return;
        }
    }
}

fn chain_operands(expr: &TypedExpr, operator: BinaryOperator) -> Vec<&TypedExpr> {
    let (mut found, mut open) = (Vec::new(), vec![expr]);
    while let Some(one) = open.pop() {
        match &one.kind {
            ExprKind::Binary(own, left, right) if *own == operator => open.extend([&**right, &**left]),
            _ => found.push(one),
        }
    }
    found
}

/// Reports `lower(x) == "Yes"`: a lowercase text never equals a text with capitals.
pub fn letter_case(context: &mut LintContext<'_>) {
    let module = &context.checked.module;
    let mut found = Vec::new();
    for expr in super::temporal::module_expressions(module) {
        super::temporal::each_expr(expr, &mut |one| found.extend(wrong_case(one)));
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn wrong_case(expr: &TypedExpr) -> Option<Diagnostic> {
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
        Constant::Text(text) => Some((text, matching_case(function, text)?)),
        _ => None,
    })?;
    let place = operand.span;
    let always = if tested.negated { "always" } else { "never" };
    let message = match *function {
        "upper" => format!("text in upper case {always} passes this: `{text}` is in another case"),
        _ => format!("text in lower case {always} passes this: `{text}` is in another case"),
    };
    // A text with an escape, or a list, is left to the author.
    let diagnostic = Diagnostic::new(Slug::LetterCase, place, message).with_help(format!("write `{turned}`"));
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || letter == ' ');
    Some(match plain && kind != TestKind::In {
        true => diagnostic.with_fix(format!("write `{turned}`"), place, format!("\"{turned}\"")),
        false => diagnostic,
    })
}

const TEXT_TESTS: [TestKind; 5] =
    [TestKind::Equal, TestKind::Contains, TestKind::StartsWith, TestKind::EndsWith, TestKind::Identical];

/// Returns the text in the case that the function returns, if it differs.
fn matching_case(function: &str, text: &str) -> Option<String> {
    let turned = match function {
        "lower" => text.to_lowercase(),
        "upper" => text.to_uppercase(),
        _ => return None,
    };
    (turned != text).then_some(turned)
}
