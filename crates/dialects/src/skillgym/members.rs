//! What values have and can do: the report of a session as the run that it tells of, lists, texts.

use super::eval::{regex_of, written};
use super::program::Program;
use super::value::{Item, Kind, Scope, Told, Value, open};
use crate::typescript::tree::{Body, Function};
use crate::writer::{Binds, member, quoted};
use averment_base::source::Span;

/// The properties of what is known of a run: whose, its name, what it is here.
const PROPERTIES: &[(Kind, &str, &str, Kind)] = &[
    (Kind::Report, "finalOutput", "output", Kind::Text),
    (Kind::Report, "prompt", "prompt", Kind::Text),
    (Kind::Report, "durationMs", "duration", Kind::Time),
    (Kind::Report, "detectedSkills", "skills", Kind::Skills),
    (Kind::Report, "usage", "usage", Kind::Usage),
    (Kind::Report, "files", "", Kind::Files),
    (Kind::Report, "runner", "meta", Kind::Runner),
    (Kind::Usage, "inputTokens", "usage.input_tokens", Kind::Number),
    (Kind::Usage, "outputTokens", "usage.output_tokens", Kind::Number),
    (Kind::Usage, "reasoningTokens", "usage.reasoning_tokens", Kind::Number),
    (Kind::Usage, "cacheTokens", "usage.cache_read_tokens", Kind::Number),
    (Kind::Usage, "totalTokens", "usage.total_tokens", Kind::Number),
    (Kind::Usage, "inputChars", "length(prompt)", Kind::Number),
    (Kind::Usage, "outputChars", "length(output)", Kind::Number),
    (Kind::Files, "observedReads", "reads", Kind::Reads),
    (Kind::Runner, "id", "meta.runner", Kind::Text),
    (Kind::Runner, "agent", "meta", Kind::Agent),
    (Kind::Agent, "type", "meta.agent", Kind::Text),
    (Kind::Agent, "model", "meta.model", Kind::Text),
    (Kind::Result, "error", "", Kind::Failure),
    (Kind::Failure, "message", "message", Kind::Message),
];

/// The fields of elements: whose, its name there, its name here, what it is.
const FIELDS: &[(Kind, &str, &str, Kind)] = &[
    (Kind::Command, "command", "command", Kind::Text),
    (Kind::Call, "tool", "tool", Kind::Text),
    (Kind::Call, "args", "args", Kind::Any),
    (Kind::Skill, "skill", "name", Kind::Text),
    (Kind::Skill, "confidence", "confidence", Kind::Text),
];

/// What an assertion is given beside the report can be asked for.
const ASKED: &[(&str, &str, Kind)] = &[
    ("getCommands", "commands", Kind::Commands),
    ("getToolCalls", "calls", Kind::Calls),
    ("getFileReads", "reads", Kind::Reads),
    ("detectedSkills", "skills", Kind::Skills),
    ("finalOutput", "output", Kind::Text),
];

/// What the elements of a list are; reads are objects with a path here.
fn element_of(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::Commands => Some(Kind::Command),
        Kind::Calls => Some(Kind::Call),
        Kind::Skills => Some(Kind::Skill),
        Kind::Reads | Kind::Texts => Some(Kind::Text),
        Kind::Any => Some(Kind::Any),
        _ => None,
    }
}

impl Program<'_, '_> {
    /// A property of a value.
    pub(super) fn member(&mut self, of: &Item, name: &str) -> Value {
        match &of.value {
            Value::Object(_) => of.get(name).map_or(Value::Undefined, |item| item.value.clone()),
            Value::Text(text) if name == "length" => Value::Number(text.encode_utf16().count() as f64),
            Value::List(items) if name == "length" => Value::Number(items.len() as f64),
            Value::Api(path) => Value::Api(format!("{path}.{name}")),
            Value::Told(told) => self.property(told, name),
            Value::Open(why) => Value::Open(why.clone()),
            _ => open("what only a running program shows"),
        }
    }

