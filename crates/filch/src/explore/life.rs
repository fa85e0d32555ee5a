//! The loop of an explorer on a thread of the pool. It lasts from the first task until the explorer
//! goes to the bench.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use filch_queue::{Owner, Steal, Thief};

use super::crew::{Crew, Summoner};
use super::explored::{Counts, Ending};
use super::explorer::{self, announce, Explorer, Others};
use super::queue::{Kind, Stolen};
use crate::random::Random;
use crate::sync::{spin_loop, thread};
use crate::{unwind, Scope};

/// The most tasks between two looks at the cancel token and the clock. It applies if the tasks
/// before took no longer than `SHORT`; otherwise it is one task.
const TASKS_A_LOOK: u32 = 16;
/// A limit of time. If the tasks between two looks took longer, the next look comes after one task.
const SHORT: Duration = Duration::from_micros(100);
/// The most tasks between two looks at the length of the queue. It applies if there is nothing else
/// to look at.
const TASKS_A_GLANCE: u32 = 1024;
/// The number of looks at other queues before an explorer goes to the bench. It makes so many looks
/// without a yield, and then so many with a yield.
const LOOKS: u32 = 32;
/// The largest factor of the looks with a yield. Each call in vain doubles the factor. A chain of
/// tasks, each pushed by the one before it, calls an explorer in vain all the time.
const MOST_PATIENCE: u32 = 8;
/// The number of looks that a round of aborted steals counts for. A queue from which no thief can
/// steal does not look empty.
const LOOKS_A_REFUSAL: u32 = 8;
/// The number of attempts to steal from one queue before the explorer yields between attempts.
const TRIES: u32 = 32;

/// An explorer of the crew. This holds its queue, its state, and what it keeps while it is on no
/// thread.
pub(super) struct Member<Q, S> {
    /// `None` before it first runs.
    owner: Option<Q>,
    pub(super) index: usize,
    /// `None` before its first task.
    pub(super) state: Option<S>,
    pub(super) counts: Counts,
    /// The time since when it has had no task.
    idle_since: Option<Instant>,
    random: Random,
    /// The factor of the looks with a yield before it goes to the bench.
    patience: u32,
}

impl<Q, S> Member<Q, S> {
    /// Returns an explorer that has not run yet.
    pub(super) fn new(index: usize) -> Self {
        let (random, idle_since) = (Random::new(index), Some(Instant::now()));
        Member { owner: None, index, state: None, counts: Counts::default(), idle_since, random, patience: 1 }
    }

    /// Drops the queue.
    pub(super) fn leave_queue(&mut self) {
        self.owner = None;
    }

    /// Ends the time without a task, and counts it.
    pub(super) fn end_idleness(&mut self) {
        if let Some(since) = self.idle_since.take() {
            self.counts.idle += since.elapsed();
        }
    }
}

/// Runs an explorer on this thread. It is active, and has been called and searches, or is the
/// first.
pub(super) fn live<'scope, T, K, S, M, F>(
    crew: &'scope Crew<T, K, S, M, F>,
    scope: &Scope<'scope>,
    mut member: Member<K::Owner, S>,
    called: bool,
) where
    T: Send,
    K: Kind<T>,
    S: Send,
    M: Fn(usize) -> S + Sync,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>) + Sync,
{
    let summoner = Summoner { crew, scope };
    let others = Others { callable: crew.bench.callable(), fenced: crew.fenced, crew: &summoner };
    let mut searches = called;
    let lived = unwind::catch(|| loop {
        match find(crew, others, member, searches) {
            Found::Task(found, task) => member = work(crew, others, found, task),
            Found::End(found) => break crew.retire(found),
            Found::Bench => break,
        }
        searches = false;
    });
    if let Err(panic) = lived {
        unwind::keep_first(&crew.panic, panic);
        crew.stop(Ending::Stopped);
    }
}

