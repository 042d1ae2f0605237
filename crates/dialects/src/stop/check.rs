//! A check, and the handling of checks that test nothing.

use super::manifest::SkillManifest;
use crate::shape::DiagnosticSink;
use crate::writer::MappedSentence;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// A check that is being read.
pub(super) struct StopCheck<'a> {
    pub(super) node: &'a YamlNode,
    /// Its type as written.
    pub(super) name: &'a str,
    pub(super) manifest: &'a SkillManifest<'a>,
    /// True if no other check beside it has this type.
    pub(super) alone: bool,
}

/// Warns about a check without its main parameter, because it always passes in STOP.
pub(super) fn checks_nothing(check: &StopCheck<'_>, lacks: &str, so: &str, said: &mut DiagnosticSink) {
    let message = format!("`{}` has no {lacks}: {so}", check.name);
    said.warning(Slug::AlwaysTrue, check.node.span, message, format!("say what it asks for by {lacks}"));
}

/// Returns an assertion that always holds, and tells the linter that this is intended.
pub(super) fn always_holds() -> MappedSentence {
    let sentence = MappedSentence::default().add_text("true");
    sentence.add_remark("The check asks for nothing: it always holds.").add_remark("allow: always-true")
}
