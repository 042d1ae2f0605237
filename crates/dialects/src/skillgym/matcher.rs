//! Matchers: of texts, and of commands in parts.

use super::program::Program;
use super::value::{Item, Value, open};
use crate::writer::quoted;
use averment_base::source::Span;

/// What a matcher asks of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// That it holds the string.
    Part,
    /// That it is the string.
    Whole,
}

/// The parts of a structured matcher of commands.
const PARTS: [&str; 6] = ["executable", "positionals", "options", "endOfOptions", "exact", "strict"];

/// `commandMatcher(executable)`.
pub(super) fn begun(executable: Option<&Item>) -> Vec<(String, Item)> {
    executable.map(|item| ("executable".to_owned(), item.clone())).into_iter().collect()
}

/// A method of the builder of matchers.
pub(super) fn built(mut entries: Vec<(String, Item)>, name: &str, arguments: &[Item]) -> Value {
    let span = arguments.first().map_or_else(Span::default, |item| item.span);
    let yes = || Item::new(Value::Bool(true), span);
    match (name, arguments) {
        ("build", []) => return Value::Object(entries),
        ("executable", [item]) => put(&mut entries, "executable", item.clone()),
        ("arg" | "args", items) => {
            let mut all = match find(&entries, "positionals") {
                Some(Item { value: Value::List(known), .. }) => known.clone(),
                _ => Vec::new(),
            };
            all.extend(items.iter().cloned());
            put(&mut entries, "positionals", Item::new(Value::List(all), span));
        }
        ("option" | "flag", [option, rest @ ..]) => {
            let Some(option) = option.text() else { return open("an option that only a running program shows") };
            let value = rest.first().filter(|_| name == "option").cloned().unwrap_or_else(yes);
            let mut options = find(&entries, "options").map(|item| item.entries().to_vec()).unwrap_or_default();
            let mut values = match find(&options, option).map(|item| &item.value) {
                Some(Value::List(known)) => known.clone(),
                _ => Vec::new(),
            };
            values.push(value);
            put(&mut options, option, Item::new(Value::List(values), span));
            put(&mut entries, "options", Item::new(Value::Object(options), span));
        }
        ("endOfOptions", _) => put(&mut entries, "endOfOptions", arguments.first().cloned().unwrap_or_else(yes)),
        ("exact" | "strict", _) => put(&mut entries, "strict", yes()),
        _ => return Value::Open(format!("what `{name}` gives of a matcher")),
    }
    Value::Builder(entries)
}

fn find<'a>(entries: &'a [(String, Item)], name: &str) -> Option<&'a Item> {
    entries.iter().find(|(known, _)| known == name).map(|(_, item)| item)
}

fn put(entries: &mut Vec<(String, Item)>, name: &str, item: Item) {
    match entries.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = item,
        None => entries.push((name.to_owned(), item)),
    }
}

impl Program<'_, '_> {
    /// What a matcher of texts asks of `subject`; said where it is none.
    pub(super) fn text_test(&mut self, subject: &str, matcher: &Item, asks: Asks) -> Option<String> {
        match (&matcher.value, asks) {
            (Value::Text(text), Asks::Part) => Some(format!("{subject} contains {}", quoted(text))),
            (Value::Text(text), Asks::Whole) => Some(format!("{subject} == {}", quoted(text))),
            (Value::Regex { .. }, _) => {
                let literal = self.regex(matcher)?;
                self.backtracks |= literal.backtracks;
                Some(format!("{subject} matches {}", literal.text))
            }
            _ => {
                self.not_read(matcher.span, "a matcher that only a running program shows");
                None
            }
        }
    }

    /// What a matcher of commands asks of the text of a command.
    pub(super) fn command_test(&mut self, subject: &str, matcher: &Item) -> Option<String> {
        let entries = match &matcher.value {
            Value::Object(entries) | Value::Builder(entries) => entries.clone(),
            _ => return self.text_test(subject, matcher, Asks::Part),
        };
        if let Some((name, item)) = entries.iter().find(|(name, _)| !PARTS.contains(&name.as_str())) {
            self.not_read(item.span, &format!("`{name}` of a matcher of commands"));
            return None;
        }
        let parsed = format!("parse_command({subject})");
        let is = |name: &str| matches!(find(&entries, name).map(|item| &item.value), Some(Value::Bool(true)));
        let strict = is("strict") || is("exact");
        let mut tests = vec![format!("{subject} exists")];
        if let Some(executable) = find(&entries, "executable").filter(|item| !item.is_nothing()) {
            tests.push(self.text_test(&format!("{parsed}.executable"), executable, Asks::Whole)?);
        }
        tests.extend(self.positional_tests(&parsed, find(&entries, "positionals"), strict)?);
        tests.extend(self.option_tests(&parsed, find(&entries, "options"), strict)?);
        if let Some(Value::Bool(end)) = find(&entries, "endOfOptions").map(|item| &item.value) {
            tests.push(format!("{parsed}.end_of_options == {end}"));
        }
        Some(tests.join(" and "))
    }

    fn positional_tests(&mut self, parsed: &str, wanted: Option<&Item>, strict: bool) -> Option<Vec<String>> {
        let wanted = self.items(wanted)?;
        let mut tests = Vec::new();
        if strict {
            for (at, matcher) in wanted.iter().enumerate() {
                tests.push(self.text_test(&format!("{parsed}.positionals[{at}]"), matcher, Asks::Whole)?);
            }
            tests.push(format!("length({parsed}.positionals) == {}", wanted.len()));
        } else if !wanted.is_empty() {
            let mut literals = Vec::new();
            for matcher in &wanted {
                literals.push(match &matcher.value {
                    Value::Text(text) => quoted(text),
                    _ => {
                        let literal = self.regex(matcher)?;
                        self.backtracks |= literal.backtracks;
                        literal.text
                    }
                });
            }
            tests.push(format!("contains_in_order({parsed}.positionals, [{}])", literals.join(", ")));
        }
        Some(tests)
    }

    fn option_tests(&mut self, parsed: &str, wanted: Option<&Item>, strict: bool) -> Option<Vec<String>> {
        let wanted = wanted.map(|item| item.entries().to_vec()).unwrap_or_default();
        let mut tests = Vec::new();
        for (name, values) in &wanted {
            let values = match &values.value {
                Value::List(values) => values.clone(),
                _ => vec![values.clone()],
            };
            let observed = format!("{parsed}.options[{}]", quoted(name));
            tests.push(format!("{observed} exists"));
            let mut asked = Vec::new();
            for value in &values {
                asked.push(match &value.value {
                    Value::Bool(true) => "value == true".to_owned(),
                    _ => self.text_test("value", value, Asks::Whole)?,
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

    /// The elements of a list that may be left out.
    pub(super) fn items(&mut self, list: Option<&Item>) -> Option<Vec<Item>> {
        match list.map(|list| (&list.value, list.span)) {
            None | Some((Value::Undefined, _)) => Some(Vec::new()),
            Some((Value::List(items), _)) => Some(items.clone()),
            Some((_, span)) => {
                self.not_read(span, "a list that only a running program shows");
                None
            }
        }
    }
}
