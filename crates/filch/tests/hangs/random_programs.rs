//! Random programs of closures that wait for each other end on a sufficient number of workers.

use crate::common::{build, watchdog_named, SpinBarrier};
use crate::{rounds, TIMEOUT};
use filch::{Pool, Scope, Waiting};

/// A program of closures. Some wait until all of the waiting ones have begun.
#[derive(Clone, Debug)]
pub(crate) enum Program {
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
    pub(crate) fn random(random: &mut impl FnMut(u64) -> u64, depth: u32) -> Program {
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
    pub(crate) fn total(&self) -> usize {
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
    pub(crate) fn workers(&self) -> usize {
        // Only the wait for the outermost scope contains the closures that are spawned into it.
        let total = if self.waiting_outermost() == 0 { self.total() } else { usize::MAX };
        self.total() + self.stuck(total)
    }

    pub(crate) fn run(&self, pool: &Pool, barrier: &SpinBarrier) {
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
pub(crate) fn random_numbers(seed: u64) -> impl FnMut(u64) -> u64 {
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
