//! All contenders of the `graphs` suite.
//!
//! They are filch's queues and crossbeam's in the same exploration, filch's exploration by level, and
//! the same traversal written without an exploration. Every sample starts threads of its
//! own and ends them. It is timed from inside,
//! after they have started.

mod crossbeam_pool;
mod explore;
mod rayon;
mod serial;

pub(super) use self::explore::{explore_on, explored_in_pool, in_pool};
pub(crate) use self::serial::serial;

use std::time::Duration;

use anyhow::Result;
use filch::queue::{
    Asymmetric, Bound, ChaseLev, Delta, DoubleEnded, FfCl, FfThe, Fifo, Kind, Lifo, Split, The, Thep, UntrustedFfCl,
    UntrustedFfThe, UntrustedThep,
};
use filch_graph::{Graph, Vertex};
use filch_queue::ExactlyOnce;

use self::crossbeam_pool::crossbeam_pool;
use self::explore::{levels, levels_prefetch, CrossbeamLifo};
use self::rayon::{rayon_frontier, rayon_spawn};
use super::problems::Problem;
use crate::bench::bound::Vouched;
use crate::bench::crossbeam::CROSSBEAM_LIFO;
use crate::queue::Queue;

/// The fence-free queues, whose owners rely on the bound of the run.
pub(super) const FF_THE: &str = "ff_the";
pub(crate) const FF_CL: &str = "ff_cl";
pub(super) const THEP: &str = "thep";

/// The same queues without a bound: the first push after a pop is a full barrier.
const FF_THE_UNTRUSTED: &str = "ff_the-untrusted";
pub(super) const FF_CL_UNTRUSTED: &str = "ff_cl-untrusted";
const THEP_UNTRUSTED: &str = "thep-untrusted";

/// A graph and the roots of the traversal.
#[derive(Debug)]
pub(crate) struct Input {
    /// The graph.
    pub(crate) graph: Graph,
    /// The first vertices. They differ from each other.
    pub(crate) roots: Vec<Vertex>,
    /// The number of vertices that can be reached from the roots.
    pub(crate) reached: usize,
}

/// The measurement of a traversal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The time of the traversal.
    pub(crate) elapsed: Duration,
    /// The number of tasks that were run, if counted.
    pub(crate) tasks: Option<u64>,
    /// The number of tasks that were stolen, if counted.
    pub(crate) stolen: Option<u64>,
}

/// A contender that needs a number of threads.
pub(crate) struct Parallel<P> {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// A note for readers.
    pub(crate) note: Option<String>,
    /// Whether each task that was pushed must run once. It is checked by the number of tasks.
    pub(crate) is_exact: bool,
    /// Traverses with this many threads.
    pub(crate) run: Box<dyn Fn(&Input, &P, usize) -> Result<Sample>>,
}

/// The queues that rely on a bound.
pub(super) const NEED_BOUND: [&str; 3] = [FF_THE, FF_CL, THEP];

/// All contenders but the serial loop.
///
/// If nothing vouches for a bound, the queues that rely on one are left out. Their untrusted
/// variants then have a note that says so.
pub(crate) fn parallel<P: Problem + 'static>(bound: &Vouched) -> Result<Vec<Parallel<P>>> {
    let mut all = vec![
        exact(Queue::Split.name(), None, Split),
        exact(Queue::ChaseLev.name(), None, ChaseLev),
        exact(Queue::The.name(), None, The),
        exact(Queue::Asymmetric.name(), None, Asymmetric),
    ];
    if let Ok(bound) = bound {
        let delta = bound.delta()?;
        let note = || Some(bound.note(delta));
        // SAFETY: the delta is made from a bound that the run vouches for, as `bench/bound.rs` says
        // and as the note states. If it is too small, a vertex may be visited twice, which all
        // problems tolerate, and the check of the number of tasks fails. No memory depends on it.
        let (ff_the, ff_cl, thep) = unsafe { (FfThe::trusting(delta), FfCl::trusting(delta), Thep::trusting(delta)) };
        all.extend([exact(FF_THE, note(), ff_the), exact(FF_CL, note(), ff_cl), exact(THEP, note(), thep)]);
    }
    let delta = Delta::new(Bound::GENEROUS, 1)?;
    let note = |name: &str| {
        Some(match bound {
            Ok(_) => format!("delta {}", delta.get()),
            Err(why) => format!("{name} is left out: {why}"),
        })
    };
    all.extend([
        explore(FF_THE_UNTRUSTED, note(FF_THE), UntrustedFfThe(delta)),
        explore(FF_CL_UNTRUSTED, note(FF_CL), UntrustedFfCl(delta)),
        explore(THEP_UNTRUSTED, note(THEP), UntrustedThep(delta)),
        explore(Queue::Lifo.name(), None, Lifo),
        explore(Queue::Fifo.name(), None, Fifo),
        explore(Queue::DoubleEnded.name(), None, DoubleEnded),
        Parallel { is_exact: true, ..explore(CROSSBEAM_LIFO, None, CrossbeamLifo) },
        Parallel { name: "levels", note: None, is_exact: true, run: Box::new(levels) },
        Parallel { name: "levels-prefetch", note: None, is_exact: true, run: Box::new(levels_prefetch) },
        Parallel { name: "crossbeam-pool", note: None, is_exact: true, run: Box::new(crossbeam_pool) },
        // Its tasks are not counted, so nothing could be checked.
        Parallel { name: "rayon-spawn", note: None, is_exact: false, run: Box::new(rayon_spawn) },
        Parallel { name: "rayon-frontier", note: None, is_exact: true, run: Box::new(rayon_frontier) },
    ]);
    Ok(all)
}

