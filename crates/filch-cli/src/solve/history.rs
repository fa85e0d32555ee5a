//! The events of a search with their times, for the trace and the drawing.

use std::sync::Mutex;
use std::time::Duration;

use filch_dd::Cost;
use serde::Serialize;

use crate::sync::{lock, unpoisoned};

/// An event of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event {
    /// A better solution was found.
    Incumbent {
        /// The time, in seconds.
        at: f64,
        cost: Cost,
    },
    /// A bound was proven: no solution is better than this.
    Bound {
        at: f64,
        bound: Cost,
        /// How many nodes were open then.
        open: u64,
        /// How many nodes had been explored.
        explored: u64,
    },
    /// Open nodes moved from one worker to another. Of a long search, about the last thousand are
    /// recorded.
    Transfer {
        at: f64,
        from: usize,
        to: usize,
        /// How many nodes moved.
        nodes: usize,
        /// The length of the path from the root that both workers' nodes share.
        nearness: u32,
    },
    /// The search ended.
    End {
        at: f64,
        ending: &'static str,
        explored: u64,
        /// How often nodes moved from one worker to another.
        transfers: u64,
    },
}

impl Event {
    /// The time of the event, in seconds.
    pub(super) fn at(&self) -> f64 {
        match *self {
            Event::Incumbent { at, .. }
            | Event::Bound { at, .. }
            | Event::Transfer { at, .. }
            | Event::End { at, .. } => at,
        }
    }
}

/// All events of a running search.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<Vec<Event>>);

impl History {
    /// Records a better solution.
    pub(super) fn incumbent(&self, after: Duration, cost: Cost) {
        self.add(Event::Incumbent { at: after.as_secs_f64(), cost });
    }

    /// Records a bound, unless it is already known.
    pub(super) fn bound(&self, after: Duration, bound: Cost, open: u64, explored: u64) {
        let mut events = lock(&self.0);
        let known = events.iter().rev().find_map(|event| match event {
            Event::Bound { bound, .. } => Some(*bound),
            _ => None,
        });
        if known != Some(bound) {
            events.push(Event::Bound { at: after.as_secs_f64(), bound, open, explored });
        }
    }

    /// Records another event.
    pub(super) fn add(&self, event: Event) {
        lock(&self.0).push(event);
    }

    /// Returns all events, in order.
    pub(super) fn events(self) -> Vec<Event> {
        let mut events = unpoisoned(self.0.into_inner());
        events.sort_by(|a, b| a.at().total_cmp(&b.at()));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_recorded_once_and_events_are_sorted() {
        let history = History::default();
        history.bound(Duration::from_secs(1), 20, 3, 10);
        history.bound(Duration::from_secs(2), 20, 4, 20);
        history.bound(Duration::from_secs(4), 19, 5, 40);
        history.incumbent(Duration::from_secs(3), 15);
        let events = history.events();
        let times: Vec<f64> = events.iter().map(Event::at).collect();
        assert_eq!(times, [1.0, 3.0, 4.0]);
    }

    #[test]
    fn an_event_is_written_with_its_kind() {
        let line = serde_json::to_value(Event::End { at: 0.5, ending: "optimal", explored: 9, transfers: 1 }).unwrap();
        assert_eq!(
            line,
            serde_json::json!({"event": "end", "at": 0.5, "ending": "optimal", "explored": 9, "transfers": 1})
        );
        let line = serde_json::to_value(Event::Incumbent { at: 0.5, cost: -3 }).unwrap();
        assert_eq!(line, serde_json::json!({"event": "incumbent", "at": 0.5, "cost": -3}));
    }
}
