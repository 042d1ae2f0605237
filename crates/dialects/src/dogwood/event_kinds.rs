//! The kinds of events, from a file `event.dwschema` beside the policies. Without it: requests, responses and errors.

use super::cursor::{ReaderState, TokenCursor};
use super::past_reader::read_path;
use super::tokens::read_tokens;
use super::tree::ScopeRoot;
use crate::shape::DiagnosticSink;
use averment_base::source::{FileId, Span};

/// The role of an event in a recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventRole {
    Request,
    Response,
    Error,
}

impl EventRole {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Error => "error",
        }
    }
}

/// A field that every predicate of the kind compares with the current request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PinnedField {
    pub(super) field: Vec<String>,
    /// `principal` or `resource`; `None` for `context`.
    pub(super) root: Option<ScopeRoot>,
    pub(super) path: Vec<String>,
}

impl PinnedField {
    /// True if the pin compares a field with the same field of the current request.
    fn is_symmetric(&self, kinds: &EventKinds) -> bool {
        match self.root {
            None => self.path == self.field,
            Some(root) => self.path.is_empty() && kinds.alias(&self.field) == Some(root),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct EventKind {
    pub(super) name: String,
    pub(super) role: EventRole,
    pub(super) pins: Vec<PinnedField>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct EventKinds {
    pub(super) kinds: Vec<EventKind>,
    /// Fields that hold the principal or the resource.
    aliases: Vec<(Vec<String>, ScopeRoot)>,
}

impl EventKinds {
    /// Returns the default kinds: requests, responses and errors, without pins.
    pub(super) fn usual() -> Self {
        let kind = |role: EventRole| EventKind { name: role.word().to_owned(), role, pins: Vec::new() };
        let kinds = [EventRole::Request, EventRole::Response, EventRole::Error].map(kind).to_vec();
        Self { kinds, aliases: Vec::new() }
    }

    /// Returns the kind with this name.
    pub(super) fn find(&self, name: &str) -> Option<&EventKind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// Returns whether a field holds the principal or the resource.
    pub(super) fn alias(&self, field: &[String]) -> Option<ScopeRoot> {
        match field {
            [one] if one == "callerPrincipal" => Some(ScopeRoot::Principal),
            [one] if one == "callerResource" => Some(ScopeRoot::Resource),
            _ => self.aliases.iter().find(|(known, _)| known == field).map(|(_, root)| *root),
        }
    }

    /// Returns the pins that all kinds share. They identify the owner of an event, so that events of other owners do not count in the history.
    pub(super) fn universal_pins(&self) -> Vec<PinnedField> {
        let Some((first, rest)) = self.kinds.split_first() else { return Vec::new() };
        let everywhere = |pin: &&PinnedField| pin.is_symmetric(self) && rest.iter().all(|kind| kind.pins.contains(pin));
        first.pins.iter().filter(everywhere).cloned().collect()
    }
}

/// The fields of a kind during reading.
#[derive(Default)]
struct ReadFields {
    pins: Vec<PinnedField>,
    aliases: Vec<(Vec<String>, ScopeRoot)>,
    has_outputs: bool,
}

pub(super) fn read_event_kinds(text: &str, file: FileId, said: &mut DiagnosticSink) -> Option<EventKinds> {
    let tokens = read_tokens(text, file, said)?;
    let mut state = ReaderState::new(said);
    let mut from = TokenCursor::new(tokens.into(), None, Span::new(file, text.len(), text.len()));
    if from.take_word("max_window") {
        from.need_sign("=", &mut state)?;
        from.take_token();
        from.take_token();
    }
    let mut kinds = EventKinds::default();
    while !from.is_at_end() {
        let decides = from.take_word("decision");
        from.need_word("event", &mut state)?;
        from.need_sign("<", &mut state)?;
        from.need_name("a name for the action", &mut state)?;
        from.need_sign(">", &mut state)?;
        from.need_sign("::", &mut state)?;
        let (name, _) = from.need_name("the kind of the event", &mut state)?;
        if !from.is_sign("{") {
            return from.expected("`{`, with the fields of the event", &mut state);
        }
        let mut fields = ReadFields::default();
        let inside = from.take_group(&mut state)?;
        read_fields(inside, &[], &mut fields, &mut state)?;
        let role = match (decides, fields.has_outputs) {
            (true, _) => EventRole::Request,
            (false, true) => EventRole::Response,
            (false, false) => EventRole::Error,
        };
        kinds.kinds.push(EventKind { name: name.to_string(), role, pins: fields.pins });
        kinds.aliases.extend(fields.aliases);
    }
    Some(kinds)
}

fn read_fields(from: TokenCursor, above: &[String], found: &mut ReadFields, state: &mut ReaderState<'_>) -> Option<()> {
    for mut part in from.split_at_commas() {
        if part.take_sign("...") {
            let (selector, _) = part.need_name("`inputs` or `outputs`", state)?;
            found.has_outputs |= &*selector == "outputs";
            continue;
        }
        let is_pin = part.is_word("pin") && part.word_ahead(1).is_some();
        if is_pin {
            part.take_token();
        }
        let (name, _) = part.need_name("the name of a field", state)?;
        let field: Vec<String> = above.iter().cloned().chain([name.to_string()]).collect();
        part.need_sign(":", state)?;
        if part.is_sign("{") {
            let inside = part.take_group(state)?;
            let place = part.last_span();
            state.nested(place, |state| read_fields(inside, &field, found, state))?;
            continue;
        }
        let (kind, _) = part.need_name("the type of the field", state)?;
        match &*kind {
            "principalType" => found.aliases.push((field.clone(), ScopeRoot::Principal)),
            "resourceType" => found.aliases.push((field.clone(), ScopeRoot::Resource)),
            _ => {}
        }
        if part.is_sign("(") {
            part.take_group(state)?;
        }
        while part.take_sign("::") {
            part.take_token();
        }
        if !is_pin {
            continue;
        }
        part.need_sign("=", state)?;
        let root = match part.word_ahead(0) {
            Some("principal") => Some(ScopeRoot::Principal),
            Some("resource") => Some(ScopeRoot::Resource),
            Some("context") => None,
            _ => return part.expected("`principal`, `resource` or `context`", state),
        };
        part.take_token();
        found.pins.push(PinnedField { field, root, path: read_path(&mut part, state)? });
    }
    Some(())
}
