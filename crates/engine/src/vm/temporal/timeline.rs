//! What classification leaves behind: for each unique pattern the steps that match it, with the values that they bind.

use super::near_groups::NearGroups;
use super::plan::{StepKindSet, UniquePatternId};
use crate::vm::context::StepWindow;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_base::value::compare::ValueKey;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::{Run, StepKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// A binding's value as a number; equal values of a run share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ValueId(u32);

impl ValueId {
    /// Not bound by the match; any value fits.
    pub(super) const OPEN: Self = Self(u32::MAX);
    /// Not recorded, so equality with another value is unknown.
    pub(super) const ABSENT: Self = Self(u32::MAX - 1);
    /// Not recorded but distinct from all others: look-ups miss it and tests on it are unknown.
    pub(super) const FRESH: Self = Self(u32::MAX - 2);
    /// A known value that occurs nowhere: an empty object, which cannot be ordered.
    pub(super) const NOWHERE: Self = Self(u32::MAX - 3);

    pub(super) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(super) fn is_value(self) -> bool {
        self < Self::NOWHERE
    }
}

pub(super) type Env = SmallVec<[ValueId; 2]>;

#[derive(Debug, Clone, Copy)]
pub(super) struct MatchEvent {
    /// Index in the run.
    pub(super) step: u32,
    pub(super) alternative: u16,
    pub(super) sure: bool,
}

#[derive(Debug, Clone)]
pub(super) struct MatchCandidate {
    pub(super) step: u32,
    pub(super) alternative: u16,
    pub(super) truth: Truth,
    pub(super) value_ids: SmallVec<[ValueId; 4]>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CheckedStep {
    pub(super) step: u32,
    pub(super) decided: DecidedBy,
    pub(super) matches: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecidedBy {
    MissingValue,
    Evidence,
    /// Execution or the kind word's text; its condition does not count.
    EarlierTest,
    /// The run does not record what its condition asks.
    Nothing,
}

/// Matches stored inline, because most patterns match few steps.
const FEW: usize = 6;

#[derive(Debug, Default)]
pub(super) struct PatternMatches {
    pub(super) events: SmallVec<[MatchEvent; FEW]>,
    pub(super) doubtful: bool,
    pub(super) kinds: StepKindSet,
    value_ids: SmallVec<[ValueId; FEW]>,
    /// Steps of its kind and name that do not match plainly, in order; usually few.
    pub(super) looked_at: SmallVec<[CheckedStep; FEW]>,
    pub(super) candidates: Vec<MatchCandidate>,
    pub(super) fault: Option<Fault>,
    by_value: OnceCell<EventsByValue>,
    by_key: OnceCell<EventsByKey>,
}

type EventsByKey = FxHashMap<Env, SmallVec<[u32; 2]>>;

/// The events with a value at a position; those without a known one stand under [`ValueId::OPEN`].
type EventsByValue = FxHashMap<(usize, ValueId), Vec<u32>>;

impl PatternMatches {
    pub(super) fn add_event(&mut self, event: MatchEvent, kind: StepKind, value_ids: &[ValueId]) {
        self.doubtful |= !event.sure || value_ids.iter().any(|id| !id.is_value());
        self.events.push(event);
        self.kinds.add_kind(kind);
        self.value_ids.extend_from_slice(value_ids);
    }

    pub(super) fn note_step(&mut self, step: u32, truth: Option<Truth>) {
        let decided = match truth {
            Some(Truth::True) => return,
            None => DecidedBy::EarlierTest,
            Some(Truth::Undecided) => DecidedBy::Nothing,
            Some(truth) if truth.by_missing() => DecidedBy::MissingValue,
            Some(_) => DecidedBy::Evidence,
        };
        let matches = truth.is_some_and(|truth| truth.plain_answer() == Some(true));
        self.looked_at.push(CheckedStep { step, decided, matches });
    }

    /// The matches in `window` with those of `steps` (sorted) unknown.
    pub(super) fn with_doubts(&self, steps: &[(u32, StepKind)], names: usize, window: Range<usize>) -> Self {
        let mut doubting = Self { doubtful: self.doubtful, kinds: self.kinds, ..Self::default() };
        let mut left = steps.iter().peekable();
        let absent = vec![ValueId::ABSENT; names];
        let new = |step: u32| MatchEvent { step, alternative: 0, sure: false };
        for number in self.events_between(window.start, window.end) {
            let Some(event) = self.events.get(number as usize) else { continue };
            while let Some((step, kind)) = left.next_if(|(step, _)| *step < event.step) {
                let is_there = doubting.events.last().is_some_and(|last| last.step == *step);
                if !is_there {
                    doubting.add_event(new(*step), *kind, &absent);
                }
            }
            let doubted = left.peek().filter(|(step, _)| *step == event.step);
            let own = self.value_ids(number, names);
            doubting.doubtful |= doubted.is_some();
            doubting.events.push(MatchEvent { sure: event.sure && doubted.is_none(), ..*event });
            doubting.value_ids.extend_from_slice(own);
        }
        for (step, kind) in left {
            if doubting.events.last().is_none_or(|last| last.step != *step) {
                doubting.add_event(new(*step), *kind, &absent);
            }
        }
        doubting
    }

    /// The same with other values.
    pub(super) fn with_values(&self, other: impl Fn(ValueId) -> ValueId) -> Self {
        Self {
            events: self.events.clone(),
            doubtful: self.doubtful,
            kinds: self.kinds,
            value_ids: self.value_ids.iter().map(|id| other(*id)).collect(),
            looked_at: self.looked_at.clone(),
            candidates: self.candidates.clone(),
            ..Self::default()
        }
    }

    /// True if `start..end` has executed steps of its kind and name, all decided by something missing.
    pub(super) fn is_by_missing(&self, start: usize, end: usize) -> bool {
        let noted = self.looked_at(start, end);
        let all = |decided: DecidedBy| noted.iter().filter(move |looked| looked.decided == decided);
        let plainly = self.events_between(start, end).len() > noted.iter().filter(|looked| looked.matches).count();
        !plainly
            && all(DecidedBy::MissingValue).next().is_some()
            && !noted.iter().any(|looked| matches!(looked.decided, DecidedBy::Evidence | DecidedBy::Nothing))
    }

    /// True if recorded data decided a step. What is unknown now may turn out to be missing when more is recorded.
    pub(super) fn is_by_evidence(&self, start: usize, end: usize) -> bool {
        let noted = self.looked_at(start, end);
        let between = self.events_between(start, end);
        let events = self.events.get(between.start as usize..between.end as usize).unwrap_or(&[]);
        let sure = events.iter().filter(|event| event.sure).count();
        let plainly = sure > noted.iter().filter(|looked| looked.matches).count();
        plainly || noted.iter().any(|looked| looked.decided == DecidedBy::Evidence)
    }

    pub(super) fn candidates_between(&self, window: StepWindow) -> &[MatchCandidate] {
        let at = |step: usize| self.candidates.partition_point(|candidate| (candidate.step as usize) < step);
        self.candidates.get(at(window.start)..at(window.end)).unwrap_or(&[])
    }

    pub(super) fn looked_at(&self, start: usize, end: usize) -> &[CheckedStep] {
        let at = |step: usize| self.looked_at.partition_point(|looked| (looked.step as usize) < step);
        self.looked_at.get(at(start)..at(end)).unwrap_or(&[])
    }

    pub(super) fn value_ids(&self, event: u32, names: usize) -> &[ValueId] {
        let start = event as usize * names;
        self.value_ids.get(start..start + names).unwrap_or(&[])
    }

    /// The events with all of these values, in order.
    pub(super) fn events_of(&self, key: &[ValueId], names: usize) -> &[u32] {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key = EventsByKey::default();
            for event in 0..to_index(self.events.len()) {
                by_key.entry(SmallVec::from_slice(self.value_ids(event, names))).or_default().push(event);
            }
            by_key
        });
        by_key.get(key).map_or(&[], SmallVec::as_slice)
    }

    pub(super) fn events_between(&self, start: usize, end: usize) -> std::ops::Range<u32> {
        let at = |step: usize| to_index(self.events.partition_point(|event| (event.step as usize) < step));
        at(start)..at(end)
    }

    /// Events with `value` at `position`, or without a known one; in order.
    pub(super) fn with_value(&self, position: usize, names: usize, value: ValueId) -> Vec<u32> {
        let by_value = self.by_value.get_or_init(|| {
            let mut by_value = EventsByValue::default();
            for event in 0..to_index(self.events.len()) {
                for (place, id) in self.value_ids(event, names).iter().enumerate() {
                    let id = if id.is_value() { *id } else { ValueId::OPEN };
                    by_value.entry((place, id)).or_default().push(event);
                }
            }
            by_value
        });
        let of = |id: ValueId| by_value.get(&(position, id)).map_or(&[][..], Vec::as_slice);
        let mut found = [of(value), of(ValueId::OPEN)].concat();
        found.sort_unstable();
        found
    }
}

#[derive(Debug, Default, Clone)]
pub(super) struct ValueTable<'run> {
    numbers: FxHashMap<ValueKey<'run>, ValueId>,
    nodes: Vec<Node<'run>>,
    /// Made when a statement asks for it.
    near: OnceCell<Rc<NearGroups>>,
}

