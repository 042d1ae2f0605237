//! Counts and scores of run after run from answers alone: what stays as it was in the run before costs nothing.
//!
//! It says what [`averment_report::chunk_totals::Judged::of_verdict`] says of the same verdicts. Each assertion has the run since which its status
//! is what it is, and is counted when that changes. Sums of scores are kept where they are exact whatever the order: whole weights, and rules
//! of one assertion. Elsewhere the parts are added up from left to right, as the language wants it.

use crate::prefilter::PrefilterAnswer;
use averment_checker::ir::{DenySettings, Severity};
use averment_engine::bytecode::program::{CompiledAssertion, Program};
use averment_engine::vm::outcome::Status;
use averment_engine::vm::score::{self, JudgedAssertion};
use averment_engine::vm::summary;
use averment_report::chunk_totals::ChunkTotals;
use averment_report::gate::{self, Gate, GateInputs, GatePolicy};
use averment_report::table::ReportTable;

/// The incremental totals of all programs.
#[derive(Debug)]
pub struct IncrementalTotals {
    places: Vec<AssertionSlot>,
    parts: Vec<ScorePart>,
    programs: Vec<ProgramScore>,
    policy: GatePolicy,
    /// True if a run was counted: its answers are the last ones, and none of them is open.
    begun: bool,
    /// Answers for the last run that was counted; open without one.
    last: Vec<PrefilterAnswer>,
    since: Vec<u32>,
    /// Number of runs since the counts were taken.
    runs: u32,
    counts: Vec<[u32; Status::ALL.len()]>,
    gates: [u32; 3],
    exercised: u32,
    changed: Vec<usize>,
    stale: Vec<usize>,
}

#[derive(Debug)]
struct AssertionSlot {
    item: usize,
    part: usize,
    /// For an assertion that is a part of its own: its program, and its score when it passes.
    lone: Option<SinglePartScore>,
    /// By answer; a run has thousands of these, and few of them change.
    effects: [AnswerEffect; PrefilterAnswer::ALL.len()],
    is_error: bool,
    weight: f64,
    must: bool,
}

/// What an answer says of its run.
#[derive(Debug, Clone, Copy)]
struct AnswerEffect {
    /// `None` for an open one.
    status: Option<Status>,
    gate: Gate,
    is_exercised: bool,
}

#[derive(Debug, Clone, Copy)]
struct SinglePartScore {
    program: usize,
    weight: f64,
    /// False for weight 0 in a rule, which does not affect the score.
    counts: bool,
}

#[derive(Debug)]
struct ScorePart {
    weight: f64,
    members: Vec<usize>,
    rule: Option<RuleGate>,
    score: Option<f64>,
    gate: Gate,
    stale: bool,
}

#[derive(Debug)]
struct RuleGate {
    threshold: Option<f64>,
    /// True if its threshold fails the run.
    gates: bool,
    denied: DenySettings,
}

#[derive(Debug)]
struct ProgramScore {
    parts: std::ops::Range<usize>,
    /// True if sums do not depend on the order.
    exact: bool,
    counted: u32,
    weights: f64,
    scores: f64,
}

/// Whole numbers up to this one, and sums of many of them, are exact.
const WHOLE: f64 = 4_294_967_296.0;

/// Answers compared at once, one per byte.
const WORD: usize = size_of::<u64>();
const BITS: usize = u8::BITS as usize;

fn pack_answers(answers: &[PrefilterAnswer; WORD]) -> u64 {
    u64::from_le_bytes(answers.map(|answer| answer as u8))
}

impl IncrementalTotals {
    /// Nothing counted yet. `selected` gives the assertions of each program in the order of the answers.
    pub fn new<'a>(
        programs: impl IntoIterator<Item = (&'a Program, Vec<u32>)>,
        table: &ReportTable,
        policy: GatePolicy,
    ) -> Self {
        let mut running = Self {
            places: Vec::new(),
            parts: Vec::new(),
            programs: Vec::new(),
            policy,
            begun: false,
            last: Vec::new(),
            since: Vec::new(),
            runs: 0,
            counts: Vec::new(),
            gates: [0; 3],
            exercised: 0,
            changed: Vec::new(),
            stale: Vec::new(),
        };
        for (number, (program, selected)) in programs.into_iter().enumerate() {
            running.add_program(number, program, &selected, table);
        }
        running.last = vec![PrefilterAnswer::Open; running.places.len()];
        running.since = vec![0; running.places.len()];
        running.counts = vec![Default::default(); table.items.len()];
        running
    }

