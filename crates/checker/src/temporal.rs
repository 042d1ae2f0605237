//! Statements: each becomes a check; temporal ones keep their form with patterns and conditions lowered.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::{LookupSide, NameScope};
use super::settings::value_of;
use super::ty::Ty;
use super::walk;
use crate::ir::{self, AssertionCheck, CheckedPattern, ExprKind, LocalId, Temporal, TimesRange};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, NeverWindow, Quantifier, SequenceMode, Statement, StatementKind, WithinUnit};

/// A checked statement.
pub type CheckedStatement = AssertionCheck<CheckedPattern, ir::TypedExpr>;
type CheckedTemporal = Temporal<CheckedPattern, ir::TypedExpr>;

impl<'a> Checker<'a> {
    /// An undeclared name alone on its line may be a tool: `any of { search; fetch }`.
    fn lone_name(&mut self, expr: &ast::Expr) {
        let ast::ExprKind::Name(name) = &expr.kind else { return };
        let last = self.diagnostics.0.last_mut();
        if let Some(unknown) =
            last.filter(|one| one.slug == Slug::UnknownName && one.span == expr.span && one.fix.is_none())
        {
            unknown.help = Some(format!(
                "write `require {name}` for \"the tool is called\" and `never {name}` for \"it is not called\"; a field of the output is `output.{name}`"
            ));
        }
    }

    pub(super) fn check_statement(&mut self, scope: &NameScope<'a>, statement: &'a Statement) -> CheckedStatement {
        AssertionCheck::Temporal(match &statement.kind {
            StatementKind::Expression(expr) => {
                let inner = NameScope { binds: true, ..scope.clone() };
                let condition = self.condition_expr(&inner, expr);
                let condition = self.as_exercised(condition);
                self.lone_name(expr);
                return self.over_values(scope, condition);
            }
            StatementKind::Not(inner) => {
                return stacker::maybe_grow(128 << 10, 1 << 20, || {
                    AssertionCheck::Not(Box::new(self.check_statement(scope, inner)))
                });
            }
            StatementKind::Block { scope: header, body } => return self.block_check(scope, header, body),
            StatementKind::Group { kind, body } => return self.group_check(scope, kind, body),
            StatementKind::World(world) => return AssertionCheck::World(self.check_world(scope, world)),
            StatementKind::Rate { .. } => {
                self.misplaced_over_runs(statement.span);
                return AssertionCheck::Expression(CheckedExpr::broken_at(statement.span).expr);
            }
            StatementKind::Require { step, times } => {
                let step = self.lower_pattern(scope, step).pattern;
                Temporal::Require { step, times: times.as_ref().and_then(|times| self.check_times(times)) }
            }
            StatementKind::Never { steps, window, within } => {
                self.check_never(scope, steps, window.as_ref(), within.as_ref())
            }
            StatementKind::Only { steps } => {
                Temporal::Only { steps: self.with_lenient(|checker| checker.call_patterns(scope, steps, "only")) }
            }
            StatementKind::Count { step, test } if has_selection(test) => {
                return self.count_beside(scope, step, test, statement.span);
            }
            StatementKind::Count { step, test } => self.check_count_statement(scope, step, test),
            StatementKind::First { step } => Temporal::First { step: self.call_pattern(scope, step, "first") },
            StatementKind::Last { step } => Temporal::Last { step: self.call_pattern(scope, step, "last") },
            StatementKind::Before { each, immediately, starts, step, targets, within, reversed: _ } => {
                let (step, targets) =
                    self.ordered_patterns(scope, step, targets, immediately.then_some("immediately before"));
                let within = within.as_ref().and_then(|within| self.check_within(within));
                Temporal::Before { each: *each, immediately: *immediately, starts: *starts, step, targets, within }
            }
            StatementKind::After { each, immediately, step, targets, within } => {
                let (step, targets) =
                    self.ordered_patterns(scope, step, targets, immediately.then_some("immediately after"));
                let within = within.as_ref().and_then(|within| self.check_within(within));
                Temporal::After { each: *each, immediately: *immediately, step, targets, within }
            }
            StatementKind::Sequence { mode, steps, within } => {
                self.check_sequence(scope, *mode, steps, within.as_ref())
            }
            StatementKind::Nested { open, close } => Temporal::Nested {
                open: self.lower_pattern(scope, open).pattern,
                close: self.lower_pattern(scope, close).pattern,
            },
            StatementKind::Together { left, right } => Temporal::Together {
                left: self.lower_pattern(scope, left).pattern,
                right: self.lower_pattern(scope, right).pattern,
            },
            StatementKind::Apart { left, right } => Temporal::Apart {
                left: self.lower_pattern(scope, left).pattern,
                right: self.lower_pattern(scope, right).pattern,
            },
            StatementKind::IfThen { condition, consequence } => Temporal::IfThen {
                condition: self.lower_pattern(scope, condition).pattern,
                consequence: self.lower_pattern(scope, consequence).pattern,
            },
            StatementKind::Iff { left, right } => Temporal::Iff {
                left: self.lower_pattern(scope, left).pattern,
                right: self.lower_pattern(scope, right).pattern,
            },
            StatementKind::Either { steps } => Temporal::Either { steps: self.lower_patterns(scope, steps) },
            StatementKind::NotBoth { left, right } => Temporal::NotBoth {
                left: self.lower_pattern(scope, left).pattern,
                right: self.lower_pattern(scope, right).pattern,
            },
            StatementKind::Repeat { step, limit } => self.check_repeat(scope, step, limit),
            StatementKind::Flow { flow } => Temporal::Flow { flow: self.check_flow(scope, flow) },
            StatementKind::Each { quantifier, step, condition } => self.check_each(scope, *quantifier, step, condition),
            StatementKind::Sliding { condition, over } => {
                return self.check_sliding(scope, condition, over, statement.span);
            }
            StatementKind::NoPredicate { predicate, target } => self.check_no_predicate(scope, predicate, target),
            StatementKind::ArgsValid { step, strict } => self.args_valid(scope, step.as_ref(), *strict, statement.span),
            StatementKind::CallsMatch { .. } => self.calls_match(scope, &statement.kind),
        })
    }

