//! Assertion types about the answer.

use crate::Lowering;
use crate::regex_flavour::{UnusableRegex, translate_javascript};
use crate::writer::quote_text;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// The score of an assertion, as an expression.
#[derive(Debug, Clone)]
pub(super) enum GraderScore {
    /// A condition: the score is 1 if it holds, otherwise 0.
    Truth(String),
    /// An expression with a score between 0 and 1.
    Share(String),
    /// A run cannot decide it; the text says why.
    Elsewhere(String),
}

impl GraderScore {
    /// Returns the score as a numeric expression.
    pub(super) fn number(&self) -> Option<String> {
        match self {
            Self::Truth(truth) => Some(format!("(if {truth} then 1 else 0)")),
            Self::Share(share) => Some(format!("({share})")),
            Self::Elsewhere(_) => None,
        }
    }

    /// Returns a condition that holds if the score is at least `least`.
    pub(super) fn at_least(&self, least: f64) -> String {
        match self {
            Self::Truth(truth) if least > 0.0 => truth.clone(),
            Self::Truth(truth) => format!("({truth}) in [true, false]"),
            Self::Share(share) => format!("({share}) >= {least}"),
            Self::Elsewhere(why) => format!("undecided({})", quote_text(why)),
        }
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::Truth(truth) => Self::Truth(format!("not ({truth})")),
            Self::Share(share) => Self::Share(format!("1 - ({share})")),
            other => other,
        }
    }
}

/// An assertion whose value has its templates filled in.
pub(super) struct GraderInput<'a> {
    pub(super) node: &'a YamlNode,
    pub(super) kind: &'a str,
    /// True if the type was written in its negated form.
    pub(super) negated: bool,
    pub(super) value: Option<YamlNode>,
}

/// Writes an assertion; returns `None` if it is unusable, which was reported.
pub(super) type LowerGrader = fn(&GraderInput<'_>, &mut Lowering<'_>) -> Option<GraderScore>;

pub(super) const TEXT_KINDS: &[(&str, LowerGrader)] = &[
    ("contains", |one, lowering| {
        one.text(lowering).map(|text| truth(format!("answer contains {}", quote_text(&text))))
    }),
    ("icontains", |one, lowering| one.text(lowering).map(|text| truth(folded_test(&text)))),
    ("contains-any", |one, lowering| several(one, "any", lowering)),
    ("contains-all", |one, lowering| several(one, "all", lowering)),
    ("icontains-any", |one, lowering| folded_several(one, " or ", lowering)),
    ("icontains-all", |one, lowering| folded_several(one, " and ", lowering)),
    ("starts-with", |one, lowering| trimmed(one, "starts with", lowering)),
    ("ends-with", |one, lowering| trimmed(one, "ends with", lowering)),
    ("equals", |one, lowering| trimmed(one, "==", lowering)),
    ("regex", regex),
    ("is-json", |_, _| Some(truth("answer is json".to_owned()))),
];

/// Wraps a condition as a score of 1 or 0.
pub(super) fn truth(expression: String) -> GraderScore {
    GraderScore::Truth(expression)
}

impl GraderInput<'_> {
    /// Reports which kind of value was expected in `value`.
    pub(super) fn wrong_value<T>(&self, wanted: &str, lowering: &mut Lowering<'_>) -> Option<T> {
        let what = match self.value.as_ref() {
            None => "no value",
            Some(value) if value.as_text() == Some("") => "an empty text",
            Some(value) => value.kind_name(),
        };
        let place = self.node.get("value").map_or(self.node.span, |value| value.span);
        let message = format!("`{}` has {what}", self.kind);
        lowering.sink.error(Slug::TypeMismatch, place, message, format!("write {wanted} behind `value`"));
        None
    }

    fn text(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        match self.value.as_ref().and_then(YamlNode::as_text).filter(|text| !text.is_empty()) {
            Some(text) => Some(text.to_owned()),
            None => self.wrong_value("a text that is not empty", lowering),
        }
    }

    fn texts(&self, lowering: &mut Lowering<'_>) -> Option<Vec<String>> {
        let items = self.value.as_ref().map(YamlNode::items).unwrap_or_default();
        let texts: Option<Vec<String>> = items.iter().map(|item| item.as_text().map(str::to_owned)).collect();
        match texts.filter(|texts| !texts.is_empty() && texts.iter().all(|text| !text.is_empty())) {
            Some(texts) => Some(texts),
            None => self.wrong_value("a list of texts that are not empty", lowering),
        }
    }
}

fn folded_test(text: &str) -> String {
    format!("lower(answer) contains {}", quote_text(&text.to_lowercase()))
}

fn several(one: &GraderInput<'_>, word: &str, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let texts: Vec<String> = one.texts(lowering)?.iter().map(|text| quote_text(text)).collect();
    Some(truth(format!("answer contains {word} [{}]", texts.join(", "))))
}

fn folded_several(one: &GraderInput<'_>, word: &str, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let texts: Vec<String> = one.texts(lowering)?.iter().map(|text| folded_test(text)).collect();
    Some(truth(texts.join(word)))
}

/// Writes a test that ignores white space at both ends of the answer and of the text.
fn trimmed(one: &GraderInput<'_>, test: &str, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let text = one.text(lowering)?;
    let text = text.trim();
    if text.is_empty() && test != "==" {
        return one.wrong_value("a text with more than white space", lowering);
    }
    Some(truth(format!("trim(answer) {test} {}", quote_text(text))))
}

fn regex(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let pattern = one.text(lowering)?;
    let flags = lowering.sink.optional_text(one.node, "flags", "an assertion").unwrap_or_default().to_owned();
    let place = one.node.get("value").map_or(one.node.span, |value| value.span);
    if flags.contains('y') {
        let place = one.node.get("flags").map_or(place, |flags| flags.span);
        let message = "the flag `y` looks at the start of the answer alone";
        lowering.sink.error(Slug::BadRegex, place, message, "write `^` at the start of the expression");
        return None;
    }
    // The flag `g` makes no difference because only one match is needed.
    match translate_javascript(&pattern, &flags.replace('g', "")) {
        Ok(literal) => Some(truth(format!("answer matches {}", literal.text))),
        Err(UnusableRegex { at, why }) => {
            let message = format!("`{pattern}` is no regular expression of JavaScript: {why}, from byte {at} on");
            lowering.sink.error(Slug::BadRegex, place, message, "fix the expression");
            None
        }
    }
}

/// Reads the number at a key within bounds. The outer `None` means that the value is not such a number, which was reported.
pub(super) fn number_from(
    node: &YamlNode,
    key: &str,
    least: f64,
    most: f64,
    lowering: &mut Lowering<'_>,
) -> Option<Option<f64>> {
    let Some(value) = node.get(key).filter(|value| !value.is_null()) else { return Some(None) };
    let number = value.as_number().and_then(|number| number.parse::<f64>().ok());
    match number.filter(|number| number.is_finite() && (least..=most).contains(number)) {
        Some(number) => Some(Some(number)),
        None => {
            let wanted = if most < f64::MAX {
                format!("a number from {least} to {most}")
            } else {
                format!("a number from {least} on")
            };
            lowering.sink.wrong_shape(value, &format!("`{key}`"), &wanted);
            None
        }
    }
}
