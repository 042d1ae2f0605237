//! Conditions: the part of section 4 that step patterns need. `expression.rs` has the rest.

use crate::model::{ArgForm, Comparison, Condition, Operand, Path, Segment, Test};
use crate::run::{Found, Kind, Run, Step};
use crate::truth::{Truth, UNDECIDED, by_missing, sure};
use crate::value;
use serde_json::Value;
use std::cmp::Ordering;

/// Where names are looked up: the step first, then the run.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub run: &'a Run,
    pub step: Option<&'a Step>,
}

/// The value of a variable; `None` when it is not known here.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// The right side of a test, found.
enum Right {
    Value(Value),
    Range(Option<i64>, Option<i64>),
    Missing,
    Absent,
}

/// Follows the rest of a path inside present evidence.
pub fn follow(found: Found, rest: &[Segment]) -> Found {
    let Some((segment, rest)) = rest.split_first() else { return found };
    let Found::Value(value) = found else { return found };
    let next = match (segment, &value) {
        (Segment::Key(key), Value::Object(fields)) => fields.get(key).cloned(),
        (Segment::Index(index), Value::Array(items)) => {
            let place = if *index < 0 { *index + items.len() as i64 } else { *index };
            usize::try_from(place).ok().and_then(|place| items.get(place)).cloned()
        }
        _ => None,
    };
    next.map_or(Found::Missing, |next| follow(Found::Value(next), rest))
}

/// The names that a step of a kind shadows the run's names with.
fn names_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Call => &[
            "tool", "args", "result", "error", "ok", "status", "start", "end", "duration", "turn", "index", "id",
            "agent", "kind",
        ],
        Kind::Message => &["role", "text", "turn", "start", "index", "id", "agent", "kind"],
        Kind::Command => &[
            "command",
            "program",
            "args",
            "flags",
            "exit_code",
            "output",
            "ok",
            "status",
            "start",
            "end",
            "duration",
            "turn",
            "index",
            "id",
            "agent",
            "kind",
        ],
        Kind::Skill => &["name", "ok", "start", "end", "duration", "turn", "index", "id", "agent", "kind"],
        Kind::Http => {
            &["url", "method", "ok", "status", "start", "end", "duration", "turn", "index", "id", "agent", "kind"]
        }
        Kind::Span => {
            &["name", "attributes", "ok", "status", "start", "end", "duration", "turn", "index", "id", "agent", "kind"]
        }
        Kind::Read | Kind::Write => {
            &["path", "ok", "status", "start", "end", "duration", "turn", "index", "id", "agent", "kind"]
        }
    }
}

impl Scope<'_> {
    pub fn look_up(&self, path: &Path) -> Found {
        let rest = &path.0[1..];
        match self.step {
            _ if path.first() == "run" => match rest.split_first() {
                Some((Segment::Key(root), rest)) => follow(self.run.root(root), rest),
                _ => Found::Missing,
            },
            Some(step) if names_of(step.kind).contains(&path.first()) => follow(step.field(path.first()), rest),
            // What a step may have for itself.
            Some(step) if matches!(path.first(), "cost" | "usage" | "meta") => match step.field(path.first()) {
                Found::Missing => follow(self.run.root(path.first()), rest),
                own => follow(own, rest),
            },
            _ => follow(self.run.root(path.first()), rest),
        }
    }

    /// A left-hand path in a pattern's parentheses: in a call it starts at `args`, unless it names `args` or `result`.
    pub fn look_up_argument(&self, path: &Path) -> Found {
        match self.step {
            Some(step) if step.kind == Kind::Call && !matches!(path.first(), "args" | "result") => {
                self.look_up(&path.below("args"))
            }
            Some(step) => follow(step.field(path.first()), &path.0[1..]),
            None => self.look_up(path),
        }
    }
}

/// A test in a pattern's parentheses; bindings are the matcher's business.
pub fn argument_truth(form: &ArgForm, left: &Found, scope: Scope, variables: Variables) -> Truth {
    let test = match form {
        ArgForm::Is(value) => Test::Compare(Comparison::Eq, Operand::Literal(value.clone())),
        ArgForm::OneOf(values) => Test::In { list: Operand::Literal(Value::Array(values.clone())), negated: false },
        ArgForm::Range(from, to) => Test::In { list: Operand::Range(*from, *to), negated: false },
        ArgForm::Regex(regex) => Test::Matches { regex: regex.clone(), negated: false },
        ArgForm::Test(test) => test.clone(),
        ArgForm::Bind { .. } => unreachable!("a binding is no test"),
    };
    test_truth(&test, left, scope, variables)
}

