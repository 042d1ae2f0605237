//! `calls match VALUE`: expected calls that stand in the data.

use super::Checker;
use super::scope::NameScope;
use super::settings::value_of;
use crate::ir::{CallMatching, CheckedPattern, Temporal, Type, TypedExpr};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, ArgumentMatch, MatchExtent, MatchOrder, StatementKind};

impl<'a> Checker<'a> {
    pub(super) fn calls_match(
        &mut self,
        scope: &NameScope<'a>,
        statement: &'a StatementKind,
    ) -> Temporal<CheckedPattern, TypedExpr> {
        let StatementKind::CallsMatch { expected, extent, order, arguments, folded, ignored, score } = statement else {
            return Temporal::Never { steps: Vec::new() };
        };
        let checked = self.check_expr(scope, expected);
        let class = checked.ty.comparison_class();
        if let (Some(class), false) = (class, matches!(checked.ty.to_ir_type(), Type::Any | Type::List | Type::Object))
        {
            let text = self.source_line(expected.span);
            let message = format!("`{text}` is {}, and `calls match` needs a list of calls", class.noun());
            self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, expected.span, message).with_help(
                "write the path of the expected calls, such as `inputs.expected_calls`, or `[{ tool: \"search\", args: { q: \"x\" } }]`",
            ));
        }
        let is_bare = *arguments == ArgumentMatch::Ignored;
        let first = ignored.first().map(|key| key.span);
        self.refuse_clause(
            is_bare && first.is_some(),
            first.unwrap_or(expected.span),
            "`ignoring` has no meaning here: `arguments ignored` compares no argument",
        );
        self.refuse_clause(
            is_bare && *folded,
            expected.span,
            "`folded` has no meaning here: `arguments ignored` compares no text",
        );
        let matching = CallMatching {
            extent: *extent,
            in_order: order.map_or(*extent == MatchExtent::Exactly, |order| order == MatchOrder::Kept),
            arguments: *arguments,
            folded: *folded,
            ignored: ignored.iter().map(|name| name.text.clone()).collect(),
            repeats_ignored: *order == Some(MatchOrder::Repeated),
            least_score: score.as_ref().and_then(|score| self.least_score(score)),
        };
        Temporal::CallsMatch { expected: checked.expr, matching }
    }

    /// Reports a clause that another one leaves without a meaning.
    fn refuse_clause(&mut self, is_idle: bool, place: Span, message: &str) {
        if is_idle {
            let found = Diagnostic::new(Slug::Misplaced, place, message.to_owned());
            self.report_diagnostic(found.with_help("leave one of the clauses out"));
        }
    }

    /// A share above 0 and at most 1.
    fn least_score(&mut self, number: &'a ast::NumberLiteral) -> Option<f64> {
        let value = value_of(number)?;
        if value > 0.0 && value <= 1.0 {
            return Some(value);
        }
        let message = format!("a score is between 0 and 1, and `{}` is not above 0 and at most 1", number.text);
        self.report_diagnostic(
            Diagnostic::new(Slug::Impossible, number.span, message).with_help("write `score >= 0.8` or `score >= 80%`"),
        );
        None
    }
}
