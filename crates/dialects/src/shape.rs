//! Checks the shape of mappings in foreign files, and reports what does not fit.

use crate::yaml::YamlNode;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug, suggest};
use averment_base::source::Span;

/// Collects the diagnostics of a foreign file.
#[derive(Debug, Default)]
pub struct DiagnosticSink {
    /// The diagnostics collected so far.
    pub diagnostics: Diagnostics,
    errors: usize,
    others: usize,
}

/// Maximum errors, and other diagnostics, per file.
const MOST: usize = 500;

impl DiagnosticSink {
    /// Number of diagnostics so far.
    pub fn diagnostic_count(&self) -> usize {
        self.diagnostics.0.len()
    }

    fn push_diagnostic(&mut self, mut diagnostic: Diagnostic) {
        let said = if diagnostic.severity == Severity::Error { &mut self.errors } else { &mut self.others };
        *said = said.saturating_add(1);
        if *said == MOST {
            diagnostic.help = Some(format!("{MOST} problems of this file are shown; fix these first"));
        }
        if *said <= MOST {
            self.diagnostics.0.push(diagnostic);
        }
    }

    /// Reports an error: the file is unusable.
    pub fn error(&mut self, slug: Slug, place: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push_diagnostic(Diagnostic::new(slug, place, message).with_help(help));
    }

    /// Reports a warning: the file is used anyway.
    pub fn warning(&mut self, slug: Slug, place: Span, message: impl Into<String>, help: impl Into<String>) {
        let mut diagnostic = Diagnostic::new(slug, place, message).with_help(help);
        diagnostic.severity = Severity::Warning;
        self.push_diagnostic(diagnostic);
    }

    /// Reports a hint: the file is valid, but the user may want to do something.
    pub fn info(&mut self, slug: Slug, place: Span, message: impl Into<String>, help: impl Into<String>) {
        let mut diagnostic = Diagnostic::new(slug, place, message).with_help(help);
        diagnostic.severity = Severity::Info;
        self.push_diagnostic(diagnostic);
    }

    /// Reports a value of the wrong shape.
    pub fn wrong_shape(&mut self, node: &YamlNode, what: &str, wanted: &str) {
        self.error(Slug::TypeMismatch, node.span, format!("{what} is {}", node.kind_name()), format!("write {wanted}"));
    }

    /// Reports an unknown key, and suggests the most similar known key.
    pub fn unknown_key(&mut self, key: &YamlNode, what: &str, known: &[&str]) {
        self.unknown_name(key.span, &key.key_text(), what, known);
    }

    /// Reports an unknown key that has no YAML node.
    pub fn unknown_name(&mut self, place: Span, name: &str, what: &str, known: &[&str]) {
        let help = match suggest::suggest_name(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{what} may have {}", listed_names(known)),
        };
        self.error(Slug::UnknownField, place, format!("{what} has no key `{name}`"), help);
    }

    /// Reports an unknown word, and suggests the most similar known word.
    pub fn unknown_word(&mut self, node: &YamlNode, what: &str, known: &[&str]) {
        let word = node.key_text();
        let help = match suggest::suggest_name(&word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write {}", listed_names(known)),
        };
        self.error(Slug::UnknownType, node.span, format!("there is no {what} `{word}`"), help);
    }

    /// Returns true if the node is a mapping that has only the keys in `known`; otherwise reports an error.
    pub fn check_keys(&mut self, node: &YamlNode, what: &str, known: &[&str]) -> bool {
        if !node.is_map() {
            self.wrong_shape(node, what, "a mapping");
            return false;
        }
        let mut all_known = true;
        for (key, _) in node.entries() {
            if !key.as_text().is_some_and(|name| known.contains(&name)) {
                self.unknown_key(key, what, known);
                all_known = false;
            }
        }
        all_known
    }

    /// Returns the text of a required key; reports an error if it is missing.
    pub fn required_text<'a>(&mut self, node: &'a YamlNode, key: &str, what: &str) -> Option<&'a str> {
        match node.get(key) {
            Some(value) => self.as_text(value, &format!("`{key}` of {what}")),
            None => {
                self.error(
                    Slug::TypeMismatch,
                    node.span,
                    format!("{what} has no `{key}`"),
                    format!("write `{key}: …`"),
                );
                None
            }
        }
    }

    /// Returns the text of an optional key.
    pub fn optional_text<'a>(&mut self, node: &'a YamlNode, key: &str, what: &str) -> Option<&'a str> {
        self.as_text(node.get(key)?, &format!("`{key}` of {what}"))
    }

    /// Returns a text; reports an error for any other value.
    pub fn as_text<'a>(&mut self, node: &'a YamlNode, what: &str) -> Option<&'a str> {
        let text = node.as_text();
        if text.is_none() {
            self.wrong_shape(node, what, "a text, in quotes where it looks like a number or a boolean");
        }
        text
    }

    /// Returns the elements of the list at a key; empty if the key is missing. Reports an error for any other value.
    pub fn list_items<'a>(&mut self, node: &'a YamlNode, key: &str, what: &str) -> &'a [YamlNode] {
        let Some(value) = node.get(key) else { return &[] };
        if !value.is_list() {
            self.wrong_shape(value, &format!("`{key}` of {what}"), "a list");
        }
        value.items()
    }

    /// Returns true if an error makes the file unusable.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

/// Returns names as an enumeration: `` `a`, `b` and `c` ``.
#[must_use]
pub fn listed_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
