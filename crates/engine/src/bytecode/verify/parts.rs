//! Everything of a program beside its code: numbers in range, settings that make sense.

use super::VerifyError;
use crate::bytecode::ops::{Amount, Literal};
use crate::bytecode::program::{Assertion, Check, CodeId, PatternId, Program, Selection, TemporalId};
use crate::ir::{
    Alternative, AsksOfRuns, Constant, FoldOfRuns, NameTest, Operand, OverRuns, RatedBy, Reach, Settings, Share,
    Temporal, Within, World,
};
use crate::ir::{MessageTest, ToolSays};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_base::value::json::parse;
use averment_base::value::{Number, Value};
use averment_builtins::backtrack::Backtracking;
use bumpalo::Bump;
use std::fmt::Display;

/// The bindings that one assertion may have: each window keeps room for all of them.
const BINDINGS: usize = 1 << 16;

/// Checks the tables of a program.
pub(super) fn verify(program: &Program) -> Result<(), VerifyError> {
    let parts = PartVerifier { program };
    parts.definitions()?;
    parts.places()?;
    for pattern in &program.patterns {
        pattern.alternatives.iter().try_for_each(|alternative| parts.alternative(alternative))?;
    }
    program.selections.iter().try_for_each(|selection| parts.selection(selection))?;
    for entry in &program.temporals {
        if entry.bindings as usize != entry.binding_names.len() {
            return Err(VerifyError::new("a statement has more or fewer bindings than names of them"));
        }
        parts.bindings(entry.bindings)?;
        parts.temporal(&entry.temporal)?;
    }
    program.assertions.iter().try_for_each(|assertion| parts.assertion(assertion))?;
    parts.groups()?;
    program.constants.iter().try_for_each(constant)
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

fn constant(constant: &Constant) -> Result<(), VerifyError> {
    match constant {
        Constant::Number(text) if !is_number(text) => Err(VerifyError::new(format!("`{text}` is no number"))),
        Constant::List(items) => items.iter().try_for_each(self::constant),
        Constant::Object(entries) => entries.iter().try_for_each(|(_, value)| self::constant(value)),
        _ => Ok(()),
    }
}

/// Numbers of any size: only the syntax counts.
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
    fn range(&self, number: u32, length: usize, what: &str) -> Result<(), VerifyError> {
        if (number as usize) < length { Ok(()) } else { Err(VerifyError::new(format!("there is no {what} {number}"))) }
    }

    fn code(&self, code: CodeId) -> Result<(), VerifyError> {
        self.range(code.0, self.program.chunks.len(), "expression")
    }

    fn bindings(&self, count: u32) -> Result<(), VerifyError> {
        match count as usize <= BINDINGS {
            true => Ok(()),
            false => Err(VerifyError::new(format!("an assertion has {count} bindings, more than {BINDINGS}"))),
        }
    }

    fn pattern(&self, pattern: PatternId) -> Result<(), VerifyError> {
        self.range(pattern.0, self.program.patterns.len(), "pattern")
    }

    fn rule(&self, rule: u32) -> Result<(), VerifyError> {
        self.range(rule, self.program.rules.len(), "rule")
    }

    fn definitions(&self) -> Result<(), VerifyError> {
        self.program.lets.iter().try_for_each(|&code| self.code(code))?;
        for def in &self.program.defs {
            self.code(def.code)?;
            let locals = self.program.chunks.get(def.code.0 as usize).map_or(0, |chunk| chunk.locals);
            if def.parameters > locals {
                return Err(VerifyError::new(format!("`{}` has more parameters than locals", def.name)));
            }
        }
        for tool in &self.program.tools {
            tool.arguments.map_or(Ok(()), |schema| self.range(schema, self.program.schemas.len(), "schema"))?;
        }
        for fact in &self.program.tool_facts {
            if let ToolSays::Fails(code) = fact.says {
                self.code(code)?;
            }
        }
        self.regexes()?;
        for classifier in &self.program.classifiers {
            if let MessageTest::Matches(regex) = classifier.test {
                self.range(regex, self.program.regexes.len(), "regular expression")?;
            }
        }
        for schema in &self.program.schemas {
            if let Err(error) = serde_json::from_str::<serde_json::Value>(&schema.json) {
                return Err(VerifyError::new(format!("the schema `{}` is not JSON: {error}", schema.name)));
            }
            let lies_in = |span: &averment_base::source::Span| {
                let source = self.program.sources.get(span.file.0 as usize);
                source.is_some_and(|source| source.text.get(span.range()).is_some())
            };
            if !schema.place.iter().all(lies_in) {
                return Err(VerifyError::new(format!("the place of the schema `{}` is in no source", schema.name)));
            }
        }
        Ok(())
    }

    fn regexes(&self) -> Result<(), VerifyError> {
        let mut bytes = 0_u64;
        for regex in &self.program.regexes {
            let unusable = |why: &dyn Display| {
                VerifyError::new(format!("the regular expression `{}` cannot be used: {why}", regex.text))
            };
            let own = match regex.backtracks {
                true => Backtracking::new(&regex.pattern).map_err(|mistake| unusable(&mistake))?.bytes(),
                false => {
                    regex_syntax::parse(&regex.pattern).map_err(|error| unusable(&error))?;
                    averment_builtins::pattern::bytes(&regex.pattern)
                }
            };
            bytes = bytes.saturating_add(own);
        }
        match bytes > Limits::default().all_regex_bytes {
            true => Err(VerifyError::new("its regular expressions take too much memory together")),
            false => Ok(()),
        }
    }

    /// Reports quote the rules: every place has to lie in its source.
    fn places(&self) -> Result<(), VerifyError> {
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
            .try_for_each(|span| self.place(span))
    }

    fn place(&self, span: Span) -> Result<(), VerifyError> {
        let inside = self
            .program
            .sources
            .get(span.file.0 as usize)
            .is_some_and(|source| span.start <= span.end && source.text.get(span.range()).is_some());
        // A program that was made without a source has only empty places at the start.
        if inside || span == Span::default() { Ok(()) } else { Err(VerifyError::new("a place is not in its source")) }
    }

    fn alternative(&self, alternative: &Alternative<CodeId>) -> Result<(), VerifyError> {
        if let NameTest::Matches(regex) = alternative.name {
            self.range(regex, self.program.regexes.len(), "regular expression")?;
            if self.program.regexes.get(regex as usize).is_some_and(|regex| regex.backtracks) {
                return Err(VerifyError::new("the name of a step is matched by a regular expression that backtracks"));
            }
        }
        alternative.text.iter().chain(&alternative.condition).try_for_each(|&code| self.code(code))?;
        alternative.binds.iter().try_for_each(|(_, code)| self.code(*code))?;
        alternative.joins.iter().try_for_each(|&code| self.code(code))
    }

    fn selection(&self, selection: &Selection) -> Result<(), VerifyError> {
        self.pattern(selection.pattern)?;
        selection.value.map_or(Ok(()), |code| self.code(code))?;
        if matches!(selection.reach, Reach::Within(Within::Time(bound)) if !bound.is_finite()) {
            return Err(VerifyError::new("a time bound is no number"));
        }
        selection.given.iter().try_for_each(|binding| self.range(*binding, BINDINGS, "binding"))
    }

    fn temporal(&self, temporal: &Temporal<PatternId, CodeId>) -> Result<(), VerifyError> {
        temporal.operands().into_iter().try_for_each(|operand| match operand {
            Operand::Pattern(pattern) => self.pattern(*pattern),
            Operand::Code(code, _) => self.code(*code),
            Operand::Within(Within::Time(bound)) if !bound.is_finite() => {
                Err(VerifyError::new("a time bound is no number"))
            }
            Operand::Within(_) => Ok(()),
        })
    }

    fn assertion(&self, assertion: &Assertion) -> Result<(), VerifyError> {
        assertion.rule.map_or(Ok(()), |rule| self.rule(rule))?;
        self.settings(&assertion.settings)?;
        self.check(&assertion.check)
    }

    fn settings(&self, settings: &Settings<CodeId>) -> Result<(), VerifyError> {
        weight(settings.weight)?;
        threshold(settings.threshold)?;
        settings.message.map_or(Ok(()), |code| self.code(code))?;
        let classifiers = self.program.classifiers.len();
        settings.classifiers.iter().try_for_each(|&one| self.range(one, classifiers, "class of failures"))?;
        settings.when.iter().try_for_each(|&code| self.code(code))
    }

    fn check(&self, check: &Check) -> Result<(), VerifyError> {
        match check {
            Check::Expression(code) => self.code(*code),
            Check::Temporal(TemporalId(temporal)) => self.range(*temporal, self.program.temporals.len(), "statement"),
            Check::Not(inner) => self.check(inner),
            Check::Group { members, .. } => members.iter().try_for_each(|member| {
                weight(member.weight)?;
                member.when.iter().try_for_each(|&code| self.code(code))?;
                self.check(&member.check)
            }),
            Check::Scoped { scope, bindings, body } => {
                self.bindings(*bindings)?;
                scope.patterns().try_for_each(|&pattern| self.pattern(pattern))?;
                self.check(body)
            }
            Check::World(world) => self.world(world),
            Check::OverRuns(over) => self.over_runs(over),
        }
    }

    fn world(&self, world: &World<CodeId>) -> Result<(), VerifyError> {
        match world {
            World::File { path: first, test, .. } | World::Http { url: first, test } => {
                self.code(*first)?;
                self.code(*test)
            }
            World::Env { .. } | World::Tool { .. } => Ok(()),
            World::Run { arguments, .. } => arguments.iter().try_for_each(|&code| self.code(code)),
        }
    }

    fn over_runs(&self, over: &OverRuns<CodeId>) -> Result<(), VerifyError> {
        over.expressions().into_iter().try_for_each(|&code| self.code(code))?;
        match &over.asks {
            AsksOfRuns::Rate { rated, share, confidence } => {
                match *rated {
                    RatedBy::Rule(rule) => self.rule(rule)?,
                    RatedBy::Assertion(number) => {
                        self.range(number, self.program.assertions.len(), "assertion")?;
                        let rated = self.program.assertions.get(number as usize);
                        if rated.is_some_and(|rated| matches!(rated.check, Check::OverRuns(_))) {
                            return Err(VerifyError::new("what is counted over all runs is of all runs itself"));
                        }
                    }
                }
                threshold(*confidence)?;
                match *share {
                    Share::Least(share) | Share::Most(share) | Share::Power { share, .. } => threshold(Some(share)),
                    Share::LeastOf { .. } => Ok(()),
                }
            }
            AsksOfRuns::Folds { folds, .. } => folds.iter().try_for_each(|fold| match fold.function {
                FoldOfRuns::Percentile(share) => threshold(Some(share)),
                _ => Ok(()),
            }),
        }
    }

    fn groups(&self) -> Result<(), VerifyError> {
        for rule in &self.program.rules {
            weight(rule.weight)?;
            threshold(rule.threshold)?;
        }
        for suite in &self.program.suites {
            threshold(suite.threshold)?;
            suite.cases.iter().try_for_each(|&case| self.rule(case))?;
        }
        self.program.tests.iter().flat_map(|test| &test.rules).try_for_each(|&rule| self.rule(rule))
    }
}

fn weight(weight: f64) -> Result<(), VerifyError> {
    if weight.is_finite() && weight >= 0.0 {
        Ok(())
    } else {
        Err(VerifyError::new("a weight is negative or no number"))
    }
}

fn threshold(threshold: Option<f64>) -> Result<(), VerifyError> {
    match threshold {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(VerifyError::new("a threshold is not between 0 and 1")),
        _ => Ok(()),
    }
}
