use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

use proptest::prelude::*;

use super::*;

const CHUNK: u64 = Ring::<Job>::CHUNK;
use crate::worker::Worker;

unsafe fn never(_: *const (), _: &mut Worker, _: bool) {
    unreachable!("these tests look at the task and do not run it")
}

impl Deque {
    /// Creates a deque without tasks whose next position is `position`.
    fn at(position: u64, mode: Mode) -> Deque {
        let deque = Deque::new(mode, 1, Counted::WhenStolen);
        deque.owned.bottom.store(position, Ordering::Relaxed);
        deque.split().reset(position as u32, || ());
        deque.taken.moved.store(position as u32, Ordering::Relaxed);
        deque.ring.begin_at(position);
        deque
    }

    fn push_number(&self, number: usize) {
        // SAFETY: the owner's thread; the slot can be written.
        unsafe { self.push(|slot| Job::write(slot, number, never, Lineage::ROOT)) };
    }

    fn pop_number(&self, base: u64) -> Option<usize> {
        // SAFETY: the owner's thread.
        match unsafe { self.pop(base) } {
            // SAFETY: popped.
            Pop::Task(job) => Some(number(&unsafe { job.read() })),
            Pop::Empty | Pop::Stolen => None,
        }
    }

    fn steal_number(&self) -> Option<usize> {
        loop {
            match self.steal_if(|_| true, |_| ()) {
                Theft::Task(job) => return Some(number(&job)),
                Theft::Lost => {}
                Theft::Nothing => return None,
            }
        }
    }
}

fn number(job: &Job) -> usize {
    // SAFETY: written by `push_number`, and taken once.
    unsafe { Job::take_closure::<usize>(std::ptr::from_ref(job).cast()) }.0
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    TakeOldest(usize),
    Share,
    Raid,
    Steal(usize),
    Trim(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let many = 1..3 * CHUNK as usize;
    let step = prop_oneof![
        3 => many.clone().prop_map(Step::Push),
        2 => many.clone().prop_map(Step::Pop),
        1 => many.clone().prop_map(Step::TakeOldest),
        1 => Just(Step::Share),
        1 => Just(Step::Raid),
        2 => many.prop_map(Step::Steal),
        1 => any::<bool>().prop_map(Step::Trim),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_deque_behaves_as_its_model(steps in steps(), fenced in any::<bool>(), start in 0..3u64) {
        let mode = if fenced { Mode::Fenced } else { Mode::Asymmetric };
        // From the beginning, and shortly before 32-bit positions wrap.
        let start = [0, u64::from(u32::MAX) + 1 - 2 * CHUNK, (1 << 40) - CHUNK][start as usize];
        let deque = Deque::at(start, mode);
        let mut model = VecDeque::new();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Push(count) => (0..count).for_each(|_| {
                    deque.push_number(next);
                    model.push_back(next);
                    next += 1;
                }),
                Step::Pop(count) => (0..count).for_each(|_| assert_eq!(deque.pop_number(start), model.pop_back())),
                Step::TakeOldest(count) => (0..count).for_each(|_| {
                    // SAFETY: the owner's thread.
                    let oldest = unsafe { deque.take_oldest() };
                    assert_eq!(oldest.as_ref().map(number), model.pop_front());
                }),
                Step::Share => assert!(deque.share(true) as usize <= model.len()),
                // The owner does nothing meanwhile, so no barrier is needed.
                Step::Raid => assert!(deque.raid(|| true)),
                Step::Steal(count) => (0..count).for_each(|_| {
                    let has_public = deque.has_public();
                    let stolen = deque.steal_number();
                    assert_eq!(stolen.is_some(), has_public);
                    if stolen.is_some() {
                        assert_eq!(stolen, model.pop_front());
                    }
                }),
                // SAFETY: the owner's thread.
                Step::Trim(all) => unsafe { deque.trim(all) },
            }
            assert_eq!(deque.has_tasks(), !model.is_empty());
            assert!(model.is_empty() || deque.has_public() || deque.has_private());
            // SAFETY: the owner's thread, and no thief is under way.
            assert!(unsafe { deque.all_moved() });
        }
    }
}

