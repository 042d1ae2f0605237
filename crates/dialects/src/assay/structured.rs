//! The policy format of the program: allowed tools, denied tools, argument schemas.

use super::AssayLowering;
use super::policy_scope::PolicyScope;
use super::regex::may_be_empty;
use super::rules::only_tools;
use super::schemas::synthetic_node;
use super::select::{argument_path, glob_pattern};
use super::sentence::AssayAssertion;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

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
/// Keys that are enforced only while an agent runs, so a recorded run cannot be checked against them.
const LIVE: &[&str] =
    &["limits", "signatures", "tool_pins", "discovery", "runtime_monitor", "kill_switch", "tool_classes"];
const OF_TOOLS: &[&str] = &["allow", "deny", "require_args", "arg_constraints"];
const LIVE_TOOLS: &[&str] = &["allow_classes", "deny_classes", "approval_required", "restrict_scope", "redact_args"];

pub(super) fn of_tools(key: &YamlNode) -> bool {
    key.as_text().is_some_and(|key| OF_TOOLS.contains(&key) || LIVE_TOOLS.contains(&key))
}

pub(super) fn is_structured(document: &YamlNode) -> bool {
    let has = |key| document.get(key);
    let tools = has("tools").map_or(&[][..], YamlNode::entries);
    tools.iter().any(|(key, _)| of_tools(key))
        || ["allow", "deny"].iter().any(|key| has(key).is_some_and(YamlNode::is_list))
        || ["schemas", "enforcement", "sequences"].iter().any(|key| has(key).is_some())
        || (has("version").is_some_and(|version| version.as_text().is_some()) && has("name").is_some())
}

pub(super) fn is_shared(key: &YamlNode) -> bool {
    matches!(key.as_text(), Some("$defs" | "definitions"))
}

impl AssayLowering<'_, '_> {
    /// Lowers a policy. With `enforcement`, each tool needs a schema.
    pub(super) fn lower_structured(&mut self, document: &YamlNode, asked: &PolicyScope<'_>) -> Vec<AssayAssertion> {
        self.check_live_keys(document, "the policy", KEYS, LIVE);
        let tools = document.get("tools").filter(|tools| !tools.is_null());
        if let Some(tools) = tools {
            self.check_live_keys(tools, "`tools`", OF_TOOLS, LIVE_TOOLS);
        }
        let places = |key| [document.get(key), tools.and_then(|tools| tools.get(key))].into_iter().flatten();
        let mut sentences = Vec::new();
        for denied in places("deny").filter(|node| !node.is_null()) {
            for tool in self.list_of(denied, "`deny`") {
                let Some(pattern) = self.read_glob(&tool, "a name of `deny`") else { continue };
                sentences.push(AssayAssertion::new(tool.span, format!("never {pattern}")));
            }
        }
        let mut allowed = Vec::new();
        for list in places("allow").filter(|node| !node.is_null()) {
            let names = self.list_of(list, "`allow`");
            allowed.extend(
                names.iter().filter_map(|tool| self.read_glob(tool, "a name of `allow`").map(|one| (one, list.span))),
            );
        }
        if let Some((_, place)) = allowed.first().filter(|_| !allowed.iter().any(|(one, _)| one == "any")) {
            let names: Vec<String> = allowed.iter().map(|(name, _)| name.clone()).collect();
            sentences.push(AssayAssertion::new(*place, only_tools(&names)));
        }
        sentences.extend(self.lower_schemas(document, asked));
        sentences.extend(document.get("constraints").map(|node| self.legacy_constraints(node)).unwrap_or_default());
        sentences.extend(tools.map(|tools| self.argument_constraints(tools, document)).unwrap_or_default());
        sentences
    }

    fn lower_schemas(&mut self, document: &YamlNode, asked: &PolicyScope<'_>) -> Vec<AssayAssertion> {
        let schemas = document.get("schemas").filter(|schemas| !schemas.is_null());
        let entries: Vec<(YamlNode, YamlNode)> = schemas.map_or(&[][..], YamlNode::entries).to_vec();
        let mut shared: Vec<(YamlNode, YamlNode)> = Vec::new();
        shared.extend(document.entries().iter().chain(&entries).filter(|(key, _)| is_shared(key)).cloned());
        let own: Vec<(YamlNode, YamlNode)> = entries.into_iter().filter(|(key, _)| !is_shared(key)).collect();
        let mut sentences = Vec::new();
        if let Some(word) = document.get("enforcement").and_then(|node| self.unconstrained_tools(node)) {
            let known: Vec<String> = own.iter().map(|(name, _)| glob_pattern(&name.key_text())).collect();
            sentences
                .extend((word.as_text() == Some("deny")).then(|| AssayAssertion::new(word.span, only_tools(&known))));
        }
        let place = schemas.map_or(document.span, |schemas| schemas.span);
        sentences.extend(self.schema_map(&own, &shared, place, asked));
        sentences
    }

