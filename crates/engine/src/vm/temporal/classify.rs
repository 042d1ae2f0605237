//! Classification: each step is looked at once for all patterns of all statements.
//!
//! The step's kind and name give the candidates; only their conditions are evaluated, and equal conditions once per step. What a
//! pattern's condition does to its statements is decided here and nowhere else: whether the step matches, with which values, and
//! whether something missing decided it.

use super::names::AlternativeRef;
use super::plan::{Plan, UniquePattern, UniquePatternId};
use super::timeline::{Candidate, Event, Matches, Timeline, ValueId, Values};
use crate::bytecode::program::CodeId;
use crate::ir::Alternative;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::profile::CostCenter;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use averment_runs::run::{Kind, Status, Step};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// Classifies all steps of the machine's run.
pub(super) fn classify<'run>(machine: &mut Machine<'run>, plan: &Plan) -> Timeline<'run> {
    let mut timeline = Timeline::new(machine.run, plan.unique_patterns().len());
    let mut classifier = Classifier { plan, names: FxHashMap::default(), cache: Known::default(), spent: Vec::new() };
    classifier.spent.resize(plan.unique_patterns().len(), 0);
    for (number, step) in (0..).zip(machine.run.steps) {
        classifier.step(machine, number, step, &mut timeline);
    }
    timeline
}

struct Classifier<'p, 'run> {
    plan: &'p Plan,
    /// Candidates by kind and name: names come back, and each is looked up once.
    names: FxHashMap<(Kind, &'run str), Rc<[AlternativeRef]>>,
    /// Truths of conditions and values of paths of the step in work.
    cache: Known<'run>,
    /// Fuel that each pattern took: one hostile pattern ends alone.
    spent: Vec<u64>,
}

/// What is known of the step in work. Mostly that is little: beyond some values they are looked up instead of looked through.
#[derive(Default)]
struct Known<'run> {
    few: Vec<(CodeId, Node<'run>)>,
    more: FxHashMap<CodeId, Node<'run>>,
}

impl<'run> Known<'run> {
    const FEW: usize = 16;

    fn clear(&mut self) {
        self.few.clear();
        self.more.clear();
    }

    fn get(&self, code: CodeId) -> Option<Node<'run>> {
        let found = self.few.iter().find(|(known, _)| *known == code).map(|(_, node)| *node);
        found.or_else(|| self.more.get(&code).copied())
    }

    fn add(&mut self, code: CodeId, node: Node<'run>) {
        if self.few.len() < Self::FEW {
            self.few.push((code, node));
        } else {
            self.more.insert(code, node);
        }
    }
}

/// What one alternative says of a step.
struct AlternativeReading {
    truth: Truth,
    value_ids: SmallVec<[ValueId; 4]>,
}

