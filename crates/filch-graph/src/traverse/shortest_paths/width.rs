//! The width of a bucket.

use std::fmt;

use crate::WeightedGraph;

/// The number of weights that the automatic width looks at.
const SAMPLE: usize = 1 << 12;

/// The automatic width, in mean weights, for each arc of a vertex less. Measured on tori, on
/// k-graphs in the plane, and on random and R-MAT graphs: the best was 2 on the random ones and 10
/// on the others.
const FACTOR: f64 = 4.0;

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
    let words = graph.words();
    let step = (words.len() / SAMPLE).max(1);
    let (mut sum, mut count) = (0.0, 0);
    for &word in words.iter().step_by(step) {
        sum += graph.kind().weight(word);
        count += 1;
    }
    let mean = sum / f64::from(count.max(1));
    let degree = words.len() as f64 / graph.vertices().max(1) as f64;
    let width = FACTOR * mean / degree.max(1.0);
    // A sample of zeros says nothing.
    if width > 0.0 {
        width
    } else {
        1.0
    }
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
