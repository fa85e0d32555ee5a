//! The claims about explored graphs.

use std::collections::BTreeSet;

use super::cases::{self, Case, Family, Form, Task, SHAPES};
use super::contenders::{FF_CL, FF_CL_UNTRUSTED};
use super::memory;
use super::pointers::{CHASE_LEV_ROWS, LIFO_ROWS};
use super::setup::{NANOS_A_VERTEX, REDUNDANT, SERIAL_PAIR};
use super::QUICK_VERTICES;
use crate::bench::{SERIAL, THREADS};
use crate::claims::{geometric_mean, Bound, Claim, Criterion, Figures, Holds, Rounds, Source, Verdict};
use crate::figures::{number, threads, Series};
use crate::queue::Queue;

/// The kinds of graphs, with their names.
pub(crate) const FAMILIES: [(Family, &str); 4] = [
    (Family::KGraph, "K-graph in the plane"),
    (Family::Ring, "K-graph on a ring"),
    (Family::Torus, "torus"),
    (Family::Random, "random"),
];

/// The graphs that the paper may mean by "K-graph". It does not say where the vertices are.
const K_GRAPHS: [Family; 2] = [Family::KGraph, Family::Ring];

/// The traversals, with their names.
const TASKS: [(Task, &str); 2] = [(Task::Closure, "Closures"), (Task::SpanningTree, "Spanning trees")];

const SPLIT: &str = Queue::Split.name();
const CHASE_LEV: &str = Queue::ChaseLev.name();
const THE: &str = Queue::The.name();
const LIFO: &str = Queue::Lifo.name();
const FIFO: &str = Queue::Fifo.name();
const DOUBLE_ENDED: &str = Queue::DoubleEnded.name();
const CROSSBEAM: &str = "crossbeam-lifo";
const SPAWNS: &str = "rayon-spawn";

/// The queues that may run a task twice.
pub(crate) const IDEMPOTENT: [&str; 3] = [LIFO, FIFO, DOUBLE_ENDED];

/// The claimed maximum of redundant tasks, in percent.
const MAX_REDUNDANT: f64 = 6.0;
/// The share, in percent, below which the claimed average of 2 % holds.
const REDUNDANT_ON_AVERAGE: f64 = 2.5;

/// Returns the traversal of the largest measured graph of a family, neighbours in rising order.
pub(crate) fn graph_case(figures: Figures<'_>, task: Task, family: Family) -> Option<String> {
    let of_family = SHAPES.into_iter().filter(|shape| shape.family == family);
    let measured = figures.cases(NANOS_A_VERTEX);
    of_family
        .map(|shape| (shape.vertices, Case::Traversal { task, shape, form: Form::Sorted }.to_string()))
        .filter(|(_, case)| measured.contains(&&**case))
        .max()
        .map(|(_, case)| case)
}

/// Returns the ratio of two times in the closure of the largest graph of a family.
pub(crate) fn closure_ratio(
    figures: Figures<'_>,
    family: Family,
    count: usize,
    over: &str,
    under: &str,
) -> Option<Rounds> {
    figures.ratio(&graph_case(figures, Task::Closure, family)?, NANOS_A_VERTEX, (over, count), (under, count))
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    [of_fence_free(figures), of_idempotent(figures), of_filch(figures)].concat()
}

/// Judges a claim with each kind of K-graph. If the verdicts differ, the claim stays open.
fn with_each_k_graph(judge: impl Fn(Family) -> Verdict) -> Verdict {
    let [plane, ring] = K_GRAPHS.map(judge);
    if plane.holds == Holds::NotMeasured && ring.holds == Holds::NotMeasured {
        return plane;
    }
    let holds = if plane.holds == ring.holds { plane.holds } else { Holds::Unclear };
    let measured =
        format!("with K-graphs in the plane: {}. With K-graphs on a ring: {}", plane.measured, ring.measured);
    Verdict { measured, holds, ..plane }
}

