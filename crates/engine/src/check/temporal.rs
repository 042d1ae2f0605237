//! Statements: each becomes a check; temporal ones keep their form with patterns and conditions lowered.

use super::Checker;
use super::expr::Typed;
use super::patterns::Lowered;
use super::scope::{LookupSide, Scope};
use super::settings::value_of;
use super::ty::Ty;
use super::walk;
use crate::ir::{self, Check, ExprKind, Local, Pattern, Temporal, TimesRange};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, Quantifier, SequenceMode, Statement, StatementKind, Window, WithinUnit};

/// A checked statement.
pub type CheckedStatement = Check<Pattern, ir::Expr>;
/// A checked temporal statement.
type CheckedTemporal = Temporal<Pattern, ir::Expr>;

impl<'a> Checker<'a> {
    /// A name that nothing declares, alone on its line, may be a tool: `any of { search; fetch }`.
    fn lone_name(&mut self, expr: &ast::Expr) {
        let ast::ExprKind::Name(name) = &expr.kind else { return };
        let last = self.diagnostics.0.last_mut();
        if let Some(unknown) =
            last.filter(|one| one.slug == Slug::UnknownName && one.span == expr.span && one.fix.is_none())
        {
            unknown.help = Some(format!(
                "that a tool is called is said with `require {name}`, that it is not with `never {name}`; a field of the output is `output.{name}`"
            ));
        }
    }

    /// A statement as one check.
    pub(super) fn statement(&mut self, scope: &Scope<'a>, statement: &'a Statement) -> CheckedStatement {
        Check::Temporal(match &statement.kind {
            StatementKind::Expression(expr) => {
                let inner = Scope { binds: true, ..scope.clone() };
                let condition = self.condition(&inner, expr);
                let condition = self.exercised(condition);
                self.lone_name(expr);
                return self.over_values(scope, condition);
            }
            StatementKind::Not(inner) => {
                return stacker::maybe_grow(128 << 10, 1 << 20, || Check::Not(Box::new(self.statement(scope, inner))));
            }
            StatementKind::Block { scope: header, body } => return self.block_check(scope, header, body),
            StatementKind::Group { kind, body } => return self.group_check(scope, kind, body),
            StatementKind::World(world) => return Check::World(self.world(scope, world)),
            StatementKind::Rate { .. } => {
                self.misplaced_over_runs(statement.span);
                return Check::Expression(Typed::broken(statement.span).expr);
            }
            StatementKind::Require { step, times } => {
                let step = self.pattern(scope, step).pattern;
                Temporal::Require { step, times: times.as_ref().and_then(|times| self.times(times)) }
            }
            StatementKind::Never { steps, window, within } => {
                self.never(scope, steps, window.as_ref(), within.as_ref())
            }
            StatementKind::Only { steps } => {
                Temporal::Only { steps: self.lenient(|checker| checker.calls(scope, steps, "only")) }
            }
            StatementKind::Count { step, test } if has_selection(test) => {
                return self.count_beside(scope, step, test, statement.span);
            }
            StatementKind::Count { step, test } => self.count(scope, step, test),
            StatementKind::First { step } => Temporal::First { step: self.call_pattern(scope, step, "first") },
            StatementKind::Last { step } => Temporal::Last { step: self.call_pattern(scope, step, "last") },
            StatementKind::Before { each, immediately, starts, step, targets, within, reversed: _ } => {
                let (step, targets) = self.ordered(scope, step, targets, immediately.then_some("immediately before"));
                let within = within.as_ref().and_then(|within| self.within(within));
                Temporal::Before { each: *each, immediately: *immediately, starts: *starts, step, targets, within }
            }
            StatementKind::After { each, immediately, step, targets, within } => {
                let (step, targets) = self.ordered(scope, step, targets, immediately.then_some("immediately after"));
                let within = within.as_ref().and_then(|within| self.within(within));
                Temporal::After { each: *each, immediately: *immediately, step, targets, within }
            }
            StatementKind::Sequence { mode, steps, within } => self.sequence(scope, *mode, steps, within.as_ref()),
            StatementKind::Nested { open, close } => {
                Temporal::Nested { open: self.pattern(scope, open).pattern, close: self.pattern(scope, close).pattern }
            }
            StatementKind::Together { left, right } => Temporal::Together {
                left: self.pattern(scope, left).pattern,
                right: self.pattern(scope, right).pattern,
            },
            StatementKind::Apart { left, right } => {
                Temporal::Apart { left: self.pattern(scope, left).pattern, right: self.pattern(scope, right).pattern }
            }
            StatementKind::IfThen { condition, consequence } => Temporal::IfThen {
                condition: self.pattern(scope, condition).pattern,
                consequence: self.pattern(scope, consequence).pattern,
            },
            StatementKind::Iff { left, right } => {
                Temporal::Iff { left: self.pattern(scope, left).pattern, right: self.pattern(scope, right).pattern }
            }
            StatementKind::Either { steps } => Temporal::Either { steps: self.patterns(scope, steps) },
            StatementKind::NotBoth { left, right } => {
                Temporal::NotBoth { left: self.pattern(scope, left).pattern, right: self.pattern(scope, right).pattern }
            }
            StatementKind::Repeat { step, limit } => self.repeat(scope, step, limit),
            StatementKind::Flow { flow } => Temporal::Flow { flow: self.flow(scope, flow) },
            StatementKind::Each { quantifier, step, condition } => self.each(scope, *quantifier, step, condition),
            StatementKind::Sliding { condition, over } => {
                return self.sliding(scope, condition, over, statement.span);
            }
            StatementKind::NoPredicate { predicate, target } => self.no_predicate(scope, predicate, target),
            StatementKind::ArgsValid { step, strict } => self.args_valid(scope, step.as_ref(), *strict, statement.span),
        })
    }

