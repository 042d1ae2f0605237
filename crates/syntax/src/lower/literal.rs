//! Lowers numbers and regular expressions.

use super::{GrammarPair, SyntaxLowering};
use crate::ast::{NumberLiteral, NumberUnit, RegexLiteral};
use crate::grammar::Rule;
use crate::number::{self, NumberError, NumberValue};
use averment_base::diagnostic::{Diagnostic, Slug};

const FLAGS: &str = "imsxub";

impl SyntaxLowering<'_> {
    /// Lowers a number; an invalid one is reported and replaced by the closest value.
    pub(super) fn lower_number(&mut self, node: &GrammarPair<'_>) -> NumberLiteral {
        let text = node.as_str().to_owned();
        let NumberValue { value, unit } = match number::read_number(&text) {
            Ok(reading) => reading,
            Err(error) => {
                let diagnostic = self.bad_number(node, &error);
                self.report_diagnostic(diagnostic);
                fallback_value(&text, &error)
            }
        };
        NumberLiteral { text, value, unit, span: self.node_span(node) }
    }

    fn bad_number(&self, node: &GrammarPair<'_>, error: &NumberError) -> Diagnostic {
        let whole = self.node_span(node);
        let start = node.as_span().start();
        let from = |at: usize, length: usize| self.place.file_span(start + at, start + at + length);
        match error {
            NumberError::UnknownUnit { at, unit } => {
                let place = from(*at, unit.len());
                let amount = node.as_str().get(..*at).unwrap_or("");
                unknown_unit(place, amount, unit)
            }
            NumberError::MixedUnits { at } => Diagnostic::new(
                Slug::UnknownUnit,
                from(*at, node.as_str().len() - at),
                "units of a duration go from large to small, each once",
            )
            .with_help("write `1h30m`"),
            NumberError::TooLong => {
                Diagnostic::new(Slug::Syntax, whole, "this number is too large or has too many digits")
                    .with_help("write one of at most 400 digits that is, in milliseconds, USD or bytes, below 1.7e308")
            }
            NumberError::TooSmall => {
                Diagnostic::new(Slug::Syntax, whole, "this number is so small that it would count as 0")
                    .with_help("write `0`")
            }
        }
    }

    pub(super) fn lower_regex(&mut self, node: GrammarPair<'_>) -> Option<RegexLiteral> {
        let span = self.node_span(&node);
        let mut parts = node.into_inner();
        let (pattern, flags) = (parts.next()?, parts.next()?);
        let start = flags.as_span().start();
        let unknown = flags.as_str().char_indices().find(|(_, flag)| !FLAGS.contains(*flag));
        let mut known = flags.as_str().to_owned();
        if let Some((at, flag)) = unknown {
            let place = self.place.file_span(start + at, start + at + flag.len_utf8());
            let mut diagnostic =
                Diagnostic::new(Slug::Syntax, place, format!("unknown flag `{flag}`; the flags are i, m, s, x, u, b"));
            diagnostic = match flag {
                'g' => diagnostic.with_help("a search finds any match, so leave `g` out").with_fix(
                    "remove the flag",
                    place,
                    "",
                ),
                _ => diagnostic.with_help(format!("remove `{flag}`")).with_fix("remove the flag", place, ""),
            };
            self.report_diagnostic(diagnostic);
            known.retain(|flag| FLAGS.contains(flag));
        }
        Some(RegexLiteral {
            pattern: pattern.as_str().to_owned(),
            flags: known,
            span,
            pattern_span: self.node_span(&pattern),
        })
    }

    pub(super) fn not_negative(&mut self, node: GrammarPair<'_>, what: &str, instead: &str) -> Option<NumberLiteral> {
        let mut minus = None;
        let mut number = None;
        for child in super::NodeChildren::of_node(node) {
            match child.as_rule() {
                Rule::minus => minus = Some(self.node_span(&child)),
                Rule::number => number = Some(self.lower_number(&child)),
                _ => {}
            }
        }
        let number = number?;
        if let Some(minus) = minus {
            self.report_error(minus.cover_with(number.span), format!("{what} is not negative"), instead);
        }
        Some(number)
    }
}

fn unknown_unit(place: averment_base::source::Span, amount: &str, unit: &str) -> Diagnostic {
    let number = averment_base::source::Span {
        start: place.start.saturating_sub(u32::try_from(amount.len()).unwrap_or(0)),
        ..place
    };
    if amount.starts_with('$') {
        return Diagnostic::new(Slug::UnknownUnit, place, format!("letters behind an amount of money: `{unit}`"))
            .with_help(format!("write `{amount}`; an amount is in US dollars and takes no unit"));
    }
    match number::meant_unit(unit) {
        Some(meant) if meant.eq_ignore_ascii_case(unit) => {
            Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}`; the unit is written `{meant}`"))
                .with_help(format!("write `{amount}{meant}`"))
                .with_fix(format!("write `{meant}`"), place, meant)
        }
        Some(meant) => Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}`"))
            .with_help(format!("write `{amount}{meant}`"))
            .with_fix(format!("write `{amount}{meant}`"), number, format!("{amount}{meant}")),
        None => Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}` behind a number"))
            .with_help("the units are ms, s, m, h, d; B, KB, MB, GB, KiB, MiB, GiB; and `%`"),
    }
}

/// Returns a substitute that causes no follow-up errors.
fn fallback_value(text: &str, error: &NumberError) -> NumberValue {
    let fallback = || NumberValue { value: "0".to_owned(), unit: NumberUnit::None };
    let NumberError::UnknownUnit { at, unit } = error else { return fallback() };
    let corrected = format!("{}{}", text.get(..*at).unwrap_or("0"), number::meant_unit(unit).unwrap_or(""));
    number::read_number(&corrected).unwrap_or_else(|_| fallback())
}
