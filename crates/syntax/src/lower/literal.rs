//! Numbers and regular expressions.

use super::{Lower, Node};
use crate::ast::{Number, Regex, Unit};
use crate::grammar::Rule;
use crate::number::{self, NumberError, Reading};
use averment_base::diagnostic::{Diagnostic, Slug};

/// The flags that a regular expression may have.
const FLAGS: &str = "imsxub";

impl Lower<'_> {
    /// A number; one that is none is reported and read as near to what was meant as can be.
    pub(super) fn number(&mut self, node: &Node<'_>) -> Number {
        let text = node.as_str().to_owned();
        let Reading { value, unit } = match number::read(&text) {
            Ok(reading) => reading,
            Err(error) => {
                let diagnostic = self.bad_number(node, &error);
                self.report(diagnostic);
                meant(&text, &error)
            }
        };
        Number { text, value, unit, span: self.span(node) }
    }

    fn bad_number(&self, node: &Node<'_>, error: &NumberError) -> Diagnostic {
        let whole = self.span(node);
        let start = node.as_span().start();
        let from = |at: usize, length: usize| self.place.span(start + at, start + at + length);
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
            .help("write `1h30m`"),
            NumberError::TooLong => {
                Diagnostic::new(Slug::Syntax, whole, "this number is too large or has too many digits")
                    .help("write one of at most 400 digits that is, in milliseconds, USD or bytes, below 1.7e308")
            }
            NumberError::TooSmall => {
                Diagnostic::new(Slug::Syntax, whole, "this number is so small that it would count as 0")
                    .help("write `0`")
            }
        }
    }

    /// `/pattern/flags`.
    pub(super) fn regex(&mut self, node: Node<'_>) -> Option<Regex> {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let (pattern, flags) = (parts.next()?, parts.next()?);
        let start = flags.as_span().start();
        let unknown = flags.as_str().char_indices().find(|(_, flag)| !FLAGS.contains(*flag));
        let mut known = flags.as_str().to_owned();
        if let Some((at, flag)) = unknown {
            let place = self.place.span(start + at, start + at + flag.len_utf8());
            let mut diagnostic =
                Diagnostic::new(Slug::Syntax, place, format!("unknown flag `{flag}`; the flags are i, m, s, x, u, b"));
            diagnostic = match flag {
                'g' => diagnostic.help("a search finds any match, so leave `g` out").fix("remove the flag", place, ""),
                _ => diagnostic.help(format!("remove `{flag}`")).fix("remove the flag", place, ""),
            };
            self.report(diagnostic);
            known.retain(|flag| FLAGS.contains(flag));
        }
        Some(Regex { pattern: pattern.as_str().to_owned(), flags: known, span, pattern_span: self.span(&pattern) })
    }

    /// The number among the next nodes, with a minus in front of it reported by `complain`.
    pub(super) fn not_negative(&mut self, node: Node<'_>, what: &str, instead: &str) -> Option<Number> {
        let mut minus = None;
        let mut number = None;
        for child in super::Children::of(node) {
            match child.as_rule() {
                Rule::minus => minus = Some(self.span(&child)),
                Rule::number => number = Some(self.number(&child)),
                _ => {}
            }
        }
        let number = number?;
        if let Some(minus) = minus {
            self.error(minus.to(number.span), format!("{what} is not negative"), instead);
        }
        Some(number)
    }
}

/// What to say of letters that are no unit.
fn unknown_unit(place: averment_base::source::Span, amount: &str, unit: &str) -> Diagnostic {
    let number = averment_base::source::Span {
        start: place.start.saturating_sub(u32::try_from(amount.len()).unwrap_or(0)),
        ..place
    };
    if amount.starts_with('$') {
        return Diagnostic::new(Slug::UnknownUnit, place, format!("letters behind an amount of money: `{unit}`"))
            .help(format!("write `{amount}`; an amount is in US dollars and takes no unit"));
    }
    match number::meant_unit(unit) {
        Some(meant) if meant.eq_ignore_ascii_case(unit) => {
            Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}`; the unit is written `{meant}`"))
                .help(format!("write `{amount}{meant}`"))
                .fix(format!("write `{meant}`"), place, meant)
        }
        Some(meant) => Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}`"))
            .help(format!("write `{amount}{meant}`"))
            .fix(format!("write `{amount}{meant}`"), number, format!("{amount}{meant}")),
        None => Diagnostic::new(Slug::UnknownUnit, place, format!("unknown unit `{unit}` behind a number"))
            .help("the units are ms, s, m, h, d; B, KB, MB, GB, KiB, MiB, GiB; and `%`"),
    }
}

/// A reading of a mistaken number from which no second mistake follows.
fn meant(text: &str, error: &NumberError) -> Reading {
    let fallback = || Reading { value: "0".to_owned(), unit: Unit::None };
    let NumberError::UnknownUnit { at, unit } = error else { return fallback() };
    let corrected = format!("{}{}", text.get(..*at).unwrap_or("0"), number::meant_unit(unit).unwrap_or(""));
    number::read(&corrected).unwrap_or_else(|_| fallback())
}
