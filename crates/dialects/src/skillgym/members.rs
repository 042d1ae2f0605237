//! What values have and can do: the report of a session as the run that it tells of, lists, texts.

mod member_tables;

use member_tables::{ASKED, FIELDS, PROPERTIES, element_of};

use super::eval::{plain_text, regex_of};
use super::program::SuiteProgram;
use super::value::{JsValue, LocatedValue, RunExpr, RunExprKind, ScopeId, open_value};
use crate::typescript::tree::{FunctionBody, TsFunction};
use crate::writer::{BindingStrength, member_path, quote_text};
use averment_base::source::Span;

impl SuiteProgram<'_, '_> {
    pub(super) fn member_value(&mut self, of: &LocatedValue, name: &str) -> JsValue {
        match &of.value {
            JsValue::Object(_) => of.get(name).map_or(JsValue::Undefined, |item| item.value.clone()),
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
            return JsValue::RunExpr(RunExpr::new(path, *kind));
        }
        match (told.kind, name) {
            (
                RunExprKind::Text
                | RunExprKind::Any
                | RunExprKind::Commands
                | RunExprKind::Calls
                | RunExprKind::Reads
                | RunExprKind::Skills
                | RunExprKind::Texts,
                "length",
            ) => JsValue::RunExpr(RunExpr::new(format!("length({})", told.text), RunExprKind::Number)),
            (RunExprKind::Any, name) => JsValue::RunExpr(RunExpr::new(
                format!("{}{}", told.nested_text(BindingStrength::Closely), member_path(name)),
                RunExprKind::Any,
            )),
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

    pub(super) fn list_element(&mut self, told: &RunExpr, place: i64) -> JsValue {
        let Some(kind) = element_of(told.kind) else { return open_value("an element of what is no list") };
        let path = format!("{}[{place}]", told.nested_text(BindingStrength::Closely));
        JsValue::RunExpr(RunExpr::new(
            if told.kind == RunExprKind::Reads { format!("{path}.path") } else { path },
            kind,
        ))
    }

    pub(super) fn call_method(&mut self, of: &LocatedValue, name: &str, arguments: &[LocatedValue]) -> JsValue {
        match &of.value {
            JsValue::RunExpr(told) => self.run_method(&told.clone(), name, arguments),
            JsValue::List(items) => self.list_method(&items.clone(), name, arguments),
            JsValue::Text(text) => self.text_method(text, name, arguments),
            JsValue::Builder(entries) => super::matcher::extend_matcher(entries.clone(), name, arguments),
            JsValue::Regex { .. } if name == "test" => match arguments {
                [text] => self.search_regex(text, of).map_or_else(|| open_value("a search"), JsValue::RunExpr),
                _ => open_value("a search"),
            },
            JsValue::RuntimeOnly(why) => JsValue::RuntimeOnly(why.clone()),
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives")),
        }
    }

    pub(super) fn search_regex(&mut self, text: &LocatedValue, regex: &LocatedValue) -> Option<RunExpr> {
        let literal = self.regex_literal(regex)?;
        self.backtracks |= literal.backtracks;
        let text = self.run_expression(text)?;
        Some(text.test_against(("matches", "not matches"), &literal.text))
    }

    fn run_method(&mut self, told: &RunExpr, name: &str, arguments: &[LocatedValue]) -> JsValue {
        let asked = ASKED.iter().find(|(known, ..)| told.kind == RunExprKind::Context && *known == name);
        if let Some((_, list, kind)) = asked {
            let chosen = arguments.first().filter(|tool| !tool.is_nullish());
            return match chosen.map(|tool| tool.as_text()) {
                None => JsValue::RunExpr(RunExpr::new(*list, *kind)),
                Some(Some(tool)) => {
                    JsValue::RunExpr(RunExpr::new(format!("({list} where tool == {})", quote_text(tool)), *kind))
                }
                Some(None) => open_value("calls of a tool that only a running program shows"),
            };
        }
        let is_list = element_of(told.kind).is_some();
        match (name, arguments) {
            ("some" | "every" | "filter" | "map" | "find" | "join" | "at", _) if is_list => {
                self.run_list_method(told, name, arguments)
            }
            ("includes", [part]) if matches!(told.kind, RunExprKind::Reads) => {
                self.contains_part(&RunExpr::new("reads[*].path", RunExprKind::Texts), part)
            }
            ("includes", [part]) => self.contains_part(told, part),
            ("startsWith", [part]) => self.test_part(told, "starts with", part),
            ("endsWith", [part]) => self.test_part(told, "ends with", part),
            ("match", [regex]) if told.kind == RunExprKind::Text || told.kind == RunExprKind::Message => {
                let text = LocatedValue::new(JsValue::RunExpr(told.clone()), regex.span);
                self.search_regex(&text, regex).map_or_else(|| open_value("a search"), JsValue::RunExpr)
            }
            ("trim" | "toLowerCase" | "toUpperCase", []) => {
                let function = match name {
                    "trim" => "trim",
                    "toLowerCase" => "lower",
                    _ => "upper",
                };
                JsValue::RunExpr(RunExpr::new(format!("{function}({})", told.text), told.kind))
            }
            ("split", [separator]) if separator.as_text().is_some_and(|text| !text.is_empty()) => {
                let separator = quote_text(separator.as_text().unwrap_or_default());
                JsValue::RunExpr(RunExpr::new(format!("split({}, {separator})", told.text), RunExprKind::Texts))
            }
            ("toString", []) if told.kind == RunExprKind::Text => JsValue::RunExpr(told.clone()),
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives of something in a run")),
        }
    }

    fn contains_part(&mut self, told: &RunExpr, part: &LocatedValue) -> JsValue {
        self.test_part(told, "contains", part)
    }

    fn test_part(&mut self, told: &RunExpr, words: &str, part: &LocatedValue) -> JsValue {
        match self.run_expression(part) {
            Some(part) => JsValue::RunExpr(
                told.test_against((words, &format!("not {words}")), &part.nested_text(BindingStrength::Sum)),
            ),
            None => open_value("a part that only a running program shows"),
        }
    }

    fn run_list_method(&mut self, told: &RunExpr, name: &str, arguments: &[LocatedValue]) -> JsValue {
        let list = told.nested_text(BindingStrength::Closely);
        match (name, arguments) {
            ("at", [place]) => match place.as_number().and_then(super::eval::whole_number) {
                Some(place) => self.list_element(told, place),
                None => open_value("an element that only a running program shows"),
            },
            ("join", _) => {
                let separator = arguments.first().map_or(Some(","), LocatedValue::as_text);
                let texts =
                    if told.kind == RunExprKind::Reads { "reads[*].path".to_owned() } else { told.text.clone() };
                separator.map_or_else(
                    || open_value("a text"),
                    |separator| {
                        JsValue::RunExpr(RunExpr::new(
                            format!("join({texts}, {})", quote_text(separator)),
                            RunExprKind::Text,
                        ))
                    },
                )
            }
            ("map", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                self.project_field(told, function, *scope)
            }
            (
                "some" | "every" | "filter" | "find",
                [LocatedValue { value: JsValue::Function(function, scope), .. }],
            ) => {
                let name_here = self.fresh_name();
                let Some(condition) = self.condition_on(told, function, *scope, &name_here) else {
                    return open_value("a condition on elements");
                };
                let text = match name {
                    "some" => format!("any {name_here} in {list}: {}", condition.text),
                    "every" => format!("all {name_here} in {list}: {}", condition.text),
                    "find" => format!("(any {name_here} in {list}: {})", condition.text),
                    // What follows asks how many there are.
                    _ => format!("(count {name_here} in {list}: {})", condition.text),
                };
                match name {
                    "filter" => JsValue::Object(vec![(
                        "length".to_owned(),
                        LocatedValue::new(JsValue::RunExpr(RunExpr::new(text, RunExprKind::Number)), Span::default()),
                    )]),
                    _ => JsValue::RunExpr(RunExpr::with_binding(text, BindingStrength::Reaches, RunExprKind::Truth)),
                }
            }
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives of a list of a run")),
        }
    }

    fn condition_on(&mut self, told: &RunExpr, function: &TsFunction, scope: ScopeId, name: &str) -> Option<RunExpr> {
        let kind = element_of(told.kind)?;
        let path = if told.kind == RunExprKind::Reads { format!("{name}.path") } else { name.to_owned() };
        let element = LocatedValue::new(JsValue::RunExpr(RunExpr::new(path, kind)), Span::default());
        let value = self.function_result(function, &[element], scope);
        self.truth_condition(&LocatedValue::new(value, Span::default()))
    }

    fn project_field(&mut self, told: &RunExpr, function: &TsFunction, scope: ScopeId) -> JsValue {
        let Some(kind) = element_of(told.kind) else { return open_value("a list") };
        let path = format!("{}[*]", told.nested_text(BindingStrength::Closely));
        let path = if told.kind == RunExprKind::Reads { format!("{path}.path") } else { path };
        let element = LocatedValue::new(JsValue::RunExpr(RunExpr::new(path.as_str(), kind)), Span::default());
        match (self.function_result(function, &[element], scope), &function.body) {
            (JsValue::RunExpr(given), FunctionBody::Value(_) | FunctionBody::Block(_))
                if given.text.starts_with(&path) =>
            {
                JsValue::RunExpr(RunExpr {
                    kind: if given.kind == RunExprKind::Text { RunExprKind::Texts } else { RunExprKind::Any },
                    ..given
                })
            }
            _ => open_value("a list of other values"),
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
            ("flat", _) => {
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
                for item in items {
                    let value = self.function_result(function, std::slice::from_ref(item), *scope);
                    match super::eval::plain_truth(&LocatedValue::new(value, item.span)) {
                        Some(true) => kept.push(item.clone()),
                        Some(false) => {}
                        None => return open_value("a list of what only a run shows"),
                    }
                }
                self.list_of(kept)
            }
            ("some" | "every", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                self.quantify_items(items, name == "some", function, *scope)
            }
            ("includes", [part]) => match self.run_expression(part) {
                Some(part) => {
                    match super::operators::plain_literal(&LocatedValue::new(
                        JsValue::List(items.to_vec()),
                        Span::default(),
                    )) {
                        Some(list) => JsValue::RunExpr(RunExpr::with_binding(
                            format!("{} in {list}", part.nested_text(BindingStrength::Sum)),
                            BindingStrength::Test,
                            RunExprKind::Truth,
                        )),
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
        let binds = if some { BindingStrength::Or } else { BindingStrength::And };
        let mut parts = Vec::new();
        for item in items {
            let value = self.function_result(function, std::slice::from_ref(item), scope);
            match self.truth_condition(&LocatedValue::new(value, item.span)) {
                Some(truth) => parts.push(truth.nested_text(binds)),
                None => return open_value("a condition on values"),
            }
        }
        match parts.is_empty() {
            true => JsValue::Bool(!some),
            false => JsValue::RunExpr(RunExpr::with_binding(
                parts.join(if some { " or " } else { " and " }),
                binds,
                RunExprKind::Truth,
            )),
        }
    }

    fn text_method(&mut self, text: &str, name: &str, arguments: &[LocatedValue]) -> JsValue {
        let argument = arguments.first().and_then(LocatedValue::as_text);
        match (name, argument) {
            ("trim", _) => JsValue::Text(text.trim().to_owned()),
            ("toLowerCase", _) => JsValue::Text(text.to_lowercase()),
            ("toUpperCase", _) => JsValue::Text(text.to_uppercase()),
            ("toString", _) => JsValue::Text(text.to_owned()),
            ("includes", Some(part)) => JsValue::Bool(text.contains(part)),
            ("startsWith", Some(part)) => JsValue::Bool(text.starts_with(part)),
            ("endsWith", Some(part)) => JsValue::Bool(text.ends_with(part)),
            ("concat", Some(part)) => self.long_text(format!("{text}{part}")),
            ("replaceAll", Some(part)) if !part.is_empty() => match arguments.get(1).and_then(LocatedValue::as_text) {
                Some(other) => self.long_text(text.replace(part, other)),
                None => open_value("a text"),
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
                Some(told) => JsValue::RunExpr(RunExpr::new(format!("json({})", told.text), RunExprKind::Any)),
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
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives")),
        }
    }

    fn fresh_name(&mut self) -> String {
        self.names = self.names.saturating_add(1);
        match self.names {
            1 => "x".to_owned(),
            number => format!("x{number}"),
        }
    }
}
