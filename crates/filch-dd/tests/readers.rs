//! The readers on good files, damaged files and noise.
//!
//! They never panic, and never take more memory than the bytes they were given can ask for.
//!
//! The tests of this program run one at a time, because they count memory.

#[path = "../../filch-graph/tests/counting/mod.rs"]
mod counting;
#[path = "../../filch-graph/tests/damage/mod.rs"]
mod damage;

use std::io::Write;

use counting::{alone, most_held};
use damage::{damage, damages};
use filch_dd::problems::knapsack::Kind;
use filch_dd::problems::{clique, golomb, independent_set, knapsack, tsptw, unsplittable_flow, ReadError};
use flate2::write::GzEncoder;
use flate2::Compression;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// The memory that a reader may take for each byte of text.
///
/// An item of a knapsack has at least four bytes. It takes 16, three times that while the list of
/// items grows, and then its place in the order and in the sums.
const PER_BYTE: usize = 40;
/// The memory of the most vertices or nodes, if only their number is given.
const AT_ALL: usize = 2 << 20;

fn within(held: usize, bytes: usize) -> bool {
    held <= AT_ALL + bytes * PER_BYTE
}

/// A reader that also writes what it read.
#[derive(Clone, Copy, Debug)]
struct Reader {
    name: &'static str,
    read: fn(&[u8]) -> Result<String, ReadError>,
}

const READERS: [Reader; 6] = [
    Reader { name: "knapsack", read: |bytes| knapsack::read(bytes).map(|sack| sack.text()) },
    Reader { name: "independent set", read: |bytes| independent_set::read(bytes).map(|graph| graph.text()) },
    Reader { name: "clique", read: |bytes| clique::read(bytes).map(|graph| graph.text()) },
    Reader { name: "tsptw", read: |bytes| tsptw::read(bytes).map(|tour| tour.text()) },
    Reader { name: "golomb", read: |bytes| golomb::read(bytes).map(|ruler| ruler.text()) },
    Reader { name: "flow", read: |bytes| unsplittable_flow::read(bytes).map(|network| network.text()) },
];

/// The claim about any bytes at all.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    for reader in READERS {
        let (result, held) = most_held(|| (reader.read)(bytes));
        prop_assert!(within(held, bytes.len()), "{}: {} bytes, but {} were held", reader.name, bytes.len(), held);
        match result {
            Ok(text) => prop_assert_eq!((reader.read)(text.as_bytes()), Ok(text.clone()), "{}", reader.name),
            Err(error) => {
                let sentence = error.in_file("it");
                prop_assert!(sentence.starts_with("it:"), "{}", sentence);
                prop_assert!(sentence.len() < 500 && !sentence.contains(char::is_control), "{:?}", sentence);
                if let Some(line) = error.line() {
                    let lines = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                    prop_assert!((1..=lines).contains(&line));
                }
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

/// Returns an instance of each problem as a file.
///
/// Line ends and gaps come in all kinds.
fn written() -> impl Strategy<Value = (Reader, Vec<u8>)> {
    (0..READERS.len(), 1..12usize, any::<u64>(), 0..9usize).prop_map(|(at, size, seed, style)| {
        let text = match at {
            0 => {
                let kind = [Kind::Uncorrelated, Kind::Weakly, Kind::Strongly, Kind::SubsetSum][style % 4];
                let mut text = knapsack::random(size, 1000, kind, seed).text();
                if style % 2 == 0 {
                    text += &"1 0 ".repeat(size)[..2 * size];
                }
                text
            }
            1 | 2 => independent_set::random(size, 500, 1 + style as i64, seed).text(),
            3 => {
                let tour = tsptw::random(size, 100, 30, seed);
                let text = tour.text();
                if style % 2 == 0 {
                    text.replace('\n', ".50\n")
                } else {
                    text
                }
            }
            4 => golomb::Golomb::new(size).unwrap().text(),
            _ => unsplittable_flow::random(2 + size % 3, 1 + size % 4, 500, 9, seed).text(),
        };
        // The number of places must stay an integer.
        let text = if at == 3 { text.replacen(".50", "", 1) } else { text };
        let text = text.replace('\n', ["\n", "\r\n", " \n\n"][style % 3]);
        (READERS[at], text.replace(' ', [" ", "\t", "  "][style / 3]).into_bytes())
    })
}

/// Words that are inserted into a file.
const WORDS: [&str; 36] = [
    "0",
    "1",
    "9",
    "-1",
    " 1",
    "1 ",
    "256",
    "257",
    "32768",
    "32769",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "1000000000000000000000000000000000000000000",
    "nan",
    "1e9",
    "0.5",
    ".",
    " ",
    "\n",
    "\r",
    "\t",
    "#",
    "c",
    "\np edge 32768 0\n",
    "\np flow 4096 65536\n",
    "\n\n",
    "\0",
    "-",
    "+",
    "\u{feff}",
    "\x1b[2J",
];

/// Pieces of all formats in any order: noise that gets further than random bytes do.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "p edge 3 2\n",
        "p col 32768 0\n",
        "p flow 3 1\n",
        "p flow 4096 65536\n",
        "e 1 2\n",
        "e ",
        "n 1 5\n",
        "n ",
        "c x\n",
        "s 1 5\n",
        "t 3 2\n",
        "u 2\n",
        "a 1 2 3\n",
        "a ",
        "2 10\n",
        "3\n",
        "2\n",
        "1 2\n",
        "0 1\n",
        "1 0\n",
        "0 1 0\n",
        "5 5\n",
        "0.5 7\n",
        "1 1 1\n",
    ];
    let all: Vec<&'static str> = pieces.into_iter().chain(WORDS).collect();
    prop::collection::vec(select(all), 0..40).prop_map(|words| words.concat().into_bytes())
}

