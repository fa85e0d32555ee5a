//! The tree of quadrants, and the recursion that factorises it.

use super::super::blocks::{self, Leaf};
use crate::bench::contenders::Fork;

/// The side of a block at the end of a branch.
pub(super) const SIDE: usize = 16;

/// A square part of a matrix.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// All zeros.
    Empty,
    /// A block with all its numbers stored.
    Leaf(Box<Leaf<SIDE>>),
    /// The quadrants: upper left, upper right, lower left, lower right.
    Node(Box<[Tree; 4]>),
}

use Tree::{Empty, Node};

impl Tree {
    /// Sets a number of a part with `side` rows.
    pub(super) fn set(&mut self, side: usize, row: usize, column: usize, number: f64) {
        if side == SIDE {
            self.leaf()[row][column] = number;
        } else {
            let half = side / 2;
            let quadrant = 2 * usize::from(row >= half) + usize::from(column >= half);
            self.node()[quadrant].set(half, row % half, column % half, number);
        }
    }

    /// Its block. An empty part becomes a block of zeros.
    fn leaf(&mut self) -> &mut Leaf<SIDE> {
        if let Empty = self {
            *self = Tree::Leaf(Box::new([[0.0; SIDE]; SIDE]));
        }
        match self {
            Tree::Leaf(block) => block,
            _ => unreachable!("a branch ends too late"),
        }
    }

    /// Its quadrants. An empty part gets empty quadrants.
    fn node(&mut self) -> &mut [Tree; 4] {
        if let Empty = self {
            *self = Node(Box::new([Empty, Empty, Empty, Empty]));
        }
        match self {
            Node(quadrants) => quadrants,
            _ => unreachable!("a branch ends too early"),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Empty)
    }

    /// Adds the product of the tree and a vector to `product`.
    pub(super) fn times(&self, vector: &[f64], product: &mut [f64]) {
        match self {
            Empty => {}
            Tree::Leaf(block) => {
                for (row, product) in block.iter().zip(product) {
                    *product += row.iter().zip(vector).map(|(number, factor)| number * factor).sum::<f64>();
                }
            }
            Node(quadrants) => {
                let (left, right) = vector.split_at(vector.len() / 2);
                let (above, below) = product.split_at_mut(product.len() / 2);
                quadrants[0].times(left, above);
                quadrants[1].times(right, above);
                quadrants[2].times(left, below);
                quadrants[3].times(right, below);
            }
        }
    }

    /// Adds the product of the tree's transpose and a vector to `product`.
    pub(super) fn times_mirrored(&self, vector: &[f64], product: &mut [f64]) {
        match self {
            Empty => {}
            Tree::Leaf(block) => {
                for (row, factor) in block.iter().zip(vector) {
                    for (number, product) in row.iter().zip(product.iter_mut()) {
                        *product += number * factor;
                    }
                }
            }
            Node(quadrants) => {
                let (left, right) = vector.split_at(vector.len() / 2);
                let (above, below) = product.split_at_mut(product.len() / 2);
                quadrants[0].times_mirrored(left, above);
                quadrants[1].times_mirrored(left, below);
                quadrants[2].times_mirrored(right, above);
                quadrants[3].times_mirrored(right, below);
            }
        }
    }
}

/// Replaces the matrix with its triangle. Only the lower half of the matrix is stored.
pub(super) fn factorise<F: Fork>(mut context: F::Context<'_>, matrix: &mut Tree) {
    match matrix {
        Empty => {}
        Tree::Leaf(block) => factorise_leaf(block),
        Node(quadrants) => {
            let [upper_left, _, lower_left, lower_right] = &mut **quadrants;
            factorise::<F>(F::reborrow(&mut context), upper_left);
            solve::<F>(F::reborrow(&mut context), lower_left, upper_left);
            subtract_product::<F>(F::reborrow(&mut context), lower_right, lower_left, lower_left, Half::Lower);
            factorise::<F>(context, lower_right);
        }
    }
}

