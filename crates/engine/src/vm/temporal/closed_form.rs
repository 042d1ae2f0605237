//! Closed forms: verdicts that need no play. Where all matches of a statement are sure, the order of steps and the values bound say how
//! it stands: whether each B has an A before it is looked up, not played step by step.
//!
//! A closed form is written once, over [`Occurrences`]. These are the sorted matches of the timeline, or the calls of a run of which only
//! the names are known. What is unknown, bound in some of the patterns only, tested against other steps, or still going on is left to the
//! monitors. A monitor that plays all matches says the same with the same words; `tests/oracle` compares both.

use super::by_name::{NamedCalls, NamedOccurrences, NamedOperand};
use super::call_knowledge::unknown_cause;
use super::failures::FailureList;
use super::monitor::{EventSelection, PatternPresence, PlayedMatches, PossibleOutcomes, VerdictReason, event_hit};
use super::recent_occurrences::{bound_holds, step_measure};
use super::sorted_matches::SortedMatches;
use super::statements::StatementDefinition;
use super::timeline::ValueId;
use super::view::MonitorView;
use crate::bytecode::program::CodeId;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_checker::ir::StepDistance;
use averment_runs::run::Step;
use smallvec::SmallVec;

/// Answers the conditions and tests that a closed form depends on.
pub trait ConditionOracle {
    /// The truth of a condition on a match of an operand; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn condition_truth(&mut self, code: CodeId, operand: usize, event: u32) -> Result<Option<Truth>, Fault>;

    /// The truth of the test of a number of matches; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn number_truth(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault>;

    /// Takes fuel, where that is counted.
    ///
    /// # Errors
    /// When there is none left.
    fn spend_fuel(&mut self, _units: usize) -> Result<(), Fault> {
        Ok(())
    }
}

impl ConditionOracle for MonitorView<'_, '_> {
    fn condition_truth(&mut self, code: CodeId, operand: usize, event: u32) -> Result<Option<Truth>, Fault> {
        let Some(hit) = event_hit(operand, event, self) else { return Ok(None) };
        self.condition_of(code, &hit)
    }

    fn number_truth(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault> {
        self.truth_of_number(code, number).map(Some)
    }

    fn spend_fuel(&mut self, units: usize) -> Result<(), Fault> {
        MonitorView::spend_fuel(self, units)
    }
}

/// The state of a statement and what occurs; `None` if its matches have to be played step by step.
pub(super) fn decide_closed(
    view: &mut MonitorView<'_, '_>,
    statement: &StatementDefinition,
    selected: &[EventSelection],
) -> Result<Option<(ClosedVerdict, PlayedMatches)>, Fault> {
    // A proof of what holds names steps that only play finds.
    if !view.context.window.closed || view.context.proves_passes || view.machine.plays_all {
        return Ok(None);
    }
    let names = view.operand_names(0);
    if !statement.meaning.is_closed(names.is_empty()) {
        return Ok(None);
    }
    let sorted =
        selected.iter().enumerate().map(|(operand, selection)| SortedMatches::new(view, operand, selection, names));
    let Some(sorted) = sorted.collect::<Option<SmallVec<[SortedMatches<'_>; 3]>>>() else { return Ok(None) };
    view.spend_fuel(sorted.iter().map(|matches| matches.event_range().len()).sum())?;
    let (steps, calls) = (view.machine.run.steps, view.calls);
    let search =
        OccurrenceLookup { source: OccurrenceSource::Timeline { sorted: &sorted, steps, calls }, listed: view.listed };
    let Some(decided) = statement.meaning.closed_form(&search, view)? else { return Ok(None) };
    let occurs = |matches: &SortedMatches<'_>| {
        let occurs = !matches.event_range().is_empty();
        PatternPresence { sure: occurs, possible: occurs }
    };
    Ok(Some((decided, PlayedMatches { operands: sorted.iter().map(occurs).collect(), unknown: None })))
}

pub(super) struct ClosedVerdict {
    pub(super) judged: PossibleOutcomes,
    words: Option<FailureWords>,
}

type FailureWords = Box<dyn Fn(&mut MonitorView<'_, '_>) -> Option<VerdictReason>>;

impl ClosedVerdict {
    pub(super) fn explain_failure(&self, view: &mut MonitorView<'_, '_>) -> VerdictReason {
        self.words.as_ref().and_then(|words| words(view)).unwrap_or_default()
    }
}

pub(super) struct OccurrenceLookup<'s, 'run> {
    pub(super) source: OccurrenceSource<'s, 'run>,
    /// Number of listed failures; with 0 the first is enough.
    pub(super) listed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FailingPlace {
    pub(super) step: u32,
    pub(super) operand: usize,
    pub(super) event: u32,
    pub(super) others: (Option<u32>, Option<u32>),
}

impl FailingPlace {
    pub(super) fn new(operand: usize, occurrences: Occurrences<'_>, event: u32) -> Self {
        Self { step: occurrences.event_step(event), operand, event, others: (None, None) }
    }
}

pub(super) enum OccurrenceSource<'s, 'run> {
    Timeline {
        sorted: &'s [SortedMatches<'s>],
        steps: &'run [Step<'run>],
        calls: &'s [u32],
    },
    /// A run's calls by name. Events are positions; nothing is bound.
    Names {
        calls: &'s NamedCalls<'s>,
        operands: &'s [NamedOperand],
    },
}

