//! The shape that all queues share, for code that is generic over them.

use crate::{PushError, Steal};

/// The owner's side of a queue: one thread at a time pushes and pops.
///
/// Every queue has these as ordinary methods too; the trait is for generic code.
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
    /// What the queue carries.
    type Task;

    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or memory is exhausted; [`try_push`](Owner::try_push) returns the task instead.
    fn push(&self, task: Self::Task);

    /// Adds a task, or gives it back if the queue is at its size limit or memory is exhausted.
    ///
    /// A task that is given back is not in the queue. If this or [`push`](Owner::push) panics,
    /// generic code cannot tell whether the task is in the queue. The queues of this crate add no
    /// task in a call that panics.
    fn try_push(&self, task: Self::Task) -> Result<(), PushError<Self::Task>>;

    /// Takes a task, or `None` if there is none left for the owner.
    fn pop(&self) -> Option<Self::Task>;

    /// How many tasks the queue held a moment ago: a hint.
    fn len(&self) -> usize;

    /// Whether the queue was empty a moment ago: a hint.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A thief's side of a queue: any number of threads steal, each through a clone or a shared reference.
pub trait Thief: Clone {
    /// What the queue carries.
    type Task;

    /// Tries once to take a task.
    fn steal(&self) -> Steal<Self::Task>;

    /// The same, but never waits for the owner: where [`steal`](Thief::steal) would, in [`thep`](crate::thep), this aborts after a moment.
    #[inline]
    fn steal_or_abort(&self) -> Steal<Self::Task> {
        self.steal()
    }

    /// How many tasks the queue held a moment ago: a hint.
    fn len(&self) -> usize;

    /// Whether the queue was empty a moment ago: a hint.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// No task is lost: each is extracted once or more often, as long as the owner keeps popping. What is extracted is
/// always a whole task that was pushed.
pub trait AtLeastOnce {}

/// No task is lost and none is extracted twice.
///
/// # Safety
///
/// Generic code may rely on this for memory safety: a task may be the only pointer to something, and to extract it twice
/// would be to free it twice. Implement it, on the owner's and the thief's type, only if no execution extracts a task twice on
/// any machine on which the type can be constructed without breaking a written contract.
///
/// A task that [`try_push`](Owner::try_push) gives back counts as extracted: no later pop or steal
/// returns it.
///
/// Every method may panic. A task that was in the queue, or was to be added, may then be extracted
/// later or be lost, but is still not extracted twice.
pub unsafe trait ExactlyOnce: AtLeastOnce {}

/// What the two types of every queue have alike, given their `try_push`, `pop` and `steal`: the rest of the public shape, the traits
/// above, `Clone`, `Debug`, and which threads may have them. How many tasks there are, `shared.len()` says, or the two closures.
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
            /// If the queue is at its size limit or there is no memory left to grow. [`try_push`](Owner::try_push) gives the
            /// task back instead.
            #[inline]
            pub fn push(&self, task: $T) {
                if let Err(error) = self.try_push(task) {
                    crate::error::refuse(error);
                }
            }

            /// How many tasks there were a moment ago.
            #[inline]
            pub fn len(&self) -> usize {
                ($owner_len)(self)
            }

            /// Whether there was no task a moment ago.
            #[inline]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<$T $(: $task)? $(, $K: $kind)?> Thief<$T $(, $K)?> {
            /// How many tasks there were a moment ago.
            #[inline]
            pub fn len(&self) -> usize {
                ($thief_len)(self)
            }

            /// Whether there was no task a moment ago.
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

        // SAFETY: tasks move between threads; all else that the two sides share is atomic, or belongs to the owner, of which
        // there is one and which is not `Sync`.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Send for Owner<$T $(, $K)?> {}
        // SAFETY: as above; a turnstile may be used by several threads at once.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Send for Thief<$T $(, $K)?> {}
        // SAFETY: as above.
        unsafe impl<$T: Send $(+ $task)? $(, $K: $kind)?> Sync for Thief<$T $(, $K)?> {}
    };
}
pub(crate) use queue_shape;
