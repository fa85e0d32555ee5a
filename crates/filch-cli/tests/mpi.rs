//! Tests of `filch solve --mpi` under `mpirun`.
//!
//! The answers are the same, errors are one sentence, and nothing is lost if a rank is lost.

#[path = "../../filch-mpi/tests/mpirun/mod.rs"]
mod mpirun;

mod program;

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use mpirun::{end_of, watched, Ended};
use program::{poll, signal, Folder, LONG, PROGRAM, RING, SACK};
use serde_json::Value;

/// A search that is long enough to be interrupted, and short enough for a test.
const MEDIUM: &str = "misp graph --width 10";
const BEST: &str = "optimum   19, proven";
/// The time after which a run counts as hung.
const DEADLINE: Duration = Duration::from_secs(300);

/// Writes the instance of `MEDIUM` into a new folder.
fn medium_instance() -> Folder {
    let folder = Folder::new(&[]);
    folder.shown("generate --seed 3 --out graph graph --vertices 90 --per-thousand 200", 0);
    folder
}

fn command(folder: &Folder, ranks: usize, words: &str) -> Command {
    let mut command = mpirun::mpirun(ranks).unwrap();
    command.arg(PROGRAM).args(["solve", "--mpi", "--threads", "1"]).args(words.split(' '));
    command.current_dir(folder.path("."));
    command
}

fn solve(folder: &Folder, ranks: usize, words: &str) -> Ended {
    watched(&mut command(folder, ranks, words), DEADLINE).unwrap()
}

/// Returns standard output and standard error of a run that ends with this code.
fn shown(folder: &Folder, ranks: usize, words: &str, code: i32) -> (String, String) {
    let Ended { printed, said, status } = solve(folder, ranks, words);
    assert_eq!(exit(status), Some(code), "{words}: {said}");
    assert!(!said.contains("panicked"), "{words}: {said}");
    (printed, said)
}

/// Returns the exit code of a run that ended in time.
fn exit(status: Option<ExitStatus>) -> Option<i32> {
    status.expect("it did not end in time").code()
}

#[test]
fn ranks_find_the_same_as_one_process_and_only_rank_0_prints_it() {
    let folder = Folder::new(&[("sack", SACK), ("ring", RING)]);
    let files = "--json a.json --solution a.txt --trace a.jsonl --plot a.svg --plot-ranks b.svg --quiet";
    let (text, said) = shown(&folder, 3, &format!("knapsack sack {files}"), 0);
    assert_eq!(text.matches("optimum   15, proven").count(), 1, "{text}");
    assert!(text.contains("3 ranks of 1 thread") && said.is_empty(), "{text}{said}");
    let summary = folder.json("a.json");
    assert_eq!((&summary["cost"], &summary["ending"]), (&Value::from(15), &Value::from("optimal")));
    let ranks = summary["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 3);
    let explored: u64 = ranks.iter().map(|rank| rank["explored"].as_u64().unwrap()).sum();
    assert_eq!(summary["statistics"]["explored"], explored);
    assert_eq!(folder.text("a.txt"), "1 3\n");
    assert!(folder.text("b.svg").contains("rank 2"));
    assert!(folder.text("a.jsonl").contains("incumbent"));

    let (text, _) = shown(&folder, 2, "misp ring", 0);
    assert!(text.contains("optimum   2, proven"), "{text}");
    // Minimised, and not by rank 0 alone.
    let (text, _) = shown(&folder, 2, "golomb 6 --width 3", 0);
    assert!(text.contains("optimum   17, proven"), "{text}");
}

#[test]
fn without_mpirun_there_is_one_rank() {
    let (text, _) = Folder::new(&[]).shown("solve golomb 5 --mpi --threads 2", 0);
    assert!(text.contains("1 rank of 2 threads") && text.contains("optimum   11, proven"), "{text}");
}

#[test]
fn limits_apply_to_all_ranks_together() {
    let folder = Folder::new(&[]);
    let (text, _) = shown(&folder, 2, &format!("{LONG} --time 0.5 --quiet"), 3);
    assert!(text.contains("timed-out") && text.contains("not proven"), "{text}");
    let (text, _) = shown(&folder, 2, &format!("{LONG} --nodes 50 --quiet --checkpoint kept"), 3);
    assert!(text.contains("node-limit") && text.contains("saved     to kept"), "{text}");
}

#[test]
fn an_error_at_the_start_of_a_rank_is_printed_once() {
    let folder = Folder::new(&[]);
    let said_once = |ended: Ended, reason: &str| {
        let Ended { printed, said, status } = ended;
        assert_eq!(exit(status), Some(1), "{said}");
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
        assert!(said.contains(reason) && !said.contains("panicked"), "{said}");
        assert!(!printed.contains("optimum"), "{printed}");
    };
    said_once(solve(&folder, 3, "misp nothing"), "error: nothing: cannot read the file");
    said_once(solve(&folder, 2, "golomb 5 --resume nothing"), "nothing: there is no such file");

    // The ranks have different command lines: the second has no file, then another instance.
    folder.write("sack", SACK);
    folder.write("other", SACK.replace("4 7", "4 8"));
    for (file, reason) in
        [("nothing", "rank 1: nothing: cannot read the file"), ("other", "rank 1 is to solve something else")]
    {
        let mut command = command(&folder, 1, "knapsack sack");
        command.args([":", "-n", "1", PROGRAM, "solve", "--mpi", "knapsack", file]);
        said_once(watched(&mut command, DEADLINE).unwrap(), reason);
    }
}

/// Returns the process of a rank that runs in this folder.
fn process(folder: &Folder, rank: usize) -> Option<u32> {
    let folder = fs::canonicalize(folder.path(".")).unwrap();
    let is_rank_process = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let is_rank = environment.split(|byte| *byte == 0).any(|word| {
            let word = String::from_utf8_lossy(word);
            word == format!("OMPI_COMM_WORLD_RANK={rank}") || word == format!("PMI_RANK={rank}")
        });
        (is_rank && fs::read_link(entry.path().join("cwd")).ok()? == folder).then_some(number)
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| is_rank_process(entry.ok()?)).next()
}

