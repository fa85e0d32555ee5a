//! The results of searches, as text.

use std::time::Duration;

use filch_model::delta::{formula, Entry};
use filch_model::litmus::Litmus;
use filch_model::machine::{Buffer, Coalescing};
use filch_model::models::{Case, Model};
use filch_model::search::{Claim, Progress};

use super::Searched;
use crate::figures::grid;

/// How to read a trace.
pub(super) const LEGEND: &str = "\
Each row is a step of one thread: the line of its program, and its effect. `~` is a step of the memory subsystem.
[...] is a store buffer, oldest store first. <...> is an egress slot. Under memory: what the step changed.
";

/// Formats a line for each model.
pub(super) fn list(models: &[Model]) -> String {
    let header = ["model", "cases", "description (and what it mirrors)"].map(str::to_owned);
    let lines: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let about = format!("{} ({})", model.about, model.mirrors);
            vec![model.name.to_owned(), model.cases.len().to_string(), about]
        })
        .collect();
    grid(&header, &lines) + "\n"
}

/// Formats the number of outcomes of each litmus test on each machine.
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
    header.push("description".to_owned());
    let line = |(test, counts): &(Litmus, Vec<usize>)| {
        let mut line = vec![test.name.to_owned()];
        line.extend(counts.iter().map(usize::to_string));
        line.push(test.about.to_owned());
        line
    };
    let lines: Vec<Vec<String>> = tests.iter().map(line).collect();
    format!(
        "{}\nA number is a TSO machine with this bound. + adds an egress slot that coalesces by word, = by line.\n",
        grid(&header, &lines)
    )
}

/// Formats the smallest safe deltas of a model.
///
/// It has a line for each machine and a column for each number of extra stores.
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
                    note = "differs from the formula".to_owned();
                }
                entry.least.map_or_else(|| "none".to_owned(), |least| least.to_string())
            }));
        }
        line.push(note);
        line
    };
    grid(&header, &buffers.iter().map(line).collect::<Vec<_>>()) + "\n"
}

/// Describes a case in a few words.
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

/// Formats the progress of a search.
pub(super) fn progress(progress: &Progress) -> String {
    format!(
        "{} states, {} steps, depth {}, {:.2} million steps per second, {}",
        progress.states,
        progress.steps,
        progress.depth,
        progress.rate() / 1e6,
        duration(progress.time)
    )
}

fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

/// Formats what holds and what is refuted.
///
/// If there is one model, each search has a line; otherwise each model has one.
pub(super) fn results(searched: &[Searched]) -> String {
    let models: Vec<&[Searched]> = searched.chunk_by(|a, b| a.model == b.model).collect();
    let table = match models[..] {
        [] => return "Nothing was searched: no case is selected.\n".to_owned(),
        [only] => cases(only),
        _ => summaries(&models),
    };
    let unexpected: Vec<&Searched> = searched.iter().filter(|one| !one.is_as_expected()).collect();
    let unexpected =
        unexpected.iter().map(|one| format!("UNEXPECTED: {}: {}\n", name(one.model, &one.case), verdict(one)));
    let (states, steps) = totals(searched);
    let time: Duration = searched.iter().map(|one| one.outcome.progress.time).sum();
    let refuted = searched.iter().filter(|one| !one.outcome.holds()).count();
    let search_time: Duration = searched.iter().map(|one| one.outcome.progress.search_time).sum();
    let rate = steps as f64 / search_time.as_secs_f64().max(1e-9) / 1e6;
    format!(
        "\n{table}\n{}{} searches: {} hold, {refuted} are refuted; {states} states, {steps} steps, {rate:.2} million steps per second, {}\n",
        unexpected.collect::<String>(),
        searched.len(),
        searched.len() - refuted,
        duration(time)
    )
}

fn totals(searched: &[Searched]) -> (usize, usize) {
    let progress = searched.iter().map(|one| one.outcome.progress);
    progress.fold((0, 0), |(states, steps), one| (states + one.states, steps + one.steps))
}

fn verdict(one: &Searched) -> String {
    match &one.outcome.counterexample {
        None => "holds".to_owned(),
        Some(example) => format!("refuted: {}, in {} steps", example.claim.refutation(), example.steps.len()),
    }
}

/// Formats a line for each search.
fn cases(searched: &[Searched]) -> String {
    let header = ["model", "machine", "states", "depth", "time", "verdict"].map(str::to_owned);
    let line = |one: &Searched| {
        let progress = &one.outcome.progress;
        vec![
            one.model.to_owned() + &numbers(&one.case),
            one.case.parameters.buffer().to_string(),
            progress.states.to_string(),
            progress.depth.to_string(),
            duration(progress.time),
            verdict(one),
        ]
    };
    grid(&header, &searched.iter().map(line).collect::<Vec<_>>())
}

/// Formats a line for each model.
fn summaries(models: &[&[Searched]]) -> String {
    let header = ["model", "searches", "bounds", "states", "largest", "time", "verdict"].map(str::to_owned);
    let line = |searched: &&[Searched]| {
        let bounds = searched.iter().map(|one| one.case.parameters.bound);
        let (least, most) = (bounds.clone().min().unwrap_or(0), bounds.max().unwrap_or(0));
        let egress = searched.iter().any(|one| one.case.parameters.egress.is_some());
        let bounds = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let largest = searched.iter().map(|one| one.outcome.progress.states).max().unwrap_or(0);
        vec![
            searched[0].model.to_owned(),
            searched.len().to_string(),
            bounds + if egress { ", egress" } else { "" },
            totals(searched).0.to_string(),
            largest.to_string(),
            duration(searched.iter().map(|one| one.outcome.progress.time).sum()),
            summary(searched),
        ]
    };
    grid(&header, &models.iter().map(line).collect::<Vec<_>>())
}

/// Formats how many hold, and the results of the others.
fn summary(searched: &[Searched]) -> String {
    let held = searched.iter().filter(|one| one.outcome.holds()).count();
    let broken = |claim: Claim| {
        let examples = searched.iter().filter_map(|one| one.outcome.counterexample.as_ref());
        examples.filter(|example| example.claim == claim).count()
    };
    let mut parts = Vec::new();
    if held > 0 {
        parts.push(if held == searched.len() { "holds".to_owned() } else { format!("{held} hold") });
    }
    for claim in Claim::ALL {
        match broken(claim) {
            0 => {}
            all if all == searched.len() => parts.push(format!("refuted: {}", claim.refutation())),
            some => parts.push(format!("{some} refuted: {}", claim.refutation())),
        }
    }
    parts.join("; ")
}
