//! The top of the page: the machine, the versions, and the caveats.

use crate::bench::THREADS;
use crate::figures::threads;
use crate::report::collect::Results;

/// The share of processor time used by others above which figures are less reliable.
const BUSY: f64 = 0.05;

/// The peers, with the versions that this program was built with.
const PEERS: [(&str, &str); 5] = [
    ("rayon", env!("FILCH_VERSION_RAYON")),
    ("chili", env!("FILCH_VERSION_CHILI")),
    ("crossbeam-deque", env!("FILCH_VERSION_CROSSBEAM_DEQUE")),
    ("st3", env!("FILCH_VERSION_ST3")),
    ("ddo", env!("FILCH_VERSION_DDO")),
];

/// The explanation of the brackets after figures.
const BRACKETS: &str = "behind a median, where the true one lies with a confidence of 95 % or more, from six rounds on; the range of fewer. Figures of fewer than five \
                        rounds are judged as if a third off";

pub(super) fn facts(results: &Results) -> Vec<(String, String)> {
    let machine = &results.machine;
    let peers: Vec<String> = PEERS.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{:.1} % of the processors' time", 100.0 * share),
        None => "not told by this system".to_owned(),
    };
    let run = if results.full { "full: every suite in all its rounds" } else { "quick: small sizes and few rounds" };
    [
        ("Processor", machine.cpu.clone()),
        ("Cores", machine.cores.to_string()),
        ("System", machine.kernel.clone()),
        ("Compiler", machine.rustc.to_owned()),
        ("filch", format!("{}, commit {}", env!("CARGO_PKG_VERSION"), machine.commit)),
        ("Beside", peers.join(", ")),
        ("Measured", results.date.clone()),
        ("Run", run.to_owned()),
        ("Taken by other machines meanwhile", share(results.stolen)),
        ("Taken by other processes meanwhile", share(results.others)),
        ("Brackets", BRACKETS.to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

pub(super) fn notices(results: &Results) -> Vec<String> {
    let mut notices = Vec::new();
    if results.interrupted {
        notices
            .push("This run was ended before all was measured: what is here is what was done until then.".to_owned());
    }
    if !results.full {
        notices.push(
            "This is a quick run: figures are from few rounds and small sizes, and single ones scatter. `cargo run --release -- report --full` measures everything."
                .to_owned(),
        );
    }
    let taken = results.stolen.unwrap_or(0.0) + results.others.unwrap_or(0.0);
    if let Some(share) = Some(taken).filter(|share| *share > BUSY) {
        notices.push(format!(
            "Others had {:.0} % of the processors' time meanwhile. Ratios are made round by round and suffer less than times do.",
            100.0 * share
        ));
    }
    let cores = results.machine.cores;
    if cores < THREADS {
        notices.push(format!("There is {cores} core for {}: nothing here runs in parallel.", threads(THREADS)));
    } else if cores == THREADS {
        notices.push(format!(
            "There are {cores} cores, and everything has at most {}: what the papers measured with 4 to 128 cannot be seen here.",
            threads(THREADS)
        ));
    }
    notices.extend(results.left_out.iter().cloned());
    notices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::nothing;

    #[test]
    fn a_reader_is_told_what_to_doubt() {
        let mut results = nothing();
        results.full = true;
        results.machine.cores = 8;
        assert!(notices(&results).is_empty());
        results.full = false;
        results.interrupted = true;
        results.stolen = Some(0.13);
        results.machine.cores = 2;
        results.left_out = vec!["MPI is left out: there is none.".to_owned()];
        let all = notices(&results);
        for part in ["ended before", "quick run", "13 %", "2 cores", "MPI"] {
            assert!(all.iter().any(|notice| notice.contains(part)), "{part} is not in {all:?}");
        }
        results.stolen = Some(0.04);
        results.others = Some(0.3);
        assert!(notices(&results).iter().any(|notice| notice.contains("Others had 34 %")));
        results.others = Some(0.005);
        assert!(!notices(&results).iter().any(|notice| notice.contains("Others")));
    }

    #[test]
    fn every_fact_says_something() {
        for (name, value) in facts(&nothing()) {
            assert!(!name.is_empty() && !value.is_empty(), "{name}: {value}");
            assert!(!value.contains("unknown"), "{name}: {value}");
        }
    }
}
