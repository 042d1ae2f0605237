//! Assertions of a pack, after reading and before writing.
//!
//! In Wallfacer, a path without a value is neither true nor false but *structural*: it ends the assertion. The exceptions are `any_of`, where the
//! branch does not match, and `not`, which then holds. Here such a path is a `required(…)`, whose verdict is `error`, or a test with `exists`. An
//! assertion stops at its first failed part, like `and` does if that part is plainly false; therefore each part that others follow tests the type
//! first.

use super::cond::{MappedCondition, MappedPieces};
use crate::writer::BindingStrength;
use averment_base::source::Span;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(super) enum TestPart {
    Words(String),
    Literal(Span, String),
    Term(usize),
}

#[derive(Debug, Clone)]
pub(super) struct LeafTest {
    pub binds: BindingStrength,
    pub parts: Vec<TestPart>,
}

/// A type test that a value needs: `is_text(P)`.
#[derive(Debug, Clone)]
pub(super) struct TypeGuard {
    /// Name of the helper that tests the type.
    pub name: &'static str,
    /// Index of the path in the terms of the leaf.
    pub term: usize,
    /// True if the test alone would give a different verdict.
    pub always: bool,
}

/// Paths and types that earlier conjuncts have already tested.
#[derive(Debug, Clone, Default)]
struct EnsuredGuards {
    reached: BTreeSet<String>,
    guards: BTreeSet<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub(super) struct CheckLeaf {
    pub place: Span,
    /// The paths that it reads, with their locations.
    pub terms: Vec<(Span, String)>,
    /// Type tests that must hold before the test applies.
    pub guards: Vec<TypeGuard>,
    pub test: LeafTest,
    /// The test to use after the guards, if it differs.
    pub guarded: Option<LeafTest>,
    /// The negated test, if it reads better than a leading `not`. It holds for missing values.
    pub opposite: Option<LeafTest>,
    /// True if the test only repeats its guards.
    pub is_guard: bool,
    /// True if the test alone would hold for missing values.
    pub of_missing: bool,
}

/// Returns a test with words after the first path, such as `" is number"`.
pub(super) fn first_term_test(behind: &str) -> LeafTest {
    LeafTest { binds: BindingStrength::Test, parts: vec![TestPart::Term(0), TestPart::Words(behind.to_owned())] }
}

pub(super) fn new_leaf(place: Span, terms: Vec<(Span, String)>, test: LeafTest) -> CheckLeaf {
    CheckLeaf {
        place,
        terms,
        guards: Vec::new(),
        test,
        guarded: None,
        opposite: None,
        is_guard: false,
        of_missing: false,
    }
}

#[derive(Debug, Clone)]
pub(super) enum PackCheck {
    Sure(Span, bool),
    Leaf(Box<CheckLeaf>),
    All(Span, Vec<PackCheck>),
    Any(Span, Vec<PackCheck>),
    Not(Span, Box<PackCheck>),
    Each(Span, MappedPieces, String, Vec<PackCheck>),
}

#[derive(Debug, Clone, Copy)]
struct CheckStyle {
    /// True if a missing value is an error.
    strict: bool,
    /// True if the condition must be plainly true or false.
    plain: bool,
}

/// Writes one condition if an earlier assertion has to prevent a later error, otherwise one for each assertion.
pub(super) fn check_sentences(place: Span, checks: Vec<PackCheck>, strict: bool) -> Vec<(Span, MappedCondition)> {
    let mut flat = Vec::new();
    flatten_checks(checks.into_iter().map(PackCheck::fold_constants).collect(), &mut flat);
    let decided = flat.iter().any(|check| !matches!(check, PackCheck::Sure(_, true)));
    flat.retain(|check| !decided || !matches!(check, PackCheck::Sure(_, true)));
    let apart = !strict || {
        let mut known: BTreeSet<String> = BTreeSet::new();
        flat.iter().enumerate().all(|(at, check)| {
            let mut needed = BTreeSet::new();
            let counted = check.collect_needs(&mut needed);
            let covered = at == 0 || counted && needed.is_subset(&known);
            known.extend(needed);
            covered
        })
    };
    if apart {
        return flat
            .iter()
            .map(|check| {
                (check.place(), check.to_condition(CheckStyle { strict, plain: false }, &mut EnsuredGuards::default()))
            })
            .collect();
    }
    let last = flat.len().saturating_sub(1);
    let mut known = EnsuredGuards::default();
    let parts = flat
        .iter()
        .enumerate()
        .map(|(at, check)| check.to_condition(CheckStyle { strict, plain: at != last }, &mut known))
        .collect();
    vec![(place, MappedCondition::all_of(place, parts))]
}

fn flatten_checks(checks: Vec<PackCheck>, into: &mut Vec<PackCheck>) {
    for check in checks {
        match check {
            PackCheck::All(_, inner) if !inner.is_empty() => flatten_checks(inner, into),
            other => into.push(other),
        }
    }
}

impl PackCheck {
    /// Drops members that do not matter.
    fn fold_constants(self) -> Self {
        match self {
            Self::All(place, checks) => {
                let mut kept: Vec<Self> = Vec::new();
                for check in checks.into_iter().map(Self::fold_constants) {
                    let ends = matches!(check, Self::Sure(_, false));
                    if !matches!(check, Self::Sure(_, true)) {
                        kept.push(check);
                    }
                    if ends {
                        break;
                    }
                }
                one_or(kept, Self::Sure(place, true), |kept| Self::All(place, kept))
            }
            Self::Any(place, checks) => {
                let mut kept: Vec<Self> = checks.into_iter().map(Self::fold_constants).collect();
                if kept.iter().any(|check| matches!(check, Self::Sure(_, true))) {
                    return Self::Sure(place, true);
                }
                kept.retain(|check| !matches!(check, Self::Sure(..)));
                // A single branch stays a branch, because a missing value in it is not an error.
                if kept.is_empty() { Self::Sure(place, false) } else { Self::Any(place, kept) }
            }
            Self::Not(place, check) => match check.fold_constants() {
                Self::Sure(_, holds) => Self::Sure(place, !holds),
                // A double negation holds if the inner check holds, but a missing value fails.
                Self::Not(_, inner) => Self::Any(place, vec![*inner]),
                other => Self::Not(place, Box::new(other)),
            },
            Self::Each(place, list, item, checks) => match Self::All(place, checks).fold_constants() {
                Self::Sure(_, true) => Self::Sure(place, true),
                other => Self::Each(place, list, item, vec![other]),
            },
            other => other,
        }
    }

