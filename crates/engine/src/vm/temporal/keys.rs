//! By what the matches of an operand are told apart and found: the names that count, and look-ups by value.

use super::members::text_finder;
use super::view::{BindingNames, MonitorView};
use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

/// Which groups a partner looks at, and how.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupKeys {
    /// The names that the operand and its partner share: the look-up.
    pub(super) shared: BindingNames,
    /// Other names that tell groups apart.
    pub(super) detail: BindingNames,
    /// Whether tests on bindings of other patterns are evaluated for each pair.
    pub(super) tests: bool,
    /// Whether each match is a group of its own.
    pub(super) apart: bool,
    /// The partner's names that this operand's tests use: what the answers depend on.
    pub(super) asked: BindingNames,
    /// Whether the answers depend on the partner's step itself.
    pub(super) by_event: bool,
    /// The partner's name by which this operand's own tests are looked up, and whether its value holds the step's.
    pub(super) own_lookup: Option<(u32, bool)>,
    /// This operand's name by which the partner's tests are looked up.
    pub(super) partner_lookup: Option<(u32, bool)>,
}

impl GroupKeys {
    /// For matches of `operand` that are looked for by matches of `partner`.
    pub(super) fn between_operands(view: &MonitorView<'_, '_>, operand: usize, partner: usize) -> Self {
        Self::new(view, operand, partner, &[])
    }

    /// The same; `detail` names tell groups apart, too.
    pub(super) fn new(view: &MonitorView<'_, '_>, operand: usize, partner: usize, detail: &[u32]) -> Self {
        let shared = view.shared_names(operand, partner);
        let mut detail: BindingNames = detail.iter().copied().filter(|name| view.operand_names(operand).contains(name)).collect();
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

    /// For pairs of other operands that are looked for by matches of `partner`: its tests need the values of both.
    pub(super) fn of_pairs(view: &MonitorView<'_, '_>, partner: usize) -> Self {
        let tests = view.has_joins(partner);
        let shared = BindingNames::from_slice(view.operand_names(partner));
        let detail = view.asked_names(partner).into_iter().filter(|name| !shared.contains(name)).collect();
        Self { shared, detail, tests, apart: tests, by_event: tests, ..Self::default() }
    }

    /// For matches of `operand` that are looked for with the values of pairs of other operands, which bind `names`.
    pub(super) fn for_pairs(view: &MonitorView<'_, '_>, operand: usize, names: &[u32]) -> Self {
        let shared = view.operand_names(operand).iter().copied().filter(|name| names.contains(name)).collect();
        let tests = view.has_joins(operand);
        Self { shared, tests, apart: tests, asked: view.asked_names(operand), ..Self::default() }
    }

    /// For matches of an operand that are looked for by others of the same values, tests left aside.
    pub(super) fn of_values(view: &MonitorView<'_, '_>, operand: usize) -> Self {
        Self { shared: BindingNames::from_slice(view.operand_names(operand)), ..Self::default() }
    }

    /// Whether the shared values alone tell groups apart, so that a look-up finds at most one.
    pub(super) fn are_single(&self) -> bool {
        !self.apart && self.detail.is_empty() && self.partner_lookup.is_none()
    }
}

/// Groups by a value, inside of each list.
#[derive(Debug, Default)]
pub(super) struct GroupLookup {
    by_value: FxHashMap<(u32, u64), Vec<u32>>,
    /// Those that have to be tried.
    rest: FxHashMap<u32, Vec<u32>>,
    /// Finds the values of the name in texts.
    texts: Option<AhoCorasick>,
}

impl GroupLookup {
    /// Adds a group to a list, with its values; without any it has to be tried.
    pub(super) fn add_group(&mut self, list: u32, values: Option<Vec<u64>>, group: u32) {
        match values {
            Some(values) => {
                values.into_iter().for_each(|value| self.by_value.entry((list, value)).or_default().push(group));
            }
            None => self.rest.entry(list).or_default().push(group),
        }
    }

    /// The groups of a list that may fit one of the values, in order.
    pub(super) fn find_groups(&self, list: u32, values: &[u64]) -> Vec<u32> {
        let found = values.iter().filter_map(|value| self.by_value.get(&(list, *value))).flatten();
        let mut found: Vec<u32> = found.chain(self.rest.get(&list).into_iter().flatten()).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The automaton that finds the values of a name, made when it is first needed.
    pub(super) fn text_automaton(&mut self, name: u32, view: &MonitorView<'_, '_>) -> Option<&AhoCorasick> {
        if self.texts.is_none() {
            let values = view.values_of(name);
            let nodes: Vec<_> = values.iter().filter_map(|id| view.timeline.values.value_node(*id)).collect();
            self.texts = text_finder(&nodes);
        }
        self.texts.as_ref()
    }
}
