//! Expressions (section 4): their form and what they are worth, said plainly.

use crate::condition::follow;
use crate::expression_test::{is_of_values, looks_at_missing, negated, null_is_missing, plain_test};
use crate::model::{Comparison, Segment};
use crate::run::{Found, Run};
use crate::truth::{Truth, UNDECIDED, Verdict, by_missing, sure};
use crate::value::opened;
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
    /// `a[**]`: the rest of the path from the value and everything inside it.
    Deep(Box<Expr>, Vec<Segment>),
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
    /// `LIST where COND`: the element is `it`.
    Filtered(Box<Expr>, Box<Expr>),
    /// `E of LIST`.
    Mapped(Box<Expr>, Box<Expr>),
    /// What is known already.
    Given(Worth),
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
    /// What comes from a path that leads nowhere: an empty list behind `[*]`, or what was made of one.
    Nowhere(Value),
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
    match scope.asserted(expr) {
        Err(Unfit) => Verdict::Fail,
        Ok(truth) => truth.verdict(),
    }
}

/// A comparison of two values.
pub fn compare(run: &Run, left: Worth, comparison: Comparison, right: Worth) -> Truth {
    let test = TestKind::Compare(comparison, Box::new(Expr::Given(right)));
    let mut scope = Scope { run, variables: Vec::new() };
    scope.truth(&Expr::Test(Box::new(Expr::Given(left)), test)).unwrap_or(sure(false))
}

