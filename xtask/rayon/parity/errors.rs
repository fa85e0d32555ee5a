//! Errors from building a pool: their message, their `Debug` output and their source.

use std::error::Error;
use std::io;
use std::thread;

use rayon_core::{ThreadBuilder, ThreadPoolBuilder};

#[test]
fn a_thread_of_a_pool_cannot_be_added_to_another() {
    // The test has its own thread, because the thread stays in the pool forever.
    thread::spawn(|| {
        let builder = || ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let pool = builder().build().unwrap();
        assert_eq!((rayon_core::current_thread_index(), pool.current_thread_index()), (Some(0), Some(0)));
        let error = builder().build().unwrap_err();
        assert_eq!(error.to_string(), "The current thread is already part of another thread pool.");
        assert_eq!(format!("{error:?}"), "ThreadPoolBuildError { kind: CurrentThreadAlreadyInPool }");
        assert_eq!(error.description(), error.to_string());
        assert!(error.source().is_none());
    })
    .join()
    .unwrap();
}

#[test]
fn an_error_of_a_spawn_handler_is_the_source() {
    let fail = |_: ThreadBuilder| Err(io::Error::other("no more threads"));
    let error = ThreadPoolBuilder::new().num_threads(2).spawn_handler(fail).build().unwrap_err();
    assert_eq!(error.to_string(), "no more threads");
    assert_eq!(
        format!("{error:?}"),
        "ThreadPoolBuildError { kind: IOError(Custom { kind: Other, error: \"no more threads\" }) }"
    );
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!((source.kind(), source.to_string()), (io::ErrorKind::Other, "no more threads".to_owned()));
}

#[test]
fn a_stack_size_that_is_too_large_is_an_io_error() {
    let error = ThreadPoolBuilder::new().num_threads(2).stack_size(isize::MAX as usize).build().unwrap_err();
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(error.to_string(), source.to_string());
    assert!(format!("{error:?}").starts_with("ThreadPoolBuildError { kind: IOError("), "{error:?}");
}
