//! Programs that keep many workers busy on any machine.
//!
//! Their leaves may sleep instead of compute.
//!
//! A leaf is a closure, so that a measurement can sleep in it and a test can count it.

use crate::bench::contenders::Tasks;

/// The work of a program at each of its leaves.
type Leaf<'a> = &'a (dyn Fn() + Sync);

/// The number of leaves in the tree of a task of [`Shape::Scopes`].
const TREE: usize = 8;

/// The number of tasks in a scope of [`Shape::NestedScopes`].
const TASKS: usize = 4;

/// How a program divides its leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Joins of two equal halves.
    Balanced,
    /// Joins whose second half has a third of the leaves of the first.
    Skewed,
    /// A chain of joins, each of one leaf and the rest of the chain.
    ///
    /// The leaf is alternately the second half and the first half.
    Comb,
    /// A scope whose tasks are balanced trees of joins.
    Scopes,
    /// Scopes whose tasks open scopes, down to one leaf per task.
    NestedScopes,
    /// A join of a worklist and a balanced tree, with half of the leaves each.
    Explore,
}

impl Shape {
    /// All shapes, in the order in which they are measured.
    pub(crate) const ALL: [Shape; 6] =
        [Shape::Balanced, Shape::Skewed, Shape::Comb, Shape::Scopes, Shape::NestedScopes, Shape::Explore];

    /// The name of its case.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Shape::Balanced => "wide-balanced",
            Shape::Skewed => "wide-skewed",
            Shape::Comb => "wide-comb",
            Shape::Scopes => "wide-scopes",
            Shape::NestedScopes => "wide-nested-scopes",
            Shape::Explore => "wide-explore",
        }
    }

    /// Runs `leaf` once for each of `leaves` leaves. The calling thread must be a worker.
    pub(crate) fn run<F: Tasks>(self, leaves: usize, leaf: Leaf<'_>) {
        match self {
            Shape::Balanced => balanced::<F>(leaves, leaf),
            Shape::Skewed => tree::<F>(leaves, three_quarters, leaf),
            Shape::Comb => comb::<F>(leaves, leaf),
            Shape::Scopes => scopes::<F>(leaves, leaf),
            Shape::NestedScopes => nested_scopes::<F>(leaves, leaf),
            Shape::Explore => explore::<F>(leaves, leaf),
        }
    }
}

fn balanced<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    tree::<F>(leaves, |leaves| leaves / 2, leaf);
}

/// A binary tree of joins.
///
/// `first` returns how many of two or more leaves are in the first half.
fn tree<F: Tasks>(leaves: usize, first: fn(usize) -> usize, leaf: Leaf<'_>) {
    match leaves {
        0 => {}
        1 => leaf(),
        _ => {
            let half = first(leaves);
            F::join((), |()| tree::<F>(half, first, leaf), |()| tree::<F>(leaves - half, first, leaf));
        }
    }
}

/// The number of leaves in the first half of a skewed tree. There are two or more leaves.
fn three_quarters(leaves: usize) -> usize {
    leaves - (leaves / 4).max(1)
}

fn comb<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    match leaves {
        0 => {}
        1 => leaf(),
        _ if leaves.is_multiple_of(2) => {
            F::join((), |()| comb::<F>(leaves - 1, leaf), |()| leaf());
        }
        _ => {
            F::join((), |()| leaf(), |()| comb::<F>(leaves - 1, leaf));
        }
    }
}

fn scopes<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    F::scope(|scope| {
        for start in (0..leaves).step_by(TREE) {
            F::spawn(scope, move |_| balanced::<F>(TREE.min(leaves - start), leaf));
        }
    });
}

fn nested_scopes<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    if leaves <= 1 {
        return balanced::<F>(leaves, leaf);
    }
    F::scope(|scope| {
        let tasks = TASKS.min(leaves);
        for index in 0..tasks {
            // If the number of tasks does not divide the leaves, the first tasks have one leaf
            // more.
            let share = leaves / tasks + usize::from(index < leaves % tasks);
            F::spawn(scope, move |_| nested_scopes::<F>(share, leaf));
        }
    });
}

fn explore<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    let listed = leaves / 2;
    F::join((), |()| worklist::<F>(listed, leaf), |()| balanced::<F>(leaves - listed, leaf));
}

/// A worklist whose tasks are numbered as in a binary heap.
///
/// Each task pushes its children before it runs its own leaf.
fn worklist<F: Tasks>(leaves: usize, leaf: Leaf<'_>) {
    if leaves == 0 {
        return;
    }
    F::worklist(0, |task, push| {
        (2 * task + 1..=2 * task + 2).filter(|child| *child < leaves).for_each(push);
        leaf();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::bench::contenders::{Contender, Filch, FilchAny, Rayon};

    fn counts<C: Contender<Fork: Tasks>>() {
        let pool = C::pool(3).unwrap();
        for shape in Shape::ALL {
            for leaves in [0, 1, 2, 3, 5, 8, 13, 16, 96] {
                let count = AtomicUsize::new(0);
                let leaf = || {
                    count.fetch_add(1, Ordering::Relaxed);
                };
                C::enter(&pool, |_| shape.run::<C::Fork>(leaves, &leaf));
                assert_eq!(count.into_inner(), leaves, "{}, {}", C::NAME, shape.name());
            }
        }
    }

    #[test]
    fn every_shape_runs_the_given_number_of_leaves() {
        counts::<Filch>();
        counts::<FilchAny>();
        counts::<Rayon>();
    }

    #[test]
    fn the_second_half_of_a_skewed_tree_is_a_third_of_the_first_and_never_empty() {
        assert_eq!(three_quarters(96), 72);
        for leaves in 2..100 {
            assert!((1..leaves).contains(&three_quarters(leaves)), "{leaves}");
        }
    }
}
