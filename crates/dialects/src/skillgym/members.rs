//! Properties and methods of values: the session report (mapped to the run), lists, and texts.

mod list_methods;
mod member_tables;

pub(super) use list_methods::text_list;
use member_tables::{ASKED, FIELDS, PROPERTIES};

use super::conditions::{join_all, join_any};
use super::plain::{is_js_space, plain_text, regex_of};
use super::program::SuiteProgram;
use super::text_units::{BEYOND_UNITS, COUNTS_HALVES, TRIM_OF, UNITS_OF};
use super::value::{JsValue, Lack, LocatedValue, RunExpr, RunExprKind, ScopeId, element_of, join_needs, open_value};
use crate::regex_flavour::HalvesSeen;
use crate::typescript::tree::TsFunction;
use crate::writer::{BindingStrength, member_path, quote_text};
use averment_base::source::Span;

/// Returns the text that `/…/.test(…)` searches in: the word `undefined` if there is no text.
fn searched_text(item: &LocatedValue) -> LocatedValue {
    let mut item = item.clone();
    if let JsValue::RunExpr(told) = &mut item.value
        && told.lack != Lack::Never
        && matches!(told.kind, RunExprKind::Text | RunExprKind::Any)
    {
        let own = told.nested_text(BindingStrength::Sum);
        told.text = format!("(if {own} exists then {} else \"undefined\")", told.text);
        (told.binds, told.lack) = (BindingStrength::Closely, Lack::Never);
    }
    item
}

impl SuiteProgram<'_, '_> {
    pub(super) fn member_value(&mut self, of: &LocatedValue, name: &str) -> JsValue {
        match &of.value {
            JsValue::Object(_) => {
                of.get(name).map_or(JsValue::Undefined, |item| super::plain::with_its_place(item.value.clone()))
            }
            JsValue::Text(text) if name == "length" => JsValue::Number(text.encode_utf16().count() as f64),
            JsValue::List(items) if name == "length" => JsValue::Number(items.len() as f64),
            JsValue::Api(path) => JsValue::Api(format!("{path}.{name}")),
            JsValue::RunExpr(told) => self.run_property(told, name),
            JsValue::RuntimeOnly(why) => JsValue::RuntimeOnly(why.clone()),
            _ => open_value("what only a running program shows"),
        }
    }

    fn run_property(&mut self, told: &RunExpr, name: &str) -> JsValue {
        let known = PROPERTIES.iter().find(|(of, known, ..)| *of == told.kind && *known == name);
        if let Some((.., text, kind)) = known {
            return JsValue::RunExpr(RunExpr::new(*text, *kind));
        }
        let field = FIELDS.iter().find(|(of, known, ..)| *of == told.kind && *known == name);
        if let Some((.., text, kind)) = field {
            let path = if told.text.is_empty() { (*text).to_owned() } else { format!("{}.{text}", told.text) };
            return JsValue::RunExpr(RunExpr { needs: told.needed_parts(), ..RunExpr::new(path, *kind) });
        }
        if let (Some(count), "length", true) = (&told.found, name, element_of(told.kind).is_some()) {
            let needs = told.needs.clone();
            return JsValue::RunExpr(RunExpr { needs, ..RunExpr::new(count.as_str(), RunExprKind::Number) });
        }
        match (told.kind, name) {
            (RunExprKind::Text, "length") => JsValue::RunExpr(RunExpr {
                needs: told.needed_parts(),
                lack: if told.lack == Lack::Chain { Lack::Chain } else { Lack::Never },
                ..RunExpr::new(format!("{UNITS_OF}({})", told.text), RunExprKind::Number)
            }),
            (
                RunExprKind::Commands
                | RunExprKind::Calls
                | RunExprKind::Reads
                | RunExprKind::Skills
                | RunExprKind::Texts,
                "length",
            ) => JsValue::RunExpr(RunExpr {
                needs: told.needed_parts(),
                lack: if told.lack == Lack::Chain { Lack::Chain } else { Lack::Never },
                ..RunExpr::new(format!("length({})", told.text), RunExprKind::Number)
            }),
            // An object may have a field with this name.
            (RunExprKind::Any, "length") => {
                let own = told.nested_text(BindingStrength::Sum);
                let field = member_path(name);
                let of_text = format!("if {own} is string then {UNITS_OF}({own})");
                let text = format!("(if {own} is list then length({own}) else {of_text} else {own}{field})");
                let lack = if told.lack == Lack::Chain { Lack::Chain } else { Lack::Key };
                let needs = told.needed_parts();
                JsValue::RunExpr(RunExpr { needs, lack, ..RunExpr::new(text, RunExprKind::Number) })
            }
            (RunExprKind::Any, name) => JsValue::RunExpr(RunExpr {
                needs: told.needed_parts(),
                ..RunExpr::new(
                    format!("{}{}", told.nested_text(BindingStrength::Closely), member_path(name)),
                    RunExprKind::Any,
                )
            }),
            (
                RunExprKind::Report
                | RunExprKind::Context
                | RunExprKind::Usage
                | RunExprKind::Files
                | RunExprKind::Runner
                | RunExprKind::Agent,
                name,
            ) => JsValue::RuntimeOnly(format!("`{name}`, which no run has here")),
            (_, name) => JsValue::RuntimeOnly(format!("`{name}` of what only a run shows")),
        }
    }

