//! Several digits read at once.

/// Parses one to eight digits at once, combining pairs, then quads, then halves.
#[inline]
pub(crate) fn few_digits(bytes: u64, length: usize) -> Option<u64> {
    // What stands behind the digits goes out at the top; zeros come in where higher digits would stand.
    let shift = u32::try_from(8_usize.wrapping_sub(length)).ok()?.wrapping_mul(8);
    let digits = bytes.wrapping_shl(shift).wrapping_sub(0x3030_3030_3030_3030_u64.wrapping_shl(shift));
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_read() {
        for (text, length, number) in [
            ("12345678", 8, Some(12_345_678)),
            ("00000000", 8, Some(0)),
            ("99999999", 8, Some(99_999_999)),
            ("7,\"b\":12", 1, Some(7)),
            ("1234567:", 8, None),
            ("/2345678", 8, None),
            ("1234 678", 8, None),
            ("1234\u{e9}67", 8, None),
        ] {
            let bytes = text.as_bytes().first_chunk().unwrap();
            assert_eq!(few_digits(u64::from_le_bytes(*bytes), length), number, "{text}");
        }
    }
}
