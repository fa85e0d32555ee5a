//! What the owner and the thieves do: pushes and pops in changing rhythms, and steals.

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::OnceLock;
use std::thread;

use crate::common::Shape;
use crate::threads::Dice;
use filch_queue::{Owner, Steal, Thief};

/// Pops until the queue is empty.
pub(crate) fn drain<Q: Owner>(owner: &Q, mut take: impl FnMut(Q::Task)) {
    while let Some(task) = owner.pop() {
        take(task);
    }
    expect_empty(owner);
}

/// Checks that the queue stays empty. The owner has found it empty, and no task was pushed since.
pub(crate) fn expect_empty(owner: &impl Owner) {
    for _ in 0..4 {
        assert!(owner.pop().is_none(), "a pop returned no task and the next returned one, without a push in between");
    }
}

/// Stores to memory that is in no cache.
///
/// Later stores wait behind these stores, hidden from the other cores.
pub(crate) fn fill_store_buffer(stores: usize, dice: &mut Dice) {
    const BYTES: usize = 64 << 20;
    static COLD: OnceLock<Vec<AtomicU8>> = OnceLock::new();
    // The memory is written beforehand: a page fault would drain the store buffer.
    let cold = COLD.get_or_init(|| (0..BYTES).map(|_| AtomicU8::new(1)).collect());
    for _ in 0..stores {
        cold[dice.roll(0..BYTES)].store(2, Ordering::Relaxed);
    }
}

/// Pushes the tasks of these numbers in changing rhythms, pops many, and leaves some.
pub(crate) fn push_and_pop<Q: Owner>(
    owner: &Q,
    ids: Range<usize>,
    make: impl Fn(usize) -> Q::Task,
    dice: &mut Dice,
    mut take: impl FnMut(Q::Task),
) {
    let mut next = ids.start;
    let mut push = |count: usize| {
        let end = ids.end.min(next + count);
        (next..end).for_each(|id| owner.push(make(id)));
        next = end;
        next < ids.end
    };
    let mut more = true;
    while more {
        let rhythm = dice.roll(0..100);
        let turns = if rhythm < 45 { dice.roll(1..4000) } else { dice.roll(1..200) };
        for _ in 0..turns {
            match rhythm {
                // The owner and the thieves want the same last task.
                0..=22 => {
                    more = push(dice.roll(1..4));
                    drain(owner, &mut take);
                }
                // The owner's pops stay hidden from the thieves for a while.
                23..=44 => {
                    more = push(dice.roll(1..9));
                    (0..dice.roll(0..30)).for_each(|_| hint::spin_loop());
                    fill_store_buffer(dice.roll(1..9), dice);
                    drain(owner, &mut take);
                }
                // The same, with delta tasks in the queue.
                45..=54 => {
                    more = push(dice.roll(60..80));
                    (0..dice.roll(0..30)).for_each(|_| hint::spin_loop());
                    fill_store_buffer(dice.roll(1..9), dice);
                    drain(owner, &mut take);
                }
                55..=69 => {
                    more = push(dice.roll(1..200));
                    drain(owner, &mut take);
                }
                // The queue is rarely empty.
                70..=89 => {
                    more = push(dice.roll(1..9));
                    (0..dice.roll(1..9)).filter_map(|_| owner.pop()).for_each(&mut take);
                }
                // The thieves have time.
                90..=95 => {
                    more = push(dice.roll(1..100));
                    (0..dice.roll(1..2000)).for_each(|_| hint::spin_loop());
                    drain(owner, &mut take);
                }
                // The array is replaced by a larger array and back, again and again.
                96..=97 => {
                    more = push(dice.roll(1000..5000));
                    drain(owner, &mut take);
                }
                // The array grows far, and shrinks.
                _ => {
                    more = push(dice.roll(10_000..40_000));
                    if dice.roll(0..2) == 0 {
                        (0..dice.roll(1..20_000)).filter_map(|_| owner.pop()).for_each(&mut take);
                    } else {
                        drain(owner, &mut take);
                    }
                    break;
                }
            }
            if !more {
                break;
            }
        }
    }
}

/// Steals until the owner is done and the queue is empty.
pub(crate) fn steal_until_done<S: Shape, Q: Thief>(thief: &Q, done: &AtomicBool, mut take: impl FnMut(Q::Task)) {
    let (mut idle, mut empty) = (0, 0);
    while empty < 3 {
        // Loaded before the steal, so that the steal sees all earlier pushes.
        let over = done.load(Ordering::Acquire);
        match thief.steal() {
            Steal::Success(task) => {
                take(task);
                (idle, empty) = (0, 0);
                if S::SLOW_STEAL && !over {
                    (0..200).for_each(|_| hint::spin_loop());
                }
            }
            Steal::Retry => hint::spin_loop(),
            Steal::Empty | Steal::Abort => {
                empty += usize::from(over);
                idle += 1;
                if idle % 64 == 0 {
                    thread::yield_now();
                }
            }
        }
    }
}
