//! Command-line arguments of `filch-lab verify`.

use anyhow::{bail, ensure, Result};
use clap::{Args, ValueEnum};
use filch_model::machine::Coalescing;
use filch_model::models::{self, Case, Model};

/// The largest store buffer that can be searched in reasonable time.
const LARGEST_BOUND: u8 = 8;
/// The largest delta that a model has room for.
const LARGEST_DELTA: i16 = 12;
/// The most extra stores that a model has room for.
const MAX_EXTRA: i16 = 4;

/// Search every state of the models: which claims hold and which are refuted.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Search the models whose names begin with this; without it, all models.
    name: Option<String>,

    /// List the models and exit.
    #[arg(long, group = "instead")]
    pub(super) list: bool,

    /// Run the litmus tests on every abstract machine instead.
    #[arg(long, group = "instead", conflicts_with = "name")]
    pub(super) litmus: bool,

    /// Find the least safe delta of each fence-free queue, for bounds up to --bound.
    #[arg(long, group = "instead")]
    pub(super) deltas: bool,

    /// Replay the run that refutes the published bulk queue, on its listings in Rust.
    #[arg(long, group = "instead", conflicts_with = "name")]
    pub(super) replay: bool,

    /// Search only the small cases, in less than two minutes.
    #[arg(long)]
    pub(super) quick: bool,

    /// Print the shortest run that refutes the model, one column per thread.
    #[arg(long, requires = "name", group = "instead")]
    pub(super) trace: bool,

    /// Print the model's program as well.
    #[arg(long, requires = "name")]
    pub(super) program: bool,

    /// Serve the model's states to a browser on this machine, until interrupted.
    #[arg(long, requires = "name", group = "instead")]
    pub(super) explore: bool,

    /// Serve at this port, or at any free one if it is taken.
    #[arg(long, value_name = "PORT", default_value_t = 3000, requires = "explore")]
    pub(super) port: u16,

    /// Set the bound S, the capacity of a store buffer; 0 is sequential consistency.
    #[arg(long, value_name = "S", value_parser = bound)]
    bound: Option<u8>,

    /// Set delta, the number of hidden pops that a thief allows for.
    #[arg(long, value_name = "N", requires = "name", value_parser = delta)]
    delta: Option<i16>,

    /// Set the number of extra stores of the owner between two pops.
    #[arg(long, value_name = "N", requires = "name", value_parser = extra)]
    extra: Option<i16>,

    /// Set the number of tasks.
    #[arg(long, value_name = "N", requires = "name")]
    tasks: Option<i16>,

    /// Set the number of thieves.
    #[arg(long, value_name = "N", requires = "name")]
    thieves: Option<i16>,

    /// Set which stores coalesce on their way to memory.
    #[arg(long, value_name = "WHICH", requires = "name")]
    egress: Option<Egress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Egress {
    /// No stores: there is no egress slot.
    None,
    /// Consecutive stores to the same word.
    Word,
    /// Consecutive stores to the same cache line.
    Line,
}

impl Arguments {
    /// Returns the selected models.
    pub(super) fn models(&self) -> Result<Vec<Model>> {
        let all = models::all();
        let Some(name) = &self.name else {
            ensure!(!self.is_custom() || self.deltas, "--bound applies to one model, or to --deltas; name the model");
            return Ok(all);
        };
        let known: Vec<&str> = all.iter().map(|model| model.name).collect();
        let known = known.join(", ");
        let exactly = self.trace || self.explore || self.is_custom();
        let found: Vec<Model> = match all.iter().find(|model| model.name == name) {
            Some(model) if exactly => vec![model.clone()],
            _ if exactly => Vec::new(),
            _ => all.into_iter().filter(|model| model.name.starts_with(name.as_str())).collect(),
        };
        ensure!(!found.is_empty(), "no model is named `{name}`; the models are {known}");
        Ok(found)
    }

    /// The bound up to which deltas are searched for.
    pub(super) fn largest_bound(&self) -> u8 {
        self.bound.unwrap_or(if self.quick { 2 } else { 4 })
    }

    /// Whether a case is requested that is not in the list.
    pub(super) fn is_custom(&self) -> bool {
        self.bound.is_some()
            || self.delta.is_some()
            || self.extra.is_some()
            || self.tasks.is_some()
            || self.thieves.is_some()
            || self.egress.is_some()
    }

    /// Returns the first case of a model, with the given numbers.
    pub(super) fn case(&self, model: &Model) -> Result<Case> {
        let Some(mut case) = model.cases.first().cloned() else {
            bail!("`{}` has no cases", model.name);
        };
        let (takes, parameters) = (model.takes, &mut case.parameters);
        within("--tasks", self.tasks, takes.most_tasks, model)?;
        within("--thieves", self.thieves, takes.most_thieves, model)?;
        ensure!(self.delta.is_none() || takes.delta, "`{}` has no delta: --delta does not apply", model.name);
        ensure!(self.extra.is_none() || takes.extra, "`{}` makes no extra stores: --extra does not apply", model.name);
        parameters.bound = self.bound.unwrap_or(parameters.bound);
        parameters.delta = self.delta.unwrap_or(parameters.delta);
        parameters.extra = self.extra.unwrap_or(parameters.extra);
        parameters.tasks = self.tasks.unwrap_or(parameters.tasks);
        parameters.thieves = self.thieves.unwrap_or(parameters.thieves);
        parameters.egress = match self.egress {
            None => parameters.egress,
            Some(Egress::None) => None,
            Some(Egress::Word) => Some(Coalescing::Word),
            Some(Egress::Line) => Some(Coalescing::Line),
        };
        ensure!(
            parameters.bound > 0 || parameters.egress.is_none(),
            "a bound of 0 means no store buffer, so stores cannot coalesce; give --bound or --egress none"
        );
        Ok(case)
    }
}

