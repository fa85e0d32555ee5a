//! The terminal output of a report: the verdicts, the caveats, and the page's path.

use std::fmt::Write;
use std::path::Path;

use super::page::{Holds, Page, Verdict};

/// The line width. Most terminals are at least this wide, and longer lines are hard to read.
const WIDTH: usize = 100;
/// The column where claims begin.
const INDENT: usize = 11;

/// Returns the whole summary.
pub(super) fn text(page: &Page, index: &Path) -> String {
    let mut text = String::new();
    let is_measured = |verdict: &&Verdict| verdict.holds != Holds::NotMeasured;
    let measured: Vec<&Verdict> = page.verdicts.iter().filter(is_measured).collect();
    for of_source in measured.chunk_by(|one, other| one.source == other.source) {
        let _ = writeln!(text, "{}", of_source[0].source);
        for verdict in of_source {
            let claim = wrapped(&verdict.claim);
            let _ = writeln!(text, "  {:<width$}{claim}", word(verdict.holds), width = INDENT - 2);
            let _ = writeln!(text, "{:INDENT$}= {}", "", wrapped(&verdict.measured));
        }
        text.push('\n');
    }
    match page.verdicts.len() - measured.len() {
        0 => {}
        1 => text.push_str("One more claim was not measured.\n"),
        rest => drop(writeln!(
            text,
            "{rest} {} were not measured.",
            if measured.is_empty() { "claims" } else { "more claims" }
        )),
    }
    for notice in &page.notices {
        let _ = writeln!(text, "{notice}");
    }
    let _ = writeln!(text, "The page is {}", index.display());
    text
}

fn word(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "yes",
        Holds::No => "NO",
        Holds::Unclear => "unclear",
        Holds::NotMeasured => "",
    }
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
    use super::*;

    fn verdict(source: &'static str, claim: &str, holds: Holds) -> Verdict {
        Verdict {
            source,
            claim: claim.to_owned(),
            measured: "1.2 (1.1 to 1.3)".to_owned(),
            holds,
            section: "fork-join",
        }
    }

    #[test]
    fn the_summary_has_verdicts_notices_and_the_path() {
        let page = Page {
            facts: Vec::new(),
            notices: vec!["The run was interrupted.".to_owned()],
            verdicts: vec![
                verdict("A paper", "It is faster.", Holds::No),
                verdict("filch", "It is smaller.", Holds::NotMeasured),
                verdict("filch", "It is faster.", Holds::Yes),
            ],
            sections: Vec::new(),
        };
        assert_eq!(
            text(&page, Path::new("out/index.html")),
            "A paper\n  NO       It is faster.\n           = 1.2 (1.1 to 1.3)\n\n\
             filch\n  yes      It is faster.\n           = 1.2 (1.1 to 1.3)\n\n\
             One more claim was not measured.\nThe run was interrupted.\nThe page is out/index.html\n"
        );
    }

    #[test]
    fn long_claims_are_wrapped_between_words() {
        let long = "claim ".repeat(60);
        let lines: Vec<String> = wrapped(&long).lines().map(str::to_owned).collect();
        assert!(lines.len() > 3 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("           claim")), "{lines:?}");
        assert_eq!(wrapped(""), "");
    }
}
