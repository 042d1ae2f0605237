//! What is told of a statement that cannot be read.

use super::nearly::{self, Trial, Written};
use super::{Kind, Reader, Segment, own_tokens, segments};
use crate::ast::Name;
use crate::grammar::{Failure, Rule};
use crate::hints::{self, View};
use averment_base::diagnostic::Slug;

impl Reader<'_, '_> {
    /// Of a statement with a bracket that is not closed only a string is told that is not closed either.
    pub(super) fn explain_string(&mut self, segment: Segment, own: &[usize]) {
        let open =
            |&&at: &&usize| matches!(self.text.kind(at), Kind::OpenText | Kind::OpenInterpolation | Kind::OpenRegex);
        if own.iter().any(|at| open(&at)) {
            let failure = Failure { at: self.text.span(segment.start).start as usize, expected: Vec::new() };
            self.explain(segment, None, &failure, Rule::lone_item);
        }
    }

    pub(super) fn explain(&mut self, segment: Segment, inside: Option<(usize, usize)>, failure: &Failure, rule: Rule) {
        self.unread_name(segment);
        self.asked += 1;
        let own: Vec<usize> = self.words_of(segment, inside);
        let (text, place) = self.written(segment, inside);
        // What is mended may be two statements.
        let whole = if rule == Rule::lone_item { Rule::file } else { rule };
        let trial = Trial { text: &text, place: &place, rule: whole };
        let nearly =
            |written| if rule == Rule::lone_item { self.nearly(segment, &own, &trial, failure, written) } else { None };
        let diagnostic = nearly(Written::NoWord).unwrap_or_else(|| {
            let view = View::new(self.text, own.clone(), failure);
            let Some(known) = hints::known(&view) else {
                return nearly(Written::OtherWord).unwrap_or_else(|| hints::expected(&view));
            };
            // Nothing is put in where a word in another's place is all that is wrong.
            let unsure = nearly::only_inserts(&known) || known.slug == Slug::UnknownModifier && known.fix.is_none();
            let fixed = known.fix.is_some();
            let known = if self.alone { known } else { trial.proven(known, failure) };
            let swapped = if unsure || fixed && known.fix.is_none() { nearly(Written::OtherWord) } else { None };
            swapped.unwrap_or(known)
        });
        let body = inside.is_some().then(|| self.whole_of(segment)).flatten();
        let near = |help: &String| help.starts_with("did you mean");
        let is_mistyped = diagnostic.fix.is_some() && diagnostic.help.as_ref().is_some_and(near);
        let diagnostic = self.all_meant(&trial, body, diagnostic, is_mistyped);
        self.diagnostics.push(diagnostic);
    }

    /// The text of a segment with its body, and where it starts.
    fn whole_of(&self, segment: Segment) -> Option<(&str, usize)> {
        let start = self.text.span(segment.start).start as usize;
        let end = self.text.before(segment.end).map(|last| self.text.span(last).end as usize)?;
        Some((self.text.source.get(start..end)?, start))
    }

    /// Whether a single word is all that is wrong with a statement.
    pub(super) fn is_mistyped(&self, segment: Segment, failure: &Failure) -> bool {
        let (text, place) = self.written(segment, None);
        let trial = Trial { text: &text, place: &place, rule: Rule::file };
        let found = self.nearly(segment, &self.words_of(segment, None), &trial, failure, Written::NoWord);
        found.is_some_and(|diagnostic| diagnostic.fix.is_some())
    }

    /// The tokens of a segment outside of its body, without line ends.
    fn words_of(&self, segment: Segment, inside: Option<(usize, usize)>) -> Vec<usize> {
        own_tokens(segment, inside).into_iter().filter(|&index| self.text.kind(index) != Kind::LineEnd).collect()
    }

    /// Keeps the name that a declaration with a mistake was to declare.
    pub(super) fn unread_name(&mut self, segment: Segment) {
        let mut name = segment.start + 1;
        match self.text.word(segment.start) {
            "def" => name += usize::from(self.text.is(name, "step") && self.text.kind(name + 1) == Kind::Word),
            "let" | "param" | "schema" | "rule" | "invariant" | "case" | "tool" => {}
            _ => return,
        }
        let span = self.text.span(name);
        let end = segments::label_end(self.text, name);
        let span = span.to(self.text.span(end.saturating_sub(1)));
        let written = self.text.source.get(span.range()).unwrap_or("");
        let text = written.trim_matches(['"', '\'']).to_owned();
        if !text.is_empty() {
            self.unread.push(Name { text, span });
        }
    }
}
