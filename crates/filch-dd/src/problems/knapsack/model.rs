//! The knapsack problem as states and decisions.

use std::fmt;

use super::super::{invalid, list, taken, Instance, Invalid};
use crate::{Cost, Decision, Dominance, Problem, Relaxation, Value, Variable};

/// An item that can be put into the sack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its profit.
    pub profit: i64,
    /// Its weight.
    pub weight: i64,
}

/// An instance, and its model.
///
/// - **Variables**: the items, those with most profit for each unit of weight first. 1 means that
///   the item is taken.
/// - **State**: the capacity that is left. What can be taken later depends on nothing else.
/// - **Merge**: the greatest capacity. What fits into less fits into more, and profits do not
///   depend on the state.
/// - **Bound**: what could be taken if the last item could be cut (Dantzig). As the items are
///   sorted, these are the next items until one does not fit, and a part of that item.
/// - **Dominance**: of two states after the same items, the one with no less capacity and no less
///   profit is at least as good.
/// - An item that does not fit does not matter: it is left out, which costs nothing and leaves the
///   capacity as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knapsack {
    capacity: i64,
    items: Vec<Item>,
    /// The item of each variable.
    order: Vec<u32>,
    /// The items in the order of the variables.
    sorted: Vec<Item>,
    /// Prefix sums of the weights of the variables; one more than there are variables.
    weights: Vec<i64>,
    /// Prefix sums of the profits.
    profits: Vec<i64>,
    /// Whether capacity times profit may overflow 64 bits.
    wide: bool,
}

/// The greatest sum: the sum of two of these is far from an overflow.
pub(super) const MOST: i64 = 1 << 61;

impl Knapsack {
    /// Returns the problem of a sack that carries `capacity`, and these items.
    ///
    /// # Errors
    ///
    /// If a number is negative, or the sum of the weights or of the profits is more than 2^61.
    pub fn new(capacity: i64, items: Vec<Item>) -> Result<Knapsack, Invalid> {
        if capacity < 0 {
            return invalid(format!("the capacity {capacity} is negative"));
        }
        if items.len() > u32::MAX as usize {
            return invalid(format!("there are {} items, but at most {} are allowed", items.len(), u32::MAX));
        }
        let mut totals = [0i64; 2];
        for (at, item) in items.iter().enumerate() {
            for (total, part) in totals.iter_mut().zip([item.profit, item.weight]) {
                if part < 0 {
                    return invalid(format!("item {} has a negative number: {part}", at + 1));
                }
                *total = total.saturating_add(part);
            }
        }
        for (total, what) in totals.iter().zip(["profits", "weights"]) {
            if *total > MOST {
                return invalid(format!(
                    "the {what} of the items come to more than {MOST} together, which could overflow"
                ));
            }
        }

        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        // Sorted by profit for each unit of weight, without a division: a/b > c/d if a*d > c*b.
        // Items without weight come first, and equals stay in the order of the file.
        order.sort_by(|&a, &b| {
            let (a, b) = (items[a as usize], items[b as usize]);
            let (left, right) =
                (i128::from(a.profit) * i128::from(b.weight), i128::from(b.profit) * i128::from(a.weight));
            (a.weight != 0).cmp(&(b.weight != 0)).then(right.cmp(&left))
        });
        let sorted: Vec<Item> = order.iter().map(|&at| items[at as usize]).collect();
        let sums = |part: fn(&Item) -> i64| {
            let mut total = 0;
            let after = sorted.iter().map(|item| {
                total += part(item);
                total
            });
            std::iter::once(0).chain(after).collect::<Vec<i64>>()
        };
        let (weights, profits) = (sums(|item| item.weight), sums(|item| item.profit));
        let most = items.iter().map(|item| item.profit).max().unwrap_or(0);
        let wide = capacity.checked_mul(most).is_none();
        Ok(Knapsack { capacity, items, order, sorted, weights, profits, wide })
    }

    /// Returns the weight that the sack can carry.
    pub fn capacity(&self) -> i64 {
        self.capacity
    }

