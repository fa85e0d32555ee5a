//! A run to zoom into.
//!
//! The page's script draws it from numbers in the page. A table has the same content for screen
//! readers.

use maud::{html, Markup, PreEscaped};
use serde::Serialize;

use super::{links, table, Cell, Table, Texts};
use crate::figures::number;
use crate::report::collect::timeline::{Bar, Timeline};

/// The run as the script reads it: nanoseconds, as whole numbers.
///
/// Each start is relative to the one before it on the same lane.
#[derive(Serialize)]
struct Numbers {
    /// The names of the kinds of bars.
    kinds: Vec<&'static str>,
    /// For each lane, four numbers per bar: kind, start, duration, and depth.
    lanes: Vec<Vec<i64>>,
    /// Three numbers per steal: victim, thief, and time.
    steals: Vec<i64>,
}

/// Converts microseconds to nanoseconds.
fn nanoseconds(microseconds: f64) -> i64 {
    (microseconds * 1e3).round() as i64
}

/// Returns all bars and steals as JSON.
pub(super) fn json(timeline: &Timeline) -> String {
    let kinds = kinds(timeline);
    let lanes = timeline.lanes.iter().map(|bars| {
        let mut bars: Vec<&Bar> = bars.iter().collect();
        bars.sort_by(|one, other| one.start.total_cmp(&other.start).then(one.depth.cmp(&other.depth)));
        let mut before = 0;
        let mut lane = Vec::with_capacity(4 * bars.len());
        for bar in bars {
            let (start, end) = (nanoseconds(bar.start), nanoseconds(bar.end));
            let kind = kinds.iter().position(|kind| *kind == bar.kind).unwrap_or(0);
            lane.extend([kind as i64, start - before, (end - start).max(0), bar.depth as i64]);
            before = start;
        }
        lane
    });
    let steals = timeline.steals.iter().filter(|steal| steal.victim.max(steal.thief) < timeline.lanes.len());
    let steals = steals.flat_map(|steal| [steal.victim as i64, steal.thief as i64, nanoseconds(steal.at)]);
    let numbers = Numbers { lanes: lanes.collect(), steals: steals.collect(), kinds };
    serde_json::to_string(&numbers).unwrap_or_default()
}

/// Returns the kinds of bars, in the order of their first occurrence.
fn kinds(timeline: &Timeline) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for bar in timeline.lanes.iter().flatten() {
        if !kinds.contains(&bar.kind) {
            kinds.push(bar.kind);
        }
    }
    kinds
}

/// Returns the colour of a kind: one of the series colours of the charts.
fn colour(kind: &str) -> usize {
    match kind {
        "job" => 1,
        "stolen" => 2,
        "task" => 3,
        "raid" => 4,
        "share" => 6,
        "sleep" => 7,
        _ => 8,
    }
}

/// Returns the run with its buttons, its texts, and a summary table.
pub(super) fn html(texts: &Texts, timeline: &Timeline) -> Markup {
    let Texts { id, title, caption, command } = texts;
    let data = format!("{id}-data");
    let links = html! {
        a class="download" href=(format!("data/{id}.json")) download=(format!("{id}.json")) data-holds=(data) { "Data (JSON)" }
    };
    html! {
        figure class="item timeline" id=(id) {
            h3 { (title) }
            p class="hint" id=(format!("{id}-help")) {
                "Drag to move. Pinch to zoom, or select a bar and turn the wheel. Keys: "
                kbd { "←" } " " kbd { "→" } " move, " kbd { "+" } " " kbd { "−" } " zoom, " kbd { "0" } " shows the whole run, "
                kbd { "n" } " " kbd { "p" } " select the next or previous bar, " kbd { "↑" } " " kbd { "↓" } " select a bar in another row, "
                kbd { "s" } " selects the next steal, " kbd { "Esc" } " clears the selection. Without a selection, the wheel scrolls the page."
            }
            div class="controls" {
                button type="button" data-does="in" { span aria-hidden="true" { "+" } span class="hidden" { "Zoom in" } }
                button type="button" data-does="out" { span aria-hidden="true" { "−" } span class="hidden" { "Zoom out" } }
                button type="button" data-does="whole" { "Whole run" }
                ul class="legend" {
                    @for kind in kinds(timeline) {
                        li { span class="swatch" style=(format!("background:var(--series-{})", colour(kind))) {} (kind) }
                    }
                    @if !timeline.steals.is_empty() { li { span class="arrow-sample" aria-hidden="true" { "↷" } "steal" } }
                }
            }
            div class="stage" {
                canvas tabindex="0" role="application" aria-label=(format!("Timeline: {title}"))
                    aria-describedby=(format!("{id}-help")) data-shows=(data)
                    data-colours=(kinds(timeline).iter().map(|kind| colour(kind).to_string()).collect::<Vec<_>>().join(" ")) {}
                div class="tip" aria-hidden="true" hidden {}
            }
            p class="chosen" role="status" { "Nothing is selected." }
            noscript { p { "The drawing needs JavaScript. The table below summarises it." } }
            figcaption { (links::prose(caption)) }
            (summary(id, timeline))
            (links::source(id, &links, command))
            script type="application/json" id=(data) { (PreEscaped(json(timeline).replace('<', "\\u003c"))) }
        }
    }
}

/// Returns a row for each worker: what it did, and the share of the time.
fn summary(id: &str, timeline: &Timeline) -> Markup {
    let end = timeline.lanes.iter().flatten().map(|bar| bar.end).fold(0.0, f64::max);
    let whole = |count: usize| Cell::Number(count as f64, crate::figures::grouped(count));
    let rows = timeline.lanes.iter().enumerate().map(|(worker, bars)| {
        let of = |kind: &str| bars.iter().filter(|bar| bar.kind == kind).count();
        // Bars with depth 0, except sleep, are the time in which the worker was busy.
        let outer = bars.iter().filter(|bar| bar.depth == 0 && bar.kind != "sleep");
        let busy = outer.map(|bar| (bar.end - bar.start).max(0.0)).fold(0.0, |sum, time| sum + time);
        let share = if end > 0.0 { 100.0 * busy / end } else { 0.0 };
        vec![
            Cell::Text(format!("worker {worker}")),
            whole(bars.len() - of("sleep")),
            whole(timeline.steals.iter().filter(|steal| steal.thief == worker).count()),
            whole(timeline.steals.iter().filter(|steal| steal.victim == worker).count()),
            Cell::Number(busy, format!("{} µs", number(busy))),
            Cell::Number(share, format!("{share:.0} %")),
        ]
    });
    let header = ["Worker", "Bars", "Steals", "Stolen by others", "Busy", "Share of the run"].map(str::to_owned).into();
    let caption = format!("Summary of each worker over {} µs.", number(end));
    table::grid(&format!("{id}-summary"), &caption, &Table { header, rows: rows.collect() })
}
