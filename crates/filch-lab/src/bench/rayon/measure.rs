//! How a case is measured: a process for each variant, in turns.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use super::build::ProgramPair;
use super::cases::{Case, Kind};
use super::child::{Answer, Child};
use super::figure::{Figure, EXTRA_CPU_MICROS_A_TICK};
use super::generations;
use super::variant::Variant;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::{cpu, Options, SERIAL};
use crate::figures::Series;
use crate::watch;

/// The pause before each round, in which the threads of the last process fall asleep.
const PAUSE: Duration = Duration::from_millis(2);

/// A variant and the program that it runs, with its name in plots.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: &'static str,
    variant: Variant,
    program: &'static str,
}

/// The variants that are compared, and the figures.
struct Comparison<'a> {
    case: Case,
    programs: &'a ProgramPair,
    options: &'a Options,
    effort: Effort,
    entries: Vec<Entry>,
    figures: Vec<Figure>,
}

/// Measures a case with 1 thread and with the threads of the options.
///
/// Cases about the sleep of threads are measured only with the latter. Files that a case needs are
/// written to `place`.
pub(crate) fn measure(
    case: Case,
    programs: &ProgramPair,
    options: &Options,
    effort: Effort,
    place: &Path,
) -> Result<Vec<Series>> {
    if let Kind::Published(published) = case.kind {
        let workload = published.workload(place)?;
        let all = options.threads.counts().iter().map(|&threads| workload.measure(programs, threads, effort));
        return Ok(all.collect::<Result<Vec<_>>>()?.concat());
    }
    let threads = &options.threads;
    let counts = if case.is_sleep() { threads.several() } else { threads.counts() };
    let entry = |&variant: &Variant| Entry { name: variant.name(), variant, program: case.name };
    let mut entries: Vec<Entry> = case.variants.iter().map(entry).collect();
    if case.kind == Kind::Tick {
        entries.push(Entry { name: SERIAL, variant: Variant::Stock, program: "tick-serial" });
    }
    let figures = case.figures.iter().copied().filter(Figure::is_supported).collect();
    let comparison = Comparison { case, programs, options, effort, entries, figures };
    let all = counts.iter().map(|&threads| comparison.measure(threads));
    let mut series = all.collect::<Result<Vec<_>>>()?.concat();
    if case.kind == Kind::Tick {
        series.extend(cpu::without_the_work(&series, SERIAL, EXTRA_CPU_MICROS_A_TICK));
    }
    Ok(series)
}

impl Comparison<'_> {
    /// Measures all generations, one after the other. Each begins with another variant.
    fn measure(&self, threads: usize) -> Result<Vec<Series>> {
        let checksum = OnceCell::new();
        let mut entries = self.entries.clone();
        let mut all: Vec<Series> = Vec::new();
        for _ in 0..generations(self.case.kind, self.options) {
            for series in watch::or_over(self.generation(&entries, threads, &checksum))? {
                let is_same = |earlier: &&mut Series| (earlier.name, earlier.unit) == (series.name, series.unit);
                match all.iter_mut().find(is_same) {
                    Some(earlier) => earlier.samples.extend(series.samples),
                    None => all.push(series),
                }
            }
            entries.rotate_left(1);
        }
        Ok(all)
    }

    /// Starts all variants and runs them in turns.
    fn generation(&self, entries: &[Entry], threads: usize, checksum: &OnceCell<u64>) -> Result<Vec<Series>> {
        let Comparison { case, figures, .. } = self;
        let units: Vec<&str> = figures.iter().map(|figure| figure.unit).collect();
        let runner = |entry: &Entry| {
            let threads = if entry.name == SERIAL { 1 } else { threads };
            let context = || format!("{} with {threads} threads failed in {case}", entry.name);
            let child = RefCell::new(self.start(entry, threads, checksum).with_context(context)?);
            let measure = move || {
                thread::sleep(PAUSE);
                let answer = child.borrow_mut().run()?;
                check_checksum(&answer, checksum)?;
                figures.iter().map(|figure| figure.of(&answer)).collect()
            };
            Ok(Runner { name: entry.name, threads, measure: Box::new(measure) })
        };
        let runners = entries.iter().map(runner).collect::<Result<Vec<_>>>()?;
        interleave(case.name, &units, &runners, self.effort)
    }

    fn start(&self, entry: &Entry, threads: usize, checksum: &OnceCell<u64>) -> Result<Child> {
        let mut command = entry.variant.command(self.programs.on(entry.variant.core()), threads);
        command.args([entry.program, self.options.choose("quick", "full")]);
        let mut child = Child::start(command, threads)?;
        // Not counted: in the first run, memory is new and code is not in the cache. Cases about
        // CPU time warm up themselves.
        if !self.case.is_sleep() {
            check_checksum(&child.run()?, checksum)?;
        }
        Ok(child)
    }
}

/// Checks that all variants have the same result in each round.
fn check_checksum(answer: &Answer, checksum: &OnceCell<u64>) -> Result<()> {
    let expected = *checksum.get_or_init(|| answer.checksum);
    let found = answer.checksum;
    ensure!(
        found == expected,
        "the checksum of the result is {found:016x}, but that of the first result was {expected:016x}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_variant_with_a_wrong_result_fails_the_case() {
        use super::super::figure::MILLIS_A_RUN;
        use crate::bench::suite::tests::options;

        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("program");
        let text = "sum=4; [ -z \"$FILCH_CALLERS\" ] || sum=5\n\
                    echo ready $RAYON_NUM_THREADS; while read c; do echo done 1 2 3 $sum; done\n";
        std::fs::write(&script, text).unwrap();
        let programs = ProgramPair { stock: "/bin/sh".into(), filch: "/bin/sh".into() };
        let name: &'static str = script.to_str().unwrap().to_owned().leak();
        let measured = |variants| {
            let case = Case { name, description: "", kind: Kind::Time, figures: &[MILLIS_A_RUN], variants };
            measure(case, &programs, &options(true, &[]), Effort::exactly(2), folder.path())
        };
        assert!(measured(Variant::CORES).unwrap().iter().all(|series| series.samples.len() == 2));
        let error = format!("{:#}", measured(Variant::ALL).unwrap_err());
        assert!(error.starts_with("filch-in-place with 1 threads failed"), "{error}");
        assert!(error.contains("0000000000000005, but that of the first result was 0000000000000004"), "{error}");
    }

    #[test]
    fn a_different_checksum_is_an_error() {
        let answer = |checksum| Answer { checksum, ..Answer::default() };
        let checksum = OnceCell::new();
        check_checksum(&answer(7), &checksum).unwrap();
        check_checksum(&answer(7), &checksum).unwrap();
        let refusal = check_checksum(&answer(8), &checksum).unwrap_err().to_string();
        assert!(refusal.contains("0000000000000008, but that of the first result was 0000000000000007"), "{refusal}");
    }
}