    fn property(&mut self, told: &Told, name: &str) -> Value {
        let known = PROPERTIES.iter().find(|(of, known, ..)| *of == told.kind && *known == name);
        if let Some((.., text, kind)) = known {
            return Value::Told(Told::new(*text, *kind));
        }
        let field = FIELDS.iter().find(|(of, known, ..)| *of == told.kind && *known == name);
        if let Some((.., text, kind)) = field {
            let path = if told.text.is_empty() { (*text).to_owned() } else { format!("{}.{text}", told.text) };
            return Value::Told(Told::new(path, *kind));
        }
        match (told.kind, name) {
            (
                Kind::Text | Kind::Any | Kind::Commands | Kind::Calls | Kind::Reads | Kind::Skills | Kind::Texts,
                "length",
            ) => Value::Told(Told::new(format!("length({})", told.text), Kind::Number)),
            (Kind::Any, name) => {
                Value::Told(Told::new(format!("{}{}", told.inside(Binds::Closely), member(name)), Kind::Any))
            }
            (Kind::Report | Kind::Context | Kind::Usage | Kind::Files | Kind::Runner | Kind::Agent, name) => {
                Value::Open(format!("`{name}`, which no run has here"))
            }
            (_, name) => Value::Open(format!("`{name}` of what only a run shows")),
        }
    }

    /// An element of a list of a run, by its place.
    pub(super) fn element(&mut self, told: &Told, place: i64) -> Value {
        let Some(kind) = element_of(told.kind) else { return open("an element of what is no list") };
        let path = format!("{}[{place}]", told.inside(Binds::Closely));
        Value::Told(Told::new(if told.kind == Kind::Reads { format!("{path}.path") } else { path }, kind))
    }

    /// What a method of a value gives.
    pub(super) fn method(&mut self, of: &Item, name: &str, arguments: &[Item]) -> Value {
        match &of.value {
            Value::Told(told) => self.of_told(&told.clone(), name, arguments),
            Value::List(items) => self.of_list(&items.clone(), name, arguments),
            Value::Text(text) => self.of_text(text, name, arguments),
            Value::Builder(entries) => super::matcher::built(entries.clone(), name, arguments),
            Value::Regex { .. } if name == "test" => match arguments {
                [text] => self.searched(text, of).map_or_else(|| open("a search"), Value::Told),
                _ => open("a search"),
            },
            Value::Open(why) => Value::Open(why.clone()),
            _ => Value::Open(format!("what `{name}` gives")),
        }
    }

    /// Whether a regular expression finds something in a text.
    pub(super) fn searched(&mut self, text: &Item, regex: &Item) -> Option<Told> {
        let literal = self.regex(regex)?;
        self.backtracks |= literal.backtracks;
        let text = self.told(text)?;
        Some(text.test(("matches", "not matches"), &literal.text))
    }

