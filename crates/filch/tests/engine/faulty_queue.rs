//! Queues that panic or refuse a job, and values that panic when they are dropped.

use std::env;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use crate::common::{catch_message, catch_payload, panic_with, run_in_child, spin_until, Drops};
use crate::{abort_if_hanging, fib};
use filch::engine::{Pool, Worker};
use filch::queue::{self, ChaseLev};
use filch_queue::{chase_lev, AtLeastOnce, CapacityError, ExactlyOnce, Owner, PushError, Steal, Thief};

/// A result, or the payload of a panic, that panics when it is dropped.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic_with("panic in a drop");
    }
}

/// What a [`FaultyQueue`] queue does the next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    PanicBeforePush,
    PanicAfterPush,
    RefusePush,
    PanicInPop,
    PanicInSteal,
    PanicInLen,
    PanicInDrop,
}

/// [`ChaseLev`] with a fault, which a test arms and which is triggered once.
#[derive(Clone, Default)]
struct FaultyQueue(Arc<FaultState>);

#[derive(Default)]
struct FaultState {
    armed: Mutex<Option<Fault>>,
    triggered: AtomicBool,
}

impl FaultyQueue {
    fn arm(&self, fault: Fault) {
        *self.0.armed.lock().unwrap() = Some(fault);
    }

    fn has_triggered(&self) -> bool {
        self.0.triggered.load(Ordering::SeqCst)
    }

    /// Returns whether this fault is armed, and disarms it.
    fn triggers(&self, fault: Fault) -> bool {
        let triggers = self.0.armed.lock().unwrap().take_if(|armed| *armed == fault).is_some();
        if triggers {
            self.0.triggered.store(true, Ordering::SeqCst);
        }
        triggers
    }

    fn panic_at(&self, fault: Fault) {
        assert!(!self.triggers(fault), "{fault:?}");
    }
}

impl<T: Send> queue::Kind<T> for FaultyQueue {
    type Owner = FaultyOwner<T>;
    type Thief = FaultyThief<T>;

    fn make(&self) -> (FaultyOwner<T>, FaultyThief<T>) {
        let (owner, thief) = chase_lev::new();
        (FaultyOwner(owner, self.clone()), FaultyThief(thief, self.clone()))
    }
}

struct FaultyOwner<T>(chase_lev::Owner<T>, FaultyQueue);

impl<T: Send> Owner for FaultyOwner<T> {
    type Task = T;

    fn push(&self, task: T) {
        if let Err(error) = self.try_push(task) {
            panic!("{error}");
        }
    }

    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.1.panic_at(Fault::PanicBeforePush);
        if self.1.triggers(Fault::RefusePush) {
            return Err(PushError::new(task, CapacityError::TooLarge { requested: 8, limit: 7 }));
        }
        self.0.try_push(task)?;
        self.1.panic_at(Fault::PanicAfterPush);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        self.1.panic_at(Fault::PanicInPop);
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Drop for FaultyOwner<T> {
    fn drop(&mut self) {
        if self.1.triggers(Fault::PanicInDrop) {
            panic_with(PanicsOnDrop);
        }
    }
}

struct FaultyThief<T>(chase_lev::Thief<T>, FaultyQueue);

impl<T> Clone for FaultyThief<T> {
    fn clone(&self) -> Self {
        FaultyThief(self.0.clone(), self.1.clone())
    }
}

impl<T: Send> Thief for FaultyThief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        self.1.panic_at(Fault::PanicInSteal);
        self.0.steal()
    }

    fn len(&self) -> usize {
        self.1.panic_at(Fault::PanicInLen);
        self.0.len()
    }
}

impl<T> AtLeastOnce for FaultyOwner<T> {}
impl<T> AtLeastOnce for FaultyThief<T> {}
// SAFETY: the tasks are those of a Chase-Lev queue, and a task that is given back was not pushed.
unsafe impl<T> ExactlyOnce for FaultyOwner<T> {}
// SAFETY: as above.
unsafe impl<T> ExactlyOnce for FaultyThief<T> {}

