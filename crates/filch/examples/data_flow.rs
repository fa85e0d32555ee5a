//! A data-flow analysis: finds live variables, and so the assignments that have no effect.
//!
//! A variable is live before an instruction if some path from there reads it before it is written.
//! That is the least solution of one equation for each instruction:
//!
//! ```text
//! live before = read here, or (live before some successor, and not written here)
//! ```
//!
//! A worklist finds it: when the set of an instruction has grown, its predecessors must be looked
//! at again. Sets only grow, so it does no harm to look at an instruction twice, or twice at the
//! same time. At least once is enough, and one `fetch_or` is all the synchronisation.
//!
//! ```text
//! cargo run --release -p filch --example data_flow               a small program, printed with the results
//! cargo run --release -p filch --example data_flow -- FILE       a program in the language of `parse`
//! cargo run --release -p filch --example data_flow -- 300000     a generated program with this many instructions; checked against a plain loop
//! ```

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{env, fs};

use filch::explore::Explore;

const SMALL: &str = "\
n = 10
sum = 0
last = 0
again:
  sum = sum + n
  square = n * n
  last = n
  n = n - 1
  if n goto again
last = 1
print sum
print last
";

/// An instruction: the variable that it writes, those that it reads, and its successors.
#[derive(Debug, Default)]
struct Instruction {
    line: usize,
    writes: Option<usize>,
    reads: Vec<usize>,
    next: Vec<usize>,
}

#[derive(Debug)]
struct Program {
    variables: Vec<String>,
    instructions: Vec<Instruction>,
}

/// Parses a program, an instruction a line.
///
/// The instructions are `x = 1`, `x = y`, `x = y + 2` (also `-`, `*`), `print x`, `goto label`, `if
/// x goto label`, `label:`.
fn parse(text: &str) -> Result<Program, String> {
    let (mut names, mut instructions) = (HashMap::new(), Vec::new());
    let (mut labels, mut jumps) = (HashMap::new(), Vec::new());
    let mut variables = Vec::new();
    let mut variable = |name: &str| {
        *names.entry(name.to_owned()).or_insert_with(|| {
            variables.push(name.to_owned());
            variables.len() - 1
        })
    };
    for (line, text) in (1..).zip(text.lines()) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut instruction = Instruction { line, next: vec![instructions.len() + 1], ..Instruction::default() };
        let mut reads = |words: &[&str]| -> Vec<usize> {
            words.iter().filter(|word| word.starts_with(char::is_alphabetic)).map(|word| variable(word)).collect()
        };
        match words[..] {
            [] => continue,
            [label] if label.ends_with(':') => {
                labels.insert(&label[..label.len() - 1], instructions.len());
                continue;
            }
            ["goto", label] => {
                instruction.next.clear();
                jumps.push((instructions.len(), label));
            }
            ["if", x, "goto", label] => {
                instruction.reads = reads(&[x]);
                jumps.push((instructions.len(), label));
            }
            ["print", x] => instruction.reads = reads(&[x]),
            [x, "=", a] if x.starts_with(char::is_alphabetic) => {
                instruction.reads = reads(&[a]);
                instruction.writes = Some(variable(x));
            }
            [x, "=", a, "+" | "-" | "*", b] if x.starts_with(char::is_alphabetic) => {
                instruction.reads = reads(&[a, b]);
                instruction.writes = Some(variable(x));
            }
            _ => return Err(format!("line {line}: unknown instruction `{}`", text.trim())),
        }
        instructions.push(instruction);
    }
    for (from, label) in jumps {
        let to = labels.get(label).copied();
        let line = instructions[from].line;
        instructions[from].next.push(to.ok_or_else(|| format!("line {line}: unknown label `{label}`"))?);
    }
    let end = instructions.len();
    instructions.iter_mut().for_each(|instruction| instruction.next.retain(|next| *next < end));
    Ok(Program { variables, instructions })
}

/// Generates a program of straight runs, loops and branches over a hundred variables, as text.
fn generate(instructions: usize) -> String {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        ((seed >> 32) as usize * limit) >> 32
    };
    let mut text = String::new();
    for line in 0..instructions {
        text += &format!("l{line}:\n");
        text += &match random(8) {
            0 => {
                let near = (line + random(200)).saturating_sub(100).min(instructions - 1);
                format!("if v{} goto l{near}\n", random(100))
            }
            1 if random(4) == 0 => format!("print v{}\n", random(100)),
            _ => format!("v{} = v{} + v{}\n", random(100), random(100), random(100)),
        };
    }
    text
}

/// Sets of variables, one before each instruction, as bits in words.
struct Live {
    /// The number of words of a set.
    width: usize,
    words: Vec<AtomicU64>,
}

impl Live {
    fn empty(program: &Program) -> Live {
        let width = program.variables.len().div_ceil(64).max(1);
        Live { width, words: (0..width * program.instructions.len()).map(|_| AtomicU64::new(0)).collect() }
    }

    fn set(&self, instruction: usize) -> &[AtomicU64] {
        &self.words[instruction * self.width..][..self.width]
    }

    fn contains(&self, instruction: usize, variable: usize) -> bool {
        self.set(instruction)[variable / 64].load(Ordering::Relaxed) >> (variable % 64) & 1 == 1
    }

