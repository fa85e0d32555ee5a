//! Random numbers, to choose the first victim of a worker that searches.

/// Marsaglia's xorshift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a sequence that differs for each worker.
    pub(crate) fn new(index: usize) -> Self {
        Random((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `bound`, which is not 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}
