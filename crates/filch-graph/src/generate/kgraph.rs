//! The k-graphs of the paper: each vertex joined to its k nearest.
//!
//! The paper calls them geometric and k-regular and gives them k = 3. It does not say how their
//! vertices are numbered. Here neighbours have numbers near each other: on the ring by
//! construction, in the plane because the points are numbered cell by cell, row by row. So a visit
//! finds most of its neighbours in the cache, where the cost of the queue shows most. A
//! [`Recipe`](super::Recipe) with `shuffled` numbers them at random instead.

use super::connect::{connect_edges, PreviousVertex};
use super::edges::{check_vertices, purpose, reserve, Edges};
use super::stream::{self, Stream};
use super::GenerateError;
use crate::{Graph, Vertex};

/// Vertices on a ring, each joined to its `neighbours` nearest.
///
/// If `neighbours` is even, half of them are on either side. If it is odd, the last neighbour is
/// one of two that are equally far: ahead for half the vertices and behind for the other half, so
/// that each vertex still has the same number. If the length of the ring is no multiple of
/// `neighbours + 1`, fewer than that many vertices at its end have one neighbour less.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number, or not more of them than neighbours.
pub fn kgraph_ring(vertices: usize, neighbours: usize) -> Result<Graph, GenerateError> {
    ring_edges(vertices, neighbours)?.build()
}

pub(super) fn ring_edges(vertices: usize, neighbours: usize) -> Result<Edges, GenerateError> {
    let vertices = check(vertices, neighbours)?;
    let half = neighbours / 2;
    let expected = vertices as u128 * neighbours.div_ceil(2) as u128;
    Edges::by_vertex(vertices, expected, |range, edges| {
        for vertex in range {
            let ahead = |far: usize| ((vertex + far) % vertices) as Vertex;
            edges.extend((1..=half).map(|far| (vertex as Vertex, ahead(far))));
            // In each block of twice that distance, the first half is joined to the second.
            let far = half + 1;
            if neighbours % 2 == 1 && vertex % (2 * far) < far && vertex + far < vertices {
                edges.push((vertex as Vertex, ahead(far)));
            }
        }
    })
}

/// Random points in a square, each joined to its `neighbours` nearest, and made connected.
///
/// An edge is there if either of its ends has the other among its nearest, so most vertices have a
/// few more neighbours than that. Components that are not connected then are joined by the fewest
/// edges, each to the vertex with the number before, which is near.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number, or not more of them than neighbours.
pub fn kgraph_plane(vertices: usize, neighbours: usize, seed: u64) -> Result<Graph, GenerateError> {
    plane_edges(vertices, neighbours, seed)?.build()
}

pub(super) fn plane_edges(vertices: usize, neighbours: usize, seed: u64) -> Result<Edges, GenerateError> {
    let vertices = check(vertices, neighbours)?;
    let mut edges = if neighbours == 0 {
        Edges { vertices, list: Vec::new() }
    } else {
        let mut nearest = reserve(vertices as u128 * neighbours as u128)?;
        nearest.resize(vertices * neighbours, 0);
        let plane = Plane::random(vertices, seed)?;
        stream::split(&mut nearest, 0, neighbours * 1024, &|first, nearest: &mut [Vertex]| {
            let mut found = Vec::with_capacity(neighbours + 1);
            for (at, nearest) in nearest.chunks_exact_mut(neighbours).enumerate() {
                plane.nearest((first / neighbours + at) as Vertex, neighbours, &mut found);
                nearest.iter_mut().zip(&found).for_each(|(nearest, (_, vertex))| *nearest = *vertex);
            }
        });
        let of = |vertex: Vertex| &nearest[vertex as usize * neighbours..][..neighbours];
        Edges::by_vertex(vertices, nearest.len() as u128, |range, edges| {
            for vertex in range.start as Vertex..range.end as Vertex {
                // An edge that both ends found belongs to the smaller one.
                let mine = of(vertex).iter().filter(|&&near| vertex < near || !of(near).contains(&vertex));
                edges.extend(mine.map(|&near| (vertex, near)));
            }
        })?
    };
    connect_edges(&mut edges, PreviousVertex);
    Ok(edges)
}

pub(super) fn check(vertices: usize, neighbours: usize) -> Result<usize, GenerateError> {
    let vertices = check_vertices(vertices as u128)?;
    match neighbours < vertices {
        true => Ok(vertices),
        false => Err(GenerateError::TooManyNeighbours { neighbours, vertices }),
    }
}

/// The bits of a coordinate. Coordinates are whole numbers: they are the same on every machine, and
/// squares of distances fit in 64 bits.
const BITS: u32 = 31;

type Point = [u32; 2];

/// Points in a square, sorted into cells.
struct Plane {
    /// The number of cells per side, with about two points per cell.
    side: usize,
    /// The points in the order of their cells, row by row. The place of a point is the number of
    /// its vertex.
    points: Vec<Point>,
    /// Where the points of each cell begin. One entry more than cells.
    cells: Vec<u32>,
}

impl Plane {
    fn random(count: usize, seed: u64) -> Result<Plane, GenerateError> {
        let mut drawn = reserve(count as u128)?;
        drawn.resize(count, [0; 2]);
        stream::in_runs(&mut drawn, &|run, _, points: &mut [Point]| {
            let mut stream = Stream::new(seed, purpose::POINTS, run);
            for point in points {
                let bits = stream.next();
                *point = [(bits >> 33) as u32, (bits as u32) >> 1];
            }
        });
        Plane::from_points(drawn)
    }

