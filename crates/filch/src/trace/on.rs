//! The recorder.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::json;
use crate::pool::Shared;

/// How many events are kept of each worker: the first ones. Later ones are only [counted](Trace::dropped).
pub const EVENTS_A_WORKER: usize = 1 << 16;

/// What a worker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It ran a job from a queue (installed, spawned, part of a broadcast, or one that its thief was not
    /// allowed to run), or a caller from outside ran in its seat.
    Job,
    /// It ran a job that it had stolen.
    Stolen {
        /// From this worker.
        victim: usize,
    },
    /// It ran a task of a scope.
    Task,
    /// It made jobs of a worker public that did not answer.
    Raid {
        /// That worker.
        victim: usize,
    },
    /// It slept.
    Sleep,
    /// It made jobs of its own public. This takes no time.
    Share {
        /// So many.
        jobs: u32,
    },
}

/// Something that a worker did, and when, counted from the start of the pool.
///
/// Of two events of one worker either one is over before the other begins, or it is part of it: a job that is run while another one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// What.
    pub kind: Kind,
    /// When it began.
    pub start: Duration,
    /// When it ended; or when the trace was taken, if that was earlier.
    pub end: Duration,
}

/// All that a pool's workers have recorded; see `Pool::trace` and the [module](super).
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
        // The workers' logs are made one after the other when the pool is built.
        let zero = pool.seats().map(|seat| seat.log.made).min();
        let mut trace = Trace { tracks: Vec::new(), dropped: 0 };
        for seat in pool.seats() {
            let book = seat.log.book();
            // Under the lock: nothing in the book is later.
            let now = Instant::now();
            let since = |moment: Instant| zero.map_or(Duration::ZERO, |zero| moment - zero);
            let event = |entry: &Entry| Event {
                kind: entry.kind,
                start: since(entry.start),
                end: since(entry.end.unwrap_or(now)),
            };
            trace.tracks.push(book.entries.iter().map(event).collect());
            trace.dropped += book.dropped;
        }
        trace
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.tracks.len()
    }

    /// What a worker did, in the order in which it began.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub fn events(&self, worker: usize) -> &[Event] {
        &self.tracks[worker]
    }

    /// How many events are missing because a worker had recorded [`EVENTS_A_WORKER`] before.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes it as JSON for [Perfetto](https://ui.perfetto.dev) or Chrome.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        json::write(self, writer)
    }

    /// Writes the same to a file, in place of what is there. A failure leaves that as it was: the trace is written beside it and then moved.
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
        // No secret: it gets what any new file gets, where a temporary file would be for its owner only.
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

/// What the occupants of one seat write down. Only the occupant writes; the lock is for readers.
#[derive(Debug)]
pub(crate) struct Log {
    made: Instant,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    entries: Vec<Entry>,
    dropped: u64,
    /// The sleep that lasts.
    sleep: Option<usize>,
    /// The call in place that lasts.
    call: Option<usize>,
}

impl Book {
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
    /// None as long as it lasts.
    end: Option<Instant>,
}

/// Something that lasts until it is dropped.
#[derive(Debug)]
pub(crate) struct Span<'a> {
    log: &'a Log,
    /// None if there was no room for it.
    entry: Option<usize>,
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        self.log.book().end(self.entry);
    }
}

impl Log {
    pub(crate) fn new() -> Log {
        Log {
            made: Instant::now(),
            book: Mutex::new(Book { entries: Vec::new(), dropped: 0, sleep: None, call: None }),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // No section leaves the book half written.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry, if there is room for it: one that takes no time, or one that lasts from now on.
    fn write_down(&self, kind: Kind, lasts: bool) -> Option<usize> {
        let mut book = self.book();
        if book.entries.len() == EVENTS_A_WORKER {
            // Wrapping: a fork writes here after it has pushed its job, and must not panic then.
            book.dropped = book.dropped.wrapping_add(1);
            return None;
        }
        let start = Instant::now();
        book.entries.push(Entry { kind, start, end: (!lasts).then_some(start) });
        Some(book.entries.len() - 1)
    }

    fn begin(&self, kind: Kind) -> Span<'_> {
        Span { log: self, entry: self.write_down(kind, true) }
    }

    pub(crate) fn shared(&self, jobs: u32) {
        self.write_down(Kind::Share { jobs }, false);
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

    /// The worker sleeps from now on. Not a span: a caller that borrows the seat ends it.
    pub(crate) fn fall_asleep(&self) {
        let entry = self.write_down(Kind::Sleep, true);
        self.book().sleep = entry;
    }

    pub(crate) fn wake_up(&self) {
        let mut book = self.book();
        let entry = book.sleep.take();
        book.end(entry);
    }

    /// A caller from outside runs in this seat from now on.
    pub(crate) fn begin_call(&self) {
        let entry = self.write_down(Kind::Job, true);
        self.book().call = entry;
    }

    pub(crate) fn end_call(&self) {
        let mut book = self.book();
        let entry = book.call.take();
        book.end(entry);
    }
}
