//! `# allow: slug`: silences warnings on its line or the next one; one that silences nothing is reported itself.

use super::load::Loaded;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Slug, suggest};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Name;

/// Takes out what is silenced and adds what the comments themselves do wrong; the order stays that of the files.
pub fn apply(map: &SourceMap, loaded: &[Loaded], diagnostics: &mut Diagnostics) {
    // Lints are not complete while there are errors: then a comment may still be needed.
    let complete = !diagnostics.has_errors();
    let mut silenced = vec![false; diagnostics.0.len()];
    let mut remarks = Vec::new();
    for file in loaded {
        for allow in &file.ast.allows {
            for slug in &allow.slugs {
                judge(map, allow.span, slug, diagnostics, &mut silenced, complete, &mut remarks);
            }
        }
    }
    let mut keep = silenced.iter().map(|silenced| !silenced);
    diagnostics.0.retain(|_| keep.next().unwrap_or(true));
    diagnostics.0.extend(remarks);
    diagnostics.sort();
}

fn judge(
    map: &SourceMap,
    comment: Span,
    name: &Name,
    diagnostics: &Diagnostics,
    silenced: &mut [bool],
    complete: bool,
    remarks: &mut Vec<Diagnostic>,
) {
    let Some(slug) = Slug::parse(&name.text) else {
        remarks.push(unknown(name));
        return;
    };
    let (mut used, mut is_error) = (false, false);
    for (found, silenced) in diagnostics.0.iter().zip(silenced.iter_mut()) {
        if !covers(map, comment, found.span) || !stands_for(slug, found.slug) {
            continue;
        }
        if found.severity == Severity::Error {
            is_error = true;
        } else {
            *silenced = true;
            used = true;
        }
    }
    if !used && !is_error && complete {
        let message = format!("nothing to silence here: no lint `{}` is found on this or the next line", name.text);
        remarks.push(Diagnostic::new(Slug::UnusedAllow, comment, message).help("remove the comment"));
    }
}

/// A comment covers its own line and the next one.
fn covers(map: &SourceMap, comment: Span, place: Span) -> bool {
    let (here, there) = (map.position(comment).line, map.position(place).line);
    comment.file == place.file && (there == here || there == here.saturating_add(1))
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
