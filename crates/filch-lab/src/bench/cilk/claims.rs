//! The claims about the Cilk programs.

use super::{case_names, is_fine_grained, MILLIS_A_RUN, STEALS_A_RUN, THE};
use crate::bench::bound::TrustedBound;
use crate::bench::THREADS;
use crate::claims::{Bound, Claim, Criterion, Figures, Holds, Rounds, Source, Verdict};
use crate::figures::threads;

/// The schedulers that run on one engine, each with a queue of this project.
const ENGINES: [&str; 9] =
    ["the", "chase_lev", "asymmetric", "ff_cl", "ff_the", "thep", "ff_the-4", "thep-4", "thep-inf"];
/// The runtime: with the worker passed along, and with the signature of rayon.
pub(crate) const RUNTIME: [&str; 2] = ["filch-worker", "filch"];
pub(crate) const RAYON: &str = "rayon";

pub(crate) const THEP: &str = "thep";
/// THEP whose thieves always wait for the echo.
pub(crate) const THEP_INFINITE: &str = "thep-inf";
pub(crate) const FF_THE: &str = "ff_the";

/// The textbook's other schedulers.
pub(crate) const PARTITION: &str = "static";
pub(crate) const CENTRAL: &str = "central";
pub(crate) const SHARING: &str = "sharing";

/// The share of THE's steals in the same program that counts as almost none.
const ALMOST_NO_STEALS: f64 = 0.01;
/// The fewest of the eleven programs for the claim of six. It is three quarters, as for all "about"
/// claims.
const ABOUT_SIX: usize = 5;

/// The time of a program with several threads, as a multiple of that with one, if nothing is stolen.
const AS_ON_ONE_THREAD: Bound = Bound::Between(0.9, 1.1);

/// Whether a program is in table 1 of the paper.
pub(crate) fn is_of_the_paper(case: &str) -> bool {
    !["uts", "queens"].contains(&case.split('-').next().unwrap_or(case))
}

/// Returns the ratio of two schedulers' times in a program, with `count` threads each.
pub(crate) fn ratio(figures: Figures<'_>, case: &str, over: &str, under: &str, count: usize) -> Option<Rounds> {
    figures.ratio(case, MILLIS_A_RUN, (over, count), (under, count))
}

/// Returns this ratio for each of these programs, for a mean.
pub(crate) fn ratios<C: AsRef<str>>(
    figures: Figures<'_>,
    cases: &[C],
    over: &str,
    under: &str,
    count: usize,
) -> Vec<Option<Rounds>> {
    cases.iter().map(|case| ratio(figures, case.as_ref(), over, under, count)).collect()
}

