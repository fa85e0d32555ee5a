//! A small model checker. Visits every state of a system, and shows the path to a bad one.
//!
//! A state is a number. The states that were seen are in a table without locks. The worker that
//! inserts a state pushes it. If the queue gives a state twice, all its successors are in the table
//! already, so at least once is enough. The queue is first in, first out: so the path to a
//! violation is short, if not the shortest.
//!
//! ```text
//! cargo run --release -p filch --example model_checker              all models
//! cargo run --release -p filch --example model_checker -- puzzle    only this model: naive, peterson, puzzle or impossible
//! ```
//!
//! - `naive`: two processes look at each other's flag and then set their own. Both get in.
//! - `peterson`: Peterson's lock. They do not.
//! - `puzzle`: sliding tiles. The claim is that there is no solution, and the violation is the
//!   solution.
//! - `impossible`: the same from a position with two tiles exchanged: 181,440 states, and no
//!   solution.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use filch::explore::{Counts, Explore};
use filch::queue::Fifo;

/// A system, its transitions, and its invariant.
trait Model: Sync {
    fn start(&self) -> u64;
    fn next(&self, state: u64, visit: impl FnMut(u64));
    fn holds(&self, state: u64) -> bool;
    fn show(&self, state: u64) -> String;
}

/// The states that were seen, each with the state that it was reached from. The table does not
/// grow.
struct StateTable {
    /// A state plus one; 0 is a free slot. A used slot never changes.
    states: Vec<AtomicU64>,
    from: Vec<AtomicU64>,
    count: AtomicUsize,
}

/// Error: the table is nearly full.
#[derive(Debug)]
struct TableFull;

impl StateTable {
    fn with_capacity(capacity: usize) -> StateTable {
        let slots = (capacity * 2).next_power_of_two();
        let slots = || (0..slots).map(|_| AtomicU64::new(0)).collect();
        StateTable { states: slots(), from: slots(), count: AtomicUsize::new(0) }
    }

    /// Returns the slot of a state, or the free slot for it.
    fn slot(&self, state: u64) -> usize {
        let (mask, mut slot) = (self.states.len() - 1, (state.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize);
        loop {
            slot &= mask;
            // Relaxed: only the state in this slot is needed.
            match self.states[slot].load(Ordering::Relaxed) {
                0 => return slot,
                entry if entry == state + 1 => return slot,
                _ => slot += 1,
            }
        }
    }

    /// Inserts a state. Returns true for the first caller that inserts it.
    fn insert(&self, state: u64, from: u64) -> Result<bool, TableFull> {
        loop {
            let slot = self.slot(state);
            // Relaxed: the worker for which the state is new writes `from` and then pushes the
            // state. The queue shows both to the worker that gets it.
            match self.states[slot].compare_exchange(0, state + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.from[slot].store(from, Ordering::Relaxed);
                    let count = self.count.fetch_add(1, Ordering::Relaxed);
                    return if count < self.states.len() / 2 { Ok(true) } else { Err(TableFull) };
                }
                Err(entry) if entry == state + 1 => return Ok(false),
                // Another worker has used the slot for another state meanwhile.
                Err(_) => {}
            }
        }
    }

    /// Returns the path from the start to `state`. The start was reached from itself.
    fn path_to(&self, mut state: u64) -> Vec<u64> {
        let mut path = vec![state];
        loop {
            let from = self.from[self.slot(state)].load(Ordering::Relaxed);
            if from == state {
                path.reverse();
                return path;
            }
            path.push(from);
            state = from;
        }
    }
}

/// The result of a search.
#[derive(Debug)]
enum Verdict {
    Holds,
    /// The path from the start to a state that violates the invariant.
    Violated(Vec<u64>),
    /// There are more states than the table holds.
    TooManyStates,
}

struct Report {
    verdict: Verdict,
    states: usize,
    counts: Counts,
    took: Duration,
}

