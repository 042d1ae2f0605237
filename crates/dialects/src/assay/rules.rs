//! Rules about which tools are called, how often, and in which order.

use super::Assay;
use super::reading::{Form, Reading};
use super::select::{Selector, choice};
use super::sentence::Sentence;
use super::sequence;
use crate::writer::{self, quoted};
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// A kind of rule: its keys beside those of all rules, and what it says.
struct Kind {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut Assay<'_, '_>, &Node, Reading<'_>) -> Option<Sentence>,
}

const KINDS: &[Kind] = &[
    Kind { name: "require", keys: &["tool"], lower: require },
    Kind { name: "before", keys: &["first", "then"], lower: before },
    Kind { name: "immediately_before", keys: &["first", "then"], lower: immediately_before },
    Kind { name: "blocklist", keys: &["tools", "pattern"], lower: blocklist },
    Kind { name: "allowlist", keys: &["tools"], lower: allowlist },
    Kind { name: "count", keys: &["tool", "min", "max", "exact"], lower: count },
    Kind { name: "max_calls", keys: &["tool", "max"], lower: max_calls },
    Kind { name: "eventually", keys: &["tool", "within"], lower: sequence::eventually },
    Kind { name: "after", keys: &["trigger", "then", "within"], lower: sequence::after },
    Kind { name: "never_after", keys: &["trigger", "forbidden"], lower: sequence::never_after },
    Kind { name: "sequence", keys: &["tools", "strict"], lower: sequence::sequence },
];

/// The keys of all rules.
const COMMON: &[&str] = &["type", "id", "description", "when"];

/// Whether a list holds rules.
pub(super) fn are_rules(list: &Node) -> bool {
    let is_rule = |item: &Node| item.get("type").is_some() || item.get("require").is_some();
    list.items().iter().any(is_rule)
}

impl Assay<'_, '_> {
    /// The assertions of a list of rules.
    pub(super) fn rules(&mut self, list: &Node, what: &str, reading: Reading<'_>) -> Vec<Sentence> {
        if !list.is_list() {
            self.low.said.shape(list, what, "a list of rules, each `- type: …`");
        } else if list.items().is_empty() {
            let message = format!("{what} has no rules: it could never fail");
            self.low.said.error(Slug::TypeMismatch, list.span, message, "write `- type: require` and its `tool`");
        }
        list.items().iter().filter_map(|rule| self.rule(rule, reading)).collect()
    }

    fn rule(&mut self, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
        if !rule.is_map() {
            self.low.said.shape(rule, "a rule", "a mapping: `type: require` and its `tool`");
            return None;
        }
        self.low.said.required_text(rule, "type", "a rule")?;
        let word = rule.get("type")?;
        let Some(kind) = KINDS.iter().find(|kind| Some(kind.name) == word.text()) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            self.low.said.unknown_word(word, "rule", &known);
            return None;
        };
        let known: Vec<&str> = COMMON.iter().chain(kind.keys).copied().collect();
        self.low.said.keys(rule, &format!("a `{}` rule", kind.name), &known);
        let sentence = (kind.lower)(self, rule, reading)?;
        Some(match self.condition(rule)? {
            Some(condition) => sentence.with(format!("when {condition}")),
            None => sentence,
        })
    }

    /// What `when` asks of the run: entries of its context, which runs keep in `meta`.
    pub(super) fn condition(&mut self, rule: &Node) -> Option<Option<String>> {
        let Some(when) = rule.get("when") else { return Some(None) };
        if when.entries().is_empty() {
            self.low.said.shape(when, "`when`", "a mapping: `context.user_role: standard`");
            return None;
        }
        let mut tests = Vec::new();
        for (key, value) in when.entries() {
            match value.is_map() {
                true => tests.extend(value.entries().iter().map(|(inner, value)| of_context(&inner.key(), value))),
                false => tests.push(of_context(&key.key(), value)),
            }
        }
        Some(Some(tests.join(" and ")))
    }

    /// The selector of a key that has to be there.
    pub(super) fn select(&mut self, rule: &Node, key: &str, reading: Reading<'_>) -> Option<Selector> {
        let what = format!("`{key}`");
        match rule.get(key) {
            Some(node) => self.selector(node, &what, reading.aliases),
            None => {
                let message = format!("the rule has no {what}");
                self.low.said.error(Slug::TypeMismatch, rule.span, message, format!("write `{key}: TOOL`"));
                None
            }
        }
    }

    /// The selectors of a key that may hold one or several.
    pub(super) fn selects(&mut self, rule: &Node, key: &str, reading: Reading<'_>) -> Option<Vec<Selector>> {
        let Some(list) = rule.get(key).filter(|node| node.is_list()) else {
            return self.select(rule, key, reading).map(|one| vec![one]);
        };
        if list.items().is_empty() {
            let message = format!("`{key}` has no tools: the rule could never fail");
            self.low.said.error(Slug::TypeMismatch, list.span, message, "write the tools");
            return None;
        }
        list.items().iter().map(|item| self.selector(item, &format!("`{key}`"), reading.aliases)).collect()
    }

    /// A whole number that is not negative.
    pub(super) fn number(&mut self, rule: &Node, key: &str) -> Option<Option<u64>> {
        let Some(node) = rule.get(key).filter(|node| !node.is_null()) else { return Some(None) };
        let number = node.number().and_then(|number| number.parse().ok());
        if number.is_none() {
            self.low.said.shape(node, &format!("`{key}`"), "a whole number from 0 on");
        }
        number.map(Some)
    }

    /// A number that has to be there.
    pub(super) fn required_number(&mut self, rule: &Node, key: &str) -> Option<u64> {
        let number = self.number(rule, key)?;
        if number.is_none() {
            let message = format!("the rule has no `{key}`");
            self.low.said.error(Slug::TypeMismatch, rule.span, message, format!("write `{key}: 3`"));
        }
        number
    }
}

