//! The search's side of its port: takes nodes in, gives them away, shows them.

use super::node::{best_last, OpenNode};
use super::pack::{pack, unpack, Codec};
use super::search::Search;
use super::SolveError;
use crate::port::{self, Event, Package, Port, Totals};
use crate::problem::{Cost, Relaxation};

/// The port, and the codec of states.
pub(crate) struct Connection<'a, S> {
    pub(crate) port: &'a Port,
    pub(crate) codec: Codec<S>,
}

impl<P: Relaxation> Search<'_, P> {
    /// Returns whether the outside wants any of these.
    #[inline]
    pub(crate) fn is_requested(&self, any_of: u32) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.port.is_requested(any_of))
    }

    /// Adds the nodes that were delivered, those with the best bound last.
    pub(crate) fn take_nodes(&self, nodes: &mut Vec<OpenNode<P::State>>) {
        let Some(connection) = &self.connection else { return };
        let first = nodes.len();
        let packages = connection.port.take_packages();
        for package in &packages {
            if let Err(how) = unpack(connection.codec, &self.model, package, nodes) {
                self.fail(SolveError::InvalidDelivery(how));
            }
        }
        let taken = &mut nodes[first..];
        best_last(taken);
        self.add_open(taken);
        connection.port.mark_counted(port::nodes(&packages));
    }

    /// Answers a request for nodes.
    ///
    /// `spare` takes the given share of the open nodes out of the search, or returns `None` if it
    /// cannot right now.
    pub(crate) fn give_away(&self, spare: impl FnOnce(f64) -> Option<Vec<OpenNode<P::State>>>) {
        let Some(connection) = &self.connection else { return };
        let Some(share) = connection.port.take_ask() else { return };
        match spare(share) {
            Some(nodes) => {
                // If the nodes cannot be packed, the search has failed, and that is the answer.
                let Some(packages) = self.pack(&nodes) else { return };
                // The event comes before the nodes are counted out. So an observer that looks at
                // both never misses them.
                connection.port.report(Event::Given(packages));
                nodes.iter().for_each(|node| self.remove_open(node));
            }
            None => connection.port.put_back_ask(share),
        }
    }

    /// Takes the number of requests for a snapshot.
    ///
    /// Each snapshot must include all nodes that were delivered until now.
    pub(crate) fn take_snapshot_requests(&self) -> u64 {
        self.connection.as_ref().map_or(0, |connection| connection.port.take_snapshots())
    }

    /// Sends a snapshot of all open nodes for each request. No worker is running.
    pub(crate) fn send_snapshots(&self, requests: u64, open: &[OpenNode<P::State>], totals: Totals) {
        let (Some(connection), Some(packages)) = (&self.connection, self.pack(open)) else { return };
        for _ in 0..requests {
            connection.port.report(Event::Snapshot(packages.clone(), totals));
        }
    }

    /// Ends the search and sends the nodes that are left.
    ///
    /// Returns a bound on the nodes that were delivered but not taken in.
    pub(crate) fn close_port(&self, left: &[OpenNode<P::State>], totals: Totals) -> Option<Cost> {
        let connection = self.connection.as_ref()?;
        match self.pack(left).filter(|_| !self.has_failed()) {
            Some(packages) => connection.port.close(packages, totals),
            None => {
                connection.port.fail();
                None
            }
        }
    }

    fn pack(&self, nodes: &[OpenNode<P::State>]) -> Option<Vec<Package>> {
        let packed = pack(self.connection.as_ref()?.codec, nodes);
        packed.map_err(|why| self.fail(SolveError::CannotSerialize(why))).ok()
    }
}
