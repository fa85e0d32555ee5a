//! The part that cargo starts: runs every group of cases with every number of ranks.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::mpirun::{mpirun, watched, Ended};
use super::{AS_RANK, GROUPS};

/// The prefix that rank 0 prints before the name of each finished case.
pub(super) const DONE: &str = "done: ";

/// A group that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Runs every group that `filter` matches and prints the failures. `FILCH_MPI_ROUNDS` is the number
/// of rounds; without it there is one.
pub(super) fn all(filter: &str) -> ExitCode {
    let rounds = std::env::var("FILCH_MPI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let (mut passed, mut failed) = (0, 0);
    for (group, cases) in (0..rounds).flat_map(|_| GROUPS) {
        if !group.contains(filter) && !cases.iter().any(|(name, _)| name.contains(filter)) {
            continue;
        }
        for ranks in 1..=4 {
            let began = Instant::now();
            let output = under_mpirun(ranks, group);
            let (text, succeeded) = match &output {
                Ok(text) => (text, true),
                Err(text) => (text, false),
            };
            let done: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(DONE)).collect();
            let missing: Vec<&str> = cases.iter().map(|(name, _)| *name).filter(|name| !done.contains(name)).collect();
            passed += done.len();
            failed += missing.len();
            println!("{group}, {ranks} ranks: {} passed in {:.1?}", done.len(), began.elapsed());
            // All cases are done, but the run did not end well.
            if !succeeded && missing.is_empty() {
                failed += 1;
            }
            if !succeeded || !missing.is_empty() {
                println!("FAILED or not run: {}; the whole output:\n{text}", missing.join(", "));
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

/// Returns the output of all ranks; an error if they fail or take too long.
fn under_mpirun(ranks: usize, group: &str) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let mut command = mpirun(ranks)?;
    command.arg(program).args([AS_RANK, group]);
    let Ended { printed, said, status } = watched(&mut command, DEADLINE)?;
    let text = printed + &said;
    match status {
        Some(status) if status.success() => Ok(text),
        Some(_) => Err(text),
        None => Err(format!("{text}\nThe run did not end within {} seconds.", DEADLINE.as_secs())),
    }
}
