//! Where a call from outside of a pool runs. It runs in the seat of a sleeping worker, or on a
//! thread of the pool.
#![cfg(target_os = "linux")]

mod common;

use std::cell::Cell;
use std::hint::black_box;
use std::sync::OnceLock;
use std::thread;

use common::{
    assert_all_seats_can_be_lent, assert_child_passed, build, call_in_place, catch_message, flag, in_place_builder,
    is_set, pool, run_in_child, set, spin_until, watchdog, POOL_KINDS,
};
use filch::{Builder, Callers, Fences, Pool, Waiting};

/// Waits until `workers` workers of the pool sleep.
fn wait_until_asleep(pool: &Pool, workers: usize) {
    spin_until(|| {
        let total = pool.stats().total();
        total.sleeps == total.wakes + workers as u64
    });
}

/// Returns whether one of many calls into the sleeping pool runs on the calling thread.
fn ever_runs_in_place(pool: &Pool) -> bool {
    let caller = thread::current().id();
    (0..20).any(|_| {
        wait_until_asleep(pool, pool.current_num_threads());
        pool.install(|| thread::current().id()) == caller
    })
}

#[test]
fn a_call_into_a_sleeping_pool_runs_on_the_calling_thread_as_a_worker() {
    let _watchdog = watchdog();
    for threads in [1, 2, 8] {
        for (fences, waiting) in POOL_KINDS {
            let pool = build(in_place_builder(threads).fences(fences).waiting(waiting));
            for _ in 0..20 {
                let (index, pool_index, threads_inside) = call_in_place(&pool, || {
                    (filch::current_thread_index(), pool.current_thread_index(), filch::current_num_threads())
                });
                assert!(index.is_some_and(|index| index < threads), "{index:?}");
                assert_eq!((pool_index, threads_inside), (index, threads));
                assert_eq!((filch::current_thread_index(), pool.current_thread_index()), (None, None));
            }
        }
    }
}

#[test]
fn every_kind_of_call_runs_in_place() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let caller = thread::current().id();
    let is_on_caller = || thread::current().id() == caller;
    // Each of these calls finds an awake worker now and then.
    spin_until(|| pool.install(is_on_caller));
    spin_until(|| pool.with_worker(|_| is_on_caller()));
    spin_until(|| pool.join(is_on_caller, || ()).0);
    spin_until(|| pool.scope(|_| is_on_caller()));
    spin_until(|| pool.scope_fifo(|_| is_on_caller()));
    spin_until(|| filch::join(is_on_caller, || ()).0);
    spin_until(|| filch::scope(|_| is_on_caller()));
    spin_until(|| filch::with_worker(|_| is_on_caller()));
}

#[test]
fn all_seats_can_be_lent_at_once() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3, 8] {
        let pool = build(in_place_builder(threads));
        (0..5).for_each(|_| assert_all_seats_can_be_lent(&pool));
    }
}

#[test]
fn a_call_in_place_counts_as_one_job() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    let caller = thread::current().id();
    for calls in 1..=200 {
        // In place or shipped.
        pool.install(|| thread::current().id() == caller);
        spin_until(|| pool.stats().total().jobs >= calls);
        assert_eq!(pool.stats().total().jobs, calls);
    }
    assert!(ever_runs_in_place(&pool));
}

#[test]
fn returning_a_seat_with_jobs_counts_one_wake_for_each_sleep() {
    let _watchdog = common::watchdog_for(std::time::Duration::from_secs(60));
    let pool = build(in_place_builder(1));
    for _ in 0..20 {
        // Only the seat's own thread can run it, and is woken when the caller leaves.
        call_in_place(&pool, || filch::spawn(|| ()));
    }
    wait_until_asleep(&pool, 1);
}

#[test]
fn shipped_calls_run_on_a_thread_of_the_pool() {
    let _watchdog = watchdog();
    for threads in [1, 2, 8] {
        assert!(!ever_runs_in_place(&build(Pool::builder().threads(threads).callers(Callers::Shipped))));
    }
}

