//! The published queue: listings 1 to 4 of *A Lock-Free Work-Stealing Algorithm for Bulk
//! Operations*, and the early return of its figure 8.
//!
//! The queue is a linked list with two shared words, `head` and `size`. The owner pushes and pops at
//! the head. The thief walks from the head to the node at the cut, loads the size once more, and
//! takes the nodes behind the cut by a store of null to that node's link. It then walks to the end,
//! to count what it took. The early return skips that second walk: if neither word changed, the
//! count follows from the size.
//!
//! # It is not linearizable
//!
//! The owner may pop the node at the cut between the thief's second look at the size and the cut.
//! Its head then points behind the cut, so both sides take the same nodes. The thief also follows
//! links of nodes that the owner popped and freed. `filch-queue/src/bulk/published.md` shows the
//! executions.
//!
//! # Why the measured cases are safe
//!
//! Both faults need a pop during a steal. Pushes and pops are measured without a thief. Steals are
//! measured with an idle owner: the two threads take turns, and each turn happens before the next.
//! Without an overlap, every node is taken once. So the steals from a busy owner and the graphs, on
//! which owners and thieves run at the same time, leave this queue out.
//!
//! # Differences from the listings
//!
//! - `next` is a relaxed atomic, because a race on a plain word is undefined behaviour. On the
//!   usual CPUs the instructions are the same.
//! - A node carries a task. A pop frees the node, and a push of one task allocates it. A batch is
//!   allocated before it is pushed, and a stolen list is freed after the steal.

use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::Arc;

use super::contenders::{Queue, StealShare};

/// The name of the published queue.
pub(crate) const PUBLISHED: &str = "bulk-published";
/// The name of the published queue with the early return of figure 8.
pub(crate) const PUBLISHED_EARLY: &str = "bulk-published-early";

/// The fewest tasks that are worth a steal. The paper does not say how many.
const QUEUE_LIMIT: usize = 2;

/// A node of the list, padded as in listing 1.
#[repr(C)]
struct Node {
    padding: [u8; 64],
    next: AtomicPtr<Node>,
    task: usize,
}

impl Node {
    fn allocate(task: usize, next: *mut Node) -> *mut Node {
        Box::into_raw(Box::new(Node { padding: [0; 64], next: AtomicPtr::new(next), task }))
    }

    /// Returns the task and the next node, and frees the node.
    ///
    /// # Safety
    ///
    /// `node` comes from `allocate`, is not freed, and nothing else uses it.
    unsafe fn free(node: *mut Node) -> (usize, *mut Node) {
        // SAFETY: as the caller promises.
        let node = unsafe { Box::from_raw(node) };
        (node.task, node.next.into_inner())
    }

    /// Returns the node behind `node`.
    ///
    /// # Safety
    ///
    /// `node` is not freed during the call.
    #[inline(always)]
    unsafe fn next(node: *mut Node) -> *mut Node {
        // Relaxed: the size or the turn of the thread orders the nodes before this load.
        // SAFETY: as the caller promises.
        unsafe { (*node).next.load(Ordering::Relaxed) }
    }
}

/// A list of nodes, which it owns: the youngest task first.
pub(crate) struct Nodes {
    start: *mut Node,
    /// The last node. Null if there is none, and after an early return, which does not visit it.
    end: *mut Node,
    count: usize,
}

// SAFETY: the nodes are owned by the list, and a task is a number.
unsafe impl Send for Nodes {}

impl Default for Nodes {
    fn default() -> Self {
        Nodes { start: null_mut(), end: null_mut(), count: 0 }
    }
}

impl Iterator for Nodes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.start.is_null() {
            return None;
        }
        // SAFETY: the list owns its nodes, and this one leaves it.
        let (task, next) = unsafe { Node::free(self.start) };
        self.start = next;
        Some(task)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// The queue of listing 1.
#[derive(Default)]
pub(crate) struct LinkedQueue {
    size: AtomicUsize,
    head: AtomicPtr<Node>,
}