/// Runs a task, and then those in the explorer's own queue. Returns when that is empty or the
/// exploration is over.
#[inline(never)]
fn work<T, K, S, M, F>(
    crew: &Crew<T, K, S, M, F>,
    others: Others<'_>,
    mut member: Member<K::Owner, S>,
    mut task: T,
) -> Member<K::Owner, S>
where
    K: Kind<T>,
    M: Fn(usize) -> S,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>),
{
    // The tasks until the next look. Granted tasks are counted, and those that are left are
    // subtracted in the end.
    let mut granted = 1;
    let mut last_look = look(crew);
    if crew.muster.is_over() {
        // Here, where the member is not returned yet, and does not leak if this panics.
        drop(task);
        return member;
    }
    let owner = member.owner.take().expect("who has found a task has a queue");
    let mut state = member.state.take().unwrap_or_else(|| (crew.state)(member.index));
    let mut explorer = Explorer { owner, state: &mut state, index: member.index, counts: member.counts, others };
    explorer.counts.tasks += u64::from(granted);
    let mut left = granted;
    loop {
        if left == 0 {
            explorer.counts.longest = explorer.counts.longest.max(explorer.owner.len());
            (granted, last_look) = grant(crew, granted, last_look);
            explorer.counts.tasks += u64::from(granted);
            left = granted;
        }
        if crew.muster.is_over() {
            drop(task);
            break;
        }
        left -= 1;
        (crew.visit)(task, &mut explorer);
        match explorer.owner.pop() {
            Some(next) => task = next,
            None => break,
        }
    }
    explorer.counts.tasks -= u64::from(left);
    let Explorer { owner, counts, .. } = explorer;
    Member { owner: Some(owner), state: Some(state), counts, ..member }
}

/// Checks whether a limit stops the exploration. Returns the time, if there is a limit.
fn look<T, K: Kind<T>, S, M, F>(crew: &Crew<T, K, S, M, F>) -> Option<Instant> {
    if crew.limits.are_none() {
        return None;
    }
    let now = Instant::now();
    crew.mind_limits(|| now);
    Some(now)
}

/// Checks the limits, and returns the number of tasks until the next look. `granted` is that number
/// at the look before.
#[cold]
#[inline(never)]
fn grant<T, K: Kind<T>, S, M, F>(
    crew: &Crew<T, K, S, M, F>,
    granted: u32,
    before: Option<Instant>,
) -> (u32, Option<Instant>) {
    let now = look(crew);
    match (before, now) {
        (Some(before), Some(now)) if now - before > SHORT => (1, Some(now)),
        (_, Some(now)) => (TASKS_A_LOOK.min(2 * granted), Some(now)),
        (_, None) => (TASKS_A_GLANCE.min(2 * granted), None),
    }
}

/// What an explorer has found whose own queue is empty.
enum Found<T, Q, S> {
    /// A task. The explorer is active.
    Task(Member<Q, S>, T),
    /// The exploration is over.
    End(Member<Q, S>),
    /// The explorer is on the bench.
    Bench,
}

/// Searches for a task until it finds one or goes to the bench. The explorer is active, and its own
/// queue is empty.
fn find<T, K, S, M, F>(
    crew: &Crew<T, K, S, M, F>,
    others: Others<'_>,
    mut member: Member<K::Owner, S>,
    mut searches: bool,
) -> Found<T, K::Owner, S>
where
    K: Kind<T>,
{
    let mut looks = 0;
    loop {
        if crew.muster.is_over() {
            return Found::End(member);
        }
        let aborts = member.counts.aborts;
        if let Some(task) = take_root(crew, others, &mut member).or_else(|| steal(crew, others, &mut member)) {
            return found(others, member, task, searches);
        }
        crew.muster.leave();
        member.idle_since.get_or_insert_with(Instant::now);
        if !searches {
            others.callable.begin_search();
            searches = true;
        }
        if member.counts.aborts > aborts {
            looks += LOOKS_A_REFUSAL;
        }
        let most = LOOKS * (1 + member.patience);
        while looks < most && !crew.muster.is_over() {
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
            looks += 1;
            if crew.thieves.iter().filter_map(OnceLock::get).any(|thief| !thief.is_empty()) {
                break;
            }
        }
        if looks >= most {
            looks = 0;
            match go_to_bench(crew, others, member) {
                Coming::Found(member, task) => return found(others, member, task, searches),
                Coming::Called(called) => member = called,
                Coming::Benched => return Found::Bench,
            }
        }
        crew.muster.enter();
    }
}

