//! What `never B after A`, `never B before A` and `never B between A and C` share: several B's, the windows that A's open, the words.

use super::{Polarity, StatementOperand, hurts};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role};
use crate::vm::temporal::explain::{why, within_words};
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, measure};
use crate::vm::temporal::timeline::Env;
use crate::vm::temporal::view::{Fit, Hit, Side, View, key, merge, same_values};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// What must not occur, then the operands of its window.
pub(super) fn behind(steps: &[PatternId], window: impl IntoIterator<Item = StatementOperand>) -> Vec<StatementOperand> {
    steps.iter().copied().map(hurts).chain(window).collect()
}

/// The roles of a window: what must not occur, what opens it (or, for `before`, closes it), what closes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowRoles {
    pub(super) step: usize,
    pub(super) edge: usize,
    pub(super) close: Option<usize>,
}

/// `never B, C after A`: it holds when it holds for B and for C.
pub(super) struct All<M> {
    parts: Vec<M>,
}

impl<M> All<M> {
    /// A monitor for each of the `steps` first roles; the window's roles stand behind them.
    pub(super) fn new(view: &View<'_, '_>, steps: usize, make: impl Fn(WindowRoles) -> M) -> Self {
        let close = Some(steps + 1).filter(|close| *close < view.operands.len());
        // What matches no step of the run cannot be in a window; one of them is kept to say whether a window opens.
        let occurs = |operand: &usize| {
            let matches = view.operands.get(*operand).and_then(|operand| view.timeline.of(operand.unique));
            matches.is_some_and(|matches| !matches.events.is_empty())
        };
        let mut wanted: Vec<usize> = (0..steps).filter(occurs).collect();
        if wanted.is_empty() {
            wanted.push(0);
        }
        Self { parts: wanted.into_iter().map(|step| make(WindowRoles { step, edge: steps, close })).collect() }
    }
}

impl<'run, M: Monitor<'run>> Monitor<'run> for All<M> {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        self.parts.iter_mut().try_for_each(|part| part.step(hits, view))
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let mut all = Judged { may_hold: true, ..Judged::default() };
        for part in &mut self.parts {
            let judged = part.judge(view)?;
            all.may_fail |= judged.may_fail;
            all.may_hang |= judged.may_hang;
            all.failed_for_good |= judged.failed_for_good;
            all.exercised = judged.exercised;
        }
        all.may_hang &= !all.may_fail;
        all.may_hold = !all.may_fail && !all.may_hang;
        Ok(all)
    }

    fn is_settled(&self) -> bool {
        // Which of several speaks is only known when all have seen the window.
        matches!(self.parts.as_slice(), [part] if part.is_settled())
    }

    fn only_adds_failures(&self) -> bool {
        self.parts.iter().all(M::only_adds_failures)
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        // Beside one that fails, a window that never closes is no violation.
        let fails = self.parts.iter().any(M::is_settled);
        let parts = self.parts.iter().filter(|part| part.is_settled() || !fails);
        let parts: Vec<Why> = parts.map(|part| part.explain(view)).collect();
        Why::joined(parts, view.listed)
    }
}

/// A B in a window.
#[derive(Clone)]
pub(super) struct Caught {
    pub(super) hit: Hit,
    /// The step at the window's edge.
    pub(super) edge: u32,
}

/// The A's that B's look for, and the C's that shield B's from them.
pub(super) struct Openings {
    pub(super) roles: WindowRoles,
    within: Option<Within>,
    opens: MatchIndex<RecentOccurrences>,
    /// The latest C by its values; none when the statement has no C.
    shields: Option<MatchIndex<Option<u32>>>,
    /// A's that are open, by the values of C's names, where a C closes those of its own values for every B.
    closable: Option<FxHashMap<Env, Vec<u32>>>,
}

impl Openings {
    pub(super) fn new(view: &View<'_, '_>, roles: WindowRoles, within: Option<Within>) -> Self {
        let WindowRoles { step, edge, close } = roles;
        // What a C's values and tests can tell apart among the A's.
        let detail =
            close.map_or(Vec::new(), |close| view.names(close).iter().copied().chain(view.asks(close)).collect());
        let known = [view.names(step), view.names(edge)].concat();
        let alone = |close| view.names(close).iter().all(|name| view.names(edge).contains(name));
        let plain = |close| !view.joined(close) && !view.joined(edge) && alone(close);
        let closable = close.filter(|close| plain(*close)).map(|_| FxHashMap::default());
        let shields = close.map(|close| MatchIndex::new(Keys::for_pairs(view, close, &known)));
        Self { roles, within, opens: MatchIndex::new(Keys::new(view, edge, step, &detail)), shields, closable }
    }

