//! Near misses of names: "did you mean `length`?".

/// The candidate nearest to `name`, when its edit distance is at most `max(1, length / 3)`.
/// Among equally near ones the first wins, so that the answer does not depend on hashing.
///
/// ```
/// use averment::diagnostic::suggest::nearest;
/// assert_eq!(nearest("lenght", ["length", "lower"]), Some("length"));
/// assert_eq!(nearest("xyz", ["length", "lower"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let distance = strsim::osa_distance(name, candidate);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