/// Returns the options after which calls are shipped.
fn shipping_options() -> Vec<(&'static str, Builder<'static>)> {
    let new = || Pool::builder().threads(2);
    let spawner = |thread: filch::Thread| {
        thread::spawn(|| thread.run());
        Ok(())
    };
    vec![
        ("name", new().name(|index| format!("custom-{index}"))),
        ("stack_size", new().stack_size(1 << 20)),
        ("pin", new().pin(true)),
        ("on_start", new().on_start(|_| ())),
        ("on_exit", new().on_exit(|_| ())),
        ("spawner", new().spawner(spawner)),
        ("threads(1)", Pool::builder().threads(1)),
        ("waiting(Any)", new().waiting(Waiting::Any)),
        ("waiting(StrictInPool)", new().waiting(Waiting::StrictInPool)),
    ]
}

/// Returns the options that leave calls in place.
fn in_place_options() -> Vec<(&'static str, Builder<'static>)> {
    let new = || Pool::builder().threads(2);
    vec![
        ("nothing", Pool::builder()),
        ("threads(2)", new()),
        ("pin(false)", new().pin(false)),
        ("on_panic", new().on_panic(|_| ())),
        ("fork_depth", new().fork_depth(100)),
        ("fences", new().fences(Fences::Owner)),
        ("waiting(Strict)", new().waiting(Waiting::Strict)),
    ]
}

#[test]
fn options_for_special_threads_ship_calls() {
    let _watchdog = watchdog();
    for (option, builder) in shipping_options() {
        assert!(!ever_runs_in_place(&build(builder)), "{option}");
    }
    for (option, builder) in in_place_options() {
        assert!(ever_runs_in_place(&build(builder)), "{option}");
    }
}

#[test]
fn the_callers_option_overrides_all_other_options() {
    let _watchdog = watchdog();
    for (option, builder) in shipping_options() {
        assert!(ever_runs_in_place(&build(builder.callers(Callers::InPlace))), "{option}");
    }
    for (option, builder) in in_place_options() {
        assert!(!ever_runs_in_place(&build(builder.callers(Callers::Shipped))), "{option}");
    }
}

