//! Helpers that the tests of the runtime share.
// Each test file uses its own part of this.
#![allow(dead_code)]

use std::any::Any;
use std::env;
use std::hint;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use filch::{Builder, Callers, Fences, Pool, Waiting};

/// Aborts the process if the test that holds it takes too long. A hang must not stop CI.
#[must_use = "a watchdog ends when it is dropped"]
pub(crate) struct Watchdog {
    finished: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a watchdog for ten minutes. A test that takes seconds by itself may take a minute if the
/// processors are busy with something else, or with other virtual machines.
pub(crate) fn watchdog() -> Watchdog {
    watchdog_for(Duration::from_secs(600))
}

/// Starts a watchdog for `limit`.
pub(crate) fn watchdog_for(limit: Duration) -> Watchdog {
    watchdog_named(thread::current().name().unwrap_or("a test"), limit)
}

/// Starts a watchdog for a part of a test, by its name.
pub(crate) fn watchdog_named(name: &str, limit: Duration) -> Watchdog {
    let test = name.to_string();
    let finished = Arc::new(AtomicBool::new(false));
    let is_finished = finished.clone();
    let start = Instant::now();
    let thread = thread::spawn(move || {
        while !is_finished.load(Ordering::Acquire) {
            if start.elapsed() > limit {
                // Not `eprintln`, whose output the test harness captures.
                let _ =
                    writeln!(io::stderr(), "\n{test} hangs: it has not ended after {limit:?}; aborting the process");
                process::abort();
            }
            thread::park_timeout(limit / 10);
        }
    });
    Watchdog { finished, thread: Some(thread) }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.finished.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Creates a pool of `threads` workers.
pub(crate) fn pool(threads: usize) -> Pool {
    build(Pool::builder().threads(threads))
}

/// Builds the pool, or panics with the error.
pub(crate) fn build(builder: Builder) -> Pool {
    match builder.build() {
        Ok(pool) => pool,
        Err(error) => panic!("{error}"),
    }
}

/// Returns a builder of pools that lend seats to callers.
pub(crate) fn in_place_builder(threads: usize) -> Builder<'static> {
    Pool::builder().threads(threads).callers(Callers::InPlace)
}

/// Waits a moment after a call that a worker has run. Not to make a race likely: each such call
/// keeps its worker awake, so an immediate next call would find it awake again.
fn let_workers_sleep() {
    thread::sleep(Duration::from_millis(1));
}

/// Runs the closure in a call that runs on the calling thread. Retries while no worker sleeps.
pub(crate) fn call_in_place<R: Send>(pool: &Pool, f: impl FnOnce() -> R + Send) -> R {
    let mut f = Some(f);
    loop {
        let caller = thread::current().id();
        let is_on_caller = || thread::current().id() == caller;
        let result = pool.install(|| if is_on_caller() { f.take().map(|f| f()) } else { None });
        match result {
            Some(result) => return result,
            None => let_workers_sleep(),
        }
    }
}

/// Lends every seat of the pool at the same time. Retries while a worker is awake.
pub(crate) fn assert_all_seats_can_be_lent(pool: &Pool) {
    let threads = pool.current_num_threads();
    loop {
        let (inside, seats, was_shipped) = (AtomicUsize::new(0), AtomicUsize::new(0), flag());
        let call = || {
            let here = thread::current().id();
            pool.install(|| {
                if thread::current().id() != here {
                    return set(&was_shipped);
                }
                seats.fetch_or(
                    1 << filch::current_thread_index().expect("the call must run on a worker"),
                    Ordering::Relaxed,
                );
                inside.fetch_add(1, Ordering::AcqRel);
                spin_until(|| inside.load(Ordering::Acquire) == threads || is_set(&was_shipped));
            });
        };
        thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(call)));
        if inside.into_inner() == threads {
            assert_eq!(seats.into_inner(), (1 << threads) - 1, "each caller must have its own seat");
            return;
        }
        let_workers_sleep();
    }
}

