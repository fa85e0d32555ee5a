//! How a case is measured: a process for each way of calling, in turns.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use super::build::Pair;
use super::cases::{Case, Kind, ALLOCATIONS_A_TASK, CPU_MICROS_A_TICK, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK};
use super::child::{Answer, Child};
use super::outside::Figure;
use super::plan::Plan;
use super::way::Way;
use crate::bench::rounds::{interleave, Runner};
use crate::bench::{cpu, thread_counts};
use crate::figures::Series;
use crate::watch;

/// The pause before each round, in which the threads of the last process fall asleep.
const PAUSE: Duration = Duration::from_millis(2);

/// The name of the work of `tick` without a pool.
const SERIAL: &str = "serial";

/// One of filch's programs, with its name in plots.
#[derive(Clone, Copy, Debug)]
struct Part {
    name: &'static str,
    way: Way,
    program: &'static str,
}

/// The parts that are compared, and the figures.
struct Contest<'a> {
    case: Case,
    programs: &'a Pair,
    plan: Plan,
    parts: Vec<Part>,
    units: Vec<&'static str>,
    /// Computes the figures of an answer: one for each unit.
    figures: &'a dyn Fn(&Answer) -> Result<Vec<f64>>,
}

/// Measures a case with 1 thread and with `threads`.
///
/// Cases about the sleep of threads are measured only with `threads`. Files that a case needs are
/// written to `place`.
pub(crate) fn measure(case: Case, programs: &Pair, plan: Plan, threads: usize, place: &Path) -> Result<Vec<Series>> {
    let part = |&way: &Way| Part { name: way.name(), way, program: case.name };
    let mut parts: Vec<Part> = case.ways.iter().map(part).collect();
    let contest = |parts, units, figures| Contest { case, programs, plan, parts, units, figures };
    match case.kind {
        Kind::Time(unit) => {
            let time = |answer: &Answer| Ok(vec![answer.nanos / answer.operations / unit.nanos]);
            contest(parts, vec![unit.name], &time).hold_each(threads)
        }
        Kind::Calls(figures) => {
            let figures: Vec<Figure> = figures.iter().copied().filter(Figure::is_known).collect();
            let all = |answer: &Answer| figures.iter().map(|figure| figure.of(answer)).collect();
            contest(parts, figures.iter().map(|figure| figure.unit.name).collect(), &all).hold_each(threads)
        }
        Kind::Allocations => {
            let share = |answer: &Answer| {
                let allocations = answer.allocations.context("it did not count its allocations")?;
                Ok(vec![allocations / answer.operations])
            };
            contest(parts, vec![ALLOCATIONS_A_TASK], &share).hold_each(threads)
        }
        Kind::Idle => {
            let share = |answer: &Answer| Ok(vec![1e3 * answer.cpu_nanos / answer.nanos]);
            contest(parts, vec![CPU_MILLIS_A_SECOND], &share).hold(threads)
        }
        Kind::Tick => {
            let micros = |answer: &Answer| Ok(vec![answer.cpu_nanos / answer.operations / 1e3]);
            parts.push(Part { name: SERIAL, way: Way::Stock, program: "tick-serial" });
            let mut ticks = contest(parts, vec![CPU_MICROS_A_TICK], &micros).hold(threads)?;
            ticks.extend(cpu::beyond_the_work(&ticks, SERIAL, EXTRA_CPU_MICROS_A_TICK));
            Ok(ticks)
        }
        Kind::Published(published) => {
            let workload = published.workload(place)?;
            let effort = plan.effort(case.kind);
            let all = thread_counts(threads).into_iter().map(|threads| workload.measure(programs, threads, effort));
            Ok(all.collect::<Result<Vec<_>>>()?.concat())
        }
    }
}

impl Contest<'_> {
    /// Measures all generations with 1 thread, and then with `threads`.
    fn hold_each(&self, threads: usize) -> Result<Vec<Series>> {
        let all = thread_counts(threads).into_iter().map(|threads| self.hold(threads));
        Ok(all.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Measures all generations, one after the other. Each begins with another part.
    fn hold(&self, threads: usize) -> Result<Vec<Series>> {
        let checksum = OnceCell::new();
        let mut parts = self.parts.clone();
        let mut all: Vec<Series> = Vec::new();
        for _ in 0..self.plan.generations(self.case.kind) {
            for series in watch::or_over(self.generation(&parts, threads, &checksum))? {
                let is_same = |earlier: &&mut Series| (earlier.name, earlier.unit) == (series.name, series.unit);
                match all.iter_mut().find(is_same) {
                    Some(earlier) => earlier.samples.extend(series.samples),
                    None => all.push(series),
                }
            }
            parts.rotate_left(1);
        }
        Ok(all)
    }

    /// Starts all parts and runs them in turns.
    fn generation(&self, parts: &[Part], threads: usize, checksum: &OnceCell<u64>) -> Result<Vec<Series>> {
        let Contest { case, plan, units, figures, .. } = self;
        let runner = |part: &Part| {
            let threads = if part.name == SERIAL { 1 } else { threads };
            let context = || format!("{} with {threads} threads failed in {case}", part.name);
            let child = RefCell::new(self.start(part, threads, checksum).with_context(context)?);
            let measure = move || {
                thread::sleep(PAUSE);
                let answer = child.borrow_mut().run()?;
                agreed(&answer, checksum)?;
                figures(&answer)
            };
            Ok(Runner { name: part.name, threads, measure: Box::new(measure) })
        };
        let runners = parts.iter().map(runner).collect::<Result<Vec<_>>>()?;
        interleave(case.name, units, &runners, plan.effort(case.kind))
    }

    fn start(&self, part: &Part, threads: usize, checksum: &OnceCell<u64>) -> Result<Child> {
        let mut command = part.way.command(self.programs.on(part.way.core()), threads);
        command.args([part.program, self.plan.amount()]);
        let mut child = Child::start(command, threads)?;
        // Not counted: in the first run, memory is new and code is not in the cache. Cases about
        // CPU time warm up themselves.
        if matches!(self.case.kind, Kind::Time(_) | Kind::Calls(_) | Kind::Allocations) {
            agreed(&child.run()?, checksum)?;
        }
        Ok(child)
    }
}

/// Checks that all parts have the same result in each round.
fn agreed(answer: &Answer, checksum: &OnceCell<u64>) -> Result<()> {
    let expected = *checksum.get_or_init(|| answer.checksum);
    let found = answer.checksum;
    ensure!(found == expected, "the checksum of its result is {found:016x}, and that of the first was {expected:016x}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_to_something_else_is_found_out() {
        let answer =
            |checksum| Answer { nanos: 1.0, cpu_nanos: 1.0, operations: 1.0, checksum, calls: None, allocations: None };
        let checksum = OnceCell::new();
        agreed(&answer(7), &checksum).unwrap();
        agreed(&answer(7), &checksum).unwrap();
        let refusal = agreed(&answer(8), &checksum).unwrap_err().to_string();
        assert!(refusal.contains("0000000000000008, and that of the first was 0000000000000007"), "{refusal}");
    }
}
