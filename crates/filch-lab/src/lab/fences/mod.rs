//! What fences, barriers, wake-ups and steals cost: the prices that all designs here trade in.

mod instruction;
mod single_thread;
mod two_threads;

use std::path::PathBuf;
use std::thread;

use anyhow::{anyhow, Context, Result};
use clap::Args;
use filch_queue::barrier;

use crate::bench::pin::Cores;
use crate::figures::{self, grid, number, Series};
use crate::machine::Machine;
use crate::{print, say, stats, watch};

/// The name of the suite in its rows.
pub(crate) const SUITE: &str = "fences";

/// Measure what fences, barriers, wake-ups and steals cost.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Measure fewer rounds.
    #[arg(long)]
    quick: bool,

    /// Also write the measurements to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

type Measure = fn(Cores) -> Result<Option<f64>>;

/// An operation whose cost is measured.
struct Price {
    /// Its series, without samples. The note describes it for readers.
    series: Series,
    /// Takes a sample, in nanoseconds, or `None` if other programs kept the machine too busy.
    measure: Measure,
}

/// Returns the price of `what`, which takes this many threads.
fn price(case: &str, threads: usize, what: &str, measure: Measure) -> Price {
    let (case, note) = (case.to_owned(), Some(what.to_owned()));
    Price { series: Series { case, name: "machine", threads, unit: "ns/op", samples: Vec::new(), note }, measure }
}

/// Returns all prices of this machine, and a sentence for each that it lacks.
fn prices(cores: Cores) -> (Vec<Price>, Vec<String>) {
    let fence = match instruction::fence_instruction() {
        Some(instruction) => format!("a store and a SeqCst fence, which is `{instruction}` here"),
        None => "a store and a SeqCst fence".to_owned(),
    };
    let mut all = vec![
        price("store", 1, "a store", |_| single_thread::store().map(Some)),
        price("fence", 1, &fence, |_| single_thread::store_and_fence().map(Some)),
        #[cfg(target_arch = "x86_64")]
        price("mfence", 1, "a store and `mfence`", |_| single_thread::store_and_mfence().map(Some)),
        price("locked-add", 1, "an atomic addition", |_| single_thread::locked_add().map(Some)),
        #[cfg(target_os = "linux")]
        price("system-call", 1, "a system call that does nothing", |_| single_thread::system_call().map(Some)),
    ];
    let mut missing = Vec::new();
    if cfg!(not(target_arch = "x86_64")) {
        missing.push("`mfence` is an instruction of x86-64.".to_owned());
    }

    let kernel = if cfg!(windows) { "FlushProcessWriteBuffers" } else { "membarrier, private and expedited" };
    let is_registered = barrier::register();
    if is_registered {
        let what = format!("{kernel}, with no other busy thread");
        all.push(price("membarrier", 1, &what, |_| single_thread::heavy_barrier().map(Some)));
    } else {
        missing.push(
            "The system does not support or allow a barrier for all threads of a process (membarrier).".to_owned(),
        );
    }
    if !cores.are_two() {
        missing.push("Measurements with two threads are left out: this process may not use two cores.".to_owned());
        return (all, missing);
    }
    if is_registered {
        let what = format!("{kernel}, with a busy thread on another core");
        all.push(price("membarrier-busy", 2, &what, two_threads::heavy_barrier_with_a_peer));
    }
    let what = "from the call that wakes a sleeping thread to its first instruction";
    all.push(price("wake", 2, what, |cores| two_threads::wake(cores).map(Some)));
    let what = "chase_lev: the steal of a task that another core has just pushed";
    all.push(price("steal", 2, what, |cores| two_threads::steal(cores).map(Some)));
    (all, missing)
}

