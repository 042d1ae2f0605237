//! Lowers operator chains by precedence.

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{BinaryOperator, Expr, ExprKind, Name};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

/// Maximum length of an `and` or `or` chain that nests to the left. Longer ones become balanced trees, so that a rule of a thousand alternatives
/// stays shallow.
const LONGEST_LEFT_CHAIN: usize = 32;

#[derive(Default)]
pub(super) struct ImpliesChain {
    finished: Vec<(Expr, Span)>,
    any: OperandRun,
    all: OperandRun,
}

/// Operands and operators; operator `n` precedes operand `n`, from the second operand on.
#[derive(Default)]
struct OperandRun {
    operands: Vec<Expr>,
    operators: Vec<Span>,
}

impl OperandRun {
    fn build_run(&mut self, operator: BinaryOperator) -> Option<Expr> {
        let operands = std::mem::take(&mut self.operands);
        let operators = std::mem::take(&mut self.operators);
        if operands.len() > LONGEST_LEFT_CHAIN {
            return balance_chain(operator, operands, operators);
        }
        let mut operands = operands.into_iter();
        let first = operands.next()?;
        Some(operands.zip(operators).fold(first, |left, (right, at)| binary_expr(operator, at, left, right)))
    }
}

/// Splits a chain in half. `and` and `or` are associative, and the evaluation order stays the same.
fn balance_chain(operator: BinaryOperator, mut operands: Vec<Expr>, mut operators: Vec<Span>) -> Option<Expr> {
    if operands.len() <= 1 {
        return operands.pop();
    }
    let middle = operands.len() / 2;
    let right = operands.split_off(middle);
    let right_operators = operators.split_off(middle.min(operators.len()));
    let at = operators.pop()?;
    let left = balance_chain(operator, operands, operators)?;
    let right = balance_chain(operator, right, right_operators)?;
    Some(binary_expr(operator, at, left, right))
}

fn binary_expr(operator: BinaryOperator, operator_span: Span, left: Expr, right: Expr) -> Expr {
    let span = left.span.cover_with(right.span);
    Expr { kind: ExprKind::Binary { operator, operator_span, left: Box::new(left), right: Box::new(right) }, span }
}

impl ImpliesChain {
    /// Returns the nesting depth; `implies` nests to the right.
    pub(super) fn implies_depth(&self) -> usize {
        self.finished.len()
    }

    /// Adds an operand; the first one has no operator.
    pub(super) fn push_operand(&mut self, operator: Option<(BinaryOperator, Span)>, operand: Expr) {
        match operator {
            Some((BinaryOperator::Implies, at)) => {
                if let Some(left) = self.take_alternatives() {
                    self.finished.push((left, at));
                }
            }
            Some((BinaryOperator::Or, at)) => {
                self.any.operands.extend(self.all.build_run(BinaryOperator::And));
                self.any.operators.push(at);
            }
            Some((_, at)) => self.all.operators.push(at),
            None => {}
        }
        self.all.operands.push(operand);
    }

    fn take_alternatives(&mut self) -> Option<Expr> {
        self.any.operands.extend(self.all.build_run(BinaryOperator::And));
        self.any.build_run(BinaryOperator::Or)
    }

    pub(super) fn build_chain(mut self) -> Option<Expr> {
        let last = self.take_alternatives()?;
        let chain = self.finished.into_iter().rev();
        Some(chain.fold(last, |right, (left, at)| binary_expr(BinaryOperator::Implies, at, left, right)))
    }
}

enum ChainPart {
    Operand(Expr),
    Sign(Rule, Span),
}

struct ChainParts(std::iter::Peekable<std::vec::IntoIter<ChainPart>>);

impl ChainParts {
    fn next_sign(&mut self, rules: &[Rule]) -> Option<(Rule, Span)> {
        match self.0.peek() {
            Some(&ChainPart::Sign(rule, span)) if rules.contains(&rule) => {
                self.0.next();
                Some((rule, span))
            }
            _ => None,
        }
    }

    fn operand_follows(&mut self) -> bool {
        matches!(self.0.peek(), Some(ChainPart::Operand(_) | ChainPart::Sign(Rule::minus, _)))
    }
}

