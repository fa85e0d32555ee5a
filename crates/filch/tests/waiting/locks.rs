//! A lock that is held across a join, a scope or an install does not deadlock with itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::common::{pool, watchdog};
use crate::{for_each_strict_pool, tree};

#[test]
fn a_mutex_held_across_a_join_does_not_deadlock() {
    let _watchdog = watchdog();
    for threads in [2, 4] {
        for_each_strict_pool(threads, |pool| {
            let total = Mutex::new(0u64);
            let rounds = 20;
            for _ in 0..rounds {
                pool.install(|| {
                    // Each of the leaves wants the lock, and forks while it has it.
                    tree(6, &|| {
                        let mut total = total.lock().unwrap();
                        let (a, b) = filch::join(
                            || {
                                let sum = AtomicUsize::new(0);
                                tree(4, &|| {
                                    sum.fetch_add(1, Ordering::Relaxed);
                                });
                                sum.into_inner() as u64
                            },
                            || 1,
                        );
                        *total += a + b;
                    });
                });
            }
            assert_eq!(total.into_inner().unwrap(), rounds * 64 * 17);
        });
    }
}

#[test]
fn a_mutex_held_across_a_scope_does_not_deadlock() {
    let _watchdog = watchdog();
    for_each_strict_pool(3, |pool| {
        let total = Mutex::new(0usize);
        for _ in 0..20 {
            pool.scope(|outer| {
                for _ in 0..16 {
                    outer.spawn(|_| {
                        let mut total = total.lock().unwrap();
                        let inner_total = AtomicUsize::new(0);
                        filch::scope(|inner| {
                            for _ in 0..4 {
                                inner.spawn(|_| {
                                    tree(3, &|| {
                                        inner_total.fetch_add(1, Ordering::Relaxed);
                                    });
                                });
                            }
                        });
                        *total += inner_total.into_inner();
                    });
                }
            });
        }
        assert_eq!(total.into_inner().unwrap(), 20 * 16 * 4 * 8);
    });
}

#[test]
fn a_mutex_held_across_an_install_does_not_deadlock() {
    let _watchdog = watchdog();
    let (here, there) = (pool(2), pool(1));
    let total = Mutex::new(0usize);
    for _ in 0..50 {
        here.scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    // To the other pool, back, and joins on both sides.
                    *total += there.install(|| {
                        let (a, b) = filch::join(|| here.install(|| filch::join(|| 1, || 2)), || 3);
                        a.0 + a.1 + b
                    });
                });
            }
        });
    }
    assert_eq!(total.into_inner().unwrap(), 50 * 8 * 6);
}
