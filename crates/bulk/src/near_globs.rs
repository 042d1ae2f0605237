//! Globs of tools that no tool matches, while one nearly does.

use averment_base::near;
use averment_base::value::glob::matches_wildcard;

/// A tool that nearly matches a glob (`refnd_*` and `refund_order`) matched by no tool.
pub(crate) fn near_tool<'n>(glob: &str, tools: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    const BETWEEN_WORDS: [char; 3] = ['_', '-', '.'];
    if let Some(tool) = tool_in_other_writing(glob, tools.clone()) {
        return Some(tool);
    }
    let start = glob.strip_suffix('*')?;
    let words = start.strip_suffix(BETWEEN_WORDS).filter(|words| !words.contains(['*', '?']))?;
    if tools.clone().any(|tool| tool.starts_with(start)) {
        return None;
    }
    let mut tools = tools;
    tools.find(|tool| {
        let ends = tool.match_indices(BETWEEN_WORDS).filter_map(|(end, _)| tool.get(..end));
        ends.into_iter().any(|first| near::near_miss(words, first).is_some())
    })
}

/// A tool that a glob would match but for letter case and the signs between words: `github_Delete*` and `github__delete_repo`.
fn tool_in_other_writing<'n>(glob: &str, mut tools: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    // `get_*` is not `getaway`: words stay words.
    let folded = |name: &str| -> String {
        let (mut words, mut was_lower) = (String::new(), false);
        for letter in name.chars() {
            let is_kept = letter.is_alphanumeric() || matches!(letter, '*' | '?');
            if (!is_kept || letter.is_uppercase() && was_lower) && !words.ends_with('_') {
                words.push('_');
            }
            if is_kept {
                words.extend(letter.to_lowercase());
            }
            was_lower = letter.is_lowercase();
        }
        words
    };
    let wanted = folded(glob);
    if !wanted.contains(char::is_alphanumeric) || tools.clone().any(|tool| matches_wildcard(glob, tool)) {
        return None;
    }
    tools.find(|tool| matches_wildcard(&wanted, &folded(tool)))
}
