//! The knapsack problem by branch and bound.
//!
//! Each item is either taken or left, and a join is that choice.
//!
//! All workers share the best value so far, which cuts off branches. The number of branches left to
//! search therefore depends on which worker finds which value first, and so on luck.
//!
//! The items are of a hard and steady kind: each is worth a little more than it weighs, all weigh
//! nearly the same, and there is room for a third of them. The best value is found within the first
//! hundredth of a search. The rest is the proof that nothing beats it. For 32 items, that takes
//! almost the same 85 million nodes in whatever order they are searched.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{ensure, Result};

use crate::bench::contenders::Fork;
use crate::bench::random::Random;
use crate::bench::work::Work;

/// The smallest weight of an item.
const WEIGHT: u64 = 9_000;
/// The bound of the differences between weights.
const DIFFERENCE: u64 = 1_000;
/// The difference between an item's value and its weight.
const SURPLUS: u64 = 1_000;

/// Items, and room for some of them.
#[derive(Debug)]
pub(crate) struct Knapsack {
    /// The items, ordered by value per weight, the best first.
    items: Vec<Item>,
    room: u64,
    optimum: u64,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    value: u64,
    weight: u64,
}

impl Knapsack {
    /// A knapsack with `items` items, 3 to 63, the same in each run.
    pub(crate) fn new(items: usize) -> Knapsack {
        let mut random = Random::new(1);
        let items: Vec<Item> = (0..items)
            .map(|_| {
                let weight = WEIGHT + random.below(DIFFERENCE);
                Item { value: weight + SURPLUS, weight }
            })
            .collect();
        // Room for a whole number of items of average weight. The rest cannot be filled better by
        // chance.
        let (third, all) = (items.len() as u64 / 3, items.len() as u64);
        let room = items.iter().map(|item| item.weight).sum::<u64>() * third / all;
        Knapsack::of(items, room)
    }

    fn of(mut items: Vec<Item>, room: u64) -> Knapsack {
        // Sorts by value / weight, without dividing.
        items.sort_by(|one, other| (other.value * one.weight).cmp(&(one.value * other.weight)));
        let optimum = optimum(&items, room);
        Knapsack { items, room, optimum }
    }
}

/// The best value, by dynamic programming.
fn optimum(items: &[Item], room: u64) -> u64 {
    let mut best = vec![0; room as usize + 1];
    for item in items {
        for room in (item.weight as usize..best.len()).rev() {
            best[room] = best[room].max(best[room - item.weight as usize] + item.value);
        }
    }
    best[room as usize]
}

impl Work for Knapsack {
    type Input = ();
    type Answer = Packed;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> Packed {
        pack::<F>(context, &self.items, self.room, 0, &AtomicU64::new(0))
    }

    fn check(&self, answer: &Packed) -> Result<()> {
        ensure!(answer.value == self.optimum, "the knapsack holds a value of {}, not {}", self.optimum, answer.value);
        let all = 1 << self.items.len();
        ensure!(answer.subsets == all, "{} subsets were decided instead of {all}", answer.subsets);
        Ok(())
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    value: u64,
    /// The number of subsets that were searched or cut off. A lost branch lacks its subsets.
    subsets: u64,
}

/// The best value of a knapsack with `value` in it and `room` for some `items`.
///
/// If that is no better than `best`, the result may be any value that the knapsack can hold.
fn pack<F: Fork>(context: F::Context<'_>, mut items: &[Item], room: u64, value: u64, best: &AtomicU64) -> Packed {
    // Relaxed, here and below: no other read depends on this number, and an old value costs nodes
    // but does not change the answer.
    let all = items.len();
    let known = best.load(Ordering::Relaxed);
    if value > known {
        best.fetch_max(value, Ordering::Relaxed);
    }
    let known = known.max(value);
    while let Some((item, others)) = items.split_first() {
        // The room is worth at most what it would hold if filled at the rate of the best item left.
        if room * item.value <= (known - value) * item.weight {
            break;
        }
        if item.weight <= room {
            let (room_with, value_with) = (room - item.weight, value + item.value);
            let (with, without) = F::join(
                context,
                move |context| pack::<F>(context, others, room_with, value_with, best),
                move |context| pack::<F>(context, others, room, value, best),
            );
            // The subsets with the items that did not fit are decided as well.
            let subsets = with.subsets + without.subsets;
            return Packed { value: with.value.max(without.value), subsets: subsets << (all - items.len()) };
        }
        items = others;
    }
    Packed { value, subsets: 1 << all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    /// Items of any kind, and room for half of their weight.
    fn mixed(items: u64) -> Knapsack {
        let mut random = Random::new(items);
        let items: Vec<Item> =
            (0..items).map(|_| Item { value: 1 + random.below(50), weight: 1 + random.below(50) }).collect();
        let room = items.iter().map(|item| item.weight).sum::<u64>() / 2;
        Knapsack::of(items, room)
    }

    #[test]
    fn all_contenders_find_the_best_packing() {
        all_contenders_agree_on(&Knapsack::new(3));
        all_contenders_agree_on(&Knapsack::new(12));
        for items in 0..20 {
            all_contenders_agree_on(&mixed(items));
        }
    }

    #[test]
    fn the_optimum_is_the_best_of_all_subsets() {
        for items in 0..10 {
            let work = mixed(items);
            let best = (0u32..1 << items).filter_map(|subset| {
                let taken = work.items.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
                let (value, weight) =
                    taken.fold((0, 0), |(value, weight), (_, item)| (value + item.value, weight + item.weight));
                (weight <= work.room).then_some(value)
            });
            assert_eq!(best.max(), Some(work.optimum), "{items} items");
        }
    }

    #[test]
    fn branches_that_cannot_be_better_are_pruned() {
        // There is room for 4 of 12 items. There are 794 subsets of 4 or fewer: 793 joins, if all
        // of them fitted and were visited.
        assert!((300..400).contains(&joins(&Knapsack::new(12)).unwrap()));
        // Everything fits: the search takes all items first, and nothing beats that.
        let items = vec![Item { value: 2, weight: 1 }; 60];
        assert_eq!(joins(&Knapsack::of(items, 60)).unwrap(), 60);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Knapsack::of(
            vec![Item { value: 3, weight: 2 }, Item { value: 4, weight: 3 }, Item { value: 5, weight: 4 }],
            5,
        );
        for (value, subsets, is_right) in [(7, 8, true), (6, 8, false), (8, 8, false), (7, 7, false), (7, 9, false)] {
            assert_eq!(work.check(&Packed { value, subsets }).is_ok(), is_right, "{value}, {subsets}");
        }
    }
}
