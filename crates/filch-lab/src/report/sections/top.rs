//! The top of the page: the machine, the versions, and the caveats.

use crate::bench::THREADS;
use crate::claims::BRACKETS;
use crate::figures::threads;
use crate::report::collect::Results;

/// The share of processor time used by others above which figures are less reliable.
const BUSY: f64 = 0.05;

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
    let cores = results.machine.cores;
    if cores < THREADS {
        notices.push(format!("This machine has {cores} core for {}: nothing runs in parallel.", threads(THREADS)));
    } else if cores == THREADS {
        notices.push(format!(
            "This machine has {cores} cores, and measurements have at most {}, except the `wide` cases. The papers measured with 4 to 128.",
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
    fn notices_state_the_limits_of_the_run() {
        let mut results = nothing();
        results.full = true;
        results.machine.cores = 8;
        assert!(notices(&results).is_empty());
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
    fn every_fact_has_a_name_and_a_value() {
        for (name, value) in facts(&nothing()) {
            assert!(!name.is_empty() && !value.is_empty(), "{name}: {value}");
            assert!(!value.contains("unknown"), "{name}: {value}");
        }
    }
}
