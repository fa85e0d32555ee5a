//! Pages from made-up figures: with everything, with nothing, and the texts about both.

use std::collections::{BTreeMap, BTreeSet};

use super::super::collect::balance::{Balance, Piece, StrategyRun};
use super::super::collect::plan::Amount;
use super::super::collect::timeline::{Bar, Steal, Timeline};
use super::super::collect::{ModelLine, Models, Results};
use super::super::page::{Holds, Item, Page};
use super::*;
use crate::bench::bulk::{NANOS_A_NODE, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL};
use crate::bench::{bulk as bulk_suite, cilk as cilk_suite, fork_join as fork_join_suite, graphs as graphs_suite};
use crate::bench::{queues as queues_suite, rayon as rayon_suite, solver as solver_suite};
use crate::chart::Chart;
use crate::figures::Series;
use crate::lab::{fences, litmus, store_buffer};

/// Returns results in which no suite ran.
pub(super) fn nothing() -> Results {
    Results {
        machine: crate::figures::tests::machine(),
        date: "1 January 2026, 12:00".to_owned(),
        ..Results::new(Amount::Quick, Vec::new())
    }
}

/// What each suite's smoke run must have measured: cases and implementations, by the suite's name.
///
/// CI checks real runs against this list.
fn smoke() -> BTreeMap<&'static str, (Vec<&'static str>, Vec<&'static str>)> {
    let source = include_str!("../../../../../xtask/src/steps/smoke/suites.rs");
    let list = |part: &'static str, start: &str| -> Vec<&'static str> {
        let list = part.split_once(start).and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
        list.split('"').skip(1).step_by(2).collect()
    };
    let suites = source.split("    Suite {").skip(1);
    let named = |part: &'static str| {
        let name = part.split_once("name: \"")?.1.split_once('"')?.0;
        Some((name, (list(part, "cases: &["), list(part, "impls: &["))))
    };
    suites.filter_map(named).collect()
}

fn series(case: &str, name: &'static str, threads: usize, unit: &'static str) -> Series {
    // Figures differ in size, and none is the same in all rounds.
    let base = 1.0 + (case.len() + 3 * name.len() + 5 * threads) as f64 / 7.0;
    let samples = (0..7).map(|round| base * (1.0 + f64::from(round) / 100.0)).collect();
    Series { case: case.to_owned(), name, threads, unit, samples, note: None }
}

