//! Random trees of all operations, compared with the results of a single thread. There are more
//! workers than CPUs.
//!
//! `FILCH_STRESS_JOINS` sets how many joins each kind of pool makes; by default, two million.
// Atomics only, and threads that are joined: ThreadSanitizer cannot see into a standard library
// that it has not built.

#[path = "stress/callers.rs"]
mod callers;
mod common;

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use common::{build, panic_with, watchdog, POOL_KINDS};
use filch::{Pool, Worker};

/// The number of joins in one tree.
const TREE_SIZE: u64 = 20_000;

fn joins_per_pool() -> u64 {
    match env::var("FILCH_STRESS_JOINS") {
        Ok(number) => number.parse().expect("FILCH_STRESS_JOINS must be a number of joins"),
        Err(_) => 2_000_000,
    }
}

/// Marsaglia's xorshift, and a multiplication: derives a number from a seed.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn combine(a: u64, b: u64) -> u64 {
    mix(a).wrapping_mul(3) ^ mix(b)
}

/// A tree, or part of one. The seed determines what it does, and it has `size` leaves.
#[derive(Clone, Copy)]
struct Tree {
    seed: u64,
    size: u64,
}

/// What a tree does at its root.
enum Kind {
    /// A value, or a panic with it.
    Leaf {
        panics: bool,
    },
    /// A value that a spawned job adds to a sum, at some time.
    Spawn,
    Join,
    WorkerJoin,
    MaybeJoin,
    /// Each part is a task, or the closure itself.
    Scope,
    /// Catches the panics of its part.
    Catch,
    /// Its part is done in the other pool.
    Install,
}

impl Tree {
    fn kind(self) -> Kind {
        let random = mix(self.seed) % 1024;
        if self.size <= 1 {
            return match random {
                0..=1 => Kind::Leaf { panics: true },
                2..=9 => Kind::Spawn,
                _ => Kind::Leaf { panics: false },
            };
        }
        match random {
            0..=399 => Kind::Join,
            400..=699 => Kind::WorkerJoin,
            700..=969 => Kind::MaybeJoin,
            970..=999 => Kind::Scope,
            1000..=1022 => Kind::Catch,
            _ => Kind::Install,
        }
    }

    fn value(self) -> u64 {
        mix(self.seed ^ 0x5555)
    }

    /// Returns the same leaves under another root.
    fn inner(self) -> Tree {
        Tree { seed: mix(self.seed ^ 1), size: self.size }
    }

    /// Returns two parts, mostly of about the same size.
    fn halves(self) -> (Tree, Tree) {
        let random = mix(self.seed ^ 2);
        let left = if random % 4 == 0 { 1 + (random >> 8) % (self.size - 1) } else { self.size / 2 };
        (Tree { seed: mix(self.seed ^ 3), size: left }, Tree { seed: mix(self.seed ^ 4), size: self.size - left })
    }

    /// Returns its result, or its panic, as computed by a single thread. Adds the results of its
    /// spawned jobs to `spawned`.
    fn run_serially(self, spawned: &mut u64) -> Result<u64, u64> {
        match self.kind() {
            Kind::Leaf { panics: false } => Ok(self.value()),
            Kind::Leaf { panics: true } => Err(self.value()),
            Kind::Spawn => {
                *spawned = spawned.wrapping_add(self.value());
                Ok(0)
            }
            Kind::Join | Kind::WorkerJoin | Kind::MaybeJoin => {
                let (left, right) = self.halves();
                let (a, b) = (left.run_serially(spawned), right.run_serially(spawned));
                Ok(combine(a?, b?))
            }
            Kind::Scope => {
                let ((first, second), third) = self.thirds();
                let parts = [first, second, third].map(|part| part.map_or(Ok(1), |part| part.run_serially(spawned)));
                // It is not determined which of several panics is the first.
                let [a, b, c] = parts;
                match (a, b, c) {
                    (Ok(a), Ok(b), Ok(c)) => Ok(a.wrapping_add(b).wrapping_add(c)),
                    _ => Err(self.value()),
                }
            }
            Kind::Catch => Ok(mix(match self.inner().run_serially(spawned) {
                Ok(value) => value,
                Err(panic) => !panic,
            })),
            Kind::Install => self.inner().run_serially(spawned),
        }
    }

    /// Returns three parts, of which some may be missing.
    fn thirds(self) -> ((Option<Tree>, Option<Tree>), Option<Tree>) {
        let (left, right) = self.halves();
        if left.size > 1 {
            let (first, second) = left.halves();
            ((Some(first), Some(second)), Some(right))
        } else {
            ((Some(left), None), Some(right))
        }
    }
}

/// The pools in which a tree is evaluated.
struct Pools<'a> {
    pools: [&'a Pool; 2],
    spawned: &'a Arc<AtomicU64>,
}

