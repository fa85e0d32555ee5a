//! All queues, filch's and the peers', behind one trait that compiles to direct calls.

use anyhow::Result;
use filch_queue::bound::{Bound, Delta, Trusted, Untrusted};
use filch_queue::{asymmetric, Steal};

use super::cases::{self, Case, Sample, Setup};
use super::floors;

/// A queue that is measured.
///
/// All of it is static, so that the owner's fast path is inlined into the measuring loop.
pub(crate) trait Contender {
    /// Its name in plots.
    const NAME: &'static str;
    /// Whether a task extracted twice is an error.
    const EXACTLY_ONCE: bool;
    /// Whether the queue starts small and grows.
    const GROWS: bool = true;
    /// Whether a steal is a system call.
    const EXPENSIVE_STEALS: bool = false;

    /// The owner's side of the queue.
    type Owner;
    /// The thief's side of the queue.
    type Thief: Send;

    /// Makes a queue of the default size. A queue that cannot grow has room for `room` tasks.
    fn fresh(room: usize) -> Result<(Self::Owner, Self::Thief)>;

    /// Makes a queue that allows steals while it holds a single burst.
    fn stealable(room: usize) -> Result<(Self::Owner, Self::Thief)> {
        Self::fresh(room)
    }

    /// Adds a task. Returns whether there was room, which a growing queue always has.
    #[must_use]
    fn push(owner: &Self::Owner, task: usize) -> bool;

    /// Takes a task.
    fn pop(owner: &Self::Owner) -> Option<usize>;

    /// Tries once to take a task from the other side.
    fn steal(thief: &Self::Thief) -> Steal<usize>;

    /// A note for the reader about this queue in this case.
    fn note(_case: Case) -> Option<String> {
        None
    }
}

/// A contender or a floor, as the suite sees it.
pub(crate) struct Entry {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// Whether it is a floor. Floors are left out of comparisons between queues.
    pub(crate) floor: bool,
    /// Whether it takes part in a case.
    pub(crate) takes_part: fn(Case) -> bool,
    /// Measures a case once.
    pub(crate) measure: fn(Case, &Setup) -> Result<Sample>,
    /// A note for the reader about it in this case.
    pub(crate) note: fn(Case) -> Option<String>,
}

impl Entry {
    fn of<C: Contender>() -> Entry {
        Entry {
            name: C::NAME,
            floor: false,
            takes_part: |case| C::GROWS || case != Case::PushGrow,
            measure: cases::measure::<C>,
            note: C::note,
        }
    }
}

/// All that is compared: filch's queues, the peers, the floors.
pub(crate) fn all() -> Vec<Entry> {
    let mut entries = vec![
        Entry::of::<ChaseLev>(),
        Entry::of::<The>(),
        Entry::of::<FfThe>(),
        Entry::of::<FfTheUntrusted>(),
        Entry::of::<FfCl>(),
        Entry::of::<FfClUntrusted>(),
        Entry::of::<Thep>(),
        Entry::of::<ThepUntrusted>(),
        Entry::of::<Asymmetric>(),
        Entry::of::<IdempotentLifo>(),
        Entry::of::<IdempotentFifo>(),
        Entry::of::<IdempotentDoubleEnded>(),
        Entry::of::<CrossbeamLifo>(),
        Entry::of::<CrossbeamFifo>(),
        Entry::of::<St3Lifo>(),
        Entry::of::<St3Fifo>(),
    ];
    entries.extend(floors::entries());
    entries
}

/// The push, pop and steal of filch's queues.
macro_rules! filch_operations {
    () => {
        #[inline(always)]
        fn push(owner: &Self::Owner, task: usize) -> bool {
            owner.push(task);
            true
        }

        #[inline(always)]
        fn pop(owner: &Self::Owner) -> Option<usize> {
            owner.pop()
        }

        #[inline(always)]
        fn steal(thief: &Self::Thief) -> Steal<usize> {
            thief.steal()
        }
    };
}

