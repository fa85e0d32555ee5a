//! Detects whether the CPU is emulated.
//!
//! An emulator may keep stores in an order of its own.

use anyhow::{bail, Result};

use crate::lab::calibration::{cpuid, Cpu};

/// Hypervisors that emulate the CPU in software, as `cpuid` spells them.
const EMULATORS: [(&str, &str); 3] = [("TCGTCGTCGTCG", "QEMU without KVM"), ("FEXIFEXIEMU", "FEX"), ("BOCHS", "Bochs")];

/// Brand names of emulated CPUs.
const BRANDS: [(&str, &str); 3] = [("VirtualApple", "Rosetta"), ("QEMU TCG", "QEMU without KVM"), ("Box64", "Box64")];

/// Returns this machine's CPU, or an error if it has no bound to measure.
pub(super) fn real_cpu() -> Result<Cpu> {
    let Some(cpu) = Cpu::here() else {
        bail!(
            "this test needs an x86-64 CPU, and this CPU is {}: it has no bound on the stores that a load overtakes, and the queues keep their fences",
            std::env::consts::ARCH
        );
    };
    match emulator_here() {
        None => Ok(cpu),
        Some(emulator) => {
            bail!("this program runs under {emulator}, which may order stores in its own way: the test would say nothing about a CPU")
        }
    }
}

/// Returns the emulator of this machine's CPU, if any. It is unknown how many stores a load
/// overtakes there.
pub(crate) fn emulator_here() -> Option<&'static str> {
    let cpu = Cpu::here()?;
    // Windows sets this variable. On other systems it has no meaning.
    let identifier = std::env::var("PROCESSOR_IDENTIFIER").ok().filter(|_| cfg!(windows)).unwrap_or_default();
    emulator(hypervisor().as_deref(), &cpu.brand, &identifier)
}

/// Returns the emulator, if any. Hardware virtualisation is none: its loads and stores are the
/// CPU's.
fn emulator(hypervisor: Option<&str>, brand: &str, identifier: &str) -> Option<&'static str> {
    let by_hypervisor = EMULATORS.iter().find(|(name, _)| hypervisor.is_some_and(|found| found.starts_with(name)));
    let by_brand = BRANDS.iter().find(|(name, _)| brand.starts_with(name));
    // Windows reports the real processor there, even to a translated program.
    let by_identifier = identifier.starts_with("ARM").then_some(&("", "the translation of Windows on ARM"));
    by_hypervisor.or(by_brand).or(by_identifier).map(|(_, emulator)| *emulator)
}

/// Returns the name of the hypervisor, if there is one.
fn hypervisor() -> Option<String> {
    let [_, name @ ..] = cpuid(0x4000_0000);
    let bytes = name.into_iter().flat_map(u32::to_le_bytes).take_while(|&byte| byte != 0);
    Cpu::is_under_hypervisor().then(|| bytes.map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const XEON: &str = "Intel(R) Xeon(R) Processor @ 2.80GHz";

    #[test]
    fn emulators_are_detected() {
        assert_eq!(emulator(Some("TCGTCGTCGTCG"), XEON, ""), Some("QEMU without KVM"));
        assert_eq!(emulator(None, "VirtualApple @ 2.50GHz", ""), Some("Rosetta"));
        assert_eq!(emulator(None, "QEMU TCG CPU version 2.5+", ""), Some("QEMU without KVM"));
        assert!(emulator(None, XEON, "ARMv8 (64-bit) Family 8 Model 1 Revision 201, Qualcomm").is_some());
    }

    #[test]
    fn hardware_virtualisation_is_no_emulator() {
        for name in [None, Some("KVMKVMKVM"), Some("Microsoft Hv"), Some("VMwareVMware"), Some("XenVMMXenVMM")] {
            assert_eq!(emulator(name, XEON, "Intel64 Family 6 Model 106 Stepping 6, GenuineIntel"), None);
        }
    }
}
