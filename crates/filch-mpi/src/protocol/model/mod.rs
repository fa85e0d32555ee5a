//! Model checking of the protocol: the real code, a tiny tree and arbitrary delays.
//!
//! Every order of events is tried: which rank processes which node when, when messages arrive, when
//! a rank reports its load, when a checkpoint is taken and when a stop is requested. The model
//! checks:
//!
//! - In every state each node is in one place or done.
//! - The bound holds for all open nodes.
//! - Some event is possible unless the run is over.
//! - The end is declared only when all work is done.
//! - A checkpoint gathers exactly the work that is not done, with a solution at least as good as
//!   any for which a node was dropped.

mod search;
mod world;

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::defect::Defect;
use world::{Step, World};

/// All runs of one kind.
#[derive(Clone, Debug)]
struct Runs {
    ranks: usize,
    /// The rank that has the nodes at the start. `None`: they are dealt to all, as after a resume.
    home: Option<usize>,
    /// The nodes that are open at the start. All nodes not below them are done.
    open: u8,
    checkpoints: u8,
    quits: u8,
    /// Whether the checkpoint is the first event.
    early: bool,
    defect: Option<Defect>,
}

/// The tree from its root, or parts of it, which make fewer runs.
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

    /// Returns the first fault, found by a shortest run.
    fn fault(self) -> Option<&'static str> {
        let checker = self.clone().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let fault = checker.discovery("no invariant is violated").map(|path| {
            let fault = path.last_state().fault().expect("the path ends in a state with a fault");
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
            world.apply(Step::Checkpoint);
        }
        vec![world]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        world.steps(steps);
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        next.apply(step);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no invariant is violated", |_, world: &World| world.fault().is_none()),
            // These show that the invariant does not hold merely because nothing happens.
            Property::sometimes("the run is over", |_, world: &World| world.coordinator.is_over()),
            Property::sometimes("two ranks work", |_, world: &World| {
                world.searches.iter().filter(|search| search.explored > 0).count() >= 2
            }),
        ]
    }
}

#[test]
fn two_ranks_neither_lose_nor_duplicate_nodes_and_end_when_all_is_done() {
    assert_eq!(Runs::new(2, 0, ROOT).fault(), None);
    assert_eq!(Runs::new(2, 1, ROOT).fault(), None);
    assert_eq!(Runs::new(2, 0, CHILDREN).dealt().fault(), None);
}

#[test]
fn three_ranks_neither_lose_nor_duplicate_nodes_and_end_when_all_is_done() {
    assert_eq!(Runs::new(3, 1, SOLUTIONS).fault(), None);
    assert_eq!(Runs::new(3, 0, SPLIT_AND_SOLUTION).fault(), None);
}

#[test]
fn a_checkpoint_at_any_moment_has_exactly_the_open_nodes() {
    assert_eq!(Runs::new(2, 0, SPLIT_AND_SOLUTION).with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(2, 0, SOLUTIONS).dealt().with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(2, 1, SOLUTIONS).with_a_checkpoint().fault(), None);
    assert_eq!(Runs::new(3, 1, SOLUTIONS).with_an_early_checkpoint().fault(), None);
}

#[test]
fn a_stop_at_any_moment_leaves_exactly_the_open_nodes() {
    assert_eq!(Runs::new(2, 0, ROOT).with_a_quit().fault(), None);
    assert_eq!(Runs::new(2, 1, SOLUTIONS).with_a_quit().fault(), None);
    assert_eq!(Runs::new(2, 0, SOLUTIONS).with_a_checkpoint().with_a_quit().fault(), None);
}

/// Takes minutes. For changes of the protocol.
#[test]
#[ignore = "minutes; `cargo xtask deep` runs it"]
fn no_invariant_is_violated_in_larger_runs() {
    assert_eq!(Runs::new(2, 0, ROOT).with_a_checkpoint().with_a_quit().fault(), None);
    assert_eq!(Runs::new(3, 0, CHILDREN).fault(), None);
    assert_eq!(Runs::new(3, 1, SOLUTIONS).with_a_checkpoint().fault(), None);
}

#[test]
fn every_defect_is_found() {
    use Defect::*;
    let (two, three) = (Runs::new(2, 0, ROOT), Runs::new(3, 1, SOLUTIONS).with_an_early_checkpoint());
    for (defect, runs) in [
        (OutstandingOrdersAreForgotten, two.clone()),
        (ReceiptIsNotReported, two.clone()),
        (ReceiptLeavesIdle, two.clone()),
        (StaleIdleIsBelieved, two.clone().dealt()),
        (OrdersWhileGathering, three),
        (GatherWithoutDraining, Runs::new(2, 0, SOLUTIONS).with_a_checkpoint()),
        (FoundAfterFrontier, Runs::new(2, 0, SOLUTIONS).with_a_checkpoint()),
        (FoundIsNotKept, two.clone()),
        (BoundForgetsOrders, two.clone()),
        (BoundForgetsReceipts, two.clone()),
        (RefusalIsNotReported, two),
        (AnsweredBeforeAllEffects, Runs::new(2, 1, SOLUTIONS).with_a_checkpoint()),
    ] {
        let runs = Runs { defect: Some(defect), ..runs };
        let checker = runs.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let path = checker.discovery("no invariant is violated").unwrap_or_else(|| panic!("{defect:?} was not found"));
        eprintln!("{defect:?}: {:?}, {} states", path.last_state().fault(), checker.unique_state_count());
    }
}
