//! A real run: which worker did what, and when.

use super::items::{missing, text};
use crate::report::collect::Results;
use crate::report::page::{Item, Section, TimelineFigure};

pub(super) const ID: &str = "timeline";

pub(super) fn section(results: &Results) -> Section {
    let title = "A run of the runtime, as it happened";
    let command = "cargo run --release -- report --only timeline";
    let item = match &results.timeline {
        None => missing(title, command),
        Some(timeline) => {
            let bars: usize = timeline.lanes.iter().map(Vec::len).sum();
            Item::Timeline(TimelineFigure {
                id: "timeline-run".to_owned(),
                title: title.to_owned(),
                caption: format!(
                    "{}. {} workers, {bars} events, {} steals. A lane is a worker and a bar what it did; an arrow goes from the worker that had forked a job to the \
                     one that stole it.",
                    timeline.what.trim_end_matches('.'),
                    timeline.lanes.len(),
                    timeline.steals.len()
                ),
                command: command.to_owned(),
                timeline: timeline.clone(),
            })
        }
    };
    Section {
        id: ID,
        title: "A timeline".to_owned(),
        items: vec![
            text("The closures of this program wrote down when they began and ended, and on which worker. For your own programs there is the feature `trace`: `Pool::trace` has a record that Perfetto opens."),
            item,
        ],
    }
}
