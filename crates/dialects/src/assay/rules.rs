//! Rules about which tools are called, how often, and in which order.

use super::AssayLowering;
use super::reading::{RuleContext, RuleSemantics};
use super::select::{CallSelector, choice_pattern};
use super::sentence::AssayAssertion;
use super::sequence;
use crate::writer::{self, quote_text};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

struct RuleType {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut AssayLowering<'_, '_>, &YamlNode, RuleContext<'_>) -> Option<AssayAssertion>,
}

const KINDS: &[RuleType] = &[
    RuleType { name: "require", keys: &["tool"], lower: require_tool },
    RuleType { name: "before", keys: &["first", "then"], lower: call_before },
    RuleType { name: "immediately_before", keys: &["first", "then"], lower: immediately_before },
    RuleType { name: "blocklist", keys: &["tools", "pattern"], lower: block_tools },
    RuleType { name: "allowlist", keys: &["tools"], lower: allow_tools },
    RuleType { name: "count", keys: &["tool", "min", "max", "exact"], lower: count_calls },
    RuleType { name: "max_calls", keys: &["tool", "max"], lower: max_calls },
    RuleType { name: "eventually", keys: &["tool", "within"], lower: sequence::eventually_called },
    RuleType { name: "after", keys: &["trigger", "then", "within"], lower: sequence::called_after },
    RuleType { name: "never_after", keys: &["trigger", "forbidden"], lower: sequence::never_after },
    RuleType { name: "sequence", keys: &["tools", "strict"], lower: sequence::calls_in_order },
];

const COMMON: &[&str] = &["type", "id", "description", "when"];

pub(super) fn are_rules(list: &YamlNode) -> bool {
    let is_rule = |item: &YamlNode| item.get("type").is_some() || item.get("require").is_some();
    list.items().iter().any(is_rule)
}

impl AssayLowering<'_, '_> {
    pub(super) fn lower_rules(&mut self, list: &YamlNode, what: &str, reading: RuleContext<'_>) -> Vec<AssayAssertion> {
        if !list.is_list() {
            self.low.sink.wrong_shape(list, what, "a list of rules, each `- type: …`");
        } else if list.items().is_empty() {
            let message = format!("{what} has no rules: it could never fail");
            self.low.sink.error(Slug::TypeMismatch, list.span, message, "write `- type: require` and its `tool`");
        }
        list.items().iter().filter_map(|rule| self.lower_rule(rule, reading)).collect()
    }

