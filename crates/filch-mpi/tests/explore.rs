//! Explorations on ranks that are threads.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use filch::explore::{Ending, Explore};
use filch::Pool;
use filch_graph::generate::{self, Recipe};
use filch_graph::{serial, Graph, Vertex};
use filch_mpi::explore::{anywhere, by_home, closure, ExploredByRanks, Ranks};
use filch_mpi::network::threads::{self, Delays};
use filch_mpi::network::Network;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Runs `work` on each of `ranks` ranks, with delayed messages.
fn on_ranks<R: Send>(ranks: usize, seed: u64, work: impl Fn(&mut dyn Network) -> R + Sync) -> Vec<R> {
    threads::run(ranks, Delays::up_to(seed % 5, seed), work)
}

/// Returns how often each vertex was visited on all ranks. A hash gives the home of a vertex.
fn visits(graph: &Graph, roots: &[Vertex], ranks: usize, seed: u64) -> (Vec<u64>, ExploredByRanks) {
    let visits: Vec<AtomicU64> = (0..graph.vertices()).map(|_| AtomicU64::new(0)).collect();
    let explored = on_ranks(ranks, seed, |network| {
        let mut all = Ranks::new(network);
        let pool = Pool::builder().threads(2).build().unwrap();
        let (rank, count) = (all.rank(), all.ranks());
        let home = |vertex: &Vertex| vertex.wrapping_mul(2_654_435_769) as usize % count;
        let own = roots.iter().copied().filter(|root| *root as usize % count == rank);
        by_home(&mut all, Explore::exactly_once().pool(&pool), own, home, |vertex, worker| {
            assert_eq!(home(&vertex), rank, "a task runs at home");
            if visits[vertex as usize].fetch_add(1, Ordering::Relaxed) == 0 {
                worker.push_all(graph.neighbours(vertex).iter().copied());
            }
        })
        .unwrap()
    });
    assert!(explored.iter().all(|one| *one == explored[0]), "all ranks get the same result");
    (visits.into_iter().map(AtomicU64::into_inner).collect(), explored.into_iter().next().unwrap())
}

#[test]
fn a_closure_across_ranks_equals_the_serial_one() {
    for ranks in 1..=4 {
        for seed in 0..3 {
            let graph = generate::random(2000, 2200, seed).unwrap();
            let roots = [0, 17, 1234];
            let serial = serial::closure(&graph, roots);
            let (visits, explored) = visits(&graph, &roots, ranks, seed);
            for vertex in 0..graph.vertices() as Vertex {
                assert_eq!(visits[vertex as usize] > 0, serial.contains(vertex), "vertex {vertex} on {ranks} ranks");
            }
            // With exactly once, each arc of a reached vertex, and each root, is one task.
            let arcs: usize = serial.iter().map(|vertex| graph.degree(vertex)).sum();
            assert_eq!(visits.iter().sum::<u64>(), (arcs + roots.len()) as u64);
            assert_eq!(explored.total().tasks, (arcs + roots.len()) as u64);
            assert_eq!(explored.total().sent, explored.total().received);
            assert_eq!(explored.ending(), Ending::Complete);
        }
    }
}

#[test]
fn an_exploration_without_roots_ends_at_once() {
    for ranks in 1..=4 {
        let explored = on_ranks(ranks, 1, |network| {
            let mut all = Ranks::new(network);
            by_home(&mut all, Explore::exactly_once(), [], |_: &u32| 0, |_, _| unreachable!()).unwrap()
        });
        assert!(explored.iter().all(|explored| explored.is_complete() && explored.total().tasks == 0));
    }
}

#[test]
fn explorations_follow_each_other_without_mixing() {
    // A chain around the ranks, again and again: a rank that is first in one is soon in the next.
    on_ranks(3, 2, |network| {
        let mut all = Ranks::new(network);
        let pool = Pool::builder().threads(1).build().unwrap();
        let (rank, count) = (all.rank(), all.ranks());
        for length in 1..20u64 {
            let ran = AtomicU64::new(0);
            let root = (rank == 0).then_some((length, 0));
            let home = |&(_, step): &(u64, u64)| step as usize % count;
            let explore = Explore::exactly_once().pool(&pool);
            let explored = by_home(&mut all, explore, root, home, |(of, step), worker| {
                assert_eq!(of, length);
                ran.fetch_add(1, Ordering::Relaxed);
                if step < length {
                    worker.push((of, step + 1));
                }
            });
            assert_eq!(explored.unwrap().total().tasks, length + 1);
            assert_eq!(all.sum(ran.into_inner()).unwrap(), length + 1);
        }
    });
}

#[test]
fn one_rank_stops_all_ranks_if_tasks_have_homes() {
    let explored = on_ranks(3, 3, |network| {
        let mut all = Ranks::new(network);
        let (rank, count) = (all.rank(), all.ranks());
        let pool = Pool::builder().threads(2).build().unwrap();
        // It would not end otherwise.
        let home = |n: &u64| *n as usize % count;
        by_home(&mut all, Explore::exactly_once().pool(&pool), [rank as u64], home, |n, worker| {
            if n > 500 {
                worker.stop();
            }
            worker.push(n + 1);
        })
        .unwrap()
    });
    assert!(explored.iter().all(|explored| explored.ending() == Ending::Stopped));
}