    fn from_points(drawn: Vec<Point>) -> Result<Plane, GenerateError> {
        let side = ((drawn.len() / 2) as f64).sqrt().max(1.0) as usize;
        let mut plane = Plane { side, points: reserve(drawn.len() as u128)?, cells: vec![0; side * side + 1] };
        plane.points.resize(drawn.len(), [0; 2]);
        for &point in &drawn {
            let cell = plane.cell(point);
            plane.cells[cell] += 1;
        }
        let mut end = 0;
        for cell in &mut plane.cells {
            end += *cell;
            *cell = end;
        }
        // From the last to the first, so that each cell keeps the order of the draw and its end
        // becomes its beginning.
        for &point in drawn.iter().rev() {
            let cell = plane.cell(point);
            plane.cells[cell] -= 1;
            plane.points[plane.cells[cell] as usize] = point;
        }
        Ok(plane)
    }

    fn cell(&self, [x, y]: Point) -> usize {
        self.line(y) * self.side + self.line(x)
    }

    /// Returns the row or column of cells of a coordinate.
    fn line(&self, coordinate: u32) -> usize {
        ((u64::from(coordinate) * self.side as u64) >> BITS) as usize
    }

    /// Returns the first coordinate of a row or column.
    fn edge(&self, line: usize) -> u64 {
        ((line as u64) << BITS).div_ceil(self.side as u64)
    }

    /// Finds the `count` nearest of a vertex with the squares of their distances, nearest first. Of
    /// two equally far vertices, the one with the smaller number counts as nearer.
    fn nearest(&self, vertex: Vertex, count: usize, found: &mut Vec<(u64, Vertex)>) {
        found.clear();
        let [x, y] = self.points[vertex as usize];
        let (column, row) = (self.line(x), self.line(y));
        for far in 0..=self.side {
            let lines = |line: usize| line.saturating_sub(far)..(line + far + 1).min(self.side);
            let (columns, rows) = (lines(column), lines(row));
            for other in rows.clone() {
                // The new cells of this round: whole rows above and below, and otherwise the two
                // ends.
                if other.abs_diff(row) == far {
                    self.scan_cells(vertex, other, columns.clone(), count, found);
                } else {
                    let ends = [column.checked_sub(far), Some(column + far).filter(|&end| end < self.side)];
                    for end in ends.into_iter().flatten() {
                        self.scan_cells(vertex, other, end..end + 1, count, found);
                    }
                }
            }
            // Points not looked at are beyond one of the four sides, unless that is the end of the
            // square.
            let gap = |at: u32, lines: &std::ops::Range<usize>| {
                let before = (lines.start > 0).then(|| u64::from(at) - self.edge(lines.start) + 1);
                let after = (lines.end < self.side).then(|| self.edge(lines.end) - u64::from(at));
                before.unwrap_or(u64::MAX).min(after.unwrap_or(u64::MAX))
            };
            let gap = gap(x, &columns).min(gap(y, &rows));
            if gap == u64::MAX || (found.len() == count && found[count - 1].0 < gap * gap) {
                return;
            }
        }
    }

    /// Adds the nearest points of a row of cells.
    fn scan_cells(
        &self,
        vertex: Vertex,
        row: usize,
        columns: std::ops::Range<usize>,
        count: usize,
        found: &mut Vec<(u64, Vertex)>,
    ) {
        let cells = row * self.side;
        let [x, y] = self.points[vertex as usize];
        for other in self.cells[cells + columns.start]..self.cells[cells + columns.end] {
            let [other_x, other_y] = self.points[other as usize];
            let (across, down) = (u64::from(x.abs_diff(other_x)), u64::from(y.abs_diff(other_y)));
            let candidate = (across * across + down * down, other);
            if other == vertex || (found.len() == count && candidate > found[count - 1]) {
                continue;
            }
            found.truncate(count - 1);
            let place = found.partition_point(|near| *near < candidate);
            found.insert(place, candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_by_brute_force(points: &[Point], vertex: usize, count: usize) -> Vec<(u64, Vertex)> {
        let mut all: Vec<(u64, Vertex)> = (0..points.len())
            .filter(|&other| other != vertex)
            .map(|other| {
                let [across, down] = [0, 1].map(|axis| u64::from(points[vertex][axis].abs_diff(points[other][axis])));
                (across * across + down * down, other as Vertex)
            })
            .collect();
        all.sort_unstable();
        all.truncate(count);
        all
    }

    #[test]
    fn the_cells_find_the_same_nearest_points_as_brute_force() {
        for (points, count) in [(2, 1), (10, 9), (300, 3), (1000, 1), (1000, 40)] {
            let plane = Plane::random(points, points as u64).unwrap();
            let mut found = Vec::new();
            for vertex in 0..points {
                plane.nearest(vertex as Vertex, count, &mut found);
                assert_eq!(found, nearest_by_brute_force(&plane.points, vertex, count));
            }
        }
    }

    #[test]
    fn equal_points_and_distant_points_find_their_nearest() {
        let last = (1 << BITS) - 1;
        let mut points = vec![[0, 0]; 50];
        points.extend([[last, last], [last, 0], [0, last], [last, last - 1]]);
        let plane = Plane::from_points(points).unwrap();
        let mut found = Vec::new();
        for vertex in 0..plane.points.len() {
            for count in [1, 3, 53] {
                plane.nearest(vertex as Vertex, count, &mut found);
                assert_eq!(found, nearest_by_brute_force(&plane.points, vertex, count));
            }
        }
    }

    #[test]
    fn each_point_is_in_its_cell() {
        let plane = Plane::random(10_000, 3).unwrap();
        for cell in 0..plane.side * plane.side {
            for vertex in plane.cells[cell]..plane.cells[cell + 1] {
                assert_eq!(plane.cell(plane.points[vertex as usize]), cell);
            }
        }
        assert_eq!(*plane.cells.last().unwrap() as usize, plane.points.len());
    }
}
