//! Assertions and the rules around them, before they are written.

use super::Assay;
use crate::writer::{Writer, quoted};
use averment_base::source::Span;

/// An assertion.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    place: Span,
    text: String,
    members: Vec<Sentence>,
    modifiers: Vec<String>,
    /// What the linter need not say of it.
    allowed: Option<&'static str>,
}

impl Sentence {
    /// An assertion that is made of a place.
    pub(super) fn new(place: Span, text: impl Into<String>) -> Self {
        Self { place, text: text.into(), members: Vec::new(), modifiers: Vec::new(), allowed: None }
    }

    /// Assertions of which all have to hold (`all of`), or any (`any of`).
    pub(super) fn group(place: Span, head: &str, members: Vec<Self>) -> Self {
        Self { members, ..Self::new(place, head) }
    }

    /// Assertions of which all have to hold; one alone is itself.
    pub(super) fn all_of(place: Span, mut members: Vec<Self>) -> Self {
        match (members.pop(), members.is_empty()) {
            (Some(one), true) => one,
            (last, _) => {
                members.extend(last);
                Self::group(place, "all of", members)
            }
        }
    }

    /// With a modifier behind it.
    pub(super) fn with(mut self, modifier: impl Into<String>) -> Self {
        self.modifiers.push(modifier.into());
        self
    }

    /// Written although a lint finds something in it: the other system means it so.
    pub(super) fn allowing(self, lint: &'static str) -> Self {
        Self { allowed: Some(lint), ..self }
    }

    /// With a text that is said where it does not hold.
    pub(super) fn saying(self, message: &str) -> Self {
        self.with(format!("message {}", quoted(message)))
    }

    fn write(&self, out: &mut Writer) {
        if let Some(lint) = self.allowed {
            out.remark(&format!("allow: {lint}"));
        }
        if self.members.is_empty() {
            let modifiers: String = self.modifiers.iter().map(|modifier| format!("  {modifier}")).collect();
            out.line(self.place, |out| out.put(&format!("{}{modifiers}", self.text)));
            return;
        }
        out.block(
            self.place,
            |out| out.put(&self.text),
            |out| {
                self.modifiers.iter().for_each(|modifier| out.line(self.place, |out| out.put(modifier)));
                self.members.iter().for_each(|member| member.write(out));
            },
        );
    }
}

/// A rule or case in the making.
pub(super) struct Rule {
    /// Where it stands.
    pub(super) place: Span,
    /// Its head: `rule auth "…"`.
    pub(super) head: String,
    /// Lines in front of its assertions.
    pub(super) settings: Vec<String>,
    /// Its assertions.
    pub(super) sentences: Vec<Sentence>,
}

impl Assay<'_, '_> {
    /// Writes a rule, behind the schemas that it is the first to use.
    pub(super) fn write(&mut self, rule: &Rule) {
        self.schemas.write_new(&mut self.low.out);
        self.low.out.gap();
        self.low.out.block(
            rule.place,
            |out| out.put(&rule.head),
            |out| {
                rule.settings.iter().for_each(|setting| out.line(rule.place, |out| out.put(setting)));
                rule.sentences.iter().for_each(|sentence| sentence.write(out));
            },
        );
    }
}
