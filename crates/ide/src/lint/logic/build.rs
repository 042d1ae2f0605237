//! Builds formulas from checked conditions.

use super::formula::{Formula, FormulaBounds, SubjectId, SubjectLiteral, SubjectTable, WitnessPlace};
use super::key;
use super::numbers::{IntervalEnd, NumberSet, exact_number};
use super::texts::{RegexPattern, TextSet, TextTest};
use super::values::ValueSet;
use averment_checker::ir::{CheckedModule, Constant, ExprKind, LocalId, Type, TypedExpr, TypedTest, ValueTest};
use averment_checker::walk;
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};
use std::rc::Rc;

/// Maximum nesting of expanded definitions.
const DEPTH: usize = 8;

/// Builds formulas over shared subjects.
pub struct FormulaBuilder<'m> {
    /// The module with the regular expressions and definitions.
    pub module: &'m CheckedModule,
    /// The subjects of the formulas.
    pub subjects: SubjectTable,
    /// The subject of a `count`.
    pub counted: Option<SubjectId>,
    depth: usize,
}

impl<'m> FormulaBuilder<'m> {
    /// Creates a builder without subjects.
    #[must_use]
    pub fn new(module: &'m CheckedModule) -> Self {
        Self { module, subjects: SubjectTable::default(), counted: None, depth: 0 }
    }

    /// Returns the bounds of a condition: of an assertion, or of anything else that has to be true.
    pub fn condition_bounds(&mut self, expr: &TypedExpr) -> FormulaBounds {
        let possible = self.build_formula(expr, true);
        // A value that is not a boolean makes the whole assertion fail, whatever the other parts are.
        let certain = if may_fault(expr, self.module, DEPTH) { Formula::Known(false) } else { possible.clone() };
        FormulaBounds { possible, certain }
    }

