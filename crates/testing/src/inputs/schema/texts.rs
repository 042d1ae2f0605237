//! Generates texts from the keywords of a schema.

use super::super::random::CaseRandom;
use super::super::value::{TEXT, keyword_count};
use serde_json::{Map, Value};

pub(super) fn make_text(keywords: &Map<String, Value>, random: &mut CaseRandom, border: bool) -> String {
    let format = keywords.get("format").and_then(Value::as_str);
    if let Some(text) = format.and_then(|format| of_format(format, random)) {
        return text;
    }
    let least = keyword_count(keywords, "minLength").unwrap_or(0).min(TEXT);
    let most = keyword_count(keywords, "maxLength").unwrap_or(32).max(least).min(TEXT);
    let length = if border { most } else { random.number_between(least, most) };
    let letter = if border { "x" } else { "a" };
    letter.repeat(usize::try_from(length).unwrap_or(0))
}

/// Returns a text of a format; `None` for an unknown format.
fn of_format(format: &str, random: &mut CaseRandom) -> Option<String> {
    let mut number = |most: u64| random.number_between(0, most);
    Some(match format {
        "date-time" => {
            let (day, hour, minute) = (number(27) + 1, number(23), number(59));
            format!("2024-01-{day:02}T{hour:02}:{minute:02}:00Z")
        }
        "date" => format!("2024-{:02}-{:02}", number(11) + 1, number(27) + 1),
        "time" => format!("{:02}:{:02}:00Z", number(23), number(59)),
        "duration" => format!("P{}D", number(30)),
        "email" | "idn-email" => format!("user{}@example.com", number(999)),
        "hostname" | "idn-hostname" => format!("host{}.example.com", number(999)),
        "ipv4" => format!("192.0.2.{}", number(255)),
        "ipv6" => format!("2001:db8::{:x}", number(0xffff)),
        "uri" | "iri" => format!("https://example.com/{}", number(999)),
        "uri-reference" | "iri-reference" => format!("/{}", number(999)),
        "uuid" => format!("{:08x}-0000-4000-8000-{:012x}", number(0xffff_ffff), number(0xffff_ffff_ffff)),
        _ => return None,
    })
}
