//! Verdicts on made-up figures.

use super::*;
use crate::bench::{graphs::SUITE, synthetic};
use crate::figures::Series;

fn figures() -> Vec<Series> {
    synthetic::figures().remove(SUITE).unwrap()
}

fn verdict(series: &[Series], claim: &str) -> Verdict {
    let verdicts = verdicts(Figures { series, is_quick: true, is_incomplete: false });
    verdicts.into_iter().find(|verdict| verdict.claim.starts_with(claim)).unwrap()
}

/// Sets all figures of a case and unit to these samples.
fn set(all: &mut [Series], case: &str, unit: &str, name: Option<&str>, samples: &[f64]) {
    let wanted = all.iter_mut().filter(|series| series.case.contains(case) && series.unit == unit);
    for series in wanted.filter(|series| name.is_none_or(|name| series.name == name)) {
        series.samples = samples.to_vec();
    }
}

#[test]
fn without_a_bound_the_claims_about_ff_cl_stay_open_and_say_why() {
    let claims = ["Torus, two threads", "FF-CL takes 17 %", "FF-CL is as fast"];
    let mut all = figures();
    for claim in claims {
        assert_ne!(verdict(&all, claim).holds, Holds::NotMeasured, "{claim}");
    }
    all.retain(|series| series.name != FF_CL);
    for series in all.iter_mut().filter(|series| series.name == FF_CL_UNTRUSTED) {
        // It would make all three claims hold.
        series.samples = vec![0.1; 7];
        series.note = Some("ff_cl is left out: no bound is known".to_owned());
    }
    for claim in claims {
        let open = verdict(&all, claim);
        assert_eq!(open.holds, Holds::NotMeasured, "{claim}");
        assert!(open.measured.ends_with("ff_cl is left out: no bound is known"), "{}", open.measured);
    }
}

#[test]
fn a_claim_about_k_graphs_is_open_if_their_kinds_disagree() {
    let mut all = figures();
    let mut gain = |graph, times: f64| {
        set(&mut all, graph, NANOS_A_VERTEX, Some(CHASE_LEV), &[times; 7]);
        set(&mut all, graph, NANOS_A_VERTEX, Some(THE), &[times; 7]);
        set(&mut all, graph, NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
        verdict(&all, "K-graphs: ")
    };
    gain("closure/kgraph", 1.2);
    assert_eq!(gain("closure/ring", 1.2).holds, Holds::Yes);
    let open = gain("closure/ring", 1.0);
    assert_eq!(open.holds, Holds::Unclear);
    assert!(open.measured.contains("in the plane: ") && open.measured.contains("on a ring: "), "{}", open.measured);
    assert_eq!(gain("closure/kgraph", 1.0).holds, Holds::No);
}

#[test]
fn pointers_are_compared_by_the_gain_of_lifo() {
    let mut all = figures();
    let mut holds = |name, times: f64| {
        set(&mut all, "/pointers", NANOS_A_VERTEX, Some(name), &[times; 7]);
        verdict(&all, "With pointers").holds
    };
    for name in [CHASE_LEV, LIFO, CHASE_LEV_ROWS, LIFO_ROWS] {
        holds(name, 2.0);
    }
    assert_eq!(holds(CHASE_LEV, 2.1), Holds::Yes);
    assert_eq!(holds(CHASE_LEV_ROWS, 3.0), Holds::No);
}

#[test]
fn one_round_refutes_never() {
    let mut all = figures();
    let mut holds = |name, samples: &[f64]| {
        set(&mut all, "closure", REDUNDANT, name, samples);
        verdict(&all, "Few tasks").holds
    };
    assert_eq!(holds(None, &[1.0; 9]), Holds::Yes);
    assert_eq!(holds(None, &[3.0; 9]), Holds::No);
    assert_eq!(holds(None, &[1.0; 3]), Holds::Unclear);
    assert_eq!(holds(Some(FIFO), &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.1]), Holds::No);
}

#[test]
fn the_slowest_queue_is_slower_than_all_others() {
    let mut all = figures();
    set(&mut all, "torus", NANOS_A_VERTEX, None, &[1.0; 7]);
    set(&mut all, "torus", NANOS_A_VERTEX, Some(FIFO), &[2.0; 7]);
    assert_eq!(verdict(&all, "Torus: with up to").holds, Holds::Yes);
    set(&mut all, "torus", NANOS_A_VERTEX, Some(THE), &[3.0; 7]);
    assert_eq!(verdict(&all, "Torus: with up to").holds, Holds::No);
}

