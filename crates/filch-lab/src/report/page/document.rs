//! The HTML document around the sections.

use anyhow::Result;
use maud::{html, Markup, PreEscaped, DOCTYPE};

use super::{figure, links, table, timeline, verdicts, Item, Page, Section};

const STYLE: [&str; 4] =
    [include_str!("colours.css"), include_str!("dark.css"), include_str!("layout.css"), include_str!("items.css")];
/// The theme script. It runs before anything is drawn, so that a dark page is never light for a
/// moment.
const THEME: &str = include_str!("theme.js");
const SCRIPTS: [&str; 4] =
    [include_str!("menu.js"), include_str!("sort.js"), include_str!("links.js"), include_str!("timeline.js")];

/// The content security policy. The browser enforces that nothing is loaded from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The icon: a bar that takes a piece from another.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Crect x='1' y='3' width='9' height='4' rx='1' fill='%230b66b0'/%3E\
    %3Crect x='6' y='9' width='9' height='4' rx='1' fill='%23d1500f'/%3E%3C/svg%3E";

/// The title that identifies a page of this program.
pub(super) const TITLE: &str = "filch: the report";

/// The ids of every page, which no section may have.
pub(super) const RESERVED_IDS: [&str; 5] = ["main", "top", "contents", "verdicts", "said"];

/// Returns the whole page.
pub(super) fn html(page: &Page) -> Result<String> {
    let sections = page.sections.iter().map(section).collect::<Result<Vec<_>>>()?;
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
                        (top(page))
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
                @if !page.verdicts.is_empty() { li { a href="#verdicts" { "Verdicts" } } }
                @for section in &page.sections { li { a href=(format!("#{}", section.id)) { (section.title) } } }
            }
        }
    }
}

/// Returns the top of the page: title, notices, verdicts, then the machine.
fn top(page: &Page) -> Markup {
    html! {
        div class="top" id="top" {
            h1 { "Work stealing, measured on this machine" }
            p class="lead" {
                "The testable claims of the papers behind filch, and a comparison of filch with other libraries. All figures are from one run."
            }
            @if !page.verdicts.is_empty() { (verdicts::tally(&page.verdicts)) }
            @if !page.notices.is_empty() {
                aside class="notices" aria-label="Limits of this report" {
                    ul { @for notice in &page.notices { li { (links::prose(notice)) } } }
                }
            }
            @if !page.facts.is_empty() {
                dl class="facts" {
                    @for (name, value) in &page.facts { div { dt { (name) } dd { (value) } } }
                }
            }
        }
        @if !page.verdicts.is_empty() {
            section id="verdicts" aria-labelledby="verdicts-heading" {
                h2 id="verdicts-heading" { "Verdicts" }
                (verdicts::html(&page.verdicts))
            }
        }
    }
}

fn section(section: &Section) -> Result<Markup> {
    let items = section.items.iter().map(item).collect::<Result<Vec<_>>>()?;
    let heading = format!("{}-heading", section.id);
    Ok(html! {
        section id=(section.id) aria-labelledby=(heading) {
            h2 id=(heading) { (section.title) a class="anchor" href=(format!("#{}", section.id)) aria-label="Link to this section" { "#" } }
            @for item in items { (item) }
        }
    })
}

fn item(item: &Item) -> Result<Markup> {
    Ok(match item {
        Item::Text(text) => html! { p class="prose" { (links::prose(text)) } },
        Item::Table(item) => table::html(item),
        Item::Figure(item) => figure::html(item)?,
        Item::Timeline(item) => timeline::html(item),
    })
}
