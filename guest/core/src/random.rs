//! Random numbers for tests: a seed produces the same sequence on every machine.

/// A linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number less than `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    pub(crate) fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
