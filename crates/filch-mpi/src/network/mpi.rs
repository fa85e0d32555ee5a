//! Ranks that are processes, started by `mpirun`.
//!
//! MPI promises that messages between two ranks that could match the same receive are matched in the order in which they
//! were sent. There is one kind of receive here (a matched probe for anybody, one tag, a communicator of our own), so that
//! they arrive in order.
//!
//! Nobody waits for anybody: a large send completes only when the other side takes the message in (rendezvous), and two
//! ranks that waited for their sends would wait forever. So every send is immediate and owns its bytes until MPI has done
//! with them, and every receive is immediate too: `receive` returns what has arrived whole. Each call lets MPI make progress.
//!
//! MPI counts bytes by a C `int`. A message is sent in pieces of [`PIECE`] bytes, the last of which is shorter: by that it
//! is known to be the last, so a message of exactly so many bytes is followed by an empty piece. The pieces of one message
//! follow each other, as every other two messages between the same ranks do.

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

/// The most bytes that are given to MPI at once. Far below what an `int` can count: there is no gain in more.
const PIECE: usize = 4 << 20;
/// How many messages to one rank MPI has at a time; the others wait here, where that costs nothing.
const POSTED: usize = 16;
/// How many pieces are received at a time. What is not taken in yet waits on the other side.
const RECEIVING: usize = 16;
/// To how many ranks what is being sent is looked after for each message that is received, and when there is none. A rank that sends to thousands would look at all of them for each message otherwise.
const LOOKED_AFTER: usize = 8;
const LOOKED_AFTER_AT_REST: usize = 64;
/// All messages have it.
const TAG: c_int = 0;
/// How long to rest between two looks at whether the others are done.
const REST: Duration = Duration::from_micros(100);

/// A network whose ranks are the processes that `mpirun` started. A program that was started without it is the only rank.
///
/// It belongs to the thread that made it: MPI is told that no other will call it.
///
/// The run ends in order by [`finish`](Mpi::finish). One that is dropped before that, by a panic or an early return, ends
/// the run for all ranks: the others might wait for this one forever.
pub struct Mpi {
    rank: usize,
    ranks: usize,
    /// For each rank that something is being sent to, what, in order. At most [`POSTED`] of them, the first, are with MPI.
    sending: BTreeMap<usize, VecDeque<Outgoing>>,
    /// From which rank on that is looked after next.
    next_sent: usize,
    /// What is being received, in the order of arrival.
    receiving: Vec<Incoming>,
    /// The first pieces of messages that have not arrived whole.
    begun: BTreeMap<usize, Vec<u8>>,
    /// From this rank to itself.
    to_self: VecDeque<Vec<u8>>,
    finished: bool,
    communicator: SimpleCommunicator,
    /// MPI ends when it is dropped. After `communicator`, which is of it.
    _universe: Universe,
    /// Not `Send`, not `Sync`.
    here: PhantomData<*const ()>,
}

/// A message on its way out.
struct Outgoing {
    message: Vec<u8>,
    /// Of its pieces; empty while it waits for its turn, or when it has left.
    requests: Vec<ffi::MPI_Request>,
}

/// A piece on its way in.
struct Incoming {
    from: usize,
    piece: Vec<u8>,
    request: ffi::MPI_Request,
    arrived: bool,
}

