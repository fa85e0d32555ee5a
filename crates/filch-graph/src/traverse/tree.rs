//! Spanning trees and forests, and the check of one.

use std::fmt;

use filch::explore::Ending;

use super::Effort;
use crate::{Graph, Vertex};

/// No parent: `Vertex::MAX` is never a vertex.
pub(crate) const NONE: Vertex = Vertex::MAX;

/// A tree or a forest.
///
/// Each vertex in it has one parent, except the roots, which have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The parent of each vertex. A root has itself, and a vertex outside the tree [`NONE`].
    parents: Box<[Vertex]>,
    roots: Vec<Vertex>,
    reached: usize,
    effort: Effort,
}

impl Tree {
    pub(crate) fn new(parents: Box<[Vertex]>, roots: Vec<Vertex>, effort: impl FnOnce(u64) -> Effort) -> Tree {
        let reached = parents.iter().filter(|&&parent| parent != NONE).count();
        Tree { parents, roots, reached, effort: effort(reached as u64) }
    }

    /// Returns the tree that another program has found, to [check](Tree::check) it.
    ///
    /// `parents` has the parent of each vertex: the vertex itself for a root, and [`Vertex::MAX`]
    /// for a vertex outside the tree. The effort is that of a traversal without workers.
    ///
    /// ```
    /// use filch_graph::{generate, Tree};
    ///
    /// let path = generate::path(3)?;
    /// assert!(Tree::from_parents([0, 0, 1].into(), vec![0]).check(&path).is_ok());
    /// let error = Tree::from_parents([0, 2, 1].into(), vec![0]).check(&path).unwrap_err();
    /// assert_eq!(error.to_string(), "the parents of vertex 1 form a cycle");
    /// # Ok::<(), generate::GenerateError>(())
    /// ```
    pub fn from_parents(parents: Box<[Vertex]>, roots: Vec<Vertex>) -> Tree {
        Tree::new(parents, roots, |_| Effort::uncounted(Ending::Complete))
    }

    /// Returns the parent of a vertex. `None` if it is a root, or not in the tree.
    pub fn parent(&self, vertex: Vertex) -> Option<Vertex> {
        self.parents.get(vertex as usize).copied().filter(|&parent| parent != NONE && parent != vertex)
    }

