//! The words that owner and thieves share, the fields of the head, and the drop of a queue.

use crossbeam_utils::CachePadded;

use crate::bound::{HiddenPops, Spacer};
use crate::ring;
use crate::storage::Storage;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use crate::turnstile::Turnstile;

/// The echo of no steal.
pub(super) const NO_ECHO: u64 = u64::MAX;

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

pub(super) struct Shared<T> {
    pub(super) head: CachePadded<AtomicU64>,
    pub(super) tail: CachePadded<AtomicUsize>,
    pub(super) echo: CachePadded<AtomicU64>,
    pub(super) storage: CachePadded<Storage<T, (), Turnstile>>,
    pub(super) hidden_pops: CachePadded<HiddenPops>,
    pub(super) spacer: Spacer,
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let tail = self.tail.load(Ordering::Relaxed);
        let head = Head::unpack(self.head.load(Ordering::Relaxed)).full(tail);
        // SAFETY: no other handle is left. The tasks between head and tail were pushed and not
        // taken.
        unsafe { ring::drop_tasks(&self.storage, head, tail) };
    }
}
