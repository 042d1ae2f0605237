//! The HTML report: content, size, and redaction. `html_browser` tests it in a browser.

use crate::folder::Folder;
use base64::Engine as _;

pub const RULES: &str = "\
rule approval \"Refunds need an approval for the same order\" {
  tags payments
  before approve(id: $id) -> refund(id: $id)
}
rule economy \"Little is looked up\" {
  severity warn
  tags cost
  count search <= 3
}
rule escalation \"Who is turned down is handed on\" {
  after decline -> hand_over
}
output.status == \"refunded\" as outcome
";

/// Returns generated runs with some steps, some of which fail.
pub fn runs(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let searches = (0..number % 5).map(|at| {
            format!(r#"{{"tool":"search","args":{{"query":"parcel {at} of order o-{number}"}},"result":{{"found":{at},"title":"Refunds of damaged parcels"}}}},"#)
        });
        let order = if number % 7 == 0 { number + 1 } else { number };
        let status = if number % 11 == 0 { "declined" } else { "refunded" };
        text.push_str(&format!(
            r#"{{"id":"r-{number}","calls":[{}{{"tool":"approve","args":{{"id":"o-{order}"}},"result":{{"by":"ada"}}}},{{"tool":"refund","args":{{"id":"o-{number}","amount":{}}},"result":{{"refund":{number}}}}}],"output":{{"status":"{status}"}}}}"#,
            searches.collect::<String>(),
            number % 300,
        ));
        text.push('\n');
    }
    text
}

/// Returns the decompressed parts of a page.
pub fn parts(page: &str) -> Vec<(String, serde_json::Value)> {
    let start = "<script type=\"application/octet-stream\" data-part=\"";
    let part = |text: &str| {
        let (name, rest) = text.split_once("\">").unwrap();
        let (letters, _) = rest.split_once("</script>").unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(letters).unwrap();
        let json = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).unwrap();
        (name.to_owned(), serde_json::from_slice(&json).unwrap())
    };
    page.split(start).skip(1).map(part).collect()
}

/// Returns all text of a page, compressed or not, without the styles and scripts that all pages share. Other texts are returned unchanged.
pub fn everything(page: &str) -> String {
    let same = regex::Regex::new("(?s)<style>.*?</style>|<script>.*?</script>").unwrap();
    let packed = if page.starts_with("<!doctype html>") { parts(page) } else { Vec::new() };
    packed.iter().map(|(_, value)| value.to_string()).collect::<String>() + &same.replace_all(page, "")
}

#[test]
fn the_page_tells_all_that_was_found_and_loads_nothing() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", &runs(40)), ("bad.json", "{")]);
    let ran = folder.aver("check r.assert runs.jsonl bad.json --format html");
    assert_eq!(ran.code, 4, "{ran:?}");
    let page = &ran.out;
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">") && page.ends_with("</html>\n"));
    for said in [
        "of 40 runs failed",
        "1 of 4 rules was never exercised",
        "<code>escalation</code>",
        "1 trace or line could not be read",
        "<code>bad.json:1:2</code>",
        "href=\"#rule=approval\"",
        "Scores outcome: mean 0.9",
        "content=\"default-src 'none'; style-src 'sha256-",
    ] {
        assert!(page.contains(said), "{said} is not said in {}", everything(page));
    }
    for loads in ["src=", "http://", "https://", "@import", "url(", "onclick", "onload", "fetch(", "XMLHttpRequest"] {
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(loads), "{loads}");
    }
    let parts = parts(page);
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["table", "index", "runs"]);
    let first = &parts[2].1[0];
    assert_eq!(first["steps"][1]["text"], "refund(id: \"o-0\", amount: 0)");
    assert_eq!(first["steps"][1]["line"], 1);
    // Steps list the assertions that they prove, failed and passed.
    assert_eq!(first["steps"][1]["items"], serde_json::json!([0]));
    assert_eq!(parts[2].1[1]["steps"][0]["items"], serde_json::json!([1]));
}

