//! Matchers of texts, and of commands and their parts.

use super::program::SuiteProgram;
use super::text_units::{BEYOND_UNITS, COUNTS_HALVES};
use super::value::{JsValue, LocatedValue, open_value};
use crate::regex_flavour::HalvesSeen;
use crate::writer::quote_text;
use averment_base::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextMatch {
    Part,
    Whole,
}

const PARTS: [&str; 6] = ["executable", "positionals", "options", "endOfOptions", "exact", "strict"];

pub(super) fn begin_matcher(executable: Option<&LocatedValue>) -> Vec<(String, LocatedValue)> {
    executable.map(|item| ("executable".to_owned(), item.clone())).into_iter().collect()
}

pub(super) fn extend_matcher(
    mut entries: Vec<(String, LocatedValue)>,
    name: &str,
    arguments: &[LocatedValue],
) -> JsValue {
    let span = arguments.first().map_or_else(Span::default, |item| item.span);
    let yes = || LocatedValue::new(JsValue::Bool(true), span);
    match (name, arguments) {
        ("build", []) => return JsValue::Object(entries),
        ("executable", [item]) => put_entry(&mut entries, "executable", item.clone()),
        ("arg" | "args", items) => {
            let mut all = match find_entry(&entries, "positionals") {
                Some(LocatedValue { value: JsValue::List(known), .. }) => known.clone(),
                _ => Vec::new(),
            };
            all.extend(items.iter().cloned());
            put_entry(&mut entries, "positionals", LocatedValue::new(JsValue::List(all), span));
        }
        ("option" | "flag", [option, rest @ ..]) => {
            let Some(option) = option.as_text() else {
                return open_value("an option that only a running program shows");
            };
            let value = rest.first().filter(|_| name == "option").cloned().unwrap_or_else(yes);
            let mut options = find_entry(&entries, "options").map(|item| item.entries().to_vec()).unwrap_or_default();
            let mut values = match find_entry(&options, option).map(|item| &item.value) {
                Some(JsValue::List(known)) => known.clone(),
                _ => Vec::new(),
            };
            values.push(value);
            put_entry(&mut options, option, LocatedValue::new(JsValue::List(values), span));
            put_entry(&mut entries, "options", LocatedValue::new(JsValue::Object(options), span));
        }
        ("endOfOptions", _) => put_entry(&mut entries, "endOfOptions", arguments.first().cloned().unwrap_or_else(yes)),
        ("exact" | "strict", _) => put_entry(&mut entries, "strict", yes()),
        _ => return JsValue::RuntimeOnly(format!("what `{name}` gives of a matcher")),
    }
    JsValue::Builder(entries)
}

fn find_entry<'a>(entries: &'a [(String, LocatedValue)], name: &str) -> Option<&'a LocatedValue> {
    entries.iter().find(|(known, _)| known == name).map(|(_, item)| item)
}

fn put_entry(entries: &mut Vec<(String, LocatedValue)>, name: &str, item: LocatedValue) {
    match entries.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = item,
        None => entries.push((name.to_owned(), item)),
    }
}

impl SuiteProgram<'_, '_> {
    /// Writes a text test; reports an invalid matcher.
    pub(super) fn text_test(&mut self, subject: &str, matcher: &LocatedValue, asks: TextMatch) -> Option<String> {
        match (&matcher.value, asks) {
            (JsValue::Text(text), TextMatch::Part) => Some(format!("{subject} contains {}", quote_text(text))),
            (JsValue::Text(text), TextMatch::Whole) => Some(format!("{subject} == {}", quote_text(text))),
            (JsValue::Regex { .. }, _) => {
                let literal = self.regex_literal(matcher)?;
                self.backtracks |= literal.backtracks;
                let test = format!("{subject} matches {}", literal.text);
                Some(match literal.halves {
                    HalvesSeen::Within => {
                        let why = quote_text(COUNTS_HALVES);
                        format!("(if {subject} not matches {BEYOND_UNITS} then {test} else undecided({why}))")
                    }
                    HalvesSeen::Never | HalvesSeen::AtEnds => test,
                })
            }
            _ => {
                self.record_unread(matcher.span, "a matcher that only a running program shows");
                None
            }
        }
    }