fn of_context(key: &str, value: &Node) -> String {
    let path: String = key.strip_prefix("context.").unwrap_or(key).split('.').fold("meta".to_owned(), |path, key| {
        match writer::is_identifier(key) {
            true => format!("{path}.{key}"),
            false => format!("{path}[{}]", quoted(key)),
        }
    });
    format!("{path} == {}", writer::literal(value))
}

fn require(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    if reading.form == Form::Documented {
        let wanted = assay.globs_of(rule, "tool")?;
        let all = wanted.iter().map(|tool| Sentence::new(rule.span, format!("require {tool}"))).collect();
        return Some(Sentence::all_of(rule.span, all));
    }
    let tool = assay.select(rule, "tool", reading)?;
    let text = format!("(count {}) >= 1", tool.pattern());
    Some(Sentence::new(rule.span, text).saying(&format!("required tool '{}' not found in trace", tool.shown)))
}

/// The first call of one tool is not behind the first call of the other.
fn before(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let first = assay.select(rule, "first", reading)?;
    let then = assay.selects(rule, "then", reading)?;
    let behind = then.iter().map(|then| then.shown.as_str()).collect::<Vec<_>>().join("', '");
    let patterns = Selector::any_of(&then);
    let overlap = then.iter().any(|then| then.overlaps(&first));
    match reading.form {
        Form::Documented if !overlap => {
            let text = format!("starts before {} -> {}", first.pattern(), patterns.join(", "));
            Some(Sentence::new(rule.span, text))
        }
        Form::Documented => {
            let text = format!("each {}: first(index of {}) <= index", choice(&patterns), first.pattern());
            Some(Sentence::new(rule.span, text))
        }
        Form::Program => {
            let text = sequence::not_before(&choice(&patterns), &format!("first(index of {})", first.pattern()));
            let message = format!("tool '{}' is required before tool '{behind}'", first.shown);
            Some(Sentence::new(rule.span, text).saying(&message))
        }
    }
}

/// Between the calls: the program counts their places, whether or not the first had ended.
fn immediately_before(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let first = assay.select(rule, "first", reading)?;
    let then = choice(&Selector::any_of(&assay.selects(rule, "then", reading)?));
    Some(Sentence::new(rule.span, format!("each {then}: (index of {}) contains index - 1", first.pattern())))
}

fn blocklist(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let Some(pattern) = rule.get("pattern") else {
        let tools = assay.globs_of(rule, "tools")?;
        return Some(Sentence::new(rule.span, format!("never {}", tools.join(", "))));
    };
    let pattern = assay.low.said.as_text(pattern, "`pattern`")?;
    let blocked = match pattern {
        "" => "any".to_owned(),
        part => format!("(any where tool contains {})", quoted(part)),
    };
    Some(match reading.form {
        Form::Documented => Sentence::new(rule.span, format!("never {blocked}")),
        Form::Program => Sentence::new(rule.span, format!("(count {blocked}) == 0"))
            .saying(&format!("a tool matches blocklist pattern '{pattern}'")),
    })
}

/// Nothing is allowed by an empty list.
fn allowlist(assay: &mut Assay<'_, '_>, rule: &Node, _: Reading<'_>) -> Option<Sentence> {
    let Some(tools) = rule.get("tools") else {
        assay.low.said.error(Slug::TypeMismatch, rule.span, "the rule has no `tools`", "write `tools: [TOOL, …]`");
        return None;
    };
    Some(Sentence::new(rule.span, only(&assay.globs(tools, "`tools`"))))
}

/// That all calls are of these.
pub(super) fn only(tools: &[String]) -> String {
    if tools.is_empty() { "never any".to_owned() } else { format!("only {}", tools.join(", ")) }
}

fn count(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let tool = match rule.get("tool").filter(|tool| tool.is_map()) {
        Some(_) => assay.select(rule, "tool", reading)?.pattern(),
        None => choice(&assay.globs_of(rule, "tool")?),
    };
    let (exact, min, max) = (assay.number(rule, "exact")?, assay.number(rule, "min")?, assay.number(rule, "max")?);
    let text = match (exact, min, max) {
        (Some(exact), _, _) => format!("count {tool} == {exact}"),
        (None, Some(min), Some(max)) if min > max => {
            let message = format!("`min` is {min} and `max` is {max}: no number is between them");
            assay.low.said.error(Slug::Impossible, rule.span, message, "write the smaller one as `min`");
            return None;
        }
        (None, Some(min), Some(max)) => format!("count {tool} in {min}..{max}"),
        (None, Some(min), None) => format!("count {tool} >= {min}"),
        (None, None, Some(max)) => format!("count {tool} <= {max}"),
        (None, None, None) => {
            let message = "the rule has neither `min` nor `max` nor `exact`: it could never fail";
            assay.low.said.error(Slug::TypeMismatch, rule.span, message, "write `max: 3`");
            return None;
        }
    };
    Some(Sentence::new(rule.span, text))
}

fn max_calls(assay: &mut Assay<'_, '_>, rule: &Node, reading: Reading<'_>) -> Option<Sentence> {
    let tool = assay.select(rule, "tool", reading)?;
    let max = assay.required_number(rule, "max")?;
    let (pattern, shown) = (tool.pattern(), &tool.shown);
    Some(match reading.form {
        Form::Documented => Sentence::new(rule.span, format!("count {pattern} <= {max}")),
        Form::Program => Sentence::new(rule.span, format!("(count {pattern}) <= {max}"))
            .saying(&format!("tool '{shown}' exceeded max calls ({max})")),
    })
}
