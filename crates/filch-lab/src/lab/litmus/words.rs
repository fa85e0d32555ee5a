//! Formats the results of a sweep as text.

use std::fmt::Write;

use filch_queue::calibration::Cpu;

use super::cores::words as place_words;
use super::counts::Counts;
use super::plan::alpha;
use super::race::Tally;
use super::{verdict, Verdict};
use crate::figures::grouped;

/// The distances from the line that have a column, one for each delta.
const OFFSETS: std::ops::RangeInclusive<isize> = -4..=2;
/// The width of a column.
const WIDTH: usize = 7;

/// Formats everything about a sweep, as text and tables.
pub(super) fn report(cpu: &Cpu, supposed: usize, entries: Option<usize>, counts: &Counts) -> String {
    let mut text = format!("Litmus test of bounded TSO on {cpu}\n\n");
    let source = match entries {
        Some(entries) if entries + 1 == supposed => {
            format!("{entries} entries of the store buffer, and one on its way out")
        }
        Some(entries) => format!("as given; the store buffer has {entries} entries"),
        None => "as given".to_owned(),
    };
    let _ = writeln!(text, "Supposed: a load overtakes at most S = {supposed} stores ({source}).\n");
    if counts.total().runs == 0 {
        text.push_str("There was no run, so there is nothing to tell.\n");
        return text;
    }
    text.push_str(&heat_map(supposed, counts));
    text.push('\n');
    text.push_str(&places(counts));
    text.push('\n');
    text.push_str(&conclusion(supposed, entries, counts));
    text
}

/// Formats where runs were incorrect.
///
/// It has a line for each number of stores and a column for each distance from y = x. On the two
/// sides of y = x different results are expected.
fn heat_map(supposed: usize, counts: &Counts) -> String {
    let mut text = String::from(
        "Wrong runs by stores between pops (L) and delta, as seen from the line delta = alpha = ceil(S / (L + 1)).\n\
         Left of the bar they may be wrong, right of it not. A dot: raced, and none was wrong.\n\n",
    );
    let mut header = format!("{:>3} {:>5} {:>WIDTH$}", "L", "alpha", "less");
    for offset in OFFSETS {
        let name = if offset == 0 { "alpha".to_owned() } else { format!("{offset:+}") };
        let _ = write!(header, "{}{name:>WIDTH$}", bar(offset));
    }
    let _ = writeln!(text, "{header} {:>WIDTH$}", "more");
    let mut all_stores: Vec<usize> = counts.iter().map(|(key, _)| key.stores).collect();
    all_stores.sort_unstable();
    all_stores.dedup();
    for stores in all_stores {
        let line = alpha(supposed, stores) as isize;
        let cell = |fits: &dyn Fn(isize) -> bool| {
            let offset = |delta: usize| delta as isize - line;
            let here = counts.iter().filter(|(key, _)| key.stores == stores && fits(offset(key.delta)));
            let sum = here.fold(Tally::default(), |sum, (_, tally)| Tally {
                runs: sum.runs + tally.runs,
                incorrect: sum.incorrect + tally.incorrect,
            });
            format!("{:>WIDTH$}", share(sum))
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
        let here = counts.from(place);
        let Tally { runs, incorrect } = here.total();
        let name = place_words(place.0, place.1);
        let largest = match here.largest_violation() {
            Some(stores) => format!("the largest delta * (L + 1) with L of at least 1 was {stores}"),
            None => "none of them with L of at least 1".to_owned(),
        };
        let (runs, incorrect) = (grouped(runs as usize), grouped(incorrect as usize));
        let _ = writeln!(text, "{name}: {runs} runs, {incorrect} wrong; {largest}.");
    }
    text
}

/// Formats the verdict in sentences.
fn conclusion(supposed: usize, entries: Option<usize>, counts: &Counts) -> String {
    let largest = counts.largest_violation();
    let mut text = match (verdict::judge(supposed, largest), largest) {
        (Verdict::Stands, Some(stores)) => {
            let seen = stores + 1;
            let tight = if seen == supposed { ", which is all that S allows: it is not too large either" } else { "" };
            format!(
                "S = {supposed} stands: no run was wrong that should not have been. Loads were caught overtaking {seen} stores{tight}.\n\
                 That none was caught overtaking more is no proof that none can.\n"
            )
        }
        (Verdict::Stands, None) => format!(
            "S = {supposed} stands, but nothing was put to the test: no run was wrong at all, not even where it may be. A clean sweep lowers nothing. \
             Try more runs, or a machine that is less busy.\n"
        ),
        (Verdict::Raised(bound), _) => format!(
            "S = {supposed} is too small: runs were wrong that should not have been. The smallest bound that explains them is S = {bound}: the least that can be, and nothing says what the most is.\n"
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
                "With L = 0 a delta of {delta} was wrong: consecutive stores to the tail are merged, and no delta is safe without a store in between."
            );
        }
        _ => text.push_str(
            "With L = 0 no run showed that the CPU merges consecutive stores to the tail. It may all the same.\n",
        ),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    fn cpu() -> Cpu {
        Cpu { vendor: "GenuineIntel".into(), family: 6, model: 106, stepping: 6, brand: "A CPU".into() }
    }

    #[test]
    fn every_verdict_has_its_words() {
        for (points, words) in [
            (vec![(key(1, 36), 10, 1)], "not too large either"),
            (vec![(key(1, 30), 10, 1)], "overtaking 61 stores."),
            (vec![(key(1, 30), 10, 0)], "nothing was put to the test"),
            (vec![(key(1, 40), 10, 1)], "explains them is S = 81"),
            (vec![(key(1, 300), 10, 1)], "There is no bound: a load overtook 601 stores"),
            (vec![(key(0, 100), 10, 1)], "With L = 0 a delta of 100 was wrong"),
            (vec![(key(0, 72), 10, 1)], "no run showed that the CPU merges"),
            (vec![], "nothing to tell"),
        ] {
            let text = report(&cpu(), 73, Some(72), &counts(&points));
            assert!(text.contains(words), "{words}: {text}");
        }
        // If the supposed bound is too low, pops that the store buffer holds do not count as
        // merged.
        assert!(report(&cpu(), 33, Some(72), &counts(&[(key(0, 60), 10, 1)])).contains("no run showed that"));
        assert!(
            report(&cpu(), 33, None, &counts(&[(key(0, 60), 10, 1), (key(1, 30), 10, 1)])).contains("no run showed")
        );
        let other = report(&cpu(), 40, Some(72), &counts(&[]));
        assert!(other.contains("S = 40 stores (as given; the store buffer has 72 entries)"), "{other}");
    }

    #[test]
    fn the_map_has_the_line_between_what_may_be_wrong_and_what_may_not() {
        let map = heat_map(73, &counts(&[(key(1, 36), 1_000, 5), (key(1, 37), 1_000, 0), (key(1, 300), 10, 0)]));
        let row = map.lines().last().unwrap();
        let (left, right) = row.split_once('|').unwrap();
        assert!(left.contains("0.50%") && !left.contains('·'), "{map}");
        assert_eq!(right.matches('·').count(), 2, "{map}");
        assert!(left.trim_start().starts_with("1    37"), "{map}");
    }

    #[test]
    fn a_share_is_never_rounded_to_nothing() {
        let share = |runs, incorrect| share(Tally { runs, incorrect });
        assert_eq!(share(0, 0), "");
        assert_eq!(share(10, 0), "·");
        assert_eq!(share(1_000_000, 1), "<0.01%");
        assert_eq!(share(1_000, 1), "0.10%");
        assert_eq!(share(10, 10), "100.0%");
    }
}
