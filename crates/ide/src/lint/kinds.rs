//! Tools that are named like kinds of steps, nearly.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_checker::DeclarationKind;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Atom, AtomSubject, PatternForm, StepPattern};
use averment_syntax::near_keywords;
use std::collections::BTreeSet;

/// Bare names of tools that are a slip of the keys away from a kind of step, where no such tool or step is declared.
pub fn near_kind_names(context: &mut LintContext<'_>) {
    let declared = context.checked.symbols.declarations.iter();
    let own = |kind| matches!(kind, DeclarationKind::DefStep | DeclarationKind::Tool);
    let mut known: BTreeSet<&str> = declared.filter(|one| own(one.kind)).map(|one| one.name.as_str()).collect();
    known.extend(context.checked.module.tools.iter().map(|tool| tool.name.as_str()));
    walk::walk_file(context.ast(), &mut NameVisitor(context, known));
}

struct NameVisitor<'c, 'a>(&'c mut LintContext<'a>, BTreeSet<&'a str>);

impl<'a> SyntaxVisitor<'a> for NameVisitor<'_, 'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { subject: AtomSubject::Tool(name), arguments, status, by, tagged, .. }) =
            &step.kind
        else {
            return;
        };
        let Some(kind) = near_keywords::near_kind(&name.text).filter(|_| !self.1.contains(name.text.as_str())) else {
            return;
        };
        let (what, of) = match kind {
            "any" => ("calls of any tool are `any`".to_owned(), "every call"),
            "any failed" => ("calls that failed are `any failed`".to_owned(), "those"),
            _ => (format!("nearly the kind of step `{kind}`"), "the kind"),
        };
        let message = format!("`{}` is the name of a tool here; {what}", name.text);
        let help = format!("write `{kind}` for {of}, or quote the name of the tool: `\"{}\"`", name.text);
        let diagnostic = Diagnostic::new(Slug::NearlyAKind, name.span, message).with_help(help);
        // `failed` stands behind the arguments.
        let behind =
            kind == "any failed" && (arguments.is_some() || status.is_some() || by.is_some() || tagged.is_some());
        self.0.report(if behind {
            diagnostic
        } else {
            diagnostic.with_fix(format!("write `{kind}`"), name.span, kind)
        });
    }
}
