//! Lowers the methods of `assert.commands`, `assert.fileReads`, `assert.toolCalls`, `assert.skills` and `assert.output`.

use super::matcher::TextMatch;
use super::plain::number_text;
use super::program::SuiteProgram;
use super::value::{JsValue, LocatedValue, RunExpr, RunExprKind};
use crate::regex_flavour::HalvesSeen;
use crate::writer::{BindingStrength, quote_text};
use averment_base::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepList {
    Commands,
    Reads,
    Calls,
}

impl StepList {
    fn step_word(self) -> &'static str {
        match self {
            Self::Commands => "command",
            Self::Reads => "read",
            Self::Calls => "any",
        }
    }

    fn list_name(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Reads => "reads",
            Self::Calls => "calls",
        }
    }
}

/// Confidence levels, lowest first.
const CONFIDENCE: [&str; 4] = ["weak", "medium", "strong", "explicit"];

impl SuiteProgram<'_, '_> {
    /// Lowers a method call; `arguments` exclude the report. Reports what cannot be expressed.
    pub(super) fn group_sentence(
        &mut self,
        group: &str,
        method: &str,
        arguments: &[LocatedValue],
        span: Span,
    ) -> Option<String> {
        match (group, method) {
            ("commands", _) => self.steps_sentence(StepList::Commands, method, arguments, span),
            ("fileReads", _) => self.steps_sentence(StepList::Reads, method, arguments, span),
            ("toolCalls", _) => self.steps_sentence(StepList::Calls, method, arguments, span),
            ("skills", _) => self.skills_sentence(method, arguments, span),
            ("output", "notEmpty") => Some("output != \"\"".to_owned()),
            ("output", "includes") => {
                let matcher = self.required_argument(arguments, 0, span)?;
                self.text_test("output", &matcher, TextMatch::Part)
            }
            _ => self.report_unknown_method(group, method, span),
        }
    }

    fn report_unknown_method(&mut self, group: &str, method: &str, span: Span) -> Option<String> {
        self.record_unread(span, &format!("`assert.{group}.{method}`, which SkillGym does not have"));
        None
    }

    fn required_argument(&mut self, arguments: &[LocatedValue], at: usize, span: Span) -> Option<LocatedValue> {
        let found = arguments.get(at).filter(|item| !item.is_nullish()).cloned();
        if found.is_none() {
            self.record_unread(span, "an assertion without what it has to find");
        }
        found
    }

    /// Writes `pattern == number`; reports an argument that is not a count.
    fn count_of(&mut self, pattern: &str, arguments: &[LocatedValue], at: usize, span: Span) -> Option<String> {
        match arguments.get(at) {
            Some(item) if item.is_plain() && item.as_number().is_none() => Some("false".to_owned()),
            _ => Some(format!("count {pattern} == {}", self.argument_number(arguments, at, span)?)),
        }
    }

    fn argument_number(&mut self, arguments: &[LocatedValue], at: usize, span: Span) -> Option<String> {
        let item = self.required_argument(arguments, at, span)?;
        let number = item.as_number();
        if number.is_none() {
            self.record_unread(item.span, "a number that only a running program shows");
        }
        number.map(number_text)
    }

    fn steps_sentence(
        &mut self,
        steps: StepList,
        method: &str,
        arguments: &[LocatedValue],
        span: Span,
    ) -> Option<String> {
        let known: &[&str] = match steps {
            StepList::Calls => &["has", "count", "atLeast", "atMost", "before", "sequence", "only"],
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
            return self.report_unknown_method(
                if steps == StepList::Calls { "toolCalls" } else { "commands" },
                method,
                span,
            );
        }
        if method == "size" {
            return self.count_of(steps.step_word(), arguments, 0, span);
        }
        let matcher = self.required_argument(arguments, 0, span)?;
        if method == "only" || method == "sequence" {
            let matchers = self.optional_items(Some(&matcher))?;
            return if method == "only" {
                self.only_sentence(steps, &matchers)
            } else {
                self.sequence_sentence(steps, &matchers)
            };
        }
        if method == "first" || method == "last" {
            let place = if method == "first" { 0 } else { -1 };
            return self.test_of(steps, &format!("{}[{place}].", steps.list_name()), &matcher);
        }
        let step = self.step_pattern(steps, &matcher)?;
        Some(match method {
            "includes" | "has" => format!("require {step}"),
            "notIncludes" => format!("never {step}"),
            "exactlyOne" => format!("require {step} 1 times"),
            "count" => self.count_of(&step, arguments, 1, span)?,
            "atLeast" => format!("count {step} >= {}", self.argument_number(arguments, 1, span)?),
            "atMost" => format!("count {step} <= {}", self.argument_number(arguments, 1, span)?),
            _ => {
                let then = self.required_argument(arguments, 1, span)?;
                let then = self.step_pattern(steps, &then)?;
                format!("all of {{ require {then}; before {step} -> {then} }}")
            }
        })
    }

