//! Lints for text that can be written more simply.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    AtomSubject, BinaryOperator, BodySetting, Expr, ExprKind, GroupKind, ItemKind, ModifierKind, Statement,
    StatementKind, StepCount, SyntaxItem, TestKind, ValueTest,
};

/// Runs the style lints on single expressions.
pub fn expression_style(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut ExpressionVisitor(context));
}

struct ExpressionVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for ExpressionVisitor<'_, 'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Not(inner) => self.double_negation(expr, inner),
            ExprKind::Group(inner) => self.check_parentheses(expr, inner),
            ExprKind::If { condition, then, otherwise } => self.check_choice(expr, condition, then, otherwise),
            ExprKind::Binary { operator: BinaryOperator::Or, left, right, .. } => {
                self.check_mixed_operators(left);
                self.check_mixed_operators(right);
            }
            ExprKind::Test { subject, test } => {
                self.check_yoda(expr, subject, test);
                self.check_boolean(expr, subject, test);
                self.check_single_list(test);
            }
            _ => {}
        }
    }
}

fn without_parentheses(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let ExprKind::Group(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Null | ExprKind::Boolean(_) | ExprKind::Number(_) | ExprKind::Text(_))
}

impl<'a> ExpressionVisitor<'_, 'a> {
    /// Reports `((a))` and `(output.a) == 1`.
    fn check_parentheses(&mut self, expr: &Expr, inner: &Expr) {
        let plain = matches!(
            inner.kind,
            ExprKind::Group(_)
                | ExprKind::Name(_)
                | ExprKind::Field { .. }
                | ExprKind::Number(_)
                | ExprKind::Text(_)
                | ExprKind::Boolean(_)
                | ExprKind::Null
                | ExprKind::Binding(_)
                | ExprKind::List(_)
        );
        if plain {
            let whole = self.outer_span(expr);
            let text = self.spaced_text(whole, self.0.span_text(inner.span));
            self.0.report(
                Diagnostic::new(Slug::RedundantParentheses, whole, "these parentheses group nothing")
                    .with_help(format!("write `{text}`"))
                    .with_fix("remove the parentheses", whole, text),
            );
        }
    }

    /// Returns a replacement text, with spaces where it would join adjacent words: `not(a)`.
    fn spaced_text(&self, place: Span, text: &str) -> String {
        let Some(file) = self.0.sources.get(place.file) else { return text.to_owned() };
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let before = file.text.get(..place.start as usize).is_some_and(|before| before.ends_with(is_word));
        let after = file.text.get(place.end as usize..).is_some_and(|after| after.starts_with(is_word));
        format!("{}{text}{}", if before { " " } else { "" }, if after { " " } else { "" })
    }

    /// Returns the span of a group including its parentheses, which the tree may omit.
    fn outer_span(&self, expr: &Expr) -> Span {
        let text = self.0.span_text(expr.span);
        if text.starts_with('(') && text.ends_with(')') {
            return expr.span;
        }
        let Some(file) = self.0.sources.get(expr.span.file) else { return expr.span };
        let before = file.text.get(..expr.span.start as usize).unwrap_or("").trim_end();
        let after = file.text.get(expr.span.end as usize..).unwrap_or("");
        let gap = after.len().saturating_sub(after.trim_start().len());
        match before.ends_with('(') && after.trim_start().starts_with(')') {
            true => Span::new(
                expr.span.file,
                before.len().saturating_sub(1),
                (expr.span.end as usize).saturating_add(gap).saturating_add(1),
            ),
            false => expr.span,
        }
    }

    /// Reports `if c then true else false`.
    fn check_choice(&mut self, expr: &Expr, condition: &Expr, then: &Expr, otherwise: &Expr) {
        let (ExprKind::Boolean(then), ExprKind::Boolean(otherwise)) =
            (&without_parentheses(then).kind, &without_parentheses(otherwise).kind)
        else {
            return;
        };
        if then == otherwise {
            return;
        }
        let text = self.0.span_text(condition.span);
        let plain = if *then { format!("({text})") } else { format!("not ({text})") };
        self.0.report(
            Diagnostic::new(Slug::RedundantIf, expr.span, "the condition is true or false by itself")
                .with_help(format!("write `{plain}`"))
                .with_fix("leave the choice out", expr.span, plain),
        );
    }

    /// Reports `a or b and c`.
    fn check_mixed_operators(&mut self, side: &Expr) {
        let ExprKind::Binary { operator: BinaryOperator::And, .. } = &side.kind else { return };
        let text = format!("({})", self.0.span_text(side.span));
        self.0.report(
            Diagnostic::new(Slug::MixedLogic, side.span, "`and` binds more tightly than `or`: not everybody knows")
                .with_help(format!("write `{text}`"))
                .with_fix("put parentheses around it", side.span, text),
        );
    }

    /// Reports `not (a != b)` and `not not a`.
    fn double_negation(&mut self, expr: &'a Expr, inner: &'a Expr) {
        let inner = without_parentheses(inner);
        let text = |context: &LintContext<'a>, one: &Expr| context.span_text(one.span).to_owned();
        match &inner.kind {
            ExprKind::Not(twice) => {
                let plain = text(self.0, twice);
                self.0.report(
                    Diagnostic::new(Slug::DoubleNegation, expr.span, "`not not` says nothing")
                        .with_help(format!("write `{plain}`"))
                        .with_fix("remove both `not`", expr.span, plain),
                );
            }
            ExprKind::Test { subject, test } if test.negated => {
                let Some(positive) = positive_form(self.0, subject, test) else { return };
                self.0.report(
                    Diagnostic::new(
                        Slug::DoubleNegation,
                        expr.span,
                        "`not` before a negated test: two negations are one too many",
                    )
                    .with_help(format!("write `{positive}`"))
                    .with_fix("say it without negation", expr.span, positive),
                );
            }
            _ => {}
        }
    }

    /// Reports `3 < x`.
    fn check_yoda(&mut self, expr: &'a Expr, subject: &'a Expr, test: &'a ValueTest) {
        let Some(operand) = test.operand.as_deref() else { return };
        let sign = match (test.kind, test.negated) {
            (TestKind::Equal, false) => "==",
            (TestKind::Equal, true) => "!=",
            (TestKind::Less, false) => ">",
            (TestKind::LessOrEqual, false) => ">=",
            (TestKind::Greater, false) => "<",
            (TestKind::GreaterOrEqual, false) => "<=",
            _ => return,
        };
        if !is_literal(subject) || is_literal(without_parentheses(operand)) {
            return;
        }
        let turned = format!("{} {sign} {}", self.0.span_text(operand.span), self.0.span_text(subject.span));
        self.0.report(
            Diagnostic::new(Slug::YodaCondition, expr.span, "the constant stands before what is tested")
                .with_help(format!("write `{turned}`"))
                .with_fix("turn the comparison around", expr.span, turned),
        );
    }

    /// Reports `x in ["a"]`.
    fn check_single_list(&mut self, test: &'a ValueTest) {
        let (TestKind::In, Some(operand)) = (test.kind, test.operand.as_deref()) else { return };
        let ExprKind::List(items) = &operand.kind else { return };
        let [only] = items.as_slice() else { return };
        if !is_literal(only) {
            return;
        }
        let sign = if test.negated { "!=" } else { "==" };
        let written = format!("{sign} {}", self.0.span_text(only.span));
        // `in` never matches `null`, while `==` does. Only the author knows which is intended, so there is no fix.
        self.0.report(
            Diagnostic::new(Slug::SingleItemIn, test.span, "a list of one value is that value")
                .with_help(format!("write `{written}`")),
        );
    }

    /// Reports `ok == true`.
    fn check_boolean(&mut self, expr: &'a Expr, subject: &'a Expr, test: &'a ValueTest) {
        let (TestKind::Equal, Some(operand)) = (test.kind, test.operand.as_deref()) else { return };
        let ExprKind::Boolean(value) = operand.kind else { return };
        // Only for values that are certainly boolean; for other values, the comparison is a test of its own.
        if !matches!(without_parentheses(subject).kind, ExprKind::Test { .. } | ExprKind::Not(_)) {
            return;
        }
        let text = self.0.span_text(subject.span);
        let plain = if value != test.negated { format!("({text})") } else { format!("not ({text})") };
        self.0.report(
            Diagnostic::new(Slug::BooleanComparison, expr.span, "a test is true or false by itself")
                .with_help(format!("write `{plain}`"))
                .with_fix("leave the comparison out", expr.span, plain),
        );
    }
}

