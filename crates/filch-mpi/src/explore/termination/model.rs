//! Model checking of the state machine under every order of events.
//!
//! Ranks work and send. Channels keep their order and may be arbitrarily slow.

use std::collections::VecDeque;

use stateright::{Checker, Model, Property};

use super::{Signal, Signals, Termination};

/// Ranks that start with the tasks of `roots`.
struct Ranks {
    roots: Vec<u8>,
    /// How many messages with tasks may be sent in all.
    messages: u8,
    /// How many waves are explored: while a message is delayed, waves go on forever.
    waves: u64,
    /// Whether rank 0 waits for a second wave, as it should.
    needs_confirmation: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    ranks: Vec<Rank>,
    /// The messages in transit: `channels[from][to]`.
    channels: Vec<Vec<VecDeque<Message>>>,
    /// How many more messages with tasks may be sent.
    messages: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rank {
    termination: Termination,
    tasks: u8,
    idle_reported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
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
    BecomeIdle(usize),
    /// The oldest message of a channel arrives.
    Arrive { from: usize, to: usize },
}

impl State {
    fn send(&mut self, from: usize, signals: Signals) {
        for (to, signal) in signals {
            self.channels[from][to].push_back(Message::Signal(signal));
        }
    }

    fn is_work_left(&self) -> bool {
        let tasks = self.ranks.iter().any(|rank| rank.tasks > 0);
        tasks || self.channels.iter().flatten().flatten().any(|message| *message == Message::Task)
    }
}

impl Model for Ranks {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let ranks = self.roots.len();
        let rank = |(rank, &tasks): (usize, &u8)| {
            let mut termination = Termination::new(rank, ranks);
            if let Some(waves) = &mut termination.waves {
                waves.needs_confirmation = self.needs_confirmation;
            }
            Rank { termination, tasks, idle_reported: false }
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
                0 if !rank.idle_reported => actions.push(Action::BecomeIdle(from)),
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
                state.ranks[from].termination.count_sent();
                state.channels[from][to].push_back(Message::Task);
            }
            Action::Finish(rank) => state.ranks[rank].tasks -= 1,
            Action::BecomeIdle(rank) => {
                state.ranks[rank].idle_reported = true;
                let signals = state.ranks[rank].termination.become_idle();
                state.send(rank, signals);
            }
            Action::Arrive { from, to } => match state.channels[from][to].pop_front()? {
                Message::Task => {
                    let rank = &mut state.ranks[to];
                    rank.termination.count_received();
                    rank.tasks += 1;
                    rank.idle_reported = false;
                }
                Message::Signal(signal) => {
                    let signals = state.ranks[to].termination.handle(signal);
                    state.send(to, signals);
                }
            },
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a rank that reports the end is right", |_, state: &State| {
                !state.ranks.iter().any(|rank| rank.termination.is_over()) || !state.is_work_left()
            }),
            Property::always("an action is possible until all ranks know the end", |model: &Ranks, state: &State| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty() || state.ranks.iter().all(|rank| rank.termination.is_over())
            }),
            Property::sometimes("all ranks know the end, after every message", |_, state: &State| {
                state.messages == 0 && state.ranks.iter().all(|rank| rank.termination.is_over())
            }),
        ]
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.ranks[0].termination.waves() <= self.waves
    }
}

#[test]
fn two_ranks_end_exactly_when_all_is_done() {
    for roots in [[1, 0], [0, 1], [1, 1]] {
        let ranks = Ranks { roots: roots.to_vec(), messages: 4, waves: 6, needs_confirmation: true };
        ranks.checker().spawn_bfs().join().assert_properties();
    }
}

#[test]
fn three_ranks_end_exactly_when_all_is_done() {
    for roots in [[1, 0, 0], [0, 1, 0]] {
        let ranks = Ranks { roots: roots.to_vec(), messages: 3, waves: 4, needs_confirmation: true };
        ranks.checker().spawn_bfs().join().assert_properties();
    }
}

#[test]
fn one_wave_is_not_enough() {
    let ranks = Ranks { roots: vec![0, 1], messages: 3, waves: 6, needs_confirmation: false };
    let checked = ranks.checker().spawn_bfs().join();
    assert!(checked.discovery("a rank that reports the end is right").is_some());
}
