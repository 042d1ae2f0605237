//! What came nearest to a test that does not hold, or what a negated one found: words for its reason, behind the values.
//!
//! Only what the values alone do not show is said: which elements are lacking, where in a long text something stands, that nothing but the
//! letter case differs. Nothing is quoted but what the rule itself says and whole words of the run.

use super::fault::Fault;
use super::machine::Machine;
use super::why::describe::shorten_text;
use averment_base::limits::{FuelMeter, Limits};
use averment_base::value::json::{json_start, parse};
use averment_base::value::{Node, Number, Value};
use averment_builtins::detect::redacted_end;
use averment_builtins::missing_reason::not_json;
use averment_builtins::other_spelling::{OtherSpelling, is_same_path};
use averment_builtins::schema::{CompiledSchema, SchemaViolation};
use averment_builtins::test;
use averment_syntax::ast::TestKind;
use bumpalo::Bump;

pub(super) enum MisfitReason {
    Said(&'static str),
    /// Only what stands inside of other JSON fits.
    Within,
    Inside(SchemaViolation),
    InText(SchemaViolation),
    /// In the first JSON inside a text, at this character (from 1).
    Nearest(SchemaViolation, usize),
}

/// Shorter texts are shown whole, so the position of a match is visible.
const LONG: usize = 80;
/// Elements named.
const NAMED: usize = 3;
/// Elements compared again.
const ELEMENTS: usize = 10_000;
/// Bytes of a text that is searched again.
const LARGEST: usize = 1 << 20;

impl<'run> Machine<'run> {
    pub(super) fn nearest_to(
        &self,
        kind: TestKind,
        holds: bool,
        subject: &Value<'run>,
        operand: &Value<'run>,
    ) -> Option<String> {
        match (kind, holds) {
            (TestKind::ContainsAll, false) => {
                self.elements_text(subject, operand, false).map(|names| format!("it lacks {names}"))
            }
            (TestKind::ContainsAny, true) => {
                self.elements_text(subject, operand, true).map(|names| format!("it holds {names}"))
            }
            (TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::Matches, true) => {
                self.found_text(kind, subject, operand)
            }
            (TestKind::Contains, false) => contained_otherwise(subject, operand),
            (TestKind::In, false) if matches!(operand, Value::List(_)) => contained_otherwise(operand, subject),
            (TestKind::Equal | TestKind::Identical, false) => equal_otherwise(subject, operand),
            (TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual, false) => {
                match (subject, operand) {
                    (Value::Number(left), Value::Number(right)) => nearly_equal_text(*left, *right),
                    _ => None,
                }
            }
            (TestKind::StartsWith | TestKind::EndsWith, false) => ends_otherwise(kind, subject, operand),
            _ => None,
        }
    }

    pub(super) fn nearest_json(
        &mut self,
        schema: &CompiledSchema,
        subject: &Value<'run>,
    ) -> Result<MisfitReason, Fault> {
        let none = MisfitReason::Said("no JSON in the text fits the schema");
        let (true, Value::Text(text)) = (self.observer.is_explaining(), subject) else { return Ok(none) };
        let first = test::contains_json(subject, None, &self.limits, &mut self.meter)?.flatten();
        let Some(range) = first else { return Ok(MisfitReason::Said("there is no JSON in the text")) };
        let arena = Bump::new();
        let found = text.as_str().get(range.clone()).unwrap_or_default();
        let Ok(document) = parse(found, 0, &arena, &self.limits) else { return Ok(none) };
        schema.charge_check(&document.node.value, &mut self.meter)?;
        Ok(match schema.check_value(&document.node.value) {
            Err(violation) => MisfitReason::Nearest(violation, char_position(text.as_str(), range.start)),
            Ok(()) => none,
        })
    }

    fn elements_text(&self, subject: &Value<'run>, operand: &Value<'run>, contained: bool) -> Option<String> {
        let Value::List(wanted) = operand else { return None };
        let mut meter = FuelMeter::new(&self.limits);
        let mut names = Vec::new();
        for item in *wanted {
            let found = match (subject, &item.value) {
                (_, Value::Missing | Value::Absent) => continue,
                (Value::Text(text), Value::Regex(number)) => {
                    self.prepared.regex_matcher(*number)?.is_match(text.as_str(), &mut meter).ok()?
                }
                (subject, wanted) => test::contains(subject, wanted, &mut meter).ok()?.unwrap_or(false),
            };
            if found == contained {
                names.push(self.element_text(item));
            }
        }
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
    }

    fn element_text(&self, item: &Node<'run>) -> String {
        match item.value {
            Value::Regex(number) => {
                self.program.regexes.get(number as usize).map_or_else(String::new, |regex| regex.text.clone())
            }
            ref value => shorten_text(&json_start(value)),
        }
    }

