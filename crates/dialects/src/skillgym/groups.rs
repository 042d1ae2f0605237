//! `assert.commands`, `assert.fileReads`, `assert.toolCalls`, `assert.skills`, `assert.output`: each method as a sentence.

use super::eval::number_text;
use super::matcher::Asks;
use super::program::Program;
use super::value::{Item, Kind, Told, Value};
use crate::writer::{Binds, quoted};
use averment_base::source::Span;

/// A list of steps: the word of its kind, the name of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    Commands,
    Reads,
    Calls,
}

impl Steps {
    fn word(self) -> &'static str {
        match self {
            Self::Commands => "command",
            Self::Reads => "read",
            Self::Calls => "any",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Reads => "reads",
            Self::Calls => "calls",
        }
    }
}

/// How sure one has to be of a skill, the least first.
const CONFIDENCE: [&str; 4] = ["weak", "medium", "strong", "explicit"];

impl Program<'_, '_> {
    /// The sentence of a method of a group; `arguments` stand behind the report. What cannot be said has been.
    pub(super) fn grouped(&mut self, group: &str, method: &str, arguments: &[Item], span: Span) -> Option<String> {
        match (group, method) {
            ("commands", _) => self.of_steps(Steps::Commands, method, arguments, span),
            ("fileReads", _) => self.of_steps(Steps::Reads, method, arguments, span),
            ("toolCalls", _) => self.of_steps(Steps::Calls, method, arguments, span),
            ("skills", _) => self.of_skills(method, arguments, span),
            ("output", "notEmpty") => Some("output != \"\"".to_owned()),
            ("output", "includes") => {
                let matcher = self.argument(arguments, 0, span)?;
                self.text_test("output", &matcher, Asks::Part)
            }
            _ => self.unknown(group, method, span),
        }
    }

    fn unknown(&mut self, group: &str, method: &str, span: Span) -> Option<String> {
        self.not_read(span, &format!("`assert.{group}.{method}`, which SkillGym does not have"));
        None
    }

    fn argument(&mut self, arguments: &[Item], at: usize, span: Span) -> Option<Item> {
        let found = arguments.get(at).filter(|item| !item.is_nothing()).cloned();
        if found.is_none() {
            self.not_read(span, "an assertion without what it has to find");
        }
        found
    }

    /// `pattern == number`; no count is anything else.
    fn count_of(&mut self, pattern: &str, arguments: &[Item], at: usize, span: Span) -> Option<String> {
        match arguments.get(at) {
            Some(item) if item.is_plain() && item.number().is_none() => Some("false".to_owned()),
            _ => Some(format!("count {pattern} == {}", self.number(arguments, at, span)?)),
        }
    }

    fn number(&mut self, arguments: &[Item], at: usize, span: Span) -> Option<String> {
        let item = self.argument(arguments, at, span)?;
        let number = item.number();
        if number.is_none() {
            self.not_read(item.span, "a number that only a running program shows");
        }
        number.map(number_text)
    }

    fn of_steps(&mut self, steps: Steps, method: &str, arguments: &[Item], span: Span) -> Option<String> {
        let known: &[&str] = match steps {
            Steps::Calls => &["has", "count", "atLeast", "atMost", "before", "sequence", "only"],
            _ => &[
                "includes",
                "notIncludes",
                "count",
                "atLeast",
                "atMost",
                "exactlyOne",
                "before",
                "only",
                "size",
                "first",
                "last",
            ],
        };
        if !known.contains(&method) {
            return self.unknown(if steps == Steps::Calls { "toolCalls" } else { "commands" }, method, span);
        }
        if method == "size" {
            return self.count_of(steps.word(), arguments, 0, span);
        }
        let matcher = self.argument(arguments, 0, span)?;
        if method == "only" || method == "sequence" {
            let matchers = self.items(Some(&matcher))?;
            return if method == "only" { self.only(steps, &matchers) } else { self.sequence(steps, &matchers) };
        }
        if method == "first" || method == "last" {
            let place = if method == "first" { 0 } else { -1 };
            return self.test_of(steps, &format!("{}[{place}].", steps.list()), &matcher);
        }
        let step = self.step(steps, &matcher)?;
        Some(match method {
            "includes" | "has" => format!("require {step}"),
            "notIncludes" => format!("never {step}"),
            "exactlyOne" => format!("require {step} 1 times"),
            "count" => self.count_of(&step, arguments, 1, span)?,
            "atLeast" => format!("count {step} >= {}", self.number(arguments, 1, span)?),
            "atMost" => format!("count {step} <= {}", self.number(arguments, 1, span)?),
            _ => {
                let then = self.argument(arguments, 1, span)?;
                let then = self.step(steps, &then)?;
                format!("all of {{ require {then}; before {step} -> {then} }}")
            }
        })
    }

    /// The pattern of the steps that a matcher takes.
    fn step(&mut self, steps: Steps, matcher: &Item) -> Option<String> {
        match (steps, &matcher.value) {
            (Steps::Commands, Value::Text(text)) if !text.is_empty() => {
                // A text behind `command` alone would be a program in any spelling.
                return Some(format!("(command where command contains {})", quoted(text)));
            }
            (Steps::Commands, Value::Regex { .. }) => {
                let literal = self.regex(matcher)?;
                self.backtracks |= literal.backtracks;
                return Some(format!("command {}", literal.text));
            }
            (Steps::Calls, Value::Object(entries)) if entries.is_empty() => return Some("any".to_owned()),
            _ => {}
        }
        let test = self.test_of(steps, "", matcher)?;
        Some(format!("({} where {test})", steps.word()))
    }

