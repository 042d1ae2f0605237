//! Tests whose outcome the types decide: `"5" > 3` is always false, so it is a mistake.

use super::Checker;
use super::expr::Typed;
use super::ty::{Class, Measure, Ty};
use super::units::bare;
use crate::ir::{Constant, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_syntax::ast::{TestKind, ValueTest};

impl Checker<'_> {
    /// A test with a right-hand side.
    pub(super) fn check_test(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        if left.is_broken() || right.is_broken() {
            return;
        }
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

    /// A test without a right-hand side.
    pub(super) fn check_unary_test(&mut self, test: &ValueTest, left: &Typed, text: &str) {
        let needs_text = matches!(test.kind, TestKind::IsJson | TestKind::ContainsJson);
        match left.ty.class() {
            Some(class) if needs_text && class != Class::Text && class != Class::Object && class != Class::List => {
                self.report_always(test, left, text, class, "JSON stands in text");
            }
            Some(class @ (Class::Number | Class::Boolean)) if test.kind == TestKind::IsEmpty => {
                self.report_always(test, left, text, class, "only text, lists and objects are empty");
            }
            _ => {}
        }
    }

    fn check_equal(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        match (left.ty.class(), right.ty.class()) {
            (_, Some(Class::Regex)) => self.report_regex_equality(text, right),
            (Some(Class::Null), _) | (_, Some(Class::Null)) => {}
            (Some(_), Some(Class::Range)) => self.report_range_equality(text, right),
            (Some(a), Some(b)) if a != b => self.report_different(test, left, text, a, right, b),
            (Some(Class::Number), _) | (_, Some(Class::Number)) => self.check_compared(left, right),
            _ => {}
        }
    }

    fn check_order(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        let ordered = |class: Class| matches!(class, Class::Number | Class::Text);
        match (left.ty.class(), right.ty.class()) {
            (Some(a), _) if !ordered(a) => {
                let why = match a {
                    Class::List => self.for_elements(test, text),
                    Class::Object => format!("compare its size: `length({text})`"),
                    _ => "only numbers and texts have an order".to_owned(),
                };
                self.report_always(test, left, text, a, &why);
            }
            (_, Some(b)) if !ordered(b) => {
                self.report_right(test, right, b, "compare with a number or a text");
            }
            (Some(a), Some(b)) if a != b => self.report_different(test, left, text, a, right, b),
            _ => self.check_compared(left, right),
        }
    }

    fn check_in(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        match right.ty.class() {
            Some(Class::Text) => {
                let written = self.written(right.expr.span);
                let help = format!(
                    "for a part of a text write `{written} contains {text}`, for one of several `{text} in [{written}, …]`"
                );
                self.report_right(test, right, Class::Text, &help);
            }
            Some(class @ (Class::Number | Class::Boolean | Class::Null | Class::Regex)) => {
                let help = if class == Class::Regex {
                    format!("write `{text} matches …`")
                } else {
                    "write a list `[…]` or a range `1..3`".to_owned()
                };
                self.report_right(test, right, class, &help);
            }
            Some(Class::Range) => match left.ty.class() {
                Some(class) if class != Class::Number => {
                    let why = match class {
                        Class::Text => format!("write `number({text}) {}`", self.written(test.span)),
                        _ => "a range holds numbers".to_owned(),
                    };
                    self.report_always(test, left, text, class, &why);
                }
                _ => self.check_units_inside(left, right),
            },
            Some(Class::List) => self.check_in_list(test, left, text, right),
            _ => {}
        }
    }

    /// A list literal whose elements are all of another type than what is looked for.
    fn check_in_list(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        self.check_units_inside(left, right);
        let (Some(a), Some(b)) = (left.ty.class(), right.ty.element().class()) else { return };
        if a != b && a != Class::Null && b != Class::Null {
            let noun = self.noun_of(left, text, a);
            let message = format!(
                "{noun}, and the list holds {}: `{}` is always {}",
                plural(b),
                self.written(test.operator),
                test.negated
            );
            self.report(
                Diagnostic::new(Slug::TypeMismatch, right.expr.span, message)
                    .help(format!("write a list of {}", plural(a))),
            );
        }
    }

    fn check_contains(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        match left.ty.class() {
            Some(class @ (Class::Number | Class::Boolean | Class::Null)) => {
                self.report_always(test, left, text, class, "only text, lists and objects contain something");
            }
            Some(class @ (Class::Text | Class::Object)) => match right.ty.class() {
                Some(Class::Regex) => self.report_regex_operand(test, text, right),
                Some(other) if other != Class::Text => {
                    let help = match (class, right.number()) {
                        (Class::Text, Some(number)) => format!("write `\"{number}\"`"),
                        (Class::Text, None) => "write a text in quotes".to_owned(),
                        _ => "the keys of an object are texts".to_owned(),
                    };
                    self.report_right(test, right, other, &help);
                }
                _ => {}
            },
            _ if right.ty.class() == Some(Class::Regex) => self.report_regex_operand(test, text, right),
            Some(Class::List) => self.check_compared(&left.clone().typed(left.ty.element()), right),
            _ => {}
        }
    }

    /// A text, a list or an object mentions a text or a number.
    fn check_mentions(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        match (left.ty.class(), right.ty.class()) {
            (Some(class @ (Class::Boolean | Class::Null | Class::Range | Class::Regex)), _) => {
                self.report_always(test, left, text, class, "texts, lists and objects mention something");
            }
            (_, Some(Class::Regex)) => self.report_regex_operand(test, text, right),
            (_, Some(class)) if !matches!(class, Class::Text | Class::Number) => {
                self.report_right(test, right, class, "write a text in quotes, a number or a binding");
            }
            _ => {}
        }
    }

    fn check_contains_each(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        if let Some(class) = right.ty.class().filter(|class| *class != Class::List) {
            let written = self.written(right.expr.span);
            self.report_right(test, right, class, &format!("write a list: `[{written}]`"));
        } else if let Some(class @ (Class::Number | Class::Boolean | Class::Null)) = left.ty.class() {
            self.report_always(test, left, text, class, "only text, lists and objects contain something");
        } else if left.ty.class() == Some(Class::List) {
            self.check_units_inside(&left.clone().typed(left.ty.element()), right);
        }
    }

    fn report_no_text(&mut self, test: &ValueTest, left: &Typed, text: &str, class: Class) {
        let help = format!("this tests text; for JSON as text write `text({text})`");
        self.report_always(test, left, text, class, &help);
    }

    fn check_text_test(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        if let Some(class) = left.ty.class().filter(|class| *class != Class::Text) {
            self.report_no_text(test, left, text, class);
        } else if right.ty.class() == Some(Class::Regex) {
            self.report_regex_operand(test, text, right);
        } else if let Some(class) = right.ty.class().filter(|class| *class != Class::Text) {
            self.report_right(test, right, class, "write a text in quotes");
        }
    }

    fn check_matches(&mut self, test: &ValueTest, left: &Typed, text: &str, right: &Typed) {
        match right.ty.class() {
            Some(Class::Text) => {
                let pattern = right.text().map_or_else(|| "…".to_owned(), regex_syntax::escape);
                let pattern = pattern.replace('/', "\\/");
                self.report_right(
                    test,
                    right,
                    Class::Text,
                    &format!("a regular expression stands between slashes: `/{pattern}/`"),
                );
            }
            Some(class) if class != Class::Regex => {
                self.report_right(test, right, class, "write a regular expression: `/…/`");
            }
            _ => {
                if let Some(class) = left.ty.class().filter(|class| *class != Class::Text) {
                    self.report_no_text(test, left, text, class);
                }
            }
        }
    }

    fn report_regex_equality(&mut self, text: &str, right: &Typed) {
        let written = self.written(right.expr.span);
        self.report(
            Diagnostic::new(Slug::TypeMismatch, right.expr.span, "a value never equals a regular expression")
                .help(format!("write `{text} matches {written}`")),
        );
    }

    fn report_range_equality(&mut self, text: &str, right: &Typed) {
        let written = self.written(right.expr.span);
        self.report(
            Diagnostic::new(Slug::TypeMismatch, right.expr.span, "a value never equals a range")
                .help(format!("write `{text} in {written}`")),
        );
    }

    fn report_regex_operand(&mut self, test: &ValueTest, text: &str, right: &Typed) {
        let written = self.written(right.expr.span);
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
        self.report_right(test, right, Class::Regex, &format!("write `{text} {word} {pattern}`"));
    }

    /// Both types are known and never fit.
    fn report_different(&mut self, test: &ValueTest, left: &Typed, text: &str, a: Class, right: &Typed, b: Class) {
        let noun = self.noun_of(left, text, a);
        let outcome = if test.negated { "true" } else { "false" };
        let message = format!("{noun}, so comparing it with {} is always {outcome}", b.noun());
        if a == Class::Text && b == Class::Number && is_order(test.kind) {
            let literal = replacement(b, left);
            let number = literal.unwrap_or_else(|| format!("number({text})"));
            let help =
                format!("texts stand in the order of their letters: write `{number} {}`", self.written(test.span));
            let diagnostic = Diagnostic::new(Slug::TypeMismatch, right.expr.span, message).help(help);
            let place = left.expr.span;
            self.report(diagnostic.fix(format!("write `{number}`"), place, number));
            return;
        }
        let write = replacement(a, right).map(|write| if left.is_count() { bare(&write).to_owned() } else { write });
        let help = match &write {
            Some(write) => format!("write `{write}`"),
            None if a == Class::List => self.for_elements(test, text),
            None => match replacement(b, left) {
                Some(write) => format!("write `{write}` on the left"),
                None if a == Class::Text && b == Class::Number => {
                    format!("a number in text is read with `number({text})`")
                }
                None => format!("compare with {}", a.noun()),
            },
        };
        let mut diagnostic = Diagnostic::new(Slug::TypeMismatch, right.expr.span, message).help(help);
        if let Some(write) = write {
            diagnostic = diagnostic.fix(format!("write `{write}`"), right.expr.span, write);
        }
        self.report(diagnostic);
    }

    /// A list that is compared like one value: what probably was meant.
    fn for_elements(&self, test: &ValueTest, text: &str) -> String {
        let test = self.written(test.span);
        format!("for its elements write `all x in {text}: x {test}`, for its size `length({text})`")
    }

    /// `\`amount\` is a number in the schema of \`refund\``, or what is known of it otherwise.
    fn noun_of(&self, left: &Typed, text: &str, class: Class) -> String {
        match &left.ty {
            Ty::Described(described) => format!("`{text}` is {} in the schema of `{}`", class.noun(), described.tool()),
            other => {
                let noun = other.measure().map_or_else(|| class.noun(), Measure::noun);
                format!("`{text}` is {noun}")
            }
        }
    }

    /// The left-hand side alone decides.
    fn report_always(&mut self, test: &ValueTest, left: &Typed, text: &str, class: Class, why: &str) {
        let noun = self.noun_of(left, text, class);
        let operator = self.written(test.operator);
        let outcome = if test.negated { "true" } else { "false" };
        self.report(
            Diagnostic::new(Slug::TypeMismatch, left.expr.span, format!("{noun}, so `{operator}` is always {outcome}"))
                .help(why.to_owned()),
        );
    }

    /// The right-hand side alone decides.
    fn report_right(&mut self, test: &ValueTest, right: &Typed, class: Class, help: &str) {
        let operator = self.written(test.operator);
        self.report(
            Diagnostic::new(
                Slug::TypeMismatch,
                right.expr.span,
                format!("`{operator}` cannot be used with {}", class.noun()),
            )
            .help(help.to_owned()),
        );
    }
}

/// Whether a test asks for an order.
fn is_order(test: TestKind) -> bool {
    matches!(test, TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual)
}

/// The literal as it would be written in the other type: `"100"` and `100`.
fn replacement(wanted: Class, value: &Typed) -> Option<String> {
    match (wanted, &value.expr.kind) {
        (Class::Number, ExprKind::Constant(Constant::Text(text))) => {
            let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok() || with_unit(text);
            is_number.then(|| text.clone())
        }
        (Class::Text, ExprKind::Constant(Constant::Number(text))) => Some(format!("\"{text}\"")),
        (Class::Text, ExprKind::Constant(Constant::Boolean(value))) => Some(format!("\"{value}\"")),
        (Class::Boolean, ExprKind::Constant(Constant::Text(text))) if text == "true" || text == "false" => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// Text that would be a duration, money or a size without its quotes: `30s`, `$0.05`, `10KB`.
fn with_unit(text: &str) -> bool {
    const UNITS: [&str; 12] = ["ms", "s", "m", "h", "d", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB"];
    let is_decimal = |text: &str| text.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    match text.strip_prefix('$') {
        Some(amount) => is_decimal(amount),
        None => text.split_at_checked(split).is_some_and(|(number, unit)| is_decimal(number) && UNITS.contains(&unit)),
    }
}

fn plural(class: Class) -> &'static str {
    match class {
        Class::Null => "nulls",
        Class::Boolean => "booleans",
        Class::Text => "texts",
        Class::Number => "numbers",
        Class::List => "lists",
        Class::Object => "objects",
        Class::Range => "ranges",
        Class::Regex => "regular expressions",
    }
}
