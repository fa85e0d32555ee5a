//! The recorder.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::json;
use crate::pool::Shared;
use crate::sync::unpoisoned;

/// The number of events that are kept of each worker: the first ones. Later events are only
/// [counted](Trace::dropped).
pub const EVENTS_PER_WORKER: usize = 1 << 16;

/// What a worker did in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The worker ran a job from a queue, or a caller ran in its seat.
    ///
    /// The job was installed, spawned, part of a broadcast, or stolen by a worker that was not
    /// allowed to run it.
    Job,
    /// The worker ran a job that it had stolen.
    Stolen {
        /// The index of the worker that had the job.
        victim: usize,
    },
    /// The worker ran a task of a scope.
    Task,
    /// The worker published jobs of a worker that did not respond.
    Raid {
        /// The index of that worker.
        victim: usize,
    },
    /// The worker slept.
    Sleep,
    /// The worker published jobs of its own. This takes no time.
    Share {
        /// The number of jobs.
        jobs: u32,
    },
}

/// Something that a worker did, and when, counted from the start of the pool.
///
/// Of two events of one worker, either one is over before the other begins, or one is part of the
/// other: a job that is run while another one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// What the worker did.
    pub kind: Kind,
    /// When the event began.
    pub start: Duration,
    /// When the event ended; or when the trace was taken, if that was earlier.
    pub end: Duration,
}

/// The record of all workers of a pool; see `Pool::trace` and the [module](super).
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = filch::Pool::builder().threads(2).build()?;
/// pool.join(|| 1, || 2);
/// let mut json = Vec::new();
/// pool.trace().write_to(&mut json)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    tracks: Vec<Vec<Event>>,
    dropped: u64,
}

impl Trace {
    pub(crate) fn of(pool: &Shared) -> Trace {
        // The logs of the workers are created one after the other when the pool is built.
        let zero = pool.seats().map(|seat| seat.log.created).min();
        let mut trace = Trace { tracks: Vec::new(), dropped: 0 };
        for seat in pool.seats() {
            let records = seat.log.lock();
            // Under the lock: nothing in the records is later.
            let now = Instant::now();
            let since = |moment: Instant| zero.map_or(Duration::ZERO, |zero| moment - zero);
            let event = |entry: &Entry| Event {
                kind: entry.kind,
                start: since(entry.start),
                end: since(entry.end.unwrap_or(now)),
            };
            trace.tracks.push(records.entries.iter().map(event).collect());
            trace.dropped += records.dropped;
        }
        trace
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.tracks.len()
    }

    /// Returns the events of a worker, in the order in which they began.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub fn events(&self, worker: usize) -> &[Event] {
        &self.tracks[worker]
    }

    /// Returns the number of missing events, because a worker had recorded [`EVENTS_PER_WORKER`]
    /// before.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes the trace as JSON for [Perfetto](https://ui.perfetto.dev) or Chrome.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        json::write(self, writer)
    }

    /// Writes the trace to a file, and replaces what is there.
    ///
    /// A failure leaves the old file as it was: the trace is written beside it and then moved.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        // A link stays a link: the file that it points to is replaced.
        let path = path.as_ref();
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trace").suffix(".part");
        // The trace is no secret: it gets the permissions of any new file. A temporary file would
        // be for its owner only.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut writer = BufWriter::new(builder.tempfile_in(folder)?);
        self.write_to(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(target).map_err(|failure| failure.error)?;
        Ok(())
    }
}

/// The record of the occupants of one seat. Only the occupant writes; the lock is for readers.
#[derive(Debug)]
pub(crate) struct Log {
    created: Instant,
    records: Mutex<Records>,
}

#[derive(Debug)]
struct Records {
    entries: Vec<Entry>,
    dropped: u64,
    /// The sleep that has not ended.
    sleep: Option<usize>,
    /// The call in place that has not ended.
    call: Option<usize>,
}

impl Records {
    fn end(&mut self, entry: Option<usize>) {
        if let Some(entry) = entry {
            // Entries are not moved or removed.
            self.entries[entry].end = Some(Instant::now());
        }
    }
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    start: Instant,
    /// `None` as long as it lasts.
    end: Option<Instant>,
}

/// An activity that lasts until this is dropped.
#[derive(Debug)]
pub(crate) struct Span<'a> {
    log: &'a Log,
    /// `None` if there was no room for it.
    entry: Option<usize>,
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        self.log.lock().end(self.entry);
    }
}

impl Log {
    pub(crate) fn new() -> Log {
        Log {
            created: Instant::now(),
            records: Mutex::new(Records { entries: Vec::new(), dropped: 0, sleep: None, call: None }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        unpoisoned(self.records.lock())
    }

    /// Adds an entry, if there is room for it. The entry takes no time, or lasts from now on.
    fn add_entry(&self, kind: Kind, lasts: bool) -> Option<usize> {
        let mut records = self.lock();
        if records.entries.len() == EVENTS_PER_WORKER {
            // Wrapping: a fork writes here after it has pushed its job, and must not panic then.
            records.dropped = records.dropped.wrapping_add(1);
            return None;
        }
        let start = Instant::now();
        records.entries.push(Entry { kind, start, end: (!lasts).then_some(start) });
        Some(records.entries.len() - 1)
    }

    fn begin(&self, kind: Kind) -> Span<'_> {
        Span { log: self, entry: self.add_entry(kind, true) }
    }

    pub(crate) fn shared(&self, jobs: u32) {
        self.add_entry(Kind::Share { jobs }, false);
    }

    pub(crate) fn stolen(&self, victim: usize) -> Span<'_> {
        self.begin(Kind::Stolen { victim })
    }

    pub(crate) fn job(&self) -> Span<'_> {
        self.begin(Kind::Job)
    }

    pub(crate) fn task(&self) -> Span<'_> {
        self.begin(Kind::Task)
    }

    pub(crate) fn raid(&self, victim: usize) -> Span<'_> {
        self.begin(Kind::Raid { victim })
    }

    /// Begins a sleep of the worker. Not a span: a caller that borrows the seat ends it.
    pub(crate) fn fall_asleep(&self) {
        let entry = self.add_entry(Kind::Sleep, true);
        self.lock().sleep = entry;
    }

    pub(crate) fn wake_up(&self) {
        let mut records = self.lock();
        let entry = records.sleep.take();
        records.end(entry);
    }

    /// Begins a call from outside in this seat.
    pub(crate) fn begin_call(&self) {
        let entry = self.add_entry(Kind::Job, true);
        self.lock().call = entry;
    }

    pub(crate) fn end_call(&self) {
        let mut records = self.lock();
        let entry = records.call.take();
        records.end(entry);
    }
}
