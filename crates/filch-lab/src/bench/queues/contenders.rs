//! All queues, filch's and the peers', behind one trait that compiles to direct calls.

use anyhow::Result;
use filch_queue::bound::{Bound, Delta, Trusted, Untrusted};
use filch_queue::{asymmetric, Steal};

use super::cases::{self, Case, Sample, Setup};
use super::floors;
use crate::bench::bound::{TrustedBound, Vouched};

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
    /// Whether the queue trusts the bound if there is a thief on another thread.
    const TRUSTS_BOUND: bool = false;

    /// The owner's side of the queue.
    type Owner;
    /// The thief's side of the queue.
    type Thief: Send;

    /// Makes a queue of the default size. A queue that cannot grow has room for `room` tasks.
    ///
    /// The fence-free queues rely on `bound`.
    fn fresh(room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)>;

    /// Makes a queue that allows steals while it holds a single burst.
    fn stealable(room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
        Self::fresh(room, bound)
    }

    /// Adds a task. Returns whether there was room, which a growing queue always has.
    #[must_use]
    fn push(owner: &Self::Owner, task: usize) -> bool;

    /// Takes a task.
    fn pop(owner: &Self::Owner) -> Option<usize>;

    /// Tries once to take a task from the other side.
    fn steal(thief: &Self::Thief) -> Steal<usize>;

    /// A note for the reader about this queue in this case.
    fn note(_case: Case, _vouched: &Vouched) -> Option<String> {
        None
    }
}

/// A contender or a floor, as the suite sees it.
pub(crate) struct Entry {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// Whether it is a floor. Floors are left out of comparisons between queues.
    pub(crate) floor: bool,
    /// Whether it trusts the bound if there is a thief on another thread.
    pub(crate) trusts_bound: bool,
    /// Whether it takes part in a case.
    pub(crate) takes_part: fn(Case) -> bool,
    /// Measures a case once.
    pub(crate) measure: fn(Case, &Setup) -> Result<Sample>,
    /// A note for the reader about it in this case.
    pub(crate) note: fn(Case, &Vouched) -> Option<String>,
}

impl Entry {
    fn of<C: Contender>() -> Entry {
        Entry {
            name: C::NAME,
            floor: false,
            trusts_bound: C::TRUSTS_BOUND,
            takes_part: |case| C::GROWS || case != Case::PushGrow,
            measure: cases::measure::<C>,
            note: C::note,
        }
    }

    /// Whether it is measured in a case.
    ///
    /// Without a bound, a queue that trusts it is measured only on one thread. That thread sees its
    /// own stores in order, on any CPU.
    pub(crate) fn is_measured(&self, case: Case, vouched: &Vouched) -> bool {
        let is_safe = !self.trusts_bound || case.threads() < 2 || vouched.is_ok();
        is_safe && (self.takes_part)(case)
    }
}

/// The names of the queues that are measured without a thief if there is no bound.
pub(crate) fn trusting() -> Vec<&'static str> {
    all().iter().filter(|entry| entry.trusts_bound).map(|entry| entry.name).collect()
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

            fn fresh(_room: usize, _bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
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

    fn fresh(_room: usize, _bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
        Ok(asymmetric::new())
    }

    fn note(_case: Case, _vouched: &Vouched) -> Option<String> {
        let (owner, _thief) = asymmetric::new::<usize>();
        Some(owner.mode().to_string())
    }

    filch_operations!();
}

/// The bound that the queues are made with.
///
/// If nothing vouches for a bound, the untrusted queues have the one above every published store
/// buffer, and so have the trusted queues on a single thread.
pub(crate) fn bound(vouched: &Vouched) -> Bound {
    vouched.as_ref().map_or(Bound::GENEROUS, TrustedBound::stores)
}

/// A delta with one extra store per pop: the fastest owner.
fn swift_delta(bound: Bound) -> Result<Delta> {
    Ok(Delta::new(bound, 1)?)
}

/// A delta that lets a thief steal from the older half of a burst.
///
/// It needs more extra stores. The swift delta does not allow such steals.
fn eager_delta(bound: Bound) -> Result<Delta> {
    let stores_a_pop = bound.get().div_ceil(cases::BURST / 2);
    Ok(Delta::new(bound, stores_a_pop.saturating_sub(1).max(1))?)
}

