//! Edge cases of all queues. Impossible sizes, handles that outlive each other, thread bounds, and
//! a kernel that refuses `membarrier`.
#![cfg(not(loom))]

mod common;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(filch_no_membarrier)))]
mod seccomp;

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::thread;

use common::{
    claim, delta, for_every_array_queue, for_every_exact_queue, for_every_queue, steal, End, ExactQueue, Made, Queue,
    Setup,
};
use filch_queue::bound::{Bound, Delta, Trusted, Untrusted, FENCE_FREE};
use filch_queue::idempotent::{double_ended, fifo, lifo};
use filch_queue::{asymmetric, chase_lev, ff_cl, ff_the, the, thep};
use filch_queue::{AtLeastOnce, BoundError, CapacityError, ExactlyOnce, Owner, Steal, Thief};

fn with_capacity<Q: Queue, T: Copy + Send>(capacity: usize) -> Made<Q::Owner<T>, Q::Thief<T>> {
    Q::make(Setup { capacity, ..Setup::small() })
}

/// Checks that the message is a sentence.
///
/// It begins with a letter, has several words, and contains the requested number.
fn check_message(error: &dyn Error, requested: Option<usize>) {
    let message = error.to_string();
    assert!(message.split(' ').count() > 5, "too short: {message}");
    if let Some(requested) = requested {
        assert!(message.contains(&requested.to_string()), "{requested} is not in: {message}");
    }
}

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

fn has_debug_output<Q: Queue>() {
    let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    owner.push(1);
    owner.push(2);
    let module = Q::NAME.split(',').next().unwrap();
    assert_eq!(format!("{owner:?}"), format!("{module}::Owner {{ len: 2, .. }}"));
    assert_eq!(format!("{thief:?}"), format!("{module}::Thief {{ len: 2, .. }}"));
}

for_every_array_queue!(debug_output_of_handles_has_the_name_and_length_of_the_queue, has_debug_output);

#[test]
fn or_else_tries_one_victim_after_the_other() {
    let (first, first_thief) = chase_lev::new();
    let (second, second_thief) = fifo::new();
    let (doubtful, doubtful_thief) = ff_cl::new(delta(1));
    let round = || first_thief.steal().or_else(|| doubtful_thief.steal()).or_else(|| second_thief.steal());
    assert_eq!(round(), Steal::Empty);
    doubtful.push(1);
    let doubt = if FENCE_FREE { Steal::Abort } else { Steal::Success(1) };
    assert_eq!(round(), doubt);
    doubtful.push(1);
    second.push(2);
    let next = if FENCE_FREE { Steal::Success(2) } else { Steal::Success(1) };
    assert_eq!(round(), next);
    first.push(3);
    assert_eq!(round().map(|task: usize| task * 10), Steal::Success(30));
    // No task is stolen from a victim that comes after a success.
    (4..7).for_each(|task| first.push(task));
    let thieves = [&first_thief, &first_thief, &first_thief];
    let found: Steal<usize> = thieves.into_iter().map(Thief::steal).collect();
    assert_eq!((found.success(), first.len()), (Some(4), 2));
}

/// Generic code that requires exactly once, for the types that guarantee it.
fn run_once<O, W>((owner, thief): (O, W)) -> usize
where
    O: Owner<Task = Box<usize>> + ExactlyOnce,
    W: Thief<Task = Box<usize>> + ExactlyOnce,
{
    (0..100).for_each(|task| owner.push(Box::new(task)));
    let stolen = thief.steal().success().map_or(0, |task| *task);
    stolen + std::iter::from_fn(|| owner.pop()).map(|task| *task).sum::<usize>()
}

fn run_at_least_once<O, W>((owner, thief): (O, W)) -> usize
where
    O: Owner<Task = usize> + AtLeastOnce,
    W: Thief<Task = usize> + AtLeastOnce,
{
    (0..100).for_each(|task| owner.push(task));
    let stolen = thief.steal().success().unwrap_or(0);
    stolen + std::iter::from_fn(|| owner.pop()).sum::<usize>()
}

fn works_where_exactly_once_is_required<Q: ExactQueue>() {
    assert_eq!(run_once(Q::make_exact(Setup::small()).unwrap()), 4950);
}

