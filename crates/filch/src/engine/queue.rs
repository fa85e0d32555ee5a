//! The kinds of queues that a pool's workers can have.

use filch_queue::bound::{Delta, Trusted};
use filch_queue::{asymmetric, chase_lev, ff_cl, ff_the, the, thep};
use filch_queue::{ExactlyOnce, Owner, Thief};

/// A kind of queue. Makes a queue for each worker of a [`Pool`](super::Pool).
///
/// Nothing here is unsafe: [`ExactlyOnce`], which is unsafe, guarantees that no job runs twice. If
/// the `pop` of a queue says that it is empty when it is not, or loses a job, a join waits forever.
/// An owner should pop the youngest job; a join that gets another job runs that first.
///
/// A queue refuses a job by an error of [`try_push`](Owner::try_push), and the join that forked the
/// job panics. A queue that panics instead, in any method, aborts the process: the job may be in
/// the queue, and its join must not unwind then.
pub trait Queue: 'static {
    /// The side that pushes and pops.
    type Owner<T: Send>: Owner<Task = T> + ExactlyOnce + Send;
    /// The side that steals.
    type Thief<T: Send>: Thief<Task = T> + ExactlyOnce + Send + Sync;

    /// Creates a queue.
    fn make<T: Send>(&self) -> (Self::Owner<T>, Self::Thief<T>);
}

/// [`filch_queue::asymmetric`]: no fence for the owner, a system call for the thief. On systems
/// without such a call the owner has a fence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asymmetric;

impl Queue for Asymmetric {
    type Owner<T: Send> = asymmetric::Owner<T>;
    type Thief<T: Send> = asymmetric::Thief<T>;

    fn make<T: Send>(&self) -> (Self::Owner<T>, Self::Thief<T>) {
        asymmetric::new()
    }
}

/// [`filch_queue::chase_lev`]: a fence for the owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChaseLev;

impl Queue for ChaseLev {
    type Owner<T: Send> = chase_lev::Owner<T>;
    type Thief<T: Send> = chase_lev::Thief<T>;

    fn make<T: Send>(&self) -> (Self::Owner<T>, Self::Thief<T>) {
        chase_lev::new()
    }
}

/// [`filch_queue::the`]: a fence for the owner, a lock for thieves.
#[derive(Clone, Copy, Debug, Default)]
pub struct The;

impl Queue for The {
    type Owner<T: Send> = the::Owner<T>;
    type Thief<T: Send> = the::Thief<T>;

    fn make<T: Send>(&self) -> (Self::Owner<T>, Self::Thief<T>) {
        the::new()
    }
}

/// Declares a kind of queue that rests on a bound of the CPU.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $module:ident) => {
        $(#[$doc])*
        ///
        /// ```
        /// use filch::engine::Pool;
        /// use filch_queue::bound::{Bound, Delta};
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let delta = Delta::new(Bound::GENEROUS, 15)?;
        /// // SAFETY: an example, which relies on 128. In a program, state what the bound rests on: a
        /// // calibration on this CPU, or its published store buffer and no evidence against it.
        #[doc = concat!("let queue = unsafe { filch::engine::", stringify!($name), "::trusting(delta) };")]
        /// let pool = Pool::with_queue(2, queue)?;
        /// assert_eq!(pool.install(|worker| worker.join(|_| 1, |_| 2)), (1, 2));
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// The caller of `trusting` guarantees it.
            delta: Delta,
        }

        impl $name {
            /// Creates queues that take `delta` on trust.
            ///
            /// # Safety
            ///
            /// On every CPU that the pool's workers run on, a load overtakes at most as many of its
            /// thread's stores as the [`Bound`](filch_queue::bound::Bound) that `delta` was made
            /// from says. Otherwise a job may run twice, the second time after its join has
            /// returned and its closure is gone.
            pub unsafe fn trusting(delta: Delta) -> $name {
                $name { delta }
            }

            /// Returns the delta that the caller of `trusting` guarantees.
            pub fn delta(&self) -> Delta {
                self.delta
            }
        }

        impl Queue for $name {
            type Owner<T: Send> = $module::Owner<T, Trusted>;
            type Thief<T: Send> = $module::Thief<T, Trusted>;

            fn make<T: Send>(&self) -> (Self::Owner<T>, Self::Thief<T>) {
                // SAFETY: the caller of `trusting` guarantees the same.
                unsafe { $module::new_trusted(self.delta) }
            }
        }
    };
}

bounded! {
    /// [`filch_queue::ff_the`]: [`The`] whose owner has no fence. A steal aborts while at most
    /// delta jobs are queued, so a job is *not* always stealable.
    FfThe, ff_the
}
bounded! {
    /// [`filch_queue::ff_cl`]: [`ChaseLev`] whose owner has no fence. A steal aborts while at most
    /// delta jobs are queued, so a job is *not* always stealable.
    FfCl, ff_cl
}
bounded! {
    /// [`filch_queue::thep`]: [`FfThe`] whose thieves wait for the owner's next pop instead of
    /// aborting. So a job is *not* always stealable.
    Thep, thep
}
