//! What a user asks first: the time of each operation, filch beside its peers.

use super::items::{bench, not_measured};
use crate::bench::fork_join::{fib, NANOS_A_JOIN, NANOS_A_TASK, NANOS_A_WAKE};
use crate::bench::graphs::{graph_case, Family, Task, NANOS_A_VERTEX};
use crate::bench::queues::{Case, NANOS_AN_OPERATION};
use crate::bench::solver::{DDO, FILCH, MILLISECONDS};
use crate::bench::{fork_join, graphs, queues, rayon, solver, THREADS};
use crate::claims::{geometric_mean, Rounds};
use crate::figures::number;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::Answer;

/// The name of filch's time if a time with a weaker guarantee stands beside it.
const EXACTLY_ONCE: &str = "filch, exactly once";

/// A contender beside filch: the name of its figures, its name in the chart, and in a sentence after
/// "as fast as". Without the last, no sentence compares it.
type Peer = (&'static str, &'static str, &'static str);

const AT_LEAST_ONCE: Peer = (Queue::Lifo.name(), "filch, at least once", "");

/// A question, and the figures that answer it.
struct Question {
    question: &'static str,
    /// The sentence up to the time: `A join takes`.
    start: &'static str,
    /// What the time is measured on, after it: `on one thread`.
    on: String,
    section: &'static str,
    suite: &'static str,
    /// The prefixes of the cases that measure it; empty for the whole suite.
    measured_by: Vec<String>,
    /// The answer is the geometric mean of these cases.
    cases: Vec<String>,
    unit: &'static str,
    threads: usize,
    /// The name of filch's figures, and its name in the chart.
    filch: (&'static str, &'static str),
    peers: &'static [Peer],
}

/// Returns the answers, in the order of the page.
pub(super) fn answers(results: &Results) -> Vec<Answer> {
    let questions = [join(results), call(), scope_task(results), worklist(results), operation(), solver(results)];
    questions.iter().map(|question| question.answer(results)).collect()
}

fn join(results: &Results) -> Question {
    Question {
        question: "A join",
        start: "A join takes",
        on: " on one thread".to_owned(),
        section: "fork-join",
        suite: fork_join::SUITE,
        measured_by: vec!["fib".to_owned()],
        cases: vec![fib(results.figures(fork_join::SUITE)).to_owned()],
        unit: NANOS_A_JOIN,
        threads: 1,
        filch: ("filch", "filch"),
        peers: &[("rayon", "rayon", "rayon's"), ("chili", "chili", "chili's")],
    }
}

fn call() -> Question {
    Question {
        question: "A call from outside",
        start: "A call into a sleeping pool starts after",
        on: String::new(),
        section: "fork-join",
        suite: fork_join::SUITE,
        measured_by: vec!["wake".to_owned()],
        cases: vec!["wake".to_owned()],
        unit: NANOS_A_WAKE,
        threads: THREADS,
        filch: ("filch", "filch"),
        peers: &[("rayon", "rayon", "rayon's")],
    }
}

/// The task of a scope in the suite `fork-join`, or in the suite `rayon` if only that was measured.
fn scope_task(results: &Results) -> Question {
    const CASE: &str = "scope-10k";
    const CASE_OF_PROGRAMS: &str = "scope-100k";
    let question = Question {
        question: "A task of a scope",
        start: "A task of a scope with 10,000 tasks takes",
        on: format!(" on {THREADS} threads"),
        section: "fork-join",
        suite: fork_join::SUITE,
        measured_by: vec![CASE.to_owned()],
        cases: vec![CASE.to_owned()],
        unit: NANOS_A_TASK,
        threads: THREADS,
        filch: ("filch", "filch"),
        peers: &[("rayon", "rayon", "rayon's")],
    };
    let timed = rayon::timed(results.figures(rayon::SUITE), &[rayon::FILCH]);
    let programs = timed.into_iter().find(|(case, _)| *case == CASE_OF_PROGRAMS);
    let is_measured = results.figures(fork_join::SUITE).cases(NANOS_A_TASK).contains(&CASE);
    match programs {
        Some((case, unit)) if !is_measured => Question {
            start: "A task of a scope with 100,000 tasks takes",
            section: "rayon",
            suite: rayon::SUITE,
            cases: vec![case.to_owned()],
            unit,
            filch: (rayon::FILCH, "filch"),
            peers: &[(rayon::RAYON, "rayon", "rayon's")],
            ..question
        },
        _ => question,
    }
}

fn worklist(results: &Results) -> Question {
    let figures = results.figures(graphs::SUITE);
    let families = [Family::Random, Family::Torus, Family::KGraph];
    let case = families.into_iter().find_map(|family| graph_case(figures, Task::Closure, family)).unwrap_or_default();
    Question {
        question: "A task of a worklist",
        start: "A vertex of a graph, explored from a worklist, takes",
        on: format!(" on {THREADS} threads"),
        section: "graphs",
        suite: graphs::SUITE,
        measured_by: vec![Task::Closure.to_string()],
        cases: vec![case],
        unit: NANOS_A_VERTEX,
        threads: THREADS,
        filch: (Queue::Split.name(), EXACTLY_ONCE),
        peers: &[
            AT_LEAST_ONCE,
            ("crossbeam-pool", "crossbeam-pool", "a pool written on crossbeam's deque"),
            ("rayon-frontier", "rayon-frontier", "rayon level by level"),
            ("rayon-spawn", "rayon-spawn", "rayon's spawns"),
        ],
    }
}

fn operation() -> Question {
    Question {
        question: "A push and a pop",
        start: "A push and a pop of the same queue take",
        on: " (`chase_lev`)".to_owned(),
        section: "idempotent",
        suite: queues::SUITE,
        measured_by: Vec::new(),
        cases: vec![Case::Burst.to_string()],
        unit: NANOS_AN_OPERATION,
        threads: 1,
        filch: (Queue::ChaseLev.name(), EXACTLY_ONCE),
        peers: &[AT_LEAST_ONCE, ("crossbeam-lifo", "crossbeam-lifo", "crossbeam's"), ("st3-lifo", "st3-lifo", "st3's")],
    }
}

fn solver(results: &Results) -> Question {
    let cases = results.figures(solver::SUITE).cases(MILLISECONDS);
    let instances = if cases.len() == 1 { "instance" } else { "instances" };
    Question {
        question: "The solver",
        start: "The proof of an optimum takes",
        on: format!(" on {THREADS} threads (geometric mean of {} {instances})", cases.len()),
        section: "solver",
        suite: solver::SUITE,
        measured_by: Vec::new(),
        cases: cases.into_iter().map(str::to_owned).collect(),
        unit: MILLISECONDS,
        threads: THREADS,
        filch: (FILCH, FILCH),
        peers: &[(DDO, DDO, "ddo's")],
    }
}

impl Question {
    fn answer(&self, results: &Results) -> Answer {
        let &Question { question, section, unit, threads, .. } = self;
        let figures = results.figures(self.suite);
        let time = |name| self.mean(|case| figures.figure(case, unit, (name, threads)));
        let Some(filch) = time(self.filch.0) else {
            let cases: Vec<&str> = self.measured_by.iter().map(String::as_str).collect();
            let sentence = not_measured(question, &bench(self.suite, results.full, &cases));
            return Answer { question, sentence, unit: "", times: Vec::new(), section };
        };
        // The unit in which filch's time is a short number.
        let nanos = match unit.get(..2) {
            Some("ms") => 1e6,
            Some("us") => 1e3,
            _ => 1.0,
        };
        let (unit, scale) = match filch.value() * nanos {
            time if time < 1e3 => ("ns", nanos),
            time if time < 1e6 => ("us", nanos / 1e3),
            _ => ("ms", nanos / 1e6),
        };
        let ratio = |name| self.mean(|case| figures.ratio(case, self.unit, (name, threads), (self.filch.0, threads)));
        let phrases: Vec<String> = self.peers.iter().filter_map(|(name, _, of)| phrase(&ratio(name)?, of)).collect();
        let compared = match phrases.split_last() {
            None => String::new(),
            Some((last, [])) => format!(", {last}"),
            Some((last, rest)) => format!(", {} and {last}", rest.join(", ")),
        };
        let sentence = format!("{} {} {unit}{}{compared}.", self.start, number(filch.value() * scale), self.on);
        let others = self.peers.iter().map(|&(name, shown, _)| (shown, time(name)));
        let times = std::iter::once((self.filch.1, Some(filch))).chain(others);
        let times = times.filter_map(|(name, time)| Some((name, time?.map(|time| time * scale)?.estimate()))).collect();
        Answer { question, sentence, unit, times, section }
    }

    /// Returns the mean over all cases, or `None` if one has no figure.
    fn mean(&self, figure: impl Fn(&str) -> Option<Rounds>) -> Option<Rounds> {
        match &self.cases[..] {
            // As measured, without the rounding of a mean.
            [case] => figure(case),
            cases => geometric_mean(&cases.iter().map(|case| figure(case)).collect::<Option<Vec<_>>>()?),
        }
    }
}

/// Compares filch's time with another, by their ratio; `None` if the other has no name.
fn phrase(ratio: &Rounds, of: &str) -> Option<String> {
    let (low, high) = ratio.range();
    let value = ratio.value();
    (!of.is_empty() && value > 0.0).then(|| match (low > 1.0, high < 1.0) {
        (true, _) => format!("{} times as fast as {of}", number(value)),
        (_, true) => format!("{} times as slow as {of}", number(1.0 / value)),
        _ => format!("about as fast as {of}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Series;
    use crate::report::sections::tests::nothing;

    fn sentence(filch: f64, rayon: f64, chili: f64) -> String {
        let series = |name, nanos: f64| Series {
            case: "fib-32".to_owned(),
            name,
            threads: 1,
            unit: NANOS_A_JOIN,
            samples: vec![nanos; 7],
            note: None,
        };
        let mut results = nothing();
        let all = vec![series("filch", filch), series("rayon", rayon), series("chili", chili)];
        results.suites.insert(fork_join::SUITE, all);
        join(&results).answer(&results).sentence
    }

    #[test]
    fn a_sentence_has_the_time_and_each_comparison() {
        assert_eq!(
            sentence(2.0, 8.0, 1.0),
            "A join takes 2.00 ns on one thread, 4.00 times as fast as rayon's and 2.00 times as slow as chili's."
        );
        assert_eq!(
            sentence(2e4, 2e4, 4e4),
            "A join takes 20.0 us on one thread, about as fast as rayon's and 2.00 times as fast as chili's."
        );
    }

    #[test]
    fn a_task_of_a_scope_is_answered_by_either_suite() {
        let series = |case: &str, name, unit, samples| Series {
            case: case.to_owned(),
            name,
            threads: THREADS,
            unit,
            samples: vec![samples; 7],
            note: None,
        };
        let mut results = nothing();
        let scope = |results: &Results| scope_task(results).answer(results);
        let programs = vec![
            series("scope-100k", rayon::FILCH, "ns/task", 50.0),
            series("scope-100k", rayon::RAYON, "ns/task", 100.0),
        ];
        results.suites.insert(rayon::SUITE, programs);
        assert_eq!(
            (scope(&results).sentence.as_str(), scope(&results).section),
            (
                "A task of a scope with 100,000 tasks takes 50.0 ns on 2 threads, 2.00 times as fast as rayon's.",
                "rayon"
            )
        );
        let own =
            vec![series("scope-10k", "filch", NANOS_A_TASK, 40.0), series("scope-10k", "rayon", NANOS_A_TASK, 120.0)];
        results.suites.insert(fork_join::SUITE, own);
        assert_eq!(
            (scope(&results).sentence.as_str(), scope(&results).section),
            (
                "A task of a scope with 10,000 tasks takes 40.0 ns on 2 threads, 3.00 times as fast as rayon's.",
                "fork-join"
            )
        );
    }

    #[test]
    fn a_question_that_was_not_measured_names_its_command() {
        for answer in answers(&nothing()) {
            assert!(answer.times.is_empty());
            let (_, command) = answer.sentence.split_once(": not measured in this run. `cargo run").unwrap();
            assert!(command.ends_with("` measures it."), "{command}");
        }
    }
}