    fn patterns(&mut self, scope: &Scope<'a>, steps: &'a [ast::Step]) -> Vec<Pattern> {
        steps.iter().map(|step| self.pattern(scope, step).pattern).collect()
    }

    /// What may well match nothing: an unknown tool in it is a warning.
    fn lenient<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.catalogue.lenient, true);
        let value = work(self);
        self.catalogue.lenient = before;
        value
    }

    fn calls(&mut self, scope: &Scope<'a>, steps: &'a [ast::Step], word: &str) -> Vec<Pattern> {
        steps.iter().map(|step| self.call_pattern(scope, step, word)).collect()
    }

    /// A pattern of a statement that speaks of calls alone.
    fn call_pattern(&mut self, scope: &Scope<'a>, step: &'a ast::Step, statement: &str) -> Pattern {
        let lowered = self.pattern(scope, step);
        self.check_calls_only(&lowered, step, statement);
        lowered.pattern
    }

    fn check_calls_only(&mut self, lowered: &Lowered, step: &ast::Step, statement: &str) {
        use averment_runs::run::Kind;
        let Some(other) = lowered.shape.kinds.iter().find(|kind| **kind != Kind::Call) else { return };
        let place = kind_word(step).unwrap_or(step.span);
        let word = self.written(place);
        let is = if *other == Kind::Message { "is a message" } else { "is none" };
        let help = match statement {
            "first" | "last" => format!("write `before {word} -> …` or name a tool"),
            "sequence exactly" | "flow" => "use `sequence`".to_owned(),
            "immediately before" => "use `before`".to_owned(),
            "immediately after" => "use `after`".to_owned(),
            "never repeat" => format!("count them: `count {word} <= 3`"),
            _ => "name tools".to_owned(),
        };
        self.report(
            Diagnostic::new(Slug::CallsOnly, place, format!("`{statement}` speaks of calls alone, and `{word}` {is}"))
                .help(help),
        );
    }

    fn never(
        &mut self,
        scope: &Scope<'a>,
        steps: &'a [ast::Step],
        window: Option<&'a Window>,
        within: Option<&'a ast::Within>,
    ) -> CheckedTemporal {
        let steps = self.lenient(|checker| checker.patterns(scope, steps));
        let Some(window) = window else {
            if let Some(within) = within {
                self.report_within(within, "a bare `never` has no start to measure from");
            }
            return Temporal::Never { steps };
        };
        if let (Window::Between { .. }, Some(within)) = (window, within) {
            self.report_within(within, "`between` closes the window already");
        }
        let within = within.and_then(|within| self.within(within));
        match window {
            Window::After { open, until } => Temporal::NeverAfter {
                steps,
                open: self.pattern(scope, open).pattern,
                until: until.as_ref().map(|until| self.pattern(scope, until).pattern),
                within,
            },
            Window::Before { close } => {
                Temporal::NeverBefore { steps, close: self.pattern(scope, close).pattern, within }
            }
            Window::Between { open, close } => Temporal::NeverBetween {
                steps,
                open: self.pattern(scope, open).pattern,
                close: self.pattern(scope, close).pattern,
                within,
            },
        }
    }

    fn report_within(&mut self, within: &ast::Within, why: &str) {
        self.report(
            Diagnostic::new(Slug::Misplaced, within.span, format!("`within` has no meaning here: {why}"))
                .help("`within` stands behind before, after, sequence or `never … after`"),
        );
    }

    /// `before` and `after`; adjacent ones speak of calls alone.
    fn ordered(
        &mut self,
        scope: &Scope<'a>,
        step: &'a ast::Step,
        targets: &'a [ast::Step],
        immediately: Option<&str>,
    ) -> (Pattern, Vec<Pattern>) {
        match immediately {
            Some(word) => (self.call_pattern(scope, step, word), self.calls(scope, targets, word)),
            None => (self.pattern(scope, step).pattern, self.patterns(scope, targets)),
        }
    }

    fn sequence(
        &mut self,
        scope: &Scope<'a>,
        mode: SequenceMode,
        steps: &'a [ast::Step],
        within: Option<&'a ast::Within>,
    ) -> CheckedTemporal {
        let steps = match mode {
            SequenceMode::Exactly => self.calls(scope, steps, "sequence exactly"),
            SequenceMode::Gaps | SequenceMode::Only => self.patterns(scope, steps),
        };
        Temporal::Sequence { mode, steps, within: within.and_then(|within| self.within(within)) }
    }

    /// `count A TEST`.
    fn count(&mut self, scope: &Scope<'a>, step: &'a ast::Step, test: &'a ast::ValueTest) -> CheckedTemporal {
        let lowered = self.pattern(scope, step).pattern;
        let inner = Scope { step: None, side: LookupSide::Plain, ..scope.with_value() };
        let subject = Typed::new(ExprKind::Local(Local::COUNT), step.span, Ty::Count);
        let text = format!("count {}", self.written(step.span));
        self.check_count(&text, test);
        let test = self.test_of(&inner, subject, &text, test, step.span.to(test.span));
        Temporal::Count { step: lowered, test: test.expr }
    }

    /// `count A TEST` where the right-hand side looks at steps, too: a comparison of two values.
    fn count_beside(
        &mut self,
        scope: &Scope<'a>,
        step: &'a ast::Step,
        test: &'a ast::ValueTest,
        span: Span,
    ) -> CheckedStatement {
        let inner = Scope { binds: true, ..scope.clone() };
        let head = Span { end: step.span.end, ..span };
        let subject = self.counted(&inner, step, false, head);
        let text = format!("count {}", self.written(step.span));
        let test = self.test_of(&inner, subject, &text, test, span);
        self.over_values(scope, test.expr)
    }

    /// A count is never negative.
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
            let message = format!("`{text} {}` can never hold: a count is not negative", self.written(test.span));
            self.report(Diagnostic::new(Slug::Impossible, operand.span, message).help(format!("write `{text} == 0`")));
        }
    }

    fn repeat(&mut self, scope: &Scope<'a>, step: &'a ast::Step, limit: &'a ast::Number) -> CheckedTemporal {
        let step = self.lenient(|checker| checker.call_pattern(scope, step, "never repeat"));
        let limit = self.whole(limit, "the number of repetitions").and_then(|limit| u32::try_from(limit).ok());
        Temporal::Repeat { step, limit: limit.unwrap_or(u32::MAX) }
    }

    fn flow(&mut self, scope: &Scope<'a>, flow: &'a ast::Flow) -> ir::Flow<Pattern> {
        stacker::maybe_grow(128 << 10, 1 << 20, || match &flow.kind {
            ast::FlowKind::Step(step) => ir::Flow::Step(self.call_pattern(scope, step, "flow")),
            ast::FlowKind::Sequence(parts) => {
                ir::Flow::Sequence(parts.iter().map(|part| self.flow(scope, part)).collect())
            }
            ast::FlowKind::Choice(parts) => ir::Flow::Choice(parts.iter().map(|part| self.flow(scope, part)).collect()),
            ast::FlowKind::Repeat { body, least, most } => {
                if let Some(most) = most.filter(|most| most < least) {
                    self.report(
                        Diagnostic::new(
                            Slug::Impossible,
                            flow.span,
                            format!("the repetition {{{least},{most}}} is empty"),
                        )
                        .help(format!("write `{{{most},{least}}}`")),
                    );
                }
                ir::Flow::Repeat { body: Box::new(self.flow(scope, body)), least: *least, most: *most }
            }
        })
    }

    fn each(
        &mut self,
        scope: &Scope<'a>,
        quantifier: Quantifier,
        step: &'a ast::Step,
        condition: &'a ast::Expr,
    ) -> CheckedTemporal {
        // `no` may well speak of a tool that is never there.
        let lowered = match quantifier {
            Quantifier::No => self.lenient(|checker| checker.pattern(scope, step)),
            Quantifier::Each | Quantifier::Some => self.pattern(scope, step),
        };
        self.message_step = Some(lowered.shape.clone());
        let inner = Scope { response: false, ..scope.with_step(lowered.shape) };
        let mut condition = self.condition(&inner, condition);
        if quantifier == Quantifier::Each {
            condition = self.exercised(condition);
        }
        if let [alternative] = lowered.pattern.alternatives.as_slice() {
            walk::substitute(&mut condition, &alternative.binds);
        }
        Temporal::Each { quantifier, step: lowered.pattern, condition }
    }

    fn args_valid(
        &mut self,
        scope: &Scope<'a>,
        step: Option<&'a ast::Step>,
        strict: bool,
        span: Span,
    ) -> CheckedTemporal {
        if !self.catalogue.is_declared() {
            self.report(
                Diagnostic::new(Slug::NoCatalogue, span, "`args valid` needs tool schemas, and none are declared")
                    .help("write `tools from \"tools.json\"` at the top of the file, or declare each tool with `tool NAME { … }`"),
            );
        }
        Temporal::ArgsValid { step: step.map(|step| self.call_pattern(scope, step, "args valid")), strict }
    }

    /// `2 times`, `1..3 times`.
    fn times(&mut self, times: &'a ast::Times) -> Option<TimesRange> {
        let least = match &times.least {
            Some(number) => self.whole(number, "a number of times")?,
            None => 0,
        };
        let most = match &times.most {
            Some(number) => Some(self.whole(number, "a number of times")?),
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
    pub(super) fn within(&mut self, within: &'a ast::Within) -> Option<ir::Within> {
        match within.unit {
            Some(unit) => {
                let number = self.whole(&within.number, "a number of calls or turns")?;
                Some(if unit == WithinUnit::Calls { ir::Within::Calls(number) } else { ir::Within::Turns(number) })
            }
            None if within.number.unit == ast::Unit::Duration => value_of(&within.number).map(ir::Within::Time),
            None => {
                let number = &within.number.text;
                self.report(
                    Diagnostic::new(Slug::Syntax, within.number.span, "`within` needs calls, turns or a duration")
                        .help(format!("write `within {number} calls`, `within {number} turns` or `within {number}s`")),
                );
                None
            }
        }
    }
}

/// The first kind word of a pattern.
fn kind_word(step: &ast::Step) -> Option<Span> {
    match &step.kind {
        ast::StepKind::Atom(atom) => match &atom.subject {
            ast::Subject::Kind { word, .. } => Some(word.unwrap_or(step.span)),
            _ => None,
        },
        ast::StepKind::Choice(steps) => steps.iter().find_map(kind_word),
        ast::StepKind::Where { step, .. } => kind_word(step),
        ast::StepKind::Proposed(step) => kind_word(step),
    }
}

/// Whether the right-hand side of a test looks at steps: `count A`, `E of A`.
fn has_selection(test: &ast::ValueTest) -> bool {
    struct Found(bool);
    impl<'a> ast::walk::Visit<'a> for Found {
        fn expr(&mut self, expr: &'a ast::Expr) {
            self.0 |= matches!(expr.kind, ast::ExprKind::Counted { .. } | ast::ExprKind::Of { .. });
        }
    }
    let mut found = Found(false);
    test.operand.iter().for_each(|operand| ast::walk::expr(operand, &mut found));
    found.0
}
