//! The race itself: a worker and a thief empty one queue, and what they have is counted. Figures 3 and 9.
//!
//! The queue is the instrument's own, because the stores of the worker are what is measured: one to the tail in each pop, L to cache lines of their own, and no other. The loop is
//! written in assembly, so that no compiler adds one. There are no tasks, only their number: reading them would tell nothing more.
//!
//! Beyond the figure, two things vary from run to run that have no influence on which runs are right, and a great one on how often a wrong one is met: the thief reads some of the lines
//! that the worker stores to, so that those stores have to wait for their lines and fill the store buffer, and it pauses between steals.

use std::hint::spin_loop;
use std::sync::atomic::{fence, AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crossbeam_utils::CachePadded;

use super::cores::Site;
use crate::bench::random::Random;

/// How many tasks there are in the beginning.
pub(super) const TASKS: i64 = 512;

/// The numbers of stores that the worker can make between two pops: small ones, and those that reach multiples of many bounds.
pub(super) const STORES: [usize; 19] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 16, 17, 23, 24, 32, 35, 47];

/// The most of them.
const LINES: usize = 47;
/// How many of the worker's lines the thief reads at most before a steal.
const MOST_READ: u64 = 4;
/// For how many turns the thief waits at most between steals. In half of the runs it does not wait at all, which finds the most.
const LONGEST_PAUSE: u64 = 6;
/// How often somebody looks for the other before the operating system is asked to run somebody else.
const PATIENCE: u32 = 500;
/// How many runs there are between two looks at the clock.
const BATCH: u64 = 32;
/// There is no round after this one.
const END: u64 = u64::MAX;

/// What is raced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// L: stores between two pops. One of [`STORES`].
    pub(super) stores: usize,
    /// How many pops the thief assumes hidden.
    pub(super) delta: usize,
    /// Whether the worker has a fence after all, so that no delta is needed.
    pub(super) fenced: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// How often it was raced.
    pub(super) runs: u64,
    /// How often the worker and the thief together had more tasks than there were, or fewer.
    pub(super) incorrect: u64,
}

/// What worker and thief share, each word in cache lines of its own.
struct Arena {
    /// H: the task that the thief takes next.
    head: CachePadded<AtomicI64>,
    /// T: one more than the task that the worker takes next.
    tail: CachePadded<AtomicI64>,
    /// For the thief's steal, and the worker's last doubts.
    lock: CachePadded<AtomicBool>,
    /// Where the worker stores between pops.
    lines: [CachePadded<AtomicI64>; LINES],
    /// The round that the thief is to begin.
    round: CachePadded<AtomicU64>,
    /// The round that the thief has ended, and what it stole in it.
    done: CachePadded<AtomicU64>,
    stolen: CachePadded<AtomicU64>,
    /// What the round is about: the thief's delta, and how many lines the worker uses.
    delta: CachePadded<AtomicUsize>,
    stores: CachePadded<AtomicUsize>,
    /// How long a round takes, about, in ticks.
    length: CachePadded<AtomicU64>,
}

