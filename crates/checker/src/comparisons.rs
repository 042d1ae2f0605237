//! Tests whose outcome the types decide: `"5" > 3` is always false, so it is a mistake.

use super::Checker;
use super::comparison_help::{literal_replacement, status_class};
use super::expr::CheckedExpr;
use super::ty::{ComparisonClass, NumberMeasure, Ty};
use super::units::bare_number;
use crate::ir::ExprKind;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_syntax::ast::{TestKind, ValueTest};
use averment_syntax::glob_test::pattern_of_text;

impl Checker<'_> {
    pub(super) fn check_test(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        if left.is_broken() || right.is_broken() {
            return;
        }
        self.check_words(test, left, text, right);
        self.check_identical(test, left, right);
        match test.kind {
            TestKind::Equal | TestKind::Identical => self.check_equal(test, left, text, right),
            TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => {
                self.check_order(test, left, text, right);
            }
            TestKind::In => self.check_in(test, left, text, right),
            TestKind::Contains => self.check_contains(test, left, text, right),
            TestKind::ContainsAll | TestKind::ContainsAny | TestKind::ContainsNone => {
                self.check_contains_each(test, left, text, right)
            }
            TestKind::ContainsIgnoringCase | TestKind::StartsWith | TestKind::EndsWith => {
                self.check_text_test(test, left, text, right);
            }
            TestKind::Mentions => self.check_mentions(test, left, text, right),
            TestKind::Matches => self.check_matches(test, left, text, right),
            TestKind::Is
            | TestKind::IsJson
            | TestKind::ContainsJson
            | TestKind::IsEmpty
            | TestKind::IsMissing
            | TestKind::Exists => {}
        }
    }

    pub(super) fn check_unary_test(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str) {
        let needs_text = matches!(test.kind, TestKind::IsJson | TestKind::ContainsJson);
        match left.ty.comparison_class() {
            Some(class)
                if needs_text
                    && class != ComparisonClass::Text
                    && class != ComparisonClass::Object
                    && class != ComparisonClass::List =>
            {
                self.report_always(test, left, text, class, "JSON stands in text");
            }
            Some(class @ (ComparisonClass::Number | ComparisonClass::Boolean)) if test.kind == TestKind::IsEmpty => {
                self.report_always(test, left, text, class, "only text, lists and objects are empty");
            }
            _ => {}
        }
    }

    /// A binding stands for a value of several steps, in which its number may be written in several ways.
    fn check_identical(&mut self, test: &ValueTest, left: &CheckedExpr, right: &CheckedExpr) {
        let is_binding = |side: &&CheckedExpr| matches!(side.expr.kind, ExprKind::Binding(_));
        let Some(side) = [left, right].into_iter().find(is_binding).filter(|_| test.kind == TestKind::Identical) else {
            return;
        };
        let (first, second) = (self.source_line(left.expr.span), self.source_line(right.expr.span));
        let sign = if test.negated { "!=" } else { "==" };
        self.report_diagnostic(
            Diagnostic::new(Slug::TypeMismatch, side.expr.span, "a binding is a value, however its number is written")
                .with_help(format!("write `{first} {sign} {second}`")),
        );
    }

    fn check_equal(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        // A run may record them in another form, and then this asks for that.
        if [left, right].iter().any(|side| side.ty == Ty::KeyedPlace) {
            return;
        }
        match (left.ty.comparison_class(), right.ty.comparison_class()) {
            (_, Some(ComparisonClass::Regex)) => self.report_regex_equality(text, right),
            (Some(ComparisonClass::Null), _) | (_, Some(ComparisonClass::Null)) => {}
            (Some(_), Some(ComparisonClass::Range)) => self.report_range_equality(text, right),
            (Some(a), Some(b)) if a != b => self.report_different(test, left, text, a, right, b),
            (Some(ComparisonClass::Number), _) | (_, Some(ComparisonClass::Number)) => self.check_compared(left, right),
            _ => {}
        }
    }

    fn check_order(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        let ordered = |class: ComparisonClass| matches!(class, ComparisonClass::Number | ComparisonClass::Text);
        match (left.ty.comparison_class(), right.ty.comparison_class()) {
            (Some(a), _) if !ordered(a) => {
                let why = match a {
                    ComparisonClass::List => self.for_elements(test, text),
                    ComparisonClass::Object if left.ty == Ty::Usage => {
                        format!("write `{text}.total_tokens {}`", self.source_line(test.span))
                    }
                    ComparisonClass::Object => self.for_keys(test, text),
                    _ => "only numbers and texts have an order".to_owned(),
                };
                self.report_always(test, left, text, a, &why);
            }
            (_, Some(b)) if !ordered(b) => {
                let help = match b {
                    ComparisonClass::List => {
                        let written = self.source_line(right.expr.span);
                        let written =
                            written.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(&written);
                        format!("compare with one of its values: `first({written})`, `last(…)`, `min(…)` or `max(…)`")
                    }
                    _ => "compare with a number or a text".to_owned(),
                };
                self.report_right(test, right, b, &help);
            }
            (Some(a), Some(b)) if a != b => self.report_different(test, left, text, a, right, b),
            _ => self.check_compared(left, right),
        }
    }

    fn check_in(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        match right.ty.comparison_class() {
            Some(ComparisonClass::Text) => {
                let help = self.help_for_text_list(test, left, text, right);
                self.report_right(test, right, ComparisonClass::Text, &help);
            }
            Some(
                class @ (ComparisonClass::Number
                | ComparisonClass::Boolean
                | ComparisonClass::Null
                | ComparisonClass::Regex),
            ) => {
                let help = if class == ComparisonClass::Regex {
                    format!("write `{text} matches …`")
                } else {
                    "write a list `[…]` or a range `1..3`".to_owned()
                };
                self.report_right(test, right, class, &help);
            }
            Some(ComparisonClass::Range) => match left.ty.comparison_class() {
                Some(class) if class != ComparisonClass::Number => {
                    let why = match class {
                        ComparisonClass::Text => self.help_for_range(test, left, text),
                        _ => "a range holds numbers".to_owned(),
                    };
                    self.report_always(test, left, text, class, &why);
                }
                _ => self.check_units_inside(left, right),
            },
            Some(ComparisonClass::List) => self.check_in_list(test, left, text, right),
            Some(ComparisonClass::Object) => {
                let whole = self.source_line(right.expr.span);
                self.check_key_asked(test, right, &whole, left);
            }
            _ => {}
        }
    }

    /// `weekday(start) in 1..5`: a word of a set has no number.
    fn help_for_range(&self, test: &ValueTest, left: &CheckedExpr, text: &str) -> String {
        match &left.ty {
            Ty::Word(words) => {
                let word = if test.negated { "not in" } else { "in" };
                format!("name the words: `{text} {word} [{}]`", words.listed_words())
            }
            _ => format!("write `number({text}) {}`", self.source_line(test.span)),
        }
    }

    fn check_in_list(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        self.check_units_inside(left, right);
        let (Some(a), Some(b)) = (left.ty.comparison_class(), right.ty.element_type().comparison_class()) else {
            return;
        };
        if a != b && a != ComparisonClass::Null && b != ComparisonClass::Null {
            let noun = self.noun_of(left, text, a);
            let message = format!(
                "{noun}, and the list holds {}: `{}` is always {}",
                class_plural(b),
                self.source_line(test.operator),
                test.negated
            );
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, right.expr.span, message)
                    .with_help(format!("write a list of {}", class_plural(a))),
            );
        }
    }

    fn check_contains(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        match left.ty.comparison_class() {
            Some(class @ (ComparisonClass::Number | ComparisonClass::Boolean | ComparisonClass::Null)) => {
                self.report_always(test, left, text, class, "only text, lists and objects contain something");
            }
            Some(class @ (ComparisonClass::Text | ComparisonClass::Object)) => match right.ty.comparison_class() {
                Some(ComparisonClass::Regex) => self.report_regex_operand(test, text, right),
                Some(other) if other != ComparisonClass::Text => {
                    let help = match (class, right.number_text()) {
                        (ComparisonClass::Text, Some(number)) => format!("write `\"{number}\"`"),
                        (ComparisonClass::Text, None) => "write a text in quotes".to_owned(),
                        _ => "the keys of an object are texts".to_owned(),
                    };
                    self.report_right(test, right, other, &help);
                }
                _ => self.check_key_asked(test, left, text, right),
            },
            _ if right.ty.comparison_class() == Some(ComparisonClass::Regex) => {
                self.report_regex_operand(test, text, right)
            }
            Some(ComparisonClass::List) if !self.check_element_class(test, left, text, right) => {
                self.check_compared(&left.clone().with_type(left.ty.element_type()), right);
            }
            _ => {}
        }
    }

    fn check_mentions(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        match (left.ty.comparison_class(), right.ty.comparison_class()) {
            (
                Some(
                    class @ (ComparisonClass::Boolean
                    | ComparisonClass::Null
                    | ComparisonClass::Range
                    | ComparisonClass::Regex),
                ),
                _,
            ) => {
                self.report_always(test, left, text, class, "texts, lists and objects mention something");
            }
            (_, Some(ComparisonClass::Regex)) => self.report_regex_operand(test, text, right),
            (_, Some(class)) if !matches!(class, ComparisonClass::Text | ComparisonClass::Number) => {
                self.report_right(test, right, class, "write a text in quotes, a number or a binding");
            }
            _ => {}
        }
    }

    fn check_contains_each(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        if let Some(class) = right.ty.comparison_class().filter(|class| *class != ComparisonClass::List) {
            let written = self.source_line(right.expr.span);
            self.report_right(test, right, class, &format!("write a list: `[{written}]`"));
        } else if let Some(class @ (ComparisonClass::Number | ComparisonClass::Boolean | ComparisonClass::Null)) =
            left.ty.comparison_class()
        {
            self.report_always(test, left, text, class, "only text, lists and objects contain something");
        } else if left.ty.comparison_class() == Some(ComparisonClass::List) {
            let one = right.clone().with_type(right.ty.element_type());
            if self.check_element_class(test, left, text, &one) {
                return;
            }
            self.check_units_inside(&left.clone().with_type(left.ty.element_type()), right);
        }
    }

    fn check_text_test(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        if let Some(class) = left.ty.comparison_class().filter(|class| *class != ComparisonClass::Text) {
            self.report_no_text(test, left, text, class);
        } else if right.ty.comparison_class() == Some(ComparisonClass::Regex) {
            self.report_regex_operand(test, text, right);
        } else if let Some(class) = right.ty.comparison_class().filter(|class| *class != ComparisonClass::Text) {
            self.report_right(test, right, class, "write a text in quotes");
        }
    }

    fn check_matches(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        match right.ty.comparison_class() {
            Some(ComparisonClass::Text) => {
                let pattern = right.known_text().map_or_else(|| "…".to_owned(), pattern_of_text);
                self.report_right(
                    test,
                    right,
                    ComparisonClass::Text,
                    &format!("write a regular expression between slashes: `/{pattern}/`"),
                );
            }
            Some(class) if class != ComparisonClass::Regex => {
                self.report_right(test, right, class, "write a regular expression: `/…/`");
            }
            _ => {
                if let Some(class) = left.ty.comparison_class().filter(|class| *class != ComparisonClass::Text) {
                    self.report_no_text(test, left, text, class);
                }
            }
        }
    }

    fn report_regex_equality(&mut self, text: &str, right: &CheckedExpr) {
        let written = self.source_line(right.expr.span);
        self.report_diagnostic(
            Diagnostic::new(Slug::TypeMismatch, right.expr.span, "a value never equals a regular expression")
                .with_help(format!("write `{text} matches {written}`")),
        );
    }

    fn report_range_equality(&mut self, text: &str, right: &CheckedExpr) {
        let written = self.source_line(right.expr.span);
        self.report_diagnostic(
            Diagnostic::new(Slug::TypeMismatch, right.expr.span, "a value never equals a range")
                .with_help(format!("write `{text} in {written}`")),
        );
    }

    fn report_regex_operand(&mut self, test: &ValueTest, text: &str, right: &CheckedExpr) {
        let written = self.source_line(right.expr.span);
        let word = if test.negated { "not matches" } else { "matches" };
        // `starts with /a/` is `matches /^a/`. What holds a choice is bound together first.
        let anchored = written.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).and_then(|(pattern, flags)| {
            let pattern = if pattern.contains('|') { format!("(?:{pattern})") } else { pattern.to_owned() };
            match test.kind {
                TestKind::StartsWith => Some(format!("/^{pattern}/{flags}")),
                TestKind::EndsWith => Some(format!("/{pattern}$/{flags}")),
                _ => None,
            }
        });
        let pattern = anchored.unwrap_or(written);
        self.report_right(test, right, ComparisonClass::Regex, &format!("write `{text} {word} {pattern}`"));
    }

    fn report_different(
        &mut self,
        test: &ValueTest,
        left: &CheckedExpr,
        text: &str,
        a: ComparisonClass,
        right: &CheckedExpr,
        b: ComparisonClass,
    ) {
        let noun = self.noun_of(left, text, a);
        let outcome = if test.negated { "true" } else { "false" };
        let message = format!("{noun}, so comparing it with {} is always {outcome}", b.noun());
        if a == ComparisonClass::Text && b == ComparisonClass::Number && is_order(test.kind) {
            let literal = literal_replacement(b, left);
            let number = literal.unwrap_or_else(|| format!("number({text})"));
            let help = format!("texts are compared letter by letter: write `{number} {}`", self.source_line(test.span));
            let diagnostic = Diagnostic::new(Slug::TypeMismatch, right.expr.span, message).with_help(help);
            let place = left.expr.span;
            self.report_diagnostic(diagnostic.with_fix(format!("write `{number}`"), place, number));
            return;
        }
        let write = literal_replacement(a, right)
            .map(|write| if left.is_count() { bare_number(&write).to_owned() } else { write });
        let help = match &write {
            Some(write) => format!("write `{write}`"),
            None if a == ComparisonClass::List => self.for_elements(test, text),
            None if a == ComparisonClass::Object => self.for_keys(test, text),
            None => match literal_replacement(b, left) {
                Some(write) => format!("write `{write}` on the left"),
                None if a == ComparisonClass::Text && b == ComparisonClass::Number => {
                    format!("a number in text is read with `number({text})`")
                }
                None => match right.known_text().and_then(status_class) {
                    Some(range) if a == ComparisonClass::Number => format!("write `{text} in {range}`"),
                    _ => format!("compare with {}", a.noun()),
                },
            },
        };
        let mut diagnostic = Diagnostic::new(Slug::TypeMismatch, right.expr.span, message).with_help(help);
        if let Some(write) = write {
            diagnostic = diagnostic.with_fix(format!("write `{write}`"), right.expr.span, write);
        }
        self.report_diagnostic(diagnostic);
    }

    /// `\`amount\` is a number in the schema of \`refund\``, or another description of the type.
    fn noun_of(&self, left: &CheckedExpr, text: &str, class: ComparisonClass) -> String {
        match &left.ty {
            Ty::Described(described) => {
                format!("`{text}` is {} in the schema of `{}`", class.noun(), described.tool_names())
            }
            other => {
                let noun = other.number_measure().map_or_else(|| class.noun(), NumberMeasure::noun);
                format!("`{text}` is {noun}")
            }
        }
    }

    pub(super) fn report_always(
        &mut self,
        test: &ValueTest,
        left: &CheckedExpr,
        text: &str,
        class: ComparisonClass,
        why: &str,
    ) {
        let noun = self.noun_of(left, text, class);
        let operator = self.source_line(test.operator);
        let outcome = if test.negated { "true" } else { "false" };
        self.report_diagnostic(
            Diagnostic::new(Slug::TypeMismatch, left.expr.span, format!("{noun}, so `{operator}` is always {outcome}"))
                .with_help(why.to_owned()),
        );
    }

    fn report_right(&mut self, test: &ValueTest, right: &CheckedExpr, class: ComparisonClass, help: &str) {
        let operator = self.source_line(test.operator);
        self.report_diagnostic(
            Diagnostic::new(
                Slug::TypeMismatch,
                right.expr.span,
                format!("`{operator}` cannot be used with {}", class.noun()),
            )
            .with_help(help.to_owned()),
        );
    }
}

fn is_order(test: TestKind) -> bool {
    matches!(test, TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual)
}

fn class_plural(class: ComparisonClass) -> &'static str {
    match class {
        ComparisonClass::Null => "nulls",
        ComparisonClass::Boolean => "booleans",
        ComparisonClass::Text => "texts",
        ComparisonClass::Number => "numbers",
        ComparisonClass::List => "lists",
        ComparisonClass::Object => "objects",
        ComparisonClass::Range => "ranges",
        ComparisonClass::Regex => "regular expressions",
    }
}
