//! Groups, `not`, `when` and blocks around the statements; the verdicts of a whole rule.

use crate::answers::{Answers, TooMany, settle};
use crate::condition::{Scope, asserted_truth, condition_truth};
use crate::course;
use crate::matching::{Domain, Env, World};
use crate::model::{Condition, Header, Pattern, Statement, Within};
use crate::run::{Kind, Run};
use crate::selection::{is_over_values, over_values, selections};
use crate::statement::{agrees, judged, kinds_ordered, recorded};
use crate::truth::{Truth, Verdict, all_of, at_least};
use std::rc::Rc;

type Verdicts = Result<Verdict, TooMany>;

/// One verdict for each assertion: every statement of a block is one of its own.
pub fn evaluate(statement: &Statement, run: &Run) -> Result<Vec<Verdict>, TooMany> {
    let mut assertions = Vec::new();
    split(statement, &mut Vec::new(), &mut assertions);
    assertions.iter().map(|assertion| evaluate_one(assertion, run)).collect()
}

/// An assertion with the headers around it, as nested blocks of one statement each.
fn split(statement: &Statement, headers: &mut Vec<Header>, out: &mut Vec<Statement>) {
    if let Statement::Block(header, body) = statement {
        headers.push(header.clone());
        body.iter().for_each(|inner| split(inner, headers, out));
        headers.pop();
        return;
    }
    if let Statement::Gated(inner, _) = statement {
        return split(inner, headers, out);
    }
    if let (Statement::When(inner, condition), false) = (statement, headers.is_empty()) {
        // A modifier belongs to the assertion: it is asked before any window is looked at.
        let mut inside = Vec::new();
        split(inner, headers, &mut inside);
        out.extend(inside.into_iter().map(|inner| Statement::When(Box::new(inner), condition.clone())));
        return;
    }
    let wrap = |inner, header: &Header| Statement::Block(header.clone(), vec![inner]);
    out.push(headers.iter().rev().fold(statement.clone(), wrap));
}

fn evaluate_one(statement: &Statement, run: &Run) -> Verdicts {
    let mut patterns = Vec::new();
    collect(statement, &mut patterns);
    let domain = Domain::of(run, &patterns);
    let world = World::whole(run, &domain);
    verdict(statement, &world).map(Verdict::told)
}

/// Every pattern of a statement, those of groups and blocks included.
pub fn collect<'s>(statement: &'s Statement, out: &mut Vec<&'s Pattern>) {
    match statement {
        Statement::Not(inner) | Statement::When(inner, _) | Statement::Gated(inner, _) => collect(inner, out),
        Statement::AnyOf(body) | Statement::AllOf(body) | Statement::NoneOf(body) | Statement::AtLeast(_, body) => {
            body.iter().for_each(|inner| collect(inner, out));
        }
        Statement::Block(header, body) => {
            out.extend(header_patterns(header));
            body.iter().for_each(|inner| collect(inner, out));
        }
        Statement::Expression(condition) => {
            out.extend(selections(condition).into_iter().map(|selection| &selection.pattern));
        }
        plain => out.extend(plain.patterns()),
    }
}

fn header_patterns(header: &Header) -> Vec<&Pattern> {
    match header {
        Header::After(a, until) => std::iter::once(a).chain(until).collect(),
        Header::Between(a, c) => vec![a, c],
        Header::Before(a) | Header::Each(a) => vec![a],
        Header::When(_) => Vec::new(),
    }
}

fn verdict(statement: &Statement, world: &World) -> Verdicts {
    let members = |body: &[Statement]| body.iter().map(|inner| verdict(inner, world)).collect::<Result<Vec<_>, _>>();
    match statement {
        Statement::Not(inner) => Ok(verdict(inner, world)?.negated()),
        Statement::AllOf(body) => Ok(all_of(&members(body)?)),
        Statement::AnyOf(body) => Ok(at_least(Some(1), &members(body)?)),
        Statement::AtLeast(n, body) => Ok(so_far(*n, &members(body)?, world.complete)),
        Statement::NoneOf(body) => Ok(all_of(&members(body)?.into_iter().map(Verdict::negated).collect::<Vec<_>>())),
        Statement::Block(Header::When(condition), body) => {
            let body = body.clone();
            when(condition, world, || block_body(&body, world))
        }
        Statement::When(inner, condition) => when(condition, world, || verdict(inner, world)),
        // What is denied or allowed is nothing to the verdict.
        Statement::Gated(inner, _) => verdict(inner, world),
        Statement::Block(header, body) => block(header, body, world),
        Statement::Expression(condition) if is_over_values(condition) => {
            settled(|answers: &mut Answers| over_values(condition, world, answers))
        }
        Statement::Expression(condition) => {
            let scope = Scope { run: world.run, step: world.subject.map(|index| world.step(index)) };
            let verdict = asserted_truth(condition, scope, &|name: &str| world.value(&world.fixed, name)).verdict();
            Ok(course::of_expression(condition, world.subject.is_some(), verdict, world.run))
        }
        plain => leaf(plain, world),
    }
}

