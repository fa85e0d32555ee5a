//! Runs that cannot go on end on all ranks, with the same sentence.

use std::time::Duration;

use filch_dd::problems::knapsack;
use filch_mpi::network::threads::{connect, Delays};
use filch_mpi::network::Network;
use filch_mpi::protocol::{Message, Share, ToMember};
use filch_mpi::{solve, Failure, Options, RunCheckpoint};

use crate::common::all;
use crate::optima::{graph, root};

#[test]
fn a_rank_with_another_instance_is_refused() {
    for ends in all(&graph(), 3, Delays::up_to(2, 1), 2, |rank| Options::new(if rank == 2 { 8 } else { 7 })) {
        let why = ends.expect_err("rank 2 solves something else").to_string();
        assert!(why.contains("rank 2 is to solve something else than rank 0"), "{why}");
    }
}

#[test]
fn a_failed_search_ends_the_run_on_all_ranks_with_its_reason() {
    let threads = |rank| if rank == 1 { 0 } else { 1 };
    for ends in all(&graph(), 3, Delays::up_to(2, 1), 2, |rank| Options { threads: threads(rank), ..Options::new(7) }) {
        let why = ends.expect_err("rank 1 fails").to_string();
        assert!(why.contains("a search with 0 threads does nothing"), "{why}");
    }
}

#[test]
fn nodes_of_another_problem_are_refused() {
    let packages = root(&knapsack::paper());
    let left = RunCheckpoint { packages, ..RunCheckpoint::default() };
    for ends in all(&graph(), 2, Delays::NONE, 2, |_| Options { resume: Some(left.clone()), ..Options::new(7) }) {
        assert!(ends.is_err());
    }
}

#[test]
fn a_silent_rank_is_named() {
    let mut ranks = connect(3, Delays::NONE);
    // Ranks 1 and 2 never start.
    let options = Options { silence_timeout: Duration::from_millis(20), ..Options::new(7) };
    let Err(Failure(why)) = solve(&mut ranks[0], &graph(), options, |solver| solver) else {
        panic!("ranks 1 and 2 never start");
    };
    assert!(why.contains("no message from rank 1 for 0.02 seconds"), "{why}");
}

/// Returns the error of rank 1 if rank 0 sends this message only.
fn failure_after(message: ToMember) -> String {
    let mut ranks = connect(2, Delays::NONE);
    ranks[0].send(1, Message::ToMember(message).encode());
    let options = Options { silence_timeout: Duration::from_millis(20), ..Options::new(7) };
    let Err(Failure(why)) = solve(&mut ranks[1], &graph(), options, |solver| solver) else {
        panic!("the run cannot be over");
    };
    why
}

#[test]
fn a_rank_does_not_wait_for_a_silent_rank_0() {
    let why = failure_after(ToMember::Alive);
    assert!(why.contains("no message from rank 0 for 0.02 seconds"), "{why}");
}

#[test]
fn an_order_to_give_to_a_rank_that_does_not_exist_is_an_error() {
    let why = failure_after(ToMember::Give { order: 1, to: 2, share: Share::HALF });
    assert!(why.contains("an order to give nodes to rank 2, which does not exist"), "{why}");
}

#[test]
fn a_panic_on_one_rank_ends_the_run_on_the_others() {
    let problem = graph();
    let mut ranks = connect(2, Delays::NONE);
    let (mut second, mut first) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    std::thread::scope(|scope| {
        let broken = scope.spawn(|| solve(&mut second, &problem, Options::new(7), |_| panic!("a user's mistake")));
        let why = solve(&mut first, &problem, Options::new(7), |solver| solver).expect_err("rank 1 is broken");
        assert!(why.to_string().contains("rank 1"), "{why}");
        assert!(broken.join().is_err(), "the panic continues");
    });
}
