//! The loop of an explorer on a thread of the pool. It lasts from the first task until the explorer
//! becomes idle.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use filch_queue::{Owner, Steal, Thief};

use super::explored::{Counts, Ending};
use super::explorer::{self, announce, Explorer, Handle};
use super::shared::{Controller, Shared};
use crate::queue::{Kind, Stolen};
use crate::random::Random;
use crate::sync::{fence, spin_loop, thread, Ordering};
use crate::{unwind, Scope};

/// The most tasks between two looks at the cancel token and the clock. It applies if the tasks
/// before took no longer than `SHORT`; otherwise it is one task.
const TASKS_PER_LIMIT_CHECK: u32 = 16;
/// A limit of time. If the tasks between two looks took longer, the next look comes after one task.
const SHORT: Duration = Duration::from_micros(100);
/// The most tasks between two looks at the length of the queue. It applies if there is nothing else
/// to look at.
const TASKS_PER_LENGTH_CHECK: u32 = 1024;
/// The number of looks at other queues, without a yield, before an explorer becomes idle. As many
/// looks with a yield follow, or more.
pub(super) const LOOKS: u32 = 32;
/// The largest factor of the looks with a yield. Each wake-up in vain doubles the factor. A chain
/// of tasks, each pushed by the one before it, wakes an explorer in vain all the time.
pub(super) const MAX_PATIENCE: u32 = 8;
/// The number of looks that a round of aborted steals counts for. A queue from which no thief can
/// steal does not look empty.
const LOOKS_PER_ABORT: u32 = 8;
/// The pause of an explorer that must not become idle because the kernel refuses barriers.
const AFTER_REFUSAL: Duration = Duration::from_micros(100);
/// The number of attempts to steal from one queue before the explorer yields between attempts.
const TRIES_BEFORE_YIELD: u32 = 32;

/// The data of one explorer: its queue, its state, and what it keeps while it is on no thread.
pub(super) struct Local<Q, S> {
    /// `None` before it first runs.
    owner: Option<Q>,
    pub(super) index: usize,
    /// `None` before its first task.
    pub(super) state: Option<S>,
    pub(super) counts: Counts,
    /// The time since when it has had no task.
    idle_since: Option<Instant>,
    random: Random,
    /// The factor of the looks with a yield before it becomes idle.
    patience: u32,
}

impl<Q, S> Local<Q, S> {
    /// Returns an explorer that has not run yet.
    pub(super) fn new(index: usize) -> Self {
        let (random, idle_since) = (Random::new(index), Some(Instant::now()));
        Local { owner: None, index, state: None, counts: Counts::default(), idle_since, random, patience: 1 }
    }

    /// Drops the queue.
    pub(super) fn drop_queue(&mut self) {
        self.owner = None;
    }

    /// Ends the time without a task, and counts it.
    pub(super) fn end_idle_time(&mut self) {
        if let Some(since) = self.idle_since.take() {
            self.counts.idle += since.elapsed();
        }
    }
}

/// Runs an explorer on this thread. It is active, and was woken and searches, or is the first.
pub(super) fn run<'scope, T, K, S, M, F>(
    shared: &'scope Shared<T, K, S, M, F>,
    scope: &Scope<'scope>,
    mut local: Local<K::Owner, S>,
    woken: bool,
) where
    T: Send,
    K: Kind<T>,
    S: Send,
    M: Fn(usize) -> S + Sync,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>) + Sync,
{
    let controller = Controller { shared, scope };
    let handle = Handle { idle: shared.idle_list.counts(), fenced: shared.fenced, control: &controller };
    let mut searches = woken;
    let result = unwind::catch(|| loop {
        match find(shared, handle, local, searches) {
            Found::Task(found, task) => local = run_tasks(shared, handle, found, task),
            Found::End(found) => break shared.retire(found),
            Found::Idle => break,
        }
        searches = false;
    });
    if let Err(panic) = result {
        shared.results.keep_panic(panic);
        shared.stop(Ending::Stopped);
    }
}

