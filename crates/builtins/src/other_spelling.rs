//! Commands, paths and URLs that are written otherwise than a rule looks for: that their letters differ is no evidence that the thing does
//! (`docs/reference/expressions.md`, "Other spellings").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::value::glob::matches_wildcard;
use averment_runs::command::WantedCommand;
use averment_runs::path::{leaves_root, normal_path};

/// Why a test of two texts is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSpelling {
    /// The line runs the program with these flags, written otherwise.
    Command,
    /// Written without `.`, `..` and doubled separators, the path has another answer.
    Path,
    /// The path climbs out of its folder: where it leads is not known.
    Climbing,
    /// The host goes on behind the text: `https://a.com` and `https://a.com.evil`.
    Host,
    /// A pattern with `*` is compared as a text.
    Pattern,
}

impl OtherSpelling {
    /// In words, to append to what was tested.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Command => "the line runs it in another spelling; `command \"…\"` finds every one",
            Self::Path => "the same path in its plain spelling has another answer",
            Self::Climbing => "the path climbs out of its folder, so that it may lead anywhere",
            Self::Host => "the name of the host goes on behind it; end it with `/`",
            Self::Pattern => "`*` is no pattern here; write a regular expression",
        }
    }
}

/// A test of a text and what is looked for in it, with its answer.
#[derive(Debug, Clone, Copy)]
pub struct TextTest<'t> {
    /// The text of the run.
    pub text: &'t str,
    /// What is looked for.
    pub wanted: &'t str,
    /// What the test says of the letters.
    pub answer: bool,
    /// True if the texts have to be equal.
    pub is_whole: bool,
}

/// Longer texts are no command, path or URL.
const LONGEST: usize = 16 << 10;

/// Whether what is looked for has other spellings, so that a text without its letters may have it all the same.
#[must_use]
pub fn has_other_spellings(wanted: &str) -> bool {
    is_place(wanted) || is_flagged(wanted)
}

/// Whether a regular expression says how a path or a URL begins.
#[must_use]
pub fn asks_for_start(pattern: &str) -> bool {
    pattern.contains('^') && pattern.contains('/') && !pattern.contains("\\.\\.")
}

impl TextTest<'_> {
    /// How the text, or what is looked for, is spelled so that the answer is no evidence. `holds` is the test.
    #[must_use]
    pub fn other_spelling(self, holds: impl Fn(&str, &str) -> bool) -> Option<OtherSpelling> {
        if self.text.len() > LONGEST {
            return None;
        }
        if is_place(self.wanted) {
            let found = self.other_host().or_else(|| self.other_path(holds));
            if found.is_some() {
                return found;
            }
        }
        match () {
            () if self.answer => None,
            () if self.is_whole && is_pattern(self.wanted) && matches_wildcard(self.wanted, self.text) => {
                Some(OtherSpelling::Pattern)
            }
            () if is_flagged(self.wanted) && self.runs_wanted() => Some(OtherSpelling::Command),
            () => None,
        }
    }

    fn runs_wanted(self) -> bool {
        let Some(wanted) = WantedCommand::read(self.wanted).filter(|_| self.text != self.wanted) else { return false };
        if self.is_whole {
            return WantedCommand::read(self.text).is_some_and(|other| wanted.is_same(&other));
        }
        wanted.is_run_by_line(self.text)
    }

    fn other_path(self, holds: impl Fn(&str, &str) -> bool) -> Option<OtherSpelling> {
        let (text, wanted) = (plain_spelling(self.text), plain_spelling(self.wanted));
        let (plain, looked_for) = (text.as_deref().unwrap_or(self.text), wanted.as_deref().unwrap_or(self.wanted));
        if (text.is_some() || wanted.is_some()) && holds(plain, looked_for) != self.answer {
            return Some(OtherSpelling::Path);
        }
        let climbs = !self.answer && is_path(self.text) && leaves_root(plain) && looked_for.starts_with('/');
        climbs.then_some(OtherSpelling::Climbing)
    }

    /// Everywhere where the text has a scheme and a host, the name of the host goes on.
    fn other_host(self) -> Option<OtherSpelling> {
        let (_, host) = self.wanted.split_once("://").filter(|_| self.answer && !self.is_whole)?;
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', '*', ' ']);
        let goes_on = |(at, _): (usize, &str)| {
            let rest = self.text.get(at.saturating_add(self.wanted.len())..).unwrap_or_default();
            let port = rest.strip_prefix(':').map(|port| port.trim_start_matches(|digit: char| digit.is_ascii_digit()));
            let behind = port.filter(|_| !host.contains(':')).unwrap_or(rest);
            behind.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '.' | '-' | '_' | '@' | ':' | '%'))
                && !is_end_of_sentence(behind)
        };
        (is_host && self.text.match_indices(self.wanted).all(goes_on)).then_some(OtherSpelling::Host)
    }
}

/// A full stop that nothing follows.
fn is_end_of_sentence(behind: &str) -> bool {
    behind.strip_prefix(['.', ':']).is_some_and(|next| next.chars().next().is_none_or(char::is_whitespace))
}

