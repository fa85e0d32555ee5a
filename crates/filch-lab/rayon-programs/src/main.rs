//! Programs that use rayon in the usual way.
//!
//! filch's lab builds them twice, on rayon's own core and on filch's, and runs both in turns.
//!
//! `rayon-programs NAME full|quick` makes its input, prints `ready THREADS`, and then answers every
//! line `run` with `done NANOS CPU_NANOS OPERATIONS CHECKSUM`. A program that times its calls one
//! by one adds ` MEDIAN_NANOS P99_NANOS` of the calls, and one that counts allocations adds
//! ` allocations COUNT`. It ends with its input. Every other command is an error.
//!
//! The lab compares the checksums of all cores. A lost task changes the checksum, and so does a task
//! of a scope or a spawned job that runs twice. A second run of a closure of a join does not: it has
//! the same result.

mod allocator;
mod busy;
mod clock;
mod programs;
mod random;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use programs::{Amount, Program};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let _ = writeln!(io::stderr(), "error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut program = chosen(&words)?;
    answer(&format!("ready {}", rayon::current_num_threads()))?;
    for line in io::stdin().lock().lines() {
        match line.map_err(|error| format!("cannot read the commands: {error}"))?.as_str() {
            "run" => answer(&program().to_string())?,
            other => return Err(format!("`{other}` is not a command; the only one is `run`")),
        }
    }
    Ok(())
}

fn chosen(words: &[String]) -> Result<Program, String> {
    let [name, amount] = words else {
        return Err("give the name of a program, and `full` or `quick`".to_owned());
    };
    let amount = match amount.as_str() {
        "full" => Amount::Full,
        "quick" => Amount::Quick,
        other => return Err(format!("`{other}` is not an amount of work; give `full` or `quick`")),
    };
    programs::named(name, amount)?.ok_or_else(|| format!("there is no program `{name}`"))
}

fn answer(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("cannot write the answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        chosen(&words).err().expect("the arguments should be refused")
    }

    #[test]
    fn bad_arguments_are_refused_with_a_reason() {
        assert!(refusal(&[]).contains("give the name"));
        assert!(refusal(&["idle", "half"]).contains("`half` is not an amount"));
        for name in ["nothing", "outside/small-51", "outside/outside/small-50", "scope-allocations/scope-101k"] {
            assert!(refusal(&[name, "quick"]).contains(&format!("no program `{name}`")));
        }
    }
}
