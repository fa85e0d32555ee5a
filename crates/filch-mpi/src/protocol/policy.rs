//! Load balancing: which rank gives to which, and when a rank reports its load.
//!
//! A rank with few open nodes per thread is hungry, and gets nodes before it has none left. The
//! rank with the most open nodes gives. Each giver and each receiver has one order at a time. A
//! receiver can give in turn, so one rank's nodes reach n ranks in about log2(n) steps.
//!
//! The coordinator knows only the last report of a rank, which may be off by a factor. A rank that
//! refuses is not asked again before its next report.
//!
//! No function here iterates over all ranks: with thousands of ranks, each message would cost that.

use core::time::Duration;
use std::collections::BTreeSet;

use super::message::Share;

/// The settings of load balancing. The same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// A rank with fewer open nodes than this per thread is hungry.
    pub hungry: u64,
    /// The share of its open nodes that a giver gives.
    pub share: Share,
    /// A rank reports if its open nodes have changed by this factor.
    pub factor: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { hungry: 4, share: Share::HALF, factor: 4 }
    }
}

/// How much a rank has, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Class {
    Nothing,
    /// All open nodes are being processed.
    NothingToSpare,
    Hungry,
    Enough,
}

impl Policy {
    fn class(self, open: u64, threads: u64) -> Class {
        if open == 0 {
            Class::Nothing
        } else if open <= threads {
            Class::NothingToSpare
        } else if open < threads.saturating_mul(self.hungry) {
            Class::Hungry
        } else {
            Class::Enough
        }
    }

    /// Returns whether a rank should report that it has `open` nodes open.
    ///
    /// `reported` is what the coordinator believes.
    pub fn is_worth_reporting(self, reported: u64, open: u64, threads: u64) -> bool {
        self.class(reported, threads) != self.class(open, threads)
            || open > reported.saturating_mul(self.factor)
            || open.saturating_mul(self.factor) < reported
    }

    /// Returns the shortest time between two statuses of a rank.
    ///
    /// It grows with the number of ranks, so that one coordinator can handle the messages.
    pub fn report_interval(self, ranks: usize) -> Duration {
        Duration::from_micros((ranks as u64).saturating_mul(5).max(1000))
    }
}

/// What the coordinator knows of a rank's load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Load {
    threads: u64,
    /// The open nodes of its last report, and all that it received since.
    open: u64,
    /// Whether the rank has reported or received anything.
    has_reported: bool,
    giving: bool,
    receiving: bool,
    /// Whether the rank has refused since its last report.
    refused: bool,
}

/// The ranks that can give, and the ranks that need nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Balance {
    policy: Policy,
    loads: Vec<Load>,
    /// Ranks that have nodes to spare and are not giving, the richest last.
    givers: BTreeSet<(u64, usize)>,
    /// Hungry ranks that are not receiving, the hungriest first. The number is the open nodes per
    /// thread, in thousandths.
    takers: BTreeSet<(u64, usize)>,
    /// The open nodes of all ranks. Wider than each report, so that the sum cannot overflow.
    open: u128,
}

impl Balance {
    pub(crate) fn new(ranks: usize, policy: Policy) -> Self {
        let loads = vec![Load { threads: 1, ..Load::default() }; ranks];
        Balance { policy, loads, givers: BTreeSet::new(), takers: BTreeSet::new(), open: 0 }
    }

    pub(crate) fn open(&self) -> u64 {
        self.open.try_into().unwrap_or(u64::MAX)
    }

    pub(crate) fn set_threads(&mut self, rank: usize, threads: u64) {
        self.change(rank, |load| load.threads = threads.max(1));
    }

    /// Records a rank's report of how much it has open.
    pub(crate) fn report(&mut self, rank: usize, open: u64) {
        self.change(rank, |load| {
            load.open = open;
            load.has_reported = true;
            load.refused = false;
        });
    }

    pub(crate) fn ordered(&mut self, from: Option<usize>, to: usize) {
        if let Some(from) = from {
            self.change(from, |load| load.giving = true);
        }
        self.change(to, |load| load.receiving = true);
    }

    pub(crate) fn received(&mut self, from: Option<usize>, to: usize, nodes: u64) {
        if let Some(from) = from {
            self.change(from, |load| load.giving = false);
        }
        self.change(to, |load| {
            load.receiving = false;
            load.open = load.open.saturating_add(nodes);
            // A receipt counts as a report: a rank that was dealt nodes may have nothing to report
            // for a while.
            load.has_reported = true;
            load.refused = false;
        });
    }

    pub(crate) fn refused(&mut self, from: usize, to: usize) {
        self.change(from, |load| {
            load.giving = false;
            load.refused = true;
        });
        self.change(to, |load| load.receiving = false);
    }

    /// Returns the next giver and receiver, if there is a pair.
    pub(crate) fn next(&self) -> Option<(usize, usize)> {
        let &(_, taker) = self.takers.first()?;
        let &(has, giver) = self.givers.iter().rev().find(|&&(_, giver)| giver != taker)?;
        let wants = self.loads[taker].open;
        // A receiver with nothing gets what can be spared. A receiver with some nodes gets more
        // only from a rank that does not become hungry by giving.
        let threads = self.loads[giver].threads;
        let worthwhile = wants == 0 || has >= threads.saturating_mul(self.policy.hungry).max(wants).saturating_mul(2);
        worthwhile.then_some((giver, taker))
    }