    fn add_program(&mut self, number: usize, program: &Program, selected: &[u32], table: &ReportTable) {
        let start = self.parts.len();
        let mut of_rule = vec![None; program.rules.len()];
        for assertion in selected {
            let (Some(of), Some(item)) =
                (program.assertions.get(*assertion as usize), table.item_index(number, *assertion))
            else {
                continue;
            };
            let known = of.rule.and_then(|rule| of_rule.get_mut(rule as usize));
            let part = known.map_or(self.parts.len(), |known| *known.get_or_insert(self.parts.len()));
            if part == self.parts.len() {
                self.parts.push(ScorePart::new(program, of));
            }
            if let Some(own) = self.parts.get_mut(part) {
                own.members.push(self.places.len());
                let by_rule = own.rule.as_ref().is_some_and(|rule| rule.threshold.is_some());
                let over_runs = table.items.get(item).is_some_and(|item| item.over_runs);
                let is_error = of.settings.severity == Severity::Error;
                let gating = GateInputs { is_error, by_rule, over_runs, denied: of.settings.denied };
                self.places.push(AssertionSlot::new(of, item, part, gating, self.policy));
            }
        }
        let parts = start..self.parts.len();
        let mut these = self.parts.get(parts.clone()).unwrap_or_default().iter();
        let exact = these.all(|part| part.is_exact(&self.places));
        for part in self.parts.get(parts.clone()).unwrap_or_default().iter().filter(|_| exact) {
            let of_rule = part.rule.is_some();
            for member in &part.members {
                if let Some(place) = self.places.get_mut(*member) {
                    let counts = !of_rule || place.weight > 0.0;
                    place.lone = Some(SinglePartScore { program: number, weight: part.weight, counts });
                }
            }
        }
        self.programs.push(ProgramScore { parts, exact, counted: 0, weights: 0.0, scores: 0.0 });
    }

    /// Finds out what differs from the last run that was counted. False where something is open; it is for the caller to settle that first.
    pub fn compare_answers(&mut self, answers: &[PrefilterAnswer]) -> bool {
        let first = !self.begun;
        self.changed.clear();
        let ((new, new_rest), (old, old_rest)) = (answers.as_chunks::<WORD>(), self.last.as_chunks::<WORD>());
        let mut from = 0_usize;
        for (new, old) in new.iter().zip(old) {
            let mut differs = if first { u64::MAX } else { pack_answers(new) ^ pack_answers(old) };
            while differs != 0 {
                let at = differs.trailing_zeros() as usize / BITS;
                self.changed.push(from.wrapping_add(at));
                differs &= !(0xFF << (at * BITS));
            }
            from = from.wrapping_add(WORD);
        }
        let rest = (answers.len() - new_rest.len()..).zip(new_rest.iter().zip(old_rest));
        self.changed.extend(rest.filter(|(_, (new, old))| first || new != old).map(|(place, _)| place));
        self.changed.iter().all(|place| answers.get(*place) != Some(&PrefilterAnswer::Open))
    }

    /// What [`Self::compare_answers`] found to differ: items of the table, with the status that each has now.
    pub fn changed_statuses(&self, answers: &[PrefilterAnswer]) -> impl Iterator<Item = (usize, Status)> {
        self.changed.iter().filter_map(|number| {
            let place = self.places.get(*number)?;
            Some((place.item, place.effect_of(*answers.get(*number)?).status?))
        })
    }

