//! The loop of a worker on a thread of the pool.
//!
//! It runs from the worker's first task until the worker has nothing left and parks, or the run is
//! over.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filch::Scope;

use super::crew::{Crew, Summon};
use super::member::Member;
use super::worker::{Step, Worker};
use super::Work;

/// Makes the pool run the workers that are called.
struct Pooled<'a, 'scope, W: Work> {
    crew: &'scope Crew<'scope, W>,
    scope: &'a Scope<'scope>,
}

impl<W: Work> Summon<W> for Pooled<'_, '_, W> {
    fn summon(&self, member: Member<W>) {
        let crew = self.crew;
        self.scope.spawn(move |scope| in_pool(crew, scope, member));
    }
}

/// Runs a worker on a thread of the pool.
pub(super) fn in_pool<'scope, W: Work>(crew: &'scope Crew<'scope, W>, scope: &Scope<'scope>, member: Member<W>) {
    live(crew, &Pooled { crew, scope }, member);
}

/// The summoner of a single worker: there is no other to call.
struct Alone;

impl<W: Work> Summon<W> for Alone {
    fn summon(&self, _: Member<W>) {
        unreachable!("there is nobody else");
    }
}

/// Runs the only worker, on this thread.
pub(super) fn alone<W: Work>(crew: &Crew<'_, W>, member: Member<W>) {
    live(crew, &Alone, member);
}

/// Runs a worker until it parks or the run is over. A panic ends the run, and is kept.
pub(super) fn live<W: Work>(crew: &Crew<'_, W>, summoner: &dyn Summon<W>, member: Member<W>) {
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let mut worker = Worker::begin(crew, summoner, member);
        loop {
            match worker.step() {
                Step::Worked => {}
                Step::Over => return crew.retire(worker.member),
                Step::Idle => match crew.idle(worker.member, summoner) {
                    Some(member) => worker = Worker::begin(crew, summoner, member),
                    None => return,
                },
            }
        }
    }));
    if let Err(panic) = lived {
        crew.fail(panic);
    }
}
