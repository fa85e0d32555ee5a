//! Tests of `filch solve --checkpoint` and `--resume`: nothing is lost, even if the process is
//! killed.
#![cfg(unix)]

mod program;

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use program::{poll, signal, wait_for_bound, wait_for_line, Folder, LONG, RING, SACK};
use serde_json::Value;

/// Returns standard output and standard error of a search that ends with this code.
fn shown(folder: &Folder, words: &str, code: i32) -> (String, String) {
    folder.shown(&format!("solve {words}"), code)
}

/// Returns the summary of a search that ends with this code.
fn summary(folder: &Folder, words: &str, code: i32) -> Value {
    serde_json::from_str(&shown(folder, &format!("{words} --quiet --json"), code).0).unwrap()
}

/// Checks that the search fails with one sentence and changes no file.
fn refused(folder: &Folder, words: &str, reasons: &[&str]) {
    folder.refused(&format!("solve {words}"), 1, reasons);
}

/// Kills the program at random moments, and resumes with another number of threads each time.
fn killed_and_resumed(folder: &Folder, problem: &str, kills: u32, seed: u64) {
    let begun = Instant::now();
    let undisturbed = summary(folder, &format!("{problem} --threads 2"), 0);
    let longest = begun.elapsed().as_millis() as u64 / 3;
    let (mut state, mut killed, mut run) = (seed, 0, 0);
    while killed < kills {
        for file in ["kept", "kept.previous"] {
            let _ = fs::remove_file(folder.path(file));
        }
        loop {
            run += 1;
            let resume = if folder.has("kept") { "--resume kept " } else { "" };
            let threads = 1 + run % 3;
            let words = format!(
                "solve {problem} {resume}--checkpoint kept --every 0.003 --threads {threads} --quiet --json out"
            );
            let before = fs::read(folder.path("kept")).ok();
            let mut child = folder.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            if killed < kills {
                // Waits for a new checkpoint. The one that was resumed from exists all the time.
                poll(&mut child, || fs::read(folder.path("kept")).ok().is_some_and(|now| Some(now) != before));
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                thread::sleep(Duration::from_millis((state >> 33) % longest.max(1)));
                // The program may have ended.
                let _ = child.kill();
            }
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            match output.status.code() {
                None => killed += 1,
                Some(code) => {
                    assert_eq!(code, 0, "{words}: {stderr}");
                    break;
                }
            }
            assert!(stderr.is_empty(), "{words}: {stderr}");
        }
        let found = folder.json("out");
        for key in ["ending", "cost", "bound"] {
            assert_eq!(found[key], undisturbed[key], "{problem}, {key}, after {killed} kills");
        }
        let resumed = &found["checkpoints"]["resumed"];
        if !resumed.is_null() {
            assert!(found["statistics"]["explored"].as_u64() >= resumed["explored"].as_u64());
            assert!(found["seconds"].as_f64() >= resumed["seconds"].as_f64());
        }
    }
    // Partly written files of killed programs are gone.
    assert!(folder.listing().iter().all(|(name, _)| !name.starts_with(".kept")));
}

#[test]
fn a_graph_search_that_is_killed_repeatedly_has_the_same_optimum() {
    let folder = Folder::new(&[]);
    folder.shown("generate graph --vertices 75 --per-thousand 300 --heaviest 9 --seed 5 --out graph", 0);
    killed_and_resumed(&folder, "misp graph", 10, 1);
}

#[test]
fn a_ruler_search_that_is_killed_repeatedly_has_the_same_optimum() {
    killed_and_resumed(&Folder::new(&[]), "golomb 8", 8, 2);
}

#[test]
fn a_knapsack_search_that_is_killed_repeatedly_has_the_same_optimum() {
    let folder = Folder::new(&[]);
    folder.shown("generate knapsack --items 60 --kind strongly --seed 1 --out sack", 0);
    killed_and_resumed(&folder, "knapsack sack", 8, 3);
}

