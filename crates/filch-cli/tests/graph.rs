//! Tests of `filch graph`.

mod program;

use program::Folder;
use serde_json::Value;

const QUEUES: [&str; 10] = [
    "split",
    "chase_lev",
    "the",
    "asymmetric",
    "ff_the-untrusted",
    "ff_cl-untrusted",
    "thep-untrusted",
    "idempotent::lifo",
    "idempotent::fifo",
    "idempotent::double_ended",
];

/// Two triangles that no edge joins.
const TRIANGLES: &str = "# two triangles\n0 1\n1 2\n2 0\n3 4\n4 5\n5 3\n";

/// Returns the output of a run that succeeds and prints no error.
fn shown(folder: &Folder, words: &str) -> String {
    let (text, stderr) = folder.shown(&format!("graph {words}"), 0);
    assert!(stderr.is_empty(), "{words}: {stderr}");
    text
}

/// Returns the result of a run, which is in its file.
fn found(folder: &Folder, words: &str) -> Vec<Vec<usize>> {
    shown(folder, &format!("{words} --out out"));
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect();
    folder.text("out").lines().map(numbers).collect()
}

#[test]
fn every_queue_finds_the_same_on_one_thread_and_on_several() {
    let folder = Folder::new(&[]);
    for queue in QUEUES {
        for threads in ["1", "3"] {
            for (task, part) in [
                ("closure", "reached   600 of 600 (100.00 %) vertices"),
                ("spanning-tree", "600 of 600 (100.00 %) vertices, 1 tree\n"),
                ("components", "1 component, the largest with 600 of 600"),
                ("bfs", "600 of 600 (100.00 %) vertices, the farthest at distance 25"),
                ("shortest-paths", "600 of 600 (100.00 %) vertices, the farthest at distance 100\n"),
            ] {
                // All weights are the same.
                let graph = "torus:30x20,weights=4-4";
                let text = shown(&folder, &format!("{task} --generate {graph} --queue {queue} --threads {threads}"));
                let order = if task == "bfs" { "level by level" } else { queue };
                assert!(text.contains(part) && text.contains(order), "{text}");
            }
        }
    }
}

#[test]
fn a_fence_free_queue_is_named_untrusted_under_its_earlier_name_too() {
    let folder = Folder::new(&[]);
    for queue in ["ff_cl", "ff_cl-untrusted"] {
        let text = shown(&folder, &format!("closure --generate torus:30x20 --queue {queue} --json summary.json"));
        assert!(text.contains("ff_cl-untrusted"), "{text}");
        assert_eq!(folder.json("summary.json")["queue"], "ff_cl-untrusted");
    }
}

#[test]
fn a_closure_by_level_has_no_queue() {
    let folder = Folder::new(&[]);
    let text = shown(&folder, "closure --generate random:5000,50000 --by-level --threads 2");
    assert!(text.contains("5,000 of 5,000 (100.00 %)") && text.contains("2 threads, level by level"), "{text}");
}

#[test]
fn the_summary_is_the_same_as_json() {
    let folder = Folder::new(&[]);
    let text = shown(&folder, "bfs --generate grid:50x40 --root 0 --root 1999 --json summary.json");
    for part in ["grid:50x40: 2,000 vertices", "generated in", "from 2 vertices", "worker", "idle"] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    let json = folder.json("summary.json");
    assert_eq!(json["task"], "bfs");
    assert_eq!(json["queue"], serde_json::Value::Null);
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
    let folder = Folder::new(&[("triangles.txt", TRIANGLES)]);
    let found = |words: &str| found(&folder, &format!("{words} triangles.txt"));
    assert_eq!(found("closure --root 4"), [[3], [4], [5]]);
    assert_eq!(found("closure --root 4 --root 0").len(), 6);
    assert_eq!(found("components"), [[0, 0], [1, 0], [2, 0], [3, 1], [4, 1], [5, 1]]);
    assert_eq!(found("bfs --root 1"), [[0, 1], [1, 0], [2, 1]]);
    assert_eq!(found("closure --directed --root 0"), [[0], [1], [2]]);
    let tree = found("spanning-tree");
    assert_eq!(tree.iter().filter(|line| line[0] == line[1]).count(), 1);
    assert_eq!(tree.iter().map(|line| line[0]).collect::<Vec<_>>(), [0, 1, 2]);
    let forest = found("spanning-tree --forest");
    assert_eq!(forest.iter().filter(|line| line[0] == line[1]).count(), 2);
    assert_eq!(forest.len(), 6);
}

