//! Back-to-back runs from inside the pool.
//!
//! Every sample has a pool of its own, so that no other pool uses CPU time beside it.

use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Barrier;
use std::time::Instant;

use anyhow::{ensure, Context as _, Result};

use super::at_once::{on_threads, Span};
use super::contenders::{Contender, Context, Fork, Runtime};
use super::work::Work;

/// The stores of each leaf of the [warm-up](warm_up).
///
/// Queues with a delta that counts stores of the program rely on them.
pub(crate) const WARM_UP_STORES: usize = 32;

/// The layers of joins of the warm-up.
const WARM_UP_LAYERS: u32 = 15;

/// Runs a little other work to start the pool's threads and cache its code.
///
/// It checks that no job is lost and that none runs twice. Most programs cannot check the latter: a
/// job that runs again finds the same result.
fn warm_up<F: Fork>(context: F::Context<'_>) -> Result<()> {
    let runs: Vec<AtomicU8> = (0..black_box(1) << WARM_UP_LAYERS).map(|_| AtomicU8::new(0)).collect();
    let leaves = leaves::<F>(context, &runs);
    ensure!(leaves == 1 << WARM_UP_LAYERS, "a tree of {WARM_UP_LAYERS} layers does not have {leaves} leaves");
    // Relaxed: the joins order the leaves before this.
    let runs = runs.iter().map(|runs| runs.load(Ordering::Relaxed));
    let repeated = runs.filter(|runs| *runs > 1).count();
    ensure!(repeated == 0, "the pool ran {repeated} of {leaves} leaves more than once");
    Ok(())
}

/// The number of leaves of a tree of joins. Each counts its runs in a cell of its own.
fn leaves<F: Fork>(context: F::Context<'_>, cells: &[AtomicU8]) -> u32 {
    if let [runs] = cells {
        let mut cell = 0;
        for store in 0..WARM_UP_STORES {
            // SAFETY: a local variable.
            unsafe { ptr::write_volatile(&mut cell, store) };
        }
        // Relaxed, and no read-modify-write: that would drain the store buffer, and so hide the
        // faults of queues without a fence. Two runs at the same moment may count as one.
        runs.store(runs.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
        return 1;
    }
    let (first, second) = cells.split_at(cells.len() / 2);
    let (first, second) =
        F::join(context, move |context| leaves::<F>(context, first), move |context| leaves::<F>(context, second));
    first + second
}

/// Builds a pool and warms it up.
pub(crate) fn warm_pool<C: Contender>(threads: usize) -> Result<C::Pool> {
    let pool = C::pool(threads)?;
    C::enter(&pool, |context| warm_up::<C::Fork>(context))?;
    Ok(pool)
}

/// Nanoseconds per run, measured over `calls` runs back to back.
pub(crate) fn back_to_back<C: Contender, W: Work>(work: &W, threads: usize, calls: usize) -> Result<f64> {
    let pool = warm_pool::<C>(threads)?;
    in_pool::<C, W>(&pool, work, calls, || ())
}

/// Like [`back_to_back`], in an existing pool.
///
/// Calls `before_first_run` right before the first run that counts. All preparation is done by
/// then.
pub(crate) fn in_pool<C: Runtime, W: Work>(
    pool: &C::Pool,
    work: &W,
    calls: usize,
    before_first_run: impl Fn() + Sync,
) -> Result<f64> {
    let span = timed_runs::<C, W>(pool, work, calls, &before_first_run)?;
    Ok(span.elapsed().as_nanos() as f64 / calls as f64)
}

/// Nanoseconds per run, if `threads` independent threads make `calls` runs each.
///
/// This is the most that the machine can do.
pub(crate) fn side_by_side<C, W>(work: &W, threads: usize, calls: usize) -> Result<f64>
where
    C: Contender<Pool = ()>,
    W: Work,
{
    let barrier = Barrier::new(threads);
    let wait = || {
        barrier.wait();
    };
    let spans = on_threads("a serial run", 0..threads, |_| timed_runs::<C, W>(&(), work, calls, &wait))?;
    let spans: Vec<Span> = spans.into_iter().collect::<Result<_>>()?;
    Ok(Span::of_all(&spans)?.elapsed().as_nanos() as f64 / (calls * threads) as f64)
}

/// Times runs inside a pool.
fn timed_runs<C: Runtime, W: Work>(
    pool: &C::Pool,
    work: &W,
    calls: usize,
    before_first_run: &(dyn Fn() + Sync),
) -> Result<Span> {
    let mut span = None;
    enter::<C>(pool, &mut |context| span = Some(measure::<C::Fork, W>(work, context, calls, before_first_run)));
    span.context("the pool ran nothing")?
}

/// Enters a pool with work of any type, so that entering is compiled once for each runtime.
fn enter<C: Runtime>(pool: &C::Pool, work: &mut (dyn for<'a> FnMut(Context<'a, C>) + Send)) {
    C::enter(pool, |context| work(context));
}

