//! Operators, of values that are there without a run and of what is known of a run.

use super::eval::{number_text, plain_text, plain_truth, whole_number};
use super::program::SuiteProgram;
use super::value::{JsValue, LocatedValue, RunExpr, RunExprKind, open_value};
use crate::regex_flavour::translate_javascript;
use crate::writer::{BindingStrength, object_key, quote_text};

impl SuiteProgram<'_, '_> {
    pub(super) fn apply_unary(&mut self, operator: &str, of: &LocatedValue) -> JsValue {
        match (operator, &of.value) {
            (_, JsValue::RuntimeOnly(why)) => JsValue::RuntimeOnly(why.clone()),
            ("!", _) => match (plain_truth(of), self.truth_condition(of)) {
                (Some(truth), _) => JsValue::Bool(!truth),
                (None, Some(truth)) => JsValue::RunExpr(negate_condition(&truth)),
                (None, None) => open_value("the opposite of what only a running program shows"),
            },
            ("-", JsValue::Number(number)) => JsValue::Number(-number),
            ("+", JsValue::Number(number)) => JsValue::Number(*number),
            ("+", JsValue::RunExpr(told)) if matches!(told.kind, RunExprKind::Number | RunExprKind::Time) => {
                of.value.clone()
            }
            ("typeof", JsValue::RunExpr(told)) => {
                JsValue::RunExpr(RunExpr::new(format!("type_of({})", told.text), RunExprKind::Text))
            }
            _ => open_value("an operator on what only a running program shows"),
        }
    }

