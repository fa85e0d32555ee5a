//! The answers that a page opens with: a small chart and a sentence for each question.

use anyhow::Result;
use maud::{html, Markup, PreEscaped};

use super::{links, Answer};
use crate::chart::{self, BarSeries, Bars, Chart, Texts};

/// The id of the section, and the name of its files.
pub(super) const ID: &str = "answers";
/// The title of the section.
pub(super) const TITLE: &str = "What filch costs, beside its peers";

const COMMAND: &str = "cargo run --release -- report";

/// Returns the section.
pub(super) fn html(answers: &[Answer]) -> Result<Markup> {
    let cards = answers.iter().enumerate().map(|(place, answer)| card(place, answer));
    let cards = cards.collect::<Result<Vec<_>>>()?;
    let heading = format!("{ID}-heading");
    Ok(html! {
        section id=(ID) aria-labelledby=(heading) {
            h2 id=(heading) { (TITLE) }
            @match chart(answers) {
                None => div class="answers" { @for card in cards { (card) } },
                Some(chart) => figure class="item" {
                    div class="answers" { @for card in cards { (card) } }
                    figcaption { "Shorter is better. Each group has its own scale. Thin lines are the intervals of the medians." }
                    (links::source(ID, &links::figure(ID, TITLE, &chart::csv(&chart)), COMMAND))
                },
            }
        }
    })
}

fn card(place: usize, answer: &Answer) -> Result<Markup> {
    let id = format!("{ID}-{}", place + 1);
    let texts = Texts { id: &id, title: answer.question, description: &answer.sentence };
    let svg = match &of(std::slice::from_ref(answer)) {
        Some(bars) => chart::panel_svg(bars, texts),
        None => String::new(),
    };
    Ok(html! {
        div class="answer" {
            h3 { (answer.question) }
            p { (links::prose(&answer.sentence)) " " a href=(format!("#{}", answer.section)) { "All figures" span class="hidden" { ": " (answer.question) } } }
            (PreEscaped(svg))
        }
    })
}

/// Returns all answers as one chart, for a file; `None` if nothing was measured.
pub(super) fn chart(answers: &[Answer]) -> Option<Chart> {
    of(answers).map(Chart::Bars)
}

/// Returns the bars of the measured answers, a group for each.
fn of(answers: &[Answer]) -> Option<Bars> {
    let measured: Vec<&Answer> = answers.iter().filter(|answer| !answer.times.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in measured.iter().flat_map(|answer| &answer.times) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let time = |answer: &Answer, name: &str| answer.times.iter().find(|(own, _)| *own == name).map(|(_, time)| *time);
    let bars = |name: &str| measured.iter().map(|answer| time(answer, name)).collect();
    let series = names.iter().map(|&name| BarSeries { name: name.to_owned(), bars: bars(name) }).collect();
    let group = |answer: &&Answer| match answers {
        [_] => answer.unit.to_owned(),
        _ => format!("{} ({})", answer.question, answer.unit),
    };
    let groups: Vec<String> = measured.iter().map(group).collect();
    (!groups.is_empty()).then(|| Bars { axis: "time".to_owned(), groups, series, reference: None })
}
