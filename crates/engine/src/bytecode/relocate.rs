//! Other places for a program: of text that was made of another file, the places in that file.

use super::program::{Check, Member, Program, ProgramSource};
use averment_base::source::Span;

impl Program {
    /// The same program with these sources, and with its places in them: `place` says where each of its own is there.
    pub fn relocate(&mut self, sources: Vec<ProgramSource>, place: &dyn Fn(Span) -> Span) {
        self.sources = sources;
        let own = self.spans.iter_mut().chain(self.chunks.iter_mut().map(|chunk| &mut chunk.span));
        let steps = self.patterns.iter_mut().map(|pattern| &mut pattern.span);
        let statements = self.temporals.iter_mut().map(|entry| &mut entry.span);
        let rules = self.rules.iter_mut().map(|rule| &mut rule.span);
        let params = self.params.iter_mut().map(|param| &mut param.span);
        let tests = self.tests.iter_mut().map(|test| &mut test.span);
        let schemas = self.schemas.iter_mut().filter_map(|schema| schema.place.as_mut());
        let all = own.chain(steps).chain(statements).chain(rules).chain(params).chain(tests).chain(schemas);
        all.for_each(|span| *span = place(*span));
        for assertion in &mut self.assertions {
            assertion.span = place(assertion.span);
            in_check(&mut assertion.check, place);
        }
    }
}

fn in_check(check: &mut Check, place: &dyn Fn(Span) -> Span) {
    match check {
        Check::Not(inner) => in_check(inner, place),
        Check::Group { members, .. } => {
            for Member { span, check, .. } in members {
                *span = place(*span);
                in_check(check, place);
            }
        }
        Check::Scoped { body, .. } => in_check(body, place),
        Check::Expression(_) | Check::Temporal(_) | Check::World(_) => {}
    }
}
