//! The roots of unity that spectra are multiplied by before they are added.

use std::f64::consts::TAU;

use super::complex::Complex;

/// The number of consecutive roots of a level in a table.
///
/// The others are these, rotated by a root of a second table. Otherwise the tables of the largest
/// transform would take as much memory as its numbers.
pub(super) const RUN: usize = 1 << 10;

/// The root for `turns / len` of a full turn to the left.
pub(super) fn root_of_unity(turns: usize, len: usize) -> Complex {
    let (im, re) = (TAU * (turns % len) as f64 / len as f64).sin_cos();
    Complex { re, im }
}

/// The roots of all transforms up to a size.
#[derive(Debug)]
pub(super) struct Twiddles {
    levels: Vec<Level>,
}

/// The roots of the transforms of one size. All turn to the right.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The roots for the second, third and fourth quarter, from the first number on.
    pub(super) near: [Vec<Complex>; 3],
    /// The rotations of `near` for the numbers of each run.
    pub(super) far: Vec<[Complex; 3]>,
}

impl Twiddles {
    /// The roots of transforms of up to two to the power of `bits` numbers.
    pub(super) fn new(bits: u32) -> Twiddles {
        Twiddles { levels: (0..=bits).map(Level::new).collect() }
    }

    /// The roots of transforms of `len` numbers, a power of two.
    pub(super) fn of(&self, len: usize) -> &Level {
        &self.levels[len.trailing_zeros() as usize]
    }
}

impl Level {
    fn new(bits: u32) -> Level {
        let len = 1 << bits;
        let right = |turns: usize| root_of_unity(len - turns % len, len);
        let quarter = len / 4;
        let near = [1, 2, 3].map(|which| (0..quarter.min(RUN)).map(|index| right(which * index)).collect());
        let far = (0..quarter.div_ceil(RUN)).map(|run| [1, 2, 3].map(|which| right(which * run * RUN))).collect();
        Level { near, far }
    }
}
