//! Instructions that test values. What is missing decides a test by itself, what is not recorded leaves it undecided; only
//! `exists`, `is missing` and `is empty` look at missing values directly. Every test notes what it saw while evidence is collected.

use super::fault::{Fault, broken_program};
use super::machine::Machine;
use super::near_texts::SeenTest;
use super::nearest::{self, MisfitReason};
use super::value_equality::{charged_equality, looks_for_nothing};
use super::why::evidence::{SeenTestKind, ValueMisfit};
use super::why::profile::CostCenter;
use super::why::unfit_words::{part_help, unfit_words};
use crate::bytecode::ops::SchemaRef;
use averment_base::truth::Truth;
use averment_base::value::compare::{values_equal, values_identical};
use averment_base::value::likeness::is_framed;
use averment_base::value::{Node, Number, Value};
use averment_builtins::other_spelling::{asks_for_start, plain_spelling};
use averment_builtins::schema::CompiledSchema;
use averment_builtins::test;
use averment_builtins::text_order::order_values;
use averment_checker::ir::Type;
use averment_syntax::ast::TestKind;
use std::cmp::Ordering;

pub(super) fn settled_truth(node: &Node<'_>) -> Option<Truth> {
    match node.value {
        Value::Missing => Some(Truth::from_missing(false)),
        Value::Absent | Value::Truth(Truth::Undecided) => Some(Truth::Undecided),
        _ => None,
    }
}

/// Missing wins over not recorded: a positive test on a missing value is false whatever the other side is.
fn settled_both(kind: TestKind, left: &Node<'_>, right: &Node<'_>) -> Option<Truth> {
    let null_is_missing = !asks_for_equal(kind, left, right);
    let side = |node: &Node<'_>| match settled_truth(node) {
        None if null_is_missing && matches!(node.value, Value::Null) => Some(Truth::from_missing(false)),
        settled => settled,
    };
    let sides = [side(left), side(right)];
    let missing = sides.iter().flatten().find(|truth| truth.by_missing()).copied();
    missing.or_else(|| sides.into_iter().flatten().next())
}

/// True for an equality test, where `null` is a value like any other.
fn asks_for_equal(kind: TestKind, left: &Node<'_>, right: &Node<'_>) -> bool {
    match kind {
        TestKind::Equal | TestKind::Identical => true,
        TestKind::In => matches!(right.value, Value::List(_)) || right.value.is_absent(),
        TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::ContainsAll | TestKind::ContainsAny => {
            matches!(left.value, Value::List(_)) || left.value.is_absent()
        }
        _ => false,
    }
}

