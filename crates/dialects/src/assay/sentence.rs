//! Assertions and the rules around them, before they are written.

use super::AssayLowering;
use crate::writer::{RuleWriter, quote_text};
use averment_base::source::Span;

/// An assertion.
#[derive(Debug, Clone)]
pub(super) struct AssayAssertion {
    place: Span,
    text: String,
    members: Vec<AssayAssertion>,
    modifiers: Vec<String>,
    /// What the linter need not say of it.
    allowed: Option<&'static str>,
}

impl AssayAssertion {
    /// An assertion that is made of a place.
    pub(super) fn new(place: Span, text: impl Into<String>) -> Self {
        Self { place, text: text.into(), members: Vec::new(), modifiers: Vec::new(), allowed: None }
    }

    /// Assertions of which all have to hold (`all of`), or any (`any of`).
    pub(super) fn in_group(place: Span, head: &str, members: Vec<Self>) -> Self {
        Self { members, ..Self::new(place, head) }
    }

    /// Assertions of which all have to hold; one alone is itself.
    pub(super) fn all_of(place: Span, mut members: Vec<Self>) -> Self {
        match (members.pop(), members.is_empty()) {
            (Some(one), true) => one,
            (last, _) => {
                members.extend(last);
                Self::in_group(place, "all of", members)
            }
        }
    }

    /// With a modifier behind it.
    pub(super) fn with_modifier(mut self, modifier: impl Into<String>) -> Self {
        self.modifiers.push(modifier.into());
        self
    }

    /// Written although a lint finds something in it: the other system means it so.
    pub(super) fn allow_lint(self, lint: &'static str) -> Self {
        Self { allowed: Some(lint), ..self }
    }

    /// With a text that is said where it does not hold.
    pub(super) fn with_message(self, message: &str) -> Self {
        self.with_modifier(format!("message {}", quote_text(message)))
    }

    fn write_assertion(&self, out: &mut RuleWriter) {
        if let Some(lint) = self.allowed {
            out.write_remark(&format!("allow: {lint}"));
        }
        if self.members.is_empty() {
            let modifiers: String = self.modifiers.iter().map(|modifier| format!("  {modifier}")).collect();
            out.write_line(self.place, |out| out.put_text(&format!("{}{modifiers}", self.text)));
            return;
        }
        out.write_block(
            self.place,
            |out| out.put_text(&self.text),
            |out| {
                self.modifiers.iter().for_each(|modifier| out.write_line(self.place, |out| out.put_text(modifier)));
                self.members.iter().for_each(|member| member.write_assertion(out));
            },
        );
    }
}

/// A rule or case in the making.
pub(super) struct RuleDraft {
    /// Where it stands.
    pub(super) place: Span,
    /// Its head: `rule auth "…"`.
    pub(super) head: String,
    /// Lines in front of its assertions.
    pub(super) settings: Vec<String>,
    /// Its assertions.
    pub(super) sentences: Vec<AssayAssertion>,
}

impl AssayLowering<'_, '_> {
    /// Writes a rule, behind the schemas that it is the first to use.
    pub(super) fn write_rule(&mut self, rule: &RuleDraft) {
        self.schemas.write_new(&mut self.low.out);
        self.low.out.write_gap();
        self.low.out.write_block(
            rule.place,
            |out| out.put_text(&rule.head),
            |out| {
                rule.settings.iter().for_each(|setting| out.write_line(rule.place, |out| out.put_text(setting)));
                rule.sentences.iter().for_each(|sentence| sentence.write_assertion(out));
            },
        );
    }
}