/// Of a run that may go on: too few members count, and none of them has passed or failed.
fn so_far(n: usize, members: &[Verdict], complete: bool) -> Verdict {
    let open = members.iter().filter(|verdict| **verdict == Verdict::Undecided).count();
    let judged = members.iter().any(|verdict| matches!(verdict.told(), Verdict::Pass | Verdict::Fail | Verdict::Error));
    match at_least(Some(n), members) {
        verdict if verdict.told() == Verdict::Fail && !complete && !judged && open < n => Verdict::Vacuous,
        verdict => verdict,
    }
}

fn block_body(body: &[Statement], world: &World) -> Verdicts {
    let members: Result<Vec<_>, _> = body.iter().map(|inner| verdict(inner, world)).collect();
    Ok(all_of(&members?))
}

fn truth(condition: &Condition, world: &World) -> Truth {
    let scope = Scope { run: world.run, step: world.subject.map(|index| world.step(index)) };
    let variables = |name: &str| world.value(&world.fixed, name);
    condition_truth(condition, scope, &variables)
}

/// A false condition skips; an undecided one leaves open which it is.
fn when(condition: &Condition, world: &World, inner: impl Fn() -> Verdicts) -> Verdicts {
    match truth(condition, world).plain {
        Some(true) => inner(),
        Some(false) => Ok(Verdict::Skipped),
        None if inner()? == Verdict::Skipped => Ok(Verdict::Skipped),
        None => Ok(Verdict::Undecided),
    }
}

/// A statement: its verdict under every answer to what is unknown.
fn leaf(statement: &Statement, world: &World) -> Verdicts {
    let patterns = statement.patterns();
    if !recorded(world, &patterns) || (over_calls(statement) && !world.run.recorded.contains(&Kind::Call)) {
        return Ok(Verdict::Undecided);
    }
    let together: Vec<&Pattern> = patterns.iter().copied().chain(&world.around).collect();
    let lost = match &world.outside {
        // Which steps are in a window depends on their order.
        Some(outside) => !kinds_ordered(outside, &together, related_calls(statement, outside)),
        None => speaks_of_order(statement) && !kinds_ordered(world, &patterns, related_calls(statement, world)),
    };
    if lost {
        return Ok(Verdict::Undecided);
    }
    if !world.run.complete && course::looks_at_course(statement) {
        // What a step was asked about the whole run is never answered for good.
        return Ok(Verdict::Undecided);
    }
    let mut domain = world.domain.of_statement(world.run, &patterns);
    if !world.complete && is_a_word(statement) {
        domain.any_value_may_come();
    }
    let world = &World { domain: &domain, ..world.clone() };
    settled(|answers: &mut Answers| Ok(judged(world, statement, answers)))
}

/// The verdict under all answers; a fail is by missing where it is under each of them.
fn settled(mut judge: impl FnMut(&mut Answers) -> Verdicts) -> Verdicts {
    let told = settle(|answers: &mut Answers| Ok(judge(answers)?.told()))?.unwrap_or(Verdict::Undecided);
    Ok(match told {
        Verdict::Fail => settle(judge)?.unwrap_or(Verdict::Fail),
        verdict => verdict,
    })
}

/// Statements whose early steps may be tested on what a later one binds.
fn is_a_word(statement: &Statement) -> bool {
    matches!(statement, Statement::Sequence { .. } | Statement::Flow(_))
}

/// Statements over the call list.
fn over_calls(statement: &Statement) -> bool {
    use crate::model::{Adjacency, SequenceMode};
    use Statement as S;
    match statement {
        S::CallsMatch(_) | S::Only(_) | S::First(_) | S::Last(_) | S::Flow(_) | S::NeverRepeat(..) => true,
        S::Before { adjacency, .. } | S::After { adjacency, .. } => *adjacency == Adjacency::Immediately,
        S::Sequence { mode, .. } => *mode == SequenceMode::Exactly,
        _ => false,
    }
}

