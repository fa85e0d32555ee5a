//! The identity of a checkpoint: its problem and instance.

use serde::{Deserialize, Serialize};

/// What must be the same for a search to resume.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The name of the problem.
    pub problem: String,
    /// A [hash] of the instance.
    pub instance: u64,
}

impl Identity {
    /// Returns the identity of a problem's name and an instance's bytes.
    ///
    /// The bytes are its text, or any others that are the same for the same instance on every
    /// machine.
    pub fn new(problem: impl Into<String>, instance: impl AsRef<[u8]>) -> Self {
        Identity { problem: problem.into(), instance: hash(instance.as_ref()) }
    }
}

/// Returns the hash of an instance: FNV-1a of 64 bits.
///
/// It is the same on every machine and in every version, unlike the hashes of the standard library.
/// It is not collision resistant: two instances with the same hash can be constructed on purpose.
pub fn hash(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(b""), 0xcbf29ce484222325);
        assert_eq!(hash(b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(hash(b"foobar"), 0x85944171f73967e8);
    }
}
