//! Changes of statements, blocks and modifiers.

use super::edit::{Finder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::deeper;
use averment_syntax::ast::{
    Assertion, GroupKind, Item, ItemKind, Modifier, ModifierKind, Number, Over, Quantifier, Rated, Scope, SequenceMode,
    Setting, Statement, StatementKind, Step, Times, Window, Within,
};

impl Finder<'_> {
    /// The changes of items. Tests, imports, schemas and calls stay as they are.
    pub(super) fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        deeper(|| match &item.kind {
            ItemKind::Let { value, .. } => self.operand(value),
            ItemKind::Def { body, .. } => self.operand(body),
            ItemKind::DefStep { body, .. } => self.step(body),
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => {
                self.modifiers(&rule.modifiers);
                self.items(&rule.body);
            }
            ItemKind::Suite { modifiers, body, .. } | ItemKind::Case { modifiers, body, .. } => {
                self.modifiers(modifiers);
                self.items(body);
            }
            ItemKind::Pre { body } | ItemKind::Post { body } => self.items(body),
            ItemKind::ForEachTool { condition, body } => {
                condition.iter().for_each(|condition| self.expr(condition));
                self.items(body);
            }
            ItemKind::Setting(Setting::Modifier(modifier)) => self.modifier(modifier),
            ItemKind::Assertion(assertion) => self.assertion(assertion, item.span),
            _ => {}
        });
    }

    fn assertion(&mut self, assertion: &Assertion, whole: Span) {
        let span = assertion.statement.span;
        let expected = assertion.modifiers.iter().any(|modifier| matches!(modifier.kind, ModifierKind::ExpectFail(_)));
        let missing = match expected {
            false => format!("a test that expects `fail` because of `{}`", self.short(span)),
            true => format!("a test in which `{}` decides", self.short(span)),
        };
        self.cut(whole.start, whole.end, MutantKind::DropAssertion, missing);
        self.negate_statement(&assertion.statement);
        self.statement(&assertion.statement);
        self.modifiers(&assertion.modifiers);
    }

    fn negate_statement(&mut self, statement: &Statement) {
        let span = statement.span;
        let missing = format!("tests that expect `pass` and `fail` because of `{}`", self.short(span));
        match &statement.kind {
            // What they hold is negated itself.
            StatementKind::Not(_) | StatementKind::Block { .. } | StatementKind::World(_) => {}
            StatementKind::Expression(expr) => match &expr.kind {
                averment_syntax::ast::ExprKind::Not(_) | averment_syntax::ast::ExprKind::Test { .. } => {}
                _ => self.negate_condition(expr, missing),
            },
            _ => self.insert(span.start, "not ", MutantKind::Negate, missing),
        }
    }

    fn modifiers(&mut self, modifiers: &[Modifier]) {
        modifiers.iter().for_each(|modifier| self.modifier(modifier));
    }

    fn modifier(&mut self, modifier: &Modifier) {
        let written = self.short(modifier.span);
        match &modifier.kind {
            ModifierKind::When(condition) => {
                let missing = format!("a test in which `{}` is false", self.short(condition.span));
                self.cut(modifier.span.start, modifier.span.end, MutantKind::DropCondition, missing);
                self.expr(condition);
            }
            ModifierKind::Threshold(_) | ModifierKind::Must | ModifierKind::ExpectFail(_) => {
                let missing = format!("a test in which `{written}` decides");
                self.cut(modifier.span.start, modifier.span.end, MutantKind::DropModifier, missing);
            }
            ModifierKind::Severity(name) if name.text != "error" => {
                let missing = format!("a test in which it matters that this is only `{written}`");
                self.replace_span(name.span, "error", MutantKind::DropModifier, missing);
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &Statement) {
        deeper(|| self.kind(statement));
    }

    fn kind(&mut self, statement: &Statement) {
        use StatementKind as S;
        let span = statement.span;
        match &statement.kind {
            S::Expression(expr) => self.expr(expr),
            S::Sliding { condition, over } => {
                self.expr(condition);
                match over {
                    Over::Within(within) => self.within(Some(within)),
                    Over::Row(row) => {
                        let missing = "a test in which others come between".to_owned();
                        self.cut(condition.span.end, row.end, MutantKind::DropWord, missing);
                    }
                }
            }
            S::Not(inner) => {
                let missing = format!("a test in which `{}` decides", self.short(span));
                self.cut(span.start, inner.span.start, MutantKind::Negate, missing);
                self.statement(inner);
            }
            S::Require { step, times } => {
                self.step(step);
                times.iter().for_each(|times| self.times(times));
            }
            S::Never { steps, window, within } => self.never(steps, window.as_ref(), within.as_ref()),
            S::Only { steps } => self.list(steps),
            S::Either { steps } => self.list_or_required(span, steps),
            S::Count { step, test } => {
                self.step(step);
                self.test(None, test);
                if let Some(operand) = &test.operand
                    && let averment_syntax::ast::ExprKind::Number(number) = &operand.kind
                {
                    self.one_off(number, "times");
                }
            }
            S::First { step } => self.swap_word(span, "first", "last", &[step]),
            S::Last { step } => self.swap_word(span, "last", "first", &[step]),
            S::Before { step, targets, within, reversed, .. } => {
                self.order(span, "before", "after", *reversed);
                self.step(step);
                self.list(targets);
                self.within(within.as_ref());
            }
            S::After { step, targets, within, .. } => {
                self.order(span, "after", "before", false);
                self.step(step);
                self.list(targets);
                self.within(within.as_ref());
            }
            S::Sequence { mode, steps, within } => self.sequence(span, *mode, steps, within.as_ref()),
            S::Nested { open, close } => self.nested(span, open, close),
            S::Together { left, right } => self.swap_word(span, "together", "apart", &[left, right]),
            S::Apart { left, right } => self.swap_word(span, "apart", "together", &[left, right]),
            S::IfThen { condition, consequence } => self.if_then(condition, consequence),
            S::Iff { left, right } => self.iff(span, left, right),
            S::NotBoth { left, right } => [left, right].into_iter().for_each(|step| self.step(step)),
            S::Repeat { step, limit } => {
                self.step(step);
                self.one_off(limit, "times in a row");
            }
            S::Flow { flow } => self.flow(flow),
            S::Each { quantifier, step, condition } => self.each(span, *quantifier, step, condition),
            S::NoPredicate { target, .. } => {
                if let (None, Some(step)) = (&target.expr, &target.step) {
                    self.step(step);
                }
            }
            S::ArgsValid { step, strict } => {
                if let Some(word) = strict.then(|| self.word(span.start, span.end, "strict")).flatten() {
                    self.replace(word, "", MutantKind::DropWord, "a test with a call of an undeclared tool".to_owned());
                }
                step.iter().for_each(|step| self.step(step));
            }
            S::Block { scope, body } => {
                self.scope(scope);
                self.items(body);
            }
            S::Group { kind, body } => self.group(span, kind, body),
            // A test judges one run: what is counted over all runs is tested by it.
            S::Rate { rated: Rated::Statement(inner), .. } => self.statement(inner),
            S::World(_) | S::Rate { .. } => {}
        }
    }

    fn list(&mut self, steps: &[Step]) {
        self.patterns(steps);
        steps.iter().for_each(|step| self.step(step));
    }

    /// The same for a statement that takes two patterns at least: what is left of two is required.
    fn list_or_required(&mut self, span: Span, steps: &[Step]) {
        let [left, right] = steps else { return self.list(steps) };
        for (gone, stays) in [(left, right), (right, left)] {
            let missing = format!("a test in which `{}` alone decides", self.short(gone.span));
            self.replace_span(span, format!("require {}", self.at(stays.span)), MutantKind::DropPattern, missing);
        }
        steps.iter().for_each(|step| self.step(step));
    }

    /// One word for another at the start of a statement.
    fn swap_word(&mut self, span: Span, word: &str, other: &str, steps: &[&Step]) {
        if let Some(range) = self.first_word(span, word) {
            let missing = format!("a test in which `{word}` and `{other}` differ");
            self.replace(range, other, MutantKind::Swap, missing);
        }
        steps.iter().for_each(|step| self.step(step));
    }

    fn never(&mut self, steps: &[Step], window: Option<&Window>, within: Option<&Within>) {
        self.list(steps);
        let end = steps.last().map_or(0, |step| step.span.end);
        match window {
            Some(Window::After { open, until }) => {
                if until.is_none() {
                    self.window_word(end, open, "after", "before");
                }
                if let Some(until) = until {
                    let missing = format!("a test in which it occurs behind `{}`", self.short(until.span));
                    self.cut(open.span.end, until.span.end, MutantKind::DropWindow, missing);
                    self.step(until);
                }
                self.step(open);
            }
            Some(Window::Before { close }) => {
                self.window_word(end, close, "before", "after");
                self.step(close);
            }
            Some(Window::Between { open, close }) => [open, close].into_iter().for_each(|step| self.step(step)),
            None => {}
        }
        self.within(within);
    }

    fn window_word(&mut self, start: u32, step: &Step, word: &str, other: &str) {
        if let Some(range) = self.word(start, step.span.start, word) {
            let missing = format!("tests in which it occurs before and after `{}`", self.short(step.span));
            self.replace(range, other, MutantKind::Swap, missing);
        }
    }

    fn order(&mut self, span: Span, word: &str, other: &str, reversed: bool) {
        if reversed {
            return;
        }
        if let Some(starts) = self.first_word(span, "starts") {
            let missing = "a test in which the first has started and not ended".to_owned();
            self.replace(self.with_space(starts.clone()), "", MutantKind::DropWord, missing);
            if let Some(before) = self.word(span.start, span.end, word) {
                let missing = "a test with the steps in the other order".to_owned();
                self.replace(starts.start..before.end, other, MutantKind::Swap, missing);
            }
        }
        let immediately = self.first_word(span, "immediately");
        let start = immediately.as_ref().map_or(span.start as usize, |range| self.with_space(range.clone()).end);
        let rest = Span { start: u32::try_from(start).unwrap_or(span.start), ..span };
        let Some(range) = self.first_word(rest, word) else { return };
        self.replace(range.clone(), other, MutantKind::Swap, "a test with the steps in the other order".to_owned());
        if let Some(range) = immediately {
            let range = self.with_space(range);
            self.replace(range, "", MutantKind::DropWord, "a test with another call in between".to_owned());
        }
        let behind = self.with_space(range);
        let rest = Span { start: u32::try_from(behind.end).unwrap_or(span.start), ..span };
        if let Some(range) = self.first_word(rest, "each") {
            let range = self.with_space(range);
            self.replace(range, "", MutantKind::DropWord, "a test in which one is to serve for two".to_owned());
        }
    }

    fn within(&mut self, within: Option<&Within>) {
        let Some(within) = within else { return };
        let missing = format!("a test in which more than `{}` lie between", self.short(within.span));
        let before = self.text.get(..within.span.start as usize).unwrap_or("").trim_end().len();
        let before = u32::try_from(before).unwrap_or(within.span.start);
        self.cut(before, within.span.end, MutantKind::DropWindow, missing);
        if within.unit.is_some() {
            self.one_off(&within.number, "steps on");
        }
    }

    /// A whole number, one more and one less.
    fn one_off(&mut self, number: &Number, what: &str) {
        let Ok(value) = number.value.parse::<u64>() else { return };
        let missing = format!("a test in which it is exactly {value} {what}, and one with one more");
        if let Some(more) = value.checked_add(1) {
            self.replace_span(number.span, more.to_string(), MutantKind::Bound, missing.clone());
        }
        if let Some(less) = value.checked_sub(1) {
            self.replace_span(number.span, less.to_string(), MutantKind::Bound, missing);
        }
    }

    fn times(&mut self, times: &Times) {
        let exactly = matches!((&times.least, &times.most), (Some(least), Some(most)) if least.span == most.span);
        let bounds = times.least.iter().chain(times.most.iter().filter(|_| !exactly));
        bounds.for_each(|number| self.one_off(number, "times"));
    }

    fn sequence(&mut self, span: Span, mode: SequenceMode, steps: &[Step], within: Option<&Within>) {
        self.list_or_required(span, steps);
        for pair in steps.windows(2) {
            let [left, right] = pair else { continue };
            let (l, r) = (self.at(left.span), self.at(right.span));
            let between = self.text.get(left.span.end as usize..right.span.start as usize).unwrap_or(" -> ");
            let missing = format!("a test with `{}` before `{}`", self.short(right.span), self.short(left.span));
            self.replace_span(left.span.to(right.span), format!("{r}{between}{l}"), MutantKind::Swap, missing);
        }
        let word = match mode {
            SequenceMode::Gaps => None,
            SequenceMode::Only => Some("only"),
            SequenceMode::Exactly => Some("exactly"),
        };
        let start = steps.first().map_or(span.start, |step| step.span.start);
        if let Some(range) = word.and_then(|word| self.word(span.start, start, word)) {
            let range = self.with_space(range);
            self.replace(range, "", MutantKind::DropWord, "a test with further calls in between".to_owned());
        }
        self.within(within);
    }

    /// What is closed at some time need not be closed in reverse order.
    fn nested(&mut self, span: Span, open: &Step, close: &Step) {
        if let Some(range) = self.first_word(span, "nested") {
            let missing = "a test in which they are closed in another order".to_owned();
            self.replace(range, "after", MutantKind::Swap, missing);
        }
        [open, close].into_iter().for_each(|step| self.step(step));
    }

    fn if_then(&mut self, condition: &Step, consequence: &Step) {
        let (c, q) = (self.at(condition.span), self.at(consequence.span));
        let between = self.text.get(condition.span.end as usize..consequence.span.start as usize).unwrap_or(" then ");
        let missing = format!("a test with `{q}` and without `{c}`");
        self.replace_span(condition.span.to(consequence.span), format!("{q}{between}{c}"), MutantKind::Swap, missing);
        [condition, consequence].into_iter().for_each(|step| self.step(step));
    }

    fn iff(&mut self, span: Span, left: &Step, right: &Step) {
        let (l, r) = (self.at(left.span), self.at(right.span));
        let missing = |with: &str, without: &str| format!("a test with `{with}` and without `{without}`");
        self.replace_span(span, format!("if {l} then {r}"), MutantKind::DropCondition, missing(r, l));
        self.replace_span(span, format!("if {r} then {l}"), MutantKind::DropCondition, missing(l, r));
        [left, right].into_iter().for_each(|step| self.step(step));
    }

    fn each(&mut self, span: Span, quantifier: Quantifier, step: &Step, condition: &averment_syntax::ast::Expr) {
        let (word, other) = match quantifier {
            Quantifier::Each => ("each", "some"),
            Quantifier::Some => ("some", "each"),
            Quantifier::No => ("no", "some"),
        };
        if let Some(range) = self.first_word(span, word) {
            let missing = "a test with a step that meets the condition and one that does not".to_owned();
            self.replace(range, other, MutantKind::Swap, missing);
        }
        self.step(step);
        self.expr(condition);
    }

    fn scope(&mut self, scope: &Scope) {
        match scope {
            Scope::After { open, until: Some(until) } => {
                let missing = format!("a test in which it occurs behind `{}`", self.short(until.span));
                self.cut(open.span.end, until.span.end, MutantKind::DropWindow, missing);
                [open, until].into_iter().for_each(|step| self.step(step));
            }
            Scope::After { open, until: None } => self.step(open),
            Scope::Before { close } => self.step(close),
            Scope::Between { open, close } => [open, close].into_iter().for_each(|step| self.step(step)),
            Scope::Each { step } => self.step(step),
            Scope::When { condition } => {
                let missing = format!("a test in which `{}` is false", self.short(condition.span));
                self.negate_condition(condition, missing);
                self.expr(condition);
            }
        }
    }

    fn group(&mut self, span: Span, kind: &GroupKind, body: &[Item]) {
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
            self.replace(range, other, MutantKind::Swap, missing);
        }
        self.items(body);
    }
}
