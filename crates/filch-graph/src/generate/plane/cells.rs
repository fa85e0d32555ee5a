//! Points in a square, sorted into cells, and the nearest neighbours of each.

use crate::generate::edges::{purpose, reserve};
use crate::generate::stream::{self, Stream};
use crate::generate::GenerateError;
use crate::Vertex;

/// The bits of a coordinate. Coordinates are whole numbers: they are the same on every machine, and
/// squares of distances fit in 64 bits.
const BITS: u32 = 31;

pub(super) type Point = [u32; 2];

/// Returns the square of the distance of two points.
pub(super) fn distance([x, y]: Point, [other_x, other_y]: Point) -> u64 {
    let (across, down) = (u64::from(x.abs_diff(other_x)), u64::from(y.abs_diff(other_y)));
    across * across + down * down
}

/// Points in a square, sorted into cells.
pub(super) struct Cells {
    /// The number of cells per side, with about two points per cell.
    side: usize,
    /// The points in the order of their cells, row by row. A point is named by its place here.
    pub(super) points: Vec<Point>,
    /// The place of each point in the list that it came from.
    pub(super) origins: Vec<u32>,
    /// Where the points of each cell begin. One entry more than cells.
    cells: Vec<u32>,
}

/// Draws points of the square.
pub(super) fn random_points(count: usize, seed: u64) -> Result<Vec<Point>, GenerateError> {
    let mut drawn = reserve(count as u128)?;
    drawn.resize(count, [0; 2]);
    stream::in_runs(&mut drawn, &|run, _, points: &mut [Point]| {
        let mut stream = Stream::new(seed, purpose::POINTS, run);
        for point in points {
            let bits = stream.next();
            *point = [(bits >> 33) as u32, (bits as u32) >> 1];
        }
    });
    Ok(drawn)
}

impl Cells {
    /// Sorts points, of which there is at least one.
    pub(super) fn new(drawn: &[Point]) -> Result<Cells, GenerateError> {
        let side = ((drawn.len() / 2) as f64).sqrt().max(1.0) as usize;
        let count = drawn.len() as u128;
        let mut cells =
            Cells { side, points: reserve(count)?, origins: reserve(count)?, cells: vec![0; side * side + 1] };
        cells.points.resize(drawn.len(), [0; 2]);
        cells.origins.resize(drawn.len(), 0);
        for &point in drawn {
            let cell = cells.cell(point);
            cells.cells[cell] += 1;
        }
        let mut end = 0;
        for cell in &mut cells.cells {
            end += *cell;
            *cell = end;
        }
        // From the last to the first, so that each cell keeps the order of the list and its end
        // becomes its beginning.
        for (origin, &point) in drawn.iter().enumerate().rev() {
            let cell = cells.cell(point);
            cells.cells[cell] -= 1;
            let place = cells.cells[cell] as usize;
            cells.points[place] = point;
            cells.origins[place] = origin as u32;
        }
        Ok(cells)
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
    pub(super) fn nearest(&self, vertex: Vertex, count: usize, found: &mut Vec<(u64, Vertex)>) {
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
        let point = self.points[vertex as usize];
        for other in self.cells[cells + columns.start]..self.cells[cells + columns.end] {
            let candidate = (distance(point, self.points[other as usize]), other);
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

    fn random(count: usize, seed: u64) -> Cells {
        Cells::new(&random_points(count, seed).unwrap()).unwrap()
    }

    fn nearest_by_brute_force(points: &[Point], vertex: usize, count: usize) -> Vec<(u64, Vertex)> {
        let mut all: Vec<(u64, Vertex)> = (0..points.len())
            .filter(|&other| other != vertex)
            .map(|other| (distance(points[vertex], points[other]), other as Vertex))
            .collect();
        all.sort_unstable();
        all.truncate(count);
        all
    }

    #[test]
    fn the_cells_find_the_same_nearest_points_as_brute_force() {
        for (points, count) in [(2, 1), (10, 9), (300, 3), (1000, 1), (1000, 40)] {
            let cells = random(points, points as u64);
            let mut found = Vec::new();
            for vertex in 0..points {
                cells.nearest(vertex as Vertex, count, &mut found);
                assert_eq!(found, nearest_by_brute_force(&cells.points, vertex, count));
            }
        }
    }

    #[test]
    fn equal_points_and_distant_points_find_their_nearest() {
        let last = (1 << BITS) - 1;
        let mut points = vec![[0, 0]; 50];
        points.extend([[last, last], [last, 0], [0, last], [last, last - 1]]);
        let cells = Cells::new(&points).unwrap();
        let mut found = Vec::new();
        for vertex in 0..cells.points.len() {
            for count in [1, 3, 53] {
                cells.nearest(vertex as Vertex, count, &mut found);
                assert_eq!(found, nearest_by_brute_force(&cells.points, vertex, count));
            }
        }
    }

    #[test]
    fn each_point_is_in_its_cell() {
        let cells = random(10_000, 3);
        let drawn = random_points(10_000, 3).unwrap();
        let moved: Vec<Point> = cells.origins.iter().map(|&origin| drawn[origin as usize]).collect();
        assert_eq!(moved, cells.points);
        for cell in 0..cells.side * cells.side {
            for vertex in cells.cells[cell]..cells.cells[cell + 1] {
                assert_eq!(cells.cell(cells.points[vertex as usize]), cell);
            }
        }
        assert_eq!(*cells.cells.last().unwrap() as usize, cells.points.len());
    }
}
