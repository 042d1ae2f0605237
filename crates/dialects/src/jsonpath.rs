//! JSONPath (RFC 9535): the leading plain steps of a path, and the rest, which needs a search.

use crate::writer::{is_identifier, member_path};
use crate::yaml::YamlNode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonPathStep {
    Key(String),
    /// An index; counted from the end if negative.
    At(i64),
}

/// Plain steps, followed by a part that may select many values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignPath {
    pub(crate) steps: Vec<JsonPathStep>,
    /// The rest as written; empty if all steps are plain.
    pub(crate) rest: String,
}

impl ForeignPath {
    /// Reads a path after its root. An invalid path is kept as written and reported later, when it is read as JSONPath.
    pub(crate) fn behind_root(text: &str) -> Self {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some((step, behind)) = next(rest) {
            steps.push(step);
            rest = behind;
        }
        Self { steps, rest: rest.to_owned() }
    }

    /// Returns the value at the path; `None` if it is missing or if the path needs a search.
    pub(crate) fn find_value<'n>(&self, from: &'n YamlNode) -> Option<&'n YamlNode> {
        if !self.rest.is_empty() {
            return None;
        }
        self.steps.iter().try_fold(from, |node, step| match step {
            JsonPathStep::Key(key) => node.get(key),
            JsonPathStep::At(at) if *at < 0 => {
                node.items().iter().nth_back(usize::try_from(at.unsigned_abs()).ok()?.checked_sub(1)?)
            }
            JsonPathStep::At(at) => node.items().get(usize::try_from(*at).ok()?),
        })
    }
}

fn next(text: &str) -> Option<(JsonPathStep, &str)> {
    if let Some(behind) = text.strip_prefix('.') {
        let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(behind.len());
        let (name, rest) = behind.split_at_checked(end)?;
        let begins = name.chars().next().is_some_and(|first| !first.is_numeric());
        return begins.then(|| (JsonPathStep::Key(name.to_owned()), rest));
    }
    let inside = text.strip_prefix('[')?.trim_start();
    let quote = inside.chars().next()?;
    if matches!(quote, '\'' | '"') {
        let (name, behind) = inside.get(1..)?.split_once(quote)?;
        let rest = behind.trim_start().strip_prefix(']')?;
        return (!name.contains('\\')).then(|| (JsonPathStep::Key(name.to_owned()), rest));
    }
    let (number, rest) = inside.split_once(']')?;
    let number = number.trim_end();
    let plain = number.strip_prefix('-').unwrap_or(number);
    let written = plain == "0" && !number.starts_with('-') || !plain.is_empty() && !plain.starts_with('0');
    (written && plain.bytes().all(|byte| byte.is_ascii_digit())).then_some(())?;
    Some((JsonPathStep::At(number.parse().ok()?), rest))
}

pub(crate) fn steps_text(steps: &[JsonPathStep]) -> String {
    let step = |step: &JsonPathStep| match step {
        JsonPathStep::Key(key) => member_path(key),
        JsonPathStep::At(at) => format!("[{at}]"),
    };
    steps.iter().map(step).collect()
}

pub(crate) fn as_jsonpath(steps: &[JsonPathStep]) -> String {
    let step = |step: &JsonPathStep| match step {
        JsonPathStep::Key(key) if is_identifier(key) => format!(".{key}"),
        JsonPathStep::Key(key) if key.contains('\'') => format!("[\"{key}\"]"),
        JsonPathStep::Key(key) => format!("['{key}']"),
        JsonPathStep::At(at) => format!("[{at}]"),
    };
    steps.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_steps_end_where_a_search_begins() {
        let key = |key: &str| JsonPathStep::Key(key.to_owned());
        let rows = [
            ("", vec![], ""),
            (".response.content[0].text", vec![key("response"), key("content"), JsonPathStep::At(0), key("text")], ""),
            (".a['k y'][\"b\"][-1]", vec![key("a"), key("k y"), key("b"), JsonPathStep::At(-1)], ""),
            (".items[*].id", vec![key("items")], "[*].id"),
            (".items[?@.on == true]", vec![key("items")], "[?@.on == true]"),
            ("..id", vec![], "..id"),
            (".a[01]", vec![key("a")], "[01]"),
            (".a[-0]", vec![key("a")], "[-0]"),
            (".a[1:3]", vec![key("a")], "[1:3]"),
            (".a['x','y']", vec![key("a")], "['x','y']"),
            (".1a", vec![], ".1a"),
        ];
        for (text, steps, rest) in rows {
            assert_eq!(ForeignPath::behind_root(text), ForeignPath { steps, rest: rest.to_owned() }, "{text}");
        }
    }

    #[test]
    fn steps_are_written_in_both_languages() {
        let path = ForeignPath::behind_root(".a['k y'][\"it's\"][-1]");
        assert_eq!(steps_text(&path.steps), r#".a["k y"]["it's"][-1]"#);
        assert_eq!(as_jsonpath(&path.steps), r#".a['k y']["it's"][-1]"#);
    }
}
