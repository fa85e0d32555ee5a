//! Checks the machine code of the fast paths. It reads the disassembly of an example with a
//! function for each fast path.
//!
//! A queue with a fence-free owner must have no fence in `push` and `pop`. Chase-Lev and THE need a
//! fence in `pop`. Finding it there shows that the check can fail.

mod listing;

use std::fmt::Write as _;

use anyhow::{bail, Context as _, Result};

use self::listing::{functions, Function};
use super::{Context, Outcome};
use crate::artifact;
use crate::install;
use crate::output::print_line;

/// Queues with a fence-free owner: no fence in `push` or `pop`.
const FENCE_FREE: [&str; 7] =
    ["ff_the", "ff_cl", "thep", "asymmetric", "idempotent_lifo", "idempotent_fifo", "idempotent_double_ended"];

/// Queues whose `pop` needs a fence. They are the control.
const FENCED: [&str; 2] = ["chase_lev", "the"];

/// Queues without a locked instruction in `push` and with exactly one in `pop`. Their other
/// instructions are plain.
const LOCKED: [&str; 1] = ["bulk"];

const PREFIX: &str = "fast_path_";

/// Checks all fast paths and prints their lengths.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    if !cfg!(target_arch = "x86_64") {
        return context.skip("the check of the fast paths reads x86-64 assembly: run it on an x86-64 machine");
    }
    if !find_or_install_objdump(context) {
        return context.skip("objdump is not installed: run `apt-get install binutils`");
    }
    let (table, problems) = check(&fast_paths(context)?);
    print_line!("{}", table.trim_end());
    if !problems.is_empty() {
        bail!("wrong fast paths:\n- {}", problems.join(";\n- "));
    }
    Ok(Outcome::Passed)
}

/// Prints the disassembly of the fast path called `name`, with or without the common prefix.
pub(crate) fn print(context: &Context, name: &str) -> Result<()> {
    if !find_or_install_objdump(context) {
        bail!("objdump is not installed: run `apt-get install binutils`");
    }
    let found = fast_paths(context)?;
    let full = if name.starts_with(PREFIX) { name.to_owned() } else { format!("{PREFIX}{name}") };
    let Some(function) = found.iter().find(|function| function.has_name(&full)) else {
        let mut names: Vec<&str> = found.iter().flat_map(|f| &f.names).filter_map(|n| n.strip_prefix(PREFIX)).collect();
        names.sort_unstable();
        bail!("unknown fast path `{name}`: give one of {}", names.join(", "));
    };
    print_line!("{}:", function.names.join(", "));
    for instruction in &function.instructions {
        print_line!("    {instruction}");
    }
    Ok(())
}

fn fast_paths(context: &Context) -> Result<Vec<Function>> {
    let build = context.cargo("build --release -p filch-queue --example fast_paths");
    let program = artifact::build(build, "fast_paths", None)?;
    let listing = context.command("objdump").words("-t -d --no-show-raw-insn").arg(program).capture_stdout()?;
    let listing = String::from_utf8(listing).context("the output of objdump is not UTF-8")?;
    let is_fast_path = |function: &Function| function.names.iter().any(|name| name.starts_with(PREFIX));
    Ok(functions(&listing).into_iter().filter(is_fast_path).collect())
}

/// Returns a table of all fast paths, and a sentence for each wrong one.
fn check(found: &[Function]) -> (String, Vec<String>) {
    let mut table = format!("{:<38} {:>12} {:>6}  fence\n", "fast path", "instructions", "calls");
    let (mut problems, mut missing) = (Vec::new(), Vec::new());
    for queue in FENCED.iter().chain(&LOCKED).chain(&FENCE_FREE) {
        for operation in ["push", "pop"] {
            let name = format!("{PREFIX}{queue}_{operation}");
            let Some(function) = found.iter().find(|function| function.has_name(&name)) else {
                missing.push(format!("`{name}`"));
                continue;
            };
            let fences: Vec<&str> = function.fences().collect();
            let fence_list = if fences.is_empty() { "none".to_owned() } else { fences.join("; ") };
            let (instructions, calls) = (function.instructions.len(), function.calls());
            writeln!(table, "{name:<38} {instructions:>12} {calls:>6}  {fence_list}")
                .expect("writing to a string cannot fail");

            if !function.branches_before_first_call() {
                problems.push(format!(
                    "`{name}` calls another function before its first conditional jump: the operation was not inlined, \
                     so this check cannot see its code"
                ));
            }
            if FENCE_FREE.contains(queue) && !fences.is_empty() {
                problems.push(format!("`{name}` must have no fence, but has: {fence_list}"));
            }
            let expected = usize::from(operation == "pop");
            if LOCKED.contains(queue) && fences.len() != expected {
                problems.push(format!(
                    "`{name}` must have {expected} locked instructions and no fence, but has: {fence_list}"
                ));
            }
            if FENCED.contains(queue) && operation == "pop" && fences.is_empty() {
                problems.push(format!(
                    "`{name}` needs a fence but has none: either the fence was lost or this check misses fences"
                ));
            }
        }
    }
    if !missing.is_empty() {
        problems.push(format!(
            "missing from the program: {}; crates/filch-queue/examples/fast_paths.rs must define each function with \
             #[no_mangle] and #[inline(never)], and call it",
            missing.join(", ")
        ));
    }
    (table, problems)
}

