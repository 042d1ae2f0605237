//! Assertions, and the rules that contain them, before they are written.

use super::AssayLowering;
use crate::writer::{RuleWriter, quote_text};
use averment_base::source::Span;

#[derive(Debug, Clone)]
pub(super) struct AssayAssertion {
    place: Span,
    text: String,
    members: Vec<AssayAssertion>,
    modifiers: Vec<String>,
    /// A lint to suppress.
    allowed: Option<&'static str>,
}

impl AssayAssertion {
    pub(super) fn new(place: Span, text: impl Into<String>) -> Self {
        Self { place, text: text.into(), members: Vec::new(), modifiers: Vec::new(), allowed: None }
    }

    pub(super) fn in_group(place: Span, head: &str, members: Vec<Self>) -> Self {
        Self { members, ..Self::new(place, head) }
    }

    /// Groups assertions; a single assertion stays ungrouped.
    pub(super) fn all_of(place: Span, mut members: Vec<Self>) -> Self {
        match (members.pop(), members.is_empty()) {
            (Some(one), true) => one,
            (last, _) => {
                members.extend(last);
                Self::in_group(place, "all of", members)
            }
        }
    }

    pub(super) fn with_modifier(mut self, modifier: impl Into<String>) -> Self {
        self.modifiers.push(modifier.into());
        self
    }

    /// Suppresses a lint, because Assay defines this behavior on purpose.
    pub(super) fn allow_lint(self, lint: &'static str) -> Self {
        Self { allowed: Some(lint), ..self }
    }

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

pub(super) struct RuleDraft {
    pub(super) place: Span,
    pub(super) head: String,
    pub(super) settings: Vec<String>,
    pub(super) sentences: Vec<AssayAssertion>,
}

impl AssayLowering<'_, '_> {
    /// Writes a rule, after the schemas that it needs and that are not yet written.
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
