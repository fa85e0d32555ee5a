use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Mutex;

use flate2::write::GzEncoder;
use flate2::Compression;

use super::*;

fn load_text(text: &str) -> Result<Loaded, ReadError> {
    load_from("it", text.as_bytes(), &Options::new())
}

fn graph(text: &str) -> Graph {
    load_text(text).unwrap().graph
}

fn error(text: &str) -> String {
    load_text(text).unwrap_err().to_string()
}

fn edges(edges: &[(Vertex, Vertex)]) -> Graph {
    let vertices = edges.iter().map(|&(from, to)| from.max(to) as usize + 1).max().unwrap_or(0);
    Graph::undirected(vertices, edges).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_edge_list_may_have_comments_blanks_commas_and_columns() {
    let text = "# Nodes: 4\n%x\n0\t1\r\n 1 , 2 \n\n2,3,1.5\n  # more\n3 0 -1 1e9 nan\t\n\r\n0 0";
    assert_eq!(graph(text), edges(&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 0)]));
    assert_eq!(load_text(text).unwrap().entries, 5);
    assert_eq!(graph("\u{feff}0 1\n"), edges(&[(0, 1)]));
    assert_eq!(graph("0001 2"), edges(&[(1, 2)]));
    assert_eq!(graph(""), edges(&[]));
    assert_eq!(graph("# nothing\n"), edges(&[]));
}

#[test]
fn a_bad_line_is_named_and_quoted() {
    assert_eq!(error("0 1\n# x\n\n1 x\n"), "it:4: expected two vertex ids, found \"1 x\"");
    assert_eq!(error("0\n"), "it:1: expected two vertex ids, found \"0\"");
    assert_eq!(error("-1 2\n"), "it:1: expected two vertex ids, found \"-1 2\"");
    assert_eq!(error("1 -2"), "it:1: expected two vertex ids, found \"1 -2\"");
    assert_eq!(error("1;2"), "it:1: expected two vertex ids, found \"1;2\"");
    assert_eq!(error("1,,2"), "it:1: expected two vertex ids, found \"1,,2\"");
    assert_eq!(error("1 2 red"), "it:1: expected nothing but numbers after the two vertices, found \"1 2 red\"");
    assert_eq!(error("1 2# no\n"), "it:1: expected nothing but numbers after the two vertices, found \"1 2# no\"");
    assert_eq!(error("1.0 2.0\n"), "it:1: expected two vertex ids, found \"1.0 2.0\"");
    assert_eq!(error("\x1b[2J\u{7}é\r\n"), "it:1: expected two vertex ids, found \"\\u{1b}[2J\\u{7}é\"");
    let long = error(&"x".repeat(1000));
    assert_eq!(long, format!("it:1: expected two vertex ids, found \"{}…\"", "x".repeat(60)));
    let bytes = load_from("a\nb", &[0xff, 0x00][..], &Options::new()).unwrap_err().to_string();
    assert_eq!(bytes, "a\\nb:1: expected two vertex ids, found \"\u{fffd}\\0\"");
}

#[test]
fn the_first_bad_line_is_named_however_many_blocks_there_are() {
    let mut text = String::new();
    for line in 1..=5_000 {
        text.push_str(if line == 3_333 || line > 4_000 { "oops\n" } else { "12 34\n" });
    }
    for block in [64, 1000, 1 << 20] {
        let options = Options::new().block_size(block);
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let error = load_from("it", &bytes[..], &options).unwrap_err();
            assert_eq!(error.line(), Some(3_333));
        }
    }
}

