//! Command-line arguments of `filch-lab lab litmus`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::command_line::seconds;
use crate::lab::calibration::LARGEST_BOUND;

/// The default number of runs of each point, if no calibration relies on them.
pub(super) const RUNS: u64 = 3_000;
/// The largest sensible number of runs: it takes years.
const MAX_RUNS: u64 = 1_000_000_000_000;

/// Test whether a load overtakes more stores than the bound allows.
///
/// The fence-free queues rely on this bound.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The number of runs of each point near the line, in each placement.
    ///
    /// Other points have a tenth of it. The paper has ten million. The default is 3,000; with
    /// --calibrate it is as many as a calibration needs, which takes minutes.
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(super) runs: Option<u64>,

    /// Stop after this many seconds, with the counts so far.
    ///
    /// Every point has a few runs first, then more.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) seconds: Option<Duration>,

    /// The bound S to test [default: the entries of the store buffer, plus one].
    ///
    /// Without it, the store buffer is measured first. With --calibrate, the bound that follows
    /// from the store buffer is tested in any case, and S is written if it is larger.
    #[arg(long, value_name = "S", value_parser = bound)]
    pub(super) bound: Option<usize>,

    /// Save the counts to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    /// Resume from the counts in the file of --state.
    ///
    /// Only the missing runs are made. A larger --runs than before asks for more.
    #[arg(long, requires = "state")]
    pub(super) resume: bool,

    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Also draw the heat map to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,

    /// Write the bound for such CPUs to this file, as JSON, for `filch-lab bench cilk --calibration`.
    ///
    /// The bound is never below the entries of the store buffer plus one, measured or published,
    /// plus a margin of a few stores, nor below the bound that the file already has. Nothing is written if a load overtook more
    /// stores, which is recorded in FILE.refuted, or if too few runs could have shown that. Nothing
    /// is written for AMD CPUs either, where stores also wait outside of the store buffer.
    #[arg(long, value_name = "FILE")]
    pub(super) calibrate: Option<PathBuf>,
}

fn runs(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("too few runs: give at least 1".to_owned()),
        Ok(runs @ 1..=MAX_RUNS) => Ok(runs),
        Ok(_) => Err(format!("too many runs: give at most {MAX_RUNS}")),
        Err(_) => Err("not a number of runs; an example is 3000".to_owned()),
    }
}

fn bound(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bound @ 2..=LARGEST_BOUND) => Ok(bound),
        Ok(_) => Err(format!("a bound is the entries of a store buffer plus one: from 2 to {}", LARGEST_BOUND)),
        Err(_) => Err("not a number of stores; an example is 73".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn arguments(words: &[&str]) -> Result<Arguments, String> {
        command_line::parse(words)
    }

    #[test]
    fn omitted_options_have_defaults() {
        let arguments = arguments(&[]).unwrap();
        assert_eq!((arguments.runs, arguments.seconds, arguments.bound, arguments.resume), (None, None, None, false));
        assert!(arguments.state.or(arguments.json).or(arguments.plot).or(arguments.calibrate).is_none());
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            (&["--runs", "0"][..], "too few runs: give at least 1"),
            (&["--runs", "many"], "not a number of runs"),
            (&["--runs", "9999999999999"], "too many runs: give at most 1000000000000"),
            (&["--seconds", "0"], "above 0"),
            (&["--bound", "1"], "from 2 to 512"),
            (&["--bound", "513"], "from 2 to 512"),
            (&["--bound", "S"], "not a number of stores"),
            (&["--resume"], "--state"),
        ] {
            let refusal = arguments(words).unwrap_err();
            assert!(refusal.contains(reason), "{words:?}: {refusal}");
        }
    }
}
