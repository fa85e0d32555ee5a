//! Capacities, limits of the number of tasks, and deltas.

use crate::common::{self, delta, for_every_array_queue, Queue};
use crate::{check_message, with_capacity};
use filch_queue::bound::{Bound, Delta};
use filch_queue::idempotent::lifo;
use filch_queue::{BoundError, CapacityError, Owner, Steal, Thief};

fn takes_tasks_at_any_small_capacity<Q: Queue>() {
    for capacity in 0..=9 {
        let (owner, thief) = with_capacity::<Q, usize>(capacity).unwrap();
        assert_eq!((owner.pop(), thief.steal()), (None, Steal::Empty));
        for task in 0..100 {
            owner.push(task);
        }
        assert_eq!((owner.len(), thief.len()), (100, 100));
        let mut popped: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        popped.sort_unstable();
        assert!(popped.into_iter().eq(0..100));
        assert!(owner.is_empty() && thief.is_empty());
    }
}

for_every_array_queue!(a_queue_of_any_small_capacity_takes_tasks, takes_tasks_at_any_small_capacity);

fn rejects_capacities_that_are_too_large<Q: Queue>() {
    for capacity in [usize::MAX, usize::MAX - 1, usize::MAX / 2, 1 << 63, 1 << 62, 1 << 61, 1 << 60] {
        let error = with_capacity::<Q, usize>(capacity).unwrap_err();
        let CapacityError::TooLarge { requested, limit } = error else { panic!("{capacity} tasks: {error}") };
        assert_eq!(requested, capacity);
        assert!(limit < capacity);
        check_message(&error, Some(capacity));
        check_message(&error, Some(limit));
        // Tasks without size are still counted, and there is no room for many large tasks.
        for error in
            [with_capacity::<Q, ()>(capacity).unwrap_err(), with_capacity::<Q, [u64; 100]>(capacity).unwrap_err()]
        {
            assert!(matches!(error, CapacityError::TooLarge { .. }), "{capacity} tasks: {error}");
        }
    }
}

for_every_array_queue!(a_capacity_that_is_too_large_is_an_error, rejects_capacities_that_are_too_large);

/// Requests more than an address has bits for, but less than the queue can count.
fn reports_a_failed_allocation<Q: Queue>() {
    let (capacity, error) = match with_capacity::<Q, usize>(1 << 44) {
        // This queue counts no further than 2^27 or 2^30, but tasks may be large.
        Err(CapacityError::TooLarge { limit, .. }) => (limit, with_capacity::<Q, [u64; 1 << 20]>(limit).err()),
        other => (1 << 44, other.err()),
    };
    let error = error.expect("no machine has petabytes of memory");
    let CapacityError::OutOfMemory { requested } = error else { panic!("{capacity} tasks: {error}") };
    assert!(requested >= capacity);
    check_message(&error, Some(requested));
}

for_every_array_queue!(a_failed_allocation_is_an_error, reports_a_failed_allocation);

/// Fills a queue up to the limit of its index fields.
///
/// Tasks without size take up no memory, so this is possible.
fn rejects_a_task_beyond_the_limit<Q: Queue>(limit: usize) {
    let (owner, thief) = with_capacity::<Q, ()>(0).unwrap();
    for _ in 0..limit {
        owner.push(());
    }
    assert_eq!((owner.len(), thief.len()), (limit, limit));
    let error = owner.try_push(()).unwrap_err();
    assert_eq!(error.cause(), CapacityError::TooLarge { requested: limit + 1, limit });
    check_message(&error, Some(limit));
    assert_eq!((owner.len(), owner.pop(), thief.steal()), (limit, Some(()), Steal::Success(())));
    owner.push(());
    owner.push(());
    assert!(owner.try_push(()).is_err());
    assert_eq!(owner.len(), limit);
}

#[test]
fn a_double_ended_queue_holds_tasks_up_to_its_limit() {
    rejects_a_task_beyond_the_limit::<common::DoubleEnded>((1 << 27) - 1);
}

#[test]
fn a_lifo_queue_holds_tasks_up_to_its_limit() {
    rejects_a_task_beyond_the_limit::<common::Lifo>((1 << 30) - 1);
}

#[test]
fn a_thep_queue_holds_tasks_up_to_its_limit() {
    rejects_a_task_beyond_the_limit::<common::ThepTrusted>((1 << 30) - 1);
}

#[test]
fn a_rejected_task_is_returned_by_try_push_and_push_panics_with_the_cause() {
    let (owner, _thief) = lifo::limited_to::<usize>(4, 2).unwrap();
    (0..3).for_each(|task| owner.push(task));
    let error = owner.try_push(3).unwrap_err();
    check_message(&error, Some(3));
    assert!(format!("{error:?}").contains("TooLarge"));
    assert_eq!(error.into_task(), 3);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| owner.push(3))).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<String>().unwrap(),
        "the task was not pushed: a queue of this kind cannot hold 4 tasks: its limit is 3"
    );
    assert_eq!((owner.len(), owner.pop()), (3, Some(2)));
}

#[test]
fn an_unsafe_delta_is_an_error() {
    let refused = [
        (Bound::new(0).unwrap_err(), BoundError::ZeroBound),
        (Bound::of_store_buffer(0).unwrap_err(), BoundError::ZeroBound),
        (Delta::new(Bound::GENEROUS, 0).unwrap_err(), BoundError::NoExtraStore),
        (Delta::new(Bound::GENEROUS, 65).unwrap_err(), BoundError::TooManyExtraStores { requested: 65, limit: 64 }),
    ];
    for (error, expected) in refused {
        assert_eq!(error, expected);
        check_message(&error, None);
    }
    assert_eq!(Delta::new(Bound::of_store_buffer(72).unwrap(), 1).unwrap().get(), 37);
    assert_eq!((delta(1).get(), delta(1).extra_stores()), (64, 1));
    assert_eq!((delta(63).get(), delta(63).extra_stores()), (2, 63));
}
