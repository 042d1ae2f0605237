//! Matches of one slot, kept for steps that look for a partner among them.
//!
//! Matches that no partner can tell apart are one group: those with the same values for the names that partners share or ask for
//! (and, where the pattern itself has tests on a partner's bindings, each match by itself). A partner with a value for every shared
//! name finds its groups by a look-up; it never tries pairs.

use super::members::{finder, hash, held};
use super::timeline::{Env, Part, index};
use super::view::{Fit, Hit, Side, View, key, same_values};
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
}

/// Which groups a partner looks at, and how.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// The names that the slot and its partner share: the look-up.
    shared: Vec<u32>,
    /// Other names that tell groups apart.
    detail: Vec<u32>,
    /// Whether tests on bindings of other patterns are evaluated for each pair.
    tests: bool,
    /// Whether each match is a group of its own.
    apart: bool,
    /// The partner's names that this slot's tests use: what the answers depend on.
    asked: Vec<u32>,
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
        let mut detail: Vec<u32> = detail.iter().copied().filter(|name| view.names(slot).contains(name)).collect();
        detail.extend(view.asks(partner).iter().filter(|name| view.names(slot).contains(name)));
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
        let shared = view.names(partner).to_vec();
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
        Self { shared: view.names(slot).to_vec(), ..Self::default() }
    }
}

/// Answers to tests that are kept; beyond that they are evaluated again.
const KNOWN: usize = 1 << 20;