    /// What a matcher asks of a step, or of an element of a list at `at`.
    fn test_of(&mut self, steps: Steps, at: &str, matcher: &Item) -> Option<String> {
        match steps {
            Steps::Commands => self.command_test(&format!("{at}command"), matcher),
            Steps::Reads => self.text_test(&format!("{at}path"), matcher, Asks::Part),
            Steps::Calls => self.call_test(at, matcher),
        }
    }

    fn call_test(&mut self, at: &str, matcher: &Item) -> Option<String> {
        if !matches!(matcher.value, Value::Object(_)) {
            self.not_read(matcher.span, "a matcher of calls that only a running program shows");
            return None;
        }
        let mut tests = vec![format!("{at}tool exists")];
        if let Some(tool) = matcher.get("tool").filter(|tool| !tool.is_nothing()) {
            tests = vec![self.text_test(&format!("{at}tool"), tool, Asks::Part)?];
        }
        match matcher.get("where").map(|item| (item.value.clone(), item.span)) {
            None | Some((Value::Undefined, _)) => {}
            Some((Value::Function(function, scope), span)) => {
                let args = Item::new(Value::Told(Told::new(format!("{at}args"), Kind::Any)), span);
                let event = Item::new(Value::Told(Told::new(at.trim_end_matches('.'), Kind::Call)), span);
                let given = self.result(&function, &[args, event], scope);
                let truth = self.truth(&Item::new(given.clone(), span));
                let Some(truth) = truth else {
                    self.not_read(span, &format!("what a function asks of arguments: {}", why(&given)));
                    return None;
                };
                tests.push(truth.inside(Binds::And));
            }
            Some((_, span)) => {
                self.not_read(span, "a function that only a running program shows");
                return None;
            }
        }
        Some(tests.join(" and "))
    }

    fn only(&mut self, steps: Steps, matchers: &[Item]) -> Option<String> {
        if matchers.is_empty() {
            return Some(format!("count {} == 0", steps.word()));
        }
        let mut tests = Vec::new();
        for matcher in matchers {
            let test = self.test_of(steps, "", matcher)?;
            let stands_alone = matchers.len() == 1 || !test.contains(" and ");
            tests.push(if stands_alone { test } else { format!("({test})") });
        }
        Some(format!("each {}: {}", steps.word(), tests.join(" or ")))
    }

    fn sequence(&mut self, steps: Steps, matchers: &[Item]) -> Option<String> {
        let mut patterns = Vec::new();
        for matcher in matchers {
            patterns.push(self.step(steps, matcher)?);
        }
        Some(match patterns.as_slice() {
            [] => "true".to_owned(),
            [only] => format!("require {only}"),
            patterns => format!("sequence {}", patterns.join(" -> ")),
        })
    }

    fn of_skills(&mut self, method: &str, arguments: &[Item], span: Span) -> Option<String> {
        let confidence = arguments.iter().find_map(|argument| argument.get("minConfidence")).cloned();
        let least = match confidence.as_ref().map(|item| (item.text(), item.span)) {
            None => CONFIDENCE[..].first().copied(),
            Some((word, span)) => {
                let known = CONFIDENCE.iter().find(|known| Some(**known) == word).copied();
                if known.is_none() {
                    self.not_read(span, "a confidence that is none: weak, medium, strong, explicit");
                }
                known
            }
        }?;
        let enough: Vec<String> =
            CONFIDENCE.iter().skip_while(|word| **word != least).map(|word| quoted(word)).collect();
        // Of all confidences nothing has to be asked, where a skill has one.
        let enough = format!("s.confidence in [{}]", enough.join(", "));
        let count = |name: &str| format!("(count s in skills: s.name == {} and {enough})", quoted(name));
        let first = self.argument(arguments, 0, span)?;
        let plain = confidence.is_none();
        match method {
            "has" | "notHas" | "count" | "exactlyOne" => {
                let name = self.skill(&first)?;
                Some(match method {
                    "has" if plain => format!("require skill {}", quoted(&name)),
                    "notHas" if plain => format!("never skill {}", quoted(&name)),
                    "has" => format!("{} >= 1", count(&name)),
                    "notHas" => format!("{} == 0", count(&name)),
                    "exactlyOne" => format!("{} == 1", count(&name)),
                    _ => format!("{} == {}", count(&name), self.number(arguments, 1, span)?),
                })
            }
            "includes" | "only" => {
                let names = self.items(Some(&first))?;
                let names: Option<Vec<String>> = names.iter().map(|name| self.skill(name)).collect();
                let names = names?;
                let all = || names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
                Some(match (method, names.as_slice()) {
                    ("only", []) => format!("no s in skills: {enough}"),
                    ("only", _) => format!("all s in skills: {enough} implies s.name in [{}]", all()),
                    (_, []) => "true".to_owned(),
                    (_, [name]) if plain => format!("require skill {}", quoted(name)),
                    _ if plain => {
                        let each = names.iter().map(|name| format!("require skill {}", quoted(name)));
                        format!("all of {{ {} }}", each.collect::<Vec<_>>().join("; "))
                    }
                    _ => names.iter().map(|name| format!("{} >= 1", count(name))).collect::<Vec<_>>().join(" and "),
                })
            }
            _ => self.unknown("skills", method, span),
        }
    }

    fn skill(&mut self, item: &Item) -> Option<String> {
        let name = item.text().map(ToOwned::to_owned);
        if name.is_none() {
            self.not_read(item.span, "a skill whose name only a running program shows");
        }
        name
    }
}

/// Why a value does not show.
pub(super) fn why(value: &Value) -> String {
    match value {
        Value::Open(why) => why.clone(),
        Value::Api(name) => format!("`{name}`"),
        _ => "a value of another kind".to_owned(),
    }
}
