//! Heat diffusion on a plate whose border is kept at given temperatures.
//!
//! In each step, every point moves towards its four neighbours.

use std::f64::consts::PI;

use anyhow::{ensure, Result};

use crate::bench::contenders::Fork;
use crate::bench::work::Work;

/// The number of rows that a task computes.
const GRAIN: usize = 8;

/// The share of a difference between neighbours that a step removes.
const FLOW: f64 = 0.2;

/// The number of half waves from side to side.
///
/// The last is cut off, so that no border is all zero.
const HALF_WAVES: f64 = 20.5;

/// A plate that starts as a wave along both sides.
///
/// Every step leaves the same shape, lower by a known factor. The exact temperatures are therefore
/// known at all times, for the border and for the check.
#[derive(Debug)]
pub(crate) struct Heat {
    rows: usize,
    columns: usize,
    steps: usize,
    down: Vec<f64>,
    across: Vec<f64>,
    decay: f64,
}

impl Heat {
    /// The number of steps: as many as take about a second.
    pub(crate) const STEPS: usize = 100;

    /// A plate with `rows` rows, at least twelve, and a quarter as many columns.
    pub(crate) fn new(rows: usize) -> Heat {
        Heat::shaped(rows, rows / 4, Heat::STEPS)
    }

    fn shaped(rows: usize, columns: usize, steps: usize) -> Heat {
        assert!(rows >= 3 && columns >= 3, "a plate of {rows} rows and {columns} columns has no inner points");
        let phase = |len: usize| HALF_WAVES * PI / (len - 1) as f64;
        let wave = |len: usize| (0..len).map(|place| (phase(len) * place as f64).sin()).collect();
        // Twice a wave minus its two neighbours is the wave again, times this.
        let bend = |len: usize| 4.0 * (phase(len) / 2.0).sin().powi(2);
        let decay = 1.0 - FLOW * (bend(rows) + bend(columns));
        Heat { rows, columns, steps, down: wave(rows), across: wave(columns), decay }
    }

    /// The exact temperatures after `steps` steps.
    fn after(&self, steps: usize) -> impl Iterator<Item = f64> + '_ {
        let left = self.decay.powi(steps as i32);
        self.down.iter().flat_map(move |down| self.across.iter().map(move |across| left * down * across))
    }
}

/// The temperatures, and memory for those of the next step.
#[derive(Debug)]
pub(crate) struct Plates {
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Work for Heat {
    type Input = Plates;
    type Answer = Vec<f64>;

    /// Points that are never written stay NaN.
    fn input(&self) -> Plates {
        Plates { now: self.after(0).collect(), next: vec![f64::NAN; self.rows * self.columns] }
    }

    fn run<F: Fork>(&self, mut context: F::Context<'_>, Plates { mut now, mut next }: Plates) -> Vec<f64> {
        for step in 1..=self.steps {
            let step = Step { heat: self, now: &now, left: self.decay.powi(step as i32) };
            step.advance::<F>(F::reborrow(&mut context), 0, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
        now
    }

    fn check(&self, answer: &Vec<f64>) -> Result<()> {
        ensure!(answer.len() == self.rows * self.columns, "there are {} points on the plate", answer.len());
        for (place, (&found, expected)) in answer.iter().zip(self.after(self.steps)).enumerate() {
            let (row, column) = (place / self.columns, place % self.columns);
            ensure!(
                (found - expected).abs() <= 1e-12,
                "the temperature in row {row}, column {column} is {found} instead of {expected}"
            );
        }
        Ok(())
    }
}

/// A step of the whole plate.
struct Step<'a> {
    heat: &'a Heat,
    now: &'a [f64],
    /// The factor by which the first temperatures have decayed after this step.
    left: f64,
}

impl Step<'_> {
    /// Computes the rows from `first` on, as many as `next` has room for.
    fn advance<F: Fork>(&self, context: F::Context<'_>, first: usize, next: &mut [f64]) {
        let rows = next.len() / self.heat.columns;
        if rows <= GRAIN {
            return self.advance_few(first, next);
        }
        let half = rows / 2;
        let (above, below) = next.split_at_mut(half * self.heat.columns);
        F::join(
            context,
            |context| self.advance::<F>(context, first, above),
            |context| self.advance::<F>(context, first + half, below),
        );
    }

    #[inline(never)]
    fn advance_few(&self, first: usize, next: &mut [f64]) {
        let Heat { rows, columns, ref down, ref across, .. } = *self.heat;
        for (row, next) in (first..).zip(next.chunks_exact_mut(columns)) {
            let border = self.left * down[row];
            if row == 0 || row == rows - 1 {
                for (point, across) in next.iter_mut().zip(across) {
                    *point = border * across;
                }
                continue;
            }
            let now = |row: usize| &self.now[row * columns..][..columns];
            flow(next, now(row - 1), now(row), now(row + 1));
            next[0] = border * across[0];
            next[columns - 1] = border * across[columns - 1];
        }
    }
}

/// Computes a row without its ends.
#[inline(never)]
fn flow(next: &mut [f64], above: &[f64], here: &[f64], below: &[f64]) {
    let inner = next.len() - 2;
    let (next, above, below) = (&mut next[1..][..inner], &above[1..][..inner], &below[1..][..inner]);
    let (left, here, right) = (&here[..inner], &here[1..][..inner], &here[2..][..inner]);
    for i in 0..inner {
        next[i] = here[i] * (1.0 - 4.0 * FLOW) + FLOW * ((above[i] + below[i]) + (left[i] + right[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_find_the_temperatures() {
        for (rows, columns, steps) in [(3, 3, 5), (8, 40, 3), (33, 7, 4), (100, 90, 0), (100, 90, 1)] {
            all_contenders_agree_on(&Heat::shaped(rows, columns, steps));
        }
    }

    #[test]
    fn the_plate_of_table_1_is_four_times_as_long_as_wide() {
        let Heat { rows, columns, .. } = Heat::new(4096);
        assert_eq!((rows, columns), (4096, 1024));
    }

    #[test]
    fn a_step_divides_the_rows() {
        assert_eq!(joins(&Heat::shaped(8, 10, 3)).unwrap(), 0);
        assert_eq!(joins(&Heat::shaped(32, 10, 3)).unwrap(), 3 * 3);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Heat::shaped(20, 30, 4);
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        assert!(work.check(&answer[1..].to_vec()).is_err());
        // The answer has one step too few.
        assert!(Heat::shaped(20, 30, 5).check(&answer).is_err());
        for wrong in [0, 45, 599] {
            let mut answer = answer.clone();
            answer[wrong] += 1e-9;
            assert!(work.check(&answer).is_err());
            answer[wrong] = f64::NAN;
            assert!(work.check(&answer).is_err());
        }
    }
}
