//! Runs steps in parallel, each on a thread. While a step compiles on a single core, or waits,
//! another step uses the machine.
//!
//! Two steps that conflict never run at the same time: for example, cargo locks the folder in which
//! both build. They run in the order of the list. Otherwise a free thread takes the first step that
//! has not begun. So the list need not assign steps to threads, and no thread gets all the long
//! steps.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The progress of all steps.
struct State<R> {
    waiting: Vec<usize>,
    running: Vec<usize>,
    /// Whether a step has failed. Then no other step begins.
    stopped: bool,
    results: Vec<Option<R>>,
}

struct Scheduler<'a, S, R> {
    steps: &'a [S],
    state: Mutex<State<R>>,
    /// Signals that a step has ended.
    ended: Condvar,
}

/// Runs `steps`, at most `max_parallel` at a time. Returns the result of `work` for each. The
/// result is `None` for a step that did not begin because another step failed.
///
/// `work` breaks if the step failed. Steps that are running then continue to their end. If `work`
/// panics, this function panics when all steps have ended.
pub(crate) fn run<S: Sync, R: Send>(
    steps: &[S],
    max_parallel: usize,
    conflict: impl Fn(&S, &S) -> bool + Sync,
    work: impl Fn(&S) -> ControlFlow<R, R> + Sync,
) -> Vec<Option<R>> {
    let state = State {
        waiting: (0..steps.len()).collect(),
        running: Vec::new(),
        stopped: false,
        results: steps.iter().map(|_| None).collect(),
    };
    let scheduler = Scheduler { steps, state: Mutex::new(state), ended: Condvar::new() };
    thread::scope(|scope| {
        let take_steps = || {
            while let Some(running_step) = scheduler.begin_step(&conflict) {
                running_step.end(work(&steps[running_step.step]));
            }
        };
        let threads: Vec<_> = (0..max_parallel).map(|_| scope.spawn(take_steps)).collect();
        // Joins the threads explicitly, because the scope would only report that some thread has
        // panicked.
        let panics: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().err()).collect();
        if let Some(panic) = panics.into_iter().next() {
            resume_unwind(panic);
        }
    });
    scheduler.state.into_inner().unwrap_or_else(PoisonError::into_inner).results
}

