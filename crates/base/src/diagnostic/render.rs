//! Renders diagnostics on one line each and as data, and says how text for people looks.
//!
//! Rule files are untrusted: characters that steer a terminal are replaced before anything is printed.

use super::{Diagnostic, Diagnostics, Severity};
use crate::source::{SourceMap, Span};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The style of text for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// Draw lines with box characters instead of ASCII.
    pub unicode: bool,
    /// Use terminal colours.
    pub color: bool,
    /// Columns to fill.
    pub width: usize,
}

impl TextStyle {
    /// Suits every terminal, file and pipe: ASCII, no color, 80 columns.
    pub const PLAIN: Self = Self { unicode: false, color: false, width: 80 };
}

/// The few colours of text.
#[derive(Clone, Copy)]
pub enum TextColor {
    /// Failures.
    Red,
    /// Warnings.
    Yellow,
    /// Success.
    Green,
    /// Titles.
    Bold,
    /// Remarks.
    Dim,
}

/// The text in a colour where the style has colours.
#[must_use]
pub fn paint_text(style: TextStyle, ink: TextColor, text: &str) -> String {
    let code = match ink {
        TextColor::Red => "1;31",
        TextColor::Yellow => "33",
        TextColor::Green => "32",
        TextColor::Bold => "1",
        TextColor::Dim => "2",
    };
    if style.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// More than this many diagnostics are counted, not drawn: nobody reads them, and each costs a piece of the file.
pub const DRAWN: usize = 50;

/// `2 errors, 1 warning, 3 info`; `None` when there is nothing to count.
#[must_use]
pub fn count_by_severity(diagnostics: &Diagnostics) -> Option<String> {
    let parts: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")]
        .into_iter()
        .filter_map(|(severity, word)| {
            let count = diagnostics.0.iter().filter(|one| one.severity == severity).count();
            let ending = if count == 1 || severity == Severity::Info { "" } else { "s" };
            (count > 0).then(|| format!("{count} {word}{ending}"))
        })
        .collect();
    let hidden = diagnostics.0.len().saturating_sub(DRAWN);
    let rest = if hidden > 0 { format!(" (the last {hidden} are not shown)") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{rest}", parts.join(", ")))
}

/// One line per diagnostic: `FILE:LINE:COLUMN: severity[slug]: message; help: what to write`. Columns count characters, from 1.
#[must_use]
pub fn render_short(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut text = String::new();
    for diagnostic in &diagnostics.0 {
        push_line(&mut text, diagnostic, sources);
    }
    text
}

/// Appends the line of one diagnostic, see [`render_short`].
pub fn push_line(text: &mut String, diagnostic: &Diagnostic, sources: &SourceMap) {
    let at = sources.line_column(diagnostic.span);
    let _ = write!(
        text,
        "{}:{}:{}: {}[{}]: {}",
        one_line(sources.file_name(diagnostic.span)),
        at.line,
        at.column,
        severity_word(diagnostic.severity),
        diagnostic.slug.as_str(),
        one_line(&diagnostic.message)
    );
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "; help: {}", one_line(help));
    }
    text.push('\n');
}

/// The diagnostics as data: a list of objects in the order given.
#[must_use]
pub fn render_json(diagnostics: &Diagnostics, sources: &SourceMap) -> Value {
    diagnostics.0.iter().map(|diagnostic| diagnostic_json(diagnostic, sources)).collect()
}

fn diagnostic_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let others: Vec<Value> = diagnostic
        .others
        .iter()
        .map(|other| json!({"text": other.text, "location": location_json(other.span, sources)}))
        .collect();
    let fix = diagnostic.fix.as_ref().map(|fix| {
        let edits: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| json!({"location": location_json(edit.span, sources), "text": edit.text}))
            .collect();
        json!({"title": fix.title, "edits": edits})
    });
    json!({
        "slug": diagnostic.slug.as_str(),
        "severity": severity_word(diagnostic.severity),
        "message": diagnostic.message,
        "location": location_json(diagnostic.span, sources),
        "label": diagnostic.label,
        "others": others,
        "help": diagnostic.help,
        "fix": fix,
        "witness": diagnostic.witness.as_ref().map(|one| json!({"run": one.run, "verdict": one.verdict})),
    })
}

