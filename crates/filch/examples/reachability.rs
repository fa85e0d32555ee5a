//! Prints every vertex of a graph that is reachable from the given ones. Reads the graph as a list
//! of edges.
//!
//! It does no harm if a vertex is visited twice. So a plain store is enough as a mark, and the
//! queue may give a task more than once.
//!
//! ```text
//! cargo run --release -p filch --example reachability -- FILE [VERTEX...]      a file of edges; `-` is the standard input
//! cargo run --release -p filch --example reachability -- random:1000000x3 0    a random graph: vertices x edges from each
//! printf '0 1\n1 2\n3 0\n' | cargo run --release -p filch --example reachability -- - 1
//! ```
//!
//! An edge is a line with two numbers, from and to. Empty lines, and lines that begin with `#` or
//! `%`, are ignored. Without a VERTEX it starts at 0.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use filch::explore::Explore;

/// The targets of the edges, sorted by the start of the edges. Those of vertex v are at
/// `starts[v]..starts[v + 1]`.
struct Graph {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    fn new(vertices: usize, edges: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0; vertices + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let (mut next_free, mut targets) = (starts.clone(), vec![0; edges.len()]);
        for (from, to) in edges {
            let free = &mut next_free[*from as usize];
            targets[*free] = *to;
            *free += 1;
        }
        Graph { starts, targets }
    }

    fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.targets[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }
}

/// Every vertex is below this. So one line of a small file cannot ask for all memory.
const MAX_VERTICES: u32 = 100_000_000;

/// Reads a list of edges. The error names the line and says what is wrong with it.
fn read(lines: impl BufRead) -> Result<Graph, String> {
    let (mut edges, mut vertices) = (Vec::new(), 0);
    for (number, line) in lines.lines().enumerate() {
        let number = number + 1;
        let line = line.map_err(|error| format!("cannot read line {number}: {error}"))?;
        if line.trim().is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(from), Some(to), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!("line {number}: expected an edge of two numbers, found `{line}`"));
        };
        let vertex = |word: &str| match word.parse::<u32>() {
            Ok(vertex) if vertex < MAX_VERTICES => Ok(vertex),
            _ => Err(format!("line {number}: `{word}` is not a vertex: expected a number below {MAX_VERTICES}")),
        };
        let edge = (vertex(from)?, vertex(to)?);
        vertices = vertices.max(edge.0 as usize + 1).max(edge.1 as usize + 1);
        edges.push(edge);
    }
    Ok(Graph::new(vertices, &edges))
}

/// Creates a graph in which each vertex has `degree` edges, to vertices drawn at random.
fn random(vertices: u32, degree: u32) -> Graph {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random_vertex = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (((seed >> 32) * u64::from(vertices)) >> 32) as u32
    };
    let edges: Vec<_> =
        (0..vertices).flat_map(|from| (0..degree).map(move |_| from)).map(|from| (from, random_vertex())).collect();
    Graph::new(vertices as usize, &edges)
}

/// Opens a file or the standard input, or creates the graph that `random:1000x3` describes.
fn open(name: &str) -> Result<Graph, String> {
    if let Some(sizes) = name.strip_prefix("random:") {
        let sizes = sizes.split_once('x').and_then(|(v, d)| Some((v.parse::<u32>().ok()?, d.parse::<u32>().ok()?)));
        return match sizes {
            Some((vertices, degree)) if vertices <= MAX_VERTICES && degree <= 100 => Ok(random(vertices, degree)),
            _ => Err(format!(
                "`{name}` is not a random graph: give `random:VERTICESxDEGREE`, at most {MAX_VERTICES}x100"
            )),
        };
    }
    let graph = match name {
        "-" => read(io::stdin().lock()),
        _ => read(BufReader::new(File::open(name).map_err(|error| format!("cannot open {name}: {error}"))?)),
    };
    let name = if name == "-" { "the standard input" } else { name };
    graph.map_err(|error| format!("{name}: {error}"))
}

