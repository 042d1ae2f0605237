//! Going through checked assertions: their patterns and expressions.

use averment_engine::ir::{Check, Course, Expr, Flow, Module, Pattern, Scope, World};

/// The patterns of a statement, in the order of its text as far as it is kept.
pub fn patterns(course: &Course<Pattern, Expr>) -> Vec<&Pattern> {
    match course {
        Course::Require { step, .. }
        | Course::Count { step, .. }
        | Course::First { step }
        | Course::Last { step }
        | Course::Repeat { step, .. }
        | Course::Each { step, .. }
        | Course::NoneInSteps { step, .. } => vec![step],
        Course::Never { steps }
        | Course::Only { steps }
        | Course::Either { steps }
        | Course::Sequence { steps, .. } => steps.iter().collect(),
        Course::NeverAfter { steps, open, until, .. } => steps.iter().chain([open]).chain(until).collect(),
        Course::NeverBefore { steps, close, .. } => steps.iter().chain([close]).collect(),
        Course::NeverBetween { steps, open, close, .. } => steps.iter().chain([open, close]).collect(),
        Course::Before { step, targets, .. } | Course::After { step, targets, .. } => {
            std::iter::once(step).chain(targets).collect()
        }
        Course::Together { left, right }
        | Course::Apart { left, right }
        | Course::IfThen { condition: left, consequence: right }
        | Course::Iff { left, right }
        | Course::NotBoth { left, right } => vec![left, right],
        Course::Flow { flow } => {
            let mut found = Vec::new();
            of_flow(flow, &mut found);
            found
        }
        Course::NoneIn { .. } => Vec::new(),
        Course::ArgsValid { step, .. } => step.iter().collect(),
    }
}

fn of_flow<'f>(flow: &'f Flow<Pattern>, found: &mut Vec<&'f Pattern>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match flow {
        Flow::Step(step) => found.push(step),
        Flow::Sequence(parts) | Flow::Choice(parts) => parts.iter().for_each(|part| of_flow(part, found)),
        Flow::Repeat { body, .. } => of_flow(body, found),
    });
}

/// Every expression of a module that stands for itself: of assertions, their patterns and settings, of `let`s and `def`s.
pub fn expressions(module: &Module) -> Vec<&Expr> {
    let mut found: Vec<&Expr> = module.lets.iter().map(|one| &one.value).collect();
    found.extend(module.defs.iter().map(|one| &one.body));
    for assertion in &module.assertions {
        found.extend(assertion.settings.when.iter().chain(&assertion.settings.message));
        of_check(&assertion.check, &mut found);
    }
    found
}

fn of_check<'c>(check: &'c Check<Pattern, Expr>, found: &mut Vec<&'c Expr>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match check {
        Check::Expression(expr) => found.push(expr),
        Check::Course(course) => of_course(course, found),
        Check::Not(inner) => of_check(inner, found),
        Check::Group { members, .. } => {
            for member in members {
                found.extend(&member.when);
                of_check(&member.check, found);
            }
        }
        Check::Scoped { scope, body } => {
            for pattern in of_scope(scope) {
                of_pattern(pattern, found);
            }
            of_check(body, found);
        }
        Check::World(World::File { path: one, test, .. } | World::Http { url: one, test, .. }) => {
            found.extend([one, test])
        }
        Check::World(World::Run { arguments, .. }) => found.extend(arguments),
        Check::World(World::Env { .. } | World::Tool { .. }) => {}
    });
}

/// The patterns of a block's header.
pub fn of_scope(scope: &Scope<Pattern>) -> Vec<&Pattern> {
    match scope {
        Scope::After { open, until } => std::iter::once(open).chain(until).collect(),
        Scope::Before { close: one } | Scope::Each { step: one } => vec![one],
        Scope::Between { open, close } => vec![open, close],
    }
}

fn of_course<'c>(course: &'c Course<Pattern, Expr>, found: &mut Vec<&'c Expr>) {
    for pattern in patterns(course) {
        of_pattern(pattern, found);
    }
    match course {
        Course::Count { test: one, .. }
        | Course::Each { condition: one, .. }
        | Course::NoneInSteps { predicate: one, .. } => found.push(one),
        Course::NoneIn { values, predicate } => found.extend([values, predicate]),
        _ => {}
    }
}

fn of_pattern<'c>(pattern: &'c Pattern, found: &mut Vec<&'c Expr>) {
    for one in &pattern.alternatives {
        found.extend(one.condition.iter().chain(&one.joins));
        found.extend(one.binds.iter().map(|(_, path)| path));
    }
}

/// Calls `visit` with an expression and everything in it.
pub fn each_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        averment_engine::check::children(expr, &mut |child| each_expr(child, visit))
    });
}
