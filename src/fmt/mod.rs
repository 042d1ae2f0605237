//! `aver fmt`: one style for rule files.
//!
//! A file is read twice: the concrete tree gives every word and sign once, in order, and the layout decides what stands between them; the syntax
//! trees of the text before and after say whether it still means the same. A text of which that is not known is never given back.
//!
//! ```
//! use averment::fmt::{self, Options};
//!
//! let written = "before approve( id:$id )->refund(id: $id)   # for the same order\nnever  admin_*;never drop_table\n";
//! let formatted = fmt::format_text(written, &Options::default()).expect("a file without mistakes");
//! assert_eq!(formatted, "before approve(id: $id) -> refund(id: $id)  # for the same order\nnever admin_*\nnever drop_table\n");
//! ```

mod align;
mod doc;
mod edits;
mod gaps;
mod layout;
mod print;

use crate::diagnostic::{Diagnostic, Diagnostics, Slug};
use crate::limits::Limits;
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::syntax::{self, Trivia, ast, concrete};
pub use edits::{Edit, edits, edits_in};
use gaps::Gaps;

/// Spaces of one level.
pub(crate) const INDENT: usize = 2;

/// How files are formatted. There is one style: only the width can differ.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Characters of a line, where what is written can be broken.
    pub width: usize,
    /// Limits of reading.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, limits: Limits::default() }
    }
}

/// Formats one file of a source map.
///
/// # Errors
/// The diagnostics of a file that cannot be read without mistakes: such a file has no format.
pub fn format(map: &SourceMap, file: FileId, options: &Options) -> Result<String, Diagnostics> {
    let Some(source) = map.get(file) else { return Ok(String::new()) };
    let (tree, trivia, diagnostics) = syntax::parse(map, file, &options.limits);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let before = Parsed { tree, trivia };
    let plain = plain(&source.text);
    // Offsets are those of the text that is laid out.
    let laid_out = match plain.as_deref() {
        None => lay_out(&source.text, &before.trivia, options),
        Some(plain) => parsed(plain, options).and_then(|parsed| lay_out(plain, &parsed.trivia, options)),
    };
    let line_end = line_end(&source.text);
    let text = laid_out.map(|lines| print::joined(&lines, line_end));
    match text.filter(|text| parsed(text, options).is_some_and(|after| before.means_the_same(&after))) {
        Some(text) => Ok(text),
        None => Err(Diagnostics(vec![lost(file)])),
    }
}

/// Formats text that is in no file.
///
/// # Errors
/// The diagnostics of a text with mistakes.
pub fn format_text(text: &str, options: &Options) -> Result<String, Diagnostics> {
    let mut map = SourceMap::default();
    let file = map.add(SourceFile::new("rules.assert", None, text));
    format(&map, file, options)
}

/// What may not change.
struct Parsed {
    tree: ast::File,
    trivia: Trivia,
}

impl Parsed {
    /// The same tree, places aside, and the same comments in the same order.
    fn means_the_same(&self, other: &Self) -> bool {
        let comments =
            |parsed: &Self| parsed.trivia.comments.iter().map(|comment| comment.text.clone()).collect::<Vec<_>>();
        comments(self) == comments(other) && ast::same_meaning(&self.tree, &other.tree)
    }
}

/// Reads a text; `None` for one with mistakes.
fn parsed(text: &str, options: &Options) -> Option<Parsed> {
    let mut map = SourceMap::default();
    let file = map.add(SourceFile::new("", None, text));
    let (tree, trivia, diagnostics) = syntax::parse(&map, file, &options.limits);
    (!diagnostics.has_errors()).then_some(Parsed { tree, trivia })
}

fn lay_out(text: &str, trivia: &Trivia, options: &Options) -> Option<Vec<print::Line>> {
    concrete::with_tree(text, &options.limits, |tree| {
        let gaps = Gaps::new(text, trivia, &tree.leaves);
        let doc = layout::file(text, tree, gaps, options);
        let mut lines = print::lines(&doc, options);
        align::align(&mut lines, options);
        lines
    })
}

/// The text without a byte order mark and with `\n` at the end of its lines; `None` where it is so already.
fn plain(text: &str) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    (body.len() < text.len() || body.contains("\r\n")).then(|| body.replace("\r\n", "\n"))
}

/// The line end of a file is that of its first line.
fn line_end(text: &str) -> &'static str {
    let first = text.find('\n').and_then(|end| text.get(..end));
    if first.is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" }
}

fn lost(file: FileId) -> Diagnostic {
    Diagnostic::new(
        Slug::Unformatted,
        Span::new(file, 0, 0),
        "formatting this file would change what it means, so it is left as it is",
    )
    .help("this is a mistake of the formatter: please report it together with the file")
}
