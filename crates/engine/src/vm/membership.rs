//! `in`, `contains` and `mentions`: what a value holds.

use super::comparison::settled_truth;
use super::fault::Fault;
use super::machine::Machine;
use super::value_equality::{charged_equality, looks_for_nothing, spells_words};
use averment_base::truth::Truth;
use averment_base::value::compare::values_equal;
use averment_base::value::likeness::{look_alike, look_alike_in_lower_case};
use averment_base::value::{Node, Number, Value, ValueRange};
use averment_builtins::other_spelling::{TextTest, has_other_spellings};
use averment_builtins::test;
use averment_syntax::ast::TestKind;

impl<'run> Machine<'run> {
    /// `in`: an element of a list, a number of a range, a key of an object, a part of a text.
    pub(super) fn is_in(&mut self, subject: &Node<'run>, operand: &Node<'run>) -> Result<Truth, Fault> {
        match &operand.value {
            Value::List(items) => {
                let truth = self.one_of(items, subject)?;
                let is_unfit = truth == Truth::False && self.list_spells(operand, items, &subject.value)?;
                Ok(if is_unfit { Truth::FalseByMissing } else { truth })
            }
            Value::Range(range) => Ok(range_holds(&subject.value, range)),
            _ if looks_for_nothing(&operand.value, &subject.value) => Ok(Truth::TrueByMissing),
            _ => {
                let answer = test::contains(&operand.value, &subject.value, &mut self.meter)?;
                if let (Some(false), Value::Object(object)) = (answer, operand.value) {
                    let values = object.entries().iter().map(|entry| entry.node.value).collect();
                    let is_unfit = self.holds_part(values, &subject.value, false)?;
                    return Ok(if is_unfit { Truth::FalseByMissing } else { Truth::False });
                }
                self.unless_respelled(answer, &operand.value, &subject.value, |text, part| text.contains(part))
            }
        }
    }

