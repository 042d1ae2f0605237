//! Temporal statements that say something else than they seem to.

use super::context::Context;
use super::logic::patterns::{alternative_within, within};
use super::meaning::{SameSides, meaning, same_sides};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_engine::check::DeclarationKind;
use averment_engine::ir::{
    Assertion, Check, Expr as Checked, ExprKind as Form, NameTest, Pattern, Scope, Severity, Temporal,
};
use averment_syntax::ast::walk::{self, Visit};
use averment_syntax::ast::{Atom, Statement, StatementKind, Step, StepKind, Subject, Within, WithinUnit};
use serde_json::json;
use std::collections::BTreeSet;

/// Statements with the same steps on both sides.
pub fn same_steps(context: &mut Context<'_>) {
    walk::file(context.ast(), &mut Same(context));
}

struct Same<'c, 'a>(&'c mut Context<'a>);

impl<'a> Visit<'a> for Same<'_, 'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match same_sides(&statement.kind) {
            SameSides::Fails { step, targets, end, word } => self.precedence(step, targets, end, word),
            SameSides::Says(left, right, what) => self.pair(left, right, what),
            SameSides::Twice(steps) => {
                for (index, step) in steps.iter().enumerate() {
                    if let Some(earlier) = steps.iter().take(index).find(|one| self.alike(one, step)) {
                        self.pair(earlier, step, "says the same twice");
                    }
                }
            }
            SameSides::Fine => {}
        }
    }
}

impl<'a> Same<'_, 'a> {
    fn alike(&self, one: &Step, other: &Step) -> bool {
        self.0.text(one.span) == self.0.text(other.span)
    }

    fn precedence(&mut self, step: &'a Step, targets: &'a [Step], end: &str, word: &str) {
        let text = self.0.text(step.span);
        for target in targets {
            if !self.alike(step, target) {
                continue;
            }
            let bare = matches!(&step.kind, StepKind::Atom(Atom { arguments: None, status: None, by: None, tagged: None, proposed: false, subject: Subject::Tool(name) }) if !name.text.contains(['*', '?']));
            let shown = bare.then(|| json!({"calls": [{"tool": text, "args": {}}]}));
            let message = format!("the {end} `{text}` has none {word} it: this fails on every run with one");
            self.0.report(
                Diagnostic::new(Slug::SelfPrecedence, target.span, message)
                    .other(step.span, "the same steps")
                    .help(format!("name other steps on one side; `count {text} <= 1` asks for at most one"))
                    .witness(shown.as_ref(), "fails"),
            );
        }
    }

    fn pair(&mut self, left: &'a Step, right: &'a Step, what: &str) {
        if self.alike(left, right) {
            let text = self.0.text(left.span);
            self.0.report(
                Diagnostic::new(Slug::SameSteps, right.span, format!("`{text}` stands on both sides: this {what}"))
                    .other(left.span, "the same steps")
                    .help("name other steps on one side"),
            );
        }
    }
}

fn own<'a>(context: &Context<'a>) -> Vec<&'a Assertion> {
    let root = context.root;
    context.checked.module.assertions.iter().filter(|one| one.span.file == root).collect()
}

