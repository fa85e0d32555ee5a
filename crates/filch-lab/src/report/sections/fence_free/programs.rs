//! Figures 1 and 10: the Cilk programs without the fence, on one and several threads.

use super::command;
use crate::bench::cilk::{
    self, fence_removal, is_of_the_paper, ratio, ratios, why_thep_is_left_out, FF_THE, MILLIS_A_RUN, THE, THEP,
    THEP_INFINITE,
};
use crate::claims::{geometric_mean, Figures, Rounds};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::{as_named, bars, figure_or};
use crate::report::sections::over_threads::most;

/// The variants of figure 10, in its order.
const VARIANTS: [&str; 5] = [THEP, "thep-4", THEP_INFINITE, FF_THE, "ff_the-4"];

/// The last group of bars.
const MEAN: &str = "mean, paper's programs";

/// All programs, and the mean.
fn groups(figures: Figures<'_>) -> Vec<(String, &str)> {
    let mut groups = figures.cases(MILLIS_A_RUN);
    groups.push(MEAN);
    as_named(&groups)
}

pub(super) fn fence_cost(results: &Results) -> Item {
    let figures = results.figures(cilk::SUITE);
    let mut pairs: Vec<(String, (&str, &str))> = Vec::new();
    for bar in fence_removal(figures.series) {
        // FF-THE has THEP's owner, except for the echo.
        let pair = (format!("{} / {}", bar.free, bar.fenced), (bar.free, bar.fenced));
        if bar.free != FF_THE && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let chart = bars("time, with the fence = 1", &groups(figures), &pairs, |group, &(free, fenced)| {
        of_group(figures, group, free, fenced, 1)
    });
    let why = why_thep_is_left_out(figures);
    let texts = Texts::new(
        "fence-cost",
        "Figure 1: one thread, without the fence",
        "The paper, on a Haswell: between 0.75 and 1. Each queue without a fence is compared with the same queue with the \
         fence. In programs with long leaves, the fence has little effect."
            .to_owned()
            + &sentence(why),
        command(results, cilk::SUITE, &[], &[1], note(figures, 1)),
    );
    figure_or(texts, chart, why)
}

/// Makes a sentence of the reason why queues are left out, if there is one.
fn sentence(why: Option<&str>) -> String {
    why.map(|why| format!(" {why}.")).unwrap_or_default()
}

/// Returns the note of THEP with the bound that the queues rely on.
fn note(figures: Figures<'_>, count: usize) -> Option<&str> {
    figures.note(figures.cases(MILLIS_A_RUN).first()?, MILLIS_A_RUN, (THEP, count))
}

/// Returns the ratio of a program, or the mean of the paper's programs.
///
/// Returns `None` for a queue that lacks one of them.
fn of_group(figures: Figures<'_>, group: &str, over: &str, under: &str, count: usize) -> Option<Rounds> {
    match group {
        MEAN => {
            let cases: Vec<&str> =
                figures.cases(MILLIS_A_RUN).into_iter().filter(|case| is_of_the_paper(case)).collect();
            let ratios: Option<Vec<Rounds>> = ratios(figures, &cases, over, under, count).into_iter().collect();
            geometric_mean(&ratios?)
        }
        case => ratio(figures, case, over, under, count),
    }
}

pub(super) fn normalised(results: &Results) -> [Item; 2] {
    let figures = results.figures(cilk::SUITE);
    let groups = groups(figures);
    let most = most(results, cilk::SUITE);
    let why = why_thep_is_left_out(figures);
    // With one thread no thread waits for another, whatever delta is.
    let alone: &[&str] = &[THEP, FF_THE];
    [(1, "cilk-one", alone), (most, "cilk-several", &VARIANTS)].map(|(count, id, names)| {
        let chart = bars("time, the = 1", &groups, &as_named(names), |group, name| {
            of_group(figures, group, name, THE, count)
        });
        let caption = if count == 1 {
            "With one thread nothing is stolen. The figure shows the cost of the owner, and delta makes no difference."
        } else if why.is_some() {
            "The paper, with 4 and 10 threads: THEP takes 0.89 and 0.93 over the suite, 0.77 at best, 1.03 at worst. Thieves \
             of `inf` always wait."
        } else {
            "The paper, with 4 and 10 threads: THEP takes 0.89 and 0.93 over the suite, 0.77 at best, 1.03 at worst. FF-THE with \
             delta = S / 2 does not steal in 6 of 11 programs, with delta = 4 in one. A number after a name is delta. \
             It counts stores of the program as in the paper if its leaves write; otherwise pops make extra stores. Thieves \
             of `inf` always wait."
        };
        let note = note(figures, count);
        let trusted = note.map(|note| format!(" THEP: {note}."));
        let texts = Texts::new(
            id,
            format!("Figure 10: Cilk programs compared with THE, {}", threads(count)),
            caption.to_owned() + &trusted.unwrap_or_else(|| sentence(why)),
            command(results, cilk::SUITE, &[], &[count], note),
        );
        figure_or(texts, chart, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::report::sections::tests::everything;

    #[test]
    fn the_bar_of_the_mean_covers_only_the_programs_of_the_paper() {
        let mut results = everything();
        for series in results.suites.get_mut(cilk::SUITE).into_iter().flatten() {
            let other = !is_of_the_paper(&series.case) && series.name == THEP;
            series.samples = vec![if other { 9.0 } else { 1.0 }; 7];
        }
        let [Item::Figure(_, Chart::Bars(bars)), _] = normalised(&results) else { panic!("no bars") };
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
            let Item::Figure(texts, _) = item else { panic!("nothing is drawn") };
            assert!(texts.command.ends_with(" --bound 73"), "{}", texts.command);
            assert!(texts.caption.contains("S = 73") && texts.caption.len() <= 500, "{}", texts.caption);
        }
    }

    #[test]
    fn without_a_bound_figures_1_and_10_say_why() {
        let mut results = everything();
        let all = results.suites.get_mut(cilk::SUITE).unwrap();
        all.retain(|series| !["ff_cl", "ff_the", "thep", "ff_the-4", "thep-4"].contains(&series.name));
        let why =
            "ff_cl, ff_the, thep, ff_the-4, thep-4 are left out: on CPUs of AMD stores also wait outside of the store \
                   buffer, so no bound is known";
        for series in all.iter_mut().filter(|series| series.name == THE) {
            series.note = Some(why.to_owned());
        }
        let [one, several] = normalised(&results);
        for item in [fence_cost(&results), one, several] {
            let (Item::Text(text) | Item::Figure(Texts { caption: text, .. }, _)) = item else { panic!("no text") };
            assert!(text.ends_with(&format!("{why}.")) && text.len() <= 500, "{text}");
        }
    }
}
