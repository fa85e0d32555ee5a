//! Parses the arguments of a command from words, for tests.

use clap::{Args, Parser};

#[derive(Debug, Parser)]
struct Command<A: Args> {
    #[command(flatten)]
    arguments: A,
}

/// Parses these words, or returns the error message.
pub(crate) fn parse<A: Args>(words: &[&str]) -> Result<A, String> {
    let words = std::iter::once(&"filch").chain(words);
    Command::try_parse_from(words).map(|command| command.arguments).map_err(|error| error.to_string())
}
