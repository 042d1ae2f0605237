//! Lint for tests and bounds that always pass because their value is empty.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_builtins::table::find_builtin;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, AtomSubject, BodySetting, Expr, ExprKind, ExprQuantifier, GroupKind, ItemKind, KindText, ModifierKind,
    NumberLiteral, PatternForm, RuleBlock, SchemaSource, Statement, StatementKind, StepPattern, StepWord, SyntaxItem,
    TestKind, ValueTest,
};

/// Reports searches for empty texts, bounds of zero, and empty schemas.
pub fn empty_values(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut EmptyVisitor(context));
}

struct EmptyVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for EmptyVisitor<'_, 'a> {
    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        let looked_for = if test.kind == TestKind::In { subject } else { test.operand.as_deref() };
        count_from_zero(self.0, subject, test);
        let message = match test.kind {
            TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::StartsWith | TestKind::EndsWith => {
                IN_EVERY_TEXT
            }
            // The elements of a list literal are examined themselves.
            TestKind::In if test.operand.as_deref().is_none_or(|operand| !is_list(operand)) => IN_EVERY_TEXT,
            TestKind::ContainsAll | TestKind::ContainsAny | TestKind::ContainsNone => {
                return empty_list(self.0, test);
            }
            TestKind::Mentions => "an empty text is no token that a text could mention",
            _ => return,
        };
        if let Some(operand) = looked_for.filter(|operand| is_empty_text(operand)) {
            self.0.report(
                Diagnostic::new(Slug::EmptyNeedle, operand.span, message).with_help(
                    "write the searched value; to check that there is one, write `exists` or `is not empty`",
                ),
            );
        }
    }

    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom {
            subject: AtomSubject::Kind { kind, text: Some(KindText::Text(text)), .. }, ..
        }) = &step.kind
        else {
            return;
        };
        // For other kinds, the text is a name or a glob.
        let has_texts = matches!(
            kind,
            StepWord::Command | StepWord::User | StepWord::Assistant | StepWord::Thinking | StepWord::Message
        );
        if has_texts && text.literal_text() == Some("") {
            let help = format!("write what is looked for, or `{}` alone for every one", kind.as_str());
            self.0.report(Diagnostic::new(Slug::EmptyNeedle, step.span, IN_EVERY_TEXT).with_help(help));
        }
    }

    fn visit_statement(&mut self, statement: &'a Statement) {
        if let StatementKind::Group { kind: GroupKind::AtLeast(number), .. } = &statement.kind {
            self.report_zero(number, "any number of members is at least 0", "write how many have to hold");
        }
    }

    fn visit_item(&mut self, item: &'a SyntaxItem) {
        match &item.kind {
            ItemKind::Setting(BodySetting::Modifier(modifier)) => self.check_threshold(&modifier.kind),
            ItemKind::Rule(RuleBlock { modifiers, .. })
            | ItemKind::Suite { modifiers, .. }
            | ItemKind::Case { modifiers, .. } => {
                modifiers.iter().for_each(|modifier| self.check_threshold(&modifier.kind));
            }
            ItemKind::Assertion(assertion) => {
                assertion.modifiers.iter().for_each(|modifier| self.check_threshold(&modifier.kind));
            }
            ItemKind::Schema { source: SchemaSource::Inline(schema), name } => {
                if matches!(&schema.kind, ExprKind::Object(entries) if entries.is_empty()) {
                    let message = format!("every value is a `{}`: its schema asks for nothing", name.text);
                    self.0.report(
                        Diagnostic::new(Slug::EmptySchema, schema.span, message)
                            .with_help("write what it has to be: `{ type: \"object\", required: [\"id\"] }`"),
                    );
                }
            }
            _ => {}
        }
    }
}

const IN_EVERY_TEXT: &str = "every text has an empty text in it";

fn is_list(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::List(_))
}

fn is_empty_text(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Text(text) if text.literal_text() == Some(""))
}

/// The noun of a value that is never negative; `None` for other values.
fn never_negative(expr: &Expr) -> Option<&'static str> {
    match &expr.kind {
        ExprKind::Group(inner) => never_negative(inner),
        ExprKind::Name(name) => match name.as_str() {
            "turns" => Some("count"),
            "cost" => Some("cost"),
            "duration" => Some("duration"),
            _ => None,
        },
        ExprKind::Call { name, .. } => match find_builtin(&name.text) {
            _ if matches!(name.text.as_str(), "length" | "word_count") => Some("count"),
            Some(builtin) if builtin.score => Some("score"),
            _ => None,
        },
        ExprKind::Quantifier { quantifier: ExprQuantifier::Count, .. } | ExprKind::Counted { .. } => Some("count"),
        _ => None,
    }
}

impl EmptyVisitor<'_, '_> {
    fn check_threshold(&mut self, kind: &ModifierKind) {
        if let ModifierKind::Threshold(number) = kind {
            self.report_zero(
                number,
                "every score reaches 0",
                "write the score that has to be reached, between 0 and 1",
            );
        }
    }

    fn report_zero(&mut self, number: &NumberLiteral, message: &str, help: &str) {
        if number.value.parse::<f64>().is_ok_and(|value| value == 0.0) {
            self.0.report(Diagnostic::new(Slug::ZeroBound, number.span, message).with_help(help));
        }
    }
}

fn empty_list(context: &mut LintContext<'_>, test: &ValueTest) {
    let Some(operand) = test.operand.as_deref() else { return };
    if matches!(&operand.kind, ExprKind::List(items) if items.is_empty()) {
        context.report(
            Diagnostic::new(Slug::EmptyNeedle, operand.span, "the list is empty, so this searches for nothing")
                .with_help("write what is looked for"),
        );
    }
}

fn count_from_zero(context: &mut LintContext<'_>, subject: Option<&Expr>, test: &ValueTest) {
    let (Some(left), Some(right)) = (subject, test.operand.as_deref()) else { return };
    let (count, bound) = match (test.kind, test.negated) {
        (TestKind::GreaterOrEqual, false) | (TestKind::Less, true) => (left, right),
        (TestKind::LessOrEqual, false) | (TestKind::Greater, true) => (right, left),
        _ => return,
    };
    if let (Some(noun), ExprKind::Number(number)) = (never_negative(count), &bound.kind) {
        let help = match noun {
            "count" => "write how many there have to be",
            _ => "write the least value that is enough, or the most with `<=`",
        };
        EmptyVisitor(context).report_zero(number, &format!("a {noun} is never below 0"), help);
    }
}