#[test]
fn what_is_written_is_read() {
    run(500, written(), |(reader, bytes)| {
        let text = (reader.read)(&bytes).map_err(|error| {
            TestCaseError::fail(format!("{}: {error} in {}", reader.name, String::from_utf8_lossy(&bytes)))
        })?;
        prop_assert!(!text.is_empty());
        check(&bytes)
    });
}

#[test]
fn a_graph_may_be_compressed() {
    let _alone = alone();
    let graph = independent_set::random(50, 500, 9, 1);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(graph.text().as_bytes()).unwrap();
    assert_eq!(independent_set::read(&packed.finish().unwrap()), Ok(graph));
}

#[test]
fn damaged_files_are_read_or_refused() {
    run(3000, (written(), prop::collection::vec(damages(&WORDS), 1..6)), |((_, mut bytes), damages)| {
        damages.iter().for_each(|one| damage(&mut bytes, one));
        check(&bytes)
    });
}

#[test]
fn noise_is_refused_or_read() {
    let noise = prop_oneof![prop::collection::vec(any::<u8>(), 0..300), pieces(), pieces()];
    run(4000, noise, |noise| check(&noise));
}

/// Files so large that a constant does not hide the cost of a byte.
#[test]
fn large_files_stay_within_their_bounds_too() {
    let _alone = alone();
    let sack = format!("200000 9\n{}", "1 1\n".repeat(200_000));
    let graph = format!("p edge 9 1\n{}", "e 1 2\n".repeat(150_000));
    let network = format!("p flow 9 65536\n{}", "a 1 2 3\n".repeat(65_536));
    let tour = format!("256\n{}{}", format!("{}\n", "1 ".repeat(256)).repeat(256), "0 9\n".repeat(256));
    for text in [sack, graph, network, tour, "\n".repeat(1_000_000), "c\n".repeat(500_000)] {
        let read = READERS.iter().filter(|reader| (reader.read)(text.as_bytes()).is_ok()).count();
        assert!(read > 0 || text.starts_with(['\n', 'c']));
        check(text.as_bytes()).unwrap();
    }
}

#[test]
fn a_header_that_asks_for_much_is_not_believed() {
    let _alone = alone();
    for text in [
        "4294967295 7\n1 1\n",
        "p edge 32768 9223372036854775807\n",
        "p edge 4294967295 0\n",
        "p flow 4096 65536\n",
        "p flow 4294967295 1\n",
        "256\n0\n",
        "4000000000\n",
    ] {
        for reader in READERS {
            let (result, held) = most_held(|| (reader.read)(text.as_bytes()));
            assert!(result.is_err(), "{}: {text:?}", reader.name);
            assert!(held < AT_ALL, "{}: {held} bytes for {text:?}", reader.name);
        }
    }
}

