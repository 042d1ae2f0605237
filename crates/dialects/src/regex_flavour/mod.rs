//! Regular expressions of other languages, as literals of this one.
//!
//! Each flavour is read as its own engine reads it, and written so that the search gives the same answer in every text: linear where that can be
//! said, with flag `b` where it needs look-around, back-references or groups that give nothing back. What the languages of a flavour's users
//! call the same and is not (which characters are white space, where a line ends, what `$` is) is written out.
//!
//! A few things are not. Letters that differ in case alone are those of Unicode's simple folding, so that `k` under `i` is also the sign of Kelvin,
//! where JavaScript and Python's `re.ASCII` say otherwise, and `i` not the Turkish ones, where Python says so. The edge of a word is Unicode's, which counts marks as parts of a word and `²` not,
//! where Python does the opposite; and `\B` is also in the empty text. Of characters beyond U+FFFF
//! JavaScript without `u` sees two halves: what is written means the same, or `HalvesSeen` tells it. What a group has matched in one turn of a loop is known in the next, where JavaScript forgets it.

mod javascript;
mod pattern;
mod python;
#[cfg(test)]
mod tests;

use averment_base::diagnostic::render::is_steering;
pub use javascript::translate_javascript;
pub use python::{PyRegexFlags, translate_python};

/// A regular expression as the language writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedRegex {
    /// `/…/flags`.
    pub text: String,
    /// True if it has flag `b` (backtracking).
    pub backtracks: bool,
    /// What it sees of characters beyond U+FFFF.
    pub halves: HalvesSeen,
}

/// How an expression of JavaScript without `u` meets the halves of characters beyond U+FFFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HalvesSeen {
    /// What is found has whole characters.
    Never,
    /// What is found may begin or end with half a character; if something is found is the same.
    AtEnds,
    /// In a text with such characters a search may have another answer.
    Within,
}

/// Why an expression cannot be used: in its own flavour, or because the language cannot say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableRegex {
    /// The byte of the expression.
    pub at: usize,
    /// What is wrong there, in words.
    pub why: String,
}

impl UnusableRegex {
    fn new(at: usize, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }
}

impl TranslatedRegex {
    fn new(pattern: &str, mut flags: String, backtracks: bool) -> Self {
        if backtracks {
            flags.push('b');
        }
        Self { text: slash_literal(pattern, &flags), backtracks, halves: HalvesSeen::Never }
    }
}

/// A pattern in the language's own syntax as a literal. It may hold slashes, line ends and characters that nobody sees as they are.
#[must_use]
pub fn slash_literal(pattern: &str, flags: &str) -> String {
    let mut body = String::with_capacity(pattern.len());
    let mut escaped = false;
    for letter in pattern.chars() {
        match letter {
            '/' if !escaped => body.push_str("\\/"),
            '\n' => body.push_str(if escaped { "n" } else { "\\n" }),
            '\r' => body.push_str(if escaped { "r" } else { "\\r" }),
            '\t' => body.push_str(if escaped { "t" } else { "\\t" }),
            hidden if is_steering(hidden) => {
                body.push_str(if escaped { "" } else { "\\" });
                body.push_str(&format!("x{{{:x}}}", u32::from(hidden)));
            }
            letter => body.push(letter),
        }
        escaped = letter == '\\' && !escaped;
    }
    match body.strip_prefix(' ') {
        // Two slashes would be a division.
        None if body.is_empty() => format!("/(?:)/{flags}"),
        Some(rest) => format!("/\\x20{rest}/{flags}"),
        None => format!("/{body}/{flags}"),
    }
}

/// An expression of Rust's crate `regex`.
///
/// # Errors
/// Where the crate refuses it.
pub fn translate_rust(pattern: &str) -> Result<TranslatedRegex, UnusableRegex> {
    translate_linear(pattern, "u")
}

/// An expression of RE2, whose classes are those of ASCII.
///
/// # Errors
/// Where RE2 refuses it, and where it asks for single bytes.
pub fn translate_re2(pattern: &str, ignore_case: bool) -> Result<TranslatedRegex, UnusableRegex> {
    translate_linear(pattern, if ignore_case { "i" } else { "" })
}

fn translate_linear(pattern: &str, flags: &str) -> Result<TranslatedRegex, UnusableRegex> {
    let parsed = regex_syntax::ast::parse::Parser::new().parse(pattern);
    let tree = parsed.map_err(|error| UnusableRegex::new(error.span().start.offset, error.kind().to_string()))?;
    let meaning = regex_syntax::hir::translate::Translator::new().translate(pattern, &tree);
    meaning.map_err(|error| UnusableRegex::new(error.span().start.offset, error.kind().to_string()))?;
    // White space and comments of `(?x)` are left out: a line has no place in a literal.
    let mut written = String::new();
    let printed = regex_syntax::ast::print::Printer::new().print(&tree, &mut written);
    printed.map_err(|_| UnusableRegex::new(0, "it cannot be written"))?;
    Ok(TranslatedRegex::new(&written, flags.to_owned(), false))
}
