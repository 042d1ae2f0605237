//! A check, and what is said of one that asks for nothing.

use super::manifest::Manifest;
use crate::shape::Said;
use crate::writer::Sentence;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// A check that is being read.
pub(super) struct Check<'a> {
    pub(super) node: &'a Node,
    /// Its type, as it is written.
    pub(super) name: &'a str,
    pub(super) manifest: &'a Manifest<'a>,
    /// Whether no other check beside it has the same type.
    pub(super) alone: bool,
}

/// A check without the parameter that it is about holds in STOP; it is worth knowing.
pub(super) fn checks_nothing(check: &Check<'_>, lacks: &str, so: &str, said: &mut Said) {
    let message = format!("`{}` has no {lacks}: {so}", check.name);
    said.warning(Slug::AlwaysTrue, check.node.span, message, format!("say what it asks for by {lacks}"));
}

/// What always holds, where the linter would ask whether that is meant.
pub(super) fn always() -> Sentence {
    let sentence = Sentence::default().put("true");
    sentence.remarked("The check asks for nothing: it always holds.").remarked("allow: always-true")
}
