//! Hashes, and their hexadecimal form.

use sha2::{Digest as _, Sha256};

/// Returns bytes as hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first bytes of the hash of some texts.
#[must_use]
pub fn hash_texts<const N: usize>(texts: &[&str]) -> [u8; N] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash_beginning(hash)
}

/// Returns the first bytes of the hash of bytes.
#[must_use]
pub fn bytes_hash<const N: usize>(bytes: &[u8]) -> [u8; N] {
    hash_beginning(Sha256::new_with_prefix(bytes))
}

/// Returns the first bytes of a hash.
pub(crate) fn hash_beginning<const N: usize>(hash: Sha256) -> [u8; N] {
    let mut first = [0; N];
    first.iter_mut().zip(hash.finalize().iter()).for_each(|(to, from)| *to = *from);
    first
}
