//! Closures that wait for each other. The programs end because a waiting worker runs all that its
//! wait needs.

mod common;

use std::env;
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::time::Duration;

use common::{build, flag, is_set, lending, set, spin_until, watchdog_for, watchdog_named, Meeting, Watchdog};
use filch::{Fences, Pool, Scope, Waiting};

/// The time limit of a test. Each test takes seconds if it does not hang, and minutes if it is
/// repeated often.
const LIMIT: Duration = Duration::from_secs(600);

fn watchdog() -> Watchdog {
    watchdog_for(LIMIT)
}

/// Returns how often each program is run.
fn rounds() -> usize {
    env::var("FILCH_HANGS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(100)
}

/// Runs a program many times on pools with `threads` workers. There is a pool of each kind that
/// waits strictly, and one with a fork stack of one place.
fn for_each_strict(threads: usize, program: impl Fn() + Send + Sync) {
    let strict = || Pool::builder().threads(threads).waiting(Waiting::Strict);
    let builders =
        [strict(), strict().fences(Fences::Owner), strict().fork_depth(1), strict().fork_depth(2), lending(threads)];
    for builder in builders {
        let pool = build(builder);
        (0..rounds()).for_each(|_| pool.install(&program));
    }
}

#[test]
fn a_waiter_runs_what_a_third_worker_has_forked() {
    let _watchdog = watchdog();
    for_each_strict(3, || {
        let (meeting, begun) = (Meeting::of(3), flag());
        let inner = || filch::join(|| meeting.attend(), || meeting.attend());
        let outer = || {
            set(&begun);
            filch::join(|| meeting.attend(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiter_runs_what_a_fourth_worker_has_forked() {
    let _watchdog = watchdog();
    for_each_strict(4, || {
        let (meeting, begun) = (Meeting::of(4), flag());
        let innermost = || filch::join(|| meeting.attend(), || meeting.attend());
        let inner = || filch::join(|| meeting.attend(), innermost);
        let outer = || {
            set(&begun);
            filch::join(|| meeting.attend(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiter_runs_the_tasks_of_a_scope_that_was_opened_in_what_it_waits_for() {
    let _watchdog = watchdog();
    for_each_strict(2, || {
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
    for_each_strict(2, || {
        let begun = flag();
        filch::scope(|scope| {
            scope.spawn(|_| {
                set(&begun);
                let meeting = Meeting::of(2);
                filch::scope(|inner| {
                    inner.spawn(|_| meeting.attend());
                    inner.spawn(|_| meeting.attend());
                });
            });
            spin_until(|| is_set(&begun));
        });
    });
}

#[test]
fn a_waiter_explores_with_what_it_waits_for() {
    let _watchdog = watchdog();
    for_each_strict(2, || {
        let (meeting, begun) = (Meeting::of(2), flag());
        let explore = || {
            set(&begun);
            filch::explore([0, 1], |_: usize, _| meeting.attend());
        };
        filch::join(|| spin_until(|| is_set(&begun)), explore);
    });
}

#[test]
fn a_waiter_runs_what_a_task_on_a_third_worker_has_forked() {
    let _watchdog = watchdog();
    for_each_strict(3, || {
        let (meeting, begun) = (Meeting::of(3), flag());
        let scope = || {
            set(&begun);
            filch::scope(|scope| {
                scope.spawn(|_| _ = filch::join(|| meeting.attend(), || meeting.attend()));
                meeting.attend();
            });
        };
        filch::join(|| spin_until(|| is_set(&begun)), scope);
    });
}

#[test]
fn a_waiter_for_another_pool_runs_what_descends_from_there_at_any_distance() {
    let _watchdog = watchdog();
    let (here, there) = (common::pool(3), common::pool(2));
    for _ in 0..rounds() {
        let meeting = Meeting::of(3);
        let inner = || filch::join(|| meeting.attend(), || meeting.attend());
        here.install(|| there.install(|| here.install(|| filch::join(|| meeting.attend(), inner))));
    }
}

#[test]
fn a_long_comb_ends_with_every_worker_in_it() {
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
    for_each_strict(4, || {
        let count = AtomicUsize::new(0);
        comb(300, &count);
        assert_eq!(count.into_inner(), 300);
    });
}

/// A program of closures. Some wait until all of the waiting ones have begun.
#[derive(Clone, Debug)]
enum Shape {
    /// Ends at once.
    Quick,
    /// Waits for the others.
    Waits,
    Join(Box<(Shape, Shape)>),
    /// The body and the tasks.
    Scope(Box<Shape>, Vec<Shape>),
    /// Called through the pool.
    Install(Box<Shape>),
    /// So many roots that wait.
    Explore(usize),
    /// Spawned into the outermost scope.
    Later(Box<Shape>),
}

impl Shape {
    fn random(random: &mut impl FnMut(u64) -> u64, depth: u32) -> Shape {
        let part = |random: &mut _| Shape::random(random, depth - 1);
        match if depth == 0 { random(2) } else { random(10) } {
            0 => Shape::Quick,
            1 => Shape::Waits,
            2..=4 => Shape::Join(Box::new((part(random), part(random)))),
            5 | 6 => {
                let tasks = (0..random(3)).map(|_| part(random)).collect();
                Shape::Scope(Box::new(part(random)), tasks)
            }
            7 => Shape::Install(Box::new(part(random))),
            8 => Shape::Explore(1 + random(2) as usize),
            _ => Shape::Later(Box::new(part(random))),
        }
    }

    /// Returns the number of closures that wait for the others. Excludes those that are spawned for
    /// later.
    fn waiting(&self) -> usize {
        match self {
            Shape::Quick | Shape::Later(_) => 0,
            Shape::Waits => 1,
            Shape::Join(halves) => halves.0.waiting() + halves.1.waiting(),
            Shape::Scope(body, tasks) => body.waiting() + tasks.iter().map(Shape::waiting).sum::<usize>(),
            Shape::Install(inner) => inner.waiting(),
            Shape::Explore(roots) => *roots,
        }
    }

    /// Returns the number of closures that wait for the others and are spawned for later.
    fn waiting_later(&self) -> usize {
        match self {
            Shape::Quick | Shape::Waits | Shape::Explore(_) => 0,
            Shape::Join(halves) => halves.0.waiting_later() + halves.1.waiting_later(),
            Shape::Scope(body, tasks) => body.waiting_later() + tasks.iter().map(Shape::waiting_later).sum::<usize>(),
            Shape::Install(inner) => inner.waiting_later(),
            Shape::Later(task) => task.waiting() + task.waiting_later(),
        }
    }

    /// Returns the number of closures that wait for each other.
    fn total(&self) -> usize {
        self.waiting() + self.waiting_later()
    }

    /// Returns how many workers may be stuck at the same time. Such a worker waits for something
    /// that is blocked and in which nothing is left to begin, while some of all `total` closures
    /// that wait for each other have not begun. This can happen to a join whose first closure does
    /// not block, and to a scope whose body does not.
    fn stuck(&self, total: usize) -> usize {
        let may_be_stuck = |before: usize, awaited: usize| usize::from(before == 0 && awaited > 0 && awaited < total);
        match self {
            Shape::Quick | Shape::Waits => 0,
            Shape::Join(halves) => {
                may_be_stuck(halves.0.waiting(), halves.1.waiting()) + halves.0.stuck(total) + halves.1.stuck(total)
            }
            Shape::Scope(body, tasks) => {
                let inside: usize = tasks.iter().map(|task| task.stuck(total)).sum();
                may_be_stuck(body.waiting(), self.waiting()) + body.stuck(total) + inside
            }
            Shape::Install(inner) => inner.stuck(total),
            Shape::Explore(roots) => may_be_stuck(0, *roots),
            Shape::Later(task) => task.stuck(total),
        }
    }

    /// Returns a sufficient number of workers.
    fn workers(&self) -> usize {
        // Only the wait for the outermost scope contains what is spawned for later.
        let total = if self.waiting_later() == 0 { self.total() } else { usize::MAX };
        self.total() + self.stuck(total)
    }

    fn run(&self, pool: &Pool, meeting: &Meeting) {
        filch::scope(|around| self.run_in(around, pool, meeting));
    }

    fn run_in<'s>(&'s self, around: &Scope<'s>, pool: &'s Pool, meeting: &'s Meeting) {
        let run = |shape: &'s Shape| shape.run_in(around, pool, meeting);
        match self {
            Shape::Quick => {}
            Shape::Waits => meeting.attend(),
            Shape::Join(halves) => {
                filch::join(|| run(&halves.0), || run(&halves.1));
            }
            Shape::Scope(body, tasks) => filch::scope(|scope| {
                for task in tasks {
                    scope.spawn(move |_| run(task));
                }
                run(body);
            }),
            Shape::Install(inner) => pool.install(|| run(inner)),
            Shape::Explore(roots) => {
                filch::explore(0..*roots, |_, _| meeting.attend());
            }
            Shape::Later(task) => around.spawn(move |around| task.run_in(around, pool, meeting)),
        }
    }
}

/// Returns a generator of numbers below a bound.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

#[test]
fn random_programs_end_on_as_many_workers_as_they_need() {
    let mut tried = 0;
    for seed in 0.. {
        let shape = Shape::random(&mut numbers(seed), 4);
        let needed = shape.workers();
        if shape.total() < 2 || needed > 8 {
            continue;
        }
        let _watchdog = watchdog_named(&format!("{shape:?} on {needed} workers"), LIMIT);
        for builder in [Pool::builder().threads(needed), Pool::builder().threads(needed).fork_depth(1)] {
            let pool = build(builder.waiting(Waiting::Strict));
            for _ in 0..5 {
                let meeting = Meeting::of(shape.total());
                pool.install(|| shape.run(&pool, &meeting));
            }
        }
        tried += 1;
        if tried == 4 * rounds() {
            return;
        }
    }
}

/// Runs `program` on a pool of each kind that waits strictly, one after the other.
fn for_each_pool(threads: usize, program: impl Fn(&Pool)) {
    for builder in [Pool::builder().threads(threads), Pool::builder().threads(threads).fork_depth(1), lending(threads)]
    {
        let pool = build(builder.waiting(Waiting::Strict));
        (0..rounds()).for_each(|_| program(&pool));
    }
}

/// Runs the closure for each number below `count`, by a tree of joins.
fn for_each(count: usize, f: &(impl Fn(usize) + Sync)) {
    fn go(from: usize, to: usize, f: &(impl Fn(usize) + Sync)) {
        if to - from == 1 {
            return f(from);
        }
        let middle = from + (to - from) / 2;
        filch::join(|| go(from, middle, f), || go(middle, to, f));
    }
    go(0, count, f);
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
// 1174, 1205 and 1251): above a wait, a worker meets what it holds below.

fn loop_under_a_mutex(pool: &Pool) {
    let mutex = Mutex::new(0);
    pool.install(|| for_each(16, &|_| *mutex.lock().unwrap() += sum(8)));
    assert_eq!(mutex.into_inner().unwrap(), 16 * 28);
}

#[test]
fn a_loop_under_a_mutex_inside_a_loop_ends() {
    let _watchdog = watchdog();
    for_each_pool(4, loop_under_a_mutex);
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
fn a_value_that_a_loop_computes_when_it_is_first_wanted_in_a_loop_is_computed_once() {
    let _watchdog = watchdog();
    for_each_pool(4, lazy_value);
}

/// A reader, a writer that waits for it, and two readers behind the writer. Two workers are free.
fn readers_and_a_writer(pool: &Pool) {
    let (lock, read, writes) = (RwLock::new(0), flag(), flag());
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let guard = lock.read().unwrap();
            set(&read);
            spin_until(|| is_set(&writes));
            assert_eq!(sum(16) + *guard, 120);
        });
        scope.spawn(|_| {
            spin_until(|| is_set(&read));
            set(&writes);
            *lock.write().unwrap() += 1;
        });
        for _ in 0..2 {
            scope.spawn(|_| {
                spin_until(|| is_set(&writes));
                let guard = lock.read().unwrap();
                assert!(*guard <= 1 && sum(16) == 120);
            });
        }
    });
}

#[test]
fn readers_that_loop_go_on_while_a_writer_and_more_readers_wait() {
    let _watchdog = watchdog();
    for_each_pool(6, readers_and_a_writer);
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
fn an_iterator_behind_a_lock_whose_next_element_takes_a_loop_ends() {
    let _watchdog = watchdog();
    for_each_pool(3, iterator_behind_a_lock);
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
    for_each_pool(4, scope_under_a_mutex);
}

/// The programs from [`loop_under_a_mutex`] on, with the workers that they need.
const PUBLISHED: [(&str, usize, fn(&Pool)); 5] = [
    ("loop under a mutex", 4, loop_under_a_mutex),
    ("lazy value", 4, lazy_value),
    ("readers and a writer", 6, readers_and_a_writer),
    ("iterator behind a lock", 3, iterator_behind_a_lock),
    ("scope under a mutex", 4, scope_under_a_mutex),
];

/// Returns whether a program ends in a process of its own. In that process, runs it and does not
/// return. In the processes of other programs, returns `None`.
fn ends_alone(test: &str, name: &str, program: impl FnOnce()) -> Option<bool> {
    const PROGRAM: &str = "FILCH_TEST_PROGRAM";
    if let Ok(chosen) = env::var(PROGRAM) {
        if chosen == name {
            let _watchdog = watchdog_named(name, Duration::from_secs(5));
            program();
            process::exit(0);
        }
        return None;
    }
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args([test, "--exact", "--ignored", "--nocapture"]).env(PROGRAM, name);
    Some(command.output().expect("the same program again").status.success())
}

#[test]
#[ignore = "a list and no check: run it with `-- --ignored --nocapture`"]
fn programs_that_hang_elsewhere() {
    let say = |name: &str, ends: Option<bool>| {
        if let Some(ends) = ends {
            println!("{}: {name}", if ends { "ends" } else { "HANGS" });
        }
    };
    let test = "programs_that_hang_elsewhere";
    for (name, threads, program) in PUBLISHED {
        let name = format!("{name}, on {threads} workers that run anything in their waits");
        let ends = ends_alone(test, &name, || {
            let pool = build(Pool::builder().threads(threads).waiting(Waiting::Any));
            (0..10 * rounds()).for_each(|_| program(&pool));
        });
        say(&name, ends);
    }
    let with_spare = (0..).map(|seed| Shape::random(&mut numbers(seed), 4)).filter(|shape| shape.total() >= 2);
    for shape in with_spare.filter(|shape| (3..=8).contains(&shape.workers())).take(20) {
        let threads = shape.workers() - 1;
        let name = format!("{shape:?}, on {threads} workers, one less than it needs");
        let ends = ends_alone(test, &name, || {
            let pool = build(Pool::builder().threads(threads));
            for _ in 0..rounds() {
                let meeting = Meeting::of(shape.total());
                pool.install(|| shape.run(&pool, &meeting));
            }
        });
        say(&name, ends);
    }
}