/// Replaces the matrix with the X of `X * transposed triangle = matrix`.
///
/// The upper half of the rows does not depend on the lower half.
fn solve<F: Fork>(context: F::Context<'_>, matrix: &mut Tree, triangle: &Tree) {
    fn row<F: Fork>(mut context: F::Context<'_>, left: &mut Tree, right: &mut Tree, triangle: &[Tree; 4]) {
        let [upper_left, _, lower_left, lower_right] = triangle;
        solve::<F>(F::reborrow(&mut context), left, upper_left);
        subtract_product::<F>(F::reborrow(&mut context), right, left, lower_left, Half::Both);
        solve::<F>(context, right, lower_right);
    }

    match (matrix, triangle) {
        (Tree::Leaf(block), Tree::Leaf(triangle)) => solve_leaf(block, triangle),
        (Node(quadrants), Node(triangle)) => {
            let [upper_left, upper_right, lower_left, lower_right] = &mut **quadrants;
            F::join(
                context,
                |context| row::<F>(context, upper_left, upper_right, triangle),
                |context| row::<F>(context, lower_left, lower_right, triangle),
            );
        }
        _ => {}
    }
}

/// The side of the diagonal to compute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Lower,
    Both,
}

/// Computes `target -= left * transposed right`.
///
/// Each quadrant of the product is the sum of two products.
fn subtract_product<F: Fork>(context: F::Context<'_>, target: &mut Tree, left: &Tree, right: &Tree, half: Half) {
    fn quadrant<F: Fork>(
        mut context: F::Context<'_>,
        target: &mut Tree,
        left: [&Tree; 2],
        right: [&Tree; 2],
        half: Half,
    ) {
        subtract_product::<F>(F::reborrow(&mut context), target, left[0], right[0], half);
        subtract_product::<F>(context, target, left[1], right[1], half);
    }

    match (left, right) {
        (Tree::Leaf(left), Tree::Leaf(right)) => subtract_product_leaf(target.leaf(), left, right),
        (Node(left), Node(right)) => {
            let quadrants = target.node();
            let [upper_left, upper_right, lower_left, lower_right] = quadrants;
            let [a, b, c, d] = &**left;
            let [e, f, g, h] = &**right;
            F::join(
                context,
                |context| {
                    F::join(
                        context,
                        |context| quadrant::<F>(context, upper_left, [a, b], [e, f], half),
                        |context| quadrant::<F>(context, lower_right, [c, d], [g, h], half),
                    )
                },
                |mut context| {
                    if half == Half::Lower {
                        return quadrant::<F>(context, lower_left, [c, d], [e, f], Half::Both);
                    }
                    F::join(
                        F::reborrow(&mut context),
                        |context| quadrant::<F>(context, lower_left, [c, d], [e, f], half),
                        |context| quadrant::<F>(context, upper_right, [a, b], [g, h], half),
                    );
                },
            );
            // The nonzero numbers of each factor may have met only zeros of the other.
            if quadrants.iter().all(Tree::is_empty) {
                *target = Empty;
            }
        }
        _ => {}
    }
}

#[inline(never)]
fn factorise_leaf(block: &mut Leaf<SIDE>) {
    for row in 0..SIDE {
        let (above, rest) = block.split_at_mut(row);
        let this = &mut rest[0];
        for (column, above) in above.iter().enumerate() {
            let known: f64 = this[..column].iter().zip(above).map(|(left, right)| left * right).sum();
            this[column] = (this[column] - known) / above[column];
        }
        let known: f64 = this[..row].iter().map(|number| number * number).sum();
        this[row] = (this[row] - known).sqrt();
        this[row + 1..].fill(0.0);
    }
}

#[inline(never)]
fn solve_leaf(block: &mut Leaf<SIDE>, triangle: &Leaf<SIDE>) {
    blocks::solve_upper(block, &mirrored(triangle));
}

#[inline(never)]
fn subtract_product_leaf(target: &mut Leaf<SIDE>, left: &Leaf<SIDE>, right: &Leaf<SIDE>) {
    blocks::subtract_product(target, left, &mirrored(right));
}

fn mirrored(block: &Leaf<SIDE>) -> Leaf<SIDE> {
    std::array::from_fn(|row| std::array::from_fn(|column| block[column][row]))
}
