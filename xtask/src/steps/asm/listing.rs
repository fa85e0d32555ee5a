//! Parses the output of `objdump -t -d --no-show-raw-insn`. It has a symbol table, and code in the
//! default (AT&T) syntax.

use std::collections::HashMap;

/// The instructions of a function, without the padding after it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// The function's symbols. The compiler merges functions with the same code into one with all
    /// their names.
    pub(super) names: Vec<String>,
    /// The instructions in the order of their addresses, as objdump prints them.
    pub(super) instructions: Vec<String>,
    address: String,
}

/// Returns all functions of a listing.
pub(super) fn functions(listing: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in listing.lines() {
        if let Some((address, name)) = header(line) {
            let (address, names) = (address.to_owned(), vec![name.to_owned()]);
            functions.push(Function { names, instructions: Vec::new(), address });
        } else if let (Some(function), Some(instruction)) = (functions.last_mut(), instruction(line)) {
            function.instructions.push(instruction.to_owned());
        }
    }
    // The code is labelled with one name only. The symbol table has the others.
    let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
    for (address, name) in listing.lines().filter_map(symbol) {
        names.entry(address).or_default().push(name);
    }
    for function in &mut functions {
        for name in names.remove(function.address.as_str()).unwrap_or_default() {
            if !function.has_name(name) {
                function.names.push(name.to_owned());
            }
        }
        let end = function.instructions.iter().rposition(|i| !is_padding(i)).map_or(0, |last| last + 1);
        function.instructions.truncate(end);
    }
    functions
}

impl Function {
    /// Returns whether `name` is one of the function's symbols.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// The instructions that drain the store buffer or order more than plain x86-64 accesses do.
    pub(super) fn fences(&self) -> impl Iterator<Item = &str> {
        self.instructions.iter().map(String::as_str).filter(|instruction| is_fence(instruction))
    }

    /// The number of calls. Cold paths are separate functions.
    pub(super) fn calls(&self) -> usize {
        self.instructions.iter().filter(|instruction| self.leaves_function(instruction)).count()
    }

    /// Returns whether a conditional jump comes before the first call. Every operation that tests
    /// its indices in place has such a jump. A function that merely calls the operation tests
    /// nothing before it.
    pub(super) fn branches_before_first_call(&self) -> bool {
        self.instructions
            .iter()
            .find(|instruction| is_conditional_jump(instruction) || self.leaves_function(instruction))
            .is_some_and(|first| is_conditional_jump(first))
    }

    fn leaves_function(&self, instruction: &str) -> bool {
        let mnemonic = mnemonic(instruction);
        mnemonic.starts_with("call") || (mnemonic.starts_with("jmp") && !self.jumps_inside(instruction))
    }

    /// Returns whether a jump's target, written `<name>` or `<name+0x12>`, is in this function.
    fn jumps_inside(&self, jump: &str) -> bool {
        let Some((_, target)) = jump.split_once('<') else {
            return false;
        };
        let inside =
            |name: &String| target.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['>', '+']));
        self.names.iter().any(inside)
    }
}

/// Returns address and name from a line of the symbol table. An example is
/// `0000000000001139 g     F .text<tab>000000000000000f main`.
fn symbol(line: &str) -> Option<(&str, &str)> {
    let (flags, symbol) = line.split_once('\t')?;
    let mut flags = flags.split_whitespace();
    let address = flags.next()?;
    let is_function = flags.any(|word| word == "F");
    let name = symbol.split_whitespace().last()?;
    (is_hex(address) && is_function).then_some((address, name))
}

/// Returns address and name from a line such as `0000000000001139 <main>:`.
fn header(line: &str) -> Option<(&str, &str)> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    is_hex(address).then_some((address, name))
}

