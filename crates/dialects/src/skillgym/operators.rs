//! Operators, of values that are there without a run and of what is known of a run.

use super::eval::{number_text, plain_truth, whole, written};
use super::program::Program;
use super::value::{Item, Kind, Told, Value, open};
use crate::regex_flavour::javascript;
use crate::writer::{Binds, object_key, quoted};

impl Program<'_, '_> {
    pub(super) fn unary(&mut self, operator: &str, of: &Item) -> Value {
        match (operator, &of.value) {
            (_, Value::Open(why)) => Value::Open(why.clone()),
            ("!", _) => match (plain_truth(of), self.truth(of)) {
                (Some(truth), _) => Value::Bool(!truth),
                (None, Some(truth)) => Value::Told(not(&truth)),
                (None, None) => open("the opposite of what only a running program shows"),
            },
            ("-", Value::Number(number)) => Value::Number(-number),
            ("+", Value::Number(number)) => Value::Number(*number),
            ("+", Value::Told(told)) if matches!(told.kind, Kind::Number | Kind::Time) => of.value.clone(),
            ("typeof", Value::Told(told)) => Value::Told(Told::new(format!("type_of({})", told.text), Kind::Text)),
            _ => open("an operator on what only a running program shows"),
        }
    }

    pub(super) fn binary(&mut self, operator: &str, left: &Item, right: &Item) -> Value {
        if let (Value::Open(why), _) | (_, Value::Open(why)) = (&left.value, &right.value) {
            return Value::Open(why.clone());
        }
        if left.is_plain() && right.is_plain() {
            return self.plain(operator, left, right);
        }
        let told = match operator {
            "&&" | "||" => self.joined(operator, left, right),
            "??" => self.or_else(left, right),
            "===" | "==" | "!==" | "!=" => self.equal(left, right, operator.starts_with('=')),
            "<" | "<=" | ">" | ">=" => self.compared(operator, left, right),
            "+" | "-" | "*" | "/" | "%" => self.counted(operator, left, right),
            "in" => self.told(right).zip(left.text()).map(|(object, key)| {
                Told::bound(
                    format!("{}{} exists", object.inside(Binds::Closely), crate::writer::member(key)),
                    Binds::Test,
                    Kind::Truth,
                )
            }),
            _ => None,
        };
        told.map_or_else(|| open("an operator on what only a running program shows"), Value::Told)
    }

    /// An operator on values that are there without a run.
    fn plain(&mut self, operator: &str, left: &Item, right: &Item) -> Value {
        if operator == "+"
            && [left, right].iter().any(|item| item.text().is_some())
            && let (Some(one), Some(other)) = (written(left), written(right))
        {
            return self.long_text(one + &other);
        }
        if let (Some(one), Some(other)) = (left.number(), right.number()) {
            return match operator {
                "+" => Value::Number(one + other),
                "-" => Value::Number(one - other),
                "*" => Value::Number(one * other),
                "/" => Value::Number(one / other),
                "%" => Value::Number(one % other),
                "<" => Value::Bool(one < other),
                "<=" => Value::Bool(one <= other),
                ">" => Value::Bool(one > other),
                ">=" => Value::Bool(one >= other),
                "===" | "==" => Value::Bool(one == other),
                "!==" | "!=" => Value::Bool(one != other),
                _ => open("an operator on numbers"),
            };
        }
        match (operator, written(left), written(right)) {
            ("===" | "==", Some(one), Some(other)) => Value::Bool(one == other),
            ("!==" | "!=", Some(one), Some(other)) => Value::Bool(one != other),
            ("===" | "==", None, None) if left.is_nothing() && right.is_nothing() => Value::Bool(true),
            ("!==" | "!=", None, None) if left.is_nothing() && right.is_nothing() => Value::Bool(false),
            _ => open("an operator"),
        }
    }

    fn joined(&mut self, operator: &str, left: &Item, right: &Item) -> Option<Told> {
        let (word, binds) = if operator == "&&" { ("and", Binds::And) } else { ("or", Binds::Or) };
        let (left, right) = (self.truth(left)?, self.truth(right)?);
        let text = format!("{} {word} {}", left.inside(binds), right.inside(binds));
        Some(Told::bound(text, binds, Kind::Truth))
    }

    fn or_else(&mut self, left: &Item, right: &Item) -> Option<Told> {
        let (value, other) = (self.told(left)?, self.told(right)?);
        // What fails says why.
        if value.kind == Kind::Message {
            return Some(value);
        }
        let kind = value.kind;
        Some(Told::new(
            format!("(if {} exists then {} else {})", value.inside(Binds::Sum), value.text, other.text),
            kind,
        ))
    }

    /// Whether two values are the same: what is `undefined` is missing.
    pub(super) fn equal(&mut self, left: &Item, right: &Item, is: bool) -> Option<Told> {
        let (left, right) = if left.is_plain() { (right, left) } else { (left, right) };
        let told = self.told(left)?;
        let test = match &right.value {
            Value::Undefined | Value::Null => told.test(("is missing", "exists"), ""),
            _ => {
                let other = self.in_unit(right, told.kind)?;
                told.test(("==", "!="), &other.inside(Binds::Sum))
            }
        };
        Some(if is { test } else { not(&test) })
    }