#[test]
fn the_bytes_are_the_same_with_any_number_of_threads() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", &runs(700))]);
    let report = |threads: &str| {
        let ran = folder.aver(&format!("check r.assert runs.jsonl --format html --threads {threads} --chunk 4KiB"));
        assert_eq!(ran.code, 1, "{}", ran.err);
        ran.out
    };
    let one = report("1");
    assert_eq!(parts(&one).len(), 15, "a table, and two parts for every 100 runs");
    for threads in ["2", "4"] {
        assert!(report(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_large_page_is_no_longer_than_twice_the_lines_of_the_same_check() {
    // These runs have no findings, so their lines are short, and their steps are long.
    let result =
        |number: usize| (0..60).map(|at| format!("{:x}-", number * 7919 * (at + 1) % 999_983)).collect::<String>();
    let run = |number: usize| {
        let calls = (0..6).map(|at| {
            format!(r#"{{"tool":"look","args":{{"q":"{at}-{number}"}},"result":"{}"}}"#, result(6 * number + at))
        });
        format!(r#"{{"calls":[{}],"output":{{"status":"refunded"}}}}"#, calls.collect::<Vec<_>>().join(","))
    };
    let runs: Vec<String> = (0..6_000).map(run).collect();
    let folder = Folder::new(&[("r.assert", "never delete_*\ncount search <= 2\n"), ("runs.jsonl", &runs.join("\n"))]);
    let ran = folder.aver("check r.assert runs.jsonl --format jsonl --report html=page.html");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = folder.read("page.html");
    assert!(page.len() < (2 * ran.out.len()).max(1 << 20), "{} bytes, {} of lines", page.len(), ran.out.len());
    let parts = parts(&page);
    assert!(parts.iter().any(|(name, runs)| name == "runs" && runs[0]["lean"] == true), "something is left out");
    assert!(parts.iter().any(|(name, runs)| name == "runs" && runs[0]["lean"] == false), "not everything is");
}

#[test]
fn rules_that_do_not_compile_are_told_in_the_page() {
    let folder = Folder::new(&[("r.assert", "never <img>\n"), ("run.json", "{}")]);
    let ran = folder.aver("check r.assert run.json --format html");
    assert_eq!(ran.code, 3);
    assert!(ran.out.contains("The rules do not compile") && ran.out.contains("r.assert:1:"), "{}", ran.out);
    assert!(!ran.out.contains("never <img>"));
}

#[test]
fn what_no_report_shows_stands_in_no_part_of_the_page() {
    let token = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
    let run = format!(
        r#"{{"env":{{"PASS":"correct-horse-battery"}},"calls":[{{"tool":"send","args":{{"body":"{token}","password":"hunter2hunter2","note":"uses correct-horse-battery","deep":{{"credentials":["s3cr3t-one"]}}}},"result":{{"echo":"{token}","text":"hunter2hunter2 it is"}}}}],"messages":[{{"role":"user","text":"take {token} {}"}}]}}"#,
        "and go on with it ".repeat(60)
    );
    let folder =
        Folder::new(&[("r.assert", "use std.secrets\nno secrets in calls\ncount send <= 0\n"), ("run.json", &run)]);
    let ran = folder.aver("check r.assert run.json --format html");
    let text = everything(&ran.out);
    for secret in ["1a2B3c4D5e6F", "7q8R", "hunter2", "correct-horse", "s3cr3t"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("[redacted]") && text.contains("send("), "{text}");
}

#[test]
fn what_paths_name_stands_in_no_step_either() {
    let run = r#"{"calls":[{"tool":"pay","args":{"card":"4000-1234","pin":7731,"note":"by 4000-1234"},"result":{"of":"4000-1234"}}],"output":"paid with 4000-1234"}"#;
    let folder = Folder::new(&[("r.assert", "count pay <= 0\n"), ("run.json", run)]);
    let ran =
        folder.aver("check r.assert run.json --format html --redact calls[*].args.card --redact calls[*].args.pin");
    let text = everything(&ran.out);
    assert!(text.contains("pay(card: ") && !text.contains("4000-1234") && !text.contains("7731"), "{text}");
}

#[test]
fn a_missed_threshold_is_said_and_what_fails_no_run_stands_behind() {
    let rules = "rule w { severity warn\n  never a }\nrule q threshold 0.9 { never a\n  output is not empty }\noutput == \"y\"\n";
    let runs =
        "{\"output\": \"y\", \"calls\": [{\"tool\": \"a\"}]}\n".repeat(3) + "{\"output\": \"n\", \"calls\": []}\n";
    let folder = Folder::new(&[("r.assert", rules), ("runs.jsonl", &runs)]);
    let page = folder.aver("check r.assert runs.jsonl --format html").out;
    assert!(page.contains("misses its threshold 0.9 in 3 runs"), "the overview says it");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("href=\"#rule=q\"") < at("href=\"#rule=w\""), "a warning stands behind");
    assert!(at("<code>output == &quot;y&quot;</code>") < at("href=\"#rule=w\""), "a warning stands behind");
}