    /// Writes the negated check.
    fn opposite(&self) -> Option<MappedCondition> {
        let Self::Leaf(leaf) = self else { return None };
        Some(leaf.write_test(leaf.opposite.as_ref()?, false, &mut EnsuredGuards::default()))
    }

    fn place(&self) -> Span {
        match self {
            Self::Leaf(leaf) => leaf.place,
            Self::Sure(place, _) | Self::All(place, _) | Self::Any(place, _) | Self::Not(place, _) => *place,
            Self::Each(place, ..) => *place,
        }
    }

    /// Collects the paths whose absence is an error; returns false if they depend on list elements.
    fn collect_needs(&self, into: &mut BTreeSet<String>) -> bool {
        match self {
            Self::Leaf(leaf) => {
                into.extend(leaf.terms.iter().map(|(_, text)| text.clone()));
                true
            }
            Self::All(_, inner) => inner.iter().all(|check| check.collect_needs(into)),
            Self::Each(_, _, _, inner) => {
                let mut inside = BTreeSet::new();
                inner.iter().all(|check| check.collect_needs(&mut inside)) && inside.is_empty()
            }
            Self::Sure(..) | Self::Any(..) | Self::Not(..) => true,
        }
    }

    /// Writes the check; `known` holds the paths and types that earlier parts have tested.
    fn to_condition(&self, how: CheckStyle, known: &mut EnsuredGuards) -> MappedCondition {
        let chain = |checks: &[Self], how: CheckStyle, known: &mut EnsuredGuards| -> Vec<MappedCondition> {
            checks.iter().map(|check| check.to_condition(how, known)).collect()
        };
        let plain = CheckStyle { plain: true, ..how };
        match self {
            Self::Sure(place, holds) => MappedCondition::from_text(*place, if *holds { "true" } else { "false" }),
            Self::Leaf(leaf) => leaf.to_condition(how, known),
            Self::All(place, checks) => MappedCondition::all_of(*place, chain(checks, plain, known)),
            Self::Any(place, checks) => {
                let branch = |check: &Self| {
                    check.to_condition(CheckStyle { strict: false, ..how }, &mut EnsuredGuards::default())
                };
                MappedCondition::any_of(*place, checks.iter().map(branch).collect())
            }
            Self::Not(place, check) => check.opposite().unwrap_or_else(|| {
                let inner = CheckStyle { strict: false, plain: true };
                check.to_condition(inner, &mut EnsuredGuards::default()).negated(*place)
            }),
            Self::Each(place, list, item, checks) => {
                let body = MappedCondition::all_of(*place, chain(checks, plain, &mut EnsuredGuards::default()));
                for_each_item(*place, list, item, body)
            }
        }
    }
}

/// Returns the only check, `none` if there are no checks, or all of them combined.
fn one_or(mut checks: Vec<PackCheck>, none: PackCheck, all: impl FnOnce(Vec<PackCheck>) -> PackCheck) -> PackCheck {
    match checks.len() {
        0 => none,
        1 => checks.swap_remove(0),
        _ => all(checks),
    }
}

/// Writes `LIST is empty or all item in LIST: …`.
fn for_each_item(place: Span, list: &MappedPieces, item: &str, body: MappedCondition) -> MappedCondition {
    let mut none = list.clone();
    none.push((place, " is empty".to_owned()));
    if body.pieces.iter().all(|(_, text)| text == "false") {
        return MappedCondition::from_pieces(none);
    }
    let uses_item = body.pieces.iter().any(|(_, text)| mentions_word(text, item));
    let rest = match uses_item {
        false => body,
        true => {
            let mut pieces = vec![(place, format!("all {item} in "))];
            pieces.extend(list.iter().cloned());
            pieces.push((place, ": ".to_owned()));
            pieces.extend(body.pieces);
            MappedCondition { pieces, binds: BindingStrength::Test, reaches: true }
        }
    };
    MappedCondition::any_of(place, vec![MappedCondition::from_pieces(none), rest])
}

fn mentions_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !part(c)).any(|found| found == word)
}

