//! The evaluator for one run: the machine, on a projection of a line or on a run that was read in full.

use super::projected_run::{self, ProjectedRun};
use super::{Compiled, Prefilter, Source};
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value};
use averment_engine::bytecode::program::{Check, CodeId};
use averment_engine::vm::context::ExpressionScope;
use averment_engine::vm::evaluate::{Verdicts, verdict_of};
use averment_engine::vm::machine::Machine;
use averment_engine::vm::over_runs::{self, Given};
use averment_engine::vm::temporal::by_name::NamedCalls;
use averment_runs::run::{Kind, Run, RunSource, Step};
use averment_traces::projection::{Field, FieldMask, Held, Projection};
use bumpalo::Bump;
use bumpalo::collections::Vec as Items;
use rustc_hash::FxHashMap;

/// Evaluates conditions on one run. What it looks at is read when the first condition asks.
pub(super) struct Evaluator<'e, 'a> {
    prefilter: &'e Prefilter,
    rules: Compiled<'a>,
    projection: &'e Projection<'a>,
    source: Source<'a>,
    /// The entries of the run; the inner `None` where they cannot be read here.
    run: Option<Option<&'a Run<'a>>>,
    machine: Option<Machine<'a>>,
    /// Calls with the fields that the conditions of a unique pattern look at.
    steps: FxHashMap<(usize, u32), Option<&'a Step<'a>>>,
    /// The calls of a run that was read in full.
    calls: Option<Vec<&'a Step<'a>>>,
    /// The run with a field of all calls, by field.
    with_field: [Option<Option<&'a Run<'a>>>; 2],
    /// Judges on the run with the fields of calls that some unique pattern looks at; the inner `None` where they cannot be read here.
    of_parts: Option<Option<Verdicts<'a, 'a>>>,
}

impl<'e, 'a> Evaluator<'e, 'a> {
    /// An evaluator that has read nothing yet.
    pub(super) fn new(
        prefilter: &'e Prefilter,
        rules: Compiled<'a>,
        projection: &'e Projection<'a>,
        source: Source<'a>,
    ) -> Self {
        Self {
            prefilter,
            rules,
            projection,
            source,
            run: None,
            machine: None,
            steps: FxHashMap::default(),
            calls: None,
            with_field: [None, None],
            of_parts: None,
        }
    }

    /// The run with the entries that conditions look at.
    pub(super) fn run(&mut self) -> Option<&'a Run<'a>> {
        *self.run.get_or_insert_with(|| match self.source {
            Source::Run(run, _) => Some(run),
            Source::Line(_) => {
                let arena = self.source.arena();
                Some(arena.alloc(
                    self.prefilter.entries(self.rules, self.projection, self.source)?.run("", RunSource::default()),
                ))
            }
        })
    }

