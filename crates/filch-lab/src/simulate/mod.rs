//! `filch-lab simulate`: the coordinator of a run across machines, with thousands of ranks.
//!
//! It shows where the coordinator saturates.

mod arguments;
mod plot;
mod record;
mod table;

pub(crate) use arguments::Arguments;

use anyhow::Result;
use filch_mpi::simulate::{sweep, Calibration, Learnt, Plan, Recording, Row};
use serde::Serialize;

use crate::figures::{self, bytes, grouped, number, time};
use crate::machine::Machine;
use crate::{chart, print, say};

/// Runs `filch-lab simulate`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(wanted) = arguments.record()? {
        let recording = record::record(&wanted)?;
        let size = bytes(recording.to_bytes().len());
        return print(&format!("{}, {size} in {}\n", describe(&recording), wanted.out.display()));
    }
    for path in arguments.json.iter().chain(&arguments.plot) {
        figures::check_writable(path)?;
    }
    let recording = match &arguments.recording {
        Some(path) => record::read(path)?,
        None => {
            say("No recording given: recording the search of a random instance first.");
            record::record_generated(arguments.quick)?
        }
    };
    let plan = arguments.plan();
    print(&format!("{}\n{}\n", describe(&recording), describe_plan(&plan)))?;
    let (calibrations, rows) = simulate(&recording, &plan)?;
    print(&format!("{}{}", table::calibration(&calibrations), table::tables(&rows)))?;

    if let Some(path) = &arguments.json {
        let report = Report { machine: Machine::here(), recording: describe(&recording), calibrations, rows: &rows };
        figures::write_file(path, |file| Ok(serde_json::to_writer_pretty(file, &report)?))?;
    }
    if let Some(path) = &arguments.plot {
        let title = format!("One coordinator and many simulated ranks: {}", recording.name());
        chart::write_all(path, &plot::charts(&rows), &title, "weak scaling: the work grows with the ranks")?;
    }
    Ok(())
}

/// The content of the JSON file.
#[derive(Serialize)]
struct Report<'a> {
    machine: Machine,
    recording: String,
    calibrations: Vec<Calibration>,
    rows: &'a [Row],
}

fn simulate(recording: &Recording, plan: &Plan) -> Result<(Vec<Calibration>, Vec<Row>)> {
    let (mut calibrations, mut rows) = (Vec::new(), Vec::new());
    let mut on_result = |learnt: &Learnt| match learnt {
        Learnt::Calibrated(calibration) => {
            say(&format!("{} ranks", grouped(calibration.ranks)));
            calibrations.push(calibration.clone());
        }
        Learnt::Simulated(row) => rows.push(row.clone()),
    };
    sweep(recording, plan, &mut on_result)?;
    Ok((calibrations, rows))
}

fn describe(recording: &Recording) -> String {
    let (nodes, work) = (recording.nodes().len(), recording.work().as_secs_f64());
    format!(
        "Recorded: {}, {} nodes in {}, {} us each",
        recording.name(),
        grouped(nodes),
        time(work),
        number(1e6 * work / nodes.max(1) as f64)
    )
}

fn describe_plan(plan: &Plan) -> String {
    let settings = &plan.settings;
    format!(
        "Simulated: ranks with {} that wait {} to {} between polls; {} bytes per node; seed {}",
        figures::threads(settings.threads),
        time(settings.shortest_wait.as_secs_f64()),
        time(settings.longest_wait.as_secs_f64()),
        settings.node_bytes,
        settings.seed
    )
}