/// Runs a task, and then those in the explorer's own queue. Returns when that is empty or the
/// exploration is over.
#[inline(never)]
fn run_tasks<T, K, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    handle: Handle<'_>,
    mut local: Local<K::Owner, S>,
    mut task: T,
) -> Local<K::Owner, S>
where
    K: Kind<T>,
    M: Fn(usize) -> S,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>),
{
    // The tasks until the next look. Granted tasks are counted, and those that are left are
    // subtracted in the end.
    let mut granted = 1;
    let mut last_check = check_limits(shared);
    if shared.termination.is_over() {
        // Here, where `local` is not returned yet, and does not leak if this panics.
        drop(task);
        return local;
    }
    let owner = local.owner.take().expect("an explorer that has found a task has a queue");
    let mut state = local.state.take().unwrap_or_else(|| (shared.state)(local.index));
    let mut explorer = Explorer { owner, state: &mut state, index: local.index, counts: local.counts, handle };
    explorer.counts.tasks += u64::from(granted);
    let mut left = granted;
    loop {
        if left == 0 {
            explorer.counts.longest = explorer.counts.longest.max(explorer.owner.len());
            (granted, last_check) = grant(shared, granted, last_check);
            explorer.counts.tasks += u64::from(granted);
            left = granted;
            if shared.termination.is_over() {
                drop(task);
                break;
            }
        }
        left -= 1;
        (shared.visit)(task, &mut explorer);
        let (Some(next), look) = explorer.owner.pop_and_look() else { break };
        task = next;
        if look && shared.termination.is_over() {
            drop(task);
            break;
        }
    }
    explorer.counts.tasks -= u64::from(left);
    let Explorer { owner, counts, .. } = explorer;
    Local { owner: Some(owner), state: Some(state), counts, ..local }
}

/// Checks whether a limit stops the exploration. Returns the time, if there is a limit.
fn check_limits<T, K: Kind<T>, S, M, F>(shared: &Shared<T, K, S, M, F>) -> Option<Instant> {
    if shared.limits.are_none() {
        return None;
    }
    let now = Instant::now();
    shared.check_limits(|| now);
    Some(now)
}

/// Checks the limits, and returns the number of tasks until the next look. `granted` is that number
/// at the look before.
#[cold]
#[inline(never)]
fn grant<T, K: Kind<T>, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    granted: u32,
    before: Option<Instant>,
) -> (u32, Option<Instant>) {
    let now = check_limits(shared);
    match (before, now) {
        (Some(before), Some(now)) if now - before > SHORT => (1, Some(now)),
        (_, Some(now)) => (TASKS_PER_LIMIT_CHECK.min(2 * granted), Some(now)),
        (_, None) => (TASKS_PER_LENGTH_CHECK.min(2 * granted), None),
    }
}

/// The result of a search by an explorer whose own queue is empty.
enum Found<T, Q, S> {
    /// A task. The explorer is active.
    Task(Local<Q, S>, T),
    /// The exploration is over.
    End(Local<Q, S>),
    /// The explorer is on the idle list.
    Idle,
}

/// Searches for a task until it finds one or becomes idle. The explorer is active, and its own
/// queue is empty.
fn find<T, K, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    handle: Handle<'_>,
    mut local: Local<K::Owner, S>,
    mut searches: bool,
) -> Found<T, K::Owner, S>
where
    K: Kind<T>,
{
    let mut looks = 0;
    loop {
        if shared.termination.is_over() {
            return Found::End(local);
        }
        let aborts = local.counts.aborts;
        if let Some(task) = take_root(shared, handle, &mut local).or_else(|| steal(shared, handle, &mut local, false)) {
            return found(handle, local, task, searches);
        }
        shared.termination.leave();
        local.idle_since.get_or_insert_with(Instant::now);
        if !searches {
            handle.idle.begin_search();
            searches = true;
        }
        if local.counts.aborts > aborts {
            looks += LOOKS_PER_ABORT;
        }
        let most = LOOKS * (1 + local.patience);
        while looks < most && !shared.termination.is_over() {
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
            looks += 1;
            if shared.thieves.iter().filter_map(OnceLock::get).any(|thief| !thief.is_empty()) {
                break;
            }
        }
        if looks >= most {
            looks = 0;
            match go_idle(shared, handle, local) {
                GoIdle::Found(local, task) => return found(handle, local, task, searches),
                GoIdle::Woken(woken) => local = woken,
                GoIdle::Idle => return Found::Idle,
            }
        }
        shared.termination.enter();
    }
}

