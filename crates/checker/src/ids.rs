//! Ids of rules and assertions.

use super::Checker;
use super::spoken_name::SpokenName;
use averment_base::diagnostic::render::is_steering;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::path::Path;

/// All ids that are taken.
#[derive(Debug, Default)]
pub struct UsedIds {
    known: IndexMap<String, Option<(Span, &'static str)>>,
    repeated: IndexMap<String, u32>,
    counted: Vec<u32>,
    unnamed: Vec<UnnamedAssertion>,
}

/// An assertion without a rule and an `id`.
#[derive(Debug)]
struct UnnamedAssertion {
    /// Its place among all assertions.
    index: usize,
    /// The name of its file, without the ending.
    stem: String,
    /// The texts of the blocks around it.
    headers: Vec<String>,
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
            |at| format!("a second {what} `{}` (the first is in {at})", name.text),
            "choose another name",
        );
        name.text.clone()
    }

    pub(super) fn given_id(&mut self, name: &ast::Name) -> String {
        let message = |at: String| format!("a second assertion with id `{}` (the first is in {at})", name.text);
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

    /// Puts off the id of an assertion without one, until all of its file are known.
    pub(super) fn defer_id(&mut self, place: Span, headers: &[String]) -> String {
        let name = self.map.file_name(place);
        let stem =
            Path::new(name).file_stem().map_or_else(|| "rules".to_owned(), |stem| stem.to_string_lossy().into_owned());
        // An id is one line that can be seen, also of a file whose name is not.
        let stem = stem.replace(|letter: char| letter.is_control() || is_steering(letter), "_");
        self.ids.unnamed.push(UnnamedAssertion {
            index: self.module.assertions.len(),
            stem,
            headers: headers.to_vec(),
        });
        String::new()
    }

    /// `refunds:never-drop_table`: the words of the text, so that edits elsewhere do not change it. Where these do not tell two
    /// assertions apart, or words are left out, digits of a hash follow.
    pub(super) fn name_unnamed(&mut self) {
        let unnamed = std::mem::take(&mut self.ids.unnamed);
        let assertions = &self.module.assertions;
        let text_of = |one: &UnnamedAssertion| assertions.get(one.index).map_or("", |assertion| &assertion.text);
        let names: Vec<_> = unnamed.iter().map(|one| SpokenName::from_texts(&one.headers, text_of(one))).collect();
        // For each name its first assertion, and whether another text has it, too.
        let mut holders: FxHashMap<(&str, &str), (&UnnamedAssertion, bool)> = FxHashMap::default();
        for (one, name) in unnamed.iter().zip(&names) {
            let (first, is_shared) = holders.entry((&one.stem, &name.words)).or_insert((one, false));
            *is_shared |= text_of(first) != text_of(one) || first.headers != one.headers;
        }
        let mut ids = Vec::with_capacity(names.len());
        for (one, name) in unnamed.iter().zip(&names) {
            let SpokenName { words, is_whole } = name;
            let is_shared = holders.get(&(&one.stem, words)).is_some_and(|(_, is_shared)| *is_shared);
            let id = format!("{}:{words}", one.stem);
            ids.push(match *is_whole && !is_shared {
                true => id,
                false => format!("{id}-{}", short_digest(&one.headers, text_of(one))),
            });
        }
        for (one, id) in unnamed.iter().zip(ids) {
            let id = self.ids.free_id(id);
            if let Some(assertion) = self.module.assertions.get_mut(one.index) {
                assertion.id = id;
            }
        }
    }
}

fn short_digest(headers: &[String], text: &str) -> String {
    let mut hash = Sha256::new();
    for part in headers.iter().map(String::as_str).chain([text]) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(2).map(|byte| format!("{byte:02x}")).collect()
}
