//! The race: a worker and a thief empty a queue, and their tasks are counted. Figures 3 and 9.
//!
//! The queue is special to this instrument, because the worker's stores are what is measured: a
//! store to the tail in each pop, L stores to other cache lines, and nothing else. The loop is
//! written in assembly, so that no compiler adds a store. There are no tasks, only their number:
//! reading tasks would tell nothing more.
//!
//! Beyond the figure, two things vary from run to run. The thief reads some of the lines that the
//! worker stores to, so that these stores have to wait for their lines and fill the store buffer.
//! And it pauses between steals. Neither changes which runs are correct, but both strongly change
//! how often an incorrect run occurs.

use std::hint::spin_loop;
use std::sync::atomic::{fence, AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crossbeam_utils::CachePadded;

use super::cores::Site;
use crate::bench::random::Random;

/// The number of tasks at the beginning.
pub(super) const TASKS: i64 = 512;

/// The numbers of stores that the worker can make between two pops.
///
/// They are small ones, and larger ones that reach multiples of many bounds.
pub(super) const STORES: [usize; 19] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 16, 17, 23, 24, 32, 35, 47];

/// The largest of these numbers.
const LINES: usize = 47;
/// How many of the worker's lines the thief reads at most before a steal.
const MAX_READ: u64 = 4;
/// The longest pause of the thief between steals, in turns. In half of the runs it does not pause,
/// which finds the most violations.
const MAX_PAUSE: u64 = 6;
/// How often a thread polls for the other before it yields to the operating system.
const SPINS: u32 = 500;
/// The number of runs between two looks at the clock.
const RUNS_PER_CHECK: u64 = 32;
/// The number of the last round: none follows.
const END: u64 = u64::MAX;

/// The parameters of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// L: stores between two pops. One of [`STORES`].
    pub(super) stores: usize,
    /// How many pops the thief assumes hidden.
    pub(super) delta: usize,
    /// Whether the worker has a fence after all, so that no delta is needed.
    pub(super) fenced: bool,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The number of races.
    pub(super) runs: u64,
    /// How often worker and thief together had more tasks than there were, or fewer.
    pub(super) incorrect: u64,
}

/// The memory that worker and thief share, each word in cache lines of its own.
struct SharedMemory {
    /// H: the task that the thief takes next.
    head: CachePadded<AtomicI64>,
    /// T: one more than the task that the worker takes next.
    tail: CachePadded<AtomicI64>,
    /// The lock for the thief's steal, and for the worker's pop near the head.
    lock: CachePadded<AtomicBool>,
    /// Where the worker stores between pops.
    lines: [CachePadded<AtomicI64>; LINES],
    /// The round that the thief is to begin.
    round: CachePadded<AtomicU64>,
    /// The last round that the thief has ended, and how many tasks it stole.
    done: CachePadded<AtomicU64>,
    stolen: CachePadded<AtomicU64>,
    /// The parameters of the round: the thief's delta, and how many lines the worker uses.
    delta: CachePadded<AtomicUsize>,
    stores: CachePadded<AtomicUsize>,
    /// The approximate duration of a round, in ticks.
    length: CachePadded<AtomicU64>,
}

