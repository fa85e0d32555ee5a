//! Draws the statistics of each rank.
//!
//! Each rank has a line: the nodes it explored, the bytes it gave and got, and the time it was busy
//! and idle.

use anyhow::{anyhow, Result};
use plotters::backend::SVGBackend;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle, BLACK, WHITE};

use super::Rank;
use crate::format::{bytes, grouped, time};

const WIDTH: i32 = 980;
const MARGIN: i32 = 16;
const TITLE_HEIGHT: i32 = 40;
const HEADING_HEIGHT: i32 = 28;
/// The height of a line, and the maximum height of all lines. With many ranks, lines are lower.
const LINE_HEIGHT: i32 = 34;
const MAX_LINES_HEIGHT: i32 = 1_600;
/// The smallest height of a line with names and figures.
const MIN_READABLE_HEIGHT: i32 = 14;
/// The width of a rank's name, and of the figure after the longest bar.
const NAME_WIDTH: i32 = 64;
const FIGURE_WIDTH: i32 = 74;
const FONT: &str = "sans-serif";

const NODES: RGBColor = RGBColor(31, 95, 168);
const GIVEN: RGBColor = RGBColor(226, 150, 50);
const RECEIVED: RGBColor = RGBColor(133, 174, 219);
const BUSY: RGBColor = RGBColor(31, 95, 168);
const IDLE: RGBColor = RGBColor(200, 80, 60);

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A bar: its length, and the text after it.
struct Bar {
    length: f64,
    label: String,
    colour: RGBColor,
}

/// The bars of one rank in one panel.
enum Bars {
    /// One below the other.
    Separate(Vec<Bar>),
    /// One after the other; the last has the text.
    Stacked(Vec<Bar>),
}

struct Panel {
    /// Labels, each in the colour of its bars.
    heading: Vec<(&'static str, RGBColor)>,
    bars: fn(&Rank) -> Bars,
}

const PANELS: [fn() -> Panel; 3] = [nodes, bytes_moved, times];

fn nodes() -> Panel {
    let bars = |rank: &Rank| {
        let label = grouped(rank.explored as usize);
        Bars::Separate(vec![Bar { length: rank.explored as f64, label, colour: NODES }])
    };
    Panel { heading: vec![("nodes explored", NODES)], bars }
}

fn bytes_moved() -> Panel {
    fn bar(amount: u64, colour: RGBColor) -> Bar {
        Bar { length: amount as f64, label: bytes(amount as usize), colour }
    }
    let bars = |rank: &Rank| Bars::Separate(vec![bar(rank.bytes_given, GIVEN), bar(rank.bytes_received, RECEIVED)]);
    Panel { heading: vec![("bytes given,", GIVEN), ("bytes received", RECEIVED)], bars }
}

fn times() -> Panel {
    let bars = |rank: &Rank| {
        let idle = rank.idle_seconds.min(rank.seconds);
        let busy = Bar { length: rank.seconds - idle, label: String::new(), colour: BUSY };
        let label = format!("{} idle", time(idle));
        Bars::Stacked(vec![busy, Bar { length: idle, label, colour: IDLE }])
    };
    Panel { heading: vec![("time busy,", BUSY), ("idle", IDLE)], bars }
}

/// Returns a drawing, as SVG.
pub(in super::super) fn draw(title: &str, ranks: &[Rank]) -> Result<String> {
    let line = (MAX_LINES_HEIGHT / ranks.len().max(1) as i32).clamp(2, LINE_HEIGHT);
    let height = TITLE_HEIGHT + HEADING_HEIGHT + line * ranks.len() as i32 + MARGIN;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(plot_error)?;
        text(&area, (MARGIN, TITLE_HEIGHT / 2), title, 20, HPos::Left, BLACK)?;
        for (index, rank) in ranks.iter().enumerate().filter(|_| line >= MIN_READABLE_HEIGHT) {
            let middle = TITLE_HEIGHT + HEADING_HEIGHT + index as i32 * line + line / 2;
            text(&area, (MARGIN, middle), &format!("rank {}", rank.rank), 15, HPos::Left, BLACK)?;
        }
        let width = (WIDTH - 2 * MARGIN - NAME_WIDTH) / PANELS.len() as i32;
        for (column, panel) in PANELS.iter().enumerate() {
            draw_panel(&area, &panel(), ranks, MARGIN + NAME_WIDTH + column as i32 * width, width, line)?;
        }
        area.present().map_err(plot_error)?;
    }
    Ok(svg)
}

