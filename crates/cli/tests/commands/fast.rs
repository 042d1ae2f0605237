//! Checks of many runs: the output does not depend on the number of threads, the chunk size, or reading from a file or standard input. Also custom
//! formats.

use assert_cmd::Command;
use std::fmt::Write as _;
use std::path::Path;

const RULES: &str = r#"
never admin_*
before authenticate -> delete_record
count api_call <= 2
output.text contains "summary"
each refund: args.amount is number and args.amount <= 30
duration <= 30s
def key(s) = s matches /\bAKIA[0-9A-Z]{16}\b/
no key in calls[*].result
before approve(id: $id) -> refund(id: $id)
"#;

/// The output of the command in a folder.
fn aver(folder: &Path, arguments: &[&str], stdin: &str) -> String {
    let mut command = Command::cargo_bin("aver").unwrap();
    let output = command.current_dir(folder).args(arguments).write_stdin(stdin).output().unwrap();
    format!("{:?}\n{}", output.status.code(), String::from_utf8_lossy(&output.stdout))
}

/// Returns runs of every kind: plain ones, some that fail each rule, unusual ones, blank and broken lines.
fn corpus() -> String {
    let mut text = "\u{feff}".to_owned();
    for number in 0..400 {
        let tool = ["api_call", "refund", "authenticate", "delete_record", "search", "admin_reset"][number * 7 % 6];
        let other = ["api_call", "search", "authenticate", "refund"][number % 4];
        let amount = number % 40;
        let result = if number % 29 == 0 { "AKIAABCDEFGHIJKLMNOP" } else { "fine \\u00e9 \\n \\\"so\\\"" };
        let start = if number % 17 == 0 { 900 } else { 1 };
        let calls = format!(
            r#"[{{"name":"{tool}","args":{{"amount":{amount},"id":"o{}"}},"result":"{result}","error":null,"start_ms":{start},"duration_ms":3}},{{"name":"{other}","args":{{"amount":"x"}},"result":{{"a":["{result}",1]}},"error":null,"start_ms":50,"duration_ms":3}}]"#,
            number % 3
        );
        let said = if number % 5 == 0 { "no" } else { "a summary" };
        let end = if number % 7 == 0 { "\r\n" } else { "\n" };
        match number % 41 {
            3 => text.push_str("\n  \n"),
            5 => text.push_str("{\"tool_calls\": [}\n"),
            8 => {
                let _ = write!(
                    text,
                    r#"{{"tool_calls":{calls},"output":{{"text":"{said}"}},"output":1,"duration_ms":5}}{end}"#
                );
            }
            11 => {
                let _ = write!(text, r#"{{"calls":[{{"tool":"{tool}","args":{{}}}}],"output":"{said}"}}{end}"#);
            }
            14 => {
                let _ = write!(
                    text,
                    r#"{{"messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","content":"{said}"}}]}}{end}"#
                );
            }
            _ => {
                let _ = write!(
                    text,
                    r#"{{"id":"r{number}","input":"é","output":{{"text":"{said}"}},"tool_calls":{calls},"duration_ms":{}}}{end}"#,
                    number * 100
                );
            }
        }
    }
    text
}

#[test]
fn the_output_depends_neither_on_threads_nor_on_chunks_nor_on_the_way_in() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.assert"), RULES).unwrap();
    std::fs::write(folder.path().join("t.jsonl"), corpus()).unwrap();
    for format in ["summary", "jsonl", "json", "short", "human"] {
        let with = |more: &[&str]| {
            aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format", format], more].concat(), "")
        };
        let one = with(&["--threads", "1"]);
        assert!(one.starts_with("Some(4)"), "{one}");
        assert_eq!(one, with(&["--threads", "2"]), "{format}");
        assert_eq!(one, with(&["--threads", "3", "--chunk", "2KiB"]), "{format}");
        assert_eq!(one, with(&["--threads", "1", "--chunk", "20KiB"]), "{format}");
        // An additional report with all results does not change the output.
        assert_eq!(one, with(&["--threads", "2", "--report", "json=all.json"]), "{format}");
        let piped = aver(folder.path(), &["check", "r.assert", "-", "--format", format, "--threads", "2"], &corpus());
        if format != "human" {
            assert_eq!(one, piped.replace("<stdin>", "t.jsonl"), "{format}");
        }
    }
}

