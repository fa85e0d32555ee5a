//! A machine as stateright sees it.

use stateright::{Model, Property};

use super::Claim;
use crate::machine::{Action, Machine, State};

/// A model that is a machine underneath.
pub(crate) trait Watched: Model {
    fn machine(&self) -> &Machine;

    fn machine_state(state: &Self::State) -> &State;
}

/// The claims on a machine that single states can break, as stateright asks about them.
pub(crate) fn properties<M: Watched>(model: &M) -> Vec<Property<M>> {
    let asked = Claim::ALL.into_iter().filter(|claim| claim.is_made_of(model.machine()));
    let properties = asked.filter_map(|claim| {
        // stateright wants functions that carry nothing with them.
        let condition: fn(&M, &M::State) -> bool = match claim {
            Claim::NoFault => |model, state| Claim::NoFault.holds_in(model.machine(), M::machine_state(state)),
            Claim::AtMostOnce => |model, state| Claim::AtMostOnce.holds_in(model.machine(), M::machine_state(state)),
            Claim::NothingLost => |model, state| Claim::NothingLost.holds_in(model.machine(), M::machine_state(state)),
            Claim::EndsWell => |model, state| Claim::EndsWell.holds_in(model.machine(), M::machine_state(state)),
            Claim::NeverStuck => |model, state| Claim::NeverStuck.holds_in(model.machine(), M::machine_state(state)),
            Claim::Ends => return None,
        };
        Some(Property::always(claim.sentence(), condition))
    });
    properties.collect()
}

impl Watched for Machine {
    fn machine(&self) -> &Machine {
        self
    }

    fn machine_state(state: &State) -> &State {
        state
    }
}

impl Model for Machine {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.initial().clone()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.each_action(state, |action| actions.push(action));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        Some(self.after(state, action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties(self)
    }
}
