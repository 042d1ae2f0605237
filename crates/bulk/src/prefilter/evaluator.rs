//! The evaluator for one run: the machine, on a projection of a line or on a run that was read in full.

use super::call_reads::CallReads;
use super::projected_run::{self, ProjectedRun};
use super::{DecidingParts, EvaluationRules, Prefilter, ProjectionSource};
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Object, TextOrigin, Value};
use averment_engine::bytecode::program::{CodeId, CompiledCheck};
use averment_engine::vm::context::ExpressionScope;
use averment_engine::vm::evaluate::{VerdictEvaluator, verdict_of};
use averment_engine::vm::machine::Machine;
use averment_engine::vm::over_runs::{self, RunContribution};
use averment_engine::vm::temporal::by_name::NamedCalls;
use averment_runs::run::{CallTimes, Run, RunSource, Step, StepKind};
use averment_traces::projection::{CallField, FieldMask, RawValue, RunProjection};
use bumpalo::Bump;
use bumpalo::collections::Vec as Items;
use rustc_hash::FxHashMap;

/// Reads what conditions need when the first one asks.
pub(super) struct ConditionEvaluator<'e, 'a> {
    prefilter: &'e Prefilter,
    rules: EvaluationRules<'a>,
    projection: &'e RunProjection<'a>,
    source: ProjectionSource<'a>,
    /// By the number of the name of a call.
    call_reads: &'e [CallReads],
    /// The inner `None` means that they cannot be read here.
    run: Option<Option<&'a Run<'a>>>,
    machine: Option<Machine<'a>>,
    steps: FxHashMap<(usize, u32), Option<&'a Step<'a>>>,
    calls: Option<Vec<&'a Step<'a>>>,
    with_field: [Option<Option<&'a Run<'a>>>; 2],
    /// The inner `None` means that the fields cannot be read here.
    of_parts: Option<Option<PartsEvaluator<'a>>>,
}

/// Judges a run of parts of its calls.
struct PartsEvaluator<'a> {
    verdicts: VerdictEvaluator<'a, 'a>,
    knows: KnownParts,
}

/// What is known of all calls whose parts are read.
#[derive(Clone, Copy)]
struct KnownParts {
    times: bool,
    statuses: bool,
}

impl<'e, 'a> ConditionEvaluator<'e, 'a> {
    pub(super) fn new(
        prefilter: &'e Prefilter,
        rules: EvaluationRules<'a>,
        projection: &'e RunProjection<'a>,
        source: ProjectionSource<'a>,
        call_reads: &'e [CallReads],
    ) -> Self {
        Self {
            prefilter,
            rules,
            projection,
            source,
            call_reads,
            run: None,
            machine: None,
            steps: FxHashMap::default(),
            calls: None,
            with_field: [None, None],
            of_parts: None,
        }
    }

    pub(super) fn projected_run(&mut self) -> Option<&'a Run<'a>> {
        *self.run.get_or_insert_with(|| match self.source {
            ProjectionSource::Run(run, _) => Some(run),
            ProjectionSource::Line(_) => {
                let arena = self.source.value_arena();
                Some(
                    arena.alloc(
                        self.prefilter
                            .project_entries(self.rules, self.projection, self.source)?
                            .into_run("", RunSource::default()),
                    ),
                )
            }
        })
    }

