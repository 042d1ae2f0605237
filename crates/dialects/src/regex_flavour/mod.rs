//! Translates regular expressions of other languages to literals of the rule language.
//!
//! Each flavor is parsed as its own engine parses it, and written so that a search gives the same result for every text. The output is linear where
//! possible. Flag `b` is used for lookaround, back-references and atomic groups. Differences in the meaning of white space, line ends and `$` are
//! written out.
//!
//! Some differences remain. Case is ignored by Unicode's simple folding: `k` under `i` also matches the Kelvin sign, unlike JavaScript and Python's
//! `re.ASCII`, and `i` does not match Turkish letters, unlike Python. Word boundaries are Unicode's, which count marks as word characters and `²`
//! not; Python does the opposite. `\B` also matches in the empty text. JavaScript without `u` sees a character above U+FFFF as two halves: the
//! translation is equivalent, or `HalvesSeen` reports the difference. A group keeps its match in the next iteration of a loop, while JavaScript
//! resets it.

mod javascript;
mod pattern;
mod python;
#[cfg(test)]
mod tests;

use averment_base::diagnostic::render::is_steering;
pub use javascript::translate_javascript;
pub use python::{PyRegexFlags, translate_python};

/// A regular expression in the notation of the rule language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedRegex {
    /// The literal, `/…/flags`.
    pub text: String,
    /// True if it has flag `b` (backtracking).
    pub backtracks: bool,
    /// Places where the expression meets halves of characters above U+FFFF (a surrogate pair of UTF-16).
    pub halves: HalvesSeen,
}

/// Where a JavaScript expression without `u` meets halves of characters above U+FFFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HalvesSeen {
    /// Every match consists of whole characters.
    Never,
    /// A match may begin or end with half a character, but whether there is a match does not change.
    AtEnds,
    /// In a text with such characters, the result of a search may differ.
    Within,
}

/// The reason why an expression is unusable: it is invalid in its flavor, or the rule language cannot express it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableRegex {
    /// The byte offset in the expression.
    pub at: usize,
    /// The problem, in words.
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

/// Returns a pattern of the rule language's regex syntax as a literal. Slashes, line ends and invisible characters are escaped.
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
        // `//` would not be a literal.
        None if body.is_empty() => format!("/(?:)/{flags}"),
        Some(rest) => format!("/\\x20{rest}/{flags}"),
        None => format!("/{body}/{flags}"),
    }
}

/// Translates an expression of the Rust crate `regex`.
///
/// # Errors
/// If the crate rejects the expression.
pub fn translate_rust(pattern: &str) -> Result<TranslatedRegex, UnusableRegex> {
    translate_linear(pattern, "u")
}

/// Translates an RE2 expression. Its classes are ASCII only.
///
/// # Errors
/// If RE2 rejects the expression, or if it matches single bytes.
pub fn translate_re2(pattern: &str, ignore_case: bool) -> Result<TranslatedRegex, UnusableRegex> {
    translate_linear(pattern, if ignore_case { "i" } else { "" })
}

fn translate_linear(pattern: &str, flags: &str) -> Result<TranslatedRegex, UnusableRegex> {
    let parsed = regex_syntax::ast::parse::Parser::new().parse(pattern);
    let tree = parsed.map_err(|error| UnusableRegex::new(error.span().start.offset, error.kind().to_string()))?;
    let meaning = regex_syntax::hir::translate::Translator::new().translate(pattern, &tree);
    meaning.map_err(|error| UnusableRegex::new(error.span().start.offset, error.kind().to_string()))?;
    // White space and comments of `(?x)` are dropped, because a literal cannot contain line ends.
    let mut written = String::new();
    let printed = regex_syntax::ast::print::Printer::new().print(&tree, &mut written);
    printed.map_err(|_| UnusableRegex::new(0, "it cannot be written"))?;
    Ok(TranslatedRegex::new(&written, flags.to_owned(), false))
}
