//! `--calibrate`: writes the bound to a file; see [`calibration`](crate::lab::calibration).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Error, Result};

use super::counts::Counts;
use super::evidence::RUNS_TO_TRUST;
use super::{Sweep, Verdict};
use crate::figures::grouped;
use crate::lab::calibration::{Calibration, Cpu};
use crate::lab::published;
use crate::{date, figures, input_file, print};

/// Writer of a calibration file.
#[derive(Debug)]
pub(super) struct Calibrator<'a> {
    /// The file to write. A symbolic link stays: this is its target, which programs read.
    path: PathBuf,
    cpu: &'a Cpu,
    /// The file's earlier calibration of this CPU. Its bound is raised, never lowered.
    earlier: Option<Calibration>,
}

impl<'a> Calibrator<'a> {
    /// Returns an error if a calibration is impossible before anything is measured.
    ///
    /// A refutation is final: a later sweep that catches less does not change it.
    pub(super) fn new(path: &Path, cpu: &'a Cpu) -> Result<Calibrator<'a>> {
        published::ensure_stores_wait_only_in_buffer(cpu)?;
        let path = link_target(path);
        let record = refutation_path(&path);
        figures::check_writable(&record)?;
        if if_present(input_file::read_text(&record))?.is_some_and(|text| text.contains(&model_of(cpu))) {
            bail!(
                "{} says that a calibration of this CPU was refuted; delete it to calibrate nevertheless",
                record.display()
            );
        }
        let earlier = if_present(Calibration::read(&path))
            .map_err(|error| anyhow!("{error:#}. The file is not replaced: give another file"))?;
        if let Some(earlier) = earlier.as_ref().filter(|earlier| earlier.cpu != *cpu) {
            bail!("{} is for another CPU, {}, and is not replaced; give another file", path.display(), earlier.cpu);
        }
        Ok(Calibrator { path, cpu, earlier })
    }

    /// Returns an error if `measured` entries cannot be the whole store buffer.
    pub(super) fn ensure_whole(&self, measured: usize) -> Result<()> {
        published::ensure_whole(self.cpu, measured)?;
        let before = self.earlier.as_ref().map_or(0, |earlier| earlier.entries);
        ensure!(
            measured >= before,
            "{measured} entries of the store buffer were measured, and {} says that there are {before}: try again when the machine is less busy",
            self.path.display()
        );
        Ok(())
    }

    /// Stores the result of a sweep. If the sweep refutes the bound, no file stays where a program
    /// would read it.
    pub(super) fn store(self, requested: Option<usize>, entries: Option<usize>, counts: &Counts) -> Result<()> {
        let Some(entries) = entries else { bail!("the store buffer was not measured, so no calibration is possible") };
        // The sweep took long: another process may have written to the file meanwhile.
        let now = Calibrator::new(&self.path, self.cpu)?;
        now.ensure_whole(entries)?;
        now.store_result(requested, entries, counts)
    }

    fn store_result(&self, requested: Option<usize>, entries: usize, counts: &Counts) -> Result<()> {
        let (sweep, runs) = (Sweep::new(entries + 1, counts), counts.total().runs);
        match sweep.verdict {
            Verdict::Stands => {}
            Verdict::Raised(seen) if seen <= published::most_entries(self.cpu, entries) + 1 => bail!(
                "a load overtook {seen} stores, and {entries} entries of the store buffer were measured: another hardware thread of the core may have used the other half; try again when the machine is less busy"
            ),
            Verdict::Raised(seen) => {
                return Err(self.refute(runs, &format!(
                    "a load overtook {seen} stores, and a store buffer of {entries} entries explains at most {}: loads may overtake even more, so no calibration is possible",
                    sweep.supposed
                )))
            }
            Verdict::Refuted => {
                return Err(self.refute(runs, "there is no bound on this CPU, so no calibration is possible"))
            }
        }
        let (calibration, why) = self.calibration(requested, entries, &sweep, runs)?;
        calibration.write(&self.path)?;
        print(&description(&self.path, &calibration, why))
    }

    /// Records the reason beside the calibration, and removes an earlier calibration.
    fn refute(&self, runs: u64, reason: &str) -> Error {
        let record = refutation_path(&self.path);
        let recorded = if_present(input_file::read_text(&record)).and_then(|before| {
            figures::write_file(&record, |writer| {
                write!(writer, "{}", before.unwrap_or_default())?;
                writeln!(writer, "{}, {}: {reason}.", date::today(), self.cpu)?;
                Ok(writeln!(
                    writer,
                    "Runs of the litmus test: {}. Delete this file to calibrate nevertheless.",
                    grouped(runs as usize)
                )?)
            })
        });
        let error = match recorded {
            Ok(()) => anyhow!("{reason}; {} records this", record.display()),
            Err(failure) => anyhow!("{reason}; this could not be recorded: {failure:#}"),
        };
        if self.earlier.is_none() {
            return error;
        }
        let path = self.path.display();
        match fs::remove_file(&self.path) {
            Ok(()) => error.context(format!("{path} is refuted and was removed")),
            Err(failure) => {
                error.context(format!("{path} is refuted but could not be removed ({failure}): do not use it"))
            }
        }
    }

    /// Returns the calibration of a sweep that stands.
    ///
    /// The bound has a margin beyond the store buffer: see [`published::MARGIN`]. The second value
    /// says why the bound is higher than that, if it is. The store buffer and the margin are a lower
    /// limit for the bound, and no sweep lowers it. A sweep cannot raise it either: a violation
    /// beyond the store buffer shows only what was caught, not how much more is possible.
    fn calibration(
        &self,
        requested: Option<usize>,
        entries: usize,
        sweep: &Sweep,
        runs: u64,
    ) -> Result<(Calibration, Option<&'static str>)> {
        ensure!(
            sweep.can_see(),
            "{}, so a violation may have been missed, and no calibration is possible; try more runs, or a less busy machine",
            match sweep.largest_violation {
                Some(violation) => format!("no load overtook more than {} of the {} stores that the bound allows", violation + 1, sweep.supposed),
                None => "no load overtook any store".to_owned(),
            }
        );
        ensure!(
            sweep.is_to_be_trusted(),
            "only {} runs of the litmus test could have refuted S = {}, and a calibration needs {}: give a larger --runs or --seconds",
            grouped(sweep.close_runs() as usize),
            sweep.supposed,
            grouped(RUNS_TO_TRUST as usize)
        );
        let mut calibration = Calibration {
            cpu: self.cpu.clone(),
            bound: published::safe_bound(entries),
            entries,
            runs,
            largest_violation: sweep.largest_violation,
            hypervisor: Cpu::is_under_hypervisor(),
            date: date::today(),
        };
        let mut wanted = vec![
            (requested.unwrap_or(0), "--bound asks for it"),
            (
                published::safe_bound(published::most_entries(self.cpu, entries)),
                "on an unknown CPU half of the buffer may have been measured, while another hardware thread used the other half",
            ),
        ];
        if let Some(earlier) = &self.earlier {
            wanted.push((earlier.bound, "the file had it before"));
            calibration.largest_violation = calibration.largest_violation.max(earlier.largest_violation);
            calibration.hypervisor |= earlier.hypervisor;
        }
        let mut why = None;
        for (wanted, reason) in wanted {
            if wanted > calibration.bound {
                (calibration.bound, why) = (wanted, Some(reason));
            }
        }
        Ok((calibration, why))
    }
}

/// Returns the target of a symbolic link, or the path itself. The target need not exist.
fn link_target(path: &Path) -> PathBuf {
    let linked = || fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to));
    fs::canonicalize(path).or_else(|_| linked()).unwrap_or_else(|_| path.to_owned())
}

