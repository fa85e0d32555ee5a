//! The foot of every table and figure: its data, and its command.

use std::fmt::Write;

use maud::{html, Markup};

/// Returns a link that contains the data itself. It works wherever the page is.
pub(super) fn csv(id: &str, data: &str) -> Markup {
    let address = format!("data:text/csv;charset=utf-8,{}", encoded(data));
    html! {
        a class="download" href=(address) download=(format!("{id}.csv")) { "Data (CSV)" span class="hidden" { ": " (id) } }
    }
}

/// Returns the links of a figure: its data and its drawing.
pub(super) fn figure(id: &str, title: &str, data: &str) -> Markup {
    html! {
        (csv(id, data))
        a href=(format!("plots/{id}.svg")) { "Plot (SVG)" span class="hidden" { ": " (title) } }
    }
}

/// Returns the foot of an item: links first, then the command with a copy button.
pub(super) fn source(id: &str, links: &Markup, command: &str) -> Markup {
    let command_id = format!("{id}-command");
    html! {
        div class="source" {
            span class="links" { (links) }
            @if !command.is_empty() {
                span class="command" {
                    code id=(command_id) { (command) }
                    button type="button" class="copy" data-copies=(command_id) { "Copy" span class="hidden" { " the command" } }
                }
            }
        }
    }
}

/// Formats a paragraph, with `code` between backquotes. An unpaired backquote stays as it is.
pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    let alone = parts.len().is_multiple_of(2);
    html! {
        @for (place, part) in parts.iter().enumerate() {
            @if place % 2 == 0 { (part) }
            @else if alone && place + 1 == parts.len() { "`" (part) }
            @else { code { (part) } }
        }
    }
}

/// Percent-encodes text for an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~,:;()/=".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_no_character_that_would_end_it() {
        assert_eq!(encoded("a,1.5\n\"<&#% é"), "a,1.5%0A%22%3C%26%23%25%20%C3%A9");
    }

    #[test]
    fn backquotes_make_code_and_nothing_else_is_markup() {
        assert_eq!(prose("run `a < b` <b>").into_string(), "run <code>a &lt; b</code> &lt;b&gt;");
        assert_eq!(prose("a ` b").into_string(), "a ` b");
        assert_eq!(prose("`a` and ` b").into_string(), "<code>a</code> and ` b");
        assert_eq!(prose("").into_string(), "");
    }
}
