//! Translates the paths and placeholders of a pack.

use super::template::KeptParams;
use crate::jsonpath::{self as path, ForeignPath, JsonPathStep};
use crate::writer::{object_key, quote_text};
use crate::yaml::{YamlNode, YamlValue};

/// The expressions for `$.response`, `$.input`, `$.tool` and `$.item` in an assertion.
#[derive(Debug, Clone)]
pub(super) struct PathRoots {
    pub response: String,
    pub input: String,
    /// `None` if nothing is known about the tool.
    pub tool: Option<String>,
    /// The current element inside of `for_each`.
    pub item: Option<String>,
    /// Its index in the list.
    pub index: Option<String>,
    /// True if `{{tool_name}}` is the called tool.
    pub each_tool: bool,
}

impl PathRoots {
    /// Returns the roots inside of an invariant.
    pub fn call_roots(each_tool: bool) -> Self {
        let tool = Some("about(tool)".to_owned());
        Self { response: "envelope".to_owned(), input: "args".to_owned(), tool, item: None, index: None, each_tool }
    }

    /// Returns the roots at a step of a sequence.
    pub fn step_roots(step: &str) -> Self {
        let (response, input) = (format!("answer({step})"), format!("{step}.args"));
        Self { response, input, tool: None, item: None, index: None, each_tool: false }
    }

    /// Returns the roots inside of `for_each`, and the loop variable. With `counted`, the variable holds the element and its index.
    pub fn inside_item(&self, counted: bool) -> (Self, String) {
        let variable = match &self.item {
            None => "item".to_owned(),
            Some(outer) => format!("inner_{}", outer.trim_end_matches(".value")),
        };
        let item = if counted { format!("{variable}.value") } else { variable.clone() };
        let index = counted.then(|| format!("{variable}.at"));
        (Self { item: Some(item), index, ..self.clone() }, variable)
    }

    fn root_text(&self, name: &str) -> Option<String> {
        match name {
            "response" => Some(self.response.clone()),
            "input" => Some(self.input.clone()),
            "tool" => self.tool.clone(),
            "item" => self.item.clone(),
            "index" => self.index.clone(),
            _ => None,
        }
    }

    fn context_object(&self) -> String {
        let tool = self.tool.as_deref().unwrap_or("null");
        let item = self.item.as_ref().map(|item| format!(", item: {item}")).unwrap_or_default();
        let index = self.index.as_ref().map(|index| format!(", index: {index}")).unwrap_or_default();
        format!("{{ input: {}, response: {}, tool: {tool}{item}{index} }}", self.input, self.response)
    }

    /// Returns the first value at a path.
    pub fn first_value(&self, path: &ForeignPath) -> String {
        match (path.steps.split_first(), path.rest.as_str()) {
            (None, "") => self.context_object(),
            (Some((JsonPathStep::Key(first), behind)), "") if self.root_text(first).is_some() => {
                format!("{}{}", self.root_text(first).unwrap_or_default(), path::steps_text(behind))
            }
            _ => format!("first({})", self.search_path(path)),
        }
    }

    /// Returns all values at a path.
    pub fn all_values(&self, path: &ForeignPath) -> String {
        self.search_path(path)
    }

    fn search_path(&self, path: &ForeignPath) -> String {
        if let Some((JsonPathStep::Key(first), behind)) = path.steps.split_first()
            && let Some(root) = self.root_text(first)
            && !path.rest.contains('$')
        {
            return format!(
                "jsonpath({root}, {})",
                quote_text(&format!("${}{}", path::as_jsonpath(behind), path.rest))
            );
        }
        format!(
            "jsonpath({}, {})",
            self.context_object(),
            quote_text(&format!("${}{}", path::as_jsonpath(&path.steps), path.rest))
        )
    }

    /// Returns a value of the pack as a literal, with the name of the tool filled in.
    pub fn value_literal(&self, node: &YamlNode, kept: &KeptParams) -> String {
        if let Some(literal) = kept.scalar_literal(node) {
            return literal;
        }
        let joined = |parts: Vec<String>| parts.join(", ");
        match &node.value {
            YamlValue::Text(text) => self.tool_text(text),
            YamlValue::List(items) => {
                format!("[{}]", joined(items.iter().map(|item| self.value_literal(item, kept)).collect()))
            }
            YamlValue::Map(entries) if !entries.is_empty() => {
                let entry = |(key, value): &(YamlNode, YamlNode)| {
                    format!("{}: {}", object_key(&key.key_text()), self.value_literal(value, kept))
                };
                format!("{{ {} }}", joined(entries.iter().map(entry).collect()))
            }
            _ => crate::writer::value_literal(node),
        }
    }

    fn tool_text(&self, text: &str) -> String {
        const TOOL: &str = "{{tool_name}}";
        match self.each_tool && text.contains(TOOL) {
            false => quote_text(text),
            true if text == TOOL => "tool".to_owned(),
            true => {
                let mut out = String::new();
                for (at, part) in text.split(TOOL).enumerate() {
                    let part = quote_text(part);
                    out.push_str(if at > 0 { "${tool}" } else { "" });
                    out.push_str(part.trim_start_matches('"').strip_suffix('"').unwrap_or(""));
                }
                format!("\"{out}\"")
            }
        }
    }
}
