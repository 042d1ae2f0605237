//! The policy of the program: tools that are allowed and denied, schemas of arguments.

use super::Assay;
use super::asked::Asked;
use super::regex::may_be_empty;
use super::rules::only;
use super::schemas::made;
use super::select::{argument, glob};
use super::sentence::Sentence;
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;

/// Keys that are read.
const KEYS: &[&str] = &[
    "version",
    "name",
    "description",
    "metadata",
    "allow",
    "deny",
    "tools",
    "schemas",
    "enforcement",
    "constraints",
    "$defs",
    "definitions",
    "sequences",
    "aliases",
    "on_error",
];
/// Keys of what is enforced while an agent runs, and cannot be asked of a recorded run.
const LIVE: &[&str] =
    &["limits", "signatures", "tool_pins", "discovery", "runtime_monitor", "kill_switch", "tool_classes"];
/// Keys of `tools` that are read.
const OF_TOOLS: &[&str] = &["allow", "deny", "require_args", "arg_constraints"];
/// Keys of `tools` of what is enforced while an agent runs.
const LIVE_TOOLS: &[&str] = &["allow_classes", "deny_classes", "approval_required", "restrict_scope", "redact_args"];

/// Whether a key of `tools` is a key of this shape.
pub(super) fn of_tools(key: &Node) -> bool {
    key.text().is_some_and(|key| OF_TOOLS.contains(&key) || LIVE_TOOLS.contains(&key))
}

/// Whether a document has this shape.
pub(super) fn is_one(document: &Node) -> bool {
    let has = |key| document.get(key);
    let tools = has("tools").map_or(&[][..], Node::entries);
    tools.iter().any(|(key, _)| of_tools(key))
        || ["allow", "deny"].iter().any(|key| has(key).is_some_and(Node::is_list))
        || ["schemas", "enforcement", "sequences"].iter().any(|key| has(key).is_some())
        || (has("version").is_some_and(|version| version.text().is_some()) && has("name").is_some())
}

/// Whether a key holds definitions that all schemas may refer to.
pub(super) fn is_shared(key: &Node) -> bool {
    matches!(key.text(), Some("$defs" | "definitions"))
}

impl Assay<'_, '_> {
    /// Denied, allowed, schemas; and with `enforcement`, that each tool has a schema.
    pub(super) fn structured(&mut self, document: &Node, asked: &Asked<'_>) -> Vec<Sentence> {
        self.live(document, "the policy", KEYS, LIVE);
        let tools = document.get("tools").filter(|tools| !tools.is_null());
        if let Some(tools) = tools {
            self.live(tools, "`tools`", OF_TOOLS, LIVE_TOOLS);
        }
        let places = |key| [document.get(key), tools.and_then(|tools| tools.get(key))].into_iter().flatten();
        let mut sentences = Vec::new();
        for denied in places("deny").filter(|node| !node.is_null()) {
            for tool in self.list_of(denied, "`deny`") {
                let Some(pattern) = self.glob(&tool, "a name of `deny`") else { continue };
                sentences.push(Sentence::new(tool.span, format!("never {pattern}")));
            }
        }
        let mut allowed = Vec::new();
        for list in places("allow").filter(|node| !node.is_null()) {
            let names = self.list_of(list, "`allow`");
            allowed.extend(
                names.iter().filter_map(|tool| self.glob(tool, "a name of `allow`").map(|one| (one, list.span))),
            );
        }
        if let Some((_, place)) = allowed.first().filter(|_| !allowed.iter().any(|(one, _)| one == "any")) {
            let names: Vec<String> = allowed.iter().map(|(name, _)| name.clone()).collect();
            sentences.push(Sentence::new(*place, only(&names)));
        }
        sentences.extend(self.of_schemas(document, asked));
        sentences.extend(document.get("constraints").map(|node| self.legacy(node)).unwrap_or_default());
        sentences.extend(tools.map(|tools| self.of_arguments(tools, document)).unwrap_or_default());
        sentences
    }

