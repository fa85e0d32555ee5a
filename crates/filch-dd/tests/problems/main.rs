//! The included problems against what their definitions say, tried out one possibility after the other.

mod brute;
mod matrix;
mod models;
