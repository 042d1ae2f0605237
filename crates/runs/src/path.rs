//! Paths of files as text: two spellings of one path are the same text.

use std::borrow::Cow;

/// The path without `.`, `..`, doubled and backward separators. `None` if it is spelled so already.
///
/// Dots and separators that are spelled as in URLs (`%2e`, `%2f`, `%5c`) count as what they stand for: whoever opens the path may read them
/// so. Links are not looked up. A `..` at the beginning of a relative path stays; above `/` and above a drive there is nothing.
#[must_use]
pub fn normal_path(path: &str) -> Option<String> {
    let slashed = decoded_signs(path).replace('\\', "/");
    let is_absolute = slashed.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in slashed.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") => parts.push(part),
                Some(last) if is_drive(last) => {}
                Some(_) => {
                    parts.pop();
                }
                None if is_absolute => {}
                None => parts.push(part),
            },
            part => parts.push(part),
        }
    }
    let mut normal = String::with_capacity(slashed.len());
    if is_absolute {
        normal.push('/');
    }
    normal.push_str(&parts.join("/"));
    if slashed.ends_with('/') && !parts.is_empty() {
        normal.push('/');
    }
    if normal.is_empty() && !path.is_empty() {
        normal.push('.');
    }
    (normal != path).then_some(normal)
}

fn decoded_signs(path: &str) -> Cow<'_, str> {
    const SIGNS: [(&str, &str); 3] = [("2e", "."), ("2f", "/"), ("5c", "/")];
    let (mut decoded, mut rest) = (String::new(), path);
    while let Some((front, behind)) = rest.split_once('%') {
        // What is decoded twice reads `%252e` as a dot, too.
        let letters = behind.trim_start_matches("25");
        match SIGNS.iter().find(|(hex, _)| letters.get(..2).is_some_and(|two| two.eq_ignore_ascii_case(hex))) {
            Some((_, sign)) => {
                decoded.push_str(front);
                decoded.push_str(sign);
                rest = letters.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push_str(front);
                decoded.push('%');
                rest = behind;
            }
        }
    }
    if decoded.is_empty() {
        return Cow::Borrowed(path);
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// True if a normal path climbs out of the folder that it starts from: which file it names is not recorded.
#[must_use]
pub fn leaves_root(path: &str) -> bool {
    path.split('/').next() == Some("..")
}

fn is_drive(part: &str) -> bool {
    matches!(part.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_have_one_spelling() {
        for (path, normal) in [
            ("src/a.rs", "src/a.rs"),
            ("./src//a.rs", "src/a.rs"),
            ("src/./b/../a.rs", "src/a.rs"),
            ("src/../../../etc/passwd", "../../etc/passwd"),
            ("/src/../../etc/passwd", "/etc/passwd"),
            (r"src\a.rs", "src/a.rs"),
            (r"src\..\../a", "../a"),
            (r"C:\a\..\..\b", "C:/b"),
            ("src/", "src/"),
            ("a/..", "."),
            ("./", "."),
            ("/", "/"),
            ("..", ".."),
            ("...", "..."),
            ("", ""),
            ("src/%2e%2E/%2e%2e/a", "../a"),
            ("/etc%2fpasswd", "/etc/passwd"),
            (r"a%5C..%5Cb", "b"),
            ("%252E%25252e%5c%252Fa", "../a"),
            // No decoder makes a dot of the signs around another one.
            ("%2%2ee/a", "%2.e/a"),
            ("%2500/a", "%2500/a"),
            ("100%/a%20b", "100%/a%20b"),
            ("é%2fé", "é/é"),
        ] {
            assert_eq!(normal_path(path).as_deref().unwrap_or(path), normal, "{path}");
        }
    }

    proptest! {
        /// What is normal stays, and has no part that another spelling could leave out.
        #[test]
        fn a_normal_path_is_its_own_normal_path(path in r"[a./\\:%2e5fc]{0,12}") {
            let normal = normal_path(&path).unwrap_or(path);
            prop_assert_eq!(normal_path(&normal), None);
            let inner: Vec<&str> = normal.trim_matches('/').split('/').collect();
            prop_assert!(inner.len() == 1 || !inner.iter().any(|part| part.is_empty() || *part == "."), "{}", normal);
            let climbs = inner.iter().take_while(|part| **part == "..").count();
            prop_assert!(!inner.iter().skip(climbs).any(|part| *part == ".."), "{}", normal);
        }
    }
}