/// Ends the search with a task, if the explorer searched.
fn found<T, Q, S>(others: Others<'_>, mut member: Member<Q, S>, task: T, searched: bool) -> Found<T, Q, S> {
    if searched && others.callable.end_search() {
        others.crew.call();
    }
    member.end_idleness();
    member.patience = 1;
    Found::Task(member, task)
}

/// The result of going to the bench.
enum Coming<T, Q, S> {
    /// A last look finds a task. The explorer is active and searches.
    Found(Member<Q, S>, T),
    /// The explorer was called, and searches.
    Called(Member<Q, S>),
    Benched,
}

/// Puts an explorer on the bench that searches and is not active.
#[cold]
fn go_to_bench<T, K, S, M, F>(
    crew: &Crew<T, K, S, M, F>,
    others: Others<'_>,
    mut member: Member<K::Owner, S>,
) -> Coming<T, K::Owner, S>
where
    K: Kind<T>,
{
    crew.bench.come();
    if !crew.barrier() {
        // The kernel has refused a barrier that it had promised: look again soon.
        crew.bench.turn_back();
        return Coming::Called(member);
    }
    crew.muster.enter();
    if let Some(task) = steal(crew, others, &mut member) {
        crew.bench.turn_back();
        return Coming::Found(member, task);
    }
    crew.muster.leave();
    member.patience = MOST_PATIENCE.min(2 * member.patience);
    match crew.bench.sit(member) {
        Some(called) => Coming::Called(called),
        None => Coming::Benched,
    }
}

/// Takes a share of the roots, and puts all but one into the own queue. Creates the queue if there
/// is none.
fn take_root<T, K, S, M, F>(
    crew: &Crew<T, K, S, M, F>,
    others: Others<'_>,
    member: &mut Member<K::Owner, S>,
) -> Option<T>
where
    K: Kind<T>,
{
    let index = member.index;
    let owner = member.owner.get_or_insert_with(|| {
        let (owner, thief) = crew.kind.make();
        let first = crew.thieves[index].set(thief);
        debug_assert!(first.is_ok(), "an explorer has one queue");
        owner
    });
    let mut share = crew.roots.take();
    let first = share.pop()?;
    for task in share {
        explorer::push(owner, others, task);
    }
    if crew.roots.are_left() {
        others.call();
    }
    Some(first)
}

/// Steals a task of another explorer, trying each queue until it gives a definite result. May steal
/// more tasks, and puts them into the explorer's own queue, which is empty. The explorer is active.
fn steal<T, K, S, M, F>(crew: &Crew<T, K, S, M, F>, others: Others<'_>, member: &mut Member<K::Owner, S>) -> Option<T>
where
    K: Kind<T>,
{
    let (count, index) = (crew.thieves.len(), member.index);
    let own = member.owner.as_ref()?;
    let start = member.random.below(count);
    let victims = (start..count).chain(0..start).filter(|victim| *victim != index);
    for thief in victims.filter_map(|victim| crew.thieves[victim].get()) {
        for tries in 0.. {
            let Stolen { task, pushed } = crew.kind.steal_for(own, thief);
            match task {
                Steal::Success(task) => {
                    member.counts.steals += 1 + pushed as u64;
                    if pushed > 0 {
                        // An explorer that looked for them while they were on their way did not
                        // find them.
                        announce(others);
                    }
                    return Some(task);
                }
                Steal::Retry if tries < TRIES => spin_loop(),
                Steal::Retry => thread::yield_now(),
                Steal::Abort => {
                    member.counts.aborts += 1;
                    break;
                }
                Steal::Empty => break,
            }
        }
    }
    None
}
