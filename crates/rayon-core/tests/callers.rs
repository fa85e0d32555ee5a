//! Tests of where calls from outside a pool run. They run on threads of the pool, as in rayon,
//! unless the environment requests another place.
//!
//! The environment and the global pool can be set once in a process. So each case is an ignored
//! test that another test runs in its own process.
#![cfg(target_os = "linux")]

use std::env;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

const VARIABLE: &str = "FILCH_CALLERS";

/// Runs one ignored test of this file in its own process.
fn assert_passes_alone(test: &str, callers: Option<&str>) {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--ignored", "--nocapture", "--exact", test]);
    command.env_remove(VARIABLE).env_remove("FILCH_WAITING").env("RAYON_NUM_THREADS", "2");
    command.envs(callers.map(|value| (VARIABLE, value)));
    let output = command.output().expect("the same program again");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {}\n{said}{complained}", output.status);
}

/// Returns whether one of many calls runs on the calling thread.
fn is_ever_here(call: impl Fn() -> thread::ThreadId) -> bool {
    let (here, start) = (thread::current().id(), Instant::now());
    while start.elapsed() < Duration::from_millis(300) {
        if call() == here {
            return true;
        }
        // The sleep does not make a race likely. A worker without work for so long sleeps, and only
        // then can a call run in its place.
        thread::sleep(Duration::from_millis(5));
    }
    false
}

fn own_id() -> thread::ThreadId {
    assert!(rayon_core::current_thread_index().is_some(), "a closure of a call runs as a worker");
    thread::current().id()
}

fn is_global_ever_here() -> bool {
    let join = is_ever_here(|| rayon_core::join(own_id, || ()).0);
    let scope = is_ever_here(|| rayon_core::scope(|_| own_id()));
    assert_eq!(join, scope);
    assert_eq!(rayon_core::current_thread_index(), None);
    join
}

fn is_pool_ever_here(pool: &ThreadPool) -> bool {
    is_ever_here(|| pool.install(own_id)) || is_ever_here(|| pool.join(own_id, || ()).0)
}

#[test]
fn without_the_variable_calls_run_on_threads_of_the_pools() {
    assert_passes_alone("calls_are_shipped", None);
    assert_passes_alone("calls_are_shipped", Some("shipped"));
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn calls_are_shipped() {
    assert!(!is_global_ever_here());
    assert!(!is_pool_ever_here(&ThreadPoolBuilder::new().build().expect("a pool")));
}

#[test]
fn with_the_variable_calls_run_in_place_in_the_global_pool_only() {
    assert_passes_alone("global_calls_run_in_place", Some("in-place"));
    assert_passes_alone("calls_into_a_built_global_pool_run_in_place", Some("in-place"));
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn global_calls_run_in_place() {
    assert!(is_global_ever_here());
    assert!(!is_pool_ever_here(&ThreadPoolBuilder::new().build().expect("a pool")));
    assert!(!is_pool_ever_here(&ThreadPoolBuilder::new().num_threads(3).build().expect("a pool")));
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn calls_into_a_built_global_pool_run_in_place() {
    ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| ()).build_global().expect("the first");
    assert!(is_global_ever_here());
}

#[test]
fn a_global_pool_with_threads_of_its_own_kind_ships() {
    for option in ["named", "with_stack_size", "with_start_handler", "with_exit_handler", "with_spawn_handler"] {
        assert_passes_alone(option, Some("in-place"));
    }
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn named() {
    ThreadPoolBuilder::new().thread_name(|index| format!("own-{index}")).build_global().expect("the first");
    assert!(!is_global_ever_here());
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn with_stack_size() {
    ThreadPoolBuilder::new().stack_size(1 << 20).build_global().expect("the first");
    assert!(!is_global_ever_here());
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn with_start_handler() {
    ThreadPoolBuilder::new().start_handler(|_| ()).build_global().expect("the first");
    assert!(!is_global_ever_here());
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn with_exit_handler() {
    ThreadPoolBuilder::new().exit_handler(|_| ()).build_global().expect("the first");
    assert!(!is_global_ever_here());
}

#[test]
#[ignore = "it settles the global pool, so it is run alone by the test above"]
fn with_spawn_handler() {
    let spawn = |thread: rayon_core::ThreadBuilder| {
        thread::spawn(|| thread.run());
        Ok(())
    };
    ThreadPoolBuilder::new().spawn_handler(spawn).build_global().expect("the first");
    assert!(!is_global_ever_here());
}

#[test]
fn a_wrong_value_is_an_error_in_a_sentence() {
    assert_passes_alone("the_global_pool_is_refused", Some("inplace"));
}

#[test]
#[ignore = "it wants an environment of its own, so it is run by the test above"]
fn the_global_pool_is_refused() {
    let error = ThreadPoolBuilder::new().build_global().expect_err("a wrong value");
    let sentence = r#"FILCH_CALLERS is "inplace"; it should be `in-place` or `shipped`, or not be set"#;
    assert_eq!(error.to_string(), sentence);
    // The variable applies only to the global pool.
    assert!(!is_pool_ever_here(&ThreadPoolBuilder::new().build().expect("a pool")));
}
