//! Square matrices that a recursion divides into quadrants.
//!
//! A matrix is stored quadrant by quadrant, recursively, down to leaves that are stored row by row.
//! A quadrant is therefore a slice, and tasks that write different quadrants need only
//! `split_at_mut`.

/// A block that is not divided further, stored row by row.
pub(super) type Leaf<const SIDE: usize> = [[f64; SIDE]; SIDE];

/// The side of the square of numbers that a kernel keeps in registers.
const TILE: usize = 4;

/// The quadrants of a matrix: upper left, upper right, lower left, lower right.
pub(super) fn quadrants(matrix: &[f64]) -> [&[f64]; 4] {
    let (upper, lower) = matrix.split_at(matrix.len() / 2);
    let (upper_left, upper_right) = upper.split_at(upper.len() / 2);
    let (lower_left, lower_right) = lower.split_at(lower.len() / 2);
    [upper_left, upper_right, lower_left, lower_right]
}

/// The quadrants of a matrix, mutable.
pub(super) fn quadrants_mut(matrix: &mut [f64]) -> [&mut [f64]; 4] {
    let (upper, lower) = matrix.split_at_mut(matrix.len() / 2);
    let (upper_left, upper_right) = upper.split_at_mut(upper.len() / 2);
    let (lower_left, lower_right) = lower.split_at_mut(lower.len() / 2);
    [upper_left, upper_right, lower_left, lower_right]
}

/// The matrix as a single leaf.
pub(super) fn leaf<const SIDE: usize>(matrix: &[f64]) -> &Leaf<SIDE> {
    matrix.as_chunks().0.try_into().expect("a matrix of one leaf")
}

/// The matrix as a single leaf, mutable.
pub(super) fn leaf_mut<const SIDE: usize>(matrix: &mut [f64]) -> &mut Leaf<SIDE> {
    matrix.as_chunks_mut().0.try_into().expect("a matrix of one leaf")
}

/// Builds a matrix from its entries by row and column.
///
/// Its side is that of a leaf, doubled any number of times.
pub(super) fn matrix<const SIDE: usize>(side: usize, entry: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    assert!(
        side.is_multiple_of(SIDE) && (side / SIDE).is_power_of_two(),
        "side {side} is not {SIDE} times a power of two"
    );
    let mut numbers = vec![0.0; side * side];
    for (index, block) in numbers.chunks_exact_mut(SIDE * SIDE).enumerate() {
        let (first_row, first_column) = corner::<SIDE>(index);
        for (row, numbers) in leaf_mut::<SIDE>(block).iter_mut().enumerate() {
            for (column, number) in numbers.iter_mut().enumerate() {
                *number = entry(first_row + row, first_column + column);
            }
        }
    }
    numbers
}

/// The product of a part of a matrix and a vector.
///
/// `part` gets the row, the column and the value of each entry and returns the value to use.
pub(super) fn times<const SIDE: usize>(matrix: &[f64], vector: &[f64], part: fn(usize, usize, f64) -> f64) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    for (index, block) in matrix.chunks_exact(SIDE * SIDE).enumerate() {
        let (first_row, first_column) = corner::<SIDE>(index);
        for (row, numbers) in (first_row..).zip(leaf::<SIDE>(block)) {
            product[row] += (first_column..)
                .zip(numbers)
                .zip(&vector[first_column..])
                .map(|((column, &number), factor)| part(row, column, number) * factor)
                .sum::<f64>();
        }
    }
    product
}

/// Selects the whole matrix.
pub(super) fn all(_row: usize, _column: usize, number: f64) -> f64 {
    number
}

/// The first row and column of the leaf that is stored at `index`.
///
/// The bits of the index belong alternately to the row and the column.
fn corner<const SIDE: usize>(index: usize) -> (usize, usize) {
    let every_other = |bits: usize| (0..usize::BITS / 2).map(|bit| (bits >> (2 * bit) & 1) << bit).sum::<usize>();
    (every_other(index >> 1) * SIDE, every_other(index) * SIDE)
}

/// Computes `target = left * right`.
#[inline(never)]
pub(super) fn set_to_product<const SIDE: usize>(target: &mut Leaf<SIDE>, left: &Leaf<SIDE>, right: &Leaf<SIDE>) {
    for_each_tile(target, left, right, |number, sum| *number = sum);
}

/// Computes `target += left * right`.
#[inline(never)]
pub(super) fn add_product<const SIDE: usize>(target: &mut Leaf<SIDE>, left: &Leaf<SIDE>, right: &Leaf<SIDE>) {
    for_each_tile(target, left, right, |number, sum| *number += sum);
}

