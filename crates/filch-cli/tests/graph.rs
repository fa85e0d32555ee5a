//! Tests of `filch graph`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const QUEUES: [&str; 9] = [
    "chase_lev",
    "the",
    "asymmetric",
    "ff_the",
    "ff_cl",
    "thep",
    "idempotent::lifo",
    "idempotent::fifo",
    "idempotent::double_ended",
];

/// Two triangles that no edge joins.
const TRIANGLES: &str = "# two triangles\n0 1\n1 2\n2 0\n3 4\n4 5\n5 3\n";

fn graph(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch"));
    command.arg("graph").args(arguments).current_dir(folder).output().expect("the program starts")
}

/// Returns the output of a run that succeeds.
fn shown(folder: &Path, arguments: &[&str]) -> String {
    let output = graph(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert!(stderr.is_empty(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that the run fails with one sentence, no panic and no new file.
fn refused(folder: &Path, arguments: &[&str], reason: &str) {
    let before = listing(folder);
    let output = graph(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{arguments:?} was accepted");
    assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(listing(folder), before, "{arguments:?}");
}

fn listing(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut entries: Vec<_> = entries
        .map(|entry| {
            let contents = fs::read_to_string(entry.path()).unwrap_or_default();
            (entry.file_name().into_string().unwrap(), contents)
        })
        .collect();
    entries.sort();
    entries
}

fn lines(path: &Path) -> Vec<Vec<usize>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect()).collect()
}

#[test]
fn every_queue_finds_the_same_on_one_thread_and_on_several() {
    let folder = tempfile::tempdir().unwrap();
    for queue in QUEUES {
        for threads in ["1", "3"] {
            let found = |task: &str| {
                shown(folder.path(), &[task, "--generate", "torus:30x20", "--queue", queue, "--threads", threads])
            };
            let closure = found("closure");
            assert!(closure.contains("reached   600 of 600 (100.00 %) vertices"), "{closure}");
            assert!(closure.contains(queue), "{closure}");
            assert!(found("spanning-tree").contains("600 of 600 (100.00 %) vertices, 1 tree\n"));
            assert!(found("components").contains("1 component, the largest with 600 of 600"));
            assert!(found("bfs").contains("600 of 600 (100.00 %) vertices, the farthest at distance 25"));
        }
    }
}

#[test]
fn the_summary_is_the_same_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("summary.json");
    let arguments = ["bfs", "--generate", "grid:50x40", "--root", "0", "--root", "1999", "--json", "summary.json"];
    let text = shown(folder.path(), &arguments);
    for part in ["grid:50x40: 2,000 vertices", "generated in", "from 2 vertices", "worker", "idle"] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    let json: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(json["task"], "bfs");
    assert_eq!(json["queue"], "idempotent::lifo");
    assert_eq!(json["ending"], "complete");
    assert_eq!(json["graph"]["vertices"], 2000);
    assert_eq!(json["graph"]["arcs"], 2 * (49 * 40 + 50 * 39));
    assert_eq!(json["roots"], serde_json::json!([0, 1999]));
    assert_eq!(json["result"]["reached"], 2000);
    // A worker without work is left out.
    let workers = json["workers"].as_array().unwrap().len() as u64;
    assert!((1..=json["threads"].as_u64().unwrap()).contains(&workers));
    assert!(json["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_result_has_a_line_per_vertex() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("triangles.txt"), TRIANGLES).unwrap();
    let found = |arguments: &[&str]| {
        shown(folder.path(), &[arguments, &["triangles.txt", "--out", "out"]].concat());
        lines(&folder.path().join("out"))
    };
    assert_eq!(found(&["closure", "--root", "4"]), [[3], [4], [5]]);
    assert_eq!(found(&["closure", "--root", "4", "--root", "0"]).len(), 6);
    assert_eq!(found(&["components"]), [[0, 0], [1, 0], [2, 0], [3, 1], [4, 1], [5, 1]]);
    assert_eq!(found(&["bfs", "--root", "1"]), [[0, 1], [1, 0], [2, 1]]);
    assert_eq!(found(&["closure", "--directed", "--root", "0"]), [[0], [1], [2]]);
    let tree = found(&["spanning-tree"]);
    assert_eq!(tree.iter().filter(|line| line[0] == line[1]).count(), 1);
    assert_eq!(tree.iter().map(|line| line[0]).collect::<Vec<_>>(), [0, 1, 2]);
    let forest = found(&["spanning-tree", "--forest"]);
    assert_eq!(forest.iter().filter(|line| line[0] == line[1]).count(), 2);
    assert_eq!(forest.len(), 6);
}

#[test]
fn vertices_that_were_renumbered_keep_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("phones.txt"), "5550100 5550199\n7000000000 5550199\n1 2\n").unwrap();
    shown(folder.path(), &["bfs", "phones.txt", "--renumber", "--root", "5550100", "--out", "out"]);
    assert_eq!(lines(&folder.path().join("out")), [[5550100, 0], [5550199, 1], [7000000000, 2]]);
    refused(folder.path(), &["bfs", "phones.txt", "--renumber", "--root", "3"], "no vertex in the file has the id 3");
}

#[test]
fn bad_input_is_refused_with_a_reason_and_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.txt"), TRIANGLES).unwrap();
    fs::write(folder.path().join("bad.txt"), "0 1\n1 2\n2 three\n").unwrap();
    fs::write(folder.path().join("matrix.mtx"), "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
        .unwrap();
    fs::write(folder.path().join("out"), "old contents").unwrap();
    for (arguments, reason) in [
        (&["closure"][..], "required"),
        (&["closure", "good.txt", "--generate", "torus:3x3"], "cannot be used with"),
        (&["closure", "missing.txt", "--out", "out"], "missing.txt: cannot open the file"),
        (&["closure", ".", "--out", "out"], "directory"),
        (&["closure", "bad.txt", "--out", "out", "--json", "new.json"], "bad.txt:3: "),
        (
            &["closure", "good.txt", "--root", "6", "--out", "out"],
            "the root 6 does not exist: the graph has 6 vertices",
        ),
        (
            &["closure", "good.txt", "--queue", "lifo"],
            "there are chase_lev, the, asymmetric, ff_the, ff_cl, thep, idempotent::lifo",
        ),
        (&["closure", "good.txt", "--threads", "0"], "a pool needs a thread"),
        (&["closure", "good.txt", "--format", "csv"], "edge-list, matrix-market or dimacs"),
        (&["closure", "good.txt", "--format", "dimacs"], "good.txt"),
        (&["spanning-tree", "good.txt", "--directed"], "a spanning tree needs an undirected graph"),
        (&["spanning-tree", "matrix.mtx"], "matrix.mtx is directed: a spanning tree needs an undirected graph"),
        (&["closure", "good.txt", "--out", "nowhere/out"], "cannot be written: there is no folder"),
        (&["closure", "good.txt", "--json", "."], "cannot be written: it is a folder"),
        (&["closure", "good.txt", "--json", "same", "--out", "same"], "the same file"),
        (&["closure", "--generate", "torus:3"], "torus:WIDTHxHEIGHT"),
        (&["closure", "--generate", "random:3,100"], "cannot be 100 edges"),
        (&["closure", "--generate", "path:0"], "without vertices"),
        (&["components", "good.txt", "--root", "1"], "omit --root"),
    ] {
        refused(folder.path(), arguments, reason);
    }
    assert!(shown(folder.path(), &["spanning-tree", "matrix.mtx", "--undirected"]).contains("1 tree"));
}

#[test]
fn a_time_limit_stops_the_traversal_and_writes_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "closure",
        "--generate",
        "torus:1500x1500",
        "--time-limit",
        "0.000001",
        "--out",
        "out",
        "--json",
        "summary.json",
    ];
    let output = graph(folder.path(), &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(stderr.contains("the time limit was reached"), "{stderr}");
    assert!(stderr.contains("nothing was written to --out"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("timed-out"));
    assert!(!folder.path().join("out").exists());
    let json: Value = serde_json::from_slice(&fs::read(folder.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!(json["ending"], "timed-out");
    assert_eq!(json["redundant"], Value::Null);
}

#[test]
fn ranks_are_refused_except_for_closures_of_generated_graphs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.txt"), TRIANGLES).unwrap();
    for (arguments, reason) in [
        (&["closure", "good.txt", "--mpi"][..], "a file cannot be read in parts, so --mpi needs a generated graph"),
        (&["bfs", "--generate", "torus:9x9", "--mpi"], "--mpi supports closure, not bfs"),
        (&["closure", "--generate", "kgraph-plane:99,k=3", "--mpi"], "kgraph-plane:99,k=3 cannot be built in parts"),
    ] {
        refused(folder.path(), arguments, reason);
    }
    #[cfg(not(feature = "mpi"))]
    refused(folder.path(), &["closure", "--generate", "torus:9x9", "--mpi"], "built without MPI");
}