    fn of_schemas(&mut self, document: &Node, asked: &Asked<'_>) -> Vec<Sentence> {
        let schemas = document.get("schemas").filter(|schemas| !schemas.is_null());
        let entries: Vec<(Node, Node)> = schemas.map_or(&[][..], Node::entries).to_vec();
        let mut shared: Vec<(Node, Node)> = Vec::new();
        shared.extend(document.entries().iter().chain(&entries).filter(|(key, _)| is_shared(key)).cloned());
        let own: Vec<(Node, Node)> = entries.into_iter().filter(|(key, _)| !is_shared(key)).collect();
        let mut sentences = Vec::new();
        if let Some(word) = document.get("enforcement").and_then(|node| self.unconstrained(node)) {
            let known: Vec<String> = own.iter().map(|(name, _)| glob(&name.key())).collect();
            sentences.extend((word.text() == Some("deny")).then(|| Sentence::new(word.span, only(&known))));
        }
        let place = schemas.map_or(document.span, |schemas| schemas.span);
        sentences.extend(self.schema_map(&own, &shared, place, asked));
        sentences
    }

    /// What is done with calls of tools without a schema.
    fn unconstrained<'n>(&mut self, enforcement: &'n Node) -> Option<&'n Node> {
        self.low.said.keys(enforcement, "`enforcement`", &["unconstrained_tools"]);
        let word = enforcement.get("unconstrained_tools")?;
        let known = ["deny", "warn", "allow"];
        if !word.text().is_some_and(|text| known.contains(&text)) {
            self.low.said.unknown_word(word, "`unconstrained_tools`", &known);
        }
        Some(word)
    }

    /// The constraints of the first version: an expression for arguments, which have to be there.
    fn legacy(&mut self, constraints: &Node) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for entry in self.list_of(constraints, "`constraints`") {
            self.low.said.keys(&entry, "a constraint", &["tool", "params"]);
            let Some(tool) = self.low.said.required_text(&entry, "tool", "a constraint").map(glob) else { continue };
            for (name, spec) in entry.get("params").map_or(&[][..], Node::entries) {
                self.low.said.keys(spec, "a parameter", &["matches"]);
                let Some(pattern) = spec.get("matches") else { continue };
                let Some(regex) = self.regex(pattern, "") else { continue };
                let path = argument(&name.key());
                let filled = if may_be_empty(pattern) { format!("{path} is not empty and ") } else { String::new() };
                let text = format!("each {tool}: {filled}{path} matches {regex}");
                sentences.push(Sentence::new(name.span.to(spec.span), text));
            }
        }
        sentences
    }

    /// Arguments that have to be there, and what is asked of them.
    fn of_arguments(&mut self, tools: &Node, document: &Node) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for (tool, names) in tools.get("require_args").map_or(&[][..], Node::entries) {
            for name in self.list_of(names, "`require_args`") {
                let text = format!("each {}: {} exists", glob(&tool.key()), argument(&name.key()));
                sentences.push(Sentence::new(name.span, text));
            }
        }
        for (tool, arguments) in tools.get("arg_constraints").map_or(&[][..], Node::entries) {
            sentences.extend(self.arguments(&tool.key(), arguments, document));
        }
        sentences
    }

    /// The elements of a list; nothing is an empty one.
    fn list_of(&mut self, node: &Node, what: &str) -> Vec<Node> {
        if !node.is_list() && !node.is_null() {
            self.low.said.shape(node, what, "a list");
        }
        node.items().to_vec()
    }

    /// Keys that are known, and those that speak of an agent while it runs.
    fn live(&mut self, node: &Node, what: &str, known: &[&str], live: &[&str]) {
        let is_live = |key: &Node| key.text().is_some_and(|key| live.contains(&key));
        let nothing = |value: &Node| value.is_null() || matches!(&value.value, Value::List(items) if items.is_empty());
        for (key, value) in node.entries() {
            if is_live(key) && !nothing(value) {
                let message =
                    format!("`{}` is enforced while an agent runs, and cannot be asked of a recorded run", key.key());
                self.low.said.error(Slug::Misplaced, key.span, message, "leave it out of the policy of recorded runs");
            }
        }
        let rest: Vec<(Node, Node)> = node.entries().iter().filter(|(key, _)| !is_live(key)).cloned().collect();
        if node.is_map() {
            self.low.said.keys(&made(Value::Map(rest), node.span), what, known);
        } else {
            self.low.said.shape(node, what, "a mapping");
        }
    }
}
