//! The claims about batches.

use super::cases::{emptyings, is_quick_steal, parse_nodes};
use super::{
    Case, Fill, NodeCost, ATTEMPTS_A_STEAL, BATCHES, BULK, BULK_TRY_LOCK, CHASE_LEV, CROSSBEAM, MUTEX, NANOS_A_NODE,
    NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, NANOS_A_TASK, PUBLISHED, PUBLISHED_EARLY, REFUSED, SHARES,
};
use crate::bench::THREADS;
use crate::claims::{Bound, Claim, Criterion, Figures, Rounds, Source, Verdict};
use crate::figures::threads;

/// Returns the exploration of the largest graph that was measured.
pub(crate) fn dag_case(figures: Figures<'_>, cost: NodeCost) -> Option<String> {
    let measured = figures.cases(NANOS_A_NODE);
    let size = |case: &str| {
        let nodes = parse_nodes(case.rsplit('-').next()?)?;
        (Case::Dag { cost, nodes }.to_string() == case).then(|| (nodes, case.to_owned()))
    };
    measured.into_iter().filter_map(size).max().map(|(_, case)| case)
}

fn steal(percent: usize, fill: Fill, busy: bool) -> String {
    Case::Steal { percent, fill, busy }.to_string()
}

/// Returns the times of steals from `bulk`, by case: all shares of one kind of queue that the suite
/// measures.
fn steals(figures: Figures<'_>, fill: Fill, busy: bool) -> Vec<(String, Option<Rounds>)> {
    let shares = SHARES.into_iter().filter(|&percent| !figures.is_quick || is_quick_steal(percent, fill, busy));
    let cases = shares.map(|percent| steal(percent, fill, busy));
    cases.map(|case| (case.clone(), figures.figure(&case, NANOS_A_STEAL, (BULK, 2)))).collect()
}

/// Returns the ratio of the slowest share and the fastest.
fn spread(steals: Vec<(String, Option<Rounds>)>) -> Option<(String, Option<Rounds>)> {
    let mut steals: Vec<(String, Rounds)> = steals.into_iter().filter_map(|(case, time)| Some((case, time?))).collect();
    steals.sort_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()));
    let [(fast, fastest), .., (slow, slowest)] = &steals[..] else { return None };
    Some((format!("{slow} / {fast}:"), slowest.over(fastest)))
}

