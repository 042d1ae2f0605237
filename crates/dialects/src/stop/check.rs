//! A check, and what is said of one that asks for nothing.

use super::manifest::SkillManifest;
use crate::shape::DiagnosticSink;
use crate::writer::MappedSentence;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// A check that is being read.
pub(super) struct StopCheck<'a> {
    pub(super) node: &'a YamlNode,
    /// Its type, as it is written.
    pub(super) name: &'a str,
    pub(super) manifest: &'a SkillManifest<'a>,
    /// Whether no other check beside it has the same type.
    pub(super) alone: bool,
}

/// A check without the parameter that it is about holds in STOP; it is worth knowing.
pub(super) fn checks_nothing(check: &StopCheck<'_>, lacks: &str, so: &str, said: &mut DiagnosticSink) {
    let message = format!("`{}` has no {lacks}: {so}", check.name);
    said.warning(Slug::AlwaysTrue, check.node.span, message, format!("say what it asks for by {lacks}"));
}

/// What always holds, where the linter would ask whether that is meant.
pub(super) fn always_holds() -> MappedSentence {
    let sentence = MappedSentence::default().add_text("true");
    sentence.add_remark("The check asks for nothing: it always holds.").add_remark("allow: always-true")
}
