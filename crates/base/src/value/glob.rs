//! Globs over names.

/// Whether a glob of `*` and `?` matches the whole name. Goes back to the last `*` only, so that it is never worse than
/// the product of both lengths.
#[must_use]
pub fn matches_wildcard(glob: &str, name: &str) -> bool {
    let (mut pattern, mut text) = (glob.chars(), name.chars());
    // Where to go on when a character does not fit: behind the last `*`, one character further in the name.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let rest = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                retry = Some((pattern.clone(), rest.clone()));
                text = rest;
            }
            (None, None) => return true,
            (Some('?'), Some(_)) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => {
                let Some((behind, from)) = retry.as_mut() else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (behind.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        for (glob, name, expected) in [
            ("admin_*", "admin_", true),
            ("admin_*", "admin_delete", true),
            ("admin_*", "x_admin_", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("a*b*c", "aXbXbYc", true),
            ("a*b*c", "aXbXbY", false),
            ("mcp__*__get", "mcp__github__get", true),
            ("?", "ü", true),
            ("**", "x", true),
            ("admin_*", "admin", false),
            ("a*b?d", "axxbcd", true),
            ("a*b?d", "axxbd", false),
            ("a*a*a", "aa", false),
        ] {
            assert_eq!(matches_wildcard(glob, name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn a_hostile_glob_ends() {
        assert!(!matches_wildcard(&"*a".repeat(200), &format!("{}b", "a".repeat(10_000))));
    }
}
