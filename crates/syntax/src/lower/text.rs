//! Lowers strings: escapes, interpolations, dedented blocks.

use super::dedent::{StringSegment, dedent_segments};
use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{Expr, Name, TextLiteral, TextPart};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

impl SyntaxLowering<'_> {
    pub(super) fn lower_text(&mut self, node: GrammarPair<'_>) -> Option<TextLiteral> {
        let span = self.node_span(&node);
        let form = node.into_inner().next()?;
        let parts = match form.as_rule() {
            Rule::raw_string => {
                let raw = form.into_inner().next()?;
                vec![TextPart::Literal(raw.as_str().to_owned())]
            }
            Rule::line_string => {
                self.on_one_line(&form, span);
                self.text_parts(string_segments(form))?
            }
            _ => self.text_parts(dedent_segments(form))?,
        };
        Some(TextLiteral { parts: join_parts(parts), span })
    }

    /// Lowers a name or path, in which no interpolation is allowed.
    pub(super) fn lower_quoted(&mut self, node: GrammarPair<'_>) -> Option<Name> {
        let text = self.lower_text(node)?;
        let value = text.parts.iter().find_map(|part| match part {
            TextPart::Interpolation(value) => Some(value.span),
            TextPart::Literal(_) => None,
        });
        if let Some(value) = value {
            self.report_error(
                value,
                "a name or path is fixed text, so `${…}` has no meaning in it",
                "write the text itself; to keep the characters `${` write `\\${`, or use a raw string `'…'`",
            );
        }
        Some(Name { text: text.literal_text().unwrap_or("").to_owned(), span: text.span })
    }

    /// Reports line ends in a one-line string; an interpolation may contain line ends.
    fn on_one_line(&mut self, form: &GrammarPair<'_>, span: Span) {
        if form.as_str().contains('\n') {
            let diagnostic = Diagnostic::new(Slug::Unclosed, span.at_start(), "this string is not closed on its line")
                .with_help("add `\"`, or use `\"\"\"` for text of several lines");
            self.report_diagnostic(diagnostic);
        }
    }

    fn text_parts(&mut self, string_segments: Vec<StringSegment<'_>>) -> Option<Vec<TextPart>> {
        let lowered = string_segments.into_iter().map(|string_segment| match string_segment {
            StringSegment::Written(at, text) => Some(TextPart::Literal(self.unescape_text(at, text))),
            StringSegment::Value(node) => self.lower_interpolation(node).map(TextPart::Interpolation),
        });
        lowered.collect()
    }

    fn lower_interpolation(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let inner = NodeChildren::of_node(node).next()?;
        self.in_brackets(span, |lower| lower.lower_expression(inner))
    }

    fn unescape_text(&mut self, at: usize, written: &str) -> String {
        let mut result = String::with_capacity(written.len());
        let mut rest = written;
        while let Some((before, behind)) = rest.split_once('\\') {
            result.push_str(before);
            let length = match read_escape(behind) {
                Ok((value, length)) => {
                    result.push(value);
                    length
                }
                Err(length) => {
                    let start = at + written.len() - behind.len() - 1;
                    self.bad_escape(start, behind.get(..length).unwrap_or(""));
                    length
                }
            };
            rest = behind.get(length..).unwrap_or("");
        }
        result.push_str(rest);
        result
    }

    fn bad_escape(&mut self, start: usize, behind: &str) {
        let span = self.place.file_span(start, start + 1 + behind.len());
        self.report_diagnostic(
            Diagnostic::new(Slug::Syntax, span, format!("unknown escape `\\{behind}` in a string"))
                .with_help(r#"write `\\` for a backslash, or use a raw string `'…'`; the escapes are `\"` `\\` `\n` `\r` `\t` `\u{…}` `\$`"#),
        );
    }
}

/// Reads an escape after the backslash; returns its character and length, or only the length if it is unknown.
fn read_escape(behind: &str) -> Result<(char, usize), usize> {
    match behind.chars().next() {
        Some('n') => Ok(('\n', 1)),
        Some('r') => Ok(('\r', 1)),
        Some('t') => Ok(('\t', 1)),
        Some(same @ ('"' | '\\' | '$')) => Ok((same, 1)),
        Some('u') => code_point(behind),
        Some(other) => Err(other.len_utf8()),
        None => Err(0),
    }
}

fn code_point(behind: &str) -> Result<(char, usize), usize> {
    let Some((digits, _)) = behind.strip_prefix("u{").and_then(|inner| inner.split_once('}')) else { return Err(1) };
    let length = digits.len() + 3;
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')).and_then(char::from_u32);
    value.map(|value| (value, length)).ok_or(length)
}

/// Merges adjacent literals and drops empty ones.
fn join_parts(parts: Vec<TextPart>) -> Vec<TextPart> {
    let mut result: Vec<TextPart> = Vec::with_capacity(parts.len());
    for part in parts {
        match (result.last_mut(), part) {
            (_, TextPart::Literal(text)) if text.is_empty() => {}
            (Some(TextPart::Literal(before)), TextPart::Literal(text)) => before.push_str(&text),
            (_, part) => result.push(part),
        }
    }
    result
}

fn string_segments(form: GrammarPair<'_>) -> Vec<StringSegment<'_>> {
    form.into_inner().map(string_segment).collect()
}

fn string_segment(node: GrammarPair<'_>) -> StringSegment<'_> {
    match node.as_rule() {
        Rule::interpolation => StringSegment::Value(node),
        _ => StringSegment::Written(node.as_span().start(), node.as_span().as_str()),
    }
}
