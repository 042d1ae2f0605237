//! Closed forms: verdicts that need no play. Where all matches of a statement are sure, the order of steps and the values bound say how
//! it stands: whether each B has an A before it is looked up, not played step by step.
//!
//! A closed form is written once, over [`Occurrences`]. These are the sorted matches of the timeline, or the calls of a run of which only
//! the names are known. What is unknown, bound in some of the patterns only, tested against other steps, or still going on is left to the
//! monitors. A monitor that plays all matches says the same with the same words; `tests/oracle` compares both.

use super::by_name::{NamedCalls, NamedOccurrences, NamedOperand};
use super::failures::Failures;
use super::known::not_known;
use super::monitor::{EventSelection, Judged, PlayedMatches, Presence, Why, hit};
use super::recent_occurrences::{bound, measure};
use super::sorted_matches::SortedMatches;
use super::statements::Statement;
use super::timeline::ValueId;
use super::view::View;
use crate::bytecode::program::CodeId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_runs::run::Step;
use smallvec::SmallVec;

/// What a closed form asks of an evaluator: the truth of conditions and tests is not its to say.
pub trait Asks {
    /// The truth of a condition on a match of an operand; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn condition(&mut self, code: CodeId, operand: usize, event: u32) -> Result<Option<Truth>, Fault>;

    /// The truth of the test of a number of matches; `None` where it cannot be said here.
    ///
    /// # Errors
    /// What ended the evaluation.
    fn number(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault>;

    /// Takes fuel, where that is counted.
    ///
    /// # Errors
    /// When there is none left.
    fn spend(&mut self, _units: usize) -> Result<(), Fault> {
        Ok(())
    }
}

impl Asks for View<'_, '_> {
    fn condition(&mut self, code: CodeId, operand: usize, event: u32) -> Result<Option<Truth>, Fault> {
        let Some(hit) = hit(operand, event, self) else { return Ok(None) };
        self.condition_of(code, &hit)
    }

    fn number(&mut self, code: CodeId, number: u64) -> Result<Option<Truth>, Fault> {
        self.truth_of_number(code, number).map(Some)
    }

    fn spend(&mut self, units: usize) -> Result<(), Fault> {
        View::spend(self, units)
    }
}

/// How a statement stands, and what occurs of it; `None` where its matches have to be played.
pub(super) fn decide(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[EventSelection],
) -> Result<Option<(Decided, PlayedMatches)>, Fault> {
    // A proof of what holds names steps that only play finds.
    if !view.context.window.closed || view.context.proves_passes || view.machine.plays_all {
        return Ok(None);
    }
    let names = view.names(0);
    if !statement.meaning.is_closed(names.is_empty()) {
        return Ok(None);
    }
    let sorted =
        selected.iter().enumerate().map(|(operand, selection)| SortedMatches::new(view, operand, selection, names));
    let Some(sorted) = sorted.collect::<Option<SmallVec<[SortedMatches<'_>; 3]>>>() else { return Ok(None) };
    view.spend(sorted.iter().map(|matches| matches.events().len()).sum())?;
    let (steps, calls) = (view.machine.run.steps, view.calls);
    let search = Search { source: Source::Timeline { sorted: &sorted, steps, calls }, listed: view.listed };
    let Some(decided) = statement.meaning.closed(&search, view)? else { return Ok(None) };
    let occurs = |matches: &SortedMatches<'_>| {
        let occurs = !matches.events().is_empty();
        Presence { sure: occurs, possible: occurs }
    };
    Ok(Some((decided, PlayedMatches { operands: sorted.iter().map(occurs).collect(), unknown: None })))
}

/// How a statement stands of which all is known.
pub(super) struct Decided {
    pub(super) judged: Judged,
    /// Why it fails, where it does and somebody may ask.
    words: Option<FailureWords>,
}

type FailureWords = Box<dyn Fn(&mut View<'_, '_>) -> Option<Why>>;

impl Decided {
    /// Why it fails, where it does.
    pub(super) fn explain(&self, view: &mut View<'_, '_>) -> Why {
        self.words.as_ref().and_then(|words| words(view)).unwrap_or_default()
    }
}

/// Where closed forms look for what decides a statement.
pub(super) struct Search<'s, 'run> {
    pub(super) source: Source<'s, 'run>,
    /// How many places are listed where the statement fails; with none the first is enough.
    pub(super) listed: usize,
}

/// A place where a statement fails, and what else is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FailingPlace {
    /// The step.
    pub(super) step: u32,
    /// The operand that it matches.
    pub(super) operand: usize,
    /// The match, by its number.
    pub(super) event: u32,
    /// Another step, or two.
    pub(super) others: (Option<u32>, Option<u32>),
}

