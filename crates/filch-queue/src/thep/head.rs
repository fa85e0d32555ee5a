//! The head's word: a counter of steals, and the index of the oldest task.

/// The fields of the head's word.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) counter: u32,
    pub(super) index: u32,
}

impl Head {
    #[inline(always)]
    pub(super) fn unpack(word: u64) -> Head {
        Head { counter: (word >> 32) as u32, index: word as u32 }
    }

    #[inline(always)]
    pub(super) fn pack(self) -> u64 {
        u64::from(self.counter) << 32 | u64::from(self.index)
    }

    /// Returns how far the tail is ahead of this head; negative if it is behind.
    #[inline(always)]
    pub(super) fn distance(self, tail: usize) -> isize {
        (tail as u32).wrapping_sub(self.index) as i32 as isize
    }

    /// Returns the head as a full index, like the tail.
    #[inline(always)]
    pub(super) fn full(self, tail: usize) -> usize {
        tail.wrapping_sub(self.distance(tail) as usize)
    }
}