fn check(model: &impl Model, capacity: usize) -> Report {
    let (seen, begin) = (StateTable::with_capacity(capacity), Instant::now());
    let start = model.start();
    let is_full = seen.insert(start, start).is_err();
    let (found, explored) = Explore::at_least_once().queue(Fifo).find([start], |state, worker| {
        if !model.holds(state) {
            return Some(Ok(state));
        }
        let mut full = is_full;
        model.next(state, |next| match seen.insert(next, state) {
            Ok(true) => worker.push(next),
            Ok(false) => {}
            Err(TableFull) => full = true,
        });
        full.then_some(Err(TableFull))
    });
    let verdict = match found {
        None => Verdict::Holds,
        Some(Ok(state)) => Verdict::Violated(seen.path_to(state)),
        Some(Err(TableFull)) => Verdict::TooManyStates,
    };
    Report { verdict, states: seen.count.into_inner(), counts: explored.total(), took: begin.elapsed() }
}

/// Two processes that want to be alone in a critical section. Each of their steps is one load or
/// store.
struct Lock {
    peterson: bool,
}

/// The positions of a process.
const IDLE: u64 = 0;
const REQUESTED: u64 = 1;
const WAITING: u64 = 2;
const INSIDE: u64 = 3;

impl Lock {
    /// Returns the position of a process.
    ///
    /// Bits 0 and 1, 2 and 3: the positions of the processes. Bits 4 and 5: their flags. Bit 6:
    /// which process has the turn.
    fn position(state: u64, process: u64) -> u64 {
        state >> (2 * process) & 3
    }

    fn move_to(state: u64, process: u64, to: u64) -> u64 {
        state & !(3 << (2 * process)) | to << (2 * process)
    }
}

impl Model for Lock {
    fn start(&self) -> u64 {
        0
    }

    fn next(&self, state: u64, mut visit: impl FnMut(u64)) {
        for process in [0, 1] {
            let (own_flag, other_flag, turn) = (1 << (4 + process), 1 << (5 - process), 1 << 6);
            let own_turn = (state & turn != 0) == (process == 1);
            let free = state & other_flag == 0;
            match (Lock::position(state, process), self.peterson) {
                (IDLE, true) => visit(Lock::move_to(state | own_flag, process, REQUESTED)),
                // The other process has the turn now.
                (REQUESTED, true) => {
                    visit(Lock::move_to(state & !turn | if process == 0 { turn } else { 0 }, process, WAITING))
                }
                (WAITING, true) if free || own_turn => visit(Lock::move_to(state, process, INSIDE)),
                (IDLE, false) if free => visit(Lock::move_to(state, process, REQUESTED)),
                (REQUESTED, false) => visit(Lock::move_to(state | own_flag, process, INSIDE)),
                (INSIDE, _) => visit(Lock::move_to(state & !own_flag, process, IDLE)),
                _ => {}
            }
        }
    }

    fn holds(&self, state: u64) -> bool {
        !(Lock::position(state, 0) == INSIDE && Lock::position(state, 1) == INSIDE)
    }

    fn show(&self, state: u64) -> String {
        let name = |process| ["idle", "requested", "waiting", "inside"][Lock::position(state, process) as usize];
        let flag = |process: u64| state >> (4 + process) & 1;
        format!("{:<9} {:<9} flags {} {}, turn {}", name(0), name(1), flag(0), flag(1), state >> 6)
    }
}

/// Eight tiles in a frame of three by three. The cell in row r and column c is in the bits from 4 *
/// (3 * r + c), 0 for the hole.
struct Puzzle {
    start: u64,
}

const SOLVED: u64 = 0x0_8765_4321;

impl Model for Puzzle {
    fn start(&self) -> u64 {
        self.start
    }

    fn next(&self, state: u64, mut visit: impl FnMut(u64)) {
        let tile = |cell: u64| state >> (4 * cell) & 15;
        let Some(hole) = (0..9).find(|cell| tile(*cell) == 0) else { return };
        let beside = |cell: u64| hole.abs_diff(cell) == 3 || (hole.abs_diff(cell) == 1 && hole / 3 == cell / 3);
        for cell in (0..9).filter(|cell| beside(*cell)) {
            visit(state & !(15 << (4 * cell)) | tile(cell) << (4 * hole));
        }
    }

