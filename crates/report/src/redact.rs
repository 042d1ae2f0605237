//! Removes secrets from report texts. All reports use this module.

use averment_base::value::json::to_json;
use averment_base::value::{Value, ValueText};
use averment_engine::vm::outcome::VerdictEvidence;
use averment_runs::run::{EVERYTHING, Run, RunSource};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

pub use crate::redact_rules::{mask_secrets, redact_diagnostic, redact_json};
use crate::secrets::SHORTEST_VALUE;
pub use crate::secrets::{find_secrets, is_long_enough_to_hide, redact, remove_ranges};
pub use crate::withheld_values::withheld_values;
pub use averment_builtins::detect::REDACTED;

thread_local! {
    /// The last file name and its redacted form. Runs of one file follow each other, so this saves repeated searches.
    static LAST: RefCell<(String, String)> = RefCell::default();
}

/// Initializes the thread-local data now, instead of at the first use.
pub fn register_thread_storage() {
    LAST.with_borrow(|_| ());
    crate::secrets::register_thread_storage();
}

/// Returns the name of a file without detected secrets.
#[must_use]
pub fn redact_file(name: &str) -> Cow<'_, str> {
    LAST.with_borrow_mut(|(last, shown)| {
        if last != name {
            *shown = redact(name).into_owned();
            name.clone_into(last);
        }
        if shown == name { Cow::Borrowed(name) } else { Cow::Owned(shown.clone()) }
    })
}

/// Returns the name of a run without detected secrets.
#[must_use]
pub fn redact_source(source: &RunSource) -> String {
    match redact_file(&source.file) {
        Cow::Borrowed(_) => source.run_name(),
        Cow::Owned(file) => RunSource { file, ..source.clone() }.run_name(),
    }
}

/// Returns the value that a predicate found, which must be hidden in all texts about the run; `None` if it is too short.
pub fn found_text(evidence: &VerdictEvidence) -> Option<String> {
    let text = evidence.found.as_deref()?;
    is_long_enough_to_hide(text).then(|| text.trim().to_owned())
}

/// Texts to hide, in each form in which reports write them: unchanged, in JSON, in JSON inside a JSON string, on one line. The longest ones come
/// first, so that no part of one remains.
#[derive(Debug, Clone, Default)]
pub struct WithheldTexts {
    /// The forms in sentences.
    words: Vec<String>,
    /// The forms in JSON, without quotes.
    json: Vec<String>,
    /// True if there are too many texts to search for, so that everything is hidden.
    all: bool,
}

impl WithheldTexts {
    /// Creates the set of these texts.
    #[must_use]
    pub fn of_texts(texts: Vec<String>) -> Self {
        let mut withheld = Self { all: texts.iter().any(|text| text == EVERYTHING), ..Self::default() };
        if withheld.all {
            return withheld;
        }
        for text in texts.into_iter().filter(|text| !text.is_empty()) {
            let once = json_text(&text);
            let twice = json_text(&once);
            withheld.json.extend([once.clone(), twice.clone()]);
            withheld.words.extend([&text, &once, &twice].into_iter().filter_map(|form| fold_spaces(form)));
            withheld.words.extend(on_one_line(&text));
            withheld.words.extend([text, once, twice]);
        }
        longest_first(&mut withheld.words);
        longest_first(&mut withheld.json);
        withheld
    }

    /// Returns the union with others.
    #[must_use]
    pub fn joined_with(mut self, others: &Self) -> Self {
        if others.is_empty() {
            return self;
        }
        self.all |= others.all;
        self.words.extend_from_slice(&others.words);
        self.json.extend_from_slice(&others.json);
        longest_first(&mut self.words);
        longest_first(&mut self.json);
        self
    }

    /// True if there is nothing to hide.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.all
    }

    /// Removes the texts from words. Also removes the start or end of a text that was cut off there.
    #[must_use]
    pub fn remove_from(&self, words: String) -> String {
        if self.all {
            return if words.is_empty() { words } else { REDACTED.to_owned() };
        }
        self.words.iter().fold(words, |words, text| {
            if is_short(text) {
                return without_token(&words, text).into_owned();
            }
            let words = if words.contains(text.as_str()) { words.replace(text, REDACTED) } else { words };
            without_ending(without_beginning(words, text), text)
        })
    }

    /// Removes the texts from JSON.
    #[must_use]
    pub fn without_in_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        if self.all {
            return Cow::Owned(format!("\"{REDACTED}\""));
        }
        self.json.iter().fold(Cow::Borrowed(json), |json, text| {
            if json.contains(text.as_str()) {
                return Cow::Owned(replace_json(&json, text));
            }
            // Error messages may have been cut before, so the start of a text at the end is removed, too.
            if json.ends_with(CUT) { Cow::Owned(without_beginning(json.into_owned(), text)) } else { json }
        })
    }
}

