//! The tests of the documented suite format: one metric each, about the whole run.

use super::AssayLowering;
use super::policy_scope::PolicyScope;
use super::reading::{RuleContext, RuleSemantics};
use super::select::ToolAliases;
use super::sentence::{AssayAssertion, RuleDraft};
use crate::writer::{quote_text, to_label};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Slug, suggest};

struct TestMetric {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut AssayLowering<'_, '_>, &YamlNode) -> Vec<AssayAssertion>,
}

const METRICS: &[TestMetric] = &[
    TestMetric { name: "args_valid", keys: &["policy", "tools", "strict", "tool", "constraints"], lower: args_valid },
    TestMetric { name: "sequence_valid", keys: &["rules", "sequence", "policy"], lower: sequence_valid },
    TestMetric { name: "tool_blocklist", keys: &["blocklist"], lower: tool_blocklist },
];

const COMMON: &[&str] = &["id", "metric", "description", "tags", "when"];

pub(super) fn lower_metric_test(assay: &mut AssayLowering<'_, '_>, test: &YamlNode, id: &str) -> Option<()> {
    let word = test.get("metric")?;
    let (metric, sentences) = read_metric(assay, test, word)?;
    let mut settings = vec![format!("as {}", to_label(&metric))];
    settings.extend(assay.test_tags(test));
    settings.extend(assay.when_condition(test)?.map(|condition| format!("when {condition}")));
    let name = assay.labels.unique_label(id);
    let title = test.get("description").and_then(YamlNode::as_text).or_else(|| (name != id).then_some(id));
    let head = title.map_or_else(|| format!("rule {name}"), |title| format!("rule {name} {}", quote_text(title)));
    if sentences.is_empty() && !assay.low.sink.has_errors() {
        let message = format!("the test `{id}` asks for nothing: it could never fail");
        assay.low.sink.error(Slug::TypeMismatch, test.span.at_start(), message, "write what its policy asks for");
    }
    assay.write_rule(&RuleDraft { place: test.span, head, settings, sentences });
    Some(())
}

fn read_metric(
    assay: &mut AssayLowering<'_, '_>,
    test: &YamlNode,
    word: &YamlNode,
) -> Option<(String, Vec<AssayAssertion>)> {
    let own = METRICS.iter().find(|metric| word.as_text() == Some(metric.name));
    let given = assay.low.options.metrics;
    let of_program = given.iter().find(|(name, _)| word.as_text() == Some(name));
    let keys = match (own, of_program) {
        (Some(metric), _) => metric.keys,
        (None, Some(_)) => &[],
        (None, None) => {
            let known = METRICS.iter().map(|metric| metric.name).chain(given.iter().map(|(name, _)| name.as_str()));
            let known: Vec<&str> = known.collect();
            let help = suggest::suggest_name(&word.key_text(), known.iter().copied()).map_or_else(
                || {
                    let known = known.join(", ");
                    format!("the metrics are {known}; a program adds its own with `Rules::builder().metric(NAME, SENTENCES)`, and `aver check` takes a rule file that says the same")
                },
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("there is no metric `{}`", word.key_text());
            assay.low.sink.error(Slug::UnknownType, word.span, message, help);
            return None;
        }
    };
    let known: Vec<&str> = COMMON.iter().chain(keys).copied().collect();
    assay.low.sink.check_keys(test, &format!("a test of `{}`", word.key_text()), &known);
    let sentences = match (own, of_program) {
        (Some(metric), _) => (metric.lower)(assay, test),
        (None, Some((_, text))) => vec![AssayAssertion::new(word.span, text.trim())],
        (None, None) => Vec::new(),
    };
    Some((word.key_text(), sentences))
}

pub(super) fn metric_names() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|metric| metric.name)
}

