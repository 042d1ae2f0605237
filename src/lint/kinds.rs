//! Tools that are named like kinds of steps, nearly.

use super::context::Context;
use super::walk::{self, Visit};
use crate::check::DeclarationKind;
use crate::diagnostic::{Diagnostic, Slug};
use crate::syntax::ast::{Atom, Step, StepKind, Subject};
use crate::syntax::near;
use std::collections::BTreeSet;

/// Bare names of tools that are a slip of the keys away from a kind of step, where no such tool or step is declared.
pub fn nearly(context: &mut Context<'_>) {
    let declared = context.checked.symbols.declarations.iter();
    let own = |kind| matches!(kind, DeclarationKind::DefStep | DeclarationKind::Tool);
    let mut known: BTreeSet<&str> = declared.filter(|one| own(one.kind)).map(|one| one.name.as_str()).collect();
    known.extend(context.checked.module.tools.iter().map(|tool| tool.name.as_str()));
    walk::file(context.ast(), &mut Names(context, known));
}

struct Names<'c, 'a>(&'c mut Context<'a>, BTreeSet<&'a str>);

impl<'a> Visit<'a> for Names<'_, 'a> {
    fn step(&mut self, step: &'a Step) {
        let StepKind::Atom(Atom { subject: Subject::Tool(name), .. }) = &step.kind else { return };
        let Some(kind) = near::kind(&name.text).filter(|_| !self.1.contains(name.text.as_str())) else { return };
        let message = format!("`{}` is a tool here, and nearly the kind of step `{kind}`", name.text);
        self.0.report(
            Diagnostic::new(Slug::NearlyAKind, name.span, message)
                .help(format!("write `{kind}` for the kind, or quote the name of the tool: `\"{}\"`", name.text))
                .fix(format!("write `{kind}`"), name.span, kind),
        );
    }
}
