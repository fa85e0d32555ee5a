//! Formats numbers, amounts, times and tables for readers.

use comfy_table::{presets, CellAlignment, Table};

/// Formats a number with a comma after every three digits.
pub fn grouped(number: usize) -> String {
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
pub fn bytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", number(bytes as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", number(bytes as f64 / 1e6)),
        _ => format!("{} GB", number(bytes as f64 / 1e9)),
    }
}

/// Formats a time, given in seconds.
pub fn time(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", number(1e3 * seconds))
    } else {
        format!("{} s", number(seconds))
    }
}

/// Formats a number of threads.
pub fn threads(count: usize) -> String {
    if count == 1 {
        "1 thread".to_owned()
    } else {
        format!("{count} threads")
    }
}

/// Formats lines under a header, in columns. The first and the last are left-aligned, all others
/// right-aligned.
pub fn grid(header: &[String], lines: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(lines);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((2, 0));
        if (1..header.len() - 1).contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// Formats a figure with about three digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
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

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(number(1.234), "1.23");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(1234.5), "1234");
        assert_eq!(number(0.0), "0.00");
    }
}
