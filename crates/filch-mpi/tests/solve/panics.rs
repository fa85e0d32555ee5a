//! A search that panics while its rank is asked for its open nodes.
//!
//! Its open nodes are lost, and no checkpoint may be written without them.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::problems::knapsack::{self, Knapsack};
use filch_dd::{Cost, Decision, Problem, Relaxation, Value, Variable};
use filch_mpi::network::threads::{connect, Delays, Threads};
use filch_mpi::network::Network;
use filch_mpi::protocol::{Message, ToMember};
use filch_mpi::{solve, Options, RunCheckpoint};

use crate::optima::root;

/// The state shared by a search and the network of its rank.
#[derive(Default)]
struct Flags {
    /// The search is at its first node.
    began: AtomicBool,
    /// The search was asked for its open nodes, and could not answer yet.
    asked: AtomicBool,
}

/// A knapsack. With flags, it panics at its first node as soon as it is asked for its open
/// nodes.
struct PanickingKnapsack<'m>(Knapsack, Option<&'m Flags>);

impl Problem for PanickingKnapsack<'_> {
    type State = <Knapsack as Problem>::State;

    fn variables(&self) -> usize {
        self.0.variables()
    }

    fn initial_state(&self) -> Self::State {
        self.0.initial_state()
    }

    fn cost_limit(&self) -> Option<Cost> {
        self.0.cost_limit()
    }

    fn domain(&self, variable: Variable, state: &Self::State, decide: impl FnMut(Value)) {
        self.0.domain(variable, state, decide);
    }

    fn transition(&self, state: &Self::State, decision: Decision) -> Self::State {
        if let Some(flags) = self.1 {
            flags.began.store(true, Ordering::Release);
            while !flags.asked.load(Ordering::Acquire) {
                thread::yield_now();
            }
            panic!("a user's mistake");
        }
        self.0.transition(state, decision)
    }

    fn cost(&self, state: &Self::State, next: &Self::State, decision: Decision) -> Cost {
        self.0.cost(state, next, decision)
    }
}

impl Relaxation for PanickingKnapsack<'_> {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Self::State>) -> Self::State
    where
        Self::State: 'a,
    {
        self.0.merge(states)
    }
}

/// The network of the rank that panics. The question waits until the search has begun, and the
/// search waits for the question.
struct HoldingNetwork<'m> {
    network: Threads,
    flags: &'m Flags,
    /// Whether the question was passed on.
    question_passed: bool,
    held: Option<(usize, Vec<u8>)>,
}

impl HoldingNetwork<'_> {
    fn is_question(message: &[u8]) -> bool {
        let message = Message::decode(message);
        matches!(message, Ok(Message::ToMember(ToMember::Snapshot { .. } | ToMember::Stop { .. })))
    }
}

impl Network for HoldingNetwork<'_> {
    fn rank(&self) -> usize {
        self.network.rank()
    }

    fn ranks(&self) -> usize {
        self.network.ranks()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // Rank 0 asks itself right after the others.
        self.question_passed |= Self::is_question(&message);
        self.network.send(to, message);
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        // The question that was passed on before is handled by now.
        if self.question_passed {
            self.flags.asked.store(true, Ordering::Release);
        }
        self.held = self.held.take().or_else(|| self.network.receive());
        let (_, message) = self.held.as_ref()?;
        let is_question = Self::is_question(message);
        // Rank 0 asks when it has received messages from the others.
        let waits = (is_question || self.rank() == 0) && !self.flags.began.load(Ordering::Acquire);
        if waits {
            return None;
        }
        self.question_passed |= is_question;
        self.held.take()
    }

    fn is_flushed(&mut self) -> bool {
        self.network.is_flushed()
    }
}

/// Rank `broken` of three panics when asked to stop, or for a checkpoint.
fn panics(broken: usize, stop: bool) {
    let problem = || knapsack::random(18, 60, knapsack::Kind::Weakly, 1);
    let flags = Flags::default();
    let problems: Vec<PanickingKnapsack> =
        (0..3).map(|rank| PanickingKnapsack(problem(), (rank == broken).then_some(&flags))).collect();
    // Each rank has work.
    let packages = (0..3).flat_map(|_| root(&problem())).collect();
    let left = RunCheckpoint { packages, ..RunCheckpoint::default() };
    let written: Mutex<Vec<RunCheckpoint>> = Mutex::default();
    let cancel = Cancel::new();
    if stop {
        cancel.cancel();
    }
    let ends: Vec<_> = thread::scope(|scope| {
        let (flags, problems, left, written, cancel) = (&flags, &problems, &left, &written, &cancel);
        let start = |mut network: Threads| {
            scope.spawn(move || {
                let rank = network.rank();
                let options = Options {
                    resume: (rank == 0).then(|| left.clone()),
                    cancel: (rank == 0).then(|| cancel.clone()),
                    checkpoint_every: (!stop).then_some(Duration::ZERO),
                    on_checkpoint: Some(Box::new(|left| written.lock().unwrap().push(left))),
                    ..Options::new(7)
                };
                if rank != broken {
                    return Ok(solve(&mut network, &problems[rank], options, |solver| solver));
                }
                let mut holding = HoldingNetwork { network, flags, question_passed: false, held: None };
                catch_unwind(AssertUnwindSafe(|| solve(&mut holding, &problems[rank], options, |solver| solver)))
            })
        };
        let ranks: Vec<_> = connect(3, Delays::NONE).into_iter().map(start).collect();
        ranks
            .into_iter()
            .map(|rank| rank.join().expect("only the broken rank panics, and its panic is caught"))
            .collect()
    });
    for (rank, end) in ends.into_iter().enumerate() {
        match end {
            // A rank that had stopped and reported its open nodes has left, and is not told.
            Ok(Ok(None)) if stop && rank > 0 => assert_ne!(rank, broken, "the panic continues"),
            Ok(end) => {
                assert_ne!(rank, broken, "the panic continues");
                let why = end.expect_err("a search panicked").to_string();
                assert_eq!(why, format!("rank {broken}: its search panicked"), "on rank {rank}");
            }
            Err(_) => assert_eq!(rank, broken),
        }
    }
    assert_eq!(written.into_inner().unwrap(), []);
}

#[test]
fn a_panic_during_a_checkpoint_ends_the_run_and_nothing_is_written() {
    for broken in 0..3 {
        panics(broken, false);
    }
}

#[test]
fn a_panic_during_a_stop_ends_the_run_and_nothing_is_written() {
    for broken in 0..3 {
        panics(broken, true);
    }
}
