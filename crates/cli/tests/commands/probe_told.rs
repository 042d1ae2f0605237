//! `aver probe`: messages about servers and rules that do not fit each other, and results if a part of a server is unusable.

use super::folder::{Folder, Ran};
use super::probe::{RULES, folder, probed};
use std::path::Path;
use std::time::{Duration, Instant};

/// Probes a server with this list of tools.
fn listing(folder: &Folder, tools: &str, more: &str) -> Ran {
    probed(folder, "good", &format!("--format short --env 'LIST={{\"tools\":{tools}}}' {more}"))
}

#[test]
fn tools_that_the_server_does_not_list_are_told_and_are_not_all_that_is_asked() {
    let folder = folder();
    let misspelt =
        "invariant misspelt { call ecko generate { a: integer 0..9 } cases 3 seed 7\n  envelope.content is list\n}\n";
    let unknown = "invariant unknown { call nothing {}\n  expect error\n}\n";
    folder.write("r.assert", misspelt.as_bytes());
    let said = ["the server does not list the tool `ecko`; did you mean `echo`?", "--allow empty"];
    probed(&folder, "good", "--format short").refused(&said);
    assert_eq!(folder.read("sent.jsonl"), "");
    let ran = probed(&folder, "good", "--format short --allow empty");
    assert!(ran.code == 0 && ran.out.contains("[unlisted]") && ran.out.contains(said[0]), "{ran:?}");
    assert!(ran.err.contains("1 of tools that the server does not list"), "{ran:?}");
    // Invariants about an unknown tool are called unchanged.
    folder.write("r.assert", unknown.as_bytes());
    let ran = probed(&folder, "good", "--format short --strict");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    folder.write(
        "r.assert",
        format!("{misspelt}{unknown}{RULES}").replacen("invariant unknown", "invariant other", 1).as_bytes(),
    );
    assert_eq!(probed(&folder, "good", "--format short").code, 0);
    let ran = probed(&folder, "good", "--format short --strict --save out");
    assert!(ran.code == 1 && ran.err.contains("`--strict` fails on that"), "{ran:?}");
    let again = folder.aver("check r.assert -r out/server.assert out/runs.jsonl --format short");
    assert_eq!((again.code, &again.out), (0, &ran.out));
}

#[test]
fn of_what_is_said_of_a_tool_the_worst_counts() {
    let read = "\"annotations\":{\"readOnlyHint\":true}";
    let destroys = "\"annotations\":{\"destructiveHint\":true}";
    for (tools, finding) in [
        ("[{\"name\":\"echo\",\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":true}}]".to_owned(), ""),
        (format!("[{{\"name\":\"echo\",{read}}},{{\"name\":\"echo\",{destroys}}}]"), "2 tools of the name `echo`"),
        ("[{\"name\":\"echo\",\"annotations\":{\"destructiveHint\":\"true\"}}]".to_owned(), "neither true nor false"),
    ] {
        let folder = folder();
        let ran = listing(&folder, &tools, "");
        assert!(!folder.read("sent.jsonl").contains("echo"), "{tools}: {ran:?}");
        assert!(ran.out.contains("[skipped]") && ran.out.contains(finding), "{tools}: {ran:?}");
        assert_eq!(ran.code, i32::from(!finding.is_empty()), "{tools}: {ran:?}");
    }
    let folder = folder();
    probed(&folder, "good", "--deny-tool 'ecko'").refused(&["`--deny-tool ecko` fits no tool", "did you mean `echo`?"]);
    let ran = probed(&folder, "good", "--allow-tool 'delete_none*'");
    assert!(ran.code == 0 && ran.err.contains("warning: `--allow-tool delete_none*` fits no tool"), "{ran:?}");
}

