//! Functions over what is taken of steps: each beginning of such a list goes on from the one before it, so that `sum(E of A so far)` in `each` looks
//! at every step once.

use super::context::ExpressionScope;
use super::fault::{Fault, broken_program};
use super::machine::Machine;
use super::selections::{SelectedSteps, SelectionPart};
use crate::bytecode::ops::{Amount, Name, SelectionRef};
use averment_base::value::compare::compare_values;
use averment_base::value::{Node, Number, Value};
use std::cmp::Ordering;

/// The functions that go on from a shorter list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldFunction {
    Length,
    First,
    Last,
    Sum,
    Average,
    Least,
    Greatest,
}

impl FoldFunction {
    /// The function of a name; `None` for one that needs the whole list.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "length" => Self::Length,
            "first" => Self::First,
            "last" => Self::Last,
            "sum" => Self::Sum,
            "avg" => Self::Average,
            "min" => Self::Least,
            "max" => Self::Greatest,
            _ => return None,
        })
    }
}

/// Cached states after each element of a list, filled on demand.
#[derive(Debug, Default)]
pub(super) struct FoldStates<'run> {
    states: Vec<FoldState<'run>>,
}

#[derive(Debug, Clone, Copy)]
struct FoldState<'run> {
    count: usize,
    absent: bool,
    /// Some element is `null` or not a number.
    no_number: bool,
    whole: bool,
    /// The sum from left to right; `None` beyond the range of doubles.
    sum: Option<Number<'run>>,
    least: Option<Node<'run>>,
    greatest: Option<Node<'run>>,
    unordered: bool,
    first: Option<Node<'run>>,
    last: Option<Node<'run>>,
}

impl<'run> Machine<'run> {
    pub(super) fn eval_fold(
        &mut self,
        function: Name,
        number: SelectionRef,
        count: Amount,
        at: usize,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let (selection, taken) = self.selected_steps(number, count)?;
        let Some(part) = self.selected_part(&taken, selection, scope)? else {
            self.push(Node::computed(Value::Absent));
            return Ok(());
        };
        let fold = self.name_text(function).ok().and_then(FoldFunction::from_name);
        // Whoever looks wants to know more than the result.
        let Some(fold) = fold.filter(|_| !self.observer.is_explaining() && !self.observer.is_tracing()) else {
            let list = self.list_of(&taken, &part, selection)?;
            self.push(list);
            return self.eval_call(function, Amount(1), at);
        };
        if self.fills_list(&taken, selection) {
            self.push(Node::computed(Value::Absent));
            return Ok(());
        }
        let node = match self.fold_between(fold, &taken, &part)? {
            Some(node) => node,
            None => self.part_state(&taken, &part)?.fold_result(fold, taken.comes_later(selection)),
        };
        self.push(if taken.by_missing { as_nowhere(node) } else { node });
        Ok(())
    }