fn of_fence_free(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::FENCE_FREE, text);
    let ratio = |family, over: &str, under: &str| closure_ratio(figures, family, THREADS, over, under);
    let torus = |name: &str| {
        Criterion::new(
            format!("{name} / {CHASE_LEV}:"),
            ratio(Family::Torus, name, CHASE_LEV),
            Bound::saves_about(0.33),
        )
    };
    // The paper's three kinds of graphs.
    let of_kinds =
        |k_graph, under: &str| [k_graph, Family::Torus, Family::Random].map(|family| ratio(family, FF_CL, under));
    let left_out = why_ff_cl_is_left_out(figures);
    let judged = |text: &str, what: &str, criteria: Vec<Criterion>| match left_out {
        Some(why) => claim(text).not_measured_because(why),
        None => claim(text).judged(what, criteria),
    };
    vec![
        judged(
            "Torus, two threads: FF-CL and the idempotent LIFO take about a third less time than Chase-Lev.",
            "",
            vec![torus(FF_CL), torus(LIFO)],
        ),
        with_each_k_graph(|k_graph| {
            judged(
                "FF-CL takes 17 % less time than Chase-Lev, on average over the graphs.",
                "ff_cl / chase_lev",
                vec![Criterion::mean(
                    format!("{}:", threads(THREADS)),
                    &of_kinds(k_graph, CHASE_LEV),
                    Bound::saves_about(0.17),
                )],
            )
        }),
        with_each_k_graph(|k_graph| {
            let names = ["K-graph", "torus", "random"].into_iter().zip(of_kinds(k_graph, LIFO));
            judged(
                "FF-CL is as fast as the idempotent LIFO, and returns each task once. (Tolerance: 10 %. That no task runs twice is checked in every spanning tree.)",
                "ff_cl / idempotent::lifo",
                names
                    .map(|(name, ratio)| {
                        let label = format!("{name}, {}:", threads(THREADS));
                        Criterion::new(label, ratio, Bound::AtMost(1.1))
                    })
                    .collect(),
            )
        }),
    ]
}

/// Returns why FF-CL has no figures, if its untrusted variant has some.
///
/// That variant has a fence, so no claim about FF-CL is judged by it.
pub(crate) fn why_ff_cl_is_left_out(figures: Figures<'_>) -> Option<&str> {
    let of = |name: &str| figures.series.iter().find(|series| series.name == name);
    match of(FF_CL) {
        Some(_) => None,
        None => of(FF_CL_UNTRUSTED)?.note.as_deref(),
    }
}

fn of_idempotent(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::IDEMPOTENT, text);
    let gain = |family, other: &str, count| closure_ratio(figures, family, count, other, LIFO);
    let label = |other: &str, count| format!("{other} / {LIFO}, {}:", threads(count));
    // LIFO's smallest gain on these queues, with any number of threads that was measured.
    let smallest = |family, others: &[&str], bound| {
        let pairs =
            counts(figures, family).into_iter().flat_map(|count| others.iter().map(move |&other| (other, count)));
        Criterion::least(pairs.map(|(other, count)| (label(other, count), gain(family, other, count))), bound)
    };
    let others = [CHASE_LEV, THE, FIFO, DOUBLE_ENDED];
    let factors = [1, THREADS].map(|count| {
        let gain = gain(Family::Torus, CHASE_LEV, count);
        Criterion::new(label(CHASE_LEV, count), gain, Bound::faster_by_about(2.0))
    });
    // FIFO on the torus, compared with the slowest of all others.
    let slowest = [1, THREADS].map(|count| {
        let others = [CHASE_LEV, THE, LIFO, DOUBLE_ENDED].map(|other| {
            let ratio = closure_ratio(figures, Family::Torus, count, FIFO, other);
            (format!("{FIFO} / {other}, {}:", threads(count)), ratio)
        });
        Criterion::least(others, Bound::AtLeast(1.0))
    });
    // "About" 2 to 10 %: 1.5 % is three quarters of 2 %, and 10 % is three quarters of 13.3 %.
    let random = others.map(|other| {
        let counts = counts(figures, Family::Random);
        let gains: Vec<_> = counts.into_iter().map(|count| gain(Family::Random, other, count)).collect();
        Criterion::mean(format!("{other} / {LIFO}:"), &gains, Bound::Between(1.015, 1.133))
    });
    vec![
        with_each_k_graph(|k_graph| {
            claim("K-graphs: Chase-Lev and THE take 15 to 20 % longer than LIFO with any number of threads. (More also counts.)")
                .judged("", [smallest(k_graph, &[CHASE_LEV, THE], Bound::faster_by_about(0.15))])
        }),
        claim("Torus: LIFO is the fastest of all with any number of threads, often by a factor of 3. (The factor is judged by Chase-Lev with up to two threads.)")
            .judged("", factors.into_iter().chain([smallest(Family::Torus, &others, Bound::AtLeast(1.0))])),
        claim("Torus: with up to two threads FIFO is usually the slowest of all.").judged("", slowest),
        claim("Random graphs: all are close, and LIFO is faster than each other by 2 to 10 %. (On average over the numbers of threads.)")
            .judged("", random),
        claim("With pointers instead of indices, the results are similar. (LIFO gains as much on Chase-Lev, within 15 %.)")
            .judged("gain with pointers / gain with indices", with_pointers(figures)),
        redundant(figures, claim("Few tasks are redundant: 2 % on average, never more than 6 %.")),
    ]
}

