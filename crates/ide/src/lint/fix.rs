//! Applies fixes to the text of a file.

use averment_base::diagnostic::{Diagnostics, Severity, SourceEdit};
use averment_base::source::FileId;

/// A text with fixes applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedText {
    /// The new text.
    pub text: String,
    /// The number of fixes.
    pub applied: usize,
}

/// Applies the fixes of all diagnostics except errors. If two fixes overlap, that of the earlier diagnostic is applied. The fix of an error is a
/// guess, so the author has to decide on it.
#[must_use]
pub fn apply_fixes(text: &str, file: FileId, diagnostics: &Diagnostics) -> FixedText {
    let mut edits: Vec<&SourceEdit> = Vec::new();
    let mut applied = 0_usize;
    let may = diagnostics.0.iter().filter(|one| one.severity != Severity::Error || one.slug.is_lint());
    for fix in may.filter_map(|one| one.fix.as_ref()) {
        let fits = fix.edits.iter().all(|edit| {
            edit.span.file == file
                && text.get(edit.span.as_range()).is_some()
                && !edits.iter().any(|taken| edits_overlap(edit, taken))
        });
        if fits && !fix.edits.is_empty() {
            edits.extend(&fix.edits);
            applied = applied.saturating_add(1);
        }
    }
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(text.get(from..edit.span.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        from = edit.span.end as usize;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    FixedText { text: out, applied }
}

/// True if two edits touch; such edits are applied in separate rounds, because the text between them may depend on both.
fn edits_overlap(one: &SourceEdit, other: &SourceEdit) -> bool {
    one.span.start <= other.span.end && other.span.start <= one.span.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::diagnostic::{Diagnostic, Slug};
    use averment_base::source::Span;

    fn fixing(start: usize, end: usize, text: &str) -> Diagnostic {
        let span = Span::new(FileId(0), start, end);
        Diagnostic::new(Slug::UnusedLet, span, "").with_fix("", span, text)
    }

    #[test]
    fn of_overlapping_fixes_the_first_is_applied() {
        let found = Diagnostics(vec![fixing(4, 7, "X"), fixing(0, 3, "abc"), fixing(6, 8, "no"), fixing(9, 90, "no")]);
        let fixed = apply_fixes("one two three", FileId(0), &found);
        assert_eq!(fixed, FixedText { text: "abc X three".to_owned(), applied: 2 });
    }

    #[test]
    fn what_an_error_proposes_is_left_to_the_author() {
        let mut one = fixing(0, 3, "abc");
        one.slug = Slug::UnknownName;
        one.severity = Severity::Error;
        assert_eq!(apply_fixes("one", FileId(0), &Diagnostics(vec![one])).applied, 0);
    }
}