/// Races one trial after the other, each so often, on these cores, until the trials end or `go_on` says no. It is asked once in a while; `told` hears what came of each trial.
///
/// Gives back whether both threads could be put there. If not, there is no race: what came of it would be taken for what comes of that place.
pub(super) fn race(
    site: &Site,
    trials: impl Iterator<Item = (Trial, u64)> + Send,
    seed: u64,
    go_on: impl Fn() -> bool + Send,
    mut told: impl FnMut(Trial, Tally) + Send,
) -> bool {
    let arena = &Arena::new();
    let (tell, hear) = mpsc::channel();
    // However this ends, and be it that there is no second thread to be had, the thief has to.
    let end = EndRounds(arena);
    thread::scope(|scope| {
        scope.spawn(move || {
            // A worker that is gone does not want to know.
            let _ = tell.send(site.pin_thief());
            arena.steal_each_round(&mut Random::new(seed));
        });
        let worker = scope.spawn(move || {
            let _end = end;
            if !hear.recv().unwrap_or(false) || !site.pin_worker() {
                return false;
            }
            let mut round = 0;
            for (trial, runs) in trials {
                let tally = arena.work_rounds(trial, runs, &mut round, &go_on);
                if tally.runs > 0 {
                    told(trial, tally);
                }
                if tally.runs < runs {
                    break;
                }
            }
            true
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Tells the thief when the worker is gone.
struct EndRounds<'a>(&'a Arena);

impl Drop for EndRounds<'_> {
    fn drop(&mut self) {
        // Relaxed: nothing is handed over by it.
        self.0.round.store(END, Ordering::Relaxed);
    }
}

impl Arena {
    fn new() -> Arena {
        Arena {
            head: CachePadded::default(),
            tail: CachePadded::default(),
            lock: CachePadded::default(),
            lines: [const { CachePadded::new(AtomicI64::new(0)) }; LINES],
            round: CachePadded::default(),
            done: CachePadded::default(),
            stolen: CachePadded::default(),
            delta: CachePadded::default(),
            stores: CachePadded::default(),
            length: CachePadded::new(AtomicU64::new(4_000)),
        }
    }

    /// The worker's side of so many rounds of a trial.
    fn work_rounds(&self, trial: Trial, runs: u64, round: &mut u64, go_on: &impl Fn() -> bool) -> Tally {
        let pops = pops_of(trial.stores, trial.fenced);
        // Relaxed, here and below where nothing else is said: the thief sees it with the round.
        self.delta.store(trial.delta, Ordering::Relaxed);
        self.stores.store(trial.stores, Ordering::Relaxed);
        let mut tally = Tally::default();
        while tally.runs < runs && (!tally.runs.is_multiple_of(BATCH) || go_on()) {
            *round += 1;
            self.head.store(0, Ordering::Relaxed);
            self.tail.store(TASKS, Ordering::Relaxed);
            let begin = ticks();
            // Release: the thief that sees the round sees the full queue.
            self.round.store(*round, Ordering::Release);
            let taken = self.take_all(pops);
            self.learn_length(ticks().wrapping_sub(begin));
            // Acquire: pairs with the release in `steal_each_round`.
            wait_until(|| self.done.load(Ordering::Acquire) == *round);
            let stolen = self.stolen.load(Ordering::Relaxed);
            tally.runs += 1;
            tally.incorrect += u64::from(!is_right(taken, stolen));
        }
        tally
    }

    /// Pops until the queue is empty. Gives back how many tasks that were.
    fn take_all(&self, pops: Pops) -> u64 {
        let mut tail = TASKS;
        loop {
            tail = pops(self, tail);
            let _lock = self.lock();
            // Relaxed: only who holds the lock writes it.
            if self.head.load(Ordering::Relaxed) > tail {
                self.tail.store(tail + 1, Ordering::Relaxed);
                return (TASKS - (tail + 1)) as u64;
            }
            // A thief was about to take this one and withdrew: it is the worker's.
        }
    }

    /// The thief's side of all rounds.
    fn steal_each_round(&self, random: &mut Random) {
        let mut round = 0;
        loop {
            // Acquire: pairs with the release in `work_rounds`.
            wait_until(|| self.round.load(Ordering::Acquire) != round);
            round = self.round.load(Ordering::Acquire);
            if round == END {
                return;
            }
            let stores = self.stores.load(Ordering::Relaxed);
            let read = random.below(MOST_READ + 1).min(stores as u64) as usize;
            let pause = random.below(2) * random.below(LONGEST_PAUSE + 1);
            let (begin, delay) = (ticks(), random.below(self.length.load(Ordering::Relaxed) + 1));
            while ticks().wrapping_sub(begin) < delay {}
            let stolen = self.steal_all(self.delta.load(Ordering::Relaxed) as i64, &self.lines[..read], pause);
            self.stolen.store(stolen, Ordering::Relaxed);
            // Release: the worker that sees it sees what was stolen.
            self.done.store(round, Ordering::Release);
        }
    }

    /// Steals until a steal aborts. Gives back how many tasks that were.
    fn steal_all(&self, delta: i64, read: &[CachePadded<AtomicI64>], pause: u64) -> u64 {
        let mut stolen = 0;
        loop {
            for line in read {
                // Relaxed: its value is nothing; the line is to be where the worker has to fetch it back from.
                line.load(Ordering::Relaxed);
            }
            (0..pause).for_each(|_| spin_loop());
            if !self.steal(delta) {
                return stolen;
            }
            stolen += 1;
        }
    }

    /// Figure 3. Whether a task was stolen; if not, it aborted.
    fn steal(&self, delta: i64) -> bool {
        let _lock = self.lock();
        // Relaxed: only who holds the lock writes it.
        let head = self.head.load(Ordering::Relaxed);
        self.head.store(head + 1, Ordering::Relaxed);
        // SeqCst: the worker sees the new head before the thief looks at the tail.
        fence(Ordering::SeqCst);
        // Relaxed: there are no tasks to be seen with it.
        if self.tail.load(Ordering::Relaxed) - delta > head {
            return true;
        }
        self.head.store(head, Ordering::Relaxed);
        false
    }

    fn lock(&self) -> Lock<'_> {
        // Acquire: pairs with the release of whoever had it.
        wait_until(|| !self.lock.swap(true, Ordering::Acquire));
        Lock(&self.lock)
    }

    /// Follows what rounds take, and does not believe one in which somebody else had the core.
    fn learn_length(&self, ticks: u64) {
        let length = self.length.load(Ordering::Relaxed);
        // A quarter more than it takes, so that some thieves come too late.
        let seen = (ticks.min(4 * length) / 4) * 5;
        self.length.store(((15 * length + seen) / 16).clamp(100, 1 << 24), Ordering::Relaxed);
    }
}

/// Whether every task was taken by somebody, and none by both.
fn is_right(taken: u64, stolen: u64) -> bool {
    taken + stolen == TASKS as u64
}

struct Lock<'a>(&'a AtomicBool);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire in `lock`.
        self.0.store(false, Ordering::Release);
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let mut looks = 0;
    while !is_so() {
        spin_loop();
        looks += 1;
        if looks > PATIENCE {
            thread::yield_now();
        }
    }
}

