//! The entrants, their numbers of threads, and how a sample of each is taken.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Mutex;

use anyhow::{Context, Result};
use filch::engine::{Pool, Queue, Thefts};
use filch::queue::{Asymmetric, ChaseLev, FfCl, FfThe, The, Thep};

use super::delta::{delta_of_four, infinite_delta, ClientStores};
use super::{ABORTS_A_RUN, STEALS_A_RUN};
use crate::bench::bound::{TrustedBound, Vouched};
use crate::bench::contenders::{Contender, Engine, Filch, FilchWorker, Rayon, Scheme, Serial, Textbook, STACK};
use crate::bench::rounds::Runner;
use crate::bench::throughput;
use crate::bench::work::Work;
use crate::figures::Series;
use crate::sync::{lock, unpoisoned};

/// Entrants that are not compared closely.
///
/// They are so slow in some programs that a round of them takes as long as a round of all others.
const SLOW_ENTRANTS: [&str; 2] = ["central", "sharing"];

/// Entrants that rely on the bound.
const NEED_BOUND: [&str; 5] = ["ff_cl", "ff_the", "thep", "ff_the-4", "thep-4"];

/// The thefts of each round.
type RoundThefts = Rc<RefCell<Vec<Thefts>>>;

/// A contender in this suite.
pub(super) struct Entrant<'a> {
    pub(super) runner: Runner<'a>,
    pub(super) note: Option<String>,
    /// The thefts of each round. `None` if they are not counted.
    stolen: Option<RoundThefts>,
}

impl<'a> Entrant<'a> {
    /// An entrant whose thefts are not counted.
    pub(super) fn new(runner: Runner<'a>, note: Option<String>) -> Entrant<'a> {
        Entrant { runner, note, stolen: None }
    }

    /// Whether it is slow and gets only a few rounds.
    pub(super) fn is_slow(&self) -> bool {
        SLOW_ENTRANTS.contains(&self.runner.name)
    }

    /// Whether it is one of the pair whose ratio matters most.
    pub(super) fn is_the_or_thep(&self) -> bool {
        ["the", "thep"].contains(&self.runner.name)
    }

    /// The thefts of the first `rounds` rounds, as series.
    pub(super) fn thefts(&self, case: &str, rounds: usize) -> Vec<Series> {
        let Some(stolen) = &self.stolen else { return Vec::new() };
        let stolen = stolen.borrow();
        let series = |unit, count: fn(&Thefts) -> u64| Series {
            case: case.to_owned(),
            name: self.runner.name,
            threads: self.runner.threads,
            unit,
            samples: stolen.iter().take(rounds).map(|thefts| count(thefts) as f64).collect(),
            note: self.note.clone(),
        };
        vec![series(STEALS_A_RUN, |thefts| thefts.steals), series(ABORTS_A_RUN, |thefts| thefts.aborts)]
    }
}

/// All entrants, with `threads` threads.
///
/// If nothing vouches for a bound, the entrants that rely on it are left out. `stores` are the
/// stores of `work`.
pub(super) fn all_entrants<'a, W: Work>(
    work: &'a W,
    threads: usize,
    bound: &Vouched,
    stores: ClientStores,
) -> Result<Vec<Entrant<'a>>> {
    let note = bound.as_ref().err().map(|why| format!("{} are left out: {why}", NEED_BOUND.join(", ")));
    let mut all = Vec::new();
    if threads == 1 {
        all.push(contender::<Serial, W>(work, threads));
    }
    all.extend([
        engine("the", note, The, work, threads),
        engine("chase_lev", None, ChaseLev, work, threads),
        engine("asymmetric", None, Asymmetric, work, threads),
    ]);
    if let Ok(bound) = bound {
        all.extend(entrants_with_bound(work, threads, bound, stores)?);
    }
    // The effect of delta on thieves shows only if there are thieves.
    if threads > 1 {
        // SAFETY: a thief with this delta never takes a task by itself, however many stores a load
        // overtakes.
        let thep_infinite = unsafe { Thep::trusting(infinite_delta()?) };
        let note = "thieves always wait for the owner".to_owned();
        all.push(engine("thep-inf", Some(note), thep_infinite, work, threads));
    }
    all.extend([
        textbook("central", Scheme::Central, work, threads),
        textbook("sharing", Scheme::Sharing, work, threads),
        textbook("static", Scheme::Static, work, threads),
        contender::<FilchWorker, W>(work, threads),
        contender::<Filch, W>(work, threads),
        contender::<Rayon, W>(work, threads),
    ]);
    Ok(all)
}

/// The entrants that rely on the bound, on a real CPU.
fn entrants_with_bound<'a, W: Work>(
    work: &'a W,
    threads: usize,
    bound: &TrustedBound,
    stores: ClientStores,
) -> Result<Vec<Entrant<'a>>> {
    let delta = bound.delta()?;
    // SAFETY: the delta is made from one of five bounds. The first is 128, which is above every
    // known store buffer. The second is a larger one that a report has just measured. The third is
    // given by the user. The user was told what happens if it is too small, and vouches for it. The
    // fourth comes from a file. It is above the entries that were measured on a CPU that reports
    // the same model as this one. That is evidence; the user that gives the file vouches for the
    // rest. The fifth was measured by a report on this very machine, minutes ago. Then the capacity
    // of the store buffer showed as a knee that nearly all resampled rounds agree on. A million
    // races or more with deltas that are only just safe broke nothing, while races with smaller
    // deltas did break. That is evidence and no proof: if it is wrong, a job could run twice, in a
    // frame that is gone. The paper itself relies on the same evidence, and it is enough for a
    // process that only measures. A report with fewer races takes the first.
    let (ff_cl, ff_the, thep) = unsafe { (FfCl::trusting(delta), FfThe::trusting(delta), Thep::trusting(delta)) };
    // The effect of delta on thieves shows only if there are thieves.
    let four = (threads > 1).then(|| delta_of_four(bound, stores)).transpose();
    let mut note = bound.note(delta);
    let mut all = vec![
        engine("ff_cl", Some(note.clone()), ff_cl, work, threads),
        engine("ff_the", Some(note.clone()), ff_the, work, threads),
    ];
    if let Err(why) = &four {
        note.push_str(&format!("; ff_the-4 and thep-4 are left out: {why}"));
    }
    all.push(engine("thep", Some(note), thep, work, threads));
    if let Ok(Some(four)) = four {
        // SAFETY: as above; it is made from the same bound. `stores` are the stores of `work`, and
        // these queues run nothing else but the warm-up.
        let (ff_the_4, thep_4) = unsafe { (FfThe::trusting(four), Thep::trusting(four)) };
        all.push(engine("ff_the-4", Some(bound.note(four)), ff_the_4, work, threads));
        all.push(engine("thep-4", Some(bound.note(four)), thep_4, work, threads));
    }
    Ok(all)
}

