//! The programs, one file for each problem.
//!
//! Each makes its input once and then runs as often as it is told.

mod allocations;
mod idle;
mod join;
mod life;
mod matmul;
mod n_body;
mod numbers;
mod outside;
mod results;
mod scope_spawn;
mod sieve;
mod small;
mod spawn;
mod str_split;
mod tick;
mod tsp;
mod walk;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::clock::{timed, Round};

/// A program. A call runs a round.
pub(crate) type Program = Box<dyn FnMut() -> Round>;

/// A program whose rounds run `work`, which makes `operations` operations.
fn repeated<T: 'static>(operations: u64, work: impl Fn() -> T + 'static, check: fn(&T) -> u64) -> Program {
    Box::new(move || timed(operations, &work, check))
}

/// How often a round repeats its work. The work that the name describes is the same in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// For published figures.
    Full,
    /// For a first look.
    Quick,
}

impl Amount {
    /// Returns the count for this amount.
    fn of(self, full: u64, quick: u64) -> u64 {
        match self {
            Amount::Full => full,
            Amount::Quick => quick,
        }
    }
}

/// A pool beside the global one, with as many threads.
fn own_pool() -> Result<ThreadPool, String> {
    build_pool(ThreadPoolBuilder::new())
}

/// Builds a pool with as many threads as the global one.
fn build_pool(builder: ThreadPoolBuilder) -> Result<ThreadPool, String> {
    let pool = builder.num_threads(rayon::current_num_threads()).build();
    pool.map_err(|error| format!("cannot build a pool: {error}"))
}

/// The program with that name and its input, or `None` if it does not exist.
pub(crate) fn named(name: &str, amount: Amount) -> Result<Option<Program>, String> {
    if let Some(name) = name.strip_prefix("outside/") {
        return outside::named(name, amount);
    }
    if let Some(name) = name.strip_prefix("scope-allocations/") {
        return allocations::named(name);
    }
    Ok(Some(match name {
        "par-iter-sum-10m" => numbers::sum(10_000_000, amount.of(10, 4)),
        "map-collect-10m" => numbers::map_collect(10_000_000),
        "par-sort-10m" => numbers::sort(10_000_000),
        "par-bridge" => numbers::bridge(200_000),
        "max-len-1" => numbers::in_parts_of_one(1_000_000),
        "par-chunks-matmul" => matmul::program(512),
        "n-body" => n_body::program(1_000, amount.of(20, 5)),
        "life" => life::program(64, amount.of(2_000, 500)),
        "life-large" => life::program(2_048, amount.of(10, 4)),
        "sieve" => sieve::program(50_000_000),
        "tsp" => tsp::program(13),
        "str-split" => str_split::program(20_000_000),
        "join-tree-16m" => join::tree(24),
        "join-fib" => join::fib(32),
        "small-50-installed" => small::installed(50, amount.of(100_000, 10_000))?,
        "scope-100k" => scope_spawn::flat(100_000),
        "scope-fifo-100k" => scope_spawn::flat_fifo(100_000),
        "scope-par-iter-100k" => scope_spawn::by_iterator(100_000),
        "spawn-tree-17" => scope_spawn::tree(17),
        "scope-of-1" => scope_spawn::small(1, amount.of(100_000, 20_000))?,
        "scope-of-4" => scope_spawn::small(4, amount.of(100_000, 20_000))?,
        "scope-of-64" => scope_spawn::small(64, amount.of(5_000, 1_000))?,
        "spawn-inside-100k" => spawn::inside(100_000)?,
        "spawn-outside-1" => spawn::outside(1, 100_000),
        "spawn-outside-4" => spawn::outside(4, 100_000),
        "walk" => walk::program(amount.of(2_000, 100))?,
        "scope-spawn" => scope_spawn::flat(amount.of(200_000, 100_000)),
        "scope-spawn-tree" => scope_spawn::tree(amount.of(19, 17) as u32),
        "idle" => idle::program(),
        "tick" => tick::program(amount.of(125, 60)),
        "tick-serial" => tick::serial(amount.of(125, 60)),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_starts_from_the_same_state() {
        let programs = [
            matmul::program(20),
            n_body::program(30, 3),
            life::program(16, 4),
            life::program(16, 5),
            walk::program(20).unwrap(),
        ];
        for (place, mut program) in programs.into_iter().enumerate() {
            assert_eq!(program().checksum(), program().checksum(), "program {place}");
        }
    }
}
