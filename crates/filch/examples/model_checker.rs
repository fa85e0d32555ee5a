//! A small model checker. Visits every state of a system, and shows the path to a bad one.
//!
//! A state is a number. The states that were seen are in a table without locks. The worker that
//! enters a state pushes it. If the queue gives a state twice, all its successors are in the table
//! already, so at least once is enough. The queue is first in, first out: so the path to a
//! violation is short, if not the shortest.
//!
//! ```text
//! cargo run --release -p filch --example model_checker              all of them
//! cargo run --release -p filch --example model_checker -- puzzle    one of naive, peterson, puzzle, impossible
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

use filch::explore::queue::Fifo;
use filch::explore::{Counts, Explore};

/// A system, its transitions, and its invariant.
trait Model: Sync {
    fn start(&self) -> u64;
    fn next(&self, state: u64, found: impl FnMut(u64));
    fn holds(&self, state: u64) -> bool;
    fn show(&self, state: u64) -> String;
}

/// The states that were seen, each with the state that it was reached from. The table does not
/// grow.
struct Seen {
    /// A state plus one; 0 is a free place. Once taken, a place stays as it is.
    states: Vec<AtomicU64>,
    from: Vec<AtomicU64>,
    count: AtomicUsize,
}

/// Error: the table is nearly full.
#[derive(Debug)]
struct Full;

impl Seen {
    fn for_states(most: usize) -> Seen {
        let places = (most * 2).next_power_of_two();
        let places = || (0..places).map(|_| AtomicU64::new(0)).collect();
        Seen { states: places(), from: places(), count: AtomicUsize::new(0) }
    }

    /// Returns the place of a state, or the free place for it.
    fn place(&self, state: u64) -> usize {
        let (mask, mut place) = (self.states.len() - 1, (state.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize);
        loop {
            place &= mask;
            // Relaxed: only the state in this place is needed.
            match self.states[place].load(Ordering::Relaxed) {
                0 => return place,
                here if here == state + 1 => return place,
                _ => place += 1,
            }
        }
    }

    /// Enters a state. For only one of all callers it is new, and this returns true.
    fn enter(&self, state: u64, from: u64) -> Result<bool, Full> {
        loop {
            let place = self.place(state);
            // Relaxed: the worker for which the state is new writes `from` and then pushes the
            // state. The queue shows both to the worker that gets it.
            match self.states[place].compare_exchange(0, state + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.from[place].store(from, Ordering::Relaxed);
                    let count = self.count.fetch_add(1, Ordering::Relaxed);
                    return if count < self.states.len() / 2 { Ok(true) } else { Err(Full) };
                }
                Err(here) if here == state + 1 => return Ok(false),
                // Another worker has taken that place for another state meanwhile.
                Err(_) => {}
            }
        }
    }

