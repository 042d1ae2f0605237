//! The tools that a server lists: by name, with their problems, and as a catalog for the checker.

use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_builtins::schema::CompiledSchema;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum size of a tool's schema in bytes.
const SCHEMA: usize = 256 << 10;
/// Maximum size of all schemas together in bytes.
const SCHEMAS: usize = 16 << 20;
pub(crate) const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The tools of a server.
#[derive(Debug, Default)]
pub struct ToolListing {
    tools: Vec<Value>,
    by_name: BTreeMap<String, Vec<usize>>,
    unusable: BTreeMap<String, String>,
}

impl ToolListing {
    /// Reads the listed tools. Also returns violations of the protocol.
    pub(crate) fn new(listed: Vec<Value>) -> (Self, Vec<String>) {
        let (mut listing, mut breaches) = (Self::default(), Vec::new());
        for (number, tool) in (1_usize..).zip(listed) {
            let Some(name) = tool.get("name").and_then(Value::as_str).map(str::to_owned) else {
                breaches.push(format!("tool {number} of `tools/list` has no name"));
                continue;
            };
            breaches.extend(
                HINTS
                    .into_iter()
                    .filter(|hint| is_wrong(&tool, hint))
                    .map(|hint| format!("`{hint}` of the tool `{name}` is neither true nor false in `tools/list`")),
            );
            listing.by_name.entry(name).or_default().push(listing.tools.len());
            listing.tools.push(tool);
        }
        let twice = listing.by_name.iter().filter(|(_, places)| places.len() > 1);
        breaches.extend(twice.map(|(name, places)| {
            format!(
                "`tools/list` has {} tools of the name `{name}`: what is said of one of them is said of all",
                places.len()
            )
        }));
        (listing, breaches)
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn tool_count(&self) -> usize {
        self.tools.len()
    }

    /// Returns the names of the tools, sorted.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns true if the server lists the tool.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the server's declarations of a tool; a tool may be listed several times.
    pub fn tool_declarations(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.by_name.get(name).into_iter().flatten().filter_map(|&place| self.tools.get(place))
    }

    /// Returns the message about an unlisted tool.
    #[must_use]
    pub fn unlisted_reason(&self, name: &str) -> String {
        let near =
            suggest_name(name, self.tool_names()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("the server does not list the tool `{name}`{near}")
    }

    /// Returns why no inputs can be generated from the tool's schema.
    #[must_use]
    pub fn unusable_reason(&self, name: &str) -> Option<&str> {
        self.unusable.get(name).map(String::as_str)
    }

    /// Returns a catalog in the format of `tools/list`: the server's tools with their usable schemas, and tools that only rules name, without a
    /// schema.
    #[must_use]
    pub fn build_catalog(&mut self, named: &[String]) -> String {
        self.look_at_schemas();
        let declared = self.tools.iter().map(|tool| {
            let mut tool = tool.clone();
            if let Some(entries) = tool.as_object_mut() {
                // The checker must not rely on what the server promises about its answers, because the answers are judged.
                entries.remove("outputSchema");
                if entries.get("name").and_then(Value::as_str).is_some_and(|name| self.unusable.contains_key(name)) {
                    entries.remove("inputSchema");
                }
            }
            tool
        });
        let unknown = named.iter().filter(|name| !self.has_tool(name)).map(|name| json!({"name": name}));
        json!({"tools": declared.chain(unknown).collect::<Vec<_>>()}).to_string()
    }

    fn look_at_schemas(&mut self) {
        let (limits, mut left, mut good) = (Limits::default(), SCHEMAS, BTreeSet::new());
        for tool in &self.tools {
            let Some((name, schema)) = tool.get("name").and_then(Value::as_str).zip(tool.get("inputSchema")) else {
                continue;
            };
            let text = schema.to_string();
            if good.contains(&text) {
                continue;
            }
            let used = match left.checked_sub(text.len()) {
                _ if text.len() > SCHEMA => Err(format!("it is larger than {SCHEMA} bytes")),
                None => Err(format!("the schemas of the server are larger than {SCHEMAS} bytes together")),
                Some(rest) => {
                    left = rest;
                    CompiledSchema::compile(&text, &limits).map(drop)
                }
            };
            match used {
                Ok(()) => drop(good.insert(text)),
                Err(why) => {
                    let why = format!("the schema of the tool `{name}` cannot be used: {why}");
                    self.unusable.insert(name.to_owned(), why);
                }
            }
        }
    }
}

/// Returns true if a hint is present but not a boolean.
pub(crate) fn is_wrong(tool: &Value, hint: &str) -> bool {
    let Some(annotations) = tool.get("annotations").filter(|annotations| !annotations.is_null()) else { return false };
    !annotations.is_object() || annotations.get(hint).is_some_and(|hint| !hint.is_boolean() && !hint.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_list_of_tools_is_said() {
        let (listing, breaches) = ToolListing::new(vec![
            json!({"name": "a"}),
            json!(1),
            json!({"name": "a", "annotations": {"destructiveHint": "true", "readOnlyHint": null}}),
        ]);
        assert_eq!((listing.tool_count(), listing.tool_declarations("a").count()), (2, 2));
        let wanted =
            ["tool 2 of `tools/list` has no name", "`destructiveHint` of the tool `a`", "2 tools of the name `a`"];
        assert_eq!(breaches.len(), wanted.len(), "{breaches:?}");
        assert!(breaches.iter().zip(wanted).all(|(breach, wanted)| breach.contains(wanted)), "{breaches:?}");
        assert_eq!(listing.unlisted_reason("aa"), "the server does not list the tool `aa`; did you mean `a`?");
    }

    #[test]
    fn a_schema_that_cannot_be_used_concerns_its_tool_alone() {
        let large: Vec<u32> = (0..100_000).collect();
        let (mut listing, _) = ToolListing::new(vec![
            json!({"name": "good", "inputSchema": {"type": "object"}}),
            json!({"name": "odd", "inputSchema": {"properties": {"a": {"pattern": "(x"}}}}),
            json!({"name": "large", "inputSchema": {"enum": large}}),
        ]);
        let catalogue = listing.build_catalog(&["other".to_owned()]);
        assert_eq!(catalogue.matches("inputSchema").count(), 1, "{catalogue}");
        assert!(catalogue.contains("\"other\"") && listing.unusable_reason("good").is_none());
        assert!(listing.unusable_reason("large").is_some_and(|why| why.contains("larger than 262144 bytes")));
        assert!(listing.unusable_reason("odd").is_some_and(|why| why.contains("`odd` cannot be used")));
    }
}