#[test]
fn small_blocks_give_what_a_large_one_gives() {
    let mut text = String::from("# start\n");
    for line in 0..3_000u32 {
        text.push_str(&format!("{} {}\n", line % 977, line * line % 1013));
    }
    let whole = graph(&text);
    for block in [64, 65, 100, 4096] {
        let options = Options::new().block_size(block);
        let pieces = load_from("it", text.as_bytes(), &options).unwrap();
        assert_eq!(pieces.graph, whole);
        // A reader that returns a byte at a time, and a call on a thread of the pool.
        assert_eq!(load_from("it", Drops(text.as_bytes()), &options).unwrap().graph, whole);
        let within = filch::scope(|_| load_from("it", text.as_bytes(), &options).unwrap().graph);
        assert_eq!(within, whole);
        let renumbered = load_from("it", text.as_bytes(), &options.clone().renumber(true)).unwrap();
        assert_eq!(renumbered.graph.arcs(), whole.arcs());
        let one = load_from("it", text.as_bytes(), &Options::new().renumber(true)).unwrap();
        assert_eq!((renumbered.graph, renumbered.names), (one.graph, one.names));
    }
}

struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = buffer.len().min(1);
        self.0.read(&mut buffer[..end])
    }
}

#[test]
fn a_line_longer_than_a_block_is_refused() {
    let text = format!("0 1\n# {}\n", "x".repeat(200));
    let error = load_from("it", text.as_bytes(), &Options::new().block_size(100)).unwrap_err();
    assert_eq!(error.to_string(), "it:2: expected a line of at most 100 bytes, found a longer one");
    let text = format!("%%MatrixMarket matrix coordinate pattern general\n% {}\n", "x".repeat(200));
    let error = load_from("it", text.as_bytes(), &Options::new().block_size(100)).unwrap_err();
    assert_eq!(error.line(), Some(2));
}

#[test]
fn ids_far_apart_are_refused_or_renumbered() {
    let text = "4000000000 7\n7 100\n";
    assert_eq!(
        error(text),
        "it: expected edges for most ids up to 4000000000, found only 2 edges; the option renumber numbers the ids that occur, \
         the option allow-isolated permits vertices without edges"
    );
    let loaded = load_from("it", text.as_bytes(), &Options::new().renumber(true)).unwrap();
    assert_eq!(loaded.graph, edges(&[(2, 0), (0, 1)]));
    let names = loaded.names.unwrap();
    assert_eq!(names.ids(), [7, 100, 4_000_000_000]);
    assert_eq!((names.vertex(100), names.vertex(8), names.id(2)), (Some(1), None, 4_000_000_000));
    let allowed = load_from("it", &b"70000 1"[..], &Options::new().allow_isolated(true)).unwrap();
    assert_eq!(allowed.graph.vertices(), 70_001);
    assert!(load_from("it", &b"70000 1"[..], &Options::new()).is_err());
}

#[test]
fn ids_beyond_32_bits_are_refused_or_renumbered() {
    for large in ["4294967295", "4294967296", "18446744073709551614"] {
        let line = format!("0 {large}");
        assert_eq!(
            error(&line),
            format!("it:1: expected ids below 4294967295 (or the option renumber), found \"{line}\"")
        );
        let loaded = load_from("it", line.as_bytes(), &Options::new().renumber(true)).unwrap();
        assert_eq!(loaded.names.unwrap().ids(), [0, large.parse().unwrap()]);
    }
    for huge in ["18446744073709551615", "99999999999999999999999"] {
        let error = load_from("it", format!("{huge} 0").as_bytes(), &Options::new().renumber(true)).unwrap_err();
        assert_eq!(error.to_string(), format!("it:1: expected ids below 18446744073709551615, found \"{huge} 0\""));
    }
}

#[test]
fn a_matrix_is_read_whatever_its_kind() {
    for (kind, values) in [("pattern", ""), ("real", " -1.5e3"), ("integer", " 7"), ("complex", " 1.0\t-2")] {
        for symmetry in ["general", "symmetric", "skew-symmetric", "Hermitian"] {
            let text = format!(
                "%%MATRIXMARKET Matrix Coordinate {kind} {symmetry}\n% comment\n\n 4 4  3\n2 1{values}\r\n3 1{values}\n\n3\t3{values}"
            );
            let loaded = load_text(&text).unwrap();
            let entries = [(1, 0), (2, 0), (2, 2)];
            let directed = symmetry == "general";
            assert_eq!((loaded.directed, loaded.format), (directed, Format::MatrixMarket));
            let build = if directed { Graph::directed } else { Graph::undirected };
            assert_eq!(loaded.graph, build(4, &entries).unwrap());
            let overridden = load_from("it", text.as_bytes(), &Options::new().directed(!directed)).unwrap();
            let build = if directed { Graph::undirected } else { Graph::directed };
            assert_eq!(overridden.graph, build(4, &entries).unwrap());
        }
    }
}