    /// Counts a run with these answers, none of which is open, into the totals.
    pub fn add_run(&mut self, answers: &[PrefilterAnswer], totals: &mut ChunkTotals) {
        self.begun = true;
        let changed = std::mem::take(&mut self.changed);
        for place in &changed {
            if let Some(answer) = answers.get(*place) {
                self.change_answer(*place, *answer);
            }
        }
        self.changed = changed;
        let mut stale = std::mem::take(&mut self.stale);
        stale.drain(..).for_each(|part| self.judge_part(part));
        self.stale = stale;
        self.runs += 1;
        let [_, failed, error] = self.gates;
        let gate = if error > 0 {
            Gate::Error
        } else if failed > 0 {
            Gate::Failed
        } else {
            Gate::Open
        };
        totals.runs += 1;
        totals.failed += u64::from(gate != Gate::Open);
        totals.idle += u32::from(gate == Gate::Open && self.exercised == 0);
        totals.gate = totals.gate.max(Some(gate));
        totals.scores.extend(self.last_score());
    }

    /// Takes what was counted into the totals.
    pub fn flush_counts(&mut self, totals: &mut ChunkTotals) {
        if self.runs == 0 {
            return;
        }
        let each = self.places.iter().zip(&self.last).zip(&mut self.since);
        for ((place, answer), since) in each {
            note_status(place, place.effect_of(*answer).status, self.runs - *since, &mut self.counts);
            *since = 0;
        }
        self.runs = 0;
        totals.counts.resize(self.counts.len(), Default::default());
        for (all, counts) in totals.counts.iter_mut().zip(&mut self.counts) {
            for (all, count) in all.iter_mut().zip(std::mem::take(counts)) {
                *all += count;
            }
        }
    }

    fn change_answer(&mut self, number: usize, answer: PrefilterAnswer) {
        let (Some(place), Some(last), Some(since)) =
            (self.places.get(number), self.last.get_mut(number), self.since.get_mut(number))
        else {
            return;
        };
        let (old, new) = (place.effect_of(std::mem::replace(last, answer)), place.effect_of(answer));
        note_status(place, old.status, self.runs - *since, &mut self.counts);
        *since = self.runs;
        for (effect, up) in [(old, false), (new, true)] {
            if effect.status.is_some() {
                let one = u32::from(effect.is_exercised);
                self.exercised = if up { self.exercised.wrapping_add(one) } else { self.exercised.wrapping_sub(one) };
                count_gate(&mut self.gates, effect.gate, up);
            }
        }
        if let Some(lone) = place.lone {
            if let Some(sum) = self.programs.get_mut(lone.program) {
                sum.remove_score(lone.weight, lone.part_score(old.status));
                sum.add_score(lone.weight, lone.part_score(new.status));
            }
        } else if let Some(part) = self.parts.get_mut(place.part).filter(|part| !part.stale) {
            part.stale = true;
            self.stale.push(place.part);
        }
    }

    fn judge_part(&mut self, number: usize) {
        let Self { places, parts, last, gates, policy, .. } = self;
        let Some(part) = parts.get_mut(number) else { return };
        part.stale = false;
        let judged = |place: &usize| places.get(*place)?.judged_assertion(*last.get(*place)?);
        let (score, verdict) = match (&part.rule, part.members.as_slice()) {
            (None, members) => (members.first().and_then(|member| judged(member)?.score), None),
            (Some(RuleGate { threshold: None, .. }), [one]) => {
                let one = judged(one);
                (one.and_then(|one| score::rule_score(&[one])), None)
            }
            (Some(rule), members) => {
                let all: Vec<JudgedAssertion> = members.iter().filter_map(judged).collect();
                let verdict = rule.threshold.map(|threshold| score::rule_verdict(Some(threshold), &all));
                (score::rule_score(&all), verdict.filter(|_| rule.gates))
            }
        };
        let denied = part.rule.as_ref().map_or(DenySettings::default(), |rule| rule.denied);
        let of_verdict = |verdict| gate::status_gate(Status::of_verdict(verdict, false), policy.with_denied(denied));
        let gate = verdict.map_or(Gate::Open, of_verdict);
        if gate != part.gate {
            count_gate(gates, part.gate, false);
            count_gate(gates, gate, true);
            part.gate = gate;
        }
        part.score = score;
    }

    fn last_score(&self) -> Option<f64> {
        averment_report::model::mean_score(self.programs.iter().filter_map(|sum| sum.mean_score(&self.parts)))
    }
}