impl Pools<'_> {
    fn run(&self, tree: Tree, pool: usize) -> u64 {
        match tree.kind() {
            Kind::Leaf { panics: false } => tree.value(),
            Kind::Leaf { panics: true } => panic_with(tree.value()),
            Kind::Spawn => {
                let spawned = self.spawned.clone();
                filch::spawn(move || {
                    spawned.fetch_add(tree.value(), Ordering::Relaxed);
                });
                0
            }
            Kind::Join => {
                let (left, right) = tree.halves();
                let (a, b) = filch::join(|| self.run(left, pool), || self.run(right, pool));
                combine(a, b)
            }
            Kind::WorkerJoin => filch::with_worker(|worker| self.run_on(worker, tree, pool)),
            Kind::MaybeJoin => {
                let (left, right) = tree.halves();
                let (a, b) = filch::maybe_join(|| self.run(left, pool), || self.run(right, pool));
                combine(a, b)
            }
            Kind::Scope => self.run_scope(tree, pool),
            Kind::Catch => mix(match catch(|| self.run(tree.inner(), pool)) {
                Ok(value) => value,
                Err(panic) => !panic,
            }),
            Kind::Install => self.pools[1 - pool].install(|| self.run(tree.inner(), 1 - pool)),
        }
    }

    fn run_on(&self, worker: &mut Worker, tree: Tree, pool: usize) -> u64 {
        let (left, right) = match tree.kind() {
            Kind::WorkerJoin | Kind::Join => tree.halves(),
            Kind::MaybeJoin => {
                let (left, right) = tree.halves();
                let (a, b) = worker
                    .maybe_join(|worker| self.run_on(worker, left, pool), |worker| self.run_on(worker, right, pool));
                return combine(a, b);
            }
            _ => return self.run(tree, pool),
        };
        let (a, b) = worker.join(|worker| self.run_on(worker, left, pool), |worker| self.run_on(worker, right, pool));
        combine(a, b)
    }

    fn run_scope(&self, tree: Tree, pool: usize) -> u64 {
        let ((first, second), third) = tree.thirds();
        let sum = AtomicU64::new(0);
        let add = |part: Option<Tree>| {
            let value = part.map_or(1, |part| self.run(part, pool));
            sum.fetch_add(value, Ordering::Relaxed);
        };
        let add = &add;
        let result = catch(|| {
            filch::scope(|scope| {
                scope.spawn(move |scope| {
                    // A task of a task.
                    scope.spawn(move |_| add(first));
                    add(second);
                });
                add(third);
            });
        });
        match result {
            Ok(()) => sum.into_inner(),
            Err(_) => panic_with(tree.value()),
        }
    }
}

fn catch<R>(f: impl FnOnce() -> R) -> Result<R, u64> {
    panic::catch_unwind(AssertUnwindSafe(f))
        .map_err(|payload| *payload.downcast::<u64>().expect("the payload must be a u64"))
}

/// Runs random trees with about `joins` joins in a pool of each kind.
fn stress(threads: usize, fork_depth: Option<usize>, joins: u64) {
    for (kind, (fences, waiting)) in POOL_KINDS.into_iter().enumerate() {
        let new = |threads| {
            let builder = Pool::builder().threads(threads).fences(fences).waiting(waiting).raid(true);
            build(match fork_depth {
                Some(depth) => builder.fork_depth(depth),
                None => builder,
            })
        };
        let pools = [new(threads), new(1 + threads % 2)];
        let (spawned, mut expected) = (Arc::new(AtomicU64::new(0)), 0);
        for round in 0..joins.div_ceil(TREE_SIZE) {
            let tree = Tree { seed: mix(round << 8 | (threads as u64) << 3 | kind as u64), size: TREE_SIZE };
            let both = Pools { pools: [&pools[0], &pools[1]], spawned: &spawned };
            let result = catch(|| pools[0].install(|| both.run(tree, 0)));
            assert_eq!(
                result,
                tree.run_serially(&mut expected),
                "{fences:?} {waiting:?} {threads} workers, round {round}"
            );
        }
        drop(pools);
        assert_eq!(spawned.load(Ordering::Relaxed), expected, "the sum of the spawned jobs");
    }
}

#[test]
fn random_trees_on_one_worker_have_the_serial_result() {
    let _watchdog = watchdog();
    stress(1, None, joins_per_pool());
}

#[test]
fn random_trees_on_two_workers_have_the_serial_result() {
    let _watchdog = watchdog();
    stress(2, None, joins_per_pool());
}

#[test]
fn random_trees_on_three_workers_have_the_serial_result() {
    let _watchdog = watchdog();
    stress(3, None, joins_per_pool());
}

#[test]
fn random_trees_on_eight_workers_have_the_serial_result() {
    let _watchdog = watchdog();
    stress(8, None, joins_per_pool());
}

#[test]
fn random_trees_deeper_than_the_fork_stack_have_the_serial_result() {
    // Every join at the end takes the slow path.
    let _watchdog = watchdog();
    stress(3, Some(6), joins_per_pool() / 20);
}
