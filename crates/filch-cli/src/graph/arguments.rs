//! Command-line arguments of `filch graph`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use clap::{ArgGroup, Args, ValueEnum};
use filch_graph::generate::{GenerateError, Recipe};
use filch_graph::read::{Format, Names};
use filch_graph::{BucketWidth, Vertex};

use crate::command_line::{pool_threads, seconds};
use crate::queue::Queue;

/// Read or generate a graph, and explore it on all cores.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("graph").required(true).args(["file", "generate"]),
    override_usage = "filch graph <TASK> <FILE> [OPTIONS]\n       filch graph <TASK> --generate <RECIPE> [OPTIONS]"
)]
pub struct Arguments {
    /// What to compute.
    pub(super) task: Task,

    /// The graph: an edge list, a Matrix Market file or a DIMACS file.
    ///
    /// It may be compressed with gzip. For shortest-paths each line needs a weight, except in a
    /// Matrix Market `pattern`, whose weights are 1.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    /// Generate the graph instead, for example torus:1000x1000.
    ///
    /// Recipes: torus:WIDTHxHEIGHT, grid:WIDTHxHEIGHT, kgraph-plane:1000000,k=3, ring:N,k=K,
    /// random:1000000,3000000, rmat:20,8000000, star:N and path:N. Each may be followed by ,seed=7
    /// and ,connected and ,shuffled. For shortest-paths it must be followed by a range of random
    /// weights, such as ,weights=1-100.
    #[arg(long, value_name = "RECIPE")]
    pub(super) generate: Option<Recipe>,

    /// The vertex to start from; for closure, bfs and shortest-paths it may be given several times.
    ///
    /// Vertices are numbered from 0, even if the numbers in the file begin with 1. With --renumber,
    /// it is the id of a vertex in the file.
    #[arg(long = "root", visible_alias = "from", value_name = "VERTEX", value_parser = vertex)]
    pub(super) roots: Vec<u64>,

    /// The width of a bucket of shortest-paths, in their unit [default: chosen by the graph].
    ///
    /// It changes the time, not the result.
    #[arg(long, value_name = "WIDTH", value_parser = width, allow_negative_numbers = true)]
    pub(super) delta: Option<BucketWidth>,

    /// Compute a spanning tree of every component, not only of one.
    #[arg(long, conflicts_with = "roots")]
    pub(super) forest: bool,

    /// Compute the closure of a generated graph on all ranks that `mpirun` started.
    ///
    /// Each rank builds its part and uses the number of --threads. Rank 0 prints the result.
    /// Without `mpirun` there is one rank.
    #[arg(long, conflicts_with_all = ["queue", "out"])]
    pub(super) mpi: bool,

    /// The queue of the workers.
    ///
    /// One of split, chase_lev, the, asymmetric, ff_the-untrusted, ff_cl-untrusted, thep-untrusted,
    /// idempotent::lifo, idempotent::fifo and idempotent::double_ended. An untrusted queue relies on
    /// no bound of the CPU and may return a task twice, which the result tolerates. The task bfs runs
    /// level by level and has no queue.
    #[arg(long, value_name = "NAME", default_value_t = Queue::Split)]
    pub(super) queue: Queue,

    /// Compute the closure level by level, without queues.
    ///
    /// This is faster if the graph is larger than the cache and its edges lead anywhere, as in a
    /// random graph or a social network. It is slower if neighbours have close numbers.
    #[arg(long, conflicts_with_all = ["queue", "mpi"])]
    pub(super) by_level: bool,

    /// The number of threads [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = pool_threads)]
    pub(super) threads: Option<usize>,

    /// Stop after this many seconds, without writing to --out.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,

    /// Read the lines of the file as directed arcs, whatever its header says.
    #[arg(long, conflicts_with = "generate")]
    pub(super) directed: bool,

    /// Read the lines of the file as undirected edges, whatever its header says.
    #[arg(long, conflicts_with_all = ["generate", "directed"])]
    pub(super) undirected: bool,

    /// The format, if not detected: edge-list, matrix-market or dimacs.
    #[arg(long, value_name = "FORMAT", conflicts_with = "generate")]
    pub(super) format: Option<Format>,

