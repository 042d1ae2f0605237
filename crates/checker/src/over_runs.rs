//! What is asserted of all runs: where it may stand, what is counted, which values are made of those of the runs (language reference, section 12).

use super::Checker;
use super::body::AssertionPlace;
use super::calls::WrittenCall;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::settings::{OwnModifiers, place_of, value_of};
use super::ty::{NumberMeasure, Ty};
use super::walk;
use crate::ir::{
    self, AssertionCheck, ExprKind, LocalId, OverRunsCheck, OverRunsQuestion, RateBound, RateSubject, RunFold,
    RunFoldFunction,
};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::table::Builtin;
use averment_syntax::ast::{self, RatedSubject, RunShare, StatementKind};

/// The values that are made of those of the runs, while their condition is checked.
#[derive(Debug, Default)]
pub struct OverRunsBuild<'a> {
    folds: Vec<RunFold<ir::TypedExpr>>,
    by: Option<(&'a ast::Expr, ir::TypedExpr)>,
}

/// Modifiers about scores, which statements over runs do not have.
const OF_SCORES: [&str; 4] = ["weight", "must", "threshold", "as"];

impl<'a> Checker<'a> {
    /// Returns false for an assertion on a single run.
    pub(super) fn over_runs(&mut self, place: &AssertionPlace<'a>, assertion: &'a ast::Assertion) -> bool {
        let statement = &assertion.statement;
        let top = place.rule.is_none() && place.wraps.is_empty() && place.headers.is_empty();
        match &statement.kind {
            _ if !top => return false,
            StatementKind::Rate { share, by, confidence, rated } => {
                self.check_rate(place, assertion, share, by.as_ref(), confidence.as_ref(), rated);
            }
            StatementKind::Expression(expr) => {
                let mut found = OverRunsCounter(0);
                ast::walk::walk_expr(expr, &mut found);
                if found.0 == 0 {
                    return false;
                }
                self.condition_over_runs(place, assertion, expr, found.0);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn misplaced_over_runs(&mut self, span: Span) {
        self.report_diagnostic(
            Diagnostic::new(Slug::Misplaced, span, "this is about all runs, but here single runs are judged")
                .with_help("put it on a line of its own at the top of a file, outside of rules and blocks"),
        );
    }

    fn check_rate(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        share: &'a RunShare,
        by: Option<&'a ast::Expr>,
        confidence: Option<&'a ast::NumberLiteral>,
        rated: &'a RatedSubject,
    ) {
        let share = self.run_share(share, by);
        let confidence = confidence.and_then(|number| {
            let value = self.fraction_of(number, "a confidence")?;
            if value <= 0.0 || value >= 1.0 {
                let message = "a confidence lies between 0% and 100%";
                self.report_diagnostic(
                    Diagnostic::new(Slug::Impossible, number.span, message).with_help("write `95%`"),
                );
            }
            matches!(share, Some(RateBound::Least(_) | RateBound::Most(_))).then_some(value)
        });
        let counted = match rated {
            RatedSubject::Rule(_) => RateSubject::Rule(0),
            RatedSubject::Statement(statement) => self.rated_statement(place, assertion, statement),
        };
        let by = by.map(|by| self.group_of_runs(&place.scope, by));
        let asks = OverRunsQuestion::Rate { rated: counted, share: share.unwrap_or(RateBound::Least(0.0)), confidence };
        if let RatedSubject::Rule(name) = rated {
            self.rated_rules.push((self.module.assertions.len(), name));
        }
        self.add_over_runs(place, assertion, OverRunsCheck { by, asks });
    }

    /// The statement judged in each run: a separate assertion that fails no run.
    fn rated_statement(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        statement: &'a ast::Statement,
    ) -> RateSubject {
        let number = super::to_number(self.module.assertions.len());
        let outer = self.bindings.clone();
        self.literals.clear();
        self.depth = 0;
        let check = self.check_statement(&place.scope, statement);
        self.report_unbound();
        let text = self.statement_text(statement.span);
        let kept = |modifier: &&ast::Modifier| {
            matches!(modifier.kind, ast::ModifierKind::When(_) | ast::ModifierKind::Tags(_))
        };
        let modifiers = assertion.modifiers.iter().filter(kept);
        let mut own =
            self.with_outer_bindings(&outer.bound_flags(), |checker| checker.read_modifiers(&place.scope, modifiers));
        own.over_runs = true;
        self.add_assertion(place, own, check, text, statement.span);
        self.bindings = outer;
        RateSubject::Assertion(number)
    }

    fn condition_over_runs(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        expr: &'a ast::Expr,
        folds: u32,
    ) {
        self.literals.clear();
        self.depth = 0;
        self.folding = Some(OverRunsBuild::default());
        let condition = self.condition_expr(&place.scope.with_given(folds), expr);
        let built = self.folding.take().unwrap_or_default();
        if let Some(span) = walk::looks_at_run(&condition) {
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::Misplaced,
                    span,
                    "this is about a single run, but the other values are over all runs",
                )
                .with_help("put it into the value of each run: `avg(output.total of runs) <= 20`, or give a `param`"),
            );
        }
        let by = built.by.map(|(_, by)| by);
        self.add_over_runs(
            place,
            assertion,
            OverRunsCheck { by, asks: OverRunsQuestion::Folds { folds: built.folds, condition } },
        );
    }

    fn add_over_runs(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        over: OverRunsCheck<ir::TypedExpr>,
    ) {
        let span = assertion.statement.span;
        let text = self.statement_text(span);
        let own: OwnModifiers<'a> = self.read_modifiers(&place.scope, assertion.modifiers.iter());
        self.report_unbound();
        for word in OF_SCORES {
            if let Some(at) = place_of(assertion.modifiers.iter(), word) {
                let message = format!("`{word}` changes scores, and an assertion over all runs has none");
                self.report_diagnostic(
                    Diagnostic::new(Slug::Misplaced, at, message).with_help(format!("leave `{word}` out")),
                );
            }
        }
        self.report_unbound();
        self.add_assertion(place, own, AssertionCheck::OverRuns(Box::new(over)), text, span);
    }

    /// `avg(E of runs)` and the like; `None` for any other call.
    pub(super) fn fold_of_runs(
        &mut self,
        scope: &NameScope<'a>,
        builtin: &'static Builtin,
        call: WrittenCall<'_, 'a>,
    ) -> Option<CheckedExpr> {
        let WrittenCall { arguments, span, .. } = call;
        let (value, by) = match arguments.first().map(|first| &first.kind)? {
            ast::ExprKind::OverRuns { value, by } => (value, by),
            _ => return None,
        };
        if self.folding.is_none() {
            self.misplaced_over_runs(span);
            return Some(CheckedExpr::broken_at(span));
        }
        let Some(mut function) = RunFoldFunction::from_name(builtin.name) else {
            self.loose_value_of_runs(span);
            return Some(CheckedExpr::broken_at(span));
        };
        // In the value of a run nothing is made of all runs.
        let building = self.folding.take();
        let run = NameScope { next_local: 0, ..scope.clone() };
        let each = self.check_expr(&run, value);
        let by = by.as_deref().map(|by| (by, self.group_of_runs(&run, by)));
        self.folding = building;
        let list = CheckedExpr::new(ExprKind::Local(LocalId::VALUE), span, Ty::list_of(each.ty.clone()));
        let rest: Vec<CheckedExpr> =
            arguments.iter().skip(1).map(|one| self.check_expr(&scope.with_value(), one)).collect();
        if let (RunFoldFunction::Percentile(share), Some(given)) = (&mut function, rest.first()) {
            let Some((number, ..)) = self.number_of(given) else {
                let message = "which percentile of all runs is known before there are any";
                self.report_diagnostic(
                    Diagnostic::new(Slug::Impossible, given.expr.span, message).with_help("write a number: `95%`"),
                );
                return Some(CheckedExpr::broken_at(span));
            };
            *share = number;
        }
        let values = std::iter::once(list).chain(rest).collect();
        let fold = self.call_of(builtin, call, values);
        let ty = fold.ty.clone();
        let text = self.statement_text(span);
        self.note_group(by, span);
        let built = self.folding.as_mut()?;
        let local = LocalId(super::to_number(built.folds.len()));
        let unit = match ty.number_measure() {
            Some(NumberMeasure::Duration) => ast::NumberUnit::Duration,
            Some(NumberMeasure::Money) => ast::NumberUnit::Money,
            Some(NumberMeasure::Size) => ast::NumberUnit::Size,
            Some(NumberMeasure::Plain | NumberMeasure::Instant) | None => ast::NumberUnit::None,
        };
        built.folds.push(RunFold { value: each.expr, function, fold: fold.expr, text, unit });
        Some(CheckedExpr::new(ExprKind::Local(local), span, ty))
    }

    pub(super) fn loose_value_of_runs(&mut self, span: Span) -> CheckedExpr {
        self.report_diagnostic(
            Diagnostic::new(Slug::Misplaced, span, "this is one value for each run, without a function such as `avg` over them")
                .with_help("write `avg(… of runs)`, `median`, `percentile(… of runs, 95%)`, `min`, `max`, `sum` or `length` around it; a tool of the name `runs` is quoted"),
        );
        CheckedExpr::broken_at(span)
    }

    /// All values of an assertion must have the same grouping.
    fn note_group(&mut self, by: Option<(&'a ast::Expr, ir::TypedExpr)>, span: Span) {
        let text = |checker: &Self, by: Option<&(&'a ast::Expr, ir::TypedExpr)>| {
            by.map(|(by, _)| checker.statement_text(by.span)).unwrap_or_default()
        };
        let Some(built) = &self.folding else { return };
        if !built.folds.is_empty() && text(self, built.by.as_ref()) != text(self, by.as_ref()) {
            self.report_diagnostic(
                Diagnostic::new(Slug::Misplaced, span, "the values of one assertion are of different groups")
                    .with_help("write the same `by` in each of them"),
            );
        }
        if let Some(built) = &mut self.folding {
            built.by = built.by.take().or(by);
        }
    }

    fn group_of_runs(&mut self, scope: &NameScope<'a>, by: &'a ast::Expr) -> ir::TypedExpr {
        let group = self.check_expr(scope, by);
        if !group.is_broken() && matches!(group.expr.kind, ExprKind::Constant(_) | ExprKind::Param(_)) {
            self.report_diagnostic(
                Diagnostic::new(Slug::Impossible, by.span, "this is the same for every run, so it makes no groups")
                    .with_help("write the value that the groups differ in: `by meta.model`, `by inputs.task`"),
            );
        }
        group.expr
    }

    fn run_share(&mut self, share: &'a RunShare, by: Option<&'a ast::Expr>) -> Option<RateBound> {
        match share {
            RunShare::Least(number) => self.fraction_of(number, "a share of runs").map(RateBound::Least),
            RunShare::Most(number) => self.fraction_of(number, "a share of runs").map(RateBound::Most),
            RunShare::LeastOf { passes, of } => {
                self.require_grouping(of.span, by);
                let (least, all) = (self.count_of_runs(passes)?, self.count_of_runs(of)?);
                if least > all || all == 0 {
                    let message = format!("at least {} of {} runs can never hold", passes.text, of.text);
                    self.report_diagnostic(
                        Diagnostic::new(Slug::Impossible, passes.span, message)
                            .with_help(format!("write `in at least {} of {} runs`", of.text, of.text)),
                    );
                }
                Some(RateBound::LeastOf { passes: least, of: all })
            }
            RunShare::Power { power, share } => {
                let count = self.count_of_runs(power)?;
                if count == 0 {
                    let message = "with no run nothing has to pass";
                    self.report_diagnostic(
                        Diagnostic::new(Slug::Impossible, power.span, message).with_help("write `pass^3`"),
                    );
                }
                Some(RateBound::Power { power: count, share: self.fraction_of(share, "a share of runs")? })
            }
        }
    }

    /// `at least 2 of 3 runs` counts the runs of each task.
    fn require_grouping(&mut self, span: Span, by: Option<&'a ast::Expr>) {
        if by.is_none() {
            self.report_diagnostic(
                Diagnostic::new(Slug::Misplaced, span, "of which runs: those of a task, of a prompt?").with_help(
                    "write the value that the groups differ in: `in at least 2 of 3 runs by meta.task: …`; for a share of all runs write `in at least 95% of runs: …`",
                ),
            );
        }
    }

    fn count_of_runs(&mut self, number: &ast::NumberLiteral) -> Option<u32> {
        let written = self.whole_number(number, "how many runs")?;
        Some(u32::try_from(written).unwrap_or(u32::MAX))
    }

    fn fraction_of(&mut self, number: &ast::NumberLiteral, what: &str) -> Option<f64> {
        let value = value_of(number).filter(|_| number.unit == ast::NumberUnit::None)?;
        if (0.0..=1.0).contains(&value) {
            return Some(value);
        }
        let diagnostic = Diagnostic::new(Slug::Impossible, number.span, format!("{what} lies between 0% and 100%"));
        self.report_diagnostic(match (1.0..=100.0).contains(&value) && !number.text.ends_with('%') {
            true => diagnostic.with_help(format!("write `{}%`", number.text)).with_fix(
                "write it as a percentage",
                number.span,
                format!("{}%", number.text),
            ),
            false => diagnostic.with_help("write `95%`"),
        });
        None
    }

    pub(super) fn resolve_rated_rules(&mut self) {
        for (assertion, name) in std::mem::take(&mut self.rated_rules) {
            let Some(number) = self.tested_rule(name) else { continue };
            if let Some(rule) = self.module.rules.get_mut(number as usize) {
                rule.over_runs = true;
            }
            let check = self.module.assertions.get_mut(assertion).map(|assertion| &mut assertion.check);
            if let Some(AssertionCheck::OverRuns(over)) = check
                && let OverRunsQuestion::Rate { rated, .. } = &mut over.asks
            {
                *rated = RateSubject::Rule(number);
            }
        }
    }
}

struct OverRunsCounter(u32);

impl<'a> ast::walk::SyntaxVisitor<'a> for OverRunsCounter {
    fn visit_expr(&mut self, expr: &'a ast::Expr) {
        self.0 = self.0.saturating_add(u32::from(matches!(expr.kind, ast::ExprKind::OverRuns { .. })));
    }
}
