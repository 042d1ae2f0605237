//! A derivation as text: the verdict and why, the parts as a tree, the run with marks in the margin.

use super::timeline::{StepLine, TimelineLine};
use super::view::{AssertionView, DerivationView, Mark, Node};
use crate::value::shortened;
use averment_base::diagnostic::render::{Ink, Style, paint};
use averment_base::truth::Verdict;
use std::io::{self, Write};

/// Writes all of it.
///
/// # Errors
/// What the writer says.
pub fn write(out: &mut dyn Write, view: &DerivationView, style: Style) -> io::Result<()> {
    let mut head = view.run.name.clone();
    if let Some(id) = &view.run.id {
        head.push_str(&format!(" (id {id})"));
    }
    let steps = if view.run.steps == 1 { "1 step".to_owned() } else { format!("{} steps", view.run.steps) };
    let state = if view.run.complete { "" } else { ", not complete: more may come" };
    writeln!(out, "{}  {steps}{state}", paint(style, Ink::Bold, &head))?;
    for assertion in &view.assertions {
        writeln!(out)?;
        self::assertion(out, assertion, style)?;
    }
    Ok(())
}

/// Writes one assertion.
///
/// # Errors
/// What the writer says.
pub fn assertion(out: &mut dyn Write, view: &AssertionView, style: Style) -> io::Result<()> {
    let word = paint(style, ink(view.verdict), view.status);
    let name = if view.named { format!("{}  ", paint(style, Ink::Bold, &view.id)) } else { String::new() };
    writeln!(out, "{word}  {name}{}", paint(style, Ink::Dim, &view.location))?;
    let mut page = Page { style, lines: Vec::new() };
    page.wrapped(1, "", &view.text);
    if let Some(sentence) = &view.sentence {
        page.wrapped(1, "", &format!("\u{201c}{sentence}\u{201d}"));
    }
    if !view.reason.is_empty() {
        page.wrapped(1, "because ", &view.reason);
    }
    if let Some(message) = &view.message {
        page.wrapped(1, "message ", message);
    }
    page.tree(view);
    page.timeline(&view.timeline);
    if view.cut {
        page.lines.push(String::new());
        page.wrapped(1, "", "it is too long to be shown whole");
    }
    for line in &page.lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes parts alone.
///
/// # Errors
/// What the writer says.
pub fn nodes(out: &mut dyn Write, nodes: &[Node], style: Style) -> io::Result<()> {
    let mut page = Page { style, lines: Vec::new() };
    nodes.iter().for_each(|node| page.node(node, 0));
    page.lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// The colour of a verdict.
pub fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Pass => Ink::Green,
        Verdict::Fail | Verdict::Error => Ink::Red,
        Verdict::Vacuous | Verdict::Undecided => Ink::Yellow,
        Verdict::Skipped => Ink::Dim,
    }
}

/// Text that is being laid out.
struct Page {
    style: Style,
    lines: Vec<String>,
}

/// Parts deeper than this are not moved further to the right.
const DEEPEST: usize = 12;

impl Page {
    /// A text behind a lead, broken into lines that stand below each other.
    fn wrapped(&mut self, depth: usize, lead: &str, text: &str) {
        let indent = "  ".repeat(depth);
        let hang = format!("{indent}{}", " ".repeat(lead.chars().count()));
        let room = self.style.width.saturating_sub(hang.chars().count()).max(20);
        for (at, line) in broken(&plain(self.style, text), room).into_iter().enumerate() {
            let head = if at == 0 { format!("{indent}{lead}") } else { hang.clone() };
            self.lines.push(format!("{head}{line}"));
        }
    }

    /// The parts; one that is the assertion itself is not said twice.
    fn tree(&mut self, view: &AssertionView) {
        let parts: &[Node] = match view.parts.as_slice() {
            [only] if same(&only.text, &view.text) && only.value.is_none() => &only.parts,
            parts => parts,
        };
        if parts.is_empty() {
            return;
        }
        self.lines.push(String::new());
        parts.iter().for_each(|part| self.node(part, 1));
    }

