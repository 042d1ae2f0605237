//! By what the matches of an operand are told apart and found: the names that count, and look-ups by value.

use super::members::text_finder;
use super::timeline::{Env, ValueId};
use super::view::{BindingNames, WindowView, env_key};
use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, Default)]
pub(super) struct GroupKeys {
    pub(super) shared: BindingNames,
    pub(super) detail: BindingNames,
    pub(super) tests: bool,
    pub(super) apart: bool,
    pub(super) asked: BindingNames,
    pub(super) by_event: bool,
    pub(super) own_lookup: Option<(u32, bool)>,
    pub(super) partner_lookup: Option<(u32, bool)>,
}

impl GroupKeys {
    pub(super) fn between_operands(view: &WindowView<'_, '_>, operand: usize, partner: usize) -> Self {
        Self::new(view, operand, partner, &[])
    }

    pub(super) fn new(view: &WindowView<'_, '_>, operand: usize, partner: usize, detail: &[u32]) -> Self {
        let shared = view.shared_names(operand, partner);
        let mut detail: BindingNames =
            detail.iter().copied().filter(|name| view.operand_names(operand).contains(name)).collect();
        detail.extend(view.asked_names(partner).into_iter().filter(|name| view.operand_names(operand).contains(name)));
        detail.retain(|name| !shared.contains(name));
        Self {
            shared,
            detail,
            tests: view.has_joins(operand) || view.has_joins(partner),
            apart: view.has_joins(operand),
            asked: view.asked_names(operand),
            by_event: view.has_joins(partner),
            own_lookup: view.looked_up_by(operand).filter(|(name, _)| view.operand_names(partner).contains(name)),
            partner_lookup: view.looked_up_by(partner).filter(|(name, _)| view.operand_names(operand).contains(name)),
        }
    }

    /// For pairs of other operands that `partner` looks up; its tests need the values of both.
    pub(super) fn of_pairs(view: &WindowView<'_, '_>, partner: usize) -> Self {
        let tests = view.has_joins(partner);
        let shared = BindingNames::from_slice(view.operand_names(partner));
        let detail = view.asked_names(partner).into_iter().filter(|name| !shared.contains(name)).collect();
        Self { shared, detail, tests, apart: tests, by_event: tests, ..Self::default() }
    }

    /// For matches of `operand` looked up with the values of pairs, which bind `names`.
    pub(super) fn for_pairs(view: &WindowView<'_, '_>, operand: usize, names: &[u32]) -> Self {
        let shared = view.operand_names(operand).iter().copied().filter(|name| names.contains(name)).collect();
        let tests = view.has_joins(operand);
        Self { shared, tests, apart: tests, asked: view.asked_names(operand), ..Self::default() }
    }

    /// For matches with the same values; tests are ignored.
    pub(super) fn of_values(view: &WindowView<'_, '_>, operand: usize) -> Self {
        Self { shared: BindingNames::from_slice(view.operand_names(operand)), ..Self::default() }
    }

    /// Two matches with the same of these are one for every partner.
    pub(super) fn tell_apart(&self, env: &Env, event: u32) -> Env {
        let event = self.apart.then_some(ValueId::from_number(event));
        env_key(env, &self.shared).into_iter().chain(env_key(env, &self.detail)).chain(event).collect()
    }

    /// True if the shared values identify a group, so that a look-up finds at most one.
    pub(super) fn are_single(&self) -> bool {
        !self.apart && self.detail.is_empty() && self.partner_lookup.is_none()
    }
}

#[derive(Debug, Default)]
pub(super) struct GroupLookup {
    by_value: FxHashMap<(u32, u64), Vec<u32>>,
    rest: FxHashMap<u32, Vec<u32>>,
    texts: Option<AhoCorasick>,
}

impl GroupLookup {
    pub(super) fn add_group(&mut self, list: u32, values: Option<Vec<u64>>, group: u32) {
        match values {
            Some(values) => {
                values.into_iter().for_each(|value| self.by_value.entry((list, value)).or_default().push(group));
            }
            None => self.rest.entry(list).or_default().push(group),
        }
    }

    pub(super) fn find_groups(&self, list: u32, values: &[u64]) -> Vec<u32> {
        let found = values.iter().filter_map(|value| self.by_value.get(&(list, *value))).flatten();
        let mut found: Vec<u32> = found.chain(self.rest.get(&list).into_iter().flatten()).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn text_automaton(&mut self, name: u32, view: &WindowView<'_, '_>) -> Option<&AhoCorasick> {
        if self.texts.is_none() {
            let values = view.values_of(name);
            let nodes: Vec<_> = values.iter().filter_map(|id| view.timeline.values.value_node(*id)).collect();
            self.texts = text_finder(&nodes);
        }
        self.texts.as_ref()
    }
}
