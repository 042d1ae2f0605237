//! Matches of backtracking patterns, and their costs.

use super::skeleton::{PatternExtension, PatternSkeleton, build_skeleton};
use super::{BacktrackRegex, PatternProblem, is_beyond_linear};
use averment_base::limits::{FuelMeter, LimitError, Limits};
use proptest::prelude::*;
use std::time::Duration;

fn find(pattern: &str, text: &str) -> Result<Option<usize>, LimitError> {
    let pattern = BacktrackRegex::new(pattern).unwrap_or_else(|mistake| panic!("{pattern}: {mistake}"));
    pattern.find(7, text, &mut FuelMeter::new(&Limits::default()))
}

#[test]
fn look_around_references_and_groups_that_keep() {
    for (pattern, text, found) in [
        (r"(?<!\w)rm(?=\s)", "farm a; rm b", Some(8)),
        (r"(?<!\w)rm(?=\s)", "farm rmdir", None),
        (r"(?<=a|bcd)x", "bcdx", Some(3)),
        (r"(?<=a.*)x", "bx a--x", Some(6)),
        (r"(?<=(\w)\1)x", "abbx", None),
        (r"(?<=\1(\w))x", "abbx", Some(3)),
        (r"(?<!^)a", "aa", Some(1)),
        (r"^(?!.*secret).+$", "no such thing", Some(0)),
        (r"^(?!.*secret).+$", "a secret", None),
        (r"(a|b)\1", "abba", Some(1)),
        (r"(?P<q>['\x22]).*?(?P=q)x", r#"'a" "b"x"#, Some(2)),
        (r"(?<q>.)\k<q>", "abccd", Some(2)),
        (r"(?i)(straße)-\1", "Straße-STRAßE", Some(0)),
        (r"(a)(?-i)\1", "aA", None),
        (r"(?>a+)ab", "aaab", None),
        (r"a+ab", "aaab", Some(0)),
        (r"a++b", "xaab", Some(1)),
        (r"a{1,3}+ab", "aaab", None),
        (r"(?>(a)|b)+\1", "abb", None),
        (r"(?>(a)|b)+\1", "abaa", Some(0)),
        (r"^(\()?a(?(1)\))$", "(a)", Some(0)),
        (r"^(\()?a(?(1)\))$", "(a", None),
        (r"^(?P<p>\()?a(?(p)\)|-)$", "a-", Some(0)),
        (r"(?:(a)|b)*\1c", "aabac", Some(0)),
        (r"(?:(a?))*\1b", "b", Some(0)),
        (r"(?:(a)|(b))\2", "aa", None),
        (r"(?!(a))\1", "ba", None),
        (r"(?:a|(?=b))*b", "aab", Some(0)),
        (r"(?:a*)*$", "aab", Some(3)),
        (
            r"(?x) a # (?=
            b",
            "ab",
            Some(0),
        ),
        (r"\bé", "aé", Some(0).map(|_| 1).filter(|_| false)),
        (r"(?-u:\b)é(?!x)", "aéy", Some(1)),
        (r".(?<=é)", "aé", Some(1)),
        (r"[^\W\d](?!\w)", "1a", Some(1)),
        (r"(?s:.*)(?<=b)c", "a\nbc", Some(0)),
        (r".*(?<=b)c", "a\nbc", Some(2)),
    ] {
        assert_eq!(find(pattern, text), Ok(found), "{pattern} in {text:?}");
    }
}

#[test]
fn all_matches_are_split_and_replaced() {
    let limits = Limits::default();
    let mut meter = FuelMeter::new(&limits);
    for (pattern, text, parts) in [
        (r",(?=\s)", "a, b,c, d", vec!["a", " b,c", " d"]),
        ("(?=b)", "abab", vec!["a", "ba", "b"]),
        ("(?<=é)", "aéb", vec!["aé", "b"]),
        ("x(?!y)", "xy", vec!["xy"]),
        (r"(?=)", "ab", vec!["", "a", "b", ""]),
        (r"b*(?=)", "abc", vec!["", "a", "c", ""]),
    ] {
        let pattern = BacktrackRegex::new(pattern).unwrap();
        assert_eq!(pattern.split(0, text, &mut meter).unwrap(), parts);
    }
    for (pattern, text, to, replaced) in [
        (r"(\w)\1", "aabccd", "<$1$0>", "<aaa>b<ccc>d"),
        (r"(?<n>a)(?!b)", "abaa", "${n}-", "aba-a-"),
        ("(?<=a)", "aa", "+", "a+a+"),
    ] {
        let pattern = BacktrackRegex::new(pattern).unwrap();
        assert_eq!(pattern.replace(0, text, to, &mut meter).unwrap(), replaced);
    }
    let hostile = BacktrackRegex::new("(a+)+$(?<!a)").unwrap();
    assert_eq!(hostile.split(3, &"a".repeat(100), &mut meter), Err(LimitError::Backtracking(3)));
    let tight = Limits { computed_bytes: 1_000, ..limits };
    let long = BacktrackRegex::new("(?=(.*))").unwrap();
    assert_eq!(long.replace(0, &"a".repeat(500), "$1$1$1", &mut FuelMeter::new(&tight)), Err(LimitError::Memory));
}

#[test]
fn what_cannot_be_used_is_told_with_its_place() {
    let mistake = |pattern: &str| {
        let mistake = BacktrackRegex::new(pattern).unwrap_err();
        let problem = match mistake.problem {
            PatternProblem::Syntax(_) => "syntax",
            PatternProblem::Meaning(_) => "meaning",
            PatternProblem::NoGroup(_) => "group",
            PatternProblem::OpenGroup => "open",
            PatternProblem::ManyBranches => "branches",
            PatternProblem::RepeatedTwice => "twice",
            PatternProblem::TooLarge => "large",
            PatternProblem::Unreadable => "unreadable",
        };
        (problem, mistake.range)
    };
    for (pattern, problem, range) in [
        ("(?=a", "syntax", 0..1),
        (r"a\1", "group", 1..3),
        (r"(?<n>a)\k<m>", "group", 7..12),
        ("(?(2)a)(b)", "group", 0..7),
        (r"(a\1)", "open", 2..4),
        ("(a)(?(1)b|c|d)", "branches", 3..14),
        ("a+*", "twice", 2..3),
        ("a*?+", "twice", 3..4),
        ("a+++", "twice", 3..4),
        (r"(?=\p{Nothing})", "meaning", 3..14),
        (r"(?P>a)", "syntax", 2..3),
        (r"\K", "syntax", 0..2),
        (r"(?:(?:a{1000}){1000}){1000}", "large", 0..27),
    ] {
        assert_eq!(mistake(pattern), (problem, range), "{pattern}");
    }
}

#[test]
fn what_linear_matching_says_as_well_is_known() {
    for (pattern, is) in
        [("a+b", false), ("(?=a)", true), (r"(a)\1", true), ("a++", true), ("(?>a)", true), ("[(?=]", false)]
    {
        assert_eq!(is_beyond_linear(pattern, false).unwrap(), is, "{pattern}");
    }
}

#[test]
fn what_takes_too_long_ends_soon_without_an_answer() {
    let hostile = "a".repeat(5_000);
    let wide = "ab ".repeat(10_000);
    for (pattern, text) in [
        ("(a+)+$(?<!a)", hostile.as_str()),
        ("(?:a|a)*(?=b)", hostile.as_str()),
        ("(?:a|aa)+(?!a)b", hostile.as_str()),
        (r"(a*)*\1b", hostile.as_str()),
        (r"^(?:(?=(a+))a)*b", hostile.as_str()),
        (r"(?:a?){500}(?=b)", hostile.as_str()),
        (r"(?s)(?=.*x).", wide.as_str()),
        (r"(?s:(.)(?=.*\1x))+", wide.as_str()),
    ] {
        let start = crate::clock::now();
        assert_eq!(find(pattern, text), Err(LimitError::Backtracking(7)), "{pattern}");
        let worked = crate::clock::now() - start;
        // Unoptimized builds are much slower.
        assert!(worked < Duration::from_secs(10), "{pattern}: {worked:?}");
    }
}

#[test]
fn what_is_long_and_harmless_is_searched_to_its_end() {
    let wide = "ab farm\n".repeat(500_000);
    for pattern in [r"(?<!\w)rm(?=\s)", r"^(?!.*secret)x", r"(?m)^.*rm(?<!farm)$", r"\brm(?=\s)", r"(\d)\1"] {
        assert_eq!(find(pattern, &wide), Ok(None), "{pattern}");
    }
}

#[test]
fn steps_are_paid_for() {
    let limits = Limits { fuel: 10_000, ..Limits::default() };
    let pattern = BacktrackRegex::new("(a+)+$(?<!a)").unwrap();
    assert_eq!(pattern.find(0, &"a".repeat(40), &mut FuelMeter::new(&limits)), Err(LimitError::Fuel));
    let mut meter = FuelMeter::new(&limits);
    assert_eq!(pattern.find(0, "aab", &mut meter), Ok(None));
    assert!(meter.fuel_used() > 20, "{}", meter.fuel_used());
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a"),
        Just("b"),
        Just("é"),
        Just("."),
        Just("[ab]"),
        Just("[^a]"),
        Just(r"\w"),
        Just(r"\d"),
        Just(r"\s"),
        Just(r"\b"),
        Just(r"\B"),
        Just("^"),
        Just("$"),
        Just(r"\z"),
        Just("(?i)"),
        Just("(?-u:\\b)"),
        Just("(?m)"),
        Just("(?s)"),
        Just(""),
        Just(r"\b{start}"),
        Just(r"\b{end-half}"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let repeat = prop_oneof![
            Just("*"),
            Just("+"),
            Just("?"),
            Just("*?"),
            Just("+?"),
            Just("??"),
            Just("{2}"),
            Just("{1,3}"),
            Just("{2,}")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            inner.clone().prop_map(|inner| format!("({inner})")),
            inner.clone().prop_map(|inner| format!("(?i:{inner})")),
            (inner, repeat).prop_map(|(inner, repeat)| format!("(?:{inner}){repeat}")),
        ]
    })
}

