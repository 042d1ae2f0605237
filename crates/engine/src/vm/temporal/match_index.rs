//! Matches of one operand, kept for steps that look for a partner among them.
//!
//! Matches that no partner can tell apart are one group: those with the same values for the names that partners share or ask for
//! (and, where the pattern itself has tests on a partner's bindings, each match by itself). A partner with a value for every shared
//! name finds its groups by a look-up; it never tries pairs.

use super::keys::{GroupKeys, GroupLookup};
use super::members::{hash, held_marks};
use super::timeline::{Env, ValueId, to_index};
use super::view::{Hit, PairFit, PairSide, WindowView, env_key, same_values};
use crate::vm::fault::Fault;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Matches that are equivalent for every partner.
#[derive(Debug, Clone)]
pub(super) struct MatchGroup<S> {
    pub(super) env: Env,
    pub(super) event: (usize, u32),
    pub(super) data: S,
    asleep: bool,
}

/// Fuel per new group, which bounds the memory.
const KEPT: usize = 16;
/// Cached test results; beyond that, tests are re-evaluated.
const KNOWN: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct MatchIndex<S> {
    keys: GroupKeys,
    groups: Vec<MatchGroup<S>>,
    /// Groups by the shared values if these identify them, otherwise lists of groups.
    exact: FxHashMap<Env, u32>,
    loose: Vec<u32>,
    lists: Option<Box<GroupLists>>,
}

#[derive(Debug, Default)]
struct GroupLists {
    lists: Vec<BTreeSet<u32>>,
    distinct: FxHashMap<Env, u32>,
    own_lookup: GroupLookup,
    partner_lookup: GroupLookup,
    known: FxHashMap<(u32, Env, Option<u32>), PairFit>,
}

impl<S: Default> MatchIndex<S> {
    pub(super) fn new(keys: GroupKeys) -> Self {
        let lists = (keys.tests || !keys.are_single()).then(Box::default);
        Self { keys, groups: Vec::new(), exact: FxHashMap::default(), loose: Vec::new(), lists }
    }

    /// `env` are the match's values; `update` changes the group's data.
    pub(super) fn add_match(
        &mut self,
        view: &mut WindowView<'_, '_>,
        hit: &Hit,
        env: &Env,
        update: impl FnOnce(&mut S),
    ) -> Result<u32, Fault> {
        let next = to_index(self.groups.len());
        let shared = env_key(env, &self.keys.shared);
        let number = match &mut self.lists {
            Some(lists) if !self.keys.are_single() => {
                *lists.distinct.entry(self.keys.tell_apart(env, hit.event)).or_insert(next)
            }
            _ => *self.exact.entry(shared.clone()).or_insert(next),
        };
        if number == next {
            view.spend_fuel(KEPT)?;
            self.enlist_group(view, hit, env, shared, number)?;
            let (env, event) = (env.clone(), (hit.operand, hit.event));
            self.groups.push(MatchGroup { env, event, data: S::default(), asleep: false });
        } else {
            self.set_asleep(number, false);
        }
        if let Some(group) = self.groups.get_mut(number as usize) {
            update(&mut group.data);
        }
        Ok(number)
    }

    /// A group that sleeps is in no list, so that look-ups do not meet it until it has another match.
    pub(super) fn set_asleep(&mut self, number: u32, asleep: bool) {
        let Some(group) = self.groups.get_mut(number as usize).filter(|group| group.asleep != asleep) else { return };
        group.asleep = asleep;
        let list = self.exact.get(&env_key(&group.env, &self.keys.shared));
        let lists = self.lists.as_mut().filter(|_| !self.keys.are_single());
        if let Some(list) = list.and_then(|list| lists?.lists.get_mut(*list as usize)) {
            if asleep {
                list.remove(&number)
            } else {
                list.insert(number)
            };
        }
    }

    fn enlist_group(
        &mut self,
        view: &mut WindowView<'_, '_>,
        hit: &Hit,
        env: &Env,
        shared: Env,
        number: u32,
    ) -> Result<(), Fault> {
        if !has_values(&shared) {
            self.loose.push(number);
            return Ok(());
        }
        let Some(lists) = self.lists.as_mut().filter(|_| !self.keys.are_single()) else { return Ok(()) };
        let next = to_index(lists.lists.len());
        let list = *self.exact.entry(shared).or_insert(next);
        if list == next {
            lists.lists.push(BTreeSet::new());
        }
        if let Some(groups) = lists.lists.get_mut(list as usize) {
            groups.insert(number);
        }
        if let Some((name, _)) = self.keys.own_lookup {
            let values = match lists.own_lookup.text_automaton(name, view) {
                Some(texts) => view.members_of(hit.operand, hit.event, name, texts)?,
                None => None,
            };
            lists.own_lookup.add_group(list, values, number);
        }
        if let Some((name, holds)) = self.keys.partner_lookup {
            lists.partner_lookup.add_group(list, marks_of(env, name, holds, view), number);
        }
        Ok(())
    }

