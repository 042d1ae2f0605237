//! Actions in the Cedar schema beside the policies: their names and their groups.

use super::cursor::{ReaderState, TokenCursor};
use super::tokens::{TokenKind, read_tokens};
use crate::shape::DiagnosticSink;
use averment_base::source::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The actions of a schema, each with its direct groups.
#[derive(Debug, Clone, Default)]
pub(super) struct ActionSchema {
    groups: BTreeMap<String, BTreeSet<String>>,
}

impl ActionSchema {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    pub(super) fn knows(&self, action: &str) -> bool {
        self.groups.contains_key(action)
    }

    /// Returns the group itself, followed by all actions in it.
    pub(super) fn members(&self, group: &str) -> Vec<String> {
        let mut found = vec![group.to_owned()];
        let mut at = 0;
        while let Some(above) = found.get(at).cloned() {
            let below = self.groups.iter().filter(|(_, groups)| groups.contains(&above)).map(|(name, _)| name.clone());
            let new: Vec<String> = below.filter(|name| !found.contains(name)).collect();
            found.extend(new);
            at = at.saturating_add(1);
        }
        found
    }
}

/// Reads the declarations of actions. Nothing else in a schema concerns recorded runs.
pub(super) fn read_action_schema(text: &str, file: FileId, said: &mut DiagnosticSink) -> Option<ActionSchema> {
    let tokens = read_tokens(text, file, said)?;
    let mut state = ReaderState::new(said);
    let mut from = TokenCursor::new(tokens.into(), None, Span::new(file, text.len(), text.len()));
    let mut schema = ActionSchema::default();
    while !from.is_at_end() {
        if !from.take_word("action") {
            from.take_token();
            continue;
        }
        let mut names = Vec::new();
        while let Some(name) = action_name(&mut from) {
            names.push(name);
            if !from.take_sign(",") {
                break;
            }
        }
        let mut groups = BTreeSet::new();
        if !names.is_empty() && from.take_word("in") {
            let inside =
                if from.is_sign("[") { from.take_group(&mut state)?.split_at_commas() } else { vec![from.clone()] };
            groups.extend(inside.into_iter().filter_map(|mut part| qualified_action(&mut part)));
        }
        for name in names {
            schema.groups.entry(name).or_default().extend(groups.iter().cloned());
        }
        // A type may be named `action`; the words in it are not declarations.
        while !from.is_at_end() && !from.is_sign(";") && !from.is_sign("}") {
            if from.is_sign("{") || from.is_sign("[") {
                from.take_group(&mut state)?;
            } else {
                from.take_token();
            }
        }
    }
    Some(schema)
}

fn action_name(from: &mut TokenCursor) -> Option<String> {
    match from.take_text() {
        Some((text, _)) => Some(text.to_string()),
        None if from.is_sign_ahead(1, ":") => None,
        None => from.take_name().map(|(name, _)| name.to_string()),
    }
}

/// Reads a qualified name and returns the part after the last `::`.
fn qualified_action(from: &mut TokenCursor) -> Option<String> {
    let mut name = None;
    while let Some(token) = from.take_token() {
        match token.kind {
            TokenKind::Word(word) => name = Some(word.to_string()),
            TokenKind::Text { decoded, .. } => return Some(decoded.to_string()),
            TokenKind::Sign("::") => {}
            _ => break,
        }
    }
    name
}
