//! The runs of the workers. Each seat has a stack of runs, which all workers can read.

use std::fmt;
use std::ptr;

use crossbeam_utils::CachePadded;

use super::{Lineage, Wait};
use crate::defect::{defect, Defect};
use crate::seat::Seat;
use crate::sync::{fence, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// The floor of a free entry.
const FREE: u32 = u32::MAX;

/// Something that a worker runs. See [`lineage`](super).
#[derive(Debug)]
pub(crate) struct Run {
    /// The depth from which on the fork stack holds what the run has forked.
    floor: AtomicU32,
    /// The number of waits that contain the run.
    level: AtomicU32,
    node: AtomicUsize,
    up: AtomicPtr<Run>,
    /// An ancestor further up, or the run itself if it has none.
    jump: AtomicPtr<Run>,
    /// The seat that has this entry.
    seat: AtomicPtr<Seat>,
}

impl Run {
    fn new() -> Run {
        Run {
            floor: AtomicU32::new(FREE),
            level: AtomicU32::new(0),
            node: AtomicUsize::new(0),
            up: AtomicPtr::new(ptr::null_mut()),
            jump: AtomicPtr::new(ptr::null_mut()),
            seat: AtomicPtr::new(ptr::null_mut()),
        }
    }

    // Relaxed in all of these: a thread that climbs from work that it holds has acquired what it
    // reads with that work; for others it is a hint.

    pub(crate) fn level(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    /// Returns whether this run is what is waited for as `node`.
    pub(crate) fn is_for(&self, node: usize) -> bool {
        self.node.load(Ordering::Relaxed) == node
    }

    pub(crate) fn lineage(&self) -> Lineage {
        Lineage { node: self.node.load(Ordering::Relaxed), up: self.up.load(Ordering::Relaxed) }
    }

    fn jump(&self) -> &Run {
        // SAFETY: the memory of runs is never freed.
        unsafe { self.jump.load(Ordering::Relaxed).as_ref() }.unwrap_or(self)
    }

    /// Returns the seat that has this entry. For a thread that pins the run.
    pub(super) fn seat<'a>(&self) -> &'a Seat {
        // SAFETY: its worker waits in this run, or runs it, and so its pool is there.
        unsafe { &*self.seat.load(Ordering::Relaxed) }
    }

    /// Returns whether what is forked in this run descends from what is waited for. It is exact for
    /// a thread that pins the run, and otherwise a hint.
    pub(crate) fn is_under(&self, wait: Wait) -> bool {
        self.ancestor_at(wait.level + 1).is_some_and(|run| run.node.load(Ordering::Relaxed) == wait.node)
    }

    /// Returns whether this is that run, or descends from it. For a thread that pins this run.
    pub(super) fn is_within(&self, other: &Run) -> bool {
        self.ancestor_at(other.level()).is_some_and(|run| ptr::eq(run, other))
    }

    /// Returns the run itself or its ancestor, whichever has this level. It is exact for a thread
    /// that pins the run, and otherwise a hint.
    fn ancestor_at(&self, target: u32) -> Option<&Run> {
        let (mut run, mut level) = (self, self.level());
        while level > target {
            let jump = run.jump();
            let above = if jump.level() >= target { jump } else { run.lineage().up()? };
            let below = std::mem::replace(&mut level, above.level());
            if level >= below {
                return None;
            }
            run = above;
        }
        // If entries change under the climb, the level may be another one by now.
        (level == target).then_some(run)
    }

    /// Returns whether forks in this run seem to descend from what is awaited as `node`.
    pub(super) fn seems_under_node(&self, node: usize) -> bool {
        let (mut run, mut level) = (self, self.level());
        loop {
            let lineage = run.lineage();
            let Some(up) = lineage.up() else { return false };
            if lineage.node == node {
                return true;
            }
            let below = std::mem::replace(&mut level, up.level());
            if level >= below {
                return false;
            }
            run = up;
        }
    }
}

/// The number of entries of the first chunk. Each chunk has twice as many as the one before.
const FIRST: usize = if cfg!(loom) { 2 } else { 8 };

/// The number of chunks: room for more runs than a thread's stack has.
const CHUNKS: usize = if cfg!(loom) { 2 } else { 24 };

/// The last run of a seat.
struct Top {
    /// The number of runs, apart from entry 0.
    index: AtomicU32,
    run: AtomicPtr<Run>,
}

/// The runs of one seat. Entry 0 is for what runs there in place.
pub(crate) struct Runs {
    chunks: [AtomicPtr<Run>; CHUNKS],
    /// Only the occupant uses it.
    top: CachePadded<Top>,
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("count", &self.top.index.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

impl Runs {
    /// Creates the runs of a seat that does not have its address yet: see
    /// [`init`](Runs::init).
    pub(crate) fn new() -> Runs {
        Runs {
            chunks: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            top: CachePadded::new(Top { index: AtomicU32::new(0), run: AtomicPtr::new(ptr::null_mut()) }),
        }
    }

    /// Initializes entry 0, when the seat has its final address.
    pub(crate) fn init(&self, seat: &Seat) {
        let run = self.entry(0, seat);
        run.floor.store(0, Ordering::Release);
        self.set_top(0, run);
    }

    /// Returns the entry of this index, if its chunk exists.
    fn get(&self, index: u32) -> Option<&Run> {
        let (chunk, place) = place_of(index);
        // Acquire: the entries as they were made.
        let chunk = self.chunks.get(chunk)?.load(Ordering::Acquire);
        // SAFETY: within the chunk, which stays.
        (!chunk.is_null()).then(|| unsafe { &*chunk.add(place) })
    }

    /// Returns the entry of this index, and creates its chunk if need be. For the occupant.
    fn entry(&self, index: u32, seat: &Seat) -> &Run {
        if let Some(run) = self.get(index) {
            return run;
        }
        let (chunk, place) = place_of(index);
        let entries = memory::take(chunk);
        for entry in 0..FIRST << chunk {
            // SAFETY: within the chunk.
            let run = unsafe { &*entries.add(entry) };
            // Relaxed: published below.
            run.seat.store(ptr::from_ref(seat).cast_mut(), Ordering::Relaxed);
        }
        // Release: see `get`.
        self.chunks[chunk].store(entries, Ordering::Release);
        // SAFETY: as above.
        unsafe { &*entries.add(place) }
    }

    /// Returns whether nothing runs here but what began in place. For the occupant.
    pub(crate) fn is_empty(&self) -> bool {
        self.top.index.load(Ordering::Relaxed) == 0
    }

    /// Returns the entry of what runs here in place.
    #[cfg(all(test, loom))]
    pub(crate) fn bottom(&self) -> &Run {
        self.get(0).expect("entry 0 exists since `init`")
    }

    /// Returns the run that the occupant is in.
    #[inline(always)]
    pub(crate) fn top(&self) -> &Run {
        // SAFETY: entry 0 since `init`, later the last run; the memory of runs stays.
        unsafe { &*self.top.run.load(Ordering::Relaxed) }
    }

    fn set_top(&self, index: u32, run: &Run) {
        self.top.index.store(index, Ordering::Relaxed);
        self.top.run.store(ptr::from_ref(run).cast_mut(), Ordering::Relaxed);
    }

    /// Begins a run of this lineage, at this depth of the occupant's fork stack. A fence has to
    /// follow.
    pub(crate) fn begin(&self, seat: &Seat, lineage: Lineage, floor: u32) {
        let index = self.top.index.load(Ordering::Relaxed) + 1;
        let run = self.entry(index, seat);
        let (level, jump) = match lineage.up() {
            None => (0, ptr::null()),
            Some(up) => {
                let jump = up.jump();
                let further = jump.jump();
                let skips = up.level() - jump.level() == jump.level() - further.level();
                (up.level() + 1, ptr::from_ref(if skips { further } else { up }))
            }
        };
        // Relaxed: published with the floor, and with what is forked in the run.
        run.level.store(level, Ordering::Relaxed);
        run.node.store(lineage.node, Ordering::Relaxed);
        run.up.store(lineage.up.cast_mut(), Ordering::Relaxed);
        run.jump.store(jump.cast_mut(), Ordering::Relaxed);
        run.floor.store(floor, Ordering::Release);
        self.set_top(index, run);
    }

    /// Ends the occupant's last run, of which nothing is left on the fork stack.
    pub(crate) fn end(&self) {
        let below = self.top.index.load(Ordering::Relaxed) - 1;
        // Release: a worker that sees that the run is over sees the stray tasks of the run.
        fence(Ordering::Release);
        if !defect(Defect::KeepsEndedRuns) {
            // Relaxed: before what the occupant forks later.
            self.top().floor.store(FREE, Ordering::Relaxed);
        }
        self.set_top(below, self.get(below).expect("a run has an entry"));
    }

    /// Returns the run that has forked what stands at this depth. It is exact for a thread that
    /// holds that job, and otherwise a hint.
    pub(crate) fn at(&self, depth: u32) -> &Run {
        self.with_floors().take_while(|&(_, floor, _)| floor <= depth).last().expect("entry 0").0
    }

    /// Returns the runs, oldest first, each with its range of depths of the fork stack.
    fn with_floors(&self) -> impl Iterator<Item = (&Run, u32, u32)> {
        let floor = |index| self.get(index).map_or(FREE, |run| run.floor.load(Ordering::Relaxed));
        let mut from = floor(0);
        (0..).map_while(move |index| {
            if from == FREE {
                return None;
            }
            let above = floor(index + 1);
            let run = self.get(index)?;
            Some((run, std::mem::replace(&mut from, above), above))
        })
    }

    /// Returns the first depth at which a job seems to descend from what is awaited. Looks at
    /// depths from `top` to below `bottom`.
    pub(crate) fn first_under(&self, wait: Wait, (top, bottom): (u32, u32)) -> Option<u32> {
        self.with_floors()
            .find(|&(run, from, to)| from.max(top) < to.min(bottom) && run.is_under(wait))
            .map(|(_, from, _)| from.max(top))
    }

    /// Returns whether a job at these depths seems to descend from the awaited `node`.
    pub(crate) fn have_job_under_node(&self, node: usize, (top, bottom): (u32, u32)) -> bool {
        self.with_floors().any(|(run, from, to)| from.max(top) < to.min(bottom) && run.seems_under_node(node))
    }

    /// Returns whether a run here seems to descend from what is waited for.
    pub(crate) fn have_under(&self, wait: Wait) -> bool {
        self.with_floors().any(|(run, ..)| run.is_under(wait))
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // Shuttle drops what a failed execution has left when its atomics cannot be used any more.
        if cfg!(shuttle) {
            return;
        }
        for (index, chunk) in self.chunks.iter().enumerate() {
            let chunk = chunk.load(Ordering::Relaxed);
            if !chunk.is_null() {
                // SAFETY: from `take`, with this index, and no worker runs anything here any more.
                unsafe { memory::give_back(chunk, index) };
            }
        }
    }
}

/// Returns the chunk of an entry, and its place in the chunk.
fn place_of(index: u32) -> (usize, usize) {
    let index = index as usize + FIRST;
    let chunk = (index / FIRST).ilog2() as usize;
    (chunk, index - (FIRST << chunk))
}

fn new_chunk(chunk: usize) -> *mut Run {
    let entries: Box<[Run]> = (0..FIRST << chunk).map(|_| Run::new()).collect();
    Box::into_raw(entries).cast()
}

/// Memory of chunks. Chunks of pools that are gone are used again, but never freed: a thread may
/// look at a run of a pool that is gone, on its way up from a run that has ended just before.
#[cfg(not(any(loom, shuttle)))]
mod memory {
    use super::{new_chunk, Run, CHUNKS, FREE};
    use crate::sync::{lock, Mutex, Ordering};

    struct Chunks([Vec<*mut Run>; CHUNKS]);

    // SAFETY: no seat uses the chunks.
    unsafe impl Send for Chunks {}

    static UNUSED: Mutex<Chunks> = Mutex::new(Chunks([const { Vec::new() }; CHUNKS]));

    /// Returns a chunk of free entries.
    pub(super) fn take(chunk: usize) -> *mut Run {
        let unused = lock(&UNUSED).0[chunk].pop();
        unused.unwrap_or_else(|| new_chunk(chunk))
    }

    /// Gives a chunk back.
    ///
    /// # Safety
    ///
    /// From [`take`], with the same index, and no seat uses it.
    pub(super) unsafe fn give_back(entries: *mut Run, chunk: usize) {
        // Otherwise entry 0 of a seat is never free.
        // SAFETY: the caller guarantees it.
        unsafe { &*entries }.floor.store(FREE, Ordering::Relaxed);
        lock(&UNUSED).0[chunk].push(entries);
    }
}

/// Memory of chunks for the checkers, whose atomics do not outlive an execution. Only models for
/// shuttle have more than one pool: there chunks are leaked.
#[cfg(any(loom, shuttle))]
mod memory {
    use super::{new_chunk, Run, FIRST};

    pub(super) fn take(chunk: usize) -> *mut Run {
        new_chunk(chunk)
    }

    /// Gives a chunk back.
    ///
    /// # Safety
    ///
    /// From [`take`], with the same index, and no seat uses it.
    pub(super) unsafe fn give_back(entries: *mut Run, chunk: usize) {
        // SAFETY: the caller guarantees it.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(entries, FIRST << chunk)) });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::split::Mode;

    /// Creates a seat whose fork stack is not used.
    fn seat() -> Box<Seat> {
        // SAFETY: no slot is touched.
        let seat = Box::new(unsafe { Seat::new(0, 1 << 12, 2, Mode::default()) });
        seat.runs.init(&seat);
        seat
    }

    #[test]
    fn a_climb_by_jumps_finds_what_a_climb_step_by_step_finds() {
        const RUNS: u32 = 150;
        let seat = seat();
        let runs = &seat.runs;
        let run = |index| runs.get(index).expect("an entry");
        let mut random = Random::new(1);
        let mut ups = vec![0];
        for index in 1..=RUNS {
            // Mostly a deep chain, with branches.
            let up = if random.below(4) == 0 { random.below(index as usize) as u32 } else { index - 1 };
            runs.begin(&seat, Lineage::new(64 * index as usize, run(up)), 0);
            ups.push(up);
        }
        let is_under = |mut index: u32, ancestor: u32| loop {
            match index {
                0 => return false,
                _ if index == ancestor => return true,
                _ => index = ups[index as usize],
            }
        };
        for ancestor in 1..=RUNS {
            let node = 64 * ancestor as usize;
            let wait = Wait::new(node, run(ups[ancestor as usize]));
            for index in 1..=RUNS {
                let expected = is_under(index, ancestor);
                assert_eq!(run(index).is_under(wait), expected, "{index} under {ancestor}");
                assert_eq!(run(index).seems_under_node(node), expected, "{index} under {ancestor}");
            }
        }
        (0..RUNS).for_each(|_| runs.end());
        assert!(runs.is_empty());
    }

    #[test]
    fn a_depth_belongs_to_the_last_run_that_began_at_or_below_it() {
        let seat = seat();
        let runs = &seat.runs;
        let floors = [2, 2, 5, 9, 9, 9, 30, 31, 32, 50];
        for (index, floor) in (1..).zip(floors) {
            runs.begin(&seat, Lineage::from_parts(64 * index, ptr::null()), floor);
        }
        for depth in 0..60 {
            let last = floors.iter().take_while(|&&floor| floor <= depth).count();
            assert!(runs.at(depth).is_for(64 * last), "depth {depth}");
        }
        runs.end();
        assert!(runs.at(55).is_for(64 * 9), "a run that is over has no depths");
        (1..floors.len()).for_each(|_| runs.end());
    }
}
