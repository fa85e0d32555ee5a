//! Counts the cache lines of marks that two workers of a closure take from each other.
//!
//! Two plain loops, each on marks of its own, share nothing. Two workers of one closure share the
//! marks: a worker that reads or writes a line of marks which the other has written since waits for
//! that line. This program keeps, for each line, which worker has a copy, as caches of any size
//! would, and counts the accesses that find none. It also measures how long such an access takes.
//!
//! ```text
//! cargo run --release -p filch-graph --example mark_traffic
//! cargo run --release -p filch-graph --example mark_traffic -- torus:2000x2000
//! ```

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use filch::explore::{AtLeast, Explore};
use filch::Pool;
use filch_graph::generate::Recipe;
use filch_graph::{Graph, Vertex};

/// The marks on one cache line.
const LINE: usize = 64;

/// Which worker has a copy of each line of marks: a bit for each.
struct Lines(Vec<AtomicU8>);

/// What a worker has counted.
#[derive(Default)]
struct Traffic {
    /// Accesses that had to fetch the line from the other worker, or wait until it has given it up.
    transfers: u64,
    visits: u64,
}

impl Lines {
    fn new(vertices: usize) -> Lines {
        // At the beginning both have all lines: what memory costs is the same for plain loops.
        Lines((0..vertices.div_ceil(LINE)).map(|_| AtomicU8::new(0b11)).collect())
    }

    /// Counts a read of a mark by this worker.
    fn read(&self, vertex: Vertex, worker: usize, traffic: &mut Traffic) {
        let line = &self.0[vertex as usize / LINE];
        let own = 1 << worker;
        if line.load(Ordering::Relaxed) & own == 0 {
            line.fetch_or(own, Ordering::Relaxed);
            traffic.transfers += 1;
        }
    }

    /// Counts a write of a mark, which it has just read.
    fn write(&self, vertex: Vertex, worker: usize, traffic: &mut Traffic) {
        let own = 1 << worker;
        if self.0[vertex as usize / LINE].swap(own, Ordering::Relaxed) != own {
            traffic.transfers += 1;
        }
    }
}

/// Runs a closure from vertex 0 and counts.
fn count(graph: &Graph, pool: &Pool) -> Traffic {
    let marks: Vec<AtomicU8> = (0..graph.vertices()).map(|_| AtomicU8::new(0)).collect();
    let lines = Lines::new(graph.vertices());
    marks[0].store(1, Ordering::Relaxed);
    let explore = Explore::<AtLeast, _>::at_least_once().pool(pool).state(|_| Traffic::default());
    let explored = explore.run([0], |vertex: Vertex, worker| {
        let index = worker.index();
        worker.state().visits += 1;
        for &next in graph.neighbours(vertex) {
            lines.read(next, index, worker.state());
            let mark = &marks[next as usize];
            if mark.load(Ordering::Relaxed) == 0 {
                mark.store(1, Ordering::Relaxed);
                lines.write(next, index, worker.state());
                worker.push(next);
            }
        }
    });
    let sum = |of: fn(&Traffic) -> u64| explored.states().iter().map(of).sum();
    Traffic { transfers: sum(|worker| worker.transfers), visits: sum(|worker| worker.visits) }
}

/// The time of a closure from vertex 0, without counting.
fn time(graph: &Graph, pool: &Pool) -> Duration {
    let start = Instant::now();
    filch_graph::closure(graph, [0], Explore::at_least_once().pool(pool));
    start.elapsed()
}

/// The time for a cache line to get from one core to another: half of a round trip.
fn transfer_time() -> Duration {
    const TURNS: usize = 200_000;
    let turn = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for side in 0..2 {
            let turn = &turn;
            scope.spawn(move || {
                for round in 0..TURNS {
                    while turn.load(Ordering::Acquire) != 2 * round + side {
                        std::hint::spin_loop();
                    }
                    turn.store(2 * round + side + 1, Ordering::Release);
                }
            });
        }
    });
    start.elapsed() / (2 * TURNS) as u32
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let usual =
        ["kgraph-plane:1_000_000,k=3", "ring:1_000_000,k=3", "torus:1000x1000", "random:1_000_000,3_000_000,connected"];
    let names = if given.is_empty() { usual.map(String::from).to_vec() } else { given };
    let pool = Pool::builder().threads(2).build().unwrap_or_else(|error| panic!("no pool: {error}"));
    let transfer = transfer_time();
    println!("a line takes {transfer:?} from core to core");
    println!("graph | ns a vertex, two workers | lines a vertex from the other worker | their time, on each worker, in ns a vertex");
    for name in names {
        let graph = match name
            .parse::<Recipe>()
            .map_err(|error| error.to_string())
            .and_then(|recipe| recipe.build().map_err(|error| error.to_string()))
        {
            Ok(graph) => graph,
            Err(error) => {
                eprintln!("{name}: {error}");
                std::process::exit(1);
            }
        };
        let mut runs: Vec<(Duration, Traffic)> = (0..9).map(|_| (time(&graph, &pool), count(&graph, &pool))).collect();
        runs.sort_by_key(|run| run.0);
        let nanos = runs[4].0.as_nanos() as f64 / runs[4].1.visits as f64;
        runs.sort_by_key(|run| run.1.transfers);
        let lines = runs[4].1.transfers as f64 / runs[4].1.visits as f64;
        println!("{name} | {nanos:.2} | {lines:.3} | {:.2}", lines * transfer.as_nanos() as f64 / 2.0);
    }
}