fn args_valid(assay: &mut AssayLowering<'_, '_>, test: &YamlNode) -> Vec<AssayAssertion> {
    if let Some(constraints) = test.get("constraints") {
        let Some(tool) = assay.low.sink.required_text(test, "tool", "a test with `constraints`") else {
            return Vec::new();
        };
        return assay.lower_arguments(tool, constraints, constraints);
    }
    let tools = test.get("tools");
    if let Some(tools) = tools.filter(|tools| tools.items().is_empty()) {
        assay.low.sink.wrong_shape(tools, "`tools`", "a list of the tools to check");
    }
    let strict = match test.get("strict") {
        None => false,
        Some(node) => node.as_boolean().unwrap_or_else(|| {
            assay.low.sink.wrong_shape(node, "`strict`", "`true` or `false`");
            false
        }),
    };
    let Some(policy) = test.get("policy") else {
        let help = "write `policy: FILE`, or `tool: TOOL` and `constraints: …`";
        assay.low.sink.error(Slug::TypeMismatch, test.span, "the test has neither `policy` nor `constraints`", help);
        return Vec::new();
    };
    match assay.policy_document(policy) {
        Some(document) => assay.lower_policy(&document, &PolicyScope { tools, strict }),
        None => Vec::new(),
    }
}

fn sequence_valid(assay: &mut AssayLowering<'_, '_>, test: &YamlNode) -> Vec<AssayAssertion> {
    assay.lower_order(test, RuleSemantics::Documented)
}

fn tool_blocklist(assay: &mut AssayLowering<'_, '_>, test: &YamlNode) -> Vec<AssayAssertion> {
    assay.lower_blocked(test, "blocklist")
}

impl AssayLowering<'_, '_> {
    pub(super) fn policy_document(&mut self, policy: &YamlNode) -> Option<YamlNode> {
        match &policy.value {
            YamlValue::Text(path) => self.read_document(path, policy.span),
            YamlValue::Map(_) | YamlValue::List(_) => Some(policy.clone()),
            _ => {
                self.low.sink.wrong_shape(policy, "`policy`", "the path of a file");
                None
            }
        }
    }

    /// Lowers rules, an exact sequence, or a policy that contains either.
    pub(super) fn lower_order(&mut self, test: &YamlNode, form: RuleSemantics) -> Vec<AssayAssertion> {
        let mut sentences = Vec::new();
        if let Some(rules) = test.get("rules") {
            sentences.extend(self.lower_rules(rules, "`rules`", RuleContext { form, aliases: &ToolAliases::new() }));
        }
        if let Some(list) = test.get("sequence").filter(|list| !list.is_null()) {
            sentences.extend(self.exact_sequence(list));
        }
        if let Some(document) = test.get("policy").and_then(|policy| self.policy_document(policy)) {
            sentences.extend(self.lower_sequences(&document, form));
        }
        if sentences.is_empty() && !self.low.sink.has_errors() {
            let message = "the test has neither `rules` nor `sequence` nor `policy`: it could never fail";
            self.low.sink.error(Slug::TypeMismatch, test.span.at_start(), message, "write `rules: [{ type: … }]`");
        }
        sentences
    }

    /// Writes one assertion for each tool, so that each violation is reported at the entry of its tool.
    pub(super) fn lower_blocked(&mut self, test: &YamlNode, key: &str) -> Vec<AssayAssertion> {
        let Some(list) = test.get(key) else {
            let message = format!("there is no `{key}`");
            self.low.sink.error(Slug::TypeMismatch, test.span, message, format!("write `{key}: [TOOL, …]`"));
            return Vec::new();
        };
        if list.items().is_empty() {
            self.low.sink.wrong_shape(list, &format!("`{key}`"), "a list of tools that may not be called");
        }
        let items = list.items().iter();
        items
            .filter_map(|tool| {
                let pattern = self.read_glob(tool, &format!("a name of `{key}`"))?;
                Some(AssayAssertion::new(tool.span, format!("never {pattern}")))
            })
            .collect()
    }

    pub(super) fn test_tags(&mut self, test: &YamlNode) -> Vec<String> {
        let tags = self.low.sink.list_items(test, "tags", "a test");
        let tags: Vec<String> = tags.iter().map(|tag| crate::writer::to_label(&tag.key_text())).collect();
        if tags.is_empty() { Vec::new() } else { vec![format!("tags {}", tags.join(", "))] }
    }
}
