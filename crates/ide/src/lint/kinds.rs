//! Lint for tool names that are similar to a kind of step.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_checker::DeclarationKind;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Atom, AtomSubject, PatternForm, StepPattern};
use averment_syntax::near_keywords;
use std::collections::BTreeSet;

/// Reports bare tool names that are a typo of a kind of step, unless such a tool or step is declared.
pub fn near_kind_names(context: &mut LintContext<'_>) {
    let declared = context.checked.symbols.declarations.iter();
    let own = |kind| matches!(kind, DeclarationKind::DefStep | DeclarationKind::Tool);
    let mut known: BTreeSet<&str> = declared.filter(|one| own(one.kind)).map(|one| one.name.as_str()).collect();
    known.extend(context.checked.module.tools.iter().map(|tool| tool.name.as_str()));
    // A name that is called with arguments is a tool, not a typo: `handoff(to: "billing")`.
    let mut called = CalledTools(BTreeSet::new());
    walk::walk_file(context.ast(), &mut called);
    known.extend(called.0);
    walk::walk_file(context.ast(), &mut NameVisitor(context, known));
}

struct CalledTools<'a>(BTreeSet<&'a str>);

impl<'a> SyntaxVisitor<'a> for CalledTools<'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        if let PatternForm::Atom(Atom { subject: AtomSubject::Tool(name), arguments: Some(_), .. }) = &step.kind
            && near_keywords::is_tool_too(&name.text)
        {
            self.0.insert(name.text.as_str());
        }
    }
}

struct NameVisitor<'c, 'a>(&'c mut LintContext<'a>, BTreeSet<&'a str>);

impl<'a> SyntaxVisitor<'a> for NameVisitor<'_, 'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { subject: AtomSubject::Tool(name), arguments, status, by, tagged, .. }) =
            &step.kind
        else {
            return;
        };
        if self.1.contains(name.text.as_str()) {
            return;
        }
        let meant = near_keywords::meant_by_list(&name.text);
        let Some(kind) = near_keywords::near_kind(&name.text) else {
            if let Some(meant) = meant {
                let message = format!("`{}` is the name of a tool here", name.text);
                let help = format!("{meant}; a tool of this name is quoted: `\"{}\"`", name.text);
                self.0.report(Diagnostic::new(Slug::NearlyAKind, name.span, message).with_help(help));
            }
            return;
        };
        let (what, of) = match kind {
            "any" => (meant.unwrap_or_default(), "every call"),
            "any failed" | "proposed any" => (meant.unwrap_or_default(), "those"),
            _ => (format!("nearly the kind of step `{kind}`"), "the kind"),
        };
        let message = format!("`{}` is the name of a tool here; {what}", name.text);
        let help = format!("write `{kind}` for {of}, or quote the name of the tool: `\"{}\"`", name.text);
        let diagnostic = Diagnostic::new(Slug::NearlyAKind, name.span, message).with_help(help);
        // A word such as `failed` follows the arguments, so no fix is offered.
        let behind =
            kind.contains(' ') && (arguments.is_some() || status.is_some() || by.is_some() || tagged.is_some());
        self.0.report(if behind {
            diagnostic
        } else {
            diagnostic.with_fix(format!("write `{kind}`"), name.span, kind)
        });
    }
}