/// The matches of a slot, by group.
#[derive(Debug)]
pub(super) struct Pool<S> {
    keys: Keys,
    groups: Vec<Group<S>>,
    /// Lists of groups by the values of the shared names.
    exact: FxHashMap<Env, u32>,
    lists: Vec<Vec<u32>>,
    /// Groups without a value for a shared name, in order.
    loose: Vec<u32>,
    /// Groups by all that tells them apart.
    distinct: FxHashMap<(Env, Option<u32>), u32>,
    /// Groups by the values that can meet their tests, and by the values that partners' tests look for.
    own_lookup: Lookup,
    partner_lookup: Lookup,
    /// Answers to tests by group and what they depend on.
    known: FxHashMap<(u32, Env, Option<u32>), Fit>,
    /// Groups that no partner looks at until they get a new match, and whether they have left their list.
    asleep: FxHashMap<u32, bool>,
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
        Self {
            keys,
            groups: Vec::new(),
            exact: FxHashMap::default(),
            lists: Vec::new(),
            loose: Vec::new(),
            distinct: FxHashMap::default(),
            own_lookup: Lookup::default(),
            partner_lookup: Lookup::default(),
            known: FxHashMap::default(),
            asleep: FxHashMap::default(),
        }
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
        let mut all = shared.clone();
        all.extend(key(env, &self.keys.detail));
        let number = *self.distinct.entry((all, self.keys.apart.then_some(hit.event))).or_insert(next);
        if number == next {
            self.enlist(view, hit, env, shared, number)?;
            self.groups.push(Group { env: env.clone(), event: (hit.slot, hit.event), data: S::default() });
        } else {
            self.wake(number, env);
        }
        if let Some(group) = self.groups.get_mut(number as usize) {
            update(&mut group.data);
        }
        Ok(number)
    }

    /// Lets no partner look at a group until it gets a new match.
    pub(super) fn put_to_sleep(&mut self, group: u32) {
        self.asleep.entry(group).or_insert(false);
    }

    fn wake(&mut self, group: u32, env: &Env) {
        if self.asleep.remove(&group) != Some(true) {
            return;
        }
        let list = self.exact.get(&key(env, &self.keys.shared));
        match list.and_then(|list| self.lists.get_mut(*list as usize)) {
            Some(groups) => groups.push(group),
            None => self.loose.push(group),
        }
    }

    /// Takes the sleeping groups out of a list.
    fn shorten(&mut self, list: Option<u32>) {
        let asleep = &mut self.asleep;
        let groups = list.and_then(|list| self.lists.get_mut(list as usize)).unwrap_or(&mut self.loose);
        groups.retain(|group| match asleep.get_mut(group) {
            Some(gone) => {
                *gone = true;
                false
            }
            None => true,
        });
    }

    /// Puts a new group into the list of its shared values, and where its tests or those of partners can be looked up, there.
    fn enlist(&mut self, view: &mut View<'_, '_>, hit: &Hit, env: &Env, shared: Env, number: u32) -> Result<(), Fault> {
        if !shared.iter().all(|part| part.is_value()) {
            self.loose.push(number);
            return Ok(());
        }
        let next = index(self.lists.len());
        let list = *self.exact.entry(shared).or_insert(next);
        if list == next {
            self.lists.push(Vec::new());
        }
        self.lists.get_mut(list as usize).into_iter().for_each(|groups| groups.push(number));
        if let Some((name, _)) = self.keys.own_lookup {
            let values = match self.own_lookup.texts(name, view) {
                Some(texts) => view.members_of(hit.slot, hit.event, name, texts)?,
                None => None,
            };
            self.own_lookup.add(list, values, number);
        }
        if let Some((name, holds)) = self.keys.partner_lookup {
            self.partner_lookup.add(list, marks_of(env, name, holds, view), number);
        }
        Ok(())
    }

    /// The groups of a list that may fit a partner, where that can be looked up.
    fn look_up(
        &mut self,
        view: &mut View<'_, '_>,
        partner: Side<'_>,
        list: Option<u32>,
    ) -> Result<Option<Vec<u32>>, Fault> {
        let Some(list) = list else { return Ok(None) };
        if let Some((name, holds)) = self.keys.own_lookup
            && let Some(marks) = marks_of(partner.env, name, holds, view)
        {
            return Ok(Some(self.own_lookup.find(list, &marks)));
        }
        if let (Some((name, _)), Some((slot, event))) = (self.keys.partner_lookup, partner.event)
            && let Some(texts) = self.partner_lookup.texts(name, view)
            && let Some(values) = view.members_of(slot, event, name, texts)?
        {
            return Ok(Some(self.partner_lookup.find(list, &values)));
        }
        Ok(None)
    }

    /// What is kept of the group of a match that was put into it.
    pub(super) fn latest(&mut self, hit: &Hit) -> Option<&mut S> {
        let all = [key(&hit.env, &self.keys.shared), key(&hit.env, &self.keys.detail)].concat();
        let number = self.distinct.get(&(all.into(), self.keys.apart.then_some(hit.event)))?;
        self.groups.get_mut(*number as usize).map(|group| &mut group.data)
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
        let list = if closed { self.exact.get(&shared).copied() } else { None };
        let looked_up = self.look_up(view, partner, list)?;
        let in_list = |pool: &Self| list.and_then(|list| pool.lists.get(list as usize)).map_or(0, Vec::len);
        let mut from_list = 0..looked_up.as_ref().map_or_else(|| in_list(self), Vec::len);
        let mut others = 0..if closed { self.loose.len() } else { self.groups.len() };
        let (listed, mut skipped) = (from_list.len(), 0);
        loop {
            let number = if let Some(at) = from_list.next() {
                match &looked_up {
                    Some(found) => found.get(at).copied(),
                    None => list.and_then(|list| self.lists.get(list as usize)?.get(at).copied()),
                }
            } else if let Some(at) = others.next() {
                if closed { self.loose.get(at).copied() } else { Some(index(at)) }
            } else {
                if looked_up.is_none() && list.is_some() && skipped > listed / 2 {
                    self.shorten(list);
                }
                return Ok(());
            };
            let Some(number) = number else { continue };
            if !self.asleep.is_empty() && self.asleep.contains_key(&number) {
                skipped += 1;
                continue;
            }
            let fit = self.fit(view, number, partner, &shared)?;
            let Some(group) = self.groups.get_mut(number as usize) else { continue };
            if fit != Fit::No && look(group, fit, view)?.is_break() {
                return Ok(());
            }
        }
    }

    fn fit(&mut self, view: &mut View<'_, '_>, number: u32, partner: Side<'_>, shared: &Env) -> Result<Fit, Fault> {
        let Some(group) = self.groups.get(number as usize) else { return Ok(Fit::No) };
        if !self.keys.tests {
            view.spend(1)?;
            return Ok(same_values(&key(&group.env, &self.keys.shared), shared));
        }
        let asked = shared.iter().copied().chain(key(partner.env, &self.keys.asked)).collect();
        let depends = (number, asked, partner.event.filter(|_| self.keys.by_event).map(|(_, event)| event));
        if let Some(fit) = self.known.get(&depends) {
            return Ok(*fit);
        }
        let fit = view.fit(Side { event: Some(group.event), env: &group.env }, partner)?;
        if self.known.len() < KNOWN {
            self.known.insert(depends, fit);
        }
        Ok(fit)
    }
}

/// The marks of a binding's value; `None` where it has none, or its parts cannot be listed.
fn marks_of(env: &Env, name: u32, holds: bool, view: &View<'_, '_>) -> Option<Vec<u64>> {
    let part = env.get(name as usize).filter(|part| part.is_value())?;
    let value = view.timeline.values.node(*part)?.value;
    if holds { held(&value) } else { Some(vec![hash(&value)]) }
}
