//! The protocol, model-checked: the code that runs, with searches of a tiny tree, and messages that are as late as they like.
//!
//! Every order of events is tried: which rank looks at which node when, when messages arrive, when a rank says how much it has, when a checkpoint is taken and somebody wants to stop. In every state each node is in one place or done,
//! the bound holds for all that is open, and something can happen unless the run is over; the end is declared only when all is done; and what a checkpoint gathers is exactly what was not done, with a solution as
//! good as any that something was dropped for.

mod search;
mod world;

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::defect::Defect;
use world::{Step, World};

/// Runs of a kind, all of them.
#[derive(Clone, Debug)]
struct Runs {
    ranks: usize,
    /// Which rank has the nodes at the beginning; `None`: they are dealt to all, as after a resume.
    home: Option<usize>,
    /// Which nodes these are; all that is not below them is done.
    open: u8,
    checkpoints: u8,
    quits: u8,
    /// Whether the checkpoint is the first thing to happen.
    early: bool,
    defect: Option<Defect>,
}

/// The tree from its root on, or some of it, so that there are fewer runs.
const ROOT: u8 = 0b00001;
const CHILDREN: u8 = 0b01110;
const SOLUTIONS: u8 = 0b01010;
const SPLIT_AND_SOLUTION: u8 = 0b01100;

impl Runs {
    fn new(ranks: usize, home: usize, open: u8) -> Runs {
        Runs { ranks, home: Some(home), open, checkpoints: 0, quits: 0, early: false, defect: None }
    }

    fn dealt(self) -> Runs {
        Runs { home: None, ..self }
    }

    fn with_a_checkpoint(self) -> Runs {
        Runs { checkpoints: 1, ..self }
    }

    fn with_an_early_checkpoint(self) -> Runs {
        Runs { checkpoints: 1, early: true, ..self }
    }

    fn with_a_quit(self) -> Runs {
        Runs { quits: 1, ..self }
    }

    /// The first thing that goes wrong, in a shortest run that it goes wrong in.
    fn fault(self) -> Option<&'static str> {
        let checker = self.clone().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let fault = checker.discovery("nothing goes wrong").map(|path| {
            let fault = path.last_state().fault().expect("it is why the path was found");
            eprintln!("{self:?}: {fault}, after {:?}", path.into_actions());
            fault
        });
        if fault.is_none() {
            checker.assert_any_discovery("the run is over");
            checker.assert_any_discovery("two ranks work");
        }
        eprintln!("{self:?}: {} states", checker.unique_state_count());
        fault
    }
}

impl Model for Runs {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let mut world = World::new((self.ranks, self.home), self.open, (self.checkpoints, self.quits), self.defect);
        if self.early {
            world.take(Step::Checkpoint);
        }
        vec![world]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        world.steps(steps);
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        next.take(step);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing goes wrong", |_, world: &World| world.fault().is_none()),
            // These show that the model does not hold for want of anything happening.
            Property::sometimes("the run is over", |_, world: &World| world.coordinator.is_over()),
            Property::sometimes("two ranks work", |_, world: &World| {
                world.searches.iter().filter(|search| search.explored > 0).count() >= 2
            }),
        ]
    }
}

#[test]
fn two_ranks_lose_nothing_double_nothing_and_end_when_all_is_done() {
    assert_eq!(Runs::new(2, 0, ROOT).fault(), None);
    assert_eq!(Runs::new(2, 1, ROOT).fault(), None);
    assert_eq!(Runs::new(2, 0, CHILDREN).dealt().fault(), None);
}

#[test]
fn three_ranks_lose_nothing_double_nothing_and_end_when_all_is_done() {
    assert_eq!(Runs::new(3, 1, SOLUTIONS).fault(), None);
    assert_eq!(Runs::new(3, 0, SPLIT_AND_SOLUTION).fault(), None);
}

#[test]
fn a_checkpoint_at_any_moment_has_all_that_was_not_done() {
    assert_eq!(Runs::new(2, 0, SPLIT_AND_SOLUTION).with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(2, 0, SOLUTIONS).dealt().with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(2, 1, SOLUTIONS).with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(3, 1, SOLUTIONS).with_an_early_checkpoint().fault(), None);
}

#[test]
fn who_wants_to_stop_at_any_moment_is_left_with_all_that_was_not_done() {
    assert_eq!(Runs::new(2, 0, ROOT).with_a_quit().fault(), None);
    assert_eq!(Runs::new(2, 1, SOLUTIONS).with_a_quit().fault(), None);
    assert_eq!(Runs::new(2, 0, SOLUTIONS).with_a_checkpoint().with_a_quit().fault(), None);
}

/// Minutes: for changes of the protocol.
#[test]
#[ignore = "minutes; `cargo xtask deep` runs it"]
fn nothing_goes_wrong_in_larger_runs() {
    assert_eq!(Runs::new(2, 0, ROOT).with_a_checkpoint().with_a_quit().fault(), None);
    assert_eq!(Runs::new(3, 0, CHILDREN).fault(), None);
    assert_eq!(Runs::new(3, 1, SOLUTIONS).with_a_checkpoint().fault(), None);
}

#[test]
fn every_way_to_be_wrong_is_found_out() {
    use Defect::*;
    let (two, three) = (Runs::new(2, 0, ROOT), Runs::new(3, 1, SOLUTIONS).with_an_early_checkpoint());
    for (defect, runs) in [
        (OutstandingOrdersAreForgotten, two.clone()),
        (ReceiptIsNotTold, two.clone()),
        (ReceiptLeavesIdle, two.clone()),
        (StaleIdleIsBelieved, two.clone().dealt()),
        (OrdersWhileGathering, three),
        (GatherWithoutDraining, Runs::new(2, 0, SOLUTIONS).with_a_checkpoint()),
        (FoundAfterFrontier, Runs::new(2, 0, SOLUTIONS).with_a_checkpoint()),
        (FoundIsNotKept, two.clone()),
        (BoundForgetsOrders, two.clone()),
        (BoundForgetsReceipts, two.clone()),
        (RefusalIsNotTold, two),
        (AnsweredInTheMiddle, Runs::new(2, 1, SOLUTIONS).with_a_checkpoint()),
    ] {
        let runs = Runs { defect: Some(defect), ..runs };
        let checker = runs.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let path = checker.discovery("nothing goes wrong").unwrap_or_else(|| panic!("{defect:?} was not found out"));
        eprintln!("{defect:?}: {:?}, {} states", path.last_state().fault(), checker.unique_state_count());
    }
}
