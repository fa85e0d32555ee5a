//! The lines and words of a file, and the errors in them.

use std::error::Error;
use std::fmt;

/// Error from reading an instance: the line, what was expected and what was found.
///
/// ```
/// use filch_dd::problems::knapsack;
///
/// let error = knapsack::read(b"2 10\n60 5\n50 -4\n").unwrap_err();
/// assert_eq!(error.line(), Some(3));
/// assert_eq!(error.to_string(), "line 3: expected the weight of the item, which is not negative, found \"-4\"");
/// assert_eq!(error.in_file("sack.txt"), "sack.txt:3: expected the weight of the item, which is not negative, found \"-4\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    line: Option<u64>,
    reason: String,
}

impl ReadError {
    #[cold]
    pub(super) fn whole_file(reason: impl Into<String>) -> ReadError {
        ReadError { line: None, reason: reason.into() }
    }

    /// Returns the line, counted from 1, if the error belongs to one.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns what is wrong.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the error in the form `FILE:LINE: expected this, found that`.
    ///
    /// It is safe to print on any terminal.
    pub fn in_file(&self, name: &str) -> String {
        let name: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        match self.line {
            Some(line) => format!("{name}:{line}: {}", self.reason),
            None => format!("{name}: {}", self.reason),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl Error for ReadError {}

impl From<filch_graph::read::ReadError> for ReadError {
    fn from(error: filch_graph::read::ReadError) -> ReadError {
        ReadError { line: error.line(), reason: error.problem().to_string() }
    }
}

/// The lines of a file that are not blank.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
    skip: fn(&[u8]) -> bool,
}

impl<'a> Lines<'a> {
    /// Returns the lines, without blank ones and those for which `skip` returns `true`.
    pub(super) fn new(bytes: &'a [u8], skip: fn(&[u8]) -> bool) -> Result<Lines<'a>, ReadError> {
        if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
            let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            return Err(ReadError { line: Some(line), reason: "expected text, found a zero byte".into() });
        }
        Ok(Lines { rest: bytes, number: 0, skip })
    }

    /// Returns the next line; if there is none, the error says that `what` was expected.
    pub(super) fn expect(&mut self, what: &str) -> Result<Line<'a>, ReadError> {
        self.next().ok_or_else(|| self.end(what))
    }

    /// Checks that no line is left.
    pub(super) fn finish(&mut self, after: &str) -> Result<(), ReadError> {
        match self.next() {
            None => Ok(()),
            Some(mut line) => {
                let word = quoted(line.word().unwrap_or_default());
                Err(line.error(format!("expected the end of the file after {after}, found \"{word}\"")))
            }
        }
    }

    /// Returns the error for a file that ends before `what`.
    #[cold]
    pub(super) fn end(&self, what: &str) -> ReadError {
        ReadError { line: Some(self.number.max(1)), reason: format!("expected {what}, found the end of the file") }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n');
            let (text, rest) = match end {
                Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
                None => (self.rest, &[][..]),
            };
            self.rest = rest;
            self.number += 1;
            let text = text.trim_ascii();
            if !text.is_empty() && !(self.skip)(text) {
                return Some(Line { number: self.number, rest: text });
            }
        }
        None
    }
}

/// The rest of a line.
pub(super) struct Line<'a> {
    number: u64,
    rest: &'a [u8],
}

impl<'a> Line<'a> {
    #[cold]
    pub(super) fn error(&self, reason: impl Into<String>) -> ReadError {
        ReadError { line: Some(self.number), reason: reason.into() }
    }

