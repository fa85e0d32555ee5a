//! The travelling salesman problem with time windows.
//!
//! A tour leaves the depot, visits every other place once, each within its window, and returns as
//! early as possible.
//!
//! An arrival before a window opens waits; an arrival after it has closed is too late. The cost is
//! the time of the return (the makespan), including waits. The tour begins when the window of the
//! depot opens, and ends before it closes.
//!
//! # The format
//!
//! As the benchmarks of Dumas and of Gendreau are usually written: a line with the number of
//! places, a line for each place with its distances to all of them, and a line for each place with
//! the times its window opens and closes. The first place is the depot. Distances need not be the
//! same in both directions, and the distance of a place to itself is ignored. Blank lines and lines
//! that begin with `#` are skipped.
//!
//! Numbers are not negative, and may have up to nine decimals. Costs are still integers: the unit
//! is the smallest decimal that occurs, so that nothing is ever rounded; see [`Tsptw::decimals`].
//!
//! ```
//! use filch_dd::problems::tsptw;
//!
//! let tour = tsptw::read(b"3\n0 2.5 3\n2.5 0 1\n3 1 0\n0 100\n10 20\n0 8\n")?;
//! assert_eq!((tour.places(), tour.decimals()), (3, 1));
//! assert_eq!(tour.distance(0, 1), 25);
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

mod generate;
mod instance;
mod model;
mod read;

pub use generate::random;
pub use instance::{Answer, Tsptw, Window};
pub use model::State;
pub use read::read;
