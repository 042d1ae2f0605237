//! `in`, `contains` and `mentions`: what a value holds.

use super::comparison::settled_truth;
use super::fault::Fault;
use super::machine::Machine;
use super::value_equality::{equality_truth, look_alike, spells_words};
use averment_base::truth::Truth;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Number, Value, ValueRange};
use averment_builtins::test;
use averment_syntax::ast::TestKind;

impl<'run> Machine<'run> {
    /// `in`: an element of a list, a number of a range, a key of an object, a part of a text.
    pub(super) fn is_in(&mut self, subject: &Node<'run>, operand: &Node<'run>) -> Result<Truth, Fault> {
        match &operand.value {
            Value::List(items) => {
                let truth = self.one_of(items, subject)?;
                // A value that is not there is no evidence that it is another one.
                let gone = truth == Truth::False && matches!(subject.value, Value::Null);
                Ok(if gone { Truth::FalseByMissing } else { truth })
            }
            Value::Range(range) => Ok(range_holds(&subject.value, range)),
            _ => {
                let answer = test::contains(&operand.value, &subject.value, &mut self.meter)?;
                Ok(answer.map_or(Truth::FalseByMissing, Truth::from_bool))
            }
        }
    }

    fn one_of(&mut self, items: &'run [Node<'run>], wanted: &Node<'run>) -> Result<Truth, Fault> {
        if self.element_like(items, wanted)?.is_some_and(|item| same_element(wanted, item) == Truth::True) {
            return Ok(Truth::True);
        }
        let mut truth = Truth::False;
        for item in items {
            self.meter.charge_fuel(1)?;
            self.charge_both(wanted, item)?;
            truth = truth.or(same_element(wanted, item));
            if truth == Truth::True {
                break;
            }
        }
        Ok(truth)
    }

    /// `contains`: a substring, an element, a key or a regex match; a missing key does not prove absence deeper inside.
    pub(super) fn eval_contains(
        &mut self,
        kind: TestKind,
        subject: &Node<'run>,
        wanted: &Node<'run>,
    ) -> Result<Truth, Fault> {
        let folded = kind == TestKind::ContainsIgnoringCase;
        let answer = match (&subject.value, &wanted.value) {
            (Value::Text(_), Value::Regex(_)) => self.matches_regex(&subject.value, &wanted.value)?,
            (Value::List(_), Value::Regex(_)) => None,
            (Value::List(items), value) if !(folded && matches!(value, Value::Text(_))) => {
                let truth = self.one_of(items, wanted)?;
                return Ok(if truth == Truth::False && self.list_spells(subject, items, value)? {
                    Truth::FalseByMissing
                } else {
                    truth
                });
            }
            (Value::List(items), value) if has_undecided(items) => {
                let found = test::contains_ignoring_case(&subject.value, value, &mut self.meter)?;
                return Ok(if found == Some(true) { Truth::True } else { Truth::Undecided });
            }
            (subject, wanted) if folded => test::contains_ignoring_case(subject, wanted, &mut self.meter)?,
            (subject, wanted) => test::contains(subject, wanted, &mut self.meter)?,
        };
        match (answer, &subject.value) {
            (Some(false), Value::Object(_)) => Ok(Truth::FalseByMissing),
            (answer, _) if folded => self
                .unless_alike(answer, subject, wanted, |text, part| text.to_lowercase().contains(&part.to_lowercase())),
            (answer, _) => self.unless_alike(answer, subject, wanted, |text, part| text.contains(part)),
        }
    }

    fn list_spells(&mut self, list: &Node<'run>, words: &[Node<'run>], wanted: &Value<'run>) -> Result<bool, Fault> {
        if !words.iter().all(|word| matches!(word.value, Value::Text(_))) {
            return Ok(false);
        }
        self.meter.check_memory(usize::try_from(self.cache.weights.weight_of(list)).unwrap_or(usize::MAX))?;
        self.charge_both(list, list)?;
        Ok(spells_words(words, wanted))
    }

    /// `None` for unfit values; a negative answer is no evidence if look-alike characters would make it hold.
    pub(super) fn unless_alike(
        &mut self,
        answer: Option<bool>,
        subject: &Node<'run>,
        wanted: &Node<'run>,
        holds: fn(&str, &str) -> bool,
    ) -> Result<Truth, Fault> {
        let alike = match (answer, &subject.value) {
            (Some(false), Value::Text(text)) => self.holds_alike(text.as_str(), &wanted.value, holds)?,
            _ => false,
        };
        Ok(if alike { Truth::FalseByMissing } else { answer.map_or(Truth::FalseByMissing, Truth::from_bool) })
    }

    /// `mentions`: a whole token in a text, or in any text or number of a list or object.
    pub(super) fn eval_mentions(&mut self, subject: &Value<'run>, wanted: &Value<'run>) -> Result<Truth, Fault> {
        let fits = match wanted {
            Value::Text(text) => !text.is_empty(),
            Value::Number(_) => true,
            _ => false,
        };
        if !fits || !matches!(subject, Value::Text(_) | Value::Number(_) | Value::List(_) | Value::Object(_)) {
            return Ok(Truth::FalseByMissing);
        }
        let (mut open, mut truth) = (vec![*subject], Truth::False);
        while let Some(value) = open.pop() {
            self.meter.charge_fuel(1)?;
            truth = truth.or(match value {
                Value::List(items) => {
                    open.extend(items.iter().map(|item| item.value));
                    Truth::False
                }
                Value::Object(object) => {
                    open.extend(object.entries().iter().map(|entry| entry.node.value));
                    Truth::False
                }
                Value::Missing => Truth::FalseByMissing,
                _ if value.is_absent() => Truth::Undecided,
                _ => self.mentions_itself(&value, wanted)?,
            });
            if truth == Truth::True {
                break;
            }
        }
        Ok(truth)
    }

    /// A negative answer is no evidence if the text mentions a look-alike.
    fn mentions_itself(&mut self, value: &Value<'run>, wanted: &Value<'run>) -> Result<Truth, Fault> {
        if test::mentions(value, wanted, &mut self.meter)? {
            return Ok(Truth::True);
        }
        let alike = match value {
            Value::Text(text) => self.holds_alike(text.as_str(), wanted, test::mentions_text)?,
            _ => false,
        };
        Ok(if alike { Truth::FalseByMissing } else { Truth::False })
    }

    fn holds_alike(&mut self, text: &str, wanted: &Value<'run>, holds: fn(&str, &str) -> bool) -> Result<bool, Fault> {
        let Value::Text(wanted) = wanted else { return Ok(false) };
        let wanted = wanted.as_str();
        if text.is_ascii() && wanted.is_ascii() {
            return Ok(false);
        }
        self.meter.charge_scan(text.len().saturating_mul(8))?;
        Ok(look_alike(text, wanted, holds))
    }

    /// `contains all|any`: each element is tested, joined by `and` or `or`; a scalar counts as a one-element list.
    pub(super) fn contains_several(
        &mut self,
        kind: TestKind,
        subject: &Node<'run>,
        operand: &Node<'run>,
    ) -> Result<Truth, Fault> {
        let one = [*operand];
        let wanted: &[Node<'run>] = match operand.value {
            Value::List(items) => items,
            _ => &one,
        };
        if wanted.is_empty() || !matches!(subject.value, Value::Text(_) | Value::List(_) | Value::Object(_)) {
            return Ok(Truth::from_missing(wanted.is_empty() && kind != TestKind::ContainsAny));
        }
        let mut truth = Truth::from_bool(kind != TestKind::ContainsAny);
        for item in wanted {
            let found = match settled_truth(item) {
                Some(truth) => truth,
                None => self.eval_contains(TestKind::Contains, subject, item)?,
            };
            truth = if kind == TestKind::ContainsAny { truth.or(found) } else { truth.and(found) };
        }
        // A text that lists several is no value that something could contain.
        let lists = matches!(operand.value, Value::Text(text) if text.as_str().contains([',', ';', '\n']));
        Ok(if truth == Truth::False && lists { Truth::FalseByMissing } else { truth })
    }
}

fn has_undecided(items: &[Node<'_>]) -> bool {
    items.iter().any(|item| item.value.is_absent())
}

/// A missing or unrecorded element decides `in` as a side of `==` does.
fn same_element<'v>(subject: &Node<'v>, item: &Node<'v>) -> Truth {
    settled_truth(item).unwrap_or_else(|| match &item.value {
        Value::Range(range) => range_holds(&subject.value, range),
        value => equality_truth(&subject.value, value, values_equal),
    })
}

/// Only numbers are in a range or outside of it.
fn range_holds(value: &Value<'_>, range: &ValueRange<'_>) -> Truth {
    if matches!(value, Value::Number(_)) { Truth::from_bool(in_range(value, range)) } else { Truth::FalseByMissing }
}

fn in_range(value: &Value<'_>, range: &ValueRange<'_>) -> bool {
    let Value::Number(number) = value else { return false };
    let above = range.start.is_none_or(|start: Number<'_>| start.compare(*number).is_le());
    above && range.end.is_none_or(|end| number.compare(end).is_le())
}
