//! Numbers with units on the command line, in the syntax of rules.

use averment::stages::units::{DURATIONS, SIZES, sum_units};

/// Parses a size in bytes, such as `64MiB`.
pub fn parse_bytes(text: &str) -> Option<usize> {
    sum_units(text.trim(), SIZES)?.parse().ok()
}

/// Parses a time between one millisecond and one day, such as `10s`.
pub fn parse_time(text: &str) -> Option<std::time::Duration> {
    let milliseconds = sum_units(text.trim(), DURATIONS)?.parse().ok()?;
    (1..=86_400_000).contains(&milliseconds).then(|| std::time::Duration::from_millis(milliseconds))
}

/// Parses a number of threads.
pub fn parse_threads(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse().map_err(|_| "write how many, from 1 on".to_owned())
}

/// Parses a share, such as `0.95` or `95%`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|number| number / whole);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "write a part between 0 and 1, such as 0.95 or 95%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_milliseconds_of_a_day() {
        assert_eq!(parse_time("1m30s"), Some(std::time::Duration::from_secs(90)));
        assert_eq!(parse_time("250"), Some(std::time::Duration::from_millis(250)));
        for wrong in ["", "s", "-1s", "0s", "0.1ms", "2d", "soon"] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_whole_numbers_of_bytes() {
        assert_eq!(parse_bytes("64MiB"), Some(64 << 20));
        assert_eq!(parse_bytes("1.5KB"), Some(1_500));
        assert_eq!(parse_bytes("100"), Some(100));
        for wrong in ["", "MiB", "-1", "1XB", "1.5", "1.0001KB", "99999999999999999999999GB"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }
}
