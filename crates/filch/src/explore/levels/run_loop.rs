//! The loop of a worker of an exploration by level, on a thread of the pool.

use std::time::Instant;

use super::explorer::LevelExplorer;
use super::gate::Opening;
use super::pace::{self, Pace};
use super::shared::Shared;
use super::tasks::Tasks;
use crate::explore::explored::{Counts, Ending};
use crate::explore::prefetch::{Ahead, FAR, NEAR};
use crate::explore::results::Ended;
use crate::explore::run_loop::{LOOKS, MAX_PATIENCE};
use crate::sync::{spin_loop, thread, Ordering};
use crate::{unwind, Scope};

/// The data of one worker, also while it is on no thread.
pub(super) struct Local<S> {
    index: usize,
    /// `None` before its first task.
    state: Option<S>,
    counts: Counts,
    pace: Pace,
    /// The last level that it was inside of.
    seen: Opening,
    /// The time since when it has had no task.
    idle_since: Option<Instant>,
}

impl<S> Local<S> {
    /// Returns a worker that has not run yet.
    pub(super) fn new(index: usize) -> Self {
        Local {
            index,
            state: None,
            counts: Counts::default(),
            pace: Pace::new(),
            seen: Opening::default(),
            idle_since: Some(Instant::now()),
        }
    }

    /// Returns the first worker, whose buffer has the roots.
    pub(super) fn first(roots: usize) -> Self {
        let mut first = Local::new(0);
        first.counts.longest = roots;
        first
    }

    /// Begins to work, after a time without a task.
    fn resume(&mut self) {
        if let Some(since) = self.idle_since.take() {
            self.counts.idle += since.elapsed();
            self.pace.resume(self.counts.tasks);
        }
    }

    /// Ends the worker.
    pub(super) fn end(mut self) -> Ended<S> {
        self.resume();
        Ended { index: self.index, state: self.state, counts: self.counts }
    }
}

/// Where a worker is; see [`gate`](super::gate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It owns the level, and no worker is inside.
    Owner,
    Inside,
    Outside,
}

/// Runs a worker on this thread.
pub(super) fn run<'scope, T, S, M, A, F>(
    shared: &'scope Shared<T, S, M, A, F>,
    scope: &Scope<'scope>,
    mut local: Local<S>,
    mut place: Place,
) where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    let mut was_woken = place == Place::Outside;
    if was_woken {
        // Relaxed: a hint, as in `missing`.
        shared.coming.fetch_sub(1, Ordering::Relaxed);
    }
    loop {
        place = match place {
            Place::Outside => match wait(shared, local) {
                Waited::Inside(entered) => {
                    local = entered;
                    if std::mem::take(&mut was_woken) && wake_more(shared, scope, &local.pace) {
                        // Or the cost of a task would include that of the wake-ups.
                        local.pace.resume(local.counts.tasks);
                    }
                    Place::Inside
                }
                Waited::Over(ended) => {
                    local = ended;
                    break;
                }
                Waited::Idle => return,
            },
            Place::Inside => {
                work(shared, scope, &mut local, Place::Inside);
                if !shared.gate.leave() {
                    Place::Outside
                } else {
                    if !shared.is_over() {
                        // SAFETY: this worker was the last to leave. All have claimed until no
                        // task was left, because the exploration was not stopped.
                        unsafe { shared.begin_next_level() };
                    }
                    Place::Owner
                }
            }
            Place::Owner => {
                local.resume();
                if !work(shared, scope, &mut local, Place::Owner) {
                    break shared.finish();
                }
                open(shared, scope, &mut local);
                Place::Inside
            }
        };
    }
    shared.results.add(local.end());
}

/// Opens the gate for what is left of the level, and wakes workers. The caller is the owner.
#[cold]
#[inline(never)]
fn open<'scope, T, S, M, A, F>(shared: &'scope Shared<T, S, M, A, F>, scope: &Scope<'scope>, local: &mut Local<S>)
where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    let first = shared.gate.cursor();
    // SAFETY: this is the owner.
    let left = unsafe { shared.frontier() }.len - first;
    // The owner itself runs one of them.
    let missing = || missing(shared, &local.pace, left.saturating_sub(1), 0);
    let (opening, woken) = shared.idle.open_and_take(&shared.gate, first, missing);
    local.seen = opening;
    spawn(shared, scope, woken);
    // As after `wake_more`.
    local.pace.resume(local.counts.tasks);
}

