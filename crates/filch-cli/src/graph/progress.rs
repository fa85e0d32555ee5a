//! The progress display, on standard error, and only if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The interval of a spinner.
const TICK: Duration = Duration::from_millis(120);

/// Returns a bar for reading a file, whose length may be unknown.
pub(super) fn reading_bar(name: &str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_message(format!("reading {name}"));
    bar.set_style(style("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left"));
    bar
}

/// Returns a spinner for work of unknown length.
pub(super) fn spinner(what: String) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.set_style(style("{spinner} {msg}, {elapsed}"));
    spinner.enable_steady_tick(TICK);
    spinner
}

fn style(template: &str) -> ProgressStyle {
    // An invalid template would be a bug, but no reason to stop.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in ["{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left", "{spinner} {msg}, {elapsed}"] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