/// Sends a signal to a rank. Returns whether it still ran.
fn signal_rank(name: &str, folder: &Folder, rank: usize) -> bool {
    process(folder, rank).is_some_and(|process| signal(name, process))
}

/// Ends the program with `end` after its first checkpoints. Returns its output and its exit code.
///
/// If it is over by then, it starts again: this process may not have run for long.
fn stopped_by(folder: &Folder, words: &str, end: impl Fn(&Child) -> bool) -> (String, Option<i32>) {
    let words = format!("{words} --checkpoint kept --every 0.05");
    for _ in 0..5 {
        for file in ["kept", "kept.previous"] {
            let _ = fs::remove_file(folder.path(file));
        }
        let mut command = command(folder, 3, &words);
        // How long Open MPI waits between asking ranks to end and killing them. The default of one
        // second is little on a busy machine.
        command.env("OMPI_MCA_odls_base_sigkill_timeout", "10");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The first checkpoint is from the start; the next one has more.
        let was_ended = poll(&mut child, || folder.has("kept.previous")) && end(&child);
        let Ended { printed, said, status } = end_of(child, DEADLINE);
        if was_ended {
            return (said + &printed, exit(status));
        }
    }
    panic!("the program always ended before the signal")
}

/// Resumes on another number of ranks, and without MPI.
fn assert_resumes(folder: &Folder) {
    let (text, _) = shown(folder, 2, &format!("{MEDIUM} --resume kept --quiet"), 0);
    assert!(text.contains(BEST) && text.contains("resumed   after"), "{text}");
    let (text, _) = folder.shown(&format!("solve {MEDIUM} --resume kept --quiet"), 0);
    assert!(text.contains(BEST), "{text}");
}

#[test]
fn a_run_that_loses_a_rank_says_how_to_resume_and_can_be_resumed() {
    let folder = medium_instance();
    let (said, code) = stopped_by(&folder, MEDIUM, |_| signal_rank("-KILL", &folder, 1));
    assert!(code != Some(0), "{said}");
    for words in ["If a rank was lost", "kept, is complete", "--resume kept", "mpirun -n 3"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_resumes(&folder);
}

#[test]
fn a_signal_to_any_rank_leaves_a_last_checkpoint() {
    let folder = medium_instance();
    for rank in [0, 2] {
        let (said, code) = stopped_by(&folder, MEDIUM, |_| signal_rank("-TERM", &folder, rank));
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("cancelled") && said.contains("To resume it"), "{said}");
    }
    assert_resumes(&folder);
}

/// `mpirun` asks its ranks to end, and kills them soon after.
///
/// That may be too soon for a last checkpoint, but the earlier ones exist.
#[test]
fn a_run_whose_mpirun_is_terminated_can_be_resumed() {
    let folder = Folder::new(&[]);
    let (said, code) = stopped_by(&folder, LONG, |child| signal("-TERM", child.id()));
    assert!(code != Some(0), "{said}");
    let (text, _) = shown(&folder, 2, &format!("{LONG} --resume kept --nodes 1 --quiet"), 3);
    assert!(text.contains("resumed   after"), "{text}");
}
