//! All contenders on one graph, from the same roots, and the units of the figures.

use std::cell::RefCell;

use anyhow::{bail, ensure, Result};
use filch_graph::{Graph, Vertex};

use super::cases::{Case, ROOTS, SEED};
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

/// A graph, its roots, and memory for the result, which all contenders use in turn.
pub(crate) struct Setup<P> {
    input: Input,
    /// The second is for the second of two loops that run side by side.
    problems: RefCell<[P; 2]>,
}

impl<P: Problem + Send + 'static> Setup<P> {
    /// Chooses random roots from which most vertices can be reached.
    pub(crate) fn new(graph: Graph) -> Result<Setup<P>> {
        let vertices = graph.vertices();
        let mut problems = [P::new(vertices), P::new(vertices)];
        let mut input = Input { graph, roots: Vec::new(), reached: 0 };
        let mut random = Random::new(SEED);
        for _ in 0..100 {
            input.roots.clear();
            while input.roots.len() < ROOTS.min(vertices) {
                let root = random.below(vertices as u64) as Vertex;
                if !input.roots.contains(&root) {
                    input.roots.push(root);
                }
            }
            problems.iter_mut().for_each(|problem| problem.start(&input.roots));
            input.reached = serial(&input, &mut problems[..1])?.tasks.unwrap_or(0) as usize;
            if input.reached > vertices / 2 {
                return Ok(Setup { input, problems: RefCell::new(problems) });
            }
        }
        bail!("no vertices were found from which most of the graph can be reached")
    }

    /// The graph and its roots.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// Measures all rounds, with each number of threads.
    pub(crate) fn measure(
        &self,
        case: Case,
        threads: &Threads,
        effort: Effort,
        bound: &Vouched,
    ) -> Result<Vec<Series>> {
        let mut runners = vec![self.runner((SERIAL, 1), 1, true, serial)];
        let notes: Vec<(&str, Option<String>)> =
            parallel::<P>(bound)?.into_iter().map(|contender| (contender.name, contender.note)).collect();
        for &threads in threads.counts() {
            runners.extend(parallel(bound)?.into_iter().map(|contender| {
                let run = contender.run;
                self.runner((contender.name, threads), 1, contender.is_exact, move |input, problems: &mut [P]| {
                    run(input, &problems[0], threads)
                })
            }));
        }
        if threads.have_two() {
            runners.push(self.runner((SERIAL_PAIR, 2), 2, true, serial));
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
    ///
    /// `is_exact` says whether each task that was pushed must run once.
    pub(super) fn runner<'a, F>(
        &'a self,
        (name, threads): (&'static str, usize),
        traversals: usize,
        is_exact: bool,
        run: F,
    ) -> Runner<'a>
    where
        F: Fn(&Input, &mut [P]) -> Result<Sample> + 'a,
    {
        let is_exact = is_exact && P::PUSHES_ONCE;
        let measure = move || {
            let (input, mut problems) = (&self.input, self.problems.borrow_mut());
            let problems = &mut problems[..traversals];
            problems.iter_mut().for_each(|problem| problem.start(&input.roots));
            let sample = run(input, problems)?;
            problems.iter().try_for_each(|problem| problem.check(input))?;
            let expected = traversals * input.reached;
            check_tasks(&sample, expected, is_exact)?;
            Ok(figures(sample, expected))
        };
        Runner { name, threads, measure: Box::new(measure) }
    }
}

/// Checks that every vertex was a task, and if each task runs once, that none ran twice.
pub(super) fn check_tasks(sample: &Sample, vertices: usize, is_exact: bool) -> Result<()> {
    let Some(tasks) = sample.tasks else { return Ok(()) };
    ensure!(tasks >= vertices as u64, "only {tasks} tasks were run for {vertices} vertices");
    ensure!(
        !is_exact || tasks == vertices as u64,
        "{tasks} tasks were run for {vertices} vertices, but each vertex was pushed once: the queue returned a task twice"
    );
    Ok(())
}

/// A figure for each unit; NaN if it is unknown.
pub(super) fn figures(sample: Sample, vertices: usize) -> Vec<f64> {
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
    use crate::bench::graphs::problems::{Closure, SpanningTree};

    /// A contender on a torus of 100 vertices that counts `more` tasks beyond those it ran.
    fn measured<P: Problem + Send + 'static>(is_exact: bool, more: i64) -> Result<Vec<f64>> {
        let setup = Setup::<P>::new(filch_graph::generate::torus(10, 10).unwrap()).unwrap();
        let run = |input: &Input, problems: &mut [P]| {
            let sample = serial(input, problems)?;
            Ok(Sample { tasks: sample.tasks.and_then(|tasks| tasks.checked_add_signed(more)), ..sample })
        };
        let runner = setup.runner(("planted", 1), 1, is_exact, run);
        (runner.measure)()
    }

    #[test]
    fn a_task_that_runs_twice_fails_an_exact_queue_if_each_vertex_is_pushed_once() {
        let error = measured::<SpanningTree>(true, 1).unwrap_err().to_string();
        assert!(error.contains("the queue returned a task twice"), "{error}");
        assert!(measured::<SpanningTree>(false, 1).is_ok() && measured::<SpanningTree>(true, 0).is_ok());
        // Two threads that find a vertex at the same time both push it.
        assert!(measured::<Closure>(true, 1).is_ok());
    }

    #[test]
    fn a_task_that_did_not_run_fails_all() {
        for error in [measured::<SpanningTree>(false, -1), measured::<Closure>(false, -1)] {
            assert_eq!(error.unwrap_err().to_string(), "only 99 tasks were run for 100 vertices");
        }
    }

    #[test]
    fn a_cycle_in_a_tree_fails() {
        let setup = Setup::<SpanningTree>::new(filch_graph::generate::torus(10, 10).unwrap()).unwrap();
        let run = |input: &Input, problems: &mut [SpanningTree]| {
            let sample = serial(input, problems)?;
            problems[0].plant_cycle(input);
            Ok(sample)
        };
        let error = (setup.runner(("planted", 1), 1, true, run).measure)().unwrap_err();
        assert!(format!("{error:#}").contains("no spanning forest"), "{error:#}");
    }

    #[test]
    fn shares_are_of_all_tasks_and_uncounted_figures_are_nan() {
        let sample = Sample { elapsed: Duration::from_nanos(1800), tasks: Some(100), stolen: Some(25) };
        assert_eq!(figures(sample, 90), [20.0, 10.0, 25.0]);
        let unknown = figures(Sample { tasks: None, ..sample }, 90);
        assert!(unknown[1].is_nan() && unknown[2].is_nan());
    }
}
