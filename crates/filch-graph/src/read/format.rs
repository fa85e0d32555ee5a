//! The formats, their names, and how they are told apart.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::matrix_market;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Two ids per line, as in the SNAP collection.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "# FromNodeId\tToNodeId\n0\t3\n3, 1\n1 2 0.75\n";
    /// let graph = load_from("list", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.vertices(), 4);
    /// assert_eq!(graph.neighbours(1), [3, 2]);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    EdgeList,
    /// The entries of a sparse matrix.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n";
    /// let graph = load_from("matrix", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.neighbours(0), [1, 2]);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    MatrixMarket,
    /// As in the DIMACS challenges on colouring and cliques, and on shortest paths.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "c two roads\np sp 3 2\na 1 2 70\na 2 3 50\n";
    /// let graph = load_from("roads", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.neighbours(1), [2]);
    /// assert_eq!(graph.degree(2), 0);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    Dimacs,
}

impl Format {
    pub(super) const ALL: [Format; 3] = [Format::EdgeList, Format::MatrixMarket, Format::Dimacs];

    fn name(self) -> &'static str {
        match self {
            Format::EdgeList => "edge-list",
            Format::MatrixMarket => "matrix-market",
            Format::Dimacs => "dimacs",
        }
    }

    /// Returns the format of a file name's extension, without that of gzip.
    pub(super) fn of_name(path: &Path) -> Option<Format> {
        let extension =
            |path: &Path| path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let last = match extension(path) {
            Some(last) if last == "gz" || last == "gzip" => extension(Path::new(path.file_stem()?)),
            last => last,
        };
        match &*last? {
            "mtx" | "mm" => Some(Format::MatrixMarket),
            "col" | "clq" | "gr" | "dimacs" => Some(Format::Dimacs),
            _ => None,
        }
    }

    /// Returns the format that the first lines show.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Format> {
        let line = lines.map(<[u8]>::trim_ascii).find(|line| !line.is_empty())?;
        let banner = matrix_market::BANNER;
        if line.len() >= banner.len() && line[..banner.len()].eq_ignore_ascii_case(banner) {
            return Some(Format::MatrixMarket);
        }
        match line {
            [b'c' | b'p'] | [b'c' | b'p', b' ' | b'\t', ..] => Some(Format::Dimacs),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    /// Parses `edge-list`, `matrix-market` or `dimacs`.
    fn from_str(name: &str) -> Result<Format, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("there is no format {name:?}: it is edge-list, matrix-market or dimacs"))
    }
}
