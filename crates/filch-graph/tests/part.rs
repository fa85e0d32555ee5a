//! Parts of generated graphs. Together they are the graph, and none is made with the whole.

use std::sync::{Barrier, Mutex};

use filch_graph::generate::{GenerateError, Recipe};
use filch_graph::part::{Part, Partition};

/// Makes the parts, each on a thread of its own.
fn parts(recipe: &Recipe, partition: Partition) -> Result<Vec<Part>, GenerateError> {
    let (numbers, barrier) = (Mutex::new(vec![0; partition.ranks()]), Barrier::new(partition.ranks()));
    let sum = |rank: usize, number: u64| {
        numbers.lock().unwrap()[rank] = number;
        barrier.wait();
        let sum = numbers.lock().unwrap().iter().sum();
        barrier.wait();
        Ok(sum)
    };
    std::thread::scope(|scope| {
        let make = |rank| {
            let sum = &sum;
            scope.spawn(move || recipe.part(partition, rank, |number| sum(rank, number)))
        };
        let threads: Vec<_> = (0..partition.ranks()).map(make).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn the_parts_together_are_the_graph() {
    for recipe in [
        "torus:7x5",
        "torus:1x1",
        "torus:2x3",
        "torus:1x6",
        "torus:64x33,connected",
        "grid:6x9",
        "grid:1x4,connected",
        "path:30",
        "path:1",
        "star:50",
        "ring:40,k=0",
        "ring:41,k=1",
        "ring:50,k=4,connected",
        "ring:43,k=3",
        "ring:6,k=5",
        "random:1,0",
        "random:200,300,seed=3",
        // So many edges that some are drawn again and again.
        "random:60,800,seed=4",
        // More than half of all pairs.
        "random:60,1200",
        "random:12,66",
        "random:9000,10000,seed=9",
        "rmat:8,900,seed=5",
        "rmat:0,10",
        "rmat:10,9000",
    ] {
        let recipe: Recipe = recipe.parse().unwrap();
        let whole = recipe.build().unwrap();
        assert_eq!(recipe.vertices().unwrap(), whole.vertices());
        for ranks in [1, 2, 3, 5] {
            let vertices = whole.vertices();
            let partitions = [Partition::blocks(vertices, ranks), Partition::hashed(vertices, ranks)];
            assert!(partitions.contains(&recipe.partition(ranks).unwrap()));
            for partition in partitions {
                let parts = parts(&recipe, partition).unwrap();
                assert_eq!(parts.iter().map(Part::own).sum::<usize>(), vertices);
                assert_eq!(parts.iter().map(Part::arcs).sum::<usize>(), whole.arcs());
                for (rank, part) in parts.iter().enumerate() {
                    assert_eq!((part.rank(), part.own()), (rank, partition.own(rank)));
                    for (vertex, neighbours) in part.iter() {
                        assert_eq!(neighbours, whole.neighbours(vertex), "{recipe} {partition:?}: vertex {vertex}");
                    }
                }
            }
        }
    }
}

#[test]
fn recipes_that_need_the_whole_graph_are_refused_with_a_reason() {
    for (recipe, reason) in [
        ("kgraph-plane:100,k=3", "kgraph-plane:100,k=3 cannot be built in parts"),
        ("torus:5x5,shuffled", "the new number of a vertex depends on all other vertices"),
        ("random:100,50,connected", "the components are known only for the whole graph"),
        ("ring:100,k=1,connected", "the components are known only for the whole graph"),
        ("torus:0x5", "without vertices"),
        ("random:5,11", "5 vertices have 10 pairs"),
        ("ring:5,k=5", "k must be below the number of vertices"),
    ] {
        let recipe: Recipe = recipe.parse().unwrap();
        let partition = Partition::blocks(recipe.vertices().unwrap_or(1), 2);
        let refusal = parts(&recipe, partition).unwrap_err().to_string();
        assert!(refusal.contains(reason), "{recipe}: {refusal}");
    }
}

#[test]
fn an_error_of_another_rank_is_passed_on() {
    let recipe: Recipe = "random:100,200".parse().unwrap();
    let partition = recipe.partition(2).unwrap();
    let part = recipe.part(partition, 0, |_| Err::<u64, Box<dyn std::error::Error>>("rank 1 has failed".into()));
    assert_eq!(part.unwrap_err().to_string(), "rank 1 has failed");
}
