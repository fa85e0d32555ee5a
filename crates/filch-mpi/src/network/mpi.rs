//! Ranks that are processes, started by `mpirun`.
//!
//! MPI guarantees that messages between two ranks that could match the same receive are matched in
//! the order in which they were sent. This module has one kind of receive: a matched probe for any
//! source, one tag, and its own communicator. So messages arrive in order.
//!
//! No call blocks on another rank. A large send completes only when the receiver takes the message
//! in (rendezvous), so two ranks that wait for their sends would wait forever. Therefore every send
//! is immediate and owns its bytes until it completes. Every receive is immediate too: `receive`
//! returns only messages that have arrived whole. Each call lets MPI make progress.
//!
//! MPI counts bytes in a C `int`. A message is sent in pieces of [`PIECE`] bytes. The last piece is
//! shorter, which marks it as the last, so an empty piece follows a message whose length is a
//! multiple of [`PIECE`]. The pieces of a message arrive in order, as messages between two ranks
//! do.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{c_char, c_int};
use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::thread;
use std::time::{Duration, Instant};

use mpi::environment::Universe;
use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Communicator, Equivalence};
use mpi::Threading;

use super::Network;

/// The largest number of bytes in one MPI send. Far below the limit of `int`: more gains nothing.
const PIECE: usize = 4 << 20;
/// How many messages to one rank are posted to MPI at a time. The others wait in `sending`.
const MAX_POSTED: usize = 16;
/// How many pieces are received at a time. Further pieces wait on the sender's side.
const MAX_RECEIVING: usize = 16;
/// How many ranks' sends are advanced per received message, and when no message has arrived.
/// Without a limit, a rank that sends to thousands of ranks would test all of them for each
/// message.
const SENDS_ADVANCED: usize = 8;
const SENDS_ADVANCED_WHEN_IDLE: usize = 64;
/// The tag of all messages.
const TAG: c_int = 0;
/// How long to sleep between two checks whether the other ranks are done.
const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// A network whose ranks are the processes that `mpirun` started.
///
/// A program that was started without `mpirun` is the only rank. The network stays on the thread
/// that made it: MPI is told that no other thread will call it.
///
/// [`finish`](Mpi::finish) ends the run in order. If the network is dropped before that, by a panic
/// or an early return, the run ends for all ranks: the others might wait for this one forever.
pub struct Mpi {
    rank: usize,
    ranks: usize,
    /// The outgoing messages for each rank, in order. MPI has at most the first [`MAX_POSTED`] of
    /// them.
    sending: BTreeMap<usize, VecDeque<Outgoing>>,
    /// The rank at which `advance_sends` continues.
    next_sent: usize,
    /// Pieces being received, in the order of arrival.
    receiving: Vec<Incoming>,
    /// The first pieces of messages that have not arrived whole, by sender.
    partial: BTreeMap<usize, Vec<u8>>,
    /// Messages from this rank to itself.
    to_self: VecDeque<Vec<u8>>,
    finished: bool,
    communicator: SimpleCommunicator,
    /// Dropping it ends MPI. Declared after `communicator`, which must be dropped first.
    _universe: Universe,
    /// Makes the type neither `Send` nor `Sync`.
    not_send: PhantomData<*const ()>,
}

/// An outgoing message.
struct Outgoing {
    message: Vec<u8>,
    /// The requests of its pieces. Empty before the message is posted and after it has left.
    requests: Vec<ffi::MPI_Request>,
}

/// A piece being received.
struct Incoming {
    from: usize,
    piece: Vec<u8>,
    request: ffi::MPI_Request,
    arrived: bool,
}

