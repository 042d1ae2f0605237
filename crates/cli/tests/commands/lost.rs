//! No run is lost silently: neither because of extreme numbers nor because of missing memory.

use crate::folder::Folder;

/// Numbers at the limits of machine types.
const EDGES: [&str; 12] = [
    "-9223372036854775808",
    "-9223372036854775809",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "-2147483648",
    "9007199254740993",
    "-9007199254740992",
    "1e308",
    "-1e308",
    "1e-300",
    "0",
];

/// Returns one run for each number, one per line.
fn runs() -> String {
    EDGES.iter().map(|number| format!("{{\"output\": {{\"b\": {number}}}}}\n")).collect()
}

#[test]
fn the_smallest_number_breaks_nothing() {
    let folder = Folder::new(&[
        ("r.assert", "output.b != -9223372036854775808"),
        ("p.assert", "param n: number = 0\noutput.b != n"),
        ("t.jsonl", &"{\"output\": {\"b\": 1}}\n".repeat(3)),
        ("u.jsonl", "{\"output\": {\"b\": -9223372036854775808}}\n"),
    ]);
    for rules in ["r.assert", "p.assert --param n=-9223372036854775808"] {
        for more in ["", "--allow empty", "--threads 1", "--format summary"] {
            let ran = folder.aver(&format!("check {rules} t.jsonl {more}"));
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{rules} {more}: {ran:?}");
            assert!(ran.out.contains("3 passed in 3 runs"), "{rules} {more}: {ran:?}");
            assert_eq!(folder.aver(&format!("check {rules} u.jsonl {more}")).code, 1, "{rules} {more}");
        }
    }
}

#[test]
fn no_number_of_rules_or_runs_is_too_large_to_be_judged() {
    let mut rules = String::from("param n: number = 0\n");
    for number in EDGES {
        for test in ["==", "!=", "<", "<=", "===", "!=="] {
            rules.push_str(&format!("output.b {test} {number} or true\n"));
        }
        for value in [
            format!("output.b + {number}"),
            format!("output.b - {number}"),
            format!("output.b * {number}"),
            format!("output.b / {number}"),
            format!("output.b % {number}"),
            format!("-output.b - -({number})"),
            format!("abs(output.b) + abs({number})"),
            format!("round(output.b, {number})"),
            format!("round({number}, -2147483648)"),
            format!("floor(output.b) + ceil({number})"),
            format!("sum([output.b, {number}, n])"),
            format!("percentile([output.b, {number}], 1)"),
        ] {
            rules.push_str(&format!("{value} == 1 or true\n"));
        }
        rules.push_str(&format!("output.b in [{number}, n] or true\noutput.b in {number}.. or true\n"));
    }
    let folder = Folder::new(&[("r.assert", &rules), ("t.jsonl", &runs())]);
    for number in EDGES {
        let ran = folder.aver(&format!("check r.assert t.jsonl --format json --param n={number}"));
        let report = ran.json();
        let summary = &report["summary"];
        assert_eq!((ran.code, &summary["runs"]), (0, &serde_json::json!(EDGES.len())), "{number}: {}", ran.err);
        assert_eq!((&summary["error"], summary.get("not_judged")), (&serde_json::json!(0), None), "{number}");
    }
}

/// Creates rules that a large run breaks, beside small runs that pass.
fn starved() -> Folder {
    let small = "{\"calls\": [{\"tool\": \"search\"}], \"output\": \"fine\"}\n".repeat(2);
    let call = |number: usize| format!("{{\"tool\": \"search\", \"result\": \"what the tool {number} has said\"}}");
    let calls: Vec<String> = (0..40_000).map(call).collect();
    let large = format!("{{\"calls\": [{}, {{\"tool\": \"delete\"}}]}}", calls.join(", "));
    Folder::new(&[
        ("r.assert", "never delete\noutput != \"bad\"\n"),
        ("small.jsonl", &small),
        ("large.json", &large),
        ("long.jsonl", &format!("{small}{large}\n")),
    ])
}

#[test]
#[cfg(target_os = "linux")]
fn a_check_without_memory_never_passes() {
    let folder = starved();
    let aver = env!("CARGO_BIN_EXE_aver");
    let mut said = 0;
    for (megabytes, large) in (60..=310).step_by(50).flat_map(|size| [(size, "large.json"), (size, "long.jsonl")]) {
        for more in ["--threads 1 --format json", "--threads 4 --format summary --allow empty --report json=out.json"] {
            folder.write("out.json", b"");
            let limit = megabytes * 1024;
            let line =
                format!("ulimit -c 0; ulimit -v {limit}; exec '{aver}' check r.assert small.jsonl {large} {more}");
            let ran = std::process::Command::new("bash")
                .args(["-c", &line])
                .current_dir(folder.path())
                .env("RUST_BACKTRACE", "0")
                .output()
                .unwrap();
            let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            let case = format!("{megabytes} MiB {large} {more}: {:?} {out} {err}", ran.status);
            assert!(!ran.status.success(), "{case}");
            // A report that could be finished has the same content.
            let report = if more.contains("--report") { folder.read("out.json") } else { out.clone().into_owned() };
            if let Ok(report) = serde_json::from_str::<serde_json::Value>(&report) {
                assert_eq!(report["passed"].as_bool(), Some(false), "{case}");
                let count = |name: &str| report["summary"][name].as_u64().unwrap_or(0);
                let unreadable = report["unreadable"].as_array().unwrap().len() as u64;
                let runs = 3 + if large == "long.jsonl" { 2 } else { 0 };
                // If memory runs out, the report counts the runs that are known to be lost, and says that there may be more.
                let counted = count("runs") + count("not_judged") + unreadable;
                // If reading fails for lack of memory, the trace is reported as incomplete.
                let cut = report["unreadable"].to_string().contains("not enough memory to read on in the file")
                    && matches!(ran.status.code(), Some(4 | 5));
                let lost = count("not_judged") > 0 && err.contains("error: at least") && ran.status.code() == Some(5);
                assert!(counted >= runs || lost || cut, "{case}");
                let least = cut || report["summary"].get("not_judged_at_least").is_some();
                assert!(counted >= runs || least, "the report counts less than all and does not say so: {case}");
                let ended = err.contains("a thread broke down") || err.contains("there was no memory to go on");
                let broke = count("not_judged") > 0 || ended;
                assert_eq!(ran.status.code() == Some(5), broke, "{case}");
                said += u32::from(count("not_judged") > 0 && err.contains("not judged") || err.contains("broke down"));
            }
        }
    }
    assert!(said > 0, "no limit was such that a run was lost and the rest reported");
}
