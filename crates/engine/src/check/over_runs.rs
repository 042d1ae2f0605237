//! What is asserted of all runs: where it may stand, what is counted, which values are made of those of the runs (language reference, section 12).

use super::Checker;
use super::body::AssertionPlace;
use super::calls::WrittenCall;
use super::expr::Typed;
use super::scope::Scope;
use super::settings::{Own, place_of, value_of};
use super::ty::{Measure, Ty};
use super::walk;
use crate::ir::{self, AsksOfRuns, Check, ExprKind, FoldOfRuns, Local, OverRuns, RatedBy, RunFold, Share};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::table::Builtin;
use averment_syntax::ast::{self, Rated, RunShare, StatementKind};

/// The values that are made of those of the runs, while their condition is checked.
#[derive(Debug, Default)]
pub struct OverRunsBuild<'a> {
    folds: Vec<RunFold<ir::Expr>>,
    by: Option<(&'a ast::Expr, ir::Expr)>,
}

/// Modifiers that say something of a score, which a statement over runs does not have.
const OF_SCORES: [&str; 4] = ["weight", "must", "threshold", "as"];

impl<'a> Checker<'a> {
    /// An assertion over all runs; false for one of a single run.
    pub(super) fn over_runs(&mut self, place: &AssertionPlace<'a>, assertion: &'a ast::Assertion) -> bool {
        let statement = &assertion.statement;
        let top = place.rule.is_none() && place.wraps.is_empty() && place.headers.is_empty();
        match &statement.kind {
            _ if !top => return false,
            StatementKind::Rate { share, by, confidence, rated } => {
                self.rate(place, assertion, share, by.as_ref(), confidence.as_ref(), rated);
            }
            StatementKind::Expression(expr) => {
                let mut found = OfRuns(0);
                ast::walk::expr(expr, &mut found);
                if found.0 == 0 {
                    return false;
                }
                self.condition_over_runs(place, assertion, expr, found.0);
            }
            _ => return false,
        }
        true
    }

