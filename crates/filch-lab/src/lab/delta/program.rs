//! The functions, the code and the known pointers of a compiled program. This is what control flow
//! needs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};
use object::{
    Architecture, BinaryFormat, Object, ObjectKind, ObjectSection, ObjectSymbol, ObjectSymbolTable, Relocation,
    RelocationFlags, RelocationTarget, SectionFlags, SectionKind, SymbolKind,
};

use crate::input_file;

/// A function: from its symbol to its end.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Its names in the source. There are several if the compiler merged identical functions.
    pub(super) names: Vec<String>,
    /// Its names in the symbol table, in the same order.
    mangled: Vec<String>,
    /// Its addresses.
    pub(super) range: Range<u64>,
    /// Whether its symbol gives this end, and no other symbol begins before it.
    pub(super) is_end_certain: bool,
    /// Whether it may have unknown callers. A pointer to it was found, or it is exported.
    pub(super) is_pointed_to: bool,
}

impl Function {
    /// Returns the name to display.
    pub(super) fn name(&self) -> &str {
        self.names.first().map_or("an unnamed function", |name| name)
    }
}

/// A compiled program.
#[derive(Debug)]
pub(super) struct Program {
    /// Its functions, in the order of their addresses.
    pub(super) functions: Vec<Function>,
    sections: Vec<(u64, Vec<u8>)>,
    /// Where the loader puts addresses, and where these lead.
    slots: HashMap<u64, Target>,
    /// Address ranges that only the loader writes.
    constants: Vec<Range<u64>>,
    /// Sections of stubs: pieces of code that jump to an address from the loader.
    stubs: Vec<(u64, Vec<u8>)>,
    /// How many bytes of code belong to no named function, padding excluded.
    pub(super) unnamed: usize,
}

impl Program {
    /// Reads a program from a file.
    pub(super) fn read(path: &Path) -> Result<Program> {
        let bytes = input_file::read(path)?;
        Program::parse(&bytes).with_context(|| input_file::name(path))
    }

