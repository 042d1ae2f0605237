//! Keeping the values of variables of the environment out of what a command wrote.
#![expect(clippy::disallowed_methods, reason = "the feature `world` is what looks at files, commands and variables")]

use std::borrow::Cow;

const WITHHELD: &str = "[from the environment]";

/// Shorter values, such as `true` or `xterm`, are not secrets.
const SHORTEST: usize = 6;

/// Replaces the longest values first, so that no part of one stays; the working folder is not hidden.
pub(super) fn withhold_values(text: &str, variables: impl Iterator<Item = (String, String)>) -> Cow<'_, str> {
    let known = ["PWD", "OLDPWD"];
    let mut values: Vec<String> = variables
        .filter(|(name, value)| value.trim().len() >= SHORTEST && !known.contains(&name.as_str()))
        .map(|(_, value)| value.trim().to_owned())
        .filter(|value| text.contains(value.as_str()))
        .collect();
    values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    values.iter().fold(Cow::Borrowed(text), |text, value| Cow::Owned(text.replace(value.as_str(), WITHHELD)))
}

pub(super) fn text_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let variables = [("A", "tangerine"), ("B", "tangerine dream"), ("CI", "true"), ("PWD", "/work/here")];
        withhold_values(text, variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter())
            .into_owned()
    }

    #[test]
    fn values_of_variables_are_taken_out_the_longest_first() {
        assert_eq!(clean("a tangerine, a tangerine dream"), "a [from the environment], a [from the environment]");
        assert_eq!(clean("it is true that nothing is in /work/here"), "it is true that nothing is in /work/here");
    }
}
