//! The Blitz notes on work stealing.
//!
//! They contain the load-balance figure, the textbook's other schedulers, and the costs of fork,
//! join, steal and wake.

use super::items::{as_named, bars, bench, figure, text, Columns};
use crate::bench::cilk::{ratio, CENTRAL, MILLIS_A_RUN, PARTITION, SHARING, THE};
use crate::bench::fork_join::{
    join_cost, wake_cost, ENGINE_BARRIER, ENGINE_EVENTS, EXTRA_CPU_MICROS_A_TICK, JOINS_OF_ENGINES, NANOS_A_JOIN,
    POOL_CPU_MILLIS_A_SECOND,
};
use crate::bench::queues::steal_cost;
use crate::bench::{cilk, fork_join, queues, THREADS};
use crate::chart::{Chart, Lane, Lanes};
use crate::claims::{Claim, Holds, Source, Verdict};
use crate::figures::{number, threads};
use crate::report::collect::balance::{Balance, Piece, StrategyRun};
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

/// The strategies of the load-balance figure.
pub(super) const STATIC: &str = "static";
pub(super) const STEALING: &str = "stealing";

/// The share of the time from which on a worker counts as always busy.
const BUSY: f64 = 0.9;
/// The smallest gain in the busy share that counts. A tenth is more than the clock's noise.
const GAP: f64 = 0.1;
/// How many runs must agree. At most one may disagree.
const MOST: usize = 4;

fn run<'a>(balance: &'a Balance, name: &str) -> Option<&'a StrategyRun> {
    balance.runs.iter().find(|run| run.name == name)
}

/// Judges by the busy shares of all runs, in pairs. There are too few runs for an interval, so
/// nearly all must agree.
pub(super) fn balanced(results: &Results) -> Verdict {
    let claim = Claim::new(
        Source::BLITZ,
        "With uneven work, stealing keeps workers busy (the notes: 98 % of the time), and static division does not (53 %).",
    );
    let runs = results.balance.as_ref().and_then(|balance| Some((run(balance, STATIC)?, run(balance, STEALING)?)));
    let Some((divided, stolen)) = runs else { return claim.not_measured() };
    let agreements: Vec<bool> = divided
        .utilisations
        .iter()
        .zip(&stolen.utilisations)
        .map(|(divided, stolen)| *stolen >= BUSY && stolen - divided >= GAP)
        .collect();
    let agree = agreements.iter().filter(|agrees| **agrees).count();
    let measured = format!(
        "static {:.0} % busy, {} ms; stealing {:.0} % busy, {} ms; {agree} of {} runs agree",
        100.0 * divided.utilisation,
        number(divided.total),
        100.0 * stolen.utilisation,
        number(stolen.total),
        agreements.len()
    );
    let holds = match (agree, agreements.len() - agree) {
        (yes, 0 | 1) if yes >= MOST => Holds::Yes,
        (0 | 1, no) if no >= MOST => Holds::No,
        _ => Holds::Unclear,
    };
    let required = format!(
        "stealing at least {:.0} %, and {:.0} points above static, in all runs but one",
        100.0 * BUSY,
        100.0 * GAP
    );
    Verdict { required, ..claim.verdict(measured, holds) }
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "blitz",
        title: "The Blitz notes on work stealing".to_owned(),
        items: vec![
            text("These notes describe a runtime in Zig: why stealing balances work, how workers sleep, and what each operation costs with 10 workers."),
            balance(results),
            schedulers(results),
            costs(results),
            protocols(results),
        ],
    }
}

fn balance(results: &Results) -> Item {
    let group = |run: &StrategyRun| {
        let lane = |(number, pieces): (usize, &Vec<Piece>)| -> Lane {
            let pieces = pieces.iter().map(|piece| (piece.start, piece.end, piece.stolen));
            (format!("worker {number}"), pieces.collect())
        };
        let name = format!("{}: {:.0} % busy", run.name, 100.0 * run.utilisation);
        (name, run.workers.iter().enumerate().map(lane).collect())
    };
    let balance = results.balance.as_ref().filter(|balance| !balance.runs.is_empty());
    let groups = balance.map(|balance| balance.runs.iter().map(group).collect());
    let texts = Texts::new(
        "balance",
        "Load balance: the same uneven work with static division and with stealing",
        format!(
            "{}. The notes have four workers: 350 ms and 53 % busy with static division, 116 ms and 98 % with stealing. \
             (Their 750 ms of work would take four workers at least 188 ms.)",
            balance.map_or("", |balance| balance.what.trim_end_matches('.'))
        ),
        "cargo run --release -- report --only balance",
    );
    figure(texts, groups.map(|groups| Chart::Lanes(Lanes { axis: "milliseconds".to_owned(), groups })))
}

