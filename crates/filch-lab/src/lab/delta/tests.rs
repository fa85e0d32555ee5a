//! Programs of a few instructions, with an obvious answer.

use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};

mod overestimates;

use super::cheapest_path::Exit;
use super::*;
use crate::command_line;

/// An instruction. A jump names the index of its target instruction in the same function.
#[derive(Clone, Copy, Debug)]
enum Op {
    Store,
    MaskedStore,
    StoreUnderMask,
    Push,
    Fence,
    LockedAdd,
    Nothing,
    Jump(usize),
    Branch(usize),
    Call(&'static str),
    CallMiddle(usize),
    TailCall(&'static str),
    Take(&'static str),
    CallUnknown,
    JumpUnknown,
    Return,
    Stop,
}

use Op::{
    Branch, Call, CallMiddle, CallUnknown, Fence, Jump, JumpUnknown, LockedAdd, MaskedStore, Nothing, Push, Return,
    Stop, Store, StoreUnderMask, TailCall, Take,
};

impl Op {
    /// The bytes of the instruction, without the distance to its target.
    fn bytes(self) -> &'static [u8] {
        match self {
            // mov [rdi], eax
            Store => &[0x89, 0x07],
            // vmaskmovps [rsi], ymm1, ymm0
            MaskedStore => &[0xc4, 0xe2, 0x75, 0x2e, 0x06],
            // vmovups [rsi]{k1}, zmm0
            StoreUnderMask => &[0x62, 0xf1, 0x7c, 0x49, 0x11, 0x06],
            Push => &[0x50],
            Fence => &[0x0f, 0xae, 0xf0],
            // lock xadd [rdi], eax
            LockedAdd => &[0xf0, 0x0f, 0xc1, 0x07],
            Nothing => &[0x90],
            Jump(_) | TailCall(_) => &[0xe9],
            Branch(_) => &[0x0f, 0x84],
            Call(_) | CallMiddle(_) => &[0xe8],
            // lea rax, [rip + distance]
            Take(_) => &[0x48, 0x8d, 0x05],
            // call rax
            CallUnknown => &[0xff, 0xd0],
            // jmp rax
            JumpUnknown => &[0xff, 0xe0],
            Return => &[0xc3],
            // ud2
            Stop => &[0x0f, 0x0b],
        }
    }

    fn has_target(self) -> bool {
        matches!(self, Jump(_) | TailCall(_) | Branch(_) | Call(_) | CallMiddle(_) | Take(_))
    }

    fn length(self) -> usize {
        self.bytes().len() + if self.has_target() { 4 } else { 0 }
    }
}

type Functions<'a> = &'a [(&'static str, &'a [Op])];

fn offset(ops: &[Op], index: usize) -> usize {
    ops[..index].iter().map(|op| op.length()).sum()
}

/// Returns the bytes of all functions in a row, and where each begins.
fn assemble(functions: Functions<'_>) -> (Vec<u8>, Vec<usize>) {
    let mut starts = Vec::new();
    let mut end: usize = 0;
    for (_, ops) in functions {
        starts.push(end.next_multiple_of(16));
        end = end.next_multiple_of(16) + offset(ops, ops.len());
    }
    let start_of =
        |name: &str| starts[functions.iter().position(|(other, _)| *other == name).expect("the function exists")];
    let mut code: Vec<u8> = Vec::new();
    for ((_, ops), start) in functions.iter().zip(&starts) {
        code.resize(*start, 0xcc);
        for op in *ops {
            code.extend(op.bytes());
            let target = match *op {
                Jump(index) | Branch(index) | CallMiddle(index) => start + offset(ops, index),
                Call(name) | TailCall(name) | Take(name) => start_of(name),
                _ => continue,
            };
            let next = code.len() + 4;
            code.extend((target as i32 - next as i32).to_le_bytes());
        }
    }
    (code, starts)
}

fn object(functions: Functions<'_>, architecture: Architecture) -> Object<'static> {
    let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    let (code, starts) = assemble(functions);
    let text = object.section_id(object::write::StandardSection::Text);
    object.append_section_data(text, &code, 16);
    let is_named = |name: &str| !name.is_empty();
    for ((name, ops), start) in functions.iter().zip(starts).filter(|((name, _), _)| is_named(name)) {
        object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value: start as u64,
            size: offset(ops, ops.len()) as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
    }
    object
}

fn program(functions: Functions<'_>) -> Program {
    Program::parse(&object(functions, Architecture::X86_64).write().unwrap()).unwrap()
}

fn found(functions: Functions<'_>, symbol: &str) -> Finding {
    search(&program(functions), &places(symbol)).unwrap()
}

fn places(symbols: &str) -> Vec<&str> {
    symbols.split(' ').collect()
}

fn stores(functions: Functions<'_>) -> Option<u64> {
    found(functions, "pop").stores
}

fn refusal(result: Result<impl Sized>) -> String {
    format!("{:#}", result.err().expect("the program should be refused"))
}

const POP: (&str, &[Op]) = ("pop", &[Store, Return]);

#[test]
fn a_loop_makes_its_stores_between_two_pops() {
    // Three stores, and the return address.
    assert_eq!(stores(&[POP, ("worker", &[Store, Store, Store, Call("pop"), Jump(0)])]), Some(4));
    assert_eq!(stores(&[POP, ("worker", &[Push, Nothing, Call("pop"), Jump(0)])]), Some(2));
}

#[test]
fn the_branch_with_fewer_stores_counts() {
    let worker = |branch: &[Op]| [&[Branch(4), Store, Store, Store], branch, &[Call("pop"), Jump(0)]].concat();
    assert_eq!(stores(&[POP, ("worker", &worker(&[]))]), Some(1));
    assert_eq!(stores(&[POP, ("worker", &worker(&[Store, Store]))]), Some(3));
}

#[test]
fn a_called_function_adds_the_fewest_stores_through_it() {
    let worker: &[Op] = &[Call("work"), Call("pop"), Jump(0)];
    // Two return addresses, and the stores between them.
    assert_eq!(stores(&[POP, ("worker", worker), ("work", &[Store, Store, Return])]), Some(4));
    assert_eq!(stores(&[POP, ("worker", worker), ("work", &[Branch(3), Store, Store, Return])]), Some(2));
    // The recursion must end.
    let recursive: &[Op] = &[Branch(3), Call("work"), Store, Store, Return];
    assert_eq!(stores(&[POP, ("worker", worker), ("work", recursive)]), Some(3));
    // A callee that never returns is no path back.
    let dead_end: &[Op] = &[Branch(4), Call("work"), Nothing, Nothing, Store, Store, Call("pop"), Jump(0)];
    assert_eq!(stores(&[POP, ("worker", dead_end), ("work", &[Stop])]), Some(3));
}

#[test]
fn a_pop_inside_a_called_function_is_a_pop() {
    let functions: Functions<'_> =
        &[POP, ("worker", &[Store, Store, Call("step"), Jump(0)]), ("step", &[Store, Call("pop"), Return])];
    // Two stores in the loop, one in the step, and two return addresses.
    assert_eq!(stores(functions), Some(5));
    let path = found(functions, "pop").path.unwrap();
    let names: Vec<_> = path.steps.iter().map(|step| step.function).collect();
    assert_eq!((names.first(), names.contains(&1), names.contains(&2)), (Some(&0), true, true));
    assert_eq!(path.steps.iter().map(|step| step.stores).sum::<u64>(), path.stores);
}

#[test]
fn a_function_returns_only_to_its_caller() {
    let other: Vec<Op> = [&[Store; 20][..], &[Call("work"), Call("pop"), Jump(0)]].concat();
    let worker: Vec<Op> = [&[Call("work")], &[Store; 5][..], &[Call("pop"), Jump(0)]].concat();
    assert_eq!(stores(&[POP, ("worker", &worker), ("other", &other), ("work", &[Return])]), Some(7));
}

#[test]
fn a_tail_call_returns_to_the_first_caller() {
    let worker: &[Op] = &[Store, Call("work"), Store, Store, Jump(0)];
    assert_eq!(stores(&[POP, ("worker", worker), ("work", &[Store, TailCall("pop")])]), Some(5));
}

#[test]
fn an_indirect_call_or_jump_may_pop_immediately() {
    let call: &[Op] = &[Call("pop"), Store, CallUnknown, Store, Store, Jump(0)];
    let finding = found(&[POP, ("worker", call)], "pop");
    // One store, and the return address of that call.
    assert_eq!((finding.stores, finding.indirect_calls, finding.indirect_jumps), (Some(2), 1, 0));
    assert!(matches!(finding.path.unwrap().exit, Some(Exit::Call(_))));
    let finding = found(&[POP, ("worker", &[Call("pop"), Store, Store, JumpUnknown])], "pop");
    assert_eq!((finding.stores, finding.indirect_calls, finding.indirect_jumps), (Some(2), 0, 1));
    assert!(matches!(finding.path.unwrap().exit, Some(Exit::Jump(_))));
}

#[test]
fn an_unknown_caller_may_pop_again_immediately() {
    let finding = found(&[("pop", &[Store, Store, Return])], "pop");
    assert_eq!(finding.stores, Some(1));
    assert_eq!(finding.path.unwrap().exit, Some(Exit::Return(0)));
    // A function that is pointed to may have unknown callers besides the known ones.
    let worker: &[Op] = &[Take("pop"), Store, Store, Call("pop"), Jump(0)];
    assert_eq!(stores(&[POP, ("worker", worker)]), Some(0));
}

#[test]
fn a_fence_on_every_path_hides_no_pop() {
    for drain in [Fence, LockedAdd] {
        let finding = found(&[POP, ("worker", &[Call("pop"), drain, Jump(0)])], "pop");
        assert!(finding.drains());
        // Late in the first call, and early in the next.
        assert_eq!(finding.delta(128), Some(2));
        assert_eq!(found(&[POP, ("worker", &[Call("pop"), drain, Jump(0)])], "pop+0x0").delta(128), Some(1));
        let around: &[Op] = &[Call("pop"), Branch(3), drain, Jump(0)];
        assert_eq!(stores(&[POP, ("worker", around)]), Some(1));
    }
}

#[test]
fn with_the_place_of_the_store_a_pop_of_an_empty_queue_does_not_count() {
    // Empty: returns at once. Otherwise two stores, the first of which is the store of the tail.
    let pop: (&str, &[Op]) = ("pop", &[Branch(3), Store, Store, Return]);
    let locked: (&str, &[Op]) = ("pop", &[Branch(2), LockedAdd, Return]);
    let functions: Functions<'_> = &[pop, ("worker", &[Call("pop"), Jump(0)])];
    assert_eq!(found(functions, "pop").stores, Some(0));
    assert_eq!(found(functions, "pop+0x6").stores, Some(2));
    assert!(found(&[locked, ("worker", &[Call("pop"), Jump(0)])], "pop+0x6").drains());
    assert!(refusal(search(&program(functions), &["pop+0x0"])).contains("stores nothing"));
    assert!(refusal(search(&program(functions), &["pop+0x7"])).contains("no instruction begins at"));
    assert!(refusal(search(&program(functions), &["pop+0x70"])).contains("has 11 bytes"));
    assert!(refusal(search(&program(functions), &["pop+0xyz"])).contains("is not an offset in a function"));
}

#[test]
fn a_program_that_pops_once_hides_one_pop() {
    let functions: Functions<'_> = &[POP, ("worker", &[Call("pop"), Stop])];
    let finding = found(functions, "pop+0x0");
    assert_eq!((finding.stores, finding.delta(73)), (None, Some(1)));
    assert!(show::text(&program(functions), &finding, 73).contains("pops once"));
    // Without the place that stores the tail, the answer is not certain.
    let refused = refusal(search(&program(functions), &["pop"]));
    assert!(refused.contains("no path back") && refused.contains("pop+0x0"), "{refused}");
}

#[test]
fn delta_follows_from_the_stores_and_the_bound() {
    let functions: Functions<'_> = &[POP, ("worker", &[Store, Store, Call("pop"), Jump(0)])];
    let finding = found(functions, "pop");
    assert_eq!((finding.stores, finding.delta(73), finding.delta(128)), (Some(3), Some(20), Some(33)));
    let text = show::text(&program(functions), &finding, 73);
    assert!(text.contains("x = 3") && text.contains("ceil(73 / 4) + 1 = 20"), "{text}");
    assert!(text.contains("worker: 3 stores") && text.contains("uses none"), "{text}");
    assert!(text.contains("Delta::with_client_stores(Bound::new(73)?, 1, 1)?"), "{text}");

    let exact = found(functions, "pop+0x0");
    assert_eq!((exact.stores, exact.delta(73)), (Some(3), Some(19)));
    assert!(show::text(&program(functions), &exact, 73).contains("ceil(73 / 4) = 19, if"));

    let none = found(&[POP], "pop");
    assert_eq!((none.stores, none.delta(73)), (Some(0), None));
    assert!(show::text(&program(&[POP]), &none, 73).contains("No delta is safe"));
}

#[test]
fn json_has_the_result_and_the_path() {
    let functions: Functions<'_> = &[POP, ("worker", &[Store, Store, Call("pop"), Jump(0)])];
    let finding = found(functions, "pop");
    let json = show::json(&program(functions), &finding, 73, std::path::Path::new("a program"));
    assert_eq!((&json["stores"], &json["delta"], &json["bound"]), (&3.into(), &20.into(), &73.into()));
    assert_eq!(json["code"], "let delta = unsafe { Delta::with_client_stores(Bound::new(73)?, 1, 1)? };");
    assert_eq!(json["path"][0]["function"], "pop");
    assert_eq!(json["leaves"], serde_json::Value::Null);
}

#[test]
fn functions_are_found_by_parts_of_names_and_by_mangled_names() {
    let mangled = "_ZN5queue3pop17h0123456789abcdefE";
    let both = program(&[(mangled, &[Store, Return]), ("popular", &[Return])]);
    assert_eq!(both.functions[both.find("queue::pop", false).unwrap()].name(), "queue::pop");
    assert_eq!(both.find(mangled, false).unwrap(), both.find("queue::pop", false).unwrap());
    let list = refusal(both.find("pop", false));
    assert!(
        list.contains("2 functions have `pop`") && list.contains("queue::pop") && list.contains("popular"),
        "{list}"
    );
    assert!(refusal(both.find("push", false)).contains("mark it `#[inline(never)]`"));
}

#[test]
fn an_unsupported_file_is_refused_with_a_reason() {
    assert!(refusal(Program::parse(b"#!/bin/sh")).contains("expected a compiled program"));
    assert!(refusal(Program::parse(b"")).contains("expected a compiled program"));
    let stripped = object(&[], Architecture::X86_64).write().unwrap();
    assert!(refusal(Program::parse(&stripped)).contains("it was stripped"));
    let other = object(&[POP], Architecture::Aarch64).write().unwrap();
    assert!(refusal(Program::parse(&other)).contains("expected a program for x86-64"));
    let whole = object(&[POP], Architecture::X86_64).write().unwrap();
    for length in 0..whole.len() {
        // Whatever is missing, the result is an answer or an error, never a panic.
        let _ = Program::parse(&whole[..length]).map(|program| search(&program, &["pop"]).is_ok());
    }
}

#[test]
fn an_unlinked_file_is_refused() {
    let mut unlinked = object(&[("worker", &[Call("worker"), Return])], Architecture::X86_64);
    let text = unlinked.section_id(object::write::StandardSection::Text);
    let symbol = unlinked.symbol_id(b"worker").unwrap();
    let flags = object::RelocationFlags::Elf { r_type: object::elf::R_X86_64_PLT32 };
    unlinked.add_relocation(text, object::write::Relocation { offset: 1, symbol, addend: -4, flags }).unwrap();
    assert!(refusal(Program::parse(&unlinked.write().unwrap())).contains("give a linked program"));
}

#[test]
fn a_bound_is_a_number_of_stores() {
    let parse = |words: &[&str]| command_line::parse::<Arguments>(words);
    assert_eq!(parse(&["a", "pop"]).unwrap().bound, 128);
    assert_eq!(parse(&["a", "pop", "--bound", "73"]).unwrap().bound, 73);
    assert!(parse(&["a", "pop", "--bound", "many"]).unwrap_err().contains("not a number of stores"));
    assert!(parse(&["a", "pop", "--bound", "0"]).is_err());
}