    /// Returns the next word, if there is one.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        (!word.is_empty()).then_some(word)
    }

    /// Parses the next word as an integer from `least` to `most`.
    pub(super) fn number(&mut self, what: &str, least: i64, most: i64) -> Result<i64, ReadError> {
        let Some(word) = self.word() else {
            return Err(self.error(format!("expected {what}, found the end of the line")));
        };
        let found = match std::str::from_utf8(word).ok().and_then(|word| word.parse::<i128>().ok()) {
            Some(number) => number,
            // An integer of more than 38 digits is always out of range.
            None if is_whole(word) => return Err(self.outside(what, least, most, word[0] == b'-', word)),
            None => return Err(self.error(format!("expected {what}, a whole number, found \"{}\"", quoted(word)))),
        };
        match i64::try_from(found) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(self.outside(what, least, most, found < i128::from(least), word)),
        }
    }

    /// Parses the next word as a non-negative number with at most nine decimals.
    ///
    /// Returns its digits as an integer, and how many of them are decimals.
    pub(super) fn decimal(&mut self, what: &str) -> Result<(i64, u32), ReadError> {
        let Some(word) = self.word() else {
            return Err(self.error(format!("expected {what}, found the end of the line")));
        };
        let (sign, number) = match word {
            [sign @ (b'-' | b'+'), number @ ..] => (*sign, number),
            _ => (b'+', word),
        };
        let mut parts = number.splitn(2, |&byte| byte == b'.');
        let (whole, part) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if !whole.iter().chain(part).all(u8::is_ascii_digit) || whole.len() + part.len() == 0 {
            return Err(self.error(format!("expected {what}, a number, found \"{}\"", quoted(word))));
        }
        let zeros = part.iter().rev().take_while(|&&digit| digit == b'0').count();
        let part = &part[..part.len() - zeros];
        if part.len() > 9 {
            return Err(self.error(format!("expected {what}, with nine decimals at most, found \"{}\"", quoted(word))));
        }
        let digits = whole
            .iter()
            .chain(part)
            .try_fold(0i64, |number, &digit| number.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
        match digits {
            Some(digits) if sign == b'+' || digits == 0 => Ok((digits, part.len() as u32)),
            Some(_) => Err(self.error(format!("expected {what}, which is not negative, found \"{}\"", quoted(word)))),
            None => Err(self
                .error(format!("expected {what}, which is at most 9223372036854775807, found \"{}\"", quoted(word)))),
        }
    }

    #[cold]
    fn outside(&self, what: &str, least: i64, most: i64, below: bool, word: &[u8]) -> ReadError {
        let rule = match (below, least) {
            (true, 0) => "is not negative".into(),
            (true, _) => format!("is at least {least}"),
            (false, _) => format!("is at most {most}"),
        };
        self.error(format!("expected {what}, which {rule}, found \"{}\"", quoted(word)))
    }

    /// Checks that nothing more is on the line.
    pub(super) fn end(&mut self, after: &str) -> Result<(), ReadError> {
        match self.word() {
            None => Ok(()),
            Some(word) => {
                Err(self.error(format!("expected the end of the line after {after}, found \"{}\"", quoted(word))))
            }
        }
    }
}

fn is_whole(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns the word, safe to print on any terminal, and shortened if it is long.
pub(super) fn quoted(word: &[u8]) -> String {
    const MOST: usize = 40;
    let shown = &word[..word.len().min(MOST)];
    let mut text: String = String::from_utf8_lossy(shown).chars().flat_map(char::escape_debug).collect();
    if shown.len() < word.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_kept_as_they_are_written() {
        for (text, expected) in [
            ("17", (17, 0)),
            ("17.0", (17, 0)),
            ("17.250", (1725, 2)),
            (".5", (5, 1)),
            ("5.", (5, 0)),
            ("-0.00", (0, 0)),
            ("+3", (3, 0)),
            ("0.000000001", (1, 9)),
        ] {
            assert_eq!(line(text).decimal("a time"), Ok(expected), "{text}");
        }
        for (text, sentence) in [
            ("-1.5", "a time, which is not negative, found \"-1.5\""),
            (".", "a time, a number, found \".\""),
            ("1e5", "a number"),
            ("nan", "a number"),
            ("1.2.3", "a number"),
            ("0.0000000001", "nine decimals at most"),
            ("99999999999999999999", "which is at most 9223372036854775807, found"),
        ] {
            let error = line(text).decimal("a time").unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }

    fn line(text: &'static str) -> Line<'static> {
        Lines::new(text.as_bytes(), |_| false).unwrap().next().unwrap()
    }

    #[test]
    fn lines_end_in_both_ways_and_blank_ones_count_but_are_passed_over() {
        let lines = Lines::new(b"\r\n  1\r\n# 2\n\n3", |text| text.starts_with(b"#")).unwrap();
        let seen: Vec<(u64, &[u8])> = lines.map(|line| (line.number, line.rest)).collect();
        assert_eq!(seen, [(2, &b"1"[..]), (5, b"3")]);
    }

    #[test]
    fn a_zero_byte_is_told_with_its_line() {
        assert_eq!(Lines::new(b"1\n2\0\n", |_| false).err().unwrap().line(), Some(2));
    }

    #[test]
    fn numbers_are_told_from_words_and_kept_within_their_limits() {
        assert_eq!(line("17").number("a", 0, 100), Ok(17));
        assert_eq!(line("-17").number("a", i64::MIN, 100), Ok(-17));
        assert_eq!(line("9223372036854775807").number("a", 0, i64::MAX), Ok(i64::MAX));
        for (text, sentence) in [
            ("9223372036854775808", "which is at most 9"),
            (
                "99999999999999999999999999999999999999999999999999",
                "which is at most 9, found \"9999999999999999999999999999999999999999…\"",
            ),
            ("-99999999999999999999999999999999999999999999999999", "which is not negative"),
            ("10", "which is at most 9, found \"10\""),
            ("-1", "which is not negative"),
            ("1.5", "a whole number, found \"1.5\""),
            ("\u{1b}[2J", "found \"\\u{1b}[2J\""),
            ("--1", "a whole number"),
        ] {
            let error = line(text).number("a digit", 0, 9).unwrap_err().to_string();
            assert!(error.starts_with("line 1: expected a digit, ") && error.contains(sentence), "{error}");
        }
    }
}
