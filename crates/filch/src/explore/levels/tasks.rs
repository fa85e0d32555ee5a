//! The tasks of a level: which buffers they are in, and who may read them.
//!
//! A buffer of the current level has the length zero, although its tasks are there. Each task is
//! read by the worker that has claimed its position, once.

use std::marker::PhantomData;
use std::mem::forget;

/// Where the tasks of the current level are: parts, of which each is one worker's buffer.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    /// The number of the level.
    pub(super) level: usize,
    /// The number of its tasks.
    pub(super) len: usize,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// The position of its first task.
    first: usize,
    /// The worker whose buffer it is.
    worker: usize,
}

/// Some positions of a level, all in one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The worker whose buffer it is.
    pub(super) worker: usize,
    /// The first of its tasks in that buffer.
    pub(super) first: usize,
    pub(super) len: usize,
}

impl Frontier {
    /// Makes this a level without tasks.
    pub(super) fn clear(&mut self, level: usize) {
        self.level = level;
        self.len = 0;
        self.parts.clear();
    }

    /// Adds the buffer of a worker.
    pub(super) fn add(&mut self, worker: usize, len: usize) {
        if len > 0 {
            self.parts.push(Part { first: self.len, worker });
            self.len += len;
        }
    }

    /// Returns the piece at a position before `end`, up to there or to the end of its part.
    pub(super) fn piece(&self, position: usize, end: usize) -> Piece {
        let at = self.parts.partition_point(|part| part.first <= position) - 1;
        let Part { first, worker } = self.parts[at];
        let part_end = self.parts.get(at + 1).map_or(self.len, |next| next.first);
        Piece { worker, first: position - first, len: end.min(part_end) - position }
    }
}

/// Tasks that belong to the holder, in a buffer that stays where it is. The tasks that are left are
/// dropped with it.
pub(super) struct Tasks<T> {
    buffer: *const T,
    next: usize,
    end: usize,
    owns: PhantomData<T>,
}

impl<T> Tasks<T> {
    /// Returns no tasks.
    pub(super) fn none() -> Self {
        Tasks { buffer: std::ptr::null(), next: 0, end: 0, owns: PhantomData }
    }

    /// Takes these tasks of a buffer.
    ///
    /// # Safety
    ///
    /// They are in the buffer, no other `Tasks` has them, and no task is moved or dropped otherwise.
    /// Until all are taken, the buffer is not changed.
    pub(super) unsafe fn new(buffer: *const T, first: usize, len: usize) -> Self {
        Tasks { buffer, next: first, end: first + len, owns: PhantomData }
    }

    /// Takes all tasks of a buffer, whose length is zero then.
    ///
    /// # Safety
    ///
    /// Until all are taken, the buffer is not changed.
    #[inline(always)]
    pub(super) unsafe fn all_of(buffer: &mut Vec<T>) -> Self {
        let len = buffer.len();
        // SAFETY: zero is not too long. From here on the tasks belong to the result.
        unsafe { buffer.set_len(0) };
        Tasks { buffer: buffer.as_ptr(), next: 0, end: len, owns: PhantomData }
    }

    /// Returns the number of tasks that are left.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.end - self.next
    }

    /// Returns the task that comes after this many others.
    #[inline(always)]
    pub(super) fn peek(&self, ahead: usize) -> Option<&T> {
        // SAFETY: it belongs to this, and was not taken.
        (ahead < self.len()).then(|| unsafe { &*self.buffer.add(self.next + ahead) })
    }

    /// Gives all tasks up, without a drop. Returns where the first of them is in the buffer.
    pub(super) fn give_back(&mut self) -> usize {
        std::mem::replace(&mut self.next, self.end)
    }
}

impl<T> Iterator for Tasks<T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let at = self.next;
        if at == self.end {
            return None;
        }
        self.next = at + 1;
        // SAFETY: the task is in the buffer and belongs to this, and it is read once.
        Some(unsafe { self.buffer.add(at).read() })
    }
}

impl<T> Drop for Tasks<T> {
    fn drop(&mut self) {
        /// Drops the rest if the drop of a task panics.
        struct Rest<'a, T>(&'a mut Tasks<T>);
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                self.0.for_each(drop);
            }
        }
        while let Some(task) = self.next() {
            let rest = Rest(self);
            drop(task);
            forget(rest);
        }
    }
}