#[test]
fn every_format_counts_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.assert"), RULES).unwrap();
    std::fs::write(folder.path().join("t.jsonl"), corpus()).unwrap();
    let summary = |format: &str| {
        let out = aver(folder.path(), &["check", "r.assert", "t.jsonl", "--format", format], "");
        let json: serde_json::Value = match format {
            "jsonl" => serde_json::from_str(out.lines().last().unwrap()).unwrap(),
            _ => serde_json::from_str(out.split_once('\n').unwrap().1).unwrap(),
        };
        json["summary"].clone()
    };
    assert_eq!(summary("jsonl"), summary("json"));
    let strict = aver(folder.path(), &["check", "r.assert", "t.jsonl", "--format", "summary", "--strict"], "");
    assert!(strict.contains("stands more than once"), "{strict}");
}

#[test]
fn a_format_of_ones_own_is_read_by_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("r.assert", "each pay: args.sum <= 5\noutput == \"ok\"\nduration <= 3s\n");
    write(
        "map.toml",
        "calls = \"history\"\ntool = [\"fn\", \"action\"]\nargs = \"payload\"\noutput = \"reply\"\nduration_s = \"took\"\n",
    );
    write(
        "map.json",
        r#"{"calls": "history", "tool": "action", "args": "payload", "output": "reply", "duration_s": ["took"]}"#,
    );
    let line =
        |sum: u32| format!(r#"{{"history":[{{"action":"pay","payload":{{"sum":{sum}}}}}],"reply":"ok","took":2}}"#);
    write("t.jsonl", &format!("{}\n{}\n", line(4), line(6)));
    for map in ["map.toml", "map.json"] {
        let out = aver(folder.path(), &["check", "r.assert", "t.jsonl", "--map", map, "--format", "short"], "");
        assert!(out.starts_with("Some(1)") && out.contains("t.jsonl:2") && !out.contains("t.jsonl:1:"), "{out}");
    }
    assert!(aver(folder.path(), &["check", "r.assert", "t.jsonl"], "").starts_with("Some(4)"));
    let shown = aver(folder.path(), &["trace", "show", "t.jsonl", "--map", "map.toml"], "");
    assert!(shown.contains("pay"), "{shown}");
    write("bad.toml", "call = \"history\"\n");
    let mut command = Command::cargo_bin("aver").unwrap();
    let output = command
        .current_dir(folder.path())
        .args(["check", "r.assert", "t.jsonl", "--map", "bad.toml"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("did you mean `calls`?"), "{said}");
}

/// Runs a check with a `--map` file. Returns the exit code and the output with errors.
fn mapped(folder: &Path, map: &str) -> (Option<i32>, String) {
    std::fs::write(folder.join("map.toml"), map).unwrap();
    let mut command = Command::cargo_bin("aver").unwrap();
    let arguments = ["check", "r.assert", "t.jsonl", "--map", "map.toml", "--format", "short"];
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn names_that_do_not_fit_say_what_is_there_instead() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("r.assert", "each pay: args.sum <= 5\nduration <= 3s\nno pay: result == \"x\"\n");
    write("t.jsonl", &"{\"history\":[{\"action\":\"pay\",\"payload\":{\"sum\":4},\"seen\":1}],\"took\":2}\n".repeat(2));
    let good = "calls = \"history\"\ntool = \"action\"\nargs = \"payload\"\nduration_s = \"took\"\nresult = \"seen\"\n";
    assert_eq!(mapped(folder.path(), good), (Some(0), String::new()));
    for (map, code, said) in [
        (good.replace("history", "historie"), 4, "there is no `historie`; help: did you mean `history`?"),
        (
            good.replace("\"action", "\"actoin"),
            4,
            "element 1 of `history` is no call: its tool is not there (`actoin`); help: did you mean `action`?",
        ),
        (good.replace("history", "took"), 4, "`took` is no list of calls but number"),
        (good.replace("seen", "payload"), 2, "`payload` cannot be both `args` and `result`"),
        (String::new(), 2, "the file is empty"),
    ] {
        let (found, text) = mapped(folder.path(), &map);
        assert!(found == Some(code) && text.contains(said), "{map}\n{text}");
    }
}

/// Returns a run whose line is longer than a chunk.
fn long(number: usize, words: usize, secret: &str) -> String {
    let result = "words and more \\u00e9 words, ".repeat(words);
    format!(
        r#"{{"id":"l{number}","output":{{"text":"a summary"}},"tool_calls":[{{"name":"api_call","args":{{}},"result":"{result}"}},{{"name":"search","args":{{}},"result":["{result}","{secret}"]}}],"duration_ms":5}}"#
    )
}

#[test]
fn long_lines_are_judged_like_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.assert"), RULES).unwrap();
    let words = [10, 40_000, 7_000, 3, 60_000, 50_000];
    let lines: Vec<String> = words.iter().enumerate().map(|(number, words)| long(number, *words, "fine")).collect();
    let mut text = lines.join("\n");
    text.push_str(&format!(
        "\n{}\n{}\n{}",
        long(6, 50_000, "AKIAABCDEFGHIJKLMNOP"),
        &long(7, 45_000, "x")[..2_000_000],
        long(8, 2, "AKIAABCDEFGHIJKLMNOP")
    ));
    std::fs::write(folder.path().join("t.jsonl"), &text).unwrap();
    for format in ["summary", "jsonl", "short"] {
        let with = |more: &[&str]| {
            aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format", format], more].concat(), "")
        };
        let one = with(&["--threads", "1"]);
        assert!(one.starts_with("Some(4)"), "{}", &one[..one.len().min(2000)]);
        assert_eq!(one, with(&["--threads", "2"]), "{format}");
        assert_eq!(one, with(&["--threads", "3", "--chunk", "4KiB"]), "{format}");
        assert_eq!(one, with(&["--threads", "1", "--chunk", "64MiB"]), "{format}");
        if format == "short" {
            let failed = |line: &str| one.contains(&format!("fail in t.jsonl:{line}: "));
            assert!(
                failed("7") && failed("9") && !failed("2") && one.contains("t.jsonl:8:"),
                "{}",
                &one[..one.len().min(2000)]
            );
        }
        // Runs that are too long are reported by line; the others are judged.
        let some = with(&["--threads", "2", "--max-run-size", "1MiB"]);
        assert!(some.starts_with("Some(4)"), "{some}");
        if format == "short" {
            let long: Vec<&str> = some.lines().filter(|line| line.contains("--max-run-size")).collect();
            let places: Vec<&str> = long.iter().filter_map(|line| line.split(' ').next()).collect();
            assert_eq!(
                places,
                ["t.jsonl:2:1:", "t.jsonl:5:1:", "t.jsonl:6:1:", "t.jsonl:7:1:", "t.jsonl:8:1:"],
                "{some}"
            );
            assert!(some.contains("fail in t.jsonl:9: "), "{some}");
        }
    }
}

