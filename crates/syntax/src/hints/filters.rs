//! Filters that a template can apply to a text: `{name|bare}`.

use super::view::strip_quotes;
use super::{bounds, functions, table};
use crate::ast::NumberUnit;
use crate::{number, words};

/// Transforms a text; returns `None` if the filter does not apply.
type FilterFn = fn(&str) -> Option<String>;

const FILTERS: &[(&str, FilterFn)] = &[
    // Without its quotes.
    ("bare", |text| Some(strip_quotes(text).to_owned())),
    // Without any quotes.
    ("unquoted", |text| Some(text.replace(['"', '\''], ""))),
    // Joined into one word.
    ("joined", |text| Some(text.split_whitespace().collect())),
    // As the name of a rule.
    ("label", |text| Some(label_of(strip_quotes(text)))),
    // Values as a list.
    ("list", |text| {
        Some(format!(
            "[{}]",
            [" or ", " and ", " || ", " && "].iter().fold(text.to_owned(), |text, joint| text.replace(joint, ", "))
        ))
    }),
    // The number, in digits.
    ("digits", |text| bounds::number_digits(text)),
    ("unit", |text| number::meant_unit(text).map(str::to_owned)),
    ("verdict", |text| words::meant_verdict(text).map(str::to_owned)),
    // `immediately ` if the text says so.
    ("soon", |text| {
        Some(if text.contains("immediately") || text.contains("directly") { "immediately " } else { "" }.to_owned())
    }),
    // The bound of a count, and the inverted bound.
    ("bound", bounds::comparison_of),
    ("limit", bounds::within_limit),
    ("most", |text| bounds::comparison_of(text)?.strip_prefix("<= ").map(str::to_owned)),
    ("nearkind", |text| super::classes::near_kind(text).map(str::to_owned)),
    ("tries", bounds::limit_of_tries),
    ("next", |text| Some(bounds::number_digits(text)?.parse::<u32>().ok()?.saturating_add(1).to_string())),
    // A number without its unit.
    ("whole", |text| Some(text.chars().take_while(char::is_ascii_digit).collect())),
    ("type", |text| Some(type_of(text).to_owned())),
    ("parameters", |text| Some(text.replace(", ", " ").replace(' ', ", "))),
    ("statements", |text| Some(text.replace(", ", "; "))),
    // For prose: a step without its articles; steps with commas, with arrows, from a list.
    ("step", step_of),
    ("commas", |text| Some(separate_steps(text, ", "))),
    ("arrows", |text| Some(separate_steps(text, " -> "))),
    ("bared", |text| Some(separate_steps(&text.replace(['"', '\''], ""), ", "))),
    // Steps of a list as separate statements; texts in quotes as steps.
    ("required", |text| Some(format!("require {}", separate_steps(&text.replace(['"', '\''], ""), "; require ")))),
    ("texts", |text| {
        let texts = text.split('"').skip(1).step_by(2).map(name_of_tool);
        Some(texts.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
    }),
    ("ungrouped", |text| Some(text.replace([',', ' '], ""))),
    ("cents", |text| Some(format!("{:.2}", text.parse::<f64>().ok()? / 100.0))),
    ("money", |text| Some(bounds::comparison_of(text)?.replace('$', ""))),
    ("amount", |text| Some(text.trim_start_matches('$').to_owned())),
    ("like", |text| super::words::like_test(strip_quotes(text)).map(|(_, part)| part)),
    ("liketest", |text| super::words::like_test(strip_quotes(text)).map(|(test, _)| test.to_owned())),
    ("pattern", |text| {
        Some(format!(
            "/{}/",
            text.trim_start_matches('r').trim_matches(['"', '\'']).replace("\\\\", "\\").replace('/', "\\/")
        ))
    }),
    // The first number of a text; without one, the value that means success.
    ("code", |text| Some(first_number(text).unwrap_or("0").to_owned())),
    ("response", |text| Some(first_number(text).unwrap_or("200").to_owned())),
    // Words that are kept: `not `, ` strict`.
    ("unset", |text| Some(if has_word(text, &["not", "missing"]) { "not " } else { "" }.to_owned())),
    ("strict", |text| Some(if has_word(text, &["strict"]) { " strict" } else { "" }.to_owned())),
    ("compared", |text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        bounds::worded_comparison(|index| words.get(index).copied().unwrap_or("")).map(|(_, sign)| sign.to_owned())
    }),
    ("inputs", |text| Some(if text.starts_with('{') { "{ … }" } else { "from schema" }.to_owned())),
    ("argument", |text| Some(text.replace(" = ", ": "))),
    ("small", |text| Some(text.to_ascii_lowercase())),
    ("dotted", |text| Some(text.replace("::", ".").replace('/', "."))),
    ("unbraced", |text| Some(text.replace(['{', '}', '[', ']'], "").trim().to_owned())),
    ("folder", |text| Some(folder_of(text).trim_end_matches('/').to_owned())),
    ("globbed", test_of_glob),
    // The modifier that a word is similar to.
    ("nearmodifier", |text| super::words::meant_modifier(text).map(str::to_owned)),
    ("regex", |text| Some(functions::to_regex(text))),
    // A glob for the files of a folder, and its prefix; the digits after the decimal point of an amount.
    ("files", |text| Some(files_of(text))),
    ("prefix", |text| Some(format!("{}/", folder_of(text).trim_end_matches('/')))),
    ("decimals", |text| (text.len() <= 2 && text.bytes().all(|sign| sign.is_ascii_digit())).then(|| text.to_owned())),
    // `refund.amount` as the beginning of `refund(amount …)`.
    ("ofcall", |text| text.split_once('.').map(|(tool, argument)| format!("{tool}({argument}"))),
    ("thousands", expand_thousands),
    // A bound as a range of times; the number before other words.
    ("range", bounds::range_of),
    ("firstdigits", |text| bounds::number_digits(text.split(' ').next()?.trim_end_matches(['x', 'X']))),
    ("typed", |text| Some(functions::type_word(text).to_owned())),
    ("before", |text| Some(text.parse::<i64>().ok()?.checked_sub(1)?.to_string())),
    ("defined", |text| Some(format!("def {}", text.split_once(char::is_whitespace)?.1.trim()))),
    // The name of a tool; without quotes if it needs none.
    ("tool", |text| Some(name_of_tool(text))),
    // Written anew instead of kept in its place.
    ("moved", |text| Some(text.to_owned())),
];

