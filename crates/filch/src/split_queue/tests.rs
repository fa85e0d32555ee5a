use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::Arc;
use std::thread;

use filch_queue::{Owner as _, Steal, Thief as _};
use proptest::prelude::*;

use super::*;

const CHUNK: u64 = Ring::<usize>::CHUNK;
/// Shortly before 32-bit positions wrap.
const BEFORE_WRAP: u64 = u32::MAX as u64 + 1 - 2 * CHUNK;

/// Creates an empty queue whose next position is `position`, where a block begins.
fn queue_at<T>(position: u64, mode: Mode) -> (Owner<T>, Thief<T>) {
    let (owner, thief) = with_mode(mode);
    owner.bottom.set(position);
    owner.base.set(position);
    let shared = &thief.shared;
    shared.bottom.store(position, Ordering::Relaxed);
    shared.split().reset(position as u32, || ());
    shared.taken.moved.store(position as u32, Ordering::Relaxed);
    shared.ring.begin_at(position);
    (owner, thief)
}

/// The mode in which raids work here.
fn mode() -> Mode {
    if barrier::register() {
        Mode::Asymmetric
    } else {
        Mode::Fenced
    }
}

fn chunks<T>(thief: &Thief<T>) -> u64 {
    // SAFETY: called on the owner's thread.
    unsafe { thief.shared.ring.chunks() }
}

/// Steals up to `most` tasks, also private ones.
fn steal_all<T>(thief: &Thief<T>, most: u32) -> Vec<T> {
    loop {
        match thief.claim_or_raid(most) {
            Steal::Success(tasks) => return tasks.collect(),
            Steal::Retry => {}
            Steal::Empty => return Vec::new(),
            Steal::Abort => panic!("the kernel refused a barrier"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
    Steal(u32),
    StealPublic(u32),
    Alarm,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let many = 1..3 * CHUNK as usize;
    let step = prop_oneof![
        3 => many.clone().prop_map(Step::Push),
        2 => many.clone().prop_map(Step::Pop),
        1 => (1..400u32).prop_map(Step::Steal),
        2 => (1..400u32).prop_map(Step::StealPublic),
        1 => Just(Step::Alarm),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_queue_behaves_as_its_model(steps in steps(), fenced in any::<bool>(), start in 0..3u64) {
        let mode = if fenced { Mode::Fenced } else { mode() };
        let (owner, thief) = queue_at([0, BEFORE_WRAP, (1 << 40) - CHUNK][start as usize], mode);
        let mut model = VecDeque::new();
        let mut next = 0usize;
        let (mut push_looks, mut pop_looks) = (true, false);
        for step in steps {
            match step {
                Step::Push(count) => (0..count).for_each(|_| {
                    assert_eq!(owner.try_push_and_look(next).ok(), Some(std::mem::take(&mut push_looks)));
                    model.push_back(next);
                    next += 1;
                }),
                Step::Pop(count) => (0..count).for_each(|_| {
                    let (task, look) = owner.pop_and_look();
                    assert_eq!(task, model.pop_back());
                    assert!(pop_looks || !look);
                    pop_looks &= !look;
                }),
                Step::Steal(most) => {
                    let stolen = steal_all(&thief, most);
                    assert_eq!(stolen.is_empty(), model.is_empty());
                    assert!(stolen.len() <= most as usize);
                    stolen.into_iter().for_each(|task| assert_eq!(Some(task), model.pop_front()));
                }
                Step::StealPublic(most) => match thief.claim(most) {
                    Steal::Success(tasks) => tasks.for_each(|task| assert_eq!(Some(task), model.pop_front())),
                    Steal::Empty => assert!(model.is_empty()),
                    Steal::Abort => assert!(!model.is_empty()),
                    Steal::Retry => panic!("no other thief is there"),
                },
                Step::Alarm => {
                    thief.raise_alarm();
                    (push_looks, pop_looks) = (true, true);
                }
            }
            assert_eq!((owner.len(), thief.len()), (model.len(), model.len()));
            assert!(thief.shared.top_if_all_moved().is_some());
        }
    }
}

#[test]
fn an_owner_publishes_half_when_a_thief_asks() {
    let (owner, thief) = with_mode(Mode::Asymmetric);
    assert!(owner.try_push_and_look(0).unwrap(), "the first push looks");
    assert_eq!(thief.steal_or_abort(), Steal::Success(0));
    (1..100).for_each(|task| assert!(!owner.try_push_and_look(task).unwrap()));
    assert_eq!(thief.steal_or_abort(), Steal::Abort);
    assert_eq!(owner.pop_and_look(), (Some(99), false));
    // 98 tasks are left, of which 49 are public now. A thief takes half of these.
    assert_eq!(thief.claim(MAX_SHARE).map(Iterator::count), Steal::Success(25));
    assert_eq!(thief.steal_or_abort(), Steal::Success(26));
    assert_eq!(std::iter::from_fn(|| owner.pop()).count(), 98 - 26);
    assert_eq!(thief.steal_or_abort(), Steal::Empty);
    // A push answers, too.
    owner.push(100);
    assert_eq!(thief.steal_or_abort(), Steal::Abort);
    assert!(!owner.try_push_and_look(101).unwrap());
    assert_eq!(thief.steal_or_abort(), Steal::Success(100));
    // A pop that takes the last task leaves it to the next push.
    assert_eq!(thief.steal_or_abort(), Steal::Abort);
    assert_eq!(owner.pop_and_look(), (Some(101), false));
    owner.push(102);
    assert_eq!(thief.steal_or_abort(), Steal::Success(102));
}

#[test]
fn an_alarm_makes_the_owner_look_after_a_pop_and_a_push() {
    for mode in [Mode::Asymmetric, Mode::Fenced] {
        let (owner, thief) = with_mode(mode);
        (0..10).for_each(|task| assert_eq!(owner.try_push_and_look(task).unwrap(), task == 0));
        assert_eq!(owner.pop_and_look(), (Some(9), false));
        thief.raise_alarm();
        assert_eq!(owner.pop_and_look(), (Some(8), true));
        assert!(owner.try_push_and_look(8).unwrap());
        assert!(!owner.try_push_and_look(9).unwrap());
        assert_eq!(owner.pop_and_look(), (Some(9), false));
        // The push does not look for the pop.
        thief.raise_alarm();
        assert!(owner.try_push_and_look(9).unwrap());
        assert_eq!(owner.pop_and_look(), (Some(9), true));
        assert_eq!(owner.pop_and_look(), (Some(8), false));
    }
}

#[test]
fn chunks_are_used_again_and_freed() {
    let (owner, thief) = with_mode(mode());
    // As many tasks come as go, over a hundred times the room.
    for task in 0..100 * CHUNK as usize {
        owner.push(task);
        assert_eq!(steal_all(&thief, 1), [task]);
    }
    assert!(chunks(&thief) <= 2, "{} chunks for one task at a time", chunks(&thief));
    let fill = || {
        (0..100 * CHUNK as usize).for_each(|task| owner.push(task));
        assert!(chunks(&thief) >= 100);
        while owner.pop().is_some() {}
    };
    fill();
    // The next time that it is empty, what was not needed since is freed.
    owner.push(0);
    assert!(owner.pop().is_some() && owner.pop().is_none());
    assert!(chunks(&thief) <= 2, "{} chunks for no task", chunks(&thief));
    fill();
}

/// Counts its drops. Panics in the drop of those with this number.
struct Counted(Arc<AtomicUsize>, bool);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "a drop that panics");
    }
}

#[test]
fn tasks_that_are_left_are_dropped_once() {
    for panics in [false, true] {
        let drops = Arc::new(AtomicUsize::new(0));
        let (owner, thief) = with_mode(mode());
        let push = |count: usize| (0..count).for_each(|n| owner.push(Counted(drops.clone(), panics && n == 150)));
        push(1000);
        assert_eq!(steal_all(&thief, 1).len(), 1);
        drop((0..9).map(|_| owner.pop()).collect::<Vec<_>>());
        // A thief takes some of them, and leaves the rest of its share to the drop.
        let drop_share = || match thief.claim_or_raid(200) {
            Steal::Success(mut tasks) => drop(tasks.next()),
            other => panic!("no share: {:?}", other.map(Iterator::count)),
        };
        assert_eq!(catch_unwind(AssertUnwindSafe(drop_share)).is_err(), panics);
        assert_eq!(drops.load(Ordering::Relaxed), 210);
        assert!(thief.shared.top_if_all_moved().is_some());
        push(1000);
        drop(owner);
        assert_eq!(drops.load(Ordering::Relaxed), 210, "the thief still holds the queue");
        assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(thief))).is_err(), panics);
        assert_eq!(drops.load(Ordering::Relaxed), 2000);
    }
}

