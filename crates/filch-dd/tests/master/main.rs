//! The master and its workers, on real threads and on a single one, with each kind of queue.

#![allow(clippy::duplicate_mod, reason = "each file is a module once for each kind of queue")]

/// The tests, with one kind of queue.
macro_rules! tests_with {
    ($name:ident, $queue:ident) => {
        #[path = "."]
        mod $name {
            pub(crate) use filch_dd::master::queue::$queue as Q;

            mod common;
            mod idle;
            mod notes;
            mod pools;
            mod stops;
            mod trees;
        }
    };
}

tests_with!(bulk, Bulk);
tests_with!(chase_lev, ChaseLev);
tests_with!(locked, Locked);

/// Keeps runs with their own pools apart: the machine may have few cores.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn one_at_a_time() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
