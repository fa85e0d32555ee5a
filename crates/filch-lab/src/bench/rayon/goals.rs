//! Performance goals for filch's core, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use std::fmt;

use super::cases::{
    ALLOCATIONS_A_TASK, CPU_MICROS_A_CALL, CPU_MICROS_A_TICK, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK,
    NANOS_A_CALL, P99_MICROS_A_CALL,
};
use super::outside;
use super::variant::Variant;
use crate::figures::{self, Series};
use crate::stats::{self, Interval};

/// The ratio up to which a difference is within the precision of a comparison.
const TOLERANCE: f64 = 1.03;

/// The required figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Requirement {
    /// filch / rayon: its interval must not lie wholly above [`TOLERANCE`].
    NotSlower,
    /// rayon / filch: at least this.
    TimesFaster(f64),
    /// filch / rayon: at most this.
    AtMost(f64),
    /// filch alone, in its unit: less than this.
    LessThan(f64),
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::NotSlower => write!(f, "interval not above {TOLERANCE:.2}"),
            Requirement::TimesFaster(least) => write!(f, ">= {}", digits(*least)),
            Requirement::AtMost(most) => write!(f, "<= {}", digits(*most)),
            Requirement::LessThan(bound) => write!(f, "< {}", digits(*bound)),
        }
    }
}

impl Requirement {
    /// The names of what is compared.
    fn text(self, filch: &str, stock: &str) -> String {
        match self {
            Requirement::NotSlower | Requirement::AtMost(_) => format!("{filch} / {stock}"),
            Requirement::TimesFaster(_) => format!("{stock} / {filch}"),
            Requirement::LessThan(_) => filch.to_owned(),
        }
    }

    /// The figure and all its rounds.
    fn figure(self, filch: &Series, stock: &Series) -> (f64, Vec<f64>) {
        let ratio = |a: &Series, b: &Series| (a.median() / b.median(), stats::paired_ratios(&a.samples, &b.samples));
        match self {
            Requirement::NotSlower | Requirement::AtMost(_) => ratio(filch, stock),
            Requirement::TimesFaster(_) => ratio(stock, filch),
            Requirement::LessThan(_) => (filch.median(), filch.samples.clone()),
        }
    }

    fn is_met(self, figure: f64, interval: &Interval) -> bool {
        match self {
            Requirement::NotSlower => interval.low <= TOLERANCE,
            Requirement::TimesFaster(least) => figure >= least,
            Requirement::AtMost(most) => figure <= most,
            Requirement::LessThan(bound) => figure < bound,
        }
    }
}

/// Formats a figure or a bound with as many digits as it needs.
fn digits(figure: f64) -> String {
    if figure.abs() < 0.1 {
        format!("{figure:.3}")
    } else {
        format!("{figure:.2}")
    }
}

/// The largest figures as multiples of rayon's, by variant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    /// The bound if a worker runs the call.
    shipped: f64,
    /// The bound if the caller takes part.
    in_place: f64,
}

impl Bounds {
    /// The bounds of all other cases with one thread.
    const WITH_ONE_THREAD: Bounds = Bounds { shipped: 1.02, in_place: 1.0 };

    /// The bounds, with one thread, of iterators that the part `scopes` has too.
    const OF_ITERATORS: Bounds = Bounds { shipped: 1.0, in_place: 1.0 };

    /// The bounds of a case in a unit, if it has any.
    fn of(case: &str, unit: &str, threads: usize) -> Option<Bounds> {
        let most = Bounds::with_several_threads(case, unit)?;
        Some(match case {
            _ if threads > 1 => most,
            "par-iter-sum-10m" | "map-collect-10m" | "par-sort-10m" => Bounds::OF_ITERATORS,
            _ => Bounds::WITH_ONE_THREAD,
        })
    }