    /// Parses the bytes of a program.
    pub(super) fn parse(bytes: &[u8]) -> Result<Program> {
        let file = object::File::parse(bytes).context("expected a compiled program")?;
        match file.architecture() {
            Architecture::X86_64 => {}
            other => bail!("expected a program for x86-64, found one for {other:?}"),
        }
        // In Mach-O files, addresses in data are chained fixups. They are not decoded here, so it
        // is not known which functions are pointed to.
        ensure!(file.format() != BinaryFormat::MachO, "it is for macOS, and pointers in such files are not supported");
        let is_code = |section: &object::Section<'_, '_>| section.kind() == SectionKind::Text;
        if file.kind() == ObjectKind::Relocatable
            && file.sections().any(|section| is_code(&section) && section.relocations().next().is_some())
        {
            bail!("it is not linked, so the targets of its calls are unknown; give a linked program");
        }

        let mut sections = Vec::new();
        let mut stubs = Vec::new();
        let mut words = HashSet::new();
        let mut constants = Vec::new();
        for section in file.sections() {
            let range = section.address()..section.address().saturating_add(section.size());
            if is_constant(&section) {
                constants.push(range.clone());
            }
            if is_code(&section) {
                match section.name() {
                    Ok(name) if name.starts_with(".plt") => {
                        stubs.push((range.start, section.data().unwrap_or_default().to_vec()))
                    }
                    _ => sections.push((range.start, section.data().context("its code cannot be read")?.to_vec())),
                }
            } else if range.start > 0 {
                // Data that the loader does not fill in may hold pointers as it is. Debug
                // information has no address.
                let data = section.data().unwrap_or_default();
                words.extend(data.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())));
            }
        }

        let mut functions = functions(&file);
        ensure!(!functions.is_empty(), "it has no function names: it was stripped; build it without stripping symbols");
        // Some functions written in assembly have no size: they end at the next function, or with
        // their section.
        let starts: Vec<u64> = functions.iter().map(|function| function.range.start).collect();
        for (index, function) in functions.iter_mut().enumerate() {
            let start = function.range.start;
            let section = sections.iter().find(|(first, code)| (*first..first + code.len() as u64).contains(&start));
            let end = section.map_or(start, |(first, code)| first + code.len() as u64);
            let next = starts.get(index + 1).copied().unwrap_or(u64::MAX);
            let size_is_known = function.range.end > start;
            let limit = end.min(next);
            function.is_end_certain = size_is_known && function.range.end <= limit;
            function.range.end = if size_is_known { function.range.end.min(limit) } else { limit }.max(start);
        }

        let unnamed = unnamed(&sections, &mut functions);
        let slots = loader_slots(&file);
        words.extend(slots.values().filter_map(|target| match target {
            Target::Here(address) => Some(*address),
            _ => None,
        }));
        for function in &mut functions {
            function.is_pointed_to |= words.contains(&function.range.start);
        }
        Ok(Program { functions, sections, slots, constants, stubs, unnamed })
    }

    /// Returns the code of a function.
    pub(super) fn code(&self, function: &Function) -> &[u8] {
        let Range { start, end } = function.range;
        code_from(&self.sections, start).and_then(|code| code.get(..(end - start) as usize)).unwrap_or_default()
    }

    /// Returns the function that begins at this address.
    pub(super) fn starting_at(&self, address: u64) -> Option<usize> {
        self.functions.binary_search_by_key(&address, |function| function.range.start).ok()
    }

    /// Whether this function is a thunk that jumps to an address in a register. It does so by a
    /// return that does not return to a caller.
    pub(super) fn is_thunk(&self, address: u64) -> bool {
        let is_thunk = |name: &String| {
            ["__x86_indirect_thunk", "__x86_return_thunk", "__llvm_retpoline", "__llvm_lvi_thunk"]
                .iter()
                .any(|thunk| name.starts_with(thunk))
        };
        self.starting_at(address).is_some_and(|function| self.functions[function].names.iter().any(is_thunk))
    }

    /// Returns the target of the stub at this address; `None` if there is none.
    pub(super) fn stub(&self, address: u64) -> Option<Target> {
        let code = code_from(&self.stubs, address)?;
        // An `endbr64`, if any, and the jump.
        let mut instructions = Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().take(2);
        let jump = instructions.find(|instruction| instruction.flow_control() == FlowControl::IndirectBranch);
        let slot = jump.filter(|jump| jump.is_ip_rel_memory_operand()).map(|jump| jump.ip_rel_memory_address());
        Some(slot.map_or(Target::Unknown, |slot| self.target(slot)))
    }

    /// Returns where an address that is read from `slot` leads. If not only the loader writes
    /// there, it may have changed since.
    pub(super) fn target(&self, slot: u64) -> Target {
        let is_constant = self.constants.iter().any(|constant| constant.contains(&slot));
        self.slots.get(&slot).filter(|_| is_constant).copied().unwrap_or(Target::Unknown)
    }

    /// Finds a function by its whole name, or else by a part of it.
    ///
    /// Copies that the compiler made of it are meant too. With a place in the function they are
    /// not, because the offset differs in each copy.
    pub(super) fn find(&self, wanted: &str, with_place: bool) -> Result<usize> {
        let named = |is_it: &dyn Fn(&String) -> bool| -> Vec<usize> {
            let has = |function: &Function| function.names.iter().chain(&function.mangled).any(is_it);
            (0..self.functions.len()).filter(|&index| has(&self.functions[index])).collect()
        };
        let exact = named(&|name| name == wanted);
        let mut found = match exact[..] {
            [_] if with_place => exact,
            _ => named(&|name| name == wanted || original_name(name) == wanted),
        };
        if found.is_empty() {
            found = named(&|name| name.contains(wanted));
        }
        match found[..] {
            [one] => Ok(one),
            [] => bail!(
                "no function has `{wanted}` in its name; if the compiler inlined it, mark it `#[inline(never)]` and build again"
            ),
            _ => {
                let shown = |&index: &usize| {
                    let function: &Function = &self.functions[index];
                    format!("{} ({})", function.name(), function.mangled.first().map_or("", |name| name))
                };
                bail!("{} functions have `{wanted}` in their names; give the full name of the function that pops, as in brackets, or, if several pop, each with the place of its store of the tail, as in `NAME+0x1f`:{}", found.len(), list(&found, shown))
            }
        }
    }
}

/// Returns the code from this address to the end of its section.
fn code_from(sections: &[(u64, Vec<u8>)], address: u64) -> Option<&[u8]> {
    sections.iter().find_map(|(first, code)| {
        let from = usize::try_from(address.checked_sub(*first)?).ok()?;
        code.get(from..).filter(|code| !code.is_empty())
    })
}

