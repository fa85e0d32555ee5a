//! A claim, its measurement, and whether it holds.

use super::rounds::{geometric_mean, Rounds};
use crate::report::page::{Holds, Verdict};

/// The share of a claimed gain that counts as "about" that much. Machines and compilers differ.
const ABOUT: f64 = 0.75;

/// The source of this project's own claims.
pub(super) const OURS: &str = "filch";

/// The most figures that are named if they are not as claimed.
const NAMED: usize = 3;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
}

impl Bound {
    /// Returns the bound for another's relative time at about this gain. 0.2 is a fifth.
    pub(super) fn faster_by_about(gain: f64) -> Bound {
        Bound::AtLeast(1.0 + ABOUT * gain)
    }

    /// Returns the bound for the relative time if about this much is saved. 0.2 is a fifth.
    pub(super) fn saves_about(share: f64) -> Bound {
        Bound::AtMost(1.0 - ABOUT * share)
    }

    /// Judges whether the bound holds in the whole interval of the figure.
    pub(super) fn judge(self, figure: &Rounds) -> Holds {
        // A factor never moves a figure across zero, nor away from zero. So a few rounds of
        // differences would always convince.
        let is_a_sign = matches!(self, Bound::AtLeast(end) | Bound::AtMost(end) if end == 0.0);
        if figure.has_gaps() || (is_a_sign || figure.value() == 0.0) && figure.is_scant() {
            return Holds::Unclear;
        }
        let (low, high) = figure.range();
        let (all, none) = match self {
            Bound::AtLeast(least) => (low >= least, high < least),
            Bound::AtMost(most) => (high <= most, low > most),
            Bound::Between(least, most) => (low >= least && high <= most, high < least || low > most),
        };
        match (all, none) {
            (true, _) => Holds::Yes,
            (_, true) => Holds::No,
            _ => Holds::Unclear,
        }
    }
}

/// A figure that a claim is judged by.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What it is the figure of; empty if there is only one figure.
    label: String,
    figure: Option<Rounds>,
    unit: &'static str,
    bound: Bound,
    /// Of how many figures it is the mean, and of how many it should be.
    of: (usize, usize),
}

impl Part {
    /// Makes a part of a ratio, or of any figure without a unit.
    pub(super) fn new(label: impl Into<String>, figure: Option<Rounds>, bound: Bound) -> Part {
        Part { label: label.into(), figure, unit: "", bound, of: (1, 1) }
    }

    /// Makes a part of the geometric mean of ratios. If ratios are missing, the part says so and
    /// proves nothing.
    pub(super) fn mean(label: impl Into<String>, ratios: &[Option<Rounds>], bound: Bound) -> Part {
        let measured: Vec<Rounds> = ratios.iter().flatten().cloned().collect();
        Part { of: (measured.len(), ratios.len()), ..Part::new(label, geometric_mean(&measured), bound) }
    }

    /// Marks the part as incomplete if the suite was interrupted. The number of missing ratios is
    /// then unknown.
    pub(super) fn unless_ended(self, ended: bool) -> Part {
        let (measured, all) = self.of;
        Part { of: (measured, if ended { usize::MAX } else { all }), ..self }
    }

    /// Makes a part of the smallest figure. A missing figure might be smaller: the part says so and
    /// proves nothing.
    pub(super) fn least(all: impl Iterator<Item = (String, Option<Rounds>)>, bound: Bound) -> Part {
        let parts: Vec<Part> = all.map(|(label, figure)| Part::new(label, figure, bound)).collect();
        let measured = parts.iter().filter(|part| part.figure.is_some());
        let of = (measured.clone().count(), parts.len());
        let least = measured.min_by(|a, b| a.value().total_cmp(&b.value())).cloned();
        let least = least.unwrap_or_else(|| Part::new("", None, bound));
        Part { of, ..least }
    }

    /// Makes a part of the largest figure. A missing figure might be larger, and counts as the
    /// largest.
    pub(super) fn largest(all: impl Iterator<Item = Part>, bound: Bound) -> Part {
        let value = |part: &Part| part.figure.as_ref().map_or(f64::INFINITY, Rounds::value);
        all.max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or_else(|| Part::new("", None, bound))
    }

    /// Returns the median, to find the smallest. A missing figure counts as the smallest.
    pub(super) fn value(&self) -> f64 {
        self.figure.as_ref().map_or(f64::NEG_INFINITY, Rounds::value)
    }

