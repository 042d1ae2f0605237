//! The document algebra: text with places where a line may end, after Wadler's "prettier printer".
//!
//! A document knows of itself whether it must be broken and how wide it is on one line, so that no layout decision looks down the tree again.
//! Comments are part of it: they end their line, whatever stands around them.

use std::borrow::Cow;

/// What stands at a place that can be aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The `=` of a `let`.
    Let,
    /// The `=` of a `param`.
    Param,
    /// The `=` of a `def`.
    Def,
    /// The first modifier behind a statement.
    Modifier,
    /// A comment behind something.
    Comment,
}

/// A document.
#[derive(Debug)]
pub(super) struct Doc<'t> {
    /// What it is.
    pub kind: DocKind<'t>,
    /// True when it cannot stand on one line.
    pub forced: bool,
    /// Characters on one line.
    pub width: usize,
    /// True when its last thing is a comment, so that nothing may follow on its line.
    ends_in_comment: bool,
    /// True when it prints nothing.
    empty: bool,
}

/// A line of a string behind its first.
#[derive(Debug)]
pub(super) struct StringLine<'t> {
    /// What stands on it, without the indentation that all lines share.
    pub text: &'t str,
    /// False for a line that begins inside an interpolation and keeps its place.
    pub is_indented: bool,
}

/// The forms of a document.
#[derive(Debug)]
pub(super) enum DocKind<'t> {
    /// Text without a line end.
    Text(Cow<'t, str>),
    /// A space between words; nothing at the start of a line.
    Space,
    /// A space before something that is too long for any line: what stands before it is not broken for its sake.
    Loose,
    /// A line end when the group around it is broken, otherwise this text.
    Line(&'static str),
    /// A line end in any case; `blank` leaves an empty line.
    Hard { blank: bool },
    /// Text only where the group around it is broken, or only where it is not.
    Only { broken: bool, text: &'static str },
    /// A comment at the end of its line.
    Trailing(&'t str),
    /// A comment on a line of its own.
    OwnLine(&'t str),
    /// The lines of a `"""` string behind the first, without their indentation.
    Dedented(Vec<StringLine<'t>>),
    /// A place that neighbouring lines may be aligned at.
    Mark(Mark),
    /// One after the other.
    Sequence(Vec<Doc<'t>>),
    /// Its lines are indented further.
    Nest(Box<Doc<'t>>),
    /// On one line when it fits, otherwise every [`DocKind::Line`] directly in it ends a line.
    Group(Box<Doc<'t>>),
}

fn leaf(kind: DocKind<'_>, width: usize) -> Doc<'_> {
    Doc { kind, forced: false, width, ends_in_comment: false, empty: false }
}

/// Text without a line end.
pub(super) fn text<'t>(text: impl Into<Cow<'t, str>>) -> Doc<'t> {
    let text = text.into();
    let width = text.chars().count();
    leaf(DocKind::Text(text), width)
}

/// A space between words.
pub(super) fn space<'t>() -> Doc<'t> {
    leaf(DocKind::Space, 1)
}

/// A space before something that is too long for any line.
pub(super) fn loose<'t>() -> Doc<'t> {
    leaf(DocKind::Loose, 1)
}

/// A space, or a line end in a broken group.
pub(super) fn line<'t>() -> Doc<'t> {
    leaf(DocKind::Line(" "), 1)
}

/// Two spaces, or a line end in a broken group.
pub(super) fn wide_line<'t>() -> Doc<'t> {
    leaf(DocKind::Line("  "), 2)
}

/// Nothing, or a line end in a broken group.
pub(super) fn soft<'t>() -> Doc<'t> {
    leaf(DocKind::Line(""), 0)
}

/// A line end in any case.
pub(super) fn hard<'t>(blank: bool) -> Doc<'t> {
    Doc { forced: true, ..leaf(DocKind::Hard { blank }, 0) }
}

/// Text only where the group around it is broken.
pub(super) fn when_broken<'t>(text: &'static str) -> Doc<'t> {
    leaf(DocKind::Only { broken: true, text }, 0)
}

/// Text only where the group around it is on one line.
pub(super) fn when_flat<'t>(text: &'static str) -> Doc<'t> {
    leaf(DocKind::Only { broken: false, text }, text.len())
}

/// A comment behind what stands on its line.
pub(super) fn trailing(comment: &str) -> Doc<'_> {
    Doc { ends_in_comment: true, ..leaf(DocKind::Trailing(comment), 0) }
}

/// A comment on a line of its own.
pub(super) fn own_line(comment: &str) -> Doc<'_> {
    Doc { forced: true, ends_in_comment: true, ..leaf(DocKind::OwnLine(comment), 0) }
}

/// Further lines of a string.
pub(super) fn dedented(lines: Vec<StringLine<'_>>) -> Doc<'_> {
    Doc { forced: true, ..leaf(DocKind::Dedented(lines), 0) }
}

/// A place to align at.
pub(super) fn mark<'t>(mark: Mark) -> Doc<'t> {
    Doc { empty: true, ..leaf(DocKind::Mark(mark), 0) }
}

/// Nothing.
pub(super) fn nothing<'t>() -> Doc<'t> {
    sequence(Vec::new())
}

/// One after the other. What follows a comment inside of it forces it onto several lines.
pub(super) fn sequence(parts: Vec<Doc<'_>>) -> Doc<'_> {
    let mut whole = Doc { empty: true, ..leaf(DocKind::Sequence(Vec::new()), 0) };
    for part in parts.iter().filter(|part| !part.empty) {
        whole.forced |= part.forced || whole.ends_in_comment;
        whole.ends_in_comment = part.ends_in_comment;
        whole.width = whole.width.saturating_add(part.width);
        whole.empty = false;
    }
    Doc { kind: DocKind::Sequence(parts), ..whole }
}

/// Indents the lines that begin in it.
pub(super) fn nest(inner: Doc<'_>) -> Doc<'_> {
    let Doc { forced, width, ends_in_comment, empty, .. } = inner;
    Doc { kind: DocKind::Nest(Box::new(inner)), forced, width, ends_in_comment, empty }
}

/// All on one line, or broken at each of its lines.
pub(super) fn group(inner: Doc<'_>) -> Doc<'_> {
    let Doc { forced, width, ends_in_comment, empty, .. } = inner;
    Doc { kind: DocKind::Group(Box::new(inner)), forced, width, ends_in_comment, empty }
}

/// The same, broken in any case.
pub(super) fn broken(inner: Doc<'_>) -> Doc<'_> {
    let mut inner = inner;
    inner.forced = true;
    group(inner)
}
