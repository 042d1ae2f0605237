//! Regular expressions: from `/…/flags` to the syntax of the library, with ASCII classes unless flag `u`, each one once. With flag `b` they may
//! hold what linear matching does not know.

use super::Checker;
use super::expr::CheckedExpr;
use super::regex_error;
use super::ty::Ty;
use crate::ir::{self, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::backtrack::{BacktrackRegex, build_skeleton, is_beyond_linear};
use averment_builtins::pattern::LARGEST_ERROR;
use averment_syntax::ast;
use indexmap::IndexSet;
use regex_syntax::ast as parsed;

const FLAGS: &str = "imsxub";

/// All regular expressions, each with its flags once.
#[derive(Debug, Default)]
pub struct RegexTable {
    known: IndexSet<ir::RegexSource>,
    bytes: u64,
}

impl<'a> Checker<'a> {
    pub(super) fn regex_literal(&mut self, regex: &ast::RegexLiteral, subject: Option<&str>) -> CheckedExpr {
        match self.regex_number(regex, subject) {
            Some(number) => CheckedExpr::new(ExprKind::Regex(number), regex.span, Ty::Regex),
            None => CheckedExpr::broken_at(regex.span).with_type(Ty::Regex),
        }
    }

    /// `None` if the expression cannot be used.
    pub(super) fn regex_number(&mut self, regex: &ast::RegexLiteral, subject: Option<&str>) -> Option<u32> {
        self.literals.push(regex.span);
        if !self.check_flags(regex) {
            return None;
        }
        let flags = RegexFlags::from_letters(&regex.flags);
        match self.translated_regex(regex, flags, subject) {
            Ok(number) => number,
            Err(diagnostic) => {
                self.report_diagnostic(*diagnostic);
                None
            }
        }
    }

    /// `None` if there is no room left, which was reported.
    fn translated_regex(
        &mut self,
        regex: &ast::RegexLiteral,
        flags: RegexFlags,
        subject: Option<&str>,
    ) -> Result<Option<u32>, Box<Diagnostic>> {
        if flags.backtracks {
            is_beyond_linear(&regex.pattern, flags.ignore_white_space)
                .map_err(|mistake| regex_error::explain_mistake(regex, &mistake, subject))?;
        }
        let pattern = translate_pattern(&regex.pattern, flags)
            .map_err(|error| regex_error::explain_syntax(regex, &error, subject))?;
        let text = format!("/{}/{}", regex.pattern, regex.flags);
        self.add_built(regex, ir::RegexSource { pattern: pattern.into(), text, backtracks: flags.backtracks })
    }

    /// `None` if there is no room left, which was reported.
    fn add_built(&mut self, regex: &ast::RegexLiteral, one: ir::RegexSource) -> Result<Option<u32>, Box<Diagnostic>> {
        if let Some(known) = self.regexes.known.get_index_of(&one) {
            return Ok(Some(super::to_number(known)));
        }
        if one.backtracks {
            let pattern =
                BacktrackRegex::new(&one.pattern).map_err(|mistake| regex_error::explain_built(regex, &mistake))?;
            return Ok(self.has_room_for_regex(regex, pattern.memory_bytes()).then(|| self.intern_regex(one)));
        }
        let bytes = one.pattern.automaton_bytes();
        if !self.has_room_for_regex(regex, bytes.unwrap_or_default()) {
            return Ok(None);
        }
        let limit = self.options.limits.regex_bytes;
        // Building takes ten times as long as reading: it is left out where it cannot fail.
        let is_small = bytes.is_some_and(|bytes| bytes.saturating_mul(LARGEST_ERROR) <= limit as u64);
        if !is_small {
            let build = regex::RegexBuilder::new(&one.pattern).size_limit(limit).build();
            build.map_err(|error| regex_error::explain_build(regex, &error))?;
        }
        Ok(Some(self.intern_regex(one)))
    }

    fn has_room_for_regex(&mut self, regex: &ast::RegexLiteral, bytes: u64) -> bool {
        let most = self.options.limits.all_regex_bytes;
        let before = self.regexes.bytes;
        // What is too large by itself is said of it alone, and takes no more until that is known.
        let own = bytes.min(self.options.limits.regex_bytes as u64);
        self.regexes.bytes = before.saturating_add(own);
        let fits = self.regexes.bytes <= most;
        if !fits && before <= most {
            let message = format!("the regular expressions of these rules take more than {} MiB together", most >> 20);
            let help = "leave the flag `u` away where the classes of ASCII do, and repeat less";
            self.report_diagnostic(Diagnostic::new(Slug::BadRegex, regex.span, message).with_help(help));
        }
        fits
    }

    pub(super) fn add_regex(&mut self, pattern: String, text: String) -> u32 {
        self.intern_regex(ir::RegexSource { pattern: pattern.into(), text, backtracks: false })
    }

    fn intern_regex(&mut self, regex: ir::RegexSource) -> u32 {
        let (index, new) = self.regexes.known.insert_full(regex.clone());
        if new {
            self.module.regexes.push(regex);
        }
        super::to_number(index)
    }

    pub(super) fn is_backtracking(&self, value: &ir::TypedExpr) -> bool {
        let ExprKind::Regex(number) = value.kind else { return false };
        self.module.regexes.get(number as usize).is_some_and(|regex| regex.backtracks)
    }

    fn check_flags(&mut self, regex: &ast::RegexLiteral) -> bool {
        let start = (regex.span.end as usize).saturating_sub(regex.flags.len());
        for (at, flag) in regex.flags.char_indices() {
            let place = start.saturating_add(at);
            let span = Span::new(regex.span.file, place, place.saturating_add(flag.len_utf8()));
            let twice = regex.flags.get(..at).is_some_and(|before| before.contains(flag));
            if !FLAGS.contains(flag) {
                let message = format!("unknown flag `{flag}`");
                let help = if flag == 'g' {
                    "the flags are i, m, s, x, u, b; `matches` searches the whole text anyway".to_owned()
                } else {
                    "the flags are i, m, s, x, u, b".to_owned()
                };
                self.report_diagnostic(Diagnostic::new(Slug::BadRegex, span, message).with_help(help));
                return false;
            }
            if twice {
                self.report_diagnostic(
                    Diagnostic::new(Slug::BadRegex, span, format!("the flag `{flag}` occurs twice"))
                        .with_help("write it once"),
                );
                return false;
            }
        }
        true
    }
}

/// Which flags stand behind a regular expression.
#[derive(Debug, Clone, Copy, Default)]
pub struct RegexFlags {
    ignore_white_space: bool,
    unicode: bool,
    backtracks: bool,
    other: [bool; 3],
}

impl RegexFlags {
    fn from_letters(text: &str) -> Self {
        Self {
            ignore_white_space: text.contains('x'),
            unicode: text.contains('u'),
            backtracks: text.contains('b'),
            other: ['i', 'm', 's'].map(|flag| text.contains(flag)),
        }
    }

    fn inline_prefix(self) -> String {
        let letters: String = ['i', 'm', 's']
            .into_iter()
            .zip(self.other)
            .filter_map(|(letter, on)| on.then_some(letter))
            .chain(self.ignore_white_space.then_some('x'))
            .collect();
        if letters.is_empty() { String::new() } else { format!("(?{letters})") }
    }
}

fn translate_pattern(pattern: &str, flags: RegexFlags) -> Result<String, Box<parsed::Error>> {
    // What stands in for the signs that the library does not know is as long as they are.
    let covered = flags.backtracks.then(|| build_skeleton(pattern, flags.ignore_white_space).text);
    let mut parser = parsed::parse::ParserBuilder::new().ignore_whitespace(flags.ignore_white_space).build();
    let tree = parser.parse(covered.as_deref().unwrap_or(pattern))?;
    let mut edits = Vec::new();
    AsciiRewriter { edits: &mut edits }.visit_node(&tree, flags.unicode);
    let mut out = flags.inline_prefix();
    let mut from = 0;
    for (range, text) in edits {
        out.push_str(pattern.get(from..range.start).unwrap_or(""));
        out.push_str(&text);
        from = range.end;
    }
    out.push_str(pattern.get(from..).unwrap_or(""));
    Ok(out)
}

/// Replaces `\d \s \w \b` by their ASCII meaning wherever flag `u` is off.
struct AsciiRewriter<'e> {
    edits: &'e mut Vec<(std::ops::Range<usize>, String)>,
}

