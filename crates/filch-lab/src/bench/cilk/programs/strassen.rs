//! Strassen's matrix multiplication in Winograd's form.
//!
//! It needs seven products of quadrants instead of eight, and fifteen sums.

use anyhow::{Context as _, Result};

use super::blocks::{self, leaf, leaf_mut, quadrants, quadrants_mut};
use super::vectors::{ensure_same, random_vector};
use crate::bench::contenders::Fork;
use crate::bench::random::fraction;
use crate::bench::work::Work;

/// The side of a block that is multiplied directly.
const SIDE: usize = 32;

/// The largest number of entries of a matrix that is multiplied by the definition.
///
/// Sums of smaller matrices would cost more than the eighth product. It is also the number of
/// entries of a sum that one task adds.
const SMALL: usize = 64 * 64;

/// Two matrices to multiply.
#[derive(Debug)]
pub(crate) struct Strassen {
    side: usize,
    small: usize,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Strassen {
    /// Matrices with `side` rows: 32, doubled any number of times.
    pub(crate) fn new(side: usize) -> Strassen {
        Strassen::down_to(side, SMALL)
    }

    fn down_to(side: usize, small: usize) -> Strassen {
        let random = |seed: u64| {
            let entry = move |row: usize, column: usize| 2.0 * fraction(seed + (row * side + column) as u64) - 1.0;
            blocks::matrix::<SIDE>(side, &entry)
        };
        Strassen { side, small, left: random(0), right: random(1 << 32) }
    }
}

impl Work for Strassen {
    type Input = Vec<f64>;
    type Answer = Vec<f64>;

    /// Memory for the product. Numbers that are never written stay NaN.
    fn input(&self) -> Vec<f64> {
        vec![f64::NAN; self.side * self.side]
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut product: Vec<f64>) -> Vec<f64> {
        multiply::<F>(context, &mut product, &self.left, &self.right, self.small);
        product
    }

