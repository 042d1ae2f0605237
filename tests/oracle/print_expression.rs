//! Expressions as text, in parentheses wherever a reader could wonder.

use crate::expression::{Expr, Operator, QuantifierKind, Share, TestKind};
use crate::model::{Comparison, Segment};

pub fn print(expr: &Expr) -> String {
    let inner = |expr: &Expr| match expr {
        Expr::Name(_) | Expr::Field(..) | Expr::Item(..) | Expr::Literal(_) | Expr::Length(_) | Expr::Lower(_) => {
            print(expr)
        }
        Expr::Every(..) | Expr::Deep(..) | Expr::List(_) => print(expr),
        _ => format!("({})", print(expr)),
    };
    match expr {
        Expr::Literal(value) => value.to_string(),
        Expr::List(items) => format!("[{}]", items.iter().map(print).collect::<Vec<_>>().join(", ")),
        Expr::Name(name) => name.clone(),
        Expr::Field(of, key) if key.contains(' ') => format!("{}[{key:?}]", inner(of)),
        Expr::Field(of, key) => format!("{}.{key}", inner(of)),
        Expr::Item(of, index) => format!("{}[{index}]", inner(of)),
        Expr::Every(of, rest) => format!("{}[*]{}", inner(of), segments(rest)),
        Expr::Deep(of, rest) => format!("{}[**]{}", inner(of), segments(rest)),
        Expr::Arithmetic(operator, a, b) => {
            let sign = match operator {
                Operator::Add => "+",
                Operator::Subtract => "-",
                Operator::Multiply => "*",
                Operator::Divide => "/",
                Operator::Remainder => "%",
            };
            format!("{} {sign} {}", inner(a), inner(b))
        }
        Expr::Negative(a) => format!("-{}", inner(a)),
        Expr::Range(from, to) => {
            let end = |end: &Option<Box<Expr>>| end.as_ref().map(|end| inner(end)).unwrap_or_default();
            format!("{}..{}", end(from), end(to))
        }
        Expr::Test(subject, test) => format!("{} {}", inner(subject), print_test(test, inner)),
        Expr::Not(a) => format!("not {}", inner(a)),
        Expr::And(a, b) => format!("{} and {}", inner(a), inner(b)),
        Expr::Or(a, b) => format!("{} or {}", inner(a), inner(b)),
        Expr::Implies(a, b) => format!("{} implies {}", inner(a), inner(b)),
        Expr::If(condition, then, otherwise) => {
            format!("if {} then {} else {}", inner(condition), inner(then), inner(otherwise))
        }
        Expr::Quantifier(kind, variable, list, body) => {
            let word = match kind {
                QuantifierKind::Any => "any",
                QuantifierKind::All => "all",
                QuantifierKind::No => "no",
                QuantifierKind::Count => "count",
            };
            format!("{word} {variable} in {}: {}", inner(list), print(body))
        }
        Expr::Filtered(list, condition) => format!("({} where {})", inner(list), print(condition)),
        Expr::Mapped(value, list) => format!("({} of {})", inner(value), inner(list)),
        Expr::Given(_) => unreachable!("nobody writes what is known already"),
        Expr::Length(of) => format!("length({})", print(of)),
        Expr::Lower(of) => format!("lower({})", print(of)),
    }
}

fn print_test(test: &TestKind, inner: impl Fn(&Expr) -> String) -> String {
    let not = |negated: bool, word: &str| if negated { format!("not {word}") } else { word.to_owned() };
    let is = |negated: bool, word: &str| if negated { format!("is not {word}") } else { format!("is {word}") };
    match test {
        TestKind::Compare(comparison, right) => {
            let sign = match comparison {
                Comparison::Eq => "==",
                Comparison::Ne => "!=",
                Comparison::Lt => "<",
                Comparison::Le => "<=",
                Comparison::Gt => ">",
                Comparison::Ge => ">=",
            };
            format!("{sign} {}", inner(right))
        }
        TestKind::Identical { right, negated } => format!("{} {}", if *negated { "!==" } else { "===" }, inner(right)),
        TestKind::In { list, negated } => format!(
            "{} {}",
            not(*negated, "in"),
            match &**list {
                Expr::Range(..) => print(list),
                other => inner(other),
            }
        ),
        TestKind::Contains { needle, negated } => format!("{} {}", not(*negated, "contains"), inner(needle)),
        TestKind::ContainsShare(share, list) => {
            let word = match share {
                Share::All => "all",
                Share::Any => "any",
                Share::None => "none",
            };
            format!("contains {word} {}", inner(list))
        }
        TestKind::IContains(needle) => format!("icontains {}", inner(needle)),
        TestKind::StartsWith { text, negated } => format!("{} {}", not(*negated, "starts with"), inner(text)),
        TestKind::EndsWith { text, negated } => format!("{} {}", not(*negated, "ends with"), inner(text)),
        TestKind::Matches { regex, negated } => format!("{} /{regex}/", not(*negated, "matches")),
        TestKind::IsType { name, negated } => is(*negated, name),
        TestKind::IsJson { negated } => is(*negated, "json"),
        TestKind::IsEmpty { negated } => is(*negated, "empty"),
        TestKind::IsMissing { negated } => is(*negated, "missing"),
        TestKind::Exists { negated } => not(*negated, "exists"),
    }
}

fn segments(rest: &[Segment]) -> String {
    let segment = |segment: &Segment| match segment {
        Segment::Key(key) => format!(".{key}"),
        Segment::Index(index) => format!("[{index}]"),
    };
    rest.iter().map(segment).collect()
}
