//! Pages from made-up figures: with everything, with nothing, and the texts about both.

use std::collections::BTreeSet;

use super::super::collect::balance::{Balance, Piece, StrategyRun};
use super::super::collect::plan::Amount;
use super::super::collect::timeline::{Bar, Steal, Timeline};
use super::super::collect::{Models, Results};
use super::super::page::describe::describe;
use super::super::page::{self, Item, Page};
use super::*;
use crate::bench::synthetic;
use crate::chart::Chart;
use crate::claims::{Figures, Holds, MISSING};
use crate::lab::{fences, litmus, store_buffer};
use crate::verify::Summary;

/// Returns results in which no suite ran.
pub(super) fn nothing() -> Results {
    Results {
        machine: crate::figures::tests::machine(),
        date: "1 January 2026, 12:00".to_owned(),
        ..Results::new(Amount::Quick, Vec::new())
    }
}

/// Returns results in which everything was measured, with the suites' real names.
pub(in crate::report) fn everything() -> Results {
    let mut suites = synthetic::figures();
    suites.insert(fences::SUITE, synthetic::suite(&["fence", "wake"], &["machine"], |_| vec!["ns/op"]));
    Results {
        suites,
        other_machines: Some(0.01),
        other_processes: Some(0.02),
        store_buffer: Some(curve()),
        litmus: Some(sweep()),
        models: Some(models()),
        timeline: Some(run()),
        balance: Some(balance()),
        ..nothing()
    }
}

fn curve() -> store_buffer::Curve {
    let point = |stores: usize| {
        let median = 100.0 + 3.0 * stores.saturating_sub(72) as f64;
        store_buffer::Point { stores, median, low: median - 1.0, high: median + 1.0 }
    };
    let knee = Some(store_buffer::Knee { entries: 72, confidence: 0.97 });
    store_buffer::Curve { core: "all", points: (8..=120).map(point).collect(), knee }
}

fn sweep() -> litmus::Sweep {
    let supposed = 73;
    let mut points = Vec::new();
    for stores in [0, 1, 2, 3, 5, 8, 11, 17, 23, 35] {
        for delta in 1..=80 {
            let wrong = stores == 0 || delta * (stores + 1) < 67;
            let placement = litmus::Placement::DifferentCores;
            points.push(litmus::Point { stores, delta, placement, runs: 1_000, incorrect: if wrong { 7 } else { 0 } });
        }
    }
    litmus::Sweep { supposed, points, largest_violation: Some(66), verdict: litmus::Verdict::Stands }
}

fn models() -> Models {
    let line = |model, hold, refuted| {
        let searches = hold + refuted;
        Summary { model, searches, states: 12_345, hold, refuted, unexpected: 0 }
    };
    Models { lines: vec![line("chase_lev", 40, 3), line("bulk", 15, 0), line("bulk/published", 0, 5)], listed: 63 }
}

fn run() -> Timeline {
    let bar = |kind, start: f64, end: f64, depth| Bar { kind, start, end, depth };
    let lanes = vec![
        vec![bar("job", 0.0, 900.0, 0), bar("share", 40.0, 42.0, 1)],
        vec![bar("raid", 20.0, 50.0, 0), bar("stolen", 60.0, 800.0, 0)],
    ];
    Timeline { what: "fib(30)".to_owned(), lanes, steals: vec![Steal { victim: 0, thief: 1, at: 60.0 }] }
}

fn balance() -> Balance {
    let piece = |start, end, stolen| Piece { start, end, stolen };
    let run = |name, other: Vec<Piece>, total, utilisation| StrategyRun {
        name,
        workers: vec![vec![piece(0.0, total, false)], other],
        total,
        utilisation,
        utilisations: vec![utilisation; 5],
    };
    let divided = run("static", vec![piece(0.0, 5.0, false)], 35.0, 0.57);
    let stolen = run("stealing", vec![piece(0.0, 5.0, false), piece(5.1, 20.0, true)], 20.0, 0.98);
    Balance { what: "Forty pieces, the last of them long".to_owned(), runs: vec![divided, stolen] }
}

/// Returns every text of a page that is not a name.
fn texts(page: &Page) -> Vec<String> {
    let mut texts: Vec<String> = page.notices.clone();
    texts.extend(page.facts.iter().map(|(name, value)| format!("{name}: {value}")));
    texts.extend(page.verdicts.iter().flat_map(|verdict| [verdict.claim.clone(), verdict.measured.clone()]));
    texts.extend(page.answers.iter().map(|answer| answer.sentence.clone()));
    for item in items(page) {
        match item {
            Item::Text(text) => texts.push(text.clone()),
            Item::Table(of, table) => {
                texts.push(format!("{}. {}", of.title, of.caption));
                texts.extend(table.rows.iter().flatten().map(|cell| format!("{cell:?}")));
            }
            Item::Figure(of, chart) => {
                texts.extend([of.caption.clone(), format!("{}. {}", of.title, describe(chart))]);
            }
            Item::Timeline(of, _) => texts.push(of.caption.clone()),
        }
    }
    texts
}

fn items(page: &Page) -> impl Iterator<Item = &Item> {
    page.sections.iter().flat_map(|section| &section.items)
}

/// Whether a word is the printed form of a value that is not a number.
fn has_no_number(text: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || "(),;:".contains(letter);
    text.split(ends).any(|word| ["NaN", "inf", "-inf"].contains(&word))
}