    fn of_told(&mut self, told: &Told, name: &str, arguments: &[Item]) -> Value {
        let asked = ASKED.iter().find(|(known, ..)| told.kind == Kind::Context && *known == name);
        if let Some((_, list, kind)) = asked {
            let chosen = arguments.first().filter(|tool| !tool.is_nothing());
            return match chosen.map(|tool| tool.text()) {
                None => Value::Told(Told::new(*list, *kind)),
                Some(Some(tool)) => Value::Told(Told::new(format!("({list} where tool == {})", quoted(tool)), *kind)),
                Some(None) => open("calls of a tool that only a running program shows"),
            };
        }
        let is_list = element_of(told.kind).is_some();
        match (name, arguments) {
            ("some" | "every" | "filter" | "map" | "find" | "join" | "at", _) if is_list => {
                self.of_told_list(told, name, arguments)
            }
            ("includes", [part]) if matches!(told.kind, Kind::Reads) => {
                self.contains(&Told::new("reads[*].path", Kind::Texts), part)
            }
            ("includes", [part]) => self.contains(told, part),
            ("startsWith", [part]) => self.test(told, "starts with", part),
            ("endsWith", [part]) => self.test(told, "ends with", part),
            ("match", [regex]) if told.kind == Kind::Text || told.kind == Kind::Message => {
                let text = Item::new(Value::Told(told.clone()), regex.span);
                self.searched(&text, regex).map_or_else(|| open("a search"), Value::Told)
            }
            ("trim" | "toLowerCase" | "toUpperCase", []) => {
                let function = match name {
                    "trim" => "trim",
                    "toLowerCase" => "lower",
                    _ => "upper",
                };
                Value::Told(Told::new(format!("{function}({})", told.text), told.kind))
            }
            ("split", [separator]) if separator.text().is_some_and(|text| !text.is_empty()) => {
                let separator = quoted(separator.text().unwrap_or_default());
                Value::Told(Told::new(format!("split({}, {separator})", told.text), Kind::Texts))
            }
            ("toString", []) if told.kind == Kind::Text => Value::Told(told.clone()),
            _ => Value::Open(format!("what `{name}` gives of something in a run")),
        }
    }

    fn contains(&mut self, told: &Told, part: &Item) -> Value {
        self.test(told, "contains", part)
    }

    fn test(&mut self, told: &Told, words: &str, part: &Item) -> Value {
        match self.told(part) {
            Some(part) => Value::Told(told.test((words, &format!("not {words}")), &part.inside(Binds::Sum))),
            None => open("a part that only a running program shows"),
        }
    }

    fn of_told_list(&mut self, told: &Told, name: &str, arguments: &[Item]) -> Value {
        let list = told.inside(Binds::Closely);
        match (name, arguments) {
            ("at", [place]) => match place.number().and_then(super::eval::whole) {
                Some(place) => self.element(told, place),
                None => open("an element that only a running program shows"),
            },
            ("join", _) => {
                let separator = arguments.first().map_or(Some(","), Item::text);
                let texts = if told.kind == Kind::Reads { "reads[*].path".to_owned() } else { told.text.clone() };
                separator.map_or_else(
                    || open("a text"),
                    |separator| Value::Told(Told::new(format!("join({texts}, {})", quoted(separator)), Kind::Text)),
                )
            }
            ("map", [Item { value: Value::Function(function, scope), .. }]) => self.projected(told, function, *scope),
            ("some" | "every" | "filter" | "find", [Item { value: Value::Function(function, scope), .. }]) => {
                let name_here = self.fresh();
                let Some(condition) = self.condition_on(told, function, *scope, &name_here) else {
                    return open("a condition on elements");
                };
                let text = match name {
                    "some" => format!("any {name_here} in {list}: {}", condition.text),
                    "every" => format!("all {name_here} in {list}: {}", condition.text),
                    "find" => format!("(any {name_here} in {list}: {})", condition.text),
                    // What follows asks how many there are.
                    _ => format!("(count {name_here} in {list}: {})", condition.text),
                };
                match name {
                    "filter" => Value::Object(vec![(
                        "length".to_owned(),
                        Item::new(Value::Told(Told::new(text, Kind::Number)), Span::default()),
                    )]),
                    _ => Value::Told(Told::bound(text, Binds::Reaches, Kind::Truth)),
                }
            }
            _ => Value::Open(format!("what `{name}` gives of a list of a run")),
        }
    }

    /// What a function says of each element, as a condition on a name.
    fn condition_on(&mut self, told: &Told, function: &Function, scope: Scope, name: &str) -> Option<Told> {
        let kind = element_of(told.kind)?;
        let path = if told.kind == Kind::Reads { format!("{name}.path") } else { name.to_owned() };
        let element = Item::new(Value::Told(Told::new(path, kind)), Span::default());
        let value = self.result(function, &[element], scope);
        self.truth(&Item::new(value, Span::default()))
    }

