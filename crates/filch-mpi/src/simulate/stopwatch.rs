//! Measures the time that messages take the coordinator on this machine.
//!
//! It runs the real code on the real state.

use std::time::Instant;

use super::settings::{Costs, Kind};
use crate::protocol::{Coordinator, Destination, Message, ToCoordinator, ToMember};

/// Measures each message: from its bytes to the bytes of the answers.
#[derive(Clone, Debug)]
pub(super) struct Stopwatch {
    /// The samples for each kind, in nanoseconds.
    samples: Vec<Vec<u32>>,
    /// The cost of reading the clock.
    overhead: u32,
}

impl Stopwatch {
    pub(super) fn new() -> Stopwatch {
        let mut readings: Vec<u32> = (0..1001)
            .map(|_| {
                let start = Instant::now();
                start.elapsed().as_nanos() as u32
            })
            .collect();
        readings.sort_unstable();
        Stopwatch { samples: vec![Vec::new(); Kind::ALL.len()], overhead: readings[readings.len() / 2] }
    }

    pub(super) fn handle(
        &mut self,
        coordinator: &mut Coordinator,
        from: usize,
        message: ToCoordinator,
        out: &mut Vec<(Destination, ToMember)>,
    ) {
        let kind = Kind::of(&message);
        let bytes = Message::ToCoordinator(message).encode();

        let start = Instant::now();
        let Ok(Message::ToCoordinator(message)) = Message::decode(&bytes) else {
            unreachable!("an encoded message can be decoded");
        };
        coordinator.handle(from, message, out);
        for (_, answer) in out.iter() {
            std::hint::black_box(Message::ToMember(answer.clone()).encode());
        }
        let taken = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX);
        self.samples[kind as usize].push(taken.saturating_sub(self.overhead));
    }

    /// Returns the mean cost of each kind, without the slowest hundredth.
    ///
    /// The slowest samples are taken to include time of other processes on this core. A kind
    /// without samples costs the mean of all kinds.
    pub(super) fn costs(&self, receive: f64, send: f64) -> Costs {
        let mean =
            |samples: &[u32]| samples.iter().map(|&sample| f64::from(sample)).sum::<f64>() / samples.len() as f64;
        let trimmed = |samples: &Vec<u32>| {
            let mut samples = samples.clone();
            samples.sort_unstable();
            samples.truncate(samples.len() - samples.len() / 100);
            samples
        };
        let kinds: Vec<Vec<u32>> = self.samples.iter().map(trimmed).collect();
        let all: Vec<u32> = kinds.iter().flatten().copied().collect();
        let mut handle = [if all.is_empty() { 0.0 } else { mean(&all) }; Kind::ALL.len()];
        for (handle, samples) in handle.iter_mut().zip(&kinds) {
            if !samples.is_empty() {
                *handle = mean(samples);
            }
        }
        Costs { handle, receive, send }
    }
}
