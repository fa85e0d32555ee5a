//! Tests that no result of stock is `#[must_use]`.

use rayon_core::{Configuration, ThreadPoolBuilder};

use crate::pool;

#[test]
fn no_result_is_must_use() {
    let pool = pool(1);
    pool.install(|| {
        rayon_core::yield_now();
        rayon_core::yield_local();
        rayon_core::current_thread_index();
        rayon_core::current_thread_has_pending_tasks();
        rayon_core::current_num_threads();
        rayon_core::max_num_threads();
        rayon_core::join(|| 1, || 2);
        rayon_core::join_context(|context| context.migrated(), |_| 2);
        rayon_core::scope(|_| 1);
        rayon_core::scope_fifo(|_| 1);
        rayon_core::in_place_scope(|_| 1);
        rayon_core::in_place_scope_fifo(|_| 1);
        rayon_core::broadcast(|context| (context.index(), context.num_threads()));
    });
    pool.yield_now();
    pool.yield_local();
    pool.current_thread_index();
    pool.current_thread_has_pending_tasks();
    pool.current_num_threads();
    pool.join(|| 1, || 2);
    pool.scope(|_| 1);
    pool.scope_fifo(|_| 1);
    pool.in_place_scope(|_| 1);
    pool.in_place_scope_fifo(|_| 1);
    pool.broadcast(|_| 1);
    ThreadPoolBuilder::new();
    ThreadPoolBuilder::new().num_threads(1).stack_size(1).use_current_thread().breadth_first();
    ThreadPoolBuilder::new().thread_name(|_| String::new()).panic_handler(|_| {});
    ThreadPoolBuilder::new().start_handler(|_| {}).exit_handler(|_| {}).spawn_handler(|_| Ok(()));
    Configuration::new().num_threads(1);
}
