//! The progress of a sweep, on standard error, and only if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// The resolution of the bar.
const STEPS: f64 = 10_000.0;
const TEMPLATE: &str = "{msg} {wide_bar} {percent}%, {eta} left";

/// Returns a bar for a whole sweep.
pub(super) fn bar() -> ProgressBar {
    let bar = ProgressBar::new(STEPS as u64).with_message("racing");
    // An invalid template would be a bug, but no reason to stop.
    bar.set_style(ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Shows the share that is done, and the number of incorrect runs.
pub(super) fn show(bar: &ProgressBar, share: f64, incorrect: u64) {
    bar.set_position((share * STEPS) as u64);
    bar.set_message(format!("racing, {incorrect} incorrect runs so far"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn a_share_of_one_is_the_whole_bar() {
        let bar = bar();
        show(&bar, 1.0, 3);
        assert_eq!(Some(bar.position()), bar.length());
    }
}