fn positive_form(context: &LintContext<'_>, subject: &Expr, test: &ValueTest) -> Option<String> {
    let subject = context.span_text(subject.span);
    let operator = context.span_text(test.operator);
    let rest = context.sources.span_text(averment_base::source::Span { start: test.operator.end, ..test.span }).trim();
    let words: Vec<&str> = operator.split_whitespace().collect();
    let plain = match words.as_slice() {
        ["!="] => "==".to_owned(),
        ["!=="] => "===".to_owned(),
        ["does", "not", verb, rest @ ..] => {
            let verb = if *verb == "match" { "matches".to_owned() } else { format!("{verb}s") };
            std::iter::once(verb.as_str()).chain(rest.iter().copied()).collect::<Vec<_>>().join(" ")
        }
        words if words.contains(&"not") => {
            let at = words.iter().position(|word| *word == "not")?;
            words
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != at)
                .map(|(_, word)| *word)
                .collect::<Vec<_>>()
                .join(" ")
        }
        _ => return None,
    };
    Some(format!("{subject} {plain} {rest}").trim_end().to_owned())
}

/// Maximum number of assertions of one rule before it is reported as long.
const LONG: usize = 25;

/// Runs the style lints on statements and rules.
pub fn statement_style(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut StatementVisitor(context));
}