/// Marks a truth as decided by something missing if a side of the test was, or its path leads nowhere.
fn mark_by_missing(truth: Truth, sides: [&Node<'_>; 2]) -> Truth {
    sides.into_iter().fold(truth, |truth, side| match side.value {
        _ if side.leads_nowhere() => truth.marked_by(Truth::TrueByMissing),
        Value::Truth(cause) => truth.marked_by(cause),
        _ => truth,
    })
}

pub(super) fn has_type(subject: &Node<'_>, ty: Type) -> Truth {
    settled_truth(subject).unwrap_or_else(|| Truth::from_bool(test::has_type(&subject.value, ty)))
}

pub(super) fn negate_if(truth: Truth, negated: bool) -> Truth {
    if negated { !truth } else { truth }
}

impl<'run> Machine<'run> {
    pub(super) fn eval_test(&mut self, kind: TestKind, negated: bool, at: usize) -> Result<(), Fault> {
        // `contains none` is the opposite of `contains any`, also where something is missing.
        let (kind, negated) = match kind {
            TestKind::ContainsNone => (TestKind::ContainsAny, !negated),
            kind => (kind, negated),
        };
        let grade = self.comparison_grade(kind, negated);
        let operand = self.pop()?;
        let subject = self.pop()?;
        let positive = self.positive_test(kind, &subject, &operand)?;
        let truth = negate_if(positive, negated);
        if let (true, Some(holds)) = (self.observer.near_keys.is_some(), positive.plain_answer()) {
            let is_number = matches!(operand.value, Value::Number(_));
            let rule_text = if is_number { self.rule_text(self.op_span(at.saturating_sub(1))) } else { String::new() };
            let seen = SeenTest { kind, value: subject.value, operand: operand.value, holds, rule_text: &rule_text };
            if let Some(near) = &mut self.observer.near_keys {
                near.note_test(self.program, at, &seen);
            }
        }
        self.observer.note_test(at, SeenTestKind::Compared, subject, Some(operand), truth);
        if self.observer.is_explaining()
            && truth.by_missing()
            && let Some(words) = unfit_words(kind, &subject, &operand)
        {
            let span = self.op_span(at);
            let (text, statement) = (self.rule_text(span), self.statement_word(span));
            let help = part_help(kind, &text, statement, &subject.value, &operand.value)
                .map(|help| format!(": write `{help}`"));
            self.observer.note_nearest(words + &help.unwrap_or_default());
        } else if self.observer.is_explaining()
            && let Some(holds) = truth.plain_answer().map(|holds| holds != negated)
            && let Some(words) = self.nearest_to(kind, holds, &subject.value, &operand.value)
        {
            self.observer.note_nearest(words);
        }
        self.push_value(Value::Truth(truth));
        self.set_grade(grade);
        Ok(())
    }

    pub(super) fn positive_test(
        &mut self,
        kind: TestKind,
        subject: &Node<'run>,
        operand: &Node<'run>,
    ) -> Result<Truth, Fault> {
        Ok(match settled_both(kind, subject, operand) {
            Some(truth) => truth,
            None => mark_by_missing(self.compare_present(kind, subject, operand)?, [subject, operand]),
        })
    }

    fn compare_present(&mut self, kind: TestKind, subject: &Node<'run>, operand: &Node<'run>) -> Result<Truth, Fault> {
        let (left, right) = (&subject.value, &operand.value);
        let answer = match kind {
            TestKind::Equal | TestKind::Identical => {
                let parts = |value: &Value<'_>| matches!(value, Value::List(_) | Value::Object(_));
                if parts(left) && parts(right) {
                    self.meter.charge_fuel(self.size_hint(subject))?;
                    self.meter.charge_fuel(self.size_hint(operand))?;
                } else {
                    self.meter.charge_fuel(if parts(left) { 1 + parts_of(left) } else { self.size_hint(subject) })?;
                    self.charge_inside(subject, operand)?;
                }
                let same = if kind == TestKind::Equal { values_equal } else { values_identical };
                return Ok(charged_equality(left, right, same, &mut self.meter)?);
            }
            TestKind::Less => self.order_nodes(subject, operand)?.map(Ordering::is_lt),
            TestKind::LessOrEqual => self.order_nodes(subject, operand)?.map(Ordering::is_le),
            TestKind::Greater => self.order_nodes(subject, operand)?.map(Ordering::is_gt),
            TestKind::GreaterOrEqual => self.order_nodes(subject, operand)?.map(Ordering::is_ge),
            TestKind::In => return self.is_in(subject, operand),
            TestKind::Contains | TestKind::ContainsIgnoringCase => return self.eval_contains(kind, subject, operand),
            TestKind::Mentions => {
                if subject.origin.byte_range().is_none() && parts_of(left) > 0 {
                    self.charge_both(subject, subject)?;
                }
                return self.eval_mentions(left, right);
            }
            TestKind::ContainsAll | TestKind::ContainsAny => return self.contains_several(kind, subject, operand),
            TestKind::StartsWith | TestKind::EndsWith if looks_for_nothing(left, right) => {
                return Ok(Truth::TrueByMissing);
            }
            TestKind::StartsWith => {
                return self.unless_alike(test::starts_with(left, right), subject, operand, |text, part| {
                    text.starts_with(part)
                });
            }
            TestKind::EndsWith => {
                return self
                    .unless_alike(test::ends_with(left, right), subject, operand, |text, part| text.ends_with(part));
            }
            TestKind::Matches => return self.matches_place(left, right),
            // These have no right-hand side, or were turned round above.
            TestKind::Is
            | TestKind::ContainsNone
            | TestKind::IsJson
            | TestKind::ContainsJson
            | TestKind::IsEmpty
            | TestKind::IsMissing
            | TestKind::Exists => return Err(broken_program()),
        };
        Ok(answer.map_or(Truth::FalseByMissing, Truth::from_bool))
    }

    pub(super) fn matches_regex(
        &mut self,
        subject: &Value<'run>,
        operand: &Value<'run>,
    ) -> Result<Option<bool>, Fault> {
        let (Value::Text(text), Value::Regex(number)) = (subject, operand) else { return Ok(None) };
        let text = text.as_str();
        self.costing(CostCenter::Text(*number), |this| {
            let pattern = this.prepared.regex_matcher(*number);
            let pattern =
                pattern.ok_or_else(|| Fault::Other("a regular expression of the program cannot be used".to_owned()))?;
            let found = pattern.is_match(text, &mut this.meter);
            found.map(Some).map_err(|exhausted| Fault::of_limit(exhausted, this.program))
        })
    }

    /// `matches`: where the regular expression says how a path begins, another spelling of the path may have another answer.
    fn matches_place(&mut self, subject: &Value<'run>, operand: &Value<'run>) -> Result<Truth, Fault> {
        let Some(answer) = self.matches_regex(subject, operand)? else { return Ok(Truth::FalseByMissing) };
        let (Value::Text(text), Value::Regex(number)) = (subject, operand) else { return Ok(Truth::from_bool(answer)) };
        let asked = self.program.regexes.get(*number as usize).is_some_and(|regex| asks_for_start(&regex.pattern));
        if !asked {
            return Ok(Truth::from_bool(answer));
        }
        self.meter.charge_scan(text.as_str().len())?;
        let other = match plain_spelling(text.as_str()) {
            Some(plain) => {
                self.meter.charge_memory(plain.len())?;
                let plain = Value::plain_text(self.arena.alloc_str(&plain));
                self.matches_regex(&plain, operand)?
            }
            None => None,
        };
        Ok(if other.is_some_and(|other| other != answer) {
            Truth::from_missing(answer)
        } else {
            Truth::from_bool(answer)
        })
    }

    pub(super) fn eval_inspect(&mut self, kind: TestKind, negated: bool, at: usize) -> Result<(), Fault> {
        let subject = self.pop()?;
        let truth = self.inspect_value(kind, &subject)?;
        let truth = negate_if(truth, negated);
        self.observer.note_test(at, SeenTestKind::Inspected, subject, None, truth);
        if self.observer.is_explaining()
            && truth.plain_answer() == Some(negated)
            && let Some(words) = nearest::json_text(kind, &subject.value, &self.limits)
        {
            self.observer.note_nearest(words);
        }
        self.push_value(Value::Truth(truth));
        Ok(())
    }

    pub(super) fn inspect_value(&mut self, kind: TestKind, subject: &Node<'run>) -> Result<Truth, Fault> {
        let gone = matches!(subject.value, Value::Missing);
        // A key that is missing beside one of nearly the same name may be nothing but misspelt, and so may what a list was made of. That a
        // path behind `[*]` leads nowhere is what is asked of it.
        let made = matches!(subject.value, Value::List([])) && subject.made_of_nothing();
        let misspelt = made || gone && subject.leads_nowhere();
        let plain = |truth| Ok(if misspelt { Truth::from_missing(truth) } else { Truth::from_bool(truth) });
        match (settled_truth(subject), kind) {
            (Some(Truth::Undecided), _) => return Ok(Truth::Undecided),
            (_, TestKind::IsEmpty) if is_unrecorded(&subject.value) => return Ok(Truth::Undecided),
            (_, TestKind::IsMissing) => return plain(gone),
            (_, TestKind::Exists) => return plain(!gone),
            (_, TestKind::IsEmpty) => return plain(gone || is_empty(&subject.value)),
            (Some(truth), _) => return Ok(truth),
            (None, _) => {}
        }
        let answer = match kind {
            // A value that is no text is JSON already: the run gives it in that form.
            TestKind::IsJson => test::is_json(&subject.value, &mut self.meter)?.unwrap_or(true),
            TestKind::ContainsJson => test::contains_json(&subject.value, None, &self.limits, &mut self.meter)?
                .is_none_or(|found| found.is_some()),
            _ => return Err(broken_program()),
        };
        Ok(mark_by_missing(Truth::from_bool(answer), [subject, subject]))
    }

    pub(super) fn is_type(&mut self, ty: Type, negated: bool, at: usize) -> Result<(), Fault> {
        let subject = self.pop()?;
        let truth = negate_if(has_type(&subject, ty), negated);
        self.observer.note_test(at, SeenTestKind::Inspected, subject, None, truth);
        self.push_value(Value::Truth(truth));
        Ok(())
    }

    pub(super) fn is_schema(&mut self, schema: SchemaRef, negated: bool, at: usize) -> Result<(), Fault> {
        self.fits_schema(schema, negated, at, |_, schema, value| {
            Ok(schema.check_value(value).map_err(MisfitReason::Inside))
        })
    }

    pub(super) fn is_json_schema(&mut self, schema: SchemaRef, negated: bool, at: usize) -> Result<(), Fault> {
        self.fits_schema(schema, negated, at, |machine, schema, value| {
            let checked = test::is_json_schema(value, schema, &machine.limits, &mut machine.meter)?;
            Ok(match checked {
                None => schema.check_value(value).map_err(MisfitReason::Inside),
                Some(None) => Err(MisfitReason::Said("the text is not JSON")),
                Some(Some(checked)) => checked.map_err(MisfitReason::InText),
            })
        })
    }

    pub(super) fn contains_json_schema(&mut self, schema: SchemaRef, negated: bool, at: usize) -> Result<(), Fault> {
        self.fits_schema(schema, negated, at, |machine, schema, value| {
            let found = test::contains_json(value, Some(schema), &machine.limits, &mut machine.meter)?;
            Ok(match found {
                None => schema.check_value(value).map_err(MisfitReason::Inside),
                Some(None) if test::contains_inner_json(value, schema, &machine.limits, &mut machine.meter)? => {
                    Err(MisfitReason::Within)
                }
                Some(None) => Err(machine.nearest_json(schema, value)?),
                Some(Some(_)) => Ok(()),
            })
        })
    }

    fn fits_schema(
        &mut self,
        schema: SchemaRef,
        negated: bool,
        at: usize,
        check: impl FnOnce(&mut Self, &'run CompiledSchema, &Value<'run>) -> Result<Result<(), MisfitReason>, Fault>,
    ) -> Result<(), Fault> {
        let number = schema.0;
        let subject = self.pop()?;
        let (truth, why) = match settled_truth(&subject) {
            Some(truth) => (truth, None),
            None => {
                let checked = self.costing(CostCenter::Schema(number), |this| {
                    let schema = this.prepared.schema_validator(this.program, number, &this.limits)?;
                    schema.charge_check(&subject.value, &mut this.meter)?;
                    check(this, schema, &subject.value)
                });
                match checked? {
                    Ok(()) => (Truth::True, None),
                    Err(why @ MisfitReason::Within) => (Truth::FalseByMissing, Some(why)),
                    Err(why) => (Truth::False, Some(why)),
                }
            }
        };
        let truth = negate_if(truth, negated);
        self.observer.note_test(at, SeenTestKind::Inspected, subject, None, truth);
        if let (Some(why), true) = (why, self.observer.is_explaining()) {
            let misfit = self.describe_misfit(number, &subject, why);
            self.observer.note_misfit(misfit);
        }
        self.push_value(Value::Truth(truth));
        Ok(())
    }
}

fn is_unrecorded(value: &Value<'_>) -> bool {
    matches!(value, Value::List(items) if !items.is_empty() && items.iter().all(|item| item.value.is_absent()))
}

/// Null, or an empty text, list or object; numbers and booleans are never empty.
fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Object(object) => object.entries().is_empty(),
        _ => false,
    }
}

