//! The cases: a program and its size.

use std::fmt;

use anyhow::Result;

use super::coarse::Coarse;
use super::delta::ClientStores;
use super::measure::{self, Plan};
use super::programs::{Cholesky, Fft, Heat, Integrate, Jacobi, Knapsack, Lu, Matmul, Strassen, Uts};
use crate::bench::bound::Vouched;
use crate::bench::work::{self, Fib, Queens, Quicksort, Work};
use crate::bench::Threads;
use crate::figures::Series;

/// A program and a size.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// The program and the size in plots.
    name: &'static str,
    pub(super) description: &'static str,
    is_quick: bool,
    measure: fn(&Setup<'_>) -> Result<(u64, Vec<Series>)>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// How the input differs from that of table 1, or what table 1 leaves open, and why it is so.
    pub(super) fn difference(&self) -> Option<&'static str> {
        match self.name.split('-').next() {
            Some("jacobi" | "heat") => Some("table 1 has no number of steps; here it is 100"),
            Some("quicksort") => Some("table 1 has no order of the numbers; here it is random"),
            Some("knapsack") => Some("table 1 has no items; with these, luck hardly changes the length of the search"),
            Some("cholesky") => Some(
                "table 1 has no positions of the nonzeros; here they are near the diagonal, else the matrix fills up. \
                 The 40,000 include the diagonal and both sides",
            ),
            _ => None,
        }
    }

    /// Measures the case, with 1 thread and with `threads`. Returns the number of joins as well.
    pub(super) fn measure(&self, plan: &Plan, threads: &Threads, bound: &Vouched) -> Result<(u64, Vec<Series>)> {
        (self.measure)(&Setup { case: self, plan, threads, bound })
    }
}

/// All cases, in the order in which they are measured and printed.
///
/// The programs of table 1 come first, in its order and with its sizes, unless the run is quick.
pub(super) fn all(is_quick: bool) -> Vec<Case> {
    let case = |[quick, full]: [&'static str; 2], description, measure| {
        let name = if is_quick { quick } else { full };
        Case { name, description, is_quick, measure }
    };
    vec![
        case(["fib-30", "fib-42"], "a Fibonacci number by its definition: nothing but joins", |setup| {
            setup.measure(&Fib(setup.size(30, 42)))
        }),
        case(
            ["jacobi-256", "jacobi-1024"],
            "a mesh whose cells become the mean of their neighbours, over and over",
            |setup| setup.measure(&Coarse(Jacobi::new(setup.size(256, 1024)))),
        ),
        case(
            ["quicksort-100k", "quicksort-100m"],
            "a sort of random numbers, with joins down to 32 of them",
            |setup| setup.measure(&Coarse(Quicksort::new(setup.size(100_000, 100_000_000)))),
        ),
        case(["matmul-256", "matmul-1024"], "a product of matrices, halved along the longest side", |setup| {
            setup.measure(&Coarse(Matmul::new(setup.size(256, 1024))))
        }),
        case(
            ["integrate-200", "integrate-10000"],
            "the area under a curve, halved until the sum no longer changes",
            |setup| setup.measure(&Integrate::new(setup.size(200, 10_000))),
        ),
        case(["knapsack-24", "knapsack-32"], "branch and bound, with an item or without", |setup| {
            setup.measure(&Knapsack::new(setup.size(24, 32)))
        }),
        case(
            ["cholesky-1000", "cholesky-4000"],
            "the Cholesky factor of a sparse matrix, as a tree of blocks",
            |setup| setup.measure(&Coarse(Cholesky::new(setup.size(1000, 4000)))),
        ),
        case(["heat-512x128", "heat-4096x1024"], "heat that spreads on a plate, step by step", |setup| {
            setup.measure(&Coarse(Heat::new(setup.size(512, 4096))))
        }),
        case(["lu-256", "lu-1024"], "a matrix as a product of triangles, halved down to blocks", |setup| {
            setup.measure(&Coarse(Lu::new(setup.size(256, 1024))))
        }),
        case(
            ["strassen-256", "strassen-4096"],
            "a product of matrices by seven products of a quarter the size",
            |setup| setup.measure(&Coarse(Strassen::new(setup.size(256, 4096)))),
        ),
        case(["fft-131k", "fft-67m"], "a fast Fourier transform, halved down to short ones", |setup| {
            setup.measure(&Coarse(Fft::new(setup.size(17, 26))))
        }),
        case(["uts-t1-small", "uts-t1"], "a wide tree that cannot be divided evenly in advance", |setup| {
            setup.measure(&setup.size(Uts::small_t1(), Uts::t1()))
        }),
        case(["uts-t3-small", "uts-t3"], "a deep tree that cannot be divided evenly in advance", |setup| {
            setup.measure(&setup.size(Uts::small_t3(), Uts::t3()))
        }),
        case(["queens-11", "queens-13"], "all ways to place queens, a join wherever a row offers a choice", |setup| {
            setup.measure(&Queens(setup.size(11, 13)))
        }),
    ]
}

