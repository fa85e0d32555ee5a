//! Tests of `Debug` output.

use rayon_core::{Configuration, ThreadPool, ThreadPoolBuilder, Yield};

use crate::pool;

#[test]
fn debug_output_of_a_builder_has_its_options_without_closures() {
    let default = "ThreadPoolBuilder { num_threads: 0, use_current_thread: false, get_thread_name: None, \
                 panic_handler: None, stack_size: None, start_handler: None, exit_handler: None, breadth_first: false }";
    assert_eq!(format!("{:?}", ThreadPoolBuilder::new()), default);
    assert_eq!(format!("{:?}", ThreadPoolBuilder::default()), default);
    assert_eq!(format!("{:?}", Configuration::new()), default);
    assert_eq!(format!("{:?}", Configuration::default()), default);
    let set = ThreadPoolBuilder::new()
        .num_threads(3)
        .use_current_thread()
        .thread_name(|_| String::new())
        .panic_handler(|_| {})
        .stack_size(4096)
        .start_handler(|_| {})
        .exit_handler(|_| {})
        .spawn_handler(|_| Ok(()))
        .breadth_first();
    assert_eq!(
        format!("{set:?}"),
        "ThreadPoolBuilder { num_threads: 3, use_current_thread: true, get_thread_name: Some(<closure>), \
         panic_handler: Some(<closure>), stack_size: Some(4096), start_handler: Some(<closure>), \
         exit_handler: Some(<closure>), breadth_first: true }"
    );
}

#[test]
fn debug_output_begins_with_the_name_of_the_type() {
    let pool = pool(1);
    assert!(format!("{pool:?}").starts_with("ThreadPool {"), "{pool:?}");
    pool.scope(|scope| assert!(format!("{scope:?}").starts_with("Scope {"), "{scope:?}"));
    pool.scope_fifo(|scope| assert!(format!("{scope:?}").starts_with("ScopeFifo {"), "{scope:?}"));
    pool.broadcast(|context| assert!(format!("{context:?}").starts_with("BroadcastContext {"), "{context:?}"));
    let threads = ThreadPoolBuilder::new().num_threads(1).build_scoped(
        |thread| {
            assert!(format!("{thread:?}").starts_with("ThreadBuilder {"), "{thread:?}");
            thread.run();
        },
        ThreadPool::current_num_threads,
    );
    assert_eq!(threads.unwrap(), 1);
    let (first, second) = pool.install(|| rayon_core::join_context(|c| format!("{c:?}"), |c| format!("{c:?}")));
    assert_eq!(first, "FnContext { migrated: false, _marker: PhantomData<*mut ()> }");
    assert_eq!(second, first);
    assert_eq!(format!("{:?} {:?}", Yield::Executed, Yield::Idle), "Executed Idle");
}
