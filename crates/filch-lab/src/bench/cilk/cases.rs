//! The cases: a program and its size.

use std::fmt;

use anyhow::Result;

use super::bound::TrustedBound;
use super::coarse::Coarse;
use super::measure::{self, Plan};
use super::programs::{Cholesky, Fft, Heat, Integrate, Jacobi, Knapsack, Lu, Matmul, Strassen, Uts};
use crate::bench::thread_counts;
use crate::bench::work::{self, Fib, Queens, Quicksort, Work};
use crate::figures::Series;

/// A program and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A Fibonacci number by its definition.
    Fib(u32),
    /// A mesh with this many cells on each side.
    Jacobi(usize),
    /// This many random numbers.
    Quicksort(u64),
    /// Two matrices with this many rows.
    Matmul(usize),
    /// The area under a curve from 0 to this point.
    Integrate(u32),
    /// This many items.
    Knapsack(usize),
    /// A sparse matrix with this many rows.
    Cholesky(usize),
    /// A plate with this many rows, and a quarter as many columns.
    Heat(usize),
    /// A matrix with this many rows.
    Lu(usize),
    /// Two matrices with this many rows.
    Strassen(usize),
    /// A signal of two to this power numbers.
    Fft(u32),
    /// The sample tree T1 of the unbalanced tree search.
    UtsT1,
    /// A tree like T1, but smaller.
    SmallUtsT1,
    /// The sample tree T3.
    UtsT3,
    /// A tree like T3, but smaller.
    SmallUtsT3,
    /// All ways to place this many queens.
    Queens(u32),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Case::Fib(n) => write!(f, "fib-{n}"),
            Case::Jacobi(side) => write!(f, "jacobi-{side}"),
            Case::Quicksort(len) if len % 1_000_000 == 0 => write!(f, "quicksort-{}m", len / 1_000_000),
            Case::Quicksort(len) => write!(f, "quicksort-{}k", len / 1_000),
            Case::Matmul(side) => write!(f, "matmul-{side}"),
            Case::Integrate(to) => write!(f, "integrate-{to}"),
            Case::Knapsack(items) => write!(f, "knapsack-{items}"),
            Case::Cholesky(rows) => write!(f, "cholesky-{rows}"),
            Case::Heat(rows) => write!(f, "heat-{rows}x{}", rows / 4),
            Case::Lu(side) => write!(f, "lu-{side}"),
            Case::Strassen(side) => write!(f, "strassen-{side}"),
            Case::Fft(bits @ ..20) => write!(f, "fft-{}k", (1_u64 << bits) / 1_000),
            Case::Fft(bits) => write!(f, "fft-{}m", (1_u64 << bits) / 1_000_000),
            Case::UtsT1 => f.write_str("uts-t1"),
            Case::SmallUtsT1 => f.write_str("uts-t1-small"),
            Case::UtsT3 => f.write_str("uts-t3"),
            Case::SmallUtsT3 => f.write_str("uts-t3-small"),
            Case::Queens(n) => write!(f, "queens-{n}"),
        }
    }
}

impl Case {
    /// A description of the case.
    pub(super) fn description(self) -> &'static str {
        match self {
            Case::Fib(_) => "a Fibonacci number by its definition: nothing but joins",
            Case::Jacobi(_) => "a mesh whose cells become the mean of their neighbours, over and over",
            Case::Quicksort(_) => "a sort of random numbers, with joins down to 32 of them",
            Case::Matmul(_) => "a product of matrices, halved along the longest side",
            Case::Integrate(_) => "the area under a curve, halved until the sum no longer changes",
            Case::Knapsack(_) => "branch and bound, with an item or without",
            Case::Cholesky(_) => "the Cholesky factor of a sparse matrix, as a tree of blocks",
            Case::Heat(_) => "heat that spreads on a plate, step by step",
            Case::Lu(_) => "a matrix as a product of triangles, halved down to blocks",
            Case::Strassen(_) => "a product of matrices by seven products of a quarter the size",
            Case::Fft(_) => "a fast Fourier transform, halved down to short ones",
            Case::UtsT1 | Case::SmallUtsT1 => "a wide tree that cannot be divided evenly in advance",
            Case::UtsT3 | Case::SmallUtsT3 => "a deep tree that cannot be divided evenly in advance",
            Case::Queens(_) => "all ways to place queens, a join wherever a row offers a choice",
        }
    }

    /// Measures the case, with 1 thread and with `threads`. Returns the number of joins as well.
    pub(super) fn measure(
        self,
        plan: &Plan,
        threads: usize,
        bound: Option<&TrustedBound>,
    ) -> Result<(u64, Vec<Series>)> {
        let setup = Setup { case: self, plan, threads, bound };
        match self {
            Case::Fib(n) => setup.measure(&Fib(n)),
            Case::Jacobi(side) => setup.measure(&Coarse(Jacobi::new(side))),
            Case::Quicksort(len) => setup.measure(&Coarse(Quicksort::new(len))),
            Case::Matmul(side) => setup.measure(&Coarse(Matmul::new(side))),
            Case::Integrate(to) => setup.measure(&Integrate::new(to)),
            Case::Knapsack(items) => setup.measure(&Knapsack::new(items)),
            Case::Cholesky(rows) => setup.measure(&Coarse(Cholesky::new(rows))),
            Case::Heat(rows) => setup.measure(&Coarse(Heat::new(rows))),
            Case::Lu(side) => setup.measure(&Coarse(Lu::new(side))),
            Case::Strassen(side) => setup.measure(&Coarse(Strassen::new(side))),
            Case::Fft(bits) => setup.measure(&Coarse(Fft::new(bits))),
            Case::UtsT1 => setup.measure(&Uts::t1()),
            Case::SmallUtsT1 => setup.measure(&Uts::small_t1()),
            Case::UtsT3 => setup.measure(&Uts::t3()),
            Case::SmallUtsT3 => setup.measure(&Uts::small_t3()),
            Case::Queens(n) => setup.measure(&Queens(n)),
        }
    }
}

