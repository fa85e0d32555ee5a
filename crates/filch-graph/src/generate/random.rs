//! Random graphs: every set of this many edges is equally likely.

use super::edges::{check_vertices, purpose, reserve, Edges};
use super::stream::{self, Stream};
use super::GenerateError;
use crate::{Graph, Vertex};

/// Draws `edges` different edges between `vertices` vertices, without loops.
///
/// Every such graph is equally likely. Neighbours are anywhere: in a large graph nearly each access
/// to one is a cache miss, as in the paper.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number, or fewer pairs of vertices than edges.
pub fn random(vertices: usize, edges: usize, seed: u64) -> Result<Graph, GenerateError> {
    random_edges(vertices, edges, seed)?.build()
}

pub(super) fn random_edges(vertices: usize, edges: usize, seed: u64) -> Result<Edges, GenerateError> {
    let most = check(vertices, edges)?;
    let mut list = reserve(edges as u128)?;
    if edges as u128 > most / 2 {
        // Most pairs are edges. It is cheaper to draw the others, and enough new pairs remain to be
        // drawn.
        let mut missing = pairs(vertices, (most - edges as u128) as usize, seed)?.into_iter().peekable();
        for a in 0..vertices as Vertex {
            list.extend(
                (a + 1..vertices as Vertex).filter(|&b| missing.next_if_eq(&pair(a, b)).is_none()).map(|b| (a, b)),
            );
        }
    } else {
        list.extend(pairs(vertices, edges, seed)?.into_iter().map(|pair| ((pair >> 32) as Vertex, pair as Vertex)));
    }
    Ok(Edges { vertices, list })
}

/// Checks that there can be this many edges. Returns the largest possible number.
pub(super) fn check(vertices: usize, edges: usize) -> Result<u128, GenerateError> {
    check_vertices(vertices as u128)?;
    let most = vertices as u128 * (vertices as u128 - 1) / 2;
    match edges as u128 > most {
        true => Err(GenerateError::TooManyEdges { asked: edges, vertices, most }),
        false => Ok(most),
    }
}

/// Packs two vertices into one word, which sorts by the smaller one first.
pub(super) fn pair(a: Vertex, b: Vertex) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Returns `count` different pairs, sorted; at most half of all.
///
/// Each round draws as many pairs as are missing and drops those it has already. It never draws
/// more than are missing, so the result is the same as drawing one after the other and putting back
/// the repeats. At least every other draw is new, so the number of rounds is logarithmic; sparse
/// graphs take two.
pub(super) fn pairs(vertices: usize, count: usize, seed: u64) -> Result<Vec<u64>, GenerateError> {
    let mut found: Vec<u64> = Vec::new();
    for round in 0.. {
        let missing = count - found.len();
        if missing == 0 {
            break;
        }
        let mut drawn = reserve(missing as u128)?;
        drawn.resize(missing, 0u64);
        stream::in_runs(&mut drawn, &|run, _, drawn| {
            let mut stream = Stream::new(seed, purpose::PAIRS | round << 8, run);
            drawn.iter_mut().for_each(|drawn| *drawn = draw(&mut stream, vertices as u64));
        });
        stream::sort(&mut drawn);
        drawn.dedup();
        found = if found.is_empty() { drawn } else { merge(found, drawn)? };
    }
    Ok(found)
}

/// Draws two different vertices.
#[inline]
pub(super) fn draw(stream: &mut Stream, vertices: u64) -> u64 {
    let a = stream.below(vertices);
    // One of the others: numbers from `a` on move up by one.
    let b = stream.below(vertices - 1);
    pair(a as Vertex, (b + u64::from(b >= a)) as Vertex)
}

/// Merges two sorted lists, each item once.
pub(super) fn merge(many: Vec<u64>, few: Vec<u64>) -> Result<Vec<u64>, GenerateError> {
    let mut all = reserve(many.len() as u128 + few.len() as u128)?;
    let mut from = 0;
    for item in few {
        let (before, found) = match many[from..].binary_search(&item) {
            Ok(at) => (from + at, true),
            Err(at) => (from + at, false),
        };
        all.extend_from_slice(&many[from..before]);
        from = before;
        if !found {
            all.push(item);
        }
    }
    all.extend_from_slice(&many[from..]);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_has_every_item_of_both_lists_once() {
        let merged = merge(vec![1, 3, 5, 9], vec![0, 3, 4, 9, 12]).unwrap();
        assert_eq!(merged, [0, 1, 3, 4, 5, 9, 12]);
    }

    #[test]
    fn all_pairs_are_drawn_about_equally_often() {
        let mut seen = [0u32; 10];
        for seed in 0..5000 {
            for (a, b) in random_edges(5, 3, seed).unwrap().list {
                seen[(b * (b - 1) / 2 + a) as usize] += 1;
            }
        }
        // 1500 each are expected, with a standard deviation below 33.
        assert!(seen.iter().all(|&count| (1300..1700).contains(&count)), "{seen:?}");
    }
}
