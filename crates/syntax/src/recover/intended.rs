//! Searches the intended form of a whole statement if fixing a single position does not repair it.

use super::typo::StatementTrial;
use super::{RecoveryReader, brackets};
use crate::hints;
use crate::recover::TokenText;
use crate::token;
use averment_base::diagnostic::{Diagnostic, Fix, Slug, SourceEdit};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};

const ASKED: usize = 60;

/// Applies the suggested fix of the first mistake to a text; returns `None` if that changes nothing.
pub(crate) fn apply_first_fix(text: &str) -> Option<String> {
    let limits = Limits::default();
    let scan = token::scan_tokens(text, limits.rule_depth, limits.rule_tokens);
    let lines = TokenText::new(FileId(0), text, scan.tokens);
    let brackets = brackets::match_brackets(&lines);
    let end = lines.tokens.len();
    let mut reader = RecoveryReader::begin(&lines, &brackets, &scan.too_deep, &limits);
    reader.only_mistakes = true;
    reader.read_items(0, end, 0);
    let mut found = reader.diagnostics.0;
    found.sort_by_key(|one| (one.span.start, one.span.end));
    let fix = found.into_iter().find_map(|one| one.fix)?;
    apply_edits(text, fix.edits)
}

pub(crate) fn apply_edits(text: &str, mut edits: Vec<SourceEdit>) -> Option<String> {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut changed, mut done) = (String::with_capacity(text.len() + 16), 0);
    for edit in edits {
        changed.push_str(text.get(done..edit.span.start as usize)?);
        changed.push_str(&edit.text);
        done = edit.span.end as usize;
    }
    changed.push_str(text.get(done..)?);
    Some(changed)
}

impl RecoveryReader<'_, '_> {
    /// Adds suggestions for a statement to its diagnostic, or its complete intended form if known.
    pub(super) fn diagnose_intended(
        &self,
        trial: &StatementTrial<'_>,
        whole: Option<(&str, usize)>,
        said: Diagnostic,
        mistyped: bool,
    ) -> Diagnostic {
        if self.only_mistakes || self.explained > ASKED {
            return said;
        }
        let Some(meant) = hints::intended_statement(trial.text) else {
            let Some((text, start)) = whole else { return said };
            let Some(meant) = hints::intended_statement(text).filter(|_| said.fix.is_none()) else { return said };
            let edit =
                SourceEdit { span: Span::new(self.text.file, start, start + text.len()), text: meant.text.clone() };
            return replace_diagnostic(said, meant, Some(edit), |at| start + at, self.text.file);
        };
        if let Some(fix) = &said.fix
            && !meant.overrides_fix
        {
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let same = trial.apply_edits(&fix.edits).is_some_and(|text| words(&text) == words(&meant.text));
            if mistyped || same || said.slug == Slug::Misplaced {
                return said;
            }
        }
        let edit = trial.edit_to(self.text.file, &meant.text);
        replace_diagnostic(said, meant, edit, |at| trial.place.file_offset(at), self.text.file)
    }
}

fn replace_diagnostic(
    mut said: Diagnostic,
    meant: hints::IntendedStatement,
    edit: Option<SourceEdit>,
    place: impl Fn(usize) -> usize,
    file: FileId,
) -> Diagnostic {
    if let Some((message, range)) = meant.wrong {
        said.message = message;
        said.span = Span::new(file, place(range.start), place(range.end));
    }
    let shown = meant.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = shown.strip_suffix("{}").map_or(shown.clone(), |head| format!("{head}{{ … }}"));
    let title = format!("write `{shown}`");
    said.help = Some(title.clone());
    said.fix = edit.filter(|_| meant.certain).map(|edit| Fix { title, edits: vec![edit] });
    said
}

impl StatementTrial<'_> {
    /// Returns a minimal edit to the new text; `None` if it would touch a removed part.
    fn edit_to(&self, file: FileId, new: &str) -> Option<SourceEdit> {
        let common = |left: &mut dyn Iterator<Item = char>, right: &mut dyn Iterator<Item = char>| {
            left.zip(right).take_while(|(left, right)| left == right).map(|(sign, _)| sign.len_utf8()).sum::<usize>()
        };
        let start = common(&mut self.text.chars(), &mut new.chars());
        let (old_rest, new_rest) = (self.text.get(start..)?, new.get(start..)?);
        let behind = common(&mut old_rest.chars().rev(), &mut new_rest.chars().rev());
        let end = self.text.len() - behind;
        if self.place.cut_length > 0 && start <= self.place.cut_at && end > self.place.cut_at {
            return None;
        }
        let text = new_rest.get(..new_rest.len() - behind)?.to_owned();
        Some(SourceEdit { span: Span::new(file, self.place.file_offset(start), self.place.file_offset(end)), text })
    }
}
