//! The state of a machine: an array of numbers, and its layout.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::Buffer;
use crate::language::{Program, SyntaxError};

/// The most numbers that a state may have.
const MAX_NUMBERS: usize = 320;

/// Everything that can change in a machine. This is memory, the data of the specification, and each
/// thread with its store buffer.
#[derive(Clone)]
pub struct State {
    length: u16,
    pub(super) words: [i16; MAX_NUMBERS],
}

impl State {
    pub(super) fn empty(layout: &Layout) -> Self {
        State { length: layout.length as u16, words: [0; MAX_NUMBERS] }
    }

    fn used(&self) -> &[i16] {
        &self.words[..usize::from(self.length)]
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.used() == other.used()
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // Hashes four numbers at a time. The array itself pads the last few with zeroes.
        let (chunks, _) = self.words.as_chunks::<4>();
        for chunk in &chunks[..usize::from(self.length).div_ceil(4)] {
            let [a, b, c, d] = chunk.map(|word| u64::from(word as u16));
            hasher.write_u64(a | b << 16 | c << 32 | d << 48);
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.used()).finish()
    }
}

/// The layout of a state. Memory comes first, so an address is an index.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) ghosts: usize,
    /// How often each task was extracted. The count stops at two.
    pub(super) extracted: usize,
    pub(super) fault: usize,
    /// The holder of the memory subsystem's lock: 0, or the thread's index plus 1.
    pub(super) lock: usize,
    pub(super) threads: Vec<ThreadLayout>,
    length: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadLayout {
    pub(super) counter: usize,
    pub(super) registers: usize,
    /// A bit for each thread that this thread's barrier waits for.
    pub(super) pending_fences: usize,
    /// The number of stores in the buffer. The address and value of each follow, oldest first.
    pub(super) queue: usize,
    /// The number of stores in the egress slot, followed by their addresses and values.
    pub(super) egress: usize,
}

impl Layout {
    pub(super) fn new(program: &Program, buffer: Buffer) -> Result<Self, SyntaxError> {
        let ghosts = program.memory.len();
        let extracted = ghosts + program.ghosts.len();
        let fault = extracted + program.tasks;
        let lock = fault + 1;
        let mut length = lock + 1;
        let widest = program.lines.chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or(1);
        let slot = match buffer.egress() {
            None => 1,
            Some(super::Coalescing::Word) => 3,
            Some(super::Coalescing::Line) => 1 + 2 * widest,
        };
        let mut take = |numbers: usize| {
            length += numbers;
            length - numbers
        };
        let threads = program.threads.iter().map(|thread| ThreadLayout {
            counter: take(1),
            registers: take(thread.registers),
            pending_fences: take(1),
            queue: take(1 + 2 * buffer.capacity()),
            egress: take(slot),
        });
        let threads = threads.collect();
        if length > MAX_NUMBERS {
            return Err(SyntaxError::too_large(length, MAX_NUMBERS));
        }
        Ok(Layout { ghosts, extracted, fault, lock, threads, length })
    }
}

impl ThreadLayout {
    pub(super) fn queued<'a>(&self, state: &'a State) -> impl DoubleEndedIterator<Item = (u8, i16)> + 'a {
        entries(state, self.queue)
    }

    /// The stores in the egress slot. Empty if the machine has no egress slot.
    pub(super) fn leaving<'a>(&self, state: &'a State) -> impl DoubleEndedIterator<Item = (u8, i16)> + 'a {
        entries(state, self.egress)
    }
}

fn entries(state: &State, at: usize) -> impl DoubleEndedIterator<Item = (u8, i16)> + '_ {
    let count = state.words[at] as usize;
    state.words[at + 1..at + 1 + 2 * count].chunks_exact(2).map(|entry| (entry[0] as u8, entry[1]))
}
