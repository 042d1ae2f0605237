//! Tests each difference between a flavor and the rule language: compiles the translated literal and searches with it.

use super::{
    HalvesSeen, PyRegexFlags, TranslatedRegex, UnusableRegex, translate_javascript, translate_python, translate_rust,
};
use averment::{Rules, Verdict};

/// Returns true if a rule finds the literal in a text.
fn found(literal: &TranslatedRegex, text: &str) -> bool {
    let rule = format!("output matches {}", literal.text);
    let rules = Rules::from_text("a.assert", &rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let run = serde_json::json!({"output": text, "calls": []}).to_string();
    let outcome = rules.check_one(run.as_str()).unwrap();
    let verdicts: Vec<Verdict> = outcome.findings().map(|finding| finding.verdict()).collect();
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Fail), "{rule} on {text:?}: {verdicts:?}");
    outcome.passed()
}

fn check(
    literal: Result<TranslatedRegex, UnusableRegex>,
    what: &str,
    backtracks: bool,
    finds: &[&str],
    finds_not: &[&str],
) {
    let literal = literal.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert_eq!(literal.backtracks, backtracks, "{what} as {}", literal.text);
    assert_eq!(literal.text.rsplit('/').next().unwrap().contains('b'), backtracks, "{}", literal.text);
    for text in finds {
        assert!(found(&literal, text), "{what} as {} finds itself in {text:?}", literal.text);
    }
    for text in finds_not {
        assert!(!found(&literal, text), "{what} as {} does not find itself in {text:?}", literal.text);
    }
}

