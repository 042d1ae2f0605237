//! Lints for temporal statements that mean something other than they seem to.

use super::context::LintContext;
use super::lint_semantics::{SameSides, same_sides, statement_semantics};
use super::logic::cover::CoverIndex;
use super::logic::patterns::{alternative_within, is_subset};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_checker::DeclarationKind;
use averment_checker::ir::{
    AssertionCheck, CheckedPattern, ExprKind as Form, NameTest, Severity, Temporal, TypedExpr as Checked, WindowScope,
};
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, AtomSubject, NeverWindow, PatternForm, Statement, StatementKind, StepPattern, WithinUnit,
};
use serde_json::json;
use std::collections::BTreeSet;

/// Reports statements with equal steps on both sides.
pub fn same_steps(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut SameStepsVisitor(context));
}

struct SameStepsVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for SameStepsVisitor<'_, 'a> {
    fn visit_statement(&mut self, statement: &'a Statement) {
        match same_sides(&statement.kind) {
            SameSides::Fails { step, targets, end, word } => self.report_precedence(step, targets, end, word),
            SameSides::Says(left, right, what) => self.report_pair(left, right, what),
            SameSides::Twice(steps) => {
                for (index, step) in steps.iter().enumerate() {
                    if let Some(earlier) = steps.iter().take(index).find(|one| self.has_same_text(one, step)) {
                        self.report_pair(earlier, step, "says the same twice");
                    }
                }
            }
            SameSides::Fine => {}
        }
    }
}

impl<'a> SameStepsVisitor<'_, 'a> {
    fn has_same_text(&self, one: &StepPattern, other: &StepPattern) -> bool {
        self.0.span_text(one.span) == self.0.span_text(other.span)
    }

    fn report_precedence(&mut self, step: &'a StepPattern, targets: &'a [StepPattern], end: &str, word: &str) {
        let text = self.0.span_text(step.span);
        for target in targets {
            if !self.has_same_text(step, target) {
                continue;
            }
            let bare = matches!(&step.kind, PatternForm::Atom(Atom { arguments: None, status: None, by: None, tagged: None, proposed: false, subject: AtomSubject::Tool(name) }) if !name.text.contains(['*', '?']));
            let shown = bare.then(|| json!({"calls": [{"tool": text, "args": {}}]}));
            let message = format!("the {end} `{text}` has none {word} it: this fails on every run with one");
            self.0.report(
                Diagnostic::new(Slug::SelfPrecedence, target.span, message)
                    .with_other(step.span, "the same steps")
                    .with_help(format!("name other steps on one side; `count {text} <= 1` asks for at most one"))
                    .with_witness(shown.as_ref(), "fails"),
            );
        }
    }

    fn report_pair(&mut self, left: &'a StepPattern, right: &'a StepPattern, what: &str) {
        if self.has_same_text(left, right) {
            let text = self.0.span_text(left.span);
            self.0.report(
                Diagnostic::new(Slug::SameSteps, right.span, format!("`{text}` is on both sides: this {what}"))
                    .with_other(left.span, "the same steps")
                    .with_help("name other steps on one side"),
            );
        }
    }
}

