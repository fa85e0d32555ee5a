//! Figures 1 and 10: the Cilk programs without the fence, on one and several threads.

use super::{ID, SOURCE};
use crate::bench::cilk::{self, fence_removal, is_fine_grained, MILLIS_A_RUN, STEALS_A_RUN};
use crate::bench::THREADS;
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Holds, Item, Verdict};
use crate::report::sections::cilk::{all_programs, is_of_the_paper, programs, ratio, ratios, THE, THEP};
use crate::report::sections::claim::{Bound, Claim, Criterion};
use crate::report::sections::items::{bars, bench, figure, Texts};
use crate::report::sections::ratio::Figures;
use crate::report::sections::rounds::{geometric_mean, Rounds};

const FF_THE: &str = "ff_the";
/// THEP whose thieves always wait for the echo.
const THEP_INFINITE: &str = "thep-inf";
/// The variants of figure 10, in its order.
const VARIANTS: [&str; 5] = [THEP, "thep-4", THEP_INFINITE, FF_THE, "ff_the-4"];

/// The last group of bars.
const MEAN: &str = "mean, paper's programs";

/// The share of THE's steals in the same program that counts as almost none.
const ALMOST_NO_STEALS: f64 = 0.01;
/// The fewest of the eleven programs for the claim of six. It is three quarters, as for all "about"
/// claims.
const ABOUT_SIX: usize = 5;

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, cilk::SUITE);
    let all = all_programs(results);
    let cases: Vec<&str> = all.iter().map(|case| &**case).filter(|case| is_of_the_paper(case)).collect();
    let paper = |text: &str| Claim::new(SOURCE, ID, text);
    let filch = |text: &str| Claim::of_filch(ID, text);

    let fence = best(figures, &cases, 1, Bound::saves_about(0.25));
    let mean = |cases: &[&str], over: &str, under: &str, count: usize, bound: Bound| {
        Criterion::mean(format!("{}:", threads(count)), &ratios(figures, cases, over, under, count), bound)
    };
    let suite = mean(&cases, THEP, THE, THREADS, Bound::saves_about(0.07));
    let most = best(figures, &cases, THREADS, Bound::saves_about(0.23));
    let delta = mean(&cases, THEP_INFINITE, THEP, THREADS, Bound::Between(0.95, 1.05));

    let fine: Vec<&str> = all.iter().map(|case| &**case).filter(|case| is_fine_grained(case)).collect();
    let fine = mean(&fine, THEP, THE, 1, Bound::AtMost(0.95));
    let each: Vec<(String, Option<Rounds>)> = all
        .iter()
        .flat_map(|case| {
            [1, THREADS].map(|count| (format!("{case}, {}:", threads(count)), ratio(figures, case, THEP, THE, count)))
        })
        .collect();
    vec![
        paper("On one thread, the fence of a pop takes up to about 25 % of the run time. (Judged by the program that gains most from THEP.)").judged("thep / the", vec![fence]),
        paper("THEP is 7 to 11 % faster than THE over the eleven programs. (More also counts.)").judged("thep / the", vec![suite]),
        paper("The program that gains most from THEP is up to 23 % faster.").judged("thep / the", vec![most]),
        paper("The waiting time of thieves hardly matters: THEP with an infinite delta is as fast. (Tolerance: 5 %.)").judged("thep-inf / thep", vec![delta]),
        without_steals(figures, &cases, paper("FF-THE with delta = S / 2 is too conservative: in 6 of 11 programs nothing is stolen, and they run as on one thread.")),
        filch("THEP takes at most 1.02 times as long as THE in every program.").judged_each(&each, Bound::AtMost(1.02)),
        filch("THEP is at least 5 % faster than THE on the fine-grained programs (geometric mean).").judged("thep / the", vec![fine]),
    ]
}

/// Returns the program that gains most from THEP.
fn best(figures: Figures<'_>, cases: &[&str], count: usize, bound: Bound) -> Criterion {
    let ratios = cases.iter().map(|&case| (format!("{case}:"), ratio(figures, case, THEP, THE, count)));
    Criterion::least(ratios, bound)
}

