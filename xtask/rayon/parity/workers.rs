//! Tests of what a thread learns about its position in a pool.

use rayon_core::Yield;

use crate::pool;

#[test]
fn a_thread_outside_of_a_pool_has_no_index_and_cannot_yield() {
    let pool = pool(1);
    assert_eq!((rayon_core::current_thread_index(), pool.current_thread_index()), (None, None));
    assert_eq!((rayon_core::yield_now(), rayon_core::yield_local()), (None, None));
    assert_eq!((pool.yield_now(), pool.yield_local()), (None, None));
    assert_eq!(rayon_core::current_thread_has_pending_tasks(), None);
    assert_eq!(pool.current_thread_has_pending_tasks(), None);
}

#[test]
fn a_worker_has_an_index_only_in_its_own_pool() {
    let (own, other) = (pool(1), pool(2));
    own.install(|| {
        assert_eq!((own.current_thread_index(), other.current_thread_index()), (Some(0), None));
        assert_eq!((own.yield_now(), other.yield_now()), (Some(Yield::Idle), None));
        assert_eq!((own.yield_local(), other.yield_local()), (Some(Yield::Idle), None));
        assert_eq!((rayon_core::current_num_threads(), other.current_num_threads()), (1, 2));
    });
}

#[test]
fn a_spawned_task_is_pending_until_the_worker_yields_to_it() {
    pool(1).install(|| {
        assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(false));
        rayon_core::spawn(|| {});
        assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(true));
        assert_eq!(rayon_core::yield_local(), Some(Yield::Executed));
        assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(false));
        rayon_core::spawn_fifo(|| {});
        assert_eq!(rayon_core::yield_now(), Some(Yield::Executed));
        assert_eq!(rayon_core::yield_now(), Some(Yield::Idle));
    });
}
