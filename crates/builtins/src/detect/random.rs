//! Distinguishes random keys from words and from placeholders for keys.

/// Returns the Shannon entropy in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "keys are short")]
pub(super) fn byte_entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = text.len() as f64;
    counts.iter().filter(|count| **count > 0).fold(0.0, |sum, count| {
        let share = f64::from(*count) / length;
        sum - share * share.log2()
    })
}

pub(super) fn distinct_bytes(text: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in text {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    seen.iter().filter(|seen| **seen).count()
}

/// True for placeholder keys: `XXXX…`, `0000…`, `abab…`, `1234567890ABCDEF`, or with `EXAMPLE` in them.
pub(super) fn is_filler(body: &[u8]) -> bool {
    distinct_bytes(body) < (body.len() / 3).clamp(3, 8)
        || is_sequence(body)
        || body.to_ascii_uppercase().windows(7).any(|part| part == b"EXAMPLE")
}

fn is_sequence(body: &[u8]) -> bool {
    let mut run = 1;
    body.windows(2).any(|pair| {
        run = if matches!(pair, [a, b] if a.checked_add(1) == Some(*b)) { run + 1 } else { 1 };
        run >= 8
    })
}

const STAND_INS: [&str; 24] = [
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "dummy",
    "sample",
    "masked",
    "hidden",
    "insert",
    "xxxx",
    "****",
    "....",
    "none",
    "null",
    "undefined",
    "process.env",
    "environ",
    "getenv",
    "secrets.",
    "vault",
    "todo",
];

/// True for placeholders: `<token>`, `${TOKEN}`, `your-key-here`, a call, a path, an address.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['<', '$', '{', '[', '(', '%', '/', '~', '.', '@', '*', '#'])
        || value.contains("://")
        || value.contains("${")
        || value.contains("{{")
        || value.contains('(')
        || STAND_INS.iter().any(|word| lower.contains(word))
}

/// Returns the number of switches between lower case, upper case and digits; there are few in words and dates.
fn count_changes(value: &[u8]) -> usize {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let mut last = None;
    let mut changes = 0;
    for current in value.iter().filter_map(class) {
        if last.is_some_and(|last: u8| last != current) {
            changes += 1;
        }
        last = Some(current);
    }
    changes
}

/// True if case is mixed more than in words such as `DatabaseConnectionString`.
fn is_mixed(value: &[u8]) -> bool {
    let capitals = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    capitals * 100 >= value.len() * 27 && small * 10 >= value.len() * 2 && count_changes(value) * 20 >= value.len() * 7
}

/// False for letters of one case without a digit, because these are words.
pub(super) fn varies_like_key(body: &[u8]) -> bool {
    let letters = body.iter().any(u8::is_ascii_alphabetic);
    let digits = body.iter().any(u8::is_ascii_digit);
    !is_filler(body) && byte_entropy(body) >= 2.5 && (letters && digits || is_mixed(body))
}

/// True for at least 16 characters with mixed letters and digits and few repetitions.
pub(super) fn looks_random(value: &[u8]) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let digits = value.iter().any(u8::is_ascii_digit);
    let drawn = letters && digits && count_changes(value) * 6 >= value.len() || is_mixed(value);
    value.len() >= 16 && value.iter().all(u8::is_ascii_graphic) && byte_entropy(value) >= 3.0 && drawn
}

/// True for three kinds of characters, or two in a long value.
pub(super) fn looks_chosen(value: &[u8]) -> bool {
    let kinds = [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(u8::is_ascii_punctuation),
    ];
    let kinds = kinds.iter().filter(|kind| **kind).count();
    let long_enough = value.len() >= 8 && kinds >= 3 || value.len() >= 12 && kinds >= 2 && count_changes(value) >= 2;
    long_enough && distinct_bytes(value) >= 5 && value.iter().any(u8::is_ascii_digit)
}