impl<'run> Machine<'run> {
    fn describe_misfit(&self, schema: u32, subject: &Node<'run>, why: MisfitReason) -> ValueMisfit<'run> {
        let name = self.program.schemas.get(schema as usize).map(|schema| schema.name.clone()).unwrap_or_default();
        let at = match why {
            MisfitReason::Nearest(_, at) => Some(at),
            _ => None,
        };
        let (violation, node) = match why {
            MisfitReason::Said(text) => {
                return ValueMisfit { text: format!("does not fit `{name}`: {text}"), node: None, keyword: None };
            }
            MisfitReason::Within => {
                let text = format!("holds JSON that fits `{name}` only inside of other JSON");
                return ValueMisfit { text, node: None, keyword: None };
            }
            MisfitReason::Inside(violation) => {
                let node =
                    violation.instance.split('/').skip(1).try_fold(*subject, |node, part| inner_node(&node, part));
                (violation, node)
            }
            MisfitReason::InText(violation) | MisfitReason::Nearest(violation, _) => (violation, None),
        };
        let lead = match at {
            Some(at) => format!("holds no JSON that fits `{name}`; that at character {at} does not: "),
            None => format!("does not fit `{name}`: "),
        };
        let keyword = super::schema_place::keyword_place(self.program, schema, &violation.schema);
        let line = keyword.map(|span| self.program.reported_place(span)).and_then(|span| {
            let source = self.program.sources.get(span.file.0 as usize)?;
            let line = source.text.get(..span.start as usize)?.matches('\n').count() + 1;
            Some(format!("{}:{line}", source.name))
        });
        let places: Vec<String> = (!violation.instance.is_empty())
            .then(|| format!("at `{}`", violation.instance))
            .into_iter()
            .chain(line.map(|line| format!("by {line}")))
            .collect();
        let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        ValueMisfit { text: format!("{lead}{}{places}", violation.message), node, keyword }
    }
}

fn inner_node<'run>(node: &Node<'run>, part: &str) -> Option<Node<'run>> {
    match node.value {
        Value::Object(object) => object.get(&part.replace("~1", "/").replace("~0", "~")),
        Value::List(items) => items.get(part.parse::<usize>().ok()?).copied(),
        _ => None,
    }
}

