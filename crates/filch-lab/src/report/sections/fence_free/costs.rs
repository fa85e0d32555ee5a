//! What fences, barriers, wake-ups and steals cost.

use crate::lab::fences;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::Columns;

pub(super) fn costs(results: &Results) -> Item {
    let figures = results.figures(fences::SUITE);
    let quick = if results.full { "" } else { " --quick" };
    Columns::of(figures.series)
        .name("price", |series| &*series.case)
        .interval("nanoseconds", |series| figures.figure(&series.case, series.unit, (series.name, series.threads)))
        .number("threads", |series| series.threads)
        .name("what it is", |series| series.note.as_deref().unwrap_or_default())
        .table(Texts::new(
            "prices",
            "Costs of fences, barriers, wake-ups and steals",
            "Medians with their intervals, on this machine. The designs differ in which of these the owner pays and which the thief.",
            format!("cargo run --release -- lab fences{quick}"),
        ))
}
