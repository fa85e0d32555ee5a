//! A worker's life on a thread of the pool: from its first task until it has nothing left and sits down, or all is over.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filch::Scope;

use super::crew::{Crew, Summon};
use super::member::Member;
use super::worker::{Step, Worker};
use super::Work;

/// Has the pool run whoever is called.
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

/// Lives on a thread of the pool.
pub(super) fn in_pool<'scope, W: Work>(crew: &'scope Crew<'scope, W>, scope: &Scope<'scope>, member: Member<W>) {
    live(crew, &Pooled { crew, scope }, member);
}

/// For a worker that has no others.
struct Alone;

impl<W: Work> Summon<W> for Alone {
    fn summon(&self, _: Member<W>) {
        unreachable!("there is nobody else");
    }
}

/// Lives on this thread, the only worker.
pub(super) fn alone<W: Work>(crew: &Crew<'_, W>, member: Member<W>) {
    live(crew, &Alone, member);
}

/// Lives until it sits down or all is over. A panic ends the run, and is kept.
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
