//! The efficiency and the coordinator's utilisation over the number of ranks, as charts.

use filch_mpi::simulate::{saturation, Row, Scaling};

use super::table::{lines, name, rounded};
use crate::chart::{Chart, Estimate, Line, Lines};
use crate::figures::grouped;

/// Returns the charts of the rows with weak scaling. In these rows the work grows with the ranks.
pub(super) fn charts(rows: &[Row]) -> [Chart; 2] {
    let lines: Vec<Vec<&Row>> = lines(rows).into_iter().filter(|rows| rows[0].scaling == Scaling::Weak).collect();
    [
        chart("efficiency, %", &lines, |row| row.efficiency, name),
        chart(
            "coordinator utilisation, %",
            &lines,
            |row| row.utilisation,
            |rows| match saturation(rows) {
                Some(ranks) => format!("{}: saturated from about {} ranks", name(rows), grouped(rounded(ranks))),
                None => name(rows),
            },
        ),
    ]
}

fn chart(axis: &str, lines: &[Vec<&Row>], share: fn(&Row) -> f64, name: fn(&[&Row]) -> String) -> Chart {
    let point = |row: &&Row| (row.ranks as f64, Estimate::exact(100.0 * share(row)));
    let line = |rows: &Vec<&Row>| Line { name: name(rows), points: rows.iter().map(point).collect() };
    Chart::Lines(Lines {
        x_axis: "ranks".to_owned(),
        y_axis: axis.to_owned(),
        log_x: true,
        log_y: false,
        lines: lines.iter().map(line).collect(),
        marker: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::row;
    use super::*;

    #[test]
    fn every_line_is_drawn_and_says_where_it_saturates() {
        let rows = [row(1.0, 10, 0.1), row(0.1, 10, 0.5), row(1.0, 100, 0.2), row(0.1, 100, 0.95)];
        for chart in charts(&rows) {
            let Chart::Lines(chart) = chart else { unreachable!() };
            let [one, other] = &chart.lines[..] else { panic!("{chart:?}") };
            assert!(one.name.contains("as recorded") && other.name.contains("10 times finer"), "{chart:?}");
            assert_eq!(
                other.name.ends_with(": saturated from about 46 ranks"),
                chart.y_axis.starts_with("coordinator")
            );
            assert!(!one.name.contains("saturated") && other.points.len() == 2, "{chart:?}");
        }
    }
}
