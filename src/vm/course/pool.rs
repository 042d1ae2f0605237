//! Matches of one slot, kept for steps that look for a partner among them.
//!
//! Matches that no partner can tell apart are one group: those with the same values for the names that partners share or ask for
//! (and, where the pattern itself has tests on a partner's bindings, each match by itself). A partner with a value for every shared
//! name finds its groups by a look-up; it never tries pairs.

use super::members::{finder, hash, held};
use super::numbers::Numbers;
use super::timeline::{Env, Part, index};
use super::view::{Fit, Hit, Names, Side, View, key, same_values};
use crate::vm::fault::Fault;
use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// Matches that behave the same towards every partner.
#[derive(Debug, Clone)]
pub(super) struct Group<S> {
    /// The values of the first of them.
    pub(super) env: Env,
    /// Slot and event of the first of them.
    pub(super) event: (usize, u32),
    /// What the monitor keeps of them.
    pub(super) data: S,
    /// Whether partners look at it.
    state: State,
}

/// Whether partners look at a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Awake,
    /// Not until it gets a new match.
    Asleep,
    /// The same, and it has left its list.
    Gone,
}

/// Which groups a partner looks at, and how.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// The names that the slot and its partner share: the look-up.
    shared: Names,
    /// Other names that tell groups apart.
    detail: Names,
    /// Whether tests on bindings of other patterns are evaluated for each pair.
    tests: bool,
    /// Whether each match is a group of its own.
    apart: bool,
    /// The partner's names that this slot's tests use: what the answers depend on.
    asked: Names,
    /// Whether the answers depend on the partner's step itself.
    by_event: bool,
    /// The partner's name by which this slot's own tests are looked up, and whether its value holds the step's.
    own_lookup: Option<(u32, bool)>,
    /// This slot's name by which the partner's tests are looked up.
    partner_lookup: Option<(u32, bool)>,
}

impl Keys {
    /// For matches of `slot` that are looked for by matches of `partner`.
    pub(super) fn between(view: &View<'_, '_>, slot: usize, partner: usize) -> Self {
        Self::new(view, slot, partner, &[])
    }

    /// The same; `detail` names tell groups apart, too.
    pub(super) fn new(view: &View<'_, '_>, slot: usize, partner: usize, detail: &[u32]) -> Self {
        let shared = view.shared(slot, partner);
        let mut detail: Names = detail.iter().copied().filter(|name| view.names(slot).contains(name)).collect();
        detail.extend(view.asks(partner).into_iter().filter(|name| view.names(slot).contains(name)));
        detail.retain(|name| !shared.contains(name));
        Self {
            shared,
            detail,
            tests: view.joined(slot) || view.joined(partner),
            apart: view.joined(slot),
            asked: view.asks(slot),
            by_event: view.joined(partner),
            own_lookup: view.looked_up_by(slot).filter(|(name, _)| view.names(partner).contains(name)),
            partner_lookup: view.looked_up_by(partner).filter(|(name, _)| view.names(slot).contains(name)),
        }
    }

    /// For pairs of other slots that are looked for by matches of `partner`: its tests need the values of both.
    pub(super) fn of_pairs(view: &View<'_, '_>, partner: usize) -> Self {
        let tests = view.joined(partner);
        let shared = Names::from_slice(view.names(partner));
        let detail = view.asks(partner).into_iter().filter(|name| !shared.contains(name)).collect();
        Self { shared, detail, tests, apart: tests, by_event: tests, ..Self::default() }
    }

    /// For matches of `slot` that are looked for with the values of pairs of other slots, which bind `names`.
    pub(super) fn for_pairs(view: &View<'_, '_>, slot: usize, names: &[u32]) -> Self {
        let shared = view.names(slot).iter().copied().filter(|name| names.contains(name)).collect();
        let tests = view.joined(slot);
        Self { shared, tests, apart: tests, asked: view.asks(slot), ..Self::default() }
    }

    /// For matches of a slot that are looked for by others of the same values, tests left aside.
    pub(super) fn alike(view: &View<'_, '_>, slot: usize) -> Self {
        Self { shared: Names::from_slice(view.names(slot)), ..Self::default() }
    }

