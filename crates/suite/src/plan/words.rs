//! The words of command lines.

use crate::paths::normalize_path;
use averment_base::diagnostic::suggest::suggest_name;
use std::path::Path;

/// Placeholders in the command of a runner without a built-in agent.
const PLACEHOLDERS: [&str; 4] = ["prompt", "model", "cwd", "session"];

pub(super) fn misspelled_name(command: &[String]) -> Option<(&str, &'static str)> {
    let named =
        command.iter().flat_map(|word| word.split('{').skip(1)).filter_map(|rest| Some(rest.split_once('}')?.0));
    let mut unknown =
        named.filter(|name| !PLACEHOLDERS.contains(name) && name.bytes().all(|byte| byte.is_ascii_alphabetic()));
    unknown.find_map(|name| {
        let lower = name.to_ascii_lowercase();
        let near = PLACEHOLDERS.into_iter().find(|known| *known == lower);
        Some((name, near.or_else(|| suggest_name(name, PLACEHOLDERS))?))
    })
}

/// Returns a command word; if it starts with `./` or `../`, it is relative to the rule file.
pub(super) fn word_at(word: &str, base: &Path) -> String {
    let is_path = matches!(word, "." | "..") || word.starts_with("./") || word.starts_with("../");
    if is_path { normalize_path(&base.join(word)).to_string_lossy().into_owned() } else { word.to_owned() }
}