    fn found_text(&self, kind: TestKind, subject: &Value<'run>, operand: &Value<'run>) -> Option<String> {
        let Value::Text(text) = subject else { return None };
        let text = text.as_str();
        if text.len() < LONG || text.len() > LARGEST {
            return None;
        }
        let start = match operand {
            Value::Text(part) if kind == TestKind::ContainsIgnoringCase => {
                let (text, part) = (text.to_lowercase(), part.as_str().to_lowercase());
                return text.find(&part).map(|at| format!("it stands at character {}", char_position(&text, at)));
            }
            Value::Text(part) => text.find(part.as_str())?,
            Value::Regex(number) => {
                self.prepared.regex_matcher(*number)?.find(text, &mut FuelMeter::new(&self.limits)).ok()??
            }
            _ => return None,
        };
        Some(format!("it stands at character {}", char_position(text, start)))
    }
}

pub(super) fn json_text(kind: TestKind, subject: &Value<'_>, limits: &Limits) -> Option<String> {
    let Value::Text(text) = subject else { return None };
    if text.as_str().len() > LARGEST || limits.computed_bytes < LARGEST {
        return None;
    }
    let said = |words: String| words.strip_prefix("is ").map(|words| format!("it is {words}"));
    match kind {
        TestKind::IsJson => not_json(subject).and_then(said),
        TestKind::ContainsJson if !text.as_str().contains(['{', '[']) => {
            Some("there is no `{` and no `[` in it".to_owned())
        }
        _ => None,
    }
}

/// The character position of a byte offset, from 1.
fn char_position(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.chars().count()) + 1
}

fn text_sides<'a>(subject: &'a Value<'_>, operand: &'a Value<'_>) -> Option<(&'a str, &'a str)> {
    let (Value::Text(left), Value::Text(right)) = (subject, operand) else { return None };
    (left.as_str().len() <= LARGEST && right.as_str().len() <= LARGEST).then(|| (left.as_str(), right.as_str()))
}

fn contained_otherwise(subject: &Value<'_>, wanted: &Value<'_>) -> Option<String> {
    if let Some((text, part)) = text_sides(subject, wanted) {
        let lower = text.to_lowercase();
        let at = lower.find(&part.to_lowercase())?;
        let place =
            if text.len() < LONG { String::new() } else { format!(" at character {}", char_position(&lower, at)) };
        return Some(format!("it stands there{place} in another letter case"));
    }
    let Value::List(items) = subject else { return None };
    let short = |value: &Value<'_>| !matches!(value, Value::Text(text) if text.as_str().len() > LONG);
    items
        .iter()
        .take(ELEMENTS)
        .filter(|item| short(&item.value))
        .find_map(|item| equal_otherwise(&item.value, wanted))
        .map(|words| format!("for one element {words}"))
}

pub(super) fn equal_otherwise(left: &Value<'_>, right: &Value<'_>) -> Option<String> {
    let spelled = |text: &Value<'_>, number: &Value<'_>| match (text, number) {
        (Value::Text(text), Value::Number(number)) => number.is_spelled(text.as_str()),
        _ => false,
    };
    if let (Value::Number(left), Value::Number(right)) = (left, right) {
        return nearly_equal_text(*left, *right);
    }
    if spelled(left, right) || spelled(right, left) {
        return Some("one is a text, the other a number".to_owned());
    }
    let (left, right) = text_sides(left, right)?;
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if left.to_lowercase() == right.to_lowercase() {
        return Some("only the letter case differs".to_owned());
    }
    if folded(left) == folded(right) {
        return Some("only white space differs".to_owned());
    }
    if is_same_path(left, right) {
        return Some(OtherSpelling::SamePath.in_words().to_owned());
    }
    if left.len().min(right.len()) < LONG {
        return None;
    }
    let same = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    (same > 0).then(|| format!("they differ from character {} on", same + 1))
}

/// Numbers that differ only in the last digits, by floating-point error.
fn nearly_equal_text(left: Number<'_>, right: Number<'_>) -> Option<String> {
    const LAST_DIGITS: f64 = 1e-12;
    let (a, b) = (left.to_f64(), right.to_f64());
    let computed = matches!(left, Number::Real(_)) || matches!(right, Number::Real(_));
    let close = left != right && (a - b).abs() <= LAST_DIGITS * a.abs().max(b.abs());
    (computed && close).then(|| format!("{left} was compared with {right}, fractions are computed in doubles"))
}

/// The hidden end of a long text, or a note that only the case differs.
fn ends_otherwise(kind: TestKind, subject: &Value<'_>, operand: &Value<'_>) -> Option<String> {
    const SHOWN: usize = 40;
    let (text, wanted) = text_sides(subject, operand)?;
    let (lower, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    let otherwise = match kind {
        TestKind::StartsWith => lower.starts_with(&wanted),
        _ => lower.ends_with(&wanted),
    };
    if otherwise {
        return Some("only the letter case differs".to_owned());
    }
    let long = kind == TestKind::EndsWith && text.chars().nth(LONG).is_some();
    long.then(|| format!("it ends with …{}", serde_json::to_string(&redacted_end(text, SHOWN)).unwrap_or_default()))
}
