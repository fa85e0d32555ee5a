//! Tiny problems, and their solution by enumeration.
#![allow(dead_code)]

use filch_dd::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Value, Variable};

/// Pseudo-random numbers that are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// Returns a number in `0..sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// Returns the best cost of all ways to decide, with nothing but the problem.
pub(crate) fn brute_force<P: Problem>(problem: &P) -> Option<Cost> {
    best_below(problem, 0, &problem.initial_state(), problem.initial_cost())
}

/// Returns the best cost after `depth` decisions that led to `state` and cost `cost`.
pub(crate) fn best_below<P: Problem>(problem: &P, depth: usize, state: &P::State, cost: Cost) -> Option<Cost> {
    let left = depth < problem.variables();
    let Some(variable) = left.then(|| problem.next_variable(depth, std::iter::once(state))).flatten() else {
        return Some(cost);
    };
    let mut values = Vec::new();
    problem.domain(variable, state, |value| values.push(value));
    let below = values.into_iter().filter_map(|value| {
        let decision = Decision { variable, value };
        let next = problem.transition(state, decision);
        best_below(problem, depth + 1, &next, cost + problem.cost(state, &next, decision))
    });
    match problem.sense() {
        Sense::Maximise => below.max(),
        Sense::Minimise => below.min(),
    }
}

/// Items with a weight and a profit, of which some fit.
pub(crate) struct Knapsack {
    pub(crate) capacity: u64,
    pub(crate) items: Vec<(u64, Cost)>,
    pub(crate) long_arcs: bool,
    pub(crate) rough: bool,
}

impl Knapsack {
    pub(crate) fn random(seed: u64, long_arcs: bool, rough: bool) -> Self {
        let mut dice = Dice::new(seed);
        let items: Vec<_> = (0..2 + dice.roll(9)).map(|_| (1 + dice.roll(9), dice.roll(12) as Cost)).collect();
        Knapsack { capacity: 1 + dice.roll(30), items, long_arcs, rough }
    }
}

impl Problem for Knapsack {
    type State = u64;
    fn variables(&self) -> usize {
        self.items.len()
    }
    fn initial_state(&self) -> u64 {
        self.capacity
    }
    fn initial_cost(&self) -> Cost {
        7
    }
    fn cost_limit(&self) -> Option<Cost> {
        Some(1 << 20)
    }
    fn domain(&self, variable: Variable, left: &u64, mut decide: impl FnMut(Value)) {
        decide(0);
        if self.items[variable.index()].0 <= *left {
            decide(1);
        }
    }
    fn transition(&self, left: &u64, decision: Decision) -> u64 {
        left - decision.value as u64 * self.items[decision.variable.index()].0
    }
    fn cost(&self, _: &u64, _: &u64, decision: Decision) -> Cost {
        decision.value * self.items[decision.variable.index()].1
    }
    fn matters(&self, variable: Variable, left: &u64) -> bool {
        !self.long_arcs || self.items[variable.index()].0 <= *left
    }
}

impl Relaxation for Knapsack {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a u64>) -> u64 {
        states.copied().max().unwrap()
    }
    fn rough_bound(&self, depth: usize, left: &u64) -> Option<Cost> {
        let fitting = self.items[depth..].iter().filter(|(weight, _)| weight <= left);
        self.rough.then(|| fitting.map(|(_, profit)| profit).sum())
    }
    fn rank(&self, left: &u64) -> i64 {
        *left as i64
    }
}

impl Dominance for Knapsack {
    type Key = ();
    fn key(&self, _: &u64) -> Option<()> {
        Some(())
    }
    fn coordinates(&self) -> usize {
        1
    }
    fn coordinate(&self, left: &u64, _: usize) -> i64 {
        *left as i64
    }
}

/// Vertices with a weight, of which no two may be neighbours.
///
/// The order of variables depends on the layer.
pub(crate) struct IndependentSet {
    pub(crate) weights: Vec<Cost>,
    pub(crate) neighbours: Vec<u32>,
    pub(crate) long_arcs: bool,
    pub(crate) rough: bool,
}

impl IndependentSet {
    pub(crate) fn random(seed: u64, long_arcs: bool, rough: bool) -> Self {
        let mut dice = Dice::new(seed);
        let vertices = 1 + dice.roll(11) as usize;
        let mut neighbours = vec![0; vertices];
        for one in 0..vertices {
            for other in 0..one {
                if dice.roll(3) == 0 {
                    neighbours[one] |= 1 << other;
                    neighbours[other] |= 1 << one;
                }
            }
        }
        let weights = (0..vertices).map(|_| 1 + dice.roll(5) as Cost).collect();
        IndependentSet { weights, neighbours, long_arcs, rough }
    }
}

