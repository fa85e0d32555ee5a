//! The claims about queues.

use super::{Case, NANOS_AN_OPERATION};
use crate::claims::{Bound, Claim, Criterion, Figures, Rounds, Source, Verdict};
use crate::queue::Queue;

const CHASE_LEV: &str = Queue::ChaseLev.name();
const THE: &str = Queue::The.name();
const LIFO: &str = Queue::Lifo.name();
const FIFO: &str = Queue::Fifo.name();
const DOUBLE_ENDED: &str = Queue::DoubleEnded.name();
const CROSSBEAM: &str = "crossbeam-lifo";

/// The queues of filch that trust a bound.
const TRUSTING: [&str; 3] = ["ff_cl", "ff_the", "thep"];

/// Returns the time of a steal without contention, in nanoseconds.
pub(crate) fn steal_cost(figures: Figures<'_>) -> Option<Rounds> {
    figures.figure(&Case::Steal.to_string(), NANOS_AN_OPERATION, (CHASE_LEV, 1))
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let paper = |text: &str| Claim::new(Source::IDEMPOTENT, text);
    let filch = |text: &str| Claim::new(Source::filch(Source::IDEMPOTENT.section), text);
    let ratio = |case: Case, over: &str, under: &str, bound: Bound| {
        let ratio = figures.ratio(&case.to_string(), NANOS_AN_OPERATION, (over, 1), (under, 1));
        Criterion::new(format!("{case}, {over} / {under}:"), ratio, bound)
    };
    // The paper's queues that are never faster, and how many times as long one of them takes as
    // LIFO, FIFO and double-ended.
    let earlier = [CHASE_LEV, THE];
    let slower = |case: Case, over: &str, least: [f64; 3]| {
        let bounds = [LIFO, FIFO, DOUBLE_ENDED].into_iter().zip(least);
        bounds.map(|(under, least)| ratio(case, over, under, Bound::AtLeast(least))).collect::<Vec<_>>()
    };
    // The smallest of the paper's gains.
    let gains = [1.55, 1.66, 1.47];
    // The idempotent queue that gains most, compared with each of the earlier queues.
    let free = earlier.map(|over| {
        let case = Case::TaskCost(0).to_string();
        let gain = |under| figures.ratio(&case, NANOS_AN_OPERATION, (over, 1), (under, 1));
        let gains = [LIFO, FIFO, DOUBLE_ENDED].map(|under| (format!("{over} / {under}:"), gain(under)));
        Criterion::largest(gains, Bound::faster_by_about(9.0))
    });
    let tasks = if figures.is_quick { "A million (the paper: ten million)" } else { "Ten million" };
    let fence_free = TRUSTING
        .into_iter()
        .chain([Queue::Asymmetric.name()])
        .map(|name| ratio(Case::Burst, name, LIFO, Bound::AtMost(1.4)));
    // The split queue is not one of filch-queue, and is not in this suite.
    let growing = Queue::ALL.into_iter().filter(|queue| *queue != Queue::Split).map(Queue::name).chain(TRUSTING);
    vec![
        paper(&format!("{tasks} pushes and then as many pops, or the pops only: Chase-Lev and THE take 1.55 to 4.92 times as long as LIFO, 1.66 to 5.87 times as long as FIFO, 1.47 to 3.69 times as long as double-ended. (The smallest gains are required. Measured on a Netburst, an Opteron and a Power5.)"))
            .judged_each([Case::PushThenPop, Case::PopOnly].into_iter().flat_map(|case| earlier.into_iter().flat_map(move |over| slower(case, over, gains)))),
        paper("If tasks cost nothing, some idempotent queues are often ten times as fast as earlier queues. (More also counts.)")
            .judged("", free),
        Claim::new(Source::BLITZ, "A steal costs 5 to 50 ns. (Less also counts. The owner and the thief are one thread.)").judged(
            "a steal from chase_lev without contention",
            [Criterion::new("", steal_cost(figures), Bound::AtMost(50.0)).with_unit("ns")],
        ),
        filch("If the queue stays in the cache (64 pushes and 64 pops, repeated), Chase-Lev takes at least 3 times as long as LIFO and FIFO, and 2.5 times as long as double-ended.")
            .judged("", slower(Case::Burst, CHASE_LEV, [3.0, 3.0, 2.5])),
        filch("If the queue stays in the cache, crossbeam's deque takes at least 4 times as long as LIFO and FIFO, and 2.5 times as long as double-ended.")
            .judged("", slower(Case::Burst, CROSSBEAM, [4.0, 4.0, 2.5])),
        filch("If the queue stays in the cache, the fence-free queues and `asymmetric` take at most 1.4 times as long as LIFO.")
            .judged("", fence_free),
        filch("If the queue stays in the cache, Chase-Lev takes at most 1.15 times as long as the least that its owner could do.")
            .judged("", [ratio(Case::Burst, CHASE_LEV, "floor-lock", Bound::AtMost(1.15))]),
        filch("A push and a pop in the cache, a pop alone, and a steal take Chase-Lev no longer than crossbeam's deque.")
            .judged("", [Case::Burst, Case::PopOnly, Case::Steal].map(|case| ratio(case, CHASE_LEV, CROSSBEAM, Bound::AtMost(1.0)))),
        filch("Every queue of single tasks grows at least as fast as crossbeam's deque.")
            .judged_each(growing.map(|name| ratio(Case::PushGrow, name, CROSSBEAM, Bound::AtMost(1.0)))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::queues::contenders;
    use crate::claims::MISSING;
    use crate::figures::Series;

    #[test]
    fn claims_name_only_measured_contenders_and_cases() {
        let cases = [Case::Burst, Case::PushThenPop, Case::PushGrow, Case::PopOnly, Case::Steal, Case::TaskCost(0)];
        let all: Vec<Series> = contenders::all()
            .iter()
            .flat_map(|entry| {
                cases.map(|case| Series { case: case.to_string(), ..crate::figures::tests::series(entry.name, &[1.0]) })
            })
            .collect();
        MISSING.take();
        verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        assert!(MISSING.take().is_empty());
    }
}