impl FailingPlace {
    /// A match with nothing beside it.
    pub(super) fn new(operand: usize, occurrences: Occurrences<'_>, event: u32) -> Self {
        Self { step: occurrences.step(event), operand, event, others: (None, None) }
    }
}

/// Where the occurrences come from.
pub(super) enum Source<'s, 'run> {
    /// The sure matches of each operand in the window, all with values for the same names.
    Timeline {
        sorted: &'s [SortedMatches<'s>],
        steps: &'run [Step<'run>],
        /// The call list of the window.
        calls: &'s [u32],
    },
    /// The calls of a run by their names. They are told by their places, and bind nothing.
    Names { calls: &'s NamedCalls<'s>, operands: &'s [NamedOperand] },
}

impl<'s> Search<'s, '_> {
    /// The occurrences of an operand; none for one that the statement does not have.
    pub(super) fn operand(&self, operand: usize) -> Option<Occurrences<'s>> {
        match &self.source {
            Source::Timeline { sorted, .. } => sorted.get(operand).map(Occurrences::Sorted),
            Source::Names { calls, operands } => {
                operands.get(operand).map(|operand| Occurrences::Named(calls.occurrences(*operand)))
            }
        }
    }

    /// The operands from one on, with their occurrences.
    pub(super) fn operands(&self, from: usize) -> impl Iterator<Item = (usize, Occurrences<'s>)> {
        (from..).map_while(|operand| Some((operand, self.operand(operand)?)))
    }

    /// Whether no match binds anything.
    pub(super) fn is_unbound(&self) -> bool {
        match &self.source {
            Source::Timeline { sorted, .. } => sorted.first().is_none_or(SortedMatches::is_unbound),
            Source::Names { .. } => true,
        }
    }

    /// The occurrences that differ where only values matter: without values the first stands for all.
    pub(super) fn by_values(&self, occurrences: Occurrences<'s>) -> impl Iterator<Item = u32> {
        occurrences.events().take(if self.is_unbound() { 1 } else { usize::MAX })
    }

    /// How many calls the call list has.
    pub(super) fn call_count(&self) -> usize {
        match &self.source {
            Source::Timeline { calls, .. } => calls.len(),
            Source::Names { calls, .. } => calls.classes.len(),
        }
    }

    /// The step of a call of the call list.
    pub(super) fn call(&self, place: usize) -> Option<u32> {
        match &self.source {
            Source::Timeline { calls, .. } => calls.get(place).copied(),
            Source::Names { calls, .. } => u32::try_from(place).ok().filter(|_| place < calls.classes.len()),
        }
    }

    /// Whether the bound from one step to a later one holds.
    pub(super) fn near(&self, within: Option<Within>, from: u32, to: u32) -> bool {
        let of = |step: u32| match &self.source {
            Source::Timeline { steps, .. } => steps.get(step as usize).and_then(|step| measure(within, step)),
            Source::Names { .. } => is_by_place(within).then_some(f64::from(step)),
        };
        within.is_none() || bound(within, of(from), of(to)) == Some(true)
    }

    /// Whether each place is listed where the statement fails.
    pub(super) fn lists(&self) -> bool {
        self.listed > 0
    }

    /// The places where a statement fails, in the order of steps, each match of a step once: the first alone where no others are listed.
    pub(super) fn places(&self, places: impl Iterator<Item = FailingPlace>) -> Failures<FailingPlace> {
        self.distinct(places, |place| (place.step, place.operand))
    }

    /// The same where a step fails it once, whatever it matches.
    pub(super) fn steps(&self, places: impl Iterator<Item = FailingPlace>) -> Failures<FailingPlace> {
        self.distinct(places, |place| place.step)
    }

    fn distinct<K: PartialEq>(
        &self,
        places: impl Iterator<Item = FailingPlace>,
        key: impl Fn(&FailingPlace) -> K,
    ) -> Failures<FailingPlace> {
        let mut failures = Failures::new(self.listed);
        if !self.lists() {
            failures.extend(places.min());
            return failures;
        }
        let mut all: Vec<FailingPlace> = places.collect();
        all.sort_unstable();
        all.dedup_by_key(|place| key(place));
        failures.extend(all);
        failures
    }

    /// A statement that fails in these places, where there are any.
    pub(super) fn fails_at<W>(&self, places: Failures<FailingPlace>, words: W) -> Decided
    where
        W: Fn(&mut View<'_, '_>, &FailingPlace) -> Option<Why> + 'static,
    {
        let fails = !places.is_empty();
        self.fails(fails.then_some(move |view: &mut View<'_, '_>| Some(places.explain(view, &words))))
    }

    /// Whether an earlier step was known to a later one; `None` where that cannot be told here.
    pub(super) fn is_known(&self, earlier: u32, later: u32) -> Option<bool> {
        match &self.source {
            Source::Timeline { steps, .. } => {
                let of = |step: u32| steps.get(step as usize);
                Some(not_known(of(earlier)?, of(later)?).is_none())
            }
            Source::Names { calls, .. } => calls.is_known(earlier, later),
        }
    }

    /// A statement that stands like this; `words` say why it fails.
    pub(super) fn decided<W>(&self, judged: Judged, words: Option<W>) -> Decided
    where
        W: Fn(&mut View<'_, '_>) -> Option<Why> + 'static,
    {
        let asked = matches!(self.source, Source::Timeline { .. });
        let words = words.filter(|_| asked).map(|words| Box::new(words) as FailureWords);
        Decided { judged, words }
    }

    /// A statement that fails if there are words for it.
    pub(super) fn fails<W>(&self, words: Option<W>) -> Decided
    where
        W: Fn(&mut View<'_, '_>) -> Option<Why> + 'static,
    {
        self.decided(Judged::fails(words.is_some()), words)
    }
}