impl CheckLeaf {
    fn to_condition(&self, how: CheckStyle, known: &mut EnsuredGuards) -> MappedCondition {
        let asked: Vec<&TypeGuard> = self.guards.iter().filter(|guard| how.plain || guard.always).collect();
        let mut parts = Vec::new();
        if !how.strict && (how.plain || self.of_missing) {
            let unasked = |number: usize| !asked.iter().any(|guard| guard.term == number);
            let terms = self.terms.iter().enumerate().filter(|(number, _)| unasked(*number));
            parts.extend(terms.map(|(_, (place, text))| MappedCondition::from_text(*place, format!("{text} exists"))));
        }
        for guard in asked {
            let Some((place, text)) = self.terms.get(guard.term) else { continue };
            if !known.guards.insert((guard.name, text.clone())) && !self.is_guard {
                continue;
            }
            let term = self.term_path(guard.term, how.strict, known);
            let pieces = vec![(*place, format!("{}(", guard.name)), (*place, term), (*place, ")".to_owned())];
            parts.push(MappedCondition::from_pieces(pieces));
        }
        if self.is_guard && how.plain {
            return MappedCondition::all_of(self.place, parts);
        }
        let test = self.guarded.as_ref().filter(|_| how.plain).unwrap_or(&self.test);
        parts.push(self.write_test(test, how.strict, known));
        MappedCondition::all_of(self.place, parts)
    }

    fn write_test(&self, test: &LeafTest, strict: bool, known: &mut EnsuredGuards) -> MappedCondition {
        let pieces = test.parts.iter().map(|part| match part {
            TestPart::Words(text) => (self.place, text.clone()),
            TestPart::Literal(place, text) => (*place, text.clone()),
            TestPart::Term(number) => {
                let place = self.terms.get(*number).map_or(self.place, |(place, _)| *place);
                (place, self.term_path(*number, strict, known))
            }
        });
        MappedCondition { pieces: pieces.collect(), binds: test.binds, reaches: false }
    }

    /// Returns a path, wrapped in `required` at its first use.
    fn term_path(&self, number: usize, strict: bool, known: &mut EnsuredGuards) -> String {
        let Some((_, text)) = self.terms.get(number) else { return String::new() };
        let first = strict && known.reached.insert(text.clone());
        if first { format!("required({text})") } else { text.clone() }
    }
}
