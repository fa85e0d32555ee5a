//! `--calibrate`: what was found, as a file that the queues can make their delta from.

use std::fs;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use filch_queue::bound::Bound;
use filch_queue::calibration::{Calibration, Cpu, Evidence};

use super::counts::Counts;
use super::verdict::judge;
use super::Verdict;
use crate::lab::published;
use crate::{date, figures, print};

/// So many runs of the litmus test there are at least: fewer would be a formality.
const ENOUGH_RUNS: u64 = 100_000;

/// What a sweep comes to, in the file of `--calibrate`.
///
/// What the file said of this CPU before is not forgotten: a bound in it is raised, never lowered. And if the sweep shows that there is no telling, it does not stay where a program would read it.
pub(super) fn store(path: &Path, cpu: &Cpu, supposed: usize, entries: Option<usize>, counts: &Counts) -> Result<()> {
    let earlier = earlier(path, cpu);
    match calibration(cpu, supposed, entries, counts, earlier.as_ref()) {
        Ok(calibration) => {
            figures::write_file(path, |writer| Ok(write!(writer, "{calibration}")?))?;
            print(&words(path, &calibration))
        }
        Err(reason) if earlier.is_some() && is_refuted(entries, counts) => {
            let mut aside = path.as_os_str().to_owned();
            aside.push(".refuted");
            fs::rename(path, &aside)
                .with_context(|| format!("{} is refuted, and could not be moved", path.display()))?;
            Err(reason.context(format!("{} is refuted, and was moved to {}", path.display(), aside.display())))
        }
        Err(reason) => Err(reason),
    }
}

/// The calibration of this CPU that is in the file, if there is one.
fn earlier(path: &Path, cpu: &Cpu) -> Option<Calibration> {
    let calibration = Calibration::parse_anywhere(&fs::read_to_string(path).ok()?).ok()?;
    (calibration.cpu() == cpu).then_some(calibration)
}

/// Whether more was caught than the store buffer explains.
fn is_refuted(entries: Option<usize>, counts: &Counts) -> bool {
    entries.is_some_and(|entries| judge(entries + 1, counts.largest_violation()) != Verdict::Stands)
}

/// The calibration that a sweep comes to, and what was known before.
///
/// The store buffer says what the bound is at least, and the sweep says nothing that would lower it. Nor can it raise it: what was caught beyond the store buffer is only what was caught, and how much
/// more there can be nobody knows.
fn calibration(
    cpu: &Cpu,
    supposed: usize,
    entries: Option<usize>,
    counts: &Counts,
    earlier: Option<&Calibration>,
) -> Result<Calibration> {
    let Some(entries) = entries else { bail!("the store buffer was not measured, so there is no calibration") };
    let (runs, violation) = (counts.total().runs, counts.largest_violation());
    match judge(entries + 1, violation) {
        Verdict::Stands => {}
        Verdict::Raised(seen) => bail!(
            "a load overtook {seen} stores, and a store buffer of {entries} entries explains {} at most: what was caught is the least that can happen, nothing says what the most is, so there is no calibration",
            entries + 1
        ),
        Verdict::Refuted => bail!("there is no bound on this CPU, so there is no calibration"),
    }
    ensure!(
        runs >= ENOUGH_RUNS,
        "there were {runs} runs of the litmus test, and a calibration wants {ENOUGH_RUNS}: a higher --runs or --seconds makes more"
    );
    ensure!(
        violation.is_some(),
        "no run was wrong, not even where it may be: nothing was put to the test, so there is no calibration; try more runs, or a machine that is less busy"
    );
    let (mut bound, mut evidence) = (
        supposed.max(published::most_entries(cpu, entries) + 1),
        Evidence {
            entries,
            runs,
            largest_violation: violation,
            hypervisor: Cpu::is_under_hypervisor(),
            date: date::today(),
        },
    );
    if let Some(earlier) = earlier {
        bound = bound.max(earlier.bound().get());
        evidence.entries = evidence.entries.max(earlier.evidence().entries);
        evidence.largest_violation = evidence.largest_violation.max(earlier.evidence().largest_violation);
    }
    Ok(Calibration::new(cpu.clone(), Bound::new(bound)?, evidence)?)
}

