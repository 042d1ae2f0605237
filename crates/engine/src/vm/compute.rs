//! Instructions that compute: arithmetic, ranges, lists, objects, text, calls.
//!
//! An operand that is missing, or of another type, makes the result missing; one that the run does not record makes it not recorded.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::context::ExpressionScope;
use super::fault::{Fault, broken_program, truth_of};
use super::machine::Machine;
use super::why::describe::in_words;
use super::why::evidence::{SeenTestKind, ValueGap, ValueMisfit};
use super::why::profile::CostCenter;
use crate::bytecode::ops::{Amount, DefRef, Literal, Name, Op};
use averment_base::truth::Truth;
use averment_base::value::json::{to_json, write_json};
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, ValueRange, ValueText};
use averment_builtins::call::CallEnvironment;
use averment_builtins::detect::{Detector, REDACTED};
use averment_builtins::json;
use averment_builtins::like::like_difference;
use averment_builtins::list::order_gap;
use averment_builtins::missing_reason;
use averment_builtins::table;
use averment_checker::ir::Constant;

/// Unsourced claims that are named.
const UNGROUNDED: usize = 5;

enum NumericOperand<'run> {
    Number(Number<'run>),
    Other(Value<'run>),
}

fn numeric_operand<'run>(node: &Node<'run>) -> NumericOperand<'run> {
    match node.value {
        Value::Number(number) => NumericOperand::Number(number),
        Value::Absent => NumericOperand::Other(Value::Absent),
        Value::Truth(truth) if truth.plain_answer().is_none() => NumericOperand::Other(Value::Absent),
        _ => NumericOperand::Other(Value::Missing),
    }
}

/// The result if an operand is not a number; missing wins over not recorded.
fn missing_or_absent<'run>(left: Value<'run>, right: Value<'run>) -> Value<'run> {
    if matches!(left, Value::Missing) { left } else { right }
}

