//! Random numbers of one case: the same for the same seed, name and case.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

pub(super) struct CaseRandom {
    numbers: ChaCha20Rng,
    seed: u64,
}

impl CaseRandom {
    /// Begins with the SHA-256 of the seed, the name and the number of the case, numbers as 64 bits, the lowest first.
    pub fn new(seed: u64, name: &str, case: u64) -> Self {
        let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).chain_update(case.to_le_bytes());
        let start: [u8; 32] = hash.finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = start;
        Self { numbers: ChaCha20Rng::from_seed(start), seed: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }

    /// Identifies the case: the first eight bytes of its random stream.
    pub fn case_seed(&self) -> u64 {
        self.seed
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.numbers.next_u64()
    }

    /// A number from `least` to `most`, which is not below it. One number is taken also where there is nothing to choose.
    pub fn number_between(&mut self, least: u64, most: u64) -> u64 {
        let next = self.next();
        match most.saturating_sub(least).checked_add(1) {
            Some(count) => least.saturating_add(next % count),
            None => next,
        }
    }

    /// A number between signed bounds, inclusive.
    pub fn between_signed(&mut self, least: i64, most: i64) -> i64 {
        let next = self.next();
        let offset = match most.abs_diff(least).checked_add(1) {
            Some(count) => next % count,
            None => next,
        };
        least.saturating_add_unsigned(offset)
    }

    /// A number from 0 to 1, both of them included.
    pub fn unit_share(&mut self) -> f64 {
        to_float(self.next()) / to_float(u64::MAX)
    }

    /// Heads or tails.
    pub fn flip_coin(&mut self) -> bool {
        self.next() & 1 == 0
    }
}

#[allow(clippy::cast_precision_loss, reason = "the nearest number is what is meant")]
fn to_float(number: u64) -> f64 {
    number as f64
}
