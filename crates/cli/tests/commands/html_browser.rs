//! The HTML report in a browser. Needs Chromium, Node and the module in crates/cli/tests/browser/package.json. If one of them is missing, the tests
//! print a message and pass, unless `AVERMENT_BROWSER=required`.

use crate::folder::Folder;
use crate::html;
use std::path::{Path, PathBuf};
use std::process::Command;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

const HOSTILE_RULES: &str = r#"
rule hostile "</script><img src=x onerror=alert(1)>" {
  never "*img*"
}
each call_*: args.path == "</script><img src=x onerror=alert(1)>" message "<img src=x onerror=alert(2)> ${args.path}"
output == "<!--"
"#;

/// Returns a run whose names and texts are all hostile to HTML.
fn hostile_run() -> String {
    let others = [
        "<!--<script>",
        "\u{2028}x\u{2029}",
        "\u{202e}txt.exe\u{2066}",
        "\"><b onclick=alert(1)>",
        "{{7*7}}",
        "${alert(1)}",
        "javascript:alert(1)",
        "' onfocus=alert(1) '",
        "<svg onload=window.harmed=1>",
        "]]>",
        "\u{0}\u{1b}[2J",
        "&lt;b&gt;",
    ];
    let call =
        |text: &str| serde_json::json!({"tool": text, "args": {text: text, "path": text}, "result": {text: [text]}});
    let calls: Vec<_> = others.iter().copied().chain([HOSTILE]).map(call).collect();
    let run = serde_json::json!({
        "id": HOSTILE, "output": (HOSTILE.to_owned() + &others.join(" ")), "calls": calls,
        "messages": [{"role": HOSTILE, "text": others.join("\n")}],
    });
    format!("{run}\n{{\"calls\": [], \"output\": \"<!--\"}}\n")
}

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("AVERMENT_CHROMIUM").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = usual
        .iter()
        .find_map(|name| std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file()));
    named.or(found)
}

fn report(folder: &Folder, rules: &str, runs: &str, name: &str) -> PathBuf {
    folder.write(&format!("{name}.assert"), rules.as_bytes());
    let of_runs = if name == "hostile" { format!("{HOSTILE}.jsonl").replace('/', "") } else { format!("{name}.jsonl") };
    folder.write(&of_runs, runs.as_bytes());
    let ran = folder.aver(&format!("check {name}.assert '{of_runs}' --format summary --report html={name}.html"));
    assert_eq!(ran.code, 1, "{name}: {ran:?}");
    folder.path().join(format!("{name}.html"))
}

#[test]
fn people_read_the_report_in_a_browser() {
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let missing = match (chromium(), browser.join("node_modules/puppeteer-core").is_dir()) {
        (None, _) => Err("there is no Chromium"),
        (_, false) => Err("`npm ci` was not run in crates/cli/tests/browser"),
        (Some(chromium), true) => Ok(chromium),
    };
    let chromium = match missing {
        Ok(chromium) => chromium,
        Err(why) => {
            assert!(std::env::var("AVERMENT_BROWSER").as_deref() != Ok("required"), "{why}");
            return eprintln!("skipped: the HTML report is not tried in a browser, because {why}");
        }
    };
    let folder = Folder::new(&[]);
    let examples = averment_fixtures::project("examples/refund-agent");
    let example = folder.path().join("example.html");
    let ran = assert_cmd::Command::cargo_bin("aver")
        .unwrap()
        .current_dir(examples)
        .args(["check", "refunds.assert", "runs", "--format", "summary"])
        .arg(format!("--report=html={}", example.display()))
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let hostile = report(&folder, HOSTILE_RULES, &hostile_run(), "hostile");
    let many = report(&folder, html::RULES, &html::runs(5_000), "many");
    let ran = Command::new("node")
        .arg(browser.join("report.mjs"))
        .args([chromium, example, hostile, many])
        .current_dir(&browser)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    println!("{said}");
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
}