struct StatementVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for StatementVisitor<'_, 'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        let ItemKind::Rule(rule) = &item.kind else { return };
        let assertions = rule.body.iter().filter(|item| matches!(item.kind, ItemKind::Assertion(_))).count();
        let name = &rule.name;
        if assertions == 0 {
            self.0.report(
                Diagnostic::new(Slug::EmptyRule, name.span, format!("the rule `{}` asserts nothing", name.text))
                    .with_help("write an assertion into it, or remove it"),
            );
        }
        if assertions > LONG {
            let message = format!("the rule `{}` has {assertions} assertions", name.text);
            self.0.report(
                Diagnostic::new(Slug::LongRule, name.span, message)
                    .with_help("split it: a rule is one sentence, and fails as one"),
            );
        }
        if rule.sentence.is_none() && assertions > 0 {
            let message = format!("the rule `{}` has no sentence", name.text);
            self.0.report(
                Diagnostic::new(Slug::MissingSentence, name.span, message)
                    .with_help(format!("say what it is for: `rule {} \"…\" {{`", name.text)),
            );
        }
        self.check_must(&rule.body, rule.modifiers.iter().any(|one| matches!(one.kind, ModifierKind::Threshold(_))));
    }

    fn visit_statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Group { kind, body } => self.check_group(statement, kind, body),
            StatementKind::Require { step, times: Some(times) } => {
                self.check_times(step.span, times);
            }
            _ => {}
        }
    }

    fn visit_step(&mut self, step: &'a averment_syntax::ast::StepPattern) {
        if let averment_syntax::ast::PatternForm::Atom(atom) = &step.kind
            && let AtomSubject::Tool(name) = &atom.subject
            && name.text == "*"
        {
            self.0.report(
                Diagnostic::new(Slug::StarForAny, name.span, "every call, whatever its tool: there is a word for that")
                    .with_help("write `any`")
                    .with_fix("write `any`", name.span, "any"),
            );
        }
    }
}

impl<'a> StatementVisitor<'_, 'a> {
    /// Reports `must` in a rule without a threshold.
    fn check_must(&mut self, body: &'a [SyntaxItem], has_threshold: bool) {
        let has_threshold = has_threshold
            || body.iter().any(|item| match &item.kind {
                ItemKind::Setting(BodySetting::Modifier(one)) => matches!(one.kind, ModifierKind::Threshold(_)),
                _ => false,
            });
        if has_threshold {
            return;
        }
        for item in body {
            let ItemKind::Assertion(assertion) = &item.kind else { continue };
            for modifier in assertion.modifiers.iter().filter(|one| matches!(one.kind, ModifierKind::Must)) {
                self.0.report(
                    Diagnostic::new(Slug::MustWithoutThreshold, modifier.span, "`must` says nothing in a rule without a threshold")
                        .with_help("every assertion has to hold here anyway; write `threshold 0.8` as the first line of the rule, or remove `must`"),
                );
            }
        }
    }

    /// Reports a group with one member, and counts that have a word of their own.
    fn check_group(&mut self, statement: &Statement, kind: &GroupKind, body: &[SyntaxItem]) {
        let members = body.iter().filter(|item| matches!(item.kind, ItemKind::Assertion(_))).count();
        let head = Span { end: statement.span.start.saturating_add(1), ..statement.span };
        let head = self.0.span_text(statement.span).find('{').map_or(head, |at| {
            let text = self.0.span_text(statement.span).get(..at).unwrap_or("").trim_end().len();
            Span::new(
                statement.span.file,
                statement.span.start as usize,
                (statement.span.start as usize).saturating_add(text),
            )
        });
        match kind {
            GroupKind::Any | GroupKind::All if members == 1 => {
                let message = "a group of one statement is that statement";
                self.0
                    .report(Diagnostic::new(Slug::TrivialGroup, head, message).with_help("write the statement alone"));
            }
            GroupKind::AtLeast(number) if number.value == "1" && members > 1 => {
                self.0.report(
                    Diagnostic::new(Slug::TrivialGroup, head, "at least one is any of them")
                        .with_help("write `any of`")
                        .with_fix("write `any of`", head, "any of"),
                );
            }
            GroupKind::AtLeast(number) if members > 1 && number.value == members.to_string() => {
                self.0.report(
                    Diagnostic::new(
                        Slug::TrivialGroup,
                        head,
                        format!("at least {members} of {members} are all of them"),
                    )
                    .with_help("write `all of`")
                    .with_fix("write `all of`", head, "all of"),
                );
            }
            _ => {}
        }
    }

    /// Reports `require A 1.. times`.
    fn check_times(&mut self, step: Span, times: &StepCount) {
        let one = times.least.as_ref().is_some_and(|least| least.value == "1");
        if !one || times.most.is_some() {
            return;
        }
        let Some(file) = self.0.sources.get(step.file) else { return };
        let behind = file.text.get(times.span.end as usize..).unwrap_or("");
        let rest = behind.trim_start_matches([' ', '\t']);
        let word = if rest.starts_with("times") {
            5
        } else if rest.starts_with("time") {
            4
        } else {
            return;
        };
        let end =
            (times.span.end as usize).saturating_add(behind.len().saturating_sub(rest.len())).saturating_add(word);
        let place = Span::new(step.file, step.end as usize, end);
        self.0.report(
            Diagnostic::new(Slug::RedundantTimes, times.span, "`require` alone asks for at least one")
                .with_help("leave the number out")
                .with_fix("remove the number", place, ""),
        );
    }
}
