//! From checked conditions to formulas.

use super::formula::{Bounds, Formula, Literal, Place, Subject, Subjects};
use super::key;
use super::numbers::{End, Numbers, exact};
use super::texts::{Pattern, TextTest, Texts};
use super::values::Values;
use averment_engine::check::walk;
use averment_engine::ir::{Constant, Expr, ExprKind, Local, Module, Tested, Type, ValueTest};
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};
use std::rc::Rc;

/// Definitions inside each other that are looked into.
const DEPTH: usize = 8;

/// Builds formulas over common subjects.
pub struct Builder<'m> {
    /// Where regular expressions and definitions are looked up.
    pub module: &'m Module,
    /// What the formulas speak of.
    pub subjects: Subjects,
    /// What the number of a `count` stands for.
    pub counted: Option<Subject>,
    depth: usize,
}

impl<'m> Builder<'m> {
    /// A builder that knows no subject.
    #[must_use]
    pub fn new(module: &'m Module) -> Self {
        Self { module, subjects: Subjects::default(), counted: None, depth: 0 }
    }

    /// A condition; an assertion or anything else that is to be true.
    pub fn condition(&mut self, expr: &Expr) -> Bounds {
        let possible = self.formula(expr, true);
        // A value that is no boolean makes the whole assertion fail, whatever stands beside it.
        let certain = if may_fault(expr, self.module, DEPTH) { Formula::Known(false) } else { possible.clone() };
        Bounds { possible, certain }
    }

