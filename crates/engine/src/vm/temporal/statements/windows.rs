//! What `never B after A`, `never B before A` and `never B between A and C` share: the windows that A's open, the words.

use crate::vm::fault::Fault;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::temporal::explain::{reason_with, within_words};
use crate::vm::temporal::keys::GroupKeys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::step_lists::{Certainty, Occurrence, RecentOccurrences, measure_of};
use crate::vm::temporal::timeline::Env;
use crate::vm::temporal::view::{Hit, PairFit, PairSide, WindowView, env_key, merge_envs, same_values};
use crate::vm::temporal::window_events::VerdictReason;
use averment_checker::ir::StepDistance;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// The forbidden pattern, the one that opens the window (for `before`, closes it), and the one that closes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowRoles {
    pub(super) step: usize,
    pub(super) edge: usize,
    pub(super) close: Option<usize>,
}

pub(super) struct WindowOpenings {
    pub(super) roles: WindowRoles,
    within: Option<StepDistance>,
    pub(super) certainty: Certainty,
    opens: MatchIndex<RecentOccurrences>,
    /// The latest C by value; `None` if the statement has no C.
    shields: Option<MatchIndex<Option<u32>>>,
    /// Open A's by C's values, if a C closes those of its own values for every B.
    closable: Option<FxHashMap<Env, Vec<u32>>>,
}

impl WindowOpenings {
    pub(super) fn new(
        view: &WindowView<'_, '_>,
        roles: WindowRoles,
        within: Option<StepDistance>,
        certainty: Certainty,
    ) -> Self {
        let WindowRoles { step, edge, close } = roles;
        // What a C's values and tests can tell apart among the A's.
        let detail = close.map_or(Vec::new(), |close| {
            view.operand_names(close).iter().copied().chain(view.asked_names(close)).collect()
        });
        let known = [view.operand_names(step), view.operand_names(edge)].concat();
        let alone = |close| view.operand_names(close).iter().all(|name| view.operand_names(edge).contains(name));
        let plain = |close| !view.has_joins(close) && !view.has_joins(edge) && alone(close);
        let closable = close.filter(|close| plain(*close)).map(|_| FxHashMap::default());
        let shields = close.map(|close| MatchIndex::new(GroupKeys::for_pairs(view, close, &known)));
        let opens = MatchIndex::new(GroupKeys::new(view, edge, step, &detail));
        Self { roles, within, certainty, opens, shields, closable }
    }

    pub(super) fn is_closing(&self, hit: &Hit) -> bool {
        Some(hit.operand) == self.roles.close && self.certainty.opposite().counts_hit(hit)
    }