/// Error from starting MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl Mpi {
    /// Starts MPI. A process can do that once.
    pub fn start() -> Result<Mpi, StartError> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(StartError("MPI was already started in this process, which is possible only once".to_owned()));
        };
        if threading < Threading::Funneled {
            return Err(StartError(
                "this MPI library supports only programs with a single thread, and each rank has several; \
                 use an MPI library that was built with thread support"
                    .to_owned(),
            ));
        }
        let world = universe.world();
        let communicator = world.duplicate();
        // SAFETY: MPI runs, and this value owns the communicator. The handler is one of MPI's own.
        unsafe { ffi::MPI_Comm_set_errhandler(communicator.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
        let (rank, ranks) = (communicator.rank(), communicator.size());
        Ok(Mpi {
            // Neither number is negative.
            rank: rank as usize,
            ranks: ranks as usize,
            sending: BTreeMap::new(),
            next_sent: 0,
            receiving: Vec::new(),
            partial: BTreeMap::new(),
            to_self: VecDeque::new(),
            finished: false,
            communicator,
            _universe: universe,
            not_send: PhantomData,
        })
    }

    /// Returns the name and version of the MPI library, as the library states them.
    pub fn library() -> String {
        let version = mpi::environment::library_version().unwrap_or_default();
        // Open MPI puts its name before the first comma. MPICH puts it on the first line.
        let first = version.lines().next().unwrap_or("").split(',').next().unwrap_or("");
        first.trim_end_matches('\0').trim().to_owned()
    }

    /// Returns the name of the machine that this rank runs on.
    pub fn machine() -> String {
        mpi::environment::processor_name().unwrap_or_default()
    }

    /// Waits until all ranks have reached this call.
    ///
    /// Use it between two uses of the network that each leave no message behind. It keeps the
    /// messages of the second use from ranks that are still in the first.
    pub fn meet(&mut self) {
        self.barrier(None, |_| ());
    }

    /// Ends the run in order. Waits until all ranks have reached this call and everything was sent.
    ///
    /// Messages that arrive meanwhile are dropped.
    pub fn finish(self) {
        self.finish_by(None);
    }

    /// Ends the run in order if the other ranks reach this call within `timeout`.
    ///
    /// Otherwise it ends the run for all ranks. For runs after an error, where a rank may be
    /// missing.
    pub fn finish_within(self, timeout: Duration) {
        self.finish_by(Some(Instant::now() + timeout));
    }

    fn finish_by(mut self, end: Option<Instant>) {
        let mut flushed = self.is_flushed();
        while !flushed {
            while self.receive().is_some() {}
            self.sleep_or_abort(end);
            flushed = self.is_flushed();
        }
        // The other ranks may still send to this rank, and wait until it has received that.
        self.barrier(end, |network| while network.receive().is_some() {});
        // What is still being received comes from completed sends, so it arrives without further
        // calls there.
        while !self.receiving.is_empty() {
            while self.receive().is_some() {}
            self.sleep_or_abort(end);
        }
        self.finished = true;
    }

    fn barrier(&mut self, end: Option<Instant>, mut meanwhile: impl FnMut(&mut Mpi)) {
        let action = || "wait for the other ranks".to_owned();
        let mut request = MaybeUninit::uninit();
        // SAFETY: the communicator is valid, and MPI writes `request` if there is no error.
        let mut request = unsafe {
            let result = ffi::MPI_Ibarrier(self.communicator.as_raw(), request.as_mut_ptr());
            self.check(result, action);
            [request.assume_init()]
        };
        while !self.test(&mut request, action) {
            meanwhile(self);
            self.sleep_or_abort(end);
        }
    }

    /// Sleeps between two checks whether the other ranks are done. Aborts the run after `end`.
    fn sleep_or_abort(&self, end: Option<Instant>) {
        if end.is_some_and(|end| Instant::now() > end) {
            // The rank that failed has already printed the reason.
            self.communicator.abort(1);
        }
        thread::sleep(POLL_INTERVAL);
    }

    /// Ends the run of all ranks at once and prints `reason` to standard error.
    ///
    /// For runs that cannot end in order.
    pub fn abort(&self, reason: &str) -> ! {
        // An error is ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "{reason}");
        let _ = io::stdout().flush();
        self.communicator.abort(1)
    }

    /// Posts as many messages to rank `to` as the limit `MAX_POSTED` allows.
    fn post(&mut self, to: usize) {
        let Some(queue) = self.sending.get_mut(&to) else { return };
        let communicator = self.communicator.as_raw();
        let mut result = 0;
        for outgoing in queue.iter_mut().take(MAX_POSTED).filter(|outgoing| outgoing.requests.is_empty()) {
            for begin in (0..=outgoing.message.len()).step_by(PIECE) {
                let length = PIECE.min(outgoing.message.len() - begin);
                let mut request = MaybeUninit::uninit();
                // SAFETY: `outgoing` owns the bytes. It is dropped only when all its requests have
                // completed (or with the process), and the bytes are not touched before. Moving a
                // vector does not move its bytes. A piece and a rank fit in an `int`. MPI writes
                // `request` if there is no error.
                unsafe {
                    result = ffi::MPI_Isend(
                        outgoing.message.as_ptr().add(begin).cast(),
                        length as c_int,
                        u8::equivalent_datatype().as_raw(),
                        to as c_int,
                        TAG,
                        communicator,
                        request.as_mut_ptr(),
                    );
                    if result != SUCCESS {
                        break;
                    }
                    outgoing.requests.push(request.assume_init());
                }
            }
        }
        self.check(result, || format!("send to rank {to}"));
    }

    /// Frees messages that have left and posts the next ones. It does so for at most `most` ranks,
    /// all of them in turn.
    fn advance_sends(&mut self, most: usize) {
        for to in in_turn(&self.sending, self.next_sent, most) {
            self.next_sent = to + 1;
            let mut left = false;
            while let Some(mut first) = self.sending.get_mut(&to).and_then(VecDeque::pop_front) {
                let done = self.test(&mut first.requests, || format!("send to rank {to}"));
                if !done {
                    self.sending.entry(to).or_default().push_front(first);
                    break;
                }
                left = true;
                // Each test completes the oldest message, and the window moves by one.
                self.post(to);
            }
            if left && self.sending.get(&to).is_some_and(VecDeque::is_empty) {
                self.sending.remove(&to);
            }
        }
    }

    /// Takes in pieces that have arrived, and starts to receive more.
    fn advance_receives(&mut self) {
        while self.receiving.len() < MAX_RECEIVING {
            let Some(incoming) = self.next_arrival() else { break };
            self.receiving.push(incoming);
        }
        let mut receiving = std::mem::take(&mut self.receiving);
        for incoming in receiving.iter_mut().filter(|incoming| !incoming.arrived) {
            let from = incoming.from;
            incoming.arrived =
                self.test(std::slice::from_mut(&mut incoming.request), || format!("receive from rank {from}"));
        }
        self.receiving = receiving;
    }

    /// Starts to receive the next piece, if there is one.
    fn next_arrival(&mut self) -> Option<Incoming> {
        let (mut found, mut message, mut status) = (0, MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the communicator is valid. If MPI finds a message, it writes the other arguments.
        let result = unsafe {
            let communicator = self.communicator.as_raw();
            ffi::MPI_Improbe(
                ffi::RSMPI_ANY_SOURCE,
                TAG,
                communicator,
                &mut found,
                message.as_mut_ptr(),
                status.as_mut_ptr(),
            )
        };
        self.check(result, || "check for messages".to_owned());
        if found == 0 {
            return None;
        }
        // SAFETY: there is a message, so MPI wrote both.
        let (mut message, status): (ffi::MPI_Message, ffi::MPI_Status) =
            unsafe { (message.assume_init(), status.assume_init()) };
        let from = status.MPI_SOURCE as usize;
        let bytes = u8::equivalent_datatype();
        let mut length = 0;
        // SAFETY: the status is that of a message of bytes.
        let result = unsafe { ffi::MPI_Get_count(&status, bytes.as_raw(), &mut length) };
        self.check(result, || format!("receive from rank {from}"));
        // The length is not negative and at most `PIECE`.
        let mut piece = vec![0; length as usize];
        let mut request = MaybeUninit::uninit();
        // SAFETY: the `Incoming` below owns the bytes. It is dropped, and its bytes are touched,
        // only when the request has completed (or the process ends). There are as many bytes as the
        // message has. MPI writes `request` if there is no error, and `message` is used once.
        let request = unsafe {
            let bytes = bytes.as_raw();
            let result = ffi::MPI_Imrecv(piece.as_mut_ptr().cast(), length, bytes, &mut message, request.as_mut_ptr());
            self.check(result, || format!("receive from rank {from}"));
            request.assume_init()
        };
        Some(Incoming { from, piece, request, arrived: false })
    }

    /// Returns the index of an arrived piece that may be taken. The pieces of one rank are taken in
    /// the order in which they were sent.
    fn next_arrived(&self) -> Option<usize> {
        (0..self.receiving.len()).find(|&index| {
            let Incoming { from, arrived, .. } = self.receiving[index];
            arrived && self.receiving[..index].iter().all(|earlier| earlier.from != from)
        })
    }

    /// Returns whether all these requests have completed.
    fn test(&self, requests: &mut [ffi::MPI_Request], action: impl FnOnce() -> String) -> bool {
        let mut done = 0;
        // SAFETY: the requests are of this communicator. Either they are pending, or all of them
        // are the null requests that MPI leaves for completed ones. Their number fits in an `int`:
        // each stands for megabytes, or there is only one.
        let result = unsafe {
            ffi::MPI_Testall(requests.len() as c_int, requests.as_mut_ptr(), &mut done, ffi::RSMPI_STATUSES_IGNORE)
        };
        self.check(result, action);
        done != 0
    }

    /// Ends the run if an MPI call failed. The state of MPI is undefined after an error.
    fn check(&self, result: c_int, action: impl FnOnce() -> String) {
        if result != SUCCESS {
            self.abort(&format!("error: rank {} cannot {}: {}", self.rank, action(), error_text(result)));
        }
    }
}

/// Returns at most `most` keys, in order from `first`, then from the smallest key.
fn in_turn<V>(map: &BTreeMap<usize, V>, first: usize, most: usize) -> Vec<usize> {
    let (from_first, before) = (map.range(first..), map.range(..first));
    from_first.chain(before).map(|(&key, _)| key).take(most).collect()
}

/// The return code of a successful MPI call. The standard defines it as 0.
const SUCCESS: c_int = 0;

/// Returns MPI's description of an error.
#[cold]
fn error_text(error: c_int) -> String {
    // Both MPICH and Open MPI need less.
    let mut text = [0u8; 4096];
    let mut length = 0;
    // SAFETY: the buffer has room for the longest message of any MPI, with its final zero.
    unsafe { ffi::MPI_Error_string(error, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    let length = usize::try_from(length).unwrap_or(0).min(text.len());
    String::from_utf8_lossy(&text[..length]).trim().to_owned()
}

impl Network for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        assert!(to < self.ranks, "rank {to} does not exist: the run has {} ranks", self.ranks);
        if to == self.rank {
            self.to_self.push_back(message);
        } else {
            self.sending.entry(to).or_default().push_back(Outgoing { message, requests: Vec::new() });
            self.post(to);
        }
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        if let Some(message) = self.to_self.pop_front() {
            return Some((self.rank, message));
        }
        self.advance_receives();
        while let Some(index) = self.next_arrived() {
            let Incoming { from, piece, .. } = self.receiving.remove(index);
            let is_last = piece.len() < PIECE;
            let message = match self.partial.remove(&from) {
                Some(mut message) => {
                    message.extend_from_slice(&piece);
                    message
                }
                None => piece,
            };
            if is_last {
                self.advance_sends(SENDS_ADVANCED);
                return Some((from, message));
            }
            self.partial.insert(from, message);
        }
        self.advance_sends(SENDS_ADVANCED_WHEN_IDLE);
        None
    }

    fn is_flushed(&mut self) -> bool {
        self.advance_sends(usize::MAX);
        self.to_self.is_empty() && self.sending.is_empty()
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if !self.finished {
            self.abort(&format!(
                "error: rank {} left before the end of the run, which ends it for all ranks",
                self.rank
            ));
        }
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sending: usize = self.sending.values().map(VecDeque::len).sum();
        f.debug_struct("Mpi")
            .field("rank", &self.rank)
            .field("ranks", &self.ranks)
            .field("sending", &sending)
            .field("receiving", &self.receiving.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_returned_in_turn() {
        let map: BTreeMap<usize, ()> = [2, 3, 5, 7].map(|key| (key, ())).into();
        assert_eq!(in_turn(&map, 0, 3), [2, 3, 5]);
        assert_eq!(in_turn(&map, 6, 3), [7, 2, 3]);
        assert_eq!(in_turn(&map, 8, usize::MAX), [2, 3, 5, 7]);
    }
}
