//! The programs that only this suite has, one file each.
//!
//! The others are among the [workloads](crate::bench::work).

mod blocks;
mod cholesky;
mod fft;
mod heat;
mod integrate;
mod jacobi;
mod knapsack;
mod lu;
mod matmul;
mod strassen;
mod uts;
mod vectors;

pub(crate) use cholesky::Cholesky;
pub(crate) use fft::Fft;
pub(crate) use heat::Heat;
pub(crate) use integrate::Integrate;
pub(crate) use jacobi::Jacobi;
pub(crate) use knapsack::Knapsack;
pub(crate) use lu::Lu;
pub(crate) use matmul::Matmul;
pub(crate) use strassen::Strassen;
pub(crate) use uts::Uts;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::faulty::{assert_rejects, Doubling, Losing};

    #[test]
    fn lost_jobs_are_an_error_in_every_program() {
        assert_rejects::<Losing, _>(&Cholesky::new(400));
        assert_rejects::<Losing, _>(&Fft::new(12));
        assert_rejects::<Losing, _>(&Heat::new(64));
        assert_rejects::<Losing, _>(&Integrate::new(10));
        assert_rejects::<Losing, _>(&Jacobi::new(32));
        assert_rejects::<Losing, _>(&Knapsack::new(12));
        assert_rejects::<Losing, _>(&Lu::new(64));
        assert_rejects::<Losing, _>(&Matmul::new(64));
        assert_rejects::<Losing, _>(&Strassen::new(128));
        assert_rejects::<Losing, _>(&Uts::small_t1());
        assert_rejects::<Losing, _>(&Uts::small_t3());
    }

    /// In other programs a job that runs again finds the same result. [`Coarse`] sees it in heat,
    /// jacobi and strassen. In integrate, knapsack and uts, whose joins must not count anything while
    /// they are timed, only the warm-up of each pool sees it.
    ///
    /// [`Coarse`]: super::super::coarse::Coarse
    #[test]
    fn jobs_that_run_twice_are_an_error_in_programs_that_update_numbers() {
        assert_rejects::<Doubling, _>(&Cholesky::new(400));
        assert_rejects::<Doubling, _>(&Fft::new(14));
        assert_rejects::<Doubling, _>(&Lu::new(64));
        assert_rejects::<Doubling, _>(&Matmul::new(64));
    }
}