    pub(super) fn call_method(&mut self, of: &LocatedValue, name: &str, arguments: &[LocatedValue]) -> JsValue {
        match &of.value {
            JsValue::RunExpr(told) => self.run_method(&told.clone(), name, arguments),
            JsValue::List(items) => self.list_method(&items.clone(), name, arguments),
            JsValue::Text(text) => self.text_method(text, name, arguments),
            JsValue::Builder(entries) => super::matcher::extend_matcher(entries.clone(), name, arguments),
            JsValue::Regex { flags, .. } if name == "test" => match arguments {
                _ if super::plain::keeps_place(flags) => open_value(super::plain::KEEPS_PLACE),
                [text] => self.tested_text(text, of).map_or_else(|| open_value("a search"), JsValue::RunExpr),
                _ => open_value("a search"),
            },
            JsValue::RuntimeOnly(why) => JsValue::RuntimeOnly(why.clone()),
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives")),
        }
    }

    /// Lowers `/…/.test(text)`, which converts any value to a text.
    fn tested_text(&mut self, text: &LocatedValue, regex: &LocatedValue) -> Option<RunExpr> {
        let JsValue::RunExpr(told) = &text.value else { return self.search_regex(text, regex) };
        if told.kind != RunExprKind::Any {
            return self.search_regex(&searched_text(text), regex);
        }
        let own = told.nested_text(BindingStrength::Sum);
        let guard = format!("{own} is string or {own} is missing");
        let as_text = RunExpr { kind: RunExprKind::Text, ..told.clone() };
        let as_text = searched_text(&LocatedValue::new(JsValue::RunExpr(as_text), text.span));
        let found = self.search_regex(&as_text, regex)?;
        Some(found.decided_where(&guard, "a value is searched as a text"))
    }

    pub(super) fn search_regex(&mut self, text: &LocatedValue, regex: &LocatedValue) -> Option<RunExpr> {
        let literal = self.regex_literal(regex)?;
        self.backtracks |= literal.backtracks;
        let text = self.run_expression(text)?;
        // It accepts only texts.
        let lack = if text.lack == Lack::Chain { Lack::Chain } else { Lack::Never };
        let text = RunExpr { needs: text.needed_type(&["string"]), lack, ..text };
        let found = text.test_against(("matches", "not matches"), &literal.text);
        if literal.halves != HalvesSeen::Within {
            return Some(found);
        }
        let own = text.nested_text(BindingStrength::Sum);
        let is_missing = if lack == Lack::Never { String::new() } else { format!("{own} is missing or ") };
        Some(found.decided_where(&format!("{is_missing}{own} not matches {BEYOND_UNITS}"), COUNTS_HALVES))
    }

