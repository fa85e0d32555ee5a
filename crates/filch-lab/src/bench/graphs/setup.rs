//! All contenders on one graph, from the same root, and the units of the figures.

use std::cell::RefCell;

use anyhow::{bail, Result};
use filch_graph::{Graph, Vertex};

use super::cases::{Case, SEED};
use super::contenders::{parallel, serial, Input, Sample};
use super::problems::Problem;
use crate::bench::bound::Vouched;
use crate::bench::random::Random;
use crate::bench::rounds::{interleave, Effort, Runner};
pub(super) use crate::bench::SERIAL_PAIR;
use crate::bench::{Threads, SERIAL};
use crate::figures::Series;

/// The unit of time per vertex reached.
pub(crate) const NANOS_A_VERTEX: &str = "ns/vertex";
/// The unit of the share of tasks beyond one for each vertex reached.
pub(crate) const REDUNDANT: &str = "% redundant";
/// The unit of the share of tasks that were stolen.
pub(crate) const STOLEN: &str = "% stolen";

/// A graph, a root, and memory for the result, which all contenders use in turn.
pub(crate) struct Setup<P> {
    input: Input,
    /// The second is for the second of two loops that run side by side.
    problems: RefCell<[P; 2]>,
}

impl<P: Problem + Send + 'static> Setup<P> {
    /// Chooses a random root from which most vertices can be reached.
    pub(crate) fn new(graph: Graph) -> Result<Setup<P>> {
        let vertices = graph.vertices();
        let mut problems = [P::new(vertices), P::new(vertices)];
        let mut input = Input { graph, root: 0, reached: 0 };
        let mut random = Random::new(SEED);
        for _ in 0..100 {
            input.root = random.below(vertices as u64) as Vertex;
            problems.iter_mut().for_each(|problem| problem.start(input.root));
            input.reached = serial(&input, &mut problems[..1])?.tasks.unwrap_or(0) as usize;
            if input.reached > vertices / 2 {
                return Ok(Setup { input, problems: RefCell::new(problems) });
            }
        }
        bail!("no vertex was found from which most of the graph can be reached")
    }

    /// Measures all rounds, with each number of threads.
    pub(crate) fn measure(
        &self,
        case: Case,
        threads: &Threads,
        effort: Effort,
        bound: &Vouched,
    ) -> Result<Vec<Series>> {
        let mut runners = vec![self.runner(SERIAL, 1, 1, serial)];
        let notes: Vec<(&str, Option<String>)> =
            parallel::<P>(bound)?.into_iter().map(|contender| (contender.name, contender.note)).collect();
        for &threads in threads.counts() {
            runners.extend(parallel(bound)?.into_iter().map(|contender| {
                let run = contender.run;
                self.runner(contender.name, threads, 1, move |input, problems: &mut [P]| {
                    run(input, &problems[0], threads)
                })
            }));
        }
        if threads.have_two() {
            runners.push(self.runner(SERIAL_PAIR, 2, 2, serial));
        }
        let units = [NANOS_A_VERTEX, REDUNDANT, STOLEN];
        let mut series = interleave(&case.to_string(), &units, &runners, effort)?;
        // Figures that a contender does not count are left out.
        series.retain(|series| series.samples.iter().all(|sample| sample.is_finite()));
        for series in series.iter_mut().filter(|series| series.unit == NANOS_A_VERTEX) {
            let noted = notes.iter().find(|(name, _)| *name == series.name);
            series.note = noted.and_then(|(_, note)| note.clone());
        }
        Ok(series)
    }

    /// A runner that makes this many traversals.
    fn runner<'a, F>(&'a self, name: &'static str, threads: usize, traversals: usize, run: F) -> Runner<'a>
    where
        F: Fn(&Input, &mut [P]) -> Result<Sample> + 'a,
    {
        let measure = move || {
            let (input, mut problems) = (&self.input, self.problems.borrow_mut());
            let problems = &mut problems[..traversals];
            problems.iter_mut().for_each(|problem| problem.start(input.root));
            let sample = run(input, problems)?;
            problems.iter().try_for_each(|problem| problem.check(&input.graph, input.reached))?;
            Ok(figures(sample, traversals * input.reached))
        };
        Runner { name, threads, measure: Box::new(measure) }
    }
}

/// A figure for each unit; NaN if it is unknown.
fn figures(sample: Sample, vertices: usize) -> Vec<f64> {
    let Sample { elapsed, tasks, stolen } = sample;
    let tasks = tasks.map_or(f64::NAN, |tasks| tasks as f64);
    let share = |part: f64| 100.0 * part / tasks;
    vec![
        elapsed.as_nanos() as f64 / vertices as f64,
        share(tasks - vertices as f64),
        share(stolen.map_or(f64::NAN, |stolen| stolen as f64)),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn shares_are_of_all_tasks_and_uncounted_figures_are_nan() {
        let sample = Sample { elapsed: Duration::from_nanos(1800), tasks: Some(100), stolen: Some(25) };
        assert_eq!(figures(sample, 90), [20.0, 10.0, 25.0]);
        let unknown = figures(Sample { tasks: None, ..sample }, 90);
        assert!(unknown[1].is_nan() && unknown[2].is_nan());
    }
}
