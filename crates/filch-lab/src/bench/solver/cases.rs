//! The cases: an instance and the settings to solve it with.
//!
//! The settings are those of the peer's own examples for such problems, or better ones if it has
//! them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use filch_dd::problems::{golomb, independent_set, knapsack, tsptw};
use filch_dd::Width;

use super::settings::{Method, Settings};
use crate::problem::{Kind, Loaded};

/// A case to solve.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    name: String,
    source: Source,
    /// The settings for both solvers.
    pub(crate) settings: Settings,
    /// Whether it is in a quick run.
    quick: bool,
}

/// The source of an instance.
#[derive(Clone, Debug)]
enum Source {
    /// A random graph.
    ///
    /// `per_thousand` in a thousand pairs of vertices are neighbours. Weights are at most
    /// `heaviest`.
    Graph { vertices: usize, per_thousand: u32, heaviest: i64 },
    /// A knapsack with this many items of a kind.
    Sack { items: usize, range: i64, kind: knapsack::Kind },
    /// A ruler with this many marks.
    Ruler { marks: usize },
    /// A tour of places in a square, with time windows of up to a width.
    Tour { places: usize, width: i64 },
    /// A published instance.
    File(Kind, PathBuf),
}

/// The seed of all instances.
const SEED: u64 = 1;

/// The side of the square that tours are in.
const SIDE: i64 = 100;

/// The settings of the peer's example.
const MISP: Settings = Settings { width: Width::Unassigned { factor: 1 }, method: Method::LastExactLayer };
/// The settings of the peer's example.
const KNAPSACK: Settings = Settings { width: Width::Unassigned { factor: 1 }, method: Method::CachedFrontier };
/// The settings that suit the peer best.
const GOLOMB: Settings = Settings { width: Width::Unassigned { factor: 10 }, method: Method::LastExactLayer };
/// The settings that suit the peer best.
const TSPTW: Settings = Settings { width: Width::Unassigned { factor: 1 }, method: Method::CachedFrontier };

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Case {
    /// A description of the case.
    pub(crate) fn description(&self) -> String {
        let instance = match &self.source {
            Source::Graph { vertices, per_thousand, heaviest } => {
                let weights = if *heaviest == 1 { String::new() } else { format!(" with weights up to {heaviest}") };
                format!(
                    "the heaviest independent set of {vertices} vertices{weights}, {} % of pairs are neighbours",
                    per_thousand / 10
                )
            }
            Source::Sack { items, kind, .. } => {
                let kind = match kind {
                    knapsack::Kind::Uncorrelated => "profits have nothing to do with weights",
                    knapsack::Kind::Weakly => "profits are close to weights",
                    knapsack::Kind::Strongly => "profits are weights and a constant",
                    knapsack::Kind::SubsetSum => "profits are weights",
                };
                format!("a knapsack for {items} items, {kind}")
            }
            Source::Ruler { marks } => format!("the shortest Golomb ruler with {marks} marks"),
            Source::Tour { places, width } => {
                format!("a tour of {places} places with time windows of up to {width}")
            }
            Source::File(kind, path) => format!("{} of {}", kind.name(), path.display()),
        };
        format!("{instance}; {}", self.settings)
    }

    /// Whether it is in a quick run.
    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    /// Whether a quick run also has it on other queues: few cases, of which tasks often move.
    pub(crate) fn compares_queues(&self) -> bool {
        ["misp/weighted-120-30%", "golomb/8"].contains(&self.name.as_str())
    }

    /// Loads the instance.
    pub(crate) fn load(&self) -> Result<Loaded> {
        Ok(match self.source {
            Source::Graph { vertices, per_thousand, heaviest } => {
                Loaded::Misp(independent_set::random(vertices, per_thousand, heaviest, SEED))
            }
            Source::Sack { items, range, kind } => Loaded::Knapsack(knapsack::random(items, range, kind, SEED)),
            Source::Ruler { marks } => Loaded::Golomb(golomb::Golomb::new(marks)?),
            Source::Tour { places, width } => Loaded::Tsptw(tsptw::random(places, SIDE, width, SEED)),
            Source::File(kind, ref path) => Loaded::read(kind, path)?,
        })
    }
}