    fn run_method(&mut self, told: &RunExpr, name: &str, arguments: &[LocatedValue]) -> JsValue {
        let asked = ASKED.iter().find(|(known, ..)| told.kind == RunExprKind::Context && *known == name);
        if let Some((_, list, kind)) = asked {
            let chosen = arguments.first().filter(|tool| !matches!(tool.value, JsValue::Undefined));
            return match chosen.map(|tool| tool.as_text()) {
                None => JsValue::RunExpr(RunExpr::new(*list, *kind)),
                Some(Some(tool)) => {
                    JsValue::RunExpr(RunExpr::new(format!("({list} where tool == {})", quote_text(tool)), *kind))
                }
                Some(None) => open_value("calls of a tool that only a running program shows"),
            };
        }
        if matches!(told.kind, RunExprKind::Found | RunExprKind::Search | RunExprKind::Truth) {
            return JsValue::RuntimeOnly(format!("what `{name}` gives of something in a run"));
        }
        if element_of(told.kind).is_some()
            && let Some(given) = self.run_list_method(told, name, arguments)
        {
            return given;
        }
        let types: &[&str] = if name == "includes" { &["string", "list"] } else { &["string"] };
        let needs = told.needed_type(types);
        let lack = if told.lack == Lack::Chain { Lack::Chain } else { Lack::Never };
        let told = &RunExpr { needs: needs.clone(), lack, ..told.clone() };
        let text_of =
            |text: String, kind| JsValue::RunExpr(RunExpr { needs: needs.clone(), lack, ..RunExpr::new(text, kind) });
        match (name, arguments) {
            ("includes", [part]) => self.contains_part(told, part),
            ("startsWith", [part]) => self.test_part(told, "starts with", part),
            ("endsWith", [part]) => self.test_part(told, "ends with", part),
            ("match", [regex]) if told.kind == RunExprKind::Text || told.kind == RunExprKind::Message => {
                let text = LocatedValue::new(JsValue::RunExpr(told.clone()), regex.span);
                let Some(found) = self.search_regex(&text, regex) else { return open_value("a search") };
                let (needs, truth) = (found.needs.clone(), Some(Box::new(found.clone())));
                let kind = RunExprKind::Search;
                JsValue::RunExpr(RunExpr { needs, truth, found: Some(found.text.clone()), kind, lack, ..found })
            }
            ("trim" | "toLowerCase" | "toUpperCase", []) => {
                let function = match name {
                    "trim" => TRIM_OF,
                    "toLowerCase" => "lower",
                    _ => "upper",
                };
                text_of(format!("{function}({})", told.text), told.kind)
            }
            ("replace" | "replaceAll", [from, to]) if told.kind == RunExprKind::Text => {
                match self.replaced_part(name, from, to) {
                    Some(parts) => text_of(format!("replace({}, {parts})", told.text), RunExprKind::Text),
                    None => open_value("a part that is replaced otherwise than everywhere by a plain text"),
                }
            }
            ("split", [separator]) if separator.as_text().is_some_and(|text| !text.is_empty()) => {
                let separator = quote_text(separator.as_text().unwrap_or_default());
                text_of(format!("split({}, {separator})", told.text), RunExprKind::Texts)
            }
            ("toString", []) if told.kind == RunExprKind::Text => JsValue::RunExpr(told.clone()),
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives of something in a run")),
        }
    }

    /// Returns the arguments of `replace`; `None` if the replacement contains `$`, which is special there.
    fn replaced_part(&mut self, name: &str, from: &LocatedValue, to: &LocatedValue) -> Option<String> {
        let to = to.as_text().filter(|to| !to.contains('$'))?;
        let from = match &from.value {
            JsValue::Regex { flags, .. } if flags.contains('g') => {
                let literal = self.regex_literal(from).filter(|literal| literal.halves == HalvesSeen::Never)?;
                self.backtracks |= literal.backtracks;
                literal.text
            }
            JsValue::Text(text) if name == "replaceAll" && !text.is_empty() => quote_text(text),
            _ => return None,
        };
        Some(format!("{from}, {}", quote_text(to)))
    }

    pub(super) fn contains_part(&mut self, told: &RunExpr, part: &LocatedValue) -> JsValue {
        self.test_part(told, "contains", part)
    }

    fn test_part(&mut self, told: &RunExpr, words: &str, part: &LocatedValue) -> JsValue {
        match self.run_expression(part) {
            Some(part) => {
                let test = told.test_against((words, &format!("not {words}")), &part.nested_text(BindingStrength::Sum));
                let needs = join_needs(test.needs.as_deref(), part.needs.as_deref());
                JsValue::RunExpr(RunExpr { needs, ..test })
            }
            None => open_value("a part that only a running program shows"),
        }
    }

