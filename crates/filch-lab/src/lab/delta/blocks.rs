//! Basic blocks: how many stores each makes, and where control flow goes next.
//!
//! What counts as a store: every instruction that certainly writes memory, once for each place that
//! it writes. That includes a pushed register and the return address that a call pushes. Each takes
//! an entry of the store buffer, even if two in a row go to one cache line and leave the buffer
//! together. A write that depends on a condition, a mask or a count (which may be 0) does not
//! count.
//!
//! A locked instruction or a fence empties the buffer: no pop before it is hidden after it. It
//! counts as more stores than any buffer holds.

use std::collections::HashSet;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use super::program::{Function, Program, Target};

/// The number of stores counted for an instruction that empties the buffer.
pub(super) const DRAINS: u64 = 1 << 32;

/// A basic block: entered only at its beginning, left only at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The address of its first instruction.
    pub(super) start: u64,
    /// The address of its last instruction.
    pub(super) last: u64,
    /// The address after the block.
    after: u64,
    /// The index of the function that contains it.
    pub(super) function: usize,
    /// How many stores it makes.
    pub(super) stores: u64,
    /// Whether one of the stores may be the store of the tail. A push or a call cannot be.
    pub(super) may_store_tail: bool,
    /// The block that follows it in memory. Set if that block is in the same function, or if this
    /// block falls into the next function.
    pub(super) next: Option<usize>,
    /// How control leaves it.
    pub(super) end: End,
}

/// How control leaves an instruction or a block. Targets are addresses; a block begins at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Falls through to the next block.
    Falls,
    /// Jumps to this address.
    Jumps(u64),
    /// Branches to this address, or falls through to the next block.
    Branches(u64),
    /// Calls the function that begins at this address.
    Calls(u64),
    /// Calls a function of a library.
    CallsLibrary,
    /// Jumps to a function of a library, which returns to this function's caller.
    JumpsToLibrary,
    /// Calls an unknown function.
    CallsUnknown,
    /// Jumps to an unknown address.
    JumpsUnknown,
    /// Returns from the function.
    Returns,
    /// Never continues.
    Stops,
}

/// All code of a program.
#[derive(Debug)]
pub(super) struct Code {
    /// The blocks, in the order of their addresses.
    pub(super) blocks: Vec<Block>,
    /// Functions whose address the code takes.
    pub(super) address_taken: HashSet<usize>,
}

impl Code {
    /// Cuts a program into blocks. The instruction at each of `places` becomes its own block.
    pub(super) fn new(program: &Program, places: &[u64]) -> Code {
        let mut starts: HashSet<u64> = places.iter().copied().collect();
        let mut address_taken = HashSet::new();
        for function in &program.functions {
            starts.insert(function.range.start);
            for instruction in instructions(program, function) {
                let end = end(program, &instruction);
                if let End::Jumps(target) | End::Branches(target) | End::Calls(target) = end {
                    starts.insert(target);
                }
                if end != End::Falls || places.contains(&instruction.ip()) {
                    starts.insert(instruction.next_ip());
                }
                if end == End::Falls {
                    address_taken
                        .extend(mentioned_addresses(&instruction).filter_map(|address| program.starting_at(address)));
                }
            }
        }

        let mut code = Code { blocks: Vec::new(), address_taken };
        for (index, function) in program.functions.iter().enumerate() {
            cut_function(program, index, function, &starts, &mut code.blocks);
        }
        for index in 0..code.blocks.len() {
            code.resolve_end(program, index);
        }
        code
    }

