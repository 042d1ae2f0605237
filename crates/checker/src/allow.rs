//! `# allow: slug`: silences warnings on its line or the next one, behind a statement of several lines on all of them; one that silences nothing
//! is reported itself.

use super::load::LoadedFile;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug, suggest};
use averment_base::source::{FileId, SourceMap, Span};
use averment_syntax::ast::{AllowComment, Name, RuleFile, SyntaxItem};

/// Takes out what is silenced and adds what the comments themselves do wrong; the order stays that of the files.
/// Whether a comment for a lint is needed, only the linter knows.
pub fn apply_allows(map: &SourceMap, loaded: &[LoadedFile], diagnostics: &mut Diagnostics) {
    // Warnings are not complete while there are errors: then a comment may still be needed.
    let complete = !diagnostics.has_errors();
    let judged = |slug: Slug| complete && !slug.is_lint();
    let allows = || loaded.iter().flat_map(|file| file.ast.allows.iter().map(move |allow| (&file.ast, allow)));
    let mut remarks: Vec<Diagnostic> = allows()
        .flat_map(|(_, allow)| &allow.slugs)
        .filter(|name| Slug::parse(&name.text).is_none())
        .map(unknown_slug)
        .collect();
    remove_silenced(map, allows(), diagnostics, &judged, false, &mut remarks);
    diagnostics.0.extend(remarks);
    diagnostics.sort_by_place();
}

/// Takes what the comments of a file silence out of what the linter found there. `judged` says for which slugs a comment that silences nothing
/// is to be reported.
pub fn silence_lints(
    map: &SourceMap,
    file: FileId,
    tree: &RuleFile,
    diagnostics: &mut Diagnostics,
    judged: &dyn Fn(Slug) -> bool,
) {
    let judged = |slug: Slug| slug.is_lint() && judged(slug);
    let mut remarks = Vec::new();
    let own = tree.allows.iter().filter(|allow| allow.span.file == file).map(|allow| (tree, allow));
    remove_silenced(map, own, diagnostics, &judged, true, &mut remarks);
    diagnostics.0.extend(remarks);
    diagnostics.sort_by_place();
}

fn remove_silenced<'a>(
    map: &SourceMap,
    allows: impl Iterator<Item = (&'a RuleFile, &'a AllowComment)>,
    diagnostics: &mut Diagnostics,
    judged: &dyn Fn(Slug) -> bool,
    of_lints: bool,
    remarks: &mut Vec<Diagnostic>,
) {
    let mut silenced = vec![false; diagnostics.0.len()];
    for (tree, allow) in allows {
        let lines = CommentLines::of_comment(map, tree, allow.span);
        for name in &allow.slugs {
            let Some(slug) = Slug::parse(&name.text) else { continue };
            let found = mark_silenced(map, &lines, slug, diagnostics, of_lints, &mut silenced);
            if !found && judged(slug) {
                remarks.push(unused_allow(map, allow, name));
            }
        }
    }
    let mut keep = silenced.iter().map(|silenced| !silenced);
    diagnostics.0.retain(|_| keep.next().unwrap_or(true));
}

/// Marks the diagnostics that a comment silences; false if there are none. Language errors cannot be silenced.
fn mark_silenced(
    map: &SourceMap,
    lines: &CommentLines,
    slug: Slug,
    diagnostics: &Diagnostics,
    of_lints: bool,
    silenced: &mut [bool],
) -> bool {
    let mut any = false;
    for (found, silenced) in diagnostics.0.iter().zip(silenced.iter_mut()) {
        if lines.cover(map, found.span) && is_alias_of(slug, found.slug) {
            any = true;
            *silenced |= of_lints || found.severity != Severity::Error;
        }
    }
    any
}

fn unused_allow(map: &SourceMap, allow: &AllowComment, name: &Name) -> Diagnostic {
    let message = format!("nothing to silence here: no lint `{}` is found on this or the next line", name.text);
    let diagnostic = Diagnostic::new(Slug::UnusedAllow, allow.span, message);
    match allow.slugs.as_slice() {
        [_] => {
            let diagnostic = diagnostic.with_help("remove the comment");
            diagnostic.with_fix("remove the comment", whole_comment(map, allow.span), "")
        }
        _ => diagnostic.with_help(format!("remove `{}` from the comment", name.text)),
    }
}

fn whole_comment(map: &SourceMap, comment: Span) -> Span {
    let Some(file) = map.get(comment.file) else { return comment };
    let before = file.text.get(..comment.start as usize).unwrap_or("");
    let plain = before.trim_end_matches([' ', '\t']);
    let after = file.text.get(comment.end as usize..).unwrap_or("");
    let alone = plain.is_empty() || plain.ends_with('\n');
    let line_end = after.find('\n').map_or(after.len(), |at| at.saturating_add(1));
    let end = if alone { (comment.end as usize).saturating_add(line_end) } else { comment.end as usize };
    Span::new(comment.file, plain.len(), end)
}

struct CommentLines {
    file: FileId,
    first: usize,
    last: usize,
}

impl CommentLines {
    /// Its own line and the next; after a multi-line statement all lines of it, so that layout does not matter.
    fn of_comment(map: &SourceMap, tree: &RuleFile, comment: Span) -> Self {
        let here = map.line_column(comment).line;
        let first = statement_before(map, &tree.items, comment, here).map_or(here, |start| map.line_column(start).line);
        Self { file: comment.file, first, last: here.saturating_add(1) }
    }

    fn cover(&self, map: &SourceMap, place: Span) -> bool {
        place.file == self.file && (self.first..=self.last).contains(&map.line_column(place).line)
    }
}

fn statement_before(map: &SourceMap, items: &[SyntaxItem], comment: Span, line: usize) -> Option<Span> {
    let next = items.partition_point(|item| item.span.start < comment.start);
    let item = next.checked_sub(1).and_then(|last| items.get(last))?;
    match item.kind.body() {
        Some(body) => statement_before(map, body, comment, line),
        None => {
            (item.span.end <= comment.start && map.line_column(item.span.at_end()).line == line).then_some(item.span)
        }
    }
}

/// An unknown tool is reported under another slug when a similar name exists.
fn is_alias_of(named: Slug, found: Slug) -> bool {
    named == found || (named == Slug::UnknownTool && found == Slug::UnlistedTool)
}

fn unknown_slug(name: &Name) -> Diagnostic {
    let all = Slug::ALL.iter().map(|slug| slug.as_str());
    let diagnostic = Diagnostic::new(Slug::UnknownAllow, name.span, format!("there is no lint `{}`", name.text));
    match suggest::suggest_name(&name.text, all) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
            format!("replace with `{near}`"),
            name.span,
            near,
        ),
        None => diagnostic.with_help("the slug of a warning is in the brackets after `warning`"),
    }
}