    fn with_several_threads(case: &str, unit: &str) -> Option<Bounds> {
        let (shipped, in_place) = match case.strip_prefix(outside::PREFIX) {
            Some(call) => match (call, unit) {
                ("small-50", unit) if unit == CPU_MICROS_A_CALL.name => (1.0, 0.1),
                ("small-50-after-1ms", unit) if unit == CPU_MICROS_A_CALL.name => (0.8, 0.4),
                ("small-50" | "join-empty", _) => (1.0, 0.03),
                ("small-50-after-1ms" | "join-empty-after-1ms", _) => (1.0, 0.25),
                ("join-20us" | "join-200us" | "join-2ms", unit) if unit == P99_MICROS_A_CALL.name => (1.15, 1.15),
                ("join-20us", _) => (1.05, 1.0),
                ("join-200us", _) => (1.05, 1.05),
                ("join-2ms", _) => (1.02, 1.02),
                ("join-2ms-after-1ms", _) => (1.03, 1.03),
                ("callers-4-small-50" | "callers-4-join-200us" | "pool-with-handlers", _) => (1.0, 1.0),
                ("sum-200k", _) => (1.0, 0.7),
                _ => return None,
            },
            None => match case {
                "life" => (1.02, 0.85),
                "par-iter-sum-10m" | "map-collect-10m" | "par-sort-10m" | "par-chunks-matmul" | "n-body"
                | "life-large" | "sieve" | "tsp" | "str-split" => (1.02, 1.0),
                _ => return None,
            },
        };
        Some(Bounds { shipped, in_place })
    }
}

/// The largest time of a case of the part `scopes`, as a multiple of rayon's.
fn scope_bound(case: &str, threads: usize) -> Option<f64> {
    let (with_one_thread, with_several) = match case {
        "scope-100k" => (0.25, 0.5),
        "scope-fifo-100k" => (0.6, 0.8),
        "scope-par-iter-100k" => (0.4, 1.0),
        "spawn-tree-17" => (0.3, 0.4),
        "scope-of-1" | "scope-of-4" => (0.4, 0.5),
        "scope-of-64" => (0.3, 0.5),
        "spawn-inside-100k" => (0.6, 0.7),
        "spawn-outside-1" | "spawn-outside-4" => (0.8, 0.9),
        "par-bridge" => (1.0, 1.02),
        "max-len-1" => (0.7, 0.7),
        "walk" => (1.0, 1.0),
        _ => return None,
    };
    Some(if threads == 1 { with_one_thread } else { with_several })
}

