//! Formats the results of a sweep as text.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use super::cores::place_name;
use super::counts::Counts;
use super::plan::alpha;
use super::race::Tally;
use super::{verdict, Verdict};
use crate::figures::{grouped, lasting};
use crate::lab::calibration::Cpu;

/// The distances from the line that have a column, one for each delta.
const OFFSETS: std::ops::RangeInclusive<isize> = -4..=2;
/// The width of a column.
const WIDTH: usize = 7;

/// Formats how long the races take, before most of them start.
pub(super) fn expected_time(left: Duration, is_limited: bool, is_saved: bool) -> String {
    let end = match (is_limited, is_saved) {
        (true, _) => ", or until the time of --seconds is up",
        (false, true) => "; it can be interrupted, and resumed with --resume",
        (false, false) => "; with --state it can be interrupted and resumed",
    };
    format!("The races take about {}{end}.", lasting(left.as_secs_f64()))
}

/// Formats everything about a sweep, as text and tables.
pub(super) fn report(cpu: &Cpu, supposed: usize, entries: Option<usize>, counts: &Counts) -> String {
    let mut text = format!("Litmus test of bounded TSO on {cpu}\n\n");
    let source = match entries {
        Some(entries) if entries + 1 == supposed => {
            format!("{entries} entries of the store buffer, and one store that is leaving it")
        }
        Some(entries) => format!("as given; the store buffer has {entries} entries"),
        None => "as given".to_owned(),
    };
    let _ = writeln!(text, "Bound under test: a load overtakes at most S = {supposed} stores ({source}).\n");
    if counts.total().runs == 0 {
        text.push_str("There were no runs, so there is no result.\n");
        return text;
    }
    let (map, places, conclusion) = (heat_map(supposed, counts), places(counts), conclusion(supposed, entries, counts));
    text + &[map, places, conclusion].join("\n")
}

/// Formats where runs were incorrect.
///
/// It has a line for each number of stores and a column for each distance from y = x. On the two
/// sides of y = x different results are expected.
fn heat_map(supposed: usize, counts: &Counts) -> String {
    let mut text = String::from(
        "Incorrect runs by stores between pops (L) and by the distance of delta from alpha = ceil(S / (L + 1)).\n\
         Left of the bar runs may be incorrect, right of it they should not be. A dot: there were runs, and none was incorrect.\n\n",
    );
    let mut header = format!("{:>3} {:>5} {:>WIDTH$}", "L", "alpha", "less");
    for offset in OFFSETS {
        let name = if offset == 0 { "alpha".to_owned() } else { format!("{offset:+}") };
        let _ = write!(header, "{}{name:>WIDTH$}", bar(offset));
    }
    let _ = writeln!(text, "{header} {:>WIDTH$}", "more");
    let all_stores: BTreeSet<usize> = counts.iter().map(|(key, _)| key.stores).collect();
    for stores in all_stores {
        let line = alpha(supposed, stores) as isize;
        let cell = |fits: &dyn Fn(isize) -> bool| {
            let here = counts.only(|key| key.stores == stores && fits(key.delta as isize - line));
            format!("{:>WIDTH$}", share(here.total()))
        };
        let (first, last) = (*OFFSETS.start(), *OFFSETS.end());
        let _ = write!(text, "{stores:>3} {line:>5} {}", cell(&|offset| offset < first));
        for column in OFFSETS {
            let _ = write!(text, "{}{}", bar(column), cell(&|offset| offset == column));
        }
        let _ = writeln!(text, " {}", cell(&|offset| offset > last));
    }
    text
}

/// The text before a column. It marks the line between what may be incorrect and what may not.
fn bar(offset: isize) -> &'static str {
    if offset == 0 {
        " |"
    } else {
        " "
    }
}

/// The share of incorrect runs, in a few characters.
fn share(tally: Tally) -> String {
    let Tally { runs, incorrect } = tally;
    match (runs, incorrect) {
        (0, _) => String::new(),
        (_, 0) => "·".to_owned(),
        _ => match 100.0 * incorrect as f64 / runs as f64 {
            percent if percent < 0.01 => "<0.01%".to_owned(),
            percent if percent < 1.0 => format!("{percent:.2}%"),
            percent => format!("{percent:.1}%"),
        },
    }
}

/// Formats the results of each place.
fn places(counts: &Counts) -> String {
    let mut text = String::new();
    for place in counts.places() {
        let here = counts.only(|key| (key.kind, key.placement) == place);
        let Tally { runs, incorrect } = here.total();
        let name = place_name(place.0, place.1);
        let largest = match here.largest_violation() {
            Some(stores) => format!("the largest delta * (L + 1) with L of at least 1 was {stores}"),
            None => "none of them with L of at least 1".to_owned(),
        };
        let (runs, incorrect) = (grouped(runs as usize), grouped(incorrect as usize));
        let _ = writeln!(text, "{name}: {runs} runs, {incorrect} incorrect; {largest}.");
    }
    text
}

