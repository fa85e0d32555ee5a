//! Rows of figures, as JSON, as tables and as drawings.

mod plot;
mod table;

pub(crate) use filch_cli::format::{bytes, grid, grouped, number, threads, time};
pub(crate) use filch_cli::output_file::{check_writable, write as write_file, write_json};
pub(crate) use plot::write_plot;
pub(crate) use table::tables;

use serde::Serialize;

use crate::machine::Machine;
use crate::stats;

/// The samples of one implementation in one case.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// The case, by its name in plots.
    pub(crate) case: String,
    /// The implementation, by its name in plots.
    pub(crate) name: &'static str,
    /// How many threads took part.
    pub(crate) threads: usize,
    /// The unit of a sample.
    pub(crate) unit: &'static str,
    /// A sample for each round. The n-th samples of all series of a case are from the same round.
    pub(crate) samples: Vec<f64>,
    /// A note for readers.
    pub(crate) note: Option<String>,
}

impl Series {
    /// The median of the samples; NaN if there are none.
    pub(crate) fn median(&self) -> f64 {
        stats::median(&self.samples).unwrap_or(f64::NAN)
    }
}

/// A row of the JSON file.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'a> {
    suite: &'a str,
    case: &'a str,
    r#impl: &'a str,
    threads: usize,
    unit: &'a str,
    median: f64,
    min: f64,
    p90: f64,
    rounds: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    machine: &'a Machine,
}

/// Formats a number of seconds in the unit that suits it.
pub(crate) fn lasting(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{:.0} seconds", seconds.ceil()),
        ..5_400.0 => format!("{:.1} minutes", seconds / 60.0),
        _ => format!("{:.1} hours", seconds / 3_600.0),
    }
}

/// Returns a row for each series. A series without samples has no row.
pub(crate) fn rows<'a>(suite: &'a str, series: &'a [Series], machine: &'a Machine) -> Vec<Row<'a>> {
    let row = |series: &'a Series| {
        Some(Row {
            suite,
            case: &series.case,
            r#impl: series.name,
            threads: series.threads,
            unit: series.unit,
            median: rounded(stats::median(&series.samples)?),
            min: rounded(stats::min(&series.samples)?),
            p90: rounded(stats::p90(&series.samples)?),
            rounds: series.samples.len(),
            note: series.note.as_deref(),
            machine,
        })
    };
    series.iter().filter_map(row).collect()
}

/// Rounds a value to four digits after the point. Further digits are below what any clock resolves,
/// and make the file hard to read.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn series(name: &'static str, samples: &[f64]) -> Series {
        Series { case: "burst-64".to_owned(), name, threads: 1, unit: "ns/op", samples: samples.to_vec(), note: None }
    }

    pub(crate) fn machine() -> Machine {
        Machine { cpu: "a CPU".to_owned(), cores: 2, kernel: "a kernel".to_owned(), rustc: "1", commit: "c" }
    }

    #[test]
    fn a_row_has_the_keys_that_plots_read() {
        let machine = machine();
        let series = [series("chase_lev", &[3.0, 1.0, 2.00001])];
        let json = serde_json::to_value(rows("queues", &series, &machine)).unwrap();
        assert_eq!(
            json,
            serde_json::json!([{
                "suite": "queues", "case": "burst-64", "impl": "chase_lev", "threads": 1, "unit": "ns/op",
                "median": 2.0, "min": 1.0, "p90": 3.0, "rounds": 3,
                "machine": {"cpu": "a CPU", "cores": 2, "kernel": "a kernel", "rustc": "1", "commit": "c"},
            }])
        );
    }

    #[test]
    fn a_row_without_a_note_has_no_note_field() {
        let machine = machine();
        let mut noted = series("asymmetric", &[1.0]);
        noted.note = Some("membarrier".to_owned());
        let series = [noted, series("the", &[1.0])];
        let json = serde_json::to_value(rows("queues", &series, &machine)).unwrap();
        assert_eq!(json[0]["note"], "membarrier");
        assert!(json[1].get("note").is_none());
    }

    #[test]
    fn no_samples_make_no_row() {
        assert!(rows("queues", &[series("the", &[])], &machine()).is_empty());
    }
}
