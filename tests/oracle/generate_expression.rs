//! Expressions and the runs that they are about.

use crate::expression::{Expr, Operator, QuantifierKind, Share, TestKind};
use crate::generate_run::perhaps_in_text;
use crate::model::{Comparison, Segment};
use crate::source::Source;
use serde_json::{Map, Value, json};

/// A condition; variables of quantifiers around it are in scope.
pub fn condition(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    let deeper = usize::from(depth > 0);
    let two = |source: &mut Source| {
        (Box::new(condition(source, depth - 1, scope)), Box::new(condition(source, depth - 1, scope)))
    };
    if source.chance(4) {
        return any_value(source, 0, scope);
    }
    match source.weighted(&[12, 3 * deeper, 3 * deeper, deeper, 2 * deeper, deeper, 4 * deeper]) {
        0 => test(source, depth, scope),
        1 => {
            let (a, b) = two(source);
            Expr::And(a, b)
        }
        2 => {
            let (a, b) = two(source);
            Expr::Or(a, b)
        }
        3 => {
            let (a, b) = two(source);
            Expr::Implies(a, b)
        }
        4 => Expr::Not(Box::new(condition(source, depth - 1, scope))),
        5 => {
            let branch = |source: &mut Source| Box::new(test(source, depth - 1, scope));
            Expr::If(Box::new(condition(source, depth - 1, scope)), branch(source), branch(source))
        }
        _ => quantifier(source, depth, scope),
    }
}

fn quantifier(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    let variable = if scope.is_empty() { "x" } else { "y" };
    let inside: Vec<&'static str> = scope.iter().copied().chain([variable]).collect();
    let list = Box::new(list(source, scope));
    let body = Box::new(condition(source, depth - 1, &inside));
    match source.below(4) {
        0 => Expr::Quantifier(QuantifierKind::Any, variable, list, body),
        1 => Expr::Quantifier(QuantifierKind::All, variable, list, body),
        2 => Expr::Quantifier(QuantifierKind::No, variable, list, body),
        _ => {
            let count = Expr::Quantifier(QuantifierKind::Count, variable, list, body);
            let n = Expr::Literal(json!(source.below(3)));
            Expr::Test(Box::new(count), TestKind::Compare(comparison(source), Box::new(n)))
        }
    }
}

