//! The required content of charts.

use super::samples::{all, balance, bars, estimate, knee, sweep};
use super::*;

fn page_svg(chart: &Chart) -> String {
    svg(chart, Texts { id: "a", title: "A <title>", description: "What is & what is not" })
}

#[test]
fn every_chart_is_drawn_in_the_colours_of_the_page() {
    for (name, chart) in all() {
        let svg = page_svg(&chart);
        assert!(svg.starts_with("<svg class=\"chart\"") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert!(
            svg.contains("role=\"img\"") && svg.contains("<title id=\"a-title\">A &lt;title&gt;</title>"),
            "{name}"
        );
        assert!(svg.contains("<desc id=\"a-description\">What is &amp; what is not</desc>"), "{name}");
        assert!(svg.contains("currentColor") && svg.contains("var(--grid)"), "{name}");
        assert!(!svg.contains("\"#"), "{name} has a fixed colour");
        assert_eq!(svg.matches("<title").count(), svg.matches("</title>").count(), "{name}");
    }
}

#[test]
fn every_bar_has_a_tooltip_with_its_figure() {
    let Chart::Bars(mut chart) = bars(4, 3) else { unreachable!() };
    chart.groups[1] = "a < b".to_owned();
    let svg = page_svg(&Chart::Bars(chart));
    assert!(svg.contains("<title>fib, the: 0.85 (0.82 to 0.89)</title></rect>"), "{svg}");
    assert!(svg.contains("<title>a &lt; b, the: "), "{svg}");
    // A title for each bar, of which one is missing, and the title of the chart.
    assert_eq!(svg.matches("<title").count(), 4 * 3 - 1 + 1);
}

#[test]
fn a_file_is_self_contained_and_replaces_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.svg");
    std::fs::write(&path, "old").unwrap();
    for (name, chart) in all() {
        write(&path, &chart, "A title", "two cores").unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\"") && svg.contains("A title"), "{name}");
        assert!(svg.contains("two cores") && svg.contains("#1b1f27") && !svg.contains("var("), "{name}");
    }
}

#[test]
fn many_bars_have_names_and_few_bars_have_a_legend() {
    let names = |svg: &str| svg.matches("\nff_the\n").count();
    assert_eq!(names(&page_svg(&bars(4, 3))), 1);
    // Each group except the one without such a bar.
    assert_eq!(names(&page_svg(&bars(14, 15))), 13);
}

#[test]
fn a_bar_far_beyond_the_others_is_cut() {
    let Chart::Bars(mut chart) = bars(10, 4) else { unreachable!() };
    chart.series[0].bars[0] = Some(estimate(80.0));
    let svg = page_svg(&Chart::Bars(chart));
    assert!(svg.contains("\n80.0\n"), "the figure of the cut bar is missing");
    let heights = svg.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("<rect")?.split_once("height=\"")?;
        rest.split_once('"')?.0.parse::<i32>().ok()
    });
    assert!(heights.filter(|height| *height > 60).count() > 30, "the other bars are too small");
}

