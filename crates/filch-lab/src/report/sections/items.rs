//! Turns figures into bars, lines and tables, or a sentence if there are none.

use super::describe::describe;
use crate::chart::{BarSeries, Bars, Chart, Estimate, Line, Lines};
use crate::claims::Rounds;
use crate::figures::number;
use crate::report::page::{Cell, Figure, Item, Table};

/// The texts of a figure or table.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// Its id, unique on the page: lower case and hyphens.
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) caption: String,
    /// The command that produces its data.
    pub(super) command: String,
}

/// Makes a paragraph.
pub(super) fn text(text: impl Into<String>) -> Item {
    Item::Text(text.into())
}

/// Makes the sentence in place of an item that was not measured.
pub(super) fn missing(title: &str, command: &str) -> Item {
    text(not_measured(title, command))
}

/// The sentence about what was not measured.
pub(super) fn not_measured(title: &str, command: &str) -> String {
    format!("{title}: not measured in this run. `{command}` measures it.")
}

/// Returns the command that repeats a suite as in this run. `cases` are prefixes of the wanted
/// names.
pub(super) fn bench(suite: &str, full: bool, cases: &[&str]) -> String {
    let quick = if full { "" } else { " --quick" };
    let cases: String = cases.iter().map(|case| format!(" --case {case}")).collect();
    format!("cargo run --release -- bench {suite}{quick}{cases}")
}

/// Makes a drawing, or a sentence if there is nothing to draw.
pub(super) fn figure(texts: Texts, chart: Option<Chart>) -> Item {
    let Texts { id, title, caption, command } = texts;
    match chart {
        None => missing(&title, &command),
        Some(chart) => Item::Figure(Figure {
            id: id.to_owned(),
            description: format!("{title}. {}", describe(&chart)),
            title,
            caption,
            command,
            chart,
        }),
    }
}

/// Makes a table, or a sentence if it has no rows.
pub(super) fn table(texts: Texts, header: &[&str], rows: Vec<Vec<Cell>>) -> Item {
    let Texts { id, title, caption, command } = texts;
    if rows.is_empty() {
        return missing(&title, &command);
    }
    let header = header.iter().map(|&name| name.to_owned()).collect();
    Item::Table(Table { id: id.to_owned(), caption: format!("{title}. {caption}"), header, rows, command })
}

/// Makes a cell with a name.
pub(super) fn name(name: impl Into<String>) -> Cell {
    Cell::Text(name.into())
}

/// Makes a cell with a figure.
pub(super) fn value(figure: Option<Rounds>) -> Cell {
    figure.map_or(Cell::Empty, |figure| Cell::Number(figure.value(), number(figure.value())))
}

/// Makes a cell with a figure and its interval.
pub(super) fn interval(figure: Option<Rounds>) -> Cell {
    figure.map_or(Cell::Empty, |figure| Cell::Number(figure.value(), figure.text()))
}

/// Makes a cell with a whole number.
pub(super) fn count(number: usize) -> Cell {
    Cell::Number(number as f64, crate::figures::grouped(number))
}

/// Whether a row has more than a name.
pub(super) fn has_figures(row: &[Cell]) -> bool {
    row.iter().skip(1).any(|cell| *cell != Cell::Empty)
}

/// Makes groups of bars. `figure` returns the figure of a group and a name.
///
/// Names without bars and groups without bars are left out. Returns `None` if none is left.
pub(super) fn bars<G: AsRef<str>, N: AsRef<str>>(
    axis: &str,
    reference: Option<f64>,
    groups: &[G],
    names: &[N],
    figure: impl Fn(&str, &str) -> Option<Rounds>,
) -> Option<Chart> {
    let has_bars = |group: &&str| names.iter().any(|name| figure(group, name.as_ref()).is_some());
    let groups: Vec<&str> = groups.iter().map(AsRef::as_ref).filter(has_bars).collect();
    let series = names.iter().map(|name| {
        let bars = groups.iter().map(|group| Some(figure(group, name.as_ref())?.estimate())).collect();
        BarSeries { name: name.as_ref().to_owned(), bars }
    });
    let series: Vec<BarSeries> = series.filter(|series| series.bars.iter().any(Option::is_some)).collect();
    let groups: Vec<String> = groups.into_iter().map(str::to_owned).collect();
    (!series.is_empty()).then(|| Chart::Bars(Bars { axis: axis.to_owned(), groups, series, reference }))
}

/// Makes lines over numbers. `figure` returns the figure of a name at a number.
///
/// A line without points is left out. Returns `None` if none is left.
pub(super) fn lines<N: AsRef<str>>(
    (x_axis, log_x): (&str, bool),
    (y_axis, log_y): (&str, bool),
    names: &[N],
    along: &[f64],
    figure: impl Fn(&str, f64) -> Option<Rounds>,
) -> Option<Chart> {
    // Zero has no place on a logarithmic axis.
    let fits = |x: f64, estimate: &Estimate| (!log_x || x > 0.0) && (!log_y || estimate.low > 0.0);
    let line = |name: &N| {
        let point = |&x: &f64| Some((x, figure(name.as_ref(), x)?.estimate())).filter(|(x, point)| fits(*x, point));
        Line { name: name.as_ref().to_owned(), points: along.iter().filter_map(point).collect() }
    };
    let lines: Vec<Line> = names.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let (x_axis, y_axis) = (x_axis.to_owned(), y_axis.to_owned());
    (!lines.is_empty()).then_some(Chart::Lines(Lines { x_axis, y_axis, log_x, log_y, lines, marker: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Texts {
        Texts {
            id: "a-figure",
            title: "A figure".to_owned(),
            caption: "What to see.".to_owned(),
            command: bench("queues", false, &["steal"]),
        }
    }

    #[test]
    fn a_missing_item_is_a_sentence_with_its_command() {
        let sentence = "A figure: not measured in this run. `cargo run --release -- bench queues --quick --case steal` measures it.";
        for item in [figure(texts(), None), table(texts(), &["a"], Vec::new())] {
            assert!(matches!(&item, Item::Text(text) if text == sentence), "{item:?}");
        }
        assert_eq!(bench("queues", true, &[]), "cargo run --release -- bench queues");
    }

    #[test]
    fn groups_and_series_without_bars_are_left_out() {
        let rounds = |value| Rounds::new(vec![value]);
        let chart = bars("ns", None, &["a", "b", "c"], &["x", "y", "z"], |group, name| match (group, name) {
            ("a", "x") => rounds(1.0),
            ("c", "z") => rounds(2.0),
            _ => None,
        });
        let Some(Chart::Bars(bars)) = chart else { panic!("the chart has no bars") };
        assert_eq!(bars.groups, ["a", "c"]);
        assert_eq!(bars.series.iter().map(|series| &*series.name).collect::<Vec<_>>(), ["x", "z"]);
        assert!(bars.series[0].bars[0].is_some() && bars.series[0].bars[1].is_none());
    }

    #[test]
    fn a_logarithmic_axis_has_no_zero() {
        let figure = |_: &str, x: f64| Rounds::new(vec![x]);
        let chart = |log| lines(("x", log), ("y", false), &["a"], &[0.0, 1.0], figure);
        let points = |chart| match chart {
            Some(Chart::Lines(lines)) => lines.lines[0].points.len(),
            _ => 0,
        };
        assert_eq!((points(chart(true)), points(chart(false))), (1, 2));
    }
}
