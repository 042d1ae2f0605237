//! Rules that were made of another file: where their text comes from.

use super::program::{Check, Member, Program, ProgramSource};
use averment_base::source::{FileId, Span};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The source that holds the text that was made, and where its pieces come from. Reasons quote the text; reports name the places.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    source: FileId,
    /// Pieces in the order of their starts, larger ones first; those inside of others are finer.
    pieces: Vec<(Range<u32>, Span)>,
}

impl Origin {
    /// Of the pieces of a source, each with its place in another one.
    #[must_use]
    pub fn new(source: FileId, mut pieces: Vec<(Range<u32>, Span)>) -> Self {
        pieces.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        Self { source, pieces }
    }

    /// The place that a piece of the text was made of: that of the smallest piece around it, or the start of the file. A place in another source
    /// is what it is.
    #[must_use]
    pub fn place(&self, span: Span) -> Span {
        if span.file != self.source {
            return span;
        }
        let behind = self.pieces.partition_point(|(range, _)| range.start <= span.start);
        let around = self.pieces.get(..behind).unwrap_or_default().iter().rev();
        let found = around.filter(|(range, _)| span.end <= range.end).min_by_key(|(range, _)| range.len());
        found.map_or(Span::default(), |(_, place)| *place)
    }
}

impl Program {
    /// Where a place of the program is for people: in the file that the rules were made of.
    #[must_use]
    pub fn place(&self, span: Span) -> Span {
        self.origin.as_ref().map_or(span, |origin| origin.place(span))
    }

    /// The same program of rules that were made of another file: with these sources, in which its own have other numbers.
    pub fn made_of(&mut self, sources: Vec<ProgramSource>, origin: Origin, moved: &dyn Fn(Span) -> Span) {
        self.sources = sources;
        let own = self.spans.iter_mut().chain(self.chunks.iter_mut().map(|chunk| &mut chunk.span));
        let steps = self.patterns.iter_mut().map(|pattern| &mut pattern.span);
        let statements = self.temporals.iter_mut().map(|entry| &mut entry.span);
        let rules = self.rules.iter_mut().map(|rule| &mut rule.span);
        let schemas = self.schemas.iter_mut().filter_map(|schema| schema.place.as_mut());
        own.chain(steps).chain(statements).chain(rules).chain(schemas).for_each(|span| *span = moved(*span));
        for assertion in &mut self.assertions {
            assertion.span = moved(assertion.span);
            in_check(&mut assertion.check, moved);
        }
        // Nothing is said of the text of these.
        let params = self.params.iter_mut().map(|param| &mut param.span);
        let tests = self.tests.iter_mut().map(|test| &mut test.span);
        params.chain(tests).for_each(|span| *span = origin.place(moved(*span)));
        self.origin = Some(origin);
    }
}

fn in_check(check: &mut Check, moved: &dyn Fn(Span) -> Span) {
    match check {
        Check::Not(inner) => in_check(inner, moved),
        Check::Group { members, .. } => {
            for Member { span, check, .. } in members {
                *span = moved(*span);
                in_check(check, moved);
            }
        }
        Check::Scoped { body, .. } => in_check(body, moved),
        Check::Expression(_) | Check::Temporal(_) | Check::World(_) | Check::OverRuns(_) => {}
    }
}