#[test]
fn what_is_wrong_with_a_matrix_is_said() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    for (text, expected) in [
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "1: expected `coordinate` after `matrix`"),
        ("%%MatrixMarket vector coordinate real general\n", "1: expected `matrix` after `%%MatrixMarket`"),
        ("%%MatrixMarket matrix dense real general\n", "1: expected `coordinate` after `matrix`"),
        (
            "%%MatrixMarket matrix coordinate text general\n",
            "1: expected `pattern`, `real`, `integer` or `complex` after `coordinate`",
        ),
        (
            "%%MatrixMarket matrix coordinate real\n",
            "1: expected `general`, `symmetric`, `skew-symmetric` or `hermitian` at the end",
        ),
        ("%%MatrixMarket matrix coordinate real general x\n", "1: expected five words"),
        ("%%MatrixMarketing\n", "1: expected `%%MatrixMarket matrix coordinate …`"),
    ] {
        let error = error(text);
        assert!(error.starts_with(&format!("it:{expected}, found \"%%")), "{error}");
    }
    for (rest, expected) in [
        ("", "it:1: expected the line with the numbers of rows, columns and entries, found the end of the file"),
        ("% only\n", "it:2: expected the line with the numbers of rows, columns and entries, found the end of the file"),
        ("2 2\n", "it:2: expected the numbers of rows, columns and entries, found \"2 2\""),
        ("2 2 1 1\n", "it:2: expected three numbers: rows, columns and entries, found \"2 2 1 1\""),
        ("%\n2 3 1\n1 1 1\n", "it:3: expected as many rows as columns, found \"2 3 1\""),
        ("5000000000 5000000000 1\n1 1 1\n", "it:2: expected at most 4294967295 vertices, found \"5000000000 5000000000 1\""),
        ("2 2 1\n0 1 1\n", "it:3: expected vertices from 1 to 2, as the header says, found \"0 1 1\""),
        ("2 2 1\n1 3 1\n", "it:3: expected vertices from 1 to 2, as the header says, found \"1 3 1\""),
        ("2 2 1\n1 2\n", "it:3: expected a row, a column and a value, found \"1 2\""),
        ("2 2 1\n1 2 1 1\n", "it:3: expected nothing after the value, found \"1 2 1 1\""),
        ("2 2 1\n1\n", "it:3: expected a row and a column, found \"1\""),
        ("2 2 2\n1 2 1\n", "it:2: expected 2 entries, as the header says, found 1"),
        ("2 2 1\n1 2 1\n2 1 1\n", "it:2: expected 1 entry, as the header says, found 2"),
        ("2 2 18446744073709551615\n1 2 1\n", "it:2: expected 18446744073709551615 entries, as the header says, found 1"),
        ("4000000000 4000000000 1\n1 2 1\n", "it:2: expected edges for most of the 4000000000 vertices of the header, found only 1 edge; the option allow-isolated permits this"),
    ] {
        assert_eq!(error(&format!("{banner}{rest}")), expected);
    }
    let error = load_from("a.mtx", &b"1 2\n"[..], &Options::new()).unwrap_err().to_string();
    assert_eq!(error, "a.mtx:1: expected `%%MatrixMarket matrix coordinate …`, found \"1 2\"");
}

#[test]
fn dimacs_is_read_in_both_kinds() {
    let text = "c a comment\nc\n\np edge 4 3\nn 1 5\ne 1 2\nc more\ne 2 3 7\r\nd 1\n e 4 4 ";
    let loaded = load_text(text).unwrap();
    assert_eq!((loaded.format, loaded.directed), (Format::Dimacs, false));
    assert_eq!(loaded.graph, edges(&[(0, 1), (1, 2), (3, 3)]));
    assert_eq!(loaded.weights, [(0, 5)]);
    assert_eq!(graph("p col 2 1\ne 2 1\n"), edges(&[(1, 0)]));
    let loaded = load_text("p sp 3 2\na 1 2 5\na 3 1 -5.5\n").unwrap();
    assert!(loaded.directed);
    assert_eq!(loaded.graph, Graph::directed(3, &[(0, 1), (2, 0)]).unwrap());
    let both = load_from("it", &b"p sp 2 1\na 1 2 5\n"[..], &Options::new().directed(false)).unwrap();
    assert_eq!(both.graph.arcs(), 2);
}