fn schedulers(results: &Results) -> Item {
    let figures = results.figures(cilk::SUITE);
    let cases = as_named(&figures.cases(MILLIS_A_RUN));
    let chart = bars("time, stealing (the) = 1", &cases, &as_named(&[PARTITION, CENTRAL, SHARING]), |case, other| {
        ratio(figures, case, other, THE, THREADS)
    });
    let texts = Texts::new(
        "blitz-schedulers",
        format!("Static partition, central queue and work sharing, compared with stealing, {}", threads(THREADS)),
        "Above 1 is slower than stealing. The notes say, without figures: a static partition has no overhead and no \
         balance, all workers contend for a central queue, and work sharing pays for each push.",
        bench(cilk::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}

fn costs(results: &Results) -> Item {
    let (joins, queues) = (results.figures(fork_join::SUITE), results.figures(queues::SUITE));
    let rows = [
        ("fork and join, minus plain recursion", "2 to 11", ["filch", "rayon"].map(|name| join_cost(joins, name))),
        ("steal from chase_lev without contention", "5 to 50", [steal_cost(queues), None]),
        ("wake a sleeping pool", "5 to 10", ["filch", "rayon"].map(|name| wake_cost(joins, name))),
    ];
    Columns::of(rows)
        .name("what", |&(what, ..)| what)
        .interval("filch (ns)", |(.., costs)| costs[0].clone())
        .interval("rayon (ns)", |(.., costs)| costs[1].clone())
        .name("Blitz says (ns)", |&(_, claimed, _)| claimed)
        .table(Texts::new(
            "blitz-prices",
            "Costs of operations, compared with the notes, in nanoseconds",
            "Medians with their intervals. The table of costs above also has a steal between two cores.",
            bench(fork_join::SUITE, results.full, &["fib", "wake"]),
        ))
}

/// Returns the table of the engine's two idle protocols, beside the two pools.
fn protocols(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let of = |case: &str, unit, name: &str, count| figures.figure(case, unit, (name, count));
    Columns::of(["filch", "rayon", ENGINE_BARRIER, ENGINE_EVENTS])
        .name("who", |who| *who)
        .interval("wake (us)", |who| wake_cost(figures, who)?.map(|nanos| nanos / 1e3))
        .interval("idle (ms/s)", |who| of("idle", POOL_CPU_MILLIS_A_SECOND, who, THREADS))
        .interval("tick, 64 parts (us)", |who| of("tick", EXTRA_CPU_MICROS_A_TICK, who, THREADS))
        .interval("tick, one part (us)", |who| of("tick-serial", EXTRA_CPU_MICROS_A_TICK, who, THREADS))
        .interval(&format!("{JOINS_OF_ENGINES}, 1 thread (ns/join)"), |who| of(JOINS_OF_ENGINES, NANOS_A_JOIN, who, 1))
        .table(Texts::new(
            "blitz-idle",
            "The notes' jobs event counter and a barrier, as idle protocols of one runtime",
            "The two engines differ in the idle protocol alone, so the difference between their rows is what the protocol \
             costs. engine-events has the jobs event counter: each fork has a fence. engine-barrier has none: a worker \
             that goes to sleep makes all others pass a barrier. wake, idle and tick are as in the table of pools with \
             little to do.",
            bench(fork_join::SUITE, results.full, &["wake", "idle", "tick", JOINS_OF_ENGINES]),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::nothing;

    #[test]
    fn the_verdict_on_balance_needs_most_runs_and_a_clear_gap() {
        let run = |name, busy: &[f64]| StrategyRun {
            name,
            workers: Vec::new(),
            total: 20.0,
            utilisation: busy[0],
            utilisations: busy.to_vec(),
        };
        let holds = |divided: &[f64], stolen: &[f64]| {
            let runs = vec![run(STATIC, divided), run(STEALING, stolen)];
            let balance = Some(Balance { what: String::new(), runs });
            balanced(&Results { balance, ..nothing() }).holds
        };
        assert_eq!(holds(&[0.5; 5], &[0.97, 0.98, 0.7, 0.98, 0.96]), Holds::Yes);
        assert_eq!(holds(&[0.5; 5], &[0.97, 0.7, 0.7, 0.98, 0.96]), Holds::Unclear);
        assert_eq!(holds(&[0.96; 5], &[0.97; 5]), Holds::No);
        assert_eq!(holds(&[0.5], &[0.97]), Holds::Unclear);
    }
}
