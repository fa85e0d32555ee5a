//! Displays a search: a live line on a terminal, plain lines elsewhere. It also records the
//! history.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::Duration;

use filch_dd::{Cost, Incumbent, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use super::history::History;
use crate::format::{grouped, number};
use crate::say;
use crate::sync::lock;

/// The interval between two looks at the progress.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);
/// The interval between two redraws of the line.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// The shortest time between two plain lines about bounds.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// The progress display of a search.
pub(super) struct ProgressDisplay {
    history: History,
    /// How long the search took before: times continue from there.
    before: Duration,
    /// The live line; hidden if there is no terminal.
    line: ProgressBar,
    /// Whether to print plain lines if there is no terminal.
    plain: bool,
    last: Mutex<LastShown>,
}

/// The values when the line last changed.
#[derive(Clone, Copy, Debug, Default)]
struct LastShown {
    elapsed: Duration,
    explored: u64,
    bound: Option<Cost>,
    /// When a plain line last reported a bound, and which.
    printed: Option<(Duration, Cost)>,
}

impl ProgressDisplay {
    /// Starts the display.
    pub(super) fn begin(what: &str, quiet: bool, before: Duration) -> ProgressDisplay {
        let terminal = io::stderr().is_terminal();
        let line = if quiet || !terminal { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        // An invalid template would be a bug, but no reason to stop.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_spinner());
        line.set_style(style);
        line.set_prefix(what.to_owned());
        line.enable_steady_tick(REDRAW_INTERVAL);
        ProgressDisplay {
            history: History::default(),
            before,
            line,
            plain: !quiet && !terminal,
            last: Mutex::default(),
        }
    }

    /// Shows and records a better solution.
    pub(super) fn incumbent(&self, incumbent: &Incumbent) {
        let after = incumbent.after.saturating_add(self.before);
        self.history.incumbent(after, incumbent.cost);
        if self.plain {
            let bound = lock(&self.last).bound;
            let bound = bound.map_or_else(String::new, |bound| format!(", bound {}", signed(bound)));
            say(&format!("{:.3} s: best {}{bound}", after.as_secs_f64(), signed(incumbent.cost)));
        }
    }

    /// Shows and records the progress.
    pub(super) fn progress(&self, progress: &Progress) {
        let elapsed = progress.elapsed.saturating_add(self.before);
        if let Some(bound) = progress.bound {
            self.history.bound(elapsed, bound, progress.open, progress.explored);
        }
        let mut last = lock(&self.last);
        let nodes = progress.explored.saturating_sub(last.explored);
        let rate = rate(nodes, progress.elapsed.saturating_sub(last.elapsed));
        let printed =
            last.printed.filter(|&(at, bound)| progress.bound == Some(bound) || progress.elapsed < at + LINE_INTERVAL);
        let printed = printed.or_else(|| {
            let bound = progress.bound?;
            if self.plain {
                let best = progress.best.map_or_else(|| "none".to_owned(), signed);
                say(&format!("{:.3} s: best {best}, bound {}", elapsed.as_secs_f64(), signed(bound)));
            }
            Some((progress.elapsed, bound))
        });
        *last = LastShown { elapsed: progress.elapsed, explored: progress.explored, bound: progress.bound, printed };
        self.line.set_message(message(progress, rate));
    }

    /// Ends the display and returns the history.
    pub(super) fn end(self) -> History {
        self.line.finish_and_clear();
        self.history
    }
}

const TEMPLATE: &str = "{spinner} {prefix} {elapsed}  {msg}";

/// Formats a number, which may be negative, with a comma after every three digits.
pub(super) fn signed(number: Cost) -> String {
    let digits = grouped(number.unsigned_abs() as usize);
    if number < 0 {
        format!("-{digits}")
    } else {
        digits
    }
}

fn rate(nodes: u64, time: Duration) -> Option<f64> {
    (!time.is_zero()).then(|| nodes as f64 / time.as_secs_f64())
}

fn message(progress: &Progress, rate: Option<f64>) -> String {
    let cost = |cost: Option<Cost>| cost.map_or_else(|| "-".to_owned(), signed);
    let gap = progress.gap.map_or_else(|| "-".to_owned(), |gap| format!("{} %", number(100.0 * gap)));
    let rate = rate.map_or_else(|| "-".to_owned(), |rate| grouped(rate as usize));
    format!(
        "open {}, best {}, bound {}, gap {gap}, {rate} nodes/s",
        grouped(progress.open as usize),
        cost(progress.best),
        cost(progress.bound)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_keep_their_sign() {
        assert_eq!(signed(-1_234_567), "-1,234,567");
        assert_eq!(signed(0), "0");
        assert_eq!(signed(1_000), "1,000");
    }

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
