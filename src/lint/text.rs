//! Characters and regular expressions that are not what they look like.

use super::context::Context;
use crate::diagnostic::{Diagnostic, Slug};
use crate::source::Span;

/// Characters that nobody sees: they turn the direction of writing, or have no width.
pub fn characters(context: &mut Context<'_>) {
    let Some(file) = context.sources.get(context.root) else { return };
    let text = file.text.clone();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (at, character) in text.char_indices().filter(|(at, character)| *at >= start && !character.is_ascii()) {
        let span = Span::new(context.root, at, at.saturating_add(character.len_utf8()));
        let code = format!("U+{:04X}", u32::from(character));
        if turns(character) {
            let message =
                format!("the character {code} turns the direction of writing: the text is not what it looks like");
            context.report(
                Diagnostic::new(Slug::BidiCharacter, span, message)
                    .label("it is here")
                    .help(format!("remove it, or write `\\u{{{:x}}}` in a string", u32::from(character)))
                    .fix("remove the character", span, ""),
            );
        } else if is_invisible(character) {
            let message = format!("the character {code} cannot be seen");
            context.report(
                Diagnostic::new(Slug::InvisibleCharacter, span, message)
                    .label("it is here")
                    .help(format!("remove it, or write `\\u{{{:x}}}` in a string", u32::from(character)))
                    .fix("remove the character", span, ""),
            );
        }
    }
}

/// Marks, embeddings, overrides and isolates of the direction of writing.
fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters without a width. Joiners between emoji and letters of scripts that need them are text.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
