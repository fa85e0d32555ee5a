//! Batches and single tasks, compared with peers.
//!
//! The figures of the paper on bulk operations leave them out.

use super::items::{bench, text, Columns};
use crate::bench::bulk;
use crate::bench::bulk::{
    BULK, CHASE_LEV, CROSSBEAM, MUTEX, NANOS_A_NODE, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, PUBLISHED,
    PUBLISHED_EARLY, SERIAL, SERIAL_PAIR,
};
use crate::claims::Figures;
use crate::figures::Series;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

pub(super) fn section(results: &Results) -> Section {
    let figures = results.figures(bulk::SUITE);
    let part = |id, title: &str, unit, caption: &str, case: &str| {
        by_case(figures, unit, Texts::new(id, title, caption, bench(bulk::SUITE, results.full, &[case])))
    };
    Section {
        id: "batches",
        title: "Batches and single tasks: comparison with other queues".to_owned(),
        items: vec![
            text("All results of the bulk suite, by case. The figures of the paper are in its own section above."),
            part("batches-push", "Pushes", NANOS_A_PUSH, "Nanoseconds per push of a batch that is built in advance. push/single pushes one task.", "push"),
            part("batches-pop", "Pops", NANOS_A_POP, "Nanoseconds per pop, by how the tasks were pushed.", "pop"),
            part(
                "batches-steal",
                "Steals",
                NANOS_A_STEAL,
                "Nanoseconds per steal of a share of 10,000 tasks, by how they were pushed. In busy cases the owner pushes and pops meanwhile.",
                "steal",
            ),
            part("batches-graphs", "Graphs", NANOS_A_NODE, "Nanoseconds per node with the most threads. serial is a single loop.", "dag"),
        ],
    }
}

fn by_case(figures: Figures<'_>, unit: &str, texts: Texts) -> Item {
    let names = [BULK, "bulk-batches", PUBLISHED, PUBLISHED_EARLY, CHASE_LEV, CROSSBEAM, MUTEX, SERIAL, SERIAL_PAIR];
    let most = |case: &str, other: &str| {
        let of = |series: &&Series| (&*series.case, series.name, series.unit) == (case, other, unit);
        let count = figures.series.iter().filter(of).map(|series| series.threads).max()?;
        figures.figure(case, unit, (other, count))
    };
    let cases = figures.cases(unit);
    // An implementation without any of the cases has no column.
    let names: Vec<&str> =
        names.into_iter().filter(|other| cases.iter().any(|case| most(case, other).is_some())).collect();
    Columns::of(cases).name("case", |case| *case).values(&names, |case, other| most(case, other)).table(texts)
}
