//! Lowers `calls match VALUE` with its clauses.

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{ArgumentMatch, MatchExtent, MatchOrder, Name, NumberLiteral, StatementKind};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};

/// The clauses after the expected calls.
#[derive(Default)]
struct MatchClauses {
    order: Option<MatchOrder>,
    arguments: Option<ArgumentMatch>,
    folded: bool,
    ignored: Vec<Name>,
    score: Option<NumberLiteral>,
}

impl SyntaxLowering<'_> {
    pub(super) fn lower_match(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        children.skip_word(Rule::k_calls);
        children.skip_word(Rule::k_match);
        let extent = children.next_if_rule(Rule::match_extent).map_or(MatchExtent::Exactly, |node| {
            NodeChildren::of_node(node).next().map_or(MatchExtent::Exactly, |word| match word.as_rule() {
                Rule::k_subset => MatchExtent::Subset,
                Rule::k_superset => MatchExtent::Superset,
                _ => MatchExtent::Exactly,
            })
        });
        let expected = self.lower_value(children.find(|child| child.as_rule() == Rule::value)?)?;
        let mut clauses = MatchClauses::default();
        let mut seen = Vec::new();
        for clause in children.filter(|child| child.as_rule() == Rule::match_clause) {
            let clause = NodeChildren::of_node(clause).next()?;
            if seen.contains(&clause.as_rule()) {
                self.repeated_clause(&clause);
            }
            seen.push(clause.as_rule());
            self.lower_clause(clause, &mut clauses)?;
        }
        let MatchClauses { order, arguments, folded, ignored, score } = clauses;
        let arguments = arguments.unwrap_or(ArgumentMatch::Exact);
        Some(StatementKind::CallsMatch { expected, extent, order, arguments, folded, ignored, score })
    }

    fn lower_clause(&mut self, clause: GrammarPair<'_>, clauses: &mut MatchClauses) -> Option<()> {
        let rule = clause.as_rule();
        clauses.folded |= rule == Rule::k_folded;
        for child in NodeChildren::of_node(clause) {
            match child.as_rule() {
                Rule::k_order if rule == Rule::match_order => {
                    clauses.order.get_or_insert(MatchOrder::Kept);
                }
                Rule::k_any => clauses.order = Some(MatchOrder::Any),
                Rule::k_repeats => clauses.order = Some(MatchOrder::Repeated),
                Rule::k_exact => clauses.arguments = Some(ArgumentMatch::Exact),
                Rule::k_named => clauses.arguments = Some(ArgumentMatch::Named),
                Rule::k_optional => clauses.arguments = Some(ArgumentMatch::Optional),
                Rule::k_accepted => clauses.arguments = Some(ArgumentMatch::Accepted),
                Rule::k_ignored if rule == Rule::match_arguments => clauses.arguments = Some(ArgumentMatch::Ignored),
                Rule::ignored_keys => {
                    for key in NodeChildren::of_node(child).filter(|key| key.as_rule() == Rule::object_key) {
                        clauses.ignored.push(self.object_key(key, "…")?);
                    }
                }
                Rule::number => clauses.score = Some(self.lower_number(&child)),
                _ => {}
            }
        }
        Some(())
    }

    fn repeated_clause(&mut self, clause: &GrammarPair<'_>) {
        let message = format!("`{}` stands behind another clause of its kind", clause.as_str().trim_end());
        let place = self.node_span(clause);
        self.report_diagnostic(Diagnostic::new(Slug::Syntax, place, message).with_help("leave one of them out"));
    }
}