/// All cases, in the order in which they are measured and printed.
///
/// The generated ones come first, then the published ones of a folder.
pub(crate) fn all(data: Option<&Path>) -> Result<Vec<Case>> {
    let mut cases = generated();
    if let Some(data) = data {
        ensure!(data.is_dir(), "{} is not a folder", data.display());
        cases.extend(published(data)?);
    }
    Ok(cases)
}

fn generated() -> Vec<Case> {
    let graph = |name: &str, vertices, per_thousand, heaviest, quick| Case {
        name: format!("misp/{name}"),
        source: Source::Graph { vertices, per_thousand, heaviest },
        settings: MISP,
        quick,
    };
    let sack = |name: &str, items, range, kind, quick| Case {
        name: format!("knapsack/{name}"),
        source: Source::Sack { items, range, kind },
        settings: KNAPSACK,
        quick,
    };
    let ruler = |marks, quick| Case {
        name: format!("golomb/{marks}"),
        source: Source::Ruler { marks },
        settings: GOLOMB,
        quick,
    };
    let tour = |places, width, quick| Case {
        name: format!("tsptw/random-{places}-{width}"),
        source: Source::Tour { places, width },
        settings: TSPTW,
        quick,
    };
    use knapsack::Kind::{Strongly, Uncorrelated, Weakly};
    vec![
        graph("random-100-50%", 100, 500, 1, true),
        graph("random-100-20%", 100, 200, 1, false),
        graph("random-150-30%", 150, 300, 1, false),
        graph("random-200-50%", 200, 500, 1, true),
        graph("weighted-120-30%", 120, 300, 100, true),
        sack("uncorrelated-500", 500, 10_000, Uncorrelated, false),
        sack("weakly-correlated-500", 500, 10_000, Weakly, false),
        sack("strongly-correlated-50", 50, 1_000, Strongly, true),
        sack("strongly-correlated-100", 100, 1_000, Strongly, true),
        ruler(7, true),
        ruler(8, true),
        ruler(9, false),
        tour(25, 300, true),
        tour(40, 400, false),
    ]
}

/// The published instances of a folder, in the order of their names.
fn published(data: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (kind, settings, suffix) in [(Kind::Misp, MISP, Some("clq")), (Kind::Knapsack, KNAPSACK, None)] {
        let folder = data.join(kind.name());
        if !folder.is_dir() {
            continue;
        }
        let entries = fs::read_dir(&folder).with_context(|| format!("{} cannot be listed", folder.display()))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("{} cannot be listed", folder.display()))?.path();
            let fits = suffix.is_none_or(|suffix| path.extension().is_some_and(|extension| extension == suffix));
            if path.is_file() && fits {
                paths.push(path);
            }
        }
        paths.sort();
        let case = |path: PathBuf| {
            let stem = path.file_stem()?.to_str()?;
            Some(Case {
                name: format!("{}/{stem}", kind.name()),
                source: Source::File(kind, path),
                settings,
                quick: false,
            })
        };
        cases.extend(paths.into_iter().filter_map(case));
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn generated_cases_have_names_of_their_own_and_can_be_made() {
        let cases = all(None).unwrap();
        let names: BTreeSet<String> = cases.iter().map(Case::to_string).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.iter().any(Case::is_quick));
        assert_eq!(cases.iter().filter(|case| case.compares_queues() && case.is_quick()).count(), 2);
        for case in &cases {
            case.load().unwrap();
        }
    }

    #[test]
    fn published_instances_are_found_in_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("misp/b.clq", "p edge 2 1\ne 1 2\n"), ("misp/README", ""), ("knapsack/a_1", "1 1\n1 1\n")]
        {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let cases = published(folder.path()).unwrap();
        let names: Vec<String> = cases.iter().map(Case::to_string).collect();
        assert_eq!(names, ["misp/b", "knapsack/a_1"]);
        assert!(cases.iter().all(|case| case.load().is_ok() && !case.is_quick()));
        assert!(published(&folder.path().join("nowhere")).unwrap().is_empty());
    }
}