#[test]
fn a_panic_on_one_rank_stops_all_ranks_and_continues_on_that_rank() {
    let ended = on_ranks(3, 4, |network| {
        let mut all = Ranks::new(network);
        let pool = Pool::builder().threads(1).build().unwrap();
        let (rank, count) = (all.rank(), all.ranks());
        let home = |n: &u64| *n as usize % count;
        let explored = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            by_home(&mut all, Explore::exactly_once().pool(&pool), [rank as u64], home, |n, worker| {
                if n == 100 {
                    std::panic::resume_unwind(Box::new("the hundredth"));
                }
                worker.push(n + 1);
            })
        }));
        explored.map(|explored| explored.unwrap().ending()).map_err(|panic| *panic.downcast::<&str>().unwrap())
    });
    assert_eq!(ended, [Ok(Ending::Stopped), Err("the hundredth"), Ok(Ending::Stopped)]);
}

#[test]
fn a_home_that_is_no_rank_is_refused() {
    let refused = on_ranks(2, 5, |network| {
        let mut all = Ranks::new(network);
        let explored = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let root = (all.rank() == 1).then_some(1u8);
            by_home(&mut all, Explore::exactly_once(), root, |_| 7, |_, _| {}).unwrap().ending()
        }));
        explored.map_err(|panic| *panic.downcast::<String>().unwrap())
    });
    let sentence = "the home of a task is rank 7, which does not exist: there are 2 ranks".to_owned();
    assert_eq!(refused, [Ok(Ending::Stopped), Err(sentence)]);
}

/// A task that can be encoded but not decoded.
#[derive(Serialize)]
struct Undecodable(u64);

impl<'de> Deserialize<'de> for Undecodable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            100 => Err(D::Error::custom("a hundred is too many")),
            number => Ok(Undecodable(number)),
        }
    }
}

#[test]
fn a_task_that_cannot_be_decoded_stops_all_ranks_and_its_receiver_gets_the_error() {
    let ended = on_ranks(3, 6, |network| {
        let mut all = Ranks::new(network);
        let count = all.ranks();
        let pool = Pool::builder().threads(1).build().unwrap();
        let root = (all.rank() == 0).then_some(Undecodable(0));
        let home = |task: &Undecodable| task.0 as usize % count;
        let explored = by_home(&mut all, Explore::exactly_once().pool(&pool), root, home, |task, worker| {
            worker.push(Undecodable(task.0 + 1));
        });
        explored.map(|explored| explored.ending()).map_err(|error| error.to_string())
    });
    // Task 100 goes from rank 0 to rank 1.
    assert_eq!((&ended[0], &ended[2]), (&Ok(Ending::Stopped), &Ok(Ending::Stopped)));
    assert!(ended[1].as_ref().is_err_and(|message| message.starts_with("a message of rank 0 cannot be understood")));
}

/// A task that cannot be encoded.
#[derive(Clone, Copy, Deserialize)]
struct Unencodable;

impl Serialize for Unencodable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("this task cannot be encoded"))
    }
}

#[test]
fn a_task_that_cannot_be_encoded_stops_all_ranks_and_panics_on_its_rank() {
    let ended = on_ranks(3, 6, |network| {
        let mut all = Ranks::new(network);
        let pool = Pool::builder().threads(1).build().unwrap();
        let roots = vec![Unencodable; if all.rank() == 1 { 100 } else { 0 }];
        let explored = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // It would not end otherwise, and there is always a task to give.
            anywhere(&mut all, Explore::exactly_once().pool(&pool), roots, |task, worker| worker.push(task))
        }));
        // All ranks are ready for the next operation.
        assert_eq!(all.sum(1).unwrap(), 3);
        explored.map(|explored| explored.unwrap().ending()).map_err(|panic| *panic.downcast::<String>().unwrap())
    });
    assert_eq!((&ended[0], &ended[2]), (&Ok(Ending::Stopped), &Ok(Ending::Stopped)));
    assert!(ended[1].as_ref().is_err_and(|message| message.starts_with("cannot encode a task for another rank")));
}

