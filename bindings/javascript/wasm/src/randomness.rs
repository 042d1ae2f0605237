//! `getrandom` needs a custom source on this target. Hash tables use it for their seed; no verdict depends on it.

/// Fills the buffer with a fixed byte. The standard library's tables also have a fixed seed on this target.
///
/// # Safety
/// `getrandom` calls it with a buffer of this length.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(buffer: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    // SAFETY: see above.
    unsafe { std::ptr::write_bytes(buffer, 0xA5, length) };
    Ok(())
}
