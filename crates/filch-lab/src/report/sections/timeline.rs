//! A real run: which worker did what, and when.

use super::items::{missing, text};
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

pub(super) fn section(results: &Results) -> Section {
    let title = "One run of the runtime";
    let command = "cargo run --release -- report --only timeline";
    let item = match &results.timeline {
        None => missing(title, command),
        Some(timeline) => {
            let bars: usize = timeline.lanes.iter().map(Vec::len).sum();
            let caption = format!(
                "{}. {} workers, {bars} events, {} steals. Each lane is a worker, and each bar is a job. An arrow goes from the \
                 worker that forked a job to the worker that stole it.",
                timeline.what.trim_end_matches('.'),
                timeline.lanes.len(),
                timeline.steals.len()
            );
            Item::Timeline(Texts::new("timeline-run", title, caption, command), timeline.clone())
        }
    };
    Section {
        id: "timeline",
        title: "A timeline".to_owned(),
        items: vec![
            text("The closures of this program record when they begin and end, and on which worker. To record another program, use the feature `trace`: Perfetto opens the result of `Pool::trace`."),
            item,
        ],
    }
}
