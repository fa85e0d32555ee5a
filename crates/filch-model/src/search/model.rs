//! A machine as a model for stateright.

use stateright::{Model, Property};

use super::Claim;
use crate::machine::{Action, Machine, State};

/// A model that wraps a machine.
pub(crate) trait MachineModel: Model {
    fn machine(&self) -> &Machine;

    fn machine_state(state: &Self::State) -> &State;
}

/// The property that a state breaks no claim, for stateright.
///
/// All claims are one property: for each property, stateright hashes its name at every state.
pub(crate) fn properties<M: MachineModel>() -> Vec<Property<M>> {
    vec![Property::always("no claim is broken", |model, state| {
        Claim::broken_in(model.machine(), M::machine_state(state)).is_none()
    })]
}

impl MachineModel for Machine {
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
