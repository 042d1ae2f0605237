//! From a document to lines.

use super::doc::{Doc, DocKind, Mark, StringLine};
use super::{INDENT, Options};

/// A line without its indentation.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// How many spaces stand before it.
    pub indent: usize,
    /// Its text.
    pub text: String,
    /// Byte offsets in the text where neighbours may be aligned.
    pub marks: Vec<(usize, Mark)>,
    /// It begins inside a string.
    pub in_string: bool,
}

/// A part of the work that is left.
#[derive(Clone, Copy)]
struct Todo<'d, 't> {
    indent: usize,
    flat: bool,
    doc: &'d Doc<'t>,
}

struct Printer<'d, 't> {
    width: usize,
    lines: Vec<Line>,
    line: Line,
    /// A comment was printed: the next thing begins a line.
    ended: bool,
    todo: Vec<Todo<'d, 't>>,
}

/// Prints a document with lines of at most the width of the options, where that is possible.
pub(super) fn lines(doc: &Doc<'_>, options: &Options) -> Vec<Line> {
    let mut printer = Printer {
        width: options.width,
        lines: Vec::new(),
        line: Line::default(),
        ended: false,
        todo: vec![Todo { indent: 0, flat: false, doc }],
    };
    while let Some(todo) = printer.todo.pop() {
        printer.step(todo);
    }
    printer.end_line(0);
    printer.lines
}

impl<'d, 't> Printer<'d, 't> {
    fn step(&mut self, todo: Todo<'d, 't>) {
        let Todo { indent, flat, doc } = todo;
        match &doc.kind {
            DocKind::Text(text) => self.text(text, indent),
            DocKind::Space | DocKind::Loose => self.text(" ", indent),
            DocKind::Line(text) if flat => self.text(text, indent),
            DocKind::Line(_) => self.end_line(indent),
            DocKind::Hard { blank } => self.hard(*blank, indent),
            DocKind::Only { broken, text } => {
                if *broken != flat {
                    self.text(text, indent);
                }
            }
            DocKind::Trailing(comment) => self.trailing(comment),
            DocKind::OwnLine(comment) => self.own_line(comment, indent),
            DocKind::Dedented(lines) => self.dedented(lines, indent),
            DocKind::Mark(mark) => self.line.marks.push((self.line.text.len(), *mark)),
            DocKind::Sequence(parts) => self.todo.extend(parts.iter().rev().map(|doc| Todo { doc, ..todo })),
            DocKind::Nest(inner) => self.todo.push(Todo { indent: indent + INDENT, flat, doc: inner }),
            DocKind::Group(inner) => {
                let flat = flat || (!doc.forced && self.fits(inner, indent));
                self.todo.push(Todo { indent, flat, doc: inner });
            }
        }
    }

    fn text(&mut self, text: &str, indent: usize) {
        if self.ended && !text.trim().is_empty() {
            self.end_line(indent);
        }
        // A line does not begin with the space between words.
        let is_idle = self.line.text.is_empty() && text.trim().is_empty();
        if !is_idle && !self.ended {
            self.line.text.push_str(text);
        }
    }

    /// Ends the line, unless nothing stands on it yet.
    fn end_line(&mut self, indent: usize) {
        self.ended = false;
        if self.line.text.is_empty() && !self.line.in_string {
            self.line = Line { indent, ..Line::default() };
            return;
        }
        let next = Line { indent, ..Line::default() };
        let mut line = std::mem::replace(&mut self.line, next);
        line.text.truncate(line.text.trim_end_matches(' ').len());
        self.lines.push(line);
    }

    fn hard(&mut self, blank: bool, indent: usize) {
        self.end_line(indent);
        if blank && self.lines.last().is_some_and(|line| !line.text.is_empty()) {
            self.lines.push(Line::default());
        }
    }

    fn trailing(&mut self, comment: &str) {
        if self.line.text.is_empty() {
            // What it stood behind was the end of a line that is gone.
            self.line.text.push_str(comment);
        } else {
            self.line.text.push_str("  ");
            self.line.marks.push((self.line.text.len(), Mark::Comment));
            self.line.text.push_str(comment);
        }
        self.ended = true;
    }

    fn own_line(&mut self, comment: &str, indent: usize) {
        self.end_line(indent);
        self.line.text.push_str(comment);
        self.ended = true;
    }

    fn dedented(&mut self, lines: &[StringLine<'_>], indent: usize) {
        for StringLine { text, is_indented } in lines {
            let indent = if *is_indented { indent + INDENT } else { 0 };
            let next = Line { indent, text: (*text).to_owned(), in_string: true, ..Line::default() };
            let line = std::mem::replace(&mut self.line, next);
            self.lines.push(line);
        }
    }

    /// Whether a group fits on the rest of this line, together with what must follow it there.
    fn fits(&self, doc: &'d Doc<'t>, indent: usize) -> bool {
        let used = if self.ended || self.line.text.is_empty() {
            indent
        } else {
            self.line.indent + self.line.text.chars().count()
        };
        let Some(room) = self.width.checked_sub(used) else { return false };
        let Some(mut room) = room.checked_sub(doc.width) else { return false };
        let mut rest: Vec<Todo<'d, 't>> = Vec::new();
        let mut outer = self.todo.iter().rev();
        loop {
            let Some(Todo { flat, doc, .. }) = rest.pop().or_else(|| outer.next().copied()) else { return true };
            let width = match &doc.kind {
                DocKind::Line(_) if !flat => return true,
                DocKind::Loose
                | DocKind::Hard { .. }
                | DocKind::Trailing(_)
                | DocKind::OwnLine(_)
                | DocKind::Dedented(_) => {
                    return true;
                }
                DocKind::Only { broken, text } => {
                    if *broken != flat {
                        text.len()
                    } else {
                        0
                    }
                }
                DocKind::Sequence(parts) => {
                    rest.extend(parts.iter().rev().map(|doc| Todo { indent, flat, doc }));
                    0
                }
                // A group that follows may still be broken at its first line.
                DocKind::Nest(inner) | DocKind::Group(inner) => {
                    rest.push(Todo { indent, flat, doc: inner });
                    0
                }
                _ => doc.width,
            };
            match room.checked_sub(width) {
                Some(left) => room = left,
                None => return false,
            }
        }
    }
}

/// The lines as one text.
pub(super) fn joined(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if !line.text.is_empty() {
            text.extend(std::iter::repeat_n(' ', line.indent));
            text.push_str(&line.text);
        }
        text.push('\n');
    }
    text
}