impl LinkedQueue {
    /// Pushes a list with a known end (listing 2).
    ///
    /// # Safety
    ///
    /// Only the owner calls it.
    #[inline(always)]
    unsafe fn push(&self, nodes: Nodes) {
        let Nodes { start, end, count } = nodes;
        std::mem::forget(nodes);
        // Relaxed, both: only the owner writes the head, and the head's store publishes the link.
        // SAFETY: the list owns its last node.
        unsafe { (*end).next.store(self.head.load(Ordering::Relaxed), Ordering::Relaxed) };
        // Release: a thief that loads this head sees the links behind it.
        self.head.store(start, Ordering::Release);
        // AcqRel, as in the listing: a thief that sees this size also sees the head.
        self.size.fetch_add(count, Ordering::AcqRel);
    }

    /// Takes the youngest task (listing 3).
    ///
    /// # Safety
    ///
    /// Only the owner calls it, and no thief steals meanwhile.
    #[inline(always)]
    unsafe fn pop(&self) -> Option<usize> {
        // Relaxed, both: only the owner writes the head.
        let node = self.head.load(Ordering::Relaxed);
        if node.is_null() {
            return None;
        }
        // SAFETY: the node is in the list, and no thief takes it meanwhile.
        self.head.store(unsafe { Node::next(node) }, Ordering::Relaxed);
        // AcqRel, as in the listing.
        self.size.fetch_sub(1, Ordering::AcqRel);
        // SAFETY: the node has left the list, and no thief walks there meanwhile.
        Some(unsafe { Node::free(node) }.0)
    }

    /// Takes the nodes behind the cut (listing 4).
    ///
    /// # Safety
    ///
    /// Only one thief calls it, and the owner does not pop meanwhile.
    #[inline(always)]
    unsafe fn steal(&self, proportion: f64, returns_early: bool) -> Nodes {
        // Acquire: the head is at least as young as this size.
        let size = self.size.load(Ordering::Acquire);
        if size < QUEUE_LIMIT {
            return Nodes::default();
        }
        let skipped = (size as f64 * (1.0 - proportion)) as usize;
        // Acquire: pairs with the owner's store, so that the links are visible.
        let head = self.head.load(Ordering::Acquire);
        let mut cut = head;
        for _ in 0..skipped {
            if cut.is_null() {
                break;
            }
            // SAFETY: the node is in the list, and the owner does not pop it meanwhile.
            cut = unsafe { Node::next(cut) };
        }
        // Acquire, as in the listing. The check does not keep the owner from popping later.
        if cut.is_null() || self.size.load(Ordering::Acquire) <= size - (skipped >> 1) {
            return Nodes::default();
        }
        // SAFETY: as above.
        let start = unsafe { Node::next(cut) };
        // Relaxed: the next operation on the size publishes it.
        // SAFETY: as above.
        unsafe { (*cut).next.store(null_mut(), Ordering::Relaxed) };
        // Release: publishes the cut to an owner that next changes the size.
        self.size.fetch_add(0, Ordering::Release);
        let mut stolen = Nodes { start, end: null_mut(), count: 0 };
        // Relaxed, both: equal words show that the owner did nothing that a reload could miss.
        if returns_early && self.size.load(Ordering::Relaxed) == size && self.head.load(Ordering::Relaxed) == head {
            stolen.count = size - skipped - 1;
        } else {
            let mut node = start;
            while !node.is_null() {
                (stolen.end, stolen.count) = (node, stolen.count + 1);
                // SAFETY: the nodes behind the cut belong to this thief.
                node = unsafe { Node::next(node) };
            }
        }
        // AcqRel: the listing names no order here.
        self.size.fetch_sub(stolen.count, Ordering::AcqRel);
        stolen
    }
}

impl Drop for LinkedQueue {
    fn drop(&mut self) {
        drop(Nodes { start: *self.head.get_mut(), ..Nodes::default() });
    }
}

/// The published queue, with the early return or without.
pub(crate) enum Published<const EARLY: bool> {}

// Owner and thief of a queue whose `ALLOWS_BUSY_OWNER` is false do not run at the same time. The
// operations below rely on this.
impl<const EARLY: bool> Queue for Published<EARLY> {
    const NAME: &'static str = if EARLY { PUBLISHED_EARLY } else { PUBLISHED };
    type Owner = Arc<LinkedQueue>;
    type Thief = Arc<LinkedQueue>;
    type Batch = Nodes;

