//! The state that the workers of an exploration by level share.

use std::cell::UnsafeCell;
use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::gate::Gate;
use super::idle::IdleWorkers;
use super::run_loop::Local;
use super::tasks::{Frontier, Piece, Tasks};
use crate::explore::explored::{Ending, Explored};
use crate::explore::explorer::Stop;
use crate::explore::results::Results;
use crate::explore::shared::Limits;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::unwind;

/// The state that the workers of one exploration share.
pub(super) struct Shared<T, S, M, A, F> {
    pub(super) gate: Gate,
    /// Read by the workers inside, changed by the owner of a closed gate.
    frontier: UnsafeCell<Frontier>,
    /// The buffers of each worker.
    buffers: Box<[CachePadded<Buffers<T>>]>,
    pub(super) idle: IdleWorkers<Local<S>>,
    /// The number of workers that are awake and wait for a level.
    pub(super) searching: CachePadded<AtomicUsize>,
    /// The workers that were woken and have not begun to search.
    pub(super) coming: CachePadded<AtomicUsize>,
    /// Whether no task is left, or the exploration was stopped. Read before each task.
    over: CachePadded<AtomicBool>,
    pub(super) limits: Limits,
    pub(super) results: Results<S>,
    pub(super) state: M,
    pub(super) prefetch: A,
    pub(super) visit: F,
}

/// The buffers of a worker. They change places with each level, and keep their memory until the
/// exploration ends.
struct Buffers<T> {
    /// Its part of the current level. The length is zero, and the tasks belong to the level.
    current: UnsafeCell<Vec<T>>,
    /// What it has pushed for the next level.
    next: UnsafeCell<Vec<T>>,
}

// SAFETY: tasks move between threads. The gate separates the uses of the cells: see `gate`. Each
// worker inside uses its own buffer for the next level, and the tasks that it has claimed.
unsafe impl<T: Send, S: Send, M: Sync, A: Sync, F: Sync> Sync for Shared<T, S, M, A, F> {}

impl<T, S, M, A, F> Shared<T, S, M, A, F> {
    /// Returns the state of an exploration with these roots, whose gate is closed.
    pub(super) fn new(roots: Vec<T>, explorers: usize, limits: Limits, state: M, prefetch: A, visit: F) -> Self {
        let mut roots = Some(roots);
        let buffers = (0..explorers).map(|_| {
            let next = UnsafeCell::new(roots.take().unwrap_or_default());
            CachePadded::new(Buffers { current: UnsafeCell::new(Vec::new()), next })
        });
        let mut shared = Shared {
            gate: Gate::new(),
            frontier: UnsafeCell::default(),
            buffers: buffers.collect(),
            idle: IdleWorkers::new((1..explorers).map(Local::new).collect()),
            searching: CachePadded::new(AtomicUsize::new(0)),
            coming: CachePadded::new(AtomicUsize::new(0)),
            over: CachePadded::new(AtomicBool::new(false)),
            limits,
            results: Results::new(explorers),
            state,
            prefetch,
            visit,
        };
        shared.frontier.get_mut().level = usize::MAX;
        // SAFETY: this is the owner.
        unsafe { shared.begin_next_level() };
        shared
    }

    pub(super) fn workers(&self) -> usize {
        self.buffers.len()
    }

    /// Returns the current level.
    ///
    /// # Safety
    ///
    /// The caller is inside, or is the owner and does not change it meanwhile.
    pub(super) unsafe fn frontier(&self) -> &Frontier {
        // SAFETY: no worker changes it.
        unsafe { &*self.frontier.get() }
    }

    /// Returns the current level, to change it.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and has no other reference to it.
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees that there is no other")]
    pub(super) unsafe fn frontier_mut(&self) -> &mut Frontier {
        // SAFETY: no other worker reads it.
        unsafe { &mut *self.frontier.get() }
    }