impl Problem for IndependentSet {
    type State = u32;
    fn variables(&self) -> usize {
        self.weights.len()
    }
    fn initial_state(&self) -> u32 {
        ((1u64 << self.weights.len()) - 1) as u32
    }
    fn cost_limit(&self) -> Option<Cost> {
        Some(self.weights.iter().sum())
    }
    fn next_variable<'a>(&self, _: usize, layer: impl Iterator<Item = &'a u32>) -> Option<Variable> {
        let mut counts = vec![0; self.weights.len()];
        for state in layer {
            for (vertex, count) in counts.iter_mut().enumerate() {
                *count += state >> vertex & 1;
            }
        }
        let least = (0..counts.len()).filter(|&vertex| counts[vertex] > 0).min_by_key(|&vertex| counts[vertex]);
        least.map(|vertex| Variable(vertex as u32))
    }
    fn domain(&self, variable: Variable, free: &u32, mut decide: impl FnMut(Value)) {
        if free >> variable.0 & 1 == 1 {
            decide(1);
        }
        decide(0);
    }
    fn transition(&self, free: &u32, decision: Decision) -> u32 {
        let free = free & !(1 << decision.variable.0);
        if decision.value == 1 {
            free & !self.neighbours[decision.variable.index()]
        } else {
            free
        }
    }
    fn cost(&self, _: &u32, _: &u32, decision: Decision) -> Cost {
        decision.value * self.weights[decision.variable.index()]
    }
    fn matters(&self, variable: Variable, free: &u32) -> bool {
        !self.long_arcs || free >> variable.0 & 1 == 1
    }
}

impl Relaxation for IndependentSet {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a u32>) -> u32 {
        states.fold(0, |union, state| union | state)
    }
    fn rough_bound(&self, _: usize, free: &u32) -> Option<Cost> {
        let free = (0..self.weights.len()).filter(|vertex| free >> vertex & 1 == 1);
        self.rough.then(|| free.map(|vertex| self.weights[vertex]).sum())
    }
    fn rank(&self, free: &u32) -> i64 {
        free.count_ones().into()
    }
}

/// Jobs in sequence, each after its release and before its deadline; late jobs cost.
pub(crate) struct Jobs {
    /// Length, release, hard deadline, due date, cost of a unit of delay.
    pub(crate) jobs: Vec<[u32; 5]>,
    pub(crate) rough: bool,
}

/// Jobs that are left for certain, jobs that may be left, and the time.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Schedule {
    must: u32,
    may: u32,
    time: u32,
}

impl Jobs {
    pub(crate) fn random(seed: u64, tight: bool, rough: bool) -> Self {
        let mut dice = Dice::new(seed);
        let count = 1 + dice.roll(6);
        let jobs = (0..count).map(|_| {
            let (length, release) = (1 + dice.roll(5) as u32, dice.roll(8) as u32);
            let deadline = if tight { release + length + dice.roll(14) as u32 } else { 1000 };
            [length, release, deadline, dice.roll(20) as u32, 1 + dice.roll(4) as u32]
        });
        Jobs { jobs: jobs.collect(), rough }
    }
}

impl Problem for Jobs {
    type State = Schedule;
    fn sense(&self) -> Sense {
        Sense::Minimise
    }
    fn variables(&self) -> usize {
        self.jobs.len()
    }
    fn initial_state(&self) -> Schedule {
        Schedule { must: (1 << self.jobs.len()) - 1, may: 0, time: 0 }
    }
    fn cost_limit(&self) -> Option<Cost> {
        Some(1 << 30)
    }
    fn domain(&self, _: Variable, at: &Schedule, mut decide: impl FnMut(Value)) {
        for (job, &[length, release, deadline, _, _]) in self.jobs.iter().enumerate() {
            if (at.must | at.may) >> job & 1 == 1 && at.time.max(release) + length <= deadline {
                decide(job as Value);
            }
        }
    }
    fn transition(&self, at: &Schedule, decision: Decision) -> Schedule {
        let [length, release, ..] = self.jobs[decision.value as usize];
        let gone = !(1 << decision.value);
        Schedule { must: at.must & gone, may: at.may & gone, time: at.time.max(release) + length }
    }
    fn cost(&self, _: &Schedule, next: &Schedule, decision: Decision) -> Cost {
        let [.., due, weight] = self.jobs[decision.value as usize];
        Cost::from(next.time.saturating_sub(due) * weight)
    }
}