/// filch's exploration on a kind of queue that returns each task once.
fn exact<P, K>(name: &'static str, note: Option<String>, kind: K) -> Parallel<P>
where
    P: Problem + 'static,
    K: Kind<Vertex, Owner: ExactlyOnce, Thief: ExactlyOnce> + Clone + Send + 'static,
{
    Parallel { is_exact: true, ..explore(name, note, kind) }
}

/// filch's exploration on a kind of queue.
fn explore<P, K>(name: &'static str, note: Option<String>, kind: K) -> Parallel<P>
where
    P: Problem + 'static,
    K: Kind<Vertex> + Clone + Send + 'static,
{
    let run = move |input: &Input, problem: &P, threads| explore_on(kind.clone(), input, problem, threads);
    Parallel { name, note, is_exact: false, run: Box::new(run) }
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;
    use crate::bench::bound::{NoBound, TrustedBound};
    use crate::bench::graphs::problems::{Closure, SpanningTree};

    fn check_all_contenders<P: Problem + Send + 'static>() {
        let input = Input { graph: generate::torus(40, 25).unwrap(), roots: vec![7, 500], reached: 1000 };
        let mut problems = [P::new(1000), P::new(1000)];
        let run = |name: &str, problems: &mut [P], run: &dyn Fn(&mut [P]) -> Result<Sample>| {
            problems.iter_mut().for_each(|problem| problem.start(&input.roots));
            let sample = run(problems).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            for problem in &*problems {
                problem.check(&input).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            }
            assert!(sample.tasks.is_none_or(|tasks| tasks >= 1000), "{name}: {sample:?}");
        };
        for threads in 1..=3 {
            for contender in parallel::<P>(&Ok(TrustedBound::published())).unwrap() {
                let measure = |problems: &mut [P]| {
                    let sample = (contender.run)(&input, &problems[0], threads)?;
                    assert!(!contender.is_exact || sample.tasks.is_some(), "{}: no tasks are counted", contender.name);
                    Ok(sample)
                };
                run(contender.name, &mut problems[..1], &measure);
            }
        }
        for count in [1, 2] {
            run("serial", &mut problems[..count], &|problems| serial(&input, problems));
        }
    }

    #[test]
    fn all_contenders_reach_every_vertex() {
        check_all_contenders::<Closure>();
    }

    #[test]
    fn all_contenders_find_a_spanning_tree() {
        check_all_contenders::<SpanningTree>();
    }

    #[test]
    fn without_a_bound_only_the_untrusted_queues_run_and_say_why() {
        let names = |all: &[Parallel<Closure>]| all.iter().map(|contender| contender.name).collect::<Vec<_>>();
        let trusting = parallel::<Closure>(&Ok(TrustedBound::given(73).unwrap())).unwrap();
        let without = parallel::<Closure>(&Err(NoBound::refuted())).unwrap();
        let (all, without_names) = (names(&trusting), names(&without));
        let missing: Vec<_> = all.into_iter().filter(|name| !without_names.contains(name)).collect();
        assert_eq!(missing, NEED_BOUND);
        let note = |all: &[Parallel<Closure>], name| {
            all.iter().find(|contender| contender.name == name).and_then(|contender| contender.note.clone()).unwrap()
        };
        assert_eq!(note(&trusting, FF_CL), "delta 37 by 1 extra store a pop; S = 73, as given");
        assert_eq!(note(&trusting, FF_CL_UNTRUSTED), "delta 64");
        let why = note(&without, FF_CL_UNTRUSTED);
        assert!(why.starts_with("ff_cl is left out: a load overtook more stores"), "{why}");
    }
}
