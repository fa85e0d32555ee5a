//! Graphs by name, for command lines and benchmarks.

use std::fmt;
use std::str::FromStr;

use super::connect::{connect_edges, RandomSmaller};
use super::edges::Edges;
use super::{lattice, plane, random, ring, rmat, uniform_weights, GenerateError};
use crate::{Graph, WeightedGraph};

/// A description of a graph to generate. The same recipe makes the same graph everywhere.
///
/// | recipe | graph |
/// |---|---|
/// | `ring:N,k=K`, or by its earlier name `kgraph:N,k=K` | [`kgraph_ring`](super::kgraph_ring) |
/// | `kgraph-plane:N,k=K` | [`kgraph_plane`](super::kgraph_plane) |
/// | `torus:WIDTHxHEIGHT` | [`torus`](super::torus) |
/// | `grid:WIDTHxHEIGHT` | [`grid`](super::grid) |
/// | `random:N,EDGES` | [`random`](super::random()) |
/// | `rmat:SCALE,EDGES` | [`rmat`](super::rmat()) |
/// | `star:N`, `path:N` | [`star`](super::star), [`path`](super::path) |
///
/// Each may be followed by `,seed=S` (0 otherwise), by `,connected` (the fewest edges are added
/// that make it connected, as by [`connect`](super::connect())), by `,shuffled` (the vertices are
/// numbered at random) and by `,weights=A-B` (each edge has a random weight from A to B, as by
/// [`uniform_weights`](super::uniform_weights())). Numbers may have underscores.
///
/// ```
/// use filch_graph::generate::Recipe;
///
/// let recipe: Recipe = "random:1_000,1_500,seed=7,connected".parse()?;
/// let graph = recipe.build()?;
/// assert_eq!(graph.vertices(), 1000);
/// assert_eq!(recipe.to_string(), "random:1000,1500,seed=7,connected");
///
/// let error = "torus:1000".parse::<Recipe>().unwrap_err();
/// assert_eq!(error.to_string(), "`torus:1000` is not a valid graph recipe: a torus is written `torus:WIDTHxHEIGHT`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The kind and the size.
    pub shape: Shape,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Whether its components are joined.
    pub connected: bool,
    /// Whether its vertices are numbered at random.
    pub shuffled: bool,
    /// The smallest and the largest weight of an edge, if edges have weights.
    pub weights: Option<(u32, u32)>,
}

/// The kinds of graphs that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the arguments of the functions that are named")]
pub enum Shape {
    /// [`kgraph_ring`](super::kgraph_ring).
    KgraphRing { vertices: usize, neighbours: usize },
    /// [`kgraph_plane`](super::kgraph_plane).
    KgraphPlane { vertices: usize, neighbours: usize },
    /// [`torus`](super::torus).
    Torus { width: usize, height: usize },
    /// [`grid`](super::grid).
    Grid { width: usize, height: usize },
    /// [`random`](super::random()).
    Random { vertices: usize, edges: usize },
    /// [`rmat`](super::rmat()).
    Rmat { scale: u32, edges: usize },
    /// [`star`](super::star).
    Star { vertices: usize },
    /// [`path`](super::path).
    Path { vertices: usize },
}

impl From<Shape> for Recipe {
    fn from(shape: Shape) -> Self {
        Recipe { shape, seed: 0, connected: false, shuffled: false, weights: None }
    }
}

impl Recipe {
    /// Makes the graph, on the pool of the calling thread or the global one. Weights are left out.
    ///
    /// # Errors
    ///
    /// As the function for its shape.
    pub fn build(&self) -> Result<Graph, GenerateError> {
        let mut edges = self.edges()?;
        if self.connected {
            connect_edges(&mut edges, RandomSmaller::new(self.seed));
        }
        if self.shuffled {
            edges.shuffle(self.seed);
        }
        edges.build()
    }

    /// Makes the graph with its weights, on the pool of the calling thread or the global one.
    ///
    /// ```
    /// use filch_graph::generate::Recipe;
    ///
    /// let recipe: Recipe = "torus:10x10,weights=5-9".parse()?;
    /// assert!(recipe.build_weighted()?.iter().all(|(_, _, weight)| weight >= 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Recipe::build), and if the recipe has no weights.
    pub fn build_weighted(&self) -> Result<WeightedGraph, GenerateError> {
        let (least, most) = self.weights.ok_or(GenerateError::NoWeights { recipe: *self })?;
        uniform_weights(self.build()?, least..=most, self.seed)
    }

