//! A test of one value against a literal. Equal tests are made once in a run, however many assertions ask for them.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{Limits, Meter};
use averment_base::truth::Truth;
use averment_base::value::compare::{compare, equal, identical};
use averment_base::value::{Node, Number, Text, Value};
use averment_builtins::test;
use averment_engine::ir::Type;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::value_tests::{is_empty, settled};
use averment_syntax::ast::TestKind;
use averment_traces::facts::Field;
use memchr::memmem::Finder;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// What a value is taken from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Base {
    /// An entry of the run.
    Root(String),
    /// A field of the call in scope.
    Field(Field),
    /// The tool of the call in scope.
    Tool,
    /// Every call.
    Calls,
    /// The value that a predicate looks at.
    Value,
}

impl Base {
    /// A field of a step.
    pub(super) fn of_step(name: &str) -> Option<Self> {
        if name == "tool" { Some(Self::Tool) } else { Field::parse(name).map(Self::Field) }
    }
}

/// A value: where it is taken from, and by which way of keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    pub(super) base: Base,
    pub(super) way: Vec<String>,
}

/// Which test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Test {
    Compare(TestKind),
    Inspect(TestKind),
    Type(Type),
}

/// A literal.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Nothing,
    Null,
    Boolean(bool),
    /// With its value where it is a small whole number.
    Number(String, Option<i64>),
    /// With what finds it in texts.
    Text(String, Box<Finder<'static>>),
    List(Vec<Operand>),
    Regex(u32),
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) | (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Number(a, _), Self::Number(b, _)) | (Self::Text(a, _), Self::Text(b, _)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Operand {}

impl Hash for Operand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Nothing | Self::Null => {}
            Self::Boolean(value) => value.hash(state),
            Self::Number(text, _) | Self::Text(text, _) => text.hash(state),
            Self::List(items) => items.hash(state),
            Self::Regex(number) => number.hash(state),
        }
    }
}

impl Operand {
    pub(super) fn number(text: &str) -> Self {
        Self::Number(text.to_owned(), text.parse().ok().filter(|value: &i64| value.unsigned_abs() < 1 << 53))
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned(), Box::new(Finder::new(text).into_owned()))
    }

    /// The literal as a value; `None` for a list.
    fn value(&self) -> Option<Value<'_>> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Number(text, _) => Value::Number(Number::Written(text)),
            Self::Text(text, _) => Value::Text(Text::Plain(text)),
            Self::Regex(number) => Value::Regex(*number),
            Self::Nothing | Self::List(_) => return None,
        })
    }
}

/// A test of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Atom {
    pub(super) subject: Subject,
    pub(super) test: Test,
    pub(super) negated: bool,
    pub(super) operand: Operand,
}

impl Atom {
    /// A test, where it can be made here.
    pub(super) fn new(subject: Subject, test: Test, negated: bool, operand: Operand) -> Option<Self> {
        use TestKind as K;
        if subject.base == Base::Calls {
            return None;
        }
        let list = matches!(operand, Operand::List(_));
        let possible = match test {
            Test::Compare(K::In) => {
                matches!(&operand, Operand::List(items) if items.iter().all(|one| one.value().is_some()))
            }
            Test::Compare(
                K::Equal
                | K::Identical
                | K::Less
                | K::LessOrEqual
                | K::Greater
                | K::GreaterOrEqual
                | K::Contains
                | K::ContainsIgnoringCase
                | K::StartsWith
                | K::EndsWith
                | K::Matches,
            ) => !list,
            Test::Inspect(K::IsMissing | K::Exists | K::IsEmpty) | Test::Type(_) => true,
            _ => false,
        };
        possible.then_some(Self { subject, test, negated, operand })
    }