/// Lines and columns from 1, columns in characters; `start` and `end` in bytes.
fn location_json(span: Span, sources: &SourceMap) -> Value {
    let (from, to) = (sources.line_column(span), sources.line_column(span.at_end()));
    json!({
        "file": sources.file_name(span), "line": from.line, "column": from.column,
        "end_line": to.line, "end_column": to.column, "start": span.start, "end": span.end,
    })
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// True for characters that steer a terminal, turn the direction of writing, or take no room, so that two texts that differ look alike: they
/// must not come from a file to a terminal.
#[must_use]
pub fn is_steering(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t')
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        // Letters and signs without a shape, among them the variation selectors that are not those of emoji.
        || matches!(character, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}')
        || matches!(character, '\u{fe00}'..='\u{fe0d}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
}

/// True if a text contains a character that steers a terminal, other than a carriage return.
#[must_use]
pub fn holds_steering(text: &str) -> bool {
    const PART: usize = 64;
    // Most parts of most texts hold letters and signs of ASCII alone: these are told by their bytes, many at once.
    let (parts, rest) = text.as_bytes().as_chunks::<PART>();
    // A character on the border of two parts is looked at with both.
    let part_at = |at: usize| text.get(text.floor_char_boundary(at)..text.ceil_char_boundary(at + PART));
    let odd = parts.iter().enumerate().filter(|(_, part)| !all_plain(part.as_slice())).map(|(number, _)| number * PART);
    let last = Some(parts.len() * PART).filter(|_| !all_plain(rest));
    odd.chain(last).any(|at| part_at(at).is_some_and(steers))
}

#[inline]
fn all_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |plain, byte| plain & is_plain_byte(*byte))
}

fn is_plain_byte(byte: u8) -> bool {
    byte.wrapping_sub(b' ') < 0x7f - b' '
}

fn steers(mut part: &str) -> bool {
    while let Some(at) = part.bytes().position(|byte| !is_plain_byte(byte)) {
        let mut characters = part.get(at..).unwrap_or_default().chars();
        if characters.next().is_some_and(|character| character != '\r' && is_steering(character)) {
            return true;
        }
        part = characters.as_str();
    }
    false
}

/// The text with every character that [`is_steering`] replaced by one of the same length in bytes, so that places stay true.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !holds_steering(text) {
        return Cow::Borrowed(text);
    }
    let stand_in = |character: char| match character.len_utf8() {
        _ if !is_steering(character) || character == '\r' => character,
        1 => '?',
        2 => '\u{b7}',
        3 => '\u{fffd}',
        // A board of checkers.
        _ => '\u{1fb95}',
    };
    Cow::Owned(text.chars().map(stand_in).collect())
}

/// The text on one line: line breaks and tabs become spaces, see [`printable`] for the rest.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        clean if !clean.contains(['\n', '\r', '\t']) => clean,
        clean => Cow::Owned(clean.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_found_wherever_it_stands() {
        for (odd, expected) in [
            ('\u{1b}', true),
            ('\u{7f}', true),
            ('\u{202e}', true),
            ('\u{e0041}', true),
            ('\n', false),
            ('\r', false),
            ('…', false),
        ] {
            for before in (0..140).map(|length| "é".repeat(length % 3) + &"x".repeat(length)) {
                assert_eq!(holds_steering(&format!("{before}{odd}")), expected, "{odd:?} behind {before}");
                assert_eq!(holds_steering(&format!("{before}{odd}… and more text, plain and long")), expected);
            }
        }
    }
}
