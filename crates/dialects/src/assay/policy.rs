//! Policy files: detects the format of a file and lowers its rules.

use super::AssayLowering;
use super::policy_scope::{ALL, PolicyScope};
use super::reading::{RuleContext, RuleSemantics};
use super::rules::{are_rules, only_tools};
use super::schemas::synthetic_node;
use super::select::{ToolAliases, glob_pattern};
use super::sentence::{AssayAssertion, RuleDraft};
use super::structured;
use crate::writer;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

/// Keys of a JSON Schema. A mapping from tools to schemas has these keys one level deeper.
const OF_SCHEMA: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "$ref",
];

pub(super) fn is_policy(document: &YamlNode) -> bool {
    let are_schemas = || {
        let looks = |(key, value): &(YamlNode, YamlNode)| {
            structured::is_shared(key) || OF_SCHEMA.iter().any(|key| value.get(key).is_some())
        };
        !document.entries().is_empty() && document.entries().iter().all(looks)
    };
    let are_names = || !document.items().is_empty() && document.items().iter().all(|item| item.as_text().is_some());
    is_documented(document)
        || structured::is_structured(document)
        || are_schemas()
        || are_rules(document)
        || are_names()
}

fn is_documented(document: &YamlNode) -> bool {
    let tools = document.get("tools").map_or(&[][..], YamlNode::entries);
    !tools.is_empty() && tools.iter().all(|(key, value)| value.is_map() && !structured::of_tools(key))
}

pub(super) fn lower_policy_file(assay: &mut AssayLowering<'_, '_>, document: &YamlNode) {
    let mut sentences = Vec::new();
    if !document.is_list() {
        sentences.extend(assay.lower_policy(document, &ALL));
    }
    let of_arguments = sentences.len();
    if document.is_list() || document.get("sequences").is_some() {
        sentences.extend(assay.lower_sequences(document, RuleSemantics::Program));
    }
    let name = document.get("name").and_then(YamlNode::as_text).unwrap_or("policy");
    if sentences.is_empty() && !assay.low.sink.has_errors() {
        let message = "the policy asks for nothing: it could never fail";
        assay.low.sink.error(
            Slug::TypeMismatch,
            document.span.at_start(),
            message,
            "write `deny`, `allow` or `schemas`",
        );
    }
    let head = format!("rule {}", assay.labels.unique_label(name));
    // A policy with both kinds of rules is reported under its own metric name.
    let settings = match (of_arguments, sentences.len()) {
        (0, _) => vec!["as sequence_valid".to_owned()],
        (of_arguments, all) if of_arguments == all => vec!["as args_valid".to_owned()],
        _ => Vec::new(),
    };
    assay.write_rule(&RuleDraft { place: document.span, head, settings, sentences });
}

impl AssayLowering<'_, '_> {
    pub(super) fn lower_policy(&mut self, document: &YamlNode, asked: &PolicyScope<'_>) -> Vec<AssayAssertion> {
        if !document.is_map() {
            self.low.sink.wrong_shape(document, "the policy", "a mapping of tools to rules for their arguments");
            return Vec::new();
        }
        match () {
            () if is_documented(document) => self.lower_documented(document, asked),
            () if structured::is_structured(document) => self.lower_structured(document, asked),
            () => {
                let entries = document.entries().iter().cloned();
                let (shared, own) = entries.partition::<Vec<_>, _>(|(key, _)| structured::is_shared(key));
                self.schema_map(&own, &shared, document.span, asked)
            }
        }
    }

    fn lower_documented(&mut self, document: &YamlNode, asked: &PolicyScope<'_>) -> Vec<AssayAssertion> {
        let keys = ["version", "name", "description", "tools", "definitions", "$defs"];
        self.low.sink.check_keys(document, "the policy", &keys);
        let Some(tools) = document.get("tools") else { return Vec::new() };
        let mut sentences = self.known_only(tools.entries(), tools.span, asked);
        for (name, tool) in self.scoped_tools(tools.entries(), asked) {
            let what = format!("the tool `{}`", name.key_text());
            self.low.sink.check_keys(&tool, &what, &["description", "arguments"]);
            if let Some(arguments) = tool.get("arguments").filter(|arguments| !arguments.is_null()) {
                sentences.extend(self.lower_arguments(&name.key_text(), arguments, document));
            }
        }
        sentences
    }

    /// Lowers a mapping from tools to schemas; `shared` holds definitions that all schemas may refer to.
    pub(super) fn schema_map(
        &mut self,
        tools: &[(YamlNode, YamlNode)],
        shared: &[(YamlNode, YamlNode)],
        place: Span,
        asked: &PolicyScope<'_>,
    ) -> Vec<AssayAssertion> {
        let mut sentences = self.known_only(tools, place, asked);
        for (name, schema) in self.scoped_tools(tools, asked) {
            let schema = match &schema.value {
                YamlValue::Map(_) => with_shared(&schema, shared),
                YamlValue::Bool(true) => synthetic_node(YamlValue::Map(Vec::new()), schema.span),
                YamlValue::Bool(false) => {
                    sentences
                        .push(AssayAssertion::new(schema.span, format!("never {}", glob_pattern(&name.key_text()))));
                    continue;
                }
                _ if OF_SCHEMA.contains(&name.key_text().as_str()) => {
                    let message =
                        format!("`{}` is a key of a JSON Schema, where the name of a tool stands", name.key_text());
                    self.low.sink.error(Slug::TypeMismatch, name.span, message, "write the schema under its tool");
                    continue;
                }
                _ => {
                    self.low.sink.wrong_shape(
                        &schema,
                        &format!("the schema of `{}`", name.key_text()),
                        "a JSON Schema",
                    );
                    continue;
                }
            };
            sentences.push(self.fits_schema(&writer::tool_pattern(&name.key_text()), &name, &schema));
        }
        sentences
    }