/// Every fence mode with every waiting policy.
pub(crate) const POOL_KINDS: [(Fences, Waiting); 6] = [
    (Fences::Automatic, Waiting::Strict),
    (Fences::Automatic, Waiting::StrictInPool),
    (Fences::Automatic, Waiting::Any),
    (Fences::Owner, Waiting::Strict),
    (Fences::Owner, Waiting::StrictInPool),
    (Fences::Owner, Waiting::Any),
];

/// Runs `f` on a pool of each kind, one after the other.
pub(crate) fn for_each_pool_kind(threads: usize, f: impl Fn(&Pool)) {
    for (fences, waiting) in POOL_KINDS {
        f(&build(Pool::builder().threads(threads).fences(fences).waiting(waiting)));
    }
}

/// Computes a Fibonacci number with a join for each number above 1.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = filch::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Spins until `condition` returns true, and yields now and then. Some tests have more threads than
/// the machine has CPUs.
pub(crate) fn spin_until(condition: impl Fn() -> bool) {
    let mut spins = 0u32;
    while !condition() {
        spins = spins.wrapping_add(1);
        if spins % 64 == 0 {
            thread::yield_now();
        } else {
            hint::spin_loop();
        }
    }
}

/// Like [`spin_until`], but not forever. Returns whether `so` returned true. Only for what must
/// *not* happen.
pub(crate) fn spin_until_or_timeout(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    spin_until(|| condition() || start.elapsed() > limit);
    condition()
}

/// Returns a flag that is not set.
pub(crate) fn flag() -> AtomicBool {
    AtomicBool::new(false)
}

pub(crate) fn set(flag: &AtomicBool) {
    flag.store(true, Ordering::Release);
}

pub(crate) fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Acquire)
}

/// A barrier for several threads. Each spins until all have arrived.
pub(crate) struct SpinBarrier {
    missing: AtomicUsize,
}

impl SpinBarrier {
    pub(crate) fn new(count: usize) -> SpinBarrier {
        SpinBarrier { missing: AtomicUsize::new(count) }
    }

    pub(crate) fn wait(&self) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
        spin_until(|| self.missing.load(Ordering::Acquire) == 0);
    }
}

/// Panics with a payload, without output on the terminal.
pub(crate) fn panic_with(payload: impl Any + Send) -> ! {
    panic::resume_unwind(Box::new(payload))
}

/// Returns the payload with which the closure panics.
pub(crate) fn catch_payload<T: 'static, R>(f: impl FnOnce() -> R) -> T {
    match panic::catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("the closure did not panic"),
        Err(payload) => *payload.downcast::<T>().expect("the payload has another type"),
    }
}

/// Returns the message with which the closure panics.
pub(crate) fn catch_message<R>(f: impl FnOnce() -> R) -> String {
    match panic::catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("the closure did not panic"),
        Err(payload) => match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => payload.downcast::<&str>().expect("the payload is not a message").to_string(),
        },
    }
}

/// Counts the drops of the values that it creates.
#[derive(Clone, Default)]
pub(crate) struct Drops(Arc<AtomicUsize>);

impl Drops {
    /// Creates a value that counts its drop.
    pub(crate) fn new_value(&self) -> CountsDrop {
        CountsDrop(self.0.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A value that counts its drop.
#[derive(Debug)]
pub(crate) struct CountsDrop(Arc<AtomicUsize>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

const CHILD: &str = "FILCH_TEST_CHILD";

/// Runs `body` in a process of its own, and returns its output. The process is this program and the
/// named test again, with more variables. In that process, returns `None`.
pub(crate) fn run_in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Output> {
    if env::var(CHILD).is_ok_and(|name| name == test) {
        let _watchdog = watchdog_for(Duration::from_secs(300));
        body();
        return None;
    }
    let program = env::current_exe().expect("path of this program");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, test).envs(variables.iter().copied());
    Some(command.output().expect("cannot start this program again"))
}

/// Asserts that the child's test has passed.
#[track_caller]
pub(crate) fn assert_child_passed(child: Option<Output>) {
    let Some(output) = child else { return };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "no test ran: {}", text(&output.stdout));
}