    pub(super) fn command_test(&mut self, subject: &str, matcher: &LocatedValue) -> Option<String> {
        let entries = match &matcher.value {
            JsValue::Object(entries) | JsValue::Builder(entries) => entries.clone(),
            _ => return self.text_test(subject, matcher, TextMatch::Part),
        };
        if let Some((name, item)) = entries.iter().find(|(name, _)| !PARTS.contains(&name.as_str())) {
            self.record_unread(item.span, &format!("`{name}` of a matcher of commands"));
            return None;
        }
        let parsed = format!("parse_command({subject})");
        let is = |name: &str| matches!(find_entry(&entries, name).map(|item| &item.value), Some(JsValue::Bool(true)));
        let strict = is("strict") || is("exact");
        let mut tests = vec![format!("{subject} exists")];
        if let Some(executable) = find_entry(&entries, "executable").filter(|item| !item.is_nullish()) {
            tests.push(self.text_test(&format!("{parsed}.executable"), executable, TextMatch::Whole)?);
        }
        tests.extend(self.positional_tests(&parsed, find_entry(&entries, "positionals"), strict)?);
        tests.extend(self.option_tests(&parsed, find_entry(&entries, "options"), strict)?);
        if let Some(JsValue::Bool(end)) = find_entry(&entries, "endOfOptions").map(|item| &item.value) {
            tests.push(format!("{parsed}.end_of_options == {end}"));
        }
        Some(tests.join(" and "))
    }

    fn positional_tests(&mut self, parsed: &str, wanted: Option<&LocatedValue>, strict: bool) -> Option<Vec<String>> {
        let wanted = self.optional_items(wanted)?;
        let mut tests = Vec::new();
        if strict {
            for (at, matcher) in wanted.iter().enumerate() {
                tests.push(self.text_test(&format!("{parsed}.positionals[{at}]"), matcher, TextMatch::Whole)?);
            }
            tests.push(format!("length({parsed}.positionals) == {}", wanted.len()));
        } else if !wanted.is_empty() {
            let mut literals = Vec::new();
            for matcher in &wanted {
                literals.push(match &matcher.value {
                    JsValue::Text(text) => quote_text(text),
                    _ => {
                        let literal = self.regex_literal(matcher)?;
                        if literal.halves == HalvesSeen::Within {
                            self.record_unread(matcher.span, COUNTS_HALVES);
                            return None;
                        }
                        self.backtracks |= literal.backtracks;
                        literal.text
                    }
                });
            }
            tests.push(format!("contains_in_order({parsed}.positionals, [{}])", literals.join(", ")));
        }
        Some(tests)
    }

    fn option_tests(&mut self, parsed: &str, wanted: Option<&LocatedValue>, strict: bool) -> Option<Vec<String>> {
        let wanted = wanted.map(|item| item.entries().to_vec()).unwrap_or_default();
        let mut tests = Vec::new();
        for (name, values) in &wanted {
            let values = match &values.value {
                JsValue::List(values) => values.clone(),
                _ => vec![values.clone()],
            };
            let observed = format!("{parsed}.options[{}]", quote_text(name));
            tests.push(format!("{observed} exists"));
            let mut asked = Vec::new();
            for value in &values {
                asked.push(match &value.value {
                    JsValue::Bool(true) => "value == true".to_owned(),
                    _ => self.text_test("value", value, TextMatch::Whole)?,
                });
            }
            for test in &asked {
                let same = asked.iter().filter(|other| *other == test).count();
                let counted = format!("(count value in {observed}: {test}) >= {same}");
                if !tests.contains(&counted) {
                    tests.push(counted);
                }
            }
            if strict {
                tests.push(format!("length({observed}) == {}", values.len()));
            }
        }
        if strict {
            tests.push(format!("length({parsed}.options) == {}", wanted.len()));
        }
        Some(tests)
    }

    /// Returns the items of an optional list.
    pub(super) fn optional_items(&mut self, list: Option<&LocatedValue>) -> Option<Vec<LocatedValue>> {
        match list.map(|list| (&list.value, list.span)) {
            None | Some((JsValue::Undefined, _)) => Some(Vec::new()),
            Some((JsValue::List(items), _)) => Some(items.clone()),
            Some((_, span)) => {
                self.record_unread(span, "a list that only a running program shows");
                None
            }
        }
    }
}
