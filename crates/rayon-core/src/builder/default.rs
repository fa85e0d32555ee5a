//! Defaults from the environment.

use std::env;
use std::io;
use std::thread;

use filch::Waiting;

/// The number of threads of a pool whose builder does not set it.
pub(super) fn num_threads() -> usize {
    let cpus = || thread::available_parallelism().map_or(1, usize::from);
    match number_from_env("RAYON_NUM_THREADS") {
        Some(0) => cpus(),
        Some(threads) => threads,
        None => number_from_env("RAYON_RS_NUM_CPUS").filter(|&threads| threads > 0).unwrap_or_else(cpus),
    }
}

/// Returns the number in a variable. Ignores a variable that is not a number.
fn number_from_env(variable: &str) -> Option<usize> {
    env::var(variable).ok()?.parse().ok()
}

/// The policy for jobs that threads may run while they wait.
pub(super) fn waiting() -> io::Result<Waiting> {
    const VARIABLE: &str = "FILCH_WAITING";
    let Some(value) = env::var_os(VARIABLE) else { return Ok(Waiting::StrictInPool) };
    match value.to_str() {
        Some("in-pool") => Ok(Waiting::StrictInPool),
        Some("strict") => Ok(Waiting::Strict),
        Some("any") => Ok(Waiting::Any),
        _ => {
            let message = format!("{VARIABLE} is {value:?}: set it to `in-pool`, `strict` or `any`, or unset it");
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}
