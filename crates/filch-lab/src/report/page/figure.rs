//! Figures with their captions.

use maud::{html, Markup, PreEscaped};

use super::describe::describe;
use super::{links, Texts};
use crate::chart::{self, Chart};

/// Returns the figure with its caption, its data and its command.
pub(super) fn html(texts: &Texts, chart: &Chart) -> Markup {
    let Texts { id, title, caption, command } = texts;
    let description = format!("{title}. {}", describe(chart));
    let svg = chart::svg(chart, chart::Texts { id, title, description: &description });
    let links = links::figure(id, title, &chart::csv(chart));
    html! {
        figure class="item" id=(id) {
            h3 { (title) }
            div class="scroll drawing" tabindex="0" role="group" aria-label=(format!("Chart: {title}")) {
                (PreEscaped(svg))
            }
            figcaption { (links::prose(caption)) }
            (links::source(id, &links, command))
        }
    }
}

/// The files of a figure, beside the page.
pub(super) fn files(id: &str) -> [String; 2] {
    [format!("data/{id}.csv"), format!("plots/{id}.svg")]
}
