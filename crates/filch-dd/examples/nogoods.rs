//! Nogoods: learnt dead ends, and why it matters where they are kept.
//!
//! `cargo run --release -p filch-dd --example nogoods`
//!
//! A puzzle has variables with a few values each, and pairs of values that conflict. The search
//! decides one variable after another, and counts all solutions. If no value is left for a
//! variable, a few of the earlier decisions are the cause, one for each value: together they are a
//! *nogood*. No solution contains it. A partial solution that contains it can be dropped at once,
//! long before the search reaches that variable.
//!
//! A nogood is true everywhere, but it is of use only where its decisions are made: near the place
//! where it was learnt. Checking all known nogoods would cost more than it saves, so each task
//! checks four. The workers keep some more, the nearest to their work. A batch that goes to another
//! worker takes along those that are near to it.
//!
//! The table compares the same search in four ways: without nogoods; with four that are not near,
//! because the regions given to the master say nothing of where a task lies; with the four nearest;
//! and with these when batches are taken from one worker after another, wherever they work. The
//! last way makes no difference here: the worker that gets a batch also gets the nogoods near it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_dd::master::{Master, Region, Report, RoundRobin, Work, Worker};

/// The number of nogoods that a task checks.
const CHECKED_NOGOODS: usize = 4;
/// The number of nogoods that a worker keeps.
const KEPT_NOGOODS: usize = 128;
/// The most variables.
const MAX_VARIABLES: usize = 24;

/// A puzzle.
struct Puzzle {
    variables: usize,
    values: u8,
    /// For each pair of variables and of values, whether they conflict.
    forbidden: Vec<bool>,
}

impl Puzzle {
    /// Returns a random puzzle.
    ///
    /// Every two variables are constrained with probability `density`. If they are, every two of
    /// their values are forbidden with probability `tightness`.
    fn random(variables: usize, values: u8, density: f64, tightness: f64, seed: u64) -> Self {
        assert!(variables <= MAX_VARIABLES, "this example supports at most {MAX_VARIABLES} variables");
        let mut puzzle = Puzzle { variables, values, forbidden: Vec::new() };
        puzzle.forbidden = vec![false; (variables * usize::from(values)).pow(2)];
        let mut state = seed;
        let mut chance = move |probability: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let scattered = (state ^ (state >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            ((scattered >> 11) as f64) < probability * (1u64 << 53) as f64
        };
        for later in 1..variables {
            for earlier in 0..later {
                if chance(density) {
                    for (own, other) in (0..values).flat_map(|own| (0..values).map(move |other| (own, other))) {
                        let index = puzzle.index(later, own, earlier, other);
                        puzzle.forbidden[index] = chance(tightness);
                    }
                }
            }
        }
        puzzle
    }

    fn index(&self, later: usize, value: u8, earlier: usize, other: u8) -> usize {
        let (row, column) = (later * usize::from(self.values), earlier * usize::from(self.values));
        (row + usize::from(value)) * self.variables * usize::from(self.values) + column + usize::from(other)
    }

    /// Returns the first decision so far that conflicts with `value` for the next variable.
    fn obstacle(&self, partial: &Partial, value: u8) -> Option<usize> {
        let decided = partial.decided();
        (0..decided.len()).find(|&earlier| self.forbidden[self.index(decided.len(), value, earlier, decided[earlier])])
    }
}

/// A partial solution: the first variables are decided.
#[derive(Clone, Copy)]
struct Partial {
    values: [u8; MAX_VARIABLES],
    count: usize,
}

impl Partial {
    const EMPTY: Partial = Partial { values: [0; MAX_VARIABLES], count: 0 };

    fn decided(&self) -> &[u8] {
        &self.values[..self.count]
    }

    fn with(mut self, value: u8) -> Self {
        self.values[self.count] = value;
        self.count += 1;
        self
    }
}

/// Decisions that conflict: variables, in rising order, and their values.
struct Nogood(Vec<(usize, u8)>);

impl Nogood {
    fn is_in(&self, partial: &Partial) -> bool {
        self.0.iter().all(|&(variable, value)| partial.decided().get(variable) == Some(&value))
    }
}

/// The regions that the master gets.
#[derive(Clone, Copy, PartialEq)]
enum Regions {
    /// The decisions so far.
    Decisions,
    /// A number that has nothing to do with the decisions.
    Random,
}

/// The search.
struct Search<'p> {
    puzzle: &'p Puzzle,
    regions: Regions,
    solutions: AtomicU64,
    pruned: AtomicU64,
    learnt: AtomicU64,
}

impl Search<'_> {
    /// Returns the decisions that together forbid every value of the next variable.
    ///
    /// For each value it is the earliest decision that forbids it. `None` if a value is left.
    fn nogood(&self, partial: &Partial) -> Option<Nogood> {
        let obstacles = (0..self.puzzle.values).map(|value| self.puzzle.obstacle(partial, value));
        let mut variables = obstacles.collect::<Option<Vec<usize>>>()?;
        variables.sort_unstable();
        variables.dedup();
        Some(Nogood(variables.into_iter().map(|variable| (variable, partial.values[variable])).collect()))
    }
}

