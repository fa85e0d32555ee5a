//! Parses arguments of commands.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Parser};

use crate::say;

/// The most threads of a pool.
const MAX_THREADS: usize = 1024;

/// Parses a time limit, in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "this is not a number of seconds; an example is 2.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("a time limit must be above 0 and below the largest duration".to_owned()),
    }
}

/// Parses the number of threads of a pool.
pub fn pool_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        Ok(0) => Err("a pool needs a thread; give 1 or more".to_owned()),
        Ok(_) => Err(format!("a pool may have at most {MAX_THREADS} threads here")),
        Err(_) => Err("this is not a number of threads; an example is 2".to_owned()),
    }
}

/// Returns the exit code of a command. Prints an error.
pub fn exit_code(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[derive(Debug, Parser)]
struct Command<A: Args> {
    #[command(flatten)]
    arguments: A,
}

/// Parses the arguments of a command from words, for tests.
pub fn parse<A: Args>(words: &[&str]) -> Result<A, String> {
    let words = std::iter::once(&"filch").chain(words);
    Command::try_parse_from(words).map(|command| command.arguments).map_err(|error| error.to_string())
}
