//! Finds what the verdict of an assertion needs that partial reading does not give.
//!
//! Nothing depends on it but what a profile says: [`super::build`] decides how an assertion is read.

use super::condition_reads::CodeTracer;
use super::need::Need;
use super::{EvaluationRules, Prefilter, PrefilterItem};
use averment_checker::ir::{RuleRole, StepDistance, Temporal};
use averment_engine::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, PatternId, TemporalId};
use averment_engine::vm::over_runs;
use averment_runs::run::StepKind;
use averment_traces::projection::CallField;

impl Prefilter {
    /// What the verdict of an assertion needs that partial reading does not give.
    #[must_use]
    pub fn need_of(&self, rules: EvaluationRules<'_>, number: u32) -> Need {
        let item = self.items.iter().find(|item| item.assertion == number);
        let assertion = rules.program.assertions.get(number as usize);
        let need = assertion.and_then(|assertion| Needs::new(rules).of_assertion(assertion, item));
        need.unwrap_or(Need::WholeSteps)
    }
}

/// Looks for what assertions of a program need.
struct Needs<'p> {
    rules: EvaluationRules<'p>,
    reader: CodeTracer<'p>,
}

impl<'p> Needs<'p> {
    fn new(rules: EvaluationRules<'p>) -> Self {
        Self { rules, reader: CodeTracer::new(rules.program) }
    }

    fn of_assertion(&mut self, assertion: &CompiledAssertion, item: Option<&PrefilterItem>) -> Option<Need> {
        let rule = assertion.rule.and_then(|rule| self.rules.program.rules.get(rule as usize));
        match rule.map(|rule| &rule.role) {
            Some(RuleRole::Case { .. }) => return Some(Need::Case),
            Some(RuleRole::Invariant) => return Some(Need::Construct("an invariant")),
            _ => {}
        }
        if assertion.settings.threshold.is_some() {
            return Some(Need::Score);
        }
        let when = assertion.settings.when.iter().find_map(|code| self.of_condition(*code));
        when.or_else(|| self.of_check(assertion, item))
    }

    fn of_check(&mut self, assertion: &CompiledAssertion, item: Option<&PrefilterItem>) -> Option<Need> {
        Some(match &assertion.check {
            CompiledCheck::Expression(code) => return self.of_condition(*code),
            CompiledCheck::Temporal(temporal) => return self.of_statement(*temporal, item),
            CompiledCheck::Not(_) => Need::Construct("`not` before a statement"),
            CompiledCheck::Group { .. } => Need::Construct("a group"),
            CompiledCheck::Scoped { .. } => Need::Construct("a block"),
            CompiledCheck::World(_) => Need::World,
            CompiledCheck::OverRuns(_) => return self.of_over_runs(assertion),
        })
    }

    fn of_over_runs(&mut self, assertion: &CompiledAssertion) -> Option<Need> {
        let CompiledCheck::OverRuns(over) = &assertion.check else { return None };
        let codes: Vec<CodeId> = over_runs::run_conditions(assertion, over).collect();
        codes.into_iter().find_map(|code| self.of_condition(code))
    }

    /// What an expression over the run needs beside entries of it.
    fn of_condition(&mut self, code: CodeId) -> Option<Need> {
        if self.rules.prepared.is_graded(code) {
            return Some(Need::Score);
        }
        self.reader.take_obstacle();
        match self.reader.trace_condition(code, false) {
            Some(reads) if reads.is_of_entries() => None,
            Some(_) => Some(Need::List("calls".to_owned())),
            None => self.reader.take_obstacle().or(Some(Need::TooMuch)),
        }
    }

