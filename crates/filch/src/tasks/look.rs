//! Looks at a deque: which positions hold tasks, public or private, and what they descend from.
//!
//! Any worker may look. What it sees was so a moment ago.

use super::Deque;
use crate::lineage::Wait;
use crate::split::{distance, near};
use crate::sync::Ordering;

impl Deque {
    /// Returns whether only a raid can publish tasks: some are private, and none is public.
    pub(crate) fn needs_raid(&self) -> bool {
        self.has_private() && !self.has_public()
    }

    /// Returns the range of positions at which there were untaken tasks a moment ago. This is one
    /// look: while a task is there, `bottom` is above it and `top` is not.
    pub(super) fn positions(&self) -> (u64, u64) {
        // Relaxed: a raid reads it again.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        let top = self.taken.public.get().top;
        (bottom.saturating_sub(distance(top, bottom as u32).into()), bottom)
    }

    /// Returns the range of positions at which there are public tasks.
    fn public_positions(&self) -> (u64, u64) {
        // Relaxed: any position close by would do.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        let public = self.taken.public.get();
        (near(bottom, public.top), near(bottom, public.split))
    }

    /// Returns the range of positions of public tasks, or of all tasks if `private_too`.
    fn positions_of(&self, private_too: bool) -> (u64, u64) {
        if private_too {
            self.positions()
        } else {
            self.public_positions()
        }
    }

    /// Returns whether a thief would find a task now.
    pub(crate) fn has_public(&self) -> bool {
        let public = self.taken.public.get();
        distance(public.top, public.split) > 0
    }

    /// Returns whether there were untaken tasks a moment ago, public or private.
    pub(crate) fn has_tasks(&self) -> bool {
        let (top, bottom) = self.positions();
        top < bottom
    }

    /// Returns the number of private tasks a moment ago.
    pub(crate) fn private(&self) -> u32 {
        // Relaxed: a raid reads it again.
        let bottom = self.owned.bottom.load(Ordering::Relaxed) as u32;
        distance(self.taken.public.get().split, bottom)
    }

    /// Returns whether there were private tasks a moment ago.
    pub(crate) fn has_private(&self) -> bool {
        self.private() > 0
    }

    /// Returns whether there seems to be a task that descends from what is waited for. Looks at
    /// public tasks, or also at private ones.
    pub(crate) fn has_under(&self, wait: Wait, private_too: bool) -> bool {
        self.segments.first_under(wait, self.positions_of(private_too)).is_some()
    }

    /// Returns whether the task at `position` seems to descend from what is waited for. It is the
    /// oldest public task.
    pub(crate) fn is_under(&self, wait: Wait, position: u64) -> bool {
        self.segments.first_under(wait, (position, position + 1)).is_some()
    }

    /// Returns whether a task behind others seems to descend from what is waited for.
    pub(crate) fn has_under_behind_others(&self, wait: Wait) -> bool {
        let positions = self.positions();
        self.segments.first_under(wait, positions).is_some_and(|first| first > positions.0)
    }

    /// Returns whether a task seems to descend from what is waited for as `node`.
    pub(crate) fn has_under_node(&self, node: usize) -> bool {
        self.segments.have_task_under_node(node, self.positions())
    }
}
