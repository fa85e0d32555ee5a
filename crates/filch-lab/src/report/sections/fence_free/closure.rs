//! Figure 11: FF-CL and the idempotent queues compared with Chase-Lev, on transitive closures.

use crate::bench::graphs;
use crate::bench::graphs::{closure_ratio, graph_case, why_ff_cl_is_left_out, Task, FAMILIES, FF_CL, NANOS_A_VERTEX};
use crate::claims::Figures;
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::{as_named, bars, bench, figure};
use crate::report::sections::over_threads::most;

pub(super) fn closure(results: &Results) -> Item {
    let count = most(results, graphs::SUITE);
    let families = FAMILIES.map(|(family, name)| (name.to_owned(), family));
    let names = as_named(&[FF_CL, Queue::Lifo.name(), Queue::DoubleEnded.name()]);
    let chart = bars("time, chase_lev = 1", &families, &names, |&family, name| {
        closure_ratio(results.figures(graphs::SUITE), family, count, name, Queue::ChaseLev.name())
    });
    let caption =
        "The paper, on a Haswell: all three are close to each other. They take about 0.67 on the torus; FF-CL takes \
                   0.83 on average.";
    let texts = Texts::new(
        "closure",
        format!("Figure 11: transitive closure, {}", threads(count)),
        format!("{caption}{}", bound_of_ff_cl(results.figures(graphs::SUITE), count)),
        bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
    );
    figure(texts, chart)
}

/// Returns a sentence with the bound that FF-CL relied on, or with the reason why it is missing.
fn bound_of_ff_cl(figures: Figures<'_>, count: usize) -> String {
    let case = FAMILIES.into_iter().find_map(|(family, _)| graph_case(figures, Task::Closure, family));
    let note = case.and_then(|case| figures.note(&case, NANOS_A_VERTEX, (FF_CL, count)));
    let sentence = note.map(|note| format!(" {FF_CL}: {note}."));
    let reason = || why_ff_cl_is_left_out(figures).map(|why| format!(" {why}."));
    sentence.or_else(reason).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::everything;

    #[test]
    fn figure_11_states_the_bound_of_ff_cl_or_why_it_is_missing() {
        let mut results = everything();
        let all = results.suites.get_mut(graphs::SUITE).unwrap();
        for series in all.iter_mut().filter(|series| series.name == FF_CL) {
            series.note = Some("delta 37 by 1 extra store a pop; S = 73, as measured".to_owned());
        }
        let caption = |results: &Results| {
            let Item::Figure(texts, _) = closure(results) else { panic!("nothing is drawn") };
            texts.caption
        };
        assert!(caption(&results).ends_with(" ff_cl: delta 37 by 1 extra store a pop; S = 73, as measured."));
        let all = results.suites.get_mut(graphs::SUITE).unwrap();
        all.retain(|series| series.name != FF_CL);
        for series in all.iter_mut().filter(|series| series.name == "ff_cl-untrusted") {
            series.note = Some("ff_cl is left out: no bound is known".to_owned());
        }
        assert!(caption(&results).ends_with(" ff_cl is left out: no bound is known."), "{}", caption(&results));
    }
}
