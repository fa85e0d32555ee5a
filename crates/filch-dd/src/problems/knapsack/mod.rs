//! The 0/1 knapsack problem.
//!
//! Wanted are the items of most profit whose weights a sack can carry together.
//!
//! # The format
//!
//! A line `n capacity`, then a line `profit weight` for each of the `n` items. Numbers are integers
//! and not negative. Blank lines and lines that begin with `#` are skipped. The large published
//! files end with `n` numbers that are 0 or 1, an optimal choice: these are optional, and ignored.
//!
//! ```
//! use filch_dd::problems::knapsack;
//!
//! let sack = knapsack::read(b"4 7\n8 3\n5 2\n7 4\n6 6\n")?;
//! assert_eq!(sack, knapsack::paper());
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

mod generate;
mod model;
mod read;

pub use generate::{random, Kind};
pub use model::{Answer, Item, Knapsack};
pub use read::read;

/// Returns the instance (1) of the paper on queues with bulk operations.
///
/// It has four items and a sack that carries 7. The optimum is 15.
pub fn paper() -> Knapsack {
    let items = [(8, 3), (5, 2), (7, 4), (6, 6)].map(|(profit, weight)| Item { profit, weight });
    Knapsack::new(7, items.to_vec()).expect("these numbers are small")
}