    /// Returns a formula for where an expression is true (`wanted`) or false.
    pub fn build_formula(&mut self, expr: &TypedExpr, wanted: bool) -> Formula {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
            ExprKind::Not(inner) => self.build_formula(inner, !wanted),
            ExprKind::Binary(BinaryOperator::And, left, right) => self.join_sides(left, right, wanted, wanted),
            ExprKind::Binary(BinaryOperator::Or, left, right) => self.join_sides(left, right, wanted, !wanted),
            ExprKind::Binary(BinaryOperator::Implies, left, right) | ExprKind::Exercised(left, right) => {
                let parts = vec![self.build_formula(left, !wanted), self.build_formula(right, wanted)];
                if wanted { Formula::Or(parts) } else { Formula::And(parts) }
            }
            ExprKind::If(condition, then, otherwise) => {
                let (yes, no) = (self.build_formula(condition, true), self.build_formula(condition, false));
                let (then, otherwise) = (self.build_formula(then, wanted), self.build_formula(otherwise, wanted));
                Formula::Or(vec![Formula::And(vec![yes, then]), Formula::And(vec![no, otherwise])])
            }
            ExprKind::Constant(Constant::Boolean(value)) => Formula::Known(*value == wanted),
            ExprKind::Def(number, arguments) => self.definition_formula(expr, *number, arguments, wanted),
            ExprKind::Test(tested) => self.test_formula(expr, tested, wanted),
            ExprKind::Quantifier(quantifier, ..) if *quantifier != ExprQuantifier::Count => {
                self.opaque_formula(expr, wanted)
            }
            _ => self.boolean_formula(expr, wanted),
        })
    }

    fn join_sides(&mut self, left: &TypedExpr, right: &TypedExpr, wanted: bool, all: bool) -> Formula {
        let parts = vec![self.build_formula(left, wanted), self.build_formula(right, wanted)];
        if all { Formula::And(parts) } else { Formula::Or(parts) }
    }

    /// Returns a formula for a value used as a condition. Only booleans are true or false; missing is false.
    fn boolean_formula(&mut self, expr: &TypedExpr, wanted: bool) -> Formula {
        let values = if wanted {
            ValueSet { yes: true, ..ValueSet::empty_set() }
        } else {
            ValueSet { no: true, missing: true, ..ValueSet::empty_set() }
        };
        let fails = values.complement();
        let subject = self.expr_subject(expr);
        Formula::Literal(SubjectLiteral { subject, holds: Rc::new(values), fails: Rc::new(fails) })
    }

    /// Returns a formula for a test that is not analyzed: it is true or false, with one value wherever it occurs.
    pub fn opaque_formula(&mut self, expr: &TypedExpr, wanted: bool) -> Formula {
        self.unknown_formula(format!("?{}", key::expr_key(expr)), wanted)
    }

    /// Returns a formula for an unknown boolean.
    pub fn unknown_formula(&mut self, key: String, wanted: bool) -> Formula {
        let subject = self.subjects.intern_subject(key, ValueSet::boolean_set, || WitnessPlace::Nowhere);
        let yes = Rc::new(ValueSet { yes: true, ..ValueSet::empty_set() });
        let no = Rc::new(ValueSet { no: true, ..ValueSet::empty_set() });
        let (holds, fails) = if wanted { (yes, no) } else { (no, yes) };
        Formula::Literal(SubjectLiteral { subject, holds, fails })
    }

    /// Expands a call of a definition, if no variables of its arguments can be captured.
    fn definition_formula(&mut self, expr: &TypedExpr, number: u32, arguments: &[TypedExpr], wanted: bool) -> Formula {
        let def = self.module.defs.get(number as usize).filter(|_| self.depth < DEPTH);
        let has_locals = |one: &TypedExpr| averment_checker::any_kind(one, &|kind| matches!(kind, ExprKind::Local(_)));
        match def {
            Some(def) if !arguments.iter().any(has_locals) => {
                let mut body = def.body.clone();
                substitute_arguments(&mut body, arguments);
                self.depth = self.depth.saturating_add(1);
                let formula = self.build_formula(&body, wanted);
                self.depth = self.depth.saturating_sub(1);
                formula
            }
            _ => self.boolean_formula(expr, wanted),
        }
    }

    /// Returns a formula for a test. Its negation is its exact complement.
    fn test_formula(&mut self, expr: &TypedExpr, tested: &TypedTest, wanted: bool) -> Formula {
        let positive = wanted != tested.negated;
        if let Some((holds, fails)) = self.tested_values(tested) {
            let subject = self.expr_subject(&tested.subject);
            let literal = SubjectLiteral { subject, holds: Rc::new(holds), fails: Rc::new(fails) };
            let formula = Formula::Literal(literal);
            return if positive { formula } else { formula.negated() };
        }
        if let Some(formula) = self.comparison_formula(tested) {
            return if positive { formula } else { formula.negated() };
        }
        let positive_form = TypedTest { negated: false, ..tested.clone() };
        let plain = TypedExpr { kind: ExprKind::Test(positive_form), ..expr.clone() };
        self.opaque_formula(&plain, positive)
    }

    /// Returns the values that pass the positive test, and those that fail; `None` if the test can only be treated as a whole.
    fn tested_values(&self, tested: &TypedTest) -> Option<(ValueSet, ValueSet)> {
        if has_wildcard(&tested.subject) || computes_truth(&tested.subject, self.module) {
            return None;
        }
        let holds = match (tested.kind, tested.operand.as_deref()) {
            (ValueTest::IsType(ty), _) => return type_values(ty),
            (ValueTest::Plain(TestKind::IsMissing), _) => ValueSet { missing: true, ..ValueSet::empty_set() },
            (ValueTest::Plain(TestKind::Exists), _) => ValueSet { missing: true, ..ValueSet::empty_set() }.complement(),
            (ValueTest::Plain(TestKind::IsEmpty), _) => ValueSet {
                missing: true,
                null: true,
                texts: TextSet::Only([String::new()].into()),
                lists: [true, false],
                objects: [true, false],
                ..ValueSet::empty_set()
            },
            (ValueTest::Plain(kind), Some(operand)) => return self.operand_values(kind, operand),
            _ => return None,
        };
        let fails = holds.complement();
        Some((holds, fails))
    }

    fn operand_values(&self, kind: TestKind, operand: &TypedExpr) -> Option<(ValueSet, ValueSet)> {
        let exactly = |holds: ValueSet| {
            let fails = holds.complement();
            Some((holds, fails))
        };
        let order = |low: Option<bool>, high: Option<bool>| {
            let ExprKind::Constant(Constant::Number(text)) = &operand.kind else { return None };
            let at = exact_number(text)?;
            let end = |closed| IntervalEnd { at, closed };
            exactly(ValueSet::from_numbers(NumberSet::between(low.map(end), high.map(end))))
        };
        match kind {
            TestKind::Equal => exactly(constant_values(operand)?),
            TestKind::Less => order(None, Some(false)),
            TestKind::LessOrEqual => order(None, Some(true)),
            TestKind::Greater => order(Some(false), None),
            TestKind::GreaterOrEqual => order(Some(true), None),
            TestKind::In => match &operand.kind {
                ExprKind::Range(..) => exactly(range_values(operand)?),
                ExprKind::List(items) => {
                    let all = items.iter().map(list_values).collect::<Option<Vec<_>>>()?;
                    exactly(ValueSet::union_of(&all))
                }
                ExprKind::Constant(Constant::List(items)) => {
                    let all = items.iter().map(constant_set).collect::<Option<Vec<_>>>()?;
                    exactly(ValueSet::union_of(&all))
                }
                _ => None,
            },
            TestKind::Contains => match &operand.kind {
                ExprKind::Constant(Constant::Text(text)) => {
                    Some(text_test_values(TextTest::Contains(text.clone()), true))
                }
                ExprKind::Regex(number) => Some(text_test_values(self.regex_test(*number)?, false)),
                _ => None,
            },
            TestKind::ContainsIgnoringCase => {
                let ExprKind::Constant(Constant::Text(text)) = &operand.kind else { return None };
                Some(text_test_values(TextTest::ContainsIgnoringCase(text.to_lowercase()), true))
            }
            TestKind::StartsWith | TestKind::EndsWith => {
                let ExprKind::Constant(Constant::Text(text)) = &operand.kind else { return None };
                let text = text.clone();
                let starts = kind == TestKind::StartsWith;
                Some(text_test_values(if starts { TextTest::Starts(text) } else { TextTest::Ends(text) }, false))
            }
            TestKind::Matches => {
                let ExprKind::Regex(number) = operand.kind else { return None };
                Some(text_test_values(self.regex_test(number)?, false))
            }
            _ => None,
        }
    }

    fn regex_test(&self, number: u32) -> Option<TextTest> {
        let regex = self.module.regexes.get(number as usize).filter(|regex| !regex.backtracks)?;
        RegexPattern::new(&regex.pattern, &regex.text).map(|pattern| TextTest::Matches(Rc::new(pattern)))
    }

    /// Compares two paths. Their relation is a subject of its own (-1, 0 or 1; `null` if incomparable).
    fn comparison_formula(&mut self, tested: &TypedTest) -> Option<Formula> {
        let ValueTest::Plain(kind) = tested.kind else { return None };
        let operand = tested.operand.as_deref()?;
        let (left, right) = (key::expr_key(&tested.subject), key::expr_key(operand));
        let turned = left > right;
        let signs: &[f64] = match kind {
            TestKind::Equal => &[0.0],
            TestKind::Less => &[-1.0],
            TestKind::LessOrEqual => &[-1.0, 0.0],
            TestKind::Greater => &[1.0],
            TestKind::GreaterOrEqual => &[0.0, 1.0],
            _ => return None,
        };
        let numbers = signs.iter().fold(NumberSet::empty_set(), |sum, sign| {
            sum.union_with(&NumberSet::single_number(if turned { -sign } else { *sign }))
        });
        // Values without an order may still be equal: `true` represents equal ones, `null` unequal ones.
        let holds = ValueSet { yes: kind == TestKind::Equal, ..ValueSet::from_numbers(numbers) };
        let universe = || {
            let signs = [-1.0, 0.0, 1.0]
                .iter()
                .fold(NumberSet::empty_set(), |sum, sign| sum.union_with(&NumberSet::single_number(*sign)));
            ValueSet { null: true, yes: true, ..ValueSet::from_numbers(signs) }
        };
        let key = if turned { format!("{right} <> {left}") } else { format!("{left} <> {right}") };
        let subject = self.subjects.intern_subject(key, universe, || WitnessPlace::Nowhere);
        let fails = holds.complement();
        Some(Formula::Literal(SubjectLiteral { subject, holds: Rc::new(holds), fails: Rc::new(fails) }))
    }

    fn expr_subject(&mut self, expr: &TypedExpr) -> SubjectId {
        if let (ExprKind::Local(local), Some(counted)) = (&expr.kind, self.counted)
            && *local == LocalId::COUNT
        {
            return counted;
        }
        let universe = || match &expr.kind {
            ExprKind::Builtin("length", _) => {
                let numbers = NumberSet::between(Some(IntervalEnd { at: 0.0, closed: true }), None);
                ValueSet { missing: true, whole: true, ..ValueSet::from_numbers(numbers) }
            }
            ExprKind::Quantifier(ExprQuantifier::Count, ..) => {
                let numbers = NumberSet::between(Some(IntervalEnd { at: 0.0, closed: true }), None);
                ValueSet { missing: true, whole: true, ..ValueSet::from_numbers(numbers) }
            }
            _ => constant_values(expr).unwrap_or_else(ValueSet::full_set),
        };
        self.subjects.intern_subject(key::expr_key(expr), universe, || expr_place(expr))
    }
}

