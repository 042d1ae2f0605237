//! Expressions: logic, comparisons, operands (language reference, section 4).

use super::chain::Implied;
use super::{Children, Lower, Node};
use crate::ast::{BinaryOperator, Expr, ExprKind, ExprQuantifier, Name, PredicateTarget, TestKind};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

impl Lower<'_> {
    /// A whole expression: `not`, `and`, `or`, `implies` over comparisons.
    pub(crate) fn expression(&mut self, node: Node<'_>) -> Option<Expr> {
        let mut chain = Implied::default();
        let mut operator: Option<(BinaryOperator, Span)> = None;
        let mut nots: Vec<Span> = Vec::new();
        for child in Children::of(node) {
            let span = self.span(&child);
            match child.as_rule() {
                Rule::k_not => nots.push(span),
                Rule::k_and => operator = Some((BinaryOperator::And, span)),
                Rule::k_or => operator = Some((BinaryOperator::Or, span)),
                Rule::k_implies => operator = Some((BinaryOperator::Implies, span)),
                _ => {
                    let levels = nots.len() + chain.depth();
                    let operand = self.deeper(levels, span, |lower| lower.comparison(child))?;
                    let negated = nots.drain(..).rev().fold(operand, |inner, not| {
                        let span = not.to(inner.span);
                        Expr { kind: ExprKind::Not(Box::new(inner)), span }
                    });
                    chain.push(operator.take(), negated);
                }
            }
        }
        chain.build()
    }

    /// The expression that an entry rule holds alone.
    pub(crate) fn lone_expression(&mut self, node: Node<'_>) -> Option<Expr> {
        self.expression(Children::of(node).next()?)
    }

    /// A value with at most one test behind it.
    fn comparison(&mut self, node: Node<'_>) -> Option<Expr> {
        let mut children = Children::of(node);
        let value = children.opt(Rule::value)?;
        let mut result = self.value(value)?;
        let mut tested = false;
        for child in children {
            if tested {
                self.second_test(&result, &child);
                break;
            }
            let test = self.test(child)?;
            let span = result.span.to(test.span);
            result = Expr { kind: ExprKind::Test { subject: Box::new(result), test }, span };
            tested = true;
        }
        Some(result)
    }

    /// Tests do not chain: the second one is the mistake.
    fn second_test(&mut self, first: &Expr, second: &Node<'_>) {
        let operator = Children::of(second.clone()).next().map_or_else(|| self.span(second), |sign| self.span(&sign));
        let written = self.source(first.span).to_owned();
        let rest = self.written(second).to_owned();
        let help = match self.quantifier {
            Some(quantifier) => {
                let whole = self.source(quantifier.to(first.span)).to_owned();
                format!(
                    "to test the quantifier put it in parentheses: `({whole}) {rest}`, or `(count x in output.items: x.ok) == 2`"
                )
            }
            None => match (compared_with_truth(&rest), middle(first)) {
                (Some(false), _) => format!("a test is true or false by itself: write `{written}`"),
                (Some(true), _) => format!("a test is true or false by itself: write `not {written}`"),
                (None, Some(middle)) => {
                    format!("join two tests with `and`: `{written} and {} {rest}`", self.source(middle))
                }
                (None, None) => {
                    format!("put the first in parentheses, `({written}) {rest}`, or join two tests with `and`")
                }
            },
        };
        self.report(
            Diagnostic::new(Slug::Syntax, operator, "a second test behind a test: tests do not chain").help(help),
        );
    }

    /// The text of a span of this file, when it lies in the text that is lowered.
    pub(super) fn source(&self, span: Span) -> &str {
        let local = |offset: u32| {
            let at = (offset as usize).checked_sub(self.place.base)?;
            if at <= self.place.cut_at { Some(at) } else { at.checked_sub(self.place.cut_length) }
        };
        match (local(span.start), local(span.end)) {
            (Some(start), Some(end)) => self.text.get(start..end).unwrap_or(""),
            _ => "",
        }
    }

    /// A primary with its fields, indexes and arguments.
    pub(super) fn operand(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(&node);
        let mut children = Children::of(node).collect::<Vec<_>>().into_iter();
        let length = children.len();
        let primary = children.next()?;
        self.along(length, span, |lower| {
            let mut result = lower.primary(primary)?;
            for child in children {
                let span = result.span.to(lower.span(&child));
                let kind = lower.postfix(result, child)?;
                result = Expr { kind, span };
            }
            Some(result)
        })
    }

    fn postfix(&mut self, base: Expr, node: Node<'_>) -> Option<ExprKind> {
        match node.as_rule() {
            Rule::field => {
                let span = self.span(&node);
                let mut name =
                    node.into_inner().next().map(|name| self.name(&name)).unwrap_or(Name { text: String::new(), span });
                name.span.end = span.end;
                Some(ExprKind::Field { base: Box::new(base), name })
            }
            Rule::index => self.index(base, node),
            _ => self.call(base, node),
        }
    }

    fn index(&mut self, base: Expr, node: Node<'_>) -> Option<ExprKind> {
        let base = Box::new(base);
        let span = self.span(&node);
        let inner = Children::of(node).next()?;
        match inner.as_rule() {
            Rule::every => Some(ExprKind::Every { base }),
            Rule::deep => Some(ExprKind::Deep { base }),
            _ => {
                let index = self.bracketed(span, |lower| lower.expression(inner))?;
                Some(ExprKind::Index { base, index: Box::new(index) })
            }
        }
    }

    fn call(&mut self, base: Expr, node: Node<'_>) -> Option<ExprKind> {
        let span = self.span(&node);
        let written = self.written(&node).to_owned();
        let arguments = self.bracketed(span, |lower| lower.expressions(node))?;
        if let ExprKind::Name(text) = base.kind {
            return Some(ExprKind::Call { name: Name { text, span: base.span }, arguments, piped: false });
        }
        let subject = self.source(base.span).to_owned();
        let (help, name) = match &base.kind {
            ExprKind::Field { base, name } => {
                let inside = written.trim_start_matches('(').trim_end_matches(')').trim();
                let comma = if inside.is_empty() { "" } else { ", " };
                let first = self.source(base.span);
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
        self.error(span.at_start(), format!("`{subject}` is not the name of a function, so it cannot be called"), help);
        Some(ExprKind::Call { name, arguments, piped: false })
    }

    fn expressions(&mut self, node: Node<'_>) -> Option<Vec<Expr>> {
        Children::of(node).map(|child| self.collected(child)).collect()
    }

    /// An expression inside of parentheses, with the list that may be made of it.
    fn collected(&mut self, node: Node<'_>) -> Option<Expr> {
        if node.as_rule() != Rule::collected {
            return self.expression(node);
        }
        let mut children = Children::of(node);
        let value = self.expression(children.next()?)?;
        let Some(tail) = children.next() else { return Some(value) };
        let span = value.span.to(self.span(&tail));
        let rule = tail.as_rule();
        self.deeper(1, span, |lower| {
            if rule == Rule::where_tail {
                return lower.filtered(value, tail);
            }
            let kind = lower.of(value, tail)?;
            Some(Expr { kind, span })
        })
    }

    /// `LIST where COND`.
    fn filtered(&mut self, list: Expr, tail: Node<'_>) -> Option<Expr> {
        let span = list.span.to(self.span(&tail));
        let condition = Children::of(tail).find(|child| child.as_rule() == Rule::expression)?;
        let condition = Box::new(self.expression(condition)?);
        Some(Expr { kind: ExprKind::Filtered { list: Box::new(list), condition }, span })
    }

    /// `E of A` and `E of LIST`.
    fn of(&mut self, value: Expr, tail: Node<'_>) -> Option<ExprKind> {
        let value = Box::new(value);
        let mut children = Children::of(tail);
        children.word(Rule::k_of);
        let target = children.next()?;
        if target.as_rule() == Rule::all_runs {
            let mut children = Children::of(target);
            children.word(Rule::k_runs);
            let by = self.grouping(&mut children)?.map(Box::new);
            return Some(ExprKind::OverRuns { value, by });
        }
        let span = self.span(&target);
        if target.as_rule() == Rule::step {
            let (step, expr) = (Some(self.step(target)?), None);
            let so_far = children.word(Rule::so_far);
            return Some(ExprKind::Of { value, target: Box::new(PredicateTarget { expr, step, span }), so_far });
        }
        let list = self.expression(target)?;
        let list = match children.opt(Rule::where_tail) {
            Some(tail) => self.filtered(list, tail)?,
            None => list,
        };
        let target = PredicateTarget { span: list.span, expr: Some(list), step: None };
        Some(ExprKind::Of { value, target: Box::new(target), so_far: false })
    }

    /// `count A` as a number.
    fn counted(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let mut children = Children::of(node);
        children.word(Rule::k_count);
        let pattern = children.next()?;
        let step = Box::new(self.pattern_list(|lower| lower.step_part(pattern))?);
        Some(ExprKind::Counted { step, so_far: children.word(Rule::so_far) })
    }

    fn primary(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::name => ExprKind::Name(node.as_str().to_owned()),
            Rule::literal_word => match node.as_str() {
                "true" => ExprKind::Boolean(true),
                "false" => ExprKind::Boolean(false),
                _ => ExprKind::Null,
            },
            Rule::number | Rule::money => ExprKind::Number(self.number(&node)),
            Rule::string => ExprKind::Text(self.text(node)?),
            Rule::regex => ExprKind::Regex(self.regex(node)?),
            Rule::binding => ExprKind::Binding(node.as_str().trim_start_matches('$').to_owned()),
            Rule::list => ExprKind::List(self.bracketed(span, |lower| lower.expressions(node))?),
            Rule::object => return self.object(node),
            Rule::group => {
                let inner = Children::of(node).next()?;
                ExprKind::Group(Box::new(self.bracketed(span, |lower| lower.collected(inner))?))
            }
            Rule::counted => self.deeper(1, span, |lower| lower.counted(node))?,
            Rule::conditional => self.deeper(1, span, |lower| lower.conditional(node))?,
            _ => self.deeper(1, span, |lower| lower.quantified(node))?,
        };
        Some(Expr { kind, span })
    }

    /// An object literal; also the run of a test.
    pub(super) fn object(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(&node);
        let pairs = self.bracketed(span, |lower| Children::of(node).map(|pair| lower.pair(pair)).collect())?;
        Some(Expr { kind: ExprKind::Object(pairs), span })
    }

    fn pair(&mut self, node: Node<'_>) -> Option<(Name, Expr)> {
        let mut children = Children::of(node);
        let (key, value) = (children.next()?, children.next()?);
        let written: String = self.written(&value).chars().take(40).collect();
        let key = self.object_key(key, &written)?;
        Some((key, self.expression(value)?))
    }

    /// A key: quoted, or a bare word; a bare word with `-` is reported.
    pub(super) fn object_key(&mut self, node: Node<'_>, value: &str) -> Option<Name> {
        let key = node.into_inner().next()?;
        if key.as_rule() == Rule::string {
            return self.quoted(key);
        }
        let name = self.name(&key);
        if let Some(dash) = name.text.find('-') {
            let at = key.as_span().start() + dash;
            let place = self.place.span(at, at + 1);
            self.dashed_key(place, &name, value);
        }
        Some(name)
    }

    /// A bare key with a dash.
    pub(super) fn dashed_key(&mut self, dash: Span, key: &Name, value: &str) {
        let quoted = format!("\"{}\"", key.text);
        self.report(
            Diagnostic::new(Slug::Syntax, dash, format!("a key with `-` is quoted: `{quoted}: {value}`"))
                .help(format!("write `{quoted}`"))
                .fix("quote the key", key.span, quoted),
        );
    }

    fn conditional(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let mut parts = Children::of(node).filter(|child| child.as_rule() == Rule::expression);
        let condition = Box::new(self.expression(parts.next()?)?);
        let then = Box::new(self.expression(parts.next()?)?);
        let otherwise = Box::new(self.expression(parts.next()?)?);
        Some(ExprKind::If { condition, then, otherwise })
    }

    fn quantified(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let start = self.span(&node).at_start();
        let mut children = Children::of(node);
        let quantifier = match children.next()?.as_rule() {
            Rule::k_any => ExprQuantifier::Any,
            Rule::k_all => ExprQuantifier::All,
            Rule::k_no => ExprQuantifier::No,
            _ => ExprQuantifier::Count,
        };
        let variable = children.opt(Rule::identifier)?;
        let variable = self.name(&variable);
        children.word(Rule::k_in);
        let source = Box::new(self.expression(children.next()?)?);
        let body = children.next()?;
        let colon = self.span(&body).at_start();
        let outer = self.quantifier.replace(start.to(colon));
        let body = self.expression(body);
        self.quantifier = outer;
        let body = Box::new(body?);
        Some(ExprKind::Quantifier { quantifier, variable, source, body })
    }
}

/// Whether the text of a test compares with `true` or `false`, and whether what stands before it is negated by that.
fn compared_with_truth(test: &str) -> Option<bool> {
    let words: Vec<&str> = test.split_whitespace().collect();
    match words.as_slice() {
        ["==", "true"] | ["!=", "false"] => Some(false),
        ["==", "false"] | ["!=", "true"] => Some(true),
        _ => None,
    }
}

/// The right-hand side of a comparison by order: what `a < b < c` says twice.
fn middle(first: &Expr) -> Option<Span> {
    match &first.kind {
        ExprKind::Test { test, .. } if is_order(test.kind) => test.operand.as_ref().map(|operand| operand.span),
        _ => None,
    }
}

fn is_order(kind: TestKind) -> bool {
    matches!(kind, TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual)
}