#[test]
fn a_run_records_the_tools_that_it_calls() {
    let folder = folder();
    let each = "invariant each { for each tool { call tool generate from schema cases 1 seed 7\n  expect ok\n} }\n";
    folder.write("r.assert", each.as_bytes());
    let ran = probed(&folder, "many", "--format summary --save out");
    assert!(ran.code == 0 && ran.err.contains("3000 calls"), "{ran:?}");
    let runs = folder.read("out/runs.jsonl");
    assert!(runs.lines().count() == 3000 && runs.len() < 3000 * 1000, "{}", runs.len());
    let again = folder.aver("check r.assert -r out/server.assert out/runs.jsonl --format summary");
    assert_eq!(again.out, ran.out);
}

#[test]
fn a_schema_that_cannot_be_used_concerns_those_that_need_it() {
    let odd = "{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"(x\"}}}}";
    let none = "{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[]}},\"required\":[\"a\"]}}";
    let large = format!("{{\"name\":\"other\",\"inputSchema\":{{\"enum\":[{}1]}}}}", "1,".repeat(140_000));
    for (tool, said) in
        [(odd, "`other` cannot be used"), (none, "its inputs cannot be made"), (&large, "larger than 262144 bytes")]
    {
        let folder = folder();
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
        let text = std::fs::read_to_string(server).unwrap();
        let listed = format!("json.loads(r'{{\"tools\":[{{\"name\":\"echo\"}},{tool}]}}')");
        folder.write("server.py", text.replace("json.loads(os.environ[\"LIST\"])", &listed).as_bytes());
        let probe = "probe r.assert --server 'python3 server.py good sent.jsonl' --allow-run --env LIST=own --format short --save out";
        let ran = folder.aver(probe);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
        let each = "invariant each { for each tool { call tool generate from schema cases 1 seed 7\n  expect ok\n} }\n";
        folder.write("r.assert", format!("{RULES}{each}").as_bytes());
        let ran = folder.aver(probe);
        assert!(ran.code == 1 && ran.out.contains("[unasked]") && ran.out.contains(said), "{ran:?}");
        assert!(ran.err.contains("not asked"), "{ran:?}");
        let again = folder.aver("check r.assert -r out/server.assert out/runs.jsonl --format short");
        assert_eq!((again.code, again.out), (1, ran.out));
    }
}

#[test]
fn what_needs_other_calls_before_it_is_kept_with_them() {
    let folder = folder();
    let ran = probed(&folder, "second-call-kills", "--format short --corpus found");
    assert!(ran.code == 1 && ran.err.contains("does not fail with one call alone: 1 come before it"), "{ran:?}");
    assert!(!ran.err.contains("smaller input"), "{ran:?}");
    let again = probed(&folder, "second-call-kills", "--format short --corpus found --replay");
    assert!(again.code == 1 && again.out.contains("[crash]"), "{again:?}");
    // Corpus inputs of a removed invariant are reported.
    folder.write(
        "r.assert",
        format!("{}invariant more {{ call echo {{ a: 1 }}\n  expect ok\n}}\n", RULES.replace("echoes", "renamed"))
            .as_bytes(),
    );
    let kept = "{\"invariant\":\"renamed\",\"tool\":\"echo\",\"arguments\":{\"a\":1},\"found\":[]}";
    folder.write("found/own.json", kept.as_bytes());
    let ran = probed(&folder, "good", "--corpus found --replay");
    assert!(ran.code == 2 && ran.err.contains("`echoes` is not asked of `echo`"), "{ran:?}");
}

#[test]
fn what_is_wrong_at_the_start_is_told() {
    let initialize = |what: &str| format!("--env 'INITIALIZE={what}' --format short");
    let begun = |version: &str, capabilities: &str| {
        initialize(&format!(
            "{{\"protocolVersion\":\"{version}\",\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"a\",\"version\":\"1\"}}}}"
        ))
    };
    let list = |what: &str| format!("--env 'LIST={what}' --format short");
    for (flags, said) in [
        (begun("1999-01-01", "{\"tools\":{}}"), "the version `1999-01-01`"),
        (begun("2025-06-18", "{}"), "does not declare the capability `tools`"),
        (list("{\"tools\":[1,{\"name\":\"echo\"}]}"), "tool 1 of `tools/list` has no name"),
        (list("{\"tools\":[{\"name\":\"echo\"}],\"nextCursor\":5}"), "`nextCursor` of `tools/list` is 5"),
    ] {
        let ran = probed(&folder(), "good", &flags);
        assert!(ran.code == 1 && ran.out.contains("[protocol]") && ran.out.contains(said), "{ran:?}");
    }
    for list in [list("{}"), list("{\"tools\":{\"name\":\"echo\"}}")] {
        probed(&folder(), "good", &list).refused(&["without a list `tools`"]);
    }
    probed(&folder(), "good", &list("{\"tools\":[]}")).refused(&["the server lists no tools"]);
    let ran = probed(&folder(), "hangs-at-start", "--timeout 60s --max-time 1s");
    assert!(ran.code == 5 && ran.err.contains("--max-time 1s"), "{ran:?}");
}

#[test]
fn inputs_outside_of_a_schema_are_written_where_an_error_is_expected() {
    let tools = "[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"additionalProperties\":false}}]";
    let folder = folder();
    folder.write("r.assert", b"invariant more { call echo { a: 1, b: 2 }\n  expect error\n}\n");
    let ran = listing(&folder, tools, "");
    assert!(ran.code == 1 && ran.out.contains("[more.1]"), "{ran:?}");
    assert!(folder.read("sent.jsonl").contains("\"b\": 2"));
    folder.write("r.assert", b"invariant more { call echo { a: 1, b: 2 }\n  expect ok\n}\n");
    assert_eq!(listing(&folder, tools, "").code, 3);
}

#[test]
fn names_of_tools_do_not_steer_the_terminal() {
    let folder = folder();
    folder.write("r.assert", b"invariant each { for each tool { call tool {}\n  expect ok\n} }\n");
    let ran = listing(&folder, "[{\"name\":\"echo\\u009b31m\\u202e\"}]", "--dry-run");
    assert!(ran.code == 0 && ran.out.contains("echo\\u009b31m\\u202e"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_at_the_start_is_what_ends_the_command() {
    for signal in ["INT", "TERM"] {
        let folder = folder();
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
        let server = format!("python3 {} hangs-at-start sent.jsonl", server.display());
        let mut aver = std::process::Command::new(env!("CARGO_BIN_EXE_aver"));
        aver.args(["probe", "r.assert", "--timeout", "60s", "--allow-run", "--server", &server]);
        let mut child = aver.current_dir(folder.path()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        while !folder.path().join("sent.jsonl").exists() && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = std::process::Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if signal == "INT" { 130 } else { 143 }));
    }
}

/// Without `--save` the recording is in no file, so findings must not point at it.
#[test]
fn a_finding_points_at_files_that_exist() {
    let folder = folder();
    folder.write("r.assert", RULES.replace("response.a >= 0", "response.a >= 100").as_bytes());
    let places = |ran: &Ran| -> Vec<String> {
        let arrows = ran.out.lines().filter_map(|line| line.trim_start().strip_prefix("--> ").map(str::to_owned));
        arrows.map(|place| place.split(':').next().unwrap().to_owned()).collect()
    };
    let ran = probed(&folder, "hangs", "--timeout 1s --no-shrink");
    assert!(ran.code == 1 && ran.err.contains("the recording is not kept; `--save DIR`"), "{ran:?}");
    let unsaved = places(&ran);
    assert!(
        !unsaved.is_empty()
            && unsaved
                .iter()
                .all(|place| ["r.assert", "recording", "std/probe/server.assert"].contains(&place.as_str())),
        "{unsaved:?}"
    );
    let ran = probed(&folder, "good", "--no-shrink --save out");
    let saved = places(&ran);
    assert!(!saved.is_empty() && saved.iter().all(|place| folder.path().join(place).is_file()), "{saved:?}");
}