    /// Where an expression is true, or where it is false.
    pub fn formula(&mut self, expr: &Expr, wanted: bool) -> Formula {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
            ExprKind::Not(inner) => self.formula(inner, !wanted),
            ExprKind::Binary(BinaryOperator::And, left, right) => self.both(left, right, wanted, wanted),
            ExprKind::Binary(BinaryOperator::Or, left, right) => self.both(left, right, wanted, !wanted),
            ExprKind::Binary(BinaryOperator::Implies, left, right) | ExprKind::Exercised(left, right) => {
                let parts = vec![self.formula(left, !wanted), self.formula(right, wanted)];
                if wanted { Formula::Or(parts) } else { Formula::And(parts) }
            }
            ExprKind::If(condition, then, otherwise) => {
                let (yes, no) = (self.formula(condition, true), self.formula(condition, false));
                let (then, otherwise) = (self.formula(then, wanted), self.formula(otherwise, wanted));
                Formula::Or(vec![Formula::And(vec![yes, then]), Formula::And(vec![no, otherwise])])
            }
            ExprKind::Constant(Constant::Boolean(value)) => Formula::Known(*value == wanted),
            ExprKind::Def(number, arguments) => self.definition(expr, *number, arguments, wanted),
            ExprKind::Test(tested) => self.test(expr, tested, wanted),
            ExprKind::Quantifier(quantifier, ..) if *quantifier != ExprQuantifier::Count => self.opaque(expr, wanted),
            _ => self.value(expr, wanted),
        })
    }

    /// Two sides, each wanted the same way, joined by `and` where `all`.
    fn both(&mut self, left: &Expr, right: &Expr, wanted: bool, all: bool) -> Formula {
        let parts = vec![self.formula(left, wanted), self.formula(right, wanted)];
        if all { Formula::And(parts) } else { Formula::Or(parts) }
    }

    /// A value that is to be true or false by itself. Anything but a boolean is neither; missing is false.
    fn value(&mut self, expr: &Expr, wanted: bool) -> Formula {
        let values = if wanted {
            Values { yes: true, ..Values::none() }
        } else {
            Values { no: true, missing: true, ..Values::none() }
        };
        let fails = values.not();
        let subject = self.subject(expr);
        Formula::Literal(Literal { subject, holds: Rc::new(values), fails: Rc::new(fails) })
    }

    /// A test that is not looked into: it is true or false, and the same wherever it stands.
    pub fn opaque(&mut self, expr: &Expr, wanted: bool) -> Formula {
        self.unknown(format!("?{}", key::of_expr(expr)), wanted)
    }

    /// Something that is true or false.
    pub fn unknown(&mut self, key: String, wanted: bool) -> Formula {
        let subject = self.subjects.number(key, Values::booleans, || Place::Nowhere);
        let yes = Rc::new(Values { yes: true, ..Values::none() });
        let no = Rc::new(Values { no: true, ..Values::none() });
        let (holds, fails) = if wanted { (yes, no) } else { (no, yes) };
        Formula::Literal(Literal { subject, holds, fails })
    }

    /// A call of a definition: what it stands for, where its arguments have no variables that could be mixed up with its own.
    fn definition(&mut self, expr: &Expr, number: u32, arguments: &[Expr], wanted: bool) -> Formula {
        let def = self.module.defs.get(number as usize).filter(|_| self.depth < DEPTH);
        let has_locals = |one: &Expr| averment_engine::check::any(one, &|kind| matches!(kind, ExprKind::Local(_)));
        match def {
            Some(def) if !arguments.iter().any(has_locals) => {
                let mut body = def.body.clone();
                put_in(&mut body, arguments);
                self.depth = self.depth.saturating_add(1);
                let formula = self.formula(&body, wanted);
                self.depth = self.depth.saturating_sub(1);
                formula
            }
            _ => self.value(expr, wanted),
        }
    }

    /// A test. Its negation is its exact opposite.
    fn test(&mut self, expr: &Expr, tested: &Tested, wanted: bool) -> Formula {
        let positive = wanted != tested.negated;
        if let Some((holds, fails)) = self.tested_values(tested) {
            let subject = self.subject(&tested.subject);
            let literal = Literal { subject, holds: Rc::new(holds), fails: Rc::new(fails) };
            let formula = Formula::Literal(literal);
            return if positive { formula } else { formula.negated() };
        }
        if let Some(formula) = self.compared(tested) {
            return if positive { formula } else { formula.negated() };
        }
        let positive_form = Tested { negated: false, ..tested.clone() };
        let plain = Expr { kind: ExprKind::Test(positive_form), ..expr.clone() };
        self.opaque(&plain, positive)
    }

    /// The values that pass a test in its positive form and those that do not; `None` where only the whole test can be spoken of.
    fn tested_values(&self, tested: &Tested) -> Option<(Values, Values)> {
        if spreads(&tested.subject) || computes_truth(&tested.subject, self.module) {
            return None;
        }
        let holds = match (tested.kind, tested.operand.as_deref()) {
            (ValueTest::IsType(ty), _) => return of_type(ty),
            (ValueTest::Plain(TestKind::IsMissing), _) => Values { missing: true, ..Values::none() },
            (ValueTest::Plain(TestKind::Exists), _) => Values { missing: true, ..Values::none() }.not(),
            (ValueTest::Plain(TestKind::IsEmpty), _) => Values {
                missing: true,
                null: true,
                texts: Texts::Only([String::new()].into()),
                lists: [true, false],
                objects: [true, false],
                ..Values::none()
            },
            (ValueTest::Plain(kind), Some(operand)) => return self.with_operand(kind, operand),
            _ => return None,
        };
        let fails = holds.not();
        Some((holds, fails))
    }

    fn with_operand(&self, kind: TestKind, operand: &Expr) -> Option<(Values, Values)> {
        let exactly = |holds: Values| {
            let fails = holds.not();
            Some((holds, fails))
        };
        let order = |low: Option<bool>, high: Option<bool>| {
            let ExprKind::Constant(Constant::Number(text)) = &operand.kind else { return None };
            let at = exact(text)?;
            let end = |closed| End { at, closed };
            exactly(Values::of_numbers(Numbers::between(low.map(end), high.map(end))))
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
                    let all = items.iter().map(one_of).collect::<Option<Vec<_>>>()?;
                    exactly(all.iter().fold(Values::none(), |sum, one| sum.or(one)))
                }
                ExprKind::Constant(Constant::List(items)) => {
                    let all = items.iter().map(of_constant).collect::<Option<Vec<_>>>()?;
                    exactly(all.iter().fold(Values::none(), |sum, one| sum.or(one)))
                }
                _ => None,
            },
            TestKind::Contains => match &operand.kind {
                ExprKind::Constant(Constant::Text(text)) => Some(of_text_test(TextTest::Contains(text.clone()), true)),
                ExprKind::Regex(number) => Some(of_text_test(self.matches(*number)?, false)),
                _ => None,
            },
            TestKind::ContainsIgnoringCase => {
                let ExprKind::Constant(Constant::Text(text)) = &operand.kind else { return None };
                Some(of_text_test(TextTest::ContainsIgnoringCase(text.to_lowercase()), true))
            }
            TestKind::StartsWith | TestKind::EndsWith => {
                let ExprKind::Constant(Constant::Text(text)) = &operand.kind else { return None };
                let text = text.clone();
                let starts = kind == TestKind::StartsWith;
                Some(of_text_test(if starts { TextTest::Starts(text) } else { TextTest::Ends(text) }, false))
            }
            TestKind::Matches => {
                let ExprKind::Regex(number) = operand.kind else { return None };
                Some(of_text_test(self.matches(number)?, false))
            }
            _ => None,
        }
    }

    fn matches(&self, number: u32) -> Option<TextTest> {
        let regex = self.module.regexes.get(number as usize).filter(|regex| !regex.backtracks)?;
        Pattern::new(&regex.pattern, &regex.text).map(|pattern| TextTest::Matches(Rc::new(pattern)))
    }

    /// `a < b` of two paths: their relation is a subject of its own, -1, 0 or 1; `null` stands for values that have none.
    fn compared(&mut self, tested: &Tested) -> Option<Formula> {
        let ValueTest::Plain(kind) = tested.kind else { return None };
        let operand = tested.operand.as_deref()?;
        let (left, right) = (key::of_expr(&tested.subject), key::of_expr(operand));
        let turned = left > right;
        let signs: &[f64] = match kind {
            TestKind::Equal => &[0.0],
            TestKind::Less => &[-1.0],
            TestKind::LessOrEqual => &[-1.0, 0.0],
            TestKind::Greater => &[1.0],
            TestKind::GreaterOrEqual => &[0.0, 1.0],
            _ => return None,
        };
        let numbers =
            signs.iter().fold(Numbers::none(), |sum, sign| sum.or(&Numbers::one(if turned { -sign } else { *sign })));
        // Values without an order may still be equal: `null` stands for those that are not, `true` for those that are.
        let holds = Values { yes: kind == TestKind::Equal, ..Values::of_numbers(numbers) };
        let universe = || {
            let signs = [-1.0, 0.0, 1.0].iter().fold(Numbers::none(), |sum, sign| sum.or(&Numbers::one(*sign)));
            Values { null: true, yes: true, ..Values::of_numbers(signs) }
        };
        let key = if turned { format!("{right} <> {left}") } else { format!("{left} <> {right}") };
        let subject = self.subjects.number(key, universe, || Place::Nowhere);
        let fails = holds.not();
        Some(Formula::Literal(Literal { subject, holds: Rc::new(holds), fails: Rc::new(fails) }))
    }

    /// The number of what is tested.
    fn subject(&mut self, expr: &Expr) -> Subject {
        if let (ExprKind::Local(local), Some(counted)) = (&expr.kind, self.counted)
            && *local == Local::COUNT
        {
            return counted;
        }
        let universe = || match &expr.kind {
            ExprKind::Builtin("length", _) => {
                let numbers = Numbers::between(Some(End { at: 0.0, closed: true }), None);
                Values { missing: true, whole: true, ..Values::of_numbers(numbers) }
            }
            ExprKind::Quantifier(ExprQuantifier::Count, ..) => {
                let numbers = Numbers::between(Some(End { at: 0.0, closed: true }), None);
                Values { missing: true, whole: true, ..Values::of_numbers(numbers) }
            }
            _ => constant_values(expr).unwrap_or_else(Values::all),
        };
        self.subjects.number(key::of_expr(expr), universe, || place_of(expr))
    }
}

