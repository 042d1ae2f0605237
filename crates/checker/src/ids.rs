//! Ids of rules and assertions.

use super::Checker;
use averment_base::diagnostic::render::is_steering;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast;
use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use std::path::Path;

/// All ids that are taken.
#[derive(Debug, Default)]
pub struct UsedIds {
    known: IndexMap<String, Option<(Span, &'static str)>>,
    repeated: IndexMap<String, u32>,
    counted: Vec<u32>,
}

impl UsedIds {
    /// The id, with `-2`, `-3`, … appended if it is taken.
    fn free_id(&mut self, id: String) -> String {
        let mut found = id.clone();
        while self.known.contains_key(&found) {
            let count = self.repeated.entry(id.clone()).or_insert(1);
            *count = count.saturating_add(1);
            found = format!("{id}-{count}");
        }
        self.known.insert(found.clone(), None);
        found
    }
}

impl Checker<'_> {
    pub(super) fn rule_id(&mut self, what: &'static str, name: &ast::Name) -> String {
        self.report_taken(
            name,
            what,
            |at| format!("a second {what} `{}` (the first stands in {at})", name.text),
            "choose another name",
        );
        name.text.clone()
    }

    pub(super) fn given_id(&mut self, name: &ast::Name) -> String {
        let message = |at: String| format!("a second assertion with id `{}` (the first stands in {at})", name.text);
        self.report_taken(name, "assertion", message, "choose another id");
        name.text.clone()
    }

    fn report_taken(&mut self, name: &ast::Name, what: &'static str, message: impl Fn(String) -> String, help: &str) {
        match self.ids.known.get(&name.text).copied() {
            Some(Some((earlier, other))) => {
                let at = self.place_of(earlier, name.span);
                let message = if other == what {
                    message(at)
                } else {
                    format!("`{}` is the id of the {other} in {at}", name.text)
                };
                self.report_diagnostic(
                    Diagnostic::new(Slug::Duplicate, name.span, message)
                        .with_other(earlier, "the first")
                        .with_help(help.to_owned()),
                );
            }
            _ => {
                self.ids.known.insert(name.text.clone(), Some((name.span, what)));
            }
        }
    }

    /// `RULE.N`.
    pub(super) fn numbered_id(&mut self, rule: u32) -> String {
        let index = rule as usize;
        if self.ids.counted.len() <= index {
            self.ids.counted.resize(index.saturating_add(1), 0);
        }
        let count = self.ids.counted.get_mut(index).map_or(0, |count| {
            *count = count.saturating_add(1);
            *count
        });
        let name = self.module.rules.get(index).map_or("", |rule| rule.id.as_str());
        let id = format!("{name}.{count}");
        self.ids.free_id(id)
    }

    /// `refunds:3f9a1c20`: hashes the file name, text and block headers, so that edits elsewhere do not change it.
    pub(super) fn hashed_id(&mut self, place: Span, headers: &[String], text: &str) -> String {
        let mut hash = Sha256::new();
        for part in headers.iter().map(String::as_str).chain([text]) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let name = self.map.file_name(place);
        let stem =
            Path::new(name).file_stem().map_or_else(|| "rules".to_owned(), |stem| stem.to_string_lossy().into_owned());
        // An id is one line that can be seen, also of a file whose name is not.
        let stem = stem.replace(|letter: char| letter.is_control() || is_steering(letter), "_");
        self.ids.free_id(format!("{stem}:{digest}"))
    }
}