/// Formats the verdict in sentences.
fn conclusion(supposed: usize, entries: Option<usize>, counts: &Counts) -> String {
    let largest = counts.largest_violation();
    let mut text = match (verdict::judge(supposed, largest), largest) {
        (Verdict::Stands, Some(stores)) => {
            let seen = stores + 1;
            let tight = if seen == supposed { ", which is all that S allows, so S is not too large either" } else { "" };
            format!(
                "S = {supposed} stands: no run was incorrect that should have been correct. Loads overtook up to {seen} stores{tight}.\n\
                 This is no proof that no load can overtake more.\n"
            )
        }
        (Verdict::Stands, None) => format!(
            "S = {supposed} stands, but was not really tested: no run was incorrect, not even where runs may be. Such a sweep does not lower the bound. \
             Try more runs, or a less busy machine.\n"
        ),
        (Verdict::Raised(bound), _) => format!(
            "S = {supposed} is too small: runs were incorrect that should have been correct. The smallest bound that explains them is S = {bound}; the true bound may be larger.\n"
        ),
        (Verdict::Refuted, _) => format!(
            "There is no bound: a load overtook {} stores, which is more than any store buffer holds. Do not use the fence-free queues on this CPU.\n",
            largest.map_or(0, |stores| stores + 1)
        ),
    };
    match verdict::largest_merged(&counts.points()) {
        // What the store buffer hides without merging is no sign of merging.
        Some(delta) if delta > largest.unwrap_or(0).max(entries.unwrap_or(0)).max(supposed - 1) => {
            let _ = writeln!(
                text,
                "With L = 0 runs with a delta of {delta} were incorrect: consecutive stores to the tail are merged, and no delta is safe without a store in between."
            );
        }
        _ => text.push_str(
            "With L = 0 no run showed that the CPU merges consecutive stores to the tail. It may do so nevertheless.\n",
        ),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    #[test]
    fn the_expected_time_is_said_with_the_way_to_resume() {
        let days = Duration::from_secs(360_000);
        assert_eq!(
            expected_time(days, false, false),
            "The races take about 100.0 hours; with --state it can be interrupted and resumed."
        );
        assert!(expected_time(days, false, true).contains("--resume"));
        assert!(expected_time(days, true, true).contains("--seconds"));
    }

    #[test]
    fn every_verdict_has_its_sentence() {
        for (points, sentence) in [
            (vec![(key(1, 36), 10, 1)], "not too large either"),
            (vec![(key(1, 30), 10, 1)], "overtook up to 61 stores."),
            (vec![(key(1, 30), 10, 0)], "was not really tested"),
            (vec![(key(1, 40), 10, 1)], "explains them is S = 81"),
            (vec![(key(1, 300), 10, 1)], "There is no bound: a load overtook 601 stores"),
            (vec![(key(0, 100), 10, 1)], "With L = 0 runs with a delta of 100 were incorrect"),
            (vec![(key(0, 72), 10, 1)], "no run showed that the CPU merges"),
            (vec![], "there is no result"),
        ] {
            let text = report(&Cpu::ice_lake(), 73, Some(72), &counts(&points));
            assert!(text.contains(sentence), "{sentence}: {text}");
        }
        // If the supposed bound is too low, pops that the store buffer holds do not count as
        // merged.
        assert!(report(&Cpu::ice_lake(), 33, Some(72), &counts(&[(key(0, 60), 10, 1)])).contains("no run showed that"));
        assert!(report(&Cpu::ice_lake(), 33, None, &counts(&[(key(0, 60), 10, 1), (key(1, 30), 10, 1)]))
            .contains("no run showed"));
        let other = report(&Cpu::ice_lake(), 40, Some(72), &counts(&[]));
        assert!(other.contains("S = 40 stores (as given; the store buffer has 72 entries)"), "{other}");
    }

    #[test]
    fn the_map_separates_expected_and_unexpected_incorrect_runs() {
        let map = heat_map(73, &counts(&[(key(1, 36), 1_000, 5), (key(1, 37), 1_000, 0), (key(1, 300), 10, 0)]));
        let row = map.lines().last().unwrap();
        let (left, right) = row.split_once('|').unwrap();
        assert!(left.contains("0.50%") && !left.contains('·'), "{map}");
        assert_eq!(right.matches('·').count(), 2, "{map}");
        assert!(left.trim_start().starts_with("1    37"), "{map}");
    }

    #[test]
    fn a_share_above_zero_is_never_rounded_to_zero() {
        let share = |runs, incorrect| share(Tally { runs, incorrect });
        assert_eq!(share(0, 0), "");
        assert_eq!(share(10, 0), "·");
        assert_eq!(share(1_000_000, 1), "<0.01%");
        assert_eq!(share(1_000, 1), "0.10%");
        assert_eq!(share(10, 10), "100.0%");
    }
}