    /// Judges the part; `None` without a figure.
    fn judge(&self) -> Option<Holds> {
        let holds = self.bound.judge(self.figure.as_ref()?);
        Some(if self.of.0 < self.of.1 { Holds::Unclear } else { holds })
    }

    fn told(&self) -> String {
        let figure = self.figure.as_ref().map_or_else(|| "not measured".to_owned(), Rounds::text);
        let of = match self.of {
            _ if self.figure.is_none() => String::new(),
            (measured, usize::MAX) => format!("over the {measured} that were reached"),
            (measured, all) if measured < all => format!("over {measured} of {all}"),
            _ => String::new(),
        };
        let unit = if self.figure.is_some() { self.unit } else { "" };
        let words = [&*self.label, &*figure, unit, &*of];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Adds a unit.
    pub(super) fn with_unit(self, unit: &'static str) -> Part {
        Part { unit, ..self }
    }
}

/// A claim of a source.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) source: &'static str,
    /// The section with the details.
    pub(super) section: &'static str,
    /// The claim, in the words of this project.
    pub(super) text: String,
}

impl Claim {
    /// Makes a claim of this project.
    pub(super) fn ours(section: &'static str, text: impl Into<String>) -> Claim {
        Claim::new(OURS, section, text)
    }

    /// Makes a claim of a source, in a section.
    pub(super) fn new(source: &'static str, section: &'static str, text: impl Into<String>) -> Claim {
        Claim { source, section, text: text.into() }
    }

    /// Judges the claim by figures, each of which must be as claimed.
    ///
    /// If a figure is missing, the claim cannot hold. If all are missing, nothing was measured.
    /// `what` describes the figures: `a / b` for the time of a divided by the time of b.
    pub(super) fn judged(self, what: &str, parts: Vec<Part>) -> Verdict {
        if parts.iter().all(|part| part.figure.is_none()) {
            return self.not_measured();
        }
        let holds = together(parts.iter().map(|part| part.judge().unwrap_or(Holds::Unclear)));
        let figures = parts.iter().map(Part::told).collect::<Vec<_>>().join("; ");
        let has_label = parts.iter().any(|part| !part.label.is_empty());
        let before = match (what, has_label) {
            ("", _) => String::new(),
            (what, true) => format!("{what}, "),
            (what, false) => format!("{what}: "),
        };
        self.told(before + &figures, holds.unwrap_or(Holds::NotMeasured))
    }

    /// Judges the claim by many figures of one kind. Each must be as claimed.
    ///
    /// Figures that are not as claimed are named, the others are counted.
    pub(super) fn judged_each(self, figures: &[(String, Option<Rounds>)], bound: Bound) -> Verdict {
        let judged: Vec<Option<Holds>> =
            figures.iter().map(|(_, figure)| Some(bound.judge(figure.as_ref()?))).collect();
        if judged.iter().all(Option::is_none) {
            return self.not_measured();
        }
        let holds = together(judged.iter().map(|holds| holds.unwrap_or(Holds::Unclear)));
        let count = |wanted: Option<Holds>| judged.iter().filter(|holds| **holds == wanted).count();
        let failed = figures.iter().zip(&judged).filter(|(_, holds)| **holds == Some(Holds::No));
        let failed = failed.filter_map(|((name, figure), _)| Some(format!("{name} {}", figure.as_ref()?.text())));
        let failed: Vec<String> = failed.collect();
        let named = match failed.len() {
            0 => String::new(),
            1..=NAMED => format!(": {}", failed.join("; ")),
            more => format!(": {} and {} more", failed[..NAMED].join("; "), more - NAMED),
        };
        let missing = match count(None) {
            0 => String::new(),
            missing => format!(", {missing} without a figure"),
        };
        let measured = format!(
            "of {}, {} as claimed, {} unclear{missing}, {} not{named}",
            figures.len(),
            count(Some(Holds::Yes)),
            count(Some(Holds::Unclear)),
            count(Some(Holds::No))
        );
        self.told(measured, holds.unwrap_or(Holds::NotMeasured))
    }

    /// Makes a verdict that was reached in another way.
    pub(super) fn told(self, measured: impl Into<String>, holds: Holds) -> Verdict {
        let Claim { source, section, text: claim } = self;
        Verdict { source, claim, measured: measured.into(), holds, section }
    }

