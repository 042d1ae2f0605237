//! Lint for names with a unit that are compared with literals of another unit: `timeout_seconds <= 30s` compares seconds with milliseconds.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, Expr, ExprKind, ItemKind, NumberLiteral, NumberUnit, PatternArgument, PatternForm, StepPattern, SyntaxItem,
    TestKind, ValueTest,
};
use std::collections::HashMap;

/// Reports comparisons of a named unit with a literal of another unit.
pub fn named_units(context: &mut LintContext<'_>) {
    let mut declared = DeclaredNumbers::default();
    walk::walk_file(context.ast(), &mut declared);
    let mut visitor = UnitVisitor { context, declared: declared.0 };
    walk::walk_file(visitor.context.ast(), &mut visitor);
}

/// The unit that a name indicates.
struct NamedUnit {
    family: NumberUnit,
    /// The size of one unit in the base unit of literals (milliseconds, USD, bytes).
    factor: f64,
    noun: &'static str,
    /// True for words with other meanings (`us`, `m`); they count only when compared with a literal of their family.
    ambiguous: bool,
}

/// The words, the noun, the family, and the size of one unit in milliseconds, USD or bytes.
const UNITS: &[(&[&str], &str, NumberUnit, f64)] = &[
    (&["ns", "nanos", "nanosecond", "nanoseconds"], "nanoseconds", NumberUnit::Duration, 1e-6),
    (&["us", "micros", "microsecond", "microseconds"], "microseconds", NumberUnit::Duration, 1e-3),
    (&["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"], "milliseconds", NumberUnit::Duration, 1.0),
    (&["s", "sec", "secs", "second", "seconds"], "seconds", NumberUnit::Duration, 1e3),
    (&["m", "min", "mins", "minute", "minutes"], "minutes", NumberUnit::Duration, 6e4),
    (&["h", "hr", "hrs", "hour", "hours"], "hours", NumberUnit::Duration, 3.6e6),
    (&["d", "day", "days"], "days", NumberUnit::Duration, 8.64e7),
    (&["week", "weeks"], "weeks", NumberUnit::Duration, 6.048e8),
    (&["usd", "dollar", "dollars"], "USD", NumberUnit::Money, 1.0),
    (&["cent", "cents"], "cents", NumberUnit::Money, 0.01),
    (&["b", "byte", "bytes"], "bytes", NumberUnit::Size, 1.0),
    (&["kb", "kilobyte", "kilobytes"], "kilobytes", NumberUnit::Size, 1e3),
    (&["mb", "megabyte", "megabytes"], "megabytes", NumberUnit::Size, 1e6),
    (&["gb", "gigabyte", "gigabytes"], "gigabytes", NumberUnit::Size, 1e9),
    (&["kib"], "KiB", NumberUnit::Size, 1024.0),
    (&["mib"], "MiB", NumberUnit::Size, 1_048_576.0),
    (&["gib"], "GiB", NumberUnit::Size, 1_073_741_824.0),
];

/// Currencies other than dollars.
const CURRENCIES: [&str; 8] = ["eur", "euro", "euros", "gbp", "chf", "jpy", "cny", "inr"];

fn unit_of_word(word: &str) -> Option<NamedUnit> {
    if CURRENCIES.contains(&word) {
        return Some(NamedUnit {
            family: NumberUnit::Money,
            factor: f64::NAN,
            noun: "another currency",
            ambiguous: false,
        });
    }
    let &(_, noun, family, factor) = UNITS.iter().find(|(words, ..)| words.contains(&word))?;
    let ambiguous = word.len() == 1 || matches!(word, "us" | "ns" | "min" | "second" | "day" | "minute" | "hour");
    Some(NamedUnit { family, factor, noun, ambiguous })
}

/// Splits a name into words: `timeoutSeconds` and `timeout-seconds` are `timeout`, `seconds`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the unit that a name indicates; `None` for a rate such as `bytes_per_second`, which has two.
fn unit_of_name(name: &str) -> Option<NamedUnit> {
    let words = words_of(name);
    if words.iter().any(|word| word == "per") {
        return None;
    }
    let is_plural = |word: &&String| word.len() > 4 && word.ends_with('s');
    let last = words.last().and_then(|word| unit_of_word(word));
    last.or_else(|| words.first().filter(is_plural).and_then(|word| unit_of_word(word)))
}

/// Names declared in the file, which are not paths into a run, with their numbers.
#[derive(Default)]
struct DeclaredNumbers<'a>(HashMap<&'a str, Option<&'a NumberLiteral>>);

impl<'a> SyntaxVisitor<'a> for DeclaredNumbers<'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        let (name, value) = match &item.kind {
            ItemKind::Let { name, value } => (name, Some(value)),
            ItemKind::Param(param) => (&param.name, param.default.as_ref()),
            ItemKind::Def { parameters, .. } => {
                self.0.extend(parameters.iter().map(|one| (one.text.as_str(), None)));
                return;
            }
            _ => return,
        };
        let number = value.and_then(|value| match &value.kind {
            ExprKind::Number(number) => Some(number),
            _ => None,
        });
        self.0.insert(&name.text, number);
    }
}

struct UnitVisitor<'c, 'a> {
    context: &'c mut LintContext<'a>,
    declared: HashMap<&'a str, Option<&'a NumberLiteral>>,
}

