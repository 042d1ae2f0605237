//! The piece of a trace around a place: one short line, whatever the length and layout of the file.
//!
//! A trace is often one line of megabytes. What is shown is a window around the place, with line breaks folded and the rest marked by `…`;
//! what a detector recognises as a secret is replaced before the window is cut, so that no half of one stays.

use super::redact;
use averment_base::diagnostic::render::printable;
use std::ops::Range;

/// A window of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line of its first place in the file, from 1.
    pub line: usize,
    /// The column of that place in its line, in characters, from 1.
    pub column: usize,
    /// The text of the window.
    pub text: String,
    /// The places in the window, in bytes of `text`, each with the number it was given under; the widest first.
    pub marks: Vec<(usize, Range<usize>)>,
    /// The part of the run's text that the window was made for and shows.
    shown: Range<usize>,
}

/// What no window shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hidden<'a> {
    /// What stands there, wherever it is repeated.
    pub places: &'a [Range<usize>],
    /// Texts as they may be written in the trace.
    pub texts: &'a [String],
}

/// Places that are shown at most.
const PLACES: usize = 5;

/// Windows of `width` characters for places in a text, in the order of the text. A place inside another is marked in the window of that
/// one where it can be seen there. `line` tells on which line an offset stands; `hide` is not shown.
pub fn windows(
    text: &str,
    places: impl Iterator<Item = (usize, Range<usize>)>,
    line: impl Fn(usize) -> Line,
    width: usize,
    hide: Hidden<'_>,
) -> Vec<Excerpt> {
    let mut chosen: Vec<(usize, Range<usize>)> = Vec::new();
    for (number, range) in places {
        if chosen.len() < PLACES
            && text.get(range.clone()).is_some()
            && !chosen.iter().any(|(_, known)| *known == range)
        {
            chosen.push((number, range));
        }
    }
    chosen.sort_by_key(|(number, range)| (std::cmp::Reverse(range.len()), *number));
    let mut windows: Vec<Excerpt> = Vec::new();
    for (number, range) in chosen {
        let around_it = |window: &&mut Excerpt| window.shown.start <= range.start && range.end <= window.shown.end;
        match windows.iter_mut().find(around_it) {
            Some(window) => window.mark(text, number, &range, hide),
            None => windows.push(around(text, number, range.clone(), line(range.start), width, hide)),
        }
    }
    windows.sort_by_key(|window| window.shown.start);
    windows
}

impl Excerpt {
    /// Marks a place that lies in the part that is shown.
    fn mark(&mut self, text: &str, number: usize, range: &Range<usize>, hide: Hidden<'_>) {
        let Some((_, whole)) = self.marks.first() else { return };
        let hidden = hidden(text, &self.shown, hide);
        let length = |piece: Range<usize>| tidy(&show(text, piece, &hidden), false, false).len();
        let start = whole.start + length(self.shown.start..range.start);
        let end = (start + length(range.clone())).min(whole.end);
        self.marks.push((number, start.min(end)..end));
    }
}

/// The line that a place begins on.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Where it starts in the text of the run.
    pub start: usize,
}

/// Characters of context in front of the place, at most; a quarter of the width where that is less.
const BEFORE: usize = 32;
/// Characters of context behind the place.
const AFTER: usize = 48;
/// Characters behind the place that are kept free for a remark.
const REMARK: usize = 12;
/// Bytes on both sides of the window in which a secret may begin or end.
const REACH: usize = 4_096;

/// The window of `width` characters around a range of the text.
fn around(text: &str, number: usize, range: Range<usize>, line: Line, width: usize, hide: Hidden<'_>) -> Excerpt {
    let hidden = hidden(text, &range, hide);
    let before = before(text, &range, line, BEFORE.min(width / 4));
    let lead = tidy(&show(text, before.clone(), &hidden), before.start > line.start, false);
    let room = width.saturating_sub(lead.chars().count() + 2).max(16);

    let marked = head(text, range.clone(), room.saturating_sub(REMARK).max(16));
    let whole = marked.end == range.end;
    let mark = tidy(&show(text, marked.clone(), &hidden), false, !whole);
    let mut window = lead;
    let start = window.len();
    window.push_str(&mark);
    let end = window.len();
    if whole {
        let line_end = memchr::memchr(b'\n', text.as_bytes().get(range.end..).unwrap_or(&[]));
        let rest = range.end..line_end.map_or(text.len(), |length| range.end + length);
        let left = room.saturating_sub(mark.chars().count()).min(AFTER);
        let after = head(text, rest.clone(), left);
        // What stands for a secret may be longer than the secret.
        let behind = tidy(&show(text, after.clone(), &hidden), false, false);
        let fits = head(&behind, 0..behind.len(), left);
        window.push_str(behind.get(fits.clone()).unwrap_or(""));
        if after.end < rest.end || fits.end < behind.len() {
            window.push_str(" …");
        }
    }
    let column = text.get(line.start..range.start).map_or(0, |before| before.chars().count()) + 1;
    Excerpt { line: line.number, column, text: window, marks: vec![(number, start..end)], shown: marked }
}

