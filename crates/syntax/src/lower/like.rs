//! Lowers shorthands for function calls: `VALUE like PART` and the statement `score VALUE`.

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{
    Expr, ExprKind, Name, NumberLiteral, NumberUnit, StatementKind, TestKind, TextLiteral, TextPart, ValueTest,
};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

/// The function that `like` calls.
const LIKE: &str = "is_like";
/// The function that the statement `score` calls.
const SCORE: &str = "score";

impl SyntaxLowering<'_> {
    /// Lowers `VALUE not like PART ignoring [id] in any order folded`.
    pub(super) fn lower_like(&mut self, subject: Expr, node: GrammarPair<'_>) -> Option<Expr> {
        let span = subject.span.cover_with(self.node_span(&node));
        let test = NodeChildren::of_node(node).find(|child| child.as_rule() == Rule::test_like)?;
        let (mut negated, mut part, mut word) = (false, None, span);
        let (mut ignored, mut options) = (Vec::new(), Vec::new());
        for child in NodeChildren::of_node(test) {
            match child.as_rule() {
                Rule::k_not => negated = true,
                Rule::k_like => word = self.node_span(&child),
                Rule::value => part = Some(self.lower_value(child)?),
                Rule::like_order => options.push("in any order"),
                Rule::k_folded => options.push("folded"),
                Rule::like_ignored => {
                    let keys = NodeChildren::of_node(child).find(|list| list.as_rule() == Rule::ignored_keys)?;
                    for key in NodeChildren::of_node(keys).filter(|key| key.as_rule() == Rule::object_key) {
                        let Name { text, span } = self.object_key(key, "…")?;
                        ignored.push(text_expr(text, span));
                    }
                }
                _ => {}
            }
        }
        let part = part?;
        if matches!(part.kind, ExprKind::Text(_)) && !options.contains(&"folded") {
            // In other languages, the text after `like` is a pattern or a substring.
            let (left, right) = (self.source_text(subject.span).to_owned(), self.source_text(part.span).to_owned());
            let message = "this is written `contains`, not `like`";
            let help = format!("write `{left} contains {right}`");
            self.report_diagnostic(Diagnostic::new(Slug::Syntax, word, message).with_help(help));
        }
        let mut arguments = vec![subject, part];
        if !ignored.is_empty() || !options.is_empty() {
            arguments.push(Expr { kind: ExprKind::List(ignored), span: word });
        }
        if !options.is_empty() {
            arguments.push(text_expr(options.join(", "), word));
        }
        let name = Name { text: LIKE.to_owned(), span: word };
        let call = Expr { kind: ExprKind::Call { name, arguments, piped: false }, span };
        Some(if negated { Expr { kind: ExprKind::Not(Box::new(call)), span } } else { call })
    }

    /// Lowers `score VALUE >= 0.8`; without a test, any score passes.
    pub(super) fn lower_score(
        &mut self,
        node: &GrammarPair<'_>,
        mut children: NodeChildren<'_>,
    ) -> Option<StatementKind> {
        let span = self.node_span(node);
        let word = self.node_span(&children.next_if_rule(Rule::score_word)?);
        let value = self.lower_value(children.next_if_rule(Rule::value)?)?;
        let (mut operator, mut least) = (word, None);
        for child in children {
            match child.as_rule() {
                Rule::at_least_sign => operator = self.node_span(&child),
                Rule::number => least = Some(self.lower_number(&child)),
                _ => {}
            }
        }
        let any = || NumberLiteral { text: "0".to_owned(), value: "0".to_owned(), unit: NumberUnit::None, span: word };
        let least = least.unwrap_or_else(any);
        let place = least.span;
        let inner = value.span;
        let name = Name { text: SCORE.to_owned(), span: word };
        let subject =
            Expr { kind: ExprKind::Call { name, arguments: vec![value], piped: false }, span: word.cover_with(inner) };
        let operand = Expr { kind: ExprKind::Number(least), span: place };
        let test = ValueTest {
            kind: TestKind::GreaterOrEqual,
            negated: false,
            operand: Some(Box::new(operand)),
            name: None,
            operator,
            span: operator.cover_with(place),
        };
        Some(StatementKind::Expression(Expr { kind: ExprKind::Test { subject: Box::new(subject), test }, span }))
    }
}

fn text_expr(text: String, span: Span) -> Expr {
    let parts = vec![TextPart::Literal(text)];
    Expr { kind: ExprKind::Text(TextLiteral { parts, span }), span }
}