/// Ends the search with a task, if the explorer searched.
fn found<T, Q, S>(handle: Handle<'_>, mut local: Local<Q, S>, task: T, searched: bool) -> Found<T, Q, S> {
    if searched && handle.idle.end_search() {
        handle.control.wake_one();
    }
    local.end_idle_time();
    local.patience = 1;
    Found::Task(local, task)
}

/// The result of [`go_idle`].
enum GoIdle<T, Q, S> {
    /// A last look finds a task. The explorer is active and searches.
    Found(Local<Q, S>, T),
    /// The explorer was woken, and searches.
    Woken(Local<Q, S>),
    Idle,
}

/// Adds an explorer to the idle list that searches and is not active.
#[cold]
fn go_idle<T, K, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    handle: Handle<'_>,
    mut local: Local<K::Owner, S>,
) -> GoIdle<T, K::Owner, S>
where
    K: Kind<T>,
{
    shared.idle_list.begin_add();
    shared.raise_alarms();
    let passed = shared.barrier();
    shared.termination.enter();
    if let Some(task) = steal(shared, handle, &mut local, true) {
        shared.idle_list.cancel_add();
        return GoIdle::Found(local, task);
    }
    shared.termination.leave();
    if !passed || !shared.has_barrier() {
        // The kernel has refused a barrier that it had promised, here or in a raid. The raid has
        // asked owners for fences. Look again soon.
        std::thread::sleep(AFTER_REFUSAL);
        shared.idle_list.cancel_add();
        return GoIdle::Woken(local);
    }
    local.patience = MAX_PATIENCE.min(2 * local.patience);
    match shared.idle_list.finish_add(local) {
        Some(woken) => GoIdle::Woken(woken),
        None => GoIdle::Idle,
    }
}

/// Takes a share of the roots, and puts all but one into the own queue. Creates the queue if there
/// is none.
fn take_root<T, K, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    handle: Handle<'_>,
    local: &mut Local<K::Owner, S>,
) -> Option<T>
where
    K: Kind<T>,
{
    let index = local.index;
    let owner = local.owner.get_or_insert_with(|| {
        let (owner, thief) = shared.kind.make();
        let first = shared.thieves[index].set(thief);
        debug_assert!(first.is_ok(), "an explorer has one queue");
        // SeqCst: pairs with the fence in `raise_alarms`.
        fence(Ordering::SeqCst);
        owner
    });
    let mut share = shared.roots.take();
    let first = share.pop()?;
    for task in share {
        explorer::push(owner, handle, task);
    }
    if shared.roots.are_left() {
        handle.wake_if_needed();
    }
    Some(first)
}

/// Steals a task of another explorer, trying each queue until it gives a definite result. May steal
/// more tasks, and puts them into the explorer's own queue, which is empty. With `raids`, it also
/// steals what owners have not made available. The explorer is active.
fn steal<T, K, S, M, F>(
    shared: &Shared<T, K, S, M, F>,
    handle: Handle<'_>,
    local: &mut Local<K::Owner, S>,
    raids: bool,
) -> Option<T>
where
    K: Kind<T>,
{
    let (count, index) = (shared.thieves.len(), local.index);
    let own = local.owner.as_ref()?;
    let start = local.random.below(count);
    let victims = (start..count).chain(0..start).filter(|victim| *victim != index);
    for thief in victims.filter_map(|victim| shared.thieves[victim].get()) {
        for tries in 0.. {
            let Stolen { task, pushed } =
                if raids { shared.kind.raid_for(own, thief) } else { shared.kind.steal_for(own, thief) };
            match task {
                Steal::Success(task) => {
                    local.counts.steals += 1 + pushed as u64;
                    if pushed > 0 {
                        // An explorer that looked for them while they were on their way did not
                        // find them.
                        announce(handle);
                    }
                    return Some(task);
                }
                Steal::Retry if tries < TRIES_BEFORE_YIELD => spin_loop(),
                Steal::Retry => thread::yield_now(),
                Steal::Abort => {
                    local.counts.aborts += 1;
                    break;
                }
                Steal::Empty => break,
            }
        }
    }
    None
}