/// Counts programs in which thieves steal from THE and almost nothing from FF-THE.
fn without_steals(figures: Figures<'_>, cases: &[&str], claim: Claim) -> Verdict {
    let steals = |case: &str, name: &str| figures.figure(case, STEALS_A_RUN, (name, THREADS));
    let stolen: Vec<(&str, Rounds, Rounds)> =
        cases.iter().filter_map(|&case| Some((case, steals(case, THE)?, steals(case, FF_THE)?))).collect();
    if stolen.is_empty() {
        return claim.not_measured();
    }
    let is_alone =
        |the: &Rounds, ff_the: &Rounds| the.value() > 0.0 && ff_the.value() <= ALMOST_NO_STEALS * the.value();
    let alone: Vec<&str> =
        stolen.iter().filter(|(_, the, ff_the)| is_alone(the, ff_the)).map(|&(case, ..)| case).collect();
    let names = if alone.is_empty() { String::new() } else { format!(": {}", alone.join(", ")) };
    let measured = format!(
        "in {} of {} programs, FF-THE has at most a hundredth of the steals of THE{names}",
        alone.len(),
        stolen.len()
    );
    let scant = stolen.len() < cases.len()
        || stolen.iter().any(|(_, the, ff_the)| the.has_few_rounds() || ff_the.has_few_rounds());
    let holds = match alone.len() {
        _ if scant => Holds::Unclear,
        ABOUT_SIX.. => Holds::Yes,
        _ => Holds::No,
    };
    claim.verdict(measured, holds)
}

