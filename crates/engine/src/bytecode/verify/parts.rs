//! Everything of a program beside its code: numbers in range, settings that make sense.

use super::VerifyError;
use crate::bytecode::ops::{Amount, Literal};
use crate::bytecode::program::{
    CodeId, CompiledAssertion, CompiledCheck, CompiledSelection, PatternId, Program, TemporalId,
};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_base::value::json::parse;
use averment_base::value::{Number, Value};
use averment_builtins::backtrack::BacktrackRegex;
use averment_checker::ir::{
    AssertionSettings, Constant, NameTest, OverRunsCheck, OverRunsQuestion, PatternAlternative, RateBound, RateSubject,
    RunFoldFunction, SelectionReach, StatementOperand, StepDistance, Temporal, WorldCondition,
};
use averment_checker::ir::{MessageTest, ToolClaim};
use bumpalo::Bump;
use std::fmt::Display;

/// Bindings per assertion; every window reserves room for all of them.
const BINDINGS: usize = 1 << 16;

pub(super) fn verify_tables(program: &Program) -> Result<(), VerifyError> {
    let parts = PartVerifier { program };
    parts.verify_definitions()?;
    parts.verify_places()?;
    for pattern in &program.patterns {
        pattern.alternatives.iter().try_for_each(|alternative| parts.verify_alternative(alternative))?;
    }
    program.selections.iter().try_for_each(|selection| parts.verify_selection(selection))?;
    for entry in &program.temporals {
        if entry.bindings as usize != entry.binding_names.len() {
            return Err(VerifyError::new("a statement has more or fewer bindings than names of them"));
        }
        parts.verify_bindings(entry.bindings)?;
        parts.verify_temporal(&entry.temporal)?;
    }
    program.assertions.iter().try_for_each(|assertion| parts.verify_assertion(assertion))?;
    parts.verify_groups()?;
    program.constants.iter().try_for_each(verify_constant)
}

/// An `object` instruction needs as many keys as values.
pub(super) fn object_keys(program: &Program, count: Amount, keys: Literal) -> Result<(), VerifyError> {
    match program.constants.get(keys.0 as usize) {
        Some(Constant::List(keys))
            if keys.len() == count.0 as usize && keys.iter().all(|key| matches!(key, Constant::Text(_))) =>
        {
            Ok(())
        }
        _ => Err(VerifyError::new("its keys do not fit its values")),
    }
}

fn verify_constant(constant: &Constant) -> Result<(), VerifyError> {
    match constant {
        Constant::Number(text) if !is_number(text) => Err(VerifyError::new(format!("`{text}` is no number"))),
        Constant::List(items) => items.iter().try_for_each(self::verify_constant),
        Constant::Object(entries) => entries.iter().try_for_each(|(_, value)| self::verify_constant(value)),
        _ => Ok(()),
    }
}

/// Only the syntax is checked, not the size.
fn is_number(text: &str) -> bool {
    let arena = Bump::new();
    let value = parse(text, 0, &arena, &Limits::default());
    value
        .is_ok_and(|document| matches!(document.node.value, Value::Number(Number::Written(written)) if written == text))
}

struct PartVerifier<'a> {
    program: &'a Program,
}

