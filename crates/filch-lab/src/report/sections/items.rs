//! Turns figures into bars, lines and tables, or a sentence if there are none.

use crate::bench::THREADS;
use crate::chart::{BarSeries, Bars, Chart, Estimate, Line, Lines};
use crate::claims::Rounds;
use crate::figures::{number, threads};
use crate::report::page::{Cell, Item, Table, Texts};

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
    match chart {
        None => missing(&texts.title, &texts.command),
        Some(chart) => Item::Figure(texts, chart),
    }
}

/// Makes a drawing, or a sentence if there is nothing to draw. The sentence has the reason, if one
/// is known.
pub(super) fn figure_or(texts: Texts, chart: Option<Chart>, why: Option<&str>) -> Item {
    match (chart, why) {
        (None, Some(why)) => text(format!("{}: not measured in this run: {why}.", texts.title)),
        (chart, _) => figure(texts, chart),
    }
}

/// A table that is made column by column, from what its rows are about.
pub(super) struct Columns<R> {
    /// For each row: what it is about, its cells, and whether it has more than names.
    rows: Vec<(R, Vec<Cell>, bool)>,
    header: Vec<String>,
}

impl<R> Columns<R> {
    /// Begins a table with a row for each of these.
    pub(super) fn of(rows: impl IntoIterator<Item = R>) -> Columns<R> {
        Columns { rows: rows.into_iter().map(|row| (row, Vec::new(), false)).collect(), header: Vec::new() }
    }

    fn push(mut self, heading: &str, cell: impl Fn(&R) -> Cell, is_figure: bool) -> Self {
        self.header.push(heading.to_owned());
        for (row, cells, has_figures) in &mut self.rows {
            let cell = cell(row);
            *has_figures |= is_figure && cell != Cell::Empty;
            cells.push(cell);
        }
        self
    }

    /// Adds a column of names.
    pub(super) fn name<T: Into<String>>(self, heading: &str, name: impl Fn(&R) -> T) -> Self {
        self.push(heading, |row| Cell::Text(name(row).into()), false)
    }

    /// Adds a column of numbers that are part of a row's name.
    pub(super) fn number(self, heading: &str, number: impl Fn(&R) -> usize) -> Self {
        self.push(heading, |row| count(number(row) as u64), false)
    }

    /// Adds a column of cells.
    pub(super) fn cell(self, heading: &str, cell: impl Fn(&R) -> Cell) -> Self {
        self.push(heading, cell, true)
    }

    /// Adds a column of figures.
    pub(super) fn value(self, heading: &str, figure: impl Fn(&R) -> Option<Rounds>) -> Self {
        let text = |figure: Rounds| Cell::Number(figure.value(), number(figure.value()));
        self.cell(heading, |row| figure(row).map_or(Cell::Empty, text))
    }

    /// Adds a column of figures with their intervals.
    pub(super) fn interval(self, heading: &str, figure: impl Fn(&R) -> Option<Rounds>) -> Self {
        let text = |figure: Rounds| Cell::Number(figure.value(), figure.text());
        self.cell(heading, |row| figure(row).map_or(Cell::Empty, text))
    }

    /// Adds a column of figures for each of these names.
    pub(super) fn values(self, names: &[&'static str], figure: impl Fn(&R, &'static str) -> Option<Rounds>) -> Self {
        names.iter().fold(self, |columns, &name| columns.value(name, |row| figure(row, name)))
    }

    /// Makes the table, or a sentence if no row has figures.
    pub(super) fn table(self, texts: Texts) -> Item {
        let rows = self.rows.into_iter().filter(|(_, _, has_figures)| *has_figures);
        let rows: Vec<Vec<Cell>> = rows.map(|(_, cells, _)| cells).collect();
        if rows.is_empty() {
            return missing(&texts.title, &texts.command);
        }
        Item::Table(texts, Table { header: self.header, rows })
    }
}

/// Makes a cell with a whole number.
pub(super) fn count(number: u64) -> Cell {
    Cell::Number(number as f64, crate::figures::grouped(usize::try_from(number).unwrap_or(usize::MAX)))
}

/// Pairs each case or implementation with its name in a chart.
pub(super) fn as_named<T: AsRef<str> + Clone>(all: &[T]) -> Vec<(String, T)> {
    all.iter().map(|one| (one.as_ref().to_owned(), one.clone())).collect()
}

