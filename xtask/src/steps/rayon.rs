//! Runs rayon's published tests on filch's rayon-core, and tests that the published
//! rayon-core (stock) must pass, too.
//!
//! The repository has no copy of rayon: its packages, which the benchmarks need anyway, contain
//! their tests. This step copies them to the target folder and builds them there with filch's
//! rayon-core in place of theirs. A suite that ran no tests would pass, so each suite has its
//! expected number.

mod libtest;
mod packages;
mod programs;
mod suites;
mod waits;
mod workspace;

use anyhow::Result;

use self::packages::{check_core, Published};
use self::programs::{Kind, Programs};
use self::workspace::{Workspace, CORE_TESTS, PARITY};
use super::{Context, Effort, Outcome};
use crate::output::print_line;

/// Runs all suites, also after a failure, and prints their results.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let published = Published::find(context.cargo("metadata"))?;
    let core = context.root.join("crates/rayon-core");
    let filch = Workspace::filch(context, &published, &core)?;
    let stock = Workspace::stock(context, &published)?;
    check_core(filch.cargo("metadata"), &core)?;
    check_core(stock.cargo("metadata"), &published.core)?;
    let on_stock = Programs::build(context, &stock, "stock")?;
    let on_filch = Programs::build(context, &filch, "filch")?;
    on_filch.check_names()?;

    let (examples, line) = match context.effort {
        Effort::Quick | Effort::Usual => (&suites::RAYON_COMPILE_FAIL, "test --doc -p rayon compile_fail"),
        Effort::Deep { .. } => (&suites::RAYON_EXAMPLES, "test --doc -p rayon"),
    };
    let core_tests = format!("test --doc -p {CORE_TESTS}");
    let rows = [
        suites::PARITY_ON_STOCK.run(|| on_stock.run(PARITY, Kind::Tests)),
        suites::PARITY_ON_FILCH.run(|| on_filch.run(PARITY, Kind::Tests)),
        suites::RAYON_UNIT.run(|| on_filch.run("rayon", Kind::Unit)),
        suites::RAYON_TESTS.run(|| on_filch.run("rayon", Kind::Tests)),
        examples.run(|| on_filch.run_program(filch.cargo(line), "rayon-doc")),
        suites::CORE_UNIT.run(|| on_filch.run(CORE_TESTS, Kind::Unit)),
        suites::CORE_TESTS.run(|| on_filch.run(CORE_TESTS, Kind::Tests)),
        suites::CORE_COMPILE_FAIL.run(|| on_filch.run_program(filch.cargo(&core_tests), "rayon-core-doc")),
        suites::WAITS.run(|| waits::run(context, &on_filch)),
    ];
    print_line!("\n{}", suites::table(&rows));
    rows.into_iter().try_for_each(|row| row.outcome.map(drop))?;
    Ok(Outcome::Passed)
}
