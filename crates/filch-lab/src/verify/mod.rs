//! `filch-lab verify`: searches the models of filch-model, with a progress display.

mod arguments;
mod table;

pub(crate) use arguments::Arguments;

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::thread;

use anyhow::{ensure, Context, Result};
use filch_model::machine::Machine;
use filch_model::models::{bulk, Case, Model};
use filch_model::search::{self, Outcome, Progress};
use filch_model::trace::Trace;
use filch_model::{delta, explore, litmus};

use crate::bench::at_once::on_threads;
use crate::sync::lock;
use crate::{print, say, watch};

/// A case that was searched.
struct Searched {
    model: &'static str,
    case: Case,
    /// Whether the expected result is known.
    listed: bool,
    outcome: Outcome,
}

impl Searched {
    fn is_as_expected(&self) -> bool {
        let broken = self.outcome.counterexample.as_ref().map(|example| example.claim);
        !self.listed || broken == self.case.refuted
    }
}

/// Lists, searches, shows or serves what the arguments select.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let models = arguments.models()?;
    if arguments.list {
        return print(&table::list(&models));
    }
    if arguments.litmus {
        return run_litmus();
    }
    if arguments.deltas {
        return search_deltas(&models, arguments.largest_bound());
    }
    if arguments.replay {
        return print(&bulk::replay().to_string());
    }
    if arguments.program {
        for model in &models {
            print(&format!("{}, after {}\n\n{}\n", model.name, model.mirrors, model.text))?;
        }
    }
    if arguments.explore {
        return serve(&models[0], &arguments.case(&models[0])?, arguments.port);
    }
    if arguments.trace {
        return print_trace(&models[0], arguments);
    }
    if models.len() > 1 {
        print(&table::list(&models))?;
    }
    let mut searched = Vec::new();
    for model in &models {
        let listed = !arguments.is_custom();
        let cases = if listed { listed_cases(model, arguments.quick) } else { vec![arguments.case(model)?] };
        for case in cases {
            let outcome = search(model, &case, &machine(model, &case)?);
            searched.push(Searched { model: model.name, case, listed, outcome });
        }
    }
    print(&table::results(&searched))?;
    let wrong = searched.iter().filter(|searched| !searched.is_as_expected()).count();
    ensure!(wrong == 0, "{wrong} of {} searches had an unexpected result", searched.len());
    Ok(())
}

/// The results of the searches of a model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// The name of the model.
    pub(crate) model: &'static str,
    /// The number of cases that were searched.
    pub(crate) searches: usize,
    /// The number of states of these cases.
    pub(crate) states: u64,
    /// The number of cases whose claims hold.
    pub(crate) hold: usize,
    /// The number of cases that break a claim.
    pub(crate) refuted: usize,
    /// The number of cases whose result differs from the list.
    pub(crate) unexpected: usize,
}

impl Summary {
    fn add(&mut self, searched: &Searched) {
        let holds = searched.outcome.holds();
        self.searches += 1;
        self.states += searched.outcome.progress.states as u64;
        self.hold += usize::from(holds);
        self.refuted += usize::from(!holds);
        self.unexpected += usize::from(!searched.is_as_expected());
    }
}

/// Searches every model silently, until all are done or it [is over](watch::is_over).
///
/// It searches at most `most` of a model's listed or quick cases, spread evenly over the list. The
/// searches of a quick run are small: each core searches a model of its own.
pub(crate) fn summaries(models: &[Model], quick: bool, most: usize) -> Result<Vec<Summary>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (at_once, threads) = if quick { (cores, 1) } else { (1, cores) };
    let names: Vec<&str> = models.iter().map(|model| model.name).collect();
    let next = Mutex::new(watch::each(&names).zip(models).enumerate());
    let lists = on_threads("a search", 0..at_once, |_| {
        let mut summaries = Vec::new();
        loop {
            let Some((place, (_, model))) = lock(&next).next() else { return Ok(summaries) };
            summaries.push((place, summarize(model, quick, most, threads)?));
        }
    })?;
    let mut summaries: Vec<(usize, Summary)> = lists.into_iter().collect::<Result<Vec<_>>>()?.concat();
    summaries.sort_unstable_by_key(|(place, _)| *place);
    Ok(summaries.into_iter().map(|(_, summary)| summary).filter(|summary| summary.searches > 0).collect())
}

fn summarize(model: &Model, quick: bool, most: usize, threads: usize) -> Result<Summary> {
    let mut summary = Summary { model: model.name, ..Summary::default() };
    for case in spread(listed_cases(model, quick), most) {
        if watch::is_over() {
            break;
        }
        let outcome = search::run(&machine(model, &case)?, model.effort(threads), &mut |_| ());
        summary.add(&Searched { model: model.name, case, listed: true, outcome });
        watch::sample();
    }
    Ok(summary)
}

/// Returns the cases of a model, or only the cases of a quick run.
fn listed_cases(model: &Model, quick: bool) -> Vec<Case> {
    model.cases.iter().filter(|case| case.quick || !quick).cloned().collect()
}

/// Returns at most `most` items, spread evenly over the list, including the first.
fn spread<T>(list: Vec<T>, most: usize) -> Vec<T> {
    let (length, most) = (list.len(), most.min(list.len()));
    let is_wanted = |place: usize| (place * most) % length < most;
    list.into_iter().enumerate().filter(|(place, _)| is_wanted(*place)).map(|(_, item)| item).collect()
}

/// Returns the machine of a case.
fn machine(model: &Model, case: &Case) -> Result<Machine> {
    model.machine(case).with_context(|| cannot_run(model))
}

