//! What to write in place of a comparison that the types refuse.

use super::Checker;
use super::expr::CheckedExpr;
use super::ty::{ComparisonClass, Ty};
use crate::ir::{Constant, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_syntax::ast::{TestKind, ValueTest};

impl Checker<'_> {
    /// `x in "a,b"`: one of several texts, a part of a text, or a folder.
    pub(super) fn help_for_text_list(
        &self,
        test: &ValueTest,
        left: &CheckedExpr,
        text: &str,
        right: &CheckedExpr,
    ) -> String {
        let written = self.source_line(right.expr.span);
        let (is_in, not) = if test.negated { ("not in", "not ") } else { ("in", "") };
        let words: Vec<&str> = right.known_text().unwrap_or_default().split([',', '|']).map(str::trim).collect();
        if let Some(folder) = right.known_text().filter(|folder| folder.ends_with('/')) {
            return format!("for the files of a folder write `{text} {not}starts with \"{folder}\"`");
        }
        if words.len() > 1 && words.iter().all(|word| !word.is_empty() && !word.contains(['"', '\\', '$'])) {
            return format!("write a list: `{text} {is_in} [\"{}\"]`", words.join("\", \""));
        }
        if let Some(range) = right.known_text().filter(|text| is_range(text)) {
            return format!("write the range without quotes: `{text} {is_in} {range}`");
        }
        match left.known_text() {
            Some(_) => format!("for a part of a text write `{written} {not}contains {text}`"),
            None => format!(
                "for one of several write `{text} {is_in} [{written}, …]`, for a part of a text `{text} {not}contains {written}`"
            ),
        }
    }

    /// A test of text on a value that is none: all of it as JSON, or a part of it, is text.
    pub(super) fn report_no_text(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, class: ComparisonClass) {
        let (operator, whole) = (self.source_line(test.operator), self.source_line(test.span));
        // The beginning and the end of JSON are its brackets.
        let is_anchored = matches!(test.kind, TestKind::StartsWith | TestKind::EndsWith);
        let anywhere = format!("`text({text}) {whole}` to look at all of it as JSON");
        let part = match class {
            ComparisonClass::List => {
                let word = if test.negated { "no" } else { "any" };
                let plain = whole.strip_prefix("not ").unwrap_or(&whole);
                format!("`{word} x in {text}: x {plain}` for its elements")
            }
            ComparisonClass::Object => format!("`{text}.NAME {operator} …` for one key of it"),
            _ => return self.report_always(test, left, text, class, &format!("this tests text; write `text({text})`")),
        };
        let help = if is_anchored { format!("write {part}") } else { format!("write {part}, or {anywhere}") };
        if class == ComparisonClass::List {
            return self.report_always(test, left, text, class, &help);
        }
        let message = format!("`{text}` is an object, and `{operator}` looks at text: it is always {}", test.negated);
        self.report_diagnostic(Diagnostic::new(Slug::ObjectAsText, left.expr.span, message).with_help(help));
    }

    /// `args contains "a b"`: `contains` asks an object for a key, and no key is spelled like this.
    pub(super) fn check_key_asked(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        let is_key = |key: &str| key.chars().all(|sign| sign.is_alphanumeric() || "_-.$@:".contains(sign));
        if left.ty != Ty::KeyedPlace || right.known_text().is_none_or(is_key) {
            return;
        }
        if test.kind != TestKind::In {
            return self.report_no_text(test, left, text, ComparisonClass::Object);
        }
        let (not, written) = (if test.negated { "not " } else { "" }, self.source_line(right.expr.span));
        let message = format!("`{text}` is an object, and `in` asks it for a key: none is spelled like this");
        self.report_diagnostic(
            Diagnostic::new(Slug::ObjectAsText, left.expr.span, message)
                .with_help(format!("write `text({text}) {not}contains {written}`")),
        );
    }

    /// `calls contains "refund"`: a step is an object, which equals no text.
    pub(super) fn check_element_class(
        &mut self,
        test: &ValueTest,
        list: &CheckedExpr,
        text: &str,
        value: &CheckedExpr,
    ) -> bool {
        let element = list.ty.element_type();
        let (Ty::Step(shape), Some(ComparisonClass::Text)) = (&element, value.ty.comparison_class()) else {
            return false;
        };
        let fields = shape.all_fields();
        let field =
            ["tool", "text", "command", "path", "name", "url", "to"].into_iter().find(|one| fields.contains(one));
        let (word, written) = (if test.negated { "no" } else { "any" }, self.source_line(value.expr.span));
        let help = match field {
            Some("tool") if written.starts_with('[') => format!("write `{word} x in {text}: x.tool in {written}`"),
            Some("tool") => format!("write `{word} x in {text}: x.tool == {written}`"),
            Some(field) if written.starts_with('[') => {
                format!("write `{word} x in {text}: x.{field} contains any {written}`")
            }
            Some(field) => format!("write `{word} x in {text}: x.{field} contains {written}`"),
            None => format!("write `{word} x in {text}: …`"),
        };
        let message = format!("the elements of `{text}` are steps, and none of them is a text");
        self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, list.expr.span, message).with_help(help));
        true
    }

    /// An object beside a single value: one key of it is meant.
    pub(super) fn for_keys(&self, test: &ValueTest, text: &str) -> String {
        format!("compare one key of it: `{text}.NAME {}`", self.source_line(test.span))
    }

    pub(super) fn for_elements(&self, test: &ValueTest, text: &str) -> String {
        let test = self.source_line(test.span);
        format!("for its elements write `all x in {text}: x {test}`, for its size `length({text})`")
    }
}

fn is_range(text: &str) -> bool {
    text.split_once("..").is_some_and(|(low, high)| low.parse::<f64>().is_ok() && high.parse::<f64>().is_ok())
}

/// `"5xx"`: the numbers of a class of answers.
pub(super) fn status_class(text: &str) -> Option<String> {
    let digit = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")).or_else(|| text.strip_suffix("**"))?;
    matches!(digit, "1" | "2" | "3" | "4" | "5").then(|| format!("{digit}00..{digit}99"))
}

pub(super) fn literal_replacement(wanted: ComparisonClass, value: &CheckedExpr) -> Option<String> {
    match (wanted, &value.expr.kind) {
        (ComparisonClass::Number, ExprKind::Constant(Constant::Text(text))) => {
            let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok() || with_unit(text);
            is_number.then(|| text.clone())
        }
        (ComparisonClass::Text, ExprKind::Constant(Constant::Number(text))) => Some(format!("\"{text}\"")),
        (ComparisonClass::Text, ExprKind::Constant(Constant::Boolean(value))) => Some(format!("\"{value}\"")),
        (ComparisonClass::Boolean, ExprKind::Constant(Constant::Text(text))) if text == "true" || text == "false" => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// True for text that looks like a duration, money or size: `30s`, `$0.05`, `10KB`.
fn with_unit(text: &str) -> bool {
    const UNITS: [&str; 12] = ["ms", "s", "m", "h", "d", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB"];
    let is_decimal = |text: &str| text.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    match text.strip_prefix('$') {
        Some(amount) => is_decimal(amount),
        None => text.split_at_checked(split).is_some_and(|(number, unit)| is_decimal(number) && UNITS.contains(&unit)),
    }
}
