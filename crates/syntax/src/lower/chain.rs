//! Chains of operators: which binds which.

use super::{Children, Lower, Node};
use crate::ast::{BinaryOperator, Expr, ExprKind, Name};
use crate::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

/// Longer chains of `and` or `or` become balanced trees, so that a rule with a thousand alternatives is no thousand levels deep.
const LONGEST_LEFT_CHAIN: usize = 32;

/// A chain of `implies`, `or` and `and`, loosest first.
#[derive(Default)]
pub(super) struct Implied {
    finished: Vec<(Expr, Span)>,
    any: Run,
    all: Run,
}

/// Operands joined by one operator; each operator stands before the operand of the same number, from the second on.
#[derive(Default)]
struct Run {
    operands: Vec<Expr>,
    operators: Vec<Span>,
}

impl Run {
    fn build(&mut self, operator: BinaryOperator) -> Option<Expr> {
        let operands = std::mem::take(&mut self.operands);
        let operators = std::mem::take(&mut self.operators);
        if operands.len() > LONGEST_LEFT_CHAIN {
            return balanced(operator, operands, operators);
        }
        let mut operands = operands.into_iter();
        let first = operands.next()?;
        Some(operands.zip(operators).fold(first, |left, (right, at)| binary(operator, at, left, right)))
    }
}

/// Halves the chain: `and` and `or` are associative, and the order of evaluation stays.
fn balanced(operator: BinaryOperator, mut operands: Vec<Expr>, mut operators: Vec<Span>) -> Option<Expr> {
    if operands.len() <= 1 {
        return operands.pop();
    }
    let middle = operands.len() / 2;
    let right = operands.split_off(middle);
    let right_operators = operators.split_off(middle.min(operators.len()));
    let at = operators.pop()?;
    let left = balanced(operator, operands, operators)?;
    let right = balanced(operator, right, right_operators)?;
    Some(binary(operator, at, left, right))
}

fn binary(operator: BinaryOperator, operator_span: Span, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary { operator, operator_span, left: Box::new(left), right: Box::new(right) }, span }
}

impl Implied {
    /// How many levels `implies` adds so far: it nests to the right.
    pub(super) fn depth(&self) -> usize {
        self.finished.len()
    }

    /// Adds an operand behind an operator; the first one has none.
    pub(super) fn push(&mut self, operator: Option<(BinaryOperator, Span)>, operand: Expr) {
        match operator {
            Some((BinaryOperator::Implies, at)) => {
                if let Some(left) = self.alternatives() {
                    self.finished.push((left, at));
                }
            }
            Some((BinaryOperator::Or, at)) => {
                self.any.operands.extend(self.all.build(BinaryOperator::And));
                self.any.operators.push(at);
            }
            Some((_, at)) => self.all.operators.push(at),
            None => {}
        }
        self.all.operands.push(operand);
    }

    fn alternatives(&mut self) -> Option<Expr> {
        self.any.operands.extend(self.all.build(BinaryOperator::And));
        self.any.build(BinaryOperator::Or)
    }

    /// The tree of the whole chain.
    pub(super) fn build(mut self) -> Option<Expr> {
        let last = self.alternatives()?;
        let chain = self.finished.into_iter().rev();
        Some(chain.fold(last, |right, (left, at)| binary(BinaryOperator::Implies, at, left, right)))
    }
}

/// A part of a value: an operand or a sign between operands.
enum ChainPart {
    Operand(Expr),
    Sign(Rule, Span),
}

/// The parts of a value, read from the front.
struct ChainParts(std::iter::Peekable<std::vec::IntoIter<ChainPart>>);

impl ChainParts {
    fn sign(&mut self, rules: &[Rule]) -> Option<(Rule, Span)> {
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

impl Lower<'_> {
    /// Pipes, ranges and arithmetic.
    pub(super) fn value(&mut self, node: Node<'_>) -> Option<Expr> {
        let whole = self.span(&node);
        let children: Vec<Node<'_>> = Children::of(node).collect();
        if let [only] = children.as_slice() {
            return self.operand(only.clone());
        }
        let signs = children.iter().filter(|child| child.as_rule() != Rule::operand).count();
        let parts = self.along(signs, whole, |lower| {
            children.into_iter().map(|child| lower.part(child)).collect::<Option<Vec<_>>>()
        })?;
        self.dashed_names(&parts);
        self.pipe(&mut ChainParts(parts.into_iter().peekable()))
    }

    fn part(&mut self, node: Node<'_>) -> Option<ChainPart> {
        match node.as_rule() {
            Rule::operand => self.operand(node).map(ChainPart::Operand),
            rule => Some(ChainPart::Sign(rule, self.span(&node))),
        }
    }

    /// `a-b` between names is a key with a dash or a difference, and says neither.
    fn dashed_names(&mut self, parts: &[ChainPart]) {
        for window in parts.windows(3) {
            let [ChainPart::Operand(left), ChainPart::Sign(Rule::minus, at), ChainPart::Operand(right)] = window else {
                continue;
            };
            let touches = left.span.end == at.start && at.end == right.span.start;
            let (left_text, right_text) = (self.source(left.span), self.source(right.span));
            let letter_before = left_text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let named = letter_before && !left_text.starts_with(|c: char| c.is_ascii_digit());
            if touches && named && right_text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                let diagnostic = dashed_name(*at, left, left_text, right_text);
                self.report(diagnostic);
            }
        }
    }

