//! Closures that wait for each other. The programs end because a waiting worker runs all that its
//! wait needs.

mod common;

use std::env;
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::time::Duration;

use common::{
    build, flag, in_place_builder, is_set, set, spin_until, watchdog_for, watchdog_named, SpinBarrier, Watchdog,
};
use filch::{Fences, Pool, Scope, Waiting};

/// The time limit of a test. Each test takes seconds if it does not hang, and minutes if it is
/// repeated often.
const TIMEOUT: Duration = Duration::from_secs(600);

fn watchdog() -> Watchdog {
    watchdog_for(TIMEOUT)
}

/// Returns how often each program is run.
fn rounds() -> usize {
    env::var("FILCH_HANGS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(100)
}

/// Runs a program many times on pools with `threads` workers. There is a pool of each kind that
/// waits strictly, and one with a fork stack of one place.
fn repeat_inside_strict_pools(threads: usize, program: impl Fn() + Send + Sync) {
    let strict = || Pool::builder().threads(threads).waiting(Waiting::Strict);
    let builders = [
        strict(),
        strict().fences(Fences::Owner),
        strict().fork_depth(1),
        strict().fork_depth(2),
        in_place_builder(threads),
    ];
    for builder in builders {
        let pool = build(builder);
        (0..rounds()).for_each(|_| pool.install(&program));
    }
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_third_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(3, || {
        let (barrier, begun) = (SpinBarrier::new(3), flag());
        let inner = || filch::join(|| barrier.wait(), || barrier.wait());
        let outer = || {
            set(&begun);
            filch::join(|| barrier.wait(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_fourth_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(4, || {
        let (barrier, begun) = (SpinBarrier::new(4), flag());
        let innermost = || filch::join(|| barrier.wait(), || barrier.wait());
        let inner = || filch::join(|| barrier.wait(), innermost);
        let outer = || {
            set(&begun);
            filch::join(|| barrier.wait(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiting_worker_runs_tasks_of_a_scope_inside_the_awaited_job() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let (ran, begun) = (flag(), flag());
        let scope = || {
            set(&begun);
            filch::scope(|scope| {
                scope.spawn(|_| set(&ran));
                spin_until(|| is_set(&ran));
            });
        };
        filch::join(|| spin_until(|| is_set(&begun)), scope);
    });
}

#[test]
fn the_end_of_a_scope_runs_the_tasks_of_a_scope_inside_a_task() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let begun = flag();
        filch::scope(|scope| {
            scope.spawn(|_| {
                set(&begun);
                let barrier = SpinBarrier::new(2);
                filch::scope(|inner| {
                    inner.spawn(|_| barrier.wait());
                    inner.spawn(|_| barrier.wait());
                });
            });
            spin_until(|| is_set(&begun));
        });
    });
}

#[test]
fn a_waiting_worker_runs_tasks_of_an_exploration_inside_the_awaited_job() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let (barrier, begun) = (SpinBarrier::new(2), flag());
        let explore = || {
            set(&begun);
            filch::explore([0, 1], |_: usize, _| barrier.wait());
        };
        filch::join(|| spin_until(|| is_set(&begun)), explore);
    });
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_task_on_a_third_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(3, || {
        let (barrier, begun) = (SpinBarrier::new(3), flag());
        let scope = || {
            set(&begun);
            filch::scope(|scope| {
                scope.spawn(|_| _ = filch::join(|| barrier.wait(), || barrier.wait()));
                barrier.wait();
            });
        };
        filch::join(|| spin_until(|| is_set(&begun)), scope);
    });
}

#[test]
fn a_worker_that_waits_for_another_pool_runs_all_descendants_in_its_own_pool() {
    let _watchdog = watchdog();
    let (here, there) = (common::pool(3), common::pool(2));
    for _ in 0..rounds() {
        let barrier = SpinBarrier::new(3);
        let inner = || filch::join(|| barrier.wait(), || barrier.wait());
        here.install(|| there.install(|| here.install(|| filch::join(|| barrier.wait(), inner))));
    }
}

#[test]
fn a_long_comb_of_joins_ends() {
    let _watchdog = watchdog();
    fn comb(length: usize, count: &AtomicUsize) {
        if length == 0 {
            return;
        }
        filch::join(
            || comb(length - 1, count),
            || {
                std::thread::yield_now();
                count.fetch_add(1, Ordering::Relaxed);
            },
        );
    }
    repeat_inside_strict_pools(4, || {
        let count = AtomicUsize::new(0);
        comb(300, &count);
        assert_eq!(count.into_inner(), 300);
    });
}

/// A program of closures. Some wait until all of the waiting ones have begun.
#[derive(Clone, Debug)]
enum Program {
    /// Ends at once.
    Quick,
    /// Waits for the others.
    WaitForOthers,
    Join(Box<(Program, Program)>),
    /// The body and the tasks.
    Scope(Box<Program>, Vec<Program>),
    /// Called through the pool.
    Install(Box<Program>),
    /// This many roots that wait.
    Explore(usize),
    /// Spawned into the outermost scope.
    SpawnOutermost(Box<Program>),
}

impl Program {
    fn random(random: &mut impl FnMut(u64) -> u64, depth: u32) -> Program {
        let part = |random: &mut _| Program::random(random, depth - 1);
        match if depth == 0 { random(2) } else { random(10) } {
            0 => Program::Quick,
            1 => Program::WaitForOthers,
            2..=4 => Program::Join(Box::new((part(random), part(random)))),
            5 | 6 => {
                let tasks = (0..random(3)).map(|_| part(random)).collect();
                Program::Scope(Box::new(part(random)), tasks)
            }
            7 => Program::Install(Box::new(part(random))),
            8 => Program::Explore(1 + random(2) as usize),
            _ => Program::SpawnOutermost(Box::new(part(random))),
        }
    }

    /// Returns the number of closures that wait for the others. Excludes closures that are
    /// spawned into the outermost scope.
    fn waiting(&self) -> usize {
        match self {
            Program::Quick | Program::SpawnOutermost(_) => 0,
            Program::WaitForOthers => 1,
            Program::Join(halves) => halves.0.waiting() + halves.1.waiting(),
            Program::Scope(body, tasks) => body.waiting() + tasks.iter().map(Program::waiting).sum::<usize>(),
            Program::Install(inner) => inner.waiting(),
            Program::Explore(roots) => *roots,
        }
    }

    /// Returns the number of closures that wait for the others and are spawned into the outermost
    /// scope.
    fn waiting_outermost(&self) -> usize {
        match self {
            Program::Quick | Program::WaitForOthers | Program::Explore(_) => 0,
            Program::Join(halves) => halves.0.waiting_outermost() + halves.1.waiting_outermost(),
            Program::Scope(body, tasks) => {
                body.waiting_outermost() + tasks.iter().map(Program::waiting_outermost).sum::<usize>()
            }
            Program::Install(inner) => inner.waiting_outermost(),
            Program::SpawnOutermost(task) => task.waiting() + task.waiting_outermost(),
        }
    }

    /// Returns the number of closures that wait for each other.
    fn total(&self) -> usize {
        self.waiting() + self.waiting_outermost()
    }

    /// Returns how many workers may be stuck at the same time. Such a worker waits for something
    /// that is blocked and in which nothing is left to begin, while some of all `total` closures
    /// that wait for each other have not begun. This can happen to a join whose first closure does
    /// not block, and to a scope whose body does not.
    fn stuck(&self, total: usize) -> usize {
        let may_be_stuck = |before: usize, awaited: usize| usize::from(before == 0 && awaited > 0 && awaited < total);
        match self {
            Program::Quick | Program::WaitForOthers => 0,
            Program::Join(halves) => {
                may_be_stuck(halves.0.waiting(), halves.1.waiting()) + halves.0.stuck(total) + halves.1.stuck(total)
            }
            Program::Scope(body, tasks) => {
                let inside: usize = tasks.iter().map(|task| task.stuck(total)).sum();
                may_be_stuck(body.waiting(), self.waiting()) + body.stuck(total) + inside
            }
            Program::Install(inner) => inner.stuck(total),
            Program::Explore(roots) => may_be_stuck(0, *roots),
            Program::SpawnOutermost(task) => task.stuck(total),
        }
    }

    /// Returns a sufficient number of workers.
    fn workers(&self) -> usize {
        // Only the wait for the outermost scope contains the closures that are spawned into it.
        let total = if self.waiting_outermost() == 0 { self.total() } else { usize::MAX };
        self.total() + self.stuck(total)
    }

    fn run(&self, pool: &Pool, barrier: &SpinBarrier) {
        filch::scope(|outermost| self.run_in(outermost, pool, barrier));
    }

    fn run_in<'s>(&'s self, outermost: &Scope<'s>, pool: &'s Pool, barrier: &'s SpinBarrier) {
        let run = |program: &'s Program| program.run_in(outermost, pool, barrier);
        match self {
            Program::Quick => {}
            Program::WaitForOthers => barrier.wait(),
            Program::Join(halves) => {
                filch::join(|| run(&halves.0), || run(&halves.1));
            }
            Program::Scope(body, tasks) => filch::scope(|scope| {
                for task in tasks {
                    scope.spawn(move |_| run(task));
                }
                run(body);
            }),
            Program::Install(inner) => pool.install(|| run(inner)),
            Program::Explore(roots) => {
                filch::explore(0..*roots, |_, _| barrier.wait());
            }
            Program::SpawnOutermost(task) => outermost.spawn(move |outermost| task.run_in(outermost, pool, barrier)),
        }
    }
}

/// Returns a generator of random numbers below a bound.
fn random_numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

#[test]
fn random_programs_end_on_a_sufficient_number_of_workers() {
    let mut tried = 0;
    for seed in 0.. {
        let program = Program::random(&mut random_numbers(seed), 4);
        let workers = program.workers();
        if program.total() < 2 || workers > 8 {
            continue;
        }
        let _watchdog = watchdog_named(&format!("{program:?} on {workers} workers"), TIMEOUT);
        for builder in [Pool::builder().threads(workers), Pool::builder().threads(workers).fork_depth(1)] {
            let pool = build(builder.waiting(Waiting::Strict));
            for _ in 0..5 {
                let barrier = SpinBarrier::new(program.total());
                pool.install(|| program.run(&pool, &barrier));
            }
        }
        tried += 1;
        if tried == 4 * rounds() {
            return;
        }
    }
}

/// Runs `program` on a pool of each kind that waits strictly, one after the other.
fn repeat_with_strict_pools(threads: usize, program: impl Fn(&Pool)) {
    for builder in
        [Pool::builder().threads(threads), Pool::builder().threads(threads).fork_depth(1), in_place_builder(threads)]
    {
        let pool = build(builder.waiting(Waiting::Strict));
        (0..rounds()).for_each(|_| program(&pool));
    }
}

/// Runs the closure for each number below `count`, by a tree of joins.
fn for_each(count: usize, f: &(impl Fn(usize) + Sync)) {
    fn for_range(from: usize, to: usize, f: &(impl Fn(usize) + Sync)) {
        if to - from == 1 {
            return f(from);
        }
        let middle = from + (to - from) / 2;
        filch::join(|| for_range(from, middle, f), || for_range(middle, to, f));
    }
    for_range(0, count, f);
}

/// Computes a sum, so that others can steal a part.
fn sum(count: usize) -> usize {
    let sum = AtomicUsize::new(0);
    for_each(count, &|number| {
        std::thread::yield_now();
        sum.fetch_add(number, Ordering::Relaxed);
    });
    sum.into_inner()
}

// The following programs deadlock if a waiting worker runs anything (rayon's issues 592, 1142,
// 1174, 1205 and 1251). A job that the worker runs during the wait needs a lock that the same
// worker already holds.

fn loop_under_a_mutex(pool: &Pool) {
    let mutex = Mutex::new(0);
    pool.install(|| for_each(16, &|_| *mutex.lock().unwrap() += sum(8)));
    assert_eq!(mutex.into_inner().unwrap(), 16 * 28);
}

#[test]
fn a_parallel_loop_under_a_mutex_inside_a_loop_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, loop_under_a_mutex);
}

