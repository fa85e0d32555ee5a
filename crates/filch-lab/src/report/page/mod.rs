//! A page of sections with texts, tables and figures, and its files.
//!
//! A single `index.html` contains everything and loads nothing from elsewhere: drawings, figures,
//! style and scripts are in it. The drawings (`plots/`) and the figures (`data/`) are also written
//! beside it, for separate use.

mod answers;
#[cfg(test)]
mod contrast;
pub(super) mod describe;
mod document;
mod figure;
mod files;
mod glossary;
mod links;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod verdicts;

pub(super) use files::write;

use super::collect::timeline::Timeline;
use crate::chart::{Chart, Estimate};
use crate::claims::Verdict;

/// The content of a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Facts about the run, each a name and a value.
    ///
    /// They are the machine, versions, the date, the duration, and the load by other programs.
    pub(super) facts: Vec<(String, String)>,
    /// Caveats, each a sentence: what was left out, whether it was interrupted or quick.
    pub(super) notices: Vec<String>,
    /// What a user asks, which the page opens with.
    pub(super) answers: Vec<Answer>,
    /// The papers' claims with their verdicts.
    pub(super) verdicts: Vec<Verdict>,
    /// The sections, in the order of the page.
    pub(super) sections: Vec<Section>,
}

/// The answer to a question of a user: a time of filch beside the times of its peers.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// What is timed: `A join`.
    pub(super) question: &'static str,
    /// The answer in words, or the command that measures it.
    pub(super) sentence: String,
    /// The unit of the times: `ns`.
    pub(super) unit: &'static str,
    /// The times, each with a name. The first is filch's. Empty if it was not measured.
    pub(super) times: Vec<(&'static str, Estimate)>,
    /// The section with all figures about it.
    pub(super) section: &'static str,
}

/// A part of the page.
#[derive(Debug)]
pub(super) struct Section {
    /// The anchor of its links: lower case and hyphens.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: String,
    /// Its content.
    pub(super) items: Vec<Item>,
}

/// An item of a section.
#[derive(Debug)]
pub(super) enum Item {
    /// A paragraph, without markup except `code` in backquotes.
    Text(String),
    /// A table that can be sorted.
    Table(Texts, Table),
    /// A drawing. Its data can be downloaded as CSV, which is derived from it.
    Figure(Texts, Chart),
    /// A run to zoom into.
    Timeline(Texts, Timeline),
}

impl Item {
    /// The texts of any item but a paragraph.
    pub(super) fn texts(&self) -> Option<&Texts> {
        match self {
            Item::Text(_) => None,
            Item::Table(texts, _) | Item::Figure(texts, _) | Item::Timeline(texts, _) => Some(texts),
        }
    }

    /// The files of the data and of the drawing, beside the page.
    fn files(&self) -> Vec<String> {
        match self {
            Item::Text(_) => Vec::new(),
            Item::Table(Texts { id, .. }, _) => vec![format!("data/{id}.csv")],
            Item::Figure(Texts { id, .. }, _) => figure::files(id).into(),
            Item::Timeline(Texts { id, .. }, _) => vec![format!("data/{id}.json")],
        }
    }
}

/// The texts of a table, a drawing or a timeline.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// Its id and file name: lower case and hyphens, unique on the page.
    pub(super) id: String,
    /// Its heading.
    pub(super) title: String,
    /// What to see in it, and the paper's numbers for comparison.
    pub(super) caption: String,
    /// The command that produces its data.
    pub(super) command: String,
}

impl Texts {
    pub(super) fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        command: impl Into<String>,
    ) -> Texts {
        Texts { id: id.into(), title: title.into(), caption: caption.into(), command: command.into() }
    }
}

/// The content of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The headings of the columns.
    pub(super) header: Vec<String>,
    /// The rows, each with as many cells as headings.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// A word or a sentence.
    Text(String),
    /// A number and its text; sorted by the number.
    Number(f64, String),
    /// An empty cell.
    Empty,
}