    fn pipe(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.range(parts)?;
        while let Some((_, bar)) = parts.sign(&[Rule::bar]) {
            let right = self.range(parts)?;
            if let Some((step, word)) = self.open_where {
                // Nothing follows from a bar that was no pipe.
                self.bar_behind_where(step, word, &left, bar, &right);
                continue;
            }
            let span = left.span.to(right.span);
            left = Expr { span, ..self.piped(left, right) };
        }
        Some(left)
    }

    fn bar_behind_where(&mut self, step: Span, word: Span, last: &Expr, bar: Span, right: &Expr) {
        let head = self.line_before(step);
        let bare = matches!(last.kind, ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. }) && {
            let condition = self.source(word.to(last.span));
            !condition.trim_start_matches("where").trim_start().contains(' ')
        };
        let test = if bare { " == true" } else { "" };
        let pattern = self.source(step.to(last.span)).to_owned();
        let rest = self.source(right.span).to_owned();
        self.report(
            Diagnostic::new(Slug::Syntax, word, "`where` ends a pattern, so it needs parentheses before `|`")
                .help(format!("write `{head}({pattern}{test}) | {rest}`"))
                .other(bar, "this `|` would belong to the condition"),
        );
    }

    /// What stands on its line before a place.
    pub(super) fn line_before(&self, place: Span) -> String {
        let local = (place.start as usize).saturating_sub(self.place.base);
        let before = self.text.get(..local).unwrap_or("");
        before.rsplit(['\n', ';', '{']).next().unwrap_or("").trim_start().to_owned()
    }

    /// Puts `first` in front of the arguments of the call that the bar leads into.
    fn piped(&mut self, first: Expr, target: Expr) -> Expr {
        let span = target.span;
        match target.kind {
            ExprKind::Call { name, mut arguments, piped: false } => {
                arguments.insert(0, first);
                Expr { kind: ExprKind::Call { name, arguments, piped: true }, span }
            }
            ExprKind::Field { base, name } => {
                let base = Box::new(self.piped(first, *base));
                Expr { kind: ExprKind::Field { base, name }, span }
            }
            ExprKind::Index { base, index } => {
                let base = Box::new(self.piped(first, *base));
                Expr { kind: ExprKind::Index { base, index }, span }
            }
            ExprKind::Every { base } => {
                let base = Box::new(self.piped(first, *base));
                Expr { kind: ExprKind::Every { base }, span }
            }
            ExprKind::Deep { base } => {
                let base = Box::new(self.piped(first, *base));
                Expr { kind: ExprKind::Deep { base }, span }
            }
            ExprKind::Name(text) => {
                self.error(
                    span,
                    format!("a pipe leads into a call, and `{text}` is a bare name"),
                    format!("write `{text}()`"),
                );
                Expr { kind: ExprKind::Call { name: Name { text, span }, arguments: vec![first], piped: true }, span }
            }
            _ => {
                let written = self.source(span).to_owned();
                self.error(
                    span,
                    format!("a pipe leads into a call, and `{written}` is none"),
                    "write a function with parentheses behind `|`, such as `| lower()`",
                );
                first
            }
        }
    }

    fn range(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        const DOTS: &[Rule] = &[Rule::range_dots, Rule::open_dots];
        let (start, dots) = match parts.sign(DOTS) {
            Some((_, dots)) => (None, dots),
            None => {
                let start = self.sum(parts)?;
                match parts.sign(DOTS) {
                    Some((_, dots)) => (Some(Box::new(start)), dots),
                    None => return Some(start),
                }
            }
        };
        let end = if parts.operand_follows() { Some(Box::new(self.sum(parts)?)) } else { None };
        if let Some((_, second)) = parts.sign(DOTS) {
            self.error(second, "a range has two ends, and this is a third", "write `1..3`");
            if parts.operand_follows() {
                self.sum(parts)?;
            }
        }
        let from = start.as_ref().map_or(dots, |start| start.span);
        let span = from.to(end.as_ref().map_or(dots, |end| end.span));
        Some(Expr { kind: ExprKind::Range { start, end }, span })
    }

    fn sum(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.product(parts)?;
        while let Some((rule, at)) = parts.sign(&[Rule::plus, Rule::minus]) {
            let operator = if rule == Rule::plus { BinaryOperator::Add } else { BinaryOperator::Subtract };
            left = binary(operator, at, left, self.product(parts)?);
        }
        Some(left)
    }

    fn product(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut left = self.signed(parts)?;
        while let Some((rule, at)) = parts.sign(&[Rule::star, Rule::slash, Rule::percent]) {
            let operator = match rule {
                Rule::star => BinaryOperator::Multiply,
                Rule::slash => BinaryOperator::Divide,
                _ => BinaryOperator::Remainder,
            };
            left = binary(operator, at, left, self.signed(parts)?);
        }
        Some(left)
    }

    fn signed(&mut self, parts: &mut ChainParts) -> Option<Expr> {
        let mut signs = Vec::new();
        while let Some((_, at)) = parts.sign(&[Rule::minus]) {
            signs.push(at);
        }
        let Some(ChainPart::Operand(operand)) = parts.0.next() else { return None };
        Some(signs.into_iter().rev().fold(operand, |inner, sign| {
            let span = sign.to(inner.span);
            Expr { kind: ExprKind::Negate(Box::new(inner)), span }
        }))
    }
}

/// What to say of `output.user-id`.
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
    Diagnostic::new(Slug::Syntax, at, "minus needs spaces between names").help(help)
}