#[test]
fn a_signal_leaves_a_checkpoint_and_the_command_to_resume_is_printed() {
    for name in ["-TERM", "-INT"] {
        let folder = Folder::new(&[]);
        let (mut child, mut stderr) = folder.spawn(&format!("solve {LONG} --checkpoint kept --every 3600 --json out"));
        wait_for_bound(&mut stderr);
        assert!(poll(&mut child, || folder.has("kept")));
        // A batch system may signal twice.
        for _ in 0..2 {
            assert!(signal(name, child.id()));
        }
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{rest}");
        assert!(rest.contains("The rest of the search is in kept. To resume it:\n  "), "{rest}");
        assert!(
            rest.contains(&format!("solve {LONG} --checkpoint kept --every 3600 --json out --resume kept\n")),
            "{rest}"
        );
        let first = folder.json("out");
        assert_eq!(first["ending"], "cancelled");
        assert_eq!(first["checkpoints"]["written"], 2, "one at once, one at the end");

        let next = summary(&folder, &format!("{LONG} --resume kept --nodes 1"), 3);
        let resumed = &next["checkpoints"]["resumed"];
        assert_eq!(resumed["seconds"], first["seconds"]);
        assert_eq!(resumed["explored"], first["statistics"]["explored"]);
        assert_eq!(
            next["statistics"]["explored"].as_u64(),
            first["statistics"]["explored"].as_u64().map(|nodes| nodes + 1)
        );
        assert!(resumed["open"].as_u64().unwrap() > 0);
        assert!(next["seconds"].as_f64() > resumed["seconds"].as_f64());
        // The search minimises the length of the ruler.
        assert!(next["cost"].as_i64() <= first["cost"].as_i64());
    }
}

#[test]
fn a_limit_leaves_a_checkpoint_and_the_printed_command_resumes_it() {
    let folder = Folder::new(&[]);
    let (text, stderr) = shown(&folder, &format!("{LONG} --nodes 20 --checkpoint kept --threads 1"), 3);
    assert!(text.contains("  saved     to kept, 2 times\n"), "{text}");
    let command = stderr.lines().last().unwrap().trim();
    let again = Command::new("sh").args(["-c", command]).current_dir(folder.path(".")).output().unwrap();
    let text = String::from_utf8(again.stdout).unwrap();
    assert_eq!(again.status.code(), Some(3), "{text}");
    assert!(text.contains("  resumed   after ") && text.contains(" and 20 nodes, from kept\n"), "{text}");
    assert!(text.contains("  nodes     40 explored"), "{text}");
    let timed = summary(&folder, &format!("{LONG} --time 0.05 --resume kept --checkpoint kept"), 3);
    assert_eq!(timed["ending"], "timed-out");
    // Too little time for any progress: nothing is lost, and nothing is proven.
    let timed = summary(&folder, &format!("{LONG} --time 0.000000001 --resume kept --checkpoint kept"), 3);
    assert_eq!((&timed["ending"], &timed["cost"]), (&"timed-out".into(), &timed["cost"]));
    let next = summary(&folder, &format!("{LONG} --nodes 1 --resume kept"), 3);
    assert_eq!(next["ending"], "node-limit");
    assert_eq!(next["checkpoints"]["resumed"]["explored"], timed["statistics"]["explored"]);
}

#[test]
fn a_finished_search_that_is_resumed_has_its_result_at_once() {
    let folder = Folder::new(&[("sack", SACK)]);
    let first = summary(&folder, "knapsack sack --checkpoint kept", 0);
    assert_eq!((&first["cost"], &first["checkpoints"]["resumed"]), (&15.into(), &Value::Null));
    let again = summary(&folder, "knapsack sack --resume kept", 0);
    for key in ["ending", "cost", "bound", "solution"] {
        assert_eq!(again[key], first[key], "{key}");
    }
    assert_eq!(again["statistics"]["explored"], first["statistics"]["explored"]);
    assert_eq!((&again["checkpoints"]["file"], &again["checkpoints"]["written"]), (&Value::Null, &0.into()));
    // The instance counts, not its formatting.
    folder.write("sack", SACK.replace(' ', "   "));
    assert_eq!(summary(&folder, "knapsack sack --resume kept --checkpoint kept", 0)["cost"], 15);
}