/// Whether evaluating an expression may meet a value that has to be a boolean and is none.
fn may_fault(expr: &Expr, module: &Module, depth: usize) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match &expr.kind {
        ExprKind::Not(inner) => may_fault(inner, module, depth),
        ExprKind::Binary(BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies, left, right)
        | ExprKind::Exercised(left, right) => may_fault(left, module, depth) || may_fault(right, module, depth),
        ExprKind::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().any(|part| may_fault(part, module, depth))
        }
        ExprKind::Constant(Constant::Boolean(_)) => false,
        // What is computed on the way to a test may fault too: a condition inside a quantifier, a definition.
        ExprKind::Test(_) => averment_engine::check::any(expr, &|kind| {
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

/// Puts the arguments of a call in the place of a definition's parameters.
fn put_in(body: &mut Expr, arguments: &[Expr]) {
    if let ExprKind::Local(local) = &body.kind
        && let Some(argument) = arguments.get(local.0 as usize)
    {
        *body = argument.clone();
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        averment_engine::check::children_mut(body, &mut |child| put_in(child, arguments));
    });
}

/// Whether a path goes through `[*]` or `[**]`.
fn spreads(expr: &Expr) -> bool {
    averment_engine::check::any(expr, &|kind| matches!(kind, ExprKind::Every(_) | ExprKind::Deep(_)))
}

/// Whether a value is the outcome of a test, which remembers why it is what it is.
fn computes_truth(expr: &Expr, module: &Module) -> bool {
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

/// The values that a test of a text passes and fails; `parts`: lists and objects may pass it as well.
fn of_text_test(test: TextTest, parts: bool) -> (Values, Values) {
    let inside = if parts { [true; 2] } else { [false; 2] };
    let holds = Values {
        texts: Texts::all(),
        lists: [false, inside[1]],
        objects: [false, inside[1]],
        tests: vec![(test.clone(), true)],
        ..Values::none()
    };
    let fails = Values { tests: vec![(test, false)], ..Values::all() };
    (holds, fails)
}

fn of_type(ty: Type) -> Option<(Values, Values)> {
    let holds = match ty {
        Type::String => Values::of_texts(Texts::all()),
        Type::Number | Type::Duration | Type::Money | Type::Size => Values::of_numbers(Numbers::all()),
        Type::Integer => {
            let holds = Values { whole: true, ..Values::of_numbers(Numbers::all()) };
            let fails = Values { ..Values::all() };
            return Some((holds, fails));
        }
        Type::Boolean => Values::booleans(),
        Type::List => Values { lists: [true; 2], ..Values::none() },
        Type::Object => Values { objects: [true; 2], ..Values::none() },
        Type::Null => Values { null: true, ..Values::none() },
        Type::Any => Values { missing: true, ..Values::none() }.not(),
        Type::Range | Type::Regex => return None,
    };
    let fails = holds.not();
    Some((holds, fails))
}

/// The values that equal a literal.
fn constant_values(expr: &Expr) -> Option<Values> {
    match &expr.kind {
        ExprKind::Constant(constant) => of_constant(constant),
        ExprKind::Negate(inner) => match &inner.kind {
            ExprKind::Constant(Constant::Number(text)) => Some(Values::of_numbers(Numbers::one(-exact(text)?))),
            _ => None,
        },
        _ => None,
    }
}

fn of_constant(constant: &Constant) -> Option<Values> {
    Some(match constant {
        Constant::Null => Values { null: true, ..Values::none() },
        Constant::Boolean(true) => Values { yes: true, ..Values::none() },
        Constant::Boolean(false) => Values { no: true, ..Values::none() },
        Constant::Number(text) => Values::of_numbers(Numbers::one(exact(text)?)),
        Constant::Text(text) => Values::of_texts(Texts::Only([text.clone()].into())),
        Constant::List(_) | Constant::Object(_) => return None,
    })
}

/// An element of the list behind `in`: a value, or a range of numbers.
fn one_of(expr: &Expr) -> Option<Values> {
    match &expr.kind {
        ExprKind::Range(..) => range_values(expr),
        _ => constant_values(expr),
    }
}

fn range_values(expr: &Expr) -> Option<Values> {
    let ExprKind::Range(start, end) = &expr.kind else { return None };
    let side = |one: &Option<Box<Expr>>| match one {
        None => Some(None),
        Some(one) => match &one.kind {
            ExprKind::Constant(Constant::Number(text)) => Some(Some(End { at: exact(text)?, closed: true })),
            _ => None,
        },
    };
    Some(Values::of_numbers(Numbers::between(side(start)?, side(end)?)))
}

/// Where a path leads in a run.
fn place_of(expr: &Expr) -> Place {
    let (start, keys) = walk::path(expr);
    let with = |name: &str| std::iter::once(name.to_owned()).chain(keys).collect();
    match start {
        ExprKind::Root(name) => Place::Run(with(name)),
        ExprKind::StepField(name) => Place::Step(with(name.as_str())),
        _ => Place::Nowhere,
    }
}
