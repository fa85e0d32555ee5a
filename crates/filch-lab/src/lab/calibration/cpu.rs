//! The CPU model, as the CPU reports it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A CPU model: a measurement applies to all CPUs of the same model.
///
/// Two models are equal if vendor, family, model and stepping are equal. The brand is only for
/// display: firmware and hypervisors change it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cpu {
    /// The vendor: `GenuineIntel`, `AuthenticAMD`.
    pub(crate) vendor: String,
    /// The family, including the extended family.
    pub(crate) family: u32,
    /// The model, including the extended model.
    pub(crate) model: u32,
    /// The stepping.
    pub(crate) stepping: u32,
    /// The brand string of the CPU.
    pub(crate) brand: String,
}

impl Cpu {
    /// Returns the model of this CPU, or `None` if it is not an x86-64.
    ///
    /// All cores of a hybrid CPU return the same model.
    pub(crate) fn here() -> Option<Cpu> {
        /// The last leaf that has a part of the brand string.
        const END_OF_NAME: u32 = 0x8000_0004;

        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let [_, ebx, ecx, edx] = cpuid(0);
        let (family, model, stepping) = signature(cpuid(1)[0]);
        let has_name = cpuid(0x8000_0000)[0] >= END_OF_NAME;
        let brand = if has_name { text((END_OF_NAME - 2..=END_OF_NAME).flat_map(cpuid)) } else { String::new() };
        Some(Cpu { vendor: text([ebx, edx, ecx]), family, model, stepping, brand })
    }

    /// Returns whether a hypervisor reports its presence.
    ///
    /// [`here`](Cpu::here) then returns what the hypervisor lets the CPU report: different hosts
    /// may report the same.
    pub(crate) fn is_under_hypervisor() -> bool {
        // The bit that no CPU sets itself.
        cpuid(1)[2] >> 31 == 1
    }
}

#[cfg(test)]
impl Cpu {
    pub(crate) fn ice_lake() -> Cpu {
        Cpu { vendor: "GenuineIntel".into(), family: 6, model: 106, stepping: 6, brand: "A CPU".into() }
    }
}

impl PartialEq for Cpu {
    fn eq(&self, other: &Cpu) -> bool {
        let key = |cpu: &Cpu| (cpu.family, cpu.model, cpu.stepping);
        self.vendor == other.vendor && key(self) == key(other)
    }
}

impl Eq for Cpu {}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cpu { vendor, family, model, stepping, brand } = self;
        write!(f, "{brand} ({vendor}, family {family}, model {model}, stepping {stepping})")
    }
}

/// Returns the registers `eax`, `ebx`, `ecx` and `edx` of a leaf; zeros if this is not an x86-64.
#[cfg(target_arch = "x86_64")]
pub(crate) fn cpuid(leaf: u32) -> [u32; 4] {
    // SAFETY: every x86-64 has the instruction. Newer compilers know that, and require no
    // `unsafe`.
    #[allow(unused_unsafe)]
    let leaf = unsafe { std::arch::x86_64::__cpuid_count(leaf, 0) };
    [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]
}

/// Returns zeros: this is not an x86-64.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn cpuid(_leaf: u32) -> [u32; 4] {
    [0; 4]
}

/// Returns family, model and stepping.
///
/// Family and model are each stored in two parts.
fn signature(word: u32) -> (u32, u32, u32) {
    let (base, model) = (word >> 8 & 0xf, word >> 4 & 0xf);
    let family = if base == 0xf { base + (word >> 20 & 0xff) } else { base };
    let model = if base == 0x6 || base == 0xf { model | (word >> 16 & 0xf) << 4 } else { model };
    (family, model, word & 0xf)
}

/// Returns the text in the words, as a single line.
fn text(words: impl IntoIterator<Item = u32>) -> String {
    let bytes = words.into_iter().flat_map(u32::to_le_bytes).filter(|&byte| byte != 0);
    let spelt: String =
        bytes.map(|byte| if byte == b' ' || byte.is_ascii_graphic() { byte as char } else { '?' }).collect();
    let spelt = spelt.trim();
    if spelt.is_empty() {
        String::from("unknown")
    } else {
        String::from(spelt)
    }
}
#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_at_hand_has_a_maker_and_a_name() {
        let cpu = Cpu::here().unwrap();
        assert!(!cpu.vendor.is_empty() && !cpu.brand.is_empty());
        assert!(cpu.family >= 6, "{cpu}");
        assert_eq!(Cpu::here(), Some(cpu));
    }

    #[test]
    fn family_and_model_are_put_together_from_their_parts() {
        // Ice Lake server, Haswell, Zen 4.
        assert_eq!(signature(0x606a6), (6, 106, 6));
        assert_eq!(signature(0x306c3), (6, 60, 3));
        assert_eq!(signature(0xa60f12), (25, 97, 2));
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(text([u32::from_le_bytes(*b" a b"), u32::from_le_bytes(*b"\n\0\0c")]), "a b?c");
        assert_eq!(text([0, 0]), "unknown");
    }

    #[test]
    fn a_name_alone_makes_no_other_cpu() {
        let cpu = Cpu::here().unwrap();
        assert_eq!(Cpu { brand: "another name".to_string(), ..cpu.clone() }, cpu);
        assert_ne!(Cpu { stepping: cpu.stepping + 1, ..cpu.clone() }, cpu);
        assert_ne!(Cpu { model: cpu.model + 1, ..cpu.clone() }, cpu);
        assert_ne!(Cpu { family: cpu.family + 1, ..cpu.clone() }, cpu);
        assert_ne!(Cpu { vendor: "another".to_string(), ..cpu.clone() }, cpu);
    }
}
