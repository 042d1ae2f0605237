//! Labels of a recording, such as `skill=publish,version=1.2`.

use averment_base::diagnostic::render::{holds_steering, one_line};
use averment_report::redact::redact;
use std::collections::BTreeMap;

/// Maximum length in characters.
const LONGEST: usize = 200;

/// Label names and their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct RecordingLabels(BTreeMap<String, String>);

impl RecordingLabels {
    /// Parses the values of `--label`: each is `NAME=VALUE`, or several of those separated by commas.
    ///
    /// # Errors
    /// A message about the first invalid label.
    pub fn parse<'a>(given: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut labels = Self::default();
        for part in given.into_iter().flat_map(|text| text.split(',')) {
            labels.add_label(part)?;
        }
        Ok(labels)
    }

    fn add_label(&mut self, part: &str) -> Result<(), String> {
        let shown = one_line(part).into_owned();
        let Some((name, value)) = part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            return Err(format!("`{shown}` is no `NAME=VALUE`; a comma begins the next label"));
        };
        if name.is_empty() || !name.chars().all(|one| one.is_alphanumeric() || "_-.".contains(one)) {
            return Err(format!("`{shown}` has no name of letters, digits, `_`, `-` and `.` in front of its `=`"));
        }
        if value.is_empty() || holds_steering(value) || value.contains(char::is_control) {
            return Err(format!("`{shown}` has no value of plain text behind its `=`"));
        }
        if name.chars().count().max(value.chars().count()) > LONGEST {
            return Err(format!(
                "the label `{}` is longer than {LONGEST} characters",
                shown.chars().take(40).collect::<String>()
            ));
        }
        let value = redact(value).into_owned();
        match self.0.insert(name.to_owned(), value.clone()) {
            Some(other) if other != value => Err(format!("`{name}` is given twice: as `{other}` and as `{value}`")),
            _ => Ok(()),
        }
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns true if all labels in `wanted` are present with the same values.
    #[must_use]
    pub fn contains_all(&self, wanted: &Self) -> bool {
        wanted.0.iter().all(|(name, value)| self.0.get(name) == Some(value))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Formats the labels: `skill=publish, version=1.2`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(", ")
    }

    pub(crate) fn take_label(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }
}

#[cfg(test)]
mod tests {
    use super::RecordingLabels;

    #[test]
    fn labels_are_pairs_with_commas() {
        let labels = RecordingLabels::parse(["skill=publish,version=1.2", "query=a=b"]).unwrap();
        assert_eq!(labels.in_words(), "query=a=b, skill=publish, version=1.2");
        assert!(labels.contains_all(&RecordingLabels::parse(["version=1.2"]).unwrap()));
        assert!(!labels.contains_all(&RecordingLabels::parse(["version=1.3"]).unwrap()));
    }

    #[test]
    fn what_is_no_label_is_said() {
        let said = |text: &str| RecordingLabels::parse([text]).unwrap_err();
        for (text, part) in [
            ("skill", "is no `NAME=VALUE`"),
            ("note=a,b", "`b` is no `NAME=VALUE`; a comma begins"),
            ("=a", "has no name"),
            ("a b=c", "has no name"),
            ("a=", "has no value"),
            ("a=\u{1b}[31m", "has no value of plain text"),
            ("a=x\u{202e}y", "has no value of plain text"),
            ("a=1,a=2", "`a` is given twice"),
            ("", "is no `NAME=VALUE`"),
        ] {
            assert!(said(text).contains(part), "{text:?}: {}", said(text));
            assert!(!said(text).contains('\u{1b}'), "{text:?}");
        }
        assert!(said(&format!("a={}", "x".repeat(300))).contains("longer than 200"));
    }
}
