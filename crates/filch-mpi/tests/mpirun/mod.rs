//! Programs under `mpirun`.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long `mpirun` may take to end its ranks after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// Returns an `mpirun` command for `ranks` ranks.
pub(crate) fn mpirun(ranks: usize) -> Result<Command, String> {
    let mut command = filch_mpi::launch::mpirun(ranks)
        .map_err(|error| format!("cannot start mpirun (install Open MPI or MPICH): {error}"))?;
    // For Open MPI. Otherwise ranks of one machine read each other's memory, which containers may
    // forbid. Also, a large message would arrive at once, as it does not from another machine: no
    // later message could overtake it.
    command
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .env("OMPI_MCA_btl_sm_single_copy_mechanism", "none");
    let folder = session_folder().map_err(|error| format!("cannot create a session folder for mpirun: {error}"))?;
    command.env("OMPI_MCA_orte_tmpdir_base", folder);
    Ok(command)
}

/// Creates a new folder for the session files of Open MPI. Two runs that start at the same time may
/// both create the usual one, and then one of them fails.
fn session_folder() -> io::Result<PathBuf> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpi-{}-{run}", process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The output and the exit status of a program.
pub(crate) struct Ended {
    pub(crate) printed: String,
    pub(crate) said: String,
    /// `None` if the program was killed at the deadline.
    pub(crate) status: Option<ExitStatus>,
}

/// Runs a program, for at most this time.
pub(crate) fn watched(command: &mut Command, deadline: Duration) -> Result<Ended, String> {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = spawned.map_err(|error| format!("cannot start mpirun: {error}"))?;
    Ok(end_of(child, deadline))
}

/// Waits for a program whose output is piped, for at most this time.
pub(crate) fn end_of(mut child: Child, deadline: Duration) -> Ended {
    let printed = reader(child.stdout.take());
    let said = reader(child.stderr.take());
    let status = wait(&mut child, deadline).or_else(|| {
        // After SIGTERM it ends its ranks as well. If killed, it might leave them behind.
        let _ = Command::new("kill").arg(child.id().to_string()).status();
        if wait(&mut child, GRACE).is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
        None
    });
    Ended { printed: printed.join().unwrap_or_default(), said: said.join().unwrap_or_default(), status }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Returns the exit status; `None` if the program still runs after this time.
fn wait(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(10)),
            _ => return None,
        }
    }
}