    /// Sets what follows a block, and makes its end unknown if no block is there.
    fn resolve_end(&mut self, program: &Program, index: usize) {
        let block = self.blocks[index];
        // Nothing returns past the end of a function: a call there never returns. But the end
        // must be certain: a symbol in the middle of a function is not its end.
        let is_end_certain = program.functions[block.function].is_end_certain;
        let may_cross = matches!(block.end, End::Falls | End::Branches(_)) || !is_end_certain;
        let is_next = |next: &&Block| next.start == block.after && (next.function == block.function || may_cross);
        let next = self.blocks.get(index + 1).filter(is_next).map(|_| index + 1);
        let is_missing = |target| self.starting_at(target).is_none();
        let end = match block.end {
            // Control falls into code without a symbol.
            End::Falls | End::Branches(_) if next.is_none() => End::JumpsUnknown,
            End::Calls(_) | End::CallsLibrary if next.is_none() && !is_end_certain => End::CallsUnknown,
            End::Jumps(target) | End::Branches(target) if is_missing(target) => End::JumpsUnknown,
            End::Calls(target) if is_missing(target) => End::CallsUnknown,
            end => end,
        };
        self.blocks[index] = Block { next, end, ..block };
    }

    /// Returns the block that begins at this address.
    pub(super) fn starting_at(&self, address: u64) -> Option<usize> {
        self.blocks.binary_search_by_key(&address, |block| block.start).ok()
    }

    /// Returns the first block of the function that a block calls.
    pub(super) fn callee(&self, block: usize) -> Option<usize> {
        match self.blocks[block].end {
            End::Calls(target) => self.starting_at(target),
            _ => None,
        }
    }

    /// Returns the blocks where control goes on after a block and what it calls.
    pub(super) fn successors(&self, block: usize) -> impl Iterator<Item = usize> {
        let Block { end, next, .. } = self.blocks[block];
        let target = match end {
            End::Jumps(target) | End::Branches(target) => self.starting_at(target),
            _ => None,
        };
        let reaches_next =
            matches!(end, End::Falls | End::Branches(_) | End::Calls(_) | End::CallsLibrary | End::CallsUnknown);
        target.into_iter().chain(next.filter(|_| reaches_next))
    }
}

fn instructions<'a>(program: &'a Program, function: &Function) -> impl Iterator<Item = Instruction> + 'a {
    let mut decoder = Decoder::with_ip(64, program.code(function), function.range.start, DecoderOptions::NONE);
    std::iter::from_fn(move || decoder.can_decode().then(|| decoder.decode()))
}

/// Returns the addresses where a function may store the tail. These are stores other than pushes
/// and calls.
pub(super) fn tail_store_candidates(program: &Program, function: &Function) -> Vec<u64> {
    let mut factory = InstructionInfoFactory::new();
    let mut is_store = |instruction: &Instruction| {
        may_store_tail(instruction, end(program, instruction), stores(&mut factory, instruction))
    };
    instructions(program, function).filter(|instruction| is_store(instruction)).map(|it| it.ip()).collect()
}

/// Whether an instruction with this end and this number of stores may store the tail.
fn may_store_tail(instruction: &Instruction, end: End, stores: u64) -> bool {
    end == End::Falls && instruction.mnemonic() != Mnemonic::Push && stores > 0
}

/// Adds the blocks of a function. What follows them is not known yet.
fn cut_function(program: &Program, index: usize, function: &Function, starts: &HashSet<u64>, blocks: &mut Vec<Block>) {
    let mut factory = InstructionInfoFactory::new();
    let mut open: Option<Block> = None;
    let mut is_address_set = false;
    for instruction in instructions(program, function) {
        let address = instruction.ip();
        if starts.contains(&address) {
            blocks.extend(open.take());
        }
        let block = open.get_or_insert(Block {
            start: address,
            last: address,
            after: address,
            function: index,
            stores: 0,
            may_store_tail: false,
            next: None,
            end: End::Falls,
        });
        let (stores, end) = (stores(&mut factory, &instruction), end(program, &instruction));
        block.last = address;
        block.after = instruction.next_ip();
        block.stores += stores;
        block.may_store_tail |= may_store_tail(&instruction, end, stores);
        block.end = if end == End::Returns && is_address_set { End::JumpsUnknown } else { end };
        is_address_set = sets_return_address(&instruction);
    }
    blocks.extend(open);
}