    fn one_of(&mut self, items: &'run [Node<'run>], wanted: &Node<'run>) -> Result<Truth, Fault> {
        let like = self.places.find_like(items, wanted, &mut self.meter, &self.cache.weights)?;
        if let Some(item) = like
            && self.same_element(wanted, item)? == Truth::True
        {
            return Ok(Truth::True);
        }
        let mut truth = Truth::False;
        for item in items {
            self.meter.charge_fuel(1)?;
            self.charge_both(wanted, item)?;
            self.charge_inside(wanted, item)?;
            truth = truth.or(self.same_element(wanted, item)?);
            if truth == Truth::True {
                break;
            }
        }
        // A value that is not there is no evidence that it is another one.
        let gone = truth == Truth::False && matches!(wanted.value, Value::Null);
        Ok(if gone { Truth::FalseByMissing } else { truth })
    }

    /// A missing or unrecorded element decides `in` as a side of `==` does.
    fn same_element(&mut self, subject: &Node<'run>, item: &Node<'run>) -> Result<Truth, Fault> {
        Ok(match (settled_truth(item), &item.value) {
            (Some(truth), _) => truth,
            (None, Value::Range(range)) => range_holds(&subject.value, range),
            (None, value) => charged_equality(&subject.value, value, values_equal, &mut self.meter)?,
        })
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
            (Value::List(items), _) => return self.list_contains(folded, subject, items, wanted),
            (subject, wanted) if looks_for_nothing(subject, wanted) => return Ok(Truth::TrueByMissing),
            (subject, wanted) if folded => test::contains_ignoring_case(subject, wanted, &mut self.meter)?,
            (subject, wanted) => test::contains(subject, wanted, &mut self.meter)?,
        };
        match (answer, &subject.value) {
            (Some(false), Value::Object(_)) => Ok(Truth::FalseByMissing),
            (answer, _) if folded => {
                let alike = self.holds_in_lower_case(answer, &subject.value, &wanted.value)?;
                let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
                let told = self.unless_respelled(answer, &subject.value, &wanted.value, holds)?;
                Ok(if alike { Truth::FalseByMissing } else { told })
            }
            (answer, _) => self.unless_alike(answer, subject, wanted, |text, part| text.contains(part)),
        }
    }

    /// A whole element; a list in which a text holds what is looked for says nothing.
    fn list_contains(
        &mut self,
        folded: bool,
        list: &Node<'run>,
        items: &'run [Node<'run>],
        wanted: &Node<'run>,
    ) -> Result<Truth, Fault> {
        let truth = match (folded, &wanted.value) {
            (false, _) => self.one_of(items, wanted)?,
            (true, Value::Text(_)) => {
                let found = test::contains_ignoring_case(&list.value, &wanted.value, &mut self.meter)?;
                if found == Some(true) { Truth::True } else { self.one_of(items, wanted)? }
            }
            // Only texts have a letter case.
            (true, _) if has_undecided(items) => Truth::Undecided,
            (true, _) => Truth::FalseByMissing,
        };
        let is_unfit = truth == Truth::False
            && (self.list_spells(list, items, &wanted.value)?
                || self.holds_part(items.iter().map(|item| item.value).collect(), &wanted.value, folded)?);
        Ok(if is_unfit { Truth::FalseByMissing } else { truth })
    }

    /// Whether a text among values, at any depth, holds a text.
    fn holds_part(&mut self, mut open: Vec<Value<'run>>, wanted: &Value<'run>, folded: bool) -> Result<bool, Fault> {
        let Value::Text(part) = wanted else { return Ok(false) };
        if part.is_empty() {
            return Ok(false);
        }
        while let Some(value) = open.pop() {
            self.meter.charge_fuel(1)?;
            match value {
                Value::List(items) => open.extend(items.iter().map(|item| item.value)),
                Value::Object(object) => open.extend(object.entries().iter().map(|entry| entry.node.value)),
                Value::Text(_) => {
                    let found = match folded {
                        true => test::contains_ignoring_case(&value, wanted, &mut self.meter)?,
                        false => test::contains(&value, wanted, &mut self.meter)?,
                    };
                    if found == Some(true) {
                        return Ok(true);
                    }
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn list_spells(&mut self, list: &Node<'run>, words: &[Node<'run>], wanted: &Value<'run>) -> Result<bool, Fault> {
        let has_words = matches!(wanted, Value::Text(text) if text.as_str().contains(' '));
        if !has_words || !words.iter().all(|word| matches!(word.value, Value::Text(_))) {
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
        let told = self.unless_respelled(answer, &subject.value, &wanted.value, holds)?;
        Ok(if alike { Truth::FalseByMissing } else { told })
    }

    /// `None` for unfit values; an answer is no evidence where another spelling of the same command, path or URL has another one.
    fn unless_respelled(
        &mut self,
        answer: Option<bool>,
        subject: &Value<'run>,
        wanted: &Value<'run>,
        holds: fn(&str, &str) -> bool,
    ) -> Result<Truth, Fault> {
        let Some(answer) = answer else { return Ok(Truth::FalseByMissing) };
        let (Value::Text(text), Value::Text(wanted)) = (subject, wanted) else { return Ok(Truth::from_bool(answer)) };
        let (text, wanted) = (text.as_str(), wanted.as_str());
        if !has_other_spellings(wanted) {
            return Ok(Truth::from_bool(answer));
        }
        let test = TextTest { text, wanted, answer, is_whole: false };
        self.meter.charge_scan(test.spelling_cost())?;
        let other = test.other_spelling(holds);
        Ok(if other.is_some() { Truth::from_missing(answer) } else { Truth::from_bool(answer) })
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
        let Value::Text(text) = value else { return Ok(Truth::False) };
        let number = match wanted {
            Value::Number(number) => Some(*number),
            Value::Text(text) => Number::from_spelling(text.as_str()),
            _ => None,
        };
        let grouped = number.is_some_and(|number| test::mentions_grouped(text.as_str(), number));
        let alike = grouped || self.holds_alike(text.as_str(), wanted, test::mentions_text)?;
        if alike {
            return Ok(Truth::FalseByMissing);
        }
        self.unless_respelled(Some(false), value, wanted, test::mentions_text)
    }

    fn holds_in_lower_case(
        &mut self,
        answer: Option<bool>,
        subject: &Value<'run>,
        wanted: &Value<'run>,
    ) -> Result<bool, Fault> {
        let (Some(false), Value::Text(text), Value::Text(part)) = (answer, subject, wanted) else { return Ok(false) };
        let (text, part) = (text.as_str(), part.as_str());
        if text.is_ascii() && part.is_ascii() {
            return Ok(false);
        }
        self.meter.charge_scan(text.len().saturating_mul(16))?;
        let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        Ok(look_alike(text, part, holds) || look_alike_in_lower_case(text, part, |text, part| text.contains(part)))
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

/// Only numbers are in a range or outside of it.
fn range_holds(value: &Value<'_>, range: &ValueRange<'_>) -> Truth {
    if matches!(value, Value::Number(_)) { Truth::from_bool(in_range(value, range)) } else { Truth::FalseByMissing }
}

fn in_range(value: &Value<'_>, range: &ValueRange<'_>) -> bool {
    let Value::Number(number) = value else { return false };
    let above = range.start.is_none_or(|start: Number<'_>| start.compare(*number).is_le());
    above && range.end.is_none_or(|end| number.compare(end).is_le())
}
