//! Command-line arguments of `filch lab litmus`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use filch_queue::calibration::Calibration;

use crate::seconds;

/// The default number of runs of each point, if no calibration relies on them.
pub(super) const RUNS: u64 = 3_000;
/// The largest sensible number of runs: it takes years.
const MOST_RUNS: u64 = 1_000_000_000_000;

/// What a user may choose.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// How often each point near the line is raced in each placement; others have a tenth. The paper has ten million. Without it 3,000, and with `--calibrate` as many as that takes, which is minutes.
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(super) runs: Option<u64>,

    /// End after so many seconds with what there is. Every point is raced a little first, then more.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) seconds: Option<Duration>,

    /// The bound S to put to the test. Without it the store buffer is measured first: S is its entries plus one. With `--calibrate` it is measured and put to the test all the same, and a larger S is written.
    #[arg(long, value_name = "S", value_parser = bound)]
    pub(super) bound: Option<usize>,

    /// Keep the counts in this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    /// Go on from the counts in the file of `--state`: what is left of `--runs` is raced. More runs than before mean more to do.
    #[arg(long, requires = "state")]
    pub(super) resume: bool,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Also draw the heat map to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,

    /// Write the bound to this file, for the queues to make their delta from on this model of CPU. It is never below the entries of the store buffer plus one, those that are published of such a CPU, and what the file says already. There is none
    /// if a load was caught overtaking more, which FILE.refuted keeps in mind, nor if too few runs could have shown it, nor for CPUs of AMD, on which stores wait outside of the store buffer as well.
    #[arg(long, value_name = "FILE")]
    pub(super) calibrate: Option<PathBuf>,
}

fn runs(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("without a run there is nothing to tell; give 1 or more".to_owned()),
        Ok(runs @ 1..=MOST_RUNS) => Ok(runs),
        Ok(_) => Err("nobody can wait for so many runs".to_owned()),
        Err(_) => Err("this is not a number of runs; an example is 3000".to_owned()),
    }
}

fn bound(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bound @ 2..=Calibration::LARGEST_BOUND) => Ok(bound),
        Ok(_) => {
            Err(format!("a bound is the entries of a store buffer plus one: from 2 to {}", Calibration::LARGEST_BOUND))
        }
        Err(_) => Err("this is not a number of stores; an example is 73".to_owned()),
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
    fn what_is_left_out_has_a_default() {
        let arguments = arguments(&[]).unwrap();
        assert_eq!((arguments.runs, arguments.seconds, arguments.bound, arguments.resume), (None, None, None, false));
        assert!(arguments.state.or(arguments.json).or(arguments.plot).or(arguments.calibrate).is_none());
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            (&["--runs", "0"][..], "without a run"),
            (&["--runs", "many"], "not a number of runs"),
            (&["--runs", "9999999999999"], "nobody can wait"),
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