    /// What stands over all runs where only single runs are judged.
    pub(super) fn misplaced_over_runs(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Slug::Misplaced, span, "this speaks of all runs, and here single runs are judged")
                .help("put it on a line of its own at the top of a file, outside of rules and blocks"),
        );
    }

    fn rate(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        share: &'a RunShare,
        by: Option<&'a ast::Expr>,
        confidence: Option<&'a ast::Number>,
        rated: &'a Rated,
    ) {
        let share = self.run_share(share, by);
        let confidence = confidence.and_then(|number| {
            let value = self.part(number, "a confidence")?;
            if value <= 0.0 || value >= 1.0 {
                let message = "a confidence lies between 0% and 100%";
                self.report(Diagnostic::new(Slug::Impossible, number.span, message).help("write `95%`"));
            }
            matches!(share, Some(Share::Least(_) | Share::Most(_))).then_some(value)
        });
        let counted = match rated {
            Rated::Rule(_) => RatedBy::Rule(0),
            Rated::Statement(statement) => self.rated_statement(place, assertion, statement),
        };
        let by = by.map(|by| self.group_of_runs(&place.scope, by));
        let asks = AsksOfRuns::Rate { rated: counted, share: share.unwrap_or(Share::Least(0.0)), confidence };
        if let Rated::Rule(name) = rated {
            self.rated_rules.push((self.module.assertions.len(), name));
        }
        self.add_over_runs(place, assertion, OverRuns { by, asks });
    }

    /// The statement that is judged in each run: an assertion of its own, which fails no run.
    fn rated_statement(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        statement: &'a ast::Statement,
    ) -> RatedBy {
        let number = super::number(self.module.assertions.len());
        let outer = self.bindings.clone();
        self.literals.clear();
        self.depth = 0;
        let check = self.statement(&place.scope, statement);
        self.report_unbound();
        let text = self.statement_text(statement.span);
        let kept = |modifier: &&ast::Modifier| {
            matches!(modifier.kind, ast::ModifierKind::When(_) | ast::ModifierKind::Tags(_))
        };
        let mut own = self.modifiers(&place.scope, assertion.modifiers.iter().filter(kept));
        own.over_runs = true;
        self.add_assertion(place, own, check, text, statement.span);
        self.bindings = outer;
        RatedBy::Assertion(number)
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
        let condition = self.condition(&place.scope.with_given(folds), expr);
        let built = self.folding.take().unwrap_or_default();
        if let Some(span) = walk::looks_at_run(&condition) {
            self.report(
                Diagnostic::new(
                    Slug::Misplaced,
                    span,
                    "this is of a single run, and stands beside values over all runs",
                )
                .help("put it into the value of each run: `avg(output.total of runs) <= 20`, or give a `param`"),
            );
        }
        let by = built.by.map(|(_, by)| by);
        self.add_over_runs(
            place,
            assertion,
            OverRuns { by, asks: AsksOfRuns::Folds { folds: built.folds, condition } },
        );
    }

    fn add_over_runs(&mut self, place: &AssertionPlace<'a>, assertion: &'a ast::Assertion, over: OverRuns<ir::Expr>) {
        let span = assertion.statement.span;
        let text = self.statement_text(span);
        let own: Own<'a> = self.modifiers(&place.scope, assertion.modifiers.iter());
        for word in OF_SCORES {
            if let Some(at) = place_of(assertion.modifiers.iter(), word) {
                let message = format!("`{word}` shapes scores, and what is said over all runs has none");
                self.report(Diagnostic::new(Slug::Misplaced, at, message).help(format!("leave `{word}` out")));
            }
        }
        self.report_unbound();
        self.add_assertion(place, own, Check::OverRuns(Box::new(over)), text, span);
    }

    /// `avg(E of runs)` and its like; `None` for a call of anything else.
    pub(super) fn fold_of_runs(
        &mut self,
        scope: &Scope<'a>,
        builtin: &'static Builtin,
        call: WrittenCall<'_, 'a>,
    ) -> Option<Typed> {
        let WrittenCall { arguments, span, .. } = call;
        let (value, by) = match arguments.first().map(|first| &first.kind)? {
            ast::ExprKind::OverRuns { value, by } => (value, by),
            _ => return None,
        };
        if self.folding.is_none() {
            self.misplaced_over_runs(span);
            return Some(Typed::broken(span));
        }
        let Some(mut function) = FoldOfRuns::of(builtin.name) else {
            self.loose_value_of_runs(span);
            return Some(Typed::broken(span));
        };
        // In the value of a run nothing is made of all runs.
        let building = self.folding.take();
        let run = Scope { next_local: 0, ..scope.clone() };
        let each = self.expr(&run, value);
        let by = by.as_deref().map(|by| (by, self.group_of_runs(&run, by)));
        self.folding = building;
        let list = Typed::new(ExprKind::Local(Local::VALUE), span, Ty::list(each.ty.clone()));
        let rest: Vec<Typed> = arguments.iter().skip(1).map(|one| self.expr(&scope.with_value(), one)).collect();
        if let (FoldOfRuns::Percentile(share), Some(given)) = (&mut function, rest.first()) {
            let Some((number, ..)) = self.number_of(given) else {
                let message = "which percentile of all runs is known before there are any";
                self.report(Diagnostic::new(Slug::Impossible, given.expr.span, message).help("write a number: `95%`"));
                return Some(Typed::broken(span));
            };
            *share = number;
        }
        let values = std::iter::once(list).chain(rest).collect();
        let fold = self.call_of(builtin, call, values);
        let ty = fold.ty.clone();
        let text = self.statement_text(span);
        self.note_group(by, span);
        let built = self.folding.as_mut()?;
        let local = Local(super::number(built.folds.len()));
        let unit = match ty.measure() {
            Some(Measure::Duration) => ast::Unit::Duration,
            Some(Measure::Money) => ast::Unit::Money,
            Some(Measure::Size) => ast::Unit::Size,
            Some(Measure::Plain | Measure::Instant) | None => ast::Unit::None,
        };
        built.folds.push(RunFold { value: each.expr, function, fold: fold.expr, text, unit });
        Some(Typed::new(ExprKind::Local(local), span, ty))
    }

    /// `E of runs` without a function around it.
    pub(super) fn loose_value_of_runs(&mut self, span: Span) -> Typed {
        self.report(
            Diagnostic::new(Slug::Misplaced, span, "this is a value of every run, and nothing is made of them")
                .help("write `avg(… of runs)`, `median`, `percentile(… of runs, 95%)`, `min`, `max`, `sum` or `length` around it; a tool of the name `runs` is quoted"),
        );
        Typed::broken(span)
    }

    /// All values of an assertion are of the same groups.
    fn note_group(&mut self, by: Option<(&'a ast::Expr, ir::Expr)>, span: Span) {
        let text = |checker: &Self, by: Option<&(&'a ast::Expr, ir::Expr)>| {
            by.map(|(by, _)| checker.statement_text(by.span)).unwrap_or_default()
        };
        let Some(built) = &self.folding else { return };
        if !built.folds.is_empty() && text(self, built.by.as_ref()) != text(self, by.as_ref()) {
            self.report(
                Diagnostic::new(Slug::Misplaced, span, "the values of one assertion are of different groups")
                    .help("write the same `by` in each of them"),
            );
        }
        if let Some(built) = &mut self.folding {
            built.by = built.by.take().or(by);
        }
    }

    fn group_of_runs(&mut self, scope: &Scope<'a>, by: &'a ast::Expr) -> ir::Expr {
        let group = self.expr(scope, by);
        if !group.is_broken() && matches!(group.expr.kind, ExprKind::Constant(_) | ExprKind::Param(_)) {
            self.report(
                Diagnostic::new(Slug::Impossible, by.span, "this is the same for every run, and tells no groups apart")
                    .help("write what of a run tells them apart: `by meta.model`, `by inputs.task`"),
            );
        }
        group.expr
    }

    fn run_share(&mut self, share: &'a RunShare, by: Option<&'a ast::Expr>) -> Option<Share> {
        match share {
            RunShare::Least(number) => self.part(number, "a share of runs").map(Share::Least),
            RunShare::Most(number) => self.part(number, "a share of runs").map(Share::Most),
            RunShare::LeastOf { passes, of } => {
                self.grouped(of.span, by);
                let (least, all) = (self.count_of_runs(passes)?, self.count_of_runs(of)?);
                if least > all || all == 0 {
                    let message = format!("at least {} of {} runs can never hold", passes.text, of.text);
                    self.report(
                        Diagnostic::new(Slug::Impossible, passes.span, message)
                            .help(format!("write `in at least {} of {} runs`", of.text, of.text)),
                    );
                }
                Some(Share::LeastOf { passes: least, of: all })
            }
            RunShare::Power { power, share } => {
                let count = self.count_of_runs(power)?;
                if count == 0 {
                    let message = "with no run nothing has to pass";
                    self.report(Diagnostic::new(Slug::Impossible, power.span, message).help("write `pass^3`"));
                }
                Some(Share::Power { power: count, share: self.part(share, "a share of runs")? })
            }
        }
    }

    /// `at least 2 of 3 runs` is said of the runs of each task.
    fn grouped(&mut self, span: Span, by: Option<&'a ast::Expr>) {
        if by.is_none() {
            self.report(
                Diagnostic::new(Slug::Misplaced, span, "of which runs: those of a task, of a prompt?").help(
                    "write what tells them apart: `in at least 2 of 3 runs by meta.task: …`; of all runs a share is said: `in at least 95% of runs: …`",
                ),
            );
        }
    }

    fn count_of_runs(&mut self, number: &ast::Number) -> Option<u32> {
        let written = self.whole(number, "how many runs")?;
        Some(u32::try_from(written).unwrap_or(u32::MAX))
    }

    /// A number between 0 and 1, written as a percentage or so.
    fn part(&mut self, number: &ast::Number, what: &str) -> Option<f64> {
        let value = value_of(number).filter(|_| number.unit == ast::Unit::None)?;
        if (0.0..=1.0).contains(&value) {
            return Some(value);
        }
        let diagnostic = Diagnostic::new(Slug::Impossible, number.span, format!("{what} lies between 0% and 100%"));
        self.report(match (1.0..=100.0).contains(&value) && !number.text.ends_with('%') {
            true => diagnostic.help(format!("write `{}%`", number.text)).fix(
                "write it as a percentage",
                number.span,
                format!("{}%", number.text),
            ),
            false => diagnostic.help("write `95%`"),
        });
        None
    }

    /// Finds the rules that are counted over all runs, when all rules are known.
    pub(super) fn resolve_rated_rules(&mut self) {
        for (assertion, name) in std::mem::take(&mut self.rated_rules) {
            let Some(number) = self.tested_rule(name) else { continue };
            if let Some(rule) = self.module.rules.get_mut(number as usize) {
                rule.over_runs = true;
            }
            let check = self.module.assertions.get_mut(assertion).map(|assertion| &mut assertion.check);
            if let Some(Check::OverRuns(over)) = check
                && let AsksOfRuns::Rate { rated, .. } = &mut over.asks
            {
                *rated = RatedBy::Rule(number);
            }
        }
    }
}

/// How often `E of runs` stands in an expression.
struct OfRuns(u32);

impl<'a> ast::walk::Visit<'a> for OfRuns {
    fn expr(&mut self, expr: &'a ast::Expr) {
        self.0 = self.0.saturating_add(u32::from(matches!(expr.kind, ast::ExprKind::OverRuns { .. })));
    }
}
