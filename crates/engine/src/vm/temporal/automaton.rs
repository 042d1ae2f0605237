//! The automaton of a `flow`: one state for each pattern as it stands in the expression (after Glushkov), repetitions written out.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use crate::bytecode::program::PatternId;
use averment_checker::ir::CallFlow;

/// Maximum states; a larger expression is rejected.
const MOST_STATES: usize = 2048;
/// Maximum nesting; the parser allows less.
const DEEPEST: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct StateSet(Vec<u64>);

impl StateSet {
    fn insert(&mut self, state: usize) {
        if self.0.len() <= state / 64 {
            self.0.resize((state / 64).saturating_add(1), 0);
        }
        if let Some(word) = self.0.get_mut(state / 64) {
            *word |= 1 << (state % 64);
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn common_states(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word & (1 << bit) != 0);
        self.0
            .iter()
            .enumerate()
            .flat_map(move |(at, word)| bits(*word).map(move |bit| at.saturating_mul(64).saturating_add(bit)))
    }
}

/// State 0 is the start.
#[derive(Debug)]
pub(super) struct FlowAutomaton {
    follow: Vec<StateSet>,
    of_operand: Vec<StateSet>,
    operands: Vec<usize>,
    ends: StateSet,
}

#[derive(Default, Clone)]
struct AutomatonFragment {
    empty: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

#[derive(Default)]
struct AutomatonBuilder {
    follow: Vec<Vec<usize>>,
    operands: Vec<usize>,
    full: bool,
}

impl FlowAutomaton {
    /// `None` if the expression is too large.
    pub(super) fn new(flow: &CallFlow<PatternId>) -> Option<Self> {
        let mut builder = AutomatonBuilder { follow: vec![Vec::new()], operands: vec![usize::MAX], full: false };
        let (fragment, count) = builder.build_fragment(flow, 0, 0);
        if builder.full {
            return None;
        }
        let set = |states: &[usize]| {
            let mut set = StateSet::default();
            states.iter().for_each(|state| set.insert(*state));
            set
        };
        if let Some(start) = builder.follow.first_mut() {
            start.clone_from(&fragment.first);
        }
        let mut ends = set(&fragment.last);
        if fragment.empty {
            ends.insert(0);
        }
        let mut of_operand = vec![StateSet::default(); count];
        for (state, operand) in builder.operands.iter().enumerate().skip(1) {
            of_operand.get_mut(*operand).into_iter().for_each(|states| states.insert(state));
        }
        Some(Self {
            follow: builder.follow.iter().map(|states| set(states)).collect(),
            of_operand,
            operands: builder.operands,
            ends,
        })
    }

    /// One step for each of so many operands, in their order.
    pub(super) fn of_sequence(count: usize) -> Self {
        let set = |state: usize| {
            let mut set = StateSet::default();
            set.insert(state);
            set
        };
        Self {
            follow: (1..=count).map(set).chain([StateSet::default()]).collect(),
            of_operand: (1..=count).map(set).collect(),
            operands: std::iter::once(usize::MAX).chain(0..count).collect(),
            ends: set(count),
        }
    }

    pub(super) fn start_states(&self) -> StateSet {
        let mut start = StateSet::default();
        start.insert(0);
        start
    }

    pub(super) fn next(&self, states: &StateSet) -> StateSet {
        let mut next = StateSet::default();
        states.iter().filter_map(|state| self.follow.get(state)).for_each(|follow| next.add_all(follow));
        next
    }

    pub(super) fn of_operand(&self, states: &StateSet, operand: usize) -> StateSet {
        self.of_operand.get(operand).map_or_else(StateSet::default, |of_operand| states.common_states(of_operand))
    }

    pub(super) fn may_end(&self, states: &StateSet) -> bool {
        !states.common_states(&self.ends).is_empty()
    }

    pub(super) fn state_operands(&self, states: &StateSet) -> Vec<usize> {
        let mut operands: Vec<usize> = states.iter().filter_map(|state| self.operands.get(state).copied()).collect();
        operands.sort_unstable();
        operands.dedup();
        operands
    }
}

impl AutomatonBuilder {
    /// Builds a part starting at this operand; returns the next operand.
    fn build_fragment(
        &mut self,
        flow: &CallFlow<PatternId>,
        operand: usize,
        depth: usize,
    ) -> (AutomatonFragment, usize) {
        if depth > DEEPEST || self.operands.len() > MOST_STATES {
            self.full = true;
            return (AutomatonFragment::default(), operand);
        }
        match flow {
            CallFlow::Step(_) => (self.build_state(operand), operand.saturating_add(1)),
            CallFlow::Sequence(parts) => parts.iter().fold(
                (AutomatonFragment { empty: true, ..AutomatonFragment::default() }, operand),
                |(before, operand), fragment| {
                    let (next, operand) = self.build_fragment(fragment, operand, depth.saturating_add(1));
                    (self.join_fragments(before, next), operand)
                },
            ),
            CallFlow::Choice(parts) => {
                parts.iter().fold((AutomatonFragment::default(), operand), |(mut all, operand), fragment| {
                    let (next, operand) = self.build_fragment(fragment, operand, depth.saturating_add(1));
                    all.empty |= next.empty;
                    all.first.extend(next.first);
                    all.last.extend(next.last);
                    (all, operand)
                })
            }
            CallFlow::Repeat { body, least, most } => self.build_repeat(body, *least, *most, operand, depth),
        }
    }