    fn edges(&self) -> Result<Edges, GenerateError> {
        match self.shape {
            Shape::KgraphRing { vertices, neighbours } => ring::ring_edges(vertices, neighbours),
            Shape::KgraphPlane { vertices, neighbours } => plane::plane_edges(vertices, neighbours, self.seed),
            Shape::Torus { width, height } => lattice::torus_edges(width, height),
            Shape::Grid { width, height } => lattice::grid_edges(width, height),
            Shape::Random { vertices, edges } => random::random_edges(vertices, edges, self.seed),
            Shape::Rmat { scale, edges } => rmat::rmat_edges(scale, edges, self.seed),
            Shape::Star { vertices } => lattice::star_edges(vertices),
            Shape::Path { vertices } => lattice::path_edges(vertices),
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::KgraphRing { vertices, neighbours } => write!(f, "ring:{vertices},k={neighbours}"),
            Shape::KgraphPlane { vertices, neighbours } => write!(f, "kgraph-plane:{vertices},k={neighbours}"),
            Shape::Torus { width, height } => write!(f, "torus:{width}x{height}"),
            Shape::Grid { width, height } => write!(f, "grid:{width}x{height}"),
            Shape::Random { vertices, edges } => write!(f, "random:{vertices},{edges}"),
            Shape::Rmat { scale, edges } => write!(f, "rmat:{scale},{edges}"),
            Shape::Star { vertices } => write!(f, "star:{vertices}"),
            Shape::Path { vertices } => write!(f, "path:{vertices}"),
        }?;
        if self.seed != 0 {
            write!(f, ",seed={}", self.seed)?;
        }
        for (flag, word) in [(self.connected, ",connected"), (self.shuffled, ",shuffled")] {
            f.write_str(if flag { word } else { "" })?;
        }
        match self.weights {
            Some((least, most)) => write!(f, ",weights={least}-{most}"),
            None => Ok(()),
        }
    }
}

/// Error from parsing a [`Recipe`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    text: String,
    why: String,
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a valid graph recipe: {}", self.text, self.why)
    }
}

impl std::error::Error for RecipeError {}

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Recipe, RecipeError> {
        parse(text).map_err(|why| RecipeError { text: text.to_owned(), why })
    }
}

fn parse(text: &str) -> Result<Recipe, String> {
    let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
    // How many arguments describe the graph; the rest are options.
    let (usage, required) = match name {
        // The name of the ring before there was a k-graph in the plane.
        "ring" | "kgraph" => ("a k-graph on a ring is written `ring:N,k=K`", 2),
        "kgraph-plane" => ("a k-graph in the plane is written `kgraph-plane:N,k=K`", 2),
        "torus" => ("a torus is written `torus:WIDTHxHEIGHT`", 1),
        "grid" => ("a grid is written `grid:WIDTHxHEIGHT`", 1),
        "random" => ("a random graph is written `random:N,EDGES`", 2),
        "rmat" => ("an R-MAT graph is written `rmat:SCALE,EDGES`", 2),
        "star" => ("a star is written `star:N`", 1),
        "path" => ("a path is written `path:N`", 1),
        _ => {
            return Err(format!(
                "unknown graph `{name}`; use kgraph-plane, ring, torus, grid, random, rmat, star or path"
            ))
        }
    };
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    if arguments.len() < required || arguments[..required].iter().any(|argument| argument.is_empty()) {
        return Err(usage.to_owned());
    }
    let (required, options) = arguments.split_at(required);
    let size = |text: &str| number::<usize>(text, usage);
    let neighbours = |text: &str| size(text.strip_prefix("k=").ok_or(usage)?);
    let sides = |text: &str| {
        let (width, height) = text.split_once('x').ok_or(usage)?;
        Ok::<_, String>((size(width)?, size(height)?))
    };
    let shape = match name {
        "ring" | "kgraph" => Shape::KgraphRing { vertices: size(required[0])?, neighbours: neighbours(required[1])? },
        "kgraph-plane" => Shape::KgraphPlane { vertices: size(required[0])?, neighbours: neighbours(required[1])? },
        "torus" => sides(required[0]).map(|(width, height)| Shape::Torus { width, height })?,
        "grid" => sides(required[0]).map(|(width, height)| Shape::Grid { width, height })?,
        "random" => Shape::Random { vertices: size(required[0])?, edges: size(required[1])? },
        "rmat" => Shape::Rmat { scale: number(required[0], usage)?, edges: size(required[1])? },
        "star" => Shape::Star { vertices: size(required[0])? },
        _ => Shape::Path { vertices: size(required[0])? },
    };
    let mut recipe = Recipe::from(shape);
    for option in options {
        match option.split_once('=').unwrap_or((option, "")) {
            ("seed", seed) => recipe.seed = number(seed, "a seed is written `seed=S`")?,
            ("weights", range) => recipe.weights = Some(weights(range)?),
            _ if *option == "connected" => recipe.connected = true,
            _ if *option == "shuffled" => recipe.shuffled = true,
            _ => {
                let (other, allowed) = (option, "`seed=S`, `connected`, `shuffled` and `weights=A-B`");
                return Err(format!("`{other}` is not an option; {usage}, and may be followed by {allowed}"));
            }
        }
    }
    Ok(recipe)
}

/// Parses the smallest and the largest weight.
fn weights(range: &str) -> Result<(u32, u32), String> {
    const USAGE: &str = "weights are written `weights=A-B`";
    let (least, most) = range.split_once('-').ok_or(USAGE)?;
    let (least, most) = (number(least, USAGE)?, number(most, USAGE)?);
    match least <= most {
        true => Ok((least, most)),
        false => Err(GenerateError::EmptyRange { least, most }.to_string()),
    }
}

/// Parses a number, with or without underscores between its digits.
fn number<N: FromStr>(text: &str, usage: &str) -> Result<N, String> {
    let digits = text.replace('_', "");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{text}` is not a number; {usage}"));
    }
    digits.parse().map_err(|_| format!("`{text}` is too large"))
}
