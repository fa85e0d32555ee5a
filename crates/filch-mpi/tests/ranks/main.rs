//! Tests that need ranks that are processes.
//!
//! Started by cargo, this program runs itself under `mpirun` with 1 to 4 ranks. There it runs its
//! cases.

#[path = "../mpirun/mod.rs"]
mod mpirun;

mod delayed;
mod explore;
mod launch;
mod network;
mod problems;

use std::process::ExitCode;

use filch_mpi::network::{Mpi, Network};

#[global_allocator]
static ALLOCATOR: network::CountingAllocator = network::CountingAllocator;

/// A claim, and its check, which all ranks run at the same time. A panic ends the run.
type Case = (&'static str, fn(&mut Mpi));

/// Groups of cases. A group runs in one start of `mpirun`, which takes longer than most cases.
const GROUPS: [(&str, &[Case]); 3] =
    [("network", network::CASES), ("problems", problems::CASES), ("explore", explore::CASES)];

/// The argument that makes this program a rank. The group follows.
const AS_RANK: &str = "--as-rank-of";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, group] if flag == AS_RANK => {
            run(group);
            ExitCode::SUCCESS
        }
        // The arguments that cargo passes to all tests, and perhaps a part of a name.
        _ => launch::all(arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str)),
    }
}

/// Runs all cases of a group. Rank 0 prints the progress for the parent process.
fn run(group: &str) {
    let (_, cases) = GROUPS.iter().find(|(name, _)| *name == group).expect("the group exists");
    let mut network = Mpi::start().unwrap();
    for (name, case) in *cases {
        case(&mut network);
        network.meet();
        if network.rank() == 0 {
            println!("{}{name}", launch::DONE);
        }
    }
    network.finish();
}
