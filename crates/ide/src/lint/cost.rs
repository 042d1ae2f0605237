//! What makes checking slow; regular expressions are looked at where all of them are.

use super::context::Context;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, Visit};
use averment_syntax::ast::{Atom, Expr, ExprKind, KindText, Step, StepKind, StepWord, Subject};

/// Globs and paths that take everything.
pub fn wide(context: &mut Context<'_>) {
    struct Wide<'c, 'a>(&'c mut Context<'a>);
    impl<'a> Visit<'a> for Wide<'_, 'a> {
        fn step(&mut self, step: &'a Step) {
            let StepKind::Atom(Atom { subject: Subject::Kind { kind, word, text: Some(text) }, .. }) = &step.kind
            else {
                return;
            };
            let KindText::Text(text) = text else { return };
            let is_all = text.literal().is_some_and(|text| matches!(text, "**" | "**/*" | "*" | ""));
            if !is_all || !matches!(kind, StepWord::Read | StepWord::Write) {
                return;
            }
            let kind = kind.as_str();
            let message = format!("every file that is {kind}: each is compared with the glob");
            let mut diagnostic = Diagnostic::new(Slug::WideGlob, text.span, message)
                .help(format!("write `{kind}` alone, or name a folder"));
            if let Some(word) = word {
                diagnostic = diagnostic.fix("leave the glob out", Span { start: word.end, ..text.span }, "");
            }
            self.0.report(diagnostic);
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