/// Returns 1 thread and several, with their names.
pub(super) fn thread_counts() -> [(String, usize); 2] {
    [1, THREADS].map(|count| (threads(count), count))
}

/// Returns each of these with 1 thread and with several, and a name for each pair.
pub(super) fn by_threads<T: Copy>(all: &[(T, &str)]) -> Vec<(String, (T, usize))> {
    let named = |&(one, name): &(T, &str)| thread_counts().map(|(of, count)| (format!("{name}, {of}"), (one, count)));
    all.iter().flat_map(named).collect()
}

/// Makes groups of bars. `figure` returns the figure of a group and a series.
///
/// Series without bars and groups without bars are left out. Returns `None` if none is left. An
/// axis of ratios, which says what is 1, has a line there.
pub(super) fn bars<G, S>(
    axis: &str,
    groups: &[(String, G)],
    series: &[(String, S)],
    figure: impl Fn(&G, &S) -> Option<Rounds>,
) -> Option<Chart> {
    let bars = |group: &G| -> Vec<Option<Estimate>> {
        series.iter().map(|(_, of)| Some(figure(group, of)?.estimate())).collect()
    };
    let groups = groups.iter().map(|(name, group)| (name, bars(group)));
    let groups: Vec<_> = groups.filter(|(_, bars)| bars.iter().any(Option::is_some)).collect();
    let series = series.iter().enumerate().map(|(place, (name, _))| BarSeries {
        name: name.clone(),
        bars: groups.iter().map(|(_, bars)| bars[place]).collect(),
    });
    let series: Vec<BarSeries> = series.filter(|series| series.bars.iter().any(Option::is_some)).collect();
    let groups: Vec<String> = groups.into_iter().map(|(name, _)| name.clone()).collect();
    let reference = axis.ends_with(" = 1").then_some(1.0);
    (!series.is_empty()).then(|| Chart::Bars(Bars { axis: axis.to_owned(), groups, series, reference }))
}

/// Makes lines over numbers. `figure` returns the figure of a line at a number.
///
/// A line without points is left out. Returns `None` if none is left.
pub(super) fn lines<L>(
    (x_axis, log_x): (&str, bool),
    (y_axis, log_y): (&str, bool),
    lines: &[(String, L)],
    along: &[usize],
    figure: impl Fn(&L, usize) -> Option<Rounds>,
) -> Option<Chart> {
    // Zero has no place on a logarithmic axis.
    let fits = |x: f64, estimate: &Estimate| (!log_x || x > 0.0) && (!log_y || estimate.low > 0.0);
    let line = |(name, of): &(String, L)| {
        let point = |&x: &usize| Some((x as f64, figure(of, x)?.estimate())).filter(|(x, point)| fits(*x, point));
        Line { name: name.clone(), points: along.iter().filter_map(point).collect() }
    };
    let lines: Vec<Line> = lines.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let (x_axis, y_axis) = (x_axis.to_owned(), y_axis.to_owned());
    (!lines.is_empty()).then_some(Chart::Lines(Lines { x_axis, y_axis, log_x, log_y, lines, marker: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_item_is_a_sentence_with_its_command() {
        let texts = Texts::new("a-figure", "A figure", "What to see.", bench("queues", false, &["steal"]));
        let sentence = "A figure: not measured in this run. `cargo run --release -- bench queues --quick --case steal` measures it.";
        let named = Columns::of(["only a name"]).name("a", |row| *row).value("b", |_| None);
        for item in [figure(texts.clone(), None), named.table(texts)] {
            assert!(matches!(&item, Item::Text(text) if text == sentence), "{item:?}");
        }
        assert_eq!(bench("queues", true, &[]), "cargo run --release -- bench queues");
    }

    #[test]
    fn groups_and_series_without_bars_are_left_out() {
        let rounds = |value| Rounds::new(vec![value]);
        let (groups, series) = (as_named(&["a", "b", "c"]), as_named(&["x", "y", "z"]));
        let chart = bars("ns", &groups, &series, |&group, &name| match (group, name) {
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
        let figure = |_: &&str, x: usize| Rounds::new(vec![x as f64]);
        let chart = |log| lines(("x", log), ("y", false), &as_named(&["a"]), &[0, 1], figure);
        let points = |chart| match chart {
            Some(Chart::Lines(lines)) => lines.lines[0].points.len(),
            _ => 0,
        };
        assert_eq!((points(chart(true)), points(chart(false))), (1, 2));
    }
}