    /// A part with its own parts. As deep as the rule is nested, which the reader of rules limits.
    fn node(&mut self, node: &Node, depth: usize) {
        let mark = self.mark(node);
        let mut text = node.text.clone();
        if let Some(value) = &node.value {
            text.push_str(&format!(" = {value}"));
        }
        if !node.note.is_empty() {
            text.push_str(&format!("   {}", node.note));
        }
        let from = self.lines.len();
        self.wrapped(depth.min(DEEPEST), &format!("{mark} "), &text);
        self.color(from, node, &mark);
        averment_base::value::compare::deeper(|| node.parts.iter().for_each(|part| self.node(part, depth + 1)));
    }

    /// Colours the mark at the start of a line.
    fn color(&mut self, line: usize, node: &Node, mark: &str) {
        let ink = match node.mark {
            Mark::Yes => Ink::Green,
            Mark::No | Mark::Error => Ink::Red,
            Mark::Unknown | Mark::Vacuous => Ink::Yellow,
            Mark::None if node.letter.is_some() => Ink::Bold,
            Mark::None => return,
        };
        if let Some(line) = self.lines.get_mut(line)
            && self.style.color
        {
            *line = line.replacen(mark, &paint(self.style, ink, mark), 1);
        }
    }

    fn mark(&self, node: &Node) -> String {
        if let Some(letter) = &node.letter {
            return letter.clone();
        }
        let (sign, word) = match node.mark {
            Mark::Yes => ("✓", "yes"),
            Mark::No => ("✗", "no "),
            Mark::Unknown => ("?", "?  "),
            Mark::Vacuous => ("○", "o  "),
            Mark::Error => ("!", "!  "),
            Mark::None => ("·", "-  "),
        };
        if self.style.unicode { sign } else { word }.to_owned()
    }

    fn timeline(&mut self, lines: &[TimelineLine]) {
        if lines.is_empty() {
            return;
        }
        let layout = Layout::of(lines, self.style.width);
        self.lines.push(String::new());
        for line in lines {
            match line {
                TimelineLine::Gap { steps } => {
                    let dots = if self.style.unicode { "⋮" } else { ":" };
                    let text = format!("{}{dots}  {}", layout.lead(""), plural(*steps, "step"));
                    self.lines.push(paint(self.style, Ink::Dim, &text));
                }
                TimelineLine::Step(step) => self.step(step, &layout),
            }
        }
    }

    fn step(&mut self, step: &StepLine, layout: &Layout) {
        let letters: Vec<String> =
            step.matches.iter().map(|one| format!("{}{}", one.letter, if one.sure { "" } else { "?" })).collect();
        let margin = layout.lead(&letters.join(" "));
        let line = format!("{margin}{}", layout.cells(step));
        let mark = letters.join(" ");
        self.lines.push(match letters.is_empty() {
            true => line,
            false => line.replacen(&mark, &paint(self.style, Ink::Bold, &mark), 1),
        });
        let behind = layout.lead("").chars().count() + layout.number + 2;
        for one in step.matches.iter().filter(|one| !one.values.is_empty()) {
            self.below(behind, &format!("{}: {}", one.letter, one.values), None);
        }
        for state in &step.states {
            let label = state.statement.as_ref().map_or(String::new(), |label| format!("{label} "));
            let words = if state.words.is_empty() { String::new() } else { format!(": {}", state.words) };
            let ink = state.violated.then_some(Ink::Red);
            self.below(behind, &format!("{label}{}{words}", state.standing), ink);
        }
    }

    /// A remark below a step.
    fn below(&mut self, indent: usize, text: &str, ink: Option<Ink>) {
        let arrow = if self.style.unicode { "└ " } else { "> " };
        let room = self.style.width.saturating_sub(indent + 2).max(20);
        for (at, line) in broken(&plain(self.style, text), room).into_iter().enumerate() {
            let head = if at == 0 { arrow } else { "  " };
            let line = ink.map_or(line.clone(), |ink| paint(self.style, ink, &line));
            self.lines.push(format!("{}{head}{line}", " ".repeat(indent)));
        }
    }
}

