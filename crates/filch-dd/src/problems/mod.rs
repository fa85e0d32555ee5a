//! Ready-made problems, each of them a readable example of the [traits](crate::problem).
//!
//! | module | what is wanted | a state is |
//! |---|---|---|
//! | [`knapsack`] | the items of most profit that a sack can carry | the capacity that is left |
//! | [`independent_set`] | the heaviest set of vertices, no two of them joined by an edge | the vertices that can still be taken |
//! | [`clique`] | the heaviest set of vertices, each two of them joined by an edge | the vertices that can still be taken |
//! | [`tsptw`] | the tour through places with time windows that ends first | where, when, and what is left to visit |
//! | [`golomb`] | the shortest ruler with a number of marks, no two of them as far apart as two others | the marks, and the distances that were measured |
//! | [`unsplittable_flow`] | the flow of most value that is neither split nor merged at chosen nodes | the flow on each arc |
//!
//! Each problem has a reader for the text format of its published benchmarks, a writer, and a
//! generator of random instances from a seed. It also has an [`Instance`], which turns decisions
//! into a readable answer, and checks an answer by the definition of the problem rather than by the
//! states and costs of the model.
//!
//! ```
//! use filch_dd::problems::{knapsack, Instance};
//! use filch_dd::{Decision, Variable};
//!
//! let sack = knapsack::read(b"3 10\n60 5\n50 4\n70 6\n")?;
//! // The variables are the items by profit for each unit of weight: here the second, the first, the third.
//! let decisions = [1, 0, 1].iter().enumerate().map(|(at, &value)| Decision { variable: Variable(at as u32), value });
//! let answer = sack.answer(&decisions.collect::<Vec<_>>()).unwrap();
//! assert_eq!(answer.to_string(), "2 3");
//! assert_eq!(sack.check(&answer).unwrap(), 120);
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

#![forbid(unsafe_code)]

pub mod bits;
pub mod clique;
pub mod golomb;
pub mod independent_set;
pub mod knapsack;
mod text;
pub mod tsptw;
pub mod unsplittable_flow;

use std::error::Error;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::{Cost, Decision, Relaxation};

pub use text::ReadError;

/// A problem whose solutions can be written and checked, and whose states can be serialized.
pub trait Instance: Relaxation<State: Serialize + DeserializeOwned> {
    /// A solution in the terms of the problem.
    ///
    /// Its text is what `filch solve` writes, and is documented with the type.
    type Answer: fmt::Display;

    /// Returns the answer for these decisions, at most one for each variable, in any order.
    ///
    /// A variable that was not decided has its [default value](crate::Problem::default_value), if
    /// the problem has a use for one.
    fn answer(&self, decisions: &[Decision]) -> Result<Self::Answer, Invalid>;

    /// Returns the cost of an answer by the problem's definition, or why it is invalid.
    ///
    /// It uses nothing of the search: no states, no transitions.
    fn check(&self, answer: &Self::Answer) -> Result<Cost, Invalid>;
}

/// A function for a problem whose type is chosen by its size.
pub trait WithInstance {
    /// The result.
    type Output;

    /// Calls the function.
    fn with<P: Instance>(self, problem: &P) -> Self::Output;
}

/// Why an answer or an instance is invalid, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Invalid {}

/// Returns a [`Invalid`] as an error.
fn invalid<T>(reason: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(reason.into()))
}

/// Returns the values of the variables in their order, from decisions in any order.
fn values(variables: usize, decisions: &[Decision]) -> Result<Vec<Option<crate::Value>>, Invalid> {
    let mut values = vec![None; variables];
    for decision in decisions {
        match values.get_mut(decision.variable.index()) {
            None => {
                return invalid(format!("{} is decided, but there are only {variables} variables", decision.variable))
            }
            Some(Some(_)) => return invalid(format!("{} is decided twice", decision.variable)),
            Some(value) => *value = Some(decision.value),
        }
    }
    Ok(values)
}

/// Returns the variables that are 1; the others are 0 or undecided.
fn taken(variables: usize, decisions: &[Decision]) -> Result<Vec<usize>, Invalid> {
    let values = values(variables, decisions)?;
    if let Some(at) = values.iter().position(|value| !matches!(value, None | Some(0 | 1))) {
        return invalid(format!("x{at} is neither 0 nor 1"));
    }
    Ok((0..variables).filter(|&at| values[at] == Some(1)).collect())
}

/// Writes numbers with blanks between.
fn list(f: &mut fmt::Formatter<'_>, numbers: impl IntoIterator<Item = impl fmt::Display>) -> fmt::Result {
    for (at, number) in numbers.into_iter().enumerate() {
        write!(f, "{}{number}", if at > 0 { " " } else { "" })?;
    }
    Ok(())
}

/// Returns a number with the singular or plural of a noun.
fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