/// Returns whether objdump exists. Tries to install it first, if that needs no interaction.
fn find_or_install_objdump(context: &Context) -> bool {
    let objdump = context.command("objdump").arg("--version");
    objdump.succeeds() || (install::packages(context, "binutils", "objdump") && objdump.succeeds())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listing in which every fast path is correct.
    fn good() -> Vec<(String, String)> {
        let plain = "cmp %rsi,(%rdi)\njae 1050 <NAME+0x10>\nmov %rsi,(%rdi)\nret\ncall 2000 <grow>\nret";
        let fenced = "mfence\ncmp %rsi,(%rdi)\nje 1050 <NAME+0x10>\nret";
        let mut all = Vec::new();
        for queue in FENCED.iter().chain(&LOCKED).chain(&FENCE_FREE) {
            for operation in ["push", "pop"] {
                let body = if FENCE_FREE.contains(queue) || operation == "push" { plain } else { fenced };
                let name = format!("fast_path_{queue}_{operation}");
                all.push((name.clone(), body.replace("NAME", &name)));
            }
        }
        all
    }

    fn problems(all: &[(String, String)]) -> Vec<String> {
        let mut listing = String::new();
        for (name, body) in all {
            writeln!(listing, "\n0000000000001040 <{name}>:").unwrap();
            for line in body.lines() {
                writeln!(listing, "    1040:\t{line}").unwrap();
            }
        }
        check(&functions(&listing)).1
    }

    fn problems_with_body(name: &str, body: &str) -> Vec<String> {
        let mut all = good();
        all.iter_mut().find(|(other, _)| other == name).unwrap().1 = body.to_owned();
        problems(&all)
    }

    #[test]
    fn correct_fast_paths_pass() {
        assert_eq!(problems(&good()), Vec::<String>::new());
    }

    #[test]
    fn a_fence_in_a_fence_free_queue_is_reported() {
        let body = "cmp %rsi,(%rdi)\nje 1050 <fast_path_ff_cl_pop+0x10>\nlock cmpxchg %rcx,(%rdi)\nret";
        let found = problems_with_body("fast_path_ff_cl_pop", body);
        assert_eq!(found, ["`fast_path_ff_cl_pop` must have no fence, but has: lock cmpxchg %rcx,(%rdi)"]);
    }

    #[test]
    fn a_wrong_number_of_locked_instructions_is_reported() {
        let locked = "cmp %rsi,(%rdi)\nje 1050 <fast_path_bulk_push+0x10>\nlock incl (%rdi)\nret";
        let found = problems_with_body("fast_path_bulk_push", locked);
        assert!(found.len() == 1 && found[0].contains("must have 0 locked"), "{found:?}");
        let plain = "cmp %rsi,(%rdi)\nje 1050 <fast_path_bulk_pop+0x10>\nmov %rsi,(%rdi)\nret";
        let found = problems_with_body("fast_path_bulk_pop", plain);
        assert!(found.len() == 1 && found[0].contains("must have 1 locked"), "{found:?}");
    }

    #[test]
    fn a_fenced_queue_without_its_fence_fails() {
        let body = "cmp %rsi,(%rdi)\nje 1050 <fast_path_chase_lev_pop+0x10>\nret";
        let found = problems_with_body("fast_path_chase_lev_pop", body);
        assert!(found.len() == 1 && found[0].contains("needs a fence"), "{found:?}");
    }

    #[test]
    fn a_fast_path_that_is_only_a_call_fails() {
        let found = problems_with_body("fast_path_thep_push", "push %rax\ncall 2000 <really_push>\npop %rcx\nret");
        assert!(found.len() == 1 && found[0].contains("not inlined"), "{found:?}");
    }

    #[test]
    fn a_missing_fast_path_fails() {
        let all: Vec<_> = good().into_iter().filter(|(name, _)| name != "fast_path_the_push").collect();
        let found = problems(&all);
        assert!(found.len() == 1 && found[0].contains("`fast_path_the_push`"), "{found:?}");
    }

    #[test]
    fn an_empty_program_fails() {
        assert!(check(&[]).1[0].contains("`fast_path_chase_lev_push`, `fast_path_chase_lev_pop`"));
    }
}
