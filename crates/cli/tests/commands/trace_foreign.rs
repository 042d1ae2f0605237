//! `aver trace` on runs from untrusted sources: prints plain text only, without secrets.

use crate::folder::Folder;
use std::time::{Duration, Instant};

#[test]
fn names_of_fields_are_on_one_line_and_steer_nothing() {
    let run = r#"{"id":"x","calls":[{"tool":"a"}],"zz\u001b[31m\npassed: 9 passed\n::error::FORGED":1}"#;
    let folder = Folder::new(&[("t.json", run)]);
    let ran = folder.aver("trace show --fields t.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    assert!(!ran.out.lines().any(|line| line.starts_with("passed:") || line.starts_with("::")), "{}", ran.out);
}

#[test]
fn maps_and_counts_show_no_secrets() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let run = format!(
        r#"{{"session_id":"run-of-a-long-name-{token}","password":"hunter2hunter2","answer":"is hunter2hunter2",
        "calls":[{{"tool":"{token}","args":{{"command":"x {token}"}},"result":"say hunter2hunter2"}},{{"tool":"hunter2hunter2","args":{{}}}}]}}"#
    );
    let folder = Folder::new(&[("t.json", &run)]);
    for command in ["trace map t.json", "trace stats t.json", "trace stats t.json --format json", "trace show t.json"] {
        let ran = folder.aver(command);
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
        for part in ["aB3dE5", "hunter2"] {
            assert!(!ran.out.contains(part), "{command}: {}", ran.out);
        }
    }
}

#[test]
fn blocks_in_blocks_end_in_time() {
    let calls: Vec<String> = (0..200).map(|n| format!(r#"{{"tool":"t","args":{{"n":{n}}}}}"#)).collect();
    let run = format!(r#"{{"calls":[{}]}}"#, calls.join(","));
    let folder =
        Folder::new(&[("t.json", &run), ("r.assert", "each t { each t { each t { each t { args.n == -3 } } } }\n")]);
    let start = Instant::now();
    let ran = folder.aver("check r.assert t.json");
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(start.elapsed() < Duration::from_secs(200), "{:?}", start.elapsed());
}