impl<S, R> Scheduler<'_, S, R> {
    fn state(&self) -> MutexGuard<'_, State<R>> {
        // No thread panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a step that may run, and takes it. Returns `None` if no step is left.
    fn begin_step(&self, conflict: impl Fn(&S, &S) -> bool) -> Option<RunningStep<'_, '_, S, R>> {
        let mut state = self.state();
        loop {
            if state.stopped || state.waiting.is_empty() {
                return None;
            }
            // Steps earlier in the list that wait for the same resource go first.
            let blocked = |step: usize| {
                let before = state.waiting.iter().take_while(|&&other| other != step);
                state.running.iter().chain(before).any(|&other| conflict(&self.steps[step], &self.steps[other]))
            };
            if let Some(position) = state.waiting.iter().position(|&step| !blocked(step)) {
                let step = state.waiting.remove(position);
                state.running.push(step);
                return Some(RunningStep { scheduler: self, step });
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A step that is running.
struct RunningStep<'l, 's, S, R> {
    scheduler: &'l Scheduler<'s, S, R>,
    step: usize,
}

impl<S, R> RunningStep<'_, '_, S, R> {
    fn end(&self, result: ControlFlow<R, R>) {
        let mut state = self.scheduler.state();
        state.stopped |= result.is_break();
        let (ControlFlow::Break(result) | ControlFlow::Continue(result)) = result;
        state.results[self.step] = Some(result);
    }
}

impl<S, R> Drop for RunningStep<'_, '_, S, R> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.running.retain(|&step| step != self.step);
        // The step panicked.
        state.stopped |= state.results[self.step].is_none();
        drop(state);
        self.scheduler.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::sync::{mpsc, Barrier};

    use super::*;

    /// A step that does nothing: its name, and a letter for each shared resource.
    type FakeStep = (&'static str, &'static str);

    fn conflict(one: &FakeStep, other: &FakeStep) -> bool {
        one.1.chars().any(|resource| other.1.contains(resource))
    }

    #[test]
    fn one_thread_keeps_the_order_of_the_list() {
        let begun = Mutex::new(Vec::new());
        let steps = [("a", "x"), ("b", ""), ("c", "x"), ("d", "y"), ("e", "")];
        let results = run(&steps, 1, conflict, |step| {
            begun.lock().unwrap().push(step.0);
            ControlFlow::Continue(step.0)
        });
        assert_eq!(begun.into_inner().unwrap(), ["a", "b", "c", "d", "e"]);
        assert_eq!(results, ["a", "b", "c", "d", "e"].map(Some));
    }

    #[test]
    fn two_threads_run_two_steps_at_a_time() {
        // The first step to arrive waits for the other: a single thread would wait forever.
        let meeting = Barrier::new(2);
        let results = run(&[("a", "x"), ("b", "y")], 2, conflict, |_| {
            meeting.wait();
            ControlFlow::Continue(())
        });
        assert_eq!(results, [Some(()), Some(())]);
    }

    #[test]
    fn steps_that_conflict_run_one_at_a_time_and_in_order() {
        for max_parallel in 1..=4 {
            let (begun, running) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
            let steps: Vec<FakeStep> =
                ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().zip(["x", "y"].repeat(4)).collect();
            let results = run(&steps, max_parallel, conflict, |step| {
                begun.lock().unwrap().push(*step);
                {
                    let mut running = running.lock().unwrap();
                    assert!(
                        running.iter().all(|other| !conflict(step, other)),
                        "{step:?} runs at the same time as {running:?}"
                    );
                    running.push(*step);
                }
                thread::yield_now();
                running.lock().unwrap().retain(|other| other != step);
                ControlFlow::Continue(step.0)
            });
            assert_eq!(results, steps.iter().map(|step| Some(step.0)).collect::<Vec<_>>());
            let begun = begun.into_inner().unwrap();
            for shared in ["x", "y"] {
                let in_order =
                    |all: &[FakeStep]| all.iter().copied().filter(|step| step.1 == shared).collect::<Vec<_>>();
                assert_eq!(in_order(&begun), in_order(&steps));
            }
        }
    }

    #[test]
    fn a_free_thread_skips_steps_that_are_blocked() {
        // `c` can only be done if it begins while `a` runs, before `b`.
        let (done, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        let results = run(&[("a", "x"), ("b", "x"), ("c", "y")], 2, conflict, |step| {
            match step.0 {
                "a" => wait.lock().unwrap().recv().unwrap(),
                "c" => done.send(()).unwrap(),
                _ => {}
            }
            ControlFlow::Continue(step.0)
        });
        assert_eq!(results, ["a", "b", "c"].map(Some));
    }

    #[test]
    fn a_step_does_not_overtake_an_earlier_one_that_it_conflicts_with() {
        // `b` must wait for `a`, which waits for `d`. Meanwhile only the order of the list, in
        // which `b` comes first, blocks `c`.
        let begun = Mutex::new(Vec::new());
        let (done, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        let results = run(&[("a", "x"), ("b", "xy"), ("c", "y"), ("d", "")], 2, conflict, |step| {
            begun.lock().unwrap().push(step.0);
            match step.0 {
                "a" => wait.lock().unwrap().recv().unwrap(),
                "d" => done.send(()).unwrap(),
                _ => {}
            }
            ControlFlow::Continue(step.0)
        });
        assert_eq!(results, ["a", "b", "c", "d"].map(Some));
        let begun = begun.into_inner().unwrap();
        let position = |name| begun.iter().position(|other| *other == name);
        assert!(position("b") < position("c"), "{begun:?}");
    }

    #[test]
    fn after_a_failure_no_step_begins_and_running_steps_continue() {
        // `a` is running when `b` fails, so the verdict of `a` is kept, too.
        let meeting = Barrier::new(2);
        let (failed, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        let results =
            run(&[("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"), ("e", "")], 2, conflict, |step| match step.0 {
                "a" => {
                    meeting.wait();
                    wait.lock().unwrap().recv().unwrap();
                    ControlFlow::Break("a failed too")
                }
                "b" => {
                    meeting.wait();
                    failed.send(()).unwrap();
                    ControlFlow::Break("b failed")
                }
                _ => ControlFlow::Continue("ran"),
            });
        assert_eq!(results, [Some("a failed too"), Some("b failed"), None, None, None]);
        let results = run(
            &["a", "b", "c"],
            1,
            |_, _| true,
            |step| match *step {
                "b" => ControlFlow::Break("failed"),
                _ => ControlFlow::Continue("passed"),
            },
        );
        assert_eq!(results, [Some("passed"), Some("failed"), None]);
    }

    #[test]
    fn a_step_that_panics_stops_the_others_and_no_thread_waits_for_ever() {
        let begun = Mutex::new(Vec::new());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            run(&[("a", "x"), ("b", "x"), ("c", "x")], 2, conflict, |step| -> ControlFlow<(), ()> {
                begun.lock().unwrap().push(step.0);
                panic!("{} is broken", step.0);
            })
        }));
        let message = panicked.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(*message, "a is broken");
        assert_eq!(begun.into_inner().unwrap(), ["a"]);
    }

    #[test]
    fn there_can_be_no_steps_or_fewer_steps_than_threads() {
        assert_eq!(run(&[], 2, conflict, |_| ControlFlow::<(), ()>::Continue(())), []);
        assert_eq!(run(&[("a", "")], 4, conflict, |_| ControlFlow::<(), ()>::Continue(())), [Some(())]);
    }
}
