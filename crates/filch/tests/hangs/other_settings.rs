//! A list of the programs that hang with other settings.

use std::env;
use std::process::{self, Command};
use std::time::Duration;

use crate::common::{build, watchdog_named, SpinBarrier};
use crate::locks::DEADLOCK_PRONE;
use crate::random_programs::{random_numbers, Program};
use crate::rounds;
use filch::{Pool, Waiting};

/// Returns whether a program ends in a process of its own. In that process, runs it and does not
/// return. In the processes of other programs, returns `None`.
fn ends_in_own_process(test: &str, name: &str, program: impl FnOnce()) -> Option<bool> {
    const PROGRAM: &str = "FILCH_TEST_PROGRAM";
    if let Ok(chosen) = env::var(PROGRAM) {
        if chosen == name {
            let _watchdog = watchdog_named(name, Duration::from_secs(5));
            program();
            process::exit(0);
        }
        return None;
    }
    let mut command = Command::new(env::current_exe().expect("path of this program"));
    command.args([test, "--exact", "--ignored", "--nocapture"]).env(PROGRAM, name);
    Some(command.output().expect("cannot start this program again").status.success())
}

#[test]
#[ignore = "prints a list and checks nothing: run it with `-- --ignored --nocapture`"]
fn list_programs_that_hang_with_other_settings() {
    let report = |name: &str, ends: Option<bool>| {
        if let Some(ends) = ends {
            println!("{}: {name}", if ends { "ends" } else { "HANGS" });
        }
    };
    let test = "other_settings::list_programs_that_hang_with_other_settings";
    for (name, threads, program) in DEADLOCK_PRONE {
        let name = format!("{name}, on {threads} workers with Waiting::Any");
        let ends = ends_in_own_process(test, &name, || {
            let pool = build(Pool::builder().threads(threads).waiting(Waiting::Any));
            (0..10 * rounds()).for_each(|_| program(&pool));
        });
        report(&name, ends);
    }
    let random_programs =
        (0..).map(|seed| Program::random(&mut random_numbers(seed), 4)).filter(|program| program.total() >= 2);
    for program in random_programs.filter(|program| (3..=8).contains(&program.workers())).take(20) {
        let threads = program.workers() - 1;
        let name = format!("{program:?}, on {threads} workers, one less than sufficient");
        let ends = ends_in_own_process(test, &name, || {
            let pool = build(Pool::builder().threads(threads));
            for _ in 0..rounds() {
                let barrier = SpinBarrier::new(program.total());
                pool.install(|| program.run(&pool, &barrier));
            }
        });
        report(&name, ends);
    }
}
