//! Deterministic random numbers for one case, from the seed, the name and the case number.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

pub(super) struct CaseRandom {
    numbers: ChaCha20Rng,
    seed: u64,
}

impl CaseRandom {
    /// Initializes the generator with the SHA-256 of the seed, the name and the case number, with numbers as 64 bits in little-endian order.
    pub fn new(seed: u64, name: &str, case: u64) -> Self {
        let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).chain_update(case.to_le_bytes());
        let start: [u8; 32] = hash.finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = start;
        Self { numbers: ChaCha20Rng::from_seed(start), seed: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }

    /// Returns the id of the case: the first eight bytes of its random stream.
    pub fn case_seed(&self) -> u64 {
        self.seed
    }

    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.numbers.next_u64()
    }

    /// Returns a number from `least` to `most`, which must not be less. One random number is consumed even if there is no choice.
    pub fn number_between(&mut self, least: u64, most: u64) -> u64 {
        let next = self.next();
        match most.saturating_sub(least).checked_add(1) {
            Some(count) => least.saturating_add(next % count),
            None => next,
        }
    }

    /// Returns a number between signed bounds, inclusive.
    pub fn between_signed(&mut self, least: i64, most: i64) -> i64 {
        let next = self.next();
        let offset = match most.abs_diff(least).checked_add(1) {
            Some(count) => next % count,
            None => next,
        };
        least.saturating_add_unsigned(offset)
    }

    /// Returns a number from 0 to 1, both included.
    pub fn unit_share(&mut self) -> f64 {
        to_float(self.next()) / to_float(u64::MAX)
    }

    /// Returns a random boolean.
    pub fn flip_coin(&mut self) -> bool {
        self.next() & 1 == 0
    }
}

#[allow(clippy::cast_precision_loss, reason = "the nearest number is what is meant")]
fn to_float(number: u64) -> f64 {
    number as f64
}
