//! Literals joined by `and` and `or`.

use super::values::Values;
use std::rc::Rc;

/// The number of a subject in its [`Subjects`].
pub type Subject = usize;

/// What a literal says of its subject. Both sets hold at least the values for which the test comes out true, or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// Of what.
    pub subject: Subject,
    /// Its values where the literal holds.
    pub holds: Rc<Values>,
    /// Its values where it does not.
    pub fails: Rc<Values>,
}

impl Literal {
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
    Literal(Literal),
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

    /// Whether a subject occurs in it.
    pub fn subjects(&self, found: &mut std::collections::BTreeSet<Subject>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self {
            Self::Known(_) => {}
            Self::Literal(literal) => {
                found.insert(literal.subject);
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.subjects(found)),
        });
    }
}

/// A condition from above and below: `possible` holds wherever it may be true, `certain` only where it surely does not fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Where it may be true.
    pub possible: Formula,
    /// Where it cannot fail.
    pub certain: Formula,
}

impl Bounds {
    /// A condition that is known exactly.
    #[must_use]
    pub fn exact(formula: Formula) -> Self {
        Self { certain: formula.clone(), possible: formula }
    }
}

/// How a value of a subject is reached in a run: for witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path from a root of the run.
    Run(Vec<String>),
    /// A path from the step in scope.
    Step(Vec<String>),
    /// How many steps match a pattern.
    Count,
    /// It cannot be written down.
    Nowhere,
}

/// What literals speak of.
#[derive(Debug, Default)]
pub struct Subjects {
    known: indexmap::IndexMap<String, (Rc<Values>, Place)>,
}

impl Subjects {
    /// The number of a subject, with the values that it can have at all.
    pub fn number(&mut self, key: String, universe: impl FnOnce() -> Values, place: impl FnOnce() -> Place) -> Subject {
        let entry = self.known.entry(key);
        let index = entry.index();
        entry.or_insert_with(|| (Rc::new(universe()), place()));
        index
    }

    /// The values that a subject can have at all.
    #[must_use]
    pub fn universe(&self, subject: Subject) -> Rc<Values> {
        self.known.get_index(subject).map_or_else(|| Rc::new(Values::all()), |(_, (values, _))| Rc::clone(values))
    }

    /// Where a subject stands in a run.
    #[must_use]
    pub fn place(&self, subject: Subject) -> &Place {
        self.known.get_index(subject).map_or(&Place::Nowhere, |(_, (_, place))| place)
    }

    /// The key of a subject.
    #[must_use]
    pub fn key(&self, subject: Subject) -> &str {
        self.known.get_index(subject).map_or("", |(key, _)| key)
    }
}
