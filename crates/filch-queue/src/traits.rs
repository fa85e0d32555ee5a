//! The traits that all queues implement, for code that is generic over queues.

use crate::{PushError, Steal};

/// The owner's side of a queue: pushes and pops on one thread at a time.
///
/// Every queue also has these as inherent methods; the trait is for generic code.
///
/// ```
/// use filch_queue::{chase_lev, idempotent, Owner};
///
/// fn drain<Q: Owner<Task = u32>>(owner: &Q) -> u32 {
///     std::iter::from_fn(|| owner.pop()).sum()
/// }
///
/// let (exact, _thief) = chase_lev::new();
/// let (relaxed, _thief) = idempotent::lifo::new();
/// for n in 0..10 {
///     exact.push(n);
///     relaxed.push(n);
/// }
/// assert_eq!(drain(&exact), drain(&relaxed));
/// ```
pub trait Owner {
    /// The type of the tasks in the queue.
    type Task;

    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or memory is exhausted. [`try_push`](Owner::try_push)
    /// returns the task instead.
    fn push(&self, task: Self::Task);

    /// Adds a task, or returns it in an error if it cannot be added.
    ///
    /// This happens if the queue is at its size limit or memory is exhausted.
    ///
    /// A returned task is not in the queue. If this or [`push`](Owner::push) panics, generic code
    /// cannot tell whether the task is in the queue. The queues of this crate add no task in a call
    /// that panics.
    fn try_push(&self, task: Self::Task) -> Result<(), PushError<Self::Task>>;

    /// Takes a task, or returns `None` if no task is left for the owner.
    fn pop(&self) -> Option<Self::Task>;

    /// Adds a task like [`try_push`](Owner::try_push). Returns whether its client should look for
    /// thieves that wait for work.
    ///
    /// A queue that cannot tell returns true each time, as this default does. A wrapper of another
    /// queue forwards this and [`raise_alarm`](Thief::raise_alarm), or neither. A queue with an alarm
    /// switches [the alarm](Thief::raise_alarm) off, and returns whether it was on.
    #[inline]
    fn try_push_and_look(&self, task: Self::Task) -> Result<bool, PushError<Self::Task>> {
        self.try_push(task).map(|()| true)
    }

    /// Takes a task like [`pop`](Owner::pop). Returns, too, whether its client should look whether
    /// its work is to end.
    ///
    /// A queue that cannot tell returns true each time, as this default does. A queue with an alarm
    /// returns true at least once after it was raised, if tasks are left. The alarm stays on for the
    /// next push.
    #[inline]
    fn pop_and_look(&self) -> (Option<Self::Task>, bool) {
        (self.pop(), true)
    }

    /// Returns the number of tasks in the queue a moment ago: a hint.
    fn len(&self) -> usize;

    /// Returns whether the queue was empty a moment ago: a hint.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A thief's side of a queue: steals on any number of threads.
///
/// Each thread uses a clone or a shared reference.
pub trait Thief: Clone {
    /// The type of the tasks in the queue.
    type Task;

    /// Tries once to take a task.
    fn steal(&self) -> Steal<Self::Task>;

    /// Tries once to take a task, and never waits for the owner.
    ///
    /// In [`thep`](crate::thep), where [`steal`](Thief::steal) would wait, this aborts after a
    /// moment. In all other queues of this crate it is [`steal`](Thief::steal).
    #[inline]
    fn steal_or_abort(&self) -> Steal<Self::Task> {
        self.steal()
    }

    /// Makes the client of the owner look at its next push, and at its next pop.
    ///
    /// By default this does nothing, for queues whose owners always look. A thief raises the alarm,
    /// makes the owner pass a full barrier, and looks at the queue. Then it finds a task that was
    /// pushed, or the owner finds the alarm.
    #[inline]
    fn raise_alarm(&self) {}

    /// Returns the number of tasks in the queue a moment ago: a hint.
    fn len(&self) -> usize;

