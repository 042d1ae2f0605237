//! Conditions: the part of section 4 that step patterns need. `expression.rs` has the rest.

use crate::model::{ArgForm, Comparison, Condition, Operand, Path, Segment, Test};
use crate::run::{Found, Kind, Run, Step};
use crate::selection;
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
    let value = value::opened(value);
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
        Kind::Handover => &["to", "depth", "start", "turn", "index", "id", "agent", "kind"],
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

    /// True if a path goes on by keys alone behind a value that has none.
    fn enters_no_keys(&self, path: &Path) -> bool {
        let is_key = |segment: &Segment| matches!(segment, Segment::Key(_));
        let ends = (1..path.0.len()).filter(|end| path.0[*end..].iter().all(is_key));
        ends.into_iter().any(|end| match self.look_up(&Path(path.0[..end].to_vec())) {
            Found::Value(value) => !matches!(value::opened(value), Value::Object(_) | Value::Null),
            _ => false,
        })
    }

    fn argument_path(&self, path: &Path) -> Path {
        match self.step {
            Some(step) if step.kind == Kind::Call && !matches!(path.first(), "args" | "result") => path.below("args"),
            _ => path.clone(),
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
pub fn argument_truth(form: &ArgForm, path: &Path, scope: Scope, variables: Variables) -> Truth {
    let test = match form {
        ArgForm::Is(value) => Test::Compare(Comparison::Eq, Operand::Literal(value.clone())),
        ArgForm::OneOf(values) => Test::In { list: Operand::Literal(Value::Array(values.clone())), negated: false },
        ArgForm::Range(from, to) => Test::In { list: Operand::Range(*from, *to), negated: false },
        ArgForm::Regex(regex) => Test::Matches { regex: regex.clone(), negated: false },
        ArgForm::Test(test) => test.clone(),
        ArgForm::Bind { .. } => unreachable!("a binding is no test"),
    };
    let whole = scope.argument_path(path);
    presence_truth(&test, || scope.enters_no_keys(&whole), || scope.look_up_argument(path), scope, variables)
}

/// A condition that is asserted as a whole: where the premise of an implication does not hold, nothing exercised it.
pub fn asserted_truth(condition: &Condition, scope: Scope, variables: Variables) -> Truth {
    match condition {
        Condition::Implies(premise, then) => match condition_truth(premise, scope, variables) {
            premise if premise.plain == Some(false) => by_missing(true),
            premise => premise.not().or(condition_truth(then, scope, variables)),
        },
        other => condition_truth(other, scope, variables),
    }
}

pub fn condition_truth(condition: &Condition, scope: Scope, variables: Variables) -> Truth {
    let truth = |inner: &Condition| condition_truth(inner, scope, variables);
    match condition {
        Condition::Test(path, test) => {
            presence_truth(test, || scope.enters_no_keys(path), || scope.look_up(path), scope, variables)
        }
        Condition::Bare(path) => match scope.look_up(path) {
            Found::Value(Value::Null) | Found::Missing => by_missing(false),
            Found::Absent => UNDECIDED,
            Found::Value(value) => sure(value == Value::Bool(true)),
        },
        Condition::Selected(selected) => selection::truth(selected, scope, variables),
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

/// `exists` and `is missing` behind a value that has no keys are decided by something missing.
fn presence_truth(
    test: &Test,
    enters_no_keys: impl FnOnce() -> bool,
    left: impl FnOnce() -> Found,
    scope: Scope,
    variables: Variables,
) -> Truth {
    let left = left();
    let truth = test_truth(test, &left, scope, variables);
    let asks_presence = matches!(test, Test::Exists { .. } | Test::Missing { .. });
    match truth.plain {
        Some(answer) if asks_presence && matches!(left, Found::Missing) && enters_no_keys() => by_missing(answer),
        _ => truth,
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
        Test::Compare(_, operand)
        | Test::In { list: operand, .. }
        | Test::Contains { needle: operand, .. }
        | Test::Mentions { needle: operand, .. } => right(operand, scope, variables),
        _ => Right::Value(Value::Null),
    };
    let negated = negated(test);
    let null = |value: &Value| value.is_null() && !asks_for_equal(test, left, &operand);
    match (left, &operand) {
        (Found::Missing, _) | (_, Right::Missing) => by_missing(negated),
        (Found::Value(left), _) if null(left) => by_missing(negated),
        (_, Right::Value(right)) if has_right(test) && null(right) => by_missing(negated),
        (Found::Absent, _) | (_, Right::Absent) => UNDECIDED,
        (Found::Value(left), right) => {
            let truth = positive(test, left, right);
            if negated { truth.not() } else { truth }
        }
    }
}

fn has_right(test: &Test) -> bool {
    matches!(test, Test::Compare(..) | Test::In { .. } | Test::Contains { .. } | Test::Mentions { .. })
}

/// Where equality decides, `null` is a value like any other.
fn asks_for_equal(test: &Test, left: &Found, right: &Right) -> bool {
    match test {
        Test::Compare(comparison, _) => matches!(comparison, Comparison::Eq | Comparison::Ne),
        Test::In { .. } => matches!(right, Right::Value(Value::Array(_)) | Right::Absent),
        Test::Contains { .. } => matches!(left, Found::Value(Value::Array(_)) | Found::Absent),
        _ => false,
    }
}

pub fn negated(test: &Test) -> bool {
    match test {
        Test::Compare(comparison, _) => *comparison == Comparison::Ne,
        Test::In { negated, .. }
        | Test::Contains { negated, .. }
        | Test::Mentions { negated, .. }
        | Test::StartsWith { negated, .. } => *negated,
        Test::Matches { negated, .. } | Test::Exists { negated } | Test::Missing { negated } => *negated,
    }
}

/// The test without its negation.
fn positive(test: &Test, left: &Value, right: &Right) -> Truth {
    let text = |test: &dyn Fn(&str) -> bool| left.as_str().map_or(by_missing(false), |left| sure(test(left)));
    match (test, right) {
        (Test::Compare(comparison, _), Right::Value(right)) => compare(*comparison, left, right),
        (Test::In { .. }, Right::Range(from, to)) => in_range(left, *from, *to),
        (Test::In { .. }, Right::Value(list)) => value::is_in(left, list),
        (Test::Contains { .. }, Right::Value(needle)) => value::holds(left, needle),
        (Test::Mentions { .. }, Right::Value(needle)) => value::mentions(left, needle),
        (Test::StartsWith { text: start, .. }, _) => text(&|left| left.starts_with(start.as_str())),
        (Test::Matches { regex, .. }, _) => text(&|left| search(regex, left)),
        _ => by_missing(false),
    }
}

pub fn search(regex: &str, text: &str) -> bool {
    regex::Regex::new(regex).expect("a generated regex is good").is_match(text)
}

/// A comparison of two values that are there.
pub fn compare(comparison: Comparison, left: &Value, right: &Value) -> Truth {
    let order = value::fit_order(left, right);
    let ordered = |test: fn(Ordering) -> bool| order.map_or(by_missing(false), |order| sure(test(order)));
    match comparison {
        // `!=` is `==` with its answer turned round.
        Comparison::Eq | Comparison::Ne => value::equality(left, right, value::equal),
        Comparison::Lt => ordered(Ordering::is_lt),
        Comparison::Le => ordered(Ordering::is_le),
        Comparison::Gt => ordered(Ordering::is_gt),
        Comparison::Ge => ordered(Ordering::is_ge),
    }
}

fn in_range(left: &Value, from: Option<i64>, to: Option<i64>) -> Truth {
    if !left.is_number() {
        return by_missing(false);
    }
    let above = from.map_or(sure(true), |from| compare(Comparison::Ge, left, &Value::from(from)));
    let below = to.map_or(sure(true), |to| compare(Comparison::Le, left, &Value::from(to)));
    above.and(below)
}