#[test]
fn tasks_can_have_any_size_and_alignment() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(128))]
    struct Aligned(u8);

    fn check<T: Clone + PartialEq + fmt::Debug>(task: T) {
        let (owner, thief) = with_mode(mode());
        (0..5000).for_each(|_| owner.push(task.clone()));
        // The first task was published at once, and half of the others for the second steal.
        assert_eq!(steal_all(&thief, 256), vec![task.clone(); 1]);
        assert_eq!(steal_all(&thief, 256), vec![task.clone(); 256]);
        for _ in 257..5000 {
            assert_eq!(owner.pop().as_ref(), Some(&task));
        }
        assert_eq!(owner.pop(), None);
    }
    check(());
    check(7u8);
    check([7u8; 3]);
    check([7u64; 700]);
    check(Aligned(7));
    check(String::from("a task"));
}

/// An owner pushes and pops, and thieves steal, ask and raid. Each task is returned once.
fn stress(mode: Mode, start: u64) {
    let tasks: usize = if cfg!(filch_tsan) { 20_000 } else { 400_000 };
    let (owner, thief) = queue_at(start, mode);
    let runs: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    let over = AtomicBool::new(false);
    let run = |task: Box<usize>| _ = runs[*task].fetch_add(1, Ordering::Relaxed);
    thread::scope(|threads| {
        let thieves: Vec<_> = (0..3)
            .map(|index| {
                let (thief, over) = (thief.clone(), &over);
                threads.spawn(move || {
                    let mut looks = 0u32;
                    while !over.load(Ordering::Acquire) {
                        looks += 1;
                        let raids = index == 0 && looks % 16 == 0;
                        match if raids { thief.claim_or_raid(looks % 7 + 1) } else { thief.claim(MAX_SHARE) } {
                            Steal::Success(tasks) => tasks.for_each(run),
                            _ => thread::yield_now(),
                        }
                    }
                })
            })
            .collect();
        let mut next = 0usize;
        let mut random = crate::random::Random::new(start as usize);
        while next < tasks {
            for _ in 0..random.below(700).min(tasks - next) {
                owner.push(Box::new(next));
                next += 1;
            }
            for _ in 0..random.below(700) {
                match owner.pop() {
                    Some(task) => run(task),
                    None => break,
                }
            }
        }
        while let Some(task) = owner.pop() {
            run(task);
        }
        while thief.shared.top_if_all_moved().is_none() {
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
fn each_task_is_returned_once() {
    for mode in [Mode::Asymmetric, Mode::Fenced] {
        stress(mode, 0);
        stress(mode, BEFORE_WRAP - 100 * CHUNK);
    }
}
