//! Allocations by tasks. There are none in the steady state, and the memory of many tasks is freed.
//!
//! One test, so that no other one allocates meanwhile.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{build, pool, spin_until, watchdog};
use filch::{Callers, Pool, Scope};

/// Counts allocations, and the bytes that are not freed.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the number of allocations during `run`.
fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    run();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Five words, for a closure to own.
#[derive(Clone, Copy)]
struct FiveWords([usize; 5]);

static OVER: AtomicUsize = AtomicUsize::new(0);

fn count(words: FiveWords) {
    black_box(words.0);
    OVER.fetch_add(1, Ordering::Relaxed);
}

fn flat(tasks: usize, words: FiveWords) {
    filch::scope(|scope| (0..tasks).for_each(|_| scope.spawn(move |_| count(words))));
}

fn flat_fifo(tasks: usize, words: FiveWords) {
    filch::scope_fifo(|scope| (0..tasks).for_each(|_| scope.spawn(move |_| count(words))));
}

fn tree<'scope>(scope: &Scope<'scope>, depth: usize) {
    if depth > 0 {
        let words = [depth; 5];
        for _ in 0..2 {
            scope.spawn(move |scope| tree(scope, black_box(words)[0] - 1));
        }
    }
}

fn scopes_of_four(scopes: usize, words: FiveWords) {
    (0..scopes).for_each(|_| flat(4, words));
}

fn spawns(jobs: usize, words: FiveWords) {
    (0..jobs).for_each(|_| filch::spawn(move || count(words)));
}

#[test]
fn tasks_of_up_to_five_words_are_not_allocated_and_memory_is_freed() {
    let _watchdog = watchdog();
    let words = FiveWords([1, 2, 3, 4, 5]);
    for threads in [1, 2] {
        let pool = pool(threads);
        let tasks = 20_000;
        let spawn_and_wait = || {
            let before = OVER.load(Ordering::Relaxed);
            pool.install(|| spawns(tasks, words));
            spin_until(|| OVER.load(Ordering::Relaxed) == before + tasks);
        };
        let shapes: [(&str, &(dyn Fn() + Sync)); 5] = [
            ("a scope", &|| pool.install(|| flat(tasks, words))),
            ("a fifo scope", &|| pool.install(|| flat_fifo(tasks, words))),
            ("a tree", &|| pool.install(|| filch::scope(|scope| tree(scope, 13)))),
            ("scopes of four", &|| pool.install(|| scopes_of_four(tasks / 4, words))),
            ("spawned jobs", &spawn_and_wait),
        ];
        for (name, shape) in shapes {
            // In the steady state: the fewest of many rounds. A round in which a worker sleeps, or
            // has more tasks than before, may allocate.
            let fewest = (0..10).map(|_| allocations(shape)).min().unwrap_or(usize::MAX);
            // A few allocations are for the calls themselves.
            assert!(fewest < 10, "{name} with {threads} threads: {fewest} allocations for {tasks} tasks");
        }
    }

    // A worker that sleeps keeps little of the memory that its tasks have taken.
    let pool = build(Pool::builder().threads(2).callers(Callers::Shipped));
    pool.install(|| flat(100, words));
    let before = BYTES.load(Ordering::Relaxed);
    pool.install(|| flat(100_000, words));
    let is_back = || BYTES.load(Ordering::Relaxed) - before < 64 * 1024;
    let start = Instant::now();
    while !is_back() {
        assert!(start.elapsed() < Duration::from_secs(60), "sleeping workers keep the memory of tasks");
        thread::sleep(Duration::from_millis(1));
    }

    // So does a caller that has run its tasks in place, if it has not needed the memory during a
    // call.
    let pool = build(Pool::builder().threads(2).callers(Callers::InPlace));
    let call_in_place = |tasks| common::call_in_place(&pool, || flat(tasks, words));
    call_in_place(100);
    let before = BYTES.load(Ordering::Relaxed);
    call_in_place(100_000);
    let start = Instant::now();
    while BYTES.load(Ordering::Relaxed) - before >= 64 * 1024 {
        assert!(start.elapsed() < Duration::from_secs(60), "lent seats keep the memory of tasks");
        call_in_place(100);
    }
}
