//! Commands, paths and URLs that a run spells differently than a rule. A textual difference does not prove that they are different things
//! (`docs/reference/expressions.md`, "Other spellings").

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::value::glob::matches_wildcard;
use averment_runs::command::WantedCommand;
use averment_runs::path::{leaves_root, normal_path};

/// The reason why a test of two texts is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSpelling {
    /// The line runs the program with these flags, in another spelling.
    Command,
    /// Without `.`, `..` and doubled separators in the path, the test has another answer.
    Path,
    /// Both are the same path or URL.
    SamePath,
    /// The path leaves its folder with `..`, so its target is unknown.
    Climbing,
    /// The host continues after the text: `https://a.com` and `https://a.com.evil`.
    Host,
    /// A text with `*` was compared literally, although it looks like a pattern.
    Pattern,
}

impl OtherSpelling {
    /// Returns words to append to the tested text.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Command => "the line runs it in another spelling; `command \"…\"` finds every one",
            Self::Path => "the same path in its plain spelling has another answer",
            Self::SamePath => "it is the same path, written otherwise",
            Self::Climbing => "the path climbs out of its folder, so that it may lead anywhere",
            Self::Host => "the name of the host continues after it; end it with `/`",
            Self::Pattern => "`*` is no pattern here; write a regular expression",
        }
    }
}

/// A test of a text for another text, with its answer.
#[derive(Debug, Clone, Copy)]
pub struct TextTest<'t> {
    /// The text of the run.
    pub text: &'t str,
    /// The text that the rule looks for.
    pub wanted: &'t str,
    /// The literal answer of the test.
    pub answer: bool,
    /// True if the test requires equal texts.
    pub is_whole: bool,
}

/// Maximum length of commands, paths and URLs, in bytes.
const LONGEST: usize = 16 << 10;
/// Maximum length of patterns and of texts to match with them, in bytes.
const LONGEST_PATTERN: usize = 512;
/// Number of passes over a text to detect another spelling, for the cost.
const PASSES: usize = 8;

/// Every path or URL that is not in plain spelling contains one of these.
pub const SPELLING_SIGNS: [&str; 6] = ["//", "\\", "%2", "%5", "/.", "./"];

/// True if the searched text has other spellings, so that a text may contain it in another form.
#[must_use]
pub fn has_other_spellings(wanted: &str) -> bool {
    is_place(wanted) || is_flagged(wanted)
}

/// Returns texts of which every text that contains `wanted` in any spelling has at least one.
#[must_use]
pub fn needed_parts(wanted: &str) -> Vec<String> {
    let mut parts = vec![wanted.to_owned()];
    if is_place(wanted) {
        parts.extend(plain_spelling(wanted));
        parts.extend(SPELLING_SIGNS.map(str::to_owned));
    } else if wanted.contains(" -")
        && let Some(command) = WantedCommand::read(wanted)
    {
        parts.push(command.program().to_owned());
    }
    parts
}

/// Returns the cost of comparing two texts as commands, paths and patterns, in bytes; 0 if they are none.
#[must_use]
pub fn equality_cost(left: &str, right: &str) -> usize {
    let (both, product) = (left.len().saturating_add(right.len()), left.len().saturating_mul(right.len()));
    match EqualityForm::of_texts(left, right) {
        None => 0,
        Some(EqualityForm::Pattern) => product.saturating_add(both.saturating_mul(PASSES)),
        Some(EqualityForm::Spelling) => both.saturating_mul(PASSES),
    }
}

/// Returns how two different texts may still name the same thing.
#[must_use]
pub fn equality_spelling(left: &str, right: &str) -> Option<OtherSpelling> {
    EqualityForm::of_texts(left, right)?;
    // With a list of the run, the searched text is on the left, so both orders are tried.
    let test = |text, wanted| TextTest { text, wanted, answer: false, is_whole: true };
    let found = |test: TextTest<'_>| test.other_spelling(|text, wanted| text == wanted);
    found(test(left, right)).or_else(|| found(test(right, left)))
}

/// Possible relations of two different texts. Most texts are ids and words, which need no comparison.
#[derive(Clone, Copy)]
enum EqualityForm {
    Spelling,
    Pattern,
}

impl EqualityForm {
    fn of_texts(left: &str, right: &str) -> Option<Self> {
        let has = |sign: char| left.contains(sign) || right.contains(sign);
        let is_short = left.len().max(right.len()) <= LONGEST_PATTERN;
        match left.len().max(right.len()) {
            longer if longer > LONGEST => None,
            _ if is_short && has('*') => Some(Self::Pattern),
            _ if has('/') && (has_spelling_sign(left) || has_spelling_sign(right)) => Some(Self::Spelling),
            _ if left.contains(" -") && right.contains(" -") => Some(Self::Spelling),
            _ => None,
        }
    }
}