/// `before approve -> refund` is content with an approval that failed.
pub fn guards(context: &mut Context<'_>) {
    struct Guards<'c, 'a>(&'c mut Context<'a>, BTreeSet<&'a str>);
    impl<'a> Visit<'a> for Guards<'_, 'a> {
        fn statement(&mut self, statement: &'a Statement) {
            let StatementKind::Before { step, targets, within, immediately, .. } = &statement.kind else { return };
            let StepKind::Atom(Atom {
                subject: Subject::Tool(name),
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
            let plain = |target: &Step| match &target.kind {
                StepKind::Atom(Atom {
                    subject: Subject::Tool(name),
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
            let written = format!("{} ok", self.0.text(step.span));
            self.0.report(
                Diagnostic::new(Slug::GuardMayFail, step.span, format!("a failed `{guard}` is enough for this"))
                    .help(format!("write `{written}` where it has to have succeeded"))
                    .fix("demand that it succeeded", end, " ok")
                    .witness(shown.as_ref(), "passes"),
            );
        }
    }
    let declared = context.checked.symbols.declarations.iter();
    let named = declared.filter(|one| one.kind == DeclarationKind::DefStep).map(|one| one.name.as_str()).collect();
    walk::file(context.ast(), &mut Guards(context, named));
}

/// Windows `between A and C` that no C can close, or that nothing closes for sure.
pub fn windows(context: &mut Context<'_>) {
    let assertions = own(context);
    let never: Vec<(&Pattern, Span)> = assertions
        .iter()
        .filter(|one| one.settings.when.is_empty() && one.settings.severity == Severity::Error)
        .flat_map(|one| match &one.check {
            Check::Temporal(Temporal::Never { steps }) => steps.iter().map(|step| (step, one.span)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let asked: Vec<&Pattern> = assertions
        .iter()
        .filter_map(|one| match &one.check {
            Check::Temporal(Temporal::Require { step, .. } | Temporal::Last { step }) => Some(step),
            _ => None,
        })
        .collect();
    let mut found = Vec::new();
    for assertion in &assertions {
        let mut closings = Vec::new();
        closings_of(&assertion.check, &mut closings);
        for close in closings {
            if let Some((_, place)) = never.iter().find(|(step, _)| within(close, step)) {
                let line = context.sources.position(*place).line;
                let message = format!("line {line} allows no `{}`: this window never closes", close.text);
                found.push(
                    Diagnostic::new(Slug::WindowNeverCloses, close.span, message)
                        .other(*place, "it may not occur at all")
                        .help("what stands in a window that never closes is undecided: name another end, or write `after … until …`"),
                );
            } else if !asked.iter().any(|step| within(step, close)) {
                let message =
                    format!("a run without `{}` leaves this window open, and what stands in it undecided", close.text);
                found
                    .push(Diagnostic::new(Slug::WindowMayStayOpen, close.span, message).help(
                        "write `after … until …` for a window that also ends with the run, or `require` its end",
                    ));
            }
        }
    }
    found.into_iter().for_each(|one| context.report(one));
}

/// The closing steps of windows `between`.
fn closings_of<'c>(check: &'c Check<Pattern, Checked>, found: &mut Vec<&'c Pattern>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        Check::Temporal(temporal) => found.extend(meaning(temporal).closes),
        Check::Scoped { scope, body } => {
            if let Scope::Between { close, .. } = scope {
                found.push(close);
            }
            closings_of(body, found);
        }
        Check::Not(inner) => closings_of(inner, found),
        Check::Group { members, .. } => members.iter().for_each(|member| closings_of(&member.check, found)),
        Check::Expression(_) | Check::World(_) | Check::OverRuns(_) => {}
    });
}

/// `each A: cond` with a condition that looks at nothing of the step.
pub fn conditions(context: &mut Context<'_>) {
    let mut found = Vec::new();
    for assertion in own(context) {
        let Check::Temporal(Temporal::Each { step, condition, .. }) = &assertion.check else { continue };
        let looks = averment_engine::check::any(condition, &|form| {
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
        let of_run = averment_engine::check::any(condition, &|form| matches!(form, Form::Root(_) | Form::Run));
        if looks || !of_run {
            continue;
        }
        let message = format!("this says the same of every `{}`: it looks at the run alone", step.text);
        found.push(
            Diagnostic::new(Slug::NotAboutStep, condition.span, message)
                .help("name a field of the step, such as `args.amount` or `result`, or assert it without `each`"),
        );
    }
    found.into_iter().for_each(|one| context.report(one));
}

/// Alternatives and list entries that an earlier one takes already.
pub fn alternatives(context: &mut Context<'_>) {
    let mut found = Vec::new();
    for assertion in own(context) {
        of_check(&assertion.check, &mut found);
    }
    found.into_iter().for_each(|one| context.report(one));
}

fn of_check(check: &Check<Pattern, Checked>, found: &mut Vec<Diagnostic>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        Check::Temporal(temporal) => of_temporal(temporal, found),
        Check::Not(inner) => of_check(inner, found),
        Check::Group { members, .. } => members.iter().for_each(|member| of_check(&member.check, found)),
        Check::Scoped { scope, body } => {
            scope.patterns().for_each(|pattern| inside(pattern, found));
            of_check(body, found);
        }
        Check::Expression(_) | Check::World(_) | Check::OverRuns(_) => {}
    });
}

fn of_temporal(temporal: &Temporal<Pattern, Checked>, found: &mut Vec<Diagnostic>) {
    temporal.patterns().for_each(|pattern| inside(pattern, found));
    let steps = meaning(temporal).list;
    for (index, step) in steps.iter().enumerate() {
        let other = steps
            .iter()
            .enumerate()
            .find(|(at, other)| *at != index && within(step, other) && !(within(other, step) && *at > index));
        if let Some((_, other)) = other {
            found.push(covered(step.span, &step.text, other.span, &other.text));
        }
    }
}

/// The alternatives of one pattern.
fn inside(pattern: &Pattern, found: &mut Vec<Diagnostic>) {
    let all = &pattern.alternatives;
    for (index, one) in all.iter().enumerate() {
        if let Some(other) = all.iter().take(index).find(|other| alternative_within(one, other)) {
            found.push(covered(pattern.span, &name_of(&one.name), pattern.span, &name_of(&other.name)));
        }
    }
}

fn name_of(name: &NameTest) -> String {
    match name {
        NameTest::Exactly(text) | NameTest::Glob(text) | NameTest::PathGlob(text) | NameTest::Contains(text) => {
            text.clone()
        }
        _ => "any".to_owned(),
    }
}

fn covered(place: Span, text: &str, other: Span, by: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Slug::UnreachableAlternative, place, format!("`{by}` takes every `{text}` already"))
            .help(format!("leave `{text}` out, or `{by}`"));
    if place == other { diagnostic } else { diagnostic.other(other, "this takes them") }
}

/// `within 0 calls`.
pub fn bounds(context: &mut Context<'_>) {
    struct BoundsVisitor<'c, 'a>(&'c mut Context<'a>);
    impl<'a> Visit<'a> for BoundsVisitor<'_, 'a> {
        fn within(&mut self, within: &'a Within) {
            if within.number.value != "0" || within.unit != Some(WithinUnit::Calls) {
                return;
            }
            self.0.report(
                Diagnostic::new(
                    Slug::WithinNothing,
                    within.span,
                    "no call is at the place of another: nothing is within 0 calls",
                )
                .help("write `within 1 call` for the call right beside it"),
            );
        }
    }
    walk::file(context.ast(), &mut BoundsVisitor(context));
}