/// Whether of several steps the nearest one is within a bound when any of them is: positions grow from call to call.
pub(super) fn is_by_place(within: Option<Within>) -> bool {
    matches!(within, None | Some(Within::Calls(_)))
}

/// The occurrences of one operand, in the order of steps. They are told by numbers that grow with the steps.
#[derive(Clone, Copy)]
pub(super) enum Occurrences<'s> {
    Sorted(&'s SortedMatches<'s>),
    Named(NamedOccurrences<'s>),
}

impl<'s> Occurrences<'s> {
    /// All of them.
    pub(super) fn events(self) -> impl DoubleEndedIterator<Item = u32> + 's {
        let range = match self {
            Self::Sorted(matches) => matches.events(),
            Self::Named(named) => named.places(),
        };
        range.filter(move |event| match self {
            Self::Sorted(_) => true,
            Self::Named(named) => named.is_at(*event),
        })
    }

    /// How many there are.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Sorted(matches) => matches.events().len(),
            Self::Named(named) => named.matches.count as usize,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The first one.
    pub(super) fn first(self) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.events().next(),
            Self::Named(named) => named.places().next(),
        }
    }

    /// The last one.
    pub(super) fn last(self) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.events().next_back(),
            Self::Named(named) => named.places().next_back(),
        }
    }

    /// The step of one.
    pub(super) fn step(self, event: u32) -> u32 {
        match self {
            Self::Sorted(matches) => matches.step(event),
            Self::Named(_) => event,
        }
    }

    /// The values of one.
    pub(super) fn key(self, event: u32) -> &'s [ValueId] {
        match self {
            Self::Sorted(matches) => matches.key(event),
            Self::Named(_) => &[],
        }
    }

    /// The last one with these values before a step.
    pub(super) fn before(self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.before(key, step),
            Self::Named(named) => named.before(step),
        }
    }

    /// Whether there is one with these values before a step.
    pub(super) fn is_before(self, key: &[ValueId], step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.before(key, step).is_some(),
            Self::Named(named) => named.places().next().is_some_and(|first| first < step),
        }
    }

    /// Whether there is one with these values behind a step.
    pub(super) fn is_after(self, key: &[ValueId], step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.after(key, step).is_some(),
            Self::Named(named) => named.places().next_back().is_some_and(|last| last > step),
        }
    }

    /// The first one with these values behind a step.
    pub(super) fn after(self, key: &[ValueId], step: u32) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.after(key, step),
            Self::Named(named) => named.after(step),
        }
    }

    /// The first one with these values.
    pub(super) fn first_of(self, key: &[ValueId]) -> Option<u32> {
        match self {
            Self::Sorted(matches) => matches.first_of(key),
            Self::Named(_) => self.first(),
        }
    }

    /// Whether there is one at a step.
    pub(super) fn is_at(self, step: u32) -> bool {
        match self {
            Self::Sorted(matches) => matches.is_at(step),
            Self::Named(named) => named.is_at(step),
        }
    }
}
