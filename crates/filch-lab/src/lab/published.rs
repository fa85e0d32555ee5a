//! Published sizes of store buffers, by CPU: a lower measurement is not accepted.
//!
//! The sources are the makers, independent analyses and measurements.
//!
//! The two hardware threads of a core share its store buffer half and half while both are awake. If
//! the other one is always busy, perhaps with another program, only half of the buffer shows. And a
//! litmus test whose two threads share a core cannot detect that. So a bound that others rely on is
//! never below the published one. If none is published, the bound is twice the measurement.
//!
//! The CPU identifies itself, or a hypervisor does it. If a hypervisor presents a large core as a
//! small one, and the other hardware thread of that core is always busy, this is not detected. To
//! trust a calibration there is to trust the host as well.

use anyhow::{ensure, Result};
use filch_queue::bound::Bound;

use super::kinds;
use crate::lab::calibration::Cpu;

/// The stores that a bound for a measured store buffer allows beyond the entries and one.
///
/// On a CPU with 112 entries, loads now and then overtook 115 or 116 stores, where 113 are
/// explained. Perhaps stores also count that are on their way from the buffer to the cache. A bound
/// that is too small lets two threads take the same task. A bound that is too large costs only
/// steals from short queues.
pub(crate) const MARGIN: usize = 8;

/// Returns a bound for a store buffer of `entries`: one more, and a [`MARGIN`].
///
/// It is [`Bound::GENEROUS`] or more for a buffer that comes near to that bound. Such CPUs include
/// the one on which loads overtook more stores than explained.
pub(crate) fn safe_bound(entries: usize) -> usize {
    let bound = entries.saturating_add(1 + MARGIN);
    if bound.saturating_add(MARGIN) > Bound::GENEROUS.get() {
        bound.max(Bound::GENEROUS.get())
    } else {
        bound
    }
}

/// Returns how many entries this CPU's store buffer may have, given the measured number.
pub(crate) fn most_entries(cpu: &Cpu, measured: usize) -> usize {
    published(cpu).map_or(2 * measured, |entries| entries.max(measured))
}

/// Returns an error if fewer entries were measured than such a CPU has.
pub(crate) fn ensure_whole(cpu: &Cpu, measured: usize) -> Result<()> {
    let entries = published(cpu).unwrap_or(measured);
    ensure!(
        measured >= entries,
        "only {measured} of the {entries} entries of the store buffer were measured: another hardware thread of the core may have used the rest; try again when the machine is less busy"
    );
    Ok(())
}

/// Returns an error if stores of this CPU also wait outside the store buffer.
///
/// Then the number of entries plus one is no bound. On AMD's Zen 3 the litmus test catches loads
/// that overtake 73 stores, but the store buffer has 64 entries. Eight write-combining buffers
/// behind it would explain that number. Other CPUs of this maker have them as well.
pub(crate) fn ensure_stores_wait_only_in_buffer(cpu: &Cpu) -> Result<()> {
    ensure!(
        stores_wait_only_in_buffer(cpu),
        "AMD CPUs cannot be calibrated: on one of them loads overtook 73 stores, and its store buffer has 64 entries, so stores also wait outside of it, and the number of these is not published; without --calibrate the litmus test reports what it finds"
    );
    Ok(())
}

/// Whether all stores of this CPU wait in the store buffer, as far as is known.
pub(crate) fn stores_wait_only_in_buffer(cpu: &Cpu) -> bool {
    cpu.vendor != "AuthenticAMD"
}

/// Whether a load can overtake at most `measured + 1` stores, as far as is known.
///
/// This is about the cores that this process may run on, where the entries were measured.
pub(crate) fn are_all(measured: usize) -> bool {
    let is_whole = |cpu: Cpu| most_entries(&cpu, measured) == measured && stores_wait_only_in_buffer(&cpu);
    kinds::ensure_all_measurable().is_ok() && Cpu::here().is_some_and(is_whole)
}

/// Returns the published number of entries of this machine's CPU, if there is one.
pub(crate) fn entries_here() -> Option<usize> {
    published(&Cpu::here()?)
}

/// Returns the published number: for several kinds of cores, the number of the largest.
fn published(cpu: &Cpu) -> Option<usize> {
    match (cpu.vendor.as_str(), cpu.family, cpu.model) {
        // Nehalem and Westmere.
        ("GenuineIntel", 6, 0x1a | 0x1e | 0x1f | 0x2e | 0x25 | 0x2c | 0x2f) => Some(32),
        // Sandy Bridge and Ivy Bridge.
        ("GenuineIntel", 6, 0x2a | 0x2d | 0x3a | 0x3e) => Some(36),
        // Haswell and Broadwell.
        ("GenuineIntel", 6, 0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56) => Some(42),
        // Skylake and its derivatives.
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
    fn a_bound_has_a_margin_and_is_128_or_more_for_112_entries() {
        for (entries, bound) in [(32, 41), (72, 81), (111, 120), (112, 128), (119, 128), (120, 129), (144, 153)] {
            assert_eq!(safe_bound(entries), bound, "{entries}");
            assert!(bound >= entries + 1 + MARGIN);
        }
        // What loads overtook on a CPU with 112 entries.
        assert!(safe_bound(112) >= 116 + MARGIN);
    }

    #[test]
    fn half_of_a_published_buffer_is_not_accepted() {
        let ice_lake = cpu("GenuineIntel", 6, 106);
        assert_eq!([36, 72, 80].map(|measured| most_entries(&ice_lake, measured)), [72, 72, 80]);
        assert_eq!(
            [36, 71, 72, 80].map(|measured| ensure_whole(&ice_lake, measured).is_ok()),
            [false, false, true, true]
        );
        assert_eq!(most_entries(&cpu("AuthenticAMD", 0x19, 1), 32), 64);
    }

    #[test]
    fn a_measurement_on_an_unknown_cpu_counts_as_half_of_the_buffer() {
        assert_eq!(most_entries(&cpu("GenuineIntel", 6, 1), 40), 80);
        assert_eq!(most_entries(&cpu("Another", 0x19, 1), 40), 80);
        assert!(ensure_whole(&cpu("Another", 0x19, 1), 1).is_ok());
    }

    #[test]
    fn a_store_buffer_is_no_bound_if_stores_also_wait_outside_of_it() {
        assert!(ensure_stores_wait_only_in_buffer(&cpu("AuthenticAMD", 0x19, 1)).is_err());
        assert!(ensure_stores_wait_only_in_buffer(&cpu("GenuineIntel", 6, 106)).is_ok());
        let is_amd = Cpu::here().is_some_and(|cpu| cpu.vendor == "AuthenticAMD");
        assert!(!(is_amd && are_all(64)));
    }
}
