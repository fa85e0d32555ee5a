//! Every algorithm as a program for the machine, and what the search must find about it.
//!
//! An algorithm is a text in the [language](crate::language), `NAME.tso`, which can be laid beside the file it mirrors, and a file of Rust, `NAME.rs`, that lists its models: the
//! algorithm as it is, and as it is no longer right (without its fence, without its tag). Each has cases: a machine, a number of tasks and thieves, and what is to be found.

mod asymmetric;
pub mod bulk;
mod chase_lev;
mod fence_free;
mod ff_cl;
mod ff_the;
mod idempotent;
mod runtime;
mod scenario;
mod the;
mod thep;

use crate::language::{Settings, SyntaxError};
use crate::machine::{Buffer, Claims, Coalescing, Machine};
use crate::search::{Claim, Effort};

/// An algorithm, or a broken form of one, with the cases it is searched in.
#[derive(Clone, Debug)]
pub struct Model {
    /// By the module's path, with what is different behind a slash: `ff_the`, `chase_lev/unfenced`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The file it mirrors, from the root of the workspace, or the figure it is taken from.
    pub mirrors: &'static str,
    /// Its program.
    pub text: &'static str,
    /// What makes this form of the program: settings that no option changes.
    pub form: &'static [(&'static str, i16)],
    /// What is claimed of it, besides that it meets no fault and is never stuck.
    pub claims: Claims,
    /// Whether it is also claimed that every fair run ends.
    pub ends: bool,
    /// What it can be told.
    pub takes: Takes,
    /// What is searched, and what is to be found. The first one is what options change.
    pub cases: Vec<Case>,
}

/// Which numbers a model can be given, and how large they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    /// From 1; most models have two.
    pub most_tasks: i16,
    /// From 1; 0 if the model has no thieves to choose.
    pub most_thieves: i16,
    /// Whether thieves allow for hidden pops.
    pub delta: bool,
    /// Whether the owner can make extra stores.
    pub extra: bool,
}

/// A machine and the numbers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The bound S; 0 is sequential consistency.
    pub bound: u8,
    /// What coalesces in the egress slot, if there is one.
    pub egress: Option<Coalescing>,
    /// `TASKS`.
    pub tasks: i16,
    /// `THIEVES`.
    pub thieves: i16,
    /// `DELTA`.
    pub delta: i16,
    /// `EXTRA`: the stores that the owner makes between two pops, beyond its own.
    pub extra: i16,
}

impl Parameters {
    /// A machine with this bound, and so many tasks and thieves.
    pub const fn new(bound: u8, tasks: i16, thieves: i16) -> Self {
        Parameters { bound, egress: None, tasks, thieves, delta: 0, extra: 0 }
    }

    /// The same with this delta and so many extra stores.
    pub const fn with_delta(self, delta: i16, extra: i16) -> Self {
        Parameters { delta, extra, ..self }
    }

    /// The same with an egress slot.
    pub const fn with_egress(self, coalescing: Coalescing) -> Self {
        Parameters { egress: Some(coalescing), ..self }
    }

    /// The store buffers.
    pub fn buffer(&self) -> Buffer {
        match (self.bound, self.egress) {
            (0, _) => Buffer::None,
            (bound, None) => Buffer::Bounded(bound),
            (bound, Some(coalescing)) => Buffer::Egress(bound, coalescing),
        }
    }
}

/// One search.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// On which machine, with which numbers.
    pub parameters: Parameters,
    /// Settings of this case alone.
    pub settings: &'static [(&'static str, i16)],
    /// What is to be found: a claim that is broken, or none.
    pub refuted: Option<Claim>,
    /// Whether it is small enough for the quick run.
    pub quick: bool,
}

impl Case {
    /// A case in which every claim holds.
    pub const fn holds(parameters: Parameters) -> Self {
        Case { parameters, settings: &[], refuted: None, quick: false }
    }

    /// A case in which this claim is broken.
    pub const fn refutes(claim: Claim, parameters: Parameters) -> Self {
        Case { parameters, settings: &[], refuted: Some(claim), quick: false }
    }

    /// The same with settings of its own.
    pub const fn with(self, settings: &'static [(&'static str, i16)]) -> Self {
        Case { settings, ..self }
    }

    /// The same in the quick run too.
    pub const fn quick(self) -> Self {
        Case { quick: true, ..self }
    }
}

impl Model {
    /// The machine of a case.
    ///
    /// # Errors
    ///
    /// If the program is not one with these numbers.
    pub fn machine(&self, case: &Case) -> Result<Machine, SyntaxError> {
        let Parameters { tasks, thieves, delta, extra, .. } = case.parameters;
        let numbers = [("TASKS", tasks), ("THIEVES", thieves), ("DELTA", delta), ("EXTRA", extra)];
        let all = numbers.iter().chain(self.form).chain(case.settings);
        let settings: Settings = all.map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Machine::new(self.text, &settings, case.parameters.buffer(), self.claims)
    }

    /// How hard to look.
    pub fn effort(&self, threads: usize) -> Effort {
        Effort { threads, ends: self.ends }
    }
}

/// All models, in the order in which they are shown.
pub fn all() -> Vec<Model> {
    let families = [
        chase_lev::models(),
        the::models(),
        ff_the::models(),
        ff_cl::models(),
        thep::models(),
        asymmetric::models(),
        idempotent::lifo::models(),
        idempotent::fifo::models(),
        idempotent::double_ended::models(),
        runtime::stack::models(),
        runtime::tasks::models(),
        runtime::sleep::models(),
        runtime::waiters::models(),
        runtime::seats::models(),
        bulk::queue::models(),
        bulk::published::models(),
    ];
    families.concat()
}

/// The model with this name.
pub fn named(name: &str) -> Option<Model> {
    all().into_iter().find(|model| model.name == name)
}

/// Searches the quick cases of some models, and panics at the first that is not as listed. `filch verify` does the same with all of them.
#[cfg(test)]
fn confirm(models: &[Model]) {
    for model in models {
        for case in model.cases.iter().filter(|case| case.quick) {
            let machine = model.machine(case).unwrap_or_else(|error| panic!("{}: {error}", model.name));
            let outcome = crate::search::run(&machine, model.effort(1), &mut |_| {});
            let broken = outcome.counterexample.map(|example| example.claim);
            println!("{}: {:?}: {broken:?}, {:?}", model.name, case, outcome.progress);
            assert_eq!(broken, case.refuted, "{} in {case:?}", model.name);
        }
    }
}
