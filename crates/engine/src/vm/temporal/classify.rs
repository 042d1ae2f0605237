//! Classification: each step is looked at once for all patterns of all statements.
//!
//! The step's kind and name give the candidates; only their conditions are evaluated, and equal conditions once per step. What a
//! pattern's condition does to its statements is decided here and nowhere else: whether the step matches, with which values, and
//! whether something missing decided it.

use super::names::{AlternativeRef, AlternativeRefs};
use super::near_values;
use super::plan::{TemporalPlan, UniquePattern, UniquePatternId};
use super::timeline::{MatchCandidate, MatchEvent, PatternMatches, Timeline, ValueId, ValueTable};
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::profile::CostCenter;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use averment_checker::ir::PatternAlternative;
use averment_runs::run::{Step, StepKind, StepStatus};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

pub(super) fn classify_steps<'run>(machine: &mut Machine<'run>, plan: &TemporalPlan) -> Timeline<'run> {
    let mut timeline = Timeline::new(machine.run, plan.unique_patterns().len());
    let mut classifier =
        StepClassifier { plan, names: FxHashMap::default(), cache: StepValueCache::default(), spent: Vec::new() };
    classifier.spent.resize(plan.unique_patterns().len(), 0);
    for (number, step) in (0..).zip(machine.run.steps) {
        classifier.classify_step(machine, number, step, &mut timeline);
    }
    timeline
}

struct StepClassifier<'p, 'run> {
    plan: &'p TemporalPlan,
    /// Candidates by kind and name, cached where names recur and each is tested.
    names: FxHashMap<(StepKind, &'run str), AlternativeRefs>,
    cache: StepValueCache<'run>,
    /// Fuel spent per pattern, so that a hostile pattern only ends itself.
    spent: Vec<u64>,
}

/// Cache for the current step; scanned while small, hashed beyond that.
#[derive(Default)]
struct StepValueCache<'run> {
    few: Vec<(CodeId, Node<'run>)>,
    more: FxHashMap<CodeId, Node<'run>>,
}

impl<'run> StepValueCache<'run> {
    const FEW: usize = 16;

    fn clear(&mut self) {
        self.few.clear();
        self.more.clear();
    }

    fn get(&self, code: CodeId) -> Option<Node<'run>> {
        let found = self.few.iter().find(|(known, _)| *known == code).map(|(_, node)| *node);
        found.or_else(|| self.more.get(&code).copied())
    }

    fn add_value(&mut self, code: CodeId, node: Node<'run>) {
        if self.few.len() < Self::FEW {
            self.few.push((code, node));
        } else {
            self.more.insert(code, node);
        }
    }
}

struct AlternativeReading {
    truth: Truth,
    value_ids: SmallVec<[ValueId; 4]>,
}

