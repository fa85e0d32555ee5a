//! Command-line arguments of `filch-lab simulate`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail, Result};
use clap::{Args, ValueEnum};
use filch_mpi::simulate::{Costs, Line, Plan, Scaling, Settings, Wire};

use crate::command_line::seconds;
use crate::problem::Kind;

/// The cost of a message in Open MPI 4.1, in nanoseconds. It is between two processes of one
/// machine.
///
/// The first is to poll for it and receive it, the second to send it.
const RECEIVE: f64 = 400.0;
const SEND: f64 = 150.0;

/// Simulate the coordinator of a run across machines, with up to thousands of ranks.
///
/// The coordinator is real, and its cost per message is measured on this machine. Ranks, threads,
/// network and time are simulated. The work is the tree of a recorded search; without a recording,
/// a search is recorded first. The tree is simulated as it is (strong scaling), and in larger trees
/// like it, with the same work per thread for any number of ranks (weak scaling).
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Solve this problem of `filch solve` with one thread, and record its nodes.
    #[arg(long, num_args = 2, value_names = ["PROBLEM", "FILE"], requires = "out", conflicts_with_all = ["recording", "plot", "json"])]
    record: Option<Vec<String>>,

    /// Write the recording to this file.
    #[arg(long, value_name = "RECORDING", requires = "record")]
    out: Option<PathBuf>,

    /// Stop recording after this time; unexplored nodes are missing in the recording.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "record")]
    time: Option<Duration>,

    /// Simulate the search of this recording.
    #[arg(long, value_name = "FILE")]
    pub(super) recording: Option<PathBuf>,

    /// Simulate at most 1,000 ranks with less work, in some seconds.
    #[arg(long)]
    pub(super) quick: bool,

    /// Simulate these numbers of ranks.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', value_parser = ranks)]
    ranks: Vec<usize>,

    /// Set the number of threads of each rank.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,

    /// Set the mean number of nodes per thread for weak scaling.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    nodes: Option<u32>,

    /// Multiply the recorded costs of nodes by these factors.
    #[arg(long, value_name = "X,X,...", value_delimiter = ',', default_values_t = [1.0, 10.0, 100.0], value_parser = factor)]
    cost: Vec<f64>,

    /// Set the latency of the network, in microseconds.
    #[arg(long, value_name = "MICROSECONDS", value_parser = microseconds)]
    latency: Option<Duration>,

    /// Set the bandwidth of a rank, in gigabytes per second.
    #[arg(long, value_name = "GB/S", value_parser = amount)]
    bandwidth: Option<f64>,

    /// Set how long a rank waits after an event until it polls, in microseconds.
    #[arg(long, value_name = "MICROSECONDS", default_value = "50", value_parser = microseconds)]
    shortest_wait: Duration,

    /// Set the longest wait: without events, the wait doubles up to this.
    #[arg(long, value_name = "MICROSECONDS", default_value = "1000", value_parser = microseconds)]
    longest_wait: Duration,

    /// Set the size of an open node in a message, in bytes.
    #[arg(long, value_name = "N", default_value_t = 100)]
    node_bytes: u64,

    /// Set the time of the MPI library to receive a message, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = RECEIVE, value_parser = amount)]
    receive: f64,

    /// Set the time of the MPI library to send a message, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = SEND, value_parser = amount)]
    send: f64,

    /// Set the time of the coordinator to handle a message, in nanoseconds.
    ///
    /// Without it, the time is measured, and the figures differ from run to run.
    #[arg(long, value_name = "NS", value_parser = amount)]
    handle: Option<f64>,

    /// Set the seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Also draw efficiency and the coordinator's load to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

/// A search to record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) problem: Kind,
    pub(super) file: &'a Path,
    pub(super) out: &'a Path,
    pub(super) time: Option<Duration>,
}