/// The widths of the columns of a timeline.
struct Layout {
    margin: usize,
    number: usize,
    turn: usize,
    time: usize,
    kind: usize,
    what: usize,
    status: usize,
    duration: usize,
}

impl Layout {
    fn of(lines: &[TimelineLine], width: usize) -> Self {
        let steps = || {
            lines.iter().filter_map(|line| match line {
                TimelineLine::Step(step) => Some(step.as_ref()),
                TimelineLine::Gap { .. } => None,
            })
        };
        let widest = |cell: &dyn Fn(&StepLine) -> usize| steps().map(cell).max().unwrap_or(0);
        let letters = |step: &StepLine| {
            step.matches.iter().map(|one| one.letter.chars().count() + usize::from(!one.sure) + 1).sum::<usize>()
        };
        let mut layout = Self {
            margin: widest(&letters).max(2),
            number: widest(&|step| step.number.to_string().len()),
            turn: widest(&|step| step.turn.chars().count()),
            time: widest(&|step| step.time.chars().count()),
            kind: widest(&|step| step.kind.len()),
            what: widest(&|step| step.what.chars().count()),
            status: widest(&|step| step.status.len()),
            duration: widest(&|step| step.duration.chars().count()),
        };
        let columns = [layout.number, layout.turn, layout.time, layout.kind, layout.status, layout.duration];
        let taken: usize = columns.iter().filter(|column| **column > 0).map(|column| column + 2).sum();
        let room = width.saturating_sub(taken + layout.margin + 2).max(16);
        layout.what = layout.what.min(room);
        layout
    }

    /// The margin with the letters in it.
    fn lead(&self, letters: &str) -> String {
        format!("  {letters:<width$}", width = self.margin)
    }

    fn cells(&self, step: &StepLine) -> String {
        let mut line = format!("{:>width$}  ", step.number, width = self.number);
        for (cell, width) in [(&step.turn, self.turn), (&step.time, self.time)] {
            if width > 0 {
                line.push_str(&format!("{cell:>width$}  "));
            }
        }
        line.push_str(&format!("{:<kind$}  ", step.kind, kind = self.kind));
        line.push_str(&format!("{:<what$}  ", shortened(&step.what, self.what), what = self.what));
        if self.status > 0 {
            line.push_str(&format!("{:<status$}  ", step.status, status = self.status));
        }
        if self.duration > 0 {
            line.push_str(&format!("{:>duration$}", step.duration, duration = self.duration));
        }
        line
    }
}

/// `1 step`, `3 steps`.
fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Whether two texts are one but for cuts.
fn same(part: &str, whole: &str) -> bool {
    part == whole || part.strip_suffix('…').is_some_and(|start| whole.starts_with(start))
}

/// The text without the few signs of ours that are not ASCII, where only that is wanted.
fn plain(style: Style, text: &str) -> String {
    if style.unicode { text.to_owned() } else { text.replace(['\u{201c}', '\u{201d}'], "\"").replace('…', "...") }
}

/// A text broken between words into lines of at most so many characters; a longer word is cut in two.
fn broken(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut length = 0;
    for piece in text.split_inclusive(' ') {
        let mut piece = piece;
        while length > 0 && length + piece.trim_end().chars().count() > room {
            lines.push(String::new());
            length = 0;
        }
        while let Some((at, _)) = piece.char_indices().nth(room).filter(|_| piece.trim_end().chars().count() > room) {
            let (head, rest) = piece.split_at_checked(at).unwrap_or((piece, ""));
            if let Some(last) = lines.last_mut() {
                last.push_str(head);
            }
            lines.push(String::new());
            piece = rest;
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(piece);
        }
        length += piece.chars().count();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_are_cut() {
        assert_eq!(broken("one two three", 8), ["one two ", "three"]);
        assert_eq!(broken("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(broken("", 4), [""]);
    }
}