fn has_spelling_sign(text: &str) -> bool {
    SPELLING_SIGNS.iter().any(|sign| text.contains(sign))
}

/// True if a regular expression describes the start of a path or URL.
#[must_use]
pub fn asks_for_start(pattern: &str) -> bool {
    pattern.contains('^') && pattern.contains('/') && !pattern.contains("\\.\\.")
}

impl TextTest<'_> {
    /// Returns the cost of [`Self::other_spelling`], in bytes.
    #[must_use]
    pub fn spelling_cost(self) -> usize {
        let is_asked = self.text.len().max(self.wanted.len()) <= LONGEST;
        if is_asked { self.text.len().saturating_add(self.wanted.len()).saturating_mul(PASSES) } else { 0 }
    }

    /// Returns the other spelling that makes the answer no evidence. `holds` is the test.
    #[must_use]
    pub fn other_spelling(self, holds: impl Fn(&str, &str) -> bool) -> Option<OtherSpelling> {
        if self.text.len().max(self.wanted.len()) > LONGEST {
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
            () if self.is_whole && self.fits_as_pattern() => Some(OtherSpelling::Pattern),
            () if is_flagged(self.wanted) && self.runs_wanted() => Some(OtherSpelling::Command),
            () => None,
        }
    }

    fn fits_as_pattern(self) -> bool {
        self.text.len().max(self.wanted.len()) <= LONGEST_PATTERN
            && is_pattern(self.wanted)
            && matches_wildcard(self.wanted, self.text)
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
            return Some(if self.is_whole { OtherSpelling::SamePath } else { OtherSpelling::Path });
        }
        let climbs = !self.answer && is_path(self.text) && leaves_root(plain) && looked_for.starts_with('/');
        (climbs && (!self.is_whole || may_end_at(plain, looked_for))).then_some(OtherSpelling::Climbing)
    }

    /// Detects that the host name continues at every occurrence of the scheme and host in the text.
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

/// True if a climbing path may lead to an absolute path: after its `../` it has the same end.
fn may_end_at(climbing: &str, wanted: &str) -> bool {
    let end = climbing.trim_start_matches("../").trim_end_matches('/');
    end == ".." || wanted.trim_end_matches('/').strip_suffix(end).is_some_and(|front| front.ends_with('/'))
}

/// True for a full stop or colon that ends a sentence.
fn is_end_of_sentence(behind: &str) -> bool {
    behind.strip_prefix(['.', ':']).is_some_and(|next| next.chars().next().is_none_or(char::is_whitespace))
}

