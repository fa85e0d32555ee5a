//! A claim, its measurement, and whether it holds.

use std::fmt;

use super::rounds::{geometric_mean, Rounds};
use super::{Holds, Source, Verdict};

/// The share of a claimed gain that counts as "about" that much. Machines and compilers differ.
const ABOUT: f64 = 0.75;

/// The most figures that are named if they are not as claimed, and the most bounds.
const NAMED: usize = 3;

/// The figure of a claim without measurements.
pub(super) const NOT_MEASURED: &str = "not measured in this run";

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |end: f64| (1e3 * end).round() / 1e3;
        match *self {
            Bound::AtLeast(least) => write!(f, "at least {}", short(least)),
            Bound::AtMost(most) => write!(f, "at most {}", short(most)),
            Bound::Between(least, most) => write!(f, "{} to {}", short(least), short(most)),
        }
    }
}

impl Bound {
    /// Returns the bound for another's relative time at about this gain. 0.2 is a fifth.
    pub(crate) fn faster_by_about(gain: f64) -> Bound {
        Bound::AtLeast(1.0 + ABOUT * gain)
    }

    /// Returns the bound for the relative time if about this much is saved. 0.2 is a fifth.
    pub(crate) fn saves_about(share: f64) -> Bound {
        Bound::AtMost(1.0 - ABOUT * share)
    }