fn delta_of(case: Case, bound: Bound) -> Result<Delta> {
    match case {
        Case::PushUnderTheft => eager_delta(bound),
        _ => swift_delta(bound),
    }
}

macro_rules! fence_free {
    ($trusted:ident, $untrusted:ident, $name:literal, $module:ident) => {
        #[doc = concat!("`", $name, "`, with a trusted bound: exactly once.")]
        pub(crate) enum $trusted {}

        impl Contender for $trusted {
            const NAME: &'static str = $name;
            const EXACTLY_ONCE: bool = true;
            const TRUSTS_BOUND: bool = true;
            type Owner = filch_queue::$module::Owner<usize, Trusted>;
            type Thief = filch_queue::$module::Thief<usize, Trusted>;

            fn fresh(_room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
                // SAFETY: the run vouches for the bound, as `bench/bound.rs` says and as the note
                // states. If nothing vouches for one, a single thread makes all calls, and it sees
                // its own stores in order. If the bound were wrong, a number would come out twice,
                // and the check after each round would report it.
                Ok(unsafe { filch_queue::$module::new_trusted(swift_delta(bound)?) })
            }

            fn stealable(_room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
                // SAFETY: the run vouches for the bound: without one, `is_measured` leaves out the
                // case with a thief.
                Ok(unsafe { filch_queue::$module::new_trusted(eager_delta(bound)?) })
            }

            fn note(case: Case, vouched: &Vouched) -> Option<String> {
                let delta = delta_of(case, bound(vouched)).ok()?;
                Some(match vouched {
                    Ok(bound) => bound.note(delta),
                    Err(_) => format!("delta {}; no bound is known here, and no thief runs", delta.get()),
                })
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

            fn fresh(_room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
                Ok(filch_queue::$module::new(swift_delta(bound)?))
            }

            fn stealable(_room: usize, bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
                Ok(filch_queue::$module::new(eager_delta(bound)?))
            }

            fn note(case: Case, vouched: &Vouched) -> Option<String> {
                let bound = bound(vouched);
                let delta = delta_of(case, bound).ok()?;
                Some(format!("delta {}, for S = {}", delta.get(), bound.get()))
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

            fn fresh(_room: usize, _bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
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

            fn fresh(room: usize, _bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
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

            fn note(case: Case, _vouched: &Vouched) -> Option<String> {
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
    use crate::bench::bound::{NoBound, LARGEST};

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
        for stores in [2, 73, 81, 128, LARGEST] {
            let bound = Bound::new(stores).unwrap();
            assert!(eager_delta(bound).unwrap().get() <= cases::BURST / 2, "{stores}");
        }
        assert_eq!(eager_delta(Bound::GENEROUS).unwrap().extra_stores(), 3);
        assert!(swift_delta(Bound::GENEROUS).unwrap().get() >= cases::BURST);
    }

    #[test]
    fn without_a_bound_no_thief_runs_beside_a_queue_that_trusts_one() {
        assert_eq!(trusting(), ["ff_the", "ff_cl", "thep"]);
        let (published, refuted) = (Ok(TrustedBound::published()), Err(NoBound::refuted()));
        for entry in all() {
            let is_trusting = trusting().contains(&entry.name);
            assert!(entry.floor || entry.is_measured(Case::PushUnderTheft, &published), "{}", entry.name);
            assert!(!(is_trusting && entry.is_measured(Case::PushUnderTheft, &refuted)), "{}", entry.name);
            assert!(entry.is_measured(Case::Burst, &refuted), "{}", entry.name);
        }
    }

    #[test]
    fn the_note_of_a_trusting_queue_states_the_bound() {
        let note = |case, vouched| FfCl::note(case, &vouched).unwrap();
        let given = || Ok(TrustedBound::given(73).unwrap());
        assert_eq!(note(Case::Burst, given()), "delta 37 by 1 extra store a pop; S = 73, as given");
        assert_eq!(note(Case::PushUnderTheft, given()), "delta 25 by 2 extra stores a pop; S = 73, as given");
        assert!(note(Case::Burst, Err(NoBound::refuted())).contains("no bound is known here"));
    }
}