/// Returns the instruction in a line such as `    1139:<tab>push   %rbp`.
fn instruction(line: &str) -> Option<&str> {
    let (address, instruction) = line.split_once(":\t")?;
    is_hex(address.trim_start()).then(|| instruction.trim())
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the first word that is not a prefix.
fn mnemonic(instruction: &str) -> &str {
    const PREFIXES: [&str; 10] = ["lock", "rep", "repz", "repnz", "data16", "bnd", "notrack", "cs", "ds", "xacquire"];
    instruction.split_whitespace().find(|word| !PREFIXES.contains(word)).unwrap_or_default()
}

fn is_fence(instruction: &str) -> bool {
    let instruction = instruction.split('#').next().unwrap_or_default();
    if instruction.split_whitespace().any(|word| word == "lock") {
        return true;
    }
    match mnemonic(instruction) {
        "mfence" | "sfence" | "lfence" | "cpuid" | "serialize" => true,
        // The processor locks an exchange with memory even without the prefix.
        exchange if exchange.starts_with("xchg") => has_memory_operand(instruction),
        _ => false,
    }
}

fn has_memory_operand(instruction: &str) -> bool {
    let Some(operands) = instruction.split_whitespace().last() else {
        return false;
    };
    // A register is `%rax`; `%fs:0x8` and all other operands of an exchange are in memory.
    let is_register = |operand: &str| operand.starts_with('%') && !operand.contains([':', '(']);
    !operands.split(',').all(is_register)
}

fn is_conditional_jump(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic.starts_with('j') && !mnemonic.starts_with("jmp")
}

/// Returns whether an instruction is padding between functions.
fn is_padding(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic.is_empty() || mnemonic.starts_with("nop") || mnemonic == "int3" || instruction == "xchg   %ax,%ax"
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "
target/release/examples/fast_paths:     file format elf64-x86-64

SYMBOL TABLE:
0000000000000000 l    df *ABS*\t0000000000000000              fast_paths.rs
000000000000f3a0 g     F .text\t0000000000000019              fast_path_ff_cl_pop
000000000000f3a0 g     F .text\t0000000000000019              .hidden fast_path_thep_pop
000000000000f3a0 g     O .text\t0000000000000019              not_a_function
000000000000f3c0 g     F .text\t0000000000000008              fast_path_the_pop


Disassembly of section .text:

000000000000f3a0 <fast_path_ff_cl_pop>:
    f3a0:\tmov    0x8(%rdi),%rax
    f3a4:\tmov    %rax,(%rdi)
    f3a7:\tcmp    0x40(%rdi),%rax
    f3ab:\tjl     f3b4 <fast_path_ff_cl_pop+0x14>
    f3ad:\tmov    0x4a5c4(%rip),%rcx        # 59978 <locks lock lock>
    f3b3:\tret
    f3b4:\tjmp    12340 <settle>
    f3b9:\tnopl   0x0(%rax)

000000000000f3c0 <fast_path_the_pop>:
    f3c0:\tlock orl $0x0,-0x40(%rsp)
    f3c6:\tjmp    f3c0 <fast_path_the_pop>
    f3c8:\tcs nopw 0x0(%rax,%rax,1)
    f3d2:\tdata16 cs nopw 0x0(%rax,%rax,1)
    f3d6:\txchg   %ax,%ax
\t...

Disassembly of section .fini:
";

    fn function(name: &str, body: &[&str]) -> Function {
        let instructions = body.iter().map(|&line| line.to_owned()).collect();
        Function { names: vec![name.to_owned()], instructions, address: "1040".to_owned() }
    }

    #[test]
    fn a_listing_is_parsed_into_functions_without_padding() {
        let functions = functions(LISTING);
        assert_eq!(functions.len(), 2);
        assert_eq!(functions[0].names[0], "fast_path_ff_cl_pop");
        assert_eq!(functions[0].instructions.len(), 7);
        assert_eq!(functions[0].instructions[0], "mov    0x8(%rdi),%rax");
        assert_eq!(functions[1].names, ["fast_path_the_pop"]);
        assert_eq!(functions[1].instructions, ["lock orl $0x0,-0x40(%rsp)", "jmp    f3c0 <fast_path_the_pop>"]);
    }

    #[test]
    fn a_function_merged_with_another_is_found_by_its_name() {
        let functions = functions(LISTING);
        assert_eq!(functions[0].names, ["fast_path_ff_cl_pop", "fast_path_thep_pop"]);
        assert!(functions[0].has_name("fast_path_thep_pop") && !functions[0].has_name("not_a_function"));
    }

    #[test]
    fn a_fence_is_found_in_the_function_that_has_it_and_in_no_other() {
        let functions = functions(LISTING);
        assert_eq!(functions[0].fences().count(), 0);
        assert_eq!(functions[1].fences().collect::<Vec<_>>(), ["lock orl $0x0,-0x40(%rsp)"]);
    }

    #[test]
    fn every_instruction_that_drains_the_store_buffer_is_a_fence() {
        for fence in [
            "lock cmpxchg %rcx,(%rdi)",
            "lock cmpxchg16b (%rdi)",
            "lock xadd %rax,0x40(%rdi)",
            "lock orl $0x0,-0x40(%rsp)",
            "xacquire lock incl (%rax)",
            "lock",
            "mfence",
            "sfence",
            "lfence",
            "xchg   %rax,0x8(%rdi)",
            "xchg   %al,(%rdi)",
            "xchg   %rax,%fs:0x8",
            "xchg   %rax,0x4a5c4(%rip)        # 59978 <flag>",
            "xchgq  %rax,0x4a5c4",
            "cpuid",
        ] {
            assert!(is_fence(fence), "`{fence}` is a fence");
        }
    }

    #[test]
    fn plain_instructions_are_not_fences() {
        for plain in [
            "mov    %rax,(%rdi)",
            "xchg   %ax,%ax",
            "xchg   %rax,%rbx",
            "cmpxchg %rcx,(%rdi)",
            "xadd   %rax,(%rdi)",
            "call   12340 <pthread_mutex_lock>",
            "call   12340 <lock>",
            "lea    0x4a5c4(%rip),%rdi        # 59978 <the lock>",
            "pause",
            "rep stos %al,(%rdi)",
            "data16 cs nopw 0x0(%rax,%rax,1)",
            "ret",
        ] {
            assert!(!is_fence(plain), "`{plain}` is not a fence");
        }
    }

    #[test]
    fn calls_and_jumps_to_other_functions_are_counted() {
        let body = [
            "je     1050 <f+0x10>",
            "jmp    1040 <f>",
            "jmp    1048 <f+0x8>",
            "call   2000 <g>",
            "call   *%rax",
            "jmp    2100 <f_cold>",
            "jmp    *0x8(%rax)",
        ];
        assert_eq!(function("f", &body).calls(), 4);
    }

    #[test]
    fn only_an_inlined_operation_branches_before_its_first_call() {
        let inlined = ["mov (%rdi),%rax", "jae 1050 <f+0x10>", "ret", "call 2000 <grow>", "ret"];
        assert!(function("f", &inlined).branches_before_first_call());
        let called = ["push %rax", "call 2000 <push>", "test %rax,%rax", "je 1050 <f+0x10>", "ret"];
        assert!(!function("f", &called).branches_before_first_call());
        assert!(!function("f", &["jmp 2000 <push>"]).branches_before_first_call());
        assert!(!function("f", &["ret"]).branches_before_first_call());
    }
}
