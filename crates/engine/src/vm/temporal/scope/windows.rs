//! The windows that the header of a block opens, under each way of answering what is unknown of it.

use super::super::timeline::{Env, ValueId};
use super::super::view::{Hit, PairFit, WindowView, same_values};
use crate::bytecode::program::PatternId;
use crate::vm::context::{JudgeContext, StepWindow};
use crate::vm::fault::Fault;
use averment_checker::ir::WindowScope;
use std::collections::{BTreeMap, BTreeSet};

/// Unknown header matches that are enumerated; with more, the block is undecided.
const MOST_UNKNOWN: usize = 8;

/// Enumerates answers to unknown header matches, in the order of use; starts with all yes.
#[derive(Debug, Default)]
pub(super) struct AssumedAnswers {
    answers: Vec<bool>,
    cursor: usize,
}

impl AssumedAnswers {
    fn next_answer(&mut self) -> bool {
        let answer = self.answers.get(self.cursor).copied();
        if answer.is_none() {
            self.answers.push(true);
        }
        self.cursor += 1;
        answer.unwrap_or(true)
    }

    fn has_hit(&mut self, hit: &Hit) -> bool {
        hit.sure || self.next_answer()
    }

    /// Moves to the next combination, as a binary counter does; false after the last one.
    pub(super) fn advance(&mut self) -> bool {
        self.answers.truncate(self.cursor);
        self.cursor = 0;
        while self.answers.last() == Some(&false) {
            self.answers.pop();
        }
        self.answers.last_mut().map(|last| *last = false).is_some()
    }

    pub(super) fn too_many(&self) -> bool {
        self.answers.len() > MOST_UNKNOWN
    }
}

/// Operand of the pattern that opens windows (for `before`, closes them).
const OPEN: usize = 0;
const CLOSE: usize = 1;

#[derive(Debug, Clone)]
pub(super) struct OpenedWindow<'run> {
    pub(super) context: JudgeContext<'run>,
    pub(super) opening: Option<u32>,
    pub(super) closing: Option<u32>,
    /// No step closes it, although one has to.
    pub(super) never_closed: bool,
    pub(super) is_value_scope: bool,
}

pub(super) fn open_windows<'run>(
    view: &mut WindowView<'_, 'run>,
    scope: &WindowScope<PatternId>,
    hits: &[Hit],
    answers: &mut AssumedAnswers,
) -> Result<Vec<OpenedWindow<'run>>, Fault> {
    match scope {
        WindowScope::Each { .. } => {
            let there = hits.iter().filter(|hit| answers.has_hit(hit));
            Ok(there.filter_map(|hit| step_window(view, hit)).collect())
        }
        WindowScope::Values { .. } | WindowScope::Before { .. } | WindowScope::After { until: None, .. } => {
            let first = first_hits(hits, answers).into_iter();
            Ok(first.map(|hit| window_of_first(view, scope, hit)).collect())
        }
        WindowScope::After { until: Some(_), .. } => closing_windows(view, hits, false, answers),
        WindowScope::Between { .. } => closing_windows(view, hits, true, answers),
    }
}

/// The window of the first step with its values.
fn window_of_first<'run>(view: &WindowView<'_, 'run>, scope: &WindowScope<PatternId>, hit: &Hit) -> OpenedWindow<'run> {
    let (whole, at) = (view.context.window, hit.step as usize);
    match scope {
        WindowScope::Values { .. } => {
            OpenedWindow { is_value_scope: true, ..open_window(view, &hit.env, whole, Some(hit.step), None) }
        }
        WindowScope::Before { .. } => {
            let window = StepWindow { start: whole.start, end: at, closed: true };
            open_window(view, &hit.env, window, None, Some(hit.step))
        }
        _ => open_window(view, &hit.env, StepWindow { start: at + 1, ..whole }, Some(hit.step), None),
    }
}

fn step_window<'run>(view: &WindowView<'_, 'run>, hit: &Hit) -> Option<OpenedWindow<'run>> {
    let step = view.step(hit.step)?;
    let window = open_window(view, &hit.env, view.context.window, Some(hit.step), None);
    Some(OpenedWindow { context: JudgeContext { step: Some(step), ..window.context }, ..window })
}