/// Whether the place of steps among the calls matters: a statement over a call list that is not empty; a bound in calls between steps of
/// two patterns where the run has executed calls.
fn related_calls(statement: &Statement, world: &World) -> bool {
    let patterns = statement.patterns();
    let mut simples = patterns.iter().flat_map(|pattern| &pattern.alternatives);
    let proposed = !patterns.is_empty() && simples.all(|simple| simple.proposed);
    let has_call = |executed: bool| {
        world.steps.iter().any(|index| world.step(*index).kind == Kind::Call && world.step(*index).executed == executed)
    };
    let occurs = |pattern: &&&Pattern| world.steps.iter().any(|index| world.may_match(pattern, *index));
    (over_calls(statement) && has_call(!proposed))
        || (bound_in_calls(statement) && has_call(true) && patterns.iter().filter(occurs).count() > 1)
}

fn bound_in_calls(statement: &Statement) -> bool {
    use Statement as S;
    match statement {
        S::Before { within, .. }
        | S::After { within, .. }
        | S::Sequence { within, .. }
        | S::NeverAfter { within, .. }
        | S::NeverBefore { within, .. } => matches!(within, Some(Within::Calls(_))),
        _ => false,
    }
}

/// Statements that ask which step came first.
fn speaks_of_order(statement: &Statement) -> bool {
    use Statement as S;
    matches!(
        statement,
        S::Before { .. }
            | S::After { .. }
            | S::Sequence { .. }
            | S::NeverAfter { .. }
            | S::NeverBefore { .. }
            | S::NeverBetween { .. }
            | S::Nested(..)
    )
}

/// A window of a block.
struct Window<'a> {
    world: World<'a>,
    /// `between` without its closing step.
    never_closes: bool,
}

/// The windows of a header, and whether further steps may open another one.
struct Windows<'a> {
    windows: Vec<Window<'a>>,
    more_may_open: bool,
}

/// A block around one statement (several only inside groups: then they are one, `all of` them).
fn block(header: &Header, body: &[Statement], world: &World) -> Verdicts {
    let patterns = header_patterns(header);
    let moves = !world.run.complete && patterns.iter().copied().any(course::is_course_pattern);
    let lost = !recorded(world, &patterns) || opens_in_no_order(header, &patterns, world) || moves;
    let judged = |statements: &[Statement]| match lost {
        true => Ok(Verdict::Undecided),
        false => settled(|answers: &mut Answers| {
            let inside = statements.iter().map(|statement| in_windows(header, statement, world, answers));
            Ok(all_of(&inside.collect::<Result<Vec<_>, _>>()?))
        }),
    };
    // Windows that are not known open for all of them or for none.
    let (plain, modified): (Vec<_>, Vec<_>) =
        body.iter().flat_map(lifted).partition(|(conditions, _)| conditions.is_empty());
    let plain: Vec<Statement> = plain.into_iter().map(|(_, statement)| statement).collect();
    let mut members = if plain.is_empty() { Vec::new() } else { vec![judged(&plain)?] };
    for (conditions, statement) in modified {
        members.push(gated(&conditions, world, || judged(std::slice::from_ref(&statement)))?);
    }
    Ok(all_of(&members))
}

/// A statement of a block with the conditions of its modifiers, which are asked before any window is looked at.
fn lifted(statement: &Statement) -> Vec<(Vec<Condition>, Statement)> {
    match statement {
        Statement::When(inner, condition) => {
            let with = |(mut all, inner): (Vec<Condition>, Statement)| {
                all.insert(0, condition.clone());
                (all, inner)
            };
            lifted(inner).into_iter().map(with).collect()
        }
        Statement::Block(header, body) if !matches!(header, Header::When(_)) => {
            let (plain, modified): (Vec<_>, Vec<_>) =
                body.iter().flat_map(lifted).partition(|(conditions, _)| conditions.is_empty());
            let plain: Vec<Statement> = plain.into_iter().map(|(_, statement)| statement).collect();
            let plain = (!plain.is_empty()).then(|| (Vec::new(), Statement::Block(header.clone(), plain)));
            let wrap = |(all, inner)| (all, Statement::Block(header.clone(), vec![inner]));
            plain.into_iter().chain(modified.into_iter().map(wrap)).collect()
        }
        other => vec![(Vec::new(), other.clone())],
    }
}

fn gated(conditions: &[Condition], world: &World, inner: impl Fn() -> Verdicts) -> Verdicts {
    let truths: Vec<Option<bool>> = conditions.iter().map(|condition| truth(condition, world).plain).collect();
    match () {
        () if truths.contains(&Some(false)) => Ok(Verdict::Skipped),
        () if !truths.contains(&None) => inner(),
        () if inner()? == Verdict::Skipped => Ok(Verdict::Skipped),
        () => Ok(Verdict::Undecided),
    }
}

