//! Files of policies: which of their shapes one has, and what each asks.

use super::Assay;
use super::asked::{ALL, Asked};
use super::reading::{Form, Reading};
use super::rules::{are_rules, only};
use super::schemas::made;
use super::select::{Aliases, glob};
use super::sentence::{Rule, Sentence};
use super::structured;
use crate::writer;
use crate::yaml::{Node, Value};
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

/// Keys of a JSON Schema: a mapping of tools to schemas has them one level deeper.
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

/// Whether a document is a policy that can be checked by itself.
pub(super) fn is_one(document: &Node) -> bool {
    let are_schemas = || {
        let looks = |(key, value): &(Node, Node)| {
            structured::is_shared(key) || OF_SCHEMA.iter().any(|key| value.get(key).is_some())
        };
        !document.entries().is_empty() && document.entries().iter().all(looks)
    };
    let are_names = || !document.items().is_empty() && document.items().iter().all(|item| item.text().is_some());
    is_documented(document) || structured::is_one(document) || are_schemas() || are_rules(document) || are_names()
}

/// The documented shape: tools with `arguments`.
fn is_documented(document: &Node) -> bool {
    let tools = document.get("tools").map_or(&[][..], Node::entries);
    !tools.is_empty() && tools.iter().all(|(key, value)| value.is_map() && !structured::of_tools(key))
}

/// A policy by itself is one rule.
pub(super) fn lower_alone(assay: &mut Assay<'_, '_>, document: &Node) {
    let mut sentences = Vec::new();
    if !document.is_list() {
        sentences.extend(assay.policy(document, &ALL));
    }
    let of_arguments = sentences.len();
    if document.is_list() || document.get("sequences").is_some() {
        sentences.extend(assay.sequences(document, Form::Program));
    }
    let name = document.get("name").and_then(Node::text).unwrap_or("policy");
    if sentences.is_empty() && !assay.low.said.has_errors() {
        let message = "the policy asks for nothing: it could never fail";
        assay.low.said.error(
            Slug::TypeMismatch,
            document.span.at_start(),
            message,
            "write `deny`, `allow` or `schemas`",
        );
    }
    let head = format!("rule {}", assay.labels.of(name));
    // A policy of both kinds is measured under its own name.
    let settings = match (of_arguments, sentences.len()) {
        (0, _) => vec!["as sequence_valid".to_owned()],
        (of_arguments, all) if of_arguments == all => vec!["as args_valid".to_owned()],
        _ => Vec::new(),
    };
    assay.write(&Rule { place: document.span, head, settings, sentences });
}

impl Assay<'_, '_> {
    /// What a policy asks of the tools and arguments of calls.
    pub(super) fn policy(&mut self, document: &Node, asked: &Asked<'_>) -> Vec<Sentence> {
        if !document.is_map() {
            self.low.said.shape(document, "the policy", "a mapping of tools to what is asked of their arguments");
            return Vec::new();
        }
        match () {
            () if is_documented(document) => self.documented(document, asked),
            () if structured::is_one(document) => self.structured(document, asked),
            () => {
                let entries = document.entries().iter().cloned();
                let (shared, own) = entries.partition::<Vec<_>, _>(|(key, _)| structured::is_shared(key));
                self.schema_map(&own, &shared, document.span, asked)
            }
        }
    }

    fn documented(&mut self, document: &Node, asked: &Asked<'_>) -> Vec<Sentence> {
        let keys = ["version", "name", "description", "tools", "definitions", "$defs"];
        self.low.said.keys(document, "the policy", &keys);
        let Some(tools) = document.get("tools") else { return Vec::new() };
        let mut sentences = self.known_only(tools.entries(), tools.span, asked);
        for (name, tool) in self.of_asked(tools.entries(), asked) {
            let what = format!("the tool `{}`", name.key());
            self.low.said.keys(&tool, &what, &["description", "arguments"]);
            if let Some(arguments) = tool.get("arguments").filter(|arguments| !arguments.is_null()) {
                sentences.extend(self.arguments(&name.key(), arguments, document));
            }
        }
        sentences
    }

    /// A mapping of tools to JSON Schemas; `shared` are definitions that all of them may refer to.
    pub(super) fn schema_map(
        &mut self,
        tools: &[(Node, Node)],
        shared: &[(Node, Node)],
        place: Span,
        asked: &Asked<'_>,
    ) -> Vec<Sentence> {
        let mut sentences = self.known_only(tools, place, asked);
        for (name, schema) in self.of_asked(tools, asked) {
            let schema = match &schema.value {
                Value::Map(_) => with_shared(&schema, shared),
                Value::Bool(true) => made(Value::Map(Vec::new()), schema.span),
                Value::Bool(false) => {
                    sentences.push(Sentence::new(schema.span, format!("never {}", glob(&name.key()))));
                    continue;
                }
                _ if OF_SCHEMA.contains(&name.key().as_str()) => {
                    let message =
                        format!("`{}` is a key of a JSON Schema, where the name of a tool stands", name.key());
                    self.low.said.error(Slug::TypeMismatch, name.span, message, "write the schema under its tool");
                    continue;
                }
                _ => {
                    self.low.said.shape(&schema, &format!("the schema of `{}`", name.key()), "a JSON Schema");
                    continue;
                }
            };
            sentences.push(self.fits(&writer::tool(&name.key()), &name, &schema));
        }
        sentences
    }

