//! `aver fmt`: one style for rule files.
//!
//! A file is read twice: the concrete tree gives every word and sign once, in order, and the layout decides what stands between them; the syntax
//! trees of the text before and after say whether it still means the same. A text of which that is not known is never given back.
//!
//! ```
//! use averment_syntax::fmt::{self, FormatOptions};
//!
//! let written = "before approve( id:$id )->refund(id: $id)   # for the same order\nnever  admin_*;never drop_table\n";
//! let formatted = fmt::format_text(written, &FormatOptions::default()).expect("a file without mistakes");
//! assert_eq!(formatted, "before approve(id: $id) -> refund(id: $id)  # for the same order\nnever admin_*\nnever drop_table\n");
//! ```

mod align;
mod doc;
mod edits;
mod gaps;
mod layout;
mod print;

use crate::{self as syntax, ast, concrete};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
pub use edits::{FormatEdit, edits_in, line_edits};
use gaps::CommentGaps;

pub(crate) const INDENT: usize = 2;

/// Formatting options. There is one style; only the width can differ.
#[derive(Debug, Clone, Copy)]
pub struct FormatOptions {
    /// Characters of a line, where what is written can be broken.
    pub width: usize,
    /// Limits of reading.
    pub limits: Limits,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { width: 100, limits: Limits::default() }
    }
}

/// Formats one file of a source map.
///
/// # Errors
/// The diagnostics of a file that cannot be read without mistakes: such a file has no format.
pub fn format_file(map: &SourceMap, file: FileId, options: &FormatOptions) -> Result<String, Diagnostics> {
    let Some(source) = map.get(file) else { return Ok(String::new()) };
    let (tree, _, diagnostics) = syntax::parse(map, file, &options.limits);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let text = normalize_line_ends(&source.text);
    let text = text.as_deref().unwrap_or(&source.text);
    let new = lay_out(text, options);
    match new.filter(|new| same_characters(text, new) && same_tree(&tree, new, options)) {
        Some(new) => Ok(with_line_ends(new, &source.text)),
        None => Err(Diagnostics(vec![lost_text_error(file)])),
    }
}

/// Formats text that is in no file.
///
/// # Errors
/// The diagnostics of a text with mistakes.
pub fn format_text(text: &str, options: &FormatOptions) -> Result<String, Diagnostics> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    format_file(&map, file, options)
}

/// True if the text parses to the same tree, spans ignored.
fn same_tree(tree: &ast::RuleFile, text: &str, options: &FormatOptions) -> bool {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("", None, text));
    let (other, _, diagnostics) = syntax::parse(&map, file, &options.limits);
    !diagnostics.has_errors() && ast::same_meaning(tree, &other)
}

/// Safety check: apart from space, commas and `;`, both texts hold the same characters.
fn same_characters(left: &str, right: &str) -> bool {
    let kept = |character: &char| !character.is_whitespace() && !matches!(character, ',' | ';');
    left.chars().filter(kept).eq(right.chars().filter(kept))
}

fn lay_out(text: &str, options: &FormatOptions) -> Option<String> {
    concrete::with_tree(text, &options.limits, |tree| {
        let gaps = CommentGaps::new(text, &tree.leaves);
        let doc = layout::file_doc(text, tree, gaps, options);
        let mut lines = print::print_lines(&doc, options);
        align::align_lines(&mut lines, options);
        print::join_lines(&lines)
    })
}

/// Without byte order mark and with `\n` line ends; `None` if already so.
fn normalize_line_ends(text: &str) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    (body.len() < text.len() || body.contains("\r\n")).then(|| body.replace("\r\n", "\n"))
}

/// Restores the line ending of the old text's first line.
fn with_line_ends(new: String, old: &str) -> String {
    let first = old.find('\n').and_then(|end| old.get(..end));
    if first.is_some_and(|line| line.ends_with('\r')) { new.replace('\n', "\r\n") } else { new }
}

fn lost_text_error(file: FileId) -> Diagnostic {
    Diagnostic::new(
        Slug::Unformatted,
        Span::new(file, 0, 0),
        "formatting this file would change what it means, so it is left as it is",
    )
    .with_help("this is a mistake of the formatter: please report it together with the file")
}
