//! Names that are nearly another name: what somebody has written and a run calls a little differently.
//!
//! It is narrower than [`suggest`](crate::diagnostic::suggest): a suggestion stands beside something that is wrong, while a near name is
//! the only sign that something is. Two names that mean two things (`get_user`, `set_user`; `step1`, `step2`; `lock`, `unlock`) are not
//! near each other.

use crate::letter_shapes::text_skeleton;

/// Shorter names have too many neighbors.
const SHORTEST: usize = 4;
/// Minimum length for a substituted letter.
const EXCHANGED_FROM: usize = 5;
/// Minimum length for two typos.
const TWO_SLIPS_FROM: usize = 8;
/// Bytes; longer names were not typed by a person.
const LONGEST: usize = 200;
const NAMESPACES: [&str; 4] = ["__", ".", ":", "/"];

/// How two names are similar; nearer kinds come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NearMiss {
    /// Equal except for letter case, separators, whitespace or look-alike letters.
    Written,
    /// One is the other with a namespace: `mcp__github__delete_repo`, `functions.send_email`.
    Namespace,
    /// A typo: an extra, missing, wrong or swapped letter.
    Slip,
}

/// How two names are near each other; `None` for equal ones, and for those that are two names.
///
/// ```
/// use averment_base::near::{NearMiss, near_miss};
/// assert_eq!(near_miss("refund", "Refund "), Some(NearMiss::Written));
/// assert_eq!(near_miss("delete_repo", "mcp__github__delete_repo"), Some(NearMiss::Namespace));
/// assert_eq!(near_miss("refnd", "refund"), Some(NearMiss::Slip));
/// assert_eq!(near_miss("lock", "unlock"), None);
/// ```
#[must_use]
pub fn near_miss(name: &str, other: &str) -> Option<NearMiss> {
    if name == other || name.len() > LONGEST || other.len() > LONGEST {
        return None;
    }
    if is_written_alike(name, other) {
        return Some(NearMiss::Written);
    }
    if is_behind(name, other) || is_behind(other, name) {
        return Some(NearMiss::Namespace);
    }
    is_slip(name, other).then_some(NearMiss::Slip)
}