    /// The matches of a step that count.
    pub(super) fn hits_of<'h>(&self, step: &'h [Hit], operand: usize) -> impl Iterator<Item = &'h Hit> + use<'h> {
        let certainty = self.certainty;
        step.iter().filter(move |hit| hit.operand == operand && certainty.counts_hit(hit))
    }

    /// A's whose windows contain this B, with the values of both; the first or `all`.
    pub(super) fn opening_steps(
        &mut self,
        hit: &Hit,
        all: bool,
        view: &mut WindowView<'_, '_>,
    ) -> Result<Vec<(u32, Env)>, Fault> {
        let now = measure_of(view, self.within, hit.step);
        let (within, certainty, shields) = (self.within, self.certainty, &mut self.shields);
        let mut caught = Vec::new();
        self.opens.visit_groups(view, hit.as_side(), |group, fit, view| {
            if !certainty.counts_fit(fit) {
                return Ok(ControlFlow::Continue(()));
            }
            let env = merge_envs(&group.env, &hit.env);
            let since = match shields {
                Some(shields) => latest_shield(shields, &env, certainty.opposite(), view)?,
                None => None,
            };
            // An A at the very step of the shield opens a window of its own.
            let behind = since.and_then(|since| since.checked_sub(1));
            let found = group.data.find_occurrence(behind, within, now, certainty);
            caught.extend(found.map(|occurrence| (occurrence.step, env)));
            Ok(if all || caught.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(caught)
    }

    pub(super) fn add_opening(&mut self, hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let measure = measure_of(view, self.within, hit.step);
        let group = self
            .opens
            .add_match(view, hit, &hit.env, |recent| recent.push_occurrence(Occurrence { step: hit.step, measure }))?;
        if let (Some(closable), Some(close)) = (&mut self.closable, self.roles.close) {
            let values = env_key(&hit.env, view.operand_names(close));
            if values.iter().all(|id| id.is_value()) {
                closable.entry(values).or_default().push(group);
            }
        }
        Ok(())
    }

    pub(super) fn add_shield(&mut self, hit: &Hit, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let closed = self
            .closable
            .as_mut()
            .and_then(|closable| closable.remove(&env_key(&hit.env, view.operand_names(hit.operand))));
        closed.into_iter().flatten().for_each(|group| self.opens.set_asleep(group, true));
        if let Some(shields) = &mut self.shields {
            shields.add_match(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
        }
        Ok(())
    }
}

fn latest_shield(
    shields: &mut MatchIndex<Option<u32>>,
    env: &Env,
    certainty: Certainty,
    view: &mut WindowView<'_, '_>,
) -> Result<Option<u32>, Fault> {
    let mut latest = None;
    shields.visit_groups(view, PairSide { event: None, env }, |group, fit, _| {
        if certainty.counts_fit(fit) {
            latest = latest.max(group.data);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(latest)
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ForbiddenWindow {
    After(u32),
    Between(u32, u32),
    /// After this step, in a window that never closes.
    Unclosed(u32),
}

pub(super) fn in_window(
    view: &mut WindowView<'_, '_>,
    hit: &Hit,
    roles: WindowRoles,
    window: ForbiddenWindow,
) -> VerdictReason {
    let step = view.describe_step(hit.step);
    let within = within_words(view.statement_bound());
    let (reason, opening, closing) = match window {
        ForbiddenWindow::After(edge) => {
            (format!("{step} comes{within} after {}", view.describe_step(edge)), edge, None)
        }
        ForbiddenWindow::Between(edge, close) => (
            format!("{step} stands between {} and {}", view.describe_step(edge), view.describe_step(close)),
            edge,
            Some(close),
        ),
        ForbiddenWindow::Unclosed(edge) => {
            (format!("{step} comes after {}, and nothing closes that window", view.describe_step(edge)), edge, None)
        }
    };
    let mut evidence = view.decisive_evidence(hit, String::new());
    evidence.push(view.step_proof(opening, roles.edge, Role::Opening, String::new()));
    let closing_operand = roles.close.unwrap_or(roles.edge);
    evidence.extend(closing.map(|close| view.step_proof(close, closing_operand, Role::Closing, String::new())));
    if let (ForbiddenWindow::After(edge), Some(close)) = (window, roles.close) {
        evidence.extend(nearly_closing(view, hit, roles.edge, edge, close));
    }
    reason_with(reason, evidence)
}

fn nearly_closing(
    view: &mut WindowView<'_, '_>,
    hit: &Hit,
    edge: usize,
    opening: u32,
    close: usize,
) -> Vec<VerdictEvidence> {
    let opened = |open: &Hit| open.step == opening && same_values(&open.env, &hit.env) == PairFit::Yes;
    let open = view.hits_near(edge, hit.step, true).find(opened);
    let env = open.map_or_else(|| hit.env.clone(), |open| merge_envs(&open.env, &hit.env));
    let hit = &Hit { env, ..hit.clone() };
    let inside = |one: &VerdictEvidence| one.step.is_none_or(|step| step > opening);
    let mut near = view.nearest_evidence(close, hit, true);
    let others = near.len();
    near.retain(inside);
    if near.len() < others {
        // One from before the opening stood in front of it.
        near.splice(0..0, view.unmet_condition(close, hit.step, true).filter(inside));
    }
    near
}