/// Returns the numbers of threads of LIFO in the closure of the largest graph of a family.
fn counts(figures: Figures<'_>, family: Family) -> Vec<usize> {
    let case = graph_case(figures, Task::Closure, family);
    all_counts(figures, |series| series.unit == NANOS_A_VERTEX && Some(&series.case) == case.as_ref())
}

/// Returns the numbers of threads of LIFO in some figures, and those that every run should have.
fn all_counts(figures: Figures<'_>, is_wanted: impl Fn(&Series) -> bool) -> Vec<usize> {
    let of_lifo = figures.series.iter().filter(|series| series.name == LIFO && is_wanted(series));
    let counts: BTreeSet<usize> = of_lifo.map(|series| series.threads).chain([1, THREADS]).collect();
    counts.into_iter().collect()
}

/// Compares LIFO's gain on Chase-Lev in both forms of the largest measured graphs.
fn with_pointers(figures: Figures<'_>) -> Vec<Criterion> {
    let measured = figures.cases(NANOS_A_VERTEX);
    let case = |family| {
        let of_family = SHAPES.into_iter().rev().filter(move |shape| shape.family == family);
        let mut cases = of_family.map(|shape| Case::Traversal { task: Task::Closure, shape, form: Form::Pointers });
        cases.find_map(|case| measured.iter().copied().find(|measured| *measured == case.to_string()))
    };
    let ratio = |case: &str, count| {
        let gain = |over: &str, under: &str| time_ratio(figures, case, count, over, under);
        let both = [gain(CHASE_LEV, LIFO)?, gain(LIFO_ROWS, CHASE_LEV_ROWS)?];
        geometric_mean(&both)?.map(|mean| mean * mean)
    };
    let families = [(Family::KGraph, "K-graph in the plane"), (Family::Torus, "torus"), (Family::Random, "random")];
    let of_family = |(family, name)| {
        let case = case(family);
        [1, THREADS].map(|count| {
            let ratio = case.and_then(|case| ratio(case, count));
            Criterion::new(format!("{name}, {}:", threads(count)), ratio, Bound::Between(0.87, 1.15))
        })
    };
    families.into_iter().flat_map(of_family).collect()
}

/// Judges "never" by the worst round. Judges the average by the mean of all graphs and queues.
fn redundant(figures: Figures<'_>, claim: Claim) -> Verdict {
    let share = |family, contender: (&str, usize)| {
        figures.figure(&graph_case(figures, Task::Closure, family)?, REDUNDANT, contender)
    };
    let of_family = |family| {
        // One thread repeats nothing.
        let several = counts(figures, family).into_iter().filter(|count| *count > 1);
        several.flat_map(move |count| IDEMPOTENT.map(|other| share(family, (other, count))))
    };
    let shares: Vec<Option<Rounds>> = FAMILIES.iter().flat_map(|&(family, _)| of_family(family)).collect();
    let measured: Vec<&Rounds> = shares.iter().flatten().collect();
    if measured.is_empty() {
        return claim.not_measured();
    }
    let most = measured.iter().map(|share| share.worst()).fold(0.0, f64::max);
    let average = measured.iter().map(|share| share.value()).sum::<f64>() / measured.len() as f64;
    let scant =
        measured.len() < shares.len() || measured.iter().any(|share| share.has_few_rounds() || share.has_gaps());
    let holds = match (most > MAX_REDUNDANT, average >= REDUNDANT_ON_AVERAGE, scant) {
        // A single round is enough to refute "never".
        (true, ..) => Holds::No,
        (_, _, true) => Holds::Unclear,
        (_, true, _) => Holds::No,
        _ => Holds::Yes,
    };
    let (graphs, all) = (measured.len(), shares.len());
    let measured = format!(
        "{} % on average, {} % at most, over {graphs} of {all} combinations of graph, queue and number of threads",
        number(average),
        number(most)
    );
    let required = format!("less than {REDUNDANT_ON_AVERAGE} % on average, at most {MAX_REDUNDANT} % in every round");
    Verdict { required, ..claim.verdict(measured, holds) }
}

