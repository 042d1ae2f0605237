//! The documented policy: what is asked of the arguments of each tool.

use super::Assay;
use super::constraints::{Argument, CONSTRAINTS, TYPES, Takes};
use super::nested;
use super::select::{argument, glob};
use super::sentence::Sentence;
use crate::writer;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// The keys of an argument beside its constraints.
const KEYS: &[&str] = &["type", "description", "required", "required_if", "on_violation"];

impl Assay<'_, '_> {
    /// The assertions on the arguments of a tool.
    pub(super) fn arguments(&mut self, tool: &str, arguments: &Node, root: &Node) -> Vec<Sentence> {
        if !arguments.is_map() {
            self.low.said.shape(arguments, "`arguments`", "a mapping of arguments to what is asked of them");
        }
        let mut sentences = Vec::new();
        for (name, spec) in arguments.entries() {
            let Some(spec) = self.resolved(spec, root, 0) else { continue };
            let (tool, key) = (glob(tool), name.key());
            let of = Argument { name: format!("{tool} {key}"), path: argument(&key), tool, spec: &spec, root };
            sentences.extend(self.argument(&of, name));
        }
        sentences
    }

    fn argument(&mut self, of: &Argument<'_>, name: &Node) -> Vec<Sentence> {
        let known: Vec<&str> = KEYS.iter().copied().chain(CONSTRAINTS.iter().map(|row| row.key)).collect();
        self.low.said.keys(of.spec, &format!("the argument `{}`", name.key()), &known);
        let kind = self.kind(of.spec);
        let guard = match kind {
            Some((_, is, _)) => format!("{} is {is}", of.path),
            None => format!("{} exists", of.path),
        };
        let mut sentences = self.presence(of, name);
        if let (Some((_, is, _)), Some(place)) = (kind, of.spec.get("type")) {
            let text = format!("each {}: {path} exists implies {path} is {is}", of.tool, path = of.path);
            sentences.push(Sentence::new(place.span, text));
        }
        for (key, value) in of.spec.entries() {
            let Some(row) = CONSTRAINTS.iter().find(|row| key.text() == Some(row.key)) else { continue };
            if row.key == "required" && value.boolean().is_some() {
                continue;
            }
            let takes = kind.map_or(Takes::Any, |(_, _, takes)| takes);
            if kind.is_some() && row.takes != Takes::Any && row.takes != takes {
                let message = format!("`{}` asks nothing of a value of this type", row.key);
                self.low.said.error(Slug::TypeMismatch, key.span, message, "leave it out, or write another `type`");
                continue;
            }
            let condition = match row.lower {
                Some(lower) => lower(self, of, value),
                None => nested::part(self, of, value),
            };
            let text = condition.map(|condition| format!("each {}: {guard} implies {condition}", of.tool));
            sentences.extend(text.map(|text| Sentence::new(key.span.to(value.span), text)));
        }
        let severity = self.severity(of.spec);
        sentences.into_iter().map(|one| severity.map_or(one.clone(), |word| one.with(word))).collect()
    }

    /// The type that an argument has to have.
    fn kind(&mut self, spec: &Node) -> Option<(&'static str, &'static str, Takes)> {
        let node = spec.get("type")?;
        let found = TYPES.iter().find(|(word, ..)| node.text() == Some(word));
        if found.is_none() {
            let words: Vec<&str> = TYPES.iter().map(|(word, ..)| *word).collect();
            self.low.said.unknown_word(node, "type", &words);
        }
        found.copied()
    }

    /// Whether an argument has to be there, always or where others have a value.
    fn presence(&mut self, of: &Argument<'_>, name: &Node) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        if let Some((key, value)) = of.spec.entry("required") {
            match value.boolean() {
                Some(true) => {
                    let text = format!("each {}: {} exists", of.tool, of.path);
                    sentences.push(Sentence::new(key.span.to(value.span), text));
                }
                Some(false) => {}
                None if value.is_list() => {}
                None => self.low.said.shape(value, &format!("`required` of `{}`", name.key()), "`true` or `false`"),
            }
        }
        let Some((key, others)) = of.spec.entry("required_if") else { return sentences };
        if others.entries().is_empty() {
            self.low.said.shape(others, "`required_if`", "a mapping: `other_argument: value`");
            return sentences;
        }
        let is = |(key, value): &(Node, Node)| format!("{} == {}", argument(&key.key()), writer::literal(value));
        let tests: Vec<String> = others.entries().iter().map(is).collect();
        let text = format!("each {}: {} implies {} exists", of.tool, tests.join(" and "), of.path);
        sentences.push(Sentence::new(key.span.to(others.span), text));
        sentences
    }

    /// What a violation does to its run.
    fn severity(&mut self, spec: &Node) -> Option<&'static str> {
        let node = spec.get("on_violation")?;
        match node.text() {
            Some("block") => None,
            Some("warn") => Some("severity warn"),
            Some("log") => Some("severity info"),
            _ => {
                self.low.said.unknown_word(node, "`on_violation`", &["block", "warn", "log"]);
                None
            }
        }
    }
}
