//! Graphs of a fixed form: torus, grid, star and path.

use super::edges::{check_vertices, Edges};
use super::GenerateError;
use crate::{Graph, Vertex};

/// A two-dimensional torus: a grid that wraps around in both directions.
///
/// Each vertex has four neighbours. Numbers go row by row: the vertex in column `x` of row `y` is
/// `y * width + x`, so two neighbours of four are beside it in memory. A width or height of 2 would
/// give two edges between the same vertices, and 1 a loop; those are left out.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number.
pub fn torus(width: usize, height: usize) -> Result<Graph, GenerateError> {
    torus_edges(width, height)?.build()
}

/// A two-dimensional grid, numbered row by row.
///
/// Each vertex is joined to those left, right, above and below it.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number.
pub fn grid(width: usize, height: usize) -> Result<Graph, GenerateError> {
    grid_edges(width, height)?.build()
}

/// A star: vertex 0 in the middle, joined to all others.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number.
pub fn star(vertices: usize) -> Result<Graph, GenerateError> {
    star_edges(vertices)?.build()
}

/// A path: each vertex joined to the next.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number.
pub fn path(vertices: usize) -> Result<Graph, GenerateError> {
    path_edges(vertices)?.build()
}

pub(super) fn torus_edges(width: usize, height: usize) -> Result<Edges, GenerateError> {
    // From the last of a row or column to the first, unless that is beside it already.
    rows(width, height, width > 2, height > 2)
}

pub(super) fn grid_edges(width: usize, height: usize) -> Result<Edges, GenerateError> {
    rows(width, height, false, false)
}

fn rows(width: usize, height: usize, wrap_x: bool, wrap_y: bool) -> Result<Edges, GenerateError> {
    let vertices = check_vertices(width as u128 * height as u128)?;
    Edges::by_vertex(vertices, 2 * vertices as u128, |range, edges| {
        let (mut x, mut y) = (range.start % width, range.start / width);
        for vertex in range {
            if x + 1 < width {
                edges.push((vertex as Vertex, (vertex + 1) as Vertex));
            } else if wrap_x {
                edges.push((vertex as Vertex, (vertex - x) as Vertex));
            }
            if y + 1 < height {
                edges.push((vertex as Vertex, (vertex + width) as Vertex));
            } else if wrap_y {
                edges.push((vertex as Vertex, x as Vertex));
            }
            x += 1;
            if x == width {
                (x, y) = (0, y + 1);
            }
        }
    })
}

pub(super) fn star_edges(vertices: usize) -> Result<Edges, GenerateError> {
    let vertices = check_vertices(vertices as u128)?;
    Edges::by_vertex(vertices, vertices as u128, |range, edges| {
        edges.extend(range.filter(|&leaf| leaf > 0).map(|leaf| (0, leaf as Vertex)));
    })
}

pub(super) fn path_edges(vertices: usize) -> Result<Edges, GenerateError> {
    grid_edges(vertices, 1)
}