/// What must not be shown near a place: secrets, and what is to be hidden, wherever it is repeated.
fn hidden(text: &str, range: &Range<usize>, hide: Hidden<'_>) -> Vec<Range<usize>> {
    let start = text.floor_char_boundary(range.start.saturating_sub(REACH));
    let end = text.floor_char_boundary(range.end.min(range.start + REACH).saturating_add(REACH));
    let near = text.get(start..end).unwrap_or("");
    let mut found: Vec<Range<usize>> =
        redact::secrets(near).into_iter().map(|found| start + found.start..start + found.end).collect();
    let places = hide.places.iter().map(|place| text.get(place.clone()).unwrap_or(""));
    for hidden in places.chain(hide.texts.iter().map(String::as_str)) {
        if hidden.len() <= REACH && !hidden.is_empty() {
            found.extend(near.match_indices(hidden).map(|(at, _)| start + at..start + at + hidden.len()));
        }
    }
    found.extend_from_slice(hide.places);
    merged(found)
}

/// Ranges in order, those that touch joined.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The context in front of a place: on its line, from the beginning of an entry where one is near.
fn before(text: &str, range: &Range<usize>, line: Line, most: usize) -> Range<usize> {
    let context = text.get(line.start..range.start).unwrap_or("");
    let from = context.char_indices().rev().take(most).last().map_or(context.len(), |(at, _)| at);
    let near = context.get(from..).unwrap_or("");
    let entry = if from == 0 {
        None
    } else {
        near.find(['{', ',']).map(|at| at + usize::from(near.get(at..).is_some_and(|rest| rest.starts_with(','))))
    };
    line.start + from + entry.unwrap_or(0)..range.start
}

/// The first `count` characters of a range.
fn head(text: &str, range: Range<usize>, count: usize) -> Range<usize> {
    let whole = text.get(range.clone()).unwrap_or("");
    let length = whole.char_indices().nth(count).map_or(whole.len(), |(at, _)| at);
    range.start..range.start + length
}

/// A piece of the text without what is hidden.
fn show(text: &str, piece: Range<usize>, hidden: &[Range<usize>]) -> String {
    let inside: Vec<Range<usize>> = hidden
        .iter()
        .filter(|one| one.start < piece.end && piece.start < one.end)
        .map(|one| one.start.max(piece.start) - piece.start..one.end.min(piece.end) - piece.start)
        .collect();
    redact::without(text.get(piece).unwrap_or(""), &inside).into_owned()
}