#[test]
fn an_unusable_checkpoint_is_refused_and_the_previous_one_can_be_resumed() {
    let folder = Folder::new(&[]);
    let kept = folder.path("kept");
    shown(&folder, &format!("{LONG} --nodes 40 --checkpoint kept"), 3);
    let whole = fs::read(&kept).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    let (middle, truncated) =
        (whole.len() - 9, format!("expected {} bytes, found {}: the file is truncated", whole.len(), whole.len() - 9));
    for (bytes, reason) in [
        (&whole[..middle], &truncated[..]),
        (&whole[..11], "expected at least 28 bytes, found 11"),
        (b"", "expected a checkpoint of filch, found an empty file"),
        (&flipped, "the file is corrupted: the checksum of its contents"),
        (RING.as_bytes(), "expected a checkpoint of filch, found another kind of file"),
        (&of_version(0), "expected version 1 of the format, found version 0: resume with the older program"),
        (&of_version(7), "expected version 1 of the format, found version 7: resume with the newer program"),
    ] {
        fs::remove_file(&kept).unwrap();
        folder.write("kept", bytes);
        let before = ["error: kept: ", reason, "The checkpoint before it is in kept.previous"];
        refused(&folder, &format!("{LONG} --resume kept"), &before);
        refused(&folder, &format!("{LONG} --resume kept --checkpoint kept"), &before);
    }
    let resumed = summary(&folder, &format!("{LONG} --resume kept.previous --checkpoint kept --nodes 10"), 3);
    assert_eq!(resumed["checkpoints"]["written"], 2);
    shown(&folder, &format!("{LONG} --resume kept --nodes 1"), 3);
    fs::remove_file(&kept).unwrap();
    refused(&folder, &format!("{LONG} --resume kept"), &["kept: there is no such file", "is in kept.previous"]);
    refused(&folder, &format!("{LONG} --resume ."), &["expected a regular file"]);
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let folder = Folder::new(&[("ring", RING)]);
    shown(&folder, "misp ring --checkpoint kept", 0);
    refused(&folder, "clique ring --resume kept", &["expected a checkpoint of clique, found one of misp"]);
    refused(&folder, &format!("{LONG} --resume kept"), &["expected a checkpoint of golomb, found one of misp"]);
    folder.write("ring", RING.replace("e 5 1", "e 5 2"));
    refused(
        &folder,
        "misp ring --resume kept",
        &["kept: expected a checkpoint of this instance of misp, found one of another instance"],
    );
}

#[test]
fn an_existing_checkpoint_is_not_replaced() {
    let folder = Folder::new(&[("ring", RING)]);
    shown(&folder, "misp ring --checkpoint kept", 0);
    let reasons = ["kept already exists", "--resume kept --checkpoint kept", "remove it or give another file"];
    refused(&folder, "misp ring --checkpoint kept", &reasons);
    refused(&folder, "misp ring --checkpoint kept --resume ring", &reasons);
    refused(&folder, "misp ring --checkpoint nowhere/kept", &["there is no folder"]);
    refused(&folder, "misp ring --checkpoint kept --json kept", &["the same file"]);
    refused(&folder, "misp ring --resume kept --json kept", &["the checkpoint to resume from"]);
}

#[test]
fn a_write_failure_is_reported_once_and_the_last_one_is_an_error() {
    let folder = Folder::new(&[]);
    let inner = folder.path("inner");
    fs::create_dir(&inner).unwrap();
    let words = format!("solve {LONG} --checkpoint inner/kept --every 0.005 --json out");
    let (mut child, mut stderr) = folder.spawn(&words);
    assert!(poll(&mut child, || inner.join("kept").exists()));
    // The program may be writing there at this moment.
    assert!(poll(&mut child, || fs::remove_dir_all(&inner).is_ok()));
    let line = wait_for_line(&mut stderr, |line| line.contains("warning"));
    assert!(
        line.contains("inner/kept: cannot write the file: there is no such folder. The search continues"),
        "{line}"
    );
    assert!(signal("-TERM", child.id()));
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("error: the last checkpoint was not written: inner/kept: cannot write the file"), "{rest}");
    assert!(!rest.contains("warning") && !rest.contains("To resume it"), "{rest}");
    let summary = folder.json("out");
    assert_eq!(summary["ending"], "cancelled", "the summary is written nevertheless");
}

/// Returns a file of another version: a valid header, and some content after it.
fn of_version(version: u32) -> Vec<u8> {
    let contents = b"contents of another version";
    let mut file = b"filch\xff\r\n".to_vec();
    file.extend(version.to_le_bytes());
    file.extend((contents.len() as u64).to_le_bytes());
    file.extend(checksum(contents).to_le_bytes());
    file.extend(checksum(&file).to_le_bytes());
    file.extend(contents);
    file
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), step))
}