/// Returns the fewest stores that an instruction makes.
fn stores(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> u64 {
    let is_exchange = instruction.mnemonic() == Mnemonic::Xchg
        && (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    if instruction.has_lock_prefix() || is_exchange || instruction.mnemonic() == Mnemonic::Mfence {
        return DRAINS;
    }
    // With an empty mask, nothing is written.
    let is_masked = matches!(
        instruction.mnemonic(),
        Mnemonic::Maskmovq
            | Mnemonic::Maskmovdqu
            | Mnemonic::Vmaskmovdqu
            | Mnemonic::Vmaskmovps
            | Mnemonic::Vmaskmovpd
            | Mnemonic::Vpmaskmovd
            | Mnemonic::Vpmaskmovq
            | Mnemonic::Tilestored
    );
    if is_masked || instruction.has_op_mask() {
        return 0;
    }
    let certain = |access: OpAccess| matches!(access, OpAccess::Write | OpAccess::ReadWrite);
    factory.info(instruction).used_memory().iter().filter(|memory| certain(memory.access())).count() as u64
}

fn end(program: &Program, instruction: &Instruction) -> End {
    if instruction.is_invalid() {
        return End::JumpsUnknown;
    }
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::Return => End::Returns,
        FlowControl::Exception => End::Stops,
        _ if instruction.mnemonic() == Mnemonic::Hlt => End::Stops,
        FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => End::Stops,
        FlowControl::UnconditionalBranch if program.is_thunk(target) => End::JumpsUnknown,
        FlowControl::UnconditionalBranch => program.stub(target).map_or(End::Jumps(target), jump),
        FlowControl::ConditionalBranch => End::Branches(target),
        FlowControl::Call if !instruction.is_call_near() => End::Falls,
        FlowControl::Call if program.is_thunk(target) => End::CallsUnknown,
        // A call into the middle of a function need not return: its purpose may be the address that
        // it pushes.
        FlowControl::Call if program.starting_at(target).is_some() => End::Calls(target),
        FlowControl::Call => program.stub(target).map_or(End::CallsUnknown, call),
        FlowControl::IndirectCall => slot(instruction).map_or(End::CallsUnknown, |slot| call(program.target(slot))),
        FlowControl::IndirectBranch => slot(instruction).map_or(End::JumpsUnknown, |slot| jump(program.target(slot))),
        FlowControl::XbeginXabortXend => End::JumpsUnknown,
        FlowControl::Next | FlowControl::Interrupt => End::Falls,
    }
}

fn call(target: Target) -> End {
    match target {
        Target::Library => End::CallsLibrary,
        Target::Here(address) => End::Calls(address),
        Target::Unknown => End::CallsUnknown,
    }
}

fn jump(target: Target) -> End {
    match target {
        Target::Library => End::JumpsToLibrary,
        Target::Here(address) => End::Jumps(address),
        Target::Unknown => End::JumpsUnknown,
    }
}

/// Whether an instruction overwrites the return address.
fn sets_return_address(instruction: &Instruction) -> bool {
    let is_top = instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RSP
        && instruction.memory_index() == Register::None
        && instruction.memory_displacement64() == 0;
    is_top || instruction.mnemonic() == Mnemonic::Push
}

/// Returns the memory address that an indirect jump reads its target from, if known.
fn slot(instruction: &Instruction) -> Option<u64> {
    let is_memory = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Memory;
    (is_memory && instruction.is_ip_rel_memory_operand()).then(|| instruction.ip_rel_memory_address())
}

/// Addresses that an instruction may turn into a pointer.
fn mentioned_addresses(instruction: &Instruction) -> impl Iterator<Item = u64> + '_ {
    let computed = instruction.mnemonic() == Mnemonic::Lea;
    let relative = (computed && instruction.is_ip_rel_memory_operand()).then(|| instruction.ip_rel_memory_address());
    let absolute =
        (computed && instruction.memory_base() == Register::None).then(|| instruction.memory_displacement64());
    let is_immediate =
        |kind: OpKind| matches!(kind, OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64);
    let immediates = (0..instruction.op_count())
        .filter(move |&operand| is_immediate(instruction.op_kind(operand)))
        .map(|operand| instruction.immediate(operand));
    relative.into_iter().chain(absolute).chain(immediates)
}
