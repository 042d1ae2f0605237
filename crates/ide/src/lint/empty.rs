//! Tests and bounds that everything passes, because nothing stands in them.

use super::context::Context;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_syntax::ast::walk::{self, Visit};
use averment_syntax::ast::{
    Expr, ExprKind, GroupKind, Item, ItemKind, Literal, ModifierKind, Number, Setting, Statement, StatementKind,
    TestKind, ValueTest,
};

/// Empty texts that are looked for, bounds of zero, empty schemas.
pub fn empty(context: &mut Context<'_>) {
    walk::file(context.ast(), &mut Empty(context));
}

struct Empty<'c, 'a>(&'c mut Context<'a>);

impl<'a> Visit<'a> for Empty<'_, 'a> {
    fn test(&mut self, _: Option<&'a Expr>, test: &'a ValueTest) {
        let message = match test.kind {
            TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::StartsWith | TestKind::EndsWith => {
                "every text has an empty text in it"
            }
            TestKind::Mentions => "an empty text is no token that a text could mention",
            _ => return,
        };
        let Some(operand) = test.operand.as_deref() else { return };
        let ExprKind::Text(text) = &operand.kind else { return };
        if text.literal() == Some("") {
            self.0.report(
                Diagnostic::new(Slug::EmptyNeedle, operand.span, message)
                    .help("write what is looked for; that something is there is said with `exists` or `is not empty`"),
            );
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        if let StatementKind::Group { kind: GroupKind::AtLeast(number), .. } = &statement.kind {
            self.zero(number, "any number of members is at least 0", "write how many have to hold");
        }
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Setting(Setting::Modifier(modifier)) => self.threshold(&modifier.kind),
            ItemKind::Assertion(assertion) => {
                assertion.modifiers.iter().for_each(|modifier| self.threshold(&modifier.kind));
            }
            ItemKind::Schema { source: Literal::Inline(schema), name } => {
                if matches!(&schema.kind, ExprKind::Object(entries) if entries.is_empty()) {
                    let message = format!("every value is a `{}`: its schema asks for nothing", name.text);
                    self.0.report(
                        Diagnostic::new(Slug::EmptySchema, schema.span, message)
                            .help("write what it has to be: `{ type: \"object\", required: [\"id\"] }`"),
                    );
                }
            }
            _ => {}
        }
    }
}

impl Empty<'_, '_> {
    fn threshold(&mut self, kind: &ModifierKind) {
        if let ModifierKind::Threshold(number) = kind {
            self.zero(number, "every score reaches 0", "write the score that has to be reached, between 0 and 1");
        }
    }

    fn zero(&mut self, number: &Number, message: &str, help: &str) {
        if number.value.parse::<f64>().is_ok_and(|value| value == 0.0) {
            self.0.report(Diagnostic::new(Slug::ZeroBound, number.span, message).help(help));
        }
    }
}