fn cannot_run(model: &Model) -> String {
    format!("`{}` cannot run with these numbers", model.name)
}

/// Searches a case on all cores, with a progress line on standard error.
fn search(model: &Model, case: &Case, machine: &Machine) -> Outcome {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let what = table::name(model.name, case);
    let watched = io::stderr().is_terminal();
    let line = |progress: &Progress, end: &str| {
        if watched {
            let _ = write!(io::stderr(), "\r\x1b[K{what}: {}{end}", table::progress(progress));
        }
    };
    line(&Progress::default(), "");
    let outcome = search::run(machine, model.effort(cores), &mut |progress| line(&progress, ""));
    if watched {
        line(&outcome.progress, "\n");
    } else {
        say(&format!("{what}: {}", table::progress(&outcome.progress)));
    }
    outcome
}

/// Runs the litmus tests on every machine.
fn run_litmus() -> Result<()> {
    let mut wrong = Vec::new();
    let mut lines = Vec::new();
    for test in litmus::all() {
        let mut counts = Vec::new();
        for buffer in litmus::buffers() {
            let (found, expected) = (litmus::run(&test, buffer), test.expected(buffer));
            if found != expected {
                wrong.push(format!("{} on {buffer}", test.name));
            }
            counts.push(found.len());
        }
        lines.push((test, counts));
    }
    print(&table::litmus(&lines))?;
    ensure!(wrong.is_empty(), "unexpected outcomes: {}", wrong.join(", "));
    print("The searches found all allowed outcomes, and no others.\n")
}

/// Searches for the smallest safe delta of each model that has one.
fn search_deltas(models: &[Model], largest: u8) -> Result<()> {
    let fewest = |model: &Model| delta::MODELS.iter().find(|(name, _)| *name == model.name).map(|(_, fewest)| *fewest);
    let with_delta: Vec<(&Model, i16)> = models.iter().filter_map(|model| Some((model, fewest(model)?))).collect();
    let known = delta::MODELS.map(|(name, _)| name).join(", ");
    ensure!(!with_delta.is_empty(), "none of these models has a delta; the models with one are {known}");
    for (model, fewest) in with_delta {
        let mut entries = Vec::new();
        for entry in delta::table(model, largest, fewest..=3) {
            let entry = entry.with_context(|| cannot_run(model))?;
            let least = entry.least.map_or_else(|| "none".to_owned(), |least| least.to_string());
            say(&format!("{} on {}, {} extra stores: {least}", model.name, entry.buffer, entry.extra));
            entries.push(entry);
        }
        print(&table::deltas(model.name, &entries))?;
    }
    Ok(())
}

/// Prints the shortest run that refutes a model.
fn print_trace(model: &Model, arguments: &Arguments) -> Result<()> {
    // A listed case that is known to be refuted, unless numbers were given.
    let case = match model.cases.iter().find(|case| case.refuted.is_some()) {
        Some(case) if !arguments.is_custom() => case.clone(),
        _ => arguments.case(model)?,
    };
    let machine = machine(model, &case)?;
    let outcome = search(model, &case, &machine);
    let name = table::name(model.name, &case);
    match &outcome.counterexample {
        Some(example) => {
            let what = example.claim.refutation();
            print(&format!("{name}: {what}.\n\n{}\n{}", Trace::of(&machine, example), table::LEGEND))
        }
        None => print(&format!(
            "{name}: nothing is refuted, so there is no run to show ({}).\n",
            table::progress(&outcome.progress)
        )),
    }
}

fn serve(model: &Model, case: &Case, port: u16) -> Result<()> {
    let machine = machine(model, case)?;
    let address = explore::free_address(port).context("cannot find a free port on the loopback interface")?;
    print(&format!(
        "{}: serving at http://{address}/, for this machine only. Press Ctrl-C to stop.\n",
        table::name(model.name, case)
    ))?;
    explore::serve(machine, address);
    Ok(())
}

#[cfg(test)]
mod tests {
    use filch_model::models;

    use super::*;

    #[test]
    fn a_selection_is_spread_over_the_list() {
        assert_eq!(spread((0..10).collect(), 3), [0, 4, 7]);
        assert_eq!(spread((0..5).collect(), 5), [0, 1, 2, 3, 4]);
        assert_eq!(spread(vec![1, 2], 9), [1, 2]);
        assert_eq!(spread(vec![1, 2], 0), [0; 0]);
        assert!(spread(Vec::<u8>::new(), 2).is_empty());
        for (length, most) in [(69, 4), (7, 6), (30, 7)] {
            assert_eq!(spread((0..length).collect::<Vec<_>>(), most).len(), most);
        }
    }

    #[test]
    fn searches_are_counted_by_result() {
        let find = |name| models::all().into_iter().find(|model| model.name == name).unwrap();
        let summaries = summaries(&[find("the"), find("the/unfenced")], true, 1).unwrap();
        let counts = |of: &Summary| (of.model, of.searches, of.hold, of.refuted, of.unexpected);
        let found: Vec<_> = summaries.iter().map(counts).collect();
        assert_eq!(found, [("the", 1, 1, 0, 0), ("the/unfenced", 1, 0, 1, 0)]);
        assert!(summaries[0].states > 100);
    }

    #[test]
    fn a_result_that_differs_from_the_list_is_unexpected() {
        let model = models::all().into_iter().find(|model| model.name == "the/unfenced").unwrap();
        let mut wrong = model.clone();
        wrong.cases.iter_mut().for_each(|case| case.refuted = None);
        let summaries = summaries(&[wrong], true, 1).unwrap();
        assert_eq!(summaries[0].unexpected, 1);
    }
}
