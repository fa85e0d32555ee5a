//! The problems that can be solved, by their names in commands and plots.

use std::path::Path;

use anyhow::{anyhow, Result};
use clap::ValueEnum;
use filch_dd::problems::bits::{Bits, ManyWords, Words};
use filch_dd::problems::clique::Clique;
use filch_dd::problems::independent_set::IndependentSet;
use filch_dd::problems::{clique, golomb, independent_set, knapsack, tsptw, unsplittable_flow, Instance, ReadError};
use filch_dd::Dominance;

use crate::input_file;

/// A problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Knapsack with the most profit: a line `N CAPACITY`, then `PROFIT WEIGHT` for each item.
    Knapsack,
    /// Heaviest independent set: no two vertices are neighbours; DIMACS, plain or gzip.
    Misp,
    /// Heaviest clique: all vertices are neighbours; DIMACS, plain or gzip.
    Clique,
    /// Travelling salesman with time windows: the earliest end of a tour.
    Tsptw,
    /// Shortest Golomb ruler: all distances differ; a number of marks.
    Golomb,
    /// Largest unsplittable flow.
    Flow,
}

impl Kind {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Knapsack => "knapsack",
            Kind::Misp => "misp",
            Kind::Clique => "clique",
            Kind::Tsptw => "tsptw",
            Kind::Golomb => "golomb",
            Kind::Flow => "flow",
        }
    }
}

/// A problem instance.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// A knapsack.
    Knapsack(knapsack::Knapsack),
    /// The graph of an independent set.
    Misp(independent_set::Graph),
    /// The graph of a clique.
    Clique(clique::Graph),
    /// A tour with time windows.
    Tsptw(tsptw::Tsptw),
    /// A ruler.
    Golomb(golomb::Golomb),
    /// A network for unsplittable flow.
    Flow(unsplittable_flow::Network),
}

/// Sets of vertices of small graphs, and of large ones.
type Small = Words<4>;
type Large = Words<16>;
const SMALL: usize = Small::CAPACITY;
const MEDIUM: usize = SMALL + 1;
const LARGE: usize = Large::CAPACITY;

/// An operation on a problem of any kind.
pub trait Visit {
    /// The result of the operation.
    type Output;

    /// Runs the operation on a problem without dominance.
    fn plain<P: Instance>(self, problem: &P) -> Self::Output;

    /// Runs the operation on a problem with dominance.
    fn dominated<P: Instance + Dominance>(self, problem: &P) -> Self::Output;
}

impl Loaded {
    /// Reads an instance from a file. A Golomb ruler can be given as a number of marks.
    pub fn read(kind: Kind, file: &Path) -> Result<Loaded> {
        let located = |error: ReadError| anyhow!(error.in_file(&input_file::name(file)));
        if let Some(marks) = file.to_str().filter(|_| kind == Kind::Golomb).and_then(|text| text.parse().ok()) {
            return Ok(Loaded::Golomb(golomb::Golomb::new(marks)?));
        }
        let bytes = input_file::read(file)?;
        Ok(match kind {
            Kind::Knapsack => Loaded::Knapsack(knapsack::read(&bytes).map_err(located)?),
            Kind::Misp => Loaded::Misp(independent_set::read(&bytes).map_err(located)?),
            Kind::Clique => Loaded::Clique(clique::read(&bytes).map_err(located)?),
            Kind::Tsptw => Loaded::Tsptw(tsptw::read(&bytes).map_err(located)?),
            Kind::Golomb => Loaded::Golomb(golomb::read(&bytes).map_err(located)?),
            Kind::Flow => Loaded::Flow(unsplittable_flow::read(&bytes).map_err(located)?),
        })
    }

    /// The content of the instance's file.
    pub fn text(&self) -> String {
        match self {
            Loaded::Knapsack(sack) => sack.text(),
            Loaded::Misp(graph) | Loaded::Clique(graph) => graph.text(),
            Loaded::Tsptw(tour) => tour.text(),
            Loaded::Golomb(ruler) => ruler.text(),
            Loaded::Flow(network) => network.text(),
        }
    }

    /// Runs an operation on the instance.
    pub fn visit<V: Visit>(self, visit: V) -> V::Output {
        match self {
            Loaded::Knapsack(sack) => visit.dominated(&sack),
            // Only two sizes of sets, though the library has more: the solver is compiled for each.
            Loaded::Misp(graph) => match graph.vertices() {
                0..=SMALL => visit.plain(&IndependentSet::<Small>::new(graph)),
                MEDIUM..=LARGE => visit.plain(&IndependentSet::<Large>::new(graph)),
                _ => visit.plain(&IndependentSet::<ManyWords>::new(graph)),
            },
            Loaded::Clique(graph) => match graph.vertices() {
                0..=SMALL => visit.plain(&Clique::<Small>::new(graph)),
                MEDIUM..=LARGE => visit.plain(&Clique::<Large>::new(graph)),
                _ => visit.plain(&Clique::<ManyWords>::new(graph)),
            },
            Loaded::Tsptw(tour) => visit.dominated(&tour),
            Loaded::Golomb(ruler) => visit.plain(&ruler),
            Loaded::Flow(network) => visit.dominated(&network),
        }
    }
}
