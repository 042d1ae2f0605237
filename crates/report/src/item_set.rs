//! Sets of assertions by their index in a [`ReportTable`](super::table::ReportTable). They must be fast, because after each chunk of runs most
//! assertions are added again.

use serde::{Deserialize, Serialize};

/// A set of table indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemSet {
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl ItemSet {
    /// Adds an index.
    pub fn insert(&mut self, item: usize) {
        let word = item / BITS;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (item % BITS);
        }
    }

    /// Adds those of the first `count` indexes that are wanted. Skips the test for indexes that are already present.
    pub fn insert_wanted(&mut self, count: usize, is_wanted: impl Fn(usize) -> bool) {
        self.words.resize(self.words.len().max(count.div_ceil(BITS)), 0);
        for (first, word) in (0..count).step_by(BITS).zip(&mut self.words) {
            let mut left = !*word;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let item = first + bit;
                if item < count && is_wanted(item) {
                    *word |= 1 << bit;
                }
            }
        }
    }

    /// True if the set contains an index.
    #[must_use]
    pub fn contains(&self, item: usize) -> bool {
        self.words.get(item / BITS).is_some_and(|word| word & (1 << (item % BITS)) != 0)
    }

    /// Adds all indexes of another set.
    pub fn append(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }
}

impl Extend<usize> for ItemSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.insert(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let (mut few, mut many) = (ItemSet::default(), ItemSet::default());
        few.extend([0, 64]);
        many.extend([63, 200]);
        few.append(&many);
        let held: Vec<usize> = (0..300).filter(|item| few.contains(*item)).collect();
        assert_eq!(held, [0, 63, 64, 200]);
        assert!(!many.contains(64) && !many.contains(1 << 40));
    }

    #[test]
    fn wanted_ones_are_put_in_up_to_the_count() {
        let mut set = ItemSet::default();
        set.extend([3, 150]);
        set.insert_wanted(130, |item| {
            assert_ne!(item, 3, "it is in already");
            item % 64 == 1
        });
        let held: Vec<usize> = (0..300).filter(|item| set.contains(*item)).collect();
        assert_eq!(held, [1, 3, 65, 129, 150]);
        set.insert_wanted(0, |_| true);
        assert!(!set.contains(0));
    }
}