fn lazy_value(pool: &Pool) {
    let (value, computed) = (OnceLock::new(), AtomicUsize::new(0));
    let compute = || {
        computed.fetch_add(1, Ordering::Relaxed);
        sum(16)
    };
    pool.install(|| for_each(16, &|_| assert_eq!(*value.get_or_init(compute), 120)));
    assert_eq!(computed.into_inner(), 1);
}

#[test]
fn a_lazy_value_computed_by_a_parallel_loop_is_computed_once() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, lazy_value);
}

/// A reader, a writer that waits for it, and two readers behind the writer. Two workers are free.
fn readers_and_a_writer(pool: &Pool) {
    let (lock, is_read_locked, writer_waits) = (RwLock::new(0), flag(), flag());
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let guard = lock.read().unwrap();
            set(&is_read_locked);
            spin_until(|| is_set(&writer_waits));
            assert_eq!(sum(16) + *guard, 120);
        });
        scope.spawn(|_| {
            spin_until(|| is_set(&is_read_locked));
            set(&writer_waits);
            *lock.write().unwrap() += 1;
        });
        for _ in 0..2 {
            scope.spawn(|_| {
                spin_until(|| is_set(&writer_waits));
                let guard = lock.read().unwrap();
                assert!(*guard <= 1 && sum(16) == 120);
            });
        }
    });
}

