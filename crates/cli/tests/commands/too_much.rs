//! Rules and runs that exceed the limits: each ends with a clear message, within little memory, and never passes.

#![cfg(target_os = "linux")]

use crate::folder::Folder;
use std::fmt::Write as _;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Memory limit of a command in KiB. Without limits in the program, everything here would need many times as much.
const MEMORY: usize = 1_500 << 10;

/// Runs a command in little memory, with a timeout of a minute.
fn aver(folder: &Folder, arguments: &str) -> Output {
    aver_within(folder, arguments, MEMORY)
}

/// Runs a command with this memory limit, in KiB.
fn aver_within(folder: &Folder, arguments: &str, memory: usize) -> Output {
    let line = format!("ulimit -c 0; ulimit -v {memory}; exec timeout 60 '{}' {arguments}", env!("CARGO_BIN_EXE_aver"));
    let ran = Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    assert!(ran.status.code().is_some_and(|code| code <= 5), "{arguments}: {:?} {}", ran.status, said(&ran));
    ran
}

fn said(ran: &Output) -> String {
    let all = [ran.stdout.as_slice(), ran.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&all).into_owned();
    text.chars().take(4_000).collect()
}

/// Returns the exit code and the output of a check.
fn checked(files: &[(&str, &str)], more: &str) -> (i32, String) {
    let folder = Folder::new(files);
    let ran = aver(&folder, &format!("check r.assert t.json --threads 2 {more}"));
    (ran.status.code().unwrap(), said(&ran))
}

const RUN: &str = r#"{"output": "hi", "tool_calls": []}"#;

/// Returns sixty levels of lists, each with the previous one twice: too large to write out.
fn doubled(last: &str) -> String {
    let lets = (1..60).fold("let a0 = [output, output]\n".to_owned(), |mut rules, number| {
        let _ = writeln!(rules, "let a{number} = [a{0}, a{0}]", number - 1);
        rules
    });
    lets + last + "\n"
}

#[test]
fn values_that_hold_a_part_many_times_are_not_looked_through_and_not_written_out() {
    let limits = ["takes more steps than the limit allows", "take more memory than the limit allows"];
    for (last, code) in [
        ("a59 == a58", 5),
        ("a59 contains a58", 5),
        ("\"${a59}\" == \"x\"", 5),
        ("text(a59) == \"x\"", 5),
        ("join([a59, a58], \",\") == \"x\"", 5),
        ("distinct(a59) == []", 5),
        ("jsonpath(a59, \"$..b\") == [1]", 5),
        ("a59[**] contains \"x\"", 5),
        ("a59 contains \"x\"", 5),
        ("json(a59) == 1", 5),
        ("length(a59) == 3", 1),
        ("output in a59", 5),
    ] {
        for format in ["human", "html"] {
            let (exit, said) = checked(&[("r.assert", &doubled(last)), ("t.json", RUN)], &format!("--format {format}"));
            assert_eq!(exit, code, "{last}: {said}");
            assert!(code == 1 || format == "html" || limits.iter().any(|limit| said.contains(limit)), "{last}: {said}");
        }
    }
}