    /// Renumber the vertices of an edge list, so that their ids can be any numbers.
    #[arg(long, conflicts_with = "generate")]
    pub(super) renumber: bool,

    /// Read the file even if nearly all of its vertices have no edge.
    #[arg(long, conflicts_with = "generate")]
    pub(super) allow_isolated: bool,

    /// Also write the summary to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Write the result to this file, one line per vertex.
    ///
    /// closure: the reached vertices. spanning-tree: each vertex and its parent; a root is its own
    /// parent. components: each vertex and the number of its component. bfs: each reached vertex
    /// and its distance. shortest-paths: each reached vertex, its distance, and the vertex before
    /// it on a shortest path; a root is its own.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Task {
    /// The vertices that are reachable from the roots.
    Closure,
    /// A spanning tree of the vertices that are reachable from the root.
    SpanningTree,
    /// The connected components, ignoring directions.
    Components,
    /// The distance of each vertex from the nearest root, in arcs.
    Bfs,
    /// The distance of each vertex from the nearest root, by the weights of the arcs.
    ShortestPaths,
}

impl Task {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Task::Closure => "closure",
            Task::SpanningTree => "spanning-tree",
            Task::Components => "components",
            Task::Bfs => "bfs",
            Task::ShortestPaths => "shortest-paths",
        }
    }

    /// Whether arcs need weights.
    pub(super) fn needs_weights(self) -> bool {
        self == Task::ShortestPaths
    }
}

impl Arguments {
    /// Returns an error if arguments contradict each other, or one requires another.
    pub(super) fn check(&self) -> Result<()> {
        let task = self.task.name();
        self.check_direction(self.directed)?;
        self.check_mpi()?;
        ensure!(
            self.delta.is_none() || self.task == Task::ShortestPaths,
            "--delta needs the task shortest-paths, not {task}"
        );
        if let Some(recipe) = self.generate.filter(|recipe| self.task.needs_weights() && recipe.weights.is_none()) {
            return Err(GenerateError::NoWeights { recipe }.into());
        }
        ensure!(!(self.forest && self.task != Task::SpanningTree), "--forest needs the task spanning-tree, not {task}");
        ensure!(!self.by_level || self.task == Task::Closure, "--by-level needs the task closure, not {task}");
        ensure!(
            self.task != Task::Components || self.roots.is_empty(),
            "components cover the whole graph; omit --root"
        );
        ensure!(
            self.task != Task::SpanningTree || self.roots.len() <= 1,
            "a spanning tree has one root; give --root once, or --forest for a tree of every component"
        );
        ensure!(
            self.json.is_none() || self.json != self.out,
            "--json and --out are the same file; give two different files"
        );
        Ok(())
    }

    /// Returns the name of the queue, unless the task runs level by level.
    pub(super) fn queue_name(&self) -> Option<&'static str> {
        (!self.by_level && self.task != Task::Bfs).then(|| self.queue.name())
    }

    /// Returns an error if the task cannot run on several ranks.
    fn check_mpi(&self) -> Result<()> {
        let Arguments { mpi, task, .. } = self;
        ensure!(!mpi || *task == Task::Closure, "--mpi supports closure, not {}", task.name());
        let Some(recipe) = self.generate.as_ref().filter(|_| *mpi) else {
            ensure!(
                !mpi,
                "a file cannot be read in parts, so --mpi needs a generated graph; omit --mpi or give --generate"
            );
            return Ok(());
        };
        Ok(recipe.check_parts()?)
    }

    /// Returns an error if the task does not support the direction of the graph.
    pub(super) fn check_direction(&self, directed: bool) -> Result<()> {
        ensure!(
            !directed || self.task != Task::SpanningTree,
            "a spanning tree needs an undirected graph; --undirected reads a file as one"
        );
        Ok(())
    }

    /// Returns the vertices to start from.
    pub(super) fn roots(&self, vertices: usize, names: Option<&Names>) -> Result<Vec<Vertex>> {
        if self.task == Task::Components || self.forest {
            return Ok(Vec::new());
        }
        ensure!(vertices > 0, "the graph has no vertices, so there is no root");
        let vertex = |&root: &u64| match names {
            Some(names) => names.vertex(root).with_context(|| format!("no vertex in the file has the id {root}")),
            None => Vertex::try_from(root).ok().filter(|&root| (root as usize) < vertices).with_context(|| {
                format!("the root {root} does not exist: the graph has {vertices} vertices, numbered from 0")
            }),
        };
        if self.roots.is_empty() {
            return Ok(vec![0]);
        }
        self.roots.iter().map(vertex).collect()
    }
}

