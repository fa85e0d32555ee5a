//! The stack stays bounded, because waits do not nest unrelated work.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{pool, watchdog};
use crate::{for_each_strict_pool, inside, tree, INSIDE};
use filch::Pool;

/// Returns the position of the calling thread's stack.
fn stack_address() -> usize {
    let local = 0u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

thread_local! {
    /// The highest address seen on this thread.
    static HIGHEST: Cell<usize> = const { Cell::new(0) };
}

/// Returns the most stack that a skewed tree takes on any of the pool's threads. The result is in
/// bytes.
fn most_stack(pool: &Pool, depth: u32) -> usize {
    fn measure(most: &AtomicUsize) {
        HIGHEST.set(HIGHEST.get().max(stack_address()));
        most.fetch_max(HIGHEST.get() - stack_address(), Ordering::Relaxed);
    }
    fn grow(depth: u32, seed: u64, most: &AtomicUsize) {
        measure(most);
        if depth == 0 {
            return;
        }
        let next = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // One side is short, so that waits are frequent.
        let short = (depth - 1).min((next >> 60) as u32);
        if next >> 40 & 1 == 0 {
            filch::join(|| grow(depth - 1, next, most), || grow(short, !next, most));
        } else {
            filch::join(|| grow(short, !next, most), || grow(depth - 1, next, most));
        }
    }
    let most = AtomicUsize::new(0);
    pool.broadcast(|_| HIGHEST.set(stack_address()));
    for seed in 0..30 {
        pool.install(|| grow(depth, seed, &most));
    }
    most.into_inner()
}

#[test]
fn the_stack_is_bounded_by_the_depth_of_the_program() {
    let _watchdog = watchdog();
    let depth = 60;
    let alone = most_stack(&pool(1), depth);
    for threads in [2, 4, 8] {
        for_each_strict_pool(threads, |pool| {
            let most = most_stack(pool, depth);
            // Each level of the program is at most once on a stack. A stolen one stands on the
            // frames of a wait, which may be larger than those of the level itself: hence the
            // factor.
            assert!(most <= 4 * alone, "{most} bytes on {threads} workers, {alone} bytes on one");
        });
    }
}

#[test]
fn waiting_workers_do_not_nest_tasks() {
    // Every task waits for a stolen job while there are many more tasks. A worker that ran those
    // meanwhile would nest them without bound.
    let _watchdog = watchdog();
    for_each_strict_pool(3, |pool| {
        let nested = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..2000 {
                scope.spawn(|_| {
                    nested.fetch_max(INSIDE.get(), Ordering::Relaxed);
                    inside(|| tree(4, &|| ()));
                });
            }
        });
        assert_eq!(nested.into_inner(), 0);
    });
}