impl AsciiRewriter<'_> {
    /// Visits the tree in text order; returns the flag state after the node.
    fn visit_node(&mut self, node: &parsed::Ast, unicode: bool) -> bool {
        match node {
            parsed::Ast::Flags(flags) => return flag_state(&flags.flags, unicode),
            parsed::Ast::ClassPerl(class) if !unicode => self.rewrite_perl(class),
            parsed::Ast::ClassBracketed(class) if !unicode => self.rewrite_set(&class.kind),
            parsed::Ast::Assertion(assertion) if !unicode => self.rewrite_boundary(assertion),
            parsed::Ast::Repetition(repetition) => {
                self.visit_node(&repetition.ast, unicode);
            }
            parsed::Ast::Group(group) => {
                let inner = group.flags().map_or(unicode, |flags| flag_state(flags, unicode));
                self.visit_node(&group.ast, inner);
            }
            parsed::Ast::Alternation(alternation) => {
                return alternation.asts.iter().fold(unicode, |unicode, node| self.visit_node(node, unicode));
            }
            parsed::Ast::Concat(concat) => {
                return concat.asts.iter().fold(unicode, |unicode, node| self.visit_node(node, unicode));
            }
            _ => {}
        }
        unicode
    }

    fn replace_span(&mut self, span: &parsed::Span, text: impl Into<String>) {
        self.edits.push((span.start.offset..span.end.offset, text.into()));
    }

    fn rewrite_perl(&mut self, class: &parsed::ClassPerl) {
        let members = match class.kind {
            parsed::ClassPerlKind::Digit => "0-9",
            parsed::ClassPerlKind::Space => r"\t\n\v\f\r\x20",
            parsed::ClassPerlKind::Word => "0-9A-Za-z_",
        };
        let sign = if class.negated { "^" } else { "" };
        self.replace_span(&class.span, format!("[{sign}{members}]"));
    }

    fn rewrite_set(&mut self, set: &parsed::ClassSet) {
        match set {
            parsed::ClassSet::Item(item) => self.set_item(item),
            parsed::ClassSet::BinaryOp(both) => {
                self.rewrite_set(&both.lhs);
                self.rewrite_set(&both.rhs);
            }
        }
    }

    fn set_item(&mut self, item: &parsed::ClassSetItem) {
        match item {
            parsed::ClassSetItem::Perl(class) => self.rewrite_perl(class),
            parsed::ClassSetItem::Bracketed(class) => self.rewrite_set(&class.kind),
            parsed::ClassSetItem::Union(union) => union.items.iter().for_each(|item| self.set_item(item)),
            _ => {}
        }
    }

    fn rewrite_boundary(&mut self, assertion: &parsed::Assertion) {
        let word = match assertion.kind {
            parsed::AssertionKind::WordBoundary => r"(?-u:\b)",
            parsed::AssertionKind::NotWordBoundary => r"(?-u:\B)",
            parsed::AssertionKind::WordBoundaryStart | parsed::AssertionKind::WordBoundaryStartAngle => {
                r"(?-u:\b{start})"
            }
            parsed::AssertionKind::WordBoundaryEnd | parsed::AssertionKind::WordBoundaryEndAngle => r"(?-u:\b{end})",
            parsed::AssertionKind::WordBoundaryStartHalf => r"(?-u:\b{start-half})",
            parsed::AssertionKind::WordBoundaryEndHalf => r"(?-u:\b{end-half})",
            _ => return,
        };
        self.replace_span(&assertion.span, word);
    }
}