/// Why there is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl Mpi {
    /// Starts MPI, which a process can do once.
    pub fn start() -> Result<Mpi, StartError> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(StartError("MPI was started in this process before, which can be done once".to_owned()));
        };
        if threading < Threading::Funneled {
            return Err(StartError(
                "this MPI is for programs of a single thread, and each rank has one for its messages beside those that work; \
                 use an MPI that was built with support for threads"
                    .to_owned(),
            ));
        }
        let world = universe.world();
        let communicator = world.duplicate();
        // SAFETY: MPI runs, and the communicator is ours; the handler is one of MPI's own.
        unsafe { ffi::MPI_Comm_set_errhandler(communicator.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
        let (rank, ranks) = (communicator.rank(), communicator.size());
        Ok(Mpi {
            // MPI counts from 0.
            rank: rank as usize,
            ranks: ranks as usize,
            sending: BTreeMap::new(),
            next_sent: 0,
            receiving: Vec::new(),
            begun: BTreeMap::new(),
            to_self: VecDeque::new(),
            finished: false,
            communicator,
            _universe: universe,
            here: PhantomData,
        })
    }

    /// Which MPI this is, in its own words.
    pub fn library() -> String {
        let words = mpi::environment::library_version().unwrap_or_default();
        // Open MPI says the name first, then where it was built; MPICH has a line for each.
        let first = words.lines().next().unwrap_or("").split(',').next().unwrap_or("");
        first.trim_end_matches('\0').trim().to_owned()
    }

    /// The name of the machine that this rank runs on.
    pub fn machine() -> String {
        mpi::environment::processor_name().unwrap_or_default()
    }

    /// Waits until all ranks have come to this call. Between two uses of the network, neither of which leaves messages
    /// behind, it keeps those of the second from those who are still in the first.
    pub fn meet(&mut self) {
        self.barrier(None, |_| ());
    }

    /// Ends in order: waits until all ranks have come to this call and everything was sent. What arrives meanwhile is
    /// dropped.
    pub fn finish(self) {
        self.finish_by(None);
    }

    /// Ends in order if the others come to it in this time, or else ends the run for all: when something went wrong, and
    /// somebody may be missing.
    pub fn finish_within(self, patience: Duration) {
        self.finish_by(Some(Instant::now() + patience));
    }

    fn finish_by(mut self, end: Option<Instant>) {
        let mut flushed = self.is_flushed();
        while !flushed {
            while self.receive().is_some() {}
            self.rest(end);
            flushed = self.is_flushed();
        }
        // The others may still send to this rank, and wait until it has taken that in.
        self.barrier(end, |network| while network.receive().is_some() {});
        // What is still being received comes from sends that have completed: it arrives without anybody's doing.
        while !self.receiving.is_empty() {
            while self.receive().is_some() {}
            self.rest(end);
        }
        self.finished = true;
    }

    fn barrier(&mut self, end: Option<Instant>, mut meanwhile: impl FnMut(&mut Mpi)) {
        let what = || "wait for the other ranks".to_owned();
        let mut request = MaybeUninit::uninit();
        // SAFETY: the communicator is valid, and `request` is written where there is no error.
        let mut request = unsafe {
            let result = ffi::MPI_Ibarrier(self.communicator.as_raw(), request.as_mut_ptr());
            self.check(result, what);
            [request.assume_init()]
        };
        while !self.test(&mut request, what) {
            meanwhile(self);
            self.rest(end);
        }
    }

    /// Between two looks at whether the others are done, unless that takes too long.
    fn rest(&self, end: Option<Instant>) {
        if end.is_some_and(|end| Instant::now() > end) {
            // Why it ends was said by who knows.
            self.communicator.abort(1);
        }
        thread::sleep(REST);
    }

    /// Ends the run of all ranks at once, with a sentence that says why: for when it cannot end in order.
    pub fn abort(&self, sentence: &str) -> ! {
        // Whoever closed standard error does not want to know.
        let _ = writeln!(io::stderr(), "{sentence}");
        let _ = io::stdout().flush();
        self.communicator.abort(1)
    }

    /// Has MPI take as many messages to that rank as it may have.
    fn post(&mut self, to: usize) {
        let Some(queue) = self.sending.get_mut(&to) else { return };
        let communicator = self.communicator.as_raw();
        let mut result = 0;
        for outgoing in queue.iter_mut().take(POSTED).filter(|outgoing| outgoing.requests.is_empty()) {
            for begin in (0..=outgoing.message.len()).step_by(PIECE) {
                let length = PIECE.min(outgoing.message.len() - begin);
                let mut request = MaybeUninit::uninit();
                // SAFETY: the bytes are owned by `outgoing`, which is only dropped when all its requests have completed
                // (or with the process), and they are not touched before: moving a vector leaves them where they are.
                // A piece and a rank are within an int. `request` is written where there is no error.
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

    /// Frees what has left, and sends what waited for that: to so many ranks at most, all of them in turn.
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
                // One after the other: each test completes the oldest, and the window moves by one.
                self.post(to);
            }
            if left && self.sending.get(&to).is_some_and(VecDeque::is_empty) {
                self.sending.remove(&to);
            }
        }
    }

    /// Takes in what has arrived, and begins to receive more.
    fn advance_receives(&mut self) {
        while self.receiving.len() < RECEIVING {
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

    /// Begins to receive the next piece, if there is one.
    fn next_arrival(&mut self) -> Option<Incoming> {
        let (mut found, mut message, mut status) = (0, MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the communicator is valid; what is found is written to the rest.
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
        self.check(result, || "look for messages".to_owned());
        if found == 0 {
            return None;
        }
        // SAFETY: there is a message, so both were written.
        let (mut message, status): (ffi::MPI_Message, ffi::MPI_Status) =
            unsafe { (message.assume_init(), status.assume_init()) };
        let from = status.MPI_SOURCE as usize;
        let bytes = u8::equivalent_datatype();
        let mut length = 0;
        // SAFETY: the status is that of a message of bytes.
        let result = unsafe { ffi::MPI_Get_count(&status, bytes.as_raw(), &mut length) };
        self.check(result, || format!("receive from rank {from}"));
        // A number of bytes, not more than a piece has.
        let mut piece = vec![0; length as usize];
        let mut request = MaybeUninit::uninit();
        // SAFETY: the bytes are owned by the `Incoming` below, which is only dropped, and its bytes only touched, when the
        // request has completed (or the process ends). There are as many as the message has. `request` is written where
        // there is no error, and `message` is used once.
        let request = unsafe {
            let bytes = bytes.as_raw();
            let result = ffi::MPI_Imrecv(piece.as_mut_ptr().cast(), length, bytes, &mut message, request.as_mut_ptr());
            self.check(result, || format!("receive from rank {from}"));
            request.assume_init()
        };
        Some(Incoming { from, piece, request, arrived: false })
    }

    /// Of the pieces that have arrived, one that may be taken: those of one rank in the order in which they were sent.
    fn next_arrived(&self) -> Option<usize> {
        (0..self.receiving.len()).find(|&index| {
            let Incoming { from, arrived, .. } = self.receiving[index];
            arrived && self.receiving[..index].iter().all(|earlier| earlier.from != from)
        })
    }

    /// Whether all these requests have completed.
    fn test(&self, requests: &mut [ffi::MPI_Request], what: impl FnOnce() -> String) -> bool {
        let mut done = 0;
        // SAFETY: the requests are of this communicator, and either not completed or, all of them, what MPI has in place
        // of completed ones. There are fewer than an int can count: each stands for megabytes, or there is one.
        let result = unsafe {
            ffi::MPI_Testall(requests.len() as c_int, requests.as_mut_ptr(), &mut done, ffi::RSMPI_STATUSES_IGNORE)
        };
        self.check(result, what);
        done != 0
    }

    /// Ends the run if MPI could not do something. There is no going on: its state is undefined then.
    fn check(&self, result: c_int, what: impl FnOnce() -> String) {
        if result != SUCCESS {
            self.abort(&format!("error: rank {} cannot {}: {}", self.rank, what(), reason(result)));
        }
    }
}

/// The keys from `first` on, at most so many, and after the last of them the others.
fn in_turn<V>(map: &BTreeMap<usize, V>, first: usize, most: usize) -> Vec<usize> {
    let (from_first, before) = (map.range(first..), map.range(..first));
    from_first.chain(before).map(|(&key, _)| key).take(most).collect()
}

/// What MPI returns when all is well; the standard says that it is 0.
const SUCCESS: c_int = 0;

/// What MPI says about an error.
#[cold]
fn reason(error: c_int) -> String {
    // Both MPICH and Open MPI need less.
    let mut words = [0u8; 4096];
    let mut length = 0;
    // SAFETY: there is room for the longest message that an MPI may have, which it ends with a zero.
    unsafe { ffi::MPI_Error_string(error, words.as_mut_ptr().cast::<c_char>(), &mut length) };
    let length = usize::try_from(length).unwrap_or(0).min(words.len());
    String::from_utf8_lossy(&words[..length]).trim().to_owned()
}

impl Network for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        assert!(to < self.ranks, "there are {} ranks, and none is {to}", self.ranks);
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
            let message = match self.begun.remove(&from) {
                Some(mut message) => {
                    message.extend_from_slice(&piece);
                    message
                }
                None => piece,
            };
            if is_last {
                self.advance_sends(LOOKED_AFTER);
                return Some((from, message));
            }
            self.begun.insert(from, message);
        }
        self.advance_sends(LOOKED_AFTER_AT_REST);
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
            self.abort(&format!("error: rank {} left before the end, and so ended the run", self.rank));
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
    fn all_have_their_turn() {
        let map: BTreeMap<usize, ()> = [2, 3, 5, 7].map(|key| (key, ())).into();
        assert_eq!(in_turn(&map, 0, 3), [2, 3, 5]);
        assert_eq!(in_turn(&map, 6, 3), [7, 2, 3]);
        assert_eq!(in_turn(&map, 8, usize::MAX), [2, 3, 5, 7]);
    }
}