    fn machine(&mut self) -> Option<&mut Machine<'a>> {
        let run = self.run()?;
        let (rules, arena) = (self.rules, self.source.arena());
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
        let truth = machine.truth(code, scope).ok();
        machine.report_fuel();
        truth
    }

    /// Gives the next assertion its full share of fuel.
    pub(super) fn refuel(&mut self) {
        if let Some(machine) = &mut self.machine {
            machine.refuel();
        }
    }

    /// The truth of a condition; `None` where only the run itself gives it.
    pub(super) fn truth(&mut self, code: CodeId) -> Option<Truth> {
        self.truth_in(code, &ExpressionScope::default())
    }

    /// What the run gives to an assertion over runs; `None` where only the run itself gives it.
    pub(super) fn look(&mut self, number: u32) -> Option<Given> {
        let assertion = self.rules.program.assertions.get(number as usize)?;
        let Check::OverRuns(over) = &assertion.check else { return None };
        let rules = self.rules;
        let machine = self.machine()?;
        rules.begin_cost(number);
        let given = over_runs::look(machine, assertion, over);
        machine.report_fuel();
        rules.end_cost();
        Some(given)
    }

    /// The same with a given value.
    pub(super) fn truth_of(&mut self, code: CodeId, given: Value<'a>) -> Option<Truth> {
        let locals = [Node::computed(given)];
        self.truth_in(code, &ExpressionScope::default().with_locals(&locals))
    }

    /// The truth of a condition of one call, which fits a unique pattern.
    pub(super) fn truth_of_call(&mut self, code: CodeId, call: usize, pattern: u32) -> Option<Truth> {
        let step = self.step(call, pattern)?;
        self.truth_in(code, &ExpressionScope::of_step(step))
    }

    fn step(&mut self, call: usize, pattern: u32) -> Option<&'a Step<'a>> {
        if let Source::Run(run, _) = self.source {
            let calls =
                self.calls.get_or_insert_with(|| run.steps.iter().filter(|step| step.kind == Kind::Call).collect());
            return calls.get(call).copied();
        }
        if let Some(known) = self.steps.get(&(call, pattern)) {
            return *known;
        }
        let masks = self.prefilter.fields.get(&pattern);
        let found = masks.and_then(|masks| self.call(call, |field| masks.get(field as usize)?.as_ref()));
        let found = found.map(|step| &*self.source.arena().alloc(step));
        self.steps.insert((call, pattern), found);
        found
    }

    /// A call with the fields that have a mask.
    fn call<'m>(&self, number: usize, mask: impl Fn(Field) -> Option<&'m FieldMask>) -> Option<Step<'a>> {
        let call = self.projection.calls.get(number)?;
        projected_run::call(self.source.arena(), number, call, |field, held| match (held, mask(field)) {
            (_, None) | (Held::Value(Value::Missing), _) => Some(None),
            (held, Some(mask)) => self.source.value(held, mask).map(Some),
        })
    }

    /// The verdict of an assertion that looks at a field of all calls.
    pub(super) fn verdict_of_all(&mut self, assertion: u32, field: Field) -> Option<Verdict> {
        let known = self.with_field.get(field as usize).copied().flatten();
        let run = known.unwrap_or_else(|| {
            let made = self.with_field_of_all(field);
            if let Some(place) = self.with_field.get_mut(field as usize) {
                *place = Some(made);
            }
            made
        })?;
        verdict_of(self.rules.machine(run, self.source.arena()), self.rules.options, assertion)
    }

    /// The verdict of an assertion that the names of the calls and the fields decide which unique patterns look at; `None` where only the run
    /// itself says all that is to be said of it.
    pub(super) fn verdict_of_parts(&mut self, assertion: u32, calls: &NamedCalls<'_>) -> Option<Verdict> {
        if self.of_parts.is_none() {
            let run = self.with_parts(calls);
            let machine = run.map(|run| self.rules.machine(run, self.source.arena()));
            self.of_parts = Some(machine.map(|machine| Verdicts::new(machine, self.rules.options)));
        }
        self.of_parts.as_mut()?.as_mut()?.alone(assertion)
    }

    fn with_parts(&self, calls: &NamedCalls<'_>) -> Option<&'a Run<'a>> {
        // A run that was read in full is judged as a whole.
        let (Source::Line(_), arena) = (self.source, self.source.arena()) else { return None };
        let mut steps = Items::with_capacity_in(self.projection.calls.len(), arena);
        for number in 0..self.projection.calls.len() {
            let class = calls.classes.get(number).and_then(|class| calls.patterns.get(*class as usize));
            let mut masks: [Option<FieldMask>; 2] = [None, None];
            for of_unique in class?.iter().filter_map(|unique| self.prefilter.fields.get(unique)) {
                for (all, mask) in masks.iter_mut().zip(of_unique) {
                    mask.iter().for_each(|mask| all.get_or_insert_default().join(mask));
                }
            }
            steps.push(self.call(number, |field| masks.get(field as usize)?.as_ref())?);
        }
        let mut made = self.prefilter.entries(self.rules, self.projection, self.source)?;
        made.calls(steps.into_bump_slice());
        Some(arena.alloc(made.run("", RunSource::default())))
    }

    fn with_field_of_all(&self, field: Field) -> Option<&'a Run<'a>> {
        if let Source::Run(run, _) = self.source {
            return Some(run);
        }
        let arena = self.source.arena();
        let all = (0..self.projection.calls.len())
            .map(|call| self.call(call, |other| (other == field).then_some(&FieldMask::All)));
        let steps: Vec<Step<'a>> = all.collect::<Option<_>>()?;
        let mut made = self.prefilter.entries(self.rules, self.projection, self.source)?;
        made.calls(arena.alloc_slice_copy(&steps));
        Some(arena.alloc(made.run("", RunSource::default())))
    }
}

impl<'a> Source<'a> {
    /// Where values live.
    pub(super) fn arena(self) -> &'a Bump {
        match self {
            Self::Line(chunk) => chunk.arena,
            Self::Run(_, arena) => arena,
        }
    }

    /// A value, as far as a mask names its parts; `None` where it cannot be read.
    fn value(self, held: Held<'a>, mask: &FieldMask) -> Option<Value<'a>> {
        match (self, held) {
            (_, Held::Value(value)) => Some(value),
            (Self::Line(chunk), held) => chunk.masked(held, mask),
            (Self::Run(..), _) => None,
        }
    }
}

impl Prefilter {
    /// A projection with the entries that conditions look at.
    fn entries<'a>(
        &self,
        rules: Compiled<'a>,
        projection: &Projection<'a>,
        source: Source<'a>,
    ) -> Option<ProjectedRun<'a>> {
        let mut made = ProjectedRun::new(source.arena(), self.roots.len() + 1);
        for root in &self.roots {
            let name = rules.program.names.get(root.name as usize)?;
            match source.value(*projection.roots.get(root.held)?, &root.mask)? {
                Value::Absent | Value::Missing => {}
                value => made.entry(name, Node::computed(value)),
            }
        }
        Some(made)
    }
}