/// Returns why the queues that rely on a bound have no figures, if the others have some.
pub(crate) fn why_thep_is_left_out(figures: Figures<'_>) -> Option<&str> {
    let of = |name: &str| figures.series.iter().find(|series| series.name == name);
    match of(THEP) {
        Some(_) => None,
        None => of(THE)?.note.as_deref(),
    }
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    // All programs of the suite, whether they were run or not.
    let all = case_names(figures.is_quick);
    let of_paper: Vec<&str> = all.iter().map(|case| &**case).filter(|case| is_of_the_paper(case)).collect();
    let fine: Vec<&str> = all.iter().map(|case| &**case).filter(|case| is_fine_grained(case)).collect();
    let all: Vec<&str> = all.iter().map(|case| &**case).collect();
    let fence_free = |text: &str| Claim::new(Source::FENCE_FREE, text);
    let blitz = |text: &str| Claim::new(Source::BLITZ, text);
    let thep = |text: &str| Claim::new(Source::filch(Source::FENCE_FREE.section), text);
    let filch = |text: String| Claim::new(Source::filch("cilk"), text);

    let left_out = why_thep_is_left_out(figures);
    // Claims about queues that rely on a bound.
    let judged = |claim: Claim, what: &str, criteria: [Criterion; 1]| match left_out {
        Some(why) => claim.not_measured_because(why),
        None => claim.judged(what, criteria),
    };
    // The program that gains most from a queue.
    let best = |queue: &str, count: usize, bound: Bound| {
        let of = |&case: &&str| (format!("{case}, {}:", threads(count)), ratio(figures, case, queue, THE, count));
        [Criterion::least(of_paper.iter().map(of), bound)]
    };
    let mean = |cases: &[&str], over: &str, under: &str, count: usize, bound: Bound| {
        [Criterion::mean(format!("{}:", threads(count)), &ratios(figures, cases, over, under, count), bound)]
    };
    let slower = |cases: &[&str], other: &str| mean(cases, other, THE, THREADS, Bound::AtLeast(1.0));
    let each = all.iter().flat_map(|case| {
        [1, THREADS].map(|count| {
            let label = format!("{case}, {}:", threads(count));
            Criterion::new(label, ratio(figures, case, THEP, THE, count), Bound::AtMost(1.02))
        })
    });
    let thep_infinite = match bound_note(figures, THEP) {
        Some(note) => format!("thep-inf / thep ({note})"),
        None => "thep-inf / thep".to_owned(),
    };
    let in_every_program = thep("THEP takes at most 1.02 times as long as THE in every program.");
    let mut verdicts = vec![
        judged(
            fence_free("On one thread, the fence of a pop takes up to about 25 % of the run time. (Judged by the program that gains most from FF-THE, which is THE without that fence.)"),
            "ff_the / the",
            best(FF_THE, 1, Bound::saves_about(0.25)),
        ),
        judged(
            fence_free("THEP is 7 to 11 % faster than THE over the eleven programs. (More also counts.)"),
            "thep / the",
            mean(&of_paper, THEP, THE, THREADS, Bound::saves_about(0.07)),
        ),
        judged(
            fence_free("The program that gains most from THEP is up to 23 % faster."),
            "thep / the",
            best(THEP, THREADS, Bound::saves_about(0.23)),
        ),
        judged(
            fence_free("The waiting time of thieves hardly matters: THEP with an infinite delta is as fast. (Tolerance: 5 %.)"),
            &thep_infinite,
            mean(&of_paper, THEP_INFINITE, THEP, THREADS, Bound::Between(0.95, 1.05)),
        ),
        without_steals(figures, &of_paper, left_out, fence_free("FF-THE with delta = S / 2 is too conservative: in 6 of 11 programs nothing is stolen, and they run as on one thread. (Tolerance: 10 % of FF-THE's own time on one thread.)")),
        blitz("A central queue is a bottleneck: it is slower than stealing on the fine-grained programs.")
            .judged("central / the", slower(&fine, CENTRAL)),
        blitz("Work sharing has an overhead for each push: it is slower than stealing.")
            .judged("sharing / the", slower(&all, SHARING)),
        blitz("A static partition has no overhead, but does not balance the work: it is slower than stealing.")
            .judged("static / the", slower(&all, PARTITION)),
        match left_out {
            Some(why) => in_every_program.not_measured_because(why),
            None => in_every_program.judged_each(each),
        },
        judged(
            thep("On one thread, THEP is at least 5 % faster than THE on the fine-grained programs (geometric mean)."),
            "thep / the",
            mean(&fine, THEP, THE, 1, Bound::AtMost(0.95)),
        ),
    ];
    for (name, runtime) in
        RUNTIME.into_iter().zip(["the runtime with the worker passed along", "the runtime with rayon's signature"])
    {
        let no_slower = |other: &str, count: usize| {
            let label = format!("{name} / {other}, {}:", threads(count));
            Criterion::mean(label, &ratios(figures, &all, name, other, count), Bound::AtMost(1.0))
        };
        // The engine with the worst result for the runtime.
        let engines = [1, THREADS].map(|count| {
            let engines = measured_engines(figures, count);
            let worst = Criterion::with_largest(engines.map(|other| no_slower(other, count)));
            worst.unwrap_or_else(|| Criterion::new(format!("{}:", threads(count)), None, Bound::AtMost(1.0)))
        });
        let fastest = filch(format!("Over all Cilk programs (geometric mean), {runtime} is at least as fast as the fastest engine with a queue. (Of those that this run measured.)"))
            .judged("", engines);
        verdicts.extend([
            naming_left_out(figures, fastest),
            filch(format!("Over all Cilk programs (geometric mean), {runtime} is at least as fast as rayon."))
                .judged("", [1, THREADS].map(|count| no_slower(RAYON, count))),
        ]);
    }
    verdicts
}

/// Returns the engines with figures for this number of threads.
///
/// With one thread there are no thieves, so delta makes no difference and has one value.
fn measured_engines(figures: Figures<'_>, count: usize) -> impl Iterator<Item = &'static str> + '_ {
    let is_measured =
        move |name: &&str| figures.series.iter().any(|series| (series.name, series.threads) == (*name, count));
    ENGINES.into_iter().filter(move |name| count > 1 || !name.contains('-')).filter(is_measured)
}

