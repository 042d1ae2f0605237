//! Lists over steps: `E of A`, `count A`, `so far`, by the section of `docs/reference/expressions.md` that is called after them.

use crate::answers::{Answers, TooMany};
use crate::condition::{Scope, Variables, asserted_truth, follow};
use crate::course;
use crate::expression::{Worth, arithmetic, compare};
use crate::matching::{Domain, Env, World};
use crate::model::{Condition, Fold, Over, Path, Pattern, Right, Selected, Selection, Simple, SoFar, Within};
use crate::run::{Found, Kind, Run, Step};
use crate::statement::recorded;
use crate::truth::{Truth, Verdict, all_of};
use crate::value;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The values of bindings where a selection stands; one that is not recorded is `None`.
type Given = BTreeMap<String, Option<Value>>;

/// The truth of a comparison that is a condition: what stands around it binds nothing for it here.
pub fn truth(selected: &Selected, scope: Scope, _: Variables) -> Truth {
    truth_with(selected, scope, &Given::new())
}

fn truth_with(selected: &Selected, scope: Scope, given: &Given) -> Truth {
    let left = worth(&selected.left, scope, given);
    let right = match &selected.right {
        Right::Number(n) => Worth::Value(json!(n)),
        Right::Selection(right) => worth(right, scope, given),
    };
    compare(scope.run, left, selected.comparison, right)
}

/// A step that matches, or may.
#[derive(Clone, Copy)]
struct Chosen<'r> {
    place: usize,
    step: &'r Step,
    sure: bool,
}

fn worth(selection: &Selection, scope: Scope, given: &Given) -> Worth {
    let run = scope.run;
    let pattern = &selection.pattern;
    let domain = Domain::of(run, &[pattern]);
    let world = World::whole(run, &domain);
    if !recorded(&world, &[pattern]) {
        return Worth::Absent;
    }
    let mut chosen: Vec<Chosen> = (0..run.steps.len())
        .filter_map(|place| {
            let sure = world.fits_given(pattern, place, given)?;
            Some(Chosen { place, step: &run.steps[place], sure })
        })
        .collect();
    // What later steps have is no mistake in the rule, only not there yet.
    let mut comes = false;
    if let (Some(so_far), Some(step)) = (selection.so_far, scope.step) {
        let has = |one: &Chosen, path| value_of(path, Scope { run, step: Some(one.step) }) != Found::Missing;
        comes = selection.value.as_ref().is_some_and(|(_, path)| chosen.iter().any(|one| has(one, path)));
        if chosen.iter().any(|one| !run.ordered(one.step.kind, step.kind)) {
            return Worth::Absent;
        }
        let at = run.steps.iter().position(|other| std::ptr::eq(other, step)).expect("a step of the run");
        chosen.retain(|one| one.place < at && (so_far == SoFar::Started || known(one.step, step)));
    }
    if let (Some(over), Some(step)) = (selection.over, scope.step) {
        // A step that brings nothing to the list is near or far alike.
        let brings = |one: &&Chosen| match &selection.value {
            Some((_, path)) if one.sure => value_of(path, Scope { run, step: Some(one.step) }) != Found::Missing,
            _ => true,
        };
        let brought: Vec<Chosen> = chosen.iter().filter(brings).copied().collect();
        let among = if over == Over::Row { &chosen } else { &brought };
        match around(over, among, step, run) {
            Some(places) => chosen.retain(|one| places.contains(&one.place)),
            None => return Worth::Absent,
        }
    }
    if chosen.iter().any(|one| !one.sure) {
        return Worth::Absent;
    }
    let Some((fold, path)) = &selection.value else {
        let count = json!(chosen.len());
        return if world.decided_by_missing(pattern, &[]) { Worth::Nowhere(count) } else { Worth::Value(count) };
    };
    let values = chosen.iter().map(|one| value_of(path, Scope { run, step: Some(one.step) }));
    let by_missing = world.decided_by_missing(pattern, &[]);
    match folded(*fold, &values.filter(|found| *found != Found::Missing).collect::<Vec<_>>()) {
        Worth::Value(value) if by_missing => Worth::Nowhere(value),
        Worth::Nowhere(value) if comes && !by_missing => Worth::Value(value),
        worth => worth,
    }
}

