//! Figures with their captions.

use anyhow::Result;
use maud::{html, Markup, PreEscaped};

use super::{links, Figure};
use crate::chart::{self, Texts};

/// Returns the figure with its caption, its data and its command.
pub(super) fn html(figure: &Figure) -> Result<Markup> {
    let id = &figure.id;
    let texts = Texts { id, title: &figure.title, description: &figure.description };
    let svg = chart::svg(&figure.chart, texts);
    let links = links::figure(id, &figure.title, &chart::csv(&figure.chart));
    Ok(html! {
        figure class="item" id=(id) {
            h3 { (figure.title) }
            div class="scroll drawing" tabindex="0" role="group" aria-label=(format!("Chart: {}", figure.title)) {
                (PreEscaped(svg))
            }
            figcaption { (links::prose(&figure.caption)) }
            (links::source(id, &links, &figure.command))
        }
    })
}
