//! `aver fmt`: one style for all rule files.
//!
//! A file is parsed twice. The concrete tree has every word and sign, once and in order, and the layout decides on the white space between them. The
//! syntax trees before and after formatting are compared by meaning. If they cannot be proven equal, no formatted text is returned.
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
    /// Maximum line width in characters, if the text can be broken.
    pub width: usize,
    /// Limits for parsing.
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
/// The diagnostics of a file with errors, which cannot be formatted.
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

/// Formats a text that is not in a file.
///
/// # Errors
/// The diagnostics of a text with errors.
pub fn format_text(text: &str, options: &FormatOptions) -> Result<String, Diagnostics> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    format_file(&map, file, options)
}

/// True if the text parses to an equal tree, ignoring spans.
fn same_tree(tree: &ast::RuleFile, text: &str, options: &FormatOptions) -> bool {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("", None, text));
    let (other, _, diagnostics) = syntax::parse(&map, file, &options.limits);
    !diagnostics.has_errors() && ast::same_meaning(tree, &other)
}

/// Safety check: apart from white space, commas and `;`, both texts have the same characters.
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

/// Returns the text without byte order mark and with `\n` line ends; `None` if it already is so.
fn normalize_line_ends(text: &str) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    (body.len() < text.len() || body.contains("\r\n")).then(|| body.replace("\r\n", "\n"))
}

/// Applies the line end of the old text's first line.
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
