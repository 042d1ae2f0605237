//! What judging costs and how much of each run it reads, noted while a profile is made. Nothing is judged in another way for it.

use super::ThreadJudge;
use super::judge_way::{FullReadCause, JudgeWay};
use crate::prefilter::{EvaluationRules, Prefilter, PrefilterAnswer};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::profile::Profile;
use averment_report::profile::{CheckCosts, FullReadFor, OtherCause, ProfilePhase, ReadCounts};
use std::cell::RefCell;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The time since the first look at it.
fn elapsed_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Empty notes for programs, with what the rules have cost since a moment.
pub fn begin_costs(programs: &[Program], since: Instant) -> CheckCosts {
    let mut costs = CheckCosts::new(programs.iter().map(|program| program.assertions.len()), elapsed_time);
    costs.add_time(ProfilePhase::Rules, since.elapsed());
    costs
}

/// Where the machines of one thread note their costs, by program; none where nobody asks.
pub fn profiles(all: Option<&Mutex<CheckCosts>>) -> Vec<RefCell<Profile>> {
    let Some(all) = all else { return Vec::new() };
    let costs = all.lock().unwrap_or_else(PoisonError::into_inner);
    costs.programs.iter().map(|_| RefCell::new(Profile::new(costs.clock()))).collect()
}

/// What one thread notes; nothing where nobody asks.
pub(super) struct JudgeObserver<'p>(Option<Notes<'p>>);

struct Notes<'p> {
    costs: CheckCosts,
    /// What is being done, and since when.
    phase: ProfilePhase,
    since: Duration,
    profiles: &'p [RefCell<Profile>],
    all: &'p Mutex<CheckCosts>,
}

impl<'p> JudgeObserver<'p> {
    /// Begins with the preparations of a thread.
    pub(super) fn new(all: Option<&'p Mutex<CheckCosts>>, profiles: &'p [RefCell<Profile>]) -> Self {
        Self(all.map(|all| {
            let mut costs = all.lock().unwrap_or_else(PoisonError::into_inner).emptied();
            costs.threads = 1;
            let since = (costs.clock())();
            Notes { costs, phase: ProfilePhase::Preparing, since, profiles, all }
        }))
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Something else is done from here on. Returns how many nanoseconds what was done before has taken.
    pub(super) fn enter(&mut self, phase: ProfilePhase) -> u64 {
        let Some(notes) = &mut self.0 else { return 0 };
        let now = (notes.costs.clock())();
        let time = notes.costs.add_time(notes.phase, now.saturating_sub(notes.since));
        (notes.phase, notes.since) = (phase, now);
        time
    }

    /// Begins a chunk of so many bytes. What was done since the chunk before it is no work of the judge.
    pub(super) fn begin_chunk(&mut self, bytes: impl FnOnce() -> usize) {
        let Some(notes) = &mut self.0 else { return };
        (notes.phase, notes.since) = (ProfilePhase::FirstLook, (notes.costs.clock())());
        notes.costs.bytes += u64::try_from(bytes()).unwrap_or(u64::MAX);
    }

    /// Ends a chunk: hands on what was noted.
    pub(super) fn end_chunk(&mut self, reads: ReadCounts) {
        self.enter(ProfilePhase::FirstLook);
        let Some(notes) = &mut self.0 else { return };
        notes.costs.reads = reads;
        let emptied = notes.costs.emptied();
        let mut costs = std::mem::replace(&mut notes.costs, emptied);
        for (program, profile) in costs.programs.iter_mut().zip(notes.profiles) {
            if let Ok(mut profile) = profile.try_borrow_mut() {
                program.profile = profile.take();
            }
        }
        notes.all.lock().unwrap_or_else(PoisonError::into_inner).add_costs(&costs);
    }

    /// Notes that a run of a format and so many bytes was read in full, which has taken so many nanoseconds.
    pub(super) fn note_format(&mut self, format: &'static str, bytes: usize, time: u64) {
        let Some(notes) = &mut self.0 else { return };
        let reading = notes.costs.formats.entry(format).or_default();
        reading.runs += 1;
        reading.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        reading.time += time;
    }

    /// Notes which assertions of a run the first look decides.
    fn note_answers<'s>(&mut self, prefilters: impl Iterator<Item = &'s Prefilter>, answers: &[PrefilterAnswer]) {
        let Some(notes) = &mut self.0 else { return };
        let mut answers = answers.iter();
        for (program, prefilter) in prefilters.enumerate() {
            for (number, answer) in prefilter.assertion_numbers().zip(answers.by_ref()) {
                if let Some(reading) = notes.costs.assertion_mut(program, number) {
                    reading.decided += u64::from(answer.as_verdict().is_some());
                }
            }
        }
    }

    /// Notes that a run is read in full for an assertion.
    fn note_full_read(
        &mut self,
        at: usize,
        rules: EvaluationRules<'_>,
        prefilter: &Prefilter,
        read: (u32, FullReadFor),
    ) {
        let (number, what_for) = read;
        let reading = self.0.as_mut().and_then(|notes| notes.costs.assertion_mut(at, number));
        let Some(reading) = reading else { return };
        if what_for == FullReadFor::Verdict && reading.needs.is_empty() {
            reading.needs = prefilter.need_of(rules, number).to_string();
            reading.is_always_read = prefilter.always_read().contains(&number);
        }
        if let Some(runs) = reading.full_reads.get_mut(what_for as usize) {
            *runs += 1;
        }
    }

    fn note_other_cause(&mut self, cause: OtherCause) {
        let runs = self.0.as_mut().and_then(|notes| notes.costs.other_full_reads.get_mut(cause as usize));
        runs.into_iter().for_each(|runs| *runs += 1);
    }
}

impl ThreadJudge<'_> {
    /// Notes which assertions of the run at hand the first look decides.
    pub(super) fn note_answers(&mut self) {
        self.observer.note_answers(self.programs.iter().map(|one| &one.prefilter), &self.answers);
    }

    /// Notes what a run is read in full for.
    pub(super) fn note_cause(&mut self, way: JudgeWay) {
        let (JudgeWay::InFull(cause) | JudgeWay::Unseen(cause)) = way else { return };
        if !self.observer.is_on() {
            return;
        }
        match cause {
            FullReadCause::Assertions => self.note_obstacles(),
            FullReadCause::EveryRun => {
                for (place, one) in self.programs.iter().enumerate() {
                    for number in one.prefilter.always_read() {
                        self.observer.note_full_read(place, one.rules, &one.prefilter, (*number, FullReadFor::Verdict));
                    }
                }
            }
            FullReadCause::Option => self.observer.note_other_cause(OtherCause::Option),
            FullReadCause::Report => self.observer.note_other_cause(OtherCause::Report),
            FullReadCause::Run => self.observer.note_other_cause(OtherCause::Run),
        }
    }

    /// Notes the assertions that the run at hand is read in full for.
    fn note_obstacles(&mut self) {
        let mut answers = self.answers.iter();
        for (place, one) in self.programs.iter().enumerate() {
            for ((number, reads), answer) in one.numbered_reads().zip(answers.by_ref()) {
                if let Some(what_for) = self.obstacle(place, number, reads, *answer) {
                    self.observer.note_full_read(place, one.rules, &one.prefilter, (number, what_for));
                }
            }
        }
    }
}