    /// Whether the shared values alone tell groups apart, so that a look-up finds at most one.
    fn are_single(&self) -> bool {
        !self.apart && self.detail.is_empty() && self.partner_lookup.is_none()
    }
}

/// The fuel of a new group: what statements keep must not fill the memory.
const KEPT: usize = 16;
/// Answers to tests that are kept; beyond that they are evaluated again.
const KNOWN: usize = 1 << 20;

/// The matches of a slot, by group.
#[derive(Debug)]
pub(super) struct Pool<S> {
    keys: Keys,
    groups: Vec<Group<S>>,
    /// Groups by the values of the shared names, where those tell groups apart; else lists of groups by them.
    exact: Numbers,
    /// Groups without a value for a shared name, in order.
    loose: Vec<u32>,
    /// For groups that more than the shared names tell apart.
    lists: Option<Box<Lists>>,
}

/// Groups that have the values of the shared names in common.
#[derive(Debug, Default)]
struct Lists {
    lists: Vec<Vec<u32>>,
    /// Groups by all that tells them apart.
    distinct: Numbers,
    /// Groups by the values that can meet their tests, and by the values that partners' tests look for.
    own_lookup: Lookup,
    partner_lookup: Lookup,
    /// Answers to tests by group and what they depend on.
    known: FxHashMap<(u32, Env, Option<u32>), Fit>,
}

/// Groups by a value, inside of each list.
#[derive(Debug, Default)]
struct Lookup {
    by_value: FxHashMap<(u32, u64), Vec<u32>>,
    /// Those that have to be tried.
    rest: FxHashMap<u32, Vec<u32>>,
    /// Finds the values of the name in texts.
    texts: Option<AhoCorasick>,
}

impl Lookup {
    fn add(&mut self, list: u32, values: Option<Vec<u64>>, group: u32) {
        match values {
            Some(values) => {
                values.into_iter().for_each(|value| self.by_value.entry((list, value)).or_default().push(group));
            }
            None => self.rest.entry(list).or_default().push(group),
        }
    }

    /// The groups of a list that may fit one of the values, in order.
    fn find(&self, list: u32, values: &[u64]) -> Vec<u32> {
        let found = values.iter().filter_map(|value| self.by_value.get(&(list, *value))).flatten();
        let mut found: Vec<u32> = found.chain(self.rest.get(&list).into_iter().flatten()).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The automaton that finds the values of a name, made when it is first needed.
    fn texts(&mut self, name: u32, view: &View<'_, '_>) -> Option<&AhoCorasick> {
        if self.texts.is_none() {
            let values = view.values_of(name);
            let nodes: Vec<_> = values.iter().filter_map(|part| view.timeline.values.node(*part)).collect();
            self.texts = finder(&nodes);
        }
        self.texts.as_ref()
    }
}

impl<S: Default> Pool<S> {
    /// No matches.
    pub(super) fn new(keys: Keys) -> Self {
        let lists = (keys.tests || !keys.are_single()).then(Box::default);
        Self { keys, groups: Vec::new(), exact: Numbers::default(), loose: Vec::new(), lists }
    }

    /// Puts a match into its group; `env` are its values, `update` changes what the monitor keeps of the group.
    pub(super) fn add(
        &mut self,
        view: &mut View<'_, '_>,
        hit: &Hit,
        env: &Env,
        update: impl FnOnce(&mut S),
    ) -> Result<u32, Fault> {
        let next = index(self.groups.len());
        let shared = key(env, &self.keys.shared);
        let number = match &mut self.lists {
            Some(lists) if !self.keys.are_single() => {
                lists.distinct.number(&all_that_tells_apart(&self.keys, env, &shared, hit), next)
            }
            _ => self.exact.number(&shared, next),
        };
        if number == next {
            view.spend(KEPT)?;
            self.enlist(view, hit, env, shared, number)?;
            let (env, event) = (env.clone(), (hit.slot, hit.event));
            self.groups.push(Group { env, event, data: S::default(), state: State::Awake });
        } else {
            self.wake(number, &shared);
        }
        if let Some(group) = self.groups.get_mut(number as usize) {
            update(&mut group.data);
        }
        Ok(number)
    }

    /// Lets no partner look at a group until it gets a new match.
    pub(super) fn put_to_sleep(&mut self, group: u32) {
        if let Some(group) = self.groups.get_mut(group as usize).filter(|group| group.state == State::Awake) {
            group.state = State::Asleep;
        }
    }

