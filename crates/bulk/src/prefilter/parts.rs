//! Which parts of calls decide an assertion: the fields that its patterns look at, the names and places of the others.

use super::DecidingParts;
use super::build::PrefilterBuilder;
use super::condition_reads::ConditionReads;
use super::predicate::{ValueBase, ValuePredicate};
use averment_checker::ir::{SelectionReach, StepDistance, Temporal};
use averment_engine::bytecode::ops::SelectionRef;
use averment_engine::bytecode::program::{CodeId, PatternId, TemporalId};
use averment_runs::run::StepKind;

#[derive(Default)]
struct AssertionParts {
    reads: Vec<(u32, ConditionReads)>,
    times: bool,
    statuses: bool,
}

impl PrefilterBuilder<'_> {
    /// The parts of an expression decided by these calls and entries, and whether calls alone matter; records reads.
    pub(super) fn parts_of_selections(&mut self, code: CodeId) -> Option<(DecidingParts, bool)> {
        if self.prepared.is_graded(code) {
            return None;
        }
        let mut parts = AssertionParts::default();
        let (own, selections) = self.reader.with_selections(code)?;
        if selections.is_empty() || !own.is_of_entries() {
            return None;
        }
        for selection in selections {
            self.selection_parts(selection, &mut parts)?;
        }
        let first = parts.reads.first().map(|(unique, _)| *unique)?;
        parts.reads.push((first, own));
        let is_entry = |one: &ValuePredicate| matches!(one.path.base, ValueBase::Root(_));
        let of_calls = !parts.reads.iter().flat_map(|(_, reads)| &reads.predicates).any(is_entry);
        Some((self.note_parts(parts), of_calls))
    }

    fn selection_parts(&mut self, selection: SelectionRef, parts: &mut AssertionParts) -> Option<()> {
        let program = self.program;
        let selection = program.selections.get(selection.0 as usize)?;
        if selection.reach != SelectionReach::Run {
            return None;
        }
        let unique = self.pattern_part(selection.pattern, parts)?;
        match selection.value {
            Some(value) => self.code_of(value, unique, parts),
            None => Some(()),
        }
    }

    /// For a statement that reads no agents, and no calls beside those of its patterns.
    pub(super) fn parts_of(&mut self, temporal: TemporalId) -> Option<DecidingParts> {
        let (program, plan) = (self.program, self.plan);
        let statement = &program.temporals.get(temporal.0 as usize)?.temporal;
        if !is_of_calls_alone(statement) {
            return None;
        }
        let times = matches!(statement, Temporal::Before { starts: false, .. });
        let mut parts = AssertionParts { times, ..AssertionParts::default() };
        for pattern in plan.patterns_of(temporal) {
            self.pattern_part(pattern, &mut parts)?;
        }
        let first = parts.reads.first().map(|(unique, _)| *unique)?;
        if let Temporal::Each { condition: code, .. } | Temporal::Count { test: code, .. } = statement {
            self.code_of(*code, first, &mut parts)?;
        }
        Some(self.note_parts(parts))
    }

    fn pattern_part(&mut self, pattern: PatternId, parts: &mut AssertionParts) -> Option<u32> {
        let plan = self.plan;
        let unique = plan.number_of(pattern)?;
        parts.reads.push((unique, ConditionReads::default()));
        for alternative in plan.evaluated_alternatives(pattern) {
            if alternative.kind != StepKind::Call || alternative.proposed {
                return None;
            }
            if alternative.succeeded.is_some() {
                // What rules say of how calls end looks at whole calls.
                if self.prepared.concludes_endings() {
                    return None;
                }
                self.ended.insert(unique);
                parts.statuses = true;
            }
            let binds = alternative.binds.iter().map(|(_, code)| *code);
            for code in alternative.condition.into_iter().chain(binds).chain(alternative.joins.iter().copied()) {
                self.code_of(code, unique, parts)?;
            }
        }
        Some(unique)
    }

    fn code_of(&mut self, code: CodeId, unique: u32, parts: &mut AssertionParts) -> Option<()> {
        let (reads, selections) = self.reader.with_selections(code)?;
        let is_part = |base: &ValueBase| matches!(base, ValueBase::Field(_) | ValueBase::Tool | ValueBase::Root(_));
        if !selections.is_empty() || !reads.predicates.iter().all(|one| is_part(&one.path.base)) {
            return None;
        }
        parts.reads.push((unique, reads));
        Some(())
    }

    fn note_parts(&mut self, parts: AssertionParts) -> DecidingParts {
        let AssertionParts { times, statuses, .. } = parts;
        let (mut all, mut entries) = (Vec::new(), Vec::new());
        for (unique, reads) in parts.reads {
            entries.extend(reads.predicates.iter().filter_map(|predicate| predicate.path.base.entry_name()));
            let masks = self.fields.entry(unique).or_default();
            if reads.predicates.iter().any(|one| one.path.base == ValueBase::Tool) {
                self.tool_tests.insert(unique);
            }
            for predicate in &reads.predicates {
                if let ValueBase::Field(field) = predicate.path.base
                    && let Some(mask) = masks.get_mut(field as usize)
                {
                    mask.get_or_insert_default().add_path(predicate.read_keys());
                }
            }
            all.push(unique);
            self.read_for_parts.push(reads);
        }
        all.sort_unstable();
        all.dedup();
        DecidingParts { patterns: all.into_boxed_slice(), times, statuses, entries: entries.into_boxed_slice() }
    }
}

/// True if a statement reads only names, positions, times and fields of calls, whatever its patterns ask.
fn is_of_calls_alone(statement: &Temporal<PatternId, CodeId>) -> bool {
    let by_place = |within: &Option<StepDistance>| matches!(within, None | Some(StepDistance::Calls(_)));
    match statement {
        Temporal::Require { .. }
        | Temporal::Never { .. }
        | Temporal::Only { .. }
        | Temporal::Count { .. }
        | Temporal::First { .. }
        | Temporal::Last { .. }
        | Temporal::IfThen { .. }
        | Temporal::Iff { .. }
        | Temporal::Either { .. }
        | Temporal::NotBoth { .. }
        | Temporal::Each { .. } => true,
        Temporal::NeverAfter { within, .. }
        | Temporal::NeverBefore { within, .. }
        | Temporal::NeverBetween { within, .. }
        | Temporal::After { within, .. }
        | Temporal::Sequence { within, .. } => by_place(within),
        Temporal::Before { immediately, within, .. } => !immediately && by_place(within),
        Temporal::Nested { .. }
        | Temporal::Together { .. }
        | Temporal::Apart { .. }
        | Temporal::Repeat { .. }
        | Temporal::Flow { .. }
        | Temporal::NoneIn { .. }
        | Temporal::NoneInSteps { .. }
        | Temporal::ArgsValid { .. }
        | Temporal::CallsMatch { .. } => false,
    }
}
