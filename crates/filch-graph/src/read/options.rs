//! How to read a file.

use std::fmt;

use super::Format;

/// The progress of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The bytes of the file read so far. Counts compressed bytes, if it is compressed.
    pub bytes: u64,
    /// The size of the file in bytes, if it is known.
    pub total: Option<u64>,
}

/// How to read a file.
///
/// ```
/// use filch_graph::read::{self, Options, Progress};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let seen = AtomicU64::new(0);
/// let progress = |progress: Progress| seen.store(progress.bytes, Ordering::Relaxed);
/// let options = Options::new().directed(true).progress(&progress);
/// let graph = read::load_from("list", &b"0 1\n"[..], &options)?.graph;
/// assert_eq!(graph.arcs(), 1);
/// assert_eq!(seen.into_inner(), 4);
/// # Ok::<(), read::ReadError>(())
/// ```
#[derive(Clone)]
pub struct Options<'a> {
    pub(super) format: Option<Format>,
    pub(super) directed: Option<bool>,
    pub(super) renumber: bool,
    pub(super) allow_isolated: bool,
    pub(super) simple: bool,
    pub(super) block_size: usize,
    pub(super) progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl<'a> Options<'a> {
    /// Returns the defaults: format detected, direction from the format, ids kept.
    pub fn new() -> Self {
        Options {
            format: None,
            directed: None,
            renumber: false,
            allow_isolated: false,
            simple: false,
            block_size: 1 << 20,
            progress: None,
        }
    }

    /// Sets the format, instead of detecting it.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets whether each entry is one arc, or an edge with both arcs.
    ///
    /// By default, edge lists are undirected, and the other formats follow their header.
    pub fn directed(mut self, directed: bool) -> Self {
        self.directed = Some(directed);
        self
    }

    /// Sets whether to number the ids of an edge list densely, in their order.
    ///
    /// Then they can be any numbers below 2⁶⁴ − 1; [`Loaded::names`](super::Loaded::names) keeps
    /// them. The other formats are numbered densely anyway.
    pub fn renumber(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }

    /// Sets whether to read files where
    /// [nearly all vertices have no edge](super#vertices-without-edges).
    ///
    /// Each such vertex takes four bytes.
    pub fn allow_isolated(mut self, allow: bool) -> Self {
        self.allow_isolated = allow;
        self
    }

    /// Sets whether to read a simple graph: without loops, and with each edge once.
    ///
    /// A loop is an error. An edge may be written twice, and a header may count it once or as often
    /// as it is written.
    pub fn simple(mut self, simple: bool) -> Self {
        self.simple = simple;
        self
    }

    /// Sets how many bytes are read at a time, which is also the longest line.
    ///
    /// The default is 1 MiB, the minimum 64 bytes.
    pub fn block_size(mut self, bytes: usize) -> Self {
        self.block_size = bytes.max(64);
        self
    }

    /// Sets a callback after each block, on the calling thread, for a progress bar.
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options::new()
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("format", &self.format)
            .field("directed", &self.directed)
            .field("renumber", &self.renumber)
            .field("allow_isolated", &self.allow_isolated)
            .field("simple", &self.simple)
            .field("block_size", &self.block_size)
            .finish_non_exhaustive()
    }
}
