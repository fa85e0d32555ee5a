//! Draws the efficiency and the coordinator's utilisation over the number of ranks.

use anyhow::{anyhow, Result};
use filch_mpi::simulate::{saturation, Row, Scaling, SATURATED};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::table::{lines, name, rounded};
use crate::figures::grouped;

const SIZE: (u32, u32) = (900, 760);
const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 95, 168),
    RGBColor(226, 150, 50),
    RGBColor(200, 80, 60),
    RGBColor(90, 150, 90),
    RGBColor(130, 90, 160),
    RGBColor(110, 110, 110),
];
const LEGEND: u32 = 22;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the rows with weak scaling, as SVG. In these rows the work grows with the ranks.
pub(super) fn draw(title: &str, rows: &[Row]) -> Result<String> {
    let lines: Vec<Vec<&Row>> = lines(rows).into_iter().filter(|rows| rows[0].scaling == Scaling::Weak).collect();
    let mut svg = String::new();
    paint(&mut svg, title, &lines).map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    Ok(svg)
}

fn paint(svg: &mut String, title: &str, lines: &[Vec<&Row>]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let heading = 44 + LEGEND * lines.len() as u32 + 8;
    let (head, body) = area.split_vertically(heading);
    text(&head, (SIZE.0 as i32 / 2, 24), title, 21, &BLACK, HPos::Center)?;
    for (place, rows) in lines.iter().enumerate() {
        let y = 44 + (LEGEND * place as u32 + LEGEND / 2) as i32;
        let colour = COLOURS[place % COLOURS.len()];
        head.draw(&PathElement::new(vec![(90, y), (120, y)], colour.stroke_width(3)))?;
        let verdict = match saturation(rows) {
            Some(ranks) => format!(": saturated from about {} ranks", grouped(rounded(ranks))),
            None => String::new(),
        };
        text(&head, (130, y), &format!("{}{verdict}", name(rows)), 16, &BLACK, HPos::Left)?;
    }
    let [top, bottom] = <[Area<'_>; 2]>::try_from(body.split_evenly((2, 1))).map_err(|_| "there are not two panels")?;
    panel(&top, "efficiency", lines, |row| row.efficiency, false)?;
    panel(&bottom, "coordinator utilisation", lines, |row| row.utilisation, true)?;
    area.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    what: &str,
    lines: &[Vec<&Row>],
    value: impl Fn(&Row) -> f64,
    marks: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let ranks = || lines.iter().flatten().map(|row| row.ranks as f64);
    let low = ranks().fold(f64::INFINITY, f64::min);
    let high = ranks().fold(1.0, f64::max);
    let (low, high) = if low < high { (low, high) } else { (1.0, 10.0 * high) };
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .margin_right(30)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d((low..high).log_scale(), 0.0..1.05)?;
    chart
        .configure_mesh()
        .x_desc("ranks")
        .y_desc(what)
        .y_labels(6)
        .x_label_formatter(&|ranks| grouped(ranks.round() as usize))
        .y_label_formatter(&|share| format!("{:.0}%", share * 100.0))
        .label_style(("sans-serif", 15))
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .draw()?;
    for (place, rows) in lines.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let points: Vec<(f64, f64)> = rows.iter().map(|row| (row.ranks as f64, value(row))).collect();
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
    }
    if marks {
        let limit = vec![(low, SATURATED), (high, SATURATED)];
        chart.draw_series([PathElement::new(limit, RGBColor(150, 150, 150).stroke_width(1))])?;
        for (place, rows) in lines.iter().enumerate() {
            let Some(ranks) = saturation(rows) else { continue };
            let colour = COLOURS[place % COLOURS.len()];
            chart.draw_series([PathElement::new(vec![(ranks, 0.0), (ranks, SATURATED)], colour.stroke_width(1))])?;
            chart.draw_series([TriangleMarker::new((ranks, SATURATED), 8, colour.filled())])?;
        }
    }
    Ok(())
}

fn text(
    area: &Area<'_>,
    at: (i32, i32),
    words: &str,
    size: u32,
    colour: &RGBColor,
    anchor: HPos,
) -> Result<(), Box<dyn std::error::Error>> {
    let style = TextStyle::from(("sans-serif", size).into_font()).color(colour).pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(words.to_owned(), at, style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::row;
    use super::*;

    #[test]
    fn every_line_is_drawn_and_marked_where_it_saturates() {
        let rows = [row(1.0, 10, 0.1), row(0.1, 10, 0.5), row(1.0, 100, 0.2), row(0.1, 100, 0.95)];
        let svg = draw("a search", &rows).unwrap();
        for part in [
            "a search",
            "efficiency",
            "coordinator utilisation",
            "as recorded",
            "10 times finer",
            "saturated from about 46 ranks",
        ] {
            assert!(svg.contains(part), "{part} is missing");
        }
        assert_eq!(svg.matches("saturated").count(), 1);
    }

    #[test]
    fn a_plot_of_one_number_of_ranks_or_none_is_valid() {
        assert!(draw("one", &[row(1.0, 10, 0.1)]).unwrap().contains("</svg>"));
        assert!(draw("nothing", &[]).unwrap().contains("</svg>"));
    }
}
