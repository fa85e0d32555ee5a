//! The top of the page: the machine, the versions, and the caveats.

use crate::claims::BRACKETS;
use crate::figures::threads;
use crate::report::collect::Results;

/// The share of processor time used by others above which figures are less reliable.
const BUSY: f64 = 0.05;

/// The most threads of the paper that had the fewest.
const LEAST_OF_PAPERS: usize = 4;

/// The peers.
const PEERS: [&str; 5] = ["rayon", "chili", "crossbeam-deque", "st3", "ddo"];
/// The versions that this program was built with.
const LOCK_FILE: &str = include_str!("../../../../../Cargo.lock");

pub(super) fn facts(results: &Results) -> Vec<(String, String)> {
    let machine = &results.machine;
    let peers: Vec<String> = PEERS.iter().map(|name| format!("{name} {}", version(name))).collect();
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{:.1} %", 100.0 * share),
        None => "not reported by this system".to_owned(),
    };
    let run = if results.full { "full: every suite with all rounds" } else { "quick: small inputs and few rounds" };
    [
        ("Processor", machine.cpu.clone()),
        ("Cores", machine.cores.to_string()),
        ("Pools", pools(results)),
        ("System", machine.kernel.clone()),
        ("Compiler", machine.rustc.to_owned()),
        ("filch", format!("{}, commit {}", env!("CARGO_PKG_VERSION"), machine.commit)),
        ("Compared with", peers.join(", ")),
        ("Date", results.date.clone()),
        ("Run", run.to_owned()),
        ("CPU time of other machines", share(results.other_machines)),
        ("CPU time of other processes", share(results.other_processes)),
        ("Brackets", BRACKETS.to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The sizes of the suites' pools, as text.
fn pools(results: &Results) -> String {
    let most = threads(results.threads.most());
    let counts: Vec<String> = results.threads.counts().iter().map(usize::to_string).collect();
    match counts.split_last() {
        Some((_, others)) if !others.is_empty() => format!("{} and {most}", others.join(", ")),
        _ => most,
    }
}

/// The version of a package in the lock file: the line after its name.
fn version(package: &str) -> &str {
    let name = format!("name = \"{package}\"");
    let line = LOCK_FILE.lines().skip_while(|line| *line != name).nth(1).unwrap_or_default();
    line.trim_start_matches("version = ").trim_matches('"')
}

pub(super) fn notices(results: &Results) -> Vec<String> {
    let mut notices = Vec::new();
    if results.interrupted {
        notices.push("This run was interrupted. The page shows the results until then.".to_owned());
    }
    if !results.full {
        notices.push(
            "This is a quick run with few rounds and small inputs, so single figures vary. `cargo run --release -- report --full` measures everything."
                .to_owned(),
        );
    }
    let taken = results.other_machines.unwrap_or(0.0) + results.other_processes.unwrap_or(0.0);
    if let Some(share) = Some(taken).filter(|share| *share > BUSY) {
        notices.push(format!(
            "Other programs and machines used {:.0} % of the CPU time. Ratios are computed round by round, so they are affected less than times.",
            100.0 * share
        ));
    }
    notices.extend(few_threads(results));
    notices.extend(results.left_out.iter().cloned());
    notices
}

/// The notice of a run with fewer cores than threads, or fewer threads than the papers had.
fn few_threads(results: &Results) -> Option<String> {
    let (cores, most) = (results.machine.cores, results.threads.most());
    let machine = format!("This machine has {cores} core{}", if cores == 1 { "" } else { "s" });
    if cores == 1 && most > 1 {
        return Some(format!("{machine} for {}: nothing runs in parallel.", threads(most)));
    }
    let pools = format!("{machine}, and pools have {}, except in the `wide` cases.", pools(results));
    if most > cores {
        return Some(format!("{pools} Figures with more than {} are of threads that share cores.", threads(cores)));
    }
    (most < LEAST_OF_PAPERS).then(|| format!("{pools} The papers measured with {LEAST_OF_PAPERS} to 128."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Threads;
    use crate::report::sections::tests::nothing;

    #[test]
    fn notices_state_the_limits_of_the_run() {
        let mut results = nothing();
        results.full = true;
        results.machine.cores = 8;
        results.threads = Threads::up_to(8);
        assert!(notices(&results).is_empty());
        results.threads = Threads::default();
        results.full = false;
        results.interrupted = true;
        results.other_machines = Some(0.13);
        results.machine.cores = 2;
        results.left_out = vec!["MPI is left out: there is none.".to_owned()];
        let all = notices(&results);
        for part in ["run was interrupted", "quick run", "13 %", "2 cores", "MPI"] {
            assert!(all.iter().any(|notice| notice.contains(part)), "{part} is not in {all:?}");
        }
        results.other_machines = Some(0.04);
        results.other_processes = Some(0.3);
        assert!(notices(&results).iter().any(|notice| notice.contains("used 34 % of the CPU time")));
        results.other_processes = Some(0.005);
        assert!(!notices(&results).iter().any(|notice| notice.contains("CPU time")));
    }

    #[test]
    fn the_notice_about_threads_says_what_the_run_had() {
        let notice = |cores, counts: &[usize]| {
            let mut results = nothing();
            results.machine.cores = cores;
            results.threads = counts.iter().copied().collect();
            few_threads(&results).unwrap_or_default()
        };
        assert_eq!(
            notice(2, &[2]),
            "This machine has 2 cores, and pools have 1 and 2 threads, except in the `wide` cases. The papers measured with 4 to 128."
        );
        assert!(notice(8, &[2]).contains("8 cores, and pools have 1 and 2 threads"));
        assert!(notice(2, &[2, 4]).ends_with(
            "pools have 1, 2 and 4 threads, except in the `wide` cases. Figures with more than 2 threads are of threads that share cores."
        ));
        assert_eq!(notice(8, &[2, 4, 8]), "");
        assert!(notice(8, &[1]).contains("pools have 1 thread, except"));
        assert_eq!(notice(1, &[2]), "This machine has 1 core for 2 threads: nothing runs in parallel.");
    }

    #[test]
    fn every_fact_has_a_name_and_a_value() {
        for (name, value) in facts(&nothing()) {
            assert!(!name.is_empty() && !value.is_empty(), "{name}: {value}");
            assert!(!value.contains("unknown"), "{name}: {value}");
        }
    }
}
