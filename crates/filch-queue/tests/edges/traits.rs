//! The traits of the handles: exactly once, and `Send` and `Sync` only where that is sound.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::{delta, for_every_exact_queue, for_every_queue, ExactQueue, Queue, Setup};
use filch_queue::bound::{Trusted, Untrusted};
use filch_queue::idempotent::{double_ended, fifo, lifo};
use filch_queue::{asymmetric, chase_lev, ff_cl, ff_the, the, thep};
use filch_queue::{AtLeastOnce, ExactlyOnce, Owner, Thief};

/// Generic code that requires exactly once, for the types that guarantee it.
fn run_once<O, W>((owner, thief): (O, W)) -> usize
where
    O: Owner<Task = Box<usize>> + ExactlyOnce,
    W: Thief<Task = Box<usize>> + ExactlyOnce,
{
    (0..100).for_each(|task| owner.push(Box::new(task)));
    let stolen = thief.steal().success().map_or(0, |task| *task);
    stolen + std::iter::from_fn(|| owner.pop()).map(|task| *task).sum::<usize>()
}

fn run_at_least_once<O, W>((owner, thief): (O, W)) -> usize
where
    O: Owner<Task = usize> + AtLeastOnce,
    W: Thief<Task = usize> + AtLeastOnce,
{
    (0..100).for_each(|task| owner.push(task));
    let stolen = thief.steal().success().unwrap_or(0);
    stolen + std::iter::from_fn(|| owner.pop()).sum::<usize>()
}

fn works_where_exactly_once_is_required<Q: ExactQueue>() {
    assert_eq!(run_once(Q::make_exact(Setup::small()).unwrap()), 4950);
}

fn works_where_at_least_once_is_required<Q: Queue>() {
    assert_eq!(run_at_least_once(Q::make(Setup::small()).unwrap()), 4950);
}

for_every_exact_queue!(
    exactly_once_queues_work_in_code_that_requires_exactly_once,
    works_where_exactly_once_is_required
);
for_every_queue!(all_queues_work_in_code_that_requires_at_least_once, works_where_at_least_once_is_required);

/// Asserts that a type does not implement a trait.
///
/// If it does, there are two candidates for `_`, and the code does not compile.
mod not {
    use filch_queue::ExactlyOnce;

    pub(crate) enum Known {}

    macro_rules! not {
        ($name:ident, $what:path) => {
            pub(crate) trait $name<Way> {
                fn check() {}
            }
            impl<T: ?Sized> $name<()> for T {}
            impl<T: ?Sized + $what> $name<Known> for T {}
        };
    }

    not!(NotSend, Send);
    not!(NotSync, Sync);
    not!(NotClone, Clone);
    not!(NotExactlyOnce, ExactlyOnce);
}

macro_rules! handles {
    ($($owner:ident, $thief:ident: $module:ident <Task $(, $kind:ty)?>;)+) => {
        $(
            type $owner<Task> = $module::Owner<Task $(, $kind)?>;
            type $thief<Task> = $module::Thief<Task $(, $kind)?>;
        )+
    };
}

handles! {
    ChaseLevOwner, ChaseLevThief: chase_lev<Task>;
    TheOwner, TheThief: the<Task>;
    AsymmetricOwner, AsymmetricThief: asymmetric<Task>;
    FfClOwner, FfClThief: ff_cl<Task>;
    FfTheOwner, FfTheThief: ff_the<Task>;
    ThepOwner, ThepThief: thep<Task>;
    TrustedFfClOwner, TrustedFfClThief: ff_cl<Task, Trusted>;
    TrustedFfTheOwner, TrustedFfTheThief: ff_the<Task, Trusted>;
    TrustedThepOwner, TrustedThepThief: thep<Task, Trusted>;
    LifoOwner, LifoThief: lifo<Task>;
    FifoOwner, FifoThief: fifo<Task>;
    DoubleEndedOwner, DoubleEndedThief: double_ended<Task>;
}

/// The test is that it compiles.
#[test]
fn handles_are_send_and_sync_only_where_that_is_sound() {
    use not::{NotClone, NotSend, NotSync};

    fn send<T: Send>() {}
    fn send_and_sync<T: Send + Sync>() {}

    macro_rules! check {
        ($task:ty, $rc:ty: $($owner:ident $thief:ident),+) => {$(
            send::<$owner<$task>>();
            <$owner<$task> as NotSync<_>>::check();
            <$owner<$task> as NotClone<_>>::check();
            send_and_sync::<$thief<$task>>();
            // A task that is not `Send` makes the handles not `Send`.
            <$owner<$rc> as NotSend<_>>::check();
            <$owner<$rc> as NotSync<_>>::check();
            <$thief<$rc> as NotSend<_>>::check();
            <$thief<$rc> as NotSync<_>>::check();
        )+};
    }

    // A cell is `Send` but not `Sync`, and a queue needs only `Send`.
    check!(Cell<usize>, Rc<usize>: ChaseLevOwner ChaseLevThief, TheOwner TheThief, AsymmetricOwner AsymmetricThief,
        TrustedFfClOwner TrustedFfClThief, TrustedFfTheOwner TrustedFfTheThief, TrustedThepOwner TrustedThepThief,
        FfClOwner FfClThief, FfTheOwner FfTheThief, ThepOwner ThepThief);
    // Of the `Copy` types, a reference to a cell is not `Send`.
    check!(usize, &'static Cell<usize>: LifoOwner LifoThief, FifoOwner FifoThief, DoubleEndedOwner DoubleEndedThief);
}

/// The test is that it compiles.
#[test]
fn only_exactly_once_queues_implement_exactly_once() {
    use not::NotExactlyOnce;

    fn exactly_once<T: ExactlyOnce>() {}

    macro_rules! check {
        ($($once:ident)+; $($more:ident)+) => {
            $(exactly_once::<$once<usize>>();)+
            $(<$more<usize> as NotExactlyOnce<_>>::check();)+
        };
    }

    check!(
        ChaseLevOwner ChaseLevThief TheOwner TheThief AsymmetricOwner AsymmetricThief TrustedFfClOwner TrustedFfClThief
        TrustedFfTheOwner TrustedFfTheThief TrustedThepOwner TrustedThepThief;
        FfClOwner FfClThief FfTheOwner FfTheThief ThepOwner ThepThief LifoOwner LifoThief FifoOwner FifoThief
        DoubleEndedOwner DoubleEndedThief
    );
    // The safe constructors return the untrusted types.
    let _: (ff_cl::Owner<usize, Untrusted>, ff_cl::Thief<usize, Untrusted>) = ff_cl::new(delta(1));
    let _: (ff_the::Owner<usize, Untrusted>, ff_the::Thief<usize, Untrusted>) = ff_the::new(delta(1));
    let _: (thep::Owner<usize, Untrusted>, thep::Thief<usize, Untrusted>) = thep::new(delta(1));
}
