//! The included problems, compared with an enumeration by their definitions.

mod brute;
mod matrix;
mod models;
