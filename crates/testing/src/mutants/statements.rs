//! Mutations of statements, blocks and modifiers.

use super::edit::{EditFinder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::with_deep_stack;
use averment_syntax::ast::{
    Assertion, BlockScope, BodySetting, GroupKind, ItemKind, Modifier, ModifierKind, NeverWindow, NumberLiteral,
    Quantifier, RatedSubject, SequenceMode, SlidingExtent, Statement, StatementKind, StepCount, StepPattern,
    SyntaxItem, WithinBound,
};

impl EditFinder<'_> {
    /// Mutates items, except tests, imports, schemas and calls.
    pub(super) fn mutate_items(&mut self, items: &[SyntaxItem]) {
        items.iter().for_each(|item| self.mutate_item(item));
    }

    fn mutate_item(&mut self, item: &SyntaxItem) {
        with_deep_stack(|| match &item.kind {
            ItemKind::Let { value, .. } => self.mutate_operand(value),
            ItemKind::Def { body, .. } => self.mutate_operand(body),
            ItemKind::DefStep { body, .. } => self.mutate_step(body),
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => {
                self.mutate_modifiers(&rule.modifiers);
                self.mutate_items(&rule.body);
            }
            ItemKind::Suite { modifiers, body, .. } | ItemKind::Case { modifiers, body, .. } => {
                self.mutate_modifiers(modifiers);
                self.mutate_items(body);
            }
            ItemKind::Pre { body } | ItemKind::Post { body } => self.mutate_items(body),
            ItemKind::ForEachTool { condition, body } => {
                condition.iter().for_each(|condition| self.mutate_expr(condition));
                self.mutate_items(body);
            }
            ItemKind::Setting(BodySetting::Modifier(modifier)) => self.mutate_modifier(modifier),
            ItemKind::Assertion(assertion) => self.mutate_assertion(assertion, item.span),
            _ => {}
        });
    }

    fn mutate_assertion(&mut self, assertion: &Assertion, whole: Span) {
        let span = assertion.statement.span;
        let expected = assertion.modifiers.iter().any(|modifier| matches!(modifier.kind, ModifierKind::ExpectFail(_)));
        let missing = match expected {
            false => format!("a test that expects `fail` because of `{}`", self.short_text(span)),
            true => format!("a test in which `{}` decides", self.short_text(span)),
        };
        self.push_removal(whole.start, whole.end, MutantKind::DropAssertion, missing);
        self.negate_statement(&assertion.statement);
        self.mutate_statement(&assertion.statement);
        self.mutate_modifiers(&assertion.modifiers);
    }

    fn negate_statement(&mut self, statement: &Statement) {
        let span = statement.span;
        let missing = format!("tests that expect `pass` and `fail` because of `{}`", self.short_text(span));
        match &statement.kind {
            // Their contents are negated separately.
            StatementKind::Not(_) | StatementKind::Block { .. } | StatementKind::World(_) => {}
            StatementKind::Expression(expr) => match &expr.kind {
                averment_syntax::ast::ExprKind::Not(_) | averment_syntax::ast::ExprKind::Test { .. } => {}
                _ => self.negate_condition(expr, missing),
            },
            _ => self.push_insertion(span.start, "not ", MutantKind::Negate, missing),
        }
    }

    fn mutate_modifiers(&mut self, modifiers: &[Modifier]) {
        modifiers.iter().for_each(|modifier| self.mutate_modifier(modifier));
    }

    fn mutate_modifier(&mut self, modifier: &Modifier) {
        let written = self.short_text(modifier.span);
        match &modifier.kind {
            ModifierKind::When(condition) => {
                let missing = format!("a test in which `{}` is false", self.short_text(condition.span));
                self.push_removal(modifier.span.start, modifier.span.end, MutantKind::DropCondition, missing);
                self.mutate_expr(condition);
            }
            ModifierKind::Threshold(_) | ModifierKind::Must | ModifierKind::ExpectFail(_) => {
                let missing = format!("a test in which `{written}` decides");
                self.push_removal(modifier.span.start, modifier.span.end, MutantKind::DropModifier, missing);
            }
            ModifierKind::Severity(name) if name.text != "error" => {
                let missing = format!("a test in which it matters that this is only `{written}`");
                self.replace_span(name.span, "error", MutantKind::DropModifier, missing);
            }
            _ => {}
        }
    }

    fn mutate_statement(&mut self, statement: &Statement) {
        with_deep_stack(|| self.mutate_kind(statement));
    }

    fn mutate_kind(&mut self, statement: &Statement) {
        use StatementKind as S;
        let span = statement.span;
        match &statement.kind {
            S::Expression(expr) => self.mutate_expr(expr),
            S::Sliding { condition, over } => {
                self.mutate_expr(condition);
                match over {
                    SlidingExtent::Within(within) => self.mutate_within(Some(within)),
                    SlidingExtent::Row(row) => {
                        let missing = "a test in which others come between".to_owned();
                        self.push_removal(condition.span.end, row.end, MutantKind::DropWord, missing);
                    }
                }
            }
            S::Not(inner) => {
                let missing = format!("a test in which `{}` decides", self.short_text(span));
                self.push_removal(span.start, inner.span.start, MutantKind::Negate, missing);
                self.mutate_statement(inner);
            }
            S::Require { step, times } => {
                self.mutate_step(step);
                times.iter().for_each(|times| self.mutate_times(times));
            }
            S::Never { steps, window, within } => self.mutate_never(steps, window.as_ref(), within.as_ref()),
            S::Only { steps } => self.mutate_list(steps),
            S::Either { steps } => self.list_or_required(span, steps),
            S::Count { step, test } => {
                self.mutate_step(step);
                self.mutate_test(None, test);
                if let Some(operand) = &test.operand
                    && let averment_syntax::ast::ExprKind::Number(number) = &operand.kind
                {
                    self.one_off(number, "times");
                }
            }
            S::First { step } => self.swap_word(span, "first", "last", &[step]),
            S::Last { step } => self.swap_word(span, "last", "first", &[step]),
            S::Before { step, targets, within, reversed, .. } => {
                self.mutate_order(span, "before", "after", *reversed);
                self.mutate_step(step);
                self.mutate_list(targets);
                self.mutate_within(within.as_ref());
            }
            S::After { step, targets, within, .. } => {
                self.mutate_order(span, "after", "before", false);
                self.mutate_step(step);
                self.mutate_list(targets);
                self.mutate_within(within.as_ref());
            }
            S::Sequence { mode, steps, within } => self.mutate_sequence(span, *mode, steps, within.as_ref()),
            S::Nested { open, close } => self.mutate_nested(span, open, close),
            S::Together { left, right } => self.swap_word(span, "together", "apart", &[left, right]),
            S::Apart { left, right } => self.swap_word(span, "apart", "together", &[left, right]),
            S::IfThen { condition, consequence } => self.if_then(condition, consequence),
            S::Iff { left, right } => self.mutate_iff(span, left, right),
            S::NotBoth { left, right } => [left, right].into_iter().for_each(|step| self.mutate_step(step)),
            S::Repeat { step, limit } => {
                self.mutate_step(step);
                self.one_off(limit, "times in a row");
            }
            S::Flow { flow } => self.mutate_flow(flow),
            S::Each { quantifier, step, condition } => self.mutate_each(span, *quantifier, step, condition),
            S::NoPredicate { target, .. } => {
                if let (None, Some(step)) = (&target.expr, &target.step) {
                    self.mutate_step(step);
                }
            }
            S::ArgsValid { step, strict } => {
                if let Some(word) = strict.then(|| self.find_word(span.start, span.end, "strict")).flatten() {
                    self.push_replacement(
                        word,
                        "",
                        MutantKind::DropWord,
                        "a test with a call of an undeclared tool".to_owned(),
                    );
                }
                step.iter().for_each(|step| self.mutate_step(step));
            }
            S::CallsMatch { expected, .. } => self.mutate_matching(span, expected.span.end),
            S::Block { scope, body } => {
                self.mutate_scope(scope);
                self.mutate_items(body);
            }
            S::Group { kind, body } => self.mutate_group(span, kind, body),
            // A test judges one run, so it can test the statement that is counted over all runs.
            S::Rate { rated: RatedSubject::Statement(inner), .. } => self.mutate_statement(inner),
            S::World(_) | S::Rate { .. } => {}
        }
    }

    fn mutate_list(&mut self, steps: &[StepPattern]) {
        self.mutate_patterns(steps);
        steps.iter().for_each(|step| self.mutate_step(step));
    }

    /// Mutates a statement with at least two patterns; if a single one remains, it becomes `require`.
    fn list_or_required(&mut self, span: Span, steps: &[StepPattern]) {
        let [left, right] = steps else { return self.mutate_list(steps) };
        for (gone, stays) in [(left, right), (right, left)] {
            let missing = format!("a test in which `{}` alone decides", self.short_text(gone.span));
            self.replace_span(
                span,
                format!("require {}", self.span_text(stays.span)),
                MutantKind::DropPattern,
                missing,
            );
        }
        steps.iter().for_each(|step| self.mutate_step(step));
    }

    fn swap_word(&mut self, span: Span, word: &str, other: &str, steps: &[&StepPattern]) {
        if let Some(range) = self.first_word(span, word) {
            let missing = format!("a test in which `{word}` and `{other}` differ");
            self.push_replacement(range, other, MutantKind::Swap, missing);
        }
        steps.iter().for_each(|step| self.mutate_step(step));
    }

    fn mutate_never(&mut self, steps: &[StepPattern], window: Option<&NeverWindow>, within: Option<&WithinBound>) {
        self.mutate_list(steps);
        let end = steps.last().map_or(0, |step| step.span.end);
        match window {
            Some(NeverWindow::After { open, until }) => {
                if until.is_none() {
                    self.window_word(end, open, "after", "before");
                }
                if let Some(until) = until {
                    let missing = format!("a test in which it occurs behind `{}`", self.short_text(until.span));
                    self.push_removal(open.span.end, until.span.end, MutantKind::DropWindow, missing);
                    self.mutate_step(until);
                }
                self.mutate_step(open);
            }
            Some(NeverWindow::Before { close }) => {
                self.window_word(end, close, "before", "after");
                self.mutate_step(close);
            }
            Some(NeverWindow::Between { open, close }) => {
                [open, close].into_iter().for_each(|step| self.mutate_step(step))
            }
            None => {}
        }
        self.mutate_within(within);
    }

    fn window_word(&mut self, start: u32, step: &StepPattern, word: &str, other: &str) {
        if let Some(range) = self.find_word(start, step.span.start, word) {
            let missing = format!("tests in which it occurs before and after `{}`", self.short_text(step.span));
            self.push_replacement(range, other, MutantKind::Swap, missing);
        }
    }

    fn mutate_order(&mut self, span: Span, word: &str, other: &str, reversed: bool) {
        if reversed {
            return;
        }
        if let Some(starts) = self.first_word(span, "starts") {
            let missing = "a test in which the first has started and not ended".to_owned();
            self.push_replacement(self.with_space(starts.clone()), "", MutantKind::DropWord, missing);
            if let Some(before) = self.find_word(span.start, span.end, word) {
                let missing = "a test with the steps in the other order".to_owned();
                self.push_replacement(starts.start..before.end, other, MutantKind::Swap, missing);
            }
        }
        let immediately = self.first_word(span, "immediately");
        let start = immediately.as_ref().map_or(span.start as usize, |range| self.with_space(range.clone()).end);
        let rest = Span { start: u32::try_from(start).unwrap_or(span.start), ..span };
        let Some(range) = self.first_word(rest, word) else { return };
        self.push_replacement(
            range.clone(),
            other,
            MutantKind::Swap,
            "a test with the steps in the other order".to_owned(),
        );
        if let Some(range) = immediately {
            let range = self.with_space(range);
            self.push_replacement(range, "", MutantKind::DropWord, "a test with another call in between".to_owned());
        }
        let behind = self.with_space(range);
        let rest = Span { start: u32::try_from(behind.end).unwrap_or(span.start), ..span };
        if let Some(range) = self.first_word(rest, "each") {
            let range = self.with_space(range);
            self.push_replacement(
                range,
                "",
                MutantKind::DropWord,
                "a test in which one is to serve for two".to_owned(),
            );
        }
    }

    fn mutate_within(&mut self, within: Option<&WithinBound>) {
        let Some(within) = within else { return };
        let missing = format!("a test in which more than `{}` lie between", self.short_text(within.span));
        let before = self.text.get(..within.span.start as usize).unwrap_or("").trim_end().len();
        let before = u32::try_from(before).unwrap_or(within.span.start);
        self.push_removal(before, within.span.end, MutantKind::DropWindow, missing);
        if within.unit.is_some() {
            self.one_off(&within.number, "steps on");
        }
    }

    fn one_off(&mut self, number: &NumberLiteral, what: &str) {
        let Ok(value) = number.value.parse::<u64>() else { return };
        let missing = format!("a test in which it is exactly {value} {what}, and one with one more");
        if let Some(more) = value.checked_add(1) {
            self.replace_span(number.span, more.to_string(), MutantKind::Bound, missing.clone());
        }
        if let Some(less) = value.checked_sub(1) {
            self.replace_span(number.span, less.to_string(), MutantKind::Bound, missing);
        }
    }

    fn mutate_times(&mut self, times: &StepCount) {
        let exactly = matches!((&times.least, &times.most), (Some(least), Some(most)) if least.span == most.span);
        let bounds = times.least.iter().chain(times.most.iter().filter(|_| !exactly));
        bounds.for_each(|number| self.one_off(number, "times"));
    }

    fn mutate_sequence(&mut self, span: Span, mode: SequenceMode, steps: &[StepPattern], within: Option<&WithinBound>) {
        self.list_or_required(span, steps);
        for pair in steps.windows(2) {
            let [left, right] = pair else { continue };
            let (l, r) = (self.span_text(left.span), self.span_text(right.span));
            let between = self.text.get(left.span.end as usize..right.span.start as usize).unwrap_or(" -> ");
            let missing =
                format!("a test with `{}` before `{}`", self.short_text(right.span), self.short_text(left.span));
            self.replace_span(left.span.cover_with(right.span), format!("{r}{between}{l}"), MutantKind::Swap, missing);
        }
        let word = match mode {
            SequenceMode::Gaps => None,
            SequenceMode::Only => Some("only"),
            SequenceMode::Exactly => Some("exactly"),
        };
        let start = steps.first().map_or(span.start, |step| step.span.start);
        // `sequence a` with a single step is not a valid statement.
        let word = word.filter(|_| steps.len() > 1);
        if let Some(range) = word.and_then(|word| self.find_word(span.start, start, word)) {
            let range = self.with_space(range);
            self.push_replacement(range, "", MutantKind::DropWord, "a test with further calls in between".to_owned());
        }
        self.mutate_within(within);
    }

    /// Weakens `nested`, so that closing in reverse order is not required.
    fn mutate_nested(&mut self, span: Span, open: &StepPattern, close: &StepPattern) {
        if let Some(range) = self.first_word(span, "nested") {
            let missing = "a test in which they are closed in another order".to_owned();
            self.push_replacement(range, "after", MutantKind::Swap, missing);
        }
        [open, close].into_iter().for_each(|step| self.mutate_step(step));
    }

    fn if_then(&mut self, condition: &StepPattern, consequence: &StepPattern) {
        let (c, q) = (self.span_text(condition.span), self.span_text(consequence.span));
        let between = self.text.get(condition.span.end as usize..consequence.span.start as usize).unwrap_or(" then ");
        let missing = format!("a test with `{q}` and without `{c}`");
        self.replace_span(
            condition.span.cover_with(consequence.span),
            format!("{q}{between}{c}"),
            MutantKind::Swap,
            missing,
        );
        [condition, consequence].into_iter().for_each(|step| self.mutate_step(step));
    }

    fn mutate_iff(&mut self, span: Span, left: &StepPattern, right: &StepPattern) {
        let (l, r) = (self.span_text(left.span), self.span_text(right.span));
        let missing = |with: &str, without: &str| format!("a test with `{with}` and without `{without}`");
        self.replace_span(span, format!("if {l} then {r}"), MutantKind::DropCondition, missing(r, l));
        self.replace_span(span, format!("if {r} then {l}"), MutantKind::DropCondition, missing(l, r));
        [left, right].into_iter().for_each(|step| self.mutate_step(step));
    }

    fn mutate_each(
        &mut self,
        span: Span,
        quantifier: Quantifier,
        step: &StepPattern,
        condition: &averment_syntax::ast::Expr,
    ) {
        let (word, other) = match quantifier {
            Quantifier::Each => ("each", "some"),
            Quantifier::Some => ("some", "each"),
            Quantifier::No => ("no", "some"),
        };
        if let Some(range) = self.first_word(span, word) {
            let missing = "a test with a step that meets the condition and one that does not".to_owned();
            self.push_replacement(range, other, MutantKind::Swap, missing);
        }
        self.mutate_step(step);
        self.mutate_expr(condition);
    }

    fn mutate_scope(&mut self, scope: &BlockScope) {
        match scope {
            BlockScope::After { open, until: Some(until) } => {
                let missing = format!("a test in which it occurs behind `{}`", self.short_text(until.span));
                self.push_removal(open.span.end, until.span.end, MutantKind::DropWindow, missing);
                [open, until].into_iter().for_each(|step| self.mutate_step(step));
            }
            BlockScope::After { open, until: None } => self.mutate_step(open),
            BlockScope::Before { close } => self.mutate_step(close),
            BlockScope::Between { open, close } => [open, close].into_iter().for_each(|step| self.mutate_step(step)),
            BlockScope::Each { step } => self.mutate_step(step),
            BlockScope::When { condition } => {
                let missing = format!("a test in which `{}` is false", self.short_text(condition.span));
                self.negate_condition(condition, missing);
                self.mutate_expr(condition);
            }
        }
    }

    fn mutate_group(&mut self, span: Span, kind: &GroupKind, body: &[SyntaxItem]) {
        let missing = "a test in which just one of its members holds".to_owned();
        let words = match kind {
            GroupKind::Any => Some(("any", "all")),
            GroupKind::All => Some(("all", "any")),
            GroupKind::None => Some(("none", "any")),
            GroupKind::AtLeast(number) => {
                self.one_off(number, "members that hold");
                None
            }
        };
        if let Some((word, other)) = words
            && let Some(range) = self.first_word(span, word)
        {
            self.push_replacement(range, other, MutantKind::Swap, missing);
        }
        self.mutate_items(body);
    }
}