fn works_where_at_least_once_is_required<Q: Queue>() {
    assert_eq!(run_at_least_once(Q::make(Setup::small()).unwrap()), 4950);
}

for_every_exact_queue!(
    exactly_once_queues_work_in_code_that_requires_exactly_once,
    works_where_exactly_once_is_required
);
for_every_queue!(all_queues_work_in_code_that_requires_at_least_once, works_where_at_least_once_is_required);

/// Asserts that a type does not implement a trait.
///
/// If it does, there are two candidates for `_`, and the code does not compile.
mod not {
    use filch_queue::ExactlyOnce;

    pub(crate) enum Known {}

    macro_rules! not {
        ($name:ident, $what:path) => {
            pub(crate) trait $name<Way> {
                fn check() {}
            }
            impl<T: ?Sized> $name<()> for T {}
            impl<T: ?Sized + $what> $name<Known> for T {}
        };
    }

    not!(NotSend, Send);
    not!(NotSync, Sync);
    not!(NotClone, Clone);
    not!(NotExactlyOnce, ExactlyOnce);
}

macro_rules! handles {
    ($($owner:ident, $thief:ident: $module:ident <Task $(, $kind:ty)?>;)+) => {
        $(
            type $owner<Task> = $module::Owner<Task $(, $kind)?>;
            type $thief<Task> = $module::Thief<Task $(, $kind)?>;
        )+
    };
}

handles! {
    ChaseLevOwner, ChaseLevThief: chase_lev<Task>;
    TheOwner, TheThief: the<Task>;
    AsymmetricOwner, AsymmetricThief: asymmetric<Task>;
    FfClOwner, FfClThief: ff_cl<Task>;
    FfTheOwner, FfTheThief: ff_the<Task>;
    ThepOwner, ThepThief: thep<Task>;
    TrustedFfClOwner, TrustedFfClThief: ff_cl<Task, Trusted>;
    TrustedFfTheOwner, TrustedFfTheThief: ff_the<Task, Trusted>;
    TrustedThepOwner, TrustedThepThief: thep<Task, Trusted>;
    LifoOwner, LifoThief: lifo<Task>;
    FifoOwner, FifoThief: fifo<Task>;
    DoubleEndedOwner, DoubleEndedThief: double_ended<Task>;
}