    /// A list with one field of each element.
    fn projected(&mut self, told: &Told, function: &Function, scope: Scope) -> Value {
        let Some(kind) = element_of(told.kind) else { return open("a list") };
        let path = format!("{}[*]", told.inside(Binds::Closely));
        let path = if told.kind == Kind::Reads { format!("{path}.path") } else { path };
        let element = Item::new(Value::Told(Told::new(path.as_str(), kind)), Span::default());
        match (self.result(function, &[element], scope), &function.body) {
            (Value::Told(given), Body::Value(_) | Body::Block(_)) if given.text.starts_with(&path) => {
                Value::Told(Told { kind: if given.kind == Kind::Text { Kind::Texts } else { Kind::Any }, ..given })
            }
            _ => open("a list of other values"),
        }
    }

    fn of_list(&mut self, items: &[Item], name: &str, arguments: &[Item]) -> Value {
        match (name, arguments) {
            ("join", _) => {
                let separator = arguments.first().map_or(Some(","), Item::text);
                let parts: Option<Vec<String>> = items.iter().map(written).collect();
                match (parts, separator) {
                    (Some(parts), Some(separator)) => {
                        let text = parts.join(separator);
                        self.long_text(text)
                    }
                    _ => open("a text that only a run shows"),
                }
            }
            ("concat", _) => {
                let mut all = items.to_vec();
                for argument in arguments {
                    match &argument.value {
                        Value::List(more) => all.extend(more.iter().cloned()),
                        _ => all.push(argument.clone()),
                    }
                }
                self.list_of(all)
            }
            ("flat", _) => {
                let inner = |item: &Item| match &item.value {
                    Value::List(inner) => inner.clone(),
                    _ => vec![item.clone()],
                };
                self.list_of(items.iter().flat_map(inner).collect())
            }
            ("map" | "flatMap", [Item { value: Value::Function(function, scope), .. }]) => {
                let mut all = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    let place = Item::new(Value::Number(at as f64), item.span);
                    let value = self.result(function, &[item.clone(), place], *scope);
                    match value {
                        Value::List(inner) if name == "flatMap" => all.extend(inner),
                        value => all.push(Item::new(value, item.span)),
                    }
                }
                self.list_of(all)
            }
            ("filter", [Item { value: Value::Function(function, scope), .. }]) => {
                let mut kept = Vec::new();
                for item in items {
                    let value = self.result(function, std::slice::from_ref(item), *scope);
                    match super::eval::plain_truth(&Item::new(value, item.span)) {
                        Some(true) => kept.push(item.clone()),
                        Some(false) => {}
                        None => return open("a list of what only a run shows"),
                    }
                }
                self.list_of(kept)
            }
            ("some" | "every", [Item { value: Value::Function(function, scope), .. }]) => {
                self.quantified(items, name == "some", function, *scope)
            }
            ("includes", [part]) => match self.told(part) {
                Some(part) => {
                    match super::operators::plain_literal(&Item::new(Value::List(items.to_vec()), Span::default())) {
                        Some(list) => Value::Told(Told::bound(
                            format!("{} in {list}", part.inside(Binds::Sum)),
                            Binds::Test,
                            Kind::Truth,
                        )),
                        None => open("a list of what only a run shows"),
                    }
                }
                None => open("whether something is in a list"),
            },
            _ => Value::Open(format!("what `{name}` gives")),
        }
    }

    fn list_of(&mut self, items: Vec<Item>) -> Value {
        if self.takes(items.len()) { Value::List(items) } else { open("too much to follow") }
    }

    /// Whether a condition holds of some or of every one of some values that are there without a run.
    fn quantified(&mut self, items: &[Item], some: bool, function: &Function, scope: Scope) -> Value {
        let binds = if some { Binds::Or } else { Binds::And };
        let mut parts = Vec::new();
        for item in items {
            let value = self.result(function, std::slice::from_ref(item), scope);
            match self.truth(&Item::new(value, item.span)) {
                Some(truth) => parts.push(truth.inside(binds)),
                None => return open("a condition on values"),
            }
        }
        match parts.is_empty() {
            true => Value::Bool(!some),
            false => Value::Told(Told::bound(parts.join(if some { " or " } else { " and " }), binds, Kind::Truth)),
        }
    }

    fn of_text(&mut self, text: &str, name: &str, arguments: &[Item]) -> Value {
        let argument = arguments.first().and_then(Item::text);
        match (name, argument) {
            ("trim", _) => Value::Text(text.trim().to_owned()),
            ("toLowerCase", _) => Value::Text(text.to_lowercase()),
            ("toUpperCase", _) => Value::Text(text.to_uppercase()),
            ("toString", _) => Value::Text(text.to_owned()),
            ("includes", Some(part)) => Value::Bool(text.contains(part)),
            ("startsWith", Some(part)) => Value::Bool(text.starts_with(part)),
            ("endsWith", Some(part)) => Value::Bool(text.ends_with(part)),
            ("concat", Some(part)) => self.long_text(format!("{text}{part}")),
            ("replaceAll", Some(part)) if !part.is_empty() => match arguments.get(1).and_then(Item::text) {
                Some(other) => self.long_text(text.replace(part, other)),
                None => open("a text"),
            },
            ("split", Some(part)) if !part.is_empty() => {
                let parts = text.split(part).map(|part| Item::new(Value::Text(part.to_owned()), Span::default()));
                self.list_of(parts.collect())
            }
            _ => Value::Open(format!("what `{name}` gives of a text")),
        }
    }

    /// What a function of SkillGym or of the runtime gives.
    pub(super) fn given_by(&mut self, name: &str, arguments: &[Item], span: Span) -> Value {
        let first = arguments.first();
        match name {
            "RegExp" => regex_of(arguments),
            "String" | "String.raw" => first.and_then(written).map_or_else(|| open("a text"), Value::Text),
            "Number" | "Boolean" => match first {
                Some(Item {
                    value: value @ (Value::Number(_) | Value::Told(Told { kind: Kind::Number | Kind::Time, .. })),
                    ..
                }) => value.clone(),
                Some(item) if name == "Boolean" => self.truth(item).map_or_else(|| open("a truth"), Value::Told),
                _ => open("a number"),
            },
            "Object.freeze" | "structuredClone" | "defineConfig" | "defineSuite" => {
                first.map_or(Value::Undefined, |item| item.value.clone())
            }
            "Object.values" | "Object.entries" | "Object.keys" => match first.map(|item| &item.value) {
                Some(Value::Object(entries)) => {
                    let text = |key: &String| Item::new(Value::Text(key.clone()), span);
                    let of = |(key, item): &(String, Item)| match name {
                        "Object.values" => item.clone(),
                        "Object.keys" => text(key),
                        _ => Item::new(Value::List(vec![text(key), item.clone()]), span),
                    };
                    self.list_of(entries.iter().map(of).collect())
                }
                _ => open("the properties of an object"),
            },
            "JSON.parse" => match first.and_then(|item| self.told(item)) {
                Some(told) => Value::Told(Told::new(format!("json({})", told.text), Kind::Any)),
                None => open("JSON"),
            },
            "Array.isArray" => match first.and_then(|item| self.told(item)) {
                Some(told) => {
                    Value::Told(Told::bound(format!("{} is list", told.inside(Binds::Sum)), Binds::Test, Kind::Truth))
                }
                None => open("whether something is a list"),
            },
            "commandMatcher" => Value::Builder(super::matcher::begun(first)),
            _ => Value::Open(format!("what `{name}` gives")),
        }
    }

    /// A name for elements that nothing else has.
    fn fresh(&mut self) -> String {
        self.names = self.names.saturating_add(1);
        match self.names {
            1 => "x".to_owned(),
            number => format!("x{number}"),
        }
    }
}
