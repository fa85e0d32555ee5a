//! `--calibrate`: what was found, as a file that the queues can make their delta from.

use std::path::Path;

use anyhow::{bail, Result};
use filch_queue::bound::Bound;
use filch_queue::calibration::{Calibration, Cpu, Evidence};

use super::counts::Counts;
use super::verdict::judge;
use super::Verdict;
use crate::{date, figures};

/// The calibration that a sweep comes to.
///
/// The store buffer says what the bound is at least, and the sweep says nothing that would lower it. Nor can it raise it: what was caught beyond the store buffer is only what was caught, and how much
/// more there can be nobody knows.
pub(super) fn calibration(cpu: &Cpu, supposed: usize, entries: Option<usize>, counts: &Counts) -> Result<Calibration> {
    let Some(entries) = entries else { bail!("the store buffer was not measured, so there is no calibration") };
    let runs = counts.total().runs;
    if runs == 0 {
        bail!("there was no run, so there is no calibration");
    }
    let largest_violation = counts.largest_violation();
    match judge(entries + 1, largest_violation) {
        Verdict::Stands => {}
        Verdict::Raised(seen) => bail!(
            "a load overtook {seen} stores, and a store buffer of {entries} entries explains {} at most: what was caught is the least that can happen, nothing says what the most is, so there is no calibration",
            entries + 1
        ),
        Verdict::Refuted => bail!("there is no bound on this CPU, so there is no calibration"),
    }
    let bound = Bound::new(supposed.max(entries + 1))?;
    let hypervisor = Cpu::is_under_hypervisor();
    let evidence = Evidence { entries, runs, largest_violation, hypervisor, date: date::today() };
    Ok(Calibration::new(cpu.clone(), bound, evidence)?)
}

/// What was written, and what to know about it.
pub(super) fn words(path: &Path, calibration: &Calibration) -> String {
    let mut text = format!("Stored in {}: S = {} for CPUs of this model.\n", path.display(), calibration.bound().get());
    if calibration.evidence().hypervisor {
        text.push_str(
            "This is a virtual machine: the hypervisor decides what the CPU calls itself, and a host with another CPU may give the same name. \
             Measure again where this machine may have been moved.\n",
        );
    }
    text
}

/// Writes it, whole or not at all.
pub(super) fn write(path: &Path, calibration: &Calibration) -> Result<()> {
    figures::write_file(path, |writer| Ok(write!(writer, "{calibration}")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    fn cpu() -> Cpu {
        Cpu { vendor: "GenuineIntel".into(), family: 6, model: 106, stepping: 6, brand: "A CPU".into() }
    }

    #[test]
    fn what_stands_is_written() {
        let stands = calibration(&cpu(), 73, Some(72), &counts(&[(key(1, 36), 10, 1)])).unwrap();
        assert_eq!((stands.bound().get(), stands.evidence().largest_violation), (73, Some(72)));
        let generous = calibration(&cpu(), 128, Some(72), &counts(&[(key(1, 36), 10, 0)])).unwrap();
        assert_eq!((generous.bound().get(), generous.evidence().entries), (128, 72));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.txt");
        write(&path, &stands).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Calibration::parse_anywhere(&text).unwrap(), stands);
        assert_eq!(words(&path, &stands).contains("a virtual machine"), Cpu::is_under_hypervisor());
    }

    #[test]
    fn what_proves_nothing_is_not_written() {
        let refusal = |counts| calibration(&cpu(), 128, Some(72), &counts).unwrap_err().to_string();
        assert!(refusal(counts(&[])).contains("no run"));
        assert!(refusal(counts(&[(key(1, 300), 10, 1)])).contains("no bound"));
        let unmeasured = calibration(&cpu(), 73, None, &counts(&[(key(1, 36), 10, 0)])).unwrap_err();
        assert!(unmeasured.to_string().contains("not measured"));
        // However much was supposed: the store buffer does not explain it, and what was caught is no more than what was caught.
        assert!(refusal(counts(&[(key(1, 40), 10, 1)])).contains("overtook 81 stores"));
    }

    #[test]
    fn a_bound_below_the_store_buffer_is_never_written() {
        for supposed in [2, 40, 72] {
            let calibration = calibration(&cpu(), supposed, Some(72), &counts(&[(key(1, 30), 10, 0)])).unwrap();
            assert_eq!(calibration.bound().get(), 73);
        }
    }
}