fn draw_panel(area: &Canvas<'_>, panel: &Panel, ranks: &[Rank], left: i32, width: i32, line: i32) -> Result<()> {
    let mut x = left;
    for (label, colour) in &panel.heading {
        text(area, (x, TITLE_HEIGHT + HEADING_HEIGHT / 2), label, 17, HPos::Left, *colour)?;
        // The approximate width of the letters.
        x += label.len() as i32 * 7 + 4;
    }
    let all: Vec<Bars> = ranks.iter().map(panel.bars).collect();
    let longest = all.iter().map(Bars::length).fold(0.0, f64::max);
    let room = f64::from(width - FIGURE_WIDTH);
    let scaled = |length: f64| if longest > 0.0 { (room * length / longest).round() as i32 } else { 0 };
    let gap = if line >= MIN_READABLE_HEIGHT { 3 } else { 0 };
    for (index, bars) in all.iter().enumerate() {
        let top = TITLE_HEIGHT + HEADING_HEIGHT + index as i32 * line + gap;
        let bottom = top + line - 2 * gap;
        match bars {
            Bars::Separate(bars) => {
                let each = (bottom - top) / bars.len() as i32;
                for (place, bar) in bars.iter().enumerate() {
                    let top = top + place as i32 * each;
                    let length = scaled(bar.length);
                    rectangle(area, left, top, length, each.max(1), bar.colour)?;
                    if each >= MIN_READABLE_HEIGHT - 2 * gap {
                        text(area, (left + length + 5, top + each / 2), &bar.label, 14, HPos::Left, BLACK)?;
                    }
                }
            }
            Bars::Stacked(bars) => {
                let mut x = left;
                for bar in bars {
                    let length = scaled(bar.length);
                    rectangle(area, x, top, length, bottom - top, bar.colour)?;
                    x += length;
                }
                let label = bars.last().map_or("", |bar| &bar.label);
                if line >= MIN_READABLE_HEIGHT {
                    text(area, (x + 5, (top + bottom) / 2), label, 14, HPos::Left, BLACK)?;
                }
            }
        }
    }
    Ok(())
}

impl Bars {
    /// The length of the longest line that is drawn.
    fn length(&self) -> f64 {
        match self {
            Bars::Separate(bars) => bars.iter().map(|bar| bar.length).fold(0.0, f64::max),
            Bars::Stacked(bars) => bars.iter().map(|bar| bar.length).sum(),
        }
    }
}

fn rectangle(area: &Canvas<'_>, left: i32, top: i32, length: i32, height: i32, colour: RGBColor) -> Result<()> {
    if length == 0 {
        return Ok(());
    }
    area.draw(&Rectangle::new([(left, top), (left + length, top + height)], colour.filled())).map_err(plot_error)
}

fn text(area: &Canvas<'_>, at: (i32, i32), label: &str, size: u32, anchor: HPos, colour: RGBColor) -> Result<()> {
    let style = TextStyle::from((FONT, size).into_font()).color(&colour).pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(label.to_owned(), at, style)).map_err(plot_error)
}

fn plot_error(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the plot of the ranks: {error}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::three_ranks;
    use super::*;

    #[test]
    fn every_rank_has_its_bars_and_figures() {
        let svg = draw("misp a.clq", &three_ranks()).unwrap();
        for part in ["misp a.clq", "rank 2", "nodes explored", "12,000", "36.0 kB", "24.0 kB", "1.00 s idle", "</svg>"]
        {
            assert!(svg.contains(part), "{part} is missing: {svg}");
        }
        // The background, then for each rank a bar of nodes, two of bytes and two of time.
        assert_eq!(svg.matches("<rect").count(), 1 + 3 * 5);
    }

    #[test]
    fn many_ranks_and_no_ranks_can_be_drawn() {
        let many: Vec<Rank> = (0..1_000).map(|rank| Rank { rank, ..three_ranks()[1].clone() }).collect();
        let svg = draw("many", &many).unwrap();
        assert!(!svg.contains("rank 999") && svg.matches("<rect").count() > 5_000 - 1);
        assert!(draw("none", &[]).unwrap().contains("</svg>"));
    }
}