    /// Returns whether the queue was empty a moment ago: a hint.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// No task is lost: each is extracted once or more often.
///
/// This holds as long as the owner keeps popping. An extracted task is always a whole task that was
/// pushed.
pub trait AtLeastOnce {}

/// No task is lost and none is extracted twice.
///
/// # Safety
///
/// Generic code may rely on this for memory safety. A task may be the only pointer to an
/// allocation, and to extract it twice would free it twice. Implement this trait, on the owner's
/// and the thief's type, only if no execution extracts a task twice on any machine on which the
/// type can be constructed without breaking a written contract.
///
/// A task that [`try_push`](Owner::try_push) returns counts as extracted: no later pop or steal
/// returns it.
///
/// Every method may panic. A task that was in the queue, or was being added, may then be extracted
/// later or be lost, but is still not extracted twice.
pub unsafe trait ExactlyOnce: AtLeastOnce {}

/// Implements the rest of a queue's public interface, given `try_push`, `pop` and `steal`.
///
/// That is the other methods, the traits above, `Clone`, `Debug`, `Send` and `Sync`. The number of
/// tasks comes from `shared.len()`, or from the two closures.
macro_rules! queue_shape {
    ($name:literal, <$T:ident $(: $task:path)? $(, $K:ident: $kind:path)?>) => {
        queue_shape!(
            $name, <$T $(: $task)? $(, $K: $kind)?>, |owner: &Self| owner.shared.len(), |thief: &Self| thief.shared.len()
        );
    };
    (
        $name:literal, <$T:ident $(: $task:path)? $(, $K:ident: $kind:path)?>, $owner_len:expr, $thief_len:expr
        $(, steal_or_abort: $steal_or_abort:expr)?
    ) => {
        impl<$T $(: $task)? $(, $K: $kind)?> Owner<$T $(, $K)?> {
            /// Adds a task.
            ///
            /// # Panics
            ///
            /// If the queue is at its size limit or there is no memory left to grow.
            /// [`try_push`](Owner::try_push) returns the task instead.
            #[inline]
            pub fn push(&self, task: $T) {
                if let Err(error) = self.try_push(task) {
                    crate::error::panic_with(error);
                }
            }

            /// Returns the number of tasks in the queue a moment ago.
            #[inline]
            pub fn len(&self) -> usize {
                ($owner_len)(self)
            }

            /// Returns whether the queue was empty a moment ago.
            #[inline]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> Thief<$T $(, $K)?> {
            /// Returns the number of tasks in the queue a moment ago.
            #[inline]
            pub fn len(&self) -> usize {
                ($thief_len)(self)
            }

            /// Returns whether the queue was empty a moment ago.
            #[inline]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> crate::Owner for Owner<$T $(, $K)?> {
            type Task = $T;

            #[inline]
            fn push(&self, task: $T) {
                Owner::push(self, task)
            }

            #[inline]
            fn try_push(&self, task: $T) -> Result<(), crate::PushError<$T>> {
                Owner::try_push(self, task)
            }

            #[inline]
            fn pop(&self) -> Option<$T> {
                Owner::pop(self)
            }

            #[inline]
            fn len(&self) -> usize {
                Owner::len(self)
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> crate::Thief for Thief<$T $(, $K)?> {
            type Task = $T;

            #[inline]
            fn steal(&self) -> crate::Steal<$T> {
                Thief::steal(self)
            }

            $(
                #[inline]
                fn steal_or_abort(&self) -> crate::Steal<$T> {
                    ($steal_or_abort)(self)
                }
            )?

            #[inline]
            fn len(&self) -> usize {
                Thief::len(self)
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> crate::AtLeastOnce for Owner<$T $(, $K)?> {}
        impl<$T $(: $task)? $(, $K: $kind)?> crate::AtLeastOnce for Thief<$T $(, $K)?> {}

        impl<$T $(: $task)? $(, $K: $kind)?> Clone for Thief<$T $(, $K)?> {
            fn clone(&self) -> Self {
                Thief { shared: self.shared.clone() $(, kind: core::marker::PhantomData::<$K>)? }
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> core::fmt::Debug for Owner<$T $(, $K)?> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(concat!($name, "::Owner")).field("len", &self.len()).finish_non_exhaustive()
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> core::fmt::Debug for Thief<$T $(, $K)?> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(concat!($name, "::Thief")).field("len", &self.len()).finish_non_exhaustive()
            }
        }

        // SAFETY: tasks move between threads. All other shared data is atomic or belongs to the
        // owner, which is unique and not `Sync`.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Send for Owner<$T $(, $K)?> {}
        // SAFETY: as above. Several threads may use a turnstile at once.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Send for Thief<$T $(, $K)?> {}
        // SAFETY: as above.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Sync for Thief<$T $(, $K)?> {}
    };
}
pub(crate) use queue_shape;