/// Formats the first of these, each on a line.
pub(super) fn list<T>(all: &[T], shown: impl Fn(&T) -> String) -> String {
    let lines: String = all.iter().take(20).map(|one| format!("\n  {}", shown(one))).collect();
    lines + if all.len() > 20 { "\n  and more" } else { "" }
}

/// Whether both functions have the same name in the source.
pub(super) fn are_copies(one: &Function, other: &Function) -> bool {
    one.names.iter().any(|name| other.names.iter().any(|same| original_name(same) == original_name(name)))
}

/// Returns the original name of a compiler's copy such as `pop.constprop.0`.
///
/// A `.cold` part is not a copy: it was moved, and is entered from the rest.
fn original_name(name: &str) -> &str {
    let copies = [".constprop.", ".isra.", ".part.", ".llvm.", ".lto_priv."];
    if name.contains(".cold") {
        return name;
    }
    copies.iter().filter_map(|copy| name.find(copy)).min().map_or(name, |end| &name[..end])
}

/// Returns all named functions. Functions at the same address become one.
fn functions(file: &object::File<'_>) -> Vec<Function> {
    let mut by_start: BTreeMap<u64, Function> = BTreeMap::new();
    // Other programs and libraries may call a dynamic symbol.
    let named = file.symbols().map(|symbol| (symbol, false));
    for (symbol, is_exported) in named.chain(file.dynamic_symbols().map(|symbol| (symbol, true))) {
        let (Ok(mangled), SymbolKind::Text, true) = (symbol.name(), symbol.kind(), symbol.is_definition()) else {
            continue;
        };
        let range = symbol.address()..symbol.address().saturating_add(symbol.size());
        let function = by_start.entry(range.start).or_insert_with(|| Function {
            names: Vec::new(),
            mangled: Vec::new(),
            range: range.clone(),
            is_end_certain: false,
            is_pointed_to: false,
        });
        function.range.end = function.range.end.max(range.end);
        function.is_pointed_to |= is_exported;
        if !function.mangled.iter().any(|known| known == mangled) {
            // Without the hash, which users do not type.
            function.names.push(format!("{:#}", rustc_demangle::demangle(mangled)));
            function.mangled.push(mangled.to_owned());
        }
    }
    by_start.into_values().collect()
}

/// Counts the code that is in no function. A function right before such code may continue in it.
fn unnamed(sections: &[(u64, Vec<u8>)], functions: &mut [Function]) -> usize {
    let mut unnamed = 0;
    for (first, code) in sections {
        let end = first + code.len() as u64;
        let mut from = *first;
        let mut before = None;
        let inside = (0..functions.len()).filter(|&index| (*first..end).contains(&functions[index].range.start));
        for index in inside.map(Some).chain([None]).collect::<Vec<_>>() {
            let to = index.map_or(end, |index| functions[index].range.start);
            let gap = code.get((from - first) as usize..(to.max(from) - first) as usize).unwrap_or_default();
            let count = count_without_padding(gap);
            unnamed += count;
            if let (true, Some(before)) = (count > 0, before) {
                let function: &mut Function = &mut functions[before];
                function.is_end_certain = false;
            }
            from = index.map_or(end, |index| functions[index].range.end);
            before = index;
        }
    }
    unnamed
}

/// Returns how many of these bytes are neither 0 nor padding instructions.
fn count_without_padding(gap: &[u8]) -> usize {
    let mut decoder = Decoder::new(64, gap, DecoderOptions::NONE);
    let mut count = 0;
    while decoder.can_decode() {
        let from = decoder.position();
        if gap[from] == 0 && decoder.set_position(from + 1).is_ok() {
            continue;
        }
        if !matches!(decoder.decode().mnemonic(), Mnemonic::Nop | Mnemonic::Int3) {
            count += decoder.position() - from;
        }
    }
    count
}

/// Where an address that is read from memory leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Into a library.
    Library,
    /// To this address of the program.
    Here(u64),
    /// To an unknown address.
    Unknown,
}

