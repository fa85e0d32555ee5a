//! Iterative mesh relaxation.
//!
//! Each sweep replaces every cell of a square mesh by the mean of its four neighbours.

use std::f64::consts::PI;
use std::mem;

use anyhow::{bail, ensure, Result};

use crate::bench::contenders::Fork;
use crate::bench::work::Work;

/// The largest number of rows that one leaf relaxes.
const GRAIN: usize = 8;

/// The largest distance of a cell from its exact value.
///
/// The only error is rounding, and sweeps do not add it up.
const TOLERANCE: f64 = 1e-12;

/// A square mesh with a fixed border.
#[derive(Debug)]
pub(crate) struct Jacobi {
    side: usize,
    sweeps: u32,
    start: Vec<f64>,
    expected: Vec<f64>,
}

impl Jacobi {
    /// The number of sweeps over a mesh.
    pub(crate) const SWEEPS: u32 = 100;

    /// A mesh of `side` by `side` cells within its border.
    pub(crate) fn new(side: usize) -> Jacobi {
        Jacobi::swept(side, Jacobi::SWEEPS)
    }

    fn swept(side: usize, sweeps: u32) -> Jacobi {
        Jacobi { side, sweeps, start: mesh(side, 0), expected: mesh(side, sweeps) }
    }
}

/// The exact mesh after `sweeps` sweeps, including its border.
///
/// It is a saddle with three waves on top. The mean of four neighbours on a saddle is the saddle,
/// so the saddle does not change. Every wave that is zero on the border keeps its shape and is
/// scaled by a factor of its own. One of the waves is as short as the mesh allows: it changes its
/// sign with every sweep, so a cell that missed a sweep has the wrong sign.
fn mesh(side: usize, sweeps: u32) -> Vec<f64> {
    let width = side + 2;
    let angle = |steps: usize| PI * steps as f64 / (side + 1) as f64;
    let waves: Vec<(f64, Vec<f64>, Vec<f64>)> = [(1, 2), (5, 3), (side, side)]
        .into_iter()
        .map(|(down, across)| {
            let factor = angle(down).cos().midpoint(angle(across).cos());
            let profile = |crests: usize| (0..width).map(|cell| angle(crests * cell).sin()).collect();
            (factor.powi(sweeps as i32), profile(down), profile(across))
        })
        .collect();
    let mut mesh = Vec::with_capacity(width * width);
    for row in 0..width {
        for column in 0..width {
            let saddle = (row * column) as f64 / (width * width) as f64;
            let wave: f64 = waves.iter().map(|(scale, down, across)| scale * down[row] * across[column]).sum();
            mesh.push(saddle + wave);
        }
    }
    mesh
}

impl Work for Jacobi {
    /// A mesh, and another with the same border as the target of a sweep.
    type Input = [Vec<f64>; 2];
    type Answer = Vec<f64>;

    fn input(&self) -> [Vec<f64>; 2] {
        [self.start.clone(), self.start.clone()]
    }

    fn run<F: Fork>(&self, mut context: F::Context<'_>, [mut from, mut to]: [Vec<f64>; 2]) -> Vec<f64> {
        let width = self.side + 2;
        let inner = width..width * (width - 1);
        for _ in 0..self.sweeps {
            sweep::<F>(F::reborrow(&mut context), width, &from, &mut to[inner.clone()]);
            mem::swap(&mut from, &mut to);
        }
        from
    }

    fn check(&self, answer: &Vec<f64>) -> Result<()> {
        ensure!(answer.len() == self.expected.len(), "the mesh has {} cells", answer.len());
        let wrong = answer.iter().zip(&self.expected).position(|(cell, expected)| {
            let distance = (cell - expected).abs();
            distance > TOLERANCE || distance.is_nan()
        });
        if let Some(place) = wrong {
            let (row, column) = (place / (self.side + 2), place % (self.side + 2));
            bail!("row {row}, column {column} of the mesh is {}, not {}", answer[place], self.expected[place]);
        }
        Ok(())
    }
}

/// Relaxes the rows `to`. `from` has the same rows, plus the one above and the one below.
fn sweep<F: Fork>(context: F::Context<'_>, width: usize, from: &[f64], to: &mut [f64]) {
    let rows = to.len() / width;
    if rows <= GRAIN {
        return relax(width, from, to);
    }
    let middle = rows / 2 * width;
    let (upper, lower) = to.split_at_mut(middle);
    let (from_upper, from_lower) = (&from[..middle + 2 * width], &from[middle..]);
    F::join(
        context,
        move |context| sweep::<F>(context, width, from_upper, upper),
        move |context| sweep::<F>(context, width, from_lower, lower),
    );
}

/// Relaxes a few rows. One function for all contenders.
#[inline(never)]
fn relax(width: usize, from: &[f64], to: &mut [f64]) {
    for (row, to) in to.chunks_exact_mut(width).enumerate() {
        let from = &from[row * width..][..3 * width];
        let (above, here, below) = (&from[..width], &from[width..2 * width], &from[2 * width..]);
        let vertical = above[1..width - 1].iter().zip(&below[1..width - 1]);
        let horizontal = here[..width - 2].iter().zip(&here[2..]);
        for ((cell, (above, below)), (left, right)) in to[1..width - 1].iter_mut().zip(vertical).zip(horizontal) {
            *cell = 0.25 * (above + below + left + right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_relax_alike() {
        for (side, sweeps) in [(1, 1), (GRAIN, 2), (GRAIN + 1, 3), (40, 11)] {
            all_contenders_agree_on(&Jacobi::swept(side, sweeps));
        }
    }

    #[test]
    fn a_cell_becomes_the_mean_of_its_neighbours() {
        let from = [0., 1., 0., 2., 9., 3., 0., 4., 0.];
        let mut to = [2., 9., 3.];
        relax(3, &from, &mut to);
        assert_eq!(to, [2., 2.5, 3.]);
    }

    #[test]
    fn every_sweep_joins_down_to_the_grain() {
        assert_eq!(joins(&Jacobi::swept(GRAIN, 5)).unwrap(), 0);
        assert_eq!(joins(&Jacobi::swept(8 * GRAIN, 5)).unwrap(), 5 * 7);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Jacobi::swept(20, 10);
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        assert!(work.check(&work.start).is_err());
        assert!(work.check(&answer[1..].to_vec()).is_err());
        for wrong in [f64::NAN, answer[210] + 1e-9] {
            let mut answer = answer.clone();
            answer[210] = wrong;
            assert!(work.check(&answer).is_err());
        }
        let one_sweep_less = Jacobi { sweeps: 9, ..Jacobi::swept(20, 10) };
        assert!(work.check(&one_sweep_less.run::<Serial>((), one_sweep_less.input())).is_err());
    }
}
