//! Corrects words that are similar to keywords: `afer` to `after`, `atleast` to `at least`.
//!
//! A correction is not guessed from the word alone but tried. It counts if the statement then parses, or at least parses beyond the word at which
//! parsing stopped.

use super::{RecoveryReader, TokenKind, TokenSegment};
use crate::grammar::{self, GrammarFailure, Rule};
use crate::lower::TextPlace;
use crate::near_keywords::near_words;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Slug, SourceEdit};

const TRIES: usize = 16;
/// Maximum length in bytes of a statement that is parsed again for one word.
const LONGEST: usize = 8 << 10;
pub(super) struct StatementTrial<'p> {
    pub text: &'p str,
    pub place: &'p TextPlace,
    pub rule: Rule,
    pub steps: usize,
}

impl StatementTrial<'_> {
    /// Maps a location to an offset in the text; returns `None` for a removed part.
    fn text_offset(&self, at: usize) -> Option<usize> {
        let here = at.checked_sub(self.place.base)?;
        let found = if here > self.place.cut_at { here.checked_sub(self.place.cut_length)? } else { here };
        (self.place.file_offset(found) == at).then_some(found)
    }

    fn edit_ranges(&self, edits: &[SourceEdit]) -> Option<Vec<(usize, usize)>> {
        let place = |edit: &SourceEdit| {
            Some((self.text_offset(edit.span.start as usize)?, self.text_offset(edit.span.end as usize)?))
        };
        let mut places = edits.iter().map(place).collect::<Option<Vec<_>>>()?;
        places.sort_unstable();
        Some(places)
    }

    pub(super) fn apply_edits(&self, edits: &[SourceEdit]) -> Option<String> {
        let mut edits: Vec<&SourceEdit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let (mut changed, mut done) = (String::with_capacity(self.text.len() + 16), 0);
        for edit in edits {
            changed.push_str(self.text.get(done..self.text_offset(edit.span.start as usize)?)?);
            changed.push_str(&edit.text);
            done = self.text_offset(edit.span.end as usize)?;
        }
        changed.push_str(self.text.get(done..)?);
        Some(changed)
    }

    /// Parses with edits applied. Progress means that parsing passes all edits and the previous failure.
    pub(super) fn try_edits(&self, edits: &[SourceEdit], before: &GrammarFailure) -> Option<TrialResult> {
        let places = self.edit_ranges(edits)?;
        let (changed, done) = (self.apply_edits(edits)?, places.last().map_or(0, |(_, end)| *end));
        let Err(failure) = grammar::parse_rule(self.rule, &changed, self.steps) else {
            return Some(TrialResult::Whole);
        };
        if failure.too_many_steps {
            return Some(TrialResult::No);
        }
        let behind = changed.len().saturating_sub(failure.at);
        let behind_before = self.text.len().saturating_sub(self.text_offset(before.at)?);
        let start = places.last().map_or(0, |(start, _)| *start);
        let behind_edits = self.text.len().saturating_sub(done);
        // Text that ends too early after the new word counts as progress too.
        let accepted = behind < behind_edits || done > start && behind == 0 && failure.at > start;
        Some(if behind < behind_before && accepted { TrialResult::Further } else { TrialResult::No })
    }
}

impl StatementTrial<'_> {
    /// Drops fixes that repair nothing, and the advice to apply them.
    pub(super) fn drop_failed_fix(&self, mut diagnostic: Diagnostic, failure: &GrammarFailure) -> Diagnostic {
        let Some(fix) = &diagnostic.fix else { return diagnostic };
        // Edits outside of this statement cannot be tried here.
        let Some(reads) = self.try_edits(&fix.edits, failure) else { return diagnostic };
        if reads != TrialResult::Whole {
            let title = diagnostic.fix.take().map(|fix| fix.title).unwrap_or_default();
            if reads == TrialResult::No && diagnostic.help.as_deref() == Some(title.as_str()) {
                diagnostic.help = super::expected::expected_text(&failure.expected);
            }
        }
        diagnostic
    }
}

pub(super) fn only_inserts(diagnostic: &Diagnostic) -> bool {
    let inserts = |edit: &SourceEdit| edit.span.start == edit.span.end;
    diagnostic.fix.as_ref().is_some_and(|fix| fix.edits.iter().all(inserts))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypoWords {
    /// Unknown words: `afer`.
    NoWord,
    /// Keywords used in place of others: `than` for `then`.
    OtherWord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialResult {
    Whole,
    Further,
    No,
}

impl RecoveryReader<'_, '_> {
    /// Returns the diagnostic of a misspelled keyword whose correction parses; `failed` is where parsing stopped.
    pub(super) fn find_typo(
        &self,
        segment: TokenSegment,
        own: &[usize],
        trial: &StatementTrial<'_>,
        failure: &GrammarFailure,
        written: TypoWords,
    ) -> Option<Diagnostic> {
        if trial.text.len() > LONGEST {
            return None;
        }
        let failed = own.iter().position(|&index| self.text.span(index).end as usize > failure.at).unwrap_or(own.len());
        let near = (failed..=failed + 1).chain((0..failed).rev()).filter_map(|at| own.get(at).copied());
        let is_meant = |word: &str| grammar::is_keyword(word) == (written == TypoWords::OtherWord);
        let words = near.filter(|&index| self.is_plain_word(index) && is_meant(self.text.token_text(index)));
        let stopped = own.get(failed).copied();
        let mut further = None;
        let tries =
            words.flat_map(|index| near_words(self.text.token_text(index)).into_iter().map(move |word| (index, word)));
        for (index, word) in tries.take(TRIES) {
            let edit = SourceEdit { span: self.text.span(index), text: word.clone() };
            match trial.try_edits(&[edit], failure) {
                Some(TrialResult::Whole) => return Some(self.typo_diagnostic(segment, index, &word, true)),
                Some(TrialResult::Further)
                    if written == TypoWords::NoWord && Some(index) == stopped && further.is_none() =>
                {
                    further = Some(self.typo_diagnostic(segment, index, &word, false));
                }
                _ => {}
            }
        }
        further
    }

    fn is_plain_word(&self, index: usize) -> bool {
        let field = index.checked_sub(1).is_some_and(|before| self.text.token_is(before, "."));
        self.text.token_kind(index) == TokenKind::Word && !field
    }

    fn typo_diagnostic(&self, segment: TokenSegment, index: usize, meant: &str, fixed: bool) -> Diagnostic {
        let (word, span) = (self.text.token_text(index), self.text.span(index));
        let (slug, message) = if index == segment.start {
            (Slug::UnknownStatement, format!("unknown statement `{word}`"))
        } else if words::MODIFIERS.contains(&meant)
            && !words::DECLARATIONS.contains(&self.text.token_text(segment.start))
        {
            (Slug::UnknownModifier, format!("unknown modifier `{word}`"))
        } else {
            (Slug::Syntax, format!("`{word}` cannot stand here"))
        };
        let diagnostic = Diagnostic::new(slug, span, message).with_help(format!("did you mean `{meant}`?"));
        if fixed { diagnostic.with_fix(format!("write `{meant}`"), span, meant) } else { diagnostic }
    }
}