/// The plain spelling of a path or a URL; `None` if it has that, or is neither.
#[must_use]
pub fn plain_spelling(text: &str) -> Option<String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return if is_path(text) { normal_path(text) } else { None };
    };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    if !is_scheme || rest.contains(is_foreign) {
        return None;
    }
    let (host, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, query) = behind.split_at(behind.find(['?', '#']).unwrap_or(behind.len()));
    let path = normal_path(path).unwrap_or_else(|| path.to_owned());
    let plain = format!("{}://{}{path}{query}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    (plain != text).then_some(plain)
}

/// Whether a text may be the path of a file.
fn is_path(text: &str) -> bool {
    text.contains(['/', '\\', '%']) && !text.contains("://") && !text.contains(is_foreign)
}

/// Signs that stand in no path that anybody writes, and in sentences, commands and JSON.
fn is_foreign(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '"' | '\'' | '`' | '{' | '}' | '<' | '>' | '|' | ';' | '$')
}

/// A path or a URL that names something: `src/`, `/etc/passwd`, `https://a.com`. A rule that looks for `..` asks for the spelling.
fn is_place(wanted: &str) -> bool {
    wanted.contains('/')
        && wanted.contains(char::is_alphanumeric)
        && !wanted.contains("..")
        && !wanted.contains(is_foreign)
}

/// A program with flags.
fn is_flagged(wanted: &str) -> bool {
    wanted.contains(" -") && WantedCommand::read(wanted).is_some()
}

/// A text with `*` that reads as a pattern of names or paths.
fn is_pattern(wanted: &str) -> bool {
    wanted.contains('*') && wanted.contains(char::is_alphanumeric) && !wanted.contains(is_foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, wanted: &str) -> Option<OtherSpelling> {
        let holds = |text: &str, wanted: &str| text.contains(wanted);
        TextTest { text, wanted, answer: holds(text, wanted), is_whole: false }.other_spelling(holds)
    }

    fn start(text: &str, wanted: &str) -> Option<OtherSpelling> {
        let holds = |text: &str, wanted: &str| text.starts_with(wanted);
        TextTest { text, wanted, answer: holds(text, wanted), is_whole: false }.other_spelling(holds)
    }

    fn whole(text: &str, wanted: &str) -> Option<OtherSpelling> {
        let holds = |text: &str, wanted: &str| text == wanted;
        TextTest { text, wanted, answer: holds(text, wanted), is_whole: true }.other_spelling(holds)
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_evidence() {
        use OtherSpelling::{Climbing, Command, Host, Path, Pattern};
        for (found, wanted) in [
            (part("rm -fr /", "rm -rf"), Some(Command)),
            (part("cd /srv && sudo rm -r -f .", "rm -rf"), Some(Command)),
            (part("rm -r x", "rm -rf"), None),
            (part("man rm", "rm -rf"), None),
            (whole("rm -f -r /", "rm -rf /"), Some(Command)),
            (whole("rm -rf /tmp", "rm -rf /"), None),
            (start("src/../../etc/passwd", "src/"), Some(Path)),
            (start("src/%2e%2E/%2e%2e/etc/passwd", "src/"), Some(Path)),
            (start("src/b/../a", "src/"), None),
            (start("./src/a", "src/"), Some(Path)),
            (start(r"src\a", "src/"), Some(Path)),
            (start("srcs/../x", "src/"), None),
            (start("../../etc/passwd", "/etc/"), Some(Climbing)),
            (start("../a", "src/"), None),
            (part("/etc/./passwd", "etc/passwd"), Some(Path)),
            (part("see /etc/./passwd and more", "etc/passwd"), None),
            (part("src/../a", "../"), None),
            (whole("/etc//passwd", "/etc/passwd"), Some(Path)),
            (whole("/etc/shadow", "/etc/passwd"), None),
            (start("https://a.com.evil/x", "https://a.com"), Some(Host)),
            (start("https://a.com@evil/x", "https://a.com"), Some(Host)),
            (start("https://a.com:80@evil/x", "https://a.com"), Some(Host)),
            (start("https://a.com:443/x", "https://a.com"), None),
            (start("https://a.com/x", "https://a.com"), None),
            (start("https://a.com", "https://a.com"), None),
            (start("https://b.com", "https://a.com"), None),
            (start("https://A.com/x", "https://a.com/"), Some(Path)),
            (start("https://a.com/v1/../admin", "https://a.com/v1/"), Some(Path)),
            (part("ask https://a.com. Or not", "https://a.com"), None),
            (whole("src/a.rs", "src/**"), Some(Pattern)),
            (whole("a", "*"), None),
            (whole("select a from b", "select * from b"), None),
        ] {
            assert_eq!(found, wanted);
        }
    }

    /// The plain spelling of a place is the only one of which it is said that nothing else could stand there.
    #[test]
    fn plain_spellings_stay() {
        for text in ["src/a", "/etc/passwd", "https://a.com/x?y=../z", "a.txt", "../a", "a b/../c", ""] {
            assert_eq!(plain_spelling(text), None, "{text}");
        }
    }
}