/// Wakes more workers, if the level keeps more busy. Returns whether it has. The caller is inside.
///
/// An owner that has not measured its tasks wakes one worker only. That wakes the next when it
/// enters, and so on. A worker that has measured its tasks wakes what they are worth, also when they
/// turn out to take longer than the owner thought.
#[cold]
#[inline(never)]
fn wake_more<'scope, T, S, M, A, F>(shared: &'scope Shared<T, S, M, A, F>, scope: &Scope<'scope>, pace: &Pace) -> bool
where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    // SAFETY: this worker is inside.
    let left = unsafe { shared.frontier() }.len.saturating_sub(shared.gate.cursor());
    // Before it has measured, a worker takes one task itself.
    if left <= usize::from(!pace.has_measured()) || shared.is_over() {
        return false;
    }
    // One of the workers inside is the one that the others help.
    let helpers = shared.gate.inside().saturating_sub(1);
    if missing(shared, pace, left, helpers) == 0 {
        return false;
    }
    let woken = shared.idle.take(|| missing(shared, pace, left, helpers));
    let has_woken = !woken.is_empty();
    spawn(shared, scope, woken);
    has_woken
}

/// Returns the number of workers to wake for these tasks, if so many others are inside to help.
fn missing<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, pace: &Pace, tasks: usize, helpers: usize) -> usize {
    let useful = pace.useful_sleepers(tasks).min(shared.workers() - 1);
    if !pace.has_measured() {
        // One, also if others are awake: only a worker that was woken wakes more.
        return useful;
    }
    // Relaxed: workers that are awake come by themselves. A worker in the list was subtracted before
    // it took the lock. For a moment, a worker that was woken is in neither count.
    let others = shared.searching.load(Ordering::Relaxed) + shared.coming.load(Ordering::Relaxed);
    useful.saturating_sub(helpers + others)
}

/// Puts workers that were idle on threads.
fn spawn<'scope, T, S, M, A, F>(shared: &'scope Shared<T, S, M, A, F>, scope: &Scope<'scope>, woken: Vec<Local<S>>)
where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    // Relaxed: as in `missing`.
    shared.coming.fetch_add(woken.len(), Ordering::Relaxed);
    for woken in woken {
        scope.spawn(move |scope| run(shared, scope, woken, Place::Outside));
    }
}

/// The result of [`wait`].
enum Waited<S> {
    /// The worker is inside of a level that it has not seen.
    Inside(Local<S>),
    /// The exploration is over.
    Over(Local<S>),
    /// The worker is in the list of idle workers.
    Idle,
}

/// Waits for a level for a moment, and then leaves the thread to the pool.
fn wait<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, mut local: Local<S>) -> Waited<S> {
    local.idle_since.get_or_insert_with(Instant::now);
    loop {
        // Relaxed: a hint, for the owner.
        shared.searching.fetch_add(1, Ordering::Relaxed);
        let mut looks = 0;
        let found = loop {
            if shared.is_over() {
                break Some(None);
            }
            if let Some(opening) = shared.gate.enter(local.seen) {
                break Some(Some(opening));
            }
            if looks == LOOKS * (1 + MAX_PATIENCE) {
                break None;
            }
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
            looks += 1;
        };
        // Relaxed: the lock of the idle list orders it before the look of an owner that takes this
        // worker from there.
        shared.searching.fetch_sub(1, Ordering::Relaxed);
        match found {
            Some(None) => return Waited::Over(local),
            Some(Some(opening)) => {
                local.seen = opening;
                local.resume();
                return Waited::Inside(local);
            }
            None => {}
        }
        let seen = local.seen;
        match shared.idle.add(local, || shared.gate.is_open_since(seen)) {
            Some(needed) => local = needed,
            None => return Waited::Idle,
        }
    }
}

