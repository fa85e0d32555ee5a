//! Sparse ids, numbered densely.

use crate::{BuildError, Graph, Vertex};

/// The ids of the vertices in the file, if they were renumbered.
///
/// Vertices are numbered in the order of their ids.
///
/// ```
/// use filch_graph::read::{load_from, Options};
///
/// let loaded = load_from("phones", &b"5550100 5550199\n"[..], &Options::new().renumber(true))?;
/// let names = loaded.names.unwrap();
/// assert_eq!(loaded.graph.neighbours(0), [1]);
/// assert_eq!(names.id(1), 5550199);
/// assert_eq!(names.vertex(5550100), Some(0));
/// # Ok::<(), filch_graph::read::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    ids: Vec<u64>,
}

impl Names {
    /// Returns the id of this vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn id(&self, vertex: Vertex) -> u64 {
        self.ids[vertex as usize]
    }

    /// Returns the vertex with this id.
    pub fn vertex(&self, id: u64) -> Option<Vertex> {
        self.ids.binary_search(&id).ok().map(|vertex| vertex as Vertex)
    }

    /// Returns all ids, by vertex, smallest first.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }
}

/// Numbers the ids that occur.
pub(super) fn renumber(parts: Vec<Vec<(u64, u64)>>) -> Result<(Names, Vec<Vec<(Vertex, Vertex)>>), BuildError> {
    let names = Names { ids: ids(&parts) };
    let vertices = names.ids.len();
    if vertices > Graph::MAX_VERTICES {
        return Err(BuildError::TooManyVertices { vertices });
    }
    let vertex = |id| names.vertex(id).unwrap_or_default();
    let number = |part: Vec<(u64, u64)>| part.into_iter().map(|(from, to)| (vertex(from), vertex(to))).collect();
    let mut numbered = vec![Vec::new(); parts.len()];
    if parts.len() <= 1 {
        numbered = parts.into_iter().map(number).collect();
    } else {
        filch::scope(|scope| {
            for (part, numbered) in parts.into_iter().zip(&mut numbered) {
                let number = &number;
                scope.spawn(move |_| *numbered = number(part));
            }
        });
    }
    Ok((names, numbered))
}

/// Returns every id once, sorted.
fn ids(parts: &[Vec<(u64, u64)>]) -> Vec<u64> {
    match parts {
        [] => Vec::new(),
        [part] => {
            let mut ids = Vec::with_capacity(2 * part.len());
            ids.extend(part.iter().flat_map(|&(from, to)| [from, to]));
            ids.sort_unstable();
            ids.dedup();
            ids.shrink_to_fit();
            ids
        }
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) = filch::join(|| ids(left), || ids(right));
            merge(left, right)
        }
    }
}

fn merge(left: Vec<u64>, right: Vec<u64>) -> Vec<u64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (&left[..], &right[..]);
    while let ([a, ..], [b, ..]) = (left, right) {
        merged.push(*a.min(b));
        (left, right) = (&left[usize::from(a <= b)..], &right[usize::from(b <= a)..]);
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged.shrink_to_fit();
    merged
}