    fn step_pattern(&mut self, steps: StepList, matcher: &LocatedValue) -> Option<String> {
        match (steps, &matcher.value) {
            (StepList::Commands, JsValue::Text(text)) if !text.is_empty() => {
                // A plain text after `command` would mean a program name, so the test is written out.
                return Some(format!("(command where command contains {})", quote_text(text)));
            }
            (StepList::Commands, JsValue::Regex { .. }) => {
                let literal = self.regex_literal(matcher)?;
                if literal.halves != HalvesSeen::Within {
                    self.backtracks |= literal.backtracks;
                    return Some(format!("command {}", literal.text));
                }
            }
            (StepList::Calls, JsValue::Object(entries)) if entries.is_empty() => return Some("any".to_owned()),
            _ => {}
        }
        let test = self.test_of(steps, "", matcher)?;
        Some(format!("({} where {test})", steps.step_word()))
    }

    fn test_of(&mut self, steps: StepList, at: &str, matcher: &LocatedValue) -> Option<String> {
        match steps {
            StepList::Commands => self.command_test(&format!("{at}command"), matcher),
            StepList::Reads => self.text_test(&format!("{at}path"), matcher, TextMatch::Part),
            StepList::Calls => self.call_test(at, matcher),
        }
    }

    fn call_test(&mut self, at: &str, matcher: &LocatedValue) -> Option<String> {
        if !matches!(matcher.value, JsValue::Object(_)) {
            self.record_unread(matcher.span, "a matcher of calls that only a running program shows");
            return None;
        }
        let mut tests = vec![format!("{at}tool exists")];
        if let Some(tool) = matcher.get("tool").filter(|tool| !tool.is_nullish()) {
            tests = vec![self.text_test(&format!("{at}tool"), tool, TextMatch::Part)?];
        }
        match matcher.get("where").map(|item| (item.value.clone(), item.span)) {
            None | Some((JsValue::Undefined, _)) => {}
            Some((JsValue::Function(function, scope), span)) => {
                let args =
                    LocatedValue::new(JsValue::RunExpr(RunExpr::new(format!("{at}args"), RunExprKind::Any)), span);
                let event = LocatedValue::new(
                    JsValue::RunExpr(RunExpr::new(at.trim_end_matches('.'), RunExprKind::Call)),
                    span,
                );
                let given = self.function_result(&function, &[args, event], scope);
                let truth = self.truth_condition(&LocatedValue::new(given.clone(), span));
                let Some(truth) = truth else {
                    self.record_unread(span, &format!("what a function asks of arguments: {}", open_reason(&given)));
                    return None;
                };
                tests.push(truth.nested_text(BindingStrength::And));
            }
            Some((_, span)) => {
                self.record_unread(span, "a function that only a running program shows");
                return None;
            }
        }
        Some(tests.join(" and "))
    }

    fn only_sentence(&mut self, steps: StepList, matchers: &[LocatedValue]) -> Option<String> {
        if matchers.is_empty() {
            return Some(format!("count {} == 0", steps.step_word()));
        }
        let mut tests = Vec::new();
        for matcher in matchers {
            let test = self.test_of(steps, "", matcher)?;
            let stands_alone = matchers.len() == 1 || !test.contains(" and ");
            tests.push(if stands_alone { test } else { format!("({test})") });
        }
        Some(format!("each {}: {}", steps.step_word(), tests.join(" or ")))
    }