    /// `None` if the groups cannot be looked up.
    fn look_up(
        &mut self,
        view: &mut WindowView<'_, '_>,
        partner: PairSide<'_>,
        list: u32,
    ) -> Result<Option<Vec<u32>>, Fault> {
        let Some(lists) = &mut self.lists else { return Ok(None) };
        if let Some((name, holds)) = self.keys.own_lookup
            && let Some(marks) = marks_of(partner.env, name, holds, view)
        {
            return Ok(Some(lists.own_lookup.find_groups(list, &marks)));
        }
        if let (Some((name, _)), Some((operand, event))) = (self.keys.partner_lookup, partner.event)
            && let Some(texts) = lists.partner_lookup.text_automaton(name, view)
            && let Some(values) = view.members_of(operand, event, name, texts)?
        {
            return Ok(Some(lists.partner_lookup.find_groups(list, &values)));
        }
        Ok(None)
    }

    pub(super) fn groups(&self) -> &[MatchGroup<S>] {
        &self.groups
    }

    pub(super) fn groups_mut(&mut self) -> &mut [MatchGroup<S>] {
        &mut self.groups
    }

    pub(super) fn visit_groups<'a, 'run>(
        &mut self,
        view: &mut WindowView<'a, 'run>,
        partner: PairSide<'_>,
        mut look: impl FnMut(&mut MatchGroup<S>, PairFit, &mut WindowView<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<(), Fault> {
        let shared = env_key(partner.env, &self.keys.shared);
        // A value that occurs nowhere is in no list; without a value every group may fit.
        let closed = shared.iter().all(|id| id.is_value() || *id == ValueId::FRESH);
        let found = if has_values(&shared) { self.exact.get(&shared).copied() } else { None };
        if let Some(found) = found {
            let ended = match self.keys.are_single() {
                true => self.visit_group(found, view, partner, &shared, &mut look)?.is_break(),
                false => self.visit_list(found, view, partner, &shared, &mut look)?.is_break(),
            };
            if ended {
                return Ok(());
            }
        }
        let others = if closed { self.loose.len() } else { self.groups.len() };
        for at in 0..others {
            let number = if closed { self.loose.get(at).copied() } else { Some(to_index(at)) };
            if let Some(number) = number
                && self.visit_group(number, view, partner, &shared, &mut look)?.is_break()
            {
                return Ok(());
            }
        }
        Ok(())
    }

    fn visit_list<'a, 'run>(
        &mut self,
        list: u32,
        view: &mut WindowView<'a, 'run>,
        partner: PairSide<'_>,
        shared: &Env,
        look: &mut impl FnMut(&mut MatchGroup<S>, PairFit, &mut WindowView<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        let looked_up = self.look_up(view, partner, list)?;
        let in_list =
            |index: &Self, from: u32| index.lists.as_ref()?.lists.get(list as usize)?.range(from..).next().copied();
        let (mut at, mut from) = (0, 0);
        loop {
            let number = match &looked_up {
                Some(found) => found.get(at).copied(),
                None => in_list(self, from),
            };
            let Some(number) = number else { return Ok(ControlFlow::Continue(())) };
            (at, from) = (at + 1, number.saturating_add(1));
            if self.visit_group(number, view, partner, shared, look)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn visit_group<'a, 'run>(
        &mut self,
        number: u32,
        view: &mut WindowView<'a, 'run>,
        partner: PairSide<'_>,
        shared: &Env,
        look: &mut impl FnMut(&mut MatchGroup<S>, PairFit, &mut WindowView<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        if self.groups.get(number as usize).is_none_or(|group| group.asleep) {
            return Ok(ControlFlow::Continue(()));
        }
        let fit = self.group_fit(view, number, partner, shared)?;
        match self.groups.get_mut(number as usize) {
            Some(group) if fit != PairFit::No => look(group, fit, view),
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    fn group_fit(
        &mut self,
        view: &mut WindowView<'_, '_>,
        number: u32,
        partner: PairSide<'_>,
        shared: &Env,
    ) -> Result<PairFit, Fault> {
        let Some(group) = self.groups.get(number as usize) else { return Ok(PairFit::No) };
        let Some(lists) = self.lists.as_mut().filter(|_| self.keys.tests) else {
            view.spend_fuel(1)?;
            return Ok(same_values(&env_key(&group.env, &self.keys.shared), shared));
        };
        let asked = shared.iter().copied().chain(env_key(partner.env, &self.keys.asked)).collect();
        let depends = (number, asked, partner.event.filter(|_| self.keys.by_event).map(|(_, event)| event));
        if let Some(fit) = lists.known.get(&depends) {
            return Ok(*fit);
        }
        let fit = view.pair_fit(PairSide { event: Some(group.event), env: &group.env }, partner)?;
        if lists.known.len() < KNOWN {
            lists.known.insert(depends, fit);
        }
        Ok(fit)
    }
}

fn has_values(value_ids: &Env) -> bool {
    value_ids.iter().all(|id| id.is_value())
}

/// `None` if it has no value, or its parts cannot be listed.
fn marks_of(env: &Env, name: u32, holds: bool, view: &WindowView<'_, '_>) -> Option<Vec<u64>> {
    let id = env.get(name as usize).filter(|id| id.is_value())?;
    let value = view.timeline.values.value_node(*id)?.value;
    if holds { held_marks(&value) } else { Some(vec![hash(&value)]) }
}
