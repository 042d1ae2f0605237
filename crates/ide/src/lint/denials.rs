//! Lint for `deny` and `allow` without effect.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_checker::ir::{
    AssertionCheck, CheckedAssertion, CheckedPattern, PatternAlternative, Severity, Temporal, TypedExpr,
};
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{self, ItemKind, Modifier, ModifierKind, Name, SyntaxItem};

/// Reports `deny` and `allow` after an assertion that they cannot affect.
pub fn useless_denials(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut DenialVisitor(context));
}

struct DenialVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for DenialVisitor<'_, 'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        let ItemKind::Assertion(written) = &item.kind else { return };
        let denies = |one: &Modifier| matches!(one.kind, ModifierKind::Deny(_) | ModifierKind::Allow(_));
        if !written.modifiers.iter().any(denies) {
            return;
        }
        let checked = self.0.checked;
        let Some(assertion) = checked.module.assertions.iter().find(|one| one.span == written.statement.span) else {
            return;
        };
        for modifier in &written.modifiers {
            match &modifier.kind {
                ModifierKind::Deny(names) => self.check_modifier(written, assertion, modifier, names, "deny"),
                ModifierKind::Allow(names) => self.check_modifier(written, assertion, modifier, names, "allow"),
                _ => {}
            }
        }
    }
}

impl DenialVisitor<'_, '_> {
    fn check_modifier(
        &mut self,
        written: &ast::Assertion,
        assertion: &CheckedAssertion,
        modifier: &Modifier,
        names: &[Name],
        word: &str,
    ) {
        let (why, help) = if assertion.settings.severity != Severity::Error {
            ("only what has the severity `error` fails a run".to_owned(), "leave it out, or the severity".to_owned())
        } else if word == "allow" && self.has_threshold(assertion) {
            let why = "a rule with a threshold speaks for its assertions".to_owned();
            (why, format!("write `{}` as a line of the rule itself", self.0.span_text(modifier.span)))
        } else if let Some(name) = names.iter().find(|name| is_never(assertion, &name.text)) {
            let statement = self.0.span_text(written.statement.span);
            (format!("`{statement}` is never {}", name.text), format!("leave `{word} {}` out", name.text))
        } else {
            return;
        };
        let message = format!("this `{word}` changes nothing: {why}");
        self.0.report(Diagnostic::new(Slug::IdleDeny, modifier.span, message).with_help(help));
    }

    fn has_threshold(&self, assertion: &CheckedAssertion) -> bool {
        let rule = assertion.rule.and_then(|rule| self.0.checked.module.rules.get(rule as usize));
        rule.is_some_and(|rule| rule.threshold.is_some())
    }
}

/// True if an assertion can never have this outcome: its steps are matched by name only.
fn is_never(assertion: &CheckedAssertion, word: &str) -> bool {
    let AssertionCheck::Temporal(temporal) = &assertion.check else { return false };
    let asks_whether_steps_occur = matches!(
        temporal,
        Temporal::Require { .. }
            | Temporal::Never { .. }
            | Temporal::First { .. }
            | Temporal::Last { .. }
            | Temporal::Sequence { .. }
            | Temporal::Together { .. }
            | Temporal::Either { .. }
    );
    matches!(word, "vacuous" | "unjudged") && asks_whether_steps_occur && temporal.patterns().all(is_of_names)
}

fn is_of_names(pattern: &CheckedPattern) -> bool {
    let plain = |one: &PatternAlternative<TypedExpr>| {
        one.succeeded.is_none() && one.condition.is_none() && one.binds.is_empty() && one.joins.is_empty()
    };
    pattern.alternatives.iter().all(plain)
}