fn flag_state(flags: &parsed::Flags, before: bool) -> bool {
    flags.flag_state(parsed::Flag::Unicode).unwrap_or(before)
}

/// A glob of `*` and `?` over a whole text, as a regular expression.
pub fn of_glob(glob: &str) -> String {
    let body: String = glob
        .chars()
        .map(|letter| match letter {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            other => regex_syntax::escape(&other.to_string()),
        })
        .collect();
    format!("(?s)^{body}$")
}

/// A regular expression over characters for a glob of paths, of which globset makes one over bytes. `None` if it is no glob.
pub fn of_path_glob(glob: &str) -> Option<String> {
    let built = globset::GlobBuilder::new(glob).literal_separator(true).build().ok()?;
    let mut pattern = "(?s)".to_owned();
    let mut letter = Vec::new();
    let mut rest = built.regex().strip_prefix("(?-u)")?;
    while let Some(next) = rest.chars().next() {
        let byte = rest.strip_prefix("\\x").and_then(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        match byte.filter(|byte| !byte.is_ascii()) {
            Some(byte) => {
                letter.push(byte);
                rest = rest.get(4..)?;
            }
            None => {
                pattern.push_str(&String::from_utf8(std::mem::take(&mut letter)).ok()?);
                // A backslash keeps what it stands before.
                let letters = if next == '\\' { 2 } else { 1 };
                let length: usize = rest.chars().take(letters).map(char::len_utf8).sum();
                pattern.push_str(rest.get(..length)?);
                rest = rest.get(length..)?;
            }
        }
    }
    pattern.push_str(&String::from_utf8(letter).ok()?);
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(pattern: &str, flags: &str) -> regex::Regex {
        regex::Regex::new(&translate_pattern(pattern, RegexFlags::from_letters(flags)).unwrap()).unwrap()
    }

    #[test]
    fn globs_of_paths_match_as_those_of_globset() {
        for glob in ["/etc/*", "/é/**", "/a?/[a-ü]*", "/{é,b}/x", r"/a\\x41/*", "/**/x"] {
            let of_bytes = globset::GlobBuilder::new(glob).literal_separator(true).build().unwrap().compile_matcher();
            let of_text = regex::Regex::new(&of_path_glob(glob).unwrap()).unwrap();
            for path in
                ["/etc/passwd", "/etc/a/b", "/é/b/c", "/ab/üx", "/aé/b", "/é/x", "/b/x", r"/a\x41/b", "/a/b/x", "/x"]
            {
                // A `?` of globset is one byte.
                let expected = of_bytes.is_match(path) || glob.contains('?') && path == "/aé/b";
                assert_eq!(of_text.is_match(path), expected, "{glob} {path}");
            }
        }
    }

    #[test]
    fn classes_are_ascii_unless_flag_u() {
        for (pattern, text) in
            [(r"^\d$", "٣"), (r"^\w$", "é"), (r"^\s$", "\u{2003}"), (r"^[\d]$", "٣"), (r"^[^\W]$", "é")]
        {
            assert!(!regex(pattern, "").is_match(text), "{pattern}");
            assert!(regex(pattern, "u").is_match(text), "{pattern}");
        }
        for (pattern, text) in [(r"^\D$", "٣"), (r"^\W$", "é"), (r"^\S$", "\u{2003}"), (r"é\b", "éa"), (r"^.$", "é")]
        {
            assert!(regex(pattern, "").is_match(text), "{pattern}");
        }
        assert!(!regex(r"é\b", "u").is_match("éa"));
        assert!(regex(r"(?u:\w)\w", "").is_match("éa") && !regex(r"(?u:\w)\w", "").is_match("éé"));
        assert!(regex(r"a\Bb", "").is_match("ab"));
    }

    #[test]
    fn flags_and_escaped_slashes_keep_their_meaning() {
        assert!(regex(r"^a\/b$", "").is_match("a/b"));
        assert!(regex("multi.*line", "ms").is_match("multi\nline"));
        assert!(regex(r" spaced \x20 pattern # a comment", "x").is_match("spaced pattern"));
        assert!(regex(r"[/]path[/]", "i").is_match("/PATH/"));
        assert!(regex(r"a[^\]]b", "").is_match("axb"));
        assert!(regex::Regex::new(&of_glob("get-*.?")).unwrap().is_match("get-a.b"));
    }
}
