//! Every queue against a sequential model, on a single thread.
//!
//! There even an at-least-once queue returns each task once.
#![cfg(not(loom))]

mod common;

use std::collections::VecDeque;
use std::marker::PhantomData;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use common::{
    delta, for_every_exact_queue, for_every_queue, Doubt, End, ExactQueue, Padded, Queue, Sample, Setup, Shape, Uneven,
};
use filch_queue::bound::Delta;
use filch_queue::idempotent::{double_ended, lifo};
use filch_queue::{Owner, PushError, Steal, Thief};

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    Steal(usize),
    CloneThief,
    DropThief,
}

/// Generates mostly small counts, so that the queue is often empty and often just full.
///
/// Some counts are so large that the array grows far beyond the size that it keeps, or is replaced
/// by a smaller array.
fn count() -> impl Strategy<Value = usize> {
    prop_oneof![24 => 1_usize..=5, 4 => 5_usize..=70, 1 => 1000_usize..=9000]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => count().prop_map(Step::Push),
        4 => count().prop_map(Step::Pop),
        4 => count().prop_map(Step::Steal),
        1 => Just(Step::CloneThief),
        1 => Just(Step::DropThief),
    ]
}

/// Generates small capacities, indices that wrap soon or start at 0, and two deltas.
///
/// The indices start just below where indices of 64, 32 and 27 bits wrap. The deltas are 2 and 64.
fn setup() -> impl Strategy<Value = Setup> {
    let index = prop_oneof![
        2 => Just(0),
        3 => (0_usize..100).prop_map(|k| usize::MAX - k),
        1 => (0_usize..100).prop_map(|k| u32::MAX as usize - k),
        1 => (0_usize..100).prop_map(|k| (1 << 27) - 1 - k),
        1 => (0_usize..100).prop_map(|k| isize::MAX as usize - k),
    ];
    (index, 0_usize..=4, prop_oneof![Just(63), Just(1)]).prop_map(|(index, capacity, extra_stores)| Setup {
        index,
        capacity,
        delta: delta(extra_stores),
    })
}

/// The queue's sequential specification.
struct Model<S: Shape> {
    /// The numbers of the tasks, oldest first.
    tasks: VecDeque<usize>,
    pushed: usize,
    /// The maximum number of tasks.
    limit: usize,
    delta: Delta,
    kind: PhantomData<S>,
}

impl<S: Shape> Model<S> {
    fn new(limit: usize, delta: Delta) -> Self {
        Model { tasks: VecDeque::new(), pushed: 0, limit, delta, kind: PhantomData }
    }

    fn take(&mut self, end: End) -> Option<usize> {
        match end {
            End::Oldest => self.tasks.pop_front(),
            End::Youngest => self.tasks.pop_back(),
        }
    }

    /// Returns the number of a new task, and whether the queue accepts it.
    fn push(&mut self) -> (usize, bool) {
        self.pushed += 1;
        let taken = self.tasks.len() < self.limit;
        if taken {
            self.tasks.push_back(self.pushed);
        }
        (self.pushed, taken)
    }

    fn pop(&mut self) -> Option<usize> {
        self.take(S::POP)
    }

    fn steal(&mut self) -> Steal<usize> {
        match self.tasks.len() {
            0 => Steal::Empty,
            len if len <= S::DOUBT.reach(self.delta) => Steal::Abort,
            _ => self.take(S::STEAL).map_or(Steal::Empty, Steal::Success),
        }
    }

    /// Returns whether a steal would wait for the owner, which is on the same thread.
    fn would_wait(&self) -> bool {
        S::DOUBT == Doubt::Waits && (1..=S::DOUBT.reach(self.delta)).contains(&self.tasks.len())
    }
}

fn follow<S, T, O, W>(mut model: Model<S>, steps: &[Step], (owner, thief): (O, W)) -> TestCaseResult
where
    S: Shape,
    T: Sample,
    O: Owner<Task = T>,
    W: Thief<Task = T>,
{
    let mut thieves = VecDeque::from([thief]);
    for step in steps {
        match *step {
            Step::Push(count) => {
                for _ in 0..count {
                    let (task, taken) = model.push();
                    let refused = owner.try_push(T::sample(task)).err().map(PushError::into_task);
                    prop_assert_eq!(refused, (!taken).then(|| T::sample(task)));
                }
            }
            Step::Pop(count) => {
                for _ in 0..count {
                    prop_assert_eq!(owner.pop(), model.pop().map(T::sample));
                }
            }
            Step::Steal(count) => {
                for _ in 0..count {
                    if model.would_wait() {
                        break;
                    }
                    // The thieves take turns.
                    thieves.rotate_left(1);
                    prop_assert_eq!(thieves[0].steal(), model.steal().map(T::sample));
                }
            }
            Step::CloneThief => thieves.push_back(thieves[0].clone()),
            Step::DropThief => {
                if thieves.len() > 1 {
                    thieves.pop_front();
                }
            }
        }
        prop_assert_eq!(owner.len(), model.tasks.len());
        prop_assert_eq!(owner.is_empty(), model.tasks.is_empty());
        for thief in &thieves {
            prop_assert_eq!(thief.len(), model.tasks.len());
            prop_assert_eq!(thief.is_empty(), model.tasks.is_empty());
        }
    }
    // After the owner is dropped, no thief is in doubt.
    drop(owner);
    while let Some(left) = model.take(S::STEAL) {
        prop_assert_eq!(thieves[0].steal(), Steal::Success(T::sample(left)));
    }
    prop_assert_eq!(thieves[0].steal(), Steal::Empty);
    Ok(())
}