/// The setup of a case's measurement.
struct Setup<'a> {
    case: &'a Case,
    plan: &'a Plan,
    threads: &'a Threads,
    bound: &'a Vouched,
}

impl Setup<'_> {
    /// The size of a quick run or of a full run.
    fn size<T>(&self, quick: T, full: T) -> T {
        if self.case.is_quick {
            quick
        } else {
            full
        }
    }

    fn measure<W: Work>(&self, work: &W) -> Result<(u64, Vec<Series>)> {
        let (joins, stores) = (work::joins(work)?, ClientStores::of(self.case.name));
        let mut entrants = Vec::new();
        for &threads in self.threads.counts() {
            entrants.extend(super::entrants::all_entrants(work, threads, self.bound, stores)?);
        }
        Ok((joins, measure::rounds(self.case.name, entrants, self.plan)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MILLIS_A_RUN;
    use super::*;
    use crate::bench::bound::TrustedBound;
    use crate::bench::rounds::Effort;
    use crate::bench::suite::tests::options;

    #[test]
    fn cases_have_the_names_that_plots_know() {
        let names = all(false).iter().map(|case| case.name).collect::<Vec<_>>();
        assert_eq!(
            names,
            [
                "fib-42",
                "jacobi-1024",
                "quicksort-100m",
                "matmul-1024",
                "integrate-10000",
                "knapsack-32",
                "cholesky-4000",
                "heat-4096x1024",
                "lu-1024",
                "strassen-4096",
                "fft-67m",
                "uts-t1",
                "uts-t3",
                "queens-13"
            ]
        );
    }

    #[test]
    fn differences_from_table_1_are_stated_for_programs_of_it() {
        let different: Vec<Case> = all(false).into_iter().filter(|case| case.difference().is_some()).collect();
        assert_eq!(different.len(), 5);
        assert!(different.iter().all(|case| super::super::is_of_the_paper(case.name)));
    }

    #[test]
    fn a_quick_run_has_the_same_programs() {
        for (quick, full) in all(true).iter().zip(all(false)) {
            assert_eq!(quick.name.split('-').next(), full.name.split('-').next());
            assert_ne!(quick.name, full.name);
        }
        assert_eq!(all(true).len(), all(false).len());
    }

    #[test]
    fn all_entrants_are_measured_and_engines_with_thieves_count_thefts() {
        // One round of all entrants.
        let plan = Plan::of(&options(true, &[]), Effort::exactly(1));
        let case = Case { name: "fib-10", measure: |setup| setup.measure(&Fib(10)), ..all(true)[0] };
        let (joins, series) = case.measure(&plan, &Threads::default(), &Ok(TrustedBound::published())).unwrap();
        assert_eq!(joins, 88);
        let (times, thefts): (Vec<Series>, Vec<Series>) =
            series.into_iter().partition(|series| series.unit == MILLIS_A_RUN);
        let names = |threads| -> Vec<&str> {
            times.iter().filter(|series| series.threads == threads).map(|series| series.name).collect()
        };
        let (queues, deltas) =
            (["the", "chase_lev", "asymmetric", "ff_cl", "ff_the", "thep"], ["ff_the-4", "thep-4", "thep-inf"]);
        let others = ["central", "sharing", "static", "filch-worker", "filch", "rayon"];
        assert_eq!(names(1), [&["serial"], &queues[..], &others].concat());
        assert_eq!(names(2), [&queues[..], &deltas, &others].concat());
        assert!(times.iter().all(|series| series.samples.len() == 1 && series.samples[0] > 0.0));
        let thieves: Vec<&str> = thefts.iter().map(|series| series.name).collect();
        assert_eq!(thieves.len(), 2 * (queues.len() + deltas.len()), "{thieves:?}");
        assert!(thefts.iter().all(|series| series.threads == 2 && series.samples.len() == 1));
    }
}