/// Returns the plain spelling of a path or URL; `None` if it is already plain, or neither of them.
#[must_use]
pub fn plain_spelling(text: &str) -> Option<String> {
    if text.len() > LONGEST || !has_spelling_sign(text) {
        return None;
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return if is_path(text) { normal_path(text) } else { None };
    };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    let host_end = memchr::memchr3(b'/', b'?', b'#', rest.as_bytes()).unwrap_or(rest.len());
    let (host, behind) = rest.split_at(host_end);
    // Fast path: most URLs are plain, so they are not rebuilt.
    let is_lower = |part: &str| !part.bytes().any(|byte| byte.is_ascii_uppercase());
    if !is_scheme || is_lower(scheme) && is_lower(host) && !has_spelling_sign(behind) || rest.contains(is_foreign) {
        return None;
    }
    let (path, query) = behind.split_at(behind.find(['?', '#']).unwrap_or(behind.len()));
    let path = normal_path(path).unwrap_or_else(|| path.to_owned());
    let plain = format!("{}://{}{path}{query}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    (plain != text).then_some(plain)
}

/// Returns keys such that two texts share a key if they name the same thing in two spellings.
#[must_use]
pub fn shared_spellings(text: &str) -> Vec<String> {
    let plain = plain_spelling(text);
    let path = plain.as_deref().unwrap_or(text);
    // A climbing path may have the same end as an absolute path.
    let is_loose = text.len() <= LONGEST && (path.starts_with('/') || leaves_root(path)) && is_path(text);
    let end = is_loose.then(|| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    let is_command = text.len() <= LONGEST && text.contains(" -");
    let command = if is_command { WantedCommand::read(text) } else { None };
    plain.into_iter().chain(end).chain(command.map(|command| command.sorted_words())).collect()
}

/// True if two texts are the same path in two spellings.
#[must_use]
pub fn is_same_path(left: &str, right: &str) -> bool {
    let may_be =
        |text: &str| !text.is_empty() && text.len() <= LONGEST && !text.contains("://") && !text.contains(is_foreign);
    let plain = |text: &str| plain_spelling(text).unwrap_or_else(|| text.to_owned()).trim_end_matches('/').to_owned();
    may_be(left) && may_be(right) && (is_path(left) || is_path(right)) && plain(left) == plain(right)
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\', '%']) && !text.contains("://") && !text.contains(is_foreign)
}

/// True for characters that occur in sentences, commands and JSON, but not in usual paths.
fn is_foreign(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '"' | '\'' | '`' | '{' | '}' | '<' | '>' | '|' | ';' | '$')
}

/// True for a path or URL that names something: `src/`, `/etc/passwd`, `https://a.com`. A rule that looks for `..` tests the spelling itself.
fn is_place(wanted: &str) -> bool {
    wanted.contains('/')
        && wanted.contains(char::is_alphanumeric)
        && !wanted.contains("..")
        && !wanted.contains(is_foreign)
}

/// True for a program with flags.
fn is_flagged(wanted: &str) -> bool {
    wanted.contains(" -") && WantedCommand::read(wanted).is_some()
}

/// True for a text with `*` that looks like a pattern for names or paths.
fn is_pattern(wanted: &str) -> bool {
    wanted.contains('*') && wanted.contains(char::is_alphanumeric) && !wanted.contains(is_foreign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        use OtherSpelling::{Climbing, Command, Host, Path, Pattern, SamePath};
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
            (whole("/etc//passwd", "/etc/passwd"), Some(SamePath)),
            (whole("../../etc/passwd", "/etc/passwd"), Some(Climbing)),
            (whole("../../passwd", "/etc/passwd"), Some(Climbing)),
            (whole("../../c/passwd", "/etc/passwd"), None),
            (whole("../..", "/etc/passwd"), Some(Climbing)),
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

    #[test]
    fn equality_asks_from_both_sides_and_only_of_what_may_be_spelled_otherwise() {
        use OtherSpelling::{Command, Pattern, SamePath};
        for (left, right, found) in [
            ("./a/../b", "b", None),
            ("./b", "b", Some(SamePath)),
            ("rm -rf x", "rm -f -r x", Some(Command)),
            ("a.rs", "*.rs", Some(Pattern)),
            ("src/a.rs", "src/b.rs", None),
            ("o-1", "o-2", None),
        ] {
            for (left, right) in [(left, right), (right, left)] {
                assert_eq!(equality_spelling(left, right), found, "{left} {right}");
                assert!(found.is_none() || equality_cost(left, right) > 0, "{left} {right}");
            }
        }
        for (left, right) in [("o-1", "o-2"), ("src/a.rs", "src/b.rs"), ("a b", "a -b"), ("https", "http")] {
            assert_eq!(equality_cost(left, right), 0, "{left} {right}");
        }
        let long = "*a".repeat(LONGEST);
        assert_eq!((equality_cost(&long, "a"), equality_spelling(&long, "a")), (0, None));
    }

    proptest! {
        /// A text without any of the needed parts contains the searched text in no spelling.
        #[test]
        fn every_other_spelling_has_one_of_the_needed_parts(
            text in r"(\.{1,2}|/|\\|%2[eEf]|%252e|%5c|a|B|b|https://|rm -fr|rm | -r| -f){0,7}",
            wanted in r"(a/|/b|b|/|\.|https://a|https://b/|rm -r|rm -fr|a -b|//b){1,3}",
        ) {
            let is_had = text.contains(&wanted) || part(&text, &wanted).is_some();
            let is_told = needed_parts(&wanted).iter().any(|needed| text.contains(needed.as_str()));
            prop_assert!(!is_had || is_told, "{} {}", text, wanted);
        }

        /// Comparing only texts with a shared key misses no pair.
        #[test]
        fn texts_of_one_spelling_share_it(left in SPELLED, right in SPELLED) {
            let shared = |text: &str| shared_spellings(text).into_iter().chain([text.to_owned()]).collect::<Vec<String>>();
            match equality_spelling(&left, &right) {
                None | Some(OtherSpelling::Pattern) => {}
                // A path that ends in `..` may end anywhere.
                Some(OtherSpelling::Climbing) if [&left, &right].iter().any(|text| shared(text).iter().any(|one| one.ends_with(".."))) => {}
                Some(found) => {
                    let (left, right) = (shared(&left), shared(&right));
                    prop_assert!(left.iter().any(|one| right.contains(one)), "{:?}: {:?} {:?}", found, left, right);
                }
            }
        }
    }

    const SPELLED: &str = r"(\./|\.\./|/|%2e|a|b/|a//|rm -r|rm | -f| -r| -rf){1,5}";

    /// Plain texts have no other plain spelling.
    #[test]
    fn plain_spellings_stay() {
        for text in ["src/a", "/etc/passwd", "https://a.com/x?y=../z", "a.txt", "../a", "a b/../c", ""] {
            assert_eq!(plain_spelling(text), None, "{text}");
        }
    }
}