/// Adds the engines without any figures to a verdict about the fastest of them.
fn naming_left_out(figures: Figures<'_>, verdict: Verdict) -> Verdict {
    let is_missing = |name: &&str| figures.series.iter().all(|series| series.name != *name);
    let missing: Vec<&str> = ENGINES.into_iter().filter(is_missing).collect();
    if verdict.holds == Holds::NotMeasured || missing.is_empty() {
        return verdict;
    }
    let measured = format!("{}. Engines that were not measured: {}", verdict.measured, missing.join(", "));
    Verdict { measured, ..verdict }
}

/// Counts programs in which thieves steal from THE and almost nothing from FF-THE, and which take
/// as long as on one thread.
///
/// With the generous bound, delta is larger than in the paper. Then less is stolen than there.
fn without_steals(figures: Figures<'_>, cases: &[&str], left_out: Option<&str>, claim: Claim) -> Verdict {
    if let Some(why) = left_out {
        return claim.not_measured_because(why);
    }
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
    // Their time with several threads, as a multiple of that with one.
    let as_on_one = |case: &&str| {
        let ratio = figures.ratio(case, MILLIS_A_RUN, (FF_THE, THREADS), (FF_THE, 1));
        ratio.map_or(Holds::Unclear, |ratio| AS_ON_ONE_THREAD.judge(&ratio))
    };
    let times: Vec<Holds> = alone.iter().map(as_on_one).collect();
    let count = |wanted: Holds| times.iter().filter(|holds| **holds == wanted).count();
    let names = if alone.is_empty() { String::new() } else { format!(": {}", alone.join(", ")) };
    let note = bound_note(figures, FF_THE);
    let is_generous = note.is_some() && note == note_of_generous_bound().as_deref();
    let measured = format!(
        "{}in {} of {} programs, FF-THE has at most a hundredth of the steals of THE{names}; {} of these take as long as \
         on one thread{}",
        note.map(|note| format!("{note}: ")).unwrap_or_default(),
        alone.len(),
        stolen.len(),
        count(Holds::Yes),
        if is_generous { ". This delta is not S / 2 of this CPU, because its S was not measured" } else { "" },
    );
    let scant = stolen.len() < cases.len()
        || stolen.iter().any(|(_, the, ff_the)| the.has_few_rounds() || ff_the.has_few_rounds());
    let holds = match (count(Holds::Yes), alone.len() - count(Holds::No)) {
        _ if scant || is_generous => Holds::Unclear,
        (ABOUT_SIX.., _) => Holds::Yes,
        (_, ABOUT_SIX..) => Holds::Unclear,
        _ => Holds::No,
    };
    let required = format!("at least {ABOUT_SIX} programs, each with {AS_ON_ONE_THREAD} times its time on one thread");
    Verdict { required, ..claim.verdict(measured, holds) }
}

/// Returns the delta and the bound of a queue, as its rows state them.
fn bound_note<'a>(figures: Figures<'a>, queue: &str) -> Option<&'a str> {
    figures.series.iter().find(|series| series.name == queue)?.note.as_deref()
}