#[test]
fn shortest_paths_have_a_distance_and_the_vertex_before() {
    let roads = "0 1 2.5\n1 2 4\n0 2 7.25\n2 3 0\n4 5 1\n";
    let folder = Folder::new(&[("roads.txt", roads)]);
    let text = shown(&folder, "shortest-paths roads.txt --from 0 --delta 2 --out out --json summary.json");
    assert_eq!(folder.text("out"), "0 0 0\n1 2.5 0\n2 6.5 1\n3 6.5 2\n");
    for part in
        ["real weights", "reached   4 of 6 (66.67 %) vertices, the farthest at distance 6.5", "buckets of width 2.00"]
    {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    let json = folder.json("summary.json");
    assert_eq!((&json["task"], &json["graph"]["weights"]), (&"shortest-paths".into(), &"real".into()));
    assert_eq!((&json["result"]["farthest"], &json["result"]["delta"]), (&6.5.into(), &2.0.into()));
    assert!(json["result"]["visits"].as_u64().unwrap() >= 4);
    shown(&folder, "shortest-paths roads.txt --directed --root 1 --root 4 --out out");
    assert_eq!(folder.text("out"), "1 0 1\n2 4 1\n3 4 2\n4 0 4\n5 1 4\n");
}

#[test]
fn vertices_that_were_renumbered_keep_their_ids() {
    let folder = Folder::new(&[("phones.txt", "5550100 5550199\n7000000000 5550199\n1 2\n")]);
    let distances = found(&folder, "bfs phones.txt --renumber --root 5550100");
    assert_eq!(distances, [[5550100, 0], [5550199, 1], [7000000000, 2]]);
    folder.refused("graph bfs phones.txt --renumber --root 3", 1, &["no vertex in the file has the id 3"]);
}

#[test]
fn bad_input_is_refused_with_a_reason_and_writes_no_file() {
    let folder = Folder::new(&[
        ("good.txt", TRIANGLES),
        ("bad.txt", "0 1\n1 2\n2 three\n"),
        ("matrix.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
        ("negative.txt", "0 1 5\n1 2 -5\n"),
        ("infinite.gr", "p sp 2 1\na 1 2 inf\n"),
        ("outside.gr", "p sp 2 1\na 1 3 5\n"),
        ("huge.gr", "p sp 2 1000000000000\na 1 2 5\n"),
        ("out", "old contents"),
    ]);
    for (words, code, reason) in [
        ("closure", 2, "required"),
        ("closure good.txt --generate torus:3x3", 2, "cannot be used with"),
        ("closure missing.txt --out out", 1, "missing.txt: cannot open the file"),
        ("closure . --out out", 1, "directory"),
        ("closure bad.txt --out out --json new.json", 1, "bad.txt:3: "),
        ("closure good.txt --root 6 --out out", 1, "the root 6 does not exist: the graph has 6 vertices"),
        (
            "closure good.txt --queue lifo",
            2,
            "there are split, chase_lev, the, asymmetric, ff_the-untrusted, ff_cl-untrusted, thep-untrusted, idempotent::lifo",
        ),
        ("closure good.txt --threads 0", 2, "a pool needs a thread"),
        ("closure good.txt --format csv", 2, "edge-list, matrix-market or dimacs"),
        ("closure good.txt --format dimacs", 1, "good.txt"),
        ("spanning-tree good.txt --directed", 1, "a spanning tree needs an undirected graph"),
        ("spanning-tree matrix.mtx", 1, "matrix.mtx is directed: a spanning tree needs an undirected graph"),
        ("closure good.txt --out nowhere/out", 1, "cannot be written: there is no folder"),
        ("closure good.txt --json .", 1, "cannot be written: it is a folder"),
        ("closure good.txt --json same --out same", 1, "the same file"),
        ("closure --generate torus:3", 2, "a torus is written `torus:WIDTHxHEIGHT`"),
        ("closure --generate random:3,100", 1, "cannot be 100 edges"),
        ("closure --generate path:0", 1, "without vertices"),
        ("components good.txt --root 1", 1, "omit --root"),
        ("shortest-paths good.txt --out out", 1, "good.txt:2: expected two vertex ids and a weight from 0 to 3.4e38"),
        ("shortest-paths negative.txt --out out", 1, "negative.txt:2: expected two vertex ids and a weight from 0"),
        ("shortest-paths infinite.gr --out out", 1, "infinite.gr:2: expected `a`, two vertices and a length from 0"),
        ("shortest-paths outside.gr", 1, "outside.gr:2: expected vertices from 1 to 2, as the header says"),
        ("shortest-paths huge.gr", 1, "huge.gr:1: expected 1000000000000 entries, as the header says, found 1"),
        ("shortest-paths --generate path:3", 1, "path:3 has no weights; add a range of random ones"),
        ("shortest-paths --generate path:3,weights=1-2 --from 3", 1, "the root 3 does not exist"),
        ("shortest-paths --generate path:3,weights=2-1", 2, "no weight is from 2 to 1"),
        ("shortest-paths --generate path:3,weights=1-2 --delta 0", 2, "a finite number above 0, not 0"),
        ("shortest-paths --generate random:4000000000,900000000000,weights=1-2", 1, "there is no memory for"),
        ("closure good.txt --mpi", 1, "a file cannot be read in parts, so --mpi needs a generated graph"),
        ("bfs --generate torus:9x9 --mpi", 1, "--mpi supports closure, not bfs"),
        ("closure --generate kgraph-plane:99,k=3 --mpi", 1, "kgraph-plane:99,k=3 cannot be built in parts"),
        #[cfg(not(feature = "mpi"))]
        ("closure --generate torus:9x9 --mpi", 1, "built without MPI"),
    ] {
        folder.refused(&format!("graph {words}"), code, &[reason]);
    }
    assert!(shown(&folder, "spanning-tree matrix.mtx --undirected").contains("1 tree"));
}

#[test]
fn a_time_limit_stops_the_traversal_and_writes_no_result() {
    let folder = Folder::new(&[]);
    let words = "graph closure --generate torus:1500x1500 --time-limit 0.000001 --out out --json summary.json";
    let (text, stderr) = folder.shown(words, 1);
    assert!(stderr.contains("the time limit was reached"), "{stderr}");
    assert!(stderr.contains("nothing was written to --out"), "{stderr}");
    assert!(text.contains("timed-out"));
    assert!(!folder.has("out"));
    let json = folder.json("summary.json");
    assert_eq!(json["ending"], "timed-out");
    assert_eq!(json["redundant"], Value::Null);
}
