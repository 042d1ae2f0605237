//! Comments, which the tree omits but the formatter, the editor and the lints need.

use super::ast::{AllowComment, Name, SyntaxItem};
use super::token::CommentToken;
use averment_base::source::{FileId, Span};

/// A comment, from its `#` to the last non-blank character of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileComment {
    /// Its text, including the `#`.
    pub text: String,
    /// Its location.
    pub span: Span,
    /// True for `##`.
    pub is_doc: bool,
    /// True if only white space precedes it on its line.
    pub own_line: bool,
}

/// The contents of a file that are not in its tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trivia {
    /// The comments in file order; a shebang line `#!` is one of them.
    pub comments: Vec<FileComment>,
}

impl Trivia {
    pub(super) fn new(file: FileId, text: &str, remarks: &[CommentToken]) -> Self {
        let comment = |remark: &CommentToken| {
            let body = text.get(remark.start..remark.end).unwrap_or("");
            let line = text.get(..remark.start).unwrap_or("").rsplit('\n').next().unwrap_or("");
            FileComment {
                text: body.to_owned(),
                span: Span::new(file, remark.start, remark.end),
                is_doc: body.starts_with("##") && !body.starts_with("###"),
                own_line: line.trim_start_matches('\u{feff}').trim().is_empty(),
            }
        };
        Self { comments: remarks.iter().map(comment).collect() }
    }

    /// Returns the `# allow: slug, slug` comments.
    pub(super) fn allow_comments(&self) -> Vec<AllowComment> {
        self.comments.iter().filter(|comment| !comment.is_doc).filter_map(parse_allow).collect()
    }

    pub(super) fn attach_docs(&self, text: &str, items: &mut [SyntaxItem]) {
        let docs: Vec<&FileComment> =
            self.comments.iter().filter(|comment| comment.is_doc && comment.own_line).collect();
        // Needed even without comments, because items from an earlier parse may have had some.
        attach_to(text, &docs, items);
    }
}

fn parse_allow(comment: &FileComment) -> Option<AllowComment> {
    let body = comment.text.trim_start_matches('#');
    let slugs = body.trim_start().strip_prefix("allow:")?;
    let mut at = comment.text.len() - slugs.len();
    let mut names = Vec::new();
    for part in slugs.split(',') {
        let slug = part.trim();
        let start = comment.span.start as usize + at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        if !slug.is_empty() {
            names.push(Name { text: slug.to_owned(), span: Span::new(comment.span.file, start, start + slug.len()) });
        }
    }
    Some(AllowComment { slugs: names, span: comment.span })
}

fn attach_to(text: &str, docs: &[&FileComment], items: &mut [SyntaxItem]) {
    for item in items {
        item.doc = doc_above(text, docs, item.span.start);
        if let Some(body) = item.kind.body_mut() {
            attach_to(text, docs, body);
        }
    }
}

fn doc_above(text: &str, docs: &[&FileComment], start: u32) -> Option<String> {
    let mut next = start;
    let mut lines = Vec::new();
    let mut index = docs.partition_point(|doc| doc.span.start < start);
    while let Some(doc) = index.checked_sub(1).and_then(|before| docs.get(before)) {
        let between = text.get(doc.span.end as usize..next as usize).unwrap_or("x");
        if !between.trim().is_empty() || between.matches('\n').count() != 1 {
            break;
        }
        let line = doc.text.trim_start_matches('#');
        lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
        next = doc.span.start;
        index -= 1;
    }
    lines.reverse();
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}
