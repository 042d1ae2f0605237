//! `count A <= 5 within 10s`, `sum(E of A) <= 5 in a row`: a condition around every step that matches.

use super::Checker;
use super::expr::Typed;
use super::scope::Scope;
use super::selections::selections;
use super::temporal::CheckedStatement;
use super::walk;
use crate::ir::{Check, Reach, Temporal};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::run::Kind;
use averment_syntax::ast::{self, Over, Quantifier};

impl<'a> Checker<'a> {
    /// The condition is that of every step which the one list in it is made of.
    pub(super) fn sliding(
        &mut self,
        scope: &Scope<'a>,
        condition: &'a ast::Expr,
        over: &'a Over,
        span: Span,
    ) -> CheckedStatement {
        let (reach, word, place) = match over {
            Over::Within(within) => (self.within(within).map(Reach::Within), "within", within.span),
            Over::Row(place) => (Some(Reach::Row), "in a row", *place),
        };
        let inner = Scope { binds: true, reach: Some(reach.unwrap_or(Reach::Run)), ..scope.clone() };
        let mut condition = self.condition(&inner, condition);
        let mut found = Vec::new();
        selections(&condition, &mut found);
        found.retain(|selection| selection.reach != Reach::SoFar);
        let [selection] = found.as_slice() else {
            self.report_no_list(word, place, found.len());
            return Check::Expression(Typed::broken(span).expr);
        };
        let step = selection.pattern.clone();
        let other = step.alternatives.iter().find(|alternative| alternative.kind != Kind::Call);
        if let (Reach::Row, Some(other)) = (selection.reach, other) {
            let message = format!("`in a row` speaks of calls alone, and this is a {}", other.kind.as_str());
            self.report(
                Diagnostic::new(Slug::CallsOnly, step.span, message).help("name tools, or leave `in a row` out"),
            );
        }
        if let [alternative] = step.alternatives.as_slice() {
            walk::substitute(&mut condition, &alternative.binds);
        }
        Check::Temporal(Temporal::Each { quantifier: Quantifier::Each, step, condition })
    }

    fn report_no_list(&mut self, word: &str, place: Span, found: usize) {
        let (message, help) = match found {
            0 => (
                format!("`{word}` has no steps to look at"),
                format!("write it behind a count or a list of steps: `count refund <= 5 {}`", example(word)),
            ),
            _ => (
                format!("`{word}` goes around one list of steps, and this has {found}"),
                "compare one count or list with a value".to_owned(),
            ),
        };
        self.report(Diagnostic::new(Slug::Misplaced, place, message).help(help));
    }
}

fn example(word: &str) -> &str {
    if word == "within" { "within 10s" } else { word }
}
