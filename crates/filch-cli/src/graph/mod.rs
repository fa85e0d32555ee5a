//! `filch graph`: reads or generates a graph, explores it, and reports result and effort.

mod answer;
mod arguments;
mod input;
mod progress;
mod ranks;
mod summary;

pub use arguments::Arguments;

use std::path::Path;
use std::time::Instant;

use anyhow::{ensure, Context, Result};
use filch::Pool;

use crate::{output_file, print};
use answer::Answer;
use summary::Summary;

/// Runs `filch graph`.
pub fn run(arguments: &Arguments) -> Result<()> {
    arguments.check()?;
    if arguments.mpi {
        return ranks::run(arguments);
    }
    for path in arguments.json.iter().chain(&arguments.out) {
        output_file::check_writable(path)?;
    }
    let pool = pool(arguments)?;
    let input = pool.install(|| input::load(arguments))?;
    let roots = arguments.roots(input.graph.graph().vertices(), input.names.as_ref())?;

    let spinner = progress::spinner(format!("{} of {}", arguments.task.name(), input.name));
    let start = Instant::now();
    let answer = Answer::compute(arguments, &input.graph, &roots, &pool)?;
    let elapsed = start.elapsed();
    spinner.finish_and_clear();

    let summary = Summary::new(arguments, &input, &answer, &roots, pool.current_num_threads(), elapsed);
    report(arguments, &summary, |path| {
        let spinner = progress::spinner(format!("writing {}", path.display()));
        output_file::write(path, |file| answer.write(&input, file))?;
        spinner.finish_and_clear();
        Ok(())
    })
}

/// Starts the threads that the arguments ask for.
fn pool(arguments: &Arguments) -> Result<Pool> {
    let mut builder = Pool::builder();
    if let Some(threads) = arguments.threads {
        builder = builder.threads(threads);
    }
    builder.build().context("cannot start the threads")
}

/// Writes and prints the summary. A complete result is also written, to the file of `--out`.
fn report(arguments: &Arguments, summary: &Summary, write_result: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    // Before anything is printed: if the reader closes the pipe early, the files still exist.
    if let Some(path) = &arguments.json {
        output_file::write_json(path, summary)?;
    }
    let complete = summary.is_complete();
    if let Some(path) = arguments.out.as_ref().filter(|_| complete) {
        write_result(path)?;
    }
    print(&summary.to_string())?;
    let out_note = if arguments.out.is_some() { ", and nothing was written to --out" } else { "" };
    ensure!(complete, "the time limit was reached: the result is incomplete{out_note}");
    Ok(())
}