    fn lower_rule(&mut self, rule: &YamlNode, reading: RuleContext<'_>) -> Option<AssayAssertion> {
        if !rule.is_map() {
            self.low.sink.wrong_shape(rule, "a rule", "a mapping: `type: require` and its `tool`");
            return None;
        }
        self.low.sink.required_text(rule, "type", "a rule")?;
        let word = rule.get("type")?;
        let Some(kind) = KINDS.iter().find(|kind| Some(kind.name) == word.as_text()) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            self.low.sink.unknown_word(word, "rule", &known);
            return None;
        };
        let known: Vec<&str> = COMMON.iter().chain(kind.keys).copied().collect();
        self.low.sink.check_keys(rule, &format!("a `{}` rule", kind.name), &known);
        let sentence = (kind.lower)(self, rule, reading)?;
        Some(match self.when_condition(rule)? {
            Some(condition) => sentence.with_modifier(format!("when {condition}")),
            None => sentence,
        })
    }

    /// Returns the condition of `when`. Its context entries are looked up in `meta` of the run.
    pub(super) fn when_condition(&mut self, rule: &YamlNode) -> Option<Option<String>> {
        let Some(when) = rule.get("when") else { return Some(None) };
        if when.entries().is_empty() {
            self.low.sink.wrong_shape(when, "`when`", "a mapping: `context.user_role: standard`");
            return None;
        }
        let mut tests = Vec::new();
        for (key, value) in when.entries() {
            match value.is_map() {
                true => {
                    tests.extend(value.entries().iter().map(|(inner, value)| context_test(&inner.key_text(), value)))
                }
                false => tests.push(context_test(&key.key_text(), value)),
            }
        }
        Some(Some(tests.join(" and ")))
    }

    pub(super) fn required_selector(
        &mut self,
        rule: &YamlNode,
        key: &str,
        reading: RuleContext<'_>,
    ) -> Option<CallSelector> {
        let what = format!("`{key}`");
        match rule.get(key) {
            Some(node) => self.read_selector(node, &what, reading.aliases),
            None => {
                let message = format!("the rule has no {what}");
                self.low.sink.error(Slug::TypeMismatch, rule.span, message, format!("write `{key}: TOOL`"));
                None
            }
        }
    }

    pub(super) fn required_selectors(
        &mut self,
        rule: &YamlNode,
        key: &str,
        reading: RuleContext<'_>,
    ) -> Option<Vec<CallSelector>> {
        let Some(list) = rule.get(key).filter(|node| node.is_list()) else {
            return self.required_selector(rule, key, reading).map(|one| vec![one]);
        };
        if list.items().is_empty() {
            let message = format!("`{key}` has no tools: the rule could never fail");
            self.low.sink.error(Slug::TypeMismatch, list.span, message, "write the tools");
            return None;
        }
        list.items().iter().map(|item| self.read_selector(item, &format!("`{key}`"), reading.aliases)).collect()
    }

    pub(super) fn optional_number(&mut self, rule: &YamlNode, key: &str) -> Option<Option<u64>> {
        let Some(node) = rule.get(key).filter(|node| !node.is_null()) else { return Some(None) };
        let number = node.as_number().and_then(|number| number.parse().ok());
        if number.is_none() {
            self.low.sink.wrong_shape(node, &format!("`{key}`"), "a whole number from 0 on");
        }
        number.map(Some)
    }

    pub(super) fn required_number(&mut self, rule: &YamlNode, key: &str) -> Option<u64> {
        let number = self.optional_number(rule, key)?;
        if number.is_none() {
            let message = format!("the rule has no `{key}`");
            self.low.sink.error(Slug::TypeMismatch, rule.span, message, format!("write `{key}: 3`"));
        }
        number
    }
}

fn context_test(key: &str, value: &YamlNode) -> String {
    let path: String = key.strip_prefix("context.").unwrap_or(key).split('.').fold("meta".to_owned(), |path, key| {
        match writer::is_identifier(key) {
            true => format!("{path}.{key}"),
            false => format!("{path}[{}]", quote_text(key)),
        }
    });
    format!("{path} == {}", writer::value_literal(value))
}

fn require_tool(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    if reading.form == RuleSemantics::Documented {
        let wanted = assay.required_globs(rule, "tool")?;
        let all = wanted.iter().map(|tool| AssayAssertion::new(rule.span, format!("require {tool}"))).collect();
        return Some(AssayAssertion::all_of(rule.span, all));
    }
    let tool = assay.required_selector(rule, "tool", reading)?;
    let text = format!("(count {}) >= 1", tool.to_pattern());
    Some(
        AssayAssertion::new(rule.span, text)
            .with_message(&format!("required tool '{}' not found in trace", tool.shown)),
    )
}

/// The first call of one tool must not come after the first call of the other.
fn call_before(assay: &mut AssayLowering<'_, '_>, rule: &YamlNode, reading: RuleContext<'_>) -> Option<AssayAssertion> {
    let first = assay.required_selector(rule, "first", reading)?;
    let then = assay.required_selectors(rule, "then", reading)?;
    let behind = then.iter().map(|then| then.shown.as_str()).collect::<Vec<_>>().join("', '");
    let patterns = CallSelector::any_of(&then);
    let overlap = then.iter().any(|then| then.overlaps(&first));
    match reading.form {
        RuleSemantics::Documented if !overlap => {
            let text = format!("starts before {} -> {}", first.to_pattern(), patterns.join(", "));
            Some(AssayAssertion::new(rule.span, text))
        }
        RuleSemantics::Documented => {
            let text = format!("each {}: first(index of {}) <= index", choice_pattern(&patterns), first.to_pattern());
            Some(AssayAssertion::new(rule.span, text))
        }
        RuleSemantics::Program => {
            let text =
                sequence::not_before(&choice_pattern(&patterns), &format!("first(index of {})", first.to_pattern()));
            let message = format!("tool '{}' is required before tool '{behind}'", first.shown);
            Some(AssayAssertion::new(rule.span, text).with_message(&message))
        }
    }
}

