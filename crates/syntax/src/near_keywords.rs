//! Finds the keyword that a word is similar to: two letters swapped, one dropped, doubled or replaced, or two words written as one.

use super::grammar;
use super::{hints, words};

/// Shorter words, such as `is` and `in`, are too similar to be corrected by a swap.
const SHORTEST_SWAPPED: usize = 4;
/// Short keywords that are confused with each other.
const CONFUSED: &[(&str, &str)] = &[("no", "not"), ("or", "of"), ("of", "or"), ("if", "iff")];
/// Words with a meaning of their own that are similar to a keyword.
const OWN_MEANING: &[&str] = &["one", "nor", "ever", "has", "most", "default"];

pub(super) fn near_words(word: &str) -> Vec<String> {
    if hints::is_other_word(word) || OWN_MEANING.contains(&word) {
        return Vec::new();
    }
    let known = grammar::is_keyword(word);
    if known && word.len() < SHORTEST_SWAPPED {
        let pair = CONFUSED.iter().find(|(written, _)| *written == word);
        return pair.map(|(_, meant)| (*meant).to_owned()).into_iter().collect();
    }
    let lower = word.to_ascii_lowercase();
    let mut found: Vec<(usize, &str)> = grammar::keywords()
        .iter()
        .filter(|keyword| **keyword != word && (!known || keyword.len() >= SHORTEST_SWAPPED))
        .filter_map(|keyword| Some((word_distance(&lower, keyword)?, keyword.as_str())))
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    let joined = (2..lower.len()).filter(|_| !known).filter_map(|at| {
        let (left, right) = (lower.get(..at)?, lower.get(at..)?);
        let both = grammar::is_keyword(left) && grammar::is_keyword(right);
        both.then(|| format!("{left} {right}"))
    });
    joined.chain(found.into_iter().map(|(_, keyword)| keyword.to_owned())).collect()
}

pub(super) fn is_near(word: &str, keyword: &str) -> bool {
    word_distance(&word.to_ascii_lowercase(), keyword).is_some()
}

/// Run lists written where a step kind is expected: `never commands`.
const LISTS: &[(&str, &str)] = &[
    ("commands", "command"),
    ("messages", "message"),
    ("reads", "read"),
    ("writes", "write"),
    ("skills", "skill"),
    ("spans", "span"),
    ("handovers", "handover"),
    ("calls", "any"),
    ("tool_calls", "any"),
    ("toolcalls", "any"),
    ("tools", "any"),
    ("all", "any"),
    ("every", "any"),
    ("anything", "any"),
    ("everything", "any"),
    ("failed", "any failed"),
    ("fail", "any failed"),
    ("fails", "any failed"),
    ("failure", "any failed"),
    ("failures", "any failed"),
    ("error", "any failed"),
    ("errors", "any failed"),
    ("exception", "any failed"),
    ("exceptions", "any failed"),
    ("crash", "any failed"),
    ("crashes", "any failed"),
    ("timeout", "any failed"),
    ("timeouts", "any failed"),
    ("denied", "proposed any"),
    ("pending", "proposed any"),
    ("rejected", "proposed any"),
    ("subagent", "handover"),
    ("subagents", "handover"),
    ("agents", "handover"),
    ("handoff", "handover"),
    ("handoffs", "handover"),
];

/// Words that are not steps, with the correct expression: `count turns <= 3`, `never secrets`.
const NO_STEPS: &[(&str, &str)] = &[
    ("steps", "the steps of a run are `length(steps)`"),
    ("turns", "the turns of a run are `turns <= 3`"),
    ("tokens", "the tokens of a run are `usage.total_tokens <= 3000`"),
    ("total_tokens", "the tokens of a run are `usage.total_tokens <= 3000`"),
    ("cost", "the cost of a run is `cost <= $1`"),
    ("duration", "the time that a run takes is `duration <= 30s`"),
    ("output", "to test the answer, write `output contains \"done\"`"),
    ("secret", "secrets are looked for with `use std.secrets` and `no secrets in output`"),
    ("secrets", "secrets are looked for with `use std.secrets` and `no secrets in output`"),
    ("credentials", "secrets are looked for with `use std.secrets` and `no secrets in output`"),
    ("pii", "personal data is looked for with `use std.pii` and `no pii in output`"),
    ("duplicate", "calls that come again are found by `never repeat any more than 1 times`"),
    ("duplicates", "calls that come again are found by `never repeat any more than 1 times`"),
    ("repeats", "calls that come again are found by `never repeat any more than 1 times`"),
    ("retries", "calls that come again are found by `never repeat any more than 1 times`"),
    ("loop", "calls that come again are found by `never repeat any more than 1 times`"),
    ("loops", "calls that come again are found by `never repeat any more than 1 times`"),
];