    pub(super) fn apply_binary(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> JsValue {
        if let (JsValue::RuntimeOnly(why), _) | (_, JsValue::RuntimeOnly(why)) = (&left.value, &right.value) {
            return JsValue::RuntimeOnly(why.clone());
        }
        if left.is_plain() && right.is_plain() {
            return self.apply_plain(operator, left, right);
        }
        let told = match operator {
            "&&" | "||" => self.join_conditions(operator, left, right),
            "??" => self.or_else(left, right),
            "===" | "==" | "!==" | "!=" => self.equality_test(left, right, operator.starts_with('=')),
            "<" | "<=" | ">" | ">=" => self.compare_values(operator, left, right),
            "+" | "-" | "*" | "/" | "%" => self.compare_count(operator, left, right),
            "in" => self.run_expression(right).zip(left.as_text()).map(|(object, key)| {
                RunExpr::with_binding(
                    format!(
                        "{}{} exists",
                        object.nested_text(BindingStrength::Closely),
                        crate::writer::member_path(key)
                    ),
                    BindingStrength::Test,
                    RunExprKind::Truth,
                )
            }),
            _ => None,
        };
        told.map_or_else(|| open_value("an operator on what only a running program shows"), JsValue::RunExpr)
    }

    fn apply_plain(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> JsValue {
        if operator == "+"
            && [left, right].iter().any(|item| item.as_text().is_some())
            && let (Some(one), Some(other)) = (plain_text(left), plain_text(right))
        {
            return self.long_text(one + &other);
        }
        if let (Some(one), Some(other)) = (left.as_number(), right.as_number()) {
            return match operator {
                "+" => JsValue::Number(one + other),
                "-" => JsValue::Number(one - other),
                "*" => JsValue::Number(one * other),
                "/" => JsValue::Number(one / other),
                "%" => JsValue::Number(one % other),
                "<" => JsValue::Bool(one < other),
                "<=" => JsValue::Bool(one <= other),
                ">" => JsValue::Bool(one > other),
                ">=" => JsValue::Bool(one >= other),
                "===" | "==" => JsValue::Bool(one == other),
                "!==" | "!=" => JsValue::Bool(one != other),
                _ => open_value("an operator on numbers"),
            };
        }
        match (operator, plain_text(left), plain_text(right)) {
            ("===" | "==", Some(one), Some(other)) => JsValue::Bool(one == other),
            ("!==" | "!=", Some(one), Some(other)) => JsValue::Bool(one != other),
            ("===" | "==", None, None) if left.is_nullish() && right.is_nullish() => JsValue::Bool(true),
            ("!==" | "!=", None, None) if left.is_nullish() && right.is_nullish() => JsValue::Bool(false),
            _ => open_value("an operator"),
        }
    }

    fn join_conditions(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        let (word, binds) = if operator == "&&" { ("and", BindingStrength::And) } else { ("or", BindingStrength::Or) };
        let (left, right) = (self.truth_condition(left)?, self.truth_condition(right)?);
        let text = format!("{} {word} {}", left.nested_text(binds), right.nested_text(binds));
        Some(RunExpr::with_binding(text, binds, RunExprKind::Truth))
    }

    fn or_else(&mut self, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        let (value, other) = (self.run_expression(left)?, self.run_expression(right)?);
        // What fails says why.
        if value.kind == RunExprKind::Message {
            return Some(value);
        }
        let kind = value.kind;
        Some(RunExpr::new(
            format!("(if {} exists then {} else {})", value.nested_text(BindingStrength::Sum), value.text, other.text),
            kind,
        ))
    }

    /// `undefined` counts as missing.
    pub(super) fn equality_test(&mut self, left: &LocatedValue, right: &LocatedValue, is: bool) -> Option<RunExpr> {
        let (left, right) = if left.is_plain() { (right, left) } else { (left, right) };
        if let (JsValue::RunExpr(RunExpr { found: Some(found), kind, .. }), JsValue::Undefined) =
            (&left.value, &right.value)
            && super::members::element_of(*kind).is_none()
        {
            let found = RunExpr::new(found.as_str(), RunExprKind::Truth);
            return Some(if is { negate_condition(&found) } else { found });
        }
        if let (JsValue::RunExpr(list), JsValue::List(items), true) = (&left.value, &right.value, is_text_list(left))
            && items.is_empty()
        {
            let length = RunExpr::new(format!("length({})", list.text), RunExprKind::Number);
            let test = length.test_against(("==", "!="), "0");
            return Some(if is { test } else { negate_condition(&test) });
        }
        let told = self.run_expression(left)?;
        let test = match &right.value {
            JsValue::Undefined | JsValue::Null => told.test_against(("is missing", "exists"), ""),
            _ => {
                let other = self.in_unit(right, told.kind)?;
                told.test_against(("==", "!="), &other.nested_text(BindingStrength::Sum))
            }
        };
        Some(if is { test } else { negate_condition(&test) })
    }

    fn compare_values(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        let kind = [left, right].into_iter().find_map(|item| match &item.value {
            JsValue::RunExpr(told) => Some(told.kind),
            _ => None,
        })?;
        let (left, right) = (self.in_unit(left, kind)?, self.in_unit(right, kind)?);
        let text = format!(
            "{} {operator} {}",
            left.nested_text(BindingStrength::Sum),
            right.nested_text(BindingStrength::Sum)
        );
        Some(RunExpr::with_binding(text, BindingStrength::Test, RunExprKind::Truth))
    }

    fn compare_count(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        let is_sum = ["+", "-"].contains(&operator);
        let kind_of = |item: &LocatedValue| match &item.value {
            JsValue::RunExpr(told) => Some(told.kind),
            _ => None,
        };
        let is_time = [left, right].into_iter().any(|item| kind_of(item) == Some(RunExprKind::Time));
        let kind = if is_time { RunExprKind::Time } else { RunExprKind::Number };
        let is_text =
            [left, right].into_iter().any(|item| kind_of(item) == Some(RunExprKind::Text) || item.as_text().is_some());
        if is_text {
            return None;
        }
        let unit = if is_sum { kind } else { RunExprKind::Number };
        let (left, right) = (self.in_unit(left, unit)?, self.in_unit(right, unit)?);
        let binds = if is_sum { BindingStrength::Sum } else { BindingStrength::Product };
        let closer = if is_sum { BindingStrength::Product } else { BindingStrength::Closely };
        Some(RunExpr::with_binding(
            format!("{} {operator} {}", left.nested_text(binds), right.nested_text(closer)),
            binds,
            kind,
        ))
    }

    /// A plain number beside a time is in milliseconds.
    pub(super) fn in_unit(&mut self, item: &LocatedValue, kind: RunExprKind) -> Option<RunExpr> {
        match item.as_number().filter(|number| kind == RunExprKind::Time && *number >= 0.0 && number.fract() == 0.0) {
            Some(number) => Some(RunExpr::new(duration_literal(number), RunExprKind::Time)),
            None => self.run_expression(item),
        }
    }

    pub(super) fn run_expression(&mut self, item: &LocatedValue) -> Option<RunExpr> {
        match &item.value {
            JsValue::RunExpr(told) if told.kind == RunExprKind::Found => None,
            JsValue::RunExpr(told) => Some(super::members::text_list(told)),
            _ => plain_literal(item).map(|text| RunExpr::new(text, kind_of(&item.value))),
        }
    }

    pub(super) fn truth_condition(&mut self, item: &LocatedValue) -> Option<RunExpr> {
        let JsValue::RunExpr(told) = &item.value else {
            return plain_truth(item).map(|truth| RunExpr::new(truth.to_string(), RunExprKind::Truth));
        };
        if let (Some(found), None) = (&told.found, super::members::element_of(told.kind)) {
            return Some(RunExpr::new(found.as_str(), RunExprKind::Truth));
        }
        let value = told.nested_text(BindingStrength::Sum);
        let text = match told.kind {
            RunExprKind::Truth => return Some(told.clone()),
            RunExprKind::Text | RunExprKind::Message => format!("{value} exists and {value} != \"\""),
            RunExprKind::Number | RunExprKind::Time => {
                format!("{value} exists and {value} != {}", if told.kind == RunExprKind::Time { "0ms" } else { "0" })
            }
            RunExprKind::Any => format!("{value} exists and {value} not in [false, 0, \"\"]"),
            RunExprKind::Commands
            | RunExprKind::Calls
            | RunExprKind::Reads
            | RunExprKind::Skills
            | RunExprKind::Texts => {
                return Some(RunExpr::new("true", RunExprKind::Truth));
            }
            _ => return None,
        };
        Some(RunExpr::with_binding(text, BindingStrength::And, RunExprKind::Truth))
    }

    pub(super) fn regex_literal(&mut self, item: &LocatedValue) -> Option<crate::regex_flavour::TranslatedRegex> {
        let JsValue::Regex { pattern, flags } = &item.value else { return None };
        // A matcher begins at the front of the text each time, whatever `g` remembers.
        let flags: String = flags.chars().filter(|flag| *flag != 'g' && *flag != 'd').collect();
        let anchored = flags.contains('y').then(|| format!("^(?:{pattern})"));
        let flags = flags.replace('y', "");
        match translate_javascript(anchored.as_deref().unwrap_or(pattern), &flags) {
            Ok(literal) => Some(literal),
            Err(unusable) => {
                self.record_unread(
                    item.span,
                    &format!("`/{pattern}/{flags}`, a regular expression that cannot be said: {}", unusable.why),
                );
                None
            }
        }
    }
}

pub(super) fn negate_condition(truth: &RunExpr) -> RunExpr {
    if let Some(opposite) = &truth.opposite {
        let back = Some(truth.text.clone());
        return RunExpr {
            opposite: back,
            ..RunExpr::with_binding(opposite.as_str(), BindingStrength::Test, RunExprKind::Truth)
        };
    }
    let inside = truth.nested_text(BindingStrength::Test);
    let text = format!("not {inside}");
    RunExpr { opposite: Some(inside), ..RunExpr::with_binding(text, BindingStrength::Not, RunExprKind::Truth) }
}

pub(super) fn duration_literal(number: f64) -> String {
    match whole_number(number) {
        Some(whole) if whole > 0 && whole % 60_000 == 0 => format!("{}m", whole / 60_000),
        Some(whole) if whole > 0 && whole % 1000 == 0 => format!("{}s", whole / 1000),
        _ => format!("{}ms", number_text(number)),
    }
}

fn is_text_list(item: &LocatedValue) -> bool {
    matches!(&item.value, JsValue::RunExpr(told) if matches!(told.kind, RunExprKind::Commands | RunExprKind::Reads))
}

fn kind_of(value: &JsValue) -> RunExprKind {
    match value {
        JsValue::Text(_) => RunExprKind::Text,
        JsValue::Number(_) => RunExprKind::Number,
        JsValue::Bool(_) => RunExprKind::Truth,
        _ => RunExprKind::Any,
    }
}

pub(super) fn plain_literal(item: &LocatedValue) -> Option<String> {
    Some(match &item.value {
        JsValue::Null => "null".to_owned(),
        JsValue::Bool(value) => value.to_string(),
        JsValue::Number(number) => number_text(*number),
        JsValue::Text(text) => quote_text(text),
        JsValue::List(items) => {
            format!("[{}]", items.iter().map(plain_literal).collect::<Option<Vec<_>>>()?.join(", "))
        }
        JsValue::Object(entries) if entries.is_empty() => "{}".to_owned(),
        JsValue::Object(entries) => {
            let entry =
                |(key, item): &(String, LocatedValue)| Some(format!("{}: {}", object_key(key), plain_literal(item)?));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}