macro_rules! filch_contender {
    ($contender:ident, $name:literal, $($module:ident)::+, exactly_once: $exactly_once:literal) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) enum $contender {}

        impl Contender for $contender {
            const NAME: &'static str = $name;
            const EXACTLY_ONCE: bool = $exactly_once;
            type Owner = filch_queue::$($module)::+::Owner<usize>;
            type Thief = filch_queue::$($module)::+::Thief<usize>;

            fn fresh(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                Ok(filch_queue::$($module)::+::new())
            }

            filch_operations!();
        }
    };
}

filch_contender!(ChaseLev, "chase_lev", chase_lev, exactly_once: true);
filch_contender!(The, "the", the, exactly_once: true);
filch_contender!(IdempotentLifo, "idempotent::lifo", idempotent::lifo, exactly_once: false);
filch_contender!(IdempotentFifo, "idempotent::fifo", idempotent::fifo, exactly_once: false);
filch_contender!(IdempotentDoubleEnded, "idempotent::double_ended", idempotent::double_ended, exactly_once: false);

/// filch's `asymmetric`.
pub(crate) enum Asymmetric {}

impl Contender for Asymmetric {
    const NAME: &'static str = "asymmetric";
    const EXACTLY_ONCE: bool = true;
    const EXPENSIVE_STEALS: bool = true;
    type Owner = asymmetric::Owner<usize>;
    type Thief = asymmetric::Thief<usize>;

    fn fresh(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
        Ok(asymmetric::new())
    }

    fn note(_case: Case) -> Option<String> {
        let (owner, _thief) = asymmetric::new::<usize>();
        Some(owner.mode().to_string())
    }

    filch_operations!();
}

/// A delta with one extra store per pop: the fastest owner.
fn swift_delta() -> Result<Delta> {
    Ok(Delta::new(Bound::GENEROUS, 1)?)
}

/// A delta that lets a thief steal from a queue of one burst.
///
/// It needs more extra stores. The swift delta does not allow such steals.
fn eager_delta() -> Result<Delta> {
    Ok(Delta::new(Bound::GENEROUS, 3)?)
}

fn delta_note(case: Case) -> Option<String> {
    let delta = if case == Case::PushUnderTheft { eager_delta() } else { swift_delta() };
    delta.ok().map(|delta| format!("delta {}", delta.get()))
}

macro_rules! fence_free {
    ($trusted:ident, $untrusted:ident, $name:literal, $module:ident) => {
        #[doc = concat!("`", $name, "`, with a trusted bound: exactly once.")]
        pub(crate) enum $trusted {}

        impl Contender for $trusted {
            const NAME: &'static str = $name;
            const EXACTLY_ONCE: bool = true;
            type Owner = filch_queue::$module::Owner<usize, Trusted>;
            type Thief = filch_queue::$module::Thief<usize, Trusted>;

            fn fresh(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                // SAFETY: the bound is above every store buffer published so far. If it were wrong,
                // a number would come out twice, and the check after each round would report it.
                Ok(unsafe { filch_queue::$module::new_trusted(swift_delta()?) })
            }

            fn stealable(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                // SAFETY: as in `fresh`: it is the same bound.
                Ok(unsafe { filch_queue::$module::new_trusted(eager_delta()?) })
            }

            fn note(case: Case) -> Option<String> {
                delta_note(case)
            }

            filch_operations!();
        }

        #[doc = concat!("`", $name, "`, without trust in the bound: at least once.")]
        pub(crate) enum $untrusted {}

        impl Contender for $untrusted {
            const NAME: &'static str = concat!($name, "-untrusted");
            const EXACTLY_ONCE: bool = false;
            type Owner = filch_queue::$module::Owner<usize, Untrusted>;
            type Thief = filch_queue::$module::Thief<usize, Untrusted>;

            fn fresh(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                Ok(filch_queue::$module::new(swift_delta()?))
            }

            fn stealable(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                Ok(filch_queue::$module::new(eager_delta()?))
            }

            fn note(case: Case) -> Option<String> {
                delta_note(case)
            }

            filch_operations!();
        }
    };
}

fence_free!(FfThe, FfTheUntrusted, "ff_the", ff_the);
fence_free!(FfCl, FfClUntrusted, "ff_cl", ff_cl);
fence_free!(Thep, ThepUntrusted, "thep", thep);

