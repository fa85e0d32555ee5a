//! What fences, barriers, wake-ups and steals cost.

use crate::lab::fences;
use crate::report::collect::Results;
use crate::report::page::{Cell, Item};
use crate::report::sections::items::{count, interval, name, table, Texts};

pub(super) fn costs(results: &Results) -> Item {
    let figures = results.figures(fences::SUITE);
    let row = |series: &crate::figures::Series| {
        let figure = figures.figure(&series.case, series.unit, (series.name, series.threads))?;
        Some(vec![
            name(&*series.case),
            interval(Some(figure)),
            count(series.threads),
            series.note.as_deref().map_or(Cell::Empty, name),
        ])
    };
    let quick = if results.full { "" } else { " --quick" };
    table(
        Texts {
            id: "prices",
            title: "Costs of fences, barriers, wake-ups and steals".to_owned(),
            caption: "Medians with their intervals, on this machine. The designs differ in which of these the owner pays and which the thief.".to_owned(),
            command: format!("cargo run --release -- lab fences{quick}"),
        },
        &["price", "nanoseconds", "threads", "what it is"],
        figures.series.iter().filter_map(row).collect(),
    )
}
