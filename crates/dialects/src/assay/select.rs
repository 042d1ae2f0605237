//! Selects the calls of a rule: names, aliases, names with expressions on arguments, globs.

use super::AssayLowering;
use crate::regex_flavour::slash_literal;
use crate::writer::{self, member_path};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use std::collections::BTreeMap;

pub(super) type ToolAliases = BTreeMap<String, Vec<String>>;

#[derive(Debug, Clone)]
pub(super) struct CallSelector {
    pub(super) shown: String,
    tools: Vec<String>,
    pattern: String,
    condition: Option<String>,
}

impl CallSelector {
    pub(super) fn to_pattern(&self) -> String {
        match &self.condition {
            Some(condition) => format!("({} where {condition})", self.pattern),
            None => self.pattern.clone(),
        }
    }

    pub(super) fn pattern_where(&self, condition: &str) -> String {
        match &self.condition {
            Some(own) => format!("({} where {own} and {condition})", self.pattern),
            None => format!("({} where {condition})", self.pattern),
        }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let is_glob = |tool: &String| tool.contains(['*', '?']);
        self.tools.iter().chain(&other.tools).any(is_glob) || self.tools.iter().any(|tool| other.tools.contains(tool))
    }

    pub(super) fn any_of(all: &[Self]) -> Vec<String> {
        let mut patterns: Vec<String> = Vec::new();
        for pattern in all.iter().map(Self::to_pattern) {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        patterns
    }
}

pub(super) fn choice_pattern(patterns: &[String]) -> String {
    match patterns {
        [one] => one.clone(),
        several => format!("({})", several.join(" | ")),
    }
}

impl AssayLowering<'_, '_> {
    pub(super) fn read_aliases(&mut self, node: Option<&YamlNode>) -> ToolAliases {
        let mut aliases = ToolAliases::new();
        let Some(node) = node.filter(|node| !node.is_null()) else { return aliases };
        if !node.is_map() {
            self.low.sink.wrong_shape(node, "`aliases`", "a mapping of names to lists of tools");
        }
        for (name, members) in node.entries() {
            if members.items().is_empty() {
                let message = format!("the alias `{}` has no tools: no call could be of it", name.key_text());
                self.low.sink.error(Slug::TypeMismatch, members.span, message, "write a list of tools");
            }
            let members = members.items().iter().filter_map(|member| self.low.sink.as_text(member, "a tool"));
            aliases.insert(name.key_text(), members.map(ToOwned::to_owned).collect());
        }
        aliases
    }

    /// Reads a name, an alias, or a tool with expressions on its arguments.
    pub(super) fn read_selector(&mut self, node: &YamlNode, what: &str, aliases: &ToolAliases) -> Option<CallSelector> {
        if !node.is_map() {
            let name = self.low.sink.as_text(node, what)?;
            if name.is_empty() {
                let message = format!("{what} is empty");
                self.low.sink.error(Slug::TypeMismatch, node.span, message, "write the name of a tool");
                return None;
            }
            return Some(named_selector(name, aliases));
        }
        self.low.sink.check_keys(node, what, &["tool", "args_match"]);
        let mut selector = named_selector(self.low.sink.required_text(node, "tool", what)?, aliases);
        let Some(patterns) = node.get("args_match") else { return Some(selector) };
        if !patterns.is_map() {
            self.low.sink.wrong_shape(patterns, "`args_match`", "a mapping of arguments to regular expressions");
            return None;
        }
        let mut conditions = Vec::new();
        for (key, pattern) in patterns.entries() {
            let argument = argument_path(&key.key_text());
            let regex = self.regex_literal(pattern, "")?;
            conditions.push(match pattern.as_text() {
                Some("") => format!("{argument} exists"),
                _ => format!("{argument} exists and text({argument}) matches {regex}"),
            });
        }
        let keys: Vec<String> = patterns.entries().iter().map(|(key, _)| key.key_text()).collect();
        selector.shown = format!("{}[{}]", selector.shown, keys.join(","));
        selector.condition = (!conditions.is_empty()).then(|| conditions.join(" and "));
        Some(selector)
    }

    /// Reads a glob: `*` matches any characters, `?` matches one.
    pub(super) fn read_glob(&mut self, node: &YamlNode, what: &str) -> Option<String> {
        let name = self.low.sink.as_text(node, what)?;
        if name.is_empty() {
            let message = format!("{what} is empty");
            self.low.sink.error(Slug::TypeMismatch, node.span, message, "write the name of a tool, or a glob");
            return None;
        }
        Some(glob_pattern(name))
    }

    /// Reads a list of at least one name.
    pub(super) fn required_globs(&mut self, node: &YamlNode, key: &str) -> Option<Vec<String>> {
        let Some(names) = node.get(key) else {
            let message = format!("there is no `{key}`");
            self.low.sink.error(Slug::TypeMismatch, node.span, message, format!("write `{key}: …`"));
            return None;
        };
        if names.is_list() && names.items().is_empty() {
            let message = format!("`{key}` is empty: nothing could fail");
            self.low.sink.error(Slug::TypeMismatch, names.span, message, "write the names of tools, or globs");
        }
        let globs = self.read_globs(names, &format!("`{key}`"));
        (!globs.is_empty()).then_some(globs)
    }

    pub(super) fn read_globs(&mut self, node: &YamlNode, what: &str) -> Vec<String> {
        match node.is_list() {
            true => node.items().iter().filter_map(|item| self.read_glob(item, what)).collect(),
            false => self.read_glob(node, what).into_iter().collect(),
        }
    }
}

fn named_selector(name: &str, aliases: &ToolAliases) -> CallSelector {
    match aliases.get(name) {
        Some(members) => {
            let patterns: Vec<String> = members.iter().map(|member| glob_pattern(member)).collect();
            let (tools, pattern) = (members.clone(), choice_pattern(&patterns));
            CallSelector { shown: name.to_owned(), tools, pattern, condition: None }
        }
        None => {
            let tools = vec![name.to_owned()];
            CallSelector { shown: name.to_owned(), tools, pattern: glob_pattern(name), condition: None }
        }
    }
}

pub(super) fn argument_path(name: &str) -> String {
    format!("args{}", member_path(name))
}

/// Writes the bare name if possible, otherwise a condition on the name.
pub(super) fn glob_pattern(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | '?');
    let is_glob = name.contains(['*', '?']);
    match () {
        () if !is_glob => writer::tool_pattern(name),
        () if name.chars().all(|c| c == '*') => "any".to_owned(),
        () if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '?') => name.to_owned(),
        () => format!("(any where tool matches {})", slash_literal(&format!("\\A{}\\z", glob_regex(name)), "s")),
    }
}

fn glob_regex(glob: &str) -> String {
    let piece = |c: char| match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        other => regex_syntax::escape(other.encode_utf8(&mut [0; 4])),
    };
    glob.chars().map(piece).collect()
}
