//! The width of a bucket.

use std::fmt;

use crate::generate::stream::Stream;
use crate::WeightedGraph;

/// The number of weights that the automatic width looks at.
const SAMPLE: usize = 1 << 12;

/// The automatic width, in mean weights, for each arc of a vertex less. Measured on tori, on
/// k-graphs in the plane, and on random and R-MAT graphs: the best was 2 on the random ones and 10
/// on the others.
const FACTOR: f64 = 4.0;

/// A sampled weight counts for at most so many times the weight that seven of eight do not exceed.
/// So a few huge weights, which no shortest path uses, do not make all distances one bucket.
///
/// Not the median: if half of the arcs are short and half are long, chance decides which it is.
const OUTLIER: f64 = 8.0;

/// The width of a bucket of distances: the delta of delta stepping.
///
/// Any width gives the same distances. A bucket that is narrow has too few vertices for several
/// workers. In one that is wide, more vertices are visited again because a shorter path to them is
/// found; see [`ShortestPaths::visits`](super::ShortestPaths::visits).
///
/// ```
/// use filch_graph::BucketWidth;
///
/// assert_eq!(BucketWidth::new(2.5)?.get(), Some(2.5));
/// assert_eq!(BucketWidth::automatic().get(), None);
/// let error = BucketWidth::new(0.0).unwrap_err();
/// assert_eq!(error.to_string(), "the width of a bucket is a finite number above 0, not 0");
/// # Ok::<(), filch_graph::BucketWidthError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BucketWidth(Option<f64>);

impl BucketWidth {
    /// Chooses the width by the weights and the degrees of the graph.
    pub fn automatic() -> BucketWidth {
        BucketWidth(None)
    }

    /// Sets the width.
    ///
    /// # Errors
    ///
    /// If it is zero, negative, infinite or not a number.
    pub fn new(width: f64) -> Result<BucketWidth, BucketWidthError> {
        match width > 0.0 && width.is_finite() {
            true => Ok(BucketWidth(Some(width))),
            false => Err(BucketWidthError { width }),
        }
    }

    /// Returns the width; `None` if it is chosen by the graph.
    pub fn get(self) -> Option<f64> {
        self.0
    }

    /// Returns the width for this graph, above 0.
    pub(super) fn of(self, graph: &WeightedGraph) -> f64 {
        self.0.unwrap_or_else(|| automatic(graph))
    }
}

fn automatic(graph: &WeightedGraph) -> f64 {
    let degree = graph.arcs() as f64 / graph.vertices().max(1) as f64;
    let width = FACTOR * mean(&mut sample(graph)) / degree.max(1.0);
    // A sample of zeros says nothing.
    if width > 0.0 {
        width
    } else {
        1.0
    }
}

/// Returns some of the weights, or all if they are few.
///
/// They are chosen by a hash, so no period of the arcs, such as the degree of all vertices or the
/// length of a row, shows in the sample.
fn sample(graph: &WeightedGraph) -> Vec<f64> {
    let words = graph.words();
    let weight = |at: usize| graph.kind().weight(words[at]);
    if words.len() <= SAMPLE {
        return (0..words.len()).map(weight).collect();
    }
    // The numbers of this generator are hashes of 1, 2, 3 and so on.
    let mut stream = Stream::from_seed(0);
    (0..SAMPLE).map(|_| weight(stream.below(words.len() as u64) as usize)).collect()
}

/// Returns the mean of these weights, without their outliers.
fn mean(weights: &mut [f64]) -> f64 {
    if weights.is_empty() {
        return 0.0;
    }
    let high = weights.len() * 7 / 8;
    let most = match *weights.select_nth_unstable_by(high, f64::total_cmp).1 {
        // More than seven of eight are zeros, so they say nothing about the others.
        0.0 => f64::INFINITY,
        high => OUTLIER * high,
    };
    weights.iter().map(|weight| weight.min(most)).sum::<f64>() / weights.len() as f64
}

/// Error from setting the width of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketWidthError {
    width: f64,
}

impl fmt::Display for BucketWidthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the width of a bucket is a finite number above 0, not {}", self.width)
    }
}

impl std::error::Error for BucketWidthError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{generate, Vertex};

    /// The automatic width for a torus, whose vertices have four arcs each.
    fn width_of_torus(columns: usize, rows: usize, weight: impl Fn(Vertex, Vertex) -> u32 + Sync) -> f64 {
        automatic(&WeightedGraph::from_graph(generate::torus(columns, rows).unwrap(), weight).unwrap())
    }

    fn width(weight: impl Fn(Vertex, Vertex) -> u32 + Sync) -> f64 {
        width_of_torus(64, 128, weight)
    }

    /// Asserts that the width is about the mean of 1000 and `short`. One is the weight of the arcs
    /// within a row, and the other of those between rows, which are exactly half of the arcs.
    fn assert_mean_of_two_weights(columns: usize, rows: usize, short: u32) {
        for (within, between) in [(1000, short), (short, 1000)] {
            let weight = |from: Vertex, to: Vertex| {
                if (from.abs_diff(to) as usize) < columns {
                    within
                } else {
                    between
                }
            };
            let width = width_of_torus(columns, rows, weight);
            let case = format!("{columns} x {rows}, {within} within a row and {between} between rows");
            assert!((450.0..550.0).contains(&width), "{case}: {width}");
        }
    }

    #[test]
    fn the_sample_sees_the_arcs_of_all_directions() {
        assert_mean_of_two_weights(64, 128, 0);
        // 46368 vertices, a Fibonacci number: in a sample at multiples of the golden ratio, nearly
        // all arcs would be between rows.
        assert_mean_of_two_weights(207, 224, 0);
    }

    #[test]
    fn two_weights_of_half_of_the_arcs_each_both_count() {
        assert_mean_of_two_weights(64, 128, 1);
    }

    #[test]
    fn huge_weights_are_outliers_also_if_most_weights_are_zeros() {
        let mut weights = [0.0; 16];
        weights[..6].fill(1.0);
        weights[6] = 1e9;
        assert_eq!(mean(&mut weights), (6.0 + OUTLIER) / 16.0);
    }

    #[test]
    fn a_few_huge_weights_leave_the_width_as_it_is() {
        let plain = |from: Vertex, to: Vertex| 1 + (from ^ to) % 10;
        let huge = |from: Vertex, to: Vertex| if from.max(to) % 100 == 7 { u32::MAX } else { plain(from, to) };
        let (plain, huge) = (width(plain), width(huge));
        assert!(huge < 1.5 * plain, "{huge} and {plain}");
    }

    #[test]
    fn weights_of_which_most_are_zeros_have_a_mean() {
        assert_eq!(mean(&mut [0.0, 0.0, 0.0, 8.0]), 2.0);
        let mut one = [0.0; 16];
        one[5] = 32.0;
        assert_eq!(mean(&mut one), 2.0);
        assert_eq!(mean(&mut []), 0.0);
        assert_eq!(width(|_, _| 0), 1.0);
    }
}