/// The tasks that a worker has claimed.
struct Claimed<T> {
    /// Those of one piece.
    tasks: Tasks<T>,
    /// The position behind that piece.
    next: usize,
    /// The end of the claim.
    end: usize,
    /// The level, as far as there was no panic.
    level: usize,
    /// Whether `tasks` is a whole level in the worker's own buffer, and the frontier is of a level
    /// before.
    is_own: bool,
}

/// Runs tasks of the level, as an owner also all levels that follow, while they are small. Returns
/// whether the level is worth sharing, and not done.
fn work<'scope, T, S, M, A, F>(
    shared: &'scope Shared<T, S, M, A, F>,
    scope: &Scope<'scope>,
    local: &mut Local<S>,
    place: Place,
) -> bool
where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    // SAFETY: this worker is inside or the owner.
    let frontier = unsafe { shared.frontier() };
    let (next, end) = match place {
        Place::Owner => (shared.gate.cursor(), frontier.len),
        _ => (0, 0),
    };
    let mut claimed = Claimed { tasks: Tasks::none(), next, end, level: frontier.level, is_own: false };
    let result = unwind::catch(|| run_tasks(shared, scope, local, place, &mut claimed));
    let left = claimed.tasks.len();
    if place == Place::Owner {
        let position = claimed.tasks.give_back();
        if claimed.is_own {
            // SAFETY: this is the owner.
            let frontier = unsafe { shared.frontier_mut() };
            frontier.clear(claimed.level);
            frontier.add(local.index, position + left);
            shared.gate.set_cursor(position);
        } else {
            shared.gate.set_cursor(claimed.next - left);
        }
    } else if left > 0 || claimed.next < claimed.end {
        drop_rest(shared, claimed);
    }
    result.unwrap_or_else(|panic| {
        shared.results.keep_panic(panic);
        shared.stop(Ending::Stopped);
        false
    })
}

/// Drops the tasks of a claim that are left. The worker is inside.
#[cold]
fn drop_rest<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, mut claimed: Claimed<T>) {
    loop {
        let tasks = std::mem::replace(&mut claimed.tasks, Tasks::none());
        unwind::catch(|| drop(tasks)).unwrap_or_else(|panic| shared.results.keep_panic(panic));
        if claimed.next == claimed.end {
            break;
        }
        // SAFETY: this worker is inside.
        unsafe { take_piece(shared, &mut claimed) };
    }
}

