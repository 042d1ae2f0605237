//! Lints for misleading characters and words.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::letter_shapes::text_skeleton;
use averment_base::source::Span;
use std::collections::BTreeMap;
use unicode_security::MixedScript as _;

/// Reports invisible characters: those that change the writing direction, or have no width.
pub fn invisible_characters(context: &mut LintContext<'_>) {
    let Some(file) = context.sources.get(context.root) else { return };
    let text = file.text.clone();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (at, character) in text.char_indices().filter(|(at, character)| *at >= start && !character.is_ascii()) {
        let span = Span::new(context.root, at, at.saturating_add(character.len_utf8()));
        let code = format!("U+{:04X}", u32::from(character));
        if changes_direction(character) {
            let message =
                format!("the character {code} turns the direction of writing: the text is not what it looks like");
            context.report(
                Diagnostic::new(Slug::BidiCharacter, span, message)
                    .with_label("it is here")
                    .with_help(format!("remove it, or write `\\u{{{:x}}}` in a string", u32::from(character)))
                    .with_fix("remove the character", span, ""),
            );
        } else if is_invisible(character) {
            let message = format!("the character {code} cannot be seen");
            context.report(
                Diagnostic::new(Slug::InvisibleCharacter, span, message)
                    .with_label("it is here")
                    .with_help(format!("remove it, or write `\\u{{{:x}}}` in a string", u32::from(character)))
                    .with_fix("remove the character", span, ""),
            );
        }
    }
}

/// True for marks, embeddings, overrides and isolates of writing direction.
fn changes_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for zero-width characters, except joiners between emoji and in scripts that need them.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Reports words with letters of several scripts, and names that look like another: `рayment` with a Cyrillic letter.
pub fn confusable_words(context: &mut LintContext<'_>) {
    let Some(file) = context.sources.get(context.root) else { return };
    let text = file.text.clone();
    let (plain, odd) = text_words(&text).into_iter().partition::<Vec<_>, _>(|(_, word)| word.is_ascii());
    if odd.is_empty() {
        return;
    }
    let plain: BTreeMap<String, &str> =
        plain.into_iter().map(|(_, word)| (text_skeleton(word).collect(), word)).collect();
    for (at, word) in odd {
        let shape: String = text_skeleton(word).collect();
        let near = plain.get(&shape);
        if !(near.is_some() || mixes_scripts(word)) {
            continue;
        }
        let span = Span::new(context.root, at, at.saturating_add(word.len()));
        let letters: Vec<String> = word
            .chars()
            .filter(|letter| !letter.is_ascii())
            .take(3)
            .map(|letter| format!("U+{:04X}", u32::from(letter)))
            .collect();
        let message = match near {
            Some(near) => format!("this looks like `{near}` and is another word: it has {} in it", letters.join(", ")),
            None => format!("this word mixes letters of several scripts: {}", letters.join(", ")),
        };
        let diagnostic =
            Diagnostic::new(Slug::Confusable, span, message).with_help("write it in letters of one script");
        context.report(match near {
            Some(near) => diagnostic.with_fix(format!("replace with `{near}`"), span, *near),
            None => diagnostic,
        });
    }
}

fn text_words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.find('#').map_or(line, |at| line.get(..at).unwrap_or(""));
        let mut from = None;
        for (at, letter) in code.char_indices().chain([(code.len(), ' ')]) {
            let inside = letter.is_alphanumeric() || letter == '_';
            match (inside, from) {
                (true, None) => from = Some(at),
                (false, Some(start)) => {
                    found.extend(code.get(start..at).map(|word| (line_start + start, word)));
                    from = None;
                }
                _ => {}
            }
        }
        line_start += line.len();
    }
    found
}

/// True if a word mixes Latin with Greek or Cyrillic letters, which look alike.
fn mixes_scripts(word: &str) -> bool {
    let latin = word.chars().any(|letter| letter.is_ascii_alphabetic());
    let other = word.chars().any(|letter| matches!(letter, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}'));
    latin && other && !word.is_single_script()
}
