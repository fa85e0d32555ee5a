//! The 0/1 knapsack problem: of items with a profit and a weight, those of most profit whose weights a sack can carry together.
//!
//! # The format
//!
//! A line `n capacity`, then a line `profit weight` for each of the `n` items; numbers are whole and not negative. Blank lines and lines that begin with `#` are passed over. The large published
//! files end with `n` numbers that are 0 or 1, an optimal choice: they may be there, and are looked at no further.
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

/// The instance (1) of the paper on queues with bulk operations: four items, a sack that carries 7, and 15 the most it can hold.
pub fn paper() -> Knapsack {
    let items = [(8, 3), (5, 2), (7, 4), (6, 6)].map(|(profit, weight)| Item { profit, weight });
    Knapsack::new(7, items.to_vec()).expect("these numbers are small")
}
