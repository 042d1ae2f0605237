//! `deny` and `allow` that change nothing.

use super::context::Context;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_engine::ir::{Alternative, Assertion, Check, Expr, Pattern, Severity, Temporal};
use averment_syntax::ast::walk::{self, Visit};
use averment_syntax::ast::{self, Item, ItemKind, Modifier, ModifierKind, Name};

/// `deny` and `allow` behind an assertion to which they can do nothing.
pub fn denials(context: &mut Context<'_>) {
    walk::file(context.ast(), &mut Denials(context));
}

struct Denials<'c, 'a>(&'c mut Context<'a>);

impl<'a> Visit<'a> for Denials<'_, 'a> {
    fn item(&mut self, item: &'a Item) {
        let ItemKind::Assertion(written) = &item.kind else { return };
        let checked = self.0.checked;
        let Some(assertion) = checked.module.assertions.iter().find(|one| one.span == written.statement.span) else {
            return;
        };
        for modifier in &written.modifiers {
            match &modifier.kind {
                ModifierKind::Deny(names) => self.modifier(written, assertion, modifier, names, "deny"),
                ModifierKind::Allow(names) => self.modifier(written, assertion, modifier, names, "allow"),
                _ => {}
            }
        }
    }
}

impl Denials<'_, '_> {
    fn modifier(
        &mut self,
        written: &ast::Assertion,
        assertion: &Assertion,
        modifier: &Modifier,
        names: &[Name],
        word: &str,
    ) {
        let (why, help) = if assertion.settings.severity != Severity::Error {
            ("only what has the severity `error` fails a run".to_owned(), "leave it out, or the severity".to_owned())
        } else if word == "allow" && self.is_spoken_for(assertion) {
            let why = "a rule with a threshold speaks for its assertions".to_owned();
            (why, format!("write `{}` as a line of the rule itself", self.0.text(modifier.span)))
        } else if let Some(name) = names.iter().find(|name| is_never(assertion, &name.text)) {
            let statement = self.0.text(written.statement.span);
            (format!("`{statement}` is never {}", name.text), format!("leave `{word} {}` out", name.text))
        } else {
            return;
        };
        let message = format!("this `{word}` changes nothing: {why}");
        self.0.report(Diagnostic::new(Slug::IdleDeny, modifier.span, message).help(help));
    }

    fn is_spoken_for(&self, assertion: &Assertion) -> bool {
        let rule = assertion.rule.and_then(|rule| self.0.checked.module.rules.get(rule as usize));
        rule.is_some_and(|rule| rule.threshold.is_some())
    }
}

/// Whether an assertion never comes out as the word says, whatever the run: its steps are told by their names alone.
fn is_never(assertion: &Assertion, word: &str) -> bool {
    let Check::Temporal(temporal) = &assertion.check else { return false };
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

fn is_of_names(pattern: &Pattern) -> bool {
    let plain = |one: &Alternative<Expr>| {
        one.succeeded.is_none() && one.condition.is_none() && one.binds.is_empty() && one.joins.is_empty()
    };
    pattern.alternatives.iter().all(plain)
}