impl<'s> OccurrenceLookup<'s, '_> {
    /// Empty if the statement has no such operand.
    pub(super) fn operand_occurrences(&self, operand: usize) -> Option<Occurrences<'s>> {
        match &self.source {
            OccurrenceSource::Timeline { sorted, .. } => sorted.get(operand).map(Occurrences::Sorted),
            OccurrenceSource::Names { calls, operands } => {
                operands.get(operand).map(|operand| Occurrences::Named(calls.sure_occurrences(*operand)))
            }
        }
    }

    pub(super) fn occurrences_from(&self, from: usize) -> impl Iterator<Item = (usize, Occurrences<'s>)> {
        (from..).map_while(|operand| Some((operand, self.operand_occurrences(operand)?)))
    }

    pub(super) fn is_unbound(&self) -> bool {
        match &self.source {
            OccurrenceSource::Timeline { sorted, .. } => sorted.first().is_none_or(SortedMatches::is_unbound),
            OccurrenceSource::Names { .. } => true,
        }
    }

    /// Occurrences that differ in values; without bindings, only the first.
    pub(super) fn by_values(&self, occurrences: Occurrences<'s>) -> impl Iterator<Item = u32> {
        occurrences.event_numbers().take(if self.is_unbound() { 1 } else { usize::MAX })
    }

    pub(super) fn call_count(&self) -> usize {
        match &self.source {
            OccurrenceSource::Timeline { calls, .. } => calls.len(),
            OccurrenceSource::Names { calls, .. } => calls.classes.len(),
        }
    }

    pub(super) fn call_step(&self, place: usize) -> Option<u32> {
        match &self.source {
            OccurrenceSource::Timeline { calls, .. } => calls.get(place).copied(),
            OccurrenceSource::Names { calls, .. } => u32::try_from(place).ok().filter(|_| place < calls.classes.len()),
        }
    }

    pub(super) fn is_within(&self, within: Option<StepDistance>, from: u32, to: u32) -> bool {
        let of = |step: u32| match &self.source {
            OccurrenceSource::Timeline { steps, .. } => {
                steps.get(step as usize).and_then(|step| step_measure(within, step))
            }
            OccurrenceSource::Names { .. } => is_by_place(within).then_some(f64::from(step)),
        };
        within.is_none() || bound_holds(within, of(from), of(to)) == Some(true)
    }

    pub(super) fn lists_failures(&self) -> bool {
        self.listed > 0
    }

    /// Failures in step order, one per match; only the first unless more are listed.
    pub(super) fn list_places(&self, places: impl Iterator<Item = FailingPlace>) -> FailureList<FailingPlace> {
        self.distinct_failures(places, |place| (place.step, place.operand))
    }

    pub(super) fn list_steps(&self, places: impl Iterator<Item = FailingPlace>) -> FailureList<FailingPlace> {
        self.distinct_failures(places, |place| place.step)
    }

    fn distinct_failures<K: PartialEq>(
        &self,
        places: impl Iterator<Item = FailingPlace>,
        key: impl Fn(&FailingPlace) -> K,
    ) -> FailureList<FailingPlace> {
        let mut failures = FailureList::new(self.listed);
        if !self.lists_failures() {
            failures.extend(places.min());
            return failures;
        }
        let mut all: Vec<FailingPlace> = places.collect();
        all.sort_unstable();
        all.dedup_by_key(|place| key(place));
        failures.extend(all);
        failures
    }

    pub(super) fn fails_at<W>(&self, places: FailureList<FailingPlace>, words: W) -> ClosedVerdict
    where
        W: Fn(&mut MonitorView<'_, '_>, &FailingPlace) -> Option<VerdictReason> + 'static,
    {
        let fails = !places.is_empty();
        self.fails_with(
            fails.then_some(move |view: &mut MonitorView<'_, '_>| Some(places.explain_places(view, &words))),
        )
    }

    /// True if an earlier step was known to a later one; `None` if undecidable here.
    pub(super) fn is_known(&self, earlier: u32, later: u32) -> Option<bool> {
        match &self.source {
            OccurrenceSource::Timeline { steps, .. } => {
                let of = |step: u32| steps.get(step as usize);
                Some(unknown_cause(of(earlier)?, of(later)?).is_none())
            }
            OccurrenceSource::Names { calls, .. } => calls.is_known(earlier, later),
        }
    }

    pub(super) fn closed_verdict<W>(&self, judged: PossibleOutcomes, words: Option<W>) -> ClosedVerdict
    where
        W: Fn(&mut MonitorView<'_, '_>) -> Option<VerdictReason> + 'static,
    {
        let asked = matches!(self.source, OccurrenceSource::Timeline { .. });
        let words = words.filter(|_| asked).map(|words| Box::new(words) as FailureWords);
        ClosedVerdict { judged, words }
    }

    pub(super) fn fails_with<W>(&self, words: Option<W>) -> ClosedVerdict
    where
        W: Fn(&mut MonitorView<'_, '_>) -> Option<VerdictReason> + 'static,
    {
        self.closed_verdict(PossibleOutcomes::from_failure(words.is_some()), words)
    }
}

