//! What the paths and placeholders of a pack stand for in a sentence.

use crate::jsonpath::{self as path, Path, Step};
use crate::writer::{object_key, quoted};
use crate::yaml::{Node, Value};

/// What `$.response`, `$.input`, `$.tool` and `$.item` are where an assertion stands.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub response: String,
    pub input: String,
    /// `None` where nothing is known of the tool.
    pub tool: Option<String>,
    /// The element that is looked at, inside of `for_each`.
    pub item: Option<String>,
    /// Its place in the list.
    pub index: Option<String>,
    /// Whether `{{tool_name}}` stands for the tool that was called.
    pub each_tool: bool,
}

impl Names {
    /// In an invariant.
    pub fn of_call(each_tool: bool) -> Self {
        let tool = Some("about(tool)".to_owned());
        Self { response: "envelope".to_owned(), input: "args".to_owned(), tool, item: None, index: None, each_tool }
    }

    /// At a step of a sequence.
    pub fn of_step(step: &str) -> Self {
        let (response, input) = (format!("answer({step})"), format!("{step}.args"));
        Self { response, input, tool: None, item: None, index: None, each_tool: false }
    }

    /// Inside of `for_each`, with the variable that it looks at; with `counted` that is the element with its place.
    pub fn inside(&self, counted: bool) -> (Self, String) {
        let variable = match &self.item {
            None => "item".to_owned(),
            Some(outer) => format!("inner_{}", outer.trim_end_matches(".value")),
        };
        let item = if counted { format!("{variable}.value") } else { variable.clone() };
        let index = counted.then(|| format!("{variable}.at"));
        (Self { item: Some(item), index, ..self.clone() }, variable)
    }

    fn root(&self, name: &str) -> Option<String> {
        match name {
            "response" => Some(self.response.clone()),
            "input" => Some(self.input.clone()),
            "tool" => self.tool.clone(),
            "item" => self.item.clone(),
            "index" => self.index.clone(),
            _ => None,
        }
    }

    /// Everything that a path can begin at, as one object.
    fn context(&self) -> String {
        let tool = self.tool.as_deref().unwrap_or("null");
        let item = self.item.as_ref().map(|item| format!(", item: {item}")).unwrap_or_default();
        let index = self.index.as_ref().map(|index| format!(", index: {index}")).unwrap_or_default();
        format!("{{ input: {}, response: {}, tool: {tool}{item}{index} }}", self.input, self.response)
    }

    /// The first value that a path finds.
    pub fn value(&self, path: &Path) -> String {
        match (path.steps.split_first(), path.rest.as_str()) {
            (None, "") => self.context(),
            (Some((Step::Key(first), behind)), "") if self.root(first).is_some() => {
                format!("{}{}", self.root(first).unwrap_or_default(), path::written(behind))
            }
            _ => format!("first({})", self.searched(path)),
        }
    }

    /// All values that a path finds.
    pub fn values(&self, path: &Path) -> String {
        self.searched(path)
    }

    fn searched(&self, path: &Path) -> String {
        if let Some((Step::Key(first), behind)) = path.steps.split_first()
            && let Some(root) = self.root(first)
            && !path.rest.contains('$')
        {
            return format!("jsonpath({root}, {})", quoted(&format!("${}{}", path::as_jsonpath(behind), path.rest)));
        }
        format!(
            "jsonpath({}, {})",
            self.context(),
            quoted(&format!("${}{}", path::as_jsonpath(&path.steps), path.rest))
        )
    }

    /// A value of the pack, with the name of the tool in its place.
    pub fn literal(&self, node: &Node) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match &node.value {
            Value::Text(text) => self.text(text),
            Value::List(items) => format!("[{}]", joined(items.iter().map(|item| self.literal(item)).collect())),
            Value::Map(entries) if !entries.is_empty() => {
                let entry =
                    |(key, value): &(Node, Node)| format!("{}: {}", object_key(&key.key()), self.literal(value));
                format!("{{ {} }}", joined(entries.iter().map(entry).collect()))
            }
            _ => crate::writer::literal(node),
        }
    }

    /// A text of the pack, with the name of the tool in its place.
    fn text(&self, text: &str) -> String {
        const TOOL: &str = "{{tool_name}}";
        match self.each_tool && text.contains(TOOL) {
            false => quoted(text),
            true if text == TOOL => "tool".to_owned(),
            true => {
                let mut out = String::new();
                for (at, part) in text.split(TOOL).enumerate() {
                    let part = quoted(part);
                    out.push_str(if at > 0 { "${tool}" } else { "" });
                    out.push_str(part.trim_start_matches('"').strip_suffix('"').unwrap_or(""));
                }
                format!("\"{out}\"")
            }
        }
    }
}