    fn compared(&mut self, operator: &str, left: &Item, right: &Item) -> Option<Told> {
        let kind = [left, right].into_iter().find_map(|item| match &item.value {
            Value::Told(told) => Some(told.kind),
            _ => None,
        })?;
        let (left, right) = (self.in_unit(left, kind)?, self.in_unit(right, kind)?);
        let text = format!("{} {operator} {}", left.inside(Binds::Sum), right.inside(Binds::Sum));
        Some(Told::bound(text, Binds::Test, Kind::Truth))
    }

    fn counted(&mut self, operator: &str, left: &Item, right: &Item) -> Option<Told> {
        let is_sum = ["+", "-"].contains(&operator);
        let kind_of = |item: &Item| match &item.value {
            Value::Told(told) => Some(told.kind),
            _ => None,
        };
        let is_time = [left, right].into_iter().any(|item| kind_of(item) == Some(Kind::Time));
        let kind = if is_time { Kind::Time } else { Kind::Number };
        let is_text = [left, right].into_iter().any(|item| kind_of(item) == Some(Kind::Text) || item.text().is_some());
        if is_text {
            return None;
        }
        let unit = if is_sum { kind } else { Kind::Number };
        let (left, right) = (self.in_unit(left, unit)?, self.in_unit(right, unit)?);
        let binds = if is_sum { Binds::Sum } else { Binds::Product };
        let closer = if is_sum { Binds::Product } else { Binds::Closely };
        Some(Told::bound(format!("{} {operator} {}", left.inside(binds), right.inside(closer)), binds, kind))
    }

    /// A value beside one of a kind: a plain number beside a time is one of milliseconds.
    pub(super) fn in_unit(&mut self, item: &Item, kind: Kind) -> Option<Told> {
        match item.number().filter(|number| kind == Kind::Time && *number >= 0.0 && number.fract() == 0.0) {
            Some(number) => Some(Told::new(milliseconds(number), Kind::Time)),
            None => self.told(item),
        }
    }

    /// A value as an expression.
    pub(super) fn told(&mut self, item: &Item) -> Option<Told> {
        match &item.value {
            Value::Told(told) => Some(told.clone()),
            _ => plain_literal(item).map(|text| Told::new(text, kind_of(&item.value))),
        }
    }

    /// Whether a value counts as true, as a condition.
    pub(super) fn truth(&mut self, item: &Item) -> Option<Told> {
        let Value::Told(told) = &item.value else {
            return plain_truth(item).map(|truth| Told::new(truth.to_string(), Kind::Truth));
        };
        let value = told.inside(Binds::Sum);
        let text = match told.kind {
            Kind::Truth => return Some(told.clone()),
            Kind::Text | Kind::Message => format!("{value} exists and {value} != \"\""),
            Kind::Number | Kind::Time => {
                format!("{value} exists and {value} != {}", if told.kind == Kind::Time { "0ms" } else { "0" })
            }
            Kind::Any => format!("{value} exists and {value} not in [false, 0, \"\"]"),
            Kind::Commands | Kind::Calls | Kind::Reads | Kind::Skills | Kind::Texts => {
                return Some(Told::new("true", Kind::Truth));
            }
            _ => return None,
        };
        Some(Told::bound(text, Binds::And, Kind::Truth))
    }

    /// A regular expression as a literal; said where it is none.
    pub(super) fn regex(&mut self, item: &Item) -> Option<crate::regex_flavour::Literal> {
        let Value::Regex { pattern, flags } = &item.value else { return None };
        // A matcher begins at the front of the text each time, whatever `g` remembers.
        let flags: String = flags.chars().filter(|flag| *flag != 'g' && *flag != 'd').collect();
        let anchored = flags.contains('y').then(|| format!("^(?:{pattern})"));
        let flags = flags.replace('y', "");
        match javascript(anchored.as_deref().unwrap_or(pattern), &flags) {
            Ok(literal) => Some(literal),
            Err(unusable) => {
                self.not_read(
                    item.span,
                    &format!("`/{pattern}/{flags}`, a regular expression that cannot be said: {}", unusable.why),
                );
                None
            }
        }
    }
}

/// The opposite of a condition.
pub(super) fn not(truth: &Told) -> Told {
    if let Some(opposite) = &truth.opposite {
        let back = Some(truth.text.clone());
        return Told { opposite: back, ..Told::bound(opposite.as_str(), Binds::Test, Kind::Truth) };
    }
    let inside = truth.inside(Binds::Test);
    let text = format!("not {inside}");
    Told { opposite: Some(inside), ..Told::bound(text, Binds::Not, Kind::Truth) }
}

/// A time as the language writes it.
pub(super) fn milliseconds(number: f64) -> String {
    match whole(number) {
        Some(whole) if whole > 0 && whole % 60_000 == 0 => format!("{}m", whole / 60_000),
        Some(whole) if whole > 0 && whole % 1000 == 0 => format!("{}s", whole / 1000),
        _ => format!("{}ms", number_text(number)),
    }
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Text(_) => Kind::Text,
        Value::Number(_) => Kind::Number,
        Value::Bool(_) => Kind::Truth,
        _ => Kind::Any,
    }
}

/// A value that is there without a run, as a literal.
pub(super) fn plain_literal(item: &Item) -> Option<String> {
    Some(match &item.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number_text(*number),
        Value::Text(text) => quoted(text),
        Value::List(items) => {
            format!("[{}]", items.iter().map(plain_literal).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let entry = |(key, item): &(String, Item)| Some(format!("{}: {}", object_key(key), plain_literal(item)?));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}
