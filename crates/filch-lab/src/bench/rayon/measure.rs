//! How a case is measured: pairs of processes, a round of one and a round of the other in turns.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use super::build::Pair;
use super::cases::{Case, Kind, CPU_MICROS_A_TICK, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK};
use super::child::{Answer, Child};
use super::core::Core;
use super::plan::Plan;
use crate::bench::rounds::{interleave, Runner};
use crate::bench::{cpu, thread_counts};
use crate::figures::Series;
use crate::watch;

/// Before each round: time for the threads of the process that ran before to fall asleep.
const PAUSE: Duration = Duration::from_millis(2);

/// The work of `tick` without a pool.
const SERIAL: &str = "serial";

/// One of our programs, by the name that plots know it by.
#[derive(Clone, Copy, Debug)]
struct Part {
    name: &'static str,
    core: Core,
    program: &'static str,
}

/// Who is compared, and by what.
struct Contest<'a> {
    case: Case,
    programs: &'a Pair,
    plan: Plan,
    parts: Vec<Part>,
    unit: &'static str,
    /// What of an answer counts, in that unit.
    figure: &'a dyn Fn(&Answer) -> f64,
}

/// Measures a case: with 1 thread and with `threads`, or only with those where it is about their sleep. What it needs on the disk
/// is made in `place`.
pub(crate) fn measure(case: Case, programs: &Pair, plan: Plan, threads: usize, place: &Path) -> Result<Vec<Series>> {
    let mut parts = Core::BOTH.map(|core| Part { name: core.name(), core, program: case.name }).to_vec();
    let contest = |parts, unit, figure| Contest { case, programs, plan, parts, unit, figure };
    match case.kind {
        Kind::Time(unit) => {
            let time = |answer: &Answer| answer.nanos / answer.operations / unit.nanos;
            let contest = contest(parts, unit.name, &time);
            let all = thread_counts(threads).into_iter().map(|threads| contest.hold(threads));
            Ok(all.collect::<Result<Vec<_>>>()?.concat())
        }
        Kind::Idle => {
            let share = |answer: &Answer| 1e3 * answer.cpu_nanos / answer.nanos;
            contest(parts, CPU_MILLIS_A_SECOND, &share).hold(threads)
        }
        Kind::Tick => {
            let micros = |answer: &Answer| answer.cpu_nanos / answer.operations / 1e3;
            parts.push(Part { name: SERIAL, core: Core::Stock, program: "tick-serial" });
            let mut ticks = contest(parts, CPU_MICROS_A_TICK, &micros).hold(threads)?;
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
    /// All generations, one after the other. Each begins with another part.
    fn hold(&self, threads: usize) -> Result<Vec<Series>> {
        let checksum = OnceCell::new();
        let mut parts = self.parts.clone();
        let mut all: Vec<Series> = Vec::new();
        for _ in 0..self.plan.generations(self.case.kind) {
            for series in watch::or_over(self.generation(&parts, threads, &checksum))? {
                match all.iter_mut().find(|earlier| earlier.name == series.name) {
                    Some(earlier) => earlier.samples.extend(series.samples),
                    None => all.push(series),
                }
            }
            parts.rotate_left(1);
        }
        Ok(all)
    }

    /// Starts all parts and has them run in turns.
    fn generation(&self, parts: &[Part], threads: usize, checksum: &OnceCell<u64>) -> Result<Vec<Series>> {
        let Contest { case, plan, unit, figure, .. } = self;
        let runner = |part: &Part| {
            let threads = if part.name == SERIAL { 1 } else { threads };
            let context = || format!("{} with {threads} threads failed in {case}", part.name);
            let child = RefCell::new(self.start(part, threads, checksum).with_context(context)?);
            let measure = move || {
                thread::sleep(PAUSE);
                let answer = child.borrow_mut().run()?;
                agreed(&answer, checksum)?;
                Ok(vec![figure(&answer)])
            };
            Ok(Runner { name: part.name, threads, measure: Box::new(measure) })
        };
        let runners = parts.iter().map(runner).collect::<Result<Vec<_>>>()?;
        interleave(case.name, &[unit], &runners, plan.effort(case.kind))
    }

    fn start(&self, part: &Part, threads: usize, checksum: &OnceCell<u64>) -> Result<Child> {
        let mut child = Child::start(self.programs.on(part.core), &[part.program, self.plan.amount()], threads)?;
        // Not counted: the first time, memory is new and code is not in the cache. What takes CPU time warms up itself.
        if matches!(self.case.kind, Kind::Time(_)) {
            agreed(&child.run()?, checksum)?;
        }
        Ok(child)
    }
}

/// Whether everybody comes to the same, each time.
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
        let answer = |checksum| Answer { nanos: 1.0, cpu_nanos: 1.0, operations: 1.0, checksum };
        let checksum = OnceCell::new();
        agreed(&answer(7), &checksum).unwrap();
        agreed(&answer(7), &checksum).unwrap();
        let refusal = agreed(&answer(8), &checksum).unwrap_err().to_string();
        assert!(refusal.contains("0000000000000008, and that of the first was 0000000000000007"), "{refusal}");
    }
}
