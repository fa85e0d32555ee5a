//! The node costs of a real search, as a file.
//!
//! A recording lists the nodes of a search by one thread, in the order in which it took them,
//! youngest first. For each node it has the time and the number of nodes that it left open. That is
//! enough to rebuild the tree. A node takes a few bytes in the file.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// The first bytes of every recording. The version follows.
const MAGIC: &[u8; 8] = b"filchrec";
const VERSION: u8 = 1;
/// The length of the magic bytes, the version and the checksum of the rest.
const HEADER: usize = MAGIC.len() + 1 + 4;

/// A recorded node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Its cost, in nanoseconds.
    pub cost: u32,
    /// The number of nodes that it left open.
    pub children: u32,
}

/// The nodes of a search by one thread, in the order of processing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    name: String,
    nodes: Vec<Taken>,
}

/// Error from reading a file that should be a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingError {
    /// The file does not start with the magic bytes.
    Foreign,
    /// The file has a version that this program does not know.
    Version(u8),
    /// The file is too short, or has changed since it was written.
    Damaged,
    /// The nodes do not form a tree. At this node no node is open, or nodes are open at the end.
    NoTree(usize),
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingError::Foreign => {
                f.write_str("expected a recording, found another kind of file; `filch-lab simulate --record PROBLEM FILE --out RECORDING` makes one")
            }
            RecordingError::Version(version) => {
                write!(
                    f,
                    "expected version {VERSION} of the format, found version {version}; record the search again"
                )
            }
            RecordingError::Damaged => {
                f.write_str("the recording is damaged or truncated: its checksum differs; record the search again")
            }
            RecordingError::NoTree(nodes) => {
                write!(f, "expected a tree, found nodes that do not form one after {nodes} of them; record the search again")
            }
        }
    }
}

impl std::error::Error for RecordingError {}

/// The part that the checksum covers.
#[derive(Serialize, Deserialize)]
struct Body {
    name: String,
    nodes: Vec<Taken>,
}