    fn unconstrained_tools<'n>(&mut self, enforcement: &'n YamlNode) -> Option<&'n YamlNode> {
        self.low.sink.check_keys(enforcement, "`enforcement`", &["unconstrained_tools"]);
        let word = enforcement.get("unconstrained_tools")?;
        let known = ["deny", "warn", "allow"];
        if !word.as_text().is_some_and(|text| known.contains(&text)) {
            self.low.sink.unknown_word(word, "`unconstrained_tools`", &known);
        }
        Some(word)
    }

    /// Lowers version 1 constraints: a regular expression for each argument, which is then required.
    fn legacy_constraints(&mut self, constraints: &YamlNode) -> Vec<AssayAssertion> {
        let mut sentences = Vec::new();
        for entry in self.list_of(constraints, "`constraints`") {
            self.low.sink.check_keys(&entry, "a constraint", &["tool", "params"]);
            let Some(tool) = self.low.sink.required_text(&entry, "tool", "a constraint").map(glob_pattern) else {
                continue;
            };
            for (name, spec) in entry.get("params").map_or(&[][..], YamlNode::entries) {
                self.low.sink.check_keys(spec, "a parameter", &["matches"]);
                let Some(pattern) = spec.get("matches") else { continue };
                let Some(regex) = self.regex_literal(pattern, "") else { continue };
                let path = argument_path(&name.key_text());
                let filled = if may_be_empty(pattern) { format!("{path} is not empty and ") } else { String::new() };
                let text = format!("each {tool}: {filled}{path} matches {regex}");
                sentences.push(AssayAssertion::new(name.span.cover_with(spec.span), text));
            }
        }
        sentences
    }

    fn argument_constraints(&mut self, tools: &YamlNode, document: &YamlNode) -> Vec<AssayAssertion> {
        let mut sentences = Vec::new();
        for (tool, names) in tools.get("require_args").map_or(&[][..], YamlNode::entries) {
            for name in self.list_of(names, "`require_args`") {
                let text =
                    format!("each {}: {} exists", glob_pattern(&tool.key_text()), argument_path(&name.key_text()));
                sentences.push(AssayAssertion::new(name.span, text));
            }
        }
        for (tool, arguments) in tools.get("arg_constraints").map_or(&[][..], YamlNode::entries) {
            sentences.extend(self.lower_arguments(&tool.key_text(), arguments, document));
        }
        sentences
    }

    /// Returns the items of a list; null is an empty list.
    fn list_of(&mut self, node: &YamlNode, what: &str) -> Vec<YamlNode> {
        if !node.is_list() && !node.is_null() {
            self.low.sink.wrong_shape(node, what, "a list");
        }
        node.items().to_vec()
    }

    fn check_live_keys(&mut self, node: &YamlNode, what: &str, known: &[&str], live: &[&str]) {
        let is_live = |key: &YamlNode| key.as_text().is_some_and(|key| live.contains(&key));
        let nothing =
            |value: &YamlNode| value.is_null() || matches!(&value.value, YamlValue::List(items) if items.is_empty());
        for (key, value) in node.entries() {
            if is_live(key) && !nothing(value) {
                let message = format!(
                    "`{}` is enforced while an agent runs, and cannot be checked on a recorded run",
                    key.key_text()
                );
                self.low.sink.error(Slug::Misplaced, key.span, message, "leave it out of the policy of recorded runs");
            }
        }
        let rest: Vec<(YamlNode, YamlNode)> = node.entries().iter().filter(|(key, _)| !is_live(key)).cloned().collect();
        if node.is_map() {
            self.low.sink.check_keys(&synthetic_node(YamlValue::Map(rest), node.span), what, known);
        } else {
            self.low.sink.wrong_shape(node, what, "a mapping");
        }
    }
}
