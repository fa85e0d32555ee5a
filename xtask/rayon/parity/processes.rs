//! Tests of behavior that can occur once in a process. This is the global pool, the environment,
//! and an abort by a panic. Each is an ignored test that another test runs in its own process.

use std::env;
use std::error::Error;
use std::process::{Command, Output};
use std::thread;

use rayon_core::{Configuration, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::pool;

/// Runs one ignored test of this file in its own process.
fn run_in_own_process(test: &str, env: &[(&str, &str)]) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "--exact"])
        .arg(format!("processes::{test}"))
        .env_remove("RAYON_NUM_THREADS")
        .env_remove("RAYON_RS_NUM_CPUS")
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

fn assert_passes_in_own_process(test: &str) {
    let output = run_in_own_process(test, &[]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stdout.contains("1 passed"), "{test}: {}\n{stdout}{stderr}", output.status);
}

#[test]
fn the_global_pool_is_built_once() {
    assert_passes_in_own_process("twice_global");
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn twice_global() {
    ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    assert_eq!(rayon_core::current_num_threads(), 3);
    let error = ThreadPoolBuilder::new().build_global().unwrap_err();
    assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    assert_eq!(format!("{error:?}"), "ThreadPoolBuildError { kind: GlobalPoolAlreadyInitialized }");
    assert_eq!(error.description(), error.to_string());
    assert!(error.source().is_none());
    let error = rayon_core::initialize(Configuration::new()).unwrap_err();
    assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    assert!(error.is::<ThreadPoolBuildError>());
}

#[test]
fn the_main_thread_can_be_worker_0_of_the_global_pool() {
    assert_passes_in_own_process("current_global");
}

#[test]
#[ignore = "it builds the global pool: the test above runs it in a separate process"]
fn current_global() {
    ThreadPoolBuilder::new().num_threads(2).use_current_thread().build_global().unwrap();
    assert_eq!((rayon_core::current_thread_index(), rayon_core::current_num_threads()), (Some(0), 2));
    let (first, _) = rayon_core::join_context(|a| a.migrated(), |_| ());
    assert!(!first);
}

#[test]
fn environment_variables_set_the_number_of_threads() {
    let default = thread::available_parallelism().unwrap().get();
    let cases: [(&[(&str, &str)], usize); 9] = [
        (&[], default),
        (&[("RAYON_NUM_THREADS", "3")], 3),
        (&[("RAYON_NUM_THREADS", "0")], default),
        (&[("RAYON_NUM_THREADS", "nonsense")], default),
        (&[("RAYON_NUM_THREADS", " 3")], default),
        (&[("RAYON_RS_NUM_CPUS", "5")], 5),
        (&[("RAYON_NUM_THREADS", "3"), ("RAYON_RS_NUM_CPUS", "5")], 3),
        (&[("RAYON_NUM_THREADS", "0"), ("RAYON_RS_NUM_CPUS", "5")], default),
        (&[("RAYON_NUM_THREADS", "nonsense"), ("RAYON_RS_NUM_CPUS", "5")], 5),
    ];
    for (env, threads) in cases {
        let output = run_in_own_process("number_of_threads", env);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains(&format!("[global {threads}, local {threads}, explicit 4]")), "{env:?}: {stdout}");
    }
}

#[test]
#[ignore = "it needs its own environment: the test above runs it in a separate process"]
fn number_of_threads() {
    let local = ThreadPoolBuilder::new().build().unwrap().current_num_threads();
    let explicit = ThreadPoolBuilder::new().num_threads(4).build().unwrap().current_num_threads();
    println!("[global {}, local {local}, explicit {explicit}]", rayon_core::current_num_threads());
}

#[test]
fn an_unhandled_panic_aborts_the_process() {
    let output = run_in_own_process("unhandled_panic", &[]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    // The process was aborted. A failed test would have an exit code.
    assert!(!output.status.success() && output.status.code() != Some(101), "{}: {stdout}", output.status);
}

#[test]
#[ignore = "it aborts the process: the test above runs it in a separate process"]
fn unhandled_panic() {
    let pool = pool(1);
    pool.spawn(|| panic!("unhandled panic"));
    pool.install(|| {});
    thread::park();
}
