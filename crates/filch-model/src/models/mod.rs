//! Every algorithm as a program for the machine, and the expected results of its search.
//!
//! An algorithm is a text in the [language](crate::language), `NAME.tso`, and a Rust file,
//! `NAME.rs`. A reader can compare the text with the file that it mirrors. The Rust file lists the
//! models: the algorithm as it is, and broken forms of it (without its fence, without its tag).
//! Each model has cases: a machine, a number of tasks and thieves, and the expected result.

mod asymmetric;
mod blitz;
pub mod bulk;
mod chase_lev;
mod fence_free;
mod ff_cl;
mod ff_the;
mod idempotent;
mod laws;
mod linearizability;
mod runtime;
mod scenario;
mod the;
mod thep;

use crate::language::{Settings, SyntaxError};
use crate::machine::{Buffer, Claims, Coalescing, Machine};
use crate::search::{Claim, Effort};

/// An algorithm, or a broken form of one, with the cases of its search.
#[derive(Clone, Debug)]
pub struct Model {
    /// The module's path, with the form after a slash: `ff_the`, `chase_lev/unfenced`.
    pub name: &'static str,
    /// A description of one line.
    pub about: &'static str,
    /// The mirrored file, relative to the workspace root, or the figure of a paper.
    pub mirrors: &'static str,
    /// The program.
    pub text: &'static str,
    /// The settings of this form of the program, which no option changes.
    pub form: &'static [(&'static str, i16)],
    /// The claims, besides that the program has no fault and never gets stuck.
    pub claims: Claims,
    /// Whether the claims include that every fair run ends.
    pub ends: bool,
    /// The numbers that options can set.
    pub takes: OptionLimits,
    /// The searches and their expected results. Options change the first case.
    pub cases: Vec<Case>,
}

/// The numbers that a model accepts, and their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionLimits {
    /// The most tasks. The least is 1; most models have two.
    pub most_tasks: i16,
    /// The most thieves. The least is 1; 0 means that the number is fixed.
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
    /// `EXTRA`: the stores that the owner makes between two pops, besides those of the pop.
    pub extra: i16,
}

impl Parameters {
    /// Creates parameters with this bound, this many tasks and this many thieves.
    pub const fn new(bound: u8, tasks: i16, thieves: i16) -> Self {
        Parameters { bound, egress: None, tasks, thieves, delta: 0, extra: 0 }
    }

    /// Sets the delta and the number of extra stores.
    pub const fn with_delta(self, delta: i16, extra: i16) -> Self {
        Parameters { delta, extra, ..self }
    }

    /// Adds an egress slot.
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

/// One search of a model, with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The machine and its numbers.
    pub parameters: Parameters,
    /// Settings of this case alone.
    pub settings: &'static [(&'static str, i16)],
    /// The expected result: a claim that is broken, or none.
    pub refuted: Option<Claim>,
    /// Whether the case is small enough for the quick run.
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

    /// Adds settings to the case.
    pub const fn with(self, settings: &'static [(&'static str, i16)]) -> Self {
        Case { settings, ..self }
    }

    /// Adds the case to the quick run.
    pub const fn quick(self) -> Self {
        Case { quick: true, ..self }
    }
}

impl Model {
    /// Returns the machine of a case.
    ///
    /// # Errors
    ///
    /// If the program does not compile with these numbers.
    pub fn machine(&self, case: &Case) -> Result<Machine, SyntaxError> {
        let Parameters { tasks, thieves, delta, extra, .. } = case.parameters;
        let numbers = [("TASKS", tasks), ("THIEVES", thieves), ("DELTA", delta), ("EXTRA", extra)];
        let all = numbers.iter().chain(self.form).chain(case.settings);
        let settings: Settings = all.map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Machine::new(self.text, &settings, case.parameters.buffer(), self.claims)
    }

    /// The search effort for this model.
    pub fn effort(&self, threads: usize) -> Effort {
        Effort { threads, ends: self.ends }
    }
}

/// Returns all models, in display order.
pub fn all() -> Vec<Model> {
    let families = [
        chase_lev::models(),
        the::models(),
        ff_the::models(),
        ff_cl::models(),
        thep::models(),
        linearizability::models(),
        laws::models(),
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
        blitz::deque::models(),
    ];
    families.concat()
}

/// Returns the model with this name.
pub fn named(name: &str) -> Option<Model> {
    all().into_iter().find(|model| model.name == name)
}

/// Searches the quick cases of some models. Panics at the first unexpected result. `filch-lab
/// verify` does the same with all models.
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