impl<'run> Classifier<'_, 'run> {
    fn step(
        &mut self,
        machine: &mut Machine<'run>,
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) {
        self.cache.clear();
        let candidates = self.candidates(machine, step);
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
                this.pattern(machine, unique, group, number, step, timeline)
            });
            if let (Err(fault), Some(matches)) = (result, timeline.matches.get_mut(first.unique.0 as usize)) {
                matches.fault = Some(fault);
            }
        }
    }

    fn candidates(&mut self, machine: &Machine<'run>, step: &Step<'run>) -> Rc<[AlternativeRef]> {
        let find = |name: &str| self.plan.table().candidates(step.kind, name, machine.prepared).into();
        match step.kind {
            // Tools and roles come back; commands, paths and URLs are mostly different each time.
            Kind::Call | Kind::Message | Kind::Skill | Kind::Span | Kind::Handover => {
                Rc::clone(self.names.entry((step.kind, step.name)).or_insert_with(|| find(step.name)))
            }
            _ => find(step.name),
        }
    }

    /// Lets each pattern have the fuel of one assertion, however many steps it looks at.
    fn with_fuel(
        &mut self,
        machine: &mut Machine<'run>,
        unique: UniquePatternId,
        work: impl FnOnce(&mut Self, &mut Machine<'run>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let spent = self.spent.get(unique.0 as usize).copied().unwrap_or(0);
        machine.refuel();
        machine.spend(spent)?;
        machine.note_recharged(spent);
        let before = machine.meter.fuel();
        let result = machine.costing(CostCenter::Pattern(unique.0), |machine| work(self, machine));
        if let Some(cell) = self.spent.get_mut(unique.0 as usize) {
            *cell += before - machine.meter.fuel();
        }
        result
    }

    /// One pattern on one step: its alternatives in order, up to the first that matches for sure.
    fn pattern(
        &mut self,
        machine: &mut Machine<'run>,
        unique: &UniquePattern,
        candidates: &[AlternativeRef],
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) -> Result<(), Fault> {
        let executed = is_executed(step);
        if let ([one], false) = (candidates, unique.joined) {
            return self.single(machine, unique, *one, number, step, timeline);
        }
        let mut overall: Option<Truth> = None;
        let mut found = ChoiceReadings::default();
        for candidate in candidates {
            let Some(alternative) = unique.alternatives.get(usize::from(candidate.alternative)) else { continue };
            if alternative.proposed == executed {
                continue;
            }
            machine.spend(1)?;
            let values = Rc::make_mut(&mut timeline.values);
            let Some(reading) = self.alternative(machine, unique, alternative, step, values)? else { continue };
            overall = Some(overall.map_or(reading.truth, |truth| truth.or(reading.truth)));
            if unique.joined {
                keep_candidate(timeline, candidate, number, &reading);
            }
            found.add(candidate.alternative, reading, !alternative.joins.is_empty());
            if overall == Some(Truth::True) && found.settled() {
                break;
            }
        }
        let Some(matches) = timeline.matches.get_mut(unique_index(candidates)) else { return Ok(()) };
        matches.note(number, overall);
        for (alternative, reading) in found.readings() {
            let sure = reading.truth.plain() == Some(true);
            matches.add(Event { step: number, alternative, sure }, step.kind, &reading.value_ids);
        }
        Ok(())
    }

    /// The same for a pattern of which only one alternative can match the step, and which asks for nothing of others.
    fn single(
        &mut self,
        machine: &mut Machine<'run>,
        unique: &UniquePattern,
        candidate: AlternativeRef,
        number: u32,
        step: &'run Step<'run>,
        timeline: &mut Timeline<'run>,
    ) -> Result<(), Fault> {
        let Some(alternative) = unique.alternatives.get(usize::from(candidate.alternative)) else { return Ok(()) };
        let mut reading = None;
        if alternative.proposed != is_executed(step) {
            machine.spend(1)?;
            reading = self.alternative(machine, unique, alternative, step, Rc::make_mut(&mut timeline.values))?;
        }
        let Some(matches) = timeline.matches.get_mut(candidate.unique.0 as usize) else { return Ok(()) };
        let Some(AlternativeReading { truth, value_ids }) = reading else {
            matches.note(number, None);
            return Ok(());
        };
        matches.note(number, Some(truth));
        let plain = truth.plain();
        if plain != Some(false) {
            let event = Event { step: number, alternative: candidate.alternative, sure: plain == Some(true) };
            matches.add(event, step.kind, &value_ids);
        }
        Ok(())
    }

    /// Status, condition and bindings of one alternative, joined by `and`; nothing is evaluated behind a plain no. `None` where the step has
    /// another text than is behind the word of its kind.
    fn alternative(
        &mut self,
        machine: &mut Machine<'run>,
        unique: &UniquePattern,
        alternative: &Alternative<CodeId>,
        step: &'run Step<'run>,
        values: &mut Values<'run>,
    ) -> Result<Option<AlternativeReading>, Fault> {
        if let Some(text) = alternative.text
            && self.truth(machine, text, step)? == Truth::False
        {
            return Ok(None);
        }
        let mut reading = AlternativeReading {
            truth: succeeded(alternative.succeeded, step.status),
            value_ids: smallvec::smallvec![ValueId::OPEN; unique.names.len()],
        };
        if reading.truth != Truth::False
            && let Some(condition) = alternative.condition
        {
            reading.truth = reading.truth.and(self.truth(machine, condition, step)?);
        }
        for &(name, path) in &alternative.binds {
            if reading.truth == Truth::False {
                break;
            }
            let node = self.evaluate(machine, path, step)?;
            let position = unique.names.binary_search(&name).unwrap_or(usize::MAX);
            reading.bind(position, node, values);
        }
        Ok(Some(reading))
    }

    fn truth(&mut self, machine: &mut Machine<'run>, code: CodeId, step: &'run Step<'run>) -> Result<Truth, Fault> {
        if let Some(Node { value: Value::Truth(truth), .. }) = self.cache.get(code) {
            return Ok(truth);
        }
        let truth = machine.truth(code, &ExpressionScope::of_step(step))?;
        self.cache.add(code, Node::computed(Value::Truth(truth)));
        Ok(truth)
    }

    fn evaluate(
        &mut self,
        machine: &mut Machine<'run>,
        code: CodeId,
        step: &'run Step<'run>,
    ) -> Result<Node<'run>, Fault> {
        if let Some(node) = self.cache.get(code) {
            return Ok(node);
        }
        let node = machine.evaluate(code, &ExpressionScope::of_step(step))?;
        self.cache.add(code, node);
        Ok(node)
    }
}