macro_rules! crossbeam {
    ($contender:ident, $name:literal, $new:ident) => {
        #[doc = concat!("crossbeam-deque's worker, made by `", stringify!($new), "`.")]
        pub(crate) enum $contender {}

        impl Contender for $contender {
            const NAME: &'static str = $name;
            const EXACTLY_ONCE: bool = true;
            type Owner = crossbeam_deque::Worker<usize>;
            type Thief = crossbeam_deque::Stealer<usize>;

            fn fresh(_room: usize) -> Result<(Self::Owner, Self::Thief)> {
                let worker = crossbeam_deque::Worker::$new();
                let stealer = worker.stealer();
                Ok((worker, stealer))
            }

            #[inline(always)]
            fn push(owner: &Self::Owner, task: usize) -> bool {
                owner.push(task);
                true
            }

            #[inline(always)]
            fn pop(owner: &Self::Owner) -> Option<usize> {
                owner.pop()
            }

            #[inline(always)]
            fn steal(thief: &Self::Thief) -> Steal<usize> {
                match thief.steal() {
                    crossbeam_deque::Steal::Success(task) => Steal::Success(task),
                    crossbeam_deque::Steal::Empty => Steal::Empty,
                    crossbeam_deque::Steal::Retry => Steal::Retry,
                }
            }
        }
    };
}

crossbeam!(CrossbeamLifo, "crossbeam-lifo", new_lifo);
crossbeam!(CrossbeamFifo, "crossbeam-fifo", new_fifo);

macro_rules! st3 {
    ($contender:ident, $name:literal, $module:ident) => {
        #[doc = concat!("st3's `", stringify!($module), "` queue, which has a fixed size.")]
        pub(crate) enum $contender {}

        impl Contender for $contender {
            const NAME: &'static str = $name;
            const EXACTLY_ONCE: bool = true;
            const GROWS: bool = false;
            type Owner = st3::$module::Worker<usize>;
            /// A stealer, and a queue of the thief's own that it steals into.
            ///
            /// The thief's queue stays empty as long as it takes one task at a time.
            type Thief = (st3::$module::Stealer<usize>, st3::$module::Worker<usize>);

            fn fresh(room: usize) -> Result<(Self::Owner, Self::Thief)> {
                let worker = st3::$module::Worker::new(room);
                let stealer = worker.stealer();
                Ok((worker, (stealer, st3::$module::Worker::new(1))))
            }

            #[inline(always)]
            fn push(owner: &Self::Owner, task: usize) -> bool {
                owner.push(task).is_ok()
            }

            #[inline(always)]
            fn pop(owner: &Self::Owner) -> Option<usize> {
                owner.pop()
            }

            #[inline(always)]
            fn steal((stealer, own): &Self::Thief) -> Steal<usize> {
                match stealer.steal_and_pop(own, |_| 1) {
                    Ok((task, _)) => Steal::Success(task),
                    Err(st3::StealError::Empty) => Steal::Empty,
                    Err(st3::StealError::Busy) => Steal::Retry,
                }
            }

            fn note(case: Case) -> Option<String> {
                (case == Case::PushThenPop).then(|| "no growth: allocated at full size".to_owned())
            }
        }
    };
}

st3!(St3Lifo, "st3-lifo", lifo);
st3!(St3Fifo, "st3-fifo", fifo);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_plots_know() {
        let names: Vec<&str> = all().iter().filter(|entry| !entry.floor).map(|entry| entry.name).collect();
        assert_eq!(
            names,
            [
                "chase_lev",
                "the",
                "ff_the",
                "ff_the-untrusted",
                "ff_cl",
                "ff_cl-untrusted",
                "thep",
                "thep-untrusted",
                "asymmetric",
                "idempotent::lifo",
                "idempotent::fifo",
                "idempotent::double_ended",
                "crossbeam-lifo",
                "crossbeam-fifo",
                "st3-lifo",
                "st3-fifo",
            ]
        );
    }

    #[test]
    fn a_thief_can_steal_from_a_burst_with_the_eager_delta_only() {
        assert!(eager_delta().unwrap().get() < cases::BURST);
        assert!(swift_delta().unwrap().get() >= cases::BURST);
    }
}
