//! Reports a statement that cannot be parsed.

use super::typo::{self, StatementTrial, TypoWords};
use super::{RecoveryReader, TOLD, TokenKind, TokenSegment, expected, offers, own_tokens, segments};
use crate::ast::Name;
use crate::grammar::{GrammarFailure, Rule};
use crate::hints::{self, StatementView};
use crate::lower::too_many_steps;
use averment_base::diagnostic::Slug;

impl RecoveryReader<'_, '_> {
    /// Reports an unclosed string, and nothing else if it explains an open bracket.
    pub(super) fn explain_string(&mut self, segment: TokenSegment, own: &[usize]) {
        let open = |&&at: &&usize| {
            matches!(
                self.text.token_kind(at),
                TokenKind::OpenText | TokenKind::OpenInterpolation | TokenKind::OpenRegex
            )
        };
        if own.iter().any(|at| open(&at)) {
            let failure = GrammarFailure::new(self.text.span(segment.start).start as usize);
            self.explain_failure(segment, None, &failure, Rule::lone_item);
        }
    }

    pub(super) fn explain_failure(
        &mut self,
        segment: TokenSegment,
        inside: Option<(usize, usize)>,
        failure: &GrammarFailure,
        rule: Rule,
    ) {
        self.unread_name(segment);
        if failure.too_many_steps {
            // Each attempt to find the intended statement would cost that many steps again.
            self.diagnostics.push(too_many_steps(self.text.span(segment.start), self.limits.rule_steps));
            return;
        }
        self.explained += 1;
        let own: Vec<usize> = self.words_of(segment, inside);
        if self.explained > TOLD {
            // This diagnostic is only counted and not shown, so the intended statement is not needed.
            let view = StatementView::new(self.text, own, failure);
            self.diagnostics.push(expected::expected_diagnostic(&view));
            return;
        }
        let (text, place) = self.segment_text(segment, inside);
        // The corrected text may consist of two statements.
        let whole = if rule == Rule::lone_item { Rule::file } else { rule };
        let trial = StatementTrial { text: &text, place: &place, rule: whole, steps: self.limits.rule_steps };
        let nearly = |written| {
            if rule == Rule::lone_item { self.find_typo(segment, &own, &trial, failure, written) } else { None }
        };
        let diagnostic = nearly(TypoWords::NoWord).unwrap_or_else(|| {
            let view = StatementView::new(self.text, own.clone(), failure);
            let Some(known) = hints::known_mistake(&view) else {
                return nearly(TypoWords::OtherWord).unwrap_or_else(|| expected::expected_diagnostic(&view));
            };
            // Nothing is inserted if replacing one word fixes the statement.
            let unsure = typo::only_inserts(&known) || known.slug == Slug::UnknownModifier && known.fix.is_none();
            let fixed = known.fix.is_some();
            let known = if self.only_mistakes { known } else { trial.drop_failed_fix(known, failure) };
            let swapped = if unsure || fixed && known.fix.is_none() { nearly(TypoWords::OtherWord) } else { None };
            swapped.unwrap_or(known)
        });
        let body = inside.is_some().then(|| self.whole_of(segment)).flatten();
        let near = |help: &String| help.starts_with("did you mean");
        let is_mistyped = diagnostic.fix.is_some() && diagnostic.help.as_ref().is_some_and(near);
        let diagnostic = self.diagnose_intended(&trial, body, diagnostic, is_mistyped);
        let diagnostic =
            if self.only_mistakes { diagnostic } else { offers::replace_unreadable_offer(diagnostic, &trial, failure) };
        self.diagnostics.push(diagnostic);
    }

    fn whole_of(&self, segment: TokenSegment) -> Option<(&str, usize)> {
        let start = self.text.span(segment.start).start as usize;
        let end = self.text.token_before(segment.end).map(|last| self.text.span(last).end as usize)?;
        Some((self.text.source.get(start..end)?, start))
    }

    /// True if a single misspelled word is the only mistake.
    pub(super) fn is_mistyped(&self, segment: TokenSegment, failure: &GrammarFailure) -> bool {
        let (text, place) = self.segment_text(segment, None);
        let trial = StatementTrial { text: &text, place: &place, rule: Rule::file, steps: self.limits.rule_steps };
        let found = self.find_typo(segment, &self.words_of(segment, None), &trial, failure, TypoWords::NoWord);
        found.is_some_and(|diagnostic| diagnostic.fix.is_some())
    }

    fn words_of(&self, segment: TokenSegment, inside: Option<(usize, usize)>) -> Vec<usize> {
        own_tokens(segment, inside)
            .into_iter()
            .filter(|&index| self.text.token_kind(index) != TokenKind::LineEnd)
            .collect()
    }

    /// Records the name that a broken declaration would have declared.
    pub(super) fn unread_name(&mut self, segment: TokenSegment) {
        let mut name = segment.start + 1;
        match self.text.token_text(segment.start) {
            "def" => {
                name +=
                    usize::from(self.text.token_is(name, "step") && self.text.token_kind(name + 1) == TokenKind::Word)
            }
            "let" | "param" | "schema" | "rule" | "invariant" | "case" | "tool" => {}
            _ => return,
        }
        let span = self.text.span(name);
        let end = segments::label_end(self.text, name);
        let span = span.cover_with(self.text.span(end.saturating_sub(1)));
        let written = self.text.source.get(span.as_range()).unwrap_or("");
        let text = written.trim_matches(['"', '\'']).to_owned();
        if !text.is_empty() {
            self.unread.push(Name { text, span });
        }
    }
}