#[test]
fn with_everything_measured_nothing_is_missing() {
    let page = page(&everything());
    for text in texts(&page) {
        assert!(!text.to_lowercase().contains("not measured"), "{text}");
        assert!(!has_no_number(&text), "{text}");
    }
    for verdict in &page.verdicts {
        assert_ne!(verdict.holds, Holds::NotMeasured, "{}", verdict.claim);
    }
    assert_eq!(items(&page).filter(|item| !matches!(item, Item::Text(_))).count(), 53);
}

#[test]
fn every_requested_name_exists_in_a_suite() {
    let results = everything();
    MISSING.take();
    page(&results);
    assert_eq!(MISSING.take(), BTreeSet::new());
}

#[test]
fn every_series_has_a_bar_for_each_group() {
    for item in items(&page(&everything())) {
        if let Item::Figure(texts, Chart::Bars(bars)) = item {
            assert!(bars.series.iter().all(|series| series.bars.len() == bars.groups.len()), "{}", texts.id);
        }
    }
}

#[test]
fn with_nothing_measured_there_are_sentences() {
    let page = page(&nothing());
    for item in items(&page) {
        assert!(matches!(item, Item::Text(_)), "{item:?}");
    }
    for verdict in &page.verdicts {
        assert_eq!(verdict.holds, Holds::NotMeasured, "{}", verdict.claim);
    }
    for section in &page.sections {
        let is_missing =
            |item: &Item| matches!(item, Item::Text(text) if text.contains("not measured in this run. `cargo run"));
        assert!(section.items.iter().any(is_missing), "{}", section.id);
    }
    assert!(!texts(&page).iter().any(|text| has_no_number(text)));
}

#[test]
fn figures_without_samples_count_as_missing() {
    let mut results = everything();
    for series in results.suites.values_mut().flatten() {
        series.samples.clear();
    }
    results.suites.values_mut().flatten().next().unwrap().samples = vec![f64::NAN];
    let page = page(&results);
    assert!(!texts(&page).iter().any(|text| has_no_number(text)));
    assert!(page.verdicts.iter().any(|verdict| verdict.holds == Holds::NotMeasured));
}

#[test]
fn zeros_make_no_infinite_ratios() {
    let mut results = everything();
    for series in results.suites.values_mut().flatten() {
        series.samples.iter_mut().for_each(|sample| *sample = 0.0);
    }
    for text in texts(&page(&results)) {
        assert!(!has_no_number(&text), "{text}");
    }
}

#[test]
fn claims_of_papers_come_first() {
    let page = page(&nothing());
    let first_of_filch = page.verdicts.iter().position(|verdict| verdict.source.is_filch()).unwrap();
    assert!(first_of_filch > 0);
    assert!(page.verdicts[first_of_filch..].iter().all(|verdict| verdict.source.is_filch()));
}

#[test]
fn rows_are_as_long_as_their_headers() {
    for item in items(&page(&everything())) {
        if let Item::Table(texts, table) = item {
            assert!(!table.rows.is_empty(), "{}", texts.id);
            assert!(table.header.iter().all(|name| !name.is_empty()), "{}", texts.id);
            assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{}", texts.id);
        }
    }
}

#[test]
fn captions_are_short_enough_to_be_read() {
    for text in texts(&page(&everything())).iter().filter(|text| !text.contains(". Bars, ")) {
        assert!(text.len() <= 500, "{} letters: {text}", text.len());
    }
}

/// Returns the claims that `filch-lab bench` prints, each after its verdict.
fn printed(suite: &str, figures: Figures<'_>) -> Vec<(String, String)> {
    let indent = format!("\n{:17}", "");
    let text = bench::claims_of(suite, figures).replace(&indent, " ");
    let rows = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_at_checked(15));
    let claims = rows.filter(|(name, _)| !name.starts_with(' '));
    claims.map(|(verdict, claim)| (verdict.trim().to_owned(), claim.replace('`', ""))).collect()
}

/// Returns the text of each row of the page's tables of verdicts, after the symbol.
fn rows(page: &Page) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    page::write(folder.path(), page).unwrap();
    let html = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let text = |row: &str| row.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect::<String>();
    let rows = html.split("<tr role=\"row\" id=").skip(1).map(|row| row.split("</tr>").next().unwrap());
    rows.map(|row| text(row).chars().skip(1).collect()).collect()
}

#[test]
fn the_text_of_a_suite_and_the_page_have_the_same_verdicts() {
    let whole = everything();
    let mut few_rounds = Results { interrupted: true, ..everything() };
    few_rounds.suites.values_mut().flatten().for_each(|series| series.samples.truncate(2));
    let mut verdicts = BTreeSet::new();
    for results in [whole, few_rounds] {
        let page = page(&results);
        let rows = rows(&page);
        assert_eq!(rows.len(), page.verdicts.len());
        for (suite, of_suite) in bench::CLAIMS {
            let printed = printed(suite, results.figures(suite));
            assert_eq!(printed.len(), of_suite(results.figures(suite)).len(), "{suite}");
            // No report measures MPI.
            for (verdict, claim) in printed.into_iter().filter(|_| suite != mpi::SUITE) {
                let start = format!("{verdict}{claim}");
                assert_eq!(rows.iter().filter(|row| row.starts_with(&start)).count(), 1, "{start}");
                verdicts.insert(verdict);
            }
        }
    }
    assert_eq!(verdicts.into_iter().collect::<Vec<_>>(), ["does not hold", "holds", "unclear"]);
}

#[test]
fn no_claim_is_listed_twice() {
    let page = page(&nothing());
    let claims: BTreeSet<&str> = page.verdicts.iter().map(|verdict| &*verdict.claim).collect();
    assert_eq!(claims.len(), page.verdicts.len());
}
