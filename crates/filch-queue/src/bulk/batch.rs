//! What is pushed and stolen in one operation.

use alloc::vec::{self, Vec};
use core::fmt;
use core::iter::FusedIterator;
use core::mem;
use core::ptr;

use super::segment::{Run, Segment, MOST_SLOTS};

/// The fewest slots that a batch asks for when it grows task by task.
const fn fewest_slots<T>() -> u32 {
    if size_of::<T>() <= 1024 {
        8
    } else {
        1
    }
}

/// Tasks in order, to be pushed in one operation; or those that were stolen in one.
///
/// What is pushed last onto a batch is what the owner of a queue pops first, once the batch is pushed there. A batch gives out its tasks, oldest first, as an
/// iterator. Its tasks do not move when it grows, nor when it is pushed into a queue, nor when it was stolen from one, unless there are only a few.
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
    /// All but the youngest, oldest first. None is empty.
    older: Vec<Run<T>>,
    youngest: Run<T>,
    /// The slots of the youngest run's segment from its end up to here are the batch's to fill.
    limit: u32,
    /// Of all runs.
    len: usize,
}

impl<T> Batch<T> {
    /// A batch without tasks; it allocates nothing yet.
    pub const fn new() -> Self {
        Batch { older: Vec::new(), youngest: Run::empty(), limit: 0, len: 0 }
    }

    /// A batch with room for so many tasks, in one piece if they are fewer than 2^31.
    ///
    /// # Panics
    ///
    /// If there is no memory for so many.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut batch = Batch::new();
        if capacity > 0 {
            batch.open(capacity);
        }
        batch
    }

    /// A batch of these runs, oldest first, none of them empty.
    pub(super) fn of_runs(older: Vec<Run<T>>, youngest: Run<T>, len: usize) -> Self {
        let limit = youngest.end();
        Batch { older, youngest, limit, len }
    }

    /// Adds a task: the youngest.
    ///
    /// # Panics
    ///
    /// If there is no memory left.
    #[inline]
    pub fn push(&mut self, task: T) {
        if self.youngest.end() == self.limit {
            self.open(1);
        }
        // SAFETY: a limit beyond the end means that there is a segment and that the next slot is the batch's.
        unsafe { self.youngest.push(task) };
        self.len += 1;
    }

    /// Makes room for `more` tasks, or as many as fit in a segment, behind the youngest. There is a segment afterwards.
    #[cold]
    #[inline(never)]
    fn open(&mut self, more: usize) {
        let more = more.min(MOST_SLOTS as usize) as u32;
        // As many as there are, so that a batch of any length is a few runs. Not by the size of the segment, which may be that of the queue it was stolen from.
        let capacity = if self.len == 0 {
            if more == 1 {
                fewest_slots::<T>()
            } else {
                more
            }
        } else {
            more.max(self.len.min(MOST_SLOTS as usize) as u32).clamp(fewest_slots::<T>(), MOST_SLOTS)
        };
        let segment = Segment::allocate(capacity)
            .or_else(|_| Segment::allocate(more))
            .unwrap_or_else(|error| panic!("the batch cannot grow: {error}"));
        // SAFETY: no slot is counted yet, and the caller is the segment's only party.
        let before = mem::replace(&mut self.youngest, unsafe { Run::new(segment, 0, 0) });
        self.limit = self.youngest.capacity();
        if before.len() > 0 {
            self.older.push(before);
        }
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.youngest.len() == 0 {
            self.youngest = self.older.pop()?;
            self.limit = self.youngest.end();
        }
        let task = self.youngest.pop();
        self.len -= 1;
        task
    }

    /// How many tasks there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the tasks of another batch, which are younger than those here, without moving them.
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
        self.limit = mem::take(&mut other.limit);
        self.len += mem::take(&mut other.len);
    }

    /// The tasks, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        let runs = self.older.iter().chain(Some(&self.youngest));
        runs.flat_map(|run| (0..run.len()).filter_map(|n| run.get(n)))
    }

    /// In how many runs the tasks lie.
    pub(super) fn runs(&self) -> usize {
        self.older.len() + usize::from(self.youngest.len() > 0)
    }

    /// The older runs, oldest first, then the youngest and up to which slot it may be filled.
    pub(super) fn into_runs(self) -> (Vec<Run<T>>, Run<T>, u32) {
        (self.older, self.youngest, self.limit)
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
        if expected > (self.limit - self.youngest.end()) as usize {
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
    /// Moves the tasks over, all at once; the allocation of a `Vec` has no room for what a batch notes beside its tasks.
    fn from(mut tasks: Vec<T>) -> Self {
        let count = tasks.len();
        // SAFETY: fewer than there were. From now on the tasks are moved one stretch at a time; if there is no memory, the rest is forgotten rather than dropped twice.
        unsafe { tasks.set_len(0) };
        let mut batch = Batch::new();
        while batch.len < count {
            let from = batch.len;
            batch.open(count - from);
            let moved = (count - from).min(batch.limit as usize);
            // SAFETY: the run is empty and has room for so many, and so many were not moved yet.
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

/// The tasks of a batch, oldest first.
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

// SAFETY: tasks move between threads; a run's slots are its own, and a segment's count is atomic.
unsafe impl<T: Send> Send for Batch<T> {}
// SAFETY: a shared batch only shows its tasks.
unsafe impl<T: Sync> Sync for Batch<T> {}
// SAFETY: as a batch.
unsafe impl<T: Send> Send for IntoIter<T> {}
// SAFETY: as a batch.
unsafe impl<T: Sync> Sync for IntoIter<T> {}
