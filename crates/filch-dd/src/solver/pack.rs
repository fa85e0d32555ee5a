//! Open nodes as bytes, and back.
//!
//! A package begins with the version of this format. A node consists of the number of decisions that
//! its path shares with the node before it, the rest of its path, its state, its cost, its bound
//! and its depth. Nodes of one cutset share most of their paths, so the rest is short. A trail can
//! be built from it while it is read.
//!
//! Bytes from outside are not trusted. The decisions of each node are replayed, one by one, and
//! must lead to its state at its cost. No node is used before that.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::node::OpenNode;
use super::replay::Replay;
use super::trail::{Step, Trail};
use crate::model::Model;
use crate::port::Package;
use crate::problem::{Cost, Decision, Relaxation};

/// The first byte of a package.
const VERSION: u8 = 1;

/// The size in bytes from which on the next package is begun.
const FULL_PARCEL: usize = 1 << 20;

/// Serializes states. Function pointers keep serde's bounds out of all other code.
pub(crate) struct Codec<S> {
    write: fn(&S, Vec<u8>) -> postcard::Result<Vec<u8>>,
    read: fn(&[u8]) -> postcard::Result<(S, &[u8])>,
}

impl<S> Clone for Codec<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Codec<S> {}

impl<S: Serialize + DeserializeOwned> Codec<S> {
    pub(crate) fn new() -> Self {
        Codec {
            write: |state, bytes| postcard::to_extend(state, bytes),
            read: |bytes| postcard::take_from_bytes(bytes),
        }
    }
}

/// The parts of a node other than its state.
#[derive(Serialize)]
struct Head<'a> {
    /// The number of decisions that it shares with the node before it.
    shared: u32,
    decisions: &'a [Decision],
    cost: Cost,
    bound: Cost,
    depth: u32,
}

#[derive(Deserialize)]
struct ReadHead {
    shared: u32,
    decisions: Vec<Decision>,
    cost: Cost,
    bound: Cost,
    depth: u32,
}

/// Packs the nodes into packages, in their order.
pub(crate) fn pack<'n, S: 'n>(
    codec: Codec<S>,
    nodes: impl IntoIterator<Item = &'n OpenNode<S>>,
) -> Result<Vec<Package>, String> {
    let mut packages = Vec::new();
    let (mut count, mut greatest, mut bytes) = (0, Cost::MIN, vec![VERSION]);
    let (mut before, mut path): (Vec<Decision>, Vec<Decision>) = Default::default();
    for node in nodes {
        path.clear();
        node.trail.walk_up(node.step, |decision| path.push(decision));
        path.reverse();
        let shared = path.iter().zip(&before).take_while(|(one, other)| one == other).count();
        let head = Head {
            shared: shared as u32,
            decisions: &path[shared..],
            cost: node.cost,
            bound: node.bound,
            depth: node.depth,
        };
        let written = postcard::to_extend(&head, bytes).and_then(|bytes| (codec.write)(&node.state, bytes));
        bytes = written.map_err(|error| error.to_string())?;
        (count, greatest) = (count + 1, greatest.max(node.bound));
        core::mem::swap(&mut before, &mut path);
        if bytes.len() >= FULL_PARCEL {
            packages.push(Package::new(count, greatest, core::mem::replace(&mut bytes, vec![VERSION])));
            (count, greatest) = (0, Cost::MIN);
            before.clear();
        }
    }
    if count > 0 {
        packages.push(Package::new(count, greatest, bytes));
    }
    Ok(packages)
}

/// Adds the nodes of a package to `nodes`.
///
/// The error says why they do not belong to this problem.
pub(crate) fn unpack<P: Relaxation>(
    codec: Codec<P::State>,
    model: &Model<'_, P>,
    package: &Package,
    nodes: &mut Vec<OpenNode<P::State>>,
) -> Result<(), String> {
    let first = nodes.len();
    let read = read_nodes(codec, model, package);
    let (steps, read) = read.map_err(|(at, how)| format!("node {} of {}: {how}", at + 1, package.nodes()))?;
    let trail = Arc::new(Trail::delivered(steps));
    nodes.extend(read.into_iter().map(|(state, head, step)| OpenNode {
        state,
        cost: head.cost,
        bound: head.bound,
        depth: head.depth,
        step,
        trail: Arc::clone(&trail),
    }));
    match nodes[first..].iter().map(|node| node.bound).max() {
        Some(bound) if bound > package.bound() => Err("a node has a greater bound than its package".to_owned()),
        _ => Ok(()),
    }
}

type ReadNode<S> = (S, ReadHead, u32);

fn read_nodes<P: Relaxation>(
    codec: Codec<P::State>,
    model: &Model<'_, P>,
    package: &Package,
) -> Result<(Vec<Step>, Vec<ReadNode<P::State>>), (u64, String)> {
    let Some((&version, mut rest)) = package.bytes().split_first() else {
        return Err((0, "it has no bytes".to_owned()));
    };
    if version != VERSION {
        return Err((0, format!("it has version {version} of the format, but this program reads version {VERSION}")));
    }
    let variables = model.problem.variables();
    let (mut steps, mut nodes) = (Vec::new(), Vec::new());
    // The path of the node that was read last, and the steps of that path.
    let (mut path, mut path_steps): (Vec<Decision>, Vec<u32>) = Default::default();
    for at in 0..package.nodes() {
        let at_node = |how: String| (at, how);
        let (head, state) = postcard::take_from_bytes::<ReadHead>(rest).map_err(|error| at_node(error.to_string()))?;
        let (state, after) = (codec.read)(state).map_err(|error| at_node(error.to_string()))?;
        rest = after;
        let shared = head.shared as usize;
        if shared > path.len() {
            return Err(at_node("it shares more decisions with the node before it than that node has".to_owned()));
        }
        path.truncate(shared);
        path_steps.truncate(shared);
        path.extend_from_slice(&head.decisions);
        if head.depth as usize > variables || path.len() > head.depth as usize {
            return Err(at_node(format!(
                "its depth is {}, but its path has {} decisions, and the problem {variables} variables",
                head.depth,
                path.len()
            )));
        }
        for &decision in &head.decisions {
            let before = path_steps.last().copied().unwrap_or(Step::ROOT);
            path_steps.push(steps.len() as u32);
            steps.push(Step::new(before, decision));
        }
        check(model, &path, &state, &head).map_err(at_node)?;
        nodes.push((state, head, path_steps.last().copied().unwrap_or(Step::ROOT)));
    }
    if !rest.is_empty() {
        return Err((package.nodes(), format!("{} bytes follow the last node", rest.len())));
    }
    Ok((steps, nodes))
}

/// Checks that the decisions lead to the state, at the cost.
fn check<P: Relaxation>(
    model: &Model<'_, P>,
    path: &[Decision],
    state: &P::State,
    head: &ReadHead,
) -> Result<(), String> {
    let mut replay = Replay::new(model);
    for &decision in path {
        replay
            .take(decision)
            .map_err(|_| format!("{} = {} is not in the domain", decision.variable, decision.value))?;
    }
    let cost = model.convert_sense(replay.cost()).map_err(|_| "its cost overflows".to_owned())?;
    if replay.state() != state || cost != head.cost {
        return Err("its decisions lead to another state or cost".to_owned());
    }
    Ok(())
}