    /// Makes the verdict of a claim without measurements.
    pub(super) fn not_measured(self) -> Verdict {
        self.told("not measured in this run", Holds::NotMeasured)
    }
}

/// Combines verdicts: the claim holds if all parts hold, and fails if any part fails.
fn together(parts: impl Iterator<Item = Holds>) -> Option<Holds> {
    parts.reduce(|one, other| match (one, other) {
        (Holds::No, _) | (_, Holds::No) => Holds::No,
        (Holds::Yes, Holds::Yes) => Holds::Yes,
        _ => Holds::Unclear,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(samples: &[f64]) -> Option<Rounds> {
        Rounds::new(samples.to_vec())
    }

    fn claim() -> Claim {
        Claim::ours("fork-join", "it is fast")
    }

    #[test]
    fn a_claim_holds_only_where_the_whole_interval_does() {
        let judge = |bound: Bound, samples: &[f64]| bound.judge(&figure(samples).unwrap());
        assert_eq!(judge(Bound::AtLeast(2.0), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Yes);
        assert_eq!(judge(Bound::AtLeast(2.5), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Unclear);
        assert_eq!(judge(Bound::AtLeast(4.5), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::No);
        assert_eq!(judge(Bound::AtMost(4.0), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Yes);
        assert_eq!(judge(Bound::AtMost(3.9), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Unclear);
        assert_eq!(judge(Bound::AtMost(1.9), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::No);
        assert_eq!(judge(Bound::Between(1.0, 4.0), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Yes);
        assert_eq!(judge(Bound::Between(3.0, 4.0), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::Unclear);
        assert_eq!(judge(Bound::Between(4.1, 5.0), &[2.0, 3.0, 4.0, 3.0, 3.0]), Holds::No);
    }

    #[test]
    fn a_single_round_convinces_only_with_a_margin() {
        let judge = |samples: &[f64]| Bound::AtLeast(3.0).judge(&figure(samples).unwrap());
        assert_eq!(judge(&[3.1]), Holds::Unclear);
        assert_eq!(judge(&[4.1]), Holds::Yes);
        assert_eq!(judge(&[2.0]), Holds::No);
    }

    #[test]
    fn one_part_that_fails_is_enough() {
        let part = |samples: &[f64]| Part::new("", figure(samples), Bound::AtLeast(2.0));
        let (yes, unclear, no) = ([3.0; 5], [1.0, 2.0, 3.0, 2.0, 2.0], [1.0; 5]);
        let holds = |parts: &[&[f64]]| claim().judged("", parts.iter().map(|samples| part(samples)).collect()).holds;
        assert_eq!(holds(&[&yes, &yes]), Holds::Yes);
        assert_eq!(holds(&[&yes, &unclear]), Holds::Unclear);
        assert_eq!(holds(&[&unclear, &no, &yes]), Holds::No);
        // A missing figure might have any value.
        assert_eq!(holds(&[&yes, &[]]), Holds::Unclear);
        assert_eq!(holds(&[&no, &[]]), Holds::No);
        assert_eq!(holds(&[&[]]), Holds::NotMeasured);
    }

    #[test]
    fn a_mean_of_some_is_not_the_mean_of_all() {
        let verdict =
            |ratios: &[Option<Rounds>]| claim().judged("a / b", vec![Part::mean("", ratios, Bound::AtLeast(2.0))]);
        assert_eq!(verdict(&[figure(&[3.0; 5]), figure(&[3.0; 5])]).holds, Holds::Yes);
        let some = verdict(&[figure(&[3.0; 5]), None]);
        assert_eq!(some.holds, Holds::Unclear);
        assert_eq!(some.measured, "a / b: 3.00 (3.00 to 3.00, 5 rounds) over 1 of 2");
        assert_eq!(verdict(&[None]).holds, Holds::NotMeasured);
        let ended = Part::mean("", &[figure(&[3.0; 5])], Bound::AtLeast(2.0)).unless_ended(true);
        let ended = claim().judged("a / b", vec![ended]);
        assert!(ended.holds == Holds::Unclear && ended.measured.ends_with("over the 1 that were reached"));
    }

    #[test]
    fn a_few_differences_and_rounds_that_are_no_numbers_convince_nobody() {
        let judge = |bound: Bound, samples: &[f64]| bound.judge(&figure(samples).unwrap());
        assert_eq!(judge(Bound::AtMost(0.0), &[-5.0]), Holds::Unclear);
        assert_eq!(judge(Bound::AtMost(0.0), &[-5.0; 5]), Holds::Yes);
        assert_eq!(judge(Bound::AtMost(2.0), &[1.0, 1.0, 1.0, 1.0, 1.0, f64::INFINITY]), Holds::Unclear);
    }

    #[test]
    fn what_was_measured_is_told_with_its_interval() {
        let parts = vec![
            Part::new("1 thread:", figure(&[2.0, 3.0, 4.0, 3.0, 3.0]), Bound::AtLeast(2.0)),
            Part::new("2 threads:", figure(&[5.0]), Bound::AtLeast(2.0)).with_unit("ns"),
        ];
        let measured = |what| claim().judged(what, parts.clone()).measured;
        assert_eq!(measured(""), "1 thread: 3.00 (2.00 to 4.00, 5 rounds); 2 threads: 5.00 (1 round) ns");
        assert!(measured("a / b").starts_with("a / b, 1 thread: 3.00"));
        let alone = claim().judged("a / b", vec![Part::new("", figure(&[5.0]), Bound::AtLeast(2.0))]);
        assert_eq!(alone.measured, "a / b: 5.00 (1 round)");
    }

    #[test]
    fn of_many_only_those_that_fail_are_named() {
        let of = |name: &str, value: f64| (name.to_owned(), figure(&[value; 5]));
        let verdict = claim().judged_each(&[of("fib", 1.0), of("lu", 1.5)], Bound::AtMost(1.02));
        assert_eq!(verdict.measured, "of 2, 1 as claimed, 0 unclear, 1 not: lu 1.50 (1.50 to 1.50, 5 rounds)");
        assert_eq!(verdict.holds, Holds::No);
        let many: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| of(name, 2.0)).to_vec();
        assert!(claim()
            .judged_each(&many, Bound::AtMost(1.0))
            .measured
            .ends_with("c 2.00 (2.00 to 2.00, 5 rounds) and 2 more"));
        assert_eq!(claim().judged_each(&[], Bound::AtMost(1.0)).holds, Holds::NotMeasured);
        let gap = claim().judged_each(&[of("fib", 1.0), ("lu".to_owned(), None)], Bound::AtMost(1.02));
        assert_eq!(
            (gap.holds, &*gap.measured),
            (Holds::Unclear, "of 2, 1 as claimed, 0 unclear, 1 without a figure, 0 not")
        );
    }

    #[test]
    fn about_a_fifth_is_reached_at_three_quarters_of_it() {
        assert_eq!(Bound::faster_by_about(0.2), Bound::AtLeast(1.15));
        assert_eq!(Bound::saves_about(0.2), Bound::AtMost(0.85));
    }

    #[test]
    fn whoever_was_not_measured_might_be_the_extreme() {
        let of = |name: &str, samples: Option<&[f64]>| (name.to_owned(), samples.and_then(figure));
        let least = |all: Vec<(String, Option<Rounds>)>| {
            let verdict = claim().judged("", vec![Part::least(all.into_iter(), Bound::AtMost(0.8))]);
            (verdict.holds, verdict.measured)
        };
        let (holds, told) = least(vec![of("a:", Some(&[0.9; 6])), of("b:", Some(&[0.7; 6]))]);
        assert!(holds == Holds::Yes && told.starts_with("b: "), "{told}");
        let (holds, told) = least(vec![of("a:", Some(&[0.9; 6])), of("b:", None)]);
        assert!(holds == Holds::Unclear && told.ends_with("over 1 of 2"), "{told}");
        assert_eq!(least(vec![of("a:", None)]).0, Holds::NotMeasured);

        let part = |samples: Option<&[f64]>| Part::new("", samples.and_then(figure), Bound::AtMost(1.0));
        let largest = |parts: Vec<Part>| {
            claim().judged("", vec![part(Some(&[0.5; 6])), Part::largest(parts.into_iter(), Bound::AtMost(1.0))]).holds
        };
        assert_eq!(largest(vec![part(Some(&[0.9; 6])), part(Some(&[0.7; 6]))]), Holds::Yes);
        assert_eq!(largest(vec![part(Some(&[0.9; 6])), part(Some(&[1.2; 6]))]), Holds::No);
        assert_eq!(largest(vec![part(Some(&[0.9; 6])), part(None)]), Holds::Unclear);
    }
}
