//! `aver explain RULES TRACE` as a user meets it.

use crate::folder::Folder;
use averment_base::limits::Limits;
use averment_engine::vm::evaluate::{EvaluateOptions, derive_run, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_fixtures as fixtures;
use averment_fixtures::Rules;
use averment_traces::read_str;
use bumpalo::Bump;
use std::path::PathBuf;
use std::process::Command;

fn golden() -> PathBuf {
    fixtures::project("tests/golden/explain")
}

fn explained(name: &str, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["explain", &format!("{name}.assert"), &format!("{name}.json")])
        .args(more)
        .current_dir(golden())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{name}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn derivations_for_people() {
    for path in fixtures::rule_files(&golden()) {
        let name = fixtures::stem(&path);
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(name.as_str(), explained(&name, &[]));
    }
}

/// Returns rules with runs: the golden files of this test, those of the evaluation tests, and the examples.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let root = averment_fixtures::root();
    let mut pairs = Vec::new();
    for folder in ["tests/golden/explain", "tests/golden/evaluate"] {
        let files = fixtures::rule_files(&root.join(folder)).into_iter();
        pairs.extend(files.map(|rules| (rules.clone(), rules.with_extension("json"))));
    }
    for example in ["refund-agent/refunds", "coding-agent/coding", "research-agent/research"] {
        let rules = root.join(format!("examples/{example}.assert"));
        let runs = std::fs::read_dir(rules.parent().unwrap().join("runs")).unwrap().flatten();
        pairs.extend(runs.map(|run| (rules.clone(), run.path())));
    }
    pairs
}

#[test]
fn a_derivation_changes_no_verdict() {
    let mut judged = 0;
    for (rules, run) in pairs() {
        let text = std::fs::read_to_string(&run).unwrap();
        let disk = averment_checker::files::Disk::anywhere(1 << 20);
        let source = std::fs::read_to_string(&rules).unwrap();
        let rules = Rules::with_files("rules.assert", rules.parent(), &source, &disk).unwrap();
        let (program, prepared, arena) = (rules.program(), PreparedProgram::new(rules.program()), Bump::new());
        // Some examples are not recorded in the normal form.
        let Ok(read) = read_str(&text, &arena, &Limits::default()) else { continue };
        let options = EvaluateOptions::default();
        let plain = evaluate(program, &prepared, &read, &arena, &options);
        let (derived, derivations) = derive_run(program, &prepared, &read, &arena, &options);
        assert_eq!(format!("{plain:?}"), format!("{derived:?}"), "{}", run.display());
        assert_eq!(derivations.len(), plain.results.len());
        judged += plain.results.len();
    }
    assert!(judged > 80, "only {judged} verdicts were compared");
}

const RULES: &str = "rule approval {\n  before approve(id: $id) -> refund(id: $id)\n}\noutput.status == \"done\"\n";
const RUNS: &str = "{\"id\":\"one\",\"output\":{\"status\":\"done\"},\"calls\":[{\"tool\":\"refund\",\"args\":{\"id\":1}}]}\n{\"id\":\"two\",\"output\":{\"status\":\"open\"},\"calls\":[]}\n";

#[test]
fn a_run_is_picked_by_number_or_by_id_and_a_rule_by_name() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", RUNS)]);
    let first = folder.aver("explain r.assert runs.jsonl");
    assert!(first.code == 0 && first.out.contains("runs.jsonl:1 (id one)  1 step"), "{first:?}");
    for run in ["2", "two"] {
        let second = folder.aver(&format!("explain r.assert runs.jsonl --run {run}"));
        assert!(second.out.contains("id two") && second.out.contains("output.status = \"open\""), "{second:?}");
    }
    let rule = folder.aver("explain r.assert runs.jsonl --rule approval");
    assert!(rule.out.contains("approval.1") && !rule.out.contains("output.status"), "{rule:?}");
    folder.aver("explain r.assert runs.jsonl --run 3").refused(&["there is no run `3`", "from 1 to 2"]);
    folder.aver("explain r.assert runs.jsonl --rule aproval").refused(&["did you mean `approval`?"]);
}

#[test]
fn what_cannot_be_explained_says_why() {
    let folder = Folder::new(&[("r.assert", RULES), ("runs.jsonl", RUNS), ("bad.json", "{"), ("empty.jsonl", "")]);
    folder.aver("explain r.assert").refused(&["`r.assert` is a file", "aver explain r.assert trace.json"]);
    folder.aver("explain runs.jsonl r.assert").refused(&["rules come first"]);
    let nowhere = folder.aver("explain r.assert nowhere.json");
    assert!(nowhere.code == 4 && nowhere.err.contains("nowhere.json"), "{nowhere:?}");
    let empty = folder.aver("explain r.assert empty.jsonl");
    assert!(empty.code == 4 && empty.err.contains("the file is empty"), "{empty:?}");
    let bad = folder.aver("explain r.assert bad.json");
    assert!(bad.code == 4 && bad.out.is_empty() && bad.err.contains("bad.json"), "{bad:?}");
    folder.write("broken.assert", b"never\n");
    assert_eq!(folder.aver("explain broken.assert runs.jsonl").code, 3);
    assert!(folder.aver("explain unknown-tool").out.contains("Prefer"));
}