/// Returns the number of children of a node, from its name. Branches have very different sizes.
fn children(name: u64, depth: u32) -> u64 {
    let hash = (name ^ u64::from(depth) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    match depth {
        0 => 40,
        1..=8 => hash % 7,
        _ => hash % 2,
    }
}

fn count_tree(name: u64, depth: u32) -> u64 {
    let below = |child| count_tree(name.wrapping_mul(31).wrapping_add(child), depth + 1);
    1 + if depth < 12 { (0..children(name, depth)).map(below).sum() } else { 0 }
}

#[test]
fn every_node_of_an_unbalanced_tree_is_counted_once_on_any_rank() {
    let nodes = count_tree(1, 0);
    assert!(nodes > 10_000, "{nodes}");
    for ranks in 1..=4 {
        let explored = on_ranks(ranks, ranks as u64, |network| {
            let mut all = Ranks::new(network);
            let pool = Pool::builder().threads(2).build().unwrap();
            let counted = AtomicU64::new(0);
            // All of it starts on the last rank.
            let root = (all.rank() + 1 == all.ranks()).then_some((1u64, 0u32));
            let explore = Explore::exactly_once().pool(&pool);
            let explored = anywhere(&mut all, explore, root, |(name, depth), worker| {
                counted.fetch_add(1, Ordering::Relaxed);
                if depth < 12 {
                    let child = |child| (name.wrapping_mul(31).wrapping_add(child), depth + 1);
                    worker.push_all((0..children(name, depth)).map(child));
                }
            });
            assert_eq!(all.sum(counted.into_inner()).unwrap(), nodes);
            explored.unwrap()
        });
        let total = explored[0].total();
        assert_eq!(total.tasks, nodes);
        assert_eq!(total.sent, total.received);
        assert!(explored[0].is_complete());
    }
}

#[test]
fn an_idle_rank_is_given_tasks() {
    // No task ends before the other rank has run one, so that rank must get some.
    let others = AtomicU64::new(0);
    let explored = on_ranks(2, 7, |network| {
        let mut all = Ranks::new(network);
        let rank = all.rank();
        let pool = Pool::builder().threads(1).build().unwrap();
        let roots = (0..if rank == 0 { 1 } else { 0 }).map(|_| 100u32);
        anywhere(&mut all, Explore::exactly_once().pool(&pool), roots, |n, worker| {
            worker.push_all((n == 100).then_some(0..50).into_iter().flatten());
            match rank {
                0 => {
                    while n < 100 && others.load(Ordering::Relaxed) == 0 {
                        std::thread::yield_now()
                    }
                }
                _ => {
                    others.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
        .unwrap()
    });
    assert!(explored[0].ranks()[1].tasks > 0);
    assert_eq!(explored[0].total().tasks, 51);
}

#[test]
fn one_rank_stops_all_ranks_if_tasks_have_no_homes() {
    let explored = on_ranks(3, 8, |network| {
        let mut all = Ranks::new(network);
        let rank = all.rank();
        let pool = Pool::builder().threads(2).build().unwrap();
        let roots = (0..100u64).filter(|_| rank == 0);
        // It would not end otherwise.
        anywhere(&mut all, Explore::exactly_once().pool(&pool), roots, |n, worker| {
            if n > 500 {
                worker.stop();
            }
            worker.push_all([n + 1, n + 2].into_iter().take(1 + (n % 2) as usize));
        })
        .unwrap()
    });
    assert!(explored.iter().all(|explored| explored.ending() == Ending::Stopped));
}

#[test]
fn a_graph_in_parts_has_the_closure_of_the_whole() {
    for recipe in ["random:3000,3600,seed=2", "torus:40x30", "rmat:10,4000", "star:500", "ring:600,k=3"] {
        let recipe: Recipe = recipe.parse().unwrap();
        let whole = recipe.build().unwrap();
        let roots = [0, 17];
        let serial = serial::closure(&whole, roots);
        for ranks in 1..=4 {
            on_ranks(ranks, 9, |network| {
                let mut all = Ranks::new(network);
                let pool = Pool::builder().threads(2).build().unwrap();
                let partition = recipe.partition(ranks).unwrap();
                let rank = all.rank();
                let sum = |number| all.sum(number).map_err(Box::<dyn Error>::from);
                let part = recipe.part(partition, rank, sum).unwrap();
                let found = closure(&mut all, &part, roots, Explore::at_least_once().pool(&pool)).unwrap();
                assert_eq!(found.reached(), serial.reached() as u64);
                for (place, (vertex, _)) in part.iter().enumerate() {
                    assert_eq!(found.contains(place), serial.contains(vertex), "{recipe}: vertex {vertex}");
                }
                assert!(found.explored().is_complete());
                assert_eq!(all.sum(found.reached_here()).unwrap(), found.reached());
            });
        }
    }
}

#[test]
fn a_part_of_another_rank_is_refused_and_stops_all_ranks() {
    let recipe: Recipe = "torus:5x4".parse().unwrap();
    let refused = on_ranks(2, 10, |network| {
        let mut all = Ranks::new(network);
        let alone = |_| -> Result<u64, Box<dyn Error>> { unreachable!() };
        // Both ranks have the part of rank 0.
        let part = recipe.part(recipe.partition(2).unwrap(), 0, alone).unwrap();
        let explored = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            closure(&mut all, &part, [0], Explore::at_least_once()).map(|found| found.explored().ending())
        }));
        explored.map_err(|panic| panic.downcast::<String>().unwrap().contains("the part of another rank"))
    });
    assert_eq!(refused[1], Err(true));
    assert!(refused[0].is_ok());
}
