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