/// True if evaluating an expression may meet a non-boolean condition.
fn may_fault(expr: &TypedExpr, module: &CheckedModule, depth: usize) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
        ExprKind::Not(inner) => may_fault(inner, module, depth),
        ExprKind::Binary(BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies, left, right)
        | ExprKind::Exercised(left, right) => may_fault(left, module, depth) || may_fault(right, module, depth),
        ExprKind::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().any(|part| may_fault(part, module, depth))
        }
        ExprKind::Constant(Constant::Boolean(_)) => false,
        // Parts evaluated on the way to a test may fault too: a condition inside of a quantifier, a definition.
        ExprKind::Test(_) => averment_checker::any_kind(expr, &|kind| {
            matches!(
                kind,
                ExprKind::Quantifier(..)
                    | ExprKind::Def(..)
                    | ExprKind::If(..)
                    | ExprKind::Select(_)
                    | ExprKind::Collect(..)
            )
        }),
        ExprKind::Def(number, arguments) => match module.defs.get(*number as usize) {
            Some(def) if depth > 0 && arguments.is_empty() => may_fault(&def.body, module, depth.saturating_sub(1)),
            Some(def) if depth > 0 => may_fault(&def.body, module, depth.saturating_sub(1)),
            _ => true,
        },
        _ => true,
    })
}