/// Computes `target -= left * right`.
#[inline(never)]
pub(super) fn subtract_product<const SIDE: usize>(target: &mut Leaf<SIDE>, left: &Leaf<SIDE>, right: &Leaf<SIDE>) {
    for_each_tile(target, left, right, |number, sum| *number -= sum);
}

/// Replaces the block with the X of `X * upper = block`, row by row.
///
/// The numbers below the diagonal of `upper` do not matter.
#[inline(never)]
pub(super) fn solve_upper<const SIDE: usize>(block: &mut Leaf<SIDE>, upper: &Leaf<SIDE>) {
    for row in block {
        for (pivot, above) in upper.iter().enumerate() {
            let factor = row[pivot] / above[pivot];
            row[pivot] = factor;
            for (number, above) in row[pivot + 1..].iter_mut().zip(&above[pivot + 1..]) {
                *number -= factor * above;
            }
        }
    }
}

/// Computes the product tile by tile.
///
/// Each number of the target is read and written once. Each of the others is used several times
/// while it is in a register.
#[inline(always)]
fn for_each_tile<const SIDE: usize>(
    target: &mut Leaf<SIDE>,
    left: &Leaf<SIDE>,
    right: &Leaf<SIDE>,
    store: impl Fn(&mut f64, f64),
) {
    const { assert!(SIDE.is_multiple_of(TILE)) };
    for (target, left) in target.as_chunks_mut::<TILE>().0.iter_mut().zip(left.as_chunks::<TILE>().0) {
        for tile in 0..SIDE / TILE {
            let mut sums = [[0.0; TILE]; TILE];
            for (k, right) in right.iter().enumerate() {
                let right = &right.as_chunks::<TILE>().0[tile];
                for (sums, left) in sums.iter_mut().zip(left) {
                    for (sum, right) in sums.iter_mut().zip(right) {
                        *sum += left[k] * right;
                    }
                }
            }
            for (target, sums) in target.iter_mut().zip(&sums) {
                for (number, &sum) in target.as_chunks_mut::<TILE>().0[tile].iter_mut().zip(sums) {
                    store(number, sum);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadrant_is_stored_in_one_piece() {
        let numbers = matrix::<4>(16, &|row, column| (100 * row + column) as f64);
        let [upper_left, upper_right, lower_left, lower_right] = quadrants(&numbers);
        assert_eq!(upper_left, matrix::<4>(8, &|row, column| (100 * row + column) as f64));
        assert_eq!(upper_right, matrix::<4>(8, &|row, column| (100 * row + column + 8) as f64));
        assert_eq!(lower_left, matrix::<4>(8, &|row, column| (100 * (row + 8) + column) as f64));
        assert_eq!(lower_right, matrix::<4>(8, &|row, column| (100 * (row + 8) + column + 8) as f64));
        assert_eq!(leaf::<4>(&upper_right[..16])[1], [108.0, 109.0, 110.0, 111.0]);
        assert_eq!(quadrants_mut(&mut numbers.clone()), quadrants(&numbers));
    }

    #[test]
    fn a_vector_is_multiplied_by_the_rows() {
        let numbers = matrix::<4>(8, &|row, column| (10 * row + column) as f64);
        let vector: Vec<f64> = (0..8).map(|index| f64::from(index % 3)).collect();
        let row = |row: u32| (0..8).map(|column| f64::from((10 * row + column) * (column % 3))).sum::<f64>();
        assert_eq!(times::<4>(&numbers, &vector, all), (0..8).map(row).collect::<Vec<f64>>());
        let diagonal = times::<4>(&numbers, &vector, |row, column, number| if row == column { number } else { 0.0 });
        assert_eq!(diagonal, (0..8).map(|row| f64::from(11 * row * (row % 3))).collect::<Vec<f64>>());
    }

    #[test]
    fn products_of_leaves_are_those_of_the_definition() {
        let left: Leaf<8> = std::array::from_fn(|row| std::array::from_fn(|column| (3 * row + column) as f64));
        let right: Leaf<8> = std::array::from_fn(|row| std::array::from_fn(|column| (row * column % 5) as f64));
        let by_definition = |row: usize, column: usize| (0..8).map(|k| left[row][k] * right[k][column]).sum::<f64>();
        type Kernel = fn(&mut Leaf<8>, &Leaf<8>, &Leaf<8>);
        let kernels: [(Kernel, f64, f64); 3] =
            [(set_to_product, 0.0, 1.0), (add_product, 1.0, 1.0), (subtract_product, 1.0, -1.0)];
        for (kernel, kept, sign) in kernels {
            let mut target = [[7.0; 8]; 8];
            kernel(&mut target, &left, &right);
            for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
                assert_eq!(target[row][column], kept * 7.0 + sign * by_definition(row, column));
            }
        }
    }
}