/// Compares call positions. It does not matter whether the first call has ended.
fn immediately_before(
    assay: &mut AssayLowering<'_, '_>,
    rule: &YamlNode,
    reading: RuleContext<'_>,
) -> Option<AssayAssertion> {
    let first = assay.required_selector(rule, "first", reading)?;
    let then = choice_pattern(&CallSelector::any_of(&assay.required_selectors(rule, "then", reading)?));
    Some(AssayAssertion::new(rule.span, format!("each {then}: (index of {}) contains index - 1", first.to_pattern())))
}

fn block_tools(assay: &mut AssayLowering<'_, '_>, rule: &YamlNode, reading: RuleContext<'_>) -> Option<AssayAssertion> {
    let Some(pattern) = rule.get("pattern") else {
        let tools = assay.required_globs(rule, "tools")?;
        return Some(AssayAssertion::new(rule.span, format!("never {}", tools.join(", "))));
    };
    let pattern = assay.low.sink.as_text(pattern, "`pattern`")?;
    let blocked = match pattern {
        "" => "any".to_owned(),
        part => format!("(any where tool contains {})", quote_text(part)),
    };
    Some(match reading.form {
        RuleSemantics::Documented => AssayAssertion::new(rule.span, format!("never {blocked}")),
        RuleSemantics::Program => AssayAssertion::new(rule.span, format!("(count {blocked}) <= 0"))
            .with_message(&format!("a tool matches blocklist pattern '{pattern}'")),
    })
}

/// Writes which tools are allowed; an empty list allows none.
fn allow_tools(assay: &mut AssayLowering<'_, '_>, rule: &YamlNode, _: RuleContext<'_>) -> Option<AssayAssertion> {
    let Some(tools) = rule.get("tools") else {
        assay.low.sink.error(Slug::TypeMismatch, rule.span, "the rule has no `tools`", "write `tools: [TOOL, …]`");
        return None;
    };
    Some(AssayAssertion::new(rule.span, only_tools(&assay.read_globs(tools, "`tools`"))))
}

pub(super) fn only_tools(tools: &[String]) -> String {
    if tools.is_empty() { "never any".to_owned() } else { format!("only {}", tools.join(", ")) }
}

fn count_calls(assay: &mut AssayLowering<'_, '_>, rule: &YamlNode, reading: RuleContext<'_>) -> Option<AssayAssertion> {
    let tool = match rule.get("tool").filter(|tool| tool.is_map()) {
        Some(_) => assay.required_selector(rule, "tool", reading)?.to_pattern(),
        None => choice_pattern(&assay.required_globs(rule, "tool")?),
    };
    let (exact, min, max) = (
        assay.optional_number(rule, "exact")?,
        assay.optional_number(rule, "min")?,
        assay.optional_number(rule, "max")?,
    );
    let text = match (exact, min, max) {
        (Some(exact), _, _) => format!("count {tool} == {exact}"),
        (None, Some(min), Some(max)) if min > max => {
            let message = format!("`min` is {min} and `max` is {max}: no number is between them");
            assay.low.sink.error(Slug::Impossible, rule.span, message, "write the smaller one as `min`");
            return None;
        }
        (None, Some(min), Some(max)) => format!("count {tool} in {min}..{max}"),
        (None, Some(min), None) => format!("count {tool} >= {min}"),
        (None, None, Some(max)) => format!("count {tool} <= {max}"),
        (None, None, None) => {
            let message = "the rule has neither `min` nor `max` nor `exact`: it could never fail";
            assay.low.sink.error(Slug::TypeMismatch, rule.span, message, "write `max: 3`");
            return None;
        }
    };
    Some(AssayAssertion::new(rule.span, text))
}

fn max_calls(assay: &mut AssayLowering<'_, '_>, rule: &YamlNode, reading: RuleContext<'_>) -> Option<AssayAssertion> {
    let tool = assay.required_selector(rule, "tool", reading)?;
    let max = assay.required_number(rule, "max")?;
    let (pattern, shown) = (tool.to_pattern(), &tool.shown);
    Some(match reading.form {
        RuleSemantics::Documented => AssayAssertion::new(rule.span, format!("count {pattern} <= {max}")),
        RuleSemantics::Program => AssayAssertion::new(rule.span, format!("(count {pattern}) <= {max}"))
            .with_message(&format!("tool '{shown}' exceeded max calls ({max})")),
    })
}