/// The test is that it compiles.
#[test]
fn handles_are_send_and_sync_only_where_that_is_sound() {
    use not::{NotClone, NotSend, NotSync};

    fn send<T: Send>() {}
    fn send_and_sync<T: Send + Sync>() {}

    macro_rules! check {
        ($task:ty, $rc:ty: $($owner:ident $thief:ident),+) => {$(
            send::<$owner<$task>>();
            <$owner<$task> as NotSync<_>>::check();
            <$owner<$task> as NotClone<_>>::check();
            send_and_sync::<$thief<$task>>();
            // A task that is not `Send` makes the handles not `Send`.
            <$owner<$rc> as NotSend<_>>::check();
            <$owner<$rc> as NotSync<_>>::check();
            <$thief<$rc> as NotSend<_>>::check();
            <$thief<$rc> as NotSync<_>>::check();
        )+};
    }

    // A cell is `Send` but not `Sync`, and a queue needs only `Send`.
    check!(Cell<usize>, Rc<usize>: ChaseLevOwner ChaseLevThief, TheOwner TheThief, AsymmetricOwner AsymmetricThief,
        TrustedFfClOwner TrustedFfClThief, TrustedFfTheOwner TrustedFfTheThief, TrustedThepOwner TrustedThepThief,
        FfClOwner FfClThief, FfTheOwner FfTheThief, ThepOwner ThepThief);
    // Of the `Copy` types, a reference to a cell is not `Send`.
    check!(usize, &'static Cell<usize>: LifoOwner LifoThief, FifoOwner FifoThief, DoubleEndedOwner DoubleEndedThief);
}

/// The test is that it compiles.
#[test]
fn only_exactly_once_queues_implement_exactly_once() {
    use not::NotExactlyOnce;

    fn exactly_once<T: ExactlyOnce>() {}

    macro_rules! check {
        ($($once:ident)+; $($more:ident)+) => {
            $(exactly_once::<$once<usize>>();)+
            $(<$more<usize> as NotExactlyOnce<_>>::check();)+
        };
    }

    check!(
        ChaseLevOwner ChaseLevThief TheOwner TheThief AsymmetricOwner AsymmetricThief TrustedFfClOwner TrustedFfClThief
        TrustedFfTheOwner TrustedFfTheThief TrustedThepOwner TrustedThepThief;
        FfClOwner FfClThief FfTheOwner FfTheThief ThepOwner ThepThief LifoOwner LifoThief FifoOwner FifoThief
        DoubleEndedOwner DoubleEndedThief
    );
    // The safe constructors return the untrusted types.
    let _: (ff_cl::Owner<usize, Untrusted>, ff_cl::Thief<usize, Untrusted>) = ff_cl::new(delta(1));
    let _: (ff_the::Owner<usize, Untrusted>, ff_the::Thief<usize, Untrusted>) = ff_the::new(delta(1));
    let _: (thep::Owner<usize, Untrusted>, thep::Thief<usize, Untrusted>) = thep::new(delta(1));
}

#[test]
fn the_modes_of_the_asymmetric_queue_have_names() {
    assert_eq!(asymmetric::Mode::Membarrier.to_string(), "membarrier");
    assert_eq!(asymmetric::Mode::Fenced.to_string(), "fenced");
}

#[cfg(any(filch_no_membarrier, not(target_os = "linux")))]
#[test]
fn an_asymmetric_queue_without_membarrier_is_fenced_from_the_start() {
    let (owner, thief) = asymmetric::new();
    assert_eq!((owner.mode(), thief.mode()), (asymmetric::Mode::Fenced, asymmetric::Mode::Fenced));
    owner.push(1);
    owner.push(2);
    assert_eq!((thief.steal(), owner.pop(), owner.pop()), (Steal::Success(1), Some(2), None));
}

/// Tests that change the permissions or limits of their process.
///
/// So each runs in a process of its own.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod separate_process {
    use std::env;
    use std::process::Command;

    #[cfg(not(filch_no_membarrier))]
    use super::seccomp::forbid_membarrier;
    use super::*;

    const CHILD: &str = "FILCH_QUEUE_TEST_CHILD";
    const DONE: &str = "the child has checked everything";

    /// Runs the test of this name again, in a new process, which calls `check`.
    fn in_new_process(test: &str, check: fn()) {
        if env::var_os(CHILD).is_some() {
            check();
            println!("{DONE}");
            return;
        }
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("separate_process::{test}"), "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&child.stdout);
        let stderr = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success() && stdout.contains(DONE), "{}\n{stdout}\n{stderr}", child.status);
    }

    /// Returns whether the kernel has the call that the asymmetric queue makes.
    #[cfg(not(filch_no_membarrier))]
    fn has_membarrier() -> bool {
        // SAFETY: the call takes three integers.
        let commands = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0, 0) };
        commands > 0 && commands & i64::from(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0
    }

    #[cfg(not(filch_no_membarrier))]
    #[test]
    fn if_membarrier_fails_at_first_an_asymmetric_queue_is_fenced_from_the_start() {
        in_new_process("if_membarrier_fails_at_first_an_asymmetric_queue_is_fenced_from_the_start", || {
            forbid_membarrier();
            let (owner, thief) = asymmetric::new();
            assert_eq!((owner.mode(), thief.mode()), (asymmetric::Mode::Fenced, asymmetric::Mode::Fenced));
            (0..4).for_each(|task| owner.push(task));
            assert_eq!((thief.steal(), owner.pop()), (Steal::Success(0), Some(3)));
            thread::scope(|scope| {
                assert_eq!(scope.spawn(|| thief.steal()).join().unwrap(), Steal::Success(1));
            });
            assert_eq!((owner.pop(), owner.pop(), thief.steal()), (Some(2), None, Steal::Empty));
        });
    }

    #[cfg(not(filch_no_membarrier))]
    #[test]
    fn if_membarrier_fails_later_the_owner_of_an_asymmetric_queue_fences() {
        in_new_process("if_membarrier_fails_later_the_owner_of_an_asymmetric_queue_fences", || {
            use asymmetric::Mode;

            let (owner, thief) = asymmetric::new();
            if !has_membarrier() {
                assert_eq!(owner.mode(), Mode::Fenced);
                return;
            }
            let (other, others_thief) = asymmetric::new();
            assert_eq!((owner.mode(), thief.mode()), (Mode::Membarrier, Mode::Membarrier));
            (0..9).for_each(|task| owner.push(task));
            assert_eq!((thief.steal(), owner.pop()), (Steal::Success(0), Some(8)));

            forbid_membarrier();
            assert_eq!((thief.steal(), thief.steal(), owner.mode()), (Steal::Abort, Steal::Abort, Mode::Membarrier));
            // A push does not change the mode; a pop does.
            owner.push(8);
            assert_eq!(thief.steal(), Steal::Abort);
            assert_eq!((owner.pop(), owner.mode(), thief.mode()), (Some(8), Mode::Fenced, Mode::Fenced));
            assert_eq!((thief.steal(), thief.steal(), owner.pop()), (Steal::Success(1), Steal::Success(2), Some(7)));
            assert_eq!(owner.mode(), Mode::Fenced, "the mode stays fenced");

            // Another queue of that time detects it by itself. Its owner is dropped without a pop,
            // which has the same effect.
            other.push(1);
            assert_eq!((other.mode(), others_thief.steal()), (Mode::Membarrier, Steal::Abort));
            drop(other);
            assert_eq!((others_thief.steal(), others_thief.steal()), (Steal::Success(1), Steal::Empty));

            // A queue that is created now is fenced from the start.
            let (owner, thief) = asymmetric::new();
            owner.push(1);
            assert_eq!((owner.mode(), thief.steal()), (Mode::Fenced, Steal::Success(1)));
        });
    }

    /// Fills the queue until memory is exhausted.
    fn returns_the_task_if_memory_is_exhausted<Q: Queue>() {
        type Large = [usize; 64];
        let (owner, thief) = Q::make::<Large>(Setup::small()).unwrap();
        let refused = (0..).find_map(|n| owner.try_push([n; 64]).err()).unwrap();
        let cause = refused.cause();
        assert!(matches!(cause, CapacityError::OutOfMemory { .. }), "{}: {cause}", Q::NAME);
        check_message(&refused, None);
        let tasks = refused.into_task()[0];
        assert_eq!((owner.len(), thief.len()), (tasks, tasks), "{}", Q::NAME);
        // After a pop there is room for a single task.
        let youngest = owner.pop().unwrap();
        owner.try_push(youngest).unwrap();
        assert!(owner.try_push(youngest).is_err(), "{}", Q::NAME);
        let mut left: Vec<usize> = std::iter::from_fn(|| owner.pop()).map(|task| task[0]).collect();
        left.sort_unstable();
        assert!(left.into_iter().eq(0..tasks), "{}", Q::NAME);
    }

    #[test]
    fn a_push_without_memory_returns_its_task_and_does_not_change_the_queue() {
        in_new_process("a_push_without_memory_returns_its_task_and_does_not_change_the_queue", || {
            let megabytes = libc::rlimit { rlim_cur: 256 << 20, rlim_max: 256 << 20 };
            // SAFETY: the limit outlives the call.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, std::ptr::addr_of!(megabytes)) }, 0);
            returns_the_task_if_memory_is_exhausted::<common::ChaseLev>();
            returns_the_task_if_memory_is_exhausted::<common::The>();
            returns_the_task_if_memory_is_exhausted::<common::Asymmetric>();
            returns_the_task_if_memory_is_exhausted::<common::Bulk>();
            returns_the_task_if_memory_is_exhausted::<common::FfCl>();
            returns_the_task_if_memory_is_exhausted::<common::FfThe>();
            returns_the_task_if_memory_is_exhausted::<common::Thep>();
            returns_the_task_if_memory_is_exhausted::<common::FfClTrusted>();
            returns_the_task_if_memory_is_exhausted::<common::FfTheTrusted>();
            returns_the_task_if_memory_is_exhausted::<common::ThepTrusted>();
            returns_the_task_if_memory_is_exhausted::<common::Lifo>();
            returns_the_task_if_memory_is_exhausted::<common::Fifo>();
            returns_the_task_if_memory_is_exhausted::<common::DoubleEnded>();
        });
    }
}
