//! Explorations, and graphs in parts.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use filch::explore::{Ending, Explore};
use filch::Pool;
use filch_graph::generate::Recipe;
use filch_graph::serial;
use filch_mpi::explore::{anywhere, by_home, closure, Ranks};
use filch_mpi::network::Mpi;

use super::Case;

pub(super) const CASES: &[Case] = &[
    ("a_graph_in_parts_has_the_closure_of_the_whole", closures),
    ("every_node_of_an_unbalanced_tree_is_counted_once", tree),
    ("one_rank_stops_all_ranks", stop),
];

fn pool() -> Pool {
    Pool::builder().threads(2).build().unwrap()
}

fn closures(network: &mut Mpi) {
    let mut ranks = Ranks::new(network);
    let (rank, count) = (ranks.rank(), ranks.ranks());
    for recipe in ["random:5000,6000,seed=2", "torus:90x40", "rmat:11,9000", "star:300"] {
        let recipe: Recipe = recipe.parse().unwrap();
        let roots = [0, 77];
        // Small enough that each rank can have the whole graph, to compare with.
        let whole = serial::closure(&recipe.build().unwrap(), roots);
        let sum = |number| ranks.sum(number).map_err(Box::<dyn Error>::from);
        let part = recipe.part(recipe.partition(count).unwrap(), rank, sum).unwrap();
        let found = closure(&mut ranks, &part, roots, Explore::at_least_once().pool(&pool())).unwrap();
        assert_eq!(found.reached(), whole.reached() as u64, "{recipe}");
        for (place, (vertex, _)) in part.iter().enumerate() {
            assert_eq!(found.contains(place), whole.contains(vertex), "{recipe}: vertex {vertex}");
        }
        let total = found.explored().total();
        assert_eq!(total.sent, total.received);
        assert_eq!(total.sent > 0, count > 1, "{recipe}");
    }
}

/// Returns the number of children of a node, from its name.
fn children(name: u64, depth: u32) -> u64 {
    let hash = (name ^ u64::from(depth) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    if depth == 0 {
        40
    } else if depth < 9 {
        hash % 7
    } else {
        u64::from(depth < 12) * (hash % 2)
    }
}

fn child(name: u64, index: u64) -> u64 {
    name.wrapping_mul(31).wrapping_add(index)
}

fn size(name: u64, depth: u32) -> u64 {
    1 + (0..children(name, depth)).map(|index| size(child(name, index), depth + 1)).sum::<u64>()
}

fn tree(network: &mut Mpi) {
    let mut ranks = Ranks::new(network);
    let nodes = size(1, 0);
    for start in 0..ranks.ranks() {
        let counted = AtomicU64::new(0);
        let root = (ranks.rank() == start).then_some((1u64, 0u32));
        let explored = anywhere(&mut ranks, Explore::exactly_once().pool(&pool()), root, |(name, depth), worker| {
            counted.fetch_add(1, Ordering::Relaxed);
            worker.push_all((0..children(name, depth)).map(|index| (child(name, index), depth + 1)));
        });
        let explored = explored.unwrap();
        assert!(explored.is_complete());
        assert_eq!(explored.total().tasks, nodes);
        assert_eq!(explored.total().sent, explored.total().received);
        assert_eq!(ranks.sum(counted.into_inner()).unwrap(), nodes);
    }
}

fn stop(network: &mut Mpi) {
    let mut ranks = Ranks::new(network);
    let (rank, count) = (ranks.rank() as u64, ranks.ranks());
    // It would not end otherwise.
    let home = |n: &u64| *n as usize % count;
    let explored = by_home(&mut ranks, Explore::exactly_once().pool(&pool()), [rank], home, |n, worker| {
        if n > 300 {
            worker.stop();
        }
        worker.push(n + 1);
    });
    assert_eq!(explored.unwrap().ending(), Ending::Stopped);
    // The next exploration is not disturbed by leftover messages.
    let explored = by_home(&mut ranks, Explore::exactly_once().pool(&pool()), [rank], home, |n, worker| {
        worker.push_all((n < 100).then_some(n + count as u64 + 1));
    });
    assert!(explored.unwrap().is_complete());
}
