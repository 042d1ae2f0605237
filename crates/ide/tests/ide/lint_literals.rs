//! Tests of lints on misleading literals: patterns that are compared as text, and units compared with names of another unit.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_ide::lint::{LintLevels, LintOptions, fix, lint_certain, report_file};
use std::path::Path;

/// Returns the help texts of a lint's findings in a text.
fn helps(text: &str, slug: &str) -> Vec<String> {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let files = Memory::new([("", "")]);
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files: &files });
    assert!(!checked.diagnostics.has_errors(), "{text}: {:?}", checked.diagnostics);
    let found = lint_certain(&map, root, &checked, &LintLevels::default());
    let of_slug = found.0.iter().filter(|one| one.slug.as_str() == slug);
    of_slug.map(|one| one.help.clone().unwrap_or_default()).collect()
}

/// Returns a text after applying its fixes.
fn fixed(text: &str) -> String {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let files = Memory::new([("", "")]);
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files: &files });
    let found = report_file(&map, root, &checked, &LintOptions::default());
    fix::apply_fixes(text, root, &found).text
}

#[test]
fn regular_expressions_in_quotes_are_told_with_what_to_write() {
    for (rule, help) in [
        ("output.message not contains \"Ref.*ed\"", "write `not matches /Ref.*ed/`"),
        ("output.message not contains \"Ref.*\"", "write `not matches /Ref/`"),
        ("not (output contains \"^Error\")", "write `matches /^Error/`"),
        ("output contains \"^Error\"", "write `matches /^Error/`"),
        ("output not contains \"Ref|foo\"", "write `not matches /Ref|foo/`"),
        ("output not contains '\\d+'", "write `not matches /\\d+/`"),
        ("output not contains '\\bref\\b'", "write `not matches /\\bref\\b/`"),
        ("output not contains \"failed$\"", "write `not matches /failed$/`"),
        ("output not contains \"(?i)refund\"", "write `not matches /(?i)refund/`"),
        ("output not contains \"/refund/i\"", "write `not matches /refund/i`"),
        ("output not contains \"https?://.+/pay\"", "write `not matches /https?:\\/\\/.+\\/pay/`"),
        ("output not starts with \"Err.*x\"", "write `not matches /^Err.*x/`"),
        ("output not ends with \"[a-z]+\"", "write `not matches /[a-z]+$/`"),
        ("not (output icontains \"ref.+d\")", "write `matches /ref.+d/i`"),
        ("output not contains all [\"Ref.+d\", \"x\"]", "write `not matches /Ref.+d/`"),
        ("output contains none [\"Ref.+d\", \"x\"]", "write `not matches /Ref.+d/`"),
        ("not (output mentions \"Ref.+d\")", "write `matches /Ref.+d/`"),
        ("output.x != \"fail.*d\"", "write `not matches /^fail.*d$/`"),
        ("output.x not in [\"a\", \"fail.+\"]", "write `matches /^fail.+$/` for it"),
        ("\"Ref.+d\" not in output.text", "write `not matches /Ref.+d/`"),
        ("never user \"Ref.+d\"", "write `user /Ref.+d/`"),
        ("never assistant 'sorry|cannot'", "write `assistant /sorry|cannot/`"),
        ("never command \"^rm\"", "write `command /^rm/`"),
        ("never command \"curl.*evil\"", "write `command /curl.*evil/`"),
        ("never send(note: \"Ref.+d\")", "write `note: /^Ref.+d$/`"),
        ("never send(note contains \"Ref.+d\")", "write `matches /Ref.+d/`"),
        ("no m in messages: m.text contains \"[0-9]{3}\"", "write `matches /[0-9]{3}/`"),
        ("never \"^issue_\"", "write `(any where tool matches /^issue_/)`"),
        ("let needle = \"Ref.+d\"\noutput not contains needle", "write `not matches /Ref.+d/`"),
        ("tool any fails when result contains \"Err.+x\"\nnever a failed", "write `matches /Err.+x/`"),
        ("def has(t, p) = t contains p\nnot has(output.text, \"Ref.+d\")", "write `matches /Ref.+d/`"),
        ("def has(t, p) = t contains p\nnot has(output.text, \"sorry|cannot\")", "write `matches /sorry|cannot/`"),
        (
            "def lacks(p) = output.text not contains p\nlet needle = \"sorry|cannot\"\nlacks(needle)",
            "write `not matches /sorry|cannot/`",
        ),
    ] {
        assert_eq!(helps(&format!("{rule}\n"), "regex-as-text"), [help], "{rule}");
    }
    assert_eq!(fixed("output.a not contains \"Ref.*ed\"\n"), "output.a not matches /Ref.*ed/\n");
    assert_eq!(fixed("never user \"Ref.*ed\"\n"), "never user /Ref.*ed/\n");
    assert_eq!(fixed("never send(note: \"Ref.*ed\")\n"), "never send(note: /^Ref.*ed$/)\n");
}

