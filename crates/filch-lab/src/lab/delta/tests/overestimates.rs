//! Programs for which x is easily overestimated.

use object::RelocationFlags;

use super::*;

fn refused(functions: Functions<'_>, symbols: &str) -> String {
    refusal(search(&program(functions), &places(symbols)))
}

#[test]
fn a_pop_in_a_loop_of_its_function_needs_its_place() {
    // The loop never passes the beginning again.
    let endless: Functions<'_> = &[("worker", &[Nothing, Store, Store, Jump(1)])];
    let refusal = refused(endless, "worker");
    assert!(refusal.contains("more than once") && refusal.contains("worker+0x1\n  worker+0x3"), "{refusal}");
    assert_eq!(found(endless, "worker+0x1").stores, Some(1));
    // Pushes at the beginning do not run between two pops.
    let ends: Functions<'_> = &[("worker", &[Push, Push, Push, Push, Store, Branch(4), Return])];
    assert!(refused(ends, "worker").contains("worker+0x4"));
    assert_eq!(found(ends, "worker+0x4").stores, Some(0));
    // A loop to the first instruction passes the beginning.
    assert_eq!(found(&[("worker", &[Store, Store, Jump(0)])], "worker").stores, Some(1));
}

#[test]
fn a_pop_in_a_loop_of_a_called_function_needs_its_place() {
    let worker: (&str, &[Op]) = ("worker", &[Push, Push, Push, Call("step"), Return]);
    assert!(refused(&[worker, ("step", &[Store, Branch(0), Return])], "worker").contains("more than once"));
    let again: (&str, &[Op]) = ("worker", &[Push, Push, Push, Call("step"), Branch(3), Return]);
    assert!(refused(&[again, ("step", &[Store, Return])], "worker").contains("more than once"));
    let further: (&str, &[Op]) = ("worker", &[Push, Push, Push, TailCall("step")]);
    assert!(refused(&[further, ("step", &[Store, Branch(0), Return])], "worker").contains("more than once"));
    assert_eq!(found(&[worker, ("step", &[Store, Return])], "worker").stores, Some(4));
}

#[test]
fn a_jump_to_an_unknown_target_may_loop() {
    let functions: Functions<'_> = &[("worker", &[Push, Push, Push, Store, JumpUnknown])];
    assert!(refused(functions, "worker").contains("the target of its jump at"));
    assert_eq!(found(functions, "worker+0x3").stores, Some(0));
}

#[test]
fn a_loop_that_stores_nothing_or_empties_the_buffer_is_accepted() {
    for inside in [Nothing, LockedAdd] {
        let pop: (&str, &[Op]) = ("pop", &[Nothing, inside, Branch(1), Store, Return]);
        assert!(search(&program(&[pop]), &["pop"]).is_ok());
    }
}

#[test]
fn all_copies_of_a_pop_are_pops() {
    let functions: Functions<'_> = &[POP, ("worker", &[Call("pop"), Store, Store, Jump(0)])];
    assert_eq!(found(functions, "pop+0x0").stores, Some(3));
    // The second store of the worker is the store of a tail.
    assert_eq!(found(functions, "pop+0x0 worker+0x7").stores, Some(1));
    let inlined: Functions<'_> = &[POP, ("worker", &[Call("pop"), Store, Store, Store, Store, Jump(0)])];
    assert_eq!(found(inlined, "pop+0x0 worker+0x5").stores, Some(0));
    assert_eq!(found(functions, "worker+0x7 pop+0x0 pop+0x0").places.len(), 2);
    let refusal = refused(functions, "pop worker+0x7");
    assert!(refusal.contains("with several pops, each needs the place") && refusal.contains("pop+0x0"), "{refusal}");
}

#[test]
fn copies_with_the_same_name_are_reported() {
    let worker: (&str, &[Op]) = ("worker", &[Call("pop"), Call("pop.constprop.0"), Jump(0)]);
    let c: Functions<'_> = &[POP, ("pop.constprop.0", &[Store, Return]), worker];
    let refusal = refused(c, "pop");
    assert!(refusal.contains("2 functions have `pop`") && refusal.contains("pop.constprop.0"), "{refusal}");
    assert_eq!(found(c, "pop+0x0 pop.constprop.0+0x0").stores, Some(1));
    // If a single copy is given with its place, the finding reports the other copy.
    let one = found(c, "pop+0x0");
    assert_eq!((one.stores, one.other_copies), (Some(3), 1));
    assert!(show::text(&program(c), &one, 73).contains("Functions of the same name that are not counted as pops: 1"));

    let (some, other) = ("_ZN5queue3pop17h0123456789abcdefE", "_ZN5queue3pop17hfedcba9876543210E");
    let rust: Functions<'_> = &[(some, &[Store, Return]), (other, &[Store, Return])];
    assert!(refused(rust, "queue::pop").contains("if several pop"));
    assert_eq!(found(rust, some).other_copies, 1);
}

