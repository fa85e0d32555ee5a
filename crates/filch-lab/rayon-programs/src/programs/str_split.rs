//! A text, split in parallel: into lines, and into words.

use rayon::prelude::*;

use super::{repeated, Program};
use crate::clock::checksum;
use crate::random::Random;

/// Splits a text of about `bytes` bytes.
pub(crate) fn program(bytes: usize) -> Program {
    let text = text(bytes);
    let counts = move || lines(&text).into_iter().chain(words(&text)).collect::<Vec<_>>();
    repeated(1, counts, |counts| checksum(counts.iter().copied()))
}

/// The number of lines and the length of the longest.
fn lines(text: &str) -> [u64; 2] {
    let longest = text.par_lines().map(|line| (1, line.len() as u64));
    let (count, longest) = longest.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    [count, longest]
}

/// The number of words, and the number of them that begin with a vowel.
fn words(text: &str) -> [u64; 2] {
    let words = text.par_split(|letter: char| letter == ' ' || letter == '\n').filter(|word| !word.is_empty());
    let vowels = words.map(|word| (1, u64::from(word.starts_with(['a', 'e', 'i', 'o', 'u']))));
    let (count, vowels) = vowels.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    [count, vowels]
}

fn text(bytes: usize) -> String {
    let mut random = Random::new(5);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        for _ in 0..=random.below(9) {
            text.push(char::from(b'a' + random.below(26) as u8));
        }
        text.push(if random.below(10) == 0 { '\n' } else { ' ' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_words_are_what_one_thread_finds() {
        let text = text(100_000);
        assert_eq!(lines(&text)[0], text.lines().count() as u64);
        assert_eq!(lines(&text)[1], text.lines().map(str::len).max().unwrap() as u64);
        assert_eq!(words(&text)[0], text.split_whitespace().count() as u64);
        assert_eq!(words("an apple\nand the pear"), [5, 3]);
    }
}
