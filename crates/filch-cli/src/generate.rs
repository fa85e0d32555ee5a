//! `filch generate`: random instances of the problems that `filch solve` solves.
//!
//! The same seed gives the same instance on every machine.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use filch_dd::problems::{independent_set, knapsack, tsptw, unsplittable_flow};

use crate::problem::Loaded;
use crate::{output_file, print};

/// Make a random instance of a problem, in the format of `filch solve`.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    recipe: Recipe,

    /// The seed of the random numbers. The same seed gives the same instance.
    #[arg(long, value_name = "N", default_value_t = 1, global = true)]
    seed: u64,

    /// Write the instance to this file instead of standard output.
    #[arg(long, value_name = "FILE", global = true)]
    out: Option<PathBuf>,
}

/// The problem of the instance, and its parameters.
#[derive(Clone, Debug, Subcommand)]
enum Recipe {
    /// Items with random weights, and a knapsack for half of the total weight.
    Knapsack {
        /// The number of items.
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
        items: u32,
        /// The maximum weight of an item.
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(i64).range(1..=1 << 31))]
        range: i64,
        /// How profits depend on weights.
        #[arg(long, value_name = "KIND", default_value = "strongly")]
        kind: Correlation,
    },
    /// A random graph, for misp and clique.
    Graph {
        /// The number of vertices.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(..=32_768))]
        vertices: u32,
        /// How many of a thousand pairs of vertices have an edge.
        #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(..=1_000))]
        per_thousand: u32,
        /// The maximum weight of a vertex.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=1 << 31))]
        heaviest: i64,
    },
    /// Places in a square, with time windows that at least one tour meets.
    Tsptw {
        /// The number of places, including the depot.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=256))]
        places: u32,
        /// The side of the square.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i64).range(0..=1 << 31))]
        side: i64,
        /// The maximum width of a time window.
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(i64).range(0..=1 << 31))]
        width: i64,
    },
    /// A network in layers, in which some nodes may not split flow.
    Flow {
        /// The number of layers.
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=64))]
        layers: u32,
        /// The number of nodes in a layer.
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
        width: u32,
        /// How many of a thousand nodes may not split flow.
        #[arg(long, value_name = "N", default_value_t = 700, value_parser = clap::value_parser!(u32).range(..=1_000))]
        per_thousand: u32,
        /// The maximum capacity of an arc.
        #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=65_535))]
        capacity: u32,
    },
}

/// How profits depend on weights.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Correlation {
    /// Profits are independent of weights.
    Uncorrelated,
    /// Profit and weight differ by at most a tenth of the range.
    Weakly,
    /// The profit is the weight plus a tenth of the range.
    Strongly,
    /// Profit and weight are equal.
    SubsetSum,
}

/// Runs `filch generate`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let seed = arguments.seed;
    let instance = match arguments.recipe {
        Recipe::Knapsack { items, range, kind } => {
            let kind = match kind {
                Correlation::Uncorrelated => knapsack::Kind::Uncorrelated,
                Correlation::Weakly => knapsack::Kind::Weakly,
                Correlation::Strongly => knapsack::Kind::Strongly,
                Correlation::SubsetSum => knapsack::Kind::SubsetSum,
            };
            Loaded::Knapsack(knapsack::random(items as usize, range, kind, seed))
        }
        Recipe::Graph { vertices, per_thousand, heaviest } => {
            Loaded::Misp(independent_set::random(vertices as usize, per_thousand, heaviest, seed))
        }
        Recipe::Tsptw { places, side, width } => Loaded::Tsptw(tsptw::random(places as usize, side, width, seed)),
        Recipe::Flow { layers, width, per_thousand, capacity } => {
            let (layers, width) = (layers as usize, width as usize);
            Loaded::Flow(unsplittable_flow::random(layers, width, per_thousand, capacity, seed))
        }
    };
    let text = instance.text();
    match &arguments.out {
        Some(path) => output_file::write_text(path, &text),
        None => print(&text),
    }
}