impl<'run> ValueTable<'run> {
    /// [`ValueId::ABSENT`] if not recorded.
    pub(super) fn value_id(&mut self, node: Node<'run>) -> ValueId {
        if matches!(node.value, Value::Absent) {
            return ValueId::ABSENT;
        }
        let next = ValueId(to_index(self.nodes.len()));
        let id = *self.numbers.entry(ValueKey(node.value)).or_insert(next);
        if id == next {
            self.near.take();
            // Which of its spellings is seen first depends on the rules beside this one.
            let value = match node.value {
                Value::Number(number) => Value::Number(number.in_one_spelling()),
                value => value,
            };
            self.nodes.push(Node { value, ..node });
        }
        id
    }

    /// Which values are nearly others.
    pub(super) fn near_values(&self) -> Rc<NearGroups> {
        Rc::clone(self.near.get_or_init(|| Rc::new(NearGroups::of_values(&self.nodes))))
    }

    /// Another value of the run that is nearly equal to this one.
    pub(super) fn near_twin(&self, node: &Node<'run>) -> Option<Node<'run>> {
        let own = *self.numbers.get(&ValueKey(node.value))?;
        let near = self.near_values();
        let first = near.first_like(own)?;
        let mut others = (0..to_index(self.nodes.len())).map(ValueId).filter(|id| *id != own);
        others.find(|id| near.first_like(*id) == Some(first)).and_then(|id| self.value_node(id))
    }

    /// `None` if open.
    pub(super) fn value_node(&self, id: ValueId) -> Option<Node<'run>> {
        match id {
            ValueId::OPEN => None,
            ValueId::ABSENT | ValueId::FRESH => Some(Node::computed(Value::Absent)),
            ValueId::NOWHERE => Some(Node::computed(Value::Object(Object::EMPTY))),
            ValueId(number) => self.nodes.get(number as usize).copied(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Timeline<'run> {
    pub(super) matches: Vec<PatternMatches>,
    pub(super) values: Rc<ValueTable<'run>>,
    pub(super) executed: Rc<Vec<u32>>,
    pub(super) proposed: Rc<Vec<u32>>,
}

impl<'run> Timeline<'run> {
    pub(super) fn new(run: &Run<'run>, unique_patterns: usize) -> Self {
        let (mut executed, mut proposed) = (Vec::with_capacity(run.steps.len()), Vec::new());
        for (number, step) in (0..).zip(run.steps) {
            if step.kind == StepKind::Call {
                if step.status.is_executed() { &mut executed } else { &mut proposed }.push(number);
            }
        }
        Self {
            matches: std::iter::repeat_with(PatternMatches::default).take(unique_patterns).collect(),
            values: Rc::default(),
            executed: Rc::new(executed),
            proposed: Rc::new(proposed),
        }
    }

    /// The same run with other matches of some patterns, and none of the others.
    pub(super) fn with_matches(
        &self,
        unique_patterns: impl Iterator<Item = UniquePatternId>,
        change: impl Fn(UniquePatternId, &PatternMatches) -> PatternMatches,
    ) -> Self {
        let mut matches: Vec<PatternMatches> =
            std::iter::repeat_with(PatternMatches::default).take(self.matches.len()).collect();
        for unique in unique_patterns {
            if let (Some(known), Some(copy)) = (self.matches_of(unique), matches.get_mut(unique.0 as usize)) {
                *copy = change(unique, known);
            }
        }
        let (executed, proposed) = (Rc::clone(&self.executed), Rc::clone(&self.proposed));
        Self { matches, values: Rc::clone(&self.values), executed, proposed }
    }

    pub(super) fn matches_of(&self, unique: UniquePatternId) -> Option<&PatternMatches> {
        self.matches.get(unique.0 as usize)
    }

    pub(super) fn call_list(&self, proposed: bool) -> &[u32] {
        if proposed { &self.proposed } else { &self.executed }
    }
}

/// Never overflows: the size of runs is limited.
pub(super) fn to_index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