impl PartVerifier<'_> {
    fn verify_range(&self, number: u32, length: usize, what: &str) -> Result<(), VerifyError> {
        if (number as usize) < length { Ok(()) } else { Err(VerifyError::new(format!("there is no {what} {number}"))) }
    }

    fn verify_code(&self, code: CodeId) -> Result<(), VerifyError> {
        self.verify_range(code.0, self.program.chunks.len(), "expression")
    }

    fn verify_bindings(&self, count: u32) -> Result<(), VerifyError> {
        match count as usize <= BINDINGS {
            true => Ok(()),
            false => Err(VerifyError::new(format!("an assertion has {count} bindings, more than {BINDINGS}"))),
        }
    }

    fn verify_pattern(&self, pattern: PatternId) -> Result<(), VerifyError> {
        self.verify_range(pattern.0, self.program.patterns.len(), "pattern")
    }

    fn verify_rule(&self, rule: u32) -> Result<(), VerifyError> {
        self.verify_range(rule, self.program.rules.len(), "rule")
    }

    fn verify_definitions(&self) -> Result<(), VerifyError> {
        self.program.lets.iter().try_for_each(|&code| self.verify_code(code))?;
        for def in &self.program.defs {
            self.verify_code(def.code)?;
            let locals = self.program.chunks.get(def.code.0 as usize).map_or(0, |chunk| chunk.locals);
            if def.parameters > locals {
                return Err(VerifyError::new(format!("`{}` has more parameters than locals", def.name)));
            }
        }
        for tool in &self.program.tools {
            tool.arguments.map_or(Ok(()), |schema| self.verify_range(schema, self.program.schemas.len(), "schema"))?;
        }
        for fact in &self.program.tool_facts {
            if let ToolClaim::Fails(code) = fact.says {
                self.verify_code(code)?;
            }
        }
        self.verify_regexes()?;
        for classifier in &self.program.classifiers {
            if let MessageTest::Matches(regex) = classifier.test {
                self.verify_range(regex, self.program.regexes.len(), "regular expression")?;
            }
        }
        for schema in &self.program.schemas {
            if let Err(error) = serde_json::from_str::<serde_json::Value>(&schema.json) {
                return Err(VerifyError::new(format!("the schema `{}` is not JSON: {error}", schema.name)));
            }
            let lies_in = |span: &averment_base::source::Span| {
                let source = self.program.sources.get(span.file.0 as usize);
                source.is_some_and(|source| source.text.get(span.as_range()).is_some())
            };
            if !schema.place.iter().all(lies_in) {
                return Err(VerifyError::new(format!("the place of the schema `{}` is in no source", schema.name)));
            }
        }
        Ok(())
    }

    fn verify_regexes(&self) -> Result<(), VerifyError> {
        let mut bytes = 0_u64;
        for regex in &self.program.regexes {
            let unusable = |why: &dyn Display| {
                VerifyError::new(format!("the regular expression `{}` cannot be used: {why}", regex.text))
            };
            let own = match regex.backtracks {
                true => BacktrackRegex::new(&regex.pattern).map_err(|mistake| unusable(&mistake))?.memory_bytes(),
                false => {
                    regex.pattern.parsed().map_err(|error| unusable(error))?;
                    regex.pattern.automaton_bytes().unwrap_or_default()
                }
            };
            bytes = bytes.saturating_add(own);
        }
        match bytes > Limits::default().all_regex_bytes {
            true => Err(VerifyError::new("its regular expressions take too much memory together")),
            false => Ok(()),
        }
    }

    /// Reports quote the rules, so every span has to lie in its source.
    fn verify_places(&self) -> Result<(), VerifyError> {
        let program = self.program;
        program
            .spans
            .iter()
            .copied()
            .chain(program.chunks.iter().map(|chunk| chunk.span))
            .chain(program.patterns.iter().map(|pattern| pattern.span))
            .chain(program.temporals.iter().map(|entry| entry.span))
            .chain(program.assertions.iter().map(|assertion| assertion.span))
            .chain(program.rules.iter().map(|rule| rule.span))
            .chain(program.params.iter().map(|param| param.span))
            .chain(program.tests.iter().map(|test| test.span))
            .try_for_each(|span| self.verify_place(span))
    }

    fn verify_place(&self, span: Span) -> Result<(), VerifyError> {
        let inside = self
            .program
            .sources
            .get(span.file.0 as usize)
            .is_some_and(|source| span.start <= span.end && source.text.get(span.as_range()).is_some());
        // A program that was made without a source has only empty places at the start.
        if inside || span == Span::default() { Ok(()) } else { Err(VerifyError::new("a place is not in its source")) }
    }

    fn verify_alternative(&self, alternative: &PatternAlternative<CodeId>) -> Result<(), VerifyError> {
        if let NameTest::Matches(regex) = alternative.name {
            self.verify_range(regex, self.program.regexes.len(), "regular expression")?;
            if self.program.regexes.get(regex as usize).is_some_and(|regex| regex.backtracks) {
                return Err(VerifyError::new("the name of a step is matched by a regular expression that backtracks"));
            }
        }
        alternative.text.iter().chain(&alternative.condition).try_for_each(|&code| self.verify_code(code))?;
        alternative.binds.iter().try_for_each(|(_, code)| self.verify_code(*code))?;
        alternative.joins.iter().try_for_each(|&code| self.verify_code(code))
    }

    fn verify_selection(&self, selection: &CompiledSelection) -> Result<(), VerifyError> {
        self.verify_pattern(selection.pattern)?;
        selection.value.map_or(Ok(()), |code| self.verify_code(code))?;
        if matches!(selection.reach, SelectionReach::Within(StepDistance::Time(bound)) if !bound.is_finite()) {
            return Err(VerifyError::new("a time bound is no number"));
        }
        selection.given.iter().try_for_each(|binding| self.verify_range(*binding, BINDINGS, "binding"))
    }

    fn verify_temporal(&self, temporal: &Temporal<PatternId, CodeId>) -> Result<(), VerifyError> {
        temporal.operands().into_iter().try_for_each(|operand| match operand {
            StatementOperand::Pattern(pattern) => self.verify_pattern(*pattern),
            StatementOperand::Code(code, _) => self.verify_code(*code),
            StatementOperand::Within(StepDistance::Time(bound)) if !bound.is_finite() => {
                Err(VerifyError::new("a time bound is no number"))
            }
            StatementOperand::Within(_) => Ok(()),
        })
    }

    fn verify_assertion(&self, assertion: &CompiledAssertion) -> Result<(), VerifyError> {
        assertion.rule.map_or(Ok(()), |rule| self.verify_rule(rule))?;
        self.verify_settings(&assertion.settings)?;
        self.verify_check(&assertion.check)
    }

    fn verify_settings(&self, settings: &AssertionSettings<CodeId>) -> Result<(), VerifyError> {
        verify_weight(settings.weight)?;
        verify_threshold(settings.threshold)?;
        settings.message.map_or(Ok(()), |code| self.verify_code(code))?;
        let classifiers = self.program.classifiers.len();
        settings.classifiers.iter().try_for_each(|&one| self.verify_range(one, classifiers, "class of failures"))?;
        settings.when.iter().try_for_each(|&code| self.verify_code(code))
    }

    fn verify_check(&self, check: &CompiledCheck) -> Result<(), VerifyError> {
        match check {
            CompiledCheck::Expression(code) => self.verify_code(*code),
            CompiledCheck::Temporal(TemporalId(temporal)) => {
                self.verify_range(*temporal, self.program.temporals.len(), "statement")
            }
            CompiledCheck::Not(inner) => self.verify_check(inner),
            CompiledCheck::Group { members, .. } => members.iter().try_for_each(|member| {
                verify_weight(member.weight)?;
                member.when.iter().try_for_each(|&code| self.verify_code(code))?;
                self.verify_check(&member.check)
            }),
            CompiledCheck::Scoped { scope, bindings, body } => {
                self.verify_bindings(*bindings)?;
                scope.header_patterns().try_for_each(|&pattern| self.verify_pattern(pattern))?;
                self.verify_check(body)
            }
            CompiledCheck::World(world) => self.verify_world(world),
            CompiledCheck::OverRuns(over) => self.over_runs(over),
        }
    }

    fn verify_world(&self, world: &WorldCondition<CodeId>) -> Result<(), VerifyError> {
        match world {
            WorldCondition::File { path: first, test, .. } | WorldCondition::Http { url: first, test } => {
                self.verify_code(*first)?;
                self.verify_code(*test)
            }
            WorldCondition::Env { .. } | WorldCondition::Tool { .. } => Ok(()),
            WorldCondition::Run { arguments, .. } => arguments.iter().try_for_each(|&code| self.verify_code(code)),
        }
    }

    fn over_runs(&self, over: &OverRunsCheck<CodeId>) -> Result<(), VerifyError> {
        over.all_expressions().into_iter().try_for_each(|&code| self.verify_code(code))?;
        match &over.asks {
            OverRunsQuestion::Rate { rated, share, confidence } => {
                match *rated {
                    RateSubject::Rule(rule) => self.verify_rule(rule)?,
                    RateSubject::Assertion(number) => {
                        self.verify_range(number, self.program.assertions.len(), "assertion")?;
                        let rated = self.program.assertions.get(number as usize);
                        if rated.is_some_and(|rated| matches!(rated.check, CompiledCheck::OverRuns(_))) {
                            return Err(VerifyError::new("what is counted over all runs is of all runs itself"));
                        }
                    }
                }
                verify_threshold(*confidence)?;
                match *share {
                    RateBound::Least(share) | RateBound::Most(share) | RateBound::Power { share, .. } => {
                        verify_threshold(Some(share))
                    }
                    RateBound::LeastOf { .. } => Ok(()),
                }
            }
            OverRunsQuestion::Folds { folds, .. } => folds.iter().try_for_each(|fold| match fold.function {
                RunFoldFunction::Percentile(share) => verify_threshold(Some(share)),
                _ => Ok(()),
            }),
        }
    }

    fn verify_groups(&self) -> Result<(), VerifyError> {
        for rule in &self.program.rules {
            verify_weight(rule.weight)?;
            verify_threshold(rule.threshold)?;
        }
        for suite in &self.program.suites {
            verify_threshold(suite.threshold)?;
            suite.cases.iter().try_for_each(|&case| self.verify_rule(case))?;
        }
        self.program.tests.iter().flat_map(|test| &test.rules).try_for_each(|&rule| self.verify_rule(rule))
    }
}

fn verify_weight(weight: f64) -> Result<(), VerifyError> {
    if weight.is_finite() && weight >= 0.0 {
        Ok(())
    } else {
        Err(VerifyError::new("a weight is negative or no number"))
    }
}

fn verify_threshold(threshold: Option<f64>) -> Result<(), VerifyError> {
    match threshold {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(VerifyError::new("a threshold is not between 0 and 1")),
        _ => Ok(()),
    }
}
