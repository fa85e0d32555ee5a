//! What was searched, as text.

use std::time::Duration;

use filch_model::delta::{formula, Entry};
use filch_model::litmus::Litmus;
use filch_model::machine::{Buffer, Coalescing};
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

/// How many outcomes each litmus test has on each machine.
pub(super) fn litmus(tests: &[(Litmus, Vec<usize>)]) -> String {
    let machines = filch_model::litmus::buffers();
    let short = |buffer: &Buffer| match buffer {
        Buffer::None => "SC".to_owned(),
        Buffer::Bounded(bound) => bound.to_string(),
        Buffer::Egress(bound, Coalescing::Word) => format!("{bound}+"),
        Buffer::Egress(bound, Coalescing::Line) => format!("{bound}="),
    };
    let mut header = vec!["outcomes".to_owned()];
    header.extend(machines.iter().map(short));
    header.push("what it is about".to_owned());
    let line = |(test, counts): &(Litmus, Vec<usize>)| {
        let mut line = vec![test.name.to_owned()];
        line.extend(counts.iter().map(usize::to_string));
        line.push(test.about.to_owned());
        line
    };
    let lines: Vec<Vec<String>> = tests.iter().map(line).collect();
    format!(
        "{}\nA number is a TSO machine with that bound; + has an egress slot that coalesces by word, = by line. All outcomes that are allowed \
         were found, and no others.\n",
        grid(&header, &lines)
    )
}

/// The least safe deltas of a model: a line a machine, a column a number of extra stores.
pub(super) fn deltas(model: &str, entries: &[Entry]) -> String {
    let mut extras: Vec<i16> = entries.iter().map(|entry| entry.extra).collect();
    extras.sort_unstable();
    extras.dedup();
    let mut buffers: Vec<Buffer> = entries.iter().map(|entry| entry.buffer).collect();
    buffers.dedup();
    let mut header = vec![format!("{model}: least safe delta")];
    header.extend(extras.iter().map(|extra| format!("x = {extra}")));
    header.push(String::new());
    let line = |buffer: &Buffer| {
        let mut line = vec![buffer.to_string()];
        let mut note = String::new();
        for extra in &extras {
            let entry = entries.iter().find(|entry| entry.buffer == *buffer && entry.extra == *extra);
            line.push(entry.map_or_else(String::new, |entry| {
                if entry.least != formula(entry.buffer, entry.extra) {
                    note = "not what the formula says".to_owned();
                }
                entry.least.map_or_else(|| "none".to_owned(), |least| least.to_string())
            }));
        }
        line.push(note);
        line
    };
    grid(&header, &buffers.iter().map(line).collect::<Vec<_>>()) + "\n"
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