#[test]
fn chunks_are_used_again_and_freed() {
    let deque = Deque::new(Mode::Asymmetric, 1, Counted::WhenStolen);
    let chunks = || {
        // SAFETY: the owner's thread.
        unsafe { deque.ring.chunks() }
    };
    // As many tasks come as go, over a hundred times the room.
    for number in 0..100 * CHUNK as usize {
        deque.push_number(number);
        deque.share(true);
        assert_eq!(deque.steal_number(), Some(number));
    }
    assert!(chunks() <= 2, "{} chunks for one task at a time", chunks());
    let fill = || {
        (0..1000 * CHUNK as usize).for_each(|number| deque.push_number(number));
        while deque.pop_number(0).is_some() {}
    };
    fill();
    assert!(chunks() >= 1000);
    // Chunks that are needed again and again are kept.
    for _ in 0..3 {
        // SAFETY: the owner's thread.
        unsafe { deque.trim(false) };
        assert!(chunks() >= 1000);
        fill();
    }
    // SAFETY: as above.
    unsafe { deque.trim(false) };
    // Chunks that were not needed since the last call are freed.
    // SAFETY: as above.
    unsafe { deque.trim(false) };
    assert!(chunks() <= 2, "{} chunks for no task", chunks());
    fill();
    // SAFETY: as above.
    unsafe { deque.trim(true) };
    assert!(chunks() <= 2, "{} chunks for no task", chunks());
    fill();
}

#[test]
fn chunks_are_used_again_though_thieves_are_under_way() {
    let deque = Deque::new(Mode::Asymmetric, 1, Counted::WhenStolen);
    let count_as_moved = || deque.taken.moved.fetch_add(1, Ordering::Release);
    for block in 0..100 {
        for place in 0..CHUNK {
            deque.push_number(0);
            deque.share(true);
            // At the end of every other block a thief is under way until the next block has begun.
            if place == 0 && block % 2 == 1 {
                count_as_moved();
            }
            if place == CHUNK - 1 && block % 2 == 0 {
                assert!(matches!(deque.taken.public.claim_if(|_| true), Claim::At(_)));
            } else {
                assert_eq!(deque.steal_number(), Some(0));
            }
        }
    }
    // SAFETY: the owner's thread.
    let chunks = unsafe { deque.ring.chunks() };
    assert!(chunks <= 4, "{chunks} chunks for one task at a time");
}

/// An owner pushes and takes, and thieves steal and raid. Each task is run once, whatever its owner
/// does meanwhile.
fn stress(mode: Mode, start: u64, takes_oldest: bool) {
    let tasks: usize = if cfg!(filch_tsan) { 20_000 } else { 200_000 };
    let deque = Deque::at(start, mode);
    let runs: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    let over = AtomicBool::new(false);
    let run = |task: usize| {
        runs[task].fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|threads| {
        let thieves: Vec<_> = (0..3)
            .map(|thief| {
                let (deque, over) = (&deque, &over);
                threads.spawn(move || {
                    let mut looks = 0u32;
                    while !over.load(Ordering::Acquire) {
                        match deque.steal_number() {
                            Some(task) => run(task),
                            None => thread::yield_now(),
                        }
                        looks += 1;
                        if thief == 0 && looks % 16 == 0 {
                            deque.raid(|| false);
                        }
                    }
                })
            })
            .collect();
        let mut next = 0;
        let mut random = crate::random::Random::new(start as usize);
        while next < tasks {
            for _ in 0..random.below(300).min(tasks - next) {
                deque.push_number(next);
                next += 1;
            }
            if random.below(2) == 0 {
                deque.share(random.below(2) == 0);
            }
            for _ in 0..random.below(300) {
                // SAFETY: the owner's thread.
                let oldest = || unsafe { deque.take_oldest() }.as_ref().map(number);
                match if takes_oldest { oldest() } else { deque.pop_number(start) } {
                    Some(task) => run(task),
                    None => break,
                }
            }
            if random.below(8) == 0 {
                // SAFETY: as above.
                unsafe { deque.trim(random.below(2) == 0) };
            }
        }
        while let Some(task) = deque.pop_number(start) {
            run(task);
        }
        // SAFETY: as above.
        while !unsafe { deque.all_moved() } {
            thread::yield_now();
        }
        over.store(true, Ordering::Release);
        thieves.into_iter().for_each(|thief| thief.join().expect("a thief"));
    });
    for (task, runs) in runs.iter().enumerate() {
        assert_eq!(runs.load(Ordering::Relaxed), 1, "runs of task {task}");
    }
}

#[test]
fn each_task_is_taken_once() {
    for mode in [Mode::Asymmetric, Mode::Fenced] {
        for takes_oldest in [false, true] {
            stress(mode, 0, takes_oldest);
            stress(mode, u64::from(u32::MAX) + 1 - 100 * CHUNK, takes_oldest);
        }
    }
}
