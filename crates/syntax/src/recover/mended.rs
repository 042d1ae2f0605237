//! What a statement was meant to be: asked of all of it, where what is wrong at one place does not mend it.

use super::nearly::Trial;
use super::{Reader, brackets};
use crate::hints;
use crate::recover::Text;
use crate::token;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Edit, Fix, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};

/// Of more statements nothing is asked.
const ASKED: usize = 60;

/// The text with what is said of its first mistake written, where that is a change.
pub(crate) fn mended(text: &str) -> Option<String> {
    let limits = Limits::default();
    let scan = token::scan(text, limits.rule_depth, limits.rule_tokens);
    let lines = Text::new(FileId(0), text, scan.tokens);
    let brackets = brackets::matched(&lines);
    let end = lines.tokens.len();
    let mut reader = Reader {
        text: &lines,
        brackets: &brackets,
        too_deep: &scan.too_deep,
        limit: limits.rule_depth,
        alone: true,
        asked: 0,
        unread: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    reader.bracket_troubles();
    reader.items(0, end, 0);
    let mut found = reader.diagnostics.0;
    found.sort_by_key(|one| (one.span.start, one.span.end));
    let fix = found.into_iter().find_map(|one| one.fix)?;
    edited(text, fix.edits)
}

fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
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

impl Reader<'_, '_> {
    /// What is said of a statement, or of all that it was meant to be where that is known.
    pub(super) fn all_meant(
        &self,
        trial: &Trial<'_>,
        whole: Option<(&str, usize)>,
        said: Diagnostic,
        mistyped: bool,
    ) -> Diagnostic {
        if self.alone || self.asked > ASKED {
            return said;
        }
        let Some(meant) = hints::meant(trial.text) else {
            let Some((text, start)) = whole else { return said };
            let Some(meant) = hints::meant(text).filter(|_| said.fix.is_none()) else { return said };
            let edit = Edit { span: Span::new(self.text.file, start, start + text.len()), text: meant.text.clone() };
            return replaced(said, meant, Some(edit), |at| start + at, self.text.file);
        };
        if let Some(fix) = &said.fix
            && !meant.over
        {
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let same = trial.changed(&fix.edits).is_some_and(|text| words(&text) == words(&meant.text));
            if mistyped || same || said.slug == Slug::Misplaced {
                return said;
            }
        }
        let edit = trial.edit(self.text.file, &meant.text);
        replaced(said, meant, edit, |at| trial.place.offset(at), self.text.file)
    }
}

fn replaced(
    mut said: Diagnostic,
    meant: hints::Meant,
    edit: Option<Edit>,
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

impl Trial<'_> {
    /// The edit that makes the text another: what both begin and end with stays. `None` where it would touch what is left out.
    fn edit(&self, file: FileId, new: &str) -> Option<Edit> {
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
        Some(Edit { span: Span::new(file, self.place.offset(start), self.place.offset(end)), text })
    }
}
