//! Connected components.
//!
//! A task is a few hundred successive vertices. Each of them is united with all its neighbours; see
//! [`Unions`]. All tasks are known from the start. The number of components and their shape make no
//! difference: no task waits for another.
//!
//! **Repeats do no harm**: vertices that are already united stay united.

use filch::explore::{AtLeast, Explore};
use filch::queue::Kind;

use super::{Effort, Unions};
use crate::{Graph, Vertex};

/// The number of vertices per task. Enough to be worth a steal, few enough to leave some to steal.
const VERTICES_A_TASK: usize = 512;

/// The component of each vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    numbers: Box<[u32]>,
    count: usize,
    effort: Effort,
}

impl Components {
    pub(crate) fn new(numbers: Box<[u32]>, count: usize, effort: Effort) -> Components {
        Components { numbers, count, effort }
    }

    /// Returns the number of components.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the component of a vertex, from 0.
    ///
    /// Components are numbered in the order of their smallest vertices.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn of(&self, vertex: Vertex) -> usize {
        self.numbers[vertex as usize] as usize
    }

    /// Returns the number of vertices of each component.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count];
        self.numbers.iter().for_each(|&number| sizes[number as usize] += 1);
        sizes
    }

    /// Returns the effort of the traversal.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: four per vertex.
    ///
    /// The worklists are small: a task for every few hundred vertices.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.numbers)
    }
}

/// Finds the connected components. Arcs count in both directions.
///
/// If it was stopped early, vertices with the same number are connected, and others may be; see
/// [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{components, Graph};
///
/// let graph = Graph::undirected(5, &[(0, 2), (1, 3)])?;
/// let components = components(&graph, Explore::at_least_once());
/// assert_eq!(components.count(), 3);
/// assert_eq!(components.of(3), components.of(1));
/// assert_eq!(components.sizes(), [2, 2, 1]);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
pub fn components<K: Kind<Vertex>>(graph: &Graph, explore: Explore<'_, AtLeast, K>) -> Components {
    let (unions, effort) = unite(graph, |_| true, explore);
    let (numbers, count) = unions.number();
    Components::new(numbers, count, effort)
}

/// Unites the wanted vertices with their neighbours.
pub(super) fn unite<K: Kind<Vertex>>(
    graph: &Graph,
    wanted: impl Fn(Vertex) -> bool + Sync,
    explore: Explore<'_, AtLeast, K>,
) -> (Unions, Effort) {
    let unions = Unions::new(graph.vertices());
    let tasks = graph.vertices().div_ceil(VERTICES_A_TASK) as u32;
    let explored = explore.run(0..tasks, |task, _| {
        let first = task as usize * VERTICES_A_TASK;
        for vertex in first..(first + VERTICES_A_TASK).min(graph.vertices()) {
            let vertex = vertex as Vertex;
            if wanted(vertex) {
                graph.neighbours(vertex).iter().for_each(|&next| unions.unite(vertex, next));
            }
        }
    });
    (unions, Effort::of(&explored, || u64::from(tasks)))
}