    fn wake(&mut self, number: u32, shared: &Env) {
        let Some(group) = self.groups.get_mut(number as usize) else { return };
        if std::mem::replace(&mut group.state, State::Awake) != State::Gone {
            return;
        }
        let list = self.exact.get(shared).filter(|_| has_values(shared));
        match (list, &mut self.lists) {
            (Some(list), Some(lists)) => {
                lists.lists.get_mut(list as usize).into_iter().for_each(|groups| groups.push(number));
            }
            _ => self.loose.push(number),
        }
    }

    /// Takes the sleeping groups out of a list.
    fn shorten(&mut self, list: u32) {
        let Some(list) = self.lists.as_mut().and_then(|lists| lists.lists.get_mut(list as usize)) else { return };
        let groups = &mut self.groups;
        list.retain(|number| match groups.get_mut(*number as usize) {
            Some(group) if group.state != State::Awake => {
                group.state = State::Gone;
                false
            }
            _ => true,
        });
    }

    /// Puts a new group into the list of its shared values, and where its tests or those of partners can be looked up, there.
    fn enlist(&mut self, view: &mut View<'_, '_>, hit: &Hit, env: &Env, shared: Env, number: u32) -> Result<(), Fault> {
        if !has_values(&shared) {
            self.loose.push(number);
            return Ok(());
        }
        let Some(lists) = self.lists.as_mut().filter(|_| !self.keys.are_single()) else { return Ok(()) };
        let next = index(lists.lists.len());
        let list = self.exact.number(&shared, next);
        if list == next {
            lists.lists.push(Vec::new());
        }
        lists.lists.get_mut(list as usize).into_iter().for_each(|groups| groups.push(number));
        if let Some((name, _)) = self.keys.own_lookup {
            let values = match lists.own_lookup.texts(name, view) {
                Some(texts) => view.members_of(hit.slot, hit.event, name, texts)?,
                None => None,
            };
            lists.own_lookup.add(list, values, number);
        }
        if let Some((name, holds)) = self.keys.partner_lookup {
            lists.partner_lookup.add(list, marks_of(env, name, holds, view), number);
        }
        Ok(())
    }

    /// The groups of a list that may fit a partner, where that can be looked up.
    fn look_up(&mut self, view: &mut View<'_, '_>, partner: Side<'_>, list: u32) -> Result<Option<Vec<u32>>, Fault> {
        let Some(lists) = &mut self.lists else { return Ok(None) };
        if let Some((name, holds)) = self.keys.own_lookup
            && let Some(marks) = marks_of(partner.env, name, holds, view)
        {
            return Ok(Some(lists.own_lookup.find(list, &marks)));
        }
        if let (Some((name, _)), Some((slot, event))) = (self.keys.partner_lookup, partner.event)
            && let Some(texts) = lists.partner_lookup.texts(name, view)
            && let Some(values) = view.members_of(slot, event, name, texts)?
        {
            return Ok(Some(lists.partner_lookup.find(list, &values)));
        }
        Ok(None)
    }

    /// What is kept of the group of a match that was put into it.
    pub(super) fn latest(&mut self, hit: &Hit) -> Option<&mut S> {
        let shared = key(&hit.env, &self.keys.shared);
        let number = match &self.lists {
            Some(lists) if !self.keys.are_single() => {
                lists.distinct.get(&all_that_tells_apart(&self.keys, &hit.env, &shared, hit))
            }
            _ => self.exact.get(&shared),
        };
        self.groups.get_mut(number? as usize).map(|group| &mut group.data)
    }

    /// All groups, in the order of their first matches.
    pub(super) fn groups(&self) -> &[Group<S>] {
        &self.groups
    }

    /// All groups, to be changed.
    pub(super) fn groups_mut(&mut self) -> &mut [Group<S>] {
        &mut self.groups
    }

