//! The words of commands.

use crate::paths::plain;
use averment_base::diagnostic::suggest::nearest;
use std::path::Path;

/// What words of a command without an agent stand for.
const PLACEHOLDERS: [&str; 4] = ["prompt", "model", "cwd", "session"];

/// A name in braces that is nearly one of those that stand for something, and which.
pub(super) fn misspelt(command: &[String]) -> Option<(&str, &'static str)> {
    let named =
        command.iter().flat_map(|word| word.split('{').skip(1)).filter_map(|rest| Some(rest.split_once('}')?.0));
    let mut unknown =
        named.filter(|name| !PLACEHOLDERS.contains(name) && name.bytes().all(|byte| byte.is_ascii_alphabetic()));
    unknown.find_map(|name| {
        let lower = name.to_ascii_lowercase();
        let near = PLACEHOLDERS.into_iter().find(|known| *known == lower);
        Some((name, near.or_else(|| nearest(name, PLACEHOLDERS))?))
    })
}

/// A word of a command; one that begins with `./` or `../` is a path beside the rule file.
pub(super) fn word_at(word: &str, base: &Path) -> String {
    let is_path = matches!(word, "." | "..") || word.starts_with("./") || word.starts_with("../");
    if is_path { plain(&base.join(word)).to_string_lossy().into_owned() } else { word.to_owned() }
}
