//! The dominance table: nodes that are no worse than others.
//!
//! It holds, for each depth and key, the exact nodes of all workers that no other node dominates. A
//! shard that is full drops all its nodes. That is safe: the table only saves work.

use std::collections::HashMap;

use crate::model::hash_of;
use crate::problem::{Cost, Dominance};
use crate::sync::{lock, Mutex};

/// Checks whether a node is dominated by one that was seen.
pub(crate) trait DominanceCheck<S>: Send + Sync {
    /// Returns up to which cost the node would be dominated.
    ///
    /// Returns `None`, and remembers the node, if it is not dominated.
    fn check(&self, depth: usize, state: &S, cost: Cost) -> Option<Cost>;
}

const SHARDS: usize = 64;

/// The number of nodes that a shard keeps before it drops them all.
const SHARD_CAPACITY: usize = 1 << 15;

struct Shard<K> {
    /// Cost and coordinates, node after node, the greatest cost first. None of them dominates
    /// another.
    seen: HashMap<(usize, K), Vec<i64>, foldhash::fast::FixedState>,
    nodes: usize,
}

/// A lock on its own cache line.
#[repr(align(64))]
struct Padded<T>(Mutex<T>);

pub(crate) struct DominanceTable<'a, P: Dominance> {
    problem: &'a P,
    coordinates: usize,
    shards: Box<[Padded<Shard<P::Key>>]>,
}

impl<'a, P: Dominance> DominanceTable<'a, P> {
    pub(crate) fn new(problem: &'a P) -> Self {
        let empty = || Shard { seen: HashMap::default(), nodes: 0 };
        DominanceTable {
            problem,
            coordinates: problem.coordinates(),
            shards: (0..SHARDS).map(|_| Padded(Mutex::new(empty()))).collect(),
        }
    }

    /// Calls `visit` with the cost and the coordinates in one row.
    fn with_point<R>(&self, state: &P::State, cost: Cost, visit: impl FnOnce(&[i64]) -> R) -> R {
        const MAX_ON_STACK: usize = 8;
        let coordinate = |index: usize| if index == 0 { cost } else { self.problem.coordinate(state, index - 1) };
        if self.coordinates < MAX_ON_STACK {
            let point: [i64; MAX_ON_STACK] =
                core::array::from_fn(|index| if index <= self.coordinates { coordinate(index) } else { 0 });
            visit(&point[..=self.coordinates])
        } else {
            visit(&(0..=self.coordinates).map(coordinate).collect::<Vec<_>>())
        }
    }
}

