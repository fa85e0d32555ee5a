//! Trails: how open nodes were reached, without a path in each node.
//!
//! Each diagram that leaves nodes open leaves a trail: the decisions above all nodes of its cutset,
//! each with a reference to the one before it. A trail continues in the trail of the node that its
//! diagram started from. An open node has a trail and the number of its last step. Trails that no
//! open node needs are dropped.

use std::sync::Arc;

use crate::master::Region;
use crate::problem::{Decision, Value, Variable};

/// One decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The step before it in the same trail.
    before: u32,
    variable: Variable,
    value: Value,
}

impl Step {
    /// The step before the first.
    pub(crate) const ROOT: u32 = u32::MAX;

    pub(crate) fn new(before: u32, decision: Decision) -> Self {
        Step { before, variable: decision.variable, value: decision.value }
    }
}

#[derive(Debug)]
pub(crate) struct Trail {
    steps: Box<[Step]>,
    /// The trail that this one continues, and its last step there.
    above: Option<(Arc<Trail>, u32)>,
    /// The region where its diagram started.
    region: Region,
}

impl Trail {
    /// Returns the trail of the root node of a search.
    pub(crate) fn root() -> Arc<Trail> {
        Arc::new(Trail { steps: Box::default(), above: None, region: Region::ROOT })
    }

    /// Returns the trail of delivered nodes, which begins at the root.
    pub(crate) fn delivered(steps: Vec<Step>) -> Self {
        Trail { steps: steps.into(), above: None, region: Region::ROOT }
    }

    pub(crate) fn new(above: Arc<Trail>, step: u32, steps: Vec<Step>) -> Self {
        let region = above.region_of(step);
        Trail { steps: steps.into(), above: Some((above, step)), region }
    }

    /// Returns where in the search space a step leads.
    ///
    /// The region has one label for each diagram: the number of the step.
    pub(crate) fn region_of(&self, step: u32) -> Region {
        if step == Step::ROOT {
            self.region
        } else {
            self.region.child(step)
        }
    }

    /// Visits the decisions up to a step, the last one first.
    pub(crate) fn walk_up(&self, mut step: u32, mut visit: impl FnMut(Decision)) {
        let mut trail = self;
        loop {
            while step != Step::ROOT {
                let Step { before, variable, value } = trail.steps[step as usize];
                visit(Decision { variable, value });
                step = before;
            }
            let Some((above, last)) = &trail.above else { return };
            (trail, step) = (above, *last);
        }
    }
}

impl Drop for Trail {
    /// Drops the chain in a loop: a long chain must not become a deep recursion.
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some((trail, _)) = above {
            above = Arc::into_inner(trail).and_then(|mut last| last.above.take());
        }
    }
}
