//! Programs that deadlock if a waiting worker runs anything (rayon's issues 592, 1142, 1174, 1205
//! and 1251). A job that the worker runs during the wait needs a lock that the same worker already
//! holds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};

use crate::common::{build, flag, in_place_builder, is_set, set, spin_until};
use crate::{rounds, watchdog};
use filch::{Pool, Waiting};

/// Runs `program` on a pool of each kind that waits strictly, one after the other.
fn repeat_with_strict_pools(threads: usize, program: impl Fn(&Pool)) {
    for builder in
        [Pool::builder().threads(threads), Pool::builder().threads(threads).fork_depth(1), in_place_builder(threads)]
    {
        let pool = build(builder.waiting(Waiting::Strict));
        (0..rounds()).for_each(|_| program(&pool));
    }
}

/// Runs the closure for each number below `count`, by a tree of joins.
fn for_each(count: usize, f: &(impl Fn(usize) + Sync)) {
    fn for_range(from: usize, to: usize, f: &(impl Fn(usize) + Sync)) {
        if to - from == 1 {
            return f(from);
        }
        let middle = from + (to - from) / 2;
        filch::join(|| for_range(from, middle, f), || for_range(middle, to, f));
    }
    for_range(0, count, f);
}

/// Computes a sum, so that others can steal a part.
fn sum(count: usize) -> usize {
    let sum = AtomicUsize::new(0);
    for_each(count, &|number| {
        std::thread::yield_now();
        sum.fetch_add(number, Ordering::Relaxed);
    });
    sum.into_inner()
}

fn loop_under_a_mutex(pool: &Pool) {
    let mutex = Mutex::new(0);
    pool.install(|| for_each(16, &|_| *mutex.lock().unwrap() += sum(8)));
    assert_eq!(mutex.into_inner().unwrap(), 16 * 28);
}

#[test]
fn a_parallel_loop_under_a_mutex_inside_a_loop_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, loop_under_a_mutex);
}

fn lazy_value(pool: &Pool) {
    let (value, computed) = (OnceLock::new(), AtomicUsize::new(0));
    let compute = || {
        computed.fetch_add(1, Ordering::Relaxed);
        sum(16)
    };
    pool.install(|| for_each(16, &|_| assert_eq!(*value.get_or_init(compute), 120)));
    assert_eq!(computed.into_inner(), 1);
}

#[test]
fn a_lazy_value_computed_by_a_parallel_loop_is_computed_once() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, lazy_value);
}

/// A reader, a writer that waits for it, and two readers behind the writer. Two workers are free.
fn readers_and_a_writer(pool: &Pool) {
    let (lock, is_read_locked, writer_waits) = (RwLock::new(0), flag(), flag());
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let guard = lock.read().unwrap();
            set(&is_read_locked);
            spin_until(|| is_set(&writer_waits));
            assert_eq!(sum(16) + *guard, 120);
        });
        scope.spawn(|_| {
            spin_until(|| is_set(&is_read_locked));
            set(&writer_waits);
            *lock.write().unwrap() += 1;
        });
        for _ in 0..2 {
            scope.spawn(|_| {
                spin_until(|| is_set(&writer_waits));
                let guard = lock.read().unwrap();
                assert!(*guard <= 1 && sum(16) == 120);
            });
        }
    });
}

#[test]
fn a_reader_with_a_parallel_loop_ends_while_a_writer_and_readers_wait() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(6, readers_and_a_writer);
}

fn iterator_behind_a_lock(pool: &Pool) {
    let numbers = Mutex::new(0..32);
    let next = || {
        let mut numbers = numbers.lock().unwrap();
        numbers.next().inspect(|_| assert_eq!(sum(8), 28))
    };
    let total = AtomicUsize::new(0);
    pool.install(|| {
        for_each(6, &|_| {
            while let Some(number) = next() {
                total.fetch_add(number + sum(4), Ordering::Relaxed);
            }
        });
    });
    assert_eq!(total.into_inner(), 31 * 16 + 32 * 6);
}

#[test]
fn an_iterator_under_a_mutex_with_parallel_loops_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(3, iterator_behind_a_lock);
}

fn scope_under_a_mutex(pool: &Pool) {
    let (mutex, total) = (Mutex::new(()), AtomicUsize::new(0));
    pool.scope(|outer| {
        for _ in 0..8 {
            outer.spawn(|_| {
                let _guard = mutex.lock().unwrap();
                filch::scope(|inner| {
                    (0..4).for_each(|_| inner.spawn(|_| _ = total.fetch_add(sum(4), Ordering::Relaxed)));
                });
            });
        }
    });
    assert_eq!(total.into_inner(), 8 * 4 * 6);
}

#[test]
fn a_scope_under_a_mutex_inside_a_scope_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, scope_under_a_mutex);
}

/// All these programs, with the workers that they need.
pub(crate) const DEADLOCK_PRONE: [(&str, usize, fn(&Pool)); 5] = [
    ("loop under a mutex", 4, loop_under_a_mutex),
    ("lazy value", 4, lazy_value),
    ("readers and a writer", 6, readers_and_a_writer),
    ("iterator behind a lock", 3, iterator_behind_a_lock),
    ("scope under a mutex", 4, scope_under_a_mutex),
];