    fn change(&mut self, rank: usize, change: impl FnOnce(&mut Load)) {
        let load = &mut self.loads[rank];
        if let Some(key) = Self::giver(self.policy, load) {
            self.givers.remove(&(key, rank));
        }
        if let Some(key) = Self::taker(self.policy, load) {
            self.takers.remove(&(key, rank));
        }
        self.open -= u128::from(load.open);
        change(load);
        self.open += u128::from(load.open);
        if let Some(key) = Self::giver(self.policy, load) {
            self.givers.insert((key, rank));
        }
        if let Some(key) = Self::taker(self.policy, load) {
            self.takers.insert((key, rank));
        }
    }

    fn giver(policy: Policy, load: &Load) -> Option<u64> {
        let may = load.has_reported && !load.giving && !load.refused;
        (may && policy.class(load.open, load.threads) >= Class::Hungry).then_some(load.open)
    }

    fn taker(policy: Policy, load: &Load) -> Option<u64> {
        let may = load.has_reported && !load.receiving;
        // Giving does not make a rank hungry: it had twice as much. So nodes do not move back and
        // forth.
        let hungry = load.open == 0 || load.open < load.threads.saturating_mul(policy.hungry);
        (may && hungry).then(|| load.open.saturating_mul(1000) / load.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balance(open: &[u64]) -> Balance {
        let mut balance = Balance::new(open.len(), Policy::default());
        for (rank, &open) in open.iter().enumerate() {
            balance.report(rank, open);
        }
        balance
    }

    #[test]
    fn the_rank_with_most_gives_to_the_one_with_least() {
        let mut balance = balance(&[3, 100, 0, 70]);
        assert_eq!(balance.next(), Some((1, 2)));
        balance.ordered(Some(1), 2);
        assert_eq!(
            balance.next(),
            Some((3, 0)),
            "the richest gives and the hungriest receives, so the next two are chosen"
        );
        balance.ordered(Some(3), 0);
        assert_eq!(balance.next(), None);
        balance.report(1, 50);
        balance.received(Some(1), 2, 50);
        assert_eq!(balance.next(), None, "no rank is hungry any more");
        assert_eq!(balance.open(), 3 + 50 + 50 + 70);
    }

    #[test]
    fn a_rank_that_refuses_is_not_asked_again_before_its_next_report() {
        let mut balance = balance(&[10, 0]);
        balance.ordered(Some(0), 1);
        balance.refused(0, 1);
        assert_eq!(balance.next(), None);
        balance.report(0, 10);
        assert_eq!(balance.next(), Some((0, 1)));
    }

    #[test]
    fn a_rank_with_few_nodes_gives_only_to_a_rank_with_none() {
        assert_eq!(balance(&[3, 1]).next(), None);
        assert_eq!(balance(&[3, 0]).next(), Some((0, 1)));
        assert_eq!(balance(&[1, 0]).next(), None, "its only node is being processed");
        assert_eq!(balance(&[8, 3]).next(), Some((0, 1)));
    }

    #[test]
    fn a_rank_that_has_not_reported_neither_gives_nor_receives() {
        let mut balance = Balance::new(2, Policy::default());
        balance.report(0, 100);
        assert_eq!(balance.next(), None);
        balance.report(1, 0);
        assert_eq!(balance.next(), Some((0, 1)));
    }

    #[test]
    fn a_sum_of_open_nodes_that_overflows_saturates() {
        let mut balance = balance(&[u64::MAX, u64::MAX, 0]);
        assert_eq!(balance.open(), u64::MAX);
        balance.received(Some(0), 1, u64::MAX);
        balance.report(0, 3);
        balance.report(1, 4);
        assert_eq!(balance.open(), 7);
    }

    #[test]
    fn a_rank_that_was_dealt_nodes_gives_some_before_its_first_report() {
        let mut balance = Balance::new(2, Policy::default());
        balance.ordered(None, 0);
        balance.report(1, 0);
        assert_eq!(balance.next(), None, "the dealt nodes are in transit");
        balance.received(None, 0, 20);
        assert_eq!(balance.next(), Some((0, 1)));
    }

    #[test]
    fn one_ranks_nodes_reach_a_thousand_ranks_in_a_few_steps() {
        let ranks = 1024;
        let mut open = vec![0; ranks];
        open[0] = 1 << 20;
        let mut balance = balance(&open);
        let mut steps = 0;
        loop {
            let mut orders = Vec::new();
            while let Some((from, to)) = balance.next() {
                balance.ordered(Some(from), to);
                orders.push((from, to));
            }
            if orders.is_empty() {
                break;
            }
            steps += 1;
            for (from, to) in orders {
                let given = open[from] / 2;
                open[from] -= given;
                open[to] += given;
                balance.report(from, open[from]);
                balance.received(Some(from), to, given);
            }
        }
        assert_eq!(steps, 10);
        assert!(open.iter().all(|&open| open == 1024));
    }

    #[test]
    fn a_rank_reports_when_its_load_has_changed_notably() {
        let policy = Policy::default();
        for (reported, open, expected) in [
            (0, 0, false),
            (0, 1, true),
            (1, 2, true),
            (100, 300, false),
            (100, 401, true),
            (100, 26, false),
            (100, 24, true),
            (5, 3, true),
        ] {
            assert_eq!(
                policy.is_worth_reporting(reported, open, 1),
                expected,
                "{reported} was reported, {open} is open"
            );
        }
    }
}