/// Pops from this tail on until a pop has to doubt. Gives back the tail that it doubts.
type Pops = fn(&Arena, i64) -> i64;

/// The loop with so many stores between pops.
fn pops_of(stores: usize, fenced: bool) -> Pops {
    macro_rules! find {
        ($($number:literal)*) => {
            match (stores, fenced) {
                $(($number, false) => pops::<$number, 0>,
                ($number, true) => pops::<$number, 1>,)*
                _ => unreachable!("there is no loop with {stores} stores"),
            }
        };
    }
    find!(0 1 2 3 4 5 6 7 8 10 11 12 16 17 23 24 32 35 47)
}

/// The worker's loop: all its stores are here.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn pops<const STORES: usize, const FENCED: usize>(arena: &Arena, mut tail: i64) -> i64 {
    const { assert!(STORES <= LINES) };
    // SAFETY: the pointers are to atomics that live as long as `arena`, the last one to an array of `LINES` of them, of which the first `STORES` are stored to. Aligned
    // moves of eight bytes are what the atomic loads and stores of this CPU are made of.
    unsafe {
        std::arch::asm!(
            "2:",
            // T := T - 1
            "sub {tail}, 1",
            "mov qword ptr [{tail_word}], {tail}",
            ".if {fenced}",
            "mfence",
            ".endif",
            // Is it below H?
            "cmp {tail}, qword ptr [{head_word}]",
            "jl 3f",
            "mov {line}, {lines}",
            ".rept {stores}",
            "mov qword ptr [{line}], {tail}",
            "add {line}, {size}",
            ".endr",
            "jmp 2b",
            "3:",
            tail = inout(reg) tail,
            tail_word = in(reg) arena.tail.as_ptr(),
            head_word = in(reg) arena.head.as_ptr(),
            lines = in(reg) arena.lines.as_ptr(),
            line = out(reg) _,
            stores = const STORES,
            fenced = const FENCED,
            size = const size_of::<CachePadded<AtomicI64>>(),
            options(nostack)
        );
    }
    tail
}

/// Nothing bounds what a load overtakes elsewhere, and the test is refused; this is here so that all around it is built and tested.
#[cfg(not(target_arch = "x86_64"))]
fn pops<const STORES: usize, const FENCED: usize>(arena: &Arena, mut tail: i64) -> i64 {
    loop {
        tail -= 1;
        arena.tail.store(tail, Ordering::Relaxed);
        if FENCED == 1 {
            fence(Ordering::SeqCst);
        }
        if tail < arena.head.load(Ordering::Relaxed) {
            return tail;
        }
        arena.lines[..STORES].iter().for_each(|line| line.store(tail, Ordering::Relaxed));
    }
}

/// A clock that costs less than what is timed.
#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: every x86-64 has the instruction.
    #[allow(unused_unsafe)]
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
}

