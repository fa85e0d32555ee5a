//! Starting ranks on this machine, for tests and benchmarks.

use std::io;
use std::process::{Command, Stdio};

/// Returns an `mpirun` command for `ranks` ranks. The caller adds the program and its arguments.
///
/// It works on any number of cores and for any user, root included. Ranks are not bound to cores.
/// Open MPI needs options for that. Every other MPI, such as MPICH, is assumed to need none.
///
/// # Errors
///
/// If `mpirun` cannot be started.
pub fn mpirun(ranks: usize) -> io::Result<Command> {
    let version = output("mpirun", "--version")?;
    let mut command = Command::new("mpirun");
    if version.contains("Open MPI") || version.contains("OpenRTE") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        // Open MPI refuses to run as root, the usual user of a container, unless both variables
        // allow it.
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
