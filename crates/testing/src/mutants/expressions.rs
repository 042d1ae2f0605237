//! Mutations of expressions.

use super::edit::{EditFinder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::with_deep_stack;
use averment_syntax::ast::SoFarReach;
use averment_syntax::ast::{
    BinaryOperator, Expr, ExprKind, ExprQuantifier, Name, TestKind, TextLiteral, TextPart, ValueTest,
};

impl EditFinder<'_> {
    pub(super) fn mutate_expr(&mut self, expr: &Expr) {
        with_deep_stack(|| self.mutate_form(expr));
    }

    fn mutate_form(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Boolean(value) => self.mutate_boolean(*value, expr.span),
            ExprKind::Text(text) => self.text_parts(text),
            ExprKind::List(items) => items.iter().for_each(|item| self.mutate_expr(item)),
            ExprKind::Object(entries) => entries.iter().for_each(|(_, value)| self.mutate_expr(value)),
            ExprKind::Field { base, .. } | ExprKind::Every { base } | ExprKind::Deep { base } => self.mutate_expr(base),
            ExprKind::Index { base, .. } => self.mutate_expr(base),
            ExprKind::Call { name, arguments, .. } => {
                self.made_of_steps(name, arguments);
                arguments.iter().for_each(|argument| self.mutate_expr(argument));
            }
            ExprKind::Negate(inner) | ExprKind::Group(inner) => self.mutate_expr(inner),
            ExprKind::Not(inner) => self.mutate_not(expr.span, inner),
            ExprKind::Binary { operator, operator_span, left, right } => {
                self.mutate_binary(*operator, *operator_span, left, right);
                self.mutate_expr(left);
                self.mutate_expr(right);
            }
            ExprKind::Test { subject, test } => {
                self.mutate_expr(subject);
                self.mutate_test(Some(subject.span), test);
            }
            ExprKind::If { condition, then, otherwise } => {
                let missing = format!("a test in which `{}` decides", self.short_text(condition.span));
                self.negate_condition(condition, missing);
                [condition, then, otherwise].into_iter().for_each(|part| self.mutate_expr(part));
            }
            ExprKind::Quantifier { quantifier, source, body, .. } => {
                self.mutate_quantifier(*quantifier, expr.span);
                self.mutate_expr(source);
                self.mutate_expr(body);
            }
            // A test judges one run, so it cannot cover an expression over all runs.
            ExprKind::OverRuns { .. } => {}
            ExprKind::Of { value, target, so_far } => {
                self.so_far(*so_far, expr.span);
                self.mutate_expr(value);
                target.expr.iter().for_each(|list| self.mutate_expr(list));
                target.step.iter().for_each(|step| self.mutate_step(step));
            }
            ExprKind::Filtered { list, condition } => {
                let missing =
                    format!("a test with an element for which `{}` is false", self.short_text(condition.span));
                self.push_removal(list.span.end, condition.span.end, MutantKind::DropCondition, missing);
                self.mutate_expr(list);
                self.mutate_expr(condition);
            }
            ExprKind::Counted { step, so_far } => {
                self.so_far(*so_far, expr.span);
                self.mutate_step(step);
            }
            ExprKind::Null
            | ExprKind::Number(_)
            | ExprKind::Regex(_)
            | ExprKind::Name(_)
            | ExprKind::Binding(_)
            | ExprKind::Range { .. } => {}
        }
    }

    /// Swaps functions over steps: the maximum for the sum, the first for the last.
    fn made_of_steps(&mut self, name: &Name, arguments: &[Expr]) {
        let Some(Expr { kind: ExprKind::Of { .. }, .. }) = arguments.first() else { return };
        let other = match name.text.as_str() {
            "sum" => "max",
            "max" => "min",
            "min" => "max",
            "first" => "last",
            "last" => "first",
            _ => return,
        };
        let missing = "a test with several such steps that differ".to_owned();
        self.replace_span(name.span, other, MutantKind::Swap, missing);
    }

    fn so_far(&mut self, so_far: Option<SoFarReach>, span: Span) {
        let front = self.span_text(span).strip_suffix("far").and_then(|front| front.trim_end().strip_suffix("so"));
        if let Some(front) = front.filter(|_| so_far.is_some()) {
            let front = front.trim_end().strip_suffix("started").unwrap_or(front);
            let start = span.start as usize + front.trim_end().len();
            let missing = "a test in which such a step comes later".to_owned();
            self.push_replacement(start..span.end as usize, "", MutantKind::DropWord, missing);
        }
    }

    fn mutate_boolean(&mut self, value: bool, span: Span) {
        let missing = format!("a test in which it matters that this is `{value}`");
        self.replace_span(span, if value { "false" } else { "true" }, MutantKind::Value, missing);
    }

    fn text_parts(&mut self, text: &TextLiteral) {
        for part in &text.parts {
            if let TextPart::Interpolation(expr) = part {
                self.mutate_expr(expr);
            }
        }
    }

    fn mutate_not(&mut self, whole: Span, inner: &Expr) {
        let missing = format!("a test in which `{}` decides", self.short_text(whole));
        self.push_removal(whole.start, inner.span.start, MutantKind::Negate, missing);
        self.mutate_expr(inner);
    }

    /// Replaces a condition by `not (c)`.
    pub(super) fn negate_condition(&mut self, condition: &Expr, missing: String) {
        let text = format!("not ({})", self.span_text(condition.span));
        self.replace_span(condition.span, text, MutantKind::Negate, missing);
    }

    fn mutate_binary(&mut self, operator: BinaryOperator, at: Span, left: &Expr, right: &Expr) {
        use BinaryOperator as B;
        let (l, r) = (self.short_text(left.span), self.short_text(right.span));
        let (other, missing) = match operator {
            B::And => ("or", format!("a test in which just one of `{l}` and `{r}` is true")),
            B::Or => ("and", format!("a test in which just one of `{l}` and `{r}` is true")),
            B::Implies => ("and", format!("a test in which `{l}` is false")),
            B::Add => ("-", format!("a test in which `{r}` is not 0")),
            B::Subtract => ("+", format!("a test in which `{r}` is not 0")),
            B::Multiply => ("/", format!("a test in which `{r}` is not 1")),
            B::Divide => ("*", format!("a test in which `{r}` is not 1")),
            B::Remainder => ("*", format!("a test in which `{r}` matters")),
        };
        let is_logic = matches!(operator, B::And | B::Or | B::Implies);
        self.replace_span(at, other, if is_logic { MutantKind::Swap } else { MutantKind::Value }, missing);
        let (of_left, of_right) = match operator {
            B::And => ("is false and the rest is true", "is false and the rest is true"),
            B::Or => ("alone is true", "alone is true"),
            B::Implies => ("is false", "is true"),
            _ => return,
        };
        self.push_removal(
            left.span.start,
            right.span.start,
            MutantKind::DropCondition,
            format!("a test in which `{l}` {of_left}"),
        );
        self.push_removal(
            left.span.end,
            right.span.end,
            MutantKind::DropCondition,
            format!("a test in which `{r}` {of_right}"),
        );
    }

    fn mutate_quantifier(&mut self, quantifier: ExprQuantifier, span: Span) {
        let (word, others) = match quantifier {
            ExprQuantifier::Any => ("any", &["all", "no"][..]),
            ExprQuantifier::All => ("all", &["any"][..]),
            ExprQuantifier::No => ("no", &["any"][..]),
            ExprQuantifier::Count => return,
        };
        let Some(range) = self.first_word(span, word) else { return };
        for other in others {
            let missing = "a test with a list in which some elements meet the condition and some do not".to_owned();
            self.push_replacement(range.clone(), *other, MutantKind::Swap, missing);
        }
    }

    /// Mutates a test; `subject` is `None` if there is none before it, as in `count`.
    pub(super) fn mutate_test(&mut self, subject: Option<Span>, test: &ValueTest) {
        let whole = subject.map_or(test.span, |span| span.cover_with(test.span));
        let subject = subject.map_or_else(|| "the number".to_owned(), |span| format!("`{}`", self.short_text(span)));
        if let Some(operator) = border_operator(test.kind, test.negated) {
            let operand = test.operand.as_ref().map(|operand| self.short_text(operand.span)).unwrap_or_default();
            let missing = format!("a test in which {subject} is exactly `{operand}`");
            self.replace_span(test.operator, operator, MutantKind::Border, missing);
        }
        if let Some(operator) = opposite_operator(test.kind, test.negated) {
            let missing = format!("tests in which it decides whether `{}`", self.short_text(whole));
            self.replace_span(test.operator, operator, MutantKind::Flip, missing);
        }
        if let Some(operand) = &test.operand {
            self.mutate_operand(operand);
        }
    }

    /// Mutates the operand: ranges lose an end, lists an element, regular expressions their anchors.
    pub(super) fn mutate_operand(&mut self, operand: &Expr) {
        match &operand.kind {
            ExprKind::Range { start, end } => self.mutate_range(operand.span, start.as_deref(), end.as_deref()),
            ExprKind::List(items) if items.len() > 1 => {
                let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
                for (number, span) in spans.iter().enumerate() {
                    let missing = format!("a test with the value `{}`", self.short_text(*span));
                    self.cut_element(&spans, number, MutantKind::DropElement, missing);
                }
            }
            ExprKind::Regex(regex) => self.mutate_regex(regex),
            ExprKind::Group(inner) => self.mutate_operand(inner),
            _ => self.mutate_expr(operand),
        }
    }

    fn mutate_range(&mut self, span: Span, start: Option<&Expr>, end: Option<&Expr>) {
        let (Some(start), Some(end)) = (start, end) else { return };
        let (least, most) = (self.short_text(start.span), self.short_text(end.span));
        let below = format!("a test with a value below `{least}`");
        let above = format!("a test with a value above `{most}`");
        self.push_removal(span.start, start.span.end, MutantKind::Widen, below);
        self.push_removal(end.span.start, span.end, MutantKind::Widen, above);
    }

    pub(super) fn mutate_regex(&mut self, regex: &averment_syntax::ast::RegexLiteral) {
        let (start, end) = (regex.pattern_span.start, regex.pattern_span.end);
        let pattern = regex.pattern.as_str();
        if pattern.starts_with('^') {
            let missing = "a test with a text that fits only behind its start".to_owned();
            self.push_removal(start, start.saturating_add(1), MutantKind::Widen, missing);
        }
        if pattern.ends_with('$') && !pattern.ends_with("\\$") {
            let missing = "a test with a text that fits but goes on behind the fit".to_owned();
            self.push_removal(end.saturating_sub(1), end, MutantKind::Widen, missing);
        }
        if regex.flags.contains('i') {
            let flags: String = regex.flags.chars().filter(|flag| *flag != 'i').collect();
            let missing = "a test with a text in another case".to_owned();
            self.push_replacement(end as usize + 1..regex.span.end as usize, flags, MutantKind::Flip, missing);
        }
    }
}

/// Returns the comparison that includes or excludes the boundary.
fn border_operator(kind: TestKind, negated: bool) -> Option<&'static str> {
    Some(match kind {
        _ if negated => return None,
        TestKind::Less => "<=",
        TestKind::LessOrEqual => "<",
        TestKind::Greater => ">=",
        TestKind::GreaterOrEqual => ">",
        _ => return None,
    })
}

fn opposite_operator(kind: TestKind, negated: bool) -> Option<String> {
    use TestKind as T;
    let other = match (kind, negated) {
        (T::Less, _) => T::GreaterOrEqual,
        (T::LessOrEqual, _) => T::Greater,
        (T::Greater, _) => T::LessOrEqual,
        (T::GreaterOrEqual, _) => T::Less,
        (T::ContainsAll | T::ContainsNone, false) => T::ContainsAny,
        (T::ContainsAny, false) => T::ContainsAll,
        (T::IsMissing, false) => T::Exists,
        (T::ContainsAll | T::ContainsAny | T::ContainsNone | T::ContainsIgnoringCase | T::ContainsJson, _) => {
            return None;
        }
        (kind, true) => kind,
        (kind, false) => return Some(kind.negated()),
    };
    Some(other.written().to_owned())
}