    fn new() -> (Self::Owner, Self::Thief) {
        let queue = Arc::<LinkedQueue>::default();
        (Arc::clone(&queue), queue)
    }

    fn batch(tasks: Range<usize>) -> Nodes {
        let mut nodes = Nodes::default();
        for task in tasks {
            nodes.start = Node::allocate(task, nodes.start);
            nodes.count += 1;
            if nodes.end.is_null() {
                nodes.end = nodes.start;
            }
        }
        nodes
    }

    #[inline(always)]
    fn push_batch(owner: &Self::Owner, batch: Nodes) {
        if !batch.end.is_null() {
            // SAFETY: there is one owner.
            unsafe { owner.push(batch) };
        }
    }

    #[inline(always)]
    fn push(owner: &Self::Owner, task: usize) {
        let node = Node::allocate(task, null_mut());
        // SAFETY: there is one owner.
        unsafe { owner.push(Nodes { start: node, end: node, count: 1 }) };
    }

    #[inline(always)]
    fn pop(owner: &Self::Owner) -> Option<usize> {
        // SAFETY: there is one owner, and no thief steals meanwhile.
        unsafe { owner.pop() }
    }
}

impl<const EARLY: bool> StealShare for Published<EARLY> {
    const ALLOWS_BUSY_OWNER: bool = false;
    type Stolen = Nodes;

    #[inline(always)]
    fn steal(thief: &Self::Thief, percent: usize, taken: &mut Nodes) {
        // SAFETY: there is one thief, and the owner does nothing meanwhile.
        *taken = unsafe { thief.steal(percent as f64 / 100.0, EARLY) };
    }

    fn tasks(taken: Nodes) -> Vec<usize> {
        let count = taken.count;
        let mut tasks: Vec<usize> = taken.collect();
        assert_eq!(tasks.len(), count, "the thief miscounted what it stole");
        tasks.reverse();
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_and_tasks_agree<const EARLY: bool>() {
        type Q<const EARLY: bool> = Published<EARLY>;
        let (owner, thief) = Q::<EARLY>::new();
        let mut left = 0;
        for percent in [10, 50, 60, 100] {
            Q::<EARLY>::push_batch(&owner, Q::<EARLY>::batch(0..100));
            Q::<EARLY>::push_batch(&owner, Q::<EARLY>::batch(0..0));
            left += 100;
            let mut taken = Nodes::default();
            Q::<EARLY>::steal(&thief, percent, &mut taken);
            left -= taken.count;
            // Only the whole walk finds the end, so only such a list can be pushed again.
            assert_eq!(taken.end.is_null(), EARLY || taken.count == 0);
            assert_eq!(owner.size.load(Ordering::Relaxed), left, "{percent} % were stolen");
        }
        assert_eq!(std::iter::from_fn(|| Q::<EARLY>::pop(&owner)).count(), left);
        assert_eq!(owner.size.load(Ordering::Relaxed), 0);
        // These nodes are freed by the queue, the batch and the stolen list.
        Q::<EARLY>::push_batch(&owner, Q::<EARLY>::batch(0..10));
        let _batch = Q::<EARLY>::batch(0..3);
        let mut taken = Nodes::default();
        Q::<EARLY>::steal(&thief, 50, &mut taken);
        assert_eq!((taken.count, taken.next()), (4, Some(3)));
    }

    #[test]
    fn the_size_counts_the_tasks_after_every_steal() {
        size_and_tasks_agree::<false>();
        size_and_tasks_agree::<true>();
    }

    #[test]
    fn a_steal_of_everything_gives_up_as_in_the_listing() {
        let (owner, thief) = Published::<false>::new();
        (0..10).for_each(|task| Published::<false>::push(&owner, task));
        let mut taken = Nodes::default();
        Published::<false>::steal(&thief, 100, &mut taken);
        assert!(Published::<false>::tasks(taken).is_empty());
    }
}