fn of_filch(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: String| Claim::new(Source::filch("graphs"), text);
    let both = &[1, THREADS][..];
    // Another takes at least this many times as long as LIFO.
    let slower = |task, family, other: &'static str, counts: &[usize], least: f64| {
        let bound = Bound::AtLeast(least);
        worst(figures, task, family, counts, bound, |case, count| time_ratio(figures, case, count, other, LIFO))
    };
    // LIFO takes at most this many times as long as another.
    let within = |task, other: &'static str, most: f64| {
        let bound = Bound::AtMost(most);
        worst(figures, task, Family::Random, both, bound, |case, count| time_ratio(figures, case, count, LIFO, other))
    };
    // A plain loop takes at least this share of the time on the default queue.
    let closures = |count: usize, plain: &'static str, least: f64| {
        let of = move |(family, _)| {
            let counts = [count];
            worst(figures, Task::Closure, family, &counts, Bound::AtLeast(least), |case, count| {
                time_ratio(figures, case, count, plain, SPLIT)
            })
        };
        FAMILIES.into_iter().flat_map(of).collect::<Vec<_>>()
    };
    let mut verdicts = Vec::new();
    for (task, tasks) in TASKS {
        let of_two = |other, least: [f64; 2]| {
            let [k_graph, torus] = least;
            let families = K_GRAPHS.map(|family| (family, k_graph)).into_iter().chain([(Family::Torus, torus)]);
            families.flat_map(|(family, least)| slower(task, family, other, both, least)).collect::<Vec<_>>()
        };
        verdicts.extend([
            claim(format!("{tasks} of K-graphs and of the torus: an exploration on crossbeam's deque takes at least 1.25 times as long as on `idempotent::lifo`."))
                .judged("crossbeam-lifo / idempotent::lifo", of_two(CROSSBEAM, [1.25, 1.25])),
            claim(format!("{tasks} of K-graphs and of the torus: a rayon spawn for each vertex takes at least twice as long as `idempotent::lifo`."))
                .judged("rayon-spawn / idempotent::lifo", of_two(SPAWNS, [2.0, 2.0])),
            claim(format!("{tasks}: Chase-Lev takes at least 1.12 times as long as `idempotent::lifo` on K-graphs, and 1.2 times as long on the torus."))
                .judged("chase_lev / idempotent::lifo", of_two(CHASE_LEV, [1.12, 1.2])),
            claim(format!("{tasks} of random graphs: `idempotent::lifo` takes at most 1.03 times as long as Chase-Lev."))
                .judged("idempotent::lifo / chase_lev", within(task, CHASE_LEV, 1.03)),
            claim(format!("{tasks} of random graphs: `idempotent::lifo` takes no longer than crossbeam's deque."))
                .judged("idempotent::lifo / crossbeam-lifo", within(task, CROSSBEAM, 1.0)),
        ]);
    }
    let all = || TASKS.into_iter().flat_map(|(task, _)| FAMILIES.map(|(family, _)| (task, family)));
    let several: Vec<usize> =
        all_counts(figures, |series| series.unit == REDUNDANT).into_iter().filter(|count| *count > 1).collect();
    let repeats = all().flat_map(|(task, family)| {
        worst(figures, task, family, &several, Bound::AtMost(MAX_REDUNDANT), |case, count| {
            figures.figure(case, REDUNDANT, (LIFO, count))
        })
    });
    let of_memory = |unit| figures.figure(memory::CASE, unit, (SPLIT, 1));
    let of_vertices =
        of_memory(memory::BYTES_A_VERTEX).zip(of_memory(memory::LARGEST_WORKLIST)).and_then(|(held, queued)| {
            let queued = queued.value() * memory::BYTES_A_TASK / memory::VERTICES as f64;
            held.map(|held| held + queued)
        });
    let memory =
        [(memory::BYTES_AN_EDGE, of_memory(memory::BYTES_AN_EDGE), 8.0), (memory::BYTES_A_VERTEX, of_vertices, 8.0)]
            .map(|(unit, bytes, most)| {
                Criterion::new("", bytes.map(Rounds::exact), Bound::AtMost(most)).with_unit(unit)
            });
    // Dijkstra's algorithm takes at least this many times as long as delta stepping.
    let paths = |count: usize, plain: &'static str, least: f64| {
        let of = move |(family, _)| {
            let is_of = |case: &Case| matches!(case, Case::ShortestPaths { shape } if shape.family == family);
            worst_of(figures, is_of, &[count], Bound::AtLeast(least), |case, count| {
                time_ratio(figures, case, count, plain, SPLIT)
            })
        };
        FAMILIES.into_iter().filter(|(family, _)| *family != Family::Ring).flat_map(of).collect::<Vec<_>>()
    };
    verdicts.extend([
        claim("Shortest paths: one worker on the default queue is at least 1.4 times as fast as Dijkstra's algorithm with a binary heap.".to_owned())
            .judged("serial / split", paths(1, SERIAL, 1.4)),
        claim("Shortest paths: two workers on the default queue reach at least 0.9 of the throughput of two runs of Dijkstra's algorithm at the same time.".to_owned())
            .judged("serial-pair / split", paths(THREADS, SERIAL_PAIR, 0.9)),
        claim("Closures: one worker on the default queue reaches at least 0.85 of the throughput of a plain loop.".to_owned())
            .judged("serial / split", closures(1, SERIAL, 0.85)),
        claim("Closures: two workers on the default queue reach at least 0.8 of the throughput of two plain loops at the same time.".to_owned())
            .judged("serial-pair / split", closures(THREADS, SERIAL_PAIR, 0.8)),
        claim("On K-graphs and random graphs, two workers reach at least 0.85 of the throughput of two serial loops at the same time. (On `idempotent::lifo`.)".to_owned())
            .judged(
                "serial-pair / idempotent::lifo",
                all()
                    .filter(|&(_, family)| family != Family::Torus)
                    .flat_map(|(task, family)| slower(task, family, SERIAL_PAIR, &[THREADS], 0.85)),
            ),
        claim("At most 6 % of the tasks on `idempotent::lifo` are redundant, in all traversals.".to_owned())
            .judged_each(repeats.map(|repeats| repeats.with_unit("%"))),
        claim("The closure of a graph with ten million vertices needs at most 8 bytes per edge and 8 bytes per vertex. (The graph, the marks and the queued tasks of one worker.)".to_owned())
            .judged("", memory),
    ]);
    verdicts
}