/// What two CPUs of the same model have in common. The name that firmware or a hypervisor gives
/// them is excluded.
fn model_of(cpu: &Cpu) -> String {
    Cpu { brand: String::new(), ..cpu.clone() }.to_string()
}

/// The path of the record that a calibration was refuted.
fn refutation_path(path: &Path) -> PathBuf {
    let mut record = path.as_os_str().to_owned();
    record.push(".refuted");
    record.into()
}

/// Returns what was read from a file, if the file exists.
fn if_present<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(failure) => match failure.downcast_ref::<std::io::Error>() {
            Some(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            _ => Err(failure),
        },
    }
}

/// Describes the file that was written.
fn description(path: &Path, calibration: &Calibration, why: Option<&str>) -> String {
    let Calibration { bound, entries, hypervisor, .. } = calibration;
    let mut text = format!("Written to {}: S = {bound} for CPUs of this model.\n", path.display());
    let reason = why.map_or_else(String::new, |why| format!(" It is higher than that: {why}."));
    text.push_str(&format!(
        "{entries} entries were measured, which gives S = {}: one more, and a margin, because on a CPU with 112 entries \
         loads overtook a few stores more.{reason}\n",
        published::safe_bound(*entries)
    ));
    if *hypervisor {
        text.push_str(
            "This is a virtual machine: the hypervisor decides how the CPU identifies itself, and a host with another CPU may use the same name. \
             Measure again if this machine may have moved to another host.\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    fn unknown() -> Cpu {
        Cpu { model: 1, ..Cpu::ice_lake() }
    }

    /// Counts with enough runs around the line of 73, and a violation. The violation has one store
    /// between pops and this delta.
    fn found(delta: usize) -> Counts {
        counts(&[(key(1, 37), RUNS_TO_TRUST, 0), (key(1, 38), RUNS_TO_TRUST, 0), (key(1, delta), 100, 1)])
    }

    fn refusal(result: Result<()>) -> String {
        format!("{:#}", result.unwrap_err())
    }

    fn bound(path: &Path) -> usize {
        Calibration::read(path).unwrap().bound
    }

    #[test]
    fn a_bound_that_stands_is_written() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let path = folder.path().join("calibration.json");
        Calibrator::new(&path, &cpu).unwrap().store(None, Some(72), &found(36)).unwrap();
        let again = Calibrator::new(&path, &cpu).unwrap();
        let stands = again.earlier.as_ref().unwrap();
        assert_eq!((stands.bound, stands.largest_violation), (81, Some(72)));
        assert_eq!(description(&path, stands, None).contains("a virtual machine"), Cpu::is_under_hypervisor());
        assert!(description(&path, stands, None).contains("72 entries were measured, which gives S = 81: one more"));
        assert!(description(&path, stands, Some("a reason")).contains("higher than that: a reason."));
    }

    #[test]
    fn a_sweep_without_evidence_writes_nothing() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let path = folder.path().join("calibration.json");
        let store = |entries, counts| Calibrator::new(&path, &cpu).unwrap().store(Some(128), entries, &counts);
        let refusal = |counts| refusal(store(Some(72), counts));
        assert!(refusal(counts(&[])).contains("no load overtook any store"));
        assert!(refusal(counts(&[(key(1, 37), RUNS_TO_TRUST, 0)])).contains("no load overtook any store"));
        // A violation far from the line shows only that races took place.
        assert!(refusal(found(3)).contains("more than 7 of the 73 stores"));
        let few = counts(&[(key(1, 37), RUNS_TO_TRUST - 1, 0), (key(1, 36), 1_000_000_000, 1)]);
        assert!(refusal(few).contains("only 999,999 runs of the litmus test could have refuted S = 73"));
        assert!(store(None, found(36)).unwrap_err().to_string().contains("not measured"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_bound_is_never_below_the_requested_published_or_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        for (number, (cpu, requested, expected)) in [
            (Cpu::ice_lake(), None, 81),
            (Cpu::ice_lake(), Some(40), 81),
            (Cpu::ice_lake(), Some(128), 128),
            (unknown(), None, 153),
            (unknown(), Some(160), 160),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(number.to_string());
            Calibrator::new(&path, &cpu).unwrap().store(requested, Some(72), &found(36)).unwrap();
            assert_eq!(bound(&path), expected);
            // The bound in the file is raised, and never lowered.
            Calibrator::new(&path, &cpu).unwrap().store(None, Some(72), &found(35)).unwrap();
            assert_eq!(bound(&path), expected);
            let calibrator = Calibrator::new(&path, &cpu).unwrap();
            assert_eq!(calibrator.earlier.as_ref().unwrap().largest_violation, Some(72));
            // Half of a buffer.
            assert!(calibrator.ensure_whole(36).is_err() && calibrator.ensure_whole(72).is_ok());
        }
    }

    #[test]
    fn other_files_are_not_replaced() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let path = folder.path().join("calibration.json");
        let refused = |reason: &str| {
            let before = fs::read(&path).unwrap();
            let refusal = format!("{:#}", Calibrator::new(&path, &cpu).unwrap_err());
            assert!(refusal.contains(reason), "{refusal}");
            assert_eq!(fs::read(&path).unwrap(), before);
        };
        let other = Cpu { model: 85, ..cpu.clone() };
        Calibrator::new(&path, &other).unwrap().store(None, Some(72), &found(36)).unwrap();
        refused("is for another CPU");
        fs::write(&path, "something else").unwrap();
        refused("calibration.json:1: expected a calibration of `filch-lab lab litmus`, found a damaged file");
        fs::write(&path, "{\"format\": \"filch calibration\", \"version\": 1}").unwrap();
        refused("expected version 2 of the format, found version 1");
        fs::write(&path, [0xff]).unwrap();
        refused("calibration.json:1: expected text");
        let amd = Cpu { vendor: "AuthenticAMD".into(), family: 0x19, ..cpu.clone() };
        let refusal = Calibrator::new(&folder.path().join("amd"), &amd).unwrap_err().to_string();
        assert!(refusal.contains("stores also wait outside"));
    }

    #[test]
    fn a_refuted_calibration_is_removed_and_the_refutation_recorded() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let path = folder.path().join("calibration.json");
        let record = folder.path().join("calibration.json.refuted");
        let store = |counts: &Counts| Calibrator::new(&path, &cpu)?.store(None, Some(72), counts);
        store(&found(36)).unwrap();
        // A sweep that proves nothing does not contradict the file.
        assert!(refusal(store(&counts(&[]))).contains("no load overtook") && path.exists());
        // Few runs are enough to refute.
        let reason = refusal(store(&counts(&[(key(1, 40), 10, 1)])));
        assert!(reason.contains("was removed") && reason.contains("overtook 81 stores"), "{reason}");
        assert!(!path.exists() && Calibration::read(&record).is_err());
        let reason = refusal(store(&found(36)));
        assert!(reason.contains("was refuted; delete it") && !path.exists(), "{reason}");
        assert!(Calibrator::new(&path, &Cpu { brand: "Another name".into(), ..cpu.clone() }).is_err());
        // A refutation does not hold for another CPU, nor after its record was deleted.
        let other = unknown();
        let reason = refusal(Calibrator::new(&path, &other).unwrap().store(None, Some(72), &found(300)));
        assert!(reason.contains("no bound") && !reason.contains("removed"), "{reason}");
        assert!(Calibrator::new(&path, &cpu).is_err() && Calibrator::new(&path, &other).is_err());
        fs::remove_file(&record).unwrap();
        store(&found(36)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_link_is_removed_too() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let (path, link) = (folder.path().join("calibration.json"), folder.path().join("link"));
        Calibrator::new(&path, &cpu).unwrap().store(None, Some(72), &found(36)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Calibrator::new(&link, &cpu).unwrap().store(None, Some(72), &found(40)).is_err());
        assert!(!path.exists());
        assert!(Calibrator::new(&link, &cpu).is_err() && Calibrator::new(&path, &cpu).is_err());
    }

    #[test]
    fn a_file_written_during_the_sweep_counts() {
        let (folder, cpu) = (tempfile::tempdir().unwrap(), Cpu::ice_lake());
        let path = folder.path().join("calibration.json");
        let begun = || Calibrator::new(&path, &cpu).unwrap();
        let (first, second, third, fourth) = (begun(), begun(), begun(), begun());
        first.store(Some(145), Some(72), &found(36)).unwrap();
        second.store(None, Some(72), &found(36)).unwrap();
        assert_eq!(bound(&path), 145);
        assert!(refusal(third.store(None, Some(72), &found(40))).contains("was removed"));
        assert!(refusal(fourth.store(None, Some(72), &found(36))).contains("was refuted"));
        assert!(!path.exists());
    }

    #[test]
    fn half_of_a_buffer_refutes_nothing() {
        let (folder, unknown) = (tempfile::tempdir().unwrap(), unknown());
        let path = folder.path().join("calibration.json");
        let half = Calibrator::new(&path, &unknown).unwrap().store(None, Some(36), &found(36));
        assert!(refusal(half).contains("another hardware thread of the core may have used the other half"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