#[test]
fn a_gain_beyond_the_claimed_range_fails() {
    let mut all = figures();
    set(&mut all, "random", NANOS_A_VERTEX, None, &[1.05; 7]);
    set(&mut all, "random", NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
    assert_eq!(verdict(&all, "Random graphs").holds, Holds::Yes);
    set(&mut all, "random", NANOS_A_VERTEX, Some(LIFO), &[0.5; 7]);
    assert_eq!(verdict(&all, "Random graphs").holds, Holds::No);
}

#[test]
fn the_worst_of_all_traversals_is_judged() {
    let mut all = figures();
    set(&mut all, "closure", NANOS_A_VERTEX, Some(CROSSBEAM), &[3.0; 7]);
    set(&mut all, "closure", NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
    let claim = "Closures of K-graphs and of the torus: an exploration";
    assert_eq!(verdict(&all, claim).holds, Holds::Yes);
    set(&mut all, "closure/torus-250k/unsorted", NANOS_A_VERTEX, Some(CROSSBEAM), &[1.1; 7]);
    let refuted = verdict(&all, claim);
    assert_eq!(refuted.holds, Holds::No);
    assert!(refuted.measured.contains("closure/torus-250k/unsorted, 1 thread: 1.10"), "{}", refuted.measured);
}

#[test]
fn a_missing_traversal_makes_the_worst_of_all_unclear() {
    let mut all = figures();
    set(&mut all, "closure", NANOS_A_VERTEX, Some(CROSSBEAM), &[3.0; 7]);
    set(&mut all, "closure", NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
    all.retain(|series| !series.case.ends_with("/unsorted"));
    let claim = "Closures of K-graphs and of the torus: an exploration";
    let holds = |series: &[Series], is_quick, is_incomplete| {
        let verdicts = verdicts(Figures { series, is_quick, is_incomplete });
        verdicts.into_iter().find(|verdict| verdict.claim.starts_with(claim)).unwrap().holds
    };
    assert_eq!(holds(&all, true, false), Holds::Yes);
    assert_eq!([holds(&all, false, false), holds(&all, true, true)], [Holds::Unclear; 2]);
    all.retain(|series| series.case != "closure/ring-250k");
    assert_eq!(holds(&all, true, false), Holds::Unclear);
}

#[test]
fn one_round_is_enough_for_memory() {
    let mut all = figures();
    set(&mut all, memory::CASE, memory::BYTES_AN_EDGE, None, &[8.0]);
    set(&mut all, memory::CASE, memory::BYTES_A_VERTEX, None, &[5.0]);
    set(&mut all, memory::CASE, memory::LARGEST_WORKLIST, None, &[5_300_000.0]);
    assert_eq!(verdict(&all, "The closure of a graph").holds, Holds::Yes);
    assert!(verdict(&all, "The closure of a graph").measured.contains("7.12"));
    set(&mut all, memory::CASE, memory::LARGEST_WORKLIST, None, &[8_000_000.0]);
    assert_eq!(verdict(&all, "The closure of a graph").holds, Holds::No);
}

/// Adds figures with four threads, like those with two.
fn with_four_threads(all: &mut Vec<Series>) {
    let more: Vec<Series> = all.iter().filter(|series| series.threads == 2).cloned().collect();
    all.extend(more.into_iter().map(|series| Series { threads: 4, ..series }));
}

#[test]
fn any_number_of_threads_means_each_that_was_measured() {
    let mut all = figures();
    with_four_threads(&mut all);
    set(&mut all, "closure", NANOS_A_VERTEX, None, &[3.0; 7]);
    set(&mut all, "closure", NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
    set(&mut all, "closure", REDUNDANT, None, &[1.0; 7]);
    let claims = ["K-graphs: ", "Torus: LIFO", "Few tasks"];
    assert_eq!(claims.map(|claim| verdict(&all, claim).holds), [Holds::Yes; 3]);
    for series in all.iter_mut().filter(|series| series.threads == 4 && series.name == LIFO) {
        series.samples = vec![if series.unit == REDUNDANT { 7.0 } else { 4.0 }; 7];
    }
    assert_eq!(claims.map(|claim| verdict(&all, claim).holds), [Holds::No; 3]);
}

#[test]
fn on_random_graphs_each_queue_is_close() {
    let mut all = figures();
    set(&mut all, "random", NANOS_A_VERTEX, None, &[1.05; 7]);
    set(&mut all, "random", NANOS_A_VERTEX, Some(LIFO), &[1.0; 7]);
    assert_eq!(verdict(&all, "Random graphs").holds, Holds::Yes);
    set(&mut all, "random", NANOS_A_VERTEX, Some(FIFO), &[2.0; 7]);
    assert_eq!(verdict(&all, "Random graphs").holds, Holds::No);
}
