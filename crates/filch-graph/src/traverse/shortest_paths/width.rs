//! The width of a bucket.

use std::fmt;

use crate::WeightedGraph;

/// The number of weights that the automatic width looks at.
const SAMPLE: usize = 1 << 12;

/// The automatic width, in mean weights, for each arc of a vertex less. Measured on tori, on
/// k-graphs in the plane, and on random and R-MAT graphs: the best was 2 on the random ones and 10
/// on the others.
const FACTOR: f64 = 4.0;

/// A sampled weight counts for at most so many medians. So a few huge weights, which no shortest path
/// uses, do not make all distances one bucket.
const OUTLIER: f64 = 16.0;

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
/// They are multiples of the golden ratio apart, so no period of the weights, such as the degree of
/// all vertices, is a period of the sample.
fn sample(graph: &WeightedGraph) -> Vec<f64> {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let words = graph.words();
    let weight = |at: usize| graph.kind().weight(words[at]);
    if words.len() <= SAMPLE {
        return (0..words.len()).map(weight).collect();
    }
    let fractions = (0..SAMPLE as u64).map(|at| u128::from(at.wrapping_mul(GOLDEN)));
    fractions.map(|fraction| weight(((fraction * words.len() as u128) >> 64) as usize)).collect()
}

/// Returns the mean of these weights, without their outliers.
fn mean(weights: &mut [f64]) -> f64 {
    if weights.is_empty() {
        return 0.0;
    }
    let middle = weights.len() / 2;
    let most = match *weights.select_nth_unstable_by(middle, f64::total_cmp).1 {
        // More than half are zeros, so the median says nothing about the others.
        0.0 => f64::INFINITY,
        median => OUTLIER * median,
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
    fn width(weight: impl Fn(Vertex, Vertex) -> u32 + Sync) -> f64 {
        automatic(&WeightedGraph::from_graph(generate::torus(64, 128).unwrap(), weight).unwrap())
    }

    #[test]
    fn the_sample_sees_the_arcs_of_all_directions() {
        // The arcs to the next row are long: a quarter or half of the arcs of each vertex.
        let long = |from: Vertex, to: Vertex| if from.abs_diff(to) >= 64 { 1000 } else { 0 };
        let width = width(long);
        assert!((450.0..550.0).contains(&width), "{width}");
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
        assert_eq!(mean(&mut []), 0.0);
        assert_eq!(width(|_, _| 0), 1.0);
    }
}
