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
fn assert_passes_in_own_process(test: &str, callers: Option<&str>) {
    let mut command = Command::new(env::current_exe().expect("path of this program"));
    command.args(["--ignored", "--nocapture", "--exact", test]);
    command.env_remove(VARIABLE).env_remove("FILCH_WAITING").env("RAYON_NUM_THREADS", "2");
    command.envs(callers.map(|value| (VARIABLE, value)));
    let output = command.output().expect("cannot start this program again");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stdout.contains("1 passed"), "{test}: {}\n{stdout}{stderr}", output.status);
}

/// Returns whether one of many calls runs on the calling thread.
fn ever_runs_on_calling_thread(call: impl Fn() -> thread::ThreadId) -> bool {
    let (caller, start) = (thread::current().id(), Instant::now());
    while start.elapsed() < Duration::from_millis(300) {
        if call() == caller {
            return true;
        }
        // The sleep does not make a race likely. A worker without work for so long sleeps, and only
        // then can a call run in its place.
        thread::sleep(Duration::from_millis(5));
    }
    false
}

fn worker_thread_id() -> thread::ThreadId {
    assert!(rayon_core::current_thread_index().is_some(), "the closure must run as a worker");
    thread::current().id()
}

fn global_pool_ever_runs_on_calling_thread() -> bool {
    let join = ever_runs_on_calling_thread(|| rayon_core::join(worker_thread_id, || ()).0);
    let scope = ever_runs_on_calling_thread(|| rayon_core::scope(|_| worker_thread_id()));
    assert_eq!(join, scope);
    assert_eq!(rayon_core::current_thread_index(), None);
    join
}

fn pool_ever_runs_on_calling_thread(pool: &ThreadPool) -> bool {
    ever_runs_on_calling_thread(|| pool.install(worker_thread_id))
        || ever_runs_on_calling_thread(|| pool.join(worker_thread_id, || ()).0)
}

#[test]
fn without_the_variable_calls_run_on_threads_of_the_pools() {
    assert_passes_in_own_process("calls_are_shipped", None);
    assert_passes_in_own_process("calls_are_shipped", Some("shipped"));
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn calls_are_shipped() {
    assert!(!global_pool_ever_runs_on_calling_thread());
    assert!(!pool_ever_runs_on_calling_thread(&ThreadPoolBuilder::new().build().expect("cannot build a pool")));
}

#[test]
fn with_the_variable_calls_run_in_place_in_the_global_pool_only() {
    assert_passes_in_own_process("global_calls_run_in_place", Some("in-place"));
    assert_passes_in_own_process("calls_into_a_built_global_pool_run_in_place", Some("in-place"));
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn global_calls_run_in_place() {
    assert!(global_pool_ever_runs_on_calling_thread());
    assert!(!pool_ever_runs_on_calling_thread(&ThreadPoolBuilder::new().build().expect("cannot build a pool")));
    assert!(!pool_ever_runs_on_calling_thread(
        &ThreadPoolBuilder::new().num_threads(3).build().expect("cannot build a pool")
    ));
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn calls_into_a_built_global_pool_run_in_place() {
    ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| ()).build_global().expect("cannot build the global pool");
    assert!(global_pool_ever_runs_on_calling_thread());
}

#[test]
fn a_global_pool_with_custom_threads_ships_calls() {
    for option in
        ["with_thread_name", "with_stack_size", "with_start_handler", "with_exit_handler", "with_spawn_handler"]
    {
        assert_passes_in_own_process(option, Some("in-place"));
    }
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn with_thread_name() {
    ThreadPoolBuilder::new()
        .thread_name(|index| format!("own-{index}"))
        .build_global()
        .expect("cannot build the global pool");
    assert!(!global_pool_ever_runs_on_calling_thread());
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn with_stack_size() {
    ThreadPoolBuilder::new().stack_size(1 << 20).build_global().expect("cannot build the global pool");
    assert!(!global_pool_ever_runs_on_calling_thread());
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn with_start_handler() {
    ThreadPoolBuilder::new().start_handler(|_| ()).build_global().expect("cannot build the global pool");
    assert!(!global_pool_ever_runs_on_calling_thread());
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn with_exit_handler() {
    ThreadPoolBuilder::new().exit_handler(|_| ()).build_global().expect("cannot build the global pool");
    assert!(!global_pool_ever_runs_on_calling_thread());
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn with_spawn_handler() {
    let spawn = |thread: rayon_core::ThreadBuilder| {
        thread::spawn(|| thread.run());
        Ok(())
    };
    ThreadPoolBuilder::new().spawn_handler(spawn).build_global().expect("cannot build the global pool");
    assert!(!global_pool_ever_runs_on_calling_thread());
}

#[test]
fn an_invalid_value_of_the_variable_is_an_error() {
    assert_passes_in_own_process("building_the_global_pool_fails", Some("inplace"));
}

#[test]
#[ignore = "it needs its own environment: the test above runs it in a separate process"]
fn building_the_global_pool_fails() {
    let error = ThreadPoolBuilder::new().build_global().expect_err("the value of FILCH_CALLERS is invalid");
    let message = r#"FILCH_CALLERS is "inplace"; it should be `in-place` or `shipped`, or not be set"#;
    assert_eq!(error.to_string(), message);
    // The variable applies only to the global pool.
    assert!(!pool_ever_runs_on_calling_thread(&ThreadPoolBuilder::new().build().expect("cannot build a pool")));
}
