//! The arguments of one command, from words: for tests.

use clap::{Args, Parser};

#[derive(Debug, Parser)]
struct Command<A: Args> {
    #[command(flatten)]
    arguments: A,
}

/// The arguments that these words stand for, or why they are refused.
pub(crate) fn parse<A: Args>(words: &[&str]) -> Result<A, String> {
    let words = std::iter::once(&"filch").chain(words);
    Command::try_parse_from(words).map(|command| command.arguments).map_err(|error| error.to_string())
}
