//! A machine as stateright sees it.

use stateright::{Model, Property};

use super::Claim;
use crate::machine::{Action, Machine, State};

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
        let claims = Claim::ALL.into_iter().filter_map(|claim| {
            let condition: fn(&Machine, &State) -> bool = match claim {
                Claim::NoFault => |machine, state| machine.fault(state).is_none(),
                Claim::AtMostOnce if self.claims().at_most_once => {
                    |machine, state| (1..=machine.tasks()).all(|task| machine.extracted(state, task) <= 1)
                }
                Claim::NothingLost if self.claims().nothing_lost => |machine, state| {
                    !machine.is_over(state) || (1..=machine.tasks()).all(|task| machine.extracted(state, task) >= 1)
                },
                Claim::EndsWell => |machine, state| !machine.is_over(state) || machine.ends_well(state),
                Claim::NeverStuck => |machine, state| !machine.is_stuck(state),
                Claim::AtMostOnce | Claim::NothingLost | Claim::Ends => return None,
            };
            Some(Property::always(claim.sentence(), condition))
        });
        claims.collect()
    }
}