    /// With `strict`, that no other tool than those of the policy is called.
    fn known_only(&mut self, tools: &[(Node, Node)], place: Span, asked: &Asked<'_>) -> Vec<Sentence> {
        let known: Vec<String> = tools.iter().map(|(name, _)| glob(&name.key())).collect();
        let unknown: Vec<&Node> = asked.tools.map_or(&[][..], Node::items).iter().collect();
        let mut sentences = Vec::new();
        match asked.tools {
            None if asked.strict => sentences.push(Sentence::new(place, only(&known))),
            None => {}
            Some(_) => {
                for tool in unknown {
                    let Some(name) = self.low.said.as_text(tool, "a name of `tools`") else { continue };
                    let is_known = tools.iter().any(|(known, _)| known.key() == name);
                    if !is_known && asked.strict {
                        sentences.push(Sentence::new(tool.span, format!("never {}", glob(name))));
                    } else if !is_known {
                        self.unlisted(tool, name, tools);
                    }
                }
            }
        }
        sentences
    }

    fn unlisted(&mut self, tool: &Node, name: &str, tools: &[(Node, Node)]) {
        let names: Vec<String> = tools.iter().map(|(name, _)| name.key()).collect();
        let near = suggest::nearest(name, names.iter().map(String::as_str));
        let help =
            near.map_or_else(|| "write a tool of the policy".to_owned(), |near| format!("did you mean `{near}`?"));
        let message = format!("the policy says nothing of `{name}`");
        self.low.said.error(Slug::UnknownTool, tool.span, message, help);
    }

    /// The tools that are asked about.
    fn of_asked(&self, tools: &[(Node, Node)], asked: &Asked<'_>) -> Vec<(Node, Node)> {
        let wanted = |(name, _): &&(Node, Node)| {
            asked.tools.is_none_or(|list| list.items().iter().any(|item| item.text() == Some(name.key().as_str())))
        };
        tools.iter().filter(wanted).cloned().collect()
    }

    /// What a policy asks of the order of calls: a list of rules or of names, or `sequences` of a policy.
    pub(super) fn sequences(&mut self, document: &Node, form: Form) -> Vec<Sentence> {
        if document.is_list() {
            return match are_rules(document) || document.items().is_empty() {
                true => self.rules(document, "the policy", Reading { form, aliases: &Aliases::new() }),
                false => self.exactly(document).into_iter().collect(),
            };
        }
        let aliases = self.aliases(document.get("aliases"));
        match document.get("sequences").or_else(|| document.get("rules")) {
            Some(rules) => self.rules(rules, "`sequences`", Reading { form, aliases: &aliases }),
            None => {
                let message = "the policy has no `sequences`";
                let help = "write `sequences: [{ type: require, tool: … }]`, or a list of rules";
                self.low.said.error(Slug::TypeMismatch, document.span.at_start(), message, help);
                Vec::new()
            }
        }
    }

    /// That the calls are these and no others.
    pub(super) fn exactly(&mut self, list: &Node) -> Option<Sentence> {
        if !list.is_list() {
            self.low.said.shape(list, "the sequence", "a list of tools");
            return None;
        }
        let mut tools = Vec::new();
        for item in list.items() {
            tools.push(glob(self.low.said.as_text(item, "a tool of the sequence")?));
        }
        Some(match tools.as_slice() {
            [] => Sentence::new(list.span, "never any"),
            [one] => {
                let both = [format!("only {one}"), "(count any) == 1".to_owned()];
                Sentence::all_of(list.span, both.map(|text| Sentence::new(list.span, text)).to_vec())
            }
            several => Sentence::new(list.span, format!("sequence exactly {}", several.join(" -> "))),
        })
    }
}

/// A schema with definitions that it may refer to.
fn with_shared(schema: &Node, shared: &[(Node, Node)]) -> Node {
    let mut schema = schema.clone();
    if let Value::Map(entries) = &mut schema.value {
        let new = shared.iter().filter(|(key, _)| !entries.iter().any(|(known, _)| known.key() == key.key()));
        let new: Vec<(Node, Node)> = new.cloned().collect();
        entries.extend(new);
    }
    schema
}