/// Returns the verdicts on several thieves on one queue.
fn verdicts_on_thieves(figures: Figures<'_>) -> [Verdict; 3] {
    let filch = |text: &str| Claim::new(Source::filch("batches"), text);
    let largest = |bound, of: &dyn Fn(&str, usize) -> Option<Rounds>| {
        let all = emptyings().map(|emptying| {
            let case = Case::Thieves(emptying).to_string();
            let figure = of(&case, emptying.threads());
            (format!("{case}:"), figure)
        });
        [Criterion::largest(all, bound)]
    };
    let refused = |case: &str, count| Some(figures.figure(case, REFUSED, (BULK, count))?.in_the_worst_round());
    let attempts = |case: &str, count| figures.figure(case, ATTEMPTS_A_STEAL, (BULK, count));
    let beside_a_lock =
        [(false, "mean with an idle owner:"), (true, "mean with a busy owner:")].map(|(busy, label)| {
            let cases = emptyings().filter(|emptying| emptying.busy == busy);
            let ratios = cases.map(|emptying| {
                let (case, count) = (Case::Thieves(emptying).to_string(), emptying.threads());
                figures.ratio(&case, NANOS_A_TASK, (BULK, count), (BULK_TRY_LOCK, count))
            });
            Criterion::mean(label, &ratios.collect::<Vec<_>>(), Bound::AtMost(1.0))
        });
    [
        filch("Of several thieves on one queue, none is refused: while tasks are left, an attempt fails only if another thief has succeeded.")
            .judged("most refused attempts in a round", largest(Bound::AtMost(0.0), &refused)),
        filch("Several thieves on one queue make at most 1.2 attempts for each steal, while each steals an eighth and goes through it.")
            .judged("most attempts", largest(Bound::AtMost(1.2), &attempts)),
        filch("Several thieves empty a queue at least as fast as with a lock that admits one at a time.")
            .judged("bulk / bulk-try-lock", beside_a_lock),
    ]
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let paper = |text: &str| Claim::new(Source::BULK, text);
    let filch = |text: &str| Claim::new(Source::filch("batches"), text);
    let one = |figure, bound| [Criterion::new("", figure, bound)];
    let ([small, .., large], [few, .., many]) = (BATCHES, SHARES);
    let push = |size: usize| Case::Push(size).to_string();
    let time_of_push = |name: &str| figures.figure(&push(large), NANOS_A_PUSH, (name, 1));
    let share = |percent: usize| steal(percent, Fill::Batch, false);
    let stealing = |percent: usize| figures.ratio(&share(percent), NANOS_A_STEAL, (CROSSBEAM, 2), (PUBLISHED, 2));
    let dag = dag_case(figures, NodeCost::Uniform);
    let explorations = [CROSSBEAM, MUTEX].map(|other| {
        let ratio = |case: &String| figures.ratio(case, NANOS_A_NODE, (BULK, THREADS), (other, THREADS));
        let label = format!("{BULK} / {other}, {}:", threads(THREADS));
        Criterion::new(label, dag.as_ref().and_then(ratio), Bound::Between(0.9, 1.1))
    });
    let pops = Fill::ALL.map(|fill| {
        let ratio = figures.ratio(&Case::Pop(fill).to_string(), NANOS_A_POP, (BULK, 1), (CHASE_LEV, 1));
        Criterion::new(format!("tasks pushed {}:", fill.description()), ratio, Bound::AtMost(1.5))
    });
    let of_shares = |what: &str| match figures.is_quick {
        true => format!("{what} of 10, 30 and 60 % (a quick run has no batches of 4 with a busy owner)"),
        false => what.to_owned(),
    };
    let flat = [false, true].map(|busy| {
        let of_fills = Fill::ALL.map(|fill| steals(figures, fill, busy));
        let is_missing = of_fills.iter().flatten().any(|(_, time)| time.is_none());
        Criterion::largest(of_fills.into_iter().filter_map(spread), Bound::AtMost(1.3)).incomplete_if(is_missing)
    });
    let slowest = [false, true].map(|busy| {
        let all = Fill::ALL.into_iter().flat_map(|fill| steals(figures, fill, busy));
        Criterion::largest(all.map(|(case, steal)| (format!("{case}:"), steal)), Bound::AtMost(2_000.0)).with_unit("ns")
    });
    let mut verdicts = vec![
        paper("A push of a batch takes constant time: 1,024 tasks take as long as one. (Tolerance: 1.5 times as long.)")
            .judged(
                "bulk-published, push/1024 / push/1",
                one(
                    figures.ratio_of_cases(&push(large), &push(small), NANOS_A_PUSH, (PUBLISHED, 1)),
                    Bound::AtMost(1.5),
                ),
            ),
        paper("A push of 1,024 tasks takes less than 500 ns.").judged(
            PUBLISHED,
            one(time_of_push(PUBLISHED), Bound::AtMost(500.0)).map(|push| push.with_unit("ns")),
        ),
        paper("Queues without batches take about ten times as long to push 1,024 tasks.").judged(
            "crossbeam-lifo / bulk-published",
            one(
                figures.ratio(&push(large), NANOS_A_PUSH, (CROSSBEAM, 1), (PUBLISHED, 1)),
                Bound::faster_by_about(9.0),
            ),
        ),
        paper("A pop costs no more than on other queues. (Tolerance: 10 %.)").judged(
            "bulk-published / crossbeam-lifo",
            one(
                figures.ratio(&Case::Pop(Fill::Batch).to_string(), NANOS_A_POP, (PUBLISHED, 1), (CROSSBEAM, 1)),
                Bound::AtMost(1.1),
            ),
        ),
        paper("The time of a steal does not depend on the share: 10 % takes as long as 60 %, because a thief walks the whole list. (Tolerance: 1.3 times as long.)")
            .judged(
                "bulk-published, steal/10% / steal/60%",
                one(
                    figures.ratio_of_cases(&share(few), &share(many), NANOS_A_STEAL, (PUBLISHED, 2)),
                    Bound::Between(1.0 / 1.3, 1.3),
                ),
            ),
        paper("Other queues take 2.8 times as long to steal 60 % of 10,000 tasks.")
            .judged("crossbeam-lifo / bulk-published", one(stealing(many), Bound::faster_by_about(1.8))),
        paper("Other queues take less than half as long to steal 10 %.")
            .judged("crossbeam-lifo / bulk-published", one(stealing(few), Bound::AtMost(0.5))),
        paper("With an idle owner, the early return makes the published steal of 60 % about three times as fast.").judged(
            "bulk-published / bulk-published-early",
            one(
                figures.ratio(&share(many), NANOS_A_STEAL, (PUBLISHED, 2), (PUBLISHED_EARLY, 2)),
                Bound::faster_by_about(2.0),
            ),
        ),
        paper("If all nodes cost the same, all queues explore a graph in the same time. (Tolerance: 10 %. Judged by `bulk`: the published queue may run a node twice.)")
            .judged("", explorations),
        filch("A push of 1,024 tasks takes at most 50 ns.")
            .judged("", one(time_of_push(BULK), Bound::AtMost(50.0)).map(|push| push.with_unit("ns"))),
        filch("A pop from bulk takes at most 1.5 times as long as a pop from chase_lev.")
            .judged("bulk / chase_lev", pops),
        filch("A steal of up to 60 % of 10,000 tasks, however they were pushed, takes at most 2 us with an idle owner and with a busy one.")
            .judged(&of_shares("slowest steal from bulk"), slowest),
        filch("However the tasks were pushed, the slowest share takes at most 1.3 times as long as the fastest, with an idle owner and with a busy one.")
            .judged(&of_shares("largest ratio"), flat),
    ];
    verdicts.extend(verdicts_on_thieves(figures));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::bulk::SUITE;
    use crate::bench::synthetic;
    use crate::claims::Holds;
    use crate::figures::Series;

    #[test]
    fn the_largest_graph_counts_whatever_its_size() {
        let of = |case: &str| Series {
            case: case.to_owned(),
            name: BULK,
            threads: 2,
            unit: NANOS_A_NODE,
            samples: vec![1.0; 6],
            note: None,
        };
        let all = ["dag/uniform-2.5m", "dag/uniform-300m", "dag/skewed-50m"].map(of);
        let figures = Figures { series: &all, is_quick: false, is_incomplete: false };
        assert_eq!(dag_case(figures, NodeCost::Uniform).as_deref(), Some("dag/uniform-300m"));
        assert_eq!(dag_case(figures, NodeCost::Skewed).as_deref(), Some("dag/skewed-50m"));
    }

    #[test]
    fn shares_are_compared_within_one_fill_and_the_worst_is_shown() {
        let steal = |case: &str, nanos: f64| Series {
            case: case.to_owned(),
            name: BULK,
            threads: 2,
            unit: NANOS_A_STEAL,
            samples: vec![nanos; 6],
            note: None,
        };
        let all = [
            steal("steal/10%", 500.0),
            steal("steal/60%", 550.0),
            steal("steal/10%/singles", 1_000.0),
            steal("steal/30%/singles", 1_500.0),
            steal("steal/60%/singles/busy", 2_500.0),
        ];
        let verdicts = verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        let measured =
            |start: &str| &*verdicts.iter().find(|verdict| verdict.claim.starts_with(start)).unwrap().measured;
        assert_eq!(
            measured("A steal of up to"),
            "slowest steal from bulk, steal/30%/singles: 1500 (1500 to 1500, 6 rounds) ns over 4 of 18; \
             steal/60%/singles/busy: 2500 (2500 to 2500, 6 rounds) ns over 1 of 18"
        );
        assert_eq!(
            measured("However"),
            "largest ratio, steal/30%/singles / steal/10%/singles: 1.50 (1.50 to 1.50, 6 rounds) over the 2 measured; \
             not measured"
        );
    }

    #[test]
    fn a_quick_run_is_complete_without_the_shares_that_it_leaves_out_and_says_so() {
        let mut all = synthetic::figures().remove(SUITE).unwrap();
        all.iter_mut().filter(|series| series.unit == NANOS_A_STEAL).for_each(|series| series.samples = vec![500.0; 6]);
        all.retain(|series| !series.case.starts_with("steal/20%") && !series.case.ends_with("batches-of-4/busy"));
        let of = |all: &[Series], is_quick, start: &str| {
            let verdicts = verdicts(Figures { series: all, is_quick, is_incomplete: false });
            verdicts.into_iter().find(|verdict| verdict.claim.starts_with(start)).unwrap()
        };
        for start in ["A steal of up to", "However"] {
            let quick = of(&all, true, start);
            assert!(quick.holds == Holds::Yes && quick.measured.contains("of 10, 30 and 60 %"), "{}", quick.measured);
            assert_eq!(of(&all, false, start).holds, Holds::Unclear);
        }
        all.retain(|series| series.case != "steal/30%/singles");
        for start in ["A steal of up to", "However"] {
            assert_eq!(of(&all, true, start).holds, Holds::Unclear);
        }
    }

    #[test]
    fn claims_about_several_thieves_fail_on_the_worst_case_or_the_mean() {
        let of = |name, unit, figure: &dyn Fn(&str) -> Vec<f64>| -> Vec<Series> {
            let series = emptyings().map(|emptying| {
                let case = Case::Thieves(emptying).to_string();
                let samples = figure(&case);
                Series { case, name, threads: emptying.threads(), unit, samples, note: None }
            });
            series.collect()
        };
        let judged = |refused: f64, attempts: f64, nanos: f64, start: &str| {
            let at_worst = |case: &str, usual: f64, worst: f64| match case {
                // A single round tells that a thief can be refused.
                "thieves/4/busy" => [[usual; 5].as_slice(), &[worst]].concat(),
                "thieves/4/batches-of-100" => vec![worst; 6],
                _ => vec![usual; 6],
            };
            let all = [
                of(BULK, REFUSED, &|case| at_worst(case, 0.0, if case.ends_with("busy") { refused } else { 0.0 })),
                of(BULK, ATTEMPTS_A_STEAL, &|case| at_worst(case, 1.0, attempts)),
                of(BULK, NANOS_A_TASK, &|case| vec![if case.ends_with("busy") { nanos } else { 3.0 }; 6]),
                of(BULK_TRY_LOCK, NANOS_A_TASK, &|_| vec![4.0; 6]),
            ];
            let verdicts = verdicts(Figures { series: &all.concat(), is_quick: false, is_incomplete: false });
            verdicts.into_iter().find(|verdict| verdict.claim.starts_with(start)).unwrap()
        };
        let starts = ["Of several thieves", "Several thieves on one", "Several thieves empty"];
        for start in starts {
            assert_eq!(judged(0.0, 1.19, 3.9, start).holds, Holds::Yes, "{start}");
            let wrong = judged(1.0, 1.21, 4.1, start);
            assert_eq!(wrong.holds, Holds::No, "{}", wrong.measured);
        }
        let texts = starts.map(|start| judged(1.0, 1.25, 5.0, start).measured);
        assert_eq!(
            texts,
            [
                "most refused attempts in a round, thieves/4/busy: 1.00 (1.00 to 1.00, 6 rounds)",
                "most attempts, thieves/4/batches-of-100: 1.25 (1.25 to 1.25, 6 rounds)",
                "bulk / bulk-try-lock, mean with an idle owner: 0.75 (0.75 to 0.75, 6 rounds); \
                 mean with a busy owner: 1.25 (1.25 to 1.25, 6 rounds)",
            ]
        );
    }

    #[test]
    fn claims_of_the_paper_about_operations_are_judged_by_its_queue() {
        let of = |case: &str, name, threads, unit, nanos: f64| {
            let samples = vec![nanos; 6];
            Series { case: case.to_owned(), name, threads, unit, samples, note: None }
        };
        // The queue of this project would refute the paper's claim about small shares.
        let all = [
            of("steal/10%", BULK, 2, NANOS_A_STEAL, 500.0),
            of("steal/10%", PUBLISHED, 2, NANOS_A_STEAL, 39_000.0),
            of("steal/10%", CROSSBEAM, 2, NANOS_A_STEAL, 16_000.0),
        ];
        let verdicts = verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        let small = verdicts.iter().find(|verdict| verdict.claim.starts_with("Other queues take less")).unwrap();
        assert!(small.holds == Holds::Yes && small.measured.starts_with("crossbeam-lifo / bulk-published: 0.41"));
        let of_paper = verdicts.iter().filter(|verdict| verdict.source == Source::BULK);
        assert!(of_paper
            .filter(|verdict| verdict.measured != small.measured)
            .all(|verdict| { verdict.holds == Holds::NotMeasured }));
    }
}
