//! The plain reading of a command: one program with options, one shell wrapper removed, operators are words like others. Foreign rule
//! files are written against it.

use indexmap::IndexMap;

/// A command read plainly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainCommand {
    /// The first word; `None` for an empty command.
    pub executable: Option<String>,
    /// The words that are neither options nor their values.
    pub positionals: Vec<String>,
    /// Each option with its values in order; `None` for an occurrence without one.
    pub options: IndexMap<String, Vec<Option<String>>>,
    /// True if `--` occurs.
    pub end_of_options: bool,
    /// Whether a shell around it was removed.
    pub unwrapped: bool,
}

/// Reads a command plainly.
#[must_use]
pub fn parse_plain(command: &str) -> PlainCommand {
    let outer = split_words(command);
    let (words, unwrapped) = match wrapped_command(&outer) {
        Some(script) => (self::split_words(script), true),
        None => (outer, false),
    };
    let Some((executable, rest)) = words.split_first() else {
        return PlainCommand { unwrapped, ..PlainCommand::default() };
    };
    PlainCommand { executable: Some(executable.clone()), unwrapped, ..parse_options(rest) }
}

fn wrapped_command(words: &[String]) -> Option<&str> {
    let is_shell = |word: &String| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        matches!(name, "bash" | "sh" | "zsh" | "fish" | "dash")
    };
    let shell = words.iter().take(2).position(is_shell)?;
    let flag = words
        .iter()
        .enumerate()
        .skip(shell + 1)
        .find(|(at, word)| word.starts_with('-') && word.contains('c') && words.get(at + 1).is_some())?;
    words.get(flag.0 + 1).map(String::as_str)
}

/// Splits at white space outside quotes. A backslash takes the next character as it is, but in single quotes stands for itself.
/// Empty words vanish; a quote that is never closed ends with the text.
fn split_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => word.push(characters.next().unwrap_or('\\')),
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            (_, None) if character.is_whitespace() || character == '\u{feff}' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(character),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

pub(super) fn parse_options(words: &[String]) -> PlainCommand {
    let mut plain = PlainCommand::default();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if plain.end_of_options || !word.starts_with('-') || word == "-" {
            plain.positionals.push(word.clone());
            continue;
        }
        if word == "--" {
            plain.end_of_options = true;
            continue;
        }
        let (names, mut value) = split_option(word);
        if value.is_none() && names.len() == 1 {
            value = rest.next_if(|next| !next.starts_with('-')).cloned();
        }
        for name in names {
            plain.options.entry(name).or_default().push(value.clone());
        }
    }
    plain
}

fn split_option(word: &str) -> (Vec<String>, Option<String>) {
    if let Some(long) = word.strip_prefix("--") {
        return match long.split_once('=') {
            Some((name, value)) => (vec![format!("--{name}")], Some(value.to_owned())),
            None => (vec![word.to_owned()], None),
        };
    }
    let letters = word.strip_prefix('-').unwrap_or_default();
    let mut characters = letters.chars();
    let first = characters.next().map(|letter| format!("-{letter}")).unwrap_or_default();
    match characters.as_str() {
        "" => (vec![first], None),
        _ if letters.chars().all(|c| c.is_ascii_alphabetic()) => {
            (letters.chars().map(|letter| format!("-{letter}")).collect(), None)
        }
        rest => (vec![first], Some(rest.to_owned())),
    }
}
