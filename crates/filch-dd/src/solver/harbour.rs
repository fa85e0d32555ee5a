//! The search's side of its port: takes nodes in, gives them away, shows them.

use super::node::Open;
use super::pack::{pack, unpack, Codec};
use super::search::Search;
use super::SolveError;
use crate::port::{self, Event, Parcel, Port, Totals};
use crate::problem::{Cost, Relaxation};

/// The port, and the codec of states.
pub(crate) struct Harbour<'a, S> {
    pub(crate) port: &'a Port,
    pub(crate) codec: Codec<S>,
}

impl<P: Relaxation> Search<'_, P> {
    /// Returns whether the outside wants any of these.
    #[inline]
    pub(crate) fn is_wanted(&self, any_of: u32) -> bool {
        self.harbour.as_ref().is_some_and(|harbour| harbour.port.wants(any_of))
    }

    /// Adds the nodes that were delivered, those with the best bound last.
    pub(crate) fn take_in(&self, nodes: &mut Vec<Open<P::State>>) {
        let Some(harbour) = &self.harbour else { return };
        let first = nodes.len();
        let parcels = harbour.port.take_parcels();
        for parcel in &parcels {
            if let Err(how) = unpack(harbour.codec, &self.model, parcel, nodes) {
                self.fail(SolveError::Delivered(how));
            }
        }
        let taken = &mut nodes[first..];
        taken.sort_by_key(|open| (open.bound, open.cost));
        self.enter(taken);
        harbour.port.taken_in(port::nodes(&parcels));
    }

    /// Answers a request for nodes.
    ///
    /// `spare` takes the given share of the open nodes out of the search, or returns `None` if it
    /// cannot right now.
    pub(crate) fn give(&self, spare: impl FnOnce(f64) -> Option<Vec<Open<P::State>>>) {
        let Some(harbour) = &self.harbour else { return };
        let Some(share) = harbour.port.take_asked() else { return };
        match spare(share) {
            Some(nodes) => {
                // If the nodes cannot be packed, the search has failed, and that is the answer.
                let Some(parcels) = self.pack(&nodes) else { return };
                // The event comes before the nodes are counted out. So an observer that looks at
                // both never misses them.
                harbour.port.say(Event::Given(parcels));
                nodes.iter().for_each(|node| self.leave(node));
            }
            None => harbour.port.ask_again(share),
        }
    }

    /// Takes the number of requests for a snapshot.
    ///
    /// Each snapshot must include all nodes that were delivered until now.
    pub(crate) fn viewers(&self) -> u64 {
        self.harbour.as_ref().map_or(0, |harbour| harbour.port.take_snapshots())
    }

    /// Sends a snapshot of all open nodes to each viewer. No worker is running.
    pub(crate) fn show(&self, viewers: u64, open: &[Open<P::State>], totals: Totals) {
        let (Some(harbour), Some(parcels)) = (&self.harbour, self.pack(open)) else { return };
        for _ in 0..viewers {
            harbour.port.say(Event::Snapshot(parcels.clone(), totals));
        }
    }

    /// Ends the search and sends the nodes that are left.
    ///
    /// Returns a bound on the nodes that were delivered but not taken in.
    pub(crate) fn depart(&self, left: &[Open<P::State>], totals: Totals) -> Option<Cost> {
        let harbour = self.harbour.as_ref()?;
        match self.pack(left).filter(|_| !self.has_failed()) {
            Some(parcels) => harbour.port.close(parcels, totals),
            None => {
                harbour.port.fail();
                None
            }
        }
    }

    fn pack(&self, nodes: &[Open<P::State>]) -> Option<Vec<Parcel>> {
        let packed = pack(self.harbour.as_ref()?.codec, nodes);
        packed.map_err(|why| self.fail(SolveError::Unportable(why))).ok()
    }
}
