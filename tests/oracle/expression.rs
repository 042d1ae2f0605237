//! Expressions (section 4): their form and what they are worth, said plainly.

use crate::condition::follow;
use crate::expression_test::{looks_at_missing, negated, plain_test};
use crate::model::{Comparison, Segment};
use crate::run::{Found, Run};
use crate::truth::{Truth, UNDECIDED, Verdict, by_missing, sure};
use serde_json::{Number, Value, json};

#[derive(Clone, Debug)]
pub enum Expr {
    Literal(Value),
    List(Vec<Expr>),
    /// A root of the run or a variable of a quantifier.
    Name(String),
    Field(Box<Expr>, String),
    Item(Box<Expr>, i64),
    /// `a[*]`: the rest of the path is taken from every element.
    Every(Box<Expr>, Vec<Segment>),
    /// `a[**].key`: at any depth.
    Deep(Box<Expr>, String),
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    Negative(Box<Expr>),
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
    Test(Box<Expr>, TestKind),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantifier(QuantifierKind, &'static str, Box<Expr>, Box<Expr>),
    Length(Box<Expr>),
    Lower(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantifierKind {
    Any,
    All,
    No,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    All,
    Any,
    None,
}

#[derive(Clone, Debug)]
pub enum TestKind {
    Compare(Comparison, Box<Expr>),
    /// `===` and `!==`.
    Identical {
        right: Box<Expr>,
        negated: bool,
    },
    In {
        list: Box<Expr>,
        negated: bool,
    },
    Contains {
        needle: Box<Expr>,
        negated: bool,
    },
    ContainsShare(Share, Box<Expr>),
    IContains(Box<Expr>),
    StartsWith {
        text: Box<Expr>,
        negated: bool,
    },
    EndsWith {
        text: Box<Expr>,
        negated: bool,
    },
    Matches {
        regex: &'static str,
        negated: bool,
    },
    IsType {
        name: &'static str,
        negated: bool,
    },
    IsJson {
        negated: bool,
    },
    IsEmpty {
        negated: bool,
    },
    IsMissing {
        negated: bool,
    },
    Exists {
        negated: bool,
    },
}

/// What an expression is worth.
#[derive(Clone, Debug)]
pub enum Worth {
    Value(Value),
    Missing,
    Absent,
    Truth(Truth),
    Range(Option<Number>, Option<Number>),
}

/// A value stands where a boolean or a list is needed: the assertion fails and says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit;

type Result<T> = std::result::Result<T, Unfit>;

/// Names in scope: variables of quantifiers, then the run.
pub struct Scope<'a> {
    pub run: &'a Run,
    pub variables: Vec<(&'static str, Worth)>,
}

/// The verdict of an expression as an assertion.
pub fn verdict(expr: &Expr, run: &Run) -> Verdict {
    let mut scope = Scope { run, variables: Vec::new() };
    match scope.truth(expr) {
        Err(Unfit) => Verdict::Fail,
        Ok(truth) => truth.verdict(),
    }
}

pub fn found(worth: Worth) -> Found {
    match worth {
        Worth::Value(value) => Found::Value(value),
        Worth::Missing => Found::Missing,
        Worth::Absent => Found::Absent,
        Worth::Truth(truth) => truth.plain.map_or(Found::Absent, |plain| Found::Value(json!(plain))),
        Worth::Range(..) => Found::Missing,
    }
}

fn worth(found: Found) -> Worth {
    match found {
        Found::Value(value) => Worth::Value(value),
        Found::Missing => Worth::Missing,
        Found::Absent => Worth::Absent,
    }
}

impl Scope<'_> {
    /// An expression as a condition.
    fn truth(&mut self, expr: &Expr) -> Result<Truth> {
        match self.worth(expr)? {
            Worth::Truth(truth) => Ok(truth),
            Worth::Value(Value::Bool(answer)) => Ok(sure(answer)),
            Worth::Missing => Ok(by_missing(false)),
            Worth::Absent => Ok(UNDECIDED),
            _ => Err(Unfit),
        }
    }

    fn worth(&mut self, expr: &Expr) -> Result<Worth> {
        Ok(match expr {
            Expr::Literal(value) => Worth::Value(value.clone()),
            Expr::List(items) => self.list(items)?,
            Expr::Name(name) => self.name(name),
            Expr::Field(of, key) => self.step_into(of, Segment::Key(key.clone()))?,
            Expr::Item(of, index) => self.step_into(of, Segment::Index(*index))?,
            Expr::Every(of, rest) => every(found(self.worth(of)?), rest),
            Expr::Deep(of, key) => deep(found(self.worth(of)?), key),
            Expr::Arithmetic(operator, a, b) => arithmetic(*operator, self.worth(a)?, self.worth(b)?),
            Expr::Negative(a) => arithmetic(Operator::Subtract, Worth::Value(json!(0)), self.worth(a)?),
            Expr::Range(from, to) => self.range(from.as_deref(), to.as_deref())?,
            Expr::Test(subject, test) => Worth::Truth(self.test(subject, test)?),
            Expr::Not(a) => Worth::Truth(self.truth(a)?.not()),
            Expr::And(a, b) => Worth::Truth(self.truth(a)?.and(self.truth(b)?)),
            Expr::Or(a, b) => Worth::Truth(self.truth(a)?.or(self.truth(b)?)),
            Expr::Implies(a, b) => Worth::Truth(self.truth(a)?.not().or(self.truth(b)?)),
            Expr::If(condition, then, otherwise) => match self.truth(condition)?.plain {
                Some(true) => self.worth(then)?,
                Some(false) => self.worth(otherwise)?,
                None => Worth::Absent,
            },
            Expr::Quantifier(kind, variable, list, body) => self.quantifier(*kind, variable, list, body)?,
            Expr::Length(of) => match self.worth(of)? {
                Worth::Value(Value::String(text)) => Worth::Value(json!(text.chars().count())),
                Worth::Value(Value::Array(items)) => Worth::Value(json!(items.len())),
                Worth::Value(Value::Object(fields)) => Worth::Value(json!(fields.len())),
                Worth::Absent => Worth::Absent,
                _ => Worth::Missing,
            },
            Expr::Lower(of) => match self.worth(of)? {
                Worth::Value(Value::String(text)) => Worth::Value(json!(text.to_lowercase())),
                Worth::Absent => Worth::Absent,
                _ => Worth::Missing,
            },
        })
    }

    fn list(&mut self, items: &[Expr]) -> Result<Worth> {
        let mut values = Vec::new();
        for item in items {
            match self.worth(item)? {
                Worth::Value(value) => values.push(value),
                _ => return Ok(Worth::Missing),
            }
        }
        Ok(Worth::Value(Value::Array(values)))
    }

    fn name(&self, name: &str) -> Worth {
        match self.variables.iter().rev().find(|(variable, _)| *variable == name) {
            Some((_, worth)) => worth.clone(),
            None => worth(self.run.root(name)),
        }
    }

    fn step_into(&mut self, of: &Expr, segment: Segment) -> Result<Worth> {
        Ok(worth(follow(found(self.worth(of)?), &[segment])))
    }

    fn range(&mut self, from: Option<&Expr>, to: Option<&Expr>) -> Result<Worth> {
        let mut ends = Vec::new();
        for end in [from, to] {
            ends.push(match end {
                None => None,
                Some(end) => match self.worth(end)? {
                    Worth::Value(Value::Number(number)) => Some(number),
                    Worth::Absent => return Ok(Worth::Absent),
                    _ => return Ok(Worth::Missing),
                },
            });
        }
        Ok(Worth::Range(ends[0].clone(), ends[1].clone()))
    }

    fn quantifier(&mut self, kind: QuantifierKind, variable: &'static str, list: &Expr, body: &Expr) -> Result<Worth> {
        let items = match self.worth(list)? {
            Worth::Value(Value::Array(items)) => items,
            Worth::Value(Value::Object(fields)) => fields.values().cloned().collect(),
            Worth::Missing if kind == QuantifierKind::Count => return Ok(Worth::Missing),
            Worth::Missing => return Ok(Worth::Truth(by_missing(kind == QuantifierKind::No))),
            Worth::Absent if kind == QuantifierKind::Count => return Ok(Worth::Absent),
            Worth::Absent => return Ok(Worth::Truth(UNDECIDED)),
            _ => return Err(Unfit),
        };
        let mut truths = Vec::new();
        for item in items {
            self.variables.push((variable, Worth::Value(item)));
            let truth = self.truth(body);
            self.variables.pop();
            truths.push(truth?);
        }
        Ok(match kind {
            QuantifierKind::All => Worth::Truth(truths.into_iter().fold(sure(true), Truth::and)),
            QuantifierKind::Any => Worth::Truth(truths.into_iter().fold(sure(false), Truth::or)),
            QuantifierKind::No => Worth::Truth(truths.into_iter().fold(sure(false), Truth::or).not()),
            QuantifierKind::Count if truths.iter().any(|truth| truth.plain.is_none()) => Worth::Absent,
            QuantifierKind::Count => {
                Worth::Value(json!(truths.iter().filter(|truth| truth.plain == Some(true)).count()))
            }
        })
    }

    // ---- Tests

    fn test(&mut self, subject: &Expr, test: &TestKind) -> Result<Truth> {
        let left = self.worth(subject)?;
        if let Some(truth) = looks_at_missing(&left, test) {
            return Ok(truth);
        }
        let negated = negated(test);
        let right = match test {
            TestKind::Compare(_, right) | TestKind::Identical { right, .. } => self.worth(right)?,
            TestKind::In { list: right, .. } | TestKind::Contains { needle: right, .. } => self.worth(right)?,
            TestKind::ContainsShare(_, right) | TestKind::IContains(right) => self.worth(right)?,
            TestKind::StartsWith { text, .. } | TestKind::EndsWith { text, .. } => self.worth(text)?,
            _ => Worth::Value(Value::Null),
        };
        Ok(match (found(left), right) {
            (Found::Missing, _) | (_, Worth::Missing) => by_missing(negated),
            (Found::Absent, _) | (_, Worth::Absent) => UNDECIDED,
            (Found::Value(left), right) => match plain_test(test, &left, &right) {
                Some(answer) => sure(answer != negated),
                None => UNDECIDED,
            },
        })
    }
}

// ---- Paths and numbers

/// The rest of the path from every element; an element without it is left out.
fn every(of: Found, rest: &[Segment]) -> Worth {
    let items = match of {
        Found::Value(Value::Array(items)) => items,
        Found::Absent => return Worth::Absent,
        _ => return Worth::Missing,
    };
    let values = items.into_iter().filter_map(|item| match follow(Found::Value(item), rest) {
        Found::Value(value) => Some(value),
        _ => None,
    });
    Worth::Value(Value::Array(values.collect()))
}

/// Every value under a key, at any depth, in the order of the text.
fn deep(of: Found, key: &str) -> Worth {
    fn gather(value: &Value, key: &str, out: &mut Vec<Value>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, inner)| {
                if name == key {
                    out.push(inner.clone());
                }
                gather(inner, key, out);
            }),
            Value::Array(items) => items.iter().for_each(|item| gather(item, key, out)),
            _ => {}
        }
    }
    match of {
        Found::Value(value) => {
            let mut out = Vec::new();
            gather(&value, key, &mut out);
            Worth::Value(Value::Array(out))
        }
        Found::Absent => Worth::Absent,
        Found::Missing => Worth::Missing,
    }
}

/// Numbers only; integers stay exact. Nothing else has a sum, and nothing is divided by zero: the result is missing.
fn arithmetic(operator: Operator, a: Worth, b: Worth) -> Worth {
    let (a, b) = match (found(a), found(b)) {
        (Found::Value(Value::Number(a)), Found::Value(Value::Number(b))) => (a, b),
        (Found::Value(_) | Found::Missing, Found::Value(_) | Found::Missing) => return Worth::Missing,
        (Found::Missing, _) | (_, Found::Missing) => return Worth::Missing,
        _ => return Worth::Absent,
    };
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => (b != 0 && a % b == 0).then(|| a / b),
        Operator::Remainder => a.checked_rem(b),
    });
    if let Some(whole) = whole {
        return Worth::Value(json!(whole));
    }
    let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
    let real = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Remainder => a % b,
    };
    Number::from_f64(real).map_or(Worth::Missing, |number| Worth::Value(Value::Number(number)))
}
