//! A page: sections of texts, tables and figures, and how it becomes files.
//!
//! One `index.html` holds all of it and asks for nothing from elsewhere: drawings, figures, style and scripts are in it. Beside it
//! are the drawings (`plots/`) and the figures (`data/`) once more, for whoever wants them alone.

#[cfg(test)]
mod contrast;
mod document;
mod figure;
mod files;
mod links;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod verdicts;

use std::path::Path;

use anyhow::Result;

use super::collect::timeline::Timeline;

/// All that is on it.
#[derive(Debug)]
pub(super) struct Page {
    /// Facts about the run, each a name and a value: the machine, versions, when, how long, how busy others kept the machine.
    pub(super) facts: Vec<(String, String)>,
    /// What somebody should know before believing anything below: left out, interrupted, quick. Each a sentence.
    pub(super) notices: Vec<String>,
    /// What the papers claim beside what was measured.
    pub(super) verdicts: Vec<Verdict>,
    /// In the order of the page.
    pub(super) sections: Vec<Section>,
}

/// Whether a claim holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The interval includes both.
    Unclear,
    /// It was not measured in this run.
    NotMeasured,
}

/// A claim and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// Whose claim: the short title of a paper, or `filch`.
    pub(super) source: &'static str,
    /// In our words.
    pub(super) claim: String,
    /// The figures, with their interval.
    pub(super) measured: String,
    /// Whether it holds.
    pub(super) holds: Holds,
    /// The section that has more, by its id.
    pub(super) section: &'static str,
}

/// A part of the page.
#[derive(Debug)]
pub(super) struct Section {
    /// What links to it: lower case and hyphens.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: String,
    /// What is in it.
    pub(super) items: Vec<Item>,
}

/// Something in a section.
#[derive(Debug)]
pub(super) enum Item {
    /// A paragraph, without markup but for `code` in backquotes.
    Text(String),
    /// Something to sort.
    Table(Table),
    /// Something to look at.
    Figure(Figure),
    /// A run, to zoom into.
    Timeline(TimelineFigure),
}

/// Rows and columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Also the name of its file: lower case and hyphens, unique on the page.
    pub(super) id: String,
    /// What it shows.
    pub(super) caption: String,
    /// A heading a column.
    pub(super) header: Vec<String>,
    /// As many cells as headings.
    pub(super) rows: Vec<Vec<Cell>>,
    /// The command that makes its data.
    pub(super) command: String,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// A word or a sentence.
    Text(String),
    /// A number with what is shown for it; sorted by the number.
    Number(f64, String),
    /// Nothing.
    Empty,
}

/// A drawing.
#[derive(Debug)]
pub(super) struct Figure {
    /// Also the name of its files: lower case and hyphens, unique on the page.
    pub(super) id: String,
    /// Its heading.
    pub(super) title: String,
    /// What to see in it, and the paper's numbers beside it.
    pub(super) caption: String,
    /// The same for somebody who cannot see it: what it shows, with the main figures.
    pub(super) description: String,
    /// The command that makes its data.
    pub(super) command: String,
    /// What is drawn. Its data can be downloaded as CSV, which follows from it.
    pub(super) chart: crate::chart::Chart,
}

/// A timeline with its words.
#[derive(Debug)]
pub(super) struct TimelineFigure {
    /// As in a figure.
    pub(super) id: String,
    /// As in a figure.
    pub(super) title: String,
    /// As in a figure.
    pub(super) caption: String,
    /// As in a figure.
    pub(super) command: String,
    /// What to draw.
    pub(super) timeline: Timeline,
}

/// Writes `index.html` and all files beside it into the folder, which is made if it is not there.
///
/// Each file is whole or not there, and the page comes last: if anything fails, an old page is as it was, and needs none of the others.
pub(super) fn write(folder: &Path, page: &Page) -> Result<()> {
    files::write(folder, page)
}
