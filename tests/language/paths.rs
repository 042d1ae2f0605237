//! Paths of files: one spelling for globs, tests and bindings, and what climbs out of its root is in no folder.

use averment::Rules;
use serde_json::json;

fn verdict(rule: &str, path: &str) -> String {
    let run = json!({ "reads": ["src/a.rs"], "writes": [path], "steps": ["read", "write"] }).to_string();
    let rules = Rules::from_text("rules.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let outcome = rules.check_one(&*run).unwrap();
    outcome.results().map(|result| result.verdict().as_str()).collect::<Vec<_>>().join(" ")
}

/// Spellings of `src/a.rs`.
const SAME: &[&str] =
    &["src/a.rs", "./src/a.rs", "src//a.rs", "src/./a.rs", "src/b/../a.rs", r"src\a.rs", r".\src\b\..\a.rs"];
/// Paths that only look as if they were in `src`.
const OUTSIDE: &[&str] =
    &["src/../a.rs", "src/../../../etc/passwd", r"src\..\..\etc/passwd", "../src2/a", "src/b/../../c"];

#[test]
fn spellings_of_a_path_are_one() {
    for path in SAME {
        for rule in [
            "each write: path starts with \"src/\"",
            "each write: path == \"src/a.rs\"",
            "each write: path matches /^src\\/a/",
            "count write \"src/**\" == count write",
            "require write \"src/*.rs\"",
            "before read(path: $p) -> write(path: $p)",
        ] {
            assert_eq!(verdict(rule, path), "pass", "{rule} on {path}");
        }
        assert_eq!(verdict("never write(path: $p) after read(path: $p)", path), "fail", "{path}");
        assert_eq!(verdict(&format!("each write: recorded_path == '{path}'"), path), "pass");
    }
}

#[test]
fn what_climbs_out_is_in_no_folder() {
    for path in OUTSIDE {
        for rule in [
            "each write: path starts with \"src/\"",
            "each write: path matches /^src\\//",
            "no write: path not starts with \"src/\"",
            "count write \"src/**\" == count write \"**\"",
        ] {
            assert_eq!(verdict(rule, path), "fail", "{rule} on {path}");
        }
    }
}

#[test]
fn a_glob_from_the_root_is_undecided_about_what_climbs_out() {
    for (path, expected) in [
        ("src/../../../etc/passwd", "undecided"),
        ("..", "undecided"),
        ("/src/../etc/passwd", "fail"),
        ("//etc//passwd", "fail"),
        ("/etc2/passwd", "pass"),
        ("src/etc/passwd", "pass"),
    ] {
        assert_eq!(verdict("never write \"/etc/**\"", path), expected, "{path}");
        assert_eq!(verdict("never read \"/x\", write \"/etc/*\"", path), expected, "{path}");
    }
}