/// Returns the note of queues that rely on the bound above every published store buffer.
fn note_of_generous_bound() -> Option<String> {
    let published = TrustedBound::published();
    Some(published.note(published.delta().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{cilk::SUITE, synthetic};
    use crate::figures::Series;

    fn holds(series: &[Series], claim: &str) -> Holds {
        let verdicts = verdicts(Figures { series, is_quick: true, is_incomplete: false });
        verdicts.iter().find(|verdict| verdict.claim.starts_with(claim)).unwrap().holds
    }

    /// Figures in which thieves steal nothing from FF-THE in the first `count` programs, and two
    /// threads are no faster than one.
    fn without_steals_in(count: usize) -> Vec<Series> {
        let mut all = synthetic::figures().remove(SUITE).unwrap();
        let cases: Vec<String> = case_names(true).into_iter().take(count).collect();
        for series in &mut all {
            if series.unit == STEALS_A_RUN && series.name == FF_THE && cases.contains(&series.case) {
                series.samples = vec![0.0; 7];
            }
            if series.unit == MILLIS_A_RUN && series.name == FF_THE {
                series.samples = vec![1.0; 7];
            }
        }
        all
    }

    #[test]
    fn one_program_without_steals_is_not_six() {
        assert_eq!(holds(&without_steals_in(1), "FF-THE"), Holds::No);
        let mut all = without_steals_in(6);
        assert_eq!(holds(&all, "FF-THE"), Holds::Yes);
        all.retain(|series| !series.case.starts_with("fft"));
        assert_eq!(holds(&all, "FF-THE"), Holds::Unclear);
    }

    #[test]
    fn programs_without_steals_must_run_as_on_one_thread() {
        let mut all = without_steals_in(6);
        for series in all.iter_mut().filter(|series| series.unit == MILLIS_A_RUN && series.threads == 2) {
            series.samples = vec![0.5; 7];
        }
        assert_eq!(holds(&all, "FF-THE"), Holds::No);
    }

    #[test]
    fn the_generous_bound_is_no_measured_one() {
        let noted = |bound: TrustedBound| {
            let mut all = without_steals_in(6);
            let note = bound.note(bound.delta().unwrap());
            all.iter_mut().filter(|series| series.name == FF_THE).for_each(|series| series.note = Some(note.clone()));
            let verdicts = verdicts(Figures { series: &all, is_quick: true, is_incomplete: false });
            verdicts.into_iter().find(|verdict| verdict.claim.starts_with("FF-THE")).unwrap()
        };
        let generous = noted(TrustedBound::published());
        assert_eq!(generous.holds, Holds::Unclear);
        assert!(generous.measured.starts_with("delta 64 by 1 extra store a pop; S = 128"), "{}", generous.measured);
        assert!(generous.measured.ends_with("because its S was not measured"), "{}", generous.measured);
        let given = noted(TrustedBound::given(73).unwrap());
        assert!(given.holds == Holds::Yes && given.measured.starts_with("delta 37 by"), "{}", given.measured);
    }

    #[test]
    fn an_incomplete_mean_of_the_programs_is_unclear() {
        let mut all = synthetic::figures().remove(SUITE).unwrap();
        for series in &mut all {
            series.samples = vec![if series.name == THEP { 0.8 } else { 1.0 }; 7];
        }
        assert_eq!(holds(&all, "THEP is 7 to 11 %"), Holds::Yes);
        all.retain(|series| series.case.starts_with("fib"));
        assert_eq!(holds(&all, "THEP is 7 to 11 %"), Holds::Unclear);
    }

    #[test]
    fn without_a_bound_the_claims_about_thep_say_why_and_the_fastest_engine_is_one_that_ran() {
        let mut all = synthetic::figures().remove(SUITE).unwrap();
        all.retain(|series| !["ff_cl", "ff_the", "thep", "ff_the-4", "thep-4"].contains(&series.name));
        for series in &mut all {
            series.samples = vec![if RUNTIME.contains(&series.name) { 1.0 } else { 2.0 }; 7];
            series.note = (series.name == THE).then(|| "thep is left out: no bound is known".to_owned());
        }
        let verdicts = verdicts(Figures { series: &all, is_quick: true, is_incomplete: false });
        let (open, judged): (Vec<_>, Vec<_>) = verdicts.iter().partition(|one| one.holds == Holds::NotMeasured);
        assert_eq!((open.len(), judged.len()), (7, 7));
        assert!(open.iter().all(|one| one.measured.ends_with(": thep is left out: no bound is known")));
        let fastest: Vec<_> = judged.iter().filter(|one| one.claim.contains("fastest engine")).collect();
        assert!(fastest.len() == 2 && fastest.iter().all(|one| one.holds == Holds::Yes));
        let measured = &fastest[0].measured;
        assert!(
            measured.ends_with(". Engines that were not measured: ff_cl, ff_the, thep, ff_the-4, thep-4"),
            "{measured}"
        );
    }

    #[test]
    fn the_runtime_is_compared_with_the_engine_that_is_fastest() {
        let mut all = synthetic::figures().remove(SUITE).unwrap();
        for series in &mut all {
            series.samples = vec![if series.name == "asymmetric" { 1.0 } else { 2.0 }; 7];
        }
        let claim =
            "Over all Cilk programs (geometric mean), the runtime with the worker passed along is at least as fast as";
        assert_eq!(holds(&all, &format!("{claim} the fastest")), Holds::No);
        assert_eq!(holds(&all, &format!("{claim} rayon")), Holds::Yes);
    }
}