/// General words for calls and steps, which are not names of tools.
const ANY_CALL: &[&str] =
    &["tool", "tool_call", "toolcall", "call", "function", "function_call", "action", "actions", "step", "invocation"];

/// Returns the correct expression for a word used as the name of a tool that no run calls: `calls that failed are \`any failed\``.
#[must_use]
pub fn meant_by_name(name: &str) -> Option<String> {
    if ANY_CALL.contains(&name) {
        return Some("calls of any tool are `any`".to_owned());
    }
    meant_by_list(name)
}

/// Like [`meant_by_name`], for use if no run shows whether a tool has such a name, since `call` may be one.
#[must_use]
pub fn meant_by_list(name: &str) -> Option<String> {
    if let Some((_, said)) = NO_STEPS.iter().find(|(word, _)| *word == name) {
        return Some((*said).to_owned());
    }
    let (_, kind) = LISTS.iter().find(|(word, _)| *word == name)?;
    Some(match *kind {
        "any" => "calls of any tool are `any`".to_owned(),
        "any failed" => "calls that failed are `any failed`".to_owned(),
        "proposed any" => "calls that were not executed are `proposed any`".to_owned(),
        kind => format!("the kind of step is `{kind}`"),
    })
}

/// Returns true if a word for a kind of step may also be the name of a tool; called with arguments, it is one.
#[must_use]
pub fn is_tool_too(name: &str) -> bool {
    matches!(name, "handoff" | "handoffs" | "subagent")
}

/// Real words that would be a kind of step with one letter added.
const NO_KIND: &[&str] = &["red", "rad", "san"];

/// Returns the kind of step that a tool name is a typo of: two adjacent letters swapped, a letter doubled, or one in the middle dropped. A replaced
/// letter does not count: `head` is not a mistyped `read`.
pub fn near_kind(name: &str) -> Option<&'static str> {
    if let Some((_, kind)) = LISTS.iter().find(|(list, _)| *list == name) {
        return Some(kind);
    }
    let inner = |kind: &str| {
        name.len() + 1 == kind.len()
            && name.bytes().next() == kind.bytes().next()
            && name.bytes().last() == kind.bytes().last()
    };
    let slip = |kind: &str| is_swapped(name, kind) || is_doubled(name, kind) || inner(kind);
    let near = |kind: &&str| strsim::osa_distance(name, kind) == 1 && slip(kind) && !NO_KIND.contains(&name);
    words::KINDS.iter().copied().find(near)
}

/// Returns the distance of two words for sorting; `None` if too far. Typing slips count as closer than replaced letters.
fn word_distance(word: &str, keyword: &str) -> Option<usize> {
    let distance = strsim::osa_distance(word, keyword);
    let letters = keyword.len();
    if distance > (letters / 3).max(1) {
        return None;
    }
    let slip = distance == 0 || is_swapped(word, keyword) || is_doubled(word, keyword) || word.len() < letters;
    let sure = match letters {
        0..=2 => slip && word.len() >= 2,
        3 => slip && word.len() >= 2 || word.len() == letters,
        _ => true,
    };
    sure.then_some(2 * distance + usize::from(!slip))
}

fn is_swapped(word: &str, keyword: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters = text.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(word) == sorted(keyword)
}

fn is_doubled(word: &str, keyword: &str) -> bool {
    let (letters, wanted) = (word.as_bytes(), keyword.as_bytes());
    let same = letters.iter().zip(wanted).take_while(|(one, other)| one == other).count();
    letters.len() == wanted.len() + 1
        && same > 0
        && letters.get(same) == letters.get(same - 1)
        && letters.get(same + 1..) == wanted.get(same..)
}
