//! A seeded pseudo-random generator for test inputs.

/// A seeded pseudo-random generator.
pub struct Choices(u64);

impl Choices {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        let mut choices = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        choices.below(2);
        choices
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Returns one of several values.
    pub fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Returns true once in `parts` times on average.
    pub fn one_in(&mut self, parts: usize) -> bool {
        self.below(parts) == 0
    }
}