pub(super) fn apply_filter(filter: &str, text: &str) -> Option<String> {
    if let Some((_, filter)) = FILTERS.iter().find(|(known, _)| *known == filter) {
        return filter(text);
    }
    let words = filter.to_ascii_uppercase();
    let lower = || table::meant(&words, &text.to_ascii_lowercase());
    table::meant(&words, text).or_else(lower).or_else(|| table::meant(&words, "")).map(str::to_owned)
}

#[cfg(test)]
pub(super) fn exists(filter: &str) -> bool {
    FILTERS.iter().any(|(known, _)| *known == filter) || table::pairs(&filter.to_ascii_uppercase()).next().is_some()
}

fn first_number(text: &str) -> Option<&str> {
    text.split(|sign: char| !sign.is_ascii_digit()).find(|part| !part.is_empty())
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split_whitespace().any(|word| words.contains(&word))
}

/// Returns `50000` for `50k`.
pub(super) fn expand_thousands(text: &str) -> Option<String> {
    let digits = text.trim_end_matches(['k', 'K', 'M']);
    let zeros = match text.get(digits.len()..)? {
        "k" | "K" => "000",
        "M" => "000000",
        _ => return None,
    };
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("{digits}{zeros}"))
}

/// Joins steps with one separator, whatever separated them before.
fn separate_steps(text: &str, sign: &str) -> String {
    let parts = text.split([',', '|']).flat_map(|part| part.split(" and ")).flat_map(|part| part.split(" or "));
    let words = ["and ", "or ", "then "];
    let bare = parts.map(|part| words.iter().fold(part.trim(), |part, word| part.strip_prefix(word).unwrap_or(part)));
    bare.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(sign)
}

/// Returns the name of a tool; keywords of the language are quoted.
pub(super) fn name_of_tool(text: &str) -> String {
    let bare = strip_quotes(text);
    let taken =
        [words::KINDS, words::STATEMENTS, words::OPERATORS, &["proposed"]].iter().any(|own| own.contains(&bare));
    if words::is_label(bare) && !taken { bare.to_owned() } else { format!("\"{bare}\"") }
}

/// Returns a step without its articles.
fn step_of(text: &str) -> Option<String> {
    let mut rest = text.trim();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        if !table::list("STEPFILLER").contains(&word) {
            break;
        }
        rest = behind.trim_start();
    }
    if let Some((before, word)) = rest.rsplit_once(char::is_whitespace)
        && table::list("STEPTAIL").contains(&word)
        && !before.ends_with(|sign: char| sign.is_whitespace())
    {
        rest = before;
    }
    // A name in unnecessary quotes.
    let quoted = words::is_label(strip_quotes(rest)) && rest.starts_with(['"', '\'']);
    (!rest.is_empty()).then(|| if quoted { name_of_tool(rest) } else { rest.to_owned() })
}

fn type_of(text: &str) -> &'static str {
    let word = text.split_whitespace().next().unwrap_or("");
    match word.chars().next() {
        Some('"' | '\'') => "string",
        Some('0'..='9' | '$') => match number::read_number(word).map(|reading| reading.unit) {
            Ok(NumberUnit::Duration) => "duration",
            Ok(NumberUnit::Money) => "money",
            Ok(NumberUnit::Size) => "size",
            _ => "number",
        },
        Some('[') => "list",
        Some('{') => "object",
        Some('-') => "number",
        _ if matches!(word, "true" | "false") => "boolean",
        _ => "any",
    }
}

pub(super) fn label_of(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let name = parts.join("-").to_ascii_lowercase();
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well { name } else { format!("the-{name}") }
}

/// Returns the folder that a text names, also if it is a glob for everything below a folder.
pub(super) fn folder_of(text: &str) -> &str {
    let text = strip_quotes(text);
    text.strip_suffix("/**/*").or_else(|| text.strip_suffix("/**")).unwrap_or(text)
}

/// Returns a glob for the files that a text names; for a folder, everything in it.
fn files_of(text: &str) -> String {
    let text = strip_quotes(text);
    let last = text.rsplit('/').next().unwrap_or(text);
    match last.contains(['.', '*', '?']) {
        true => text.to_owned(),
        false => format!("{}/**", text.trim_end_matches('/')),
    }
}

/// Returns a test on a path that is equivalent to a quoted glob.
pub(super) fn test_of_glob(text: &str) -> Option<String> {
    crate::glob_test::test_of_glob(strip_quotes(text))
}