impl<P: Dominance> DominanceCheck<P::State> for DominanceTable<'_, P> {
    fn check(&self, depth: usize, state: &P::State, cost: Cost) -> Option<Cost> {
        let key = (depth, self.problem.key(state)?);
        let shard = &self.shards[(hash_of(&key) >> 40) as usize % SHARDS];
        let mut shard = lock(&shard.0);
        let Shard { seen, nodes } = &mut *shard;
        if *nodes >= SHARD_CAPACITY {
            seen.clear();
            *nodes = 0;
        }
        let front = seen.entry(key).or_default();
        let stride = self.coordinates + 1;
        self.with_point(state, cost, |point| {
            // The nodes that cost at least as much come first. Only these can dominate the new
            // node.
            let (mut low, mut high) = (0, front.len() / stride);
            while low < high {
                let middle = (low + high) / 2;
                if front[middle * stride] >= cost {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let mut threshold = None;
            // With one coordinate, the last of these nodes has the greatest coordinate.
            let first = if self.coordinates == 1 { low.saturating_sub(1) } else { 0 };
            for other in front[first * stride..low * stride].chunks_exact(stride).rev() {
                if other == point {
                    return None;
                }
                if other[1..].iter().zip(&point[1..]).all(|(other, mine)| other >= mine) {
                    // If the coordinates are the same, a node with the same cost is just as good,
                    // so it is excluded.
                    let up_to = if other[1..] == point[1..] { other[0] - 1 } else { other[0] };
                    threshold = Some(threshold.map_or(up_to, |known: Cost| known.max(up_to)));
                }
            }
            if threshold.is_none() {
                // The nodes that the new node dominates are among the nodes that cost no more.
                let mut kept = low;
                while kept > 0 && front[(kept - 1) * stride] == cost {
                    kept -= 1;
                }
                let mut next = kept;
                let mut place = kept;
                for at in kept..front.len() / stride {
                    let other = &front[at * stride..(at + 1) * stride];
                    if other[1..].iter().zip(&point[1..]).all(|(other, mine)| other <= mine) {
                        continue;
                    }
                    if at < low {
                        place += 1;
                    }
                    front.copy_within(at * stride..(at + 1) * stride, next * stride);
                    next += 1;
                }
                *nodes -= front.len() / stride - next;
                front.truncate(next * stride);
                front.splice(place * stride..place * stride, point.iter().copied());
                *nodes += 1;
            }
            threshold
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Decision, Problem, Value, Variable};
    use crate::tiny::Dice;

    /// Points are their own states. Their key is the first coordinate modulo 2.
    struct Points(usize);

    impl Problem for Points {
        type State = Vec<i64>;
        fn variables(&self) -> usize {
            1
        }
        fn initial_state(&self) -> Vec<i64> {
            vec![0; self.0]
        }
        fn cost_limit(&self) -> Option<Cost> {
            Some(0)
        }
        fn domain(&self, _: Variable, _: &Vec<i64>, _: impl FnMut(Value)) {}
        fn transition(&self, state: &Vec<i64>, _: Decision) -> Vec<i64> {
            state.clone()
        }
        fn cost(&self, _: &Vec<i64>, _: &Vec<i64>, _: Decision) -> Cost {
            0
        }
    }

    impl Dominance for Points {
        type Key = i64;
        fn key(&self, state: &Vec<i64>) -> Option<i64> {
            (state[0] != 7).then_some(state[0] % 2)
        }
        fn coordinates(&self) -> usize {
            self.0
        }
        fn coordinate(&self, state: &Vec<i64>, index: usize) -> i64 {
            state[index]
        }
    }

    /// Compares with all nodes that were seen; none is dropped.
    fn expected(seen: &[(usize, Vec<i64>, Cost)], depth: usize, state: &[i64], cost: Cost) -> Option<Cost> {
        let alike = |other: &[i64]| state[0] != 7 && other[0] != 7 && other[0] % 2 == state[0] % 2;
        let better = seen.iter().filter(|(at, other, at_cost)| {
            *at == depth
                && alike(other)
                && *at_cost >= cost
                && other.iter().zip(state).all(|(other, mine)| other >= mine)
                && (other != state || *at_cost > cost)
        });
        better.map(|(_, other, cost)| if other == state { cost - 1 } else { *cost }).max()
    }

    #[test]
    fn a_node_is_dominated_exactly_if_an_earlier_node_is_no_worse() {
        for coordinates in [1, 2, 3, 9] {
            let problem = Points(coordinates);
            let mut dice = Dice::new(coordinates as u64);
            for _ in 0..20 {
                let checked = DominanceTable::new(&problem);
                let mut seen: Vec<(usize, Vec<i64>, Cost)> = Vec::new();
                for _ in 0..60 {
                    let state: Vec<i64> = (0..coordinates).map(|_| dice.roll(8) as i64).collect();
                    let (depth, cost) = (dice.roll(2) as usize, dice.roll(8) as Cost - 4);
                    let threshold = checked.check(depth, &state, cost);
                    let expected = expected(&seen, depth, &state, cost);
                    assert_eq!(threshold.is_some(), expected.is_some(), "{state:?} at {cost} after {seen:?}");
                    // With one coordinate only the nearest node is compared. Its threshold is
                    // valid, but may be lower than the best one.
                    assert!(threshold <= expected && threshold.is_none_or(|threshold| threshold >= cost));
                    seen.push((depth, state, cost));
                }
            }
        }
    }
}
