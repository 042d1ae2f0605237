//! Where generators take their choices from: a list of numbers, drawn by a seeded generator and made smaller when a case fails.
//!
//! A choice of 0 is the simplest one, and a list that is too short goes on with zeros, so a shorter list is a simpler case.

use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_like::next;

/// `proptest`'s generator behind one function.
mod rand_like {
    use proptest::prelude::Rng;
    use proptest::test_runner::TestRng;

    pub fn next(rng: &mut TestRng) -> u32 {
        rng.next_u32()
    }
}

pub struct Source {
    pub choices: Vec<u32>,
    at: usize,
    rng: Option<TestRng>,
}

impl Source {
    /// Draws new choices.
    pub fn seeded(seed: u64, stream: u64) -> Source {
        let mut bytes = [0_u8; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&stream.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Source { choices: Vec::new(), at: 0, rng: Some(rng) }
    }

    /// Plays choices again.
    pub fn replay(choices: &[u32]) -> Source {
        Source { choices: choices.to_vec(), at: 0, rng: None }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let n = u32::try_from(n.max(1)).expect("a small number");
        if self.at == self.choices.len() {
            let drawn = self.rng.as_mut().map_or(0, |rng| next(rng) % n);
            self.choices.push(drawn);
        }
        let choice = self.choices[self.at] % n;
        self.at += 1;
        choice as usize
    }

    /// True in `percent` of all cases; false is simpler.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// An index by weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        0
    }
}

/// Makes lists of choices smaller while `fails` says that they still show the failure.
pub fn shrink(parts: &mut [Vec<u32>], mut fails: impl FnMut(&[Vec<u32>]) -> bool) {
    let mut budget = 4000;
    loop {
        let before = parts.to_vec();
        for part in 0..parts.len() {
            for size in [32, 16, 8, 4, 2, 1] {
                let mut at = 0;
                while at < parts[part].len() && budget > 0 {
                    budget -= 1;
                    let mut smaller = parts.to_vec();
                    let end = (at + size).min(smaller[part].len());
                    smaller[part].drain(at..end);
                    if fails(&smaller) { parts.clone_from_slice(&smaller) } else { at += size }
                }
            }
            for at in 0..parts[part].len() {
                for value in [0, parts[part][at] / 2, parts[part][at].saturating_sub(1)] {
                    if value < parts[part][at] && budget > 0 {
                        budget -= 1;
                        let mut smaller = parts.to_vec();
                        smaller[part][at] = value;
                        if fails(&smaller) {
                            parts.clone_from_slice(&smaller);
                            break;
                        }
                    }
                }
            }
        }
        if budget == 0 || parts == before.as_slice() {
            return;
        }
    }
}

#[test]
fn a_failing_list_of_choices_becomes_small() {
    let sum = |choices: &[u32]| {
        let mut source = Source::replay(choices);
        (0..source.below(20)).map(|_| source.below(50)).sum::<usize>()
    };
    let mut parts = [vec![12, 3, 44, 5, 0, 49, 31, 2, 2, 2, 2, 2, 2]];
    shrink(&mut parts, |parts| sum(&parts[0]) >= 40);
    assert_eq!(parts, [vec![1, 40]]);
}
