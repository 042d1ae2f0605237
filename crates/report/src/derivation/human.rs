//! A derivation as text: the verdict and its reason, the parts as a tree, and the run with marks in the margin.

use super::timeline::{StepLine, TimelineLine};
use super::view::{AssertionView, DerivationNode, DerivationView, PartMark};
use crate::value::shorten_text;
use averment_base::diagnostic::render::{TextColor, TextStyle, paint_text};
use averment_base::truth::Verdict;
use averment_base::words::count_noun;
use std::io::{self, Write};

/// Writes all assertions.
///
/// # Errors
/// Returns the error of the writer.
pub fn write_view(out: &mut dyn Write, view: &DerivationView, style: TextStyle) -> io::Result<()> {
    let mut head = view.run.name.clone();
    if let Some(id) = &view.run.id {
        head.push_str(&format!(" (id {id})"));
    }
    let steps = if view.run.steps == 1 { "1 step".to_owned() } else { format!("{} steps", view.run.steps) };
    let state = if view.run.complete { "" } else { ", not complete: more may come" };
    writeln!(out, "{}  {steps}{state}", paint_text(style, TextColor::Bold, &head))?;
    for assertion in &view.assertions {
        writeln!(out)?;
        self::write_assertion(out, assertion, style)?;
    }
    Ok(())
}

