//! Verdicts as text for a terminal.

use std::fmt::Write;

use super::claim::NOT_MEASURED;
use super::{Holds, Verdict};

/// The line width. Most terminals are at least this wide, and longer lines are hard to read.
const WIDTH: usize = 100;
/// The column where claims begin.
const INDENT: usize = 17;

/// Lists the measured claims of each source: the verdict, the claim, the figures and the bounds.
///
/// The claims that were not measured are counted, unless there is a reason to show.
pub(crate) fn listing(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    let is_listed = |verdict: &&Verdict| verdict.holds != Holds::NotMeasured || verdict.measured != NOT_MEASURED;
    let listed: Vec<&Verdict> = verdicts.iter().filter(is_listed).collect();
    for of_source in listed.chunk_by(|one, other| one.source.title == other.source.title) {
        let _ = writeln!(text, "{}", of_source[0].source.title);
        for verdict in of_source {
            let verdict_word = format!("  {}", verdict.holds.word());
            let rows = [
                (&*verdict_word, &verdict.claim),
                ("    measured", &verdict.measured),
                ("    required", &verdict.required),
            ];
            for (name, cell) in rows.into_iter().filter(|(_, cell)| !cell.is_empty()) {
                let _ = writeln!(text, "{name:<INDENT$}{}", wrapped(cell));
            }
        }
        text.push('\n');
    }
    match verdicts.len() - listed.len() {
        0 => {}
        1 => text.push_str("One more claim was not measured.\n"),
        rest => {
            let claims = if listed.is_empty() { "claims" } else { "more claims" };
            let _ = writeln!(text, "{rest} {claims} were not measured.");
        }
    }
    text
}

/// Wraps text into lines and indents all but the first.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > WIDTH - INDENT {
            lines.push(word.to_owned());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last] += &format!("{space}{word}");
        }
    }
    lines.join(&format!("\n{:INDENT$}", ""))
}

#[cfg(test)]
mod tests {
    use super::super::{Claim, Source};
    use super::*;

    fn verdict(source: Source, claim: &str, required: &str, holds: Holds) -> Verdict {
        let measured = "1.2 (1.1 to 1.3)".to_owned();
        Verdict { source, claim: claim.to_owned(), measured, required: required.to_owned(), holds }
    }

    #[test]
    fn verdicts_are_listed_by_source_and_others_are_counted() {
        let filch = Source::filch("fork-join");
        let verdicts = [
            verdict(Source::BLITZ, "It is faster.", "at least 2", Holds::No),
            Claim::new(filch, "It is smaller.").not_measured(),
            Claim::new(filch, "It is older.").not_measured_because("no clock"),
            verdict(filch, "It is faster.", "", Holds::Yes),
        ];
        assert_eq!(
            listing(&verdicts),
            "Blitz\n  does not hold  It is faster.\n    measured     1.2 (1.1 to 1.3)\n    required     at least 2\n\n\
             filch\n  not measured   It is older.\n    measured     not measured in this run: no clock\n  \
             holds          It is faster.\n    measured     1.2 (1.1 to 1.3)\n\n\
             One more claim was not measured.\n"
        );
        assert_eq!(listing(&[]), "");
    }

    #[test]
    fn long_claims_are_wrapped_between_words() {
        let long = "claim ".repeat(60);
        let lines: Vec<String> = wrapped(&long).lines().map(str::to_owned).collect();
        assert!(lines.len() > 3 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("                 claim")), "{lines:?}");
        assert_eq!(wrapped(""), "");
    }
}