    fn of_statement(&mut self, temporal: TemporalId, item: Option<&PrefilterItem>) -> Option<Need> {
        let EvaluationRules { program, prepared, .. } = self.rules;
        let statement = &program.temporals.get(temporal.0 as usize)?.temporal;
        match statement {
            Temporal::NoneIn { values, .. } => return self.of_none_in(*values),
            Temporal::NoneInSteps { .. } => return Some(Need::Construct("`no PREDICATE in STEPS`")),
            Temporal::ArgsValid { .. } | Temporal::CallsMatch { .. } => return Some(Need::CallValues),
            _ => {}
        }
        let plan = prepared.temporal_plan(program);
        let patterns: Vec<PatternId> = plan.patterns_of(temporal).collect();
        if let Some(need) = patterns.iter().find_map(|pattern| self.of_pattern(*pattern)) {
            return Some(need);
        }
        let need = match statement {
            Temporal::Each { condition, .. } => self.of_call(*condition),
            Temporal::Count { test, .. } => self.of_test(*test),
            _ => None,
        };
        if need.is_some() {
            return need;
        }
        // Arguments in its patterns are read in part where nothing else of the calls decides.
        let has_parts = item.is_some_and(|item| item.parts.is_some());
        Some(if !has_parts && is_timed(statement) { Need::Times } else { Need::CallValues })
    }

    /// What a pattern needs beside names, arguments and results of executed calls.
    fn of_pattern(&mut self, pattern: PatternId) -> Option<Need> {
        let EvaluationRules { program, prepared, .. } = self.rules;
        for alternative in prepared.temporal_plan(program).evaluated_alternatives(pattern) {
            if alternative.kind != StepKind::Call {
                return Some(Need::List(alternative.kind.list_key().to_owned()));
            }
            if alternative.proposed {
                return Some(Need::ProposedCalls);
            }
            if alternative.succeeded.is_some() {
                return Some(Need::StepField("status".to_owned()));
            }
            let binds = alternative.binds.iter().map(|(_, code)| *code);
            for code in alternative.condition.into_iter().chain(binds).chain(alternative.joins.iter().copied()) {
                if let Some(need) = self.of_call(code) {
                    return Some(need);
                }
            }
        }
        None
    }

    /// What code that is evaluated for a call needs beside its name, its arguments and its result.
    fn of_call(&mut self, code: CodeId) -> Option<Need> {
        self.reader.take_obstacle();
        match self.reader.with_selections(code) {
            Some((_, selections)) if selections.is_empty() => None,
            Some(_) => Some(Need::SelectedSteps),
            None => self.reader.take_obstacle().or(Some(Need::TooMuch)),
        }
    }

    /// What the test of a number needs beside the number and entries of the run.
    fn of_test(&mut self, test: CodeId) -> Option<Need> {
        self.reader.take_obstacle();
        if self.reader.trace_condition(test, true).is_some() {
            return None;
        }
        self.reader.take_obstacle().or(Some(Need::TooMuch))
    }

    fn of_none_in(&mut self, values: CodeId) -> Option<Need> {
        let path = self.reader.expression_path(values);
        let field = path.and_then(|path| CallField::parse(path.keys.first()?));
        Some(field.map_or(Need::WholeSteps, Need::Texts))
    }
}

/// Whether a statement asks when steps were.
fn is_timed(statement: &Temporal<PatternId, CodeId>) -> bool {
    match statement {
        Temporal::Nested { .. } | Temporal::Together { .. } | Temporal::Apart { .. } => true,
        Temporal::Before { starts, within, .. } => !starts || is_timed_bound(within),
        Temporal::NeverAfter { within, .. }
        | Temporal::NeverBefore { within, .. }
        | Temporal::NeverBetween { within, .. }
        | Temporal::After { within, .. }
        | Temporal::Sequence { within, .. } => is_timed_bound(within),
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
        | Temporal::Repeat { .. }
        | Temporal::Flow { .. }
        | Temporal::Each { .. }
        | Temporal::NoneIn { .. }
        | Temporal::NoneInSteps { .. }
        | Temporal::ArgsValid { .. }
        | Temporal::CallsMatch { .. } => false,
    }
}

fn is_timed_bound(within: &Option<StepDistance>) -> bool {
    matches!(within, Some(StepDistance::Time(_) | StepDistance::Turns(_)))
}
