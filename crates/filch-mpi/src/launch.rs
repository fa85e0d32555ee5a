//! Starting ranks on this machine, for tests and benchmarks.

use std::io;
use std::process::{Command, Stdio};

/// `mpirun` for so many ranks, however few cores there are, and whoever we are; the program and its arguments are to be added. Ranks are not tied to cores.
///
/// Knows Open MPI, which wants to be told, and takes any other for one that does not, as MPICH's.
///
/// # Errors
///
/// If `mpirun` cannot be started.
pub fn mpirun(ranks: usize) -> io::Result<Command> {
    let version = output("mpirun", "--version")?;
    let mut command = Command::new("mpirun");
    if version.contains("Open MPI") || version.contains("OpenRTE") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        // It refuses to run as root, as one is in a container, unless told twice.
        if output("id", "-u").is_ok_and(|id| id.trim() == "0") {
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        }
    }
    command.args(["-n", &ranks.to_string()]);
    Ok(command)
}

fn output(program: &str, argument: &str) -> io::Result<String> {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
