//! Which instruction a fence compiles to.
//!
//! A compiler may choose `mfence` or a locked instruction, and one can be twice as slow as the
//! other.

use std::sync::atomic::{fence, Ordering};

/// Returns the instruction of a SeqCst fence in this program, or `None` if unknown.
///
/// It is read from the program's own code.
#[cfg(target_arch = "x86_64")]
pub(super) fn fence_instruction() -> Option<String> {
    use iced_x86::{Decoder, DecoderOptions, FlowControl};

    /// More bytes than a fence and the return need.
    const MAX_BYTES: usize = 32;

    let start = only_a_fence as fn() as *const u8;
    let mut code = Vec::new();
    while code.len() < MAX_BYTES {
        // SAFETY: code is readable, and this byte belongs to the function: no earlier byte was its
        // last, or the loop would have ended.
        code.push(unsafe { *start.add(code.len()) });
        let known: Vec<_> = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).into_iter().collect();
        let whole = known.iter().take_while(|instruction| !instruction.is_invalid());
        match whole.last() {
            // In a build without optimisation the fence is in a called function.
            Some(last) if last.flow_control() != FlowControl::Next => return None,
            Some(last) if is_fence(&name(last)) => return Some(name(last)),
            _ => {}
        }
    }
    None
}

#[cfg(target_arch = "x86_64")]
fn is_fence(name: &str) -> bool {
    name == "mfence" || name.starts_with("lock ")
}

#[cfg(target_arch = "x86_64")]
fn name(instruction: &iced_x86::Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    if instruction.has_lock_prefix() {
        format!("lock {name}")
    } else {
        name
    }
}

/// Returns `None`: the instruction is unknown on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn fence_instruction() -> Option<String> {
    let _ = only_a_fence;
    None
}

/// A fence, compiled as everywhere in this program.
#[inline(never)]
fn only_a_fence() {
    // SeqCst: this fence is what is inspected.
    fence(Ordering::SeqCst);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    #[test]
    fn a_locked_instruction_is_recognised() {
        let named = |code: &[u8]| name(&Decoder::new(64, code, DecoderOptions::NONE).decode());
        assert_eq!(named(&[0x0f, 0xae, 0xf0]), "mfence");
        // lock or dword ptr [rsp - 0x40], 0
        assert_eq!(named(&[0xf0, 0x83, 0x4c, 0x24, 0xc0, 0x00]), "lock or");
        assert_eq!(named(&[0x83, 0x4c, 0x24, 0xc0, 0x00]), "or");
        assert!(is_fence("mfence") && is_fence("lock or") && !is_fence("or"));
    }
}