#[test]
fn empty_charts_and_values_that_are_not_finite_are_drawn() {
    let nan = Estimate { value: f64::NAN, low: f64::NAN, high: f64::INFINITY };
    let series = |bars| vec![BarSeries { name: "a".to_owned(), bars }];
    let bars = |groups: &[&str], series| {
        let groups = groups.iter().map(ToString::to_string).collect();
        Chart::Bars(Bars { axis: String::new(), groups, series, reference: None })
    };
    let lines = |points: Vec<(f64, Estimate)>, log| {
        let lines = vec![Line { name: "a".to_owned(), points }];
        let marker = Some((f64::NAN, "nowhere".to_owned()));
        Chart::Lines(Lines { x_axis: String::new(), y_axis: String::new(), log_x: log, log_y: log, lines, marker })
    };
    let map = |cells| Chart::HeatMap(HeatMap { x_axis: String::new(), y_axis: String::new(), cells, diagonal: true });
    for chart in [
        bars(&[], Vec::new()),
        bars(&["x"], series(vec![Some(nan)])),
        bars(&["x", "y"], series(vec![None])),
        bars(&["x"], series(vec![Some(estimate(0.0))])),
        lines(Vec::new(), false),
        lines(vec![(f64::NAN, nan), (1.0, nan)], false),
        lines(vec![(0.0, estimate(0.0)), (1.0, estimate(-1.0))], true),
        lines(vec![(1.0, nan), (2.0, Estimate { value: 1.0, low: f64::NAN, high: f64::NAN })], true),
        map(Vec::new()),
        map(vec![(0, 0, f64::NAN)]),
        Chart::Lanes(Lanes { axis: String::new(), groups: Vec::new() }),
        Chart::Lanes(Lanes { axis: String::new(), groups: vec![(String::new(), vec![(String::new(), Vec::new())])] }),
    ] {
        let svg = page_svg(&chart);
        assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{chart:?}");
        assert!(!csv(&chart).contains("NaN\n") || matches!(chart, Chart::HeatMap(_)), "{chart:?}");
    }
}

#[test]
fn one_incorrect_run_in_a_million_is_clearly_visible() {
    let map = |share: f64| {
        let axis = String::new;
        let map = HeatMap { x_axis: axis(), y_axis: axis(), cells: vec![(1, 1, share)], diagonal: false };
        page_svg(&Chart::HeatMap(map))
    };
    let [right, few, some, many] = [0.0, 1e-6, 0.01, 0.5].map(map);
    let matches = |svg: &str, text: &str| svg.matches(text).count();
    let legend = matches(&right, "var(--wrong)");
    for wrong in [&few, &some, &many] {
        assert!(matches(wrong, "var(--wrong)") > legend);
        assert_eq!(matches(wrong, "<polyline"), matches(&right, "<polyline") + 2, "a cross");
        for opacity in wrong.split(" opacity=\"").skip(1) {
            assert!(opacity.starts_with("1\""), "{}", &opacity[..opacity.len().min(40)]);
        }
    }
    assert!(few != some && some != many);
}

#[test]
fn a_sweep_with_large_deltas_keeps_small_deltas_apart() {
    let Chart::HeatMap(mut map) = sweep() else { unreachable!() };
    map.cells.extend([(73, 73, 0.0), (73, 511, 0.0)]);
    let svg = page_svg(&Chart::HeatMap(map));
    let lowest = |x: u32, y: u32| {
        let (before, _) = svg.split_once(&format!("<title>{x}, {y}: ")).unwrap();
        let (_, rect) = before.rsplit_once(" y=\"").unwrap();
        rect.split_once('"').unwrap().0.parse::<i32>().unwrap()
    };
    assert!(lowest(1, 1) - lowest(1, 3) > 40, "small deltas overlap");
    assert!(lowest(73, 73) > lowest(73, 511));
}

#[test]
fn the_csv_is_valid_for_spreadsheets() {
    let Chart::Bars(mut chart) = bars(2, 2) else { unreachable!() };
    chart.groups[1] = "a \"b\", c".to_owned();
    let csv = csv(&Chart::Bars(chart));
    assert_eq!(csv.lines().next(), Some("group,series,value,low,high"));
    assert_eq!(csv.lines().count(), 1 + 4);
    assert!(csv.contains("\"a \"\"b\"\", c\",the,"), "{csv}");
    assert_eq!(super::csv(&sweep()).lines().nth(1), Some("1,1,0"));
    assert!(super::csv(&balance()).contains("stealing,worker 1,28,29.9,yes\n"));
    assert_eq!(super::csv(&knee()).lines().count(), 1 + 110);
}

/// `FILCH_LOOK=folder cargo test -p filch-cli chart` writes them for inspection.
#[test]
fn the_sample_charts_are_written_if_requested() {
    let Some(folder) = std::env::var_os("FILCH_LOOK") else { return };
    for (name, chart) in all() {
        write(&Path::new(&folder).join(format!("{name}.svg")), &chart, name, "a subtitle, on a machine").unwrap();
    }
}
