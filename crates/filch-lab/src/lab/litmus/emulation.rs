//! Whether this program runs on the CPU that it asks, or on something that pretends to be one and keeps stores in an order of its own.

use anyhow::{bail, Result};
use filch_queue::calibration::Cpu;

/// Hypervisors whose CPU is software, as `cpuid` spells them.
const EMULATORS: [(&str, &str); 3] = [("TCGTCGTCGTCG", "QEMU without KVM"), ("FEXIFEXIEMU", "FEX"), ("BOCHS", "Bochs")];

/// Names that a CPU of software gives itself.
const BRANDS: [(&str, &str); 3] = [("VirtualApple", "Rosetta"), ("QEMU TCG", "QEMU without KVM"), ("Box64", "Box64")];

/// The CPU at hand, if there is a bound to find out about.
pub(super) fn real_cpu() -> Result<Cpu> {
    let Some(cpu) = Cpu::here() else {
        bail!(
            "this test is about x86-64, and this is {}: nothing bounds what a load overtakes here, and the queues keep their fence",
            std::env::consts::ARCH
        );
    };
    match emulator_here() {
        None => Ok(cpu),
        Some(emulator) => {
            bail!("this runs under {emulator}, which keeps stores in an order of its own: the test would say nothing of a CPU")
        }
    }
}

/// What pretends to be the CPU at hand, if something does. Nothing is known of how many stores a load overtakes there.
pub(crate) fn emulator_here() -> Option<&'static str> {
    let cpu = Cpu::here()?;
    // A variable that Windows sets, and nobody else means anything by.
    let identifier = std::env::var("PROCESSOR_IDENTIFIER").ok().filter(|_| cfg!(windows)).unwrap_or_default();
    emulator(hypervisor().as_deref(), &cpu.brand, &identifier)
}

/// What pretends to be the CPU, if something does. Hardware virtualisation does not: its loads and stores are the CPU's.
fn emulator(hypervisor: Option<&str>, brand: &str, identifier: &str) -> Option<&'static str> {
    let by_hypervisor = EMULATORS.iter().find(|(name, _)| hypervisor.is_some_and(|found| found.starts_with(name)));
    let by_brand = BRANDS.iter().find(|(name, _)| brand.starts_with(name));
    // Windows tells a translated program the real processor there.
    let by_identifier = identifier.starts_with("ARM").then_some(&("", "the translation of Windows on ARM"));
    by_hypervisor.or(by_brand).or(by_identifier).map(|(_, emulator)| *emulator)
}

/// The hypervisor's name, if there is one.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;

    // SAFETY: every x86-64 has the instruction. Newer compilers know that, and want no `unsafe`.
    #[allow(unused_unsafe)]
    let name = unsafe { __cpuid(0x4000_0000) };
    let bytes = [name.ebx, name.ecx, name.edx].into_iter().flat_map(u32::to_le_bytes).take_while(|&byte| byte != 0);
    Cpu::is_under_hypervisor().then(|| bytes.map(char::from).collect())
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const XEON: &str = "Intel(R) Xeon(R) Processor @ 2.80GHz";

    #[test]
    fn what_is_software_is_refused() {
        assert_eq!(emulator(Some("TCGTCGTCGTCG"), XEON, ""), Some("QEMU without KVM"));
        assert_eq!(emulator(None, "VirtualApple @ 2.50GHz", ""), Some("Rosetta"));
        assert_eq!(emulator(None, "QEMU TCG CPU version 2.5+", ""), Some("QEMU without KVM"));
        assert!(emulator(None, XEON, "ARMv8 (64-bit) Family 8 Model 1 Revision 201, Qualcomm").is_some());
    }

    #[test]
    fn hardware_virtualisation_is_fine() {
        for name in [None, Some("KVMKVMKVM"), Some("Microsoft Hv"), Some("VMwareVMware"), Some("XenVMMXenVMM")] {
            assert_eq!(emulator(name, XEON, "Intel64 Family 6 Model 106 Stepping 6, GenuineIntel"), None);
        }
    }
}
