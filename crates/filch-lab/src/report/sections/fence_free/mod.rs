//! *Fence-Free Work Stealing on Bounded TSO Processors*: figures 1, 7, 8, 10 and 11.
//!
//! It also has the costs of fences, barriers, wake-ups and steals.

mod closure;
mod costs;
mod hardware;
mod programs;

pub(super) use hardware::verdicts;

use filch_queue::bound::Bound;

use super::items::{bench, text};
use crate::bench::{cilk, THREADS};
use crate::report::collect::Results;
use crate::report::page::Section;

pub(super) fn section(results: &Results) -> Section {
    let mut items = vec![text(
        "A load can overtake only as many stores as the store buffer holds. A thief that knows this bound knows which tasks are \
         safe to steal, so the owner needs no fence. Thieves of FF-THE and FF-CL do not steal uncertain tasks. A \
         thief of THEP waits for an echo of the owner. The paper measured on a Haswell with 4 cores and a Westmere-EX with 10.",
    )];
    items.push(programs::fence_cost(results));
    items.push(hardware::store_buffer(results));
    items.push(hardware::litmus(results));
    items.extend(programs::normalised(results));
    if !results.full {
        items.push(text(
            "A quick report has smaller inputs than table 1 of the paper. Figures 1 and 10 show their names.",
        ));
    }
    items.push(text(cilk::differences()));
    items.extend(closure::closure(results));
    items.push(costs::costs(results));
    Section { id: "fence-free", title: "Fence-Free Work Stealing on Bounded TSO Processors (2014)".to_owned(), items }
}

/// The command that repeats figures with these numbers of threads and the bound in this note.
fn command(results: &Results, suite: &str, cases: &[&str], counts: &[usize], note: Option<&str>) -> String {
    let mut command = bench(suite, results.full, cases);
    // Every run has 1 thread, and usually 2.
    if counts.iter().any(|count| *count > THREADS) {
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        command += &format!(" --threads {}", counts.join(","));
    }
    let bound = note.and_then(|note| note.split_once("S = ")?.1.split_once(',')?.0.parse::<usize>().ok());
    if let Some(bound) = bound.filter(|bound| *bound != Bound::GENEROUS.get()) {
        command += &format!(" --bound {bound}");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::bound::TrustedBound;
    use crate::report::sections::tests::nothing;

    #[test]
    fn a_command_has_the_threads_and_the_bound_of_its_figure() {
        let command = |counts: &[usize], bound: &TrustedBound| {
            command(&nothing(), cilk::SUITE, &[], counts, Some(&bound.note(bound.delta().unwrap())))
        };
        let usual = bench(cilk::SUITE, false, &[]);
        assert_eq!(command(&[2], &TrustedBound::published()), usual);
        assert_eq!(command(&[2, 8], &TrustedBound::published()), format!("{usual} --threads 2,8"));
        assert_eq!(command(&[2], &TrustedBound::given(73).unwrap()), format!("{usual} --bound 73"));
    }
}
