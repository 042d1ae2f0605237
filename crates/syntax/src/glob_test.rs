//! Expresses a glob as a simple test on a text.

/// Returns a test on a path that is equivalent to a glob: `starts with "src/"` for `src/**`. Returns `None` for a text that is not a glob, or for a
/// more complex glob.
///
/// ```
/// use averment_syntax::glob_test::test_of_glob;
/// assert_eq!(test_of_glob("src/**").as_deref(), Some("starts with \"src/\""));
/// assert_eq!(test_of_glob("*.md").as_deref(), Some("ends with \".md\""));
/// assert_eq!(test_of_glob("src/*/a.rs"), None);
/// ```
#[must_use]
pub fn test_of_glob(glob: &str) -> Option<String> {
    let is_plain = |part: &str| !part.is_empty() && !part.contains(['*', '?', '[', '{', '"', '\\', '$']);
    let folder = glob.strip_suffix("/**/*").or_else(|| glob.strip_suffix("/**"));
    let end = glob.strip_prefix("**/*").or_else(|| glob.strip_prefix('*'));
    match (folder, end) {
        (Some(folder), _) if is_plain(folder) => Some(format!("starts with \"{folder}/\"")),
        (_, Some(end)) if is_plain(end) && !end.starts_with('/') => Some(format!("ends with \"{end}\"")),
        _ => None,
    }
}

/// Returns a text as the pattern of a regular expression. A text with a star is a glob, which has to match the whole path.
///
/// ```
/// use averment_syntax::glob_test::pattern_of_text;
/// assert_eq!(pattern_of_text("a.b"), r"a\.b");
/// assert_eq!(pattern_of_text("src/*.rs"), r"^src\/[^\/]*\.rs$");
/// ```
#[must_use]
pub fn pattern_of_text(text: &str) -> String {
    let escape = |part: &str| regex_syntax::escape(part).replace('/', r"\/");
    if !text.contains('*') {
        return escape(text);
    }
    let within = |part: &str| part.split('*').map(escape).collect::<Vec<_>>().join(r"[^\/]*");
    let parts: Vec<String> = text.split("**").map(within).collect();
    format!("^{}$", parts.join(".*"))
}