fn time_ratio(figures: Figures<'_>, case: &str, count: usize, over: &str, under: &str) -> Option<Rounds> {
    figures.ratio(case, NANOS_A_VERTEX, (over, count), (under, count))
}

/// Returns, for each number of threads, the worst figure of all traversals of a family.
///
/// A traversal that this run should have measured and did not makes it incomplete.
fn worst(
    figures: Figures<'_>,
    task: Task,
    family: Family,
    counts: &[usize],
    bound: Bound,
    figure: impl Fn(&str, usize) -> Option<Rounds>,
) -> Vec<Criterion> {
    let is_of = |case: &Case| {
        let of = |shape: cases::Shape| shape.family == family;
        matches!(case, Case::Traversal { task: own, shape, form } if *own == task && of(*shape) && *form != Form::Pointers)
    };
    worst_of(figures, is_of, counts, bound, figure)
}

/// Returns, for each number of threads, the worst figure of these cases, like [`worst`].
fn worst_of(
    figures: Figures<'_>,
    is_of: impl Fn(&Case) -> bool,
    counts: &[usize],
    bound: Bound,
    figure: impl Fn(&str, usize) -> Option<Rounds>,
) -> Vec<Criterion> {
    let measured = figures.cases(NANOS_A_VERTEX);
    // A quick run has the small graphs, and other cases if they are named. A report's has sorted rows.
    let is_expected = |case: &Case| {
        let (shape, form) = match case {
            Case::Traversal { shape, form, .. } => (shape, form),
            Case::ShortestPaths { shape } => (shape, &Form::Sorted),
            Case::Memory => return false,
        };
        let is_small = shape.vertices <= QUICK_VERTICES;
        !figures.is_quick || is_small && (*form == Form::Sorted || figures.is_incomplete)
    };
    let cases = cases::all().into_iter().filter(is_of);
    let is_wanted = |case: &Case| is_expected(case) || measured.contains(&&*case.to_string());
    let cases: Vec<String> = cases.filter(is_wanted).map(|case| case.to_string()).collect();
    let of_count = |&count: &usize| {
        let all = cases.iter().map(|case| (format!("{case}, {}:", threads(count)), figure(case, count)));
        match bound {
            Bound::AtMost(_) => Criterion::largest(all, bound),
            _ => Criterion::least(all, bound),
        }
    };
    counts.iter().map(of_count).collect()
}

#[cfg(test)]
mod tests;