impl Recording {
    /// Creates an empty recording. The name is for people.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Recording { name: name.to_owned(), nodes: Vec::new() }
    }

    /// Adds the next node that the search took.
    pub fn add(&mut self, took: Duration, left_open: usize) {
        let cost = u32::try_from(took.as_nanos()).unwrap_or(u32::MAX);
        self.nodes.push(Taken { cost, children: u32::try_from(left_open).unwrap_or(u32::MAX) });
    }

    /// Completes the recording to a tree.
    ///
    /// A search that was stopped left nodes open that it never took. They are left out.
    pub fn finish(&mut self) {
        // Nodes that still miss children, the youngest last.
        let mut waiting: Vec<(usize, u32)> = Vec::new();
        for (index, taken) in self.nodes.iter().enumerate() {
            if let Some((_, missing)) = waiting.last_mut() {
                *missing -= 1;
                if *missing == 0 {
                    waiting.pop();
                }
            }
            if taken.children > 0 {
                waiting.push((index, taken.children));
            }
        }
        for (index, missing) in waiting {
            self.nodes[index].children -= missing;
        }
    }

    /// Merges another recording of the same search and keeps the smaller cost of each node.
    ///
    /// Higher costs are taken to include time of other processes on the core. Returns whether it is
    /// the same search.
    pub fn calm(&mut self, other: &Recording) -> bool {
        let is_same = self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(ours, theirs)| ours.children == theirs.children);
        if is_same {
            for (ours, theirs) in self.nodes.iter_mut().zip(&other.nodes) {
                ours.cost = ours.cost.min(theirs.cost);
            }
        }
        is_same
    }

    /// Returns the name of the search.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the nodes, in the order in which they were taken.
    #[must_use]
    pub fn nodes(&self) -> &[Taken] {
        &self.nodes
    }

    /// Returns the cost of all nodes together.
    #[must_use]
    pub fn work(&self) -> Duration {
        Duration::from_nanos(self.nodes.iter().map(|taken| u64::from(taken.cost)).sum())
    }

    /// Encodes the recording as a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend_from_slice(&[0; 4]);
        let body = Body { name: self.name.clone(), nodes: self.nodes.clone() };
        let mut bytes = postcard::to_extend(&body, bytes).expect("numbers and names can always be written to memory");
        let checksum = crc32fast::hash(&bytes[HEADER..]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes a file.
    ///
    /// # Errors
    ///
    /// If the file is not a recording, or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordingError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Foreign)?;
        let (&version, rest) = rest.split_first().ok_or(RecordingError::Damaged)?;
        if version != VERSION {
            return Err(RecordingError::Version(version));
        }
        let (checksum, body) = rest.split_first_chunk::<4>().ok_or(RecordingError::Damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return Err(RecordingError::Damaged);
        }
        let Body { name, nodes } = postcard::from_bytes(body).map_err(|_| RecordingError::Damaged)?;
        let recording = Recording { name, nodes };
        recording.check()?;
        Ok(recording)
    }

    /// Checks that the nodes are one tree.
    fn check(&self) -> Result<(), RecordingError> {
        let mut open = 1u64;
        for (index, taken) in self.nodes.iter().enumerate() {
            open = open.checked_sub(1).ok_or(RecordingError::NoTree(index))?;
            open += u64::from(taken.children);
        }
        if open == 0 {
            Ok(())
        } else {
            Err(RecordingError::NoTree(self.nodes.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(nodes: &[(u32, u32)]) -> Recording {
        let mut recording = Recording::new("test");
        for &(cost, children) in nodes {
            recording.add(Duration::from_nanos(u64::from(cost)), children as usize);
        }
        recording
    }

    #[test]
    fn a_written_recording_is_read_back() {
        let recording = recording(&[(1_000_000, 2), (300, 1), (7, 0), (500_000_000, 0)]);
        let bytes = recording.to_bytes();
        assert_eq!(Recording::from_bytes(&bytes).unwrap(), recording);
        assert_eq!(recording.work(), Duration::from_nanos(501_000_307));
        assert!(bytes.len() < HEADER + 8 + 4 * 6, "a node is a few bytes: {}", bytes.len());
    }

    #[test]
    fn finishing_leaves_out_nodes_that_were_never_taken() {
        let mut stopped = recording(&[(1, 3), (2, 2), (3, 0)]);
        assert_eq!(stopped.check(), Err(RecordingError::NoTree(3)));
        stopped.finish();
        assert_eq!(stopped, recording(&[(1, 1), (2, 1), (3, 0)]));
        assert_eq!(stopped.check(), Ok(()));
    }

    #[test]
    fn a_merge_of_two_recordings_keeps_the_smaller_costs() {
        let mut first = recording(&[(9, 1), (5, 0)]);
        assert!(first.calm(&recording(&[(8, 1), (6, 0)])));
        assert_eq!(first, recording(&[(8, 1), (5, 0)]));
        assert!(!first.calm(&recording(&[(1, 2), (1, 0), (1, 0)])));
        assert_eq!(first, recording(&[(8, 1), (5, 0)]));
    }

    #[test]
    fn damaged_and_foreign_files_are_refused() {
        let good = recording(&[(1, 1), (2, 0)]).to_bytes();
        let refusal = |bytes: &[u8]| Recording::from_bytes(bytes).unwrap_err();
        assert_eq!(refusal(b""), RecordingError::Foreign);
        assert_eq!(refusal(b"p edge 3 2\n"), RecordingError::Foreign);
        for end in MAGIC.len()..good.len() {
            assert_eq!(refusal(&good[..end]), RecordingError::Damaged, "cut after {end}");
        }
        for place in HEADER - 4..good.len() {
            let mut changed = good.clone();
            changed[place] ^= 0x10;
            assert_eq!(refusal(&changed), RecordingError::Damaged, "changed at {place}");
        }
        let mut later = good.clone();
        later[MAGIC.len()] = VERSION + 1;
        assert_eq!(refusal(&later), RecordingError::Version(VERSION + 1));
        for (nodes, after) in [(&[(1, 0), (2, 0)][..], 1), (&[(1, 1)], 1), (&[], 0)] {
            assert_eq!(refusal(&recording(nodes).to_bytes()), RecordingError::NoTree(after));
        }
    }
}
