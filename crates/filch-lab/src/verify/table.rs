//! What was searched, as text.

use std::time::Duration;

use filch_model::models::{Case, Model};
use filch_model::search::Progress;

use super::Searched;
use crate::report::grid;

/// How to read a trace.
pub(super) const LEGEND: &str = "\
A row is a step of one thread: the line of its program, and what came of it; `~` is a step of the memory subsystem.
[...] is a store buffer, oldest store first; <...> an egress slot. Under memory: what changed in the step.
";

/// The models, a line each.
pub(super) fn list(models: &[Model]) -> String {
    let header = ["model", "cases", "what it is (and what it mirrors)"].map(str::to_owned);
    let lines: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let about = format!("{} ({})", model.about, model.mirrors);
            vec![model.name.to_owned(), model.cases.len().to_string(), about]
        })
        .collect();
    grid(&header, &lines) + "\n"
}

/// A case in a few words.
pub(super) fn name(model: &str, case: &Case) -> String {
    format!("{model} on {}{}", case.parameters.buffer(), numbers(case))
}

fn numbers(case: &Case) -> String {
    let parameters = &case.parameters;
    let mut text = String::new();
    for (number, one, many) in [(parameters.tasks, "task", "tasks"), (parameters.thieves, "thief", "thieves")] {
        if number > 0 {
            text += &format!(", {number} {}", if number == 1 { one } else { many });
        }
    }
    if parameters.delta != 0 || parameters.extra != 0 {
        text += &format!(", delta {}, {} extra", parameters.delta, parameters.extra);
    }
    for (name, value) in case.settings {
        text += &format!(", {} {value}", name.to_lowercase());
    }
    text
}

/// How far a search is.
pub(super) fn progress(progress: &Progress) -> String {
    format!(
        "{} states, {} steps, depth {}, {:.2} million steps a second, {}",
        progress.states,
        progress.steps,
        progress.depth,
        progress.rate() / 1e6,
        clock(progress.time)
    )
}

fn clock(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

/// What holds and what is refuted.
pub(super) fn results(searched: &[Searched]) -> String {
    let header = ["model", "machine", "states", "depth", "time", "verdict"].map(str::to_owned);
    let lines: Vec<Vec<String>> = searched
        .iter()
        .map(|one| {
            let found = one.outcome.counterexample.as_ref();
            let verdict = found.map_or_else(
                || "holds".to_owned(),
                |example| format!("refuted: {}, in {} steps", example.claim.refutation(), example.steps.len()),
            );
            let verdict = if one.is_as_listed() { verdict } else { format!("{verdict}  <- NOT AS EXPECTED") };
            let progress = &one.outcome.progress;
            vec![
                one.model.to_owned() + &numbers(&one.case),
                one.case.parameters.buffer().to_string(),
                progress.states.to_string(),
                progress.depth.to_string(),
                clock(progress.time),
                verdict,
            ]
        })
        .collect();
    let (states, steps) = searched.iter().fold((0, 0), |(states, steps), one| {
        (states + one.outcome.progress.states, steps + one.outcome.progress.steps)
    });
    let time: Duration = searched.iter().map(|one| one.outcome.progress.time).sum();
    let refuted = searched.iter().filter(|one| !one.outcome.holds()).count();
    let rate = steps as f64 / time.as_secs_f64().max(1e-9) / 1e6;
    format!(
        "\n{}\n{} searches: {} hold, {refuted} are refuted; {states} states, {steps} steps, {rate:.2} million steps a second, {}\n",
        grid(&header, &lines),
        searched.len(),
        searched.len() - refuted,
        clock(time)
    )
}
