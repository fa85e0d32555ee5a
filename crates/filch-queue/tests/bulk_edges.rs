//! Edge cases of the bulk queue.
//!
//! Invalid shares, tasks whose drop panics, the maximum number of tasks, and handles that are
//! dropped in any order.
#![cfg(not(loom))]

use std::error::Error;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use filch_queue::bulk::{self, Batch, FractionError};
use filch_queue::{CapacityError, Steal};

#[test]
fn an_invalid_share_is_an_error_and_steals_no_task() {
    let (owner, thief) = bulk::new();
    owner.push_batch((0..10).collect());
    for wrong in [f64::NAN, -0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
        let error: FractionError = thief.steal(wrong).unwrap_err();
        assert!(error.to_string().contains("from 0 to 1"), "{error}");
        assert_eq!(owner.len(), 10);
    }
    let error: Box<dyn Error> = thief.try_steal(2.0).unwrap_err().into();
    assert!(error.to_string().contains("a share of 2"), "{error}");
    assert!(thief.steal(1.0).unwrap().into_iter().eq(0..10));
}

#[test]
fn a_share_of_0_takes_no_task_and_the_smallest_share_takes_one() {
    let (owner, thief) = bulk::new();
    owner.push_batch((0..10).collect());
    assert!(thief.steal(0.0).unwrap().is_empty());
    assert!(thief.steal(-0.0).unwrap().is_empty());
    assert!(thief.steal(f64::MIN_POSITIVE).unwrap().into_iter().eq([0]));
    assert!(thief.steal(1.0).unwrap().into_iter().eq(1..10));
    assert!(thief.steal(1.0).unwrap().is_empty());
}

#[test]
fn a_steal_during_another_steal_gets_tasks_unless_the_other_succeeds() {
    // A steal calls no code of the test that could be interrupted. So two threads try until they
    // interfere, or until it is clear that there is a single core.
    let (owner, thief) = bulk::new();
    let (retries, stolen) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let pushed = 100_000;
    owner.push_batch((0..pushed).collect());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                match thief.try_steal(f64::MIN_POSITIVE).unwrap() {
                    Steal::Success(batch) => drop(stolen.fetch_add(batch.len(), Ordering::Relaxed)),
                    Steal::Retry => drop(retries.fetch_add(1, Ordering::Relaxed)),
                    Steal::Empty => break,
                    Steal::Abort => panic!("a bulk queue never leaves a thief in doubt"),
                }
            });
        }
    });
    assert_eq!(stolen.into_inner(), pushed);
    let retries = retries.into_inner();
    assert!(retries <= pushed, "more steals have failed than succeeded on two threads");
    if retries == 0 {
        eprintln!("no thief met another; was there one core only?");
    }
}

#[test]
fn a_batch_returns_its_tasks_from_either_end() {
    let mut batch: Batch<usize> = Batch::new();
    assert!(batch.pop().is_none() && batch.is_empty());
    for task in 0..1000 {
        batch.push(task);
        batch.push(task + 1);
        assert_eq!(batch.pop(), Some(task + 1));
    }
    assert_eq!((batch.len(), batch.iter().copied().sum::<usize>()), (1000, (0..1000).sum()));
    for task in (500..1000).rev() {
        assert_eq!(batch.pop(), Some(task));
    }
    batch.extend(500..600);
    let mut tasks = batch.into_iter();
    assert_eq!(tasks.len(), 600);
    assert!(tasks.by_ref().take(300).eq(0..300));
    assert_eq!((tasks.len(), tasks.next()), (300, Some(300)));
    assert!(format!("{tasks:?} {:?}", Batch::<u8>::default()).contains("len: 299"));
    drop(tasks);
    assert_eq!(Batch::<usize>::new().into_iter().next(), None);
}

#[test]
fn a_batch_or_task_beyond_the_limit_is_returned() {
    const LIMIT: usize = (1 << 31) - 1;
    let many = |count: usize| Batch::from(vec![(); count]);
    let (owner, thief) = bulk::starting_at::<()>(u32::MAX - 7, 3).unwrap();
    let refused = owner.try_push_batch(many(LIMIT + 1)).unwrap_err();
    assert_eq!(refused.cause(), CapacityError::TooLarge { requested: LIMIT + 1, limit: LIMIT });
    assert_eq!((refused.into_task().len(), owner.len()), (LIMIT + 1, 0));
    owner.push_batch(many(LIMIT - 2));
    assert!(owner.try_push_batch(many(3)).is_err());
    owner.push(());
    owner.push_batch(many(1));
    assert_eq!(owner.try_push(()).unwrap_err().cause(), CapacityError::TooLarge { requested: LIMIT + 1, limit: LIMIT });
    assert!(owner.try_push_batch(many(1)).is_err());
    assert_eq!((owner.len(), owner.pop(), thief.len()), (LIMIT, Some(()), LIMIT - 1));
    // Stolen tasks make room.
    let half = thief.steal(0.5).unwrap();
    assert_eq!((half.len(), owner.len()), (LIMIT / 2, LIMIT / 2));
    owner.push_batch(half);
    assert_eq!(thief.steal(1.0).unwrap().len(), LIMIT - 1);
    assert_eq!(owner.pop(), None);
}

