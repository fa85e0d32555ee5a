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

    pub(super) fn push(&mut self, at: Time, event: T) {
        self.heap.push(Reverse((at, self.next, event)));
        self.next += 1;
    }

    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_and_then_by_insertion() {
        let mut queue = Queue::new();
        for (at, event) in [(5, 1), (3, 9), (5, 0), (3, 2)] {
            queue.push(at, event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(3, 9), (3, 2), (5, 1), (5, 0)]);
    }
}
