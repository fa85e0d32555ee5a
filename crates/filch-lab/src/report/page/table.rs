//! Tables that can be sorted.

use maud::{html, Markup};

use super::{links, Cell, Table, Texts};
use crate::chart::csv_line;

/// Returns the table with its data and its command.
pub(super) fn html(texts: &Texts, table: &Table) -> Markup {
    let Texts { id, title, caption, command } = texts;
    html! {
        div class="item" id=(id) {
            (grid(id, &format!("{title}. {caption}"), table))
            (links::source(id, &links::csv(id, &csv(table)), command))
        }
    }
}

/// Returns rows under headings that sort them. If they are too wide, their box scrolls.
pub(super) fn grid(id: &str, caption: &str, Table { header, rows }: &Table) -> Markup {
    let is_number = |column: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(column));
        cells().any(|cell| matches!(cell, Cell::Number(..))) && !cells().any(|cell| matches!(cell, Cell::Text(_)))
    };
    let numbers: Vec<bool> = (0..header.len()).map(is_number).collect();
    let caption_id = format!("{id}-caption");
    html! {
        div class="scroll" tabindex="0" role="region" aria-labelledby=(caption_id) {
            table class="sortable" {
                caption id=(caption_id) { (links::prose(caption)) }
                thead {
                    tr {
                        @for (name, number) in header.iter().zip(&numbers) {
                            th scope="col" aria-sort="none" class=[number.then_some("number")] { (sort_button(name)) }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() { (cell_of(cell, column)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a heading that sorts. A heading without text has a hidden name for screen readers.
pub(super) fn sort_button(name: &str) -> Markup {
    html! { button type="button" class="sort" { (name) @if name.is_empty() { span class="hidden" { "Name" } } span class="arrow" aria-hidden="true" {} } }
}

fn cell_of(cell: &Cell, column: usize) -> Markup {
    match cell {
        Cell::Text(text) if column == 0 => html! { th scope="row" { (links::prose(text)) } },
        Cell::Text(text) => html! { td { (links::prose(text)) } },
        Cell::Number(number, shown) if number.is_finite() => {
            html! { td class="number" data-number=(number) { (shown) } }
        }
        Cell::Number(_, shown) => html! { td class="number" { (shown) } },
        Cell::Empty => html! { td {} },
    }
}

/// Returns the rows for a spreadsheet, with numbers in full.
pub(super) fn csv(table: &Table) -> String {
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(number, _) if number.is_finite() => number.to_string(),
        Cell::Number(..) | Cell::Empty => String::new(),
    };
    let mut csv = csv_line(table.header.iter().map(String::as_str));
    for row in &table.rows {
        let row: Vec<String> = row.iter().map(text).collect();
        csv.push_str(&csv_line(row.iter().map(String::as_str)));
    }
    csv
}