    fn lower_patterns(&mut self, scope: &NameScope<'a>, steps: &'a [ast::StepPattern]) -> Vec<CheckedPattern> {
        steps.iter().map(|step| self.lower_pattern(scope, step).pattern).collect()
    }

    /// A pattern here may match nothing, so an unknown tool or argument is only a warning.
    fn with_lenient<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.catalogue.lenient, true);
        let value = work(self);
        self.catalogue.lenient = before;
        value
    }

    fn call_patterns(
        &mut self,
        scope: &NameScope<'a>,
        steps: &'a [ast::StepPattern],
        word: &str,
    ) -> Vec<CheckedPattern> {
        steps.iter().map(|step| self.call_pattern(scope, step, word)).collect()
    }

    fn call_pattern(&mut self, scope: &NameScope<'a>, step: &'a ast::StepPattern, statement: &str) -> CheckedPattern {
        let lowered = self.lower_pattern(scope, step);
        self.check_calls_only(&lowered, step, statement);
        lowered.pattern
    }

    fn check_never(
        &mut self,
        scope: &NameScope<'a>,
        steps: &'a [ast::StepPattern],
        window: Option<&'a NeverWindow>,
        within: Option<&'a ast::WithinBound>,
    ) -> CheckedTemporal {
        let steps = self.with_lenient(|checker| checker.lower_patterns(scope, steps));
        let Some(window) = window else {
            if let Some(within) = within {
                self.report_within(within, "a bare `never` has no start to measure from");
            }
            return Temporal::Never { steps };
        };
        if let (NeverWindow::Between { .. }, Some(within)) = (window, within) {
            self.report_within(within, "`between` closes the window already");
        }
        let within = within.and_then(|within| self.check_within(within));
        match window {
            NeverWindow::After { open, until } => Temporal::NeverAfter {
                steps,
                open: self.lower_pattern(scope, open).pattern,
                until: until.as_ref().map(|until| self.lower_pattern(scope, until).pattern),
                within,
            },
            NeverWindow::Before { close } => {
                Temporal::NeverBefore { steps, close: self.lower_pattern(scope, close).pattern, within }
            }
            NeverWindow::Between { open, close } => Temporal::NeverBetween {
                steps,
                open: self.lower_pattern(scope, open).pattern,
                close: self.lower_pattern(scope, close).pattern,
                within,
            },
        }
    }

    fn report_within(&mut self, within: &ast::WithinBound, why: &str) {
        self.report_diagnostic(
            Diagnostic::new(Slug::Misplaced, within.span, format!("`within` has no meaning here: {why}"))
                .with_help("`within` belongs after before, after, sequence or `never … after`"),
        );
    }

    /// `before` and `after`; their adjacent forms only concern calls.
    fn ordered_patterns(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        targets: &'a [ast::StepPattern],
        immediately: Option<&str>,
    ) -> (CheckedPattern, Vec<CheckedPattern>) {
        match immediately {
            Some(word) => {
                (self.call_pattern(scope, step, word), self.call_patterns(scope, targets, &format!("{word} ->")))
            }
            None => (self.lower_pattern(scope, step).pattern, self.lower_patterns(scope, targets)),
        }
    }

    fn check_sequence(
        &mut self,
        scope: &NameScope<'a>,
        mode: SequenceMode,
        steps: &'a [ast::StepPattern],
        within: Option<&'a ast::WithinBound>,
    ) -> CheckedTemporal {
        let steps = match mode {
            SequenceMode::Exactly => self.call_patterns(scope, steps, "sequence exactly"),
            SequenceMode::Gaps | SequenceMode::Only => self.lower_patterns(scope, steps),
        };
        Temporal::Sequence { mode, steps, within: within.and_then(|within| self.check_within(within)) }
    }

    fn check_count_statement(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        test: &'a ast::ValueTest,
    ) -> CheckedTemporal {
        let lowered = self.lower_pattern(scope, step).pattern;
        let inner = NameScope { step: None, side: LookupSide::Plain, ..scope.with_value() };
        let subject = CheckedExpr::new(ExprKind::Local(LocalId::COUNT), step.span, Ty::Count);
        let text = format!("count {}", self.source_line(step.span));
        self.check_count(&text, test);
        let test = self.test_of(&inner, subject, &text, test, step.span.cover_with(test.span));
        Temporal::Count { step: lowered, test: test.expr }
    }

    /// `count A TEST` whose right-hand side also reads steps: a comparison of two values.
    fn count_beside(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        test: &'a ast::ValueTest,
        span: Span,
    ) -> CheckedStatement {
        let inner = NameScope { binds: true, ..scope.clone() };
        let head = Span { end: step.span.end, ..span };
        let subject = self.check_step_count(&inner, step, None, head);
        let text = format!("count {}", self.source_line(step.span));
        let test = self.test_of(&inner, subject, &text, test, span);
        self.over_values(scope, test.expr)
    }

    /// Reports tests that always come out the same because a count is never negative.
    fn check_count(&mut self, text: &str, test: &ast::ValueTest) {
        use ast::TestKind::{Equal, Less, LessOrEqual};
        let Some(operand) = test.operand.as_deref() else { return };
        let (negative, inner) = match &operand.kind {
            ast::ExprKind::Negate(inner) => (true, &**inner),
            _ => (false, operand),
        };
        let ast::ExprKind::Number(number) = &inner.kind else { return };
        let zero = value_of(number) == Some(0.0);
        let never = match test.kind {
            Less => negative || zero,
            LessOrEqual | Equal => negative && !zero,
            _ => false,
        };
        if never && !test.negated {
            let message = format!("`{text} {}` can never hold: a count is not negative", self.source_line(test.span));
            self.report_diagnostic(
                Diagnostic::new(Slug::Impossible, operand.span, message).with_help(format!("write `{text} == 0`")),
            );
        }
    }

    fn check_repeat(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        limit: &'a ast::NumberLiteral,
    ) -> CheckedTemporal {
        let step = self.with_lenient(|checker| checker.call_pattern(scope, step, "never repeat"));
        let limit = self.whole_number(limit, "the number of repetitions").and_then(|limit| u32::try_from(limit).ok());
        Temporal::Repeat { step, limit: limit.unwrap_or(u32::MAX) }
    }

    fn check_flow(&mut self, scope: &NameScope<'a>, flow: &'a ast::FlowExpr) -> ir::CallFlow<CheckedPattern> {
        stacker::maybe_grow(128 << 10, 1 << 20, || match &flow.kind {
            ast::FlowKind::Step(step) => ir::CallFlow::Step(self.call_pattern(scope, step, "flow")),
            ast::FlowKind::Sequence(parts) => {
                ir::CallFlow::Sequence(parts.iter().map(|part| self.check_flow(scope, part)).collect())
            }
            ast::FlowKind::Choice(parts) => {
                ir::CallFlow::Choice(parts.iter().map(|part| self.check_flow(scope, part)).collect())
            }
            ast::FlowKind::Repeat { body, least, most } => {
                if let Some(most) = most.filter(|most| most < least) {
                    self.report_diagnostic(
                        Diagnostic::new(
                            Slug::Impossible,
                            flow.span,
                            format!("the repetition {{{least},{most}}} is empty"),
                        )
                        .with_help(format!("write `{{{most},{least}}}`")),
                    );
                }
                ir::CallFlow::Repeat { body: Box::new(self.check_flow(scope, body)), least: *least, most: *most }
            }
        })
    }

    fn check_each(
        &mut self,
        scope: &NameScope<'a>,
        quantifier: Quantifier,
        step: &'a ast::StepPattern,
        condition: &'a ast::Expr,
    ) -> CheckedTemporal {
        // `no` may well speak of a tool that is never there.
        let lowered = match quantifier {
            Quantifier::No => self.with_lenient(|checker| checker.lower_pattern(scope, step)),
            Quantifier::Each | Quantifier::Some => self.lower_pattern(scope, step),
        };
        self.message_step = Some(lowered.shape.clone());
        let inner = NameScope { response: false, ..scope.with_step(lowered.shape) };
        let mut condition = match quantifier {
            Quantifier::No => self.with_lenient(|checker| checker.condition_expr(&inner, condition)),
            Quantifier::Each | Quantifier::Some => self.condition_expr(&inner, condition),
        };
        if quantifier == Quantifier::Each {
            condition = self.as_exercised(condition);
        }
        if let [alternative] = lowered.pattern.alternatives.as_slice() {
            walk::substitute_bindings(&mut condition, &alternative.binds);
        }
        Temporal::Each { quantifier, step: lowered.pattern, condition }
    }

    fn args_valid(
        &mut self,
        scope: &NameScope<'a>,
        step: Option<&'a ast::StepPattern>,
        strict: bool,
        span: Span,
    ) -> CheckedTemporal {
        if !self.catalogue.is_declared() {
            self.report_diagnostic(
                Diagnostic::new(Slug::NoCatalogue, span, "`args valid` needs tool schemas, and none are declared")
                    .with_help("write `tools from \"tools.json\"` at the top of the file, or declare each tool with `tool NAME { … }`"),
            );
        }
        Temporal::ArgsValid { step: step.map(|step| self.call_pattern(scope, step, "args valid")), strict }
    }

    /// `2 times`, `1..3 times`.
    fn check_times(&mut self, times: &'a ast::StepCount) -> Option<TimesRange> {
        let least = match &times.least {
            Some(number) => self.whole_number(number, "a number of times")?,
            None => 0,
        };
        let most = match &times.most {
            Some(number) => Some(self.whole_number(number, "a number of times")?),
            None => None,
        };
        if let (Some(most), Some(low), Some(high)) = (most, &times.least, &times.most)
            && least > most
        {
            self.report_empty_range(low.span, high.span, times.span);
            return None;
        }
        Some(TimesRange { least, most })
    }

    /// `within 3 calls`, `within 2 turns`, `within 5s`.
    pub(super) fn check_within(&mut self, within: &'a ast::WithinBound) -> Option<ir::StepDistance> {
        match within.unit {
            Some(unit) => {
                let number = self.whole_number(&within.number, "a number of calls or turns")?;
                Some(if unit == WithinUnit::Calls {
                    ir::StepDistance::Calls(number)
                } else {
                    ir::StepDistance::Turns(number)
                })
            }
            None if within.number.unit == ast::NumberUnit::Duration => {
                value_of(&within.number).map(ir::StepDistance::Time)
            }
            None => {
                let number = &within.number.text;
                self.report_diagnostic(
                    Diagnostic::new(Slug::Syntax, within.number.span, "`within` needs calls, turns or a duration")
                        .with_help(format!(
                            "write `within {number} calls`, `within {number} turns` or `within {number}s`"
                        )),
                );
                None
            }
        }
    }
}

fn has_selection(test: &ast::ValueTest) -> bool {
    struct SelectionVisitor(bool);
    impl<'a> ast::walk::SyntaxVisitor<'a> for SelectionVisitor {
        fn visit_expr(&mut self, expr: &'a ast::Expr) {
            self.0 |= matches!(expr.kind, ast::ExprKind::Counted { .. } | ast::ExprKind::Of { .. });
        }
    }
    let mut found = SelectionVisitor(false);
    test.operand.iter().for_each(|operand| ast::walk::walk_expr(operand, &mut found));
    found.0
}