    /// Returns the buffer for what a worker pushes.
    ///
    /// # Safety
    ///
    /// The caller is that worker, is inside or the owner, and has no other reference to it.
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees that there is no other")]
    pub(super) unsafe fn next_of(&self, worker: usize) -> &mut Vec<T> {
        // SAFETY: no other worker uses it.
        unsafe { &mut *self.buffers[worker].next.get() }
    }

    /// Returns the buffer with a worker's part of the level.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and has no other reference to it.
    #[expect(clippy::mut_from_ref, reason = "the caller guarantees that there is no other")]
    pub(super) unsafe fn current_of(&self, worker: usize) -> &mut Vec<T> {
        // SAFETY: no other worker uses it.
        unsafe { &mut *self.buffers[worker].current.get() }
    }

    /// Returns the tasks of a piece.
    ///
    /// # Safety
    ///
    /// The caller has claimed them, and is inside or the owner until they are taken.
    pub(super) unsafe fn tasks_of(&self, piece: Piece) -> Tasks<T> {
        // SAFETY: the buffer does not change while a worker is inside.
        let buffer = unsafe { &*self.buffers[piece.worker].current.get() };
        // SAFETY: the piece is of the level, whose tasks were written and belong to the claims.
        unsafe { Tasks::new(buffer.as_ptr(), piece.first, piece.len) }
    }

    /// Makes what all workers have pushed the current level.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and all tasks of the level before have ended.
    pub(super) unsafe fn begin_next_level(&self) {
        // SAFETY: this is the owner.
        let frontier = unsafe { self.frontier_mut() };
        frontier.clear(frontier.level.wrapping_add(1));
        for worker in 0..self.workers() {
            // SAFETY: this is the owner, and no worker is inside.
            let (next, current) = unsafe { (self.next_of(worker), self.current_of(worker)) };
            frontier.add(worker, next.len());
            std::mem::swap(next, current);
            // SAFETY: the length is not too long. The tasks belong to the level now.
            unsafe { current.set_len(0) };
        }
        self.gate.set_cursor(0);
    }

    /// Ends the exploration.
    pub(super) fn finish(&self) {
        // Release: a thread that sees it sees all that was done.
        self.over.store(true, Ordering::Release);
    }

    /// Returns whether the exploration is over, or was stopped.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Ends the exploration early. The first reason counts.
    #[cold]
    pub(super) fn stop(&self, ending: Ending) {
        self.results.end(ending);
        self.finish();
    }

    /// Stops the exploration if it has reached a limit.
    pub(super) fn check_limits(&self, now: impl FnOnce() -> Instant) {
        if let Some(ending) = self.limits.reached(now) {
            self.stop(ending);
        }
    }

    /// Returns the result, when all workers have left. Drops the tasks that no worker took, and
    /// resumes a panic.
    pub(super) fn into_explored(mut self) -> Explored<S> {
        let mut position = self.gate.cursor();
        let frontier = std::mem::take(self.frontier.get_mut());
        while position < frontier.len {
            let piece = frontier.piece(position, frontier.len);
            // SAFETY: no worker has claimed it, and all have left.
            let tasks = unsafe { self.tasks_of(piece) };
            unwind::catch(|| drop(tasks)).unwrap_or_else(|panic| self.results.keep_panic(panic));
            position += piece.len;
        }
        let Shared { buffers, idle, results, .. } = self;
        for buffers in buffers {
            let mut pushed = CachePadded::into_inner(buffers).next.into_inner();
            // SAFETY: the buffer is not changed before it is dropped.
            let tasks = unsafe { Tasks::all_of(&mut pushed) };
            unwind::catch(|| drop(tasks)).unwrap_or_else(|panic| results.keep_panic(panic));
        }
        idle.into_workers().into_iter().for_each(|local| results.add(local.end()));
        results.into_explored()
    }
}

impl<T: Send, S: Send, M: Sync, A: Sync, F: Sync> Stop for Shared<T, S, M, A, F> {
    fn stop(&self) {
        self.stop(Ending::Stopped);
    }

    fn is_stopped(&self) -> bool {
        self.check_limits(Instant::now);
        self.is_over()
    }
}
