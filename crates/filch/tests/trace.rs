//! A trace agrees with the counts of the pool, and trace viewers can read it.
#![cfg(all(feature = "trace", not(any(loom, shuttle))))]

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use filch::trace::{Event, Kind, Trace, EVENTS_PER_WORKER};
#[cfg(target_os = "linux")]
use filch::Callers;
use filch::Pool;
use serde_json::Value;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = filch::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Creates a pool that has stolen jobs and has run tasks of scopes.
fn busy_pool() -> Pool {
    let pool = Pool::builder().threads(2).build().unwrap();
    let start = Instant::now();
    while pool.stats().total().steals == 0 {
        assert!(start.elapsed() < Duration::from_secs(30), "no job was stolen within 30 s");
        pool.install(|| fib(29));
    }
    pool.scope(|scope| (0..4).for_each(|_| scope.spawn(|_| ())));
    pool
}

fn all_events(trace: &Trace) -> impl Iterator<Item = (usize, &Event)> {
    (0..trace.workers()).flat_map(|worker| trace.events(worker).iter().map(move |event| (worker, event)))
}

fn json(trace: &Trace) -> Value {
    let mut text = Vec::new();
    trace.write_to(&mut text).unwrap();
    serde_json::from_slice(&text).expect("the trace is not JSON")
}

#[test]
fn a_trace_agrees_with_the_counts() {
    fn count_runs(trace: &Trace) -> u64 {
        all_events(trace)
            .filter(|(_, event)| matches!(event.kind, Kind::Stolen { .. } | Kind::Job | Kind::Task))
            .count() as u64
    }
    let pool = busy_pool();
    // A worker records what it has run a moment after the waiter for that is woken.
    let start = Instant::now();
    while count_runs(&pool.trace()) != pool.stats().total().jobs && start.elapsed() < Duration::from_secs(10) {
        thread::yield_now();
    }
    // Nothing runs between the two: workers that have slept since are only counted in sleeps.
    let (trace, stats) = (pool.trace(), pool.stats().total());
    let count = |select: fn(Kind) -> bool| all_events(&trace).filter(|(_, event)| select(event.kind)).count() as u64;
    assert_eq!(trace.dropped(), 0);
    assert_eq!(count(|kind| matches!(kind, Kind::Stolen { .. })), stats.steals);
    assert_eq!(count_runs(&trace), stats.jobs);
    assert!(count(|kind| matches!(kind, Kind::Sleep)) <= stats.sleeps);
    let shared: u64 =
        all_events(&trace).map(|(_, event)| if let Kind::Share { jobs } = event.kind { jobs.into() } else { 0 }).sum();
    assert!(shared <= stats.shares);
}

#[test]
fn events_follow_each_other_or_are_nested() {
    assert_nested(&busy_pool().trace());
}

/// Asserts that no event overlaps another without being part of it. Nothing is part of a sleep.
fn assert_nested(trace: &Trace) {
    for worker in 0..trace.workers() {
        let mut open: Vec<&Event> = Vec::new();
        for event in trace.events(worker) {
            assert!(event.start <= event.end);
            while open.last().is_some_and(|outer| outer.end <= event.start) {
                open.pop();
            }
            if let Some(outer) = open.last() {
                assert!(outer.start <= event.start && event.end <= outer.end, "{outer:?} and {event:?}");
                assert_ne!(outer.kind, Kind::Sleep, "an event is part of a sleep");
            }
            open.push(event);
        }
    }
}

