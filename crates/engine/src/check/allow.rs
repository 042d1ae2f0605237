//! `# allow: slug`: silences warnings on its line or the next one, behind a statement of several lines on all of them; one that silences nothing
//! is reported itself.

use super::load::Loaded;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, Slug, suggest};
use averment_base::source::{FileId, SourceMap, Span};
use averment_syntax::ast::{Allow, File, Item, Name};

/// Takes out what is silenced and adds what the comments themselves do wrong; the order stays that of the files.
/// Whether a comment for a lint is needed, only the linter knows.
pub fn apply(map: &SourceMap, loaded: &[Loaded], diagnostics: &mut Diagnostics) {
    // Warnings are not complete while there are errors: then a comment may still be needed.
    let complete = !diagnostics.has_errors();
    let judged = |slug: Slug| complete && !slug.is_lint();
    let allows = || loaded.iter().flat_map(|file| file.ast.allows.iter().map(move |allow| (&file.ast, allow)));
    let mut remarks: Vec<Diagnostic> = allows()
        .flat_map(|(_, allow)| &allow.slugs)
        .filter(|name| Slug::parse(&name.text).is_none())
        .map(unknown)
        .collect();
    remove(map, allows(), diagnostics, &judged, false, &mut remarks);
    diagnostics.0.extend(remarks);
    diagnostics.sort();
}

/// Takes what the comments of a file silence out of what the linter found there. `judged` says for which slugs a comment that silences nothing
/// is to be reported.
pub fn silence(
    map: &SourceMap,
    file: FileId,
    tree: &File,
    diagnostics: &mut Diagnostics,
    judged: &dyn Fn(Slug) -> bool,
) {
    let judged = |slug: Slug| slug.is_lint() && judged(slug);
    let mut remarks = Vec::new();
    let own = tree.allows.iter().filter(|allow| allow.span.file == file).map(|allow| (tree, allow));
    remove(map, own, diagnostics, &judged, true, &mut remarks);
    diagnostics.0.extend(remarks);
    diagnostics.sort();
}

fn remove<'a>(
    map: &SourceMap,
    allows: impl Iterator<Item = (&'a File, &'a Allow)>,
    diagnostics: &mut Diagnostics,
    judged: &dyn Fn(Slug) -> bool,
    of_lints: bool,
    remarks: &mut Vec<Diagnostic>,
) {
    let mut silenced = vec![false; diagnostics.0.len()];
    for (tree, allow) in allows {
        let lines = Lines::of(map, tree, allow.span);
        for name in &allow.slugs {
            let Some(slug) = Slug::parse(&name.text) else { continue };
            let found = mark(map, &lines, slug, diagnostics, of_lints, &mut silenced);
            if !found && judged(slug) {
                remarks.push(unused(map, allow, name));
            }
        }
    }
    let mut keep = silenced.iter().map(|silenced| !silenced);
    diagnostics.0.retain(|_| keep.next().unwrap_or(true));
}

/// Marks what a comment silences; gives whether there is anything that it means. Errors of the language cannot be silenced, lints that a project
/// takes for errors can.
fn mark(
    map: &SourceMap,
    lines: &Lines,
    slug: Slug,
    diagnostics: &Diagnostics,
    of_lints: bool,
    silenced: &mut [bool],
) -> bool {
    let mut any = false;
    for (found, silenced) in diagnostics.0.iter().zip(silenced.iter_mut()) {
        if lines.cover(map, found.span) && stands_for(slug, found.slug) {
            any = true;
            *silenced |= of_lints || found.severity != Severity::Error;
        }
    }
    any
}

fn unused(map: &SourceMap, allow: &Allow, name: &Name) -> Diagnostic {
    let message = format!("nothing to silence here: no lint `{}` is found on this or the next line", name.text);
    let diagnostic = Diagnostic::new(Slug::UnusedAllow, allow.span, message);
    match allow.slugs.as_slice() {
        [_] => {
            let diagnostic = diagnostic.help("remove the comment");
            diagnostic.fix("remove the comment", whole(map, allow.span), "")
        }
        _ => diagnostic.help(format!("remove `{}` from the comment", name.text)),
    }
}

/// A comment with the white space before it, and with its line where it stands alone.
fn whole(map: &SourceMap, comment: Span) -> Span {
    let Some(file) = map.get(comment.file) else { return comment };
    let before = file.text.get(..comment.start as usize).unwrap_or("");
    let plain = before.trim_end_matches([' ', '\t']);
    let after = file.text.get(comment.end as usize..).unwrap_or("");
    let alone = plain.is_empty() || plain.ends_with('\n');
    let line_end = after.find('\n').map_or(after.len(), |at| at.saturating_add(1));
    let end = if alone { (comment.end as usize).saturating_add(line_end) } else { comment.end as usize };
    Span::new(comment.file, plain.len(), end)
}

/// The lines that a comment covers.
struct Lines {
    file: FileId,
    first: usize,
    last: usize,
}

impl Lines {
    /// Its own and the next one; behind a statement of several lines all lines of the statement, so that it does not matter how that is laid out.
    fn of(map: &SourceMap, tree: &File, comment: Span) -> Self {
        let here = map.position(comment).line;
        let first = statement_before(map, &tree.items, comment, here).map_or(here, |start| map.position(start).line);
        Self { file: comment.file, first, last: here.saturating_add(1) }
    }

    fn cover(&self, map: &SourceMap, place: Span) -> bool {
        place.file == self.file && (self.first..=self.last).contains(&map.position(place).line)
    }
}

/// The item without a body that ends before a comment on its line.
fn statement_before(map: &SourceMap, items: &[Item], comment: Span, line: usize) -> Option<Span> {
    let next = items.partition_point(|item| item.span.start < comment.start);
    let item = next.checked_sub(1).and_then(|last| items.get(last))?;
    match item.kind.body() {
        Some(body) => statement_before(map, body, comment, line),
        None => (item.span.end <= comment.start && map.position(item.span.at_end()).line == line).then_some(item.span),
    }
}

/// An unknown tool is a warning under another name where it may be meant.
fn stands_for(named: Slug, found: Slug) -> bool {
    named == found || (named == Slug::UnknownTool && found == Slug::UnlistedTool)
}

fn unknown(name: &Name) -> Diagnostic {
    let all = Slug::ALL.iter().map(|slug| slug.as_str());
    let diagnostic = Diagnostic::new(Slug::UnknownAllow, name.span, format!("there is no lint `{}`", name.text));
    match suggest::nearest(&name.text, all) {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("replace with `{near}`"), name.span, near)
        }
        None => diagnostic.help("the slug of a warning stands in brackets behind `warning`"),
    }
}