fn substitute_arguments(body: &mut TypedExpr, arguments: &[TypedExpr]) {
    if let ExprKind::Local(local) = &body.kind
        && let Some(argument) = arguments.get(local.0 as usize)
    {
        *body = argument.clone();
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        averment_checker::children_mut(body, &mut |child| substitute_arguments(child, arguments));
    });
}

fn has_wildcard(expr: &TypedExpr) -> bool {
    averment_checker::any_kind(expr, &|kind| matches!(kind, ExprKind::Every(_) | ExprKind::Deep(_)))
}

/// True if a value is the outcome of a test, which keeps its explanation.
fn computes_truth(expr: &TypedExpr, module: &CheckedModule) -> bool {
    match &expr.kind {
        ExprKind::Let(number) => module.lets.get(*number as usize).is_none_or(|one| computes_truth(&one.value, module)),
        ExprKind::Test(_) | ExprKind::Not(_) | ExprKind::If(..) | ExprKind::Def(..) | ExprKind::Exercised(..) => true,
        ExprKind::Binary(operator, ..) => {
            matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies)
        }
        ExprKind::Quantifier(quantifier, ..) => *quantifier != ExprQuantifier::Count,
        _ => false,
    }
}

/// Returns the values that pass and fail a text test; with `parts`, lists and objects may also pass.
fn text_test_values(test: TextTest, parts: bool) -> (ValueSet, ValueSet) {
    let inside = if parts { [true; 2] } else { [false; 2] };
    let holds = ValueSet {
        texts: TextSet::full_set(),
        lists: [false, inside[1]],
        objects: [false, inside[1]],
        tests: vec![(test.clone(), true)],
        ..ValueSet::empty_set()
    };
    let fails = ValueSet { tests: vec![(test, false)], ..ValueSet::full_set() };
    (holds, fails)
}

