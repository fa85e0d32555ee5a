//! The current date and time, in UTC.

use time::UtcDateTime;

/// The current day, as in `2026-11-16`.
pub(crate) fn today() -> String {
    UtcDateTime::now().date().to_string()
}

/// The current time: `2026-03-01 09:05:07 UTC`.
pub(crate) fn now() -> String {
    moment(UtcDateTime::now())
}

fn moment(time: UtcDateTime) -> String {
    let (hour, minute, second) = time.as_hms();
    format!("{} {hour:02}:{minute:02}:{second:02} UTC", time.date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_in_utc_and_has_leading_zeros() {
        let time = UtcDateTime::from_unix_timestamp(1_772_355_907).unwrap();
        assert_eq!(moment(time), "2026-03-01 09:05:07 UTC");
        assert_eq!(today().len(), "2026-03-01".len());
    }
}