/// All cases, in the order in which they are measured and printed.
///
/// The programs of table 1 come first, in its order.
pub(super) fn all(quick: bool) -> Vec<Case> {
    let of = |small: Case, large: Case| if quick { small } else { large };
    vec![
        of(Case::Fib(30), Case::Fib(42)),
        of(Case::Jacobi(Jacobi::QUICK), Case::Jacobi(Jacobi::FULL)),
        of(Case::Quicksort(100_000), Case::Quicksort(100_000_000)),
        of(Case::Matmul(Matmul::QUICK), Case::Matmul(Matmul::FULL)),
        of(Case::Integrate(Integrate::QUICK), Case::Integrate(Integrate::FULL)),
        of(Case::Knapsack(Knapsack::QUICK), Case::Knapsack(Knapsack::FULL)),
        of(Case::Cholesky(Cholesky::QUICK), Case::Cholesky(Cholesky::FULL)),
        of(Case::Heat(Heat::QUICK), Case::Heat(Heat::FULL)),
        of(Case::Lu(Lu::QUICK), Case::Lu(Lu::FULL)),
        of(Case::Strassen(Strassen::QUICK), Case::Strassen(Strassen::FULL)),
        of(Case::Fft(Fft::QUICK), Case::Fft(Fft::FULL)),
        of(Case::SmallUtsT1, Case::UtsT1),
        of(Case::SmallUtsT3, Case::UtsT3),
        of(Case::Queens(11), Case::Queens(13)),
    ]
}

/// The setup of a case's measurement.
struct Setup<'a> {
    case: Case,
    plan: &'a Plan,
    threads: usize,
    bound: Option<&'a TrustedBound>,
}

impl Setup<'_> {
    fn measure<W: Work>(&self, work: &W) -> Result<(u64, Vec<Series>)> {
        let joins = work::joins(work)?;
        let mut entrants = Vec::new();
        for threads in thread_counts(self.threads) {
            entrants.extend(super::entrants::all_entrants(work, threads, self.bound)?);
        }
        Ok((joins, measure::rounds(&self.case.to_string(), entrants, self.plan)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MILLIS_A_RUN;
    use super::*;
    use crate::bench::rounds::Effort;
    use crate::bench::suite::tests::options;

    #[test]
    fn cases_have_the_names_that_plots_know() {
        let names: Vec<String> = all(false).iter().map(Case::to_string).collect();
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
    fn a_quick_run_has_the_same_programs() {
        let program = |case: &Case| case.to_string().split('-').next().map(str::to_owned);
        let programs = |quick| all(quick).iter().map(program).collect::<Vec<_>>();
        assert_eq!(programs(true), programs(false));
        assert_eq!(all(true).iter().filter(|case| all(false).contains(case)).count(), 0);
    }

    #[test]
    fn all_entrants_are_measured_and_engines_with_thieves_count_thefts() {
        // One round of all entrants.
        let plan = Plan::of(&options(true, &[]), Effort::exactly(1));
        let (joins, series) = Case::Fib(10).measure(&plan, 2, Some(&TrustedBound::default())).unwrap();
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
