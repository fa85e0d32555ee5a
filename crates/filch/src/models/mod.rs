//! What the checkers run: loom on the fork stack, on the sleep protocol, on what waits find, on
//! seats that are lent and on the end of explorations, shuttle on whole pools.

#[cfg(loom)]
mod descendants;
#[cfg(loom)]
mod explore;
#[cfg(all(shuttle, not(loom)))]
mod pools;
#[cfg(loom)]
mod seats;
#[cfg(loom)]
mod sleep;
#[cfg(loom)]
mod stack;

/// Explores every order of a model's steps, up to a number of preemptions: `LOOM_MAX_PREEMPTIONS`, or this.
#[cfg(loom)]
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
