//! Literals joined by `and` and `or`.

use super::values::ValueSet;
use std::rc::Rc;

/// The index of a subject in its [`SubjectTable`].
pub type SubjectId = usize;

/// A condition on a subject. The sets may be supersets of the values that pass or fail.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectLiteral {
    /// The subject.
    pub subject: SubjectId,
    /// The values for which the literal holds.
    pub holds: Rc<ValueSet>,
    /// The values for which it does not hold.
    pub fails: Rc<ValueSet>,
}

impl SubjectLiteral {
    /// Returns the literal that holds where this one does not.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { subject: self.subject, holds: self.fails, fails: self.holds }
    }
}

/// A condition in negation normal form: only literals are negated.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// Always true or always false.
    Known(bool),
    /// A literal.
    Literal(SubjectLiteral),
    /// All parts hold.
    And(Vec<Formula>),
    /// Any part holds.
    Or(Vec<Formula>),
}

impl Formula {
    /// Returns the negation.
    #[must_use]
    pub fn negated(self) -> Self {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self {
            Self::Known(known) => Self::Known(!known),
            Self::Literal(literal) => Self::Literal(literal.negated()),
            Self::And(parts) => Self::Or(parts.into_iter().map(Self::negated).collect()),
            Self::Or(parts) => Self::And(parts.into_iter().map(Self::negated).collect()),
        })
    }

    /// Collects the subjects that occur in it.
    pub fn collect_subjects(&self, found: &mut std::collections::BTreeSet<SubjectId>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self {
            Self::Known(_) => {}
            Self::Literal(literal) => {
                found.insert(literal.subject);
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect_subjects(found)),
        });
    }
}

/// Upper and lower bounds of a condition: `possible` holds wherever it may be true, `certain` only where it certainly does not fail.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaBounds {
    /// Holds where the condition may be true.
    pub possible: Formula,
    /// Holds where the condition cannot fail.
    pub certain: Formula,
}

impl FormulaBounds {
    /// Returns the bounds of an exactly known condition.
    #[must_use]
    pub fn exact(formula: Formula) -> Self {
        Self { certain: formula.clone(), possible: formula }
    }
}

/// The location of a subject's value in a run, for witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessPlace {
    /// A path from a root of the run.
    Run(Vec<String>),
    /// A path from the step in scope.
    Step(Vec<String>),
    /// The number of steps that match a pattern.
    Count,
    /// Not expressible.
    Nowhere,
}

/// The subjects of literals.
#[derive(Debug, Default)]
pub struct SubjectTable {
    known: indexmap::IndexMap<String, (Rc<ValueSet>, WitnessPlace)>,
}

impl SubjectTable {
    /// Returns the index of a subject; adds it, with its possible values, if it is new.
    pub fn intern_subject(
        &mut self,
        key: String,
        universe: impl FnOnce() -> ValueSet,
        place: impl FnOnce() -> WitnessPlace,
    ) -> SubjectId {
        let entry = self.known.entry(key);
        let index = entry.index();
        entry.or_insert_with(|| (Rc::new(universe()), place()));
        index
    }

    /// Returns the possible values of a subject.
    #[must_use]
    pub fn subject_universe(&self, subject: SubjectId) -> Rc<ValueSet> {
        self.known
            .get_index(subject)
            .map_or_else(|| Rc::new(ValueSet::full_set()), |(_, (values, _))| Rc::clone(values))
    }

    /// Returns the location of a subject in a run.
    #[must_use]
    pub fn witness_place(&self, subject: SubjectId) -> &WitnessPlace {
        self.known.get_index(subject).map_or(&WitnessPlace::Nowhere, |(_, (_, place))| place)
    }
}