    /// Returns whether the vertex is in the tree.
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.parents.get(vertex as usize).is_some_and(|&parent| parent != NONE)
    }

    /// Returns the vertices without a parent, one for each tree.
    pub fn roots(&self) -> &[Vertex] {
        &self.roots
    }

    /// Returns the number of vertices in the tree.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Iterates over the edges, from parent to child.
    pub fn edges(&self) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
        (0..self.parents.len() as Vertex).filter_map(|vertex| self.parent(vertex).map(|parent| (parent, vertex)))
    }

    /// Returns the vertices from a root to this one, along the edges of the tree.
    ///
    /// `None` if the vertex is not in the tree, or if a [given](Tree::from_parents) tree has no
    /// path from a root to it.
    pub fn path_to(&self, vertex: Vertex) -> Option<Vec<Vertex>> {
        let mut path = vec![vertex];
        let mut at = vertex;
        while self.contains(at) && path.len() <= self.parents.len() {
            match self.parent(at) {
                Some(parent) => at = parent,
                None => {
                    path.reverse();
                    return Some(path);
                }
            }
            path.push(at);
        }
        None
    }

    /// Returns the effort of the traversal.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: four per vertex.
    ///
    /// While the tree grew, a mark of one byte per vertex came on top, and the worklists: eight
    /// bytes for each queued vertex, each pushed once. A forest of more than one tree also took
    /// four bytes per vertex to tell the trees apart.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.parents)
    }

    /// Checks that this is a complete tree or forest of the graph.
    ///
    /// Each parent has an arc to its child, parents lead to a root, and every vertex that is
    /// reachable from the roots is in it.
    ///
    /// # Errors
    ///
    /// The first flaw.
    pub fn check(&self, graph: &Graph) -> Result<(), TreeFlaw> {
        if graph.vertices() != self.parents.len() {
            return Err(TreeFlaw::OtherGraph { tree: self.parents.len(), graph: graph.vertices() });
        }
        let mut rooted = vec![false; self.parents.len()];
        for &root in &self.roots {
            if self.parents.get(root as usize) != Some(&root) {
                return Err(TreeFlaw::RootWithParent { root });
            }
            rooted[root as usize] = true;
        }
        // An arc from each parent to its child, found in one pass over the arcs.
        let mut joined = rooted.clone();
        for (vertex, neighbours) in graph.iter() {
            for &next in neighbours {
                joined[next as usize] |= self.parent(next) == Some(vertex);
                if self.contains(vertex) && !self.contains(next) {
                    return Err(TreeFlaw::LeftOut { from: vertex, vertex: next });
                }
            }
        }
        if let Some(vertex) =
            (0..joined.len() as Vertex).find(|&vertex| self.contains(vertex) && !joined[vertex as usize])
        {
            return Err(match self.parent(vertex) {
                Some(parent) => TreeFlaw::NoArc { parent, child: vertex },
                None => TreeFlaw::UnknownRoot { vertex },
            });
        }
        // Follows each vertex's path to a root, up to a vertex that is already known to have one. A
        // path longer than the number of vertices is a cycle.
        let mut path = Vec::new();
        for vertex in 0..self.parents.len() as Vertex {
            path.clear();
            path.push(vertex);
            let mut at = vertex;
            while self.contains(at) && !rooted[at as usize] {
                at = self.parents[at as usize];
                if path.len() > self.parents.len() {
                    return Err(TreeFlaw::Cycle { vertex });
                }
                path.push(at);
            }
            if self.contains(at) {
                path.iter().for_each(|&passed| rooted[passed as usize] = true);
            } else if self.contains(vertex) {
                return Err(TreeFlaw::ParentOutside { vertex: path[path.len() - 2], parent: at });
            }
        }
        Ok(())
    }
}

/// What is wrong with a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the sentences say what the fields are")]
pub enum TreeFlaw {
    /// The tree has another number of vertices than the graph.
    OtherGraph { tree: usize, graph: usize },
    /// A root has a parent, or is not in the tree.
    RootWithParent { root: Vertex },
    /// A vertex has no parent, and is not among the roots.
    UnknownRoot { vertex: Vertex },
    /// The graph has no arc from a parent to its child.
    NoArc { parent: Vertex, child: Vertex },
    /// A parent is not in the tree itself.
    ParentOutside { vertex: Vertex, parent: Vertex },
    /// The parents form a cycle.
    Cycle { vertex: Vertex },
    /// A reachable vertex is not in the tree.
    LeftOut { from: Vertex, vertex: Vertex },
}

impl fmt::Display for TreeFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeFlaw::OtherGraph { tree, graph } => {
                write!(f, "the tree is of a graph with {tree} vertices, but this graph has {graph}")
            }
            TreeFlaw::RootWithParent { root } => {
                write!(f, "vertex {root} is listed as a root, but has a parent or is not in the tree")
            }
            TreeFlaw::UnknownRoot { vertex } => write!(f, "vertex {vertex} has no parent and is not listed as a root"),
            TreeFlaw::NoArc { parent, child } => {
                write!(f, "vertex {child} has the parent {parent}, from which no arc leads to it")
            }
            TreeFlaw::ParentOutside { vertex, parent } => {
                write!(f, "vertex {vertex} has the parent {parent}, which is not in the tree")
            }
            TreeFlaw::Cycle { vertex } => write!(f, "the parents of vertex {vertex} form a cycle"),
            TreeFlaw::LeftOut { from, vertex } => {
                write!(f, "vertex {vertex} is not in the tree, but there is an arc to it from {from}")
            }
        }
    }
}

