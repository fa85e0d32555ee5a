//! Runs the queues' tests under ThreadSanitizer.
//!
//! The standard library is not instrumented. The sanitizer does not see the order that the library
//! itself provides (a contended `Mutex`, a `Barrier`, a channel, the implicit joins at the end of
//! `thread::scope`). It reports a race for memory that is passed that way. The sanitizer sees
//! thread creation, explicit joins and atomics, so the tests that run here use those. It does not
//! understand fences either. `xtask/tsan.supp` suppresses reports about the library's own memory.

use std::path::Path;

use anyhow::{ensure, Context as _, Result};

use super::{nightly, Context, Effort, Outcome};
use crate::command_line::CommandLine;
use crate::output::print_line;

/// Instruments filch's code, and allows it to link to an uninstrumented standard library.
const FLAGS: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";

/// Tests that panic on purpose print no backtrace. The library guards its backtrace data by a lock
/// that the sanitizer does not see, and the sanitizer would report it.
const BACKTRACE: &str = "0";

/// Runs the queues' tests under the sanitizer. First checks that the sanitizer can see a race here.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let Some(host) = nightly::host(&context.root) else {
        return context.skip("ThreadSanitizer needs the nightly toolchain: run `rustup toolchain install nightly`");
    };
    check_controls(context, &host)?;
    let (tasks, cases) = match context.effort {
        Effort::Quick | Effort::Usual => ("100000", "32"),
        Effort::Deep { .. } => ("2000000", "1000"),
    };
    // The stress tests have the races. The property tests have one thread. The edge tests limit the
    // address space, which the sanitizer fills, and count to 2^30. The memory tests also count the
    // allocations of the sanitizer. The runtime has no tests in its library.
    context
        .cargo("+nightly test -p filch-queue -p filch --lib --test stress --test bulk_stress --target")
        .arg(&host)
        // Builds the runtime with locks that the sanitizer sees. The queues have no locks.
        .env("RUSTFLAGS", format!("{FLAGS} --cfg filch_tsan"))
        .env("CARGO_TARGET_DIR", context.target("tsan"))
        // Debug information names the inlined frames. The suppressions depend on these names.
        .env("CARGO_PROFILE_TEST_DEBUG", "line-tables-only")
        .env("TSAN_OPTIONS", options(&context.root))
        .env("RUST_BACKTRACE", BACKTRACE)
        .env("FILCH_STRESS_TASKS", tasks)
        .env("FILCH_STRESS_JOINS", tasks)
        .env("PROPTEST_CASES", cases)
        .run()?;
    Ok(Outcome::Passed)
}

/// Checks that a deliberate race is reported and that the same test without a race passes.
/// Both get the flags, options and suppressions of the queues' tests. A silent sanitizer would pass
/// anything.
fn check_controls(context: &Context, host: &str) -> Result<()> {
    let folder = context.target("tsan");
    std::fs::create_dir_all(context.root.join(&folder))
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let program = folder.join("race");
    CommandLine::new("rustc", &context.root)
        .words("+nightly --edition 2021 --test -O -g")
        .words(FLAGS)
        .arg("--target")
        .arg(host)
        .arg("xtask/controls/race.rs")
        .arg("-o")
        .arg(&program)
        .run()?;

    let control = |test: &str| {
        CommandLine::new(context.root.join(&program), &context.root)
            .arg("--exact")
            .arg(test)
            .env("TSAN_OPTIONS", options(&context.root))
            .env("RUST_BACKTRACE", BACKTRACE)
            .output()
    };
    let with_race = control("two_threads_write_one_plain_word")?;
    let errors = String::from_utf8_lossy(&with_race.stderr);
    ensure!(
        !with_race.status.success() && reports_race_in(&errors, "race.rs"),
        "ThreadSanitizer did not report the deliberate race in xtask/controls/race.rs, so it would miss races in the \
         queues, too; look for a line in xtask/tsan.supp that suppresses too much. Its output:\n\n{errors}"
    );
    let without_race = control("two_threads_write_one_atomic_word")?;
    ensure!(
        without_race.status.success() && String::from_utf8_lossy(&without_race.stdout).contains("1 passed"),
        "the test without a race in xtask/controls/race.rs failed under ThreadSanitizer; if the report is about the \
         standard library alone, add a line for it to xtask/tsan.supp. Its output:\n\n{}",
        String::from_utf8_lossy(&without_race.stderr)
    );
    print_line!("control: the deliberate race was reported, and the test without a race passed");
    Ok(())
}

/// Stops at the first report, and suppresses reports about the standard library.
fn options(root: &Path) -> String {
    format!("halt_on_error=1 suppressions=\"{}\"", root.join("xtask/tsan.supp").display())
}

fn reports_race_in(output: &str, file: &str) -> bool {
    output.lines().any(|line| line.starts_with("SUMMARY: ThreadSanitizer: data race") && line.contains(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_race_in_the_control_itself_counts() {
        let in_control = "WARNING: ThreadSanitizer: data race (pid=1)\n\
                    SUMMARY: ThreadSanitizer: data race xtask/controls/race.rs:23:5 in race::plain\n";
        let in_library = "WARNING: ThreadSanitizer: data race (pid=1)\n  #1 race::plain xtask/controls/race.rs:23:5\n\
                      SUMMARY: ThreadSanitizer: data race library/alloc/src/sync.rs:2874:18 in drop\n";
        assert!(reports_race_in(in_control, "race.rs"));
        assert!(!reports_race_in(in_library, "race.rs"));
        assert!(!reports_race_in("test result: ok. 1 passed; 0 failed", "race.rs"));
        assert!(!reports_race_in("FATAL: ThreadSanitizer: unexpected memory mapping", "race.rs"));
    }
}
