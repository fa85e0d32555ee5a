//! Random instances.

use super::{Item, Knapsack};
use crate::random::Stream;

/// How profits correlate with weights: the more they do, the harder the instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not at all.
    Uncorrelated,
    /// They differ by at most a tenth of the range.
    Weakly,
    /// They always differ by a tenth of the range.
    Strongly,
    /// They are the same: the problem is a subset sum.
    SubsetSum,
}

/// Returns a random instance with weights from 1 to `range`.
///
/// It has `items` items, and a sack that carries half of their weight.
///
/// ```
/// use filch_dd::problems::knapsack::{self, Kind};
///
/// let sack = knapsack::random(50, 1000, Kind::Strongly, 7);
/// assert!(sack.items().iter().all(|item| item.profit == item.weight + 100));
/// assert_eq!(knapsack::read(sack.text().as_bytes()), Ok(sack));
/// ```
///
/// # Panics
///
/// If `range` is below 1 or above 2^31, or if there are 2^29 items or more and their sum overflows.
pub fn random(items: usize, range: i64, kind: Kind, seed: u64) -> Knapsack {
    assert!((1..=1 << 31).contains(&range), "the range of the weights must be from 1 to 2^31");
    let mut stream = Stream::new(seed, 1);
    let spread = range / 10;
    let items: Vec<Item> = (0..items)
        .map(|_| {
            let weight = stream.between(1, range);
            let profit = match kind {
                Kind::Uncorrelated => stream.between(1, range),
                Kind::Weakly => (weight + stream.between(-spread, spread)).max(1),
                Kind::Strongly => weight + spread,
                Kind::SubsetSum => weight,
            };
            Item { profit, weight }
        })
        .collect();
    let capacity = items.iter().map(|item| item.weight).sum::<i64>() / 2;
    Knapsack::new(capacity, items).expect("fewer than 2^29 such items cannot overflow")
}
