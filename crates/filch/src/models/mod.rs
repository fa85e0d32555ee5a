//! The models that the checkers run.
//!
//! Loom checks the fork stack, task deques and the end of scopes, the sleep protocol, what waits
//! find, seats that are lent and the end of explorations. Shuttle checks whole pools.

#[cfg(loom)]
mod descendants;
#[cfg(loom)]
mod explore;
#[cfg(loom)]
mod levels;
#[cfg(all(shuttle, not(loom)))]
mod pools;
#[cfg(loom)]
mod seats;
#[cfg(loom)]
mod sleep;
#[cfg(loom)]
mod split_queue;
#[cfg(loom)]
mod stack;
#[cfg(loom)]
mod tasks;

#[cfg(loom)]
static DEQUES: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Returns whether the model that runs uses task deques.
#[cfg(loom)]
pub(crate) fn are_deques_used() -> bool {
    DEQUES.load(std::sync::atomic::Ordering::Relaxed)
}

/// Runs a model that uses task deques. Called inside of [`defect::with`](crate::defect::with),
/// which runs one model at a time.
#[cfg(loom)]
fn with_deques(model: impl FnOnce()) {
    struct Unused;
    impl Drop for Unused {
        fn drop(&mut self) {
            DEQUES.store(false, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let _unused = Unused;
    DEQUES.store(true, std::sync::atomic::Ordering::Relaxed);
    model();
}

/// Checks every order of a model's steps, up to a number of preemptions. That is
/// `LOOM_MAX_PREEMPTIONS`, or `preemptions`.
#[cfg(loom)]
pub(crate) fn check_orders(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