fn list(source: &mut Source, scope: &[&'static str]) -> Expr {
    if source.chance(12) {
        return made(source);
    }
    match source.below(7) {
        6 if source.chance(50) => {
            Expr::Every(Box::new(field("output", "items")), vec![Segment::Key(source.pick(&["p", "tags"]).to_owned())])
        }
        6 => field("output", source.pick(&["deep", "deep", "one"])),
        0 => field("output", "gone"),
        1 => field("output", "tags"),
        2 if !scope.is_empty() => field("x", "tags"),
        3 => field("meta", "items"),
        _ => field("output", "items"),
    }
}

/// `LIST where COND`, `E of LIST`: bare names in them are those of the element.
fn made(source: &mut Source) -> Expr {
    let from = match source.below(6) {
        0 => field("output", "gone"),
        1 => field("output", "tags"),
        2 => field("meta", "items"),
        _ => field("output", "items"),
    };
    let key = source.pick(&["p", "n", "tags", "gone"]);
    if source.chance(40) {
        return Expr::Mapped(Box::new(field("it", key)), Box::new(from));
    }
    let subject = if source.chance(20) { Expr::Name("it".to_owned()) } else { field("it", key) };
    let right = Box::new(literal(source));
    let test = match source.below(4) {
        0 => TestKind::Exists { negated: source.chance(30) },
        1 => TestKind::IsEmpty { negated: source.chance(30) },
        _ => TestKind::Compare(source.pick(&[Comparison::Eq, Comparison::Ne]), right),
    };
    let condition = Expr::Test(Box::new(subject), test);
    Expr::Filtered(Box::new(from), Box::new(condition))
}

fn field(root: &str, key: &str) -> Expr {
    Expr::Field(Box::new(Expr::Name(root.to_owned())), key.to_owned())
}

fn comparison(source: &mut Source) -> Comparison {
    use Comparison as C;
    source.pick(&[C::Eq, C::Ne, C::Lt, C::Le, C::Gt, C::Ge])
}

fn test(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    let negated = source.chance(35);
    let lowered = source.chance(6);
    let subject = match lowered {
        true => Box::new(Expr::Lower(Box::new(any_value(source, depth, scope)))),
        false => Box::new(any_path(source, depth, scope)),
    };
    let text = |source: &mut Source| Box::new(Expr::Literal(json!(source.pick(&["a", "b", "ab", "", "A"]))));
    let items = |source: &mut Source| {
        let count = source.below(4);
        Box::new(Expr::List((0..count).map(|_| literal(source)).collect()))
    };
    // What the checker knows the type of takes the tests of that type.
    let which = match &*subject {
        Expr::Lower(_) => source.pick(&[8, 9, 10, 11, 14, 15, 16]),
        Expr::Every(..) | Expr::Deep(..) => source.pick(&[6, 7, 14, 15, 16]),
        _ => source.below(17),
    };
    let test = match which {
        0 | 1 => {
            let left = Box::new(not_literal(source, depth, scope));
            let right = Box::new(number(source, depth, scope));
            return Expr::Test(left, TestKind::Compare(comparison(source), right));
        }
        2 => TestKind::Compare(if negated { Comparison::Ne } else { Comparison::Eq }, Box::new(literal(source))),
        3 => TestKind::Identical { right: Box::new(literal(source)), negated },
        4 => TestKind::In { list: items(source), negated },
        5 => {
            let end = |source: &mut Source, n: usize| Some(Box::new(Expr::Literal(json!(n + source.below(2)))));
            let ends = match source.below(3) {
                0 => (end(source, 1), end(source, 2)),
                1 => (None, end(source, 1)),
                _ => (end(source, 1), None),
            };
            TestKind::In { list: Box::new(Expr::Range(ends.0, ends.1)), negated }
        }
        6 => TestKind::Contains { needle: Box::new(literal(source)), negated },
        7 => TestKind::ContainsShare(source.pick(&[Share::All, Share::Any, Share::None]), items(source)),
        8 => TestKind::IContains(text(source)),
        9 => TestKind::StartsWith { text: text(source), negated },
        10 => TestKind::EndsWith { text: text(source), negated },
        11 => TestKind::Matches { regex: source.pick(&["a", "^b", "[0-9]", "a$"]), negated },
        12 => {
            let name = source.pick(&["string", "number", "integer", "boolean", "list", "object", "null"]);
            TestKind::IsType { name, negated }
        }
        13 => TestKind::IsJson { negated },
        14 => TestKind::IsEmpty { negated },
        15 => TestKind::IsMissing { negated },
        _ => TestKind::Exists { negated },
    };
    Expr::Test(subject, test)
}

fn literal(source: &mut Source) -> Expr {
    Expr::Literal(source.pick(&[json!(1), json!(1.0), json!("1"), json!("a"), json!(2), json!(true), Value::Null]))
}

/// Anything that the checker knows no type of.
fn any_value(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    match any_path(source, depth, scope) {
        // Known to be lists.
        Expr::Every(..) | Expr::Deep(..) => field("output", "one"),
        other => other,
    }
}

/// The same, or a path that leads to many values.
fn any_path(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    match source.weighted(&[10, 3, 2, 2, 1, 4 * scope.len().min(1)]) {
        0 => {
            field("output", source.pick(&["n", "m", "text", "tags", "items", "one", "gone", "nothing", "deep", "flag"]))
        }
        1 => field(source.pick(&["meta", "inputs"]), source.pick(&["n", "text", "items"])),
        2 => {
            let key = |key: &str| Segment::Key(key.to_owned());
            let first = || Segment::Index(0);
            let ways =
                [vec![key("p")], vec![key("t")], vec![], vec![key("tags")], vec![key("tags"), first()], vec![first()]];
            let key = source.pick(&["items", "items", "tags", "gone", "deep"]);
            let of = if source.chance(20) { field("meta", "items") } else { field("output", key) };
            Expr::Every(Box::new(of), source.pick(&ways))
        }
        3 => match list(source, scope) {
            Expr::Every(of, mut rest) => {
                rest.push(Segment::Index(-1));
                Expr::Every(of, rest)
            }
            of => Expr::Item(Box::new(of), source.pick(&[0, 1, -1])),
        },
        4 if depth > 0 => {
            let key = Segment::Key(source.pick(&["p", "q", "z"]).to_owned());
            Expr::Deep(Box::new(field("output", "deep")), vec![key])
        }
        4 => Expr::Field(Box::new(field("output", "deep")), "a b".to_owned()),
        _ => variable(source, scope),
    }
}

fn variable(source: &mut Source, scope: &[&'static str]) -> Expr {
    let name = source.pick(scope);
    match source.below(3) {
        0 => Expr::Name(name.to_owned()),
        _ => field(name, source.pick(&["p", "t", "ok"])),
    }
}

fn not_literal(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    match number(source, depth, scope) {
        Expr::Literal(_) => any_value(source, 0, scope),
        other => other,
    }
}

fn number(source: &mut Source, depth: usize, scope: &[&'static str]) -> Expr {
    use Operator as O;
    let deeper = usize::from(depth > 0);
    match source.weighted(&[6, 4, 4 * deeper, deeper, 2 * deeper]) {
        0 => any_value(source, 0, scope),
        1 => Expr::Literal(source.pick(&[
            json!(1),
            json!(2),
            json!(0),
            json!(2.5),
            json!(9_007_199_254_740_993_i64),
            json!(3),
        ])),
        2 => {
            let operator = source.pick(&[O::Add, O::Subtract, O::Multiply, O::Divide, O::Remainder]);
            let left = Box::new(not_literal(source, depth - 1, scope));
            Expr::Arithmetic(operator, left, Box::new(number(source, depth - 1, scope)))
        }
        3 => Expr::Negative(Box::new(any_value(source, 0, scope))),
        _ => Expr::Length(Box::new(any_value(source, 0, scope))),
    }
}

/// A run with an output to look at.
pub fn run(source: &mut Source) -> Value {
    let output = output(source);
    let mut run = object([("output", perhaps_in_text(source, 4, output)), ("calls", json!([]))]);
    for root in ["meta", "inputs"] {
        if source.chance(60) {
            let fields = [("n", scalar(source)), ("text", scalar(source)), ("items", items(source))];
            run[root] = object(fields.into_iter().filter(|_| source.chance(70)));
        }
    }
    run
}

fn scalar(source: &mut Source) -> Value {
    source.pick(&[
        json!(1),
        json!(2),
        json!(1.0),
        json!("1"),
        json!("a"),
        json!("ab"),
        json!(""),
        json!(true),
        json!(false),
        Value::Null,
        json!(2.5),
        json!(9_007_199_254_740_993_i64),
        json!([]),
        json!({}),
        json!("[1]"),
        json!(0),
        json!("B"),
    ])
}

fn items(source: &mut Source) -> Value {
    let count = source.below(4);
    let item = |source: &mut Source| {
        let tags: Vec<Value> = (0..source.below(3)).map(|_| scalar(source)).collect();
        let fields =
            [("p", scalar(source)), ("t", scalar(source)), ("ok", json!(source.chance(50))), ("tags", json!(tags))];
        object(fields.into_iter().filter(|_| source.chance(75)))
    };
    Value::Array((0..count).map(|_| item(source)).collect())
}

fn output(source: &mut Source) -> Value {
    let tags: Vec<Value> = (0..source.below(4)).map(|_| scalar(source)).collect();
    let fields = [
        ("n", scalar(source)),
        ("m", source.pick(&[json!(1), json!(2), json!(3)])),
        ("text", source.pick(&[json!("a"), json!("ba"), json!("Ab"), json!("")])),
        ("tags", json!(tags)),
        ("items", items(source)),
        ("one", scalar(source)),
        ("nothing", Value::Null),
        ("flag", json!(source.chance(50))),
        ("deep", json!({"p": 1, "a b": scalar(source), "in": [{"p": scalar(source)}, {"q": {"p": 2}}]})),
    ];
    let fields: Vec<_> = fields.into_iter().filter(|_| source.chance(85)).collect();
    object(fields.into_iter().map(|(key, value)| match value {
        Value::Array(_) | Value::Object(_) => (key, perhaps_in_text(source, 3, value)),
        other => (key, other),
    }))
}

/// An object of some fields.
fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(Map::from_iter(fields.into_iter().map(|(key, value)| (key.to_owned(), value))))
}