type Row = (&'static str, bool, &'static [&'static str], &'static [&'static str]);

#[test]
fn python_means_what_re_means() {
    let rows: &[Row] = &[
        // Ends of texts and lines.
        (r"end$", false, &["end", "the end\n"], &["end\n\n", "end.", "end\r\n"]),
        (r"(?:a$|b)", false, &["a\n", "b.."], &["a."]),
        (r"a$\n", true, &["a\n"], &["a", "a\n\n"]),
        (r"(?=a$)a", true, &["a\n"], &["ab"]),
        (r"end\Z", false, &["end"], &["end\n"]),
        (r"\Aa", false, &["ab"], &["b\na"]),
        (r"(?m)^b$", false, &["a\nb\nc"], &["a\nbc"]),
        (r"(?m:^b$)", false, &["a\nb\nc"], &["a\nbc"]),
        // Unicode and ASCII classes.
        (r"^\w$", false, &["é", "_", "²", "中"], &["\u{301}", "-"]),
        (r"^\W$", false, &["\u{301}", "-"], &["é"]),
        (r"^[\w-]+$", false, &["é-²"], &["\u{301}"]),
        (r"^\s$", false, &["\x1c", "\u{85}", "\u{3000}", " "], &["a", "\u{200b}", "\u{feff}"]),
        (r"^\S$", false, &["a"], &["\x1f"]),
        (r"^[^\S ]$", false, &["\x1c", "\t"], &[" ", "a"]),
        (r"^\d$", false, &["٣", "3"], &["²"]),
        (r"\bé", false, &["é"], &["aé"]),
        (r"(?a)^\w$", false, &["e"], &["é"]),
        (r"(?a)\bé", false, &["aé"], &["é"]),
        (r"^(?a:\w)\w$", false, &["eé"], &["éé"]),
        (r"(?a)^(?u:\w\d)\w$", false, &["é٣e"], &["é٣é"]),
        (r"(?a:\b)é\b", false, &["aé"], &["é", "aéb"]),
        (r"^(?a:\s\S\D[^\d])$", false, &[" \u{3000}٣٣"], &["\u{3000}aaa"]),
        // Groups, flags and comments.
        (r"(?i)STRASSE", false, &["strasse"], &["straße"]),
        (r"(?i)(?s)A.b", false, &["a\nB"], &["ab"]),
        (r"a(?i:B)c", false, &["abc", "aBc"], &["Abc", "abC"]),
        (r"(?i)a(?-i:b)", false, &["Ab"], &["aB"]),
        (
            r"(?x) a b # c
            [ ]\ d",
            false,
            &["ab  d"],
            &["a b"],
        ),
        (r"(?x:a b) c", false, &["ab c"], &["a b c", "abc"]),
        (r"a(?#any ( at all)b", false, &["ab"], &["a"]),
        (r"a(?#twice)*b", false, &["b", "aab"], &["a"]),
        (r"(?P<year>\d{4})-(?P=year)", true, &["2024-2024"], &["2024-2025"]),
        (r"(a)(b)\2\1", true, &["abba"], &["abab"]),
        (r"(.)\1", true, &["aa"], &["ab"]),
        (r"(?i)(a)\1", true, &["aA"], &["ab"]),
        (r"(a)\1[0]", true, &["aa0"], &["aa1"]),
        (r"(a)\1(?:)0", true, &["aa0"], &["aa"]),
        (r"(a)?(?(1)b|c)", true, &["ab", "c"], &["d"]),
        (r"^(?P<q>')?a(?(q)')$", true, &["'a'", "a", "a\n"], &["'a", "a'"]),
        (r"^(<)?a(?(1)>)$", true, &["<a>"], &["<a"]),
        (r"(?<!\w)rm(?=\s)", true, &["; rm x"], &["farm x"]),
        (r"(?<=ab|cd)e", true, &["cde"], &["ce"]),
        (r"(?>a+)ab", true, &[], &["aaab"]),
        (r"a++b", true, &["aab"], &["a"]),
        (r#""[^"]*+""#, true, &[r#""a""#], &[r#""a"#]),
        // Braces that are repetitions, and literal braces.
        (r"^a{,2}$", false, &["", "aa"], &["aaa"]),
        (r"^a{,}$", false, &["", "aaa"], &["b"]),
        (r"^a{2}{$", false, &["aa{"], &["aa"]),
        (r"a{}", false, &["a{}"], &["a"]),
        (r"a{1,b}", false, &["a{1,b}"], &["a"]),
        (r"{}", false, &["{}"], &["x"]),
        (r"^a{1,2}?$", false, &["aa"], &["aaa"]),
        // Escapes.
        (r"\x41\u00e9\U0001F600", false, &["Aé😀"], &["A"]),
        (r"^\0\07\101\a\f\v$", false, &["\0\x07A\x07\x0c\x0b"], &["0"]),
        (r"[\b\101\0\18]", false, &["\x08", "A", "\0", "\x01", "8"], &["b"]),
        (r"^\-\ \/\é\<$", false, &["- /é<"], &["a"]),
        (r"a/b", false, &["a/b"], &["ab"]),
        ("a\nb\tc", false, &["a\nb\tc"], &["ab"]),
        // Sets.
        (r"^[]a]$", false, &["]", "a"], &["b"]),
        (r"^[^]a]$", false, &["b"], &["]", "a"]),
        (r"^[[a&&b~]$", false, &["[", "&", "~", "a"], &["]", "c"]),
        (r"^[a-]$", false, &["-", "a"], &["b"]),
        (r"^[+--]$", false, &[",", "-"], &["*", "."]),
        (r"^[\w\s.]$", false, &["é", ".", "\x1d"], &["-"]),
        ("", false, &["", "a"], &[]),
        (" a", false, &[" a"], &["a"]),
        (r"a||b", false, &[""], &[]),
        (r"^(?:a|)$", false, &["", "a"], &["b"]),
    ];
    for (pattern, backtracks, finds, finds_not) in rows {
        check(translate_python(pattern, PyRegexFlags::default()), pattern, *backtracks, finds, finds_not);
    }
    let with = |flags: PyRegexFlags, pattern: &str, finds: &[&str], finds_not: &[&str]| {
        check(translate_python(pattern, flags), pattern, false, finds, finds_not);
    };
    with(PyRegexFlags { ignore_case: true, ..PyRegexFlags::default() }, "abc", &["ABC"], &["ab"]);
    with(PyRegexFlags { multi_line: true, ..PyRegexFlags::default() }, "^b$", &["a\nb\n"], &["ab"]);
    with(PyRegexFlags { dot_all: true, ..PyRegexFlags::default() }, "a.b", &["a\nb"], &["ab"]);
    with(PyRegexFlags { verbose: true, ..PyRegexFlags::default() }, " a b #c", &["ab"], &["a"]);
    with(PyRegexFlags { ascii: true, ..PyRegexFlags::default() }, r"^\w\s$", &["a "], &["é "]);
}

#[test]
fn what_python_refuses_is_refused_at_its_place() {
    for (pattern, at) in [
        ("a(b", 1),
        ("a)b", 1),
        ("a[b", 1),
        ("*a", 0),
        ("a**", 2),
        ("a+*", 2),
        ("a*??", 3),
        ("^*", 1),
        (r"\b+", 2),
        ("$?", 1),
        ("(*a)", 1),
        (r"\q", 0),
        (r"a\_\Y", 3),
        ("a\\", 1),
        (r"\x4", 0),
        (r"\u12", 0),
        (r"\U00110000", 0),
        (r"\ud800", 0),
        (r"\N{DASH}", 0),
        (r"\400", 0),
        (r"\1", 0),
        (r"(a\1)", 2),
        (r"\2(a)", 0),
        ("(?P<1>a)", 4),
        ("(?P<a>b)(?P<a>c)", 8),
        ("(?P=a)", 0),
        ("(?Pa)", 0),
        ("(?<n>a)", 0),
        ("a(?i)", 1),
        ("(?i-)", 0),
        ("(?i-i:a)", 2),
        ("(?-a:b)", 2),
        ("(?L)a", 0),
        ("(?au)a", 0),
        ("(?q:a)", 2),
        ("(?", 0),
        ("(?#", 0),
        ("(a)(?(2)b)", 6),
        ("(?(0)a)", 3),
        ("(?(n)a)", 0),
        ("(a)(?(1)b|c|d)", 3),
        ("a{2,1}", 1),
        ("[z-a]", 1),
        (r"[\w-z]", 1),
        (r"[a-\d]", 1),
        (r"[\Z]", 1),
        (r"[\400]", 1),
        ("(?<=a*)b", 0),
        ("(?<!a|bc)d", 0),
        (r"(?<=(a|bc))d", 0),
        ("(?>a", 0),
        (r"a{9999999999}", 1),
    ] {
        assert_eq!(translate_python(pattern, PyRegexFlags::default()).map_err(|error| error.at), Err(at), "{pattern}");
    }
    let deep = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(
        translate_python(&deep, PyRegexFlags::default()).is_err()
            && translate_javascript(&deep, "").is_err()
            && translate_rust(&deep).is_err()
    );
}

#[test]
fn javascript_means_what_regexp_means() {
    let rows: &[(&str, Row)] = &[
        ("", (r"^\w\d\b", false, &["a1 ", "_0é"], &["é1", "a٣", "a1b"])),
        ("", (r"^\s$", false, &[" ", "\u{feff}", "\u{a0}", "\u{3000}", "\u{2028}"], &["\x1c", "\u{85}", "a"])),
        ("", (r"^\S[^\S]$", false, &["\u{85}\u{feff}"], &["\u{a0} "])),
        ("", (r"^a.b$", false, &["a b", "a\u{85}b"], &["a\nb", "a\rb", "a\u{2028}b"])),
        ("s", (r"^a.b$", false, &["a\nb", "a\u{2028}b"], &["ab"])),
        ("", (r"line$", false, &["line"], &["line\n"])),
        ("m", (r"line$", false, &["line", "line\nx", "line\r\nx", "line\u{2028}x"], &["lines"])),
        ("m", (r"^install$", false, &["install", "a\ninstall\nb", "a\rinstall"], &["reinstall"])),
        ("m", (r"a^b", true, &[], &["a\nb", "ab"])),
        ("m", (r"a\s^b", true, &["a\nb", "a\u{2029}b"], &["a b"])),
        ("m", (r"a$\s", true, &["a\r\n"], &["a "])),
        ("m", (r"(?:^a|b$)", false, &["x\na", "b\rx"], &["xa bx"])),
        ("m", (r"(?:^a)+", true, &["x\na"], &["xa"])),
        ("i", (r"PNPM", false, &["pnpm"], &["npm"])),
        ("g", ("test", false, &["a test"], &["tst"])),
        ("gy", ("^pnpm", false, &["pnpm i"], &["a pnpm"])),
        ("", (r"find-skills\/SKILL\.md$", false, &["x/find-skills/SKILL.md"], &["find-skills/SKILL_md"])),
        ("", (r"a/b", false, &["a/b"], &["ab"])),
        ("", (r"^[^]$", false, &["\n", "a"], &["", "ab"])),
        ("", (r"[]", false, &[], &["", "a"])),
        ("", (r"a|[]", false, &["a"], &["b"])),
        ("", (r"^[\]a^[&&]$", false, &["]", "a", "^", "[", "&"], &["b"])),
        ("", (r"^[a\-z][+--][\w-.]$", false, &["-,-", "z-a", "a+."], &["b,-"])),
        ("", (r"^[\b\cJ\0]$", false, &["\x08", "\n", "\0"], &["b"])),
        ("", (r"^\cJ\ca\c1$", false, &["\n\x01\\c1"], &["c"])),
        ("", (r"^\x41\u0041\u{3}\x4\uD83D\uDE00$", false, &["AAuuux4😀"], &["A"])),
        ("u", (r"^\u{1F600}\u0041\x41\uD83D\uDE00$", false, &["😀AA😀"], &["A"])),
        ("u", (r"^\p{L}\P{L}[\p{Script=Greek}]$", false, &["é1α"], &["11α"])),
        ("", (r"^\a\q\-\é\<\%$", false, &["aq-é<%"], &["a"])),
        ("", (r"^\p{L}$", false, &["p{L}"], &["é"])),
        ("", (r"^\101\8\0\377$", false, &["A8\0ÿ"], &["1"])),
        ("", (r"^a{,2}$", false, &["a{,2}"], &["aa"])),
        ("", (r"^a{2,}b{1,2}?$", false, &["aaab"], &["ab"])),
        ("", (r"^x{a}]}$", false, &["x{a}]}"], &["x"])),
        ("", (r"{", false, &["{"], &["x"])),
        // Back-references to groups that have not matched are empty.
        ("", (r"(a)\1", true, &["aa"], &["ab"])),
        ("", (r"^(a)?\1b$", true, &["b", "aab"], &["ab"])),
        ("", (r"^\1(a)$", true, &["a"], &["aa"])),
        ("", (r"^(a\1)$", false, &["a"], &["aa"])),
        ("", (r"(?<q>['\x22])x\k<q>", true, &["'x'"], &["'x\""])),
        ("", (r"(?<$q>a)\k<$q>", true, &["aa"], &["ab"])),
        ("", (r"\k<q>", false, &["k<q>"], &["q"])),
        ("", (r"(a)\10", false, &["a\x08"], &["aa0"])),
        ("", (r"(a)(?:\1)0", true, &["aa0"], &["aa"])),
        ("i", (r"(a)\1", true, &["aA"], &["ab"])),
        ("", (r"(?<!\w)rm(?=\s)", true, &["; rm x"], &["farm x"])),
        ("", (r"(?<=a+)b(?!c)", true, &["aab"], &["b", "abc"])),
        ("", (r"(?=a)*b", true, &["b"], &["a"])),
        ("m", (r"(?<=^a)b", true, &["x\nab"], &["xab"])),
        ("", (r"", false, &["", "a"], &[])),
    ];
    for (flags, (pattern, backtracks, finds, finds_not)) in rows {
        check(translate_javascript(pattern, flags), pattern, *backtracks, finds, finds_not);
    }
}

#[test]
fn what_regexp_refuses_is_refused_at_its_place() {
    for (pattern, flags, at) in [
        ("a(b", "", 1),
        ("a)b", "", 1),
        ("a[b", "", 1),
        ("*a", "", 0),
        ("a**", "", 2),
        ("^*", "", 1),
        (r"\b+", "", 2),
        ("(?<=a)*", "", 6),
        ("a\\", "", 1),
        ("(?a)", "", 0),
        ("(?<1>a)", "", 0),
        ("(?<a>b)(?<a>c)", "", 7),
        (r"(?<a>b)\k<c>", "", 7),
        (r"(?<a>b)\k", "", 7),
        ("a{2,1}", "", 1),
        ("[z-a]", "", 1),
        (r"\a", "u", 0),
        (r"\1", "u", 0),
        ("{", "u", 0),
        ("}", "u", 0),
        ("]", "u", 0),
        ("a{,2}", "u", 1),
        (r"\c1", "u", 0),
        (r"\u{110000}", "u", 0),
        (r"\u12", "u", 0),
        (r"[\d-z]", "u", 1),
        ("(?=a)*", "u", 5),
        (r"\p{Nothing}", "u", 0),
        (r"\p", "u", 0),
        (r"\00", "u", 0),
        (r"^\-", "u", 1),
        (r"[\uD83C-\uDBFF]", "", 1),
        ("a", "ii", 1),
        ("a", "q", 1),
        ("a", "v", 1),
    ] {
        assert_eq!(translate_javascript(pattern, flags).map_err(|error| error.at), Err(at), "/{pattern}/{flags}");
    }
}

#[test]
fn rust_is_what_the_language_says_with_flag_u() {
    let rows: &[Row] = &[
        (r"^\w+/\d$", false, &["é/٣"], &["-/1"]),
        (
            r"(?x) a # c
            b",
            false,
            &["ab"],
            &["a b"],
        ),
        ("a\nb", false, &["a\nb"], &["ab"]),
        (r"(?i-u:k)\b", false, &["K"], &["\u{212a}"]),
        (r"[\p{Greek}&&[^α]]", false, &["β"], &["α"]),
        ("", false, &[""], &[]),
    ];
    for (pattern, backtracks, finds, finds_not) in rows {
        check(translate_rust(pattern), pattern, *backtracks, finds, finds_not);
    }
    for (pattern, at) in [("(?=a)", 0), (r"a\1", 1), ("a(", 1), (r"\p{Nothing}", 0)] {
        assert_eq!(translate_rust(pattern).map_err(|error| error.at), Err(at), "{pattern}");
    }
}

#[test]
fn halves_of_characters_are_seen_or_told() {
    let table = [
        ("^.$", "", r"/^[^\n\r\u{2028}\u{2029}\x{10000}-\x{10FFFF}]$/", HalvesSeen::Never),
        ("a.*b", "", r"/a[^\n\r\u{2028}\u{2029}]*b/", HalvesSeen::Never),
        ("a\\W", "", r"/a\W/", HalvesSeen::AtEnds),
        ("^.{2}$", "", r"/^[^\n\r\u{2028}\u{2029}]{2}$/", HalvesSeen::Within),
        ("^..$", "u", r"/^[^\n\r\u{2028}\u{2029}][^\n\r\u{2028}\u{2029}]$/", HalvesSeen::Never),
        ("x[\u{1f600}]", "", "/x[\u{1f600}]/", HalvesSeen::Within),
    ];
    for (pattern, flags, wanted, halves) in table {
        let found = translate_javascript(pattern, flags).unwrap();
        assert_eq!((found.text.as_str(), found.halves), (wanted, halves), "{pattern}");
    }
}
