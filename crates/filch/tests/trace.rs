//! A trace agrees with the counts of the pool, and trace viewers can read it.
#![cfg(all(feature = "trace", not(any(loom, shuttle))))]

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use filch::trace::{Event, Kind, Trace, EVENTS_A_WORKER};
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
        assert!(start.elapsed() < Duration::from_secs(30), "nothing was stolen");
        pool.install(|| fib(29));
    }
    pool.scope(|scope| (0..4).for_each(|_| scope.spawn(|_| ())));
    pool
}

fn all(trace: &Trace) -> impl Iterator<Item = (usize, &Event)> {
    (0..trace.workers()).flat_map(|worker| trace.events(worker).iter().map(move |event| (worker, event)))
}

fn json(trace: &Trace) -> Value {
    let mut text = Vec::new();
    trace.write_to(&mut text).unwrap();
    serde_json::from_slice(&text).expect("it should be JSON")
}

#[test]
fn a_trace_agrees_with_the_counts() {
    fn ran(trace: &Trace) -> u64 {
        all(trace).filter(|(_, event)| matches!(event.kind, Kind::Stolen { .. } | Kind::Job | Kind::Task)).count()
            as u64
    }
    let pool = busy_pool();
    // A worker records what it has run a moment after the waiter for that is woken.
    let start = Instant::now();
    while ran(&pool.trace()) != pool.stats().total().jobs && start.elapsed() < Duration::from_secs(10) {
        thread::yield_now();
    }
    // Nothing runs between the two: workers that have slept since are only counted in sleeps.
    let (trace, stats) = (pool.trace(), pool.stats().total());
    let count = |wanted: fn(Kind) -> bool| all(&trace).filter(|(_, event)| wanted(event.kind)).count() as u64;
    assert_eq!(trace.dropped(), 0);
    assert_eq!(count(|kind| matches!(kind, Kind::Stolen { .. })), stats.steals);
    assert_eq!(ran(&trace), stats.jobs);
    assert!(count(|kind| matches!(kind, Kind::Sleep)) <= stats.sleeps);
    let shared: u64 =
        all(&trace).map(|(_, event)| if let Kind::Share { jobs } = event.kind { jobs.into() } else { 0 }).sum();
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
                assert_ne!(outer.kind, Kind::Sleep, "nothing happens while a worker sleeps");
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
    let here = thread::current().id();
    let (start, mut in_place, mut all) = (Instant::now(), 0, 0);
    while in_place < calls {
        assert!(start.elapsed() < Duration::from_secs(30), "no worker sleeps");
        in_place += u64::from(pool.install(|| thread::current().id() == here));
        all += 1;
    }
    (pool, all)
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_in_place_counts_as_one_job() {
    let (pool, calls) = pool_with_calls_in_place(100);
    // A shipped call is one job, too, and a worker records it a moment after the call returns.
    let jobs = |trace: &Trace| all(trace).filter(|(_, event)| event.kind == Kind::Job).count() as u64;
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
fn a_call_in_place_that_is_not_over_lasts_until_the_trace_is_taken() {
    let (pool, _) = pool_with_calls_in_place(1);
    let here = thread::current().id();
    let look = || {
        let is_here = thread::current().id() == here;
        let index = filch::index().expect("a worker");
        (is_here, *pool.trace().events(index).last().unwrap())
    };
    let in_place = std::iter::repeat_with(|| pool.install(look)).find(|(is_here, _)| *is_here);
    let (_, event) = in_place.expect("a worker sleeps sooner or later");
    assert_eq!(event.kind, Kind::Job);
    assert!(event.end >= event.start);
}

#[test]
fn nobody_steals_from_himself() {
    let trace = busy_pool().trace();
    for (worker, event) in all(&trace) {
        if let Kind::Stolen { victim } | Kind::Raid { victim } = event.kind {
            assert!(victim != worker && victim < trace.workers());
        }
    }
}

#[test]
fn the_json_has_a_named_track_a_worker_a_box_a_span_and_an_arrow_a_theft() {
    let trace = busy_pool().trace();
    let json = json(&trace);
    assert_eq!(json["otherData"]["dropped"], 0);
    let events = json["traceEvents"].as_array().unwrap();
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);

    let names: Vec<_> =
        of("M").filter(|event| event["name"] == "thread_name").map(|event| &event["args"]["name"]).collect();
    assert_eq!(names, ["worker 0", "worker 1"]);

    let spans = all(&trace).filter(|(_, event)| !matches!(event.kind, Kind::Share { .. })).count();
    assert_eq!(of("X").count(), spans);
    assert_eq!(of("i").count() + spans, all(&trace).count());
    for event in of("X") {
        assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0, "{event}");
        assert!([1, 2].contains(&event["tid"].as_u64().unwrap()) && event["pid"] == 1, "{event}");
        assert!(event["name"].is_string(), "{event}");
    }

    let ends: HashMap<_, _> = of("f").map(|end| (end["id"].as_u64().unwrap(), end)).collect();
    let thefts = all(&trace).filter(|(_, event)| matches!(event.kind, Kind::Stolen { .. })).count();
    assert!(thefts > 0);
    assert_eq!((of("s").count(), ends.len()), (thefts, thefts));
    for start in of("s") {
        let end = ends[&start["id"].as_u64().unwrap()];
        assert!(start["tid"] != end["tid"] && start["ts"] == end["ts"], "{start} to {end}");
        let thief = of("X").any(|event| event["tid"] == end["tid"] && event["ts"] == end["ts"]);
        assert!(thief, "an arrow ends where a box begins: {end}");
    }
}

#[test]
fn a_trace_can_be_taken_while_the_pool_is_at_work() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                pool.install(|| fib(16));
            }
        });
        for _ in 0..50 {
            let trace = pool.trace();
            assert!(json(&trace)["traceEvents"].is_array());
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_is_not_over_lasts_until_the_trace_is_taken() {
    let pool = Pool::builder().threads(1).build().unwrap();
    let event = pool.install(|| *pool.trace().events(0).last().unwrap());
    assert_eq!(event.kind, Kind::Job);
    assert!(event.end >= event.start);
}

#[test]
fn events_beyond_the_limit_are_counted() {
    let pool = Pool::builder().threads(1).build().unwrap();
    let (jobs, done) = (EVENTS_A_WORKER + 1000, Arc::new(AtomicUsize::new(0)));
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
    assert_eq!(trace.events(0).len(), EVENTS_A_WORKER);
    assert!(trace.dropped() >= 1000);
    assert!(json(&trace)["otherData"]["dropped"].as_u64() >= Some(1000));
}

#[test]
fn a_file_is_replaced_as_a_whole_or_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    fs::write(&path, "old").unwrap();
    let trace = busy_pool().trace();
    trace.save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left in the folder");

    assert!(trace.save(folder.path().join("missing").join("trace.json")).is_err());
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(trace.save(&taken).is_err(), "a folder is not replaced");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nor is anything left beside it");
}
