//! A position in a block of lines, and the elements that all formats share.

use crate::weighted::Weight;

/// A position in a text that ends with a line feed.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Cursor { text, at: 0 }
    }

    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Returns the byte here. The end of the text looks like the end of a line.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(b'\n')
    }

    /// Skips this byte, if it is here.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == byte;
        self.at += usize::from(here);
        here
    }

    /// Skips spaces and tabs. Returns whether there were any.
    #[inline]
    pub(super) fn blanks(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
        self.at > start
    }

    /// Skips the separator of two columns: spaces, tabs, and at most one comma. Returns whether
    /// there was any.
    #[inline]
    pub(super) fn separator(&mut self) -> bool {
        let start = self.at;
        self.blanks();
        if self.take(b',') {
            self.blanks();
        }
        self.at > start
    }

    /// Skips the end of the line, if only blanks come before it.
    #[inline]
    pub(super) fn end_of_line(&mut self) -> bool {
        let start = self.at;
        self.blanks();
        self.take(b'\r');
        if self.peek() == b'\n' {
            self.at += 1;
            return true;
        }
        self.at = start;
        false
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    /// Reads a whole number; `u64::MAX` stands for every number that is as large or larger.
    #[inline]
    pub(super) fn whole(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0u64;
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Wraps only beyond 19 digits, and then is not used.
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        match self.at - start {
            0 => None,
            1..=19 => Some(value),
            _ => Some(long(&self.text[start..self.at])),
        }
    }

    /// Skips a number of any kind. Returns whether there was one.
    pub(super) fn number(&mut self) -> bool {
        let start = self.at;
        let _ = self.take(b'-') || self.take(b'+');
        let mut digits = self.digits();
        if self.take(b'.') {
            digits += self.digits();
        }
        if digits == 0 {
            return self.not_finite(start);
        }
        let mantissa = self.at;
        // Fortran writes its exponents with a D.
        if matches!(self.peek(), b'e' | b'E' | b'd' | b'D') {
            self.at += 1;
            let _ = self.take(b'-') || self.take(b'+');
            if self.digits() == 0 {
                self.at = mantissa;
                return false;
            }
        }
        true
    }

    /// Reads a number that is a weight: from 0 to 3.4e38.
    #[inline]
    pub(super) fn weight(&mut self) -> Option<Weight> {
        let start = self.at;
        if let Some(whole) = self.whole().and_then(|whole| u32::try_from(whole).ok()) {
            if !matches!(self.peek(), b'.' | b'e' | b'E' | b'd' | b'D') {
                return Some(Weight::Whole(whole));
            }
        }
        self.at = start;
        self.any_weight()
    }

    /// Reads a weight in any notation.
    fn any_weight(&mut self) -> Option<Weight> {
        let start = self.at;
        if !self.number() {
            return None;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).ok()?;
        // A negative number may be so small that it is parsed as a zero.
        let mantissa = text.split(['e', 'E', 'd', 'D']).next()?;
        if text.starts_with('-') && mantissa.contains(|digit| matches!(digit, '1'..='9')) {
            return None;
        }
        let fortran = text.contains(['d', 'D']).then(|| text.replace(['d', 'D'], "e"));
        let text = fortran.as_deref().unwrap_or(text);
        match Weight::of(text.parse().ok()?)? {
            // From the text, so that it is rounded once. Only a fraction that rounding to an `f64`
            // removes is gone before, and the number counts as whole.
            Weight::Real(_) => text.parse().ok().filter(|real: &f32| real.is_finite()).map(Weight::Real),
            whole => Some(whole),
        }
    }

    #[inline]
    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    /// Skips infinities and NaN, which some programs write.
    #[cold]
    fn not_finite(&mut self, start: usize) -> bool {
        let rest = &self.text[self.at.min(self.text.len())..];
        for word in [&b"infinity"[..], b"inf", b"nan"] {
            if rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word) {
                self.at += word.len();
                return true;
            }
        }
        self.at = start;
        false
    }
}

/// Returns the value of more digits than are sure to fit.
#[cold]
fn long(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value: u64, &digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Cursor;
    use crate::weighted::Weight;

    fn whole(text: &str) -> Option<u64> {
        Cursor::new(text.as_bytes()).whole()
    }

    fn is_number(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.number() && cursor.is_at_end()
    }

    #[test]
    fn numbers_too_large_are_the_largest() {
        assert_eq!(whole("18446744073709551614"), Some(u64::MAX - 1));
        assert_eq!(whole("18446744073709551616"), Some(u64::MAX));
        assert_eq!(whole("99999999999999999999999999999999999999999999"), Some(u64::MAX));
        assert_eq!(whole("0000000000000000000000000000000000000000000017"), Some(17));
        assert_eq!(whole("x"), None);
        assert_eq!(whole(""), None);
    }

    fn weight(text: &str) -> Option<Weight> {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.weight().filter(|_| cursor.is_at_end())
    }

    #[test]
    fn weights_are_whole_or_real_in_any_notation() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e5", 0),
            ("-0d-3", 0),
            ("1e-400", 0),
            ("16777217.00000000000000000001", 16_777_217),
            ("+7", 7),
            ("7.0", 7),
            ("5.", 5),
            ("1e3", 1000),
            ("1.5d2", 150),
            ("4294967295", u32::MAX),
        ] {
            assert_eq!(weight(text), Some(Weight::Whole(value)), "{text}");
        }
        for (text, value) in [
            (".5", 0.5),
            ("1.5D-1", 0.15),
            ("0.1", 0.1),
            ("4294967296", 4294967296.0),
            ("1e-60", 0.0),
            ("3.4e38", 3.4e38),
        ] {
            assert_eq!(weight(text), Some(Weight::Real(value)), "{text}");
        }
        let long = "9".repeat(30);
        assert_eq!(weight(&long), Some(Weight::Real(1e30)));
        for text in
            ["", "x", "-1", "-0.5", "nan", "inf", "-inf", "1e39", "1e999", "-1e999", "-1e-400", "-0.1d-400", ".", "1e"]
        {
            assert_eq!(weight(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_told_from_words() {
        for yes in ["1", "-1", "+1", "1.5", ".5", "5.", "1e9", "-1.5E-9", "1d0", "nan", "NaN", "-inf", "Infinity"] {
            assert!(is_number(yes), "{yes}");
        }
        for no in ["", "-", ".", "e9", "1e", "1e+", "x", "--1", "1.2.3", "infinite"] {
            assert!(!is_number(no), "{no}");
        }
    }

    #[test]
    fn lines_end_in_both_ways() {
        for (text, ended) in
            [("\n", true), ("\r\n", true), (" \t\r\n", true), ("", true), ("\r", true), (" x\n", false), ("\rx", false)]
        {
            assert_eq!(Cursor::new(text.as_bytes()).end_of_line(), ended, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_and_fractions_are_read_as_the_library_does(number: u64, fraction: f64) {
            prop_assert_eq!(whole(&number.to_string()), Some(number));
            prop_assert!(is_number(&fraction.to_string()));
            let exponent = format!("{:e}", fraction);
            prop_assert!(is_number(&exponent));
            prop_assert_eq!(weight(&number.to_string()), Weight::of(number as f64).map(|weight| match weight {
                Weight::Real(_) => Weight::Real(number as f32),
                whole => whole,
            }));
            prop_assert_eq!(weight(&exponent).is_some(), Weight::of(fraction).is_some());
        }
    }
}
