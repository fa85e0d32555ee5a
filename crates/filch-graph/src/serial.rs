//! The traversals on one thread, in plain loops.
//!
//! The parallel traversals are tested and measured against them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::traverse::{Closure, Components, Distances, Effort, ShortestPaths, Tree, NO_DISTANCE, NO_PARENT};
use crate::{Graph, Vertex, WeightedGraph};

/// [`closure()`](crate::closure()) on one thread, depth first.
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn closure(graph: &Graph, roots: impl IntoIterator<Item = Vertex>) -> Closure {
    let mut marks = vec![0u8; graph.vertices()].into_boxed_slice();
    let mut stack = Vec::new();
    for root in roots {
        if std::mem::replace(&mut marks[root as usize], 1) == 0 {
            stack.push(root);
        }
    }
    while let Some(vertex) = stack.pop() {
        for &next in graph.neighbours(vertex) {
            if marks[next as usize] == 0 {
                marks[next as usize] = 1;
                stack.push(next);
            }
        }
    }
    Closure::new(marks, Effort::serial)
}

/// [`spanning_tree()`](crate::spanning_tree()) on one thread, depth first.
///
/// # Panics
///
/// If the root is not a vertex of the graph.
pub fn spanning_tree(graph: &Graph, root: Vertex) -> Tree {
    let mut parents = vec![NO_PARENT; graph.vertices()].into_boxed_slice();
    grow(graph, &mut parents, root);
    Tree::new(parents, vec![root], Effort::serial)
}

/// [`spanning_forest()`](crate::spanning_forest()) on one thread, one tree after the other.
///
/// The root of each tree is the smallest vertex of its component.
pub fn spanning_forest(graph: &Graph) -> Tree {
    let mut parents = vec![NO_PARENT; graph.vertices()].into_boxed_slice();
    let mut roots = Vec::new();
    for root in 0..graph.vertices() as Vertex {
        if parents[root as usize] == NO_PARENT {
            grow(graph, &mut parents, root);
            roots.push(root);
        }
    }
    Tree::new(parents, roots, Effort::serial)
}

fn grow(graph: &Graph, parents: &mut [Vertex], root: Vertex) {
    parents[root as usize] = root;
    let mut stack = vec![root];
    while let Some(vertex) = stack.pop() {
        for &next in graph.neighbours(vertex) {
            if parents[next as usize] == NO_PARENT {
                parents[next as usize] = vertex;
                stack.push(next);
            }
        }
    }
}

/// [`components()`](crate::components()) on one thread, by union-find.
pub fn components(graph: &Graph) -> Components {
    let mut parents: Vec<Vertex> = (0..graph.vertices() as Vertex).collect();
    fn smallest(parents: &mut [Vertex], mut vertex: Vertex) -> Vertex {
        while parents[vertex as usize] != vertex {
            let next = parents[parents[vertex as usize] as usize];
            parents[vertex as usize] = next;
            vertex = next;
        }
        vertex
    }
    for (vertex, neighbours) in graph.iter() {
        for &next in neighbours {
            let (a, b) = (smallest(&mut parents, vertex), smallest(&mut parents, next));
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    let mut count = 0;
    for vertex in 0..parents.len() {
        let parent = parents[vertex] as usize;
        parents[vertex] = if parent == vertex { count } else { parents[parent] };
        count += u32::from(parent == vertex);
    }
    Components::new(parents.into(), count as usize, Effort::serial(graph.vertices() as u64))
}

/// [`distances()`](crate::distances()) on one thread, breadth first.
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn distances(graph: &Graph, roots: impl IntoIterator<Item = Vertex>) -> Distances {
    let mut distances = vec![NO_DISTANCE; graph.vertices()].into_boxed_slice();
    let mut queue = VecDeque::new();
    for root in roots {
        if std::mem::replace(&mut distances[root as usize], 0) == NO_DISTANCE {
            queue.push_back(root);
        }
    }
    let mut reached = 0;
    while let Some(vertex) = queue.pop_front() {
        reached += 1;
        for &next in graph.neighbours(vertex) {
            if distances[next as usize] == NO_DISTANCE {
                distances[next as usize] = distances[vertex as usize] + 1;
                queue.push_back(next);
            }
        }
    }
    Distances::new(distances, Effort::serial(reached))
}

/// [`shortest_paths()`](crate::shortest_paths()) on one thread, by Dijkstra's algorithm with a
/// binary heap.
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn shortest_paths(graph: &WeightedGraph, roots: impl IntoIterator<Item = Vertex>) -> ShortestPaths {
    let mut distances = vec![f64::INFINITY; graph.vertices()].into_boxed_slice();
    let (mut heap, mut starts) = (BinaryHeap::new(), Vec::new());
    for root in roots {
        if std::mem::replace(&mut distances[root as usize], 0.0) != 0.0 {
            starts.push(root);
            heap.push(Reverse((0, root)));
        }
    }
    let mut visits = 0;
    // Distances are not negative, so their bits are in the order of the numbers.
    while let Some(Reverse((bits, vertex))) = heap.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[vertex as usize] {
            continue;
        }
        visits += 1;
        for (next, weight) in graph.neighbours(vertex) {
            let through = distance + weight;
            if through < distances[next as usize] {
                distances[next as usize] = through;
                heap.push(Reverse((through.to_bits(), next)));
            }
        }
    }
    ShortestPaths::new(distances, starts, 0.0, visits, Effort::serial(visits))
}