/// True if an iteration of some loop may match nothing.
fn has_empty_turns(hir: &regex_syntax::hir::Hir) -> bool {
    use regex_syntax::hir::HirKind;
    match hir.kind() {
        HirKind::Repetition(turns) => turns.sub.properties().minimum_len() == Some(0) || has_empty_turns(&turns.sub),
        HirKind::Capture(inside) => has_empty_turns(&inside.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_empty_turns),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// For patterns that linear matching supports, both find the same position.
    #[test]
    fn both_ways_find_the_same(pattern in pattern(), text in "[abBé1 \n]{0,12}") {
        let linear = regex::Regex::new(&pattern).unwrap();
        let expected = linear.find(&text).map(|found| found.start());
        match find(&pattern, &text) {
            Ok(found) => prop_assert_eq!(found, expected, "{} in {:?}", pattern, text),
            Err(LimitError::Backtracking(_)) => {}
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }

    /// All matches agree, too, unless an iteration of a loop may be empty. That ends the loop, as in every backtracking engine.
    #[test]
    fn both_ways_split_the_same(pattern in pattern(), text in "[abBé1 \n]{0,12}") {
        prop_assume!(!has_empty_turns(&regex_syntax::parse(&pattern).unwrap()));
        let linear = regex::Regex::new(&pattern).unwrap();
        let expected: Vec<&str> = linear.split(&text).collect();
        let ours = BacktrackRegex::new(&pattern).unwrap();
        if let Ok(parts) = ours.split(0, &text, &mut FuelMeter::new(&Limits::default())) {
            prop_assert_eq!(parts, expected, "{} in {:?}", pattern, text);
        }
    }

    /// Any pattern is either accepted or refused, and a search ends.
    #[test]
    fn nothing_that_is_written_breaks_it(pattern in r"([ab.*+?|^$]|\(|\)|\[|\]|\(\?|[=!<>:]|\\[1bkdw]|\{[0-9],?\}|<a>|#|x){0,14}", text in "[ab \n]{0,8}") {
        if let Ok(pattern) = BacktrackRegex::new(&pattern) {
            let _ = pattern.find(0, &text, &mut FuelMeter::new(&Limits::default()));
        }
    }
}

fn covered(pattern: &str) -> (String, Vec<PatternExtension>) {
    let PatternSkeleton { text, extensions } = build_skeleton(pattern, false);
    assert_eq!(text.len(), pattern.len(), "{pattern}");
    (text, extensions.into_values().collect())
}

#[test]
fn every_sign_is_covered_by_as_many_bytes() {
    for (pattern, text) in [
        ("a(?=b)(?!c)", "a(?:b)(?:c)"),
        ("(?<=b)(?<!c)(?<d>e)", "(?s:b)(?s:c)(?<d>e)"),
        (r"(a)\1\12", r"(a)\t[a]"),
        (r"(?P<x>a)(?P=x)\k<x>", "(?P<x>a)[aaaa][aaa]"),
        ("(?>a)(?(1)b|c)", r"(?:a)(?:\tb|c)"),
        ("(?(<é>)b)", "(?:[aaa]b)"),
    ] {
        assert_eq!(covered(pattern).0, text, "{pattern}");
    }
}

#[test]
fn sets_escapes_and_comments_hold_no_signs() {
    for pattern in [
        r"[(?=]",
        r"[]\](?=]",
        r"[^](?!]",
        r"[a[(?=]&&(?!]",
        r"\(?=a",
        r"\\x",
        r"(?x) # (?=",
        r"(?x:[#(?=
        ]a)",
    ] {
        assert_eq!(covered(pattern), (pattern.to_owned(), Vec::new()), "{pattern}");
    }
    assert_eq!(build_skeleton("# (?=", true).extensions.len(), 0);
    assert_eq!(covered("(?x: # (?=\n)#(?=a)").1, [PatternExtension::Ahead { negated: false }]);
}