/// Returns every case with every name, in all units, with one thread and with two.
fn suite(cases: &[&str], names: &[&'static str], units: impl Fn(&str) -> Vec<&'static str>) -> Vec<Series> {
    let mut all = Vec::new();
    for case in cases {
        for &name in names {
            for unit in units(case) {
                all.extend([1, 2].map(|threads| series(case, name, threads, unit)));
            }
        }
    }
    all
}

/// Returns results in which everything was measured, with the suites' real names.
pub(in crate::report) fn everything() -> Results {
    let smoke = smoke();
    let of = |name: &str, units: &dyn Fn(&str) -> Vec<&'static str>| {
        let (cases, names) = &smoke[name];
        suite(cases, names, units)
    };
    let mut suites = BTreeMap::new();
    let queues = {
        let (cases, names) = &smoke[queues_suite::SUITE];
        let costs = queues_suite::TASK_COSTS.map(|cost| queues_suite::Case::TaskCost(cost).to_string());
        let cases: Vec<&str> = cases.iter().copied().chain(costs.iter().map(|case| &**case)).collect();
        suite(&cases, names, |_| vec![queues_suite::NANOS_AN_OPERATION])
    };
    suites.insert(queues_suite::SUITE, queues);
    suites.insert(fork_join_suite::SUITE, {
        let (cases, names) = &smoke[fork_join_suite::SUITE];
        let names: Vec<&'static str> =
            names.iter().copied().chain([fork_join_suite::SERIAL_PAIR, fork_join_suite::SERIAL_CALL_PAIR]).collect();
        // The smoke run leaves out long cases.
        let long = ["fib-38", "tree-16m", "queens-13", "tick-serial"];
        let cases: Vec<&str> = cases.iter().copied().chain(long).collect();
        let (wide, cases): (Vec<&str>, Vec<&str>) = cases.into_iter().partition(|case| case.starts_with("wide-"));
        let mut all = suite(&cases, &names, |case| match case {
            "idle" => vec![fork_join_suite::POOL_CPU_MILLIS_A_SECOND],
            "tick" | "tick-serial" => vec![fork_join_suite::EXTRA_CPU_MICROS_A_TICK],
            "wake" => vec![fork_join_suite::NANOS_A_WAKE],
            case if case.starts_with("quicksort") => vec![fork_join_suite::MILLIS_A_SORT],
            _ => vec![fork_join_suite::NANOS_A_JOIN],
        });
        for case in wide {
            for name in ["filch", "filch-any", "rayon"] {
                let unit = fork_join_suite::MILLIS_A_RUN;
                all.extend(fork_join_suite::WIDTHS.map(|threads| series(case, name, threads, unit)));
            }
        }
        all
    });
    suites.insert(
        rayon_suite::SUITE,
        of(rayon_suite::SUITE, &|case| match case {
            "idle" => vec![rayon_suite::CPU_MILLIS_A_SECOND],
            "tick" => vec![rayon_suite::EXTRA_CPU_MICROS_A_TICK],
            case if case.starts_with("join") => vec!["ns/join"],
            case if case.starts_with(rayon_suite::OUTSIDE) => {
                vec!["us/call", rayon_suite::P99_MICROS_A_CALL.name, rayon_suite::CPU_MICROS_A_CALL.name]
            }
            _ => vec!["ms/run"],
        }),
    );
    let vertices = [graphs_suite::NANOS_A_VERTEX, graphs_suite::REDUNDANT, graphs_suite::STOLEN];
    suites.insert(graphs_suite::SUITE, of(graphs_suite::SUITE, &|_| vertices.to_vec()));
    suites.insert(bulk_suite::SUITE, {
        // The smoke run has one share, and a report several.
        let (cases, names) = &smoke[bulk_suite::SUITE];
        let steals = [false, true].into_iter().flat_map(|busy| {
            let of = move |fill, percent| bulk_suite::Case::Steal { percent, fill, busy }.to_string();
            bulk_suite::Fill::ALL.into_iter().flat_map(move |fill| bulk_suite::SHARES.map(move |share| of(fill, share)))
        });
        let cases: BTreeSet<String> = cases.iter().map(|&case| case.to_owned()).chain(steals).collect();
        let cases: Vec<&str> = cases.iter().map(|case| &**case).collect();
        suite(&cases, names, |case| match case.split('/').next() {
            Some("push") => vec![NANOS_A_PUSH],
            Some("pop") => vec![NANOS_A_POP],
            Some("steal") => vec![NANOS_A_STEAL],
            _ => vec![NANOS_A_NODE],
        })
    });
    let solver_units = [solver_suite::MILLISECONDS, solver_suite::NODES, solver_suite::PEAK_MEGABYTES];
    suites.insert(solver_suite::SUITE, of(solver_suite::SUITE, &|_| solver_units.to_vec()));
    let cilk_units = [cilk_suite::MILLIS_A_RUN, cilk_suite::STEALS_A_RUN];
    suites.insert(cilk_suite::SUITE, of(cilk_suite::SUITE, &|_| cilk_units.to_vec()));
    suites.insert(fences::SUITE, suite(&["fence", "wake"], &["machine"], |_| vec!["ns/op"]));
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
    let line = |model: &str, hold, refuted| ModelLine {
        model: model.to_owned(),
        searches: hold + refuted,
        states: 12_345,
        hold,
        refuted,
        unexpected: 0,
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
    for item in page.sections.iter().flat_map(|section| &section.items) {
        match item {
            Item::Text(text) => texts.push(text.clone()),
            Item::Table(table) => {
                texts.push(table.caption.clone());
                texts.extend(table.rows.iter().flatten().map(|cell| format!("{cell:?}")));
            }
            Item::Figure(figure) => texts.extend([figure.caption.clone(), figure.description.clone()]),
            Item::Timeline(timeline) => texts.push(timeline.caption.clone()),
        }
    }
    texts
}

fn ids(page: &Page) -> Vec<String> {
    let own = |item: &Item| match item {
        Item::Text(_) => None,
        Item::Table(table) => Some(table.id.clone()),
        Item::Figure(figure) => Some(figure.id.clone()),
        Item::Timeline(timeline) => Some(timeline.id.clone()),
    };
    let items = page.sections.iter().flat_map(|section| &section.items).filter_map(own);
    page.sections.iter().map(|section| section.id.to_owned()).chain(items).collect()
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
    let figures = page.sections.iter().flat_map(|section| &section.items).filter(|item| !matches!(item, Item::Text(_)));
    assert_eq!(figures.count(), 46);
}

#[test]
fn every_requested_name_exists_in_a_suite() {
    let results = everything();
    ratio::tests::MISSING.take();
    page(&results);
    assert_eq!(ratio::tests::MISSING.take(), BTreeSet::new());
}

#[test]
fn every_series_has_a_bar_for_each_group() {
    for item in page(&everything()).sections.into_iter().flat_map(|section| section.items) {
        let Item::Figure(figure) = item else { continue };
        if let Chart::Bars(bars) = figure.chart {
            assert!(bars.series.iter().all(|series| series.bars.len() == bars.groups.len()), "{}", figure.id);
        }
    }
}

#[test]
fn with_nothing_measured_there_are_sentences() {
    let page = page(&nothing());
    for item in page.sections.iter().flat_map(|section| &section.items) {
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
fn ids_are_unique_and_can_be_names_of_files() {
    let page = page(&everything());
    let ids = ids(&page);
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    for id in &ids {
        assert!(id.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'), "{id}");
    }
}

#[test]
fn every_verdict_leads_to_a_section() {
    let page = page(&nothing());
    for verdict in &page.verdicts {
        assert!(page.sections.iter().any(|section| section.id == verdict.section), "{}", verdict.section);
    }
}

#[test]
fn claims_of_papers_come_first() {
    let page = page(&nothing());
    let first_of_filch = page.verdicts.iter().position(|verdict| verdict.source == claim::FILCH).unwrap();
    assert!(first_of_filch > 0);
    assert!(page.verdicts[first_of_filch..].iter().all(|verdict| verdict.source == claim::FILCH));
}

#[test]
fn rows_are_as_long_as_their_headers() {
    for section in page(&everything()).sections {
        for item in section.items {
            if let Item::Table(table) = item {
                assert!(!table.rows.is_empty(), "{}", table.id);
                assert!(table.header.iter().all(|name| !name.is_empty()), "{}", table.id);
                assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{}", table.id);
            }
        }
    }
}

#[test]
fn captions_are_short_enough_to_be_read() {
    for text in
        texts(&page(&everything())).iter().filter(|text| !text.starts_with("Bars") && !text.contains(". Bars, "))
    {
        assert!(text.len() <= 500, "{} letters: {text}", text.len());
    }
}
