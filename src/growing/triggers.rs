//! Triggers: conditions under which a new line can break an assertion. They select fewer earlier lines than its patterns would.

use super::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, LineMark, LineTouch};
use averment_engine::vm::temporal::run_reach::RunReach;
use averment_engine::vm::temporal::run_reach::step_triggers::{StepEvidence, TakenSteps};
use averment_engine::vm::temporal::step_marks::MarkedPattern;
use std::collections::BTreeSet;

/// Lines that later lines can close. Closed lines are no longer needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedMarks {
    /// The slot of the lines.
    pub slot: u32,
    /// The slot of the lines that close them.
    pub closer: u32,
    /// True if a closing line closes only the last open line. Otherwise, it closes all earlier lines with its value.
    pub is_stack: bool,
}

/// Earlier lines that a trigger needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TakenMarks {
    /// All lines with a mark.
    All(LineMark),
    /// Only the first and the last lines with a mark.
    Few(LineMark),
    /// Like `Few`, and in addition all lines that may have the mark but need not.
    FewSure(LineMark),
    /// The lines that are still open, with this value or with any. The number is an index into the list of [`ClosedMarks`].
    Unclosed(u32, Option<u64>),
    /// The open lines of all values, and the last line of the log, which has the current time.
    AllUnclosed(u32),
    /// The calls that lead a flow, given by its index, to its current state.
    Flow(u32),
}

/// An assertion with the slots of its patterns and its triggers.
#[derive(Debug)]
pub(super) struct TriggeredAssertion {
    place: usize,
    slots: Vec<u32>,
    triggers: Vec<LineTrigger>,
    /// True if no other lines may be present.
    is_exact: bool,
    /// If no line has a mark of this slot, nothing breaks the assertion.
    opener: Option<u32>,
}

#[derive(Debug)]
struct LineTrigger {
    /// The slot that triggers; `None` for any line.
    slot: Option<u32>,
    /// True if lines are distinguished by a value.
    is_bound: bool,
    evidence: Vec<LineEvidence>,
}

#[derive(Debug, Clone, Copy)]
enum LineEvidence {
    /// The slot.
    All(u32),
    Few(u32),
    FewSure(u32),
    /// Index into the list of [`ClosedMarks`].
    Unclosed(u32),
}

/// The assertions to judge for a new line, according to its triggers.
#[derive(Debug, Default)]
pub(crate) struct TriggeredNeeds {
    /// Assertions that the line cannot break.
    pub(crate) unbroken: AssertionSet,
    /// Assertions that it may break.
    pub(crate) needs: Vec<GrowthNeed>,
}

enum TriggerAnswer {
    Untouched,
    Taken(BTreeSet<TakenMarks>),
    /// The line's values are unknown.
    Unknown,
}

impl GrowthIndex {
    pub(super) fn add_triggers(&mut self, place: usize, program: usize, reach: &RunReach) {
        let opener = reach.opener.map(|opener| self.slot_of(program, Some(opener)));
        let triggers = reach.triggers.as_deref().unwrap_or_default();
        if opener.is_none() && triggers.is_empty() {
            return;
        }
        let alone = |pattern: u32| MarkedPattern { pattern, binding: None };
        let slots = reach.patterns.iter().map(|pattern| self.slot_of(program, Some(alone(*pattern)))).collect();
        let triggers: Vec<LineTrigger> = triggers
            .iter()
            .map(|trigger| LineTrigger {
                slot: trigger.pattern.map(|pattern| self.slot_of(program, Some(pattern))),
                is_bound: trigger.pattern.is_some_and(|pattern| pattern.binding.is_some()),
                evidence: trigger.evidence.iter().map(|one| self.line_evidence(program, one)).collect(),
            })
            .collect();
        let of_stack = |one: &LineEvidence| match one {
            LineEvidence::Unclosed(list) => self.closed.get(*list as usize).is_some_and(|closed| closed.is_stack),
            _ => false,
        };
        let is_exact = triggers.iter().flat_map(|trigger| &trigger.evidence).any(of_stack);
        self.triggered.push(TriggeredAssertion { place, slots, triggers, is_exact, opener });
    }

    fn line_evidence(&mut self, program: usize, evidence: &StepEvidence) -> LineEvidence {
        let slot = self.slot_of(program, Some(evidence.pattern));
        if !matches!(evidence.taken, TakenSteps::SinceLast(_) | TakenSteps::Open(_)) {
            self.evidence.insert(slot);
        }
        let (closer, is_stack) = match evidence.taken {
            TakenSteps::All => return LineEvidence::All(slot),
            TakenSteps::Few => return LineEvidence::Few(slot),
            TakenSteps::FewSure => return LineEvidence::FewSure(slot),
            TakenSteps::SinceLast(closer) => (closer, false),
            TakenSteps::Open(closer) => (closer, true),
        };
        let closed = ClosedMarks { slot, closer: self.slot_of(program, Some(closer)), is_stack };
        let known = self.closed.iter().position(|known| *known == closed);
        let list = known.unwrap_or_else(|| {
            self.closed.push(closed);
            self.closed.len() - 1
        });
        LineEvidence::Unclosed(u32::try_from(list).unwrap_or(u32::MAX))
    }