#[test]
fn globs_that_are_looked_for_as_text_are_told() {
    for (rule, help) in [
        ("not (output contains \"*refund*\")", "write `contains \"refund\"`"),
        ("output not ends with \"*.pdf\"", "write `not ends with \".pdf\"`"),
        ("output not starts with \"refund*\"", "write `not starts with \"refund\"`"),
        ("output not contains \"ref*fund\"", "write `not matches /ref.*fund/`"),
        ("output not contains \"%refund%\"", "write `not contains \"refund\"`"),
        ("never user \"*refund*\"", "write `user \"refund\"`"),
        ("no c in calls: c.tool contains \"issue_*\"", "write `contains \"issue_\"`"),
        ("count user \"refund*\" <= 0", "write `user \"refund\"`"),
        ("none of { output contains \"*refund*\" }", "write `contains \"refund\"`"),
    ] {
        assert_eq!(helps(&format!("{rule}\n"), "glob-as-text"), [help], "{rule}");
    }
}

/// Plain texts that contain signs of patterns.
#[test]
fn plain_texts_are_no_patterns() {
    let texts = [
        "\"import os.*\"",
        "\"SELECT t.* FROM x\"",
        "\"SELECT * FROM\"",
        "\"**bold**\"",
        "\"* item\"",
        "\"2*3\"",
        "\"C++\"",
        "\"$5.00\"",
        "\"100$\"",
        "\"US$\"",
        "\"what?\"",
        "\"Loading...\"",
        "\"...*\"",
        "\"[redacted]\"",
        "\"[1-3]\"",
        "\"[x]\"",
        "'C:\\data\\web'",
        "'bin\\debug'",
        "\"(see above)\"",
        "\"| a | b |\"",
        "\"a || b\"",
        "\"a|b\"",
        "\"^_^\"",
        "\"^1.2.3\"",
        "\"^C\"",
        "\"{name}\"",
        "\"foo()\"",
        "\"a.b.c\"",
        "\"1.+\"",
        "\"http://x.y/z?a=b+c\"",
        "\"%PATH%\"",
        "\"50%\"",
        "\"char* p\"",
        "\"/etc/passwd\"",
        "\"/users/x/\"",
        "\"a+b\"",
        "\"he/she\"",
        "\"yes (no)\"",
        "'1\\. item'",
        "\"\\\\n\"",
    ];
    let rules = texts.iter().flat_map(|text| {
        [format!("output not contains {text}"), format!("never user {text}"), format!("output.a != {text}")]
    });
    let others = [
        "output contains \"yes|no\"",
        "output contains \"*Note*\"",
        "output contains \"refund*\"",
        "never command \"cat *.env\"",
        "never command \"rm .*\"",
        "never command \"rm -rf /*\"",
        "never command \"grep -E foo.*bar\"",
        "never write \"**/.env*\"",
        "never read \"/home/*/.ssh/**\"",
        "never read \"src/.*\"",
        "never skill \"deploy_*\"",
        "never grep(pattern: \"foo.*\")",
        "never grep(regex contains \".*\")",
        "no c in calls: c.args.pattern == \"Ref.*\"",
        "never \"functions.search\"",
        "never http \"https://api.example.com/*\"",
    ];
    for rule in rules.chain(others.map(str::to_owned)) {
        for slug in ["regex-as-text", "glob-as-text"] {
            assert_eq!(helps(&format!("{rule}\n"), slug), [""; 0], "{rule}");
        }
    }
}

#[test]
fn a_literal_of_another_unit_than_the_name_says_is_told() {
    for (rule, help) in [
        ("each search: args.timeout_seconds <= 30s", "write `30`"),
        ("never search(timeout_secs > 1m)", "write `60`"),
        ("never search(timeoutSec: 30s)", "write `30`"),
        ("each search: args[\"wait-s\"] < 1.5s", "write `1.5`"),
        ("sum(args.wait_minutes of search) <= 30s", "write `0.5`"),
        ("max(calls[*].args.ttl_hours) <= 1d", "write `24`"),
        ("each search: 7d >= args.days", "write `7`"),
        ("each search: result.elapsed_us < 5ms", "write `5000`"),
        ("each pay: args.amount_cents <= $5", "write `500`"),
        ("each pay: args.amount_eur <= $5", "write a number without a unit"),
        ("each up: args.size_kb <= 10KB", "write `10`"),
        ("each up: args.sizeMB < 1MB", "write `1`"),
        ("each a: args.timeout_seconds <= 10KB", "write a number without a unit"),
        ("each a: args.seconds_elapsed > 1m", "write `60`"),
        ("let most = 30s\neach search: args.wait_seconds <= most", "compare it with `30`"),
    ] {
        assert_eq!(helps(&format!("{rule}\n"), "unit-in-name"), [help], "{rule}");
    }
    assert_eq!(helps("never search(seconds: 1s..30s)\n", "unit-in-name"), ["write `1`", "write `30`"]);
    assert_eq!(fixed("each a: args.timeout_seconds <= 30s\n"), "each a: args.timeout_seconds <= 30\n");
    for rule in [
        "each a: args.timeout_ms <= 30s",
        "each a: args.timeoutMs <= 30s",
        "each a: args.timeout_seconds <= 30",
        "each a: args.size_bytes <= 10KB",
        "each a: args.price_usd <= $5",
        "each a: args.bytes_per_second <= 10KB",
        "each a: args.timeout_seconds * 1000 <= 30s",
        "each a: args.items <= 30s",
        "each a: args.contact_us <= $5",
        "each a: args.timeout_seconds > 0s",
        "each a: duration <= 5s",
        "param max_seconds: duration = 30s\nduration <= max_seconds",
    ] {
        assert_eq!(helps(&format!("{rule}\n"), "unit-in-name"), [""; 0], "{rule}");
    }
}