/// The candidate that is nearest to a name, the first among equals; `None` where the name itself is among them, or none is near.
pub fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(NearMiss, &'a str)> = None;
    for candidate in candidates {
        if candidate == name {
            return None;
        }
        if let Some(how) = near_miss(name, candidate)
            && best.is_none_or(|(known, _)| how < known)
        {
            best = Some((how, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Whether one name is the plural of the other: two names where both are known, and a slip where only one of them is ever met.
///
/// ```
/// use averment_base::near::is_other_number;
/// assert!(is_other_number("refunds", "refund"));
/// assert!(!is_other_number("refund", "refund"));
/// ```
#[must_use]
pub fn is_other_number(name: &str, other: &str) -> bool {
    !name.is_empty()
        && !other.is_empty()
        && (name.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(name))
}

fn folded_name(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_written_alike(name: &str, other: &str) -> bool {
    if name.is_ascii() && other.is_ascii() {
        // Nearly all pairs differ in their first letters: nothing is copied for them.
        let mut one =
            name.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).peekable();
        let mut two =
            other.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).peekable();
        let named = one.peek().is_some() && two.peek().is_some();
        return if named { one.eq(two) } else { name.trim() == other.trim() };
    }
    let (one, two) = (folded_name(name), folded_name(other));
    if one.is_empty() || two.is_empty() {
        return name.trim() == other.trim();
    }
    one == two || !(name.is_ascii() && other.is_ascii()) && name_appearance(name) == name_appearance(other)
}

fn name_appearance(name: &str) -> String {
    folded_name(&text_appearance(name))
}

/// What a text looks like: decomposed, with letters of other scripts as those that they are taken for, without what nobody sees (Unicode
/// Technical Standard 39, the skeleton). To be compared with the appearance of another text, not to be shown.
#[must_use]
pub fn text_appearance(text: &str) -> String {
    appearance_chars(text).collect()
}

/// The characters of the [`text_appearance`] of a text, one by one.
pub fn appearance_chars(text: &str) -> impl Iterator<Item = char> {
    text_skeleton(text).filter(|letter| !is_invisible(*letter))
}

fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

/// One separator is enough if the short name has several words.
fn is_behind(short: &str, long: &str) -> bool {
    let Some(front) = long.len().checked_sub(short.len()).and_then(|at| long.split_at_checked(at)) else {
        return false;
    };
    let (front, back) = front;
    if !back.eq_ignore_ascii_case(short) || short.is_empty() || !front.chars().any(char::is_alphanumeric) {
        return false;
    }
    NAMESPACES.iter().any(|sign| front.ends_with(sign))
        || front.ends_with(['_', '-']) && name_words(short).len() > 1 && short.len() >= TWO_SLIPS_FROM
}

/// Lower-case words: `sendEmail` and `send_email` are equal.
fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let breaks = !letter.is_alphanumeric() || letter.is_uppercase() && was_lower;
        if breaks && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// True if two names differ by typos within one word.
fn is_slip(name: &str, other: &str) -> bool {
    if name.len().abs_diff(other.len()) > 4 || letters_apart(name, other) > 4 {
        return false;
    }
    let (one, two) = (name_words(name), name_words(other));
    if one.len() != two.len() {
        // A slip may be one of the signs between words.
        return is_word_slip(&one.concat(), &two.concat());
    }
    let mut differing = one.iter().zip(&two).filter(|(one, two)| one != two);
    match (differing.next(), differing.next()) {
        (Some((one, two)), None) => is_word_slip(one, two),
        _ => false,
    }
}

/// A lower bound on differing letters: two typos change at most four.
fn letters_apart(name: &str, other: &str) -> u32 {
    let set = |name: &str| {
        name.bytes()
            .filter(u8::is_ascii_alphabetic)
            .fold(0_u32, |set, letter| set | 1 << (letter.to_ascii_lowercase() - b'a'))
    };
    if name.is_ascii() && other.is_ascii() { (set(name) ^ set(other)).count_ones() } else { 0 }
}

/// Digits are never typos, and words are seldom mistyped at their start.
fn is_word_slip(one: &str, two: &str) -> bool {
    let first: Vec<char> = one.chars().collect();
    let second: Vec<char> = two.chars().collect();
    let (short, long) = (first.len().min(second.len()), first.len().max(second.len()));
    // One thing and several of them are two names.
    if is_other_number(one, two) {
        return false;
    }
    let digits = |letters: &[char]| letters.iter().filter(|letter| letter.is_ascii_digit()).collect::<String>();
    if long < SHORTEST || short + 2 < long || digits(&first) != digits(&second) {
        return false;
    }
    let mut sorted = [first.clone(), second.clone()];
    sorted.iter_mut().for_each(|letters| letters.sort_unstable());
    let swapped = sorted[0] == sorted[1];
    if first.first() != second.first() && !swapped {
        return false;
    }
    match strsim::osa_distance(one, two) {
        1 => swapped || short != long || long >= EXCHANGED_FROM,
        2 => short >= TWO_SLIPS_FROM,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_somebody_takes_for_each_other_are_near() {
        let written = [
            ("refund", "Refund"),
            ("refund", "refund "),
            ("send_email", "sendEmail"),
            ("send_email", "send-email"),
            ("refund", "rеfund"),
            ("refund", "re\u{200b}fund"),
            ("café", "cafe\u{301}"),
        ];
        for (one, two) in written {
            assert_eq!(near_miss(one, two), Some(NearMiss::Written), "{one} {two}");
            assert_eq!(near_miss(two, one), Some(NearMiss::Written), "{two} {one}");
        }
        let namespaces = [
            ("delete_repo", "mcp__github__delete_repo"),
            ("send_email", "functions.send_email"),
            ("search", "docs:search"),
            ("create_issue", "github_create_issue"),
        ];
        for (one, two) in namespaces {
            assert_eq!(near_miss(one, two), Some(NearMiss::Namespace), "{one} {two}");
        }
        let slips = [
            ("refnd", "refund"),
            ("serch_docs", "search_docs"),
            ("emial", "email"),
            ("amout", "amount"),
            ("teir", "tier"),
            ("erors", "errors"),
            ("itmes", "items"),
            ("cancel_resrvation", "cancel_reservation"),
            ("delete_repositroy", "delete_repository"),
        ];
        for (one, two) in slips {
            assert_eq!(near_miss(one, two), Some(NearMiss::Slip), "{one} {two}");
        }
    }

    #[test]
    fn two_names_are_not_near_each_other() {
        let pairs = [
            ("get_user", "set_user"),
            ("lock", "unlock"),
            ("step1", "step2"),
            ("search_v1", "search_v2"),
            ("create_issue", "create_issue_comment"),
            ("transfer_in", "transfer_out"),
            ("search", "web_search"),
            ("delete_user", "create_user"),
            ("debit", "credit"),
            ("tier", "customer_tier"),
            ("read", "Bread"),
            ("id", "ids"),
            ("from", "to"),
            ("refund", "refund"),
            ("import", "export"),
        ];
        for (one, two) in pairs {
            assert_eq!(near_miss(one, two), None, "{one} {two}");
        }
    }

    #[test]
    fn the_nearest_name_is_the_one_that_is_only_written_otherwise() {
        assert_eq!(nearest_name("refund", ["refunds", "Refund", "a.refund"]), Some("Refund"));
        assert_eq!(nearest_name("get_user", ["get_users"]), None);
        assert_eq!(nearest_name("refund", ["refunnd", "refund"]), None);
        assert_eq!(nearest_name("refund", ["pay"]), None);
    }
}