/// Reports `before approve -> refund`, which a failed approval satisfies.
pub fn failing_guards(context: &mut LintContext<'_>) {
    struct GuardVisitor<'c, 'a>(&'c mut LintContext<'a>, BTreeSet<&'a str>);
    impl<'a> SyntaxVisitor<'a> for GuardVisitor<'_, 'a> {
        fn visit_statement(&mut self, statement: &'a Statement) {
            let StatementKind::Before { step, targets, within, immediately, .. } = &statement.kind else { return };
            let PatternForm::Atom(Atom {
                subject: AtomSubject::Tool(name),
                status: None,
                by,
                tagged,
                proposed: false,
                arguments,
            }) = &step.kind
            else {
                return;
            };
            if name.text == "any" || name.text.contains(['*', '?']) || self.1.contains(name.text.as_str()) {
                return;
            }
            let plain = |target: &StepPattern| match &target.kind {
                PatternForm::Atom(Atom {
                    subject: AtomSubject::Tool(name),
                    arguments: None,
                    status: None,
                    by: None,
                    tagged: None,
                    proposed: false,
                }) if !name.text.contains(['*', '?']) && name.text != "any" => Some(name.text.clone()),
                _ => None,
            };
            let target = match targets.as_slice() {
                [target]
                    if arguments.is_none() && by.is_none() && tagged.is_none() && within.is_none() && !immediately =>
                {
                    plain(target)
                }
                _ => None,
            };
            let guard = name.text.as_str();
            let shown = target.map(|target| {
                json!({"calls": [{"tool": guard, "args": {}, "status": "failed"}, {"tool": target, "args": {}, "status": "ok"}]})
            });
            let end = step.span.at_end();
            let written = format!("{} ok", self.0.span_text(step.span));
            self.0.report(
                Diagnostic::new(Slug::GuardMayFail, step.span, format!("a failed `{guard}` is enough for this"))
                    .with_help(format!("write `{written}` where it has to have succeeded"))
                    .with_fix("demand that it succeeded", end, " ok")
                    .with_witness(shown.as_ref(), "passes"),
            );
        }
    }
    let declared = context.checked.symbols.declarations.iter();
    let named = declared.filter(|one| one.kind == DeclarationKind::DefStep).map(|one| one.name.as_str()).collect();
    walk::walk_file(context.ast(), &mut GuardVisitor(context, named));
}

/// Reports windows `between A and C` that no C can close, or that may stay open.
pub fn window_ends(context: &mut LintContext<'_>) {
    let assertions = context.own_assertions();
    let never: Vec<(&CheckedPattern, Span)> = assertions
        .iter()
        .filter(|one| one.settings.when.is_empty() && one.settings.severity == Severity::Error)
        .flat_map(|one| match &one.check {
            AssertionCheck::Temporal(Temporal::Never { steps }) => steps.iter().map(|step| (step, one.span)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let asked: Vec<&CheckedPattern> = assertions
        .iter()
        .filter_map(|one| match &one.check {
            AssertionCheck::Temporal(Temporal::Require { step, .. } | Temporal::Last { step }) => Some(step),
            _ => None,
        })
        .collect();
    let mut found = Vec::new();
    for assertion in &assertions {
        let mut closings = Vec::new();
        closings_of(&assertion.check, &mut closings);
        for close in closings {
            if let Some((_, place)) = never.iter().find(|(step, _)| is_subset(close, step)) {
                let line = context.sources.line_column(*place).line;
                let message = format!("line {line} allows no `{}`: this window never closes", close.text);
                found.push(
                    Diagnostic::new(Slug::WindowNeverCloses, close.span, message)
                        .with_other(*place, "it may not occur at all")
                        .with_help("in a window that never closes, assertions are undecided: name another end, or write `after … until …`"),
                );
            } else if !asked.iter().any(|step| is_subset(step, close)) {
                let message = format!(
                    "a run without `{}` leaves this window open, and the assertions in it undecided",
                    close.text
                );
                found.push(Diagnostic::new(Slug::WindowMayStayOpen, close.span, message).with_help(
                    "write `after … until …` for a window that also ends with the run, or `require` its end",
                ));
            }
        }
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn closings_of<'c>(check: &'c AssertionCheck<CheckedPattern, Checked>, found: &mut Vec<&'c CheckedPattern>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        AssertionCheck::Temporal(temporal) => found.extend(statement_semantics(temporal).closes),
        AssertionCheck::Scoped { scope, body } => {
            if let WindowScope::Between { close, .. } = scope {
                found.push(close);
            }
            closings_of(body, found);
        }
        AssertionCheck::Not(inner) => closings_of(inner, found),
        AssertionCheck::Group { members, .. } => members.iter().for_each(|member| closings_of(&member.check, found)),
        AssertionCheck::Expression(_) | AssertionCheck::World(_) | AssertionCheck::OverRuns(_) => {}
    });
}

/// Reports `each A: cond` with a condition that does not depend on the step.
pub fn idle_conditions(context: &mut LintContext<'_>) {
    let mut found = Vec::new();
    for assertion in context.own_assertions() {
        let AssertionCheck::Temporal(Temporal::Each { step, condition, .. }) = &assertion.check else { continue };
        let looks = averment_checker::any_kind(condition, &|form| {
            matches!(
                form,
                Form::Step
                    | Form::StepField(_)
                    | Form::StepOrRoot(_)
                    | Form::Binding(_)
                    | Form::Response
                    | Form::Def(..)
                    | Form::Let(_)
                    | Form::Param(_)
            )
        });
        let of_run = averment_checker::any_kind(condition, &|form| matches!(form, Form::Root(_) | Form::Run));
        if looks || !of_run {
            continue;
        }
        let message = format!("this says the same of every `{}`: it looks at the run alone", step.text);
        found.push(
            Diagnostic::new(Slug::NotAboutStep, condition.span, message)
                .with_help("name a field of the step, such as `args.amount` or `result`, or assert it without `each`"),
        );
    }
    found.into_iter().for_each(|one| context.report(one));
}

/// Reports alternatives and list entries that an earlier one already covers.
pub fn covered_alternatives(context: &mut LintContext<'_>) {
    let mut found = Vec::new();
    for assertion in context.own_assertions() {
        find_in_check(&assertion.check, &mut found);
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn find_in_check(check: &AssertionCheck<CheckedPattern, Checked>, found: &mut Vec<Diagnostic>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        AssertionCheck::Temporal(temporal) => find_in_temporal(temporal, found),
        AssertionCheck::Not(inner) => find_in_check(inner, found),
        AssertionCheck::Group { members, .. } => members.iter().for_each(|member| find_in_check(&member.check, found)),
        AssertionCheck::Scoped { scope, body } => {
            scope.header_patterns().for_each(|pattern| find_covered(pattern, found));
            find_in_check(body, found);
        }
        AssertionCheck::Expression(_) | AssertionCheck::World(_) | AssertionCheck::OverRuns(_) => {}
    });
}

fn find_in_temporal(temporal: &Temporal<CheckedPattern, Checked>, found: &mut Vec<Diagnostic>) {
    temporal.patterns().for_each(|pattern| find_covered(pattern, found));
    let steps = statement_semantics(temporal).list;
    let mut index = CoverIndex::default();
    for (at, step) in steps.iter().enumerate() {
        step.alternatives.iter().for_each(|one| index.add_alternative(one, at));
    }
    for (at, step) in steps.iter().enumerate() {
        let near = step.alternatives.first().map(|one| index.find_candidates(one)).unwrap_or_default();
        let mut others = near.into_iter().filter_map(|other| Some((other, steps.get(other)?)));
        let other = others
            .find(|(other, large)| *other != at && is_subset(step, large) && !(is_subset(large, step) && *other > at));
        if let Some((_, other)) = other {
            found.push(covered_diagnostic(step.span, &step.text, other.span, &other.text));
        }
    }
}

fn find_covered(pattern: &CheckedPattern, found: &mut Vec<Diagnostic>) {
    let all = &pattern.alternatives;
    let mut index = CoverIndex::default();
    for (at, one) in all.iter().enumerate() {
        let mut earlier = index.find_candidates(one).into_iter().filter_map(|other| all.get(other));
        if let Some(other) = earlier.find(|other| alternative_within(one, other)) {
            found.push(covered_diagnostic(pattern.span, &test_name(&one.name), pattern.span, &test_name(&other.name)));
        }
        index.add_alternative(one, at);
    }
}

fn test_name(name: &NameTest) -> String {
    match name {
        NameTest::Exactly(text) | NameTest::Glob(text) | NameTest::PathGlob(text) | NameTest::Contains(text) => {
            text.clone()
        }
        _ => "any".to_owned(),
    }
}

fn covered_diagnostic(place: Span, text: &str, other: Span, by: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Slug::UnreachableAlternative, place, format!("`{by}` takes every `{text}` already"))
            .with_help(format!("leave `{text}` out, or `{by}`"));
    if place == other { diagnostic } else { diagnostic.with_other(other, "this takes them") }
}

/// True if a bound is measured from a call; after a message, a bound of 0 calls allows no call in between.
fn starts_from_call(step: &StepPattern) -> bool {
    match &step.kind {
        PatternForm::Atom(atom) => !matches!(atom.subject, AtomSubject::Kind { .. }),
        PatternForm::Choice(steps) => steps.iter().all(starts_from_call),
        PatternForm::Where { step, .. } | PatternForm::Proposed(step) => starts_from_call(step),
    }
}

/// Reports `within 0 calls` of a call.
pub fn zero_bounds(context: &mut LintContext<'_>) {
    struct BoundsVisitor<'c, 'a>(&'c mut LintContext<'a>);
    impl<'a> SyntaxVisitor<'a> for BoundsVisitor<'_, 'a> {
        fn visit_statement(&mut self, statement: &'a Statement) {
            let within = match &statement.kind {
                StatementKind::Before { step, within: Some(within), .. }
                | StatementKind::After { step, within: Some(within), .. }
                | StatementKind::Never {
                    window: Some(NeverWindow::After { open: step, .. }),
                    within: Some(within),
                    ..
                } if starts_from_call(step) => within,
                StatementKind::Sequence { steps, within: Some(within), .. } if steps.iter().all(starts_from_call) => {
                    within
                }
                _ => return,
            };
            if within.number.value != "0" || within.unit != Some(WithinUnit::Calls) {
                return;
            }
            self.0.report(
                Diagnostic::new(Slug::WithinNothing, within.span, "no call can be within 0 calls of another")
                    .with_help("write `within 1 call` for the next or previous call"),
            );
        }
    }
    walk::walk_file(context.ast(), &mut BoundsVisitor(context));
}
