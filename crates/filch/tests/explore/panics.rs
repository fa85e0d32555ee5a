//! A panic ends an exploration: in a task, a state, the roots, a drop or the queue.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;

use crate::panicky::Panicky;
use crate::pool;
use filch::explore::Explore;

#[test]
fn a_panic_stops_an_exploration_and_resumes_when_all_workers_have_left() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let (inside, panicked) = (AtomicUsize::new(0), AtomicBool::new(false));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once().pool(&pool).run([0u64], |n, worker| {
                inside.fetch_add(1, Ordering::SeqCst);
                worker.push_all([n + 1, n + 2]);
                // There are many ways to it, and two workers may be there at once.
                let panics = n == 3000 && !panicked.swap(true, Ordering::SeqCst);
                inside.fetch_sub(usize::from(!panics), Ordering::SeqCst);
                assert!(!panics, "task 3000");
            });
        }));
        let message = caught.unwrap_err().downcast::<&str>().unwrap();
        assert_eq!(*message, "task 3000");
        // Only the worker that panicked is still counted.
        assert_eq!(inside.load(Ordering::SeqCst), 1);
        assert_eq!(pool.install(|| 7), 7);
    }
}

/// Returns the message of a panic.
fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(|_| String::from("not a message"), |text| text.to_string()),
    }
}

#[test]
fn a_panic_in_the_creation_of_a_state_stops_an_exploration() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once()
                .pool(&pool)
                .state(|index| assert!(index != threads - 1, "panic in a state"))
                .run(0..10_000u32, |n, _| drop(std::hint::black_box(vec![n; 100])));
        }));
        // On several threads the last of them may have had nothing to do.
        if let Err(panic) = panicked {
            assert_eq!(message(panic), "panic in a state");
        } else {
            assert_ne!(threads, 1);
        }
    }
}

#[test]
fn after_a_panic_in_the_roots_no_task_runs() {
    let visited = AtomicBool::new(false);
    let roots = (0..10u32).map(|n| if n < 5 { n } else { panic!("no root") });
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        filch::explore(roots, |_, _| visited.store(true, Ordering::Relaxed));
    }));
    assert_eq!(message(panicked.unwrap_err()), "no root");
    assert!(!visited.load(Ordering::Relaxed));
}

#[test]
fn tasks_that_panic_when_dropped_do_not_abort_the_process() {
    struct PanicsOnDrop<'a>(&'a AtomicUsize);
    impl Drop for PanicsOnDrop<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            if !std::thread::panicking() {
                panic!("dropped");
            }
        }
    }
    for threads in [1, 2] {
        let (pool, dropped) = (pool(threads), AtomicUsize::new(0));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once().pool(&pool).run((0..100).map(|_| PanicsOnDrop(&dropped)), |_, worker| {
                worker.stop();
            });
        }));
        assert_eq!(message(panicked.unwrap_err()), "dropped");
        assert_eq!(dropped.load(Ordering::Relaxed), 100);
    }
}

#[test]
fn the_panic_of_a_full_queue_names_an_alternative() {
    /// Like `Lifo`, with room for a few tasks only.
    struct ShortLifo;
    impl<T: Copy + Send> filch::queue::Kind<T> for ShortLifo {
        type Owner = filch_queue::idempotent::lifo::Owner<T>;
        type Thief = filch_queue::idempotent::lifo::Thief<T>;
        fn make(&self) -> (Self::Owner, Self::Thief) {
            filch_queue::idempotent::lifo::limited_to(8, 2).unwrap()
        }
    }
    let pool = pool(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _ = Explore::at_least_once().pool(&pool).queue(ShortLifo).run([0u32], |n, worker| worker.push_all([n, n]));
    }));
    let text = message(panicked.unwrap_err());
    assert!(text.contains("at most 7 tasks") && text.contains("ChaseLev"), "{text}");
}

#[test]
fn a_queue_that_panics_stops_an_exploration_and_every_task_is_dropped_once() {
    /// A task that borrows, and counts that it was made and dropped.
    struct Task<'a>(u32, &'a AtomicUsize, &'a AtomicUsize);
    impl<'a> Task<'a> {
        fn new(height: u32, made: &'a AtomicUsize, dropped: &'a AtomicUsize) -> Self {
            made.fetch_add(1, Ordering::SeqCst);
            Task(height, made, dropped)
        }
    }
    impl Drop for Task<'_> {
        fn drop(&mut self) {
            self.2.fetch_add(1, Ordering::SeqCst);
        }
    }
    let methods = [
        "make",
        "before push",
        "after push",
        "before pop",
        "after pop",
        "len of an owner",
        "before steal",
        "after steal",
        "len of a thief",
    ];
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for (method, nth) in methods.into_iter().flat_map(|method| [0, 1, 5, 40].map(|nth| (method, nth))) {
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let queue = Panicky::new(method, nth);
            let roots = (0..4).map(|_| Task::new(6, &made, &dropped));
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let explore = Explore::exactly_once().queue(queue.clone()).pool(&pool);
                let _ = explore.run(roots, |task, worker| {
                    if task.0 > 0 {
                        worker.push_all((0..2).map(|_| Task::new(task.0 - 1, task.1, task.2)));
                    }
                });
            }));
            match panicked {
                Ok(()) => assert!(!queue.has_panicked(), "{method}, {nth}"),
                Err(panic) => assert_eq!(message(panic), "panic in a queue"),
            }
            assert_eq!(made.into_inner(), dropped.into_inner(), "{method}, {nth}, on {threads}");
        }
        let visits = AtomicUsize::new(0);
        let visit = |_| visits.fetch_add(1, Ordering::SeqCst);
        pool.install(|| filch::explore(0..9, |n: u32, _| assert!(visit(n) < 9)));
        assert_eq!(visits.into_inner(), 9, "the pool must still work");
    }
}

#[test]
fn states_that_panic_when_dropped_do_not_hide_the_first_panic() {
    /// Panics when it is dropped, with its name.
    struct PanicsOnDrop(&'static str);
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("{} was dropped", self.0);
        }
    }
    let pool = pool(2);
    let barrier = Barrier::new(2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let explore = Explore::exactly_once().pool(&pool).state(|_| PanicsOnDrop("a state"));
        let _ = explore.run([None, None, Some(PanicsOnDrop("a task"))], |task, worker| match task {
            // Each worker runs one of these, and stops before the third.
            None => {
                barrier.wait();
                worker.stop();
            }
            Some(bomb) => std::mem::forget(bomb),
        });
    }));
    assert_eq!(message(panicked.unwrap_err()), "a task was dropped");
}
