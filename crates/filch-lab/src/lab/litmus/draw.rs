//! Draws the heat map of figure 8.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::plan::alpha;
use super::Point;
use crate::chart::{Chart, HeatMap};
use crate::figures::grouped;

/// Returns the heat map: the share of incorrect runs at each point.
///
/// The x axis is the most pops that S stores can hide, the y axis is delta. Points that coincide,
/// of several numbers of stores or placements, are merged.
fn heat_map(supposed: usize, points: &[Point]) -> Chart {
    let mut cells = BTreeMap::<(u32, u32), (u64, u64)>::new();
    // Points far above the line matter only for the verdict. They would make the rest too small to
    // see.
    for point in points.iter().filter(|point| point.delta <= supposed + supposed / 4) {
        let (x, y) = (alpha(supposed, point.stores), point.delta);
        let cell = cells.entry((x as u32, y as u32)).or_default();
        *cell = (cell.0 + point.incorrect, cell.1 + point.runs);
    }
    let share = |((x, y), (incorrect, runs)): ((u32, u32), (u64, u64))| (x, y, incorrect as f64 / runs.max(1) as f64);
    Chart::HeatMap(HeatMap {
        x_axis: format!("most hidden pops, ceil({supposed} / (L + 1))"),
        y_axis: "delta".to_owned(),
        cells: cells.into_iter().map(share).collect(),
        diagonal: true,
    })
}

/// Draws the heat map to a file.
pub(super) fn write(path: &Path, supposed: usize, points: &[Point], cpu: &str) -> Result<()> {
    let title = format!("Litmus test of TSO[{supposed}]: on and above the line no run should be incorrect");
    let (runs, incorrect) = points.iter().fold((0, 0), |sum, point| (sum.0 + point.runs, sum.1 + point.incorrect));
    let (runs, incorrect) = (grouped(runs as usize), grouped(incorrect as usize));
    let subtitle = format!("{cpu}: {runs} runs, {incorrect} incorrect");
    crate::chart::write(path, &heat_map(supposed, points), &title, &subtitle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::Placement;

    #[test]
    fn points_that_coincide_are_merged() {
        let point = |stores, delta, placement, incorrect| Point { stores, delta, placement, runs: 10, incorrect };
        let points = [
            // Both have at most three hidden pops.
            point(32, 2, Placement::Unpinned, 4),
            point(35, 2, Placement::DifferentCores, 1),
            point(1, 37, Placement::Unpinned, 0),
            point(1, 250, Placement::Unpinned, 0),
        ];
        let Chart::HeatMap(map) = heat_map(73, &points) else { panic!("not a heat map") };
        assert_eq!(map.cells, [(3, 2, 0.25), (37, 37, 0.0)]);
        assert!(map.diagonal);
    }
}
