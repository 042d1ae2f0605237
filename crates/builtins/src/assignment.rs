//! Assigns found things to expected ones: as many pairs as possible, each thing in at most one pair, in order or in any order. The things are calls
//! of a run or elements of a list.

use averment_base::truth::Truth;
use std::collections::VecDeque;

/// The possible pairs of expected and made things.
#[derive(Debug, Default)]
pub struct FittingPairs {
    /// For each expected thing, the indexes of fitting made ones; true if the fit is certain.
    fits: Vec<Vec<(usize, bool)>>,
    made: usize,
}

/// An assignment: the partner of each thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchedPairs {
    /// For each expected thing, the index of its made partner.
    pub expected: Vec<Option<usize>>,
    /// For each made thing, the index of its expected partner.
    pub made: Vec<Option<usize>>,
}

/// The layer of expected things that the search did not reach.
const UNREACHED: usize = usize::MAX;

impl MatchedPairs {
    fn nothing(expected: usize, made: usize) -> Self {
        Self { expected: vec![None; expected], made: vec![None; made] }
    }

    fn join(&mut self, expected: usize, made: usize) {
        if let (Some(first), Some(second)) = (self.expected.get_mut(expected), self.made.get_mut(made)) {
            *first = Some(made);
            *second = Some(expected);
        }
    }

    fn partner_of_made(&self, made: usize) -> Option<usize> {
        self.made.get(made).copied().flatten()
    }

    /// Returns the number of expected things with a partner.
    #[must_use]
    pub fn count(&self) -> usize {
        self.expected.iter().flatten().count()
    }

    /// Returns the number of made things with a partner.
    #[must_use]
    pub fn made_count(&self) -> usize {
        self.made.iter().flatten().count()
    }

    /// Returns the expected things without a partner.
    pub fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        self.expected.iter().enumerate().filter(|(_, partner)| partner.is_none()).map(|(place, _)| place)
    }

    /// Returns the made things without a partner.
    pub fn extra(&self) -> impl Iterator<Item = usize> + '_ {
        self.made.iter().enumerate().filter(|(_, partner)| partner.is_none()).map(|(place, _)| place)
    }
}

impl FittingPairs {
    /// Creates an empty table for these numbers of expected and made things.
    #[must_use]
    pub fn new(expected: usize, made: usize) -> Self {
        Self { fits: vec![Vec::new(); expected], made }
    }

    /// Records how a pair fits. Call it in the order of the made things.
    pub fn note_fit(&mut self, expected: usize, made: usize, fit: Truth) {
        if let (true, Some(fits)) = (fit.plain_answer() != Some(false), self.fits.get_mut(expected)) {
            fits.push((made, fit == Truth::True));
        }
    }

