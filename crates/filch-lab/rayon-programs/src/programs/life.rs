//! Conway's game of life on a torus.
//!
//! Each generation is a parallel iterator over the rows, called from outside the pool.

use rayon::prelude::*;

use super::Program;
use crate::clock::{checksum, timed};
use crate::random::Random;

/// Runs a square of that width for `generations` generations.
pub(crate) fn program(width: usize, generations: u64) -> Program {
    let mut random = Random::new(3);
    let first: Vec<u8> = (0..width * width).map(|_| u8::from(random.below(3) == 0)).collect();
    let (mut cells, mut next) = (first.clone(), first.clone());
    Box::new(move || {
        cells.copy_from_slice(&first);
        let (cells, next) = (&mut cells, &mut next);
        let run_generations = move || {
            for _ in 0..generations {
                generation(cells, next, width);
                std::mem::swap(cells, next);
            }
            cells
        };
        timed(generations, run_generations, |cells| checksum(cells.iter().map(|&cell| u64::from(cell))))
    })
}

fn generation(cells: &[u8], next: &mut [u8], width: usize) {
    let row = |number: usize| &cells[number % width * width..][..width];
    next.par_chunks_mut(width).enumerate().for_each(|(number, next)| {
        next_row([row(number + width - 1), row(number), row(number + 1)], next);
    });
}

/// Computes a row from the rows above, at and below its place.
fn next_row(rows: [&[u8]; 3], next: &mut [u8]) {
    let column = |place: usize| rows[0][place] + rows[1][place] + rows[2][place];
    let width = next.len();
    let (mut left, mut here) = (column(width - 1), column(0));
    for place in 0..width {
        let right = column(if place + 1 == width { 0 } else { place + 1 });
        // The cell itself is one of the nine.
        let nine = left + here + right;
        next[place] = u8::from(nine == 3 || (nine == 4 && rows[1][place] == 1));
        (left, here) = (here, right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glider_moves_by_one_cell_in_four_generations() {
        let glider = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
        let cells = |offset: usize| {
            let mut cells = vec![0; 64];
            for (row, column) in glider {
                cells[(row + offset) % 8 * 8 + (column + offset) % 8] = 1;
            }
            cells
        };
        // Far enough to cross the edge.
        for offset in 0..8 {
            let (mut now, mut next) = (cells(offset), vec![0; 64]);
            for _ in 0..4 {
                generation(&now, &mut next, 8);
                std::mem::swap(&mut now, &mut next);
            }
            assert_eq!(now, cells(offset + 1));
        }
    }
}