/// A piece on one line: line breaks with their indent become one space, what steers a terminal is replaced, cuts are marked.
fn tidy(piece: &str, cut_before: bool, cut_after: bool) -> String {
    let mut line = String::with_capacity(piece.len());
    if cut_before {
        line.push_str("… ");
    }
    let mut folding = false;
    for character in printable(piece).trim_start_matches(if cut_before { ' ' } else { '\0' }).chars() {
        match character {
            '\n' | '\r' => {
                if !folding {
                    line.push(' ');
                }
                folding = true;
            }
            ' ' | '\t' if folding => {}
            '\t' => line.push(' '),
            other => {
                folding = false;
                line.push(other);
            }
        }
    }
    if cut_after {
        line.push_str(" …");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str, place: &str, width: usize) -> Excerpt {
        let start = text.find(place).unwrap();
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let number = text[..start].matches('\n').count() + 1;
        around(text, 0, start..start + place.len(), Line { number, start: line_start }, width, Hidden::default())
    }

    #[test]
    fn a_place_inside_another_is_marked_in_its_window_where_it_can_be_seen() {
        let text = r#"{"calls":[{"tool":"refund","args":{"id":"o-1"}}],"output":"done"}"#;
        let at = |part: &str| text.find(part).map(|start| start..start + part.len()).unwrap();
        let places = [at("\"o-1\""), at(r#"{"tool":"refund","args":{"id":"o-1"}}"#), at("\"done\""), at("\"o-1\"")];
        let line = |_| Line { number: 1, start: 0 };
        let seen = windows(text, places.into_iter().enumerate(), line, 90, Hidden::default());
        let marked: Vec<Vec<(usize, &str)>> = seen
            .iter()
            .map(|one| one.marks.iter().map(|(number, mark)| (*number, &one.text[mark.clone()])).collect())
            .collect();
        assert_eq!(
            marked,
            [vec![(1, r#"{"tool":"refund","args":{"id":"o-1"}}"#), (0, "\"o-1\"")], vec![(2, "\"done\"")]]
        );
        let narrow = windows(
            text,
            [at("{\"tool\":\"refund\",\"args\":{\"id\":\"o-1\"}}"), at("\"o-1\"")].into_iter().enumerate(),
            line,
            30,
            Hidden::default(),
        );
        assert_eq!(narrow.len(), 2);
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        let seen = window(r#"{"id":"o-1","n":1}"#, r#""o-1""#, 80);
        assert_eq!(seen.text, r#"{"id":"o-1","n":1}"#);
        assert_eq!(&seen.text[seen.marks[0].1.clone()], r#""o-1""#);
        assert_eq!((seen.line, seen.column), (1, 7));
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides_at_an_entry() {
        let text = format!(r#"{{"a":"{}","id":"o-1","note":"{}"}}"#, "é".repeat(100_000), "y".repeat(100_000));
        let seen = window(&text, r#""o-1""#, 60);
        assert!(seen.text.starts_with(r#"… "id":"o-1","note":"yyy"#), "{}", seen.text);
        assert!(seen.text.ends_with("y …") && seen.text.chars().count() <= 62, "{}", seen.text);
        assert_eq!(&seen.text[seen.marks[0].1.clone()], r#""o-1""#);
        assert_eq!(seen.column, 100_000 + 14);
    }

    #[test]
    fn a_long_place_shows_its_beginning() {
        let text = format!(r#"[{{"tool":"refund","args":"{}"}},1]"#, "x".repeat(1_000_000));
        let place = text[1..text.len() - 3].to_owned();
        let seen = window(&text, &place, 60);
        assert!(
            seen.text.starts_with(r#"[{"tool":"refund","args":"xxx"#) && seen.text.ends_with("x …"),
            "{}",
            seen.text
        );
        assert_eq!(seen.marks[0].1, 1..seen.text.len());
        assert!(seen.text.chars().count() <= 62);
    }

    #[test]
    fn a_place_over_several_lines_is_folded() {
        let text = "{\n  \"calls\": [\n    {\n      \"tool\": \"refund\",\n      \"n\": 1\n    }\n  ]\n}\n";
        let seen = window(text, "{\n      \"tool\": \"refund\",\n      \"n\": 1\n    }", 80);
        assert_eq!(&seen.text[seen.marks[0].1.clone()], r#"{ "tool": "refund", "n": 1 }"#);
        assert_eq!((seen.line, seen.column), (3, 5));
    }

    #[test]
    fn nothing_steers_the_terminal_and_masked_places_are_not_shown() {
        let text = "{\"a\":\"\u{9b}2J\u{202e}\",\"b\":1}";
        assert!(!window(text, "1", 80).text.contains(['\u{9b}', '\u{202e}']));
        let place = 7..14;
        let hidden = Hidden { places: std::slice::from_ref(&place), texts: &[] };
        let seen = around(r#"{"key":"tok-1"}"#, 0, place.clone(), Line { number: 1, start: 0 }, 80, hidden);
        assert_eq!(seen.text, r#"{"key":[redacted]}"#);
    }

    #[test]
    fn places_at_the_ends_and_empty_ones_are_fine() {
        for range in [0..0, 2..2, 0..2] {
            assert_eq!(around("{}", 0, range.clone(), Line { number: 1, start: 0 }, 80, Hidden::default()).text, "{}");
        }
        assert_eq!(around("", 0, 0..0, Line { number: 1, start: 0 }, 80, Hidden::default()).text, "");
    }
}