    /// True if some pair is uncertain.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.fits.iter().flatten().any(|(_, sure)| !sure)
    }

    /// True if the expected thing fits some made one, even one that already has a partner.
    #[must_use]
    pub fn fits_any(&self, expected: usize, sure: bool) -> bool {
        self.partners(expected, sure).next().is_some()
    }

    /// True if the two may fit.
    #[must_use]
    pub fn fits_at(&self, expected: usize, made: usize) -> bool {
        self.partners(expected, false).any(|one| one == made)
    }

    fn partners(&self, expected: usize, sure: bool) -> impl Iterator<Item = usize> + '_ {
        let fits = self.fits.get(expected).map_or(&[][..], Vec::as_slice);
        fits.iter().filter(move |(_, is_sure)| *is_sure || !sure).map(|(made, _)| *made)
    }

    /// Returns the number of steps that [`Self::match_in_order`] takes.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.fits.len().saturating_add(1).saturating_mul(self.made.saturating_add(1))
    }

    /// Returns a maximum matching in any order (Hopcroft–Karp). `sure` ignores uncertain pairs.
    #[must_use]
    pub fn match_in_any_order(&self, sure: bool) -> MatchedPairs {
        let mut matched = MatchedPairs::nothing(self.fits.len(), self.made);
        for expected in 0..self.fits.len() {
            let free = self.partners(expected, sure).find(|made| matched.partner_of_made(*made).is_none());
            if let Some(made) = free {
                matched.join(expected, made);
            }
        }
        while let Some(layers) = self.find_layers(&matched, sure) {
            let mut tried = vec![0usize; self.fits.len()];
            let roots: Vec<usize> = matched.missing().collect();
            for root in roots {
                self.augment_from(root, &layers, &mut tried, &mut matched, sure);
            }
        }
        matched
    }

    /// Returns the first fit of each thing, even if it has several partners.
    #[must_use]
    pub fn match_repeatedly(&self, sure: bool) -> MatchedPairs {
        let mut matched = MatchedPairs::nothing(self.fits.len(), self.made);
        for (expected, own) in matched.expected.iter_mut().enumerate() {
            for made in self.partners(expected, sure) {
                own.get_or_insert(made);
                if let Some(other) = matched.made.get_mut(made) {
                    other.get_or_insert(expected);
                }
            }
        }
        matched
    }

    /// Returns the distance of each expected thing from one without a partner; `None` if no path leads to a made thing without a partner.
    fn find_layers(&self, matched: &MatchedPairs, sure: bool) -> Option<Vec<usize>> {
        let mut layers = vec![UNREACHED; self.fits.len()];
        let mut queue: VecDeque<usize> = matched.missing().collect();
        for root in &queue {
            set_layer(&mut layers, *root, 0);
        }
        let mut leads = false;
        while let Some(expected) = queue.pop_front() {
            let next = layers.get(expected).copied().unwrap_or(UNREACHED).saturating_add(1);
            for made in self.partners(expected, sure) {
                match matched.partner_of_made(made) {
                    None => leads = true,
                    Some(other) if layers.get(other) == Some(&UNREACHED) => {
                        set_layer(&mut layers, other, next);
                        queue.push_back(other);
                    }
                    Some(_) => {}
                }
            }
        }
        leads.then_some(layers)
    }

    /// Searches along the layers for a path to a made thing without a partner, and exchanges the partners on the path.
    fn augment_from(&self, root: usize, layers: &[usize], tried: &mut [usize], matched: &mut MatchedPairs, sure: bool) {
        let mut way: Vec<(usize, usize)> = Vec::new();
        let mut at = root;
        loop {
            let fits = self.fits.get(at).map_or(&[][..], Vec::as_slice);
            let next = tried.get_mut(at).and_then(|tried| {
                let found = fits.get(*tried).copied();
                *tried = tried.saturating_add(1);
                found
            });
            let Some((made, is_sure)) = next else {
                // Dead end: continue with the next partner of the previous thing.
                let Some((before, _)) = way.pop() else { return };
                at = before;
                continue;
            };
            if sure && !is_sure {
                continue;
            }
            match matched.partner_of_made(made) {
                None => {
                    way.push((at, made));
                    way.into_iter().for_each(|(expected, made)| matched.join(expected, made));
                    return;
                }
                Some(other) if layers.get(other).copied() == layers.get(at).map(|layer| layer.saturating_add(1)) => {
                    way.push((at, made));
                    at = other;
                }
                Some(_) => {}
            }
        }
    }

    /// Returns a maximum matching whose things have the same order on both sides.
    #[must_use]
    pub fn match_in_order(&self, sure: bool) -> MatchedPairs {
        let (rows, columns) = (self.fits.len(), self.made);
        let width = columns.saturating_add(1);
        // Maximum number of pairs from a row and a column on.
        let mut most = vec![0u32; self.cells()];
        let at = |row: usize, column: usize| row.saturating_mul(width).saturating_add(column);
        let get = |most: &[u32], row, column| most.get(at(row, column)).copied().unwrap_or(0);
        for row in (0..rows).rev() {
            let mut fitting: Vec<usize> = self.partners(row, sure).collect();
            for column in (0..columns).rev() {
                let skipped = get(&most, row.saturating_add(1), column).max(get(&most, row, column.saturating_add(1)));
                let fits = fitting.last() == Some(&column);
                let paired = if fits {
                    fitting.pop();
                    get(&most, row.saturating_add(1), column.saturating_add(1)).saturating_add(1)
                } else {
                    0
                };
                if let Some(cell) = most.get_mut(at(row, column)) {
                    *cell = skipped.max(paired);
                }
            }
        }
        let mut matched = MatchedPairs::nothing(rows, columns);
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            let here = get(&most, row, column);
            let (below, behind) = (row.saturating_add(1), column.saturating_add(1));
            let is_pair = self.partners(row, sure).any(|made| made == column);
            if is_pair && get(&most, below, behind).saturating_add(1) == here {
                matched.join(row, column);
                (row, column) = (below, behind);
            } else if get(&most, row, behind) == here {
                column = behind;
            } else {
                row = below;
            }
        }
        matched
    }
}