#[test]
fn what_is_wrong_with_dimacs_is_said() {
    for (text, expected) in [
        ("c only\n", "it:1: expected a `p` line, found the end of the file"),
        ("c\ne 1 2\n", "it:2: expected the `p` line before all others, except comments (`c`), found \"e 1 2\""),
        ("p max 2 1\n", "it:1: expected `p edge`, `p col` or `p sp`, found \"p max 2 1\""),
        ("p edge 2\n", "it:1: expected the numbers of vertices and edges after the kind, found \"p edge 2\""),
        ("p edge 2x 1\n", "it:1: expected the numbers of vertices and edges after the kind, found \"p edge 2x 1\""),
        ("p edge 2 1 1\n", "it:1: expected two numbers after the kind: vertices and edges, found \"p edge 2 1 1\""),
        ("p edge 4294967296 0\n", "it:1: expected at most 4294967295 vertices, found \"p edge 4294967296 0\""),
        ("p edge 2 1\np edge 2 1\n", "it:2: expected only one `p` line, found \"p edge 2 1\""),
        ("p edge 2 1\na 1 2 3\n", "it:2: expected `e` and two vertices, found \"a 1 2 3\""),
        ("p edge 2 1\ne 1 3\n", "it:2: expected vertices from 1 to 2, as the header says, found \"e 1 3\""),
        ("p edge 2 1\ne1 2\n", "it:2: expected `e` and two vertices, found \"e1 2\""),
        ("p sp 2 1\na 1 2\n", "it:2: expected `a`, two vertices and a length, found \"a 1 2\""),
        ("p sp 2 1\nn 1 2\n", "it:2: expected `a`, two vertices and a length, found \"n 1 2\""),
        ("p edge 2 0\nn 1 -4\n", "it:2: expected `n`, a vertex and its weight, a whole number from 0, found \"n 1 -4\""),
        ("p edge 2 0\nn 3 4\n", "it:2: expected vertices from 1 to 2, as the header says, found \"n 3 4\""),
        ("p edge 2 0\nn 1 4\nn 1 5\n", "it:3: expected one weight for each vertex, found \"n 1 5\""),
        ("p edge 2 2\ne 1 2\n", "it:1: expected 2 entries, as the header says, found 1"),
        ("p edge 70000 1\ne 1 2\n", "it:1: expected edges for most of the 70000 vertices of the header, found only 1 edge; the option allow-isolated permits this"),
    ] {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn a_simple_graph_has_no_loops_and_each_edge_once() {
    let options = Options::new().simple(true);
    let load = |text: &str| load_from("it", text.as_bytes(), &options);
    for entries in [2, 3] {
        let text = format!("p edge 3 {entries}\ne 1 2\ne 3 2\ne 2 1\n");
        assert_eq!(load(&text).unwrap().graph, edges(&[(0, 1), (1, 2)]));
    }
    assert_eq!(load("0 1\n1 0\n1 2\n").unwrap().graph, edges(&[(0, 1), (1, 2)]));
    assert_eq!(load("p sp 2 1\na 1 2 5\na 1 2 7\n").unwrap().graph.arcs(), 1);
    for (text, expected) in [
        ("p edge 3 1\ne 1 2\ne 3 2\ne 2 1\n", "it:1: expected 1 entry, as the header says, found 3"),
        ("p edge 2 1\r\n\r\ne 2 2\r\n", "it:3: expected an edge between two vertices, found \"e 2 2\""),
        ("0 1\n1 1\n", "it:2: expected an edge between two vertices, found \"1 1\""),
    ] {
        assert_eq!(load(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn the_format_is_told_by_the_lines_then_by_the_name() {
    let of = |name: &str| Format::of_name(Path::new(name));
    assert_eq!(of("a.mtx"), Some(Format::MatrixMarket));
    assert_eq!(of("x/a.MTX.gz"), Some(Format::MatrixMarket));
    assert_eq!(of("a.gr"), Some(Format::Dimacs));
    assert_eq!(of("a.col.gz"), Some(Format::Dimacs));
    assert_eq!(of("a.txt"), None);
    assert_eq!(of("a.gz"), None);
    assert_eq!(of(".gz"), None);
    assert_eq!(of(""), None);
    assert_eq!(load_from("a.mtx", &b"p edge 0 0\n"[..], &Options::new()).unwrap().format, Format::Dimacs);
    assert!(load_from("a.gr", &b"1 2\n"[..], &Options::new()).is_err());
    let options = Options::new().format(Format::EdgeList);
    assert_eq!(load_from("a.gr", &b"1 2\n"[..], &options).unwrap().entries, 1);
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let error = "gml".parse::<Format>().unwrap_err();
    assert_eq!(error, "there is no format \"gml\": it is edge-list, matrix-market or dimacs");
}

#[test]
fn gzip_is_known_by_its_bytes_and_may_have_members() {
    let text = "0 1\n1 2\n2 3\n";
    let mut packed = gzip(&text.as_bytes()[..5]);
    packed.extend(gzip(&text.as_bytes()[5..]));
    assert_eq!(load_from("it", &packed[..], &Options::new()).unwrap().graph, graph(text));
    assert_eq!(load_from("it", &gzip(b"")[..], &Options::new()).unwrap().entries, 0);
    let cut = load_from("it", &packed[..packed.len() - 3], &Options::new()).unwrap_err();
    assert_eq!(cut.to_string(), "it: expected more gzip data, found the end of the file");
    assert!(cut.source().is_some());
    let cut = load_from("it", &packed[..2], &Options::new()).unwrap_err();
    assert!(matches!(cut.problem(), Problem::Gzip(_)), "{cut}");
    let middle = packed.len() - 6;
    packed[middle] ^= 0xff;
    let damaged = load_from("it", &packed[..], &Options::new()).unwrap_err().to_string();
    assert!(damaged.starts_with("it: the gzip data is damaged: "), "{damaged}");
    packed.truncate(20);
    packed.extend_from_slice(b"rubbish");
    assert!(load_from("it", &packed[..], &Options::new()).is_err());
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.txt");
    let error = file(&missing, &Options::new()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: cannot open the file: ", missing.display())), "{error}");
    let error = file(folder.path(), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: expected a file, found a directory", folder.path().display()));

    struct Broken(u32);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => (&b"0 1\n"[..]).read(buffer),
                2 => Err(io::ErrorKind::Interrupted.into()),
                _ => Err(io::Error::other("the disk is gone")),
            }
        }
    }
    let error = load_from("it", Broken(0), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "it: cannot read the file: the disk is gone");
}

#[test]
fn progress_ends_with_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "0 1\n".repeat(100_000);
    for (name, bytes) in [("plain", text.clone().into_bytes()), ("packed", gzip(text.as_bytes()))] {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let seen = Mutex::new(Vec::new());
        let progress = |progress: Progress| seen.lock().unwrap().push(progress);
        let options = Options::new().block_size(10_000).progress(&progress);
        assert_eq!(load(&path, &options).unwrap().entries, 100_000);
        let seen = seen.into_inner().unwrap();
        let total = bytes.len() as u64;
        assert_eq!(seen.last(), Some(&Progress { bytes: total, total: Some(total) }));
        assert!(seen.windows(2).all(|pair| pair[0].bytes <= pair[1].bytes));
        assert!(seen.len() >= 40);
    }
}

fn weighted(text: &str) -> Result<WeightedGraph, String> {
    load_weighted_from("it", text.as_bytes(), &Options::new())
        .map(|loaded| loaded.graph)
        .map_err(|error| error.to_string())
}

#[test]
fn weights_are_read_in_every_format() {
    let expected = WeightedGraph::directed(3, &[(0, 1, 7), (2, 0, 0)]).unwrap();
    for text in [
        "p sp 3 2\na 1 2 7\na 3 1 0\n",
        "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 7\n3 1 0\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 7.0\n3 1 0e5\n",
    ] {
        assert_eq!(weighted(text).unwrap(), expected);
    }
    let expected = WeightedGraph::undirected(3, &[(0, 1, 2.5), (2, 1, 4.0), (1, 1, 0.0)]).unwrap();
    for text in [
        "# roads\n0 1 2.5\n2,1,4,9 nan\r\n1\t1\t0",
        "p edge 3 3\nc\ne 1 2 2.5\nn 1 4\ne 3 2 4\ne 2 2 0 9\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 2 .25D+1\n3 2 4\n2 2 -0\n",
    ] {
        assert_eq!(weighted(text).unwrap(), expected);
    }
    let expected = WeightedGraph::undirected(2, &[(1, 0, 1)]).unwrap();
    for symmetry in ["symmetric", "skew-symmetric"] {
        let text = format!("%%MatrixMarket matrix coordinate pattern {symmetry}\n2 2 1\n2 1\n");
        assert_eq!(weighted(&text).unwrap(), expected);
    }
    let text = "10 20 5\n20 30 0.5\n";
    let loaded = load_weighted_from("it", text.as_bytes(), &Options::new().renumber(true)).unwrap();
    assert_eq!(loaded.graph, WeightedGraph::undirected(3, &[(0, 1, 5.0), (1, 2, 0.5)]).unwrap());
    let simple = load_weighted_from("it", &b"0 1 5\n1 0 3\n0 1 4\n"[..], &Options::new().simple(true)).unwrap();
    assert_eq!(simple.graph, WeightedGraph::undirected(2, &[(0, 1, 3)]).unwrap());
}

#[test]
fn a_missing_or_impossible_weight_is_said() {
    for (text, expected) in [
        ("0 1 5\n1 2\n", "2: expected two vertex ids and a weight from 0 to 3.4e38, found \"1 2\""),
        ("0 1 -5\n", "1: expected two vertex ids and a weight from 0 to 3.4e38, found \"0 1 -5\""),
        ("0 1 nan\n", "1: expected two vertex ids and a weight from 0 to 3.4e38, found \"0 1 nan\""),
        ("0 1 inf\n", "1: expected two vertex ids and a weight from 0 to 3.4e38, found \"0 1 inf\""),
        ("0 1 1e39\n", "1: expected two vertex ids and a weight from 0 to 3.4e38, found \"0 1 1e39\""),
        ("0 1 red\n", "1: expected two vertex ids and a weight from 0 to 3.4e38, found \"0 1 red\""),
        ("0 1 5x\n", "1: expected nothing but numbers after the two vertices, found \"0 1 5x\""),
        ("p edge 2 1\ne 1 2\n", "2: expected `e`, two vertices and a weight from 0 to 3.4e38, found \"e 1 2\""),
        ("p sp 2 1\na 1 2 -7\n", "2: expected `a`, two vertices and a length from 0 to 3.4e38, found \"a 1 2 -7\""),
        ("p sp 2 1\na 1 3 7\n", "2: expected vertices from 1 to 2, as the header says, found \"a 1 3 7\""),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -7\n",
            "3: expected a row, a column and a value from 0 to 3.4e38, found \"1 2 -7\"",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 7 0\n",
            "1: expected `pattern`, `real` or `integer` for a graph with weights, found \"%%MatrixMarket matrix coordinate complex general\"",
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 2 7\n",
            "1: expected `general`, `symmetric` or `hermitian` for a graph with weights, found \"%%MatrixMarket matrix coordinate real skew-symmetric\"",
        ),
    ] {
        assert_eq!(weighted(text).unwrap_err(), format!("it:{expected}"));
    }
    let error = weighted("p sp 2 1000000000000\na 1 2 3\n").unwrap_err();
    assert_eq!(error, "it:1: expected 1000000000000 entries, as the header says, found 1");
}