/// Whether only the loader writes to a section.
///
/// That holds for sections that are read-only, and for sections that become read-only before the
/// program begins. The last of these does not always become read-only, but only the loader writes
/// to it.
fn is_constant(section: &object::Section<'_, '_>) -> bool {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return false };
    let has = |flag: u32| sh_flags & u64::from(flag) != 0;
    // A section that is not loaded has no address, though it says 0.
    if !has(object::elf::SHF_ALLOC) {
        return false;
    }
    let is_written_by_loader = |name: &str| {
        name.starts_with(".data.rel.ro") || [".init_array", ".fini_array", ".got", ".got.plt"].contains(&name)
    };
    !has(object::elf::SHF_WRITE) || section.name().is_ok_and(is_written_by_loader)
}

/// Returns where the loader puts addresses of functions, and where these lead.
fn loader_slots(file: &object::File<'_>) -> HashMap<u64, Target> {
    let symbols = file.dynamic_symbol_table();
    let target = |relocation: &Relocation| match relocation.target() {
        _ if is_computed(relocation.flags()) => None,
        RelocationTarget::Absolute => Some(Target::Here(relocation.addend() as u64)),
        RelocationTarget::Symbol(index) => match symbols.as_ref()?.symbol_by_index(index).ok()? {
            symbol if symbol.is_definition() => {
                Some(Target::Here(symbol.address().wrapping_add_signed(relocation.addend())))
            }
            symbol if symbol.is_undefined() => Some(Target::Library),
            // A symbol of this program that is not a plain function may compute its target.
            _ => None,
        },
        _ => None,
    };
    let relocations = file.dynamic_relocations().into_iter().flatten();
    relocations.filter_map(|(slot, relocation)| Some((slot, target(&relocation)?))).collect()
}

/// Whether the loader stores what the function at that address returns, not the address itself.
pub(super) fn is_computed(flags: RelocationFlags) -> bool {
    flags == RelocationFlags::Elf { r_type: object::elf::R_X86_64_IRELATIVE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test program with a slot for its own function and one for a library's.
    ///
    /// They are at 0x5000 and 0x5008, and again in writable memory from 0x6000.
    fn program() -> Program {
        // endbr64; bnd jmp [rip + distance], each of 16 bytes
        let stub = |from: u64, slot: u64| {
            let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25];
            code.extend((slot - (from + 11)).to_le_bytes().into_iter().take(4));
            code.resize(16, 0x90);
            code
        };
        let slots = [0x5000, 0x5008, 0x6000, 0x5010];
        Program {
            functions: Vec::new(),
            sections: Vec::new(),
            slots: HashMap::from([
                (0x5000, Target::Here(0x1234)),
                (0x5008, Target::Library),
                (0x6000, Target::Here(0x1234)),
                (0x6008, Target::Library),
            ]),
            constants: vec![0x5000..0x5010, 0x5010..0x5100],
            stubs: vec![(
                0x4000,
                (0x4000..).step_by(16).zip(slots).flat_map(|(from, slot)| stub(from, slot)).collect(),
            )],
            unnamed: 0,
        }
    }

    #[test]
    fn only_slots_that_the_loader_alone_writes_have_known_targets() {
        let target = |slot| program().target(slot);
        assert_eq!((target(0x5000), target(0x5008)), (Target::Here(0x1234), Target::Library));
        // The program may have put something else there, or nothing says what is there.
        assert_eq!([0x6000, 0x6008, 0x5010].map(target), [Target::Unknown; 3]);
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn sections_that_are_writable_or_not_loaded_are_not_constant() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let constants = Program::parse(&bytes).unwrap().constants;
        let file = object::File::parse(&bytes[..]).unwrap();
        let address = |name| file.section_by_name(name).unwrap().address();
        let is_constant = |address: u64| constants.iter().any(|constant| constant.contains(&address));
        assert_eq!([".rodata", ".data", ".bss"].map(address).map(is_constant), [true, false, false]);
        assert!(!is_constant(0), "names and debug information are not in memory");
    }

    #[test]
    fn a_stub_has_the_target_of_its_slot() {
        let targets = [0x4000, 0x4010, 0x4020, 0x4030].map(|address| program().stub(address));
        let expected = [Target::Here(0x1234), Target::Library, Target::Unknown, Target::Unknown];
        assert_eq!(targets, expected.map(Some));
        assert_eq!([0x3fff, 0x4040].map(|address| program().stub(address)), [None, None]);
    }
}
