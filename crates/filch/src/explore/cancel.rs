//! Stopping explorations from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A token that cancels explorations from outside. Clones cancel the same explorations.
///
/// ```
/// use filch::explore::{Cancel, Ending, Explore};
///
/// let cancel = Cancel::new();
/// cancel.cancel();
/// let explored = Explore::exactly_once().cancel(&cancel).run([1], |_, _| unreachable!());
/// assert_eq!(explored.ending(), Ending::Cancelled);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Stops every exploration that has this token.
    pub fn cancel(&self) {
        // Release: pairs with the look of the workers, which then see what came before.
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether the token was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