impl Relaxation for Jobs {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Schedule>) -> Schedule {
        let (mut all, mut any, mut time) = (u32::MAX, 0, u32::MAX);
        for state in states {
            all &= state.must;
            any |= state.must | state.may;
            time = time.min(state.time);
        }
        Schedule { must: all, may: any & !all, time }
    }
    fn rough_bound(&self, _: usize, at: &Schedule) -> Option<Cost> {
        let left = self.jobs.iter().enumerate().filter(|(job, _)| at.must >> job & 1 == 1);
        let late = |&[length, release, _, due, weight]: &[u32; 5]| {
            Cost::from((at.time.max(release) + length).saturating_sub(due) * weight)
        };
        self.rough.then(|| left.map(|(_, job)| late(job)).sum())
    }
    fn rank(&self, at: &Schedule) -> i64 {
        -i64::from(at.time)
    }
}

impl Dominance for Jobs {
    type Key = (u32, u32);
    fn key(&self, at: &Schedule) -> Option<(u32, u32)> {
        Some((at.must, at.may))
    }
    fn coordinates(&self) -> usize {
        1
    }
    fn coordinate(&self, at: &Schedule, _: usize) -> i64 {
        -i64::from(at.time)
    }
}

/// Items with two weights, limited by two capacities.
pub(crate) struct TwoSacks {
    pub(crate) capacity: (u32, u32),
    pub(crate) items: Vec<(u32, u32, Cost)>,
    pub(crate) rough: bool,
}

impl TwoSacks {
    pub(crate) fn random(seed: u64, rough: bool) -> Self {
        let mut dice = Dice::new(seed);
        let mut number = |least: u64, sides: u64| (least + dice.roll(sides)) as u32;
        let capacity = (number(4, 14), number(4, 14));
        let items = (0..number(2, 9)).map(|_| (number(0, 6), number(1, 5), Cost::from(number(0, 9)) - 1)).collect();
        TwoSacks { capacity, items, rough }
    }

    fn fits(&self, variable: Variable, state: &(u32, u32)) -> bool {
        let (one, other, _) = self.items[variable.index()];
        one <= state.0 && other <= state.1
    }
}

impl Problem for TwoSacks {
    type State = (u32, u32);

    fn variables(&self) -> usize {
        self.items.len()
    }

    fn initial_state(&self) -> (u32, u32) {
        self.capacity
    }

    fn cost_limit(&self) -> Option<Cost> {
        Some(1000)
    }

    fn domain(&self, variable: Variable, state: &(u32, u32), mut decide: impl FnMut(Value)) {
        decide(0);
        if self.fits(variable, state) {
            decide(1);
        }
    }

    fn transition(&self, state: &(u32, u32), decision: Decision) -> (u32, u32) {
        let (one, other, _) = self.items[decision.variable.index()];
        let taken = decision.value as u32;
        (state.0 - taken * one, state.1 - taken * other)
    }

    fn cost(&self, _: &(u32, u32), _: &(u32, u32), decision: Decision) -> Cost {
        decision.value * self.items[decision.variable.index()].2
    }

    fn matters(&self, variable: Variable, state: &(u32, u32)) -> bool {
        self.fits(variable, state)
    }
}

impl Relaxation for TwoSacks {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a (u32, u32)>) -> (u32, u32) {
        states.fold((0, 0), |most, state| (most.0.max(state.0), most.1.max(state.1)))
    }

    fn rough_bound(&self, depth: usize, state: &(u32, u32)) -> Option<Cost> {
        let left = (depth..self.items.len()).map(|index| Variable(index as u32));
        let fitting = left.filter(|&variable| self.fits(variable, state));
        self.rough.then(|| fitting.map(|variable| self.items[variable.index()].2.max(0)).sum())
    }
}

impl Dominance for TwoSacks {
    type Key = ();

    fn key(&self, _: &(u32, u32)) -> Option<()> {
        Some(())
    }

    fn coordinates(&self) -> usize {
        2
    }

    fn coordinate(&self, state: &(u32, u32), index: usize) -> i64 {
        i64::from(if index == 0 { state.0 } else { state.1 })
    }
}