#[test]
fn unnamed_code_may_call_any_function() {
    let known: (&str, &[Op]) = ("worker", &[Store, Store, Call("pop"), Jump(0)]);
    let functions: Functions<'_> = &[POP, known, ("", &[Call("pop"), Jump(0)])];
    let finding = found(functions, "pop");
    assert_eq!((finding.stores, &finding.path.as_ref().unwrap().exit), (Some(0), &Some(Exit::Return(0))));
    let text = show::text(&program(functions), &finding, 73);
    assert!(text.contains("10 bytes of code belong to no named function"), "{text}");
    // Padding is not code.
    assert_eq!(stores(&[POP, known, ("", &[Nothing, Nothing])]), Some(3));
    // A function may continue in it: here by returning past its end.
    let falls: Functions<'_> =
        &[("work", &[Return]), ("worker", &[Store, Store, Call("work")]), ("", &[TailCall("worker")])];
    assert_eq!(found(falls, "worker+0x0").stores, Some(2));
}

#[test]
fn a_symbol_after_a_call_ends_a_function_only_if_its_size_says_so() {
    let nothing = [Nothing; 11];
    let worker = [&nothing[..], &[Call("pop")]].concat();
    let far: &[Op] = &[Push, Push, Push, Call("pop"), Jump(0)];
    let functions: Functions<'_> = &[POP, ("worker", &worker), ("inner", &[Nothing, TailCall("worker")]), ("far", far)];
    let with_size = |size: u64| {
        let mut object = object(functions, Architecture::X86_64);
        let symbol = object.symbol_id(b"worker").unwrap();
        object.symbol_mut(symbol).size = size;
        let program = Program::parse(&object.write().unwrap()).unwrap();
        search(&program, &["pop"]).unwrap().stores
    };
    // The function ends there: the last call does not return. Otherwise the other symbol is in its
    // middle.
    assert_eq!((with_size(16), with_size(22), with_size(0)), (Some(4), Some(1), Some(1)));
}

#[test]
fn code_after_a_drain_is_checked_too() {
    // The loop after it makes no store other than the tail's.
    for drain in [Fence, LockedAdd] {
        let functions: Functions<'_> = &[("worker", &[drain, Store, Branch(1), Return])];
        let refused = refusal(search(&program(functions), &["worker"]));
        assert!(refused.contains("more than once"), "{refused}");
        let unknown: Functions<'_> = &[("worker", &[drain, Store, JumpUnknown])];
        assert!(refusal(search(&program(unknown), &["worker"])).contains("the target of its jump at"));
    }
    // A loop that drains in every iteration is allowed.
    let around: Functions<'_> = &[("worker", &[Store, Fence, Branch(0), Return])];
    assert!(found(around, "worker").stores.is_some());
}

#[test]
fn a_store_after_a_recursive_call_repeats_without_passing_the_beginning() {
    let main: (&str, &[Op]) = ("main", &[Call("worker"), Jump(0)]);
    let recursive: &[Op] = &[Push, Push, Push, Branch(5), Call("worker"), Store, Return];
    assert!(refused(&[main, ("worker", recursive)], "worker").contains("more than once"));
    // Through another function, through a tail call, and through an unknown callee.
    let through: &[Op] = &[Push, Push, Push, Branch(5), Call("other"), Store, Return];
    for other in [&[Call("worker"), Return][..], &[TailCall("worker")]] {
        assert!(refused(&[main, ("worker", through), ("other", other)], "worker").contains("the store at"));
    }
    let unknown = ("other", &[CallUnknown, Return][..]);
    assert!(refused(&[main, ("worker", through), unknown], "worker").contains("the target of its call at"));
    let saves = ("other", &[Push, Nothing, Return][..]);
    assert!(search(&program(&[main, ("worker", through), saves]), &["worker"]).is_ok());
    // With the store before the recursive call, nothing is stored on return.
    let last: &[Op] = &[Push, Push, Push, Store, Branch(6), Call("worker"), Return];
    assert!(search(&program(&[main, ("worker", last)]), &["worker"]).is_ok());
}

