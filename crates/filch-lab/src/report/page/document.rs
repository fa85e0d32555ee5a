//! The HTML document around the sections.

use anyhow::Result;
use maud::{html, Markup, PreEscaped, DOCTYPE};

use super::verdicts::{self, Rows};
use super::{answers, figure, glossary, links, table, timeline, Item, Page, Section};

const STYLE: [&str; 4] =
    [include_str!("colours.css"), include_str!("dark.css"), include_str!("layout.css"), include_str!("items.css")];
/// The theme script. It runs before anything is drawn, so that a dark page is never light for a
/// moment.
const THEME: &str = include_str!("theme.js");
const SCRIPTS: [&str; 5] = [
    include_str!("menu.js"),
    include_str!("sort.js"),
    include_str!("links.js"),
    include_str!("words.js"),
    include_str!("timeline.js"),
];

/// The content security policy. The browser enforces that nothing is loaded from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The icon: a bar that takes a piece from another.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Crect x='1' y='3' width='9' height='4' rx='1' fill='%230b66b0'/%3E\
    %3Crect x='6' y='9' width='9' height='4' rx='1' fill='%23d1500f'/%3E%3C/svg%3E";

/// The title that identifies a page of this program.
pub(super) const TITLE: &str = "filch: the report";

/// The ids of every page, which no section may have.
pub(super) const RESERVED_IDS: [&str; 7] = ["main", "top", "contents", answers::ID, verdicts::ID, glossary::ID, "said"];

/// Returns the whole page.
pub(super) fn html(page: &Page) -> Result<String> {
    let rows = Rows::new(&page.verdicts);
    let sections = page.sections.iter().map(|of| section(of, &rows)).collect::<Result<Vec<_>>>()?;
    let answers = if page.answers.is_empty() {
        html! {}
    } else {
        answers::html(&page.answers)?
    };
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (TITLE) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(style())) }
                script { (PreEscaped(THEME)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the report" }
                (bar(page))
                div class="columns" {
                    (contents(page))
                    main id="main" tabindex="-1" {
                        div class="top" id="top" { h1 { "Work stealing, measured on this machine" } }
                        (answers)
                        (about(page))
                @if !page.verdicts.is_empty() { (all_verdicts(&rows)) }
                        @for section in &sections { (section) }
                        footer {
                            p { "Written by " code { "filch-lab report" } ". Times depend on the machine; ratios depend on it less." }
                        }
                    }
                }
                p id="said" class="hidden" role="status" aria-live="polite" {}
                @for script in SCRIPTS { script { (PreEscaped(script)) } }
            }
        }
    };
    Ok(document.into_string())
}

/// Returns the style, with the dark colours twice: with and without the script's theme attribute.
fn style() -> String {
    let without_attribute = STYLE[1].replace("[data-theme=\"dark\"]", ":not([data-theme])");
    format!("{}@media screen and (prefers-color-scheme: dark) {{\n{without_attribute}}}\n", STYLE.concat())
}

fn bar(page: &Page) -> Markup {
    html! {
        header class="bar" {
            a class="name" href="#top" { span class="mark" aria-hidden="true" {} "filch" span class="of" { " report" } }
            span class="on" { (page.facts.first().map_or("", |(_, value)| value)) }
            button type="button" class="menu" aria-expanded="false" aria-controls="contents" { "Contents" }
            button type="button" class="theme" { span class="icon" aria-hidden="true" {} span class="word" { "Dark" } }
        }
    }
}

fn contents(page: &Page) -> Markup {
    html! {
        nav id="contents" aria-label="Contents" {
            ol {
                @if !page.answers.is_empty() { li { a href=(format!("#{}", answers::ID)) { "In short" } } }
                @if !page.verdicts.is_empty() { li { a href="#verdicts" { "Verdicts" } } }
                @for section in &page.sections { li { a href=(format!("#{}", section.id)) { (section.title) } } }
            }
        }
    }
}

/// Returns the caveats, and the machine in a fold.
fn about(page: &Page) -> Markup {
    html! {
        @if !page.notices.is_empty() {
            aside class="notices" aria-label="Limits of this report" {
                ul { @for notice in &page.notices { li { (links::prose(notice)) } } }
            }
        }
        @if !page.facts.is_empty() {
            details class="fold" {
                summary { "This run: machine, versions, load" }
                dl class="facts" {
                    @for (name, value) in &page.facts { div { dt { (name) } dd { (value) } } }
                }
            }
        }
    }
}

fn all_verdicts(rows: &Rows<'_>) -> Markup {
    html! {
        section id=(verdicts::ID) aria-labelledby="verdicts-heading" {
            h2 id="verdicts-heading" { "Verdicts" }
            p class="prose" { "The testable claims of the papers behind filch, and the claims of filch, judged by the figures of this run." }
            (rows.tally())
            (rows.html())
            (glossary::html())
        }
    }
}

fn section(section: &Section, rows: &Rows<'_>) -> Result<Markup> {
    let items = section.items.iter().map(item).collect::<Result<Vec<_>>>()?;
    let heading = format!("{}-heading", section.id);
    Ok(html! {
        section id=(section.id) aria-labelledby=(heading) {
            h2 id=(heading) { (section.title) a class="anchor" href=(format!("#{}", section.id)) aria-label="Link to this section" { "#" } }
            (rows.of_section(section.id).tally())
            @for item in items { (item) }
        }
    })
}

fn item(item: &Item) -> Result<Markup> {
    Ok(match item {
        Item::Text(text) => html! { p class="prose" { (links::prose(text)) } },
        Item::Table(texts, table) => table::html(texts, table),
        Item::Figure(texts, chart) => figure::html(texts, chart),
        Item::Timeline(texts, run) => timeline::html(texts, run),
    })
}
