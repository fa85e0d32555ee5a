//! What a scheme must do whatever its speed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

use super::*;
use crate::bench::work::{Fib, Queens, Work};

const SCHEMES: [Scheme; 3] = [Scheme::Central, Scheme::Sharing, Scheme::Static];

fn in_pools(test: impl Fn(Scheme, &Pool)) {
    for scheme in SCHEMES {
        for threads in [1, 2, 3, 8] {
            test(scheme, &Textbook::pool(scheme, threads).unwrap());
        }
    }
}

#[test]
fn all_schemes_compute_the_same() {
    in_pools(|_, pool| {
        let fib = Textbook::enter(pool, |context| Fib(16).run::<Textbook>(context, ()));
        Fib(16).check(&fib).unwrap();
        let queens = Textbook::enter(pool, |context| Queens(6).run::<Textbook>(context, ()));
        Queens(6).check(&queens).unwrap();
    });
}

#[test]
fn a_pool_without_threads_is_an_error() {
    assert!(Textbook::pool(Scheme::Central, 0).is_err());
}

/// A chain of joins, each inside the second closure of the join before.
fn chain(context: WorkerContext<'_>, length: usize, links: &AtomicUsize) {
    links.fetch_add(1, Ordering::Relaxed);
    if length > 0 {
        Textbook::join(context, |_| (), |context| chain(context, length - 1, links));
    }
}

#[test]
fn deep_nesting_loses_nothing() {
    in_pools(|scheme, pool| {
        let links = AtomicUsize::new(0);
        Textbook::enter(pool, |context| chain(context, 300, &links));
        assert_eq!(links.into_inner(), 301, "{scheme:?}");
    });
}

#[test]
fn a_panic_propagates_from_its_join_and_the_pool_stays_usable() {
    in_pools(|scheme, pool| {
        for in_the_first in [true, false] {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                Textbook::enter(pool, |context| {
                    let fail = |wanted: bool| {
                        if wanted {
                            // This prints no panic message on standard error.
                            panic::resume_unwind(Box::new("expected panic"));
                        }
                    };
                    Textbook::join(context, |_| fail(in_the_first), |_| fail(!in_the_first));
                });
            }));
            assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"expected panic"), "{scheme:?}");
        }
        assert_eq!(Textbook::enter(pool, |context| Fib(12).run::<Textbook>(context, ())), 144);
    });
}

/// Records which threads run the leaves of a tree of joins.
fn threads_of_leaves(context: WorkerContext<'_>, layers: u32, threads: &Mutex<Vec<thread::ThreadId>>) {
    if layers == 0 {
        threads.lock().unwrap().push(thread::current().id());
        return;
    }
    Textbook::join(
        context,
        |context| threads_of_leaves(context, layers - 1, threads),
        |context| threads_of_leaves(context, layers - 1, threads),
    );
}

#[test]
fn a_static_partition_gives_every_worker_its_part() {
    for (workers, shares) in [(1, vec![16]), (2, vec![8, 8]), (3, vec![4, 4, 8]), (8, vec![2; 8])] {
        let pool = Textbook::pool(Scheme::Static, workers).unwrap();
        let threads = Mutex::new(Vec::new());
        Textbook::enter(&pool, |context| threads_of_leaves(context, 4, &threads));
        let threads = threads.into_inner().unwrap();
        let distinct: BTreeSet<_> = threads.iter().map(|id| format!("{id:?}")).collect();
        let mut found: Vec<usize> =
            distinct.iter().map(|id| threads.iter().filter(|other| format!("{other:?}") == *id).count()).collect();
        found.sort_unstable();
        assert_eq!(found, shares, "{workers} workers");
    }
}

/// Two closures that wait for each other return only if both run at once.
#[test]
fn an_idle_worker_gets_a_job() {
    for scheme in SCHEMES {
        let pool = Textbook::pool(scheme, 2).unwrap();
        let arrived = AtomicUsize::new(0);
        let meet = || {
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
        };
        Textbook::enter(&pool, |context| Textbook::join(context, |_| meet(), |_| meet()));
        assert_eq!(arrived.into_inner(), 2);
    }
}

/// Sleeping workers are woken by the next call that enters the pool.
#[test]
fn a_pool_can_be_entered_again_and_again() {
    in_pools(|_, pool| {
        for n in 0..50 {
            assert_eq!(Textbook::enter(pool, |context| Textbook::join(context, |_| n, |_| n + 1)), (n, n + 1));
        }
    });
}
