//! The queue of events, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A time in a simulation, in nanoseconds since it began.
pub(super) type Time = u64;

/// Events by time. Events of the same time keep the order of insertion.
#[derive(Debug)]
pub(super) struct Queue<T> {
    heap: BinaryHeap<Reverse<(Time, u64, T)>>,
    next: u64,
}

impl<T: Ord> Queue<T> {
    pub(super) fn new() -> Self {
        Queue { heap: BinaryHeap::new(), next: 0 }
    }

    pub(super) fn push(&mut self, at: Time, what: T) {
        self.heap.push(Reverse((at, self.next, what)));
        self.next += 1;
    }

    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        self.heap.pop().map(|Reverse((at, _, what))| (at, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_happen_in_time_and_then_in_the_order_in_which_they_were_put_in() {
        let mut queue = Queue::new();
        for (at, what) in [(5, 1), (3, 9), (5, 0), (3, 2)] {
            queue.push(at, what);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(3, 9), (3, 2), (5, 1), (5, 0)]);
    }
}