/// Returns a pool that has run `calls` calls in place. It has run other calls while a worker was
/// awake.
#[cfg(target_os = "linux")]
fn pool_with_calls_in_place(calls: u64) -> (Pool, u64) {
    let pool = Pool::builder().threads(2).callers(Callers::InPlace).build().unwrap();
    let caller = thread::current().id();
    let (start, mut in_place, mut calls_made) = (Instant::now(), 0, 0);
    while in_place < calls {
        assert!(start.elapsed() < Duration::from_secs(30), "no worker slept within 30 s");
        in_place += u64::from(pool.install(|| thread::current().id() == caller));
        calls_made += 1;
    }
    (pool, calls_made)
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_in_place_counts_as_one_job() {
    let (pool, calls) = pool_with_calls_in_place(100);
    // A shipped call is one job, too, and a worker records it a moment after the call returns.
    let jobs = |trace: &Trace| all_events(trace).filter(|(_, event)| event.kind == Kind::Job).count() as u64;
    let start = Instant::now();
    while jobs(&pool.trace()) != calls && start.elapsed() < Duration::from_secs(10) {
        thread::yield_now();
    }
    assert_eq!((jobs(&pool.trace()), pool.stats().total().jobs), (calls, calls));
}

#[cfg(target_os = "linux")]
#[test]
fn no_call_in_place_is_part_of_a_sleep() {
    let (pool, _) = pool_with_calls_in_place(100);
    pool.install(|| fib(20));
    assert_nested(&pool.trace());
}

#[cfg(target_os = "linux")]
#[test]
fn a_running_call_in_place_ends_at_the_time_of_the_trace() {
    let (pool, _) = pool_with_calls_in_place(1);
    let caller = thread::current().id();
    let last_event = || {
        let is_on_caller = thread::current().id() == caller;
        let index = filch::current_thread_index().expect("the call must run on a worker");
        (is_on_caller, *pool.trace().events(index).last().unwrap())
    };
    let in_place = std::iter::repeat_with(|| pool.install(last_event)).find(|(is_on_caller, _)| *is_on_caller);
    let (_, event) = in_place.expect("the iterator is infinite");
    assert_eq!(event.kind, Kind::Job);
    assert!(event.end >= event.start);
}

#[test]
fn no_worker_steals_from_itself() {
    let trace = busy_pool().trace();
    for (worker, event) in all_events(&trace) {
        if let Kind::Stolen { victim } | Kind::Raid { victim } = event.kind {
            assert!(victim != worker && victim < trace.workers());
        }
    }
}

#[test]
fn the_json_has_a_track_per_worker_a_box_per_span_and_an_arrow_per_steal() {
    let trace = busy_pool().trace();
    let json = json(&trace);
    assert_eq!(json["otherData"]["dropped"], 0);
    let events = json["traceEvents"].as_array().unwrap();
    let with_phase = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);

    let names: Vec<_> =
        with_phase("M").filter(|event| event["name"] == "thread_name").map(|event| &event["args"]["name"]).collect();
    assert_eq!(names, ["worker 0", "worker 1"]);

    let spans = all_events(&trace).filter(|(_, event)| !matches!(event.kind, Kind::Share { .. })).count();
    assert_eq!(with_phase("X").count(), spans);
    assert_eq!(with_phase("i").count() + spans, all_events(&trace).count());
    for event in with_phase("X") {
        assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0, "{event}");
        assert!([1, 2].contains(&event["tid"].as_u64().unwrap()) && event["pid"] == 1, "{event}");
        assert!(event["name"].is_string(), "{event}");
    }

    let ends: HashMap<_, _> = with_phase("f").map(|end| (end["id"].as_u64().unwrap(), end)).collect();
    let steals = all_events(&trace).filter(|(_, event)| matches!(event.kind, Kind::Stolen { .. })).count();
    assert!(steals > 0);
    assert_eq!((with_phase("s").count(), ends.len()), (steals, steals));
    for start in with_phase("s") {
        let end = ends[&start["id"].as_u64().unwrap()];
        assert!(start["tid"] != end["tid"] && start["ts"] == end["ts"], "{start} to {end}");
        let thief = with_phase("X").any(|event| event["tid"] == end["tid"] && event["ts"] == end["ts"]);
        assert!(thief, "no box begins where this arrow ends: {end}");
    }
}

#[test]
fn a_trace_can_be_taken_while_the_pool_runs_jobs() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                pool.install(|| fib(16));
            }
        });
        for _ in 0..50 {
            let trace = pool.trace();
            assert!(json(&trace)["traceEvents"].is_array());
        }
        finished.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_running_event_ends_at_the_time_of_the_trace() {
    let pool = Pool::builder().threads(1).build().unwrap();
    let event = pool.install(|| *pool.trace().events(0).last().unwrap());
    assert_eq!(event.kind, Kind::Job);
    assert!(event.end >= event.start);
}

#[test]
fn events_beyond_the_limit_are_dropped_and_counted() {
    let pool = Pool::builder().threads(1).build().unwrap();
    let (jobs, done) = (EVENTS_PER_WORKER + 1000, Arc::new(AtomicUsize::new(0)));
    for _ in 0..jobs {
        let done = done.clone();
        pool.spawn(move || {
            done.fetch_add(1, Ordering::Relaxed);
        });
    }
    while done.load(Ordering::Relaxed) < jobs {
        thread::yield_now();
    }
    let trace = pool.trace();
    assert_eq!(trace.events(0).len(), EVENTS_PER_WORKER);
    assert!(trace.dropped() >= 1000);
    assert!(json(&trace)["otherData"]["dropped"].as_u64() >= Some(1000));
}

#[test]
fn saving_replaces_a_file_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    fs::write(&path, "old").unwrap();
    let trace = busy_pool().trace();
    trace.save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left in the folder");

    assert!(trace.save(folder.path().join("missing").join("trace.json")).is_err());
    let subfolder = folder.path().join("subfolder");
    fs::create_dir(&subfolder).unwrap();
    assert!(trace.save(&subfolder).is_err(), "a folder must not be replaced");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "a temporary file is left beside it");
}
