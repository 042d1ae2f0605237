//! Functions over what is taken of steps: each beginning of such a list goes on from the one before it, so that `sum(E of A so far)` in `each` looks
//! at every step once.

use super::context::ExpressionScope;
use super::fault::Fault;
use super::machine::{Machine, broken};
use super::selections::{Part, Taken};
use crate::bytecode::ops::{Amount, Name, SelectionRef};
use averment_base::value::compare::compare;
use averment_base::value::{Node, Number, Value};
use std::cmp::Ordering;

/// The functions that go on from a shorter list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// `length`.
    Length,
    /// `first`.
    First,
    /// `last`.
    Last,
    /// `sum`.
    Sum,
    /// `avg`.
    Average,
    /// `min`.
    Least,
    /// `max`.
    Greatest,
}

impl Fold {
    /// The function of a name; `None` for one that needs the whole list.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
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

/// The states behind each element of a list, as far as somebody has asked.
#[derive(Debug, Default)]
pub(super) struct Folds<'run> {
    states: Vec<State<'run>>,
}

/// What is known of the beginning of a list.
#[derive(Debug, Clone, Copy)]
struct State<'run> {
    count: usize,
    /// Some element is not recorded.
    absent: bool,
    /// Some element is `null`, or no number.
    no_number: bool,
    /// All elements and their sums are whole numbers that are exact.
    whole: bool,
    /// The sum from left to right; `None` beyond the range of doubles.
    sum: Option<Number<'run>>,
    /// The least and the greatest element.
    least: Option<Node<'run>>,
    greatest: Option<Node<'run>>,
    /// Some elements stand in no order.
    unordered: bool,
    first: Option<Node<'run>>,
    last: Option<Node<'run>>,
}

impl<'run> Machine<'run> {
    /// A function over what a selection takes.
    pub(super) fn fold(
        &mut self,
        function: Name,
        number: SelectionRef,
        count: Amount,
        at: usize,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let (selection, taken) = self.selected(number, count)?;
        let Some(part) = self.part(&taken, selection, scope)? else {
            self.push(Node::computed(Value::Absent));
            return Ok(());
        };
        let fold = self.name(function).ok().and_then(Fold::of);
        // Whoever looks wants to know more than the result.
        let Some(fold) = fold.filter(|_| self.recorder.is_none() && self.tracer.is_none()) else {
            let list = self.list_of(&taken, &part, selection)?;
            self.push(list);
            return self.call(function, Amount(1), at);
        };
        if let Some(node) = self.between(fold, &taken, &part)? {
            self.push(node);
            return Ok(());
        }
        let state = self.state(&taken, &part)?;
        self.push(state.result(fold, taken.comes_later(selection)));
        Ok(())
    }

    /// The state behind a part: that of the beginning that is known as a whole, and the elements behind it.
    fn state(&mut self, taken: &Taken<'run>, part: &Part) -> Result<State<'run>, Fault> {
        if part.from > 0 {
            return self.state_between(taken, part);
        }
        let whole = part.unknown.first().map_or(part.before, |place| *place as usize).min(taken.values.len());
        let mut state = self.state_behind(taken, whole)?;
        for (place, value) in taken.values.iter().enumerate().take(part.before).skip(whole) {
            self.meter.charge(2)?;
            if part.holds(place) {
                state = state.with(*value);
            }
        }
        Ok(state)
    }

    /// The state behind the first elements, as many as this.
    fn state_behind(&mut self, taken: &Taken<'run>, length: usize) -> Result<State<'run>, Fault> {
        let mut folds = taken.folds.try_borrow_mut().map_err(|_| broken())?;
        let mut state = folds.states.last().copied().unwrap_or_default();
        for value in taken.values.get(folds.states.len()..length).unwrap_or_default() {
            self.meter.charge(2)?;
            state = state.with(*value);
            folds.states.push(state);
        }
        match length.checked_sub(1) {
            Some(last) => folds.states.get(last).copied().ok_or_else(broken),
            None => Ok(State::default()),
        }
    }

    /// What the states before and behind a part say of it: its length, its ends, and its sum where all are whole numbers.
    fn between(&mut self, fold: Fold, taken: &Taken<'run>, part: &Part) -> Result<Option<Node<'run>>, Fault> {
        if part.from == 0 || !part.unknown.is_empty() || part.from >= part.before || part.before > taken.values.len() {
            return Ok(None);
        }
        let (first, last) = (self.state_behind(taken, part.from)?, self.state_behind(taken, part.before)?);
        if last.absent {
            return Ok(None);
        }
        let number = |number: Number<'run>| Node::computed(Value::Number(number));
        Ok(match fold {
            Fold::Length => Some(number(Number::from_count(part.length()))),
            Fold::First => taken.values.get(part.from).copied(),
            Fold::Last => part.before.checked_sub(1).and_then(|place| taken.values.get(place)).copied(),
            Fold::Sum if last.whole => {
                last.sum.zip(first.sum).and_then(|(last, first)| last.subtract(first)).map(number)
            }
            Fold::Sum | Fold::Average | Fold::Least | Fold::Greatest => None,
        })
    }

    /// The state of a part that begins later: its elements alone.
    fn state_between(&mut self, taken: &Taken<'run>, part: &Part) -> Result<State<'run>, Fault> {
        let mut state = State::default();
        for (place, value) in taken.values.iter().enumerate().take(part.before).skip(part.from) {
            self.meter.charge(2)?;
            if part.holds(place) {
                state = state.with(*value);
            }
        }
        Ok(state)
    }
}

impl Default for State<'_> {
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

impl<'run> State<'run> {
    fn with(mut self, node: Node<'run>) -> Self {
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
        self.least = self.further(self.least, node, Ordering::Less);
        self.greatest = self.further(self.greatest, node, Ordering::Greater);
        self
    }

    /// The element that is further in a direction; the first of equal ones.
    fn further(&mut self, best: Option<Node<'run>>, node: Node<'run>, direction: Ordering) -> Option<Node<'run>> {
        let Some(best) = best else {
            self.unordered |= compare(&node.value, &node.value).is_none();
            return Some(node);
        };
        match compare(&node.value, &best.value) {
            Some(ordering) if ordering == direction => Some(node),
            Some(_) => Some(best),
            None => {
                self.unordered = true;
                Some(best)
            }
        }
    }

    /// What the function gives, as it does of the list itself; an empty one leads nowhere unless it is filled later.
    fn result(&self, fold: Fold, filled_later: bool) -> Node<'run> {
        if self.absent {
            return Node::computed(Value::Absent);
        }
        let missing = Node::computed(Value::Missing);
        let number = |value: Option<Number<'run>>| value.map_or(missing, |value| Node::computed(Value::Number(value)));
        let node = match fold {
            Fold::Length => number(Some(Number::from_count(self.count))),
            Fold::First => self.first.unwrap_or(missing),
            Fold::Last => self.last.unwrap_or(missing),
            Fold::Sum | Fold::Average if self.no_number => missing,
            Fold::Sum => number(self.sum),
            Fold::Average => number(self.sum.and_then(|sum| sum.divide(Number::from_count(self.count)))),
            Fold::Least | Fold::Greatest if self.unordered => missing,
            Fold::Least => self.least.unwrap_or(missing),
            Fold::Greatest => self.greatest.unwrap_or(missing),
        };
        let nowhere = self.count == 0 && !filled_later && !matches!(node.value, Value::Missing);
        if nowhere { Node::nowhere(node.value) } else { node }
    }
}
