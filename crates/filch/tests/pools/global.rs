//! The global pool, and the environment variable for the number of threads.

use std::thread;

use crate::common::{assert_child_passed, catch_message, fib, run_in_child, watchdog};
use filch::{BuildError, Builder, Pool};

#[test]
fn the_environment_variable_sets_the_number_of_threads() {
    let child = run_in_child(
        "global::the_environment_variable_sets_the_number_of_threads",
        &[("FILCH_NUM_THREADS", "3")],
        || {
            assert_eq!(Pool::new().unwrap().current_num_threads(), 3);
            assert_eq!(filch::current_num_threads(), 3);
            assert_eq!(Pool::builder().threads(2).build().unwrap().current_num_threads(), 2);
        },
    );
    assert_child_passed(child);
}

#[test]
fn without_the_variable_there_is_a_worker_for_each_cpu() {
    let _watchdog = watchdog();
    if std::env::var_os("FILCH_NUM_THREADS").is_none() {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(Pool::new().unwrap().current_num_threads(), cpus);
    }
}

/// The environment variable is not a number above 0.
fn assert_invalid_variable(test: &str, value: &str) {
    let child = run_in_child(test, &[("FILCH_NUM_THREADS", value)], || {
        let value = std::env::var("FILCH_NUM_THREADS").unwrap();
        let error = Pool::new().unwrap_err();
        assert!(
            matches!(&error, BuildError::Variable { name: "FILCH_NUM_THREADS", value: found } if **found == *value)
        );
        assert!(error.to_string().contains(&format!("{value:?}")));
        assert!(matches!(Builder::new().build_global(), Err(BuildError::Variable { .. })));
        // The global pool cannot return an error, so it panics with it.
        let message = catch_message(|| filch::join(|| (), || ()));
        assert!(message.contains("the global pool could not be started: FILCH_NUM_THREADS is"), "{message}");
    });
    assert_child_passed(child);
}

#[test]
fn an_environment_variable_that_is_not_a_number_is_an_error() {
    assert_invalid_variable("global::an_environment_variable_that_is_not_a_number_is_an_error", "many");
}

#[test]
fn an_environment_variable_of_0_threads_is_an_error() {
    assert_invalid_variable("global::an_environment_variable_of_0_threads_is_an_error", "0");
}

#[test]
fn an_environment_variable_with_a_negative_number_of_threads_is_an_error() {
    assert_invalid_variable("global::an_environment_variable_with_a_negative_number_of_threads_is_an_error", "-1");
}

#[test]
fn the_global_pool_is_built_once() {
    let child = run_in_child("global::the_global_pool_is_built_once", &[], || {
        Pool::builder().threads(3).build_global().unwrap();
        assert_eq!(filch::current_num_threads(), 3);
        assert!(matches!(Pool::builder().threads(2).build_global(), Err(BuildError::GlobalIsRunning)));
        assert_eq!(filch::current_num_threads(), 3);
        assert_eq!(filch::join(filch::current_num_threads, || fib(10)), (3, 55));
    });
    assert_child_passed(child);
}

#[test]
fn a_global_pool_that_is_in_use_cannot_be_built() {
    let child = run_in_child("global::a_global_pool_that_is_in_use_cannot_be_built", &[], || {
        assert_eq!(filch::join(|| 1, || 2), (1, 2));
        let error = Pool::builder().build_global().unwrap_err();
        assert_eq!(error.to_string(), "the global pool is already running and cannot be built anew");
    });
    assert_child_passed(child);
}
