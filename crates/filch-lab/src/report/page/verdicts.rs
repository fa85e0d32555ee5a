//! The verdicts: each claim, the measurement, and whether the claim holds. A fold for each source.

use maud::{html, Markup};

use super::glossary::Marker;
use super::table::sort_button;
use crate::claims::{Holds, Verdict};

/// All values, in the order of counting and sorting.
const ALL: [Holds; 4] = [Holds::Yes, Holds::No, Holds::Unclear, Holds::NotMeasured];

impl Holds {
    /// A symbol for colour-blind readers, the class name in the style sheet, and the place in a fold.
    fn look(self) -> (&'static str, &'static str, u8) {
        match self {
            Holds::No => ("✗", "verdict no", 0),
            Holds::Unclear => ("?", "verdict unclear", 1),
            Holds::NotMeasured => ("–", "verdict none", 2),
            Holds::Yes => ("✓", "verdict yes", 3),
        }
    }

    fn symbol(self) -> &'static str {
        self.look().0
    }

    fn class(self) -> &'static str {
        self.look().1
    }

    fn place(self) -> usize {
        ALL.iter().position(|holds| *holds == self).unwrap_or(ALL.len())
    }
}

/// The id of the section.
pub(super) const ID: &str = "verdicts";

/// The rows of a page: each verdict with the id of its row, in the order of the page.
pub(super) struct Rows<'a>(Vec<(String, &'a Verdict)>);

impl<'a> Rows<'a> {
    /// Numbers the verdicts of each section.
    pub(super) fn new(verdicts: &'a [Verdict]) -> Self {
        let row = |(place, verdict): (usize, &'a Verdict)| {
            let is_before = |other: &&Verdict| other.source.section == verdict.source.section;
            let number = 1 + verdicts[..place].iter().filter(is_before).count();
            (format!("claim-{}-{number}", verdict.source.section), verdict)
        };
        Rows(verdicts.iter().enumerate().map(row).collect())
    }

    /// Returns the verdicts that lead to a section.
    pub(super) fn of_section(&self, section: &str) -> Rows<'a> {
        self.filtered(|verdict| verdict.source.section == section)
    }

    fn filtered(&self, is_wanted: impl Fn(&Verdict) -> bool) -> Rows<'a> {
        Rows(self.0.iter().filter(|(_, verdict)| is_wanted(verdict)).cloned().collect())
    }

    /// Returns each source with its verdicts. Within a source, open verdicts come first.
    fn by_source(&self) -> Vec<(&'static str, Rows<'a>)> {
        let mut sources: Vec<(&str, Rows<'_>)> = Vec::new();
        for (_, verdict) in &self.0 {
            let title = verdict.source.title;
            if !sources.iter().any(|(known, _)| *known == title) {
                let mut rows = self.filtered(|verdict| verdict.source.title == title);
                rows.0.sort_by_key(|(_, verdict)| verdict.holds.look().2);
                sources.push((title, rows));
            }
        }
        sources
    }

    /// Returns the number of each verdict that occurs, and the id of its first row.
    fn counts(&self) -> Vec<(Holds, usize, &str)> {
        let count = |holds: Holds| {
            let mut rows = self.0.iter().filter(|(_, verdict)| verdict.holds == holds);
            let (first, _) = rows.next()?;
            Some((holds, 1 + rows.count(), &**first))
        };
        ALL.into_iter().filter_map(count).collect()
    }

    /// Returns a line with the number of each verdict, each a link to the first.
    pub(super) fn tally(&self) -> Markup {
        html! {
            ul class="tally" {
                @for (holds, count, first) in self.counts() {
                    li { a class=(holds.class()) href=(format!("#{first}")) { (number(holds, count)) } }
                }
            }
        }
    }

    /// Returns a fold for each source. A fold with a claim that does not hold is open.
    pub(super) fn html(&self) -> Markup {
        html! {
            @for (title, rows) in self.by_source() {
                @let id = format!("{ID}-{}", title.to_lowercase().replace(' ', "-"));
                details class="fold" id=(id) open[rows.0.iter().any(|(_, verdict)| verdict.holds == Holds::No)] {
                    summary {
                        span class="source-title" { (title) }
                        span class="counts" {
                            @for (holds, count, _) in rows.counts() { span class=(holds.class()) { (number(holds, count)) } " " }
                        }
                    }
                    (rows.table(&id, title))
                }
            }
        }
    }

    /// Returns the table of one source.
    ///
    /// On a narrow screen each row is a block. The roles keep it a table for screen readers.
    fn table(&self, id: &str, title: &str) -> Markup {
        let caption = format!("{id}-caption");
        let mut words = Marker::default();
        let measured = words.prose("the median of the rounds, and its interval in brackets.");
        html! {
            div class="scroll" tabindex="0" role="region" aria-labelledby=(caption) {
                table class="sortable verdicts" role="table" {
                    caption id=(caption) {
                        "Claims of " (title) ". Measured: " (measured)
                    }
                    thead role="rowgroup" {
                        tr role="row" {
                            @for name in ["Verdict", "Claim", "Measured", "Required", "Figures"] {
                                th scope="col" role="columnheader" aria-sort="none" { (sort_button(name)) }
                            }
                        }
                    }
                    tbody role="rowgroup" { @for (id, verdict) in &self.0 { (row(id, verdict, words.clone())) } }
                }
            }
        }
    }
}

fn row(id: &str, verdict: &Verdict, mut words: Marker) -> Markup {
    let section = verdict.source.section;
    html! {
        tr role="row" id=(id) tabindex="-1" {
            td role="cell" data-number=(verdict.holds.place()) {
                span class=(verdict.holds.class()) {
                    span class="symbol" aria-hidden="true" { (verdict.holds.symbol()) }
                    (verdict.holds.word())
                }
            }
            th scope="row" role="rowheader" { (words.prose(&verdict.claim)) }
            td role="cell" class="measured" { (words.prose(&verdict.measured)) }
            td role="cell" class="required" { (verdict.required) }
            td role="cell" class="leads" { a href=(format!("#{section}")) { (section) } }
        }
    }
}

/// Returns a symbol, the number of verdicts, and the word.
fn number(holds: Holds, count: usize) -> Markup {
    let word = match (holds, count) {
        (Holds::Yes, 1) => "claim holds",
        (Holds::Yes, _) => "claims hold",
        (Holds::No, 1) => "does not",
        (Holds::No, _) => "do not",
        (Holds::Unclear | Holds::NotMeasured, _) => holds.word(),
    };
    html! { span class="symbol" aria-hidden="true" { (holds.symbol()) } strong { (count) } " " (word) }
}