fn millis(nanos: f64) -> Vec<f64> {
    vec![nanos / 1e6]
}

/// An entrant that needs only a number of threads.
fn contender<C: Contender, W: Work>(work: &W, threads: usize) -> Entrant<'_> {
    // A fresh pool that has not worked, as for all other entrants.
    let measure = Box::new(move || Ok(millis(throughput::in_pool::<C, W>(&C::pool(threads)?, work, 1, || ())?)));
    Entrant::new(Runner { name: C::NAME, threads, measure }, None)
}

/// The engine on a kind of queue.
fn engine<'a, Q, W>(name: &'static str, note: Option<String>, queue: Q, work: &'a W, threads: usize) -> Entrant<'a>
where
    Q: Queue + Copy,
    W: Work,
{
    let stolen = RoundThefts::default();
    let measure = {
        let stolen = stolen.clone();
        Box::new(move || {
            let pool = Pool::with_stacks(threads, queue, STACK)
                .with_context(|| format!("an engine of {threads} threads could not be started"))?;
            let before = Mutex::new(Thefts::default());
            let nanos = throughput::in_pool::<Engine<Q>, W>(&pool, work, 1, || {
                *lock(&before) = pool.thefts();
            })?;
            let before = unpoisoned(before.into_inner());
            let mut thefts = pool.thefts();
            thefts.steals -= before.steals;
            thefts.aborts -= before.aborts;
            stolen.borrow_mut().push(thefts);
            Ok(millis(nanos))
        })
    };
    let stolen = (threads > 1).then_some(stolen);
    Entrant { runner: Runner { name, threads, measure }, note, stolen }
}

/// A textbook scheme.
fn textbook<'a, W: Work>(name: &'static str, scheme: Scheme, work: &'a W, threads: usize) -> Entrant<'a> {
    let measure = Box::new(move || {
        let pool = Textbook::pool(scheme, threads)?;
        Ok(millis(throughput::in_pool::<Textbook, W>(&pool, work, 1, || ())?))
    });
    Entrant::new(Runner { name, threads, measure }, None)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::bench::bound::NoBound;
    use crate::bench::contenders::Runtime;
    use crate::bench::work::Fib;

    static ENTERED: AtomicUsize = AtomicUsize::new(0);

    /// Runs serially, and counts how often its pool is entered.
    enum Counted {}

    impl Runtime for Counted {
        type Fork = Serial;
        type Pool = ();

        fn enter<R, W>((): &(), work: W) -> R
        where
            R: Send,
            W: FnOnce(()) -> R + Send,
        {
            // Relaxed: there is only one thread.
            ENTERED.fetch_add(1, Ordering::Relaxed);
            work(())
        }
    }

    impl Contender for Counted {
        const NAME: &'static str = "counted";

        fn pool(_threads: usize) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_entrants_are_warmed_up_equally_often() {
        let entrant = contender::<Counted, Fib>(&Fib(3), 1);
        (entrant.runner.measure)().unwrap();
        // Engines and textbook schemes are entered once, for the warm-up and the timed run.
        assert_eq!(ENTERED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn thefts_of_a_round_that_does_not_count_are_left_out() {
        let the = engine("the", None, The, &Fib(3), 2);
        for _ in 0..2 {
            (the.runner.measure)().unwrap();
        }
        let lengths =
            |rounds| the.thefts("fib-3", rounds).iter().map(|series| series.samples.len()).collect::<Vec<_>>();
        assert_eq!((lengths(2), lengths(1)), (vec![2, 2], vec![1, 1]));
    }

    fn names(bound: &Vouched) -> Vec<&'static str> {
        let work = Fib(5);
        let all = all_entrants(&work, 2, bound, ClientStores::of("fib-5")).unwrap();
        all.iter().map(|entrant| entrant.runner.name).collect()
    }

    #[test]
    fn entrants_that_need_a_bound_do_not_run_without_one() {
        let all = names(&Ok(TrustedBound::published()));
        let without = names(&Err(NoBound::refuted()));
        let missing: Vec<_> = all.iter().copied().filter(|name| !without.contains(name)).collect();
        assert_eq!(missing, NEED_BOUND);
        assert!(without.contains(&"the") && without.contains(&"thep-inf"));
    }

    #[test]
    fn a_bound_too_large_for_a_delta_of_four_leaves_out_the_entrants_that_need_it() {
        let all = names(&Ok(TrustedBound::published()));
        let large = names(&Ok(TrustedBound::given(300).unwrap()));
        let missing: Vec<_> = all.into_iter().filter(|name| !large.contains(name)).collect();
        assert_eq!(missing, ["ff_the-4", "thep-4"]);
    }
}