pub(super) fn fence_cost(results: &Results) -> Item {
    let figures = Figures::of(results, cilk::SUITE);
    let pairs: Vec<(String, &str, &str)> = {
        let mut pairs: Vec<(String, &str, &str)> = Vec::new();
        for bar in fence_removal(figures.all()) {
            // FF-THE has THEP's owner, except for the echo.
            let pair = (format!("{} / {}", bar.free, bar.fenced), bar.free, bar.fenced);
            if bar.free != FF_THE && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    };
    let names: Vec<&str> = pairs.iter().map(|(name, ..)| &**name).collect();
    let mut groups = programs(figures);
    groups.push(MEAN);
    let chart = bars("time, with the fence = 1", Some(1.0), &groups, &names, |group, name| {
        let &(_, free, fenced) = pairs.iter().find(|(known, ..)| known == name)?;
        of_group(figures, group, free, fenced, 1)
    });
    figure(
        Texts {
            id: "fence-cost",
            title: "Figure 1: one thread, without the fence".to_owned(),
            caption: "The paper, on a Haswell: between 0.75 and 1. Each queue without a fence is compared with the same queue with the \
                      fence. In programs with long leaves, the fence has little effect."
                .to_owned(),
            command: bench(cilk::SUITE, results.full, &[]),
        },
        chart,
    )
}

/// Returns the ratio of a program, or the mean of the paper's programs.
///
/// Returns `None` for a queue that lacks one of them.
fn of_group(figures: Figures<'_>, group: &str, over: &str, under: &str, count: usize) -> Option<Rounds> {
    match group {
        MEAN => {
            let cases: Vec<&str> = programs(figures).into_iter().filter(|case| is_of_the_paper(case)).collect();
            let ratios: Option<Vec<Rounds>> = ratios(figures, &cases, over, under, count).into_iter().collect();
            geometric_mean(&ratios?)
        }
        case => ratio(figures, case, over, under, count),
    }
}

pub(super) fn normalised(results: &Results) -> [Item; 2] {
    let figures = Figures::of(results, cilk::SUITE);
    let mut groups = programs(figures);
    groups.push(MEAN);
    // With one thread no thread waits for another, whatever delta is.
    let alone: &[&str] = &[THEP, FF_THE];
    [(1, "cilk-one", alone), (THREADS, "cilk-several", &VARIANTS)].map(|(count, id, names)| {
        let chart = bars("time, the = 1", Some(1.0), &groups, names, |group, name| {
            of_group(figures, group, name, THE, count)
        });
        let caption = if count == 1 {
            "With one thread nothing is stolen. The figure shows the cost of the owner, and delta makes no difference."
        } else {
            "The paper, with 4 and 10 threads: THEP takes 0.89 and 0.93 over the suite, 0.77 at best, 1.03 at worst. FF-THE with \
             delta = S / 2 does not steal in 6 of 11 programs, with delta = 4 in one. A number after a name is delta: each pop \
             makes extra stores for it, unlike in the paper. Thieves of `inf` always wait."
        };
        let trusted = figures.note(groups[0], MILLIS_A_RUN, (THEP, count)).map(|note| format!(" THEP: {note}."));
        figure(
            Texts {
                id,
                title: format!("Figure 10: Cilk programs compared with THE, {}", threads(count)),
                caption: caption.to_owned() + &trusted.unwrap_or_default(),
                command: bench(cilk::SUITE, results.full, &[]),
            },
            chart,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::report::sections::tests::everything;

    fn holds(results: &Results, claim: &str) -> Holds {
        verdicts(results).iter().find(|verdict| verdict.claim.starts_with(claim)).unwrap().holds
    }

    /// Results in which thieves steal nothing from FF-THE in the first `count` programs.
    fn without_steals_in(count: usize) -> Results {
        let mut results = everything();
        let cases: Vec<String> = all_programs(&results).into_iter().take(count).collect();
        for series in results.suites.get_mut(cilk::SUITE).into_iter().flatten() {
            if series.unit == STEALS_A_RUN && series.name == FF_THE && cases.contains(&series.case) {
                series.samples = vec![0.0; 7];
            }
        }
        results
    }

    #[test]
    fn one_program_without_steals_is_not_six() {
        assert_eq!(holds(&without_steals_in(1), "FF-THE"), Holds::No);
        assert_eq!(holds(&without_steals_in(6), "FF-THE"), Holds::Yes);
        let mut some = without_steals_in(6);
        some.suites.get_mut(cilk::SUITE).unwrap().retain(|series| !series.case.starts_with("fft"));
        assert_eq!(holds(&some, "FF-THE"), Holds::Unclear);
    }

    #[test]
    fn an_incomplete_mean_of_the_programs_is_unclear() {
        let mut results = everything();
        for series in results.suites.get_mut(cilk::SUITE).into_iter().flatten() {
            series.samples = vec![if series.name == THEP { 0.8 } else { 1.0 }; 7];
        }
        assert_eq!(holds(&results, "THEP is 7 to 11 %"), Holds::Yes);
        results.suites.get_mut(cilk::SUITE).unwrap().retain(|series| series.case.starts_with("fib"));
        assert_eq!(holds(&results, "THEP is 7 to 11 %"), Holds::Unclear);
    }

    #[test]
    fn the_bar_of_the_mean_covers_only_the_programs_of_the_paper() {
        let mut results = everything();
        for series in results.suites.get_mut(cilk::SUITE).into_iter().flatten() {
            let other = !is_of_the_paper(&series.case) && series.name == THEP;
            series.samples = vec![if other { 9.0 } else { 1.0 }; 7];
        }
        let [Item::Figure(figure), _] = normalised(&results) else { panic!("nothing is drawn") };
        let Chart::Bars(bars) = figure.chart else { panic!("no bars") };
        let mean = bars.series[0].bars.last().unwrap().unwrap();
        assert!((mean.value - 1.0).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn figure_10_states_the_bound_of_thep() {
        let mut results = everything();
        for series in results.suites.get_mut(cilk::SUITE).into_iter().flatten() {
            series.note = Some("delta 37 by 1 extra store a pop; S = 73, as measured before in this report".to_owned());
        }
        for item in normalised(&results) {
            let Item::Figure(figure) = item else { panic!("nothing is drawn") };
            assert!(figure.caption.contains("S = 73") && figure.caption.len() <= 500, "{}", figure.caption);
        }
    }
}
