//! Shows the states of a machine in a browser, with stateright's explorer.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use stateright::{Model, Property};

use crate::machine::{Action, Machine, State};
use crate::search::{self, MachineModel};
use crate::trace::pairs;

/// A machine whose states have a readable description.
#[derive(Clone, Debug)]
struct ExplorerModel {
    machine: Arc<Machine>,
}

#[derive(Clone)]
struct ExplorerState {
    state: State,
    machine: Arc<Machine>,
}

impl PartialEq for ExplorerState {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Hash for ExplorerState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

impl fmt::Debug for ExplorerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (machine, state) = (&*self.machine, &self.state);
        writeln!(f, "memory: {}", pairs(&machine.memory(state)))?;
        for (thread, name) in machine.threads().enumerate() {
            let (queued, leaving) = machine.waiting(state, thread);
            match machine.next_line(state, thread) {
                Some(line) => writeln!(f, "{name}: before line {line}, {}", machine.line(line))?,
                None => writeln!(f, "{name}: has ended")?,
            }
            writeln!(f, "    registers: {}", pairs(&machine.registers(state, thread)))?;
            writeln!(f, "    store buffer, oldest first: {}", pairs(&queued))?;
            if machine.buffer().egress().is_some() {
                writeln!(f, "    egress slot: {}", pairs(&leaving))?;
            }
        }
        let taken = (1..=machine.tasks()).map(|task| format!("{task}:{}", machine.extracted(state, task)));
        write!(f, "tasks and how often they were extracted: {}", taken.collect::<Vec<_>>().join(" "))
    }
}

impl Model for ExplorerModel {
    type State = ExplorerState;
    type Action = Action;

    fn init_states(&self) -> Vec<ExplorerState> {
        vec![ExplorerState { state: self.machine.initial().clone(), machine: Arc::clone(&self.machine) }]
    }

    fn actions(&self, explorer_state: &ExplorerState, actions: &mut Vec<Action>) {
        self.machine.each_action(&explorer_state.state, |action| actions.push(action));
    }

    fn next_state(&self, explorer_state: &ExplorerState, action: Action) -> Option<ExplorerState> {
        Some(ExplorerState {
            state: self.machine.after(&explorer_state.state, action),
            machine: Arc::clone(&self.machine),
        })
    }

    fn format_action(&self, action: &Action) -> String {
        let name = self.machine.threads().nth(action.thread()).unwrap_or_default();
        match action {
            Action::Run(_) => format!("{name} runs"),
            Action::Drain(_) => format!("{name}'s oldest store leaves its buffer"),
            Action::Write(_) => format!("{name}'s egress slot is written"),
        }
    }

    fn format_step(&self, explorer_state: &ExplorerState, action: Action) -> Option<String> {
        let (_, events) = self.machine.observe(&explorer_state.state, action);
        let lines = events.iter().map(|(line, event)| format!("{line} {}: {event:?}", self.machine.line(*line)));
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        search::properties()
    }
}

impl MachineModel for ExplorerModel {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn machine_state(explorer_state: &ExplorerState) -> &State {
        &explorer_state.state
    }
}

/// Returns a free address on the loopback interface. Uses the given port, or any free port if that
/// port is taken or 0.
///
/// # Errors
///
/// If there is no free port.
pub fn free_address(port: u16) -> io::Result<SocketAddr> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| listener.local_addr());
    bind(port).or_else(|_| bind(0))
}

/// Serves the explorer at an address until the process ends.
pub fn serve(machine: Machine, address: SocketAddr) {
    let _ = ExplorerModel { machine: Arc::new(machine) }.checker().serve(address);
}