/// Races the trials in turn on this site, until they end or `go_on` returns false.
///
/// `go_on` is called now and then. `on_tally` receives the tally of each trial.
///
/// Returns whether both threads could be pinned. If not, there is no race: its results would be
/// attributed to a site where it did not run.
pub(super) fn race(
    site: &Site,
    trials: impl Iterator<Item = (Trial, u64)> + Send,
    seed: u64,
    go_on: impl Fn() -> bool + Send,
    mut on_tally: impl FnMut(Trial, Tally) + Send,
) -> bool {
    let memory = &SharedMemory::new();
    let (sender, receiver) = mpsc::channel();
    // The thief must end however this function ends, even if the second thread cannot be started.
    let end = EndRounds(memory);
    thread::scope(|scope| {
        scope.spawn(move || {
            // An error means that the worker has ended and no longer needs the answer.
            let _ = sender.send(site.pin_thief());
            memory.steal_each_round(&mut Random::new(seed));
        });
        let worker = scope.spawn(move || {
            let _end = end;
            if !receiver.recv().unwrap_or(false) || !site.pin_worker() {
                return false;
            }
            let mut round = 0;
            for (trial, runs) in trials {
                let tally = memory.work_rounds(trial, runs, &mut round, &go_on);
                if tally.runs > 0 {
                    on_tally(trial, tally);
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

/// Ends the thief when the worker ends.
struct EndRounds<'a>(&'a SharedMemory);

impl Drop for EndRounds<'_> {
    fn drop(&mut self) {
        // Relaxed: it publishes no data.
        self.0.round.store(END, Ordering::Relaxed);
    }
}

impl SharedMemory {
    fn new() -> SharedMemory {
        SharedMemory {
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

    /// The worker's side of `runs` rounds of a trial.
    fn work_rounds(&self, trial: Trial, runs: u64, round: &mut u64, go_on: &impl Fn() -> bool) -> Tally {
        let pops = pops_of(trial.stores, trial.fenced);
        // Relaxed, here and below where nothing else is said: the thief sees it with the round.
        self.delta.store(trial.delta, Ordering::Relaxed);
        self.stores.store(trial.stores, Ordering::Relaxed);
        let mut tally = Tally::default();
        while tally.runs < runs && (!tally.runs.is_multiple_of(RUNS_PER_CHECK) || go_on()) {
            *round += 1;
            self.head.store(0, Ordering::Relaxed);
            self.tail.store(TASKS, Ordering::Relaxed);
            let begin = ticks();
            // Release: the thief that sees the round sees the full queue.
            self.round.store(*round, Ordering::Release);
            let taken = self.take_all(pops);
            self.update_length(ticks().wrapping_sub(begin));
            // Acquire: pairs with the release in `steal_each_round`.
            wait_until(|| self.done.load(Ordering::Acquire) == *round);
            let stolen = self.stolen.load(Ordering::Relaxed);
            tally.runs += 1;
            tally.incorrect += u64::from(!is_correct(taken, stolen));
        }
        tally
    }

    /// Pops until the queue is empty. Returns the number of tasks popped.
    fn take_all(&self, pops: Pops) -> u64 {
        let mut tail = TASKS;
        loop {
            tail = pops(self, tail);
            let _lock = self.lock();
            // Relaxed: only the holder of the lock writes it.
            if self.head.load(Ordering::Relaxed) > tail {
                self.tail.store(tail + 1, Ordering::Relaxed);
                return (TASKS - (tail + 1)) as u64;
            }
            // A thief tried to take this task and withdrew: the worker takes it.
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
            let read = random.below(MAX_READ + 1).min(stores as u64) as usize;
            let pause = random.below(2) * random.below(MAX_PAUSE + 1);
            let (begin, delay) = (ticks(), random.below(self.length.load(Ordering::Relaxed) + 1));
            while ticks().wrapping_sub(begin) < delay {}
            let stolen = self.steal_all(self.delta.load(Ordering::Relaxed) as i64, &self.lines[..read], pause);
            self.stolen.store(stolen, Ordering::Relaxed);
            // Release: the worker that sees it sees what was stolen.
            self.done.store(round, Ordering::Release);
        }
    }

    /// Steals until a steal aborts. Returns the number of tasks stolen.
    fn steal_all(&self, delta: i64, read: &[CachePadded<AtomicI64>], pause: u64) -> u64 {
        let mut stolen = 0;
        loop {
            for line in read {
                // Relaxed: the value does not matter. The load moves the line to where the worker
                // has to fetch it back from.
                line.load(Ordering::Relaxed);
            }
            (0..pause).for_each(|_| spin_loop());
            if !self.steal(delta) {
                return stolen;
            }
            stolen += 1;
        }
    }

    /// Steals a task (figure 3). Returns false if the steal aborts.
    fn steal(&self, delta: i64) -> bool {
        let _lock = self.lock();
        // Relaxed: only the holder of the lock writes it.
        let head = self.head.load(Ordering::Relaxed);
        self.head.store(head + 1, Ordering::Relaxed);
        // SeqCst: the worker sees the new head before the thief reads the tail.
        fence(Ordering::SeqCst);
        // Relaxed: it publishes no tasks.
        if self.tail.load(Ordering::Relaxed) - delta > head {
            return true;
        }
        self.head.store(head, Ordering::Relaxed);
        false
    }

    fn lock(&self) -> Lock<'_> {
        // Acquire: pairs with the release of the lock's previous holder.
        wait_until(|| !self.lock.swap(true, Ordering::Acquire));
        Lock(&self.lock)
    }

    /// Updates the typical duration of a round. Limits the effect of a round in which the thread
    /// was preempted.
    fn update_length(&self, ticks: u64) {
        let length = self.length.load(Ordering::Relaxed);
        // A quarter more than the round takes, so that some thieves come too late.
        let seen = (ticks.min(4 * length) / 4) * 5;
        self.length.store(((15 * length + seen) / 16).clamp(100, 1 << 24), Ordering::Relaxed);
    }
}

/// Whether every task was taken, and none twice.
fn is_correct(taken: u64, stolen: u64) -> bool {
    taken + stolen == TASKS as u64
}

struct Lock<'a>(&'a AtomicBool);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire in `lock`.
        self.0.store(false, Ordering::Release);
    }
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let mut polls = 0;
    while !condition() {
        spin_loop();
        polls += 1;
        if polls > SPINS {
            thread::yield_now();
        }
    }
}

/// A loop that pops from this tail on until a pop reaches the head. Returns that pop's tail.
type Pops = fn(&SharedMemory, i64) -> i64;

/// Returns the loop with this number of stores between pops.
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

/// The worker's loop, which contains all its stores.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn pops<const STORES: usize, const FENCED: usize>(memory: &SharedMemory, mut tail: i64) -> i64 {
    const { assert!(STORES <= LINES) };
    // SAFETY: the pointers are to atomics that live as long as `memory`, the last one to an array
    // of `LINES` of them, of which the first `STORES` are stored to. The atomic loads and stores of
    // this CPU are aligned moves of eight bytes.
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
            tail_word = in(reg) memory.tail.as_ptr(),
            head_word = in(reg) memory.head.as_ptr(),
            lines = in(reg) memory.lines.as_ptr(),
            line = out(reg) _,
            stores = const STORES,
            fenced = const FENCED,
            size = const size_of::<CachePadded<AtomicI64>>(),
            options(nostack)
        );
    }
    tail
}