    /// Returns the path from the start to `state`. The start was reached from itself.
    fn path_to(&self, mut state: u64) -> Vec<u64> {
        let mut path = vec![state];
        loop {
            let from = self.from[self.place(state)].load(Ordering::Relaxed);
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
    TooMany,
}

struct Report {
    verdict: Verdict,
    states: usize,
    work: Counts,
    took: Duration,
}

fn check(model: &impl Model, most: usize) -> Report {
    let (seen, begin) = (Seen::for_states(most), Instant::now());
    let start = model.start();
    let is_full = seen.enter(start, start).is_err();
    let (found, explored) = Explore::at_least_once().queue(Fifo).find([start], |state, worker| {
        if !model.holds(state) {
            return Some(Ok(state));
        }
        let mut full = is_full;
        model.next(state, |next| match seen.enter(next, state) {
            Ok(true) => worker.push(next),
            Ok(false) => {}
            Err(Full) => full = true,
        });
        full.then_some(Err(Full))
    });
    let verdict = match found {
        None => Verdict::Holds,
        Some(Ok(state)) => Verdict::Violated(seen.path_to(state)),
        Some(Err(Full)) => Verdict::TooMany,
    };
    Report { verdict, states: seen.count.into_inner(), work: explored.total(), took: begin.elapsed() }
}

/// Two processes that want to be alone in a critical section. Each of their steps is one load or
/// store.
struct Lock {
    peterson: bool,
}

/// The positions of a process.
const IDLE: u64 = 0;
const ASKED: u64 = 1;
const WAITING: u64 = 2;
const INSIDE: u64 = 3;

impl Lock {
    /// Returns the position of a process.
    ///
    /// Bits 0 and 1, 2 and 3: the positions of the processes. Bits 4 and 5: their flags. Bit 6:
    /// which process has the turn.
    fn at(state: u64, process: u64) -> u64 {
        state >> (2 * process) & 3
    }

    fn moved(state: u64, process: u64, to: u64) -> u64 {
        state & !(3 << (2 * process)) | to << (2 * process)
    }
}

impl Model for Lock {
    fn start(&self) -> u64 {
        0
    }

    fn next(&self, state: u64, mut found: impl FnMut(u64)) {
        for me in [0, 1] {
            let (my_flag, their_flag, turn) = (1 << (4 + me), 1 << (5 - me), 1 << 6);
            let my_turn = (state & turn != 0) == (me == 1);
            let free = state & their_flag == 0;
            match (Lock::at(state, me), self.peterson) {
                (IDLE, true) => found(Lock::moved(state | my_flag, me, ASKED)),
                // The other process has the turn now.
                (ASKED, true) => found(Lock::moved(state & !turn | if me == 0 { turn } else { 0 }, me, WAITING)),
                (WAITING, true) if free || my_turn => found(Lock::moved(state, me, INSIDE)),
                (IDLE, false) if free => found(Lock::moved(state, me, ASKED)),
                (ASKED, false) => found(Lock::moved(state | my_flag, me, INSIDE)),
                (INSIDE, _) => found(Lock::moved(state & !my_flag, me, IDLE)),
                _ => {}
            }
        }
    }

    fn holds(&self, state: u64) -> bool {
        !(Lock::at(state, 0) == INSIDE && Lock::at(state, 1) == INSIDE)
    }

    fn show(&self, state: u64) -> String {
        let place = |process| ["idle", "asked", "waiting", "inside"][Lock::at(state, process) as usize];
        let flag = |process: u64| state >> (4 + process) & 1;
        format!("{:<8} {:<8} flags {} {}, turn {}", place(0), place(1), flag(0), flag(1), state >> 6)
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

    fn next(&self, state: u64, mut found: impl FnMut(u64)) {
        let tile = |cell: u64| state >> (4 * cell) & 15;
        let Some(hole) = (0..9).find(|cell| tile(*cell) == 0) else { return };
        let beside = |cell: u64| hole.abs_diff(cell) == 3 || (hole.abs_diff(cell) == 1 && hole / 3 == cell / 3);
        for cell in (0..9).filter(|cell| beside(*cell)) {
            found(state & !(15 << (4 * cell)) | tile(cell) << (4 * hole));
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
    let Report { verdict, states, work, took } = check(model, 1_000_000);
    match verdict {
        Verdict::Holds => println!("{name}: holds in all of {states} states"),
        Verdict::TooMany => println!("{name}: there are more than {states} states, which is all the table takes"),
        Verdict::Violated(path) => {
            println!("{name}: violated after {} steps", path.len() - 1);
            path.iter().enumerate().for_each(|(step, state)| println!("  {step:>3}  {}", model.show(*state)));
        }
    }
    println!("  {states} states seen, {} tasks, {} stolen, {took:.1?}", work.tasks, work.steals);
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
                eprintln!("There is no model `{name}`; there are {}.", NAMES.join(", "));
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

    fn states_by_a_plain_loop(model: &impl Model) -> usize {
        let (mut seen, mut open) = (HashSet::from([model.start()]), vec![model.start()]);
        while let Some(state) = open.pop() {
            model.next(state, |next| open.extend(seen.insert(next).then_some(next)));
        }
        seen.len()
    }

    fn holds_everywhere(model: &impl Model) -> usize {
        let Report { verdict: Verdict::Holds, states, .. } = check(model, 200_000) else { panic!("it should hold") };
        states
    }

    fn path_to_a_violation(model: &impl Model) -> Vec<u64> {
        let Report { verdict: Verdict::Violated(path), .. } = check(model, 200_000) else {
            panic!("it should not hold")
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
            assert_eq!(holds_everywhere(&model), states_by_a_plain_loop(&model));
        }
    }

    #[test]
    fn looking_before_setting_lets_both_in_after_four_steps() {
        for _ in 0..50 {
            assert!(path_to_a_violation(&Lock { peterson: false }).len() > 4);
        }
    }

    #[test]
    fn half_of_all_positions_can_be_reached_and_the_solution_is_in_one_half() {
        assert_eq!(holds_everywhere(&Puzzle { start: 0x0_7865_4321 }), 181_440);
        path_to_a_violation(&Puzzle { start: 0x1_2345_6780 });
    }

    #[test]
    fn a_table_that_is_too_small_says_so() {
        let report = check(&Puzzle { start: 0x0_7865_4321 }, 1000);
        assert!(matches!(report.verdict, Verdict::TooMany), "{:?}", report.verdict);
    }
}