fn first_hits<'h>(hits: &'h [Hit], answers: &mut AssumedAnswers) -> Vec<&'h Hit> {
    let mut seen = BTreeSet::new();
    hits.iter().filter(|hit| !seen.contains(&hit.env) && answers.has_hit(hit) && seen.insert(&hit.env)).collect()
}

fn open_window<'run>(
    view: &WindowView<'_, 'run>,
    env: &Env,
    window: StepWindow,
    opening: Option<u32>,
    closing: Option<u32>,
) -> OpenedWindow<'run> {
    let mut context =
        JudgeContext { window: StepWindow { end: window.end.max(window.start), ..window }, ..view.context.clone() };
    for (cell, id) in context.bindings.iter_mut().zip(env) {
        if *id != ValueId::OPEN && cell.is_none() {
            *cell = view.timeline.values.value_node(*id);
        }
    }
    OpenedWindow { context, opening, closing, never_closed: false, is_value_scope: false }
}

/// Windows from each opening hit, unless one with the same values is open, to the next closing hit.
fn closing_windows<'run>(
    view: &mut WindowView<'_, 'run>,
    hits: &[Hit],
    must_close: bool,
    answers: &mut AssumedAnswers,
) -> Result<Vec<OpenedWindow<'run>>, Fault> {
    // Closing hits that have all values of the opening ones close exactly those.
    let same_names = view.operand_names(OPEN) == view.operand_names(CLOSE);
    let has_joins = view.has_joins(OPEN) || view.has_joins(CLOSE);
    let has_values = |hit: &Hit| view.operand_names(hit.operand).iter().all(|name| has_value(&hit.env, *name));
    let closes_by_value = same_names && !has_joins && hits.iter().all(has_values);
    let mut open: BTreeMap<&Env, &Hit> = BTreeMap::new();
    let mut windows = Vec::new();
    for hits_at_step in hits.chunk_by(|a, b| a.step == b.step) {
        for close in hits_at_step.iter().filter(|hit| hit.operand == CLOSE) {
            for opening in closed_by(view, &mut open, close, closes_by_value, answers)? {
                let window = StepWindow { start: opening.step as usize + 1, end: close.step as usize, closed: true };
                windows.push(open_window(view, &opening.env, window, Some(opening.step), Some(close.step)));
            }
        }
        for opening in hits_at_step.iter().filter(|hit| hit.operand == OPEN) {
            if !open.contains_key(&opening.env) && answers.has_hit(opening) {
                open.insert(&opening.env, opening);
            }
        }
    }
    for (env, opening) in open {
        let window = StepWindow { start: opening.step as usize + 1, ..view.context.window };
        windows.push(OpenedWindow {
            never_closed: must_close,
            ..open_window(view, env, window, Some(opening.step), None)
        });
    }
    windows.sort_by_key(|window| (window.opening, window.closing));
    Ok(windows)
}

fn has_value(env: &Env, name: u32) -> bool {
    env.get(name as usize).is_some_and(|id| id.is_value())
}

fn closed_by<'h>(
    view: &mut WindowView<'_, '_>,
    open: &mut BTreeMap<&'h Env, &'h Hit>,
    close: &Hit,
    closes_by_value: bool,
    answers: &mut AssumedAnswers,
) -> Result<Vec<&'h Hit>, Fault> {
    let mut closed = Vec::new();
    if closes_by_value {
        closed.extend(open.get(&close.env).copied().filter(|_| answers.has_hit(close)));
    } else {
        for opening in open.values() {
            match closing_fit(view, opening, close)? {
                PairFit::No => {}
                PairFit::Yes if close.sure => closed.push(*opening),
                _ if answers.next_answer() => closed.push(*opening),
                _ => {}
            }
        }
    }
    for opening in &closed {
        open.remove(&opening.env);
    }
    Ok(closed)
}

/// Tests of the opening pattern on outer bindings were answered when the window opened, so only the closing side is tested.
fn closing_fit(view: &mut WindowView<'_, '_>, opening: &Hit, close: &Hit) -> Result<PairFit, Fault> {
    if !view.asked_names(OPEN).is_empty() {
        return view.pair_fit(opening.as_side(), close.as_side());
    }
    view.spend_fuel(1)?;
    Ok(same_values(&opening.env, &close.env).min(view.test_fit(close.as_side(), opening.as_side())?))
}