    /// With `strict`, writes that only tools of the policy may be called.
    fn known_only(
        &mut self,
        tools: &[(YamlNode, YamlNode)],
        place: Span,
        asked: &PolicyScope<'_>,
    ) -> Vec<AssayAssertion> {
        let known: Vec<String> = tools.iter().map(|(name, _)| glob_pattern(&name.key_text())).collect();
        let unknown: Vec<&YamlNode> = asked.tools.map_or(&[][..], YamlNode::items).iter().collect();
        let mut sentences = Vec::new();
        match asked.tools {
            None if asked.strict => sentences.push(AssayAssertion::new(place, only_tools(&known))),
            None => {}
            Some(_) => {
                for tool in unknown {
                    let Some(name) = self.low.sink.as_text(tool, "a name of `tools`") else { continue };
                    let is_known = tools.iter().any(|(known, _)| known.key_text() == name);
                    if !is_known && asked.strict {
                        sentences.push(AssayAssertion::new(tool.span, format!("never {}", glob_pattern(name))));
                    } else if !is_known {
                        self.report_unlisted(tool, name, tools);
                    }
                }
            }
        }
        sentences
    }

    fn report_unlisted(&mut self, tool: &YamlNode, name: &str, tools: &[(YamlNode, YamlNode)]) {
        let names: Vec<String> = tools.iter().map(|(name, _)| name.key_text()).collect();
        let near = suggest::suggest_name(name, names.iter().map(String::as_str));
        let help =
            near.map_or_else(|| "write a tool of the policy".to_owned(), |near| format!("did you mean `{near}`?"));
        let message = format!("the policy has no rule for `{name}`");
        self.low.sink.error(Slug::UnknownTool, tool.span, message, help);
    }

    fn scoped_tools(&self, tools: &[(YamlNode, YamlNode)], asked: &PolicyScope<'_>) -> Vec<(YamlNode, YamlNode)> {
        let wanted = |(name, _): &&(YamlNode, YamlNode)| {
            asked
                .tools
                .is_none_or(|list| list.items().iter().any(|item| item.as_text() == Some(name.key_text().as_str())))
        };
        tools.iter().filter(wanted).cloned().collect()
    }

    /// Lowers a list of rules or names, or the `sequences` of a policy.
    pub(super) fn lower_sequences(&mut self, document: &YamlNode, form: RuleSemantics) -> Vec<AssayAssertion> {
        if document.is_list() {
            return match are_rules(document) || document.items().is_empty() {
                true => self.lower_rules(document, "the policy", RuleContext { form, aliases: &ToolAliases::new() }),
                false => self.exact_sequence(document).into_iter().collect(),
            };
        }
        let aliases = self.read_aliases(document.get("aliases"));
        match document.get("sequences").or_else(|| document.get("rules")) {
            Some(rules) => self.lower_rules(rules, "`sequences`", RuleContext { form, aliases: &aliases }),
            None => {
                let message = "the policy has no `sequences`";
                let help = "write `sequences: [{ type: require, tool: … }]`, or a list of rules";
                self.low.sink.error(Slug::TypeMismatch, document.span.at_start(), message, help);
                Vec::new()
            }
        }
    }

    pub(super) fn exact_sequence(&mut self, list: &YamlNode) -> Option<AssayAssertion> {
        if !list.is_list() {
            self.low.sink.wrong_shape(list, "the sequence", "a list of tools");
            return None;
        }
        let mut tools = Vec::new();
        for item in list.items() {
            tools.push(glob_pattern(self.low.sink.as_text(item, "a tool of the sequence")?));
        }
        Some(match tools.as_slice() {
            [] => AssayAssertion::new(list.span, "never any"),
            [one] => {
                let both = [format!("only {one}"), "(count any) == 1".to_owned()];
                AssayAssertion::all_of(list.span, both.map(|text| AssayAssertion::new(list.span, text)).to_vec())
            }
            several => AssayAssertion::new(list.span, format!("sequence exactly {}", several.join(" -> "))),
        })
    }
}

fn with_shared(schema: &YamlNode, shared: &[(YamlNode, YamlNode)]) -> YamlNode {
    let mut schema = schema.clone();
    if let YamlValue::Map(entries) = &mut schema.value {
        let new = shared.iter().filter(|(key, _)| !entries.iter().any(|(known, _)| known.key_text() == key.key_text()));
        let new: Vec<(YamlNode, YamlNode)> = new.cloned().collect();
        entries.extend(new);
    }
    schema
}
