//! Literals joined by `and` and `or`.

use super::values::ValueSet;
use std::rc::Rc;

/// The number of a subject in its [`SubjectTable`].
pub type SubjectId = usize;

/// A condition on its subject. The sets may be supersets of the values that pass or fail.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectLiteral {
    /// The subject.
    pub subject: SubjectId,
    /// Its values where the literal holds.
    pub holds: Rc<ValueSet>,
    /// Its values where it does not.
    pub fails: Rc<ValueSet>,
}

impl SubjectLiteral {
    /// The literal that holds where this one does not.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { subject: self.subject, holds: self.fails, fails: self.holds }
    }
}

/// A condition in normal form: negation stands at the literals alone.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// Always or never.
    Known(bool),
    /// A literal.
    Literal(SubjectLiteral),
    /// All of them.
    And(Vec<Formula>),
    /// Any of them.
    Or(Vec<Formula>),
}

impl Formula {
    /// Everything for which this one does not hold.
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

/// A condition from above and below: `possible` holds wherever it may be true, `certain` only where it surely does not fail.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaBounds {
    /// Where it may be true.
    pub possible: Formula,
    /// Where it cannot fail.
    pub certain: Formula,
}

impl FormulaBounds {
    /// A condition that is known exactly.
    #[must_use]
    pub fn exact(formula: Formula) -> Self {
        Self { certain: formula.clone(), possible: formula }
    }
}

/// The way to a value of a subject in a run, for witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessPlace {
    /// A path from a root of the run.
    Run(Vec<String>),
    /// A path from the step in scope.
    Step(Vec<String>),
    /// How many steps match a pattern.
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
    /// The number of a subject, with the values that it can have at all.
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

    /// The values that a subject can have at all.
    #[must_use]
    pub fn subject_universe(&self, subject: SubjectId) -> Rc<ValueSet> {
        self.known
            .get_index(subject)
            .map_or_else(|| Rc::new(ValueSet::full_set()), |(_, (values, _))| Rc::clone(values))
    }

    /// Where a subject stands in a run.
    #[must_use]
    pub fn witness_place(&self, subject: SubjectId) -> &WitnessPlace {
        self.known.get_index(subject).map_or(&WitnessPlace::Nowhere, |(_, (_, place))| place)
    }
}
