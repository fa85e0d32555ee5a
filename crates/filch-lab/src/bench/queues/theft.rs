//! Bursts of an owner while a thief on another thread steals.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{bail, Result};
use filch_queue::bound::Bound;
use filch_queue::Steal;

use super::cases::{Sample, BURST, ROOM};
use super::contenders::Contender;
use crate::bench::pin::Cores;

/// What a thief did in one measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Theft {
    /// The number of tasks that the owner pushed.
    pub(crate) pushed: usize,
    /// The number of them that a thief took.
    pub(crate) stolen: usize,
    /// The number of extractions beyond the first of each task.
    pub(crate) repeated: usize,
}

impl Theft {
    /// Adds the counts of another measurement.
    pub(crate) fn add(&mut self, other: Theft) {
        self.pushed += other.pushed;
        self.stolen += other.stolen;
        self.repeated += other.repeated;
    }
}

/// The owner's time for a push and a pop while a thief steals.
pub(super) fn push_under_theft<C: Contender>(bursts: usize, cores: Cores, bound: Bound) -> Result<Sample> {
    let (owner, thief) = C::stealable(ROOM, bound)?;
    let ready = AtomicBool::new(false);
    let stop = AtomicBool::new(false);

    let mut popped = Marks::new(bursts);
    let (elapsed, stolen) = thread::scope(|scope| {
        let (ready, stop) = (&ready, &stop);
        let thief_thread = scope.spawn(move || {
            cores.pin_thief();
            let mut stolen = Marks::new(bursts);
            // Release, here and below: the work of a thread before its signal must not move past
            // the signal into the timed part.
            ready.store(true, Ordering::Release);
            run_thief::<C>(&thief, stop, &mut stolen);
            stolen
        });
        while !ready.load(Ordering::Acquire) && !thief_thread.is_finished() {
            thread::yield_now();
        }

        let start = Instant::now();
        run_owner::<C>(&owner, &mut popped);
        let elapsed = start.elapsed();

        stop.store(true, Ordering::Release);
        // Some thieves wait for the owner's next pop. Without further pops they would wait forever.
        while !thief_thread.is_finished() {
            C::pop(&owner).into_iter().for_each(|task| popped.mark(task));
            thread::yield_now();
        }
        (elapsed, thief_thread.join())
    });
    while let Some(task) = C::pop(&owner) {
        popped.mark(task);
    }

    let Ok(stolen) = stolen else {
        bail!("the thief's thread failed");
    };
    let theft = account(&popped, &stolen, C::EXACTLY_ONCE)?;
    Ok(Sample { theft: Some(theft), ..Sample::new(elapsed, bursts * BURST) })
}

#[inline(never)]
fn run_owner<C: Contender>(owner: &C::Owner, popped: &mut Marks) {
    for burst in 0..popped.bursts.len() {
        let owner = black_box(owner);
        let first = burst * BURST;
        // The marks of this burst stay in a register until the burst ends: a store for each pop
        // would be timed as well.
        let mut marks = 0u64;
        let mut pops = 0;
        for place in 0..BURST {
            // A thief that is descheduled in the middle of a steal can keep a queue of fixed size
            // full. The owner executes a task without room at once, as a scheduler would.
            if !C::push(owner, first + place) {
                marks |= 1 << place;
                pops += 1;
            }
        }
        while pops < BURST {
            let Some(task) = C::pop(owner) else { break };
            let place = task.wrapping_sub(first);
            if place < BURST {
                marks |= 1 << place;
                pops += 1;
            } else {
                popped.mark_stray(task);
            }
        }
        popped.repeated += pops - marks.count_ones() as usize;
        popped.add(burst, marks);
    }
}

