//! The examples in STOP's documentation.

use super::{manifest, words};
use crate::tally::Tally;
use averment_fixtures::shared;

/// An example, a run for which it holds, and a run for which it does not.
struct Example {
    file: &'static str,
    holds: &'static str,
    fails: &'static str,
}

const EXAMPLES: &[Example] = &[
    Example {
        file: "spec/assertions.md/L45.yaml",
        holds: r#"{"inputs": {"article_path": "a.md"}, "files": {"a.md": ""}}"#,
        fails: r#"{"inputs": {"article_path": "b.md"}, "files": {"a.md": ""}}"#,
    },
    Example {
        file: "spec/assertions.md/L54.yaml",
        holds: r#"{"files": {"output/result.json": "{}"}}"#,
        fails: r#"{"files": {"output/result.json": ""}}"#,
    },
    Example {
        file: "spec/assertions.md/L63.yaml",
        holds: r#"{"files": {"output/result.json": "{\n  \"status\":   \"success\"\n}"}}"#,
        fails: r#"{"files": {"output/result.json": "{\"status\": \"failed\"}"}}"#,
    },
    Example { file: "spec/assertions.md/L73.yaml", holds: r#"{"env": {"API_KEY": "k"}}"#, fails: r#"{"env": {}}"# },
    Example {
        file: "spec/assertions.md/L82.yaml",
        holds: r#"{"calls": [], "tools": ["exec", "read"]}"#,
        fails: r#"{"calls": [], "tools": ["read"]}"#,
    },
    Example {
        file: "spec/assertions.md/L91.yaml",
        holds: r#"{"output": {"article_url": "https://juejin.cn/post/123", "status": "published", "files_moved": 3}}"#,
        fails: r#"{"output": {"article_url": "", "status": "draft", "files_moved": 0}}"#,
    },
    Example {
        file: "spec/assertions.md/L112.yaml",
        holds: r#"{"http": [{"method": "POST", "url": "https://juejin.cn/api/article/publish", "status": 200}]}"#,
        fails: r#"{"http": [{"method": "POST", "url": "https://juejin.cn/api/article/publish", "status": 500}]}"#,
    },
    Example { file: "spec/assertions.md/L121.yaml", holds: r#"{"duration": 30000}"#, fails: r#"{"duration": 30001}"# },
    Example {
        file: "spec/manifest.md/L120.yaml",
        holds: r#"{"output": {"files_moved": 1}, "writes": ["docs/a.md"], "http": []}"#,
        fails: r#"{"writes": ["docs/a.md"], "http": [{"url": "https://example.com", "status": 200}]}"#,
    },
    Example {
        file: "spec/manifest.md/L144.yaml",
        holds: r#"{"inputs": {"article_path": "a.md"}, "files": {"a.md": "x"}, "env": {"JUEJIN_SESSION_ID": "s"},
            "output": {"article_url": "https://juejin.cn/post/123", "article_id": "123"}, "calls": [{"tool": "exec"}],
            "reads": ["./a.md"], "writes": [], "http": [{"url": "https://api.juejin.cn/x", "status": 200}]}"#,
        fails: r#"{"inputs": {"article_path": "b.md"}, "files": {"a.md": "x"}, "env": {},
            "output": {"article_url": "https://juejin.cn/posts/123", "article_id": ""}, "calls": [{"tool": "rm"}],
            "reads": ["a.md"], "writes": ["b.md"], "http": [{"url": "https://notjuejin.cn/x", "status": 200}]}"#,
    },
    Example {
        file: "README.md@e91507a/L32.yaml",
        holds: r#"{"inputs": {"article_path": "a.md"}, "output": {"article_url": "https://juejin.cn/post/123"},
            "calls": [{"tool": "exec"}], "reads": ["a.md"], "writes": [], "http": [{"url": "https://x.org", "status": 200}]}"#,
        fails: r#"{"inputs": {"article_path": "a.md"}, "output": {"article_url": "https://juejin.cn/post/x"},
            "calls": [{"tool": "read"}], "reads": ["b.md"], "writes": ["c.md"], "http": [{"url": "https://x.org", "status": 201}]}"#,
    },
    Example { file: "README.md/L40.yaml", holds: ISSUE, fails: NO_ISSUE },
    Example { file: "README.md/L202.yaml", holds: ISSUE, fails: NO_ISSUE },
    Example {
        file: "runtime/src/smoke.ts/manifest.yaml",
        holds: r#"{"env": {"TEST_TOKEN": "t"}, "output": {"issue_url": "https://x/1"}}"#,
        fails: r#"{"env": {"TEST_TOKEN": ""}, "output": {"issue_url": ""}}"#,
    },
];

const ISSUE: &str = r#"{"env": {"GITHUB_TOKEN": "t"}, "calls": [{"tool": "exec"}], "writes": [],
    "output": {"issue_url": "https://github.com/a/b/issues/12", "issue_number": 12},
    "http": [{"url": "https://api.github.com/repos/a/b/issues", "status": 201}]}"#;
const NO_ISSUE: &str = r#"{"env": {}, "calls": [{"tool": "read"}], "writes": ["x"],
    "output": {"issue_url": "https://github.com/issues/12", "issue_number": 0},
    "http": [{"url": "https://api.github.com.example.org/repos", "status": 201}]}"#;

/// Returns an example as a manifest; a list of checks is wrapped in a manifest that declares the names it uses.
fn whole(file: &str) -> String {
    let text = std::fs::read_to_string(shared("conformance/stop/upstream").unwrap().join(file)).unwrap();
    if text.contains("sop:") {
        return text;
    }
    let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let inputs = "inputs: [{ name: article_path, type: file_path }]\n";
    manifest(&format!("{inputs}assertions:\n  post:\n{indented}"))
}

/// Returns how many of the examples have the documented result, each on the run for which it holds and the one for which it does not.
pub fn examples() -> (usize, usize) {
    if shared("conformance/stop/upstream").is_none() {
        return (0, 0);
    }
    let mut tally = Tally::of("examples of the documents");
    for Example { file, holds, fails } in EXAMPLES {
        let text = whole(file);
        for (run, wanted) in [(holds, "pass"), (fails, "fail")] {
            let found = words(&text, run).unwrap_or_else(|error| panic!("{file}: {error}"));
            for (number, word) in found.iter().enumerate() {
                match *word == wanted {
                    true => tally.agrees(),
                    false => tally.wrong(format!("{file}: check {} is {word}, not {wanted}, on {run}", number + 1)),
                }
            }
        }
    }
    tally.end()
}
