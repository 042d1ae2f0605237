//! Near misses of names: "did you mean `length`?".

/// Letters that a name and a candidate share at least when one begins with the other.
const SHARED_START: usize = 3;

/// The candidate nearest to `name`, when its edit distance is at most `max(1, length / 3)`; otherwise the shortest candidate that
/// begins with the name, or the longest that the name begins with (`rouge` and `rouge_l`, `warning` and `warn`).
/// Among equally near ones the first wins, so that the answer does not depend on hashing.
///
/// ```
/// use averment_base::diagnostic::suggest::nearest;
/// assert_eq!(nearest("lenght", ["length", "lower"]), Some("length"));
/// assert_eq!(nearest("int", ["string", "integer"]), Some("integer"));
/// assert_eq!(nearest("xyz", ["length", "lower"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let limit = (letters / 3).max(1);
    let mut best: Option<(usize, &'a str)> = None;
    let mut started: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let distance = strsim::osa_distance(name, candidate);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
        let shared = letters.min(candidate.chars().count());
        let starts = candidate.starts_with(name) || name.starts_with(candidate);
        if starts && shared >= SHARED_START && started.is_none_or(|(least, _)| distance < least) {
            started = Some((distance, candidate));
        }
    }
    best.or(started).map(|(_, candidate)| candidate)
}