/// The places of the steps around one of them; `None` where the run does not tell, or a longer one may hold more.
fn around(over: Over, chosen: &[Chosen], step: &Step, run: &Run) -> Option<Vec<usize>> {
    let at = run.steps.iter().position(|other| std::ptr::eq(other, step))?;
    match over {
        Over::Within(within) => {
            if chosen.iter().any(|one| !run.ordered(one.step.kind, step.kind)) {
                return None;
            }
            let near = |later: &Step| match within {
                Within::Calls(most) => Some(later.position - step.position <= most),
                Within::Turns(most) => step.turn.zip(later.turn).map(|(from, to)| to - from <= most),
                Within::Milliseconds(most) => step.start.zip(later.start).map(|(from, to)| to - from <= most as f64),
            };
            let whole = run.complete
                || run.steps.last().is_some_and(|last| last.kind == Kind::Call && near(last) == Some(false));
            let behind: Vec<&Chosen> = chosen.iter().filter(|one| one.place >= at).collect();
            // A step is near itself, whatever the run records of it.
            let reached = |one: &Chosen| if one.place == at { Some(true) } else { near(one.step) };
            if !whole || behind.iter().any(|one| reached(one).is_none()) {
                return None;
            }
            Some(behind.iter().filter(|one| reached(one) == Some(true)).map(|one| one.place).collect())
        }
        Over::Row => {
            let among = |other: &Step| other.kind == Kind::Call && other.executed == step.executed;
            let calls: Vec<usize> = (0..run.steps.len()).filter(|place| among(&run.steps[*place])).collect();
            let own = calls.iter().position(|place| *place == at)?;
            let matches = |place: &&usize| chosen.iter().any(|one| one.place == **place);
            let before = calls[..own].iter().rev().take_while(matches).count();
            let behind = calls[own..].iter().take_while(matches).count();
            if !run.complete && own + behind == calls.len() {
                return None;
            }
            Some(calls[own - before..own + behind].to_vec())
        }
    }
}

/// What a step costs is its own alone.
fn value_of(path: &Path, scope: Scope) -> Found {
    match scope.step {
        Some(step) if matches!(path.first(), "cost" | "usage") => match step.field(path.first()) {
            Found::Missing => Found::Absent,
            own => follow(own, &path.0[1..]),
        },
        _ => scope.look_up(path),
    }
}

fn known(earlier: &Step, later: &Step) -> bool {
    if earlier.kind != Kind::Call || later.kind != Kind::Call || earlier.is_parent_of(later) {
        return true;
    }
    match (earlier.end, later.start, earlier.turn, later.turn) {
        (Some(end), Some(start), ..) => end <= start,
        (.., Some(one), Some(other)) => one != other,
        _ => true,
    }
}

fn folded(fold: Fold, values: &[Found]) -> Worth {
    if values.contains(&Found::Absent) {
        return Worth::Absent;
    }
    let values: Vec<&Value> =
        values.iter().filter_map(|found| if let Found::Value(value) = found { Some(value) } else { None }).collect();
    let of = |value: Option<&&Value>| value.map_or(Worth::Missing, |value| Worth::Value((*value).clone()));
    match fold {
        Fold::Length | Fold::Sum if values.is_empty() => Worth::Nowhere(json!(0)),
        Fold::Length => Worth::Value(json!(values.len())),
        Fold::First => of(values.first()),
        Fold::Last => of(values.last()),
        Fold::Sum | Fold::Average => {
            if !values.iter().all(|value| value.is_number()) {
                return Worth::Missing;
            }
            let mut numbers = values.iter().map(|value| Worth::Value((*value).clone()));
            let Some(first) = numbers.next() else { return Worth::Missing };
            let sum = numbers.fold(first, |sum, next| arithmetic(crate::expression::Operator::Add, sum, next));
            match fold {
                Fold::Sum => sum,
                _ => arithmetic(crate::expression::Operator::Divide, sum, Worth::Value(json!(values.len()))),
            }
        }
        Fold::Least => of(extreme(&values, Ordering::Less).as_ref()),
        Fold::Greatest => of(extreme(&values, Ordering::Greater).as_ref()),
    }
}

/// The first that is further than all others, where they stand in an order.
fn extreme<'v>(values: &[&'v Value], direction: Ordering) -> Option<&'v Value> {
    let order = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    };
    let (first, rest) = values.split_first()?;
    order(first, first)?;
    rest.iter().try_fold(*first, |best, next| Some(if order(next, best)? == direction { next } else { best }))
}

