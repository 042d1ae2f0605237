//! Compiled programs: the reader, the verifier, and the machine behind them.

use averment_engine::bytecode::codec::{self, DecodedFile};
use averment_engine::bytecode::disasm;

/// Reads an input as a file whose lengths and checksum are right, so that what is behind them is reached.
pub fn run(bytes: &[u8]) {
    let _ = codec::decode(bytes);
    let Some(bytes) = sealed(bytes) else { return };
    let Ok(DecodedFile::Program(program)) = codec::decode(&bytes) else { return };
    let _ = disasm::list_program(&program);
    let again = codec::encode(&program);
    match codec::decode(&again) {
        Ok(DecodedFile::Program(read)) => assert_eq!(codec::encode(&read), again, "another program came back"),
        other => panic!("what was read and written is not read back: {other:?}"),
    }
    super::rules::evaluated(&program);
}

/// The same bytes with the lengths and the checksum that belong to them.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = bytes.to_vec();
    let rest = file.get(codec::HEADER..)?;
    let sum = {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(rest);
        hasher.finalize()
    };
    let all = u64::try_from(rest.len()).ok()?;
    let sources = u64::from_le_bytes(file.get(12..20)?.try_into().ok()?).min(all);
    file.get_mut(..8)?.copy_from_slice(&codec::MAGIC);
    file.get_mut(8..12)?.copy_from_slice(&codec::VERSION.to_le_bytes());
    file.get_mut(12..20)?.copy_from_slice(&sources.to_le_bytes());
    file.get_mut(20..28)?.copy_from_slice(&(all - sources).to_le_bytes());
    file.get_mut(28..32)?.copy_from_slice(&sum.to_le_bytes());
    Some(file)
}
