//! A page with an item of every kind, and properties of any page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::chart::samples as charts;
use crate::claims::{Holds, Source};
use crate::report::collect::timeline::{Bar, Steal};

/// Returns a page with an item of every kind, and characters that need escaping.
pub(in crate::report) fn sample_page() -> Page {
    let figure = |id, title: &str, chart| {
        let caption = "With one thread, THEP saves the fence of every pop. The paper has 7 to 11 % over the suite, and up to 23 %.";
        Item::Figure(Texts::new(id, title, caption, "cargo run --release -- bench cilk --threads 1"), chart)
    };
    let verdict = |title, claim: &str, measured: &str, holds, section| Verdict {
        source: Source { title, section },
        claim: claim.to_owned(),
        measured: measured.to_owned(),
        required: "at least 1".to_owned(),
        holds,
    };
    let answer = |question, sentence: &str, times: &[(&'static str, f64)]| Answer {
        question,
        sentence: sentence.to_owned(),
        unit: "ns",
        times: times
            .iter()
            .map(|&(name, value)| (name, Estimate { value, low: 0.9 * value, high: 1.1 * value }))
            .collect(),
        section: "tables",
    };
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Page {
        facts: vec![
            fact("Machine", "Intel Xeon (Ice Lake) at 2.80 GHz, 2 cores"),
            fact("System", "Linux 6.1.0-18-amd64"),
            fact("Compiler", "rustc 1.90.0"),
            fact("filch", "0.1.0, commit 0123456789ab"),
            fact("When", "2026-03-01 12:00 UTC, 2 minutes 41 seconds"),
            fact("CPU time of other processes", "3.0 %"),
        ],
        notices: vec![
            "This is a quick run with few rounds and small inputs. `cargo run --release -- report --full` measures everything."
                .to_owned(),
            "The C++ peers were left out: <no compiler> was found.".to_owned(),
        ],
        answers: vec![
            answer("A join", "A join takes 2.10 ns on one thread, 3.90 times as fast as rayon's.", &[("filch", 2.1), ("rayon", 8.2)]),
            answer("A task of a scope", "A task of a scope: not measured in this run. `cargo run --release -- bench rayon` measures it.", &[]),
        ],
        verdicts: vec![
            verdict("Bounded TSO", "THEP is at least 5 % faster than THE on fine-grained programs, one thread", "9.3 % (7.1 to 11.0)", Holds::Yes, "bounded-tso"),
            verdict("Bounded TSO", "The bound S is the store buffer's capacity plus one", "knee at 72 stores, so S = 73; no violation above", Holds::Yes, "bounded-tso"),
            verdict("Idempotent", "Idempotent queues beat Chase-Lev on spanning trees", "1.02 times as fast (0.97 to 1.08)", Holds::Unclear, "tables"),
            verdict("filch", "`filch` is better than rayon on every program", "worse on heat: 1.04 (1.01 to 1.06)", Holds::No, "tables"),
            verdict("Bulk", "Stealing half at once scales to 64 cores", "this machine has 2", Holds::NotMeasured, "tables"),
        ],
        sections: vec![
            Section {
                id: "bounded-tso",
                title: "Fence-free work stealing on bounded TSO".to_owned(),
                items: vec![
                    Item::Text("A pop needs a fence, unless the thief knows how many stores a load may overtake: `S`. Loads & stores <b>reorder</b>.".to_owned()),
                    figure("columns", "Cost of the fence", charts::bars(4, 3)),
                    figure("programs", "Figure 10, one thread", charts::bars(10, 4)),
                    figure("knee", "The store buffer of this machine", charts::knee()),
                    figure("sweep", "Correct and incorrect runs by delta", charts::sweep()),
                ],
            },
            Section {
                id: "tables",
                title: "Fork and join, compared with rayon and chili".to_owned(),
                items: vec![sample_table("joins"), figure("panels", "All contenders", charts::bars(14, 15))],
            },
            Section {
                id: "bulk-queue",
                title: "Bulk operations".to_owned(),
                items: vec![figure("logarithmic", "Pushing batches", charts::logarithmic())],
            },
            Section {
                id: "runs",
                title: "A timeline".to_owned(),
                items: vec![
                    figure("balance", "Static division and stealing", charts::balance()),
                    Item::Timeline(
                        Texts::new(
                            "run",
                            "quicksort of a million numbers",
                            "Two workers. The second begins with a steal.",
                            "cargo run --release -- report",
                        ),
                        sample_timeline(),
                    ),
                ],
            },
        ],
    }
}

fn sample_table(id: &'static str) -> Item {
    let row = |name: &str, time: f64, ratio: Option<f64>| {
        let ratio = ratio.map_or(Cell::Empty, |ratio| Cell::Number(ratio, format!("{ratio:.2}")));
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(time, format!("{time:.1}")),
            ratio,
            Cell::Text("fib-38".to_owned()),
        ]
    };
    let table = Table {
        header: ["", "ns/join", "/ rayon", "Program"].map(str::to_owned).to_vec(),
        rows: vec![
            row("rayon", 9.5, Some(1.0)),
            row("filch", 2.1, Some(0.22)),
            row("chili", 10.25, Some(1.08)),
            row("serial, <not inlined>", 3.4, None),
            row("filch-worker", 1.9, Some(0.2)),
        ],
    };
    let command = "cargo run --release -- bench fork-join --threads 2";
    Item::Table(Texts::new(id, "Nanoseconds per `join`", "Two threads.", command), table)
}

