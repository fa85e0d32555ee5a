//! The claims about ranks and checkpoints.

use super::{CHECKPOINTS, EVERY_SECONDS, FILCH, MILLISECONDS, ONE_RANK, SERIAL_PAIR, TWO_RANKS};
use crate::claims::{Bound, Claim, Contender, Criterion, Figures, Source, Verdict};

/// The interval of the checkpoints that the claim is about, in seconds.
const CHECKPOINT_SECONDS: f64 = 30.0;

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::filch("solver"), text);
    let ratio = |case: &str, over: Contender<'_>, under: Contender<'_>| figures.ratio(case, MILLISECONDS, over, under);
    let cases = figures.cases(MILLISECONDS);
    let each = |over: Contender<'static>, under: Contender<'static>, bound: Bound| {
        let missing = figures.is_incomplete.then(|| Criterion::new("cases that did not run:", None, bound));
        let of_case = move |case: &&str| Criterion::new(format!("{case}:"), ratio(case, over, under), bound);
        cases.iter().map(of_case).chain(missing)
    };
    // From the cost of many checkpoints a second.
    let checkpoints = cases.iter().map(|case| {
        let ratio = ratio(case, (CHECKPOINTS, 2), (FILCH, 2));
        let share =
            ratio.and_then(|ratio| ratio.map(|ratio| 100.0 * (ratio - 1.0) * EVERY_SECONDS / CHECKPOINT_SECONDS));
        Criterion::new(format!("{case}:"), share, Bound::AtMost(3.0)).with_unit("%")
    });
    vec![
        claim("Two ranks of one thread reach at least 0.9 of the throughput of two serial runs at the same time.")
            .judged("two serial runs / 2 ranks", each((SERIAL_PAIR, 2), (TWO_RANKS, 2), Bound::AtLeast(0.9))),
        claim("Two ranks of one thread take at most 1.1 times as long as one rank of two threads.")
            .judged("2 ranks / 1 rank", each((TWO_RANKS, 2), (ONE_RANK, 2), Bound::AtMost(1.1))),
        claim("Two ranks of one thread take at most 1.1 times as long as two threads without MPI.")
            .judged("2 ranks / filch", each((TWO_RANKS, 2), (FILCH, 2), Bound::AtMost(1.1))),
        claim("A checkpoint every 30 seconds costs at most 3 % of the time. (If ten a second were written, as asked for. Their number is not measured.)")
            .judged("from the cost of ten checkpoints a second", checkpoints),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Holds;
    use crate::figures::Series;

    #[test]
    fn ratios_are_judged_and_the_cost_of_checkpoints_is_divided() {
        let series = |name, threads, millis: f64| {
            let samples = vec![millis; 6];
            Series { case: "a".to_owned(), name, threads, unit: MILLISECONDS, samples, note: None }
        };
        let all = [
            series(FILCH, 2, 100.0),
            series(CHECKPOINTS, 2, 700.0),
            series(SERIAL_PAIR, 2, 100.0),
            series(ONE_RANK, 2, 95.0),
            series(TWO_RANKS, 2, 105.0),
        ];
        let verdicts = verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        let holds: Vec<Holds> = verdicts.iter().map(|verdict| verdict.holds).collect();
        assert_eq!(holds, [Holds::Yes, Holds::No, Holds::Yes, Holds::Yes]);
        // A checkpoint takes six tenths of a second. They are 2 % of half a minute.
        assert!(verdicts[3].measured.contains("a: 2.00 ("), "{}", verdicts[3].measured);
    }
}
