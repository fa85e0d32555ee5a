//! The cutset: the open nodes that a diagram leaves.
//!
//! Every solution below the diagram's root that could be better than the best known one is below
//! one of these nodes.
//!
//! Their paths share one [`Trail`], which has only the nodes above the cutset.

use std::sync::Arc;

use super::node::{COPIED, NONE};
use super::{Diagram, Task};
use crate::model::{bound_of, Overflow};
use crate::problem::{Cost, Relaxation};
use crate::solver::{OpenNode, Step, Trail};

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    /// Appends the nodes of the cutset whose bound is above `floor`, in no order.
    ///
    /// The bound of a node is the least of its rough bound, the diagram's bound and the root's
    /// bound.
    pub(crate) fn drain_cutset<P>(
        &mut self,
        task: &Task<'_, P>,
        floor: Cost,
        out: &mut Vec<OpenNode<S>>,
    ) -> Result<(), Overflow>
    where
        P: Relaxation<State = S>,
    {
        let mut steps = Vec::new();
        self.trail_marks.clear();
        self.trail_marks.resize(self.nodes.len(), NONE);
        let first = out.len();
        let nowhere = Trail::root();
        for at in 0..self.cut.len() {
            let id = self.cut[at];
            let node = &self.nodes[id as usize];
            let bound = bound_of(node.cost, node.rough)?.min(bound_of(node.cost, node.below)?).min(task.root.bound);
            if bound <= floor {
                continue;
            }
            let depth = self.depth_of(node) as u32;
            let (cost, state) = (node.cost, self.states[id as usize].clone());
            let step = self.mark(id, &mut steps);
            out.push(OpenNode { state, cost, bound, depth, step, trail: Arc::clone(&nowhere) });
        }
        if out.len() > first {
            let trail = Arc::new(Trail::new(Arc::clone(&task.root.trail), task.root.step, steps));
            for open in &mut out[first..] {
                open.trail = Arc::clone(&trail);
            }
        }
        Ok(())
    }

    /// Returns the step that leads to a node, and makes missing steps above it.
    fn mark(&mut self, id: u32, steps: &mut Vec<Step>) -> u32 {
        let mut missing = core::mem::take(&mut self.branching);
        missing.clear();
        let mut at = id;
        let mut last = Step::ROOT;
        loop {
            if self.trail_marks[at as usize] != NONE {
                last = self.trail_marks[at as usize];
                break;
            }
            let arc = self.nodes[at as usize].best;
            if arc == NONE {
                break;
            }
            missing.push(at);
            at = self.arcs[arc as usize].from;
        }
        while let Some(at) = missing.pop() {
            let arc = self.arcs[self.nodes[at as usize].best as usize];
            if !self.nodes[arc.from as usize].has(COPIED) {
                steps.push(Step::new(last, self.decision(&arc)));
                last = steps.len() as u32 - 1;
            }
            self.trail_marks[at as usize] = last;
        }
        self.branching = missing;
        last
    }
}
