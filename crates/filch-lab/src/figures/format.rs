//! Formats numbers, amounts and times for readers.

use super::number;

/// Formats a number with a comma after every three digits.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount of memory.
pub(crate) fn bytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", number(bytes as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", number(bytes as f64 / 1e6)),
        _ => format!("{} GB", number(bytes as f64 / 1e9)),
    }
}

/// Formats a time, given in seconds.
pub(crate) fn time(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", number(1e3 * seconds))
    } else {
        format!("{} s", number(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_units() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(20_000_004), "20.0 MB");
        assert_eq!(time(0.0125), "12.5 ms");
        assert_eq!(time(12.5), "12.5 s");
    }
}
