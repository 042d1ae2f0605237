//! Properties of parsing any text: it terminates, does not panic, every span is inside of the file, and nothing before a mistake is lost.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_fixtures as fixtures;
use averment_syntax as syntax;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Returns good files to break: the corpus, and one with constructs that the corpus lacks.
fn good_files() -> Vec<String> {
    let paths = fixtures::rule_files(&fixtures::project("tests/conformance/language/good"));
    let files = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    std::iter::once(GOOD.to_owned()).chain(files).collect()
}

const GOOD: &str = r#"#!/usr/bin/env aver
use std.secrets (secrets)
param limit: number = 100
## What is large.
def is_large(a) = a > limit and not a == null
output.url matches /^https:\/\/[^/]+$/i  weight 2
output.d == """
  dedented ${limit | f({ a: "}" })}
  text
  """
rule approval "Refunds need an approval" {
  severity error
  before approve(id: $id) | ok_by_hand -> (refund where result.code == 0), charge within 3 calls
  each refund: args.amount <= 10 * limit and args.currency in ["EUR", "USD"]
    message "too much: ${args.amount}"
  when meta.region == "eu" {
    any of { require audit; never admin_*, "ns:drop" }
  }
}
flow plan -> (search -> (fetch)*)+ -> answer
suite "s" {
  runner codex { timeout 5m; env { K: "v" } }
  case find { prompt "x"; require skill "a" }
}
test "t" expect fail approval {
  calls: [{ tool: "refund", args: { id: "o-1", "user-id": 3 } }]
  output: "x"
}
"#;

/// Returns every `start: A, end: B` in the debug form of a tree, its trivia and its diagnostics, which is every span.
fn places(debug: &str) -> Vec<(usize, usize)> {
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    let after = |text: &str, label: &str| text.split_once(label).and_then(|(_, rest)| number(rest));
    debug.split("Span {").skip(1).filter_map(|span| Some((after(span, "start: ")?, after(span, "end: ")?))).collect()
}

fn holds_for(text: &str) {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (tree, trivia, diagnostics) = syntax::parse(&map, file, &Limits::default());
    for (start, end) in places(&format!("{tree:?} {trivia:?} {diagnostics:?}")) {
        assert!(start <= end && end <= text.len(), "{start}..{end} of {} in {text:?}", text.len());
        assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{start}..{end} in {text:?}");
    }
    let silent = tree.items.is_empty() && diagnostics.0.is_empty();
    let blank = text.lines().all(|line| {
        line.split('#').next().unwrap_or("").trim_matches(&[' ', '\t', '\r', ';', '\u{feff}'][..]).is_empty()
    });
    assert!(!silent || blank, "nothing was read and nothing said of {text:?}");
}