    /// Returns the lists of lines that later lines can close.
    #[must_use]
    pub fn closed_marks(&self) -> &[ClosedMarks] {
        &self.closed
    }

    /// Evaluates the triggers for a line. `totals` are the numbers of earlier steps with a mark of each slot. `is_open` returns true if a list of
    /// [`ClosedMarks`] has open lines. If an assertion breaks on the selected lines, judge it again with [`Self::needs_of`].
    #[must_use]
    pub(crate) fn triggered_needs(
        &self,
        touch: &LineTouch,
        settled: &AssertionSet,
        totals: &[u64],
        is_open: impl Fn(u32) -> bool,
    ) -> TriggeredNeeds {
        let mut found = TriggeredNeeds::default();
        let (mut wanted, mut taken) = (AssertionSet::default(), BTreeSet::new());
        for one in &self.triggered {
            let is_timed = one.triggers.iter().any(|trigger| trigger.slot.is_none());
            if settled.contains(one.place) || !is_timed && !touch.assertions.contains(one.place) {
                continue;
            }
            match one.answer_of(touch, totals, &is_open) {
                TriggerAnswer::Untouched => found.unbroken.insert(one.place),
                TriggerAnswer::Unknown => {}
                TriggerAnswer::Taken(own) if one.is_exact => {
                    let mut alone = AssertionSet::default();
                    alone.insert(one.place);
                    found.needs.push(GrowthNeed { wanted: alone, earlier: EarlierSteps::Taken(own) });
                }
                TriggerAnswer::Taken(own) => {
                    wanted.insert(one.place);
                    taken.extend(own);
                }
            }
        }
        self.add_flow_needs(touch, settled, &mut found.needs);
        if !wanted.is_empty() {
            found.needs.push(GrowthNeed { wanted, earlier: EarlierSteps::Taken(taken) });
        }
        found
    }
}

impl TriggeredAssertion {
    fn answer_of(&self, touch: &LineTouch, totals: &[u64], is_open: impl Fn(u32) -> bool) -> TriggerAnswer {
        let marks = |slot: u32| touch.marks.iter().filter(move |one| one.mark.slot == slot);
        // A step that cannot be evaluated breaks every assertion that looks at it.
        if self.slots.iter().any(|slot| marks(*slot).any(|one| one.steps == u64::MAX)) {
            return TriggerAnswer::Unknown;
        }
        if let Some(opener) = self.opener {
            let before = totals.get(opener as usize).copied().unwrap_or_default();
            let is_there = before > 0 || marks(opener).next().is_some();
            return if is_there { TriggerAnswer::Unknown } else { TriggerAnswer::Untouched };
        }
        let mut taken = BTreeSet::new();
        let mut is_touched = false;
        for trigger in &self.triggers {
            let Some(slot) = trigger.slot else {
                for list in trigger.lists().filter(|list| is_open(*list)) {
                    is_touched = true;
                    taken.insert(TakenMarks::AllUnclosed(list));
                }
                continue;
            };
            for mark in marks(slot) {
                is_touched = true;
                if trigger.is_bound && mark.mark.value.is_none() {
                    return TriggerAnswer::Unknown;
                }
                trigger.take_evidence(mark.mark.value, &mut taken);
            }
        }
        if is_touched { TriggerAnswer::Taken(taken) } else { TriggerAnswer::Untouched }
    }
}

impl LineTrigger {
    fn lists(&self) -> impl Iterator<Item = u32> {
        self.evidence.iter().filter_map(|one| match one {
            LineEvidence::Unclosed(list) => Some(*list),
            _ => None,
        })
    }

    /// Selects the lines with this value, and those that may have any value.
    fn take_evidence(&self, value: Option<u64>, taken: &mut BTreeSet<TakenMarks>) {
        let any = value.is_some().then_some(None);
        for value in std::iter::once(value).chain(any) {
            let marks = self.evidence.iter().map(|one| match *one {
                LineEvidence::All(slot) => TakenMarks::All(LineMark { slot, value }),
                LineEvidence::Few(slot) => TakenMarks::Few(LineMark { slot, value }),
                LineEvidence::FewSure(slot) => TakenMarks::FewSure(LineMark { slot, value }),
                LineEvidence::Unclosed(list) => TakenMarks::Unclosed(list, value),
            });
            taken.extend(marks);
        }
    }
}