#[test]
fn a_pool_with_the_current_thread_lends_no_seat() {
    let _watchdog = watchdog();
    for callers in [None, Some(Callers::InPlace)] {
        // On a new thread, which stays a worker for the rest of its life.
        let test = || {
            let builder = Pool::builder().threads(3).use_current_thread();
            let pool = build(match callers {
                Some(callers) => builder.callers(callers),
                None => builder,
            });
            let call = || {
                (0..20).any(|_| {
                    wait_until_asleep(&pool, 2);
                    let caller = thread::current().id();
                    pool.install(|| thread::current().id()) == caller
                })
            };
            assert!(!thread::scope(|scope| scope.spawn(call).join().expect("the thread panicked")));
        };
        thread::scope(|scope| scope.spawn(test).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    }
}

#[test]
fn the_environment_variable_can_set_calls_in_place() {
    let child =
        run_in_child("the_environment_variable_can_set_calls_in_place", &[("FILCH_CALLERS", " in-place ")], || {
            for (option, builder) in shipping_options() {
                assert!(ever_runs_in_place(&build(builder)), "{option}");
            }
            assert!(!ever_runs_in_place(&build(Pool::builder().threads(2).callers(Callers::Shipped))));
        });
    assert_child_passed(child);
}

#[test]
fn the_environment_variable_can_set_shipped_calls() {
    let child = run_in_child("the_environment_variable_can_set_shipped_calls", &[("FILCH_CALLERS", "shipped")], || {
        for (option, builder) in in_place_options() {
            assert!(!ever_runs_in_place(&build(builder)), "{option}");
        }
        assert!(ever_runs_in_place(&build(in_place_builder(2))));
    });
    assert_child_passed(child);
}

#[test]
fn an_invalid_value_of_the_environment_variable_is_an_error() {
    let child = run_in_child(
        "an_invalid_value_of_the_environment_variable_is_an_error",
        &[("FILCH_CALLERS", "inplace")],
        || {
            let message = r#"FILCH_CALLERS is "inplace"; it should be `in-place` or `shipped`, or not be set"#;
            let error = Pool::builder().threads(2).build().expect_err("the value is invalid");
            assert_eq!(error.to_string(), message);
            let error = Pool::builder().build_global().expect_err("the value is invalid");
            assert_eq!(error.to_string(), message);
            assert_eq!(Callers::from_environment().expect_err("the value is invalid").to_string(), message);
            assert!(catch_message(Pool::global).contains(message));
            // A builder that sets where calls run does not read the variable.
            assert!(ever_runs_in_place(&build(in_place_builder(2))));
        },
    );
    assert_child_passed(child);
}

#[test]
fn a_call_from_a_thread_with_a_small_stack_is_shipped() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    // Less than a quarter of the usual size: the C library reuses larger stacks of threads that
    // have ended.
    let test = || assert!(!ever_runs_in_place(&pool));
    thread::scope(|scope| {
        let thread =
            thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, test).expect("cannot start a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    assert!(ever_runs_in_place(&pool));
    // Enough for a pool whose threads have no larger stacks.
    let small = build(in_place_builder(2).stack_size(128 << 10));
    let test = || assert!(ever_runs_in_place(&small));
    thread::scope(|scope| {
        let thread =
            thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, test).expect("cannot start a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn a_call_with_little_stack_left_is_shipped() {
    #[inline(never)]
    fn with_used_stack(kib: usize, f: &dyn Fn() -> bool) -> bool {
        let frame = black_box([0_u8; 1024]);
        let result = if kib == 0 { f() } else { with_used_stack(kib - 1, f) };
        black_box(&frame);
        result
    }
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    thread::scope(|scope| {
        let test = || {
            assert!(ever_runs_in_place(&pool));
            assert!(!with_used_stack(512, &|| ever_runs_in_place(&pool)));
            assert!(ever_runs_in_place(&pool));
        };
        let thread =
            thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, test).expect("cannot start a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn a_call_from_a_drop_while_panicking_is_shipped() {
    struct CallsWhenDropped<'a>(&'a Pool, &'a Cell<Option<(bool, bool)>>);

    impl Drop for CallsWhenDropped<'_> {
        fn drop(&mut self) {
            wait_until_asleep(self.0, self.0.current_num_threads());
            let caller = thread::current().id();
            self.1.set(Some(self.0.install(|| (thread::current().id() == caller, thread::panicking()))));
        }
    }

    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for _ in 0..50 {
        let observed = Cell::new(None);
        let message = catch_message(|| {
            let _calls = CallsWhenDropped(&pool, &observed);
            std::panic::resume_unwind(Box::new("unwinds"));
        });
        assert_eq!((message.as_str(), observed.get()), ("unwinds", Some((false, false))));
    }
    assert!(ever_runs_in_place(&pool));
}

#[test]
fn a_call_from_the_destructor_of_a_thread_local_works() {
    struct CallsWhenDropped;

    static POOL: OnceLock<Pool> = OnceLock::new();
    std::thread_local! {
        static CALLS: Cell<Option<CallsWhenDropped>> = const { Cell::new(None) };
    }

    impl Drop for CallsWhenDropped {
        fn drop(&mut self) {
            assert_eq!(POOL.get().expect("the pool is not set").join(|| 1, || 2), (1, 2));
        }
    }

    let _watchdog = watchdog();
    let pool = POOL.get_or_init(|| build(in_place_builder(2)));
    for calls_before in [false, true] {
        for _ in 0..50 {
            let test = move || {
                CALLS.with(|calls| calls.set(Some(CallsWhenDropped)));
                if calls_before {
                    assert_eq!(pool.join(|| 1, || 2), (1, 2));
                }
            };
            thread::spawn(test).join().expect("the thread panicked");
        }
    }
    assert_all_seats_can_be_lent(pool);
}

#[test]
fn a_call_works_while_another_caller_has_a_seat() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for _ in 0..200 {
        // The inner call has the other seat, or is shipped to its worker.
        let other =
            || thread::scope(|scope| scope.spawn(|| pool.join(|| 1, || 2)).join().expect("the thread panicked"));
        assert_eq!(call_in_place(&pool, other), (1, 2));
    }
}

#[test]
fn a_long_call_in_place_leaves_the_other_seats_usable() {
    let _watchdog = watchdog();
    for threads in [2, 3, 8] {
        let pool = build(in_place_builder(threads));
        let (inside, finished) = (flag(), flag());
        thread::scope(|scope| {
            scope.spawn(|| {
                call_in_place(&pool, || {
                    set(&inside);
                    spin_until(|| is_set(&finished));
                });
            });
            spin_until(|| is_set(&inside));
            for _ in 0..100 {
                call_in_place(&pool, || ());
                assert_eq!(pool.join(|| common::fib(8), || 2), (21, 2));
                pool.scope(|scope| (0..10).for_each(|_| scope.spawn(|_| ())));
            }
            set(&finished);
        });
        assert_all_seats_can_be_lent(&pool);
    }
}