    fn sequence_sentence(&mut self, steps: StepList, matchers: &[LocatedValue]) -> Option<String> {
        let mut patterns = Vec::new();
        for matcher in matchers {
            patterns.push(self.step_pattern(steps, matcher)?);
        }
        Some(match patterns.as_slice() {
            [] => "true".to_owned(),
            [only] => format!("require {only}"),
            patterns => format!("sequence {}", patterns.join(" -> ")),
        })
    }

    fn skills_sentence(&mut self, method: &str, arguments: &[LocatedValue], span: Span) -> Option<String> {
        let confidence = arguments.iter().find_map(|argument| argument.get("minConfidence")).cloned();
        let least = match confidence.as_ref().map(|item| (item.as_text(), item.span)) {
            None => CONFIDENCE[..].first().copied(),
            Some((word, span)) => {
                let known = CONFIDENCE.iter().find(|known| Some(**known) == word).copied();
                if known.is_none() {
                    self.record_unread(span, "a confidence that is none: weak, medium, strong, explicit");
                }
                known
            }
        }?;
        let enough: Vec<String> =
            CONFIDENCE.iter().skip_while(|word| **word != least).map(|word| quote_text(word)).collect();
        // A skill is explicit if its tool was called for it. The confidence of any other skill is known only if the run records it.
        let sure = format!(
            "(if s.confidence exists then s.confidence in [{}] else (any c in calls: c.tool in [\"Skill\", \"skill\"] and s.name in [c.args.skill, c.args.name]) or undecided(\"how sure it is that the skill was used\"))",
            enough.join(", ")
        );
        // Every skill has at least weak confidence.
        let plain = least == "weak";
        let count = |name: &str| match plain {
            true => format!("(count s in skills: s.name == {})", quote_text(name)),
            false => format!("(count s in skills: s.name == {} and {sure})", quote_text(name)),
        };
        let first = self.required_argument(arguments, 0, span)?;
        match method {
            "has" | "notHas" | "count" | "exactlyOne" => {
                let name = self.skill_name(&first)?;
                Some(match method {
                    "has" if plain => format!("require skill {}", quote_text(&name)),
                    "notHas" if plain => format!("never skill {}", quote_text(&name)),
                    "has" => format!("{} >= 1", count(&name)),
                    "notHas" => format!("{} == 0", count(&name)),
                    "exactlyOne" => format!("{} == 1", count(&name)),
                    _ => format!("{} == {}", count(&name), self.argument_number(arguments, 1, span)?),
                })
            }
            "includes" | "only" => {
                let names = self.optional_items(Some(&first))?;
                let names: Option<Vec<String>> = names.iter().map(|name| self.skill_name(name)).collect();
                let names = names?;
                let all = || names.iter().map(|name| quote_text(name)).collect::<Vec<_>>().join(", ");
                Some(match (method, names.as_slice()) {
                    ("only", []) if plain => "length(skills) == 0".to_owned(),
                    ("only", []) => format!("no s in skills: {sure}"),
                    ("only", _) if plain => format!("all s in skills: s.name in [{}]", all()),
                    ("only", _) => format!("all s in skills: {sure} implies s.name in [{}]", all()),
                    (_, []) => "true".to_owned(),
                    (_, [name]) if plain => format!("require skill {}", quote_text(name)),
                    _ if plain => {
                        let each = names.iter().map(|name| format!("require skill {}", quote_text(name)));
                        format!("all of {{ {} }}", each.collect::<Vec<_>>().join("; "))
                    }
                    _ => names.iter().map(|name| format!("{} >= 1", count(name))).collect::<Vec<_>>().join(" and "),
                })
            }
            _ => self.report_unknown_method("skills", method, span),
        }
    }

    fn skill_name(&mut self, item: &LocatedValue) -> Option<String> {
        let name = item.as_text().map(ToOwned::to_owned);
        if name.is_none() {
            self.record_unread(item.span, "a skill whose name only a running program shows");
        }
        name
    }
}

pub(super) fn open_reason(value: &JsValue) -> String {
    match value {
        JsValue::RuntimeOnly(why) => why.clone(),
        JsValue::Api(name) => format!("`{name}`"),
        _ => "a value of another kind".to_owned(),
    }
}
