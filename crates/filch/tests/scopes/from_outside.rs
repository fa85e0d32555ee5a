//! Spawns into a scope by threads that are no workers of its pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{for_each_pool_kind, pool, watchdog};

#[test]
fn threads_outside_of_the_pool_can_spawn_into_a_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        let count = &finished;
        pool.scope(|scope| {
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        for _ in 0..100 {
                            scope.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                }
            });
        });
        assert_eq!(finished.into_inner(), 400);
    });
}

#[test]
fn a_worker_of_another_pool_can_spawn_into_a_scope() {
    // The task outlives the call in which it was spawned. It must not need the frame of that call.
    #[inline(never)]
    fn use_stack(depth: usize, f: &mut (dyn FnMut() + Send)) {
        // Overwrites the stack that an earlier call has used.
        let frame = std::hint::black_box([usize::MAX / 5; 64]);
        if depth == 0 {
            f();
        } else {
            use_stack(depth - 1, f);
        }
        std::hint::black_box(frame);
    }
    let _watchdog = watchdog();
    for _ in 0..200 {
        let (here, there) = (pool(1), pool(1));
        let finished = AtomicUsize::new(0);
        let (count, there) = (&finished, &there);
        here.scope(|scope| {
            use_stack(8, &mut || {
                there.install(|| {
                    scope.spawn(move |_| {
                        count.fetch_add(there.install(|| 1), Ordering::Relaxed);
                    });
                });
            });
            use_stack(16, &mut || ());
        });
        assert_eq!(finished.into_inner(), 1);
    }
}