/// Marks everything that can be reached. Returns the marks, and the number of tasks.
fn reach(graph: &Graph, roots: &[u32]) -> (Vec<bool>, u64) {
    let reached: Vec<AtomicBool> = (0..graph.vertices()).map(|_| AtomicBool::new(false)).collect();
    for root in roots {
        reached[*root as usize].store(true, Ordering::Relaxed);
    }
    let explored = Explore::at_least_once().run(roots.iter().copied(), |vertex, worker| {
        for &next in graph.neighbours(vertex) {
            // Relaxed: a mark publishes nothing. If two workers find it missing both go on, and the
            // set is the same.
            if !reached[next as usize].load(Ordering::Relaxed) {
                reached[next as usize].store(true, Ordering::Relaxed);
                worker.push(next);
            }
        }
    });
    (reached.into_iter().map(AtomicBool::into_inner).collect(), explored.total().tasks)
}

fn run() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let name =
        args.next().ok_or("missing graph: give a file of edges, `-`, or a random graph such as `random:1000000x3`")?;
    let graph = open(&name)?;
    let vertices = graph.vertices();
    let root = |arg: String| match arg.parse::<u32>() {
        Ok(root) if (root as usize) < vertices => Ok(root),
        _ => Err(format!("`{arg}` is not a vertex of {name}: give a number from 0 to {}", vertices.max(1) - 1)),
    };
    let mut roots = args.map(root).collect::<Result<Vec<u32>, String>>()?;
    if roots.is_empty() && vertices > 0 {
        roots.push(0);
    }

    let start = Instant::now();
    let (reached, tasks) = reach(&graph, &roots);
    let took = start.elapsed();
    let count = reached.iter().filter(|reached| **reached).count();
    eprintln!(
        "{count} of {vertices} vertices are reachable; {tasks} tasks on {} workers in {took:.1?}",
        filch::current_num_threads()
    );
    let mut out = io::BufWriter::new(io::stdout().lock());
    let vertices = (0_u32..).zip(reached).filter(|(_, reached)| *reached);
    let written = vertices.into_iter().try_for_each(|(vertex, _)| writeln!(out, "{vertex}")).and_then(|()| out.flush());
    match written {
        // The reader, such as `| head`, has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| format!("cannot write the vertices: {error}")),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(text: &str, roots: &[u32]) -> Vec<usize> {
        let (marks, _) = reach(&read(text.as_bytes()).unwrap(), roots);
        marks.into_iter().enumerate().filter_map(|(vertex, reached)| reached.then_some(vertex)).collect()
    }

    #[test]
    fn edges_are_followed_forwards_only() {
        let text = "# two rings and a bridge\n0 1\n1 2\n2 0\n\n3\t4\n4 3\n2 3\n";
        assert_eq!(reached(text, &[0]), [0, 1, 2, 3, 4]);
        assert_eq!(reached(text, &[3]), [3, 4]);
        assert_eq!(reached(text, &[]), [0_usize; 0]);
    }

    #[test]
    fn an_invalid_edge_is_reported_with_its_line() {
        let message = |text: &str| read(text.as_bytes()).err().unwrap();
        assert!(message("0 1\n2\n").starts_with("line 2: expected an edge of two numbers"));
        assert!(message("0 1\n\n1 -2\n").starts_with("line 3: `-2` is not a vertex"));
        assert!(message("0 100000000\n").contains("a number below 100000000"));
        assert!(open("random:many").err().unwrap().contains("give `random:VERTICESxDEGREE`"));
        assert!(open("no/such/file").err().unwrap().contains("cannot open no/such/file"));
    }

    #[test]
    fn a_random_graph_has_the_same_result_as_with_a_plain_loop() {
        let graph = random(50_000, 2);
        let (mut expected, mut open) = (vec![false; graph.vertices()], vec![7]);
        expected[7] = true;
        while let Some(vertex) = open.pop() {
            for &next in graph.neighbours(vertex) {
                if !std::mem::replace(&mut expected[next as usize], true) {
                    open.push(next);
                }
            }
        }
        let (reached, tasks) = reach(&graph, &[7]);
        assert!(reached == expected);
        assert!(tasks >= expected.iter().filter(|reached| **reached).count() as u64);
    }
}
