//! The timed loops, as machine code: figure 6 of the paper.
//!
//! A loop has a number of stores, then a chain of multiplications that each depend on the one
//! before, and no other memory access. The chain is long enough for the stores to drain during it,
//! and the stores depend on nothing. If all stores fit in the buffer, the next chain enters the
//! pipeline while this one runs, and the loop takes the time of the chains. A store that does not
//! fit keeps everything after it out until the chain before it has retired.
//!
//! A compiler might change such a loop, and there is a loop for each number of stores. So they are
//! assembled here, from seven instructions.

use std::ops::RangeInclusive;
use std::time::Instant;

use anyhow::{Context, Result};
use memmap2::{Mmap, MmapMut};

use super::Places;

/// The number of cache lines that are stored to.
const LINES: usize = 64;

/// The distance between lines: more than any current CPU fetches or coalesces at once.
const LINE: usize = 64;

/// The number of multiplications between two sequences of stores.
///
/// Each takes 3 cycles on every CPU since 2008, so that a buffer of 150 entries drains well during
/// the chain. More would also fill the scheduler; on older CPUs fewer fill it.
const CHAIN: usize = 150;

/// The number of iterations of a loop for one figure.
///
/// It is small, because other programs and the other hardware thread of the core seldom disturb a
/// short run. A coarse clock needs more.
const ITERATIONS: u64 = if cfg!(windows) { 128 } else { 16 };

/// A loop for each number of stores.
#[derive(Debug)]
pub(super) struct Sequences {
    code: Mmap,
    /// The offset where each loop begins.
    starts: Vec<usize>,
    memory: MmapMut,
}

impl Sequences {
    /// Assembles the loops.
    pub(super) fn new(stores: RangeInclusive<usize>, places: Places) -> Result<Sequences> {
        let mut code = Vec::new();
        let mut starts = Vec::new();
        for stores in stores {
            // With the same alignment, all loops are fetched alike.
            code.resize(code.len().next_multiple_of(LINE), BREAKPOINT);
            starts.push(code.len());
            code.extend(encode(stores, places));
        }

        let denied = "this measurement needs code that is made at run time, which the system does not allow";
        let mut writable = MmapMut::map_anon(code.len().max(1)).context(denied)?;
        writable[..code.len()].copy_from_slice(&code);
        let code = writable.make_exec().context(denied)?;
        let memory = MmapMut::map_anon(LINES * LINE).context("cannot allocate the memory to store to")?;
        Ok(Sequences { code, starts, memory })
    }

    /// The number of loops.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Measures the nanoseconds that an iteration of a loop takes now.
    pub(super) fn time(&mut self, which: usize) -> f64 {
        let start = self.code[self.starts[which]..].as_ptr();
        // SAFETY: a function that `encode` made begins there. It obeys this convention, and the
        // mapping is executable and outlives the call.
        let run_loop = unsafe { std::mem::transmute::<*const u8, unsafe extern "sysv64" fn(u64, *mut u8)>(start) };
        let memory = self.memory.as_mut_ptr();
        let begin = Instant::now();
        // SAFETY: it writes to the first `LINES * LINE` bytes of the memory, which is that large
        // and exclusively borrowed here, and the number of turns is not 0.
        unsafe { run_loop(ITERATIONS, memory) };
        begin.elapsed().as_nanos() as f64 / ITERATIONS as f64
    }
}

const BREAKPOINT: u8 = 0xcc;

/// Encodes a function that takes the number of turns and the memory. The turns (not 0) are in
/// `rdi`, the memory is in `rsi`.
fn encode(stores: usize, places: Places) -> Vec<u8> {
    // mov eax, 3
    let mut code = vec![0xb8, 3, 0, 0, 0];
    let top = code.len();
    for store in 0..stores {
        let place = match places {
            Places::Lines => store % LINES * LINE,
            Places::OneWord => 0,
        };
        // mov [rsi + place], edi
        code.extend([0x89, 0xbe]);
        code.extend((place as u32).to_le_bytes());
    }
    for _ in 0..CHAIN {
        // imul rax, rax
        code.extend([0x48, 0x0f, 0xaf, 0xc0]);
    }
    // dec rdi
    code.extend([0x48, 0xff, 0xcf]);
    // jnz top
    code.extend([0x0f, 0x85]);
    let next = code.len() + 4;
    code.extend((top as i32 - next as i32).to_le_bytes());
    // ret
    code.push(0xc3);
    code
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess};

    use super::*;

    fn decode(code: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect()
    }

    /// Returns an instruction's accesses to memory.
    fn accesses(instruction: &Instruction) -> Vec<OpAccess> {
        // The return instruction reads its address.
        let mut factory = InstructionInfoFactory::new();
        factory.info(instruction).used_memory().iter().map(|memory| memory.access()).collect()
    }

    #[test]
    fn a_loop_has_its_stores_and_no_other_access_to_memory() {
        for stores in [0, 1, 72, 200] {
            for places in [Places::Lines, Places::OneWord] {
                let code = encode(stores, places);
                let instructions = decode(&code);
                let (last, others) = instructions.split_last().unwrap();
                assert_eq!(last.flow_control(), FlowControl::Return);
                let written: Vec<_> = others.iter().filter(|other| !accesses(other).is_empty()).collect();
                assert_eq!(written.len(), stores);
                assert!(written.iter().all(|store| accesses(store) == [OpAccess::Write]));
                assert_eq!(others.iter().filter(|other| other.mnemonic() == Mnemonic::Imul).count(), CHAIN);

                let lines: BTreeSet<u64> = written.iter().map(|store| store.memory_displacement64() / 64).collect();
                let expected = if places == Places::OneWord { stores.min(1) } else { stores.min(LINES) };
                assert_eq!(lines.len(), expected);
                assert!(lines.iter().all(|&line| line < LINES as u64));
            }
        }
    }

    #[test]
    fn a_loop_jumps_back_to_its_first_store() {
        let instructions = decode(&encode(3, Places::Lines));
        let back = instructions.iter().find(|instruction| instruction.mnemonic() == Mnemonic::Jne).unwrap();
        let top = instructions.iter().find(|instruction| instruction.ip() == back.near_branch_target()).unwrap();
        assert_eq!(top.mnemonic(), Mnemonic::Mov);
        assert_eq!((top.memory_displacement64(), top.ip()), (0, 5));
    }

    #[test]
    fn a_loop_stores_to_every_line_and_to_nothing_else() {
        let mut sequences = Sequences::new(60..=70, Places::Lines).unwrap();
        assert_eq!(sequences.len(), 11);
        assert!(sequences.time(0) > 0.0);
        let written = |memory: &[u8]| memory.iter().filter(|&&byte| byte != 0).count();
        // The last iteration leaves a 1 in each line.
        assert_eq!(written(&sequences.memory), 60);
        sequences.time(10);
        assert_eq!(written(&sequences.memory), LINES);
        assert!(sequences.memory.chunks(LINE).all(|line| line[0] == 1));
    }
}
