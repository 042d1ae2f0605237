//! Converts the traces of Dogwood's corpus to runs: a request and its response are one call.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A run, and the call that each decision belongs to.
pub struct RecordedTrace {
    pub run: Value,
    /// The index of the call, by time point.
    pub calls: BTreeMap<usize, usize>,
    /// Number of events that fit no call: a response without a request.
    pub odd: usize,
}

pub fn read_trace(text: &str) -> RecordedTrace {
    let mut calls: Vec<Value> = Vec::new();
    let (mut places, mut odd) = (BTreeMap::new(), 0);
    for (point, line) in text.lines().filter(|line| line.starts_with('@')).enumerate() {
        let event = LogEvent::read(line);
        let time = 1_700_000_000_000 + event.time * 1000;
        let open = |call: &Value| {
            call["status"] == "pending" && call["tool"] == json!(event.action) && call["id"] == event.field("requestId")
        };
        match event.kind.as_str() {
            "request" => {
                places.insert(point, calls.len());
                let mut meta = event.fields.clone();
                for known in ["input", "output", "callerPrincipal", "callerResource", "requestId"] {
                    meta.remove(known);
                }
                for (key, value) in &event.context {
                    if key != "input" {
                        meta.insert(key.clone(), value.clone());
                    }
                }
                meta.insert("principal".to_owned(), event.of_scope("principal"));
                meta.insert("resource".to_owned(), event.of_scope("resource"));
                if !event.groups.is_empty() {
                    meta.insert("resource_in".to_owned(), json!(event.groups));
                }
                calls.push(json!({"id": event.field("requestId"), "tool": event.action, "args": event.field("input"),
                    "start": time, "status": "pending", "meta": meta}));
            }
            kind => match calls.iter_mut().find(|call| open(call)) {
                Some(call) => {
                    call["end"] = json!(time);
                    call["status"] = json!(if kind == "response" { "ok" } else { "failed" });
                    call["result"] = event.fields.get("output").cloned().unwrap_or_else(|| json!({}));
                }
                None => odd += 1,
            },
        }
    }
    RecordedTrace { run: json!({ "calls": calls }), calls: places, odd }
}

struct LogEvent {
    time: i64,
    action: String,
    kind: String,
    scope: Map<String, Value>,
    context: Map<String, Value>,
    fields: Map<String, Value>,
    groups: Vec<Value>,
}

impl LogEvent {
    fn field(&self, name: &str) -> Value {
        self.fields.get(name).cloned().unwrap_or_default()
    }

    fn of_scope(&self, name: &str) -> Value {
        self.scope.get(name).cloned().unwrap_or_default()
    }

    fn read(line: &str) -> Self {
        let mut from = LogText { rest: line };
        from.need("@");
        let time = from.word().parse().unwrap();
        let mut event = Self {
            time,
            action: String::new(),
            kind: String::new(),
            scope: Map::new(),
            context: Map::new(),
            fields: Map::new(),
            groups: Vec::new(),
        };
        loop {
            let name = from.word();
            match name.as_str() {
                "" => return event,
                "scope" => event.scope = from.arguments(),
                "request_context" => event.context = from.arguments(),
                "entities" => event.groups = from.groups(),
                _ => {
                    let mut action = String::new();
                    while from.take("::") {
                        if from.rest.starts_with('"') {
                            action = from.text();
                        } else {
                            event.kind = from.word();
                        }
                    }
                    event.action = action;
                    event.fields = from.arguments();
                }
            }
        }
    }
}

struct LogText<'t> {
    rest: &'t str,
}

impl LogText<'_> {
    fn take(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn need(&mut self, sign: &str) {
        assert!(self.take(sign), "`{sign}` is expected at `{}`", self.rest);
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn text(&mut self) -> String {
        self.need("\"");
        let mut text = String::new();
        let mut signs = self.rest.chars();
        loop {
            match signs.next().unwrap() {
                '"' => break,
                '\\' => text.push(match signs.next().unwrap() {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    'u' => {
                        let digits: String = signs.by_ref().skip(1).take_while(|sign| *sign != '}').collect();
                        char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).unwrap()).unwrap()
                    }
                    'x' => {
                        let digits: String = signs.by_ref().take(2).collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                    }
                    sign => sign,
                }),
                sign => text.push(sign),
            }
        }
        self.rest = signs.as_str();
        text
    }

    /// Reads `(name: value, …)` or `{ name: value, … }`.
    fn entries(&mut self, end: &str) -> Map<String, Value> {
        let mut entries = Map::new();
        while !self.take(end) {
            let name = if self.rest.trim_start().starts_with('"') {
                self.rest = self.rest.trim_start();
                self.text()
            } else {
                self.word()
            };
            self.need(":");
            let value = self.value();
            entries.insert(name, value);
            self.take(",");
        }
        entries
    }

    fn arguments(&mut self) -> Map<String, Value> {
        self.need("(");
        self.entries(")")
    }

    /// Reads the groups of an entity: `(Entity: { … } in [Entity, …])`.
    fn groups(&mut self) -> Vec<Value> {
        self.need("(");
        let mut groups = Vec::new();
        while !self.take(")") {
            self.value();
            self.need(":");
            self.value();
            if self.take("in") {
                groups.extend(self.value().as_array().unwrap().clone());
            }
            self.take(",");
        }
        groups
    }

    fn value(&mut self) -> Value {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('"') {
            return json!(self.text());
        }
        if self.take("{") {
            return Value::Object(self.entries("}"));
        }
        if self.take("[") {
            let mut items = Vec::new();
            while !self.take("]") {
                items.push(self.value());
                self.take(",");
            }
            return Value::Array(items);
        }
        let mut word = self.word();
        if let Ok(number) = word.parse::<i64>() {
            if self.rest.starts_with('.') {
                self.take(".");
                return json!(format!("{word}.{}", self.word()).parse::<f64>().unwrap());
            }
            return json!(number);
        }
        match word.as_str() {
            "true" => return json!(true),
            "false" => return json!(false),
            "null" => return Value::Null,
            "decimal" => {
                self.need("(");
                let number = self.text();
                self.need(")");
                return number.parse::<f64>().map(|number| json!(number)).unwrap();
            }
            _ => {}
        }
        while self.take("::") {
            if self.rest.starts_with('"') {
                let id = self.text().replace('\\', "\\\\").replace('"', "\\\"");
                return json!(format!("{word}::\"{id}\""));
            }
            word = format!("{word}::{}", self.word());
        }
        json!(word)
    }
}
