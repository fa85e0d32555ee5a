//! Back-to-back runs from inside the pool.
//!
//! Every sample has a pool of its own, so that no other pool uses CPU time beside it.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, Result};

use super::contenders::{Contender, Context, Fork, Runtime};
use super::work::{Fib, Work};

/// Runs a little other work to start the pool's threads and cache its code.
fn warm_up<F: Fork>(context: F::Context<'_>) -> Result<()> {
    let work = black_box(Fib(22));
    work.check(&work.run::<F>(context, ()))
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
    before_first_run: impl FnOnce() + Send,
) -> Result<f64> {
    let timed = C::enter(pool, |context| Timed::measure::<C, W>(work, context, calls, before_first_run))?;
    Ok(timed.end.duration_since(timed.start).as_nanos() as f64 / calls as f64)
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
    let one = || {
        C::enter(&(), |context| {
            Timed::measure::<C, W>(work, context, calls, || {
                barrier.wait();
            })
        })
    };
    let timed: Vec<Timed> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let ends = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a serial run panicked"))?);
        ends.collect::<Result<_>>()
    })?;
    let start = timed.iter().map(|timed| timed.start).min();
    let end = timed.iter().map(|timed| timed.end).max();
    let (Some(start), Some(end)) = (start, end) else { return Err(anyhow!("no thread ran")) };
    Ok(end.duration_since(start).as_nanos() as f64 / (calls * threads) as f64)
}

struct Timed {
    start: Instant,
    end: Instant,
}

impl Timed {
    /// Times `calls` runs, after a tenth as many to warm up, and checks all answers.
    fn measure<C: Runtime, W: Work>(
        work: &W,
        mut context: Context<'_, C>,
        calls: usize,
        before_first_run: impl FnOnce(),
    ) -> Result<Timed> {
        // A failure before the start would leave the other threads waiting: report it after the
        // end.
        let warm = warm_up::<C::Fork>(C::Fork::reborrow(&mut context));
        let mut answers = Vec::with_capacity(calls + calls / 10);
        run::<C, W>(work, &mut context, (0..calls / 10).map(|_| work.input()).collect(), &mut answers);
        let inputs: Vec<W::Input> = (0..calls).map(|_| work.input()).collect();

        before_first_run();
        let start = Instant::now();
        run::<C, W>(work, &mut context, inputs, &mut answers);
        let end = Instant::now();

        warm?;
        answers.iter().try_for_each(|answer| work.check(answer))?;
        Ok(Timed { start, end })
    }
}

fn run<C: Runtime, W: Work>(
    work: &W,
    context: &mut Context<'_, C>,
    inputs: Vec<W::Input>,
    answers: &mut Vec<W::Answer>,
) {
    for input in inputs {
        // The compiler must not know what is computed, nor that it is the same each time.
        answers.push(black_box(work).run::<C::Fork>(C::Fork::reborrow(context), input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::{Chili, Filch, FilchWorker, Rayon, Serial};

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