    /// Judges whether the bound holds in the whole interval of the figure.
    pub(crate) fn judge(self, figure: &Rounds) -> Holds {
        // A factor never moves a figure across zero, nor away from zero. So a few rounds of
        // differences would always convince.
        let is_a_sign = matches!(self, Bound::AtLeast(end) | Bound::AtMost(end) if end == 0.0);
        if figure.has_gaps() || (is_a_sign || figure.value() == 0.0) && figure.has_few_rounds() {
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
pub(crate) struct Criterion {
    /// What it is the figure of; empty if there is only one figure.
    label: String,
    figure: Option<Rounds>,
    unit: &'static str,
    bound: Bound,
    /// The number of figures that were measured, and the number that it needs.
    coverage: (usize, usize),
}

impl Criterion {
    /// Makes a criterion of a ratio, or of any figure without a unit.
    pub(crate) fn new(label: impl Into<String>, figure: Option<Rounds>, bound: Bound) -> Criterion {
        Criterion { label: label.into(), figure, unit: "", bound, coverage: (1, 1) }
    }

    /// Makes a criterion of the geometric mean of ratios. If ratios are missing, the text says so
    /// and the verdict is unclear.
    pub(crate) fn mean(label: impl Into<String>, ratios: &[Option<Rounds>], bound: Bound) -> Criterion {
        let measured: Vec<Rounds> = ratios.iter().flatten().cloned().collect();
        Criterion {
            coverage: (measured.len(), ratios.len()),
            ..Criterion::new(label, geometric_mean(&measured), bound)
        }
    }

    /// Marks the criterion as incomplete if the suite was interrupted. The number of missing ratios
    /// is then unknown.
    pub(crate) fn incomplete_if(self, interrupted: bool) -> Criterion {
        let (measured, all) = self.coverage;
        Criterion { coverage: (measured, if interrupted { usize::MAX } else { all }), ..self }
    }

    /// Makes a criterion of the smallest figure. A missing figure might be smaller: then the text
    /// says so and the verdict is unclear.
    pub(crate) fn least(all: impl IntoIterator<Item = (String, Option<Rounds>)>, bound: Bound) -> Criterion {
        Criterion::extreme(all.into_iter().collect(), bound, 1.0)
    }

    /// Makes a criterion of the largest figure. A missing figure might be larger: then the text
    /// says so and the verdict is unclear.
    pub(crate) fn largest(all: impl IntoIterator<Item = (String, Option<Rounds>)>, bound: Bound) -> Criterion {
        Criterion::extreme(all.into_iter().collect(), bound, -1.0)
    }

    /// Makes a criterion of the figure whose product with `sign` is the smallest.
    fn extreme(all: Vec<(String, Option<Rounds>)>, bound: Bound, sign: f64) -> Criterion {
        let needed = all.len();
        let measured: Vec<(String, Rounds)> =
            all.into_iter().filter_map(|(label, figure)| Some((label, figure?))).collect();
        let coverage = (measured.len(), needed);
        let value = |of: &(String, Rounds)| sign * of.1.value();
        let (label, figure) = measured.into_iter().min_by(|a, b| value(a).total_cmp(&value(b))).unzip();
        Criterion { coverage, ..Criterion::new(label.unwrap_or_default(), figure, bound) }
    }

    /// Returns the criterion with the largest figure. A missing figure might be larger, and counts
    /// as the largest.
    pub(crate) fn with_largest(all: impl IntoIterator<Item = Criterion>) -> Option<Criterion> {
        let value = |criterion: &Criterion| criterion.figure.as_ref().map_or(f64::INFINITY, Rounds::value);
        all.into_iter().max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// Judges the criterion; `None` without a figure.
    fn judge(&self) -> Option<Holds> {
        let holds = self.bound.judge(self.figure.as_ref()?);
        Some(if self.coverage.0 < self.coverage.1 { Holds::Unclear } else { holds })
    }

    /// Formats the figure with its label, unit and coverage.
    fn text(&self) -> String {
        let figure = self.figure.as_ref().map_or_else(|| "not measured".to_owned(), Rounds::text);
        let coverage = match self.coverage {
            _ if self.figure.is_none() => String::new(),
            (measured, usize::MAX) => format!("over the {measured} measured"),
            (measured, all) if measured < all => format!("over {measured} of {all}"),
            _ => String::new(),
        };
        let unit = if self.figure.is_some() { self.unit } else { "" };
        let words = [&*self.label, &*figure, unit, &*coverage];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Formats the bound with its unit.
    fn required(&self) -> String {
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.bound, self.unit)
    }

    /// Adds a unit.
    pub(crate) fn with_unit(self, unit: &'static str) -> Criterion {
        Criterion { unit, ..self }
    }
}

/// A claim of a source.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    source: Source,
    /// The claim, in the words of this project.
    text: String,
}

impl Claim {
    /// Makes a claim of a source.
    pub(crate) fn new(source: Source, text: impl Into<String>) -> Claim {
        Claim { source, text: text.into() }
    }

    /// Judges the claim by figures, each of which must be as claimed.
    ///
    /// If a figure is missing, the claim cannot hold. If all are missing, nothing was measured.
    /// `what` describes the figures: `a / b` for the time of a divided by the time of b.
    pub(crate) fn judged(self, what: &str, criteria: impl IntoIterator<Item = Criterion>) -> Verdict {
        let criteria: Vec<Criterion> = criteria.into_iter().collect();
        let figures = criteria.iter().map(Criterion::text).collect::<Vec<_>>().join("; ");
        let has_label = criteria.iter().any(|criterion| !criterion.label.is_empty());
        let before = match (what, has_label) {
            ("", _) => String::new(),
            (what, true) => format!("{what}, "),
            (what, false) => format!("{what}: "),
        };
        self.combined(&criteria, before + &figures)
    }

    /// Judges the claim by many figures. Each must be as claimed.
    ///
    /// Figures that are not as claimed are named, the others are counted.
    pub(crate) fn judged_each(self, criteria: impl IntoIterator<Item = Criterion>) -> Verdict {
        let criteria: Vec<Criterion> = criteria.into_iter().collect();
        let count = |wanted: Option<Holds>| criteria.iter().filter(|criterion| criterion.judge() == wanted).count();
        let have_one_bound = criteria.iter().all(|criterion| criterion.bound == criteria[0].bound);
        let name = |criterion: &Criterion| {
            let bound = if have_one_bound { String::new() } else { format!(", not {}", criterion.required()) };
            criterion.text() + &bound
        };
        let failed = criteria.iter().filter(|criterion| criterion.judge() == Some(Holds::No));
        let failed: Vec<String> = failed.map(name).collect();
        let named = match failed.len() {
            0 => String::new(),
            1..=NAMED => format!(": {}", failed.join("; ")),
            more => format!(": {} and {} more", failed[..NAMED].join("; "), more - NAMED),
        };
        let missing = match count(None) {
            0 => String::new(),
            missing => format!(", {missing} missing"),
        };
        let measured = format!(
            "{}: {} as claimed, {} unclear{missing}, {} not as claimed{named}",
            if criteria.len() == 1 { "1 figure".to_owned() } else { format!("{} figures", criteria.len()) },
            count(Some(Holds::Yes)),
            count(Some(Holds::Unclear)),
            failed.len()
        );
        self.combined(&criteria, measured)
    }

    /// Combines criteria: the claim holds if all hold, and fails if any fails.
    fn combined(self, criteria: &[Criterion], measured: String) -> Verdict {
        let judged: Vec<Option<Holds>> = criteria.iter().map(Criterion::judge).collect();
        let holds = if judged.iter().all(Option::is_none) {
            return self.not_measured();
        } else if judged.contains(&Some(Holds::No)) {
            Holds::No
        } else if judged.iter().all(|holds| *holds == Some(Holds::Yes)) {
            Holds::Yes
        } else {
            Holds::Unclear
        };
        let mut required: Vec<String> = Vec::new();
        for bound in criteria.iter().map(Criterion::required) {
            if !required.contains(&bound) {
                required.push(bound);
            }
        }
        let required = if required.len() > NAMED { "a bound for each figure".to_owned() } else { required.join("; ") };
        Verdict { required, ..self.verdict(measured, holds) }
    }

    /// Makes a verdict that was reached in another way.
    pub(crate) fn verdict(self, measured: impl Into<String>, holds: Holds) -> Verdict {
        let Claim { source, text: claim } = self;
        Verdict { source, claim, measured: measured.into(), required: String::new(), holds }
    }

    /// Makes the verdict of a claim without measurements.
    pub(crate) fn not_measured(self) -> Verdict {
        self.verdict(NOT_MEASURED, Holds::NotMeasured)
    }

    /// Makes the verdict of a claim that this run could not measure, with the reason.
    pub(crate) fn not_measured_because(self, why: &str) -> Verdict {
        self.verdict(format!("{NOT_MEASURED}: {why}"), Holds::NotMeasured)
    }
}

impl Verdict {
    /// Adds the reason, if there is one, why nothing was measured.
    pub(crate) fn or_because(self, why: Option<&str>) -> Verdict {
        match why {
            Some(why) if self.holds == Holds::NotMeasured => {
                Verdict { measured: format!("{NOT_MEASURED}: {why}"), ..self }
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(samples: &[f64]) -> Option<Rounds> {
        Rounds::new(samples.to_vec())
    }

    fn claim() -> Claim {
        Claim::new(Source::filch("fork-join"), "it is fast")
    }

    #[test]
    fn a_claim_holds_only_if_the_whole_interval_is_within_the_bound() {
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
    fn a_single_round_needs_a_margin() {
        let judge = |samples: &[f64]| Bound::AtLeast(3.0).judge(&figure(samples).unwrap());
        assert_eq!(judge(&[3.1]), Holds::Unclear);
        assert_eq!(judge(&[4.1]), Holds::Yes);
        assert_eq!(judge(&[2.0]), Holds::No);
    }

    #[test]
    fn a_claim_fails_if_one_criterion_fails() {
        let criterion = |samples: &[f64]| Criterion::new("", figure(samples), Bound::AtLeast(2.0));
        let (yes, unclear, no) = ([3.0; 5], [1.0, 2.0, 3.0, 2.0, 2.0], [1.0; 5]);
        let holds = |criteria: &[&[f64]]| claim().judged("", criteria.iter().map(|samples| criterion(samples))).holds;
        assert_eq!(holds(&[&yes, &yes]), Holds::Yes);
        assert_eq!(holds(&[&yes, &unclear]), Holds::Unclear);
        assert_eq!(holds(&[&unclear, &no, &yes]), Holds::No);
        // A missing figure might have any value.
        assert_eq!(holds(&[&yes, &[]]), Holds::Unclear);
        assert_eq!(holds(&[&no, &[]]), Holds::No);
        assert_eq!(holds(&[&[]]), Holds::NotMeasured);
    }

    #[test]
    fn an_incomplete_mean_is_unclear() {
        let verdict =
            |ratios: &[Option<Rounds>]| claim().judged("a / b", vec![Criterion::mean("", ratios, Bound::AtLeast(2.0))]);
        assert_eq!(verdict(&[figure(&[3.0; 5]), figure(&[3.0; 5])]).holds, Holds::Yes);
        let some = verdict(&[figure(&[3.0; 5]), None]);
        assert_eq!(some.holds, Holds::Unclear);
        assert_eq!(some.measured, "a / b: 3.00 (3.00 to 3.00, 5 rounds) over 1 of 2");
        assert_eq!(verdict(&[None]).holds, Holds::NotMeasured);
        let ended = Criterion::mean("", &[figure(&[3.0; 5])], Bound::AtLeast(2.0)).incomplete_if(true);
        let ended = claim().judged("a / b", vec![ended]);
        assert!(ended.holds == Holds::Unclear && ended.measured.ends_with("over the 1 measured"));
    }

    #[test]
    fn few_differences_and_rounds_that_are_not_finite_are_unclear() {
        let judge = |bound: Bound, samples: &[f64]| bound.judge(&figure(samples).unwrap());
        assert_eq!(judge(Bound::AtMost(0.0), &[-5.0]), Holds::Unclear);
        assert_eq!(judge(Bound::AtMost(0.0), &[-5.0; 5]), Holds::Yes);
        assert_eq!(judge(Bound::AtMost(2.0), &[1.0, 1.0, 1.0, 1.0, 1.0, f64::INFINITY]), Holds::Unclear);
    }

    #[test]
    fn a_measured_figure_is_shown_with_its_interval() {
        let criteria = vec![
            Criterion::new("1 thread:", figure(&[2.0, 3.0, 4.0, 3.0, 3.0]), Bound::AtLeast(2.0)),
            Criterion::new("2 threads:", figure(&[5.0]), Bound::AtLeast(2.0)).with_unit("ns"),
        ];
        let measured = |what| claim().judged(what, criteria.clone()).measured;
        assert_eq!(measured(""), "1 thread: 3.00 (2.00 to 4.00, 5 rounds); 2 threads: 5.00 (1 round) ns");
        assert!(measured("a / b").starts_with("a / b, 1 thread: 3.00"));
        let alone = claim().judged("a / b", vec![Criterion::new("", figure(&[5.0]), Bound::AtLeast(2.0))]);
        assert_eq!(alone.measured, "a / b: 5.00 (1 round)");
    }

    #[test]
    fn of_many_only_those_that_fail_are_named() {
        let of = |name: &str, value: f64| (name.to_owned(), figure(&[value; 5]));
        let each = |all: &[(String, Option<Rounds>)], bound| {
            claim().judged_each(all.iter().map(|(name, figure)| Criterion::new(name, figure.clone(), bound)))
        };
        let verdict = each(&[of("fib", 1.0), of("lu", 1.5)], Bound::AtMost(1.02));
        assert_eq!(
            verdict.measured,
            "2 figures: 1 as claimed, 0 unclear, 1 not as claimed: lu 1.50 (1.50 to 1.50, 5 rounds)"
        );
        assert_eq!(verdict.holds, Holds::No);
        let many: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| of(name, 2.0)).to_vec();
        let many = each(&many, Bound::AtMost(1.0));
        assert!(many.measured.ends_with("c 2.00 (2.00 to 2.00, 5 rounds) and 2 more"), "{}", many.measured);
        assert_eq!(each(&[], Bound::AtMost(1.0)).holds, Holds::NotMeasured);
        let gap = each(&[of("fib", 1.0), ("lu".to_owned(), None)], Bound::AtMost(1.02));
        assert_eq!(
            (gap.holds, &*gap.measured),
            (Holds::Unclear, "2 figures: 1 as claimed, 0 unclear, 1 missing, 0 not as claimed")
        );
    }

    #[test]
    fn a_reason_is_only_for_claims_without_measurements() {
        let judged = |samples| claim().judged("", [Criterion::new("", figure(samples), Bound::AtMost(1.0))]);
        let with = |samples, why| judged(samples).or_because(why).measured;
        assert_eq!(with(&[], Some("no clock")), "not measured in this run: no clock");
        assert_eq!(with(&[], None), NOT_MEASURED);
        assert_eq!(with(&[1.0], Some("no clock")), "1.00 (1 round)");
    }

    #[test]
    fn about_means_three_quarters_of_the_claimed_gain() {
        assert_eq!(Bound::faster_by_about(0.2), Bound::AtLeast(1.15));
        assert_eq!(Bound::saves_about(0.2), Bound::AtMost(0.85));
    }

    #[test]
    fn a_missing_figure_might_be_the_extreme() {
        let of = |name: &str, samples: Option<&[f64]>| (name.to_owned(), samples.and_then(figure));
        let (a, b, none) = (of("a:", Some(&[0.9; 6])), of("b:", Some(&[0.7; 6])), of("c:", None));
        let judged = |criterion: Criterion| {
            let verdict = claim().judged("", [criterion]);
            (verdict.holds, verdict.measured)
        };
        let least = |all: Vec<(String, Option<Rounds>)>| judged(Criterion::least(all, Bound::AtMost(0.8)));
        let (holds, text) = least(vec![a.clone(), b.clone()]);
        assert!(holds == Holds::Yes && text.starts_with("b: "), "{text}");
        let (holds, text) = least(vec![a.clone(), none.clone()]);
        assert!(holds == Holds::Unclear && text.ends_with("over 1 of 2"), "{text}");
        assert_eq!(least(vec![none]).0, Holds::NotMeasured);
        let (holds, text) = judged(Criterion::largest([b, a], Bound::AtMost(0.8)));
        assert!(holds == Holds::No && text.starts_with("a: "), "{text}");

        let criterion = |samples: Option<&[f64]>| Criterion::new("", samples.and_then(figure), Bound::AtMost(1.0));
        let largest = |others: [Option<&[f64]>; 2]| {
            let others = Criterion::with_largest(others.map(criterion));
            claim().judged("", [criterion(Some(&[0.5; 6]))].into_iter().chain(others)).holds
        };
        assert_eq!(largest([Some(&[0.9; 6]), Some(&[0.7; 6])]), Holds::Yes);
        assert_eq!(largest([Some(&[0.9; 6]), Some(&[1.2; 6])]), Holds::No);
        assert_eq!(largest([Some(&[0.9; 6]), None]), Holds::Unclear);
    }

    #[test]
    fn a_few_bounds_are_listed_and_a_failure_among_several_names_its_own() {
        let bounds = [Bound::AtLeast(2.0), Bound::AtMost(1.1125), Bound::Between(0.9, 1.1), Bound::AtMost(0.5)];
        let criteria = |count: usize| {
            bounds.iter().take(count).map(|&bound| Criterion::new("a", figure(&[3.0; 5]), bound).with_unit("ns"))
        };
        let verdict = claim().judged("", criteria(3));
        assert_eq!(verdict.required, "at least 2 ns; at most 1.113 ns; 0.9 to 1.1 ns");
        assert_eq!(claim().judged("", criteria(4)).required, "a bound for each figure");
        let measured = claim().judged_each(criteria(2)).measured;
        assert!(measured.ends_with(": a 3.00 (3.00 to 3.00, 5 rounds) ns, not at most 1.113 ns"), "{measured}");
    }
}