impl Work for Search<'_> {
    type Task = Partial;
    type Learnt = Nogood;

    fn region(&self, partial: &Partial) -> Region {
        match self.regions {
            Regions::Decisions => {
                partial.decided().iter().fold(Region::ROOT, |region, value| region.child(u32::from(*value)))
            }
            Regions::Random => {
                let number = partial.decided().iter().fold(7u64, |number, value| {
                    (number ^ u64::from(*value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
                });
                (0..16).fold(Region::ROOT, |region, digit| region.child((number >> (4 * digit)) as u32 % 4))
            }
        }
    }

    fn process(&self, partial: Partial, worker: &mut Worker<'_, Self>) {
        if worker.learnt().take(CHECKED_NOGOODS).any(|(_, nogood)| nogood.is_in(&partial)) {
            self.pruned.fetch_add(1, Ordering::Relaxed);
        } else if partial.count == self.puzzle.variables {
            self.solutions.fetch_add(1, Ordering::Relaxed);
        } else if let Some(nogood) = self.nogood(&partial) {
            // A nogood that names the last decision is not published: checking the values finds it
            // again.
            let last = nogood.0.last().map_or(0, |(variable, _)| variable + 1);
            if last < partial.count {
                self.learnt.fetch_add(1, Ordering::Relaxed);
                // It was learnt further down, but it holds for all partial solutions with the same
                // decisions up to the last one that it names.
                worker.publish_at(self.region(&Partial { count: last, ..partial }), nogood);
            }
        } else {
            let values = (0..self.puzzle.values).filter(|&value| self.puzzle.obstacle(&partial, value).is_none());
            worker.push_batch(values.map(|value| partial.with(value)).collect());
        }
    }
}

/// One line of the table.
struct Row {
    name: &'static str,
    solutions: u64,
    tasks: u64,
    pruned: u64,
    learnt: u64,
    report: Report<Partial>,
}

impl Row {
    fn new(name: &'static str, puzzle: &Puzzle, regions: Regions, master: Master<'_>) -> Self {
        let zero = || AtomicU64::new(0);
        let search = Search { puzzle, regions, solutions: zero(), pruned: zero(), learnt: zero() };
        let report = master.run(vec![Partial::EMPTY], &search);
        let Search { solutions, pruned, learnt, .. } = search;
        let [solutions, pruned, learnt] = [solutions, pruned, learnt].map(AtomicU64::into_inner);
        Row { name, solutions, tasks: report.total().tasks, pruned, learnt, report }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, solutions, tasks, pruned, learnt, .. } = self;
        let batches = self.report.moved.batches;
        write!(f, "{name:<28} {solutions:>9} {tasks:>9} {learnt:>9} {pruned:>9} {batches:>9}")
    }
}

/// Runs the same search in four ways, with four workers on one thread.
///
/// So the counts are the same every time.
fn table(puzzle: &Puzzle) -> [Row; 4] {
    let deterministic = |kept| Master::new().threads(4).deterministic().notes_per_worker(kept);
    [
        Row::new("no nogoods", puzzle, Regions::Decisions, deterministic(0)),
        Row::new("four from anywhere", puzzle, Regions::Random, deterministic(KEPT_NOGOODS)),
        Row::new("the four nearest", puzzle, Regions::Decisions, deterministic(KEPT_NOGOODS)),
        Row::new(
            "the same, batches in turn",
            puzzle,
            Regions::Decisions,
            deterministic(KEPT_NOGOODS).policy(RoundRobin::default()),
        ),
    ]
}

fn main() {
    let puzzle = Puzzle::random(22, 4, 0.5, 0.2, 5);
    println!("{:<28} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "solutions", "tasks", "learnt", "pruned", "batches");
    for row in table(&puzzle) {
        println!("{row}");
    }
    println!(
        "{}",
        Row::new(
            "the nearest, on two threads",
            &puzzle,
            Regions::Decisions,
            Master::new().threads(2).notes_per_worker(KEPT_NOGOODS)
        )
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of solutions, without nogoods.
    fn solutions(puzzle: &Puzzle, partial: Partial) -> u64 {
        if partial.count == puzzle.variables {
            return 1;
        }
        let values = (0..puzzle.values).filter(|&value| puzzle.obstacle(&partial, value).is_none());
        values.map(|value| solutions(puzzle, partial.with(value))).sum()
    }

    #[test]
    fn nogoods_lose_no_solution() {
        for seed in 0..30 {
            let puzzle = Puzzle::random(10, 3, 0.5, 0.25, seed);
            let expected = solutions(&puzzle, Partial::EMPTY);
            for row in table(&puzzle) {
                assert_eq!(row.solutions, expected, "{}, seed {seed}", row.name);
            }
            let row = Row::new("", &puzzle, Regions::Decisions, Master::new().threads(2));
            assert_eq!(row.solutions, expected, "on threads, seed {seed}");
        }
    }

    #[test]
    fn nogoods_prune_and_those_nearby_prune_more() {
        let [none, anywhere, near, turns] = table(&Puzzle::random(22, 4, 0.5, 0.2, 5)).map(|row| row.tasks);
        assert!(2 * anywhere < none, "{anywhere} of {none}");
        assert!(3 * near < 2 * anywhere && 3 * turns < 2 * anywhere, "{near} and {turns} of {anywhere}");
    }
}