/// Runs that fail rules about fields, with secrets in keys, in JSON inside strings, and in the environment.
fn entries() -> String {
    let mut text = String::new();
    for number in 0..300 {
        let url = ["https://a.b", "http://a.b/hunter22Xq9vTz7w", "AKIAABCDEFGHIJKLMNOP", "\\u0041b\\n"][number % 4];
        let said = ["a summary", "no hunter22Xq9vTz7w", "", "é😀 nothing"][number / 4 % 4];
        let more = [
            "",
            r#","headers":{"password":"hunter22Xq9vTz7w"}"#,
            r#","env":{"TOKENS":"hunter22Xq9vTz7w"}"#,
            r#","note":"{\"password\":\"hunter22Xq9vTz7w\"}""#,
            r#","x":{"a":[1,{"b":null}]}"#,
            r#","pass\u0077ord":"hunter22Xq9vTz7w""#,
        ][number % 6];
        let calls = [
            r#"[{"name":"pay","args":{"sum":3},"result":"ok","error":null}]"#,
            r#"[{"name":"pay","args":{"sum":300,"api_key":"hunter22Xq9vTz7w"},"result":"ok","error":null}]"#,
            "[]",
        ][number / 2 % 3];
        let output =
            if number % 7 == 0 { format!("\"{said}\"") } else { format!(r#"{{"text":"{said}","url" : "{url}"}}"#) };
        let _ = writeln!(
            text,
            r#"{{"id":"r{number}","output":{output},"tool_calls":{calls},"duration_ms":{}{more}}}"#,
            number * 100
        );
    }
    text
}

#[test]
fn reasons_are_the_same_however_little_of_the_run_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"
duration <= 3s
output.url matches /^https:/
output.text contains "summary" or duration < 1s
output.text is not empty when output.url contains "a"
not output.text contains "no" message "it says ${output.text}"
error is missing
meta.kind == 3
each pay: args.sum <= 5
"#;
    std::fs::write(folder.path().join("r.assert"), rules).unwrap();
    std::fs::write(folder.path().join("t.jsonl"), entries()).unwrap();
    for rules in [rules.to_owned(), rules.lines().filter(|line| !line.contains("pay")).collect::<Vec<_>>().join("\n")] {
        std::fs::write(folder.path().join("r.assert"), rules).unwrap();
        for format in ["jsonl", "json", "human --max-failures 99", "human"] {
            let format: Vec<&str> = format.split(' ').collect();
            // With `--strict`, every run is read in full.
            let with = |more: &[&str]| {
                aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format"], &format[..], more].concat(), "")
            };
            let (fast, full) = (with(&[]), with(&["--strict"]));
            // Redacted values are missing in the examples of large checks, too.
            assert!(fast.contains("[redacted]") || format == ["human"], "{fast}");
            assert_eq!(fast, full, "{format:?}");
        }
    }
}

/// Runs that fail statements about calls, with other steps between the calls, arguments in every form, and secrets.
fn courses() -> String {
    let mut text = String::new();
    for number in 0..420 {
        let args = [
            r#"{"sum":3,"to":{"id":"a1"}}"#,
            r#"{"sum":300.5,"to":{"id":"hunter22Xq9vTz7w"}}"#,
            r#"{"sum":"12","sun":1}"#,
            r#""{\"sum\":70}""#,
            "null",
            r#"{"sum":9,"to":[{"id":null}],"note":"\u0041KIAABCDEFGHIJKLMNOP"}"#,
            r#"{ "sum" : 1e2 , "Sum" : 4 }"#,
        ][number % 7];
        let result =
            [r#""ok""#, "null", r#"{"rows":[1,2],"at":"x"}"#, r#""AKIAABCDEFGHIJKLMNOP is it""#][number / 3 % 4];
        let names =
            [["pay", "ask"], ["ask", "pay"], ["pay", "pay"], ["drop_é", "ask"], ["ask", "look"]][number / 2 % 5];
        let times = ["", r#","start_ms":5"#, r#","turn":2"#, r#","start_ms":5,"turn":1"#][number / 5 % 4];
        let call = |name: &str| match number % 11 {
            0 => format!(r#"{{"name":"{name}","result":{result}{times}}}"#),
            1 => format!(r#"{{"name":"{name}","arg":{args},"arguments":{args}{times}}}"#),
            2 => format!(r#"{{"name":"{name}","args":{args},"status":"denied"{times}}}"#),
            _ => format!(r#"{{"x":[{{}}],"name":"{name}","args":{args},"result":{result},"error":null{times}}}"#),
        };
        let calls = format!("[{}, {},{}]", call(names[0]), call(names[1]), call("ask"));
        let message = [
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","content":"hi","turn":1}"#,
            r#"{"role":"user","content":"hi","start":3}"#,
            r#"{"role":"user","content":"[\"hi\"]"}"#,
            r#"{"role":"user","content":" \n{\"password\":\"hunter22Xq9vTz7w\"}"}"#,
        ][number / 7 % 5];
        let more = [
            "",
            r#","config":{"password":"hunter22Xq9vTz7w"}"#,
            r#","complete":null"#,
            r#","env":{"ID":"hunter22Xq9vTz7w"}"#,
            r#","steps":null"#,
        ][number / 13 % 5];
        let messages = if number % 3 == 0 { String::new() } else { format!(r#""messages":[{message},{message}],"#) };
        let output = ["a summary", "no"][number % 2];
        let _ =
            writeln!(text, r#"{{{messages}"output":"{output}","tool_calls":{calls},"duration_ms":{number}{more}}}"#);
    }
    text
}

#[test]
fn reasons_about_calls_are_the_same_however_little_of_the_run_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"
never drop_*, look
count pay <= 1
count ask == 1 when output contains "a"
before ask -> pay
after pay -> look
first ask
last pay
only pay, ask
require look
sequence pay -> look -> ask
either look or leave
each pay: args.sum is number and args.sum <= 30
each ask: args.to.id != "a1" and result exists
some pay: args.sum > 100
no ask: result contains "ok"
each pay: args.sum <= 30 and output contains "summary"
each pay: duration <= 3s or args.sum < 5
never pay(sum > 50)
before ask(to.id: $id) -> pay(to.id: $id)
each pay: args.sum < 10 message "it paid ${args.sum}"
not never pay
duration <= 300ms
output contains "summary"
no key in calls[*].result
no key in calls[*].args
"#;
    let key = "def key(s) = s matches /\\bAKIA[0-9A-Z]{16}\\b/ or s contains \"hunter\"";
    std::fs::write(folder.path().join("t.jsonl"), courses()).unwrap();
    let all: Vec<&str> = rules.lines().filter(|line| !line.is_empty()).collect();
    // Each rule is also tested alone, because the projection reads what all failing rules need together.
    let alone = all.iter().map(|line| ((*line).to_owned(), &["jsonl"][..]));
    for (rules, formats) in alone.chain([(all.join("\n"), &["jsonl", "human"][..])]) {
        std::fs::write(folder.path().join("r.assert"), format!("{key}\n{rules}\n")).unwrap();
        for format in formats {
            let with = |more: &[&str]| {
                aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format", format], more].concat(), "")
            };
            // With `--strict`, every run is read in full.
            let (fast, full) = (with(&["--threads", "2"]), with(&["--strict"]));
            for (fast, full) in fast.lines().zip(full.lines()) {
                assert_eq!(fast, full, "{rules}");
            }
            assert_eq!(fast.len(), full.len());
        }
    }
}

/// Two runs make a statement vacuous for different reasons: in one nothing matches, in the other a value is missing.
#[test]
fn a_vacuous_statement_has_the_reason_of_its_own_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let rules = "after each fetch -> refund(id: $i)\nbefore fetch(id: $i) -> refund\nafter fetch -> refund(sum > 1)\n";
    std::fs::write(path.join("rules.assert"), rules).unwrap();
    let nothing = r#"{"calls":[{"tool":"look","args":{}}]}"#;
    let missing = r#"{"calls":[{"tool":"refund","args":{}},{"tool":"look","args":{}}]}"#;
    let reasons = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let findings = line["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["reason"].to_string()).collect::<Vec<String>>()
    };
    let said = |runs: [&str; 2]| {
        let lines = aver(path, &["check", "rules.assert", "-", "--format", "jsonl"], &runs.join("\n"));
        lines.lines().skip(2).take(2).map(reasons).collect::<Vec<_>>()
    };
    let (idle, by_missing) = (said([nothing, nothing]).remove(0), said([missing, missing]).remove(0));
    assert!(by_missing.concat().contains("was decided by something missing every time") && idle != by_missing);
    assert_eq!(said([nothing, missing]), [idle.clone(), by_missing.clone()]);
    assert_eq!(said([missing, nothing]), [by_missing, idle]);
}

#[test]
fn what_a_rule_looks_at_has_to_be_json_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.assert"), "output.url matches /^https:/\neach api_call: args.amount <= 30\n")
        .unwrap();
    for line in [
        r#"{"calls":[],"output":1.}"#,
        r#"{"calls":[],"output":nul}"#,
        r#"{"calls":[],"output":[1,]}"#,
        r#"{"tool_calls":[{"name":"api_call","args":-,"result":"x"}],"final_output":{"url":"http:"}}"#,
    ] {
        std::fs::write(folder.path().join("t.jsonl"), format!("{line}\n{line}\n")).unwrap();
        for format in ["summary", "short", "human", "json", "jsonl"] {
            let said = aver(folder.path(), &["check", "r.assert", "t.jsonl", "--format", format], "");
            assert!(said.starts_with("Some(4)"), "{format} of {line}: {said}");
        }
    }
}

#[test]
fn a_message_about_an_expected_failure_that_passes_is_told_however_little_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("r.assert"),
        "rule r message \"of the rule\" {\n  first a expect fail \"known\"\n}\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("t.jsonl"),
        "{\"calls\": [{\"tool\": \"a\"}]}\n{\"calls\": [{\"tool\": \"b\"}]}\n",
    )
    .unwrap();
    let with = |more: &[&str]| {
        aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format", "jsonl"], more].concat(), "")
    };
    let plain = with(&[]);
    assert!(plain.contains(r#""message":"of the rule""#), "{plain}");
    assert_eq!(plain, with(&["--strict"]));
}

#[test]
fn which_of_several_steps_does_not_occur_is_told_of_each_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.assert"), "apart a, b\n").unwrap();
    std::fs::write(folder.path().join("t.jsonl"), "{\"calls\": [{\"tool\": \"a\"}]}\n{\"calls\": []}\n").unwrap();
    let with = |more: &[&str]| {
        aver(folder.path(), &[&["check", "r.assert", "t.jsonl", "--format", "jsonl"], more].concat(), "")
    };
    let plain = with(&[]);
    assert!(plain.contains("there is no b") && plain.contains("there is no a and no b"), "{plain}");
    assert_eq!(plain, with(&["--strict"]));
}

/// Rules about tools and about JSON in strings give the same results for many runs, read partly or in full, as for each run alone.
#[test]
fn facts_of_tools_and_json_in_texts_hold_for_runs_that_are_read_in_part() {
    let rules = "tool any fails when result starts with \"Error\"\ntool drop also mcp__*__drop\ntool drop tagged destructive\n\
        never any failed\nnever drop\nnever any tagged destructive\nrequire look(result.state: \"open\")\noutput.state == \"open\"\n\
        count look ok <= 1\nnever look\nbefore look(result.id: $i) -> drop(id: $i)\n";
    let results =
        ["fine", "Error: no", r#"{\"state\": \"open\", \"id\": 1}"#, r#"{\"state\": \"shut\", \"id\": 2}"#, "{ no"];
    let line = |number: usize| {
        let (first, second) = (results[number % 5], results[number / 5 % 5]);
        let tool = ["look", "drop", "mcp__a__drop", "other"][number % 4];
        format!(
            r#"{{"calls":[{{"tool":"look","args":{{}},"result":"{first}"}},{{"tool":"{tool}","args":{{"id":{}}},"result":"{second}"}}],"output":"{second}"}}"#,
            number % 3
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("r.assert", rules);
    let lines: Vec<String> = (0..120).map(line).collect();
    write("all.jsonl", &(lines.join("\n") + "\n"));
    let verdicts = |name: &str, flags: &[&str]| -> Vec<serde_json::Value> {
        let out = aver(folder.path(), &[&["check", "r.assert", name, "--format", "jsonl"], flags].concat(), "");
        let runs = out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        runs.filter(|one| one.get("run").is_some()).map(|one| one["verdicts"].clone()).collect()
    };
    let together = verdicts("all.jsonl", &[]);
    assert_eq!(together.len(), lines.len());
    assert_eq!(together, verdicts("all.jsonl", &["--strict"]));
    for (number, line) in lines.iter().enumerate().step_by(7) {
        write("one.json", line);
        assert_eq!(verdicts("one.json", &[]), [together[number].clone()], "{line}");
    }
    let all = serde_json::to_string(&together).unwrap();
    for verdict in ["pass", "fail", "vacuous"] {
        assert!(all.contains(verdict), "no run is {verdict}");
    }
}
