//! How the cases of a suite are run: its settings, workspace and runners, as they were written and checked one by one.

use averment_base::source::Span;

/// A suite as something that is run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuitePlan {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Its own settings.
    pub settings: SessionSettings,
    /// `workspace MODE {…}`: the mode and its place, and the settings.
    pub workspace: Option<(String, Span, SessionSettings)>,
    /// `runner NAME {…}`: the name and its place, and the settings.
    pub runners: Vec<(String, Span, SessionSettings)>,
    /// Its cases.
    pub cases: Vec<CasePlan>,
}

/// A case as something that is run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CasePlan {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The prompt for the agent.
    pub prompt: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its own settings.
    pub settings: SessionSettings,
}

/// SessionSettings in the order in which they were written, each once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSettings(pub Vec<SettingValue>);

/// A setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingValue {
    /// Its key.
    pub key: String,
    /// The value.
    pub value: SettingContent,
    /// `timeout` behind it, in milliseconds.
    pub timeout: Option<u64>,
    /// Where the key stands.
    pub span: Span,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingContent {
    /// A text or a word.
    Text(String),
    /// Words of a command, one by one, or names.
    Words(Vec<String>),
    /// A time in milliseconds.
    Time(u64),
    /// A whole number.
    Count(u64),
    /// Names with their values.
    Pairs(Vec<(String, String)>),
}

impl SessionSettings {
    /// A setting by its key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&SettingValue> {
        self.0.iter().find(|one| one.key == key)
    }

    /// A text.
    #[must_use]
    pub fn text_value(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            SettingContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A time in milliseconds.
    #[must_use]
    pub fn time_value(&self, key: &str) -> Option<u64> {
        match self.get(key)?.value {
            SettingContent::Time(time) => Some(time),
            _ => None,
        }
    }

    /// A whole number.
    #[must_use]
    pub fn count_value(&self, key: &str) -> Option<u64> {
        match self.get(key)?.value {
            SettingContent::Count(count) => Some(count),
            _ => None,
        }
    }

    /// Words, or names.
    #[must_use]
    pub fn word_list(&self, key: &str) -> &[String] {
        match self.get(key).map(|one| &one.value) {
            Some(SettingContent::Words(words)) => words,
            _ => &[],
        }
    }

    /// Names with their values.
    #[must_use]
    pub fn name_pairs(&self, key: &str) -> &[(String, String)] {
        match self.get(key).map(|one| &one.value) {
            Some(SettingContent::Pairs(pairs)) => pairs,
            _ => &[],
        }
    }
}