fn set_layer(layers: &mut [usize], expected: usize, layer: usize) {
    if let Some(cell) = layers.get_mut(expected) {
        *cell = layer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn pairs(fits: &[&[usize]], made: usize) -> FittingPairs {
        let mut pairs = FittingPairs::new(fits.len(), made);
        for (expected, fits) in fits.iter().enumerate() {
            fits.iter().for_each(|made| pairs.note_fit(expected, *made, Truth::True));
        }
        pairs
    }

    /// Returns the maximum number of pairs, by brute force.
    fn most_pairs(fits: &[Vec<usize>], taken: &mut Vec<usize>, in_order: bool) -> usize {
        let Some((first, rest)) = fits.split_first() else { return 0 };
        let mut best = most_pairs(rest, taken, in_order);
        for made in first {
            let free = if in_order { taken.iter().all(|one| one < made) } else { !taken.contains(made) };
            if free {
                taken.push(*made);
                best = best.max(1 + most_pairs(rest, taken, in_order));
                taken.pop();
            }
        }
        best
    }

    #[test]
    fn a_call_gives_way_where_another_has_no_choice() {
        let matched = pairs(&[&[0, 1], &[0], &[1, 2]], 3).match_in_any_order(true);
        assert_eq!(matched.expected, [Some(1), Some(0), Some(2)]);
        assert_eq!(pairs(&[&[1], &[0]], 2).match_in_order(true).count(), 1);
    }

    #[test]
    fn as_many_pairs_are_found_as_there_are() {
        let mut random = 7u64;
        for _ in 0..400 {
            let mut next = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from((random >> 33) % below).unwrap()
            };
            let (expected, made) = (next(6), next(6));
            let fits: Vec<Vec<usize>> = (0..expected).map(|_| (0..made).filter(|_| next(3) == 0).collect()).collect();
            let borrowed: Vec<&[usize]> = fits.iter().map(Vec::as_slice).collect();
            let all = pairs(&borrowed, made);
            assert_eq!(all.match_in_any_order(true).count(), most_pairs(&fits, &mut Vec::new(), false), "{fits:?}");
            assert_eq!(all.match_in_order(true).count(), most_pairs(&fits, &mut Vec::new(), true), "{fits:?}");
        }
    }

    #[test]
    fn two_hundred_calls_are_assigned_at_once() {
        // Each expected thing fits those from its own index on, the worst case for greedy choices.
        let fits: Vec<Vec<usize>> = (0..200).map(|one| (0..200 - one).collect()).collect();
        let borrowed: Vec<&[usize]> = fits.iter().map(Vec::as_slice).collect();
        let all = pairs(&borrowed, 200);
        let start = crate::clock::now();
        assert_eq!(all.match_in_any_order(true).count(), 200);
        // Generous limit: it takes a tenth of that in an unoptimized build on a busy machine.
        let worked = crate::clock::now() - start;
        assert!(worked < Duration::from_millis(500), "{worked:?}");
    }
}
