//! The effect of modifiers on policies. A policy only denies or permits a call: it has no score and no severity.

use super::export_reasons::Refusal;
use averment_syntax::ast::{BodySetting, ItemKind, Modifier, ModifierKind, SyntaxItem};

const WARNS: Refusal = "it only warns, and a policy there denies";
const SCORE: Refusal = "it is a part of a score, and there a call is denied or it is not";
const WHEN: Refusal = "it holds only under a condition on the run, which has no counterpart there";
const VERDICT: Refusal = "it says itself what a verdict does to its run, and there are no verdicts there";
const EXPECTED: Refusal = "it is expected to fail";

/// Modifiers that the surrounding bodies apply to an assertion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ModifierScope {
    warns: bool,
    refusal: Option<Refusal>,
}

impl ModifierScope {
    /// Returns the scope of the assertions in a body.
    pub(super) fn of_body(self, modifiers: &[Modifier], body: &[SyntaxItem]) -> Self {
        let settings = body.iter().filter_map(|item| match &item.kind {
            ItemKind::Setting(BodySetting::Modifier(modifier)) => Some(modifier),
            _ => None,
        });
        modifiers.iter().chain(settings).fold(self, Self::with_modifier)
    }

    /// Marks all assertions of a body as not exportable.
    pub(super) fn refused(self, why: Refusal) -> Self {
        Self { refusal: self.refusal.or(Some(why)), ..self }
    }

    /// Returns why an assertion with these modifiers cannot become a policy.
    pub(super) fn refusal_of(self, modifiers: &[Modifier]) -> Option<Refusal> {
        let all = modifiers.iter().fold(self, Self::with_modifier);
        all.refusal.or(all.warns.then_some(WARNS))
    }

    fn with_modifier(self, modifier: &Modifier) -> Self {
        match &modifier.kind {
            // The innermost severity counts.
            ModifierKind::Severity(name) => Self { warns: name.text != "error", ..self },
            ModifierKind::Weight(_) | ModifierKind::Threshold(_) => self.refused(SCORE),
            ModifierKind::When(_) => self.refused(WHEN),
            ModifierKind::Deny(_) | ModifierKind::Allow(_) => self.refused(VERDICT),
            ModifierKind::ExpectFail(_) => self.refused(EXPECTED),
            ModifierKind::Must
            | ModifierKind::Message(_)
            | ModifierKind::As(_)
            | ModifierKind::Class(..)
            | ModifierKind::Tags(_)
            | ModifierKind::Id(_) => self,
        }
    }
}