    /// Returns the items, in the order of the file.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the number, from 0, of the item that a variable stands for.
    pub fn item_of(&self, variable: Variable) -> usize {
        self.order[variable.index()] as usize
    }

    /// Returns the instance as the text of a file.
    pub fn text(&self) -> String {
        let mut text = format!("{} {}\n", self.items.len(), self.capacity);
        self.items.iter().for_each(|item| text += &format!("{} {}\n", item.profit, item.weight));
        text
    }
}

impl Problem for Knapsack {
    type State = i64;

    fn variables(&self) -> usize {
        self.sorted.len()
    }

    fn initial_state(&self) -> i64 {
        self.capacity
    }

    fn cost_limit(&self) -> Option<Cost> {
        self.profits.last().copied()
    }

    #[inline]
    fn domain(&self, variable: Variable, &capacity: &i64, mut decide: impl FnMut(Value)) {
        if self.sorted[variable.index()].weight <= capacity {
            decide(1);
        }
        decide(0);
    }

    #[inline]
    fn transition(&self, &capacity: &i64, decision: Decision) -> i64 {
        capacity - decision.value * self.sorted[decision.variable.index()].weight
    }

    #[inline]
    fn cost(&self, _: &i64, _: &i64, decision: Decision) -> Cost {
        decision.value * self.sorted[decision.variable.index()].profit
    }

    #[inline]
    fn matters(&self, variable: Variable, &capacity: &i64) -> bool {
        self.sorted[variable.index()].weight <= capacity
    }
}

impl Relaxation for Knapsack {
    #[inline]
    fn merge<'a>(&self, states: impl Iterator<Item = &'a i64>) -> i64 {
        states.copied().max().unwrap_or(0)
    }

    /// Finds the next items that fit by binary search in the sums of weights.
    ///
    /// So a bound takes logarithmic time.
    #[inline]
    fn rough_bound(&self, depth: usize, &capacity: &i64) -> Option<Cost> {
        let full = self.weights[depth] + capacity.min(MOST);
        let cut = depth + self.weights[depth + 1..].partition_point(|&weight| weight <= full);
        let whole = self.profits[cut] - self.profits[depth];
        let Some(item) = self.sorted.get(cut) else { return Some(whole) };
        let rest = full - self.weights[cut];
        // The item did not fit, so its weight is not 0. Rounding down is right, because profits are
        // integers.
        let part = if self.wide {
            (i128::from(rest) * i128::from(item.profit) / i128::from(item.weight)) as i64
        } else {
            rest * item.profit / item.weight
        };
        Some(whole + part)
    }

    #[inline]
    fn rank(&self, &capacity: &i64) -> i64 {
        capacity
    }
}

impl Dominance for Knapsack {
    /// All states after the same items can be compared.
    type Key = ();

    #[inline]
    fn key(&self, _: &i64) -> Option<()> {
        Some(())
    }

    fn coordinates(&self) -> usize {
        1
    }

    #[inline]
    fn coordinate(&self, &capacity: &i64, _: usize) -> i64 {
        capacity
    }
}

/// The items that are taken, by their number from 0, in ascending order.
///
/// Its text has their numbers from 1, with blanks between: `1 3`. If no item is taken, it is an
/// empty line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(pub Vec<usize>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0.iter().map(|item| item + 1))
    }
}

impl Instance for Knapsack {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        let mut items: Vec<usize> =
            taken(self.items.len(), decisions)?.into_iter().map(|at| self.order[at] as usize).collect();
        items.sort_unstable();
        Ok(Answer(items))
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        let mut seen = vec![false; self.items.len()];
        let (mut profit, mut weight) = (0, 0);
        for &item in &answer.0 {
            match seen.get_mut(item) {
                None => return invalid(format!("item {} is taken, but there are only {}", item + 1, self.items.len())),
                Some(true) => return invalid(format!("item {} is taken twice", item + 1)),
                Some(seen) => *seen = true,
            }
            profit += self.items[item].profit;
            weight += self.items[item].weight;
        }
        if weight > self.capacity {
            return invalid(format!("the items weigh {weight}, but the sack carries {}", self.capacity));
        }
        Ok(profit)
    }
}