/// Returns a tree of jobs on each of two workers.
pub(in crate::report) fn sample_timeline() -> Timeline {
    fn divide(bars: &mut Vec<Bar>, kind: &'static str, start: f64, end: f64, depth: usize) {
        bars.push(Bar { kind, start, end, depth });
        if depth < 8 && end - start > 2.0 {
            let middle = start + (end - start) * (0.35 + 0.3 * ((depth * 7 % 5) as f64 / 5.0));
            divide(bars, "job", start + 0.3, middle, depth + 1);
            divide(bars, "job", middle + 0.1, end - 0.2, depth + 1);
        }
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    divide(&mut first, "job", 0.0, 1000.0, 0);
    second.push(Bar { kind: "sleep", start: 0.0, end: 28.0, depth: 0 });
    let mut steals = Vec::new();
    for (start, end) in [(30.0, 480.0), (485.0, 700.0), (710.0, 930.0), (934.0, 990.0)] {
        second.push(Bar { kind: "raid", start: start - 2.0, end: start, depth: 0 });
        divide(&mut second, "stolen", start, end, 0);
        steals.push(Steal { victim: 0, thief: 1, at: start });
    }
    steals.push(Steal { victim: 1, thief: 0, at: 600.0 });
    Timeline { what: "quicksort-1m".to_owned(), lanes: vec![first, second], steals }
}

fn sample_html() -> String {
    document::html(&sample_page()).unwrap()
}

/// Returns the values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_element_is_closed() {
    let html = sample_html();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut open: Vec<&str> = Vec::new();
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') || matches!(open.last(), Some(&("script" | "style"))), "{}", &rest[..at]);
        rest = &rest[at + 1..];
        if let Some(&raw @ ("script" | "style")) = open.last() {
            // The content of these elements is not markup until they end.
            if !rest.starts_with(&format!("/{raw}>")) {
                continue;
            }
        }
        let end = rest.find('>').expect("a tag without an end");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "before {}", &rest[..rest.len().min(80)]);
        } else if !tag.ends_with('/') && !["meta", "link", "br"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_reference_has_a_target_and_ids_are_unique() {
    let html = sample_html();
    let ids = values(&html, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    for own in document::RESERVED_IDS.iter().filter(|own| **own != "said") {
        assert!(unique.contains(own), "{own}");
    }
    for attribute in ["aria-labelledby", "aria-describedby", "aria-controls", "data-copies", "data-shows", "data-holds"]
    {
        let named = values(&html, attribute);
        assert!(!named.is_empty(), "{attribute}");
        for id in named {
            assert!(unique.contains(id), "{attribute} names {id}");
        }
    }
    for anchor in values(&html, "href").into_iter().filter_map(|href| href.strip_prefix('#')) {
        assert!(unique.contains(anchor), "{anchor}");
    }
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let html = sample_html();
    assert!(values(&html, "src").is_empty());
    for href in values(&html, "href") {
        let near = ["#", "data:text/csv", "data:image/svg+xml", "plots/", "data/"];
        assert!(near.iter().any(|start| href.starts_with(start)), "{href}");
    }
    for word in ["@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn texts_are_escaped() {
    let html = sample_html();
    assert!(html.contains("Loads &amp; stores &lt;b&gt;reorder&lt;/b&gt;") && !html.contains("<b>"));
    assert!(html.contains("&lt;no compiler&gt;") && html.contains("serial, &lt;not inlined&gt;"));
    let mut page = sample_page();
    for section in &mut page.sections {
        section.title = "</script><script>alert(1)</script>".to_owned();
    }
    assert!(!document::html(&page).unwrap().contains("<script>alert"));
}

#[test]
fn headings_come_in_order_and_every_table_has_a_caption() {
    let html = sample_html();
    assert_eq!(html.matches("<h1").count(), 1);
    let mut level = 0;
    for start in html.match_indices("<h").map(|(at, _)| at) {
        let Some(next) = html[start + 2..].chars().next().and_then(|c| c.to_digit(10)) else { continue };
        assert!(next <= level + 1, "h{next} after h{level}");
        level = next;
    }
    assert!(html.contains("<span class=\"hidden\">Name</span>"), "the heading without text");
    let body = &html[html.find("<body>").unwrap()..html.find("<p id=\"said\"").unwrap()];
    assert_eq!(body.matches("<table").count(), body.matches("<caption").count());
    for landmark in ["<header", "<nav", "<main", "<footer"] {
        assert_eq!(body.matches(landmark).count(), 1, "{landmark}");
    }
}

#[test]
fn a_verdict_has_a_word_and_a_symbol() {
    let html = sample_html();
    for (word, symbol) in [("holds", "✓"), ("does not hold", "✗"), ("unclear", "?"), ("not measured", "–")] {
        assert!(html.contains(&format!("aria-hidden=\"true\">{symbol}</span>{word}</span>")), "{word}");
    }
    assert!(html.contains("<strong>2</strong> claims hold"));
}

#[test]
fn a_timeline_is_encoded_in_differences_of_nanoseconds() {
    let bar = |kind, start, end, depth| Bar { kind, start, end, depth };
    // Not in order, and with a steal by a worker that does not exist.
    let first = vec![bar("job", 1.5, 2.0, 1), bar("job", 1.0, 3.0, 0)];
    let steals = vec![Steal { victim: 0, thief: 1, at: 2.5 }, Steal { victim: 0, thief: 7, at: 2.5 }];
    let timeline =
        Timeline { what: String::new(), lanes: vec![first, vec![bar("stolen", 2.5, 2.75, 0)], Vec::new()], steals };
    assert_eq!(
        super::timeline::json(&timeline),
        r#"{"kinds":["job","stolen"],"lanes":[[0,1000,2000,0,0,500,500,1],[1,2500,250,0],[]],"steals":[0,1,2500]}"#
    );
}

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_page_is_written_with_its_plots_and_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("new/report");
    write(&report, &sample_page()).unwrap();
    assert_eq!(listing(&report), ["data", "index.html", "plots"]);
    assert_eq!(listing(&report.join("plots")).len(), 7 + 1);
    assert_eq!(listing(&report.join("data")).len(), 8 + 1 + 1);
    let html = fs::read_to_string(report.join("index.html")).unwrap();
    for href in values(&html, "href").into_iter().filter(|href| href.starts_with("plots/") || href.starts_with("data/"))
    {
        assert!(report.join(href).is_file(), "{href}");
    }
    let csv = fs::read_to_string(report.join("data/joins.csv")).unwrap();
    assert_eq!(csv.lines().nth(4), Some("\"serial, <not inlined>\",3.4,,fib-38"));
    // On a smaller page, unreferenced files are removed, and files that were never the page's stay.
    fs::write(report.join("data/mine.csv"), "").unwrap();
    let mut less = sample_page();
    less.sections[1].items.truncate(1);
    write(&report, &less).unwrap();
    assert!(!report.join("plots/panels.svg").exists() && !report.join("data/panels.csv").exists());
    assert!(report.join("data/joins.csv").exists() && report.join("data/mine.csv").exists());
    // A page of the user: the files that it names belong to the user too.
    let own = "<title>Mine</title><a href=\"plots/mine.svg\">a plot</a>";
    fs::write(report.join("plots/mine.svg"), "").unwrap();
    fs::write(report.join("index.html"), own).unwrap();
    write(&report, &sample_page()).unwrap();
    assert!(report.join("plots/mine.svg").exists());
    assert_eq!(fs::read_to_string(report.join("index.html")).unwrap(), html);
}

#[test]
fn a_failed_write_leaves_the_old_page() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path();
    fs::write(report.join("index.html"), "old").unwrap();
    // A folder where a plot should be.
    fs::create_dir_all(report.join("plots/knee.svg")).unwrap();
    let refusal = format!("{:#}", write(report, &sample_page()).unwrap_err());
    assert!(refusal.contains("knee.svg") && refusal.contains("it is a folder"), "{refusal}");
    assert_eq!(fs::read_to_string(report.join("index.html")).unwrap(), "old");

    let broken: [(&str, fn(&mut Page)); 5] = [
        ("the id 'joins' is used twice", |page| {
            page.sections[0].items.push(sample_table("joins"));
        }),
        ("'../joins' is not a valid id", |page| {
            page.sections[0].items = vec![sample_table("../joins")];
        }),
        ("has 4 columns, but a row with 1", |page| {
            let Item::Table(_, table) = &mut page.sections[1].items[0] else { panic!("it is not a table") };
            table.rows = vec![vec![Cell::Empty]];
        }),
        ("the id 'main' is reserved", |page| page.sections[1].id = "main"),
        ("the section 'bounded-tso', which is not on the page", |page| drop(page.sections.remove(0))),
    ];
    let elsewhere = folder.path().join("elsewhere");
    for (reason, change) in broken {
        let mut page = sample_page();
        change(&mut page);
        let refusal = format!("{:#}", write(&elsewhere, &page).unwrap_err());
        assert!(refusal.contains(reason), "{refusal}");
        assert!(!elsewhere.exists(), "no file is written");
    }
}

#[test]
fn an_empty_page_is_valid() {
    let html = document::html(&Page::default()).unwrap();
    assert!(html.contains("</html>") && !html.contains("Verdicts</h2>"));
}

/// `FILCH_LOOK=folder cargo test -p filch-lab page` writes two pages for inspection: the sample, and
/// all sections with made-up figures.
#[test]
fn pages_are_written_if_requested() {
    let Some(folder) = std::env::var_os("FILCH_LOOK") else { return };
    write(&Path::new(&folder).join("sample"), &sample_page()).unwrap();
    let everything = crate::report::sections::page(&crate::report::sections::tests::everything());
    write(&Path::new(&folder).join("everything"), &everything).unwrap();
}
