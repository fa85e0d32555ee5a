//! Model checking of the state machine under every order of events.
//!
//! Ranks work and send. Channels keep their order and may be arbitrarily slow.

use std::collections::VecDeque;

use stateright::{Checker, Model, Property};

use super::{Counting, Letters, Signal};

/// Ranks that start with the tasks of `roots`.
struct Ranks {
    roots: Vec<u8>,
    /// How many messages with tasks may be sent in all.
    messages: u8,
    /// How many waves are explored: while a message is delayed, waves go on forever.
    waves: u64,
    /// Whether rank 0 waits for a second wave, as it should.
    confirmed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    ranks: Vec<Rank>,
    /// The messages in transit: `channels[from][to]`.
    channels: Vec<Vec<VecDeque<Letter>>>,
    /// How many more messages with tasks may be sent.
    messages: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rank {
    counting: Counting,
    tasks: u8,
    rests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Letter {
    Task,
    Signal(Signal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// A running task sends a task to another rank.
    Send { from: usize, to: usize },
    /// A task ends.
    Finish(usize),
    /// A rank notices that it has no task left.
    Rest(usize),
    /// The oldest message of a channel arrives.
    Arrive { from: usize, to: usize },
}

impl State {
    fn post(&mut self, from: usize, letters: Letters) {
        for (to, signal) in letters {
            self.channels[from][to].push_back(Letter::Signal(signal));
        }
    }

    fn is_work_left(&self) -> bool {
        let tasks = self.ranks.iter().any(|rank| rank.tasks > 0);
        tasks || self.channels.iter().flatten().flatten().any(|letter| *letter == Letter::Task)
    }
}

impl Model for Ranks {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let ranks = self.roots.len();
        let rank = |(rank, &tasks): (usize, &u8)| {
            let mut counting = Counting::new(rank, ranks);
            if let Some(waves) = &mut counting.waves {
                waves.confirmed = self.confirmed;
            }
            Rank { counting, tasks, rests: false }
        };
        vec![State {
            ranks: self.roots.iter().enumerate().map(rank).collect(),
            channels: vec![vec![VecDeque::new(); ranks]; ranks],
            messages: self.messages,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let all = 0..state.ranks.len();
        for from in all.clone() {
            let rank = &state.ranks[from];
            match rank.tasks {
                0 if !rank.rests => actions.push(Action::Rest(from)),
                0 => {}
                _ => {
                    actions.push(Action::Finish(from));
                    if state.messages > 0 {
                        actions.extend(all.clone().filter(|&to| to != from).map(|to| Action::Send { from, to }));
                    }
                }
            }
            let arrivals = all.clone().filter(|&to| !state.channels[from][to].is_empty());
            actions.extend(arrivals.map(|to| Action::Arrive { from, to }));
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut state = state.clone();
        match action {
            Action::Send { from, to } => {
                state.messages -= 1;
                state.ranks[from].counting.sent();
                state.channels[from][to].push_back(Letter::Task);
            }
            Action::Finish(rank) => state.ranks[rank].tasks -= 1,
            Action::Rest(rank) => {
                state.ranks[rank].rests = true;
                let letters = state.ranks[rank].counting.rest();
                state.post(rank, letters);
            }
            Action::Arrive { from, to } => match state.channels[from][to].pop_front()? {
                Letter::Task => {
                    let rank = &mut state.ranks[to];
                    rank.counting.received();
                    rank.tasks += 1;
                    rank.rests = false;
                }
                Letter::Signal(signal) => {
                    let letters = state.ranks[to].counting.hear(signal);
                    state.post(to, letters);
                }
            },
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("who believes that it is over is right", |_, state: &State| {
                !state.ranks.iter().any(|rank| rank.counting.is_over()) || !state.is_work_left()
            }),
            Property::always("nothing stands still before all know that it is over", |model: &Ranks, state: &State| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty() || state.ranks.iter().all(|rank| rank.counting.is_over())
            }),
            Property::sometimes("all know that it is over, after every message", |_, state: &State| {
                state.messages == 0 && state.ranks.iter().all(|rank| rank.counting.is_over())
            }),
        ]
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.ranks[0].counting.waves() <= self.waves
    }
}

#[test]
fn two_ranks_end_exactly_when_all_is_done() {
    for roots in [[1, 0], [0, 1], [1, 1]] {
        let ranks = Ranks { roots: roots.to_vec(), messages: 4, waves: 6, confirmed: true };
        ranks.checker().spawn_bfs().join().assert_properties();
    }
}

#[test]
fn three_ranks_end_exactly_when_all_is_done() {
    for roots in [[1, 0, 0], [0, 1, 0]] {
        let ranks = Ranks { roots: roots.to_vec(), messages: 3, waves: 4, confirmed: true };
        ranks.checker().spawn_bfs().join().assert_properties();
    }
}

#[test]
fn one_wave_is_not_enough() {
    let ranks = Ranks { roots: vec![0, 1], messages: 3, waves: 6, confirmed: false };
    let checked = ranks.checker().spawn_bfs().join();
    assert!(checked.discovery("who believes that it is over is right").is_some());
}