impl World<'_> {
    /// Whether a step matches for these values: `Some(false)` where the run does not say, `None` where it does not.
    fn fits_given(&self, pattern: &Pattern, index: usize, given: &Given) -> Option<bool> {
        let mut sure: Option<bool> = None;
        for (bound, free, unknown) in self.found_in(pattern, index) {
            let mut is_sure = !unknown;
            let mut fits = true;
            for (name, value) in &bound {
                match given.get(name) {
                    Some(Some(wanted)) => fits &= value::equal(wanted, value),
                    Some(None) => is_sure = false,
                    None => {}
                }
            }
            is_sure &= free.iter().all(|name| !given.contains_key(*name));
            if fits {
                sure = Some(sure.unwrap_or(false) || is_sure);
            }
        }
        sure
    }
}

// ---- As an assertion

/// Whether a rule takes lists of what is recorded: like every expression it speaks of that, whatever comes.
pub fn speaks_of_the_record(rule: &str) -> bool {
    rule.contains("(count ") || Fold::ALL.iter().any(|(word, _)| rule.contains(&format!("{word}(")))
}

/// The selections of a condition.
pub fn selections(condition: &Condition) -> Vec<&Selection> {
    match condition {
        Condition::Selected(selected) => selected.selections(),
        Condition::Test(..) | Condition::Bare(_) => Vec::new(),
        Condition::Not(inner) => selections(inner),
        Condition::And(a, b) | Condition::Or(a, b) | Condition::Implies(a, b) => {
            selections(a).into_iter().chain(selections(b)).collect()
        }
    }
}

/// Whether an expression is judged once for all values that occur.
pub fn is_over_values(condition: &Condition) -> bool {
    let counts = |selection: &Selection| selection.value.is_none();
    let compares = matches!(condition, Condition::Selected(selected)
        if counts(&selected.left) && matches!(&selected.right, Right::Selection(right) if counts(right)));
    compares || !names(condition).is_empty()
}

fn names(condition: &Condition) -> Vec<&str> {
    let patterns = selections(condition).into_iter().flat_map(|selection| &selection.pattern.alternatives);
    let mut names: Vec<&str> = patterns.flat_map(Simple::binds).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The verdict over all values that a step brings.
pub fn over_values(condition: &Condition, world: &World, answers: &mut Answers) -> Result<Verdict, TooMany> {
    let names = names(condition);
    let brings_all = |pattern: &&Pattern| {
        pattern.alternatives.iter().all(|simple| names.iter().all(|name| simple.binds().contains(name)))
    };
    let all = selections(condition);
    let patterns: Vec<&Pattern> = all.iter().map(|selection| &selection.pattern).filter(brings_all).collect();
    if !recorded(world, &patterns) || !world.run.complete && patterns.iter().copied().any(course::is_course_pattern) {
        return Ok(Verdict::Undecided);
    }
    let mut seen: Vec<Env> = Vec::new();
    for index in 0..world.run.steps.len() {
        for pattern in &patterns {
            for env in world.openings(pattern, index, answers) {
                if !seen.contains(&env) {
                    seen.push(env);
                }
            }
        }
    }
    if answers.asked() > 8 {
        return Err(TooMany);
    }
    let mut members = Vec::new();
    for env in &seen {
        let given: Given = env.keys().map(|name| (name.clone(), world.value(env, name))).collect();
        let step = world.subject.map(|index| world.step(index));
        let verdict = with(condition, Scope { run: world.run, step }, &given).verdict();
        members.push(course::of_expression(condition, step.is_some(), verdict, world.run));
    }
    let verdict = all_of(&members);
    Ok(if world.complete || matches!(verdict.told(), Verdict::Fail) { verdict } else { Verdict::Undecided })
}

fn with(condition: &Condition, scope: Scope, given: &Given) -> Truth {
    match condition {
        Condition::Selected(selected) => truth_with(selected, scope, given),
        Condition::Not(inner) => with(inner, scope, given).not(),
        Condition::And(a, b) => with(a, scope, given).and(with(b, scope, given)),
        Condition::Or(a, b) => with(a, scope, given).or(with(b, scope, given)),
        other => asserted_truth(other, scope, &|_| None),
    }
}
