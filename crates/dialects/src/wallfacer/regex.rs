//! Regular expressions in packs, with the syntax of the Rust crate `regex`.

use crate::regex_flavour::{self, UnusableRegex};
use regex_syntax::hir::{Hir, HirKind};

pub(super) fn pattern_literal(pattern: &str) -> Result<String, UnusableRegex> {
    Ok(regex_flavour::translate_rust(pattern)?.text)
}

/// Returns a literal that matches only this exact text.
pub(super) fn exact_literal(text: &str) -> Option<String> {
    Some(regex_flavour::slash_literal(&format!(r"\A{}\z", regex_syntax::escape(text)), ""))
}

/// True if the pattern matches every text.
pub(super) fn finds_all(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| hir.properties().minimum_len() == Some(0) && !looks_around(&hir))
}

fn looks_around(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Look(_) => true,
        HirKind::Repetition(inner) => looks_around(&inner.sub),
        HirKind::Capture(inner) => looks_around(&inner.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(looks_around),
        _ => false,
    }
}