impl<'run> Machine<'run> {
    pub(super) fn size_hint(&self, node: &Node<'run>) -> u64 {
        let looked = match node.value {
            Value::Text(text) => text.as_str().len() as u64 / 64,
            Value::Number(Number::Written(text)) => text.len() as u64 / 64,
            Value::List(_) | Value::Object(_) => parts_of(&node.value).max(self.cache.weights.weight_of(node) / 64),
            _ => 0,
        };
        looked.saturating_add(1)
    }

    fn order_nodes(&mut self, left: &Node<'run>, right: &Node<'run>) -> Result<Option<Ordering>, Fault> {
        self.charge_both(left, right)?;
        Ok(order_values(&left.value, &right.value))
    }

    /// What a value is looked for in: a list, an object, a text that may be one of these in JSON.
    pub(super) fn charge_inside(&mut self, left: &Node<'run>, right: &Node<'run>) -> Result<(), Fault> {
        for node in [left, right] {
            match node.value {
                Value::List(_) | Value::Object(_) => self.meter.charge_fuel(self.cache.weights.weight_of(node) / 64)?,
                Value::Text(text) if is_framed(text.as_str()) => self.meter.charge_scan(text.as_str().len())?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn charge_both(&mut self, left: &Node<'run>, right: &Node<'run>) -> Result<(), Fault> {
        let weights = &self.cache.weights;
        let both = weights.weight_of(left).min(weights.weight_of(right)) / 64;
        let (one, two) = (parts_of(&left.value), parts_of(&right.value));
        Ok(self.meter.charge_fuel(if one > 0 && two > 0 { both } else { both.max(one / 16).max(two / 16) })?)
    }
}

fn parts_of(value: &Value<'_>) -> u64 {
    match value {
        Value::List(items) => items.len() as u64,
        Value::Object(object) => object.entries().len() as u64,
        _ => 0,
    }
}
