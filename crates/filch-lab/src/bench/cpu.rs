//! What this process costs the machine: CPU time and context switches.

use std::time::Duration;

use anyhow::Result;

use crate::figures::Series;
use crate::stats;

/// Whether this operating system reports these figures.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_os = "linux");

/// Why claims about CPU time have no figures, on systems where it is not measured.
pub(crate) const WHY_NOT_MEASURED: Option<&str> =
    if IS_SUPPORTED { None } else { Some("CPU time is measured only on Linux") };

/// The CPU time that all threads of this process have used, including threads that ended.
#[cfg(target_os = "linux")]
pub(crate) fn time() -> Result<Duration> {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The CPU time that the calling thread has used.
#[cfg(target_os = "linux")]
pub(crate) fn time_of_this_thread() -> Result<Duration> {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(target_os = "linux")]
fn clock(which: libc::clockid_t) -> Result<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local timespec, which the call fills.
    if unsafe { libc::clock_gettime(which, &mut time) } != 0 {
        return Err(anyhow::Error::new(std::io::Error::last_os_error()).context("cannot read the clock of CPU time"));
    }
    Ok(Duration::new(u64::try_from(time.tv_sec)?, u32::try_from(time.tv_nsec)?))
}

/// The number of context switches of this process, voluntary or not, without the calling thread's.
///
/// The calling thread does not count because it has to sleep while it watches the others.
#[cfg(target_os = "linux")]
pub(crate) fn switches_of_others() -> Result<u64> {
    let all = switches(libc::RUSAGE_SELF)?;
    let own = switches(libc::RUSAGE_THREAD)?;
    Ok(all.saturating_sub(own))
}

#[cfg(target_os = "linux")]
fn switches(whose: libc::c_int) -> Result<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a local rusage, which the call fills.
    if unsafe { libc::getrusage(whose, usage.as_mut_ptr()) } != 0 {
        return Err(
            anyhow::Error::new(std::io::Error::last_os_error()).context("cannot read the number of context switches")
        );
    }
    // SAFETY: the call filled it, and all zeroes would be valid as well.
    let usage = unsafe { usage.assume_init() };
    Ok(u64::try_from(usage.ru_nvcsw)? + u64::try_from(usage.ru_nivcsw)?)
}

/// Fails: not known on this operating system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn time() -> Result<Duration> {
    anyhow::bail!("the CPU time of a process is measured only on Linux")
}

/// Fails: not known on this operating system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn time_of_this_thread() -> Result<Duration> {
    time()
}

/// Fails: not known on this operating system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn switches_of_others() -> Result<u64> {
    anyhow::bail!("the context switches of other threads are counted only on Linux")
}

/// What each pool used beyond the work itself, for every round.
///
/// The work itself is what the series named `serial` used in the same round, without a pool.
pub(crate) fn without_the_work(ticks: &[Series], serial: &str, unit: &'static str) -> Vec<Series> {
    let Some(work) = ticks.iter().find(|series| series.name == serial) else { return Vec::new() };
    let pools = ticks.iter().filter(|series| series.name != serial);
    pools
        .map(|series| Series { unit, samples: stats::differences(&series.samples, &work.samples), ..series.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_the_same_round_is_subtracted() {
        let series = |name, samples: &[f64]| Series {
            case: "tick".to_owned(),
            name,
            threads: 1,
            unit: "cpu-us/tick",
            samples: samples.to_vec(),
            note: None,
        };
        let without =
            without_the_work(&[series("serial", &[50.0, 60.0]), series("rayon", &[150.0, 170.0])], "serial", "extra");
        assert_eq!(without.len(), 1);
        assert_eq!((without[0].name, without[0].unit), ("rayon", "extra"));
        assert_eq!(without[0].samples, [100.0, 110.0]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod linux_tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::bench::busy;

    #[test]
    fn computing_costs_cpu_time() {
        let before = (time().unwrap(), time_of_this_thread().unwrap());
        std::hint::black_box(busy::spin(std::hint::black_box(10_000_000), 1));
        assert!(time().unwrap() > before.0);
        assert!(time_of_this_thread().unwrap() > before.1);
    }

    #[test]
    fn a_thread_that_waits_is_switched_out() {
        let before = switches_of_others().unwrap();
        let (ask, asked) = mpsc::channel::<()>();
        let (answer, answered) = mpsc::channel();
        let other = thread::spawn(move || {
            for () in asked {
                answer.send(()).unwrap();
            }
        });
        // The thread may receive the next question before it waits for it, but not a thousand
        // times.
        for _ in 0..1000 {
            ask.send(()).unwrap();
            answered.recv().unwrap();
        }
        drop(ask);
        other.join().unwrap();
        assert!(switches_of_others().unwrap() > before);
    }
}
