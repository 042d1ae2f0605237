//! The windows that the header of a block opens, under each way of answering what is unknown of it.

use super::super::timeline::{Env, ValueId};
use super::super::view::{Fit, Hit, View, same_values};
use crate::bytecode::program::PatternId;
use crate::ir::Scope;
use crate::vm::context::{Context, Window};
use crate::vm::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// Unknown matches of a header that are answered in all ways; with more the block is undecided.
const MOST_UNKNOWN: usize = 8;

/// Answers to what is unknown of a header, in the order in which windows depend on it. First all are yes, then every other way is gone
/// through.
#[derive(Debug, Default)]
pub(super) struct AssumedAnswers {
    given: Vec<bool>,
    asked: usize,
}

impl AssumedAnswers {
    /// The answer to the next unknown match.
    fn ask(&mut self) -> bool {
        let answer = self.given.get(self.asked).copied();
        if answer.is_none() {
            self.given.push(true);
        }
        self.asked += 1;
        answer.unwrap_or(true)
    }

    /// Whether a hit is there.
    fn has(&mut self, hit: &Hit) -> bool {
        hit.sure || self.ask()
    }

    /// Goes on to the next way of answering; false when there is none.
    pub(super) fn next(&mut self) -> bool {
        self.given.truncate(self.asked);
        self.asked = 0;
        while self.given.last() == Some(&false) {
            self.given.pop();
        }
        self.given.last_mut().map(|last| *last = false).is_some()
    }

    /// Whether more is unknown than is answered in all ways.
    pub(super) fn too_many(&self) -> bool {
        self.given.len() > MOST_UNKNOWN
    }
}

/// The operand of the pattern that opens windows (closes them, for `before`).
const OPEN: usize = 0;
/// The operand of the pattern that closes them.
const CLOSE: usize = 1;

/// A window of a block.
#[derive(Debug, Clone)]
pub(super) struct Opened<'run> {
    pub(super) context: Context<'run>,
    pub(super) opening: Option<u32>,
    pub(super) closing: Option<u32>,
    /// It should have closed, and never does.
    pub(super) hangs: bool,
    /// It is the whole run, with values that the opening step brings.
    pub(super) of_values: bool,
}

/// The windows that header hits open, in the order in which they open.
pub(super) fn windows<'run>(
    view: &mut View<'_, 'run>,
    scope: &Scope<PatternId>,
    hits: &[Hit],
    answers: &mut AssumedAnswers,
) -> Result<Vec<Opened<'run>>, Fault> {
    let whole = view.context.window;
    match scope {
        Scope::Each { .. } => {
            let there = hits.iter().filter(|hit| answers.has(hit));
            Ok(there.filter_map(|hit| of_step(view, hit)).collect())
        }
        Scope::Values { .. } => Ok(firsts(hits, answers)
            .into_iter()
            .map(|hit| Opened { of_values: true, ..opened(view, &hit.env, whole, Some(hit.step), None) })
            .collect()),
        Scope::Before { .. } => Ok(firsts(hits, answers)
            .into_iter()
            .map(|hit| {
                let window = Window { start: whole.start, end: hit.step as usize, closed: true };
                opened(view, &hit.env, window, None, Some(hit.step))
            })
            .collect()),
        Scope::After { until: None, .. } => Ok(firsts(hits, answers)
            .into_iter()
            .map(|hit| {
                let window = Window { start: hit.step as usize + 1, ..whole };
                opened(view, &hit.env, window, Some(hit.step), None)
            })
            .collect()),
        Scope::After { until: Some(_), .. } => closing(view, hits, false, answers),
        Scope::Between { .. } => closing(view, hits, true, answers),
    }
}

fn of_step<'run>(view: &View<'_, 'run>, hit: &Hit) -> Option<Opened<'run>> {
    let step = view.step(hit.step)?;
    let window = opened(view, &hit.env, view.context.window, Some(hit.step), None);
    Some(Opened { context: Context { step: Some(step), ..window.context }, ..window })
}

