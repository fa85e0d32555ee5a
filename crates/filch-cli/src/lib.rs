//! The commands of the program `filch`, and what it shares with the laboratory of its repository.
//!
//! This library has no stable interface. Use `filch`, `filch-graph`, `filch-dd` and `filch-mpi`.

pub mod chart;
pub mod command_line;
pub mod format;
#[cfg(feature = "commands")]
pub mod generate;
#[cfg(feature = "commands")]
pub mod graph;
pub mod input_file;
pub mod interrupt;
pub mod machine;
pub mod mpi;
pub mod output_file;
pub mod problem;
pub mod queue;
#[cfg(feature = "commands")]
pub mod solve;
#[cfg(feature = "commands")]
mod sync;

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};

/// Prints text on standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader, for example `head`, has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot print to standard output"),
    }
}

/// Prints text on standard error. Unlike `eprintln`, it does not panic if that is closed.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
