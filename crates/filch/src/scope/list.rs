//! The scopes of a pool that have had tasks to give away.

use std::cell::RefCell;

use super::tasks::{Task, Tasks};
use crate::lineage::Lineage;
use crate::seat::Seat;
use crate::sync::{AtomicUsize, Ordering, RwLock};

/// See the module.
#[derive(Debug)]
pub(crate) struct Scopes {
    count: AtomicUsize,
    list: RwLock<Vec<*const Tasks>>,
}

// SAFETY: a scope takes itself off the list, under its lock, before it goes away.
unsafe impl Sync for Scopes {}
// SAFETY: as above.
unsafe impl Send for Scopes {}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes { count: AtomicUsize::new(0), list: RwLock::new(Vec::new()) }
    }

    fn write<R>(&self, f: impl FnOnce(&mut Vec<*const Tasks>) -> R) -> R {
        match self.list.write() {
            Ok(mut list) => f(&mut list),
            Err(poisoned) => f(&mut poisoned.into_inner()),
        }
    }

    fn read<R>(&self, f: impl FnOnce(&[*const Tasks]) -> R) -> R {
        match self.list.read() {
            Ok(list) => f(&list),
            Err(poisoned) => f(&poisoned.into_inner()),
        }
    }

    pub(super) fn add(&self, tasks: &Tasks) {
        self.write(|list| {
            // Relaxed: under the lock. Release: for the look without it.
            if !tasks.listed.swap(true, Ordering::Release) {
                list.push(tasks);
                self.count.store(list.len(), Ordering::SeqCst);
            }
        });
    }

    pub(super) fn remove(&self, tasks: &Tasks) {
        // Relaxed: all tasks are over, so nobody adds any more, and those that did are known here.
        if tasks.listed.load(Ordering::Relaxed) {
            self.write(|list| {
                list.retain(|&listed| !std::ptr::eq(listed, tasks));
                self.count.store(list.len(), Ordering::SeqCst);
            });
        }
    }

    fn find<R>(&self, f: impl Fn(&Tasks) -> Option<R>) -> Option<R> {
        // Loom's models have no scopes, and each look at what is always empty would double the ways to go through them.
        if cfg!(loom) || self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        // SAFETY: a scope on the list is alive, and cannot leave it while the lock is held.
        self.read(|list| list.iter().find_map(|&tasks| f(unsafe { &*tasks })))
    }

    /// The oldest task in the queue of some scope.
    pub(crate) fn take(&self) -> Option<Task> {
        self.find(Tasks::take_queued)
    }

    /// The same, of a scope whose end the worker of `seat` will wait for.
    pub(crate) fn take_own(&self, seat: &Seat) -> Option<Task> {
        self.find(|tasks| tasks.is_owned_by(seat).then(|| tasks.take_queued()).flatten())
    }

    /// A task of a scope of such a lineage, for the worker of `seat`, which may run no others.
    pub(crate) fn take_needed(&self, seat: &Seat, is_needed: impl Fn(Lineage) -> bool) -> Option<Task> {
        let others = RefCell::new(Vec::new());
        let take = |tasks: &Tasks| tasks.take_past(seat, &mut others.borrow_mut());
        let task = self.find(|tasks| is_needed(tasks.lineage()).then(|| take(tasks)).flatten());
        // Not while the list is locked.
        others.into_inner().into_iter().for_each(Task::set_aside);
        task
    }

    /// Whether some scope of such a lineage has a task that no worker has taken.
    pub(crate) fn have_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> bool {
        self.find(|tasks| (tasks.are_waiting() && is_needed(tasks.lineage())).then_some(())).is_some()
    }

    /// Whether some scope has a task that nobody has taken.
    pub(crate) fn are_waiting(&self) -> bool {
        self.find(|tasks| tasks.are_waiting().then_some(())).is_some()
    }
}