/// Which windows open depends on the order of the header's steps.
fn opens_in_no_order(header: &Header, patterns: &[&Pattern], world: &World) -> bool {
    let together: Vec<&Pattern> = patterns.iter().copied().chain(&world.around).collect();
    let place = world.outside.as_deref().unwrap_or(world);
    !matches!(header, Header::Each(_)) && !kinds_ordered(place, &together, false)
}

fn in_windows(header: &Header, statement: &Statement, world: &World, answers: &mut Answers) -> Verdicts {
    let Windows { windows, more_may_open } = windows_of(header, world, answers);
    // The page leaves these undecided; here the pair is left out.
    if answers.asked() > 8 {
        return Err(TooMany);
    }
    let mut members = Vec::new();
    let opens = !matches!(header, Header::Each(_));
    for mut window in windows {
        if opens {
            window.world.around.extend(header_patterns(header).into_iter().cloned());
            window.world.outside = world.outside.clone().or_else(|| Some(Rc::new(world.clone())));
        }
        match verdict(statement, &window.world)? {
            verdict if verdict.told() == Verdict::Fail && window.never_closes => members.push(Verdict::Undecided),
            _ if window.never_closes => {}
            verdict => members.push(verdict),
        }
    }
    let verdict = all_of(&members);
    let settled = world.complete || !more_may_open || matches!(verdict.told(), Verdict::Fail | Verdict::Error);
    Ok(match verdict {
        _ if !settled => Verdict::Undecided,
        verdict => verdict,
    })
}

fn windows_of<'a>(header: &Header, world: &World<'a>, answers: &mut Answers) -> Windows<'a> {
    match header {
        Header::After(a, None) => first_windows(a, world, answers, true),
        Header::Before(a) => first_windows(a, world, answers, false),
        Header::After(a, Some(c)) => until_windows(a, c, false, world, answers),
        Header::Between(a, c) => until_windows(a, c, true, world, answers),
        Header::Each(a) => {
            let found = every(a, world, answers);
            let windows = found.into_iter().map(|(index, env)| {
                let mut inner = world.clone();
                inner.fixed.extend(env);
                inner.subject = Some(index);
                Window { world: inner, never_closes: false }
            });
            Windows { windows: windows.collect(), more_may_open: true }
        }
        Header::When(_) => unreachable!("`when` opens no window"),
    }
}

fn every(a: &Pattern, world: &World, answers: &mut Answers) -> Vec<(usize, Env)> {
    world
        .steps
        .iter()
        .flat_map(|index| world.openings(a, *index, answers).into_iter().map(|env| (*index, env)))
        .collect()
}

/// For every value of A's bindings one window: behind the first A with it, or before it.
fn first_windows<'a>(a: &Pattern, world: &World<'a>, answers: &mut Answers, behind: bool) -> Windows<'a> {
    let mut seen: Vec<Env> = Vec::new();
    let mut windows = Vec::new();
    for (index, env) in every(a, world, answers) {
        if seen.contains(&env) {
            continue;
        }
        seen.push(env.clone());
        let mut inner = world.clone();
        inner.steps.retain(|step| if behind { *step > index } else { *step < index });
        inner.fixed.extend(env);
        inner.complete = world.complete || !behind;
        windows.push(Window { world: inner, never_closes: false });
    }
    let binds = a.alternatives.iter().flat_map(|simple| simple.binds());
    let more_values = binds.into_iter().any(|name| !world.fixed.contains_key(name));
    Windows { more_may_open: behind || windows.is_empty() || more_values, windows }
}

/// From each A that is not inside an open window of the same values to the next C, or to the end.
fn until_windows<'a>(
    a: &Pattern,
    c: &Pattern,
    needs_close: bool,
    world: &World<'a>,
    answers: &mut Answers,
) -> Windows<'a> {
    let mut open_until: Vec<(Env, usize)> = Vec::new();
    let mut windows = Vec::new();
    for (index, env) in every(a, world, answers) {
        if open_until.iter().any(|(other, end)| *other == env && index < *end) {
            continue;
        }
        let mut inner = world.clone();
        inner.fixed.extend(env.clone());
        let close = world.steps.iter().copied().find(|step| {
            *step > index && inner.closings(c, *step, answers).iter().any(|bound| agrees(bound, &inner.fixed))
        });
        let end = close.unwrap_or(usize::MAX);
        inner.steps.retain(|step| index < *step && *step < end);
        inner.complete = world.complete || close.is_some();
        open_until.push((env, end));
        windows.push(Window { world: inner, never_closes: needs_close && close.is_none() });
    }
    Windows { windows, more_may_open: true }
}