    /// The steps of the A's whose windows this B is in, with the values of both; `all` of them or the first.
    pub(super) fn catch(&mut self, hit: &Hit, all: bool, view: &mut View<'_, '_>) -> Result<Vec<(u32, Env)>, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let (within, shields) = (self.within, &mut self.shields);
        let mut caught = Vec::new();
        self.opens.visit(view, hit.side(), |group, fit, view| {
            if !view.accepts(fit, Polarity::Hurts) {
                return Ok(ControlFlow::Continue(()));
            }
            let env = merge(&group.env, &hit.env);
            let since = match shields {
                Some(shields) => latest(shields, &env, view)?,
                None => None,
            };
            // An A at the very step of the shield opens a window of its own.
            let found = group.data.find(since.and_then(|since| since.checked_sub(1)), within, now);
            let occurrence = found.sure.or_else(|| found.unknown.filter(|_| view.assume(Polarity::Hurts)));
            caught.extend(occurrence.map(|occurrence| (occurrence.step, env)));
            Ok(if all || caught.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(caught)
    }

    pub(super) fn open(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        let group = self.opens.add(view, hit, &hit.env, |recent| recent.add(Occurrence { step: hit.step, measure }))?;
        if let (Some(closable), Some(close)) = (&mut self.closable, self.roles.close) {
            let values = key(&hit.env, view.names(close));
            if values.iter().all(|id| id.is_value()) {
                closable.entry(values).or_default().push(group);
            }
        }
        Ok(())
    }

    pub(super) fn shield(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let closed =
            self.closable.as_mut().and_then(|closable| closable.remove(&key(&hit.env, view.names(hit.operand))));
        closed.into_iter().flatten().for_each(|group| self.opens.put_to_sleep(group));
        if let Some(shields) = &mut self.shields {
            shields.add(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
        }
        Ok(())
    }
}

/// The latest C under an environment.
fn latest(shields: &mut MatchIndex<Option<u32>>, env: &Env, view: &mut View<'_, '_>) -> Result<Option<u32>, Fault> {
    let mut latest = None;
    shields.visit(view, Side { event: None, env }, |group, fit, view| {
        if view.accepts(fit, Polarity::Helps) {
            latest = latest.max(group.data);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(latest)
}

/// The window in which a step must not stand.
#[derive(Debug, Clone, Copy)]
pub(super) enum ForbiddenWindow {
    /// Behind this step.
    After(u32),
    /// Between these.
    Between(u32, u32),
    /// Behind this step, in a window that never closes.
    Unclosed(u32),
}

/// `refund at call 3 comes after cancel at call 1`.
pub(super) fn in_window(view: &mut View<'_, '_>, hit: &Hit, roles: WindowRoles, window: ForbiddenWindow) -> Why {
    let step = view.say(hit.step);
    let within = within_words(view.within());
    let (reason, opening, closing) = match window {
        ForbiddenWindow::After(edge) => (format!("{step} comes{within} after {}", view.say(edge)), edge, None),
        ForbiddenWindow::Between(edge, close) => {
            (format!("{step} stands between {} and {}", view.say(edge), view.say(close)), edge, Some(close))
        }
        ForbiddenWindow::Unclosed(edge) => {
            (format!("{step} comes after {}, and nothing closes that window", view.say(edge)), edge, None)
        }
    };
    let mut evidence = view.decisive(hit, String::new());
    evidence.push(view.step_proof(opening, roles.edge, Role::Opening, String::new()));
    let closing_operand = roles.close.unwrap_or(roles.edge);
    evidence.extend(closing.map(|close| view.step_proof(close, closing_operand, Role::Closing, String::new())));
    if let (ForbiddenWindow::After(edge), Some(close)) = (window, roles.close) {
        evidence.extend(nearly_closing(view, hit, roles.edge, edge, close));
    }
    why(reason, evidence)
}

/// What came nearest to closing the window that a step stands in: behind its opening, or too late.
fn nearly_closing(view: &mut View<'_, '_>, hit: &Hit, edge: usize, opening: u32, close: usize) -> Vec<Evidence> {
    let opened = |open: &Hit| open.step == opening && same_values(&open.env, &hit.env) == Fit::Yes;
    let open = view.hits_near(edge, hit.step, true).find(opened);
    let env = open.map_or_else(|| hit.env.clone(), |open| merge(&open.env, &hit.env));
    let inside = |one: &Evidence| one.step.is_none_or(|step| step > opening);
    let mut near = view.nearest(close, hit, &env, true);
    let others = near.len();
    near.retain(inside);
    if near.len() < others {
        // One from before the opening stood in front of it.
        near.splice(0..0, view.unmet(close, hit.step, true).filter(inside));
    }
    near
}