#[test]
fn a_function_that_is_called_twice_in_a_row_may_pop_twice() {
    let twice: (&str, &[Op]) = ("worker", &[Push, Push, Push, Push, Push, Call("step"), Call("step"), Jump(0)]);
    assert!(refused(&[twice, ("step", &[Store, Return])], "worker").contains("more than once"));
    assert!(
        refused(&[twice, ("step", &[TailCall("other")]), ("other", &[Store, Return])], "worker").contains("more than")
    );
    // A function that only saves registers does not.
    assert!(search(&program(&[twice, ("step", &[Push, Nothing, Return])]), &["worker"]).is_ok());
}

#[test]
fn a_call_into_the_middle_of_a_function_may_not_return() {
    // As in a return trampoline: call 2; here: jump here; 2: drop the address; return.
    let functions: Functions<'_> =
        &[("pop", &[Store, CallMiddle(3), Jump(2), Nothing, Return]), ("worker", &[Call("pop"), Jump(0)])];
    let finding = found(functions, "pop+0x0");
    assert!(matches!(finding.path.as_ref().unwrap().exit, Some(Exit::Call(_))));
    assert_eq!(finding.stores, Some(1));
    // And the call may lead to a loop.
    let round: &[Op] = &[Push, Push, CallMiddle(4), Jump(0), Store, Branch(4), Return];
    assert!(refused(&[("worker", round)], "worker").contains("more than once"));
}

#[test]
fn a_return_to_a_pushed_address_is_a_jump_to_an_unknown_target() {
    let jump: (&str, &[Op]) = ("jump", &[Push, Return]);
    let finding = found(&[POP, jump, ("worker", &[Call("pop"), Store, Call("jump"), Store, Jump(0)])], "pop");
    assert!(matches!(finding.path.unwrap().exit, Some(Exit::Jump(_))));
    let thunk: (&str, &[Op]) = ("__x86_indirect_thunk_r11", &[Nothing, Jump(0)]);
    let worker: &[Op] = &[Call("pop"), Store, Call("__x86_indirect_thunk_r11"), Store, Jump(0)];
    let finding = found(&[POP, thunk, ("worker", worker)], "pop");
    assert!(matches!(finding.path.unwrap().exit, Some(Exit::Call(_))));
}

#[test]
fn a_store_under_a_mask_may_store_nothing() {
    for masked in [MaskedStore, StoreUnderMask] {
        assert_eq!(stores(&[POP, ("worker", &[Call("pop"), masked, masked, Jump(0)])]), Some(1));
    }
}

#[test]
fn unsupported_pointers_are_refused() {
    let mac = Object::new(BinaryFormat::MachO, Architecture::X86_64, Endianness::Little).write().unwrap();
    assert!(refusal(Program::parse(&mac)).contains("it is for macOS"));
    let kinds = [object::elf::R_X86_64_IRELATIVE, object::elf::R_X86_64_RELATIVE];
    assert_eq!(kinds.map(|r_type| super::program::is_computed(RelocationFlags::Elf { r_type })), [true, false]);
}

#[test]
fn the_number_of_stores_saturates() {
    let names: Vec<&'static str> = (0..40).map(|index| &*format!("work{index}").leak()).collect();
    let twice: Vec<Vec<Op>> = (0..40)
        .map(|index| match index {
            0 => vec![Fence, Return],
            _ => vec![Call(names[index - 1]), Call(names[index - 1]), Return],
        })
        .collect();
    let worker = [Call("pop"), Call(names[39]), Jump(0)];
    let mut functions: Vec<(&'static str, &[Op])> = vec![POP, ("worker", &worker)];
    functions.extend(names.iter().copied().zip(twice.iter().map(|ops| &ops[..])));
    let finding = found(&functions, "pop");
    assert!(finding.drains());
    assert_eq!(finding.delta(73), Some(2));
    assert!(show::text(&program(&functions), &finding, 73).contains("empties the store buffer"));
}

#[test]
fn the_text_states_the_conditions_of_the_bound() {
    let functions: Functions<'_> = &[POP, ("worker", &[Store, Call("pop"), Jump(0)])];
    let text = |symbol: &str| show::text(&program(functions), &found(functions, symbol), 73);
    for condition in ["a lower bound if no library calls back", "longjmp", "other functions are not detected"] {
        assert!(text("pop").contains(condition), "{condition}");
    }
    assert!(text("pop").contains("A single instruction is assumed to store the tail"));
    assert!(!text("pop+0x0").contains("A single instruction is assumed to store the tail"));
}
