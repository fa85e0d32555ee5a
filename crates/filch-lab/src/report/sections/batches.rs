//! Batches and single tasks beside peers. The figures of the paper on bulk operations leave them
//! out.

use super::claim::{Bound, Claim, Part};
use super::items::{bench, name, says_something, table, text, value, Words};
use super::ratio::Figures;
use crate::bench::bulk;
use crate::bench::bulk::{
    Case, Fill, BULK, CHASE_LEV, CROSSBEAM, MUTEX, NANOS_A_NODE, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, SERIAL,
    SERIAL_PAIR,
};
use crate::report::collect::Results;
use crate::report::page::{Cell, Item, Section, Verdict};

pub(super) const ID: &str = "batches";

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, bulk::SUITE);
    let claim = |text: &str| Claim::ours(ID, text);
    let pops = Fill::ALL.map(|fill| {
        let ratio = figures.ratio(&Case::Pop(fill).to_string(), NANOS_A_POP, (BULK, 1), (CHASE_LEV, 1));
        Part::new(format!("tasks that came {}:", fill.description()), ratio, Bound::AtMost(1.5))
    });
    let steals = [false, true].map(|busy| {
        let case = Case::Steal { percent: 60, fill: Fill::Singles, busy };
        let owner = if busy { "owner busy:" } else { "owner idle:" };
        Part::new(owner, figures.figure(&case.to_string(), NANOS_A_STEAL, (BULK, 2)), Bound::AtMost(2_000.0))
            .with_unit("ns")
    });
    vec![
        claim("A pop from bulk takes at most 1.5 times as long as one from chase_lev.")
            .judged("bulk / chase_lev", pops.to_vec()),
        claim("60 % of 10,000 tasks that came one by one are stolen within 2 us.")
            .judged("a steal from bulk", steals.to_vec()),
    ]
}

pub(super) fn section(results: &Results) -> Section {
    let figures = Figures::of(results, bulk::SUITE);
    let part = |id, title: &str, unit, caption: &str, cases: &[&str]| {
        let command = bench(bulk::SUITE, results.full, cases);
        by_case(figures, unit, Words { id, title: title.to_owned(), caption: caption.to_owned(), command })
    };
    Section {
        id: ID,
        title: "Batches and single tasks beside peers".to_owned(),
        items: vec![
            text("Everything that the suite of the bulk queue measures, by case. What the paper drew is in its own section above."),
            part("batches-push", "Pushes", NANOS_A_PUSH, "Nanoseconds a push of a batch that was built before; push/single is of one task.", &["push"]),
            part("batches-pop", "Pops", NANOS_A_POP, "Nanoseconds a pop, by how the tasks came.", &["pop"]),
            part(
                "batches-steal",
                "Steals",
                NANOS_A_STEAL,
                "Nanoseconds for a share of 10,000 tasks, by how they came; busy is beside an owner that pushes and pops meanwhile.",
                &["steal"],
            ),
            part("batches-graphs", "Graphs", NANOS_A_NODE, "Nanoseconds a node with the most threads; serial is one loop.", &["dag"]),
        ],
    }
}

fn by_case(figures: Figures<'_>, unit: &str, words: Words) -> Item {
    let names = [BULK, "bulk-batches", CHASE_LEV, CROSSBEAM, MUTEX, SERIAL, SERIAL_PAIR];
    let most = |case: &str, other: &str| {
        let of = |series: &&crate::figures::Series| (&*series.case, series.name, series.unit) == (case, other, unit);
        let count = figures.all().iter().filter(of).map(|series| series.threads).max()?;
        figures.figure(case, unit, (other, count))
    };
    let cases = figures.cases(unit);
    // An implementation without any of the cases has no column.
    let names: Vec<&str> =
        names.into_iter().filter(|other| cases.iter().any(|case| most(case, other).is_some())).collect();
    let row = |case: &&str| -> Vec<Cell> {
        std::iter::once(name(*case)).chain(names.iter().map(|other| value(most(case, other)))).collect()
    };
    let header: Vec<&str> = std::iter::once("case").chain(names.iter().copied()).collect();
    table(words, &header, cases.iter().map(row).filter(|row| says_something(row)).collect())
}