    /// Solves the equation of one instruction with what is known now. Returns whether its set has
    /// grown.
    fn update(&self, program: &Program, at: usize) -> bool {
        let instruction = &program.instructions[at];
        let bit = |variable: usize, word: usize| if variable / 64 == word { 1 << (variable % 64) } else { 0_u64 };
        let mut grown = false;
        for (word, own) in self.set(at).iter().enumerate() {
            // Relaxed: what a predecessor must see was there before it was pushed, and the queue
            // passes that on.
            let after = |next: &usize| self.set(*next)[word].load(Ordering::Relaxed);
            let after = instruction.next.iter().map(after).fold(0, |all, set| all | set);
            let written = instruction.writes.map_or(0, |variable| bit(variable, word));
            let read = instruction.reads.iter().fold(0, |all, variable| all | bit(*variable, word));
            let live = read | after & !written;
            // At most one worker sees a bit appear, and that worker pushes the predecessors.
            grown |= live & !own.load(Ordering::Relaxed) != 0 && live & !own.fetch_or(live, Ordering::Relaxed) != 0;
        }
        grown
    }
}

/// Returns the predecessors of each instruction.
fn predecessors(program: &Program) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); program.instructions.len()];
    for (from, instruction) in program.instructions.iter().enumerate() {
        instruction.next.iter().for_each(|next| all[*next].push(from as u32));
    }
    all
}

/// Computes the least solution, by all workers. Also returns the number of updates.
fn solve(program: &Program) -> (Live, u64) {
    let (live, before) = (Live::empty(program), predecessors(program));
    let explored = Explore::at_least_once().run(0..program.instructions.len() as u32, |at, worker| {
        if live.update(program, at as usize) {
            worker.push_all(before[at as usize].iter().copied());
        } else {
            worker.count_redundant();
        }
    });
    (live, explored.total().tasks)
}

/// Computes the same by sweeps over the whole program until nothing changes.
fn solve_by_sweeps(program: &Program) -> Live {
    let live = Live::empty(program);
    while (0..program.instructions.len()).rev().fold(false, |grown, at| live.update(program, at) | grown) {}
    live
}

fn are_equal(one: &Live, other: &Live) -> bool {
    let same = |(a, b): (&AtomicU64, &AtomicU64)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed);
    one.words.iter().zip(&other.words).all(same)
}

/// Returns the instructions that write a variable which is not read afterwards.
fn dead_writes(program: &Program, live: &Live) -> Vec<usize> {
    let is_dead = |instruction: &Instruction| {
        let read_later = |variable| instruction.next.iter().any(|next| live.contains(*next, variable));
        instruction.writes.is_some_and(|variable| !read_later(variable))
    };
    (0..program.instructions.len()).filter(|at| is_dead(&program.instructions[*at])).collect()
}

fn run() -> Result<(), String> {
    let word = env::args().nth(1);
    let size = word.as_ref().and_then(|word| word.parse::<usize>().ok());
    let text = match (&word, size) {
        (_, Some(size)) => generate(size),
        (Some(file), None) => fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?,
        (None, None) => SMALL.to_owned(),
    };
    let program = parse(&text)?;
    let start = Instant::now();
    let (live, updates) = solve(&program);
    let took = start.elapsed();
    let dead = dead_writes(&program, &live);
    if size.is_some() {
        let start = Instant::now();
        assert!(are_equal(&live, &solve_by_sweeps(&program)), "the worklist and the sweeps have different results");
        println!("sweeps on one thread: {:.1?}", start.elapsed());
    } else {
        for at in 0..program.instructions.len() {
            let Instruction { line, writes, .. } = program.instructions[at];
            let names = program.variables.iter().enumerate().filter(|(variable, _)| live.contains(at, *variable));
            let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
            let code = text.lines().nth(line - 1).unwrap_or_default();
            let name = writes.filter(|_| dead.contains(&at)).map(|variable| &program.variables[variable]);
            let note = name.map(|name| format!("  <- this `{name}` is never read")).unwrap_or_default();
            println!("{line:>4}  {code:<24} live before: {}{note}", names.join(" "));
        }
    }
    println!(
        "{} instructions, {} variables, {} assignments without effect; {updates} updates in {took:.1?}",
        program.instructions.len(),
        program.variables.len(),
        dead.len()
    );
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_read_after_a_loop_is_live_in_it() {
        let program = parse(SMALL).unwrap();
        let (live, _) = solve(&program);
        let at = |line: usize| program.instructions.iter().position(|i| i.line == line).unwrap();
        let names = |line| {
            let live = |variable: &usize| live.contains(at(line), *variable);
            (0..program.variables.len()).filter(live).map(|v| program.variables[v].as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(5), ["n", "sum"]);
        assert_eq!(names(12), ["last"]);
        assert_eq!(names(1), [""; 0]);
        let lines: Vec<usize> = dead_writes(&program, &live).iter().map(|at| program.instructions[*at].line).collect();
        assert_eq!(lines, [3, 6, 7]);
    }

    #[test]
    fn the_worklist_and_the_sweeps_have_the_same_result() {
        for size in [1, 2, 10, 300, 3000] {
            let program = parse(&generate(size)).unwrap();
            let swept = solve_by_sweeps(&program);
            for _ in 0..5 {
                assert!(are_equal(&solve(&program).0, &swept), "with {size} instructions");
            }
        }
    }

    #[test]
    fn an_invalid_instruction_is_reported_with_its_line() {
        assert_eq!(parse("x = 1\nx + 1\n").unwrap_err(), "line 2: unknown instruction `x + 1`");
        assert_eq!(parse("\ngoto nowhere").unwrap_err(), "line 2: unknown label `nowhere`");
        assert!(parse("").unwrap().instructions.is_empty());
    }
}
