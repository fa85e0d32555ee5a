//! Tests that change the permissions or limits of their process.
//!
//! So each runs in a process of its own.

use std::env;
use std::process::Command;
#[cfg(not(filch_no_membarrier))]
use std::thread;

use crate::check_message;
use crate::common::{self, Queue, Setup};
#[cfg(not(filch_no_membarrier))]
use crate::seccomp::forbid_membarrier;
#[cfg(not(filch_no_membarrier))]
use filch_queue::{asymmetric, Steal};
use filch_queue::{CapacityError, Owner, Thief};

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