fn note_status(place: &AssertionSlot, status: Option<Status>, runs: u32, counts: &mut [[u32; Status::ALL.len()]]) {
    let Some(status) = status else { return };
    if let Some(count) = counts.get_mut(place.item).and_then(|counts| counts.get_mut(status as usize)) {
        *count += runs;
    }
}

fn count_gate(gates: &mut [u32; 3], gate: Gate, up: bool) {
    if let Some(count) = gates.get_mut(gate as usize) {
        *count = if up { count.wrapping_add(1) } else { count.wrapping_sub(1) };
    }
}

impl ScorePart {
    fn new(program: &Program, assertion: &CompiledAssertion) -> Self {
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        Self {
            weight: rule.map_or(assertion.settings.weight, |rule| rule.weight),
            members: Vec::new(),
            rule: rule.map(|rule| RuleGate {
                threshold: rule.threshold,
                gates: rule.threshold.is_some() && rule.severity == Severity::Error && !rule.over_runs,
                denied: rule.denied,
            }),
            score: None,
            gate: Gate::Open,
            stale: false,
        }
    }

    /// True if its score is 0 or 1 from one assertion, and its weight is a whole number.
    fn is_exact(&self, places: &[AssertionSlot]) -> bool {
        let finite = |place: &usize| places.get(*place).is_some_and(|place| place.weight.is_finite());
        let whole = self.weight.fract() == 0.0 && (0.0..=WHOLE).contains(&self.weight);
        let by_threshold = self.rule.as_ref().is_some_and(|rule| rule.threshold.is_some());
        whole && !by_threshold && matches!(self.members.as_slice(), [one] if finite(one))
    }
}

impl AssertionSlot {
    fn new(assertion: &CompiledAssertion, item: usize, part: usize, gating: GateInputs, policy: GatePolicy) -> Self {
        let settings = &assertion.settings;
        let expected = settings.expect_fail.is_some();
        let effect = |answer: PrefilterAnswer| {
            let status = answer.as_verdict().map(|verdict| Status::of_verdict(verdict, expected));
            AnswerEffect {
                status,
                gate: status.map_or(Gate::Open, |status| gate::assertion_gate(gating, status, false, policy)),
                is_exercised: status.is_some_and(Status::is_exercised),
            }
        };
        let (weight, must) = (settings.weight, settings.must);
        let effects = PrefilterAnswer::ALL.map(effect);
        Self { item, part, lone: None, effects, is_error: gating.is_error, weight, must }
    }

    fn effect_of(&self, answer: PrefilterAnswer) -> AnswerEffect {
        let none = AnswerEffect { status: None, gate: Gate::Open, is_exercised: false };
        self.effects.get(answer as usize).copied().unwrap_or(none)
    }

    fn judged_assertion(&self, answer: PrefilterAnswer) -> Option<JudgedAssertion> {
        let (verdict, status) = (answer.as_verdict()?, self.effect_of(answer).status?);
        let score = score::counted_score(status, score::of_verdict(verdict));
        let verdict = summary::counted_verdict(status, verdict);
        Some(JudgedAssertion { verdict, score, weight: self.weight, is_error: self.is_error, must: self.must })
    }
}

impl SinglePartScore {
    /// `None` if it does not count.
    fn part_score(self, status: Option<Status>) -> Option<f64> {
        let score = score::of_status(status?)?;
        Some(if self.counts { score } else { 0.0 })
    }
}

impl ProgramScore {
    fn add_score(&mut self, weight: f64, score: Option<f64>) {
        if let Some(score) = score {
            self.counted += 1;
            self.weights += weight;
            self.scores += weight * score;
        }
    }

    fn remove_score(&mut self, weight: f64, score: Option<f64>) {
        if let Some(score) = score {
            self.counted -= 1;
            self.weights -= weight;
            self.scores -= weight * score;
        }
    }

    fn mean_score(&self, parts: &[ScorePart]) -> Option<f64> {
        if !self.exact {
            let these = parts.get(self.parts.clone()).unwrap_or_default();
            return score::weighted_mean(these.iter().filter_map(|part| Some((part.weight, part.score?))));
        }
        match (self.counted, self.weights > 0.0) {
            (0, _) => None,
            (_, false) => Some(0.0),
            (_, true) => Some(self.scores / self.weights),
        }
    }
}
