//! The file of `--map`: TOML or JSON, for each part of a run a name, or a list of names.

use super::{MapSettings, NamedPart, PartNames, TimeUnit};
use crate::adapt::fields::{TableRow, key_table};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_base::value::json;
use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GivenName {
    pub(super) part: NamedPart,
    pub(super) name: String,
}

const MOST: usize = 100;

impl PartNames {
    /// The names that a file of the user adds, in front of those that are known: TOML or JSON, for each part a name or a list of names.
    ///
    /// # Errors
    /// What is wrong with the file, in words.
    pub fn of_file(text: &str) -> Result<Self, String> {
        let mut given = Vec::new();
        let mut said = MapSettings::default();
        for (part, value) in parse_entries(text)? {
            if said.take_setting(&part, &value)? {
                continue;
            }
            let named = NamedPart::of_word(&part).ok_or_else(|| unknown_part(&part))?;
            given.extend(names_of(&part, value)?.into_iter().map(|name| GivenName { part: named, name }));
        }
        if given.is_empty() && said == MapSettings::default() {
            return Err("the file is empty".to_owned());
        }
        for (number, one) in given.iter().enumerate() {
            if let Some(other) = given.iter().take(number).find(|other| names_clash(one, other)) {
                let (name, part, other) = (&one.name, one.part.map_word(), other.part.map_word());
                return Err(match part == other {
                    true => format!("`{part}` names `{name}` twice"),
                    false => format!("`{name}` cannot be both `{other}` and `{part}`"),
                });
            }
        }
        let mut names = Self::default();
        for one in given.iter().rev() {
            for part in NamedPart::ALL.into_iter().filter(|part| part.is_of_run_only() && one.part.is_of_run_only()) {
                names.change_list(part, |list| list.retain(|name| *name != one.name));
            }
            names.change_list(one.part, |list| {
                list.retain(|name| *name != one.name);
                list.insert(0, Cow::Owned(one.name.clone()));
            });
        }
        names.settings = said;
        Ok(names.with_index(given))
    }
}

key_table! {
    SettingKey {
        TimeUnit = "time_unit",
        DurationUnit = "duration_unit",
        Failed = "failed",
    }
}

impl MapSettings {
    fn take_setting(&mut self, word: &str, value: &Value) -> Result<bool, String> {
        match SettingKey::ALL.iter().find(|beside| beside.key() == word) {
            Some(SettingKey::TimeUnit) => self.time_unit = Some(parse_unit(word, value)?),
            Some(SettingKey::DurationUnit) => self.duration_unit = Some(parse_unit(word, value)?),
            Some(SettingKey::Failed) => self.failed = names_of(word, value.clone())?,
            None => return Ok(false),
        }
        Ok(true)
    }
}

fn parse_unit(word: &str, value: &Value) -> Result<TimeUnit, String> {
    let known = TimeUnit::ALL.into_iter().find(|(name, _)| value.as_str() == Some(name));
    let words = || TimeUnit::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
    known.map(|(_, unit)| unit).ok_or_else(|| format!("`{word}` is no unit: `{value}` is none of {}", words()))
}

fn names_clash(a: &GivenName, b: &GivenName) -> bool {
    let of_run = |one: &GivenName| one.part.is_of_run_only();
    a.name == b.name && of_run(a) == of_run(b)
}

pub(crate) fn parse_entries(text: &str) -> Result<serde_json::Map<String, Value>, String> {
    let table = if text.trim_start().starts_with('{') {
        let arena = bumpalo::Bump::new();
        let document = json::parse(text, 0, &arena, &Limits::default())
            .map_err(|error| format!("it is not JSON: {} ({})", error.message, line_and_column(text, error.offset)))?;
        if let Some(twice) = document.duplicates.first() {
            return Err(format!("`{}` stands there twice", twice.key));
        }
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))
    } else {
        toml::from_str::<toml::Table>(text)
            .map_err(|error| {
                let at = error.span().map(|span| format!(" ({})", line_and_column(text, span.start)));
                format!("it is not TOML: {}{}", error.message(), at.unwrap_or_default())
            })
            .and_then(|table| serde_json::to_value(table).map_err(|error| error.to_string()))
    };
    match table? {
        Value::Object(entries) => Ok(entries),
        _ => Err("it holds no entries".to_owned()),
    }
}

fn line_and_column(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}")
}

fn names_of(part: &str, value: Value) -> Result<Vec<String>, String> {
    let items = match value {
        Value::Array(items) => items,
        Value::Object(_) => {
            return Err(format!("`{part}` holds entries of its own: write a line for each part, without a heading"));
        }
        value => vec![value],
    };
    if items.is_empty() || items.len() > MOST {
        let problem = if items.is_empty() { "no name" } else { "more than 100 names" };
        return Err(format!("`{part}` has {problem}"));
    }
    let name = |item: Value| match item {
        Value::String(name) if name.is_empty() => Err(format!("a name of `{part}` is empty")),
        Value::String(name) => Ok(name),
        other => Err(format!("`{part}` is neither a name nor a list of names: `{other}` is no text")),
    };
    items.into_iter().map(name).collect()
}

fn unknown_part(word: &str) -> String {
    let words: Vec<_> = NamedPart::ALL
        .map(NamedPart::map_word)
        .into_iter()
        .chain(SettingKey::ALL.iter().map(|beside| beside.key()))
        .collect();
    match suggest_name(word, words.iter().copied()) {
        Some(near) => format!("there is no part `{word}`: did you mean `{near}`?"),
        None => format!("there is no part `{word}`: the parts are {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (text, said) in [
            ("", "is empty"),
            ("# nothing\n", "is empty"),
            ("calls = 5", "`5` is no text"),
            ("{\"calls\": null}", "`null` is no text"),
            ("calls = []", "no name"),
            ("calls = [\"\"]", "is empty"),
            ("[calls]\nname = \"x\"", "without a heading"),
            ("tool = \"x\"\ncalls = \"a\" b", "line 2, column 13"),
            ("{\"calls\": \"a\",\n \"tool\" \"b\"}", "line 2, column 9"),
            ("{\"calls\": \"a\", \"calls\": \"b\"}", "stands there twice"),
            ("args = \"x\"\nresult = \"x\"", "cannot be both `args` and `result`"),
            ("tool = [\"x\", \"x\"]", "names `x` twice"),
            ("history = \"x\"", "the parts are calls, tool"),
            ("Calls = \"x\"", "did you mean `calls`?"),
        ] {
            let error = PartNames::of_file(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_of_the_user_is_taken_from_the_part_that_has_it() {
        let names =
            PartNames::of_file("result = \"input\"\nid = \"query\"\noutput = [\"a\", \"b\"]").expect("good names");
        assert_eq!(names.call_part("input"), Some((NamedPart::Result, 0)));
        assert_eq!(names.call_part("args"), Some((NamedPart::Args, 0)));
        assert!(!names.names_of(NamedPart::Input).contains(&"query".into()));
        assert_eq!(names.names_of(NamedPart::Output).iter().take(3).collect::<Vec<_>>(), ["a", "b", "output"]);
    }
}
