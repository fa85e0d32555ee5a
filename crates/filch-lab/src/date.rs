//! The current date and time, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_A_DAY: u64 = 86_400;

/// The current day, as in `2026-11-16`.
pub(crate) fn today() -> String {
    day(seconds())
}

/// The current time: `2026-03-01 09:05:07 UTC`.
pub(crate) fn now() -> String {
    moment(seconds())
}

/// Seconds since the beginning of 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn moment(seconds: u64) -> String {
    let second = seconds % SECONDS_A_DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{} {hour:02}:{minute:02}:{second:02} UTC", day(seconds))
}

fn day(seconds: u64) -> String {
    // Years that begin in March have their leap day last. There are 719,468 days from the first of
    // them to the epoch, and 146,097 in 400 years.
    let days = seconds / SECONDS_A_DAY + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_773, "2026-11-16"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(days * 86_400 + 86_399), text);
        }
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        // As `date --utc --date=@SECONDS` prints.
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (68_255_999, "1972-02-29 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (1_772_355_907, "2026-03-01 09:05:07 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(moment(seconds), expected);
        }
    }
}
