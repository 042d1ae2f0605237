//! Words that are nearly words of the language: `afer` for `after`, `atleast` for `at least`.
//!
//! A repair is not guessed from the word alone but tried: it counts when the statement can be read with the other word in its place, or at least
//! gets further than the mistyped word where reading stopped at just that.

use super::{Kind, Reader, Segment};
use crate::grammar::{self, Failure, Rule};
use crate::lower::Place;
use crate::near::meant;
use crate::{hints, words};
use averment_base::diagnostic::{Diagnostic, Edit, Slug};

/// How many other words are tried in one statement.
const TRIES: usize = 16;
/// Longer statements are not read again for one word.
const LONGEST: usize = 8 << 10;
/// The text of a statement that cannot be read, to be read again with something changed.
pub(super) struct Trial<'p> {
    pub text: &'p str,
    pub place: &'p Place,
    pub rule: Rule,
}

impl Trial<'_> {
    /// Where in the text a place of the file stands; `None` for one that is left out.
    fn inside(&self, at: usize) -> Option<usize> {
        let here = at.checked_sub(self.place.base)?;
        let found = if here > self.place.cut_at { here.checked_sub(self.place.cut_length)? } else { here };
        (self.place.offset(found) == at).then_some(found)
    }

    /// Where in the text some edits stand, in their order.
    fn places(&self, edits: &[Edit]) -> Option<Vec<(usize, usize)>> {
        let place = |edit: &Edit| Some((self.inside(edit.span.start as usize)?, self.inside(edit.span.end as usize)?));
        let mut places = edits.iter().map(place).collect::<Option<Vec<_>>>()?;
        places.sort_unstable();
        Some(places)
    }

    /// The text with some edits.
    pub(super) fn changed(&self, edits: &[Edit]) -> Option<String> {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let (mut changed, mut done) = (String::with_capacity(self.text.len() + 16), 0);
        for edit in edits {
            changed.push_str(self.text.get(done..self.inside(edit.span.start as usize)?)?);
            changed.push_str(&edit.text);
            done = self.inside(edit.span.end as usize)?;
        }
        changed.push_str(self.text.get(done..)?);
        Some(changed)
    }

    /// Reads the text with some edits: whether it can be read then, and if not, whether reading gets further than all of them and than before.
    pub(super) fn with(&self, edits: &[Edit], before: &Failure) -> Option<Reads> {
        let places = self.places(edits)?;
        let (changed, done) = (self.changed(edits)?, places.last().map_or(0, |(_, end)| *end));
        let Err(failure) = grammar::read(self.rule, &changed) else { return Some(Reads::Whole) };
        let behind = changed.len().saturating_sub(failure.at);
        let behind_before = self.text.len().saturating_sub(self.inside(before.at)?);
        let start = places.last().map_or(0, |(start, _)| *start);
        let behind_edits = self.text.len().saturating_sub(done);
        // Text that ends too early behind the new word is further too.
        let accepted = behind < behind_edits || done > start && behind == 0 && failure.at > start;
        Some(if behind < behind_before && accepted { Reads::Further } else { Reads::No })
    }
}

impl Trial<'_> {
    /// A diagnostic without a fix that mends nothing, and without advice to write such a thing.
    pub(super) fn proven(&self, mut diagnostic: Diagnostic, failure: &Failure) -> Diagnostic {
        let Some(fix) = &diagnostic.fix else { return diagnostic };
        // Edits that lie elsewhere cannot be tried here.
        let Some(reads) = self.with(&fix.edits, failure) else { return diagnostic };
        if reads != Reads::Whole {
            let title = diagnostic.fix.take().map(|fix| fix.title).unwrap_or_default();
            if reads == Reads::No && diagnostic.help.as_deref() == Some(title.as_str()) {
                diagnostic.help = hints::expectation(&failure.expected);
            }
        }
        diagnostic
    }
}

/// True for a diagnostic whose fix only puts something in.
pub(super) fn only_inserts(diagnostic: &Diagnostic) -> bool {
    let inserts = |edit: &Edit| edit.span.start == edit.span.end;
    diagnostic.fix.as_ref().is_some_and(|fix| fix.edits.iter().all(inserts))
}

/// Which words are taken for mistyped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Those that the language does not know: `afer`.
    NoWord,
    /// Words of the language that stand for another: `than` for `then`.
    OtherWord,
}

/// What becomes of a statement that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// It can be read.
    Whole,
    /// Something else is wrong with it too.
    Further,
    /// It is no better than before.
    No,
}

impl Reader<'_, '_> {
    /// The word of a statement that is nearly one of the language, where the statement can be read with that one.
    /// `failed` is the token at which reading stopped.
    pub(super) fn nearly(
        &self,
        segment: Segment,
        own: &[usize],
        trial: &Trial<'_>,
        failure: &Failure,
        written: Written,
    ) -> Option<Diagnostic> {
        if trial.text.len() > LONGEST {
            return None;
        }
        let failed = own.iter().position(|&index| self.text.span(index).end as usize > failure.at).unwrap_or(own.len());
        let near = (failed..=failed + 1).chain((0..failed).rev()).filter_map(|at| own.get(at).copied());
        let is_meant = |word: &str| grammar::is_keyword(word) == (written == Written::OtherWord);
        let words = near.filter(|&index| self.is_plain_word(index) && is_meant(self.text.word(index)));
        let stopped = own.get(failed).copied();
        let mut further = None;
        let tries = words.flat_map(|index| meant(self.text.word(index)).into_iter().map(move |word| (index, word)));
        for (index, word) in tries.take(TRIES) {
            let edit = Edit { span: self.text.span(index), text: word.clone() };
            match trial.with(&[edit], failure) {
                Some(Reads::Whole) => return Some(self.mistyped(segment, index, &word, true)),
                Some(Reads::Further) if written == Written::NoWord && Some(index) == stopped && further.is_none() => {
                    further = Some(self.mistyped(segment, index, &word, false));
                }
                _ => {}
            }
        }
        further
    }

    /// A word that is no field.
    fn is_plain_word(&self, index: usize) -> bool {
        let field = index.checked_sub(1).is_some_and(|before| self.text.is(before, "."));
        self.text.kind(index) == Kind::Word && !field
    }

    fn mistyped(&self, segment: Segment, index: usize, meant: &str, fixed: bool) -> Diagnostic {
        let (word, span) = (self.text.word(index), self.text.span(index));
        let (slug, message) = if index == segment.start {
            (Slug::UnknownStatement, format!("unknown statement `{word}`"))
        } else if words::MODIFIERS.contains(&meant) && !words::DECLARATIONS.contains(&self.text.word(segment.start)) {
            (Slug::UnknownModifier, format!("unknown modifier `{word}`"))
        } else {
            (Slug::Syntax, format!("`{word}` cannot stand here"))
        };
        let diagnostic = Diagnostic::new(slug, span, message).help(format!("did you mean `{meant}`?"));
        if fixed { diagnostic.fix(format!("write `{meant}`"), span, meant) } else { diagnostic }
    }
}