#[test]
fn evidence_of_a_value_takes_no_more_than_reports_show_of_it() {
    let nested = format!("{}\"{}\"{}", "{\"a\":".repeat(240), "y".repeat(20), "}".repeat(240));
    let run = format!(r#"{{"output": [{}], "tool_calls": []}}"#, vec![nested; 300].join(","));
    let (exit, said) = checked(&[("r.assert", "output[**] contains \"x\"\n"), ("t.json", &run)], "--format json");
    assert_eq!(exit, 1, "{said}");
    // Many assertions about one large text share one limit.
    let rules: String = (0..60).map(|number| format!("output starts with \"x{number}\"\n")).collect();
    let run = format!(r#"{{"output": "{}", "tool_calls": []}}"#, "a".repeat(1 << 20));
    let (exit, said) = checked(&[("r.assert", &rules), ("t.json", &run)], "--format json");
    assert_eq!(exit, 1, "{said}");
}

#[test]
fn a_jsonpath_that_takes_too_much_to_read_is_said_before_it_is_read() {
    let long = format!("${}", ".a".repeat(40_000));
    for path in ["[?@".repeat(2_500) + &"]".repeat(2_500), "[?@".repeat(24) + &"]".repeat(24), long] {
        let path = if path.starts_with('$') { path } else { format!("${path}") };
        let folder = Folder::new(&[("r.assert", &format!("jsonpath(output, '{path}') is empty\n")), ("t.json", RUN)]);
        for command in ["lint r.assert", "check r.assert t.json"] {
            let ran = aver(&folder, command);
            assert_eq!(ran.status.code(), Some(3), "{command}: {}", said(&ran));
            assert!(said(&ran).contains("this JSONPath is too much"), "{command}: {}", said(&ran));
        }
    }
    let (exit, said) = checked(
        &[("r.assert", "jsonpath(output, '$.a[?(@.b[?(@.c[0] == 1)])]') is empty\n"), ("t.json", RUN)],
        "--allow undecided",
    );
    assert!(exit < 2, "what people write is read: {said}");
}

fn calls(count: usize) -> String {
    let calls: Vec<String> =
        (0..count).map(|id| format!(r#"{{"name":"a","args":{{"id":{id},"k":{}}}}}"#, id % 7)).collect();
    format!(r#"{{"output": "hi", "tool_calls": [{}]}}"#, calls.join(","))
}

#[test]
fn blocks_in_blocks_end() {
    let rules = "each any { each any { each any { each any: args.id >= 0 } } }\n";
    for (rules, run) in [(rules, calls(1_500)), ("each a { each a: args.id >= 0 }\n", calls(20_000))] {
        let (exit, said) = checked(&[("r.assert", rules), ("t.json", &run)], "");
        assert_eq!(exit, 5, "{rules}: {said}");
        assert!(said.contains("takes more steps than the limit allows"), "{rules}: {said}");
    }
    let (exit, said) =
        checked(&[("r.assert", "each a(id: $id) { each a(id: $id): args.k >= 0 }\n"), ("t.json", &calls(20_000))], "");
    assert_eq!(exit, 0, "equal names are looked up: {said}");
}

#[test]
fn regular_expressions_are_too_large_together() {
    let rules: String =
        (0..3_000).map(|number| format!("output matches /\\w{{{}}}\\d+{number}/u\n", 1 + number % 50)).collect();
    let began = Instant::now();
    let (exit, said) = checked(&[("r.assert", &rules), ("t.json", RUN)], "");
    assert_eq!(exit, 3, "{said}");
    assert!(said.contains("the regular expressions of these rules take more than 128 MiB together"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn suggestions_for_many_misspelt_names_end() {
    let known: String = (0..1_500).map(|number| format!("let name_number_{number} = 1\n")).collect();
    let rules: String = (0..1_500).map(|number| format!("name_numbr_{number}x == 1\n")).collect();
    let began = Instant::now();
    let (exit, said) = checked(&[("r.assert", &(known + &rules)), ("t.json", RUN)], "");
    assert_eq!(exit, 3, "{said}");
    assert!(said.contains("name_numbr_0x"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn a_statement_of_many_literals_is_read_once() {
    let rules = (0..60_000).map(|number| format!("output == \"{number}\"")).collect::<Vec<_>>().join(" or ");
    let began = Instant::now();
    let (exit, said) = checked(&[("r.assert", &rules), ("t.json", RUN)], "");
    assert_eq!(exit, 1, "{said}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn what_lints_look_for_in_long_conditions_has_an_end() {
    let texts: Vec<String> = (0..60_000).map(|number| format!("output == \"{number}\"")).collect();
    let numbers: Vec<String> = (0..60_000).map(|number| format!("output.a{number} != {number}")).collect();
    let contains: Vec<String> = (0..6_000).map(|number| format!("output contains \"{number}x\"")).collect();
    for rules in [texts.join(" or "), numbers.join(" and "), contains.join(" or "), contains.join(" and not ")] {
        let folder = Folder::new(&[("r.assert", &rules)]);
        let began = Instant::now();
        let ran = aver_within(&folder, "lint r.assert", 1_000 << 10);
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        assert!(began.elapsed() < Duration::from_secs(40), "{:?} {}", began.elapsed(), &rules[..60]);
    }
}

#[test]
fn a_catalogue_is_compared_with_many_unknown_names_in_little_time() {
    let tools: Vec<String> = (0..8_000).map(|number| format!("{{\"name\": \"name_number_{number}\"}}")).collect();
    let tools = format!("{{\"tools\": [{}]}}", tools.join(","));
    let rules = (0..8_000).map(|number| format!("never name_numbr_{number}x\n")).collect::<String>();
    let globs = (0..18_000).map(|number| format!("never \"*a{number}*b{}?c*\"\n", number % 7)).collect::<String>();
    for (rules, word) in
        [("tools from \"tools.json\"\n".to_owned() + &rules, "did you mean `name_number_"), (globs, "")]
    {
        let folder = Folder::new(&[("r.assert", &rules), ("t.json", RUN), ("tools.json", &tools)]);
        for command in ["lint r.assert", "check r.assert t.json"] {
            let began = Instant::now();
            let ran = aver_within(&folder, command, 1_000 << 10);
            assert!(ran.status.code().is_some_and(|code| code < 2), "{command}: {}", said(&ran));
            assert!(command.starts_with("check") || said(&ran).contains(word), "{command}: {}", said(&ran));
            assert!(began.elapsed() < Duration::from_secs(30), "{command}: {:?}", began.elapsed());
        }
    }
}

#[test]
fn what_is_derived_of_commands_is_counted() {
    let command = format!("\"{}\"", "a;".repeat(256));
    let run = format!(r#"{{"output": "hi", "commands": [{}]}}"#, vec![command; 16_000].join(","));
    let (exit, said) = checked(&[("r.assert", "never command \"rm\"\n"), ("t.json", &run)], "");
    assert_eq!(exit, 4, "{said}");
    assert!(said.contains("what the commands of the run say takes more than 256 MiB"), "{said}");
}

#[test]
fn the_time_of_a_command_is_bounded() {
    // Each of many assertions has its own fuel.
    let rules: String = (0..300)
        .map(|number| {
            format!("all a in calls: all b in calls: all c in calls: a.args.id + b.args.id + c.args.id >= -{number}\n")
        })
        .collect();
    let folder = Folder::new(&[
        ("r.assert", &rules),
        ("t.json", &calls(3_000)),
        ("u.jsonl", &(RUN.to_owned() + "\n").repeat(50)),
    ]);
    for (command, kept) in [
        ("check r.assert t.json u.jsonl --max-time 1s --format json --threads 1", true),
        ("check r.assert t.json --max-time 1s --format human --threads 2", false),
        ("explain r.assert t.json --max-time 1s", false),
    ] {
        let began = Instant::now();
        let ran = aver(&folder, command);
        assert_eq!(ran.status.code(), Some(5), "{command}: {}", said(&ran));
        // Starting a process under load takes part of that time.
        assert!(began.elapsed() < Duration::from_millis(2_900), "{command}: {:?}", began.elapsed());
        if kept && let Ok(report) = serde_json::from_slice::<serde_json::Value>(&ran.stdout) {
            assert_eq!(report["passed"].as_bool(), Some(false), "{}", said(&ran));
        }
    }
    let ran = aver(&folder, "check r.assert t.json --max-time soon");
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    let ran = aver(
        &Folder::new(&[("r.assert", "output == \"hi\"\n"), ("t.json", RUN)]),
        "check r.assert t.json --max-time 50s",
    );
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
}

#[test]
fn every_command_ends_when_its_time_is_over() {
    let rules: String = (0..3_000).fold(String::new(), |mut rules, number| {
        let _ = writeln!(rules, "before a{number}(x: {number}) -> b{number}");
        rules
    });
    let folder = Folder::new(&[("r.assert", &rules), ("t.json", &calls(20_000))]);
    let compiled = aver(&folder, "compile r.assert -o r.assertc");
    assert_eq!(compiled.status.code(), Some(0), "{}", said(&compiled));
    for command in [
        "check r.assert t.json",
        "compile r.assert -o s.assertc",
        "disasm r.assertc",
        "explain r.assert t.json",
        "fmt --check r.assert",
        "inputs r.assert",
        "lint r.assert",
        "repl r.assert --on t.json </dev/null",
        "test r.assert",
        "trace show t.json",
        "trace stats t.json",
    ] {
        let ran = aver(&folder, &format!("--max-time 1ms {command}"));
        assert_eq!(ran.status.code(), Some(5), "{command}: {}", said(&ran));
        assert!(said(&ran).contains("this takes longer than `--max-time 1ms` allows"), "{command}: {}", said(&ran));
    }
    assert!(!folder.path().join("s.assertc").exists(), "what is not finished is not written");
    // A hook that ends with exit code 5 would allow the call.
    let ran = aver(&folder, "guard hook --max-time 1ms </dev/null");
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
}
