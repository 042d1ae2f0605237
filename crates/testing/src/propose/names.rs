//! Writes names and texts from runs in rules. Possible secrets are never written.

use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::detect::{self, Detector};
use averment_syntax::words;

/// Maximum length of a name or text that is copied from runs into rules.
const LONGEST: usize = 64;

/// Returns a tool name for a pattern; `None` if it must not be copied into a rule.
pub(super) fn tool_pattern(name: &str) -> Option<String> {
    if !is_harmless(name) {
        return None;
    }
    let is_bare = is_identifier(&name.replace(['-', '.', '/'], "_"))
        && !name.ends_with(['-', '.', '/'])
        && !has_double_sign(name)
        && !is_word(name);
    Some(if is_bare { name.to_owned() } else { quote_text(name) })
}

fn has_double_sign(name: &str) -> bool {
    let mut last_is_sign = false;
    name.chars().any(|character| {
        let is_sign = matches!(character, '-' | '.' | '/');
        std::mem::replace(&mut last_is_sign, is_sign) && is_sign
    })
}

fn is_word(name: &str) -> bool {
    let others = ["any", "proposed", "only", "exactly", "where", "each", "repeat", "both", "valid", "ok", "failed"];
    words::is_reserved(name)
        || words::KINDS.contains(&name)
        || words::MODIFIERS.contains(&name)
        || others.contains(&name)
}

/// Returns a key as the name of an argument, such as `id` or `"user-id"`.
pub(super) fn argument_key(name: &str) -> Option<String> {
    if !is_harmless(name) {
        return None;
    }
    // `args` and `result` would begin a path in a call.
    let is_plain = is_identifier(name) && !matches!(name, "args" | "result") && !words::OPERATORS.contains(&name);
    Some(if is_plain { name.to_owned() } else { quote_text(name) })
}

/// Returns a key as a path step: `.id`, `["user-id"]`.
pub(super) fn field_path(name: &str) -> Option<String> {
    let plain = is_identifier(name).then(|| format!(".{name}"));
    is_harmless(name).then(|| plain.unwrap_or_else(|| format!("[{}]", quote_text(name))))
}

/// Returns a text literal; `None` if the text must not be copied into a rule.
pub(super) fn text_literal(text: &str) -> Option<String> {
    (is_harmless(text) && text.chars().count() <= LONGEST / 2).then(|| quote_text(text))
}

fn quote_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$"))
}

pub(super) fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// True for text that may be copied into a rule: short, printable, without credentials or personal data.
fn is_harmless(text: &str) -> bool {
    let printable = text.chars().all(|character| character.is_ascii_graphic() || character == ' ');
    if text.is_empty() || text.len() > LONGEST || !printable || looks_random(text) {
        return false;
    }
    let mut meter = FuelMeter::new(&Limits::default());
    let secret = detect::find_credentials(text, &mut meter).map_or(true, |found| !found.is_empty());
    !secret && Detector::Pii.find(text, &mut meter).is_ok_and(|found| found.is_empty())
}

/// True for a long mix of letters and digits, which is an id or a key, not a word.
fn looks_random(text: &str) -> bool {
    let parts = text.split(|character: char| !character.is_ascii_alphanumeric());
    parts.filter(|part| part.len() >= 12).any(|part| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        let upper = part.chars().skip(1).filter(char::is_ascii_uppercase).count();
        digits >= 3 || (upper >= 3 && digits >= 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_bare_where_the_language_lets_them_be() {
        assert_eq!(tool_pattern("get-weather").as_deref(), Some("get-weather"));
        assert_eq!(tool_pattern("functions.search").as_deref(), Some("functions.search"));
        assert_eq!(tool_pattern("read").as_deref(), Some("\"read\""));
        assert_eq!(tool_pattern("ns:tool").as_deref(), Some("\"ns:tool\""));
        assert_eq!(tool_pattern("a..b").as_deref(), Some("\"a..b\""));
        assert_eq!(tool_pattern("a*").as_deref(), Some("\"a*\""));
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        for text in ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ann@example.org", "9f8e7d6c5b4a39281706", "x\ny", ""]
        {
            assert_eq!(text_literal(text), None, "{text}");
        }
        assert_eq!(text_literal("EUR").as_deref(), Some("\"EUR\""));
        assert_eq!(text_literal("a$b\"").as_deref(), Some("\"a\\$b\\\"\""));
    }
}