/// A task whose drop panics if `panics` is set.
struct PanicOnDrop {
    panics: bool,
    dropped: Arc<AtomicUsize>,
}

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "the drop panics");
    }
}

#[test]
fn if_the_drop_of_a_task_panics_the_other_tasks_are_dropped() {
    for panicking in [0, 1, 99, 150, 199, 250] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let batch = |ids: std::ops::Range<usize>| -> Batch<PanicOnDrop> {
            ids.map(|id| PanicOnDrop { panics: id == panicking, dropped: Arc::clone(&dropped) }).collect()
        };
        // In a queue, in a batch of several runs, and in the middle of an iterator.
        let (owner, thief) = bulk::new();
        owner.push_batch(batch(0..100));
        owner.push_batch(batch(100..200));
        batch(200..300).into_iter().for_each(|task| owner.push(task));
        drop(owner);
        catch_unwind(AssertUnwindSafe(|| drop(thief))).unwrap_err();
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 300);

        let (owner, thief) = bulk::new();
        owner.push_batch(batch(0..100));
        owner.push_batch(batch(100..200));
        owner.push_batch(batch(200..300));
        let stolen = thief.steal(1.0).unwrap();
        catch_unwind(AssertUnwindSafe(|| drop(stolen))).unwrap_err();
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 300);
    }
}

#[test]
fn the_last_handle_drops_the_remaining_tasks_in_any_order() {
    for thief_first in [false, true] {
        let precious = Arc::new(());
        let (owner, thief) = bulk::starting_at(u32::MAX - 50, u32::MAX - 100).unwrap();
        owner.push_batch((0..1000).map(|_| precious.clone()).collect());
        (0..500).for_each(|_| owner.push(precious.clone()));
        let stolen = thief.steal(0.1).unwrap();
        (0..100).for_each(|_| drop(owner.pop()));
        assert_eq!(Arc::strong_count(&precious), 1 + 1400);
        if thief_first {
            drop(thief);
            assert_eq!(Arc::strong_count(&precious), 1 + 1400);
            drop(owner);
        } else {
            drop(owner);
            assert!(thief.steal_one().is_some());
            drop(thief);
        }
        assert_eq!(Arc::strong_count(&precious), 1 + 150, "the batch outlives its queue");
        drop(stolen);
        assert_eq!(Arc::strong_count(&precious), 1);
    }
}

#[test]
fn a_stolen_batch_is_pushed_on_without_moving_its_tasks() {
    let (owner, thief) = bulk::new();
    owner.push_batch((0..1000_usize).collect());
    let places: Vec<*const usize> = {
        let all = thief.steal(1.0).unwrap();
        let places = all.iter().map(std::ptr::from_ref).collect();
        owner.push_batch(all);
        places
    };
    for share in [0.25, 0.5, 1.0] {
        let (other, next) = bulk::new();
        other.push_batch(thief.steal(share).unwrap());
        let again = next.steal(1.0).unwrap();
        assert!(again.iter().all(|task| std::ptr::from_ref(task) == places[*task]));
    }
}

/// Passes the tasks of batches through blocks that are shared, left and reentered.
#[test]
fn batches_between_single_tasks_come_out_in_order() {
    let (owner, thief) = bulk::new();
    let mut pushed = 0..;
    let mut next = |count: usize| pushed.by_ref().take(count).collect::<Vec<usize>>();
    for round in 0..100 {
        next(3).into_iter().for_each(|task| owner.push(task));
        owner.push_batch(Batch::from(next(100 + round)));
        owner.push_batch(Batch::from(next(5)));
    }
    let total = owner.len();
    let third = thief.steal(1.0 / 3.0).unwrap();
    let stolen = third.len();
    assert!(third.into_iter().eq(0..stolen));
    let popped: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
    assert!(popped.into_iter().rev().eq(stolen..total));
}

#[test]
fn handles_of_a_bulk_queue_have_debug_output_and_are_send_and_sync() {
    fn send<T: Send>(_: &T) {}
    fn send_and_sync<T: Send + Sync>(_: &T) {}
    let (owner, thief) = bulk::new::<std::cell::Cell<u8>>();
    owner.push(std::cell::Cell::new(1));
    send(&owner);
    send_and_sync(&thief);
    assert_eq!(format!("{owner:?} {thief:?}"), "bulk::Owner { len: 1, .. } bulk::Thief { len: 1, .. }");
    send_and_sync(&Batch::from(vec![1_u8]));
    send(&thief.steal(1.0).unwrap());
    assert_eq!(filch_queue::Thief::steal(&thief), Steal::Empty);
}

#[test]
fn a_pop_after_2_to_32_pushes_finds_the_tasks() {
    let (owner, thief) = bulk::new::<()>();
    owner.push_batch(vec![(); 1 << 30].into());
    for _ in 0..3 {
        owner.push_batch(thief.steal(1.0).unwrap());
    }
    assert_eq!((owner.len(), owner.pop()), (1 << 30, Some(())));
}
