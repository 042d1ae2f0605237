//! The documented policy format: its constraints on the arguments of each tool.

use super::AssayLowering;
use super::constraints::{CONSTRAINTS, ConstrainedArgument, ConstrainedType, TYPES};
use super::nested;
use super::select::{argument_path, glob_pattern};
use super::sentence::AssayAssertion;
use crate::writer;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

const KEYS: &[&str] = &["type", "description", "required", "required_if", "on_violation"];

impl AssayLowering<'_, '_> {
    pub(super) fn lower_arguments(&mut self, tool: &str, arguments: &YamlNode, root: &YamlNode) -> Vec<AssayAssertion> {
        if !arguments.is_map() {
            self.low.sink.wrong_shape(arguments, "`arguments`", "a mapping of arguments to rules for them");
        }
        let mut sentences = Vec::new();
        for (name, spec) in arguments.entries() {
            let Some(spec) = self.resolve_spec(spec, root, 0) else { continue };
            let (tool, key) = (glob_pattern(tool), name.key_text());
            let of = ConstrainedArgument {
                name: format!("{tool} {key}"),
                path: argument_path(&key),
                tool,
                spec: &spec,
                root,
            };
            sentences.extend(self.lower_argument(&of, name));
        }
        sentences
    }

    fn lower_argument(&mut self, of: &ConstrainedArgument<'_>, name: &YamlNode) -> Vec<AssayAssertion> {
        let known: Vec<&str> = KEYS.iter().copied().chain(CONSTRAINTS.iter().map(|row| row.key)).collect();
        self.low.sink.check_keys(of.spec, &format!("the argument `{}`", name.key_text()), &known);
        let kind = self.argument_type(of.spec);
        let guard = match kind {
            Some((_, is, _)) => format!("{} is {is}", of.path),
            None => format!("{} exists", of.path),
        };
        let mut sentences = self.lower_presence(of, name);
        if let (Some((_, is, _)), Some((key, value))) = (kind, of.spec.find_entry("type")) {
            let place = key.span.cover_with(value.span);
            let text = format!("each {}: {path} exists implies {path} is {is}", of.tool, path = of.path);
            sentences.push(AssayAssertion::new(place, text));
        }
        for (key, value) in of.spec.entries() {
            let Some(row) = CONSTRAINTS.iter().find(|row| key.as_text() == Some(row.key)) else { continue };
            if row.key == "required" && value.as_boolean().is_some() {
                continue;
            }
            let takes = kind.map_or(ConstrainedType::Any, |(_, _, takes)| takes);
            if kind.is_some() && row.takes != ConstrainedType::Any && row.takes != takes {
                let message = format!("`{}` asks nothing of a value of this type", row.key);
                self.low.sink.error(Slug::TypeMismatch, key.span, message, "leave it out, or write another `type`");
                continue;
            }
            let condition = match row.lower {
                Some(lower) => lower(self, of, value),
                None => nested::nested_constraint(self, of, value),
            };
            let text = condition.map(|condition| format!("each {}: {guard} implies {condition}", of.tool));
            sentences.extend(text.map(|text| AssayAssertion::new(key.span.cover_with(value.span), text)));
        }
        let severity = self.violation_severity(of.spec);
        sentences.into_iter().map(|one| severity.map_or(one.clone(), |word| one.with_modifier(word))).collect()
    }

    fn argument_type(&mut self, spec: &YamlNode) -> Option<(&'static str, &'static str, ConstrainedType)> {
        let node = spec.get("type")?;
        let found = TYPES.iter().find(|(word, ..)| node.as_text() == Some(word));
        if found.is_none() {
            let words: Vec<&str> = TYPES.iter().map(|(word, ..)| *word).collect();
            self.low.sink.unknown_word(node, "type", &words);
        }
        found.copied()
    }

    fn lower_presence(&mut self, of: &ConstrainedArgument<'_>, name: &YamlNode) -> Vec<AssayAssertion> {
        let mut sentences = Vec::new();
        if let Some((key, value)) = of.spec.find_entry("required") {
            match value.as_boolean() {
                Some(true) => {
                    let text = format!("each {}: {} exists", of.tool, of.path);
                    sentences.push(AssayAssertion::new(key.span.cover_with(value.span), text));
                }
                Some(false) => {}
                None if value.is_list() => {}
                None => self.low.sink.wrong_shape(
                    value,
                    &format!("`required` of `{}`", name.key_text()),
                    "`true` or `false`",
                ),
            }
        }
        let Some((key, others)) = of.spec.find_entry("required_if") else { return sentences };
        if others.entries().is_empty() {
            self.low.sink.wrong_shape(others, "`required_if`", "a mapping: `other_argument: value`");
            return sentences;
        }
        let is = |(key, value): &(YamlNode, YamlNode)| {
            format!("{} == {}", argument_path(&key.key_text()), writer::value_literal(value))
        };
        let tests: Vec<String> = others.entries().iter().map(is).collect();
        let text = format!("each {}: {} implies {} exists", of.tool, tests.join(" and "), of.path);
        sentences.push(AssayAssertion::new(key.span.cover_with(others.span), text));
        sentences
    }

    fn violation_severity(&mut self, spec: &YamlNode) -> Option<&'static str> {
        let node = spec.get("on_violation")?;
        match node.as_text() {
            Some("block") => None,
            Some("warn") => Some("severity warn"),
            Some("log") => Some("severity info"),
            _ => {
                self.low.sink.unknown_word(node, "`on_violation`", &["block", "warn", "log"]);
                None
            }
        }
    }
}