/// Times `calls` runs, after a tenth as many to warm up, and checks all answers.
fn measure<F: Fork, W: Work>(
    work: &W,
    mut context: F::Context<'_>,
    calls: usize,
    before_first_run: &dyn Fn(),
) -> Result<Span> {
    // A failure before the start would leave the other threads waiting: report it after the end.
    let warm = warm_up::<F>(F::reborrow(&mut context));
    let mut answers = Vec::with_capacity(calls + calls / 10);
    run::<F, W>(work, &mut context, (0..calls / 10).map(|_| work.input()).collect(), &mut answers);
    let inputs: Vec<W::Input> = (0..calls).map(|_| work.input()).collect();

    before_first_run();
    let start = Instant::now();
    run::<F, W>(work, &mut context, inputs, &mut answers);
    let end = Instant::now();

    warm?;
    answers.iter().try_for_each(|answer| work.check(answer))?;
    Ok(Span { start, end })
}

fn run<F: Fork, W: Work>(work: &W, context: &mut F::Context<'_>, inputs: Vec<W::Input>, answers: &mut Vec<W::Answer>) {
    for input in inputs {
        // The compiler must not know what is computed, nor that it is the same each time.
        answers.push(black_box(work).run::<F>(F::reborrow(context), input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::faulty::{Doubling, Losing};
    use crate::bench::contenders::{Chili, Filch, FilchWorker, Rayon, Serial};
    use crate::bench::work::Fib;

    #[test]
    fn a_warm_up_that_loses_jobs_is_an_error() {
        assert!(warm_pool::<Losing>(1).unwrap_err().to_string().contains("does not have 1 leaves"));
    }

    #[test]
    fn a_pool_that_runs_jobs_twice_is_an_error_with_any_program() {
        let why = "leaves more than once";
        assert!(warm_pool::<Doubling>(1).unwrap_err().to_string().contains(why));
        // The number is right, and would pass.
        assert!(in_pool::<Doubling, _>(&(), &Fib(5), 1, || ()).unwrap_err().to_string().contains(why));
    }

    /// Computes the number that `Fib` computes, but expects another.
    struct Wrong;

    impl Work for Wrong {
        type Input = ();
        type Answer = u64;

        fn input(&self) {}

        fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> u64 {
            Fib(5).run::<F>(context, ())
        }

        fn check(&self, answer: &u64) -> Result<()> {
            Fib(6).check(answer)
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error_and_no_figure() {
        assert!(back_to_back::<Serial, _>(&Wrong, 1, 3).is_err());
        assert!(back_to_back::<Rayon, _>(&Wrong, 2, 3).is_err());
        assert!(side_by_side::<Serial, _>(&Wrong, 2, 3).is_err());
    }

    #[test]
    fn all_contenders_are_timed() {
        for nanos in [
            back_to_back::<Serial, _>(&Fib(12), 1, 20),
            back_to_back::<FilchWorker, _>(&Fib(12), 2, 20),
            back_to_back::<Filch, _>(&Fib(12), 2, 20),
            back_to_back::<Rayon, _>(&Fib(12), 2, 20),
            back_to_back::<Chili, _>(&Fib(12), 1, 20),
            side_by_side::<Serial, _>(&Fib(12), 3, 20),
        ] {
            assert!(nanos.unwrap() > 0.0);
        }
    }
}
