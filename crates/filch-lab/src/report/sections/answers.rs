//! What a user asks first: the time of each operation, filch beside its peers.

use super::items::{bench, not_measured};
use crate::bench::fork_join::{fib, NANOS_A_JOIN, NANOS_A_WAKE};
use crate::bench::graphs::{graph_case, Family, Task, NANOS_A_VERTEX};
use crate::bench::queues::{Case, NANOS_AN_OPERATION};
use crate::bench::solver::{DDO, FILCH, MILLISECONDS};
use crate::bench::{fork_join, graphs, queues, rayon, solver, THREADS};
use crate::claims::{geometric_mean, Figures, Rounds};
use crate::figures::number;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::Answer;

/// The name of filch's time if a time with a weaker guarantee stands beside it.
const EXACTLY_ONCE: &str = "filch, exactly once";
const AT_LEAST_ONCE: &str = "filch, at least once";

/// A contender beside filch: its name in the chart, and in a sentence after "as fast as".
type Peer = (&'static str, &'static str);

/// A time, and its ratio to filch's.
struct Time {
    peer: Peer,
    time: Option<Rounds>,
    ratio: Option<Rounds>,
}

/// A question, and what was measured about it.
struct Question {
    question: &'static str,
    /// The sentence up to the time: `A join takes`.
    start: &'static str,
    /// What the time is measured on, after it: `on one thread`.
    on: String,
    section: &'static str,
    /// The command that measures it.
    command: String,
    unit: &'static str,
    /// filch's time.
    filch: (&'static str, Option<Rounds>),
    /// The times of the others.
    others: Vec<Time>,
}

/// Returns the answers, in the order of the page.
pub(super) fn answers(results: &Results) -> Vec<Answer> {
    [join(results), call(results), scope_task(results), worklist(results), operation(results), solver(results)]
        .map(Question::answer)
        .into()
}

/// Looks up the times of one case. Each peer has the name of its figures.
fn times(
    figures: Figures<'_>,
    (case, unit): (&str, &str),
    count: usize,
    filch: &str,
    peers: &[(&str, Peer)],
) -> (Option<Rounds>, Vec<Time>) {
    let time = |&(name, peer): &(&str, Peer)| Time {
        peer,
        time: figures.figure(case, unit, (name, count)),
        ratio: figures.ratio(case, unit, (name, count), (filch, count)),
    };
    (figures.figure(case, unit, (filch, count)), peers.iter().map(time).collect())
}

fn join(results: &Results) -> Question {
    let figures = results.figures(fork_join::SUITE);
    let peers = [("rayon", ("rayon", "rayon's")), ("chili", ("chili", "chili's"))];
    let (filch, others) = times(figures, (fib(figures), NANOS_A_JOIN), 1, "filch", &peers);
    Question {
        question: "A join",
        start: "A join takes",
        on: " on one thread".to_owned(),
        section: "fork-join",
        command: bench(fork_join::SUITE, results.full, &["fib"]),
        unit: NANOS_A_JOIN,
        filch: ("filch", filch),
        others,
    }
}

fn call(results: &Results) -> Question {
    let figures = results.figures(fork_join::SUITE);
    let peers = [("rayon", ("rayon", "rayon's"))];
    let (filch, others) = times(figures, ("wake", NANOS_A_WAKE), THREADS, "filch", &peers);
    Question {
        question: "A call from outside",
        start: "A call into a sleeping pool starts after",
        on: String::new(),
        section: "fork-join",
        command: bench(fork_join::SUITE, results.full, &["wake"]),
        unit: NANOS_A_WAKE,
        filch: ("filch", filch),
        others,
    }
}

fn scope_task(results: &Results) -> Question {
    const CASE: &str = "scope-100k";
    let figures = results.figures(rayon::SUITE);
    let unit = rayon::timed(figures, &[rayon::FILCH]).into_iter().find(|(case, _)| *case == CASE);
    let unit = unit.map_or("", |(_, unit)| unit);
    let peers = [(rayon::RAYON, ("rayon", "rayon's"))];
    let (filch, others) = times(figures, (CASE, unit), THREADS, rayon::FILCH, &peers);
    Question {
        question: "A task of a scope",
        start: "A task of a scope with 100,000 tasks takes",
        on: format!(" on {THREADS} threads"),
        section: "rayon",
        command: bench(rayon::SUITE, results.full, &[CASE]),
        unit,
        filch: ("filch", filch),
        others,
    }
}

fn worklist(results: &Results) -> Question {
    let figures = results.figures(graphs::SUITE);
    let families = [Family::Random, Family::Torus, Family::KGraph];
    let case = families.into_iter().find_map(|family| graph_case(figures, Task::Closure, family)).unwrap_or_default();
    let peers = [
        (Queue::Lifo.name(), (AT_LEAST_ONCE, "")),
        ("crossbeam-pool", ("crossbeam-pool", "a pool written on crossbeam's deque")),
        ("rayon-frontier", ("rayon-frontier", "rayon level by level")),
        ("rayon-spawn", ("rayon-spawn", "rayon's spawns")),
    ];
    let (filch, others) = times(figures, (&case, NANOS_A_VERTEX), THREADS, Queue::ChaseLev.name(), &peers);
    Question {
        question: "A task of a worklist",
        start: "A vertex of a graph, explored from a worklist, takes",
        on: format!(" on {THREADS} threads"),
        section: "graphs",
        command: bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
        unit: NANOS_A_VERTEX,
        filch: (EXACTLY_ONCE, filch),
        others,
    }
}

fn operation(results: &Results) -> Question {
    let figures = results.figures(queues::SUITE);
    let peers = [
        (Queue::Lifo.name(), (AT_LEAST_ONCE, "")),
        ("crossbeam-lifo", ("crossbeam-lifo", "crossbeam's")),
        ("st3-lifo", ("st3-lifo", "st3's")),
    ];
    let case = Case::Burst.to_string();
    let (filch, others) = times(figures, (&case, NANOS_AN_OPERATION), 1, Queue::ChaseLev.name(), &peers);
    Question {
        question: "A push and a pop",
        start: "A push and a pop of the same queue take",
        on: " (`chase_lev`)".to_owned(),
        section: "idempotent",
        command: bench(queues::SUITE, results.full, &[]),
        unit: NANOS_AN_OPERATION,
        filch: (EXACTLY_ONCE, filch),
        others,
    }
}

fn solver(results: &Results) -> Question {
    let figures = results.figures(solver::SUITE);
    let cases = figures.cases(MILLISECONDS);
    let mean = |figure: &dyn Fn(&str) -> Option<Rounds>| {
        geometric_mean(&cases.iter().map(|case| figure(case)).collect::<Option<Vec<_>>>()?)
    };
    let time = |name: &str| mean(&|case| figures.figure(case, MILLISECONDS, (name, THREADS)));
    let ratio = mean(&|case| figures.ratio(case, MILLISECONDS, (DDO, THREADS), (FILCH, THREADS)));
    let instances = if cases.len() == 1 { "instance" } else { "instances" };
    Question {
        question: "The solver",
        start: "The proof of an optimum takes",
        on: format!(" on {THREADS} threads (geometric mean of {} {instances})", cases.len()),
        section: "solver",
        command: bench(solver::SUITE, results.full, &[]),
        unit: MILLISECONDS,
        filch: (FILCH, time(FILCH)),
        others: vec![Time { peer: (DDO, "ddo's"), time: time(DDO), ratio }],
    }
}

impl Question {
    fn answer(self) -> Answer {
        let Question { question, section, .. } = self;
        let Some(filch) = self.filch.1 else {
            let sentence = not_measured(question, &self.command);
            return Answer { question, sentence, unit: "", times: Vec::new(), section };
        };
        // The unit in which filch's time is a short number.
        let nanos = match self.unit.get(..2) {
            Some("ms") => 1e6,
            Some("us") => 1e3,
            _ => 1.0,
        };
        let (unit, scale) = match filch.value() * nanos {
            time if time < 1e3 => ("ns", nanos),
            time if time < 1e6 => ("us", nanos / 1e3),
            _ => ("ms", nanos / 1e6),
        };
        let phrases: Vec<String> = self.others.iter().filter_map(Time::phrase).collect();
        let compared = match phrases.split_last() {
            None => String::new(),
            Some((last, [])) => format!(", {last}"),
            Some((last, rest)) => format!(", {} and {last}", rest.join(", ")),
        };
        let sentence = format!("{} {} {unit}{}{compared}.", self.start, number(filch.value() * scale), self.on);
        let others = self.others.iter().map(|other| (other.peer.0, other.time.clone()));
        let times = std::iter::once((self.filch.0, Some(filch))).chain(others);
        let times = times.filter_map(|(name, time)| Some((name, time?.map(|time| time * scale)?.estimate()))).collect();
        Answer { question, sentence, unit, times, section }
    }
}

impl Time {
    /// Compares filch's time with this one; `None` if it cannot be compared or has no name.
    fn phrase(&self) -> Option<String> {
        let (ratio, of) = (self.ratio.as_ref()?, self.peer.1);
        let (low, high) = ratio.range();
        let value = ratio.value();
        (!of.is_empty() && value > 0.0).then(|| match (low > 1.0, high < 1.0) {
            (true, _) => format!("{} times as fast as {of}", number(value)),
            (_, true) => format!("{} times as slow as {of}", number(1.0 / value)),
            _ => format!("about as fast as {of}"),
        })
    }
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
        join(&results).answer().sentence
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
    fn a_question_that_was_not_measured_names_its_command() {
        for answer in answers(&nothing()) {
            assert!(answer.times.is_empty());
            let (_, command) = answer.sentence.split_once(": not measured in this run. `cargo run").unwrap();
            assert!(command.ends_with("` measures it."), "{command}");
        }
    }
}