#[test]
fn a_reader_with_a_parallel_loop_ends_while_a_writer_and_readers_wait() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(6, readers_and_a_writer);
}

fn iterator_behind_a_lock(pool: &Pool) {
    let numbers = Mutex::new(0..32);
    let next = || {
        let mut numbers = numbers.lock().unwrap();
        numbers.next().inspect(|_| assert_eq!(sum(8), 28))
    };
    let total = AtomicUsize::new(0);
    pool.install(|| {
        for_each(6, &|_| {
            while let Some(number) = next() {
                total.fetch_add(number + sum(4), Ordering::Relaxed);
            }
        });
    });
    assert_eq!(total.into_inner(), 31 * 16 + 32 * 6);
}

#[test]
fn an_iterator_under_a_mutex_with_parallel_loops_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(3, iterator_behind_a_lock);
}

fn scope_under_a_mutex(pool: &Pool) {
    let (mutex, total) = (Mutex::new(()), AtomicUsize::new(0));
    pool.scope(|outer| {
        for _ in 0..8 {
            outer.spawn(|_| {
                let _guard = mutex.lock().unwrap();
                filch::scope(|inner| {
                    (0..4).for_each(|_| inner.spawn(|_| _ = total.fetch_add(sum(4), Ordering::Relaxed)));
                });
            });
        }
    });
    assert_eq!(total.into_inner(), 8 * 4 * 6);
}

