//! Invariants of every simulated run.

use core::time::Duration;

use super::{calibrate, run, Costs, Failure, Kind, Recording, Settings, Tree, Wire};
use crate::random::{below, mix_two};

/// A made-up search tree of about this number of nodes.
pub(super) fn made_up_recording(nodes: usize, seed: u64) -> Recording {
    let mut recording = Recording::new("made up");
    let mut open = vec![0u32];
    while let Some(level) = open.pop() {
        let taken = recording.nodes().len();
        let random = |purpose| mix_two(mix_two(seed, taken as u64), purpose);
        let children = if level == 0 { 20 } else { [0, 0, 1, 2, 3][below(random(1), 5) as usize] };
        let children =
            if taken + open.len() < nodes && level < 24 { children.max(u64::from(open.is_empty())) } else { 0 };
        recording.add(Duration::from_nanos(20_000 + below(random(2), 160_000)), children as usize);
        open.extend((0..children).map(|_| level + 1));
    }
    recording
}

/// A tree of equal nodes under a root that costs nothing.
fn flat_tree(nodes: usize, cost: Duration) -> Tree {
    let mut recording = Recording::new("flat tree");
    recording.add(Duration::ZERO, nodes);
    (0..nodes).for_each(|_| recording.add(cost, 0));
    Tree::recorded(&recording)
}

/// A coordinator that needs this time for each message.
fn costs(nanoseconds: f64) -> Costs {
    Costs { handle: [nanoseconds; Kind::ALL.len()], receive: 0.0, send: 0.0 }
}

#[test]
fn every_node_is_processed_once_for_any_ranks_threads_and_delays() {
    // `run` compares the processed nodes with those of the tree.
    let recording = made_up_recording(4_000, 3);
    for (ranks, threads) in [(1, 1), (1, 3), (2, 1), (3, 2), (17, 1), (100, 4)] {
        for latency in [0, 1_500, 30_000, 5_000_000] {
            for message in [0.0, 2_000.0, 500_000.0] {
                let wire = Wire { latency: Duration::from_nanos(latency), bandwidth: 1e9 };
                let settings = Settings { threads, wire, costs: costs(message), seed: latency, ..Settings::new(ranks) };
                let tree = Tree::recorded(&recording);
                let outcome = run(&tree, &settings).unwrap_or_else(|failure| panic!("{settings:?}: {failure}"));
                assert_eq!(outcome.done, tree.size());
                assert!(outcome.efficiency() <= 1.0 + 1e-9, "{settings:?}: {outcome:?}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let tree = Tree::grown(&made_up_recording(2_000, 3), Duration::from_secs(1), 5);
    let outcome = |seed| run(&tree, &Settings { costs: costs(700.0), seed, ..Settings::new(30) }).unwrap();
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

#[test]
fn a_single_rank_takes_the_cost_of_its_nodes() {
    let tree = Tree::recorded(&made_up_recording(4_000, 3));
    let outcome = run(&tree, &Settings::new(1)).unwrap();
    assert!(outcome.efficiency() > 0.99, "{outcome:?}");
}

#[test]
fn work_in_many_small_nodes_is_divided_equally() {
    // Two seconds of work in nodes of a tenth of a millisecond; dividing it takes some
    // milliseconds.
    for ranks in [2, 4, 8] {
        let tree = flat_tree(20_000 * ranks, Duration::from_micros(100));
        let outcome = run(&tree, &Settings::new(ranks)).unwrap();
        assert!(outcome.efficiency() > 0.98, "{ranks} ranks: {outcome:?}");
    }
}

#[test]
fn a_coordinator_without_cost_never_saturates() {
    let recording = made_up_recording(2_000, 3);
    for ranks in [10, 100, 1_000] {
        let tree = Tree::grown(&recording, Duration::from_millis(20 * ranks as u64), 5);
        let outcome = run(&tree, &Settings::new(ranks)).unwrap();
        assert_eq!((outcome.busy, outcome.utilisation()), (Duration::ZERO, 0.0));
        // A message waits only until the coordinator checks.
        assert!(outcome.queueing.most <= Settings::new(ranks).longest_wait.as_nanos() as u64, "{outcome:?}");
    }
}

#[test]
fn a_slow_coordinator_saturates_and_the_outcome_shows_it() {
    let tree = Tree::grown(&made_up_recording(2_000, 3), Duration::from_secs(4), 5);
    let quick = run(&tree, &Settings { costs: costs(500.0), ..Settings::new(200) }).unwrap();
    let slow = run(&tree, &Settings { costs: costs(500_000.0), ..Settings::new(200) }).unwrap();
    assert!(quick.utilisation() < 0.5 && slow.utilisation() > 0.9, "{quick:?} {slow:?}");
    assert!(slow.efficiency() < quick.efficiency() / 2.0, "{quick:?} {slow:?}");
    assert!(slow.queueing.mean > 100.0 * quick.queueing.mean, "{quick:?} {slow:?}");
}

#[test]
fn the_counts_of_the_coordinator_add_up() {
    let tree = Tree::grown(&made_up_recording(2_000, 3), Duration::from_secs(1), 5);
    let settings = Settings { costs: Costs { receive: 100.0, ..costs(900.0) }, solutions: 0, ..Settings::new(50) };
    let outcome = run(&tree, &settings).unwrap();
    assert_eq!(outcome.busy.as_nanos() as u64, 1_000 * outcome.messages);
    let of = |kind: Kind| outcome.kinds[kind as usize];
    assert_eq!((of(Kind::Hello), of(Kind::Finished), of(Kind::Found), of(Kind::Other)), (50, 50, 0, 0));
    assert_eq!(of(Kind::Received) + of(Kind::Refused), outcome.orders);
    assert!(outcome.moved > 0 && outcome.hunger.count > 0);
}

#[test]
fn a_lost_message_is_noticed_or_harmless() {
    let tree = Tree::recorded(&made_up_recording(500, 3));
    let lose = |lose| run(&tree, &Settings { lose: Some(lose), solutions: 0, ..Settings::new(3) });
    // The first messages are the hellos of the three ranks. Without its hello a rank is refused.
    for first in 1..=3 {
        assert!(matches!(lose(first), Err(Failure::Protocol(_) | Failure::Stuck { .. })), "{:?}", lose(first));
    }
    let outcomes: Vec<_> = (4..60).map(lose).collect();
    let stuck = outcomes.iter().filter(|outcome| matches!(outcome, Err(Failure::Stuck { .. }))).count();
    assert!(stuck > 5, "nodes, orders and receipts were lost: {outcomes:?}");
    // A run that reports success has processed the whole tree.
    assert!(outcomes.iter().flatten().all(|outcome| outcome.done == tree.size()));
}

#[test]
fn the_cost_of_messages_is_measured() {
    let tree = Tree::grown(&made_up_recording(2_000, 3), Duration::from_secs(1), 5);
    let costs = calibrate(&tree, &Settings { costs: Costs { receive: 7.0, ..Costs::default() }, ..Settings::new(50) });
    let costs = costs.unwrap();
    assert_eq!((costs.receive, costs.send), (7.0, 0.0));
    // The values are not checked: they depend on the machine and its load.
    assert!(costs.handle.iter().all(|&cost| cost > 0.0 && cost.is_finite()), "{costs:?}");
}
