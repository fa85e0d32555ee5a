//! Handles that outlive each other or move to other threads, and thieves that wait for an owner.

use std::thread;

use crate::common::{claim, delta, for_every_exact_queue, for_every_queue, steal, End, ExactQueue, Queue, Setup};
use filch_queue::{Owner, Steal, Thief};

/// Checks that the thief gets all tasks. These include the last tasks, about which it was in doubt
/// before.
fn lets_the_thief_steal_all<Q: Queue>() {
    for tasks in [0, 1, 2, 63, 64, 65, 3000] {
        let (owner, thief) = Q::make::<usize>(Setup::wrapping_after(100)).unwrap();
        // A pop and a push that settles it, so that the owner has been in every state.
        (0..tasks).for_each(|task| owner.push(task));
        owner.push(tasks);
        assert_eq!(owner.pop(), Some(if Q::POP == End::Oldest { 0 } else { tasks }));
        let left = if Q::POP == End::Oldest { 1..tasks + 1 } else { 0..tasks };
        drop(owner);
        assert_eq!(thief.len(), tasks);
        let stolen: Vec<_> = std::iter::from_fn(|| thief.clone().steal().success()).collect();
        match Q::STEAL {
            End::Oldest => assert!(stolen.into_iter().eq(left)),
            End::Youngest => assert!(stolen.into_iter().eq(left.rev())),
        }
        assert_eq!((thief.len(), thief.steal()), (0, Steal::Empty));
    }
}

for_every_queue!(a_thief_that_outlives_the_owner_steals_every_remaining_task, lets_the_thief_steal_all);

fn works_without_thieves<Q: Queue>() {
    let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    drop(thief.clone());
    (0..5000).for_each(|task| owner.push(task));
    drop(thief);
    (5000..9000).for_each(|task| owner.push(task));
    assert_eq!(std::iter::from_fn(|| owner.pop()).count(), 9000);
}

for_every_queue!(an_owner_that_outlives_its_thieves_pops_every_task, works_without_thieves);

/// A task that exists once and whose drop is detected.
type Precious = std::sync::Arc<()>;

fn drops_the_remaining_tasks<Q: ExactQueue>() {
    for (tasks, pops) in [(1, 0), (100, 10), (3000, 1), (3000, 2999)] {
        let precious = Precious::new(());
        let held = || Precious::strong_count(&precious) - 1;
        let (owner, thief) = Q::make_exact(Setup::wrapping_after(50)).unwrap();
        let other = thief.clone();
        (0..tasks).for_each(|_| owner.push(precious.clone()));
        (0..pops).for_each(|_| drop(owner.pop()));
        drop(owner);
        assert_eq!(held(), tasks - pops, "the thieves keep the tasks");
        drop(other);
        assert_eq!(held(), tasks - pops, "one more thief is left");
        let stolen = usize::from(thief.steal().is_success());
        assert_eq!((held(), stolen), (tasks - pops - 1, 1));
        drop(thief);
        assert_eq!(held(), 0);
    }
}

for_every_exact_queue!(the_last_handle_drops_the_remaining_tasks, drops_the_remaining_tasks);

fn works_on_another_thread<Q: Queue>() {
    let (mut owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    for threads in 1..=8 {
        owner = thread::scope(|scope| {
            let elsewhere = scope.spawn(move || {
                (0..500).for_each(|task| owner.push(task));
                (0..100).for_each(|_| assert!(owner.pop().is_some()));
                owner
            });
            elsewhere.join().unwrap()
        });
        assert_eq!((owner.len(), thief.len()), (400 * threads, 400 * threads));
    }
}

for_every_queue!(an_owner_works_on_the_thread_that_it_is_moved_to, works_on_another_thread);

/// Checks that a waiting thief stops waiting.
///
/// The cause is a pop, a push beyond delta, or the drop of the owner.
fn ends_the_wait_of_a_thief<Q: Queue>() {
    for release in 0..3 {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        (0..10).for_each(|task| owner.push(task));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| steal(&thief));
            match release {
                0 => {
                    while !waiting.is_finished() {
                        owner.push(10);
                        assert_eq!(owner.pop(), Some(10));
                        thread::yield_now();
                    }
                }
                1 => (10..10 + delta(1).get()).for_each(|task| owner.push(task)),
                _ => drop(owner),
            }
            assert_eq!(waiting.join().unwrap(), Steal::Success(0));
        });
    }
}

claim!(a_thief_that_waits_for_the_owner_does_not_wait_forever, ends_the_wait_of_a_thief, thep Thep, thep_trusted ThepTrusted);

/// Checks that no thief waits forever if the owner takes all tasks.
fn ends_the_wait_of_a_thief_at_an_empty_queue<Q: Queue>() {
    for _ in 0..1000 {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        (0..10).for_each(|task| owner.push(task));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| steal(&thief));
            let popped = std::iter::from_fn(|| owner.pop()).count();
            let stolen = waiting.join().unwrap();
            assert!(matches!(stolen, Steal::Empty | Steal::Success(0)), "{stolen:?}");
            assert_eq!(popped + usize::from(stolen.is_success()), 10);
        });
    }
}

claim!(a_thief_that_waits_for_the_owner_sees_it_take_the_last_task, ends_the_wait_of_a_thief_at_an_empty_queue, thep Thep,
    thep_trusted ThepTrusted);