    fn part_state(&mut self, taken: &SelectedSteps<'run>, part: &SelectionPart) -> Result<FoldState<'run>, Fault> {
        if part.from > 0 {
            return self.state_between(taken, part);
        }
        let whole = part.unknown.first().map_or(part.before, |place| *place as usize).min(taken.values.len());
        let mut state = self.state_behind(taken, whole)?;
        for (place, value) in taken.values.iter().enumerate().take(part.before).skip(whole) {
            self.meter.charge_fuel(2)?;
            if part.holds(place) {
                state = state.with_element(*value);
            }
        }
        Ok(state)
    }

    fn state_behind(&mut self, taken: &SelectedSteps<'run>, length: usize) -> Result<FoldState<'run>, Fault> {
        let mut folds = taken.folds.try_borrow_mut().map_err(|_| broken_program())?;
        let mut state = folds.states.last().copied().unwrap_or_default();
        for value in taken.values.get(folds.states.len()..length).unwrap_or_default() {
            self.meter.charge_fuel(2)?;
            state = state.with_element(*value);
            folds.states.push(state);
        }
        match length.checked_sub(1) {
            Some(last) => folds.states.get(last).copied().ok_or_else(broken_program),
            None => Ok(FoldState::default()),
        }
    }

    /// Derives length, ends and an exact sum from the states before and after a part.
    fn fold_between(
        &mut self,
        fold: FoldFunction,
        taken: &SelectedSteps<'run>,
        part: &SelectionPart,
    ) -> Result<Option<Node<'run>>, Fault> {
        if part.from == 0 || !part.unknown.is_empty() || part.from >= part.before || part.before > taken.values.len() {
            return Ok(None);
        }
        let (first, last) = (self.state_behind(taken, part.from)?, self.state_behind(taken, part.before)?);
        if last.absent {
            return Ok(None);
        }
        let number = |number: Number<'run>| Node::computed(Value::Number(number));
        Ok(match fold {
            FoldFunction::Length => Some(number(Number::from_count(part.step_count()))),
            FoldFunction::First => taken.values.get(part.from).copied(),
            FoldFunction::Last => part.before.checked_sub(1).and_then(|place| taken.values.get(place)).copied(),
            FoldFunction::Sum if last.whole => {
                last.sum.zip(first.sum).and_then(|(last, first)| last.subtract(first)).map(number)
            }
            FoldFunction::Sum | FoldFunction::Average | FoldFunction::Least | FoldFunction::Greatest => None,
        })
    }

    fn state_between(&mut self, taken: &SelectedSteps<'run>, part: &SelectionPart) -> Result<FoldState<'run>, Fault> {
        let mut state = FoldState::default();
        for (place, value) in taken.values.iter().enumerate().take(part.before).skip(part.from) {
            self.meter.charge_fuel(2)?;
            if part.holds(place) {
                state = state.with_element(*value);
            }
        }
        Ok(state)
    }
}

/// A result of steps of which something missing decided whether they match: what is asked of it is decided so, too.
fn as_nowhere(node: Node<'_>) -> Node<'_> {
    match node.value {
        Value::Absent | Value::Missing => node,
        value => Node::from_nowhere(value),
    }
}

impl Default for FoldState<'_> {
    fn default() -> Self {
        Self {
            count: 0,
            absent: false,
            no_number: false,
            whole: true,
            sum: Some(Number::Integer(0)),
            least: None,
            greatest: None,
            unordered: false,
            first: None,
            last: None,
        }
    }
}

impl<'run> FoldState<'run> {
    fn with_element(mut self, node: Node<'run>) -> Self {
        let is_absent = node.value.is_absent();
        self.absent |= is_absent;
        self.sum = match node.value {
            Value::Number(number) if self.count == 0 => Some(number),
            Value::Number(number) => self.sum.and_then(|sum| sum.add(number)),
            _ => self.sum,
        };
        let exact = |number: Option<Number<'run>>| number.is_some_and(|number| number.as_i64().is_some());
        let own = if let Value::Number(number) = node.value { Some(number) } else { None };
        self.whole &= exact(own) && exact(self.sum);
        self.no_number |= !matches!(node.value, Value::Number(_)) && !is_absent;
        self.count = self.count.saturating_add(1);
        self.first = self.first.or(Some(node));
        self.last = Some(node);
        self.least = self.further_element(self.least, node, Ordering::Less);
        self.greatest = self.further_element(self.greatest, node, Ordering::Greater);
        self
    }

    /// The more extreme element in a direction; the first among equals.
    fn further_element(
        &mut self,
        best: Option<Node<'run>>,
        node: Node<'run>,
        direction: Ordering,
    ) -> Option<Node<'run>> {
        let Some(best) = best else {
            self.unordered |= compare_values(&node.value, &node.value).is_none();
            return Some(node);
        };
        match compare_values(&node.value, &best.value) {
            Some(ordering) if ordering == direction => Some(node),
            Some(_) => Some(best),
            None => {
                self.unordered = true;
                Some(best)
            }
        }
    }

    /// Equals the function applied to the list; an empty list leads nowhere unless it is filled later.
    fn fold_result(&self, fold: FoldFunction, filled_later: bool) -> Node<'run> {
        if self.absent {
            return Node::computed(Value::Absent);
        }
        let missing = Node::computed(Value::Missing);
        let number = |value: Option<Number<'run>>| value.map_or(missing, |value| Node::computed(Value::Number(value)));
        let node = match fold {
            FoldFunction::Length => number(Some(Number::from_count(self.count))),
            FoldFunction::First => self.first.unwrap_or(missing),
            FoldFunction::Last => self.last.unwrap_or(missing),
            FoldFunction::Sum | FoldFunction::Average if self.no_number => missing,
            FoldFunction::Sum => number(self.sum),
            FoldFunction::Average => number(self.sum.and_then(|sum| sum.divide(Number::from_count(self.count)))),
            FoldFunction::Least | FoldFunction::Greatest if self.unordered => missing,
            FoldFunction::Least => self.least.unwrap_or(missing),
            FoldFunction::Greatest => self.greatest.unwrap_or(missing),
        };
        let nowhere = self.count == 0 && !filled_later && !matches!(node.value, Value::Missing);
        if nowhere { Node::from_nowhere(node.value) } else { node }
    }
}
