//! Lowers expressions: logic, comparisons, operands (language reference, section 4).

use super::chain::ImpliesChain;
use super::qualifiers::is_qualifier;
use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{BinaryOperator, Expr, ExprKind, ExprQuantifier, Name, PredicateTarget, SoFarReach, TestKind};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

impl SyntaxLowering<'_> {
    pub(crate) fn lower_expression(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let mut chain = ImpliesChain::default();
        let mut operator: Option<(BinaryOperator, Span)> = None;
        let mut nots: Vec<Span> = Vec::new();
        for child in NodeChildren::of_node(node) {
            let span = self.node_span(&child);
            match child.as_rule() {
                Rule::k_not => nots.push(span),
                Rule::k_and => operator = Some((BinaryOperator::And, span)),
                Rule::k_or => operator = Some((BinaryOperator::Or, span)),
                Rule::k_implies => operator = Some((BinaryOperator::Implies, span)),
                _ => {
                    let levels = nots.len() + chain.implies_depth();
                    let operand = self.with_depth(levels, span, |lower| lower.lower_comparison(child))?;
                    let negated = nots.drain(..).rev().fold(operand, |inner, not| {
                        let span = not.cover_with(inner.span);
                        Expr { kind: ExprKind::Not(Box::new(inner)), span }
                    });
                    chain.push_operand(operator.take(), negated);
                }
            }
        }
        chain.build_chain()
    }

    pub(crate) fn lower_lone_expression(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        self.lower_expression(NodeChildren::of_node(node).next()?)
    }

    fn lower_comparison(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let mut children = NodeChildren::of_node(node);
        let value = children.next_if_rule(Rule::value)?;
        let mut result = self.lower_value(value)?;
        let mut tested = false;
        for child in children {
            if tested {
                self.second_test(&result, &child);
                break;
            }
            if child.clone().into_inner().any(|inner| inner.as_rule() == Rule::test_like) {
                result = self.lower_like(result, child)?;
                tested = true;
                continue;
            }
            let test = self.lower_test(child)?;
            let span = result.span.cover_with(test.span);
            result = Expr { kind: ExprKind::Test { subject: Box::new(result), test }, span };
            tested = true;
        }
        Some(result)
    }

    /// Reports a second test, because tests cannot be chained.
    fn second_test(&mut self, first: &Expr, second: &GrammarPair<'_>) {
        let operator = NodeChildren::of_node(second.clone())
            .next()
            .map_or_else(|| self.node_span(second), |sign| self.node_span(&sign));
        let written = self.source_text(first.span).to_owned();
        let rest = self.node_text(second).to_owned();
        let help = match self.quantifier {
            Some(quantifier) => {
                let whole = self.source_text(quantifier.cover_with(first.span)).to_owned();
                format!(
                    "to test the quantifier put it in parentheses: `({whole}) {rest}`, or `(count x in output.items: x.ok) == 2`"
                )
            }
            None => match (compared_with_truth(&rest), middle_operand(first)) {
                (Some(false), _) => format!("a test is true or false by itself: write `{written}`"),
                (Some(true), _) => format!("a test is true or false by itself: write `not {written}`"),
                (None, Some(middle)) => {
                    format!("join two tests with `and`: `{written} and {} {rest}`", self.source_text(middle))
                }
                (None, None) => {
                    format!("put the first in parentheses, `({written}) {rest}`, or join two tests with `and`")
                }
            },
        };
        self.report_diagnostic(
            Diagnostic::new(Slug::Syntax, operator, "a second test behind a test: tests do not chain").with_help(help),
        );
    }

    pub(super) fn source_text(&self, span: Span) -> &str {
        let local = |offset: u32| {
            let at = (offset as usize).checked_sub(self.place.base)?;
            if at <= self.place.cut_at { Some(at) } else { at.checked_sub(self.place.cut_length) }
        };
        match (local(span.start), local(span.end)) {
            (Some(start), Some(end)) => self.text.get(start..end).unwrap_or(""),
            _ => "",
        }
    }

    pub(super) fn lower_operand(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let mut children = NodeChildren::of_node(node).collect::<Vec<_>>().into_iter();
        let length = children.len();
        let primary = children.next()?;
        self.with_chain(length, span, |lower| {
            let mut result = lower.lower_primary(primary)?;
            for child in children {
                let span = result.span.cover_with(lower.node_span(&child));
                let kind = lower.lower_postfix(result, child)?;
                result = Expr { kind, span };
            }
            Some(result)
        })
    }

    fn lower_postfix(&mut self, base: Expr, node: GrammarPair<'_>) -> Option<ExprKind> {
        match node.as_rule() {
            Rule::field => {
                let span = self.node_span(&node);
                let mut name = node
                    .into_inner()
                    .next()
                    .map(|name| self.node_name(&name))
                    .unwrap_or(Name { text: String::new(), span });
                name.span.end = span.end;
                Some(ExprKind::Field { base: Box::new(base), name })
            }
            Rule::index => self.lower_index(base, node),
            _ => self.lower_call(base, node),
        }
    }

    fn lower_index(&mut self, base: Expr, node: GrammarPair<'_>) -> Option<ExprKind> {
        let base = Box::new(base);
        let span = self.node_span(&node);
        let inner = NodeChildren::of_node(node).next()?;
        match inner.as_rule() {
            Rule::every => Some(ExprKind::Every { base }),
            Rule::deep => Some(ExprKind::Deep { base }),
            _ => {
                let index = self.in_brackets(span, |lower| lower.lower_expression(inner))?;
                Some(ExprKind::Index { base, index: Box::new(index) })
            }
        }
    }

    fn lower_call(&mut self, base: Expr, node: GrammarPair<'_>) -> Option<ExprKind> {
        let span = self.node_span(&node);
        let written = self.node_text(&node).to_owned();
        let arguments = self.in_brackets(span, |lower| lower.lower_expressions(node))?;
        if let ExprKind::Name(text) = base.kind {
            return Some(ExprKind::Call { name: Name { text, span: base.span }, arguments, piped: false });
        }
        let subject = self.source_text(base.span).to_owned();
        let (help, name) = match &base.kind {
            ExprKind::Field { base, name } => {
                let inside = written.trim_start_matches('(').trim_end_matches(')').trim();
                let comma = if inside.is_empty() { "" } else { ", " };
                let first = self.source_text(base.span);
                (
                    format!("functions take what they work on as an argument: `{}({first}{comma}{inside})`", name.text),
                    name.clone(),
                )
            }
            _ => (
                "write the name of a function in front of the parentheses".to_owned(),
                Name { text: String::new(), span },
            ),
        };
        self.report_error(
            span.at_start(),
            format!("`{subject}` is not the name of a function, so it cannot be called"),
            help,
        );
        Some(ExprKind::Call { name, arguments, piped: false })
    }

    fn lower_expressions(&mut self, node: GrammarPair<'_>) -> Option<Vec<Expr>> {
        NodeChildren::of_node(node).map(|child| self.lower_collected(child)).collect()
    }

    fn lower_collected(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        if node.as_rule() != Rule::collected {
            return self.lower_expression(node);
        }
        let mut children = NodeChildren::of_node(node);
        let value = self.lower_expression(children.next()?)?;
        let Some(tail) = children.next() else { return Some(value) };
        let span = value.span.cover_with(self.node_span(&tail));
        let rule = tail.as_rule();
        self.with_depth(1, span, |lower| {
            if rule == Rule::where_tail {
                return lower.lower_filtered(value, tail);
            }
            let kind = lower.lower_of(value, tail)?;
            Some(Expr { kind, span })
        })
    }

    fn lower_filtered(&mut self, list: Expr, tail: GrammarPair<'_>) -> Option<Expr> {
        let span = list.span.cover_with(self.node_span(&tail));
        let condition = NodeChildren::of_node(tail).find(|child| child.as_rule() == Rule::expression)?;
        let condition = Box::new(self.lower_expression(condition)?);
        Some(Expr { kind: ExprKind::Filtered { list: Box::new(list), condition }, span })
    }

    fn lower_of(&mut self, value: Expr, tail: GrammarPair<'_>) -> Option<ExprKind> {
        let value = Box::new(value);
        let mut children = NodeChildren::of_node(tail);
        children.skip_word(Rule::k_of);
        let target = children.next()?;
        if target.as_rule() == Rule::all_runs {
            let mut children = NodeChildren::of_node(target);
            children.skip_word(Rule::k_runs);
            let by = self.lower_grouping(&mut children)?.map(Box::new);
            return Some(ExprKind::OverRuns { value, by });
        }
        let span = self.node_span(&target);
        if target.as_rule() == Rule::step {
            let (step, expr) = (Some(self.lower_step(target)?), None);
            let so_far = lower_so_far(&mut children);
            return Some(ExprKind::Of { value, target: Box::new(PredicateTarget { expr, step, span }), so_far });
        }
        let list = self.lower_expression(target)?;
        let list = match children.next_if_rule(Rule::where_tail) {
            Some(tail) => self.lower_filtered(list, tail)?,
            None => list,
        };
        let target = PredicateTarget { span: list.span, expr: Some(list), step: None };
        Some(ExprKind::Of { value, target: Box::new(target), so_far: None })
    }

    fn lower_counted(&mut self, node: GrammarPair<'_>) -> Option<ExprKind> {
        let mut children = NodeChildren::of_node(node);
        children.skip_word(Rule::k_count);
        let pattern = children.next()?;
        let mut step = Box::new(self.pattern_list(|lower| lower.step_part(pattern))?);
        while children.peek_rule().is_some_and(is_qualifier) {
            self.qualify_group(&mut step, children.next()?)?;
        }
        Some(ExprKind::Counted { step, so_far: lower_so_far(&mut children) })
    }

    fn lower_primary(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let kind = match node.as_rule() {
            Rule::name => ExprKind::Name(node.as_str().to_owned()),
            Rule::literal_word => match node.as_str() {
                "true" => ExprKind::Boolean(true),
                "false" => ExprKind::Boolean(false),
                _ => ExprKind::Null,
            },
            Rule::number | Rule::money => ExprKind::Number(self.lower_number(&node)),
            Rule::string => ExprKind::Text(self.lower_text(node)?),
            Rule::regex => ExprKind::Regex(self.lower_regex(node)?),
            Rule::binding => ExprKind::Binding(node.as_str().trim_start_matches('$').to_owned()),
            Rule::list => ExprKind::List(self.in_brackets(span, |lower| lower.lower_expressions(node))?),
            Rule::object => return self.lower_object(node),
            Rule::group => {
                let inner = NodeChildren::of_node(node).next()?;
                ExprKind::Group(Box::new(self.in_brackets(span, |lower| lower.lower_collected(inner))?))
            }
            Rule::counted => self.with_depth(1, span, |lower| lower.lower_counted(node))?,
            Rule::conditional => self.with_depth(1, span, |lower| lower.lower_conditional(node))?,
            _ => self.with_depth(1, span, |lower| lower.lower_quantified(node))?,
        };
        Some(Expr { kind, span })
    }

    pub(super) fn lower_object(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let pairs =
            self.in_brackets(span, |lower| NodeChildren::of_node(node).map(|pair| lower.lower_pair(pair)).collect())?;
        Some(Expr { kind: ExprKind::Object(pairs), span })
    }

    fn lower_pair(&mut self, node: GrammarPair<'_>) -> Option<(Name, Expr)> {
        let mut children = NodeChildren::of_node(node);
        let (key, value) = (children.next()?, children.next()?);
        let written: String = self.node_text(&value).chars().take(40).collect();
        let key = self.object_key(key, &written)?;
        Some((key, self.lower_expression(value)?))
    }

    /// Lowers an object key: a quoted text or a bare word; a bare word with `-` is reported.
    pub(super) fn object_key(&mut self, node: GrammarPair<'_>, value: &str) -> Option<Name> {
        let key = node.into_inner().next()?;
        if key.as_rule() == Rule::string {
            return self.lower_quoted(key);
        }
        let name = self.node_name(&key);
        if let Some(dash) = name.text.find('-') {
            let at = key.as_span().start() + dash;
            let place = self.place.file_span(at, at + 1);
            self.dashed_key(place, &name, value);
        }
        Some(name)
    }

    pub(super) fn dashed_key(&mut self, dash: Span, key: &Name, value: &str) {
        let quoted = format!("\"{}\"", key.text);
        self.report_diagnostic(
            Diagnostic::new(Slug::Syntax, dash, format!("a key with `-` is quoted: `{quoted}: {value}`"))
                .with_help(format!("write `{quoted}`"))
                .with_fix("quote the key", key.span, quoted),
        );
    }

    fn lower_conditional(&mut self, node: GrammarPair<'_>) -> Option<ExprKind> {
        let mut parts = NodeChildren::of_node(node).filter(|child| child.as_rule() == Rule::expression);
        let condition = Box::new(self.lower_expression(parts.next()?)?);
        let then = Box::new(self.lower_expression(parts.next()?)?);
        let otherwise = Box::new(self.lower_expression(parts.next()?)?);
        Some(ExprKind::If { condition, then, otherwise })
    }

    fn lower_quantified(&mut self, node: GrammarPair<'_>) -> Option<ExprKind> {
        let start = self.node_span(&node).at_start();
        let mut children = NodeChildren::of_node(node);
        let quantifier = match children.next()?.as_rule() {
            Rule::k_any => ExprQuantifier::Any,
            Rule::k_all => ExprQuantifier::All,
            Rule::k_no => ExprQuantifier::No,
            _ => ExprQuantifier::Count,
        };
        let variable = children.next_if_rule(Rule::identifier)?;
        let variable = self.node_name(&variable);
        children.skip_word(Rule::k_in);
        let source = Box::new(self.lower_expression(children.next()?)?);
        let body = children.next()?;
        let colon = self.node_span(&body).at_start();
        let outer = self.quantifier.replace(start.cover_with(colon));
        let body = self.lower_expression(body);
        self.quantifier = outer;
        let body = Box::new(body?);
        Some(ExprKind::Quantifier { quantifier, variable, source, body })
    }
}

/// If a test compares with `true` or `false`, returns whether that negates it.
fn compared_with_truth(test: &str) -> Option<bool> {
    let words: Vec<&str> = test.split_whitespace().collect();
    match words.as_slice() {
        ["==", "true"] | ["!=", "false"] => Some(false),
        ["==", "false"] | ["!=", "true"] => Some(true),
        _ => None,
    }
}

/// Returns the operand that `a < b < c` uses twice.
fn middle_operand(first: &Expr) -> Option<Span> {
    match &first.kind {
        ExprKind::Test { test, .. } if is_order(test.kind) => test.operand.as_ref().map(|operand| operand.span),
        _ => None,
    }
}

fn is_order(kind: TestKind) -> bool {
    matches!(kind, TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual)
}

fn lower_so_far(children: &mut NodeChildren<'_>) -> Option<SoFarReach> {
    let written = children.next_if_rule(Rule::so_far)?;
    let is_started = NodeChildren::of_node(written).skip_word(Rule::k_started);
    Some(if is_started { SoFarReach::Started } else { SoFarReach::Known })
}