/// True if the bound counts calls: the nearest step decides then, because positions only grow.
pub(super) fn is_by_place(within: Option<StepDistance>) -> bool {
    matches!(within, None | Some(StepDistance::Calls(_)))
}

/// Occurrences of one operand in step order; event numbers grow with the steps.
#[derive(Clone, Copy)]
pub(super) enum Occurrences<'s> {
    Sorted(&'s SortedMatches<'s>),
    Named(NamedOccurrences<'s>),
}

impl<'s> Occurrences<'s> {
    pub(super) fn event_numbers(self) -> impl DoubleEndedIterator<Item = u32> + 's {
        let range = match self {
            Self::Sorted(matches) => matches.event_range(),
            Self::Named(named) => named.place_range(),
        };
        range.filter(move |event| match self {
            Self::Sorted(_) => true,
            Self::Named(named) => named.is_at(*event),
        })
    }

    pub(super) fn len(self) -> usize {
        match self {
            Self::Sorted(matches) => matches.event_range().len(),
            Self::Named(named) => named.matches.count as usize,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(super) fn first_event(self) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.event_range().next(),
            Self::Named(named) => named.place_range().next(),
        }
    }

    pub(super) fn last_event(self) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.event_range().next_back(),
            Self::Named(named) => named.place_range().next_back(),
        }
    }

    pub(super) fn event_step(self, event: u32) -> u32 {
        match self {
            Self::Sorted(matches) => matches.event_step(event),
            Self::Named(_) => event,
        }
    }

    pub(super) fn event_key(self, event: u32) -> &'s [ValueId] {
        match self {
            Self::Sorted(matches) => matches.event_key(event),
            Self::Named(_) => &[],
        }
    }

    pub(super) fn last_before(self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.last_before(key, step),
            Self::Named(named) => named.last_before(step),
        }
    }

    pub(super) fn is_before(self, key: &[ValueId], step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.last_before(key, step).is_some(),
            Self::Named(named) => named.place_range().next().is_some_and(|first| first < step),
        }
    }

    pub(super) fn is_after(self, key: &[ValueId], step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.first_after(key, step).is_some(),
            Self::Named(named) => named.place_range().next_back().is_some_and(|last| last > step),
        }
    }

    pub(super) fn first_after(self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.first_after(key, step),
            Self::Named(named) => named.first_after(step),
        }
    }

    pub(super) fn first_of(self, key: &[ValueId]) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.first_of(key),
            Self::Named(_) => self.first_event(),
        }
    }

    pub(super) fn is_at(self, step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.is_at(step),
            Self::Named(named) => named.is_at(step),
        }
    }
}
