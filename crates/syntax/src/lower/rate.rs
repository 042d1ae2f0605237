//! Statements over all runs that are checked: `in at least 95% of runs: …`, `pass^4 by meta.task >= 60%: …` (language reference, section 12).

use super::{Children, Lower, Node};
use crate::ast::{Expr, Name, Number, Rated, RunShare, StatementKind};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};

impl Lower<'_> {
    /// `by meta.model`, where it stands there; the outer `None` for one with a mistake.
    #[allow(clippy::option_option, reason = "a mistake is not the same as nothing")]
    pub(super) fn grouping(&mut self, children: &mut Children<'_>) -> Option<Option<Expr>> {
        let Some(node) = children.opt(Rule::grouping) else { return Some(None) };
        let mut children = Children::of(node);
        children.word(Rule::k_by);
        Some(Some(self.operand(children.next()?)?))
    }

    /// `in at least 95% of runs …`, `in at least 2 of 3 runs …`.
    pub(super) fn rate(&mut self, mut children: Children<'_>) -> Option<StatementKind> {
        let least = children.rest().any(|rule| rule == Rule::k_least);
        let numbers: Vec<Number> = self.numbers_before_runs(&mut children);
        let mut numbers = numbers.into_iter();
        let share = match (numbers.next()?, numbers.next(), least) {
            (passes, Some(of), true) => RunShare::LeastOf { passes, of },
            (most, Some(of), false) => return self.most_of(&most, &of),
            (share, None, true) => RunShare::Least(share),
            (share, None, false) => RunShare::Most(share),
        };
        let mut by = self.grouping(&mut children)?;
        let confidence = children.opt(Rule::confidence).and_then(|node| {
            let number = Children::of(node).find(|child| child.as_rule() == Rule::number)?;
            Some(self.number(&number))
        });
        if by.is_none() {
            by = self.grouping(&mut children)?;
        }
        let rated = self.rated(&mut children)?;
        Some(StatementKind::Rate { share, by, confidence, rated })
    }

    /// `pass^4 by meta.task >= 60%: …`.
    pub(super) fn power(&mut self, mut children: Children<'_>) -> Option<StatementKind> {
        let power = Children::of(children.next()?).find(|child| child.as_rule() == Rule::power)?;
        let power = self.number(&power);
        let by = self.grouping(&mut children)?;
        let share = children.find(|child| child.as_rule() == Rule::number)?;
        let share = RunShare::Power { power, share: self.number(&share) };
        let rated = self.rated(&mut children)?;
        Some(StatementKind::Rate { share, by, confidence: None, rated })
    }

    /// `at most 1 of 3 runs` is not a form: what must not be said of many runs is said the other way round.
    fn most_of(&mut self, most: &Number, of: &Number) -> Option<StatementKind> {
        let message = format!("`at most {} of {} runs` is no form", most.text, of.text);
        self.report(
            Diagnostic::new(Slug::Syntax, most.span.to(of.span), message)
                .help("say how many have to pass: `in at least 2 of 3 runs by meta.task: …`, or a share of all: `in at most 5% of runs: …`"),
        );
        None
    }

    fn numbers_before_runs(&mut self, children: &mut Children<'_>) -> Vec<Number> {
        let mut numbers = Vec::new();
        for child in children.by_ref() {
            match child.as_rule() {
                Rule::number => numbers.push(self.number(&child)),
                Rule::k_runs => break,
                _ => {}
            }
        }
        numbers
    }

    fn rated(&mut self, children: &mut Children<'_>) -> Option<Rated> {
        let node = children.find(|child| child.as_rule() == Rule::rated)?;
        let inner: Node<'_> = Children::of(node).next()?;
        if inner.as_rule() != Rule::rated_rule {
            let span = self.span(&inner);
            return Some(Rated::Statement(Box::new(self.deeper(1, span, |lower| lower.statement(inner))?)));
        }
        let name = Children::of(inner).find(|child| child.as_rule() == Rule::label)?;
        Some(Rated::Rule(Name { text: name.as_str().trim_end().to_owned(), span: self.span(&name) }))
    }
}
