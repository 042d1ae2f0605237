//! Names that nearly are the one that a pattern asks for: a misspelt tool is the first thing to look for where a run lacks it.

use super::super::view::WindowView;
use crate::vm::outcome::{Role, VerdictEvidence};
use averment_base::diagnostic::suggest;
use averment_base::near;
use averment_checker::ir::{NameTest, PatternAlternative};
use averment_runs::run::StepKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Shorter names have too many neighbors.
const SHORTEST: usize = 3;
/// Names from this length may have two typos or be a prefix of another name.
const LONG: usize = 8;
/// Longer names were not typed by a person.
const LONGEST: usize = 100;
/// Steps examined, and distinct names among them.
const MOST: (usize, usize) = (1_000, 200);
/// Pattern names remembered, and dissimilar names per pattern.
const REMEMBERED: usize = 256;

thread_local! {
    /// Step names known to be dissimilar, by pattern name. Runs use the same few tools over and over.
    static UNLIKE: RefCell<FxHashMap<Box<str>, FxHashSet<Box<str>>>> = RefCell::default();
}

/// Makes what the search for misspelled names keeps for the thread that calls it, rather than at the first use.
pub fn register_thread_storage() {
    UNLIKE.with_borrow(|_| ());
}

impl<'run> WindowView<'_, 'run> {
    pub(in super::super) fn misspelled_name(&self, operand: usize) -> Option<VerdictEvidence> {
        let unique = self.unique_pattern(operand)?;
        for PatternAlternative { kind, name, .. } in &unique.alternatives {
            let (NameTest::Exactly(name), StepKind::Call | StepKind::Skill | StepKind::Handover) = (name, kind) else {
                continue;
            };
            if let Some((step, found)) = self.near_step_name(*kind, name).filter(|(_, found)| !self.names_it(found)) {
                let things = if *kind == StepKind::Call { "calls of" } else { "the skill" };
                let label = format!(
                    "the run has no `{}`, but {things} `{}`",
                    super::short_text(name),
                    super::short_text(found)
                );
                return Some(self.step_proof(step, operand, Role::NearMiss, label));
            }
        }
        None
    }

    /// True if a pattern names exactly this, so that it is no typo of another name (`lock`, `unlock`).
    fn names_it(&self, name: &str) -> bool {
        let unique_patterns = (0..self.operands.len())
            .filter_map(|operand| self.unique_pattern(operand))
            .flat_map(|unique| &unique.alternatives);
        unique_patterns.into_iter().any(|one| matches!(&one.name, NameTest::Exactly(own) if own == name))
    }

    /// The first step of a kind with a similar name; `None` if a step has the exact name.
    fn near_step_name(&self, kind: StepKind, name: &str) -> Option<(u32, &'run str)> {
        let (steps, most) = MOST;
        if self.machine.run.steps.iter().any(|step| step.kind == kind && step.name == name) {
            return None;
        }
        let mut seen = FxHashSet::default();
        let mut names = Vec::new();
        for (number, step) in (0..).zip(self.machine.run.steps.iter().take(steps)) {
            if step.kind == kind && names.len() < most && seen.insert(step.name) && may_be_like(name, step.name) {
                names.push((number, step.name));
            }
        }
        let found = similar_name(name, names.iter().map(|(_, name)| *name))?;
        names.into_iter().find(|(_, name)| *name == found)
    }

    /// `` `search_docs` is nearly the name `serch_docs` ``: where a call stands in the place of one of some patterns.
    pub(in super::super) fn similar_name(&self, step: u32, operands: impl Iterator<Item = usize>) -> String {
        let Some(step) = self.step(step).filter(|step| !self.names_it(step.name)) else { return String::new() };
        let unique_patterns =
            operands.filter_map(|operand| self.unique_pattern(operand)).flat_map(|unique| &unique.alternatives);
        let mut names = unique_patterns.filter_map(|alternative| match &alternative.name {
            NameTest::Exactly(name) if alternative.kind == step.kind && name != step.name => Some(name),
            _ => None,
        });
        let near = names.find(|name| similar_name(name, std::iter::once(step.name)).is_some());
        near.map_or_else(String::new, |name| {
            format!("`{}` is nearly the name `{}`", super::short_text(step.name), super::short_text(name))
        })
    }
}

fn may_be_like(name: &str, other: &str) -> bool {
    UNLIKE.with_borrow_mut(|unlike| {
        if unlike.get(name).is_some_and(|others| others.contains(other)) {
            return false;
        }
        let alike = similar_name(name, std::iter::once(other)).is_some();
        if !alike && (unlike.contains_key(name) || unlike.len() < REMEMBERED) {
            let others = unlike.entry(name.into()).or_default();
            if others.len() < REMEMBERED {
                others.insert(other.into());
            }
        }
        alike
    })
}

/// A name that differs by a typo, letter case or a prefix (`mcp__docs__search`).
fn similar_name<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let length = name.chars().count();
    if !(SHORTEST..=LONGEST).contains(&length) {
        return None;
    }
    let names = names.filter(|other| other.len() <= 2 * LONGEST);
    let by_case = names.clone().find(|other| other.eq_ignore_ascii_case(name));
    // More than one slip in a short name makes another name of it.
    let slips = |other: &&str| match length {
        SHORTEST => false,
        // Names whose lengths differ much are not measured.
        length if length < LONG => other.len().abs_diff(name.len()) < 5 && strsim::osa_distance(name, other) <= 1,
        length => other.len().abs_diff(name.len()) <= length || other.starts_with(name),
    };
    let by_slip = || suggest::suggest_name(name, names.clone().filter(slips));
    let behind = |other: &&str| {
        let front = other.strip_suffix(name).or_else(|| name.strip_suffix(*other));
        front.is_some_and(|front| front.ends_with(['_', '.', ':', '/', '-']))
    };
    by_case.or_else(by_slip).or_else(|| names.clone().find(behind)).or_else(|| near::nearest_name(name, names))
}