/// An HTML page: it loads nothing, and hostile text is escaped.
#[test]
fn the_page_for_a_browser_is_one_file_with_everything_escaped() {
    let page = explained("counters-obligations-and-windows", &["--format", "html", "--rule", "orders.1"]);
    let _scope = fixtures::snapshots_in("tests/golden/explain");
    insta::assert_snapshot!("counters-obligations-and-windows-page", page);
    let folder = Folder::new(&[
        (
            "r.assert",
            "before \"<b>\" -> \"<script>alert(1)</script>\"\noutput.x == \"</code><img src=x onerror=alert(2)>\"\n",
        ),
        (
            "run.json",
            "{\"id\":\"</title><script>alert(3)</script>\",\"output\":{\"x\":\"\\\"'><svg onload=alert(4)>\"},\"calls\":[{\"tool\":\"<script>alert(1)</script>\",\"args\":{\"<i>\":\"{{ 7 * 7 }}\"}}]}",
        ),
    ]);
    let ran = folder.aver("explain r.assert run.json --format html --out why.html");
    assert!(ran.code == 0 && ran.out.is_empty(), "{ran:?}");
    let page = folder.read("why.html");
    for bad in ["<script", "<svg", "<img", "<i>", "http://", "https://", "url(", "@import"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("{{ 7 * 7 }}"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("default-src 'none'"));
}

#[test]
fn derivations_are_data_too() {
    let text = explained("groups-blocks-and-conditions", &["--format", "json", "--rule", "work"]);
    let data: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&data["version"], &data["run"]["steps"]), (&1.into(), &7.into()));
    let block = &data["assertions"][2];
    assert_eq!((block["verdict"].as_str(), block["status"].as_str()), (Some("fail"), Some("failed")));
    let third = block["timeline"].as_array().unwrap().iter().find(|line| line["number"] == 3).unwrap();
    assert_eq!(third["matches"][0]["pattern"], "delete(user: $u)");
    assert_eq!(third["states"][0]["standing"], "violated for good");
}

/// Long runs are shortened to the relevant steps; `--all` shows every step.
#[test]
fn long_runs_are_cut_around_the_steps_that_count() {
    let calls: Vec<String> = (0..5_000)
        .map(|n| format!("{{\"tool\":\"{}\",\"args\":{{\"n\":{n}}}}}", if n == 2_500 { "stop" } else { "go" }))
        .collect();
    let run = format!("{{\"calls\":[{}]}}", calls.join(","));
    let folder = Folder::new(&[("r.assert", "never stop\nrequire go\n"), ("run.json", &run)]);
    let cut = folder.aver("explain r.assert run.json");
    assert!(cut.out.lines().count() < 200, "{} lines", cut.out.lines().count());
    assert!(
        cut.out.contains(":  2499 steps")
            && cut.out.contains("matches 4999 steps")
            && cut.out.contains("2501  call  stop(n: 2500)"),
        "{}",
        cut.out
    );
    let all = folder.aver("explain r.assert run.json --all --rule r:00000000");
    assert_eq!(all.code, 2);
    assert!(folder.aver("explain r.assert run.json --all").out.lines().count() > 10_000);
}

/// Secrets and withheld values appear in no derivation, in any format.
#[test]
fn secrets_stand_in_no_derivation() {
    let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
    let run = format!(
        "{{\"env\":{{\"TOWN\":\"Entenhausen\"}},\"output\":{{\"note\":\"{token} of Entenhausen\",\"password\":\"tr0ub4dor&3x\"}},\"calls\":[{{\"tool\":\"login\",\"args\":{{\"password\":\"tr0ub4dor&3x\",\"from\":\"Entenhausen\"}}}}]}}"
    );
    let rules = "output.note == 1\noutput.password == \"x\"\nenv.TOWN == \"x\"\nnever login(password: $p)\nany v in output[**]: v == 1\nuse std.secrets\nno secrets in calls\neach login: args.password is empty\noutput.note == 1 message \"${output.password}\"\n";
    let folder = Folder::new(&[("r.assert", rules), ("run.json", &run)]);
    for format in ["human", "html", "json"] {
        let ran = folder.aver(&format!("explain r.assert run.json --all --format {format}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        for hidden in [token.as_str(), "tr0ub4dor", "Entenhausen"] {
            let at = ran.out.find(hidden).map(|at| &ran.out[at.saturating_sub(200)..at + 20]);
            assert_eq!(at, None, "{format}");
        }
        assert!(ran.out.contains("[redacted]"));
    }
}

/// Maximally nested rules produce complete reports.
#[test]
fn deep_rules_are_explained_as_far_as_anyone_follows() {
    let rules = format!("{}output.x == 1\n", "not ".repeat(200));
    let folder = Folder::new(&[("r.assert", &rules), ("run.json", "{\"output\":{\"x\":1},\"calls\":[]}")]);
    for format in ["human", "html", "json"] {
        let ran = folder.aver(&format!("explain r.assert run.json --format {format}"));
        assert!(ran.code == 0 && ran.out.contains("deeper parts"), "{format}: {}", ran.err);
    }
}

/// Of a block with very many windows, the first ones are explained and the others counted.
#[test]
fn of_very_many_windows_the_first_are_explained() {
    let calls: Vec<String> = (0..3_000).map(|n| format!("{{\"tool\":\"go\",\"args\":{{\"n\":{n}}}}}")).collect();
    let run = format!("{{\"calls\":[{}]}}", calls.join(","));
    let folder = Folder::new(&[("r.assert", "each go { args.n < 2990 }\n"), ("run.json", &run)]);
    let ran = folder.aver("explain r.assert run.json");
    assert!(ran.out.starts_with("run.json  3000 steps\n\nfailed"), "{}", &ran.out[..300]);
    assert!(ran.out.contains("for go at call 2991: `args.n` is 2990"), "{}", &ran.out[..600]);
    assert!(ran.out.contains("2900 more of the kind"), "{}", ran.out);
}
