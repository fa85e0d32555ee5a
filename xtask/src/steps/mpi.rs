//! Tests the solver and the explorations across processes, under the `mpirun` of this machine.
//!
//! Builds with MPI use few profiles, because its bindings alone take half a minute in each.
//! `models`, `bench-smoke` and `browser` run the same build of both programs with MPI; `clippy` and
//! `doc` use MPI in the debug build. `clippy`, `doc` and `unit` also show that the whole workspace
//! builds without MPI.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use serde_json::Value;

use super::{smoke, Context, Effort, Outcome};
use crate::command_line::CommandLine;
use crate::install;

/// The MPI library, and the tools to make its bindings.
const PACKAGES: &str = "libopenmpi-dev openmpi-bin libclang-dev";

/// Folders with system libraries. libclang is there, or up to two folders below.
const LIBRARIES: [&str; 6] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/opt/llvm",
    "/opt/homebrew/opt/llvm",
    "/Library/Developer/CommandLineTools/usr/lib",
];

/// The number of ranks.
const RANKS: usize = 2;

/// Installs missing packages if that needs no interaction. Returns whether everything is installed
/// then.
pub(super) fn install(context: &Context) -> bool {
    install::packages(context, PACKAGES, &missing(context).join(" and ")) && is_installed(context)
}

/// Returns whether everything that MPI needs is installed.
pub(super) fn is_installed(context: &Context) -> bool {
    missing(context).is_empty()
}

fn missing(context: &Context) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for program in ["mpicc", "mpirun"] {
        if !context.command(program).arg("--version").succeeds() {
            missing.push(program);
        }
    }
    let libclang_path = env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if libclang_path.is_none() && !LIBRARIES.iter().any(|folder| has_libclang(Path::new(folder), 2)) {
        missing.push("libclang");
    }
    missing
}

/// Returns whether libclang is in `folder`, or up to `depth` folders below.
fn has_libclang(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut subfolders = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_libclang) {
            return true;
        }
        subfolders.push(path);
    }
    depth > 0 && subfolders.iter().any(|path| has_libclang(path, depth - 1))
}

/// Returns whether a file is `libclang.so`, or has a version in that name. `libclang-cpp.so` is
/// another library, and a static library does not count.
fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let rest = rest.trim_start_matches(|c: char| c == '-' || c == '.' || c.is_ascii_digit());
    ["so", "dylib"]
        .iter()
        .any(|extension| rest.strip_prefix(extension).is_some_and(|end| end.is_empty() || end.starts_with('.')))
}

/// Runs the tests with ranks as processes, and the program itself.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    if !context.has_mpi() {
        return context.skip(&format!(
            "MPI is not installed (missing: {}): run `apt-get install {PACKAGES}`, or put the mpicc and mpirun of another \
             MPI on the PATH",
            missing(context).join(" and ")
        ));
    }
    // Both commands include the lab's package, which has no such test. So most dependencies are
    // built already.
    let tests = context.cargo("test -p filch-mpi -p filch-lab --features filch-mpi/mpi,filch-lab/mpi --test ranks");
    match context.effort {
        Effort::Quick | Effort::Usual => tests,
        Effort::Deep { .. } => tests.env("FILCH_MPI_ROUNDS", "20"),
    }
    .run()?;
    // This is a separate command. Together with the tests above, a feature of a dependency differs,
    // and cargo would build the program again.
    context.cargo("test -p filch-cli -p filch-lab --features filch-cli/mpi,filch-lab/mpi --test mpi").run()?;

    let filch = context.filch()?.launched_by(&mpirun(context));
    let solve = filch.clone().words(smoke::SOLVE).words("--threads 1 --mpi");
    smoke::run_and_check(context, solve, "solve-mpi", |json| {
        check_ranks(json)?;
        smoke::check_solution(json)
    })?;
    let closure = filch.words("graph closure").words(smoke::TORUS).words("--threads 1 --mpi");
    smoke::run_and_check(context, closure, "graph-closure-mpi", |json| {
        check_ranks(json)?;
        smoke::check_traversal("closure", json)
    })?;
    smoke::bench(context, &smoke::MPI)?;
    Ok(Outcome::Passed)
}

/// Checks that the ranks worked together. If `mpirun` belongs to another MPI than the program, each
/// rank is alone, and each finds the whole result.
fn check_ranks(json: &str) -> Result<()> {
    let summary: Value = serde_json::from_str(json)?;
    let ranks = summary["ranks"].as_array().map_or(0, Vec::len);
    ensure!(ranks == RANKS, "`ranks` must have {RANKS} entries, but has {ranks}");
    Ok(())
}

/// Returns a command line of `mpirun` with `RANKS` ranks. The environment sets everything else,
/// because each MPI has its own options.
fn mpirun(context: &Context) -> CommandLine {
    context
        .command("mpirun")
        .words("-n")
        .arg(RANKS.to_string())
        // Open MPI needs both variables to run as root, which is common in containers.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // Allows more ranks than cores, for Open MPI 4 and 5.
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        // Does not bind each rank to a core, because other programs may run there. For Open MPI 4
        // and 5.
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .env("PRTE_MCA_hwloc_default_binding_policy", "none")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rank_that_worked_alone_is_rejected() {
        assert!(check_ranks(&json!({"ranks": [{"rank": 0}, {"rank": 1}]}).to_string()).is_ok());
        for bad in [json!({"ranks": [{"rank": 0}]}), json!({"ranks": 2}), json!({})] {
            assert!(check_ranks(&bad.to_string()).is_err(), "{bad}");
        }
        assert!(check_ranks("").is_err());
    }

    #[test]
    fn only_shared_libraries_called_libclang_are_accepted() {
        for name in [
            "libclang.so",
            "libclang.so.1",
            "libclang-14.so",
            "libclang-14.so.14.0.6",
            "libclang-14.0.6.so",
            "libclang.dylib",
        ] {
            assert!(is_libclang(name), "{name}");
        }
        for name in [
            "libclang-cpp.so.14",
            "libclangAST.a",
            "libclang.a",
            "libclang",
            "clang",
            "libclang.source",
            "libLLVM-14.so",
        ] {
            assert!(!is_libclang(name), "{name}");
        }
    }

    #[test]
    fn libclang_is_found_up_to_two_folders_below() {
        let root = env::temp_dir().join(format!("filch-xtask-libclang-{}", std::process::id()));
        let folder = root.join("llvm-14/lib");
        fs::create_dir_all(&folder).unwrap();
        assert!(!has_libclang(&root, 2));
        fs::write(folder.join("libclang.so"), "").unwrap();
        assert!(has_libclang(&root, 2));
        assert!(!has_libclang(&root, 1));
        assert!(!has_libclang(&root.join("nowhere"), 2));
        fs::remove_dir_all(&root).unwrap();
    }
}