fn vertex(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "not the number of a vertex; an example is 0".to_owned())
}

fn width(text: &str) -> Result<BucketWidth, String> {
    let width = text.parse().map_err(|_| "not a number; an example is 2.5".to_owned())?;
    BucketWidth::new(width).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn parse(words: &str) -> Result<Arguments, String> {
        let arguments: Arguments = command_line::parse(&words.split(' ').collect::<Vec<_>>())?;
        arguments.check().map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[test]
    fn omitted_options_have_defaults() {
        let arguments = parse("closure roads.gr").unwrap();
        assert_eq!(arguments.queue, Queue::Split);
        assert_eq!(arguments.roots(5, None).unwrap(), [0]);
        assert!(arguments.threads.is_none() && arguments.time_limit.is_none());
    }

    #[test]
    fn options_are_taken_as_given() {
        let arguments =
            parse("bfs --generate torus:10x10 --root 3 --root 9 --queue ff_cl-untrusted --time-limit 0.5").unwrap();
        assert_eq!(arguments.roots(10, None).unwrap(), [3, 9]);
        assert_eq!(arguments.queue, Queue::UntrustedFfCl);
        assert_eq!(arguments.time_limit, Some(Duration::from_millis(500)));
        let arguments = parse("shortest-paths --generate torus:9x9,weights=1-9 --from 3 --delta 2.5").unwrap();
        assert_eq!(arguments.roots(10, None).unwrap(), [3]);
        assert_eq!(arguments.delta, Some(BucketWidth::new(2.5).unwrap()));
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            ("colouring roads.gr", "possible values: closure, spanning-tree, components, bfs, shortest-paths"),
            ("shortest-paths roads.gr --delta 0", "the width of a bucket is a finite number above 0, not 0"),
            ("shortest-paths roads.gr --delta -1", "the width of a bucket is a finite number above 0, not -1"),
            ("shortest-paths roads.gr --delta nan", "the width of a bucket is a finite number above 0, not NaN"),
            ("shortest-paths roads.gr --delta wide", "not a number; an example is 2.5"),
            ("bfs roads.gr --delta 5", "--delta needs the task shortest-paths, not bfs"),
            ("shortest-paths --generate torus:3x3", "torus:3x3 has no weights; add a range"),
            ("closure --generate torus:3x3 --directed", "cannot be used with"),
            ("closure roads.gr --root -1", "unexpected argument"),
            ("closure roads.gr --root first", "not the number of a vertex"),
            ("closure roads.gr --time-limit 0", "above 0"),
            ("closure roads.gr --time-limit soon", "not a number of seconds"),
            ("closure roads.gr --forest", "--forest needs the task spanning-tree"),
            ("spanning-tree roads.gr --root 1 --root 2", "has one root"),
            ("spanning-tree roads.gr --root 1 --forest", "cannot be used with"),
            ("closure --generate torus:3x3 --mpi --out a", "cannot be used with"),
            ("closure --generate torus:3x3 --mpi --queue the", "cannot be used with"),
            ("closure --generate torus:3x3 --by-level --queue the", "cannot be used with"),
            ("closure --generate torus:3x3,shuffled --mpi", "torus:3x3,shuffled cannot be built in parts"),
        ] {
            let refusal = parse(words).expect_err(words);
            assert!(refusal.contains(reason), "{words}: {refusal}");
        }
    }

    #[test]
    fn a_root_that_does_not_exist_is_refused() {
        let arguments = parse("closure roads.gr --root 5").unwrap();
        assert_eq!(arguments.roots(6, None).unwrap(), [5]);
        for (vertices, reason) in [(5, "the root 5 does not exist: the graph has 5 vertices"), (0, "no vertices")] {
            assert!(arguments.roots(vertices, None).unwrap_err().to_string().contains(reason));
        }
    }
}
