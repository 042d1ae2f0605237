//! Which assertions are duplicates of each other, word for word: one is judged as their representative, and its finding is said of each.
//!
//! Rules are put together from packs, templates and loops, so that many of them repeat others. Two assertions are alike when nothing that
//! a verdict, a reason or its evidence is made of differs but the place in the file: the text, the patterns, the code, the conditions.

use super::plan::UniquePatternId;
use crate::bytecode::program::{Assertion, Check, CodeId, Member, PatternId, Program};
use crate::ir::{RuleRole, Translate};
use averment_base::source::Span;
use rustc_hash::FxHashMap;
use serde::Serialize;
use smallvec::SmallVec;

/// The first assertion like each one; `None` for those that are like no other.
pub(super) fn groups(
    program: &Program,
    unique: impl Fn(PatternId) -> Option<UniquePatternId>,
    mut code: impl FnMut(CodeId) -> CodeId,
) -> Vec<Option<u32>> {
    let mut groups = vec![None; program.assertions.len()];
    let mut by_content: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
    for (number, assertion) in repeated(program) {
        let mut writer = Writer {
            program,
            of: regions(program, assertion),
            unique: &unique,
            representative_code: &mut code,
            out: Vec::new(),
        };
        if writer.assertion(assertion).is_none() {
            continue;
        }
        let first = *by_content.entry(writer.out).or_insert(number);
        for like in [first, number].into_iter().filter(|_| first != number) {
            groups.get_mut(like as usize).into_iter().for_each(|group| *group = Some(first));
        }
    }
    groups
}

/// The assertions whose text stands in the program more than once. No others are worth a closer look.
fn repeated(program: &Program) -> Vec<(u32, &Assertion)> {
    let mut by_text: FxHashMap<&str, Vec<(u32, &Assertion)>> = FxHashMap::default();
    for (number, assertion) in (0..).zip(&program.assertions) {
        if let Some(text) = text_of(program, assertion.span) {
            by_text.entry(text).or_default().push((number, assertion));
        }
    }
    let mut found: Vec<_> = by_text.into_values().filter(|duplicates| duplicates.len() > 1).flatten().collect();
    found.sort_unstable_by_key(|(number, _)| *number);
    found
}

fn text_of(program: &Program, span: Span) -> Option<&str> {
    program.sources.get(span.file.0 as usize)?.text.get(span.range())
}

/// The places that are an assertion's own: its statement, and the headers of the blocks around it.
pub(crate) type Regions = SmallVec<[Span; 2]>;

/// The regions of an assertion.
pub(crate) fn regions(program: &Program, assertion: &Assertion) -> Regions {
    let mut regions: Regions = smallvec::smallvec![assertion.span];
    let mut check = &assertion.check;
    while let Check::Scoped { scope, body, .. } = check {
        let span = |pattern: &PatternId| Some(program.patterns.get(pattern.0 as usize)?.span);
        regions.extend(scope.patterns().filter_map(span));
        check = body;
    }
    regions
}

/// Writes out what an assertion is made of. Places inside of it are counted from its start.
struct Writer<'p, S, F> {
    program: &'p Program,
    of: Regions,
    unique: &'p S,
    representative_code: &'p mut F,
    out: Vec<u8>,
}

impl<S: Fn(PatternId) -> Option<UniquePatternId>, F: FnMut(CodeId) -> CodeId> Writer<'_, S, F> {
    fn assertion(&mut self, assertion: &Assertion) -> Option<()> {
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        self.write(&rule.is_some_and(|rule| rule.role == RuleRole::Invariant))?;
        for region in self.of.clone() {
            self.write(&text_of(self.program, region))?;
        }
        self.codes(&assertion.settings.when)?;
        self.check(&assertion.check)
    }

    /// `None` for a check of the world: what it does is done as often as it is written.
    fn check(&mut self, check: &Check) -> Option<()> {
        match check {
            Check::Expression(code) => {
                let code = self.code(code, 0);
                self.write(&(0_u8, code))
            }
            Check::Temporal(temporal) => {
                let entry = self.program.temporals.get(temporal.0 as usize)?;
                let temporal = entry.temporal.translated(self);
                self.write(&(1_u8, temporal, self.place(entry.span), entry.bindings, &entry.binding_names))
            }
            Check::Not(inner) => {
                self.write(&2_u8)?;
                self.check(inner)
            }
            Check::Group { kind, members } => {
                self.write(&(3_u8, kind, members.len()))?;
                members.iter().try_for_each(|member| self.member(member))
            }
            Check::Scoped { scope, bindings, body } => {
                let scope = scope.translated(self);
                self.write(&(4_u8, scope, bindings))?;
                self.check(body)
            }
            Check::World(_) | Check::OverRuns(_) => None,
        }
    }

    fn member(&mut self, member: &Member) -> Option<()> {
        self.write(&(self.place(member.span), member.weight))?;
        self.codes(&member.when)?;
        self.check(&member.check)
    }

    fn codes(&mut self, codes: &[CodeId]) -> Option<()> {
        let codes: Vec<_> = codes.iter().map(|code| self.code(code, 0)).collect();
        self.write(&codes)
    }

    fn place(&self, span: Span) -> RegionPlace {
        let own = self.of.iter().enumerate().find(|(_, region)| is_inside(span, **region));
        own.map_or(RegionPlace::Elsewhere(span), |(number, region)| {
            RegionPlace::Own(number, span.start - region.start, span.end - region.start)
        })
    }

    fn write(&mut self, part: &impl Serialize) -> Option<()> {
        self.out.extend(postcard::to_stdvec(part).ok()?);
        Some(())
    }
}

impl<S: Fn(PatternId) -> Option<UniquePatternId>, F: FnMut(CodeId) -> CodeId> Translate<PatternId, CodeId>
    for Writer<'_, S, F>
{
    type Pattern = (Option<u32>, Option<RegionPlace>);
    type Code = (CodeId, Option<RegionPlace>);

    fn pattern(&mut self, pattern: &PatternId) -> Self::Pattern {
        let written = self.program.patterns.get(pattern.0 as usize);
        ((self.unique)(*pattern).map(|unique| unique.0), written.map(|written| self.place(written.span)))
    }

    fn code(&mut self, code: &CodeId, _: u32) -> Self::Code {
        let chunk = self.program.chunks.get(code.0 as usize);
        ((self.representative_code)(*code), chunk.map(|chunk| self.place(chunk.span)))
    }
}

/// A place of the rules: counted from the start of a region of the assertion, or of a file.
#[derive(Serialize)]
enum RegionPlace {
    Own(usize, u32, u32),
    Elsewhere(Span),
}

fn is_inside(span: Span, of: Span) -> bool {
    span.file == of.file && of.start <= span.start && span.start <= span.end && span.end <= of.end
}

/// The place in one assertion that a place in another one, which is like it, is. `from` and `to` are their regions.
pub(crate) fn moved(span: Span, from: &[Span], to: &[Span]) -> Span {
    let mut regions = from.iter().zip(to);
    match regions.find(|(from, _)| is_inside(span, **from)) {
        Some((from, to)) => {
            let at = |offset: u32| to.start.saturating_add(offset - from.start);
            Span { file: to.file, start: at(span.start), end: at(span.end) }
        }
        None => span,
    }
}