/// The goals of a variant in a case, in a unit.
fn requirements(variant: Variant, case: &str, unit: &str, threads: usize) -> Vec<Requirement> {
    let most = Bounds::of(case, unit, threads).map(|most| match variant {
        Variant::InPlace => most.in_place,
        Variant::Stock | Variant::Shipped => most.shipped,
    });
    let scopes = scope_bound(case, threads);
    let mut all = match (case, unit) {
        // Stock's figure is close to zero as well, so a ratio would be meaningless. 0.000 seconds
        // means less than half a millisecond.
        (_, CPU_MILLIS_A_SECOND) => vec![Requirement::LessThan(0.5)],
        // The work is the same for both; the goal is for the time beyond it.
        (_, CPU_MICROS_A_TICK) => vec![],
        (_, EXTRA_CPU_MICROS_A_TICK) => vec![Requirement::AtMost(1.0 / 3.0)],
        ("join-tree-16m" | "join-fib", _) => vec![Requirement::NotSlower, Requirement::TimesFaster(3.0)],
        ("small-50-installed", _) => vec![Requirement::NotSlower, Requirement::TimesFaster(2.0)],
        ("outside/small-50", unit) if unit == NANOS_A_CALL.name && variant == Variant::Shipped => {
            vec![Requirement::TimesFaster(2.0)]
        }
        // No allocations, except for queues that grow now and then.
        (_, ALLOCATIONS_A_TASK) => vec![Requirement::LessThan(0.01)],
        _ if scopes.is_some() => vec![],
        // The bound alone is enough.
        _ if most.is_some() && (variant == Variant::InPlace || case.starts_with(outside::PREFIX)) => vec![],
        _ => vec![Requirement::NotSlower],
    };
    all.extend(most.or(scopes).map(Requirement::AtMost));
    all
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "threads", "unit", "figure", "95 % interval", "required", ""].map(str::to_owned);
    let lines: Vec<_> = series.iter().flat_map(|filch| lines(filch, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: `a / b` is the time of a divided by the time of b. A figure is a ratio of medians. The interval is a 95 % confidence\n\
         interval of the median of the ratios round by round; with fewer than 6 rounds it is their whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

/// The goals of a series, if it is filch's and rayon has the same figure.
fn lines(filch: &Series, all: &[Series]) -> Vec<Vec<String>> {
    let Some(variant) = Variant::named(filch.name).filter(|variant| *variant != Variant::Stock) else {
        return Vec::new();
    };
    let is_peer = |other: &&Series| {
        other.name == Variant::Stock.name()
            && (&other.case, other.unit, other.threads) == (&filch.case, filch.unit, filch.threads)
    };
    let Some(stock) = all.iter().find(is_peer) else { return Vec::new() };
    let line = |requirement: Requirement| {
        let (figure, rounds) = requirement.figure(filch, stock);
        let interval = stats::interval(&rounds)?;
        Some(vec![
            format!("{}: {}", filch.case, requirement.text(filch.name, stock.name)),
            filch.threads.to_string(),
            filch.unit.to_owned(),
            digits(figure),
            format!("{} to {}", digits(interval.low), digits(interval.high)),
            requirement.to_string(),
            if requirement.is_met(figure, &interval) { "met" } else { "not met" }.to_owned(),
        ])
    };
    requirements(variant, &filch.case, filch.unit, filch.threads).into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases::Kind;
    use super::super::scopes;
    use super::*;

    fn series(case: &str, variant: Variant, unit: &'static str, threads: usize, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name: variant.name(), threads, unit, samples: samples.to_vec(), note: None }
    }

    /// The lines of filch's series in a case, from the figure on.
    fn verdicts(case: &str, unit: &'static str, filch: &[f64], stock: &[f64]) -> Vec<Vec<String>> {
        let all = [series(case, Variant::Stock, unit, 2, stock), series(case, Variant::Shipped, unit, 2, filch)];
        lines(&all[1], &all).into_iter().map(|line| line[3..].to_vec()).collect()
    }

    #[test]
    fn slower_means_an_interval_wholly_above_the_tolerance() {
        let stock = [100.0; 6];
        let verdict = |filch: &[f64]| verdicts("sieve", "ms/run", filch, &stock)[0].clone();
        let close = verdict(&[102.0, 110.0, 110.0, 110.0, 110.0, 110.0]);
        assert_eq!(close, ["1.10", "1.02 to 1.10", "interval not above 1.03", "met"]);
        assert_eq!(verdict(&[104.0, 105.0, 105.0, 106.0, 107.0, 108.0])[3], "not met");
        assert_eq!(verdict(&[50.0; 6])[3], "met");
    }

    #[test]
    fn joins_must_be_three_times_as_fast_and_small_calls_twice() {
        let fib = verdicts("join-fib", "ns/join", &[10.0], &[29.0]);
        assert_eq!(fib[1], ["2.90", "2.90 to 2.90", ">= 3.00", "not met"]);
        assert_eq!(verdicts("join-tree-16m", "ns/join", &[10.0], &[30.0])[1][3], "met");
        assert_eq!(verdicts("outside/small-50", "ns/call", &[10.0], &[21.0])[0][3], "met");
        assert_eq!(verdicts("small-50-installed", "ns/call", &[10.0], &[19.0])[1][3], "not met");
    }

    #[test]
    fn idle_is_judged_alone_and_ticks_without_their_work() {
        assert_eq!(verdicts("idle", CPU_MILLIS_A_SECOND, &[0.1], &[0.0])[0], ["0.10", "0.10 to 0.10", "< 0.50", "met"]);
        assert!(verdicts("tick", CPU_MICROS_A_TICK, &[60.0], &[100.0]).is_empty());
        assert_eq!(verdicts("tick", EXTRA_CPU_MICROS_A_TICK, &[10.0], &[40.0])[0][3], "met");
        assert_eq!(verdicts("tick", EXTRA_CPU_MICROS_A_TICK, &[20.0], &[40.0])[0][3], "not met");
    }

    #[test]
    fn without_a_peer_there_is_no_goal() {
        let filch = series("sieve", Variant::Shipped, "ms/run", 2, &[1.0]);
        let other_threads = series("sieve", Variant::Stock, "ms/run", 1, &[1.0]);
        assert!(summary(&[filch, other_threads]).is_empty());
        assert!(summary(&[]).is_empty());
    }

    /// The bound of a variant in a case.
    fn bound(variant: Variant, case: &str, unit: &str, threads: usize) -> Option<f64> {
        requirements(variant, case, unit, threads).into_iter().find_map(|requirement| match requirement {
            Requirement::AtMost(most) => Some(most),
            _ => None,
        })
    }

    #[test]
    fn a_call_from_outside_has_a_bound_for_each_variant_and_unit() {
        let bounds = |case, unit| [Variant::Shipped, Variant::InPlace].map(|variant| bound(variant, case, unit, 2));
        assert_eq!(bounds("outside/small-50", "ns/call"), [Some(1.0), Some(0.03)]);
        assert_eq!(bounds("outside/small-50", "cpu-us/call"), [Some(1.0), Some(0.1)]);
        assert_eq!(bounds("outside/small-50-after-1ms", "ns/call"), [Some(1.0), Some(0.25)]);
        assert_eq!(bounds("outside/small-50-after-1ms", "cpu-us/call"), [Some(0.8), Some(0.4)]);
        assert_eq!(bounds("outside/join-20us", "us/call"), [Some(1.05), Some(1.0)]);
        assert_eq!(bounds("outside/join-20us", "p99-us/call"), [Some(1.15), Some(1.15)]);
        assert_eq!(bounds("life", "us/generation"), [Some(1.02), Some(0.85)]);
        assert_eq!(bounds("outside/small-50-after-5ms", "ns/call"), [None, None]);
        assert_eq!(
            requirements(Variant::InPlace, "outside/small-50-after-5ms", "ns/call", 2),
            [Requirement::NotSlower]
        );
    }

    #[test]
    fn with_one_thread_every_bound_is_close_to_one() {
        for case in ["outside/small-50", "outside/join-2ms", "outside/sum-200k", "life", "tsp"] {
            let bounds = [Variant::Shipped, Variant::InPlace].map(|variant| bound(variant, case, "us/call", 1));
            assert_eq!(bounds, [Some(1.02), Some(1.0)], "{case}");
        }
        assert_eq!(bound(Variant::InPlace, "outside/small-50-after-5ms", "ns/call", 1), None);
    }

    #[test]
    fn cases_of_scopes_have_a_bound_for_each_number_of_threads_and_no_other_goal() {
        let both = |case, unit| [1, 2].map(|threads| requirements(Variant::Shipped, case, unit, threads));
        let at_most = |one, two| [vec![Requirement::AtMost(one)], vec![Requirement::AtMost(two)]];
        assert_eq!(both("scope-100k", "ns/task"), at_most(0.25, 0.5));
        assert_eq!(both("scope-of-4", "ns/scope"), at_most(0.4, 0.5));
        assert_eq!(both("spawn-outside-4", "ns/spawn"), at_most(0.8, 0.9));
        for (case, kind, _) in scopes::CASES {
            let Kind::Time(unit) = kind else { continue };
            assert!(both(case, unit.name).iter().all(|goals| matches!(goals[..], [Requirement::AtMost(_)])), "{case}");
        }
        for case in ["par-iter-sum-10m", "map-collect-10m", "par-sort-10m"] {
            assert_eq!([1, 2].map(|threads| bound(Variant::Shipped, case, "ms/run", threads)), [Some(1.0), Some(1.02)]);
        }
    }

    #[test]
    fn allocations_are_judged_alone_and_less_than_a_hundredth_is_none() {
        let verdict = |filch| verdicts("scope-allocations/scope-100k", ALLOCATIONS_A_TASK, &[filch], &[1.0]);
        assert_eq!(verdict(0.0), [["0.000", "0.000 to 0.000", "< 0.010", "met"]]);
        assert_eq!(verdict(0.009)[0][3], "met");
        assert_eq!(verdict(1.0)[0][3], "not met");
    }

    #[test]
    fn each_variant_is_compared_with_rayon_under_its_own_name() {
        let of = |variant, samples: &[f64]| series("outside/join-empty", variant, "ns/call", 2, samples);
        let all = [of(Variant::Stock, &[10_000.0]), of(Variant::Shipped, &[2_000.0]), of(Variant::InPlace, &[200.0])];
        assert!(lines(&all[0], &all).is_empty());
        let goal = |filch: &Series| lines(filch, &all)[0].clone();
        assert_eq!(goal(&all[1])[0], "outside/join-empty: filch / rayon");
        assert_eq!(goal(&all[2])[0], "outside/join-empty: filch-in-place / rayon");
        assert_eq!(goal(&all[2])[3..], ["0.020", "0.020 to 0.020", "<= 0.030", "met"]);
    }
}
