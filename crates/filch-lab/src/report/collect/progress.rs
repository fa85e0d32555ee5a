//! Shows the progress: a bar on a terminal, plain lines elsewhere.
//!
//! The thread that takes the samples draws it between two of them; see [`watch`].

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::say;
use crate::sync::lock;
use crate::watch::{self, Event};

/// The most redraws of the bar per second.
const REDRAWS_A_SECOND: u8 = 4;
const TEMPLATE: &str = "{bar:24} {percent:>3} %  {msg}";
/// The resolution of the bar.
const STEPS: f64 = 10_000.0;

/// Shows the progress of a report.
#[derive(Clone)]
pub(super) struct Progress {
    state: Arc<Mutex<State>>,
    /// The bar, hidden if there is no terminal.
    bar: ProgressBar,
    plain: bool,
}

struct State {
    schedule: Schedule,
    /// When the current part began.
    begun: Instant,
    /// The name of the current part, and its current case.
    part: &'static str,
    case: String,
}

impl Progress {
    /// Starts the display, given the expected duration of each part.
    pub(super) fn begin(seconds: Vec<f64>) -> Progress {
        let terminal = io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr_with_hz(REDRAWS_A_SECOND) } else { ProgressDrawTarget::hidden() };
        // An invalid template would be a bug, but no reason to stop.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(style);
        let state = State { schedule: Schedule::new(seconds), begun: Instant::now(), part: "", case: String::new() };
        let progress = Progress { state: Arc::new(Mutex::new(state)), bar, plain: !terminal };
        let listener = progress.clone();
        watch::listen(Some(Box::new(move |event| listener.on_event(event))));
        progress
    }

    /// Begins the next part.
    pub(super) fn part(&self, place: usize, name: &'static str) {
        let mut state = self.state();
        let took = state.begun.elapsed();
        state.schedule.next(place, took);
        (state.begun, state.part, state.case) = (Instant::now(), name, String::new());
        if self.plain {
            let parts = state.schedule.seconds.len();
            say(&format!("{name}, {} of {parts}; {}", place + 1, time_left(state.schedule.left(Duration::ZERO))));
        }
        self.draw(&state);
    }

    fn on_event(&self, event: Event<'_>) {
        let mut state = self.state();
        match event {
            Event::Case { done, total, name } => {
                state.schedule.case(done, total);
                state.case = name.to_owned();
                if self.plain {
                    say(&format!("  {}: {name}, {} of {total}", state.part, done + 1));
                }
            }
            Event::Remark(text) => self.say(text),
            Event::Sample => {}
        }
        self.draw(&state);
    }

    /// Prints text above the bar.
    pub(super) fn say(&self, text: &str) {
        self.bar.suspend(|| say(text));
    }

    /// Ends the display.
    pub(super) fn end(&self) {
        watch::listen(None);
        self.bar.finish_and_clear();
    }

    fn draw(&self, state: &State) {
        let elapsed = state.begun.elapsed();
        self.bar.set_message(format!("{}, {} {}", time_left(state.schedule.left(elapsed)), state.part, state.case));
        self.bar.set_position((STEPS * state.schedule.share(elapsed)) as u64);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Describes the time that is left.
fn time_left(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("about {:.0} s left", 5.0 * (seconds / 5.0).ceil().max(1.0)),
        ..5_400.0 => format!("about {:.0} min left", seconds / 60.0),
        _ => format!("about {:.1} hours left", seconds / 3_600.0),
    }
}

/// What is done and what is left, from the expected and the actual durations.
#[derive(Clone, Debug)]
struct Schedule {
    seconds: Vec<f64>,
    /// The current part; `None` before the first.
    at: Option<usize>,
    /// The total duration of the parts before it.
    took: f64,
    /// The numbers of finished and of all cases of the part; 0 if unknown.
    cases: (usize, usize),
}

impl Schedule {
    fn new(seconds: Vec<f64>) -> Schedule {
        Schedule { seconds, at: None, took: 0.0, cases: (0, 0) }
    }

    /// Begins a part, given the duration of the one before it.
    fn next(&mut self, part: usize, took: Duration) {
        if self.at.is_some() {
            self.took += took.as_secs_f64();
        }
        (self.at, self.cases) = (Some(part), (0, 0));
    }

    fn case(&mut self, done: usize, total: usize) {
        self.cases = (done, total);
    }

    /// The expected durations before the current part, of it, and after it.
    fn weights(&self) -> (f64, f64, f64) {
        let at = self.at.unwrap_or(0);
        let sum = |seconds: &[f64]| seconds.iter().sum::<f64>();
        (sum(&self.seconds[..at]), self.seconds[at], sum(&self.seconds[at + 1..]))
    }

    /// The ratio of actual to expected duration so far.
    fn pace(&self) -> f64 {
        let (before, ..) = self.weights();
        if before > 0.0 {
            (self.took / before).clamp(0.2, 5.0)
        } else {
            1.0
        }
    }

    /// The share of the current part that is done.
    ///
    /// It is estimated from the elapsed time, within the limits of the current case.
    fn within(&self, elapsed: Duration) -> f64 {
        let (_, weight, _) = self.weights();
        let by_time = elapsed.as_secs_f64() / (weight * self.pace());
        match self.cases {
            (_, 0) => by_time.clamp(0.0, 0.95),
            (done, total) => by_time.clamp(done as f64 / total as f64, (done as f64 + 0.95) / total as f64),
        }
    }

    /// The share of everything that is done.
    fn share(&self, elapsed: Duration) -> f64 {
        let (before, weight, after) = self.weights();
        (before + weight * self.within(elapsed)) / (before + weight + after)
    }

    /// The time that is left, in seconds.
    fn left(&self, elapsed: Duration) -> f64 {
        let (_, weight, after) = self.weights();
        self.pace() * (weight * (1.0 - self.within(elapsed)) + after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn the_time_left_is_corrected_by_the_time_taken() {
        let mut schedule = Schedule::new(vec![10.0, 20.0, 70.0]);
        assert_eq!(schedule.left(Duration::ZERO), 100.0);
        schedule.next(0, 3 * SECOND);
        assert_eq!((schedule.share(5 * SECOND), schedule.left(5 * SECOND)), (0.05, 95.0));
        schedule.next(1, 20 * SECOND);
        assert_eq!((schedule.share(Duration::ZERO), schedule.left(Duration::ZERO)), (0.1, 180.0));
    }

    #[test]
    fn progress_stays_within_the_current_case() {
        let mut schedule = Schedule::new(vec![10.0]);
        schedule.next(0, Duration::ZERO);
        schedule.case(1, 2);
        assert_eq!(schedule.share(SECOND), 0.5);
        schedule.case(0, 2);
        assert!(schedule.share(100 * SECOND) < 0.5);
        assert!(schedule.left(100 * SECOND) > 5.0);
    }

    #[test]
    fn the_time_left_has_a_suitable_unit() {
        assert_eq!(time_left(0.0), "about 5 s left");
        assert_eq!(time_left(41.0), "about 45 s left");
        assert_eq!(time_left(150.0), "about 2 min left");
        assert_eq!(time_left(9_000.0), "about 2.5 hours left");
    }
}
