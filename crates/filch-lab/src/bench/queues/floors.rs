//! Floors: the least that an owner could do.
//!
//! They are loops written by hand that make the memory accesses an algorithm requires and nothing
//! else. They check no capacity, use a fixed array, and keep in a register what only the owner
//! writes.
//!
//! They are not queues. A queue that comes close to its floor leaves nothing to optimise.

use std::hint::black_box;
use std::sync::atomic::{fence, AtomicU64, AtomicUsize, Ordering};

use anyhow::Result;
use crossbeam_utils::CachePadded;

use super::cases::{time_bursts, Case, Popped, Sample, Setup, BURST};
use super::contenders::Entry;
use super::work::{Busy, Sum, Work};

/// The floors of this machine.
pub(crate) fn entries() -> Vec<Entry> {
    let takes_part = |case| matches!(case, Case::Burst | Case::TaskCost(_));
    let entry =
        |name, measure| Entry { name, floor: true, trusts_bound: false, takes_part, measure, note: |_, _| None };
    vec![
        entry("floor-lock", |case, setup| measure(case, setup, chase_lev::<Locked, Sum>, chase_lev::<Locked, Busy>)),
        #[cfg(target_arch = "x86_64")]
        entry("floor-mfence", |case, setup| {
            measure(case, setup, chase_lev::<Mfenced, Sum>, chase_lev::<Mfenced, Busy>)
        }),
        entry("floor-lifo", |case, setup| measure(case, setup, lifo::<Sum>, lifo::<Busy>)),
    ]
}

/// Measures a floor. It is a loop of bursts, so it takes part only in cases of bursts.
fn measure(
    case: Case,
    setup: &Setup,
    summing: fn(usize, u64) -> Popped,
    spinning: fn(usize, u64) -> Popped,
) -> Result<Sample> {
    let plan = &setup.plan;
    match case {
        Case::TaskCost(nanos) => time_bursts(plan.bursts_of(nanos), setup.calibration.steps(nanos), spinning),
        _ => time_bursts(plan.bursts, 0, summing),
    }
}

/// How a pop makes its store of the tail visible before it loads the head.
trait Publish {
    fn publish(tail: &AtomicUsize, value: usize);
}

/// Publishes with a locked instruction.
///
/// On x86-64 the exchange is such an instruction, and both the store and the fence.
enum Locked {}

impl Publish for Locked {
    #[inline(always)]
    fn publish(tail: &AtomicUsize, value: usize) {
        if cfg!(target_arch = "x86_64") {
            // SeqCst: it is the fence.
            tail.swap(value, Ordering::SeqCst);
        } else {
            // Relaxed, then SeqCst: the fence orders the store before the load of the head.
            tail.store(value, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }
}

/// Publishes with a store and `mfence`.
#[cfg(target_arch = "x86_64")]
enum Mfenced {}

#[cfg(target_arch = "x86_64")]
impl Publish for Mfenced {
    #[inline(always)]
    fn publish(tail: &AtomicUsize, value: usize) {
        // Relaxed: the fence that follows orders it before the load of the head.
        tail.store(value, Ordering::Relaxed);
        // SAFETY: a fence touches no register and no memory. The options do not tell the compiler
        // that memory is untouched, so it moves no access across.
        unsafe { std::arch::asm!("mfence", options(nostack, preserves_flags)) };
    }
}

/// The accesses of the owner in Chase and Lev's queue.
///
/// Push: write the slot, store the tail. Pop: store the tail, fence, load the head, compare, read
/// the slot.
#[inline(never)]
fn chase_lev<P: Publish, W: Work>(bursts: usize, steps: u64) -> Popped {
    let mut work = W::new(steps);
    let head = CachePadded::new(AtomicUsize::new(0));
    let tail_word = CachePadded::new(AtomicUsize::new(0));
    let slots = CachePadded::new([const { AtomicUsize::new(0) }; BURST]);

    let mut tail = 0;
    for burst in 0..bursts {
        // Thieves could see all of it, and the compiler must not know where a burst begins.
        let (head, tail_word, slots) = black_box((&head, &tail_word, &slots));
        tail = black_box(tail);
        for place in 0..BURST {
            // Relaxed: the store of the tail publishes it.
            slots[tail % BURST].store(burst * BURST + place, Ordering::Relaxed);
            tail += 1;
            // Release: a thief that sees the tail sees the slot.
            tail_word.store(tail, Ordering::Release);
        }
        for _ in 0..BURST {
            tail -= 1;
            P::publish(tail_word, tail);
            // Relaxed: the fence orders it.
            if head.load(Ordering::Relaxed) > tail {
                return Popped::incomplete(work);
            }
            // Relaxed: the owner wrote it.
            work.execute(slots[tail % BURST].load(Ordering::Relaxed));
        }
    }
    Popped::complete(work)
}

/// The accesses of the owner in the idempotent LIFO.
///
/// Push: load the anchor, write the slot, store the anchor with a new tag. Pop: load the anchor,
/// compare, read the slot, store the anchor.
///
/// Each load waits for the store just before it, which takes most of the time. An owner gets below
/// this floor if it remembers what it stored and only checks the load.
#[inline(never)]
fn lifo<W: Work>(bursts: usize, steps: u64) -> Popped {
    let mut work = W::new(steps);
    // The tail is in the low half, the tag in the high half.
    const TAG: u64 = 1 << 32;
    let tail_of = |anchor: u64| anchor as u32 as usize;

    let anchor = CachePadded::new(AtomicU64::new(0));
    let slots = CachePadded::new([const { AtomicUsize::new(0) }; BURST]);

    for burst in 0..bursts {
        // Thieves could see all of it and move the anchor, so it cannot be kept in a register.
        let (anchor, slots) = black_box((&anchor, &slots));
        for place in 0..BURST {
            // Relaxed: a stale anchor only lets a task be extracted again.
            let old = anchor.load(Ordering::Relaxed);
            // Relaxed: the store of the anchor publishes it.
            slots[tail_of(old) % BURST].store(burst * BURST + place, Ordering::Relaxed);
            // Release: a thief that sees the anchor sees the slot.
            anchor.store(old.wrapping_add(TAG + 1), Ordering::Release);
        }
        for _ in 0..BURST {
            // Relaxed: as in push.
            let old = anchor.load(Ordering::Relaxed);
            if tail_of(old) == 0 {
                return Popped::incomplete(work);
            }
            // Relaxed: the owner wrote it.
            work.execute(slots[(tail_of(old) - 1) % BURST].load(Ordering::Relaxed));
            // Release: a thief that sees the anchor still sees the slot unchanged.
            anchor.store(old - 1, Ordering::Release);
        }
    }
    Popped::complete(work)
}
