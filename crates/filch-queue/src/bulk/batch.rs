//! Batches: tasks that are pushed or stolen in a single operation.

use alloc::vec::{self, Vec};
use core::fmt;
use core::iter::FusedIterator;
use core::mem;
use core::ptr;

use super::segment::{Run, Segment, MAX_SLOTS};

/// The minimum number of slots that a batch allocates when it grows task by task.
const fn min_slots<T>() -> u32 {
    if size_of::<T>() <= 1024 {
        8
    } else {
        1
    }
}

/// Tasks in order, pushed or stolen in a single operation.
///
/// The task that is pushed last onto a batch is the task that the owner pops first after the batch
/// is pushed into its queue. Iteration returns the tasks oldest first. The tasks do not move when
/// the batch grows, is pushed into a queue or is stolen, unless there are only a few.
///
/// ```
/// use filch_queue::bulk::Batch;
///
/// let mut batch: Batch<_> = ["oldest", "middle"].into_iter().collect();
/// batch.push("youngest");
/// assert_eq!(batch.len(), 3);
/// assert_eq!(batch.pop(), Some("youngest"));
/// assert!(batch.into_iter().eq(["oldest", "middle"]));
/// ```
pub struct Batch<T> {
    /// All runs but the youngest, oldest first. No run is empty.
    older: Vec<Run<T>>,
    youngest: Run<T>,
    /// The number of tasks in all runs.
    len: usize,
}

impl<T> Batch<T> {
    /// Creates a batch without tasks. It does not allocate.
    pub const fn new() -> Self {
        Batch { older: Vec::new(), youngest: Run::empty(), len: 0 }
    }

    /// Creates a batch with room for `capacity` tasks.
    ///
    /// The room is in a single piece if it is for fewer than 2^31 tasks.
    ///
    /// # Panics
    ///
    /// If there is not enough memory.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut batch = Batch::new();
        if capacity > 0 {
            batch.open(capacity);
        }
        batch
    }

    /// Creates a batch of these runs, oldest first, none of them empty.
    pub(super) fn of_runs(older: Vec<Run<T>>, youngest: Run<T>, len: usize) -> Self {
        Batch { older, youngest, len }
    }

    /// Adds a task as the youngest.
    ///
    /// # Panics
    ///
    /// If there is no memory left.
    #[inline]
    pub fn push(&mut self, task: T) {
        if self.youngest.room() == 0 {
            self.open(1);
        }
        // SAFETY: there is room, so there is a segment.
        unsafe { self.youngest.push(task) };
        self.len += 1;
    }

    /// Makes room for `more` tasks after the youngest.
    ///
    /// It makes room for fewer if a segment cannot hold that many. There is a segment afterwards.
    #[cold]
    #[inline(never)]
    fn open(&mut self, more: usize) {
        let more = more.min(MAX_SLOTS as usize) as u32;
        // At least as many slots as the batch has tasks, so that a batch of any length has few
        // runs. The size of the segment is no measure: it may be that of the queue that the batch
        // was stolen from.
        let capacity = if self.len == 0 {
            if more == 1 {
                min_slots::<T>()
            } else {
                more
            }
        } else {
            more.max(self.len.min(MAX_SLOTS as usize) as u32).clamp(min_slots::<T>(), MAX_SLOTS)
        };
        let segment = Segment::allocate(capacity)
            .or_else(|_| Segment::allocate(more))
            .unwrap_or_else(|error| panic!("the batch cannot grow: {error}"));
        // SAFETY: the segment is new, so all of its slots are the caller's.
        let youngest = unsafe { Run::new(segment, 0, 0, segment.capacity()) };
        let before = mem::replace(&mut self.youngest, youngest);
        if before.len() > 0 {
            self.older.push(before);
        }
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.youngest.len() == 0 {
            self.youngest = self.older.pop()?;
        }
        let task = self.youngest.pop();
        self.len -= 1;
        task
    }

    /// Returns the number of tasks.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the batch has no tasks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the tasks of another batch as the youngest, without moving them.
    ///
    /// ```
    /// use filch_queue::bulk::Batch;
    ///
    /// let mut batch = Batch::from(vec![1, 2]);
    /// batch.append(Batch::from(vec![3, 4]));
    /// assert!(batch.into_iter().eq([1, 2, 3, 4]));
    /// ```
    pub fn append(&mut self, mut other: Batch<T>) {
        if other.is_empty() {
            return;
        }
        let before = mem::replace(&mut self.youngest, mem::replace(&mut other.youngest, Run::empty()));
        if before.len() > 0 {
            self.older.push(before);
        }
        self.older.append(&mut other.older);
        self.len += mem::take(&mut other.len);
    }

    /// Returns an iterator over the tasks, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        let runs = self.older.iter().chain(Some(&self.youngest));
        runs.flat_map(|run| (0..run.len()).filter_map(|n| run.get(n)))
    }

    /// Returns the number of runs.
    pub(super) fn runs(&self) -> usize {
        self.older.len() + usize::from(self.youngest.len() > 0)
    }

    /// Returns the older runs, oldest first, and the youngest run.
    pub(super) fn into_runs(self) -> (Vec<Run<T>>, Run<T>) {
        (self.older, self.youngest)
    }
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Batch::new()
    }
}

