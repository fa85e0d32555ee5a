//! Explorations level by level: what the tasks of a level push runs in the next one.
//!
//! Each worker pushes into a buffer of its own, a plain vector. The buffers of all workers are the
//! next level; they are not copied into one. Workers claim the tasks of a level in chunks, from one
//! cursor. The last worker that leaves a level owns the next.
//!
//! | file | what |
//! |---|---|
//! | `gate.rs` | entering and leaving a level, claims, and why no task runs before its level |
//! | `tasks.rs`, `shared.rs` | the tasks of a level, and who may read them; the state that workers share |
//! | `run_loop.rs` | the loop of a worker on a thread |
//! | `pace.rs` | what a worker measures: the size of claims, and whether a level is worth sharing |
//! | `idle.rs` | the workers that are on no thread |
//! | `explorer.rs` | the worker as a task sees it |
//!
//! **Small levels.** The owner runs a level alone, with no atomic access but the look at a flag
//! before each task, unless the level is worth sharing. So it runs any number of small levels in one
//! loop. If the rest of a level is worth sharing, the owner opens the gate for it.
//!
//! **No thread waits for long.** A worker that finds no task in an open level waits for the next: it
//! looks 32 times in a spin loop, and then 256 times with a yield in between. On a machine with
//! nothing else to do that takes some tens of microseconds, about as long as a wake-up. Then it
//! joins the list of idle workers, and its thread goes back to the pool. An owner that opens the
//! gate takes workers from that list, one for each ten microseconds of tasks less those that search,
//! and spawns each into the scope of the exploration. If it has not measured its tasks yet, it takes
//! one. Workers inside take more if the tasks that are left need more: when they were woken, and
//! when they look at the clock. The end of the scope is the end of the exploration.
//!
//! **A stop** is a flag that each worker looks at before each task. A worker that has seen it drops
//! the tasks that it has claimed, and leaves. The tasks that no worker has claimed are dropped when
//! all have left. A panic in a task stops the exploration, too.

mod explorer;
mod gate;
mod idle;
mod pace;
mod run_loop;
mod shared;
mod tasks;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

pub use explorer::{LevelExplorer, LevelPusher};
#[cfg(all(loom, test))]
pub(crate) use gate::{Gate, Opening};
#[cfg(all(loom, test))]
pub(crate) use idle::IdleWorkers;

use super::explored::Explored;
use super::prefetch::Ahead;
use super::Explore;
use run_loop::{Local, Place};
use shared::Shared;

impl<P, K, M> Explore<'_, P, K, M> {
    /// Runs `visit` on each root and on each task that it pushes, level by level.
    ///
    /// The roots are level 0. A task that is pushed by a visit of one level runs in the next, after
    /// all tasks of its level have ended. What a visit has written is visible to all visits of later
    /// levels. Each task runs once.
    ///
    /// ```
    /// use filch::explore::Explore;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// // The steps from 0 to each number, by adding one or doubling.
    /// let steps: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(usize::MAX)).collect();
    /// let _ = Explore::exactly_once().run_by_level([0usize], |n, worker| {
    ///     let level = worker.level();
    ///     if n < 1000 && steps[n].fetch_min(level, Ordering::Relaxed) > level {
    ///         worker.push_all([n + 1, 2 * n]);
    ///     }
    /// });
    /// assert_eq!(steps[1].load(Ordering::Relaxed), 1);
    /// assert_eq!(steps[999].load(Ordering::Relaxed), 17);
    /// ```
    ///
    /// It is good for breadth-first searches, and for worklists with levels of thousands of short
    /// tasks: a push is that of a vector, and workers claim tasks in chunks. Levels that take less
    /// than some microseconds run on one worker, which does not synchronize with the others. So a
    /// million levels of a short task each take some milliseconds.
    ///
    /// - There are no queues. The [kind of the queues](Explore::queue) has no effect, and neither has
    ///   the promise: each task runs once also with [`at_least_once`](Explore::at_least_once).
    /// - A visit must not wait for another task of the exploration: that may be behind it on the same
    ///   worker. It may use the pool in any other way.
    /// - A level lasts as long as its longest task. If tasks suddenly take much longer than those
    ///   before, a worker runs up to 2,048 of them that no other worker can take.
    /// - Each worker has two vectors, one for the current level and one for the next. They grow like
    ///   any vector, and keep their memory until the end of the exploration. So a worker can hold up
    ///   to four times as much memory as the most tasks need that it has pushed in one level.
    ///
    /// In the [counts](super::Counts) of a worker, the steals are those of its tasks that other
    /// workers have pushed. The longest queue is the most tasks that it has pushed for one level. For
    /// the first worker the roots count as such a level.
    ///
    /// # Panics
    ///
    /// As for [`explore`](crate::explore()).
    pub fn run_by_level<T, S, F>(self, roots: impl IntoIterator<Item = T>, visit: F) -> Explored<S>
    where
        T: Send,
        S: Send,
        M: Fn(usize) -> S + Sync,
        F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
    {
        self.run_by_level_with_prefetch(roots, |_: &T, _| {}, visit)
    }

    /// Runs like [`run_by_level`](Explore::run_by_level), and fetches ahead what tasks need.
    ///
    /// The tasks of a level are known before they run. So a worker can call `prefetch` on a task
    /// that it runs [sixteen tasks later](Ahead::Far), and once more [eight tasks
    /// later](Ahead::Near). That calls [`prefetch`](crate::explore::prefetch()) on the addresses that
    /// the visit of that task will read. It pays if the data of the tasks does not fit the cache and
    /// the CPU cannot guess the addresses.
    ///
    /// ```
    /// use filch::explore::{prefetch, Ahead, Explore};
    ///
    /// // Each page has a text, and the number of another one.
    /// let pages: Vec<(String, usize)> = (0..1000).map(|n| (format!("page {n}"), n * 7 % 1000)).collect();
    /// let explored = Explore::exactly_once().state(|_| 0).run_by_level_with_prefetch(
    ///     0..100usize,
    ///     |&page, ahead| match ahead {
    ///         Ahead::Far => prefetch(&raw const pages[page]),
    ///         Ahead::Near => prefetch(pages[page].0.as_ptr()),
    ///     },
    ///     |page, worker| {
    ///         let (text, next) = &pages[page];
    ///         *worker.state() += text.len();
    ///         worker.push_all((worker.level() < 5).then_some(*next));
    ///     },
    /// );
    /// assert_eq!(explored.total().tasks, 600);
    /// ```
    ///
    /// Not every task is fetched for: not the first of a claim, and none of a level of few tasks.
    /// The worker that has called `prefetch` for a task runs it, unless the level is shared or the
    /// exploration is stopped in between.
    ///
    /// # Panics
    ///
    /// As for [`explore`](crate::explore()).
    pub fn run_by_level_with_prefetch<T, S, A, F>(
        self,
        roots: impl IntoIterator<Item = T>,
        prefetch: A,
        visit: F,
    ) -> Explored<S>
    where
        T: Send,
        S: Send,
        M: Fn(usize) -> S + Sync,
        A: Fn(&T, Ahead) + Sync,
        F: Fn(T, &mut LevelExplorer<'_, T, S>) + Sync,
    {
        let explorers = self.max_workers();
        let roots: Vec<T> = roots.into_iter().collect();
        let first = Local::first(roots.len());
        let shared = Shared::new(roots, explorers, self.limits, self.state, prefetch, visit);
        let go = || crate::scope(|scope| run_loop::run(&shared, scope, first, Place::Owner));
        match self.pool {
            Some(pool) => pool.install(go),
            None => go(),
        }
        shared.into_explored()
    }
}