/// The worker's loop on other CPUs, where no bound exists and the test is refused.
///
/// It is here so that everything around it is built and tested.
#[cfg(not(target_arch = "x86_64"))]
fn pops<const STORES: usize, const FENCED: usize>(memory: &SharedMemory, mut tail: i64) -> i64 {
    loop {
        tail -= 1;
        memory.tail.store(tail, Ordering::Relaxed);
        if FENCED == 1 {
            fence(Ordering::SeqCst);
        }
        if tail < memory.head.load(Ordering::Relaxed) {
            return tail;
        }
        memory.lines[..STORES].iter().for_each(|line| line.store(tail, Ordering::Relaxed));
    }
}

/// Reads a clock that costs less than what is timed.
#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction.
    #[allow(unused_unsafe)]
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
}

/// Reads the clock on other CPUs.
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
    fn a_fence_or_a_large_delta_makes_every_run_correct() {
        // A thief that assumes all pops hidden never steals; no store buffer hides 300 pops.
        let unfenced = [(3, TASKS as usize), (12, 300)].map(|(stores, delta)| (stores, delta, false));
        let fenced = [0, 1, 7, 47].map(|stores| (stores, 0, true));
        for (stores, delta, fenced) in unfenced.into_iter().chain(fenced) {
            let trial = Trial { stores, delta, fenced };
            assert_eq!(tally(trial, 200), Tally { runs: 200, incorrect: 0 }, "{trial:?}");
        }
    }

    #[test]
    fn a_thief_that_sees_none_of_the_pops_takes_tasks_twice() {
        let memory = SharedMemory::new();
        memory.tail.store(TASKS, Ordering::Relaxed);
        let taken = memory.take_all(pops_of(1, false));
        // The thief's view while all pops are in the store buffer.
        memory.tail.store(TASKS, Ordering::Relaxed);
        let stolen = memory.steal_all(10, &[], 0);
        assert_eq!((taken, stolen), (512, 502));
        assert!(!is_correct(taken, stolen));
        assert!(is_correct(taken, 0) && is_correct(10, 502) && !is_correct(10, 501));
    }

    #[test]
    fn every_number_of_stores_has_a_loop_with_that_many_stores() {
        for stores in STORES {
            for fenced in [false, true] {
                assert_eq!(pops_of(stores, fenced)(&SharedMemory::new(), 9), -1);
                let memory = SharedMemory::new();
                memory.head.store(5, Ordering::Relaxed);
                assert_eq!(pops_of(stores, fenced)(&memory, 9), 4);
                let touched = memory.lines.iter().filter(|line| line.load(Ordering::Relaxed) == 5).count();
                assert_eq!(touched, stores);
                assert_eq!(memory.tail.load(Ordering::Relaxed), 4);
            }
        }
    }

    /// Counts the instructions of a loop that wait for the store buffer to drain.
    ///
    /// An unexpected one would make the test blind, and nothing else would show it.
    #[cfg(target_arch = "x86_64")]
    fn fences(pops: Pops) -> usize {
        use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Mnemonic};

        let mut address = pops as usize as u64;
        let mut fences = 0;
        loop {
            // SAFETY: the address is inside a function, whose instructions are readable, and inside
            // its section, which does not end within an instruction's length of a return.
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
    fn only_a_fenced_loop_has_a_fence() {
        for stores in STORES {
            assert_eq!((fences(pops_of(stores, false)), fences(pops_of(stores, true))), (0, 1), "{stores}");
        }
    }

    #[test]
    fn the_race_stops_as_soon_as_go_on_returns_false() {
        let trial = Trial { stores: 1, delta: 300, fenced: false };
        let mut tallies = 0;
        race(&Site::anywhere(), [(trial, 1_000_000)].into_iter(), 1, || false, |_, _| tallies += 1);
        assert_eq!(tallies, 0);
    }

    #[test]
    fn trials_follow_each_other_on_the_same_threads() {
        let trial = |stores| Trial { stores, delta: 300, fenced: false };
        let mut tallies = Vec::new();
        let trials = [(trial(1), 40), (trial(32), 3), (trial(0), 33)];
        race(
            &Site::anywhere(),
            trials.into_iter(),
            1,
            || true,
            |trial, tally| tallies.push((trial.stores, tally.runs)),
        );
        assert_eq!(tallies, [(1, 40), (32, 3), (0, 33)]);
    }
}
