//! Lints for slow patterns, except regular expressions, which have their own file.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Atom, AtomSubject, Expr, ExprKind, KindText, PatternForm, StepPattern, StepWord};

/// Reports globs and paths that match everything.
pub fn wide_globs(context: &mut LintContext<'_>) {
    struct WideGlobVisitor<'c, 'a>(&'c mut LintContext<'a>);
    impl<'a> SyntaxVisitor<'a> for WideGlobVisitor<'_, 'a> {
        fn visit_step(&mut self, step: &'a StepPattern) {
            let PatternForm::Atom(Atom { subject: AtomSubject::Kind { kind, word, text: Some(text) }, .. }) =
                &step.kind
            else {
                return;
            };
            let KindText::Text(text) = text else { return };
            let is_all = text.literal_text().is_some_and(|text| matches!(text, "**" | "**/*" | "*" | ""));
            if !is_all || !matches!(kind, StepWord::Read | StepWord::Write) {
                return;
            }
            let kind = kind.as_str();
            let message = format!("every file that is {kind}: each is compared with the glob");
            let mut diagnostic = Diagnostic::new(Slug::WideGlob, text.span, message)
                .with_help(format!("write `{kind}` alone, or name a folder"));
            if let Some(word) = word {
                diagnostic = diagnostic.with_fix("leave the glob out", Span { start: word.end, ..text.span }, "");
            }
            self.0.report(diagnostic);
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
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
                    .with_help(format!("name the fields: `{name}[*].args`, `{name}[*].result`")),
                );
            }
        }
    }
    walk::walk_file(context.ast(), &mut WideGlobVisitor(context));
}