impl<'run> StepClassifier<'_, 'run> {
    fn classify_step(
        &mut self,
        machine: &mut Machine<'run>,
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) {
        let plan = self.plan;
        match plan.name_index().exact_alternatives(step.kind, step.name) {
            Some([]) => {}
            Some(candidates) => self.classify_candidates(machine, candidates, number, step, timeline),
            None => {
                let candidates = self.candidate_alternatives(machine, step);
                self.classify_candidates(machine, &candidates, number, step, timeline);
            }
        }
    }

    fn classify_candidates(
        &mut self,
        machine: &mut Machine<'run>,
        candidates: &[AlternativeRef],
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) {
        self.cache.clear();
        for group in candidates.chunk_by(|a, b| a.unique == b.unique) {
            let Some(first) = group.first() else { continue };
            let Some(unique) = self.plan.unique_pattern(first.unique) else { continue };
            let Some(matches) = timeline.matches.get_mut(first.unique.0 as usize) else { continue };
            if matches.fault.is_some() {
                continue;
            }
            if unique.plain && !machine.plays_all {
                by_name(unique, group, number, step, matches);
                continue;
            }
            let result = self.with_fuel(machine, first.unique, |this, machine| {
                this.match_pattern(machine, unique, group, number, step, timeline)
            });
            if let (Err(fault), Some(matches)) = (result, timeline.matches.get_mut(first.unique.0 as usize)) {
                matches.fault = Some(fault);
            }
        }
    }

    fn candidate_alternatives(&mut self, machine: &Machine<'run>, step: &'run Step<'run>) -> AlternativeRefs {
        let index = self.plan.name_index();
        let find = || index.matching_alternatives(step.kind, step.name, machine.prepared);
        match step.kind {
            // Tools and roles come back; commands, paths and URLs are mostly different each time.
            StepKind::Call | StepKind::Message | StepKind::Skill | StepKind::Span | StepKind::Handover
                if index.has_tests(step.kind) =>
            {
                self.names.entry((step.kind, step.name)).or_insert_with(find).clone()
            }
            _ => find(),
        }
    }

    /// Gives each pattern the fuel of one assertion, however many steps it reads.
    fn with_fuel(
        &mut self,
        machine: &mut Machine<'run>,
        unique: UniquePatternId,
        work: impl FnOnce(&mut Self, &mut Machine<'run>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let spent = self.spent.get(unique.0 as usize).copied().unwrap_or(0);
        machine.refuel();
        machine.spend(spent)?;
        machine.observer.costs.skip_fuel(spent);
        let before = machine.meter.fuel_left();
        let result = machine.costing(CostCenter::Pattern(unique.0), |machine| work(self, machine));
        if let Some(cell) = self.spent.get_mut(unique.0 as usize) {
            *cell += before - machine.meter.fuel_left();
        }
        result
    }

    fn match_pattern(
        &mut self,
        machine: &mut Machine<'run>,
        unique: &UniquePattern,
        candidates: &[AlternativeRef],
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) -> Result<(), Fault> {
        let executed = is_executed(step);
        let mut overall: Option<Truth> = None;
        let mut found = ChoiceReadings::default();
        for candidate in candidates {
            let Some(alternative) = unique.alternatives.get(usize::from(candidate.alternative)) else { continue };
            if alternative.proposed == executed {
                continue;
            }
            machine.spend(1)?;
            let values = Rc::make_mut(&mut timeline.values);
            let Some(reading) = self.read_alternative(machine, unique, alternative, step, values)? else { continue };
            overall = Some(overall.map_or(reading.truth, |truth| truth.or(reading.truth)));
            if unique.joined {
                keep_candidate(timeline, candidate, number, &reading);
            }
            found.add_reading(candidate.alternative, reading, !alternative.joins.is_empty());
            if overall == Some(Truth::True) && found.is_settled() {
                break;
            }
        }
        let Some(matches) = timeline.matches.get_mut(unique_index(candidates)) else { return Ok(()) };
        matches.note_step(number, overall);
        for (alternative, reading) in found.into_readings() {
            let sure = reading.truth.plain_answer() == Some(true);
            matches.add_event(MatchEvent { step: number, alternative, sure }, step.kind, &reading.value_ids);
        }
        Ok(())
    }

    /// Joins status, condition and bindings, stopping at a plain false; `None` if the kind word's text differs.
    fn read_alternative(
        &mut self,
        machine: &mut Machine<'run>,
        unique: &UniquePattern,
        alternative: &PatternAlternative<CodeId>,
        step: &'run Step<'run>,
        values: &mut ValueTable<'run>,
    ) -> Result<Option<AlternativeReading>, Fault> {
        // One that waits for the binding of another pattern is asked with the joins.
        if let Some(text) = alternative.text.filter(|text| !alternative.joins.contains(text))
            && self.condition_truth(machine, text, step)? == Truth::False
        {
            return Ok(None);
        }
        let mut reading = AlternativeReading {
            truth: status_truth(alternative.succeeded, step.status),
            value_ids: smallvec::smallvec![ValueId::OPEN; unique.names.len()],
        };
        if reading.truth != Truth::False
            && let Some(condition) = alternative.condition
        {
            reading.truth = reading.truth.and(self.condition_truth(machine, condition, step)?);
        }
        for &(name, path) in &alternative.binds {
            if reading.truth == Truth::False {
                break;
            }
            let node = self.evaluate_code(machine, path, step)?;
            let position = unique.names.binary_search(&name).unwrap_or(usize::MAX);
            reading.bind_value(position, node, values);
        }
        Ok(Some(reading))
    }

    fn condition_truth(
        &mut self,
        machine: &mut Machine<'run>,
        code: CodeId,
        step: &'run Step<'run>,
    ) -> Result<Truth, Fault> {
        if let Some(Node { value: Value::Truth(truth), .. }) = self.cache.get(code) {
            return Ok(truth);
        }
        let truth = machine.evaluate_truth(code, &ExpressionScope::of_step(step))?;
        self.cache.add_value(code, Node::computed(Value::Truth(truth)));
        Ok(truth)
    }

    fn evaluate_code(
        &mut self,
        machine: &mut Machine<'run>,
        code: CodeId,
        step: &'run Step<'run>,
    ) -> Result<Node<'run>, Fault> {
        if let Some(node) = self.cache.get(code) {
            return Ok(node);
        }
        let node = machine.evaluate_code(code, &ExpressionScope::of_step(step))?;
        self.cache.add_value(code, node);
        Ok(node)
    }
}