const FRAGMENTS: &[&str] = &[
    "require",
    "never",
    "before",
    "after",
    "each",
    "any",
    "of",
    "not",
    "if",
    "then",
    "else",
    "count",
    "no",
    "in",
    "x",
    "refund",
    "output.a",
    "calls",
    "where",
    "rule",
    "test",
    "expect",
    "fail",
    "case",
    "suite",
    "let",
    "def",
    "param",
    "use",
    "call",
    "when",
    "weight",
    "2",
    "1..3",
    "30sec",
    "$0.05",
    "$id",
    "\"text\"",
    "\"${",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "->",
    "=>",
    "==",
    "=",
    "|",
    "||",
    ",",
    ";",
    ":",
    ".",
    "..",
    "*",
    "/",
    "/x/",
    "/[",
    "'",
    "\"",
    "\"\"\"",
    "\\",
    "#",
    "## doc",
    "\n",
    "\n  ",
    "\r\n",
    "\t",
    "é",
    "“",
    "\u{a0}",
    "→",
    "and",
    "or",
    "is",
    "exists",
    "contains",
    "matches",
    "-",
    "%",
    "$",
    "`",
    "!",
    "&",
    "@",
    "\u{feff}",
    "\u{1f600}",
    "flow",
    "within",
    "until",
    "between",
    "message",
    "tags",
    "a-b",
    "true",
    "null",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,80}(\n\\PC{0,40}){0,4}") {
        holds_for(&text);
    }

    #[test]
    fn any_words_and_signs_are_read_without_panic(parts in prop::collection::vec((0..FRAGMENTS.len(), any::<bool>()), 0..60)) {
        let text: String = parts.iter().map(|&(at, space)| format!("{}{}", FRAGMENTS[at], if space { " " } else { "" })).collect();
        holds_for(&text);
    }

    #[test]
    fn any_change_of_a_good_file_is_read_without_panic(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, 0..FRAGMENTS.len()), 1..6),
    ) {
        let files = good_files();
        let mut text: Vec<char> = file.get(&files).chars().collect();
        for (place, kind, fragment) in changes {
            let at = place.index(text.len().max(1)).min(text.len());
            match kind {
                0 if at < text.len() => { text.remove(at); }
                1 => { text.splice(at..at, FRAGMENTS[fragment].chars()); }
                _ => { let end = (at + 5).min(text.len()); text.splice(at..end, FRAGMENTS[fragment].chars()); }
            }
        }
        holds_for(&text.into_iter().collect::<String>());
    }

    #[test]
    fn a_missing_line_loses_nothing_before_it(file in any::<prop::sample::Index>(), line in any::<prop::sample::Index>()) {
        let files = good_files();
        let text = file.get(&files);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let gone = line.index(lines.len());
        let cut: usize = lines[..gone].iter().map(|line| line.len()).sum();
        let rest: String = lines.iter().enumerate().filter(|&(at, _)| at != gone).map(|(_, line)| *line).collect();
        let items = |text: &str| {
            let mut map = SourceMap::default();
            let file = map.add_file(SourceFile::new("rules.assert", None, text));
            syntax::parse(&map, file, &Limits::default()).0.items
        };
        let after = items(&rest);
        for item in items(text).iter().filter(|item| item.span.end as usize <= cut) {
            let kept = after.iter().any(|other| other.span.start == item.span.start);
            prop_assert!(kept, "line {} of {text}\n{rest}\nlost {item:?}", gone + 1);
        }
    }
}

/// Texts that are each long in one way.
const LONG: &[&str] = &[
    "a ",
    "(",
    "\"",
    "'",
    "/[",
    "/",
    "{",
    "}",
    ")",
    "a.b.",
    "1+",
    "-",
    "$",
    "\n",
    "a ==\n",
    "a and\n",
    "x in [1\n",
    "rule a {\n",
    "\"\"\"",
    "\"${",
    "é",
    "a, ",
    "require a -> ",
    "x in [1, ",
    "a | ",
    "nevr a\n",
    "f(",
    "a[",
    "if a ",
    "any x in ",
    "not ",
    "{ a: ",
    "weight 2 ",
    "require (a where ",
    "x == 1 or ",
    "each a {",
    "(a]\n",
    "f(a\n",
    "any of {",
    "\u{feff}",
    "[1],",
];

#[test]
fn work_grows_with_the_length_of_a_text_and_not_faster() {
    let reading_time = |form: &str, length: usize| {
        let text = form.repeat(length / form.len());
        let start = Instant::now();
        holds_for(&text);
        start.elapsed()
    };
    for form in LONG {
        let (short, long) = (reading_time(form, 14_000), reading_time(form, 42_000));
        // A text three times as long should take three times the time; with quadratic work it takes nine times. The ratio does not depend on the
        // speed of the machine, but very short times cannot be compared.
        assert!(long < Duration::from_millis(800) || long < short * 6, "{form:?}: {short:?} for a third of {long:?}");
    }
}

#[test]
fn ten_megabytes_on_one_line_and_binary_files_are_refused_in_words() {
    for text in ["((".repeat(5 << 20), "a b ".repeat(10 << 18), "[1, 2], ".repeat(10 << 17), "x\0y".to_owned()] {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new("rules.assert", None, text.as_str()));
        let (tree, _, diagnostics) = syntax::parse(&map, file, &Limits::default());
        let slugs: Vec<&str> = diagnostics.0.iter().map(|diagnostic| diagnostic.slug.as_str()).collect();
        assert!(matches!(slugs.as_slice(), ["too-large" | "not-text"]), "{slugs:?}");
        assert!(tree.items.is_empty());
    }
}

/// A brace that is inserted to parse a body is not part of the file.
#[test]
fn a_file_that_ends_with_an_open_brace_has_no_place_behind_its_end() {
    for text in ["rule a {", "output == 1\nrule a {", "x == [ \"${a\nrule b {", "rule a { any of {"] {
        holds_for(text);
    }
    let found = "def[ ==callsweight\"${truebetween\" == notest )then ;refund \"\" require30sec==flow\nrule calluse {";
    holds_for(found);
}
