//! Figure 11: FF-CL and the idempotent queues compared with Chase-Lev, on transitive closures.

use super::command;
use crate::bench::graphs::{
    self, closure_ratio, graph_case, why_ff_cl_is_left_out, Family, Task, FAMILIES, FF_CL, NANOS_A_VERTEX, STOLEN,
};
use crate::bench::THREADS;
use crate::claims::Figures;
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::{as_named, bars, figure, Columns};
use crate::report::sections::over_threads::most;

/// The queues of the figure.
const QUEUES: [&str; 3] = [FF_CL, Queue::Lifo.name(), Queue::DoubleEnded.name()];

/// Figures 11a and 11b: run times, and the share of stolen work.
pub(super) fn closure(results: &Results) -> [Item; 2] {
    let figures = results.figures(graphs::SUITE);
    let most = most(results, graphs::SUITE);
    // The paper's programs do not scale past 2 threads on the torus, so it has results from 2.
    let count = |family| if family == Family::Torus { THREADS } else { most };
    let numbers = if most == THREADS { threads(most) } else { format!("{}, torus {THREADS}", threads(most)) };
    let families = FAMILIES.map(|(family, name)| (name.to_owned(), family));
    let chart = bars("time, chase_lev = 1", &families, &as_named(&QUEUES), |&family, name| {
        closure_ratio(figures, family, count(family), name, Queue::ChaseLev.name())
    });
    let counts: &[usize] = if most == THREADS { &[THREADS] } else { &[THREADS, most] };
    let note = note_of_ff_cl(figures, count);
    let command = command(results, graphs::SUITE, &[&Task::Closure.to_string()], counts, note);
    let caption =
        "The paper, on a Haswell: all three are close to each other. They take about 0.67 on the torus; FF-CL takes \
                   0.83 on average.";
    let texts = Texts::new(
        "closure",
        format!("Figure 11: transitive closure, {numbers}"),
        format!("{caption}{}", bound_of_ff_cl(figures, note)),
        &*command,
    );
    let stolen = Columns::of(FAMILIES)
        .name("graph", |&(_, name)| name)
        .number("threads", |&(family, _)| count(family))
        .values(&QUEUES, |&(family, _), name| {
            figures.figure(&graph_case(figures, Task::Closure, family)?, STOLEN, (name, count(family)))
        })
        .table(Texts::new(
            "closure-stolen",
            "Figure 11b: stolen tasks, in percent",
            "The paper: thieves of FF-CL do steal with delta = S / 2, and owners run nearly all of the tasks.",
            command,
        ));
    [figure(texts, chart), stolen]
}

/// Returns the note of FF-CL with the bound that it relied on.
fn note_of_ff_cl(figures: Figures<'_>, count: impl Fn(Family) -> usize) -> Option<&str> {
    let measured =
        FAMILIES.into_iter().find_map(|(family, _)| Some((family, graph_case(figures, Task::Closure, family)?)));
    let (family, case) = measured?;
    figures.note(&case, NANOS_A_VERTEX, (FF_CL, count(family)))
}

/// Returns a sentence with the bound that FF-CL relied on, or with the reason why it is missing.
fn bound_of_ff_cl(figures: Figures<'_>, note: Option<&str>) -> String {
    let sentence = note.map(|note| format!(" {FF_CL}: {note}."));
    let reason = || why_ff_cl_is_left_out(figures).map(|why| format!(" {why}."));
    sentence.or_else(reason).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::figures::Series;
    use crate::report::sections::tests::everything;

    #[test]
    fn figure_11_states_the_bound_of_ff_cl_or_why_it_is_missing() {
        let mut results = everything();
        let all = results.suites.get_mut(graphs::SUITE).unwrap();
        for series in all.iter_mut().filter(|series| series.name == FF_CL) {
            series.note = Some("delta 37 by 1 extra store a pop; S = 73, as measured".to_owned());
        }
        let caption = |results: &Results| {
            let [Item::Figure(texts, _), _] = closure(results) else { panic!("nothing is drawn") };
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

    #[test]
    fn the_torus_is_drawn_with_two_threads_and_the_others_with_the_most() {
        let mut results = everything();
        results.machine.cores = 4;
        let all = results.suites.get_mut(graphs::SUITE).unwrap();
        let more: Vec<_> = all.iter().filter(|one| one.threads == 2).cloned().collect();
        all.extend(more.into_iter().map(|one| Series { threads: 4, ..one }));
        let time = |one: &Series| match (one.name, one.threads) {
            (FF_CL, 2) => 0.5,
            (FF_CL, _) => 0.8,
            _ => 1.0,
        };
        all.iter_mut().for_each(|one| one.samples = vec![time(one); 7]);
        let [Item::Figure(texts, Chart::Bars(bars)), Item::Table(_, stolen)] = closure(&results) else {
            panic!("nothing is drawn")
        };
        let of_ff_cl: Vec<f64> = bars.series[0].bars.iter().map(|bar| bar.unwrap().value).collect();
        assert_eq!((&*bars.series[0].name, of_ff_cl), (FF_CL, vec![0.8, 0.8, 0.5, 0.8]));
        assert_eq!(texts.title, "Figure 11: transitive closure, 4 threads, torus 2");
        assert!(texts.command.ends_with(" --threads 2,4"), "{}", texts.command);
        assert_eq!(stolen.rows.len(), 4);
    }
}
