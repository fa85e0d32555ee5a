//! The Golomb ruler problem.
//!
//! Wanted is the shortest ruler with marks of which each two are a different distance apart.
//!
//! # The format
//!
//! The number of marks, alone on a line. Blank lines and lines that begin with `#` are skipped.
//!
//! ```
//! use filch_dd::problems::golomb::{self, Answer};
//! use filch_dd::problems::Instance;
//!
//! let ruler = golomb::read(b"# how long must it be?\n4\n")?;
//! assert_eq!(ruler.check(&Answer(vec![0, 1, 4, 6])), Ok(6));
//! assert_eq!(ruler.check(&Answer(vec![0, 1, 3, 5])).unwrap_err().to_string(), "the distance 2 is measured twice: from 1 to 3 and from 3 to 5");
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

mod model;
mod read;

pub use model::{Answer, Golomb, State};
pub use read::read;
