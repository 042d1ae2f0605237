//! The documented tests: a metric each, which looks at the whole run.

use super::Assay;
use super::asked::Asked;
use super::reading::{Form, Reading};
use super::select::Aliases;
use super::sentence::{Rule, Sentence};
use crate::writer::{label, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::{Slug, suggest};

/// A metric: the keys of its tests, and what they say.
struct Metric {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut Assay<'_, '_>, &Node) -> Vec<Sentence>,
}

const METRICS: &[Metric] = &[
    Metric { name: "args_valid", keys: &["policy", "tools", "strict", "tool", "constraints"], lower: args_valid },
    Metric { name: "sequence_valid", keys: &["rules", "sequence", "policy"], lower: sequence_valid },
    Metric { name: "tool_blocklist", keys: &["blocklist"], lower: tool_blocklist },
];

/// The keys of all tests.
const COMMON: &[&str] = &["id", "metric", "description", "tags", "when"];

/// Writes the rule of a test.
pub(super) fn lower(assay: &mut Assay<'_, '_>, test: &Node, id: &str) -> Option<()> {
    let word = test.get("metric")?;
    let (metric, sentences) = asked(assay, test, word)?;
    let mut settings = vec![format!("as {}", label(&metric))];
    settings.extend(assay.tags(test));
    settings.extend(assay.condition(test)?.map(|condition| format!("when {condition}")));
    let name = assay.labels.of(id);
    let title = test.get("description").and_then(Node::text).or_else(|| (name != id).then_some(id));
    let head = title.map_or_else(|| format!("rule {name}"), |title| format!("rule {name} {}", quoted(title)));
    if sentences.is_empty() && !assay.low.said.has_errors() {
        let message = format!("the test `{id}` asks for nothing: it could never fail");
        assay.low.said.error(Slug::TypeMismatch, test.span.at_start(), message, "write what its policy asks for");
    }
    assay.write(&Rule { place: test.span, head, settings, sentences });
    Some(())
}

/// The metric of a test, and what it asks.
fn asked(assay: &mut Assay<'_, '_>, test: &Node, word: &Node) -> Option<(String, Vec<Sentence>)> {
    let own = METRICS.iter().find(|metric| word.text() == Some(metric.name));
    let given = assay.low.options.metrics;
    let of_program = given.iter().find(|(name, _)| word.text() == Some(name));
    let keys = match (own, of_program) {
        (Some(metric), _) => metric.keys,
        (None, Some(_)) => &[],
        (None, None) => {
            let known = METRICS.iter().map(|metric| metric.name).chain(given.iter().map(|(name, _)| name.as_str()));
            let known: Vec<&str> = known.collect();
            let help = suggest::nearest(&word.key(), known.iter().copied()).map_or_else(
                || {
                    let known = known.join(", ");
                    format!("the metrics are {known}; a program adds its own with `Rules::builder().metric(NAME, SENTENCES)`, and `aver check` takes a rule file that says the same")
                },
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("there is no metric `{}`", word.key());
            assay.low.said.error(Slug::UnknownType, word.span, message, help);
            return None;
        }
    };
    let known: Vec<&str> = COMMON.iter().chain(keys).copied().collect();
    assay.low.said.keys(test, &format!("a test of `{}`", word.key()), &known);
    let sentences = match (own, of_program) {
        (Some(metric), _) => (metric.lower)(assay, test),
        (None, Some((_, text))) => vec![Sentence::new(word.span, text.trim())],
        (None, None) => Vec::new(),
    };
    Some((word.key(), sentences))
}

/// The names of the metrics that Assay has itself.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|metric| metric.name)
}

fn args_valid(assay: &mut Assay<'_, '_>, test: &Node) -> Vec<Sentence> {
    if let Some(constraints) = test.get("constraints") {
        let Some(tool) = assay.low.said.required_text(test, "tool", "a test with `constraints`") else {
            return Vec::new();
        };
        return assay.arguments(tool, constraints, constraints);
    }
    let tools = test.get("tools");
    if let Some(tools) = tools.filter(|tools| tools.items().is_empty()) {
        assay.low.said.shape(tools, "`tools`", "a list of the tools to check");
    }
    let strict = match test.get("strict") {
        None => false,
        Some(node) => node.boolean().unwrap_or_else(|| {
            assay.low.said.shape(node, "`strict`", "`true` or `false`");
            false
        }),
    };
    let Some(policy) = test.get("policy") else {
        let help = "write `policy: FILE`, or `tool: TOOL` and `constraints: …`";
        assay.low.said.error(Slug::TypeMismatch, test.span, "the test has neither `policy` nor `constraints`", help);
        return Vec::new();
    };
    match assay.document(policy) {
        Some(document) => assay.policy(&document, &Asked { tools, strict }),
        None => Vec::new(),
    }
}

fn sequence_valid(assay: &mut Assay<'_, '_>, test: &Node) -> Vec<Sentence> {
    assay.order(test, Form::Documented)
}

fn tool_blocklist(assay: &mut Assay<'_, '_>, test: &Node) -> Vec<Sentence> {
    assay.blocked(test, "blocklist")
}

impl Assay<'_, '_> {
    /// A policy that is written here, or in a file that is named.
    pub(super) fn document(&mut self, policy: &Node) -> Option<Node> {
        match &policy.value {
            Value::Text(path) => self.read(path, policy.span),
            Value::Map(_) | Value::List(_) => Some(policy.clone()),
            _ => {
                self.low.said.shape(policy, "`policy`", "the path of a file");
                None
            }
        }
    }

    /// The order of calls: rules, an exact sequence, a policy of either.
    pub(super) fn order(&mut self, test: &Node, form: Form) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        if let Some(rules) = test.get("rules") {
            sentences.extend(self.rules(rules, "`rules`", Reading { form, aliases: &Aliases::new() }));
        }
        if let Some(list) = test.get("sequence").filter(|list| !list.is_null()) {
            sentences.extend(self.exactly(list));
        }
        if let Some(document) = test.get("policy").and_then(|policy| self.document(policy)) {
            sentences.extend(self.sequences(&document, form));
        }
        if sentences.is_empty() && !self.low.said.has_errors() {
            let message = "the test has neither `rules` nor `sequence` nor `policy`: it could never fail";
            self.low.said.error(Slug::TypeMismatch, test.span.at_start(), message, "write `rules: [{ type: … }]`");
        }
        sentences
    }

    /// Tools that may not be called: an assertion each, so that each is found where it stands.
    pub(super) fn blocked(&mut self, test: &Node, key: &str) -> Vec<Sentence> {
        let Some(list) = test.get(key) else {
            let message = format!("there is no `{key}`");
            self.low.said.error(Slug::TypeMismatch, test.span, message, format!("write `{key}: [TOOL, …]`"));
            return Vec::new();
        };
        if list.items().is_empty() {
            self.low.said.shape(list, &format!("`{key}`"), "a list of tools that may not be called");
        }
        let items = list.items().iter();
        items
            .filter_map(|tool| {
                let pattern = self.glob(tool, &format!("a name of `{key}`"))?;
                Some(Sentence::new(tool.span, format!("never {pattern}")))
            })
            .collect()
    }

    /// The tags of a test.
    pub(super) fn tags(&mut self, test: &Node) -> Vec<String> {
        let tags = self.low.said.list(test, "tags", "a test");
        let tags: Vec<String> = tags.iter().map(|tag| crate::writer::label(&tag.key())).collect();
        if tags.is_empty() { Vec::new() } else { vec![format!("tags {}", tags.join(", "))] }
    }
}