fn type_values(ty: Type) -> Option<(ValueSet, ValueSet)> {
    let holds = match ty {
        Type::String => ValueSet::from_texts(TextSet::full_set()),
        Type::Number | Type::Duration | Type::Money | Type::Size => ValueSet::from_numbers(NumberSet::full_set()),
        Type::Integer => {
            let holds = ValueSet { whole: true, ..ValueSet::from_numbers(NumberSet::full_set()) };
            let fails = ValueSet { ..ValueSet::full_set() };
            return Some((holds, fails));
        }
        Type::Boolean => ValueSet::boolean_set(),
        Type::List => ValueSet { lists: [true; 2], ..ValueSet::empty_set() },
        Type::Object => ValueSet { objects: [true; 2], ..ValueSet::empty_set() },
        Type::Null => ValueSet { null: true, ..ValueSet::empty_set() },
        Type::Any => ValueSet { missing: true, ..ValueSet::empty_set() }.complement(),
        Type::Range | Type::Regex => return None,
    };
    let fails = holds.complement();
    Some((holds, fails))
}

fn constant_values(expr: &TypedExpr) -> Option<ValueSet> {
    match &expr.kind {
        ExprKind::Constant(constant) => constant_set(constant),
        ExprKind::Negate(inner) => match &inner.kind {
            ExprKind::Constant(Constant::Number(text)) => {
                Some(ValueSet::from_numbers(NumberSet::single_number(-exact_number(text)?)))
            }
            _ => None,
        },
        _ => None,
    }
}

fn constant_set(constant: &Constant) -> Option<ValueSet> {
    Some(match constant {
        Constant::Null => ValueSet { null: true, ..ValueSet::empty_set() },
        Constant::Boolean(true) => ValueSet { yes: true, ..ValueSet::empty_set() },
        Constant::Boolean(false) => ValueSet { no: true, ..ValueSet::empty_set() },
        Constant::Number(text) => ValueSet::from_numbers(NumberSet::single_number(exact_number(text)?)),
        Constant::Text(text) => ValueSet::from_texts(TextSet::Only([text.clone()].into())),
        Constant::List(_) | Constant::Object(_) => return None,
    })
}

fn list_values(expr: &TypedExpr) -> Option<ValueSet> {
    match &expr.kind {
        ExprKind::Range(..) => range_values(expr),
        _ => constant_values(expr),
    }
}

fn range_values(expr: &TypedExpr) -> Option<ValueSet> {
    let ExprKind::Range(start, end) = &expr.kind else { return None };
    let side = |one: &Option<Box<TypedExpr>>| match one {
        None => Some(None),
        Some(one) => match &one.kind {
            ExprKind::Constant(Constant::Number(text)) => {
                Some(Some(IntervalEnd { at: exact_number(text)?, closed: true }))
            }
            _ => None,
        },
    };
    Some(ValueSet::from_numbers(NumberSet::between(side(start)?, side(end)?)))
}

fn expr_place(expr: &TypedExpr) -> WitnessPlace {
    let (start, keys) = walk::key_path(expr);
    let with = |name: &str| std::iter::once(name.to_owned()).chain(keys).collect();
    match start {
        ExprKind::Root(name) => WitnessPlace::Run(with(name)),
        ExprKind::StepField(name) => WitnessPlace::Step(with(name.as_str())),
        _ => WitnessPlace::Nowhere,
    }
}