    fn list_method(&mut self, items: &[LocatedValue], name: &str, arguments: &[LocatedValue]) -> JsValue {
        match (name, arguments) {
            ("join", _) => {
                let separator = arguments.first().map_or(Some(","), LocatedValue::as_text);
                let parts: Option<Vec<String>> = items.iter().map(plain_text).collect();
                match (parts, separator) {
                    (Some(parts), Some(separator)) => {
                        let text = parts.join(separator);
                        self.long_text(text)
                    }
                    _ => open_value("a text that only a run shows"),
                }
            }
            ("concat", _) => {
                let mut all = items.to_vec();
                for argument in arguments {
                    match &argument.value {
                        JsValue::List(more) => all.extend(more.iter().cloned()),
                        _ => all.push(argument.clone()),
                    }
                }
                self.list_of(all)
            }
            ("flat", []) => {
                let inner = |item: &LocatedValue| match &item.value {
                    JsValue::List(inner) => inner.clone(),
                    _ => vec![item.clone()],
                };
                self.list_of(items.iter().flat_map(inner).collect())
            }
            ("map" | "flatMap", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                let mut all = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    let place = LocatedValue::new(JsValue::Number(at as f64), item.span);
                    let value = self.function_result(function, &[item.clone(), place], *scope);
                    match value {
                        JsValue::List(inner) if name == "flatMap" => all.extend(inner),
                        value => all.push(LocatedValue::new(value, item.span)),
                    }
                }
                self.list_of(all)
            }
            ("filter", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                let mut kept = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    let place = LocatedValue::new(JsValue::Number(at as f64), item.span);
                    let value = self.function_result(function, &[item.clone(), place], *scope);
                    match super::plain::plain_truth(&LocatedValue::new(value, item.span)) {
                        Some(true) => kept.push(item.clone()),
                        Some(false) => {}
                        None => return open_value("a list of what only a run shows"),
                    }
                }
                self.list_of(kept)
            }
            ("at", [place]) => match place.as_number().and_then(super::plain::whole_number) {
                Some(place) => {
                    let place = if place < 0 { place.saturating_add_unsigned(items.len() as u64) } else { place };
                    let found = usize::try_from(place).ok().and_then(|place| items.get(place));
                    found.map_or(JsValue::Undefined, |item| item.value.clone())
                }
                None => open_value("an element that only a running program shows"),
            },
            ("some" | "every", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                self.quantify_items(items, name == "some", function, *scope)
            }
            ("includes", [part]) => match self.run_expression(part) {
                Some(part) => {
                    match super::plain::plain_literal(&LocatedValue::new(
                        JsValue::List(items.to_vec()),
                        Span::default(),
                    )) {
                        Some(list) => JsValue::RunExpr(part.test_against(("in", "not in"), &list)),
                        None => open_value("a list of what only a run shows"),
                    }
                }
                None => open_value("whether something is in a list"),
            },
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives")),
        }
    }

    fn list_of(&mut self, items: Vec<LocatedValue>) -> JsValue {
        if self.spend_budget(items.len()) { JsValue::List(items) } else { open_value("too much to follow") }
    }

    /// Quantifies over values known without a run.
    fn quantify_items(&mut self, items: &[LocatedValue], some: bool, function: &TsFunction, scope: ScopeId) -> JsValue {
        let mut joined: Option<RunExpr> = None;
        for (at, item) in items.iter().enumerate() {
            let place = LocatedValue::new(JsValue::Number(at as f64), item.span);
            let value = self.function_result(function, &[item.clone(), place], scope);
            match self.truth_condition(&LocatedValue::new(value, item.span)) {
                Some(truth) => {
                    let join = if some { join_any } else { join_all };
                    joined = Some(joined.map_or(truth.clone(), |before| join(&before, &truth)));
                }
                None => return open_value("a condition on values"),
            }
        }
        joined.map_or(JsValue::Bool(!some), JsValue::RunExpr)
    }

    fn text_method(&mut self, text: &str, name: &str, arguments: &[LocatedValue]) -> JsValue {
        // These methods behave differently with a position, a limit or several parts.
        let argument = match arguments {
            [part] => part.as_text(),
            [part, _] if name == "replaceAll" => part.as_text(),
            _ => None,
        };
        match (name, argument) {
            ("trim", _) => JsValue::Text(text.trim_matches(is_js_space).to_owned()),
            ("toLowerCase", _) => JsValue::Text(text.to_lowercase()),
            ("toUpperCase", _) => JsValue::Text(text.to_uppercase()),
            ("toString", _) => JsValue::Text(text.to_owned()),
            ("includes", Some(part)) => JsValue::Bool(text.contains(part)),
            ("startsWith", Some(part)) => JsValue::Bool(text.starts_with(part)),
            ("endsWith", Some(part)) => JsValue::Bool(text.ends_with(part)),
            ("concat", Some(part)) => self.long_text(format!("{text}{part}")),
            ("replaceAll", Some(part)) if !part.is_empty() => match arguments.get(1).and_then(LocatedValue::as_text) {
                Some(other) if !other.contains('$') => self.long_text(text.replace(part, other)),
                _ => open_value("a text"),
            },
            ("split", Some(part)) if !part.is_empty() => {
                let parts =
                    text.split(part).map(|part| LocatedValue::new(JsValue::Text(part.to_owned()), Span::default()));
                self.list_of(parts.collect())
            }
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives of a text")),
        }
    }

    pub(super) fn given_by(&mut self, name: &str, arguments: &[LocatedValue], span: Span) -> JsValue {
        let first = arguments.first();
        match name {
            "RegExp" => regex_of(arguments),
            "String" | "String.raw" => first.and_then(plain_text).map_or_else(|| open_value("a text"), JsValue::Text),
            "Number" | "Boolean" => match first {
                Some(LocatedValue {
                    value:
                        value @ (JsValue::Number(_)
                        | JsValue::RunExpr(RunExpr { kind: RunExprKind::Number | RunExprKind::Time, .. })),
                    ..
                }) => value.clone(),
                Some(item) if name == "Boolean" => {
                    self.truth_condition(item).map_or_else(|| open_value("a truth"), JsValue::RunExpr)
                }
                _ => open_value("a number"),
            },
            "Object.freeze" | "structuredClone" | "defineConfig" | "defineSuite" => {
                first.map_or(JsValue::Undefined, |item| item.value.clone())
            }
            "Object.values" | "Object.entries" | "Object.keys" => match first.map(|item| &item.value) {
                Some(JsValue::Object(entries)) => {
                    let text = |key: &String| LocatedValue::new(JsValue::Text(key.clone()), span);
                    let of = |(key, item): &(String, LocatedValue)| match name {
                        "Object.values" => item.clone(),
                        "Object.keys" => text(key),
                        _ => LocatedValue::new(JsValue::List(vec![text(key), item.clone()]), span),
                    };
                    self.list_of(entries.iter().map(of).collect())
                }
                _ => open_value("the properties of an object"),
            },
            "JSON.parse" => match first.and_then(|item| self.run_expression(item)) {
                // `JSON.parse` throws if the text is not JSON.
                Some(told) => {
                    let text = format!("json({})", told.text);
                    let needs = Some(format!("{text} exists"));
                    JsValue::RunExpr(RunExpr { lack: Lack::Never, needs, ..RunExpr::new(text, RunExprKind::Any) })
                }
                None => open_value("JSON"),
            },
            "Array.isArray" => match first.and_then(|item| self.run_expression(item)) {
                Some(told) => JsValue::RunExpr(RunExpr::with_binding(
                    format!("{} is list", told.nested_text(BindingStrength::Sum)),
                    BindingStrength::Test,
                    RunExprKind::Truth,
                )),
                None => open_value("whether something is a list"),
            },
            "commandMatcher" => JsValue::Builder(super::matcher::begin_matcher(first)),
            _ => self.given_by_unknown(name, arguments, span),
        }
    }

    pub(super) fn fresh_name(&mut self) -> String {
        self.names = self.names.saturating_add(1);
        match self.names {
            1 => "x".to_owned(),
            number => format!("x{number}"),
        }
    }
}
