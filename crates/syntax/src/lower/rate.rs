//! Lowers statements over all checked runs: `in at least 95% of runs: …`, `pass^4 by meta.task >= 60%: …` (language reference, section 12).

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{Expr, Name, NumberLiteral, RatedSubject, RunShare, StatementKind};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};

impl SyntaxLowering<'_> {
    /// Lowers `by meta.model`; the outer `None` means that it is invalid.
    #[allow(clippy::option_option, reason = "a mistake is not the same as nothing")]
    pub(super) fn lower_grouping(&mut self, children: &mut NodeChildren<'_>) -> Option<Option<Expr>> {
        let Some(node) = children.next_if_rule(Rule::grouping) else { return Some(None) };
        let mut children = NodeChildren::of_node(node);
        children.skip_word(Rule::k_by);
        Some(Some(self.lower_operand(children.next()?)?))
    }

    /// Lowers `in at least 95% of runs …` and `in at least 2 of 3 runs …`.
    pub(super) fn lower_rate(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let least = children.rest_rules().any(|rule| rule == Rule::k_least);
        let numbers: Vec<NumberLiteral> = self.numbers_before_runs(&mut children);
        let mut numbers = numbers.into_iter();
        let share = match (numbers.next()?, numbers.next(), least) {
            (passes, Some(of), true) => RunShare::LeastOf { passes, of },
            (most, Some(of), false) => return self.most_of(&most, &of),
            (share, None, true) => RunShare::Least(share),
            (share, None, false) => RunShare::Most(share),
        };
        let mut by = self.lower_grouping(&mut children)?;
        let confidence = children.next_if_rule(Rule::confidence).and_then(|node| {
            let number = NodeChildren::of_node(node).find(|child| child.as_rule() == Rule::number)?;
            Some(self.lower_number(&number))
        });
        if by.is_none() {
            by = self.lower_grouping(&mut children)?;
        }
        let rated = self.lower_rated(&mut children)?;
        Some(StatementKind::Rate { share, by, confidence, rated })
    }

    /// Lowers `pass^4 by meta.task >= 60%: …`.
    pub(super) fn lower_power(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let power = NodeChildren::of_node(children.next()?).find(|child| child.as_rule() == Rule::power)?;
        let power = self.lower_number(&power);
        let by = self.lower_grouping(&mut children)?;
        let share = children.find(|child| child.as_rule() == Rule::number)?;
        let share = RunShare::Power { power, share: self.lower_number(&share) };
        let rated = self.lower_rated(&mut children)?;
        Some(StatementKind::Rate { share, by, confidence: None, rated })
    }

    /// Reports `at most 1 of 3 runs`, which is not supported; such a rule is negated instead.
    fn most_of(&mut self, most: &NumberLiteral, of: &NumberLiteral) -> Option<StatementKind> {
        let message = format!("`at most {} of {} runs` is no form", most.text, of.text);
        self.report_diagnostic(
            Diagnostic::new(Slug::Syntax, most.span.cover_with(of.span), message)
                .with_help("say how many have to pass: `in at least 2 of 3 runs by meta.task: …`, or a share of all: `in at most 5% of runs: …`"),
        );
        None
    }

    fn numbers_before_runs(&mut self, children: &mut NodeChildren<'_>) -> Vec<NumberLiteral> {
        let mut numbers = Vec::new();
        for child in children.by_ref() {
            match child.as_rule() {
                Rule::number => numbers.push(self.lower_number(&child)),
                Rule::k_runs => break,
                _ => {}
            }
        }
        numbers
    }

    fn lower_rated(&mut self, children: &mut NodeChildren<'_>) -> Option<RatedSubject> {
        let node = children.find(|child| child.as_rule() == Rule::rated)?;
        let inner: GrammarPair<'_> = NodeChildren::of_node(node).next()?;
        if inner.as_rule() != Rule::rated_rule {
            let span = self.node_span(&inner);
            return Some(RatedSubject::Statement(Box::new(
                self.with_depth(1, span, |lower| lower.lower_statement(inner))?,
            )));
        }
        let name = NodeChildren::of_node(inner).find(|child| child.as_rule() == Rule::label)?;
        Some(RatedSubject::Rule(Name { text: name.as_str().trim_end().to_owned(), span: self.node_span(&name) }))
    }
}