impl std::error::Error for TreeFlaw {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    /// A path of six vertices with one chord, and one vertex beside it.
    fn graph() -> Graph {
        Graph::undirected(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 4)]).unwrap()
    }

    fn flaw(parents: [Vertex; 7], roots: &[Vertex]) -> Option<TreeFlaw> {
        Tree::new(parents.into(), roots.to_vec(), Effort::serial).check(&graph()).err()
    }

    #[test]
    fn a_tree_is_accepted_from_any_root_and_so_is_a_forest() {
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, NONE], &[0]), None);
        assert_eq!(flaw([1, 2, 2, 4, 2, 4, NONE], &[2]), None);
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, 6], &[0, 6]), None);
        assert_eq!(flaw([NONE; 7], &[]), None);
    }

    #[test]
    fn a_path_leads_from_a_root_to_the_vertex() {
        let tree = Tree::from_parents([1, 2, 2, 4, 2, 4, NONE].into(), vec![2]);
        assert_eq!(tree.path_to(3), Some(vec![2, 4, 3]));
        assert_eq!(tree.path_to(2), Some(vec![2]));
        assert_eq!((tree.path_to(6), tree.path_to(99)), (None, None));
        let cycle = Tree::from_parents([1, 0].into(), vec![]);
        assert_eq!(cycle.path_to(1), None);
    }

    #[test]
    fn parents_that_form_a_cycle_are_refused() {
        assert_eq!(flaw([0, 0, 4, 2, 3, 4, NONE], &[0]), Some(TreeFlaw::Cycle { vertex: 2 }));
        assert_eq!(flaw([0, 2, 1, 2, 3, 4, NONE], &[0]), Some(TreeFlaw::Cycle { vertex: 1 }));
    }

    #[test]
    fn a_parent_that_is_no_neighbour_is_refused() {
        assert_eq!(flaw([0, 0, 1, 2, 3, 3, NONE], &[0]), Some(TreeFlaw::NoArc { parent: 3, child: 5 }));
        assert_eq!(flaw([0, 0, 1, 2, 3, 99, NONE], &[0]), Some(TreeFlaw::NoArc { parent: 99, child: 5 }));
    }

    #[test]
    fn a_missing_vertex_is_refused() {
        assert_eq!(flaw([0, 0, 1, 2, 2, NONE, NONE], &[0]), Some(TreeFlaw::LeftOut { from: 4, vertex: 5 }));
        assert_eq!(flaw([0, NONE, NONE, NONE, NONE, NONE, NONE], &[0]), Some(TreeFlaw::LeftOut { from: 0, vertex: 1 }));
    }

    #[test]
    fn a_parent_outside_the_tree_is_refused() {
        let graph = Graph::directed(3, &[(0, 1), (2, 1)]).unwrap();
        let tree = Tree::new([0, 2, NONE].into(), vec![0], Effort::serial);
        assert_eq!(tree.check(&graph), Err(TreeFlaw::ParentOutside { vertex: 1, parent: 2 }));
    }

    #[test]
    fn the_roots_must_be_exactly_the_vertices_without_a_parent() {
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, NONE], &[0, 3]), Some(TreeFlaw::RootWithParent { root: 3 }));
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, NONE], &[0, 6]), Some(TreeFlaw::RootWithParent { root: 6 }));
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, NONE], &[0, 70]), Some(TreeFlaw::RootWithParent { root: 70 }));
        assert_eq!(flaw([0, 0, 1, 2, 2, 4, 6], &[0]), Some(TreeFlaw::UnknownRoot { vertex: 6 }));
    }

    #[test]
    fn a_tree_of_another_graph_is_refused() {
        let tree = Tree::new([0].into(), vec![0], Effort::serial);
        let flaw = tree.check(&generate::path(5).unwrap()).unwrap_err();
        assert_eq!(flaw.to_string(), "the tree is of a graph with 1 vertices, but this graph has 5");
    }
}