fn is_executed(step: &Step<'_>) -> bool {
    step.kind != StepKind::Call || step.status.is_executed()
}

fn by_name(
    unique: &UniquePattern,
    candidates: &[AlternativeRef],
    number: u32,
    step: &Step<'_>,
    matches: &mut PatternMatches,
) {
    let proposed = !is_executed(step);
    let fits = |at: &&AlternativeRef| {
        unique.alternatives.get(usize::from(at.alternative)).is_some_and(|alternative| alternative.proposed == proposed)
    };
    match candidates.iter().find(fits) {
        Some(first) => {
            let event = MatchEvent { step: number, alternative: first.alternative, sure: true };
            matches.add_event(event, step.kind, &[]);
        }
        None => matches.note_step(number, None),
    }
}

fn keep_candidate(timeline: &mut Timeline<'_>, at: &AlternativeRef, step: u32, reading: &AlternativeReading) {
    if let Some(matches) = timeline.matches.get_mut(at.unique.0 as usize) {
        let (truth, value_ids) = (reading.truth, reading.value_ids.clone());
        matches.candidates.push(MatchCandidate { step, alternative: at.alternative, truth, value_ids });
    }
}

fn unique_index(candidates: &[AlternativeRef]) -> usize {
    candidates.first().map_or(usize::MAX, |candidate| candidate.unique.0 as usize)
}

pub(in crate::vm) fn status_truth(word: Option<bool>, status: StepStatus) -> Truth {
    match (word, status) {
        (None, _) => Truth::True,
        (Some(_), StepStatus::Unknown) => Truth::Undecided,
        (Some(ok), StepStatus::Ok) => Truth::from_bool(ok),
        (Some(ok), StepStatus::Failed) => Truth::from_bool(!ok),
        (Some(_), StepStatus::Denied | StepStatus::Pending) => Truth::False,
    }
}

impl AlternativeReading {
    /// `path: $x`: a missing value is no match; an unrecorded one may have any value.
    fn bind_value<'run>(&mut self, position: usize, node: Node<'run>, values: &mut ValueTable<'run>) {
        let id = match node.value {
            Value::Missing | Value::Null => {
                self.truth = self.truth.and(Truth::FalseByMissing);
                return;
            }
            Value::Absent | Value::Truth(Truth::Undecided) => ValueId::ABSENT,
            _ => values.value_id(node),
        };
        if id == ValueId::ABSENT {
            self.truth = self.truth.and(Truth::Undecided);
        }
        let Some(cell) = self.value_ids.get_mut(position) else { return };
        match *cell {
            ValueId::OPEN | ValueId::ABSENT => *cell = id,
            known if id.is_value() && known != id => {
                let bound = values.value_node(known);
                let near = bound.is_some_and(|bound| near_values::are_near(&bound.value, &node.value));
                self.truth = self.truth.and(if near { Truth::FalseByMissing } else { Truth::False });
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct ChoiceReadings {
    /// Alternatives with tests on other bindings, which never end the search.
    joined: SmallVec<[(u16, AlternativeReading); 1]>,
    plain: Option<(u16, AlternativeReading)>,
}

impl ChoiceReadings {
    fn add_reading(&mut self, alternative: u16, reading: AlternativeReading, joined: bool) {
        let possible = reading.truth.plain_answer() != Some(false);
        if !possible || self.is_settled() {
            return;
        }
        if joined {
            self.joined.push((alternative, reading));
        } else if self.plain.is_none() || reading.truth.plain_answer() == Some(true) {
            self.plain = Some((alternative, reading));
        }
    }

    fn is_settled(&self) -> bool {
        self.plain.as_ref().is_some_and(|(_, reading)| reading.truth.plain_answer() == Some(true))
    }

    fn into_readings(self) -> impl Iterator<Item = (u16, AlternativeReading)> {
        self.joined.into_iter().chain(self.plain)
    }
}