    /// Shows each group that fits the partner (or may fit it), until told to stop.
    pub(super) fn visit<'a, 'run>(
        &mut self,
        view: &mut View<'a, 'run>,
        partner: Side<'_>,
        mut look: impl FnMut(&mut Group<S>, Fit, &mut View<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<(), Fault> {
        let shared = key(partner.env, &self.keys.shared);
        // A value that occurs nowhere is in no list; without a value every group may fit.
        let closed = shared.iter().all(|part| part.is_value() || *part == Part::FRESH);
        let found = if has_values(&shared) { self.exact.get(&shared) } else { None };
        if let Some(found) = found {
            let ended = match self.keys.are_single() {
                true => self.show(found, view, partner, &shared, &mut look)?.is_break(),
                false => self.visit_list(found, view, partner, &shared, &mut look)?.is_break(),
            };
            if ended {
                return Ok(());
            }
        }
        let others = if closed { self.loose.len() } else { self.groups.len() };
        for at in 0..others {
            let number = if closed { self.loose.get(at).copied() } else { Some(index(at)) };
            if let Some(number) = number
                && self.show(number, view, partner, &shared, &mut look)?.is_break()
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Shows the groups of a list.
    fn visit_list<'a, 'run>(
        &mut self,
        list: u32,
        view: &mut View<'a, 'run>,
        partner: Side<'_>,
        shared: &Env,
        look: &mut impl FnMut(&mut Group<S>, Fit, &mut View<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        let looked_up = self.look_up(view, partner, list)?;
        let in_list = |pool: &Self, at: usize| pool.lists.as_ref()?.lists.get(list as usize)?.get(at).copied();
        let (mut at, mut asleep) = (0, 0);
        loop {
            let number = match &looked_up {
                Some(found) => found.get(at).copied(),
                None => in_list(self, at),
            };
            let Some(number) = number else { break };
            at += 1;
            if self.groups.get(number as usize).is_none_or(|group| group.state != State::Awake) {
                asleep += 1;
            } else if self.show(number, view, partner, shared, look)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if looked_up.is_none() && asleep > at / 2 {
            self.shorten(list);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Shows one group, where it fits.
    fn show<'a, 'run>(
        &mut self,
        number: u32,
        view: &mut View<'a, 'run>,
        partner: Side<'_>,
        shared: &Env,
        look: &mut impl FnMut(&mut Group<S>, Fit, &mut View<'a, 'run>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>, Fault> {
        if self.groups.get(number as usize).is_none_or(|group| group.state != State::Awake) {
            return Ok(ControlFlow::Continue(()));
        }
        let fit = self.fit(view, number, partner, shared)?;
        match self.groups.get_mut(number as usize) {
            Some(group) if fit != Fit::No => look(group, fit, view),
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    fn fit(&mut self, view: &mut View<'_, '_>, number: u32, partner: Side<'_>, shared: &Env) -> Result<Fit, Fault> {
        let Some(group) = self.groups.get(number as usize) else { return Ok(Fit::No) };
        let Some(lists) = self.lists.as_mut().filter(|_| self.keys.tests) else {
            view.spend(1)?;
            return Ok(same_values(&key(&group.env, &self.keys.shared), shared));
        };
        let asked = shared.iter().copied().chain(key(partner.env, &self.keys.asked)).collect();
        let depends = (number, asked, partner.event.filter(|_| self.keys.by_event).map(|(_, event)| event));
        if let Some(fit) = lists.known.get(&depends) {
            return Ok(*fit);
        }
        let fit = view.fit(Side { event: Some(group.event), env: &group.env }, partner)?;
        if lists.known.len() < KNOWN {
            lists.known.insert(depends, fit);
        }
        Ok(fit)
    }
}

fn has_values(parts: &Env) -> bool {
    parts.iter().all(|part| part.is_value())
}

/// The shared values, those of the other names, and the match itself where each is a group of its own.
fn all_that_tells_apart(keys: &Keys, env: &Env, shared: &Env, hit: &Hit) -> Env {
    let event = keys.apart.then_some(Part::of(hit.event));
    shared.iter().copied().chain(key(env, &keys.detail)).chain(event).collect()
}

/// The marks of a binding's value; `None` where it has none, or its parts cannot be listed.
fn marks_of(env: &Env, name: u32, holds: bool, view: &View<'_, '_>) -> Option<Vec<u64>> {
    let part = env.get(name as usize).filter(|part| part.is_value())?;
    let value = view.timeline.values.node(*part)?.value;
    if holds { held(&value) } else { Some(vec![hash(&value)]) }
}
