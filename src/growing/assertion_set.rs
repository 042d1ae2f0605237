//! Sets of assertions, a bit for each.

/// Assertions, by their place among those of the rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct AssertionSet {
    words: Vec<u64>,
}

impl AssertionSet {
    /// Puts an assertion in.
    pub fn insert(&mut self, place: usize) {
        if self.words.len() <= place / 64 {
            self.words.resize(place / 64 + 1, 0);
        }
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    /// Puts all of another set in.
    pub fn add_all(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Takes all of another set out.
    pub fn remove_all(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Those that are in both.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(word, other)| word & other).collect() }
    }

    /// Whether none is in both.
    #[must_use]
    pub fn is_apart(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & other == 0)
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Takes an assertion out.
    pub(super) fn remove(&mut self, place: usize) {
        if let Some(word) = self.words.get_mut(place / 64) {
            *word &= !(1 << (place % 64));
        }
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.words.get(place / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }
}
