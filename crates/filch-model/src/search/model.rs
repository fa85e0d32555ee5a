//! A machine as stateright sees it.

use stateright::{Model, Property};

use super::Claim;
use crate::machine::{Action, Machine, State};

/// A model that is a machine underneath.
pub(crate) trait Watched: Model {
    fn machine(&self) -> &Machine;

    fn machine_state(state: &Self::State) -> &State;
}

/// That a state breaks no claim, as stateright asks about it.
///
/// One property for all claims: for each that it has, stateright hashes the name of every state.
pub(crate) fn properties<M: Watched>() -> Vec<Property<M>> {
    vec![Property::always("no claim is broken", |model, state| {
        Claim::broken_in(model.machine(), M::machine_state(state)).is_none()
    })]
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
        properties()
    }
}