/// Runs tasks until none is left, the exploration is over or, for an owner, the level is worth
/// sharing. Returns whether it is.
#[inline(never)]
fn run_tasks<'scope, T, S, M, A, F>(
    shared: &'scope Shared<T, S, M, A, F>,
    scope: &Scope<'scope>,
    local: &mut Local<S>,
    place: Place,
    claimed: &mut Claimed<T>,
) -> bool
where
    T: Send,
    S: Send,
    M: Fn(usize) -> S + Sync,
    A: Fn(&T, Ahead) + Sync,
    F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
{
    let Local { index, state, counts, pace, .. } = local;
    let index = *index;
    if place == Place::Inside && !claim(shared, pace, claimed) || claimed.next >= claimed.end {
        return false;
    }
    if counts.tasks == 0 {
        shared.check_limits(Instant::now);
    }
    if shared.is_over() {
        return false;
    }
    let waiting = claimed.end - claimed.next;
    if place == Place::Owner && waiting > pace.alone && is_worth_sharing(shared, pace, waiting) {
        return true;
    }
    let state = state.get_or_insert_with(|| (shared.state)(index));
    // SAFETY: this worker is inside or the owner, and its buffer is not used elsewhere.
    let home = unsafe { shared.next_of(index) };
    let pushed = std::mem::take(home);
    let level = claimed.level;
    let mut explorer = LevelExplorer { pushed, home, state, index, level, redundant: 0, stop: shared };
    // Locals: what is not in `claimed` need not be right after a panic.
    let (mut tasks, mut stolen, mut longest, mut left) = (0, 0, 0, pace.left);
    // Whether another worker has pushed the tasks of the piece.
    let mut is_stolen = false;
    let shares = loop {
        if left == 0 {
            let waiting = claimed.tasks.len() + claimed.end - claimed.next;
            let now;
            let run = counts.tasks + (tasks - claimed.tasks.len()) as u64;
            (now, left) = pace.look(run, !shared.limits.are_none());
            shared.check_limits(|| now);
            if place == Place::Inside && wake_more(shared, scope, pace) {
                pace.resume(run);
            }
            if place == Place::Owner && waiting > pace.alone && is_worth_sharing(shared, pace, waiting) {
                break true;
            }
        }
        if shared.is_over() {
            break false;
        }
        let task = if let Some(task) = claimed.tasks.next() {
            if let Some(far) = claimed.tasks.peek(FAR - 1) {
                (shared.prefetch)(far, Ahead::Far);
            }
            if let Some(near) = claimed.tasks.peek(NEAR - 1) {
                (shared.prefetch)(near, Ahead::Near);
            }
            task
        } else if claimed.next < claimed.end || place == Place::Inside && claim(shared, pace, claimed) {
            // SAFETY: this worker has claimed them, and is inside or the owner.
            is_stolen = unsafe { take_piece(shared, claimed) } != index;
            let len = claimed.tasks.len();
            tasks += len;
            stolen += if is_stolen { len } else { 0 };
            continue;
        } else if place == Place::Inside || explorer.pushed.is_empty() {
            break false;
        } else {
            explorer.level += 1;
            is_stolen = false;
            left = pace::after_level(left);
            let len = explorer.pushed.len();
            tasks += len;
            longest = longest.max(len);
            if len > 1 {
                // SAFETY: this is the owner, and all tasks of its buffer were taken.
                unsafe {
                    let current = shared.current_of(index);
                    std::mem::swap(current, &mut explorer.pushed);
                    claimed.tasks = Tasks::all_of(current);
                }
                claimed.is_own = true;
                if len > pace.alone && is_worth_sharing(shared, pace, len) {
                    break true;
                }
                continue;
            }
            // The only task of a level is a level without a buffer.
            let Some(task) = explorer.pushed.pop() else { continue };
            task
        };
        left = left.saturating_sub(1);
        (shared.visit)(task, &mut explorer);
    };
    claimed.level = explorer.level;
    pace.left = left;
    // Those that are left run on another worker, or later.
    let unrun = claimed.tasks.len();
    counts.tasks += (tasks - unrun) as u64;
    counts.steals += (stolen - if is_stolen { unrun } else { 0 }) as u64;
    counts.longest = counts.longest.max(longest).max(explorer.pushed.len());
    counts.redundant += explorer.redundant;
    shares
}

/// Takes the next piece of a claim. Returns the worker that has pushed it.
///
/// # Safety
///
/// The caller is inside or the owner.
unsafe fn take_piece<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, claimed: &mut Claimed<T>) -> usize {
    // SAFETY: the caller guarantees it, and has claimed the piece.
    unsafe {
        let piece = shared.frontier().piece(claimed.next, claimed.end);
        claimed.tasks = shared.tasks_of(piece);
        claimed.next += piece.len;
        piece.worker
    }
}

/// Claims tasks of the level. Returns whether any were left.
fn claim<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, pace: &Pace, claimed: &mut Claimed<T>) -> bool {
    // SAFETY: this worker is inside.
    let len = unsafe { shared.frontier() }.len;
    let count = pace.claim(len.saturating_sub(claimed.end), shared.workers());
    let first = shared.gate.claim(count);
    if first >= len {
        return false;
    }
    (claimed.next, claimed.end) = (first, len.min(first + count));
    true
}

/// Returns whether these tasks are worth the workers that are awake, or worth waking one. None are
/// after a stop.
#[cold]
#[inline(never)]
pub(super) fn is_worth_sharing<T, S, M, A, F>(shared: &Shared<T, S, M, A, F>, pace: &Pace, tasks: usize) -> bool {
    // Relaxed: a hint. The owner itself runs one of the tasks, of which there is at least one.
    let is_worth = || shared.searching.load(Ordering::Relaxed) > 0 || pace.useful_sleepers(tasks - 1) > 0;
    shared.workers() > 1 && is_worth() && !shared.is_over()
}
