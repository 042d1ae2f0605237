//! What a shell puts in: substitutions inside of other texts, signs in `$'…'`, variables that the line itself sets.

use super::lex::{CommandSegment, Variables};
use indexmap::IndexMap;
use std::iter::Peekable;
use std::str::Chars;

/// The scripts of `$( … )` and backquotes in a text in which quotes mean nothing: a here document, a sum, the default of a variable.
pub(super) fn expansions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => {
                rest.next();
            }
            '`' => found.push(rest.by_ref().take_while(|next| *next != '`').collect()),
            '$' if rest.next_if_eq(&'(').is_some() => found.extend(substituted(&balanced(&mut rest))),
            _ => {}
        }
    }
    found
}

/// The scripts that `$(…)` with this inside runs: `$((…))` is a sum, which may hold others.
pub(super) fn substituted(inside: &str) -> Vec<String> {
    match inside.strip_prefix('(').filter(|sum| sum.ends_with(')')) {
        Some(sum) => expansions(sum),
        None => vec![inside.to_owned()],
    }
}

fn balanced(rest: &mut Peekable<Chars<'_>>) -> String {
    let (mut script, mut depth) = (String::new(), 1_usize);
    for character in rest.by_ref() {
        match character {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        script.push(character);
    }
    script
}

/// The text of `$'…'` behind its quote; `None` where it is never closed.
pub(super) fn ansi_quoted(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '\'' => return Some(text),
            '\\' => text.push(escape(rest)?),
            other => text.push(other),
        }
    }
}

/// The text of `echo -e` and `printf`, in which a backslash begins a sign.
pub(super) fn unescaped(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut plain = String::new();
    while let Some(character) = rest.next() {
        match character {
            '\\' => plain.extend(escape(&mut rest)),
            other => plain.push(other),
        }
    }
    plain
}

/// The sign behind a backslash: `\n`, `\x72`, `\162`, `\u0072`.
fn escape(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    Some(match rest.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' | 'b' | 'f' | 'v' | 'e' | 'E' => ' ',
        'x' => number(rest, 0, 16, 2),
        'u' => number(rest, 0, 16, 4),
        'U' => number(rest, 0, 16, 8),
        digit @ '0'..='7' => number(rest, digit.to_digit(8).unwrap_or(0), 8, 2),
        other => other,
    })
}

fn number(rest: &mut Peekable<Chars<'_>>, first: u32, base: u32, most: usize) -> char {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|next| next.to_digit(base)) else { break };
        value = value.saturating_mul(base).saturating_add(digit);
        rest.next();
    }
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Programs whose words are names of variables that get values from elsewhere.
const READERS: [&str; 7] = ["for", "getopts", "mapfile", "printf", "read", "readarray", "select"];

/// The variables that a line sets once, to a text that stands in it. One that is set twice may have either value where it is used.
pub(super) fn variables(segments: &[CommandSegment]) -> Variables {
    let mut known: IndexMap<&str, Option<&str>> = IndexMap::new();
    for segment in segments {
        let reads = segment.words.first().is_some_and(|word| READERS.contains(&word.text.as_str()));
        for word in &segment.words {
            let grown = word.text.split_once("+=").map(|(name, _)| (name, None));
            let set = word.assignment().map(|(name, value)| (name, word.is_known().then_some(value)));
            let read = reads.then_some((word.text.as_str(), None));
            for (name, value) in [grown, set, read].into_iter().flatten() {
                known.entry(name).and_modify(|known| *known = None).or_insert(value);
            }
        }
    }
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
}
