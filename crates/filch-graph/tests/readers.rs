//! The readers on good files, damaged files and noise.
//!
//! They never panic, and never take more memory than the given bytes justify. The tests of this
//! program run one at a time, because they count memory.

mod counting;
mod damage;

use std::io::{Read, Write};

use counting::{alone, most_held};
use damage::{damage, damages};
use filch_graph::read::{load_from, load_weighted_from, Format, Loaded, Options, ReadError};
use filch_graph::{generate, Graph, Vertex, WeightedGraph};
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::Compression;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// The memory that a reader may take for each byte of text. The shortest entry has four bytes. It
/// is an edge of 8 bytes, two arcs of 4, and at most four vertices of 4. The text itself and the
/// slack of growing arrays come on top.
const PER_BYTE: usize = 10;
/// With renumbering, edges are twice as large, and the ids are sorted.
const PER_BYTE_RENUMBERED: usize = 16;
/// The weight of an edge and those of its arcs, for each byte of the shortest entry. It is one of a
/// `pattern`, which has no weight in the file.
const PER_BYTE_OF_WEIGHTS: usize = 3;
/// The vertices without edges that any file may have, and the state of gzip.
const AT_ALL: usize = 512 << 10;

fn within(held: usize, bytes: usize, renumber: bool, weighted: bool) -> bool {
    let per_byte = if renumber { PER_BYTE_RENUMBERED } else { PER_BYTE };
    held <= AT_ALL + bytes * (per_byte + if weighted { PER_BYTE_OF_WEIGHTS } else { 0 })
}

/// How a test reads.
#[derive(Clone, Debug)]
struct Way {
    format: Option<Format>,
    directed: Option<bool>,
    renumber: bool,
    block_size: usize,
}

impl Way {
    fn options(&self) -> Options<'static> {
        let mut options = Options::new().renumber(self.renumber).block_size(self.block_size);
        if let Some(format) = self.format {
            options = options.format(format);
        }
        if let Some(directed) = self.directed {
            options = options.directed(directed);
        }
        options
    }
}

fn formats() -> impl Strategy<Value = Format> {
    select(&[Format::EdgeList, Format::MatrixMarket, Format::Dimacs])
}

fn ways() -> impl Strategy<Value = Way> {
    (prop::option::of(formats()), any::<Option<bool>>(), any::<bool>(), select(&[64, 500, 1 << 20]))
        .prop_map(|(format, directed, renumber, block_size)| Way { format, directed, renumber, block_size })
}

/// Checks the claim for any bytes; `text` is their number after decompression.
fn check(bytes: &[u8], text: usize, way: &Way) -> Result<(), TestCaseError> {
    let options = way.options();
    let (result, held) = most_held(|| load_from("it", bytes, &options));
    prop_assert!(within(held, text, way.renumber, false), "{} bytes of text, but {} were held", text, held);
    check_result(&result, text, |graph| graph)?;
    let (weighted, held) = most_held(|| load_weighted_from("it", bytes, &options));
    prop_assert!(within(held, text, way.renumber, true), "{} bytes of text, but {} were held", text, held);
    check_result(&weighted, text, WeightedGraph::graph)?;
    let Ok(weighted) = weighted else { return Ok(()) };
    prop_assert!(weighted.graph.iter().all(|(_, _, weight)| (0.0..=f64::from(f32::MAX)).contains(&weight)));
    // What is read with weights can be read without.
    prop_assert_eq!(weighted.graph.graph(), &result.map_err(|error| TestCaseError::fail(error.to_string()))?.graph);
    Ok(())
}