/// Measures all prices: a series for each, in nanoseconds.
pub(crate) fn measure(quick: bool) -> Result<Vec<Series>> {
    let cores = Cores::choose();
    let (prices, missing) = prices(cores);
    missing.iter().for_each(|sentence| say(sentence));
    // A thread of its own, because it stays pinned.
    let measuring = thread::spawn(move || {
        cores.pin_owner();
        rounds(&prices, if quick { 7 } else { 25 }, cores, watch::is_over)
    });
    measuring.join().map_err(|_| anyhow!("the measuring thread panicked"))?
}

/// Runs `rounds` rounds of samples of all prices.
///
/// Each round begins with another price. A round that is interrupted does not count.
fn rounds(prices: &[Price], rounds: usize, cores: Cores, is_over: fn() -> bool) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = prices.iter().map(|price| price.series.clone()).collect();
    for round in 0..rounds {
        let mut samples = Vec::with_capacity(prices.len());
        for turn in 0..prices.len() {
            if is_over() {
                return Ok(all);
            }
            let index = (round + turn) % prices.len();
            let Price { series, measure } = &prices[index];
            let sample = measure(cores).with_context(|| format!("`{}` failed in round {}", series.case, round + 1))?;
            samples.push((index, sample));
        }
        samples.into_iter().for_each(|(index, sample)| all[index].samples.extend(sample));
    }
    Ok(all)
}

/// Runs `filch-lab lab fences`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.json.iter().try_for_each(|path| figures::check_writable(path))?;
    let machine = Machine::here();
    say(&format!("Measuring the costs of operations on {machine}."));
    let series = measure(arguments.quick)?;
    if let Some(path) = &arguments.json {
        figures::write_json(path, &figures::rows(SUITE, &series, &machine))?;
    }
    print(&table(&series))
}

fn table(series: &[Series]) -> String {
    let header = ["ns/op", "median", "min", "p90", ""].map(str::to_owned);
    let line = |series: &Series| {
        let of = |statistic: fn(&[f64]) -> Option<f64>| statistic(&series.samples).map_or_else(String::new, number);
        let note = series.note.clone().unwrap_or_default();
        vec![series.case.clone(), of(stats::median), of(stats::min), of(stats::p90), note]
    };
    format!("\n{}", grid(&header, &series.iter().map(line).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_has_a_sample_per_round_and_a_description() {
        let cores = Cores::choose();
        let (prices, missing) = prices(cores);
        let series = rounds(&prices, 1, cores, || false).unwrap();
        for case in ["store", "fence", "locked-add", "membarrier", "membarrier-busy", "wake", "steal"] {
            assert!(
                series.iter().any(|series| series.case == case) || !missing.is_empty(),
                "{case} is missing and no sentence explains it"
            );
        }
        for series in &series {
            assert_eq!((series.name, series.unit), ("machine", "ns/op"), "{}", series.case);
            // On a busy machine, the busy peer may never run.
            assert!(series.samples.len() == 1 || series.case == "membarrier-busy", "{}", series.case);
            assert!(series.samples.iter().all(|&nanos| nanos >= 0.0) && series.note.is_some());
        }
    }

    #[test]
    fn the_error_names_the_price_that_cannot_be_measured() {
        let broken = price("wake", 2, "", |_| Err(anyhow!("no")));
        let error = rounds(&[broken], 1, Cores::choose(), || false).unwrap_err();
        assert_eq!(format!("{error:#}"), "`wake` failed in round 1: no");
    }

    #[test]
    fn an_interrupted_round_does_not_count() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let is_over = || CALLS.fetch_add(1, Ordering::Relaxed) == 5;
        let prices = ["store", "fence"].map(|case| price(case, 1, "", |_| Ok(Some(1.0))));
        let series = rounds(&prices, 9, Cores::choose(), is_over).unwrap();
        assert_eq!(series.iter().map(|series| series.samples.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn the_table_has_a_line_for_each_price() {
        let note = Some("which is `mfence` here".to_owned());
        let fence = Series { case: "fence".to_owned(), note, ..figures::tests::series("machine", &[6.0, 7.0, 8.0]) };
        assert!(table(&[fence]).contains("fence    7.00  6.00  8.00  which is `mfence` here"));
    }
}
