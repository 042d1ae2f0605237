//! Changes of expressions.

use super::edit::{Finder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::deeper;
use averment_syntax::ast::{BinaryOperator, Expr, ExprKind, ExprQuantifier, Name, TestKind, Text, TextPart, ValueTest};

impl Finder<'_> {
    /// The changes of an expression and of everything in it.
    pub(super) fn expr(&mut self, expr: &Expr) {
        deeper(|| self.form(expr));
    }

    fn form(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Boolean(value) => self.boolean(*value, expr.span),
            ExprKind::Text(text) => self.text_parts(text),
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Object(entries) => entries.iter().for_each(|(_, value)| self.expr(value)),
            ExprKind::Field { base, .. } | ExprKind::Every { base } | ExprKind::Deep { base } => self.expr(base),
            ExprKind::Index { base, .. } => self.expr(base),
            ExprKind::Call { name, arguments, .. } => {
                self.made_of_steps(name, arguments);
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Negate(inner) | ExprKind::Group(inner) => self.expr(inner),
            ExprKind::Not(inner) => self.not(expr.span, inner),
            ExprKind::Binary { operator, operator_span, left, right } => {
                self.binary(*operator, *operator_span, left, right);
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Test { subject, test } => {
                self.expr(subject);
                self.test(Some(subject.span), test);
            }
            ExprKind::If { condition, then, otherwise } => {
                let missing = format!("a test in which `{}` decides", self.short(condition.span));
                self.negate_condition(condition, missing);
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Quantifier { quantifier, source, body, .. } => {
                self.quantifier(*quantifier, expr.span);
                self.expr(source);
                self.expr(body);
            }
            // A test judges one run: what is made of all of them is tested by none.
            ExprKind::OverRuns { .. } => {}
            ExprKind::Of { value, target, so_far } => {
                self.so_far(*so_far, expr.span);
                self.expr(value);
                target.expr.iter().for_each(|list| self.expr(list));
                target.step.iter().for_each(|step| self.step(step));
            }
            ExprKind::Filtered { list, condition } => {
                let missing = format!("a test with an element for which `{}` is false", self.short(condition.span));
                self.cut(list.span.end, condition.span.end, MutantKind::DropCondition, missing);
                self.expr(list);
                self.expr(condition);
            }
            ExprKind::Counted { step, so_far } => {
                self.so_far(*so_far, expr.span);
                self.step(step);
            }
            ExprKind::Null
            | ExprKind::Number(_)
            | ExprKind::Regex(_)
            | ExprKind::Name(_)
            | ExprKind::Binding(_)
            | ExprKind::Range { .. } => {}
        }
    }

    /// What is made of a list of steps: the greatest in place of the sum, the first in place of the last.
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

    /// All steps in place of those that were known.
    fn so_far(&mut self, so_far: bool, span: Span) {
        let front = self.at(span).strip_suffix("far").and_then(|front| front.trim_end().strip_suffix("so"));
        if let Some(front) = front.filter(|_| so_far) {
            let start = span.start as usize + front.trim_end().len();
            let missing = "a test in which such a step comes later".to_owned();
            self.replace(start..span.end as usize, "", MutantKind::DropWord, missing);
        }
    }

    fn boolean(&mut self, value: bool, span: Span) {
        let missing = format!("a test in which it matters that this is `{value}`");
        self.replace_span(span, if value { "false" } else { "true" }, MutantKind::Value, missing);
    }

    fn text_parts(&mut self, text: &Text) {
        for part in &text.parts {
            if let TextPart::Interpolation(expr) = part {
                self.expr(expr);
            }
        }
    }

    fn not(&mut self, whole: Span, inner: &Expr) {
        let missing = format!("a test in which `{}` decides", self.short(whole));
        self.cut(whole.start, inner.span.start, MutantKind::Negate, missing);
        self.expr(inner);
    }

    /// `not (c)` in place of a condition.
    pub(super) fn negate_condition(&mut self, condition: &Expr, missing: String) {
        let text = format!("not ({})", self.at(condition.span));
        self.replace_span(condition.span, text, MutantKind::Negate, missing);
    }

    fn binary(&mut self, operator: BinaryOperator, at: Span, left: &Expr, right: &Expr) {
        use BinaryOperator as B;
        let (l, r) = (self.short(left.span), self.short(right.span));
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
        self.cut(
            left.span.start,
            right.span.start,
            MutantKind::DropCondition,
            format!("a test in which `{l}` {of_left}"),
        );
        self.cut(left.span.end, right.span.end, MutantKind::DropCondition, format!("a test in which `{r}` {of_right}"));
    }

    fn quantifier(&mut self, quantifier: ExprQuantifier, span: Span) {
        let (word, others) = match quantifier {
            ExprQuantifier::Any => ("any", &["all", "no"][..]),
            ExprQuantifier::All => ("all", &["any"][..]),
            ExprQuantifier::No => ("no", &["any"][..]),
            ExprQuantifier::Count => return,
        };
        let Some(range) = self.first_word(span, word) else { return };
        for other in others {
            let missing = "a test with a list in which some elements meet the condition and some do not".to_owned();
            self.replace(range.clone(), *other, MutantKind::Swap, missing);
        }
    }

    /// The changes of a test. A test among arguments has its subject in front, the test of a `count` has none.
    pub(super) fn test(&mut self, subject: Option<Span>, test: &ValueTest) {
        let whole = subject.map_or(test.span, |span| span.to(test.span));
        let subject = subject.map_or_else(|| "the number".to_owned(), |span| format!("`{}`", self.short(span)));
        if let Some(operator) = border(test.kind, test.negated) {
            let operand = test.operand.as_ref().map(|operand| self.short(operand.span)).unwrap_or_default();
            let missing = format!("a test in which {subject} is exactly `{operand}`");
            self.replace_span(test.operator, operator, MutantKind::Border, missing);
        }
        if let Some(operator) = opposite(test.kind, test.negated) {
            let missing = format!("tests in which it decides whether `{}`", self.short(whole));
            self.replace_span(test.operator, operator, MutantKind::Flip, missing);
        }
        if let Some(operand) = &test.operand {
            self.operand(operand);
        }
    }

    /// What a value is tested against: ranges lose an end, lists an element, regular expressions their anchors.
    pub(super) fn operand(&mut self, operand: &Expr) {
        match &operand.kind {
            ExprKind::Range { start, end } => self.range(operand.span, start.as_deref(), end.as_deref()),
            ExprKind::List(items) if items.len() > 1 => {
                let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
                for (number, span) in spans.iter().enumerate() {
                    let missing = format!("a test with the value `{}`", self.short(*span));
                    self.cut_element(&spans, number, MutantKind::DropElement, missing);
                }
            }
            ExprKind::Regex(regex) => self.regex(regex),
            ExprKind::Group(inner) => self.operand(inner),
            _ => self.expr(operand),
        }
    }

    fn range(&mut self, span: Span, start: Option<&Expr>, end: Option<&Expr>) {
        let (Some(start), Some(end)) = (start, end) else { return };
        let (least, most) = (self.short(start.span), self.short(end.span));
        let below = format!("a test with a value below `{least}`");
        let above = format!("a test with a value above `{most}`");
        self.cut(span.start, start.span.end, MutantKind::Widen, below);
        self.cut(end.span.start, span.end, MutantKind::Widen, above);
    }

    /// A regular expression without its anchors, and one that does not ignore case.
    pub(super) fn regex(&mut self, regex: &averment_syntax::ast::Regex) {
        let (start, end) = (regex.pattern_span.start, regex.pattern_span.end);
        let pattern = regex.pattern.as_str();
        if pattern.starts_with('^') {
            let missing = "a test with a text that fits only behind its start".to_owned();
            self.cut(start, start.saturating_add(1), MutantKind::Widen, missing);
        }
        if pattern.ends_with('$') && !pattern.ends_with("\\$") {
            let missing = "a test with a text that fits but goes on behind the fit".to_owned();
            self.cut(end.saturating_sub(1), end, MutantKind::Widen, missing);
        }
        if regex.flags.contains('i') {
            let flags: String = regex.flags.chars().filter(|flag| *flag != 'i').collect();
            let missing = "a test with a text in another case".to_owned();
            self.replace(end as usize + 1..regex.span.end as usize, flags, MutantKind::Flip, missing);
        }
    }
}

/// The comparison that takes its border in or leaves it out.
fn border(kind: TestKind, negated: bool) -> Option<&'static str> {
    Some(match kind {
        _ if negated => return None,
        TestKind::Less => "<=",
        TestKind::LessOrEqual => "<",
        TestKind::Greater => ">=",
        TestKind::GreaterOrEqual => ">",
        _ => return None,
    })
}

/// The opposite of a test, as it is written.
fn opposite(kind: TestKind, negated: bool) -> Option<String> {
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