    fn holds(&self, state: u64) -> bool {
        state != SOLVED
    }

    fn show(&self, state: u64) -> String {
        let cell = |cell: u64| match state >> (4 * cell) & 15 {
            0 => '.',
            tile => char::from(b'0' + tile as u8),
        };
        let row = |row: u64| (3 * row..3 * row + 3).map(cell).collect::<String>();
        [row(0), row(1), row(2)].join(" ")
    }
}

fn report(name: &str, model: &impl Model) {
    let Report { verdict, states, counts, took } = check(model, 1_000_000);
    match verdict {
        Verdict::Holds => println!("{name}: holds in all of {states} states"),
        Verdict::TooManyStates => println!("{name}: too many states: the table is full after {states}"),
        Verdict::Violated(path) => {
            println!("{name}: violated after {} steps", path.len() - 1);
            path.iter().enumerate().for_each(|(step, state)| println!("  {step:>3}  {}", model.show(*state)));
        }
    }
    println!("  {states} states seen, {} tasks, {} stolen, {took:.1?}", counts.tasks, counts.steals);
}

const NAMES: [&str; 4] = ["naive", "peterson", "puzzle", "impossible"];

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = NAMES.map(String::from).to_vec();
    }
    for name in &names {
        match name.as_str() {
            "naive" => report(name, &Lock { peterson: false }),
            "peterson" => report(name, &Lock { peterson: true }),
            "puzzle" => report(name, &Puzzle { start: 0x1_2345_6780 }),
            "impossible" => report(name, &Puzzle { start: 0x0_7865_4321 }),
            _ => {
                eprintln!("error: unknown model `{name}`: give one of {}", NAMES.join(", "));
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn count_states_with_plain_loop(model: &impl Model) -> usize {
        let (mut seen, mut open) = (HashSet::from([model.start()]), vec![model.start()]);
        while let Some(state) = open.pop() {
            model.next(state, |next| open.extend(seen.insert(next).then_some(next)));
        }
        seen.len()
    }

    fn count_states_that_hold(model: &impl Model) -> usize {
        let Report { verdict: Verdict::Holds, states, .. } = check(model, 200_000) else {
            panic!("the invariant must hold")
        };
        states
    }

    fn violating_path(model: &impl Model) -> Vec<u64> {
        let Report { verdict: Verdict::Violated(path), .. } = check(model, 200_000) else {
            panic!("the invariant must be violated")
        };
        assert_eq!(path[0], model.start());
        for step in path.windows(2) {
            let mut possible = Vec::new();
            model.next(step[0], |next| possible.push(next));
            assert!(possible.contains(&step[1]), "{} does not lead to {}", model.show(step[0]), model.show(step[1]));
        }
        assert!(path[..path.len() - 1].iter().all(|state| model.holds(*state)));
        assert!(!model.holds(path[path.len() - 1]));
        path
    }

    #[test]
    fn petersons_lock_holds_in_every_state() {
        let model = Lock { peterson: true };
        for _ in 0..50 {
            assert_eq!(count_states_that_hold(&model), count_states_with_plain_loop(&model));
        }
    }

    #[test]
    fn the_naive_lock_is_violated_after_at_least_four_steps() {
        for _ in 0..50 {
            assert!(violating_path(&Lock { peterson: false }).len() > 4);
        }
    }

    #[test]
    fn the_puzzle_is_solved_from_one_position_and_not_from_another() {
        assert_eq!(count_states_that_hold(&Puzzle { start: 0x0_7865_4321 }), 181_440);
        violating_path(&Puzzle { start: 0x1_2345_6780 });
    }

    #[test]
    fn a_table_that_is_too_small_is_reported() {
        let report = check(&Puzzle { start: 0x0_7865_4321 }, 1000);
        assert!(matches!(report.verdict, Verdict::TooManyStates), "{:?}", report.verdict);
    }
}