/// Writes one assertion.
///
/// # Errors
/// Returns the error of the writer.
pub fn write_assertion(out: &mut dyn Write, view: &AssertionView, style: TextStyle) -> io::Result<()> {
    let word = paint_text(style, verdict_ink(view.verdict), view.status);
    let name = if view.named { format!("{}  ", paint_text(style, TextColor::Bold, &view.id)) } else { String::new() };
    writeln!(out, "{word}  {name}{}", paint_text(style, TextColor::Dim, &view.location))?;
    let mut page = TextPage { style, lines: Vec::new() };
    page.write_wrapped(1, "", &view.text);
    if let Some(sentence) = &view.sentence {
        page.write_wrapped(1, "", &format!("\u{201c}{sentence}\u{201d}"));
    }
    if !view.reason.is_empty() {
        page.write_wrapped(1, "because ", &view.reason);
    }
    if let Some(message) = &view.message {
        page.write_wrapped(1, "message ", message);
    }
    page.write_tree(view);
    page.write_timeline(&view.timeline);
    if view.cut {
        page.lines.push(String::new());
        page.write_wrapped(1, "", "it is too long to be shown whole");
    }
    for line in &page.lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes only the parts.
///
/// # Errors
/// Returns the error of the writer.
pub fn write_nodes(out: &mut dyn Write, nodes: &[DerivationNode], style: TextStyle) -> io::Result<()> {
    let mut page = TextPage { style, lines: Vec::new() };
    nodes.iter().for_each(|node| page.write_node(node, 0));
    page.lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Returns the color of a verdict.
pub fn verdict_ink(verdict: Verdict) -> TextColor {
    match verdict {
        Verdict::Pass => TextColor::Green,
        Verdict::Fail | Verdict::Error => TextColor::Red,
        Verdict::Vacuous | Verdict::Undecided => TextColor::Yellow,
        Verdict::Skipped => TextColor::Dim,
    }
}

struct TextPage {
    style: TextStyle,
    lines: Vec<String>,
}

/// Parts nested deeper than this are not indented further.
const DEEPEST: usize = 12;

impl TextPage {
    fn write_wrapped(&mut self, depth: usize, lead: &str, text: &str) {
        let indent = "  ".repeat(depth);
        let hang = format!("{indent}{}", " ".repeat(lead.chars().count()));
        let room = self.style.width.saturating_sub(hang.chars().count()).max(20);
        for (at, line) in break_text(&plain_text(self.style, text), room).into_iter().enumerate() {
            let head = if at == 0 { format!("{indent}{lead}") } else { hang.clone() };
            self.lines.push(format!("{head}{line}"));
        }
    }

    /// Writes the parts. A part that equals the whole assertion is not repeated.
    fn write_tree(&mut self, view: &AssertionView) {
        let parts: &[DerivationNode] = match view.parts.as_slice() {
            [only] if same_text(&only.text, &view.text) && only.value.is_none() => &only.parts,
            parts => parts,
        };
        if parts.is_empty() {
            return;
        }
        self.lines.push(String::new());
        parts.iter().for_each(|part| self.write_node(part, 1));
    }

    /// Writes a part with its nested parts. The rule parser limits the depth.
    fn write_node(&mut self, node: &DerivationNode, depth: usize) {
        let mark = self.mark_text(node);
        let mut text = node.text.clone();
        if let Some(value) = &node.value {
            text.push_str(&format!(" = {value}"));
        }
        if !node.note.is_empty() {
            text.push_str(&format!("   {}", node.note));
        }
        let from = self.lines.len();
        self.write_wrapped(depth.min(DEEPEST), &format!("{mark} "), &text);
        self.color_mark(from, node, &mark);
        averment_base::value::compare::with_deep_stack(|| {
            node.parts.iter().for_each(|part| self.write_node(part, depth + 1))
        });
    }

    fn color_mark(&mut self, line: usize, node: &DerivationNode, mark: &str) {
        let ink = match node.mark {
            PartMark::Yes => TextColor::Green,
            PartMark::No | PartMark::Error => TextColor::Red,
            PartMark::Unknown | PartMark::Vacuous => TextColor::Yellow,
            PartMark::None if node.letter.is_some() => TextColor::Bold,
            PartMark::None => return,
        };
        if let Some(line) = self.lines.get_mut(line)
            && self.style.color
        {
            *line = line.replacen(mark, &paint_text(self.style, ink, mark), 1);
        }
    }

    fn mark_text(&self, node: &DerivationNode) -> String {
        if let Some(letter) = &node.letter {
            return letter.clone();
        }
        let (sign, word) = match node.mark {
            PartMark::Yes => ("✓", "yes"),
            PartMark::No => ("✗", "no "),
            PartMark::Unknown => ("?", "?  "),
            PartMark::Vacuous => ("○", "o  "),
            PartMark::Error => ("!", "!  "),
            PartMark::None => ("·", "-  "),
        };
        if self.style.unicode { sign } else { word }.to_owned()
    }

    fn write_timeline(&mut self, lines: &[TimelineLine]) {
        if lines.is_empty() {
            return;
        }
        let layout = TimelineLayout::of_lines(lines, self.style.width);
        self.lines.push(String::new());
        for line in lines {
            match line {
                TimelineLine::Gap { steps } => {
                    let dots = if self.style.unicode { "⋮" } else { ":" };
                    let text = format!("{}{dots}  {}", layout.lead_text(""), count_noun(*steps, "step"));
                    self.lines.push(paint_text(self.style, TextColor::Dim, &text));
                }
                TimelineLine::Step(step) => self.write_step(step, &layout),
            }
        }
    }

    fn write_step(&mut self, step: &StepLine, layout: &TimelineLayout) {
        let letters: Vec<String> =
            step.matches.iter().map(|one| format!("{}{}", one.letter, if one.sure { "" } else { "?" })).collect();
        let margin = layout.lead_text(&letters.join(" "));
        let line = format!("{margin}{}", layout.step_cells(step));
        let mark = letters.join(" ");
        self.lines.push(match letters.is_empty() {
            true => line,
            false => line.replacen(&mark, &paint_text(self.style, TextColor::Bold, &mark), 1),
        });
        let behind = layout.lead_text("").chars().count() + layout.number + 2;
        for one in step.matches.iter().filter(|one| !one.values.is_empty()) {
            self.write_below(behind, &format!("{}: {}", one.letter, one.values), None);
        }
        for state in &step.states {
            let label = state.statement.as_ref().map_or(String::new(), |label| format!("{label} "));
            let words = if state.words.is_empty() { String::new() } else { format!(": {}", state.words) };
            let ink = state.violated.then_some(TextColor::Red);
            self.write_below(behind, &format!("{label}{}{words}", state.standing), ink);
        }
    }

    fn write_below(&mut self, indent: usize, text: &str, ink: Option<TextColor>) {
        let arrow = if self.style.unicode { "└ " } else { "> " };
        let room = self.style.width.saturating_sub(indent + 2).max(20);
        for (at, line) in break_text(&plain_text(self.style, text), room).into_iter().enumerate() {
            let head = if at == 0 { arrow } else { "  " };
            let line = ink.map_or(line.clone(), |ink| paint_text(self.style, ink, &line));
            self.lines.push(format!("{}{head}{line}", " ".repeat(indent)));
        }
    }
}

struct TimelineLayout {
    margin: usize,
    number: usize,
    turn: usize,
    time: usize,
    kind: usize,
    what: usize,
    status: usize,
    duration: usize,
}

impl TimelineLayout {
    fn of_lines(lines: &[TimelineLine], width: usize) -> Self {
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

    fn lead_text(&self, letters: &str) -> String {
        format!("  {letters:<width$}", width = self.margin)
    }

    fn step_cells(&self, step: &StepLine) -> String {
        let mut line = format!("{:>width$}  ", step.number, width = self.number);
        for (cell, width) in [(&step.turn, self.turn), (&step.time, self.time)] {
            if width > 0 {
                line.push_str(&format!("{cell:>width$}  "));
            }
        }
        line.push_str(&format!("{:<kind$}  ", step.kind, kind = self.kind));
        line.push_str(&format!("{:<what$}  ", shorten_text(&step.what, self.what), what = self.what));
        if self.status > 0 {
            line.push_str(&format!("{:<status$}  ", step.status, status = self.status));
        }
        if self.duration > 0 {
            line.push_str(&format!("{:>duration$}", step.duration, duration = self.duration));
        }
        line
    }
}

/// True if the texts are equal, apart from truncation.
fn same_text(part: &str, whole: &str) -> bool {
    part == whole || part.strip_suffix('…').is_some_and(|start| whole.starts_with(start))
}

fn plain_text(style: TextStyle, text: &str) -> String {
    if style.unicode { text.to_owned() } else { text.replace(['\u{201c}', '\u{201d}'], "\"").replace('…', "...") }
}

/// Wraps a text at words into lines of `room` characters; longer words are split.
fn break_text(text: &str, room: usize) -> Vec<String> {
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
        assert_eq!(break_text("one two three", 8), ["one two ", "three"]);
        assert_eq!(break_text("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(break_text("", 4), [""]);
    }
}