fn is_executed(step: &Step<'_>) -> bool {
    step.kind != Kind::Call || step.status.executed()
}

/// A step for a pattern that asks for nothing but its name.
fn by_name(unique: &UniquePattern, candidates: &[AlternativeRef], number: u32, step: &Step<'_>, matches: &mut Matches) {
    let proposed = !is_executed(step);
    let fits = |at: &&AlternativeRef| {
        unique.alternatives.get(usize::from(at.alternative)).is_some_and(|alternative| alternative.proposed == proposed)
    };
    match candidates.iter().find(fits) {
        Some(first) => {
            let event = Event { step: number, alternative: first.alternative, sure: true };
            matches.add(event, step.kind, &[]);
        }
        None => matches.note(number, None),
    }
}

fn keep_candidate(timeline: &mut Timeline<'_>, at: &AlternativeRef, step: u32, reading: &AlternativeReading) {
    if let Some(matches) = timeline.matches.get_mut(at.unique.0 as usize) {
        let (truth, value_ids) = (reading.truth, reading.value_ids.clone());
        matches.candidates.push(Candidate { step, alternative: at.alternative, truth, value_ids });
    }
}

fn unique_index(candidates: &[AlternativeRef]) -> usize {
    candidates.first().map_or(usize::MAX, |candidate| candidate.unique.0 as usize)
}

/// The test of a status word.
pub(in crate::vm) fn succeeded(word: Option<bool>, status: Status) -> Truth {
    match (word, status) {
        (None, _) => Truth::True,
        (Some(_), Status::Unknown) => Truth::Undecided,
        (Some(ok), Status::Ok) => Truth::from_bool(ok),
        (Some(ok), Status::Failed) => Truth::from_bool(!ok),
        (Some(_), Status::Denied | Status::Pending) => Truth::False,
    }
}

impl AlternativeReading {
    /// `path: $x`: a missing value is no match, one that is not recorded may be any.
    fn bind<'run>(&mut self, position: usize, node: Node<'run>, values: &mut Values<'run>) {
        let id = match node.value {
            Value::Missing | Value::Null => {
                self.truth = self.truth.and(Truth::FalseByMissing);
                return;
            }
            Value::Absent | Value::Truth(Truth::Undecided) => ValueId::ABSENT,
            _ => values.id(node),
        };
        if id == ValueId::ABSENT {
            self.truth = self.truth.and(Truth::Undecided);
        }
        let Some(cell) = self.value_ids.get_mut(position) else { return };
        match *cell {
            ValueId::OPEN | ValueId::ABSENT => *cell = id,
            known if id.is_value() && known != id => self.truth = Truth::False,
            _ => {}
        }
    }
}

/// The readings of a choice that count.
#[derive(Default)]
struct ChoiceReadings {
    /// Alternatives with tests on other patterns' bindings: they never end the trying.
    joined: SmallVec<[(u16, AlternativeReading); 1]>,
    /// The first other alternative that matches for sure, else the first that may match.
    plain: Option<(u16, AlternativeReading)>,
}

impl ChoiceReadings {
    fn add(&mut self, alternative: u16, reading: AlternativeReading, joined: bool) {
        let possible = reading.truth.plain() != Some(false);
        if !possible || self.settled() {
            return;
        }
        if joined {
            self.joined.push((alternative, reading));
        } else if self.plain.is_none() || reading.truth.plain() == Some(true) {
            self.plain = Some((alternative, reading));
        }
    }

    /// True once an alternative matches for sure under every environment.
    fn settled(&self) -> bool {
        self.plain.as_ref().is_some_and(|(_, reading)| reading.truth.plain() == Some(true))
    }

    fn readings(self) -> impl Iterator<Item = (u16, AlternativeReading)> {
        self.joined.into_iter().chain(self.plain)
    }
}