pub fn found(worth: Worth) -> Found {
    match worth {
        Worth::Value(value) | Worth::Nowhere(value) => Found::Value(value),
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
    /// An expression that is asserted as a whole: where the premise of an implication does not hold, nothing exercised it.
    fn asserted(&mut self, expr: &Expr) -> Result<Truth> {
        match expr {
            Expr::Implies(premise, then) => match self.truth(premise)? {
                premise if premise.plain == Some(false) => Ok(by_missing(true)),
                premise => Ok(premise.not().or(self.truth(then)?)),
            },
            other => self.truth(other),
        }
    }

    /// An expression as a condition.
    fn truth(&mut self, expr: &Expr) -> Result<Truth> {
        match self.worth(expr)? {
            Worth::Truth(truth) => Ok(truth),
            Worth::Value(Value::Bool(answer)) => Ok(sure(answer)),
            Worth::Missing | Worth::Value(Value::Null) => Ok(by_missing(false)),
            Worth::Absent => Ok(UNDECIDED),
            _ => Err(Unfit),
        }
    }

    fn worth(&mut self, expr: &Expr) -> Result<Worth> {
        Ok(match expr {
            Expr::Literal(value) => Worth::Value(value.clone()),
            Expr::Given(worth) => worth.clone(),
            Expr::Filtered(list, condition) => self.filtered(list, condition)?,
            Expr::Mapped(value, list) => self.mapped(value, list)?,
            Expr::List(items) => self.list(items)?,
            Expr::Name(name) => self.name(name),
            Expr::Field(of, key) => self.step_into(of, Segment::Key(key.clone()))?,
            Expr::Item(of, index) => self.step_into(of, Segment::Index(*index))?,
            Expr::Every(of, rest) => every(found(self.worth(of)?), rest),
            Expr::Deep(of, rest) => match found(self.worth(of)?) {
                Found::Value(value) => many(each(inside(&value), rest)),
                other => worth(other),
            },
            Expr::Arithmetic(operator, a, b) => {
                let (a, b) = (self.worth(a)?, self.worth(b)?);
                let nowhere = matches!(a, Worth::Nowhere(_)) || matches!(b, Worth::Nowhere(_));
                marked_if(nowhere, arithmetic(*operator, a, b))
            }
            Expr::Negative(a) => {
                let a = self.worth(a)?;
                marked_if(matches!(a, Worth::Nowhere(_)), arithmetic(Operator::Subtract, Worth::Value(json!(0)), a))
            }
            Expr::Range(from, to) => self.range(from.as_deref(), to.as_deref())?,
            Expr::Test(subject, test) => Worth::Truth(self.test(subject, test)?),
            Expr::Not(a) => Worth::Truth(self.truth(a)?.not()),
            Expr::And(a, b) => Worth::Truth(match self.truth(a)? {
                decided if decided == sure(false) => decided,
                left => left.and(self.truth(b)?),
            }),
            Expr::Or(a, b) => Worth::Truth(match self.truth(a)? {
                decided if decided == sure(true) => decided,
                left => left.or(self.truth(b)?),
            }),
            Expr::Implies(a, b) => Worth::Truth(match self.truth(a)?.not() {
                decided if decided == sure(true) => decided,
                left => left.or(self.truth(b)?),
            }),
            Expr::If(condition, then, otherwise) => Worth::Truth(self.conditional(condition, then, otherwise)?),
            Expr::Quantifier(kind, variable, list, body) => self.quantifier(*kind, variable, list, body)?,
            Expr::Length(of) => match self.worth(of)? {
                Worth::Value(Value::String(text)) => Worth::Value(json!(text.chars().count())),
                Worth::Value(Value::Array(items)) => Worth::Value(json!(items.len())),
                Worth::Nowhere(Value::Array(items)) => Worth::Nowhere(json!(items.len())),
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

    /// One branch where the condition is sure; otherwise what the condition gives, or what both branches agree on.
    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Result<Truth> {
        match self.truth(condition)? {
            decided if decided == sure(true) => self.truth(then),
            decided if decided == sure(false) => self.truth(otherwise),
            condition => {
                let (a, b) = (self.truth(then)?, self.truth(otherwise)?);
                Ok(condition.and(a).or(condition.not().and(b)).or(a.and(b)))
            }
        }
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
                    Worth::Value(Value::Number(number)) | Worth::Nowhere(Value::Number(number)) => Some(number),
                    Worth::Absent => return Ok(Worth::Absent),
                    _ => return Ok(Worth::Missing),
                },
            });
        }
        Ok(Worth::Range(ends[0].clone(), ends[1].clone()))
    }

    /// The elements of a list, or the values of an object.
    fn elements(&mut self, list: &Expr) -> Result<std::result::Result<Vec<Value>, Worth>> {
        Ok(match found(self.worth(list)?) {
            Found::Missing | Found::Value(Value::Null) => Err(Worth::Missing),
            Found::Absent => Err(Worth::Absent),
            Found::Value(value) => match opened(value) {
                Value::Array(items) => Ok(items),
                Value::Object(fields) => Ok(fields.values().cloned().collect()),
                _ => return Err(Unfit),
            },
        })
    }

    fn filtered(&mut self, list: &Expr, condition: &Expr) -> Result<Worth> {
        let items = match self.elements(list)? {
            Ok(items) => items,
            Err(nothing) => return Ok(nothing),
        };
        let (mut kept, mut truths) = (Vec::new(), Vec::new());
        for item in items {
            self.variables.push(("it", Worth::Value(item.clone())));
            let truth = self.truth(condition);
            self.variables.pop();
            let truth = truth?;
            truths.push(truth);
            kept.extend((truth.plain == Some(true)).then_some(item));
        }
        Ok(match () {
            () if truths.iter().any(|truth| truth.plain.is_none()) => Worth::Absent,
            () if truths.iter().all(|truth| truth.is_by_missing()) => Worth::Nowhere(Value::Array(kept)),
            () => Worth::Value(Value::Array(kept)),
        })
    }

    fn mapped(&mut self, value: &Expr, list: &Expr) -> Result<Worth> {
        let items = match self.elements(list)? {
            Ok(items) => items,
            Err(nothing) => return Ok(nothing),
        };
        let mut values = Vec::new();
        for item in items {
            self.variables.push(("it", Worth::Value(item)));
            let of = self.worth(value);
            self.variables.pop();
            match found(of?) {
                Found::Missing => {}
                Found::Absent => return Ok(Worth::Absent),
                Found::Value(value) => values.push(value),
            }
        }
        Ok(many(values))
    }

    fn quantifier(&mut self, kind: QuantifierKind, variable: &'static str, list: &Expr, body: &Expr) -> Result<Worth> {
        let source = self.worth(list)?;
        let nowhere = matches!(source, Worth::Nowhere(_));
        let source = match source {
            Worth::Value(value) => Worth::Value(opened(value)),
            other => other,
        };
        let items = match source {
            Worth::Value(Value::Array(items)) | Worth::Nowhere(Value::Array(items)) => items,
            Worth::Value(Value::Object(fields)) => fields.values().cloned().collect(),
            Worth::Missing | Worth::Value(Value::Null) if kind == QuantifierKind::Count => return Ok(Worth::Missing),
            Worth::Missing | Worth::Value(Value::Null) => Vec::new(),
            Worth::Absent if kind == QuantifierKind::Count => return Ok(Worth::Absent),
            Worth::Absent => return Ok(Worth::Truth(UNDECIDED)),
            _ => return Err(Unfit),
        };
        let mut truths = Vec::new();
        for item in items {
            self.variables.push((variable, Worth::Value(item)));
            let truth = if kind == QuantifierKind::All { self.asserted(body) } else { self.truth(body) };
            self.variables.pop();
            truths.push(truth?);
            // What is decided ends the looking: one element decides it, and one was decided by what is there.
            let decides = |truth: &Truth| truth.plain == Some(kind != QuantifierKind::All);
            let decided = truths.iter().any(decides) && truths.iter().any(|truth| !truth.is_by_missing());
            if kind != QuantifierKind::Count && decided {
                break;
            }
        }
        Ok(match kind {
            // Nothing was looked at.
            QuantifierKind::All | QuantifierKind::Any | QuantifierKind::No if truths.is_empty() => {
                Worth::Truth(by_missing(kind != QuantifierKind::Any))
            }
            QuantifierKind::All => Worth::Truth(of_elements(&truths, sure(true), Truth::and)),
            QuantifierKind::Any => Worth::Truth(of_elements(&truths, sure(false), Truth::or)),
            QuantifierKind::No => Worth::Truth(of_elements(&truths, sure(false), Truth::or).not()),
            QuantifierKind::Count if truths.iter().any(|truth| truth.plain.is_none()) => Worth::Absent,
            QuantifierKind::Count => {
                let by_missing =
                    if truths.is_empty() { nowhere } else { truths.iter().all(|truth| truth.is_by_missing()) };
                let counted = Worth::Value(json!(truths.iter().filter(|truth| truth.plain == Some(true)).count()));
                marked_if(by_missing, counted)
            }
        })
    }

    // ---- Tests

    /// True if a path goes on by keys alone behind a value that has none.
    fn enters_no_keys(&mut self, path: &Expr) -> Result<bool> {
        let Expr::Field(base, _) = path else { return Ok(false) };
        Ok(match found(self.worth(base)?) {
            Found::Value(value) => !matches!(opened(value), Value::Object(_) | Value::Null),
            Found::Missing => self.enters_no_keys(base)?,
            Found::Absent => false,
        })
    }

    fn test(&mut self, subject: &Expr, test: &TestKind) -> Result<Truth> {
        let mut left = self.worth(subject)?;
        let leads_to_many = matches!(subject, Expr::Every(..) | Expr::Deep(..));
        let asks_presence =
            matches!(test, TestKind::Exists { .. } | TestKind::IsMissing { .. } | TestKind::IsEmpty { .. });
        if leads_to_many && asks_presence && matches!(&left, Worth::Nowhere(_)) {
            left = Worth::Missing;
        }
        if let Some(truth) = looks_at_missing(&left, test) {
            let nowhere = matches!(left, Worth::Missing) && self.enters_no_keys(subject)?;
            return Ok(truth.plain.filter(|_| nowhere).map_or(truth, by_missing));
        }
        let negated = negated(test);
        let right = match test {
            TestKind::Compare(_, right) | TestKind::Identical { right, .. } => self.worth(right)?,
            TestKind::In { list: right, .. } | TestKind::Contains { needle: right, .. } => self.worth(right)?,
            TestKind::ContainsShare(_, right) | TestKind::IContains(right) => self.worth(right)?,
            TestKind::StartsWith { text, .. } | TestKind::EndsWith { text, .. } => self.worth(text)?,
            _ => Worth::Value(Value::Null),
        };
        let nowhere = matches!(left, Worth::Nowhere(_)) || matches!(right, Worth::Nowhere(_));
        let is_type = matches!(test, TestKind::IsType { .. });
        Ok(match (found(left), right) {
            (Found::Missing, _) | (_, Worth::Missing) => by_missing(negated),
            (Found::Value(left), right) if null_is_missing(test, &left, &right) => by_missing(negated),
            (Found::Absent, Worth::Value(Value::Null)) if is_of_values(test) => by_missing(negated),
            (Found::Absent, _) | (_, Worth::Absent) => UNDECIDED,
            (Found::Value(left), right) => match plain_test(test, &left, &right) {
                Some(truth) => {
                    let truth = if negated { truth.not() } else { truth };
                    if nowhere && !is_type { Truth { sure: None, ..truth } } else { truth }
                }
                None => UNDECIDED,
            },
        })
    }
}

// ---- Paths and numbers

/// The answers for the elements of a list joined plainly; decided by something missing when each of them was.
fn of_elements(truths: &[Truth], start: Truth, join: fn(Truth, Truth) -> Truth) -> Truth {
    let plain = truths.iter().fold(start, |all, truth| join(all, Truth { sure: truth.plain, ..*truth }));
    if truths.iter().all(|truth| truth.is_by_missing()) { Truth { sure: None, ..plain } } else { plain }
}

/// A list of many places; without any it leads nowhere.
fn many(items: Vec<Value>) -> Worth {
    if items.is_empty() { Worth::Nowhere(Value::Array(items)) } else { Worth::Value(Value::Array(items)) }
}

fn marked_if(nowhere: bool, worth: Worth) -> Worth {
    match worth {
        Worth::Value(value) if nowhere => Worth::Nowhere(value),
        other => other,
    }
}

/// The rest of the path from every element of a list, or every value of an object.
fn every(of: Found, rest: &[Segment]) -> Worth {
    let of = match of {
        Found::Value(value) => Found::Value(opened(value)),
        other => other,
    };
    match of {
        Found::Value(Value::Array(items)) => many(each(items, rest)),
        Found::Value(Value::Object(fields)) => many(each(fields.into_iter().map(|(_, value)| value).collect(), rest)),
        Found::Absent => Worth::Absent,
        _ => Worth::Missing,
    }
}

/// A path from each of these; those without it are left out.
fn each(items: Vec<Value>, rest: &[Segment]) -> Vec<Value> {
    let values = items.into_iter().filter_map(|item| match follow(Found::Value(item), rest) {
        Found::Value(value) => Some(value),
        _ => None,
    });
    values.collect()
}

/// A value and everything inside it, in the order of the text.
fn inside(value: &Value) -> Vec<Value> {
    let held = opened(value.clone());
    let parts: Vec<&Value> = match &held {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    std::iter::once(value.clone()).chain(parts.into_iter().flat_map(inside)).collect()
}

/// An integer by value: `2.0` is one.
fn integer(number: &Number) -> Option<i64> {
    let whole = |real: f64| (real.fract() == 0.0 && real.abs() < 9e18).then_some(real as i64);
    number.as_i64().or_else(|| number.as_f64().and_then(whole))
}

/// A number with at most three digits behind the point, in thousandths.
fn thousandths(number: &Number) -> Option<i128> {
    let whole = |real: f64| (real.fract() == 0.0 && real.abs() < 9e15).then_some(real as i128);
    let integer = number.as_i64().map(|integer| i128::from(integer) * 1000);
    integer.or_else(|| whole(number.as_f64()? * 1000.0))
}

/// Numbers, exactly where they are integers. Everything else is missing, and so is what is divided by zero.
pub fn arithmetic(operator: Operator, a: Worth, b: Worth) -> Worth {
    let (a, b) = match (found(a), found(b)) {
        (Found::Value(Value::Number(a)), Found::Value(Value::Number(b))) => (a, b),
        (Found::Absent, Found::Absent | Found::Value(Value::Number(_)))
        | (Found::Value(Value::Number(_)), Found::Absent) => {
            return Worth::Absent;
        }
        _ => return Worth::Missing,
    };
    let whole = integer(&a).zip(integer(&b)).and_then(|(a, b)| match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => (b != 0 && a % b == 0).then(|| a / b),
        Operator::Remainder => a.checked_rem(b),
    });
    if let Some(whole) = whole {
        return Worth::Value(json!(whole));
    }
    if let (Operator::Remainder, Some(a), Some(b)) = (operator, thousandths(&a), thousandths(&b).filter(|b| *b != 0)) {
        return Worth::Value(json!((a % b) as f64 / 1000.0));
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