/// Why a function answers no, in words.
type DifferenceWords = fn(&[Node<'_>]) -> Option<String>;

impl<'run> Machine<'run> {
    pub(super) fn eval_negate(&mut self) -> Result<(), Fault> {
        let node = self.pop()?;
        let value = match numeric_operand(&node) {
            NumericOperand::Number(number) => number.negate().map_or(Value::Missing, Value::Number),
            NumericOperand::Other(value) => value,
        };
        self.push(computed_from(value, &[node]));
        Ok(())
    }

    pub(super) fn eval_arithmetic(&mut self, op: Op, at: usize) -> Result<(), Fault> {
        let right = self.pop()?;
        let left = self.pop()?;
        // Of a number in the run nobody knows how many digits it has.
        let digits = [&left, &right]
            .map(|node| if let Value::Number(Number::Written(text)) = node.value { text.len() } else { 0 });
        self.meter.charge_fuel(digits.iter().fold(0, |sum: u64, digits| sum.saturating_add(*digits as u64 / 32)))?;
        let value: Value<'run> = match (numeric_operand(&left), numeric_operand(&right)) {
            (NumericOperand::Number(a), NumericOperand::Number(b)) => {
                calculate_op(op, a, b).map_or(Value::Missing, Value::Number)
            }
            (NumericOperand::Number(_), NumericOperand::Other(value))
            | (NumericOperand::Other(value), NumericOperand::Number(_)) => value,
            (NumericOperand::Other(a), NumericOperand::Other(b)) => missing_or_absent(a, b),
        };
        if self.observer.is_explaining() && matches!(value, Value::Missing) {
            self.note_no_result(at, left, right);
        }
        self.push(computed_from(value, &[left, right]));
        Ok(())
    }

    fn note_no_result(&mut self, at: usize, left: Node<'run>, right: Node<'run>) {
        let other = |node: &Node<'run>| {
            !matches!(node.value, Value::Number(_) | Value::Missing | Value::Absent | Value::Truth(_))
        };
        let sides = [left, right];
        if let Some((taken, node)) = sides.into_iter().enumerate().find(|(_, node)| other(node)) {
            let words = format!("is {}, no number", in_words(&node.value));
            self.note_void(at, taken, node, &words);
        } else if let (Value::Number(_), Value::Number(divisor)) = (left.value, right.value) {
            let words =
                if divisor.to_f64() == 0.0 { "is 0, and nothing is divided by it" } else { "makes it too large" };
            self.note_void(at, 1, right, words);
        }
    }

    /// Notes a computation without a result; `words` follow the text of the operand to blame.
    fn note_void(&mut self, at: usize, taken: usize, base: Node<'run>, words: &str) {
        let Some(source) = self.observer.find_source(at, taken) else { return };
        let subject = self.rule_text(self.op_span(source));
        let why = Some(&*self.arena.alloc_str(&format!("`{subject}` {words}")));
        self.observer.note_gap(self.program, ValueGap { at, base, why });
    }

    fn text_of(&mut self, text: String) -> Result<Value<'run>, Fault> {
        self.meter.charge_scan(text.len())?;
        self.meter.charge_memory(text.len())?;
        Ok(Value::Text(ValueText::Plain(self.arena.alloc_str(&text))))
    }

    pub(super) fn eval_range(&mut self, has_start: bool, has_end: bool) -> Result<(), Fault> {
        let ends = self.take_nodes(usize::from(has_start).saturating_add(usize::from(has_end)))?;
        let end = if has_end { ends.last().map(numeric_operand) } else { None };
        let start = if has_start { ends.first().map(numeric_operand) } else { None };
        let value = match (range_bound(start), range_bound(end)) {
            (Ok(start), Ok(end)) => {
                self.meter.charge_memory(size_of::<ValueRange<'_>>())?;
                Value::Range(self.arena.alloc(ValueRange { start, end }))
            }
            (Err(a), Err(b)) => missing_or_absent(a, b),
            (Err(value), _) | (_, Err(value)) => value,
        };
        self.push(computed_from(value, &ends));
        Ok(())
    }

    pub(super) fn eval_list(&mut self, count: Amount) -> Result<(), Fault> {
        let items = self.take_nodes(count.0 as usize)?;
        let list = self.new_list(&items)?;
        self.push(computed_from(list, &items));
        Ok(())
    }

    pub(super) fn eval_object(&mut self, count: Amount, keys: Literal) -> Result<(), Fault> {
        let program = self.program;
        let Some(Constant::List(keys)) = program.constants.get(keys.0 as usize) else { return Err(broken_program()) };
        let values = self.take_nodes(count.0 as usize)?;
        let mut entries: Vec<ObjectEntry<'run>> = Vec::with_capacity(keys.len());
        for (key, node) in keys.iter().zip(values) {
            let Constant::Text(key) = key else { return Err(broken_program()) };
            // A missing value leaves its key out: it would otherwise exist.
            if matches!(node.value, Value::Missing) {
                continue;
            }
            match entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => entry.node = node,
                None => entries.push(ObjectEntry { key, node }),
            }
        }
        self.meter.charge_fuel(entries.len() as u64)?;
        self.meter.charge_memory(size_of_val(entries.as_slice()))?;
        let object = Object::new(self.arena, self.arena.alloc_slice_copy(&entries));
        self.push_value(Value::Object(object));
        Ok(())
    }

    /// A missing part makes the whole text missing, except in messages for people.
    pub(super) fn eval_join(&mut self, count: Amount) -> Result<(), Fault> {
        let parts = self.take_nodes(count.0 as usize)?;
        let mut text = String::new();
        let mut gap = None;
        for part in &parts {
            match part.value {
                Value::Text(part) => text.push_str(part.as_str()),
                Value::Missing if self.lenient => text.push_str("missing"),
                Value::Absent if self.lenient => text.push_str("not recorded"),
                Value::Missing => gap = Some(Value::Missing),
                Value::Absent => gap = gap.or(Some(Value::Absent)),
                ref value => {
                    let bytes = usize::try_from(self.cache.weights.weight_of(part)).unwrap_or(usize::MAX);
                    self.meter.check_memory(bytes.saturating_add(text.len()))?;
                    write_json(value, &mut text);
                }
            }
            if text.len() > self.limits.computed_bytes {
                return Err(Fault::Memory);
            }
        }
        let value = match gap {
            Some(gap) => gap,
            None => self.text_of(text)?,
        };
        self.push(computed_from(value, &parts));
        Ok(())
    }

    pub(super) fn eval_call(&mut self, function: Name, count: Amount, at: usize) -> Result<(), Fault> {
        let builtin = self.prepared.builtin_named(function.0).ok_or_else(broken_program)?;
        let arguments = self.take_nodes(count.0 as usize)?;
        let result = self.costing(CostCenter::Function(function.0), |this| {
            let prepared = this.prepared;
            let environment = CallEnvironment {
                arena: this.arena,
                limits: &this.limits,
                meter: &mut this.meter,
                regex: &|number| prepared.regex_matcher(number),
                cache: &this.cache,
            };
            builtin.call(&arguments, environment).map_err(|exhausted| Fault::of_limit(exhausted, this.program))
        })?;
        if builtin.name == "required" && matches!(result.value, Value::Missing) {
            return Err(Fault::Other(format!("`{}` leads nowhere", self.rule_text(self.op_span(at)))));
        }
        if builtin.name == "grounded" && self.observer.is_explaining() && matches!(result.value, Value::Boolean(false))
        {
            self.note_ungrounded(&arguments, at)?;
        }
        let why_not: Option<DifferenceWords> = match builtin.name {
            "is_like" => Some(like_difference),
            "contains_in_order" => Some(order_gap),
            _ => None,
        };
        if let Some(why_not) = why_not
            && self.observer.is_explaining()
            && let Some(truth) = truth_of(&result)
            && truth.plain_answer() == Some(false)
            && let (Some(text), Some(&whole)) = (why_not(&arguments), arguments.first())
        {
            self.observer.note_test(at, SeenTestKind::Inspected, whole, None, truth);
            self.observer.note_misfit(ValueMisfit { text, node: None, keyword: None });
        }
        if self.observer.is_explaining()
            && matches!(result.value, Value::Missing)
            && let Some((taken, words)) = missing_reason::missing_reason(builtin, &arguments)
            && let Some(argument) = arguments.get(taken)
        {
            self.note_void(at, taken, *argument, &words);
        }
        if builtin.score {
            self.grade_score(&result);
        }
        let nowhere = match builtin.name {
            "jsonpath" => self.is_misspelt(&arguments, &result),
            "json" | "first_json" => self.has_no_keys(&arguments, &result, at),
            _ => false,
        };
        self.push(if nowhere { Node::from_nowhere(result.value) } else { result_of(result, &arguments) });
        Ok(())
    }

    /// True if a text is not JSON although a key of it is asked for: `json(output).error not exists`.
    fn has_no_keys(&self, arguments: &[Node<'run>], result: &Node<'run>, at: usize) -> bool {
        let next = at.checked_add(1).and_then(|next| self.program.code.get(next));
        let has_value = arguments.first().is_some_and(|one| matches!(one.value, Value::Text(_)));
        matches!(result.value, Value::Missing)
            && has_value
            && matches!(next, Some(Op::Field(_, false)))
            && self.tests_presence(at)
    }

    /// True if the object lacks the path's first key but has a near miss: `$.itmes[*]`.
    fn is_misspelt(&self, arguments: &[Node<'run>], result: &Node<'run>) -> bool {
        let [base, Node { value: Value::Text(path), .. }] = arguments else { return false };
        let key = path.as_str().strip_prefix("$.").map(|rest| {
            let end = rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        });
        // A text that is no JSON, and a number, hold nothing that could be looked for.
        let holds_nothing = matches!(base.value, Value::Number(_) | Value::Boolean(_))
            || matches!(base.value, Value::Text(text) if !json::is_json(text.as_str()));
        matches!(result.value, Value::List([])) && (holds_nothing || key.is_some_and(|key| self.has_slip(base, key)))
    }

    fn note_ungrounded(&mut self, arguments: &[Node<'run>], at: usize) -> Result<(), Fault> {
        let (Some(&claims), Some(names)) = (arguments.first(), table::find_builtin("ungrounded")) else {
            return Ok(());
        };
        let environment = CallEnvironment {
            arena: self.arena,
            limits: &self.limits,
            meter: &mut self.meter,
            regex: &|_| None,
            cache: &self.cache,
        };
        let Value::List(names) = names.call(arguments, environment)?.value else { return Ok(()) };
        let bytes = usize::try_from(self.cache.weights.weight_of(&claims)).unwrap_or(usize::MAX);
        self.meter.check_memory(bytes)?;
        // A line of a private key looks like an id.
        let whole = to_json(&claims.value);
        let secrets = Detector::Secrets.find(&whole, &mut self.meter)?;
        let within = |name: &str| {
            let mut places = whole.match_indices(name).map(|(at, found)| at..at.saturating_add(found.len()));
            places.any(|place| secrets.iter().any(|one| one.range.start < place.end && place.start < one.range.end))
        };
        let said = |name: &Node<'_>| {
            let written = to_json(&name.value);
            if within(written.trim_matches('"')) { REDACTED.to_owned() } else { written }
        };
        let shown: Vec<String> = names.iter().take(UNGROUNDED).map(said).collect();
        let more = names.len().saturating_sub(UNGROUNDED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let stand = if names.len() == 1 { "stands" } else { "stand" };
        let text = format!("is not grounded: {}{more} {stand} nowhere in the sources", shown.join(", "));
        self.observer.note_test(at, SeenTestKind::Inspected, claims, None, Truth::False);
        self.observer.note_misfit(ValueMisfit { text, node: None, keyword: None });
        Ok(())
    }

    pub(super) fn call_def(
        &mut self,
        number: DefRef,
        count: Amount,
        at: usize,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let program = self.program;
        let def = program.defs.get(number.0 as usize).ok_or_else(broken_program)?;
        let arguments = self.take_nodes(count.0 as usize)?;
        let around = self.observer.enter_definition(at);
        let result = self.costing(CostCenter::Definition(number.0), |this| {
            this.enter_code(def.code, scope, |locals| locals.extend_from_slice(&arguments))
        });
        self.observer.leave_definition(around);
        self.push(result?);
        Ok(())
    }
}

fn computed_from<'run>(value: Value<'run>, from: &[Node<'run>]) -> Node<'run> {
    let nowhere = !matches!(value, Value::Missing | Value::Absent) && from.iter().any(Node::leads_nowhere);
    if nowhere { Node::from_nowhere(value) } else { Node::computed(value) }
}

/// A list element that is missing (computed from a path that leads nowhere) or not recorded decides the result.
fn result_of<'run>(result: Node<'run>, arguments: &[Node<'run>]) -> Node<'run> {
    let elements = |argument: &Node<'run>| match argument.value {
        Value::List(items) => items,
        _ => &[],
    };
    if arguments.iter().flat_map(elements).any(|item| item.value.is_absent()) {
        return Node::computed(Value::Absent);
    }
    let gone = arguments.iter().flat_map(elements).any(|item| matches!(item.value, Value::Missing));
    let nowhere = gone || arguments.iter().any(Node::leads_nowhere);
    if nowhere && !matches!(result.value, Value::Missing | Value::Absent) {
        Node::from_nowhere(result.value)
    } else {
        result
    }
}

fn range_bound(end: Option<NumericOperand<'_>>) -> Result<Option<Number<'_>>, Value<'_>> {
    match end {
        None => Ok(None),
        Some(NumericOperand::Number(number)) => Ok(Some(number)),
        Some(NumericOperand::Other(value)) => Err(value),
    }
}

fn calculate_op<'run>(op: Op, a: Number<'run>, b: Number<'run>) -> Option<Number<'run>> {
    match op {
        Op::Add() => a.add(b),
        Op::Subtract() => a.subtract(b),
        Op::Multiply() => a.multiply(b),
        Op::Divide() => a.divide(b),
        _ => a.remainder(b),
    }
}
