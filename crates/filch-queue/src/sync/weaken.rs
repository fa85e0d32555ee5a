//! loom's atomics with every ordering under test.
//!
//! Each call site can be weakened to `Relaxed`, or its fence removed.
//!
//! loom (its issue 254) loses the order of a plain store by one thread and an exchange by another.
//! So a store to a contested word, which has both, is an exchange here. It orders no more than the
//! store would, except that it continues a release sequence.
//!
//! An algorithm may also name flaws: steps that an implementation might leave out. These are sites
//! too, and the crate that is weakened there has the flaw.
//!
//! A site is a place in the source, found by `#[track_caller]`, so that the algorithms carry no
//! marks. A run first records the sites that it meets. The mutation test then weakens them in turn
//! and expects the models to fail.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::panic::Location;
use std::string::{String, ToString};
use std::vec::Vec;

use loom::sync::atomic as model;
pub(crate) use loom::sync::atomic::Ordering;
pub(crate) use loom::sync::Arc;

/// An ordering in the source that could be weaker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// `file:line:column`.
    pub place: String,
    /// The operation and the ordering written there.
    pub what: String,
}

std::thread_local! {
    static SITES: RefCell<BTreeMap<&'static Location<'static>, String>> = const { RefCell::new(BTreeMap::new()) };
    static FLAWS: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    static WEAKENED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Weakens the site at `place`, on this thread's models, from now on.
pub fn weaken(place: &str) {
    WEAKENED.with(|weakened| *weakened.borrow_mut() = Some(place.to_string()));
}

/// Returns the sites that this thread's models have met since the last call.
pub fn take_sites() -> Vec<Site> {
    let sites = SITES.with(RefCell::take);
    let orderings = sites.iter().map(|(place, what)| Site { place: place.to_string(), what: what.clone() });
    let flaws =
        FLAWS.with(RefCell::take).into_iter().map(|flaw| Site { place: flaw.to_string(), what: FLAW.to_string() });
    orderings.chain(flaws).collect()
}

/// The description of a site that is a flaw and not an ordering.
pub const FLAW: &str = "a flaw";

/// Records the flaw as a site. Returns whether this crate has it.
pub(crate) fn has_flaw(flaw: &'static str) -> bool {
    FLAWS.with(|flaws| flaws.borrow_mut().insert(flaw));
    WEAKENED.with(|weakened| weakened.borrow().as_deref() == Some(flaw))
}

/// Records the site. Returns whether it is the weakened site.
fn visit(place: &'static Location<'static>, operation: &str, ordering: Ordering) -> bool {
    if ordering == Ordering::Relaxed {
        return false;
    }
    SITES.with(|sites| {
        sites.borrow_mut().entry(place).or_insert_with(|| std::format!("{operation} {ordering:?}"));
    });
    WEAKENED.with(|weakened| weakened.borrow().as_deref() == Some(place.to_string().as_str()))
}

fn order(place: &'static Location<'static>, operation: &str, ordering: Ordering) -> Ordering {
    if visit(place, operation, ordering) {
        Ordering::Relaxed
    } else {
        ordering
    }
}

#[track_caller]
pub(crate) fn fence(ordering: Ordering) {
    if !visit(Location::caller(), "fence", ordering) {
        model::fence(ordering);
    }
}

/// Does nothing: loom does not model what a compiler fence is for.
pub(crate) fn compiler_fence(_: Ordering) {}

/// Waits a turn.
///
/// Two turns show all effects of waiting. After that the search skips this branch, because it would
/// not end.
pub(crate) fn pause(turn: u32) {
    if turn >= 2 {
        loom::skip_branch();
    }
    loom::thread::yield_now();
}

macro_rules! atomic {
    ($name:ident, $model:ident, [$($generic:ident)?], $value:ty, |$word:ident, $new:ident, $order:ident| $store:expr) => {
        #[derive(Debug)]
        pub(crate) struct $name$(<$generic>)?(model::$model$(<$generic>)?);

        impl$(<$generic>)? $name$(<$generic>)? {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                $name(model::$model::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, ordering: Ordering) -> $value {
                self.0.load(order(Location::caller(), "load", ordering))
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, ordering: Ordering) {
                let ordering = order(Location::caller(), "store", ordering);
                let ($word, $new, $order) = (&self.0, value, ordering);
                $store;
            }

            #[allow(dead_code)]
            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let success = order(Location::caller(), "compare_exchange", success);
                self.0.compare_exchange(current, new, success, failure)
            }
        }
    };
}

atomic!(AtomicBool, AtomicBool, [], bool, |word, new, order| word.store(new, order));
atomic!(AtomicU8, AtomicU8, [], u8, |word, new, order| word.store(new, order));
atomic!(AtomicU32, AtomicU32, [], u32, |word, new, order| word.store(new, order));
atomic!(AtomicU64, AtomicU64, [], u64, |word, new, order| word.store(new, order));
atomic!(AtomicUsize, AtomicUsize, [], usize, |word, new, order| word.store(new, order));
atomic!(AtomicPtr, AtomicPtr, [T], *mut T, |word, new, order| word.store(new, order));
atomic!(ContestedU64, AtomicU64, [], u64, |word, new, order| word.swap(new, order));
atomic!(ContestedUsize, AtomicUsize, [], usize, |word, new, order| word.swap(new, order));

impl AtomicU32 {
    #[track_caller]
    pub(crate) fn fetch_sub(&self, less: u32, ordering: Ordering) -> u32 {
        self.0.fetch_sub(less, order(Location::caller(), "fetch_sub", ordering))
    }
}

/// Storage for a single task.
///
/// loom reports a read or write that is not ordered with another thread's.
pub(crate) struct TaskCell<T>(loom::cell::UnsafeCell<MaybeUninit<T>>);

impl<T> TaskCell<T> {
    #[track_caller]
    pub(crate) fn empty() -> Self {
        TaskCell(loom::cell::UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    ///
    /// No other thread reads or writes the cell meanwhile.
    #[track_caller]
    pub(crate) unsafe fn write(&self, task: T) {
        // SAFETY: the caller guarantees it.
        self.0.with_mut(|cell| unsafe { (*cell).write(task) });
    }

    /// # Safety
    ///
    /// The cell holds a task, no other thread writes it meanwhile, and it is not taken again.
    #[track_caller]
    pub(crate) unsafe fn take(&self) -> T {
        // SAFETY: the caller guarantees it. Taking the task leaves the cell empty, hence a mutable
        // access.
        self.0.with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }

    #[track_caller]
    pub(crate) fn place(&self) -> *mut T {
        self.0.with_mut(|cell| cell.cast())
    }
}
