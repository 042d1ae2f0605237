//! Prints a document as lines.

use super::doc::{AlignMark, Doc, DocKind, StringLine};
use super::{FormatOptions, INDENT};

#[derive(Debug, Default)]
pub(super) struct PrintedLine {
    /// Number of spaces before it.
    pub indent: usize,
    /// Its text.
    pub text: String,
    /// Byte offsets in the text that can be aligned with adjacent lines.
    pub marks: Vec<(usize, AlignMark)>,
    /// True if it begins inside a string.
    pub in_string: bool,
}

#[derive(Clone, Copy)]
struct PendingDoc<'d, 't> {
    indent: usize,
    flat: bool,
    doc: &'d Doc<'t>,
}

struct DocPrinter<'d, 't> {
    width: usize,
    lines: Vec<PrintedLine>,
    line: PrintedLine,
    /// True if a comment was printed, so that the next text starts a new line.
    ended: bool,
    todo: Vec<PendingDoc<'d, 't>>,
}

pub(super) fn print_lines(doc: &Doc<'_>, options: &FormatOptions) -> Vec<PrintedLine> {
    let mut printer = DocPrinter {
        width: options.width,
        lines: Vec::new(),
        line: PrintedLine::default(),
        ended: false,
        todo: vec![PendingDoc { indent: 0, flat: false, doc }],
    };
    while let Some(todo) = printer.todo.pop() {
        printer.print_doc(todo);
    }
    printer.end_line(0);
    printer.lines
}

impl<'d, 't> DocPrinter<'d, 't> {
    fn print_doc(&mut self, todo: PendingDoc<'d, 't>) {
        let PendingDoc { indent, flat, doc } = todo;
        match &doc.kind {
            DocKind::Text(text) => self.push_text(text, indent),
            DocKind::Space | DocKind::Loose => self.push_text(" ", indent),
            DocKind::Line(text) if flat => self.push_text(text, indent),
            DocKind::Line(_) => self.end_line(indent),
            DocKind::Hard { blank } => self.push_hard_break(*blank, indent),
            DocKind::Only { broken, text } => {
                if *broken != flat {
                    self.push_text(text, indent);
                }
            }
            DocKind::Trailing(comment) => self.push_trailing(comment),
            DocKind::OwnLine(comment) => self.own_line(comment, indent),
            DocKind::Dedented(lines) => self.push_dedented(lines, indent),
            DocKind::Mark(mark) => self.line.marks.push((self.line.text.len(), *mark)),
            DocKind::Sequence(parts) => self.todo.extend(parts.iter().rev().map(|doc| PendingDoc { doc, ..todo })),
            DocKind::Nest(inner) => self.todo.push(PendingDoc { indent: indent + INDENT, flat, doc: inner }),
            DocKind::Group(inner) => {
                let flat = flat || (!doc.forced && self.fits_on_line(inner, indent));
                self.todo.push(PendingDoc { indent, flat, doc: inner });
            }
        }
    }

    fn push_text(&mut self, text: &str, indent: usize) {
        if self.ended && !text.trim().is_empty() {
            self.end_line(indent);
        }
        // A line does not begin with the space between words.
        let is_idle = self.line.text.is_empty() && text.trim().is_empty();
        if !is_idle && !self.ended {
            self.line.text.push_str(text);
        }
    }

    fn end_line(&mut self, indent: usize) {
        self.ended = false;
        if self.line.text.is_empty() && !self.line.in_string {
            self.line = PrintedLine { indent, ..PrintedLine::default() };
            return;
        }
        let next = PrintedLine { indent, ..PrintedLine::default() };
        let mut line = std::mem::replace(&mut self.line, next);
        line.text.truncate(line.text.trim_end_matches(' ').len());
        self.lines.push(line);
    }

    fn push_hard_break(&mut self, blank: bool, indent: usize) {
        self.end_line(indent);
        if blank && self.lines.last().is_some_and(|line| !line.text.is_empty()) {
            self.lines.push(PrintedLine::default());
        }
    }

    fn push_trailing(&mut self, comment: &str) {
        if self.line.text.is_empty() {
            // The comment followed the end of a line that was dropped, so it needs no space before it.
            self.line.text.push_str(comment);
        } else {
            self.line.text.push_str("  ");
            self.line.marks.push((self.line.text.len(), AlignMark::Comment));
            self.line.text.push_str(comment);
        }
        self.ended = true;
    }

    fn own_line(&mut self, comment: &str, indent: usize) {
        self.end_line(indent);
        self.line.text.push_str(comment);
        self.ended = true;
    }

    fn push_dedented(&mut self, lines: &[StringLine<'_>], indent: usize) {
        for StringLine { text, is_indented } in lines {
            let indent = if *is_indented { indent + INDENT } else { 0 };
            let next = PrintedLine { indent, text: (*text).to_owned(), in_string: true, ..PrintedLine::default() };
            let line = std::mem::replace(&mut self.line, next);
            self.lines.push(line);
        }
    }

    fn fits_on_line(&self, doc: &'d Doc<'t>, indent: usize) -> bool {
        let used = if self.ended || self.line.text.is_empty() {
            indent
        } else {
            self.line.indent + self.line.text.chars().count()
        };
        let Some(room) = self.width.checked_sub(used) else { return false };
        let Some(mut room) = room.checked_sub(doc.width) else { return false };
        let mut rest: Vec<PendingDoc<'d, 't>> = Vec::new();
        let mut outer = self.todo.iter().rev();
        loop {
            let Some(PendingDoc { flat, doc, .. }) = rest.pop().or_else(|| outer.next().copied()) else { return true };
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
                    rest.extend(parts.iter().rev().map(|doc| PendingDoc { indent, flat, doc }));
                    0
                }
                // A following group may still be broken at its first line.
                DocKind::Nest(inner) | DocKind::Group(inner) => {
                    rest.push(PendingDoc { indent, flat, doc: inner });
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

pub(super) fn join_lines(lines: &[PrintedLine]) -> String {
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
