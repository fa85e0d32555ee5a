//! The claims about the solver.

use super::{DDO, FILCH, FILCH_CHASE_LEV, FILCH_MUTEX, MILLISECONDS, SERIAL_PAIR};
use crate::bench::THREADS;
use crate::claims::{Bound, Claim, Contender, Criterion, Figures, Source, Verdict};
use crate::figures::threads;

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let of = |problem: &str, text: &str, other: &'static str, counts: &[usize], least: f64| {
        let mut cases = figures.cases(MILLISECONDS);
        cases.retain(|case| problem.is_empty() || case.split('/').next() == Some(problem));
        compare(figures, &cases, text, other, counts, Bound::AtLeast(least))
    };
    [
        of("misp", "Independent sets on two threads: ddo takes at least twice as long", DDO, &[THREADS], 2.0),
        of("knapsack", "Knapsacks: ddo takes at least as long", DDO, &[1, THREADS], 1.0),
        of(
            "",
            "Two threads reach at least 0.9 of the throughput of two serial runs at the same time",
            SERIAL_PAIR,
            &[THREADS],
            0.9,
        ),
        vec![queues(figures)],
    ]
    .concat()
}

/// Judges what the paper on bulk operations expects of a solver, by the geometric mean of the cases
/// that were measured on other queues.
fn queues(figures: Figures<'_>) -> Verdict {
    let mean = |other: &'static str| {
        let ratio = |case| figures.ratio(case, MILLISECONDS, (other, THREADS), (FILCH, THREADS));
        let ratios: Vec<_> = figures.cases(MILLISECONDS).into_iter().map(ratio).filter(Option::is_some).collect();
        let label = format!("{other} / {FILCH}, {}:", threads(THREADS));
        Criterion::mean(label, &ratios, Bound::AtLeast(1.0)).incomplete_if(figures.is_incomplete)
    };
    Claim::new(
        Source::BULK,
        "A solver gains from the bulk queue: it takes longer on chase_lev and on deques behind locks (geometric mean). (The paper expects a gain and has no figures. It compares no locks.)",
    )
    .judged("", [FILCH_CHASE_LEV, FILCH_MUTEX].map(mean))
}

/// Judges a claim by the geometric mean of the ratio of another's time and filch's, and by the
/// ratio in every instance.
fn compare(
    figures: Figures<'_>,
    cases: &[&str],
    text: &str,
    other: &'static str,
    counts: &[usize],
    bound: Bound,
) -> Vec<Verdict> {
    let claim = |how: &str| Claim::new(Source::filch("solver"), format!("{text} ({how})."));
    let ratio = |case: &str, count: usize| {
        let contender = |name| -> Contender<'_> { (name, count) };
        figures.ratio(case, MILLISECONDS, contender(other), contender(FILCH))
    };
    let means = counts.iter().map(|&count| {
        let ratios: Vec<_> = cases.iter().map(|case| ratio(case, count)).collect();
        Criterion::mean(format!("{}:", threads(count)), &ratios, bound).incomplete_if(figures.is_incomplete)
    });
    let each = cases.iter().flat_map(|case| {
        let of =
            move |&count: &usize| Criterion::new(format!("{case}, {}:", threads(count)), ratio(case, count), bound);
        counts.iter().map(of)
    });
    let missing = figures.is_incomplete.then(|| Criterion::new("instances that did not run", None, bound));
    vec![
        claim("geometric mean").judged(&format!("{other} / {FILCH}"), means),
        claim("every instance").judged_each(each.chain(missing)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Holds;
    use crate::figures::Series;

    #[test]
    fn queues_are_compared_in_the_cases_that_have_them() {
        let series = |case: &str, name, millis: f64| Series {
            case: case.to_owned(),
            name,
            threads: 2,
            unit: MILLISECONDS,
            samples: vec![millis; 6],
            note: None,
        };
        let judged = |mutex| {
            let all = [
                series("misp/a", FILCH, 1.0),
                series("misp/a", FILCH_CHASE_LEV, 1.2),
                series("misp/a", FILCH_MUTEX, mutex),
                series("misp/b", FILCH, 9.0),
            ];
            queues(Figures { series: &all, is_quick: false, is_incomplete: false }).holds
        };
        assert_eq!([judged(1.1), judged(0.9)], [Holds::Yes, Holds::No]);
    }

    #[test]
    fn a_mean_may_hold_while_an_instance_does_not() {
        let series = |case: &str, name, millis: f64| Series {
            case: case.to_owned(),
            name,
            threads: 2,
            unit: MILLISECONDS,
            samples: vec![millis; 6],
            note: None,
        };
        let all = [
            series("misp/a", FILCH, 1.0),
            series("misp/a", DDO, 8.0),
            series("misp/b", FILCH, 1.0),
            series("misp/b", DDO, 1.9),
            series("golomb/c", FILCH, 1.0),
            series("golomb/c", DDO, 0.1),
        ];
        let verdicts = verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        let of_misp: Vec<Holds> = verdicts.iter().take(2).map(|verdict| verdict.holds).collect();
        assert_eq!(of_misp, [Holds::Yes, Holds::No]);
        assert!(verdicts[1].measured.ends_with("not as claimed: misp/b, 2 threads: 1.90 (1.90 to 1.90, 6 rounds)"));
    }
}
