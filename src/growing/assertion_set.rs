//! Bit sets of assertions.

/// A set of assertions, by their index in the rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct AssertionSet {
    words: Vec<u64>,
}

impl AssertionSet {
    /// Adds an assertion.
    pub fn insert(&mut self, place: usize) {
        if self.words.len() <= place / 64 {
            self.words.resize(place / 64 + 1, 0);
        }
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    /// Adds all assertions of another set.
    pub fn add_all(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Removes all assertions of another set.
    pub fn remove_all(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Returns the intersection.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(word, other)| word & other).collect() }
    }

    /// Returns true if the intersection is empty.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & other == 0)
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(super) fn remove(&mut self, place: usize) {
        if let Some(word) = self.words.get_mut(place / 64) {
            *word &= !(1 << (place % 64));
        }
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.words.get(place / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }
}
