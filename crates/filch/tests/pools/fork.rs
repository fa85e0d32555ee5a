//! The child of `fork(2)` has none of the threads of the pools, and its calls panic.

use std::io;
use std::sync::Barrier;

use crate::common::{assert_child_passed, catch_message, fib, pool, run_in_child, spin_until};
use filch::Pool;

/// Forks the process. Returns whether the child has ended well.
fn child_succeeds_after_fork(child: impl FnOnce()) -> bool {
    // SAFETY: the child runs the closure and ends. No thread that is missing in the child has left
    // a lock that it uses locked (the tests below fork only when the pool is asleep).
    match unsafe { libc::fork() } {
        -1 => panic!("{}", io::Error::last_os_error()),
        0 => {
            // A hang would last forever: the watchdog's thread is not in the child.
            // SAFETY: ends the process after 200 seconds.
            unsafe { libc::alarm(200) };
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            // SAFETY: ends the child, without the destructors that only the parent may run.
            unsafe { libc::_exit(if ended.is_ok() { 0 } else { 1 }) }
        }
        process => {
            let mut status = 0;
            // SAFETY: waits for the child.
            assert_eq!(unsafe { libc::waitpid(process, &mut status, 0) }, process);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

fn wait_until_asleep(pool: &Pool) {
    spin_until(|| {
        let total = pool.stats().total();
        total.sleeps == total.wakes + pool.current_num_threads() as u64
    });
}

const AFTER_FORK: &str =
    "this pool was started before fork(2), and the child process has none of its threads: build a new pool there";

#[test]
fn after_a_fork_calls_into_the_pool_panic_in_the_child() {
    let child = run_in_child("fork::after_a_fork_calls_into_the_pool_panic_in_the_child", &[], || {
        let pool = pool(2);
        assert_eq!(pool.install(|| fib(10)), 55);
        wait_until_asleep(&pool);
        assert!(child_succeeds_after_fork(|| {
            assert_eq!(catch_message(|| pool.install(|| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.join(|| (), || ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.scope(|_| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.spawn(|| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.broadcast(|_| ())), AFTER_FORK);
        }));
        // The parent's pool is as before.
        assert_eq!(pool.install(|| fib(10)), 55);
    });
    assert_child_passed(child);
}

#[test]
fn after_a_fork_the_child_can_drop_the_pool_and_build_another() {
    let child = run_in_child("fork::after_a_fork_the_child_can_drop_the_pool_and_build_another", &[], || {
        let old = pool(2);
        assert_eq!(old.install(|| fib(10)), 55);
        wait_until_asleep(&old);
        let mut old = Some(old);
        assert!(child_succeeds_after_fork(|| {
            drop(old.take());
            let new = pool(2);
            let barrier = Barrier::new(2);
            for _ in 0..100 {
                new.join(|| barrier.wait(), || barrier.wait());
            }
            assert_eq!(new.install(|| fib(15)), 610);
        }));
        assert_eq!(old.take().map(|old| old.install(|| fib(10))), Some(55));
    });
    assert_child_passed(child);
}

#[test]
fn after_a_fork_on_a_worker_calls_into_other_pools_panic_in_the_child() {
    let child = run_in_child("fork::after_a_fork_on_a_worker_calls_into_other_pools_panic_in_the_child", &[], || {
        let (here, there) = (pool(1), pool(1));
        there.install(|| ());
        wait_until_asleep(&there);
        here.install(|| {
            assert!(child_succeeds_after_fork(|| {
                assert_eq!(catch_message(|| there.install(|| ())), AFTER_FORK);
            }));
        });
    });
    assert_child_passed(child);
}
