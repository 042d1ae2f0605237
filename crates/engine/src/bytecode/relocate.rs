//! Rules that were made of another file: where their text comes from.

use super::program::{CompiledCheck, CompiledMember, ForeignOrigin, Program, ProgramSource};
use averment_base::source::Span;

impl Program {
    /// Where a place of the program is for people: in the file that the rules were made of.
    #[must_use]
    pub fn reported_place(&self, span: Span) -> Span {
        self.origin.as_ref().map_or(span, |origin| origin.foreign_place(span))
    }

    /// The program with its sources replaced and every span moved to them; used for rules translated from another format.
    pub fn move_to_origin(&mut self, sources: Vec<ProgramSource>, origin: ForeignOrigin, moved: &dyn Fn(Span) -> Span) {
        self.sources = sources;
        let own = self.spans.iter_mut().chain(self.chunks.iter_mut().map(|chunk| &mut chunk.span));
        let steps = self.patterns.iter_mut().map(|pattern| &mut pattern.span);
        let statements = self.temporals.iter_mut().map(|entry| &mut entry.span);
        let rules = self.rules.iter_mut().map(|rule| &mut rule.span);
        let schemas = self.schemas.iter_mut().filter_map(|schema| schema.place.as_mut());
        own.chain(steps).chain(statements).chain(rules).chain(schemas).for_each(|span| *span = moved(*span));
        for assertion in &mut self.assertions {
            assertion.span = moved(assertion.span);
            move_check(&mut assertion.check, moved);
        }
        // Nothing is said of the text of these.
        let params = self.params.iter_mut().map(|param| &mut param.span);
        let tests = self.tests.iter_mut().map(|test| &mut test.span);
        params.chain(tests).for_each(|span| *span = origin.foreign_place(moved(*span)));
        self.origin = Some(origin);
    }
}

fn move_check(check: &mut CompiledCheck, moved: &dyn Fn(Span) -> Span) {
    match check {
        CompiledCheck::Not(inner) => move_check(inner, moved),
        CompiledCheck::Group { members, .. } => {
            for CompiledMember { span, check, .. } in members {
                *span = moved(*span);
                move_check(check, moved);
            }
        }
        CompiledCheck::Scoped { body, .. } => move_check(body, moved),
        CompiledCheck::Expression(_)
        | CompiledCheck::Temporal(_)
        | CompiledCheck::World(_)
        | CompiledCheck::OverRuns(_) => {}
    }
}
