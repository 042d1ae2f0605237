//! The keyword `pattern` of JSON Schema: regular expressions of ECMA-262, which may have lookaround and backreferences.
//!
//! If a pattern of a schema cannot be matched in linear time, all its patterns are matched by [`crate::backtrack`]. The library passes no meter to
//! keywords, so the meter is thread-local.

use super::{RunJson, SchemaInstance};
use crate::backtrack::BacktrackRegex;
use averment_base::limits::{FuelMeter, Limits};
use jsonschema::json::Node;
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};
use std::cell::RefCell;

thread_local! {
    static METER: RefCell<Option<PatternMeter>> = const { RefCell::new(None) };
}

struct PatternMeter {
    meter: FuelMeter,
    /// True if a search ended without an answer.
    ended: bool,
}

/// The work of the patterns in a check.
pub(super) struct PatternWork {
    pub(super) fuel: u64,
    /// True if a search ended without an answer, so that the result of the check is invalid.
    pub(super) ended: bool,
}

/// Runs `work` with this fuel limit for patterns.
pub(super) fn with_pattern_fuel(fuel: u64, work: impl FnOnce()) -> PatternWork {
    let outer = METER.replace(Some(PatternMeter { meter: fuel_meter(fuel), ended: false }));
    work();
    let done = METER.replace(outer);
    done.map_or(PatternWork { fuel: 0, ended: true }, |done| PatternWork {
        fuel: done.meter.fuel_used(),
        ended: done.ended,
    })
}

fn fuel_meter(fuel: u64) -> FuelMeter {
    FuelMeter::new(&Limits { fuel, run_fuel: u64::MAX, ..Limits::default() })
}

struct EcmaPattern {
    pattern: String,
    regex: BacktrackRegex,
}

impl EcmaPattern {
    fn is_found(&self, instance: &SchemaInstance<'_>) -> bool {
        let Some(text) = instance.as_string() else { return true };
        METER.with_borrow_mut(|metered| match metered {
            Some(own) => {
                let found = self.regex.find(0, &text, &mut own.meter);
                own.ended |= found.is_err();
                found.is_ok_and(|found| found.is_some())
            }
            // The cost was paid before the check.
            None => self.regex.find(0, &text, &mut fuel_meter(u64::MAX)).is_ok_and(|found| found.is_some()),
        })
    }
}

impl<'i> Keyword<'i, RunJson> for EcmaPattern {
    fn validate(&self, instance: SchemaInstance<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_found(&instance) {
            return Ok(());
        }
        let (text, pattern) = (instance.to_value().to_string(), Value::String(self.pattern.clone()));
        Err(ValidationError::custom(format!("{text} does not match {pattern}")))
    }

    fn is_valid(&self, instance: SchemaInstance<'i>) -> bool {
        self.is_found(&instance)
    }
}

pub(super) fn pattern_keyword<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, RunJson>>, ValidationError<'a>> {
    let pattern = value.as_str().unwrap_or_default().to_owned();
    match BacktrackRegex::new(&translate_ecma(&pattern)) {
        Ok(regex) => Ok(Box::new(EcmaPattern { pattern, regex })),
        Err(why) => Err(ValidationError::custom(format!("`{pattern}` is no regular expression: {why}"))),
    }
}

/// Translates a pattern to the syntax of this crate: classes are ASCII only, and `&` and `~` in sets are literal.
fn translate_ecma(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let (mut letters, mut in_set) = (pattern.chars().peekable(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(class) => out.push_str(&translate_escape(class, in_set)),
                None => out.push('\\'),
            },
            '[' if in_set => out.push_str("\\["),
            '[' => {
                in_set = true;
                out.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            ']' if in_set => {
                in_set = false;
                out.push(']');
            }
            // Would be set operations in the other syntax.
            '&' | '~' if in_set => {
                out.push('\\');
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}

fn translate_escape(class: char, in_set: bool) -> String {
    const SPACE: &str = r"\t\n\v\f\r\x20\u{A0}\u{FEFF}\u{2028}\u{2029}\p{Zs}";
    let members = match class.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => SPACE,
        _ => {
            return match class {
                'b' if in_set => r"\x08".to_owned(),
                'b' => r"(?-u:\b)".to_owned(),
                'B' => r"(?-u:\B)".to_owned(),
                '/' => "/".to_owned(),
                other => format!("\\{other}"),
            };
        }
    };
    match (class.is_ascii_uppercase(), in_set) {
        (true, _) => format!("[^{members}]"),
        (false, true) => members.to_owned(),
        (false, false) => format!("[{members}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_searched_as_ecma_says() {
        let found = |pattern: &str, text: &str| {
            let regex = BacktrackRegex::new(&translate_ecma(pattern)).unwrap();
            regex.find(0, text, &mut FuelMeter::new(&Limits::default())).unwrap().is_some()
        };
        for (pattern, yes, no) in [
            (r"^(?!.*\.\.)[\w/]+$", "a/b", "a/../b"),
            (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abc1", "abcd"),
            (r"^(a|b)\1$", "aa", "ab"),
            (r"(?<!\w)rm\b", "x rm", "xrm"),
            (r"^(?=x)[[\]&&~]|x\/y$", "x/y", "é"),
            (r"^(?=.)\d$", "7", "٣"),
            (r"^(?=.)[^\W\d]$", "a", "1"),
            (r"^(?<q>['\x22])a\k<q>$", "'a'", "'a\""),
        ] {
            assert!(found(pattern, yes), "{pattern} {yes}");
            assert!(!found(pattern, no), "{pattern} {no}");
        }
    }
}