    /// Freivalds' check: multiplies both sides by a random vector.
    ///
    /// A product that is right for a random vector is right with near certainty.
    fn check(&self, answer: &Vec<f64>) -> Result<()> {
        let times = |matrix: &[f64], vector: &[f64]| blocks::times::<SIDE>(matrix, vector, blocks::all);
        let vector = random_vector(2, self.side);
        let expected = times(&self.left, &times(&self.right, &vector));
        ensure_same(&times(answer, &vector), &expected, 1e-10).context("the product is wrong")
    }
}

/// Computes `product = left * right`.
fn multiply<F: Fork>(mut context: F::Context<'_>, product: &mut [f64], left: &[f64], right: &[f64], small: usize) {
    if product.len() <= small {
        return multiply_small(product, left, right);
    }
    let (a, b) = (quadrants(left), quadrants(right));
    let [p1, p3, p4, p5] = quadrants_mut(product);

    let quarter = p1.len();
    let mut rest = vec![0.0; 11 * quarter];
    let mut rest = rest.chunks_exact_mut(quarter);
    let mut next = || rest.next().expect("a quarter");
    let [mut s1, mut s2, mut s3, mut s4] = [next(), next(), next(), next()];
    let [mut t1, mut t2, mut t3, mut t4] = [next(), next(), next(), next()];
    let [p2, p6, p7] = [next(), next(), next()];
    F::join(
        F::reborrow(&mut context),
        |context| in_pieces::<F, 4>(context, a, [&mut s1, &mut s2, &mut s3, &mut s4], sums_of_left, small),
        |context| in_pieces::<F, 4>(context, b, [&mut t1, &mut t2, &mut t3, &mut t4], sums_of_right, small),
    );

    let ([a11, a12, _, a22], [b11, _, b21, b22]) = (a, b);
    F::join(
        F::reborrow(&mut context),
        |context| {
            F::join(
                context,
                |context| {
                    F::join(
                        context,
                        |context| multiply::<F>(context, p1, a11, b11, small),
                        |context| multiply::<F>(context, p2, a12, b21, small),
                    )
                },
                |context| {
                    F::join(
                        context,
                        |context| multiply::<F>(context, p3, s4, b22, small),
                        |context| multiply::<F>(context, p4, a22, t4, small),
                    )
                },
            )
        },
        |context| {
            F::join(
                context,
                |context| {
                    F::join(
                        context,
                        |context| multiply::<F>(context, p5, s1, t1, small),
                        |context| multiply::<F>(context, p6, s2, t2, small),
                    )
                },
                |context| multiply::<F>(context, p7, s3, t3, small),
            )
        },
    );
    in_pieces::<F, 3>(context, [p2, p6, p7], [p1, p3, p4, p5], sums_of_products, small);
}

/// A function that reads some slices and writes sums of them to four others.
type Sums<const READ: usize> = fn([&[f64]; READ], [&mut [f64]; 4]);

/// Computes sums for the first and the second half of all slices.
fn in_pieces<F: Fork, const READ: usize>(
    context: F::Context<'_>,
    read: [&[f64]; READ],
    mut written: [&mut [f64]; 4],
    sums: Sums<READ>,
    grain: usize,
) {
    let len = read[0].len();
    if len <= grain {
        return sums(read, written);
    }
    let middle = len / 2;
    let (read_first, read_second) = (read.map(|slice| &slice[..middle]), read.map(|slice| &slice[middle..]));
    let written_first = written.each_mut().map(|slice| slice.split_off_mut(..middle).expect("half of a slice"));
    F::join(
        context,
        |context| in_pieces::<F, READ>(context, read_first, written_first, sums, grain),
        |context| in_pieces::<F, READ>(context, read_second, written, sums, grain),
    );
}

/// The first factors of the fifth, the sixth, the seventh and the third product.
#[inline(never)]
fn sums_of_left([a11, a12, a21, a22]: [&[f64]; 4], [s1, s2, s3, s4]: [&mut [f64]; 4]) {
    let len = s1.len();
    let (a11, a12, a21, a22) = (&a11[..len], &a12[..len], &a21[..len], &a22[..len]);
    let (s2, s3, s4) = (&mut s2[..len], &mut s3[..len], &mut s4[..len]);
    for i in 0..len {
        s1[i] = a21[i] + a22[i];
        s2[i] = s1[i] - a11[i];
        s3[i] = a11[i] - a21[i];
        s4[i] = a12[i] - s2[i];
    }
}

/// The second factors of the fifth, the sixth, the seventh and the fourth product.
#[inline(never)]
fn sums_of_right([b11, b12, b21, b22]: [&[f64]; 4], [t1, t2, t3, t4]: [&mut [f64]; 4]) {
    let len = t1.len();
    let (b11, b12, b21, b22) = (&b11[..len], &b12[..len], &b21[..len], &b22[..len]);
    let (t2, t3, t4) = (&mut t2[..len], &mut t3[..len], &mut t4[..len]);
    for i in 0..len {
        t1[i] = b12[i] - b11[i];
        t2[i] = b22[i] - t1[i];
        t3[i] = b22[i] - b12[i];
        t4[i] = t2[i] - b21[i];
    }
}

/// The quadrants of the product. Four of the seven products are already in their places.
#[inline(never)]
fn sums_of_products([p2, p6, p7]: [&[f64]; 3], [p1, p3, p4, p5]: [&mut [f64]; 4]) {
    let len = p1.len();
    let (p2, p6, p7) = (&p2[..len], &p6[..len], &p7[..len]);
    let (p3, p4, p5) = (&mut p3[..len], &mut p4[..len], &mut p5[..len]);
    for i in 0..len {
        let u2 = p1[i] + p6[i];
        let u3 = u2 + p7[i];
        p1[i] += p2[i];
        p3[i] += u2 + p5[i];
        p4[i] = u3 - p4[i];
        p5[i] += u3;
    }
}

/// The factors of the two terms of each quadrant of a product.
fn factors<'a>(left: &'a [f64], right: &'a [f64]) -> [[&'a [f64]; 4]; 4] {
    let [a11, a12, a21, a22] = quadrants(left);
    let [b11, b12, b21, b22] = quadrants(right);
    [[a11, b11, a12, b21], [a11, b12, a12, b22], [a21, b11, a22, b21], [a21, b12, a22, b22]]
}

/// Multiplies by the definition, quadrant by quadrant.
#[inline(never)]
fn multiply_small(product: &mut [f64], left: &[f64], right: &[f64]) {
    if product.len() == SIDE * SIDE {
        return blocks::set_to_product::<SIDE>(leaf_mut(product), leaf(left), leaf(right));
    }
    for (quadrant, [a, b, c, d]) in quadrants_mut(product).into_iter().zip(factors(left, right)) {
        multiply_small(quadrant, a, b);
        add_small(quadrant, c, d);
    }
}

/// Multiplies by the definition and adds the product to `sum`.
fn add_small(sum: &mut [f64], left: &[f64], right: &[f64]) {
    if sum.len() == SIDE * SIDE {
        return blocks::add_product::<SIDE>(leaf_mut(sum), leaf(left), leaf(right));
    }
    for (quadrant, [a, b, c, d]) in quadrants_mut(sum).into_iter().zip(factors(left, right)) {
        add_small(quadrant, a, b);
        add_small(quadrant, c, d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_multiply() {
        all_contenders_agree_on(&Strassen::new(64));
        all_contenders_agree_on(&Strassen::down_to(128, 32 * 32));
    }

    #[test]
    fn a_small_product_is_not_divided() {
        assert_eq!(joins(&Strassen::new(64)).unwrap(), 0);
        // The sums of the left and the right matrix are one join, and seven products are six.
        assert_eq!(joins(&Strassen::down_to(64, 32 * 32)).unwrap(), 1 + 6);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Strassen::new(32);
        assert!(work.check(&work.input()).is_err());
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        for wrong in [0, 500, 1023] {
            let mut answer = answer.clone();
            answer[wrong] += 1e-6;
            assert!(work.check(&answer).is_err(), "{wrong}");
        }
    }
}