/// Runs a join whose queue panics, after a first closure that panics or does not.
fn join_on_a_queue_that_panics(fault: Fault, first_panics: bool) {
    let queue = FaultyQueue::default();
    let pool = Pool::with_queue(2, queue.clone()).unwrap();
    let end_first = || {
        if first_panics {
            panic_with(1_u32);
        }
    };
    match fault {
        Fault::PanicBeforePush | Fault::PanicAfterPush => pool.install(|worker| {
            queue.arm(fault);
            worker.join(|_| end_first(), |_| ());
        }),
        Fault::PanicInPop => pool.install(|worker| {
            let arm = |_: &Worker<_>| {
                queue.arm(fault);
                end_first();
            };
            worker.join(arm, |_| ());
        }),
        Fault::PanicInSteal | Fault::PanicInLen => {
            let stolen = AtomicBool::new(false);
            let arm = |_: &Worker<_>| {
                spin_until(|| stolen.load(Ordering::SeqCst));
                queue.arm(fault);
                end_first();
            };
            // The owner waits for this closure, and searches for other work meanwhile.
            let wait = |_: &Worker<_>| {
                stolen.store(true, Ordering::SeqCst);
                spin_until(|| queue.has_triggered());
            };
            pool.install(|worker| worker.join(arm, wait));
        }
        Fault::RefusePush | Fault::PanicInDrop => {
            unreachable!("the queue cannot hold the job when this fault is triggered")
        }
    }
}

#[test]
fn a_queue_that_panics_during_a_join_aborts_the_process() {
    let test = "faulty_queue::a_queue_that_panics_during_a_join_aborts_the_process";
    let faults =
        [Fault::PanicBeforePush, Fault::PanicAfterPush, Fault::PanicInPop, Fault::PanicInSteal, Fault::PanicInLen];
    for (number, fault) in faults.into_iter().enumerate() {
        for first_panics in [false, true] {
            let variables = [("FAULT", &*number.to_string()), ("FIRST_PANICS", &*first_panics.to_string())];
            let child = run_in_child(test, &variables, || {
                let variable = |name| env::var(name).expect("the parent process sets this variable");
                let fault = faults[variable("FAULT").parse::<usize>().expect("FAULT must be an index")];
                let first_panics = variable("FIRST_PANICS") == "true";
                let _ = panic::catch_unwind(|| join_on_a_queue_that_panics(fault, first_panics));
                println!("not aborted");
            });
            let Some(output) = child else { return };
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            let message = "filch: the queue of a worker panicked while it may have held the job of a join";
            assert!(stderr.contains(message), "{fault:?}, {first_panics}: {stderr}");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("not aborted"), "{fault:?}, {first_panics}");
        }
    }
}

#[test]
fn if_the_queue_refuses_a_job_the_join_panics_and_runs_neither_closure() {
    abort_if_hanging(|| {
        let queue = FaultyQueue::default();
        let pool = Pool::with_queue(2, queue.clone()).unwrap();
        let (ran, drops) = (AtomicBool::new(false), Drops::default());
        let closure = || {
            let (ran, dropped) = (&ran, drops.new_value());
            move |_: &Worker<FaultyQueue>| {
                ran.store(true, Ordering::SeqCst);
                drop(dropped);
            }
        };
        let (a, b) = (closure(), closure());
        let error = catch_message(|| {
            pool.install(|worker| {
                queue.arm(Fault::RefusePush);
                worker.join(a, b)
            })
        });
        let cause = CapacityError::TooLarge { requested: 8, limit: 7 };
        assert_eq!(error, format!("the task was not pushed: {cause}"));
        assert!(!ran.load(Ordering::SeqCst));
        assert_eq!(drops.count(), 2);
        assert_eq!(pool.install(|worker| fib(worker, 10)), 55, "the pool must still work");
    });
}

#[test]
fn the_first_panic_resumes_even_if_the_other_result_panics_when_dropped() {
    abort_if_hanging(|| {
        let pool = Pool::<ChaseLev>::new(2).unwrap();
        // The second closure is taken back.
        let panicked: u32 =
            catch_payload(|| pool.install(|worker| worker.join(|_| panic_with(1_u32), |_| PanicsOnDrop)));
        assert_eq!(panicked, 1);
        // The second closure is stolen.
        for first_panics in [true, false] {
            let stolen = Barrier::new(2);
            let end = |panics: bool| {
                stolen.wait();
                if panics {
                    panic_with(1_u32);
                }
                PanicsOnDrop
            };
            let both = || pool.install(|worker| worker.join(|_| end(first_panics), |_| end(!first_panics)));
            assert_eq!(catch_payload::<u32, _>(both), 1);
        }
    });
}

#[test]
fn a_pool_can_be_dropped_even_if_the_drop_of_a_queue_panics() {
    abort_if_hanging(|| {
        let queue = FaultyQueue::default();
        let pool = Pool::with_queue(2, queue.clone()).unwrap();
        assert_eq!(pool.install(|worker| fib(worker, 10)), 55);
        queue.arm(Fault::PanicInDrop);
        drop(pool);
        assert!(queue.has_triggered());
    });
}