#[test]
fn a_scope_under_a_mutex_inside_a_scope_ends() {
    let _watchdog = watchdog();
    repeat_with_strict_pools(4, scope_under_a_mutex);
}

/// The programs from [`loop_under_a_mutex`] on, with the workers that they need.
const DEADLOCK_PRONE: [(&str, usize, fn(&Pool)); 5] = [
    ("loop under a mutex", 4, loop_under_a_mutex),
    ("lazy value", 4, lazy_value),
    ("readers and a writer", 6, readers_and_a_writer),
    ("iterator behind a lock", 3, iterator_behind_a_lock),
    ("scope under a mutex", 4, scope_under_a_mutex),
];

/// Returns whether a program ends in a process of its own. In that process, runs it and does not
/// return. In the processes of other programs, returns `None`.
fn ends_in_own_process(test: &str, name: &str, program: impl FnOnce()) -> Option<bool> {
    const PROGRAM: &str = "FILCH_TEST_PROGRAM";
    if let Ok(chosen) = env::var(PROGRAM) {
        if chosen == name {
            let _watchdog = watchdog_named(name, Duration::from_secs(5));
            program();
            process::exit(0);
        }
        return None;
    }
    let mut command = Command::new(env::current_exe().expect("path of this program"));
    command.args([test, "--exact", "--ignored", "--nocapture"]).env(PROGRAM, name);
    Some(command.output().expect("cannot start this program again").status.success())
}

#[test]
#[ignore = "prints a list and checks nothing: run it with `-- --ignored --nocapture`"]
fn list_programs_that_hang_with_other_settings() {
    let report = |name: &str, ends: Option<bool>| {
        if let Some(ends) = ends {
            println!("{}: {name}", if ends { "ends" } else { "HANGS" });
        }
    };
    let test = "list_programs_that_hang_with_other_settings";
    for (name, threads, program) in DEADLOCK_PRONE {
        let name = format!("{name}, on {threads} workers with Waiting::Any");
        let ends = ends_in_own_process(test, &name, || {
            let pool = build(Pool::builder().threads(threads).waiting(Waiting::Any));
            (0..10 * rounds()).for_each(|_| program(&pool));
        });
        report(&name, ends);
    }
    let random_programs =
        (0..).map(|seed| Program::random(&mut random_numbers(seed), 4)).filter(|program| program.total() >= 2);
    for program in random_programs.filter(|program| (3..=8).contains(&program.workers())).take(20) {
        let threads = program.workers() - 1;
        let name = format!("{program:?}, on {threads} workers, one less than sufficient");
        let ends = ends_in_own_process(test, &name, || {
            let pool = build(Pool::builder().threads(threads));
            for _ in 0..rounds() {
                let barrier = SpinBarrier::new(program.total());
                pool.install(|| program.run(&pool, &barrier));
            }
        });
        report(&name, ends);
    }
}