impl<'a> SyntaxVisitor<'a> for UnitVisitor<'_, 'a> {
    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        let (Some(subject), Some(operand)) = (subject, test.operand.as_deref()) else { return };
        let compares = matches!(
            test.kind,
            TestKind::Equal
                | TestKind::Identical
                | TestKind::Less
                | TestKind::LessOrEqual
                | TestKind::Greater
                | TestKind::GreaterOrEqual
                | TestKind::In
        );
        if compares {
            self.check(subject, operand, false);
            self.check(operand, subject, false);
        }
    }

    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { arguments: Some(arguments), .. }) = &step.kind else { return };
        for argument in arguments {
            if let PatternArgument::Matches { path, value, .. } = argument {
                self.check(path, value, true);
            }
        }
    }
}

impl<'a> UnitVisitor<'_, 'a> {
    /// Returns the last name of a path. A sum or a maximum has the unit of its elements.
    fn name_of(&self, path: &'a Expr, is_argument: bool) -> Option<(&'a str, Span)> {
        match &path.kind {
            ExprKind::Name(name) if is_argument || !self.declared.contains_key(name.as_str()) => {
                Some((name, path.span))
            }
            ExprKind::Field { name, .. } => Some((&name.text, path.span)),
            ExprKind::Index { base, index } => match &index.kind {
                ExprKind::Text(text) => text.literal_text().map(|name| (name, path.span)),
                _ => self.name_of(base, is_argument),
            },
            ExprKind::Every { base } | ExprKind::Group(base) | ExprKind::Negate(base) => {
                self.name_of(base, is_argument)
            }
            ExprKind::Of { value, .. } | ExprKind::OverRuns { value, .. } => self.name_of(value, is_argument),
            ExprKind::Filtered { list, .. } => self.name_of(list, is_argument),
            ExprKind::Call { name, arguments, .. } => {
                let keeps = ["sum", "min", "max", "avg", "median", "first", "last", "abs", "round", "floor", "ceil"];
                let [one] = arguments.as_slice() else { return None };
                keeps.contains(&name.text.as_str()).then(|| self.name_of(one, is_argument))?
            }
            _ => None,
        }
    }

    /// Returns the number literals in a value, each with the span where it could be replaced.
    fn numbers_of(&self, value: &'a Expr) -> Vec<(&'a NumberLiteral, Option<Span>)> {
        match &value.kind {
            ExprKind::Number(number) => vec![(number, Some(number.span))],
            ExprKind::Name(name) => {
                self.declared.get(name.as_str()).copied().flatten().map(|number| (number, None)).into_iter().collect()
            }
            ExprKind::Group(inner) | ExprKind::Negate(inner) => self.numbers_of(inner),
            ExprKind::List(elements) => elements.iter().flat_map(|element| self.numbers_of(element)).collect(),
            ExprKind::Range { start, end } => start.iter().chain(end).flat_map(|side| self.numbers_of(side)).collect(),
            _ => Vec::new(),
        }
    }

    fn check(&mut self, path: &'a Expr, value: &'a Expr, is_argument: bool) {
        let Some((name, place)) = self.name_of(path, is_argument) else { return };
        let Some(unit) = unit_of_name(name) else { return };
        for (number, at) in self.numbers_of(value) {
            let amount = number.value.parse::<f64>().unwrap_or(0.0);
            let is_other_family = number.unit != unit.family;
            #[allow(clippy::float_cmp, reason = "the factor is the constant of the table")]
            let fits = !is_other_family && unit.factor == 1.0;
            if number.unit == NumberUnit::None || amount == 0.0 || fits || (is_other_family && unit.ambiguous) {
                continue;
            }
            self.report(name, &unit, number, at.unwrap_or(place), at.is_some());
        }
    }

    fn report(&mut self, name: &str, unit: &NamedUnit, number: &NumberLiteral, place: Span, is_literal: bool) {
        let canonical = match number.unit {
            NumberUnit::Duration => "milliseconds",
            NumberUnit::Money => "USD",
            NumberUnit::Size => "bytes",
            NumberUnit::None => return,
        };
        let value = shown_number(number.value.parse().unwrap_or(0.0));
        let message = format!(
            "by its name `{name}` counts {}, and `{}` is compared as the number {value}, in {canonical}",
            unit.noun, number.text
        );
        let diagnostic = Diagnostic::new(Slug::UnitInName, place, message);
        let converted = number.value.parse::<f64>().map(|amount| amount / unit.factor).ok();
        let bare = converted.filter(|bare| number.unit == unit.family && bare.is_finite()).map(shown_number);
        self.context.report(match bare {
            Some(bare) if is_literal => {
                diagnostic.with_help(format!("write `{bare}`")).with_fix(format!("write `{bare}`"), place, bare.clone())
            }
            Some(bare) => diagnostic.with_help(format!("compare it with `{bare}`")),
            None => diagnostic.with_help("write a number without a unit"),
        });
    }
}

/// Returns a number without floating-point residue.
fn shown_number(number: f64) -> String {
    let rounded = (number * 1e9).round() / 1e9;
    if rounded.is_finite() { rounded.to_string() } else { number.to_string() }
}