impl<T> Extend<T> for Batch<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, tasks: I) {
        let tasks = tasks.into_iter();
        let expected = tasks.size_hint().0;
        if expected > self.youngest.room() as usize {
            self.open(expected);
        }
        tasks.for_each(|task| self.push(task));
    }
}

impl<T> FromIterator<T> for Batch<T> {
    fn from_iter<I: IntoIterator<Item = T>>(tasks: I) -> Self {
        let mut batch = Batch::new();
        batch.extend(tasks);
        batch
    }
}

impl<T> From<Vec<T>> for Batch<T> {
    /// Moves the tasks in bulk.
    ///
    /// The allocation of a `Vec` cannot be reused: it has no room for the header of a segment.
    fn from(mut tasks: Vec<T>) -> Self {
        let count = tasks.len();
        // SAFETY: fewer than there were. From now on the tasks are moved one segment at a time. If
        // memory runs out, the rest is leaked and not dropped twice.
        unsafe { tasks.set_len(0) };
        let mut batch = Batch::new();
        while batch.len < count {
            let from = batch.len;
            batch.open(count - from);
            let moved = (count - from).min(batch.youngest.room() as usize);
            // SAFETY: the run is empty and has room for `moved` tasks, and that many were not moved
            // yet.
            unsafe {
                #[cfg(not(loom))]
                ptr::copy_nonoverlapping(tasks.as_ptr().add(from), batch.youngest.slot(0).cast_mut().cast(), moved);
                #[cfg(loom)]
                for n in 0..moved {
                    (*batch.youngest.slot(n as u32)).write(ptr::read(tasks.as_ptr().add(from + n)));
                }
                batch.youngest.lengthen(moved as u32);
            }
            batch.len += moved;
        }
        batch
    }
}

impl<T> IntoIterator for Batch<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        let mut older = self.older.into_iter();
        let mut youngest = Some(self.youngest);
        let oldest = older.next().or_else(|| youngest.take()).unwrap_or(Run::empty());
        IntoIter { oldest, older, youngest: youngest.unwrap_or(Run::empty()), len: self.len }
    }
}

impl<T> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("len", &self.len).finish_non_exhaustive()
    }
}

/// An iterator over the tasks of a batch, oldest first.
pub struct IntoIter<T> {
    oldest: Run<T>,
    older: vec::IntoIter<Run<T>>,
    youngest: Run<T>,
    len: usize,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if let Some(task) = self.oldest.pop_oldest() {
                self.len -= 1;
                return Some(task);
            }
            if self.len == 0 {
                return None;
            }
            self.oldest = self.older.next().unwrap_or_else(|| mem::replace(&mut self.youngest, Run::empty()));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::IntoIter").field("len", &self.len).finish_non_exhaustive()
    }
}

// SAFETY: tasks move between threads. A run's slots are its own, and a segment's count is atomic.
unsafe impl<T: Send> Send for Batch<T> {}
// SAFETY: a shared batch only gives shared access to its tasks.
unsafe impl<T: Sync> Sync for Batch<T> {}
// SAFETY: as a batch.
unsafe impl<T: Send> Send for IntoIter<T> {}
// SAFETY: as a batch.
unsafe impl<T: Sync> Sync for IntoIter<T> {}