pub fn condition_truth(condition: &Condition, scope: Scope, variables: Variables) -> Truth {
    let truth = |inner: &Condition| condition_truth(inner, scope, variables);
    match condition {
        Condition::Test(path, test) => test_truth(test, &scope.look_up(path), scope, variables),
        Condition::Bare(path) => match scope.look_up(path) {
            Found::Value(value) => sure(value == Value::Bool(true)),
            Found::Missing => by_missing(false),
            Found::Absent => UNDECIDED,
        },
        Condition::Not(inner) => truth(inner).not(),
        Condition::And(a, b) => truth(a).and(truth(b)),
        Condition::Or(a, b) => truth(a).or(truth(b)),
        Condition::Implies(a, b) => truth(a).not().or(truth(b)),
    }
}

fn right(operand: &Operand, scope: Scope, variables: Variables) -> Right {
    match operand {
        Operand::Literal(value) => Right::Value(value.clone()),
        Operand::Range(from, to) => Right::Range(*from, *to),
        Operand::Variable(name) => variables(name).map_or(Right::Absent, Right::Value),
        Operand::Path(path) => match scope.look_up(path) {
            Found::Value(value) => Right::Value(value),
            Found::Missing => Right::Missing,
            Found::Absent => Right::Absent,
        },
    }
}

/// A positive test on something missing is false, a negated one is true; `exists` and `is missing` look at it directly.
pub fn test_truth(test: &Test, left: &Found, scope: Scope, variables: Variables) -> Truth {
    if let Test::Exists { negated } | Test::Missing { negated } = test {
        let asks_presence = matches!(test, Test::Exists { .. });
        return match left {
            Found::Absent => UNDECIDED,
            Found::Missing => sure(*negated == asks_presence),
            Found::Value(_) => sure(*negated != asks_presence),
        };
    }
    let operand = match test {
        Test::Compare(_, operand) | Test::In { list: operand, .. } | Test::Contains { needle: operand, .. } => {
            right(operand, scope, variables)
        }
        _ => Right::Value(Value::Null),
    };
    let negated = negated(test);
    match (left, operand) {
        (Found::Missing, _) | (_, Right::Missing) => by_missing(negated),
        (Found::Absent, _) | (_, Right::Absent) => UNDECIDED,
        (Found::Value(left), right) => sure(positive(test, left, &right) != negated),
    }
}

pub fn negated(test: &Test) -> bool {
    match test {
        Test::Compare(comparison, _) => *comparison == Comparison::Ne,
        Test::In { negated, .. } | Test::Contains { negated, .. } | Test::StartsWith { negated, .. } => *negated,
        Test::Matches { negated, .. } | Test::Exists { negated } | Test::Missing { negated } => *negated,
    }
}

/// The test without its negation.
fn positive(test: &Test, left: &Value, right: &Right) -> bool {
    match (test, right) {
        (Test::Compare(comparison, _), Right::Value(right)) => compare(*comparison, left, right),
        (Test::In { .. }, Right::Range(from, to)) => in_range(left, *from, *to),
        (Test::In { .. }, Right::Value(list)) => contains(list, left),
        (Test::Contains { .. }, Right::Value(needle)) => contains(left, needle),
        (Test::StartsWith { text, .. }, _) => left.as_str().is_some_and(|left| left.starts_with(text.as_str())),
        (Test::Matches { regex, .. }, _) => left.as_str().is_some_and(|left| search(regex, left)),
        _ => false,
    }
}

pub fn search(regex: &str, text: &str) -> bool {
    regex::Regex::new(regex).expect("a generated regex is good").is_match(text)
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let order = value::order(left, right);
    match comparison {
        Comparison::Eq | Comparison::Ne => value::equal(left, right),
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn in_range(left: &Value, from: Option<i64>, to: Option<i64>) -> bool {
    let above = from.is_none_or(|from| compare(Comparison::Ge, left, &Value::from(from)));
    let below = to.is_none_or(|to| compare(Comparison::Le, left, &Value::from(to)));
    left.is_number() && above && below
}

/// A text contains a text, a list an element, an object a key.
pub fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Array(items), _) => items.iter().any(|item| value::equal(item, part)),
        (Value::Object(fields), Value::String(key)) => fields.contains_key(key),
        _ => false,
    }
}
