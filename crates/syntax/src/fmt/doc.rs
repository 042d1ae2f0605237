//! The document algebra: text with possible line breaks, after Wadler's "prettier printer".
//!
//! Each document stores whether it must be broken and its width on one line, so layout decisions never search the tree again. Comments are part of
//! the document: they end their line in any context.

use std::borrow::Cow;

/// The kind of a mark that can be aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlignMark {
    /// The `=` of a `let`.
    Let,
    /// The `=` of a `param`.
    Param,
    /// The `=` of a `def`.
    Def,
    /// The first modifier after a statement.
    Modifier,
    /// A comment at the end of a line.
    Comment,
}

#[derive(Debug)]
pub(super) struct Doc<'t> {
    /// The kind of document.
    pub kind: DocKind<'t>,
    /// True if it cannot be on one line.
    pub forced: bool,
    /// Characters on one line.
    pub width: usize,
    /// True if it ends in a comment, so nothing may follow on its line.
    ends_in_comment: bool,
    empty: bool,
}

#[derive(Debug)]
pub(super) struct StringLine<'t> {
    /// Its text without the shared indentation.
    pub text: &'t str,
    /// False for a line that begins inside an interpolation and keeps its indentation.
    pub is_indented: bool,
}

#[derive(Debug)]
pub(super) enum DocKind<'t> {
    Text(Cow<'t, str>),
    /// A space; omitted at the start of a line.
    Space,
    /// A space before something too long for any line; the text before it is not broken because of it.
    Loose,
    /// A line end if the enclosing group is broken, otherwise this text.
    Line(&'static str),
    /// A forced line end; `blank` leaves an empty line.
    Hard {
        blank: bool,
    },
    /// Text that is printed only if the enclosing group is broken, or only if it is not.
    Only {
        broken: bool,
        text: &'static str,
    },
    Trailing(&'t str),
    OwnLine(&'t str),
    Dedented(Vec<StringLine<'t>>),
    Mark(AlignMark),
    Sequence(Vec<Doc<'t>>),
    Nest(Box<Doc<'t>>),
    /// Printed on one line if it fits, otherwise every line break directly in it is used.
    Group(Box<Doc<'t>>),
}

fn leaf_doc(kind: DocKind<'_>, width: usize) -> Doc<'_> {
    Doc { kind, forced: false, width, ends_in_comment: false, empty: false }
}

pub(super) fn doc_text<'t>(text: impl Into<Cow<'t, str>>) -> Doc<'t> {
    let text = text.into();
    let width = text.chars().count();
    leaf_doc(DocKind::Text(text), width)
}

pub(super) fn space<'t>() -> Doc<'t> {
    leaf_doc(DocKind::Space, 1)
}

pub(super) fn loose_space<'t>() -> Doc<'t> {
    leaf_doc(DocKind::Loose, 1)
}

pub(super) fn line_break<'t>() -> Doc<'t> {
    leaf_doc(DocKind::Line(" "), 1)
}

pub(super) fn wide_line<'t>() -> Doc<'t> {
    leaf_doc(DocKind::Line("  "), 2)
}

pub(super) fn soft_break<'t>() -> Doc<'t> {
    leaf_doc(DocKind::Line(""), 0)
}

pub(super) fn hard_break<'t>(blank: bool) -> Doc<'t> {
    Doc { forced: true, ..leaf_doc(DocKind::Hard { blank }, 0) }
}

pub(super) fn when_broken<'t>(text: &'static str) -> Doc<'t> {
    leaf_doc(DocKind::Only { broken: true, text }, 0)
}

pub(super) fn when_flat<'t>(text: &'static str) -> Doc<'t> {
    leaf_doc(DocKind::Only { broken: false, text }, text.len())
}

pub(super) fn trailing_comment(comment: &str) -> Doc<'_> {
    Doc { ends_in_comment: true, ..leaf_doc(DocKind::Trailing(comment), 0) }
}

pub(super) fn own_line(comment: &str) -> Doc<'_> {
    Doc { forced: true, ends_in_comment: true, ..leaf_doc(DocKind::OwnLine(comment), 0) }
}

pub(super) fn dedented_lines(lines: Vec<StringLine<'_>>) -> Doc<'_> {
    Doc { forced: true, ..leaf_doc(DocKind::Dedented(lines), 0) }
}

pub(super) fn align_mark<'t>(mark: AlignMark) -> Doc<'t> {
    Doc { empty: true, ..leaf_doc(DocKind::Mark(mark), 0) }
}

pub(super) fn empty_doc<'t>() -> Doc<'t> {
    sequence(Vec::new())
}

/// Joins documents. Content after a comment forces several lines.
pub(super) fn sequence(parts: Vec<Doc<'_>>) -> Doc<'_> {
    let mut whole = Doc { empty: true, ..leaf_doc(DocKind::Sequence(Vec::new()), 0) };
    for part in parts.iter().filter(|part| !part.empty) {
        whole.forced |= part.forced || whole.ends_in_comment;
        whole.ends_in_comment = part.ends_in_comment;
        whole.width = whole.width.saturating_add(part.width);
        whole.empty = false;
    }
    Doc { kind: DocKind::Sequence(parts), ..whole }
}

pub(super) fn nest(inner: Doc<'_>) -> Doc<'_> {
    let Doc { forced, width, ends_in_comment, empty, .. } = inner;
    Doc { kind: DocKind::Nest(Box::new(inner)), forced, width, ends_in_comment, empty }
}

pub(super) fn group(inner: Doc<'_>) -> Doc<'_> {
    let Doc { forced, width, ends_in_comment, empty, .. } = inner;
    Doc { kind: DocKind::Group(Box::new(inner)), forced, width, ends_in_comment, empty }
}

pub(super) fn broken_group(inner: Doc<'_>) -> Doc<'_> {
    let mut inner = inner;
    inner.forced = true;
    group(inner)
}
