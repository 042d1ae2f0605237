//! Globs of tools that no tool matches, while one nearly does.

use averment_base::near;
use averment_base::value::glob::matches_wildcard;
use averment_engine::vm::named_tools::{NamePlace, ToolNameTest};

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

/// A tool whose name nearly holds what a test looks for, where no tool has it: `contains "refnd"` and `refund_order`.
pub(crate) fn near_tested<'n>(test: &ToolNameTest, tools: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let cased = |text: &str| if test.ignores_case { text.to_lowercase() } else { text.to_owned() };
    let parts: Vec<(NamePlace, String)> = test.parts.iter().map(|(place, part)| (*place, cased(part))).collect();
    let holds = |name: &str| {
        let name = cased(name);
        parts.iter().any(|(place, part)| match place {
            NamePlace::Start => name.starts_with(part.as_str()),
            NamePlace::End => name.ends_with(part.as_str()),
            NamePlace::Anywhere => name.contains(part.as_str()),
        })
    };
    if tools.clone().any(holds) {
        return None;
    }
    let mut tools = tools;
    tools.find(|tool| parts.iter().any(|(place, part)| holds_nearly(tool, *place, part)))
}

/// Words of the name of a tool that are compared one with the other; more are no name that somebody wrote.
const WORDS: usize = 12;

fn holds_nearly(tool: &str, place: NamePlace, part: &str) -> bool {
    let wanted = part.trim_matches(|sign: char| !sign.is_alphanumeric());
    let is_near = |words: &str| near::near_miss(wanted, words).is_some() || near::is_other_number(wanted, words);
    let edges = word_edges(tool);
    let starts = edges.iter().filter(|(start, _)| place != NamePlace::Start || *start == 0).map(|(start, _)| *start);
    let mut spans = starts.flat_map(|start| {
        let ends = edges.iter().map(|(_, end)| *end).filter(move |end| *end > start);
        ends.filter(|end| place != NamePlace::End || *end == tool.len()).map(move |end| (start, end))
    });
    spans.any(|(start, end)| tool.get(start..end).is_some_and(is_near))
}

/// Where the words of a name begin and end.
fn word_edges(name: &str) -> Vec<(usize, usize)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    let (mut was_lower, mut was_word) = (false, false);
    for (at, letter) in name.char_indices() {
        let end = at.saturating_add(letter.len_utf8());
        let is_word = letter.is_alphanumeric();
        match words.last_mut().filter(|_| was_word && !(letter.is_uppercase() && was_lower)) {
            Some(word) if is_word => word.1 = end,
            _ if is_word => words.push((at, end)),
            _ => {}
        }
        (was_lower, was_word) = (letter.is_lowercase(), is_word);
    }
    words.truncate(WORDS);
    words
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
