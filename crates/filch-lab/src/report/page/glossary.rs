//! The words of verdicts that are not common, with their meanings.

use maud::{html, Markup};

use super::links;

/// Forms of a word, and the meaning, as in the section "Words" of ARCHITECTURE.md.
///
/// The first form is the name. A form also matches with a capital letter, and with an `s` at its
/// end.
const WORDS: [(&[&str], &str); 14] = [
    (
        &["owner", "thief", "thieves"],
        "The two sides of a queue. One owner pushes and pops. Any number of thieves steal.",
    ),
    (
        &["push", "pop", "steal", "stealing", "stolen"],
        "The three operations. The owner adds a task, the owner takes one, a thief takes one (`bulk`: a share).",
    ),
    (&["exactly once", "at least once"], "The guarantee of a queue: how often it returns each task."),
    (&["S"], "The most stores of its own thread that a load may overtake on this CPU."),
    (
        &["delta"],
        "The most pops that may be hidden from a thief: ceil(S / (x + 1)), with x further stores between two pops.",
    ),
    (&["batch", "batches"], "The tasks that a bulk queue pushes or steals in one operation."),
    (&["fork stack"], "The stack of a worker's forked jobs, one slot for each."),
    (&["raid"], "A thief publishes the private jobs of an owner that does not answer. It uses the heavy barrier."),
    (&["round"], "One measurement of every contender of a case, in turn."),
    (&["median"], "The middle of all rounds: half of them are below it."),
    (
        &["interval"],
        "The range that contains the true median with a confidence of at least 95 %. Brackets after a figure.",
    ),
    (
        &["serial-pair", "serial-call-pair"],
        "Two serial runs at the same time, one on each core: what two cores can do without a scheduler.",
    ),
    (&["redundant"], "A task that a queue returned once more."),
    (&["geometric mean"], "The mean of ratios: the root of their product. A ratio and its inverse cancel out."),
];

/// The id of the list.
pub(super) const ID: &str = "words";

fn id(place: usize) -> String {
    format!("word-{}", WORDS[place].0[0].to_lowercase().replace(' ', "-"))
}

/// Returns the list of all words, folded.
pub(super) fn html() -> Markup {
    html! {
        details class="fold" id=(ID) {
            summary { "Words" }
            dl class="words" {
                @for (place, (forms, meaning)) in WORDS.iter().enumerate() {
                    dt { (forms.join(", ")) }
                    dd id=(id(place)) { (links::prose(meaning)) }
                }
            }
        }
    }
}

/// Marks the words in the texts of a verdict. Each word is marked once.
#[derive(Clone, Default)]
pub(super) struct Marker {
    marked: Vec<usize>,
}

impl Marker {
    /// Formats a text as [`links::prose`] does, with words marked outside of code.
    pub(super) fn prose(&mut self, text: &str) -> Markup {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((start, end, place)) = self.next(rest) {
            self.marked.push(place);
            parts.push(html! {
                (links::prose(&rest[..start]))
                dfn tabindex="0" aria-describedby=(id(place)) { (rest[start..end]) }
            });
            rest = &rest[end..];
        }
        html! { @for part in parts { (part) } (links::prose(rest)) }
    }

    /// Finds the first word that is not marked: its start, its end and its place in the list.
    fn next(&self, text: &str) -> Option<(usize, usize, usize)> {
        let forms = WORDS.iter().enumerate().filter(|(place, _)| !self.marked.contains(place));
        let found = forms.flat_map(|(place, (forms, _))| {
            forms.iter().filter_map(move |form| find(text, form).map(|(start, end)| (start, end, place)))
        });
        found.min_by_key(|&(start, end, _)| (start, usize::MAX - end))
    }
}

/// Finds a form as a whole word, outside of code.
fn find(text: &str, form: &str) -> Option<(usize, usize)> {
    let inside = |c: char| c.is_alphanumeric() || "-_:/`'".contains(c);
    let (first, tail) = form.split_at(1);
    let starts = text.char_indices().map(|(at, _)| at).filter(|&at| !text[..at].ends_with(inside));
    let is_code = |at: usize| text[..at].matches('`').count() % 2 == 1;
    starts.filter(|&at| !is_code(at)).find_map(|at| {
        let rest = &text[at..];
        let after =
            rest.strip_prefix(first).or_else(|| rest.strip_prefix(&*first.to_uppercase()))?.strip_prefix(tail)?;
        let after = after.strip_prefix('s').unwrap_or(after);
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || "-_/".contains(c));
        is_whole.then_some((at, text.len() - after.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<String> {
        let html = Marker::default().prose(text).into_string();
        html.split("<dfn ").skip(1).map(|part| part.split(['>', '<']).nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn words_are_marked_whole_and_once() {
        assert_eq!(marked("Steals: a steal and S / 2; a delta of S."), ["Steals", "S", "delta"]);
        assert_eq!(marked("a serial-pair in 7 rounds, exactly once"), ["serial-pair", "rounds", "exactly once"]);
        assert_eq!(marked("steal/10% and `a raid`, FF-THE's, around, Simple, deltas-x"), Vec::<String>::new());
        assert_eq!(marked("é`a` is stolen <b>"), ["stolen"]);
    }

    #[test]
    fn the_text_is_unchanged() {
        let text = |html: String| {
            html.split('<').filter_map(|part| Some(part.split_once('>')?.1.to_owned())).collect::<String>()
        };
        let marked = Marker::default().prose("A `raid` is no raid, but steals: a ` b").into_string();
        assert_eq!(text(format!("<p>{marked}")), "A raid is no raid, but steals: a ` b");
    }

    #[test]
    fn meanings_are_those_of_the_architecture() {
        let words = include_str!("../../../../../ARCHITECTURE.md");
        for (forms, meaning) in WORDS {
            assert!(words.contains(meaning), "{}: {meaning}", forms[0]);
        }
    }
}
