//! What is known of CPUs, from their makers, from those who took them apart, and from measurements: less is not believed of such a CPU.
//!
//! The two hardware threads of a core share its store buffer while they are awake, half and half. Where the other one is busy all the time, perhaps with somebody else's work, half of a buffer is what shows; and a
//! litmus test whose two threads share a core cannot object. So a bound that others rely on is never below the published one, and twice what was measured where none is known.
//!
//! What a CPU is, it says itself, or a hypervisor says it. One that gives a large core out as a small one, whose other hardware thread is busy besides, is not found out: whoever trusts a calibration there trusts the host as well.

use anyhow::{ensure, Result};
use filch_queue::calibration::Cpu;

use super::kinds;

/// How many entries the store buffer of this CPU may have, of which so many were measured.
pub(crate) fn most_entries(cpu: &Cpu, measured: usize) -> usize {
    published(cpu).map_or(2 * measured, |entries| entries.max(measured))
}

/// An error if fewer entries were measured than such a CPU has.
pub(crate) fn ensure_whole(cpu: &Cpu, measured: usize) -> Result<()> {
    let entries = published(cpu).unwrap_or(measured);
    ensure!(
        measured >= entries,
        "the store buffer shows {measured} entries, and such a CPU has {entries}: perhaps another hardware thread of the core had the rest; try again when the machine is less busy"
    );
    Ok(())
}

/// An error if on such a CPU stores are known to wait elsewhere than in the store buffer: then its entries, and one, are no bound.
///
/// On AMD's Zen 3 the litmus test catches loads that overtake 73 stores, where the store buffer has 64 entries. That is as many as there would be with eight buffers for combining writes behind it, which
/// other CPUs of this maker have as well.
pub(crate) fn ensure_nothing_waits_elsewhere(cpu: &Cpu) -> Result<()> {
    ensure!(
        cpu.vendor != "AuthenticAMD",
        "on a CPU of AMD loads were caught overtaking 73 stores, where the store buffer has 64 entries: stores wait elsewhere as well, and nobody has published how many. So for CPUs of AMD there is no calibration; without --calibrate the litmus test tells what it catches"
    );
    Ok(())
}

/// Whether so many entries, where they were measured, and one are all the stores that a load can overtake on a core which this process may run on, as far as is known.
pub(crate) fn are_all(measured: usize) -> bool {
    let is_whole = |cpu: Cpu| most_entries(&cpu, measured) == measured && ensure_nothing_waits_elsewhere(&cpu).is_ok();
    kinds::ensure_all_in_reach().is_ok() && Cpu::here().is_some_and(is_whole)
}

/// The published number; of cores of several kinds that of the largest.
fn published(cpu: &Cpu) -> Option<usize> {
    match (cpu.vendor.as_str(), cpu.family, cpu.model) {
        // Nehalem and Westmere.
        ("GenuineIntel", 6, 0x1a | 0x1e | 0x1f | 0x2e | 0x25 | 0x2c | 0x2f) => Some(32),
        // Sandy Bridge and Ivy Bridge.
        ("GenuineIntel", 6, 0x2a | 0x2d | 0x3a | 0x3e) => Some(36),
        // Haswell and Broadwell.
        ("GenuineIntel", 6, 0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56) => Some(42),
        // Skylake and what was made of it.
        ("GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6) => Some(56),
        // Ice Lake, Tiger Lake, Rocket Lake.
        ("GenuineIntel", 6, 0x7d | 0x7e | 0x6a | 0x6c | 0x8c | 0x8d | 0xa7) => Some(72),
        // Alder Lake, Raptor Lake, Sapphire Rapids, Emerald Rapids.
        ("GenuineIntel", 6, 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0x8f | 0xcf) => Some(112),
        // Zen and Zen 2.
        ("AuthenticAMD", 0x17, _) => Some(48),
        // Zen 3 and Zen 4.
        ("AuthenticAMD", 0x19, _) => Some(64),
        // Zen 5.
        ("AuthenticAMD", 0x1a, _) => Some(104),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(vendor: &str, family: u32, model: u32) -> Cpu {
        Cpu { vendor: vendor.into(), family, model, stepping: 0, brand: "A CPU".into() }
    }

    #[test]
    fn half_of_a_buffer_that_is_known_is_not_believed() {
        let ice_lake = cpu("GenuineIntel", 6, 106);
        assert_eq!([36, 72, 80].map(|measured| most_entries(&ice_lake, measured)), [72, 72, 80]);
        assert_eq!(
            [36, 71, 72, 80].map(|measured| ensure_whole(&ice_lake, measured).is_ok()),
            [false, false, true, true]
        );
        assert_eq!(most_entries(&cpu("AuthenticAMD", 0x19, 1), 32), 64);
    }

    #[test]
    fn what_is_measured_of_a_cpu_that_is_not_known_may_be_half() {
        assert_eq!(most_entries(&cpu("GenuineIntel", 6, 1), 40), 80);
        assert_eq!(most_entries(&cpu("Another", 0x19, 1), 40), 80);
        assert!(ensure_whole(&cpu("Another", 0x19, 1), 1).is_ok());
    }

    #[test]
    fn a_store_buffer_is_no_bound_where_stores_wait_elsewhere() {
        assert!(ensure_nothing_waits_elsewhere(&cpu("AuthenticAMD", 0x19, 1)).is_err());
        assert!(ensure_nothing_waits_elsewhere(&cpu("GenuineIntel", 6, 106)).is_ok());
        let is_amd = Cpu::here().is_some_and(|cpu| cpu.vendor == "AuthenticAMD");
        assert!(!(is_amd && are_all(64)));
    }
}
