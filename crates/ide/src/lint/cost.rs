//! What makes checking slow; regular expressions are looked at where all of them are.

use super::context::Context;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, Visit};
use averment_syntax::ast::{Atom, Expr, ExprKind, KindText, Step, StepKind, Subject};

/// Globs and paths that take everything.
pub fn wide(context: &mut Context<'_>) {
    struct Wide<'c, 'a>(&'c mut Context<'a>);
    impl<'a> Visit<'a> for Wide<'_, 'a> {
        fn step(&mut self, step: &'a Step) {
            let StepKind::Atom(Atom { subject: Subject::Kind { kind: _, word, text: Some(text) }, .. }) = &step.kind
            else {
                return;
            };
            let KindText::Text(text) = text else { return };
            let is_all = text.literal().is_some_and(|text| matches!(text, "**" | "**/*" | "*" | ""));
            let word_text = self.0.text(*word);
            if !is_all || !matches!(word_text, "read" | "write") {
                return;
            }
            let place = Span { start: word.end, ..text.span };
            self.0.report(
                Diagnostic::new(
                    Slug::WideGlob,
                    text.span,
                    format!("every file that is {word_text}: each is compared with the glob"),
                )
                .help(format!("write `{word_text}` alone, or name a folder"))
                .fix("leave the glob out", place, ""),
            );
        }

        fn expr(&mut self, expr: &'a Expr) {
            if let ExprKind::Deep { base } = &expr.kind
                && let ExprKind::Name(name) = &base.kind
                && matches!(name.as_str(), "calls" | "steps" | "messages" | "run")
            {
                self.0.report(
                    Diagnostic::new(
                        Slug::DeepWildcard,
                        expr.span,
                        format!("every value at any depth of all {name} is looked at"),
                    )
                    .help(format!("name the fields: `{name}[*].args`, `{name}[*].result`")),
                );
            }
        }
    }
    walk::file(context.ast(), &mut Wide(context));
}