/// Not generic: the runner is much code, and a single copy serves all queues.
fn check(run: &dyn Fn(Setup, &[Step]) -> TestCaseResult) {
    let config = ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() };
    let scripts = (setup(), prop::collection::vec(step(), 1..120));
    let outcome = TestRunner::new(config).run(&scripts, |(setup, steps)| run(setup, &steps));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

fn follows_the_model<Q: Queue, T: Sample + Copy>() {
    check(&|setup, steps| {
        let model = Model::<Q>::new(usize::MAX, setup.delta);
        follow(model, steps, Q::make::<T>(setup).unwrap())
    });
}

fn follows_the_model_with_boxes<Q: ExactQueue>() {
    check(&|setup, steps| {
        let model = Model::<Q>::new(usize::MAX, setup.delta);
        follow(model, steps, Q::make_exact::<Box<usize>>(setup).unwrap())
    });
}

fn follows_the_model_with_words<Q: Queue>() {
    follows_the_model::<Q, usize>();
}

fn follows_the_model_with_padding<Q: Queue>() {
    follows_the_model::<Q, Padded>();
}

fn follows_the_model_with_uneven_sizes<Q: Queue>() {
    follows_the_model::<Q, Uneven>();
}

fn follows_the_model_with_bytes<Q: Queue>() {
    follows_the_model::<Q, u8>();
}

fn follows_the_model_with_nothing<Q: Queue>() {
    follows_the_model::<Q, ()>();
}

for_every_queue!(a_queue_of_words_follows_its_model, follows_the_model_with_words);

for_every_queue!(a_queue_of_tasks_with_padding_follows_its_model, follows_the_model_with_padding);

for_every_queue!(a_queue_of_tasks_of_uneven_size_follows_its_model, follows_the_model_with_uneven_sizes);

for_every_queue!(a_queue_of_bytes_follows_its_model, follows_the_model_with_bytes);

for_every_queue!(a_queue_of_tasks_without_size_follows_its_model, follows_the_model_with_nothing);

for_every_exact_queue!(a_queue_of_boxes_follows_its_model, follows_the_model_with_boxes);

/// Grows the queue by pushes, shrinks it by pops or steals, and repeats both.
fn grows_and_shrinks<Q: Queue>() {
    for index in [0, usize::MAX - 5_000] {
        let setup = Setup { index, capacity: 1, delta: delta(1) };
        for tasks in [1, 63, 64, 65, 1023, 1024, 1025, 40_000] {
            let steps = [
                Step::Push(tasks),
                Step::Pop(tasks / 3),
                Step::Steal(tasks),
                Step::Pop(tasks),
                Step::Push(tasks),
                Step::Pop(tasks + 1),
                Step::Push(tasks),
                Step::Steal(tasks + 1),
                Step::Push(10),
                Step::Pop(tasks),
                Step::Push(tasks),
            ];
            let model = Model::<Q>::new(usize::MAX, setup.delta);
            follow(model, &steps, Q::make::<usize>(setup).unwrap()).unwrap();
        }
    }
}

for_every_queue!(a_queue_that_grew_shrinks_and_grows_again_as_its_model, grows_and_shrinks);

/// The queues with narrow index fields, with a limit that the test can reach.
#[test]
fn a_queue_at_its_limit_refuses_tasks_as_its_model() {
    for limit in [8, 64, 4096] {
        check(&|setup, steps| {
            let queue = lifo::limited_to::<usize>(limit, setup.capacity).unwrap();
            follow(Model::<common::Lifo>::new(limit - 1, setup.delta), steps, queue)
        });
        check(&|setup, steps| {
            let queue = double_ended::limited_to::<usize>(limit, setup.capacity).unwrap();
            follow(Model::<common::DoubleEnded>::new(limit - 1, setup.delta), steps, queue)
        });
    }
}