/// The clock of elsewhere.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(trial: Trial, runs: u64) -> Tally {
        let mut all = Tally::default();
        assert!(race(&Site::anywhere(), [(trial, runs)].into_iter(), 1, || true, |_, tally| all = tally));
        all
    }

    #[test]
    fn a_fence_needs_no_delta() {
        for stores in [0, 1, 7, 47] {
            let trial = Trial { stores, delta: 0, fenced: true };
            assert_eq!(tally(trial, 200), Tally { runs: 200, incorrect: 0 }, "{stores}");
        }
    }

    #[test]
    fn a_thief_that_never_steals_leaves_all_to_the_worker() {
        let trial = Trial { stores: 3, delta: TASKS as usize, fenced: false };
        assert_eq!(tally(trial, 200), Tally { runs: 200, incorrect: 0 });
    }

    #[test]
    fn a_delta_far_above_every_store_buffer_is_right() {
        let trial = Trial { stores: 12, delta: 300, fenced: false };
        assert_eq!(tally(trial, 200), Tally { runs: 200, incorrect: 0 });
    }

    #[test]
    fn a_thief_that_sees_none_of_the_pops_has_all_tasks_too() {
        let arena = Arena::new();
        arena.tail.store(TASKS, Ordering::Relaxed);
        let taken = arena.take_all(pops_of(1, false));
        // As it is while all pops are in the store buffer.
        arena.tail.store(TASKS, Ordering::Relaxed);
        let stolen = arena.steal_all(10, &[], 0);
        assert_eq!((taken, stolen), (512, 502));
        assert!(!is_right(taken, stolen));
        assert!(is_right(taken, 0) && is_right(10, 502) && !is_right(10, 501));
    }

    #[test]
    fn every_number_of_stores_has_a_loop_that_makes_so_many() {
        for stores in STORES {
            for fenced in [false, true] {
                assert_eq!(pops_of(stores, fenced)(&Arena::new(), 9), -1);
                let arena = Arena::new();
                arena.head.store(5, Ordering::Relaxed);
                assert_eq!(pops_of(stores, fenced)(&arena, 9), 4);
                let touched = arena.lines.iter().filter(|line| line.load(Ordering::Relaxed) == 5).count();
                assert_eq!(touched, stores);
                assert_eq!(arena.tail.load(Ordering::Relaxed), 4);
            }
        }
    }

    /// How many instructions of a loop wait for the store buffer to drain. One where there should be none would make the test blind, and nothing else would show it.
    #[cfg(target_arch = "x86_64")]
    fn fences(pops: Pops) -> usize {
        use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Mnemonic};

        let mut address = pops as usize as u64;
        let mut fences = 0;
        loop {
            // SAFETY: this is inside of a function, whose instructions are readable, and of the section that it is in, which does not end within an instruction's length of a return.
            let bytes = unsafe { std::slice::from_raw_parts(address as usize as *const u8, 15) };
            let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
            assert_ne!(instruction.code(), Code::INVALID);
            let waits = matches!(
                instruction.mnemonic(),
                Mnemonic::Mfence | Mnemonic::Xchg | Mnemonic::Cpuid | Mnemonic::Serialize
            );
            fences += usize::from(waits || instruction.has_lock_prefix());
            if instruction.flow_control() == FlowControl::Return {
                return fences;
            }
            address = instruction.next_ip();
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn only_a_loop_that_is_to_have_a_fence_has_one() {
        for stores in STORES {
            assert_eq!((fences(pops_of(stores, false)), fences(pops_of(stores, true))), (0, 1), "{stores}");
        }
    }

    #[test]
    fn who_says_no_ends_it_at_once() {
        let trial = Trial { stores: 1, delta: 300, fenced: false };
        let mut told = 0;
        race(&Site::anywhere(), [(trial, 1_000_000)].into_iter(), 1, || false, |_, _| told += 1);
        assert_eq!(told, 0);
    }

    #[test]
    fn trials_follow_each_other_on_the_same_threads() {
        let trial = |stores| Trial { stores, delta: 300, fenced: false };
        let mut told = Vec::new();
        let trials = [(trial(1), 40), (trial(32), 3), (trial(0), 33)];
        race(&Site::anywhere(), trials.into_iter(), 1, || true, |trial, tally| told.push((trial.stores, tally.runs)));
        assert_eq!(told, [(1, 40), (32, 3), (0, 33)]);
    }
}
