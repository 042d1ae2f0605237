//! Which assertions are duplicates of each other, word for word: one is judged as their representative, and its finding is said of each.
//!
//! Rules are put together from packs, templates and loops, so that many of them repeat others. Two assertions are alike when nothing that
//! a verdict, a reason or its evidence is made of differs but the place in the file: the text, the patterns, the code, the conditions.

use super::plan::UniquePatternId;
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, CompiledMember, PatternId, Program};
use averment_base::source::Span;
use averment_checker::ir::{OperandTranslator, RuleRole};
use rustc_hash::FxHashMap;
use serde::Serialize;
use smallvec::SmallVec;

/// The first duplicate of each assertion; `None` for unique ones.
pub(super) fn duplicate_groups(
    program: &Program,
    unique: impl Fn(PatternId) -> Option<UniquePatternId>,
    mut code: impl FnMut(CodeId) -> CodeId,
) -> Vec<Option<u32>> {
    let mut groups = vec![None; program.assertions.len()];
    let mut by_content: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
    for (number, assertion) in repeated_assertions(program) {
        let mut writer = AssertionWriter {
            program,
            of: assertion_regions(program, assertion),
            unique: &unique,
            representative_code: &mut code,
            out: Vec::new(),
        };
        if writer.write_assertion(assertion).is_none() {
            continue;
        }
        let first = *by_content.entry(writer.out).or_insert(number);
        for like in [first, number].into_iter().filter(|_| first != number) {
            groups.get_mut(like as usize).into_iter().for_each(|group| *group = Some(first));
        }
    }
    groups
}

fn repeated_assertions(program: &Program) -> Vec<(u32, &CompiledAssertion)> {
    let mut by_text: FxHashMap<&str, Vec<(u32, &CompiledAssertion)>> = FxHashMap::default();
    for (number, assertion) in (0..).zip(&program.assertions) {
        if let Some(text) = program.source_text(assertion.span) {
            by_text.entry(text).or_default().push((number, assertion));
        }
    }
    let mut found: Vec<_> = by_text.into_values().filter(|duplicates| duplicates.len() > 1).flatten().collect();
    found.sort_unstable_by_key(|(number, _)| *number);
    found
}

/// An assertion's own places: its statement and the headers of its blocks.
pub(crate) type AssertionRegions = SmallVec<[Span; 2]>;

pub(crate) fn assertion_regions(program: &Program, assertion: &CompiledAssertion) -> AssertionRegions {
    let mut regions: AssertionRegions = smallvec::smallvec![assertion.span];
    let mut check = &assertion.check;
    while let CompiledCheck::Scoped { scope, body, .. } = check {
        let span = |pattern: &PatternId| Some(program.patterns.get(pattern.0 as usize)?.span);
        regions.extend(scope.header_patterns().filter_map(span));
        check = body;
    }
    regions
}

/// Serializes an assertion; places inside it are relative to its start.
struct AssertionWriter<'p, S, F> {
    program: &'p Program,
    of: AssertionRegions,
    unique: &'p S,
    representative_code: &'p mut F,
    out: Vec<u8>,
}

impl<S: Fn(PatternId) -> Option<UniquePatternId>, F: FnMut(CodeId) -> CodeId> AssertionWriter<'_, S, F> {
    fn write_assertion(&mut self, assertion: &CompiledAssertion) -> Option<()> {
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        self.write_part(&rule.is_some_and(|rule| rule.role == RuleRole::Invariant))?;
        for region in self.of.clone() {
            self.write_part(&self.program.source_text(region))?;
        }
        self.write_codes(&assertion.settings.when)?;
        self.write_check(&assertion.check)
    }

    /// `None` for a check of the world, whose effects happen as often as it is written.
    fn write_check(&mut self, check: &CompiledCheck) -> Option<()> {
        match check {
            CompiledCheck::Expression(code) => {
                let code = self.translate_code(code, 0);
                self.write_part(&(0_u8, code))
            }
            CompiledCheck::Temporal(temporal) => {
                let entry = self.program.temporals.get(temporal.0 as usize)?;
                let temporal = entry.temporal.translated(self);
                self.write_part(&(1_u8, temporal, self.region_place(entry.span), entry.bindings, &entry.binding_names))
            }
            CompiledCheck::Not(inner) => {
                self.write_part(&2_u8)?;
                self.write_check(inner)
            }
            CompiledCheck::Group { kind, members } => {
                self.write_part(&(3_u8, kind, members.len()))?;
                members.iter().try_for_each(|member| self.write_member(member))
            }
            CompiledCheck::Scoped { scope, bindings, body } => {
                let scope = scope.translated(self);
                self.write_part(&(4_u8, scope, bindings))?;
                self.write_check(body)
            }
            CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => None,
        }
    }

    fn write_member(&mut self, member: &CompiledMember) -> Option<()> {
        self.write_part(&(self.region_place(member.span), member.weight))?;
        self.write_codes(&member.when)?;
        self.write_check(&member.check)
    }

    fn write_codes(&mut self, codes: &[CodeId]) -> Option<()> {
        let codes: Vec<_> = codes.iter().map(|code| self.translate_code(code, 0)).collect();
        self.write_part(&codes)
    }

    fn region_place(&self, span: Span) -> RegionPlace {
        let own = self.of.iter().enumerate().find(|(_, region)| is_inside(span, **region));
        own.map_or(RegionPlace::Elsewhere(span), |(number, region)| {
            RegionPlace::Own(number, span.start - region.start, span.end - region.start)
        })
    }

    fn write_part(&mut self, part: &impl Serialize) -> Option<()> {
        self.out.extend(postcard::to_stdvec(part).ok()?);
        Some(())
    }
}

impl<S: Fn(PatternId) -> Option<UniquePatternId>, F: FnMut(CodeId) -> CodeId> OperandTranslator<PatternId, CodeId>
    for AssertionWriter<'_, S, F>
{
    type TargetPattern = (Option<u32>, Option<RegionPlace>);
    type TargetCode = (CodeId, Option<RegionPlace>);

    fn translate_pattern(&mut self, pattern: &PatternId) -> Self::TargetPattern {
        let written = self.program.patterns.get(pattern.0 as usize);
        ((self.unique)(*pattern).map(|unique| unique.0), written.map(|written| self.region_place(written.span)))
    }

    fn translate_code(&mut self, code: &CodeId, _: u32) -> Self::TargetCode {
        let chunk = self.program.chunks.get(code.0 as usize);
        ((self.representative_code)(*code), chunk.map(|chunk| self.region_place(chunk.span)))
    }
}

#[derive(Serialize)]
enum RegionPlace {
    Own(usize, u32, u32),
    Elsewhere(Span),
}

fn is_inside(span: Span, of: Span) -> bool {
    span.file == of.file && of.start <= span.start && span.start <= span.end && span.end <= of.end
}

/// Maps a place in one assertion to its duplicate; `from` and `to` are their regions.
pub(crate) fn move_span(span: Span, from: &[Span], to: &[Span]) -> Span {
    let mut regions = from.iter().zip(to);
    match regions.find(|(from, _)| is_inside(span, **from)) {
        Some((from, to)) => {
            let at = |offset: u32| to.start.saturating_add(offset - from.start);
            Span { file: to.file, start: at(span.start), end: at(span.end) }
        }
        None => span,
    }
}