    /// What a text is searched for: a literal or a regular expression. Of anything but text it is plainly false.
    pub(super) fn searched(&self) -> Option<Searched<'_>> {
        match (self.test, &self.operand) {
            (Test::Compare(TestKind::Matches | TestKind::Contains), Operand::Regex(number)) => {
                Some(Searched::Regex(*number))
            }
            (Test::Compare(TestKind::Contains), Operand::Text(text, _)) => Some(Searched::Text(text)),
            _ => None,
        }
    }

    /// The test as a comparison of whole numbers, where it is one.
    pub(super) fn comparison(&self) -> Option<Comparison> {
        let (Test::Compare(kind), Operand::Number(_, Some(wanted))) = (self.test, &self.operand) else { return None };
        let order = order(kind)?;
        let holds = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(|one| order(one) != self.negated);
        Some(Comparison { wanted: *wanted, holds })
    }

    /// The truth of the test; `None` where it cannot be made here.
    pub(super) fn truth(&self, value: &Value<'_>, prepared: &Prepared) -> Option<Truth> {
        let truth = self.positive(value, prepared)?;
        Some(if self.negated { !truth } else { truth })
    }

    fn positive(&self, value: &Value<'_>, prepared: &Prepared) -> Option<Truth> {
        let decided = settled(&Node::computed(*value));
        match (self.test, decided) {
            (Test::Inspect(_), Some(Truth::Undecided)) => Some(Truth::Undecided),
            (Test::Inspect(kind), _) => {
                let gone = matches!(value, Value::Missing);
                Some(Truth::from_bool(match kind {
                    TestKind::IsMissing => gone,
                    TestKind::Exists => !gone,
                    _ => gone || is_empty(value),
                }))
            }
            (_, Some(truth)) => Some(truth),
            (Test::Type(ty), None) => Some(Truth::from_bool(test::has_type(value, ty))),
            (Test::Compare(kind), None) => Some(Truth::from_bool(self.compared(kind, value, prepared)?)),
        }
    }

    fn compared(&self, kind: TestKind, value: &Value<'_>, prepared: &Prepared) -> Option<bool> {
        if let (Some(order), Operand::Number(_, Some(wanted))) = (order(kind), &self.operand)
            && let Value::Number(Number::Written(text)) = value
            && let Some(number) = small(text)
        {
            return Some(order(number.cmp(wanted)));
        }
        if let Operand::List(items) = &self.operand {
            return Some(items.iter().filter_map(Operand::value).any(|item| equal(value, &item)));
        }
        let operand = self.operand.value()?;
        Some(match kind {
            TestKind::Equal => equal(value, &operand),
            TestKind::Identical => identical(value, &operand),
            TestKind::StartsWith => test::starts_with(value, &operand).unwrap_or(false),
            TestKind::EndsWith => test::ends_with(value, &operand).unwrap_or(false),
            TestKind::Matches | TestKind::Contains => self.contains(value, &operand, prepared)?,
            TestKind::ContainsIgnoringCase => {
                let mut meter = Meter::new(&Limits::default());
                test::contains_ignoring_case(value, &operand, &mut meter).ok()?.unwrap_or(false)
            }
            kind => compare(value, &operand).map(order(kind)?).unwrap_or(false),
        })
    }

    fn contains(&self, value: &Value<'_>, operand: &Value<'_>, prepared: &Prepared) -> Option<bool> {
        Some(match (value, &self.operand) {
            (Value::Text(text), Operand::Text(_, finder)) => finder.find(text.as_str().as_bytes()).is_some(),
            (Value::Text(text), Operand::Regex(number)) => prepared.regex(*number)?.is_match(text.as_str()),
            (_, Operand::Regex(_)) => false,
            _ => test::contains(value, operand, &mut Meter::new(&Limits::default())).ok()?.unwrap_or(false),
        })
    }
}

type Order = fn(Ordering) -> bool;

/// The test of an order.
fn order(kind: TestKind) -> Option<Order> {
    Some(match kind {
        TestKind::Less => Ordering::is_lt,
        TestKind::LessOrEqual => Ordering::is_le,
        TestKind::Greater => Ordering::is_gt,
        TestKind::GreaterOrEqual => Ordering::is_ge,
        _ => return None,
    })
}

/// A comparison of whole numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison {
    wanted: i64,
    /// Whether it holds for a number that is less, equal, greater.
    holds: [bool; 3],
}

impl Comparison {
    /// Whether it holds for a number.
    #[inline]
    pub(super) fn holds(self, number: i64) -> bool {
        let [less, equal, greater] = self.holds;
        match number.cmp(&self.wanted) {
            Ordering::Less => less,
            Ordering::Equal => equal,
            Ordering::Greater => greater,
        }
    }
}

/// A whole number of few digits.
pub(super) fn small(text: &str) -> Option<i64> {
    if text.len() > 15 { None } else { text.parse().ok() }
}

/// What a text is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Searched<'a> {
    Text(&'a str),
    Regex(u32),
}