fn json_text(text: &str) -> String {
    let json = to_json(&Value::Text(ValueText::Plain(text)));
    json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// Returns the text with single spaces, as in sentences; `None` if it is unchanged.
fn fold_spaces(text: &str) -> Option<String> {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (folded != text).then_some(folded)
}

/// Returns the text without control characters, as in a timeline; `None` if it is unchanged.
fn on_one_line(text: &str) -> Option<String> {
    text.contains(char::is_control).then(|| text.replace(char::is_control, " "))
}

/// Replaces a text in JSON. A standalone number is replaced by a string.
fn replace_json(json: &str, text: &str) -> String {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return remove_words(json, text);
    }
    let mut clean = String::with_capacity(json.len());
    let (mut rest, mut quoted) = (json, false);
    while let Some(at) = rest.find(['"', '\\']) {
        let (piece, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        clean.push_str(&in_piece(piece, text, quoted));
        // A backslash escapes the next character, so both are copied.
        let taken = if behind.starts_with('\\') { behind.ceil_char_boundary(2) } else { 1 };
        quoted ^= behind.starts_with('"');
        clean.push_str(behind.get(..taken).unwrap_or_default());
        rest = behind.get(taken..).unwrap_or_default();
    }
    clean.push_str(&in_piece(rest, text, quoted));
    clean
}

/// Replaces a number in a piece of JSON, inside or outside a string.
fn in_piece(piece: &str, number: &str, quoted: bool) -> String {
    if quoted {
        return remove_words(piece, number);
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    let mut clean = String::with_capacity(piece.len());
    for token in piece.split_inclusive(|character| !is_part(character)) {
        let end = token.trim_end_matches(|character| !is_part(character)).len();
        let (value, behind) = token.split_at_checked(end).unwrap_or((token, ""));
        if value == number {
            clean.extend(["\"", REDACTED, "\""]);
        } else {
            clean.push_str(value);
        }
        clean.push_str(behind);
    }
    clean
}

fn remove_words(words: &str, text: &str) -> String {
    if is_short(text) { without_token(words, text).into_owned() } else { words.replace(text, REDACTED) }
}

/// Minimum length of texts that are also removed inside of words, in characters.
const INSIDE: usize = 4;

fn is_short(text: &str) -> bool {
    text.chars().count() < INSIDE
}

fn without_token<'a>(words: &'a str, text: &str) -> Cow<'a, str> {
    let ends = |before: &str| before.chars().next_back().is_none_or(|one| !one.is_alphanumeric());
    let begins = |behind: &str| behind.chars().next().is_none_or(|one| !one.is_alphanumeric());
    let found = words.match_indices(text).map(|(at, _)| at..at + text.len());
    let whole: Vec<Range<usize>> =
        found.filter(|at| words.get(..at.start).is_some_and(ends) && words.get(at.end..).is_some_and(begins)).collect();
    remove_ranges(words, &whole)
}

fn longest_first(texts: &mut Vec<String>) {
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    texts.dedup();
}

const CUT: char = '…';

/// Removes the start of a text before a cut, unless the start is shorter than half of the shortest value.
fn without_beginning(words: String, text: &str) -> String {
    let Some(first) = text.chars().next() else { return words };
    if !words.contains(CUT) || !words.contains(first) {
        return words;
    }
    let mut clean = String::with_capacity(words.len());
    let mut rest = words.as_str();
    while let Some((before, behind)) = rest.split_once(CUT) {
        let near = before.floor_char_boundary(before.len().saturating_sub(text.len()));
        let starts = before.get(near..).unwrap_or_default().match_indices(first).map(|(at, _)| near + at);
        let begins =
            |at: &usize| before.get(*at..).is_some_and(|end| end.len() >= SHORTEST_VALUE / 2 && text.starts_with(end));
        match starts.into_iter().find(begins).and_then(|at| before.get(..at)) {
            Some(kept) => {
                clean.push_str(kept);
                clean.push_str(REDACTED);
            }
            None => clean.push_str(before),
        }
        clean.push(CUT);
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

/// Maximum length of a text's end that may follow a cut.
const ENDING: usize = 400;

/// Removes the end of a text after a cut, even inside quotes.
fn without_ending(words: String, text: &str) -> String {
    if !words.contains(CUT) {
        return words;
    }
    let from = text.floor_char_boundary(text.len().saturating_sub(ENDING));
    let last = text.get(from..).unwrap_or_default();
    let mut pieces = words.split(CUT);
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        clean.push(CUT);
        let behind = piece.strip_prefix('"').unwrap_or(piece);
        clean.push_str(piece.get(..piece.len() - behind.len()).unwrap_or_default());
        let ends = last.char_indices().map(|(at, _)| last.get(at..).unwrap_or_default());
        let shown = ends.filter(|end| end.len() >= SHORTEST_VALUE / 2).find(|end| behind.starts_with(*end));
        if shown.is_some() {
            clean.push_str(REDACTED);
        }
        clean.push_str(behind.get(shown.map_or(0, str::len)..).unwrap_or_default());
    }
    clean
}

/// Returns text about a run, such as its timeline, without secrets and without values of its environment.
#[must_use]
pub fn redact_run_text(run: &Run<'_>, text: &str) -> String {
    let texts = withheld_values(run);
    WithheldTexts::of_texts(texts).remove_from(redact(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_detector_recognises_is_not_shown() {
        let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
        assert_eq!(redact(&format!("token {token} used")), "token [redacted] used");
        assert_eq!(redact("an ordinary sentence"), "an ordinary sentence");
    }

    #[test]
    fn ranges_are_replaced_and_the_rest_stays() {
        assert_eq!(remove_ranges("key=abc; next=def", &[4..7, 14..17]), "key=[redacted]; next=[redacted]");
        assert_eq!(remove_ranges("nothing", &[]), "nothing");
    }
}