#[inline(never)]
fn run_thief<C: Contender>(thief: &C::Thief, stop: &AtomicBool, stolen: &mut Marks) {
    // A pause takes up to about 50 ns and a burst some hundreds: a longer wait would miss whole
    // bursts.
    const MAX_PAUSES: u32 = 8;

    let mut pauses = 1;
    while !stop.load(Ordering::Acquire) {
        match C::steal(thief) {
            Steal::Success(task) => {
                stolen.mark(task);
                pauses = 1;
            }
            Steal::Retry => {}
            Steal::Empty | Steal::Abort => {
                (0..pauses).for_each(|_| spin_loop());
                pauses = (pauses * 2).min(MAX_PAUSES);
            }
        }
    }
}

/// The tasks that one side extracted. A task is a bit, a burst is a word.
#[derive(Debug)]
struct Marks {
    bursts: Vec<u64>,
    /// The number of extractions by this side beyond the first of each task.
    repeated: usize,
    /// The number of extracted values that were never pushed.
    garbled: usize,
}

impl Marks {
    fn new(bursts: usize) -> Marks {
        const { assert!(BURST == u64::BITS as usize) };
        Marks { bursts: vec![0; bursts], repeated: 0, garbled: 0 }
    }

    fn mark(&mut self, task: usize) {
        self.add(task / BURST, 1 << (task % BURST));
    }

    /// Marks a task of an earlier burst.
    ///
    /// A thief was stealing it when the owner looked for it.
    #[cold]
    fn mark_stray(&mut self, task: usize) {
        self.mark(task);
    }

    #[inline]
    fn add(&mut self, burst: usize, marks: u64) {
        match self.bursts.get_mut(burst) {
            Some(known) => {
                self.repeated += (*known & marks).count_ones() as usize;
                *known |= marks;
            }
            None => self.garbled += 1,
        }
    }
}

/// Compares the tasks that both sides extracted with the tasks that were pushed.
fn account(popped: &Marks, stolen: &Marks, exactly_once: bool) -> Result<Theft> {
    let pushed = popped.bursts.len() * BURST;
    let mut lost = 0;
    let mut theft = Theft { pushed, stolen: 0, repeated: popped.repeated + stolen.repeated };
    for (popped, stolen) in popped.bursts.iter().zip(&stolen.bursts) {
        lost += (popped | stolen).count_zeros() as usize;
        theft.stolen += stolen.count_ones() as usize;
        theft.repeated += (popped & stolen).count_ones() as usize;
    }

    let garbled = popped.garbled + stolen.garbled;
    if garbled > 0 {
        bail!("{garbled} tasks were extracted that were never pushed");
    }
    if lost > 0 {
        bail!("{lost} of {pushed} tasks were lost");
    }
    if exactly_once && theft.repeated > 0 {
        bail!("{} of {pushed} tasks were extracted twice, although the queue is exactly-once", theft.repeated);
    }
    Ok(theft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(tasks: impl IntoIterator<Item = usize>) -> Marks {
        let mut marks = Marks::new(2);
        tasks.into_iter().for_each(|task| marks.mark(task));
        marks
    }

    #[test]
    fn a_task_on_either_side_is_accounted_for() {
        let theft = account(&marks(0..100), &marks(100..128), true).unwrap();
        assert_eq!(theft, Theft { pushed: 128, stolen: 28, repeated: 0 });
    }

    #[test]
    fn a_task_on_neither_side_is_lost() {
        let error = account(&marks(0..100), &marks(101..128), false).unwrap_err();
        assert!(error.to_string().contains("1 of 128 tasks were lost"), "{error}");
    }

    #[test]
    fn a_task_on_both_sides_is_an_error_only_if_exactly_once_was_promised() {
        let (popped, stolen) = (marks(0..101), marks(100..128));
        assert_eq!(account(&popped, &stolen, false).unwrap().repeated, 1);
        assert!(account(&popped, &stolen, true).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn a_task_twice_on_one_side_is_repeated() {
        let theft = account(&marks((0..128).chain([5])), &marks([]), false).unwrap();
        assert_eq!(theft.repeated, 1);
    }

    #[test]
    fn a_task_that_was_never_pushed_is_an_error() {
        let error = account(&marks(0..129), &marks([]), false).unwrap_err();
        assert!(error.to_string().contains("never pushed"), "{error}");
    }
}