impl Arguments {
    /// Returns the search to record, if any.
    pub(super) fn record(&self) -> Result<Option<Record<'_>>> {
        let (Some([problem, file]), Some(out)) = (self.record.as_deref(), &self.out) else { return Ok(None) };
        let problem = Kind::from_str(problem, false).map_err(|_| {
            let names: Vec<&str> = Kind::value_variants().iter().map(|kind| kind.name()).collect();
            anyhow!("'{problem}' is not a problem that filch solves; the problems are {}", names.join(", "))
        })?;
        let file = Path::new(file);
        if file == out {
            bail!("{} is the file of the instance; give another file for the recording", out.display());
        }
        Ok(Some(Record { problem, file, out, time: self.time }))
    }

    /// Returns the simulations to run.
    pub(super) fn plan(&self) -> Plan {
        let mut ranks = match (&*self.ranks, self.quick) {
            ([], false) => vec![10, 30, 100, 300, 1_000, 3_000, 10_000],
            ([], true) => vec![10, 30, 100, 300, 1_000],
            (ranks, _) => ranks.to_vec(),
        };
        ranks.sort_unstable();
        ranks.dedup();

        let changed = |wire: Wire| Wire {
            latency: self.latency.unwrap_or(wire.latency),
            bandwidth: self.bandwidth.map_or(wire.bandwidth, |gigabytes| gigabytes * 1e9),
        };
        let line = |scaling, network: &str, wire, factor| Line { scaling, network: network.to_owned(), wire, factor };
        let mut lines = Vec::new();
        let networks: &[(&str, Wire)] = if self.latency.is_some() || self.bandwidth.is_some() {
            &[("network", Wire::INFINIBAND)]
        } else {
            &[("InfiniBand", Wire::INFINIBAND), ("Ethernet", Wire::ETHERNET)]
        };
        for (place, &(name, wire)) in networks.iter().enumerate() {
            // The second network only shows the effect of latency: one cost factor is enough.
            let factors = if place == 0 { &self.cost[..] } else { &self.cost[..1] };
            lines.extend(factors.iter().map(|&factor| line(Scaling::Weak, name, changed(wire), factor)));
        }
        lines.push(line(Scaling::Strong, networks[0].0, changed(networks[0].1), 1.0));

        let costs = Costs { receive: self.receive, send: self.send, ..Costs::default() };
        let settings = Settings {
            threads: self.threads as usize,
            shortest_wait: self.shortest_wait,
            longest_wait: self.longest_wait,
            node_bytes: self.node_bytes,
            costs,
            seed: self.seed,
            ..Settings::new(1)
        };
        let nodes = self.nodes.unwrap_or(if self.quick { 1_000 } else { 2_000 });
        Plan { ranks, lines, nodes, settings, handle: self.handle }
    }
}

fn ranks(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(ranks @ 1..=100_000) => Ok(ranks),
        Ok(_) => Err("the number of ranks must be from 1 to 100000".to_owned()),
        Err(_) => Err("this is not a number of ranks; an example is 10,100,1000".to_owned()),
    }
}

fn microseconds(text: &str) -> Result<Duration, String> {
    match amount(text) {
        Ok(microseconds) if microseconds <= 1e7 => Ok(Duration::from_secs_f64(microseconds / 1e6)),
        _ => Err("this is not a number of microseconds, up to ten million; an example is 1.5".to_owned()),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match amount(text) {
        Ok(factor) if (1e-6..=1e6).contains(&factor) => Ok(factor),
        _ => Err("this is not a factor from a millionth to a million; an example is 0.1,1,10".to_owned()),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        _ => Err("this is not a number of at least 0; an example is 1.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn parse(words: &[&str]) -> Result<Arguments, String> {
        let arguments: Arguments = command_line::parse(words)?;
        arguments.record().map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[test]
    fn every_option_has_a_default() {
        let plan = parse(&[]).unwrap().plan();
        assert_eq!(plan.ranks, [10, 30, 100, 300, 1_000, 3_000, 10_000]);
        assert_eq!(plan.lines.iter().filter(|line| line.scaling == Scaling::Weak).count(), 4);
        assert_eq!(plan.lines.iter().filter(|line| line.scaling == Scaling::Strong).count(), 1);
        assert_eq!(plan.handle, None);
        assert_eq!(parse(&["--quick"]).unwrap().plan().ranks.last(), Some(&1_000));
    }

    #[test]
    fn options_are_taken_as_given() {
        let words = ["--ranks", "50,5,5", "--latency", "2.5", "--cost", "7", "--threads", "3", "--handle", "800"];
        let plan = parse(&words).unwrap().plan();
        assert_eq!((plan.ranks, plan.settings.threads, plan.handle), (vec![5, 50], 3, Some(800.0)));
        assert!(plan.lines.iter().all(|line| line.wire.latency == Duration::from_nanos(2_500)));
        assert_eq!(plan.lines.iter().map(|line| line.factor).collect::<Vec<_>>(), [7.0, 1.0]);
        let arguments = parse(&["--record", "misp", "graph.clq", "--out", "graph.rec", "--time", "2"]).unwrap();
        let record = arguments.record().unwrap().unwrap();
        assert_eq!((record.problem, record.file), (Kind::Misp, Path::new("graph.clq")));
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            (&["--record", "misp"][..], "2 values required"),
            (&["--record", "misp", "graph"], "--out"),
            (&["--out", "a"], "--record"),
            (
                &["--record", "colouring", "graph", "--out", "a"],
                "the problems are knapsack, misp, clique, tsptw, golomb, flow",
            ),
            (&["--record", "misp", "a", "--out", "a"], "is the file of the instance"),
            (&["--record", "misp", "a", "--out", "b", "--recording", "c"], "cannot be used with"),
            (&["--ranks", "0"], "from 1 to 100000"),
            (&["--ranks", "many"], "not a number of ranks"),
            (&["--threads", "0"], "0 is not in"),
            (&["--latency", "-1"], "unexpected argument"),
            (&["--latency", "NaN"], "not a number of microseconds"),
            (&["--cost", "0"], "not a factor"),
            (&["--nodes", "0"], "0 is not in"),
        ] {
            let refusal = parse(words).expect_err(&format!("{words:?} should be refused"));
            assert!(refusal.contains(reason), "{words:?}: {refusal}");
        }
    }
}