    fn machine(&mut self) -> Option<&mut Machine<'a>> {
        let run = self.projected_run()?;
        let (rules, arena) = (self.rules, self.source.value_arena());
        Some(self.machine.get_or_insert_with(|| rules.machine(run, arena)))
    }

    /// Whether a value of the run was read, and not the names of its calls alone.
    pub(super) fn has_read(&self) -> bool {
        let of_calls = !self.steps.is_empty() || self.of_parts.is_some() || self.with_field.iter().any(Option::is_some);
        self.run.is_some() || of_calls
    }

    /// The truth of code in a scope; `None` where only the run itself gives it.
    fn truth_in(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'a>) -> Option<Truth> {
        let machine = self.machine()?;
        let truth = machine.evaluate_truth(code, scope).ok();
        machine.report_fuel();
        truth
    }

    pub(super) fn refill_fuel(&mut self) {
        if let Some(machine) = &mut self.machine {
            machine.refuel();
        }
    }

    /// `None` if only the full run can tell.
    pub(super) fn condition_truth(&mut self, code: CodeId) -> Option<Truth> {
        self.machine()?.forget_doubts();
        let truth = self.truth_in(code, &ExpressionScope::default())?;
        // Elements that could not be judged are told.
        (!self.machine()?.has_doubts()).then_some(truth)
    }

    /// `None` if only the full run can tell.
    pub(super) fn read_values(&mut self, number: u32) -> Option<RunContribution> {
        let assertion = self.rules.program.assertions.get(number as usize)?;
        let CompiledCheck::OverRuns(over) = &assertion.check else { return None };
        let rules = self.rules;
        let machine = self.machine()?;
        rules.begin_cost(number);
        let given = over_runs::contribution_of(machine, assertion, over);
        machine.report_fuel();
        rules.end_cost();
        Some(given)
    }

    pub(super) fn truth_of(&mut self, code: CodeId, given: Value<'a>) -> Option<Truth> {
        let locals = [Node::computed(given)];
        self.truth_in(code, &ExpressionScope::default().with_locals(&locals))
    }

    pub(super) fn truth_of_call(&mut self, code: CodeId, call: usize, pattern: u32) -> Option<Truth> {
        let step = self.call_step(call, pattern)?;
        self.truth_in(code, &ExpressionScope::of_step(step))
    }

    fn call_step(&mut self, call: usize, pattern: u32) -> Option<&'a Step<'a>> {
        if let ProjectionSource::Run(run, _) = self.source {
            let calls =
                self.calls.get_or_insert_with(|| run.steps.iter().filter(|step| step.kind == StepKind::Call).collect());
            return calls.get(call).copied();
        }
        if let Some(known) = self.steps.get(&(call, pattern)) {
            return *known;
        }
        let masks = self.prefilter.fields.get(&pattern);
        let found = masks.and_then(|masks| self.project_call(call, |field| masks.get(field as usize)?.as_ref()));
        let found = found.map(|step| &*self.source.value_arena().alloc(step));
        self.steps.insert((call, pattern), found);
        found
    }

    fn project_call<'m>(&self, number: usize, mask: impl Fn(CallField) -> Option<&'m FieldMask>) -> Option<Step<'a>> {
        let call = self.projection.calls.get(number)?;
        projected_run::project_call(self.source.value_arena(), number, call, |field, held| match (held, mask(field)) {
            (_, None) | (RawValue::Value(Value::Missing), _) => Some(None),
            (held, Some(mask)) => self.source.masked_value(held, mask).map(Some),
        })
    }

    pub(super) fn verdict_of_all(&mut self, assertion: u32, field: CallField) -> Option<Verdict> {
        let known = self.with_field.get(field as usize).copied().flatten();
        let run = known.unwrap_or_else(|| {
            let made = self.with_field_of_all(field);
            if let Some(place) = self.with_field.get_mut(field as usize) {
                *place = Some(made);
            }
            made
        })?;
        verdict_of(self.rules.machine(run, self.source.value_arena()), self.rules.options, assertion)
    }

    /// Decided by call names and fields of unique patterns; `None` if only the full run has everything to report.
    pub(super) fn verdict_of_parts(
        &mut self,
        assertion: u32,
        parts: &DecidingParts,
        calls: &NamedCalls<'_>,
    ) -> Option<Verdict> {
        if self.of_parts.is_none() {
            let made = self.with_parts(calls).map(|(run, knows)| {
                let machine = self.rules.machine(run, self.source.value_arena());
                PartsEvaluator { verdicts: VerdictEvaluator::new(machine, self.rules.options), knows }
            });
            self.of_parts = Some(made);
        }
        let PartsEvaluator { verdicts, knows } = self.of_parts.as_mut()?.as_mut()?;
        if (parts.times && !knows.times) || (parts.statuses && !knows.statuses) {
            return None;
        }
        verdicts.plain_verdict(assertion)
    }

    fn with_parts(&mut self, calls: &NamedCalls<'_>) -> Option<(&'a Run<'a>, KnownParts)> {
        // A run that was read in full is judged as a whole.
        let (ProjectionSource::Line(chunk), arena) = (self.source, self.source.value_arena()) else { return None };
        let entries = self.projected_run()?.object;
        let mut knows = KnownParts { times: true, statuses: true };
        let mut steps = Items::with_capacity_in(self.projection.calls.len(), arena);
        for (number, call) in self.projection.calls.iter().enumerate() {
            let reads = calls.classes.get(number).and_then(|class| self.call_reads.get(*class as usize))?;
            let mut step = if reads.is_matched {
                self.project_call(number, |field| reads.field_mask(field))?
            } else {
                projected_run::named_step(u32::try_from(number).ok()?, call.name, Object::EMPTY, TextOrigin::COMPUTED)
            };
            if reads.ending {
                match chunk.call_status(call) {
                    Some(status) => step.status = status,
                    None => knows.statuses = false,
                }
            }
            // Which call started another is told by the full reader alone.
            match call.times.filter(|_| !call.may_have_parent) {
                Some(CallTimes { start, end, turn }) => (step.start, step.end, step.turn) = (start, end, turn),
                None => knows.times = false,
            }
            steps.push(step);
        }
        Some((arena.alloc(projected_run::run_of_calls(entries, steps.into_bump_slice())), knows))
    }

    fn with_field_of_all(&self, field: CallField) -> Option<&'a Run<'a>> {
        if let ProjectionSource::Run(run, _) = self.source {
            return Some(run);
        }
        let arena = self.source.value_arena();
        let all = (0..self.projection.calls.len())
            .map(|call| self.project_call(call, |other| (other == field).then_some(&FieldMask::All)));
        let steps: Vec<Step<'a>> = all.collect::<Option<_>>()?;
        let mut made = self.prefilter.project_entries(self.rules, self.projection, self.source)?;
        made.set_calls(arena.alloc_slice_copy(&steps));
        Some(arena.alloc(made.into_run("", RunSource::default())))
    }
}

impl<'a> ProjectionSource<'a> {
    pub(super) fn value_arena(self) -> &'a Bump {
        match self {
            Self::Line(chunk) => chunk.arena,
            Self::Run(_, arena) => arena,
        }
    }

    /// Limited to the parts in the mask; `None` if it cannot be read.
    fn masked_value(self, held: RawValue<'a>, mask: &FieldMask) -> Option<Value<'a>> {
        match (self, held) {
            (_, RawValue::Value(value)) => Some(value),
            (Self::Line(chunk), held) => chunk.read_masked(held, mask),
            (Self::Run(..), _) => None,
        }
    }
}

impl Prefilter {
    fn project_entries<'a>(
        &self,
        rules: EvaluationRules<'a>,
        projection: &RunProjection<'a>,
        source: ProjectionSource<'a>,
    ) -> Option<ProjectedRun<'a>> {
        let mut made = ProjectedRun::new(source.value_arena(), self.roots.len() + 1);
        for root in &self.roots {
            let name = rules.program.names.get(root.name as usize)?;
            match source.masked_value(*projection.roots.get(root.held)?, &root.mask)? {
                Value::Absent | Value::Missing => {}
                value => made.add_entry(name, Node::computed(value)),
            }
        }
        Some(made)
    }
}