fn check_result<G>(
    result: &Result<Loaded<G>, ReadError>,
    text: usize,
    graph: impl Fn(&G) -> &Graph,
) -> Result<(), TestCaseError> {
    match result {
        Ok(loaded) => {
            let graph = graph(&loaded.graph);
            prop_assert!(graph.iter().all(|(_, list)| list.iter().all(|&to| (to as usize) < graph.vertices())));
            let entries = loaded.entries as usize;
            let arcs = if loaded.directed { entries..=entries } else { entries..=2 * entries };
            prop_assert!(arcs.contains(&graph.arcs()));
            prop_assert!(text >= 4 * entries - usize::from(entries > 0));
            if let Some(names) = &loaded.names {
                prop_assert_eq!(names.ids().len(), graph.vertices());
                prop_assert!(names.ids().windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
        Err(error) => {
            let sentence = error.to_string();
            prop_assert!(sentence.starts_with("it:"), "{}", sentence);
            prop_assert!(sentence.len() < 1000 && !sentence.contains(char::is_control), "{:?}", sentence);
            if let Some(line) = error.line() {
                let lines = text as u64 + 1;
                prop_assert!((1..=lines).contains(&line));
            }
        }
    }
    Ok(())
}

fn run<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let _alone = alone();
    let usual = Config::default();
    // `PROPTEST_CASES` can ask for more.
    let config = Config { cases: cases.max(usual.cases), failure_persistence: None, ..usual };
    TestRunner::new(config).run(&strategy, test).unwrap_or_else(|failure| panic!("{failure}"));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the number of bytes after decompression, as far as that succeeds.
fn unpacked(bytes: &[u8]) -> usize {
    let mut text = Vec::new();
    let _ = MultiGzDecoder::new(bytes).read_to_end(&mut text);
    text.len().max(bytes.len())
}

/// A graph as a list of edges, and the choices for its file.
#[derive(Clone, Debug)]
struct Written {
    format: Format,
    vertices: usize,
    edges: Vec<(Vertex, Vertex)>,
    /// The weights of the edges, if they are written.
    weights: Option<Vec<f64>>,
    directed: bool,
    style: usize,
}

impl Written {
    fn text(&self) -> Vec<u8> {
        let end = ["\n", "\r\n", " \n"][self.style % 3];
        let gap = [" ", "\t", "  "][self.style / 3 % 3];
        let (vertices, entries) = (self.vertices, self.edges.len());
        let mut text = match self.format {
            Format::EdgeList => format!("# {vertices} vertices{end}{end}"),
            Format::MatrixMarket => {
                let kind = match self.weights {
                    None => ["pattern", "real", "integer", "complex"][self.style % 4],
                    Some(_) => ["real", "integer"][self.style % 2],
                };
                let symmetry = match (self.directed, &self.weights) {
                    (true, _) => "general",
                    (false, None) => ["symmetric", "skew-symmetric", "hermitian"][self.style % 3],
                    (false, Some(_)) => ["symmetric", "hermitian"][self.style % 2],
                };
                format!("%%MatrixMarket matrix coordinate {kind} {symmetry}{end}% by a test{end}{vertices}{gap}{vertices}{gap}{entries}{end}")
            }
            _ => {
                let kind = if self.directed { "sp" } else { ["edge", "col"][self.style % 2] };
                format!("c by a test{end}p{gap}{kind}{gap}{vertices}{gap}{entries}{end}")
            }
        };
        for (index, &(from, to)) in self.edges.iter().enumerate() {
            let weight = self.weights.as_ref().map(|weights| match self.style % 3 {
                0 => format!("{:e}", weights[index]),
                1 => format!("{:?}", weights[index]),
                _ => weights[index].to_string(),
            });
            // Without weights there are other columns, which are skipped.
            let or = |other: &str| weight.as_ref().map_or(other.to_owned(), |weight| format!("{gap}{weight}"));
            text += &match self.format {
                Format::EdgeList => {
                    let comma = if self.style % 5 == 0 { "," } else { gap };
                    let more = if self.style % 7 == 0 { " 1 -2" } else { "" };
                    format!("{from}{comma}{to}{}{more}{end}", or(["", "\t0.5", " 1 2"][self.style % 3]))
                }
                Format::MatrixMarket => {
                    let value = or(["", " -1.5e-3", " 7", " 0.5 nan"][self.style % 4]);
                    format!("{}{gap}{}{value}{end}", from + 1, to + 1)
                }
                _ if self.directed => format!("a{gap}{}{gap}{}{}{end}", from + 1, to + 1, or(" 17")),
                _ => format!("e{gap}{}{gap}{}{}{end}", from + 1, to + 1, or("")),
            };
        }
        text.into_bytes()
    }

    fn graph(&self) -> Graph {
        let build = if self.directed { Graph::directed } else { Graph::undirected };
        build(self.vertices, &self.edges).unwrap()
    }

    fn weighted_graph(&self, weights: &[f64]) -> WeightedGraph {
        let edges: Vec<_> = self.edges.iter().zip(weights).map(|(&(from, to), &weight)| (from, to, weight)).collect();
        let build = if self.directed { WeightedGraph::directed } else { WeightedGraph::undirected };
        build(self.vertices, &edges).unwrap()
    }
}

/// The weights of a file: all whole, or some real.
fn weights() -> impl Strategy<Value = Vec<f64>> {
    let whole = any::<u32>().prop_map(f64::from).boxed();
    let real = prop_oneof![9 => whole.clone(), 1 => (0f32..f32::MAX).prop_map(f64::from), 1 => (0f32..1.0).prop_map(f64::from)];
    prop_oneof![prop::collection::vec(whole, 150), prop::collection::vec(real, 150)]
}

fn written() -> impl Strategy<Value = Written> {
    let weights = prop::option::of(weights());
    (formats(), 1..200usize, any::<bool>(), 0..60usize, weights).prop_flat_map(
        |(format, vertices, directed, style, weights)| {
            let vertex = 0..vertices as Vertex;
            prop::collection::vec((vertex.clone(), vertex), 0..150).prop_map(move |edges| {
                // An edge list has no more vertices than its edges show.
                let vertices = match format {
                    Format::EdgeList => edges.iter().map(|&(from, to)| from.max(to) as usize + 1).max().unwrap_or(0),
                    _ => vertices,
                };
                Written { format, vertices, edges, weights: weights.clone(), directed, style }
            })
        },
    )
}

/// The words that are inserted into a file.
const WORDS: [&str; 34] = [
    "-0",
    "0.5",
    "3.5e38",
    "1d5",
    "0",
    "1",
    "9",
    "-1",
    " 1",
    "1 ",
    "65536",
    "99999",
    "4294967294",
    "4294967295",
    "4294967296",
    "4000000000",
    "18446744073709551614",
    "18446744073709551615",
    "18446744073709551616",
    "1000000000000000000000000000000",
    "nan",
    "1e999",
    ".",
    " ",
    "\n",
    "\r",
    "\t",
    ",",
    "#",
    "%",
    "c",
    "\np edge 4000000000 1\n",
    "\n\n",
    "\0",
];

/// Pieces of all formats in any order: noise that gets further than random bytes do.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "%%MatrixMarket matrix coordinate pattern general\n",
        "%%MatrixMarket matrix coordinate complex symmetric\r\n",
        "%%MatrixMarket matrix array real general\n",
        "2 2 1\n",
        "4000000000 4000000000 4000000000\n",
        "p edge 3 2\n",
        "p sp 4294967295 1\n",
        "e ",
        "a ",
        "c x\n",
        "e 1 2\n",
        "a 1 2 3\n",
        "1 2\n",
        "1\t2\t0.5\n",
        "e 2 1 7.5\n",
        "a 1 2 -3\n",
        "%%MatrixMarket matrix coordinate integer general\n",
        "1 2 3 4\n",
        "0",
        "1",
        "2",
        "3",
        "4294967295",
        "70000",
        "18446744073709551616",
        " ",
        " ",
        "\n",
        "\n",
        "\r\n",
        ",",
        "#",
        "%",
        "\t",
        "-",
        "1e5",
        "\u{feff}",
        "\x1f\u{8b}",
    ];
    prop::collection::vec(select(words.to_vec()), 0..60).prop_map(|words| words.concat().into_bytes())
}

#[test]
fn a_written_graph_is_read_back() {
    run(400, (written(), select(&[64, 500, 1 << 20]), any::<bool>()), |(written, block_size, packed)| {
        let text = written.text();
        let bytes = if packed { gzip(&text) } else { text };
        let mut options = Options::new().block_size(block_size);
        if written.format == Format::EdgeList {
            options = options.directed(written.directed);
        }
        let loaded = load_from("it", &bytes[..], &options).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(loaded.format, written.format);
        prop_assert_eq!(loaded.directed, written.directed);
        prop_assert_eq!(loaded.entries, written.edges.len() as u64);
        prop_assert_eq!(loaded.graph, written.graph());
        if let Some(weights) = &written.weights {
            let loaded = load_weighted_from("it", &bytes[..], &options);
            let loaded = loaded.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(loaded.graph, written.weighted_graph(weights));
        }
        Ok(())
    });
}

#[test]
fn renumbering_keeps_the_edges() {
    let edges = prop::collection::vec((any::<u64>(), 0..u64::MAX), 1..100);
    run(200, edges, |edges| {
        let edges: Vec<_> = edges.into_iter().filter(|&(from, _)| from < u64::MAX).collect();
        let text: String = edges.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
        let options = Options::new().renumber(true).directed(true).block_size(500);
        let loaded =
            load_from("it", text.as_bytes(), &options).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let names = loaded.names.unwrap();
        let mut found: Vec<_> = loaded
            .graph
            .iter()
            .flat_map(|(from, list)| list.iter().map(move |&to| (from, to)))
            .map(|(from, to)| (names.id(from), names.id(to)))
            .collect();
        let mut edges = edges;
        edges.sort();
        found.sort();
        prop_assert_eq!(found, edges);
        Ok(())
    });
}

#[test]
fn damaged_files_are_read_or_refused() {
    let damaged = (written(), prop::collection::vec(damages(&WORDS), 1..6), ways(), any::<bool>());
    run(2000, damaged, |(written, damages, way, packed)| {
        let mut text = written.text();
        damages.iter().for_each(|one| damage(&mut text, one));
        let bytes = if packed { gzip(&text) } else { text.clone() };
        check(&bytes, text.len().max(bytes.len()), &way)
    });
}

/// This also shows that it makes no difference which thread parses which block.
#[test]
fn the_size_of_the_blocks_makes_no_difference() {
    let damaged = (written(), prop::collection::vec(damages(&WORDS), 0..3), ways());
    run(1000, damaged, |(written, damages, way)| {
        let mut text = written.text();
        damages.iter().for_each(|one| damage(&mut text, one));
        let read = |block_size| {
            let options = way.options().block_size(block_size);
            let plain = load_from("it", &text[..], &options).map(|loaded| (loaded.graph, loaded.names));
            let weighted = load_weighted_from("it", &text[..], &options).map(|loaded| (loaded.graph, loaded.names));
            (plain.map_err(|error| error.to_string()), weighted.map_err(|error| error.to_string()))
        };
        let whole = read(1 << 20);
        for block_size in [150, 1000] {
            prop_assert_eq!(&read(block_size), &whole);
        }
        Ok(())
    });
}

#[test]
fn damaged_gzip_is_read_or_refused() {
    let damaged = (written(), prop::collection::vec(damages(&WORDS), 1..4), ways());
    run(1000, damaged, |(written, damages, way)| {
        let mut bytes = gzip(&written.text());
        damages.iter().for_each(|one| damage(&mut bytes, one));
        check(&bytes, unpacked(&bytes), &way)
    });
}

#[test]
fn noise_is_read_or_refused() {
    let noise = prop_oneof![prop::collection::vec(any::<u8>(), 0..400), pieces()];
    run(2000, (noise, ways(), any::<bool>()), |(noise, way, packed)| {
        let bytes = if packed { gzip(&noise) } else { noise.clone() };
        check(&bytes, unpacked(&bytes), &way)
    });
}

/// Large files, where a constant cannot hide the cost of a byte. The densest text, and the sparsest
/// that is allowed.
#[test]
fn large_files_stay_within_the_memory_bounds() {
    let _alone = alone();
    let dense = "1 2\n".repeat(500_000);
    let sparse: String = (0..500_000).map(|_| "1 0\n").chain(["2000000 0\n"]).collect();
    let blank = "\n".repeat(2_000_000);
    let pattern =
        format!("%%MatrixMarket matrix coordinate pattern symmetric\n9 9 500000\n{}", "2 1\n".repeat(500_000));
    let mixed = format!("{}1 2 .5\n", "1 2 3\n".repeat(300_000));
    let mut apart: String = (0..200_000u64).map(|id| format!("{} {}\n", id * 977 % 1_000_003, id)).collect();
    apart.push_str("5000000000 1\n");
    for text in [dense, sparse, blank, pattern, mixed, apart] {
        for renumber in [false, true] {
            for block_size in [4096, 1 << 20] {
                let way = Way { format: None, directed: None, renumber, block_size };
                check(text.as_bytes(), text.len(), &way).unwrap();
                let packed = gzip(text.as_bytes());
                check(&packed, text.len(), &way).unwrap();
            }
        }
    }
}

#[test]
fn long_comments_take_no_memory() {
    let _alone = alone();
    let line = format!("# {}\n", "x".repeat(100));
    let packed = gzip(line.repeat(300_000).as_bytes());
    let options = Options::new().block_size(64 << 10);
    let (loaded, held) = most_held(|| load_from("it", &packed[..], &options));
    assert_eq!(loaded.unwrap().entries, 0);
    assert!(held < 4 << 20, "{held} bytes for 31 MB of comments");
}

#[test]
fn a_header_with_huge_sizes_allocates_no_memory() {
    let _alone = alone();
    for text in [
        "p edge 4294967295 0\n",
        "p edge 4294967295 1\ne 1 2\n",
        "p edge 2 18446744073709551615\ne 1 2\n",
        "%%MatrixMarket matrix coordinate pattern general\n4294967295 4294967295 1\n1 1\n",
        "%%MatrixMarket matrix coordinate pattern general\n4 4 99999999999\n1 1\n",
        "4000000000 0\n",
    ] {
        let (result, held) = most_held(|| load_from("it", text.as_bytes(), &Options::new()));
        assert!(result.is_err());
        assert!(held < 64 << 10, "{held} bytes for {text:?}");
        let (result, held) = most_held(|| load_weighted_from("it", text.as_bytes(), &Options::new()));
        assert!(result.is_err());
        assert!(held < 64 << 10, "{held} bytes for {text:?}");
    }
}

/// The allocator of this program refuses more than a gigabyte at once.
#[test]
fn a_graph_that_does_not_fit_the_memory_is_an_error() {
    let _alone = alone();
    let options = Options::new().allow_isolated(true);
    let text = "p sp 4000000000 1\na 1 2 3\n";
    let expected = "it: there is no memory for a graph of 4000000000 vertices and 1 arcs";
    assert_eq!(load_from("it", text.as_bytes(), &options).unwrap_err().to_string(), expected);
    assert_eq!(load_weighted_from("it", text.as_bytes(), &options).unwrap_err().to_string(), expected);
    let error = generate::star(4_000_000_000).unwrap_err();
    assert_eq!(error.to_string(), "there is no memory for 4000000000 edges; ask for a smaller graph");
}

/// The test can fail: it catches a reader that believes its header.
#[test]
fn the_test_notices_a_reader_that_trusts_its_header() {
    let _alone = alone();
    let text = "p edge 40000000 1\ne 1 2\n";
    let believe = |text: &str| -> usize {
        let vertices = text.split(' ').nth(2).unwrap().parse().unwrap();
        let offsets: Vec<u32> = vec![0; vertices];
        std::hint::black_box(&offsets).len()
    };
    let (vertices, held) = most_held(|| believe(text));
    // Memory that the test runner frees meanwhile lowers the count.
    assert!(held + AT_ALL > 4 * vertices, "{held} bytes for {vertices} vertices");
    assert!(!within(held, text.len(), false, true) && !within(held, text.len(), true, true));
}