    fn build_state(&mut self, operand: usize) -> AutomatonFragment {
        let state = self.operands.len();
        self.operands.push(operand);
        self.follow.push(Vec::new());
        AutomatonFragment { empty: false, first: vec![state], last: vec![state] }
    }

    fn join_fragments(&mut self, before: AutomatonFragment, next: AutomatonFragment) -> AutomatonFragment {
        for state in &before.last {
            self.follow.get_mut(*state).into_iter().for_each(|follow| follow.extend(&next.first));
        }
        let mut joined = AutomatonFragment { empty: before.empty && next.empty, ..AutomatonFragment::default() };
        joined.first = before.first;
        if before.empty {
            joined.first.extend(&next.first);
        }
        if next.empty {
            joined.last = before.last;
        }
        joined.last.extend(next.last);
        joined
    }

    /// `least` copies, then optional ones up to `most`, or a repeating one.
    fn build_repeat(
        &mut self,
        body: &CallFlow<PatternId>,
        least: u32,
        most: Option<u32>,
        operand: usize,
        depth: usize,
    ) -> (AutomatonFragment, usize) {
        let mut all = AutomatonFragment { empty: true, ..AutomatonFragment::default() };
        let mut behind = operand;
        // With an open end the last copy repeats; `(A)*` is one copy that may be left out.
        let copies = most.unwrap_or(least.max(1));
        for copy in 0..copies {
            let (mut next, end) = self.build_fragment(body, operand, depth.saturating_add(1));
            behind = end;
            if self.full {
                break;
            }
            if most.is_none() && copy.saturating_add(1) == copies {
                let (first, last) = (next.first.clone(), next.last.clone());
                for state in last {
                    self.follow.get_mut(state).into_iter().for_each(|follow| follow.extend(&first));
                }
            }
            next.empty |= copy >= least;
            all = self.join_fragments(all, next);
        }
        if copies == 0 {
            behind = operand.saturating_add(flow_patterns(body).len());
        }
        (all, behind)
    }
}

/// Patterns from left to right; recursion is bounded by the brackets of the source.
pub(super) fn flow_patterns(flow: &CallFlow<PatternId>) -> Vec<PatternId> {
    let mut found = Vec::new();
    let mut open = vec![flow];
    while let Some(fragment) = open.pop() {
        match fragment {
            CallFlow::Step(step) => found.push(*step),
            CallFlow::Sequence(parts) | CallFlow::Choice(parts) => open.extend(parts.iter().rev()),
            CallFlow::Repeat { body, .. } => open.push(body),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u32) -> CallFlow<PatternId> {
        CallFlow::Step(PatternId(number))
    }

    fn repeat(body: CallFlow<PatternId>, least: u32, most: Option<u32>) -> CallFlow<PatternId> {
        CallFlow::Repeat { body: Box::new(body), least, most }
    }

    /// Words over the operands of an expression.
    fn accepts(flow: &CallFlow<PatternId>, word: &[usize]) -> bool {
        let automaton = FlowAutomaton::new(flow).unwrap();
        let mut states = automaton.start_states();
        for operand in word {
            states = automaton.of_operand(&automaton.next(&states), *operand);
        }
        automaton.may_end(&states)
    }

    #[test]
    fn words_of_repetitions_and_choices() {
        // plan -> (search -> (fetch)*)+ -> answer
        let inner = CallFlow::Sequence(vec![step(1), repeat(step(2), 0, None)]);
        let flow = CallFlow::Sequence(vec![step(0), repeat(inner, 1, None), step(3)]);
        for (word, expected) in [
            (&[0, 1, 3][..], true),
            (&[0, 1, 2, 2, 1, 1, 2, 3], true),
            (&[0, 3], false),
            (&[0, 2, 3], false),
            (&[0, 1], false),
            (&[], false),
            (&[0, 1, 3, 3], false),
        ] {
            assert_eq!(accepts(&flow, word), expected, "{word:?}");
        }
        // (a){2,3} -> (b)?
        let flow = CallFlow::Sequence(vec![repeat(step(0), 2, Some(3)), repeat(step(1), 0, Some(1))]);
        for (word, expected) in [
            (&[0, 0][..], true),
            (&[0, 0, 0, 1], true),
            (&[0], false),
            (&[0, 0, 0, 0], false),
            (&[0, 1], false),
            (&[0, 0, 1, 1], false),
        ] {
            assert_eq!(accepts(&flow, word), expected, "{word:?}");
        }
        // ((a | b){2,})? with an empty body behind it
        let choice = CallFlow::Choice(vec![step(0), step(1)]);
        let flow =
            CallFlow::Sequence(vec![repeat(repeat(choice, 2, None), 0, Some(1)), repeat(step(2), 0, Some(0)), step(3)]);
        for (word, expected) in
            [(&[3][..], true), (&[0, 1, 0, 3], true), (&[0, 3], false), (&[2, 3], false), (&[1, 1, 3], true)]
        {
            assert_eq!(accepts(&flow, word), expected, "{word:?}");
        }
    }

    #[test]
    fn an_expression_beyond_all_bounds_is_refused() {
        let flow = (0..5).fold(step(0), |flow, _| repeat(flow, 1000, Some(1000)));
        assert!(FlowAutomaton::new(&flow).is_none());
    }
}
