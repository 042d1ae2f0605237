//! Operators on known values and on expressions about the run.

use super::conditions::{EqualityKind, bound_of_tokens, equal_or_missing, join_all, join_any, sure_of_tokens};
use super::plain::{is_object, number_text, plain_equality, plain_literal, plain_text, plain_truth, whole_number};
use super::program::SuiteProgram;
use super::value::{
    JsValue, Lack, LocatedValue, RunExpr, RunExprKind, element_of, join_needs, negate_condition, open_value,
};
use crate::regex_flavour::translate_javascript;
use crate::writer::BindingStrength;

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
            ("typeof", JsValue::RunExpr(told)) => self.type_name(told),
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
            "===" | "==" | "!==" | "!=" => {
                let kind = if operator.len() == 2 { EqualityKind::Loose } else { EqualityKind::Strict };
                let is_identity = [left, right].iter().any(|item| is_object(&item.value))
                    && ![left, right].iter().any(|item| item.is_nullish());
                let test = if is_identity { None } else { self.equality_test(left, right, kind) };
                test.map(|test| match operator.starts_with('=') {
                    true => test,
                    false => negate_condition(&test),
                })
            }
            "<" | "<=" | ">" | ">=" => self.compare_values(operator, left, right),
            "+" | "-" | "*" | "/" | "%" => self.compare_count(operator, left, right),
            "in" => self.has_key(left, right),
            _ => None,
        };
        told.map_or_else(|| open_value("an operator on what only a running program shows"), JsValue::RunExpr)
    }

    /// Lowers `"key" in object`. Every object has the inherited keys; the operator throws if the right side is not an object.
    fn has_key(&mut self, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        const OF_ALL: [&str; 8] = [
            "constructor",
            "hasOwnProperty",
            "isPrototypeOf",
            "length",
            "propertyIsEnumerable",
            "toLocaleString",
            "toString",
            "valueOf",
        ];
        let key = left.as_text().filter(|key| {
            !OF_ALL.contains(key) && !key.starts_with("__") && !key.starts_with(|letter: char| letter.is_ascii_digit())
        })?;
        let (JsValue::RunExpr(RunExpr { kind: RunExprKind::Any, .. }) | JsValue::Object(_)) = &right.value else {
            return None;
        };
        let object = self.run_expression(right)?;
        let path = format!("{}{}", object.nested_text(BindingStrength::Closely), crate::writer::member_path(key));
        let needs = object.needed_type(&["object"]);
        let needed = needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
        let opposite = Some(format!("({needed}{path} is missing)"));
        let test = RunExpr::with_binding(format!("{path} exists"), BindingStrength::Test, RunExprKind::Truth);
        Some(RunExpr { needs, opposite, ..test })
    }

    fn type_name(&mut self, told: &RunExpr) -> JsValue {
        let name = match told.kind {
            RunExprKind::Text => "\"string\"".to_owned(),
            RunExprKind::Number | RunExprKind::Time => "\"number\"".to_owned(),
            RunExprKind::Truth => "\"boolean\"".to_owned(),
            RunExprKind::Any => {
                let name = format!("type_of({})", told.text);
                format!("(if {name} in [\"list\", \"null\"] then \"object\" else {name})")
            }
            _ => return open_value("the type of what only a running program shows"),
        };
        let text = match told.lack {
            Lack::Never => name,
            _ => format!("(if {} exists then {name} else \"undefined\")", told.nested_text(BindingStrength::Sum)),
        };
        JsValue::RunExpr(RunExpr { needs: told.needs.clone(), ..RunExpr::new(text, RunExprKind::Text) })
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
        let same = match operator {
            "===" | "!==" => plain_equality(left, right),
            // It converts values of different types.
            "==" | "!=" if left.is_nullish() || right.is_nullish() => Some(left.is_nullish() && right.is_nullish()),
            "==" | "!=" if kind_of(&left.value) == kind_of(&right.value) => plain_equality(left, right),
            _ => None,
        };
        same.map_or_else(|| open_value("an operator"), |same| JsValue::Bool(same == operator.starts_with('=')))
    }

    /// Lowers `a && b` and `a || b`: a condition, or one of two values.
    fn join_conditions(&mut self, operator: &str, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        let (one, other) = (self.truth_condition(left)?, self.truth_condition(right)?);
        let both = if operator == "&&" { join_all(&one, &other) } else { join_any(&one, &other) };
        let kind_of = |item: &LocatedValue| match &item.value {
            JsValue::RunExpr(told) => told.kind,
            value => kind_of(value),
        };
        if (kind_of(left), kind_of(right)) == (RunExprKind::Truth, RunExprKind::Truth) {
            return Some(both);
        }
        let truth = Some(Box::new(both.clone()));
        let needs = both.needs;
        let Some((value, second)) = self.run_expression(left).zip(self.run_expression(right)) else {
            return Some(RunExpr { needs, truth, ..RunExpr::new("", RunExprKind::Found) });
        };
        let kind = if value.kind == second.kind { value.kind } else { RunExprKind::Any };
        let (then, other) = if operator == "&&" { (second, value) } else { (value, second) };
        let text = format!("(if {} then {} else {})", one.as_total().text, then.text, other.text);
        let lack = if then.lack == other.lack { then.lack } else { Lack::Key };
        Some(RunExpr { needs, truth, lack, ..RunExpr::new(text, kind) })
    }

    fn or_else(&mut self, left: &LocatedValue, right: &LocatedValue) -> Option<RunExpr> {
        if let JsValue::RunExpr(told) = &left.value
            && told.lack == Lack::Never
            && told.kind != RunExprKind::Any
            && element_of(told.kind).is_some()
        {
            // A list of the run always exists.
            return Some(told.clone());
        }
        let (value, other) = (self.run_expression(left)?, self.run_expression(right)?);
        // A failure always has a message.
        if value.kind == RunExprKind::Message {
            return Some(value);
        }
        let own = value.nested_text(BindingStrength::Sum);
        let is_there = match value.kind {
            RunExprKind::Any => format!("{own} exists and {own} != null"),
            _ => format!("{own} exists"),
        };
        let needs = join_needs(
            value.needs.as_deref(),
            other.needs.as_ref().map(|needs| format!("({is_there} or {needs})")).as_deref(),
        );
        let kind = if value.kind == other.kind { value.kind } else { RunExprKind::Any };
        let lack = if other.kind == RunExprKind::Any { Lack::Key } else { other.lack };
        Some(RunExpr {
            needs,
            lack,
            ..RunExpr::new(format!("(if {is_there} then {} else {})", value.text, other.text), kind)
        })
    }

    /// Compares two values. Comparing with `null` or `undefined` tells only a missing value and `null` apart from others.
    pub(super) fn equality_test(
        &mut self,
        left: &LocatedValue,
        right: &LocatedValue,
        kind: EqualityKind,
    ) -> Option<RunExpr> {
        let (left, right) = if left.is_plain() { (right, left) } else { (left, right) };
        let JsValue::RunExpr(told) = &left.value else { return None };
        // After `?.`, a search may also be `undefined` instead of `null`.
        if told.kind == RunExprKind::Search && told.lack != Lack::Never {
            return None;
        }
        let is_list = element_of(told.kind).is_some() && told.kind != RunExprKind::Any;
        match (&told.found, &right.value) {
            (Some(_), JsValue::Null) if told.kind == RunExprKind::Search => {}
            (Some(_), JsValue::Undefined) if told.kind == RunExprKind::Search && kind == EqualityKind::Loose => {}
            (Some(_), JsValue::Undefined) if told.kind != RunExprKind::Search && !is_list => {}
            (Some(_), JsValue::Null) if !is_list && kind == EqualityKind::Loose => {}
            _ => return self.value_equality(left, right, kind),
        }
        let found = RunExpr { found: None, truth: None, ..told.clone() };
        let found = match &told.found {
            Some(text) if told.kind != RunExprKind::Search => {
                RunExpr { text: text.clone(), kind: RunExprKind::Truth, binds: BindingStrength::Closely, ..found }
            }
            _ => self.truth_condition(left)?,
        };
        Some(negate_condition(&RunExpr { total: None, opposite: found.opposite.clone(), ..found }))
    }

    fn value_equality(&mut self, left: &LocatedValue, right: &LocatedValue, kind: EqualityKind) -> Option<RunExpr> {
        if let (JsValue::RunExpr(list), JsValue::List(items), true) = (&left.value, &right.value, is_text_list(left))
            && items.is_empty()
        {
            let length = RunExpr::new(format!("length({})", list.text), RunExprKind::Number);
            return Some(length.test_against(("==", "!="), "0"));
        }
        let told = self.run_expression(left)?;
        let is_any = told.kind == RunExprKind::Any;
        let missing = match &right.value {
            JsValue::Null if kind == EqualityKind::Strict => {
                if is_any {
                    return Some(told.test_against(("==", "!="), "null"));
                }
                // The value is never `null`.
                let opposite = Some(told.needs.clone().map_or("true".to_owned(), |needs| format!("({needs})")));
                return Some(RunExpr { opposite, needs: told.needs, ..RunExpr::new("false", RunExprKind::Truth) });
            }
            JsValue::Null | JsValue::Undefined => told.test_against(("is missing", "exists"), ""),
            _ => {
                let other = self.in_unit(right, told.kind)?;
                let is_behind = told.lack == Lack::Never && other.lack != Lack::Never;
                let (told, other) = if is_behind { (other, told) } else { (told, other) };
                if told.lack != Lack::Never && other.lack != Lack::Never {
                    return (kind == EqualityKind::Strict || told.kind == other.kind && !is_any)
                        .then(|| equal_or_missing(&told, &other));
                }
                let test = told.test_against_value(&other);
                let needs = test.needs.clone();
                let same_kind = told.kind == other.kind || told.kind == RunExprKind::Time;
                return (kind == EqualityKind::Strict || same_kind)
                    .then(|| sure_of_tokens(&told, RunExpr { needs, ..test }));
            }
        };
        let (mut text, mut opposite) = (missing.text, missing.opposite.unwrap_or_default());
        if is_any && kind == EqualityKind::Loose {
            let value = told.nested_text(BindingStrength::Sum);
            text = format!("({text} or {value} == null)");
            opposite = format!("({opposite} and {value} != null)");
        }
        if let Some(needs) = &told.needs {
            text = format!("({needs} and {text})");
        }
        let test = RunExpr::with_binding(text, BindingStrength::Test, RunExprKind::Truth);
        Some(RunExpr { opposite: Some(opposite), needs: told.needs, ..test })
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
        let needs = join_needs(left.needs.as_deref(), right.needs.as_deref());
        let test = RunExpr { needs, ..RunExpr::with_binding(text, BindingStrength::Test, RunExprKind::Truth) };
        if let Some(bounded) = bound_of_tokens(operator, &left, &right, &test) {
            return Some(bounded);
        }
        let is_there: Vec<String> = [&left, &right]
            .into_iter()
            .filter(|side| side.lack != Lack::Never)
            .map(|side| format!("{} exists", side.nested_text(BindingStrength::Sum)))
            .collect();
        if is_there.is_empty() {
            return Some(test);
        }
        let holds = format!("({} and {})", is_there.join(" and "), test.text);
        let needed = test.needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
        let total = Some(Box::new([holds.clone(), format!("({needed}not {holds})")]));
        let test = RunExpr { total, ..test };
        // JavaScript converts a value of another type.
        let wanted =
            if [&left, &right].iter().any(|side| side.kind == RunExprKind::Text) { "string" } else { "number" };
        let guards: Vec<String> = [&left, &right]
            .into_iter()
            .filter(|side| side.kind == RunExprKind::Any)
            .map(|side| side.nested_text(BindingStrength::Sum))
            .map(|own| format!("({own} is {wanted} or {own} is missing)"))
            .collect();
        if guards.is_empty() {
            return Some(test);
        }
        Some(test.decided_where(&guards.join(" and "), "a value is converted"))
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
        let is_json = [left, right].into_iter().any(|item| kind_of(item) == Some(RunExprKind::Any));
        if is_text || is_json {
            return None;
        }
        let unit = if is_sum { kind } else { RunExprKind::Number };
        let (left, right) = (self.in_unit(left, unit)?, self.in_unit(right, unit)?);
        let binds = if is_sum { BindingStrength::Sum } else { BindingStrength::Product };
        let closer = if is_sum { BindingStrength::Product } else { BindingStrength::Closely };
        let text = format!("{} {operator} {}", left.nested_text(binds), right.nested_text(closer));
        let needs = join_needs(left.needs.as_deref(), right.needs.as_deref());
        Some(RunExpr { needs, ..RunExpr::with_binding(text, binds, kind) })
    }

    /// Returns an operand; a plain number compared with a time is in milliseconds.
    pub(super) fn in_unit(&mut self, item: &LocatedValue, kind: RunExprKind) -> Option<RunExpr> {
        match item.as_number().filter(|number| kind == RunExprKind::Time && *number >= 0.0 && number.fract() == 0.0) {
            Some(number) => Some(RunExpr::new(duration_literal(number), RunExprKind::Time)),
            None => self.run_expression(item),
        }
    }

    pub(super) fn run_expression(&mut self, item: &LocatedValue) -> Option<RunExpr> {
        match &item.value {
            JsValue::RunExpr(told) if matches!(told.kind, RunExprKind::Found | RunExprKind::Search) => None,
            JsValue::RunExpr(told) => Some(super::members::text_list(told)),
            _ => plain_literal(item)
                .map(|text| RunExpr { lack: Lack::Never, ..RunExpr::new(text, kind_of(&item.value)) }),
        }
    }

    pub(super) fn truth_condition(&mut self, item: &LocatedValue) -> Option<RunExpr> {
        let JsValue::RunExpr(told) = &item.value else {
            return plain_truth(item).map(|truth| RunExpr::new(truth.to_string(), RunExprKind::Truth));
        };
        if let Some(truth) = &told.truth {
            return Some((**truth).clone());
        }
        // A found element may be an empty text.
        if let (Some(found), None) = (&told.found, element_of(told.kind))
            && told.kind != RunExprKind::Text
        {
            return Some(RunExpr { needs: told.needs.clone(), ..RunExpr::new(found.as_str(), RunExprKind::Truth) });
        }
        let value = told.nested_text(BindingStrength::Sum);
        let text = match told.kind {
            RunExprKind::Truth => return Some(told.clone()),
            RunExprKind::Text | RunExprKind::Message => format!("{value} exists and {value} != \"\""),
            RunExprKind::Number | RunExprKind::Time => {
                format!("{value} exists and {value} != {}", if told.kind == RunExprKind::Time { "0ms" } else { "0" })
            }
            RunExprKind::Any => format!("{value} exists and {value} not in [false, 0, \"\", null]"),
            RunExprKind::Commands
            | RunExprKind::Calls
            | RunExprKind::Reads
            | RunExprKind::Skills
            | RunExprKind::Texts => {
                return Some(RunExpr { needs: told.needs.clone(), ..RunExpr::new("true", RunExprKind::Truth) });
            }
            _ => return None,
        };
        let needs = told.needs.clone();
        Some(RunExpr { needs, ..RunExpr::with_binding(text, BindingStrength::And, RunExprKind::Truth) })
    }

    pub(super) fn regex_literal(&mut self, item: &LocatedValue) -> Option<crate::regex_flavour::TranslatedRegex> {
        let JsValue::Regex { pattern, flags } = &item.value else { return None };
        // A matcher always starts at the beginning of the text, so `g` does not matter.
        let flags: String = flags.chars().filter(|flag| !['g', 'd', '#'].contains(flag)).collect();
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