/// The first hit for each of their values.
fn firsts<'h>(hits: &'h [Hit], answers: &mut AssumedAnswers) -> Vec<&'h Hit> {
    let mut seen = BTreeSet::new();
    hits.iter().filter(|hit| !seen.contains(&hit.env) && answers.has(hit) && seen.insert(&hit.env)).collect()
}

/// A window in which the header's values hold.
fn opened<'run>(
    view: &View<'_, 'run>,
    env: &Env,
    window: Window,
    opening: Option<u32>,
    closing: Option<u32>,
) -> Opened<'run> {
    let mut context =
        Context { window: Window { end: window.end.max(window.start), ..window }, ..view.context.clone() };
    for (cell, id) in context.bindings.iter_mut().zip(env) {
        if *id != ValueId::OPEN && cell.is_none() {
            *cell = view.timeline.values.node(*id);
        }
    }
    Opened { context, opening, closing, hangs: false, of_values: false }
}

/// Windows from each opening hit that is not inside an open window of the same values to the next closing one.
fn closing<'run>(
    view: &mut View<'_, 'run>,
    hits: &[Hit],
    must_close: bool,
    answers: &mut AssumedAnswers,
) -> Result<Vec<Opened<'run>>, Fault> {
    // Closing hits that have all values of the opening ones close exactly those.
    let exact = view.names(OPEN) == view.names(CLOSE) && !view.joined(OPEN) && !view.joined(CLOSE);
    let exact = exact && hits.iter().all(|hit| view.names(hit.operand).iter().all(|name| has_value(&hit.env, *name)));
    let mut open: BTreeMap<&Env, &Hit> = BTreeMap::new();
    let mut windows = Vec::new();
    for of_step in hits.chunk_by(|a, b| a.step == b.step) {
        for close in of_step.iter().filter(|hit| hit.operand == CLOSE) {
            for opening in closed_by(view, &mut open, close, exact, answers)? {
                let window = Window { start: opening.step as usize + 1, end: close.step as usize, closed: true };
                windows.push(opened(view, &opening.env, window, Some(opening.step), Some(close.step)));
            }
        }
        for opening in of_step.iter().filter(|hit| hit.operand == OPEN) {
            if !open.contains_key(&opening.env) && answers.has(opening) {
                open.insert(&opening.env, opening);
            }
        }
    }
    for (env, opening) in open {
        let window = Window { start: opening.step as usize + 1, ..view.context.window };
        windows.push(Opened { hangs: must_close, ..opened(view, env, window, Some(opening.step), None) });
    }
    windows.sort_by_key(|window| (window.opening, window.closing));
    Ok(windows)
}

fn has_value(env: &Env, name: u32) -> bool {
    env.get(name as usize).is_some_and(|id| id.is_value())
}

/// Takes the openings out that a closing hit closes.
fn closed_by<'h>(
    view: &mut View<'_, '_>,
    open: &mut BTreeMap<&'h Env, &'h Hit>,
    close: &Hit,
    exact: bool,
    answers: &mut AssumedAnswers,
) -> Result<Vec<&'h Hit>, Fault> {
    let mut closed = Vec::new();
    if exact {
        closed.extend(open.get(&close.env).copied().filter(|_| answers.has(close)));
    } else {
        for opening in open.values() {
            match closes(view, opening, close)? {
                Fit::No => {}
                Fit::Yes if close.sure => closed.push(*opening),
                _ if answers.ask() => closed.push(*opening),
                _ => {}
            }
        }
    }
    for opening in &closed {
        open.remove(&opening.env);
    }
    Ok(closed)
}

/// Whether a step closes the window that another one opened. What the opening asks of the values around the block alone was answered when
/// it opened.
fn closes(view: &mut View<'_, '_>, opening: &Hit, close: &Hit) -> Result<Fit, Fault> {
    if !view.asks(OPEN).is_empty() {
        return view.fit(opening.side(), close.side());
    }
    view.spend(1)?;
    Ok(same_values(&opening.env, &close.env).and(view.tests(close.side(), opening.side())?))
}
