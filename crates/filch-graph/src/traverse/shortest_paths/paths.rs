//! The result: distances, and a tree of shortest paths.

use super::super::{Effort, NO_PARENT};
use crate::{Tree, Vertex, WeightedGraph};

/// The shortest distance of each vertex from the nearest root.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortestPaths {
    /// Infinite if there is no path.
    distances: Box<[f64]>,
    /// Each root once.
    roots: Vec<Vertex>,
    width: f64,
    visits: u64,
    effort: Effort,
}

impl ShortestPaths {
    pub(crate) fn new(
        distances: Box<[f64]>,
        roots: Vec<Vertex>,
        width: f64,
        visits: u64,
        effort: Effort,
    ) -> ShortestPaths {
        ShortestPaths { distances, roots, width, visits, effort }
    }

    /// Returns the length of a shortest path to this vertex: the sum of its weights. `None` if
    /// there is no path, or if the search was stopped before it found the distance for certain.
    ///
    /// Weights are added in the order of the path, as `f64`. Whole weights are exact up to 2⁵³.
    pub fn of(&self, vertex: Vertex) -> Option<f64> {
        self.distances.get(vertex as usize).copied().filter(|distance| distance.is_finite())
    }

    /// Returns the number of vertices with a distance: all reachable ones, unless the search was
    /// stopped.
    pub fn reached(&self) -> usize {
        self.distances.iter().filter(|distance| distance.is_finite()).count()
    }

    /// Returns the first of the farthest vertices and its distance.
    ///
    /// `None` if there were no roots. Looks at vertices with a distance only, as
    /// [`reached`](ShortestPaths::reached).
    pub fn farthest(&self) -> Option<(Vertex, f64)> {
        let reached =
            (0..self.distances.len() as Vertex).filter_map(|vertex| self.of(vertex).map(|distance| (vertex, distance)));
        reached.reduce(|far, next| if next.1 > far.1 { next } else { far })
    }

    /// Returns a tree of shortest paths, one for each root, found in one pass over the arcs.
    ///
    /// The parent of a vertex is the vertex before it on a shortest path: its distance and the
    /// weight of the arc add up to the distance of the vertex. Of several, it is the first that is
    /// nearer to a root, if there is one.
    ///
    /// The tree of a search that was stopped has the vertices whose distance is known, and the
    /// [ending](Effort::ending) of the search.
    ///
    /// ```
    /// use filch::explore::Explore;
    /// use filch_graph::{shortest_paths, BucketWidth, WeightedGraph};
    ///
    /// let roads = WeightedGraph::directed(3, &[(0, 1, 9), (0, 2, 3), (2, 1, 4)])?;
    /// let paths = shortest_paths(&roads, [0], BucketWidth::automatic(), Explore::at_least_once());
    /// assert_eq!(paths.tree(&roads).path_to(1), Some(vec![0, 2, 1]));
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the graph has another number of vertices than the one that was searched.
    pub fn tree(&self, graph: &WeightedGraph) -> Tree {
        assert_eq!(graph.vertices(), self.distances.len(), "the paths are of another graph");
        let mut parents = vec![NO_PARENT; self.distances.len()].into_boxed_slice();
        for &root in &self.roots {
            parents[root as usize] = root;
        }
        let is_last = |from: Vertex, to: Vertex, weight: f64| {
            self.distances[from as usize] + weight == self.distances[to as usize]
                && self.distances[to as usize].is_finite()
        };
        // A parent that is nearer to a root. Such parents form no cycle.
        let mut level = Vec::new();
        for (from, to, weight) in graph.iter() {
            if parents[to as usize] == NO_PARENT
                && self.distances[from as usize] < self.distances[to as usize]
                && is_last(from, to, weight)
            {
                parents[to as usize] = from;
            } else if self.distances[from as usize] == self.distances[to as usize] && is_last(from, to, weight) {
                // An arc without length, or with one that is lost in rounding.
                if level.last() != Some(&from) {
                    level.push(from);
                }
            }
        }
        self.add_at_equal_distance(graph, &mut parents, level);
        Tree::new(parents, self.roots.clone(), |_| Effort::uncounted(self.effort.ending()))
    }

    /// Gives a parent to vertices whose possible parents are all at their own distance. They are
    /// found from those of the given vertices that have a parent.
    fn add_at_equal_distance(&self, graph: &WeightedGraph, parents: &mut [Vertex], starts: Vec<Vertex>) {
        let mut stack = Vec::new();
        for start in starts {
            if parents[start as usize] != NO_PARENT {
                stack.push(start);
            }
            while let Some(from) = stack.pop() {
                let distance = self.distances[from as usize];
                for (to, weight) in graph.neighbours(from) {
                    let is_equal = self.distances[to as usize] == distance && distance + weight == distance;
                    if is_equal && parents[to as usize] == NO_PARENT {
                        parents[to as usize] = from;
                        stack.push(to);
                    }
                }
            }
        }
    }

    /// Returns the width of a bucket: the one that was set, or that was chosen. 0 if the distances are
    /// those of [`serial`](crate::serial).
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Returns how often the arcs of a vertex were looked at.
    ///
    /// At least the number of [reached](ShortestPaths::reached) vertices, if the search is
    /// complete. The rest are visits of vertices to which a shorter path was found later.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Returns the effort of the search. A task is a part of a bucket.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: eight per vertex.
    ///
    /// During the search, the buckets came on top: sixteen bytes for each vertex in one, and as much
    /// again where a list had room to grow. A vertex is in a bucket once for each time that its
    /// distance was lowered. A bucket that is left keeps its memory for a later one until the search
    /// ends. On a random graph with a million vertices and three million edges the buckets took
    /// about 20 bytes for each vertex on one worker, and 32 on two.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.distances)
    }
}