/// What was written, and what to know about it.
fn words(path: &Path, calibration: &Calibration) -> String {
    let (bound, entries) = (calibration.bound().get(), calibration.evidence().entries);
    let mut text = format!("Stored in {}: S = {bound} for CPUs of this model.\n", path.display());
    if bound > entries + 1 {
        text.push_str(&format!(
            "That is more than the {entries} entries that were measured, and one: it was asked for, or was in the file before, or such a CPU is known for it; and of one that is not known half a buffer may have been measured, the \
             other half of which another hardware thread had.\n"
        ));
    }
    if calibration.evidence().hypervisor {
        text.push_str(
            "This is a virtual machine: the hypervisor decides what the CPU calls itself, and a host with another CPU may give the same name. \
             Measure again where this machine may have been moved.\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    fn cpu() -> Cpu {
        Cpu { vendor: "GenuineIntel".into(), family: 6, model: 106, stepping: 6, brand: "A CPU".into() }
    }

    /// Runs that are enough, of which so many were wrong with one store in between and this delta.
    fn found(delta: usize, incorrect: u64) -> Counts {
        counts(&[(key(1, delta), ENOUGH_RUNS, incorrect)])
    }

    fn bound(calibration: Result<Calibration>) -> usize {
        calibration.unwrap().bound().get()
    }

    #[test]
    fn what_stands_is_written() {
        let stands = calibration(&cpu(), 73, Some(72), &found(36, 1), None).unwrap();
        assert_eq!((stands.bound().get(), stands.evidence().largest_violation), (73, Some(72)));
        let generous = calibration(&cpu(), 128, Some(72), &found(36, 1), None).unwrap();
        assert_eq!((generous.bound().get(), generous.evidence().entries), (128, 72));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.txt");
        store(&path, &cpu(), 73, Some(72), &found(36, 1)).unwrap();
        assert_eq!(earlier(&path, &cpu()), Some(stands.clone()));
        assert_eq!(earlier(&path, &Cpu { model: 85, ..cpu() }), None);
        assert_eq!(words(&path, &stands).contains("a virtual machine"), Cpu::is_under_hypervisor());
        assert!(words(&path, &generous).contains("more than the 72 entries") && !words(&path, &stands).contains("72"));
    }

    #[test]
    fn what_proves_nothing_is_not_written() {
        let refusal = |counts| calibration(&cpu(), 128, Some(72), &counts, None).unwrap_err().to_string();
        assert!(refusal(counts(&[])).contains("0 runs"));
        assert!(refusal(counts(&[(key(1, 36), ENOUGH_RUNS - 1, 1)])).contains("wants 100000"));
        assert!(refusal(found(36, 0)).contains("nothing was put to the test"));
        assert!(refusal(found(300, 1)).contains("no bound"));
        let unmeasured = calibration(&cpu(), 73, None, &found(36, 1), None).unwrap_err();
        assert!(unmeasured.to_string().contains("not measured"));
        // However much was supposed: the store buffer does not explain it, and what was caught is no more than what was caught.
        assert!(refusal(found(40, 1)).contains("overtook 81 stores"));
    }

    #[test]
    fn a_bound_below_the_store_buffer_is_never_written() {
        for supposed in [2, 40, 72] {
            assert_eq!(bound(calibration(&cpu(), supposed, Some(72), &found(30, 1), None)), 73);
        }
        // Half of a buffer, because another hardware thread had the other.
        assert_eq!(bound(calibration(&cpu(), 37, Some(36), &found(18, 1), None)), 73);
        let unknown = Cpu { model: 1, ..cpu() };
        assert_eq!(bound(calibration(&unknown, 73, Some(72), &found(36, 1), None)), 145);
    }

    #[test]
    fn what_the_file_said_is_raised_and_never_lowered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.txt");
        let unknown = Cpu { model: 1, ..cpu() };
        for (entries, delta) in [(72, 36), (36, 18)] {
            store(&path, &unknown, entries + 1, Some(entries), &found(delta, 1)).unwrap();
            let kept = earlier(&path, &unknown).unwrap();
            assert_eq!((kept.bound().get(), kept.evidence().entries), (145, 72));
            assert_eq!(kept.evidence().largest_violation, Some(72));
        }
        // Of another CPU it says nothing.
        store(&path, &cpu(), 73, Some(72), &found(36, 1)).unwrap();
        assert_eq!(earlier(&path, &cpu()).unwrap().bound().get(), 73);
    }

    #[test]
    fn a_file_that_is_refuted_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.txt");
        let refused = |counts: &Counts| format!("{:#}", store(&path, &cpu(), 73, Some(72), counts).unwrap_err());
        store(&path, &cpu(), 73, Some(72), &found(36, 1)).unwrap();
        // What only proves nothing says nothing against it.
        assert!(refused(&counts(&[])).contains("0 runs") && path.exists());
        let reason = refused(&found(40, 1));
        assert!(reason.contains("was moved to") && reason.contains("overtook 81 stores"), "{reason}");
        assert!(!path.exists() && folder.path().join("calibration.txt.refuted").exists());
        assert!(!refused(&found(40, 1)).contains("moved"));
    }
}