fn within(option: &str, given: Option<i16>, most: i16, model: &Model) -> Result<()> {
    let Some(given) = given else {
        return Ok(());
    };
    ensure!(most > 0, "`{}` has a fixed number: {option} does not apply", model.name);
    ensure!((1..=most).contains(&given), "{option} of `{}` may be from 1 to {most}, not {given}", model.name);
    Ok(())
}

fn bound(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(bound @ 0..=LARGEST_BOUND) => Ok(bound),
        Ok(_) => Err(format!("the search takes too long above a bound of {LARGEST_BOUND}")),
        Err(_) => Err(format!("this is not a bound; give 0 to {LARGEST_BOUND}")),
    }
}

fn delta(text: &str) -> Result<i16, String> {
    up_to(LARGEST_DELTA, "pops", text)
}

fn extra(text: &str) -> Result<i16, String> {
    up_to(MAX_EXTRA, "stores", text)
}

fn up_to(most: i16, things: &str, text: &str) -> Result<i16, String> {
    let number = text.parse().ok().filter(|number| (0..=most).contains(number));
    number.ok_or_else(|| format!("this is not a number of {things}; give 0 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn parse(words: &[&str]) -> Result<Arguments, String> {
        command_line::parse(words)
    }

    /// Returns the error message, from parsing or at the latest from making the case.
    fn refusal(words: &[&str]) -> String {
        let arguments = match parse(words) {
            Ok(arguments) => arguments,
            Err(refusal) => return refusal,
        };
        let case = arguments.models().and_then(|models| arguments.case(&models[0]));
        case.expect_err(&format!("{words:?} should be refused")).to_string()
    }

    #[test]
    fn without_a_name_all_models_are_selected() {
        assert_eq!(parse(&[]).unwrap().models().unwrap().len(), models::all().len());
    }

    #[test]
    fn a_name_is_a_prefix_unless_one_model_is_needed() {
        let names = |words: &[&str]| -> Vec<&str> {
            parse(words).unwrap().models().unwrap().iter().map(|model| model.name).collect()
        };
        assert!(names(&["chase_lev"]).contains(&"chase_lev/unfenced"));
        assert_eq!(names(&["chase_lev", "--trace"]), ["chase_lev"]);
        assert_eq!(names(&["chase_lev", "--bound", "2"]), ["chase_lev"]);
    }

    #[test]
    fn options_change_the_first_case() {
        let words = ["ff_the", "--bound", "3", "--delta", "2", "--tasks", "4", "--thieves", "1", "--extra", "1"];
        let arguments = parse(&words).unwrap();
        assert!(arguments.is_custom());
        let parameters = arguments.case(&arguments.models().unwrap()[0]).unwrap().parameters;
        assert_eq!((parameters.bound, parameters.delta, parameters.extra), (3, 2, 1));
        assert_eq!((parameters.tasks, parameters.thieves), (4, 1));
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            (&["unknown"][..], "no model is named `unknown`; the models are chase_lev"),
            (&["chase", "--trace"], "no model is named `chase`"),
            (&["--bound", "2"], "name the model"),
            (&["--litmus", "--deltas"], "cannot be used with"),
            (&["chase_lev", "--litmus"], "cannot be used with"),
            (&["--delta", "2"], "required"),
            (&["--trace"], "required"),
            (&["chase_lev", "--bound", "9"], "too long above a bound of 8"),
            (&["chase_lev", "--bound", "-1"], "unexpected argument"),
            (&["chase_lev", "--bound", "two"], "not a bound"),
            (&["chase_lev", "--tasks", "0"], "may be from 1 to"),
            (&["chase_lev", "--tasks", "1000"], "may be from 1 to"),
            (&["chase_lev", "--thieves", "0"], "may be from 1 to"),
            (&["chase_lev", "--delta", "1"], "`chase_lev` has no delta: --delta does not apply"),
            (&["chase_lev", "--extra", "1"], "`chase_lev` makes no extra stores: --extra does not apply"),
            (&["ff_the", "--delta", "x"], "not a number of pops"),
            (&["chase_lev", "--bound", "0", "--egress", "word"], "no store buffer, so stores cannot coalesce"),
            (&["chase_lev", "--explore", "--trace"], "cannot be used with"),
        ] {
            let refusal = refusal(words);
            assert!(refusal.contains(reason), "{words:?}: {refusal}");
        }
    }
}
