//! Everything that needs ranks that are processes: started by cargo, this program runs itself under `mpirun` with 1 to 4
//! ranks; there, it runs its cases.

#[path = "../mpirun/mod.rs"]
mod mpirun;

mod explore;
mod late;
mod launch;
mod network;
mod problems;

use std::process::ExitCode;

use filch_mpi::network::{Mpi, Network};

#[global_allocator]
static ALLOCATOR: network::Counting = network::Counting;

/// A claim, and how it is checked, by all ranks at the same time. Whoever panics ends the run.
type Case = (&'static str, fn(&mut Mpi));

/// Cases that run one after the other in one start of `mpirun`, which takes longer than most of them.
const GROUPS: [(&str, &[Case]); 3] =
    [("network", network::CASES), ("problems", problems::CASES), ("explore", explore::CASES)];

/// Says to this program that it is a rank, and of which group.
const INSIDE: &str = "--as-rank-of";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [inside, group] if inside == INSIDE => {
            run(group);
            ExitCode::SUCCESS
        }
        // What cargo passes on for other tests, and perhaps a part of a name.
        _ => launch::all(arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str)),
    }
}

/// All cases of a group. Rank 0 tells how far it is, for whoever started it.
fn run(group: &str) {
    let (_, cases) = GROUPS.iter().find(|(name, _)| *name == group).expect("a group that there is");
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
