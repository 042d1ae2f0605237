//! Statements about the course of a run that say something else than they seem to.

use super::context::Context;
use super::walk::{self, Visit};
use crate::diagnostic::{Diagnostic, Slug};
use crate::syntax::ast::{Statement, StatementKind};

/// `before A -> A`: the first A has none before it.
pub fn precedence(context: &mut Context<'_>) {
    struct Same<'c, 'a>(&'c mut Context<'a>);
    impl<'a> Visit<'a> for Same<'_, 'a> {
        fn statement(&mut self, statement: &'a Statement) {
            let (step, targets, word, end) = match &statement.kind {
                StatementKind::Before { step, targets, .. } => (step, targets, "before", "first"),
                StatementKind::After { step, targets, .. } => (step, targets, "after", "last"),
                _ => return,
            };
            let text = self.0.text(step.span);
            for target in targets {
                if self.0.text(target.span) != text {
                    continue;
                }
                let message = format!("the {end} `{text}` has none {word} it: this fails on every run with one");
                let other = if word == "before" { "last" } else { "first" };
                self.0.report(
                    Diagnostic::new(Slug::SelfPrecedence, target.span, message)
                        .other(step.span, "the same steps")
                        .help(format!("for `at most one` write `count {text} <= 1`; otherwise name other steps on one side, not the {other}")),
                );
            }
        }
    }
    walk::file(context.ast(), &mut Same(context));
}