impl SyntaxLowering<'_> {
    pub(super) fn lower_value(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let whole = self.node_span(&node);
        let children: Vec<GrammarPair<'_>> = NodeChildren::of_node(node).collect();
        if let [only] = children.as_slice() {
            return self.lower_operand(only.clone());
        }
        let signs = children.iter().filter(|child| child.as_rule() != Rule::operand).count();
        let parts = self.with_chain(signs, whole, |lower| {
            children.into_iter().map(|child| lower.lower_part(child)).collect::<Option<Vec<_>>>()
        })?;
        self.dashed_names(&parts);
        self.lower_pipe(&mut ChainParts(parts.into_iter().peekable()))
    }

    fn lower_part(&mut self, node: GrammarPair<'_>) -> Option<ChainPart> {
        match node.as_rule() {
            Rule::operand => self.lower_operand(node).map(ChainPart::Operand),
            rule => Some(ChainPart::Sign(rule, self.node_span(&node))),
        }
    }

    /// Reports `a-b` between names, which may be a dashed key or a difference.
    fn dashed_names(&mut self, parts: &[ChainPart]) {
        for window in parts.windows(3) {
            let [ChainPart::Operand(left), ChainPart::Sign(Rule::minus, at), ChainPart::Operand(right)] = window else {
                continue;
            };
            let touches = left.span.end == at.start && at.end == right.span.start;
            let (left_text, right_text) = (self.source_text(left.span), self.source_text(right.span));
            let letter_before = left_text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let named = letter_before && !left_text.starts_with(|c: char| c.is_ascii_digit());
            if touches && named && right_text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                let diagnostic = dashed_name(*at, left, left_text, right_text);
                self.report_diagnostic(diagnostic);
            }
        }
    }

    fn lower_pipe(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.lower_range(parts)?;
        while let Some((_, bar)) = parts.next_sign(&[Rule::bar]) {
            let right = self.lower_range(parts)?;
            if let Some((step, word)) = self.open_where {
                // A bar that is not a pipe was reported; nothing else is derived from it.
                self.bar_behind_where(step, word, &left, bar, &right);
                continue;
            }
            let span = left.span.cover_with(right.span);
            left = Expr { span, ..self.pipe_into(left, right) };
        }
        Some(left)
    }

    fn bar_behind_where(&mut self, step: Span, word: Span, last: &Expr, bar: Span, right: &Expr) {
        let head = self.line_before(step);
        let bare = matches!(last.kind, ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. }) && {
            let condition = self.source_text(word.cover_with(last.span));
            !condition.trim_start_matches("where").trim_start().contains(' ')
        };
        let test = if bare { " == true" } else { "" };
        let pattern = self.source_text(step.cover_with(last.span)).to_owned();
        let rest = self.source_text(right.span).to_owned();
        self.report_diagnostic(
            Diagnostic::new(Slug::Syntax, word, "`where` ends a pattern, so it needs parentheses before `|`")
                .with_help(format!("write `{head}({pattern}{test}) | {rest}`"))
                .with_other(bar, "this `|` would belong to the condition"),
        );
    }

    pub(super) fn line_before(&self, place: Span) -> String {
        let local = (place.start as usize).saturating_sub(self.place.base);
        let before = self.text.get(..local).unwrap_or("");
        before.rsplit(['\n', ';', '{']).next().unwrap_or("").trim_start().to_owned()
    }

    fn pipe_into(&mut self, first: Expr, target: Expr) -> Expr {
        let span = target.span;
        match target.kind {
            ExprKind::Call { name, mut arguments, piped: false } => {
                arguments.insert(0, first);
                Expr { kind: ExprKind::Call { name, arguments, piped: true }, span }
            }
            ExprKind::Field { base, name } => {
                let base = Box::new(self.pipe_into(first, *base));
                Expr { kind: ExprKind::Field { base, name }, span }
            }
            ExprKind::Index { base, index } => {
                let base = Box::new(self.pipe_into(first, *base));
                Expr { kind: ExprKind::Index { base, index }, span }
            }
            ExprKind::Every { base } => {
                let base = Box::new(self.pipe_into(first, *base));
                Expr { kind: ExprKind::Every { base }, span }
            }
            ExprKind::Deep { base } => {
                let base = Box::new(self.pipe_into(first, *base));
                Expr { kind: ExprKind::Deep { base }, span }
            }
            ExprKind::Name(text) => {
                self.report_error(
                    span,
                    format!("a pipe leads into a call, and `{text}` is a bare name"),
                    format!("write `{text}()`"),
                );
                Expr { kind: ExprKind::Call { name: Name { text, span }, arguments: vec![first], piped: true }, span }
            }
            _ => {
                let written = self.source_text(span).to_owned();
                let help = match (&first.kind, &target.kind) {
                    (ExprKind::Text(_), ExprKind::Text(_)) => {
                        format!("for one of several texts write `in [{}, {written}]`", self.source_text(first.span))
                    }
                    _ => "write a function with parentheses behind `|`, such as `| lower()`".to_owned(),
                };
                self.report_error(span, format!("a pipe leads into a call, and `{written}` is none"), help);
                first
            }
        }
    }

    fn lower_range(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        const DOTS: &[Rule] = &[Rule::range_dots, Rule::open_dots];
        let (start, dots) = match parts.next_sign(DOTS) {
            Some((_, dots)) => (None, dots),
            None => {
                let start = self.lower_sum(parts)?;
                match parts.next_sign(DOTS) {
                    Some((_, dots)) => (Some(Box::new(start)), dots),
                    None => return Some(start),
                }
            }
        };
        let end = if parts.operand_follows() { Some(Box::new(self.lower_sum(parts)?)) } else { None };
        if let Some((_, second)) = parts.next_sign(DOTS) {
            self.report_error(second, "a range has two ends, and this is a third", "write `1..3`");
            if parts.operand_follows() {
                self.lower_sum(parts)?;
            }
        }
        let from = start.as_ref().map_or(dots, |start| start.span);
        let span = from.cover_with(end.as_ref().map_or(dots, |end| end.span));
        Some(Expr { kind: ExprKind::Range { start, end }, span })
    }

    fn lower_sum(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.lower_product(parts)?;
        while let Some((rule, at)) = parts.next_sign(&[Rule::plus, Rule::minus]) {
            let operator = if rule == Rule::plus { BinaryOperator::Add } else { BinaryOperator::Subtract };
            left = binary_expr(operator, at, left, self.lower_product(parts)?);
        }
        Some(left)
    }

    fn lower_product(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.lower_signed(parts)?;
        while let Some((rule, at)) = parts.next_sign(&[Rule::star, Rule::slash, Rule::percent]) {
            let operator = match rule {
                Rule::star => BinaryOperator::Multiply,
                Rule::slash => BinaryOperator::Divide,
                _ => BinaryOperator::Remainder,
            };
            left = binary_expr(operator, at, left, self.lower_signed(parts)?);
        }
        Some(left)
    }

    fn lower_signed(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut signs = Vec::new();
        while let Some((_, at)) = parts.next_sign(&[Rule::minus]) {
            signs.push(at);
        }
        let Some(ChainPart::Operand(operand)) = parts.0.next() else { return None };
        Some(signs.into_iter().rev().fold(operand, |inner, sign| {
            let span = sign.cover_with(inner.span);
            Expr { kind: ExprKind::Negate(Box::new(inner)), span }
        }))
    }
}

fn dashed_name(at: Span, left: &Expr, left_text: &str, right_text: &str) -> Diagnostic {
    let split = right_text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(right_text.len());
    let (first, _) = right_text.split_at_checked(split).unwrap_or((right_text, ""));
    let help = match &left.kind {
        ExprKind::Field { base, name } => {
            let head = left_text.get(..base.span.len()).unwrap_or(left_text);
            let key = format!("{}-{first}", name.text);
            format!("write `{head}[\"{key}\"]` for the key, or `{left_text} - {right_text}` for a difference")
        }
        _ => format!("write `{left_text} - {right_text}` for a difference; a name has no `-`"),
    };
    Diagnostic::new(Slug::Syntax, at, "minus needs spaces between names").with_help(help)
}
