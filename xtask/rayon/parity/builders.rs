//! Tests of values given to a builder. They must reach the threads and be called as in stock.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use rayon_core::{ThreadBuilder, ThreadPool};

use crate::{pool, signatures};

#[test]
fn threads_and_handlers_get_the_settings_of_the_builder() {
    let (events, seen) = channel();
    let (start, panic) = (events.clone(), events.clone());
    let built = Arc::new(Mutex::new(Vec::new()));
    let built_in_handler = Arc::clone(&built);
    let handles = Arc::new(Mutex::new(Vec::new()));
    let handles_in_handler = Arc::clone(&handles);
    let pool = signatures::builder(
        |index| format!("worker {index}"),
        move |payload| panic.send(payload.downcast_ref::<&str>().unwrap().to_string()).unwrap(),
        // Both handlers have the same type, so that they have the same signature.
        Box::new(move |index| start.send(format!("start {index}")).unwrap()) as Box<dyn Fn(usize) + Send + Sync>,
        Box::new(move |index| events.send(format!("exit {index}")).unwrap()),
        move |thread: ThreadBuilder| {
            let settings = (thread.index(), thread.name().map(str::to_owned), thread.stack_size());
            built_in_handler.lock().unwrap().push(settings);
            handles_in_handler.lock().unwrap().push(thread::Builder::new().spawn(|| thread.run())?);
            Ok(())
        },
    )
    .unwrap();
    pool.spawn(|| panic!("panic of a spawned job"));
    drop(pool);
    for handle in handles.lock().unwrap().drain(..) {
        handle.join().unwrap();
    }
    let stack = Some(1 << 20);
    let expected = [(0, Some("worker 0".to_owned()), stack), (1, Some("worker 1".to_owned()), stack)];
    assert_eq!(*built.lock().unwrap(), expected);
    let mut seen: Vec<String> = seen.try_iter().collect();
    seen.sort();
    assert_eq!(seen, ["exit 0", "exit 1", "panic of a spawned job", "start 0", "start 1"]);
}

#[test]
fn a_configuration_builds_what_a_builder_builds() {
    let handler: fn(usize) = |_| {};
    let configuration = || signatures::configuration(|_| "named".to_owned(), |_| {}, handler, handler);
    for pool in [configuration().build().unwrap(), ThreadPool::new(configuration()).unwrap()] {
        assert_eq!(pool.current_num_threads(), 1);
        assert_eq!(pool.install(|| thread::current().name().map(str::to_owned)), Some("named".to_owned()));
    }
}

#[test]
fn a_scoped_pool_borrows_and_its_threads_end_before_it_returns() {
    let running = Mutex::new(0);
    let threads = signatures::build_scoped(
        |thread| {
            *running.lock().unwrap() += 1;
            thread.run();
            *running.lock().unwrap() -= 1;
        },
        |pool| pool.broadcast(|_| *running.lock().unwrap() > 0),
    );
    assert_eq!(threads.unwrap(), [true, true]);
    assert_eq!(*running.lock().unwrap(), 0);
}

#[test]
fn workers_have_no_names_by_default() {
    assert_eq!(pool(1).install(|| thread::current().name().map(str::to_owned)), None);
}

#[test]
fn more_than_a_thousand_threads_are_allowed() {
    assert!(rayon_core::max_num_threads() > 1000);
}