/// The test can fail: it catches a reader that trusts its header.
#[test]
fn a_reader_that_believes_its_header_is_caught() {
    let _alone = alone();
    let text = "40000000 1\n1 1\n";
    let believe = |text: &str| -> usize {
        let items = text.split(' ').next().unwrap().parse().unwrap();
        let list: Vec<u64> = Vec::with_capacity(items);
        std::hint::black_box(&list).capacity()
    };
    let (_, held) = most_held(|| believe(text));
    assert!(!within(held, text.len()));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let _alone = alone();
    let [sack, set, _, tour, ruler, flow] = READERS;
    for (reader, text, sentence) in [
        (sack, "", "it:1: expected the line with the number of items and the capacity, found the end of the file"),
        (sack, "2\n", "it:1: expected the capacity of the sack, found the end of the line"),
        (sack, "2 -7\n", "it:1: expected the capacity of the sack, which is not negative, found \"-7\""),
        (sack, "2 7\n1 1\n", "it:1: expected 2 items, as this line says, found 1"),
        (sack, "1 7\n1 1\n1 1\n", "it:3: expected the end of the file, or a 0 or a 1 for each of 1 item, found \"1\""),
        (sack, "1 7\n1 1\n2 1\n", "it:3: expected the end of the file, or a 0 or a 1 for each of 1 item, found \"2\""),
        (sack, "3 7\n1 1\n1 1\n1 1\n1 0\n", "it:5: expected a 0 or a 1 for each of 3 items, found the end of the file"),
        (sack, "1 7\n1 1 1\n", "it:2: expected the end of the line after the profit and the weight of the item, found \"1\""),
        (sack, "1 7\n9223372036854775808 1\n", "it:2: expected the profit of the item, which is at most 9223372036854775807, found \"9223372036854775808\""),
        (sack, "2 7\n4000000000000000000 1\n4000000000000000000 1\n", "it: the profits of the items come to more than 2305843009213693952 together, which could overflow"),
        (sack, "1 7\n\0", "it:2: expected text, found a zero byte"),
        (set, "e 1 2\n", "it:1: expected the `p` line before all others, except comments (`c`), found \"e 1 2\""),
        (set, "c only\n", "it:1: expected a `p` line, found the end of the file"),
        (set, "p sp 2 1\na 1 2 3\n", "it: expected `p edge` or `p col`, found `p sp`"),
        (set, "p edge 2 1\ne 1 3\n", "it:2: expected vertices from 1 to 2, as the header says, found \"e 1 3\""),
        (set, "p edge 2 1\ne 0 1\n", "it:2: expected vertices from 1 to 2, as the header says, found \"e 0 1\""),
        (set, "p edge 2 1\r\n\r\ne 2 2\r\n", "it:3: expected an edge between two vertices, found \"e 2 2\""),
        (set, "p edge 2 2\ne 1 2\n", "it:1: expected 2 entries, as the header says, found 1"),
        (set, "p edge 2 0\nn 1 -4\n", "it:2: expected `n`, a vertex and its weight, a whole number from 0, found \"n 1 -4\""),
        (set, "p edge 2 0\nn 1 4\nn 1 5\n", "it:3: expected one weight for each vertex, found \"n 1 5\""),
        (set, "p edge 2 0\ns 1 2\n", "it:2: expected `e` and two vertices, found \"s 1 2\""),
        (set, "p edge 2 0\np edge 2 0\n", "it:2: expected only one `p` line, found \"p edge 2 0\""),
        (tour, "0\n", "it:1: expected the number of places, which is at least 1, found \"0\""),
        (tour, "2\n0 1\n1\n", "it:3: expected the distance from place 2 to place 2, found the end of the line"),
        (tour, "1\n0\n7.5 7.25\n", "it:3: expected the window of place 1 to close after it opens, found the reverse"),
        (tour, "1\n0\n", "it:2: expected the window of place 1 of 1, found the end of the file"),
        (tour, "1\n0\n0 7\n3\n", "it:4: expected the end of the file after the windows of all 1 places, found \"3\""),
        (tour, "1\n0\n-5 7\n", "it:3: expected the time that the window of place 1 opens, which is not negative, found \"-5\""),
        (tour, "1\n0\n0 9223372036854775807\n", "it: the times and distances are so large that sums of them could overflow"),
        (tour, "1\n0\n0.000000001 9223372036854775\n", "it: expected numbers with 9 decimals to fit in 64 bits, found larger ones"),
        (ruler, "# nothing\n", "it:1: expected the number of marks, found the end of the file"),
        (ruler, "17\n", "it:1: expected the number of marks, which is at most 16, found \"17\""),
        (ruler, "3\n4\n", "it:2: expected the end of the file after the number of marks, found \"4\""),
        (flow, "p flow 2 1\na 2 1 5\n", "it:2: expected an arc to a higher node, found one from 2 to 1"),
        (flow, "p flow 2 1\na 1 2 5\na 1 2 5\n", "it:3: expected only 1 arc, as the `p` line says, found another one"),
        (flow, "p flow 2 2\na 1 2 5\n", "it:1: expected 2 arcs, as the `p` line says, found 1"),
        (flow, "p flow 2 1\ns 1 3\ns 1 4\na 1 2 5\n", "it:3: expected one number as the supply of this node, found 3 and 4"),
        (flow, "p flow 2 1\ns 2 3\na 1 2 5\n", "it: node 2 has a supply, but an arc leads to it, so it is no source"),
        (flow, "p flow 2 1\nt 1 3\na 1 2 5\n", "it: node 1 has a value, but an arc leads away from it, so it is no sink"),
        (flow, "p flow 2 1\nu 2\na 1 2 5\n", "it: node 2 is chosen, but has no arcs to match: there must be some that lead to it and some that lead away"),
    ] {
        assert_eq!((reader.read)(text.as_bytes()).unwrap_err().in_file("it"), sentence, "{text:?}");
    }
}
