//! The solver and the explorations across processes, under the `mpirun` of this machine.
//!
//! All that is built with MPI is built in few profiles: its bindings alone are half a minute in each. The lab with MPI is the
//! build that `models`, `bench-smoke` and `browser` run, too; `clippy` and `doc` see it in the debug build. That all of it builds without
//! MPI is shown by `clippy`, `doc` and `unit`, which see the whole workspace without it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use serde_json::Value;

use super::{smoke, Context, Effort, Outcome};
use crate::call::Call;
use crate::install;

/// What the bindings are made with, and what they are bindings to.
const PACKAGES: &str = "libopenmpi-dev openmpi-bin libclang-dev";

/// Where a system has its libraries; libclang is there, or up to two folders below.
const LIBRARIES: [&str; 6] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/opt/llvm",
    "/opt/homebrew/opt/llvm",
    "/Library/Developer/CommandLineTools/usr/lib",
];

/// How many ranks the program is run with.
const RANKS: usize = 2;

/// Gets what is missing, where that needs no questions. Returns whether all is here then.
pub(super) fn install(context: &Context) -> bool {
    install::packages(context, PACKAGES, &missing(context).join(" and ")) && is_here(context)
}

/// Whether all that MPI needs is here.
pub(super) fn is_here(context: &Context) -> bool {
    missing(context).is_empty()
}

fn missing(context: &Context) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for program in ["mpicc", "mpirun"] {
        if !context.call(program).arg("--version").succeeds() {
            missing.push(program);
        }
    }
    let named = env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if named.is_none() && !LIBRARIES.iter().any(|folder| has_libclang(Path::new(folder), 2)) {
        missing.push("libclang");
    }
    missing
}

/// Whether libclang is in `folder`, or so many folders below.
fn has_libclang(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut below = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_libclang) {
            return true;
        }
        below.push(path);
    }
    depth > 0 && below.iter().any(|path| has_libclang(path, depth - 1))
}

/// `libclang.so`, or with a version in it; not `libclang-cpp.so`, which is another library, and no static one.
fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let rest = rest.trim_start_matches(|c: char| c == '-' || c == '.' || c.is_ascii_digit());
    ["so", "dylib"].iter().any(|kind| rest.strip_prefix(kind).is_some_and(|end| end.is_empty() || end.starts_with('.')))
}

/// The tests of ranks that are processes, and the program itself.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    if !context.has_mpi() {
        return context.leave_out(&format!(
            "the tests across processes were left out, for want of {}: `apt-get install {PACKAGES}`, or an MPI of \
             your own with its mpicc and mpirun on the PATH",
            missing(context).join(" and ")
        ));
    }
    // With the lab's package, though only one of them has such a test: so most of what it needs is built already.
    let tests = context.cargo("test -p filch-mpi -p filch-lab --features filch-mpi/mpi,filch-lab/mpi --test ranks");
    match context.effort {
        Effort::Quick | Effort::Usual => tests,
        Effort::Deep { .. } => tests.env("FILCH_MPI_ROUNDS", "20"),
    }
    .run()?;
    // By itself: together with the tests above, a feature of a dependency differs, and the lab would be built once more.
    context.cargo("test -p filch-lab --features mpi --test mpi").run()?;

    let filch = context.lab()?.under(&under_mpirun(context));
    let solve = filch.clone().words(smoke::SOLVE).words("--threads 1 --mpi");
    smoke::checked(context, solve, "solve-mpi", |json| {
        check_ranks(json)?;
        smoke::check_solution(json)
    })?;
    let closure = filch.words("graph closure").words(smoke::TORUS).words("--threads 1 --mpi");
    smoke::checked(context, closure, "graph-closure-mpi", |json| {
        check_ranks(json)?;
        smoke::check_traversal("closure", json)
    })?;
    smoke::bench(context, &smoke::MPI)?;
    Ok(Outcome::Passed)
}

/// Whether the ranks did it together. Where `mpirun` belongs to another MPI than the program, each is alone, and all is found, too.
fn check_ranks(json: &str) -> Result<()> {
    let summary: Value = serde_json::from_str(json)?;
    let ranks = summary["ranks"].as_array().map_or(0, Vec::len);
    ensure!(ranks == RANKS, "`ranks` must have {RANKS} entries, and has {ranks}");
    Ok(())
}

/// `mpirun` with our number of ranks. All else is said by the environment, because each MPI has options of its own.
fn under_mpirun(context: &Context) -> Call {
    context
        .call("mpirun")
        .words("-n")
        .arg(RANKS.to_string())
        // Open MPI wants to be asked twice before it runs as root, as containers do.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // More ranks than cores: Open MPI 4, and 5.
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        // And not each on a core of its own, where something else may be running: the same.
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .env("PRTE_MCA_hwloc_default_binding_policy", "none")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rank_alone_does_not_pass_for_all() {
        assert!(check_ranks(&json!({"ranks": [{"rank": 0}, {"rank": 1}]}).to_string()).is_ok());
        for bad in [json!({"ranks": [{"rank": 0}]}), json!({"ranks": 2}), json!({})] {
            assert!(check_ranks(&bad.to_string()).is_err(), "{bad}");
        }
        assert!(check_ranks("").is_err());
    }

    #[test]
    fn libclang_is_told_from_its_neighbours() {
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
    fn libclang_is_found_two_folders_down_and_no_further() {
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
